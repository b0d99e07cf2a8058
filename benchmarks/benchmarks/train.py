"""`train` over I = K, n and p, and the literal algorithm beside it."""

import sys
from pathlib import Path

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


class Import:
    """What `import pnorm` costs a script."""

    def timeraw_import(self):
        return "import pnorm"
