"""The checked problem: outputs of the weak rankers, and the objective over them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen, tell
from pnorm._checks import Vector
from pnorm._solvers.reductions import Part
from pnorm._storage import base as _outputs
from pnorm._storage import choose as _storage
from pnorm._storage.base import SIDES
from pnorm._text import first
from pnorm._threads import SERIAL, Pool
from pnorm._trace import Trace
from pnorm.objectives._base import FAR_FROM_ZERO, Cases, Objective, Scores, cases, spread
from pnorm.objectives._pnorm_line import CLOSE, Direction
from pnorm.rankers import Rankers, as_rankers

# Rankers whose edges are this close, as a share of the best one's outputs, tie: complementary and
# duplicate columns differ by rounding only, and the lowest index must win on every machine. The
# share is not of the largest output of all, or one column of milliseconds would tie with everything.
_TIE = 1e-10

_EXTREME = 320.0
"""|log c| of both sides, up to which squares of sums of weighted losses are numbers: weights to 1e139."""


@dataclass(frozen=True, eq=False)
class Weights:
    """u and w, and where there are groups their shares and the weights within them."""

    total: tuple[Vector, Vector]
    """u and w, each of sum one."""
    within: tuple[Vector, Vector]
    """The same, of sum one in every group; they do not underflow with the group's share."""
    share: Vector
    """(G,), of sum one."""


@dataclass(frozen=True, eq=False)
class Point:
    """What the objective says of one vector of coefficients."""

    lam: Vector
    f: Scores
    """The scores; where rows lie on a cluster, their extremes."""
    weights: Weights
    log_f: float
    log_mass: float
    rate: float
    """How fast log F_p falls along a ranker for each unit of its edge."""
    precise: bool
    """Whether the scores were formed in twice the working precision."""
    sizes: tuple[float, float, float] | None = None
    """u-mean and w-mean of the absolute scores, and the largest of these, where they are precise."""


@dataclass(frozen=True, eq=False)
class Extremes:
    """The least and the greatest output of every ranker on either side."""

    pos_low: Vector
    pos_high: Vector
    neg_low: Vector
    neg_high: Vector


