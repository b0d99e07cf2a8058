"""Optimality certificates, separability, the limit of training, and its geometry.

Data are of one of three kinds. The kind depends on two convex hulls: those of the outputs of the weak rankers on the
positives and on the negatives.

- *Overlapping*: the hulls overlap, and F_p has a minimiser.
- *Quasi-separable*: the hulls only touch. Some coefficients go to infinity in training, and only some rows keep weight.
- *Separable*: the hulls are disjoint. Some combination of the weak rankers puts every positive above every negative,
  and the infimum of F_p is 0.

`separability` returns the kind. `certificate` bounds the distance of given coefficients from the infimum. `q_limit`
returns the limit of all training runs. `report` prints all of this as text.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pnorm import _checks
from pnorm._checks import Array, Coefficients, GroupLabels, Label, Labels, Rows, Scores, Vector
from pnorm._checks.labelled import sides_of_scores
from pnorm._solvers.certificate import certify, penalised_gap
from pnorm._solvers.hessian import FEW, LARGEST_HESSIAN, null_space
from pnorm._solvers.minimize import solve, units_of
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem, build, rankers_of
from pnorm._solvers.proximal import certified
from pnorm._solvers.separability import find_separation
from pnorm._solvers.wide import curvature_at
from pnorm._trace import NoSignalWarning, SeparationWarning, Trace
from pnorm.diagnostics._bregman import bregman_distance, legendre_bregman_projection, phi, primal_objective
from pnorm.objectives._base import Scores as ScoresOfRows
from pnorm.objectives._pnorm import PNorm
from pnorm.objectives._pnorm import push as push_of
from pnorm.rankers import WeakRankers

__all__ = [
    "Certificate",
    "Convergence",
    "Limit",
    "NoSignalWarning",
    "Separability",
    "SeparationWarning",
    "bregman_distance",
    "certificate",
    "convergence",
    "legendre_bregman_projection",
    "phi",
    "primal_objective",
    "q_limit",
    "q_prime",
    "report",
    "same_limit",
    "separability",
]


_GroupCodes = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The number of the group of each of the user's rows, per side; below zero for rows that do not count."""


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


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """The kind of the data: whether the objective has a minimiser, and a direction to infinity if it has none.

    Attributes
    ----------
    kind : str
        ``"overlapping"``, ``"quasi-separable"`` or ``"separable"``; ``"undecided"`` if the linear program and an exact
        comparison of scores disagree.
    support_pos : ndarray of bool, shape (I,)
        The positives that keep weight in the limit of training.
    support_neg : ndarray of bool, shape (K,)
        The negatives that keep weight in the limit of training.
    direction : ndarray, shape (n,), or None
        Coefficients that put no positive below a negative. They put a positive strictly above a negative unless both
        are on the support. None if there is no such pair, or if no such direction was found.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0], [0.3, 0], [0.5, 1]], [[0.8, 0], [0.1, 0]]
    >>> found = pnorm.diagnostics.separability(pos, neg)
    >>> found.kind, found.support_pos, found.support_neg, found.direction
    ('quasi-separable', array([ True,  True, False]), array([ True,  True]), array([0., 1.]))
    """

    kind: str
    support_pos: NDArray[np.bool_]
    support_neg: NDArray[np.bool_]
    direction: Vector | None

    def __repr__(self) -> str:
        return f"<Separability: {self.kind}, {_support(self)}>"


