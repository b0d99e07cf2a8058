r"""A bound on how far log F_p is above its infimum, valid in floating point.

For any u, w on the two sides, with equal masses pi_g in every group and matching moments
Hᵀu = H̃ᵀw, weak duality says

    log F_p >= -p sum u ln(u/c) - sum w ln(w/c) + p sum_g pi_g ln pi_g    for every lam,

(one group: p Ent(u) + Ent(w)). Such u', w' come from the weights at lam by one Newton step, and
then log F_p(lam) less the bound is a sum of relative entropies, all of them nonnegative,

    gap = KL(pi' | pi) + sum_g pi'_g [p KL(u'_g | u_g) + KL(w'_g | w_g)],

which loses no digits however near the minimiser lam is. Rounding enters in two ways, both bounded
below. The moments of u', w' match to rounding only: with the Hessian's inverse there is a small
change of u', w' after which they match, and as the entropies are stationary at u, its effect is of
second order. And log F_p(lam) itself is rounded, which the gap includes, so that it bounds what is
reported as the objective.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._curvature import Curvature
from pnorm._line import Groups
from pnorm._outputs import SIDES
from pnorm._problem import Point, Problem

_EPS = float(np.finfo(float).eps)

_LEAST = 1e-9
"""Share of its weight that a row must keep: rounding must not decide on which side of zero a weight is."""


@dataclass(frozen=True)
class Bound:
    """What can be said of log F_p + l2/2 |lam|**2 at a point."""

    gap: float
    """Nats above the infimum, at most; inf where there is no certificate."""
    rounding: float
    """The part of it that stands for rounding."""
    moment_residual: float
    """Largest difference of a moment of u' and w'; nan where there are none."""
    least: float
    """Least ratio of a weight of u', w' to its weight in u, w: one at the minimiser."""
    reason: str
    """Why there is no certificate; empty where there is one."""


def certify(problem: Problem, point: Point, curvature: Curvature, delta: Vector) -> Bound:
    """Bound the objective at a point from below, with its curvature and its Newton step delta."""
    p, l2 = problem.objective.p, curvature.l2
    rounding = _rounding_of_value(problem, point, curvature)
    careful = curvature.null is not None
    reason = _why_not(curvature) if l2 == 0.0 else ""
    worst = math.nan
    for attempt in range(3):
        moved = _Moved(problem, point, delta)
        if moved.lowest < _LEAST and l2 > 0.0:
            moved = _Moved(problem, point, np.zeros_like(delta))  # with a penalty, any weights will do
        if moved.lowest < _LEAST:
            reason = "the weights that a Newton step gives are not all positive"
        if reason:
            break
        residual, error = _residual(problem, curvature, moved, careful)
        worst = float(np.abs(residual).max())
        slack = _effect_of_scores(problem, point, moved) + rounding
        if l2 > 0.0:
            short = np.abs(l2 * point.lam - p * residual) + p * error
            gap = moved.entropy + float(short @ short) / (2.0 * l2) + slack
            return Bound(gap, rounding, worst, moved.lowest, "")
        reach = np.sqrt(np.einsum("jr,jr->j", curvature.root, curvature.root))
        left = p * curvature.slack * (float(np.linalg.norm(curvature.root.T @ residual)) + float(reach @ error))
        repair = left * moved.turn + 2.0 * left * left / moved.lowest
        leverage = 2.0 * float(reach @ (problem.high - problem.low))
        if careful and p * left * leverage > 0.25 * moved.lowest:
            leverage = 2.0 * curvature.leverage()
        if p * left * leverage <= 0.25 * moved.lowest and (attempt == 2 or repair <= 0.1 * moved.entropy + rounding):
            return Bound(moved.entropy + repair + slack, rounding, worst, moved.lowest, "")
        delta = delta + curvature.solve(p * residual)
        careful = True
    reason = reason or "weak rankers are nearly dependent, and rounding hides whether their moments match"
    return Bound(math.inf, rounding, worst, moved.lowest, reason)


def _why_not(curvature: Curvature) -> str:
    """Why the Hessian proves nothing, if it does not."""
    if curvature.null is not None and not curvature.null.exact:
        return "some combination of weak rankers is the same on all rows but for a little more than rounding"
    if curvature.cut.shape[1]:
        return "only rows of next to no weight tell some weak rankers apart"
    return ""


def penalised_gap(problem: Problem, point: Point, edges: Vector, l2: float) -> tuple[float, float]:
    """A bound that needs no Hessian, and its rounding: |gradient|**2 / (2 l2).

    It holds for any convex objective with the penalty; for the P-Norm Push it is the bound above
    with u' = u and w' = w.
    """
    objective, size = problem.objective, problem.largest
    factor = objective.convex(point.log_f)[1] if point.log_f > -math.inf else 0.0
    rate = problem.fall(point)
    weight = float(np.abs(point.lam) @ size)
    rounding = factor * objective.rounding(point.log_f, problem.n_pos, problem.n_neg) if factor else 0.0
    rounding += _EPS * (2.0 * rate * point.lam.size * weight + 4.0 * l2 * float(point.lam @ point.lam))
    error = rate * (max(problem.n_pos, problem.n_neg) + 8) * _EPS * 2.0 * size
    short = np.abs(l2 * point.lam - rate * edges) + error
    return float(short @ short) / (2.0 * l2) + rounding, rounding


class _Moved:
    """The weights u', w' that a Newton step makes of u, w, and their relative entropies."""

    def __init__(self, problem: Problem, point: Point, delta: Vector) -> None:
        p, groups, weights = problem.objective.p, problem.objective.groups, point.weights
        at: Any = (np.intp(0), np.intp(0)) if groups is None else (groups.pos, groups.neg)
        sides = [part.copy() for part in problem.outputs.combine(delta)]
        means = []
        for side, within, codes in zip(sides, weights.within, at, strict=True):
            mean = _by_group(groups, codes, within * side)
            side -= mean[codes]
            left = _by_group(groups, codes, within * side)  # of a large mean, rounding leaves something
            side -= left[codes]
            means.append(mean + left)
        # Ratios u'/u are (1 + of_group) (1 + x), the first factor for the group, the second within it.
        of_group = p * (means[1] - means[0])
        of_group -= weights.share @ of_group
        scale = [1.0 + of_group[codes] for codes in at]
        self.lowest = float(1.0 + of_group.min())
        if self.lowest >= _LEAST:
            inside = [-sides[0] / scale[0], p * sides[1] / scale[1]]
            self.lowest *= float(1.0 + min(x.min() for x in inside))
        self.entropy = math.inf
        if self.lowest < _LEAST:
            return
        mass, entropy = _normalised(weights.share, of_group)
        self.u, self.w = (np.empty_like(x) for x in weights.total)
        for out, x, within, codes, factor in zip((self.u, self.w), inside, weights.within, at, (p, 1.0), strict=True):
            # Weights are divided by their sums, so the entropies are those of what comes of it.
            excess = _by_group(groups, codes, within * x)
            inner = _over_sum(_by_group(groups, codes, within * _kl(x)), excess)
            entropy += factor * float(mass @ inner)
            np.multiply(within * (1.0 + x), (mass / (1.0 + excess))[codes], out=out)
        self.entropy = max(entropy, 0.0)
        logs = [np.log(s) + np.log1p(x) for s, x in zip(scale, inside, strict=True)]
        (u, w), changes = weights.total, [s * (1.0 + x) - 1.0 for s, x in zip(scale, inside, strict=True)]
        self.shift = p * float(u @ np.abs(changes[0])) + p * float(w @ np.abs(changes[1]))
        self.turn = math.sqrt(p * float(u @ np.square(logs[0])) + float(w @ np.square(logs[1])))
        self.largest = 1.0 + float(max(change.max() for change in changes))


def _by_group(groups: Groups | None, codes: Any, values: Vector) -> Vector:
    """The sum of values in every group."""
    sums = values.sum(keepdims=True) if groups is None else np.bincount(codes, values, groups.n)
    return np.asarray(sums, dtype=np.float64)


def _normalised(share: Vector, change: Vector) -> tuple[Vector, float]:
    """share (1 + change) over its sum, and its relative entropy to share."""
    excess = float(share @ change)
    mass = share * (1.0 + change) / (1.0 + excess)
    return mass / mass.sum(), max(float(_over_sum(share @ _kl(change), excess)), 0.0)


def _over_sum(entropy: Any, excess: Any) -> Any:
    """A relative entropy, once the weights that sum to 1 + excess are divided by that."""
    return entropy / (1.0 + excess) + (excess / (1.0 + excess) - np.log1p(excess))


def _kl(x: Vector) -> Vector:
    """(1 + x) ln(1 + x) - x, that is, about x**2 / 2."""
    near = np.clip(x, -1e-4, 1e-4)
    return np.where(near == x, x * x * (0.5 - near * (1.0 / 6.0 - near / 12.0)), (1.0 + x) * np.log1p(x) - x)


def _residual(problem: Problem, curvature: Curvature, moved: _Moved, careful: bool) -> tuple[Vector, Vector]:
    """The difference of the moments of u' and w', and a bound on its rounding error."""
    outputs = problem.outputs
    size = moved.largest * (curvature.deviation[0] + curvature.deviation[1])
    if careful:
        centre = curvature.weights.share @ curvature.means[0]
        parts: list[Any] = []
        size = np.zeros(problem.n_rankers)
        for side, weights in zip(SIDES, (moved.u, -moved.w), strict=True):
            for rows, block in outputs.blocks(side):
                product = weights[rows, None] * (block - centre)
                size += np.abs(product).sum(axis=0)
                parts.extend(_sum(product, np.zeros_like(product)))
        total, rest = _sum(np.array(parts), np.zeros((len(parts), problem.n_rankers)))
        return total + rest, 6.0 * _EPS * size
    residual = outputs.edges(moved.u, moved.w)
    residual[problem.constant] = 0.0
    return residual, (max(problem.n_pos, problem.n_neg) + 8) * _EPS * (size + curvature.typical())


def _sum(terms: Any, rests: Any) -> tuple[Vector, Vector]:
    """The sum over rows, and what it rounds off: two by two, each time with Knuth's remainder."""
    while len(terms) > 1:
        half = len(terms) // 2
        a, b, odd, odd_rest = terms[:half], terms[half : 2 * half], terms[2 * half :], rests[2 * half :]
        total = a + b
        moved = total - a
        rests = rests[:half] + rests[half : 2 * half] + ((a - (total - moved)) + (b - moved))
        terms, rests = np.concatenate([total, odd]), np.concatenate([rests, odd_rest])
    return terms[0], rests[0]


