"""The protocol of an objective: a function of the scores of both sides.

An objective is independent of weak rankers, storage and solver. `evaluate` returns its value and the weights of the
rows. `step` minimises it along a direction. `traits` are the properties that solvers depend on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import CaseWeights, Groups, Vector
from pnorm._checks.records import record
from pnorm._core import _tilt
from pnorm._threads import SERIAL, Pool, blocks, merge_exponentials
from pnorm.objectives._pnorm_line import Direction

FAR_FROM_ZERO = 1e3
"""An offset of this many ranges costs scores three digits."""


Start = tuple[float, float]
"""The logarithm of an objective at some scores, and its rate."""


@record(frozen=True, eq=False)
class Scores:
    """The scores of both sides, changed in place from round to round."""

    pos: Vector
    neg: Vector

    def seen_by(self, push: str) -> Scores:
        """The scores for a push: for a push at the bottom the sides are exchanged, and scores change their sign."""
        return self if push == "top" else Scores(-self.neg, -self.pos)

    def advance(self, direction: Direction, step: float, pool: Pool = SERIAL) -> None:
        """Add step * h to the scores of both sides. A constant in h cancels in every pair."""
        sides = (self.pos, direction.pos), (self.neg, direction.neg)
        pool.map(
            lambda item: _tilt.advance(item[0], item[1], step, item[2].start, item[2].stop),
            [(f, h, rows) for f, h in sides for rows in blocks(f.size)],
        )


@record(frozen=True, eq=False)
class Evaluation:
    """The objective at given scores, in addition to the weights u and w."""

    log_f: float
    """log of the objective."""
    log_mass: float
    """log of the sum of q over all pairs; nan unless the objective is the P-Norm Push."""
    within: tuple[Vector, Vector]
    """u and w divided by the shares of their groups, so that they sum to one in each group."""
    share: Vector
    """pi, (G,), of sum one."""
    rate: float
    """The objective's logarithm falls along a ranker at this rate for each unit of its edge."""
    intercept: float = math.nan
    """The intercept of probabilities computed from these scores; nan if the objective gives none."""
    share_at_one: Vector | None = None
    """The shares of groups at p = 1; None without groups."""


@dataclass(frozen=True)
class Corner:
    """The part of an objective that has no derivative somewhere."""

    part: Literal["price", "loss"]
    name: str
    smoothable: bool = False
    """Whether the argument `smoothing` rounds it off."""

    def __str__(self) -> str:
        return f"{self.part} {self.name}"


@record(frozen=True)
class Traits:
    """Properties of an objective R that solvers depend on."""

    symbol: str
    """The name of its logarithm."""
    convex_form: str
    """The function of R that is convex in the coefficients, if there is one: the logarithm, or a root."""
    is_convex: bool
    """Whether that function is convex."""
    p: float = 1.0
    """Largest factor by which scores enter exponents."""
    factored: bool = False
    """Whether it is the P-Norm Push: u and w are softmax weights, which multiply along a ranker of few values."""
    margin: float | None = None
    """Score difference up to which a step along a separating ranker goes; None if separation needs no special step."""
    attains_zero: bool = False
    """Whether losses are zero beyond this margin, so that a minimiser exists if the sides are separable."""
    tends_to_zero: bool = False
    """Whether losses go to zero, at infinity or before, so that rows may lose all weight."""
    nonsmooth: Corner | None = None
    """The part that has no derivative somewhere; None if all have one everywhere."""
    told: str = ""
    """The price and the loss, in a few words."""


class Objective(Protocol):
    """The interface of an objective R for solvers."""

    groups: Groups | None
    pool: Pool

    @property
    def traits(self) -> Traits:
        """Properties that solvers depend on."""

    def evaluate(self, f: Scores, u: Vector, w: Vector, v: Vector | None = None) -> Evaluation:
        """Fill u and w with the weights of the rows, which give the edges; only the P-Norm Push uses v."""

    def log_value(self, f: Scores) -> float:
        """Return log R."""

    def step(
        self, f: Scores, u: Vector, w: Vector, direction: Direction, sign: float, start: Start | None = None
    ) -> float:
        """Return the step that minimises R along a direction; `sign` is that of its edge. 0 if rounding hides the edge.

        `start` is the evaluation at the scores f, if u and w are the weights there.
        """

    def convex(self, log_r: float) -> tuple[float, float]:
        """Return the convex form of log R and its derivative."""

    def select_rows(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> Objective:
        """Return the objective on some of the rows."""

    def log_price_of_none(self, neg: NDArray[np.bool_]) -> float:
        """Return the log of the price that some negatives pay for heights of zero."""

    def sizes(self) -> tuple[float, float]:
        """Return the largest |log c| on either side, which contributes to the rounding error."""

    def rounding(self, log_r: float, n_pos: int, n_neg: int) -> float:
        """Bound the rounding error of log R, given the scores."""


Make = Callable[[CaseWeights, Pool], Objective]
"""A function that makes an objective of the rows that count."""


def max_abs(log_c: Vector | None) -> float:
    """Return the largest |log c|; zero if all c are one."""
    return 0.0 if log_c is None else float(np.abs(log_c).max())


def log_of(parts: list[tuple[float, float]]) -> float:
    """Return the log of a sum of exponentials from the sums over blocks of rows, in their order."""
    top, total = merge_exponentials(parts)
    return top + math.log(total)


def log_of_ones(p: float, c_pos: Vector, c_neg: Vector, groups: Groups | None) -> float:
    """Return log R of the price r ** p if all losses are one."""
    largest = float(c_pos.max())  # the sum of large weights may overflow
    shares = c_pos / largest
    masses: Any = shares.sum() if groups is None else np.bincount(groups.pos, shares)[groups.neg]
    with np.errstate(divide="ignore"):
        logs = np.log(c_neg) + p * np.log(masses)
    top = float(logs.max())
    return top + math.log(np.exp(logs - top).sum()) + p * math.log(largest)
