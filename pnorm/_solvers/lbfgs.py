"""L-BFGS: for objectives without a Hessian of ours, and for more weak rankers than a Hessian has room for."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.certificate import Bound, penalised_gap
from pnorm._solvers.hessian import LARGEST_HESSIAN, Curvature, whitening
from pnorm._solvers.problem import Point, Problem
from pnorm._solvers.separability import Hulls, hulls
from pnorm._trace import History, Iterate, Trace

_STOPPED = 99
"""SciPy's status after a StopIteration in a callback."""

PER_STEP = 10
"""Iterations allowed for each Newton step."""

_MEMORY = 20
"""Moves that are remembered."""

_PATIENCE = 10
"""Moves in a row that do not shorten the gradient by a tenth after which it is as short as it gets."""

_FAR = 0.01
"""Change of scores in one more step above which the last one was no end."""

_FADED = 1e-6
"""Share of the largest weight of a row below which another may be on its way to zero."""


class Run(Protocol):
    """What a minimisation knows, however it goes on."""

    problem: Problem
    l2: float
    tol: float
    max_iter: int
    ask: bool
    found: Hulls | None
    path: History

    @property
    def name(self) -> str:
        """What is minimised."""

    @property
    def what(self) -> str:
        """F_p or R."""

    def value(self, point: Point) -> float:
        """What is minimised, at a point."""

    def reached(self, point: Point, gap: float = math.nan, slope: Vector | None = None) -> Iterate:
        """What the trace keeps of a point."""

    def step(self, edges: Vector, share: float, after: Point) -> bool:
        """Keep one step; whether the callback asks to stop."""

    def proved(self, gap: float, rounding: float) -> bool:
        """Whether a gap is small enough."""

    def within(self, gap: float) -> str:
        """What a certificate says."""

    def certified(self, point: Point, curvature: Curvature, delta: Vector) -> tuple[Point, Bound]:
        """A certificate from the Hessian of the P-Norm Push."""

    def separable(self, lam: Vector) -> tuple[Vector, Trace]:
        """The end where coefficients separate."""

    def without_minimiser(self, found: Hulls, edges: Vector) -> tuple[Vector, Trace]:
        """The end where the linear program has found that there is no minimiser."""

    def end(self, status: str, message: str) -> tuple[Vector, Trace]:
        """The end."""


class _Coordinates:
    """Coefficients as lam = start + root @ x: those in which L-BFGS works."""

    def __init__(self, problem: Problem, start: Vector, l2: float) -> None:
        """Columns in units of their ranges, or where there may be n**2 numbers, such that all pairs differ alike.

        The curvature of any loss along a direction is about that of the square, so that a few steps do
        where columns are correlated: on 4,000 rows and 50 mixed columns 15, where ranges alone took 400.
        """
        self._start = np.where(problem.constant & (l2 == 0.0), 0.0, start)
        # Those of constant columns stay zero: of wide sparse data, they are most.
        self._where: Any = np.flatnonzero(~problem.constant | (self._start != 0.0))
        ranges = np.where(problem.constant, 1.0, problem.high - problem.low)
        self._root: Any = 1.0 / ranges[self._where]
        if problem.n_rankers <= LARGEST_HESSIAN and not problem.objective.factored:
            weight = problem.fall(problem.point(self._start)) if l2 else 0.0  # of a square in the objective, about
            self._root, self._where = whitening(problem, l2 / weight if 0.0 < weight < math.inf else l2), slice(None)
        self.size = self._root.shape[-1]

    def lam(self, x: Vector) -> Vector:
        """The coefficients at x."""
        lam = self._start.copy()
        lam[self._where] += self._root * x if self._root.ndim == 1 else self._root @ x
        return lam

    def slope(self, slope: Vector) -> Vector:
        """A gradient by the coefficients as one by x."""
        return np.asarray(slope[self._where] * self._root if self._root.ndim == 1 else self._root.T @ slope)


@dataclass(frozen=True, eq=False)
class _Place:
    """A point, the edges there, and minus the gradient of what is minimised."""

    point: Point
    edges: Vector
    slope: Vector
    x: Vector
    """The point in the coordinates of L-BFGS."""
    down: Vector
    """The slope in these."""

    @property
    def steepness(self) -> float:
        return float(np.linalg.norm(self.down))


