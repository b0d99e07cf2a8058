"""Measures of lists, and of their intervals."""

import numpy as np

from pnorm import metrics


class Measures:
    """One measure each, of a list of N rows, a tenth of them positive, with and without ties."""

    params = ([10_000, 1_000_000], [True, False])
    param_names = ("rows", "ties")

    def setup(self, rows, ties):
        """Draw scores."""
        rng = np.random.default_rng(0)
        scores = rng.normal(1.0, 1.0, rows // 10), rng.normal(size=rows - rows // 10)
        self.f = [np.round(f, 1) for f in scores] if ties else scores

    def time_auc(self, rows, ties):
        """The sort, and a sum."""
        metrics.auc(*self.f)

    def time_summary(self, rows, ties):
        """All of them."""
        metrics.summary(*self.f)

    def time_risk_with_margin(self, rows, ties):
        """A bisection per distinct score."""
        metrics.p_norm_risk(*self.f, p=4, theta=0.1)

    def peakmem_summary(self, rows, ties):
        """Some numbers per row."""
        metrics.summary(*self.f)


class Intervals:
    """100 resamples of a list of 10,000 rows."""

    def setup(self):
        """Draw scores."""
        rng = np.random.default_rng(0)
        self.f = rng.normal(1.0, 1.0, 1000), rng.normal(size=9000)

    def time_auc(self):
        """A draw and a sum each."""
        metrics.auc(*self.f, confidence=0.95, n_resamples=100)
