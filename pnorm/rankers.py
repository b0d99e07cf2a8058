"""Weak rankers: from rows of data to outputs h_1(x), ..., h_n(x).

A collection knows its `names` and its length, gives one weak ranker by index (a callable), turns
rows into the matrix of all outputs, can be added to another and written to JSON. `pnorm.train`
and `pnorm.score` take a collection, a plain sequence of callables, or None, which stands for the columns of the data.
"""

from __future__ import annotations

import itertools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Column, Seen, UnknownLevelWarning, distinct, tell
from pnorm._checks import Vector
from pnorm._checks.text import first, shown
from pnorm._storage import scoring
from pnorm._storage.coded import LARGEST_FEATURE, Codes, Cuts, Feature
from pnorm._storage.store import OfFeature, OfMatrix, Piece
from pnorm._threads import Pool

__all__ = [
    "Rankers",
    "UnknownLevelWarning",
    "WeakRanker",
    "callables",
    "categories",
    "closed",
    "columns",
    "from_dict",
    "normalized",
    "quantile_thresholds",
    "thresholds",
]

_FORMAT, _VERSION = "pnorm.rankers", 1

_MISSING, _LINE = " is missing", " (line)"
"""Ends of names."""

_WIDEST = 2**31
"""Columns of which a number alone may ask."""

Index = NDArray[np.intp]

Signs = NDArray[np.int8]

Found = tuple[str, ...] | None
"""Names of the columns of a data frame; None for rows without names."""


class WeakRanker:
    """One weak ranker of a collection: a callable from rows to outputs (N,), with a `name`."""

    def __init__(self, collection: Rankers, index: int) -> None:
        self.name = collection.names[index]
        self._collection, self._index = collection, index

    def __call__(self, X: Any) -> Vector:
        """Return the outputs h(x), shape (N,), on the rows of X."""
        return self._collection._output(self._collection._read(X, "X"), self._index, "X")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WeakRanker):
            return NotImplemented
        return self._index == other._index and self._collection == other._collection

    def __hash__(self) -> int:
        return hash((self.name, self._index))

    def __repr__(self) -> str:
        return f"<weak ranker {shown(self.name)}>"


