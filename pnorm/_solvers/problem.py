"""The checked problem: two sides of rows, and the objective over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Groups, Vector
from pnorm._checks.records import record
from pnorm._core import _dense
from pnorm._solvers.forming import Point, formed
from pnorm._solvers.of_rows import (
    _ratios,
    extremes,
    is_level,
    precise_scores,
    ratios,
    rounding_of_scores,
    scores,
    stats,
    totals,
)
from pnorm._solvers.reductions import (
    NAMES,
    Executor,
    FormedWeights,
    HeldWeights,
    InMemory,
    Job,
    Rows,
    Weighted,
    Weights,
)
from pnorm._storage.base import Table, rounding
from pnorm._storage.combined import Negated
from pnorm._threads import SERIAL, Pool
from pnorm.objectives._base import FAR_FROM_ZERO, Objective, Scores
from pnorm.objectives._pnorm_line import CLOSE, Direction

# Rankers tie if their edges differ by at most this share of the outputs of the best one. Complementary and duplicate
# columns differ only by rounding, and the lowest index must win on every machine. The share is not of the largest
# output of all columns, or one column of milliseconds would make all rankers tie.
TIE = 1e-10

_EXTREME = 320.0
"""Largest |log c| of both sides for which squares of sums of weighted losses do not overflow: weights up to 1e139."""


def _skeleton(rows: Rows) -> Table:
    """One row of a part, whose table contains the meaning of the codes."""
    return rows.table.select_rows(slice(0, 1))  # type: ignore[no-any-return]


Before = Callable[[], tuple[list[Table], Vector]]
"""A function that returns the tables of both sides before a scaling, and the factors of the scaling."""


# The problem ---------------------------------------------------------------------------------------


@record(frozen=True, eq=False)
class Side:
    """All rows of one side that count, in parts."""

    name: str
    parts: Sequence[Any]
    """Handles of `Rows`: in memory, the rows themselves."""
    spans: Sequence[slice]
    """The places of the rows of each part among all rows."""
    low: Vector
    """Smallest output of every ranker."""
    high: Vector
    max_log_c: float
    """Largest |log c| of the weights that the parts keep."""
    counts: Vector
    """Rows by the codes of every feature."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.spans[-1].stop)

    @classmethod
    def of_rows(cls, rows: Rows) -> Side:
        """All rows of a side in one part."""
        n, low, high, size, counts, _ = stats(rows)[0]
        return cls(rows.name, [rows], [slice(0, n)], low, high, size, counts)

    @classmethod
    def of_stats(cls, name: str, parts: Sequence[Any], known: Sequence[Any]) -> Side:
        """Merge the stats of parts; those without rows are left out."""
        there = [(part, fact) for part, fact in zip(parts, known, strict=True) if fact is not None]
        if not there:
            raise ValueError(f"{name} has no rows that count: every partition is empty or has weight zero")
        n, low, high, size, counts, _ = zip(*[fact for _, fact in there], strict=True)
        spans = [slice(start, stop) for start, stop in pairwise(accumulate(n, initial=0))]
        merged = reduce(np.minimum, low), reduce(np.maximum, high), max(size), reduce(np.add, counts)
        return cls(name, [part for part, _ in there], spans, *merged)


