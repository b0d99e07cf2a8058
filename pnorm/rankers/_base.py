"""Collections of weak rankers, sums of collections, functions as weak rankers, and conversion to JSON and back."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import Rows, Vector
from pnorm._checks.text import first, shown
from pnorm._storage import scoring
from pnorm._storage.features import Feature
from pnorm._storage.store import OfFeature, OfMatrix, Piece

_FORMAT, _VERSION = "pnorm.rankers", 1

MISSING, LINE = " is missing", " (line)"
"""Ends of names."""

Index = NDArray[np.intp]

Signs = NDArray[np.int8]

Found = tuple[str, ...] | None
"""Names of the columns of a data frame; None for rows without names."""

Made = Callable[[_checks.Fields], "Rankers"]

_MADE: dict[str, Made] = {}
"""How each kind of collection is made of its fields."""


def kind(name: str) -> Callable[[Made], Made]:
    """Register how a kind of collection is made from its fields."""

    def known(made: Made) -> Made:
        _MADE[name] = made
        return made

    return known


class WeakRanker:
    """One weak ranker of a collection: a callable from rows to outputs (N,), with a `name`.

    Examples
    --------
    >>> import pnorm
    >>> h = pnorm.rankers.thresholds([[2, 4]], names=["visits"])[0]
    >>> h.name, h([[1], [3]])
    ('visits > 2', array([0., 1.]))
    """

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
    """A collection of weak rankers, made by the functions of this module.

    Attributes
    ----------
    names : tuple of str
        One name per weak ranker, for tables and plots.
    signs : ndarray of int8, shape (n,)
        Signs that the coefficients must have: 1 for zero or more, -1 for zero or less, 0 for any. They are set with
        the parameter `monotone` of the function that makes the collection.
    column : ndarray of int, shape (n,)
        Which column each weak ranker reads, as a number in `column_names`. The cuts, the line and the indicator of
        missing values of a column have the same number. In a sum of collections, columns with the same name, or
        without names in the same place, are one column. A function counts as a column.
    column_names : tuple of str
        The columns that are read, in the order of the weak rankers.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 4], [30]], names=["visits", "age"])
    >>> H
    <3 weak rankers: visits > 2, visits > 4, age > 30>
    >>> H.names, H.column_names, H.column
    (('visits > 2', 'visits > 4', 'age > 30'), ('visits', 'age'), array([0, 0, 1]))
    >>> H.evaluate([[3, 25], [7, 40]])
    array([[1., 0., 0.],
           [1., 1., 1.]])
    >>> pnorm.rankers.Rankers.from_dict(H.to_dict()).names == H.names
    True
    >>> (H[:2] + pnorm.rankers.columns(2)).names
    ('visits > 2', 'visits > 4', 'x0', 'x1')
    """

    _found: Found = None
    """Names of the columns that these rankers read by name, if they were made from a frame."""
    _width: int | None = None
    """Columns that these rankers were made for; None for any number."""
    _kept: Any = None
    """A cache of values that depend on the collection only, for the next call. Not pickled."""

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

    @property
    def _is_straight(self) -> bool:
        """Whether columns have straight lines in place of cuts."""
        return False

    def _reads(self) -> list[tuple[Hashable, str]]:
        """Return what each weak ranker reads, the same for all that read it, and a name of this."""
        return [((id(self), j), name) for j, name in enumerate(self.names)]

    def _meanings(self) -> list[str]:
        """Return what each weak ranker is of its column, which the name alone may not say.

        Numbers have six digits, as they have in names.
        """
        return ["a function"] * len(self)

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        """What the rankers of each column add to a score, but for a constant; with the number of one of them.

        Coefficients of functions, and of columns as they are, which have no ends, are not in it, and neither are those
        of collections that are made of others: `leaves` of `pnorm._reasons.shapes` takes these apart.
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

    def _terms_by_column(self, X: Any, lam: Vector) -> Iterator[tuple[int, list[scoring.Term]]]:
        """Yield the number and the terms of each column with coefficients; of the first one if there are none."""
        of_column = self.column
        for c in np.unique(of_column[lam != 0.0]).tolist() or [0]:
            yield c, self._terms(X, np.where(of_column == c, lam, 0.0))

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
            `from_dict` makes a collection with the same outputs, bit for bit. The dictionary contains data
            only, no code.

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
        """Make a collection from the dictionary of `to_dict`.

        Parameters
        ----------
        data : dict
            As `to_dict` returns it.

        Returns
        -------
        Rankers
            The result of `pnorm.rankers.from_dict`.
        """
        return from_dict(data)

    def evaluate(self, X: Rows) -> Any:
        """Return all outputs on the rows of X.

        Parameters
        ----------
        X : array_like, shape (N, d), or a sequence of N things where the rankers are callables
            The rows.

        Returns
        -------
        ndarray, shape (N, n)
            Column j contains h_j(x). If the rankers are the columns themselves, X is returned, sparse if X is sparse,
            without a copy if its layout allows.

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

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        counts, most = np.bincount(self.column, minlength=len(self.column_names)), 30
        names: list[list[str]] = [[] for _ in counts]
        for c, name in zip(self.column.tolist(), self.names, strict=True):
            if len(names[c]) < 5:
                names[c].append(name)
        rows = [
            (column, f"{n:,}", first(few, 4))
            for column, n, few in zip(self.column_names[:most], counts.tolist(), names, strict=False)
        ]
        left = counts.size - len(rows)
        note = f"{left:,} more columns" if left else ""
        return sheet.as_html(["column", "weak rankers", ""], rows, (0, 2), f"{len(self):,} weak rankers", note)


@dataclass(frozen=True, eq=False)
class _Curve:
    """The contribution of the rankers of a column to a score: a staircase, a straight line, or both."""

    cuts: Vector
    values: Vector
    """Between the cuts, below the first and above the last: one more than there are cuts."""
    rise: float
    """Of a line from 0 at the first cut to this at the last one."""
    missing: float
    """Where the value is missing; nan where none is."""
    all_cuts: Vector
    """The cuts of the column in ascending order, those with coefficient zero included."""


@dataclass(frozen=True, eq=False)
class _Levels:
    """The contribution of the rankers of a column of categories to a score."""

    names: tuple[str, ...]
    values: Vector


_Shape = _Curve | _Levels

WeakRankers: TypeAlias = Rankers | Sequence[Callable[..., Any]] | None
"""A collection, functions of the rows, or None for the columns."""


def too_wide(got: int, name: str, width: int, found: Sequence[str] | None) -> str:
    hint = f", the columns {first(found, 4)} of a frame" if found else ""
    return f"{name} has {got} columns; these weak rankers were made for {width}{hint}"


def coded(feature: Feature, numbers: Index, where: Index, complements: Index | None) -> OfFeature:
    if complements is None:
        return OfFeature(feature, where[numbers])
    return OfFeature(feature.and_complements(), np.r_[where[numbers], complements[numbers]])


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

    def _meanings(self) -> list[str]:
        half = self._half._meanings()
        return [*half, *[f"1 - ({meaning})" for meaning in half]]

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

    def _meanings(self) -> list[str]:
        return [meaning for part in self._members for meaning in part._meanings()]

    def _fields(self) -> dict[str, Any]:
        return {"kind": "union", "parts": [part.to_dict() for part in self._members]}

    def _same(self, other: Any) -> bool:
        return bool(self._members == other._members)

    def _members_for(self, X: Any, name: str) -> list[tuple[Rankers, slice]]:
        """Return the members with the numbers of their rankers.

        Rows without names are refused where the members, made from frames, read different columns.
        """
        of_members = {part._found for part in self._members if part._found is not None}
        if len(of_members) > 1 and not _checks.named_columns(X):
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


def closed(H: Rankers | Sequence[Callable[[Any], Any]]) -> Rankers:
    """Add the complement 1 - h of every weak ranker h.

    If H is closed under h -> 1 - h, ``selection="largest"`` (COLT 2006) and ``"signed"`` reach the infimum over all
    coefficients, although their coefficients only rise. Complements need no memory. They cost time for sparse data
    only.

    Parameters
    ----------
    H : Rankers or sequence of callables
        The weak rankers. n weak rankers become 2 n.

    Returns
    -------
    Rankers
        The weak rankers of H, then the complements, named like ``1 - x2``.

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
        molecules: anything that the functions accept) to one finite number per row, shape (N,).
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
        If `fs` is empty, or, when evaluated, if an output is not one finite number per row.

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
        hint = ""
        if hasattr(fs, "shape"):
            hint = ": a matrix of outputs goes in as pos and neg, with H=None"
            if len(fs.shape) == 1:
                hint = ": coefficients come after H, as in pnorm.score(X, None, lam)"
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
    """Make a collection from the dictionary of `Rankers.to_dict`.

    Parameters
    ----------
    data : dict
        A dictionary that `to_dict` returned; it may have been written to JSON and read again.

    Returns
    -------
    Rankers
        A collection with the same names and, bit for bit, the same outputs.

    Raises
    ------
    TypeError, ValueError
        If `data` is not such a dictionary, or was written by a newer version of pnorm.

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
    return _MADE[fields.choice("kind", tuple(_MADE))](fields)


@kind("closed")
def _closed_of(fields: _checks.Fields) -> Rankers:
    half = _made(fields.get("of"))
    return _Closed(fields.strings("names", 2 * len(half)), half)


@kind("union")
def _union_of(fields: _checks.Fields) -> Rankers:
    union = _Union([_made(part) for part in fields.items("parts")])
    if fields.strings("names", len(union)) != union.names:
        raise ValueError("the names of a union are not those of its parts")
    return union


def names_of(names: Sequence[str] | None, found: Sequence[str] | None, size: int) -> tuple[str, ...]:
    return _checks.names(names, size, found or [f"x{j}" for j in range(size)])
