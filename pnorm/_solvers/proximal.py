"""Proximal Newton: the minimiser of log F_p with penalties and signs of coefficients, for any storage.

A step goes to the minimiser of the quadratic model plus the penalty, within the bounds, which `quadratic` computes. The
model covers a working set: the coefficients that are not zero, and those of the others that promise the largest fall.
The number of the latter doubles from time to time. The outputs of the working set are copied. No array of the size of
all weak rankers squared is formed.

If the working set is too large for second moments, conjugate gradients solve for a Newton step of the coefficients that
may move. Coefficients that would cross zero end there.

Every step has a certificate from `certify_penalised`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._solvers.certificate import Bound, Chosen, certify_penalised
from pnorm._solvers.forming import Point
from pnorm._solvers.hessian import FEW, TINY, Means, Moments, root_of_hessian
from pnorm._solvers.newton import NEWTON
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Outcome, Progress, Solver, without_minimiser
from pnorm._solvers.quadratic import least, least_of_rows
from pnorm._solvers.search import armijo, conjugate_gradients
from pnorm._solvers.separability import find_separation
from pnorm._solvers.wide import hessian_times

Index = NDArray[np.intp]

_FIRST = 64
"""Least number of weak rankers that join the working set, if that many promise a fall."""

_CHEAP = 4e9
"""Number of products for second moments that costs little, about 0.2 s. Steps of too few weak rankers may be poor."""

_ROOM = 2**26
"""Largest number of outputs in a copy of the working set: 512 MB."""

_SMALL = 2**22
"""A working set with more weak rankers than rows is taken whole up to this number of outputs."""

_FADED = 1e-14
"""Share of the largest weight below which a row is left out of a Hessian."""

_RIDGE = 1e-10
"""Share of the diagonal that is added to a Hessian that may be singular; the step becomes slightly shorter."""

_NEAR = 0.1
"""A multiplied penalty falls when a step promises at most this many nats."""

_FALL, _LEAST_FALL, _MOST_FALL = 4.0, 1.02, 1e4
"""Divisors of a multiplied penalty: the first, the least and the largest."""

_QUICK, _SLOW = 3, 12
"""Numbers of steps to a minimiser on the way that count as few, and as too many."""

_LARGEST = 1e290
"""The largest penalty on squares at the beginning of the way."""

_LITTLE = 0.3
"""The way begins with about this share of the least penalty that keeps all coefficients at zero."""

_SHORT, _PATIENCE = 0.05, 3
"""Share of a step below which it counts as short, and the number of short steps in a row that is too many."""

_CRITICAL = 1e-3
"""An l1 that differs from the least value with a minimiser by less than this share is undecided."""

_NOTHING = Bound(math.inf, 0.0, math.nan, math.nan, "steps with the given penalty had not begun")

_PRODUCTS = 300
"""Largest number of products with the Hessian for one step."""


def proximal(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Take proximal Newton steps until the certificate is within the tolerance."""
    p = problem.objective.traits.p
    working, precise = _WorkingSet(problem, penalty), False
    way, stuck, best, endless = _Way(), 0, math.inf, 0
    point, examined = problem.point(penalty.nearest(start)), None
    while True:
        # A step of the objective whose penalty is multiplied, and the certificate that it gives.
        if _falls_for_ever(problem, penalty, point):
            progress.arrive(point, math.inf)
            return Outcome("separable", "")
        means = Means(problem, point.weights)
        slope, here = p * means.edges, penalty.enlarged(way.times)
        down = here.steepest(point.lam, slope)
        step = _step(problem, working, means, here, point.lam, slope, down)
        promised = here.promised(point.lam, step.at(1.0), slope)
        if way.times > 1.0 and promised <= _NEAR:
            there = [problem.point(lam) for lam in way.arrive(step.at(1.0), problem.separation(point) > 0.0)]
            here = penalty.enlarged(way.times)
            point = min(there, key=lambda point: progress.value_with(here, point))
            continue
        if penalty.is_bounded and not way.begun and not point.lam.any() and promised > abs(point.log_f):
            # The objective falls this far only if the rows are separable.
            way.begin(point.lam, _large(penalty, slope))
            if way.times > 1.0:
                continue
        known = way.times == 1.0 or penalty.is_bounded  # with l2 any step will do
        bound = _NOTHING
        if known:
            bound = certify_penalised(problem, point, means, penalty, step.delta, step.inner, step.chosen, progress.tol)
        close = bound.gap < 2.0 * max(progress.tol, bound.rounding)
        if not point.precise and close and bound.rounding > 0.25 * progress.tol:
            precise = True
            point = problem.point(point.lam, precise=True)
            continue
        progress.arrive(point, bound.gap, down)

        # The end, or the step. If none helps, rounding of the scores may be the cause.
        if progress.proved(bound.gap, bound.rounding):
            return Outcome("converged", progress.within(bound.gap), examined=examined)
        if progress.exhausted:
            said = f"{_proof(bound)}{_critical(problem, penalty, point, bound)}"
            return Outcome(
                "max_iter", f"all {progress.limit} Newton steps were taken; {said}; allow more steps", examined=examined
            )
        endless = endless + 1 if bound.gap == math.inf and promised < 1e-6 else 0
        if may_ask and endless >= 3 and not penalty.value(np.ones_like(start)) and (penalty.low < penalty.high).all():
            may_ask = False
            separation = find_separation(problem, signs=penalty.signs)
            examined = separation.kind
            if separation.direction is not None:
                return without_minimiser(problem, progress, means.edges, separation)
        found = _searched(problem, progress, point, here, slope, step, precise)
        stuck = stuck + 1 if found is None or bound.gap >= 0.9 * best else 0
        best = min(best, bound.gap)
        if found is None or (stuck >= 5 and progress.is_flat(bound.rounding)):
            if point.precise:
                said = f"{_proof(bound)}{_critical(problem, penalty, point, bound)}"
                return Outcome("stalled", f"rounding hides any further progress; {said}", examined=examined)
            precise, stuck = True, 0
            point = problem.point(point.lam, precise=True)
            continue
        share, point = found
        if progress.step(means.edges, share, point):
            said = f"the callback stopped the run after step {progress.n_iter}; {_proof(bound)}"
            return Outcome("callback", said, examined=examined)

        if way.is_lost(share):
            starts = way.turn_back()
            point = problem.point(starts[0] if starts else np.zeros_like(start))
            if not starts:
                way.begin(point.lam, _large(penalty, p * problem.edges_at(point)))


