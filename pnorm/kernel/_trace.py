"""The record of a run in a kernel space."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._trace import Columns
from pnorm.kernel._model import Model


@dataclass(frozen=True, eq=False, repr=False)
class Descent:
    r"""The record of a run in a kernel space: the first entry is of :math:`f_1 = 0`, the last of :math:`f_{T+1}`.

    Attributes
    ----------
    loss : ndarray, shape (T + 1,)
        :math:`E_S`, the mean loss over pairs.
    norm : ndarray, shape (T + 1,)
        :math:`\|f\|_K`.
    gradient_norm : ndarray, shape (T + 1,)
        The norm of the gradient of `descended`, with the left derivative of the loss; rounding does not make it less.
    gap : float
        A bound on how far `descended` of the model that is returned is above its minimum, over the functions of the
        landmarks where there are some: the last of the `gaps`, or with ``average=True`` that of the mean (nan in a
        callback).
    step : ndarray, shape (T,)
        :math:`\eta_t`; from `minimize`, the shares of Newton steps.
    lam : float
        :math:`\lambda`.
    kappa : float
        :math:`\kappa`, the largest :math:`\sqrt{K(x, x)}` over the training rows.
    largest_step : float
        Steps up to this one are known to keep f in a ball (Lemma 3.4). For a loss of your own, on sample points.
    norm_bound : float
        The radius of the ball, :math:`2\kappa|\phi'(0)|/\lambda`; inf if a step was larger.
    status : str
        ``"t_max"``: all steps were taken. ``"stationary"``: the gradient is small (`tol`). ``"callback"``: the callback
        asked to stop. From `minimize` also ``"converged"``, ``"max_iter"``, and ``"stalled"`` where rounding hides any
        progress. ``"running"`` in a callback; ``"interrupted"`` where an exception ended the run, whose attribute
        `trace` this is.
    message : str
        The same in a sentence.
    model : Model
        The function so far, which is what the run returns at its end.
    """

    loss: Vector
    norm: Vector
    gradient_norm: Vector
    step: Vector
    lam: float
    kappa: float
    largest_step: float
    norm_bound: float
    status: str
    message: str
    model: Model
    gap: float
    _slack: Vector

    @property
    def n_iter(self) -> int:
        """Number of steps T."""
        return self.step.size

    @property
    def objective(self) -> Vector:
        r"""Objective (1.3) of the paper, :math:`E_S(f) + \lambda \|f\|_K^2`, shape (T + 1,)."""
        return self.loss + self.lam * self.norm**2

    @property
    def descended(self) -> Vector:
        r"""The function that the steps lower, :math:`E_S(f) + \frac\lambda2 \|f\|_K^2`, shape (T + 1,)."""
        return self.loss + 0.5 * self.lam * self.norm**2

    @property
    def gaps(self) -> Vector:
        r"""Bounds on `descended` less its minimum, shape (T + 1,): squared `gradient_norm` over :math:`2\lambda`.

        Rounding is included, of the gradient and of the scores, but the kernel is taken for what it is computed to be.
        """
        return self.gradient_norm**2 / (2.0 * self.lam) + self._slack

    @property
    def distances(self) -> Vector:
        r"""Bounds on the distance of f from the minimiser in the norm of K: the root of 2/:math:`\lambda` `gaps`."""
        return np.sqrt(2.0 * self.gaps / self.lam)

    def __repr__(self) -> str:
        return (
            f"<Descent: {self.status} after {self.n_iter} steps, mean loss {self.loss[0]:.6g} -> {self.loss[-1]:.6g}, "
            f"gap {self.gap:.2g}>"
        )


@dataclass
class Recorder:
    """Collects the points of a run."""

    lam: float
    kappa: float
    slope: float
    change: float
    largest_step: float
    points: Columns = field(default_factory=lambda: Columns(4))
    """E_S, the norms of f and of the gradient, and the slack of the gap."""
    steps: Columns = field(default_factory=lambda: Columns(1))
    longest: float = 0.0
    _found: deque[tuple[int, Vector]] = field(default_factory=lambda: deque(maxlen=2))
    """Coordinates of the last points by their numbers; after Ctrl-C there may be one more than points."""

    @property
    def at(self) -> Vector:
        """Coordinates of the function of the last point; a KeyError if there is none."""
        return dict(self._found)[self.points.size - 1]

    def add(self, point: Any, at: Vector) -> None:
        """Add a point: its numbers, and coordinates of the function so far, which may be a mean."""
        self._found.append((self.points.size, at.copy()))
        self.points.add(*point)

    def step(self, size: float) -> None:
        """Add a step."""
        self.steps.add(size)
        self.longest = max(self.longest, size)

    def gap(self, point: Any) -> float:
        """Return a bound on the objective less its minimum at a point."""
        return float(point[2] ** 2 / (2.0 * self.lam) + point[3])

    def descent(self, status: str, message: str, model: Model, gap: float) -> Descent:
        """Return the trace so far."""
        (loss, norm, gradient_norm, slack), (step,) = self.points.views(), self.steps.views(self.points.size - 1)
        bound = 2.0 * self.kappa * self.slope / self.lam
        kept = self.longest <= self.largest_step * (1.0 + 1e-12)
        return Descent(
            loss,
            norm,
            gradient_norm,
            step,
            self.lam,
            self.kappa,
            self.largest_step,
            bound if kept else math.inf,
            status,
            message,
            model,
            gap,
            slack,
        )
