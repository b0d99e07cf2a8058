"""Steps of whole columns in turn with Newton steps, for many cuts, levels and leaves of columns stored as codes.

A sweep brings one column after the other to its minimum (`columns`). It finds the coefficients that are zero, but is
slow if columns are correlated. A Newton step by conjugate gradients then moves the nonzero coefficients together. Those
that would cross zero stop there. The preconditioner consists of the blocks of the columns in the Hessian. They are
solved in a number of operations that is linear in the codes.

Every iteration has a certificate. It uses slopes alone if that is enough or the end is far, and else
`certify_bounded`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pnorm._blas import calm
from pnorm._checks import Vector
from pnorm._solvers.certificate import certify_bounded, penalised_gap
from pnorm._solvers.columns import Columns, coded_tables, has_codes
from pnorm._solvers.few_rows import FewRows
from pnorm._solvers.forming import Point
from pnorm._solvers.hessian import Means
from pnorm._solvers.newton import NEWTON, newton
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Outcome, Progress, Solver
from pnorm._solvers.search import armijo, conjugate_gradients

SWEEPS = 50
"""Largest number of sweeps before the next Newton step."""

ENOUGH = 1e-3
"""A sweep is followed by another one if it lowers the objective by at least this share of the tolerance."""

SLOW = 0.8
"""If a sweep falls by more than this share of the previous one, sweeps are slow and a Newton step follows."""

_NEAR = 10.0
"""A certificate is computed when a Newton step promises at most this many times the tolerance."""

_ROUNDS, _ROUNDS_OF_KEPT = 6, 2
"""Largest number of times that coefficients stop at zero within a Newton step; and with the factor of `FewRows` that is
kept, where more rounds do not save steps."""

_PRODUCTS, _PRODUCTS_OF_KEPT = 200, 20
"""Largest number of products with the Hessian for one step; and for a round with a factor that is kept, which then
takes about as long as another factor."""


_PRECISE = 2**24
"""Number of outputs up to which scores are computed in twice the working precision if rounding hides the end: about
0.4 s."""

_DOUBT = 25
"""After this many iterations rows may be separable. With l2 alone, Newton's method continues, since it handles margins.
Otherwise the minimisers of larger l2 are followed."""

_EXPONENT = 20.0
"""Approximate size of the exponents at the minimiser of the largest l2, so that all rows count."""

_STEPS = 40
"""Largest number of iterations for each larger l2."""

_PATIENCE = 6
"""Iterations in a row that do not halve the gap, after which rounding may be the cause."""


def serves(problem: Problem) -> bool:
    """Return whether the columns are codes, and the rows in no groups."""
    objective = problem.objective
    return objective.traits.factored and objective.groups is None and has_codes(problem)


def shapes(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Take sweeps and Newton steps until the certificate is within the tolerance."""
    with calm(1):  # BLAS threads do not help with vectors
        return _run(problem, start, penalty, progress, may_ask)