class _Way:
    """A path to the minimiser of a small penalty, through minimisers of larger penalties that are near each other.

    It is used when steps turn out short: far from the minimiser the objective consists of almost flat pieces. If rows
    are separable, coefficients grow about like a constant over the penalty plus another constant, so two minimisers
    predict the next one. If a minimiser took few steps, the next one may be farther away.
    """

    def __init__(self) -> None:
        self.times = 1.0
        """The factor of the penalty."""
        self._short, self._taken, self._fall = 0, 0, _FALL
        self._known: list[tuple[float, Vector]] = []

    @property
    def begun(self) -> bool:
        """Whether this way has been taken."""
        return bool(self._known)

    def begin(self, lam: Vector, times: float) -> None:
        """Begin with a large penalty, and coefficients that are nearly best."""
        self.times, self._known, self._short = times, [(times, lam)], 0

    def is_lost(self, share: float) -> bool:
        """Record the share of a step; return whether too many steps in a row were short."""
        self._taken += 1
        self._short = self._short + 1 if share < _SHORT else 0
        if not self.begun:
            return self._short >= _PATIENCE
        return (self._short > 1 or self._taken > _SLOW) and self._fall > _LEAST_FALL

    def arrive(self, lam: Vector, grows: bool) -> list[Vector]:
        """Go from the minimiser of one penalty to a smaller one; return coefficients to start from, for a choice."""
        self._known = [*[known for known in self._known if known[0] > self.times][-1:], (self.times, lam)]
        if self._taken <= _QUICK:
            self._fall = min(self._fall**1.5, _MOST_FALL)
        elif self._taken > 2 * _QUICK:
            self._fall = self._fall**0.7
        return self._ahead(grows)

    def turn_back(self) -> list[Vector]:
        """Go back to the last minimiser, for a penalty nearer to its own; return an empty list if there is none yet."""
        if not self._known:
            return []
        self._fall = math.sqrt(self._fall)
        return self._ahead(False)

    def _ahead(self, grows: bool) -> list[Vector]:
        self._short = self._taken = 0
        before, lam = self._known[-1]
        self.times = max(before / self._fall, 1.0)
        starts = [lam]
        if grows:
            starts.append(before / self.times * lam)
        if len(self._known) > 1:
            first, other = self._known[0]
            share = (1.0 / self.times - 1.0 / before) / (1.0 / before - 1.0 / first)
            beyond = lam + share * (lam - other)
            starts.append(np.where(beyond * lam > 0.0, beyond, 0.0))
        return starts


