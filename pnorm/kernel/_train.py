"""Gradient descent on the mean loss over all pairs, with steps whose size decreases."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pnorm import _checks
from pnorm._checks import GroupLabels, Rows, Seed, Vector, Weights
from pnorm._recorders import attach_trace, progress_range
from pnorm.kernel._model import Model
from pnorm.kernel._problem import Problem, Push, make_problem
from pnorm.kernel._run import (
    EPS,
    MEMORY,
    checked_loss,
    checked_penalty,
    checked_push,
    gradient_at,
    pool_of,
    recorder_of,
)
from pnorm.kernel._trace import Descent, DescentRecorder
from pnorm.objectives._losses import Loss
from pnorm.objectives._prices import Price

_FIRST = 64.0
"""The first step that is tried with a price, in units of the largest step of the lemma."""


_REFRESH = 64
"""Number of steps after which scores are recomputed from the coefficients, so that rounding does not accumulate."""


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
    memory_limit: float = MEMORY,
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
    phi = checked_loss(loss)
    push = checked_push(p, price, phi)
    lam = checked_penalty(lam)
    theta = _checks.share(theta, "theta")
    first = None if eta is None else _checks.positive(eta, "eta")
    t_max = _checks.count(t_max, "t_max", 0)
    tol = _checks.nonnegative(tol, "tol")
    callback = _checks.callback(callback)
    limit, generator = _checks.positive(memory_limit, "memory_limit"), _checks.generator(seed)
    steps = iter(progress_range(t_max, progress, "step"))
    with pool_of(pos, neg, n_threads) as pool:
        sample = pos_weight, neg_weight, pos_group, neg_group
        problem = make_problem(pos, neg, kernel, kernel_params, phi, push, sample, landmarks, generator, limit, pool)
        space = problem.space
        record = recorder_of(problem, lam, first, average)
        searching = problem.push if first is None else None
        if first is None:
            first = record.largest_step if searching is None else _FIRST * record.largest_step
        a, f = np.zeros(space.size), np.zeros(space.n)
        mean = a.copy() if average else a
        status = "t_max"
        with attach_trace(record.trace):
            while True:
                gradient, change, point = gradient_at(problem, a, f, record)
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
                point = gradient_at(problem, mean, space.values(mean), record)[2]
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
    promised, rounding = 0.5 * point[2] ** 2, 4.0 * EPS * (here + abs(push.zero) / push.norm)
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