class Rankers(ABC, Sequence[WeakRanker]):
    """A collection of weak rankers; made by the functions of this module.

    Attributes
    ----------
    names : tuple of str
        One name per weak ranker, for tables and plots.
    signs : ndarray of int8, shape (n,)
        Signs that the coefficients must have: 1 for zero or more, -1 for zero or less, 0 for any. They come from
        `monotone`, where a collection is made.
    column : ndarray of int, shape (n,)
        Which column each weak ranker reads, as a number in `column_names`. Cuts, a line and the indicator of missing
        values of one column have one number. In a sum of collections, columns of one name, or without names of
        one place, are one. A function is a column by itself.
    column_names : tuple of str
        The columns that are read, in the order in which the weak rankers first do.
    """

    _found: Found = None
    """Names of the columns that these rankers read by name, if they were made from a frame."""
    _width: int | None = None
    """Columns that these rankers were made for; None for any number."""
    _kept: Any = None
    """A cache: what a call forms of the collection alone, for the next call, maybe of a single row. Not pickled."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    # What a kind of collection has to say: how it reads rows, and one output.

    @abstractmethod
    def _read(self, X: Any, name: str, seen: list[Seen] | None = None) -> Any:
        """Check rows X, called `name` in messages, and return them as `_output` wants them.

        Of levels that are not known it warns, or writes them down.
        """

    @abstractmethod
    def _output(self, rows: Any, j: int, name: str) -> Vector:
        """Return output j on rows that `_read` has returned."""

    # What a solver asks beside the outputs.

    @property
    def signs(self) -> Signs:
        """Signs that the coefficients must have."""
        return np.zeros(len(self), np.int8)

    @property
    def column(self) -> Index:
        """Which column each weak ranker reads."""
        place: dict[Hashable, int] = {}
        return np.array([place.setdefault(key, len(place)) for key, _ in self._reads()], np.intp)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns that are read."""
        label: dict[Hashable, str] = {}
        for key, name in self._reads():
            label.setdefault(key, name)
        return tuple(label.values())

    def _reads(self) -> list[tuple[Hashable, str]]:
        """Return what each weak ranker reads, the same for all that read it, and a name of this."""
        return [((id(self), j), name) for j, name in enumerate(self.names)]

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        """What the rankers of each column add to a score, but for a constant; with the number of one of them.

        Coefficients of functions, and of columns as they are, which have no ends, are not in it.
        """
        return []

    # What follows from that, and what a collection may know a faster way for.

    def _matrix(self, X: Any, name: str) -> Any:
        return self._outputs(self._read(X, name), name)

    def _outputs(self, rows: Any, name: str) -> Any:
        """Return all outputs on rows that `_read` has returned."""
        h = self._output(rows, 0, name)
        values = np.empty((h.size, len(self)), order="F")
        values[:, 0] = h
        for j in range(1, len(self)):
            values[:, j] = self._output(rows, j, name)
        return values

    def _terms(self, X: Any, lam: Vector) -> list[scoring.Term]:
        """Terms whose sum is the score of rows X; what rankers with coefficient zero read is not looked at."""
        if not lam.any():
            return []
        rows = self._read(X, "X")
        f = np.zeros(_checks.n_rows(X, "X"))
        for j in np.flatnonzero(lam):
            f += lam[j] * self._output(rows, int(j), "X")
        return [scoring.Values(f)]

    def _check_sides(self, pos: Any, neg: Any) -> None:
        """Refuse rows of both sides that do not go together."""

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        """Return the outputs on rows as training stores them; the rankers have the numbers `where`, 1 - h those in
        `complements`.
        """
        return [OfMatrix(self._matrix(X, name), where, complements)]

    def _fields(self) -> dict[str, Any]:
        """Return the fields for `from_dict` beside the names, with `kind`: numbers, strings, lists and dictionaries."""
        raise TypeError("functions cannot be written to a file; keep the code that makes these weak rankers")

    def __add__(self, other: object) -> Rankers:
        """The weak rankers of this collection, followed by those of another, or by functions in a list."""
        if isinstance(other, (list, tuple)):
            other = callables(other)
        if not isinstance(other, Rankers):
            return NotImplemented
        return _Union([part for H in (self, other) for part in (H._members if isinstance(H, _Union) else (H,))])

    def __radd__(self, other: object) -> Rankers:
        """Functions in a list, followed by these weak rankers; 0, with which `sum` begins, adds none."""
        if isinstance(other, (list, tuple)):
            return callables(other) + self
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Return the collection as a dictionary that `json.dumps` takes.

        Returns
        -------
        dict
            `from_dict` makes of it a collection with the same outputs, bit for bit. Nothing in it
            is code.

        Raises
        ------
        TypeError
            If functions are among the weak rankers.

        Examples
        --------
        >>> import pnorm
        >>> pnorm.rankers.thresholds([[0.5]]).to_dict()["kind"]
        'thresholds'
        """
        return {"format": _FORMAT, "version": _VERSION, **self._fields(), "names": list(self.names)}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Rankers:
        """Make the collection that `to_dict` has written.

        Parameters
        ----------
        data : dict
            As `to_dict` returns it.

        Returns
        -------
        Rankers
            What `pnorm.rankers.from_dict` makes of it.
        """
        return from_dict(data)

    def evaluate(self, X: Any) -> Any:
        """Return all outputs on the rows of X.

        Parameters
        ----------
        X : array_like, shape (N, d), or a sequence of N things where the rankers are callables
            The rows.

        Returns
        -------
        ndarray, shape (N, n)
            Column j holds h_j(x). Where the rankers are the columns themselves, this is X, sparse if
            X is, without a copy where its layout allows.

        Raises
        ------
        ValueError, TypeError
            If X is not a finite matrix of numbers with the columns that the rankers read.
        """
        return self._matrix(X, "X")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> WeakRanker: ...
    @overload
    def __getitem__(self, index: slice) -> list[WeakRanker]: ...
    def __getitem__(self, index: int | slice) -> WeakRanker | list[WeakRanker]:
        if isinstance(index, slice):
            return [WeakRanker(self, j) for j in range(*index.indices(len(self)))]
        j = operator.index(index)
        if not -len(self) <= j < len(self):
            raise IndexError(f"weak ranker {j} of {len(self)}")
        return WeakRanker(self, j % len(self))

    def __eq__(self, other: object) -> bool:
        """Whether another collection has the same weak rankers in the same order."""
        if not isinstance(other, Rankers):
            return NotImplemented
        return self is other or (type(self) is type(other) and self.names == other.names and self._same(other))

    def __hash__(self) -> int:
        return hash(self.names)

    def _same(self, other: Any) -> bool:
        """Whether a collection of this kind, and with these names, has the same weak rankers."""
        return bool(self._fields() == other._fields())

    def __repr__(self) -> str:
        return f"<{len(self)} weak rankers: {first(self.names, 4)}>"


@dataclass(frozen=True, eq=False)
class _Curve:
    """What rankers of a column add to a score: a staircase, a straight line, or both."""

    cuts: Vector
    values: Vector
    """Between the cuts, below the first and above the last: one more than there are cuts."""
    rise: float
    """Of a line from 0 at the first cut to this at the last one."""
    missing: float
    """Where the value is missing; nan where none is."""

    def at(self, x: Vector, above: NDArray[np.bool_]) -> Vector:
        """Return what is added at x, or just above it."""
        stairs = self.values[np.where(above, self.cuts.searchsorted(x, "right"), self.cuts.searchsorted(x))]
        first, last = self.cuts[0], self.cuts[-1]
        return np.asarray(stairs + self.rise * ((x - first) / (last - first)) if self.rise else stairs)


@dataclass(frozen=True, eq=False)
class _Levels:
    """What rankers of a column of categories add to a score."""

    names: tuple[str, ...]
    values: Vector


_Shape = _Curve | _Levels


@dataclass(frozen=True, eq=False)
class _Plan:
    """The rankers and columns that scores with some coefficients read: the same for all rows, and kept for them."""

    of: Vector
    """The coefficients of all rankers."""
    lam: Vector
    """Those that are not zero."""
    rankers: Index
    """The rankers that have these."""
    columns: Index
    """The columns that these rankers read."""
    jumps: scoring.Jumps | None = None
    """The sum of thresholds of each column."""


class _OfColumns(Rankers):
    """Rankers that read the columns of a matrix.

    They know how many columns they were made for (None: any number) and, where those came in a
    data frame, their names. Of another frame they read the columns of these names, whatever else
    it has and in whatever order.
    """

    _missing: bool | None = None
    """Whether NaN may stand for a missing value; None where it never may."""
    _monotone: Mapping[int, int] = MappingProxyType({})
    """Signs of the coefficients of columns that have one."""

    def __init__(
        self, names: Sequence[str], width: int | None, found: Found, monotone: Mapping[int, int] | None = None
    ) -> None:
        super().__init__(names)
        self._width, self._found = width, found
        if monotone:
            self._monotone = dict(monotone)

    def _fields(self) -> dict[str, Any]:
        signs = {"monotone": [[column, sign] for column, sign in self._monotone.items()]} if self._monotone else {}
        return {"width": self._width, "columns": None if self._found is None else list(self._found), **signs}

    def _places_read(self) -> list[int]:
        """Return the place of the column that each weak ranker reads."""
        return list(range(len(self)))

    @property
    def signs(self) -> Signs:
        if not self._monotone:
            return super().signs
        return np.array([self._monotone.get(c, 0) for c in self._places_read()], np.int8)

    def _reads(self) -> list[tuple[Hashable, str]]:
        places = self._places_read()
        if self._found is not None:
            return [(self._found[c], self._found[c]) for c in places]
        return list(zip(places, self.names, strict=True))

    def _read(self, X: Any, name: str, seen: list[Seen] | None = None) -> Any:
        A = _checks.matrix(_checks.pick(X, self._found, name), name, self._missing)
        self._fits(A.shape[1], name)
        return A

    def _fits(self, width: int, name: str) -> None:
        """Refuse rows of which these rankers could not tell which column is which."""
        if self._width is not None and width != self._width:
            raise ValueError(_too_wide(width, name, self._width, self._found))

    def _check_sides(self, pos: Any, neg: Any) -> None:
        """Refuse different forms, and whole numbers that are other ones on the other side and the same as floats."""
        sides = [
            _checks.list_to_array(_checks.pick(X, self._found, name), name) for X, name in ((pos, "pos"), (neg, "neg"))
        ]
        _checks.same_form(*sides)
        _checks.stay_apart(sides, "pos or neg")

    def _places(self, X: Any, columns: Index) -> Index:
        """Return the places in rows X of columns that these rankers know by number."""
        found = _checks.column_names(X)
        if self._found is None or found is None or found == self._found:
            self._fits(_checks.width(X, "X"), "X")
            return columns
        return np.array(_checks.places(found, [self._found[j] for j in columns], "X"), dtype=np.intp)

    def _terms(self, X: Any, lam: Vector) -> list[scoring.Term]:
        plan: _Plan | None = self._kept
        if plan is None or not np.array_equal(plan.of, lam):
            plan = self._kept = self._plan(lam.copy())
        places = self._places(X, plan.columns)
        if not plan.lam.size:
            return []
        if _checks.is_sparse(X):
            A = _checks.sparse(X, "X")
            _checks.stay_apart([X], "X", places)
            return self._sparse_terms(A, places, plan)
        return self._terms_of(_checks.some(X, "X", self._missing, places), plan)

    def _plan(self, lam: Vector) -> _Plan:
        """Return what scores with some coefficients need, whatever the rows."""
        used = np.flatnonzero(lam)
        return _Plan(lam, lam[used], used, used)

    def _sparse_terms(self, X: Any, places: Index, plan: _Plan) -> list[scoring.Term]:
        """Terms of the plan, from a sparse matrix that has its columns in such places."""
        return self._terms_of(_checks.sparse_columns(X, "X", self._missing, places), plan)

    @abstractmethod
    def _terms_of(self, columns: Any, plan: _Plan) -> list[scoring.Term]:
        """Return the terms of a plan from its columns alone: `_checks.Some`, or a sparse matrix."""


def _too_wide(got: int, name: str, width: int, found: Sequence[str] | None) -> str:
    hint = f", the columns {first(found, 4)} of a frame" if found else ""
    return f"{name} has {got} columns; these weak rankers were made for {width}{hint}"


def _column(A: Any, j: int) -> Vector:
    if _checks.is_sparse(A):
        stored, column = slice(A.indptr[j], A.indptr[j + 1]), np.zeros(A.shape[0])
        column[A.indices[stored]] = A.data[stored]
        return column
    return np.asarray(A[:, j], dtype=np.float64)


class _Columns(_OfColumns):
    def _fields(self) -> dict[str, Any]:
        return {"kind": "columns", **super()._fields()}

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        return _column(rows, j)

    def _matrix(self, X: Any, name: str) -> Any:
        return self._read(X, name)

    def _terms_of(self, columns: Any, plan: _Plan) -> list[scoring.Term]:
        return [scoring.Products(columns, plan.lam)]

    def _sparse_terms(self, X: Any, places: Index, plan: _Plan) -> list[scoring.Term]:
        whole = np.zeros(X.shape[1])
        whole[places] = plan.lam
        f = np.asarray(X @ whole)
        if not np.isfinite(f).all():  # 0 times infinity: what is not used must not matter
            f = np.asarray(_checks.sparse_columns(X, "X", self._missing, places) @ plan.lam)
        return [scoring.Values(f)]


class _Normalized(_OfColumns):
    def __init__(
        self,
        names: Sequence[str],
        found: Found,
        low: Vector,
        high: Vector,
        to: tuple[float, float],
        monotone: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(names, low.size, found, monotone)
        if not 0.0 < to[1] - to[0] < math.inf:
            raise ValueError(
                f"low must be below high, by no more than a float can hold; got low={to[0]} and high={to[1]}"
            )
        if (low > high).any():
            raise ValueError(f"the lowest value of {shown(names[int(np.argmax(low > high))])} is above its highest")
        with np.errstate(over="ignore"):
            span = high - low
        _checks.spans(low, high, span, names)
        self._low, self._high, self._to = low, high, to
        self._range = np.where(high > low, span, np.inf)  # a constant column stays at to[0]

    def _fields(self) -> dict[str, Any]:
        ends = {"lowest": self._low.tolist(), "highest": self._high.tolist(), "to": list(self._to)}
        return {"kind": "normalized", **super()._fields(), **ends}

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        low, high = self._to
        scaled: Vector = low + (high - low) * ((_column(rows, j) - self._low[j]) / self._range[j])
        return scaled

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        used = np.flatnonzero((lam != 0.0) & (self._low < self._high)).tolist()
        low, high, rise = [x.tolist() for x in (self._low, self._high, lam * (self._to[1] - self._to[0]))]
        return [(j, _Curve(np.array([low[j], high[j]]), np.zeros(3), rise[j], math.nan)) for j in used]

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        rows = self._read(X, name)
        factor = np.where(self._high > self._low, (self._to[1] - self._to[0]) / self._range, 1.0)
        return [OfMatrix(self._outputs(rows, name), where, complements, (rows, factor))]

    @np.errstate(over="ignore", invalid="ignore")  # which the scores show, and `score` refuses
    def _terms_of(self, columns: Any, plan: _Plan) -> list[scoring.Term]:
        low, high = self._to
        lam = plan.lam
        start, moved = low * float(lam.sum()), (self._low[plan.rankers], self._range[plan.rankers])
        if not _checks.is_sparse(columns):
            return [scoring.Level(start), scoring.Products(columns, lam * (high - low), moved)]
        f = np.full(columns.shape[0], start)
        for k, j in enumerate(plan.rankers):
            f += lam[k] * (high - low) * ((_column(columns, k) - self._low[j]) / self._range[j])
        return [scoring.Values(f)]


class _Thresholds(_OfColumns):
    """Ranker j is x > cut for the pair (column, cut) number j.

    Where the cut is NaN, it is whether x is missing; where it is infinite, the line of the column: a value for each
    of its levels, between which the cuts lie, and 0 for a missing value.
    """

    _lines: Mapping[int, Sequence[float]] = MappingProxyType({})
    """Values of the lines of columns, by level."""

    def __init__(
        self,
        names: Sequence[str],
        width: int | None,
        found: Found,
        cuts: Sequence[tuple[int, float]],
        missing: bool,
        lines: Mapping[int, Sequence[float]] | None = None,
        monotone: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(names, width, found, monotone)
        self._cuts, self._missing = cuts, missing
        self._last = max([column for column, _ in cuts])
        if lines:
            self._lines = dict(lines)

    def _fields(self) -> dict[str, Any]:
        def written(column: int, cut: float) -> Any:
            return None if math.isnan(cut) else list(self._lines[column]) if math.isinf(cut) else cut

        cuts = [[column, written(column, cut)] for column, cut in self._cuts]
        return {"kind": "thresholds", **super()._fields(), "cuts": cuts, "missing": self._missing}

    def _places_read(self) -> list[int]:
        return [column for column, _ in self._cuts]

    @property
    def signs(self) -> Signs:
        signs = super().signs
        if self._monotone:
            signs[[math.isnan(cut) for _, cut in self._cuts]] = 0
        return signs

    def _reads(self) -> list[tuple[Hashable, str]]:
        if self._found is not None:
            return super()._reads()
        # The name of a column is that of its first ranker, without what makes it that of a cut.
        labels: dict[int, str] = {}
        for name, (column, _) in zip(self.names, self._cuts, strict=True):
            if column not in labels:
                labels[column] = name.removesuffix(_MISSING).removesuffix(_LINE).rpartition(" > ")[0] or name
        return [(column, labels[column]) for column, _ in self._cuts]

    def _line(self, column: int) -> tuple[Vector, Vector]:
        """Return the cuts between the levels of a column that has a line, and the values of this by level."""
        cuts = {cut for c, cut in self._cuts if c == column and math.isfinite(cut)}
        return np.array(sorted(cuts)), np.array(self._lines[column])

    def _fits(self, width: int, name: str) -> None:
        super()._fits(width, name)
        if width <= self._last:
            raise ValueError(f"{name} has {width} columns; these weak rankers cut column {self._last}, counted from 0")

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        column, cut = self._cuts[j]
        x = _column(rows, column)
        if math.isinf(cut):
            cuts, values = self._line(column)
            return np.where(np.isnan(x), 0.0, values[cuts.searchsorted(x)])
        return (np.isnan(x) if math.isnan(cut) else x > cut).astype(np.float64)

    def _plan(self, lam: Vector) -> _Plan:
        """A sum over the cuts of a column below a value is one number of a table."""
        plan = super()._plan(lam)
        if not plan.lam.size:
            return plan
        lam, of_column = plan.lam, np.array([self._cuts[j][0] for j in plan.rankers], np.intp)
        columns, own = np.unique(of_column, return_inverse=True)
        cuts = np.array([self._cuts[j][1] for j in plan.rankers])
        steps = []
        order = np.lexsort([cuts, own])  # by column, then by cut; infinity and nan come last
        for k, members in enumerate(np.split(order, np.flatnonzero(np.diff(own[order])) + 1)):
            known = members[np.isfinite(cuts[members])]
            others = members[known.size :]
            is_missing = np.isnan(cuts[others])
            missing = float(lam[others[is_missing]].sum()) if self._missing else math.nan
            if is_missing.all():
                steps += scoring.Steps.of(k, cuts[known], lam[known], missing)
                continue
            ends, values = self._line(int(columns[k]))
            heights = np.bincount(ends.searchsorted(cuts[known]), lam[known], ends.size)
            with np.errstate(over="ignore", invalid="ignore"):
                values = float(lam[others[~is_missing]].sum()) * values + np.r_[0.0, heights.cumsum()]
            steps.append(scoring.Steps(k, ends, values, missing))
        return replace(plan, columns=columns, jumps=scoring.Jumps(steps))

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        plan = self._plan(lam)
        if plan.jumps is None:
            return []
        of_column, columns = np.array([self._cuts[j][0] for j in plan.rankers]), plan.columns.tolist()
        first = plan.rankers[[int(np.argmax(of_column == column)) for column in columns]].tolist()
        missed = {column for column, cut in self._cuts if math.isnan(cut)}
        return [
            (
                first[step.column],
                _Curve(step.cuts, step.values, 0.0, step.missing if columns[step.column] in missed else math.nan),
            )
            for step in plan.jumps.steps
        ]

    def _terms_of(self, columns: Any, plan: _Plan) -> list[scoring.Term]:
        assert plan.jumps is not None
        if _checks.is_sparse(columns):
            return [scoring.sparse_lookups(columns, plan.jumps)]
        return [scoring.Lookups(columns, plan.jumps)]

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        A = self._read(X, name)
        of_column: dict[int, list[int]] = {}
        for j, (column, _) in enumerate(self._cuts):
            of_column.setdefault(column, []).append(j)
        pieces: list[Piece] = []
        for column, members in of_column.items():
            own, cuts = np.array(members), np.array([self._cuts[j][1] for j in members])
            known, missing = np.isfinite(cuts), np.isnan(cuts)
            below, steps = np.unique(cuts[known], return_inverse=True)
            # With missing values, a first cut below everything leaves code 0 to them.
            floor = np.full(int(bool(self._missing)), -np.inf)
            room = LARGEST_FEATURE - 2
            for start in range(0, max(below.size, 1), room):
                some = (steps >= start) & (steps < start + room)
                ends = np.r_[floor, below[start : start + room]]
                feature = Feature.of_steps(Cuts(A, column, ends), ends.size + 1, 1 + floor.size + steps[some] - start)
                numbers = own[known][some]
                if start == 0 and missing.any():
                    feature = feature.and_indicators(np.zeros(np.count_nonzero(missing), np.intp))
                    numbers = np.r_[numbers, own[missing]]
                for line in own[np.isinf(cuts)]:
                    feature = feature.and_values(np.r_[np.zeros(floor.size), self._lines[column]])
                    numbers = np.r_[numbers, line]
                pieces.append(_coded(feature, numbers, where, complements))
        return pieces


def _coded(feature: Feature, numbers: Index, where: Index, complements: Index | None) -> OfFeature:
    if complements is None:
        return OfFeature(feature, where[numbers])
    return OfFeature(feature.and_complements(), np.r_[where[numbers], complements[numbers]])


class _Categories(Rankers):
    """Ranker j is whether x has the level number j of its column; the level None is a missing value."""

    def __init__(self, names: Sequence[str], found: Found, levels: Sequence[Sequence[Any]], missing: bool) -> None:
        super().__init__(names)
        self._found, self._levels, self._missing, self._width = found, levels, missing, len(levels)
        self._ends = np.cumsum([0, *map(len, levels)])

    def _reads(self) -> list[tuple[Hashable, str]]:
        of_columns: list[tuple[Hashable, str]] = []
        for c, levels in enumerate(self._levels):
            if self._found is not None:
                read: tuple[Hashable, str] = self._found[c], self._found[c]
            elif levels:
                name, level = self.names[len(of_columns)], levels[0]
                read = c, name.removesuffix(_MISSING if level is None else f" = {level}")
            of_columns += [read] * len(levels)
        return of_columns

    def _fields(self) -> dict[str, Any]:
        columns = None if self._found is None else list(self._found)
        levels = [list(column) for column in self._levels]
        return {"kind": "categories", "columns": columns, "levels": levels, "missing": self._missing}

    def _read(self, X: Any, name: str, seen: list[Seen] | None = None) -> list[NDArray[np.uint16]]:
        """The number of every value's level, by column; a level that is not known has the number after the last."""
        columns = self._codes(X, name, range(len(self._levels)))
        found = [of_column for _, of_column in columns if of_column is not None]
        if seen is None:
            tell(found, strict=name == "X")  # one side's may all be new
        else:
            seen += found
        return [codes for codes, _ in columns]

    def _codes(self, X: Any, name: str, columns: Sequence[int]) -> list[tuple[NDArray[np.uint16], Seen | None]]:
        """Return the numbers of the levels in some columns, and what to tell of each; others are not looked at."""
        found = _checks.column_names(X)
        places = list(columns)
        by_name = self._found is not None and found is not None and found != self._found
        if by_name:
            places = _checks.places(found or (), [(self._found or ())[c] for c in columns], name)
        values, _ = _checks.table(X, name, set(places))
        if not by_name and len(values) != len(self._levels):
            raise ValueError(_too_wide(len(values), name, len(self._levels), self._found))
        known: dict[int, Column] = self._kept or {}
        for c in columns:
            if c not in known:
                known[c] = Column(self._levels[c])
        self._kept = known
        return [
            known[c].codes(values[place], name, c, self._missing, self._found)
            for c, place in zip(columns, places, strict=True)
        ]

    def _terms(self, X: Any, lam: Vector) -> list[scoring.Term]:
        ends = self._ends
        used = [c for c in range(len(self._levels)) if lam[ends[c] : ends[c + 1]].any()]
        if not used:
            return []
        return [
            scoring.Codes(codes, np.r_[lam[ends[c] : ends[c + 1]], 0.0], seen)
            for c, (codes, seen) in zip(used, self._codes(X, "X", used), strict=True)
        ]

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        spans = [slice(start, end) for start, end in itertools.pairwise(self._ends.tolist())]
        return [
            (own.start, _Levels(tuple(["missing" if x is None else str(x) for x in levels]), lam[own]))
            for own, levels in zip(spans, self._levels, strict=True)
            if lam[own].any()
        ]

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        column = int(np.searchsorted(self._ends, j, side="right")) - 1
        return np.asarray(rows[column] == j - self._ends[column], dtype=np.float64)

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        pieces: list[Piece] = []
        start = 0
        of_columns = self._codes(X, name, range(len(self._levels)))
        for column, (codes, seen) in zip(self._levels, of_columns, strict=True):
            n = len(column)
            if n:
                levels = max(int(codes.max()), n - 1) + 1  # one more where a level is not known
                feature = Feature.of_steps(Codes(codes, seen), levels, np.zeros(0, np.intp))
                feature = feature.and_indicators(np.arange(n))
                pieces.append(_coded(feature, np.arange(start, start + n), where, complements))
            start += n
        return pieces


