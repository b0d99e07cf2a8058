"""The choice of a cut that keeps a target: sequences of tests, and the laws of the counts of held-out rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc, betainc, betaincinv, ndtr

from pnorm._checks import Vector
from pnorm.metrics._shares import high as _high
from pnorm.metrics._shares import low as _low

_RATIO = 1.2
"""From one tested cut to the next, at least so many times as many wrong rows are allowed."""

_PART = 4
"""The first cut allows a wrong row, unless it would take more than this part of the rows."""

_NODES = np.linspace(-8.5, 8.5, 401)
_MASSES = np.exp(-0.5 * _NODES**2) / np.exp(-0.5 * _NODES**2).sum()
"""A trapezoidal rule over quantiles of a normal variable."""


def precise(rows: HeldOutRows, target: float, level: float, least: int = 1) -> tuple[bool, Cut, int]:
    """Return whether a cut of at least so many rows keeps a precision, the deepest in sequence or else the first.

    The number of cuts comes last.
    """
    sizes = _sizes(lambda x, y: rows.p_value(x, y, target), level, rows, least)
    best, skipped = None, None
    for x, y in sizes:
        cut = rows.cut(x, y)
        if cut.size < least:  # because of ties
            continue
        if rows.p_value(cut.size, 0, target) > level:  # ties have left too few rows, whatever their labels
            skipped = cut
            continue
        if rows.p_value(cut.pos, cut.neg, target) > level:
            return best is not None, best or cut, len(sizes)
        best = cut
    if best is not None:
        return True, best, len(sizes)
    nearest = skipped or rows.cut(max(1, rows.most // 2, least), 0)
    return False, nearest if nearest.size >= least else Cut(math.inf, 0, 0), max(1, len(sizes))


def _sizes(
    p_value: Callable[[int, int], float], level: float, rows: HeldOutRows, least: int = 1
) -> list[tuple[int, int]]:
    """Return positives x and negatives y of cuts to be tested, with at least so many rows.

    Each has as few positives as so many negatives allow.
    """

    def enough(y: int) -> Callable[[int], bool]:
        return lambda x: p_value(x, y) <= level

    wrong, found = 1, []
    x = _least(enough(wrong), 1, rows.most)
    if x + wrong > rows.most // _PART:
        wrong = 0
        x = _least(enough(wrong), 1, rows.most)
    if x + wrong < least:
        wrong = _least(lambda y: _least(enough(y), 1, rows.most) + y >= least, wrong, least)
        x = _least(enough(wrong), 1, rows.most)
        if x + wrong > rows.most:  # the list ends before one more negative is allowed
            return [(least - wrong + 1, wrong - 1)]
    while x <= rows.most and rows.has(x, wrong):
        found.append((x, wrong))
        wrong = max(wrong + 1, math.floor(_RATIO * wrong))
        x = _least(enough(wrong), x, rows.most)
    return found


def _least(suits: Callable[[int], bool], low: int, most: int) -> int:
    """Return the least integer from `low` on that suits, as all larger ones do; most + 1 if none up to `most` does."""
    high = most + 1
    while low < high:
        middle = (low + high) // 2
        if suits(middle):
            high = middle
        else:
            low = middle + 1
    return low


def complete(rows: HeldOutRows, target: float, level: float) -> tuple[bool, Cut]:
    """Return whether a cut keeps a recall, and the cut at the score of a positive that takes fewest rows, or all."""
    size = rows.pos.size
    k = _least(lambda k: float(bdtrc(k - 1, size, target)) <= level, 1, size)
    return k <= size, rows.at(rows.pos[size - min(k, size)])


@dataclass(frozen=True)
class Cut:
    """The rows with a score or more."""

    score: float
    pos: int
    neg: int

    @property
    def size(self) -> int:
        return self.pos + self.neg


class HeldOutRows(ABC):
    """Sorted scores of held-out rows of both sides, and what counts of them say about new rows."""

    def __init__(self, pos: Vector, neg: Vector) -> None:
        self.pos, self.neg = pos, neg

    def at(self, score: float) -> Cut:
        """Return the cut at a score."""
        pos, neg = (side.size - int(np.searchsorted(side, score, side="left")) for side in (self.pos, self.neg))
        return Cut(float(score), pos, neg)

    @property
    @abstractmethod
    def most(self) -> int:
        """The largest cut, in the unit of `cut`."""

    @abstractmethod
    def has(self, x: int, y: int) -> bool:
        """Return whether a cut may have so many positives and negatives."""

    @abstractmethod
    def cut(self, x: int, y: int) -> Cut:
        """Return the cut for x positives and y negatives; it does not depend on the labels."""

    @abstractmethod
    def within(self, share: float) -> Cut:
        """Return the deepest cut that takes at most a share of new rows."""

    @abstractmethod
    def share(self, cut: Cut) -> float:
        """Return the share of new rows that a cut takes, estimated from the rows."""

    @abstractmethod
    def precision(self, cut: Cut) -> float:
        """Return the share of positives among them, estimated from the rows."""

    @abstractmethod
    def p_value(self, x: int, y: int, precision: float) -> float:
        """Return the p-value of x positives and y negatives for a lower precision of new rows."""

    @abstractmethod
    def low(self, cut: Cut, level: float) -> float:
        """Return a lower bound of the precision; it is too high with this probability at most."""

    @abstractmethod
    def high(self, cut: Cut, level: float) -> float:
        """Return an upper bound of the precision; it is too low with this probability at most."""

    @abstractmethod
    def taken(self, cut: Cut) -> tuple[Vector, Vector]:
        """Return the share of new rows that are positive and taken at `_NODES`, for a lower bound and an upper one."""


class DrawnRows(HeldOutRows):
    """Rows that were drawn like new ones. A cut is at the score of some row, of either side."""

    def __init__(self, pos: Vector, neg: Vector) -> None:
        super().__init__(pos, neg)
        self.all = np.sort(np.concatenate([pos, neg]))

    @property
    def most(self) -> int:
        return self.all.size - 1

    def has(self, x: int, y: int) -> bool:
        return x + y <= self.most

    def cut(self, x: int, y: int) -> Cut:
        return self.at(np.nextafter(self.all[-1 - x - y], np.inf))

    def within(self, share: float) -> Cut:
        return self.cut(whole(share * self.all.size), 0)

    def share(self, cut: Cut) -> float:
        return cut.size / self.all.size

    def precision(self, cut: Cut) -> float:
        return cut.pos / cut.size

    def p_value(self, x: int, y: int, precision: float) -> float:
        return float(bdtr(y, x + y, 1.0 - precision))

    def low(self, cut: Cut, level: float) -> float:
        return _low(cut.pos, cut.neg, level)

    def high(self, cut: Cut, level: float) -> float:
        return _high(cut.pos, cut.neg, level)

    def taken(self, cut: Cut) -> tuple[Vector, Vector]:
        return shares_at_nodes(cut.pos, self.all.size - cut.pos)


class ReweightedRows(HeldOutRows):
    """Rows of which either side was drawn like that side of new ones. A cut is at the score of some positive."""

    def __init__(self, pos: Vector, neg: Vector, prior: float) -> None:
        super().__init__(pos, neg)
        self.prior, self.odds = prior, prior / (1.0 - prior)

    @property
    def most(self) -> int:
        return self.pos.size

    def has(self, x: int, y: int) -> bool:
        return y < self.neg.size

    def cut(self, x: int, y: int) -> Cut:
        return self.at(self.pos[self.pos.size - x])

    def within(self, share: float) -> Cut:
        ranks = range(self.pos.size, 0, -1)
        k = _least(lambda k: self.share(self.cut(ranks[k], 0)) <= share, 0, len(ranks) - 1)
        return self.cut(ranks[k], 0) if k < len(ranks) else Cut(math.inf, 0, 0)

    def share(self, cut: Cut) -> float:
        return self.prior * cut.pos / self.pos.size + (1.0 - self.prior) * cut.neg / self.neg.size

    def precision(self, cut: Cut) -> float:
        return self.prior * cut.pos / self.pos.size / self.share(cut)

    def p_value(self, x: int, y: int, precision: float) -> float:
        ratio = precision / (1.0 - precision) / self.odds
        return _below((x, self.pos.size - x + 1), (y + 1, self.neg.size - y), ratio)

    def low(self, cut: Cut, level: float) -> float:
        U, V = (cut.pos, self.pos.size - cut.pos + 1), (cut.neg + 1, self.neg.size - cut.neg)
        return self._at(lambda ratio: _below(U, V, ratio) - level) if cut.pos else 0.0

    def high(self, cut: Cut, level: float) -> float:
        U, V = (cut.pos + 1, self.pos.size - cut.pos), (cut.neg, self.neg.size - cut.neg + 1)
        return self._at(lambda ratio: _below(U, V, ratio) - (1.0 - level)) if cut.neg else 1.0

    def taken(self, cut: Cut) -> tuple[Vector, Vector]:
        low, high = shares_at_nodes(cut.pos, self.pos.size - cut.pos)
        return self.prior * low, self.prior * high

    def _at(self, of_ratio: Callable[[float], float]) -> float:
        """Return the precision at the ratio of rates where an increasing function is zero."""
        log_odds = float(brentq(lambda log: of_ratio(math.exp(log)), -60.0, 60.0, xtol=1e-10)) + math.log(self.odds)
        return 1.0 / (1.0 + math.exp(-log_odds))


def _below(U: tuple[int, int], V: tuple[int, int], ratio: float) -> float:
    """Return P(U < ratio V) of two independent betas; one whose second parameter is 0 is 1, whose first is 0 is 0."""
    if U[0] == 0:
        return 1.0
    if U[1] == 0:
        return 1.0 - float(betainc(*V, min(1.0, 1.0 / ratio))) if V[1] else float(ratio > 1.0)
    if V[1] == 0:
        return float(betainc(*U, min(1.0, ratio)))
    return float(betainc(*U, np.minimum(ratio * _quantiles(*V), 1.0)) @ _MASSES)


@lru_cache(maxsize=256)
def _quantiles(a: int, b: int) -> Vector:
    """Return the quantiles of a beta at the nodes."""
    return np.asarray(betaincinv(a, b, ndtr(_NODES)))


def shares_at_nodes(hits: int, others: int) -> tuple[Vector, Vector]:
    """Return quantiles, at `_NODES`, of the betas of which the bounds of Clopper and Pearson are quantiles."""
    low = _quantiles(hits, others + 1) if hits else np.zeros_like(_NODES)
    return low, _quantiles(hits + 1, others) if others else np.ones_like(_NODES)


def quantile(n: int, shares: Vector, level: float) -> int:
    """Return the least number of hits in n rows that has this probability, or more, of not being exceeded.

    The share of hits has a law of which these are the quantiles at `_NODES`.
    """
    return _least(lambda k: float(bdtr(k, n, shares) @ _MASSES) >= level, 0, n)


def whole(rows: float) -> int:
    """Return a number of rows, rounded down to whole ones."""
    return math.floor(rows * (1.0 + 1e-12))
