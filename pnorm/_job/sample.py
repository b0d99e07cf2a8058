"""Rows that are drawn while batches are read once: each is as likely to be drawn, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._tables.gathered import joined

Index = NDArray[np.intp]


class Sample:
    """The rows with the smallest keys so far, `most` of them at most."""

    def __init__(self, most: int, names: Sequence[str]) -> None:
        self.most, self._names = most, names
        self.seen = 0
        """Rows among which they were drawn."""
        self._limit = np.inf
        self._keys: list[Vector] = []
        self._numbers: list[Index] = []
        self._tables: list[Any] = []

    def add(self, table: Any, rows: Index, keys: Vector, first_row: int) -> None:
        """Add some rows of a batch, with a random key each; `first_row` is the number of its first row."""
        self.seen += rows.size
        near = keys < self._limit
        if not near.any():
            return
        rows = rows[near]
        self._keys.append(keys[near])
        self._numbers.append(first_row + rows)
        self._tables.append(_checks.rows(table, rows))
        if sum([part.size for part in self._keys]) > 1.5 * self.most:
            self._trim()

    def _trim(self) -> None:
        keys = np.concatenate(self._keys)
        kept = np.sort(np.argpartition(keys, self.most - 1)[: self.most])
        columns = {name: _checks.rows(column, kept) for name, column in joined(self._tables, self._names).items()}
        self._keys, self._numbers = [keys[kept]], [np.concatenate(self._numbers)[kept]]
        self._tables, self._limit = [columns], float(keys[kept].max())

    def found(self) -> tuple[dict[str, Any], Index]:
        """Return the columns of the rows that were drawn, in the order of the source, and the numbers of the rows."""
        if sum([part.size for part in self._keys]) > self.most:
            self._trim()
        numbers = np.concatenate([np.empty(0, np.intp), *self._numbers])
        return joined(self._tables, self._names), numbers


def in_proportion(rng: np.random.Generator, parts: Sequence[Index], sizes: Sequence[int]) -> Index:
    """Return rows of samples of several parts, as many of each as its share of all rows is.

    `parts` are the places of the rows of each sample, and `sizes` how many rows each was drawn from.
    """
    share = min([part.size / size for part, size in zip(parts, sizes, strict=True) if size], default=1.0)
    return np.sort(
        np.concatenate([_some(rng, part, round(share * size)) for part, size in zip(parts, sizes, strict=True)])
    )


def _some(rng: np.random.Generator, rows: Index, n: int) -> Index:
    return rows if n >= rows.size else rng.choice(rows, n, replace=False)
