"""Reductions over rows: a function of some rows of one side, and a rule that merges the answers of two parts.

Solvers need only sums and extremes over the rows. Rows in memory are one part per side. Rows on a cluster have as many
parts as the user's data, and only the results of parts are sent. An executor evaluates a function on all parts and
merges the results in their order.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import Vector
from pnorm._checks.records import record
from pnorm._core import _tilt
from pnorm._solvers.fingerprints import Fingerprints, fingerprint_of
from pnorm._storage.base import Index, Table, by_group
from pnorm._storage.combined import Negated
from pnorm._storage.dense import Dense
from pnorm._storage.double_double import compensated_dot
from pnorm._storage.store import seen, store_part
from pnorm._threads import SERIAL, Pool, merge_exponentials, then
from pnorm.rankers import Rankers

Name = Literal["pos", "neg"]
NAMES: tuple[Name, Name] = ("pos", "neg")

Function = TypeVar("Function", bound=Callable[..., Any])


# Rows ----------------------------------------------------------------------------------------------


@record(frozen=True, eq=False)
class Rows:
    """Rows of one side in one place, those that count."""

    name: Name
    n: int
    table: Any
    """Their `Table`; None if there are no rows."""
    log_c: Vector | None = None
    """Logarithms of case weights, unless these are kept elsewhere."""
    codes: Index | None = None
    """The number of the query group of every row; None if there are no groups."""
    seen: Sequence[Seen] = ()
    """Unknown levels: values of columns of categories that are not levels."""
    pool: Pool = SERIAL
    fingerprint: Fingerprints | None = None
    """The fingerprint of the rows as they were read, if they may be read again."""

    @property
    def sign(self) -> float:
        """1 for positives, -1 for negatives."""
        return 1.0 if self.name == "pos" else -1.0

    def scores(self, lam: Vector, level: float | None = None) -> Vector:
        """H lam; given a level, H lam minus the level, computed in twice the working precision."""
        if level is not None:
            f, rest = compensated_dot(self.table.blocks(), lam)
            return (f - level) + rest
        if not lam.any():
            return np.zeros(self.n)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.pool.run(self.table.combine(lam))[0]  # type: ignore[no-any-return]

    def weigh(self, f: Vector, scales: Sequence[float]) -> tuple[list[Vector], list[tuple[float, float]]]:
        """Return c exp(scale f) for each scale, divided by e^top, and their tops and sums."""
        weights = [np.empty(self.n) for _ in scales]
        return weights, [
            _tilt.weigh(f, self.log_c, w, scale, 0, self.n) for w, scale in zip(weights, scales, strict=True)
        ]

    @property
    def group(self) -> Any:
        """The index that takes one number per group to the rows."""
        return np.intp(0) if self.codes is None else self.codes

    @property
    def groups(self) -> Index:
        """The number of every row's group."""
        return np.zeros(self.n, np.intp) if self.codes is None else self.codes

    def is_level(self, lam: Vector, level: Vector) -> NDArray[np.bool_]:
        """Which rows have the score of their group's level; none in a group whose level is nan."""
        return np.asarray(self.scores(lam) == level[self.group])

    def at_level(self, lam: Vector, level: Vector) -> Rows:
        """The rows with the score of their group's level; groups that have such rows get new numbers."""
        on = np.flatnonzero(self.is_level(lam, level))
        log_c = None if self.log_c is None else self.log_c[on]
        codes = None if self.codes is None else (np.cumsum(~np.isnan(level)) - 1)[self.codes[on]]
        table = self.table.select_rows(on) if on.size else None
        return replace(self, n=on.size, table=table, log_c=log_c, codes=codes)

    def exchanged(self) -> Rows:
        """The rows as those of the other side, with outputs of the other sign."""
        return replace(self, name=NAMES[self.name == "pos"], table=Negated(self.table))

    def columns(self, which: Index) -> Rows:
        """The rows with some of the rankers, as a dense copy."""
        out = np.empty((self.n, which.size), order="F")
        for k, j in enumerate(which.tolist()):
            self.pool.run(self.table.column(j, 0.0, out[:, k]))
        return replace(self, table=Dense(out))

    def subtract(self, shift: Vector) -> Rows:
        """The rows, minus a constant for every ranker."""
        return replace(self, table=self.table.subtract(shift))

    def select(self, rows: Index, codes: Index | None = None) -> Rows:
        """Some of the rows, with these groups."""
        if rows.size == self.n:
            return replace(self, codes=codes)
        log_c = None if self.log_c is None else self.log_c[rows]
        table = self.table.select_rows(rows) if rows.size else None
        return replace(self, n=rows.size, table=table, log_c=log_c, codes=codes)


