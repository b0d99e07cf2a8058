"""Ranking in a reproducing kernel Hilbert space, by gradient descent on the mean loss over all pairs.

With a kernel K the scoring function is ``f(x) = Σ_r a_r K(x_r, x)``, a sum over the training rows. The inner product of
the space is ``<K_x, K_x'> = K(x, x')``. Use it if no linear function of the columns ranks the rows well. Chen, He and
Pan [1]_ lower::

    E_S(f) + λ/2 ‖f‖²,    E_S(f) = 1/(m n) Σ_i Σ_j φ(f(x_i) - f(x̃_j))

by gradient descent, and prove how fast it approaches the best function.

- `train` takes these steps. Each costs one sum over pairs, computed with a sort, and one product with the Gram matrix.
- `minimize` computes the minimiser by Newton's method.
- `schedule` returns the steps to which the theorem applies. `pnorm.bounds` computes the bounds of the paper.

`train` and `minimize` take a power p, as in the P-Norm Push: the mean over the negatives is then a power mean.

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
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from pnorm import _checks
from pnorm._blas import dot
from pnorm._checks import GroupLabels, Rows, Seed, Vector, Weights
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
"""Number of coordinates up to which eigenvalues are computed from the matrix itself."""

_MARGIN = 1.01
"""Safety factor for an eigenvalue computed by iteration."""

_FIRST = 64.0
"""The first step that is tried with a price, in units of the largest step of the lemma."""

_IDLE = 3
"""Newton steps without progress after which the run has stalled."""

_NEWTON = 32.0
"""Largest number of bytes per pair of rows that Newton's method needs; measured."""

_PUSH = 24.0
"""Further bytes per pair of rows with a price."""

_REFRESH = 64
"""Number of steps after which scores are recomputed from the coefficients, so that rounding does not accumulate."""

_MEMORY = 2**31
"""Default limit on the bytes of a Gram matrix; 23,000 rows reach it."""


def _penalty(lam: Any) -> float:
    value = _checks.squared(_checks.positive(lam, "lam"), "lam")
    if value < 1.0 / _checks.ROOT:
        raise ValueError(f"lam must be at least {1.0 / _checks.ROOT:g}; got {value:g}")
    return value


# Gradient descent -------------------------------------------------------------------------------------


