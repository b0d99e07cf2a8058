"""Shapes: the part of each column in the score, as a function of its value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Coefficients, DataFrame, Rows, Vector, Weights, sheet
from pnorm._checks.text import counted as how_many
from pnorm._checks.text import first, joined
from pnorm._reasons.leaves import Leaf, leaves, number_text
from pnorm.rankers import Rankers, WeakRankers, _Categories, _Columns, _Curve, _Levels
from pnorm.rankers._columns import _OfColumns
from pnorm.rankers._table import UNITS

_PIECES = 12
"""Pieces of a shape that are printed: half of them are its first ones, and half its last ones."""


@dataclass(frozen=True, eq=False)
class _Source:
    """One ranker of a column, by its number in the collection that reads it."""

    leaf: Leaf
    ranker: int

    @property
    def part(self) -> Rankers:
        return self.leaf.part

    def values(self, X: Any, may_miss: bool) -> Vector:
        """Return a column of rows as numbers; nan where a value is missing."""
        assert isinstance(self.part, _OfColumns)
        X = self.leaf.rows(X)
        at = self.part._places(X, np.array([self.part._places_read()[self.ranker]]))
        if _checks.is_sparse(X):
            return np.asarray(_checks.sparse_columns(X, "X", may_miss, at).toarray(), np.float64).ravel()
        some = _checks.some(X, "X", may_miss, at)
        values = np.asarray(_checks.floats(some.A)[:, some.at[0]], np.float64)
        if not np.isfinite(values).all():
            some.check()
        return values

    @property
    def levels(self) -> Sequence[Any]:
        """The levels of the column, as rows have them."""
        assert isinstance(self.part, _Categories)
        return self.part._levels[self._place]

    def codes(self, X: Any) -> Any:
        """Return the number of the level of each row; one after the last where none is known."""
        assert isinstance(self.part, _Categories)
        return self.part._codes(self.leaf.rows(X), "X", [self._place])[0][0]

    def raw(self, X: Any) -> _checks.Values:
        """Return the values of a column of levels as rows have them."""
        if self.leaf.table is not None:
            return self.leaf.raw(X)
        assert isinstance(self.part, _Categories)
        return self.part._values(X, "X", [self._place])[0]

    @property
    def _place(self) -> int:
        assert isinstance(self.part, _Categories)
        return int(self.part._ends.searchsorted(self.ranker, "right")) - 1


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """The part of one column in the score: a number for each interval of its values, or for each level.

    Attributes
    ----------
    name : str
        The column.
    cuts : ndarray, shape (m,)
        Ends of the intervals ("pieces"), in ascending order; none for a column of levels. A piece contains its upper
        end.
    levels : tuple of str
        The levels; none for a column of numbers.
    scores : ndarray, shape (m + 1,), or one for each level
        The scores of the pieces in ascending order, or of the levels; with a line, its value at `origin`.
    slope : float
        Slope of a straight line that is added, ``slope * (x - origin)``; 0.0 for none.
    origin : float
        Where the line is zero.
    ends : tuple of two floats
        Ends of the line: the range of the training values, or of the rows; infinite without a line.
    missing : float
        The score of a missing value; nan if the weak rankers have no indicator of missing values.
    shares : ndarray
        Share of the rows in each piece, or of each level; empty if there were no rows.
    missing_share : float
        Share of the rows whose value is missing, or no known level; nan if there were no rows.
    unit : str
        The unit of `cuts` for dates, times of day and durations, such as "days since 1970-01-01".

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 4]], names=["visits"])
    >>> shape = pnorm.shapes([0.5, -0.25], H, [[1], [3], [3], [7]])["visits"]
    >>> shape.cuts, shape.scores, shape.range
    (array([2., 4.]), array([0.  , 0.5 , 0.25]), 0.5)
    >>> shape.at(np.array([1.0, 3.0, 7.0]))
    array([0.  , 0.5 , 0.25])
    >>> shape.pieces
    (array([-inf,   2.,   4.]), array([ 2.,  4., inf]))
    >>> [row["score"] for row in shape.rows()]
    [0.0, 0.5, 0.25]
    """

    name: str
    cuts: Vector
    levels: tuple[str, ...]
    scores: Vector
    slope: float = 0.0
    origin: float = 0.0
    ends: tuple[float, float] = (-math.inf, math.inf)
    missing: float = math.nan
    shares: Vector = field(default_factory=lambda: np.empty(0))
    missing_share: float = math.nan
    _may_miss: bool = False
    """Whether a value may be missing, with an indicator or without."""
    _keys: tuple[Any, ...] = ()
    """The levels as the rows have them."""
    _column: int = 0
    """The number of the column in `Rankers.column_names`."""
    _values: tuple[Any, ...] = ()
    """What the numbers 0, 1, ... of the column stand for, if it is no column of numbers."""
    _source: _Source | None = None
    """Who reads the column."""
    _quantiles: Vector = field(default_factory=lambda: np.empty(0))
    """The quantiles 0, 0.01, ..., 1 of the known values of a column of numbers; empty if there were no rows."""
    _all_cuts: Vector = field(default_factory=lambda: np.empty(0))
    """The cuts of the weak rankers in ascending order, and the ends of lines, those with coefficient zero included."""
    _is_whole: bool = False
    """True if the values are whole numbers, judged by the rows or, without rows, by the cuts."""

    def at(self, x: Vector, above: Any = False) -> Vector:
        """Return the scores of values of a column of numbers.

        Parameters
        ----------
        x : ndarray, shape (N,)
            The values.
        above : bool or ndarray of bool, shape (N,)
            Whether to return the score just above a value that equals a cut.

        Returns
        -------
        ndarray, shape (N,)
            The scores.
        """
        piece = np.where(above, self.cuts.searchsorted(x, "right"), self.cuts.searchsorted(x))
        return np.asarray(self.scores[piece] + (self.slope * (x - self.origin) if self.slope else 0.0))

    @property
    def unit(self) -> str:
        """The unit of the cuts, if they are read off a date, a time of day or a duration; else empty."""
        return UNITS.get(self.read_off, "")

    @property
    def read_off(self) -> str:
        """What is read off the column of a table, a key of `OF` of `pnorm.rankers._table`; "" for the column itself."""
        return self._source.leaf.read_off if self._source is not None else ""

    @property
    def kind(self) -> str:
        """The kind of the column of a table that `pnorm.rankers.from_table` has found; else empty."""
        return self._source.leaf.kind if self._source is not None else ""

    @property
    def column_name(self) -> str:
        """The column of the table that it is read off; `name` without a table."""
        return self._source.leaf.column_name if self._source is not None and self.kind else self.name

    def text(self, x: float) -> str:
        """Return a value of a column of numbers as people write it.

        Parameters
        ----------
        x : float
            The value.

        Returns
        -------
        str
            Ten digits of a number, or a date, a time of day or a duration.
        """
        return number_text(x, self.read_off)

    @property
    def pieces(self) -> tuple[Vector, Vector]:
        """Lower and upper ends of the pieces: infinite at the outside or, with a line, its `ends`."""
        low, high = self.ends
        low, high = (low, high) if not self.cuts.size else (min(low, self.cuts[0]), max(high, self.cuts[-1]))
        return np.r_[low, self.cuts], np.r_[self.cuts, high]

    @property
    def range(self) -> float:
        """Largest minus smallest score, zero included: the range of the column's part of the score."""
        values = self.scores
        if self.slope:
            low, high = self.pieces
            some = np.isfinite(low) & np.isfinite(high)
            values = np.r_[self.at(low[some], True), self.at(high[some])]
        values = np.r_[values, 0.0, [] if math.isnan(self.missing) else self.missing]
        return float(np.ptp(values))

    def rows(self) -> list[dict[str, Any]]:
        """Return the table of the column.

        Returns
        -------
        list of dict
            One for each piece or level, and for missing values: ``column``; ``from`` and ``to``, the ends of a piece,
            and their ``unit``, if they have one; ``level``; ``score``, with a line that at the lower end of the piece;
            ``slope``; and ``share``, the share of rows there. What does not apply is None.
        """
        shares = self.shares.tolist() if self.shares.size else [None] * self.scores.size
        if self.levels:
            texts = ["(missing)" if key is None else level for key, level in zip(self._keys, self.levels, strict=True)]
            found = [
                _row(self.name, level=level, score=score, share=share)
                for level, score, share in zip(texts, self.scores.tolist(), shares, strict=True)
            ]
        else:
            low, high = self.pieces
            start = np.where(np.isfinite(low), low, high) if self.slope else low
            scores = self.at(start, True) if self.slope else self.scores
            found = [
                _row(self.name, a, b, unit=self.unit or None, score=score, slope=self.slope or None, share=share)
                for a, b, score, share in zip(low.tolist(), high.tolist(), scores.tolist(), shares, strict=True)
            ]
        if not math.isnan(self.missing):
            share = None if math.isnan(self.missing_share) else self.missing_share
            found.append(_row(self.name, level="(missing)", score=self.missing, share=share))
        return found

    def __repr__(self) -> str:
        what = self._counted(range(len(self.levels))) if self.levels else f"{self.scores.size} pieces"
        return f"<Shape of {self.name}: {what}, range {self.range:.3g}>"

    def _counted(self, of: Sequence[int]) -> str:
        """Return the number of some levels in words; a missing value is not called a level."""
        known = sum(self._keys[k] is not None for k in of)
        return joined([*[how_many(known, "level")] * (known > 0), *["missing"] * (len(of) > known)])


