"""A measure with its interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Estimate(float):
    """A measure with its interval: a float that also has `low`, `high` and `confidence`.

    It unpacks into value, low, high. ``print`` shows ``value [low, high]``. A format (``f"{x:.3f}"``) and ``float(x)``
    give the value alone.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> found = pnorm.metrics.auc(rng.normal(1, 1, 200), rng.normal(0, 1, 200), confidence=0.95)
    >>> value, low, high = found
    >>> found.low == low < value < found.high == high, found.confidence
    (True, 0.95)
    >>> f"{found:.3f}" == f"{value:.3f}"
    True
    """

    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    confidence: float
    """The confidence of the interval, from 0 to 1; 1 for the certain bounds of a `ScoreTable`."""

    def __new__(cls, value: float, low: float, high: float, confidence: float) -> Estimate:
        """Make a float that keeps its interval."""
        made = super().__new__(cls, value)
        made.low, made.high, made.confidence = low, high, confidence
        return made

    def __reduce__(self) -> tuple[type[Estimate], tuple[float, ...]]:
        return Estimate, (*self, self.confidence)

    def __iter__(self) -> Iterator[float]:
        return iter((float(self), self.low, self.high))

    def __repr__(self) -> str:
        ends = f"{self.low:.6g}, {self.high:.6g}"
        if self.low == self.high and self.confidence < 1.0:
            ends = f"{self.low:.6g} in all resamples"
        return f"{float(self):.6g} [{ends}]"


def moved(estimate: Any, value: float, most: float, least: float = 0.0) -> Estimate:
    """Return the interval moved to another value, and cut to the range of the measure."""
    by = value - float(estimate)
    low, high = max(least, min(estimate.low + by, value)), min(most, max(estimate.high + by, value))
    return Estimate(value, low, high, estimate.confidence)