class Known(ABC):
    """What is known of a problem, wherever its rows lie."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        ends: Extremes | _outputs.Outputs,
        names: tuple[str, ...],
        objective: Objective,
    ) -> None:
        self.null: Any = None
        """The null space of the outputs, once somebody has asked."""
        self.names = names
        self.objective = objective
        self.n_pos, self.n_neg, self.n_rankers = shape
        self.ends = ends
        self.low = np.minimum(ends.pos_low, ends.neg_low)
        self.high = np.maximum(ends.pos_high, ends.neg_high)
        _checks.spans(self.low, self.high, names)
        self.shift = self.low + 0.5 * (self.high - self.low)
        """The middle of every ranker's outputs, which directions are less."""
        self.constant = self.low == self.high
        self.largest = np.maximum(abs(self.low), abs(self.high))
        """Largest absolute output of every ranker."""
        if objective.groups is not None and self.largest.max() > _checks.CUBED / objective.p:
            j = int(self.largest.argmax())
            raise ValueError(
                f"the column {_checks.shown(names[j])} is as large as {self.largest[j]:.3g}, and its cube, which "
                "groups need, more than a float can hold; scale it first"
            )
        self.reach = np.maximum(self.high - self.shift, self.shift - self.low)
        """Largest absolute output of every ranker, centred."""
        self._size = np.minimum(self.largest, self.high - self.low)
        self._close = CLOSE * objective.p * self.reach

    # What depends on where the rows lie.

    @abstractmethod
    def point(self, lam: Vector, precise: bool = False) -> Point:
        """The scores at lam and what follows from them."""

    @abstractmethod
    def uniform(self) -> Weights:
        """Weights that count the rows of a group alike, and the groups alike."""

    @abstractmethod
    def of_rows(self, weights: Weights, asked: Callable[..., Any], *arguments: tuple[Any, Any]) -> list[Any]:
        """What the rows of either side answer to a question of `_parts`; arguments are pairs, one for each side."""

    @abstractmethod
    def near(self, old: Weights, new: Weights) -> bool:
        """Whether no weight has changed by more than a tenth."""

    @abstractmethod
    def edges_at(self, point: Point) -> Vector:
        """<u, h_j> - <w, h_j> of every ranker, with the weights of a point."""

    @abstractmethod
    def span_of(self, lam: Vector) -> float:
        """Greatest less least score over both sides."""

    @abstractmethod
    def margin_at(self, lam: Vector) -> float:
        """Least difference of scores over all pairs: above zero, they separate strictly."""

    # What follows from that.

    def fall(self, point: Point) -> float:
        """How fast what is convex falls along a ranker for each unit of its edge; zero where no edge is left."""
        return self.objective.convex(point.log_f)[1] * point.rate if point.rate > 0.0 else 0.0

    def margin(self, f: Scores) -> float:
        """Least difference of scores over all pairs: above zero, the scores separate strictly."""
        return float(f.pos.min() - f.neg.max())

    def separation(self, point: Point) -> float:
        """The margin of a point if it is above zero and no artefact of rounding, else zero."""
        margin = self.margin(point.f)
        error = _outputs.rounding(point.lam, self.largest)
        if 0.0 < margin <= 4.0 * error:
            margin = self.margin(self.point(point.lam, precise=True).f)
        return max(margin, 0.0)

    def moderate(self, l2: float = 0.0, lam: Vector | None = None, name: str = "init") -> None:
        """Refuse numbers whose squares overflow, which second moments and penalties are made of."""
        if 0.0 < l2 < 1.0 / _checks.ROOT:
            raise ValueError(f"l2 must be zero, or at least {1.0 / _checks.ROOT:g}; got {l2:g}")
        j = int(self.largest.argmax())
        if self.largest[j] > _checks.SQUARED / math.sqrt(self.objective.p):
            raise ValueError(
                f"the column {_checks.shown(self.names[j])} is as large as {self.largest[j]:.3g}, and its square, "
                "times p, more than a float can hold; scale it first"
            )
        spans = np.where(self.constant, 1.0, self.high - self.low)
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
        if not self.objective.factored and sum(self.objective.sizes()) > _EXTREME:
            raise ValueError(
                "pos_weight and neg_weight are so large or so small that sums of losses leave what a float can hold; "
                "scale them to about one"
            )

    def far(self) -> Vector:
        """What to take off columns far from zero, so that scores keep their digits; zero for others."""
        return np.where(np.abs(self.shift) / FAR_FROM_ZERO > self.high - self.low, self.shift, 0.0)

    def of_size_one(self) -> Vector:
        """Coefficients that give every ranker a range of one, and constant ones zero."""
        span = self.high - self.low
        return np.asarray(np.divide(1.0, span, out=np.zeros_like(span), where=~self.constant))

    def rounding_of_scores(self, lam: Vector) -> float:
        """A bound on the rounding error of all scores."""
        return _outputs.rounding(lam, self.largest)

    def without_constants(self, edges: Vector) -> Vector:
        """The edges, exactly zero for a constant ranker, whatever its size."""
        edges[self.constant] = 0.0
        return edges

    def slack(self, merit: Vector) -> float:
        """How far below the best edge a ranker still ties with it."""
        return _TIE * float(self._size[int(merit.argmax())])

    def gap(self, j: int, sign: float) -> float:
        """Least score difference over all pairs along a step of the given sign."""
        ends = self.ends
        low, high = (ends.pos_low, ends.neg_high) if sign > 0.0 else (ends.neg_low, ends.pos_high)
        return self._opening(j, float(low[j] - high[j]))

    def _opening(self, j: int, gap: float) -> float:
        """A least difference of the outputs of ranker j; zero where no step that a double holds makes it another."""
        return gap if abs(gap) > self._close[j] else 0.0

    def along(self, j: int, pos: Vector, neg: Vector, binary: bool) -> Direction:
        """Ranker j, given its centred outputs."""
        ends, shift = self.ends, float(self.shift[j])
        pos_low, pos_high, neg_low, neg_high = (
            float(x[j]) - shift for x in (ends.pos_low, ends.pos_high, ends.neg_low, ends.neg_high)
        )
        gap_up, gap_down = Known.gap(self, j, 1.0), Known.gap(self, j, -1.0)
        close = float(self._close[j])
        return Direction(pos, neg, pos_low, pos_high, neg_low, neg_high, gap_up, gap_down, binary, close)


