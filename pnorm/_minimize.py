"""The exact minimiser of the P-Norm Push objective, and the proof that it is one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._blas import calm
from pnorm._checks import Vector
from pnorm._solvers.certificate import Bound, certify, far_gap
from pnorm._solvers.hessian import LARGEST_HESSIAN, Curvature
from pnorm._solvers.lbfgs import PER_STEP, Lbfgs
from pnorm._solvers.margin import widest
from pnorm._solvers.problem import Point, Problem, build, rankers_of
from pnorm._solvers.separability import Hulls, hulls
from pnorm._solvers.start import start_of
from pnorm._threads import Pool
from pnorm._trace import History, Iterate, Trace, attach_trace, progress_range
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price

_DOUBT = 25
"""Newton steps without convergence after which it is asked whether there is a minimiser, and where."""

_FAR = 100.0
"""Change of an exponent in one step beyond which the Hessian where it begins says nothing about its end."""

_HALVINGS = 200
"""Halvings of a start, at most."""


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
    progress: bool = False,
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
        Weight of the penalty, zero or at least 1e-140. Above zero, a unique minimiser exists whatever the data.
        What it is added to has other units for each price and loss (see Notes), so that the same
        weight is not the same penalty.
    tol : float
        Stop when the objective is proved to be this close to its infimum, in its own units (nats
        for log F_p), or as close as rounding lets that be proved: some 1e-14 of the objective, or of p times the
        largest sum of terms in a score. `trace.gap` is what was proved; where it is more than `tol`, `trace.message`
        says so.
    max_iter : int
        Largest number of Newton steps, each of which counts as ten iterations of L-BFGS.
    loss, price, smoothing : as in `train`
        Another objective than F_p, minimised by L-BFGS (see Notes).
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, as in `train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only, and :math:`F_p` is the sum over groups. Rows
        of a group that has only one side are left out.
    init : Trace, ScoringFunction or array_like, shape (n,), optional
        Coefficients to start from, as in `train`; zero by default. They are halved as long as that lowers the
        objective.
    method : {None, "newton", "lbfgs"}
        None takes Newton's method up to 2000 weak rankers, and beyond that SciPy's L-BFGS, which
        needs no Hessian, and has a certificate only where `l2` is above zero.
    callback : callable, optional
        Called with the trace so far after every step; a true return value stops the run.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``. Most runs end long before it is full.
    n_threads : int, optional
        Threads that share the passes over the rows, as in `train`. Those of BLAS are others: up to 128 weak rankers
        the run asks for one, if threadpoolctl is installed (scikit-learn brings it). Without that, on a machine with
        much else to do, set the variable ``OPENBLAS_NUM_THREADS=1`` before Python starts.

    Returns
    -------
    lam : ndarray, shape (n,)
        The minimiser; of least norm, by Newton's method, if there are several. On quasi-separable
        data, the minimiser on the rows of the support (see Notes), and `lam` plus a large multiple of
        `trace.direction` is what comes near the infimum over all rows; on separable data, the coefficients of
        the widest margin (see Notes), which put every positive at least 1 above every negative.
    trace : Trace
        `gap` is the certificate at the end, `gaps` those on the way, `status` why it ended:
        ``"converged"`` (within `tol`, or as close as rounding lets be proved), ``"separable"``,
        ``"max_iter"``, ``"stalled"`` (rounding hides further progress), ``"callback"``, or
        with L-BFGS and no penalty ``"stationary"`` (no edge is above `tol`, or `tol` times its range where that is
        below one). `message` says the same in a sentence. `gradient_norm` is that of the objective's gradient.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or a column so large that its square is no number; the message names it and
        the offending row or column.
    OverflowError
        If the objective at `init` is more than a double holds even in logarithms.
    BaseException
        What the callback raises, or Ctrl-C, at once and as it is, with the trace so far as its attribute `trace`, as
        in `train`.
    ImportError
        If `progress` is asked for and tqdm is missing.

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

    Of all coefficients that put every positive at least 1 above every negative, `lam` is the shortest on separable
    data, each counted in units of one over the range of its column,

    .. math:: \min_\lambda \sum_j (\lambda_j \cdot range_j)^2 \quad \text{subject to} \quad
              f(x_i) - f(\tilde x_k) \ge 1,

    a support vector machine without slack [3]_. There is one such answer, whatever the weights, copies and order of
    the rows, the units of the columns, p, and the method; it is found to nine digits or more. With :math:`l2 > 0` the
    minimiser goes along the one of this kind that counts coefficients as they are, as `l2` falls toward zero [4]_.

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
    .. [3] C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", 1974, chapter 23, for how it is found.
    .. [4] S. Rosset, J. Zhu, T. Hastie, "Boosting as a Regularized Path to a Maximum Margin Classifier", Journal of
       Machine Learning Research 5, 2004.

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
    l2 = _checks.nonnegative(l2, "l2")
    tol = _checks.nonnegative(tol, "tol")
    max_iter = _checks.count(max_iter, "max_iter", 0)
    if method is not None:
        _checks.choice(method, "method", ("newton", "lbfgs"))
    callback = _checks.callback(callback)
    rankers = rankers_of(pos, neg, H)
    start = None if init is None else start_of(init, rankers)
    n_threads = _checks.threads(n_threads)
    with Pool(n_threads, work(loss, _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg"))) as pool:
        problem = build(pos, neg, rankers, make, pos_weight, neg_weight, pos_group, neg_group, pool).centred()
        suits(problem, method)
        if start is not None:
            f = problem.scores(start)
            _checks.exponents(problem.objective.p, f.pos, f.neg)
        lam, trace, _ = solve(problem, l2, tol, max_iter, start, method, callback, progress)
    return lam, trace


def solve(
    problem: Problem,
    l2: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    init: Vector | None = None,
    method: str | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
    progress: bool = False,
) -> tuple[Vector, Trace, Hulls | None]:
    """Minimise a checked problem; the third value is what the linear program said, if it was asked."""
    problem.check_magnitudes(l2, init)
    if method is None:
        method = "newton" if problem.n_rankers <= LARGEST_HESSIAN and problem.objective.factored else "lbfgs"
    steps = iter(progress_range(max_iter if method == "newton" else PER_STEP * max_iter, progress, "step"))
    next(steps, None)  # the first step is under way
    run = _Run(problem, l2, tol, max_iter, callback, steps)
    with calm(problem.n_rankers), attach_trace(run.path.trace):
        start = np.zeros(problem.n_rankers) if init is None else run.brought_near(init)
        lam, trace = (run.newton if method == "newton" else run.lbfgs)(start)
    return lam, trace, run.found


def suits(problem: Problem, method: str | None) -> None:
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


@dataclass
class _Run:
    """One minimisation: the points so far, and how to go on."""

    problem: Problem
    l2: float
    tol: float
    max_iter: int
    callback: Callable[[Trace], bool | None] | None
    steps: Iterator[int]
    """Counts steps for whoever watches."""
    ask: bool = True
    """Whether help may be asked for, once: the linear program, or with a penalty a path of penalties."""
    found: Hulls | None = None
    path: History = field(init=False)
    _floor: float = -math.inf
    """A value that the nearest points of the hulls have proved no coefficients to be below."""
    _precise: bool = False
    """Whether scores are formed in twice the working precision from now on."""

    def __post_init__(self) -> None:
        self.path = History(self.problem.objective.symbol, self.problem.names)

    def value(self, point: Point) -> float:
        """What is convex, and the penalty."""
        with np.errstate(over="ignore"):  # a line search may look too far
            penalty = 0.5 * self.l2 * float(point.lam @ point.lam) if self.l2 else 0.0
        return self.problem.objective.convex(point.log_f)[0] + penalty

    def proved(self, gap: float, rounding: float) -> bool:
        """Whether a gap is within the tolerance, or as small as the rounding that is part of it lets it be."""
        return gap <= max(self.tol, 2.0 * rounding)

    def within(self, gap: float) -> str:
        """What a certificate says."""
        said = f"{self.name} is within {gap:.2g} of its infimum"
        return said if gap <= self.tol else f"{said}, and rounding hides whether it is within tol={self.tol:.2g}"

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
            self.path.replace(self.reached(point))
            if self.l2 == 0.0 and problem.separation(point) > 0.0:
                return self.separable(point.lam)
            near = curvature and curvature.at(point.weights)
            curvature = near or Curvature(problem, point.weights, self.l2)
            if curvature.null is not None and not projected:
                projected = True
                if point.lam.any():  # a start of the user's
                    point = problem.point(curvature.null.without(point.lam))
                    continue
            slope = p * curvature.edges - self.l2 * point.lam
            delta = curvature.step(slope)
            point, bound = self.certified(point, curvature, delta)
            if (above := self.value(point) - self._floor + bound.rounding) < bound.gap:
                bound = dataclasses.replace(bound, gap=above)
            self.path.replace(self.reached(point, bound.gap, slope))
            signs.read(float(slope @ delta), bound)

            status, message = self._verdict(bound, signs)
            taken = None if status else self._line_search(point, slope, delta)
            still = taken is None or signs.blurred >= 4
            still = still or (self.path.n_iter >= since + 5 and self.path.is_flat(bound.rounding))
            if not status and still and not point.precise:  # rounding of the scores may be why
                self._precise = True
                point = problem.point(point.lam, precise=True)
                signs.blurred, since = 0, self.path.n_iter
                continue
            if not status and still:
                status, message = "stalled", f"rounding hides any further progress; {_proof(bound)}"
            lost = status == "stalled" or (self.l2 == 0.0 and signs.infinite >= 3)
            if self.ask and (lost or self.path.n_iter >= _DOUBT):
                self.ask = False
                if self.l2 == 0.0:
                    self.found = hulls(problem, point.weights)
                    if self.found.direction is not None:
                        return self.without_minimiser(self.found, curvature.edges)
                    again = self._verdict(bound, signs)
                    status, message = again if again[0] else (status, message)
                elif status in ("", "stalled") and problem.separation(point) > 0.0:
                    far, between = self._far_out(point.lam)
                    best = min(far, problem.point(point.lam, precise=True), key=self.value)
                    gap, rounding = (math.inf, 0.0) if between is None else far_gap(problem, best, between, self.l2)
                    self._floor = self.value(best) - gap
                    if self.proved(gap, rounding):
                        self.path.add(curvature.edges, math.nan, self.reached(best, gap))
                        return self.end("converged", self.within(gap))
                    if best is far:
                        status, message, taken = "", "", (math.nan, far)
            if status:
                return self.end(status, message)
            assert taken is not None
            share, point = taken
            if self.step(curvature.edges, share, point):
                return self.end("callback", f"the callback stopped the run after step {self.path.n_iter}")

    def _verdict(self, bound: Bound, signs: _Signs) -> tuple[str, str]:
        """Status and message if the run ends here."""
        if self.proved(bound.gap, bound.rounding) and (signs.settled or self.l2 > 0.0 or not self.ask):
            return "converged", self.within(bound.gap)
        if self.path.n_iter >= self.max_iter:
            return "max_iter", f"all {self.max_iter} Newton steps were taken; {_proof(bound)}"
        return "", ""

    def certified(self, point: Point, curvature: Curvature, delta: Vector) -> tuple[Point, Bound]:
        """The certificate; where only the rounding of the scores is above the tolerance, with better scores."""
        bound = certify(self.problem, point, curvature, delta)
        near = bound.gap < 2.0 * max(self.tol, bound.rounding)
        if not point.precise and near and bound.rounding > 0.25 * self.tol:
            self._precise = True
            point = self.problem.point(point.lam, precise=True)
            bound = certify(self.problem, point, curvature, delta)
        return point, bound

    def _far_out(self, lam: Vector) -> tuple[Point, Vector | None]:
        """Where the minimiser is to a few units of the scores, and the shortest way between the hulls.

        With a small penalty and coefficients that separate, log F_p is about -p times their margin, and the widest
        margin is best.
        Rows on the margin begin level: what is left to do is to give them their weights, to twice the precision.
        """
        found = widest(self.problem, lam, np.where(self.problem.constant, 0.0, 1.0))
        self._precise = True
        length = self.problem.objective.p / (self.l2 * float(found.lam @ found.lam))
        return self.problem.point(length * found.lam, precise=True), found.between

    def _line_search(self, point: Point, slope: Vector, delta: Vector) -> tuple[float, Point] | None:
        """Halve the Newton step until the objective falls by a share of what its slope promises."""
        promised, before = float(slope @ delta), self.value(point)
        slack = 16.0 * np.finfo(float).eps * (abs(point.log_f) + abs(before) + 1.0)
        p, span = self.problem.objective.p, self.problem.span_of(delta)
        share = min(1.0, _FAR / (p * span)) if span > 0.0 else 1.0
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

    def separable(self, lam: Vector) -> tuple[Vector, Trace]:
        """Every positive above every negative: in the place of the last point, the widest margin.

        Whatever separates first depends on rounding, on weights and on copies of rows. This does not.
        """
        found = widest(self.problem, lam, self.problem.unit_coefficients())
        lam = found.lam
        self.path.replace(self.reached(self.problem.point(lam), math.inf))
        message = "the coefficients put every positive above every negative: "
        message += ("inf F_p is 0 and " if self.problem.objective.factored else "") + "no minimiser exists"
        if found.between is None:
            message += "; rounding hides which have the widest margin"
        return lam, self.path.trace("separable", message, lam)

    def without_minimiser(self, found: Hulls, edges: Vector) -> tuple[Vector, Trace]:
        """What the linear program has found instead of a minimiser."""
        assert found.direction is not None
        if found.kind != "separable":
            return self._on_support(found)
        self.path.add(edges, math.nan, self.reached(self.problem.point(found.direction)))
        return self.separable(found.direction)

    def _on_support(self, found: Hulls) -> tuple[Vector, Trace]:
        """Where only some pairs keep weight, the minimiser of these and the direction that rids F_p of the rest."""
        pos, neg = np.flatnonzero(found.pos), np.flatnonzero(found.neg)
        support = self.problem.take(pos, neg)
        run = _Run(support, 0.0, self.tol, self.max_iter, self.callback, self.steps, ask=False)
        lam, trace = (run.newton if support.objective.factored else run.lbfgs)(np.zeros(support.n_rankers))
        message = (
            f"quasi-separable: {pos.size} of {self.problem.n_pos} positives and {neg.size} of {self.problem.n_neg} "
            f"negatives keep weight, and {self.what} falls toward its infimum along `direction` for ever; on these "
            f"rows ({trace.status}) {trace.message}"
        )
        trace = dataclasses.replace(trace, status="separable", message=message, direction=found.direction)
        return lam, self._with_the_rest(trace, neg)

    def _with_the_rest(self, trace: Trace, neg: Any) -> Trace:
        """Of a price that charges even a height of zero, what the negatives off the support pay for ever."""
        objective = self.problem.objective
        off = np.ones(self.problem.n_neg, bool)
        off[neg] = False
        rest = objective.log_price_of_none(off)
        log_r = np.logaddexp(trace.log_objective, rest)
        values = np.array([objective.convex(float(x))[0] for x in log_r])
        return dataclasses.replace(trace, log_objective=log_r, _objective=values)

    def lbfgs(self, lam: Vector) -> tuple[Vector, Trace]:
        """L-BFGS, where there is no Hessian or it would be too large."""
        return Lbfgs(self, lam).descend()

    # What is left behind

    @property
    def what(self) -> str:
        return self.problem.objective.symbol.removeprefix("log ")

    @property
    def name(self) -> str:
        form = self.problem.objective.convex_form
        return form if self.l2 == 0.0 else f"{form} with its penalty"

    def reached(self, point: Point, gap: float = math.nan, slope: Vector | None = None) -> Iterate:
        norm = math.nan if slope is None else float(np.linalg.norm(slope))
        return Iterate(point.lam, point.log_f, point.log_mass, self.value(point), gap, norm)

    def step(self, edges: Vector, share: float, after: Point) -> bool:
        """Keep one step; whether the callback asks to stop."""
        self.path.add(edges, share, self.reached(after))
        next(self.steps, None)
        return self.path.stopped_by(self.callback)

    def end(self, status: str, message: str) -> tuple[Vector, Trace]:
        if self.found is not None and self.found.kind == "undecided":
            message += "; whether the data are separable could not be decided"
        return self.path.last.lam.copy(), self.path.trace(status, message)
