"""`train` over I = K, n and p, and the literal algorithm beside it."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse

import pnorm

from . import problems

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

ROUNDS = 20


class Train:
    """Twenty rounds."""

    params = ([1_000, 10_000, 100_000], [5, 20, 80], [1, 4, 64], ["gaussian", "binary"])
    param_names = ("I = K", "n", "p", "outputs")

    def setup(self, rows, n, p, outputs):
        self.pos, self.neg = getattr(problems, outputs)(rows, rows, n)

    def time_train(self, rows, n, p, outputs):
        pnorm.train(self.pos, self.neg, None, p, ROUNDS)

    def peakmem_train(self, rows, n, p, outputs):
        pnorm.train(self.pos, self.neg, None, p, ROUNDS)

    def track_log_objective(self, rows, n, p, outputs):
        """A speed-up must not make the answer worse."""
        return float(pnorm.train(self.pos, self.neg, None, p, ROUNDS)[1].log_objective[-1])


class Storages:
    """The same thresholds in every storage, and the columns they cut."""

    params = ([10_000, 100_000], ["codes", "dense", "sparse", "columns"], [1, 2])
    param_names = ("I = K", "storage", "threads")

    def setup(self, rows, storage, threads):
        self.pos, self.neg, self.H = *problems.gaussian(rows, rows, 10), None
        if storage != "columns":
            self.H = pnorm.rankers.quantile_thresholds(self.pos, self.neg, 15)
        if storage == "dense":  # noise that changes no threshold keeps the columns from being coded
            rng = np.random.default_rng(0)
            self.pos, self.neg = (self.H.evaluate(X) + 1e-9 * rng.random((rows, 150)) for X in (self.pos, self.neg))
            self.H = None
        if storage == "sparse":
            self.pos, self.neg = (scipy.sparse.csc_array(self.H.evaluate(X)) for X in (self.pos, self.neg))
            self.H = None

    def time_train(self, rows, storage, threads):
        pnorm.train(self.pos, self.neg, self.H, 4, ROUNDS, n_threads=threads)

    def peakmem_train(self, rows, storage, threads):
        pnorm.train(self.pos, self.neg, self.H, 4, ROUNDS, n_threads=threads)


class Small:
    """Few rows: one round, most of which are checks and tables, and two hundred."""

    params = ([30, 150, 500, 2_000], [1, 200])
    param_names = ("I = K", "rounds")

    def setup(self, rows, rounds):
        self.pos, self.neg = problems.gaussian(rows, rows, 20 if rows > 1_000 else 8)

    def time_train(self, rows, rounds):
        pnorm.train(self.pos, self.neg, None, 4, rounds, n_threads=1)


class Many:
    """A thousand problems of sixty rows, by as many threads."""

    params = ([1, 2],)
    param_names = ("threads",)

    def setup(self, threads):
        self.problems = [problems.gaussian(30, 30, 8, seed) for seed in range(1_000)]

    def time_train(self, threads):
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda rows: pnorm.train(*rows, None, 4, 100), self.problems))


class SparseCuts:
    """Cuts of counts in wide sparse rows, 14 to a row: 3.4 MB of them, and 34."""

    params = ([20_000, 200_000],)
    param_names = ("rows",)

    def setup(self, rows):
        self.pos, self.neg = problems.counts(rows, rows // 10, 14 * rows)
        self.H = pnorm.rankers.quantile_thresholds(self.pos, self.neg)
        self.lam = np.random.default_rng(0).normal(size=len(self.H))

    def time_quantile_thresholds(self, rows):
        pnorm.rankers.quantile_thresholds(self.pos, self.neg)

    def time_first_round(self, rows):
        pnorm.train(self.pos, self.neg, self.H, 4, 1)

    def time_train(self, rows):
        pnorm.train(self.pos, self.neg, self.H, 4, 100)

    def peakmem_train(self, rows):
        pnorm.train(self.pos, self.neg, self.H, 4, 100)

    def time_score(self, rows):
        pnorm.score(self.neg, self.H, self.lam)


class Groups:
    """Query groups, from a few large ones to many small ones."""

    params = ([10, 1_000, 10_000], ["columns", "thresholds"])
    param_names = ("groups", "rankers")

    def setup(self, groups, rankers):
        self.pos, self.neg = problems.gaussian(50_000, 50_000, 10)
        self.H = pnorm.rankers.quantile_thresholds(self.pos, self.neg, 31) if rankers == "thresholds" else None
        rng = np.random.default_rng(0)
        self.groups = rng.integers(0, groups, 50_000), rng.integers(0, groups, 50_000)

    def time_train(self, groups, rankers):
        pos_group, neg_group = self.groups
        pnorm.train(self.pos, self.neg, self.H, 4, ROUNDS, pos_group=pos_group, neg_group=neg_group)


class Cuts:
    """Placing cuts, and coding the rows by them."""

    params = ([10_000, 100_000], ["C", "F"])
    param_names = ("I = K", "order")

    def setup(self, rows, order):
        self.pos, self.neg = (np.asarray(X, np.float32, order=order) for X in problems.gaussian(rows, rows, 20))
        self.H = pnorm.rankers.quantile_thresholds(self.pos, self.neg)

    def time_quantile_thresholds(self, rows, order):
        pnorm.rankers.quantile_thresholds(self.pos, self.neg)

    def time_first_round(self, rows, order):
        pnorm.train(self.pos, self.neg, self.H, 4, 1)


class Literal:
    """The same problem, pair by pair and factored."""

    params = ([30, 100, 300], [5, 20], [1, 4])
    param_names = ("I = K", "n", "p")

    def setup(self, rows, n, p):
        import literal

        self.literal = literal
        self.pos, self.neg = problems.gaussian(rows, rows, n)

    def time_literal(self, rows, n, p):
        self.literal.train(self.pos, self.neg, p, ROUNDS)

    def time_train(self, rows, n, p):
        pnorm.train(self.pos, self.neg, None, p, ROUNDS)


class Score:
    """Scoring new rows."""

    params = ([1_000, 100_000], ["columns", "normalized", "quantile_thresholds"])
    param_names = ("N", "rankers")

    def setup(self, rows, rankers):
        self.pos, neg = problems.gaussian(rows, rows, 20)
        maker = getattr(pnorm.rankers, rankers)
        self.H = maker(self.pos, neg, 15) if rankers == "quantile_thresholds" else maker(self.pos, neg)
        self.lam = [0.5] * len(self.H)

    def time_score(self, rows, rankers):
        pnorm.score(self.pos, self.H, self.lam)
