"""Minimisers along a path of penalties or of powers p, each started from the previous one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._solvers.few_columns import FewColumns
from pnorm._solvers.minimize import solve
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.shapes import serves
from pnorm._trace import Trace
from pnorm.objectives._base import Objective

_LEAST = 1e-100
"""The least penalty whose inverse, and its inverse times coefficients, do not overflow."""

_FAR = 5.0
"""Largest extrapolation of a start, in units of the last change of the penalty or of a function of it."""


def follow(
    problem: Problem,
    objectives: Sequence[Objective],
    of_p: Vector,
    of_l1: Vector,
    of_l2: Vector,
    signs: NDArray[np.int8] | None,
    tol: float,
    max_iter: int = 100,
    method: str | None = None,
    units: tuple[float | Vector, float | Vector] = (1.0, 1.0),
    few: FewColumns | None = None,
) -> Iterator[tuple[int, Vector, Trace]]:
    """Yield the place of every point, its minimiser and its trace from the previous minimiser.

    The largest penalties and the smallest powers come first. There is one objective for all points, or one for each.
    `units` are the factors of l1 and l2 for each coefficient.
    """
    lam: Vector | None = None
    earlier: Vector | None = None
    before = first = -1
    for k in np.lexsort((-of_l2, -of_l1, of_p)).tolist():
        problem = problem.with_objective(objectives[k]) if len(objectives) > 1 else problem
        omega = Penalty.of(problem.n_rankers, of_l1[k], of_l2[k], signs, units)
        start: Vector | None = None
        if lam is not None:
            grown = of_p[k] / of_p[before]
            for penalty in (of_l1, of_l2):
                if penalty[k] != penalty[before]:
                    with np.errstate(divide="ignore", over="ignore"):
                        grown *= penalty[before] / penalty[k]
            start = _scale_warm_start(problem, lam, float(grown), float(of_l2[k]))
            same = of_p[first] == of_p[before] == of_p[k]
            if earlier is not None and same and omega.is_bounded and problem.in_memory and serves(problem):
                starts = _beyond(earlier, lam, *[(of_l1[i], of_l2[i]) for i in (first, before, k)])
                start = _lowest(problem, omega, [start, lam, *starts])
        earlier, first = lam, before
        lam, trace, _ = solve(problem, omega, tol, max_iter, start, method, few=few)
        yield k, lam, trace
        before = k


def _beyond(earlier: Vector, lam: Vector, *penalties: tuple[float, float]) -> list[Vector]:
    """Return coefficients that continue two minimisers, given both penalties of these and of the next one.

    If rows are separable, coefficients are about linear in a changing l1, or in the inverse of a changing l2. If they
    overlap, the logarithm of the penalty predicts better. Coefficients that would change sign become zero.
    """
    changing = [np.array(values) for values in zip(*penalties, strict=True) if len({*values}) > 1]
    if len(changing) != 1 or changing[0].min() < _LEAST or changing[0][0] == changing[0][1]:
        return []
    found = []
    for scale in (np.positive, np.log, np.reciprocal):
        first, before, now = scale(changing[0])
        if abs(now - before) <= _FAR * abs(before - first):
            beyond = lam + (now - before) / (before - first) * (lam - earlier)
            found.append(np.where(np.sign(beyond) == np.sign(lam), beyond, 0.0))
    return found


def _lowest(problem: Problem, penalty: Penalty, starts: Sequence[Vector]) -> Vector:
    """Return the coefficients with the lowest objective."""
    points = [problem.point(penalty.nearest(lam)) for lam in starts]
    return min(points, key=lambda point: problem.objective.convex(point.log_f)[0] + penalty.value(point.lam)).lam


def _scale_warm_start(problem: Problem, lam: Vector, times: float, l2: float) -> Vector:
    """Return coefficients to start from when p / l2 has grown by a factor.

    Coefficients that separate grow about in proportion, since log F_p falls by p times the margin for each unit. Others
    change little. The start is never so large that its penalty overflows.
    """
    largest = _checks.ROOT / math.sqrt(max(l2, 1.0))
    grows = times * float(np.abs(lam).max()) <= largest and problem.margin_at(lam) > 0.0
    return times * lam if grows else lam
