"""Scores with few columns: columns join one by one, each time the column that promises the largest fall.

The predicted fall of a column is that of the quadratic model of its own coefficients, with their penalty. A diagonal
model of each ranker selects the columns that are compared. After a column has joined, the objective is minimised over
all coefficients of the chosen columns. A column whose coefficients have all become zero is replaced by another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.text import first
from pnorm._solvers.columns import coded_table
from pnorm._solvers.forming import Point
from pnorm._solvers.hessian import FEW, TINY, Means, Moments
from pnorm._solvers.of_rows import totals
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Outcome, Progress, Solver
from pnorm._solvers.quadratic import least
from pnorm.rankers import Rankers

Index = NDArray[np.intp]

_COMPARED = 8
"""Number of columns whose models are formed each time."""

_ROOM = 2**26
"""Largest number of outputs in a copy of a column."""

_ROUGH = 1e-4
"""Tolerance of the minimisers on the way."""


@dataclass(frozen=True, eq=False)
class FewColumns:
    """The largest number of columns, and the column of each weak ranker."""

    most: int
    column: Index
    names: tuple[str, ...]

    def said(self, lam: Vector) -> str:
        """Return a sentence that names the columns for which a gap holds."""
        chosen = np.unique(self.column[np.flatnonzero(lam)]).tolist()
        return f"the gap is for the chosen columns only: {first([self.names[k] for k in chosen], 8, _checks.shown)}"


def few_of(max_columns: int | None, rankers: Rankers) -> FewColumns | None:
    """Return the columns of weak rankers, with the largest number that may have coefficients; None for any number."""
    if max_columns is None:
        return None
    return FewColumns(_checks.count(max_columns, "max_columns", 1), rankers.column, rankers.column_names)


def minimise_few(
    problem: Problem, solver: Solver, start: Vector, penalty: Penalty, progress: Progress, few: FewColumns
) -> tuple[Outcome, Penalty]:
    """Choose columns and minimise over their coefficients.

    Return the outcome, and the penalty with which the other coefficients stay zero.
    """
    column, most = few.column, few.most
    tol = progress.tol
    lam = penalty.nearest(start)
    chosen = set(column[np.flatnonzero(lam)].tolist())
    if len(chosen) > most:
        lam, chosen = np.zeros_like(lam), set()
    tried: dict[int, None] = {}
    progress.tol = max(tol, _ROUGH)
    for _ in few.names:  # none of them is tried twice
        if len(chosen) >= most:
            break
        best = _best(problem, problem.point(lam), penalty, column, chosen.union(tried))
        if best is None:
            break
        tried[best] = None
        chosen.add(best)
        of_chosen = penalty.only(np.isin(column, [*chosen]))
        outcome = solver.run(problem, lam, of_chosen, progress)
        if outcome.status in ("callback", "separable", "quasi-separable") or progress.exhausted:
            progress.tol = tol
            return outcome, of_chosen
        lam = progress.last.lam
        chosen = set(column[np.flatnonzero(lam)].tolist())
    progress.tol = tol
    # Coefficients that are zero at the rough tolerance may still lower the objective slightly.
    chosen.update([k for k in tried if k not in chosen][: most - len(chosen)])
    of_chosen = penalty.only(np.isin(column, [*chosen]))
    return solver.run(problem, lam, of_chosen, progress), of_chosen


def _best(problem: Problem, point: Point, penalty: Penalty, column: Index, out: set[int]) -> int | None:
    """Return the column, among those not in `out`, that promises the largest fall; None if none promises any."""
    sums = problem.reduce_weighted(point.weights, totals)
    slope = problem.fall(point) * problem.edges(sums[0] - sums[1])
    pull = np.where(np.isin(column, [*out]), 0.0, penalty.pull(slope))
    bend = _bend(problem, point) + penalty.l2
    gains = np.bincount(column, np.square(pull) / np.maximum(bend, TINY))
    leading = np.argsort(-gains, kind="stable")[:_COMPARED]
    leading = leading[gains[leading] > 0.0]
    if not leading.size:
        return None
    places = [np.flatnonzero(column == k) for k in leading]
    if not problem.objective.traits.factored:
        return int(leading[0])
    promised = []
    for which in places:
        hessian = _hessian(problem, point, sums, which)
        if hessian is None:
            return int(leading[0])
        promised.append(_promised(hessian, penalty, slope, which))
    return int(leading[int(np.argmax(promised))])


def _bend(problem: Problem, point: Point) -> Vector:
    """Return approximately the diagonal of the Hessian."""
    if not problem.objective.traits.factored:
        return np.asarray(problem.fall(point) * np.square(problem.span))
    means = Means(problem, point.weights)
    of_pos, of_neg = np.square(means.deviation)
    return np.asarray(means.p * of_pos + means.p**2 * of_neg + np.square(means.moved).sum(axis=0))


def _hessian(problem: Problem, point: Point, sums: list[Vector], which: Index) -> NDArray[np.float64] | None:
    """Return the Hessian of some coefficients, given the totals of both sides; None if that costs too much.

    For rankers of one code it follows from the sums of the weights by code, for rows in any place.
    """
    table = coded_table(problem.table)
    if which.size > FEW:
        return None
    if problem.objective.groups is None and table is not None and np.ptp(table.schema.feature[which]) == 0:
        p, hessian = problem.objective.traits.p, np.zeros((which.size, which.size))
        values = np.column_stack([table.values(j) for j in which.tolist()])
        for factor, of_side in zip((p, p * p), sums, strict=True):
            own = of_side[table.cells(int(which[0]))]
            centred = values - own @ values
            hessian += factor * (centred.T @ (own[:, None] * centred))
        return hessian
    if problem.in_memory and which.size * (problem.n_pos + problem.n_neg) <= _ROOM:
        return Moments(problem.columns(which), point.weights).hessian  # type: ignore[no-any-return]
    return None


def _promised(hessian: NDArray[np.float64], penalty: Penalty, slope: Vector, which: Index) -> float:
    """Return the fall of the quadratic model of some coefficients that are zero."""
    own, g = penalty.of_columns(which), slope[which]
    hessian[np.diag_indices_from(hessian)] += np.maximum(1e-10 * hessian.diagonal(), TINY)
    x = least(hessian, g, own, np.zeros(which.size))
    return float(g @ x - 0.5 * x @ hessian @ x) - own.value(x)
