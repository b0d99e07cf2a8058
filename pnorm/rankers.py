"""Weak rankers: from rows of data to outputs h_1(x), ..., h_n(x).

A collection knows its `names` and its length, gives one weak ranker by index (a callable), and
turns rows into the matrix of all outputs. `pnorm.train` and `pnorm.score` take a collection, a
plain sequence of callables, or None, which stands for the columns of the data.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from pnorm import _checks, _outputs
from pnorm._checks import Vector

__all__ = ["Rankers", "WeakRanker", "callables", "columns", "normalized", "quantile_thresholds", "thresholds"]


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
        return self._collection is other._collection and self._index == other._index

    def __hash__(self) -> int:
        return hash((id(self._collection), self._index))

    def __repr__(self) -> str:
        return f"<weak ranker {self.name}>"


class Rankers(ABC, Sequence[WeakRanker]):
    """A collection of weak rankers; made by the functions of this module.

    Attributes
    ----------
    names : tuple of str
        One name per weak ranker, for tables and plots.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    # What a kind of collection has to say: how it reads rows, and one output.

    @abstractmethod
    def _read(self, X: Any, name: str) -> Any:
        """Check rows X, called `name` in messages, and return them as `_output` wants them."""

    @abstractmethod
    def _output(self, rows: Any, j: int, name: str) -> Vector:
        """Return output j on rows that `_read` has returned."""

    # What follows from that, and what a collection may know a faster way for.

    def _matrix(self, X: Any, name: str) -> Any:
        rows = self._read(X, name)
        values = np.empty((_checks.n_rows(rows, name), len(self)), order="F")
        for j in range(len(self)):
            values[:, j] = self._output(rows, j, name)
        return values

    def _combine(self, X: Any, lam: Vector) -> Vector:
        rows = self._read(X, "X")
        f = np.zeros(_checks.n_rows(rows, "X"))
        for j in np.flatnonzero(lam):
            f += lam[j] * self._output(rows, int(j), "X")
        return f

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

    def __iter__(self) -> Iterator[WeakRanker]:
        return (WeakRanker(self, j) for j in range(len(self)))

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:4]) + (", ..." if len(self) > 4 else "")
        return f"<{len(self)} weak rankers: {shown}>"


class _OfColumns(Rankers):
    """Rankers that read the columns of a matrix.

    They know how many columns they were made for (None: any number) and, where those came in a
    data frame, their names. A frame with other names, or another order, is refused: it would be
    ranked by the wrong columns.
    """

    def __init__(self, names: Sequence[str], width: int | None, found: tuple[str, ...] | None) -> None:
        super().__init__(names)
        self._width, self._found = width, found

    def _read(self, X: Any, name: str) -> Any:
        A = _checks.matrix(X, name)
        if self._width is not None and A.shape[1] != self._width:
            raise ValueError(f"{name} has {A.shape[1]} columns; these weak rankers were made for {self._width}")
        _checks.same_names(self._found, _checks.column_names(X), name)
        return A


def _column(A: Any, j: int) -> Vector:
    if _checks.is_sparse(A):
        return np.asarray(A[:, [j]].toarray(), dtype=np.float64).ravel()
    return np.asarray(A[:, j], dtype=np.float64)


class _Columns(_OfColumns):
    def _output(self, rows: Any, j: int, name: str) -> Vector:
        return _column(rows, j)

    def _matrix(self, X: Any, name: str) -> Any:
        return self._read(X, name)

    def _combine(self, X: Any, lam: Vector) -> Vector:
        return _outputs.product(self._read(X, "X"), lam)


class _Normalized(_OfColumns):
    def __init__(
        self, names: Sequence[str], found: tuple[str, ...] | None, low: Vector, high: Vector, to: tuple[float, float]
    ) -> None:
        super().__init__(names, low.size, found)
        self._low, self._to = low, to
        self._range = np.where(high > low, high - low, np.inf)  # a constant column stays at to[0]

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        low, high = self._to
        scaled: Vector = low + (high - low) * ((_column(rows, j) - self._low[j]) / self._range[j])
        return scaled


class _Thresholds(_OfColumns):
    def __init__(
        self, names: Sequence[str], width: int | None, found: tuple[str, ...] | None, cuts: list[tuple[int, float]]
    ) -> None:
        super().__init__(names, width, found)
        self._cuts = cuts

    def _read(self, X: Any, name: str) -> Any:
        A = super()._read(X, name)
        last = max(column for column, _ in self._cuts)
        if A.shape[1] <= last:
            raise ValueError(f"{name} has {A.shape[1]} columns; these weak rankers cut column {last}, counted from 0")
        return A

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        column, cut = self._cuts[j]
        return (_column(rows, column) > cut).astype(np.float64)


