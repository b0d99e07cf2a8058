"""Two models or runs compared: their limits, and how fast one goes there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnorm import _checks
from pnorm._checks import Coefficients, GroupLabels, Rows, Vector
from pnorm._solvers.problem import Problem
from pnorm._trace import Trace
from pnorm.diagnostics._certificate import Certificate, _problem_and
from pnorm.diagnostics._limit import Limit
from pnorm.objectives._base import Scores as ScoresOfRows
from pnorm.rankers import WeakRankers


@dataclass(frozen=True, eq=False, repr=False)
class Convergence:
    """The distance of a training run from the infimum after each round.

    Attributes
    ----------
    gap : ndarray, shape (T + 1,)
        log F_p minus its infimum after each round, in nats.
    rate : float
        The factor by which the gap shrinks in one round. It is measured over the second half of the rounds whose gap
        is above rounding. nan if there are fewer than three such rounds.
    rounds : dict from float to int or None
        For each accuracy, the first round after which the gap is at most the accuracy; None if there is no such round.
    bregman : ndarray, shape (T + 1,), or None
        The Bregman distance ``B(q*, q_t)`` of COLT 2006, Appendix B, after each round, divided by
        ``B(0, q*) = F*/p``. None unless the limit comes from `q_limit`.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0.1], [0.7, 0.8], [0.2, 0.6]], [[0.8, 0.2], [0.1, 0.3], [0.4, 0.9]]
    >>> lam, trace = pnorm.train(pos, neg, p=4, t_max=500)
    >>> found = pnorm.diagnostics.convergence(trace, pnorm.minimize(pos, neg, None, 4)[1], [0.1, 1e-6])
    >>> found.rounds, found.gap.shape == trace.log_objective.shape, 0 < found.rate < 1
    ({0.1: 1, 1e-06: 11}, True, True)
    """

    gap: Vector
    rate: float
    rounds: dict[float, int | None]
    bregman: Vector | None

    def __repr__(self) -> str:
        reached = [f", {a:g} {'never' if t is None else f'after {t}'}" for a, t in self.rounds.items()]
        return (
            f"<Convergence: gap {self.gap[0]:.2g} -> {self.gap[-1]:.2g} in {self.gap.size - 1} rounds, rate "
            f"{self.rate:.3g}{''.join(reached)}>"
        )


def same_limit(
    pos: Rows,
    neg: Rows,
    H: WeakRankers,
    lam1: Coefficients,
    lam2: Coefficients,
    *,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
) -> float:
    """Return the largest change of a score difference between two coefficient vectors.

    It is::

        max_ik |log q'_ik(λ_1) - log q'_ik(λ_2)|

    It is zero if and only if both vectors give the same ``q'_ik = exp(-(f(x_i) - f(x̃_k)))``.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things
        The positive rows, as in `pnorm.train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`.
    lam1 : array_like, shape (n,)
        The first coefficients, one per weak ranker.
    lam2 : array_like, shape (n,)
        The second coefficients, one per weak ranker.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.

    Returns
    -------
    float
        Zero or more. The cost is O((I + K) n); no array over the pairs is formed.

    Examples
    --------
    The second column is 1 minus the first, so scores depend only on the difference of the two coefficients:

    >>> import pnorm
    >>> pos, neg = [[1, 0], [0, 1]], [[0, 1]]
    >>> pnorm.diagnostics.same_limit(pos, neg, None, [3, 1], [2, 0])
    0.0
    """
    rows = (pos, neg, H, 1.0, pos_weight, neg_weight, pos_group, neg_group)
    problem, lam1 = _problem_and(lam1, "lam1", *rows)
    lam2 = _problem_and(lam2, "lam2", *rows)[1]
    return _apart(problem, lam1 - lam2)


def convergence(
    trace: Trace, limit: Limit | Certificate | Trace | float, accuracies: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-6)
) -> Convergence:
    """Return the distance of a training run from the infimum after each round.

    The gap after round t is ``log F_p(λ_t) - log F*``, with ``F*`` for the infimum of F_p. With B for
    `bregman_distance`::

        B(q*, q_t) = (F_p(λ_t) - F*) / p

        B(q*, q_t) / B(0, q*) = exp(log F_p(λ_t) - log F*) - 1

    The Bregman distance over all pairs therefore follows from the trace alone, even if coefficients go to infinity.

    Parameters
    ----------
    trace : Trace
        A run of `pnorm.train` or `pnorm.minimize`.
    limit : Limit, Certificate, Trace, or float
        The source of the infimum: the result of `q_limit`, the trace of `minimize`, the lower bound of a certificate,
        or the number itself. It must come from the same problem and p.
    accuracies : sequence of float
        Gaps in nats. For each, the first round with at most this gap is returned.

    Returns
    -------
    Convergence
        The gap after each round, the rate, and the rounds that reach the accuracies. With `q_limit` also the Bregman
        distance from the limit.

    Raises
    ------
    ValueError, TypeError
        If the limit comes from separable data or has no certificate, or if the run goes below it.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0.1], [0.7, 0.8], [0.2, 0.6]], [[0.8, 0.2], [0.1, 0.3], [0.4, 0.9]]
    >>> lam, trace = pnorm.train(pos, neg, p=4, t_max=500)
    >>> c = pnorm.diagnostics.convergence(trace, pnorm.minimize(pos, neg, None, 4)[1], [0.1, 1e-6])
    >>> c.rounds
    {0.1: 1, 1e-06: 11}
    >>> c = pnorm.diagnostics.convergence(trace, pnorm.diagnostics.q_limit(pos, neg, None, 4))
    >>> c.bregman[:3].round(4)
    array([0.2097, 0.0587, 0.015 ])
    """
    if not isinstance(trace, Trace):
        raise TypeError(
            f"trace must be the trace that train or minimize returns, the second value; got {type(trace).__name__}"
        )
    infimum = _infimum(limit)
    known = limit.gap if isinstance(limit, (Limit, Trace)) else 0.0
    wanted = _checks.numbers_of(accuracies, "accuracies")
    gap = trace.objective - infimum
    if gap[-1] < -(known + 1e-9 * (1.0 + abs(infimum))):
        raise ValueError(
            f"the run ends {-gap[-1]:.3g} below limit, so limit is not its infimum. Pass a limit of the same problem "
            "and p"
        )
    visible = np.flatnonzero(gap > 1e-12 * (1.0 + abs(infimum)))
    tail = visible[visible.size // 2 :]
    rate = math.nan if tail.size < 3 else math.exp(np.polyfit(tail, np.log(gap[tail]), 1)[0])
    rounds = {a: next(iter(np.flatnonzero(gap <= a).tolist()), None) for a in wanted}
    bregman = None
    if isinstance(limit, Limit):
        with np.errstate(over="ignore"):
            bregman = np.expm1(np.maximum(trace.log_objective - infimum, 0.0))
    return Convergence(gap, rate, rounds, bregman)


def _infimum(limit: Any) -> float:
    """Return the infimum given by a limit in any of its forms."""
    if not isinstance(limit, (Limit, Certificate, Trace)):
        return _checks.real(limit, "limit")
    if isinstance(limit, Limit) and limit.kind == "separable":
        raise ValueError("limit comes from separable data: log F_p falls without bound, so there is no gap")
    if not math.isfinite(limit.gap):
        raise ValueError(
            "limit has no certificate, so its value may be far from the infimum, or there is no infimum. "
            "Pass the result of minimize or q_limit for overlapping or quasi-separable data"
        )
    if isinstance(limit, Certificate):
        return limit.lower_bound
    return float(limit.objective[-1]) if isinstance(limit, Trace) else limit.log_objective


def _apart(problem: Problem, difference: Vector) -> float:
    """Return the largest absolute difference of score differences over all pairs."""
    f = problem.scores(difference)
    return max(-problem.margin(f), -problem.margin(ScoresOfRows(-f.pos, -f.neg))) + 0.0  # not -0.0
