"""A line search that certificates tolerate, and conjugate gradients, for all solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.forming import Point
from pnorm._solvers.problem import Problem

_FAR = 100.0
"""Change of an exponent in one step beyond which the Hessian at its start is no model of its end."""

_EPS = float(np.finfo(float).eps)


def armijo(
    problem: Problem,
    point: Point,
    value: Callable[[Point], float],
    at: Callable[[float], Vector],
    promised: Callable[[float, Vector], float],
    delta: Vector,
    precise: bool = False,
) -> tuple[float, Point] | None:
    """Halve a step until the objective falls by a fraction of what its slope promises; None if it never does.

    Given are the coefficients at a share of the step, what the slope promises there, and the whole step. A step that
    would change exponents too much is cut, and doubled while the objective falls as promised: far from the minimum it
    may do so over a long way.
    """
    before = value(point)
    slack = 16.0 * _EPS * (abs(point.log_f) + abs(before) + 1.0)
    span = problem.span_of(delta)
    share = first = min(1.0, _FAR / (problem.objective.traits.p * span)) if span > 0.0 else 1.0

    def tried(share: float) -> tuple[Point, float, float]:
        lam = at(share)
        after = problem.point(lam, precise)
        return after, value(after), promised(share, lam)

    after, reached, fall = tried(share)
    while not reached <= before - 1e-4 * fall + slack:
        share *= 0.5
        if share < 1e-12 * first:
            return None
        after, reached, fall = tried(share)
    while first <= share < 1.0:
        longer = min(1.0, 2.0 * share)
        farther, reached, fall = tried(longer)
        if reached > before - 0.4 * fall:
            break
        share, after = longer, farther
    return share, after


def conjugate_gradients(
    times: Callable[[Vector], Vector], solved: Callable[[Vector], Vector], move: Vector, rest: Vector
) -> Iterator[float]:
    """Solve a system by products, with a preconditioner; the move and the rest of the right side change in place.

    After each product, yield by how much it has lowered the quadratic function. The end is where only rounding is left.
    """
    steepest = solved(rest)
    direction, inner = steepest, float(rest @ steepest)
    while inner > 0.0:
        product = times(direction)
        curvature = float(direction @ product)
        if not curvature > 0.0:
            return
        share = inner / curvature
        move += share * direction
        rest -= share * product
        yield 0.5 * share * inner
        steepest = solved(rest)
        inner, before = float(rest @ steepest), inner
        direction = steepest + (inner / before) * direction
