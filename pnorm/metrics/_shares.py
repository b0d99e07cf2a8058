"""Shares of rows with intervals, and predicted probabilities beside the shares that were observed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betaincinv, expit, ndtr, ndtri

from pnorm._checks import Vector
from pnorm.metrics._distinct import DistinctScores
from pnorm.metrics._estimates import Estimate

_EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Shares of the rows between which probabilities are compared with what happened; the top is told apart more finely."""

_IN_BIN = 20
"""Rows of such a part, at least."""

_NODES = np.arange(-32, 33)
"""Numbers of rows above the cut at which their distribution is taken, in eighths of its standard deviation."""

_NORMAL = np.linspace(-6.0, 6.0, 25)
_MASSES = np.exp(-0.5 * _NORMAL**2) / np.exp(-0.5 * _NORMAL**2).sum()
"""A trapezoidal rule over quantiles of a normal variable."""

_LARGEST = 50.0
"""A distance from the center of ratios at which all logarithms of ratios lie on one side."""

CLOSE = 0.8, 1.25
"""Calibration slopes, and ratios of the mean probability to the share of positives, whose error is called slight."""

_STEPS, _FLAT = 50, 1e-12
"""Steps of Newton's method for a calibration slope, at most, and a curvature below which there is none."""

_LEAST_SPREAD = 0.01
"""Standard deviation of recalibrated log odds, at least."""

_UNLIKELY = 1e-9
"""Probability of a number of rows above the cut below which the interval of recall leaves it out."""


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


class Cuts(NamedTuple):
    """Numbers of rows that may lie above the cut of one depth k of n rows, and the hits on both sides."""

    weights: Vector
    """Their probabilities."""
    above: Vector
    """Hits among the rows above the cut, in proportion for k rows."""
    below: Vector
    """Hits among the rows below it, in proportion for n - k rows."""


