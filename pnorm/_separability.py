"""Whether log F_p has a minimiser: do the convex hulls of the outputs overlap, touch, or miss each other.

The rows that may carry weight in some u, w with matching moments form the support. One linear
program finds all of them at once,

    maximise sum t,  0 <= t <= 1,  s >= 0,  Hᵀ(t + s) on the positives = H̃ᵀ(t + s) on the negatives,

with equal masses on the two sides of every group: as the solutions form a cone, t is one on the
support and zero off it. Its dual asks for a direction whose margins, f - theta on the positives and
theta - f on the negatives, are zero on the support and at least one off it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._objective import Scores
from pnorm._outputs import SIDES
from pnorm._problem import Known, Problem

_FRACTIONS = 500_000
"""Products up to which scores are compared as fractions: about a second."""


@dataclass(frozen=True, eq=False)
class Hulls:
    """What the linear program says of the rows of a problem."""

    kind: str
    """overlapping, quasi-separable, separable, or undecided."""
    pos: NDArray[np.bool_]
    neg: NDArray[np.bool_]
    direction: Vector | None
    """Puts no positive below a negative, and none level with one unless both are on the support."""


def hulls(problem: Known) -> Hulls:
    """Find the support, and the direction in which the rest goes to infinity; undecided for rows on a cluster."""
    if not isinstance(problem, Problem):
        return Hulls("undecided", np.zeros(0, bool), np.zeros(0, bool), None)
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, hstack, issparse

    groups = problem.objective.groups
    n_pos, n_neg = problem.n_pos, problem.n_neg
    size = n_pos + n_neg
    low, high = problem.low, problem.high
    varies = np.flatnonzero(high > low)
    rows = problem.outputs.matrix()[:, varies]
    sign = np.r_[np.ones(n_pos), -np.ones(n_neg)]
    if issparse(rows):
        scale = problem.largest[varies]
        rows = rows.multiply(1.0 / scale)
    else:  # an offset cancels, as the masses are equal
        scale = (high - low)[varies]
        rows = (rows - sign[:, None] * (low[varies] + 0.5 * scale)) / scale
    codes = np.zeros(size, np.intp) if groups is None else np.r_[groups.pos, groups.neg]
    masses = csc_array((sign, (np.arange(size), codes)))
    equal = hstack([csc_array(rows), masses], format="csc").T.tocsc()
    found = linprog(
        np.r_[-np.ones(size), np.zeros(size)],
        A_eq=hstack([equal, equal], format="csc"),
        b_eq=np.zeros(equal.shape[0]),
        bounds=np.c_[np.zeros(2 * size), np.r_[np.ones(size), np.full(size, np.inf)]],
        method="highs",
    )
    nothing = np.zeros(size, bool)
    if found.status != 0:
        return Hulls("undecided", nothing[:n_pos], nothing[n_pos:], None)
    share = found.x[:size]
    support = share > 0.5
    pos, neg = support[:n_pos], support[n_pos:]
    clear = bool(((share < 1e-3) | (share > 0.999)).all())
    if support.all() and clear and _matches(equal, found.x[:size] + found.x[size:]):
        return Hulls("overlapping", pos, neg, None)
    kind = "quasi-separable" if support.any() else "separable"
    multipliers = np.zeros(problem.n_rankers)
    multipliers[varies] = found.eqlin.marginals[: varies.size] / scale
    for direction in _candidates(multipliers, high - low):
        for oriented in (direction + 0.0, 0.0 - direction):  # no -0.0
            if _strict(problem, pos, neg, problem.scores(oriented)) and _level(problem, pos, neg, oriented):
                return Hulls(kind, pos, neg, oriented)
    return Hulls("undecided", pos, neg, None)


def _matches(equal: NDArray[np.float64], weights: Vector) -> bool:
    """Whether a change of less than one in every weight, all of which are one or more, makes them match exactly."""
    from scipy.linalg import lstsq

    residual = equal @ weights
    square = (equal @ equal.T).toarray()  # type: ignore[attr-defined]
    change = equal.T @ lstsq(square, residual)[0]
    return bool(np.abs(change).max() < 1.0 and np.abs(equal @ (weights - change)).max() < 1e-9 * weights.sum())


def _candidates(direction: Vector, size: Vector) -> list[Vector]:
    """The direction in small whole numbers, if it is near such a one, and as it is."""
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
    """Whether scores on the support, equal as doubles, are equal as numbers; they are if all terms are whole."""
    if not pos.any():
        return True
    used = np.flatnonzero(direction)
    support = problem.take(np.flatnonzero(pos), np.flatnonzero(neg)).outputs
    rows = [block[:, used] for side in SIDES for _, block in support.blocks(side)]
    if all((block == np.rint(block)).all() for block in rows) and (direction == np.rint(direction)).all():
        return True
    if sum(block.size for block in rows) > _FRACTIONS:
        return False
    groups = problem.objective.groups
    exact = [Fraction(x) for x in direction[used].tolist()]
    levels = [
        sum([x * Fraction(y) for x, y in zip(exact, row, strict=True)]) for block in rows for row in block.tolist()
    ]
    if groups is None:
        return len(set(levels)) <= 1
    codes = np.concatenate([groups.pos[pos], groups.neg[neg]]).tolist()
    return len(set(zip(codes, levels, strict=True))) == len(set(codes))


def _strict(problem: Problem, pos: NDArray[np.bool_], neg: NDArray[np.bool_], f: Scores) -> bool:
    """Whether f ties every pair of the support and puts the positive above the negative in every other one."""
    groups = problem.objective.groups
    codes = (
        (np.zeros(f.pos.size, np.intp), np.zeros(f.neg.size, np.intp)) if groups is None else (groups.pos, groups.neg)
    )
    n = 1 if groups is None else groups.n
    infinite = np.full(n, np.inf)

    def least(values: Vector, where: NDArray[np.intp]) -> Vector:
        out = infinite.copy()
        np.minimum.at(out, where, values)
        return out

    on_pos, on_neg = codes[0][pos], codes[1][neg]
    low_on, high_on = least(f.pos[pos], on_pos), -least(-f.pos[pos], on_pos)
    low_on, high_on = np.minimum(low_on, least(f.neg[neg], on_neg)), np.maximum(high_on, -least(-f.neg[neg], on_neg))
    if (high_on > low_on).any():
        return False
    low_pos = least(f.pos[~pos], codes[0][~pos])
    high_neg = -least(-f.neg[~neg], codes[1][~neg])
    return bool((low_pos > high_neg).all() and (low_pos > high_on).all() and (low_on > high_neg).all())