class _Callables(Rankers):
    def __init__(self, functions: Sequence[Callable[[Any], Any]], names: Sequence[str]) -> None:
        super().__init__(names)
        self._functions = tuple(functions)

    def _read(self, X: Any, name: str) -> Any:
        _checks.n_rows(X, name)
        return X

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        ranker = f"H[{j}] ({self.names[j]})"
        return _checks.outputs_of_callable(self._functions[j](rows), ranker, name, _checks.n_rows(rows, name))


def columns(pos: Any, neg: Any = None, *, names: Sequence[str] | None = None) -> Rankers:
    """Make every column a weak ranker: h_j(x) = x_j.

    Parameters
    ----------
    pos : array_like, shape (I, d), or int
        Rows with the columns to use, or just their number d.
    neg : array_like, shape (K, d), optional
        The other side; only compared with `pos`.
    names : sequence of str, optional
        Names; by default those of a data frame, else ``x0``, ``x1``, ...

    Returns
    -------
    Rankers
        Ranker j is column j.

    Raises
    ------
    ValueError, TypeError
        If the rows are not a matrix of finite numbers, or the two sides differ in columns.

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
        found = None
    else:
        width = _checks.matrix(pos, "pos").shape[1] if neg is None else _two_sides(pos, neg)[0].shape[1]
        found = _checks.column_names(pos)
    return _Columns(_names(names, found, width), width, found)


def normalized(
    pos: Any, neg: Any, low: float = 0.0, high: float = 1.0, *, names: Sequence[str] | None = None
) -> Rankers:
    r"""Scale every column so that the training rows span [low, high].

    .. math:: h_j(x) = low + (high - low) \frac{x_j - \min_j}{\max_j - \min_j},

    with the extremes of column j over the rows of both sides. New rows may fall outside
    [low, high]: nothing is clipped. A constant column becomes the constant `low`. The papers use
    [0, 1] (COLT 2006) and [-1, 1] (TR2005-874).

    Parameters
    ----------
    pos : array_like, shape (I, d)
        Positive training rows.
    neg : array_like, shape (K, d)
        Negative training rows.
    low, high : float
        Ends of the interval, ``low < high``.
    names : sequence of str, optional
        Names; by default those of a data frame, else ``x0``, ``x1``, ...

    Returns
    -------
    Rankers
        Ranker j is column j, scaled.

    Raises
    ------
    ValueError, TypeError
        If the rows are not matrices of finite numbers with the same columns, or ``low >= high``.

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
    if not low < high:
        raise ValueError(f"low must be below high; got low={low} and high={high}")
    A, B = _two_sides(pos, neg)
    if _checks.is_sparse(A):
        raise TypeError("normalized would make sparse data dense; pass H=None to use sparse columns as they are")
    lowest = np.minimum(A.min(axis=0), B.min(axis=0)).astype(np.float64)
    highest = np.maximum(A.max(axis=0), B.max(axis=0)).astype(np.float64)
    found = _checks.column_names(pos)
    labels = _names(names, found, A.shape[1])
    _checks.spans(lowest, highest, labels)
    return _Normalized(labels, found, lowest, highest, (low, high))


