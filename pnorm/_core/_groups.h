/* The loops over groups of _tilt.pyx, whose rows follow each other or are summed up by value in cells.
 *
 * Most groups may have a few rows only, and a call for each would take longer than its rows. The rows of group g are
 * starts[g] - starts[0]:starts[g + 1] - starts[0] of the arrays.
 */
#ifndef PNORM_GROUPS_H
#define PNORM_GROUPS_H

#include <math.h>
#include <stddef.h>

#include "_clones.h"
#include "_exp.h"
#include "_log.h"
#include "_tilt.h"

enum { PNORM_GROUPS = 256 }; /* at a time, at most: their sums stay in the first cache */

/* Distance from the top of many groups within which one takes the place of their own: it rounds exponents by 2^-49. */
#define PNORM_NEAR 32.0

/* values -= the top of their group: the largest of it, or of all where they are near each other. */
PNORM_WIDE_CLONES static void pnorm_subtract_tops(
    double *values, const ptrdiff_t *starts, ptrdiff_t n, double largest, double *tops) {
    ptrdiff_t m = starts[n] - starts[0];
    long long far = 0;
    for (ptrdiff_t r = 0; r < m; r++)
        far += values[r] < largest - PNORM_NEAR;
    if (!far) {
        for (ptrdiff_t r = 0; r < m; r++)
            values[r] -= largest;
        for (ptrdiff_t g = 0; g < n; g++)
            tops[g] = largest;
        return;
    }
    for (ptrdiff_t g = 0; g < n; g++) {
        ptrdiff_t begin = starts[g] - starts[0], end = starts[g + 1] - starts[0];
        double top = values[begin];
        if (end - begin >= PNORM_CHAINS)
            top = pnorm_max(values + begin, end - begin);
        else
            for (ptrdiff_t r = begin + 1; r < end; r++)
                top = values[r] > top ? values[r] : top;
        for (ptrdiff_t r = begin; r < end; r++)
            values[r] -= top;
        tops[g] = top;
    }
}

/* values /= the sum of their group. */
PNORM_WIDE_CLONES static void pnorm_normalize(double *values, const ptrdiff_t *starts, ptrdiff_t n, double *sums) {
    double factors[PNORM_GROUPS];
    for (ptrdiff_t g = 0; g < n; g++) {
        ptrdiff_t begin = starts[g] - starts[0], end = starts[g + 1] - starts[0];
        double total = 0.0;
        if (end - begin >= PNORM_CHAINS)
            total = pnorm_sum(values + begin, end - begin);
        else
            for (ptrdiff_t r = begin; r < end; r++)
                total += values[r];
        sums[g] = total;
    }
    for (ptrdiff_t g = 0; g < n; g++)
        factors[g] = 1.0 / sums[g];
    for (ptrdiff_t g = 0; g < n; g++)
        for (ptrdiff_t r = starts[g] - starts[0]; r < starts[g + 1] - starts[0]; r++)
            values[r] *= factors[g];
}

/* out = weights * exp(rate * h - top). */
PNORM_WIDE_CLONES static void pnorm_tilt(
    const double *weights, const double *h, double rate, double top, ptrdiff_t m, double *out) {
    for (ptrdiff_t r = 0; r < m; r++)
        out[r] = rate * h[r];
    pnorm_exp_below(out, m, top);
    for (ptrdiff_t r = 0; r < m; r++)
        out[r] *= weights[r];
}

/* sums[k][g] = sum of weights * (h - level[g]) ** k; levels that are own become h of the heaviest row. */
PNORM_WIDE_CLONES static void pnorm_powers_of_groups(
    const double *weights, const double *h, const ptrdiff_t *starts, ptrdiff_t n, int own, double *level,
    double (*sums)[PNORM_GROUPS]) {
    for (ptrdiff_t g = 0; g < n; g++) {
        ptrdiff_t begin = starts[g] - starts[0], end = starts[g + 1] - starts[0];
        double powers[4] = {0.0};
        if (own) {
            ptrdiff_t best = begin;
            for (ptrdiff_t r = begin + 1; r < end; r++)
                best = weights[r] > weights[best] ? r : best;
            level[g] = h[best];
        }
        if (end - begin >= PNORM_CHAINS)
            pnorm_add_powers(weights + begin, h + begin, level[g], end - begin, powers);
        else
            for (ptrdiff_t r = begin; r < end; r++) {
                double x = weights[r], y = h[r] - level[g];
                powers[0] += x;
                x *= y;
                powers[1] += x;
                x *= y;
                powers[2] += x;
                powers[3] += x * y;
            }
        for (int k = 0; k < 4; k++)
            sums[k][g] = powers[k];
    }
}

/* The same of masses (n, width) by group and value, times the tilt of the value. */
PNORM_WIDE_CLONES static void pnorm_powers_of_cells(
    const double *masses, const double *values, const double *tilt, ptrdiff_t width, ptrdiff_t n, int own,
    double *level, double (*sums)[PNORM_GROUPS]) {
    double *most = sums[0];
    for (ptrdiff_t g = 0; g < n; g++)
        most[g] = -INFINITY;
    for (ptrdiff_t c = 0; own && c < width; c++)
        for (ptrdiff_t g = 0; g < n; g++) {
            double x = masses[g * width + c] * tilt[c];
            level[g] = x > most[g] ? values[c] : level[g];
            most[g] = x > most[g] ? x : most[g];
        }
    for (int k = 0; k < 4; k++)
        for (ptrdiff_t g = 0; g < n; g++)
            sums[k][g] = 0.0;
    for (ptrdiff_t c = 0; c < width; c++)
        for (ptrdiff_t g = 0; g < n; g++) {
            double x = masses[g * width + c] * tilt[c], y = values[c] - level[g];
            sums[0][g] += x;
            x *= y;
            sums[1][g] += x;
            x *= y;
            sums[2][g] += x;
            sums[3][g] += x * y;
        }
}

/* sums[g] = sum of masses (n, width) times the tilt of the value; without a tilt, of masses. */
PNORM_WIDE_CLONES static void pnorm_sums_of_cells(
    const double *masses, const double *tilt, ptrdiff_t width, ptrdiff_t n, double *sums) {
    for (ptrdiff_t g = 0; g < n; g++)
        sums[g] = 0.0;
    for (ptrdiff_t c = 0; c < width; c++) {
        double factor = tilt ? tilt[c] : 1.0;
        for (ptrdiff_t g = 0; g < n; g++)
            sums[g] += masses[g * width + c] * factor;
    }
}

/* out[g] = mean, variance and third cumulant, from power sums; zeros where there is no weight. */
PNORM_WIDE_CLONES static void pnorm_cumulants(double (*sums)[PNORM_GROUPS], ptrdiff_t n, double *out) {
    for (ptrdiff_t g = 0; g < n; g++) {
        double scale = sums[0][g] > 0.0 ? 1.0 / sums[0][g] : 0.0;
        double mean = scale * sums[1][g], square = scale * sums[2][g];
        out[3 * g] = mean;
        out[3 * g + 1] = square - mean * mean;
        out[3 * g + 2] = scale * sums[3][g] - mean * (3.0 * square - 2.0 * mean * mean);
    }
}

/* out = log(values / others), minus infinity where either is zero. */
PNORM_WIDE_CLONES static void pnorm_log_ratio(const double *values, const double *others, ptrdiff_t n, double *out) {
    for (ptrdiff_t g = 0; g < n; g++)
        out[g] = values[g] > 0.0 && others[g] > 0.0 ? values[g] / others[g] : 0.0;
    pnorm_log(out, n);
}

#endif
