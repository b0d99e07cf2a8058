r"""Ranking in a reproducing kernel Hilbert space, by gradient descent on the mean loss over all pairs.

A kernel K makes functions :math:`f = \sum_r a_r K(x_r, \cdot)` of the training rows, with the inner product
:math:`\langle K_x, K_{x'} \rangle = K(x, x')`: no linear function of the columns has to put good above bad. Chen,
He and Pan [1]_ lower

.. math:: E_S(f) + \frac\lambda2 \|f\|_K^2, \qquad
          E_S(f) = \frac1{mn} \sum_{i=1}^m \sum_{j=1}^n \phi\bigl(f(x_i^+) - f(x_j^-)\bigr),

by steps against its gradient, and prove how fast that approaches the best function. `train` takes these steps, each
at the cost of one sum over pairs, which needs a sort and no pairs, and one product with the Gram matrix; `minimize`
goes to the minimum by Newton's method; `schedule` says which steps the theorem is about. `pnorm.bounds` computes what
is proved of them. `train` and `minimize` take a power p, as in the P-Norm Push: the mean over the negatives is then a
power mean.

References
----------
.. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
   Journal of Applied Mathematics 2012, 189753.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from pnorm import _checks
from pnorm._blas import dot
from pnorm._checks import Vector
from pnorm._threads import Pool
from pnorm._trace import attach_trace, progress_range
from pnorm.kernel import _kernels, _spaces
from pnorm.kernel._model import Approximation, Model
from pnorm.kernel._problem import Problem, Push, make_problem
from pnorm.kernel._trace import Descent, DescentRecorder
from pnorm.objectives._base import Make
from pnorm.objectives._growth import largest_difference, largest_step, theorem
from pnorm.objectives._losses import LOSSES, Loss, loss_of
from pnorm.objectives._pair_loss import PairLoss
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Exponential, Power, Price

__all__ = ["Approximation", "Descent", "Model", "Schedule", "minimize", "schedule", "train"]

_EPS = float(np.finfo(float).eps)

_FEW = 32
"""Coordinates up to which eigenvalues are those of a matrix that is formed."""

_MARGIN = 1.01
"""Safety factor for an eigenvalue that was found by iteration."""

_FIRST = 64.0
"""The first step that is tried with a price, in steps of the lemma."""

_IDLE = 3
"""Newton steps without progress after which the run has stalled."""

_NEWTON = 32.0
"""Bytes per pair of rows that Newton's method needs at most; measured."""

_PUSH = 24.0
"""Further ones with a price."""

_REFRESH = 64
"""Steps after which scores are computed from the coefficients again, so that rounding does not add up."""

_MEMORY = 2**31
"""Default limit on the bytes of a Gram matrix; 23,000 rows reach it."""


def _penalty(lam: Any) -> float:
    value = _checks.squared(_checks.positive(lam, "lam"), "lam")
    if value < 1.0 / _checks.ROOT:
        raise ValueError(f"lam must be at least {1.0 / _checks.ROOT:g}; got {value:g}")
    return value


# Gradient descent -------------------------------------------------------------------------------------