class _Closed(Rankers):
    """All rankers of a collection, and then 1 - h for each."""

    def __init__(self, names: Sequence[str], half: Rankers) -> None:
        super().__init__(names)
        self._half, self._found, self._width = half, half._found, half._width

    @property
    def signs(self) -> Signs:
        return np.concatenate([self._half.signs, -self._half.signs])

    def _reads(self) -> list[tuple[Hashable, str]]:
        return 2 * self._half._reads()

    def _fields(self) -> dict[str, Any]:
        return {"kind": "closed", "of": self._half.to_dict()}

    def _same(self, other: Any) -> bool:
        return bool(self._half == other._half)

    def _read(self, X: Any, name: str, seen: list[Seen] | None = None) -> Any:
        return self._half._read(X, name, seen)

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        n = len(self._half)
        return self._half._output(rows, j, name) if j < n else 1.0 - self._half._output(rows, j - n, name)

    def _terms(self, X: Any, lam: Vector) -> list[scoring.Term]:
        n = len(self._half)
        return [scoring.Level(float(lam[n:].sum())), *self._half._terms(X, lam[:n] - lam[n:])]

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        n = len(self._half)
        return self._half._shapes(lam[:n] - lam[n:])

    def _check_sides(self, pos: Any, neg: Any) -> None:
        self._half._check_sides(pos, neg)

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        n = len(self._half)
        pieces = self._half._pieces(X, name, where[:n], where[n:])
        if complements is not None:  # 1 - (1 - h) is h
            pieces += self._half._pieces(X, name, complements[n:], complements[:n])
        return pieces