class Problem(Known):
    """All that a solver ever sees. Its data never change; two scratch columns are reused."""

    def __init__(
        self,
        outputs: _outputs.Outputs,
        names: tuple[str, ...],
        objective: Objective,
        kept: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None,
    ) -> None:
        super().__init__(outputs.shape, outputs, names, objective)
        self.kept = kept
        """Which of the user's rows these are, per side; None where all are."""
        self.outputs = outputs
        self._binary: dict[int, bool] = {}
        self._column = (np.empty(self.n_pos), np.empty(self.n_neg))
        self._direction: tuple[int, Direction] | None = None

    def scores(self, lam: Vector) -> Scores:
        """f = H lam on both sides."""
        if not lam.any():
            return Scores(np.zeros(self.n_pos), np.zeros(self.n_neg))
        with np.errstate(over="ignore", invalid="ignore"):
            return Scores(*self.outputs.combine(lam))

    def point(self, lam: Vector, precise: bool = False) -> Point:
        f = _precise_scores(self.outputs, lam) if precise else self.scores(lam)
        u, w = np.empty(self.n_pos), np.empty(self.n_neg)
        worth = self.objective.weigh(f, u, w)
        sizes = None
        if precise:
            absolute = np.abs(f.pos), np.abs(f.neg)
            largest = max(float(part.max()) for part in absolute)
            sizes = float(u @ absolute[0]), float(w @ absolute[1]), largest
        weights = Weights((u, w), worth.within, worth.share)
        return Point(lam, f, weights, worth.log_f, worth.log_mass, worth.rate, precise, sizes)

    def of_rows(self, weights: Weights, asked: Callable[..., Any], *arguments: tuple[Any, Any]) -> list[Any]:
        groups = self.objective.groups
        codes = (None, None) if groups is None else (groups.pos, groups.neg)
        sides = zip(SIDES, codes, weights.total, weights.within, *arguments, strict=True)
        return [asked(Part(side, self.outputs, own, total, within), *rest) for side, own, total, within, *rest in sides]

    def uniform(self) -> Weights:
        groups = self.objective.groups
        if groups is None:
            within = np.full(self.n_pos, 1.0 / self.n_pos), np.full(self.n_neg, 1.0 / self.n_neg)
            return Weights(within, within, np.ones(1))
        u, w = (1.0 / np.bincount(codes, minlength=groups.n)[codes] for codes in (groups.pos, groups.neg))
        return Weights((u / groups.n, w / groups.n), (u, w), np.full(groups.n, 1.0 / groups.n))

    def margin(self, f: Scores) -> float:
        groups = self.objective.groups
        if groups is None:
            return super().margin(f)
        low, high = np.full(groups.n, np.inf), np.full(groups.n, -np.inf)
        np.minimum.at(low, groups.pos, f.pos)
        np.maximum.at(high, groups.neg, f.neg)
        return float((low - high).min())

    def take(self, pos: _outputs.Rows, neg: _outputs.Rows) -> Problem:
        """The problem on some of the rows, given by their places among these."""
        return Problem(self.outputs.take(pos, neg), self.names, self.objective.take(pos, neg))

    def with_objective(self, objective: Objective) -> Problem:
        """The problem of another objective of the same rows: the outputs serve both."""
        return Problem(self.outputs, self.names, objective, self.kept)

    def centred(self) -> Problem:
        """The same problem, columns far from zero moved there (copies), so that scores and edges keep their digits."""
        far = self.far()
        if not far.any():
            return self
        return Problem(self.outputs.less(far), self.names, self.objective, self.kept)

    def spread(self, values: Any, side: _outputs.Side, fill: Any) -> Any:
        """Values of the rows of one side as values of the user's rows; those left out get `fill`."""
        return spread(values, self.kept and self.kept[0 if side == "pos" else 1], fill)

    def rounding_of_scores(self, lam: Vector) -> float:
        return self.outputs.rounding(lam)

    def edges(self, u: Vector, w: Vector) -> Vector:
        """<u, h_j> - <w, h_j> of every ranker."""
        return self.without_constants(self.outputs.edges(u, w))

    def near(self, old: Weights, new: Weights) -> bool:
        return all(close(*ratios(a, b)) for a, b in zip(old.total, new.total, strict=True))

    def edges_at(self, point: Point) -> Vector:
        return self.edges(*point.weights.total)

    def span_of(self, lam: Vector) -> float:
        f = self.scores(lam)
        return max(float(f.pos.max()), float(f.neg.max())) - min(float(f.pos.min()), float(f.neg.min()))

    def margin_at(self, lam: Vector) -> float:
        return self.margin(self.scores(lam))

    def direction(self, j: int) -> Direction:
        """Ranker j on the rows, centred. Valid until another is asked for."""
        if self._direction and self._direction[0] == j:
            return self._direction[1]
        pos, neg = self._column
        shift = float(self.shift[j])
        self.outputs.column(j, shift, pos, neg)
        low, high = float(self.low[j]) - shift, float(self.high[j]) - shift
        if j not in self._binary:
            self._binary[j] = _only(low, high, pos) and _only(low, high, neg)
        self._direction = j, self.along(j, pos, neg, self._binary[j])
        return self._direction[1]

    def along(self, j: int, pos: Vector, neg: Vector, binary: bool) -> Direction:
        """Ranker j, given its centred outputs."""
        direction = super().along(j, pos, neg, binary)
        if self.objective.groups is None:
            return direction
        up, down = (self._opening(j, self.margin(f)) for f in (Scores(pos, neg), Scores(-pos, -neg)))
        return replace(direction, gap_up=up, gap_down=down)

    def gap(self, j: int, sign: float) -> float:
        """Least score difference over all pairs along a step of the given sign."""
        return super().gap(j, sign) if self.objective.groups is None else self.direction(j).gap(sign)


