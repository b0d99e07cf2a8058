"""Calls in which checks and tables take the time: one round, one row, and an import."""

import numpy as np

import pnorm

from . import problems


class OneRound:
    """All of `train` but the rounds, and one of these."""

    params = ([30, 150, 2_000], ["gaussian", "few values", "binary"])
    param_names = ("I = K", "outputs")

    def setup(self, rows, outputs):
        make = problems.binary if outputs == "binary" else problems.gaussian
        self.sides = make(rows, rows, 8)
        if outputs == "few values":
            self.sides = [np.round(side) for side in self.sides]

    def time_train(self, rows, outputs):
        pnorm.train(*self.sides, None, 4, 1, n_threads=1)

    def time_minimize(self, rows, outputs):
        pnorm.minimize(*self.sides, None, 4, l2=0.1, max_iter=1, n_threads=1)


class OneRow:
    """`score` of one row by weak rankers that 20 columns make."""

    params = (["columns", "normalized", "thresholds", "categories"], ["array", "list", "pandas"])
    param_names = ("rankers", "row")

    def setup(self, kind, form):
        pos, neg = problems.gaussian(1_000, 1_000, 20)
        if kind == "categories":
            pos, neg = [np.round(X).clip(-2, 2) for X in (pos, neg)]
        self.row = pos[:1].copy()
        if form == "list":
            self.row = self.row.tolist()
        elif form == "pandas":
            from pandas import DataFrame

            pos, neg, self.row = [DataFrame(X, columns=[f"c{j}" for j in range(20)]) for X in (pos, neg, self.row)]
        self.H = {
            "columns": lambda: pnorm.rankers.columns(pos),
            "normalized": lambda: pnorm.rankers.normalized(pos, neg),
            "thresholds": lambda: pnorm.rankers.quantile_thresholds(pos, neg, 50),
            "categories": lambda: pnorm.rankers.categories(pos, neg),
        }[kind]()
        self.lam = np.random.default_rng(0).normal(size=len(self.H))

    def time_score(self, kind, form):
        pnorm.score(self.row, self.H, self.lam)


class Import:
    """Imports in a process of their own; that of pnorm is to be judged by the other one."""

    def timeraw_pnorm(self):
        return "import pnorm"

    def timeraw_numpy_and_scipy_special(self):
        return "import numpy, scipy.special"