def train(
    pos: Rows,
    neg: Rows,
    kernel: Any = "rbf",
    loss: Literal["logistic", "squared", "hinge", "squared_hinge"] | Loss = "logistic",
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
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    memory_limit: float = _MEMORY,
    seed: Seed = 0,
    callback: Callable[[Descent], bool | None] | None = None,
    progress: bool = False,
    n_threads: int | None = None,
    **kernel_params: Any,
) -> tuple[Model, Descent]:
    """Learn a ranking function in the space of a kernel, by gradient descent on the mean loss over all pairs.

    With m positives x_i and n negatives x̃_j, a step is::

        f_1 = 0

        f_{t+1} = (1 - η_t λ) f_t
                  - η_t/(m n) Σ_i Σ_j φ'(f_t(x_i) - f_t(x̃_j)) (K(x_i, ·) - K(x̃_j, ·))

    with steps ``η_t = η t^(-θ)`` and φ' the left derivative of the loss. These steps lower ``E_S(f) + λ/2 ‖f‖²``. The
    paper prints ``E_S(f) + λ ‖f‖²`` as (1.3); double `lam` to minimise that.

    Parameters
    ----------
    pos, neg : array_like, shape (m, d) and (n, d), or sequences of things for a kernel of things
        The positive and the negative rows: dense, sparse, or data frames. Scale the columns before, for instance
        ``(X - X.mean(axis=0)) / X.std(axis=0)``. With ``kernel="precomputed"``, pass the rows of the Gram matrix,
        (m, m + n) and (n, m + n), positives first.
    kernel : {"rbf", "laplacian", "polynomial", "linear", "precomputed"}, callable, or ndarray
        ``exp(-γ |x - x'|²)``, ``exp(-γ |x - x'|_1)``, ``(γ <x, x'> + c)^q``, ``<x, x'>``. Or a function of two blocks
        of rows that returns K for all pairs, shape (len(A), len(B)). It must be symmetric and positive semidefinite,
        and it may be called from several threads. Or the Gram matrix itself, (m + n, m + n), positives first; only the
        numbers of rows of `pos` and `neg` are then used.
    loss : {"logistic", "squared", "hinge", "squared_hinge"} or Loss
        phi, as in `pnorm.train`; or a `pnorm.objectives.Loss`, whose `dl` should be the left derivative at corners.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. A larger p gives more
        weight to the negatives near the top. See the notes.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. ``Power(p)``, the default, or
        ``Exponential(scale)``, with p left at 1.
    lam : float
        λ, from 1e-140 to 1e140. It has less effect if there are few steps.
    eta : float, optional
        η, the first step. The default is the largest step that is known to keep f in the ball of Lemma 3.4. With p > 1
        or a `price`, the default is a search in every step; see the notes.
    theta : float
        Exponent by which steps shrink, from 0 to 1. Keep 0 for a loss without corners. With the hinge, f converges only
        if steps shrink, but with many pairs this matters late.
    t_max : int
        Largest number of steps. f_t of the paper is the function after t - 1 steps.
    landmarks : int, or rows, optional
        Restrict f to functions of a few rows, the landmarks, for more than about 20,000 rows. With a number, that many
        training rows are drawn, each in proportion to the part of the kernel that the ones before leave out. Or pass
        the rows. The result contains the share of the kernel that is left out.
    average : bool
        Whether to return the mean of the f_t with weights t instead of the last one. All steps are then taken, for any
        `tol`. The trace describes the f_t, except for its `gap`.
    tol : float
        Stop as stationary when the gradient's norm is at most this times kappa.
    pos_weight, neg_weight, pos_group, neg_group : optional
        Case weights and query groups, as in `pnorm.train`. The mean is weighted, and over pairs within groups only.
    memory_limit : float
        Largest number of bytes for the Gram matrix, one half of which is stored, or for the landmarks. Blocks that do
        not fit are computed again in each step, with a warning.
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
        Parameters of the kernel: ``gamma``, ``degree`` (q, by default 3) and ``coef0`` (c, by default 1). The default
        of gamma is 1 / (d Var), with Var the variance of all entries of the rows, and for the 1-norm 1 / (d sd). For a
        callable, its keyword arguments.

    Returns
    -------
    model : Model
        The function: its coefficients, and `score`.
    trace : Descent
        The record of each step, and bounds on the distance from the minimum.

    Raises
    ------
    ValueError, TypeError
        If the kernel is not symmetric and positive semidefinite on a sample of the rows.
    OverflowError
        If steps are so large that they diverge. If the objective is higher at the end than at the start, there is a
        `RuntimeWarning`.
    BaseException
        An exception from the callback, or Ctrl-C. Its attribute `trace` is the trace so far, with its `model`.
    ImportError
        If `progress` is true and tqdm is missing.

    See Also
    --------
    minimize : The exact minimiser.
    schedule : The steps of Theorem 2.1.

    Notes
    -----
    A step costs one sum over pairs, O(N log N) for N rows (for a `Loss` of your own, all pairs), and one product with
    the Gram matrix, O(N^2). One half of the matrix is stored and read once. With m landmarks the product is O(N m).
    Memory is 4 N^2 bytes, or 8 N m with landmarks, and up to 15 N m while landmarks are found.

    Lemma 3.4 requires steps of at most ``1 / (4 κ² M + λ)`` (`pnorm.bounds.step_condition`). Its proof needs ``4 κ²``
    only as a bound on the eigenvalues of the operator ``f -> 1/(m n) Σ_ij (f(x_i) - f(x̃_j)) (K(x_i, ·) - K(x̃_j, ·))``.
    On the given rows the largest eigenvalue is often 20 times smaller, and the default step is larger by the same
    factor. Computing it costs as much as one or two dozen steps. It is not computed if `eta` is below the bound of the
    lemma.

    By strong convexity, the gradient bounds the distance of f from the minimum, for any steps. `Descent.gap` and
    `Descent.distances` therefore cost nothing.

    With p > 1 the mean over the negatives is a power mean [4]_::

        E_S(f) = (1/n Σ_j (S_j / m)^p)^(1/p),    S_j = Σ_i φ(f(x_i) - f(x̃_j))

    as in `pnorm.objectives.normalized_value`, which has the formula with case weights and groups. With the exponential
    price it is ``1/(scale m) ln(1/n Σ_j exp(scale S_j))``. Both are convex and in units of the loss. They equal the
    mean loss if p is 1, or in the limit of scale zero, so the meaning of `lam` is about the same for all. With case
    weights, their share replaces 1/n, and the mean weight of the positives of a negative replaces the second m.

    The bounds in the trace hold for any p. The lemma holds as well, since the weights of the pairs add up to one. But
    the weights change with f, and so do the second derivatives: if φ' has the Lipschitz constant M, the gradient has
    one of up to ``4 κ² M (2p - 1)``. The default step is therefore doubled or halved until the objective falls by half
    of what its slope predicts. Each trial costs one sum over pairs.

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
    A disc within a ring, which no linear function ranks correctly:

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
                with np.errstate(over="ignore", invalid="ignore"):  # overflow is detected by the next gradient
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
                f"the objective went up, from {trace.descended[0]:.3g} to {trace.descended[-1]:.3g}, because a first "
                f"step of {first:.3g} is too large. Pass eta={record.largest_step:.3g} or less, or theta=0.5, which "
                "makes steps shrink",
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
    """Return a step against the gradient that lowers the objective by at least half of what its slope predicts.

    The scores along the gradient are known, so a trial takes a sum over pairs and no product with the Gram matrix. If
    the loss has corners, a step that the lemma allows is always accepted.
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
    """Check a power or a price, and return a function that makes the objective; None if the price is r."""
    power = _checks.power(p)
    make = objective_of(power, price, loss, 0.0)
    if price is not None and not isinstance(price, Power | Exponential):
        raise ValueError(
            f"price must be a Power or an Exponential in a kernel space, since other prices give no convex mean; got "
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
    """Return an empty record, with the largest step known to keep f in the ball: that of Lemma 3.4 if it is enough."""
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
            f"the mean loss overflows after {record.steps.size} steps. Steps of at most {record.largest_step:.3g} do "
            "not diverge. Pass a smaller eta, leave eta out, or scale the columns down"
        )
    towards = space.coordinates(s)
    values = space.values(towards)
    gradient, change = lam * a - towards, lam * f - values
    norm = math.sqrt(space.square(a, f))
    # A bound on the rounding error is added, so that the result is never below the true norm of the gradient.
    mass, off = float(np.abs(s).sum()), space.rounding(a, record.kappa)
    square = space.square(gradient, change, lam * off + space.rounding(towards, record.kappa))
    push = problem.push
    condition = 1.0 if push is None else push.condition(loss)
    of_sums = 1.0 if push is None else 4.0 * condition
    size = math.sqrt(square) + 4.0 * _EPS * (record.kappa * of_sums * mass + lam * norm)
    # The scores also have an error of up to `off`. It changes slopes by at most M times as much. Or it makes the
    # gradient a subgradient of a function that is lower by the slack, which holds even if M is not known everywhere.
    point = loss, norm, size, 4.0 * off * mass
    # With a price, slopes change by up to 2 condition - 1 times as much, since phi'^2 <= 2 M phi.
    if problem.loss.lipschitz is not None:
        change_of_slopes = record.change if push is None else push.heaviest * (2.0 * condition - 1.0) * record.change
        other = loss, norm, size + 4.0 * record.kappa * change_of_slopes * off, 0.0
        point = min(point, other, key=record.gap)
    return gradient, change, point


