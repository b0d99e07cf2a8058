"""What a run leaves behind."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core._threads import as_raised


@dataclass(frozen=True, eq=False)
class Points:
    """Points of which most coordinates may stay what they are at the first."""

    first: Vector
    moved: Sequence[tuple[NDArray[np.intp], Vector]]
    """For each point, coordinates, among them all in which it differs from the first, and what they are."""

    def at(self, t: int) -> Vector:
        """A fresh copy of a point."""
        point = self.first.copy()
        where, values = self.moved[t]
        point[where] = values
        return point


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """The record of a run: one entry per round, and why it ended.

    Attributes
    ----------
    ranker : ndarray of int, shape (T,)
        j_t, index of the weak ranker that round t chose.
    step : ndarray, shape (T,)
        alpha_t, what was added to its coefficient.
    edge : ndarray, shape (T,)
        Its normalised edge before the step, <u, h_j> on the positives minus <w, h_j> on the
        negatives: in units of h, the rate at which log F_p / p falls along the ranker. For another
        price or loss u and w are A and B of `pnorm.objectives.value_and_weights` over the sum of the absolute A.
    z : ndarray, shape (T,)
        z_t = sum over pairs of d_t exp(-alpha_t M), the normaliser of Figure 1 (d); nan for any other
        objective than F_p.
    log_objective : ndarray, shape (T + 1,)
        log F_p in nats, or log R for another price or loss, before the first round and after each one.
    status : str
        ``"t_max"``: all rounds were run. ``"stationary"``: no edge above `tol` was left.
        ``"separable"``: `train` found one weak ranker that puts all positives above all negatives,
        or `minimize` a combination that puts none below, so that the infimum of F_p is not
        attained. ``"callback"``: the callback asked to stop. ``"stalled"``: rounding hides any
        further progress, or `train` is at a corner of the hinge. ``"converged"``: `minimize` has
        proved `tol`, or as much as rounding lets it, and `gap` says how much. ``"max_iter"``: it has not, and its
        steps are used up. ``"running"`` in a callback. ``"interrupted"`` where an error or Ctrl-C ended the run:
        the trace is then the attribute `trace` of the exception.
    message : str
        The same in a sentence with its numbers.
    init : ndarray, shape (n,)
        Coefficients before the first round.
    names : tuple of str, length n
        Names of the weak rankers. A run that starts from this trace (`init`) finds its own by them.
    direction : ndarray, shape (n,), or None
        From `minimize` on data that are not overlapping: coefficients, to be added to `lam` in any
        large multiple, that lower F_p toward its infimum for ever.
    gradient_norm : float
        From `minimize`: Euclidean norm of the gradient of `objective` at the end; nan from `train`.
    path : ndarray, shape (T + 1, n), or None
        From `minimize`: the coefficients themselves. In its rounds all of them move: `ranker` is the
        one with the largest absolute edge, `edge` that edge, `step` the share of the Newton step
        that was taken (nan where it was no Newton step). The array is made when it is first asked for: kept are
        the coefficients that have ever moved, and `lam_at` makes one row of it.
    """

    ranker: NDArray[np.intp]
    step: Vector
    edge: Vector
    z: Vector
    log_objective: Vector
    status: str
    message: str
    init: Vector
    direction: Vector | None = None
    _points: Points | None = None
    gradient_norm: float = math.nan
    names: tuple[str, ...] = ()
    _objective: Vector | None = None
    _gaps: Vector | None = None
    _symbol: str = "log F_p"

    @cached_property
    def path(self) -> NDArray[np.float64] | None:
        if self._points is None:
            return None
        path = np.array([self._points.at(t) for t in range(self.n_iter + 1)])
        path.flags.writeable = False
        return path

    @property
    def objective(self) -> Vector:
        """What was minimised, shape (T + 1,): log F_p plus the penalty ``l2/2 |lam|**2`` if there is one.

        For another price or loss `minimize` lowers R ** (1 / p) for the price ``Power(p)``, log R for the
        exponential price, and R for others, with the penalty.
        """
        return self.log_objective if self._objective is None else self._objective

    @property
    def gaps(self) -> Vector:
        """Certified bounds on objective less infimum, in nats, shape (T + 1,).

        inf where there is no certificate; nan after `train`, which asks for none:
        `pnorm.diagnostics.certificate` gives it for any coefficients. Where there is a `direction`
        and the gap is finite (quasi-separable data), it is that of the limit of
        ``lam + s * direction`` for growing s, not of `lam` itself.
        """
        return np.full(self.n_iter + 1, np.nan) if self._gaps is None else self._gaps

    @property
    def gap(self) -> float:
        """The last of the `gaps`."""
        return float(self.gaps[-1])

    @property
    def n_iter(self) -> int:
        """Number of rounds T."""
        return self.ranker.size

    def lam_at(self, t: int) -> Vector:
        """Return the coefficients after t rounds.

        Parameters
        ----------
        t : int
            0 (the start) to `n_iter` (what `train` returned).

        Returns
        -------
        ndarray, shape (n,)
            A fresh array.

        Raises
        ------
        ValueError
            If t is not in that range.

        Examples
        --------
        >>> import pnorm
        >>> lam, trace = pnorm.train([[2.0, 1.0], [0.0, 2.0]], [[1.0, 0.0], [0.5, 1.5]], t_max=5)
        >>> bool((trace.lam_at(5) == lam).all())
        True
        """
        t = _checks.count(t, "t", 0)
        if t > self.n_iter:
            raise ValueError(f"t must be at most the number of rounds, {self.n_iter}; got {t}")
        if self._points is not None:
            return self._points.at(t)
        lam = self.init.copy()
        np.add.at(lam, self.ranker[:t], self.step[:t])
        return lam

    def __repr__(self) -> str:
        return (
            f"<Trace: {self.status} after {self.n_iter} rounds, "
            f"{self._symbol} {self.log_objective[0]:.6g} -> {self.log_objective[-1]:.6g}>"
        )


class Columns:
    """Columns of numbers that grow; room doubles as they come, so that a snapshot is a view."""

    def __init__(self, n: int, dtype: Any = np.float64) -> None:
        self._room = np.empty((n, 64), dtype)
        self.size = 0

    def add(self, *values: float) -> None:
        """One number for each column."""
        if self.size == self._room.shape[1]:
            self._room = np.concatenate([self._room, np.empty_like(self._room)], axis=1)
        self._room[:, self.size] = values
        self.size += 1

    def last(self) -> NDArray[Any]:
        """The last number of each column; an IndexError where there is none."""
        return np.array(self._room[:, : self.size][:, -1])

    def views(self, size: int | None = None) -> list[NDArray[Any]]:
        """The columns so far, or their first numbers, to be read only."""
        views = [row[: self.size if size is None else size] for row in self._room]
        for view in views:
            view.flags.writeable = False
        return views


@dataclass
class Recorder:
    """Collects the rounds."""

    init: Vector
    log_objective: float
    symbol: str = "log F_p"
    names: tuple[str, ...] = ()
    _rankers: Columns = field(default_factory=lambda: Columns(1, np.intp))
    _rounds: Columns = field(default_factory=lambda: Columns(3))
    _values: Columns = field(default_factory=lambda: Columns(1))

    def __post_init__(self) -> None:
        self._values.add(self.log_objective)
        self.init.flags.writeable = False

    @property
    def n_iter(self) -> int:
        """Rounds so far: the value is the last thing that is recorded of one."""
        return self._values.size - 1

    def add(self, ranker: int, step: float, edge: float, z: float, log_objective: float) -> None:
        """Record one round."""
        self._rankers.add(ranker)
        self._rounds.add(step, edge, z)
        self._values.add(log_objective)

    def trace(self, status: str, message: str) -> Trace:
        """The trace so far."""
        n = self.n_iter
        (ranker,), (step, edge, z), (values,) = self._rankers.views(n), self._rounds.views(n), self._values.views(n + 1)
        return Trace(ranker, step, edge, z, values, status, message, self.init, names=self.names, _symbol=self.symbol)


@dataclass(frozen=True)
class Reached:
    """What a trace keeps of a point."""

    lam: Vector
    log_f: float
    log_mass: float
    value: float
    """log_f and the penalty."""
    gap: float = math.nan
    gradient_norm: float = math.nan


_KEPT = np.empty(0)


@dataclass
class Path:
    """Collects the points of a run in which all coefficients move, and the steps between them."""

    symbol: str = "log F_p"
    names: tuple[str, ...] = ()
    points: list[Reached] = field(default_factory=list)
    """Those before the last without their coefficients, which would be as many numbers as steps times rankers."""
    _moved: list[tuple[NDArray[np.intp], Vector]] = field(default_factory=list)
    _where: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    _first: Vector = field(default_factory=lambda: np.empty(0))
    _steps: list[tuple[int, float, float]] = field(default_factory=list)

    @property
    def n_iter(self) -> int:
        """Number of steps."""
        return len(self._steps)

    def step(self, edges: Vector, share: float, reached: Reached) -> None:
        """A share of the Newton step (nan: another step) from a point with these edges to the next."""
        j = int(np.abs(edges).argmax())
        before = self.points[-1]
        if not self._moved:
            self._first = before.lam
        self._moved.append(self._of(before.lam))
        self._steps.append((j, share, float(edges[j])))
        self.points.append(reached)
        self.points[-2] = replace(before, lam=_KEPT)

    def _of(self, lam: Vector) -> tuple[NDArray[np.intp], Vector]:
        """The coefficients that have ever moved; most of sparse data never do."""
        moved = lam != self._first
        if np.count_nonzero(moved) > np.count_nonzero(moved[self._where]):
            moved[self._where] = True
            self._where = np.flatnonzero(moved)
        return self._where, lam[self._where]

    def replace(self, reached: Reached) -> None:
        """Say more of the last point, or put another in its place."""
        self.points[-1:] = [reached]

    def still(self, rounding: float) -> bool:
        """Whether the last six points are the same to within rounding."""
        values = [point.value for point in self.points[-6:]]
        return len(values) == 6 and max(values) - min(values) <= rounding

    def trace(self, status: str, message: str, direction: Vector | None = None) -> Trace:
        """The trace so far."""
        points = list(self.points)
        steps = self._steps[: len(points) - 1]  # what Ctrl-C may leave behind: a step without its point
        rankers, shares, edges = zip(*steps, strict=True) if steps else ((), (), ())
        moved, last = self._moved[: len(points) - 1], points[-1].lam
        kept = Points(self._first if moved else last, [*moved, self._of(last) if moved else (self._where, last[:0])])
        log_mass = np.array([point.log_mass for point in points])
        arrays = [
            np.array(rankers, dtype=np.intp),
            np.array(shares, dtype=np.float64),
            np.array(edges, dtype=np.float64),
            np.exp(np.minimum(np.diff(log_mass), 700.0)),
            np.array([point.log_f for point in points]),
            kept.first.copy(),
            np.array([point.value for point in points]),
            np.array([point.gap for point in points]),
        ]
        for array in arrays:
            array.flags.writeable = False
        ranker, step, edge, z, log_objective, init, objective, gaps = arrays
        norm = points[-1].gradient_norm
        more = direction, kept, norm, self.names, objective, gaps, self.symbol
        return Trace(ranker, step, edge, z, log_objective, status, message, init, *more)


class carrying:  # noqa: N801, as it stands after `with`
    """Gives an exception that ends a run, a callback's or Ctrl-C, the record so far as its attribute `trace`."""

    def __init__(self, sofar: Callable[[str, str], Any]) -> None:
        self._sofar = sofar

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if error is not None:
            raised: Any = as_raised(error)
            with contextlib.suppress(Exception):  # nothing is recorded yet, or the exception takes no attributes
                raised.trace = self._sofar("interrupted", f"{type(raised).__name__} ended the run")
            if raised is not error:
                raise raised


def counting(t_max: int, progress: bool, unit: str = "round") -> Iterable[int]:
    """Return range(t_max), with a progress bar if one is asked for."""
    if not progress:
        return range(t_max)
    try:
        from tqdm import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm, the extra 'progress' of pnorm: pip install tqdm") from None
    return tqdm(range(t_max), unit=unit)  # type: ignore[no-any-return]
