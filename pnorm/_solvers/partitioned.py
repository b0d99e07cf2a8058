"""Rows that lie in partitions, on a cluster or anywhere: what a worker does with one, and what follows from all.

A worker keeps the outputs of its rows and nothing else. Every question to it carries all it needs to know,
coefficients and a few sums over all rows, so that a lost worker takes nothing along, and a partition
read again elsewhere gives the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

import numpy as np

from pnorm import _checks
from pnorm._categories import Seen, tell
from pnorm._checks import Vector
from pnorm._core import _tilt
from pnorm._solvers.descent import Few
from pnorm._solvers.hessian import means
from pnorm._solvers.problem import Extremes, Known, Point, Weights, close, ratios, twofold
from pnorm._solvers.reductions import Part, question
from pnorm._storage import choose as _storage
from pnorm._storage.base import SIDES, Outputs, Side
from pnorm._storage.coded import Binned, Levels
from pnorm.objectives._base import PNorm, Scores
from pnorm.objectives._pnorm_line import Kernel, Line
from pnorm.objectives._pnorm_line import Side as Tilted
from pnorm.rankers import Rankers

_NONE = np.empty(0)

# On a worker ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one partition that count."""

    side: Side
    n: int
    outputs: Any
    """`Outputs`, of which the other side is one row and never asked; None where no row counts."""
    log_c: Vector | None
    """Logarithms of case weights."""
    seen: Sequence[Seen] = ()
    """What values of its columns were no levels."""

    def scores(self, lam: Vector) -> Vector:
        """H lam: to be read only."""
        if not lam.any():
            return np.zeros(self.n)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.outputs.combine(lam, (self.side,))[0]  # type: ignore[no-any-return]

    def scores_less(self, lam: Vector, level: float | None) -> Vector:
        """The same less a level, as though formed in twice the working precision, if one is given."""
        if level is None:
            return self.scores(lam)
        f, rest = twofold(self.outputs, self.side, lam)
        return (f - level) + rest

    def weights(self, f: Vector, scale: float, total: tuple[float, float]) -> Vector:
        """Exponentials of scores over their sum over all rows of the side; a scale of zero counts all rows alike."""
        weights = np.empty(self.n)
        top, _ = _tilt.weigh(f, self.log_c if scale else None, weights, scale, 0, self.n)
        _tilt.rescale_rows(weights, math.exp(top - total[0]) / total[1], 0, self.n)
        return weights


def stored(X: Any, weight: Any, rankers: Rankers, side: Side, number: int, declared: float = math.nan) -> Rows:
    """The rows of partition `number` as a worker keeps them; as many as were declared, if it is a number."""
    try:
        n = X.shape[0]
        if not math.isnan(declared) and n != declared:
            raise ValueError(
                f"it has {n} rows, and its chunk in {side}.chunks is of {declared:.0f}: give what makes it the chunks "
                f"that it makes, or let {side}.compute_chunk_sizes() count them"
            )
        c = None if weight is None else _checks.weights(weight, f"{side}_weight", n, some=False)
        if n == 0 or (c is not None and not c.any()):
            return Rows(side, 0, None, None)
        head, everything = _checks.rows(X, np.zeros(1, np.intp)), np.arange(len(rankers))
        pieces = rankers._pieces(*((X, head) if side == "pos" else (head, X)), everything)
    except (ValueError, TypeError) as error:
        other = f"{SIDES[1 - SIDES.index(side)]} "  # that of the one row which stands for the other side
        text = f"{side} {str(error).removeprefix(other)}" if str(error).startswith(other) else str(error)
        kind = ValueError if isinstance(error, ValueError) else TypeError  # not theirs, which may take other arguments
        raise kind(f"partition {number} of {side}: {text}") from error
    seen = [of_sides[SIDES.index(side)] for of_sides in _storage.seen(pieces)]
    log_c = None
    if c is not None:
        keep, one = c > 0.0, np.ones(1, bool)
        pieces = _storage.taken(pieces, *((keep, one) if side == "pos" else (one, keep)))
        log_c, n = np.log(c[keep]), int(keep.sum())
    return Rows(side, n, _storage.store(pieces, recode=False), log_c, seen)


def less(rows: Rows, shift: Vector) -> Rows:
    """The same rows, a constant taken off every ranker."""
    return Rows(rows.side, rows.n, rows.outputs.less(shift), rows.log_c, rows.seen)


@question("list")
def facts(rows: Rows) -> list[Any]:
    """What is known of a partition before anything is asked; in a list, for one of all partitions."""
    if rows.n == 0:
        return [None]
    out, side = rows.outputs, rows.side
    counts = out.by_feature(side, np.ones(rows.n)) if isinstance(out, Binned) else None
    largest = 0.0 if rows.log_c is None else float(np.abs(rows.log_c).max())
    return [(rows.n, getattr(out, f"{side}_low"), getattr(out, f"{side}_high"), largest, counts, rows.seen)]