def train(
    pos: Any,
    neg: Any,
    kernel: Any = "rbf",
    loss: str | Loss = "logistic",
    *,
    p: float = 1.0,
    price: Price | None = None,
    lam: float = 0.01,
    eta: float | None = None,
    theta: float = 0.0,
    t_max: int = 200,
    landmarks: Any = None,
    average: bool = False,
    tol: float = 1e-10,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    memory_limit: float = _MEMORY,
    seed: Any = 0,
    callback: Callable[[Descent], bool | None] | None = None,
    progress: bool = False,
    n_threads: int | None = None,
    **kernel_params: Any,
) -> tuple[Model, Descent]:
    r"""Learn a ranking function in the space of a kernel, by gradient descent on the mean loss over all pairs.

    .. math:: f_{t+1} = (1 - \eta_t \lambda) f_t - \frac{\eta_t}{mn} \sum_{i=1}^m \sum_{j=1}^n
              \phi'_-\bigl(f_t(x_i^+) - f_t(x_j^-)\bigr) (K_{x_i^+} - K_{x_j^-}), \qquad f_1 = 0,

    with steps :math:`\eta_t = \eta\, t^{-\theta}` and the left derivative of the loss. These steps lower
    :math:`E_S(f) + \frac\lambda2 \|f\|_K^2`, not the :math:`E_S(f) + \lambda \|f\|_K^2` that the paper prints as (1.3):
    for the minimiser of that, double `lam`.

    Parameters
    ----------
    pos, neg : array_like, shape (m, d) and (n, d), or sequences of things for a kernel of things
        The positive and the negative rows: dense, sparse, or data frames. Columns should be of one scale, around zero:
        ``(X - X.mean(axis=0)) / X.std(axis=0)``. With ``kernel="precomputed"``, the rows of
        the Gram matrix, (m, m + n) and (n, m + n), positives first.
    kernel : {"rbf", "laplacian", "polynomial", "linear", "precomputed"}, callable, or ndarray
        :math:`e^{-\gamma |x - x'|_2^2}`, :math:`e^{-\gamma |x - x'|_1}`, :math:`(\gamma \langle x, x' \rangle + c)^q`,
        :math:`\langle x, x' \rangle`; a function of two blocks of rows that returns K for all pairs, shape (len(A),
        len(B)), is symmetric and positive semidefinite, and may be called from several threads; or the Gram matrix
        itself, (m + n, m + n), positives first, when `pos` and `neg` are only counted.
    loss : {"logistic", "squared", "hinge", "squared_hinge"} or Loss
        phi, as in `pnorm.train`; or a `pnorm.objectives.Loss`, whose `dl` should be the left derivative at corners.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. A larger one pushes
        harder at the top. See the notes.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. ``Power(p)``, the default, or
        ``Exponential(scale)``, with p left at 1.
    lam : float
        :math:`\lambda`, from 1e-140 to 1e140. The fewer steps, the less it matters.
    eta : float, optional
        :math:`\eta`, the first step; by default the largest one that is known to keep f in the ball of Lemma 3.4, and
        with p > 1 or a `price` one that is searched for in every step; see the notes.
    theta : float
        How fast steps shrink, 0 to 1. For a loss without corners they need not; for the hinge they must, in the end,
        for f to settle, but with many pairs that is late.
    t_max : int
        Largest number of steps: :math:`f_t` of the paper is that after t - 1 of them.
    landmarks : int, or rows, optional
        Look among functions of so many training rows only, which are drawn in proportion to what those before left out
        of the kernel, or among functions of the rows given: for more than some 20,000 rows. The result says how much of
        the kernel is out of reach.
    average : bool
        Return a mean of the :math:`f_t` with weights t instead of the last one, after all steps, whatever `tol`; the
        trace is that of the :math:`f_t`, but for its `gap`.
    tol : float
        Stop as stationary when the gradient's norm is at most this times kappa.
    pos_weight, neg_weight, pos_group, neg_group : optional
        Case weights and query groups, as in `pnorm.train`: the mean is weighted, and over the pairs of a group only.
    memory_limit : float
        Bytes for the Gram matrix, half of which is kept, or for its landmarks. Blocks that do not fit are computed
        anew in each step, and a warning says so.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result. They draw landmarks.
    callback : callable, optional
        Called with the trace so far after every step; a true return value stops the run. The trace is a `Descent`.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. The result is the same for any
        number.
    **kernel_params : object
        ``gamma`` (by default 1 / (d Var), Var the variance of all entries of the rows, and for the 1-norm 1 / (d sd)),
        ``degree`` (q, 3) and ``coef0`` (c, 1); for a callable, what it takes.

    Returns
    -------
    model : Model
        The function: its coefficients, and `score`.
    trace : Descent
        What happened in each step, and bounds on how far the minimum is.

    Raises
    ------
    ValueError, TypeError
        If the kernel is none on a sample of the rows.
    OverflowError
        If steps are so large that they diverge. Where the objective is higher in the end than at the start, a
        `RuntimeWarning` says so.
    BaseException
        What the callback raises, or Ctrl-C, with the trace so far, its `model` included, as its attribute `trace`.
    ImportError
        If `progress` is asked for and tqdm is missing.

    See Also
    --------
    minimize : The exact minimiser.
    schedule : The steps of Theorem 2.1.

    Notes
    -----
    A step costs one sum over pairs, O(N log N) for N rows (for a `Loss` of your own, all pairs), and one product with
    the Gram matrix, of which one half is kept and read once, O(N^2); with m landmarks O(N m). Memory is 4 N^2 bytes, or
    8 N m, and while landmarks are found up to 15 N m.

    Lemma 3.4 asks for steps of at most :math:`1/(4 \kappa^2 M + \lambda)` (`pnorm.bounds.step_condition`), and its
    proof uses of :math:`4 \kappa^2` only that no eigenvalue of the operator
    :math:`f \mapsto \frac{1}{mn} \sum_{i,j} (f(x_i^+) - f(x_j^-)) (K_{x_i^+} - K_{x_j^-})` is larger. On the rows at
    hand the largest one is often 20 times smaller, and the default step is larger by as much. Finding it costs as much
    as a dozen or two of steps; with an `eta` below the lemma's own it is not looked for.

    The gradient that a step needs bounds how far f is from the minimum, by strong convexity and whatever the steps
    are: `Descent.gap` and `Descent.distances` cost nothing.

    With p > 1 the mean over the negatives is a power mean [4]_,

    .. math:: E_S(f) = \biggl(\frac1n \sum_{j=1}^n \Bigl(\frac1m S_j\Bigr)^p\biggr)^{1/p}, \qquad
              S_j = \sum_{i=1}^m \phi\bigl(f(x_i^+) - f(x_j^-)\bigr)

    (`pnorm.objectives.normalized_value`, which has the formula with case weights and groups), and with the exponential
    price :math:`\frac{1}{scale \cdot m} \ln \frac1n \sum_j e^{scale \cdot S_j}`. Both are convex, in the units of the
    loss, and the mean loss if p is 1 or the scale goes to zero, so that `lam` means about the same for all. With case
    weights, 1/n is their share, and the second m the mean weight of the positives of a negative.

    What the trace proves holds as it stands. The lemma does, too, as pairs have weights that add up to one. But weights
    move, and the second derivatives with them: where :math:`\phi'` has the Lipschitz constant M, that of the gradient
    is up to :math:`4 \kappa^2 M (2p - 1)`. The default step is doubled or halved until the objective falls by half of
    what its slope promises. A trial costs one sum over pairs.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, (1.5).
    .. [2] Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber, "Randomly pivoted Cholesky", Communications on Pure and
       Applied Mathematics 78, 2025, for the landmarks.
    .. [3] S. Lacoste-Julien, M. Schmidt, F. Bach, "A simpler approach to obtaining an O(1/t) convergence rate for the
       projected stochastic subgradient method", 2012, for the weights of `average`.
    .. [4] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, for the price.

    Examples
    --------
    A disc in a ring, which no linear function puts in order:

    >>> import numpy as np
    >>> import pnorm
    >>> generator = np.random.default_rng(0)
    >>> angle = generator.uniform(0, 2 * np.pi, 400)
    >>> radius = np.repeat([0.5, 1.5], 200) + generator.uniform(0, 0.5, 400)
    >>> X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    >>> model, trace = pnorm.kernel.train(X[:200], X[200:])
    >>> f = model.score(X)
    >>> pnorm.metrics.auc(f[:200], f[200:])
    1.0
    """
    phi = _loss_of(loss)
    push = _push_of(p, price, phi)
    lam = _penalty(lam)
    theta = _checks.share(theta, "theta")
    first = None if eta is None else _checks.positive(eta, "eta")
    t_max = _checks.count(t_max, "t_max", 0)
    tol = _checks.nonnegative(tol, "tol")
    callback = _checks.callback(callback)
    limit, generator = _checks.positive(memory_limit, "memory_limit"), _checks.generator(seed)
    steps = iter(progress_range(t_max, progress, "step"))
    with _pool(pos, neg, n_threads) as pool:
        sample = pos_weight, neg_weight, pos_group, neg_group
        problem = make_problem(pos, neg, kernel, kernel_params, phi, push, sample, landmarks, generator, limit, pool)
        space = problem.space
        record = _recorder(problem, lam, first, average)
        searching = problem.push if first is None else None
        if first is None:
            first = record.largest_step if searching is None else _FIRST * record.largest_step
        a, f = np.zeros(space.size), np.zeros(space.n)
        mean = a.copy() if average else a
        status = "t_max"
        with attach_trace(record.trace):
            while True:
                gradient, change, point = _gradient(problem, a, f, record)
                record.add(point, mean)
                t = record.n_iter
                if t and record.stopped_by(callback):
                    status = "callback"
                if point[2] <= tol * record.kappa and not average:
                    status = "stationary"
                if status != "t_max" or next(steps, None) is None:
                    break
                if searching is not None:
                    first = _searched_step(problem, searching, a, f, gradient, change, point, record, first)
                step = first * (t + 1.0) ** -theta
                record.step(step)
                with np.errstate(over="ignore", invalid="ignore"):  # the next gradient finds overflow
                    a -= step * gradient
                    f = f - step * change if (t + 1) % _REFRESH else space.values(a)
                if average:
                    mean += 2.0 / (t + 2.0) * (a - mean)
            if average:
                point = _gradient(problem, mean, space.values(mean), record)[2]
        gap = record.gap(point)
        message = {
            "t_max": f"all {t} steps were taken",
            "stationary": f"the norm of the gradient is {point[2]:.3g}, at most tol * kappa",
            "callback": f"the callback stopped the run after step {t}",
        }[status]
        trace = record.trace(status, f"{message}; the objective is at most {gap:.3g} above its minimum", gap)
        if trace.descended[-1] > trace.descended[0] * (1.0 + 1e-9):
            warnings.warn(
                f"the objective went up, from {trace.descended[0]:.3g} to {trace.descended[-1]:.3g}: steps of "
                f"{first:.3g} are too long. Up to {record.largest_step:.3g} is safe, and theta=0.5 makes them shrink",
                RuntimeWarning,
                stacklevel=2,
            )
        return trace.model, trace


