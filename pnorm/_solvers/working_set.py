"""Separability of rows that lie in parts: the linear program is asked about a few of them, and the parts for more.

A row counts as a = (h, 1 in its group), a negative with a minus. Its margin in a direction d, with a threshold for
every group, is a.d. Rows that carry weight with matching moments, sum of weight a = 0, have the margin zero in every
direction in which no margin is below zero. So has every row that they span, and it may carry weight, too. Hence

1. the program finds which rows of the working set carry weight. All that is kept of these is what they span;
2. it gives a direction in which the margins of the others are at least one;
3. the parts send rows that they have below a margin of zero, or level and not spanned, and 1 follows. If there are
   none, the support consists of the rows that are spanned, and all others have margins above zero.

Where all is spanned, the hulls overlap. A sign of a coefficient counts as one more row. In the end the parts compare
the scores of all rows along the direction, in small whole numbers if it is near such a one: the two sides must meet at
the rows that are spanned, and at no other.
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
"""Rows below the margin that a side sends at a time, and directions of which it sends the extremes."""

_MIXED = 16
"""Mixtures of directions of which a side sends the extremes, too: one alone shows almost surely what is spanned."""

_LEVEL = 1e-6
"""Margin up to which a row is sent; those that are known have at least one, or are spanned."""

_TINY = 1e-9
"""Share of its terms up to which a product of a row and a direction is rounding."""


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
    """Rows off the support, as far as they are known, and what those on it span."""

    def __init__(self, problem: Problem, varies: NDArray[np.intp], signs: NDArray[np.int8] | None) -> None:
        self.problem, self._varies = problem, varies
        self.n_groups = 1 if problem.objective.groups is None else problem.objective.groups.n
        self.scale = (problem.high - problem.low)[varies]
        self._centre = problem.low[varies] + 0.5 * self.scale
        size = varies.size + self.n_groups
        self._rows = np.zeros((0, size))
        """Those with a margin above zero."""
        if signs is not None:
            self._rows = np.diag(np.r_[signs[varies], np.zeros(self.n_groups)])[np.flatnonzero(signs[varies])]
        self._triangle = np.zeros((size, size))
        self._free = np.eye(size)
        """Directions that all rows on the support are orthogonal to."""
        self.direction = np.zeros(size)
        self.has_others = False
        """Whether there are rows off the support."""

    def settles(self) -> bool:
        """Ask for more and more rows until no other is below the margin; return whether that is reached."""
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
        """Part the rows into those on the support and others; find a direction. Return whether that is certain."""
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
        """Return what a part needs for the margins of its rows, and to see whether they are spanned."""
        free = self._free
        generator = np.random.default_rng(free.shape[1])
        mixed = free @ generator.normal(size=(free.shape[1], _MIXED)) / np.sqrt(free.shape[1])
        if free.shape[1] > _MOST:
            free = free[:, np.sort(generator.permutation(free.shape[1])[:_MOST])]
        return _View(self._varies, self._centre, self.scale, np.column_stack([self.direction, mixed, free]))

    def level(self, direction: Vector) -> Vector | None:
        """Return the score of the support in every group, nan where it has no row; None if the direction is not right.

        The direction is right if it puts every positive above every negative of its group, but for the support, whose
        rows are level. Scores that are equal as doubles are equal as numbers where all terms are whole.
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
    """Directions in which rows are seen."""

    varies: NDArray[np.intp]
    centre: Vector
    scale: Vector
    directions: Array
    """(m + G, k): the direction of the margins, and others that are orthogonal to all that is spanned."""

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
        """Return which rows are not spanned."""
        size = np.abs(self.directions[:, 1:]).sum(axis=0)
        found: NDArray[np.bool_] = (np.abs(products[:, 1:]) > _TINY * size).any(axis=1)
        return found


@record(frozen=True, eq=False)
class _Outside:
    """Rows with the lowest margins, and the extremes of other products; those of two parts add."""

    some: bool
    """Whether there are rows that are not spanned, of whatever margin."""
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
    """Return rows that are not spanned and have no margin."""
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
    """Return whether the level rows are those that are spanned; whether their terms are whole; how many terms."""
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
