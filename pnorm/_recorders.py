"""Records of a run while it lasts: what a round or a step appends, and the trace so far."""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._checks.text import install
from pnorm._core._threads import as_raised
from pnorm._trace import Points, Trace

_T = TypeVar("_T")


class Columns:
    """Named columns of numbers that grow. Their room doubles, so that a snapshot is a view."""

    def __init__(self, **dtypes: Any) -> None:
        self._room = {name: np.empty(64, dtype) for name, dtype in dtypes.items()}
        self.size = 0

    def add(self, *values: float) -> None:
        """Add one number to each column; the size grows last."""
        if self.size == next(iter(self._room.values())).size:
            self._room = {name: np.concatenate([room, np.empty_like(room)]) for name, room in self._room.items()}
        for room, value in zip(self._room.values(), values, strict=True):
            room[self.size] = value
        self.size += 1

    def extend(self, *columns: NDArray[Any]) -> None:
        """Add some numbers to each column; the size grows last."""
        size = self.size + columns[0].size
        if (short := size - next(iter(self._room.values())).size) > 0:
            more = max(short, self.size)
            self._room = {name: np.concatenate([room, np.empty(more, room.dtype)]) for name, room in self._room.items()}
        for room, values in zip(self._room.values(), columns, strict=True):
            room[self.size : size] = values
        self.size = size

    def first(self, n: int) -> dict[str, Any]:
        """Return the first n numbers of each column by its name, as views that cannot be written to."""
        views = {name: room[:n] for name, room in self._room.items()}
        for view in views.values():
            view.flags.writeable = False
        return views


class Recorder(ABC, Generic[_T]):
    """The record of a run so far: numbers of its points, and of the steps between them.

    Ctrl-C may come between any two lines. A step therefore counts only when the last of its numbers is written, and
    `trace` leaves out whatever does not count.
    """

    unit = "step"

    def __init__(self, points: Columns, steps: Columns) -> None:
        self.points, self.steps = points, steps
        self._iterates: deque[tuple[int, Any]] = deque(maxlen=2)

    @property
    def n_iter(self) -> int:
        """Number of steps so far: there is one more point."""
        return self.points.size - 1

    @property
    def last(self) -> Any:
        """The iterate at the last point; a KeyError before the first one."""
        return dict(self._iterates)[self.n_iter]

    def _keep(self, n: int, iterate: Any) -> None:
        """Keep the iterate of point n. It becomes the last one when the point counts."""
        self._iterates.append((n, iterate))

    def arrays(self) -> dict[str, Any]:
        """Return the numbers so far by their names."""
        return self.points.first(self.n_iter + 1) | self.steps.first(self.n_iter)

    @abstractmethod
    def trace(self, status: str, message: str) -> _T:
        """Return the trace so far."""

    def stopped_by(self, callback: Callable[[_T], bool | None] | None) -> bool:
        """Show the trace so far to a callback, and return whether it asks to stop."""
        return callback is not None and bool(callback(self.trace("running", f"after {self.unit} {self.n_iter}")))


class RoundRecorder(Recorder[Trace]):
    """Record of the rounds of `train`, each of which moves one coefficient."""

    unit = "round"

    def __init__(
        self,
        init: Vector,
        log_objective: float,
        intercept: float,
        symbol: str = "log F_p",
        names: tuple[str, ...] = (),
        told: str = "",
    ) -> None:
        points = Columns(log_objective=float, _intercepts=float)
        super().__init__(points, Columns(ranker=np.intp, step=float, edge=float, z=float))
        self.points.add(log_objective, intercept)
        init.flags.writeable = False
        self._init, self._symbol, self._names, self._told = init, symbol, names, told

    def add(self, ranker: int, step: float, edge: float, z: float, log_objective: float, intercept: float) -> None:
        """Record one round."""
        self.steps.add(ranker, step, edge, z)
        self.points.add(log_objective, intercept)

    def extend(self, rankers: NDArray[np.intp], numbers: NDArray[np.float64]) -> None:
        """Record several rounds, with the numbers that `add` takes, a row for those of each name."""
        self.steps.extend(rankers, *numbers[:3])
        self.points.extend(*numbers[3:])

    def trace(self, status: str, message: str) -> Trace:
        return Trace(
            **self.arrays(),
            status=status,
            message=message,
            init=self._init,
            names=self._names,
            _symbol=self._symbol,
            _told=self._told,
        )


@dataclass(frozen=True)
class Iterate:
    """Coefficients on the way of a solver, with the numbers that the trace keeps."""

    lam: Vector
    log_f: float
    log_mass: float
    value: float
    """The objective, with its penalty."""
    intercept: float
    gap: float = math.nan
    gradient_norm: float = math.nan


