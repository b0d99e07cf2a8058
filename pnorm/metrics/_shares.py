"""Shares of rows with intervals, and predicted probabilities beside the shares that were observed."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betaincinv

from pnorm._checks import Vector
from pnorm.metrics._ranked_list import DistinctScores, Estimate

_EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Shares of the rows between which probabilities are compared with what happened; the top is told apart more finely."""

_IN_BIN = 20
"""Rows of such a part, at least."""

_NODES = np.arange(-32, 33)
"""Numbers of rows above the cut at which their distribution is taken, in eighths of its standard deviation."""


def low(x: float, y: float, level: float) -> float:
    """Return the lower bound of Clopper and Pearson on a share, of which x of x + y rows are."""
    return float(betaincinv(x, y + 1, level)) if x else 0.0


def high(x: float, y: float, level: float) -> float:
    """Return the upper one."""
    return float(betaincinv(x + 1, y, 1.0 - level)) if y else 1.0


def share(found: float, n: int, confidence: float) -> tuple[float, float, float]:
    """Return the share that was found of n rows, with the interval of Clopper and Pearson."""
    found = min(found, float(n))  # a sum of parts of rows that tie may round
    level, rest = 0.5 * (1.0 - confidence), n - found
    return found / n, low(found, rest, level), high(found, rest, level)


def hits(at: DistinctScores, depths: Any) -> Any:
    """Return the hits among the first rows, for one or several depths; where scores tie, rows share their places.

    The first axis of the result runs over resamples, if the counts have such an axis.
    """
    if at.pos.ndim == 1:
        return np.interp(depths, at.ranks, at.curve[1])
    return np.array([np.interp(depths, *of_one) for of_one in zip(at.ranks, at.curve[1], strict=True)])


class FirstRows(NamedTuple):
    """Hits among the first rows, for several depths, with intervals of the expected precision."""

    depth: NDArray[np.intp]
    """Numbers of first rows."""
    hits: Vector
    """Hits among them. Where scores tie, rows share their places in equal parts."""
    low: Vector
    """Lower ends of the intervals of the precision."""
    high: Vector
    """Upper ends."""
    n_pos: int
    """Positives in all rows."""
    n: int
    """All rows."""
    confidence: float
    """The confidence of each interval."""

    def measure(self, what: str, i: int) -> Estimate:
        """Return a measure of the i-th depth: ``"precision"``, ``"lift"``, ``"recall"`` or ``"hits"``.

        The interval of hits is that of precision times k. The other two take the number of positives as given, and end
        at the values that lists with so many positives can have. That of lift is the interval of precision divided by
        the share of positives in all rows. That of recall is Clopper's and Pearson's for `n_pos` positives.
        """
        k, found, sure = int(self.depth[i]), float(self.hits[i]), self.confidence
        size = self.n_pos if what == "recall" else k
        unit = {"lift": self.n / self.n_pos, "hits": float(k)}.get(what, 1.0)
        low, high = share(found, size, sure)[1:] if what == "recall" else (float(self.low[i]), float(self.high[i]))
        if what in ("recall", "lift"):
            low, high = max(low, (k + self.n_pos - self.n) / size), min(high, min(k, self.n_pos) / size)
        value = found * unit / size
        return Estimate(value, min(unit * low, value), max(unit * high, value), sure)


