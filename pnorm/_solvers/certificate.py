r"""A bound on how far log F_p is above its infimum, valid in floating point.

For any u, w on the two sides, with equal masses pi_g in every group and matching moments Hᵀu = H̃ᵀw, weak duality gives

    log F_p >= -p sum u ln(u/c) - sum w ln(w/c) + p sum_g pi_g ln pi_g    for every lam,

(one group: p Ent(u) + Ent(w)). One Newton step from the weights at lam gives such u', w'. Then log F_p(lam) minus the
bound is a sum of relative entropies, which are all nonnegative,

    gap = KL(pi' | pi) + sum_g pi'_g [p KL(u'_g | u_g) + KL(w'_g | w_g)].

It loses no digits even if lam is close to the minimiser. Rounding enters in two ways, and both are bounded below.
First, the moments of u', w' match only up to rounding. By the inverse of the Hessian there is a small change of u', w'
after which they match. The entropies are stationary at u, so its effect is of second order. Second, log F_p(lam) itself
is rounded. The gap includes this, so it bounds the objective as it is reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._solvers.forming import Point
from pnorm._solvers.hessian import Curvature, Means
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import WeightedRows, reduction
from pnorm._storage.double_double import compensated_sum
from pnorm._threads import ROWS, slices

_EPS = float(np.finfo(float).eps)

_INSIDE = (1e-2, 1e-4)
"""Shares by which slopes must be within l1, for a certificate without a penalty on squares."""

_TRIES = 5
"""Largest number of times that coefficients at zero join the nonzero ones."""

_LEAST = 1e-9
"""Least share of its weight that a row must keep: rounding must not decide the sign of a weight."""

_LARGEST = 1e100
"""Upper bound on the ratio by which a weight of a certificate grows."""

_HIDDEN, _FEW = 1e-11, 256
"""The part of a gap, in nats, that comes from the rounding of slopes, and weak rankers, at most, from which on and of
which slopes are computed in twice the working precision."""

_FAR = "a Newton step changes weights by more than a float can hold"

_CUT = 1.5 * _LEAST - 1.0
"""Relative change of a weight that is cut off just above zero."""


@dataclass(frozen=True)
class Bound:
    """An upper bound of log F_p + l2/2 |lam|**2 at a point minus its infimum."""

    gap: float
    """Largest possible distance from the infimum, in nats; inf if there is no certificate."""
    rounding: float
    """The part of the gap that comes from rounding, in nats."""
    moment_residual: float
    """Largest difference of a moment of u' and w'; nan if there are none."""
    least: float
    """Least ratio of a weight of u', w' to its weight in u, w: one at the minimiser."""
    reason: str
    """The reason why there is no certificate; empty if there is one."""
    delta: Vector | None = None
    """The step that gave the weights of the certificate, if it differs from the step that was passed."""
    change: float = 0.0
    """Largest ratio by which rounding may have to change these weights, minus one."""
    hidden: float = 0.0
    """The part of the gap that comes from the rounding of slopes, through a penalty."""

    def at_most(self, gap: float) -> Bound:
        """Return the same bound with another gap, if that is smaller."""
        return replace(self, gap=gap) if gap < self.gap else self


def certify(problem: Problem, point: Point, curvature: Means, delta: Vector) -> Bound:
    """Bound the objective at a point from below, with its curvature and its Newton step delta.

    With a penalty only the means and the step are needed.
    """
    nothing_else = Penalty.of(problem.n_rankers, l2=curvature.l2)
    if curvature.l2 > 0.0:
        found = certify_bounded(problem, point, curvature, nothing_else, delta)
        added = nothing_else.value(point.lam)
        if found.hidden <= max(_HIDDEN, added) or problem.n_rankers > _FEW:
            return found
        bare = certify_signs(problem, point, curvature, nothing_else.bounds_alone())  # a bound with a penalty, too
        return min(found, replace(bare, gap=bare.gap + added), key=lambda bound: bound.gap)
    p = problem.objective.traits.p
    rounding = _rounding_of_value(problem, point, curvature, nothing_else)
    careful = curvature.null is not None
    reason = _why_not(curvature) if isinstance(curvature, Curvature) else ""
    worst = math.nan
    for attempt in range(3):
        moved = _Moved(problem, point, curvature, delta)
        if moved.lowest < _LEAST:
            reason = "the weights after a Newton step are not all positive"
        if reason:
            break
        residual, error = _residual(problem, point, curvature, moved, careful)
        worst = float(np.abs(residual).max())
        slack = _effect_of_scores(problem, point, moved) + rounding
        assert isinstance(curvature, Curvature)
        reach = np.sqrt(np.einsum("jr,jr->j", curvature.root, curvature.root))
        left = p * curvature.slack * (float(np.linalg.norm(curvature.root.T @ residual)) + float(reach @ error))
        repair = left * moved.turn + 2.0 * left * left / moved.lowest
        leverage = 2.0 * float(reach @ (problem.high - problem.low))
        if careful and p * left * leverage > 0.25 * moved.lowest:
            leverage = 2.0 * curvature.leverage()
        if p * left * leverage <= 0.25 * moved.lowest and (attempt == 2 or repair <= 0.1 * moved.entropy + rounding):
            gap = moved.entropy + repair + slack
            return Bound(gap, rounding, worst, moved.lowest, "", delta, p * left * leverage)
        delta = delta + curvature.solve(p * residual)
        careful = True
    reason = reason or "weak rankers are nearly dependent, and rounding hides whether their moments match"
    return Bound(math.inf, rounding, worst, moved.lowest, reason)


def certify_bounded(problem: Problem, point: Point, means: Means, penalty: Penalty, delta: Vector) -> Bound:
    """Bound an objective whose coefficients all have a penalty on their squares, with a step; any weights are valid."""
    p = problem.objective.traits.p
    rounding = _rounding_of_value(problem, point, means, penalty)

    def bound(delta: Vector, careful: bool = False) -> Bound:
        moved = _Moved(problem, point, means, delta, cut=True)
        if moved.entropy == math.inf:
            return Bound(math.inf, rounding, math.nan, moved.lowest, _FAR)
        residual, error = _residual(problem, point, means, moved, careful)
        gap = penalty.gap(point.lam, p * residual, p * error)
        hidden = gap - penalty.gap(point.lam, p * residual)
        gap = moved.entropy + gap + _effect_of_scores(problem, point, moved) + rounding
        return Bound(gap, rounding, float(np.abs(residual).max()), moved.lowest, "", hidden=hidden)

    found = bound(delta)
    if found.hidden > _HIDDEN and problem.n_rankers <= _FEW:
        found = min(found, bound(delta, careful=True), key=lambda bound: bound.gap)
    if found.least >= 2.0 * _LEAST:
        return found
    return min(found, bound(np.zeros_like(delta)), key=lambda bound: bound.gap)


def certify_signs(problem: Problem, point: Point, means: Means, penalty: Penalty) -> Bound:
    """Bound an objective without l1 and l2 whose coefficients have signs.

    For nonzero coefficients the moments must match, as without signs. For zero coefficients they need not match if
    their slopes point to the bounds. A coefficient whose slope does not, perhaps by rounding, counts as nonzero.
    """
    p, may_move = problem.objective.traits.p, penalty.low < penalty.high
    free = (point.lam != 0.0) | (np.isinf(penalty.low) & np.isinf(penalty.high))
    reason = "the slope of a coefficient that its sign keeps at zero has no clear sign"
    for _ in range(_TRIES):
        which, delta = np.flatnonzero(free & ~problem.constant), np.zeros_like(point.lam)
        if which.size:
            own = problem if which.size == point.lam.size else problem.columns(which)
            here = replace(point, lam=point.lam[which], weights=point.weights.of_columns(which))
            curvature = Curvature(own, here.weights)
            found = certify(own, here, curvature, curvature.step(p * curvature.edges))
            if found.delta is None:
                return found
            delta[which] = found.delta
        moved = _Moved(problem, point, means, delta)
        residual, error = _residual(problem, point, means, moved, False)
        if not which.size:
            rounding = _rounding_of_value(problem, point, means, penalty)
            gap = moved.entropy + _effect_of_scores(problem, point, moved) + rounding
            found = Bound(gap, rounding, float(np.abs(residual).max()), moved.lowest, "")
        error = error + 2.0 * found.change * means.typical()
        wrong = may_move & ~free & (penalty.excess(p * residual, p * error) > 0.0) & ~problem.constant
        if not wrong.any():
            return found
        free |= wrong
    return Bound(math.inf, 0.0, math.nan, math.nan, reason)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some of the weak rankers, whose moments are computed to all digits."""

    which: NDArray[np.intp]
    problem: Problem
    """The problem with these weak rankers only."""
    means: Means