@dataclass(frozen=True, eq=False, repr=False)
class Limit:
    """The limit of training: the unique ``q'*`` of COLT 2006, Theorem 3, in factored form.

    Attributes
    ----------
    kind : str
        The kind of the data, as in `separability`.
    log_pos : ndarray, shape (I,)
        The positives' part of ``log q'*_ik = log_pos_i + log_neg_k``; -inf on rows without weight in the limit.
    log_neg : ndarray, shape (K,)
        The negatives' part.
    support_pos : ndarray of bool, shape (I,)
        The positives that keep weight in the limit.
    support_neg : ndarray of bool, shape (K,)
        The negatives that keep weight in the limit.
    log_objective : float
        An upper bound of the log of the infimum of F_p, in nats; -inf if the data are separable.
    gap : float
        The largest possible distance of `log_objective` from that infimum, in nats.
    lam : ndarray, shape (n,), or None
        Coefficients that give ``q'*`` on its support. Without signs they are the ones of least norm. None if the data
        are separable.
    lam_unique : bool
        Whether `lam` is the only minimiser: the data overlap, and different coefficients give different score
        differences. False if different coefficients can give the same, even where signs leave one minimiser.
    direction : ndarray, shape (n,), or None
        If the data do not overlap, the coefficients that go to infinity, as in `Separability.direction`.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0], [0.3, 0], [0.5, 1]], [[0.8, 0], [0.1, 0]]
    >>> limit = pnorm.diagnostics.q_limit(pos, neg, None, 2)
    >>> limit.kind, limit.support_pos, limit.dense().shape
    ('quasi-separable', array([ True,  True, False]), (3, 2))
    >>> lam, trace = pnorm.train(pos, neg, p=2)
    >>> f_pos, f_neg = pnorm.score(pos, None, lam), pnorm.score(neg, None, lam)
    >>> limit.distance(f_pos, f_neg) < 0.1
    True
    """

    kind: str
    log_pos: Vector
    log_neg: Vector
    support_pos: NDArray[np.bool_]
    support_neg: NDArray[np.bool_]
    log_objective: float
    gap: float
    lam: Vector | None
    lam_unique: bool
    direction: Vector | None
    _log_c: tuple[Vector, Vector]
    """Logarithms of the case weights; -inf for rows that do not count."""
    _groups: _GroupCodes | None

    def dense(self) -> Array:
        """Return ``q'*`` for every pair.

        Returns
        -------
        ndarray, shape (I, K)
            Zero for pairs off the support, and for rows of different groups.
        """
        return _products(self.log_pos, self.log_neg, self._groups)

    def distance(
        self, f_pos: Scores, f_neg: Scores | None = None, *, y: Labels | None = None, pos_label: Label | None = None
    ) -> float:
        """Return the relative distance of the q' of given scores from the limit.

        The distance is::

            Σ_ik c_i c̃_k |q'_ik - q'*_ik| / Σ_ik c_i c̃_k q'*_ik

        with ``q'_ik = exp(-(f_i - f̃_k))`` and case weights c, over the pairs of all groups. In training the distance
        goes to zero, even if coefficients go to infinity: the ``q'_ik`` of pairs off the support vanish.

        Parameters
        ----------
        f_pos, f_neg : array_like, shape (I,) and (K,)
            Scores of the positives and of the negatives. Or all scores alone, with `y`.
        y, pos_label : optional
            With labels, ``limit.distance(scores, y=y)``, the first argument holds all scores. The labels and the
            positive label are as in `pnorm.train`.

        Returns
        -------
        float
            Zero or more. It is inf for separable data, where q'* is zero, and if the limit has no certificate. Its
            accuracy is limited by the error of q'* itself, about the square root of `gap`. The cost is
            O((I + K) log(I + K)), by sorting; no array over the pairs is formed.

        Raises
        ------
        ValueError, TypeError
            If a side is not a vector of finite numbers with one number per row, or the labels do not fit the scores.

        See Also
        --------
        convergence : The Bregman distance from the limit after each round, computed from the trace alone.

        Examples
        --------
        Two vectors of coefficients along the direction to infinity are far apart, and both are near the limit:

        >>> import pnorm
        >>> pos, neg = [[0.9, 0], [0.3, 0], [0.5, 1]], [[0.8, 0], [0.1, 0]]
        >>> limit = pnorm.diagnostics.q_limit(pos, neg, None, 2)
        >>> near, nearer = limit.lam + 20 * limit.direction, limit.lam + 50 * limit.direction
        >>> pnorm.diagnostics.same_limit(pos, neg, None, near, nearer)
        30.0
        >>> f_pos, f_neg = pnorm.score(pos, None, near), pnorm.score(neg, None, near)
        >>> float(f"{limit.distance(f_pos, f_neg):.1g}")
        1e-09
        """
        f_pos, f_neg, *_ = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label)
        f_pos = _checks.vector(f_pos, "f_pos", self.log_pos.size, "one score per positive")
        f_neg = _checks.vector(f_neg, "f_neg", self.log_neg.size, "one score per negative")
        if self.kind == "separable" or not math.isfinite(self.gap):
            return math.inf
        groups = [(np.isfinite(self._log_c[0]), np.isfinite(self._log_c[1]))]
        if self._groups is not None:
            groups = list(zip(*[_rows_by_group(codes) for codes in self._groups], strict=True))
        logs = [(-f_pos, self.log_pos), (f_neg, self.log_neg)]
        return _relative_difference([
            [log[rows] + c[rows] for of_side, c, rows in zip(logs, self._log_c, sides, strict=True) for log in of_side]
            for sides in groups
        ])  # fmt: skip

    def __repr__(self) -> str:
        return f"<Limit: {self.kind}, log F_p {self.log_objective:.6g}, gap {self.gap:.2g}, {_support(self)}>"


