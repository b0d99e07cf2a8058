r"""R = sum_k c_k g(S_k), S_k = sum_i c_i l(f_i - f_k), for any price g and loss l.

With b_k = c_k g'(S_k) / R, which is negative where the price falls,

    A_i = c_i sum_k b_k (-l'(f_i - f_k)) = -d log R / d f_i,
    B_k = b_k sum_i c_i (-l'(f_i - f_k)) =  d log R / d f_k,

and sum A = sum B. The sums over pairs are a method of the loss. All other computations are in this module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._blas import dot
from pnorm._checks import CaseWeights, Groups, Vector
from pnorm._threads import SERIAL, Pool, blocks
from pnorm.objectives import _line_search
from pnorm.objectives._base import Corner, Evaluation, Make, Objective, Scores, Start, Traits, log_of, max_abs
from pnorm.objectives._losses import LOSSES, ExponentialLoss, loss_of, warn_of_pairs
from pnorm.objectives._pair_loss import GroupedScores, Grouping, PairLoss, Pairs, Sums
from pnorm.objectives._pnorm import push
from pnorm.objectives._pnorm_line import Direction
from pnorm.objectives._prices import Power, Price, price_of

_TIER = 600.0
"""Logarithms of weights that are farther apart than this are not added up as shares of the largest."""

_LOG_ZERO = -1e5
"""The exponent of an empty sum, below that of any sum of doubles."""

_MIN_RANGE = 1e-290
"""Ranges of rankers, and edges of rankers of range one, below which no finite step has an effect."""

_BLOCK = 2**13
"""Number of rows whose prices are formed at a time: 64 kB, which stay in the cache."""


def objective_of(p: float, price: Any, loss: Any, smoothing: Any) -> Make:
    """Check a price and a loss, and return a function that makes their objective of the rows that count."""
    if price is not None and p != 1.0:
        raise ValueError(f"p = {p:g} and price={price!r} both set the price; pass only one of them")
    chosen = Power(p) if price is None else price_of(price)
    of_pairs = loss_of(loss, smoothing)
    if isinstance(of_pairs, ExponentialLoss) and isinstance(chosen, Power):
        return push(chosen.power)
    if chosen.checked and not chosen.root <= of_pairs.root:
        wanted = "convex" if of_pairs.root == 1.0 else "convex in r ** (1 / 2)"
        fit = [repr(name) for name, other in LOSSES.items() if chosen.root <= other.root]
        raise ValueError(
            f"the objective may not be convex with the price {chosen!r} and the loss {of_pairs!r}, which needs a price "
            f"that is {wanted}. {chosen!r} goes with the losses {', '.join(fit)}. Or pass Price(..., check=False) to "
            "train to a stationary point"
        )

    def make(counted: CaseWeights, pool: Pool = SERIAL) -> Objective:
        warn_of_pairs(of_pairs, counted.n_pairs)
        return PairwiseObjective(chosen, of_pairs, (counted.c_pos, counted.c_neg), counted.groups, pool)

    return make


def _traits(price: Price, loss: PairLoss) -> Traits:
    margin = None
    if price.increasing and loss.decreasing and not price.forgiving:
        margin = loss.flat_from if 1.0 < loss.flat_from < math.inf else 1.0
    nonsmooth = None
    if not price.smooth:
        nonsmooth = Corner("price", repr(price))
    elif not loss.smooth:
        nonsmooth = Corner("loss", repr(loss), loss.smoothable)
    return Traits(
        symbol="log R",
        convex_form="log R" if price.log_convex else "R" if price.power == 1.0 else f"R ** (1 / {price.power:g})",
        is_convex=price.increasing and price.root <= loss.root,
        margin=margin,
        attains_zero=loss.flat_from < math.inf,
        tends_to_zero=loss.limit < 1e-9 * loss.at_zero,
        nonsmooth=nonsmooth,
        told=f"{price!r:.40} of the {loss.name:.40} loss",
    )


class PairwiseObjective:
    """The objective of a price and a loss."""

    def __init__(
        self, price: Price, loss: PairLoss, c: Sequence[Vector | None], groups: Groups | None, pool: Pool
    ) -> None:
        """Take the case weights c of either side; None if all are one."""
        c_pos, c_neg = c
        self.price, self.loss, self.groups, self.pool = price, loss, groups, pool
        self._c = c
        self._log_c_neg = None if c_neg is None else np.log(c_neg)
        log_c_pos = None if c_pos is None else np.log(c_pos)
        self._sizes = max_abs(log_c_pos), max_abs(self._log_c_neg)
        # Weights so far apart that shares of the largest vanish. If the others have a loss of zero, only they count.
        self._log_wide = log_c_pos if log_c_pos is not None and np.ptp(log_c_pos) > _TIER else None
        # Weights of positives are divided by the largest, which may be far from one.
        self._shares = None if c_pos is None else c_pos / c_pos.max()
        self._log_unit = 0.0 if c_pos is None else math.log(float(c_pos.max()))
        self.power = price.power
        self.traits = _traits(price, loss)
        self._grouping = Grouping(None if groups is None else (groups.pos, groups.neg))

    def select_rows(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> PairwiseObjective:
        """Return the objective on some of the rows."""
        c = [own if own is None else own[rows] for own, rows in zip(self._c, (pos, neg), strict=True)]
        return PairwiseObjective(self.price, self.loss, c, self.groups and self.groups.take(pos, neg), self.pool)

    def log_price_of_none(self, neg: NDArray[np.bool_]) -> float:
        """Return the log of the price that some negatives pay for heights of zero."""
        mass = float(neg.sum() if self._c[1] is None else self._c[1][neg].sum())
        return -math.inf if mass == 0.0 else float(self.price.log_of(np.zeros(1))[0]) + math.log(mass)

    def convex(self, log_r: float) -> tuple[float, float]:
        """Return the convex function of R, if there is one, and its derivative with respect to log R."""
        if self.price.log_convex:
            return log_r, 1.0
        value = math.exp(log_r / self.power) if log_r / self.power < 709.0 else math.inf
        return value, value / self.power

    def sizes(self) -> tuple[float, float]:
        """Return the largest |log c| on either side, which contributes to the rounding error."""
        return self._sizes

    def rounding(self, log_r: float, n_pos: int, n_neg: int) -> float:
        """Bound the rounding error of log R, given the scores; a steep price magnifies the error of sums of losses."""
        return 1e-14 * (self.power + abs(log_r) + math.log(n_neg) + sum(self.sizes()))

    # Value and weights

    def _sorted(self, f: Scores) -> tuple[GroupedScores, GroupedScores]:
        return self._grouping.sort(f.pos, f.neg, self.loss.ascending, self.pool)

    def _heights(self, pos: GroupedScores, neg: GroupedScores, slope: bool = True) -> Sums:
        """Return sums for the sorted negatives, with log S in the place of S."""
        wide = None if self._log_wide is None else pos.gather(self._log_wide) - self._log_unit
        shares = None if wide is not None else self._shares
        c_pos = np.broadcast_to(1.0, pos.f.shape) if shares is None else pos.gather(shares)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            heights = self._sums(Pairs(pos, c_pos, neg, 1.0, self.pool, slope=slope), wide)
            np.log(heights.value, out=heights.value)
            np.add(heights.value, heights.exponent + self._log_unit, out=heights.value)
        return heights

    def _sums(self, pairs: Pairs, log_c: Vector | None) -> Sums:
        """Return sums over pairs; `log_c`, if given, are the logarithms of further weights that are far apart.

        Sources are summed in turns, each turn with weights of similar size.
        """
        if log_c is None:
            return self.loss.sums(pairs)
        names = [name for name in ("value", "slope") if getattr(pairs, name)]
        tiers = []
        while (top := float(log_c.max())) > -math.inf:
            own = log_c >= top - _TIER  # includes the largest, even if the difference is lost in rounding
            sums = self.loss.sums(replace(pairs, weights=np.where(own, pairs.weights * np.exp(log_c - top), 0.0)))
            log_c = np.where(own, -math.inf, log_c)
            anything = np.any([getattr(sums, name) != 0.0 for name in names], axis=0)
            tiers.append((sums, np.where(anything, sums.exponent + top, _LOG_ZERO)))
        exponent = np.max([own for _, own in tiers], axis=0)
        found = {"value": np.empty(0), "slope": np.empty(0)}
        for name in names:
            found[name] = np.sum([np.exp(own - exponent) * getattr(sums, name) for sums, own in tiers], axis=0)
        return Sums(**found, exponent=exponent)

    def _total(self, log_s: Vector, log_c: Vector | None, slopes: Vector | None = None) -> tuple[float, float]:
        """Return log R and the largest log |b R|, with `slopes` only over negatives whose slope is not zero."""
        parts: list[tuple[float, float]] = []
        top = -math.inf
        for rows in blocks(log_s.size, _BLOCK):
            log_g, log_slope, _ = self.price.log_terms(log_s[rows])
            if log_c is not None:
                log_g, log_slope = log_g + log_c[rows], log_slope + log_c[rows]
            largest = float(log_g.max())
            log_slope = log_slope if slopes is None else log_slope[slopes[rows] != 0.0]
            top = max(top, float(np.max(log_slope, initial=-math.inf)))
            total = float(np.exp(log_g - largest).sum()) if math.isfinite(largest) else 1.0
            parts.append((largest, total))
        log_r = max([part[0] for part in parts])
        if math.isfinite(log_r):
            log_r = log_of(parts)
        elif not log_r < 0.0:
            advice = "" if isinstance(self.price, Power) else ", or pass a price of smaller scale, or a Power"
            raise OverflowError(
                f"the price {self.price!r} overflows for a sum of losses of e^{float(log_s.max()):.4g}. Scale the weak "
                f"rankers or the coefficients (lam) down{advice}"
            )
        return log_r, top

    def _log_c(self, neg: GroupedScores) -> Vector | None:
        return None if self._log_c_neg is None else neg.gather(self._log_c_neg)

    def log_value(self, f: Scores) -> float:
        """Return log R."""
        pos, neg = self._sorted(f)
        return self._total(self._heights(pos, neg, slope=False).value, self._log_c(neg))[0]

    def evaluate(self, f: Scores, u: Vector, w: Vector, v: Vector | None = None) -> Evaluation:
        """Fill u and w with A and B divided by the rate of the result: sum |A|, or sum |B| if that is zero."""
        pos, neg = self._sorted(f)
        heights, log_c = self._heights(pos, neg), self._log_c(neg)
        log_r, top = self._total(heights.value, log_c, heights.slope if self.loss.decreasing else None)
        u.fill(0.0)
        w.fill(0.0)
        total = 0.0
        if log_r == -math.inf or top == -math.inf:
            return Evaluation(log_r, math.nan, (u, w), np.ones(1), total)
        with np.errstate(over="ignore", invalid="ignore"):
            b, B = heights.value, heights.slope
            exponent = heights.exponent if isinstance(heights.exponent, np.ndarray) else None
            logs, signs = (None, None) if self._log_wide is None else (np.empty_like(b), np.empty_like(b))
            for rows in blocks(b.size, _BLOCK):  # b over e^top / R, in the place of log S
                _, log_b, sign = self.price.log_terms(b[rows])
                if log_c is not None:
                    log_b = log_b + log_c[rows]
                if logs is not None and signs is not None:
                    logs[rows], signs[rows] = np.where(log_b <= top, log_b, -math.inf), sign
                b[rows] = sign * np.where(log_b <= top, np.exp(log_b - top), 0.0)  # rows above it have no slope
                if exponent is not None:
                    B[rows] *= sign * np.exp(log_b - log_r + self._log_unit + exponent[rows])
                else:
                    B[rows] *= b[rows]
            back = self._sums(Pairs(neg, b if signs is None else signs, pos, -1.0, self.pool, value=False), logs)
            A, scale = back.slope, top - log_r + self._log_unit
            if self._log_wide is not None:
                A *= np.exp(np.where(A == 0.0, 0.0, back.exponent - log_r + pos.gather(self._log_wide)))
                scale = 0.0
            elif exponent is not None or isinstance(back.exponent, np.ndarray):
                A *= np.exp(back.exponent + scale)
                if exponent is None:
                    B *= math.exp(scale)
                scale = 0.0
            if self._shares is not None and self._log_wide is None:
                A *= pos.gather(self._shares)
            pos.scatter(A, u)
            neg.scatter(B, w)
            total = float(np.abs(u).sum()) or float(np.abs(w).sum())  # all A may be zero although no B is
            if not math.isfinite(total) or (total > 0.0 and math.log(total) + scale > 709.0):
                raise OverflowError("the slopes of log R overflow; scale the weak rankers down")
            if total > 0.0:
                u /= total
                w /= total
                total = math.exp(math.log(total) + scale)
        return Evaluation(log_r, math.nan, (u, w), np.ones(1), total)

    # Steps

    def step(
        self, f: Scores, u: Vector, w: Vector, direction: Direction, sign: float, start: Start | None = None
    ) -> float:
        """Return the step along a direction that minimises R, or only lowers it if the price falls somewhere.

        `start` is log R at f and its rate, if u and w are the weights there. The rest is as in `PNorm.step`.
        """
        # Steps are in units of a power of two near the range, so a step times a slope does not overflow for any range.
        scale = _checks.power_of_two(direction.span)
        if scale < _MIN_RANGE:
            return sign * math.inf
        h_pos, h_neg = direction.pos, direction.neg

        def slope(rate: float, u: Vector, w: Vector) -> float:
            edge = (dot(u, h_pos) - dot(w, h_neg)) / scale
            return -sign * rate * edge if abs(edge) > _MIN_RANGE else 0.0

        if start is None:
            here = self.evaluate(f, u, w)
            start = here.log_f, here.rate
        log_r, first_slope = start[0], slope(start[1], u, w)
        if not first_slope < 0.0:
            return 0.0
        weights = np.empty_like(u), np.empty_like(w)

        @cache
        def evaluate(x: float) -> tuple[float, float]:
            if x == 0.0:
                return 0.0, first_slope
            try:
                step = sign * x / scale
                there = self.evaluate(Scores(f.pos + step * h_pos, f.neg + step * h_neg), *weights)
            except OverflowError:
                return math.inf, math.nan
            return there.log_f - log_r, slope(there.rate, *weights)

        unit = scale / direction.span
        traits = self.traits
        if traits.nonsmooth is not None and traits.is_convex:
            rounding = 1e-15 * (1.0 + abs(log_r) if self.price.log_convex else self.power)
            return sign / scale * _line_search.corner_step(evaluate, unit, self._convex_since, rounding)
        if direction.gap(sign) == 0.0 and traits.margin is not None and not traits.attains_zero:
            limit = self._log_limit(f, direction, sign)
            if limit > -math.inf:
                return sign / scale * _line_search.falling_step(evaluate, unit, limit - log_r)
        highest = math.inf if traits.is_convex else 1e-12 * (1.0 + abs(log_r))
        return sign / scale * _line_search.smooth_step(evaluate, unit, highest)

    def _log_limit(self, f: Scores, direction: Direction, sign: float) -> float:
        """Return the limit of log R along a direction in which no score difference falls and some are constant."""
        sides = sign * direction.pos, sign * direction.neg
        n = 1 if self.groups is None else self.groups.n
        codes = [
            np.zeros(h.size, np.intp) if c is None else c for h, c in zip(sides, self._grouping.codes, strict=True)
        ]
        level = np.full(n, np.inf)
        np.minimum.at(level, codes[0], sides[0])
        above, below = (h - level[c] for h, c in zip(sides, codes, strict=True))
        close = direction.close
        smallest = min(float(x.min(initial=np.inf)) for x in (above[above > close], -below[below < -close]))
        spread = max(f.pos.max(), f.neg.max()) - min(f.pos.min(), f.neg.min())
        far = min((800.0 + spread) / smallest, 1e150 / direction.span)
        return self.log_value(Scores(f.pos + far * above, f.neg + far * below))

    def _convex_since(self, change: float) -> tuple[float, float]:
        """Return the change of the convex form and its slope for a change of log R, divided by the slope before it."""
        if self.price.log_convex:
            return change, 1.0
        change /= self.power
        return self.power * math.expm1(change), math.exp(change)
