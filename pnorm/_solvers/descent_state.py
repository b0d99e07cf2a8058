"""The state of a training run: the weights of the rows, the objective, and how both change with a step.

Along most rankers the weights are recomputed from the scores, with one exponential per row. After a short step they are
multiplied by exponentials of the step, which are short polynomials. Along a ranker of few values, the step is computed
from the sums of the weights by value. In memory the weights are then multiplied by one number for each value, or with
query groups for each group and value. The rounding errors of multiplied weights accumulate slowly, so the weights are
recomputed from time to time.

`HeldRows.run` calls compiled code for ordinary rounds of rows in memory, with the same arrays and the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _dense, _descent, _tilt
from pnorm._solvers.problem import TIE, Point, Problem, column, formed, formed_by_steps, totals
from pnorm._solvers.reductions import FormedWeights, HeldWeights, Rows, reduction
from pnorm._solvers.steps import Steps
from pnorm._storage.base import Index, added
from pnorm._storage.coded import CHOSEN
from pnorm._threads import ROWS, Pass, over_blocks
from pnorm._trace import RoundRecorder
from pnorm.objectives._base import Scores
from pnorm.objectives._pnorm import PNorm, intercept_of
from pnorm.objectives._pnorm_line import FAINT, FAR, NEAR, PLATEAU, ROUNDING, CellLine, Direction, Kernel, Line, Side

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
        return self._rows.run(limit, selection, least, record) if COMPILED and isinstance(self._rows, HeldRows) else 0

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
        self._rows.move(j, step, self._discrete_ranker(j))

    def _discrete_ranker(self, j: int) -> DiscreteRanker | None:
        """Ranker j as a ranker of few values, if a step needs only its sums by code; else None."""
        if j not in self._discrete:
            objective = self.problem.objective
            by_sums = objective.traits.factored and objective.groups is None
            cells = self.problem.table.cells(j) if by_sums else None
            self._discrete[j] = None if cells is None else DiscreteRanker(self.problem, j, cells)
        return self._discrete[j]


class GroupedRanker:
    """A coded ranker of few values, with groups: the weights are summed and changed by group and value."""

    def __init__(self, problem: Problem, j: int, values: Vector, place: Index) -> None:
        """Take the values of ranker j, centred, and the place in them of each of its codes."""
        self._problem, self._j, self.values, self._place = problem, j, values, place

    @classmethod
    def of(cls, problem: Problem, j: int) -> GroupedRanker | None:
        """Ranker j as a `GroupedRanker`; None if it is not coded or has too many values."""
        if not problem.in_memory or not problem.table.coded[j]:
            return None
        values, place = np.unique(problem.table.values(j) - float(problem.shift[j]), return_inverse=True)
        few = 1 < values.size <= _VALUES and _few_cells(problem, values.size)
        return cls(problem, j, values, place) if few else None

    def masses(self, k: int, weights: Vector) -> Vector:
        """Sums of weights of a side by group and value, (G, V)."""
        groups = self._problem.objective.groups
        assert groups is not None
        codes = (groups.pos, groups.neg)[k]
        return self._problem.tables[k].masses_by_group(self._j, self._place, weights, codes, groups.n)

    def multiply(self, k: int, factors: Vector, weights: Vector) -> None:
        """Multiply weights of a side by factors by group and value."""
        groups = self._problem.objective.groups
        assert groups is not None
        codes = (groups.pos, groups.neg)[k]
        self._problem.tables[k].multiply_by_cell(self._j, self._place, factors, weights, codes)

    def multiply_v(self, factors: Vector, v: Vector) -> None:
        """Multiply v by factors by value."""
        self._problem.objective.pool.run(self._problem.tables[1].multiply(self._j, factors[self._place], v))


class HeldRows:
    """Scores and weights of all rows as arrays in this process; the rows may be elsewhere."""

    def __init__(self, problem: Problem, lam: Vector, signs: NDArray[np.int8] | None = None) -> None:
        self.problem, self.lam, self._signs = problem, lam, signs
        self.u, self.w = np.empty(problem.n_pos), np.empty(problem.n_neg)
        self._column = np.empty(problem.n_pos), np.empty(problem.n_neg)
        self._run = problem.objective.pool.run
        self._direction: tuple[int, Direction] | None = None
        self._known: dict[int, Direction] = {}
        coded, groups = problem.table.coded, problem.objective.groups
        self._mass = np.empty(0 if groups is None else groups.n)
        """Shares of groups at p = 1."""
        self._multiplies = problem.objective.traits.factored and bool(coded.any())
        self._multiplies &= groups is None or (problem.in_memory and _few_cells(problem, 2))
        # With coded rankers only, scores are not stored. They follow from lam at the cost of a few rounds.
        self._keeps_scores = not (self._multiplies and bool(coded.all()))
        self._grouped: dict[int, GroupedRanker | None] = {}
        self._cells: list[Vector] | None = None
        """Sums of u and w by group and value, from which the step of the round was computed."""
        self._tallies: list[Vector] | None = None
        self._compiled: _Compiled | None = None
        # Weights of dense rankers are multiplied if z needs no more memory than a block of rows.
        self._tilts = problem.objective.traits.factored and groups is None
        self._tilts &= self._multiplies or problem.objective.traits.p == 1.0 or problem.n_neg <= ROWS
        held = (self._multiplies or self._tilts) and problem.objective.traits.p != 1.0
        self._v = np.empty(problem.n_neg) if held else None
        self._f: Scores | None = (f := problem.scores(lam))
        self._level = 0.0
        """Constant that is missing in the scores, since directions are centred."""
        self._widest = 0.0
        if lam.any():
            self._widest = self._size()
            _checks.exponents(problem.objective.traits.p, f.pos, f.neg)
        self._weigh()

    def _weigh(self) -> None:
        """Form the weights from the scores."""
        found = self.problem.objective.evaluate(self.scores(), self.u, self.w, self._v)
        self.log_f, self.log_mass, self._rate = found.log_f, found.log_mass, found.rate
        self.intercept = found.intercept - self._level - self.problem.constant_at(self.lam)
        self._weights = HeldWeights((self.u, self.w), None, found.share)
        if found.share_at_one is not None:
            self._mass[:] = found.share_at_one
        self._multiplied, self._changed, self._v_total = 0, 0.0, 1.0
        self._tallies = None
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
            self._f, self._level = self.problem.scores(self.lam), 0.0
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
        step = self._step_of_cells(j, sign)
        if step is not None:
            return step
        direction = self.direction(j)
        step = self.problem.objective.step(self.scores(), self.u, self.w, direction, sign, (self.log_f, self._rate))
        if discrete is not None:
            self._changed = math.inf  # weights are too uneven to be multiplied any further
        return step

    def _step_of_cells(self, j: int, sign: float) -> float | None:
        """The step along ranker j from sums of the weights by group and value; None if it needs the rows."""
        self._cells, direction = None, self.known(j)
        grouped = self._grouped_ranker(j)
        if grouped is None or not direction.gap(sign) < 0.0:
            return None
        u, w = grouped.masses(0, self.u), grouped.masses(1, self.w)
        line = CellLine(self.problem.objective.traits.p, (u, w), grouped.values, direction, sign)
        step = line.step()
        if line.faint:
            return None
        self._cells = [u, w]
        return step

    def _grouped_ranker(self, j: int) -> GroupedRanker | None:
        """Ranker j as a ranker of few values, if pairs form within groups."""
        if j not in self._grouped:
            objective = self.problem.objective
            some = objective.traits.factored and objective.groups is not None
            self._grouped[j] = GroupedRanker.of(self.problem, j) if some else None
        return self._grouped[j]

    def move(self, j: int, step: float, discrete: DiscreteRanker | None) -> None:
        """Take a step along ranker j."""
        problem, p = self.problem, self.problem.objective.traits.p
        self._changed += p * abs(step) * float(problem.high[j] - problem.low[j])
        fresh = self._changed > _EXPONENTS or self._multiplied == _ROUNDS
        if self._f is not None:
            size = self._size()
            if _SHRUNK * size < self._widest:
                self._f, self._level, self._widest = problem.scores(self.lam), 0.0, size
                fresh = True
            else:
                self._f.advance(self.direction(j), step, problem.objective.pool)
                self._level += step * float(problem.shift[j])
                self._widest = max(self._widest, size)
        cells, self._cells = self._cells, None
        if problem.objective.groups is not None and (fresh or cells is None or not self._move_cells(j, step, cells)):
            # Other rankers need the scores again.
            self._keeps_scores |= not fresh
            self._weigh()
            return
        if problem.objective.groups is not None:
            return
        if not fresh and discrete is not None and self._tallies is not None:
            self._multiply(j, step, discrete)
        elif not fresh and discrete is None and self._is_near(j, step):
            self._tilt(j, step)
        else:
            self._weigh()

    def _is_near(self, j: int, step: float) -> bool:
        """Whether a step along ranker j is so short that the weights are multiplied by exponentials of it."""
        p = self.problem.objective.traits.p
        return self._tilts and p * abs(step) * float(self.problem.max_abs_centered[j]) <= NEAR

    def _tilt(self, j: int, step: float) -> None:
        """Multiply the weights by exponentials of a short step along ranker j."""
        direction, p = self.direction(j), self.problem.objective.traits.p
        sides = [(self.u, direction.pos, -step), (self.w, direction.neg, p * step)]
        if self._v is not None:
            sides.append((self._v, direction.neg, step))
        totals = self._run(*[_tilted(*side) for side in sides])
        self._run(*[_rescaled(side[0], 1.0 / total) for side, total in zip(sides[:2], totals, strict=False)])
        log_u, log_w, log_v = [math.log(total) for total in (*totals, totals[1])[:3]]
        if self._v is not None:
            log_v -= math.log(self._v_total)
            self._v_total = totals[2]
        self._tallies = None
        self._add_logs(j, step, log_u, log_w, log_v)

    def _multiply(self, j: int, step: float, discrete: DiscreteRanker) -> None:
        """Multiply the weights by factors of the codes of ranker j."""
        p, masses = self.problem.objective.traits.p, self.masses(j)
        factors, logs = [], []
        for of_side, rate in zip(masses, (-step, p * step), strict=True):
            table = np.empty_like(discrete.by_code)
            top, total, before = _tilt.tilt_codes(of_side, discrete.by_code, rate, table)
            factors.append(table / total)
            logs.append(top + (math.log(total) - math.log(before)))
        log_u, log_w = logs
        of_v = np.empty_like(discrete.by_code)
        top = _tilt.tilt_codes(masses[1], discrete.by_code, step, of_v)[0]
        log_v = self._multiply_codes(j, factors, of_v, top)
        self._add_logs(j, step, log_u, log_w, log_w if log_v is None else log_v)

    def _add_logs(self, j: int, step: float, log_u: float, log_w: float, log_v: float) -> None:
        """Add the logs of the total factors of the weights and of v after a step along ranker j."""
        p = self.problem.objective.traits.p
        self._multiplied += 1
        self.log_f += p * log_u + log_w
        self.intercept += intercept_of(p, log_u, log_w) - step * self.problem.middle(j)
        self.log_mass += log_u + log_v

    def _move_cells(self, j: int, step: float, cells: Sequence[Vector]) -> bool:
        """Multiply the weights by factors by group and value; return False if the weight of a group is too small."""
        p, grouped = self.problem.objective.traits.p, self._grouped[j]
        assert grouped is not None
        of_v = None if self._v is None else grouped.masses(1, self._v)
        tilts = np.empty((3, grouped.values.size))
        u, w = cells
        log_f, log_mass, taken = _tilt.move_cells(
            u, w, of_v, grouped.values, p, step, _LIGHT, tilts, np.empty_like(self._mass), self._mass
        )
        if not taken:
            return False
        grouped.multiply(0, u, self.u)
        grouped.multiply(1, w, self.w)
        if self._v is not None:
            grouped.multiply_v(tilts[2], self._v)
        self.log_f += log_f
        self.log_mass += log_mass
        self._multiplied += 1
        self._tallies = None
        return True

    def _multiply_codes(self, j: int, factors: Sequence[Vector], of_v: Vector, top: float) -> float | None:
        """Multiply the weights by the factors of the codes of ranker j; return the change of log sum v.

        v, the weights of negatives at p = 1, is needed only for z and is not normalised. e^top is factored out of its
        factors.
        """
        assert self._tallies is not None
        tables, run = self.problem.tables, self._run
        passes = [
            table.multiply(j, own, weights)
            for table, own, weights in zip(tables, factors, (self.u, self.w), strict=True)
        ]
        if self._v is not None:
            passes.append(tables[1].multiply(j, of_v, self._v))
        sums = run(*passes)
        self._tallies = run(
            *[
                table.retally(j, own, weights, before)
                for table, own, weights, before in zip(tables, factors, (self.u, self.w), self._tallies, strict=True)
            ]
        )
        if self._v is None:
            return None
        before, self._v_total = self._v_total, sums[2]
        return top + (math.log(self._v_total) - math.log(before))

    def run(self, limit: int, selection: str, least: Vector, record: RoundRecorder) -> int:
        """Do ordinary rounds in compiled code."""
        if self._compiled is None:
            self._compiled = _Compiled(
                self.problem, self.lam, self._column, (self.u, self.w), self._v, self._mass, self._signs
            )
        loop, tallies = self._compiled, self._compiled.tallies
        if loop.rounds is None or limit <= 0:
            return 0
        if self._tallies is not None and self._tallies is not tallies:
            for own, of_side in zip(tallies, self._tallies, strict=True):
                own[:] = of_side
        n = min(limit, loop.batch)
        rankers, records = np.empty(n, np.intp), np.empty((5, n))
        numbers = np.array(
            [
                self.log_f,
                self.log_mass,
                self.intercept,
                self._level,
                self._widest,
                self._multiplied,
                self._changed,
                self._v_total,
            ]
        )
        f_pos, f_neg = (None, None) if self._f is None else (self._f.pos, self._f.neg)
        n, tallied = loop.rounds.run(
            selection, least, numbers, self._tallies is not None, f_pos, f_neg, tallies[0], tallies[1], rankers, records
        )
        self._direction = None  # its arrays belong to another ranker now
        self._tallies = tallies if tallied else None
        self.log_f, self.log_mass, self.intercept, self._level, self._widest, _, self._changed, self._v_total = (
            numbers.tolist()
        )
        self._multiplied = int(numbers[5])
        record.extend(rankers[:n], records[:, :n])
        return n


COMPILED = True
"""Whether ordinary rounds run in compiled code: for tests, which compare."""


class _Compiled:
    """The compiled loop of a problem, and what it needs."""

    def __init__(
        self,
        problem: Problem,
        lam: Vector,
        columns: Sequence[Vector],
        weights: Sequence[Vector],
        v: Vector | None,
        mass: Vector,
        signs: NDArray[np.int8] | None,
    ) -> None:
        self.rounds: _descent.Rounds | None = None
        self.tallies: list[Vector] = []
        objective = problem.objective
        if not isinstance(objective, PNorm):
            return
        if not problem.in_memory or objective.pool.n_threads > 1:
            return
        pos, neg = [table.leaves() for table in problem.tables]
        if pos is None or neg is None:
            return
        n, places = problem.n_rankers, problem.table.places()
        facts = np.empty((13, n))
        facts[:5] = problem.ranges[3:]
        facts[5] = 0.0 if problem.offsets_taken is None else problem.offsets_taken
        for k, side in enumerate(problem.sides):
            facts[6 + 2 * k], facts[7 + 2 * k] = side.low, side.high
        facts[10], facts[11] = places.sign, places.sign * problem.shift + places.level
        facts[12] = 0.0 if signs is None else signs
        steps = TIE, OVERFLOW, _LIGHT, _SHRUNK, _EXPONENTS, _ROUNDS, PLATEAU, ROUNDING
        limits = *steps, CHOSEN, ROWS, FAR, FAINT, _CELLS, _VALUES, NEAR
        of_pos, of_neg = zip((pos, neg), columns, weights, objective.log_c, strict=True)
        centred = problem.offsets_taken is not None
        groups = None if objective.groups is None else objective.rows_of_groups()
        self.rounds = _descent.Rounds(
            objective.p,
            limits,
            lam,
            facts,
            places.leaf,
            places.ranker,
            of_pos,
            of_neg,
            v,
            problem.exchanged,
            centred,
            groups,
            mass,
        )
        self.tallies = [np.empty(table.tally_size) for table in problem.tables]
        # A batch takes about 30 ms, so Ctrl-C and a progress bar do not wait long.
        self.batch = 1 + int(3e7 / ((problem.n_pos + problem.n_neg) * (20 + n) + 5000))


def _few_cells(problem: Problem, n_values: int) -> bool:
    """Whether groups times values of a ranker are few compared with the rows."""
    groups = problem.objective.groups
    assert groups is not None
    return _CELLS * groups.n * n_values <= problem.n_pos + problem.n_neg


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

    def move(self, j: int, step: float, discrete: DiscreteRanker | None) -> None:
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

    def move(self, j: int, step: float, discrete: DiscreteRanker | None) -> None:
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


def _tilted(weights: Vector, h: Vector, rate: float) -> Pass:
    """A pass that multiplies weights by e^(rate h) and returns their sum."""
    return over_blocks(
        weights.size,
        lambda rows: _tilt.tilt_weights(weights, h, rate, rows.start, rows.stop),
        lambda parts: float(added(parts)),
    )


def _rescaled(weights: Vector, factor: float) -> Pass:
    """A pass that multiplies weights by a number."""
    return over_blocks(weights.size, lambda rows: _tilt.rescale_rows(weights, factor, rows.start, rows.stop))


def _logs(values: Vector) -> Vector:
    out = np.empty_like(values)
    _tilt.logs(values, out)
    return out


def _takes_only(low: float, high: float, h: Vector) -> bool:
    """Whether h takes only these two values; if not, the first rows usually show it."""
    return all(bool(((part == low) | (part == high)).all()) for part in (h[:256], h[256:]))