def rows_of(X: Any, weight: Any, rankers: Rankers, name: Name, number: int, declared: float = math.nan) -> Rows:
    """Return the rows of partition `number` of one side as a worker keeps them, those of weight zero left out.

    There must be as many as were declared, if that is a number.
    """
    with in_partition(number, name):
        check_declared(X.shape[0], declared, name)
        c = None if weight is None else _checks.weights(weight, f"{name}_weight", X.shape[0], some=False)
        every = np.ones(X.shape[0], bool)
        sides = [every, ~every][:: 1 if name == "pos" else -1]
        return marked(sides_of(X, sides, c, rankers, name)[NAMES.index(name)], number)


def marked(rows: Rows, partition: int) -> Rows:
    """Return the rows of a partition with their fingerprint."""
    return replace(rows, fingerprint=fingerprint_of(rows.name, partition, rows.n, rows.table, rows.log_c))


def sides_of(
    X: Any, sides: Sequence[NDArray[np.bool_]], c: Vector | None, rankers: Rankers, name: str
) -> tuple[Rows, Rows]:
    """Return the positive and the negative rows among some rows, which are coded together; `name` is for messages."""
    where = [np.flatnonzero(own if c is None else own & (c > 0.0)) for own in sides]
    if not any(rows.size for rows in where):
        return Rows("pos", 0, None), Rows("neg", 0, None)
    pieces = rankers._pieces(X, name, np.arange(len(rankers)))
    unknown, table = seen(pieces), store_part(pieces)
    found = []
    for of_side, rows in zip(NAMES, where, strict=True):
        if not rows.size:
            found.append(Rows(of_side, 0, None))
            continue
        some = table if rows.size == X.shape[0] else table.select_rows(rows)
        found.append(Rows(of_side, rows.size, some, None if c is None else np.log(c[rows]), None, unknown))
        unknown = [of_column.none for of_column in unknown]  # values of both sides, which are counted once
    return found[0], found[1]


def in_partition(number: int, name: str) -> contextlib.AbstractContextManager[None]:
    """Have errors name the partition."""
    return _checks.located(f"partition {number} of {name}")


def check_declared(n: int, declared: float, name: str) -> None:
    """Refuse a partition whose number of rows differs from its declared chunk."""
    if not math.isnan(declared) and n != declared:
        raise ValueError(
            f"it has {n} rows, but its chunk in {name}.chunks has {declared:.0f}. Declare the chunks as they are, or "
            f"call {name}.compute_chunk_sizes()"
        )


@record(frozen=True, eq=False)
class WeightedRows:
    """Rows with a weight each."""

    rows: Rows
    total: Vector
    """u or w, of sum one over all rows of the side."""
    within: Vector
    """u or w of sum one in every group."""

    @property
    def table(self) -> Table:
        return self.rows.table  # type: ignore[no-any-return]

    @property
    def group(self) -> Any:
        """The index that takes one number per group to the rows."""
        return self.rows.group

    @property
    def groups(self) -> Index:
        """The number of every row's group."""
        return self.rows.groups

    def sums(self, weights: Vector, n_groups: int) -> Any:
        """Pass: weights.T @ H in every group, (G, n)."""
        if self.rows.codes is None:
            return then(self.table.sums(weights), lambda sums: sums[None])
        return self.table.sums(by_group(weights, self.rows.codes, n_groups))

    def by_group(self, values: Vector, n_groups: int) -> Vector:
        """Return the sum of values in every group, (G,)."""
        codes = self.rows.codes
        sums = values.sum(keepdims=True) if codes is None else np.bincount(codes, values, n_groups)
        return np.asarray(sums, dtype=np.float64)


