"""The step along one weak ranker: equation (1) of the COLT paper, in one variable.

Let u_alpha be proportional to u e^(-alpha h) on the positives and w_alpha to w e^(p alpha h) on the negatives. The
slope of log F_p along h is p (E_w h - E_u h). It increases with alpha, so there is one root, or the infimum is at
infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from pnorm._blas import dot
from pnorm._checks import Run, Vector
from pnorm._checks.records import record
from pnorm._core import _tilt
from pnorm._threads import SERIAL, Pool, blocks, merge_exponentials

LEFT_OVER = 1e-6
"""Fraction of the possible decrease that is left where the infimum along a direction is at infinity."""

_TINY = 1e-280
"""A negligible decrease of log F_p, whose parts are still distinct doubles."""

PLATEAU = 1e-6
"""Share of the largest variance below which u and w count as concentrated at a single level."""

CLOSE = 1e-298
"""Outputs that differ by less than this fraction of p times the largest count as equal, so that exponents stay below
1e300."""

FAR = 50.0
"""Change of exponents up to which weights clamped to e^-600 stay negligible: shares rise by four times this."""

FAINT = 1e-100
"""Mean distance of the weight from the level, as a share of the range, down to which they stay negligible."""

NEAR = 1 / 16
"""Change of exponents up to which sums at one step give those at another, and exponentials are short polynomials."""

_MAX_EVALUATIONS = 400

ROUNDING = 1.2e-16
"""Rounding of a difference of two means, as a share of the range."""

_NONE = np.empty(0)

Slope = tuple[float, float, float]
"""g(x) = sign (E_w h - E_u h) at alpha = sign x, and two derivatives, all times the same positive number."""


@record(frozen=True, eq=False)
class Direction:
    """One weak ranker on the rows, minus a constant, with its extremes on either side."""

    pos: Vector
    neg: Vector
    pos_low: float
    pos_high: float
    neg_low: float
    neg_high: float
    gap_up: float
    """Least positive minus greatest negative, before centring; the least over groups. > 0 separates, 0 touches."""
    gap_down: float
    """Least negative minus greatest positive; the least over groups."""
    binary: bool
    """Whether it takes only two values."""
    close: float
    """Outputs that differ by no more than this count as equal for every finite step."""

    @property
    def low(self) -> float:
        return min(self.pos_low, self.neg_low)

    @property
    def high(self) -> float:
        return max(self.pos_high, self.neg_high)

    def gap(self, sign: float) -> float:
        """Least score difference over all pairs along a step of the given sign."""
        return self.gap_up if sign > 0 else self.gap_down

    @property
    def span(self) -> float:
        """Range over both sides."""
        return self.high - self.low


@record(frozen=True, eq=False)
class Side:
    """One side of the list along a direction: exponents scale (f + alpha h) + log c."""

    f: Vector
    h: Vector
    log_c: Vector | None
    weights: Vector
    scale: float
    """-1 on the positives, p on the negatives."""

    def sorted(self, run: Run) -> Side:
        """Outputs and weights of the rows, group by group."""
        if run.order is None:
            return self
        h, weights = run.sort(self.h), run.sort(self.weights)
        return replace(self, h=h, weights=weights)

    def levelled(self, rows: slice, level: float, close: float) -> Side:
        """Return some of the rows; outputs close to a level are set to it."""
        h = np.where(np.abs(self.h[rows] - level) <= close, level, self.h[rows])
        log_c = None if self.log_c is None else self.log_c[rows]
        return replace(self, f=self.f[rows], h=h, log_c=log_c, weights=self.weights[rows])


Kernel = Callable[[Side, int, int], Any]
"""A function of some rows of a side, from a first one to the one after the last."""

Each = Callable[[Kernel], tuple[list[Any], list[Any]]]
"""The results of a kernel for the blocks of either side, in their order."""


def in_memory(sides: tuple[Side, Side], pool: Pool = SERIAL) -> Each:
    """Return a function that applies a kernel to the blocks of rows in memory."""
    items = [(side, rows) for side in sides for rows in blocks(side.f.size)]
    cut = len(blocks(sides[0].f.size))

    def each(kernel: Kernel) -> tuple[list[Any], list[Any]]:
        parts = pool.map(lambda item: kernel(item[0], item[1].start, item[1].stop), items)
        return parts[:cut], parts[cut:]

    return each


class Line:
    """F_p along a direction, without groups."""

    def __init__(self, p: float, each: Each, direction: Direction, sign: float) -> None:
        self.p, self._each, self.direction, self.sign = p, each, direction, sign
        self._span, self._largest = direction.span, max(direction.high, -direction.low)
        # Outputs are divided by a power of two that they do not exceed. Powers then do not overflow, nor round
        # differently.
        self._size = math.ldexp(1.0, min(max(math.frexp(self._largest)[1], -1000), 1000))
        self._base, self._powers = math.nan, (_NONE, _NONE)

    def step(self) -> float:
        """The step; zero where rounding hides the edge."""
        if self.direction.gap(self.sign) == 0.0:
            return self._toward_infinity()
        if self.direction.binary:
            step = self._of_binary()
            return step if step * self.sign > 0.0 else 0.0
        return self._root()

    # The root of equation (1)

    def _root(self) -> float:
        direction = self.direction
        width = max(direction.pos_high - direction.pos_low, self.p * (direction.neg_high - direction.neg_low))
        unit = 1.0 / self._size
        first = self._of_rows(
            0.0, *self._each(lambda side, start, stop: _tilt.given(side.weights, side.h, unit, start, stop))
        )
        if self._flat(first):
            first = self._slope(0.0)
        elif abs(first[0]) <= ROUNDING * self._span:
            return 0.0
        if not first[0] < 0.0:
            return 0.0
        return self.sign * find_root(self._slope, width, *first)

    def _of_rows(self, x: float, pos: list[tuple[float, ...]], neg: list[tuple[float, ...]]) -> Slope:
        """Return the slope at x from the power sums of parts of the rows there, and keep them for the steps near x."""
        self._base, self._powers = x, (np.array(merge_exponentials(pos)[1:]), np.array(merge_exponentials(neg)[1:]))
        return self._near(x)

    def _near(self, x: float) -> Slope:
        """Return the slope at x from the sums that are kept."""
        p, sign, rate = self.p, self.sign, self.sign * (x - self._base) * self._size
        u, w = _cumulants(self._powers[0], -rate, self._size), _cumulants(self._powers[1], p * rate, self._size)
        return sign * (w[0] - u[0]), p * w[1] + u[1], sign * (p * p * w[2] - u[2])

    def _flat(self, slope: Slope) -> bool:
        return slope[1] <= PLATEAU * (1.0 + self.p) * self._span * self._span

    def _slope(self, x: float) -> Slope:
        """Return the slope at x, from the sums that keep their digits there."""
        if self.p * abs(x - self._base) * self._largest <= NEAR and not self._flat(slope := self._near(x)):
            return slope
        alpha, unit = self.sign * x, 1.0 / self._size
        pos, neg = self._each(
            lambda side, start, stop: _tilt.tilted(side.f, side.h, side.log_c, side.scale, alpha, unit, start, stop)
        )
        slope = self._of_rows(x, *([sums for sums, _ in parts] for parts in (pos, neg)))
        if self._flat(slope):
            (_, u_mode), (_, w_mode) = (max(parts, key=lambda part: part[0][0]) for parts in (pos, neg))
            if abs(u_mode - w_mode) <= 1e-8 * self._span:
                return self._on_plateau(alpha, u_mode)
        return slope

    def _on_plateau(self, alpha: float, level: float) -> Slope:
        """Return the slope to leading order if u and w are both concentrated at one level.

        g is then a difference of two numbers that decay like e^-x, which rounding would hide. So rows at the level are
        left out, and the largest exponent is factored out of the rest.
        """
        tops, off = [], []
        for at, other in self._split(alpha, level):
            total = np.logaddexp(at[0] + _log(at[1]), other[0] + _log(other[1]))
            tops.append(other[0] - float(total))
            off.append(other[1:])
        top = max(tops)
        if top == -math.inf:
            return 0.0, 0.0, 0.0
        a, b = (math.exp(t - top) for t in tops)
        (_, u1, u2, u3), (_, w1, w2, w3) = off
        p, sign = self.p, self.sign
        return sign * (b * w1 - a * u1), p * b * w2 + a * u2, sign * (p * p * b * w3 - a * u3)

    def _split(self, alpha: float, level: float, close: float = 0.0) -> list[tuple[Any, Any]]:
        """Return, by side, sums of exponentials at a level and sums of powers off it, with their largest exponents."""

        def split(side: Side, start: int, stop: int) -> Any:
            if close > 0.0:
                side = side.levelled(slice(start, stop), level, close)
                start, stop = 0, stop - start
            return _tilt.split(side.f, side.h, side.log_c, side.scale, alpha, level, start, stop)

        sides = self._each(split)
        return [
            (merge_exponentials([at for at, _ in parts]), merge_exponentials([off for _, off in parts]))
            for parts in sides
        ]

    # Closed form and infinity

    def _log_sums(self, alpha: float, level: float, close: float = 0.0) -> tuple[float, ...]:
        """Return log-sums of the exponents at a level and off it, on the positives and on the negatives."""
        return tuple(part[0] + _log(part[1]) for parts in self._split(alpha, level, close) for part in parts)

    def _of_binary(self) -> float:
        """Return ln(u1 w0 / (u0 w1)) / (p + 1) for values 0 and 1, computed in logs since u1 may underflow."""
        u1, u0, w1, w0 = self._log_sums(0.0, self.direction.high)
        return ((u1 - u0) + (w0 - w1)) / ((self.p + 1.0) * self.direction.span)

    def _excess(self, x: float) -> tuple[float, float, float]:
        """Return a, b and p ln(1 + e^a) + ln(1 + e^b), the excess of log F_p over its limit at infinity.

        The least positive ties with the greatest negative, at a level m. At infinity only the rows at m keep weight.
        e^a and e^b are the weights of the other positives and negatives relative to those at m.
        """
        level = self.direction.pos_low if self.sign > 0 else self.direction.pos_high
        u_at, u_off, w_at, w_off = self._log_sums(self.sign * x, level, self.direction.close)
        a, b = u_off - u_at, w_off - w_at
        return a, b, self.p * _softplus(a) + _softplus(b)

    def _toward_infinity(self) -> float:
        """Return the step at which LEFT_OVER of the possible decrease is left."""
        direction = self.direction
        a, b, offered = self._excess(0.0)
        target = LEFT_OVER * offered
        if target < _TINY:
            return 0.0
        if direction.binary:  # all rows of one side are at m, and a or b of the other side falls linearly
            rate, start, goal = (1.0, a, target / self.p) if b == -math.inf else (self.p, b, target)
            return self.sign * (start - _inverse_softplus(goal)) / (rate * direction.span)

        from scipy.optimize import brentq  # rare, and slow to import

        def log_ratio(x: float) -> float:
            return math.log(max(self._excess(x)[2], _TINY * LEFT_OVER)) - math.log(target)

        far = 1.0 / direction.span
        while far < math.inf and log_ratio(far) > 0.0:
            far *= 2.0
        if far == math.inf:
            return self.sign * far
        return self.sign * float(brentq(log_ratio, 0.0, far, xtol=4e-16 * far, rtol=1e-15, maxiter=1000))


class GroupLine(Line):
    """F_p along a direction, if pairs form within groups only.

    log F_p is the log of a sum over groups. Their shares pi also change along the line. The derivatives are cumulants
    of a mixture, and there is no closed form.
    """

    def __init__(
        self, p: float, sides: tuple[Side, Side], direction: Direction, sign: float, runs: tuple[Run, Run]
    ) -> None:
        super().__init__(p, in_memory(sides), replace(direction, binary=False), sign)
        self.sides, self._runs = [side.sorted(run) for side, run in zip(sides, runs, strict=True)], runs
        n = runs[0].starts.size - 1
        self._level, self._before, self._share = np.empty(n), np.empty(n), np.empty(n)
        self._sums, self._cumulants = np.empty((2, n)), np.empty((2, n, 3))
        self._noise = 0.0

    def _root(self) -> float:
        direction, first = self.direction, self._slope(0.0)
        if not first[0] < -self._noise:
            return 0.0
        width = (direction.pos_high - direction.pos_low) + (direction.neg_high - direction.neg_low)
        return self.sign * find_root(self._slope, self.p * width, *first)

    def _slope(self, x: float) -> Slope:
        """Return the slope from cumulants about the level of the heaviest positive of every group.

        The cumulants are those of the weights times exponentials, if the exponentials do not raise clamped weights to
        values that count.
        """
        alpha, largest = self.sign * x, max(self.direction.high, -self.direction.low)
        if self.p * x * largest > FAR:
            return self._of_faint(alpha)
        for k, (side, run) in enumerate(zip(self.sides, self._runs, strict=True)):
            rate, out = side.scale * alpha, (self._level, self._sums[k], self._cumulants[k])
            # The levels are those of the positives.
            _tilt.tilted_by_group(side.weights, side.h, run.starts, rate, abs(rate) * largest, k == 0, *out)
        if x == 0.0:
            self._before[:] = self._sums[0]
        (pos_sums, neg_sums), (pos, neg) = self._sums, self._cumulants
        g, slope, bend, size = _tilt.mixture(self._before, pos_sums, pos, neg_sums, neg, self.p, self._share)
        if not size > FAINT * self._span:
            return self._of_faint(alpha)
        self._noise = ROUNDING * size
        return self.sign * g, slope, self.sign * bend

    def _of_faint(self, alpha: float) -> Slope:
        """Return the slope from sums off the level of the heaviest positive of every group, with one common factor.

        As on the plateau of a single group, the sums keep their digits even if their weight is small.
        """
        p, pos, groups = self.p, self.sides[0], pairwise(self._runs[0].starts.tolist())
        f, log_c = self._scores[0]
        self._level[:] = [_tilt.tilted(f, pos.h, log_c, pos.scale, alpha, 1.0, *rows)[1] for rows in groups]
        sums, off, share = [], [], np.zeros_like(self._level)
        for tops, of_side, power in zip(*self._split_groups(alpha, self._level), (p, 1.0), strict=True):
            with np.errstate(divide="ignore"):
                total = np.logaddexp(*(tops[:, k] + np.log(of_side[:, k]) for k in (0, 1)))
            sums.append(of_side[:, 2:])
            off.append(tops[:, 1] - total)
            share += power * total
        share -= np.logaddexp.reduce(share)
        factor = float(max((part + share).max() for part in off))
        if factor == -math.inf:
            return 0.0, 0.0, 0.0
        # Means, variances and third cumulants in every group: first unscaled, then times its share over the factor.
        means, small = [], []
        for (one, two, three), part in zip((x.T for x in sums), off, strict=True):
            weight, mean = np.exp(part + share - factor), one * np.exp(part)
            small.append(
                (weight * one, weight * (two - one * mean), weight * (three - 3.0 * two * mean + 2.0 * one * mean**2))
            )
            means.append((mean, np.exp(part) * (two - one * mean)))
        (u, u_var, u_third), (w, w_var, w_third) = small
        edges, edge, curve = w - u, means[1][0] - means[0][0], means[0][1] + p * means[1][1]
        curves = u_var + p * w_var
        mean, overall = float(edges.sum()), float(edges.sum()) * math.exp(factor)
        spread = dot(edges, edge) - mean * overall
        third = (p * p * w_third - u_third).sum()
        third += 3.0 * p * (dot(edges, curve) - overall * float(curves.sum()))
        third += p * p * (dot(edges, edge**2) - 3.0 * overall * dot(edges, edge) + 2.0 * mean * overall**2)
        self._noise = ROUNDING * float((np.abs(u) + np.abs(w)).sum())
        return self.sign * mean, float(curves.sum()) + p * spread, self.sign * float(third)

    @cached_property
    def _scores(self) -> list[tuple[Vector, Vector | None]]:
        """Scores and log c of either side, group by group; few steps need them."""
        return [(run.sort(side.f), run.sort(side.log_c)) for side, run in zip(self.sides, self._runs, strict=True)]

    def _split_groups(self, alpha: float, level: Vector, close: float = 0.0) -> tuple[list[Vector], list[Vector]]:
        """Return, by side, the results of `split` for every group: tops, (G, 2), and sums, (G, 5)."""
        tops, sums = [[np.empty((level.size, size)) for _ in self.sides] for size in (2, 5)]
        for side, run, (f, log_c), *out in zip(self.sides, self._runs, self._scores, tops, sums, strict=True):
            h = side.h
            if close > 0.0:
                of_rows = np.repeat(level, np.diff(run.starts))
                h = np.where(np.abs(h - of_rows) <= close, of_rows, h)
            _tilt.split_by_group(f, h, log_c, run.starts, side.scale, alpha, level, *out)
        return tops, sums

    def _excess(self, x: float) -> tuple[float, float, float]:
        """Return two unused numbers and the excess of log F_p over its limit.

        In groups whose least positive ties with their greatest negative, the rows at that level keep weight. The other
        groups lose all weight.
        """
        least = (np.minimum, np.maximum) if self.sign > 0.0 else (np.maximum, np.minimum)
        ends = [
            extreme.reduceat(side.h, run.starts[:-1])
            for extreme, side, run in zip(least, self.sides, self._runs, strict=True)
        ]
        touches, level = np.abs(ends[0] - ends[1]) <= self.direction.close, ends[0]
        at, both = np.zeros_like(level), np.zeros_like(level)
        split = self._split_groups(self.sign * x, level, self.direction.close)
        for tops, of_side, power in zip(*split, (self.p, 1.0), strict=True):
            with np.errstate(divide="ignore"):
                sums, rest = [tops[:, k] + np.log(of_side[:, k]) for k in (0, 1)]
            at += power * np.where(touches, sums, 0.0)
            # for a group that keeps weight, the excess over its own limit; for another group, all of it
            both += power * np.where(
                touches, np.logaddexp(0.0, rest - np.where(touches, sums, 0.0)), np.logaddexp(sums, rest)
            )
        with np.errstate(divide="ignore"):
            stays = at[touches] + both[touches] + np.log(-np.expm1(-both[touches]))
        limit = np.logaddexp.reduce(at[touches])
        log_excess = float(np.logaddexp.reduce(np.concatenate([stays, both[~touches]])) - limit)
        return 0.0, 0.0, _softplus(log_excess)


def find_root(evaluate: Callable[[float], Slope], width: float, g: float, slope: float, bend: float) -> float:
    """Solve g(x) = 0 for x > 0, given g < 0 and two derivatives at 0; `evaluate` returns them elsewhere.

    `width` is the largest range of the exponents per unit of x.
    """
    state, search = (0.0, 0.0, math.inf, math.inf, 0.0), True
    for _ in range(_MAX_EVALUATIONS):
        if g == 0.0:
            break
        state, search = _tilt.root_step(*state, width, g, slope, bend)
        if not search:
            break
        g, slope, bend = evaluate(state[0])
    return state[0]


def _cumulants(sums: Vector, rate: float, size: float) -> Slope:
    """Return mean, variance and third cumulant of h under weights times e^(rate y), from power sums of y = h / size."""
    mass, first, second, third = _tilt.expanded(sums, rate)
    mean, square = first / mass, second / mass
    variance = max(0.0, square - mean * mean)
    cubic = third / mass - 3.0 * mean * square + 2.0 * mean * mean * mean
    return size * mean, size * (size * variance), size * (size * (size * cubic))


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _softplus(x: float) -> float:
    """ln(1 + e^x)."""
    return float(np.logaddexp(0.0, x))


def _inverse_softplus(y: float) -> float:
    """Return the x with ln(1 + e^x) = y."""
    return y + math.log(-math.expm1(-y))