def _run(
    problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool, may_go_back: bool = True
) -> Outcome:
    tables = coded_tables(problem)
    assert tables is not None
    p = problem.objective.traits.p
    columns = Columns(problem, tables, penalty.only(~problem.constant))
    few_rows = FewRows(problem, tables, penalty) if FewRows.serves(problem) else None
    cornered = (penalty.l1 > 0.0) | np.isfinite(penalty.low) | np.isfinite(penalty.high)
    least = 1e-7 * progress.tol / tables[0].schema.levels.size
    affordable = (problem.n_pos + problem.n_neg) * problem.n_rankers <= _PRECISE
    point, stuck, best, precise = problem.point(penalty.nearest(start)), 0, math.inf, False
    first = progress.n_iter
    while True:
        means = Means(problem, point.weights)
        slope = p * means.edges
        down = penalty.steepest(point.lam, slope)
        step, rounding = None, 0.0
        gap, _ = penalised_gap(problem, point, means.edges, penalty)
        if gap > progress.tol and (progress.n_iter > first or progress.exhausted):
            step = newton_step(
                columns.product(means, point.weights.total),
                (few_rows or columns).preconditioner(point.weights.total),
                penalty,
                cornered,
                point.lam,
                slope,
                progress.tol,
                few_rows is not None and few_rows.keeps,
            )
            if step.promised <= _NEAR * progress.tol or progress.exhausted or stuck >= _PATIENCE:
                bound = certify_bounded(problem, point, means, penalty, step.move)
                if affordable and not precise and progress.tol < bound.gap < 2.0 * bound.rounding:
                    precise = True
                    point = problem.point(point.lam, precise)
                    continue
                if bound.gap <= gap:
                    gap, rounding = bound.gap, bound.rounding + bound.hidden
        progress.arrive(point, gap, down)
        if progress.proved(gap, rounding):
            return Outcome("converged", progress.within(gap))
        if progress.exhausted:
            return Outcome("max_iter", f"all {progress.limit} sweeps were taken; {_proof(gap)}")
        if penalty.ridge and progress.n_iter >= first + _DOUBT:
            return newton(problem, point.lam, penalty, progress, may_ask)
        if may_go_back and progress.n_iter >= first + _DOUBT and gap > 1.0:
            may_go_back = False
            for after in _from_larger_l2(problem, point, penalty, progress):
                if progress.value(after) < progress.value(point):
                    edges, point = problem.edges_at(point), after
                    stop = progress.step(edges, math.nan, point)
                    gap, _ = penalised_gap(problem, point, problem.edges_at(point), penalty)
                    progress.arrive(point, gap)
                    if stop:
                        return _stopped(progress, gap)
            continue
        stuck = stuck + 1 if gap > 0.5 * best else 0
        best = min(best, gap)
        if stuck >= _PATIENCE and progress.is_flat(rounding):
            cause = "rounding hides any further progress" if gap <= 100.0 * rounding else "no step leads further down"
            return Outcome("stalled", f"{cause}; {_proof(gap)}")

        # The step, and sweeps from there.
        share = 0.0
        if step is not None:
            share, point = line_search(problem, progress.value, point, step)
        lam, _ = columns.sweeps(point.lam, point.weights.total, least, ENOUGH * progress.tol, SLOW, SWEEPS)
        edges = means.edges
        del means, point  # with many rows, weights take most of the memory
        point = problem.point(lam, precise)
        if progress.step(edges, share, point):
            return _stopped(progress, gap)


SHAPES = Solver(shapes, supports=NEWTON.supports, steps=4)


def _proof(gap: float) -> str:
    return f"its gap was at most {gap:.2g}"


def _stopped(progress: Progress, gap: float) -> Outcome:
    return Outcome("callback", f"the callback stopped the run after step {progress.n_iter}; {_proof(gap)}")


def _from_larger_l2(problem: Problem, point: Point, penalty: Penalty, progress: Progress) -> Iterator[Point]:
    """Yield the minimisers of a larger l2, of half of it and so on, down to the given l2.

    If rows are separable and l2 is small, coefficients that separate are large. Along them log F_p falls by p times the
    margin for each unit, until l2 stops it. The weight is then on few rows, and a step takes only these into account.
    From one l2 to half of it, coefficients double and these rows change little.
    """
    p, lam = problem.objective.traits.p, point.lam
    fall = p * problem.margin_at(lam)
    pull, square = fall - float(penalty.l1 @ np.abs(lam)), float(penalty.l2 @ np.square(lam))
    if not pull > 0.0:
        return
    doublings = max(math.ceil(math.log2(fall * pull / (_EXPONENT * square))), 0)
    lam = lam * (pull / square) * 0.5**doublings
    for k in range(doublings, 0, -1):
        larger = Penalty(penalty.l1, penalty.l2 * 2.0**k, penalty.low, penalty.high)
        tol = max(progress.tol, 1e-3 * abs(progress.value_with(larger, problem.point(lam))))
        stage = Progress(problem, larger, tol, _STEPS, None, iter(()))
        _run(problem, lam, larger, stage, may_ask=False, may_go_back=False)
        lam = 2.0 * stage.last.lam
        yield problem.point(lam)


