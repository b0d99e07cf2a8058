"""A ranked list as counts at its distinct scores, and intervals for its measures.

Every measure of a list is a function of the numbers of positives and negatives at each distinct score, best first.
Ties, case weights and resamples change only these numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from pnorm import _checks
from pnorm._categories import warn
from pnorm._checks import Vector
from pnorm._checks.labelled import BY_LABELS
from pnorm.metrics._distinct import LEAST, Counts, DistinctScores, Measure, dots
from pnorm.metrics._estimates import Estimate, moved

_LABELS = 4, 20
"""Rows from which on vectors may look like labels, by more than their values and by these alone."""


_TINY = 1e-150


_SAME = 1e-12
"""A difference of two values of a measure that may come from rounding."""


_STILL = 1e-24
"""A variance of an AUC over resamples up to which these agree, but for rounding."""


_BLOCK = 1 << 14
"""Size of an array over resamples. It limits the number of resamples measured at a time: arrays stay in the cache."""


_KEPT = 1 << 21
"""The size of an array that is freed before the first resample. From then on glibc keeps freed memory up to this size.
Without it, glibc returns the arrays of each resample to the system and gets them back page by page: with 94,800 rows
a resample took 7.0 ms, and takes 2.6 ms now."""


_FEW = 16
"""From this many rows per distinct row, counts are drawn instead of rows: a binomial number takes as long as about
ten rows."""


PLACES = 2048
"""Largest number of places of a list in resamples. With more distinct scores, scores further down are put together in
growing groups, so a resample costs the same for any number of rows."""


class ByOrder(ABC):
    """A measure that is largest if all positives are above all negatives, and least if all are below.

    No resample of a list without a mistake has one, and none of a list without a success has one.
    """

    @abstractmethod
    def __call__(self, at: DistinctScores) -> Any:
        """Return the measure."""

    def bounded(self, found: Estimate, at: DistinctScores, sizes: tuple[float, float]) -> Estimate:
        """Return the estimate with an end that resamples cannot show, if the list has the largest or least value.

        After a largest value, a share u of all positives may still be below all negatives, and a share v of all
        negatives above all positives. None of m and n rows is such a row with probability (1 - u)^m (1 - v)^n, and
        this is (1 - confidence) / 2 where one share is at the bound of Clopper and Pearson and the other is zero. The
        lower end is the lower value of the measure in these two cases, and at most that of the resamples. If the
        measure falls in proportion to both shares, no other pair of shares on this curve gives a lower one. The least
        value has an upper end likewise. ``benchmarks/intervals.py`` counts how often such intervals hold.
        """
        tail = math.log(0.5 * (1.0 - found.confidence))
        shares = [-math.expm1(tail / size) for size in sizes]
        for largest in (True, False):
            if abs(float(self(at.moved("pos", 1.0, largest))) - found) < _SAME:
                of_sides = zip(("pos", "neg"), shares, (not largest, largest), strict=True)
                ends = [float(self(at.moved(side, share, up))) for side, share, up in of_sides]
                ends += found  # resamples have ties, and these may count more than any order of the rows
                return Estimate(float(found), min(ends), max(ends), found.confidence)
        return found


class AveragePrecision(ByOrder):
    """The mean over the positives of the precision down to each; a tie counts with all of its rows."""

    def __call__(self, at: DistinctScores) -> Any:
        pos = at.even.pos
        precision = at.curve[1][..., 1:] / np.maximum(at.ranks[..., 1:], LEAST)
        return dots(pos, precision) / pos.sum(axis=-1)

    def least(self, pos: Counts, neg: Counts, mixed: NDArray[np.bool_]) -> float:
        """Return a lower bound over all orders of the rows at the places that are mixed.

        In the worst order, all negatives of a place are above its positives. The precision rises with the number of
        positives, so the sum over them is at least the integral.
        """
        at = DistinctScores(pos, neg)
        above, negatives = at.above + 0.0, at.curve[0][1:] + 0.0
        some = negatives > 0.0
        ratio = np.divide(pos, above + negatives, out=np.zeros(some.size), where=some)
        worst = np.maximum(pos - negatives * np.log1p(ratio), 0.0)
        precise = pos * ((above + pos) / np.maximum(above + pos + negatives, LEAST))
        return float(np.where(mixed, worst, precise).sum() / at.curve[1][-1])


@dataclass(frozen=True)
class PartialAuc(ByOrder):
    """The area above a floor and below the ROC curve between two false positive rates."""

    low: float
    high: float
    floor: float
    standardized: bool

    def __call__(self, at: DistinctScores) -> Any:
        false, true = at.curve
        wide = (at.neg > 0) & (false[..., :-1] < self.high * false[..., -1:])
        part = np.flatnonzero(wide.reshape(-1, wide.shape[-1]).any(axis=0))  # the rest has no area in any resample
        (x, width), (y, rise) = (
            (counts.take(part, axis=-1) / counts[..., -1:], side.take(part, axis=-1) / counts[..., -1:])
            for counts, side in ((false, at.neg), (true, at.pos))
        )
        area = self._above(x, width, y, rise)
        if not self.standardized:
            return area
        zero, one = np.zeros(1), np.ones(1)
        most, least = (self.high - self.low) * (1.0 - self.floor), self._above(zero, one, zero, one)
        return 0.5 * (1.0 + (area - least) / (most - least))

    def _above(self, x: Vector, width: Vector, y: Vector, rise: Vector) -> Any:
        """Return the area below lines that rise from (x, y) by (width, rise)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # pieces of width zero or almost zero
            a, b = (np.clip((end - x) / width, 0.0, 1.0) for end in (self.low, self.high))
            y_a, y_b = (y - self.floor + rise * share for share in (a, b))
            above = np.where(y_a >= 0.0, 0.5 * (y_a + y_b), np.where(y_b > 0.0, 0.5 * y_b * y_b / (y_b - y_a), 0.0))
            return np.where(width > 0.0, (b - a) * width * above, 0.0).sum(axis=-1)


