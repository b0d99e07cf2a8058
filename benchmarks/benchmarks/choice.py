"""`cross_validate` and `minimize_path`, and the same by separate calls."""

from functools import partial

import numpy as np

import pnorm

from . import problems

POWERS = (1, 4, 16)
ROUNDS = 50
FOLDS = 5


class CrossValidate:
    """Three powers, five folds, fifty rounds: judged after ten of them, or after each one."""

    params = ([1_000, 10_000, 100_000], ["columns", "cuts"], [10, 50])
    param_names = ("I + K", "rankers", "judged")

    def setup(self, rows, rankers, judged):
        """Draw rows, and deal them once for both ways."""
        self.pos, self.neg = problems.gaussian(rows // 2, rows // 2, 10)
        self.recipe = partial(pnorm.rankers.quantile_thresholds, n_cuts=31)
        self.H = self.recipe(self.pos, self.neg) if rankers == "cuts" else None
        self.rounds = list(range(ROUNDS // judged, ROUNDS + 1, ROUNDS // judged))
        rng = np.random.default_rng(0)
        self.folds = [rng.permutation(rows // 2) % FOLDS for _ in range(2)]

    def _validate(self, H):
        pnorm.cross_validate(self.pos, self.neg, H, POWERS, ROUNDS, folds=self.folds, metric="auc", rounds=self.rounds)

    def time_cross_validate(self, rows, rankers, judged):
        """All at once."""
        self._validate(self.H)

    def time_recipe(self, rows, rankers, judged):
        """Weak rankers made anew for each fold."""
        self._validate(self.recipe if rankers == "cuts" else pnorm.rankers.normalized)

    def time_separately(self, rows, rankers, judged):
        """By `train` and `score`."""
        for k in range(FOLDS):
            train, held = ([X[test(f)] for X, f in zip((self.pos, self.neg), self.folds, strict=True)]
                           for test in (lambda f, k=k: f != k, lambda f, k=k: f == k))  # fmt: skip
            for p in POWERS:
                _, trace = pnorm.train(*train, self.H, p, ROUNDS)
                for t in self.rounds:
                    lam = trace.lam_at(min(t, trace.n_iter))
                    pnorm.metrics.auc(*(pnorm.score(X, self.H, lam) for X in held))

    def peakmem_cross_validate(self, rows, rankers, judged):
        """The outputs, and those of the fold's training rows."""
        self._validate(self.H)


class CrossValidateSmall:
    """Six powers, five folds, and 200 rounds, each of them judged, on as many rows and columns as Pima has."""

    params = ([1, 2],)
    param_names = ("threads",)

    def setup(self, threads):
        """Draw rows."""
        self.pos, self.neg = problems.gaussian(268, 500, 8)

    def time_cross_validate(self, threads):
        """Runs on threads."""
        pnorm.cross_validate(self.pos, self.neg, None, (1, 2, 4, 8, 16, 64), 200, n_threads=threads)


class MinimizePath:
    """Twenty-five penalties, or seven powers, from one minimiser to the next and each by itself."""

    params = ([1_000, 10_000, 100_000], [5, 50], ["l2", "p"])
    param_names = ("I + K", "n", "along")

    def setup(self, rows, n, along):
        """Draw rows."""
        self.pos, self.neg = problems.correlated(rows // 2, rows // 2, n)
        self.points = (
            {"p": 4.0, "l2": np.logspace(0, -6, 25)} if along == "l2" else {"p": 2.0 ** np.arange(7), "l2": 1e-3}
        )

    def time_minimize_path(self, rows, n, along):
        """Warm."""
        pnorm.minimize_path(self.pos, self.neg, **self.points)

    def time_separately(self, rows, n, along):
        """Cold."""
        for p, l2 in np.broadcast(self.points["p"], self.points["l2"]):
            pnorm.minimize(self.pos, self.neg, None, float(p), l2=float(l2))

    def track_steps(self, rows, n, along):
        """A faster path must not be one that stops early."""
        path = pnorm.minimize_path(self.pos, self.neg, **self.points)
        return int(path.n_iter.sum())