def certify_within(
    problem: Problem,
    point: Point,
    means: Means,
    penalty: Penalty,
    delta: Vector,
    inner: Vector,
    chosen: Chosen,
    tol: float,
) -> Bound:
    """Bound an objective with l1, with a step and one to slopes that are all within l1.

    A bound without the penalty on squares is also a bound with it. It is better if that penalty is smaller.

    By rounding, the slopes after the first step may exceed l1. A mixture with the weights after the other step brings
    them back, since slopes are linear in the weights and entropies are concave. If rounding of the slopes is above the
    tolerance, the slopes of the chosen weak rankers are computed in twice the working precision.
    """
    p = problem.objective.traits.p
    rounding = _rounding_of_value(problem, point, means, penalty)
    both = [_Moved(problem, point, means, step, cut=True) for step in (delta, inner)]
    lowest = min(moved.lowest for moved in both)
    if max(moved.entropy for moved in both) == math.inf:
        return Bound(math.inf, rounding, math.nan, lowest, _FAR)
    squares = 0.5 * float(penalty.l2 @ np.square(point.lam))
    slack = max(_effect_of_scores(problem, point, moved) for moved in both) + rounding
    found = [_residual(problem, point, means, moved, False) for moved in both]
    for careful in (False, True):
        if careful:
            which, own = chosen.which, chosen.problem
            here = replace(point, lam=point.lam[which], weights=chosen.means.weights)
            for step, (residual, error) in zip((delta, inner), found, strict=True):
                moved = _Moved(own, here, chosen.means, step[which], cut=True)
                residual[which], error[which] = _residual(own, here, chosen.means, moved, True)
        (slope, error), (inside, of_inside) = [(p * residual, p * error) for residual, error in found]
        worst = float(np.abs(slope).max()) / p
        beyond, room = penalty.excess(slope, error), -penalty.excess(inside, of_inside)
        out = beyond > 0.0
        if (room[out] <= 0.0).any():
            continue
        fall, other = [
            moved.entropy + float((np.abs(point.lam) * penalty.l1 - point.lam * x).sum())
            for moved, x in zip(both, (slope, inside), strict=True)
        ]
        share = float((beyond[out] / (beyond[out] + room[out])).max(initial=0.0))
        hidden = float((error[out] / (beyond[out] + room[out])).max(initial=0.0)) * max(other - fall, 0.0)
        hidden += float(np.abs(point.lam) @ np.maximum(error, of_inside))
        gap = max(fall + share * (other - fall), 0.0)
        if careful or hidden <= 0.1 * max(gap, tol):
            return Bound(gap + squares + hidden + slack, rounding + hidden, worst, lowest, "")
    reason = "no weights were found whose slopes are all within l1"
    return Bound(math.inf, rounding, worst, lowest, reason)