def _large(penalty: Penalty, slope: Vector) -> float:
    """Return a factor of the penalty with which little can be gained, given the slope at zero."""
    if penalty.is_bounded:
        free = penalty.l2 > 0.0
        with np.errstate(over="ignore"):
            of_l2 = float((np.square(penalty.pull(slope)[free]) / penalty.l2[free]).sum())
        return min(max(_LITTLE * of_l2, 1.0), _LARGEST / float(penalty.l2.max()))
    pull = np.abs(penalty.bounds_alone().pull(slope))
    pulled = (pull > 0.0) & (penalty.l1 > 0.0)
    return max(_LITTLE * float((pull[pulled] / penalty.l1[pulled]).max(initial=0.0)), 1.0)


PROXIMAL = Solver(proximal, supports=NEWTON.supports, steps=1)


def _proof(bound: Bound) -> str:
    return f"no certificate: {bound.reason}" if bound.reason else f"its gap was at most {bound.gap:.2g}"


def _critical(problem: Problem, penalty: Penalty, point: Point, bound: Bound) -> str:
    """Return a warning if l1 is about p times the widest margin, below which there is no minimiser."""
    value = penalty.value(point.lam)
    if bound.gap < math.inf or not value > 0.0 or penalty.l2[point.lam != 0.0].any():
        return ""
    if abs(problem.objective.traits.p * problem.margin(point.f) - value) > _CRITICAL * value:
        return ""
    return (
        f"; l1 is within {_CRITICAL:g} of the least value with a minimiser, and rounding hides whether it is below. "
        "Pass an l1 that is larger by a thousandth, or l2 > 0"
    )


def _falls_for_ever(problem: Problem, penalty: Penalty, point: Point) -> bool:
    """Return whether the coefficients separate, and the objective falls without end as they grow."""
    if penalty.l2[point.lam != 0.0].any() or not point.lam.any():
        return False
    margin = problem.separation(point)
    return margin > 0.0 and problem.objective.traits.p * margin > (1.0 + 1e-9) * penalty.value(point.lam)


# Steps -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Step:
    """A way from the coefficients of a point."""

    at: Callable[[float], Vector]
    """The coefficients after a share of the step."""
    delta: Vector
    """The whole step."""
    inner: Callable[[float], Vector] | None
    """The step to slopes that are within l1 by a share; None if it is not known."""
    chosen: Chosen | None
    """The working set; None if it is too large."""


