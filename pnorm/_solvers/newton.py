"""Newton's method on log F_p with a penalty, and a certificate at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.certificate import Bound, certify_to, far_gap
from pnorm._solvers.forming import Point
from pnorm._solvers.margin import widest
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Outcome, Progress, Solver, without_minimiser
from pnorm._solvers.search import armijo
from pnorm._solvers.separability import find_separation
from pnorm._solvers.wide import curvature_at

_DOUBT = 25
"""After this many Newton steps without convergence, the existence and the size of the minimiser are in doubt."""


def newton(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Take Newton steps with backtracking until the certificate is within the tolerance.

    If the steps do not seem to converge, a second method is used once, if `may_ask` allows it. Without a penalty, the
    linear program decides whether there is a minimiser. With a penalty, the coefficients of the widest margin may be
    better.
    """
    assert penalty.ridge is not None
    l2 = penalty.ridge
    monitor, curvature, projected = StoppingMonitor(), None, False
    precise = False  # whether scores are formed in twice the working precision from now on
    floor = -math.inf  # a proved lower bound of the objective
    first = progress.n_iter
    separation = None
    point = problem.point(start)
    while True:
        # Curvature. The part of a start on which no score difference depends is removed once.
        progress.arrive(point)
        if l2 == 0.0 and problem.separation(point) > 0.0:
            return Outcome("separable", separation=separation)
        curvature = (curvature and curvature.at(point.weights)) or curvature_at(
            problem, point.weights, l2, progress.tol
        )
        relevant = None if projected else curvature.relevant(point.lam)
        if relevant is not None:
            projected = True
            if point.lam.any():
                point = problem.point(relevant)
                continue

        # The certificate that the Newton step gives.
        slope = problem.objective.traits.p * curvature.edges - l2 * point.lam
        delta = curvature.step(slope)
        point, bound = certify_to(problem, point, curvature, delta, progress.tol)
        precise = precise or point.precise
        bound = bound.at_most(progress.value(point) - floor + bound.rounding)
        progress.arrive(point, bound.gap, slope)
        monitor.read(float(slope @ delta), bound)

        # The end, or a share of the step. If no share helps, rounding of the scores may be the cause.
        status = _verdict(progress, bound, monitor.settled or l2 > 0.0 or not may_ask)
        after = None if status else _searched(problem, progress, point, slope, delta, precise)
        if not status and (after is None or monitor.is_stuck(progress, bound)):
            if not point.precise:
                precise = True
                point = problem.point(point.lam, precise=True)
                monitor.restart(progress)
                continue
            status = "stalled"

        # The second method.
        if may_ask and (status == "stalled" or (l2 == 0.0 and monitor.is_endless) or progress.n_iter >= first + _DOUBT):
            if l2 == 0.0:
                may_ask = False
                separation = find_separation(problem)
                if separation.direction is not None:
                    return without_minimiser(problem, progress, curvature.edges, separation)
                status = _verdict(progress, bound, True) or status
            elif status in ("", "stalled") and problem.separation(point) > 0.0:
                may_ask, precise = False, True
                best, gap, rounding, is_far = _on_margin(problem, progress, point.lam, l2)
                floor = progress.value(best) - gap
                if progress.proved(gap, rounding):
                    progress.jump(curvature.edges, best, gap)
                    return Outcome("converged", progress.within(gap))
                if is_far:
                    status, after = "", (math.nan, best)

        if status:
            return Outcome(status, _message(status, progress, bound), separation)
        assert after is not None
        share, point = after
        if progress.step(curvature.edges, share, point):
            return Outcome("callback", _message("callback", progress, bound), separation)


NEWTON = Solver(newton, supports=lambda objective: objective.traits.factored, steps=1)


@dataclass
class StoppingMonitor:
    """Counts indications that Newton's method will not converge."""

    settled: bool = False
    """Whether the step changes all weights only slightly."""
    _infinite: int = 0
    """Steps in a row that promise no fall but change weights. Each of them divides weights off the support by e."""
    _blurred: int = 0
    """Steps in a row that promise no fall and do not shorten the gap, which consists of rounding."""
    _gap: float = math.inf
    _since: int = 0
    """The step at which scores became precise."""

    def read(self, promised: float, bound: Bound) -> None:
        """Record the fall that the slope of a step promises, and the certificate before it."""
        self.settled = bound.least > 0.5 and not bound.reason
        self._infinite = self._infinite + 1 if promised < 1e-6 and not self.settled else 0
        hidden = promised < min(1e-4, 0.01 * bound.gap) and 0.5 * self._gap < bound.gap < math.inf
        self._blurred = self._blurred + 1 if hidden else 0
        self._gap = bound.gap

    @property
    def is_endless(self) -> bool:
        """Whether steps seem to lead to infinity."""
        return self._infinite >= 3

    def is_stuck(self, progress: Progress, bound: Bound) -> bool:
        """Return whether rounding seems to hide further progress."""
        return self._blurred >= 4 or (progress.n_iter >= self._since + 5 and progress.is_flat(bound.rounding))

    def restart(self, progress: Progress) -> None:
        """Reset the counts of rounding, since scores are precise from now on."""
        self._blurred, self._since = 0, progress.n_iter


def _verdict(progress: Progress, bound: Bound, settled: bool) -> str:
    """Return the status if the run ends here, else an empty string.

    While weights are not settled, a small gap may belong to an infimum that is not attained.
    """
    if settled and progress.proved(bound.gap, bound.rounding):
        return "converged"
    return "max_iter" if progress.exhausted else ""


def _message(status: str, progress: Progress, bound: Bound) -> str:
    """Return a sentence that states why the run ends."""
    if status == "converged":
        return progress.within(bound.gap)
    if status == "callback":
        return f"the callback stopped the run after step {progress.n_iter}"
    proof = f"no certificate: {bound.reason}" if bound.reason else f"its gap is at most {bound.gap:.2g}"
    if status == "max_iter":
        return f"all {progress.limit} Newton steps were taken; {proof}; allow more steps"
    return f"rounding hides any further progress; {proof}"


def _searched(
    problem: Problem, progress: Progress, point: Point, slope: Vector, delta: Vector, precise: bool
) -> tuple[float, Point] | None:
    """Return a share of the Newton step and its end; None if none lowers the objective."""
    promised = float(slope @ delta)
    return armijo(
        problem,
        point,
        progress.value,
        lambda share: point.lam + share * delta,
        lambda share, _: share * promised,
        delta,
        precise,
    )


def _on_margin(problem: Problem, progress: Progress, lam: Vector, l2: float) -> tuple[Point, float, float, bool]:
    """Compare coefficients that separate with those of the widest margin.

    With a small penalty, log F_p is about -p times the margin, so the widest margin is best. The right length of its
    coefficients is known to a few units of the scores. Rows on the margin have equal weights there, and only steps in
    twice the working precision can give them the right weights.

    Return the better point, its gap, the rounding in the gap, and whether the point is that of the widest margin.
    """
    found = widest(problem, lam, np.where(problem.constant, 0.0, 1.0))
    length = problem.objective.traits.p / (l2 * float(found.lam @ found.lam))
    far = problem.point(length * found.lam, precise=True)
    best = min(far, problem.point(lam, precise=True), key=progress.value)
    gap, rounding = math.inf, 0.0
    if found.between is not None:
        gap, rounding = far_gap(problem, best, found.between, l2)
    return best, gap, rounding, best is far
