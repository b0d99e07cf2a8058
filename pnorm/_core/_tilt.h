/* The loops over a block of rows of _tilt.pyx, beside the exponential of _exp.h.
 *
 * In C for the clones. Sums have sixteen chains whatever the clone, so that all give the same bits: eight or fewer GCC 12
 * unrolls before it looks for vectors, and takes 0.6 ns for four powers of a row where sixteen take 0.2 ns (AVX2).
 */
#ifndef PNORM_TILT_H
#define PNORM_TILT_H

#include <math.h>
#include <stddef.h>

#include "_clones.h"

enum { PNORM_CHAINS = 16, PNORM_POWERS = 10 };

/* f += alpha * h. */
PNORM_CLONES static void pnorm_advance(double *f, const double *h, double alpha, ptrdiff_t m) {
    for (ptrdiff_t r = 0; r < m; r++)
        f[r] += alpha * h[r];
}

/* values *= factor. */
PNORM_CLONES static void pnorm_scale(double *values, double factor, ptrdiff_t m) {
    for (ptrdiff_t r = 0; r < m; r++)
        values[r] *= factor;
}

/* Maximum of values. */
static inline double pnorm_max(const double *values, ptrdiff_t m) {
    double tops[PNORM_CHAINS], top = -INFINITY;
    ptrdiff_t r = 0;
    for (int k = 0; k < PNORM_CHAINS; k++)
        tops[k] = -INFINITY;
    for (; r + PNORM_CHAINS <= m; r += PNORM_CHAINS)
        for (int k = 0; k < PNORM_CHAINS; k++)
            tops[k] = values[r + k] > tops[k] ? values[r + k] : tops[k];
    for (; r < m; r++)
        top = values[r] > top ? values[r] : top;
    for (int k = 0; k < PNORM_CHAINS; k++)
        top = tops[k] > top ? tops[k] : top;
    return top;
}

/* out = scale * (f + alpha * h) + log_c, where log_c may be NULL; returns the maximum. */
PNORM_WIDE_CLONES static double pnorm_fill(
    const double *f, const double *h, const double *log_c, double scale, double alpha, ptrdiff_t m, double *out) {
    for (ptrdiff_t r = 0; r < m; r++)
        out[r] = scale * (f[r] + alpha * h[r]);
    if (log_c)
        for (ptrdiff_t r = 0; r < m; r++)
            out[r] += log_c[r];
    return pnorm_max(out, m);
}

static double pnorm_total(const double *chains) {
    double total = 0.0;
    for (int k = 0; k < PNORM_CHAINS; k++)
        total += chains[k];
    return total;
}

/* Sum of values. */
PNORM_WIDE_CLONES static double pnorm_sum(const double *values, ptrdiff_t m) {
    double sums[PNORM_CHAINS] = {0.0}, rest = 0.0;
    ptrdiff_t r = 0;
    for (; r + PNORM_CHAINS <= m; r += PNORM_CHAINS)
        for (int k = 0; k < PNORM_CHAINS; k++)
            sums[k] += values[r + k];
    for (; r < m; r++)
        rest += values[r];
    return m >= PNORM_CHAINS ? pnorm_total(sums) + rest : rest;
}

/* sums[k] += sum of weights * (h - level) ** k for k = 0..3. */
PNORM_WIDE_CLONES static void pnorm_add_powers(
    const double *weights, const double *h, double level, ptrdiff_t m, double *sums) {
    double a[PNORM_CHAINS] = {0.0}, b[PNORM_CHAINS] = {0.0}, c[PNORM_CHAINS] = {0.0}, d[PNORM_CHAINS] = {0.0};
    double rest[4] = {0.0};
    ptrdiff_t r = 0;
    for (; r + PNORM_CHAINS <= m; r += PNORM_CHAINS)
        for (int k = 0; k < PNORM_CHAINS; k++) {
            double x = weights[r + k], y = h[r + k] - level;
            a[k] += x;
            x *= y;
            b[k] += x;
            x *= y;
            c[k] += x;
            d[k] += x * y;
        }
    for (; r < m; r++) {
        double x = weights[r], y = h[r] - level;
        rest[0] += x;
        rest[1] += x * y;
        rest[2] += x * y * y;
        rest[3] += x * y * y * y;
    }
    if (m >= PNORM_CHAINS) { /* not of a small group */
        rest[0] += pnorm_total(a);
        rest[1] += pnorm_total(b);
        rest[2] += pnorm_total(c);
        rest[3] += pnorm_total(d);
    }
    for (int k = 0; k < 4; k++)
        sums[k] += rest[k];
}

/* sums[k] += sum of weights * (unit * h) ** k for k = 0..9. */
PNORM_WIDE_CLONES static void pnorm_add_all_powers(
    const double *weights, const double *h, double unit, ptrdiff_t m, double *sums) {
    double chains[PNORM_POWERS][PNORM_CHAINS] = {{0.0}};
    ptrdiff_t r = 0;
    for (; r + PNORM_CHAINS <= m; r += PNORM_CHAINS)
        for (int k = 0; k < PNORM_CHAINS; k++) {
            double x = weights[r + k], y = unit * h[r + k];
            chains[0][k] += x;
            chains[1][k] += x *= y;
            chains[2][k] += x *= y;
            chains[3][k] += x *= y;
            chains[4][k] += x *= y;
            chains[5][k] += x *= y;
            chains[6][k] += x *= y;
            chains[7][k] += x *= y;
            chains[8][k] += x *= y;
            chains[9][k] += x * y;
        }
    for (int k = 0; k < PNORM_POWERS; k++)
        sums[k] += pnorm_total(chains[k]);
    for (; r < m; r++) {
        double x = weights[r], y = unit * h[r];
        for (int k = 0; k < PNORM_POWERS; k++) {
            sums[k] += x;
            x *= y;
        }
    }
}

/* weights *= e^(rate h) for |rate h| <= 1 / 16, where what the Taylor polynomial of degree 9 leaves out is below 3e-19. */
PNORM_WIDE_CLONES static void pnorm_tilt_near(double *weights, const double *h, double rate, ptrdiff_t m) {
    for (ptrdiff_t r = 0; r < m; r++) {
        double t = rate * h[r], t2 = t * t, t4 = t2 * t2;
        double low = (1.0 / 2 + t * (1.0 / 6)) + t2 * (1.0 / 24 + t * (1.0 / 120));
        double high = (1.0 / 720 + t * (1.0 / 5040)) + t2 * (1.0 / 40320 + t * (1.0 / 362880));
        weights[r] *= 1.0 + (t + t2 * (low + t4 * high));
    }
}

#endif
