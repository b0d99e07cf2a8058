"""The exact minimiser of the P-Norm Push objective, and the proof that it is one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnorm import _checks, _problem
from pnorm._blocks import Pool
from pnorm._certificate import Bound, certify, penalised_gap
from pnorm._checks import Vector
from pnorm._curvature import Curvature
from pnorm._objective import push
from pnorm._problem import Point, Problem
from pnorm._separability import Hulls, hulls
from pnorm._trace import Path, Reached, Trace

LARGEST_HESSIAN = 2000
"""Weak rankers up to which Newton's method is used: four arrays of 32 MB."""

_DOUBT = 25
"""Newton steps without convergence after which the linear program is asked whether there is a minimiser."""

_FAR = 100.0
"""Change of an exponent in one step beyond which the Hessian where it begins says nothing about its end."""

_PER_STEP = 10
"""Iterations of L-BFGS allowed for each Newton step."""


def minimize(
    pos: Any,
    neg: Any,
    H: Any = None,
    p: float = 1.0,
    *,
    l2: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    init: Any = None,
    method: str | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
    n_threads: int | None = None,
) -> tuple[Vector, Trace]:
    r"""Find the exact minimiser of the P-Norm Push objective, with a proof, or say why there is none.

    Newton's method on

    .. math:: \log F_p(\lambda) + \tfrac{l2}{2} |\lambda|^2, \qquad F_p(\lambda) = \sum_{k=1}^K
              \Bigl(\sum_{i=1}^I e^{-(f(x_i) - f(\tilde x_k))}\Bigr)^p, \qquad f = \sum_{j=1}^n \lambda_j h_j,

    which `train` approaches by coordinate descent. Stopped early, `train` regularises; this is where
    it would end.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things where the rankers are callables
        The positive rows, as in `train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. None takes the columns of the data.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    l2 : float
        Weight of the penalty, zero or more. Above zero, a unique minimiser exists whatever the data.
    tol : float
        Stop when the objective is proved to be this close to its infimum, in nats, or as close as
        rounding lets it.
    max_iter : int
        Largest number of Newton steps, each of which counts as ten iterations of L-BFGS.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, as in `train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only, and :math:`F_p` is the sum over groups. Rows
        of a group that has only one side are left out.
    init : array_like, shape (n,), optional
        Coefficients to start from; zero by default. They are halved as long as that lowers the
        objective.
    method : {None, "newton", "lbfgs"}
        None takes Newton's method up to 2000 weak rankers, and beyond that SciPy's L-BFGS, which
        needs no Hessian, and has a certificate only where `l2` is above zero.
    callback : callable, optional
        Called with the trace so far after every step; a true return value stops the run.
    n_threads : int, optional
        Threads that share the passes over the rows, as in `train`.

    Returns
    -------
    lam : ndarray, shape (n,)
        The minimiser; of least norm, by Newton's method, if there are several. On quasi-separable
        data, the minimiser on the rows of the support (see Notes), and `lam` plus a large multiple of
        `trace.direction` is what comes near the infimum over all rows; on separable data, coefficients that put every
        positive at least 1 above every negative.
    trace : Trace
        `gap` is the certificate at the end, `gaps` those on the way, `status` why it ended:
        ``"converged"``, ``"separable"``, ``"max_iter"``, ``"stalled"`` (rounding hides further
        progress), ``"callback"``, or with L-BFGS and no penalty ``"stationary"`` (no edge is above
        `tol`). `message` says the same in a sentence.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; the message names it and the offending row or column.

    See Also
    --------
    train : Coordinate descent, the algorithm of the papers.
    pnorm.diagnostics.certificate : The proof for any coefficients.
    pnorm.diagnostics.report : All that can be said of given coefficients, in words.

    Notes
    -----
    The certificate is that of `pnorm.diagnostics.certificate`. A step costs a few passes over the
    rows and one product for the Hessian, O((I + K) n**2), in blocks; memory beyond the data is
    O(I + K + n**2).

    No minimiser exists where the convex hulls of the outputs on the two sides do not overlap. If they
    miss each other (`status` ``"separable"``, `gap` inf), the infimum of F_p is 0. If they touch
    (``"separable"`` too, the data are quasi-separable), some rows lose all weight along
    `trace.direction`, and the rest, the support, has a minimiser: `lam`, `trace.log_objective` and
    `trace.gap` are those of the support, and :math:`\log F_p(\lambda + s \cdot direction)` of all rows
    falls toward the same value as s grows. A linear program decides, once the Newton steps
    look as though they went on for ever.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Theorem 3.
    .. [2] S. Boyd and L. Vandenberghe, "Convex Optimization", 2004, sections 5.5 and 9.5.

    Examples
    --------
    >>> import pnorm
    >>> pos = [[0.9, 0.2], [0.7, 0.9], [0.3, 0.8]]
    >>> neg = [[0.8, 0.1], [0.2, 0.6], [0.1, 0.3], [0.6, 0.9]]
    >>> lam, trace = pnorm.minimize(pos, neg, p=4)
    >>> trace.status, trace.gap < 1e-10
    ('converged', True)
    """
    p = _checks.power(p)
    l2 = _checks.penalty(l2)
    tol = _checks.tolerance(tol)
    max_iter = _checks.count(max_iter, "max_iter", 0)
    if method is not None:
        _checks.choice(method, "method", ("newton", "lbfgs"))
    callback = _checks.callback(callback)
    rankers = _problem.rankers_of(pos, neg, H)
    n = len(rankers)
    start = None if init is None else _checks.vector(init, "init", n, "one coefficient per weak ranker")
    n_threads = _checks.threads(n_threads)
    with Pool(n_threads, _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg")) as pool:
        problem = _problem.build(
            pos, neg, rankers, push(p), pos_weight, neg_weight, pos_group, neg_group, pool
        ).centred()
        if start is not None:
            f = problem.scores(start)
            _checks.exponents(p, f.pos, f.neg)
        lam, trace, _ = solve(problem, l2, tol, max_iter, start, method, callback)
    return lam, trace


def solve(
    problem: Problem,
    l2: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    init: Vector | None = None,
    method: str | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
) -> tuple[Vector, Trace, Hulls | None]:
    """Minimise a checked problem; the third value is what the linear program said, if it was asked."""
    if method is None:
        method = "newton" if problem.n_rankers <= LARGEST_HESSIAN else "lbfgs"
    run = _Run(problem, l2, tol, max_iter, callback)
    start = np.zeros(problem.n_rankers) if init is None else run.brought_near(init)
    lam, trace = (run.newton if method == "newton" else run.lbfgs)(start)
    return lam, trace, run.found


def _proof(bound: Bound) -> str:
    return f"no certificate: {bound.reason}" if bound.reason else f"its gap is at most {bound.gap:.2g}"


@dataclass
class _Signs:
    """Signs that Newton's method will not end by itself."""

    settled: bool = False
    """Whether the step leaves all weights about as they are."""
    infinite: int = 0
    """Steps in a row that promise nothing but change weights: off the support they divide them by e, for ever."""
    blurred: int = 0
    """Steps in a row that promise nothing and do not shorten the gap, which rounding keeps up."""
    gap: float = math.inf

    def read(self, promised: float, bound: Bound) -> None:
        """Take note of one step."""
        self.settled = bound.least > 0.5 and not bound.reason
        self.infinite = self.infinite + 1 if promised < 1e-6 and not self.settled else 0
        hidden = promised < min(1e-4, 0.01 * bound.gap) and 0.5 * self.gap < bound.gap < math.inf
        self.blurred = self.blurred + 1 if hidden else 0
        self.gap = bound.gap


@dataclass
class _Run:
    """One minimisation: the points so far, and how to go on."""

    problem: Problem
    l2: float
    tol: float
    max_iter: int
    callback: Callable[[Trace], bool | None] | None
    ask: bool = True
    """Whether help may be asked for, once: the linear program, or with a penalty a path of penalties."""
    found: Hulls | None = None
    path: Path = field(default_factory=Path)
    _precise: bool = False
    """Whether scores are formed in twice the working precision from now on."""

    def value(self, point: Point) -> float:
        """log F_p and the penalty."""
        return point.log_f + (0.5 * self.l2 * float(point.lam @ point.lam) if self.l2 else 0.0)

    def _proved(self, gap: float, rounding: float) -> bool:
        """Whether a gap is within the tolerance, or as small as the rounding that is part of it lets it be."""
        return gap <= max(self.tol, 2.0 * rounding)

    def brought_near(self, lam: Vector) -> Vector:
        """Halve a start as long as that lowers the objective: far out it is linear, and every method slow."""
        point = self.problem.point(lam)
        while lam.any() and self.value(half := self.problem.point(0.5 * point.lam)) < self.value(point):
            point = half
        return point.lam

    # Newton's method

    def newton(self, lam: Vector) -> tuple[Vector, Trace]:
        """Newton steps with backtracking; every point with its certificate."""
        problem, p = self.problem, self.problem.objective.p
        signs = _Signs()
        curvature: Curvature | None = None
        projected = False
        since = 0  # the step from which on scores are formed in twice the precision
        point = problem.point(lam)
        while True:
            self.path.replace(self._reached(point))
            if self.l2 == 0.0 and (margin := problem.separation(point)) > 0.0:
                return self._separable(point.lam / margin)
            near = curvature and curvature.at(point.weights)
            curvature = near or Curvature(problem, point.weights, self.l2)
            if curvature.null is not None and not projected:
                projected = True
                if point.lam.any():  # a start of the user's
                    point = problem.point(curvature.null.without(point.lam))
                    continue
            slope = p * curvature.edges - self.l2 * point.lam
            delta = curvature.step(slope)
            point, bound = self._certified(point, curvature, delta)
            self.path.replace(self._reached(point, bound.gap))
            signs.read(float(slope @ delta), bound)

            status, message = self._verdict(bound, signs)
            taken = None if status else self._line_search(point, slope, delta)
            still = taken is None or signs.blurred >= 4
            still = still or (self.path.n_iter >= since + 5 and self.path.still(bound.rounding))
            if not status and still and not point.precise:  # rounding of the scores may be why
                self._precise = True
                point = problem.point(point.lam, precise=True)
                signs.blurred, since = 0, self.path.n_iter
                continue
            if not status and still:
                status, message = "stalled", f"rounding hides any further progress; {_proof(bound)}"
            lost = self.l2 == 0.0 and (signs.infinite >= 3 or status == "stalled")
            if self.ask and (lost or self.path.n_iter >= _DOUBT):
                self.ask = False
                if self.l2 == 0.0:
                    self.found = hulls(problem)
                    if self.found.direction is not None:
                        return self._without_minimiser(self.found, curvature.edges)
                    again = self._verdict(bound, signs)
                    status, message = again if again[0] else (status, message)
                elif not status and problem.margin(point.f) > 0.0:
                    taken = math.nan, problem.point(self._followed())
            if status:
                return self._end(status, message)
            assert taken is not None
            share, point = taken
            if self._step(curvature.edges, share, point):
                return self._end("callback", f"the callback stopped the run after step {self.path.n_iter}")

    def _verdict(self, bound: Bound, signs: _Signs) -> tuple[str, str]:
        """Status and message if the run ends here."""
        if self._proved(bound.gap, bound.rounding) and (signs.settled or self.l2 > 0.0 or not self.ask):
            return "converged", f"{self._name} is within {bound.gap:.2g} of its infimum"
        if self.path.n_iter >= self.max_iter:
            return "max_iter", f"all {self.max_iter} Newton steps were taken; {_proof(bound)}"
        return "", ""

    def _certified(self, point: Point, curvature: Curvature, delta: Vector) -> tuple[Point, Bound]:
        """The certificate; where only the rounding of the scores is above the tolerance, with better scores."""
        bound = certify(self.problem, point, curvature, delta)
        near = bound.gap < 2.0 * max(self.tol, bound.rounding)
        if not point.precise and near and bound.rounding > 0.25 * self.tol:
            self._precise = True
            point = self.problem.point(point.lam, precise=True)
            bound = certify(self.problem, point, curvature, delta)
        return point, bound

    def _followed(self) -> Vector:
        """The minimiser with a large penalty, followed as the penalty falls tenfold at a time.

        On separable data coefficients grow like 1 / l2, and far out the objective has kinks in place
        of curvature. From one penalty to the next, though, it is mostly their scale that changes.
        """
        problem, p = self.problem, self.problem.objective.p
        middle = problem.point(np.zeros(problem.n_rankers))
        largest = p * p * float(np.square(problem.edges(*middle.weights.total)).sum())
        lam = middle.lam
        for k in range(math.ceil(math.log10(max(largest / self.l2, 1.0))), 0, -1):
            penalty = self.l2 * 10.0**k
            lam, _ = _Run(problem, penalty, 1e-3, 50, None, ask=False).newton(lam)
            if problem.margin(problem.scores(lam)) > 0.0:
                lam = 10.0 * lam
        return lam

    def _line_search(self, point: Point, slope: Vector, delta: Vector) -> tuple[float, Point] | None:
        """Halve the Newton step until the objective falls by a share of what its slope promises."""
        promised, before = float(slope @ delta), self.value(point)
        slack = 16.0 * np.finfo(float).eps * (abs(point.log_f) + abs(before) + 1.0)
        p, drift = self.problem.objective.p, self.problem.scores(delta)
        low = min(float(drift.pos.min()), float(drift.neg.min()))
        high = max(float(drift.pos.max()), float(drift.neg.max()))
        share = min(1.0, _FAR / (p * (high - low))) if high > low else 1.0
        shortest = 1e-12 * share
        after = self._at(point, share, delta)
        if self.value(after) <= before - 1e-4 * share * promised + slack:
            while share < 1.0:  # a long way that falls as its slope says: far starts, and separable data with a penalty
                longer = min(1.0, 2.0 * share)
                farther = self._at(point, longer, delta)
                if self.value(farther) > before - 0.4 * longer * promised:
                    break
                share, after = longer, farther
            return share, after
        while share > shortest:
            share *= 0.5
            after = self._at(point, share, delta)
            if self.value(after) <= before - 1e-4 * share * promised + slack:
                return share, after
        return None

    def _at(self, point: Point, share: float, delta: Vector) -> Point:
        return self.problem.point(point.lam + share * delta, self._precise)

    # No minimiser

    def _separable(self, lam: Vector) -> tuple[Vector, Trace]:
        """Every positive above every negative, by at least one: in the place of the last point."""
        self.path.replace(self._reached(self.problem.point(lam), math.inf))
        message = "the coefficients put every positive above every negative: inf F_p is 0 and no minimiser exists"
        return lam, self.path.trace("separable", message, lam)

    def _without_minimiser(self, found: Hulls, edges: Vector) -> tuple[Vector, Trace]:
        """What the linear program has found instead of a minimiser."""
        assert found.direction is not None
        if found.kind != "separable":
            return self._on_support(found)
        lam = found.direction / self.problem.margin(self.problem.scores(found.direction))
        self.path.step(edges, math.nan, self._reached(self.problem.point(lam)))
        return self._separable(lam)

    def _on_support(self, found: Hulls) -> tuple[Vector, Trace]:
        """Where only some pairs keep weight, the minimiser of these and the direction that rids F_p of the rest."""
        pos, neg = np.flatnonzero(found.pos), np.flatnonzero(found.neg)
        support = self.problem.take(pos, neg)
        run = _Run(support, 0.0, self.tol, self.max_iter, self.callback, ask=False)
        lam, trace = run.newton(np.zeros(support.n_rankers))
        message = (
            f"quasi-separable: {pos.size} of {self.problem.n_pos} positives and {neg.size} of {self.problem.n_neg} "
            "negatives keep weight, and F_p falls toward its infimum along `direction` for ever; on these rows "
            f"({trace.status}) {trace.message}"
        )
        return lam, dataclasses.replace(trace, status="separable", message=message, direction=found.direction)

    # L-BFGS

    def lbfgs(self, lam: Vector) -> tuple[Vector, Trace]:
        """SciPy's L-BFGS-B, where the Hessian would be too large; in units of the rankers' ranges."""
        from scipy.optimize import minimize as scipy_minimize

        problem, p = self.problem, self.problem.objective.p
        unit = np.where(problem.constant, 1.0, problem.high - problem.low)
        here = self._first_order(np.where(problem.constant & (self.l2 == 0.0), 0.0, lam))
        latest = here
        verdict = self._judge(*here)

        def value_and_gradient(x: Vector) -> tuple[float, Vector]:
            nonlocal latest
            latest = point, edges = self._first_order(x / unit)
            return self.value(point), (self.l2 * point.lam - p * edges) / unit

        def after_iteration(intermediate_result: Any) -> None:
            nonlocal here, verdict
            if not np.array_equal(latest[0].lam, intermediate_result.x / unit):
                value_and_gradient(intermediate_result.x)
            asked_to_stop = self._step(here[1], math.nan, latest[0])
            here = latest
            verdict = self._judge(*here) or ("callback" if asked_to_stop else "")
            if verdict:
                raise StopIteration

        most = _PER_STEP * self.max_iter
        if not verdict and most:
            options = {"maxiter": most, "maxfun": 20 * most, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}
            done = scipy_minimize(
                value_and_gradient,
                here[0].lam * unit,
                jac=True,
                method="L-BFGS-B",
                callback=after_iteration,
                options=options,
            )
            verdict = verdict or ("max_iter" if done.status == 1 else "stalled")
        point, edges = here
        gap = self.path.points[-1].gap
        if verdict == "separable":
            return self._separable(point.lam / problem.margin(point.f))
        if self.l2 == 0.0 and problem.n_rankers <= LARGEST_HESSIAN:  # the user's wish, not a need
            curvature = Curvature(problem, point.weights)
            point, bound = self._certified(point, curvature, curvature.step(p * curvature.edges))
            gap = bound.gap
            self.path.replace(self._reached(point, gap))
            if verdict != "callback" and self._proved(gap, bound.rounding):
                verdict = "converged"
        proof = "no certificate" if math.isinf(gap) else f"{self._name} is within {gap:.2g} of its infimum"
        message = f"by L-BFGS, without a Hessian: {proof}; the largest edge is {np.abs(edges).max():.2g}"
        if self.l2 == 0.0 and math.isinf(gap):
            message += "; pnorm.diagnostics.separability tells whether there is a minimiser"
        return self._end(verdict or "max_iter", message)

    def _first_order(self, lam: Vector) -> tuple[Point, Vector]:
        point = self.problem.point(lam)
        return point, self.problem.edges(*point.weights.total)

    def _judge(self, point: Point, edges: Vector) -> str:
        """Keep a point of L-BFGS with its certificate, which only a penalty gives without a Hessian."""
        if self.l2 > 0.0:
            gap, rounding = penalised_gap(self.problem, point, edges, self.l2)
            self.path.replace(self._reached(point, gap))
            return "converged" if self._proved(gap, rounding) else ""
        self.path.replace(self._reached(point, math.inf))
        if self.problem.separation(point) > 0.0:
            return "separable"
        return "stationary" if float(np.abs(edges).max()) <= self.tol else ""

    # What is left behind

    @property
    def _name(self) -> str:
        return "log F_p" if self.l2 == 0.0 else "log F_p with its penalty"

    def _reached(self, point: Point, gap: float = math.nan) -> Reached:
        return Reached(point.lam, point.log_f, point.log_mass, self.value(point), gap)

    def _step(self, edges: Vector, share: float, after: Point) -> bool:
        """Keep one step; whether the callback asks to stop."""
        self.path.step(edges, share, self._reached(after))
        if self.callback is None:
            return False
        return bool(self.callback(self.path.trace("running", f"after step {self.path.n_iter}")))

    def _end(self, status: str, message: str) -> tuple[Vector, Trace]:
        if self.found is not None and self.found.kind == "undecided":
            message += "; whether the data are separable could not be decided"
        return self.path.points[-1].lam.copy(), self.path.trace(status, message)
