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
    """100 resamples of a list: few positives, as many as negatives, and scores of two digits."""

    params = ([10_000, 94_800], ["few", "half", "rounded"])
    param_names = ("rows", "positives")

    def setup(self, rows, positives):
        """Draw scores."""
        rng = np.random.default_rng(0)
        n_pos = rows // 2 if positives == "half" else rows // 50
        self.f = rng.normal(1.0, 1.0, n_pos), rng.normal(size=rows - n_pos)
        if positives == "rounded":
            self.f = tuple(np.round(f, 2) for f in self.f)

    def time_auc(self, rows, positives):
        """A draw and a sum each."""
        metrics.auc(*self.f, confidence=0.95, n_resamples=100)

    def time_summary(self, rows, positives):
        """All measures of the same draws."""
        metrics.summary(*self.f, confidence=0.95, n_resamples=100)

    def peakmem_summary(self, rows, positives):
        """Some numbers per row, however many resamples there are."""
        metrics.summary(*self.f, confidence=0.95, n_resamples=100)