def _support(found: Separability | Limit) -> str:
    pos, neg = found.support_pos, found.support_neg
    return f"support {pos.sum()} of {pos.size} positives and {neg.sum()} of {neg.size} negatives"


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


def separability(
    pos: Rows,
    neg: Rows,
    H: WeakRankers = None,
    *,
    signs: ArrayLike | None = None,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
) -> Separability:
    """Determine whether the objective has a minimiser: whether the convex hulls overlap, touch, or are disjoint.

    The hulls are those of the outputs of the weak rankers on the positives and on the negatives. The support consists
    of the rows that carry weight in some u, w of equal mass and matching moments. It is the same for every p. A linear
    program finds it::

        maximise Σ t  with  Hᵀu = H̃ᵀw,  Σ_i u_i = Σ_k w_k,  u ≥ t,  w ≥ t,  0 ≤ t ≤ 1

    and its dual gives the direction in which the scores of all other rows go to infinity. The direction is rounded to
    small whole numbers if it is close to such, and confirmed by an exact comparison of scores.

    With signs, only coefficients that have these signs are considered. For a coefficient that must not be below zero
    the moments need only satisfy ``(Hᵀu - H̃ᵀw)_j ≤ 0``; for one that must not be above zero, the reverse.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things
        The positive rows, as in `pnorm.train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. They join
        those of `H` (`Rankers.signs`, from ``monotone``), and must not contradict them.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.

    Returns
    -------
    Separability
        The kind, the support, and the direction.

    Notes
    -----
    HiGHS solves the program through SciPy, on columns scaled to one range. Its resolution is about 1e-9 of that range.
    With more than a thousand rows, and up to 2000 weak rankers, the program starts from some hundreds of rows. Rows
    are added as long as the direction is wrong for them. 100,000 rows by 50 columns take about a second if the hulls
    overlap.

    Columns of `pnorm.rankers.normalized` are decided before they are scaled, and the direction is scaled afterwards.
    Scores along it then tie except for rounding.

    Examples
    --------
    One positive has a 1 in the second column, and no negative has:

    >>> import pnorm
    >>> pos, neg = [[0.9, 0], [0.3, 0], [0.5, 1]], [[0.8, 0], [0.1, 0]]
    >>> s = pnorm.diagnostics.separability(pos, neg)
    >>> s.kind, s.support_pos, s.direction
    ('quasi-separable', array([ True,  True, False]), array([0., 1.]))

    If that column must not raise a score, there is a minimiser:

    >>> pnorm.diagnostics.separability(pos, neg, signs=[0, -1]).kind
    'overlapping'
    """
    pos, neg, rankers = rankers_of(pos, neg, H)
    signs = _checks.signs(signs, rankers.names, rankers.signs)
    problem = _build(pos, neg, rankers, 1.0, pos_weight, neg_weight, pos_group, neg_group)
    problem.check_magnitudes()
    found = find_separation(problem, signs=signs)
    return Separability(
        found.kind, problem.spread(found.pos, 0, False), problem.spread(found.neg, 1, False), found.direction
    )


