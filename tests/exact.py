"""The P-Norm Push objective, its derivatives and its minimiser in 50 digits, from the definition over all pairs.

The judge of certificates and of what training records: slow, obvious, and beyond the reach of double precision. Newton's method
on the sum over negatives k of c_k (sum over positives i of c_i q'_ik) ** p, pairs within a group, and with
grades of the positives that are above that of the negative.
"""

from fractions import Fraction

import mpmath as mp
import numpy as np

DIGITS = 50


def hulls(pos, neg):
    """The kind of data with two columns, and the rows that keep weight, in exact arithmetic.

    The directions that put no positive below a negative form a cone between two of those in which some pair ties.
    A sum of all such lies inside, and ties the pairs that every one of them ties.
    """
    A, B = ([[Fraction(x) for x in row] for row in X.tolist()] for X in (pos, neg))
    pairs = [(i, k, a[0] - b[0], a[1] - b[1]) for i, a in enumerate(A) for k, b in enumerate(B)]
    some = [d for _, _, x, y in pairs for d in ((-y, x), (y, -x), (x, y), (-x, -y))]
    good = [d for d in some if all(d[0] * x + d[1] * y >= 0 for _, _, x, y in pairs)]
    inside = [sum(parts) for parts in zip(*good, strict=True)] or [0, 0]
    ties = [(i, k) for i, k, x, y in pairs if inside[0] * x + inside[1] * y == 0]
    kind = "overlapping" if len(ties) == len(pairs) else "quasi-separable" if ties else "separable"
    return kind, {i for i, _ in ties}, {k for _, k in ties}


class Objective:
    """log F_p + l2/2 |lam|**2 over explicit pairs."""

    def __init__(self, pos, neg, p, c_pos=None, c_neg=None, g_pos=None, g_neg=None, l2=0.0, y_pos=None, y_neg=None):
        pos, neg = np.asarray(pos, float), np.asarray(neg, float)
        c_pos = np.ones(len(pos)) if c_pos is None else np.asarray(c_pos, float)
        c_neg = np.ones(len(neg)) if c_neg is None else np.asarray(c_neg, float)
        g_pos = np.zeros(len(pos)) if g_pos is None else np.asarray(g_pos)
        g_neg = np.zeros(len(neg)) if g_neg is None else np.asarray(g_neg)
        y_pos = np.ones(len(pos)) if y_pos is None else np.asarray(y_pos)
        y_neg = np.zeros(len(neg)) if y_neg is None else np.asarray(y_neg)
        with mp.workdps(DIGITS):
            self.p, self.l2, self.n = mp.mpf(float(p)), mp.mpf(float(l2)), pos.shape[1]
            exact = np.vectorize(lambda x: mp.mpf(float(x)), otypes=[object])
            A, B = exact(pos), exact(neg)
            self.columns = []  # for each negative: its weight, and the weights and differences of its pairs
            self.pairs = []  # and its number, and the positives it pairs with
            self.shape = len(pos), len(neg)
            for k in np.flatnonzero(c_neg > 0):
                rows = [i for i in np.flatnonzero(c_pos > 0) if g_pos[i] == g_neg[k] and y_pos[i] > y_neg[k]]
                if rows:
                    self.columns.append((exact(c_neg[k])[()], exact(c_pos[rows]), A[rows] - B[k]))
                    self.pairs.append((k, rows))

    def value(self, lam):
        """The objective at coefficients given as doubles or mpf."""
        with mp.workdps(DIGITS):
            return self._derivatives(self._vector(lam), order=0)[0]

    def weights(self, lam):
        """log F_p, u and w of all rows, the edges, and log of the sum of q over all pairs."""
        with mp.workdps(DIGITS):
            lam = self._vector(lam)
            u, w = (np.full(size, mp.mpf(0)) for size in self.shape)
            edges, total, mass = np.full(self.n, mp.mpf(0)), mp.mpf(0), mp.mpf(0)
            for (k, rows), (c, weights, M) in zip(self.pairs, self.columns, strict=True):
                q = weights * np.array([mp.exp(-x) for x in M @ lam], dtype=object)
                S = q.sum()
                share = c * S ** (self.p - 1) * q
                u[rows] += share
                w[k] += share.sum()
                edges += share @ M
                total += c * S**self.p
                mass += c * S
            return mp.log(total), u / total, w / total, edges / total, mp.log(mass)

    def _vector(self, lam):
        return np.array([x if isinstance(x, mp.mpf) else mp.mpf(float(x)) for x in lam], dtype=object)

    def _derivatives(self, lam, order=2):
        p, n = self.p, self.n
        total, slope, bend = mp.mpf(0), np.full(n, mp.mpf(0)), np.full((n, n), mp.mpf(0))
        for c, weights, M in self.columns:
            q = weights * np.array([mp.exp(-x) for x in M @ lam], dtype=object)
            S = q.sum()
            total += c * S**p
            if order:
                falls = q @ M
                slope -= c * p * S ** (p - 1) * falls
                bend += c * p * (p - 1) * S ** (p - 2) * np.outer(falls, falls)
                bend += c * p * S ** (p - 1) * ((q[:, None] * M).T @ M)
        value = mp.log(total) + self.l2 / 2 * (lam @ lam)
        gradient = slope / total + self.l2 * lam
        hessian = bend / total - np.outer(slope, slope) / total**2 + self.l2 * np.array(mp.eye(n).tolist())
        return value, gradient, hessian

    def minimum(self, start=None):
        """The infimum, for data with a minimiser and outputs that determine the coefficients; and the minimiser."""
        with mp.workdps(DIGITS):
            lam = self._vector(np.zeros(self.n) if start is None else start)
            for _ in range(500):
                value, gradient, hessian = self._derivatives(lam)
                step = np.array(list(mp.lu_solve(mp.matrix(hessian.tolist()), mp.matrix((-gradient).tolist()))))
                promised = -(gradient @ step)
                if promised < mp.mpf(10) ** -40:
                    return value, lam
                share = mp.mpf(1)
                while self._derivatives(lam + share * step, order=0)[0] > value - share * promised / 10000:
                    share /= 2
                    assert share > 1e-30, "no descent"
                lam = lam + share * step
            raise AssertionError("no minimum found")
