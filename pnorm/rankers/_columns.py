"""Weak rankers of the columns of a matrix: columns as they are, scaled, and cut."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import ONLY, Lines, Monotone, Rows, Vector
from pnorm._checks.text import first, shown
from pnorm._storage import scoring
from pnorm._storage.coded import LARGEST_FEATURE, Cuts, Feature
from pnorm._storage.store import OfMatrix, Piece
from pnorm._threads import Pool
from pnorm.rankers._base import (
    LINE,
    MISSING,
    Found,
    Index,
    Rankers,
    Signs,
    _Curve,
    _Shape,
    coded,
    kind,
    names_of,
    too_wide,
)

_WIDEST = 2**31
"""Largest number of columns that an integer argument may request."""

_ENDS = 1023
"""Largest number of ends of the levels of a line without cuts beside it."""


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
        """Refuse rows whose columns these rankers cannot identify."""
        if self._width is not None and width != self._width:
            raise ValueError(too_wide(width, name, self._width, self._found))

    def _check_sides(self, pos: Any, neg: Any) -> None:
        """Refuse different forms, and whole numbers that are other ones on the other side and the same as floats."""
        sides = [
            _checks.list_to_array(_checks.pick(X, self._found, name), name) for X, name in ((pos, "pos"), (neg, "neg"))
        ]
        _checks.same_form(*sides)
        _checks.stay_apart(sides, "pos or neg")

    def _places(self, X: Any, columns: Index) -> Index:
        """Return the places in rows X of the columns that these rankers store by number."""
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
        """Return the part of the scores that depends on the coefficients and not on the rows."""
        used = np.flatnonzero(lam)
        return _Plan(lam, lam[used], used, used)

    def _sparse_terms(self, X: Any, places: Index, plan: _Plan) -> list[scoring.Term]:
        """Terms of the plan, from a sparse matrix that has its columns in such places."""
        return self._terms_of(_checks.sparse_columns(X, "X", self._missing, places), plan)

    @abstractmethod
    def _terms_of(self, columns: Any, plan: _Plan) -> list[scoring.Term]:
        """Return the terms of a plan from its columns alone: `_checks.Some`, or a sparse matrix."""


def _column(A: Any, j: int) -> Vector:
    if _checks.is_sparse(A):
        stored, column = slice(A.indptr[j], A.indptr[j + 1]), np.zeros(A.shape[0])
        column[A.indices[stored]] = A.data[stored]
        return column
    return np.asarray(A[:, j], dtype=np.float64)


class _Columns(_OfColumns):
    @property
    def _is_straight(self) -> bool:
        return True

    def _meanings(self) -> list[str]:
        return ["x"] * len(self)

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

    @property
    def _is_straight(self) -> bool:
        return True

    def _meanings(self) -> list[str]:
        to = f"scaled to {self._to[0]:g} to {self._to[1]:g}"
        return [f"{low:g} to {high:g} {to}" for low, high in zip(self._low, self._high, strict=True)]

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
        ends = {j: np.array([low[j], high[j]]) for j in used}
        return [(j, _Curve(ends[j], np.zeros(3), rise[j], math.nan, ends[j])) for j in used]

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
    _between: Mapping[int, Sequence[float]] = MappingProxyType({})
    """The ends of these levels, where no cuts are beside the line of a column."""

    def __init__(
        self,
        names: Sequence[str],
        width: int | None,
        found: Found,
        cuts: Sequence[tuple[int, float]],
        missing: bool,
        lines: Mapping[int, Sequence[float]] | None = None,
        monotone: Mapping[int, int] | None = None,
        between: Mapping[int, Sequence[float]] | None = None,
    ) -> None:
        super().__init__(names, width, found, monotone)
        self._cuts, self._missing = cuts, missing
        self._last = max([column for column, _ in cuts])
        if lines:
            self._lines = dict(lines)
        if between:
            self._between = dict(between)

    def _meanings(self) -> list[str]:
        def meaning(column: int, cut: float) -> str:
            if not math.isinf(cut):
                return "x is missing" if math.isnan(cut) else f"x > {cut:g}"
            cuts, values = self._line(column)
            return f"a line from {cuts[0]:g} to {cuts[-1]:g} through {first(values.tolist(), 4, '{:g}'.format)}"

        return [meaning(column, cut) for column, cut in self._cuts]

    def _fields(self) -> dict[str, Any]:
        def written(column: int, cut: float) -> list[Any]:
            if not math.isinf(cut):
                return [column, None if math.isnan(cut) else cut]
            ends = [list(self._between[column])] if column in self._between else []
            return [column, list(self._lines[column]), *ends]

        cuts = [written(column, cut) for column, cut in self._cuts]
        return {"kind": "thresholds", **super()._fields(), "cuts": cuts, "missing": self._missing}

    @property
    def _is_straight(self) -> bool:
        return bool(self._between)

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
        for name, (column, cut) in zip(self.names, self._cuts, strict=True):
            if column not in labels:
                whole = name.removesuffix(MISSING).removesuffix(LINE)
                labels[column] = whole.rpartition(" > ")[0] or name if math.isfinite(cut) else whole
        return [(column, labels[column]) for column, _ in self._cuts]

    def _line(self, column: int) -> tuple[Vector, Vector]:
        """Return the cuts between the levels of a column that has a line, and the values of this by level."""
        cuts = self._between.get(column) or {cut for c, cut in self._cuts if c == column and math.isfinite(cut)}
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
        every = {column: set(self._between.get(column, ())) for column in columns}
        for column, cut in self._cuts:
            if column in every and math.isfinite(cut):
                every[column].add(cut)
        found: list[tuple[int, _Shape]] = []
        for step in plan.jumps.steps:
            column = columns[step.column]
            missing = step.missing if column in missed else math.nan
            curve = _Curve(step.cuts, step.values, 0.0, missing, np.array(sorted(every[column])))
            found.append((first[step.column], curve))
        return found

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
            if column in self._between:  # there are no cuts
                below = np.array(self._between[column])
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
                pieces.append(coded(feature, numbers, where, complements))
        return pieces


def columns(
    pos: Rows,
    neg: Rows | None = None,
    *,
    names: Sequence[str] | None = None,
    monotone: Monotone | None = None,
) -> Rankers:
    """Make every column a weak ranker: h_j(x) = x_j.

    Parameters
    ----------
    pos : array_like, shape (I, d), or int
        The positive rows, or any rows with the columns to use; or the number d of columns.
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
    labels = names_of(names, found, width)
    return _Columns(labels, width, found, _checks.monotone(monotone, labels, "pos"))


