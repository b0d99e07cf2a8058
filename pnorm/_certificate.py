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
    careful = not curvature.full_rank
    reason = "not tried"
    for attempt in range(3):
        moved = _Moved(problem, point, delta)
        if moved.lowest < _LEAST:
            if l2 == 0.0:
                reason = "the weights that a Newton step gives are not all positive"
                return Bound(math.inf, rounding, math.nan, moved.lowest, reason)
            delta = np.zeros_like(delta)  # with a penalty, any weights will do
            moved = _Moved(problem, point, delta)
        residual, error = _residual(problem, curvature, moved, careful)
        worst = float(np.abs(residual).max())
        slack = _effect_of_scores(problem, point, moved)
        if l2 > 0.0:
            short = np.abs(l2 * point.lam - p * residual) + p * error
            gap = moved.entropy + float(short @ short) / (2.0 * l2) + slack + rounding
            return Bound(gap, rounding, worst, moved.lowest, "")
        if bool((np.abs(curvature.blind.T @ residual) > np.abs(curvature.blind.T) @ error).any()):
            reason = "weak rankers are equal to within rounding, but not quite, and their moments differ"
        else:
            reach = np.sqrt(np.einsum("jr,jr->j", curvature.root, curvature.root))
            left = p * curvature.slack * (float(np.linalg.norm(curvature.root.T @ residual)) + float(reach @ error))
            repair = left * moved.turn + 2.0 * left * left / moved.lowest
            leverage = float(reach @ (problem.high - problem.low))
            if careful and p * left * leverage > 0.25 * moved.lowest:
                leverage = curvature.leverage()
            if p * left * leverage <= 0.25 * moved.lowest and (
                attempt == 2 or repair <= 0.1 * moved.entropy + rounding
            ):
                return Bound(moved.entropy + slack + repair + rounding, rounding, worst, moved.lowest, "")
            reason = "weak rankers are nearly dependent, and rounding hides whether their moments match"
        delta = delta + curvature.solve(p * residual)
        careful = True
    return Bound(math.inf, rounding, worst, moved.lowest, reason)


def penalised_gap(problem: Problem, point: Point, edges: Vector, l2: float) -> tuple[float, float]:
    """A bound that needs no Hessian, and its rounding: |gradient|**2 / (2 l2), with u' = u and w' = w."""
    p, size = problem.objective.p, np.maximum(np.abs(problem.low), np.abs(problem.high))
    weight = float(np.abs(point.lam) @ size)
    rounding = _EPS * (
        4.0 * abs(point.log_f) + 2.0 * p * point.lam.size * weight + 4.0 * l2 * float(point.lam @ point.lam)
    )
    error = p * (max(problem.n_pos, problem.n_neg) + 8) * _EPS * 2.0 * size
    short = np.abs(l2 * point.lam - p * edges) + error
    return float(short @ short) / (2.0 * l2) + rounding, rounding


class _Moved:
    """The weights u', w' that a Newton step makes of u, w, and their relative entropies."""

    def __init__(self, problem: Problem, point: Point, delta: Vector) -> None:
        p, groups = problem.objective.p, problem.objective.groups
        pos, neg = (part.copy() for part in problem.outputs.combine(delta))
        u, w = point.u, point.w
        share = mean_pos = mean_neg = np.ones(1)
        of_group: Any = np.zeros(1)  # change of a group's mass, as a share of it
        at_pos: Any = slice(None)
        at_neg: Any = slice(None)
        if groups is None:
            pos -= u @ pos
            neg -= w @ neg
        else:
            at_pos, at_neg = groups.pos, groups.neg
            share = np.bincount(at_pos, u, groups.n)
            mean_pos, mean_neg = np.bincount(at_pos, u * pos, groups.n), np.bincount(at_neg, w * neg, groups.n)
            pos -= (mean_pos / share)[at_pos]
            neg -= (mean_neg / share)[at_neg]
            of_group = p * (mean_neg - mean_pos) / share
            of_group -= share @ of_group
        # Ratios u'/u = 1 + x, and within a group (1 + x) / (1 + of_group).
        x_pos, x_neg = of_group[at_pos] - pos, of_group[at_neg] + p * neg
        self.lowest = 1.0 + float(min(x_pos.min(), x_neg.min(), of_group.min()))
        self.entropy = math.inf
        if self.lowest < _LEAST:
            return
        ratio = 1.0 + of_group
        entropy = p * float((u * ratio[at_pos]) @ _kl(-pos / ratio[at_pos]))
        entropy += float((w * ratio[at_neg]) @ _kl(p * neg / ratio[at_neg])) + float(share @ _kl(of_group))
        self.u, self.w = u * (1.0 + x_pos), w * (1.0 + x_neg)
        if groups is None:
            self.u /= self.u.sum()
            self.w /= self.w.sum()
        else:
            self.u *= (share * ratio / np.bincount(at_pos, self.u, groups.n))[at_pos]
            self.w *= (share * ratio / np.bincount(at_neg, self.w, groups.n))[at_neg]
        self.entropy = entropy
        self.shift = p * float(u @ np.abs(x_pos)) + p * float(w @ np.abs(x_neg))
        self.turn = math.sqrt(p * float(u @ np.log1p(x_pos) ** 2) + float(w @ np.log1p(x_neg) ** 2))
        self.largest = 1.0 + float(max(x_pos.max(), x_neg.max()))


