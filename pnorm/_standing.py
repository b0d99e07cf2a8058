"""Where a run of `train` stands: the weights of the rows, what the list is worth, and how both move on.

Along most rankers weights are formed anew from the scores, an exponential per row. Along one that
takes few values the step is found on the sums of the weights by value, and weights are multiplied by a number
for each value. Their rounding errors add up slowly, and from time to time they are formed anew.
"""

from __future__ import annotations

import math

import numpy as np

from pnorm._binned import Levels
from pnorm._checks import Vector
from pnorm._line import Direction
from pnorm._objective import PNorm, Scores
from pnorm._outputs import SIDES
from pnorm._problem import Problem

_ROUNDS = 100
"""Multiplications after which weights are formed anew: each adds some 1e-16 to their relative error."""

_EXPONENTS = 300.0
"""Change of exponents after which they are: a weight that underflows is lost to multiplication."""

_LIGHT = 1e-200
"""Share of all weight below which a sum of weights is not believed: its rows' may be at their floor of e^-600."""


class Standing:
    """The state of the rows after each round."""

    def __init__(self, problem: Problem, lam: Vector) -> None:
        """`lam` stays the caller's, who changes it before `move`."""
        self.problem, self.lam = problem, lam
        self.u, self.w = np.empty(problem.n_pos), np.empty(problem.n_neg)
        objective = problem.objective
        coded = problem.outputs.coded & (objective.groups is None)
        # Of coded rankers alone, scores follow from lam at the price of a few rounds: no need to keep them.
        self._keep = not coded.all()
        self._v = np.empty(problem.n_neg) if coded.any() and objective.p != 1.0 else None
        self._f: Scores | None = problem.scores(lam)
        self._weigh()

    def _weigh(self) -> None:
        """Form the weights from the scores."""
        worth = self.problem.objective.weigh(self.scores(), self.u, self.w, self._v)
        self.log_f, self.log_mass = worth.log_f, worth.log_mass
        self._multiplied, self._changed, self._v_total = 0, 0.0, 1.0
        if not self._keep:
            self._f = None

    def scores(self) -> Scores:
        """f = H lam."""
        if self._f is None:
            self._f = self.problem.scores(self.lam)
        return self._f

    def edges(self) -> Vector:
        """Edges of all weak rankers."""
        return self.problem.edges(self.u, self.w)

    def margin(self) -> float:
        """Least difference of scores over all pairs."""
        margin = self.problem.margin(self.scores())
        if not self._keep:
            self._f = None
        return margin

    def _levels(self, j: int) -> Levels | None:
        """The few values of a ranker, where they will do."""
        found: Levels | None = None if self.problem.objective.groups else self.problem.outputs.levels(j)
        return found

    def step(self, j: int, sign: float) -> float:
        """The step along ranker j, in the direction of its edge, that minimises F_p; zero if rounding hides it."""
        problem, objective = self.problem, self.problem.objective
        levels = self._levels(j)
        line = levels and self._condensed(j, levels)
        if line:
            direction, masses = line
            nothing = Scores(*(np.zeros(mass.size) for mass in masses))
            return PNorm(objective.p, np.log(masses[0]), np.log(masses[1])).step(nothing, *masses, direction, sign)
        step = objective.step(self.scores(), self.u, self.w, problem.direction(j), sign)
        if not self._keep:
            self._changed = math.inf  # weights are too uneven to be multiplied any further
        return step

    def _condensed(self, j: int, levels: Levels) -> tuple[Direction, tuple[Vector, Vector]] | None:
        """Ranker j with one row per value and side, of the weight of all rows that have it."""
        problem = self.problem
        values, place = np.unique(levels.values - problem.shift[j], return_inverse=True)
        sides, masses = [], []
        for side, weights, rows in zip(SIDES, (self.u, self.w), (levels.pos, levels.neg), strict=True):
            has = np.bincount(place, rows) > 0.0
            mass = np.bincount(place, problem.outputs.masses(j, side, weights))[has]
            if mass.min() < _LIGHT:
                return None
            sides.append(values[has])
            masses.append(mass)
        binary = np.union1d(*sides).size == 2
        return problem.along(j, *sides, binary), (masses[0], masses[1])

    def move(self, j: int, step: float) -> None:
        """Take a step along ranker j, which is in `lam` already."""
        problem, p = self.problem, self.problem.objective.p
        levels = self._levels(j)
        self._changed += p * abs(step) * float(problem.high[j] - problem.low[j])
        if self._f is not None:
            self._f.advance(problem.direction(j), step, problem.objective.pool)
        if levels is None or self._changed > _EXPONENTS or self._multiplied == _ROUNDS:
            self._weigh()
            return
        self._multiplied += 1
        h = levels.values - problem.shift[j]
        log_z = [self._multiply(j, 0, np.exp(-step * h)), self._multiply(j, 1, np.exp(p * step * h))]
        self.log_f += p * log_z[0] + log_z[1]
        self.log_mass += log_z[0] + (log_z[1] if self._v is None else self._multiply_v(j, np.exp(step * h)))

    def _multiply(self, j: int, side: int, table: Vector) -> float:
        """Multiply u or w by a table of ranker j, and by what makes its sum one again; log of the ratio of sums."""
        outputs, weights = self.problem.outputs, (self.u, self.w)[side]
        mass = outputs.masses(j, SIDES[side], weights)
        total = float(mass @ table)
        outputs.multiply(j, SIDES[side], table / total, weights)
        return math.log(total) - math.log(float(mass.sum()))

    def _multiply_v(self, j: int, table: Vector) -> float:
        """The same for the weights of negatives at p = 1, which only z asks for; these are not made to sum to one."""
        assert self._v is not None
        before = self._v_total
        self._v_total = self.problem.outputs.multiply(j, "neg", table, self._v)
        return math.log(self._v_total) - math.log(before)