def q_limit(
    pos: Rows,
    neg: Rows,
    H: WeakRankers,
    p: float,
    *,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
) -> Limit:
    """Compute the limit of training: the unique ``q'*`` of COLT 2006, Theorem 3.

    It is::

        q'* = argmin Σ_k (Σ_i q'_ik)^p

        over the closure of {q' : q'_ik = exp(-(f(x_i) - f(x̃_k))), f = Σ_j λ_j h_j}

    The limit is unique even if the coefficients are not. It exists even if coefficients go to infinity. If weak
    rankers have signs (`Rankers.signs`, from ``monotone``), only coefficients with these signs are considered.

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
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.

    Returns
    -------
    Limit
        The limit in factored form, its support, the infimum, and the gap of the certificate.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0], [0.3, 0], [0.5, 1]], [[0.8, 0], [0.1, 0]]
    >>> limit = pnorm.diagnostics.q_limit(pos, neg, None, 2)
    >>> limit.kind, limit.lam_unique
    ('quasi-separable', False)
    >>> limit.dense().round(3)
    array([[0.955, 0.692],
           [1.258, 0.912],
           [0.   , 0.   ]])
    """
    of_rows = pos_weight, neg_weight, pos_group, neg_group
    pos, neg, rankers = rankers_of(pos, neg, H)
    within = Penalty.of(len(rankers), signs=rankers.signs)
    return _limit(_build(pos, neg, rankers, p, *of_rows, group_weight=group_weight), within)


def _limit(problem: Problem, within: Penalty, progress: bool = False) -> Limit:
    lam, trace, found = solve(problem, within, tol=0.0, progress=progress)  # q' is accurate to the root of the gap
    pos, neg = np.ones(problem.n_pos, bool), np.ones(problem.n_neg, bool)
    kind = "overlapping" if trace.status == "converged" else "undecided"
    if found is not None:
        kind, pos, neg = found.kind, found.pos, found.neg
    elif trace.status == "separable":
        kind, pos, neg = "separable", ~pos, ~neg
    f = problem.scores(lam)
    middle = float(f.neg[neg].mean()) if neg.any() else 0.0
    log_pos, log_neg = np.where(pos, middle - f.pos, -np.inf), np.where(neg, f.neg - middle, -np.inf)
    unique = kind == "overlapping" and null_space(problem).size == 0
    return Limit(
        kind,
        problem.spread(log_pos, 0, -np.inf),
        problem.spread(log_neg, 1, -np.inf),
        problem.spread(pos, 0, False),
        problem.spread(neg, 1, False),
        -math.inf if kind == "separable" else float(trace.log_objective[-1]),
        trace.gap,
        None if kind == "separable" else lam,
        unique,
        trace.direction,
        _log_case_weights(problem),
        _group_codes(problem),
    )


def q_prime(
    pos: Rows,
    neg: Rows,
    H: WeakRankers,
    lam: ArrayLike,
    *,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
) -> Array:
    """Return ``q'_ik = exp(-(f(x_i) - f(x̃_k)))`` for every pair.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things
        The positive rows, as in `pnorm.train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.

    Returns
    -------
    ndarray, shape (I, K)
        Zero for rows of different groups and for rows of weight zero; inf beyond the largest double.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> pnorm.diagnostics.q_prime([[1.0], [2.0]], [[1.0]], None, [np.log(2)])
    array([[1. ],
           [0.5]])
    """
    problem, lam = _problem_and(lam, "lam", pos, neg, H, 1.0, pos_weight, neg_weight, pos_group, neg_group)
    f = problem.scores(lam)
    log_pos, log_neg = problem.spread(-f.pos, 0, -np.inf), problem.spread(f.neg, 1, -np.inf)
    return _products(log_pos, log_neg, _group_codes(problem))


def _products(log_pos: Vector, log_neg: Vector, groups: _GroupCodes | None) -> Array:
    """Return the products of two factors, given as logarithms, for every pair; zero across groups."""
    with np.errstate(over="ignore"):
        q = np.exp(np.add.outer(log_pos, log_neg))
    return q if groups is None else np.where(np.equal.outer(*groups), q, 0.0)


