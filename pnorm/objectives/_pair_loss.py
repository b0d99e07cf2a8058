"""The protocol of a loss: a function of pairs of scores, and its sums over all pairs.

A loss l is a convex function of the difference z of the scores of a positive and a negative. Objectives need its sums
over one side of the list (the sources) for every row of the other (the targets),

    value_k = sum_i c_i l(z_ik),        slope_k = -sum_i c_i l'(z_ik).

Sources have scores s and weights c, and targets have scores t. z = s - t if the sources are the positives, and
z = t - s if they are the negatives (sign = -1).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._core import _pairs
from pnorm._threads import Pool, slices

_PAIRS = 40_000
"""Number of pairs for which a loss is evaluated at a time: arrays of 320 kB, which stay in the cache."""


@dataclass(frozen=True, eq=False)
class GroupedScores:
    """The scores of one side, group by group, ascending within each group if the loss needs it."""

    f: Vector
    order: NDArray[np.intp] | None
    """f[k] is the score of row order[k], or of row k if this is None."""
    starts: NDArray[np.intp]
    """(G + 1,): the first place of each group, and the end."""

    @classmethod
    def of(cls, f: Vector, codes: NDArray[np.intp] | None, starts: NDArray[np.intp], ascending: bool) -> GroupedScores:
        """Sort scores by their groups, which are `codes`."""
        if codes is not None:
            order = np.lexsort((f, codes)) if ascending else np.argsort(codes, kind="stable")
            return cls(f[order], order, starts)
        if not ascending:
            return cls(f, None, starts)
        order, ranked = np.empty(f.size, np.intp), np.empty(f.size)
        if not _pairs.sort(f, order, ranked, np.zeros(f.size + 1, np.intc)):
            order = np.argsort(f, kind="stable")
            ranked = f[order]
        return cls(ranked, order, starts)

    def gather(self, values: Vector) -> Vector:
        """Return values of the rows in the order of these scores."""
        return values if self.order is None else values[self.order]

    def scatter(self, values: Vector, out: Vector) -> None:
        """Fill `out`, row by row, with values in the order of these scores."""
        out[... if self.order is None else self.order] = values

    def group_sums(self, values: Vector) -> Vector:
        """Return the sum over every group."""
        return np.asarray(np.add.reduceat(values, self.starts[:-1]))

    def spread(self, values: Vector) -> Vector:
        """Return values of the groups as values of their rows, or as one number for all rows."""
        return values if values.size == 1 else np.repeat(values, np.diff(self.starts))


class Grouping:
    """The query groups of the rows of both sides, by their numbers `codes`; None for one group."""

    def __init__(self, codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None) -> None:
        self.codes: tuple[Any, Any] = (None, None) if codes is None else codes
        self._starts = None
        if codes is not None:
            self._starts = [np.concatenate([[0], np.bincount(c).cumsum()]) for c in codes]

    def sort(self, f_pos: Vector, f_neg: Vector, ascending: bool, pool: Pool) -> tuple[GroupedScores, GroupedScores]:
        """Sort the scores of both sides by group, and within groups if they are to be ascending."""
        starts = self._starts or [np.array([0, f.size]) for f in (f_pos, f_neg)]
        sides = zip((f_pos, f_neg), self.codes, starts, strict=True)
        pos, neg = pool.map(lambda side: GroupedScores.of(*side, ascending), sides)
        return pos, neg


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of sources and targets; `value` and `slope` select the sums that are needed."""

    source: GroupedScores
    weights: Vector
    """Of the sources, in their order."""
    target: GroupedScores
    sign: float
    """z is this times (score of the source - score of the target): 1 if the sources are positives, -1 if negatives."""
    pool: Pool
    value: bool = True
    slope: bool = True


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the sources for every target, both to be multiplied by e^exponent."""

    value: Vector
    slope: Vector
    exponent: Vector | float = 0.0


class Growth(NamedTuple):
    """Bounds |l(z)| <= factor (1 + |z|)**q and |l'(z)| <= factor (1 + |z|)**(q - 1)."""

    q: float
    """inf if the loss grows faster than any power."""
    factor: float
    """C_0 of the analysis of gradient descent in a kernel space."""


