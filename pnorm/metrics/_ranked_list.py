"""A ranked list as counts at its distinct scores, and intervals for measures of it.

Every measure of a list is a function of the numbers of positives and negatives at each distinct score,
best first: ties, case weights and resamples are only other counts at the same scores.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector


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
    """Positives and negatives at each distinct score, best first; weights where rows have some."""

    pos: Vector
    neg: Vector

    @property
    def above(self) -> Vector:
        """Positives above each score."""
        return np.concatenate([[0.0], np.cumsum(self.pos)[:-1]])

    @property
    def not_above(self) -> Vector:
        """Positives at or below each score: the height of a negative with this score."""
        return np.cumsum(self.pos[::-1])[::-1]

    @property
    def even(self) -> DistinctScores:
        """The counts of each side divided by a power of two near their sum, so that products keep their digits."""
        return DistinctScores(*(np.ldexp(side, -math.frexp(side.sum())[1]) for side in (self.pos, self.neg)))

    @property
    def first(self) -> int:
        """The place of the best negative."""
        return int(np.flatnonzero(self.neg)[0])

    @property
    def curve(self) -> tuple[Vector, Vector]:
        """The ROC curve in counts: negatives and positives down to each score, from (0, 0) on."""
        return np.concatenate([[0.0], np.cumsum(self.neg)]), np.concatenate([[0.0], np.cumsum(self.pos)])


_TINY = 1e-150

Measure = Callable[[DistinctScores], float]
"""A function of the counts at the distinct scores."""


class RankedList:
    """The scores of both sides, with weights, sorted once; rows of weight zero are left out."""

    def __init__(self, f_pos: Any, f_neg: Any, pos_weight: Any = None, neg_weight: Any = None) -> None:
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
        _warn_of_labels(f_pos=sides[0][0], f_neg=sides[1][0])
        self._weights = [c for _, c in sides]
        self.whole = all(c is None or bool((c % 1.0 == 0.0).all()) for c in self._weights)
        largest = max(1.0 if c is None else float(c.max()) for c in self._weights)
        self.unit = _checks.power_of_two(largest) if largest < _TINY else 1.0
        """The unit of the counts: one, or if all weights are tiny a power of two, so that ratios keep their digits."""
        self._weights = [None if c is None else c / self.unit for c in self._weights]
        self.weighted = any(c is not None for c in self._weights)
        distinct, at = np.unique(np.concatenate([scores for scores, _ in sides]), return_inverse=True)
        self.scores = distinct[::-1]
        self._at = np.split(distinct.size - 1 - at, [sides[0][0].size])
        self.distinct = DistinctScores(*[self._masses(at, c) for at, c in zip(self._at, self._weights, strict=True)])
        self.n_pos, self.n_neg = float(self.distinct.pos.sum()), float(self.distinct.neg.sum())

    def _masses(self, at: NDArray[np.intp], c: Vector | None) -> Vector:
        return np.bincount(at, c, self.scores.size).astype(np.float64)

    def resampled(self, rng: np.random.Generator) -> DistinctScores:
        """Return the counts of a resample: as many rows of each side, drawn with replacement."""
        masses = []
        for at, c in zip(self._at, self._weights, strict=True):
            rows = rng.integers(at.size, size=at.size)
            masses.append(self._masses(at[rows], None if c is None else c[rows]))
        return DistinctScores(*masses)

    def measure(self, of: Measure, confidence: Any, n_resamples: Any, seed: Any) -> float:
        """Return a measure, an `Estimate` if `confidence` is given."""
        return self.measure_all([of], confidence, n_resamples, seed)[0]

    def count(self, value: float) -> float:
        """Return a number of rows: an integer, unless rows have weights or the number has an interval."""
        if isinstance(value, Estimate):
            middle, low, high = (number * self.unit for number in value)
            return Estimate(middle, low, high, value.confidence)
        return value * self.unit if self.weighted else int(value)

    def measure_all(self, of: list[Measure], confidence: Any, n_resamples: Any, seed: Any) -> list[float]:
        """Return several measures, with intervals from the same resamples."""

        def measured(at: DistinctScores) -> list[float]:
            return [measure(at) for measure in of]

        values = measured(self.distinct)
        if confidence is None:
            return values
        return list(estimates(values, lambda rng: measured(self.resampled(rng)), confidence, n_resamples, seed))


def estimates(
    values: list[float],
    again: Callable[[np.random.Generator], list[float]],
    confidence: Any,
    n_resamples: Any,
    seed: Any,
) -> list[Estimate]:
    """Return values with intervals that contain the share `confidence` of the values on resampled rows."""
    level = _checks.probability(confidence, "confidence")
    draws = _checks.count(n_resamples, "n_resamples", math.ceil(2.0 / (1.0 - level) - 1e-9))
    rng = _checks.generator(seed)
    found = np.sort([again(rng) for _ in range(draws)], axis=0)
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
            stacklevel=4,
        )
