"""Outputs that take few values: a code per row and feature, and per weak ranker its value on each code.

A round then works on sums of weights by code. One pass over the codes gives the edges of all rankers. A step is
computed from as many numbers as its ranker has values. Weights are multiplied by a table entry for the code of the row.

Codes of features with few levels are packed into words, as digits of one number. A pass costs about 0.4 ns per row and
byte, and 0.65 ns per row and word of two bytes (4096 codes), for any number of features in the word. Two features of
64 levels cost 0.65 ns in one word and 0.8 ns in two. With 8 two-valued features in a byte, each costs 0.05 ns.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import Vector
from pnorm._checks.records import record
from pnorm._core import _bins
from pnorm._core._descent import Leaf
from pnorm._storage.base import (
    Index,
    Places,
    Rows,
    added,
    bounds_of,
    counts_of,
    in_one_leaf,
    rounding,
    scatter_of_blocks,
    sums_of_blocks,
)
from pnorm._threads import ROWS, SERIAL, Pass, Pool, block_size, over_blocks, slices

BYTE = 2**8
"""Number of codes of a byte."""

_LARGEST_WORD = 2**12
"""Largest number of codes of a packed word: four arrays of sums of 4096 codes still fit a second-level cache."""

LARGEST_FEATURE = 2**16
"""Largest number of codes of a feature."""

CHOSEN = 0.7
"""Share of rows up to which it is faster to add up chosen rows: each costs 1.3 times as much as in a sum of all."""

_KEPT = 2**20
"""Largest size of the tables of all rankers that is stored: 8 MB."""

CELLS = 2**22
"""Size of a block of rows that is made dense: 32 MB."""


@record(frozen=True, eq=False)
class Cuts:
    """Codes that count the cuts below a value of a column; for NaN the count is zero."""

    A: Any
    """Dense, or CSC with the rows in order."""
    column: int
    cuts: Vector
    seen: Seen | None = None
    """Values of the column that do not read, if they need a warning."""

    @property
    def n_stored(self) -> int:
        """Number of rows that a sparse column stores."""
        return int(self.A.indptr[self.column + 1] - self.A.indptr[self.column])

    def stored(self) -> tuple[Index, Index]:
        """The rows that a sparse column stores, in order, and their codes."""
        own = slice(self.A.indptr[self.column], self.A.indptr[self.column + 1])
        x = self.A.data[own]
        return self.A.indices[own], np.where(np.isnan(x), 0, np.searchsorted(self.cuts, x))

    @property
    def of_zero(self) -> int:
        """The code of zero, which all rows have that a sparse column does not store."""
        return int(np.searchsorted(self.cuts, 0.0))


@record(frozen=True, eq=False)
class Codes:
    """Given codes."""

    codes: NDArray[np.uint16]
    seen: Seen | None = None
    """Unknown levels of the column, if they need a warning."""


@record(frozen=True, eq=False)
class Feature:
    """Codes 0 .. levels - 1 of the rows, and rankers that are functions of the code.

    Ranker j is the sum of the terms first[j] .. first[j + 1]. Term t adds terms[t] at the code at[t] if at[t] < levels,
    and at code c and all codes above if at[t] = levels + c.
    """

    source: Cuts | Codes
    levels: int
    first: Index
    at: Index
    terms: Vector

    @classmethod
    def of_steps(cls, source: Cuts | Codes, levels: int, starts: Index) -> Feature:
        """Ranker j is 1 from code starts[j] on."""
        return cls(source, levels, np.arange(starts.size + 1), levels + starts, np.ones(starts.size))

    @classmethod
    def of_values(cls, source: Cuts | Codes, values: Vector) -> Feature:
        """One ranker, with a value for each code."""
        return cls(source, values.size, np.array([0, values.size]), np.arange(values.size), values)

    def __len__(self) -> int:
        return self.first.size - 1

    def and_indicators(self, codes: Index) -> Feature:
        """The rankers, followed by an indicator of each of some codes."""
        return replace(
            self,
            first=np.r_[self.first, self.first[-1] + 1 + np.arange(codes.size)],
            at=np.r_[self.at, codes],
            terms=np.r_[self.terms, np.ones(codes.size)],
        )

    def and_values(self, values: Vector) -> Feature:
        """The rankers, followed by one with a value for each code."""
        return replace(
            self,
            first=np.r_[self.first, self.first[-1] + values.size],
            at=np.r_[self.at, np.arange(values.size)],
            terms=np.r_[self.terms, values],
        )

    def with_levels(self, levels: int) -> Feature:
        """The feature with additional codes, which no row has."""
        if levels == self.levels:
            return self
        return replace(self, levels=levels, at=np.where(self.at < self.levels, self.at, self.at - self.levels + levels))

    def and_complements(self) -> Feature:
        """The rankers, followed by 1 - h for each of them."""
        at, terms, counts = [self.at], [self.terms], [counts_of(self.first)]
        for j in range(len(self)):
            own = slice(self.first[j], self.first[j + 1])
            if self.first[j + 1] - self.first[j] == self.levels and self.at[own].max() < self.levels:
                at.append(self.at[own])
                terms.append(1.0 - self.terms[own])
            else:
                at.append(np.r_[self.at[own], self.levels])
                terms.append(np.r_[-self.terms[own], 1.0])
            counts.append(np.array([at[-1].size]))
        return replace(
            self, first=bounds_of(np.concatenate(counts)), at=np.concatenate(at), terms=np.concatenate(terms)
        )


@record(frozen=True, eq=False)
class _Words:
    """The place of every feature's code: its word, and its digit in there."""

    wide: NDArray[np.bool_]
    """Whether the feature's word has two bytes."""
    word: Index
    """Its number among those of its kind."""
    radix: Index
    size: tuple[Index, Index]
    """Codes of the words of one byte, and of those of two."""