class _Union(Rankers):
    """The rankers of several collections, one after the other."""

    def __init__(self, parts: Sequence[Rankers]) -> None:
        super().__init__([name for part in parts for name in part.names])
        self._members = tuple(parts)
        self._ends = np.cumsum([len(part) for part in parts])

    @property
    def signs(self) -> Signs:
        return np.concatenate([part.signs for part in self._members])

    def _reads(self) -> list[tuple[Hashable, str]]:
        known = {part._found for part in self._members if part._found is not None}
        found = known.pop() if len(known) == 1 else ()  # names of places, if there are as many

        def key(part: Rankers, column: Hashable) -> Hashable:
            if isinstance(column, int) and column < len(found) and part._width in (None, len(found)):
                return found[column]
            return column

        return [(key(part, column), label) for part in self._members for column, label in part._reads()]

    def _fields(self) -> dict[str, Any]:
        return {"kind": "union", "parts": [part.to_dict() for part in self._members]}

    def _same(self, other: Any) -> bool:
        return bool(self._members == other._members)

    def _members_for(self, X: Any, name: str) -> list[tuple[Rankers, slice]]:
        """Return the members with the numbers of their rankers.

        Rows without names are refused where the members, made from frames, read different columns.
        """
        of_members = {part._found for part in self._members if part._found is not None}
        if len(of_members) > 1 and _checks.column_names(X) is None:
            raise ValueError(
                f"{name} has no names of columns, by which these weak rankers, made from different columns of a frame, "
                "tell them apart; pass a frame"
            )
        parts = zip(self._members, self._ends.tolist(), strict=True)
        return [(part, slice(end - len(part), end)) for part, end in parts]

    def _read(self, X: Any, name: str, seen: list[Seen] | None = None) -> Any:
        return [part._read(X, name, seen) for part, _ in self._members_for(X, name)]

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        k = int(np.searchsorted(self._ends, j, side="right"))
        part = self._members[k]
        return part._output(rows[k], j - int(self._ends[k]) + len(part), name)

    def _matrix(self, X: Any, name: str) -> Any:
        matrices = [part._matrix(X, name) for part, _ in self._members_for(X, name)]
        if not all(_checks.is_sparse(matrix) for matrix in matrices):
            dense = [matrix.toarray() if _checks.is_sparse(matrix) else matrix for matrix in matrices]
            return np.concatenate(dense, axis=1)
        import scipy.sparse

        return scipy.sparse.hstack(matrices, format="csc")

    def _terms(self, X: Any, lam: Vector) -> list[scoring.Term]:
        return [term for part, own in self._members_for(X, "X") for term in part._terms(X, lam[own])]

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        starts = [0, *self._ends[:-1].tolist()]
        return [
            (start + j, shape)
            for part, start in zip(self._members, starts, strict=True)
            for j, shape in part._shapes(lam[start : start + len(part)])
        ]

    def _check_sides(self, pos: Any, neg: Any) -> None:
        for part in self._members:
            part._check_sides(pos, neg)

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        pieces: list[Piece] = []
        for part, own in self._members_for(X, name):
            pieces += part._pieces(X, name, where[own], None if complements is None else complements[own])
        return pieces