class Auc:
    """The share of the pairs in the right order; a tied pair counts one half."""

    def __call__(self, at: DistinctScores) -> Any:
        at = at.even
        return dots(at.neg, at.above + 0.5 * at.pos) / at.pos.sum(axis=-1) / at.neg.sum(axis=-1)

    @staticmethod
    def ends(value: float, variance: float, sizes: tuple[float, float], level: float) -> tuple[float, float]:
        """Return the interval of Newcombe's method 5, or a wider one if the resamples vary more than it assumes.

        With m positives and n negatives, the variance of an AUC of t is assumed to be that of Hanley and McNeil with
        equal exponents::

            V(t) = t (1 - t) (1 + N (1 - t) / (2 - t) + N t / (1 + t)) / (m n),   N = (m + n) / 2 - 1

        The ends are the roots of (value - t)² = z² r V(t), with r = max(1, variance / V(value)). The variance belongs
        to the end, not to the value: a list that is better than others by luck also varies less. A value of 0 or 1 is
        an end itself, and r is 1.

        References
        ----------
        .. [1] R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic.
           Part 2: asymptotic methods and evaluation", Statistics in Medicine 25(4), 2006, method 5.
        """
        from scipy.optimize import brentq  # slow to import

        m, n = sizes
        half = 0.5 * (m + n) - 1.0

        def rest(t: float) -> float:
            return (1.0 + half * (1.0 - t) / (2.0 - t) + half * t / (1.0 + t)) / (m * n)

        def spread(t: float) -> float:
            return t * (1.0 - t) * rest(t)

        factor = float(ndtri(0.5 + 0.5 * level)) ** 2
        if min(value, 1.0 - value) < _STILL:  # divided by the root at the value; V(t) = V(1 - t)
            end = float(brentq(lambda t: (1.0 - t) - factor * t * rest(t), 0.0, 1.0))
            return (end, value) if value > 0.5 else (value, 1.0 - end)
        factor *= max(1.0, variance / spread(value))

        def outside(t: float) -> float:
            return (value - t) ** 2 - factor * spread(t)

        return float(brentq(outside, 0.0, value)), float(brentq(outside, value, 1.0))