def ratios(old: Vector, new: Vector) -> tuple[float, float]:
    """Least and largest ratio of weights."""
    ratio = new / np.maximum(old, 1e-290)
    return float(ratio.min()), float(ratio.max())


def close(least: float, largest: float) -> bool:
    """Whether ratios are near one."""
    return least > 0.9 and largest < 1.1


def _only(low: float, high: float, h: Vector) -> bool:
    """Whether h takes no other values; most that do show it in the first rows."""
    return all(bool(((part == low) | (part == high)).all()) for part in (h[:256], h[256:]))


def _precise_scores(outputs: _outputs.Outputs, lam: Vector) -> Scores:
    """H lam less a constant, as though computed in twice the working precision and then rounded."""
    with np.errstate(over="ignore", invalid="ignore"):
        (pos, pos_rest), (neg, neg_rest) = (twofold(outputs, side, lam) for side in SIDES)
        level = neg.max()
        f = Scores((pos - level) + pos_rest, (neg - level) + neg_rest)
    if np.isfinite(f.pos).all() and np.isfinite(f.neg).all():
        return f
    return Scores(*(part.copy() for part in outputs.combine(lam)))  # beyond 2**996, where halves overflow


def twofold(outputs: _outputs.Outputs, side: _outputs.Side, lam: Vector) -> tuple[Vector, Vector]:
    """H lam on one side, rounded, and what was rounded off.

    Large coefficients of nearly collinear columns cancel in the scores. Dekker's product and
    Knuth's sum keep what they round off (Ogita, Rump & Oishi, SIAM J. Sci. Comput. 26, 2005).
    """

    def halves(x: Any) -> tuple[Any, Any]:
        large = 134217729.0 * x  # 2**27 + 1
        high = large - (large - x)
        return high, x - high

    parts = []
    for _, block in outputs.blocks(side):
        total, rest = np.zeros(len(block)), np.zeros(len(block))
        for j in np.flatnonzero(lam):
            h, (a, b), (c, d) = block[:, j], halves(block[:, j]), halves(lam[j])
            product = h * lam[j]
            rest += b * d - (((product - a * c) - b * c) - a * d)
            before, total = total, total + product
            moved = total - before
            rest += (before - (total - moved)) + (product - moved)
        parts.append((total, rest))
    totals, rests = zip(*parts, strict=True)
    return np.concatenate(totals), np.concatenate(rests)


