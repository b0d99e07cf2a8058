"""`minimize` and `separability` over I + K and n, with SciPy's L-BFGS-B beside."""

import numpy as np
import scipy.sparse
from scipy.optimize import minimize

import pnorm

from . import problems


def scipy_lbfgsb(pos, neg, p):
    """Minimise log F_p, factored over the pairs, with its gradient, as far as L-BFGS-B goes."""

    def objective(lam):
        f, g = -(pos @ lam), p * (neg @ lam)
        top_f, top_g = f.max(), g.max()
        u, w = np.exp(f - top_f), np.exp(g - top_g)
        sum_u, sum_w = u.sum(), w.sum()
        value = p * (top_f + np.log(sum_u)) + top_g + np.log(sum_w)
        return value, p * (neg.T @ (w / sum_w) - pos.T @ (u / sum_u))

    options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-9}
    return minimize(objective, np.zeros(pos.shape[1]), jac=True, method="L-BFGS-B", options=options)


class Minimize:
    """To a certified gap of 1e-8, and to where L-BFGS-B ends."""

    params = ([1_000, 10_000, 100_000], [5, 20, 50], [1, 4, 64])
    param_names = ("I + K", "n", "p")

    def setup(self, rows, n, p):
        self.pos, self.neg = problems.correlated(rows // 2, rows // 2, n)

    def time_minimize(self, rows, n, p):
        pnorm.minimize(self.pos, self.neg, None, p, tol=1e-8)

    def time_scipy_lbfgsb(self, rows, n, p):
        scipy_lbfgsb(self.pos, self.neg, p)

    def peakmem_minimize(self, rows, n, p):
        pnorm.minimize(self.pos, self.neg, None, p, tol=1e-8)

    def track_gap(self, rows, n, p):
        """A speed-up must not make the answer worse."""
        return pnorm.minimize(self.pos, self.neg, None, p, tol=1e-8)[1].gap


class Wide:
    """Many weak rankers and a penalty: bits, with rows enough and with few, in an array and sparse."""

    params = ([500, 11_000], [600, 2_048], ["array", "sparse"])
    param_names = ("I + K", "n", "rows")

    def setup(self, rows, n, kind):
        self.pos, self.neg = problems.bits(rows // 11, rows - rows // 11, n)
        if kind == "sparse":
            self.pos, self.neg = scipy.sparse.csr_array(self.pos), scipy.sparse.csr_array(self.neg)

    def time_minimize(self, rows, n, kind):
        pnorm.minimize(self.pos, self.neg, None, 4, l2=1e-3)

    def peakmem_minimize(self, rows, n, kind):
        pnorm.minimize(self.pos, self.neg, None, 4, l2=1e-3)

    def track_gap(self, rows, n, kind):
        """A speed-up must not make the answer worse."""
        return pnorm.minimize(self.pos, self.neg, None, 4, l2=1e-3)[1].gap


class Separability:
    """The linear program, on rows whose hulls overlap and on rows whose hulls touch."""

    params = ([300, 3_000, 30_000], [5, 20, 50], ["gaussian", "touching"])
    param_names = ("I + K", "n", "rows")

    def setup(self, rows, n, kind):
        self.pos, self.neg = getattr(problems, kind)(rows // 2, rows // 2, n)

    def time_separability(self, rows, n, kind):
        pnorm.diagnostics.separability(self.pos, self.neg)


class Certificate:
    """The proof alone."""

    params = ([1_000, 100_000], [5, 50])
    param_names = ("I + K", "n")

    def setup(self, rows, n):
        self.pos, self.neg = problems.correlated(rows // 2, rows // 2, n)
        self.lam, _ = pnorm.minimize(self.pos, self.neg, None, 4)

    def time_certificate(self, rows, n):
        pnorm.diagnostics.certificate(self.pos, self.neg, None, 4, self.lam)
