/* The inner loops of _dense.pyx: products of a matrix of doubles or floats with a vector of doubles.
 *
 * In C for the clones: where a matrix fits the second cache, AVX2 halves their time. Sums have a
 * fixed number of chains, and contraction is off, so that every clone gives the same bits.
 */
#ifndef PNORM_DENSE_H
#define PNORM_DENSE_H

#include <stddef.h>

#include "_clones.h"

enum { PNORM_SUMS = 16 };

/* Sum of the chains of a sum of products. */
static inline double pnorm_folded(double *sums) {
    for (int half = PNORM_SUMS / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            sums[k] += sums[k + half];
    return sums[0];
}

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
        double sums[PNORM_SUMS] = {0.0}, total = 0.0;                                                        \
        ptrdiff_t r = 0;                                                                                     \
        for (; r + PNORM_SUMS <= n; r += PNORM_SUMS)                                                         \
            for (int k = 0; k < PNORM_SUMS; k++)                                                             \
                sums[k] += a[r + k] * s[r + k];                                                              \
        for (; r < n; r++)                                                                                   \
            total += a[r] * s[r];                                                                            \
        return pnorm_folded(sums) + total;                                                                   \
    }                                                                                                        \
    /* The same for four columns, so that s is read once for them; its bits are those of one by one. */      \
    PNORM_CLONES static void pnorm_four_dots_##NAME(const REAL *a, ptrdiff_t right, const double *s,         \
                                                    ptrdiff_t n, double *out) {                              \
        const REAL *b = a + right, *c = b + right, *d = c + right;                                           \
        double sums[4][PNORM_SUMS] = {{0.0}}, totals[4] = {0.0};                                             \
        ptrdiff_t r = 0;                                                                                     \
        for (; r + PNORM_SUMS <= n; r += PNORM_SUMS)                                                         \
            for (int k = 0; k < PNORM_SUMS; k++) {                                                           \
                const double w = s[r + k];                                                                   \
                sums[0][k] += a[r + k] * w;                                                                  \
                sums[1][k] += b[r + k] * w;                                                                  \
                sums[2][k] += c[r + k] * w;                                                                  \
                sums[3][k] += d[r + k] * w;                                                                  \
            }                                                                                                \
        for (; r < n; r++) {                                                                                 \
            totals[0] += a[r] * s[r];                                                                        \
            totals[1] += b[r] * s[r];                                                                        \
            totals[2] += c[r] * s[r];                                                                        \
            totals[3] += d[r] * s[r];                                                                        \
        }                                                                                                    \
        for (int j = 0; j < 4; j++)                                                                          \
            out[j] = pnorm_folded(sums[j]) + totals[j];                                                      \
    }

PNORM_DENSE_LOOPS(float, float)
PNORM_DENSE_LOOPS(double, double)

#endif
