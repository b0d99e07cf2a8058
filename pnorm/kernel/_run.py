"""Checks, records and gradients of gradient descent and Newton's method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._threads import Pool
from pnorm.kernel import _kernels
from pnorm.kernel._problem import Problem
from pnorm.kernel._trace import DescentRecorder
from pnorm.objectives._base import Make
from pnorm.objectives._growth import largest_difference, largest_step
from pnorm.objectives._losses import LOSSES, loss_of
from pnorm.objectives._pair_loss import PairLoss
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Exponential, Power

EPS = float(np.finfo(float).eps)

FEW = 32
"""Number of coordinates up to which eigenvalues are computed from the matrix itself."""

MARGIN = 1.01
"""Safety factor for an eigenvalue computed by iteration."""

IDLE = 3
"""Newton steps without progress after which the run has stalled."""

MEMORY = 2**31
"""Default limit on the bytes of a Gram matrix; 23,000 rows reach it."""


def checked_penalty(lam: Any) -> float:
    value = _checks.squared(_checks.positive(lam, "lam"), "lam")
    if value < 1.0 / _checks.ROOT:
        raise ValueError(f"lam must be at least {1.0 / _checks.ROOT:g}; got {value:g}")
    return value


def checked_loss(loss: Any, smoothing: Any = 0.0) -> PairLoss:
    """Check a loss for gradient descent, which takes left derivatives at corners."""
    known = LOSSES.get(loss) if isinstance(loss, str) else loss
    if not isinstance(known, PairLoss) or _grows_too_fast(known):
        names = ", ".join(repr(other) for other in LOSSES.values() if not _grows_too_fast(other))
        raise (ValueError if isinstance(loss, str) else TypeError)(
            f"loss must be one of {names}, or a pnorm.objectives.Loss; got {loss!r}"
            + (", which grows too fast for steps of a given size" if isinstance(known, PairLoss) else "")
        )
    return loss_of(known, smoothing).with_left_slope()


def checked_push(p: Any, price: Any, loss: PairLoss) -> Make | None:
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


def pool_of(pos: Any, neg: Any, n_threads: Any) -> Pool:
    n = _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg")
    return Pool(_checks.threads(n_threads), n * n // 64)


def recorder_of(problem: Problem, lam: float, eta: float | None, average: bool = False) -> DescentRecorder:
    """Return an empty record, with the largest step known to keep f in the ball: that of Lemma 3.4 if it is enough."""
    kappa = math.sqrt(_kernels.largest(problem.space.diagonal()))
    heaviest = 1.0 if problem.push is None else problem.push.heaviest
    slope = heaviest * problem.loss.steepest(0.0)
    change = problem.loss.change(largest_difference(slope, lam, kappa))
    largest = largest_step(heaviest * change, lam, kappa)
    if problem.push is None and (eta is None or eta > largest):
        largest = max(largest, 1.0 / (change * MARGIN * _spectral_norm(problem) + lam))
    return DescentRecorder(problem, lam, kappa, slope, change, largest, average)


def _spectral_norm(problem: Problem) -> float:
    """Return the largest eigenvalue of the mean over pairs of f -> (f(x) - f(x')) (K_x - K_x'), at most 4 kappa^2."""
    from scipy.sparse.linalg import LinearOperator, eigs

    space = problem.space

    def apply(a: Vector) -> Vector:
        return space.coordinates(problem.apart(space.values(a.ravel())))

    n = space.size
    if n < FEW:
        return float(np.abs(np.linalg.eigvals(np.column_stack([apply(column) for column in np.eye(n)]))).max())
    start = np.random.default_rng(0).normal(size=n)
    if not apply(start).any():  # all rows are the same
        return 0.0
    operator = LinearOperator((n, n), apply, dtype=np.float64)
    return float(np.abs(eigs(operator, 1, ncv=12, tol=1e-3, v0=start, return_eigenvectors=False)).max())


def gradient_at(
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
    size = math.sqrt(square) + 4.0 * EPS * (record.kappa * of_sums * mass + lam * norm)
    # The scores also have an error of up to `off`. It changes slopes by at most M times as much. Or it makes the
    # gradient a subgradient of a function that is lower by the slack, which holds even if M is not known everywhere.
    point = loss, norm, size, 4.0 * off * mass
    # With a price, slopes change by up to 2 condition - 1 times as much, since phi'^2 <= 2 M phi.
    if problem.loss.lipschitz is not None:
        change_of_slopes = record.change if push is None else push.heaviest * (2.0 * condition - 1.0) * record.change
        other = loss, norm, size + 4.0 * record.kappa * change_of_slopes * off, 0.0
        point = min(point, other, key=record.gap)
    return gradient, change, point
