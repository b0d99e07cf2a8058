"""Outputs that take few values: a code per row and feature, and per weak ranker its value on each code.

Everything a round asks is then asked of sums of weights by code: one pass over the codes gives
the edges of all rankers, a step is found on as many numbers as its ranker has values, and weights
are multiplied by what a table says for the row's code.

Codes of features with few levels are packed into words, as digits of one number. A pass costs some
0.4 ns per row and byte and 0.65 ns per row and word of two bytes (4096 codes), whatever the number
of features in it: two features of 64 levels cost 0.65 ns together and 0.8 ns apart, and of 8 two-valued
ones in a byte each costs 0.05 ns.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import Vector
from pnorm._core import _bins
from pnorm._storage.base import SIDES, Dotted, Rows, Side, scatter_of, signed, sums_of
from pnorm._threads import ROWS, Pool, blocks

_BYTE = 2**8

_LARGEST_WORD = 2**12
"""Codes of a packed word, at most: sums of 4096 codes, four in turn, still fit a second cache."""

LARGEST_FEATURE = 2**16
"""Codes of a feature, at most."""

_CHOSEN = 0.7
"""Share of rows up to which it is faster to add up chosen ones: each costs 1.3 times as much as one of all."""

_CELLS = 2**22
"""Numbers in a block of rows that is made dense: 32 MB."""

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Codes that count the cuts below a value; NaN is above none."""

    pos: _checks.Array
    neg: _checks.Array
    column: int
    cuts: Vector


@dataclass(frozen=True, eq=False)
class Codes:
    """Codes as they are."""

    pos: NDArray[np.uint16]
    neg: NDArray[np.uint16]
    seen: tuple[Seen, ...] = ()
    """For either side, what values of the column were no levels; nothing where that needs no word."""


@dataclass(frozen=True, eq=False)
class Feature:
    """Codes 0 .. levels - 1 of the rows, and rankers that are functions of the code.

    Ranker j is a sum of terms first[j] .. first[j + 1]: at[t] < levels adds terms[t] at that code,
    at[t] = levels + c adds it at c and all codes above.
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
        """The rankers, and then for each of some codes one that is 1 there and else 0."""
        return replace(
            self,
            first=np.r_[self.first, self.first[-1] + 1 + np.arange(codes.size)],
            at=np.r_[self.at, codes],
            terms=np.r_[self.terms, np.ones(codes.size)],
        )

    def with_room(self) -> Feature:
        """The same of indicators, with a code for levels that are not known whether rows here have some or not."""
        known = self.at < self.levels
        levels = int(self.at[known].max()) + 2
        return replace(self, levels=levels, at=np.where(known, self.at, self.at - self.levels + levels))

    def and_complements(self) -> Feature:
        """The rankers, and then 1 - h for each of them."""
        at, terms, counts = [self.at], [self.terms], [np.diff(self.first)]
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
            self,
            first=np.r_[0, np.cumsum(np.concatenate(counts))],
            at=np.concatenate(at),
            terms=np.concatenate(terms),
        )


@dataclass(frozen=True, eq=False)
class Levels:
    """One ranker's values by code, and how many rows of either side have it."""

    values: Vector
    pos: Vector
    neg: Vector


@dataclass(frozen=True, eq=False)
class _Words:
    """Where every feature's code lies: in which word, and as which digit."""

    wide: NDArray[np.bool_]
    """Whether the feature's word has two bytes."""
    word: Index
    """Its number among those of its kind."""
    radix: Index
    size: tuple[Index, Index]
    """Codes of the words of one byte, and of those of two."""


class _Room:
    """What a thread needs while it adds up; made once, as new memory of this size is slow to get."""

    def __init__(self, scratch: int, n_rows: int) -> None:
        self.scratch = np.empty(scratch)
        self.rows = np.empty(n_rows, np.int32)
        self.weights = np.empty(n_rows)