class _WorkingSet:
    """The weak rankers whose second moments are formed, and the problem of these."""

    def __init__(self, problem: Problem, penalty: Penalty) -> None:
        self._whole = self.problem = problem
        n, rows = problem.n_rankers, problem.n_pos + problem.n_neg
        self._dual = penalty.is_bounded and problem.in_memory
        """Whether the dual function over the rows can be used."""
        self._least = max(_FIRST, min(int(math.sqrt(_CHEAP / rows)), FEW))
        if self._dual and 2 * rows <= n:
            self._least = max(self._least, _SMALL // rows)
        self.which: Index = np.arange(n) if n <= self._least else np.zeros(0, np.intp)

    def update(self, lam: Vector, merit: Vector) -> bool:
        """Choose the working set; return whether it is small enough.

        `merit` is zero where zero is the best coefficient, and for coefficients that are not zero.
        """
        n = lam.size
        wanted = (lam != 0.0) | (merit > 0.0)
        if not wanted[np.setdiff1d(np.arange(n), self.which)].any():
            return self._fits(self.which.size)
        used = np.flatnonzero(lam)
        joining = np.argsort(-merit, kind="stable")[: max(self._least - used.size, _FIRST, used.size)]
        chosen = np.union1d(used, joining[merit[joining] > 0.0])
        if not self._fits(chosen.size):
            return False
        if 2 * chosen.size >= n and n <= FEW:
            self.which, self.problem = np.arange(n), self._whole
        else:
            self.which, self.problem = chosen, self._whole.columns(chosen)
        return True

    def _fits(self, size: int) -> bool:
        rows = self._whole.n_pos + self._whole.n_neg
        return size <= _FIRST or ((size <= FEW or self._is_wide(size)) and size * rows <= _ROOM)

    def _is_wide(self, size: int) -> bool:
        return self._dual and 2 * (self._whole.n_pos + self._whole.n_neg) <= size

    @property
    def wide(self) -> bool:
        """Whether the dual function is used because the working set has far more weak rankers than there are rows."""
        return self._is_wide(self.which.size)


def _step(
    problem: Problem, working: _WorkingSet, means: Means, penalty: Penalty, lam: Vector, slope: Vector, down: Vector
) -> _Step:
    """Return the step to the minimiser of the quadratic model, or close to it."""
    of_pos, of_neg = np.square(means.deviation)
    bend = means.p * of_pos + means.p**2 * of_neg + np.square(means.moved).sum(axis=0) + penalty.l2
    merit = np.where(lam == 0.0, np.square(down) / np.maximum(bend, TINY), 0.0)
    if not working.update(lam, merit):
        return _by_conjugate_gradients(means, penalty, lam, down, bend)
    which = working.which
    if working.wide:
        found = _in_rows(working, means, penalty, lam, slope)
        if found is not None:
            return found
        if which.size > FEW:
            return _by_conjugate_gradients(means, penalty, lam, down, bend)
    moments = Moments(working.problem, means.weights.of_columns(which))
    own, start = penalty.of_columns(which), lam[which]
    ridge = np.where(own.l2 > 0.0, 0.0, _RIDGE) * np.maximum(moments.hessian.diagonal(), TINY)
    hessian = moments.hessian + np.diag(np.where(moments.hessian.diagonal() + own.l2 > 0.0, ridge, 1.0))

    move = least(hessian, slope[which], own, start)
    here = slope[which] - hessian @ move

    def closer(narrower: Penalty) -> Vector:
        return move + least(hessian, here, narrower, start + move)

    return _to(lam, move, Chosen(which, working.problem, moments), penalty, closer)


def _in_rows(working: _WorkingSet, means: Means, penalty: Penalty, lam: Vector, slope: Vector) -> _Step | None:
    """Return the step by the dual function, which has a number for each row; None if it is not found."""
    which = working.which
    own, start, weights = penalty.of_columns(which), lam[which], means.weights.of_columns(which)
    of_columns = Means(working.problem, weights)
    root = root_of_hessian(of_columns, _FADED)
    move = least_of_rows(root, slope[which], own, start)
    if move is None:
        return None

    def closer(narrower: Penalty) -> Vector:
        found = least_of_rows(root, slope[which], narrower, start)
        return move if found is None else found

    return _to(lam, move, Chosen(which, working.problem, of_columns), penalty, closer)


def _to(lam: Vector, move: Vector, chosen: Chosen, penalty: Penalty, minimised: Callable[[Penalty], Vector]) -> _Step:
    """Return the step that moves the working set; `minimised` returns the move for another penalty of it."""
    own = penalty.of_columns(chosen.which)

    def embedded(move: Vector) -> Vector:
        delta = np.zeros_like(lam)
        delta[chosen.which] = move
        return delta

    delta = embedded(np.where(np.isfinite(move), move, 0.0))

    def at(share: float) -> Vector:
        return penalty.nearest(lam + share * delta)

    def inner(share: float) -> Vector:
        return embedded(minimised(Penalty(own.l1 * (1.0 - share), own.l2, own.low, own.high)))

    return _Step(at, delta, inner, chosen)


def _by_conjugate_gradients(means: Means, penalty: Penalty, lam: Vector, down: Vector, bend: Vector) -> _Step:
    """Solve for a Newton step of the coefficients that may move; a coefficient that would cross zero ends there."""
    side = np.where(lam != 0.0, np.sign(lam), np.sign(down))
    bounded = (penalty.l1 > 0.0) | np.isfinite(penalty.low) | np.isfinite(penalty.high)
    free = side != 0.0
    move, rest = np.zeros_like(lam), np.where(free, down, 0.0)
    enough = 1e-6 * float(rest @ (rest / bend))

    def times(x: Vector) -> Vector:
        return np.where(free, hessian_times(means, x) + penalty.l2 * x, 0.0)

    for _ in islice(conjugate_gradients(times, lambda x: x / bend, move, rest), _PRODUCTS):
        if not float(rest @ (rest / bend)) > enough:
            break

    def at(share: float) -> Vector:
        after = lam + share * move
        after[bounded & (after * side < 0.0)] = 0.0
        return after

    return _Step(at, at(1.0) - lam, None, None)


def certified(problem: Problem, point: Point, penalty: Penalty, tol: float) -> Bound:
    """Bound the objective at any coefficients within the bounds."""
    means = Means(problem, point.weights)
    slope = means.p * means.edges
    down = penalty.steepest(point.lam, slope)
    step = _step(problem, _WorkingSet(problem, penalty), means, penalty, point.lam, slope, down)
    return certify_penalised(problem, point, means, penalty, step.delta, step.inner, step.chosen, tol)


def _searched(
    problem: Problem, progress: Progress, point: Point, penalty: Penalty, slope: Vector, step: _Step, precise: bool
) -> tuple[float, Point] | None:
    """Return a share of a step and its end; None if none lowers the objective."""
    return armijo(
        problem,
        point,
        lambda point: progress.value_with(penalty, point),
        step.at,
        lambda _, lam: penalty.promised(point.lam, lam, slope),
        step.delta,
        precise,
    )
