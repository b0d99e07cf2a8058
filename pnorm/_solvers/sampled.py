"""Minimisation over whole columns of codes for rows that lie in parts, with few exchanges.

A sample of a few thousand rows of each side represents all rows. It is drawn from time to time, with probabilities that
grow with the weights of the rows. log F_p of the sample is a model of log F_p. Rows are weighted by the inverse of
their probabilities, and a linear term makes the gradient that of all rows. The model has an error of second order, as
large as the error of the second moments of the sample. The model with the penalty is minimised in this process, by
sweeps over whole columns and Newton steps. One exchange then computes log F_p of all rows at the minimiser of the
model, the gradient there, and log F_p at shares of the step (Jordan, Lee & Yang, Journal of the American Statistical
Association 114, 2019; there the sample consists of the rows of one machine).

Both functions are convex and have the same slope at the start of the step, so some share of the step lowers the
objective. Near the minimiser, the remaining distance after a step is about the relative error of the second moments.

A part keeps nothing from one exchange to the next.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pnorm._blas import calm
from pnorm._checks import Vector
from pnorm._solvers.certificate import penalised_gap
from pnorm._solvers.columns import Columns, coded_table
from pnorm._solvers.forming import Point, formed, formed_after
from pnorm._solvers.hessian import Means
from pnorm._solvers.newton import NEWTON
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Outcome, Progress, Solver
from pnorm._solvers.reductions import WeightedRows, reduction
from pnorm._solvers.shapes import ENOUGH, SLOW, SWEEPS, line_search, newton_step
from pnorm._storage.codebook import Schema
from pnorm._storage.coded import Coded
from pnorm._storage.combined import Negated
from pnorm._storage.features import BYTE, Codes
from pnorm._threads import SERIAL
from pnorm.objectives._pnorm import PNorm

_ROWS = 2**15
"""Least number of rows of a side in a sample."""

_PER_CODE = 16
"""Least average number of rows of a side in a sample for each code of a column."""

_SHARES = (0.7, 0.4, 0.2, 0.1, 0.03, 0.01, 0.001)
"""Shares of a step at which the objective is computed, in addition to its end."""

_TRUE, _FALSE = 0.7, 1.5
"""Bounds on the fall of the objective, as a share of that of the model, between which the sample is kept."""

_ALMOST = 0.95
"""The end of a step is taken if it has at least this share of the largest fall along the step."""

_POOR, _SLOW = 0.5, 0.3
"""The sample is too small if the fall is below this share of its prediction, or if a step leaves more than this share
of the gap."""

_MOST_ROWS = 2.0**19
"""Largest number of rows of a side in a sample: 10 MB for twenty columns."""

_LONG = 1e-3
"""If a step of the model falls by more than this many nats, weights change so much that a new sample is drawn."""

_STEPS = 12
"""Largest number of Newton steps of a model."""

_PATIENCE = 6
"""Steps in a row that do not halve the gap, after which rounding may be the cause."""


@reduction("sum", "list", "list")
def drawn(rows: WeightedRows, size: float, n: int, rare: Vector) -> tuple[Vector, list[Any], list[Any]]:
    """Sums of the weights by code; codes of the drawn rows, and the log of case weight over probability for each.

    The probability of a row grows with its weight times one plus the values of its codes in `rare`, and is at least
    that of a uniform draw among all n. Rows of probability one are all drawn. The others are drawn at equal distances
    along the sum of their probabilities.
    """
    table = coded_table(rows.table)
    assert table is not None
    more = SERIAL.run(table.look_up(rare))[0]
    chance = np.minimum(size / 3.0 * (rows.total * (1.0 + more) + 1.0 / n), 1.0)
    sure = chance == 1.0
    along = np.floor(np.cumsum(np.where(sure, 0.0, chance)) + 0.5)
    kept = np.flatnonzero(sure | (np.diff(along, prepend=0.0) > 0.0))
    log_c = -np.log(chance[kept])
    if rows.rows.log_c is not None:
        log_c += rows.rows.log_c[kept]
    codes = table.codes(kept)
    small = codes.astype(np.uint8) if int(table.schema.levels.max()) <= BYTE else codes
    return table.totals(SERIAL.run(table.tally(rows.total))[0]), [small], [log_c]


class Model:
    """Rows drawn from all rows, as a problem in memory, and the model that replaces the objective."""

    def __init__(
        self, problem: Problem, schema: Schema, point: Point, totals: tuple[Vector, Vector], size: float
    ) -> None:
        """Draw some rows of each side at a point, given the sums of the weights by code there, or nearby."""
        self._p, self._sign = problem.objective.traits.p, -1.0 if problem.exchanged else 1.0
        self._constant, n_codes = problem.constant, int(schema.cells[-1])
        # Divided by this sum, the probabilities of all rows add up to one, if no code is too rare.
        rare = [1.0 / np.maximum(n_codes * of_side, 1e-3) for of_side in totals]
        sides = problem.reduce_weighted(
            point.weights, drawn, (size, size), (problem.n_pos, problem.n_neg), (rare[0], rare[1])
        )
        self.totals: tuple[Vector, Vector] = (sides[0][0], sides[1][0])
        """The sums of the weights by code at the point."""
        self._tables: list[Coded] = []
        for _, parts, _ in sides:
            codes = np.concatenate(parts, axis=1).astype(np.uint16)
            self._tables.append(Coded.encoded(schema, [Codes(own) for own in codes], codes.shape[1]))
        outputs = [Negated(table) if problem.exchanged else table for table in self._tables]
        log_c_pos, log_c_neg = [np.concatenate(logs) for _, _, logs in sides]
        objective = PNorm(self._p, log_c_pos, log_c_neg)
        self._problem = Problem.of_tables(outputs, problem.names, objective)
        self.is_exact = self._problem.n_pos == problem.n_pos and self._problem.n_neg == problem.n_neg
        """Whether all rows were drawn."""

    def minimise(
        self, penalty: Penalty, lam: Vector, totals: tuple[Vector, Vector], slope: Vector, tol: float
    ) -> tuple[Vector, float]:
        """Return the minimiser of the model with the penalty, and its distance below the value at lam.

        `totals` are the sums of the weights of all rows by code at lam, and `slope` is the slope of log F_p by ranker.
        The linear term gives the model the same totals and slope.
        """
        problem, p = self._problem, self._p
        point = problem.point(lam)
        means = Means(problem, point.weights)
        tallies = SERIAL.run(*[table.tally(w) for table, w in zip(self._tables, point.weights.total, strict=True)])
        u, w = [self._tables[0].schema.totals(tally) for tally in tallies]
        by_code, linear = p * ((totals[0] - u) - (totals[1] - w)), slope - p * means.edges
        columns = Columns(problem, self._tables, penalty.only(~self._constant), by_code)
        cornered = (penalty.l1 > 0.0) | np.isfinite(penalty.low) | np.isfinite(penalty.high)

        def value(point: Point) -> float:
            return point.log_f - float(linear @ point.lam) + penalty.value(point.lam)

        first = before = value(point)
        least = 1e-7 * tol / u.size
        for _ in range(_STEPS):
            swept, _ = columns.sweeps(point.lam, point.weights.total, least, ENOUGH * tol, SLOW, SWEEPS)
            point = problem.point(swept)
            means = Means(problem, point.weights)
            down, here = p * means.edges + linear, value(point)
            if penalty.gap(point.lam, down) <= 0.1 * tol:
                break
            # The end of a long step is only as accurate as the sample.
            if not self.is_exact and before - here <= 1e-4 * (first - here) and first - here > 100.0 * tol:
                break
            before, weights = here, point.weights.total
            times, blocks = columns.product(means, weights), columns.preconditioner(weights)
            step = newton_step(times, blocks, penalty, cornered, point.lam, down, tol)
            _, point = line_search(problem, value, point, step)
        return point.lam, first - value(point)


def sampled(problem: Problem, start: Vector, penalty: Penalty, progress: Progress, may_ask: bool = True) -> Outcome:
    """Minimise models until the gap of the objective is within the tolerance."""
    with calm(1):
        return _run(problem, start, penalty, progress, progress.tol)


def approach(
    problem: Problem, start: Vector, penalty: Penalty, progress: Progress, share: float, tol: float
) -> Outcome:
    """Approach the minimiser with a penalty without l2, through one with a small l2, without a certificate.

    The steps are recorded as steps of the given objective.
    """
    with calm(1):
        return _run(problem, start, with_little_l2(problem, penalty, share), progress, tol, proves=False)


def with_little_l2(problem: Problem, penalty: Penalty, share: float) -> Penalty:
    """Replace every l2 of zero by a share of an upper bound of the curvature of log F_p."""
    largest = 0.25 * problem.objective.traits.p**2 * np.square(np.where(problem.constant, 1.0, problem.span))
    l2 = np.where(penalty.l2 > 0.0, penalty.l2, share * largest)
    return Penalty(penalty.l1, l2, penalty.low, penalty.high)


def _run(
    problem: Problem, start: Vector, penalty: Penalty, progress: Progress, tol: float, proves: bool = True
) -> Outcome:
    p, table = problem.objective.traits.p, coded_table(problem.table)
    assert table is not None
    schema, sign = table.schema, -1.0 if problem.exchanged else 1.0
    size = float(max(_ROWS, _PER_CODE * int(schema.cells[-1])))
    model: Model | None = None
    point, totals = formed(problem, penalty.nearest(start), of_rankers=True)
    best, last, stuck = math.inf, math.inf, 0
    while True:
        # The gap from the gradient.
        means = Means(problem, point.weights, [sign * schema.of_rankers(sums, schema.terms)[None] for sums in totals])
        slope = p * means.edges
        gap, rounding = penalised_gap(problem, point, means.edges, penalty)
        rounding += gap - rounding - penalty.gap(point.lam, slope)  # of the slopes
        progress.arrive(point, gap if proves else math.inf, penalty.steepest(point.lam, slope))
        if gap <= max(tol, 2.0 * rounding):
            return Outcome("converged", progress.within(gap))
        if progress.exhausted:
            return Outcome("max_iter", f"all {progress.limit} steps were taken; {_proof(gap)}")
        stuck = stuck + 1 if gap > 0.5 * best else 0
        best = min(best, gap)
        if stuck >= _PATIENCE and progress.is_flat(rounding):
            cause = "rounding hides any further progress" if gap <= 100.0 * rounding else "no step leads further down"
            return Outcome("stalled", f"{cause}; {_proof(gap)}")

        # The step of the model. If its end falls less than predicted, the best share of the step is taken. This costs
        # two more exchanges: the objective at several shares takes the parts eight times as long as at the end.
        if model is not None and not model.is_exact and gap > _SLOW * last:
            model, size = None, _larger(size)
        last = gap
        if model is None:
            model = Model(problem, schema, point, totals, size)
        after, promised = model.minimise(penalty, point.lam, totals, slope, tol)
        before, slack = progress.value_with(penalty, point), 16.0 * np.finfo(float).eps * (abs(point.log_f) + 1.0)
        end, of_end = formed(problem, after, of_rankers=True)
        between: list[Point] = []
        if not before - progress.value_with(penalty, end) >= _TRUE * promised - slack:
            between = formed_after(problem, point.lam, after, _SHARES)
        values = np.array([progress.value_with(penalty, point) for point in (end, *between)])
        enough = before - _ALMOST * (before - values.min()) + slack
        place = 0 if values[0] <= enough else int(values.argmin())
        fall, share = before - values[place], (1.0, *_SHARES)[place]
        if place == 0:
            point, totals = end, of_end
        elif fall > 0.0:
            point = between[place - 1]
        seen = promised > 1e3 * slack and not model.is_exact
        if seen and (promised > _LONG or not _TRUE * promised <= fall <= _FALSE * promised):
            model, size = None, size if fall > _POOR * promised else _larger(size)
        if place > 0 and fall > 0.0:
            model = Model(problem, schema, point, totals, size)
            totals = model.totals
        if progress.step(means.edges, share, point):
            return Outcome("callback", f"the callback stopped the run after step {progress.n_iter}; {_proof(gap)}")


def _larger(size: float) -> float:
    """The size of a larger sample."""
    return min(4.0 * size, max(size, _MOST_ROWS))


SAMPLED = Solver(sampled, supports=NEWTON.supports, steps=4)


def _proof(gap: float) -> str:
    return f"its gap was at most {gap:.2g}"