def rankers_of(pos: Any, neg: Any, H: Any) -> Rankers:
    """Return H as a collection; the columns of both sides, if it is None, must be as many."""
    if H is None:
        _checks.same_width(pos, neg)
        _checks.same_names(_checks.column_names(pos), _checks.column_names(neg), "neg")
    return as_rankers(H, pos, "pos")


def start_of(init: Any, rankers: Rankers) -> Vector:
    """Return coefficients to start from; those of a trace or a model go to the weak rankers of the same names."""
    if init is None:
        return np.zeros(len(rankers))
    if isinstance(init, Trace):
        return _by_name(init.lam_at(init.n_iter), init.names, rankers.names)
    if isinstance(getattr(init, "H", None), Rankers):  # a model of `load`
        return _by_name(np.array(init.lam), init.H.names, rankers.names)
    return _checks.vector(init, "init", len(rankers), "one coefficient per weak ranker")


def _by_name(lam: Vector, own: tuple[str, ...], names: tuple[str, ...]) -> Vector:
    """Move coefficients from weak rankers of some names to those of the same names among others."""
    if own == names:
        return lam
    if len(own) != lam.size:
        raise ValueError(f"init does not know the names of its weak rankers; {_AS_AN_ARRAY}")
    count, of_own = Counter(names), Counter(own)
    used = np.flatnonzero(lam)
    missing = [own[j] for j in used if not count[own[j]]]
    if missing:
        new = [name for name in names if not of_own[name]]
        raise ValueError(
            f"init has coefficients of weak rankers that are not in H: {first(missing, 4, _checks.shown)}"
            + (f"; H has others: {first(new, 4, _checks.shown)}" if new else "")
            + f". Cuts and levels that are found anew have new names: take the collection of the run before, or "
            f"{_AS_AN_ARRAY}"
        )
    twice = [own[j] for j in used if count[own[j]] > 1 or of_own[own[j]] > 1]
    if twice:
        raise ValueError(
            f"init cannot tell apart the weak rankers called {_checks.shown(twice[0])}: give them names of "
            f"their own, or {_AS_AN_ARRAY}"
        )
    place = {name: j for j, name in enumerate(names)}
    out = np.zeros(len(names))
    out[[place[own[j]] for j in used]] = lam[used]
    return out


_AS_AN_ARRAY = "pass the coefficients as an array, if they are in the order of H"


def build(
    pos: Any,
    neg: Any,
    rankers: Rankers,
    make: Callable[[Cases, Pool], Objective],
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    pool: Pool = SERIAL,
) -> Problem:
    """Check the rows a user passed and return the problem, whose objective `make` makes of the rows that count.

    Rows of weight zero, and rows of groups that have only one side, are left out.
    """
    counted = cases(
        _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg"), pos_weight, neg_weight, pos_group, neg_group
    )
    outputs = outputs_of(pos, neg, rankers, counted, pool)
    return Problem(outputs, rankers.names, make(counted, pool), counted.kept)


def outputs_of(
    pos: Any, neg: Any, rankers: Rankers, counted: Cases, pool: Pool, seen: list[Seen] | None = None
) -> _outputs.Outputs:
    """Return the outputs on the rows that count; every weak ranker is evaluated once on either side.

    Of levels that are not known it warns, or writes them down.
    """
    pieces = rankers._pieces(pos, neg, np.arange(len(rankers)))
    of_columns = [of_pos + of_neg for of_pos, of_neg in _storage.seen(pieces)]
    if seen is None:
        tell(of_columns)
    else:
        seen += of_columns
    if counted.kept is not None:
        pieces = _storage.taken(pieces, *counted.kept)
    return _storage.store(pieces, pool)


def objectives_of(makes: Iterable[Callable[[Cases, Pool], Objective]], counted: Cases, pool: Pool) -> list[Objective]:
    """Return several objectives of the same rows."""
    objectives = []
    for make in makes:  # a loop, as warnings count the calls between them and the user
        objectives.append(make(counted, pool))
    return objectives
