/* Chebyshev series over a cell of the score line: their moments and their values, row by row.
 *
 * Eight rows go side by side, so that compilers find vectors in the recurrence
 * T_(j+1) = 2 x T_j - T_(j-1), whose steps would otherwise wait for each other.
 */
#ifndef PNORM_CELLS_H
#define PNORM_CELLS_H

#include <stddef.h>

#include "_clones.h"

enum { PNORM_TERMS = 14, PNORM_WIDTH = 16, PNORM_LANES = 8 };

/* moments[j] = sum of weights T_j(2 (f - end) - 1); weights are so many doubles apart. */
PNORM_CLONES static void pnorm_particle_to_multipole(
    const double *f, const double *weights, ptrdiff_t apart, ptrdiff_t m, double end, double *moments) {
    double sums[PNORM_TERMS][PNORM_LANES] = {{0.0}};
    for (ptrdiff_t start = 0; start < m; start += PNORM_LANES) {
        double x[PNORM_LANES], before[PNORM_LANES], now[PNORM_LANES];
        ptrdiff_t left = m - start < PNORM_LANES ? m - start : PNORM_LANES;
        for (int l = 0; l < PNORM_LANES; l++) {
            x[l] = l < left ? 2.0 * (f[start + l] - end) - 1.0 : 0.0;
            before[l] = l < left ? weights[(start + l) * apart] : 0.0;
        }
        for (int l = 0; l < PNORM_LANES; l++) {
            now[l] = before[l] * x[l];
            x[l] *= 2.0;
            sums[0][l] += before[l];
            sums[1][l] += now[l];
        }
        for (int j = 2; j < PNORM_TERMS; j++)
            for (int l = 0; l < PNORM_LANES; l++) {
                double next = x[l] * now[l] - before[l];
                sums[j][l] += next;
                before[l] = now[l];
                now[l] = next;
            }
    }
    for (int j = 0; j < PNORM_TERMS; j++) {
        double *s = sums[j];
        moments[j] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
}

/* out = sum over j of local[j] T_j(2 (f - end) - 1), by Clenshaw's recurrence. */
PNORM_CLONES static void pnorm_local_to_particle(
    const double *f, ptrdiff_t m, double end, const double *local, double *out) {
    for (ptrdiff_t start = 0; start < m; start += PNORM_LANES) {
        double x[PNORM_LANES], after[PNORM_LANES], now[PNORM_LANES];
        ptrdiff_t left = m - start < PNORM_LANES ? m - start : PNORM_LANES;
        for (int l = 0; l < PNORM_LANES; l++) {
            x[l] = l < left ? 4.0 * (f[start + l] - end) - 2.0 : 0.0;
            after[l] = 0.0;
            now[l] = local[PNORM_TERMS - 1];
        }
        for (int j = PNORM_TERMS - 2; j > 0; j--)
            for (int l = 0; l < PNORM_LANES; l++) {
                double next = (local[j] + x[l] * now[l]) - after[l];
                after[l] = now[l];
                now[l] = next;
            }
        for (int l = 0; l < PNORM_LANES; l++)
            x[l] = (local[0] + 0.5 * x[l] * now[l]) - after[l];
        for (int l = 0; l < left; l++)
            out[start + l] = x[l];
    }
}

/* local += moments @ table, what one cell adds to another; rows of table and local are padded to vectors.
 *
 * Four lanes and two chains at a time: wider loops GCC 12 spreads over shuffles, five times slower. */
PNORM_CLONES static void pnorm_multipole_to_local(
    const double *restrict moments, const double *restrict table, double *restrict local) {
    for (int m = 0; m < PNORM_WIDTH; m += 4) {
        double even[4] = {0.0}, odd[4] = {0.0};
        for (int j = 0; j < PNORM_TERMS; j += 2) {
            for (int l = 0; l < 4; l++)
                even[l] += moments[j] * table[j * PNORM_WIDTH + m + l];
            for (int l = 0; l < 4; l++)
                odd[l] += moments[j + 1] * table[(j + 1) * PNORM_WIDTH + m + l];
        }
        for (int l = 0; l < 4; l++)
            local[m + l] += even[l] + odd[l];
    }
}

#endif