class _Callables(Rankers):
    def __init__(self, functions: Sequence[Callable[[Any], Any]], names: Sequence[str]) -> None:
        super().__init__(names)
        self._functions = tuple(functions)

    def _reads(self) -> list[tuple[Hashable, str]]:
        return [((id(h),), name) for h, name in zip(self._functions, self.names, strict=True)]

    def _same(self, other: Any) -> bool:
        return bool(self._functions == other._functions)

    def _read(self, X: Any, name: str, seen: list[Seen] | None = None) -> Any:
        _checks.n_rows(X, name)
        return X

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        output = f"the output of H[{j}] ({shown(self.names[j])}) on {name}"
        size = _checks.n_rows(rows, name)
        return _checks.vector(self._functions[j](rows), output, size, f"one value for each row of {name}")


def columns(
    pos: Any,
    neg: Any = None,
    *,
    names: Sequence[str] | None = None,
    monotone: Mapping[Any, int] | None = None,
) -> Rankers:
    """Make every column a weak ranker: h_j(x) = x_j.

    Parameters
    ----------
    pos : array_like, shape (I, d), or int
        The positive rows, or any rows, with the columns to use; or just their number d.
    neg : array_like, shape (K, d), optional
        The negative rows. They are only compared with `pos`.
    names : sequence of str, optional
        Names; by default those of a data frame, else ``x0``, ``x1``, ...
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It sets `Rankers.signs`,
        which every solver keeps.

    Returns
    -------
    Rankers
        Ranker j is column j.

    Raises
    ------
    ValueError, TypeError
        If the rows are not a matrix of finite numbers, the two sides differ in columns, or `monotone`
        names a column that they have not.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.columns(3, names=["age", "pay", "visits"])
    >>> H
    <3 weak rankers: age, pay, visits>
    >>> H[1]([[41, 52.5, 3], [30, 18.0, 9]])
    array([52.5, 18. ])
    """
    if isinstance(pos, (int, np.integer)):
        width = _checks.count(pos, "the number of columns", 1)
        if width > _WIDEST:
            raise ValueError(f"the number of columns must be at most {_WIDEST}, as each gets a name; got {shown(pos)}")
        found = None
    else:
        width = _checks.matrix(pos, "pos").shape[1] if neg is None else _checks.two_sides(pos, neg, False)[0].shape[1]
        found = _checks.column_names(pos)
    labels = _names(names, found, width)
    return _Columns(labels, width, found, _checks.monotone(monotone, labels, "pos"))


def normalized(
    pos: Any,
    neg: Any,
    low: float = 0.0,
    high: float = 1.0,
    *,
    names: Sequence[str] | None = None,
    monotone: Mapping[Any, int] | None = None,
) -> Rankers:
    r"""Scale every column so that the training rows span [low, high].

    .. math:: h_j(x) = low + (high - low) \frac{x_j - \min_j}{\max_j - \min_j},

    with the extremes of column j over the rows of both sides. New rows may fall outside
    [low, high]: nothing is clipped. A constant column becomes the constant `low`. The papers use
    [0, 1] (COLT 2006) and [-1, 1] (TR2005-874).

    Parameters
    ----------
    pos : array_like, shape (I, d)
        The positive rows of training.
    neg : array_like, shape (K, d)
        The negative rows of training.
    low, high : float
        Ends of the interval, ``low < high``.
    names : sequence of str, optional
        Names; by default those of a data frame, else ``x0``, ``x1``, ...
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It sets `Rankers.signs`,
        which every solver keeps.

    Returns
    -------
    Rankers
        Ranker j is column j, scaled.

    Raises
    ------
    ValueError, TypeError
        If the rows are not matrices of finite numbers with the same columns, ``low >= high``, or
        `monotone` names a column that they have not.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.normalized([[2.0], [6.0]], [[4.0]], -1, 1)
    >>> H.evaluate([[2.0], [5.0], [7.0]])
    array([[-1. ],
           [ 0.5],
           [ 1.5]])
    """
    low, high = (_checks.real(low, "low"), _checks.real(high, "high"))
    A, B = _checks.two_sides(pos, neg, False)
    if _checks.is_sparse(A):
        raise TypeError("normalized would make sparse data dense; pass H=None to use sparse columns as they are")
    lowest = np.minimum(A.min(axis=0), B.min(axis=0)).astype(np.float64)
    highest = np.maximum(A.max(axis=0), B.max(axis=0)).astype(np.float64)
    found = _checks.column_names(pos)
    labels = _names(names, found, A.shape[1])
    signs = _checks.monotone(monotone, labels, "pos")
    return _Normalized(labels, found, lowest, highest, (low, high), signs)


