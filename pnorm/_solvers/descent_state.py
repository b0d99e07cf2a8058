"""The state of a training run: the weights of the rows, the objective, and how both change with a step.

Weights are recomputed from the scores, with one exponential per row, or multiplied: after a short step by exponentials
of the step, which are short polynomials; along a ranker of few values by one number for each value, or with query
groups for each group and value. The rounding errors of multiplied weights accumulate slowly, so the weights are
recomputed from time to time. Compiled code multiplies those of rows in memory, and `steps` those of rows elsewhere;
here they are recomputed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _dense, _descent, _tilt
from pnorm._recorders import RoundRecorder
from pnorm._solvers.forming import Point, formed, formed_by_steps
from pnorm._solvers.of_rows import column, totals
from pnorm._solvers.problem import TIE, Problem
from pnorm._solvers.reductions import FormedWeights, HeldWeights, Rows, reduction
from pnorm._solvers.steps import Steps
from pnorm._storage.coded import CHOSEN
from pnorm._threads import ROWS
from pnorm.objectives._base import Scores
from pnorm.objectives._pnorm import PNorm
from pnorm.objectives._pnorm_line import FAINT, FAR, NEAR, PLATEAU, ROUNDING, Direction, Kernel, Line, Side

OVERFLOW = 1e300
"""No step adds more than this to an exponent p f, so that exponents stay finite for 1e8 rounds."""

_ROUNDS = 100
"""Multiplications after which weights are recomputed: each adds about 1e-16 to their relative error."""

_EXPONENTS = 100.0
"""Change of exponents after which weights are recomputed: a weight that underflows stays zero in multiplications.