def _row(name: str, low: Any = None, high: Any = None, **values: Any) -> dict[str, Any]:
    return {
        "column": name,
        "from": low,
        "to": high,
        "unit": None,
        "level": None,
        "score": None,
        "slope": None,
        "share": None,
    } | values


@dataclass(frozen=True, eq=False, repr=False)
class Shapes(Sequence[Shape]):
    """Shapes of columns, the largest range first. `pnorm.shapes` returns them.

    It is a sequence of `Shape`; ``shapes["name"]`` is the shape of a column. It prints, also in a notebook, as a
    table.

    A shape is defined up to a constant, so only differences within a shape count. Here cuts are zero in the lowest
    piece; reasons compare with the average negative row, and the curves of the report with the average row.

    Attributes
    ----------
    columns : tuple of Shape
        The shapes.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 4], [30]], names=["visits", "age"])
    >>> found = pnorm.shapes([0.5, -0.25, 0.1], H, [[1, 20], [3, 40], [3, 50], [7, 25]])
    >>> [shape.name for shape in found], found["visits"].range
    (['visits', 'age'], 0.5)
    >>> found.to_frame().shape
    (5, 8)
    """

    columns: tuple[Shape, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, str):
            return self.columns[index]
        for shape in self.columns:
            if shape.name == index:
                return shape
        raise KeyError(f"no column {index!r:.60} has a shape; there are {first([s.name for s in self.columns], 8)}")

    def to_frame(self) -> DataFrame:
        """Return all pieces as a data frame of pandas.

        Returns
        -------
        DataFrame
            The columns ``column``, ``from``, ``to``, ``unit``, ``level``, ``score``, ``slope`` and ``share``; see
            `Shape.rows`.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        return sheet.frame([row for shape in self.columns for row in shape.rows()])

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for shape in self.columns:
            write, found = sheet.same_digits([*shape.scores, shape.range]), shape.rows()
            cells = [_shown(row, write, shape.read_off) for row in found]
            if len(cells) > _PIECES + 1:
                left = len(cells) - _PIECES
                cells[_PIECES // 2 : -_PIECES // 2] = [["", f"... {left} more", "", "", ""]]
            rows += [[shape.name if k == 0 else "", *row[1:]] for k, row in enumerate(cells)]
        given = [True] * 3 + [any([row[k] for row in rows]) for k in (3, 4)]
        head, *rows = [
            [cell for cell, there in zip(row, given, strict=True) if there]
            for row in (["column", "values", "score", "per unit", "share"], *rows)
        ]
        return head, rows

    def __str__(self) -> str:
        return sheet.plain(*self._table(), left=2)

    def __repr__(self) -> str:
        return f"<Shapes of {len(self)} columns>"

    def _repr_html_(self) -> str:
        return sheet.as_html(*self._table(), left=2)


def _shown(row: dict[str, Any], write: Any, read_off: str) -> list[str]:
    slope = f"{row['slope']:+.3g}" if row["slope"] else ""
    share = "" if row["share"] is None else f"{100 * row['share']:.1f} %"
    values = values_text(row["from"], row["to"], row["level"], partial(number_text, read_off=read_off))
    return [row["column"], values, write(row["score"]), slope, share]


def values_text(
    low: float | None, high: float | None, level: str | None, write: Callable[[float], str] = number_text
) -> str:
    """Return a piece or a level in words: the upper end is in a piece, the lower end is not."""
    if low is None or high is None:
        return str(level)
    if math.isinf(low) and math.isinf(high):
        return "any"
    if math.isinf(low):
        return f"<= {write(high)}"
    return f"> {write(low)}" if math.isinf(high) else f"> {write(low)} and <= {write(high)}"


@_checks.takes_no_model("shapes(X)", "pnorm.shapes(model.lam, model.H, X)")
def shapes(lam: Coefficients, H: WeakRankers, X: Rows | None = None, *, weight: Weights | None = None) -> Shapes:
    r"""Compute the part of each column in the score, as a function of its value.

    The score is a sum over columns::

        f(x) = Σ_c f_c(x_c),    f_c = Σ_{j reads c} λ_j h_j

    Parameters
    ----------
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    H : Rankers
        The weak rankers. Functions have no shape. Columns as they are have one if X is given, over its values.
    X : array_like, shape (N, d), optional
        Rows, for the share of rows in each piece.
    weight : array_like, shape (N,), optional
        Case weights of X, zero or more, for the shares.

    Returns
    -------
    Shapes
        A `Shape` for each column with coefficients, the largest range first.

    Raises
    ------
    ValueError, TypeError
        If H is not a collection, X does not fit it, or `weight` is not one number, zero or more, per row of X.

    See Also
    --------
    pnorm.plotting.shapes : Plot the shapes.
    scorecard : Shapes in whole points.

    Notes
    -----
    Shapes are defined up to a constant, which does not change the order. Cuts are zero below the first cut, scaled
    columns at their smallest training value, and levels for unknown values.

    The cost is one pass over each column of X, plus the pieces.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 4]], names=["visits"])
    >>> print(pnorm.shapes([0.5, -0.25], H, [[1], [3], [3], [7]]))
    column  values         score   share
    visits  <= 2          +0.000  25.0 %
            > 2 and <= 4  +0.500  50.0 %
            > 4           +0.250  25.0 %
    """
    rankers, lam = coefficients(lam, H)
    if weight is not None and X is None:
        raise ValueError("weight is of the rows of X, which is not given; pass X as well")
    found = list(map(by_value, shapes_of(lam, rankers, X is not None)))
    if X is not None:
        found = counted(found, {"X": X}, _checks.masses(weight, "weight", _checks.n_rows(X, "X")))
    return Shapes(tuple(sorted(found, key=lambda shape: -shape.range)))


def coefficients(lam: Any, H: Any) -> tuple[Rankers, Vector]:
    """Return a collection with its coefficients, which have to be of a size that can be added up."""
    if not isinstance(H, Rankers):
        raise TypeError(f"H must be a collection made by pnorm.rankers; got {type(H).__name__}")
    lam = _checks.vector(lam, "lam", len(H), "one coefficient per weak ranker")
    if np.abs(lam).max() > _checks.ROOT:
        raise ValueError("the coefficients (lam) are too large to draw; scale them down")
    return H, lam


def shapes_of(lam: Vector, H: Rankers, straight: bool = False) -> list[Shape]:
    """Return the shapes of the columns of numbers, and then those of levels, in the order of the collection.

    With `straight`, columns as they are have one too.
    """
    number = H.column
    numbers: dict[int, tuple[list[_Curve], list[float], list[_Source]]] = {}
    levels: dict[int, tuple[list[_Levels], list[_Source]]] = {}
    for leaf in leaves(H, lam):
        part, of_part, start = leaf.part, leaf.lam, leaf.start
        if straight and isinstance(part, _Columns):
            for j in np.flatnonzero(of_part).tolist():
                _, slopes, sources = numbers.setdefault(int(number[start + j]), ([], [], []))
                slopes.append(float(of_part[j]))
                sources.append(_Source(leaf, j))
        for j, shape in part._shapes(of_part):
            c = int(number[start + j])
            if isinstance(shape, _Curve):
                curves, _, sources = numbers.setdefault(c, ([], [], []))
                curves.append(shape)
            else:
                of_column, sources = levels.setdefault(c, ([], []))
                of_column.append(shape)
            sources.append(_Source(leaf, j))
    names = H.column_names
    found = [
        replace(
            _summed(curves, sum(slopes)),
            name=names[c],
            _column=c,
            _source=sources[0],
            _may_miss=_may_miss(sources),
            _values=sources[0].leaf.values,
        )
        for c, (curves, slopes, sources) in sorted(numbers.items())
    ]
    return found + [_merged(names[c], c, *of_column) for c, of_column in levels.items()]


def _may_miss(sources: Sequence[_Source]) -> bool:
    return all([getattr(source.part, "_missing", None) for source in sources])


def _merged(name: str, c: int, parts: Sequence[_Levels], sources: Sequence[_Source]) -> Shape:
    """Return the sum of the shapes of levels; collections may have the levels of a column twice."""
    scores: dict[Any, tuple[str, float]] = {}
    for part, source in zip(parts, sources, strict=True):
        for key, text, score in zip(source.levels, part.names, part.values.tolist(), strict=True):
            scores[key] = text, scores.get(key, (text, 0.0))[1] + score
    texts, values = zip(*scores.values(), strict=True)
    merged = Shape(name, np.empty(0), texts, np.array(values), _may_miss=_may_miss(sources))
    return replace(merged, _keys=tuple(scores), _column=c, _source=sources[0])


def by_value(shape: Shape) -> Shape:
    """Return the shape of a column whose numbers stand for other values, by these; other shapes as they are."""
    if not shape._values:
        return shape
    scores, texts = shape.at(np.arange(float(len(shape._values)))), tuple(map(str, shape._values))
    return replace(shape, levels=texts, scores=scores, cuts=np.empty(0), _keys=shape._values)


def counted(found: Sequence[Shape], tables: Mapping[str, Any], c: Vector | None = None) -> list[Shape]:
    """Return shapes with the share of rows in each piece; lines that had no ends get the extremes of the rows.

    The rows are several tables, by what messages call them, and have case weights c.
    """
    return [_shared(shape, [_read(shape, X, name) for name, X in tables.items()], c) for shape in found]


def seen_values(X: Any, H: Rankers, lam: Vector, weight: Vector | None) -> dict[int, tuple[Vector, bool]]:
    """Return the quantiles of rows by the number of the column, and whether the values are whole numbers."""
    found = [shape for shape in shapes_of(lam, H) if not shape.levels and not shape._values]
    return {shape._column: (shape._quantiles, shape._is_whole) for shape in counted(found, {"X": X}, weight)}


def with_seen(found: Sequence[Shape], seen: Any) -> list[Shape]:
    """Return shapes without rows with what an estimator knows of its training rows; `seen` may be None."""
    try:
        known = {} if seen is None else seen.get("the range of the training rows")
    except AttributeError:  # a pickle may not contain it
        known = {}
    return [
        shape
        if shape.levels or shape._quantiles.size or shape._column not in known
        else replace(shape, _quantiles=known[shape._column][0], _is_whole=known[shape._column][1])
        for shape in found
    ]


def _read(shape: Shape, X: Any, name: str) -> Any:
    """Return the values of a column of numbers, or the numbers of its levels."""
    source = shape._source
    assert source is not None
    with _checks.rows_called(name):
        if shape._values or not shape.levels:
            x = source.values(X, shape._may_miss)
            return np.where(np.isnan(x), len(shape.levels), x).astype(np.intp) if shape.levels else x
        codes = source.codes(X)
    number = {key: k for k, key in enumerate(shape._keys)}
    return np.array([*[number[key] for key in source.levels], len(number)])[codes]


def _shared(shape: Shape, parts: Sequence[Any], c: Vector | None) -> Shape:
    """Return a shape with the share of values, or of numbers of levels, in each piece."""
    codes = values = np.concatenate(parts)
    if not shape.levels:
        missing = np.isnan(values)
        codes = np.where(missing, shape.scores.size, shape.cuts.searchsorted(values))
        if shape.slope and math.isinf(shape.ends[0]) and not missing.all():
            shape = replace(shape, ends=(float(np.nanmin(values)), float(np.nanmax(values))))
    c = np.ones(codes.size) if c is None else c
    if not shape.levels:
        known = values[~missing]
        is_whole = bool(known.size and (known == np.floor(known)).all())
        shape = replace(shape, _quantiles=_quantiles(values, c), _is_whole=is_whole)
    shares = np.bincount(codes, c, minlength=shape.scores.size + 1) / c.sum()
    return replace(shape, shares=shares[:-1], missing_share=float(shares[-1]))


def _quantiles(values: Vector, c: Vector) -> Vector:
    """Return quantiles of the values that are known and have a weight; each of them is one of the values."""
    there = np.flatnonzero(~np.isnan(values) & (c > 0.0))
    if not there.size:
        return np.empty(0)
    there = there[np.argsort(values[there], kind="stable")]
    up_to = np.cumsum(c[there])
    at = np.searchsorted(up_to, np.linspace(0.0, float(up_to[-1]), 101))
    return np.asarray(values[there[at]])


def _summed(parts: list[_Curve], slope: float) -> Shape:
    """Return the sum of curves, and of a straight line through zero; its column is not known here."""
    lines = [(slope, 0.0)] if slope else []
    lines += [(part.rise / float(part.cuts[-1] - part.cuts[0]), float(part.cuts[0])) for part in parts if part.rise]
    ends = [float(end) for part in parts if part.rise for end in part.cuts[[0, -1]]]
    stairs = [part for part in parts if not part.rise or part.values.any()]
    cuts = np.unique(np.concatenate([np.empty(0), *[part.cuts for part in stairs]]))
    values = np.zeros(cuts.size + 1)
    for part in stairs:
        values += part.values[np.r_[part.cuts.searchsorted(cuts), part.cuts.size]]
    origin = ends[0] if ends else 0.0
    values += sum([slope * (origin - start) for slope, start in lines])
    missing = [part.missing for part in parts if not math.isnan(part.missing)]
    every = np.unique(np.concatenate([np.empty(0), *[part.all_cuts for part in parts]]))
    halves = 2.0 * every[every != np.floor(every)]  # a cut lies in the middle of two values
    return Shape(
        "",
        cuts,
        (),
        values,
        sum([slope for slope, _ in lines]),
        origin,
        (min(ends), max(ends)) if ends else (-math.inf, math.inf),
        sum(missing) if missing else math.nan,
        _all_cuts=every,
        _is_whole=bool(halves.size and (halves == np.floor(halves)).all()),
    )