# The minimiser ----------------------------------------------------------------------------------------


def minimize(
    pos: Rows,
    neg: Rows,
    kernel: Any = "rbf",
    loss: Literal["logistic", "squared", "hinge", "squared_hinge"] = "logistic",
    *,
    p: float = 1.0,
    price: Price | None = None,
    lam: float = 0.01,
    smoothing: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    memory_limit: float = _MEMORY,
    n_threads: int | None = None,
    **kernel_params: Any,
) -> tuple[Model, Descent]:
    """Compute the minimiser of the penalised mean loss, to within `tol` in the norm of the space.

    The minimiser of ``E_S(f) + λ/2 ‖f‖²`` is a combination of the ``K(x_r, ·)``. Newton's method computes its
    coefficients a with the steps::

        (λ + H G) δ = s - λ a,    s_r = -∂E_S/∂f_r,    H_rq = ∂²E_S / ∂f_r ∂f_q

    Parameters
    ----------
    pos, neg, kernel : as in `train`
        The rows and the kernel.
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi. The hinge needs `smoothing`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. As in `train`.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. As in `train`.
    lam : float
        λ, from 1e-140 to 1e140.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    tol : float
        The largest distance from the minimiser in the norm of the space, which `Descent.distances` proves.
    max_iter : int
        Largest number of Newton steps.
    pos_weight, neg_weight, pos_group, neg_group : as in `train`
        Case weights and query groups.
    memory_limit : float
        Largest number of bytes. About 32 bytes are needed for each pair of rows, 56 with p > 1 or a `price`. More rows
        are refused.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `train`.
    **kernel_params : object
        As in `train`.

    Returns
    -------
    model : Model
        The function.
    trace : Descent
        The record. Its `step` contains the fractions of Newton steps that were taken.

    Raises
    ------
    ValueError, TypeError
        If there are too many rows for `memory_limit`, or the loss has corners.

    See Also
    --------
    train : Gradient descent, for many rows and any loss.
    pnorm.minimize : The minimiser for weak rankers.

    Notes
    -----
    Each step solves a system of N equations, O(N^3): seconds for 2000 rows, minutes for 8000. With p > 1 or a `price`
    the Hessian has one more term, and a step costs about one and a half times as much. The minimiser with a small
    `smoothing` differs from that of the hinge by at most the root of smoothing / (2 lam) in norm.

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
            f"Newton's method needs second derivatives, which the loss {phi!r} does not provide. Pass a named loss "
            "(the hinge with smoothing=0.1), or call pnorm.kernel.train"
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
            f"{n} rows need about {1e-9 * needed:.3g} GB for Newton's method, more than memory_limit = "
            f"{limit * 1e-9:.3g} GB. Raise memory_limit, pass fewer rows, or call pnorm.kernel.train"
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
        del A  # frees memory before the next one is made
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

    This is the part of the Hessian that comes from the price. The entry of d_k for positive i is D[i, k], and for
    negative k it is minus the sum of these.
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
    """The steps of Theorem 2.1: the number t of the iterate, the penalty, and the first step.

    Examples
    --------
    >>> import pnorm
    >>> steps = pnorm.kernel.schedule(5000, 5000, "logistic", kappa=1.0, s=2.0, theta=0.5, gamma=0.2)
    >>> steps.t, round(steps.lam, 4), round(steps.eta, 4)
    (625, 0.2759, 0.0833)
    """

    t: int
    lam: float
    eta: float


def schedule(
    n_pos: int,
    n_neg: int,
    loss: Literal["logistic", "squared", "hinge", "squared_hinge"],
    kappa: float,
    s: float,
    theta: float,
    gamma: float,
    eta_star: float | None = None,
) -> Schedule:
    """Return the number of steps, the penalty and the step size to which Theorem 2.1 applies.

    With ``N = m n / (m + n)^(3/2)`` the conditions are::

        N^s ≤ t ≤ 2 N^s,    λ = t^(-γ),    η_1 = η* λ^max(q - 2, 0),    0 < η* ≤ 1/Δ*

        Δ* = 1 + 4 κ² (M + |φ'(0)| + C_0 (8 κ² |φ'(0)|)^(q - 1))

        M = sup |φ'(u) - φ'(0)| / |u|  over  |u| ≤ 1

    with φ' the left derivative of the loss. Then ``‖f_t - f_λ‖²`` falls like ``N^(-α)``, with the alpha of
    `pnorm.bounds.rate`.

    Parameters
    ----------
    n_pos, n_neg : int
        m and n.
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi; q is 1, 2, 1, 2, and C_0 is 2, 2, 1, 2.
    kappa : float
        The largest ``sqrt(K(x, x))``, above 0; 1 for "rbf" and "laplacian".
    s : float
        Exponent of the number of steps, above 0.
    theta : float
        Exponent by which steps shrink, above 0 and below 1.
    gamma : float
        Exponent by which the penalty shrinks, above 0 and below (1 - theta) / max(q - 1, 1).
    eta_star : float, optional
        ``η*``; by default ``1/Δ*``.

    Returns
    -------
    t : int
        The smallest t that satisfies the conditions. f_t is the function after t - 1 steps,
        ``train(..., lam=lam, eta=eta, theta=theta, t_max=t - 1)``.
    lam : float
        λ.
    eta : float
        η_1.

    Raises
    ------
    ValueError, TypeError
        If a condition of the theorem fails, or if N is below 1, where the theorem is empty.

    See Also
    --------
    pnorm.bounds.rate : The exponent.
    pnorm.bounds.step_condition : The largest step for which the proof works; it is larger than this one.

    Notes
    -----
    Three errors of the source are corrected. The text of (2.2) has the factor C_0 in another place. That contradicts
    the proof, (3.36) and (3.37), and Table 1 of the paper, which has ``1 + 11 κ²`` for the logistic loss and
    ``1 + 8 κ²`` for the hinge. The condition on gamma has a minimum where the proof has a maximum. Table 1 has ``t^2``
    for ``(1 - t)^2``, with which training would never leave ``f_1 = 0``.

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
            f"the theorem does not apply to {_checks.shown(m)} and {_checks.shown(n)} rows: "
            f"m n / (m + n)^(3/2) is {math.exp(log_n):.3g} and must be "
            "at least 1, as it is for 8 and 8 rows"
        )
    if grow * log_n > 36.0:
        raise ValueError(f"s = {s!r} gives e^{grow * log_n:.3g} steps; pass a smaller s")
    t = max(1, math.ceil(math.exp(grow * log_n) * (1.0 - 1e-12)))
    lam = float(t) ** -decay
    slope = phi.steepest(0.0)
    inner = phi.change(1.0) + slope + growth.factor * (8.0 * size * size * slope) ** (growth.q - 1)
    largest = 1.0 / (1.0 + 4.0 * size * size * inner)
    star = largest if eta_star is None else _checks.positive(eta_star, "eta_star")
    if star > largest * (1.0 + 1e-12):
        raise ValueError(f"eta_star must be at most 1 / Delta* = {largest:g} for the {phi.name} loss; got {eta_star!r}")
    return Schedule(t, lam, star * lam ** max(growth.q - 2, 0))


def __dir__() -> list[str]:
    return __all__