From the floor of e^-600 this change does not lead to subnormal numbers, which would be slow."""

_LIGHT = 1e-200
"""Share of all weight below which clamped weights make a sum unreliable: they may have risen from their floor of e^-600
by the exponents above, and there may be 1e17 of them."""

_SHRUNK = 16.0
"""Factor by which scores shrink before they are recomputed: they keep the rounding errors of their earlier size."""

_CELLS = 4
"""Number of rows per group and value of a ranker from which on sums by group and value make its step faster."""

_VALUES = 64
"""Largest number of values of such a ranker."""

_NONE = np.empty(0)


class DiscreteRanker:
    """A ranker that takes few values, and the values that it takes on either side."""

    def __init__(self, problem: Problem, j: int, cells: slice) -> None:
        """Take ranker j, whose sums by code are at some cells of totals."""
        self._problem, self._j = problem, j
        self.by_code = problem.table.values(j) - float(problem.shift[j])
        self._has = [side.counts[cells] > 0.0 for side in problem.sides]
        distinct = np.unique(self.by_code[self._has[0] | self._has[1]])
        self.binary = distinct.size == 2
        self._is_high = (self.by_code == distinct[-1]).astype(np.intp)
        self.on_side = self.by_code[self._has[0]], self.by_code[self._has[1]]
        """Its values at the codes of the positives and of the negatives, centred."""
        self._zeros = Scores(np.zeros_like(self.on_side[0]), np.zeros_like(self.on_side[1]))

    def step(self, masses: Sequence[Vector], sign: float) -> float | None:
        """The step along the ranker from sums of u and w by its code; None if some sums are too small."""
        direction, p = self._problem.direction(self._j, *self.on_side, self.binary), self._problem.objective.traits.p
        if self.binary and direction.gap(sign) < 0.0:
            u0, u1, w0, w1 = [float(x) for of_side in masses for x in np.bincount(self._is_high, of_side, 2)]
            if min(u0, u1, w0, w1) <= _LIGHT:
                return None
            step = (math.log(u1) - math.log(u0)) + (math.log(w0) - math.log(w1))
            step /= (p + 1.0) * direction.span
            return step if step * sign > 0.0 else 0.0
        u, w = [of_side[has] for of_side, has in zip(masses, self._has, strict=True)]
        if min(u.min(), w.min()) <= _LIGHT:
            return None
        # One row for each code and side.
        condensed = PNorm(p, _logs(u), _logs(w))
        return condensed.step(self._zeros, u, w, direction, sign)


class DescentState:
    """Coefficients, and the objective, edges and margins of the rows at them."""

    def __init__(self, problem: Problem, lam: Vector, signs: NDArray[np.int8] | None = None) -> None:
        """Take `lam`, which the caller changes before calling `move`, and the signs that it satisfies and keeps."""
        self.problem, self.lam = problem, lam
        self._signs = None if signs is None or not signs.any() else signs
        self._discrete: dict[int, DiscreteRanker | None] = {}
        self._rows: HeldRows | FormedRows
        if not problem.forms_weights:
            self._rows = HeldRows(problem, lam, self._signs)
        else:
            self._rows = (SteppedRows if problem.table.coded.all() else FormedRows)(problem, lam)

    @property
    def log_f(self) -> float:
        """Log of the objective."""
        return self._rows.log_f

    @property
    def log_mass(self) -> float:
        """Log of the sum of q over all pairs."""
        return self._rows.log_mass

    @property
    def intercept(self) -> float:
        """Intercept of probabilities; nan if the objective gives none."""
        return self.problem.users_intercept(self._rows.intercept)

    def edges(self) -> Vector:
        """Edges of all weak rankers."""
        return self.problem.edges(self._rows.totals())

    def stays(self, edges: Vector) -> NDArray[np.bool_] | None:
        """Whether each coefficient stays at zero because its edge points in the direction that its sign forbids.

        None if there are no signs.
        """
        return None if self._signs is None else (self.lam == 0.0) & (self._signs * edges < 0.0)

    def crosses_zero(self, j: int, step: float) -> bool:
        """Whether a step would give the coefficient of ranker j the wrong sign."""
        return self._signs is not None and float(self._signs[j]) * (self.lam[j] + step) < 0.0

    def run(self, limit: int, selection: str, least: Vector, record: RoundRecorder) -> int:
        """Do ordinary rounds, at most `limit`; return their number."""
        return self._rows.run(limit, selection, least, record) if isinstance(self._rows, HeldRows) else 0

    def margin(self) -> float:
        """Least difference of scores over all pairs."""
        return self._rows.margin()

    def separates(self) -> bool:
        """Whether the scores put every positive above every negative."""
        return not (isinstance(self._rows, HeldRows) and self._rows.overlaps()) and self.margin() > 0.0

    def gap(self, j: int, sign: float) -> float:
        """Least difference of scores over all pairs along a step of the given sign."""
        if self.problem.objective.groups is None:
            return self.problem.gap(j, sign)
        return self._rows.known(j).gap(sign)

    def step(self, j: int, sign: float) -> float:
        """The step along ranker j, of the sign of its edge, that minimises the objective; zero if rounding hides it."""
        discrete = self._discrete_ranker(j)
        if discrete is not None:
            step = discrete.step(self._rows.masses(j), sign)
            if step is not None:
                return step
        return self._rows.step(j, sign, discrete)

    def move(self, j: int, step: float) -> None:
        """Take a step along ranker j, which is in `lam` already."""
        self._rows.move(j, step)

    def _discrete_ranker(self, j: int) -> DiscreteRanker | None:
        """Ranker j as a ranker of few values, if a step needs only its sums by code; else None."""
        if j not in self._discrete:
            objective = self.problem.objective
            by_sums = objective.traits.factored and objective.groups is None
            cells = self.problem.table.cells(j) if by_sums else None
            self._discrete[j] = None if cells is None else DiscreteRanker(self.problem, j, cells)
        return self._discrete[j]


LOG_F, LOG_MASS, INTERCEPT, LEVEL, WIDEST, MULTIPLIED, CHANGED, V_TOTAL = range(8)
"""Numbers of `HeldRows.now`, in the order in which compiled code has them."""


class HeldRows:
    """Scores and weights of all rows as arrays in this process; the rows may be elsewhere.

    Compiled code does most rounds, and takes the other steps as well. Where there is none, for other losses, sparse
    rows and rows in partitions, the weights are formed from the scores after every step.
    """

    def __init__(self, problem: Problem, lam: Vector, signs: NDArray[np.int8] | None = None) -> None:
        self.problem, self.lam = problem, lam
        self.u, self.w = np.empty(problem.n_pos), np.empty(problem.n_neg)
        self._column = np.empty(problem.n_pos), np.empty(problem.n_neg)
        self._run = problem.objective.pool.run
        self._direction: tuple[int, Direction] | None = None
        self._known: dict[int, Direction] = {}
        self.now = np.zeros(8)
        """log F_p; log of the sum of q; intercept; constant that is missing in the scores, since directions are
        centred; bound on the terms of all scores; multiplications, change of exponents and sum of v since the weights
        were formed."""
        self._tallies: list[Vector] | None = None
        self._tally: list[Vector] = []
        """Room for the tallies of compiled code."""
        groups, coded = problem.objective.groups, problem.table.coded
        multiplies = bool(coded.any())
        multiplies &= groups is None or 2 * _CELLS * groups.n <= problem.n_pos + problem.n_neg
        self._share_at_one = np.empty(0 if groups is None else groups.n)
        leaves = self._leaves()
        # The weights at p = 1 say what z is. Those of dense rankers alone take no more memory than a block of rows.
        held = leaves is not None and (multiplies or (groups is None and problem.n_neg <= ROWS))
        self._v: Vector | None = np.empty(problem.n_neg) if held and problem.objective.traits.p != 1.0 else None
        # With coded rankers only, scores are not stored. They follow from lam at the cost of a few rounds.
        self._keeps_scores = leaves is None or not (multiplies and bool(coded.all()))
        self._f: Scores | None = (f := problem.scores(lam))
        if lam.any():
            self.now[WIDEST] = self._size()
            _checks.exponents(problem.objective.traits.p, f.pos, f.neg)
        self._weigh()  # takes memory itself, so the compiled loop makes its room afterwards
        self.rounds = None if leaves is None else self._compiled(leaves, signs)

    def _leaves(self) -> tuple[list[_descent.Leaf], list[_descent.Leaf]] | None:
        """The outputs of both sides that the compiled loop reads; None if the rows or the objective have none."""
        problem, objective = self.problem, self.problem.objective
        if not isinstance(objective, PNorm) or not problem.in_memory:
            return None
        pos, neg = [table.leaves() for table in problem.tables]
        return None if pos is None or neg is None else (pos, neg)

    def _compiled(
        self, leaves: tuple[list[_descent.Leaf], list[_descent.Leaf]], signs: NDArray[np.int8] | None
    ) -> _descent.Rounds:
        """The compiled loop, with room for what it needs."""
        problem, objective = self.problem, self.problem.objective
        assert isinstance(objective, PNorm)
        groups = None if objective.groups is None else objective.rows_of_groups()
        self._tally = [np.empty(table.tally_size) for table in problem.tables]
        places = problem.table.places()
        facts = np.empty((13, problem.n_rankers))
        facts[:5] = problem.ranges[3:]
        facts[5] = 0.0 if problem.offsets_taken is None else problem.offsets_taken
        for k, side in enumerate(problem.sides):
            facts[6 + 2 * k], facts[7 + 2 * k] = side.low, side.high
        facts[10], facts[11] = places.sign, places.sign * problem.shift + places.level
        facts[12] = 0.0 if signs is None else signs
        steps = TIE, OVERFLOW, _LIGHT, _SHRUNK, _EXPONENTS, _ROUNDS, PLATEAU, ROUNDING
        limits = *steps, CHOSEN, ROWS, FAR, FAINT, _CELLS, _VALUES, NEAR
        of_pos, of_neg = zip(leaves, self._column, (self.u, self.w), objective.log_c, self._tally, strict=True)
        centred = problem.offsets_taken is not None
        return _descent.Rounds(
            objective.p,
            limits,
            self.lam,
            facts,
            places.leaf,
            places.ranker,
            of_pos,
            of_neg,
            self._v,
            problem.exchanged,
            centred,
            groups,
            self._share_at_one,
            self.now,
            objective.pool.n_threads,
        )

    @property
    def log_f(self) -> float:
        return float(self.now[LOG_F])

    @property
    def log_mass(self) -> float:
        return float(self.now[LOG_MASS])

    @property
    def intercept(self) -> float:
        return float(self.now[INTERCEPT])

    def _weigh(self) -> None:
        """Form the weights from the scores."""
        found = self.problem.objective.evaluate(self.scores(), self.u, self.w, self._v)
        intercept = found.intercept - self.now[LEVEL] - self.problem.constant_at(self.lam)
        self.now[[LOG_F, LOG_MASS, INTERCEPT]] = found.log_f, found.log_mass, intercept
        self.now[[MULTIPLIED, CHANGED, V_TOTAL]] = 0.0, 0.0, 1.0
        self._rate, self._tallies = found.rate, None
        self._weights = HeldWeights((self.u, self.w), None, found.share)
        if found.share_at_one is not None:
            self._share_at_one[:] = found.share_at_one
        self._forget_scores()

    def _size(self) -> float:
        """A bound on the terms of all scores."""
        with np.errstate(over="ignore"):
            return _dense.inner(np.abs(self.lam), self.problem.largest)

    def _forget_scores(self) -> None:
        if not self._keeps_scores:
            self._f = None

    def scores(self) -> Scores:
        """f = H lam."""
        if self._f is None:
            self._f, self.now[LEVEL] = self.problem.scores(self.lam), 0.0
        return self._f

    def margin(self) -> float:
        """Least difference of scores over all pairs."""
        margin = self.problem.margin(self.scores())
        self._forget_scores()
        return margin

    def overlaps(self) -> bool:
        """Whether the weights alone show a negative above a positive; computing the scores would take longer."""
        objective = self.problem.objective
        if self._f is not None or not isinstance(objective, PNorm) or objective.groups is not None:
            return False
        if any([log_c is not None for log_c in objective.log_c]):
            return False
        # p times the largest amount by which a negative is above a positive. u is divided by the sum of e^-f, w by
        # that of e^(p f).
        above = self.log_f + objective.p * math.log(self.u.max()) + math.log(self.w.max())
        return above > 1e-6 * (objective.p + abs(self.log_f))

    def totals(self) -> Vector:
        """Totals of u minus totals of w."""
        if not self.problem.in_memory:
            pos, neg = self.problem.reduce_weighted(self._weights, totals)
            return np.asarray(pos - neg)
        if self._tallies is None:
            pos, neg = self.problem.tables
            self._tallies = self._run(pos.tally(self.u), neg.tally(self.w))
        return self.problem.table.totals(self._tallies[0] - self._tallies[1])

    def masses(self, j: int) -> list[Vector]:
        """Sums of u and w by the code of ranker j."""
        assert self._tallies is not None
        return [self.problem.table.masses(j, of_side) for of_side in self._tallies]

    def direction(self, j: int) -> Direction:
        """Ranker j on the rows, centred; valid until the next call."""
        if self._direction is None or self._direction[0] != j:
            problem, shift = self.problem, float(self.problem.shift[j])
            if problem.in_memory:
                pos, neg = self._column
                self._run(*[table.column(j, shift, h) for table, h in zip(problem.tables, self._column, strict=True)])
            else:
                pos, neg = problem.reduce(column, (j, j), (shift, shift))
            if j not in self._known:  # needs a pass over all rows
                low, high = float(problem.low[j]) - shift, float(problem.high[j]) - shift
                binary = problem.objective.groups is None  # with groups there is no closed form
                binary = binary and _takes_only(low, high, pos) and _takes_only(low, high, neg)
                self._known[j] = replace(problem.direction(j, pos, neg, binary), pos=_NONE, neg=_NONE)
            self._direction = j, replace(self._known[j], pos=pos, neg=neg)
        return self._direction[1]

    def known(self, j: int) -> Direction:
        """Ranker j without its outputs, which are read only the first time."""
        return self._known[j] if j in self._known else self.direction(j)

    def step(self, j: int, sign: float, discrete: DiscreteRanker | None) -> float:
        """The step along ranker j, by its outputs on all rows."""
        last = self.log_f, self._rate
        step = self.problem.objective.step(self.scores(), self.u, self.w, self.direction(j), sign, last)
        if discrete is not None:
            self.now[CHANGED] = math.inf  # weights are too uneven to be multiplied any further
        return step

    def move(self, j: int, step: float) -> None:
        """Take a step along ranker j."""
        problem = self.problem
        fresh = self.now[CHANGED] + problem.objective.traits.p * abs(step) * float(problem.span[j]) > _EXPONENTS
        fresh |= self.now[MULTIPLIED] == _ROUNDS
        # With groups, other rankers need the scores again.
        self._keeps_scores |= problem.objective.groups is not None and not fresh
        if self.rounds is not None and self._in_compiled(self.rounds.take, j, step):
            if self.now[MULTIPLIED] == 0.0:
                self._forget_scores()
            return
        if self._f is not None:
            size = self._size()
            if _SHRUNK * size < self.now[WIDEST]:
                self._f, self.now[LEVEL], self.now[WIDEST] = problem.scores(self.lam), 0.0, size
            else:
                self._f.advance(self.direction(j), step, problem.objective.pool)
                self.now[LEVEL] += step * float(problem.shift[j])
                self.now[WIDEST] = max(self.now[WIDEST], size)
        self._weigh()

    def run(self, limit: int, selection: str, least: Vector, record: RoundRecorder) -> int:
        """Do ordinary rounds, at most `limit`, in compiled code; return their number."""
        if self.rounds is None or limit <= 0:
            return 0
        # A batch takes about 30 ms, so Ctrl-C and a progress bar do not wait long.
        n = min(limit, batch(self.problem))
        rankers, records = np.empty(n, np.intp), np.empty((5, n))
        n = self._in_compiled(self.rounds.run, selection, least, rankers, records)
        record.extend(rankers[:n], records[:, :n])
        return n

    def _in_compiled(self, call: Callable[..., int], *arguments: Any) -> int:
        """The result of compiled code on the arrays of this state."""
        for own, of_side in zip(self._tally, self._tallies or (), strict=False):
            if own is not of_side:
                own[:] = of_side
        pos, neg = (None, None) if self._f is None else (self._f.pos, self._f.neg)
        found = call(self.problem.objective.pool, self._tallies is not None, pos, neg, *arguments)
        self._direction = None  # its arrays belong to another ranker now
        assert self.rounds is not None
        self._tallies = self._tally if self.rounds.tallied else None
        return found


def batch(problem: Problem) -> int:
    """Number of rounds that take about 30 ms."""
    return 1 + int(3e7 / ((problem.n_pos + problem.n_neg) * (20 + problem.n_rankers) + 5000))


class FormedRows:
    """Rows whose parts form their weights by themselves, with one exchange with all of them after each round."""

    def __init__(self, problem: Problem, lam: Vector) -> None:
        self.problem, self.lam = problem, lam
        self._form()
        _checks.exponents(problem.objective.traits.p, self._point.f.pos, self._point.f.neg)

    def _form(self) -> None:
        """Form the weights from the coefficients."""
        self._set(*formed(self.problem, self.lam, of_rankers=True))

    def _set(self, point: Point, totals: tuple[Vector, Vector]) -> None:
        self._point, self._totals = point, totals
        self.log_f, self.log_mass, self.intercept = point.log_f, point.log_mass, point.intercept

    def totals(self) -> Vector:
        """Totals of u minus totals of w."""
        return self._totals[0] - self._totals[1]

    def masses(self, j: int) -> list[Vector]:
        """Sums of u and w by the code of ranker j."""
        cells = self.problem.table.cells(j)
        return [of_side[cells] for of_side in self._totals]

    def margin(self) -> float:
        """Least difference of scores over all pairs."""
        return self.problem.margin(self._point.f)

    def known(self, j: int) -> Direction:
        """Ranker j without its outputs, which are elsewhere."""
        return self.problem.direction(j, _NONE, _NONE, False)

    def step(self, j: int, sign: float, discrete: DiscreteRanker | None) -> float:
        """The step along ranker j, from sums over all rows; each sum is an exchange with the parts."""
        problem, shift = self.problem, float(self.problem.shift[j])

        def each(kernel: Kernel) -> tuple[list[Any], list[Any]]:
            weights = self._point.weights
            pos, neg = problem.reduce(line_sums, (weights, weights), (j, j), (shift, shift), (kernel, kernel))
            return pos, neg

        binary = discrete is not None and discrete.binary
        direction = problem.direction(j, _NONE, _NONE, binary)
        return Line(problem.objective.traits.p, each, direction, sign).step()

    def move(self, j: int, step: float) -> None:
        """Take a step along ranker j."""
        self._form()


class SteppedRows(FormedRows):
    """Rows of coded rankers alone, whose parts keep their weights and multiply them after each round."""

    def __init__(self, problem: Problem, lam: Vector) -> None:
        self.problem, self.lam, self._run = problem, lam, uuid4().hex
        if lam.any():
            problem.check_exponents(lam)
        self._form()

    def _form(self) -> None:
        """Form the weights from the coefficients."""
        self._steps, self._changed = Steps(self._run, self.lam.copy()), 0.0
        self._set(*formed_by_steps(self.problem, self._steps, self.lam))

    def margin(self) -> float:
        """Least difference of scores over all pairs, which takes another reduction."""
        return self.problem.margin_at(self.lam)

    def step(self, j: int, sign: float, discrete: DiscreteRanker | None) -> float:
        """The step along ranker j, where its sums by code are too light."""
        self._changed = math.inf
        return super().step(j, sign, discrete)

    def move(self, j: int, step: float) -> None:
        """Take a step along ranker j."""
        self._changed += self.problem.objective.traits.p * abs(step) * float(self.problem.span[j])
        if self._changed > _EXPONENTS or len(self._steps.taken) == _ROUNDS:
            self._form()
        else:
            self._steps = self._steps.then(j, step)
            self._set(*formed_by_steps(self.problem, self._steps, self.lam))


@reduction("list")
def line_sums(rows: Rows, weights: FormedWeights, j: int, shift: float, kernel: Kernel) -> list[Any]:
    """The result of a kernel of the line search, in a list."""
    f = rows.scores(weights.lam, weights.level)
    h = rows.pool.run(column(rows, j, shift))[0]
    return [kernel(Side(f, h, rows.log_c, weights.at(rows, f), weights.scale(rows)), 0, rows.n)]


def _logs(values: Vector) -> Vector:
    out = np.empty_like(values)
    _tilt.logs(values, out)
    return out


def _takes_only(low: float, high: float, h: Vector) -> bool:
    """Whether h takes only these two values; if not, the first rows usually show it."""
    return all(bool(((part == low) | (part == high)).all()) for part in (h[:256], h[256:]))