def first_rows(at: DistinctScores, depths: Any, confidence: float) -> FirstRows:
    """Return the hits among the first k of n rows, with intervals of the precision for rows that are all drawn.

    The interval is for the precision above a cut, the score that a share k / n of all rows exceeds on average. In a
    sample of n rows, M of them lie above it, binomial with mean k, and M varies although k does not. The first m rows
    are the rows above the cut if M = m. With H_m hits among them, the distribution of the precision is that of Clopper
    and Pearson for k H_m / m hits in k rows. The interval is from quantiles of the mixture over M > 0::

        Σ_m P(M = m) P(Beta(a_m, b_m + 1) ≤ low) = (1 - confidence) / 2,   a_m = k H_m / m,   b_m = k - a_m
        Σ_m P(M = m) P(Beta(a_m + 1, b_m) ≥ high) = (1 - confidence) / 2

    If H_m / m does not change with m, it is the interval of Clopper and Pearson. The variance of the mixture has both
    parts of the variance of the hits, k P (1 - P) + k (P - q)² (1 - k / n), where P is the precision and q the share of
    positives at the cut. ``benchmarks/intervals.py`` counts how often the interval holds.

    The mixture takes 65 numbers of rows, up to 4 standard deviations from k. They are consecutive if k (1 - k / n) is
    at most 64. A depth costs 2 to 5 ms.
    """
    k, n = np.atleast_1d(depths), int(at.ranks[-1])
    p = k / n
    step = np.maximum(1, np.ceil(np.sqrt(k * (1.0 - p)) / 8.0))[:, None]
    m = k[:, None] + step * _NODES
    ends = np.clip(np.append(m - 0.5 * step, m[:, -1:] + 0.5 * step, axis=1) // 1.0, 0.0, n)
    below = np.where(ends < n, betaincc(ends + 1.0, np.maximum(n - ends, 1.0), p[:, None]), 1.0)
    weights = np.diff(below) * ((m >= 1.0) & (m <= n))
    weights /= weights.sum(axis=1, keepdims=True)
    m = np.clip(m, 1.0, n)
    found = np.minimum(hits(at, k), k)  # a sum of parts of rows that tie may round
    a = np.minimum(k[:, None] * (hits(at, m) / m), k[:, None])
    level, low, high = 0.5 * (1.0 - confidence), np.empty(k.size), np.empty(k.size)
    for i, (x, w) in enumerate(zip(a, weights, strict=True)):
        low[i], high[i] = _low_of_mixture(x, k[i] - x, w, level), 1.0 - _low_of_mixture(k[i] - x, x, w, level)
    value = found / k  # with a small confidence a mixture may leave it out
    return FirstRows(k, found, np.minimum(low, value), np.maximum(high, value), int(at.curve[1][-1]), n, confidence)


def _low_of_mixture(a: Vector, b: Vector, weights: Vector, level: float) -> float:
    """Return the quantile of a mixture of the distributions Beta(a, b + 1), which are at zero where a is."""
    from scipy.optimize import brentq  # slow to import

    some = (a > 0.0) & (weights > 0.0)
    a, b, w, rest = a[some], b[some] + 1.0, weights[some], level - float(weights[a == 0.0].sum())
    if rest <= 0.0:
        return 0.0
    return float(brentq(lambda x: w @ betainc(a, b, x) - rest, 0.0, 1.0, xtol=1e-15, rtol=1e-13))


class Calibration(NamedTuple):
    """Predicted probabilities and what happened, in parts of the rows from low to high."""

    low: Vector
    """The smallest probability of each part."""
    high: Vector
    """The largest."""
    predicted: Vector
    """The mean."""
    rows: NDArray[np.intp]
    """Rows of each part."""
    positives: NDArray[np.intp]
    """Positives among them."""
    share: tuple[Estimate, ...]
    """The share of positives in each part, with the interval of Clopper and Pearson."""


def calibration(pos: Vector, neg: Vector, confidence: float) -> Calibration:
    """Compare probabilities with what happened, in parts of the rows; rows of one probability stay together."""
    if min(pos.min(), neg.min()) < 0.0 or max(pos.max(), neg.max()) > 1.0:
        raise ValueError("probability must be from 0 to 1; pass what pnorm.probability returns")
    x = np.concatenate([pos, neg])
    order = np.argsort(x, kind="stable")
    x, y = x[order], (order < pos.size).astype(np.intp)
    ends = [0]
    for edge in _EDGES[1:]:
        where = int(np.searchsorted(x, x[max(0, math.ceil(edge * x.size) - 1)], side="right"))
        if where - ends[-1] >= _IN_BIN and (x.size - where >= _IN_BIN or where == x.size):
            ends.append(where)
    if len(ends) == 1 or ends[-1] < x.size:
        ends = [*(ends if len(ends) < 2 else ends[:-1]), x.size]
    starts, rows = np.array(ends[:-1]), np.diff(ends)
    hits = np.add.reduceat(y, starts)
    shares = [
        Estimate(*share(k, size, confidence), confidence) for k, size in zip(hits.tolist(), rows.tolist(), strict=True)
    ]
    mean = np.add.reduceat(x, starts) / rows
    return Calibration(x[starts], x[np.array(ends[1:]) - 1], mean, rows, hits, tuple(shares))
