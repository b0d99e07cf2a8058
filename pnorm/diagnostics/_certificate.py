"""The certificate of optimality: how far a model may be from the minimum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pnorm import _checks
from pnorm._checks import GroupLabels, Rows, Vector
from pnorm._solvers.building import build, rankers_of
from pnorm._solvers.certificate import certify, penalised_gap
from pnorm._solvers.hessian import FEW, LARGEST_HESSIAN
from pnorm._solvers.minimize import units_of
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.proximal import certified
from pnorm._solvers.wide import curvature_at
from pnorm.objectives._pnorm import push as push_of
from pnorm.rankers import WeakRankers


@dataclass(frozen=True, repr=False)
class Certificate:
    """A bound on how far the objective at given coefficients is above its infimum.

    Attributes
    ----------
    log_objective : float
        log F_p at the coefficients, in nats.
    objective : float
        log F_p plus the penalties, as in `Trace.objective`.
    lower_bound : float
        A lower bound of the objective over all coefficients: objective - gap.
    gap : float
        Upper bound of the objective minus its infimum, in nats; inf if there is no certificate.
    gradient_norm : float
        Largest absolute edge, in units of the weak rankers: the gradient of log F_p divided by p.
    moment_residual : float
        Largest difference of a moment between the two weight vectors that prove the bound. It comes from rounding.
        nan if there are no such vectors.
    message : str
        The reason why there is no certificate; empty if there is one.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9], [0.7], [0.2]], [[0.8], [0.1], [0.4]]
    >>> lam, trace = pnorm.minimize(pos, neg, p=4)
    >>> found = pnorm.diagnostics.certificate(pos, neg, None, 4, lam)
    >>> found.gap < 1e-10, found.objective - found.gap == found.lower_bound, found.message
    (True, True, '')
    """

    log_objective: float
    objective: float
    lower_bound: float
    gap: float
    gradient_norm: float
    moment_residual: float
    message: str

    def __repr__(self) -> str:
        why = f": {self.message}" if self.message else ""
        return f"<Certificate: objective {self.objective:.6g}, gap {self.gap:.2g}{why}>"


def certificate(
    pos: Rows,
    neg: Rows,
    H: WeakRankers,
    p: float,
    lam: ArrayLike,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: ArrayLike | None = None,
    penalty: Literal["coefficients", "shapes"] = "coefficients",
    push: Literal["top", "bottom"] = "top",
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    pos_grade: ArrayLike | None = None,
    neg_grade: ArrayLike | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
) -> Certificate:
    """Bound how far the objective at given coefficients is above its infimum.

    The bound is weak duality. Take weights u on the positives and w on the negatives. Each sums to one, and their
    moments match: ``Σ_i u_i h(x_i) = Σ_k w_k h(x̃_k)``. Then::

        log F_p(λ) ≥ -p Σ_i u_i ln(u_i / c_i) - Σ_k w_k ln(w_k / c̃_k)    for every λ

    One Newton step turns the weights at `lam` into such u and w. The gap is the difference of the two sides at `lam`.
    It equals a sum of relative entropies between the weights before and after the step, so a small gap keeps its
    digits. With penalties the objective is ``log F_p + l1 |λ|_1 + l2/2 |λ|^2``. With signs the infimum is taken over
    the coefficients that have them. See the page "Optimality certificates".

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things
        The positive rows, as in `pnorm.train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    l1 : float
        Weight of the penalty ``l1 |lam|_1``, zero or more.
    l2 : float
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. They join
        those of `H` (`Rankers.signs`, from ``monotone``), and must not contradict them.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts, as in `pnorm.minimize`.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.train`. Functions without this argument take the
        reverse push as ``report(-H.evaluate(neg), -H.evaluate(pos), None, p, lam)``.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.
    pos_grade, neg_grade : array_like, shape (I,) and (K,), optional
        Grades: in each pair, the positive has the higher grade. As in `pnorm.train`.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.

    Returns
    -------
    Certificate
        Its `gap` is never below the true gap: an allowance for rounding is added. The gap is inf if that allowance
        would be too large, or if a corrected weight is negative. `message` then contains the reason. A combination of
        weak rankers that is the same on all rows, to a few units in the last place of its largest term, counts as
        constant.

    See Also
    --------
    pnorm.minimize : Find the minimiser.
    report : The gap, the kind of the data and advice, as text.

    Notes
    -----
    Cost: one pass for the Hessian, O((I + K) n**2), and a few passes over the rows. With a penalty, the cost is that of
    one Newton step of `pnorm.minimize`. Beyond 6000 weak rankers only a penalised objective has a certificate.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9], [0.7], [0.2]], [[0.8], [0.1], [0.4]]
    >>> lam, trace = pnorm.train(pos, neg, p=4, t_max=1)
    >>> c = pnorm.diagnostics.certificate(pos, neg, None, 4, lam)
    >>> c.gap < 1e-12, c.lower_bound <= c.log_objective
    (True, True)
    >>> pnorm.diagnostics.certificate(pos, neg, None, 4, [20.0]).gap
    inf
    """
    _checks.push(push)
    of_rows = pos_weight, neg_weight, pos_group, neg_group, pos_grade, neg_grade
    how = {"push": push, "group_weight": group_weight}
    return _certificate(*_penalised(lam, pos, neg, H, p, l1, l2, signs, penalty, *of_rows, **how))


def _penalised(
    lam: Any,
    pos: Any,
    neg: Any,
    H: Any,
    p: float,
    l1: float,
    l2: float,
    signs: Any,
    penalty: str,
    *of_rows: Any,
    **how: Any,
) -> tuple[Problem, Vector, Penalty]:
    """Return the problem, the coefficients, and the penalty with its signs, all checked."""
    l1, l2 = _checks.nonnegative(l1, "l1"), _checks.nonnegative(l2, "l2")
    _checks.choice(penalty, "penalty", ("coefficients", "shapes"))
    pos, neg, rankers = rankers_of(pos, neg, H)
    signs = _checks.signs(signs, rankers.names, rankers.signs)
    problem, lam = _problem_and(lam, "lam", pos, neg, rankers, p, *of_rows, **how)
    added = Penalty.of(len(rankers), l1, l2, signs, units_of(problem, rankers, penalty))
    return problem, _checks.within(lam, added.low, added.high, rankers.names), added


def _certificate_of_model(
    pos: Any,
    neg: Any,
    H: Any,
    p: float,
    lam: Vector,
    *of_rows: Any,
    l1: float,
    l2: float,
    penalty: str,
    few: bool,
    **how: Any,
) -> Certificate:
    """Return the certificate for coefficients from `minimize`, within the signs of the weak rankers.

    If `minimize` had a largest number of columns, the certificate is for the columns that it chose.
    """
    problem, lam = _problem_and(lam, "lam", pos, neg, H, p, *of_rows, **how)
    added = Penalty.of(len(H), l1, l2, H.signs, units_of(problem, H, penalty))
    if few:
        added = added.only(np.isin(H.column, H.column[np.flatnonzero(lam)]))
    return _certificate(problem, lam, added)


_MANY = 2**28
"""Number of outputs of weak rankers from which on forming them one by one takes too long, about ten seconds."""


def _certificate(problem: Problem, lam: Vector, penalty: Penalty) -> Certificate:
    problem.check_magnitudes(float(penalty.l2.max()), lam, "lam")
    l2 = penalty.ridge
    outputs = (problem.n_pos + problem.n_neg) * problem.n_rankers
    by_slopes = penalty.is_bounded and problem.n_rankers > FEW and outputs > _MANY
    point = problem.point(lam, precise=not by_slopes)
    edges = problem.edges_at(point)
    if by_slopes:
        # With 5,100 cuts and 2e6 rows, a step by the Hessian takes more than ten minutes. Scores in twice the working
        # precision do, too. Both gain little near the minimiser.
        gap, message, residual = penalised_gap(problem, point, edges, penalty)[0], "", float(np.abs(edges).max())
    elif l2 is None:
        bound = certified(problem, point, penalty, _FINE)
        gap, message, residual = bound.gap, bound.reason, bound.moment_residual
    elif problem.n_rankers > LARGEST_HESSIAN and l2 == 0.0:
        message = f"{problem.n_rankers} weak rankers make the Hessian too large; pass l2 > 0, which needs no Hessian"
        gap, residual = math.inf, math.nan
    else:
        curvature = curvature_at(problem, point.weights, l2, _FINE)
        bound = certify(
            problem, point, curvature, curvature.step(problem.objective.traits.p * curvature.edges - l2 * lam)
        )
        gap, message, residual = bound.gap, bound.reason, bound.moment_residual
    objective = point.log_f + penalty.value(lam)
    return Certificate(point.log_f, objective, objective - gap, gap, float(np.abs(edges).max()), residual, message)


_FINE = 1e-12
"""Smallest gap that a report prints: the digits of smaller ones differ between machines."""


def _build(pos: Any, neg: Any, H: Any, p: float, *weights_and_groups: Any, **how: Any) -> Problem:
    p = _checks.power(p)
    return build(*rankers_of(pos, neg, H), push_of(p), *weights_and_groups, **how).centred()


def _problem_and(
    lam: Any, name: str, pos: Any, neg: Any, H: Any, p: float, *weights_and_groups: Any, **how: Any
) -> tuple[Problem, Vector]:
    """Return the problem and the checked coefficients."""
    pos, neg, rankers = rankers_of(pos, neg, H)
    checked = _checks.vector(lam, name, len(rankers), "one coefficient per weak ranker")
    problem = _build(pos, neg, rankers, p, *weights_and_groups, **how)
    with np.errstate(over="ignore", invalid="ignore"):
        f = problem.scores(checked)
    _checks.exponents(p, f.pos, f.neg, name)
    return problem, checked