def _rounding_of_value(problem: Problem, point: Point, curvature: Curvature) -> float:
    """Bound the rounding error of the objective at the point."""
    p, lam, (u, w) = problem.objective.p, np.abs(point.lam), point.weights.total
    if point.precise:
        scores = 2.0 * (float(u @ np.abs(point.f.pos)) + float(w @ np.abs(point.f.neg)))
    else:
        scores = lam.size * float(lam @ curvature.typical())
    penalty = 0.5 * curvature.l2 * float(lam @ lam) if curvature.l2 else 0.0
    of_sums = problem.objective.rounding(point.log_f, problem.n_pos, problem.n_neg)
    return of_sums + _EPS * (p * (scores + 8.0) + 8.0 * penalty)


def _effect_of_scores(problem: Problem, point: Point, moved: _Moved) -> float:
    """Bound what rounded scores, and hence rounded u and w, may hide: their entropies are near a minimum."""
    p = problem.objective.p
    if point.precise:
        error = 2.0 * _EPS * (1.0 + max(float(np.abs(point.f.pos).max()), float(np.abs(point.f.neg).max())))
    else:
        error = _EPS * (4.0 + point.lam.size * float(np.abs(point.lam) @ problem.largest))
    error += 2.0 * _EPS * sum(problem.objective.sizes())
    return error * moved.shift + (p + p * p) * error * error
