"""Packing of several features into one word, and sums over words."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.records import record
from pnorm._core import _bins
from pnorm._storage.base import Index, bounds_of, counts_of
from pnorm._storage.features import BYTE, Codes, Cuts, Feature, padded
from pnorm._threads import ROWS, SERIAL, Pool, over_blocks

_LARGEST_WORD = 2**12
"""Largest number of codes of a packed word: four arrays of sums of 4096 codes still fit a second-level cache."""


_KEPT = 2**20
"""Largest size of the tables of all rankers that is stored: 8 MB."""


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
