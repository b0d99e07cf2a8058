"""The folds of rows on workers: each part holds out its rows of a fold, and scores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._solvers.folds import Lists, scores_after, scores_at
from pnorm._solvers.problem import Side
from pnorm._solvers.reductions import Executor, Job, Rows, reduction
from pnorm._threads import slices
from pnorm._trace import Trace
from pnorm.rankers._base import Index

_CELLS = 2**24
"""Scores of held-out rows that come here at once, at most, if these are of several lists: 134 MB."""

Numbers = NDArray[np.int16]


class Dealt(NamedTuple):
    """The folds of the rows of a part, assigned in turn to its rows in random order.

    The first fold follows the last fold of the previous part, so that folds have equal numbers of rows.
    """

    seed: tuple[int, ...]
    first: int
    n_folds: int

    def numbers(self, n: int) -> Numbers:
        """Return the fold of each of n rows."""
        of_rows = np.empty(n, np.int16)
        of_rows[np.random.default_rng(self.seed).permutation(n)] = (self.first + np.arange(n)) % self.n_folds
        return of_rows


class Given(NamedTuple):
    """The folds of the rows of a part as they were given."""

    values: Numbers

    def numbers(self, n: int) -> Numbers:
        """Return the fold of each row."""
        return self.values


Deal = Dealt | Given


def dealt(sides: Sequence[Side], n_folds: int, seed: int) -> tuple[list[list[Deal]], tuple[Numbers, Numbers]]:
    """Return how the folds of each part are dealt, and the folds of all rows."""
    deals: list[list[Deal]] = []
    numbers = []
    for k, side in enumerate(sides):
        own = [Dealt((seed, k, i), span.start % n_folds, n_folds) for i, span in enumerate(side.spans)]
        both = zip(own, side.spans, strict=True)
        numbers.append(np.concatenate([deal.numbers(span.stop - span.start) for deal, span in both]))
        deals += [[*own]]
    return deals, (numbers[0], numbers[1])


def given(sides: Sequence[Side], numbers: Sequence[NDArray[Any]]) -> tuple[list[list[Deal]], tuple[Numbers, Numbers]]:
    """Return the folds of all rows, given, as those of each part."""
    pos, neg = [of_side.astype(np.int16) for of_side in numbers]
    return [[Given(of_side[span]) for span in side.spans] for side, of_side in zip(sides, (pos, neg), strict=True)], (
        pos,
        neg,
    )


def without(
    executor: Executor,
    sides: Sequence[Side],
    deals: Sequence[Sequence[Deal]],
    k: int,
    train: Sequence[Index],
    codes: Sequence[Index] | None,
) -> list[list[Any]]:
    """Hold out the rows of fold k in all parts; the remaining rows are in these groups."""
    parts = []
    for i, side in enumerate(sides):
        of_groups: list[Any] = [None] * len(deals[i])
        if codes is not None:
            # The places of the rows that are left among all tell how many each part has.
            ends = np.searchsorted(train[i], [*[span.start for span in side.spans], side.n])
            of_groups = [codes[i][a:b] for a, b in pairwise(ends.tolist())]
        own = list(zip(deals[i], of_groups, strict=True))
        parts.append(executor.changed(_without, side.parts, k, own=own))
    return parts


def _without(rows: Rows, own: tuple[Deal, Index | None], k: int) -> Rows:
    deal, codes = own
    left = rows.select(np.flatnonzero(deal.numbers(rows.n) != k), codes)
    return replace(left, seen=())  # which the rows have told


@dataclass(frozen=True, eq=False)
class HeldParts:
    """The rows of a fold, in parts. Their scores are sent to this process, 8 bytes per row and list."""

    executor: Executor
    sides: Sequence[Side]
    deals: Sequence[Sequence[Deal]]
    k: int
    n: int
    """Rows of the fold."""
    shift: Vector
    """Taken off the outputs of one ranker, so that scores keep their digits."""
    offsets: Vector
    """The same of all rankers at once: zero for those near zero."""

    def after_rounds(self, trace: Trace, at: Index) -> Iterator[Lists]:
        for some in slices(at.size, self._lists_at_once):
            last = int(at[some][-1])
            yield self._ask(_after, self.shift, trace.ranker[:last], trace.step[:last], at[some])

    def at(self, lams: Sequence[Vector]) -> Iterator[Lists]:
        for some in slices(len(lams), self._lists_at_once):
            yield self._ask(_at, self.offsets, np.array(lams[some]))

    def _ask(self, function: Any, *arguments: Any) -> Lists:
        jobs = [Job(side.parts, (self.k, *arguments), own) for side, own in zip(self.sides, self.deals, strict=True)]
        return [np.ascontiguousarray(of_side.T) for of_side in self.executor.reduce(function, jobs)]

    @property
    def _lists_at_once(self) -> int:
        return max(_CELLS // self.n, 1)


def _held(rows: Rows, deal: Deal, k: int) -> Index:
    return np.flatnonzero(deal.numbers(rows.n) == k)


@reduction("rows")
def _after(rows: Rows, deal: Deal, k: int, shift: Vector, ranker: Index, step: Vector, at: Index) -> Any:
    """Scores of the rows of a fold after some rounds, (N, S)."""
    held = _held(rows, deal, k)
    if not held.size:
        return np.empty((0, at.size))
    table, f, found, done = rows.table.select_rows(held), np.zeros(held.size), [], 0
    for stage in at.tolist():  # from one to the next, so that few rounds are held at a time
        f = scores_after(table, shift, f, ranker[done:stage], step[done:stage])[-1]
        found.append(f)
        done = stage
    return np.array(found).T


@reduction("rows")
def _at(rows: Rows, deal: Deal, k: int, offsets: Vector, lams: Sequence[Vector]) -> Any:
    """Scores of the rows of a fold by some coefficients, (N, S)."""
    held = _held(rows, deal, k)
    if not held.size:
        return np.empty((0, len(lams)))
    return scores_at(rows.table.select_rows(held).subtract(offsets), lams).T
