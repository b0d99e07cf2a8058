"""Tables made of other tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core._descent import Leaf
from pnorm._storage.base import (
    BLOCK,
    Index,
    Places,
    Rows,
    Table,
    Uncoded,
    added,
    by_group,
    in_one_leaf,
    mass_by_group,
    scatter_of_blocks,
)
from pnorm._threads import slices, then, together

_BLOCK = 256
"""Rows of a block of stacked rankers."""


class Closed(Uncoded):
    """The rankers of a table without codes, followed by 1 - h for each of them, which take no memory."""

    def __init__(self, half: Table, level: Vector | None = None) -> None:
        """Use level - h instead of 1 - h."""
        self.half = half
        n_rows, n = half.shape
        self.shape = (n_rows, 2 * n)
        self._level = np.ones(n) if level is None else level
        self.low = np.r_[half.low, self._level - half.high]
        self.high = np.r_[half.high, self._level - half.low]

    @property
    def tally_size(self) -> int:
        return self.half.tally_size

    def tally(self, weights: Vector) -> Any:
        return self.half.tally(weights)

    def edges(self, totals: Vector) -> Vector:
        edges = self.half.edges(totals)
        return np.concatenate([edges, -edges])

    def sums(self, weights: Any) -> Any:
        total = np.asarray(weights.sum(axis=0))

        def both(sums: Any) -> Any:
            return np.concatenate([sums, np.multiply.outer(total, self._level).reshape(sums.shape) - sums], axis=-1)

        return then(self.half.sums(weights), both)

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        n = self._level.size
        mass = mass_by_group(weights, codes, len(centres))
        rounded = mass[:, None] * ((self._level - centres[:, :n]) - centres[:, n:])

        def both(of_half: tuple[Any, Any]) -> tuple[Any, Any]:
            scatter, left = of_half
            return np.block([[scatter, -scatter], [-scatter, scatter]]), np.concatenate([left, rounded - left], axis=1)

        return then(self.half.scatter(weights, centres[:, :n], codes), both)

    def combine(self, lam: Vector) -> Any:
        n = self._level.size
        level = float(self._level @ lam[n:])
        return then(self.half.combine(lam[:n] - lam[n:]), lambda f: f + level)

    def column(self, j: int, shift: float, out: Vector) -> Any:
        n = self._level.size
        if j < n:
            return self.half.column(j, shift, out)
        return then(
            self.half.column(j - n, float(self._level[j - n]) - shift, out), lambda _: np.negative(out, out=out)
        )

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        for rows, block in self.half.blocks():
            yield rows, np.concatenate([block, self._level - block], axis=1)

    def matrix(self) -> Any:
        return np.concatenate([block for _, block in self.blocks()])

    def leaves(self) -> list[Leaf] | None:
        return self.half.leaves()

    def places(self) -> Places:
        half = self.half.places()
        return Places(
            np.r_[half.leaf, half.leaf],
            np.r_[half.ranker, half.ranker],
            np.r_[half.sign, -half.sign],
            np.r_[half.level, half.sign * self._level + half.level],
        )

    def select_rows(self, rows: Rows) -> Closed:
        return Closed(self.half.select_rows(rows), self._level)

    def subtract(self, shift: Vector) -> Closed:
        n = self._level.size
        return Closed(self.half.subtract(shift[:n]), self._level - shift[:n] - shift[n:])


class Negated:
    """The outputs of a table with the opposite sign."""

    def __init__(self, table: Table) -> None:
        self.base = table
        self.shape, self.low, self.high = table.shape, -table.high, -table.low
        self.tally_size, self.coded, self.counts = table.tally_size, table.coded, table.counts
        self.stored = table.stored
        # Methods that do not depend on the sign.
        self.tally, self.retally, self.totals, self.rounding = table.tally, table.retally, table.totals, table.rounding
        self.cells, self.masses, self.multiply = table.cells, table.masses, table.multiply

    def edges(self, totals: Vector) -> Vector:
        return -self.base.edges(totals)

    def sums(self, weights: Any) -> Any:
        return then(self.base.sums(weights), np.negative)

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        return then(self.base.scatter(weights, -centres, codes), lambda found: (found[0], -found[1]))

    def combine(self, lam: Vector) -> Any:
        return self.base.combine(-lam)

    def column(self, j: int, shift: float, out: Vector) -> Any:
        return then(self.base.column(j, -shift, out), lambda _: np.negative(out, out=out))

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        for rows, block in self.base.blocks():
            yield rows, -block

    def matrix(self) -> Any:
        return -self.base.matrix()

    def values(self, j: int) -> Vector:
        return -self.base.values(j)

    def leaves(self) -> list[Leaf] | None:
        return self.base.leaves()

    def places(self) -> Places:
        found = self.base.places()
        return replace(found, sign=-found.sign)

    def select_rows(self, rows: Rows) -> Negated:
        return Negated(self.base.select_rows(rows))

    def subtract(self, shift: Vector) -> Negated:
        return Negated(self.base.subtract(-shift))


class Repeated(Uncoded):
    """Rows of a table, some of them repeated; the repeats take no memory."""

    def __init__(self, base: Table, index: Index) -> None:
        """Take row index[r] of a table as row r; the index ascends and contains every row."""
        self._base, self._index = base, index
        self.shape = (index.size, base.shape[1])
        self.low, self.high = base.low, base.high

    def _folded(self, weights: Any) -> Any:
        """Return the sums of weights over the repeats of every row."""
        n = self._base.shape[0]
        if weights.ndim == 1:
            return np.bincount(self._index, weights, n)
        return (by_group(np.ones(self._index.size), self._index, n).T @ weights).tocsr()

    @property
    def tally_size(self) -> int:
        return self._base.tally_size

    def tally(self, weights: Vector) -> Any:
        return self._base.tally(self._folded(weights))

    def totals(self, tally: Vector) -> Vector:
        return self._base.totals(tally)

    def edges(self, totals: Vector) -> Vector:
        return self._base.edges(totals)

    def sums(self, weights: Any) -> Any:
        return self._base.sums(self._folded(weights))

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        return scatter_of_blocks(self.blocks(), weights, centres, codes)

    def combine(self, lam: Vector) -> Any:
        return then(self._base.combine(lam), lambda f: f[self._index])

    def column(self, j: int, shift: float, out: Vector) -> Any:
        h = np.empty(self._base.shape[0])
        return then(self._base.column(j, shift, h), lambda _: np.take(h, self._index, out=out))

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        for rows, block in self._base.blocks():
            first, stop = np.searchsorted(self._index, [rows.start, rows.stop]).tolist()
            for own in slices(stop, BLOCK, first):
                yield own, block[self._index[own] - rows.start]

    def matrix(self) -> Any:
        return self._base.matrix()[self._index]

    def rounding(self, lam: Vector, size: Vector) -> float:
        return self._base.rounding(lam, size)

    def select_rows(self, rows: Rows) -> Table:
        return self._base.select_rows(self._index[rows])

    def subtract(self, shift: Vector) -> Repeated:
        return Repeated(self._base.subtract(shift), self._index)


class Stacked:
    """Rankers that lie in several tables of the same rows."""

    def __init__(self, parts: Sequence[Table], where: Sequence[Index]) -> None:
        """Ranker i of part k is number where[k][i] of all."""
        self.parts, self.where = parts, where
        n = sum([part.shape[1] for part in parts])
        self.shape = (parts[0].shape[0], n)
        self._part, self._place = np.empty(n, np.intp), np.empty(n, np.intp)
        for k, own in enumerate(where):
            self._part[own], self._place[own] = k, np.arange(own.size)
        self.low = self._gathered([part.low for part in parts])
        self.high = self._gathered([part.high for part in parts])
        self.coded: NDArray[np.bool_] = self._gathered([part.coded for part in parts]) > 0.0
        self.counts = np.concatenate([part.counts for part in parts])
        self._of_totals = np.cumsum([part.counts.size for part in parts])
        self._of_tally = np.cumsum([part.tally_size for part in parts])
        self.tally_size = int(self._of_tally[-1])

    @property
    def stored(self) -> int:
        return sum([part.stored for part in self.parts])

    def _gathered(self, values: Sequence[Any]) -> Any:
        """Join values of the rankers of the parts, along the last axis, to values of all rankers."""
        out = np.empty((*values[0].shape[:-1], self.shape[1]))
        for own, value in zip(self.where, values, strict=True):
            out[..., own] = value
        return out

    def _of(self, j: int) -> tuple[int, Table, int]:
        """The number of the part that contains ranker j, the part, and the number of the ranker there."""
        k = int(self._part[j])
        return k, self.parts[k], int(self._place[j])

    # Sums

    def _tallies(self, tally: Vector) -> list[Vector]:
        return np.split(tally, self._of_tally[:-1])

    def tally(self, weights: Vector) -> Any:
        return together([part.tally(weights) for part in self.parts], np.concatenate)

    def retally(self, j: int, factors: Vector, weights: Vector, tally: Vector) -> Any:
        k, own, i = self._of(j)
        tallies = [part.tally(weights) for part in self.parts]
        tallies[k] = own.retally(i, factors, weights, self._tallies(tally)[k])
        return together(tallies, np.concatenate)

    def totals(self, tally: Vector) -> Vector:
        return np.concatenate([part.totals(own) for part, own in zip(self.parts, self._tallies(tally), strict=True)])

    def edges(self, totals: Vector) -> Vector:
        split = np.split(totals, self._of_totals[:-1])
        return self._gathered([part.edges(own) for part, own in zip(self.parts, split, strict=True)])  # type: ignore[no-any-return]

    def sums(self, weights: Any) -> Any:
        return together([part.sums(weights) for part in self.parts], self._gathered)

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        return scatter_of_blocks(self.blocks(), weights, centres, codes)

    # Scores and outputs

    def combine(self, lam: Vector) -> Any:
        nothing = np.zeros(self.shape[0])
        used = [(part, own) for part, own in zip(self.parts, self.where, strict=True) if lam[own].any()]
        return together([part.combine(lam[own]) for part, own in used], lambda scores: added([nothing, *scores]))

    def column(self, j: int, shift: float, out: Vector) -> Any:
        _, part, i = self._of(j)
        return part.column(i, shift, out)

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        rows_of_parts = [_rowwise(part.blocks()) for part in self.parts]
        for rows in slices(self.shape[0], _BLOCK):
            yield rows, self._gathered([next(blocks_of_part) for blocks_of_part in rows_of_parts])

    def matrix(self) -> Any:
        matrices = [part.matrix() for part in self.parts]
        order = np.argsort(np.concatenate(self.where), kind="stable")
        if not any(_checks.is_sparse(matrix) for matrix in matrices):
            return np.concatenate(matrices, axis=1)[:, order]
        import scipy.sparse

        return scipy.sparse.hstack(matrices, format="csc")[:, order]

    def rounding(self, lam: Vector, size: Vector) -> float:
        parts = zip(self.parts, self.where, strict=True)
        return len(self.parts) * sum([part.rounding(lam[own], size[own]) for part, own in parts])

    # Rankers that take few values

    def cells(self, j: int) -> slice | None:
        k, part, i = self._of(j)
        own, first = part.cells(i), int(self._of_totals[k]) - part.counts.size
        return None if own is None else slice(first + own.start, first + own.stop)

    def values(self, j: int) -> Vector:
        _, part, i = self._of(j)
        return part.values(i)

    def masses(self, j: int, tally: Vector) -> Vector:
        k, part, i = self._of(j)
        return part.masses(i, self._tallies(tally)[k])

    def multiply(self, j: int, factors: Vector, weights: Vector) -> Any:
        _, part, i = self._of(j)
        return part.multiply(i, factors, weights)

    # Other tables

    def leaves(self) -> list[Leaf] | None:
        leaves: list[Leaf] = []
        for table in self.parts:
            if (own := table.leaves()) is None:
                return None
            leaves += own
        return leaves

    def places(self) -> Places:
        found, first = in_one_leaf(self.shape[1]), 0
        for table, where in zip(self.parts, self.where, strict=True):
            own = table.places()
            found.leaf[where], found.ranker[where] = first + own.leaf, own.ranker
            found.sign[where], found.level[where] = own.sign, own.level
            first += 1 + int(own.leaf.max())
        return found

    def select_rows(self, rows: Rows) -> Stacked:
        return Stacked([part.select_rows(rows) for part in self.parts], self.where)

    def subtract(self, shift: Vector) -> Stacked:
        moved = [part.subtract(shift[own]) for part, own in zip(self.parts, self.where, strict=True)]
        return Stacked(moved, self.where)


def _rowwise(blocks: Iterable[tuple[slice, _checks.Array]]) -> Iterator[_checks.Array]:
    """Split blocks of any height into blocks of 256 rows."""
    rest: list[_checks.Array] = []
    for _, block in blocks:
        rest.append(block)
        if sum(map(len, rest)) < _BLOCK:
            continue
        block = np.concatenate(rest) if len(rest) > 1 else block
        even = len(block) // _BLOCK * _BLOCK
        for start in range(0, even, _BLOCK):
            yield block[start : start + _BLOCK]
        rest = [block[even:]] if even < len(block) else []
    if rest:
        yield np.concatenate(rest)