class History(Recorder[Trace]):
    """Record of a solver that moves all coefficients at once.

    The last iterate may be replaced. It joins the columns when the next step leaves it.
    """

    def __init__(self, symbol: str = "log F_p", names: tuple[str, ...] = (), told: str = "") -> None:
        points = Columns(log_f=float, log_mass=float, value=float, intercept=float, gap=float)
        super().__init__(points, Columns(ranker=np.intp, step=float, edge=float))
        self._symbol, self._names, self._told = symbol, names, told
        self._moved: list[tuple[NDArray[np.intp], Vector]] = []
        self._where = np.empty(0, np.intp)
        self._first = np.empty(0)

    @property
    def n_iter(self) -> int:
        return self.steps.size

    def replace(self, iterate: Iterate) -> None:
        """Put an iterate in the place of the last one, or at the start."""
        self._keep(self.n_iter, iterate)

    def add(self, edges: Vector, share: float, after: Iterate) -> None:
        """Record a step from a point with these edges: a share of the Newton step, or nan for another kind of step."""
        j, before = int(np.abs(edges).argmax()), self.last
        if not self._moved:
            self._first = before.lam
        self._moved[self.n_iter :] = [self._changed(before.lam)]
        self.points.add(before.log_f, before.log_mass, before.value, before.intercept, before.gap)
        self._keep(self.n_iter + 1, after)
        self.steps.add(j, share, float(edges[j]))

    def _changed(self, lam: Vector) -> tuple[NDArray[np.intp], Vector]:
        """Return the coefficients that have ever changed; most of sparse data never do."""
        changed = lam != self._first
        if np.count_nonzero(changed) > np.count_nonzero(changed[self._where]):
            changed[self._where] = True
            self._where = np.flatnonzero(changed)
        return self._where, lam[self._where]

    def is_flat(self, rounding: float) -> bool:
        """Return whether the last six values are equal to within rounding."""
        values = [*self.points.first(self.n_iter)["value"][-5:], self.last.value]
        return len(values) == 6 and max(values) - min(values) <= rounding

    def trace(self, status: str, message: str, direction: Vector | None = None) -> Trace:
        n, last = self.n_iter, self.last
        moved = self._moved[:n]
        first = self._first if moved else last.lam
        kept = Points(first, [*moved, self._changed(last.lam) if moved else (self._where, last.lam[:0])])
        numbers = {name: np.append(some, getattr(last, name)) for name, some in self.points.first(n).items()}
        arrays: dict[str, Any] = {
            "z": np.exp(np.minimum(np.diff(numbers["log_mass"]), 700.0)),
            "log_objective": numbers["log_f"],
            "init": first.copy(),
            "_objective": numbers["value"],
            "_gaps": numbers["gap"],
            "_intercepts": numbers["intercept"],
        }
        for array in arrays.values():
            array.flags.writeable = False
        return Trace(
            **self.steps.first(n),
            **arrays,
            status=status,
            message=message,
            direction=direction,
            gradient_norm=last.gradient_norm,
            names=self._names,
            _points=kept,
            _symbol=self._symbol,
            _told=self._told,
        )


class attach_trace:  # noqa: N801, as it stands after `with`
    """Context that gives an exception which ends a run the trace so far as its attribute `trace`.

    The exception may be a callback's or Ctrl-C.
    """

    def __init__(self, partial_trace: Callable[[str, str], Any]) -> None:
        self._partial_trace = partial_trace

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if error is not None:
            raised: Any = as_raised(error)
            with contextlib.suppress(Exception):  # nothing is recorded yet, or the exception takes no attributes
                raised.trace = self._partial_trace("interrupted", f"{type(raised).__name__} ended the run")
            if raised is not error:
                raise raised


def progress_range(t_max: int, progress: bool | Callable[[int, int], object], unit: str = "round") -> Iterable[int]:
    """Return range(t_max), with a progress bar if one is asked for, or calls of a function of (done, t_max)."""
    if callable(progress):
        return _reported(t_max, progress)
    if not progress:
        return range(t_max)
    try:
        from tqdm import tqdm
    except ImportError:
        raise ImportError(f"progress=True needs tqdm. {install('progress')}") from None
    return tqdm(range(t_max), unit=unit)  # type: ignore[no-any-return]


def _reported(t_max: int, report: Callable[[int, int], object]) -> Iterator[int]:
    for k in range(t_max):
        report(k, t_max)
        yield k
    report(t_max, t_max)