@np.errstate(over="ignore", invalid="ignore")  # nan proves nothing
def certify_penalised(
    problem: Problem,
    point: Point,
    means: Means,
    penalty: Penalty,
    delta: Vector,
    inner: Callable[[float], Vector] | None,
    chosen: Chosen | None,
    tol: float,
) -> Bound:
    """Bound an objective with a penalty, with a step from the point: the least of the bounds that apply.

    A penalty on squares gives a bound if it is larger than the rounding of slopes; otherwise l1 gives one. If the whole
    penalty is tiny, a bound of the objective without it is as good. `inner` returns the step to slopes that are within
    l1 by a share, and `chosen` is the working set. Both are None if the working set is too large.
    """
    found = []
    if penalty.is_bounded:
        found.append(certify_bounded(problem, point, means, penalty, delta))
        if found[0].hidden <= 0.1 * max(tol, found[0].gap - found[0].hidden):
            return found[0]
    if penalty.l1.any() and inner is not None and chosen is not None:
        for share in _INSIDE:
            found.append(certify_within(problem, point, means, penalty, delta, inner(share), chosen, tol))
            if found[-1].gap < math.inf:
                break
    added = penalty.value(point.lam)
    if inner is not None and added <= tol and not any(bound.gap <= tol for bound in found):
        bound = certify_signs(problem, point, means, penalty.bounds_alone())
        found.append(replace(bound, gap=bound.gap + added))
    if not found:
        found.append(Bound(math.inf, 0.0, math.nan, math.nan, "too many weak rankers for a certificate without l2 > 0"))
    return min(found, key=lambda bound: bound.gap if bound.gap >= 0.0 else math.inf)