def thresholds(
    cuts: Mapping[int, Sequence[float]] | Sequence[Sequence[float]],
    *,
    names: Sequence[str] | None = None,
) -> Rankers:
    """Make one indicator per cut: h(x) = 1 if x_c > cut, else 0 (the papers' rule).

    Parameters
    ----------
    cuts : sequence of sequences of float, or mapping from column to sequence of float
        ``cuts[c]`` are the cuts of column c. A sequence has one entry per column of the data,
        empty where a column is not used; a mapping has only the columns that are.
    names : sequence of str, optional
        Names of all columns; by default ``x0``, ``x1``, ...

    Returns
    -------
    Rankers
        Column by column, the cuts in the given order; named like ``x2 > 0.5``.

    Raises
    ------
    ValueError, TypeError
        If there is no cut, or a cut is not a finite number.

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
    items: Iterable[tuple[int, Sequence[float]]]
    width: int | None
    if isinstance(cuts, Mapping):
        items, width = cuts.items(), None if names is None else len(names)
    else:
        items, width = enumerate(cuts), len(cuts)
    table = {_checks.count(c, "a column of cuts", 0): _checks.numbers_of(v, f"cuts of column {c}") for c, v in items}
    return _thresholds(table, width, None, _names(names, None, width or max(table, default=0) + 1))


def _thresholds(
    table: Mapping[int, list[float]], width: int | None, found: tuple[str, ...] | None, labels: Sequence[str]
) -> Rankers:
    pairs = [(column, cut) for column in sorted(table) for cut in table[column]]
    if not pairs:
        raise ValueError("cuts is empty; give at least one cut")
    if pairs[-1][0] >= len(labels):
        raise ValueError(f"there are cuts of column {pairs[-1][0]}, counted from 0, and only {len(labels)} names")
    names = [f"{labels[column]} > {cut:g}" for column, cut in pairs]
    if len(set(names)) < len(names):  # six digits do not tell all cuts apart
        names = [f"{labels[column]} > {cut!r}" for column, cut in pairs]
    return _Thresholds(names, width, found, pairs)


def quantile_thresholds(pos: Any, neg: Any, n_cuts: int = 255, *, names: Sequence[str] | None = None) -> Rankers:
    """Place the cuts of `thresholds` by the training rows.

    Where a column has at most ``n_cuts + 1`` distinct values, every mid-point between neighbours
    becomes a cut, so that no other threshold could tell the training rows apart any further. Other
    columns get at most `n_cuts` mid-points: those whose share of rows below comes nearest to
    1 / (n_cuts + 1), 2 / (n_cuts + 1), ..., rows of both sides together.

    Parameters
    ----------
    pos : array_like, shape (I, d)
        Positive training rows.
    neg : array_like, shape (K, d)
        Negative training rows.
    n_cuts : int
        Largest number of cuts per column.
    names : sequence of str, optional
        Names of the columns; by default those of a data frame, else ``x0``, ``x1``, ...

    Returns
    -------
    Rankers
        The cuts of each column in ascending order; named like ``x2 > 0.5``.

    Raises
    ------
    ValueError, TypeError
        If the rows are not matrices of finite numbers with the same columns, or every column is
        constant.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.rankers.quantile_thresholds([[1, 5], [2, 5]], [[4, 5]]).names
    ('x0 > 1.5', 'x0 > 3')
    """
    n_cuts = _checks.count(n_cuts, "n_cuts", 1)
    A, B = _two_sides(pos, neg)
    cuts = [_mid_points(np.concatenate([_column(A, j), _column(B, j)]), n_cuts) for j in range(A.shape[1])]
    if not any(cuts):
        raise ValueError("every column is constant, so no threshold tells any two rows apart")
    found = _checks.column_names(pos)
    return _thresholds(dict(enumerate(cuts)), A.shape[1], found, _names(names, found, A.shape[1]))


def _mid_points(x: Vector, n_cuts: int) -> list[float]:
    values, counts = np.unique(x, return_counts=True)
    middle = 0.5 * values[:-1] + 0.5 * values[1:]
    middle = np.where(middle < values[1:], middle, values[:-1])  # next to each other, they have none
    if middle.size > n_cuts:
        below = np.cumsum(counts)[:-1] / x.size  # share of rows below each mid-point
        wanted = np.arange(1, n_cuts + 1) / (n_cuts + 1)
        right = np.clip(np.searchsorted(below, wanted), 1, middle.size - 1)
        nearest = right - (wanted - below[right - 1] < below[right] - wanted)
        middle = middle[np.unique(nearest)]
    return [float(cut) for cut in middle]


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
        if callable(fs):
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
            raise TypeError(f"H[{j}] is not callable; got {type(function).__name__}")
    found = [getattr(function, "name", getattr(function, "__name__", f"h{j}")) for j, function in enumerate(fs)]
    found = [f"h{j}" if name == "<lambda>" else str(name) for j, name in enumerate(found)]
    return _Callables(fs, _checks.names(names, len(fs), found))


def as_rankers(H: Any, X: Any, name: str) -> Rankers:
    """Return H as a collection: None stands for the columns of X, called `name` in messages."""
    if H is None:
        width, found = _checks.width(X, name), _checks.column_names(X)
        return _Columns(_names(None, found, width), width, found)
    return H if isinstance(H, Rankers) else callables(H)


def _two_sides(pos: Any, neg: Any) -> tuple[Any, Any]:
    A, B = _checks.matrix(pos, "pos"), _checks.matrix(neg, "neg")
    _checks.same_width(A, B)
    _checks.same_names(_checks.column_names(pos), _checks.column_names(neg), "neg")
    return A, B


def _names(names: Sequence[str] | None, found: Sequence[str] | None, size: int) -> tuple[str, ...]:
    return _checks.names(names, size, found or [f"x{j}" for j in range(size)])
