"""Outputs that take few values: a code per row and feature, and per weak ranker its value on each code.

A round then works on sums of weights by code. One pass over the codes gives the edges of all rankers. A step is
computed from as many numbers as its ranker has values. Weights are multiplied by a table entry for the code of the row.

Codes of features with few levels are packed into words, as digits of one number. A pass costs about 0.4 ns per row and
byte, and 0.65 ns per row and word of two bytes (4096 codes), for any number of features in the word. Two features of
64 levels cost 0.65 ns in one word and 0.8 ns in two. With 8 two-valued features in a byte, each costs 0.05 ns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _bins
from pnorm._core._descent import Leaf
from pnorm._storage.base import Index, Places, Rows, added, in_one_leaf, rounding, scatter_of_blocks, sums_of_blocks
from pnorm._storage.codebook import Schema, words_of_rows
from pnorm._storage.features import Codes, Cuts
from pnorm._threads import SERIAL, Pass, Pool, block_size, over_blocks, slices

CHOSEN = 0.7
"""Share of rows up to which it is faster to add up chosen rows: each costs 1.3 times as much as in a sum of all."""


CELLS = 2**22
"""Size of a block of rows that is made dense: 32 MB."""


class _Room:
    """Work memory of a thread; it is allocated once, since allocation of this size is slow."""

    def __init__(self, scratch: int, n_rows: int) -> None:
        self.scratch = np.empty(scratch)
        self.rows = np.empty(n_rows, np.int32)
        self.weights = np.empty(n_rows)


class Coded:
    """Codes of all features, packed into words of one or two bytes."""

    def __init__(self, schema: Schema, words: tuple[_checks.Array, _checks.Array]) -> None:
        """Words of one byte (m, N), and of two."""
        self.schema, self.words = schema, words
        self.shape = (words[0].shape[1], schema.n_rankers)
        self.coded, self.tally_size = np.ones(schema.n_rankers, bool), schema.n_cells
        self._block = block_size(self.shape[0], schema.min_rows)
        self._rooms: deque[_Room] = deque()
        self.counts = schema.totals(SERIAL.run(self.tally(np.ones(self.shape[0])))[0])
        self.low, self.high = schema.extremes(self.counts)

    @classmethod
    def encoded(cls, schema: Schema, sources: Sequence[Cuts | Codes], n_rows: int, pool: Pool = SERIAL) -> Coded:
        """Find the codes of rows."""
        return cls(schema, words_of_rows(schema, sources, n_rows, pool))

    @property
    def stored(self) -> int:
        return sum([words.size for words in self.words])

    # Sums by code

    def tally(self, weights: Vector, chosen: tuple[int, NDArray[np.uint8]] | None = None) -> Pass:
        """Pass: sums of weights by the codes of every word; of rows with chosen codes of one feature, if given."""
        schema = self.schema

        def work(rows: slice) -> Vector:
            try:
                room = self._rooms.pop()
            except IndexError:
                room = _Room(schema.scratch, min(self._block, self.shape[0]))
            sums, own, found = np.zeros(schema.n_cells), weights, None
            if chosen is not None:
                codes = self._word_of(chosen[0])
                n = _bins.choose(codes, chosen[1], weights, rows.start, rows.stop, room.rows, room.weights)
                own, found = room.weights, room.rows[:n]
            if found is None or found.size:
                for codes, starts in zip(self.words, schema.starts, strict=True):
                    if codes.size:
                        _bins.sums_by_code(codes, own, rows.start, rows.stop, found, starts, sums, room.scratch)
            self._rooms.append(room)
            return sums

        return over_blocks(self.shape[0], work, added, schema.min_rows)

    def retally(self, j: int, factors: Vector, weights: Vector, tally: Vector) -> Any:
        """Pass: the tally of weights after `multiply` with these factors, from the tally before.

        With two factors, the new weights are the smaller factor times the old weights, plus a term on the rows of the
        larger factor. These are usually fewer: the rows that the ranker gets wrong. No digits are lost, since all terms
        are positive.
        """
        low, high = float(factors.min()), float(factors.max())
        rows = self.counts[self.cells(j)]
        wanted = factors == high
        if ((factors != low) & ~wanted & (rows > 0.0)).any() or rows[wanted].sum() > CHOSEN * weights.size:
            return self.tally(weights)
        k = int(self.schema.feature[j])
        more = self.tally(weights, (k, self.schema.by_code_of_word(k, wanted.astype(np.uint8))))
        return more.then(lambda more: low * tally + (1.0 - low / high) * more)

    def totals(self, tally: Vector) -> Vector:
        return self.schema.totals(tally)

    def edges(self, totals: Vector) -> Vector:
        return self.schema.of_rankers(totals, self.schema.centred)

    def sums(self, weights: Any) -> Any:
        if weights.ndim > 1:
            return sums_of_blocks(self.blocks(), weights, self.shape[1])
        return self.tally(weights).then(lambda tally: self.schema.of_rankers(self.totals(tally), self.schema.terms))

    # One ranker

    def cells(self, j: int) -> slice:
        return self.schema.cells_of(j)

    def values(self, j: int) -> Vector:
        return self.schema.values(j)

    def masses(self, j: int, tally: Vector) -> Vector:
        return self.schema.of_feature(int(self.schema.feature[j]), tally)

    def multiply(self, j: int, factors: Vector, weights: Vector) -> Pass:
        k = int(self.schema.feature[j])
        codes, table = self._word_of(k), self.schema.by_code_of_word(k, factors)
        return over_blocks(
            weights.size,
            lambda rows: _bins.multiply_looked_up(codes, table, rows.start, rows.stop, weights),
            lambda parts: float(added(parts)),
        )

    def column(self, j: int, shift: float, out: Vector) -> Pass:
        k = int(self.schema.feature[j])
        codes, table = self._word_of(k), self.schema.by_code_of_word(k, self.values(j) - shift)
        return over_blocks(out.size, lambda rows: _bins.look_up(codes, table, rows.start, rows.stop, out))

    def combine(self, lam: Vector) -> Pass:
        return self.look_up(self.schema.scores(lam), self.schema.feature[lam != 0.0])

    def look_up(self, values: Vector, features: Any = slice(None)) -> Pass:
        """Pass: sums of values by the codes of all features; only those of the given features may be nonzero."""
        schema, f = self.schema, np.zeros(self.shape[0])
        tables, used = schema.tables_of_words(values), schema.words_of(features)

        def work(rows: slice) -> None:
            for codes, words, starts in zip(self.words, used, schema.starts, strict=True):
                if words.size:
                    _bins.add_words(codes, words, starts, tables, rows.start, rows.stop, f)

        return over_blocks(f.size, work, lambda _: f)

    def _word_of(self, k: int) -> _checks.Array:
        words = self.schema.words
        return self.words[int(words.wide[k])][words.word[k]]  # type: ignore[no-any-return]

    # All rankers, rarely needed

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        schema = self.schema
        levels, n = np.diff(schema.cells), self.shape[1]
        pairs = levels.size * (levels.size + 1) / 2
        # Measured per row: 2 to 3 ns for a pair of features; made dense, 0.03 (1275 rankers) to 0.2 ns (50)
        # for a pair of rankers.
        if codes is not None or 15.0 * pairs > n * n or levels.max() ** 2 > 8 * weights.size:
            return scatter_of_blocks(self.blocks(), weights, centres, codes)
        tables, numbers = zip(
            *[(table - centres[0][own], own) for table, own in schema.tables().of_features], strict=True
        )
        total, left = np.empty((n, n)), np.empty((1, n))
        coded = [self._code_of(k) for k in range(levels.size)]

        def work(a: int, b: int) -> None:
            joint = np.zeros((levels[a], levels[b]))
            _bins.sums_by_pair(coded[a], coded[b], weights, 0, weights.size, joint)
            rows, columns = numbers[a], numbers[b]
            block = tables[a].T @ joint @ tables[b]
            total[np.ix_(rows, columns)] = block
            total[np.ix_(columns, rows)] = block.T
            if a == b:
                left[0, rows] = joint.diagonal() @ tables[a]

        tasks = [partial(work, a, b) for a in range(levels.size) for b in range(a, levels.size)]
        return Pass(tasks, lambda _: (total, left))

    def codes(self, rows: Any = slice(None)) -> NDArray[np.uint16]:
        """The codes of all features, each in a row; of some rows, if they are given."""
        return np.array([self._code_of(k)[rows] for k in range(self.schema.levels.size)])

    def _code_of(self, k: int) -> NDArray[np.uint16]:
        """The codes of a feature."""
        word, cells = self._word_of(k), self.schema.cells
        out = np.empty(word.size, np.uint16)
        _bins.extract(word, int(self.schema.words.radix[k]), int(cells[k + 1] - cells[k]), out)
        return out

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        (n_rows, n), words = self.shape, self.schema.words
        tables = self.schema.tables()
        narrow = [(codes, table, _run(own)) for codes, (table, own) in zip(self.words[0], tables.of_bytes, strict=True)]
        wide = [(k, *tables.of_features[k]) for k in np.flatnonzero(words.wide).tolist()]
        for rows in slices(n_rows, min(4096, max(CELLS // n, 16))):
            block = np.empty((rows.stop - rows.start, n))
            for codes, table, own in narrow:
                block[:, own] = table[codes[rows]]
            for k, table, own in wide:
                block[:, own] = table[self._word_of(k)[rows] // words.radix[k] % len(table)]
            yield rows, block

    def matrix(self) -> Any:
        n_rows, n = self.shape
        if n_rows * n <= 4 * CELLS:
            return np.concatenate([block for _, block in self.blocks()])
        import scipy.sparse

        return scipy.sparse.vstack([scipy.sparse.csr_array(block) for _, block in self.blocks()], format="csc")

    def rounding(self, lam: Vector, size: Vector) -> float:
        """Count the terms of a score: rankers of a feature, two terms each, features of a word, and words."""
        schema = self.schema
        of_words = [np.bincount(schema.words.word[schema.words.wide == kind]) for kind in (False, True)]
        terms = 4 * int(np.bincount(schema.feature).max()) + sum([x.size + int(x.max(initial=0)) for x in of_words])
        return min(terms / lam.size, 1.0) * rounding(lam, size)

    # Other tables

    def leaves(self) -> list[Leaf]:
        schema, words = self.schema, self.schema.words
        leaf = Leaf.coded(
            *self.words,
            *schema.starts,
            words.wide.view(np.uint8),
            words.word,
            *schema.word_cells,
            words.radix,
            schema.cells,
            schema.feature,
            schema.first,
            schema.at,
            schema.terms,
            schema.centred,
            self.counts,
            schema.scratch,
            self._block,
        )
        return [leaf]

    def places(self) -> Places:
        return in_one_leaf(self.schema.n_rankers)

    def select_rows(self, rows: Rows) -> Coded:
        narrow, wide = [np.ascontiguousarray(words[:, rows]) for words in self.words]
        return Coded(self.schema, (narrow, wide))

    def subtract(self, shift: Vector) -> Coded:
        return Coded(self.schema.subtract(shift), self.words) if shift.any() else self


def _run(columns: Index) -> Any:
    """Return consecutive columns as a slice, and other columns unchanged."""
    first, n = int(columns[0]), columns.size
    return slice(first, first + n) if np.array_equal(columns, np.arange(first, first + n)) else columns
