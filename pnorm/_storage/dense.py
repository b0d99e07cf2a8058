"""Outputs as columns of a NumPy array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _dense
from pnorm._core._descent import Leaf
from pnorm._storage.base import BLOCK, Index, Rows, Table, Uncoded, added, scatter_of_blocks
from pnorm._storage.combined import Stacked
from pnorm._threads import block_size, over_blocks, slices

_SMALL = 2**15
"""Size up to which a plain loop takes less time than calls of NumPy."""


class Dense(Uncoded):
    """Columns of an array of float64 or float32, in row or column order, used without a copy."""

    def __init__(self, A: _checks.Array, columns: Index | None = None) -> None:
        """Take some of the columns, in ascending order, or all."""
        self._A = A
        n = A.shape[1]
        self._columns = np.arange(n) if columns is None else columns
        is_all = self._columns.size == n
        self._runs = np.array([[0, n]]) if is_all else runs_of(self._columns)
        self._all: Any = slice(None) if is_all else self._columns
        self.shape = (A.shape[0], self._columns.size)
        self.low, self.high = [x[self._all] for x in _extremes(A)]

    def sums(self, weights: Any) -> Any:
        if weights.ndim > 1:
            return np.asarray(weights.T @ self._A[:, self._all])

        def work(rows: slice) -> Vector:
            out = np.empty(self.shape[1])
            _dense.products(self._A, self._runs, weights, rows.start, rows.stop, out)
            return out

        return over_blocks(self.shape[0], work, added)

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        return scatter_of_blocks(self.blocks(), weights, centres, codes)

    def combine(self, lam: Vector) -> Any:
        f = np.zeros(self.shape[0])
        return over_blocks(
            f.size, lambda rows: _dense.combined(self._A, self._runs, lam, rows.start, rows.stop, f), lambda _: f
        )

    def column(self, j: int, shift: float, out: Vector) -> Any:
        k = int(self._columns[j])
        return over_blocks(out.size, lambda rows: _dense.column(self._A, k, shift, rows.start, rows.stop, out))

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        for rows in slices(self.shape[0], BLOCK):
            yield rows, self._A[rows, self._all].astype(np.float64, copy=False)

    def matrix(self) -> Any:
        return self._A[:, self._all].astype(np.float64, copy=False)

    def leaves(self) -> list[Leaf]:
        return [Leaf.dense(self._A, self._columns, self._runs, block_size(self.shape[0]))]

    def select_rows(self, rows: Rows) -> Dense:
        return Dense(self._A[rows], self._columns)

    def subtract(self, shift: Vector) -> Table:
        far = np.flatnonzero(shift)
        if not far.size:
            return self
        columns, near = self._columns[far], np.setdiff1d(np.arange(shift.size), far)
        moved = Dense(self._A[:, columns] - shift[far])
        return Stacked([Dense(self._A, self._columns[near]), moved], [near, far]) if near.size else moved


def runs_of(columns: Index) -> Index:
    """Ascending numbers of columns as runs [first, last) of consecutive ones, shape (r, 2)."""
    last = (columns[1:] > columns[:-1] + 1).nonzero()[0]
    runs = np.empty((last.size + 1, 2), np.intp)
    runs[0, 0], runs[1:, 0] = columns[0], columns[last + 1]
    runs[-1, 1], runs[:-1, 1] = columns[-1] + 1, columns[last] + 1
    return runs


def _extremes(A: _checks.Array) -> tuple[Vector, Vector]:
    """Smallest and largest number of every column."""
    if A.size <= _SMALL:
        low, high = np.empty((2, A.shape[1]))
        _dense.column_extremes(A, low, high)
        return low, high
    # NumPy's minimum over short rows is 10 times as slow as over long ones.
    fold = 64  # number of rows side by side
    if A.flags.c_contiguous and A.shape[0] > fold * fold:
        even = A.shape[0] // fold * fold
        sides = A[:even].reshape(-1, fold * A.shape[1])
        A = np.concatenate([x.reshape(fold, -1) for x in (sides.min(axis=0), sides.max(axis=0))] + [A[even:]])
    return A.min(axis=0).astype(np.float64), A.max(axis=0).astype(np.float64)
