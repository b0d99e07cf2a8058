"""Newton's method on the mean loss over all pairs, in a kernel space."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from pnorm import _checks
from pnorm._blas import dot
from pnorm._checks import GroupLabels, Rows, Vector, Weights
from pnorm._recorders import attach_trace
from pnorm.kernel import _kernels, _spaces
from pnorm.kernel._model import Model
from pnorm.kernel._problem import Problem, Push, make_problem
from pnorm.kernel._run import (
    IDLE,
    MEMORY,
    checked_loss,
    checked_penalty,
    checked_push,
    gradient_at,
    pool_of,
    recorder_of,
)
from pnorm.kernel._trace import Descent, DescentRecorder
from pnorm.objectives._prices import Price

_NEWTON = 32.0
"""Largest number of bytes per pair of rows that Newton's method needs; measured."""


_PUSH = 24.0
"""Further bytes per pair of rows with a price."""


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
    memory_limit: float = MEMORY,
    n_threads: int | None = None,
    **kernel_params: Any,
) -> tuple[Model, Descent]:
    """Compute the minimiser of the penalised mean loss, to within `tol` in the norm of the space.

    The minimiser of ``E_S(f) + λ/2 ‖f‖²`` is a combination of the ``K(x_r, ·)``. Newton's method computes its
    coefficients a with the steps::

        (λ + H G) δ = s - λ a,    s_r = -∂E_S/∂f_r,    H_rq = ∂²E_S / ∂f_r ∂f_q

    Parameters
    ----------
    pos, neg, kernel : as in `pnorm.kernel.train`
        The rows and the kernel.
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi. The hinge needs `smoothing`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
        As in `pnorm.kernel.train`.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. As in `pnorm.kernel.train`.
    lam : float
        λ, from 1e-140 to 1e140.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    tol : float
        The largest distance from the minimiser in the norm of the space, which `Descent.distances` proves.
    max_iter : int
        Largest number of Newton steps.
    pos_weight, neg_weight, pos_group, neg_group : as in `pnorm.kernel.train`
        Case weights and query groups.
    memory_limit : float
        Largest number of bytes. About 32 bytes are needed for each pair of rows, 56 with p > 1 or a `price`. More rows
        are refused.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `pnorm.kernel.train`.
    **kernel_params : object
        As in `pnorm.kernel.train`.

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
    phi = checked_loss(loss, smoothing)
    if not phi.has_curvature:
        raise ValueError(
            f"Newton's method needs second derivatives, which the loss {phi!r} does not provide. Pass a named loss "
            "(the hinge with smoothing=0.1), or call pnorm.kernel.train"
        )
    push = checked_push(p, price, phi)
    lam = checked_penalty(lam)
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
    with pool_of(pos, neg, n_threads) as pool:
        sample, unused = (pos_weight, neg_weight, pos_group, neg_group), np.random.default_rng(0)
        problem = make_problem(pos, neg, kernel, kernel_params, phi, push, sample, None, unused, 0.0, pool)
        record = recorder_of(problem, lam, 0.0)
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
        gradient, _, point = gradient_at(problem, a, f, record)
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
        if idle == IDLE:
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