# Weights -------------------------------------------------------------------------------------------


@record(frozen=True, eq=False)
class HeldWeights:
    """u and w as arrays, and with groups their shares and the weights within them.

    Weights of any kind have `share` and `job`. A job is a reduction over rows of a side; the method `on` of its first
    argument gives the rows their weights.
    """

    total: tuple[Vector, Vector]
    """u and w, each of sum one."""
    within: tuple[Vector, Vector] | None
    """u and w of sum one in every group, which do not underflow with its share; None if they are not needed."""
    share: Vector
    """Shares of the groups, (G,), of sum one."""

    def of_columns(self, _: Index) -> HeldWeights:
        """The same weights for rows of some rankers only."""
        return self

    def job(self, side: int, parts: Sequence[Any], spans: Sequence[slice], shared: tuple[Any, ...]) -> Job:
        total = self.total[side]
        within = total if self.within is None else self.within[side]
        return Job(parts, shared, [_OfPart(total[rows], within[rows]) for rows in spans])


@record(frozen=True, eq=False)
class _OfPart:
    """Weights of the rows of one part."""

    total: Vector
    within: Vector

    def on(self, rows: Rows) -> WeightedRows:
        return WeightedRows(rows, self.total, self.within)


@dataclass(frozen=True, eq=False)
class FormedWeights:
    """Weights that every part forms by itself, from coefficients and the sums over all rows."""

    lam: Vector
    scales: tuple[float, float]
    """Factors of the scores in the exponents of positives and of negatives; zero gives all rows the same weight."""
    totals: tuple[tuple[float, float], tuple[float, float]]
    """Sums over all rows, as the largest exponent and the remaining factor; their log would have fewer digits."""
    level: float | None = None
    """Subtracted from the scores if they are formed in twice the working precision."""

    @property
    def share(self) -> Vector:
        return np.ones(1)

    def of_columns(self, which: Index) -> FormedWeights:
        """The same weights for rows of some rankers only, all whose coefficients are not zero among them."""
        return replace(self, lam=self.lam[which])

    def job(self, side: int, parts: Sequence[Any], spans: Sequence[slice], shared: tuple[Any, ...]) -> Job:
        return Job(parts, (self, *shared))

    def on(self, rows: Rows) -> WeightedRows:
        weights = self.at(rows, rows.scores(self.lam, self.level))
        return WeightedRows(rows, weights, weights)

    def at(self, rows: Rows, f: Vector) -> Vector:
        """Return the weights of rows with these scores."""
        scale, total = self.scale(rows), self.totals[NAMES.index(rows.name)]
        weights = np.empty(rows.n)
        top, _ = _tilt.weigh(f, rows.log_c if scale else None, weights, scale, 0, rows.n)
        _tilt.rescale_rows(weights, math.exp(top - total[0]) / total[1], 0, rows.n)
        return weights

    def scale(self, rows: Rows) -> float:
        """Return the factor of the scores in exponents."""
        return self.scales[NAMES.index(rows.name)]


Weights = HeldWeights | FormedWeights


# Reductions and their merges -----------------------------------------------------------------------


def triangle_of(rows: Iterable[Any], n: int | None = None) -> Any:
    """Return the triangle R of a QR decomposition of blocks of rows, with n columns if there may be no rows."""
    from scipy.linalg import qr

    triangle = None if n is None else np.zeros((n, n))
    for block in rows:
        stacked = block if triangle is None else np.concatenate([triangle, block])
        triangle = qr(stacked, mode="r")[0][: stacked.shape[1]]
    return triangle


