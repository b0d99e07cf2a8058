"""Separability of rows that lie in parts: the linear program covers a working set, to which the parts add rows.

A row is represented by a = (h, 1 in its group), a negative with a minus. Its margin in a direction d, with a threshold
for every group, is a.d. Rows that carry weight with matching moments, sum of weight a = 0, have the margin zero in
every direction in which no margin is below zero. The same holds for every row in their span, and such a row may carry
weight, too. Therefore:

1. The program finds the rows of the working set that carry weight. Only their span is kept.
2. It gives a direction in which the margins of the other rows are at least one.
3. The parts send rows with a margin below zero, and level rows outside the span. Then 1 follows. If there are no such
   rows, the support consists of the rows in the span, and all others have margins above zero.

If the span is the whole space, the hulls overlap. A sign of a coefficient counts as one more row. At the end the parts
compare the scores of all rows along the direction, which is rounded to small whole numbers if it is near such: the two
sides must meet exactly at the rows in the span.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Array, Vector
from pnorm._checks.records import record
from pnorm._solvers.hessian import FEW
from pnorm._solvers.hulls import FRACTIONS, Separation, candidates, matches, program, span, unspanned
from pnorm._solvers.margin import lowest
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import Rows, reduction

_MAX_ROUNDS = 200

_MOST = 128
"""Number of rows below the margin that a side sends at a time, and of directions for which it sends the extremes."""

_MIXED = 16
"""Number of mixtures of directions for which a side also sends the extremes: one almost surely shows the span."""

_LEVEL = 1e-6
"""Margin up to which a row is sent; known rows have a margin of at least one, or are in the span."""

_TINY = 1e-9
"""Share of its terms up to which a product of a row and a direction counts as rounding."""


def separation_of_parts(problem: Problem, signs: NDArray[np.int8] | None = None) -> Separation:
    """Find the kind and a direction, and the score of the support in every group, for rows that lie in parts."""
    undecided = _separation("undecided")
    varies = np.flatnonzero(problem.high > problem.low)
    groups = problem.objective.groups
    if varies.size + (1 if groups is None else groups.n) > FEW:
        return undecided
    search = _Search(problem, varies, signs)
    if not search.settles():
        return undecided
    if not search.has_others:
        return _separation("overlapping")
    multipliers = np.zeros(problem.n_rankers)
    multipliers[varies] = search.direction[: varies.size] / search.scale
    for direction in candidates(multipliers, problem.high - problem.low):
        if signs is not None and (direction * signs < 0.0).any():
            continue
        level = search.level(direction + 0.0)  # no -0.0
        if level is not None:
            kind = "separable" if np.isnan(level).all() else "quasi-separable"
            return _separation(kind, direction + 0.0, level)
    return undecided


def _separation(kind: str, direction: Vector | None = None, level: Vector | None = None) -> Separation:
    nothing = np.zeros(0, bool)
    return Separation(kind, nothing, nothing, direction, level)


class _Search:
    """The known rows off the support, and the span of the rows on it."""

    def __init__(self, problem: Problem, varies: NDArray[np.intp], signs: NDArray[np.int8] | None) -> None:
        self.problem, self._varies = problem, varies
        self.n_groups = 1 if problem.objective.groups is None else problem.objective.groups.n
        self.scale = (problem.high - problem.low)[varies]
        self._centre = problem.low[varies] + 0.5 * self.scale
        size = varies.size + self.n_groups
        self._rows = np.zeros((0, size))
        """The rows with a margin above zero."""
        if signs is not None:
            self._rows = np.diag(np.r_[signs[varies], np.zeros(self.n_groups)])[np.flatnonzero(signs[varies])]
        self._triangle = np.zeros((size, size))
        self._free = np.eye(size)
        """Directions that are orthogonal to all rows on the support."""
        self.direction = np.zeros(size)
        self.has_others = False
        """Whether there are rows off the support."""

    def settles(self) -> bool:
        """Add rows until no other row is below the margin; return whether this succeeds."""
        for _ in range(_MAX_ROUNDS):
            if not self._solve():
                return False
            if not self._free.shape[1]:
                self.has_others = False
                return True
            view = self._view()
            found = self.problem.reduce(_outside, (view, view))
            self.has_others = any(side.some for side in found)
            if not any(len(side.rows) for side in found):
                return True
            self._rows = np.concatenate([self._rows, *[side.rows for side in found]])
        return False

    def _solve(self) -> bool:
        """Divide the rows into those on the support and others, and find a direction; return whether it is certain."""
        if not self._rows.size:
            return True
        left = (self._rows @ self._free).T
        exact = np.zeros(len(left), np.int8)
        solved = program(left, exact)
        if solved is None:
            return False
        share, weight, duals = solved
        on = share > 0.5
        if ((share > 1e-3) & (share < 0.999)).any() or not matches(left[:, on], weight[on], exact):
            return False
        before = self._free
        if on.any():
            self._triangle = span(self._rows[on], self._triangle)
            free = unspanned(self._triangle)
            if free is None:
                return False
            self._free, self._rows = free, self._rows[~on]
        if not self._rows.size:
            self.direction[:] = 0.0
            return True
        self.direction = self._free @ np.linalg.lstsq(self._free, before @ -duals)[0]
        return bool((self._rows @ self.direction).min() > 0.5)

    def _view(self) -> _View:
        """Return the directions that a part needs for the margins of its rows and to check the span."""
        free = self._free
        generator = np.random.default_rng(free.shape[1])
        mixed = free @ generator.normal(size=(free.shape[1], _MIXED)) / np.sqrt(free.shape[1])
        if free.shape[1] > _MOST:
            free = free[:, np.sort(generator.permutation(free.shape[1])[:_MOST])]
        return _View(self._varies, self._centre, self.scale, np.column_stack([self.direction, mixed, free]))

    def level(self, direction: Vector) -> Vector | None:
        """Return the score of the support in every group, nan if it has no row there; None if the direction is wrong.

        The direction is right if the rows of the support are level, and every other pair of a group has its positive
        above its negative. Scores that are equal as doubles are exactly equal if all terms are whole numbers.
        """
        n = self.n_groups
        pos, neg = self.problem.reduce(lowest, (direction, direction), (n, n))
        low, high = pos, -neg
        if (low < high).any():
            return None
        level = np.where(low == high, low, np.nan)
        view = self._view()
        found = self.problem.reduce(_compared, (direction, direction), (level, level), (view, view))
        if not all(same for same, *_ in found):
            return None
        if not (all(whole for _, whole, _ in found) and (direction == np.rint(direction)).all()):
            if max([size for *_, size in found]) > FRACTIONS:
                return None
            exact = [
                pair for side in self.problem.reduce(_exact, (direction, direction), (level, level)) for pair in side
            ]
            if len(set(exact)) > np.count_nonzero(~np.isnan(level)):
                return None
        return level


@record(frozen=True, eq=False)
class _View:
    """Directions on which rows are projected."""

    varies: NDArray[np.intp]
    centre: Vector
    scale: Vector
    directions: Array
    """(m + G, k): the direction of the margins, and others that are orthogonal to the span."""

    def rows(self, block: Array, groups: NDArray[np.intp], sign: float) -> Array:
        """Return rows in the coordinates of the program."""
        m, size = self.varies.size, self.directions.shape[0]
        out = np.zeros((len(block), size))
        out[:, :m] = (block[:, self.varies] - self.centre) / self.scale
        out[np.arange(len(block)), m + groups] = 1.0
        return sign * out

    def products(self, block: Array, groups: NDArray[np.intp], sign: float) -> Array:
        """Return the margins of rows, and their products with the other directions."""
        m = self.varies.size
        own = self.directions[:m] / self.scale[:, None]
        products = block[:, self.varies] @ own
        products += self.directions[m + groups] - self.centre @ own
        return sign * products

    def free(self, products: Array) -> NDArray[np.bool_]:
        """Return which rows are not in the span."""
        size = np.abs(self.directions[:, 1:]).sum(axis=0)
        found: NDArray[np.bool_] = (np.abs(products[:, 1:]) > _TINY * size).any(axis=1)
        return found


@record(frozen=True, eq=False)
class _Outside:
    """Rows with the lowest margins, and the extremes of other products; the rows of two parts are combined by +."""

    some: bool
    """Whether there are rows outside the span, with any margin."""
    rows: Array
    products: Array

    def __add__(self, other: _Outside) -> _Outside:
        both = zip((self.rows, self.products), (other.rows, other.products), strict=True)
        rows, products = [np.concatenate(pair) for pair in both]
        which = _extremes(products)
        return _Outside(self.some or other.some, rows[which], products[which])


def _extremes(products: Array) -> NDArray[np.intp]:
    """Return the places of the lowest margins below zero, each once, and of the extremes of the other products."""
    if not len(products):
        return np.zeros(0, np.intp)
    margins, first = np.unique(products[:, 0], return_index=True)
    lowest = first[:_MOST][margins[:_MOST] < -_LEVEL]
    return np.unique(np.concatenate([lowest, products[:, 1:].argmin(axis=0), products[:, 1:].argmax(axis=0)]))


@reduction("sum")
def _outside(rows: Rows, view: _View) -> _Outside:
    """Return rows outside the span without a positive margin."""
    found = _Outside(False, *[np.zeros((0, k)) for k in view.directions.shape])
    groups = rows.groups
    for place, block in rows.table.blocks():
        products = view.products(block, groups[place], rows.sign)
        outside = view.free(products)
        which = np.flatnonzero(outside & (products[:, 0] <= _LEVEL))
        which = which[_extremes(products[which])]
        chosen = view.rows(block[which], groups[place][which], rows.sign)
        found += _Outside(bool(outside.any()), chosen, products[which])
    return found


@reduction("min", "min", "sum")
def _compared(rows: Rows, direction: Vector, level: Vector, view: _View) -> tuple[bool, bool, int]:
    """Return whether the level rows are those in the span; whether their terms are whole; the number of terms."""
    groups, on = rows.groups, rows.is_level(direction, level)
    used, same, whole = np.flatnonzero(direction), True, True
    for place, block in rows.table.blocks():
        same &= bool((view.free(view.products(block, groups[place], rows.sign)) != on[place]).all())
        terms = block[on[place]][:, used]
        whole &= bool((terms == np.rint(terms)).all())
    return same, whole, int(on.sum()) * used.size


@reduction("list")
def _exact(rows: Rows, direction: Vector, level: Vector) -> list[tuple[int, Fraction]]:
    """Return the groups and exact scores of the level rows, each pair once."""
    on, used = rows.is_level(direction, level), np.flatnonzero(direction)
    exact, found = [Fraction(x) for x in direction[used].tolist()], set()
    for place, block in rows.table.blocks():
        terms = np.column_stack([rows.groups[place][on[place]], block[on[place]][:, used]])
        for group, *row in np.unique(terms, axis=0).tolist():
            found.add((int(group), sum([x * Fraction(y) for x, y in zip(exact, row, strict=True)], Fraction())))
    return sorted(found)
