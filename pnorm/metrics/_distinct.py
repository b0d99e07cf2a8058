"""Numbers of positives and negatives at each distinct score of a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[Any]
"""Integers, or sums of weights."""


@dataclass(frozen=True)
class DistinctScores:
    """Numbers of positives and negatives at each distinct score, best first; sums of weights if rows have weights.

    The last axis runs over the scores. The axis before it, if any, runs over resamples.
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
        """The share of positives in the rows at each score, 0 if there are no rows."""
        return self.pos / np.maximum(np.diff(self.ranks, axis=-1), LEAST)

    @property
    def even(self) -> DistinctScores:
        """The weights of each side divided by a power of two near their sum; products then keep their digits."""
        if self.pos.dtype == self.neg.dtype == np.intp:
            return self
        sides = self.pos + 0.0, self.neg + 0.0
        return DistinctScores(*(np.ldexp(side, -np.frexp(side.sum(axis=-1, keepdims=True))[1]) for side in sides))

    def moved(self, side: str, share: float, up: bool) -> DistinctScores:
        """Return the list with a share of one side, ``"pos"`` or ``"neg"``, above all other rows, or below them."""
        all_rows = {"pos": self.pos + 0.0, "neg": self.neg + 0.0}
        taken = {name: share * counts if name == side else 0.0 * counts for name, counts in all_rows.items()}
        rest = {name: counts - taken[name] for name, counts in all_rows.items()}
        parts = (taken, rest) if up else (rest, taken)
        return DistinctScores(*[np.concatenate([part[name] for part in parts], axis=-1) for name in all_rows])

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
    """Return the sums of a * b over the last axis, without BLAS: its bits may depend on the number of threads."""
    return np.einsum("...c,...c->...", a, b)


LEAST = 5e-324
"""Replaces a denominator of 0 where the numerator is 0 too."""


Measure = Callable[[DistinctScores], Any]
"""A function of the counts at the distinct scores, over their last axis."""
