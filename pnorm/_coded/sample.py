"""Rows that stand for a table that is read in batches, from which its weak rankers are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._tables.gathered import joined
from pnorm.rankers import _hashes
from pnorm.rankers._base import Found, Index
from pnorm.rankers._from_table import column_of_rows, of_rows, read_as
from pnorm.rankers._hashes import Hashes
from pnorm.rankers._reader import ReadAs
from pnorm.rankers._readings import CATEGORY
from pnorm.rankers._sides import Numbers
from pnorm.rankers._table import Table

MOST = 200_000
"""Rows that are kept, at most."""

_CELLS = 2**27
"""Cells of them, at most: more than 670 columns have fewer rows, so that numbers take a gigabyte."""

_COUNTED = 2**20
"""Different rows, at most, whose copies are counted as long as none is left out."""


class _Part(NamedTuple):
    table: Any
    positive: NDArray[np.bool_]
    rows: Index
    """The numbers of the rows in messages."""
    keys: Hashes

    def take(self, places: Index) -> _Part:
        return _Part(_checks.rows(self.table, places), self.positive[places], self.rows[places], self.keys[places])


class TableSample:
    """All rows of a table that comes in batches; of more than `MOST` rows, those with the smallest keys.

    The key of a row is a hash of what it holds and of how many equal rows came before. So the rows that are kept do not
    depend on the order of the rows, nor on the batches. There are two exceptions, of tables with many copies: where
    more than 2**20 different rows come, and in `merge`, copies that come in different batches may have one key.
    """

    def __init__(self, name: str = "rows") -> None:
        self._name = name
        self._found: Found = None
        self._width = 0
        self.sizes = (0, 0)
        """The numbers of all positive and negative rows."""
        self._parts: list[_Part] = []
        self._limit = np.uint64(2**64 - 1)
        self._copies = _Copies()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, ``x0``, ``x1``, ... where they have none."""
        return self._found or tuple([f"x{c}" for c in range(self._width)])

    @property
    def most(self) -> int:
        """The number of rows that are kept, at most."""
        return min(MOST, max(_CELLS // max(self._width, 1), 1))

    @property
    def is_whole(self) -> bool:
        """Whether all rows are kept."""
        return sum(self.sizes) <= self.most

    def add(
        self, X: Any, positive: NDArray[np.bool_], first_row: int | Index = 0, hashes: Hashes | None = None
    ) -> TableSample:
        """Add a batch of rows.

        Parameters
        ----------
        X : table of n rows
            In any of the forms that `from_table` takes; there may be no rows.
        positive : array of bool, shape (n,)
            Whether a row is positive.
        first_row : int or array of int, shape (n,)
            The number of the first row in messages, or of every row.
        hashes : array of uint64, shape (n,), optional
            Hashes of the rows, the same for equal ones.
        """
        positive = np.asarray(positive, bool)
        if _is_empty(X):
            found = tuple([str(key) for key in X]) if _checks.is_columns(X) else _checks.column_names(X)
            self._fit(found, len(found) if found is not None else (_checks.shape_of(X) or (0, 0))[-1])
            return self
        X = _checks.from_records(X, self._name)
        self._fit(*_checks.headings(X, self._name))
        if positive.shape != (_checks.n_rows(X, self._name),):
            raise ValueError(
                f"positive must have one truth value for each of the {_checks.n_rows(X, self._name)} rows of "
                f"{self._name}; got shape {positive.shape}"
            )
        rows = first_row + np.arange(positive.size) if np.ndim(first_row) == 0 else np.asarray(first_row, np.intp)
        keys = self._copies.keys(_hashes.of_rows(_hashes.of_columns(X)) if hashes is None else hashes)
        n_pos = int(np.count_nonzero(positive))
        self.sizes = self.sizes[0] + n_pos, self.sizes[1] + positive.size - n_pos
        self._keep([_Part(X, positive, rows, keys)])
        return self

    def merge(self, other: TableSample) -> TableSample:
        """Return the sample of the rows of both, those of `other` after these."""
        new = TableSample(self._name)
        for of in (self, other):
            if of._width:
                new._fit(of._found, of._width)
            new._keep(of._parts)
        new.sizes = self.sizes[0] + other.sizes[0], self.sizes[1] + other.sizes[1]
        return new

    def rankers(self, *, min_rows: int | None = None, **how: Any) -> Table:
        """Return what `from_table` makes of the rows; the options are its own."""
        for what, n in zip(("positive", "negative"), self.sizes, strict=True):
            if n == 0:
                raise ValueError(f"{self._name} has no {what} rows; both positive and negative rows are needed")
        part = self._whole()
        if min_rows is not None and not self.is_whole:  # as large a share of the sample
            min_rows = max(round(_checks.count(min_rows, "min_rows", 1) * part.rows.size / sum(self.sizes)), 2)
        return of_rows(part.table, part.positive, part.rows, self._name, min_rows=min_rows, **how)

    def read_as(self, kinds: Mapping[Any, Any] | None = None) -> tuple[ReadAs, Numbers | None]:
        """Return how `from_table` reads the only column, and its numbers; None if it is a category."""
        part = self._whole()
        column = column_of_rows(part.table, part.positive, part.rows, self._name)(0)
        found = read_as(column, self.columns[0], kinds)
        return found, None if found.reading.kind == CATEGORY else column.numbers(found.reading)

    def _fit(self, found: Found, width: int) -> None:
        """Refuse a batch whose columns are not those of the others; one without columns has no say."""
        if width == 0:
            return
        if self._width and self._found is not None and found is not None:
            _checks.same_batch_columns(self._found, found, self._name)
        elif self._width and self._width != width:
            raise ValueError(
                f"a batch of {self._name} has {width} columns, and the ones before it have {self._width}; all "
                "batches need the same columns"
            )
        self._found, self._width = self._found or found, width

    def _keep(self, parts: Sequence[_Part]) -> None:
        """Keep rows with small keys."""
        for part in parts:
            near = part.keys <= self._limit
            if near.any():
                self._parts.append(part if near.all() else part.take(np.flatnonzero(near)))
        if sum([part.rows.size for part in self._parts]) > 1.5 * self.most:
            self._trim()

    def _trim(self) -> None:
        keys, most = np.concatenate([part.keys for part in self._parts]), self.most
        if keys.size <= most:
            return
        kept = np.zeros(keys.size, bool)
        kept[np.argpartition(keys, most - 1)[:most]] = True
        self._limit = keys[kept].max()
        places = np.split(kept, np.cumsum([part.rows.size for part in self._parts])[:-1])
        self._parts = [
            part.take(np.flatnonzero(own)) for part, own in zip(self._parts, places, strict=True) if own.any()
        ]

    def _whole(self) -> _Part:
        """Return the rows that are kept as one table."""
        self._trim()
        if len(self._parts) > 1:
            tables, positive, rows, keys = zip(*self._parts, strict=True)
            table = joined(tables, self._found)
            self._parts = [_Part(table, *map(np.concatenate, (positive, rows, keys)))]
        return self._parts[0]


class _Copies:
    """Counts of equal rows, by which each copy of a row gets a key of its own."""

    def __init__(self) -> None:
        self._known, self._times = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._is_open = True

    def keys(self, hashes: Hashes) -> Hashes:
        """Return the keys of the rows of a batch."""
        own, of, n = np.unique(hashes, return_inverse=True, return_counts=True)
        at = self._known.searchsorted(own)
        at[at == self._known.size] = 0
        is_known = self._known[at] == own if self._known.size else np.zeros(own.size, bool)
        before = np.zeros(own.size, np.int64)
        before[is_known] = self._times[at[is_known]]
        self._times[at[is_known]] += n[is_known]
        if self._is_open:
            self._learn(own[~is_known], n[~is_known])
        order = np.argsort(of, kind="stable")
        number = np.empty(hashes.size, np.int64)
        number[order] = np.arange(hashes.size) - np.repeat(n.cumsum() - n, n) + np.repeat(before, n)
        return _hashes.of_rows([hashes, number.astype(np.uint64)])

    def _learn(self, hashes: Hashes, n: NDArray[np.int64]) -> None:
        """Count more different rows; of too many, those that have come several times."""
        known, times = np.concatenate([self._known, hashes]), np.concatenate([self._times, n])
        self._is_open = known.size <= _COUNTED
        kept = np.arange(known.size) if self._is_open else np.flatnonzero(times > 1)[:_COUNTED]
        kept = kept[np.argsort(known[kept])]
        self._known, self._times = known[kept], times[kept]


def _is_empty(X: Any) -> bool:
    if _checks.is_columns(X):
        X = next(iter(X.values()), ())
    shape = _checks.shape_of(X)
    return (shape[0] if shape else len(X)) == 0
