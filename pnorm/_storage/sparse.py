"""Outputs as a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _dense
from pnorm._storage.base import (
    BLOCK,
    Index,
    Rows,
    Uncoded,
    by_group,
    mass_by_group,
    scatter_of_blocks,
    scatter_of_moments,
    tasks_of_columns,
)
from pnorm._threads import Pass, slices

_EPS = float(np.finfo(np.float64).eps)


class Sparse(Uncoded):
    """A SciPy CSC matrix of float64; zeros that are not stored cost nothing in a round's edges."""

    def __init__(self, A: Any) -> None:
        self._A = A
        self.shape = A.shape
        self.low, self.high = [
            np.asarray(x.toarray(), dtype=np.float64).ravel() for x in (A.min(axis=0), A.max(axis=0))
        ]

    @property
    def stored(self) -> int:
        return int(self._A.nnz)

    def sums(self, weights: Any) -> Any:
        A = self._A
        if weights.ndim > 1:
            return np.asarray((A.T @ weights).T.toarray())
        # A column is summed by one task. Tasks have about the same number of stored numbers.
        out = np.empty(self.shape[1])
        tasks = [
            partial(_dense.sparse_products, A.indptr, A.indices, A.data, weights, start, stop, out)
            for start, stop in tasks_of_columns(A.indptr)
        ]
        return Pass(tasks, lambda _: out)

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        A, mass = self._A, mass_by_group(weights, codes, len(centres))
        sums = (A.T @ weights)[None] if codes is None else self.sums(by_group(weights, codes, len(mass)))
        square = (A.T @ A.multiply(weights[:, None]).tocsc()).toarray()
        found = scatter_of_moments(sums, square, mass, centres)
        return scatter_of_blocks(self.blocks(), weights, centres, codes) if found is None else found

    def combine(self, lam: Vector) -> Any:
        return np.asarray(self._A @ lam)

    def column(self, j: int, shift: float, out: Vector) -> Any:
        stored = slice(self._A.indptr[j], self._A.indptr[j + 1])
        out.fill(-shift)
        out[self._A.indices[stored]] = self._A.data[stored] - shift

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        A = self._A.tocsr()
        for rows in slices(A.shape[0], BLOCK):
            yield rows, A[rows].toarray()

    def matrix(self) -> Any:
        return self._A

    def rounding(self, lam: Vector, size: Vector) -> float:
        """Count the numbers that a row stores: for text of 100,000 words, about 60 of them per document."""
        most = int(np.bincount(self._A.indices, minlength=1).max())
        return _EPS * most * float((abs(self._A) @ np.abs(lam)).max())

    def select_rows(self, rows: Rows) -> Sparse:
        return Sparse(self._A[rows])

    def subtract(self, shift: Vector) -> Sparse:
        if not shift.any():
            return self
        A = self._A.copy()  # a column far from zero stores all its numbers
        A.data -= np.repeat(shift, np.diff(A.indptr))
        return Sparse(A)