class Problem:
    """The problem for a solver: two sides, an objective, and an executor of reductions over the rows."""

    def __init__(
        self,
        executor: Executor,
        sides: Sequence[Side],
        names: tuple[str, ...],
        objective: Objective,
        kept: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None,
        before: Before | None = None,
        offsets: Vector | None = None,
    ) -> None:
        self.executor, self.sides = executor, sides
        self.names, self.objective = names, objective
        self.kept = kept
        """The numbers of these rows among the user's rows, per side; None if all rows count."""
        self._before = before
        self.offsets_taken = offsets
        """Constants that were subtracted from the user's columns."""
        self.n_pos, self.n_neg, self.n_rankers = sides[0].n, sides[1].n, len(names)
        self.ranges = np.empty((8, self.n_rankers))
        """The following vectors as the rows of a matrix."""
        pos, neg = sides
        _dense.measure(pos.low, pos.high, neg.low, neg.high, CLOSE * objective.traits.p, self.ranges)
        # The smallest and the largest output of every ranker, their difference, and their middle, which is subtracted
        # from directions; the largest absolute output, and that of the centred ranker; sizes that decide when edges tie
        # and when outputs are equal.
        self.low, self.high, self.span, self.shift, self.largest, self.max_abs_centered, self.size, self.close = (
            self.ranges
        )
        _checks.spans(self.low, self.high, self.span, names)
        if objective.groups is not None and self.largest.max() > _checks.CUBED / objective.traits.p:
            j = int(self.largest.argmax())
            raise ValueError(
                f"the column {_checks.shown(names[j])} is as large as {self.largest[j]:.3g}, and its cube, which "
                "groups need, more than a float can hold; scale it first"
            )

    @classmethod
    def of_tables(
        cls,
        tables: Sequence[Table],
        names: tuple[str, ...],
        objective: Objective,
        kept: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None,
        pool: Pool = SERIAL,
        before: Before | None = None,
        offsets: Vector | None = None,
    ) -> Problem:
        """The problem of rows in memory."""
        groups = objective.groups
        codes = (None, None) if groups is None else (groups.pos, groups.neg)
        rows = [
            Rows(name, table.shape[0], table, None, own, (), pool)
            for name, table, own in zip(NAMES, tables, codes, strict=True)
        ]
        return cls(InMemory(pool), [Side.of_rows(of_side) for of_side in rows], names, objective, kept, before, offsets)

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Rankers whose outputs are all equal."""
        return np.equal(self.low, self.high)

    # Reductions over the rows

    @property
    def in_memory(self) -> bool:
        """Whether the rows lie in this process."""
        return self.executor.in_memory

    @property
    def forms_weights(self) -> bool:
        """Whether the parts form their weights from coefficients and a few sums, so no number per row is sent."""
        return not self.in_memory and self.objective.traits.factored and self.objective.groups is None

    @cached_property
    def table(self) -> Table:
        """A table of some rows, for data that do not depend on the rows: codes, and edges from totals."""
        part = self.sides[0].parts[0]
        return part.table if self.in_memory else self.executor.first(_skeleton, part)  # type: ignore[no-any-return]

    @cached_property
    def tables(self) -> list[Table]:
        """The outputs on both sides, of rows in memory."""
        return [side.parts[0].table for side in self.sides]

    @property
    def exchanged(self) -> bool:
        """Whether the first side has the user's negatives: the push is at the bottom."""
        return isinstance(self.table, Negated)

    def users_intercept(self, intercept: float) -> float:
        """Return the intercept for the user's scores, whose sign may be reversed."""
        return -intercept if self.exchanged else intercept

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each side; a row in several groups counts once."""
        groups = self.objective.groups
        return [self.n_pos, self.n_neg] if groups is None else groups.sizes

    @property
    def groups(self) -> Groups:
        """The query groups; one group of all rows if the objective has none."""
        return self.objective.groups or Groups(np.zeros(self.n_pos, np.intp), np.zeros(self.n_neg, np.intp), 1)

    def reduce(self, function: Any, *arguments: Any) -> list[Any]:
        """Return the results of a reduction over the rows of both sides; arguments are pairs, one for each side."""
        jobs = [Job(side.parts, tuple([pair[k] for pair in arguments])) for k, side in enumerate(self.sides)]
        return self.executor.reduce(function, jobs)

    def reduce_weighted(self, weights: Weights, function: Any, *arguments: Any) -> list[Any]:
        """Return the results of a reduction over the weighted rows of both sides; arguments are pairs, as above."""
        jobs = [
            weights.job(k, side.parts, side.spans, tuple([pair[k] for pair in arguments]))
            for k, side in enumerate(self.sides)
        ]
        return self.executor.reduce(Weighted(function), jobs)

    # Scores, value and weights

    def scores(self, lam: Vector) -> Scores:
        """f = H lam on both sides."""
        if not lam.any():
            return Scores(np.zeros(self.n_pos), np.zeros(self.n_neg))
        with np.errstate(over="ignore", invalid="ignore"):
            return Scores(*self.reduce(scores, (lam, lam)))

    def constant_at(self, lam: Vector) -> float:
        """Constant that is missing in the scores, compared with the user's, since columns are centred."""
        return 0.0 if self.offsets_taken is None else _dense.inner(np.ascontiguousarray(lam), self.offsets_taken)

    def middle(self, j: int) -> float:
        """The middle of the outputs of ranker j in the user's columns."""
        return float(self.shift[j]) + (0.0 if self.offsets_taken is None else float(self.offsets_taken[j]))

    def _precise_scores(self, lam: Vector) -> tuple[Scores, float]:
        """H lam minus a constant, computed in twice the working precision and then rounded; and the constant."""
        with np.errstate(over="ignore", invalid="ignore"):
            (pos, pos_rest), (neg, neg_rest) = self.reduce(precise_scores, (lam, lam))
            level = float(neg.max())
            f = Scores((pos - level) + pos_rest, (neg - level) + neg_rest)
        if np.isfinite(f.pos).all() and np.isfinite(f.neg).all():
            return f, level
        return self.scores(lam), 0.0  # beyond 2**996, where halves overflow

    def point(self, lam: Vector, precise: bool = False) -> Point:
        """The scores, the objective and the weights at lam."""
        if self.forms_weights:
            level = float(self.reduce(extremes, (lam, lam))[1][1]) if precise else None
            return formed(self, lam, level)[0]
        f, off = self._precise_scores(lam) if precise else (self.scores(lam), 0.0)
        u, w = np.empty(self.n_pos), np.empty(self.n_neg)
        found = self.objective.evaluate(f, u, w)
        sizes = None
        if precise:
            absolute = np.abs(f.pos), np.abs(f.neg)
            largest = max([float(part.max()) for part in absolute])
            sizes = float(u @ absolute[0]), float(w @ absolute[1]), largest
        weights = HeldWeights((u, w), found.within, found.share)
        intercept = found.intercept - off - self.constant_at(lam)
        return Point(lam, f, weights, found.log_f, found.log_mass, found.rate, intercept, precise, sizes)

    def uniform(self) -> Weights:
        """Weights that are equal for all rows of a group, and for all groups."""
        if self.forms_weights:
            totals = (0.0, float(self.n_pos)), (0.0, float(self.n_neg))
            return FormedWeights(np.zeros(self.n_rankers), (0.0, 0.0), totals)
        groups = self.groups
        u, w = [1.0 / np.bincount(codes, minlength=groups.n)[codes] for codes in (groups.pos, groups.neg)]
        return HeldWeights((u / groups.n, w / groups.n), (u, w), np.full(groups.n, 1.0 / groups.n))

    def near(self, old: Weights, new: Weights) -> bool:
        """Whether no weight has changed by more than a tenth."""
        if isinstance(old, HeldWeights) and isinstance(new, HeldWeights):
            found = [_ratios(a, b) for a, b in zip(old.total, new.total, strict=True)]
        else:
            found = self.reduce_weighted(new, ratios, (old, old))
        return all(low > 0.9 and high < 1.1 for low, high in found)

    def edges_at(self, point: Point) -> Vector:
        """<u, h_j> - <w, h_j> of every ranker, with the weights of a point."""
        pos, neg = self.reduce_weighted(point.weights, totals)
        return self.edges(pos - neg)

    def edges(self, totals: Vector) -> Vector:
        """Edges from the totals of u minus those of w; exactly zero for a constant ranker of any size."""
        return self.without_constants(self.table.edges(totals))

    def without_constants(self, edges: Vector) -> Vector:
        """The edges, exactly zero for a constant ranker."""
        edges[self.constant] = 0.0
        return edges

    def fall(self, point: Point) -> float:
        """Return the rate at which the convex form falls for each unit of a ranker's edge; zero without edges."""
        return self.objective.convex(point.log_f)[1] * point.rate if point.rate > 0.0 else 0.0

    # Differences of scores

    def margin(self, f: Scores) -> float:
        """Least difference of scores over all pairs: above zero, the scores separate strictly."""
        groups = self.objective.groups
        if groups is None:
            return float(f.pos.min() - f.neg.max())
        (pos, neg), extremes = groups.runs, (np.minimum, np.maximum)
        low, high = [
            extreme.reduceat(run.sort(values), run.starts[:-1])
            for extreme, run, values in zip(extremes, (pos, neg), (f.pos, f.neg), strict=True)
        ]
        return float((low - high).min())

    def margin_at(self, lam: Vector) -> float:
        """Least difference of the scores at lam over all pairs."""
        return self.margin(self.scores(lam) if self.objective.groups is not None else self.extremes_at(lam))

    def span_of(self, lam: Vector) -> float:
        """Largest minus smallest score over both sides."""
        f = self.extremes_at(lam)
        return float(max(f.pos[1], f.neg[1]) - min(f.pos[0], f.neg[0]))

    def extremes_at(self, lam: Vector) -> Scores:
        """The smallest and the largest score of either side."""
        return Scores(*[np.array(low_and_high) for low_and_high in self.reduce(extremes, (lam, lam))])

    def separation(self, point: Point) -> float:
        """The margin of a point if it is above zero by more than rounding, else zero."""
        margin = self.margin(point.f)
        if 0.0 < margin <= 4.0 * rounding(point.lam, self.largest):
            exact, factors = self.unscaled or (self, 1.0)
            margin = exact.margin(exact.point(factors * point.lam, precise=True).f)
        return max(margin, 0.0)

    def check_exponents(self, lam: Vector) -> None:
        """Refuse coefficients whose scores are too far apart."""
        with np.errstate(over="ignore", invalid="ignore"):
            f = self.extremes_at(lam)
            _checks.exponents(self.objective.traits.p, f.pos, f.neg)

    # One ranker

    def least_edges(self, tol: float) -> Vector:
        """Return the sizes of edges that are taken as zero, in the units of the rankers."""
        return np.asarray(tol * self.span)

    def tie_tolerance(self, merit: Vector) -> float:
        """Return the difference from the best edge up to which a ranker ties with it."""
        return TIE * float(self.size[int(merit.argmax())])

    def gap(self, j: int, sign: float) -> float:
        """Return the least difference over all pairs of outputs of ranker j times the sign, ignoring groups."""
        pos, neg = self.sides
        return self.opening(j, float(pos.low[j] - neg.high[j] if sign > 0.0 else neg.low[j] - pos.high[j]))

    def opening(self, j: int, gap: float) -> float:
        """Return a least difference of outputs of ranker j; zero if it is too small for any step."""
        return gap if abs(gap) > self.close[j] else 0.0

    def direction(self, j: int, pos: Vector, neg: Vector, binary: bool) -> Direction:
        """Ranker j, given its centred outputs."""
        shift = float(self.shift[j])
        pos_low, pos_high, neg_low, neg_high = [
            float(end[j]) - shift for side in self.sides for end in (side.low, side.high)
        ]
        if self.objective.groups is None:
            up, down = self.gap(j, 1.0), self.gap(j, -1.0)
        else:
            up, down = [self.opening(j, self.margin(f)) for f in (Scores(pos, neg), Scores(-pos, -neg))]
        return Direction(pos, neg, pos_low, pos_high, neg_low, neg_high, up, down, binary, float(self.close[j]))

    # Columns

    def check_magnitudes(
        self, l2: float = 0.0, lam: Vector | None = None, name: str = "init", ranker: int | None = None
    ) -> None:
        """Refuse numbers whose squares overflow, since second moments and penalties need them.

        `ranker` is the ranker of l2, if l2 is in units of the outputs of a ranker.
        """
        if 0.0 < l2 < 1.0 / _checks.ROOT and ranker is not None:
            raise ValueError(
                f"the column {_checks.shown(self.names[ranker])} spans only {self.span[ranker]:.3g}: with "
                f"penalty='shapes' the l2 of its coefficient, l2 times the square of that, is {l2:.3g}, and must be "
                f"at least {1.0 / _checks.ROOT:g}; scale the column to a range of about one"
            )
        if 0.0 < l2 < 1.0 / _checks.ROOT:
            raise ValueError(f"l2 must be zero, or at least {1.0 / _checks.ROOT:g}; got {l2:g}")
        j = int(self.largest.argmax())
        if self.largest[j] > _checks.SQUARED / math.sqrt(self.objective.traits.p):
            raise ValueError(
                f"the column {_checks.shown(self.names[j])} is as large as {self.largest[j]:.3g}, and its square, "
                "times p, more than a float can hold; scale it first"
            )
        spans = np.where(self.constant, 1.0, self.span)
        j = int(spans.argmin())
        if spans[j] < 1.0 / _checks.SQUARED:
            raise ValueError(
                f"the column {_checks.shown(self.names[j])} spans only {spans[j]:.3g}, and the square of that is "
                "less than a float can hold; scale it first"
            )
        if lam is not None and l2 > 0.0 and np.abs(lam).max() > _checks.ROOT / math.sqrt(max(l2, 1.0)):
            raise ValueError(
                f"{name} is as large as {np.abs(lam).max():.3g}, and l2 times its square more than a float can hold"
            )
        if not self.objective.traits.factored and sum(self.objective.sizes()) > _EXTREME:
            raise ValueError(
                "pos_weight and neg_weight are so large or so small that sums of losses leave what a float can hold; "
                "scale them to about one"
            )

    def offsets(self) -> Vector:
        """Return offsets that prevent cancellation: the middle of columns far from zero, and zero for others."""
        return np.where(self._far_from_zero(), self.shift, 0.0)

    def _far_from_zero(self) -> NDArray[np.bool_]:
        return np.abs(self.shift) / FAR_FROM_ZERO > self.span

    def unit_coefficients(self) -> Vector:
        """Coefficients that give every ranker a range of one, and constant ones zero."""
        span = self.span
        return np.asarray(np.divide(1.0, span, out=np.zeros_like(span), where=~self.constant))

    def rounding_of_scores(self, lam: Vector) -> float:
        """A bound on the rounding error of all scores."""
        if not self.in_memory:
            return rounding(lam, self.largest)
        return float(max(self.reduce(rounding_of_scores, (lam, lam), (self.largest, self.largest))))

    # Other problems

    @cached_property
    def unscaled(self) -> tuple[Problem, Vector] | None:
        """The problem of the user's columns before scaling, and factors; None if nothing is scaled.

        The output of a ranker is its factor times the column plus an offset, up to rounding. Properties that do not
        depend on the scale, such as the existence of a minimiser, are decided in this problem.
        """
        if self._before is None:
            return None
        tables, factors = self._before()
        try:
            problem = Problem.of_tables(tables, self.names, self.objective, self.kept, self.sides[0].parts[0].pool)
            problem.check_magnitudes()
        except ValueError:  # squares of these columns overflow unless they are scaled
            return None
        return problem.centred(), factors

    def centred(self) -> Problem:
        """The problem with columns far from zero moved to zero (copies), so that scores and edges keep their digits."""
        if not self._far_from_zero().any():
            return self
        far = self.offsets()
        parts = [self.executor.changed(Rows.subtract, side.parts, far) for side in self.sides]
        sides = described(self.executor, parts)[0]
        return Problem(self.executor, sides, self.names, self.objective, self.kept, self._before, far)

    def take(self, pos: Any, neg: Any) -> Problem:
        """The problem on some of the rows in memory, given by their places."""

        def some(tables: Sequence[Table]) -> list[Table]:
            return [table.select_rows(rows) for table, rows in zip(tables, (pos, neg), strict=True)]

        def before() -> tuple[list[Table], Vector]:
            assert self._before is not None
            tables, factors = self._before()
            return some(tables), factors

        pool, objective = self.sides[0].parts[0].pool, self.objective.select_rows(pos, neg)
        return Problem.of_tables(
            some(self.tables),
            self.names,
            objective,
            None,
            pool,
            None if self._before is None else before,
            self.offsets_taken,
        )

    def at_level(self, lam: Vector, level: Vector) -> tuple[Problem, Any]:
        """The problem on the rows in parts with the score of their group's level; and the places of its negatives.

        The places are None if the parts keep all data of a row, since they are not needed then.
        """
        objective, neg = self.objective, None
        if not self.forms_weights:
            pos, neg = [np.flatnonzero(on) for on in self.reduce(is_level, (lam, lam), (level, level))]
            objective = objective.select_rows(pos, neg)
        parts = [self.executor.changed(Rows.at_level, side.parts, lam, level) for side in self.sides]
        sides = described(self.executor, parts)[0]
        return Problem(self.executor, sides, self.names, objective, offsets=self.offsets_taken), neg

    def columns(self, which: NDArray[np.intp]) -> Problem:
        """The problem of some of the weak rankers, whose outputs are copied."""
        parts = [self.executor.changed(Rows.columns, side.parts, which) for side in self.sides]
        names = tuple([self.names[j] for j in which.tolist()])
        return Problem(self.executor, described(self.executor, parts)[0], names, self.objective)

    def with_objective(self, objective: Objective) -> Problem:
        """The problem with another objective over the same rows; both share the outputs."""
        return Problem(self.executor, self.sides, self.names, objective, self.kept, self._before, self.offsets_taken)

    def spread(self, values: Any, side: int, fill: Any) -> Any:
        """Values of the rows of one side as values of the user's rows; rows that were left out get `fill`."""
        return _checks.spread(values, self.kept and self.kept[side], fill)


def described(executor: Executor, parts: Sequence[Sequence[Any]]) -> tuple[list[Side], list[Any]]:
    """Return both sides, given the handles of their parts, and the statistics of the parts."""
    known = executor.reduce(stats, [Job(handles) for handles in parts])
    sides = [Side.of_stats(*of_side) for of_side in zip(NAMES, parts, known, strict=True)]
    return sides, known


# From the user's rows ------------------------------------------------------------------------------
