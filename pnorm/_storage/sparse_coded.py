"""Outputs of few values for features that are zero on most rows, stored as the other rows and their codes.

All rows that are not stored have the code of zero. Their sum is that of all rows minus that of the stored rows. A pass
therefore costs some nanoseconds for each stored number, for any number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _bins
from pnorm._core._descent import Leaf
from pnorm._storage.base import (
    TASKS,
    Index,
    Places,
    Rows,
    bounds_of,
    by_group,
    in_one_leaf,
    mass_by_group,
    scatter_of_blocks,
    scatter_of_moments,
    tasks_of_columns,
)
from pnorm._storage.codebook import Codebook
from pnorm._storage.coded import CELLS
from pnorm._storage.double_double import two_sum
from pnorm._storage.features import BYTE, Cuts
from pnorm._threads import SERIAL, Pass, blocks, over_blocks, slices

_EPS = float(np.finfo(np.float64).eps)


class SparseCoded:
    """Features as the rows that a sparse matrix stores, with the code of each row in one or two bytes."""

    def __init__(
        self, book: Codebook, of_zero: Index, n_rows: int, starts: Index, rows: NDArray[np.int32], codes: NDArray[Any]
    ) -> None:
        """Feature k has codes[starts[k]:starts[k + 1]] on these rows, in order, and of_zero[k] on all others."""
        self._book, self._of_zero, self._starts, self._rows, self._codes = book, of_zero, starts, rows, codes
        self.shape = (n_rows, book.n_rankers)
        self.coded, self.tally_size = np.ones(book.n_rankers, bool), int(book.cells[-1])
        self._zero_cells = book.cells[:-1] + of_zero
        self._spans = tasks_of_columns(starts)
        """Features of a task: tasks have about the same number of stored codes."""
        # The relative error of a sum of n terms in twice the working precision is within (n eps / 2)**2. The sum over
        # the rows that are not stored is a difference of two such sums: over all rows, first within blocks and then
        # over blocks, and over the rows that a feature stores.
        n_terms = np.array([starts[1:] - starts[:-1], np.full(of_zero.size, blocks(n_rows)[0].stop + TASKS)], float)
        self._least = _EPS / 16.0 * (n_terms**2).sum(axis=0)
        """Shares of all weight from which on the relative error of that difference is within 4 eps."""
        self.counts = SERIAL.run(self.tally(np.ones(n_rows)))[0]
        self.low, self.high = book.extremes(self.counts)

    @classmethod
    def encoded(cls, book: Codebook, sources: Sequence[Cuts], n_rows: int) -> SparseCoded:
        """Find the codes of the stored rows."""
        starts = bounds_of(np.array([source.n_stored for source in sources], np.intp))
        rows = np.empty(starts[-1], np.int32)
        codes = np.empty(starts[-1], np.uint8 if book.levels.max() <= BYTE else np.uint16)
        for source, start, stop in zip(sources, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            rows[start:stop], codes[start:stop] = source.stored()
        return cls(book, np.array([source.of_zero for source in sources], np.intp), n_rows, starts, rows, codes)

    @property
    def stored(self) -> int:
        return self._codes.size

    # Sums by code

    def tally(self, weights: Vector) -> Pass:
        """Pass: sums of weights by the codes of all features."""
        book, sums, stored = self._book, np.empty(self.tally_size), np.empty((self._of_zero.size, 2))
        tasks = [
            partial(_bins.stored_sums, self._starts, self._rows, self._codes, weights, *span, book.cells, sums, stored)
            for span in self._spans
        ]

        def finish(parts: list[Any]) -> Vector:
            total, rounded = 0.0, 0.0
            for part, rest in parts[len(tasks) :]:
                total, more = two_sum(total, part)
                rounded += rest + more
            others = (total - stored[:, 0]) + (rounded - stored[:, 1])
            for k in np.flatnonzero(np.abs(others) < self._least * abs(total)).tolist():
                outside = np.ones(weights.size, bool)
                outside[self._own(k)[0]] = False
                others[k] = weights[outside].sum()
            sums[self._zero_cells] += others
            return sums

        whole = over_blocks(weights.size, lambda rows: _bins.twofold_sum(weights, rows.start, rows.stop))
        return Pass([*tasks, *whole.tasks], finish)

    def retally(self, j: int, factors: Vector, weights: Vector, tally: Vector) -> Pass:
        return self.tally(weights)

    def totals(self, tally: Vector) -> Vector:
        return tally

    def edges(self, totals: Vector) -> Vector:
        return self._book.of_rankers(totals, self._book.centred)

    def sums(self, weights: Any) -> Any:
        book = self._book
        if weights.ndim == 1:
            return self.tally(weights).then(lambda tally: book.of_rankers(tally, book.terms))
        totals = (weights.T @ self._indicators()).toarray(order="C")
        mass = np.asarray(weights.sum(axis=0)).ravel()
        totals[:, self._zero_cells] += mass[:, None] - np.add.reduceat(totals, book.cells[:-1], axis=1)
        return np.array([book.of_rankers(of_group, book.terms) for of_group in totals])

    # One ranker

    def cells(self, j: int) -> slice:
        return self._book.cells_of(j)

    def values(self, j: int) -> Vector:
        return self._book.values(j)

    def masses(self, j: int, tally: Vector) -> Vector:
        return np.asarray(tally[self.cells(j)])

    def multiply(self, j: int, factors: Vector, weights: Vector) -> Pass:
        k = int(self._book.feature[j])
        stored, codes = self._own(k)

        def work(rows: slice) -> float:
            own = slice(*np.searchsorted(stored, [rows.start, rows.stop]))
            changed = weights[stored[own]] * factors[codes[own]]
            weights[rows] *= factors[self._of_zero[k]]
            weights[stored[own]] = changed
            return float(weights[rows].sum())

        return over_blocks(weights.size, work, lambda parts: float(sum(parts)))

    def column(self, j: int, shift: float, out: Vector) -> Any:
        k, values = int(self._book.feature[j]), self.values(j) - shift
        stored, codes = self._own(k)
        out.fill(values[self._of_zero[k]])
        out[stored] = values[codes]

    def combine(self, lam: Vector) -> Pass:
        scores, level = self._from_zero(self._book.scores(lam))
        return self._added(scores, np.full(self.shape[0], math.fsum(level)))

    def rounding(self, lam: Vector, size: Vector) -> float:
        """Count the terms of a feature and the codes that a row stores, and sum their absolute values."""
        most = int(np.diff(self._book.first).max()) + int(np.bincount(self._rows, minlength=1).max()) + 2
        book = self._book.absolute()
        scores = book.scores(np.abs(lam))
        level = scores[self._zero_cells]
        scores += np.repeat(level, book.levels)
        largest = float(SERIAL.run(self._added(scores, np.zeros(self.shape[0])))[0].max()) + float(level.sum())
        return _EPS * most * largest

    def _from_zero(self, scores: Vector) -> tuple[Vector, Vector]:
        """Scores by code minus those of the code of zero, and the latter."""
        level = scores[self._zero_cells]
        return scores - np.repeat(level, self._book.levels), level

    def _added(self, scores: Vector, f: Vector) -> Pass:
        """Pass: add scores by code to f, on the stored rows."""
        book = self._book
        used = np.flatnonzero(np.logical_or.reduceat(scores != 0.0, book.cells[:-1]))
        task = partial(_bins.add_stored, self._starts, self._rows, self._codes, used, book.cells, scores, f)
        return Pass([task], lambda _: f)

    def _own(self, k: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The rows that feature k stores, and their codes."""
        stored = slice(self._starts[k], self._starts[k + 1])
        return self._rows[stored], self._codes[stored]

    # All rankers, rarely needed

    def _indicators(self) -> Any:
        """The cells of stored codes, as a CSR matrix of ones (N, cells)."""
        from scipy.sparse import coo_array

        at = np.repeat(self._book.cells[:-1], np.diff(self._starts)) + self._codes
        if self.tally_size < 2**31:
            at = at.astype(np.int32)
        return coo_array((np.ones(at.size), (self._rows, at)), shape=(self.shape[0], self.tally_size)).tocsr()

    def _outputs(self) -> tuple[Any, Vector]:
        """Outputs by code minus those of the code of zero, as a CSC matrix (cells, n), and the latter."""
        from scipy.sparse import coo_array

        book = self._book
        level, parts = np.empty(book.n_rankers), []
        for k, (table, own) in enumerate(book.of_features()):
            level[own] = table[self._of_zero[k]]
            above = table - level[own]
            code, ranker = np.nonzero(above)
            parts.append((above[code, ranker], book.cells[k] + code, own[ranker]))
        values, cell, ranker = [np.concatenate(x) for x in zip(*parts, strict=True)]
        return coo_array((values, (cell, ranker)), shape=(self.tally_size, book.n_rankers)).tocsc(), level

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        cells, (outputs, level) = self._indicators(), self._outputs()
        mass = mass_by_group(weights, codes, len(centres))
        sums = (
            by_group(weights, np.zeros(weights.size, np.intp) if codes is None else codes, mass.size).T @ cells
        ) @ outputs
        square = outputs.T @ (cells.T @ cells.multiply(weights[:, None]).tocsr()) @ outputs
        found = scatter_of_moments(sums.toarray(), square.toarray(), mass, centres - level)
        return scatter_of_blocks(self.blocks(), weights, centres, codes) if found is None else found

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        cells, (outputs, level) = self._indicators(), self._outputs()
        for rows in slices(self.shape[0], min(4096, max(CELLS // level.size, 16))):
            yield rows, (cells[rows] @ outputs).toarray() + level

    def matrix(self) -> Any:
        from scipy.sparse import csr_array

        outputs, level = self._outputs()
        matrix = (self._indicators() @ outputs).tocsc()
        return (
            (matrix + csr_array(np.ones((self.shape[0], 1))) @ csr_array(level[None])).tocsc()
            if level.any()
            else matrix
        )

    # Other tables

    def leaves(self) -> list[Leaf] | None:
        return None

    def places(self) -> Places:
        return in_one_leaf(self.shape[1])

    def select_rows(self, rows: Rows) -> SparseCoded:
        from scipy.sparse import csc_array

        size = (self.shape[0], self._of_zero.size)
        some = csc_array((self._codes, self._rows, self._starts), shape=size)[rows]
        some.sort_indices()
        arrays = some.indptr.astype(np.intp), some.indices.astype(np.int32), some.data
        return SparseCoded(self._book, self._of_zero, some.shape[0], *arrays)

    def subtract(self, shift: Vector) -> SparseCoded:
        if not shift.any():
            return self
        book = self._book.subtract(shift)
        return SparseCoded(book, self._of_zero, self.shape[0], self._starts, self._rows, self._codes)
