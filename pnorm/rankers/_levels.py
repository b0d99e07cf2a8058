"""Weak rankers of categories: an indicator for every level of a column."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Column, Seen, distinct, tell
from pnorm._checks import Rows, Vector
from pnorm._checks.text import shown
from pnorm._storage import scoring
from pnorm._storage.features import LARGEST_FEATURE, Codes, Feature
from pnorm._storage.store import Piece
from pnorm.rankers._base import MISSING, Found, Index, Rankers, _Levels, _Shape, coded, kind, names_of, too_wide


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
                read = c, name.removesuffix(MISSING if level is None else f" = {level}")
            of_columns += [read] * len(levels)
        return of_columns

    def _meanings(self) -> list[str]:
        return [
            "x is missing" if level is None else f"x = {_checks.shown(level)}"
            for levels in self._levels
            for level in levels
        ]

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
        values = self._values(X, name, columns)
        known: dict[int, Column] = self._kept or {}
        for c in columns:
            if c not in known:
                known[c] = Column(self._levels[c])
        self._kept = known
        return [
            known[c].codes(of_column, name, c, self._missing, self._found)
            for c, of_column in zip(columns, values, strict=True)
        ]

    def _values(self, X: Any, name: str, columns: Sequence[int]) -> list[_checks.Values]:
        """Return some columns of rows as these have them."""
        found = _checks.column_names(X)
        places = list(columns)
        by_name = self._found is not None and found is not None and found != self._found
        if by_name:
            places = _checks.places(found or (), [(self._found or ())[c] for c in columns], name)
        values, _ = _checks.table(X, name, set(places))
        if not by_name and len(values) != len(self._levels):
            raise ValueError(too_wide(len(values), name, len(self._levels), self._found))
        return [values[place] for place in places]

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
                pieces.append(coded(feature, np.arange(start, start + n), where, complements))
            start += n
        return pieces


def categories(
    pos: Rows, neg: Rows, *, names: Sequence[str] | None = None, missing: Literal["error", "own"] = "error"
) -> Rankers:
    """Make one indicator per level of every column: h(x) = 1 if x_c is that level, else 0.

    Parameters
    ----------
    pos : array_like, shape (I, d), or data frame
        The positive rows of training: strings, numbers and booleans, in any mixture.
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
        If the rows are not tables with the same columns, a value is missing although `missing` is "error", or a value
        is not a string, number or boolean. Convert dates to strings. When rows are evaluated or scored: if a
        column has at least 20 values and none of them is a level.

    Warns
    -----
    UnknownLevelWarning
        When rows are evaluated, scored or trained on, if values are not levels. All indicators of their column
        are 0. Missing values cause no warning.

    Notes
    -----
    Levels of training rows are equal if Python compares them as equal: 1, 1.0 and True are one level, the string "1"
    is another. New rows may come from another kind of file, with other spellings. A new value that is not a level is
    matched by its meaning:

    - A string that reads as a number or a boolean ("1", "1.0", "True", "true") matches that number.
    - A number matches the string that reads as it, if there is only one.
    - Two strings match if they differ only by blanks around them, or if both spell true or false. "7" does not
      match "007".
    - A string that is empty or one of ?, -, NA, N/A, NaN, null and none, in any capitals, is a missing value.

    A float32 level is compared as a double: 0.1 of float32 is 0.10000000149011612 and does not match the text "0.1" of
    a CSV file. Convert such a column to float64 and round it, or to text.

    Each distinct value of a column is checked once. The cost is the search for the distinct values. It is lowest for
    columns with a dictionary: dictionary columns of Arrow, categories of pandas and polars.

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
    labels = names_of(names, found, len(A))
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


@kind("categories")
def _categories_of(fields: _checks.Fields) -> Rankers:
    levels = fields.levels("levels", LARGEST_FEATURE - 1)
    names = fields.strings("names", sum(map(len, levels)))
    return _Categories(names, fields.optional_strings("columns", len(levels)), levels, fields.of(bool, "missing"))