def certify_to(problem: Problem, point: Point, curvature: Means, delta: Vector, tol: float) -> tuple[Point, Bound]:
    """Return the certificate and its point, with precise scores if only the rounding of scores is above `tol`."""
    bound = certify(problem, point, curvature, delta)
    near = bound.gap < 2.0 * max(tol, bound.rounding)
    if not point.precise and near and bound.rounding > 0.25 * tol:
        point = problem.point(point.lam, precise=True)
        bound = certify(problem, point, curvature, delta)
    return point, bound


def _why_not(curvature: Curvature) -> str:
    """Return the reason why the Hessian gives no certificate; empty if it gives one."""
    if curvature.null is not None and not curvature.null.exact:
        return "some combination of weak rankers is almost constant, to slightly more than rounding"
    if curvature.cut.shape[1]:
        return "some weak rankers differ only on rows of almost no weight"
    return ""


def penalised_gap(problem: Problem, point: Point, edges: Vector, penalty: Penalty) -> tuple[float, float]:
    """Return a bound that needs no Hessian, with l2 alone |gradient|**2 / (2 l2), and its rounding.

    It holds for any convex objective with the penalty; for the P-Norm Push it is the bound above
    with u' = u and w' = w.
    """
    objective, size = problem.objective, problem.largest
    factor = objective.convex(point.log_f)[1] if point.log_f > -math.inf else 0.0
    rate = problem.fall(point)
    rounding = factor * objective.rounding(point.log_f, problem.n_pos, problem.n_neg) if factor else 0.0
    rounding += 2.0 * rate * problem.rounding_of_scores(point.lam) + 8.0 * _EPS * penalty.value(point.lam)
    error = rate * (max(problem.n_pos, problem.n_neg) + 8) * _EPS * 2.0 * size
    return penalty.gap(point.lam, rate * edges, error) + rounding, rounding


def far_gap(problem: Problem, point: Point, between: Vector, l2: float) -> tuple[float, float]:
    """Return a bound for few rows that count and scores far apart, and its rounding.

    `between` is a difference of means under some u', w'. Entropies are at least zero, so no value is below
    -p**2 |between|**2 / (2 l2), minus a term for case weights.
    """
    p, lam = problem.objective.traits.p, point.lam
    penalty = 0.5 * l2 * float(lam @ lam)
    rounding = problem.objective.rounding(point.log_f, problem.n_pos, problem.n_neg)
    rounding += 2.0 * p * problem.rounding_of_scores(lam) + 16.0 * _EPS * penalty
    c_pos, c_neg = problem.objective.sizes()
    gap = point.log_f + penalty + 0.5 * p * p * float(between @ between) / l2 + p * c_pos + c_neg
    return max(gap, 0.0) + rounding, rounding


