"""What a list is worth: from scores to the objective, two weight vectors, and a step.

An objective knows nothing of weak rankers, of storage or of the loop. It answers two questions:
`weigh`, what are these scores worth and how much does each row matter; `step`, how far to go along
a direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._core import _tilt

_LEFT_OVER = 1e-6
"""Share of the decrease offered that may be left where a direction's infimum is at infinity."""

_TINY = 1e-280
"""A decrease of log F_p that is nothing, and whose parts can still be told apart in a double."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of both sides, changed in place from round to round."""

    pos: Vector
    neg: Vector

    def advance(self, direction: Direction, step: float) -> None:
        """f += step * h, on both sides. A constant in h cancels in every pair."""
        _tilt.advance(self.pos, direction.pos, step)
        _tilt.advance(self.neg, direction.neg, step)


@dataclass(frozen=True, eq=False)
class Direction:
    """One weak ranker on the rows, less a constant, with its extremes on either side."""

    pos: Vector
    neg: Vector
    pos_low: float
    pos_high: float
    neg_low: float
    neg_high: float
    gap_up: float
    """Least positive less greatest negative, before centring: > 0 separates, 0 touches."""
    gap_down: float
    """Least negative less greatest positive."""
    binary: bool
    """Whether it takes two values only."""

    @property
    def low(self) -> float:
        return min(self.pos_low, self.neg_low)

    @property
    def high(self) -> float:
        return max(self.pos_high, self.neg_high)

    def gap(self, sign: float) -> float:
        """Least score difference over all pairs along a step of the given sign."""
        return self.gap_up if sign > 0 else self.gap_down


