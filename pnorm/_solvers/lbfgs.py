"""L-BFGS, for objectives whose Hessian is not computed, and for too many weak rankers for a Hessian."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.certificate import certify_to, penalised_gap
from pnorm._solvers.forming import Point
from pnorm._solvers.hessian import FEW, Curvature, whitening
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Outcome, Progress, Solver, without_minimiser
from pnorm._solvers.separability import find_separation

_STOPPED = 99
"""SciPy's status after a StopIteration in a callback."""

_MEMORY = 20
"""Number of moves that are stored."""

_PATIENCE = 10
"""After this many moves in a row that do not shorten the gradient by a tenth, the run ends."""

_FAR = 0.01
"""Change of scores in the next step above which a run has not converged."""

_FADED = 1e-6
"""Fraction of the largest weight of a row below which another weight may tend to zero."""


def lbfgs(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Descend by SciPy's L-BFGS-B as long as values fall, and then as long as gradients become shorter."""
    assert penalty.ridge is not None
    l2 = penalty.ridge
    descent = Descent(problem, _Coordinates(problem, start, l2), penalty, progress)
    verdict = descent.run()
    here, objective = descent.here, problem.objective
    if verdict == "separable":
        return Outcome(verdict)
    if verdict == "converged" and l2 == 0.0:
        return Outcome(verdict, f"{progress.quantity} is at its infimum")
    separation = None
    if l2 == 0.0 and objective.traits.factored and problem.n_rankers <= FEW:
        # Newton's method would serve here, so its certificate does, too.
        curvature = Curvature(problem, here.point.weights)
        delta = curvature.step(objective.traits.p * curvature.edges)
        point, bound = certify_to(problem, here.point, curvature, delta, progress.tol)
        progress.arrive(point, bound.gap, here.slope)
        if verdict != "callback" and progress.proved(bound.gap, bound.rounding):
            verdict = "converged"
    elif may_ask and verdict != "callback" and descent.may_lack_a_minimiser():
        separation = find_separation(problem)
        if separation.direction is not None:
            return without_minimiser(problem, progress, here.edges, separation)
    return Outcome(verdict, _message(verdict, here, problem, progress), separation)


LBFGS = Solver(lbfgs, supports=lambda objective: objective.traits.nonsmooth is None, steps=10)


def _message(verdict: str, here: Place, problem: Problem, progress: Progress) -> str:
    """Return a sentence that states what is proved at the end."""
    objective, gap = problem.objective, progress.last.gap
    proof = "no certificate" if math.isinf(gap) else progress.within(gap)
    message = (
        f"by L-BFGS, without a Hessian: {proof}; the largest edge is {np.abs(here.edges).max():.2g}, the norm of "
        f"the gradient of {progress.name} {progress.last.gradient_norm:.2g}"
    )
    if not objective.traits.is_convex:
        message += "; R need not be convex with this price, so this is a stationary point at best, maybe not a minimum"
    elif progress.penalty.ridge == 0.0 and math.isinf(gap) and objective.traits.factored:
        message += "; call pnorm.diagnostics.separability to find out whether there is a minimiser"
    if verdict == "max_iter" and not objective.traits.factored:
        message += "; columns with long tails slow it down: try a larger max_iter, their logarithms or ranks, or l2 > 0"
    return message


class Coordinates(Protocol):
    """The coordinates x of L-BFGS."""

    first: Vector
    """The coordinates of the start."""
    bounds: Any
    """Pairs of bounds; None if there are none."""

    def lam(self, x: Vector) -> Vector:
        """Return the coefficients at x."""

    def slope(self, slope: Vector) -> Vector:
        """Return minus the gradient by x, given that of the smooth part by the coefficients."""

    def excess(self, x: Vector) -> float:
        """Return the difference of the function of x and the function of the coefficients."""


class _Coordinates:
    """The coordinates x of L-BFGS, in which the coefficients are lam = start + root @ x.

    Columns are in units of their ranges. If n**2 numbers fit, all directions get the same variance over the pairs
    instead. The curvature of any loss along a direction is about that of the square, so few steps are needed even if
    columns are correlated: 15 on 4,000 rows and 50 mixed columns, where ranges alone took 400.
    """

    def __init__(self, problem: Problem, start: Vector, l2: float) -> None:
        self._start = np.where(problem.constant & (l2 == 0.0), 0.0, start)
        # Coordinates of constant columns stay zero. In wide sparse data most columns are constant.
        self._where: Any = np.flatnonzero(~problem.constant | (self._start != 0.0))
        ranges = np.where(problem.constant, 1.0, problem.high - problem.low)
        self._root: Any = 1.0 / ranges[self._where]
        if problem.n_rankers <= FEW and not problem.objective.traits.factored:
            weight = problem.fall(problem.point(self._start)) if l2 else 0.0  # weight of a square, roughly
            self._root, self._where = whitening(problem, l2 / weight if 0.0 < weight < math.inf else l2), slice(None)
        self.first, self.bounds = np.zeros(self._root.shape[-1]), None

    def lam(self, x: Vector) -> Vector:
        """Return the coefficients at x."""
        lam = self._start.copy()
        lam[self._where] += self._root * x if self._root.ndim == 1 else self._root @ x
        return lam

    def slope(self, slope: Vector) -> Vector:
        """Return the gradient by x, given that by the coefficients."""
        return np.asarray(slope[self._where] * self._root if self._root.ndim == 1 else self._root.T @ slope)

    def excess(self, _: Vector) -> float:
        """Return zero, since the function is the same."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Place:
    """A point, its edges, and minus the gradient of the minimised function."""

    point: Point
    edges: Vector
    slope: Vector
    x: Vector
    """Coordinates of the point in L-BFGS."""
    down: Vector
    """The slope in these coordinates."""

    @property
    def steepness(self) -> float:
        return float(np.linalg.norm(self.down))


class _Enough(StopIteration):
    """Raised here to end SciPy's loop."""


class Descent:
    """State of a run: its place, the moves that led there, and the status at the end."""

    def __init__(self, problem: Problem, where: Coordinates, penalty: Penalty, progress: Progress) -> None:
        self._problem, self._where, self._penalty, self._progress = problem, where, penalty, progress
        self._latest = self.here = self._place(where.first)
        self._moves: deque[tuple[Vector, Vector]] = deque(maxlen=_MEMORY)
        self._verdict = self._judge(self.here)
        self._raised: StopIteration | None = None

    def run(self) -> str:
        """Go to the end, and return its status."""
        before = math.nan
        # Earlier moves may mislead L-BFGS, so it is restarted as long as that lowers the objective.
        while self._goes_on() and not self._value(self.here) >= before:
            before = self._value(self.here)
            before -= 1e-12 * abs(before)
            self._by_values()
        if self._goes_on() and self._where.bounds is None:
            self._by_gradients()
        return self._verdict or ("max_iter" if self._progress.exhausted else "stalled")

    def may_lack_a_minimiser(self) -> bool:
        """Return whether some rows have lost all weight while steps do not become short.

        On the way to an infimum that is not attained, both slope and curvature tend to zero.
        """
        objective, point = self._problem.objective, self.here.point
        if self._penalty.ridge != 0.0 or objective.traits.factored or objective.traits.margin is None:
            return False
        if objective.traits.attains_zero or not objective.traits.tends_to_zero:
            return False
        if not any(float(part.min()) < _FADED * float(part.max()) for part in point.weights.total):
            return False
        after = self._next()
        return after is None or self._problem.span_of(after.point.lam - point.lam) > _FAR

    def _goes_on(self) -> bool:
        return not self._verdict and not self._progress.exhausted

    def _value(self, place: Place) -> float:
        return self._progress.value(place.point) + self._where.excess(place.x)

    def _by_values(self) -> None:
        from scipy.optimize import minimize

        left = self._progress.limit - self._progress.n_iter
        options = {"maxiter": left, "maxfun": 20 * left, "maxcor": _MEMORY, "ftol": 0.0, "gtol": 0.0}
        found = minimize(
            self._value_and_gradient,
            self.here.x,
            jac=True,
            method="L-BFGS-B",
            bounds=self._where.bounds,
            callback=self._after_iteration,
            options=options,
        )
        if self._raised is None and not self._verdict and found.status == _STOPPED:
            self._raised = StopIteration()  # from a signal handler during SciPy's code
        if self._raised is not None:
            raise self._raised

    def _value_and_gradient(self, x: Vector) -> tuple[float, Vector]:
        try:
            self._latest = self._place(x)
        except OverflowError:  # a wall, seven times as steep as the descent so far
            here, away = self.here, x - self.here.x
            steep = abs(float(here.down @ away))
            return self._value(here) + 3.0 * steep, (7.0 * steep / float(away @ away)) * away
        return self._value(self._latest), -self._latest.down

    def _after_iteration(self, intermediate_result: Any) -> None:
        try:
            if not np.array_equal(self._latest.x, intermediate_result.x):
                self._value_and_gradient(intermediate_result.x)
            self._go_to(self._latest)
            if self._verdict:
                raise _Enough
        except StopIteration as error:
            if not isinstance(error, _Enough):  # from the user's callback or a signal handler
                self._raised = error
            raise

    def _go_to(self, after: Place) -> None:
        asked_to_stop = self._progress.step(self.here.edges, math.nan, after.point)
        self._moves.append((after.x - self.here.x, self.here.down - after.down))
        self.here = after
        self._verdict = self._judge(after) or ("callback" if asked_to_stop else "")

    def _by_gradients(self) -> None:
        """Continue as long as steps shorten the gradient, when differences of values are within rounding."""
        best, fruitless = self.here, 0
        while self._goes_on() and fruitless < _PATIENCE:
            after = self._next()
            if after is None or after.steepness > 4.0 * best.steepness:
                break
            self._go_to(after)
            fruitless = 0 if after.steepness < 0.9 * best.steepness else fruitless + 1
            best = min(best, after, key=lambda place: place.steepness)
        if best is not self.here and self._goes_on():
            self._go_to(best)

    def _next(self) -> Place | None:
        """Return the place after one more step of L-BFGS without a line search; None if there is none."""
        from scipy.optimize import LbfgsInvHessProduct

        least = 1e-12 * self.here.steepness**2  # anything shorter is rounding
        rounded = [4.0 * np.finfo(float).eps * float(np.abs(s) @ np.abs(y)) for s, y in self._moves]
        moves = [
            (s, y)
            for (s, y), rounding in zip(self._moves, rounded, strict=True)
            if float(s @ y) > rounding and float(y @ y) > least > 0.0
        ]
        if not moves:
            return None
        s, y = (np.array(part) for part in zip(*moves, strict=True))
        scale = math.sqrt(float(s[-1] @ y[-1]) / float(y[-1] @ y[-1]))  # SciPy's product starts from the identity
        inverse = LbfgsInvHessProduct(s / scale, y * scale)
        try:
            return self._place(self.here.x + scale * inverse.matvec(scale * self.here.down))
        except OverflowError:
            return None

    def _place(self, x: Vector) -> Place:
        lam = self._where.lam(x)
        point = self._problem.point(lam)
        edges = self._problem.edges_at(point)
        slope = self._problem.fall(point) * edges - self._penalty.l2 * lam
        return Place(point, edges, slope, x.copy(), self._where.slope(slope))

    def _judge(self, here: Place) -> str:
        """Record a place, with the certificate that a penalty gives without a Hessian; return the status if it ends."""
        problem, progress, point = self._problem, self._progress, here.point
        objective = problem.objective
        if self._penalty.is_bounded and objective.traits.is_convex:
            gap, rounding = penalised_gap(problem, point, here.edges, self._penalty)
            progress.arrive(point, gap, self._steepest(here))
            return "converged" if progress.proved(gap, rounding) else ""
        if self._penalty.ridge == 0.0:
            lowest = point if point.log_f == -math.inf else None
            if objective.traits.margin is not None and (margin := problem.separation(point)) > 0.0:
                if not objective.traits.attains_zero:
                    progress.arrive(point, math.inf, here.slope)
                    return "separable"
                lowest = problem.point(point.lam * (objective.traits.margin / margin * (1.0 + 1e-12)))
            if lowest is not None:
                progress.arrive(lowest, 0.0, np.zeros_like(here.slope))
                return "converged"
        slope = self._steepest(here)
        progress.arrive(point, math.inf, slope)
        least = problem.fall(point) * problem.least_edges(progress.tol)
        return "stationary" if (np.abs(slope) <= least).all() else ""

    def _steepest(self, here: Place) -> Vector:
        """The slope with l1, within the bounds."""
        if self._penalty.ridge is not None:
            return here.slope
        return self._penalty.steepest(here.point.lam, here.slope + self._penalty.l2 * here.point.lam)


# Bounds --------------------------------------------------------------------------------------------


class _Halves:
    """Coordinates within bounds, with columns in units of their ranges.

    A coefficient with l1 that may have either sign is the difference of two nonnegative halves.
    """

    def __init__(self, problem: Problem, start: Vector, penalty: Penalty) -> None:
        lam, both = penalty.nearest(start), np.isinf(penalty.low) & np.isinf(penalty.high) & (penalty.l1 > 0.0)
        self._unit = np.where(problem.constant, 1.0, 1.0 / np.where(problem.constant, 1.0, problem.high - problem.low))
        self._l1 = penalty.l1 * self._unit
        self._split = np.flatnonzero(both)
        self._side = np.where(both | (penalty.low == 0.0), 1.0, np.where(penalty.high == 0.0, -1.0, 0.0))
        x = lam / self._unit
        self.first = np.r_[np.where(both, np.maximum(x, 0.0), x), np.maximum(-x[self._split], 0.0)]
        low = np.r_[np.where(both, 0.0, penalty.low), np.zeros(self._split.size)]
        self.bounds = list(zip(low, np.r_[penalty.high, np.full(self._split.size, np.inf)], strict=True))

    def lam(self, x: Vector) -> Vector:
        """Return the coefficients at x."""
        lam = x[: self._unit.size].copy()
        lam[self._split] -= x[self._unit.size :]
        return np.asarray(self._unit * lam)

    def slope(self, slope: Vector) -> Vector:
        """Return minus the gradient by x, given that of the smooth part by the coefficients."""
        inner = self._unit * slope
        return np.concatenate([inner - self._l1 * self._side, -inner[self._split] - self._l1[self._split]])

    def excess(self, x: Vector) -> float:
        """Return the part of l1 that is counted twice because both halves are above zero."""
        pairs = np.minimum(x[self._split], x[self._unit.size :])
        return 2.0 * float(self._l1[self._split] @ pairs)


def bounded(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Descend by SciPy's L-BFGS-B within bounds."""
    descent = Descent(problem, _Halves(problem, start, penalty), penalty, progress)
    verdict = descent.run()
    return Outcome(verdict, _message(verdict, descent.here, problem, progress))


BOUNDED = Solver(bounded, supports=LBFGS.supports, steps=10)