def _kl(x: Vector) -> Vector:
    """(1 + x) ln(1 + x) - x, that is, about x**2 / 2."""
    small = np.abs(x) < 1e-4
    exact = (1.0 + x) * np.log1p(x) - x
    return np.where(small, x * x * (0.5 - x * (1.0 / 6.0 - x / 12.0)), exact)


def _residual(problem: Problem, curvature: Curvature, moved: _Moved, careful: bool) -> tuple[Vector, Vector]:
    """The difference of the moments of u' and w', and a bound on its rounding error."""
    outputs = problem.outputs
    size = moved.largest * (curvature.deviation_pos + curvature.deviation_neg)
    if careful:
        centre = curvature.share @ curvature.means_pos
        residual = np.zeros(problem.n_rankers)
        terms: list[list[Any]] = [[] for _ in residual]
        size = np.zeros_like(residual)
        for side, weights in zip(SIDES, (moved.u, -moved.w), strict=True):
            for rows, block in outputs.blocks(side):
                product = weights[rows, None] * (block - centre)
                size += np.abs(product).sum(axis=0)
                for j in range(residual.size):
                    terms[j].append(math.fsum(product[:, j].tolist()))
        return np.array([math.fsum(term) for term in terms]), 6.0 * _EPS * size
    residual = outputs.edges(moved.u, moved.w)
    residual[problem.constant] = 0.0
    size += curvature.share @ (np.abs(curvature.means_pos) + np.abs(curvature.means_neg))
    return residual, (max(problem.n_pos, problem.n_neg) + 8) * _EPS * size


def _rounding_of_value(problem: Problem, point: Point, curvature: Curvature) -> float:
    """Bound the rounding error of the objective at the point."""
    p, lam = problem.objective.p, np.abs(point.lam)
    typical = curvature.share @ (np.abs(curvature.means_pos) + np.abs(curvature.means_neg))
    typical = typical + curvature.deviation_pos + curvature.deviation_neg
    if point.precise:
        scores = 2.0 * (float(point.u @ np.abs(point.f.pos)) + float(point.w @ np.abs(point.f.neg)))
    else:
        scores = lam.size * float(lam @ typical)
    penalty = 0.5 * curvature.l2 * float(lam @ lam)
    return _EPS * (4.0 * abs(point.log_f) + p * (scores + 8.0) + 8.0 * penalty)


def _effect_of_scores(problem: Problem, point: Point, moved: _Moved) -> float:
    """Bound what rounded scores, and hence rounded u and w, may hide: their entropies are near a minimum."""
    p = problem.objective.p
    if point.precise:
        error = 2.0 * _EPS * (1.0 + max(float(np.abs(point.f.pos).max()), float(np.abs(point.f.neg).max())))
    else:
        largest = np.maximum(np.abs(problem.low), np.abs(problem.high))
        error = _EPS * (4.0 + point.lam.size * float(np.abs(point.lam) @ largest))
    return error * moved.shift + (p + p * p) * error * error