def _alike(before: tuple[Any, ...] | None, after: tuple[Any, ...] | None) -> bool:
    """Whether two facts are of the same rows, to within what other processors round."""
    if before is None or after is None:
        return before is after
    span = np.max([np.abs(facts[k]) for facts in (before, after) for k in (1, 2)], axis=0)
    close = all((np.abs(before[k] - after[k]) <= 1e-9 * span).all() for k in (1, 2))
    return close and before[0] == after[0] and bool(np.array_equal(before[4], after[4]))


def skeleton(rows: Rows) -> Outputs:
    """One row of a partition, which has all that codes mean."""
    one = slice(0, 1)
    return rows.outputs.take(one, one)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Where(Weights):
    """Weights that every partition forms by itself: at some coefficients, given the sums over all rows."""

    lam: Vector
    scales: tuple[float, float]
    """Scores enter the exponents of positives and of negatives times these."""
    totals: tuple[tuple[float, float], tuple[float, float]]
    """Sums over all rows, as the largest exponent and what is left when it is taken out: the log has fewer digits."""
    level: float | None = None
    """Where scores are formed in twice the working precision, what is taken off them."""


def _part(rows: Rows, where: Where) -> Part:
    side = SIDES.index(rows.side)
    weights = rows.weights(rows.scores_less(where.lam, where.level), where.scales[side], where.totals[side])
    return Part(rows.side, rows.outputs, None, weights, weights)


class Asked:
    """A question of `_parts` to rows whose weights have to be formed first."""

    def __init__(self, question: Any) -> None:
        self._question, self.merge = question, question.merge

    def __call__(self, rows: Rows, where: Where, *arguments: Any) -> Any:
        """Form the weights, and ask."""
        return self._question(_part(rows, where), *arguments)


@question("least", "largest", "exponentials", "exponentials")
def look(rows: Rows, lam: Vector, level: float | None, of_rankers: bool, scales: tuple[float, ...]) -> Any:
    """Extremes of the scores; sums of exponentials for the first scale, and for the last.

    With the first go the sums of all rankers, by code where that says it all, or those of |f|.
    """
    f, out = rows.scores_less(lam, level), rows.outputs
    weights = [np.empty(rows.n) for _ in scales]
    sums = [_tilt.weigh(f, rows.log_c, w, scale, 0, rows.n) for w, scale in zip(weights, scales, strict=True)]
    if of_rankers:
        more = (out.by_feature if isinstance(out, Binned) else out.sums)(rows.side, weights[0])
    else:
        more = float(weights[0] @ np.abs(f))
    top, total = sums[0]
    return float(f.min()), float(f.max()), (top, np.r_[total, more]), sums[-1]


@question("least", "largest")
def ends(rows: Rows, lam: Vector) -> tuple[float, float]:
    """Extremes of scores."""
    f = rows.scores(lam)
    return float(f.min()), float(f.max())


@question("sum")
def counts(rows: Rows, j: int) -> Vector:
    """Rows by the code of ranker j."""
    return np.asarray(rows.outputs.masses(j, rows.side, np.ones(rows.n)))


@question("sum")
def masses(rows: Rows, where: Where, j: int) -> Vector:
    """Sums of weights by the code of ranker j."""
    return np.asarray(rows.outputs.masses(j, rows.side, _part(rows, where).total))


@question("least", "largest")
def changes(rows: Rows, old: Where, new: Where) -> tuple[float, float]:
    """Least and largest ratio of weights."""
    return ratios(_part(rows, old).total, _part(rows, new).total)


@question("list")
def along(rows: Rows, where: Where, j: int, shift: float, kernel: Kernel) -> list[Any]:
    """What a kernel of the line search says."""
    side, f = SIDES.index(rows.side), rows.scores(where.lam)
    scale = where.scales[side]
    columns = [np.empty(n) for n in rows.outputs.shape[:2]]
    rows.outputs.column(j, shift, *columns)
    weights = rows.weights(f, scale, where.totals[side])
    return [kernel(Tilted(f, columns[side], rows.log_c, weights, scale), 0, rows.n)]


# Where the loop runs -------------------------------------------------------------------------------


class Crew(Protocol):
    """Those who keep partitions and answer questions about them."""

    def ask(self, asked: Any, sides: Sequence[tuple[Sequence[Any], tuple[Any, ...]]]) -> list[Any]:
        """The answers of several lists of partitions, to one question with arguments for each, merged in order."""

    def changed(self, function: Any, rows: Sequence[Any], *arguments: Any) -> list[Any]:
        """Other rows in the place of some."""

    def one(self, function: Any, rows: Any) -> Any:
        """What a function says of one partition."""