@dataclass(frozen=True, eq=False)
class Groups:
    """Query groups: the number of each row's group, 0 .. n - 1, all of which have both sides."""

    pos: NDArray[np.intp]
    neg: NDArray[np.intp]
    n: int

    def take(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> Groups:
        """Some of the rows; the groups that are left are numbered anew."""
        left, codes = np.unique(self.pos[pos], return_inverse=True)
        return Groups(codes.astype(np.intp), np.searchsorted(left, self.neg[neg]), left.size)


class PNorm:
    """The P-Norm Push: exponential loss and the price r ** p, in the log domain.

    With LSE the log of a sum of exponentials and c the case weights,

        log F_p = p LSE_i(log c_i - f_i) + LSE_k(log c_k + p f_k),

    u = softmax(log c - f) on the positives and w = softmax(log c + p f) on the negatives; F_p
    falls at the rate p F_p (<u, h> - <w, h>) along a weak ranker h.

    With query groups F_p is a sum over groups g of such terms, pi_g its shares, and u and w are
    those of the row's group times pi_g.
    """

    def __init__(
        self, p: float, log_c_pos: Vector | None, log_c_neg: Vector | None, groups: Groups | None = None
    ) -> None:
        self.p = p
        self.groups = groups
        self._log_c_pos, self._log_c_neg = log_c_pos, log_c_neg

    def take(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> PNorm:
        """The objective on some of the rows."""
        log_c_pos = None if self._log_c_pos is None else self._log_c_pos[pos]
        log_c_neg = None if self._log_c_neg is None else self._log_c_neg[neg]
        return PNorm(self.p, log_c_pos, log_c_neg, self.groups and self.groups.take(pos, neg))

    def weigh(self, f: Scores, u: Vector, w: Vector) -> tuple[float, float]:
        """Fill u and w, each of sum one; return log F_p and log of the sum of q over all pairs."""
        if self.groups is not None:
            return self._weigh_groups(self.groups, f, u, w)
        pos = _tilt.weigh(f.pos, self._log_c_pos, u, -1.0)
        neg = _tilt.weigh(f.neg, self._log_c_neg, w, self.p)
        mass = neg if self.p == 1.0 else _tilt.log_sum(f.neg, self._log_c_neg, 1.0)
        return self.p * pos + neg, pos + mass

    def within(self, f: Scores, u: Vector, w: Vector) -> tuple[tuple[Vector, Vector], Vector]:
        """The weights within each group, and the shares of the groups, whose product is u and w."""
        groups = self.groups
        if groups is None:
            return (u, w), np.ones(1)
        u_in, w_in = np.empty_like(u), np.empty_like(w)
        pos = _weigh_by_group(-f.pos, self._log_c_pos, groups.pos, groups.n, u_in)
        neg = _weigh_by_group(self.p * f.neg, self._log_c_neg, groups.neg, groups.n, w_in)
        share = np.empty(groups.n)
        _tilt.weigh(self.p * pos + neg, None, share, 1.0)
        return (u_in, w_in), share

    def sizes(self) -> tuple[float, float]:
        """Largest |log c| on either side: what rounds beside the scores."""
        sizes = (0.0 if log_c is None else float(np.abs(log_c).max()) for log_c in (self._log_c_pos, self._log_c_neg))
        return next(sizes), next(sizes)

    def _weigh_groups(self, groups: Groups, f: Scores, u: Vector, w: Vector) -> tuple[float, float]:
        pos = _weigh_by_group(-f.pos, self._log_c_pos, groups.pos, groups.n, u)
        mass = _weigh_by_group(f.neg, self._log_c_neg, groups.neg, groups.n, w)
        neg = mass if self.p == 1.0 else _weigh_by_group(self.p * f.neg, self._log_c_neg, groups.neg, groups.n, w)
        log_f = _tilt.log_sum(self.p * pos + neg, None, 1.0)
        share = np.exp(self.p * pos + neg - log_f)
        u *= share[groups.pos]
        w *= share[groups.neg]
        return log_f, _tilt.log_sum(pos + mass, None, 1.0)

    def step(self, f: Scores, u: Vector, w: Vector, direction: Direction, sign: float) -> float:
        """Return the step that minimises F_p along a direction, equation (1) of the COLT paper.

        `sign` is that of the direction's edge, and of the step. 0 means that rounding hides the
        edge. Where F_p only falls toward an infimum at infinity, the step stops when a millionth
        of the decrease is left. The direction must not separate strictly.
        """
        if direction.gap(sign) == 0.0:
            return self._step_toward_infinity(f, direction, sign)
        if direction.binary:
            step = self._step_of_binary(f, direction)
            return step if step * sign > 0.0 else 0.0
        width = max(direction.pos_high - direction.pos_low, self.p * (direction.neg_high - direction.neg_low))
        span = direction.high - direction.low
        alpha, _ = _tilt.solve(
            f.pos,
            direction.pos,
            self._log_c_pos,
            u,
            f.neg,
            direction.neg,
            self._log_c_neg,
            w,
            self.p,
            sign,
            width,
            span,
        )
        return alpha

    def _split(self, f: Scores, direction: Direction, alpha: float, level: float) -> tuple[float, ...]:
        """Log-sums of the exponents tilted by alpha where h is at a level and where it is not, per side."""
        pos = _tilt.split_log_sums(f.pos, direction.pos, self._log_c_pos, -1.0, alpha, level)
        neg = _tilt.split_log_sums(f.neg, direction.neg, self._log_c_neg, self.p, alpha, level)
        return *pos, *neg

    def _step_of_binary(self, f: Scores, direction: Direction) -> float:
        """ln(u1 w0 / (u0 w1)) / (p + 1) for values 0 and 1; in logs, as u1 may be less than any double."""
        u1, u0, w1, w0 = self._split(f, direction, 0.0, direction.high)
        return ((u1 - u0) + (w0 - w1)) / ((self.p + 1.0) * (direction.high - direction.low))

    def _step_toward_infinity(self, f: Scores, direction: Direction, sign: float) -> float:
        """The least positive ties with the greatest negative, at a level m: F_p falls for ever.

        Going to infinity leaves the rows at m. The excess over that limit is
        p ln(1 + e^a) + ln(1 + e^b), where e^a and e^b are what the other positives and negatives
        weigh beside those at m; a and b fall along the step.
        """
        level = direction.pos_low if sign > 0 else direction.pos_high

        def excess(x: float) -> tuple[float, float, float]:
            u_at, u_off, w_at, w_off = self._split(f, direction, sign * x, level)
            a, b = u_off - u_at, w_off - w_at
            return a, b, self.p * _softplus(a) + _softplus(b)

        a, b, offered = excess(0.0)
        target = _LEFT_OVER * offered
        if target < _TINY:
            return 0.0
        if direction.binary:  # one side is wholly at m, and the other side's a or b falls linearly
            rate, start, goal = (1.0, a, target / self.p) if b == -math.inf else (self.p, b, target)
            return sign * (start - _inverse_softplus(goal)) / (rate * (direction.high - direction.low))

        from scipy.optimize import brentq  # rare, and slow to import

        def log_ratio(x: float) -> float:
            return math.log(max(excess(x)[2], _TINY * _LEFT_OVER)) - math.log(target)

        far = 1.0 / (direction.high - direction.low)
        while log_ratio(far) > 0.0:
            far *= 2.0
        return sign * float(brentq(log_ratio, 0.0, far, xtol=4e-16 * far, rtol=1e-15))


def _weigh_by_group(
    exponents: Vector, log_c: Vector | None, codes: NDArray[np.intp], n: int, weights: Vector
) -> Vector:
    """Fill weights with the softmax within each group; return each group's log-sum."""
    np.copyto(weights, exponents if log_c is None else exponents + log_c)
    top = np.full(n, -np.inf)
    np.maximum.at(top, codes, weights)
    weights -= top[codes]
    np.exp(weights, out=weights)
    total = np.bincount(codes, weights, n)
    weights /= total[codes]
    return np.asarray(top + np.log(total))


def _softplus(x: float) -> float:
    """ln(1 + e^x)."""
    return float(np.logaddexp(0.0, x))


def _inverse_softplus(y: float) -> float:
    """The x with ln(1 + e^x) = y."""
    return y + math.log(-math.expm1(-y))
