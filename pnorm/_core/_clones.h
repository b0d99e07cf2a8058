/* Functions so marked are compiled for AVX2 as well, where compiler and C library choose at load time. */
#ifndef PNORM_CLONES_H
#define PNORM_CLONES_H

#ifdef PNORM_HAVE_TARGET_CLONES
#define PNORM_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PNORM_CLONES
#endif

#endif
