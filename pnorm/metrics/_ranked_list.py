"""A ranked list as counts at its distinct scores, and intervals for measures of it.

Every measure of a list is a function of the numbers of positives and negatives at each distinct score,
best first: ties, case weights and resamples are only other counts at the same scores.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector

Counts = NDArray[Any]
"""Integers, or sums of weights."""


class Estimate(float):
    """A measure with its interval: a float that also has `low`, `high` and `confidence`.

    Unpacks into value, low, high. Prints with the interval; a format (``f"{x:.3f}"``) and ``float(x)`` leave it out.
    """

    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    confidence: float
    """The share of resamples that lie between them, from 0 to 1."""

    def __new__(cls, value: float, low: float, high: float, confidence: float) -> Estimate:
        """Make a float that remembers its interval."""
        made = super().__new__(cls, value)
        made.low, made.high, made.confidence = low, high, confidence
        return made

    def __reduce__(self) -> tuple[type[Estimate], tuple[float, ...]]:
        return Estimate, (*self, self.confidence)

    def __iter__(self) -> Iterator[float]:
        return iter((float(self), self.low, self.high))

    def __repr__(self) -> str:
        return f"{float(self):.6g} [{self.low:.6g}, {self.high:.6g}]"


@dataclass(frozen=True)
class DistinctScores:
    """Positives and negatives at each distinct score, best first; weights where rows have some.

    The last axis is that of the scores. Where there is another one before it, it is that of resamples.
    """

    pos: Counts
    neg: Counts

    @cached_property
    def curve(self) -> tuple[Counts, Counts]:
        """The ROC curve in counts: negatives and positives down to each score, from (0, 0) on."""
        return cumulated(self.neg), cumulated(self.pos)

    @property
    def above(self) -> Counts:
        """Positives above each score."""
        return self.curve[1][..., :-1]

    @property
    def not_above(self) -> Counts:
        """Positives at or below each score: the height of a negative with this score."""
        return np.cumsum(self.pos[..., ::-1], axis=-1)[..., ::-1]

    @cached_property
    def ranks(self) -> Counts:
        """Rows down to each score, from 0 on."""
        false, true = self.curve
        return false + true

    @cached_property
    def share(self) -> Counts:
        """The share of positives in the rows at each score, 0 where there are no rows."""
        return self.pos / np.maximum(np.diff(self.ranks, axis=-1), LEAST)

    @property
    def even(self) -> DistinctScores:
        """The weights of each side divided by a power of two near their sum, so that products keep their digits."""
        if self.pos.dtype == self.neg.dtype == np.intp:
            return self
        sides = self.pos + 0.0, self.neg + 0.0
        return DistinctScores(*(np.ldexp(side, -np.frexp(side.sum(axis=-1, keepdims=True))[1]) for side in sides))

    @cached_property
    def first(self) -> Any:
        """The place of the best negative; the last axis has one element."""
        return (self.neg > 0).argmax(axis=-1, keepdims=True)


def cumulated(counts: Counts) -> Counts:
    """Return the sums down to each element of the last axis, from 0 on."""
    sums = np.zeros((*counts.shape[:-1], counts.shape[-1] + 1), counts.dtype)
    np.cumsum(counts, axis=-1, out=sums[..., 1:])
    return sums


def dots(a: Counts, b: Counts) -> Any:
    """Return the sums of a * b over the last axis, without BLAS, so that no bit depends on its threads."""
    return np.einsum("...c,...c->...", a, b)


LEAST = 5e-324
"""In the place of a denominator of 0, where the numerator is 0 too."""

_TINY = 1e-150

_BLOCK = 1 << 14
"""Numbers in an array over resamples, which are measured so many at a time as to stay in the cache."""

_KEPT = 1 << 21
"""The size of an array that is freed before the first resample. From then on glibc keeps freed memory up to this size.
Otherwise it returns the arrays of each resample to the system and gets them back page by page: with 94,800 rows a
resample took 7.0 ms, and 2.6 ms like this."""

_FEW = 16
"""Rows per distinct row from which counts are drawn: a binomial number takes as long as some ten rows."""

Measure = Callable[[DistinctScores], Any]
"""A function of the counts at the distinct scores, over their last axis."""


class _Side:
    """The rows of one side in the order of their places in the list, to be drawn with replacement."""

    def __init__(self, at: NDArray[np.intp], c: Vector | None, n_places: int) -> None:
        self._at, self._c, self._n_places = at, c, n_places
        new = np.diff(at, prepend=-1) != 0
        if c is not None:
            new |= np.diff(c, prepend=0.0) != 0.0
        self._distinct = np.flatnonzero(new)
        self._copies = np.diff(self._distinct, append=at.size)
        self.dtype = np.dtype(np.intp if c is None else np.float64)

    def counts(self) -> Counts:
        """Return the counts of rows, or sums of weights, at each place."""
        return np.bincount(self._at, self._c, self._n_places)

    def drawn(self, rng: np.random.Generator) -> Counts:
        """Return the counts of rows, or sums of weights, at each place in a resample of as many rows.

        It draws the rows, or the numbers of copies of the distinct ones, which have a multinomial distribution.
        """
        size = self._at.size
        if _FEW * self._copies.size > size:
            rows, copies = rng.integers(size, size=size), None
        else:
            rows, copies = self._distinct, rng.multinomial(size, self._copies / size)
        weights = copies if self._c is None else self._c.take(rows) if copies is None else copies * self._c[rows]
        return np.bincount(self._at.take(rows), weights, self._n_places)


class _Weighed:
    """Rows of both sides whose weights are in a unit."""

    def _in_units(self, weights: list[Vector | None]) -> list[Vector | None]:
        """Return the weights of both sides in the unit that they need."""
        self.weighted = any(c is not None for c in weights)
        self.whole = all(c is None or bool((c % 1.0 == 0.0).all()) for c in weights)
        largest = max(1.0 if c is None else float(c.max()) for c in weights)
        self.unit = _checks.power_of_two(largest) if largest < _TINY else 1.0
        """The unit of the counts: one, or if all weights are tiny a power of two, so that ratios keep their digits."""
        return [None if c is None else c / self.unit for c in weights]


class RankedList(_Weighed):
    """The scores of both sides, with weights, sorted once; rows of weight zero are left out.

    `sure` says that these are scores, whatever they look like.
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
                order = np.lexsort((c, scores))  # so that the rows that a seed draws do not depend on their order
                order = order[c[order] > 0.0]
                sides.append((scores[order], c[order]))
        if not sure:
            _warn_of_labels(f_pos=sides[0][0], f_neg=sides[1][0])
        weights = self._in_units([c for _, c in sides])
        distinct, at = np.unique(np.concatenate([scores for scores, _ in sides]), return_inverse=True)
        self.scores = distinct[::-1]
        places = np.split(distinct.size - 1 - at, [sides[0][0].size])
        self._rows = list(zip(places, weights, strict=True))
        self.distinct = DistinctScores(*[np.bincount(at, c, distinct.size) for at, c in self._rows])
        self.n_pos, self.n_neg = float(self.distinct.pos.sum()), float(self.distinct.neg.sum())

    def measure(self, of: Measure, confidence: Any, n_resamples: Any, seed: Any, by_score: bool = False) -> float:
        """Return a measure, an `Estimate` if `confidence` is given."""
        return self.measure_all([lambda: of], confidence, n_resamples, seed, by_score)[0]

    def count(self, value: float) -> float:
        """Return a number of rows: an integer, unless rows have weights or the number has an interval."""
        if isinstance(value, Estimate):
            middle, low, high = (number * self.unit for number in value)
            return Estimate(middle, low, high, value.confidence)
        return value * self.unit if self.weighted else int(value)

    def measure_all(
        self, makes: list[Callable[[], Measure]], confidence: Any, n_resamples: Any, seed: Any, by_score: bool = False
    ) -> list[float]:
        """Return several measures, with intervals from the same resamples; `by_score` if one depends on the scores.

        Each is made when it is needed: some have tables over all ranks.
        """
        values = [float(make()(self.distinct)) for make in makes]
        if confidence is None:
            return values
        of = [make() for make in makes]
        place = np.arange(self.scores.size) if by_score else self._merged()

        def again(rng: np.random.Generator, draws: int) -> Vector:
            found = np.empty((draws, len(of)))
            for where, at in self.resampled(place, rng, draws):
                found[where] = np.stack([measure(at) for measure in of], axis=-1)
            return found

        return list(estimates(values, again, confidence, n_resamples, seed))

    def resampled(
        self, place: NDArray[np.intp], rng: np.random.Generator, draws: int
    ) -> Iterator[tuple[slice, DistinctScores]]:
        """Yield resamples in blocks, with their numbers. Scores that have one `place` tie; places rise from 0."""
        n_places = int(place[-1]) + 1
        sides = [_Side(place[at], c, n_places) for at, c in self._rows]
        np.empty(_KEPT)
        step = max(1, _BLOCK // n_places)
        drawn = [np.empty((step, n_places), side.dtype) for side in sides]
        for start in range(0, draws, step):
            size = min(step, draws - start)
            for i in range(size):
                for side, counts in zip(sides, drawn, strict=True):
                    counts[i] = side.drawn(rng)
            yield slice(start, start + size), DistinctScores(*(counts[:size] for counts in drawn))

    def _merged(self) -> NDArray[np.intp]:
        """Return a place for each score, the same for negatives between which there is no positive.

        Those of one place tie then. No measure of ranks sees that; more than half of the places may be gone.
        """
        negative = self.distinct.pos == 0
        return np.cumsum(np.concatenate([[True], ~(negative[1:] & negative[:-1])])) - 1


class RankedLists(_Weighed):
    """Several lists of the same rows, in the place of a `RankedList`: measures of them are arrays.

    Places that are left over, where scores tie, have no rows.
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
        """Return the lists read from below: the negatives are in the place of the positives."""
        found = copy(self)
        found.distinct = DistinctScores(self.distinct.neg[:, ::-1], self.distinct.pos[:, ::-1])
        found.n_pos, found.n_neg = self.n_neg, self.n_pos
        return found

    def measure(self, of: Measure, *_: Any) -> Vector:
        """Return a measure of each list."""
        return np.asarray(of(self.distinct), np.float64)

    def count(self, values: Vector) -> Vector:
        """Return numbers of rows."""
        return values * self.unit


def ranked(f_pos: Any, f_neg: Any, pos_weight: Any = None, neg_weight: Any = None) -> RankedList:
    """Return a list sorted once, or `RankedLists` as they are: a measure of them is an array."""
    if isinstance(f_pos, RankedLists):
        return f_pos  # type: ignore[return-value]
    return RankedList(f_pos, f_neg, pos_weight, neg_weight)


def estimates(
    values: list[float],
    again: Callable[[np.random.Generator, int], Any],
    confidence: Any,
    n_resamples: Any,
    seed: Any,
) -> list[Estimate]:
    """Return values with intervals that contain the share `confidence` of the values of so many resamples."""
    level = _checks.probability(confidence, "confidence")
    draws = _checks.count(n_resamples, "n_resamples", math.ceil(2.0 / (1.0 - level) - 1e-9))
    rng = _checks.generator(seed)
    found = np.sort(again(rng, draws), axis=0)
    tail = int(0.5 * (1.0 - level) * (draws - 1) + 1e-9)  # as many resamples beyond either end
    low, high = found[tail].tolist(), found[draws - 1 - tail].tolist()
    return [Estimate(*numbers, level) for numbers in zip(values, low, high, strict=True)]


def _warn_of_labels(**sides: Vector) -> None:
    """Warn of vectors of one size, one of them zeros and ones, which may be labels and scores."""
    (_, a), (_, b) = sides.items()
    if a.size != b.size or a.size < 20:
        return
    binary = [name for name, f in sides.items() if f.min() == 0.0 and f.max() == 1.0 and np.isin(f, (0.0, 1.0)).all()]
    if len(binary) == 1:
        warnings.warn(
            f"{binary[0]} holds zeros and ones, as many as there are scores on the other side: if these are labels y, "
            "pass f[y == 1], f[y == 0]",
            stacklevel=5,
        )
