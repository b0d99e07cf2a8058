"""The exact minimiser of the P-Norm Push objective, and the proof that it is one."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnorm import _checks, _problem
from pnorm._blocks import Pool
from pnorm._certificate import Bound, certify, penalised_gap
from pnorm._checks import Vector
from pnorm._composed import objective_of
from pnorm._curvature import Curvature, whitening
from pnorm._losses import Loss, work
from pnorm._prices import Price
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

_MEMORY = 20
"""Steps that L-BFGS remembers."""

_PATIENCE = 10
"""Steps in a row that do not shorten the gradient by a tenth after which it is as short as it gets."""

_HALVINGS = 200
"""Halvings of a start, at most."""

_FADED = 1e-6
"""Share of the largest weight of a row below which another may be on its way to zero."""


def minimize(
    pos: Any,
    neg: Any,
    H: Any = None,
    p: float = 1.0,
    *,
    l2: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
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
    loss, price, smoothing : as in `train`
        Another objective than F_p, minimised by L-BFGS (see Notes).
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
        `tol`, or `tol` times its range where that is below one). `message` says the same in a
        sentence. `gradient_norm` is that of the objective's gradient.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; the message names it and the offending row or column.
    OverflowError
        If the objective at `init` is more than a double holds even in logarithms.

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

    With another loss or price, SciPy's L-BFGS minimises what is convex of

    .. math:: R = \sum_k \tilde c_k\, g\Bigl(\sum_i c_i\, \ell\bigl(f(x_i) - f(\tilde x_k)\bigr)\Bigr),

    that is :math:`R^{1/p}` for the price ``Power(p)`` (log R is not convex unless the loss is exponential),
    log R for the exponential price, and R for a price of your own, plus :math:`\tfrac{l2}{2} |\lambda|^2`.
    With a penalty, :math:`|\nabla|^2 / (2\, l2)` is a certificate and the status ``"converged"``; without one,
    there is none, and ``"stationary"`` says that no edge is above `tol`, which makes it the minimum where the
    price never falls. With a price that falls somewhere it is a stationary point, and the message calls it
    one. The hinge has corners, where L-BFGS is lost: give it a `smoothing`. Losses that come down to zero
    have a minimiser on separable data too, where R is zero.

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
    make = objective_of(_checks.power(p), price, loss, smoothing)
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
    with Pool(n_threads, work(loss, _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg"))) as pool:
        problem = _problem.build(pos, neg, rankers, make, pos_weight, neg_weight, pos_group, neg_group, pool).centred()
        _suits(problem, method)
        if start is not None:
            f = problem.scores(start)
            _checks.exponents(problem.objective.p, f.pos, f.neg)
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
        method = "newton" if problem.n_rankers <= LARGEST_HESSIAN and problem.objective.factored else "lbfgs"
    run = _Run(problem, l2, tol, max_iter, callback)
    start = np.zeros(problem.n_rankers) if init is None else run.brought_near(init)
    lam, trace = (run.newton if method == "newton" else run.lbfgs)(start)
    return lam, trace, run.found


def _suits(problem: Problem, method: str | None) -> None:
    """Refuse what an objective other than F_p does not let `minimize` do."""
    corners = problem.objective.corners
    if corners:
        named = corners == "loss 'hinge'"
        remedy = "give it smoothing=0.1, say, or take 'squared_hinge'" if named else "take a smooth one"
        raise ValueError(f"{corners} has corners, where minimize is lost: {remedy}; pnorm.train takes it as it is")
    if method == "newton" and not problem.objective.factored:
        raise ValueError("method 'newton' is for the exponential loss with a power price; leave method out")


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


class _Coordinates:
    """Coefficients as lam = start + root @ x: those in which L-BFGS works."""

    def __init__(self, problem: Problem, start: Vector, l2: float) -> None:
        """Columns in units of their ranges, or where there may be n**2 numbers, such that all pairs differ alike.

        The curvature of any loss along a direction is about that of the square, so that a few steps do
        where columns are correlated: on 4,000 rows and 50 mixed columns 15, where ranges alone took 400.
        """
        self._start = np.where(problem.constant & (l2 == 0.0), 0.0, start)
        self._root: Any = 1.0 / np.where(problem.constant, 1.0, problem.high - problem.low)
        if problem.n_rankers <= LARGEST_HESSIAN and not problem.objective.factored:
            self._root = whitening(problem, l2)
        self.size = self._root.shape[-1]

    def lam(self, x: Vector) -> Vector:
        """The coefficients at x."""
        return np.asarray(self._start + (self._root * x if self._root.ndim == 1 else self._root @ x))

    def slope(self, slope: Vector) -> Vector:
        """A gradient by the coefficients as one by x."""
        return np.asarray(slope * self._root if self._root.ndim == 1 else self._root.T @ slope)


@dataclass(frozen=True, eq=False)
class _FirstOrder:
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
    path: Path = field(init=False)
    _precise: bool = False
    """Whether scores are formed in twice the working precision from now on."""

    def __post_init__(self) -> None:
        self.path = Path(self.problem.objective.symbol)

    def value(self, point: Point) -> float:
        """What is convex, and the penalty."""
        return self.problem.objective.convex(point.log_f)[0] + (
            0.5 * self.l2 * float(point.lam @ point.lam) if self.l2 else 0.0
        )

    def _proved(self, gap: float, rounding: float) -> bool:
        """Whether a gap is within the tolerance, or as small as the rounding that is part of it lets it be."""
        return gap <= max(self.tol, 2.0 * rounding)

    def brought_near(self, lam: Vector) -> Vector:
        """Halve a start as long as that lowers the objective: far out it is linear, and every method slow."""
        point = self.problem.point(lam)
        for _ in range(_HALVINGS):
            if not lam.any() or not self.value(half := self.problem.point(0.5 * point.lam)) < self.value(point):
                break
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
            self.path.replace(self._reached(point, bound.gap, slope))
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
        message = "the coefficients put every positive above every negative: "
        message += ("inf F_p is 0 and " if self.problem.objective.factored else "") + "no minimiser exists"
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
        lam, trace = (run.newton if support.objective.factored else run.lbfgs)(np.zeros(support.n_rankers))
        message = (
            f"quasi-separable: {pos.size} of {self.problem.n_pos} positives and {neg.size} of {self.problem.n_neg} "
            f"negatives keep weight, and {self._what} falls toward its infimum along `direction` for ever; on these "
            f"rows ({trace.status}) {trace.message}"
        )
        trace = dataclasses.replace(trace, status="separable", message=message, direction=found.direction)
        return lam, trace if support.objective.factored else self._with_the_rest(trace, neg)

    def _with_the_rest(self, trace: Trace, neg: Any) -> Trace:
        """Of a price that charges even a height of zero, what the negatives off the support pay for ever."""
        objective = self.problem.objective
        off = np.ones(self.problem.n_neg, bool)
        off[neg] = False
        rest = objective.log_price_of_none(off)
        log_r = np.logaddexp(trace.log_objective, rest)
        values = np.array([objective.convex(float(x))[0] for x in log_r])
        return dataclasses.replace(trace, log_objective=log_r, _objective=values)

    # L-BFGS

    def lbfgs(self, lam: Vector) -> tuple[Vector, Trace]:
        """SciPy's L-BFGS-B, where there is no Hessian or it would be too large; in units of the rankers' ranges."""
        from scipy.optimize import minimize as scipy_minimize

        where = _Coordinates(self.problem, lam, self.l2)
        latest = here = self._first_order(where, np.zeros(where.size))
        moves: deque[tuple[Vector, Vector]] = deque(maxlen=_MEMORY)
        verdict = self._judge(here)

        def value_and_gradient(x: Vector) -> tuple[float, Vector]:
            nonlocal latest
            try:
                latest = self._first_order(where, x)
            except OverflowError:  # a wall: seven times as steep as the way down to here
                away = x - here.x
                steep = abs(float(here.down @ away))
                return self.value(here.point) + 3.0 * steep, (7.0 * steep / float(away @ away)) * away
            return self.value(latest.point), -latest.down

        def go_to(after: _FirstOrder) -> None:
            nonlocal here, verdict
            asked_to_stop = self._step(here.edges, math.nan, after.point)
            moves.append((after.x - here.x, here.down - after.down))
            here = after
            verdict = self._judge(here) or ("callback" if asked_to_stop else "")

        def after_iteration(intermediate_result: Any) -> None:
            if not np.array_equal(latest.x, intermediate_result.x):
                value_and_gradient(intermediate_result.x)
            go_to(latest)
            if verdict:
                raise StopIteration

        most = _PER_STEP * self.max_iter
        if not verdict and most:
            before = math.nan
            # What it remembers of uneven ground may mislead it: it begins again as long as that helps.
            while not verdict and self.path.n_iter < most and not self.value(here.point) >= before:
                before = self.value(here.point) - 1e-12 * abs(self.value(here.point))
                left = most - self.path.n_iter
                options = {"maxiter": left, "maxfun": 20 * left, "maxcor": _MEMORY, "ftol": 0.0, "gtol": 0.0}
                scipy_minimize(
                    value_and_gradient, here.x, jac=True, method="L-BFGS-B", callback=after_iteration, options=options
                )
            stopped = "max_iter" if self.path.n_iter >= most else "stalled"
            # Where values are too alike to tell more, the same steps go on as long as they shorten the gradient.
            best, fruitless = here, 0
            while not verdict and stopped == "stalled" and fruitless < _PATIENCE and self.path.n_iter < most:
                after = self._next(where, here, moves)
                if after is None or after.steepness > 4.0 * best.steepness:
                    break
                go_to(after)
                fruitless = 0 if after.steepness < 0.9 * best.steepness else fruitless + 1
                best = min(best, after, key=lambda point: point.steepness)
            if best is not here and not verdict and stopped == "stalled":
                go_to(best)
            verdict = verdict or stopped
        return self._finished(here, verdict or "max_iter")

    def _next(self, where: _Coordinates, here: _FirstOrder, moves: deque[tuple[Vector, Vector]]) -> _FirstOrder | None:
        """One more step of L-BFGS, without a line search."""
        from scipy.optimize import LbfgsInvHessProduct

        pairs = [(s, y) for s, y in moves if float(s @ y) > 0.0 and float(y @ y) > 1e-12 * here.steepness**2 > 0.0]
        if not pairs:
            return None
        s, y = (np.array(part) for part in zip(*pairs, strict=True))
        scale = math.sqrt(float(s[-1] @ y[-1]) / float(y[-1] @ y[-1]))  # SciPy's product starts from the identity
        inverse = LbfgsInvHessProduct(s / scale, y * scale)
        try:
            return self._first_order(where, here.x + scale * inverse.matvec(scale * here.down))
        except OverflowError:
            return None

    def _finished(self, here: _FirstOrder, verdict: str) -> tuple[Vector, Trace]:
        """The end of L-BFGS: what can be proved, and what can be said where there is no minimiser."""
        problem, objective, point = self.problem, self.problem.objective, here.point
        if verdict == "separable":
            return self._separable(point.lam / problem.margin(point.f))
        if verdict == "converged" and self.l2 == 0.0:
            return self._end(verdict, f"{self._what} is as small as it gets")
        gap = self.path.points[-1].gap
        not_needed = objective.factored and problem.n_rankers <= LARGEST_HESSIAN  # but the user's wish
        if self.l2 == 0.0 and not_needed:
            curvature = Curvature(problem, point.weights)
            point, bound = self._certified(point, curvature, curvature.step(objective.p * curvature.edges))
            gap = bound.gap
            self.path.replace(self._reached(point, gap, here.slope))
            if verdict != "callback" and self._proved(gap, bound.rounding):
                verdict = "converged"
        elif self._may_lack_a_minimiser(point) and verdict != "callback":
            self.ask = False
            self.found = hulls(problem)
            if self.found.direction is not None:
                return self._without_minimiser(self.found, here.edges)
        proof = "no certificate" if math.isinf(gap) else f"{self._name} is within {gap:.2g} of its infimum"
        norm = float(np.linalg.norm(here.slope))
        message = (
            f"by L-BFGS, without a Hessian: {proof}; the largest edge is {np.abs(here.edges).max():.2g}, the norm of "
            f"the gradient of {self._name} {norm:.2g}"
        )
        if not objective.is_convex:
            message += "; the price falls somewhere, so this is a stationary point at best and need not be a minimum"
        elif self.l2 == 0.0 and math.isinf(gap) and objective.factored:
            message += "; pnorm.diagnostics.separability tells whether there is a minimiser"
        return self._end(verdict, message)

    def _may_lack_a_minimiser(self, point: Point) -> bool:
        """Whether some rows have lost all weight, as they do where the way to the infimum goes on for ever."""
        objective = self.problem.objective
        if not self.ask or self.l2 > 0.0 or objective.factored or objective.margin is None or objective.vanishes:
            return False
        if not objective.fades:  # the support would not be left alone
            return False
        return any(float(part.min()) < _FADED * float(part.max()) for part in point.weights.total)

    def _first_order(self, where: _Coordinates, x: Vector) -> _FirstOrder:
        lam = where.lam(x)
        point = self.problem.point(lam)
        edges = self.problem.edges(*point.weights.total)
        factor = self.problem.objective.convex(point.log_f)[1] if point.rate > 0.0 else 0.0
        slope = factor * point.rate * edges - self.l2 * lam
        return _FirstOrder(point, edges, slope, x.copy(), where.slope(slope))

    def _judge(self, here: _FirstOrder) -> str:
        """Keep a point of L-BFGS with its certificate, which only a penalty gives without a Hessian."""
        problem, objective, point = self.problem, self.problem.objective, here.point
        gap = math.inf
        if self.l2 > 0.0 and objective.is_convex:
            gap, rounding = penalised_gap(problem, point, here.edges, self.l2)
            self.path.replace(self._reached(point, gap, here.slope))
            return "converged" if self._proved(gap, rounding) else ""
        if self.l2 == 0.0 and objective.margin is not None and (margin := problem.separation(point)) > 0.0:
            if not objective.vanishes:
                return "separable"
            scale = objective.margin / margin * (1.0 + 1e-12)
            self.path.replace(self._reached(problem.point(point.lam * scale), 0.0, np.zeros_like(here.slope)))
            return "converged"
        if point.log_f == -math.inf and self.l2 == 0.0:
            self.path.replace(self._reached(point, 0.0, np.zeros_like(here.slope)))
            return "converged"
        self.path.replace(self._reached(point, gap, here.slope))
        factor = point.rate * objective.convex(point.log_f)[1]
        unit = np.minimum(problem.high - problem.low, 1.0)  # however small a column, its edge is smaller
        return "stationary" if (np.abs(here.slope) <= self.tol * factor * unit).all() else ""

    # What is left behind

    @property
    def _what(self) -> str:
        return self.problem.objective.symbol.removeprefix("log ")

    @property
    def _name(self) -> str:
        form = self.problem.objective.convex_form
        return form if self.l2 == 0.0 else f"{form} with its penalty"

    def _reached(self, point: Point, gap: float = math.nan, slope: Vector | None = None) -> Reached:
        norm = math.nan if slope is None else float(np.linalg.norm(slope))
        return Reached(point.lam, point.log_f, point.log_mass, self.value(point), gap, norm)

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