@dataclass(frozen=True, eq=False)
class Step:
    """A step of all coefficients; none crosses zero if the penalty has a corner there."""

    move: Vector
    sign: Vector
    """Signs of the coefficients with a corner during the step; zero if they stay zero, or have no corner."""
    promised: float
    """The fall of the quadratic model."""
    slope: float
    """The rate at which the objective falls at the start of the step."""


def newton_step(
    times: Callable[[Vector], Vector],
    solver: Callable[[NDArray[np.bool_]], Callable[[Vector], Vector]],
    penalty: Penalty,
    cornered: NDArray[np.bool_],
    lam: Vector,
    slope: Vector,
    tol: float,
    keeps: bool = False,
) -> Step:
    """Minimise the quadratic model of the objective over the coefficients that are not zero after the sweeps.

    All coefficients that would cross zero stop there, and the others are computed again, by a solver that `keeps` its
    factor or makes another one.
    """
    sign = np.where(cornered, np.sign(lam), 0.0)
    move, product = np.zeros_like(lam), np.zeros_like(lam)
    inside = slope - penalty.l1 * sign - penalty.l2 * lam
    for k in range(_ROUNDS_OF_KEPT if keeps else _ROUNDS):
        free = ~cornered | (sign != 0.0)
        rest = np.where(free, inside - product - penalty.l2 * move, 0.0)
        most = _PRODUCTS_OF_KEPT if keeps and k > 0 else _PRODUCTS
        move = move + _solved(times, solver(free), penalty, free, rest, tol, most)
        product = times(move)
        crossed = (lam + move) * sign < 0.0
        if not crossed.any():
            break
        sign = np.where(crossed, 0.0, sign)
        stopped = np.where(crossed, -lam, move)
        product, move = product + times(stopped - move), stopped
    down = float(inside @ move)
    return Step(move, np.sign(lam) * cornered, down - 0.5 * float(move @ (product + penalty.l2 * move)), down)


def _solved(
    times: Callable[[Vector], Vector],
    solved: Callable[[Vector], Vector],
    penalty: Penalty,
    free: NDArray[np.bool_],
    rest: Vector,
    tol: float,
    most: int,
) -> Vector:
    """Return the Newton step of the free coefficients from the rest of the slope, as accurately as needed.

    It is accurate enough if the next product would add little to the fall of the quadratic model (Nash & Sofer,
    Operations Research Letters 9, 1990), and if the rest does not affect the certificate.
    """
    move, fall, rest = np.zeros_like(rest), 0.0, rest.copy()
    scale = np.where(free, 0.5 / np.where(penalty.l2 > 0.0, penalty.l2, 1.0), 0.0)
    l2, kept = np.where(free, penalty.l2, 0.0), free.astype(float)
    if float(np.square(rest) @ scale) <= 0.01 * tol:
        return move
    gains = conjugate_gradients(lambda x: kept * times(x) + l2 * x, solved, move, rest)
    for k, gain in enumerate(islice(gains, most), 1):
        fall += gain
        if fall > 10.0 * tol and k * gain <= min(0.1, math.sqrt(fall)) * fall:
            break
        if float(np.square(rest) @ scale) <= 0.01 * tol:
            break
    return move


def line_search(problem: Problem, value: Callable[[Point], float], point: Point, step: Step) -> tuple[float, Point]:
    """Return a share of a step and its end; zero if none lowers the objective."""

    def at(share: float) -> Vector:
        lam = point.lam + share * step.move
        lam[lam * step.sign < 0.0] = 0.0
        return lam

    found = None
    if step.slope > 0.0:
        found = armijo(problem, point, value, at, lambda share, _: share * step.slope, step.move)
    return found or (0.0, problem.point(point.lam))
