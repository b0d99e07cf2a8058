"""Training runs that leave out one fold each, measured on the rows of the fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._solvers.descent import descend
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.few_columns import few_of
from pnorm._solvers.minimize import check_supported, units_of
from pnorm._solvers.path import follow
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import NAMES
from pnorm._storage.base import Index, Table
from pnorm._threads import SERIAL, Pool, batches, slices
from pnorm._trace import Trace, followed
from pnorm.objectives._base import Objective
from pnorm.rankers import Rankers, Signs

_CELLS = 2**15
"""Number of scores of held-out rows that are computed and measured at once: a quarter of a second-level cache."""

Lists = Sequence[NDArray[np.float64]]
"""Scores of lists of the same rows, (S, I) and (S, K)."""

Scorer = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""A function of the scores of lists, (S, I) and (S, K), that returns their measures, (M, S)."""


def select_rows(tables: Sequence[Table], rows: Sequence[Index]) -> list[Table]:
    """Return tables of some of the rows."""
    return [table.select_rows(of_side) for table, of_side in zip(tables, rows, strict=True)]


class Held(Protocol):
    """The rows of a fold, wherever they lie."""

    def after_rounds(self, trace: Trace, at: Index) -> Iterator[Lists]:
        """Yield their scores after some rounds of a run, in ascending order, in groups of lists that fit the cache."""

    def at(self, lams: Sequence[Vector]) -> Iterator[Lists]:
        """Yield their scores by some coefficients."""