def thresholds(
    cuts: Mapping[int, Sequence[float]] | Sequence[Sequence[float]],
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    monotone: Mapping[Any, int] | None = None,
) -> Rankers:
    """Make one indicator per cut: h(x) = 1 if x_c > cut, else 0 (the papers' rule).

    Sparse rows stay sparse. Training and scores take memory in proportion to the numbers that are stored; all zeros of
    a column are one level. `Rankers.evaluate` returns a dense array.

    Parameters
    ----------
    cuts : sequence of sequences of float, or mapping from column to sequence of float
        ``cuts[c]`` are the cuts of column c. A sequence has one entry per column of the data,
        empty where a column is not used; a mapping has only the columns that are.
    names : sequence of str, optional
        Names of all columns; by default ``x0``, ``x1``, ...
    missing : {"error", "own"}
        Refuse rows with missing values (NaN, None), or give every column with cuts a weak ranker
        ``x2 is missing``: 1 where the value is missing, else 0. A missing value is above no cut.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It sets `Rankers.signs`,
        which every solver keeps. Indicators of missing values are free.

    Returns
    -------
    Rankers
        Column by column, the cuts in the given order; named like ``x2 > 0.5``.

    Raises
    ------
    ValueError, TypeError
        If there is no cut, a cut is not a finite number, or `monotone` names a column that has no name here.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 3], [], [0.5]])
    >>> H.names
    ('x0 > 2', 'x0 > 3', 'x2 > 0.5')
    >>> H.evaluate([[3, 7, 1], [1, 7, 0]])
    array([[1., 0., 1.],
           [0., 0., 0.]])
    """
    if not isinstance(cuts, (Mapping, Sequence)) or isinstance(cuts, str):
        raise TypeError(f"cuts must be a sequence or mapping of sequences of numbers; got {type(cuts).__name__}")
    width = None if names is None else len(names)
    if not isinstance(cuts, Mapping):
        cuts, width = dict(enumerate(cuts)), len(cuts)
    items = cuts.items()
    table = {_checks.count(c, "a column of cuts", 0): _checks.numbers_of(v, f"cuts of column {c}") for c, v in items}
    own = _checks.choice(missing, "missing", ("error", "own")) == "own"
    if own:
        table = {column: [*cuts, math.nan] if cuts else [] for column, cuts in table.items()}
    labels = _names(names, None, width or max(table, default=0) + 1)
    return _thresholds(table, width, None, labels, own, {}, _checks.monotone(monotone, labels, "cuts"))


def _thresholds(
    table: Mapping[int, list[float]],
    width: int | None,
    found: Found,
    labels: Sequence[str],
    missing: bool,
    lines: Mapping[int, list[float]],
    monotone: Mapping[int, int],
) -> Rankers:
    def named(digits: str) -> list[str]:
        def end(cut: float) -> str:
            return _MISSING if math.isnan(cut) else _LINE if math.isinf(cut) else f" > {cut:{digits}}"

        return [labels[c] + end(cut) for c, cut in pairs]

    pairs = [(column, cut) for column in sorted(table) for cut in table[column]]
    if not pairs:
        raise ValueError("cuts is empty; give at least one cut")
    if pairs[-1][0] >= len(labels):
        raise ValueError(f"there are cuts of column {pairs[-1][0]}, counted from 0, and only {len(labels)} names")
    names = named("g")
    if len(set(names)) < len(names):  # six digits do not tell all cuts apart
        names = named("")
    return _Thresholds(names, width, found, pairs, missing, lines, monotone)