def _searched_step(
    problem: Problem,
    push: Push,
    a: Vector,
    f: Vector,
    gradient: Vector,
    change: Vector,
    point: tuple[float, ...],
    record: DescentRecorder,
    step: float,
) -> float:
    """Return a step against the gradient that lowers the objective by half of what its slope promises, or more.

    The scores of all steps are known, so that trying one takes a sum over pairs and no product with the Gram matrix.
    A step that the lemma allows is taken in any case where the loss has corners.
    """
    space, half = problem.space, 0.5 * record.lam
    here = point[0] + half * point[1] ** 2
    promised, rounding = 0.5 * point[2] ** 2, 4.0 * _EPS * (here + abs(push.zero) / push.norm)
    floor = 1e-12 * step if problem.loss.smooth else record.largest_step

    def lowers(step: float) -> bool:
        there = f - step * change
        value = problem.mean_loss(there) + half * space.square(a - step * gradient, there)
        return value <= here - step * promised + rounding

    if lowers(step):
        return 2.0 * step if step * promised > rounding and lowers(2.0 * step) else step
    while step > floor and not lowers(step):
        step = max(0.5 * step, floor)
    return step


def _loss_of(loss: Any, smoothing: Any = 0.0) -> PairLoss:
    """Check a loss for gradient descent, which takes left derivatives at corners."""
    known = LOSSES.get(loss) if isinstance(loss, str) else loss
    if not isinstance(known, PairLoss) or _grows_too_fast(known):
        names = ", ".join(repr(other) for other in LOSSES.values() if not _grows_too_fast(other))
        raise (ValueError if isinstance(loss, str) else TypeError)(
            f"loss must be one of {names}, or a pnorm.objectives.Loss; got {loss!r}"
            + (", which grows too fast for steps of a given size" if isinstance(known, PairLoss) else "")
        )
    return loss_of(known, smoothing).with_left_slope()


