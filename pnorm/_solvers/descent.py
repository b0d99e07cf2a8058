"""Where a run of `train` stands: the weights of the rows, what the list is worth, and how both move on.

Along most rankers weights are formed anew from the scores, an exponential per row. Along one that
takes few values the step is found on the sums of the weights by value, and weights are multiplied
by a number for each value. Their rounding errors add up slowly, and from time to time they are
formed anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pnorm import _checks
from pnorm._blas import dot
from pnorm._checks import Vector
from pnorm._solvers.problem import Known, Problem
from pnorm._storage.base import SIDES
from pnorm._storage.coded import Binned, Levels
from pnorm.objectives._base import PNorm, Scores

_ROUNDS = 100
"""Multiplications after which weights are formed anew: each adds some 1e-16 to their relative error."""

_EXPONENTS = 100.0
"""Change of exponents after which they are: a weight that underflows is lost to multiplication.

From its floor of e^-600 this leads to no subnormal number, either, which would be slow."""

_LIGHT = 1e-200
"""Share of all weight below which a sum of weights is not believed: its rows' may have risen from their floor, of
e^-600, by the exponents above, and there may be 1e17 of them."""


_SHRUNK = 16.0
"""Factor by which scores come down after which they are formed anew: they keep the rounding of what they were."""


class Few:
    """A ranker that takes few values, and where it does."""

    def __init__(self, levels: Levels, shift: float) -> None:
        self.by_code = levels.values - shift
        values, self._place = np.unique(self.by_code, return_inverse=True)
        self._has = [np.bincount(self._place, rows) > 0.0 for rows in (levels.pos, levels.neg)]
        self.binary = np.count_nonzero(self._has[0] | self._has[1]) == 2
        self.on_side = values[self._has[0]], values[self._has[1]]
        """Its distinct values on the positives and on the negatives, centred."""
        self.nothing = np.zeros_like(self.on_side[0]), np.zeros_like(self.on_side[1])

    def _by_value(self, side: int, masses: Vector) -> Vector:
        """Sums by code as sums by the values on one side."""
        return np.asarray(np.bincount(self._place, masses)[self._has[side]], dtype=np.float64)

    def step(self, problem: Known, j: int, masses: Sequence[Vector], sign: float) -> float | None:
        """The step along the ranker, number j, from sums of u and w by its code; None where some are too light."""
        u, w = (self._by_value(side, of_side) for side, of_side in enumerate(masses))
        if min(u.min(), w.min()) <= _LIGHT:
            return None
        # One row for each value and side.
        direction = problem.along(j, *self.on_side, self.binary)
        condensed = PNorm(problem.objective.p, np.log(u), np.log(w))
        return condensed.step(Scores(*self.nothing), u, w, direction, sign)


class Standing(Protocol):
    """What the loop asks of the rows, wherever they lie; their state after each round."""

    lam: Vector
    log_f: float
    """log of the objective."""
    log_mass: float
    """log of the sum of q over all pairs."""

    @property
    def problem(self) -> Known:
        """What is known of the rows."""

    def edges(self) -> Vector:
        """Edges of all weak rankers."""

    def margin(self) -> float:
        """Least difference of scores over all pairs."""

    def step(self, j: int, sign: float) -> float:
        """The step along ranker j, in the direction of its edge, that minimises F_p; zero if rounding hides it."""

    def move(self, j: int, step: float) -> None:
        """Take a step along ranker j, which is in `lam` already."""


class InMemory:
    """The state of rows that lie in memory."""

    def __init__(self, problem: Problem, lam: Vector) -> None:
        """`lam` stays the caller's, who changes it before `move`."""
        self.problem, self.lam = problem, lam
        self.u, self.w = np.empty(problem.n_pos), np.empty(problem.n_neg)
        outputs = problem.outputs
        self._multiplies = problem.objective.factored and problem.objective.groups is None
        # Of coded rankers alone, sums of u and w by code are kept from round to round, and no scores:
        # these follow from lam at the price of a few rounds.
        self._binned = outputs if isinstance(outputs, Binned) and self._multiplies else None
        self._tally: list[Vector] | None = None
        coded = self._multiplies and bool(outputs.coded.any())
        self._v = np.empty(problem.n_neg) if coded and problem.objective.p != 1.0 else None
        self._known: dict[int, Few | None] = {}
        self._masses: tuple[Vector, Vector] = (self.u, self.w)
        self._masses_of = -1
        self._f: Scores | None = (f := problem.scores(lam))
        self._widest = self._size()
        _checks.exponents(problem.objective.p, f.pos, f.neg)
        self._weigh()

    def _weigh(self) -> None:
        """Form the weights from the scores."""
        worth = self.problem.objective.weigh(self.scores(), self.u, self.w, self._v)
        self.log_f, self.log_mass = worth.log_f, worth.log_mass
        self._multiplied, self._changed, self._v_total = 0, 0.0, 1.0
        self._tally = None
        self._forget_scores()

    def _size(self) -> float:
        """How large the terms of a score may be."""
        with np.errstate(over="ignore"):
            return dot(np.abs(self.lam), self.problem.largest)

    def _forget_scores(self) -> None:
        if self._binned is not None:
            self._f = None

    def scores(self) -> Scores:
        """f = H lam."""
        if self._f is None:
            self._f = self.problem.scores(self.lam)
        return self._f

    def margin(self) -> float:
        margin = self.problem.margin(self.scores())
        self._forget_scores()
        return margin

    def edges(self) -> Vector:
        if self._binned is None:
            return self.problem.edges(self.u, self.w)
        if self._tally is None:
            self._tally = [self._binned.tally("pos", self.u), self._binned.tally("neg", self.w)]
        return self.problem.without_constants(self._binned.edges_of(*self._tally))

    def _few(self, j: int) -> Few | None:
        """The few values of a ranker, where they will do."""
        if j not in self._known:
            levels = self.problem.outputs.levels(j) if self._multiplies else None
            self._known[j] = None if levels is None else Few(levels, float(self.problem.shift[j]))
        return self._known[j]

    def _find_masses(self, j: int) -> None:
        """Sums of u and w by the code of ranker j."""
        if self._masses_of == j:
            return
        self._masses_of = j
        if self._tally is not None and self._binned is not None:
            self._masses = self._binned.masses_of(j, self._tally[0]), self._binned.masses_of(j, self._tally[1])
        else:
            outputs = self.problem.outputs
            self._masses = outputs.masses(j, "pos", self.u), outputs.masses(j, "neg", self.w)

    def step(self, j: int, sign: float) -> float:
        problem, objective = self.problem, self.problem.objective
        few = self._few(j)
        if few is not None:
            self._find_masses(j)
            step = few.step(problem, j, self._masses, sign)
            if step is not None:
                return step
        step = objective.step(self.scores(), self.u, self.w, problem.direction(j), sign)
        if few is not None:
            self._changed = math.inf  # weights are too uneven to be multiplied any further
        return step

    def move(self, j: int, step: float) -> None:
        problem, p = self.problem, self.problem.objective.p
        few = self._few(j)
        self._changed += p * abs(step) * float(problem.high[j] - problem.low[j])
        if self._f is not None:
            size = self._size()
            if _SHRUNK * size < self._widest:
                self._f, self._widest = problem.scores(self.lam), size
            else:
                self._f.advance(problem.direction(j), step, problem.objective.pool)
                self._widest = max(self._widest, size)
        if few is None or self._changed > _EXPONENTS or self._multiplied == _ROUNDS:
            self._masses_of = -1
            self._weigh()
            return
        self._find_masses(j)
        self._masses_of = -1
        self._multiplied += 1
        tables = np.exp(-step * few.by_code), np.exp(p * step * few.by_code)
        log_u, log_w = (self._multiply(j, side, tables[side]) for side in range(2))
        self.log_f += p * log_u + log_w
        self.log_mass += log_u + (log_w if self._v is None else self._multiply_v(j, np.exp(step * few.by_code)))

    def _multiply(self, j: int, side: int, table: Vector) -> float:
        """Multiply u or w by a table of ranker j, and by what makes its sum one again; log of the ratio of sums."""
        mass, weights = self._masses[side], (self.u, self.w)[side]
        total = dot(mass, table)
        table = table / total
        self.problem.outputs.multiply(j, SIDES[side], table, weights)
        if self._tally is not None and self._binned is not None:
            self._tally[side] = self._binned.retally(j, SIDES[side], table, weights, self._tally[side])
        return math.log(total) - math.log(float(mass.sum()))

    def _multiply_v(self, j: int, table: Vector) -> float:
        """The same for the weights of negatives at p = 1, which only z asks for; these are not made to sum to one."""
        assert self._v is not None
        before = self._v_total
        self._v_total = self.problem.outputs.multiply(j, "neg", table, self._v)
        return math.log(self._v_total) - math.log(before)
