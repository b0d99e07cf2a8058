"""The record of a run in a kernel space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnorm._checks import Vector
from pnorm._recorders import Columns, Recorder
from pnorm.kernel._model import Model
from pnorm.kernel._problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class Descent:
    """The record of a run in a kernel space.

    The first entry of an array is for ``f_1 = 0``, the last for ``f_{T+1}``.

    Attributes
    ----------
    loss : ndarray, shape (T + 1,)
        E_S, the mean loss over pairs; with p > 1 or a price, the other mean that `train` defines.
    norm : ndarray, shape (T + 1,)
        ``‖f‖``.
    gradient_norm : ndarray, shape (T + 1,)
        An upper bound of the norm of the gradient of `descended`, rounding included, with the left derivative of the
        loss.
    gap : float
        A bound on how far `descended` of the returned model is above its minimum. With landmarks, the minimum is over
        their functions. It is the last of the `gaps`, or with ``average=True`` that of the mean (nan in a callback).
    step : ndarray, shape (T,)
        η_t; from `minimize`, the fractions of Newton steps.
    lam : float
        λ.
    kappa : float
        κ, the largest ``sqrt(K(x, x))`` over the training rows.
    largest_step : float
        The largest step that is known to keep f in a ball (Lemma 3.4). For a loss of your own it is computed on sample
        points. With p > 1 or a price it is that of the lemma.
    norm_bound : float
        The radius of the ball, ``2 κ |φ'(0)| / λ``; inf if a step was larger.
    status : str
        ``"t_max"``: all steps were taken. ``"stationary"``: the gradient is small (`tol`). ``"callback"``: the callback
        stopped the run. From `minimize` also ``"converged"``, ``"max_iter"``, and ``"stalled"`` if rounding hides any
        progress. ``"running"`` in a callback. ``"interrupted"`` if an exception ended the run; the trace is then the
        attribute `trace` of the exception.
    message : str
        The status as a sentence.
    model : Model
        The function so far; at the end it is the one that is returned.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> model, trace = pnorm.kernel.minimize(data.pos[:60], data.neg[:40], "polynomial", lam=0.1)
    >>> trace.status, trace.gap < 1e-10, trace.n_iter == trace.step.size
    ('converged', True, True)
    >>> trace.objective.shape == trace.descended.shape == trace.gaps.shape
    True
    >>> bool(trace.distances[-1] < 1e-4)
    True
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
        """Objective (1.3) of the paper, ``E_S(f) + λ ‖f‖²``, shape (T + 1,)."""
        return self.loss + self.lam * self.norm**2

    @property
    def descended(self) -> Vector:
        """The function that the steps lower, ``E_S(f) + λ/2 ‖f‖²``, shape (T + 1,)."""
        return self.loss + 0.5 * self.lam * self.norm**2

    @property
    def gaps(self) -> Vector:
        """Bounds on `descended` minus its minimum, shape (T + 1,): squared `gradient_norm` over 2λ.

        Rounding of the gradient and of the scores is included. The computed kernel is taken as exact.
        """
        return self.gradient_norm**2 / (2.0 * self.lam) + self._slack

    @property
    def distances(self) -> Vector:
        """Bounds on the distance of f from the minimiser in the norm of K: the root of 2/λ `gaps`."""
        return np.sqrt(2.0 * self.gaps / self.lam)

    def __repr__(self) -> str:
        return (
            f"<Descent: {self.status} after {self.n_iter} steps, mean loss {self.loss[0]:.6g} -> {self.loss[-1]:.6g}, "
            f"gap {self.gap:.2g}>"
        )


class DescentRecorder(Recorder[Descent]):
    """Record of a run in a kernel space. An iterate holds the coordinates of the current function."""

    def __init__(
        self,
        problem: Problem,
        lam: float,
        kappa: float,
        slope: float,
        change: float,
        largest_step: float,
        average: bool,
    ) -> None:
        points = Columns(loss=float, norm=float, gradient_norm=float, _slack=float)
        super().__init__(points, Columns(step=float))
        self.lam, self.kappa, self.change, self.largest_step = lam, kappa, change, largest_step
        self._problem, self._average = problem, average
        self._radius, self._longest = 2.0 * kappa * slope / lam, 0.0

    def add(self, point: tuple[float, ...], iterate: Vector) -> None:
        """Record a point: E_S, the norms of f and of the gradient, and the slack of the gap."""
        self._keep(self.points.size, iterate.copy())
        self.points.add(*point)

    def step(self, size: float) -> None:
        """Record the size of a step."""
        self.steps.add(size)
        self._longest = max(self._longest, size)

    def gap(self, point: Sequence[float]) -> float:
        """Return a bound on the objective at a point minus its minimum."""
        return float(point[2] * point[2] / (2.0 * self.lam) + point[3])

    def trace(self, status: str, message: str, gap: float | None = None) -> Descent:
        """Return the trace so far. The gap of a mean is only known at the end."""
        arrays, model = self.arrays(), self._problem.model(self.last)
        if gap is None:
            point = [arrays[name][-1] for name in ("loss", "norm", "gradient_norm", "_slack")]
            gap = math.nan if self._average else self.gap(point)
        return Descent(
            **arrays,
            lam=self.lam,
            kappa=self.kappa,
            largest_step=self.largest_step,
            norm_bound=self._radius if self._longest <= self.largest_step * (1.0 + 1e-12) else math.inf,
            status=status,
            message=message,
            model=model,
            gap=gap,
        )
