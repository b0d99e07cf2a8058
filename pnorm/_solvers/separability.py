"""Whether log F_p has a minimiser: do the convex hulls of the outputs overlap, touch, or miss each other.

The rows that may carry weight in some u, w with matching moments form the support. One linear
program finds all of them at once,

    maximise sum t,  0 <= t <= 1,  s >= 0,  Hᵀ(t + s) on the positives = H̃ᵀ(t + s) on the negatives,

with equal masses on the two sides of every group: as the solutions form a cone, t is one on the
support and zero off it. Its dual asks for a direction whose margins, f - theta on the positives and
theta - f on the negatives, are zero on the support and at least one off it.

A moment whose coefficient must not be below zero need only be at most as large on the positives as on the negatives,
and the other way round; the direction then has the sign.

Weights that are about to match show most of the support at once, and all that its rows span is of no matter to the
others: the program that is left has a constraint for each direction that they do not span, often none. On 14,000 rows
of 122 indicators of adults it is asked about 113 rows and 5 directions, and takes 2 ms in the place of 12 s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector, is_sparse
from pnorm._solvers.hessian import LARGEST_HESSIAN
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import HeldWeights, triangle_of
from pnorm.objectives._base import Scores

_FRACTIONS = 500_000
"""Products up to which scores are compared as fractions: about a second."""


@dataclass(frozen=True, eq=False)
class Separation:
    """The answer of the linear program: the kind of separation, the support, and a direction."""

    kind: str
    """overlapping, quasi-separable, separable, or undecided."""
    pos: NDArray[np.bool_]
    neg: NDArray[np.bool_]
    direction: Vector | None
    """Puts no positive below a negative, and none level with one unless both are on the support."""


def find_separation(
    problem: Problem, weights: HeldWeights | None = None, signs: NDArray[np.int8] | None = None
) -> Separation:
    """Find the support, and the direction in which the rest goes to infinity; undecided for rows on a cluster.

    The weights at a point near the end of Newton's method save work. Scaled columns are decided as the user has them:
    no rounding of the scaling parts or joins the two sides. With signs of coefficients, moments need match only where a
    coefficient may have either sign, and the direction has these signs. Weights are of no use then.
    """
    if not problem.in_memory:
        return Separation("undecided", np.zeros(0, bool), np.zeros(0, bool), None)
    if problem.unscaled is not None:
        columns, factors = problem.unscaled
        found = find_separation(columns, weights, signs)
        return found if found.direction is None else replace(found, direction=found.direction / factors)
    n_pos, n_neg = problem.n_pos, problem.n_neg
    signs = None if signs is None or not signs.any() else signs
    varies = np.flatnonzero(problem.high > problem.low)
    rows, scale = _moments(problem, varies)
    sure = np.zeros(n_pos + n_neg, bool)
    free = np.eye(rows.shape[1])
    if weights is not None and signs is None and problem.n_rankers <= LARGEST_HESSIAN:
        sure = _surely_on(rows, np.concatenate(weights.total))
        unspanned = _unspanned(rows[sure])
        sure, free = (sure, unspanned) if unspanned is not None else (np.zeros_like(sure), free)
    left = (rows[~sure] @ free).T if sure.any() else rows.T
    of_rows = np.zeros(left.shape[0], np.int8)
    if signs is not None:
        of_rows[: varies.size] = signs[varies]
    solved = _program(left, of_rows)
    nothing = np.zeros(n_pos + n_neg, bool)
    if solved is None:
        return Separation("undecided", nothing[:n_pos], nothing[n_pos:], None)
    share, weight, duals = solved
    support = sure.copy()
    support[~sure] = share > 0.5
    pos, neg = support[:n_pos], support[n_pos:]
    clear = bool(((share < 1e-3) | (share > 0.999)).all())
    if support.all() and clear and _matches(left, weight, of_rows):
        return Separation("overlapping", pos, neg, None)
    kind = "quasi-separable" if support.any() else "separable"
    multipliers = np.zeros(problem.n_rankers)
    multipliers[varies] = (free @ duals)[: varies.size] / scale
    for direction in _candidates(multipliers, problem.high - problem.low):
        for oriented in (direction + 0.0, 0.0 - direction):  # no -0.0
            if signs is not None and (oriented * signs < 0.0).any():
                continue
            if _strict(problem, pos, neg, problem.scores(oriented)) and _level(problem, pos, neg, oriented):
                return Separation(kind, pos, neg, oriented)
    if sure.any():
        return find_separation(problem)
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


def _program(equal: Any, signs: NDArray[np.int8]) -> tuple[Vector, Vector, Vector] | None:
    """Solve the linear program: return t, t + s, and the multipliers of the moments; None where that fails.

    A moment of sign 1 need only be at most zero, one of sign -1 at least zero.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    directions, size = equal.shape
    if directions == 0:
        return np.ones(size), np.ones(size), np.zeros(0)
    if size == 0:
        return np.zeros(0), np.zeros(0), np.zeros(directions)
    exact, bounded = np.flatnonzero(signs == 0), np.flatnonzero(signs)
    both = csr_array(hstack([csr_array(equal), csr_array(equal)]))
    found = linprog(
        np.r_[-np.ones(size), np.zeros(size)],
        A_eq=both[exact],
        b_eq=np.zeros(exact.size),
        A_ub=both[bounded].multiply(signs[bounded, None]) if bounded.size else None,
        b_ub=np.zeros(bounded.size) if bounded.size else None,
        bounds=np.c_[np.zeros(2 * size), np.r_[np.ones(size), np.full(size, np.inf)]],
        method="highs",
    )
    if found.status != 0:
        return None
    multipliers = np.zeros(directions)
    multipliers[exact] = found.eqlin.marginals
    if bounded.size:
        multipliers[bounded] = signs[bounded] * found.ineqlin.marginals
    return found.x[:size], found.x[:size] + found.x[size:], multipliers