class FirstRows(NamedTuple):
    """Hits among the first rows, for several depths, with intervals of the expected precision and recall."""

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
    cuts: tuple[Cuts, ...]
    """The cuts of each depth."""

    def measure(self, what: str, i: int) -> Estimate:
        """Return a measure of the i-th depth: ``"precision"``, ``"lift"``, ``"recall"`` or ``"hits"``."""
        return self.measures((what,), i)[0]

    def measures(self, names: Sequence[str], i: int) -> list[Estimate]:
        """Return several measures of the i-th depth.

        The interval of hits is that of precision times k, and that of lift is that of recall times n / k.
        """
        k, found, n = int(self.depth[i]), float(self.hits[i]), self.n
        of_rows, of_hits = (float(self.low[i]), float(self.high[i])), (0.0, 1.0)
        if not {"recall", "lift"}.isdisjoint(names):
            of_hits = recall_ends(self.cuts[i], k, n, self.confidence)
        of = {
            "precision": (found / k, 1.0, of_rows),
            "hits": (found, float(k), of_rows),
            "recall": (found / self.n_pos, 1.0, of_hits),
            "lift": (found * (n / self.n_pos) / k, n / k, of_hits),
        }
        estimates = []
        for value, unit, (low, high) in map(of.__getitem__, names):
            estimates.append(Estimate(value, min(unit * low, value), max(unit * high, value), self.confidence))
        return estimates


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
    at most 64. A depth costs 2 to 5 ms. The interval of recall has the same mixture, of ratios (`recall_ends`).
    """
    k, n = np.atleast_1d(depths), int(at.ranks[-1])
    p = k / n
    step = np.maximum(1, np.ceil(np.sqrt(k * (1.0 - p)) / 8.0))[:, None]
    m = k[:, None] + step * _NODES
    ends = np.clip(np.append(m - 0.5 * step, m[:, -1:] + 0.5 * step, axis=1) // 1.0, 0.0, n)
    up_to = np.where(ends < n, betaincc(ends + 1.0, np.maximum(n - ends, 1.0), p[:, None]), 1.0)
    weights = np.diff(up_to) * ((m >= 1.0) & (m <= n))
    weights /= weights.sum(axis=1, keepdims=True)
    m, n_pos = np.clip(m, 1.0, n), int(at.curve[1][-1])
    found, above = np.minimum(hits(at, k), k), hits(at, m)  # a sum of parts of rows that tie may round
    a = np.minimum(k[:, None] * (above / m), k[:, None])
    rest, of_rest = (n - k)[:, None], np.maximum(n - m, 1.0)
    below = np.clip(rest * ((n_pos - above) / of_rest), 0.0, rest)
    level, low, high = 0.5 * (1.0 - confidence), np.empty(k.size), np.empty(k.size)
    for i, (x, w) in enumerate(zip(a, weights, strict=True)):
        low[i], high[i] = _low_of_mixture(x, k[i] - x, w, level), 1.0 - _low_of_mixture(k[i] - x, x, w, level)
    value = found / k  # with a small confidence a mixture may leave it out
    cuts = tuple([Cuts(w * (of < n), *of_cut) for w, of, *of_cut in zip(weights, m, a, below, strict=True)])
    return FirstRows(k, found, np.minimum(low, value), np.maximum(high, value), n_pos, n, confidence, cuts)


def recall_ends(cuts: Cuts, k: int, n: int, confidence: float) -> tuple[float, float]:
    """Return an interval of the recall of the first k of n rows, for rows that are all drawn.

    The recall is s U / (s U + (1 - s) V) for the share s = k / n of rows above the cut, the precision U above it, and
    the share V of positives below it. If m rows lie above the cut, the hits on its two sides are independent binomial
    numbers. With c_m hits below it in n - k rows, d_m = n - k - c_m, and a_m and b_m as in `first_rows`, the ends are
    quantiles of the mixture over 0 < m < n of the recall for pairs of independent beta variables::

        low:  U ~ Beta(a_m, b_m + 1), V ~ Beta(c_m + 1, d_m)
        high: U ~ Beta(a_m + 1, b_m), V ~ Beta(c_m, d_m + 1)

    For one m these are the melded intervals of Fay, Proschan and Brittain for the ratio of two binomial rates. The
    number of positives varies with the hits. All rows have the recall 1. A depth costs 10 to 50 ms.

    References
    ----------
    M. P. Fay, M. A. Proschan, E. Brittain, "Combining one-sample confidence procedures for inference in the two-sample
    case", Biometrics 71, 2015, 146-156.
    """
    if k == n:
        return 1.0, 1.0
    some = cuts.weights > _UNLIKELY
    w = cuts.weights[some] / cuts.weights[some].sum()
    a, c = np.round(cuts.above[some], 9), np.round(cuts.below[some], 9)  # sums of parts of rows that tie may round
    b, d = k - a, n - k - c
    level = 0.5 * (1.0 - confidence)
    of_low, of_high = _Ratios((a, b + 1.0), (c + 1.0, d)), _Ratios((a + 1.0, b), (c, d + 1.0))
    return _recall(of_low, w, level, k / (n - k)), _recall(of_high, w, 1.0 - level, k / (n - k))


def _recall(ratios: _Ratios, weights: Vector, level: float, odds: float) -> float:
    """Return the recall at a quantile of a mixture of ratios U / V, for the odds of a row to be above the cut."""
    from scipy.optimize import brentq  # slow to import

    def excess(log: float) -> float:
        return float(weights @ ratios.below(math.exp(log))) - level

    ends = []
    for sign in (-1.0, 1.0):
        reach = 0.25
        while sign * excess(ratios.center + sign * reach) <= 0.0:
            if reach > _LARGEST:
                return 0.0 if sign < 0.0 else 1.0
            reach *= 4.0
        ends.append(ratios.center + sign * reach)
    return float(expit(brentq(excess, *ends, xtol=1e-9) + math.log(odds)))


class _Ratios:
    """The ratios U / V of pairs of independent beta variables. One with a parameter zero is 0 or 1."""

    center: float
    """The logarithm of a ratio that is neither too small nor too large for most pairs."""

    def __init__(self, U: tuple[Vector, Vector], V: tuple[Vector, Vector]) -> None:
        of_u, of_v = (float(np.median((a + 0.5) / (a + b + 1.0))) for a, b in (U, V))
        self.center = math.log(of_u / of_v)
        spread_u, spread_v = (np.median(b / (np.maximum(a, 1e-300) * (a + b + 1.0))) for a, b in (U, V))
        self.inverse = bool(spread_u < spread_v)  # the rule needs few nodes on the variable that varies less
        wide, narrow = (V, U) if self.inverse else (U, V)
        self.wide = wide[0][:, None], wide[1][:, None]
        a, b = narrow[0][:, None], narrow[1][:, None]
        inside = betaincinv(np.where(a > 0.0, a, 1.0), np.where(b > 0.0, b, 1.0), ndtr(_NORMAL))
        self.narrow = np.where(a > 0.0, np.where(b > 0.0, inside, 1.0), 0.0)

    def below(self, ratio: float) -> Vector:
        """Return P(U <= ratio V) of each pair."""
        x = np.minimum(self.narrow / ratio if self.inverse else self.narrow * ratio, 1.0)
        a, b = self.wide
        inside = betainc(np.where(a > 0.0, a, 1.0), np.where(b > 0.0, b, 1.0), x)
        of_wide = np.where(a > 0.0, np.where(b > 0.0, inside, x >= 1.0), 1.0) @ _MASSES
        return np.asarray(1.0 - of_wide if self.inverse else of_wide)


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


def calibration_slope(pos: Vector, neg: Vector, sure: float) -> Estimate | None:
    """Return the calibration slope of log odds, with Wald's interval; None if there is no finite one.

    It is the coefficient of the log odds of both sides in a logistic regression of the labels. Below 1, probabilities
    are too extreme.
    """
    found = _logistic([np.concatenate([pos, neg])], [np.repeat([1.0, 0.0], [pos.size, neg.size])])
    if found is None:
        return None
    slope, error = found
    wide = float(ndtri(0.5 + 0.5 * sure)) * error
    return Estimate(slope, slope - wide, slope + wide, sure)


def platt_slope(folds: Sequence[Any]) -> float | None:
    """Return the coefficient of scores in the log odds, by Platt's method; None if all scores are equal.

    Each fold has an intercept. It consists of the scores of its positives and of its negatives, and the case weights of
    both or None. The labels of n positives and m negatives are (n + 1)/(n + 2) and 1/(m + 2) in place of 1 and 0, so
    the coefficient is finite even if the scores separate the classes. If need be, it is raised until the standard
    deviation of the log odds is 0.01, so that they keep the order of the scores.
    """
    of_sides = [[_counted(fold[side], fold[2 + side]) for fold in folds] for side in (0, 1)]
    n_pos, n_neg = [sum([float(w.sum()) for w in side]) for side in of_sides]
    ends = (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0)
    largest = max([float(w.max()) for side in of_sides for w in side if w.size])
    of_sides = [[w / largest for w in side] for side in of_sides]  # sums of squares would overflow
    x = [np.concatenate(fold[:2]) for fold in folds]
    y = [np.repeat(ends, [fold[0].size, fold[1].size]) for fold in folds]
    weight = [np.concatenate(sides) for sides in zip(*of_sides, strict=True)]
    spread = float(np.concatenate(x).std())
    found = None if spread == 0.0 else _logistic(x, y, weight)
    return None if found is None else max(found[0], _LEAST_SPREAD / spread)


def _counted(side: Vector, weight: Vector | None) -> Vector:
    """Return the case weights of a side."""
    return np.ones(side.size) if weight is None else weight


def _logistic(
    x: Sequence[Vector], y: Sequence[Vector], weight: Sequence[Vector] | None = None
) -> tuple[float, float] | None:
    """Return the coefficient of x in a logistic regression with an intercept for each fold, and its standard error.

    The labels y are from 0 to 1. None if there is no finite coefficient.
    """
    sizes = np.array([fold.size for fold in x])
    starts = np.cumsum(sizes) - sizes
    t, c = np.concatenate(y), np.ones(sizes.sum()) if weight is None else np.concatenate(weight)
    mass = np.add.reduceat(c, starts)
    share = np.add.reduceat(c * t, starts) / mass
    if not ((share > 0.0) & (share < 1.0)).all():
        return None
    center = np.add.reduceat(c * np.concatenate(x), starts) / mass
    z = np.concatenate(x) - center.repeat(sizes)
    spread = float(z.std())
    if not spread > 0.0:
        return None
    z /= spread
    a, b = np.log(share / (1.0 - share)), 0.0
    for _ in range(_STEPS):
        mean = expit(a.repeat(sizes) + b * z)
        curve = c * mean * (1.0 - mean)
        s0, s1, s2 = [np.add.reduceat(of, starts) for of in (curve, curve * z, curve * (z * z))]
        if not (s0 > _FLAT).all():
            return None
        information = float((s2 - s1 * s1 / s0).sum())
        if not information > _FLAT * max(1.0, float(s2.sum())):
            return None
        g0, g1 = [np.add.reduceat(of, starts) for of in (c * (t - mean), c * (t - mean) * z)]
        step_b = float((g1 - s1 * g0 / s0).sum()) / information
        step_a = (g0 - s1 * step_b) / s0
        size = max(float(abs(step_a).max()), abs(step_b))
        short = min(1.0, 2.0 / size) if size > 0.0 else 1.0
        a, b = a + short * step_a, b + short * step_b
        if size < 1e-9:
            return b / spread, 1.0 / math.sqrt(information) / spread
    return None
