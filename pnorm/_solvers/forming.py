"""Weights that the parts form by themselves, and the point that their sums give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.reductions import FormedWeights, Rows, each, reduction
from pnorm._solvers.steps import Steps, sums_after_steps
from pnorm.objectives._base import Scores
from pnorm.objectives._pnorm import intercept_of


@dataclass(frozen=True, eq=False)
class Point:
    """The objective at one vector of coefficients."""

    lam: Vector
    f: Scores
    """The scores; if weights are formed by the parts, only their extremes."""
    weights: Any
    log_f: float
    log_mass: float
    rate: float
    """Rate at which log F_p falls along a ranker for each unit of its edge."""
    intercept: float
    """Intercept of probabilities computed from the scores; nan if the objective gives none."""
    precise: bool
    """Whether the scores were formed in twice the working precision."""
    sizes: tuple[float, float, float] | None = None
    """u-mean and w-mean of the absolute scores, and the largest absolute score, if scores are precise."""


def _sums_at(rows: Rows, f: Vector, of_rankers: bool, scales: tuple[float, ...]) -> Any:
    """The result of `sums_of_weights` for rows with these scores."""
    weights, sums = rows.weigh(f, scales)
    if of_rankers:
        more = rows.table.totals(rows.pool.run(rows.table.tally(weights[0]))[0])
    else:
        more = float(weights[0] @ np.abs(f))
    top, total = sums[0]
    return float(f.min()), float(f.max()), (top, np.r_[total, more]), sums[-1]


@reduction("min", "max", "exponentials", "exponentials")
def sums_of_weights(rows: Rows, lam: Vector, level: float | None, of_rankers: bool, scales: tuple[float, ...]) -> Any:
    """Extremes of the scores; sums of exponentials for the first scale, and for the last.

    The sums for the first scale come with the totals of these weights, or the sum of their |f|.
    """
    return _sums_at(rows, rows.scores(lam, level), of_rankers, scales)


@each(sums_of_weights)
def sums_after(rows: Rows, lam: Vector, after: Vector, shares: tuple[float, ...], scales: tuple[float, ...]) -> Any:
    """Return what `sums_of_weights` does, without totals, after shares of a step."""
    start, change = rows.scores(lam), rows.scores(after)
    change -= start
    return [_sums_at(rows, start + share * change, False, scales) for share in shares]


def _scales(p: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Factors of the scores in the exponents of either side."""
    return (-1.0,), (p,) if p == 1.0 else (p, 1.0)


def formed(
    problem: Any, lam: Vector, level: float | None = None, of_rankers: bool = False
) -> tuple[Point, tuple[Vector, Vector]]:
    """Compute sums of the weights in all parts, in one exchange; with a level, scores are precise.

    Return the point, and the u-mean and w-mean of the totals or of |f|, which come with the sums.
    """
    scales = _scales(problem.objective.traits.p)
    found = problem.reduce(sums_of_weights, (lam, lam), (level, level), (of_rankers, of_rankers), scales)
    return _formed_of(problem, lam, level, found)


def formed_by_steps(problem: Any, steps: Steps, lam: Vector) -> tuple[Point, tuple[Vector, Vector]]:
    """Do as `formed` does, with totals, where the parts multiply the weights that they keep; no extremes of scores."""
    scales = _scales(problem.objective.traits.p)
    return _formed_of(problem, lam, None, problem.reduce(sums_after_steps, (steps, steps), scales))


def formed_after(problem: Any, lam: Vector, after: Vector, shares: tuple[float, ...]) -> list[Point]:
    """Compute the points after shares of a step, in one exchange with all parts."""
    scales = _scales(problem.objective.traits.p)
    found = zip(*problem.reduce(sums_after, (lam, lam), (after, after), (shares, shares), scales), strict=True)
    return [
        _formed_of(problem, lam + share * (after - lam), None, of_share)[0]
        for share, of_share in zip(shares, found, strict=True)
    ]


def _formed_of(
    problem: Any, lam: Vector, level: float | None, found: Sequence[Any]
) -> tuple[Point, tuple[Vector, Vector]]:
    """Return the result of `formed`, given the results of both sides."""
    p = problem.objective.traits.p
    (*of_pos, u, _), (*of_neg, w, v) = found
    of_u, of_w, of_v = [(float(top), float(np.ravel(sums)[0])) for top, sums in (u, w, v)]
    weights = FormedWeights(lam.copy(), (-1.0, p), (of_u, of_w), level)
    f = Scores(np.array(of_pos), np.array(of_neg))
    log_u, log_w, log_v = [top + math.log(total) for top, total in (of_u, of_w, of_v)]
    more = u[1][1:] / of_u[1], w[1][1:] / of_w[1]
    sizes = None
    if level is not None:
        sizes = float(more[0][0]), float(more[1][0]), max([float(np.abs(part).max()) for part in (f.pos, f.neg)])
    intercept = intercept_of(p, log_u, log_w) - (level or 0.0) - problem.constant_at(lam)
    point = Point(weights.lam, f, weights, p * log_u + log_w, log_u + log_v, p, intercept, level is not None, sizes)
    return point, more