class PairLoss(ABC):
    """A loss l(z), its properties, and its sums over pairs.

    A subclass needs a name, `value` and `slope`. Its sums visit all pairs unless it defines a faster method `sums`.
    Newton's method in a kernel space needs `curvature`. The bounds of gradient descent need `growth`.
    """

    name: str
    smooth = True
    """Whether it has a derivative everywhere."""
    decreasing = True
    """Whether it never rises."""
    root = 1.0
    """A power q such that l ** (1 / q) is convex, or ln l if it is inf. The same then holds for sums of such losses."""
    flat_from = math.inf
    """The argument from which on the loss is at its infimum; inf if there is none."""
    limit = 0.0
    """Its infimum."""
    ascending = False
    """Whether `sums` needs the scores in ascending order."""
    lipschitz: float | None = None
    """A Lipschitz constant of its derivative, if one is known."""
    growth: Growth | None = None
    """Bounds on its growth, if they are known."""

    @abstractmethod
    def value(self, z: Any) -> Any:
        """Return l(z)."""

    @abstractmethod
    def slope(self, z: Any) -> Any:
        """Return l'(z); at a corner, any number between the derivatives on either side."""

    def curvature(self, z: Any) -> Any:
        """Return l''(z); where it jumps, the value of either side."""
        raise NotImplementedError(f"the second derivative of {self.name} is not known")

    def smoothed(self, width: float) -> PairLoss:
        """Return the loss with a parabola in the place of its corner; `width` is half the width of the parabola."""
        raise NotImplementedError(f"{self.name} has no corner to round off")

    def with_left_slope(self) -> PairLoss:
        """Return the loss with left derivatives at its corners."""
        return self

    def sums(self, pairs: Pairs) -> Sums:
        """Return sums for every target; sums that are not needed may have any value."""
        source, target = pairs.source, pairs.target
        functions = [(self.value, 1.0, pairs.value), (self.slope, -1.0, pairs.slope)]
        out = [np.empty(target.f.size) for _ in functions]

        def add(item: tuple[slice, slice]) -> None:
            rows, columns = item
            totals = [np.zeros(columns.stop - columns.start) for _ in functions]
            size = max(1, _PAIRS // (columns.stop - columns.start))
            for some in slices(rows.stop, size, rows.start):
                z = pairs.sign * (source.f[some] - target.f[columns, None])
                for (function, factor, wanted), total in zip(functions, totals, strict=True):
                    if wanted:
                        total += factor * np.einsum(
                            "kr,r->k", function(z.ravel()).reshape(z.shape), pairs.weights[some]
                        )
            for whole, total in zip(out, totals, strict=True):
                whole[columns] = total

        with np.errstate(over="ignore"):
            pairs.pool.map(add, list(_rectangles(source.starts, target.starts)))
        return Sums(*out)

    # Derived properties

    @property
    def visits_pairs(self) -> bool:
        """Whether its sums visit all pairs."""
        return not self._overrides("sums")

    @property
    def smoothable(self) -> bool:
        """Whether `smoothed` rounds its corner off."""
        return self._overrides("smoothed")

    @property
    def has_curvature(self) -> bool:
        """Whether its second derivative is known."""
        return self.smooth and self._overrides("curvature")

    def _overrides(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(PairLoss, method)

    @cached_property
    def at_zero(self) -> float:
        """The number l(0)."""
        return float(self.value(np.zeros(1))[0])

    def largest(self, radius: float) -> float:
        """Return the largest l(z) for |z| <= radius."""
        return float(np.max(self.value(np.array([-radius, radius]))))

    def steepest(self, radius: float) -> float:
        """Return the largest |l'(z)| for |z| <= radius."""
        return float(np.max(np.abs(self.slope(np.array([-radius, radius])))))

    def change(self, radius: float) -> float:
        """Return the largest |l'(z) - l'(0)| / |z| for |z| <= radius, or a bound on it.

        If no Lipschitz constant is known, it is computed on sample points.
        """
        if self.lipschitz is not None:
            return self.lipschitz
        z = np.geomspace(min(1e-3, radius), radius, 200) if radius > 0.0 else np.ones(1)
        z = np.concatenate([-z, z])
        changes = np.abs(self.slope(z) - self.slope(np.zeros(1))) / np.abs(z)
        return float(changes[np.isfinite(changes)].max(initial=0.0))

    def __repr__(self) -> str:
        return repr(self.name)


def _rectangles(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Any:
    """Yield all pairs, as slices of rows and of a few columns."""
    size = math.isqrt(_PAIRS)
    for r0, r1, c0, c1 in zip(rows[:-1], rows[1:], columns[:-1], columns[1:], strict=True):
        for some in slices(int(c1), size, int(c0)):
            yield slice(int(r0), int(r1)), some
