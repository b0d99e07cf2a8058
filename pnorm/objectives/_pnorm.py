"""The objective of the P-Norm Push."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import CaseWeights, Groups, Vector
from pnorm._core import _tilt
from pnorm._threads import ROWS, SERIAL, Pool, blocks, merge_exponentials
from pnorm.objectives._base import Evaluation, Scores, Start, Traits, log_of, max_abs
from pnorm.objectives._pnorm_line import Direction, GroupLine, Line, Side, in_memory

_EPS = float(np.finfo(float).eps)


class PNorm:
    """The P-Norm Push: exponential loss and the price r ** p, in the log domain.

    With LSE the log of a sum of exponentials and c the case weights,

        log F_p = p LSE_i(log c_i - f_i) + LSE_k(log c_k + p f_k),

    u = softmax(log c - f) on the positives and w = softmax(log c + p f) on the negatives; F_p
    falls at the rate p F_p (<u, h> - <w, h>) along a weak ranker h.

    With query groups, F_p is a sum of such terms over groups g, and pi_g are their shares. u and w of a row are those
    within its group, times pi_g.
    """

    def __init__(
        self,
        p: float,
        log_c_pos: Vector | None,
        log_c_neg: Vector | None,
        groups: Groups | None = None,
        pool: Pool = SERIAL,
        sizes: tuple[float, float] | None = None,
    ) -> None:
        """Take the largest |log c| of either side if the weights are kept elsewhere."""
        self.p, self.groups, self.pool = p, groups, pool
        self._log_c_pos, self._log_c_neg, self._sizes = log_c_pos, log_c_neg, sizes

    @cached_property
    def traits(self) -> Traits:
        return Traits(
            "log F_p", "log F_p", True, self.p, factored=True, margin=1.0, tends_to_zero=True, told=f"p = {self.p:g}"
        )

    @property
    def log_c(self) -> tuple[Vector | None, Vector | None]:
        """Logarithms of the case weights of both sides; None if all are one."""
        return self._log_c_pos, self._log_c_neg

    def select_rows(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> PNorm:
        """Return the objective on some of the rows."""
        log_c_pos = None if self._log_c_pos is None else self._log_c_pos[pos]
        log_c_neg = None if self._log_c_neg is None else self._log_c_neg[neg]
        return PNorm(self.p, log_c_pos, log_c_neg, self.groups and self.groups.take(pos, neg), self.pool)

    def log_price_of_none(self, neg: NDArray[np.bool_]) -> float:
        """Return the log of zero, the price of a height of zero."""
        return -math.inf

    def convex(self, log_r: float) -> tuple[float, float]:
        """Return log F_p itself, which is convex."""
        return log_r, 1.0

    def evaluate(self, f: Scores, u: Vector, w: Vector, v: Vector | None = None) -> Evaluation:
        """Fill u and w, each of sum one, and v, if given, with the weights of negatives at p = 1.

        With groups, v sums to one in each group.
        """
        if self.groups is not None:
            return self._evaluate_groups(self.groups, f, u, w, v)
        sides = [(f.pos, self._log_c_pos, u, -1.0), (f.neg, self._log_c_neg, w, self.p)]
        if v is not None:
            sides.append((f.neg, self._log_c_neg, v, 1.0))
        logs = self._weigh(sides)
        if v is None:
            logs.append(logs[1] if self.p == 1.0 else self._log_sum(f.neg, self._log_c_neg, 1.0))
        intercept = intercept_of(self.p, logs[0], logs[1])
        return Evaluation(self.p * logs[0] + logs[1], logs[0] + logs[2], (u, w), np.ones(1), self.p, intercept)

    def _weigh(self, sides: Sequence[tuple[Vector, Vector | None, Vector, float]]) -> list[float]:
        """Fill in weights of sum one from scores, log c and a scale; return the logs of the sums of exponentials."""
        if max([weights.size for _, _, weights, _ in sides]) <= ROWS:  # one block per side
            return [_tilt.softmax_rows(f, log_c, scale, weights) for f, log_c, weights, scale in sides]
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
            factors.append(math.exp(largest - top) / total)  # exact to all digits for exponents of any size
        self.pool.map(
            lambda item: _tilt.rescale_rows(item[0][2], item[1], item[0][4].start, item[0][4].stop),
            list(zip(items, factors, strict=True)),
        )
        return logs

    def log_value(self, f: Scores) -> float:
        """Return log F_p."""
        if self.groups is not None:
            return self.evaluate(f, np.empty_like(f.pos), np.empty_like(f.neg)).log_f
        return self.p * self._log_sum(f.pos, self._log_c_pos, -1.0) + self._log_sum(f.neg, self._log_c_neg, self.p)

    def _log_sum(self, f: Vector, log_c: Vector | None, scale: float) -> float:
        return log_of(self.pool.map(lambda rows: _tilt.log_sum(f, log_c, scale, rows.start, rows.stop), blocks(f.size)))

    def sizes(self) -> tuple[float, float]:
        """Return the largest |log c| on either side, which contributes to the rounding error."""
        return self._sizes or (max_abs(self._log_c_pos), max_abs(self._log_c_neg))

    def rounding(self, log_r: float, n_pos: int, n_neg: int) -> float:
        """Bound the rounding error of log F_p, given the scores."""
        c_pos, c_neg = self.sizes()
        return 4.0 * _EPS * (abs(log_r) + self.p * (math.log(n_pos) + c_pos) + math.log(n_neg) + c_neg)

    def _evaluate_groups(self, groups: Groups, f: Scores, u: Vector, w: Vector, v: Vector | None) -> Evaluation:
        p, (of_pos, of_neg) = self.p, groups.runs
        # u and w are used as work arrays for rows group by group.
        pos = self._weighed(0, of_pos.sort(f.pos), -1.0, u)
        f_neg = of_neg.sort(f.neg)
        mass = self._weighed(1, f_neg, 1.0, w)
        if v is not None:
            v[:] = w if of_neg.order is None else of_neg.unsort(w)
        neg = mass if p == 1.0 else self._weighed(1, f_neg, p, w)
        del f_neg
        within = of_pos.unsort(u), of_neg.unsort(w)
        share, at_one = np.empty((2, groups.n))
        log_mass, log_f = _softmax(pos + mass, at_one), _softmax(p * pos + neg, share)
        _tilt.multiply_by_group(within[0], groups.pos, share, u)
        _tilt.multiply_by_group(within[1], groups.neg, share, w)
        return Evaluation(log_f, log_mass, within, share, p, share_at_one=at_one)

    @cached_property
    def _log_c_by_group(self) -> tuple[Vector | None, Vector | None]:
        """Logarithms of the case weights of both sides, group by group."""
        assert self.groups is not None
        pos, neg = self.groups.runs
        return pos.sort(self._log_c_pos), neg.sort(self._log_c_neg)

    def rows_of_groups(self) -> list[Any]:
        """Return the order of the rows, starts of groups, numbers of groups and sorted log c of either side."""
        assert self.groups is not None
        codes = self.groups.pos, self.groups.neg
        return [(*run, *more) for run, *more in zip(self.groups.runs, codes, self._log_c_by_group, strict=True)]

    def _weighed(self, side: int, f: Vector, scale: float, weights: Vector) -> Vector:
        """Fill in the weights of a side, which sum to one in each group; return the logs of the sums before."""
        assert self.groups is not None
        log_sums = np.empty(self.groups.n)
        _tilt.weigh_by_group(f, self._log_c_by_group[side], self.groups.runs[side].starts, scale, weights, log_sums)
        return log_sums

    def step(
        self, f: Scores, u: Vector, w: Vector, direction: Direction, sign: float, start: Start | None = None
    ) -> float:
        """Return the step that minimises F_p along a direction, equation (1) of the COLT paper.

        `sign` is the sign of the edge of the direction, and of the step. 0 means that rounding hides the edge. If the
        infimum is at infinity, the step ends where a millionth of the decrease is left. The direction must not
        separate strictly.
        """
        sides = (
            Side(f.pos, direction.pos, self._log_c_pos, u, -1.0),
            Side(f.neg, direction.neg, self._log_c_neg, w, self.p),
        )
        if self.groups is None:
            return Line(self.p, in_memory(sides, self.pool), direction, sign).step()
        return GroupLine(self.p, sides, direction, sign, self.groups.runs).step()


def intercept_of(p: float, log_pos: float, log_neg: float) -> float:
    """Return the intercept of probabilities from the log of sum_i c_i e^(-f_i) and that of sum_k c_k e^(p f_k)."""
    return (log_pos - log_neg) / (p + 1.0)


def push(p: float) -> Callable[[CaseWeights, Pool], PNorm]:
    """Return a function that makes the P-Norm Push of the rows that count."""

    def make(counted: CaseWeights, pool: Pool = SERIAL) -> PNorm:
        log_c_pos, log_c_neg = [None if c is None else np.log(c) for c in (counted.c_pos, counted.c_neg)]
        return PNorm(p, log_c_pos, log_c_neg, counted.groups, pool)

    return make


def _softmax(exponents: Vector, out: Vector) -> float:
    """Fill `out` with softmax(exponents); return the log of the sum of exponentials."""
    top, total = _tilt.weigh(exponents, None, out, 1.0, 0, out.size)
    out /= total
    return top + math.log(total)