def quantile_thresholds(
    pos: Any,
    neg: Any,
    n_cuts: int = 255,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    monotone: Mapping[Any, int] | None = None,
    linear: bool = False,
    n_threads: int | None = None,
) -> Rankers:
    r"""Place the cuts of `thresholds` by the training rows.

    Where a column has at most ``n_cuts + 1`` distinct values, every mid-point between neighbours
    becomes a cut, so that no other threshold could tell the training rows apart any further. Other
    columns get at most `n_cuts` mid-points: those whose share of rows below comes nearest to
    1 / (n_cuts + 1), 2 / (n_cuts + 1), ..., rows of both sides together. A sort per column,
    O((I + K) log(I + K)); of sparse rows, a sort of what a column stores. These stay sparse, as in `thresholds`.

    Parameters
    ----------
    pos : array_like, shape (I, d)
        The positive rows of training.
    neg : array_like, shape (K, d)
        The negative rows of training.
    n_cuts : int
        Largest number of cuts per column.
    names : sequence of str, optional
        Names of the columns; by default those of a data frame, else ``x0``, ``x1``, ...
    missing : {"error", "own"}
        Refuse rows with missing values (NaN, None), or give every column in which training rows
        have some a weak ranker ``x2 is missing``. A missing value is above no cut, and has no part
        in placing them.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It sets `Rankers.signs`,
        which every solver keeps. Indicators of missing values are free.
    linear : bool
        Whether to add a straight line to the cuts of each column, named like ``x2 (line)``. See Notes.
    n_threads : int, optional
        Threads that share the passes over the rows; by default, as many as this process may use cores. Up to 65,536
        rows, one does it all. The result is the same to the last bit for any number. They sort columns.

    Returns
    -------
    Rankers
        The cuts of each column in ascending order; named like ``x2 > 0.5``. Then its indicator of missing values,
        and then its line.

    Raises
    ------
    ValueError, TypeError
        If the rows are not matrices of finite numbers with the same columns, every column is
        constant, or `monotone` names a column that they have not.

    Notes
    -----
    The cuts divide a column into levels :math:`0, \ldots, m`. The line has one value for each level,

    .. math:: h(x) = \frac{\bar x_\ell - \bar x_0}{\bar x_m - \bar x_0}, \qquad \ell = \text{the level of } x,

    with :math:`\bar x_\ell` the mean of the training rows of both sides at that level. So it is a staircase
    along a straight line. It is one more function of the codes of the cuts, and needs no storage of its own. New rows
    beyond the last cut have the value 1, however far they are. The line of a missing value is 0. A column with one
    cut gets no line, which would be the cut again, and neither does one with more than 65,532 cuts.

    Lines are for `pnorm.minimize` with a penalty, where one slope takes the place of many jumps. `pnorm.train` does not
    choose them: a line is a weighted mean of its cuts, so that its edge is never above their largest one.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.rankers.quantile_thresholds([[1, 5], [2, 5]], [[4, 5]]).names
    ('x0 > 1.5', 'x0 > 3')
    >>> H = pnorm.rankers.quantile_thresholds([[1, 5], [2, 5]], [[4, 5]], linear=True, monotone={0: 1})
    >>> H.evaluate([[1, 5], [2, 5], [9, 5]])
    array([[0.        , 0.        , 0.        ],
           [1.        , 0.        , 0.33333333],
           [1.        , 1.        , 1.        ]])
    >>> H.signs
    array([1, 1, 1], dtype=int8)
    """
    n_cuts = _checks.count(n_cuts, "n_cuts", 1)
    own = _checks.choice(missing, "missing", ("error", "own")) == "own"
    linear, n_threads = _checks.flag(linear, "linear"), _checks.threads(n_threads)
    A, B = _checks.two_sides(pos, neg, own)
    found, n_rows = _checks.column_names(pos), A.shape[0] + B.shape[0]
    labels = _names(names, found, A.shape[1])
    signs = _checks.monotone(monotone, labels, "pos")
    place = partial(_cuts, n_rows=n_rows, n_cuts=n_cuts, linear=linear)
    with Pool(n_threads, n_rows) as pool:
        if _checks.is_sparse(A):
            ends = [(X.data, X.indptr.tolist()) for X in (A, B)]
            stored = np.flatnonzero(np.diff(A.indptr) + np.diff(B.indptr)).tolist()  # the others are zero in all rows
            columns = [[data[at[j] : at[j + 1]] for data, at in ends] for j in stored]
            placed = {j: place(np.concatenate(parts)) for j, parts in zip(stored, columns, strict=True)}
        else:
            # Neighbouring columns of a row-major matrix share cache lines: several are read at a time.
            together = min(max(2**24 // n_rows, 1), 16)
            batches = [range(j, min(j + together, A.shape[1])) for j in range(0, A.shape[1], together)]
            several = [pool.map(place, _sides_of(A, B, batch)) for batch in batches]
            placed = dict(enumerate(itertools.chain.from_iterable(several)))
    cuts, lines = [{j: of_column[k] for j, of_column in placed.items() if of_column[k]} for k in (0, 1)]
    if not cuts:
        raise ValueError("every column is constant, so no threshold tells any two rows apart")
    return _thresholds(cuts, A.shape[1], found, labels, own, lines, signs)


def _sides_of(A: Any, B: Any, columns: range) -> list[_checks.Array]:
    """Columns of both sides together, one array each."""
    out = np.empty((len(columns), len(A) + len(B)), np.result_type(A, B))
    out[:, : len(A)], out[:, len(A) :] = A[:, columns].T, B[:, columns].T
    return list(out)


def _cuts(x: _checks.Array, n_rows: int, n_cuts: int, linear: bool) -> tuple[list[float], list[float]]:
    """Mid-points between neighbours, at most n_cuts, and NaN if a value is missing; sorts x in place.

    Of n_rows values, those that are not in x are zero. If there is to be a line and it is no cut, infinity comes last,
    and the values of the line are the second list.
    """
    x.sort()  # NaN comes last
    known = x[: int(np.searchsorted(x, np.nan))]
    ends = np.append(np.flatnonzero(known[1:] != known[:-1]) + 1, known.size)
    values = known[ends[: known.size] - 1]
    zeros = n_rows - x.size
    if zeros:
        at = int(np.searchsorted(values, 0.0))
        if at == values.size or values[at] != 0.0:
            values = np.insert(values, at, 0.0)
            ends = np.insert(ends[: values.size - 1], at, ends[at - 1] if at else 0)
        ends[at:] += zeros
    ends = ends[: values.size]
    cuts = _mid_points(values, ends, n_cuts)
    line = _means(values.astype(np.float64), ends, cuts) if linear and 1 < len(cuts) <= scoring.CUTS else []
    return cuts + [math.nan] * (known.size < x.size) + [math.inf] * bool(line), line


def _means(values: Vector, ends: Index, cuts: list[float]) -> list[float]:
    """Means of distinct values, after each of which so many rows end, between cuts; moved to go from 0 to 1."""
    low, high = float(values[0]), float(values[-1])
    half = 1.0 if math.isfinite(high - low) else 0.5
    x, counts = (half * values - half * low) / (half * high - half * low), np.diff(ends, prepend=0).astype(np.float64)
    first = np.r_[0, values.searchsorted(cuts, side="right")]
    last = np.r_[first[1:], values.size] - 1
    means = np.add.reduceat(x * counts, first) / np.add.reduceat(counts, first)
    means = means.clip(x[first], x[last])  # so that none is above the next one
    # Multiples of 2**-52, whose differences are exact: sparse storage keeps those from the value at zero.
    line: list[float] = (np.rint(2.0**52 * ((means - means[0]) / (means[-1] - means[0]))) / 2.0**52).tolist()
    return line


def _mid_points(values: _checks.Array, ends: Index, n_cuts: int) -> list[float]:
    """Mid-points of distinct values, after each of which so many rows end."""
    if values.size <= n_cuts + 1:
        at = np.arange(values.size - 1)
    else:
        n, ends = int(ends[-1]), ends[:-1]
        wanted = np.arange(1, n_cuts + 1) / (n_cuts + 1)
        # The first end whose share of rows below is at least the one wanted, and the end before it.
        right = np.ceil(wanted * n).astype(np.intp)
        right -= (right - 1) / n >= wanted
        at = np.minimum(np.searchsorted(ends, right + (right / n < wanted)), ends.size - 1)
        nearer = (at > 0) & (wanted - ends[at - 1] / n < ends[at] / n - wanted)
        at = np.unique(at - nearer)
    below, above = values[at].astype(np.float64), values[at + 1].astype(np.float64)
    middle = 0.5 * below + 0.5 * above
    return [float(cut) for cut in np.where(middle < above, middle, below)]  # next to each other, they have none


def categories(pos: Any, neg: Any, *, names: Sequence[str] | None = None, missing: str = "error") -> Rankers:
    """Make one indicator per level of every column: h(x) = 1 if x_c is that level, else 0.

    Parameters
    ----------
    pos : array_like, shape (I, d), or data frame
        The positive rows of training: strings, numbers and booleans, mixed as they like.
    neg : array_like, shape (K, d), or data frame
        The negative rows of training.
    names : sequence of str, optional
        Names of the columns; by default those of a data frame, else ``x0``, ``x1``, ...
    missing : {"error", "own"}
        Refuse rows with missing values (NaN, None), or make "missing" a level of every column in which training rows
        have some.

    Returns
    -------
    Rankers
        Column by column, the levels in ascending order, numbers before strings; named like
        ``x2 = red``.

    Raises
    ------
    ValueError, TypeError
        If the rows are not tables with the same columns, a value is missing without leave, or it is
        no string, number or boolean: dates have to be made strings. When rows are evaluated or scored, if
        none of at least 20 values of a column is a level.

    Warns
    -----
    UnknownLevelWarning
        When rows are evaluated, scored or trained on, of values that are no levels: all indicators of their column
        are 0. A missing value is never one of these.

    Notes
    -----
    Training rows have the levels that Python tells apart: 1, 1.0 and True are one, the string "1" is another. New
    rows may come from files of another kind, in which values are written differently: what is no level as it stands
    is looked for by what it means. A string that reads as a number or a truth value ("1", "1.0", "True", "true")
    counts as the number, and a number as the string that reads as it, if there is one only. Two strings are the same
    level if they differ by blanks around them, or spell true or false, and no other: "7" is not "007". Of new rows, a
    string that is no level is a missing value if it is empty or one of the words ?, -, NA, N/A, NaN, null and none, in
    capitals or not. A level of single precision is the double that it is in memory: 0.1 of float32 is
    0.10000000149011612, which the text "0.1" of a CSV file is not; make such a column float64 and round it, or text.

    Every distinct value of a column is checked once. What the rows cost is the search for these values. It is
    fastest where the type of a column numbers them: dictionaries of Arrow, categories of pandas and polars.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.categories([["red", 2], ["blue", 2]], [["red", 3]])
    >>> H.names
    ('x0 = blue', 'x0 = red', 'x1 = 2', 'x1 = 3')
    >>> H.evaluate([["red", 3], ["blue", "2.0"]])
    array([[0., 1., 0., 1.],
           [1., 0., 1., 0.]])
    """
    own = _checks.choice(missing, "missing", ("error", "own")) == "own"
    (A, found), (B, of_neg) = _checks.table(pos, "pos"), _checks.table(neg, "neg")
    if len(A) != len(B):
        raise ValueError(f"pos has {len(A)} columns and neg has {len(B)}; both sides need the same columns")
    _checks.same_names(found, of_neg, "neg")
    labels = _names(names, found, len(A))
    levels = []
    for c, columns in enumerate(zip(A, B, strict=True)):
        seen: dict[Any, Any] = {}
        for name, column in zip(("pos", "neg"), columns, strict=True):
            for i in distinct(column, name, c, found)[0]:
                level = _checks.level(column[i], name, i, c, own, found)
                seen.setdefault(_checks.key(level), level)
        if len(seen) >= LARGEST_FEATURE:
            raise ValueError(
                f"column {shown(labels[c])} has {len(seen)} levels; at most {LARGEST_FEATURE - 1} can be told apart"
            )
        levels.append(sorted(seen.values(), key=lambda level: (level is None, isinstance(level, str), level)))
    texts = [
        f"{label} is missing" if level is None else f"{label} = {level}"
        for label, column in zip(labels, levels, strict=True)
        for level in column
    ]
    return _Categories(texts, found, levels, own)


def closed(H: Rankers | Sequence[Callable[[Any], Any]]) -> Rankers:
    """Add 1 - h for every weak ranker h.

    If H is closed under h -> 1 - h, ``selection="largest"`` (COLT 2006) and ``"signed"``, by which
    coefficients only rise, reach the infimum over all coefficients. Complements take no room and,
    but for sparse data, no time.

    Parameters
    ----------
    H : Rankers or sequence of callables
        The weak rankers. Their complements join them: of n come 2 n.

    Returns
    -------
    Rankers
        Those of H, followed by the complements, named like ``1 - x2``.

    Raises
    ------
    TypeError, ValueError
        If H is not a collection or a sequence of callables.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.closed(pnorm.rankers.thresholds([[0.5]]))
    >>> H.evaluate([[0.0], [1.0]])
    array([[0., 1.],
           [1., 0.]])
    """
    half = H if isinstance(H, Rankers) else callables(H)
    return _Closed([*half.names, *[f"1 - {name}" if " " not in name else f"1 - ({name})" for name in half.names]], half)


def callables(fs: Sequence[Callable[[Any], Any]], names: Sequence[str] | None = None) -> Rankers:
    """Use functions as weak rankers: h_j = fs[j], each called once with all rows of a side.

    Parameters
    ----------
    fs : sequence of callables
        Each maps the rows as given to `train` or `score` (an array, a list of strings or of
        molecules, whatever the functions read) to one finite number per row, shape (N,).
    names : sequence of str, optional
        Names; by default those of the functions.

    Returns
    -------
    Rankers
        Ranker j is ``fs[j]``.

    Raises
    ------
    TypeError
        If `fs` is not a sequence of callables.
    ValueError
        If it is empty, or, when evaluated, if an output is not one finite number per row.

    Examples
    --------
    >>> import pnorm
    >>> def length(texts):
    ...     return [len(text) for text in texts]
    >>> def shouting(texts):
    ...     return [text.isupper() for text in texts]
    >>> H = pnorm.rankers.callables([length, shouting])
    >>> H.evaluate(["WIN NOW", "see you at ten"])
    array([[ 7.,  1.],
           [14.,  0.]])
    """
    if isinstance(fs, (str, Mapping)) or not isinstance(fs, Sequence):
        hint = ": a matrix of outputs goes in as pos and neg, with H=None" if hasattr(fs, "shape") else ""
        if isinstance(fs, Mapping):
            hint = ": pnorm.rankers.from_dict makes a collection of what to_dict has written"
        elif callable(fs):
            hint = ": put it into a list"
        elif isinstance(fs, (int, float)):
            hint = f": p comes after H, write p={fs}"
        raise TypeError(
            "H must be a sequence of callables, a collection made by pnorm.rankers, or None; "
            f"got {type(fs).__name__}{hint}"
        )
    if not fs:
        raise ValueError("H is empty; at least one weak ranker is needed")
    for j, function in enumerate(fs):
        if not callable(function):
            hint = ": pass the columns as pos and neg, with H=None" if isinstance(function, str) else ""
            raise TypeError(f"H[{j}] is not callable; got {type(function).__name__}{hint}")
    found = [getattr(function, "name", getattr(function, "__name__", f"h{j}")) for j, function in enumerate(fs)]
    found = [f"h{j}" if name == "<lambda>" else str(name) for j, name in enumerate(found)]
    return _Callables(fs, _checks.names(names, len(fs), found))


def from_dict(data: Mapping[str, Any]) -> Rankers:
    """Make the collection that `Rankers.to_dict` has written.

    Parameters
    ----------
    data : dict
        As `to_dict` returns it, also after a way through JSON.

    Returns
    -------
    Rankers
        A collection with the same names and, bit for bit, the same outputs.

    Raises
    ------
    TypeError, ValueError
        If `data` is something else, or of a version that this one does not know.

    Examples
    --------
    >>> import json, pnorm
    >>> H = pnorm.rankers.thresholds([[2, 3]]) + pnorm.rankers.columns(1)
    >>> text = json.dumps(H.to_dict())
    >>> pnorm.rankers.from_dict(json.loads(text))
    <3 weak rankers: x0 > 2, x0 > 3, x0>
    """
    _checks.shallow(data, "the weak rankers")
    return _made(data)


def _made(data: Any) -> Rankers:
    fields = _checks.Fields(data, "the weak rankers", _FORMAT, _VERSION)
    made = _of_fields(fields)
    fields.nothing_else()
    return made


def _of_fields(fields: _checks.Fields) -> Rankers:
    kind = fields.choice("kind", ("columns", "normalized", "thresholds", "categories", "closed", "union"))
    if kind == "union":
        union = _Union([_made(part) for part in fields.items("parts")])
        if fields.strings("names", len(union)) != union.names:
            raise ValueError("the names of a union are not those of its parts")
        return union
    if kind == "closed":
        half = _made(fields.get("of"))
        return _Closed(fields.strings("names", 2 * len(half)), half)
    if kind == "categories":
        levels = fields.levels("levels", LARGEST_FEATURE - 1)
        names = fields.strings("names", sum(map(len, levels)))
        return _Categories(names, fields.optional_strings("columns", len(levels)), levels, fields.of(bool, "missing"))
    if kind == "thresholds":
        width, missing = fields.optional_count("width", 1), fields.of(bool, "missing")
        found, monotone = fields.optional_strings("columns", width), fields.signs("monotone", width)
        cuts, lines = fields.cuts("cuts", width, missing, scoring.CUTS)
        return _Thresholds(fields.strings("names", len(cuts)), width, found, cuts, missing, lines, monotone)
    width = fields.count("width", 1)
    found, names = fields.optional_strings("columns", width), fields.strings("names", width)
    monotone = fields.signs("monotone", width)
    if kind == "columns":
        return _Columns(names, width, found, monotone)
    low, high = [np.array(fields.numbers(end, width)) for end in ("lowest", "highest")]
    start, end = fields.numbers("to", 2)
    return _Normalized(names, found, low, high, (start, end), monotone)


def as_rankers(H: Any, X: Any, name: str) -> Rankers:
    """Return H as a collection: None stands for the columns of X, called `name` in messages."""
    if H is None:
        width, found = _checks.width(X, name), _checks.column_names(X)
        return _Columns(_names(None, found, width), width, found)
    return H if isinstance(H, Rankers) else callables(H)


def _names(names: Sequence[str] | None, found: Sequence[str] | None, size: int) -> tuple[str, ...]:
    return _checks.names(names, size, found or [f"x{j}" for j in range(size)])
