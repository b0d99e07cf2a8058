"""Existence of a minimiser of log F_p: whether the convex hulls of the outputs overlap, touch, or are disjoint.

The rows that may carry weight in some u, w with matching moments form the support. A linear program finds all of them
at once,

    maximise sum t,  0 <= t <= 1,  s >= 0,  Hᵀ(t + s) on the positives = H̃ᵀ(t + s) on the negatives,

with equal masses on the two sides of every group. As the solutions form a cone, t is one on the support and zero off
it. The dual program gives a direction whose margins are zero on the support and at least one off it. The margins are
f - theta on the positives and theta - f on the negatives.

If a coefficient must not be below zero, its moment on the positives need only be at most that on the negatives. If it
must not be above zero, the reverse holds. The direction then has the sign.

With many rows, the program covers only few of them: see `working_set`. The program of all rows is used for few rows,
for too many weak rankers to form their second moments, and if a working set gives no result.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._solvers.hulls import FRACTIONS, Separation, candidates, matches, program
from pnorm._solvers.of_rows import is_level
from pnorm._solvers.problem import Problem
from pnorm._solvers.working_set import separation_of_parts
from pnorm.objectives._base import Scores

_ROWS = 1000
"""Number of rows up to which the program covers all of them."""


def find_separation(problem: Problem, signs: NDArray[np.int8] | None = None) -> Separation:
    """Find the support, and the direction in which the rest goes to infinity.

    Scaled columns are decided before the scaling, so that its rounding neither separates nor joins the two sides. With
    signs of coefficients, moments must match only if a coefficient may have either sign. The direction has these signs.
    """
    signs = None if signs is None or not signs.any() else signs
    if not problem.in_memory:
        return separation_of_parts(problem, signs)
    if problem.unscaled is not None:
        columns, factors = problem.unscaled
        found = find_separation(columns, signs)
        return found if found.direction is None else replace(found, direction=found.direction / factors)
    if problem.n_pos + problem.n_neg > _ROWS:
        found = separation_of_parts(problem, signs)
        if found.kind != "undecided":
            return _of_rows(problem, found)
    return _separation_of_all(problem, signs)


def _of_rows(problem: Problem, found: Separation) -> Separation:
    """Return a result with the rows of its support instead of their level."""
    if found.direction is None:
        return replace(found, pos=np.ones(problem.n_pos, bool), neg=np.ones(problem.n_neg, bool))
    direction, level = found.direction, found.level
    pos, neg = problem.reduce(is_level, (direction, direction), (level, level))
    return replace(found, pos=pos, neg=neg, level=None)


def _separation_of_all(problem: Problem, signs: NDArray[np.int8] | None) -> Separation:
    """Solve the linear program of all rows."""
    n_pos, n_neg = problem.n_pos, problem.n_neg
    varies = np.flatnonzero(problem.high > problem.low)
    rows, scale = _moments(problem, varies)
    equal = rows.T
    of_rows = np.zeros(equal.shape[0], np.int8)
    if signs is not None:
        of_rows[: varies.size] = signs[varies]
    solved = program(equal, of_rows)
    if solved is None:
        return Separation("undecided", np.zeros(n_pos, bool), np.zeros(n_neg, bool), None)
    share, weight, duals = solved
    support = share > 0.5
    pos, neg = support[:n_pos], support[n_pos:]
    clear = bool(((share < 1e-3) | (share > 0.999)).all())
    if support.all() and clear and matches(equal, weight, of_rows):
        return Separation("overlapping", pos, neg, None)
    kind = "quasi-separable" if support.any() else "separable"
    multipliers = np.zeros(problem.n_rankers)
    multipliers[varies] = duals[: varies.size] / scale
    for direction in candidates(multipliers, problem.high - problem.low):
        for oriented in (direction + 0.0, 0.0 - direction):  # no -0.0
            if signs is not None and (oriented * signs < 0.0).any():
                continue
            if _strict(problem, pos, neg, problem.scores(oriented)) and _level(problem, pos, neg, oriented):
                return Separation(kind, pos, neg, oriented)
    return Separation("undecided", pos, neg, None)


def _moments(problem: Problem, varies: NDArray[np.intp]) -> tuple[Any, Vector]:
    """Return the change of the moments and of the masses by group per unit of weight on each row; and the scale."""
    from scipy.sparse import csr_array, hstack, issparse, vstack

    size = problem.n_pos + problem.n_neg
    low, high = problem.low, problem.high
    pos, neg = (table.matrix()[:, varies] for table in problem.tables)
    if issparse(pos) or issparse(neg):  # codes come as a sparse matrix if there are many rows
        rows: Any = vstack([csr_array(pos), -csr_array(neg)], format="csc")
    else:
        rows = np.concatenate([pos, -neg])
    sign = np.r_[np.ones(problem.n_pos), -np.ones(problem.n_neg)]
    masses = csr_array((sign, (np.arange(size), np.r_[problem.groups.pos, problem.groups.neg])))
    if issparse(rows):
        scale = problem.largest[varies]
        return hstack([rows.multiply(1.0 / scale), masses], format="csr"), scale
    scale = (high - low)[varies]  # an offset cancels, as the masses are equal
    return np.hstack([(rows - sign[:, None] * (low[varies] + 0.5 * scale)) / scale, masses.toarray()]), scale


def _level(problem: Problem, pos: NDArray[np.bool_], neg: NDArray[np.bool_], direction: Vector) -> bool:
    """Return whether scores on the support, which are equal as doubles, are exactly equal: true for whole terms."""
    if not pos.any():
        return True
    used = np.flatnonzero(direction)
    tables = [table.select_rows(np.flatnonzero(on)) for table, on in zip(problem.tables, (pos, neg), strict=True)]
    rows = [block[:, used] for table in tables for _, block in table.blocks()]
    if all((block == np.rint(block)).all() for block in rows) and (direction == np.rint(direction)).all():
        return True
    if sum(block.size for block in rows) > FRACTIONS:
        return False
    groups = problem.groups
    exact = [Fraction(x) for x in direction[used].tolist()]
    levels = [
        sum([x * Fraction(y) for x, y in zip(exact, row, strict=True)]) for block in rows for row in block.tolist()
    ]
    codes = np.concatenate([groups.pos[pos], groups.neg[neg]]).tolist()
    return len(set(zip(codes, levels, strict=True))) == len(set(codes))


def _strict(problem: Problem, pos: NDArray[np.bool_], neg: NDArray[np.bool_], f: Scores) -> bool:
    """Return whether f ties every pair of the support and puts the positive above the negative in all other pairs."""
    groups = problem.groups

    def least(values: Vector, where: NDArray[np.intp]) -> Vector:
        out = np.full(groups.n, np.inf)
        np.minimum.at(out, where, values)
        return out

    on_pos, on_neg = groups.pos[pos], groups.neg[neg]
    low_on, high_on = least(f.pos[pos], on_pos), -least(-f.pos[pos], on_pos)
    low_on, high_on = np.minimum(low_on, least(f.neg[neg], on_neg)), np.maximum(high_on, -least(-f.neg[neg], on_neg))
    if (high_on > low_on).any():
        return False
    low_pos = least(f.pos[~pos], groups.pos[~pos])
    high_neg = -least(-f.neg[~neg], groups.neg[~neg])
    return bool((low_pos > high_neg).all() and (low_pos > high_on).all() and (low_on > high_neg).all())
