"""Columns of codes for solvers: trees of rankers, sums of the weights by code, and steps of a whole column.

The objective along one column is a function of the sums of the weights by its code. A column is therefore brought to
its minimum without a pass over the rows. One pass then changes the weights and computes the sums of the next column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._core import _bins, _shapes
from pnorm._solvers.hessian import Means
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import Rows, reduction
from pnorm._solvers.wide import hessian_times
from pnorm._storage.base import Index, Table, added, bounds_of
from pnorm._storage.codebook import Schema
from pnorm._storage.coded import Coded
from pnorm._storage.combined import Negated
from pnorm._threads import Pass, over_blocks

_LINES = 4
"""Largest average number of rankers of a feature that are not edges of its tree: each is a step by itself."""

_MOST = 4
"""Largest number of Newton steps of a column at each visit."""

_FAR = 300.0
"""Change of the exponents in sweeps after which the weights are recomputed: products that underflow stay zero."""

_FEW = 2**16
"""Number of rows up to which sweeps are one call, without threads."""


@dataclass(frozen=True, eq=False)
class Trees:
    """The rankers of all features, as edges of trees and as lines; see `_core/_shapes.pyx`."""

    first: Index
    parent: Index
    cell: Index
    ranker: Index
    """The ranker of every node; -1 for a rigid one."""
    lines: Index
    line: Index
    """The ranker of every line."""
    values: NDArray[np.float64]
    """Values by code of the lines."""
    place: Index
    """The node of every ranker, or the number of its line after all nodes."""

    @classmethod
    def of(cls, schema: Schema) -> Trees:
        """The trees of a schema."""
        counts = schema.first[1:] - schema.first[:-1]
        begin = schema.first[:-1].clip(max=schema.terms.size - 1)
        at = np.where((counts == 1) & (schema.terms[begin] == 1.0), schema.at[begin], -1)
        order = np.argsort(schema.feature, kind="stable")
        members = np.split(order, np.searchsorted(schema.feature[order], np.arange(1, schema.levels.size)))
        found = [_tree(own, at[own], levels) for own, levels in zip(members, schema.levels.tolist(), strict=True)]
        parent, cell, ranker, rest = zip(*found, strict=True)
        line = np.concatenate(rest)
        values = np.zeros((max(line.size, 1), int(schema.levels.max()) if line.size else 1))
        for row, j in zip(values, line.tolist(), strict=False):
            own = schema.values(j)
            row[: own.size] = own
        sizes, n_lines = [bounds_of(np.array([x.size for x in some], np.intp)) for some in (parent, rest)]
        nodes = [np.concatenate(x) for x in (parent, cell, ranker)]
        place = np.empty(schema.n_rankers, np.intp)
        edges = np.flatnonzero(nodes[2] >= 0)
        place[nodes[2][edges]], place[line] = edges, nodes[2].size + np.arange(line.size)
        return cls(sizes, nodes[0], nodes[1], nodes[2], n_lines, line, values, place)

    def split(self, lam: Vector) -> tuple[Vector, Vector]:
        """Split numbers for all rankers into numbers for nodes and for lines."""
        of_nodes = np.where(self.ranker >= 0, lam[self.ranker], 0.0)
        of_lines = np.zeros(len(self.values))
        of_lines[: self.line.size] = lam[self.line]
        return of_nodes, of_lines

    def join(self, of_nodes: Vector, of_lines: Vector, n: int) -> Vector:
        """Join numbers for nodes and for lines to numbers for all rankers."""
        lam, edge = np.zeros(n), self.ranker >= 0
        lam[self.ranker[edge]] = of_nodes[edge]
        lam[self.line] = of_lines[: self.line.size]
        return lam


def _tree(own: Index, at: Index, levels: int) -> tuple[Index, Index, Index, Index]:
    """The parents, the cells and the rankers of the nodes of a feature, and the rankers that are not edges."""
    step, level = np.full(levels, -1), np.full(levels, -1)
    rest = []
    for j, place in zip(own.tolist(), at.tolist(), strict=True):
        of_codes, code = (step, place - levels) if place >= levels else (level, place)
        if place < 0 or of_codes[code] >= 0 or place == levels:
            rest.append(j)
        else:
            of_codes[code] = j
    codes = np.arange(levels)
    if (step >= 0).any():
        if level[0] >= 0 and step[1] < 0:  # the parent of the code of missing values is the lowest other code
            parent, cell = np.r_[0, codes[:-2], 0], np.r_[codes[1:], 0]
            ranker, level[0] = np.r_[-1, step[2:], level[0]], -1
        else:
            parent, cell, ranker = np.r_[0, codes[:-1]], codes, step
        rest += level[level >= 0].tolist()
    elif (level >= 0).any():
        parent, cell, ranker = np.zeros(levels + 1, np.intp), np.r_[-1, codes], np.r_[-1, level]
    else:
        parent, cell, ranker = np.zeros(1, np.intp), np.full(1, -1), np.full(1, -1)
    return parent.astype(np.intp), cell.astype(np.intp), ranker.astype(np.intp), np.array(rest, np.intp)


_TREES: WeakKeyDictionary[Schema, Trees] = WeakKeyDictionary()


def trees_of(schema: Schema) -> Trees:
    """The trees of a schema, built once for all problems of a path."""
    if schema not in _TREES:
        _TREES[schema] = Trees.of(schema)
    return _TREES[schema]


def coded_table(table: Table) -> Coded | None:
    """A table with either sign, if it consists of codes only; else None."""
    table = table.base if isinstance(table, Negated) else table
    return table if isinstance(table, Coded) else None


def coded_tables(problem: Problem) -> list[Coded] | None:
    """The tables of both sides in memory, if they consist of codes only; else None."""
    coded = [table for table in map(coded_table, problem.tables) if table is not None]
    return coded if len(coded) == len(problem.tables) else None


def has_codes(problem: Problem) -> bool:
    """Return whether the rows, in memory or in parts, consist of codes only."""
    if problem.in_memory:
        return coded_tables(problem) is not None
    return coded_table(problem.table) is not None and bool(min(problem.reduce(_is_coded)))


@reduction("min")
def _is_coded(rows: Rows) -> float:
    """Whether a part consists of codes only: sparse columns may be codes in one part and numbers in another."""
    return float(coded_table(rows.table) is not None)


class Columns:
    """The columns of a problem, with a penalty. Coefficients are those of the problem, for either sign of outputs.

    Sweeps minimise log F_p plus the penalty, minus the product of the columns' shapes with `linear`, if given: a number
    for each code of every column, which sum to zero over each column.
    """

    def __init__(self, problem: Problem, tables: list[Coded], penalty: Penalty, linear: Vector | None = None) -> None:
        self._n, self._p = problem.n_rankers, problem.objective.traits.p
        self._tables, self._schema = tables, tables[0].schema
        self._pool = problem.sides[0].parts[0].pool
        self._sign = -1.0 if problem.exchanged else 1.0
        self._trees = trees = trees_of(self._schema)
        low, high = (penalty.low, penalty.high) if self._sign > 0.0 else (-penalty.high, -penalty.low)
        split = [trees.split(x) for x in (penalty.l1, penalty.l2, low, high)]
        self._penalty, self._of_lines = [np.array(x) for x in zip(*split, strict=True)]
        self._state = np.zeros(trees.ranker.size, np.int8)
        self._linear = np.zeros(int(self._schema.cells[-1])) if linear is None else linear
        self._words = list(self._schema.words_in_order())
        most_nodes, most_codes = int((trees.first[1:] - trees.first[:-1]).max()), int(self._schema.levels.max())
        self._few = problem.n_pos + problem.n_neg <= _FEW
        largest = max(n for _, _, _, n in self._words)
        self._scratch = np.empty(9 * most_codes + 7 * most_nodes + 4 * largest + _bins.scratch_size(largest))
        features = [own for own, *_ in self._words]
        sizes = np.array([own.size for own in features], np.intp)
        codes = np.array([n for _, _, _, n in self._words], np.intp)
        self._members = bounds_of(sizes), codes, np.concatenate(features)
        """The features of the words, one word after the other: their starts, the codes of the word, the features."""
        first_cell = np.repeat(self._schema.cells[:-1], np.diff(trees.first))
        self._cells = np.where(trees.cell >= 0, first_cell + trees.cell, -1)

    # Steps of columns

    def sweeps(
        self, lam: Vector, weights: tuple[Vector, Vector], least: float, enough: float, slow: float, limit: int
    ) -> tuple[Vector, Vector]:
        """Visit every column repeatedly, from coefficients whose weights are given; the weights are changed.

        Steps that promise less than `least` are skipped. Sweeps end when one lowers the objective by at most `enough`,
        or by more than the share `slow` of the previous fall. Return the coefficients, and the fall of the objective in
        each sweep.
        """
        trees, falls = self._trees, np.zeros(limit)
        of_nodes, of_lines = trees.split(self._sign * lam)
        schema = self._schema
        forest: list[Any] = [
            *(schema.levels, schema.words.radix, trees.first, trees.parent, trees.cell, self._penalty, self._state),
            *(of_nodes, trees.lines, trees.values, self._of_lines, of_lines, self._linear, schema.cells),
            *(self._p, least, _MOST),
        ]
        if self._few:
            (pos, neg), (u, w) = self._tables, weights
            rows: list[Any] = [*pos.words, u, *neg.words, w, *self._members]
            n = _shapes.sweeps(*[*rows, *forest, enough, slow, _FAR, falls, self._scratch])
        else:
            n = self._sweep_many_rows(forest, weights, enough, slow, falls)
        return self._sign * trees.join(of_nodes, of_lines, self._n), falls[:n]

    def _sweep_many_rows(
        self, forest: list[Any], weights: tuple[Vector, Vector], enough: float, slow: float, falls: Vector
    ) -> int:
        """Take sweeps whose passes over the rows use threads; return their number."""
        moved, sums = 0.0, self._sums(0, weights)
        for sweep in range(falls.size):
            for k, (features, _, _, n) in enumerate(self._words):
                factors = np.empty(n), np.empty(n)
                of_word: list[Any] = [*sums, *factors, self._scratch]
                fall, promised, change = _shapes.visit(features, *forest, *of_word)
                falls[sweep] += fall
                moved += change
                following = (k + 1) % len(self._words)
                if promised > 0.0:
                    sums = self._carry(k, following, factors, weights)
                elif following != k:
                    sums = self._sums(following, weights)
            before = falls[sweep - 1] if sweep else np.inf
            if falls[sweep] <= enough or falls[sweep] > slow * before or moved > _FAR:
                return sweep + 1
        return int(falls.size)

    def _sums(self, k: int, weights: tuple[Vector, Vector]) -> Any:
        """Sums of the weights of both sides by the codes of a word."""
        _, wide, word, n = self._words[k]
        first = np.array([0, n])

        def of_side(table: Coded, of_rows: Vector) -> Pass:
            codes = table.words[wide][word : word + 1]

            def work(rows: slice) -> Vector:
                out = np.empty(n)
                scratch = np.empty(_bins.scratch_size(n))
                _bins.sums_by_code(codes, of_rows, rows.start, rows.stop, None, first, out, scratch)
                return out

            return over_blocks(of_rows.size, work, added)

        return self._pool.run(*[of_side(*side) for side in zip(self._tables, weights, strict=True)])

    def _carry(self, k: int, following: int, factors: tuple[Vector, Vector], weights: tuple[Vector, Vector]) -> Any:
        """Change the weights by the factors of a word, and return their sums by the codes of the following one."""
        (_, wide, word, _), (_, next_wide, next_word, n) = self._words[k], self._words[following]

        def of_side(table: Coded, of_codes: Vector, of_rows: Vector) -> Pass:
            before, codes = table.words[wide][word], table.words[next_wide][next_word]

            def work(rows: slice) -> Vector:
                out = np.empty(n)
                scratch = np.empty(_bins.scratch_size(n))
                _shapes.carry(before, of_codes, codes, of_rows, rows.start, rows.stop, out, scratch)
                return out

            return over_blocks(of_rows.size, work, added)

        return self._pool.run(*[of_side(*side) for side in zip(self._tables, factors, weights, strict=True)])

    # Newton steps of all columns

    def product(self, means: Means, weights: tuple[Vector, Vector]) -> Callable[[Vector], Vector]:
        """The function that multiplies the Hessian of log F_p at these weights with a vector."""
        if not self._few:
            return partial(hessian_times, means)
        schema = self._schema
        (pos, neg), (narrow, wide) = self._tables, schema.starts
        starts, sums = np.r_[narrow, wide[1:]], np.empty(schema.n_cells)
        rows = max(x.size for x in weights)
        scratch = np.empty(rows + schema.n_cells + schema.scratch)

        def times(x: Vector) -> Vector:
            tables = schema.tables_of_words(schema.scores(x))
            _shapes.curvature_sums(
                *pos.words, weights[0], *neg.words, weights[1], starts, tables, self._p, sums, scratch
            )
            return schema.of_rankers(schema.totals(sums), schema.terms)

        return times

    def preconditioner(self, weights: tuple[Vector, Vector]) -> Callable[[NDArray[np.bool_]], Preconditioner]:
        """The blocks of the columns in the Hessian with its penalty, given the coefficients that are free."""
        schema, trees, p = self._schema, self._trees, self._p
        tallies = self._pool.run(*[table.tally(w) for table, w in zip(self._tables, weights, strict=True)])
        u, w = [schema.totals(tally) for tally in tallies]
        by_code = p * u + p * p * w
        of_nodes = np.where(self._cells >= 0, by_code[self._cells], 0.0)
        bend = np.ones(len(trees.values))
        of_line = np.repeat(np.arange(schema.levels.size), np.diff(trees.lines))
        for i, k in enumerate(of_line.tolist()):
            own = by_code[schema.cells[k] : schema.cells[k + 1]]
            values = trees.values[i, : own.size] - trees.values[i, : own.size] @ own / own.sum()
            bend[i] = own @ np.square(values) + self._of_lines[1, i]
        return partial(Preconditioner, trees, self._penalty, of_nodes, 1.0 / bend[: trees.line.size])


class Preconditioner:
    """Solves for Newton steps of the columns by themselves, of the coefficients that are free."""

    def __init__(self, trees: Trees, penalty: Any, of_nodes: Vector, of_lines: Vector, free: NDArray[np.bool_]) -> None:
        """Curvature by node, and its inverse along the lines, the latter with the penalty."""
        self._trees = trees
        self._of_lines = np.where(free[trees.line], of_lines, 0.0)
        state = np.where(trees.ranker >= 0, free[trees.ranker], False).astype(np.int8)
        self._factors, self._scratch = np.empty((3, state.size)), np.empty(2 * state.size)
        _shapes.factor_trees(trees.first, trees.parent, penalty, of_nodes.copy(), state, self._factors)

    def __call__(self, rest: Vector) -> Vector:
        trees, jump = self._trees, np.empty(self._trees.ranker.size)
        _shapes.solve_trees(trees.first, trees.parent, self._factors, rest[trees.ranker], jump, self._scratch)
        return np.concatenate([jump, self._of_lines * rest[trees.line]])[trees.place]