_MERGES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": add,
    "list": add,
    "min": np.minimum,
    "max": np.maximum,
    "first": lambda a, b: np.where(np.isnan(a), b, a),
    "triangle": lambda a, b: triangle_of([a, b], a.shape[1]),
    "exponentials": lambda a, b: merge_exponentials([a, b]),
    "rows": lambda a, b: np.concatenate([a, b]),
}


def reduction(*rules: str) -> Callable[[Function], Function]:
    """Mark a function of some rows with the rules by which its results merge, one word for each result."""
    merges = [_MERGES[word] for word in rules]

    def merge(a: Any, b: Any) -> Any:
        if len(merges) == 1:
            return merges[0](a, b)
        return tuple([one(x, y) for one, x, y in zip(merges, a, b, strict=True)])

    def mark(function: Function) -> Function:
        function.merge = merge  # type: ignore[attr-defined]
        return function

    return mark


def each(one: Any) -> Callable[[Function], Function]:
    """Mark a function that returns a list of results of a reduction, the same number for every part."""

    def merge(a: Any, b: Any) -> Any:
        return [one.merge(x, y) for x, y in zip(a, b, strict=True)]

    def mark(function: Function) -> Function:
        function.merge = merge  # type: ignore[attr-defined]
        return function

    return mark


def merged(asked: Callable[..., Any], answers: Sequence[Any]) -> Any:
    """Merge the results of several parts into one, in their order."""
    return reduce(asked.merge, answers)  # type: ignore[attr-defined]


class Weighted:
    """A reduction over weighted rows, as a reduction over rows and an object that gives them their weights."""

    def __init__(self, function: Any) -> None:
        self.function, self.merge = function, function.merge

    def __call__(self, rows: Rows, weights: Any, *arguments: Any) -> Any:
        """Give the rows their weights, and reduce."""
        return self.function(weights.on(rows), *arguments)


# Executors -----------------------------------------------------------------------------------------


@record(frozen=True, eq=False)
class Job:
    """The parts of one side, and the arguments of a reduction."""

    handles: Sequence[Any]
    shared: tuple[Any, ...] = ()
    """Arguments for all parts."""
    own: Sequence[Any] | None = None
    """An argument for each part, which comes first."""

    def arguments(self, k: int) -> tuple[Any, ...]:
        """Return the arguments of part k."""
        return self.shared if self.own is None else (self.own[k], *self.shared)


class Executor(Protocol):
    """An executor of reductions over parts of rows."""

    in_memory: bool
    """Whether handles are the rows themselves."""

    def reduce(self, function: Any, jobs: Sequence[Job]) -> list[Any]:
        """Return the result for each job; the results of its parts are merged in their order."""

    def changed(
        self, function: Any, handles: Sequence[Any], *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return other rows in place of given rows; `own` has an argument for each part, which comes first."""

    def first(self, function: Any, handle: Any) -> Any:
        """Return the function of one part."""


class InMemory:
    """Rows in this process, one part for each side; passes of both sides share the threads of a pool."""

    in_memory = True

    def __init__(self, pool: Pool = SERIAL) -> None:
        self.pool = pool

    def reduce(self, function: Any, jobs: Sequence[Job]) -> list[Any]:
        return self.pool.run(*[function(*job.handles, *job.arguments(0)) for job in jobs])

    def changed(
        self, function: Any, handles: Sequence[Any], *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        job = Job(handles, arguments, own)
        return [function(rows, *job.arguments(k)) for k, rows in enumerate(handles)]

    def first(self, function: Any, handle: Any) -> Any:
        return function(handle)


def answer(function: Any, rows: Rows, *arguments: Any) -> Any:
    """Return the result of one part, whose passes are run here."""
    return SERIAL.run(function(rows, *arguments))[0]
