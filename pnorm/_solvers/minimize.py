"""Minimisation of a problem: the choice of a method, and the result if there is no minimiser."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pnorm._blas import calm
from pnorm._checks import Vector
from pnorm._recorders import attach_trace, progress_range
from pnorm._solvers.columns import coded_table
from pnorm._solvers.few_columns import FewColumns, minimise_few
from pnorm._solvers.hessian import FEW, LARGEST_HESSIAN
from pnorm._solvers.hulls import Separation
from pnorm._solvers.infinity import least_step, level_of_support
from pnorm._solvers.lbfgs import BOUNDED, LBFGS, lbfgs
from pnorm._solvers.margin import widest
from pnorm._solvers.newton import NEWTON, newton
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Outcome, Progress, Solver
from pnorm._solvers.proximal import PROXIMAL, proximal
from pnorm._solvers.sampled import SAMPLED, approach, with_little_l2
from pnorm._solvers.shapes import SHAPES, serves
from pnorm._storage.base import Table
from pnorm._storage.codebook import Schema
from pnorm._trace import RANK_BY, Trace
from pnorm.rankers import Rankers

_HALVINGS = 200
"""Halvings of a start, at most."""


_LITTLE = (1e-7, 1e-9, 1e-11)
"""Shares of the largest curvature: an l2 this small changes almost nothing."""

_STEPS = 40
"""Steps on the way to a minimiser with a little l2, in memory."""

_FEW_CODED = 500
"""Weak rankers that are coded, and have an l2 alone, up to which Newton's method forms its Hessian at every step.

On parts it needs eight exchanges a step, and models of a sample need one."""

_MINIMISER = "pass l2 > 0 for a minimiser"
"""The end of the advice on data without one."""


def check_supported(problem: Problem, method: str | None) -> None:
    """Refuse an objective that no method supports, or that the given method does not support."""
    objective, corner = problem.objective, problem.objective.traits.nonsmooth
    if corner is not None:
        remedy = "Pass smoothing=0.1, or loss='squared_hinge'" if corner.smoothable else f"Pass a smooth {corner.part}"
        raise ValueError(f"{corner} has corners, and minimize needs derivatives. {remedy}, or call pnorm.train")
    if method == "newton" and not NEWTON.supports(objective):
        raise ValueError("method 'newton' is only for the exponential loss with a power price; leave method out")


def solve(
    problem: Problem,
    penalty: Penalty | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    init: Vector | None = None,
    method: str | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
    progress: bool = False,
    few: FewColumns | None = None,
) -> tuple[Vector, Trace, Separation | None]:
    """Minimise a checked problem; the third value is the result of the linear program, if it was solved."""
    penalty = Penalty.of(problem.n_rankers) if penalty is None else penalty
    smallest, largest = float(penalty.l2.min()), float(penalty.l2.max())
    problem.check_magnitudes(smallest, init, ranker=int(penalty.l2.argmin()) if smallest < largest else None)
    problem.check_magnitudes(largest, init)
    solver = _solver(problem, penalty, method, few is not None)
    limit = solver.steps * max_iter
    bar = iter(progress_range(limit, progress, "step"))
    next(bar, None)  # the first step is under way
    record = Progress(problem, penalty, tol, limit, callback, bar)
    with calm(problem.n_rankers), attach_trace(record.trace):
        start = np.zeros(problem.n_rankers) if init is None else _shrink_start(problem, init, record)
        if few is None:
            outcome = solver.run(problem, start, penalty, record)
        else:
            outcome, record.penalty = minimise_few(problem, solver, start, penalty, record, few)
        lam, trace = _answer(problem, solver, outcome, record)
        trace = dataclasses.replace(trace, _separation=outcome.kind)
        if few is not None:
            trace = dataclasses.replace(trace, message=f"{trace.message}; {few.said(lam)}")
    return lam, trace, outcome.separation


def units_of(problem: Problem, rankers: Rankers, counted: str) -> tuple[float | Vector, float | Vector]:
    """Return the factors of l1 and l2 for each coefficient, given which kind of penalty is wanted.

    They are one for a penalty of coefficients. For a penalty of shapes, coefficients are in units of one over the range
    of their ranker, and the squares of m jumps of one column count m times. Their sum is then about the mean square of
    the column's slope over quantiles, for any number of cuts. A constant ranker counts as if its range were one. Any
    penalty keeps it at zero, and without a penalty there would be no certificate.
    """
    if counted == "coefficients":
        return 1.0, 1.0
    column, cuts = rankers.column, _cuts_of(problem.table)
    number = np.where(cuts, np.bincount(column, cuts)[column], 1.0)
    span = np.where(problem.constant, 1.0, problem.span)
    return span, number * np.square(span)


_CUTS: WeakKeyDictionary[Schema, NDArray[np.bool_]] = WeakKeyDictionary()
"""Which rankers of a schema have two values, for all folds and powers."""


def _cuts_of(table: Table) -> NDArray[np.bool_]:
    """Return which rankers are coded and have exactly two values."""
    coded = coded_table(table)
    known = None if coded is None else _CUTS.get(coded.schema)
    if known is not None:
        return known
    cuts = table.coded.copy()
    cuts[cuts] = [_are_two(table.values(j)) for j in np.flatnonzero(cuts).tolist()]
    if coded is not None:
        _CUTS[coded.schema] = cuts
    return cuts


def _are_two(values: Vector) -> bool:
    """Return whether there are exactly two different values."""
    low, high = values.min(), values.max()
    return bool(low < high and ((values == low) | (values == high)).all())


def _solver(problem: Problem, penalty: Penalty, method: str | None, some_stay_zero: bool = False) -> Solver:
    """Return the given method. The default is Newton's if it works and, without a penalty, the Hessian is small."""
    cornered = penalty.ridge is None or some_stay_zero
    by_columns = cornered or problem.n_rankers > _FEW_CODED or (penalty.is_bounded and not problem.in_memory)
    if method is None and by_columns and serves(problem):
        if penalty.is_bounded:
            return CODED
        if not problem.in_memory or (penalty.ridge is None and not some_stay_zero):
            return APPROACHED
    if cornered:
        return PROXIMAL if NEWTON.supports(problem.objective) and method != "lbfgs" else BOUNDED
    if method is not None:
        return NEWTON if method == "newton" else LBFGS
    if not NEWTON.supports(problem.objective):
        return LBFGS
    if penalty.ridge != 0.0 or problem.n_rankers <= FEW:
        return NEWTON
    return BOTH if problem.n_rankers <= LARGEST_HESSIAN else LBFGS