def _push_of(p: Any, price: Any, loss: PairLoss) -> Make | None:
    """Check a power or a price, and return a function that makes the objective; None where the price is r."""
    power = _checks.power(p)
    make = objective_of(power, price, loss, 0.0)
    if price is not None and not isinstance(price, Power | Exponential):
        raise ValueError(
            f"price must be a Power or an Exponential in a kernel space, where it makes a mean that is convex; got "
            f"{price!r}"
        )
    return None if (price is None and power == 1.0) or (isinstance(price, Power) and price.p == 1.0) else make


def _grows_too_fast(loss: PairLoss) -> bool:
    """Whether a loss grows faster than any power, so that no step of a given size is short enough."""
    return loss.growth is not None and loss.growth.q == math.inf


def _pool(pos: Any, neg: Any, n_threads: Any) -> Pool:
    n = _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg")
    return Pool(_checks.threads(n_threads), n * n // 64)


def _recorder(problem: Problem, lam: float, eta: float | None, average: bool = False) -> DescentRecorder:
    """Return an empty record, with the largest step that keeps f in the ball: that of Lemma 3.4 if it will do."""
    kappa = math.sqrt(_kernels.largest(problem.space.diagonal()))
    heaviest = 1.0 if problem.push is None else problem.push.heaviest
    slope = heaviest * problem.loss.steepest(0.0)
    change = problem.loss.change(largest_difference(slope, lam, kappa))
    largest = largest_step(heaviest * change, lam, kappa)
    if problem.push is None and (eta is None or eta > largest):
        largest = max(largest, 1.0 / (change * _MARGIN * _spectral_norm(problem) + lam))
    return DescentRecorder(problem, lam, kappa, slope, change, largest, average)


def _spectral_norm(problem: Problem) -> float:
    """Return the largest eigenvalue of the mean over pairs of f -> (f(x) - f(x')) (K_x - K_x'), at most 4 kappa^2."""
    from scipy.sparse.linalg import LinearOperator, eigs

    space = problem.space

    def apply(a: Vector) -> Vector:
        return space.coordinates(problem.apart(space.values(a.ravel())))

    n = space.size
    if n < _FEW:
        return float(np.abs(np.linalg.eigvals(np.column_stack([apply(column) for column in np.eye(n)]))).max())
    start = np.random.default_rng(0).normal(size=n)
    if not apply(start).any():  # all rows are the same
        return 0.0
    operator = LinearOperator((n, n), apply, dtype=np.float64)
    return float(np.abs(eigs(operator, 1, ncv=12, tol=1e-3, v0=start, return_eigenvectors=False)).max())


def _gradient(
    problem: Problem, a: Vector, f: Vector, record: DescentRecorder
) -> tuple[Vector, Vector, tuple[float, ...]]:
    """Return the gradient at f of coordinates a, its values on the rows, and the numbers that a record takes."""
    space, lam = problem.space, record.lam
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            loss, s = problem.slopes(f)
        except OverflowError:  # of a price
            loss = math.inf
    if not math.isfinite(loss):
        raise OverflowError(
            f"the mean loss is more than a double holds after {record.steps.size} steps. Steps of at most "
            f"{record.largest_step:.3g} do not diverge: take a smaller eta, leave it out, or scale the columns down"
        )
    towards = space.coordinates(s)
    values = space.values(towards)
    gradient, change = lam * a - towards, lam * f - values
    norm = math.sqrt(space.square(a, f))
    # A bound on the rounding error is added, so that the norm is never less than that of the gradient.
    mass, off = float(np.abs(s).sum()), space.rounding(a, record.kappa)
    square = space.square(gradient, change, lam * off + space.rounding(towards, record.kappa))
    push = problem.push
    condition = 1.0 if push is None else push.condition(loss)
    of_sums = 1.0 if push is None else 4.0 * condition
    size = math.sqrt(square) + 4.0 * _EPS * (record.kappa * of_sums * mass + lam * norm)
    # The scores have an error of up to `off`, too. It changes slopes by at most M times as much, or makes the gradient
    # a subgradient of a function that is lower by the slack. The second holds where M is not known for all arguments.
    point = loss, norm, size, 4.0 * off * mass
    # A price makes slopes change by up to 2 condition - 1 times as much, as phi'^2 <= 2 M phi.
    if problem.loss.lipschitz is not None:
        change_of_slopes = record.change if push is None else push.heaviest * (2.0 * condition - 1.0) * record.change
        other = loss, norm, size + 4.0 * record.kappa * change_of_slopes * off, 0.0
        point = min(point, other, key=record.gap)
    return gradient, change, point


# The minimiser ----------------------------------------------------------------------------------------


def minimize(
    pos: Any,
    neg: Any,
    kernel: Any = "rbf",
    loss: str = "logistic",
    *,
    p: float = 1.0,
    price: Price | None = None,
    lam: float = 0.01,
    smoothing: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    memory_limit: float = _MEMORY,
    n_threads: int | None = None,
    **kernel_params: Any,
) -> tuple[Model, Descent]:
    r"""Return the function that gradient descent approaches, to within `tol` in the norm of the space.

    The minimiser of :math:`E_S(f) + \frac\lambda2 \|f\|_K^2` is a combination of the :math:`K_{x_r}`; Newton's method
    finds its coefficients:

    .. math:: (\lambda + H G)\, \delta = s - \lambda a, \qquad
              s_r = -\frac{\partial E_S}{\partial f_r}, \quad
              H_{rq} = \frac{\partial^2 E_S}{\partial f_r\, \partial f_q}.

    Parameters
    ----------
    pos, neg, kernel : as in `train`
        The rows and the kernel.
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi; the hinge with `smoothing`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. As in `train`.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. As in `train`.
    lam : float
        :math:`\lambda`, from 1e-140 to 1e140.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    tol : float
        The largest distance from the minimiser in the norm of the space, which `Descent.distances` proves.
    max_iter : int
        Largest number of Newton steps.
    pos_weight, neg_weight, pos_group, neg_group : as in `train`
        Case weights and query groups.
    memory_limit : float
        Bytes: some 32 for each two rows are needed, 56 with p > 1 or a `price`, and more rows than that are refused.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `train`.
    **kernel_params : object
        As in `train`.

    Returns
    -------
    model : Model
        The function.
    trace : Descent
        Its `step` are the shares of Newton steps that were taken.

    Raises
    ------
    ValueError, TypeError
        If there are too many rows for `memory_limit`, or the loss has corners.

    See Also
    --------
    train : Gradient descent, for many rows and any loss.
    pnorm.minimize : The same for weak rankers.

    Notes
    -----
    Each step solves a system of N equations, O(N^3): seconds for 2000 rows, minutes for 8000. The hinge's minimiser is
    that of a small `smoothing` to within the root of smoothing / (2 lam) in norm. With p > 1 or a `price` the
    Hessian has a part more, and a step costs about half as much again.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, (1.3) with half of its penalty.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> model, trace = pnorm.kernel.minimize(data.pos[:60], data.neg[:40], "polynomial", lam=0.1)
    >>> trace.status, bool(trace.distances[-1] <= 1e-10)
    ('converged', True)
    """
    phi = _loss_of(loss, smoothing)
    if not phi.has_curvature:
        raise ValueError(
            f"Newton's method needs second derivatives, which the loss {phi!r} does not have or does not tell: take a "
            "named one, the hinge with smoothing=0.1, say, or train"
        )
    push = _push_of(p, price, phi)
    lam = _penalty(lam)
    tol = _checks.positive(tol, "tol")
    max_iter = _checks.count(max_iter, "max_iter", 0)
    n = _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg")
    limit = _checks.positive(memory_limit, "memory_limit")
    needed = (_NEWTON + (0.0 if push is None else _PUSH)) * n * n
    if needed > limit:
        raise ValueError(
            f"{n} rows need some {1e-9 * needed:.3g} GB for Newton's method, more than memory_limit = "
            f"{limit * 1e-9:.3g} GB: raise it, take fewer rows, or train"
        )
    with _pool(pos, neg, n_threads) as pool:
        sample, unused = (pos_weight, neg_weight, pos_group, neg_group), np.random.default_rng(0)
        problem = make_problem(pos, neg, kernel, kernel_params, phi, push, sample, None, unused, 0.0, pool)
        record = _recorder(problem, lam, 0.0)
        with attach_trace(record.trace):
            trace = record.trace(*_newton(problem, record, tol, max_iter))
        return trace.model, trace


def _newton(problem: Problem, record: DescentRecorder, tol: float, max_iter: int) -> tuple[str, str]:
    """Run Newton's method on the coefficients, and return the status and the message."""
    from scipy.linalg import lu_factor, lu_solve

    n = problem.space.n
    G = cast(_spaces.Gram, problem.space).whole()
    problem = replace(problem, space=_spaces.Gram(_kernels.Given(G), _kernels.Rows(range(n)), problem.pool))
    lam, n_pos = record.lam, problem.c_pos.size
    pair_weights = _pair_weights(problem)
    a, f = np.zeros(len(G)), np.zeros(len(G))
    least = nearest = math.inf
    idle = 0
    while True:
        gradient, _, point = _gradient(problem, a, f, record)
        record.add(point, a)
        loss, norm, *_ = point
        distance = math.sqrt(2.0 * record.gap(point) / lam)
        if distance <= tol:
            return "converged", f"the minimiser is at most {distance:.3g} away, in the norm of the space"
        if record.n_iter >= max_iter:
            return "max_iter", f"after {max_iter} Newton steps the minimiser is at most {distance:.3g} away"
        value = loss + 0.5 * lam * norm * norm
        idle = idle + 1 if value >= least - 1e-15 * abs(least) and distance > 0.5 * nearest else 0
        least, nearest = min(least, value), min(nearest, distance)
        if idle == _IDLE:
            return "stalled", f"rounding hides any further progress; the minimiser is at most {distance:.3g} away"
        z = f[:n_pos, None] - f[None, n_pos:]
        weights = pair_weights
        if problem.push is not None:
            shares, weights = _pushed(problem, problem.push, z, pair_weights)
        curvature = problem.loss.curvature(z) * weights
        A = np.empty_like(G)
        np.matmul(curvature, G[n_pos:], out=A[:n_pos])
        np.matmul(curvature.T, G[:n_pos], out=A[n_pos:])
        np.negative(A, out=A)
        rows = np.concatenate([curvature.sum(axis=1), curvature.sum(axis=0)])
        del curvature
        for some in _kernels.Rows(range(n)).slices():
            A[some] += rows[some, None] * G[some]
        if problem.push is not None:
            A += _bend(problem.loss.slope(z) * weights, shares, G)
        del z, weights
        A[np.diag_indices_from(A)] += lam
        delta = lu_solve(lu_factor(A.T, overwrite_a=True, check_finite=False), -gradient, trans=1, check_finite=False)
        del A  # before the next one is made
        values = G @ delta
        slope = dot(gradient, values)
        share = 1.0
        products = dot(a, values), dot(delta, values)
        while True:
            there = problem.mean_loss(f + share * values)
            there += 0.5 * lam * (norm * norm + share * (2.0 * products[0] + share * products[1]))
            if there <= value + 1e-4 * share * slope + 1e-14 * abs(value) or share < 1e-8:
                break
            share *= 0.5
        record.step(share)
        a += share * delta
        f += share * values


def _pushed(problem: Problem, push: Push, z: Any, weights: Any) -> tuple[Vector, Any]:
    """Return b_k g'(S_k) / g''(S_k) of all negatives, and the weights c_i b_k of their pairs.

    S_k = sum_i c_i phi is the height of a negative, and b_k the derivative of the mean by it.
    """
    heights = (weights * problem.loss.value(z)).sum(axis=0) * (problem.mass / problem.c_neg)
    with np.errstate(divide="ignore"):
        log_g, log_slope, _ = push.objective.price.log_terms(np.log(heights))
    log_r = float(np.logaddexp.reduce(log_g + np.log(problem.c_neg)))
    if log_r == -math.inf:
        return np.zeros_like(heights), np.zeros_like(weights)
    b = np.exp(log_slope - log_r) * push.mean(log_r)[1]
    return problem.c_neg * b * push.straightness(heights), weights * (problem.mass * b)


def _bend(D: Any, shares: Vector, G: Any) -> Any:
    """Return (sum_k d_k d_k^T / share_k - d d^T / sum of shares) G, where d_k = b_k grad S_k and d is their sum.

    The entry of d_k for positive i is D[i, k], that for negative k is minus the sum of these. This is the part of the
    Hessian that comes from the price.
    """
    n_pos, total = len(D), D.sum(axis=0)
    along = D.T @ G[:n_pos] - total[:, None] * G[n_pos:]
    whole = along.sum(axis=0)
    along *= np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0.0)[:, None]
    if shares.any():
        along -= whole / shares.sum()
    return np.concatenate([D @ along, -total[:, None] * along])


