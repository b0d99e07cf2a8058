/* The inner loops of _dense.pyx: products of a matrix of doubles or floats with a vector of doubles.
 *
 * In C for the clones: where a matrix fits the second cache, AVX2 halves their time. Sums have a
 * fixed number of chains, and contraction is off, so that every clone gives the same bits.
 */
#ifndef PNORM_DENSE_H
#define PNORM_DENSE_H

#include <stddef.h>

#include "_clones.h"

#define PNORM_DENSE_LOOPS(NAME, REAL)                                                                        \
    /* out += s @ A for rows of n adjacent numbers; sums are read once for four rows. */                     \
    PNORM_CLONES static void pnorm_add_rows_##NAME(const REAL *A, ptrdiff_t down, ptrdiff_t rows,            \
                                                   ptrdiff_t n, const double *s, double *restrict out) {     \
        ptrdiff_t r = 0;                                                                                     \
        for (; r + 3 < rows; r += 4) {                                                                       \
            const REAL *a = A + r * down, *b = a + down, *c = b + down, *d = c + down;                       \
            const double w = s[r], x = s[r + 1], y = s[r + 2], z = s[r + 3];                                 \
            for (ptrdiff_t j = 0; j < n; j++)                                                                \
                out[j] += (w * a[j] + x * b[j]) + (y * c[j] + z * d[j]);                                     \
        }                                                                                                    \
        for (; r < rows; r++)                                                                                \
            for (ptrdiff_t j = 0; j < n; j++)                                                                \
                out[j] += s[r] * A[r * down + j];                                                            \
    }                                                                                                        \
    /* Sum of a * s, in sixteen chains. */                                                                   \
    PNORM_CLONES static double pnorm_dot_##NAME(const REAL *a, const double *s, ptrdiff_t n) {               \
        double sums[16] = {0.0}, total = 0.0;                                                                \
        ptrdiff_t r = 0;                                                                                     \
        for (; r + 15 < n; r += 16)                                                                          \
            for (int k = 0; k < 16; k++)                                                                     \
                sums[k] += a[r + k] * s[r + k];                                                              \
        for (int half = 8; half > 0; half /= 2)                                                              \
            for (int k = 0; k < half; k++)                                                                   \
                sums[k] += sums[k + half];                                                                   \
        for (; r < n; r++)                                                                                   \
            total += a[r] * s[r];                                                                            \
        return sums[0] + total;                                                                              \
    }

PNORM_DENSE_LOOPS(float, float)
PNORM_DENSE_LOOPS(double, double)

#endif
