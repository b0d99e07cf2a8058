"""What a list is worth: from scores to the objective and two weight vectors.

An objective knows nothing of weak rankers, of storage or of the loop. It answers two questions:
`weigh`, what are these scores worth and how much does each row matter; `step`, how far to go along
a direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _tilt
from pnorm._threads import SERIAL, Pool, blocks, merge_exponentials
from pnorm.objectives._pnorm_line import Direction, GroupLine, Groups, Line, Side, over_blocks

_EPS = float(np.finfo(float).eps)

FAR_FROM_ZERO = 1e3
"""An offset of so many ranges costs scores three digits."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of both sides, changed in place from round to round."""

    pos: Vector
    neg: Vector

    def advance(self, direction: Direction, step: float, pool: Pool = SERIAL) -> None:
        """f += step * h, on both sides. A constant in h cancels in every pair."""
        sides = (self.pos, direction.pos), (self.neg, direction.neg)
        pool.map(
            lambda item: _tilt.advance(item[0], item[1], step, item[2].start, item[2].stop),
            [(f, h, rows) for f, h in sides for rows in blocks(f.size)],
        )


@dataclass(frozen=True, eq=False)
class Worth:
    """What scores are worth, beside u and w."""

    log_f: float
    """log F_p."""
    log_mass: float
    """log of the sum of q over all pairs."""
    within: tuple[Vector, Vector]
    """u and w divided by the shares of their groups: of sum one in each."""
    share: Vector
    """pi, (G,), of sum one."""
    rate: float
    """How fast log R falls along a ranker for each unit of its edge."""


