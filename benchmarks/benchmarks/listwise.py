"""Lists with grades: surrogates over lengths and grades, and epochs of training."""

import numpy as np

from pnorm import listwise, metrics


class Surrogates:
    """One list."""

    params = ([100, 10_000, 1_000_000], [2, 5, 100_000])
    param_names = ("rows", "grades")

    def setup(self, rows, grades):
        rng = np.random.default_rng(0)
        self.list = rng.normal(size=rows), rng.integers(0, grades, rows)

    def time_kendall_tau_hinge(self, rows, grades):
        listwise.kendall_tau_hinge(*self.list)

    def time_ndcg(self, rows, grades):
        listwise.ndcg(*self.list)


class Measures:
    """Measures of 1000 lists of 100 rows, without ties and with many."""

    params = (["ndcg", "mean_average_precision", "mean_reciprocal_rank", "expected_reciprocal_rank"], [6, 0])
    param_names = ("measure", "digits of the scores")

    def setup(self, measure, digits):
        rng = np.random.default_rng(0)
        self.lists = (3 * rng.normal(size=100_000)).round(digits), rng.integers(0, 5, 100_000)
        self.group = np.full(1000, 100)

    def time_measure(self, measure, digits):
        getattr(metrics, measure)(*self.lists, group=self.group)

    def peakmem_measure(self, measure, digits):
        getattr(metrics, measure)(*self.lists, group=self.group)


class Assignment:
    """The surrogate of NDCG of one list."""

    params = ([10, 100, 1_000],)
    param_names = ("rows",)

    def setup(self, rows):
        rng = np.random.default_rng(0)
        self.list = rng.normal(size=rows), rng.integers(0, 5, rows)

    def time_ndcg_hinge(self, rows):
        listwise.ndcg_hinge(*self.list)


class Epoch:
    """One epoch over 20,000 documents in 50 columns."""

    params = (["kendall", "ndcg"], [10, 100])
    param_names = ("loss", "rows of a list")

    def setup(self, loss, size):
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(20_000, 50))
        f = self.X @ rng.normal(size=50) + 3 * rng.normal(size=20_000)
        self.y = np.digitize(f, np.quantile(f, [0.5, 0.75, 0.9, 0.97]))
        self.group = np.full(20_000 // size, size)

    def time_train(self, loss, size):
        listwise.train(self.X, self.y, self.group, loss, epochs=1)

    def peakmem_train(self, loss, size):
        listwise.train(self.X, self.y, self.group, loss, epochs=1)