class _Moved:
    """The weights u', w' after a Newton step from u, w, and their relative entropies.

    With `cut`, weights that would become negative are set just above zero, which is valid if moments need not match.
    """

    def __init__(self, problem: Problem, point: Point, curvature: Means, delta: Vector, cut: bool = False) -> None:
        p, weights = problem.objective.traits.p, point.weights
        means = curvature.means_along(delta)
        # Ratios u'/u are (1 + of_group) (1 + x), the first factor for the group, the second within it.
        of_group = p * (means[1] - means[0])
        of_group -= weights.share @ of_group
        least = _CUT if cut else -math.inf
        of_group = np.maximum(of_group, least)
        scale = 1.0 + of_group
        self.lowest = float(scale.min())
        self.entropy = math.inf
        if self.lowest < _LEAST:
            return
        self.steps = _Step(delta, means[0], scale, -1.0, least), _Step(delta, means[1], scale, p, least)
        found = problem.reduce_weighted(weights, _changes, self.steps)
        self.lowest *= min(float(least) for least, *_ in found)
        if (self.lowest < _LEAST and not cut) or not max(float(largest) for _, largest, *_ in found) < _LARGEST:
            return
        (_, largest_u, excess_u, kl_u, shift_u, turn_u), (_, largest_w, excess_w, kl_w, shift_w, turn_w) = found
        mass, entropy = _normalised(weights.share, of_group)
        # Weights are divided by their sums; the entropies are those of the result.
        entropy += p * float(mass @ _over_sum(kl_u, excess_u)) + float(mass @ _over_sum(kl_w, excess_w))
        self.masses = mass / (1.0 + excess_u), mass / (1.0 + excess_w)
        self.entropy = max(entropy, 0.0)
        self.largest = 1.0 + max(float(largest_u), float(largest_w))
        self.shift: float = p * (shift_u + shift_w)
        self.turn = math.sqrt(p * turn_u + turn_w)


@dataclass(frozen=True, eq=False)
class _Step:
    """A Newton step, which turns scores along it into ratios of weights."""

    delta: Vector
    mean: Vector
    """Mean score in every group, (G,)."""
    scale: Vector
    """The ratio of the group's mass."""
    sign: float
    least: float
    """The least value of x."""

    def ratios(self, rows: WeightedRows) -> Vector:
        """Return x of u'/u = scale (1 + x), for every row."""
        x = rows.rows.scores(self.delta)  # a new array, changed in place to save memory
        x -= self.mean[rows.group]
        x *= self.sign / self.scale[rows.group]
        return np.asarray(np.maximum(x, self.least, out=x))


@reduction("min", "max", "sum", "sum", "sum", "sum")
def _changes(rows: WeightedRows, step: _Step) -> tuple[float, float, Any, Any, float, float]:
    """Return the least ratio, the largest change, by group the excess of the sum and the entropy, and the means of
    |change| and of log**2.
    """
    x, scale, n = step.ratios(rows), step.scale[rows.group], step.scale.size
    lowest = 1.0 + float(x.min())
    change = 1.0 + x
    change *= scale
    change -= 1.0
    largest = float(change.max())
    mean = float(rows.total @ np.abs(change, out=change))
    del change
    kl: Any = math.nan  # until all weights are known to be positive
    turn = math.nan
    if lowest >= _LEAST:
        entropy = np.empty_like(x)
        for some in slices(x.size, ROWS):  # in slices, since it needs several arrays
            entropy[some] = _kl(x[some])
        entropy *= rows.within
        kl = rows.by_group(entropy, n)
        logs = np.log1p(x, out=entropy)
        logs += np.log(scale)
        turn = float(rows.total @ np.square(logs, out=logs))
    x *= rows.within
    return lowest, largest, rows.by_group(x, n), kl, mean, turn


def _normalised(share: Vector, change: Vector) -> tuple[Vector, float]:
    """Return share (1 + change) over its sum, and its relative entropy to share."""
    excess = float(share @ change)
    mass = share * (1.0 + change) / (1.0 + excess)
    return mass / mass.sum(), max(float(_over_sum(share @ _kl(change), excess)), 0.0)