class _Side:
    """The rows of one side in the order of their places in the list, to be drawn with replacement."""

    def __init__(self, at: NDArray[np.intp], c: Vector | None, n_places: int) -> None:
        self._at, self._c, self._n_places = at, c, n_places
        self.size = at.size
        new = np.diff(at, prepend=-1) != 0
        if c is not None:
            new |= np.diff(c, prepend=0.0) != 0.0
        self._distinct = np.flatnonzero(new)
        self._copies = np.diff(self._distinct, append=at.size)
        self.dtype = np.dtype(np.intp if c is None else np.float64)

    def counts(self) -> Counts:
        """Return the counts of rows, or sums of weights, at each place."""
        return np.bincount(self._at, self._c, self._n_places)

    def drawn(self, rng: np.random.Generator, size: int) -> Counts:
        """Return the counts of rows, or sums of weights, at each place in a resample of so many rows.

        It draws the rows, or the numbers of copies of the distinct rows, which have a multinomial distribution.
        """
        if _FEW * self._copies.size > size:
            rows, copies = rng.integers(self.size, size=size), None
        else:
            rows, copies = self._distinct, rng.multinomial(size, self._copies / self.size)
        weights = copies if self._c is None else self._c.take(rows) if copies is None else copies * self._c[rows]
        return np.bincount(self._at.take(rows), weights, self._n_places)


class SideOfCounts:
    """Counts of the rows of one side at each place, to draw from; with weights also the sums of their squares.

    With weights, a place is treated as rows of one weight. Their number and weight are chosen so that the sum of the
    weights and the sum of their squares are the same.
    """

    def __init__(self, counts: Counts, squares: Vector | None) -> None:
        self.dtype = np.dtype(np.intp if squares is None else np.float64)
        self._weight = None if squares is None else squares / np.where(counts > 0.0, counts, 1.0)
        copies = counts if self._weight is None else counts / np.where(counts > 0.0, self._weight, 1.0)
        self.size = max(1, round(float(copies.sum())))
        self._shares = copies / copies.sum()

    def drawn(self, rng: np.random.Generator, size: int) -> Counts:
        """Return the counts of rows, or sums of weights, at each place in a resample of so many rows."""
        copies = rng.multinomial(size, self._shares)
        return copies if self._weight is None else copies * self._weight