class _Room:
    """Work memory of a thread; it is allocated once, since allocation of this size is slow."""

    def __init__(self, scratch: int, n_rows: int) -> None:
        self.scratch = np.empty(scratch)
        self.rows = np.empty(n_rows, np.int32)
        self.weights = np.empty(n_rows)


def _packed(levels: Index, n_rows: int) -> _Words:
    """Put features into words, those with many levels first, each into the first word with room."""
    # Sums of all codes of a word are cleared and merged once per block of rows. A word with more codes than a few per
    # cent of the rows costs more than it saves.
    largest = min(max(n_rows // 32, 16), _LARGEST_WORD)
    size: tuple[list[int], list[int]] = ([], [])
    wide, word, radix = np.zeros(levels.size, bool), np.zeros(levels.size, np.intp), np.ones(levels.size, np.intp)
    for k in np.argsort(-levels, kind="stable").tolist():
        n = int(levels[k])
        kind = int(n > BYTE or BYTE < n * n <= largest)
        room = largest if kind else min(BYTE, largest)
        found = next((i for i in range(max(len(size[kind]) - 8, 0), len(size[kind])) if size[kind][i] * n <= room), -1)
        if found < 0:
            size[kind].append(1)
            found = len(size[kind]) - 1
        wide[k], word[k], radix[k] = kind, found, size[kind][found]
        size[kind][found] *= n
    # A word of two bytes that found no partner fits one byte.
    alone = [i for i, codes in enumerate(size[1]) if codes <= BYTE]
    for i in reversed(alone):
        mine, later = wide & (word == i), wide & (word > i)
        wide[mine], word[mine] = False, len(size[0])
        word[later] -= 1
        size[0].append(size[1].pop(i))
    return _Words(wide, word, radix, (np.array(size[0], np.intp), np.array(size[1], np.intp)))


@dataclass(frozen=True, eq=False)
class _Tables:
    """The values of rankers by code, (codes, r), and the numbers of these rankers."""

    of_features: list[tuple[_checks.Array, Index]]
    of_bytes: list[tuple[_checks.Array, Index]]
    """By the codes of words of one byte."""


class Codebook:
    """The meaning of codes: the outputs of rankers as functions of the codes of their feature."""

    def __init__(self, features: Sequence[Feature], where: Sequence[Index]) -> None:
        """Ranker i of feature k is number where[k][i] of all, 0 .. n - 1."""
        self.levels = np.array([feature.levels for feature in features], np.intp)
        self.cells = bounds_of(self.levels)
        """The first cell of every feature: cells are the codes of all features, one after the other."""
        order = np.argsort(np.concatenate(where), kind="stable")
        self.feature = np.repeat(np.arange(len(features)), [len(feature) for feature in features])[order]
        counts = np.concatenate([counts_of(feature.first) for feature in features])
        begin = bounds_of(counts)
        self.first = bounds_of(counts[order])
        take = np.repeat(begin[:-1][order] - self.first[:-1], counts[order]) + np.arange(self.first[-1])
        self.at = np.concatenate([feature.at for feature in features])[take]
        self.terms = np.concatenate([feature.terms for feature in features])[take]
        self.n_rankers = int(self.first.size) - 1
        self.centred = self._centred_terms()

    def subtract(self, shift: Vector) -> Self:
        """The rankers minus a constant each; only a table of values can be far from zero."""
        moved = copy.copy(self)
        moved.terms = self.terms - np.repeat(shift, counts_of(self.first))
        moved.centred = moved._centred_terms()
        return moved

    def absolute(self) -> Self:
        """A copy of this codebook with the absolute values of all terms, for bounds on rounding."""
        sized = copy.copy(self)
        sized.terms = np.abs(self.terms)
        return sized

    def of_rankers(self, totals: Vector, terms: Vector) -> Vector:
        """Sums of all rankers, whose terms are given."""
        out = np.empty(self.n_rankers)
        _bins.edges(totals, self.cells, self.feature, self.first, self.at, terms, np.empty_like(totals), out)
        return out

    def _centred_terms(self) -> Vector:
        """Terms, with tables of values centred: edges are differences of means, in which an offset cancels."""
        counts, levels = counts_of(self.first), self.levels[self.feature]
        of_step = self.at >= np.repeat(levels, counts)
        is_table = counts == levels
        is_table[np.repeat(np.arange(is_table.size), counts)[of_step]] = False
        first = self.first[:-1].clip(max=self.terms.size - 1)
        low, high = [extreme.reduceat(self.terms, first) for extreme in (np.minimum, np.maximum)]
        return np.asarray(self.terms - np.repeat(np.where(is_table, 0.5 * low + 0.5 * high, 0.0), counts))

    def extremes(self, counts: Vector) -> tuple[Vector, Vector]:
        """Smallest and largest output of every ranker, given the rows by the codes of all features."""
        low, high = np.empty(self.n_rankers), np.empty(self.n_rankers)
        most = int(self.levels.max())
        scratch = np.empty(most), np.empty(most + 1, np.intp)
        _bins.extremes(self.feature, self.first, self.at, self.terms, self.cells, counts, *scratch, low, high)
        return low, high

    def cells_of(self, j: int) -> slice:
        """The cells of ranker j's feature."""
        k = self.feature[j]
        return slice(self.cells[k], self.cells[k + 1])

    def values(self, j: int) -> Vector:
        """Outputs of ranker j by code."""
        terms, cells = slice(self.first[j], self.first[j + 1]), self.cells_of(j)
        out = np.empty(cells.stop - cells.start)
        _bins.values_by_code(self.at[terms], self.terms[terms], out)
        return out

    def of_features(self) -> list[tuple[_checks.Array, Index]]:
        """Per feature, the values of its rankers by code (levels, r), and their numbers."""
        order = np.argsort(self.feature, kind="stable")
        members = np.split(order, np.searchsorted(self.feature[order], np.arange(1, self.cells.size - 1)))
        return [(np.column_stack([self.values(int(j)) for j in own]), own) for own in members]

    def scores(self, lam: Vector) -> Vector:
        """Sums of lam times the outputs of each feature's rankers, by the codes of all features."""
        out = np.empty(int(self.cells[-1]))
        lam = np.ascontiguousarray(lam, np.float64)
        _bins.scores_by_code(lam, self.feature, self.first, self.at, self.terms, self.cells, np.empty_like(out), out)
        return out


class Schema(Codebook):
    """A codebook whose features are packed into words."""

    def __init__(self, features: Sequence[Feature], where: Sequence[Index], n_rows: int) -> None:
        """Pack features into words, whose number depends on `n_rows`."""
        super().__init__(features, where)
        self.words = words = _packed(self.levels, n_rows)
        narrow, wide = words.size
        codes = np.concatenate([narrow, wide])
        starts = bounds_of(codes)
        self.starts = starts[: narrow.size + 1], starts[narrow.size :]
        """The first cell of every word, of those of one byte and of those of two."""
        self.n_cells = int(starts[-1])
        """Cells of all words."""
        number = words.word + np.where(words.wide, narrow.size, 0)
        self.word_cells = starts[number], codes[number]
        """The first cell of every feature's word, and how many there are."""
        largest = int(codes.max())
        self.scratch = _bins.scratch_size(largest)
        self._tables: _Tables | None = None
        self.min_rows = max(ROWS, 32 * largest)
        """Rows of a block, at least."""

    def subtract(self, shift: Vector) -> Self:
        moved = super().subtract(shift)
        moved._tables = None
        return moved

    def totals(self, tally: Vector) -> Vector:
        """Sums by the codes of all features from those by the codes of all words."""
        out = np.empty(int(self.cells[-1]))
        _bins.marginals(tally, *self.word_cells, self.words.radix, self.cells, out)
        return out

    def tables(self) -> _Tables:
        """The values of all rankers by code."""
        if self._tables is not None:
            return self._tables
        of_features = self.of_features()
        of_bytes: list[list[int]] = [[] for _ in self.words.size[0]]
        for k in np.flatnonzero(~self.words.wide).tolist():
            of_bytes[self.words.word[k]].append(k)
        tables = _Tables(
            of_features,
            [
                (
                    np.concatenate([self.by_code_of_word(k, of_features[k][0]) for k in own], axis=1),
                    np.concatenate([of_features[k][1] for k in own]),
                )
                for own in of_bytes
            ],
        )
        if sum([table.size for table, _ in tables.of_features + tables.of_bytes]) <= _KEPT:
            self._tables = tables
        return tables

    def by_code_of_word(self, k: int, values: NDArray[Any]) -> NDArray[Any]:
        """Values by the code of a feature as values by the code of its word."""
        code = np.arange(self.word_cells[1][k]) // self.words.radix[k]
        return np.asarray(values[code % len(values)])

    def of_feature(self, k: int, tally: Vector) -> Vector:
        """Sums by the code of a feature."""
        own, cells = slice(k, k + 1), self.cells[k : k + 2] - self.cells[k]
        (first, size), out = self.word_cells, np.empty(int(cells[1]))
        _bins.marginals(tally, first[own], size[own], self.words.radix[own], cells, out)
        return out

    def tables_of_words(self, values: Vector) -> Vector:
        """Sums of values by the codes of all features, by the codes of all words."""
        out = np.empty(self.n_cells)
        _bins.tables_of_words(values, self.cells, *self.word_cells, self.words.radix, out)
        return out

    def words_in_order(self) -> Iterator[tuple[Index, int, int, int]]:
        """The features of every word, whether it is wide, its number among those of its kind, and its codes."""
        for wide, sizes in enumerate(self.words.size):
            for word, n in enumerate(sizes.tolist()):
                yield np.flatnonzero((self.words.word == word) & (self.words.wide == wide)), wide, word, n

    def words_of(self, features: Any) -> tuple[Index, Index]:
        """The numbers of the words of some features, of those of one byte and of those of two."""
        wide, word = self.words.wide[features], self.words.word[features]
        used = [np.zeros(sizes.size, bool) for sizes in self.words.size]
        used[0][word[~wide]] = True
        used[1][word[wide]] = True
        return np.flatnonzero(used[0]), np.flatnonzero(used[1])


def words_of_rows(
    schema: Schema, sources: Sequence[Cuts | Codes], n_rows: int, pool: Pool = SERIAL
) -> tuple[_checks.Array, _checks.Array]:
    """Return the codes of rows as words of one byte (m, N), and of two."""
    words = schema.words
    codes = np.zeros((words.size[0].size, n_rows), np.uint8), np.zeros((words.size[1].size, n_rows), np.uint16)
    matrices: dict[tuple[int, bool], list[int]] = {}
    for k, source in enumerate(sources):
        word = codes[int(words.wide[k])][words.word[k]]
        if isinstance(source, Codes):
            word += (source.codes * words.radix[k]).astype(word.dtype)
        elif _checks.is_sparse(source.A):
            rows, own = source.stored()
            word += word.dtype.type(source.of_zero * words.radix[k])
            word[rows] += ((own - source.of_zero) * words.radix[k]).astype(word.dtype)  # modulo the word's size
        else:
            matrices.setdefault((id(source.A), bool(words.wide[k])), []).append(k)
    for (_, wide), members in matrices.items():
        of_columns = [source for source in [sources[k] for k in members] if isinstance(source, Cuts)]
        arguments = (
            np.array([source.column for source in of_columns], np.intp),
            *padded([source.cuts for source in of_columns]),
            words.word[members],
            words.radix[members],
            codes[int(wide)],
        )
        A = of_columns[0].A

        def work(rows: slice, A: _checks.Array = A, arguments: Any = arguments) -> None:
            _bins.encode(A, rows.start, rows.stop, *arguments)

        pool.run(over_blocks(n_rows, work))
    return codes


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


def padded(cuts: Sequence[Vector]) -> tuple[Index, Vector]:
    """Pad the sorted cuts of each feature with infinities, to a number that is one less than a power of two.

    Return the bounds of the features, and the numbers.
    """
    bounds = bounds_of(np.array([(2 << max(len(own).bit_length() - 1, 0)) - 1 for own in cuts]))
    out = np.full(bounds[-1], np.inf)
    for own, start in zip(cuts, bounds.tolist(), strict=False):
        out[start : start + len(own)] = own
    return bounds, out
