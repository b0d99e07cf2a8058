"""The places of the cuts of a column, and its line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from pnorm import _checks
from pnorm._checks import ONLY, Lines, Vector
from pnorm._storage import scoring
from pnorm.rankers._base import Index

_ENDS = 1023
"""Largest number of ends of the levels of a line without cuts beside it."""


def _sides_of(A: Any, B: Any, columns: range) -> list[_checks.Array]:
    """Columns of both sides together, one array each."""
    out = np.empty((len(columns), len(A) + len(B)), np.result_type(A, B))
    out[:, : len(A)], out[:, len(A) :] = A[:, columns].T, B[:, columns].T
    return list(out)


def _cuts(x: _checks.Array, n_rows: int, n_cuts: int, linear: Lines) -> Placed:
    """Return the cuts of a column and its line; sorts x in place. Of n_rows values, those that are not in x are 0."""
    return in_order(x, n_rows).cuts(n_cuts, linear)


class Placed(NamedTuple):
    """The cuts of a column, with NaN and infinity as in `_Thresholds`, and its line."""

    cuts: list[float]
    line: list[float]
    """Its values, by level."""
    between: list[float]
    """The ends of these levels, where the line takes the place of the cuts."""


@dataclass(frozen=True, eq=False)
class InOrder:
    """The distinct values of a column in ascending order."""

    values: _checks.Array
    ends: Index
    """The number of rows up to each value."""
    gaps: bool
    """Whether there are rows without a value."""

    def cuts(self, n_cuts: int, linear: Lines) -> Placed:
        """Mid-points between neighbours, at most n_cuts, and NaN if a value is missing.

        If a line is asked for and differs from the cut, infinity comes last, or takes the place of the cuts.
        """
        alone = linear == ONLY
        at_most, shares = (_ENDS, _of_logits) if alone else (n_cuts, _equal)
        cuts = _mid_points(self.values, self.ends, at_most, shares)
        line, between = list[float](), list[float]()
        if linear and 1 < len(cuts) <= scoring.CUTS:
            line = _means(self.values.astype(np.float64), self.ends, cuts)
            cuts, between = ([], cuts) if alone else (cuts, [])
        return Placed(cuts + [math.nan] * self.gaps + [math.inf] * bool(line), line, between)


def in_order(x: _checks.Array, n_rows: int, sort: Literal["quicksort", "stable"] = "quicksort") -> InOrder:
    """Return the distinct values of x, sorted in place; values of the n_rows that are not in x are 0."""
    x.sort(kind=sort)  # NaN comes last
    known = x[: int(np.searchsorted(x, np.nan))]
    ends = np.append(np.flatnonzero(known[1:] != known[:-1]) + 1, known.size)
    values = known[ends[: known.size] - 1]
    zeros = n_rows - x.size
    if zeros:
        at = int(np.searchsorted(values, 0.0))
        if at == values.size or values[at] != 0.0:
            values = np.insert(values, at, 0.0)
            ends = np.insert(ends[: values.size - 1], at, ends[at - 1] if at else 0)
        ends[at:] += zeros
    return InOrder(values, ends[: values.size], known.size < x.size)


def _means(values: Vector, ends: Index, cuts: list[float]) -> list[float]:
    """Means of distinct values, after each of which so many rows end, between cuts; moved to go from 0 to 1."""
    low, high = float(values[0]), float(values[-1])
    half = 1.0 if math.isfinite(high - low) else 0.5
    x, counts = (half * values - half * low) / (half * high - half * low), np.diff(ends, prepend=0).astype(np.float64)
    first = np.r_[0, values.searchsorted(cuts, side="right")]
    last = np.r_[first[1:], values.size] - 1
    means = np.add.reduceat(x * counts, first) / np.add.reduceat(counts, first)
    means = means.clip(x[first], x[last])  # so that none is above the next one
    # Multiples of 2**-52, whose differences are exact: sparse storage keeps those from the value at zero.
    line: list[float] = (np.rint(2.0**52 * ((means - means[0]) / (means[-1] - means[0]))) / 2.0**52).tolist()
    return line


def _equal(n_cuts: int, n: int) -> Vector:
    """Return the shares of rows below each cut that divide n rows into equal parts."""
    return np.arange(1, n_cuts + 1) / (n_cuts + 1)


def _of_logits(n_cuts: int, n: int) -> Vector:
    """Return the shares of n rows below each cut, from 1 / (n + 1) to n / (n + 1), at equal steps of their logits.

    Parts have fewer rows towards the ends of a column, and one row at the ends, which decide who comes first.
    """
    return 1.0 / (1.0 + np.exp(np.linspace(math.log(n), -math.log(n), n_cuts)))


def _mid_points(values: _checks.Array, ends: Index, n_cuts: int, shares: Callable[[int, int], Vector]) -> list[float]:
    """Mid-points of distinct values, after each of which so many rows end; of more values, those nearest to shares."""
    if values.size <= n_cuts + 1:
        at = np.arange(values.size - 1)
    else:
        n, ends = int(ends[-1]), ends[:-1]
        wanted = shares(n_cuts, n)
        # The first end whose share of rows below is at least the one wanted, and the end before it.
        right = np.ceil(wanted * n).astype(np.intp)
        right -= (right - 1) / n >= wanted
        at = np.minimum(np.searchsorted(ends, right + (right / n < wanted)), ends.size - 1)
        nearer = (at > 0) & (wanted - ends[at - 1] / n < ends[at] / n - wanted)
        at = np.unique(at - nearer)
    below, above = values[at].astype(np.float64), values[at + 1].astype(np.float64)
    middle = 0.5 * below + 0.5 * above
    return [float(cut) for cut in np.where(middle < above, middle, below)]  # next to each other, they have none