def _pair_weights(problem: Problem) -> Any:
    """Return the weight of each pair in the mean."""
    weights = np.outer(problem.c_pos / problem.mass, problem.c_neg)
    if problem.groups is not None:
        weights *= np.equal.outer(problem.groups.pos, problem.groups.neg)
    return weights


# The steps of the theorem -----------------------------------------------------------------------------


class Schedule(NamedTuple):
    """Steps of Theorem 2.1: the number t of the iterate, the penalty, and the first step."""

    t: int
    lam: float
    eta: float


def schedule(
    n_pos: int, n_neg: int, loss: str, kappa: float, s: float, theta: float, gamma: float, eta_star: float | None = None
) -> Schedule:
    r"""Return the number of steps, the penalty and the step size of which Theorem 2.1 speaks.

    With :math:`N = mn/(m+n)^{3/2}`,

    .. math:: N^s \le t \le 2 N^s, \qquad \lambda = t^{-\gamma}, \qquad
              \eta_1 = \eta^* \lambda^{\max(q-2, 0)}, \qquad 0 < \eta^* \le 1/\Delta^*,

    .. math:: \Delta^* = 1 + 4\kappa^2 \Bigl(\sup_{|u| \le 1} \frac{|\phi'_-(u) - \phi'_-(0)|}{|u|} + |\phi'_-(0)|
              + C_0 (8 \kappa^2 |\phi'_-(0)|)^{q-1}\Bigr),

    for which :math:`\|f_t - f_\lambda\|_K^2` falls like :math:`N^{-\alpha}`, with the alpha of `pnorm.bounds.rate`.

    Parameters
    ----------
    n_pos, n_neg : int
        m and n.
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi; q is 1, 2, 1, 2, and C_0 is 2, 2, 1, 2.
    kappa : float
        The largest :math:`\sqrt{K(x, x)}`, above 0; 1 for "rbf" and "laplacian".
    s : float
        How the number of steps grows, above 0.
    theta : float
        How fast steps shrink, above 0 and below 1.
    gamma : float
        How fast the penalty does, above 0 and below (1 - theta) / max(q - 1, 1).
    eta_star : float, optional
        :math:`\eta^*`; by default :math:`1/\Delta^*`.

    Returns
    -------
    t : int
        The smallest such number; :math:`f_t` is what t - 1 steps lead to, ``train(..., lam=lam, eta=eta, theta=theta,
        t_max=t - 1)``.
    lam : float
        :math:`\lambda`.
    eta : float
        :math:`\eta_1`.

    Raises
    ------
    ValueError, TypeError
        If a condition of the theorem fails, or N is below 1, where it says nothing.

    See Also
    --------
    pnorm.bounds.rate : The exponent.
    pnorm.bounds.step_condition : The largest step for which the proof works; it is above this one.

    Notes
    -----
    The text of (2.2) has the factor :math:`C_0` in another place, which the proof, (3.36) and (3.37), does not bear
    out, nor the paper's own values in Table 1: :math:`1 + 11\kappa^2` for the logistic loss and :math:`1 + 8\kappa^2`
    for the hinge. In the condition on gamma it prints a minimum for the maximum that the proof has. Of
    :math:`(1-t)^2`, Table 1 has :math:`t^2`, which would never leave :math:`f_1 = 0`.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, Theorem 2.1, (2.2) and (2.3).

    Examples
    --------
    >>> import pnorm
    >>> t, lam, eta = pnorm.kernel.schedule(5000, 5000, "logistic", kappa=1.0, s=2.0, theta=0.5, gamma=0.2)
    >>> t, round(lam, 4), round(eta, 4)
    (625, 0.2759, 0.0833)
    """
    m, n = _checks.count(n_pos, "n_pos", 1), _checks.count(n_neg, "n_neg", 1)
    size = _checks.positive(kappa, "kappa")
    phi, growth, grow, _, decay = theorem(loss, s, theta, gamma)
    log_n = math.log(m) + math.log(n) - 1.5 * math.log(m + n)
    if log_n < -1e-12:
        raise ValueError(
            f"the theorem says nothing of {_checks.shown(m)} and {_checks.shown(n)} rows: "
            f"m n / (m + n)^(3/2) is {math.exp(log_n):.3g} and must be "
            "at least 1, as for 8 and 8"
        )
    if grow * log_n > 36.0:
        raise ValueError(f"s = {s!r} makes for e^{grow * log_n:.3g} steps; take a smaller one")
    t = max(1, math.ceil(math.exp(grow * log_n) * (1.0 - 1e-12)))
    lam = float(t) ** -decay
    slope = phi.steepest(0.0)
    inner = phi.change(1.0) + slope + growth.factor * (8.0 * size * size * slope) ** (growth.q - 1)
    largest = 1.0 / (1.0 + 4.0 * size * size * inner)
    star = largest if eta_star is None else _checks.positive(eta_star, "eta_star")
    if star > largest * (1.0 + 1e-12):
        raise ValueError(f"eta_star must be at most 1 / Delta* = {largest:g} for the {phi.name} loss; got {eta_star!r}")
    return Schedule(t, lam, star * lam ** max(growth.q - 2, 0))