def _over_sum(entropy: Any, excess: Any) -> Any:
    """Return a relative entropy after the weights, which sum to 1 + excess, are divided by their sum."""
    return entropy / (1.0 + excess) + (excess / (1.0 + excess) - np.log1p(excess))


def _kl(x: Vector) -> Vector:
    """Return (1 + x) ln(1 + x) - x, about x**2 / 2, to all digits."""
    near = np.clip(x, -1e-4, 1e-4)
    with np.errstate(over="ignore"):
        return np.where(near == x, x * x * (0.5 - near * (1.0 / 6.0 - near / 12.0)), (1.0 + x) * np.log1p(x) - x)


def _residual(problem: Problem, point: Point, curvature: Means, moved: _Moved, careful: bool) -> tuple[Vector, Vector]:
    """Return the difference of the moments of u' and w', and a bound on its rounding error."""
    weights = point.weights
    if careful:
        centre = curvature.weights.share @ curvature.means[0]
        (pos, pos_size), (neg, neg_size) = problem.reduce_weighted(
            weights, _careful_moments, moved.steps, moved.masses, (centre, centre)
        )
        parts = np.array([*pos, *(-moment for moment in neg)])
        total, rest = compensated_sum(parts, np.zeros_like(parts))
        return total + rest, 6.0 * _EPS * (pos_size + neg_size)
    of_pos, of_neg = problem.reduce_weighted(weights, _moments, moved.steps, moved.masses)
    residual = problem.without_constants(of_pos - of_neg)
    size = moved.largest * (curvature.deviation[0] + curvature.deviation[1])
    return residual, (max(problem.n_pos, problem.n_neg) + 8) * _EPS * (size + curvature.typical())


def _of_step(rows: WeightedRows, step: _Step, mass: Vector) -> Vector:
    """Return the weights after a step; `mass` is that of every group over the sum of its weights."""
    weights = step.ratios(rows)
    weights += 1.0
    weights *= rows.within
    weights *= mass[rows.group]
    return weights


@reduction("sum")
def _moments(rows: WeightedRows, step: _Step, mass: Vector) -> Any:
    """Pass: sums of all rankers after a step."""
    return rows.table.sums(_of_step(rows, step, mass))


@reduction("list", "sum")
def _careful_moments(rows: WeightedRows, step: _Step, mass: Vector, centre: Vector) -> tuple[list[Vector], Vector]:
    """Return moments about a centre as compensated sums, and the sum of absolute terms."""
    parts: list[Vector] = []
    weights, size = _of_step(rows, step, mass), np.zeros(centre.size)
    for place, block in rows.table.blocks():
        product = weights[place, None] * (block - centre)
        size += np.abs(product).sum(axis=0)
        parts.extend(compensated_sum(product, np.zeros_like(product)))
    return list(compensated_sum(np.array(parts), np.zeros((len(parts), centre.size)))), size


def _rounding_of_value(problem: Problem, point: Point, curvature: Means, penalty: Penalty) -> float:
    """Bound the rounding error of the objective at the point."""
    p, lam = problem.objective.traits.p, np.abs(point.lam)
    if point.sizes is not None:
        scores = 2.0 * (point.sizes[0] + point.sizes[1])
    else:
        scores = min(lam.size * float(lam @ curvature.typical()), 2.0 * problem.rounding_of_scores(point.lam) / _EPS)
    with np.errstate(over="ignore"):
        added = penalty.value(lam)
    of_sums = problem.objective.rounding(point.log_f, problem.n_pos, problem.n_neg)
    return of_sums + _EPS * (p * (scores + 8.0) + 8.0 * added)


def _effect_of_scores(problem: Problem, point: Point, moved: _Moved) -> float:
    """Bound the effect of rounded scores, and hence of rounded u and w, whose entropies are near a minimum."""
    p = problem.objective.traits.p
    if point.sizes is not None:
        error = 2.0 * _EPS * (1.0 + point.sizes[2])
    else:
        error = _EPS * (4.0 + point.lam.size * float(np.abs(point.lam) @ problem.largest))
    error += 2.0 * _EPS * sum(problem.objective.sizes())
    return error * moved.shift + (p + p * p) * error * error