@dataclass(frozen=True, eq=False)
class HeldTables:
    """The rows of a fold in memory."""

    tables: Sequence[Table]
    shift: Vector
    """Subtracted from the outputs of one ranker, so that scores keep their digits."""
    offsets: Vector
    """The constants for all rankers at once: zero for rankers near zero."""

    def after_rounds(self, trace: Trace, at: Index) -> Iterator[Lists]:
        f = [np.zeros(table.shape[0]) for table in self.tables]
        for rounds in slices(max(int(at[-1]), 1), self._lists_at_once):
            ranker, step = trace.ranker[rounds], trace.step[rounds]
            both = zip(self.tables, f, strict=True)
            after = [scores_after(table, self.shift, before, ranker, step) for table, before in both]
            f = [of_side[-1] for of_side in after]
            here = at[(at >= rounds.start + (rounds.start > 0)) & (at <= rounds.stop)] - rounds.start
            if here.size:
                yield [of_side[here] for of_side in after]

    def at(self, lams: Sequence[Vector]) -> Iterator[Lists]:
        tables = [table.subtract(self.offsets) for table in self.tables]
        for some in slices(len(lams), self._lists_at_once):
            yield [scores_at(table, lams[some]) for table in tables]

    @property
    def _lists_at_once(self) -> int:
        """The number of lists to score before they are measured."""
        return max(_CELLS // max(table.shape[0] for table in self.tables), 1)


def scores_at(table: Table, lams: Sequence[Vector]) -> NDArray[np.float64]:
    """Return the scores of rows by some coefficients, (S, N)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([SERIAL.run(table.combine(lam))[0] for lam in lams])


def scores_after(table: Table, shift: Vector, f: Vector, ranker: Index, step: Vector) -> NDArray[np.float64]:
    """Return scores before the rounds and after each of them."""
    after = np.empty((ranker.size + 1, f.size))
    after[0] = f
    for j in np.unique(ranker).tolist():
        h = np.empty(f.size)
        SERIAL.run(table.column(j, float(shift[j]), h))
        after[1:][ranker == j] = h
    after[1:] *= step[:, None]
    np.cumsum(after, axis=0, out=after)
    return after


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold: the problem of all other rows, with the objective of the first p, and its own rows for measuring."""

    problem: Problem
    objective: Callable[[int], Objective]
    """A function that returns the objective of the rows of the problem for each p, by its place."""
    rankers: Rankers
    signs: Signs
    held: Held
    score: Scorer
    """A function that returns the measures of lists, a row each; the scores of the lists are rows of two matrices."""


class Method(Protocol):
    """The method that is run for each fold and p, and the number of its measurements."""

    @property
    def size(self) -> int:
        """The number of measurements of a run."""

    def check(self, problem: Problem) -> None:
        """Refuse a problem that the method does not support."""

    def run(self, fold: Fold, problem: Problem, jobs: Pool, row: int) -> Any:
        """Run on the problem of a fold and a p, for a row of the result."""

    def judged(self, fold: Fold, record: Any) -> NDArray[np.float64]:
        """Return the measures of the held-out rows, (M, S)."""

    def told(self, records: list[list[Any]]) -> dict[str, Any]:
        """Return the fields of the result that describe the runs."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """Training, measured after some rounds."""

    t_max: int
    at: Index
    selection: str
    tol: float

    @property
    def size(self) -> int:
        return self.at.size

    def check(self, problem: Problem) -> None:
        pass

    def run(self, fold: Fold, problem: Problem, jobs: Pool, row: int) -> Trace:
        """Train on the problem of a fold and a p, the same for every row of the result."""
        state = DescentState(problem, np.zeros(problem.n_rankers), fold.signs)
        return descend(state, jobs.steps(self.t_max), self.selection, self.tol, None)

    def judged(self, fold: Fold, record: Trace) -> NDArray[np.float64]:
        """Return the measures of the held-out rows after some rounds of a run."""
        stages = np.minimum(self.at, record.n_iter)  # later rounds keep the value of the last one
        new = np.r_[True, np.diff(stages) > 0]
        found = [fold.score(*f) for f in fold.held.after_rounds(record, stages[new])]
        return np.repeat(np.concatenate(found, axis=1), np.diff(np.flatnonzero(np.r_[new, True])), axis=1)

    def told(self, records: list[list[Trace]]) -> dict[str, Any]:
        return {"rounds": self.at, "traces": tuple(map(tuple, records))}


class _Minimiser(NamedTuple):
    """The data of a point of a path that are kept until it is measured."""

    lam: Vector
    gap: float
    status: str


@dataclass(frozen=True, eq=False)
class Penalties:
    """The minimisers along paths of penalties; each kind and p has its own path, (P, S)."""

    along: str
    l1: NDArray[np.float64]
    l2: NDArray[np.float64]
    tol: float
    counted: str
    max_columns: int | None

    @property
    def size(self) -> int:
        return int(self.l2.shape[1])

    def check(self, problem: Problem) -> None:
        check_supported(problem, None)

    def run(self, fold: Fold, problem: Problem, jobs: Pool, row: int) -> dict[int, _Minimiser]:
        """Minimise for all penalties of a row of the result, each from the previous minimiser."""
        of_p = np.full(self.size, problem.objective.traits.p)
        few, units = few_of(self.max_columns, fold.rankers), units_of(problem, fold.rankers, self.counted)
        of_l = self.l1[row], self.l2[row]
        path = follow(problem, [problem.objective], of_p, *of_l, fold.signs, self.tol, units=units, few=few)
        steps = zip(jobs.steps(self.size), path, strict=False)
        return {k: _Minimiser(followed(lam, trace)[0], trace.gap, trace.status) for _, (k, lam, trace) in steps}

    def judged(self, fold: Fold, record: dict[int, _Minimiser]) -> NDArray[np.float64]:
        """Return the measures of the held-out rows for every penalty."""
        judged = []
        for f in fold.held.at([record[k].lam for k in range(self.size)]):
            for of_side, name in zip(f, NAMES, strict=True):
                _checks.held_out(of_side, name)
            judged.append(fold.score(*f))
        return np.concatenate(judged, axis=1)

    def told(self, records: list[list[dict[int, _Minimiser]]]) -> dict[str, Any]:
        gap, status = (
            np.array([[[getattr(of_fold[k], name) for k in range(self.size)] for of_fold in of_p] for of_p in records])
            for name in ("gap", "status")
        )
        penalties = {"along": self.along, "l1": self.l1, "l2": self.l2}
        return {"rounds": None, "traces": (), **penalties, "gap": gap, "status": status, "tol": self.tol}


def judge_folds(
    method: Method,
    kinds: Iterable[Callable[[int], Fold]],
    shape: tuple[int, int, int, int],
    bar: Iterator[int],
    jobs: Pool,
    in_order: bool,
) -> tuple[NDArray[np.float64], list[list[Any]]]:
    """Run the method for each fold of each kind of weak rankers, and measure the held-out rows.

    There are `shape` measures, kinds, powers and folds. A kind prepares its folds. Several folds are run at once. They
    are measured with the runs or, if measures are functions of the user, `in_order` by the thread of the caller. Return
    the scores, (measures, kinds * powers, folds, measurements), and the record of each run, by row and fold.
    """
    n_measures, n_kinds, n_powers, n_folds = shape
    scores = np.empty((n_measures, n_kinds * n_powers, n_folds, method.size))
    records: list[list[Any]] = [[] for _ in scores[0]]

    def run(job: tuple[Fold, int]) -> tuple[Any, NDArray[np.float64] | None]:
        fold, row = job
        problem = fold.problem.with_objective(fold.objective(row % n_powers))
        record = method.run(fold, problem, jobs, row)
        return record, None if in_order else method.judged(fold, record)

    def work(prepared: Callable[[int], Fold], numbers: Sequence[int], rows: range) -> None:
        folds = [prepared(k) for k in numbers]
        todo = list(product(zip(numbers, folds, strict=True), rows))
        runs = jobs.each(run, [(fold, row) for (_, fold), row in todo])
        for ((k, fold), row), (record, judged) in zip(todo, runs, strict=True):
            scores[:, row, k] = method.judged(fold, record) if judged is None else judged
            records[row].append(record)

    for c, prepared in enumerate(kinds):
        for some in batches(islice(bar, n_folds), min(jobs.n_threads, n_folds)):
            work(prepared, [k % n_folds for k in some], range(c * n_powers, (c + 1) * n_powers))
    next(bar, None)  # the end of a progress bar
    return scores, records