class _Enough(StopIteration):
    """What ends SciPy's loop."""


class Lbfgs:
    """SciPy's L-BFGS-B on what is convex of an objective."""

    def __init__(self, run: Run, start: Vector) -> None:
        self.run = run
        self._where = _Coordinates(run.problem, start, run.l2)
        self._latest = self._here = self._place(np.zeros(self._where.size))
        self._moves: deque[tuple[Vector, Vector]] = deque(maxlen=_MEMORY)
        self._verdict = self._judge(self._here)
        self._most = PER_STEP * run.max_iter
        self._raised: StopIteration | None = None

    def descend(self) -> tuple[Vector, Trace]:
        """Go down as far as values tell, and then as far as gradients do."""
        if self._goes_on():
            before = math.nan
            # What it remembers of uneven ground may mislead it: it begins again as long as that helps.
            while self._goes_on() and not self.run.value(self._here.point) >= before:
                before = self.run.value(self._here.point)
                before -= 1e-12 * abs(before)
                self._by_values()
            if self._goes_on():
                self._by_gradients()
        verdict = self._verdict or ("max_iter" if self.run.path.n_iter >= self._most else "stalled")
        return self._finished(verdict)

    def _goes_on(self) -> bool:
        return not self._verdict and self.run.path.n_iter < self._most

    def _by_values(self) -> None:
        from scipy.optimize import minimize

        left = self._most - self.run.path.n_iter
        options = {"maxiter": left, "maxfun": 20 * left, "maxcor": _MEMORY, "ftol": 0.0, "gtol": 0.0}
        found = minimize(
            self._value_and_gradient,
            self._here.x,
            jac=True,
            method="L-BFGS-B",
            callback=self._after_iteration,
            options=options,
        )
        if self._raised is None and not self._verdict and found.status == _STOPPED:
            self._raised = StopIteration()  # a signal handler's, in lines of SciPy, which keep no more of it
        if self._raised is not None:
            raise self._raised

    def _value_and_gradient(self, x: Vector) -> tuple[float, Vector]:
        try:
            self._latest = self._place(x)
        except OverflowError:  # a wall: seven times as steep as the way down to here
            here, away = self._here, x - self._here.x
            steep = abs(float(here.down @ away))
            return self.run.value(here.point) + 3.0 * steep, (7.0 * steep / float(away @ away)) * away
        return self.run.value(self._latest.point), -self._latest.down

    def _after_iteration(self, intermediate_result: Any) -> None:
        try:
            if not np.array_equal(self._latest.x, intermediate_result.x):
                self._value_and_gradient(intermediate_result.x)
            self._go_to(self._latest)
            if self._verdict:
                raise _Enough
        except StopIteration as error:
            if not isinstance(error, _Enough):  # of the user's callback or signal handler: SciPy takes it for ours
                self._raised = error
            raise

    def _go_to(self, after: _Place) -> None:
        asked_to_stop = self.run.step(self._here.edges, math.nan, after.point)
        self._moves.append((after.x - self._here.x, self._here.down - after.down))
        self._here = after
        self._verdict = self._judge(after) or ("callback" if asked_to_stop else "")

    def _by_gradients(self) -> None:
        """Where values are too alike to tell more, go on as long as steps shorten the gradient."""
        best, fruitless = self._here, 0
        while self._goes_on() and fruitless < _PATIENCE:
            after = self._next()
            if after is None or after.steepness > 4.0 * best.steepness:
                break
            self._go_to(after)
            fruitless = 0 if after.steepness < 0.9 * best.steepness else fruitless + 1
            best = min(best, after, key=lambda place: place.steepness)
        if best is not self._here and self._goes_on():
            self._go_to(best)

    def _next(self) -> _Place | None:
        """One more step of L-BFGS, without a line search."""
        from scipy.optimize import LbfgsInvHessProduct

        least = 1e-12 * self._here.steepness**2  # what is shorter is rounding
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
            return self._place(self._here.x + scale * inverse.matvec(scale * self._here.down))
        except OverflowError:
            return None

    def _place(self, x: Vector) -> _Place:
        lam = self._where.lam(x)
        point = self.run.problem.point(lam)
        edges = self.run.problem.edges_at(point)
        slope = self.run.problem.fall(point) * edges - self.run.l2 * lam
        return _Place(point, edges, slope, x.copy(), self._where.slope(slope))

    def _judge(self, here: _Place) -> str:
        """Keep a point, with the certificate that a penalty gives without a Hessian; the status if it is the end."""
        run, problem, objective, point = self.run, self.run.problem, self.run.problem.objective, here.point
        if run.l2 > 0.0 and objective.is_convex:
            gap, rounding = penalised_gap(problem, point, here.edges, run.l2)
            run.path.replace(run.reached(point, gap, here.slope))
            return "converged" if run.proved(gap, rounding) else ""
        if run.l2 == 0.0:
            lowest = point if point.log_f == -math.inf else None
            if objective.margin is not None and (margin := problem.separation(point)) > 0.0:
                if not objective.vanishes:
                    return "separable"
                lowest = problem.point(point.lam * (objective.margin / margin * (1.0 + 1e-12)))
            if lowest is not None:
                run.path.replace(run.reached(lowest, 0.0, np.zeros_like(here.slope)))
                return "converged"
        run.path.replace(run.reached(point, math.inf, here.slope))
        unit = np.minimum(problem.high - problem.low, 1.0)  # however small a column, its edge is smaller
        return "stationary" if (np.abs(here.slope) <= run.tol * problem.fall(point) * unit).all() else ""

    def _finished(self, verdict: str) -> tuple[Vector, Trace]:
        """What can be proved, and what can be said where there is no minimiser."""
        run, problem, objective, here = self.run, self.run.problem, self.run.problem.objective, self._here
        point = here.point
        if verdict == "separable":
            return run.separable(point.lam)
        if verdict == "converged" and run.l2 == 0.0:
            return run.end(verdict, f"{run.what} is as small as it gets")
        gap = run.path.last.gap
        not_needed = objective.factored and problem.n_rankers <= LARGEST_HESSIAN  # but the user's wish
        if run.l2 == 0.0 and not_needed:
            curvature = Curvature(problem, point.weights)
            point, bound = run.certified(point, curvature, curvature.step(objective.p * curvature.edges))
            gap = bound.gap
            run.path.replace(run.reached(point, gap, here.slope))
            if verdict != "callback" and run.proved(gap, bound.rounding):
                verdict = "converged"
        elif self._may_lack_a_minimiser(point) and verdict != "callback":
            run.ask = False
            run.found = hulls(problem, point.weights)
            if run.found.direction is not None:
                return run.without_minimiser(run.found, here.edges)
        proof = "no certificate" if math.isinf(gap) else run.within(gap)
        message = (
            f"by L-BFGS, without a Hessian: {proof}; the largest edge is {np.abs(here.edges).max():.2g}, the norm of "
            f"the gradient of {run.name} {float(np.linalg.norm(here.slope)):.2g}"
        )
        if not objective.is_convex:
            message += "; the price falls somewhere, so this is a stationary point at best and need not be a minimum"
        elif run.l2 == 0.0 and math.isinf(gap) and objective.factored:
            message += "; pnorm.diagnostics.separability tells whether there is a minimiser"
        if verdict == "max_iter" and not objective.factored:
            message += (
                "; columns with long tails are slow: a larger max_iter, their logarithms or ranks, or l2 may help"
            )
        return run.end(verdict, message)

    def _may_lack_a_minimiser(self, point: Point) -> bool:
        """Whether some rows have lost all weight, and the next step is no shorter for it.

        So it is where the way to the infimum goes on for ever: both slope and curvature fade.
        """
        objective = self.run.problem.objective
        if not self.run.ask or self.run.l2 > 0.0 or objective.factored or objective.margin is None:
            return False
        if objective.vanishes or not objective.fades:
            return False
        if not any(float(part.min()) < _FADED * float(part.max()) for part in point.weights.total):
            return False
        after = self._next()
        if after is None:
            return True
        return self.run.problem.span_of(after.point.lam - point.lam) > _FAR
