"""Whether log F_p has a minimiser: do the convex hulls of the outputs overlap, touch, or miss each other.

The rows that may carry weight in some u, w with matching moments form the support. One linear
program finds all of them at once,

    maximise sum t,  0 <= t <= 1,  s >= 0,  Hᵀ(t + s) on the positives = H̃ᵀ(t + s) on the negatives,

with equal masses on the two sides of every group: as the solutions form a cone, t is one on the
support and zero off it. Its dual asks for a direction whose margins, f - theta on the positives and
theta - f on the negatives, are zero on the support and at least one off it.

A moment whose coefficient must not be below zero need only be at most as large on the positives as on the negatives,
and the other way round; the direction then has the sign.

Of many rows, few are asked about: see `working_set`. The program of all rows is for few of them, for weak rankers too
many to form their second moments, and for what a working set does not settle.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._solvers.hulls import FRACTIONS, Separation, candidates, matches, program
from pnorm._solvers.problem import Problem, is_level
from pnorm._solvers.working_set import separation_of_parts
from pnorm.objectives._base import Scores

_ROWS = 1000
"""Rows up to which all are asked about at once."""


def find_separation(problem: Problem, signs: NDArray[np.int8] | None = None) -> Separation:
    """Find the support, and the direction in which the rest goes to infinity.

    Scaled columns are decided as the user has them: no rounding of the scaling parts or joins the two sides. With
    signs of coefficients, moments need match only where a coefficient may have either sign, and the direction has
    these signs.
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
    """Return an answer with the rows of its support in the place of their level."""
    if found.direction is None:
        return replace(found, pos=np.ones(problem.n_pos, bool), neg=np.ones(problem.n_neg, bool))
    direction, level = found.direction, found.level
    pos, neg = problem.reduce(is_level, (direction, direction), (level, level))
    return replace(found, pos=pos, neg=neg, level=None)


def _separation_of_all(problem: Problem, signs: NDArray[np.int8] | None) -> Separation:
    """Ask the linear program about all rows at once."""
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
    """Return what a unit of weight on each row adds to the differences of moments and of masses by group; the scale."""
    from scipy.sparse import csr_array, hstack, issparse, vstack

    size = problem.n_pos + problem.n_neg
    low, high = problem.low, problem.high
    pos, neg = (table.matrix()[:, varies] for table in problem.tables)
    if issparse(pos) or issparse(neg):  # codes of many rows come as a sparse matrix, those of few do not
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
    """Return whether scores on the support, equal as doubles, are equal as numbers; they are if all terms are whole."""
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
    """Return whether f ties every pair of the support and puts the positive above the negative in every other one."""
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