def _both(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Descend by L-BFGS and certify by Newton's method; L-BFGS detects separable data, as most wide data are."""
    if not may_ask:
        return newton(problem, start, penalty, progress, may_ask)
    whole = progress.limit
    progress.limit = whole // 4
    outcome = lbfgs(problem, start, penalty, progress, may_ask=False)
    progress.limit = whole
    if outcome.status in ("separable", "converged", "callback"):
        return outcome
    return newton(problem, progress.last.lam, penalty, progress, may_ask)


BOTH = Solver(_both, supports=NEWTON.supports, steps=LBFGS.steps)


def _coded(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Minimise over whole columns of codes; if l2 is within the rounding of slopes, certify the result by l1."""
    solver = SHAPES if problem.in_memory else SAMPLED
    outcome = solver.run(problem, start, penalty, progress, may_ask)
    lost = outcome.status in ("converged", "stalled") and progress.last.gap > 10.0 * progress.tol
    if not lost or problem.n_rankers > FEW or not penalty.l1.any() or progress.exhausted:
        return outcome
    return proximal(problem, progress.last.lam, penalty, progress, may_ask)


CODED = Solver(_coded, supports=SHAPES.supports, steps=SHAPES.steps)


def _approached(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Approach a minimiser without l2 by one with a small l2, and certify it by the Hessian if that is small enough.

    Every step of a method with a Hessian forms n**2 numbers in all parts. Near the minimiser one or two steps are left.
    """
    if problem.in_memory:
        progress.limit //= SAMPLED.steps
        near = start if progress.exhausted else _near(problem, start, penalty, progress)
        return proximal(problem, near, penalty, progress, may_ask)
    whole, many = progress.limit, penalty.ridge == 0.0 and problem.n_rankers > FEW
    progress.limit = whole // 2
    for share in _LITTLE[: len(_LITTLE) if many else 1]:
        outcome = approach(problem, start, penalty, progress, share, min(share, 1e-6))
        start = progress.last.lam
        if outcome.status == "callback":
            return outcome
    progress.limit = whole
    if not many:
        return (proximal if penalty.ridge is None else newton)(problem, start, penalty, progress, may_ask)
    if problem.margin_at(start) > 0.0 and problem.separation(problem.point(start)) > 0.0:
        return Outcome("separable")
    steepest = progress.last.gradient_norm
    said = f"no certificate: the Hessian of {problem.n_rankers} weak rankers is too large for a partition to return"
    remedy = "pass l2=1e-6 for a certificate"
    return Outcome("stationary", f"{said}; {remedy}; the norm of the gradient of {progress.name} is {steepest:.2g}")


def _near(problem: Problem, start: Vector, penalty: Penalty, progress: Progress) -> Vector:
    """Return the minimiser with a little l2, in memory, which is recorded as one move."""
    added = with_little_l2(problem, penalty, _LITTLE[0])
    stage = Progress(problem, added, 1e-6, _STEPS, None, iter(()))
    SHAPES.run(problem, start, added, stage, may_ask=False)
    before, after = [problem.point(lam) for lam in (penalty.nearest(start), stage.last.lam)]
    if not progress.value(after) < progress.value(before):
        return start
    progress.arrive(before)
    progress.jump(problem.edges_at(before), after)
    return after.lam


APPROACHED = Solver(_approached, supports=SAMPLED.supports, steps=SAMPLED.steps)


def _shrink_start(problem: Problem, lam: Vector, progress: Progress) -> Vector:
    """Halve a start as long as that lowers the objective; far out it is linear, and every method is slow."""
    point = problem.point(lam)
    for _ in range(_HALVINGS):
        if not point.lam.any():
            break
        half = problem.point(0.5 * point.lam)
        if not progress.value(half) < progress.value(point):
            break
        point = half
    return point.lam


def _answer(problem: Problem, solver: Solver, outcome: Outcome, progress: Progress) -> tuple[Vector, Trace]:
    """Return the coefficients and the trace, with or without a minimiser."""
    message, separation = outcome.message, outcome.separation
    if outcome.status == "separable":
        return _of_widest_margin(problem, progress) if progress.penalty.ridge == 0.0 else _of_margin(problem, progress)
    if outcome.status == "quasi-separable" and separation is not None:
        return _on_support(problem, solver, separation, progress)
    if separation is not None and separation.kind == "undecided":
        message += "; whether the data are separable could not be decided (trace.separation)"
        proved = outcome.status == "converged"
        message += f"{RANK_BY}lam, and pass l2 > 0 to interpret coefficients" if proved else "; pass l2 > 0"
    if outcome.status in ("max_iter", "stalled"):
        message += progress.return_to_best(problem)
    return progress.last.lam.copy(), progress.trace(outcome.status, message)


def _of_widest_margin(problem: Problem, progress: Progress) -> tuple[Vector, Trace]:
    """Replace the last coefficients, which separate, by those of the widest margin.

    The coefficients that a method finds first depend on rounding, on weights and on copies of rows. Those of the widest
    margin do not.
    """
    found = widest(problem, progress.last.lam, problem.unit_coefficients())
    progress.arrive(problem.point(found.lam), np.inf)
    message = "the coefficients put every positive above every negative: "
    message += ("inf F_p is 0 and " if problem.objective.traits.factored else "") + "no minimiser exists"
    if found.between is None:
        message += f"; rounding hides which coefficients have the widest margin{RANK_BY}lam"
    else:
        message += f"{RANK_BY}lam, which has the widest margin"
    message += f", or {_MINIMISER}; check that no column contains the label"
    return found.lam, progress.trace("separable", message, found.lam)


def _of_margin(problem: Problem, progress: Progress) -> tuple[Vector, Trace]:
    """Scale coefficients to a margin of one, within their signs; larger ones have a lower objective."""
    lam = progress.last.lam
    with np.errstate(over="ignore"):
        scaled = lam / problem.separation(problem.point(lam))
    lam = scaled if np.isfinite(scaled).all() else lam  # not finite for outputs near the smallest double
    progress.arrive(problem.point(lam), np.inf)
    message = (
        "the coefficients put every positive above every negative; as they grow, "
        f"{progress.objective.traits.symbol} falls faster than the l1 penalty rises, so no minimiser exists. "
        "Pass l2 > 0 or a larger l1"
    )
    return lam, progress.trace("separable", message, lam)


def _on_support(problem: Problem, solver: Solver, separation: Separation, progress: Progress) -> tuple[Vector, Trace]:
    """Minimise over the rows that keep weight; along the direction the other rows lose all weight."""
    if separation.level is None:
        neg = np.flatnonzero(separation.neg)
        support = problem.take(np.flatnonzero(separation.pos), neg)
    else:
        assert separation.direction is not None
        support, neg = problem.at_level(separation.direction, separation.level)
    of_support = progress.on(support)
    outcome = solver.run(support, np.zeros(support.n_rankers), progress.penalty, of_support, may_ask=False)
    lam, trace = _answer(support, solver, outcome, of_support)
    kept = [f"{own} of {rows}" for own, rows in zip(support.sizes, problem.sizes, strict=True)]
    of_pos, of_neg = reversed(kept) if problem.exchanged else kept
    message = (
        f"quasi-separable: {of_pos} positives and {of_neg} negatives keep weight, and {progress.quantity} falls toward "
        f"its infimum along trace.direction without end; on these rows the status is {trace.status}: {trace.message}; "
        "no minimiser exists, and lam is for these rows only"
    )
    step = least_step(problem, separation, lam)
    along = "trace.lam_along(s) with a large s, such as 1e6" if step is None else "trace.lam_along()"
    message += f"{RANK_BY}{along}, or {_MINIMISER}"
    trace = dataclasses.replace(
        trace,
        status="separable",
        message=message,
        direction=separation.direction,
        direction_step=step,
        _level=level_of_support(problem, separation),
        _separation=separation.kind,
    )
    return lam, trace if neg is None else _with_the_rest(problem, trace, neg)


def _with_the_rest(problem: Problem, trace: Trace, neg: Any) -> Trace:
    """Add the price of the negatives off the support, in an objective that charges even a height of zero."""
    objective = problem.objective
    off = np.ones(problem.n_neg, bool)
    off[neg] = False
    rest = objective.log_price_of_none(off)
    log_r = np.logaddexp(trace.log_objective, rest)
    values = np.array([objective.convex(float(x))[0] for x in log_r])
    return dataclasses.replace(trace, log_objective=log_r, _objective=values)