def _surely_on(rows: Any, weights: Vector) -> NDArray[np.bool_]:
    """Return the rows on which weights like these match; none where that is not certain.

    Rows off the support lose nearly all their weight in the first change that makes weights match, as in a Newton
    step. What rounding leaves must be small for the smallest weight, so that rows of next to none are left open.
    """
    on = weights > 1e-9 * weights.max()
    for _ in range(10):
        kept, weight = rows[on], weights[on]
        change = np.zeros(weight.size)
        for _ in range(2):
            change -= _spread(kept, weight, kept.T @ (weight * (1.0 + change)))
        if change.min() > -0.5:
            rest = kept.T @ (weight * (1.0 + change))
            even = _spread(kept, np.ones(weight.size), rest)
            matches = (np.abs(even) < 0.25 * weight).all() and np.abs(rest - kept.T @ even).max() < 1e-6 * weight.min()
            return on if matches else np.zeros_like(on)
        on[np.flatnonzero(on)[change <= -0.5]] = False
        if not on.any():
            break
    return np.zeros_like(on)


def _spread(rows: Any, weight: Vector, moments: Vector) -> Vector:
    """Return the least change x, in the mean over weights, with rows.T @ (weight x) = moments."""
    from scipy.linalg import eigh

    square = rows.T @ (rows.multiply(weight[:, None]).tocsr() if is_sparse(rows) else rows * weight[:, None])
    values, vectors = eigh(square.toarray() if is_sparse(square) else square)
    seen = values > 1e-12 * values[-1]
    return np.asarray(rows @ (vectors[:, seen] @ ((vectors[:, seen].T @ moments) / values[seen])))


def _unspanned(rows: Any) -> NDArray[np.float64] | None:
    """Return the directions that are orthogonal to all rows, (m, c); None where rounding hides which these are.

    Each is one of the columns less what the independent ones make of it: of indicators, small whole numbers.
    """
    from scipy.linalg import qr, solve_triangular

    m = rows.shape[1]
    blocks = (rows[start : start + 4096] for start in range(0, rows.shape[0], 4096))
    triangle = triangle_of((block.toarray() if is_sparse(block) else block for block in blocks), m)
    triangle, order = qr(triangle, mode="r", pivoting=True)
    share = np.abs(triangle.diagonal()) / max(abs(triangle[0, 0]), 1e-300)
    if ((share > 1e-13 * m) & (share < 1e-6)).any():
        return None
    rank = int(np.count_nonzero(share >= 1e-6))
    basis = np.zeros((m, m - rank))
    basis[order[:rank]] = -solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    basis[np.abs(basis) < 1e-12] = 0.0
    basis[order[rank:], np.arange(m - rank)] = 1.0
    return basis


def _matches(equal: Any, weights: Vector, signs: NDArray[np.int8]) -> bool:
    """Return whether a change of less than one in every weight, all at least one, makes them match exactly.

    A moment of sign 1 may also be below zero, one of sign -1 above.
    """
    from scipy.linalg import lstsq

    if 0 in equal.shape:
        return True
    residual, tiny = equal @ weights, 1e-9 * weights.sum()
    held = (signs == 0) | (signs * residual > -tiny)
    rows = equal[held]
    square = rows @ rows.T
    square = square.toarray() if is_sparse(square) else square
    change = rows.T @ lstsq(square, residual[held])[0] if held.any() else np.zeros(weights.size)
    left = equal @ (weights - change)
    return bool(np.abs(change).max() < 1.0 and np.where(signs == 0, np.abs(left), signs * left).max() < tiny)


def _candidates(direction: Vector, size: Vector) -> list[Vector]:
    """Return the direction in small whole numbers, if it is near such a one, and as it is."""
    largest = float(np.abs(direction * size).max(initial=0.0))
    if largest == 0.0:
        return []
    kept = np.where(np.abs(direction) * size > 1e-7 * largest, direction, 0.0)
    found = []
    for unit in (1.0, float(np.abs(kept[kept != 0.0]).min()), float(np.abs(kept).max())):
        parts = [Fraction(x).limit_denominator(720) for x in (kept / unit).tolist()]
        whole = np.lcm.reduce([part.denominator for part in parts], dtype=object)
        if whole < 2**30 and all(
            abs(part - x) < 1e-6 * max(1, abs(x)) for part, x in zip(parts, kept / unit, strict=True)
        ):
            found.append(np.array([float(part * int(whole)) for part in parts]))
    return [*found, kept]


def _level(problem: Problem, pos: NDArray[np.bool_], neg: NDArray[np.bool_], direction: Vector) -> bool:
    """Return whether scores on the support, equal as doubles, are equal as numbers; they are if all terms are whole."""
    if not pos.any():
        return True
    used = np.flatnonzero(direction)
    tables = [table.select_rows(np.flatnonzero(on)) for table, on in zip(problem.tables, (pos, neg), strict=True)]
    rows = [block[:, used] for table in tables for _, block in table.blocks()]
    if all((block == np.rint(block)).all() for block in rows) and (direction == np.rint(direction)).all():
        return True
    if sum(block.size for block in rows) > _FRACTIONS:
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