class Objective(Protocol):
    """What solvers ask of an objective R."""

    p: float
    """Largest factor by which scores enter exponents."""
    groups: Groups | None
    pool: Pool
    factored: bool
    """Whether it is the P-Norm Push: u and w are softmax weights, which multiply along a ranker of few values."""
    margin: float | None
    """Difference of scores at which a separating ranker has done its work; None: separation is nothing special."""
    vanishes: bool
    """Whether losses are zero from there on, so that a minimiser exists where the sides can be separated."""
    fades: bool
    """Whether losses go to zero, at infinity or before, so that rows may lose all weight."""
    corners: str
    """What of it lacks derivatives somewhere; empty where nothing does."""
    is_convex: bool
    symbol: str
    """The name of its logarithm."""
    convex_form: str
    """What is convex in the coefficients, if anything is: the logarithm, or a root of R."""

    def weigh(self, f: Scores, u: Vector, w: Vector, v: Vector | None = None) -> Worth:
        """Fill u and w with the weights of the rows, which give the edges; v is for the P-Norm Push alone."""

    def log_value(self, f: Scores) -> float:
        """Return log R."""

    def step(self, f: Scores, u: Vector, w: Vector, direction: Direction, sign: float) -> float:
        """Return the step that minimises R along a direction whose edge has the sign; 0 where rounding hides it."""

    def convex(self, log_r: float) -> tuple[float, float]:
        """Return the convex form of log R and its derivative."""

    def take(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> Objective:
        """The objective on some of the rows."""

    def log_price_of_none(self, neg: NDArray[np.bool_]) -> float:
        """log of what some negatives pay for heights of zero."""

    def sizes(self) -> tuple[float, float]:
        """Largest |log c| on either side: what rounds beside the scores."""

    def rounding(self, log_r: float, n_pos: int, n_neg: int) -> float:
        """Bound the rounding error of log R, given the scores."""


@dataclass(frozen=True, eq=False)
class Cases:
    """The rows that count, their case weights and their groups."""

    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None
    """Which of the user's rows these are, per side; None where all are."""
    c_pos: Vector | None
    c_neg: Vector | None
    groups: Groups | None
    n_pairs: int


def cases(n_pos: int, n_neg: int, pos_weight: Any, neg_weight: Any, pos_group: Any, neg_group: Any) -> Cases:
    """Check weights and groups; rows of weight zero, and rows of groups that have only one side, do not count."""
    c_pos = _checks.weights(pos_weight, "pos_weight", n_pos)
    c_neg = _checks.weights(neg_weight, "neg_weight", n_neg)
    return counted_cases(n_pos, n_neg, c_pos, c_neg, _checks.groups(pos_group, neg_group, n_pos, n_neg))


def counted_cases(
    n_pos: int,
    n_neg: int,
    c_pos: Vector | None,
    c_neg: Vector | None,
    codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
) -> Cases:
    """The same, of checked weights and of groups as numbers."""
    keep_pos = np.ones(n_pos, bool) if c_pos is None else c_pos > 0.0
    keep_neg = np.ones(n_neg, bool) if c_neg is None else c_neg > 0.0
    groups = None
    if codes is not None:
        both = _checks.shared(codes[0][keep_pos], codes[1][keep_neg])
        keep_pos &= np.isin(codes[0], both)
        keep_neg &= np.isin(codes[1], both)
        groups = Groups(np.searchsorted(both, codes[0][keep_pos]), np.searchsorted(both, codes[1][keep_neg]), both.size)
        n_pairs = int(np.bincount(groups.pos, minlength=groups.n) @ np.bincount(groups.neg, minlength=groups.n))
    else:
        n_pairs = int(keep_pos.sum()) * int(keep_neg.sum())
    c_pos, c_neg = (None if c is None else c[keep] for c, keep in ((c_pos, keep_pos), (c_neg, keep_neg)))
    return Cases(None if keep_pos.all() and keep_neg.all() else (keep_pos, keep_neg), c_pos, c_neg, groups, n_pairs)


class PNorm:
    """The P-Norm Push: exponential loss and the price r ** p, in the log domain.

    With LSE the log of a sum of exponentials and c the case weights,

        log F_p = p LSE_i(log c_i - f_i) + LSE_k(log c_k + p f_k),

    u = softmax(log c - f) on the positives and w = softmax(log c + p f) on the negatives; F_p
    falls at the rate p F_p (<u, h> - <w, h>) along a weak ranker h.

    With query groups F_p is a sum over groups g of such terms, pi_g its shares, and u and w are
    those of the row's group times pi_g.
    """

    factored = True
    margin: float | None = 1.0
    vanishes = False
    fades = True
    corners = ""
    is_convex = True
    symbol = convex_form = "log F_p"

    def __init__(
        self,
        p: float,
        log_c_pos: Vector | None,
        log_c_neg: Vector | None,
        groups: Groups | None = None,
        pool: Pool = SERIAL,
    ) -> None:
        self.p = p
        self.groups = groups
        self.pool = pool
        self._log_c_pos, self._log_c_neg = log_c_pos, log_c_neg

    def take(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> PNorm:
        """The objective on some of the rows."""
        log_c_pos = None if self._log_c_pos is None else self._log_c_pos[pos]
        log_c_neg = None if self._log_c_neg is None else self._log_c_neg[neg]
        return PNorm(self.p, log_c_pos, log_c_neg, self.groups and self.groups.take(pos, neg), self.pool)

    def log_price_of_none(self, neg: NDArray[np.bool_]) -> float:
        """Nothing."""
        return -math.inf

    def convex(self, log_r: float) -> tuple[float, float]:
        """log F_p itself."""
        return log_r, 1.0

    def weigh(self, f: Scores, u: Vector, w: Vector, v: Vector | None = None) -> Worth:
        """Fill u and w, each of sum one, and v, if it is asked for, with the weights of negatives at p = 1."""
        if self.groups is not None:
            return self._weigh_groups(self.groups, f, u, w)
        sides = [(f.pos, self._log_c_pos, u, -1.0), (f.neg, self._log_c_neg, w, self.p)]
        if v is not None:
            sides.append((f.neg, self._log_c_neg, v, 1.0))
        items = [(*side, rows, k) for k, side in enumerate(sides) for rows in blocks(side[0].size)]
        parts = self.pool.map(lambda item: _tilt.weigh(*item[:4], item[4].start, item[4].stop), items)
        sums = [
            merge_exponentials([part for part, item in zip(parts, items, strict=True) if item[5] == k])
            for k in range(len(sides))
        ]
        logs = [top + math.log(total) for top, total in sums]
        factors = []
        for (largest, _), item in zip(parts, items, strict=True):
            top, total = sums[item[5]]
            factors.append(math.exp(largest - top) / total)  # to all digits, however large the exponents
        self.pool.map(
            lambda item: _tilt.rescale_rows(item[0][2], item[1], item[0][4].start, item[0][4].stop),
            list(zip(items, factors, strict=True)),
        )
        if v is None:
            logs.append(logs[1] if self.p == 1.0 else self._log_sum(f.neg, self._log_c_neg, 1.0))
        return Worth(self.p * logs[0] + logs[1], logs[0] + logs[2], (u, w), np.ones(1), self.p)

    def log_value(self, f: Scores) -> float:
        """log F_p."""
        if self.groups is not None:
            return self.weigh(f, np.empty_like(f.pos), np.empty_like(f.neg)).log_f
        return self.p * self._log_sum(f.pos, self._log_c_pos, -1.0) + self._log_sum(f.neg, self._log_c_neg, self.p)

    def _log_sum(self, f: Vector, log_c: Vector | None, scale: float) -> float:
        return log_of(self.pool.map(lambda rows: _tilt.log_sum(f, log_c, scale, rows.start, rows.stop), blocks(f.size)))

    def sizes(self) -> tuple[float, float]:
        """Largest |log c| on either side: what rounds beside the scores."""
        return size_of(self._log_c_pos), size_of(self._log_c_neg)

    def rounding(self, log_r: float, n_pos: int, n_neg: int) -> float:
        """Bound the rounding error of log F_p, given the scores."""
        c_pos, c_neg = self.sizes()
        return 4.0 * _EPS * (abs(log_r) + self.p * (math.log(n_pos) + c_pos) + math.log(n_neg) + c_neg)

    def _weigh_groups(self, groups: Groups, f: Scores, u: Vector, w: Vector) -> Worth:
        pos, mass, neg, scratch = (np.empty(groups.n) for _ in range(4))
        within = np.empty_like(u), np.empty_like(w)
        _tilt.weigh_by_group(f.pos, self._log_c_pos, groups.pos, -1.0, within[0], pos, scratch)
        _tilt.weigh_by_group(f.neg, self._log_c_neg, groups.neg, 1.0, within[1], mass, scratch)
        if self.p == 1.0:
            neg = mass
        else:
            _tilt.weigh_by_group(f.neg, self._log_c_neg, groups.neg, self.p, within[1], neg, scratch)
        share = np.empty(groups.n)
        log_f = _softmax(self.p * pos + neg, share)
        np.multiply(within[0], share[groups.pos], out=u)
        np.multiply(within[1], share[groups.neg], out=w)
        return Worth(log_f, _softmax(pos + mass, scratch), within, share, self.p)

    def step(self, f: Scores, u: Vector, w: Vector, direction: Direction, sign: float) -> float:
        """Return the step that minimises F_p along a direction, equation (1) of the COLT paper.

        `sign` is that of the direction's edge, and of the step. 0 means that rounding hides the
        edge. Where F_p only falls toward an infimum at infinity, the step stops when a millionth
        of the decrease is left. The direction must not separate strictly.
        """
        sides = (
            Side(f.pos, direction.pos, self._log_c_pos, u, -1.0),
            Side(f.neg, direction.neg, self._log_c_neg, w, self.p),
        )
        if self.groups is None:
            return Line(self.p, over_blocks(sides, self.pool), direction, sign).step()
        return GroupLine(self.p, sides, direction, sign, self.groups).step()


def size_of(log_c: Vector | None) -> float:
    """Largest |log c|."""
    return 0.0 if log_c is None else float(np.abs(log_c).max())


def spread(values: Any, kept: NDArray[np.bool_] | None, fill: Any = 0.0) -> Any:
    """Values of the rows that count as values of the user's rows; the others get `fill`."""
    if kept is None:
        return values
    whole = np.full(kept.size, fill, dtype=np.asarray(values).dtype)
    whole[kept] = values
    return whole


def push(p: float) -> Callable[[Cases, Pool], PNorm]:
    """Return what makes the P-Norm Push of the rows that count."""

    def make(counted: Cases, pool: Pool = SERIAL) -> PNorm:
        log_c_pos, log_c_neg = (None if c is None else np.log(c) for c in (counted.c_pos, counted.c_neg))
        return PNorm(p, log_c_pos, log_c_neg, counted.groups, pool)

    return make


def log_of(parts: list[tuple[float, float]]) -> float:
    """log of a sum of exponentials from those of blocks of rows, in their order."""
    top, total = merge_exponentials(parts)
    return top + math.log(total)


def _softmax(exponents: Vector, out: Vector) -> float:
    """Fill out with the shares of e^exponents; return the log of their sum."""
    top, total = _tilt.weigh(exponents, None, out, 1.0, 0, out.size)
    out /= total
    return top + math.log(total)