def _packed(levels: Index, n_rows: int) -> _Words:
    """Put features into words, those with many levels first, each into the first that has room."""
    # Sums of all codes of a word are cleared and merged once per block of rows: a word of more codes
    # than a few per cent of the rows costs more than it saves.
    largest = min(max(n_rows // 32, 16), _LARGEST_WORD)
    size: tuple[list[int], list[int]] = ([], [])
    wide, word, radix = np.zeros(levels.size, bool), np.zeros(levels.size, np.intp), np.ones(levels.size, np.intp)
    for k in np.argsort(-levels, kind="stable").tolist():
        n = int(levels[k])
        kind = int(n > _BYTE or _BYTE < n * n <= largest)
        room = largest if kind else min(_BYTE, largest)
        found = next((i for i in range(max(len(size[kind]) - 8, 0), len(size[kind])) if size[kind][i] * n <= room), -1)
        if found < 0:
            size[kind].append(1)
            found = len(size[kind]) - 1
        wide[k], word[k], radix[k] = kind, found, size[kind][found]
        size[kind][found] *= n
    return _Words(wide, word, radix, (np.array(size[0], np.intp), np.array(size[1], np.intp)))


class Binned(Dotted):
    """Codes of all features, packed into words of one or two bytes, and what the rankers make of them."""

    def __init__(self, features: Sequence[Feature], where: Sequence[Index], pool: Pool) -> None:
        """Ranker i of feature k is number where[k][i] of all, 0 .. n - 1."""
        source = features[0].source
        self.pool = pool
        self.shape = (len(source.pos), len(source.neg), sum([len(feature) for feature in features]))
        levels = np.array([feature.levels for feature in features], np.intp)
        self._words = _packed(levels, self.shape[0] + self.shape[1])
        self._cells = np.r_[0, np.cumsum(levels)]
        order = np.argsort(np.concatenate(where), kind="stable")
        self._feature = np.repeat(np.arange(len(features)), [len(feature) for feature in features])[order]
        counts = np.concatenate([np.diff(feature.first) for feature in features])
        begin = np.r_[0, np.cumsum(counts)]
        self._first = np.r_[0, np.cumsum(counts[order])]
        take = np.repeat(begin[:-1][order] - self._first[:-1], counts[order]) + np.arange(self._first[-1])
        self._at = np.concatenate([feature.at for feature in features])[take]
        self._terms = np.concatenate([feature.terms for feature in features])[take]
        self._codes = {side: self._encoded(features, side) for side in SIDES}
        self._set_up()

    def _encoded(self, features: Sequence[Feature], side: Side) -> tuple[_checks.Array, _checks.Array]:
        """The words of one side, those of one byte and those of two."""
        words, n_rows = self._words, self._n_rows(side)
        codes = np.zeros((words.size[0].size, n_rows), np.uint8), np.zeros((words.size[1].size, n_rows), np.uint16)
        matrices: dict[tuple[int, bool], list[int]] = {}
        for k, feature in enumerate(features):
            if isinstance(feature.source, Codes):
                of_side = getattr(feature.source, side)
                out = codes[int(words.wide[k])]
                out[words.word[k]] += (of_side * words.radix[k]).astype(out.dtype)
            else:
                matrices.setdefault((id(getattr(feature.source, side)), bool(words.wide[k])), []).append(k)
        for (_, wide), members in matrices.items():
            sources = [features[k].source for k in members]
            cuts = [padded(source.cuts) for source in sources]  # type: ignore[union-attr]
            arguments = (
                np.array([source.column for source in sources], np.intp),  # type: ignore[union-attr]
                np.r_[0, np.cumsum([len(x) for x in cuts])],
                np.concatenate(cuts),
                words.word[members],
                words.radix[members],
                codes[int(wide)],
            )
            A = getattr(sources[0], side)
            self.pool.map(
                lambda rows, A=A, arguments=arguments: _bins.encode(A, rows.start, rows.stop, *arguments),  # type: ignore[misc]
                blocks(n_rows),
            )
        return codes

    def _set_up(self) -> None:
        """What follows from the codes."""
        words = self._words
        narrow, wide = words.size
        starts = np.r_[0, np.cumsum(np.concatenate([narrow, wide]))]
        self._starts = starts[: narrow.size + 1], starts[narrow.size :]
        number = words.word + np.where(words.wide, narrow.size, 0)
        self._word_cells = starts[number], np.concatenate([narrow, wide])[number]
        largest = int(np.concatenate([narrow, wide]).max())
        self._scratch = _bins.scratch_size(largest)
        self._least_rows = max(ROWS, 32 * largest)
        self._largest_block = max(blocks(n, self._least_rows)[0].stop for n in self.shape[:2])
        self._rooms: deque[_Room] = deque()
        self._rows = {side: self._by_feature(self.tally(side, np.ones(self._n_rows(side)))) for side in SIDES}
        self.pos_low, self.pos_high = self._extremes("pos")
        self.neg_low, self.neg_high = self._extremes("neg")
        # Edges are differences of means, in which an offset of a table of values cancels: better before than after.
        step = self._at >= np.diff(self._cells)[np.repeat(self._feature, np.diff(self._first))]
        low, high = np.minimum(self.pos_low, self.neg_low), np.maximum(self.pos_high, self.neg_high)
        full = np.diff(self._first) == np.diff(self._cells)[self._feature]
        full[np.repeat(np.arange(full.size), np.diff(self._first))[step]] = False
        middle = np.where(full, 0.5 * low + 0.5 * high, 0.0)
        self._centred = self._terms - np.repeat(middle, np.diff(self._first))

    def _extremes(self, side: Side) -> tuple[Vector, Vector]:
        low, high = np.empty(self.shape[2]), np.empty(self.shape[2])
        most = int(np.diff(self._cells).max())
        scratch = np.empty(most), np.empty(most + 1, np.intp)
        _bins.extremes(
            self._feature, self._first, self._at, self._terms, self._cells, self._rows[side], *scratch, low, high
        )
        return low, high

    # Sums by code

    def tally(self, side: Side, weights: Vector, chosen: tuple[int, NDArray[np.uint8]] | None = None) -> Vector:
        """Sums of weights by the codes of every word; of rows whose code in one feature is wanted, if that is given."""
        n_cells = int(self._starts[1][-1])

        def work(rows: slice) -> Vector:
            try:
                room = self._rooms.pop()
            except IndexError:
                room = _Room(self._scratch, self._largest_block)
            sums, own, found = np.zeros(n_cells), weights, None
            if chosen is not None:
                codes = self._word_of(chosen[0], side)
                n = _bins.choose(codes, chosen[1], weights, rows.start, rows.stop, room.rows, room.weights)
                own, found = room.weights, room.rows[:n]
            if found is None or found.size:
                for codes, starts in zip(self._codes[side], self._starts, strict=True):
                    if codes.size:
                        _bins.sums_by_code(codes, own, rows.start, rows.stop, found, starts, sums, room.scratch)
            self._rooms.append(room)
            return sums

        return self._added(work, n_cells, side)

    def _added(self, work: Callable[[slice], Vector], n_cells: int, side: Side) -> Vector:
        """The sum over blocks of rows of what `work` says of each."""
        total = np.zeros(n_cells)
        for sums in self.pool.map(work, blocks(self._n_rows(side), self._least_rows)):
            total += sums
        return total

    def retally(self, j: int, side: Side, table: Vector, weights: Vector, tally: Vector) -> Vector:
        """The tally of weights that `multiply` has changed by this table, from the one before.

        Where the table has two numbers, the weights are the smaller one times what they were, and
        something more on the rows of the larger one, which are the fewer as a rule: those that the
        ranker gets wrong. No digits are lost, as all terms are positive.
        """
        low, high = float(table.min()), float(table.max())
        rows = self._rows[side][self.cells_of(j)]
        wanted = table == high
        if ((table != low) & ~wanted & (rows > 0.0)).any() or rows[wanted].sum() > _CHOSEN * weights.size:
            return self.tally(side, weights)
        k = int(self._feature[j])
        more = self.tally(side, weights, (k, self._by_code_of_word(k, wanted.astype(np.uint8))))
        return np.asarray(low * tally + (1.0 - low / high) * more)

    def by_feature(self, side: Side, weights: Vector) -> Vector:
        """Sums of weights by the codes of all features; their order does not depend on the rows."""
        return self._by_feature(self.tally(side, weights))

    def edges_by_feature(self, difference: Vector) -> Vector:
        """The edges from sums of u by the codes of all features, less those of w."""
        return self._of_codes(difference, self._centred)

    def edges_of(self, pos: Vector, neg: Vector) -> Vector:
        """The edges from a tally of u on the positives and one of w on the negatives."""
        return self._of_rankers(pos - neg, self._centred)

    def _n_rows(self, side: Side) -> int:
        return self.shape[0 if side == "pos" else 1]

    def _by_feature(self, by_word: Vector) -> Vector:
        out = np.empty(int(self._cells[-1]))
        _bins.marginals(by_word, *self._word_cells, self._words.radix, self._cells, out)
        return out

    def edges(self, u: Vector, w: Vector) -> Vector:
        return self.edges_of(self.tally("pos", u), self.tally("neg", w))

    def _of_rankers(self, by_word: Vector, terms: Vector) -> Vector:
        return self._of_codes(self._by_feature(by_word), terms)

    def _of_codes(self, sums: Vector, terms: Vector) -> Vector:
        out = np.empty(self.shape[2])
        _bins.edges(sums, self._cells, self._feature, self._first, self._at, terms, np.empty_like(sums), out)
        return out

    def sums(self, side: Side, weights: Any) -> Any:
        if weights.ndim == 1:
            return self._of_rankers(self.tally(side, weights), self._terms)
        return sums_of(self.blocks(side), weights, self.shape[2])

    # One ranker

    @property
    def coded(self) -> NDArray[np.bool_]:
        return np.ones(self.shape[2], bool)

    def levels(self, j: int) -> Levels:
        cells = self.cells_of(j)
        return Levels(self._values(j), self._rows["pos"][cells], self._rows["neg"][cells])

    def cells_of(self, j: int) -> slice:
        """Where the codes of ranker j's feature lie among those of all."""
        k = self._feature[j]
        return slice(self._cells[k], self._cells[k + 1])

    def _values(self, j: int) -> Vector:
        terms, cells = slice(self._first[j], self._first[j + 1]), self.cells_of(j)
        out = np.empty(cells.stop - cells.start)
        _bins.values_by_code(self._at[terms], self._terms[terms], out)
        return out

    def _word_of(self, k: int, side: Side) -> _checks.Array:
        words = self._words
        return self._codes[side][int(words.wide[k])][words.word[k]]  # type: ignore[no-any-return]

    def _by_code_of_word(self, k: int, values: NDArray[Any]) -> NDArray[Any]:
        """Values by the code of a feature as values by the code of its word."""
        code = np.arange(self._word_cells[1][k]) // self._words.radix[k]
        return np.asarray(values[code % values.size])

    def masses(self, j: int, side: Side, weights: Vector) -> Vector:
        k = int(self._feature[j])
        codes, size = self._word_of(k, side)[None], int(self._word_cells[1][k])
        starts = np.array([0, size])

        def work(rows: slice) -> Vector:
            sums = np.empty(size)
            _bins.sums_by_code(codes, weights, rows.start, rows.stop, None, starts, sums, np.empty(self._scratch))
            return sums

        return self._of_feature(k, self._added(work, size, side))

    def masses_of(self, j: int, tally: Vector) -> Vector:
        """The same from a tally of the weights."""
        k = int(self._feature[j])
        start, size = (int(x[k]) for x in self._word_cells)
        return self._of_feature(k, tally[start : start + size])

    def _of_feature(self, k: int, of_word: Vector) -> Vector:
        """Sums by the code of a word as sums by the code of a feature."""
        shaped = of_word.reshape(-1, self._cells[k + 1] - self._cells[k], self._words.radix[k])
        return np.asarray(shaped.sum(axis=(0, 2)))

    def multiply(self, j: int, side: Side, table: Vector, weights: Vector) -> float:
        k = int(self._feature[j])
        codes, table = self._word_of(k, side), self._by_code_of_word(k, table)
        parts = self.pool.map(
            lambda rows: _bins.multiply_looked_up(codes, table, rows.start, rows.stop, weights), blocks(weights.size)
        )
        return float(sum(parts))

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        k = int(self._feature[j])
        table = self._by_code_of_word(k, self._values(j) - shift)
        for side, out in zip(SIDES, (pos_out, neg_out), strict=True):
            self._look_up(_bins.look_up, self._word_of(k, side), table, out)

    def _look_up(self, kernel: Any, codes: _checks.Array, table: Vector, out: Vector) -> None:
        self.pool.map(lambda rows: kernel(codes, table, rows.start, rows.stop, out), blocks(out.size))

    def combine(self, lam: Vector, sides: Sequence[Side] = SIDES) -> list[Vector]:
        counts = np.diff(self._first)
        weights = np.repeat(lam, counts) * self._terms
        feature = np.repeat(self._feature, counts)
        levels, size = np.diff(self._cells), int(self._cells[-1])
        step = self._at >= levels[feature]
        values = np.bincount(self._cells[feature] + self._at, np.where(step, 0.0, weights), 2 * size)[:size]
        start = self._cells[feature] + self._at - np.where(step, levels[feature], 0)
        steps = np.bincount(start, np.where(step, weights, 0.0), size)
        out = [np.zeros(self._n_rows(side)) for side in sides]
        tables: dict[tuple[bool, int], Vector] = {}
        for k in np.unique(feature[weights != 0.0]).tolist():
            cells = slice(self._cells[k], self._cells[k + 1])
            table = self._by_code_of_word(k, np.asarray(values[cells] + np.cumsum(steps[cells]), np.float64))
            place = bool(self._words.wide[k]), int(self._words.word[k])
            tables[place] = tables.get(place, 0.0) + table
        for (wide, word), table in tables.items():
            for side, scores in zip(sides, out, strict=True):
                self._look_up(_bins.add_looked_up, self._codes[side][int(wide)][word], table, scores)
        return out

    # All of them, asked rarely

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        levels, n = np.diff(self._cells), self.shape[2]
        pairs = levels.size * (levels.size + 1) / 2
        # Measured per row: 2 to 3 ns for a pair of features; made dense, 0.03 (1275 rankers) to 0.2 ns (50)
        # for a pair of rankers.
        if codes is not None or 15.0 * pairs > n * n or levels.max() ** 2 > 8 * weights.size:
            return scatter_of(self.blocks(side), weights, centres, codes)
        tables, numbers = zip(*((table - centres[0][own], own) for table, own in self._tables()), strict=True)
        total, left = np.empty((n, n)), np.empty((1, n))
        coded = [self._code_of(k, side) for k in range(levels.size)]

        def work(pair: tuple[int, int]) -> None:
            a, b = pair
            joint = np.zeros((levels[a], levels[b]))
            _bins.sums_by_pair(coded[a], coded[b], weights, 0, weights.size, joint)
            rows, columns = numbers[a], numbers[b]
            block = tables[a].T @ joint @ tables[b]
            total[np.ix_(rows, columns)] = block
            total[np.ix_(columns, rows)] = block.T
            if a == b:
                left[0, rows] = joint.diagonal() @ tables[a]

        self.pool.map(work, [(a, b) for a in range(levels.size) for b in range(a, levels.size)])
        return total, left

    def _code_of(self, k: int, side: Side) -> NDArray[np.uint16]:
        word = self._word_of(k, side)
        out = np.empty(word.size, np.uint16)
        _bins.extract(word, int(self._words.radix[k]), int(self._cells[k + 1] - self._cells[k]), out)
        return out

    def _tables(self) -> list[tuple[_checks.Array, Index]]:
        """Per feature, the values of its rankers by code (levels, r), and their numbers."""
        members = [np.flatnonzero(self._feature == k) for k in range(self._cells.size - 1)]
        return [(np.column_stack([self._values(int(j)) for j in own]), own) for own in members]

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        n = self.shape[2]
        tables = [(k, table, own) for k, (table, own) in enumerate(self._tables())]
        for rows in _some_rows(self._n_rows(side), n):
            block = np.empty((rows.stop - rows.start, n))
            for k, table, own in tables:
                codes = self._word_of(k, side)[rows] // self._words.radix[k] % len(table)
                block[:, own] = table[codes]
            yield rows, block

    def matrix(self) -> Any:
        n_pos, n_neg, n = self.shape
        if (n_pos + n_neg) * n <= 8 * _CELLS:
            return np.concatenate(list(signed(self)))
        import scipy.sparse

        return scipy.sparse.vstack([scipy.sparse.csr_array(block) for block in signed(self)], format="csc")

    def take(self, pos: Rows, neg: Rows) -> Binned:
        taken = copy.copy(self)
        taken._codes = {
            side: (np.ascontiguousarray(codes[0][:, rows]), np.ascontiguousarray(codes[1][:, rows]))
            for (side, codes), rows in zip(self._codes.items(), (pos, neg), strict=True)
        }
        n_pos, n_neg = (taken._codes[side][0].shape[1] for side in SIDES)
        taken.shape = (n_pos, n_neg, self.shape[2])
        taken._set_up()
        return taken

    def less(self, shift: Vector) -> Binned:
        """Only a table of values can be far from zero."""
        moved = copy.copy(self)
        moved._terms = self._terms - np.repeat(shift, np.diff(self._first))
        moved._set_up()
        return moved


def padded(cuts: Vector) -> Vector:
    """Sorted cuts, followed by as many infinities as make them one less than a power of two."""
    size = 2 << max(len(cuts).bit_length() - 1, 0)
    return np.concatenate([cuts, np.full(size - 1 - len(cuts), np.inf)])


def _some_rows(n_rows: int, n: int) -> list[slice]:
    """Rows that make a block of moderate size."""
    size = min(4096, max(_CELLS // n, 16))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