def resamples(
    sides: Sequence[_Side | SideOfCounts], n_places: int, rng: np.random.Generator, draws: int, stratified: bool
) -> Iterator[tuple[slice, DistinctScores]]:
    """Yield resamples of both sides in blocks, with their numbers.

    They have as many rows of each side if `stratified`. Otherwise rows of both sides are drawn together: the number of
    positives is binomial. A draw without a row of one side gets one.
    """
    np.empty(_KEPT)
    n_pos, n_neg = [side.size for side in sides]
    n = n_pos + n_neg
    sizes = [np.full(draws, n_pos) if stratified else np.clip(rng.binomial(n, n_pos / n, draws), 1, n - 1)]
    sizes.append(n - sizes[0])
    step = max(1, _BLOCK // n_places)
    drawn = [np.empty((step, n_places), side.dtype) for side in sides]
    for start in range(0, draws, step):
        size = min(step, draws - start)
        for i in range(size):
            for side, counts, of_side in zip(sides, drawn, sizes, strict=True):
                counts[i] = side.drawn(rng, of_side[start + i])
        yield slice(start, start + size), DistinctScores(*(counts[:size] for counts in drawn))


class Weighed:
    """Rows of both sides whose weights are expressed in a unit."""

    def _in_units(self, weights: list[Vector | None]) -> list[Vector | None]:
        """Return the weights of both sides divided by the unit, and set the unit."""
        self.weighted = any(c is not None for c in weights)
        self.whole = all(c is None or bool((c % 1.0 == 0.0).all()) for c in weights)
        largest = max(1.0 if c is None else float(c.max()) for c in weights)
        self.unit = _checks.power_of_two(largest) if largest < _TINY else 1.0
        """The unit of the counts: one, or a power of two if all weights are tiny, so that ratios keep their digits."""
        return [None if c is None else c / self.unit for c in weights]


class OneList(Weighed):
    """One list, in memory or merged from tables of counts."""

    measure_all: Callable[..., Sequence[float]]
    """Return several measures, given functions that make them; the other arguments are those of `measure`."""

    def measure(
        self,
        of: Measure,
        confidence: Any,
        n_resamples: Any,
        seed: Any,
        by_score: bool = False,
        *,
        stratified: bool = True,
    ) -> float:
        """Return a measure, an `Estimate` if `confidence` is given."""
        return self.measure_all([lambda: of], confidence, n_resamples, seed, by_score, stratified=stratified)[0]


class RankedList(OneList):
    """The scores of both sides, with weights, sorted once; rows of weight zero are left out.

    With `sure` there is no warning of vectors that look like labels.
    """

    def __init__(
        self, f_pos: Any, f_neg: Any, pos_weight: Any = None, neg_weight: Any = None, *, sure: bool = False
    ) -> None:
        sides: list[tuple[Vector, Vector | None]] = []
        for f, weight, side in ((f_pos, pos_weight, "pos"), (f_neg, neg_weight, "neg")):
            scores = _checks.scores(f, f"f_{side}")
            c = _checks.masses(weight, f"{side}_weight", scores.size)
            if c is None:
                sides.append((np.sort(scores), None))
            else:
                order = np.lexsort((c, scores))  # the rows that a seed draws do not depend on their order
                order = order[c[order] > 0.0]
                sides.append((scores[order], c[order]))
        if not sure:
            warn_of_labels(f_pos=sides[0][0], f_neg=sides[1][0])
        weights = self._in_units([c for _, c in sides])
        distinct, at = np.unique(np.concatenate([scores for scores, _ in sides]), return_inverse=True)
        self.scores = distinct[::-1]
        places = np.split(distinct.size - 1 - at, [sides[0][0].size])
        self._rows = list(zip(places, weights, strict=True))
        self.distinct = DistinctScores(*[np.bincount(at, c, distinct.size) for at, c in self._rows])
        self.ends = [self.distinct]
        """The lists in the best and in the worst order that is possible, which is one list here."""
        self.n_pos, self.n_neg = float(self.distinct.pos.sum()), float(self.distinct.neg.sum())

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The rows of each side; with weights, the rows of one weight that vary as much (Kish's effective size)."""
        pos, neg = [float(at.size) if c is None else _effective_size(c) for at, c in self._rows]
        return pos, neg

    def count(self, value: float) -> float:
        """Return a number of rows: an integer, unless rows have weights or the number has an interval."""
        if isinstance(value, Estimate):
            middle, low, high = (number * self.unit for number in value)
            return Estimate(middle, low, high, value.confidence)
        return value * self.unit if self.weighted else int(value)

    def measure_all(
        self,
        makes: list[Callable[[], Measure]],
        confidence: Any,
        n_resamples: Any,
        seed: Any,
        by_score: bool = False,
        *,
        stratified: bool = True,
    ) -> list[float]:
        """Return several measures, with intervals from the same resamples; `by_score` if one depends on the scores.

        Each measure is made only when it is needed, since some have tables over all ranks.
        """
        values = [float(make()(self.distinct)) for make in makes]
        if confidence is None:
            return values
        of = [make() for make in makes]
        place = np.arange(self.scores.size) if by_score else self._merged()

        def again(rng: np.random.Generator, draws: int) -> Vector:
            found = np.empty((draws, len(of)))
            for where, at in self.resampled(place, rng, draws, stratified):
                found[where] = np.stack([measure(at) for measure in of], axis=-1)
            return found

        found = estimates(values, again, confidence, n_resamples, seed, of, sizes=self.sizes)
        return list(bounded(found, of, self.distinct, self.sizes))

    def resampled(
        self, place: NDArray[np.intp], rng: np.random.Generator, draws: int, stratified: bool
    ) -> Iterator[tuple[slice, DistinctScores]]:
        """Yield resamples in blocks, with their numbers. Scores that have one `place` tie; places rise from 0."""
        n_places = int(place[-1]) + 1
        yield from resamples([_Side(place[at], c, n_places) for at, c in self._rows], n_places, rng, draws, stratified)

    def _merged(self) -> NDArray[np.intp]:
        """Return a place for each score; negatives with no positive between them have the same place.

        Scores of one place tie then. This changes no measure of ranks, and may remove more than half of the places.
        """
        negative = self.distinct.pos == 0
        return np.cumsum(np.concatenate([[True], ~(negative[1:] & negative[:-1])])) - 1


class RankedLists(Weighed):
    """Several lists of the same rows, with the interface of a `RankedList`; measures are arrays over the lists.

    If scores tie, a list has fewer places than another. The places that are left over have no rows.
    """

    def __init__(self, f_pos: Any, f_neg: Any, c_pos: Vector | None = None, c_neg: Vector | None = None) -> None:
        """Take scores (S, I) and (S, K), a row for each list, and weights above zero."""
        for name, of_side in (("f_pos", f_pos), ("f_neg", f_neg)):
            if not np.isfinite(of_side).all():
                _checks.scores(of_side[~np.isfinite(of_side).all(axis=1)][0], name)  # raises
        weights = self._in_units([c_pos, c_neg])
        f = np.concatenate([f_pos, f_neg], axis=1)
        order = np.argsort(-f, axis=1)
        falling = np.take_along_axis(f, order, axis=1)
        place = np.arange(f.size).reshape(f.shape)
        place[:, 1:] = place[:, :1] + np.cumsum(falling[:, 1:] < falling[:, :-1], axis=1)
        sides, first = [], 0
        for c, n in zip(weights, (f_pos.shape[1], f_neg.shape[1]), strict=True):
            own = (order >= first) & (order < first + n)
            masses = np.bincount(place[own], None if c is None else c[order[own] - first], f.size)
            sides.append(masses.reshape(f.shape))
            first += n
        self.distinct = DistinctScores(*sides)
        self.n_pos, self.n_neg = [float(side[0].sum()) for side in sides]

    def from_below(self) -> RankedLists:
        """Return the reversed lists, in which the negatives take the place of the positives."""
        found = copy(self)
        found.distinct = DistinctScores(self.distinct.neg[:, ::-1], self.distinct.pos[:, ::-1])
        found.n_pos, found.n_neg = self.n_neg, self.n_pos
        return found

    def measure(self, of: Measure, *_: Any, **__: Any) -> Vector:
        """Return a measure of each list."""
        return np.asarray(of(self.distinct), np.float64)

    def count(self, values: Vector) -> Vector:
        """Return numbers of rows."""
        return values * self.unit


def _effective_size(weight: Vector) -> float:
    """Return (Σ w)² / Σ w²."""
    w = weight / _checks.power_of_two(float(weight.max()))  # squares of 1e200 overflow
    return float(w.sum()) ** 2 / float(w @ w)


def estimates(
    values: list[float],
    again: Callable[[np.random.Generator, int], Any],
    confidence: Any,
    n_resamples: Any,
    seed: Any,
    of: Sequence[Measure] = (),
    *,
    sizes: tuple[float, float],
) -> list[Estimate]:
    """Return values with intervals from the values of the resamples.

    An interval contains more than the share `confidence` of the values (Hesterberg's expanded percentile interval):
    that of a mean of n rows, the number of the smaller side, would be as long as Student's.
    The AUC, if it is among the measures `of`, has its own interval (`Auc.ends`).
    """
    level = _checks.probability(confidence, "confidence")
    draws = _checks.count(n_resamples, "n_resamples", math.ceil(2.0 / (1.0 - level) - 1e-9))
    rng = _checks.generator(seed)
    found = np.sort(again(rng, draws), axis=0)
    n = max(min(sizes), 2.0)
    growth = n / (n - 1.0)  # the variance of a resampled mean is too small by this factor
    beyond = float(ndtr(math.sqrt(growth) * stdtrit(n - 1.0, 0.5 * (1.0 - level))))
    tail = int(beyond * (draws - 1) + 1e-9)  # resamples beyond each end
    ends = [found[tail].tolist(), found[draws - 1 - tail].tolist()]
    for i, measure in enumerate(of):
        variance = growth * float(found[:, i].var())
        if isinstance(measure, Auc) and (variance > _STILL or min(values[i], 1.0 - values[i]) < _STILL):
            ends[0][i], ends[1][i] = measure.ends(values[i], variance, sizes, level)
    return [Estimate(*numbers, level) for numbers in zip(values, ends[0], ends[1], strict=True)]


def estimates_by_place(
    rows: Any,
    of: list[Measure],
    ranges: list[tuple[float, float]],
    confidence: Any,
    n_resamples: Any,
    seed: Any,
    *,
    stratified: bool,
) -> list[Estimate]:
    """Return measures of the list `rows`, which have ranges, with intervals from resamples of at most `PLACES` places.

    The change that comes from putting places together is subtracted.
    """
    place = grouped_places(rows.distinct, PLACES)
    sides = rows.distinct.pos, rows.distinct.neg
    fewer = DistinctScores(*[np.bincount(place, side).astype(side.dtype) for side in sides])

    def again(rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        found = np.empty((draws, len(of)))
        for where, at in rows.resampled(place, rng, draws, stratified):
            found[where] = np.stack([measure(at) for measure in of], axis=-1)
        return found

    as_they_are = [float(measure(fewer)) for measure in of]
    near = estimates(as_they_are, again, confidence, n_resamples, seed, of, sizes=rows.sizes)
    exact = [float(measure(rows.distinct)) for measure in of]
    found = []
    for estimate, value, (least, most) in zip(near, exact, ranges, strict=True):
        # The sum of the weights differs between resamples, so a sum may leave the range.
        found.append(moved(estimate, value, max(most, estimate.high), min(least, estimate.low)))
    return bounded(found, of, rows.distinct, rows.sizes)


def bounded(
    found: list[Estimate], of: Sequence[Measure], at: DistinctScores, sizes: tuple[float, float]
) -> list[Estimate]:
    """Return the estimates of measures of one list; those at the end of their range have both ends (`ByOrder`)."""
    pairs = zip(found, of, strict=True)
    return [of_one.bounded(x, at, sizes) if isinstance(of_one, ByOrder) else x for x, of_one in pairs]


def grouped_places(at: DistinctScores, most: int) -> NDArray[np.intp]:
    """Return the number of the place of each distinct score; with too many scores, several share a place.

    Each of the first quarter of the places has one row. The others grow with the rank. Negatives near the top and the
    scores between them keep different places.
    """
    n_scores = at.pos.size
    if n_scores <= most:
        return np.arange(n_scores)
    rank, n = at.ranks[:-1].astype(np.float64), float(at.ranks[-1])
    first = most / 4.0
    level = np.floor(np.where(
        rank < first, rank, first + 0.5 * most * np.log(np.maximum(rank, first) / first) / math.log(n / first)
    ))  # fmt: skip
    near = [np.minimum(counts, most // 20) for counts in (at.curve[0][:-1], at.curve[0][1:])]
    new = np.any([np.diff(x) != 0 for x in (level, *near)], axis=0)
    return np.cumsum(np.concatenate([[False], new]))


def warn_of_labels(**sides: Vector) -> None:
    """Warn of two vectors of one size if one holds only 0 and 1, or -1 and 1: they may be labels and scores.

    If there are few rows, the values of the other one must all be different fractions, as a few levels are not.
    """
    (_, a), (_, b) = sides.items()
    if a.size != b.size or a.size < _LABELS[0]:
        return
    binary = [name for name, f in sides.items() if f.max() == 1.0 and f.min() in (0.0, -1.0) and _of_two(f)]
    if len(binary) != 1:
        return
    other = next(f for name, f in sides.items() if name != binary[0])
    if a.size < _LABELS[1] and np.unique(other[other != np.rint(other)]).size < a.size:
        return
    low = "zeros" if sides[binary[0]].min() == 0.0 else "minus ones"
    warn(
        f"{binary[0]} holds only {low} and ones, as many as there are scores on the other side. {BY_LABELS}",
        UserWarning,
    )


def _of_two(f: Vector) -> bool:
    """Return whether all values are the least or the largest."""
    return bool(((f == f.min()) | (f == f.max())).all())