def normalized(
    pos: Rows,
    neg: Rows,
    low: float = 0.0,
    high: float = 1.0,
    *,
    names: Sequence[str] | None = None,
    monotone: Monotone | None = None,
) -> Rankers:
    """Scale every column so that the training rows span [low, high].

    The weak ranker of column j is::

        h_j(x) = low + (high - low) (x_j - min_j) / (max_j - min_j)

    with the minimum and maximum of column j over the rows of both sides. Values of new rows are not clipped and may
    lie outside [low, high]. A constant column becomes the constant `low`. The papers use
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
    labels = names_of(names, found, A.shape[1])
    signs = _checks.monotone(monotone, labels, "pos")
    return _Normalized(labels, found, lowest, highest, (low, high), signs)


def thresholds(
    cuts: Mapping[int, Sequence[float]] | Sequence[Sequence[float]],
    *,
    names: Sequence[str] | None = None,
    missing: Literal["error", "own"] = "error",
    monotone: Monotone | None = None,
) -> Rankers:
    """Make one indicator per cut: h(x) = 1 if x_c > cut, else 0 (the papers' rule).

    Sparse rows stay sparse: training and scoring need memory in proportion to the stored numbers. `Rankers.evaluate`
    returns a dense array.

    Parameters
    ----------
    cuts : sequence of sequences of float, or mapping from column to sequence of float
        ``cuts[c]`` are the cuts of column c. A sequence has one entry per column of the data,
        empty where a column is not used; a mapping has only the columns that are.
    names : sequence of str, optional
        Names of all columns; by default ``x0``, ``x1``, ...
    missing : {"error", "own"}
        Refuse rows with missing values (NaN, None), or give every column with cuts a weak ranker
        ``x2 is missing``: 1 where the value is missing, else 0. The cuts of a missing value are 0.
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
    labels = names_of(names, None, width or max(table, default=0) + 1)
    return _thresholds(table, width, None, labels, own, {}, _checks.monotone(monotone, labels, "cuts"), {})


def _thresholds(
    table: Mapping[int, list[float]],
    width: int | None,
    found: Found,
    labels: Sequence[str],
    missing: bool,
    lines: Mapping[int, list[float]],
    monotone: Mapping[int, int],
    between: Mapping[int, list[float]],
) -> Rankers:
    def named(digits: str) -> list[str]:
        def end(cut: float) -> str:
            return MISSING if math.isnan(cut) else LINE if math.isinf(cut) else f" > {cut:{digits}}"

        return [labels[c] + end(cut) for c, cut in pairs]

    pairs = [(column, cut) for column in sorted(table) for cut in table[column]]
    if not pairs:
        raise ValueError("cuts is empty; give at least one cut")
    if pairs[-1][0] >= len(labels):
        raise ValueError(f"there are cuts of column {pairs[-1][0]}, counted from 0, and only {len(labels)} names")
    names = named("g")
    if len(set(names)) < len(names):  # six digits do not tell all cuts apart
        names = named("")
    return _Thresholds(names, width, found, pairs, missing, lines, monotone, between)


def quantile_thresholds(
    pos: Rows,
    neg: Rows,
    n_cuts: int = 255,
    *,
    names: Sequence[str] | None = None,
    missing: Literal["error", "own"] = "error",
    monotone: Monotone | None = None,
    linear: Lines = False,
    n_threads: int | None = None,
) -> Rankers:
    """Make one indicator per cut, with cuts at quantiles of the training rows.

    If a column has at most ``n_cuts + 1`` distinct values, every mid-point between neighbours is a cut. More cuts
    would not separate any further training rows. Other columns get at most `n_cuts` mid-points: those with a share of
    rows below them nearest to 1 / (n_cuts + 1), 2 / (n_cuts + 1), ..., for the rows of both sides together.

    The cost is a sort per column, O((I + K) log(I + K)); for sparse rows, a sort of the stored numbers. Sparse rows
    stay sparse, as in `thresholds`.

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
        have some a weak ranker ``x2 is missing``. The cuts of a missing value are 0. Missing values do not
        change where the cuts are.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It sets `Rankers.signs`,
        which every solver keeps. Indicators of missing values are free.
    linear : bool or "only"
        Whether to add a straight line to the cuts of each column, named like ``x2 (line)``. With ``"only"``, a line
        takes the place of the cuts. See Notes.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. Up to 65,536 rows, one does it all.
        The result is the same to the last bit for any number. They sort columns.

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
    The cuts divide a column into levels 0, ..., m. The line has one value for each level::

        h(x) = (mean_ℓ - mean_0) / (mean_m - mean_0),    ℓ = the level of x

    with ``mean_ℓ`` the mean of the training rows of both sides at that level. The line is a staircase along a straight
    line. It is computed from the codes of the cuts and needs no storage. All values above the last cut give 1. A
    missing value gives 0. A column with one cut gets no line, because the line would equal the cut; a column with more
    than 65,532 cuts gets none either. With ``"only"`` a line has up to 1,024 levels, whatever `n_cuts` is, and columns
    of two values keep their cut. If there are more different values, the levels end at equal steps of the logit of the
    share of rows below: one row has each of the outermost levels, and up to 0.7 % of a million rows one in the middle.
    `columns` and `normalized` have lines without steps.

    Use lines with `pnorm.minimize` and a penalty: one slope replaces many jumps. `pnorm.train` does not choose lines,
    because a line is a weighted mean of its cuts and its edge is at most their largest edge.

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
    linear, n_threads = _checks.lines(linear), _checks.threads(n_threads)
    A, B = _checks.two_sides(pos, neg, own)
    found, n_rows = _checks.column_names(pos), A.shape[0] + B.shape[0]
    labels = names_of(names, found, A.shape[1])
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
    return of_cuts(placed, A.shape[1], found, labels, own, signs)


def of_cuts(
    placed: Mapping[int, Placed],
    width: int,
    found: Found,
    labels: Sequence[str],
    own: bool,
    signs: Mapping[int, int],
) -> Rankers:
    """Return the thresholds of given cuts and lines, by column."""
    cuts, lines, between = [
        {j: of_column[k] for j, of_column in placed.items() if of_column[k]} for k in range(len(Placed._fields))
    ]
    if not cuts:
        raise ValueError("every column is constant, so no threshold tells any two rows apart")
    return _thresholds(cuts, width, found, labels, own, lines, signs, between)


def _sides_of(A: Any, B: Any, columns: range) -> list[_checks.Array]:
    """Columns of both sides together, one array each."""
    out = np.empty((len(columns), len(A) + len(B)), np.result_type(A, B))
    out[:, : len(A)], out[:, len(A) :] = A[:, columns].T, B[:, columns].T
    return list(out)


def _cuts(x: _checks.Array, n_rows: int, n_cuts: int, linear: Lines) -> Placed:
    """Return the cuts of a column and its line; sorts x in place. Of n_rows values, those that are not in x are 0."""
    return in_order(x, n_rows).cuts(n_cuts, linear)


class Placed(NamedTuple):
    """The cuts of a column, with NaN and infinity as in `_Thresholds`, and its line."""

    cuts: list[float]
    line: list[float]
    """Its values, by level."""
    between: list[float]
    """The ends of these levels, where the line takes the place of the cuts."""


@dataclass(frozen=True, eq=False)
class InOrder:
    """The distinct values of a column in ascending order."""

    values: _checks.Array
    ends: Index
    """The number of rows up to each value."""
    gaps: bool
    """Whether there are rows without a value."""

    def cuts(self, n_cuts: int, linear: Lines) -> Placed:
        """Mid-points between neighbours, at most n_cuts, and NaN if a value is missing.

        If a line is asked for and differs from the cut, infinity comes last, or takes the place of the cuts.
        """
        alone = linear == ONLY
        at_most, shares = (_ENDS, _of_logits) if alone else (n_cuts, _equal)
        cuts = _mid_points(self.values, self.ends, at_most, shares)
        line, between = list[float](), list[float]()
        if linear and 1 < len(cuts) <= scoring.CUTS:
            line = _means(self.values.astype(np.float64), self.ends, cuts)
            cuts, between = ([], cuts) if alone else (cuts, [])
        return Placed(cuts + [math.nan] * self.gaps + [math.inf] * bool(line), line, between)


def in_order(x: _checks.Array, n_rows: int, sort: Literal["quicksort", "stable"] = "quicksort") -> InOrder:
    """Return the distinct values of x, sorted in place; values of the n_rows that are not in x are 0."""
    x.sort(kind=sort)  # NaN comes last
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
    return InOrder(values, ends[: values.size], known.size < x.size)


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


def _equal(n_cuts: int, n: int) -> Vector:
    """Return the shares of rows below each cut that divide n rows into equal parts."""
    return np.arange(1, n_cuts + 1) / (n_cuts + 1)


def _of_logits(n_cuts: int, n: int) -> Vector:
    """Return the shares of n rows below each cut, from 1 / (n + 1) to n / (n + 1), at equal steps of their logits.

    Parts have fewer rows towards the ends of a column, and one row at the ends, which decide who comes first.
    """
    return 1.0 / (1.0 + np.exp(np.linspace(math.log(n), -math.log(n), n_cuts)))


def _mid_points(values: _checks.Array, ends: Index, n_cuts: int, shares: Callable[[int, int], Vector]) -> list[float]:
    """Mid-points of distinct values, after each of which so many rows end; of more values, those nearest to shares."""
    if values.size <= n_cuts + 1:
        at = np.arange(values.size - 1)
    else:
        n, ends = int(ends[-1]), ends[:-1]
        wanted = shares(n_cuts, n)
        # The first end whose share of rows below is at least the one wanted, and the end before it.
        right = np.ceil(wanted * n).astype(np.intp)
        right -= (right - 1) / n >= wanted
        at = np.minimum(np.searchsorted(ends, right + (right / n < wanted)), ends.size - 1)
        nearer = (at > 0) & (wanted - ends[at - 1] / n < ends[at] / n - wanted)
        at = np.unique(at - nearer)
    below, above = values[at].astype(np.float64), values[at + 1].astype(np.float64)
    middle = 0.5 * below + 0.5 * above
    return [float(cut) for cut in np.where(middle < above, middle, below)]  # next to each other, they have none


@kind("columns")
def _columns_of(fields: _checks.Fields) -> Rankers:
    return _Columns(*_of_width(fields))


@kind("normalized")
def _normalized_of(fields: _checks.Fields) -> Rankers:
    names, width, found, monotone = _of_width(fields)
    low, high = [np.array(fields.numbers(end, width)) for end in ("lowest", "highest")]
    start, end = fields.numbers("to", 2)
    return _Normalized(names, found, low, high, (start, end), monotone)


def _of_width(fields: _checks.Fields) -> tuple[tuple[str, ...], int, Found, dict[int, int]]:
    width = fields.count("width", 1)
    found, names = fields.optional_strings("columns", width), fields.strings("names", width)
    return names, width, found, fields.signs("monotone", width)


@kind("thresholds")
def _thresholds_of(fields: _checks.Fields) -> Rankers:
    width, missing = fields.optional_count("width", 1), fields.of(bool, "missing")
    found, monotone = fields.optional_strings("columns", width), fields.signs("monotone", width)
    cuts, lines, between = fields.cuts("cuts", width, missing, scoring.CUTS)
    return _Thresholds(fields.strings("names", len(cuts)), width, found, cuts, missing, lines, monotone, between)
