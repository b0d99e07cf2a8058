"""Weak rankers of the columns of a matrix: columns as they are, scaled, and cut."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import Monotone, Rows, Vector
from pnorm._checks.text import shown
from pnorm._storage import scoring
from pnorm._storage.store import OfMatrix, Piece
from pnorm.rankers._base import Found, Index, Rankers, Signs, _Curve, _Shape, kind, names_of, too_wide

_WIDEST = 2**31
"""Largest number of columns that an integer argument may request."""


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
