"""The ranking at infinity: how far to go along a direction until the rows are ranked as in its limit.

A direction of quasi-separable data puts no positive below a negative, and none level with one unless both are on the
support. In the limit of lam + s * direction every pair off the support is therefore ordered by the direction, and every
pair on it by lam. A pair that a finite s has ordered stays ordered for every larger one, so there is a least s.

With a = f(x_i) - f(x_k) at lam and b > 0 the same along the direction, a pair needs s >= (1 - a) / b to be at least 1
apart. No pairs are formed: at any s the worst pair of a group consists of the worst rows of the two sides. Its own s is
the next one. The sequence rises to the least s in few steps (Dinkelbach's method).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Array, Vector
from pnorm._solvers.hulls import Separation
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import Rows

_STEPS = 100
"""Steps to the least s, at most; three to six are usual."""

_NEAR = 1e-9
"""Share of s below which a further step is rounding."""


def least_step(problem: Problem, separation: Separation, lam: Vector) -> float | None:
    """Return the least s from which lam + s * direction puts every pair off the support at least 1 apart.

    It is None if rounding hides it.
    """
    assert separation.direction is not None
    direction, s = separation.direction, 0.0
    here = _in_memory(problem, separation, lam) if separation.level is None else None
    for _ in range(_STEPS):
        if here is not None:
            pos, neg = [_lowest_of(*of_side, s) for of_side in here]
        else:
            shared = [(x, x) for x in (lam, direction, separation.level, s)]
            pos, neg = problem.reduce(_lowest, *shared)
        with np.errstate(invalid="ignore"):
            apart, rise = pos + neg[:, ::-1]  # (2, groups): positives off the support, and negatives off it
        short = apart < 1.0
        if not short.any():
            return s
        if (rise[short] <= 0.0).any():
            return None
        with np.errstate(over="ignore"):
            more = float(((1.0 - apart[short]) / rise[short]).max())
        if not math.isfinite(s + more):
            return None
        s += more
        if more <= _NEAR * s:
            return s
    return None


def level_of_support(problem: Problem, separation: Separation) -> float:
    """Return what the direction adds to the scores of the support in the user's columns; 0 with groups."""
    assert separation.direction is not None
    if problem.objective.groups is not None:
        return 0.0
    if separation.level is not None:
        level = float(separation.level[0])
    else:
        level = float(problem.scores(separation.direction).pos[separation.pos][0])
    return problem.users_intercept(level + problem.constant_at(separation.direction))


Side = tuple[Vector, Vector, NDArray[np.bool_], NDArray[np.intp], int]
"""Scores at lam and along the direction, with a minus for negatives; whether a row is on the support; groups."""


def _in_memory(problem: Problem, separation: Separation, lam: Vector) -> list[Side]:
    assert separation.direction is not None
    f, d, groups = problem.scores(lam), problem.scores(separation.direction), problem.groups
    return [
        (f.pos, d.pos, separation.pos, groups.pos, groups.n),
        (-f.neg, -d.neg, separation.neg, groups.neg, groups.n),
    ]


def _lowest_of(
    f: Vector, d: Vector, on: NDArray[np.bool_], groups: NDArray[np.intp], n: int, s: float
) -> NDArray[np.float64]:
    """Return f + s d and d of the row of every group where the first is lowest: off the support, and of all rows.

    The shape is (2, 2, n): the two numbers, the two sets of rows, the groups. Without a row the first is inf.
    """
    out = np.full((2, 2, n), np.inf)
    at = f + s * d
    for k, rows in enumerate((np.flatnonzero(~on), np.arange(on.size))):
        lowest, slope = out[0, k], out[1, k]
        np.minimum.at(lowest, groups[rows], at[rows])
        rows = rows[at[rows] == lowest[groups[rows]]]
        np.minimum.at(slope, groups[rows], d[rows])
    return out


def _lowest(rows: Rows, lam: Vector, direction: Vector, level: Vector, s: float) -> Array:
    """Return the lowest rows of a part."""
    f, d = [rows.sign * rows.scores(x) for x in (lam, direction)]
    return _lowest_of(f, d, rows.is_level(direction, level), rows.groups, level.size, s)


def _merge(a: Any, b: Any) -> Any:
    """Return the lower of two rows of every group."""
    first = (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] <= b[1]))
    return np.where(first, a, b)


_lowest.merge = _merge  # type: ignore[attr-defined]