def _group_codes(problem: Problem) -> _GroupCodes | None:
    """Return the number of the group of each of the user's rows, below zero for rows that do not count."""
    groups = problem.objective.groups
    return None if groups is None else (problem.spread(groups.pos, 0, -1), problem.spread(groups.neg, 1, -2))


def _rows_by_group(codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the rows of group 0, 1, ...; rows with codes below zero are left out."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(codes.max() + 1)))[1:]


def _log_case_weights(problem: Problem) -> tuple[Vector, Vector]:
    """Return the logarithms of the case weights of the user's rows, -inf for rows that do not count."""
    assert isinstance(problem.objective, PNorm)
    log_c_pos, log_c_neg = problem.objective.log_c
    pos = np.zeros(problem.n_pos) if log_c_pos is None else log_c_pos
    neg = np.zeros(problem.n_neg) if log_c_neg is None else log_c_neg
    return problem.spread(pos, 0, -np.inf), problem.spread(neg, 1, -np.inf)


def _relative_difference(groups: list[list[Vector]]) -> float:
    """Return sum |a_i b_k - A_i B_k| / sum A_i B_k over the pairs of all groups, given log a, A, b, B of each."""
    from scipy.special import logsumexp

    log_total = logsumexp(
        [logsumexp(of_limit_pos) + logsumexp(of_limit_neg) for _, of_limit_pos, _, of_limit_neg in groups]
    )
    total = 0.0
    for log_a, log_limit_a, log_b, log_limit_b in groups:
        with np.errstate(over="ignore"):  # scores may be 1e308
            # a_i b_k < A_i B_k if and only if a_i / A_i < B_k / b_k. In this order such positives come first.
            rise = log_a - log_limit_a
            order = np.argsort(rise)
            below = np.searchsorted(rise[order], log_limit_b - log_b, side="right")
            for sign, log_pos, log_neg in ((1.0, log_a, log_b), (-1.0, log_limit_a, log_limit_b)):
                top = max(float(log_pos.max()), -1e300)
                sums = np.concatenate([[0.0], np.cumsum(np.exp(log_pos[order] - top))])
                b = np.exp(log_neg + top - log_total)
                if np.isinf(b).any():
                    return math.inf
                total += sign * float(b @ (sums[-1] - 2.0 * sums[below]))
    return max(total, 0.0)


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


def report(
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
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
    progress: bool = False,
) -> str:
    """Return a text that states whether coefficients are the minimiser, and what to do if not.

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
        Weight of the penalty ``l1 |lam|_1``, zero or more. Pass the penalties and signs that `lam` was trained with.
    l2 : float
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. They join
        those of `H` (`Rankers.signs`, from ``monotone``), and must not contradict them.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts, as in `pnorm.minimize`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``. It counts the steps to the minimiser.

    Returns
    -------
    str
        About ten lines: the gap of `lam`, the kind of the data and its support, the infimum, whether the minimiser is
        unique and why, and advice.

    Raises
    ------
    ImportError
        If `progress` is true and tqdm is missing.

    See Also
    --------
    certificate : The bound alone.
    separability : The kind alone.
    q_limit : The limit that `lam` is compared with.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0.1], [0.7, 0.8], [0.2, 0.6]], [[0.8, 0.2], [0.1, 0.3], [0.4, 0.9]]
    >>> lam, trace = pnorm.train(pos, neg, p=4, t_max=5)
    >>> print(pnorm.diagnostics.report(pos, neg, None, 4, lam))
    problem       p = 4, 3 positives, 3 negatives, 2 weak rankers
    coefficients  log F_p = 5.303148728, at most 0.00047 above its infimum; largest edge 0.0091
    kind          overlapping: the convex hulls of the two sides overlap, so a minimiser exists
    support       3 of 3 positives and 3 of 3 negatives keep weight in the limit of training
    infimum       5.302679073, to 1e-12
    distance      log F_p is 0.00047 above its infimum; score differences are within 0.024 of those
                  of the minimiser
    uniqueness    the minimiser is unique: its scores determine every coefficient (lam)
    advice        call pnorm.minimize for the minimiser, or keep these coefficients if you stopped
                  early to regularise
    """
    of_rows = pos_weight, neg_weight, pos_group, neg_group
    problem, lam, added = _penalised(lam, pos, neg, H, p, l1, l2, signs, penalty, *of_rows, group_weight=group_weight)
    here = _certificate(problem, lam, added)
    counts = [(problem.n_pos, "positive"), (problem.n_neg, "negative"), (problem.n_rankers, "weak ranker")]
    if problem.objective.groups:
        counts.append((problem.objective.groups.n, "group"))
    about = [f"p = {p:g}", *(_count(*each) for each in counts)]
    if n_signs := int(np.count_nonzero(added.signs)):
        about.append(f"{_count(n_signs, 'coefficient')} with a sign")
    lines = {"problem": ", ".join(about)}
    bound = f"no certificate: {here.message}"
    if here.gap < math.inf:
        bound = f"at most {max(here.gap, _FINE):.2g} above its infimum"
    terms = ["log F_p"]
    if l1 > 0.0:
        terms.append(f"{l1:g} |lam|_1")
    if l2 > 0.0:
        terms.append(f"{l2 / 2:g} |lam|^2")
    units = " (penalty of shapes)" if penalty == "shapes" and len(terms) > 1 else ""
    lines["coefficients"] = f"{' + '.join(terms)}{units} = {here.objective:.10g}, {bound}"
    if added.ridge == 0.0:
        lines["coefficients"] += f"; largest edge {here.gradient_norm:.2g}"
    tell = _about_penalised if len(terms) > 1 else _about_data
    return _page(lines | tell(problem, lam, here, added, progress))


def _about_penalised(
    problem: Problem, lam: Vector, here: Certificate, added: Penalty, progress: bool
) -> dict[str, str]:
    best, trace, _ = solve(problem, added, progress=progress)
    if trace.status == "separable":
        return {
            "kind": "separable: some combination of the weak rankers puts every positive above every negative",
            "infimum": "none: l1 is too small; along this combination log F_p falls faster than the penalty rises",
            "distance": _right_or_not(problem, lam),
            "advice": "pass l2 > 0, or a larger l1",
        }
    if added.is_bounded:
        unique = "with a penalty l2 > 0 the minimiser always exists and is unique"
    else:
        unique = "score differences are unique, unless some combination of the weak rankers equals the label; "
        unique += "so are the coefficients (lam), unless weak rankers are linearly dependent"
    done = here.gap <= max(_CLOSE, 2.0 * trace.gap)
    return {
        "infimum": f"{trace.objective[-1]:.10g}, to {max(trace.gap, _FINE):.2g}",
        "distance": f"score differences are within {_apart(problem, lam - best):.2g} of those of the minimiser",
        "uniqueness": unique,
        "advice": "none needed: this is the minimiser"
        if done
        else "call pnorm.minimize with the same penalty for the minimiser",
    }


def _about_data(problem: Problem, lam: Vector, here: Certificate, within: Penalty, progress: bool) -> dict[str, str]:
    limit, any_signs = _limit(problem, within, progress), not within.is_smooth
    of_hulls, meaning, advice = _KINDS[limit.kind]
    lines = {"kind": f"{limit.kind} within the signs: {meaning}" if any_signs else f"{limit.kind}: {of_hulls}{meaning}"}
    if limit.kind in ("overlapping", "quasi-separable"):
        n_pos, n_neg = int(limit.support_pos.sum()), int(limit.support_neg.sum())
        lines["support"] = (
            f"{n_pos} of {_count(problem.n_pos, 'positive')} and {n_neg} of {_count(problem.n_neg, 'negative')} "
            "keep weight in the limit of training"
        )
        lines["infimum"] = f"{limit.log_objective:.10g}, to {max(limit.gap, _FINE):.2g}"
        lines["distance"] = f"log F_p is {_above(here.log_objective, limit)} its infimum"
    if limit.kind == "quasi-separable":
        f = problem.scores(lam)
        apart = limit.distance(problem.spread(f.pos, 0, 0.0), problem.spread(f.neg, 1, 0.0))
        apart = max(apart, math.sqrt(_FINE))
        lines["distance"] += f"; q' = exp(-score difference) is within {apart:.2g} of its limit (relative, all pairs)"
    if limit.kind == "overlapping" and limit.lam is not None:
        apart = _apart(problem, lam - limit.lam)
        lines["distance"] += f"; score differences are within {apart:.2g} of those of the minimiser"
        if here.gap > max(_CLOSE, 2.0 * limit.gap):
            advice = "call pnorm.minimize for the minimiser, or keep these coefficients if you stopped early to "
            advice += "regularise"
    if limit.kind == "separable":
        lines["distance"] = _right_or_not(problem, lam)
        if _separates(problem, lam):
            advice = "to choose among such coefficients pass l2 > 0, stop early, or use held-out rows; pnorm.minimize "
            advice += "returns those of the widest margin"
    if limit.lam_unique:
        lines["uniqueness"] = "the minimiser is unique: its scores determine every coefficient (lam)"
    elif limit.kind != "separable":
        why = ["some of them go to infinity"] if limit.kind == "quasi-separable" else []
        if missing := null_space(problem).size:
            why.append(f"no score difference depends on {_count(missing, 'combination')} of the weak rankers")
        unique = "score differences are unique" if limit.kind == "overlapping" else "the limit of q' is unique"
        are_not = "may not be" if any_signs and limit.kind != "quasi-separable" else "are not"
        because = ", and ".join(why or ["the kind of the data is undecided"])
        lines["uniqueness"] = f"{unique}, the coefficients (lam) {are_not}: {because}"
    return lines | {"advice": advice}


def _above(log_objective: float, limit: Limit) -> str:
    excess, resolved = log_objective - limit.log_objective, max(limit.gap, _FINE)
    if resolved == math.inf:
        return "an unknown amount above"
    return f"{excess:.2g} above" if excess > resolved else f"less than {2.0 * resolved:.2g} above"


def _right_or_not(problem: Problem, lam: Vector) -> str:
    right = "put every" if _separates(problem, lam) else "do not put every"
    return f"these coefficients {right} positive above every negative"


def _separates(problem: Problem, lam: Vector) -> bool:
    return problem.margin(problem.scores(lam)) > 0.0


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


_CLOSE = 1e-6
"""A gap in nats below which `report` calls coefficients the minimiser."""

_FINE = 1e-12
"""Smallest gap that a report prints: the digits of smaller ones differ between machines."""

_KINDS = {
    "overlapping": (
        "the convex hulls of the two sides overlap, so ",
        "a minimiser exists",
        "none needed: this is the minimiser",
    ),
    "quasi-separable": (
        "the convex hulls of the two sides touch, so ",
        "some coefficients (lam) go to infinity",
        "pass l2 > 0 for a finite minimiser, or stop early, or score with trace.lam_along() of pnorm.minimize",
    ),
    "separable": (
        "",
        "some combination of the weak rankers puts every positive above every negative, and the infimum of F_p is 0",
        "call pnorm.minimize for such coefficients; to choose among them pass l2 > 0, stop early, or use held-out rows",
    ),
    "undecided": (
        "",
        "the linear program and an exact comparison of scores disagree",
        "pass l2 > 0, or look for columns that are nearly linearly dependent",
    ),
}
"""For each kind: the position of the hulls (left out if coefficients have signs), the consequence, and advice."""


def _apart(problem: Problem, difference: Vector) -> float:
    """Return the largest absolute difference of score differences over all pairs."""
    f = problem.scores(difference)
    return max(-problem.margin(f), -problem.margin(ScoresOfRows(-f.pos, -f.neg))) + 0.0  # not -0.0


def _page(lines: dict[str, str]) -> str:
    """Return a text with one entry per line, wrapped under its heading."""
    wide = max(map(len, lines)) + 2
    wrap = textwrap.TextWrapper(width=96, subsequent_indent=" " * wide, break_on_hyphens=False)
    return "\n".join(wrap.fill(f"{heading:{wide}}{text}") for heading, text in lines.items())


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


def __dir__() -> list[str]:
    return __all__
