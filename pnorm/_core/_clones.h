/* Functions so marked are compiled for AVX2 as well, where compiler and C library choose at load time; those that
 * compute much and read little, for AVX-512 too. */
#ifndef PNORM_CLONES_H
#define PNORM_CLONES_H

#ifdef PNORM_HAVE_TARGET_CLONES
#define PNORM_CLONES __attribute__((target_clones("avx2", "default")))
#define PNORM_WIDE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PNORM_CLONES
#define PNORM_WIDE_CLONES
#endif

#endif