class _Push(PNorm):
    """The P-Norm Push of rows that are elsewhere."""

    def __init__(self, p: float, sizes: tuple[float, float]) -> None:
        super().__init__(p, None, None)
        self._sizes = sizes

    def sizes(self) -> tuple[float, float]:
        """Largest |log c| on either side."""
        return self._sizes


class Partitioned(Known):
    """A problem whose rows are kept by a crew."""

    def __init__(self, crew: Crew, pos: Sequence[Any], neg: Sequence[Any], names: tuple[str, ...], p: float) -> None:
        self.crew = crew
        self._all = (pos, ()), (neg, ())
        self._known = known = crew.ask(facts, self._all)
        shape, low_and_high, sizes = [], [], []
        self._rows: list[list[Any]] = []
        self._counts: list[Any] = []
        columns: list[Seen] = []
        for name, handles, of_side in zip(SIDES, (pos, neg), known, strict=True):
            there = [(handle, fact) for handle, fact in zip(handles, of_side, strict=True) if fact is not None]
            if not there:
                raise ValueError(f"{name} has no rows that count: every partition is empty, or has weight zero")
            n, low, high, largest, by_code, seen = zip(*(fact for _, fact in there), strict=True)
            shape.append(sum(n))
            low_and_high += [np.min(low, axis=0), np.max(high, axis=0)]
            sizes.append(max(largest))
            self._rows.append([handle for handle, _ in there])
            columns += [reduce(add, of_column) for of_column in zip(*seen, strict=True)]
            self._counts.append(None if by_code[0] is None else np.sum(by_code, axis=0))
        half = len(columns) // 2
        tell(map(add, columns[:half], columns[half:]))
        self.skeleton = crew.one(skeleton, self._rows[0][0])
        objective = _Push(p, (sizes[0], sizes[1]))
        super().__init__((shape[0], shape[1], len(names)), Extremes(*low_and_high), names, objective)

    def check_unchanged(self) -> None:
        """Refuse rows that are no longer what they were at first, as those of a source that changes may be."""
        for name, before, after in zip(SIDES, self._known, self.crew.ask(facts, self._all), strict=True):
            for k, (a, b) in enumerate(zip(before, after, strict=True)):
                if not _alike(a, b):
                    raise ValueError(
                        f"partition {k} of {name} has changed since it was read at first, and coefficients that "
                        "follow from both mean nothing. Rows are read again where a worker is lost: make the source "
                        f"say the same each time (a seed, a file), or keep the rows: {name} = {name}.persist()"
                    )

    @property
    def _scales(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        p = self.objective.p
        return (-1.0,), (p,) if p == 1.0 else (p, 1.0)

    def ask(self, asked: Any, *arguments: tuple[Any, Any]) -> list[Any]:
        """What the rows of either side answer; arguments are pairs, one for each side."""
        return self.crew.ask(asked, list(zip(self._rows, zip(*arguments, strict=True), strict=True)))

    def state(self, lam: Vector, level: float | None = None, of_rankers: bool = False) -> State:
        """What the scores at some coefficients are worth."""
        (pos_low, pos_high, u, _), (neg_low, neg_high, w, v) = self.ask(
            look, (lam, lam), (level, level), (of_rankers, of_rankers), self._scales
        )
        f = Scores(np.array([pos_low, pos_high]), np.array([neg_low, neg_high]))
        of_u, of_w, of_v = ((float(top), float(np.ravel(sums)[0])) for top, sums in (u, w, v))
        return State(f, of_u, of_w, of_v, u[1][1:] / of_u[1], w[1][1:] / of_w[1])

    def where(self, lam: Vector, state: State, level: float | None = None) -> Where:
        """The weights at some coefficients."""
        scales, totals = (-1.0, self.objective.p), (state.total_u, state.total_w)
        return Where((_NONE, _NONE), (_NONE, _NONE), np.ones(1), lam.copy(), scales, totals, level)

    def point(self, lam: Vector, precise: bool = False) -> Point:
        level = float(self._extremes(lam)[1][1]) if precise else None
        here, p = self.state(lam, level), self.objective.p
        sizes = None
        if precise:
            largest = max(float(np.abs(part).max()) for part in (here.f.pos, here.f.neg))
            sizes = float(here.u[0]), float(here.w[0]), largest
        return Point(lam, here.f, self.where(lam, here, level), here.log_f(p), here.log_mass, p, precise, sizes)

    def uniform(self) -> Weights:
        totals = (0.0, float(self.n_pos)), (0.0, float(self.n_neg))
        return Where((_NONE, _NONE), (_NONE, _NONE), np.ones(1), np.zeros(self.n_rankers), (0.0, 0.0), totals)

    def of_rows(self, weights: Weights, asked: Any, *arguments: tuple[Any, Any]) -> list[Any]:
        return self.ask(Asked(asked), (weights, weights), *arguments)

    def near(self, old: Weights, new: Weights) -> bool:
        return all(close(*extremes) for extremes in self.ask(changes, (old, old), (new, new)))

    def edges_at(self, point: Point) -> Vector:
        (pos,), (neg,) = self.of_rows(point.weights, means, (1, 1))
        return self.without_constants(pos - neg)

    def _extremes(self, lam: Vector) -> list[tuple[float, float]]:
        return self.ask(ends, (lam, lam))

    def check_exponents(self, lam: Vector) -> None:
        """Refuse coefficients whose scores are too far apart."""
        with np.errstate(over="ignore", invalid="ignore"):
            pos, neg = (np.array(low_and_high) for low_and_high in self._extremes(lam))
            _checks.exponents(self.objective.p, pos, neg)

    def span_of(self, lam: Vector) -> float:
        (pos_low, pos_high), (neg_low, neg_high) = self._extremes(lam)
        return float(max(pos_high, neg_high) - min(pos_low, neg_low))

    def margin_at(self, lam: Vector) -> float:
        (pos_low, _), (_, neg_high) = self._extremes(lam)
        return float(pos_low - neg_high)

    def centred(self) -> Partitioned:
        """The same problem, columns far from zero moved there."""
        far = self.far()
        if not far.any():
            return self
        moved = [self.crew.changed(less, rows, far) for rows in self._rows]
        return Partitioned(self.crew, moved[0], moved[1], self.names, self.objective.p)

    # One ranker

    def levels(self, j: int) -> Levels | None:
        """The few values of ranker j, with the number of rows that have them, if they are few."""
        known = self.skeleton.levels(j)
        if known is None:
            return None
        if isinstance(self.skeleton, Binned):
            cells = self.skeleton.cells_of(j)
            return Levels(known.values, *(by_code[cells] for by_code in self._counts))
        return Levels(known.values, *self.ask(counts, (j, j)))

    def step(self, where: Where, j: int, sign: float, binary: bool) -> float:
        """The step along ranker j, from sums over all rows, each of which is a question."""
        shift = float(self.shift[j])

        def each(kernel: Kernel) -> tuple[list[Any], list[Any]]:
            pos, neg = self.ask(along, (where, where), (j, j), (shift, shift), (kernel, kernel))
            return pos, neg

        return Line(self.objective.p, each, self.along(j, _NONE, _NONE, binary), sign).step()


@dataclass(frozen=True, eq=False)
class State:
    """What scores are worth, and means of what went with the sums: of all rankers, or of |f|."""

    f: Scores
    """Their extremes."""
    total_u: tuple[float, float]
    total_w: tuple[float, float]
    total_v: tuple[float, float]
    u: Vector
    w: Vector

    def log_f(self, p: float) -> float:
        """log F_p."""
        return p * _log(self.total_u) + _log(self.total_w)

    @property
    def log_mass(self) -> float:
        """log of the sum of q over all pairs."""
        return _log(self.total_u) + _log(self.total_v)


def _log(total: tuple[float, float]) -> float:
    return total[0] + math.log(total[1])


class Remote:
    """The state of rows in partitions after each round: what one question to all of them says."""

    def __init__(self, problem: Partitioned, lam: Vector) -> None:
        self.problem, self.lam = problem, lam
        self._known: dict[int, Few | None] = {}
        self._look()
        _checks.exponents(problem.objective.p, self._state.f.pos, self._state.f.neg)

    def _look(self) -> None:
        self._state = self.problem.state(self.lam, of_rankers=True)
        self.log_f, self.log_mass = self._state.log_f(self.problem.objective.p), self._state.log_mass

    def edges(self) -> Vector:
        difference, codes = self._state.u - self._state.w, self.problem.skeleton
        edges = codes.edges_by_feature(difference) if isinstance(codes, Binned) else difference
        return self.problem.without_constants(edges)

    def margin(self) -> float:
        return self.problem.margin(self._state.f)

    def _few(self, j: int) -> Few | None:
        if j not in self._known:
            levels = self.problem.levels(j)
            self._known[j] = None if levels is None else Few(levels, float(self.problem.shift[j]))
        return self._known[j]

    def step(self, j: int, sign: float) -> float:
        problem, few = self.problem, self._few(j)
        where = problem.where(self.lam, self._state)
        if few is not None:
            if isinstance(problem.skeleton, Binned):
                cells = problem.skeleton.cells_of(j)
                by_code = [self._state.u[cells], self._state.w[cells]]
            else:
                by_code = problem.ask(masses, (where, where), (j, j))
            step = few.step(problem, j, by_code, sign)
            if step is not None:
                return step
        return problem.step(where, j, sign, few is not None and few.binary)

    def move(self, j: int, step: float) -> None:
        self._look()
