"""`score` of new rows, by what the weak rankers are and how the rows lie."""

import numpy as np

import pnorm

from . import problems


class Score:
    """Fifty columns, all or a few of which are used."""

    params = ([10_000, 1_000_000], ["columns", "normalized", "thresholds"], ["C", "F"], [50, 3], [1, 2])
    param_names = ("N", "rankers", "order", "columns used", "threads")

    def setup(self, rows, kind, order, used, threads):
        pos, neg = problems.gaussian(5_000, 5_000, 50)
        self.H = {
            "columns": lambda: pnorm.rankers.columns(50),
            "normalized": lambda: pnorm.rankers.normalized(pos, neg),
            "thresholds": lambda: pnorm.rankers.quantile_thresholds(pos, neg, 31),
        }[kind]()
        self.lam = np.random.default_rng(0).normal(size=len(self.H))
        self.lam[len(self.H) * used // 50 :] = 0.0
        self.X = np.asarray(np.resize(pos, (rows, 50)), order=order)

    def time_score(self, rows, kind, order, used, threads):
        pnorm.score(self.X, self.H, self.lam, n_threads=threads)

    def peakmem_score(self, rows, kind, order, used, threads):
        pnorm.score(self.X, self.H, self.lam, n_threads=threads)
