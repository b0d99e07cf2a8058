"""The protocol of an objective: a function of the scores of both sides.

An objective knows nothing of weak rankers, of storage or of the loop. `evaluate` returns its value and
the weights of the rows; `step` minimises it along a direction; `traits` are the facts by which
solvers decide what to do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _tilt
from pnorm._threads import SERIAL, Pool, blocks, merge_exponentials
from pnorm.objectives._pnorm_line import Direction, Groups

FAR_FROM_ZERO = 1e3
"""An offset of so many ranges costs scores three digits."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of both sides, changed in place from round to round."""

    pos: Vector
    neg: Vector

    def advance(self, direction: Direction, step: float, pool: Pool = SERIAL) -> None:
        """Add step * h to the scores of both sides. A constant in h cancels in every pair."""
        sides = (self.pos, direction.pos), (self.neg, direction.neg)
        pool.map(
            lambda item: _tilt.advance(item[0], item[1], step, item[2].start, item[2].stop),
            [(f, h, rows) for f, h in sides for rows in blocks(f.size)],
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The objective at some scores, beside the weights u and w."""

    log_f: float
    """log of the objective."""
    log_mass: float
    """log of the sum of q over all pairs; nan where the objective is not the P-Norm Push."""
    within: tuple[Vector, Vector]
    """u and w divided by the shares of their groups: of sum one in each."""
    share: Vector
    """pi, (G,), of sum one."""
    rate: float
    """The objective's logarithm falls along a ranker at this rate for each unit of its edge."""


@dataclass(frozen=True)
class Corner:
    """The part of an objective that has no derivative somewhere."""

    part: Literal["price", "loss"]
    name: str
    smoothable: bool = False
    """Whether the argument `smoothing` rounds it off."""

    def __str__(self) -> str:
        return f"{self.part} {self.name}"


@dataclass(frozen=True)
class Traits:
    """Facts of an objective R, by which solvers decide."""

    symbol: str
    """The name of its logarithm."""
    convex_form: str
    """The name of the function of R that is convex in the coefficients, if any is: the logarithm, or a root."""
    is_convex: bool
    """Whether that function is convex."""
    p: float = 1.0
    """Largest factor by which scores enter exponents."""
    factored: bool = False
    """Whether it is the P-Norm Push: u and w are softmax weights, which multiply along a ranker of few values."""
    margin: float | None = None
    """Difference of scores at which a separating ranker has done its work; None: separation is nothing special."""
    attains_zero: bool = False
    """Whether losses are zero from there on, so that a minimiser exists where the sides can be separated."""
    tends_to_zero: bool = False
    """Whether losses go to zero, at infinity or before, so that rows may lose all weight."""
    nonsmooth: Corner | None = None
    """The part that has no derivative somewhere; None where all have one."""


class Objective(Protocol):
    """An objective R, as solvers see it."""

    groups: Groups | None
    pool: Pool

    @property
    def traits(self) -> Traits:
        """Facts by which solvers decide."""

    def evaluate(self, f: Scores, u: Vector, w: Vector, v: Vector | None = None) -> Evaluation:
        """Fill u and w with the weights of the rows, which give the edges; v is for the P-Norm Push alone."""

    def log_value(self, f: Scores) -> float:
        """Return log R."""

    def step(
        self,
        f: Scores,
        u: Vector,
        w: Vector,
        direction: Direction,
        sign: float,
        start: tuple[float, float] | None = None,
    ) -> float:
        """Return the step that minimises R along a direction whose edge has the sign; 0 where rounding hides it.

        `start` is log R at f and its rate, if u and w are known to be the weights there.
        """

    def convex(self, log_r: float) -> tuple[float, float]:
        """Return the convex form of log R and its derivative."""

    def select_rows(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> Objective:
        """Return the objective on some of the rows."""

    def log_price_of_none(self, neg: NDArray[np.bool_]) -> float:
        """Return the log of the price that some negatives pay for heights of zero."""

    def sizes(self) -> tuple[float, float]:
        """Return the largest |log c| on either side: what rounds beside the scores."""

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
    """Return the rows that count, given checked weights and groups as numbers."""
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


def spread(values: Any, kept: NDArray[np.bool_] | None, fill: Any = 0.0) -> Any:
    """Return values of the rows that count as values of the user's rows; the others get `fill`."""
    if kept is None:
        return values
    whole = np.full(kept.size, fill, dtype=np.asarray(values).dtype)
    whole[kept] = values
    return whole


def max_abs(log_c: Vector | None) -> float:
    """Return the largest |log c|; zero where all c are one."""
    return 0.0 if log_c is None else float(np.abs(log_c).max())


def log_of(parts: list[tuple[float, float]]) -> float:
    """Return the log of a sum of exponentials from those of blocks of rows, in their order."""
    top, total = merge_exponentials(parts)
    return top + math.log(total)
