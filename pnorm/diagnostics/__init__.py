"""Optimality certificates, separability, the limit of training, and its geometry.

Data come in three kinds, by the convex hulls of the outputs of the weak rankers on the two sides.
*Overlapping*: F_p has a minimiser. *Quasi-separable*, hulls that only touch: some coefficients must
go to infinity, and only part of the rows keep weight. *Separable*: some combination puts every
positive above every negative, and F_p has the infimum 0. `separability` tells which, `certificate`
how far given coefficients are from the infimum, `q_limit` what all training runs tend to, and
`report` all of it in words.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Array, Vector
from pnorm._solvers.certificate import certify, penalised_gap
from pnorm._solvers.hessian import FEW, LARGEST_HESSIAN, null_space
from pnorm._solvers.minimize import solve, units_of
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem, build, rankers_of
from pnorm._solvers.proximal import certified
from pnorm._solvers.separability import find_separation
from pnorm._solvers.wide import curvature_at
from pnorm._trace import Trace
from pnorm.diagnostics._bregman import bregman_distance, legendre_bregman_projection, phi, primal_objective
from pnorm.objectives._base import Scores
from pnorm.objectives._pnorm import PNorm
from pnorm.objectives._pnorm import push as push_of

__all__ = [
    "Certificate",
    "Convergence",
    "Limit",
    "Separability",
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
    """A bound on the distance of coefficients from the infimum.

    Attributes
    ----------
    log_objective : float
        log F_p at the coefficients, in nats.
    objective : float
        The same with its penalties: what `Trace.objective` has.
    lower_bound : float
        A number that the objective does not go below, whatever the coefficients: objective - gap.
    gap : float
        Bound on objective less infimum, in nats; inf where there is no certificate.
    gradient_norm : float
        Largest absolute edge, in units of the weak rankers: the gradient of log F_p divided by p.
    moment_residual : float
        Largest difference of a moment between the two weight vectors behind the bound, which is
        rounding; nan where there are none.
    message : str
        Why there is no certificate; empty where there is one.
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
    """Existence of a minimiser of the objective, and the directions to infinity if there is none.

    Attributes
    ----------
    kind : str
        ``"overlapping"``, ``"quasi-separable"``, ``"separable"``; ``"undecided"`` where the linear
        program and an exact comparison of scores do not agree.
    support_pos : ndarray of bool, shape (I,)
        The positives that keep weight in the limit of training.
    support_neg : ndarray of bool, shape (K,)
        The negatives that do.
    direction : ndarray, shape (n,), or None
        Coefficients that put no positive below a negative, and every positive strictly above a
        negative unless both are on the support. None where there is no such pair, or no such
        direction was found.
    """

    kind: str
    support_pos: NDArray[np.bool_]
    support_neg: NDArray[np.bool_]
    direction: Vector | None

    def __repr__(self) -> str:
        return f"<Separability: {self.kind}, {_support(self)}>"


@dataclass(frozen=True, eq=False, repr=False)
class Limit:
    """The unique ``q'*`` that minimises the objective, COLT 2006, Theorem 3, in factored form.

    Attributes
    ----------
    kind : str
        As in `separability`.
    log_pos : ndarray, shape (I,)
        ``log q'*_ik = log_pos_i + log_neg_k``; -inf on rows that carry no weight in the limit.
    log_neg : ndarray, shape (K,)
        The negatives' part.
    support_pos : ndarray of bool, shape (I,)
        Rows that do carry weight.
    support_neg : ndarray of bool, shape (K,)
        The negatives that do.
    log_objective : float
        log of the infimum of F_p, in nats, from above; -inf if the data are separable.
    gap : float
        How far above, at most.
    lam : ndarray, shape (n,), or None
        Coefficients that give ``q'*`` on its support, without signs those of least norm; None if the data are
        separable.
    lam_unique : bool
        Whether they are the only minimiser: the data overlap, and different coefficients give
        different score differences. False where they do not, even if signs leave one minimiser.
    direction : ndarray, shape (n,), or None
        Where the data do not overlap, what has to go to infinity.
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
            Zero for pairs off the support, and for pairs that are none because of groups.
        """
        return _products(self.log_pos, self.log_neg, self._groups)

    def distance(self, f_pos: Any, f_neg: Any) -> float:
        r"""Return how far the :math:`q'_{ik} = e^{-(f_i - \tilde f_k)}` of some scores is from the limit.

        .. math:: \frac{\sum_{ik} c_i \tilde c_k \, |q'_{ik} - q'^*_{ik}|}{\sum_{ik} c_i \tilde c_k \, q'^*_{ik}}

        with case weights c, over the pairs of all groups. Pairs off the support count for what is left of them, so
        this goes to zero in training even where coefficients go to infinity.

        Parameters
        ----------
        f_pos, f_neg : array_like, shape (I,) and (K,)
            Scores of the positives and of the negatives.

        Returns
        -------
        float
            Zero or more; inf for separable data, where q'* is zero, and where the limit has no certificate. It can
            be no smaller than the error of q'* itself, about the square root of `gap`. O((I + K) log(I + K)), by
            sorting: no array over the pairs is formed.

        Raises
        ------
        ValueError, TypeError
            If a side is not a vector of finite numbers, one for each of its rows.

        See Also
        --------
        convergence : The Bregman distance after each round, from the trace alone.

        Examples
        --------
        Two runs along the infinite direction are far apart, and both near the limit:

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
    """The distance of a run from the infimum after each round.

    Attributes
    ----------
    gap : ndarray, shape (T + 1,)
        log F_p less its infimum after each round, in nats.
    rate : float
        The factor by which the gap shrinks in one round, over the second half of the rounds in
        which it is above rounding; nan if these are fewer than three.
    rounds : dict from float to int or None
        The first round after which the gap is at most the accuracy; None if there is none.
    bregman : ndarray, shape (T + 1,), or None
        The Bregman distance ``B(q*, q_t)`` of COLT 2006, Appendix B, after each round, as a share of
        ``B(0, q*) = F*/p``. None if the limit is not given by `q_limit`.
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
    pos: Any,
    neg: Any,
    H: Any,
    p: float,
    lam: Any,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: Any = None,
    penalty: str = "coefficients",
    push: str = "top",
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    pos_grade: Any = None,
    neg_grade: Any = None,
    group_weight: str = "pairs",
) -> Certificate:
    r"""Bound how far coefficients are from the infimum of the objective.

    For weights u on the positives and w on the negatives, each of sum one and with matching
    moments :math:`\sum_i u_i h(x_i) = \sum_k w_k h(\tilde x_k)`,

    .. math:: \log F_p(\lambda) \ge -p \sum_i u_i \ln\frac{u_i}{c_i} - \sum_k w_k \ln\frac{w_k}{\tilde c_k}
              \qquad \text{for every } \lambda .

    Such weights come from those at `lam` by one Newton step. The gap between the two sides is a sum of
    relative entropies between the weights before and after, so that it keeps its digits however
    small it is. With penalties the objective is
    :math:`\log F_p + l1\, |\lambda|_1 + \frac{l2}{2} |\lambda|^2`, and with signs the infimum is that of coefficients
    that have them (page "Optimality certificates").

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
        With `gap` never below the true one, rounding included: what rounding may hide is added, and
        where it could hide too much, or a corrected weight is negative, the gap is inf and `message`
        says why. Outputs are taken for what they are to within rounding: a combination of weak
        rankers that is the same on all rows to a few units in the last place of its largest term
        counts as constant.

    See Also
    --------
    pnorm.minimize : Find the minimiser.
    report : The same in words, and more.

    Notes
    -----
    Cost: one pass for the Hessian, O((I + K) n**2), and a few over the rows; with a penalty, that of one Newton step of
    `pnorm.minimize`. Beyond 6000 weak rankers only a penalised objective has a certificate.

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
    """Return the certificate for coefficients as `minimize` has found them: within the signs of the weak rankers.

    If it was asked for few columns, the others stay out of the score.
    """
    problem, lam = _problem_and(lam, "lam", pos, neg, H, p, *of_rows, **how)
    added = Penalty.of(len(H), l1, l2, H.signs, units_of(problem, H, penalty))
    if few:
        added = added.only(np.isin(H.column, H.column[np.flatnonzero(lam)]))
    return _certificate(problem, lam, added)


_MANY = 2**28
"""Outputs of weak rankers, from which on they are too many to be formed one by one: some ten seconds."""


def _certificate(problem: Problem, lam: Vector, penalty: Penalty) -> Certificate:
    problem.check_magnitudes(float(penalty.l2.max()), lam, "lam")
    l2 = penalty.ridge
    outputs = (problem.n_pos + problem.n_neg) * problem.n_rankers
    by_slopes = penalty.is_bounded and problem.n_rankers > FEW and outputs > _MANY
    point = problem.point(lam, precise=not by_slopes)
    edges = problem.edges_at(point)
    if by_slopes:
        # A step by the Hessian of 5,100 cuts and 2e6 rows takes more than ten minutes, as do scores in twice the
        # working precision, and both gain little near the minimiser.
        gap, message, residual = penalised_gap(problem, point, edges, penalty)[0], "", float(np.abs(edges).max())
    elif l2 is None:
        bound = certified(problem, point, penalty, _FINE)
        gap, message, residual = bound.gap, bound.reason, bound.moment_residual
    elif problem.n_rankers > LARGEST_HESSIAN and l2 == 0.0:
        message = f"{problem.n_rankers} weak rankers make the Hessian too large; with l2 > 0 none is needed"
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
    pos: Any,
    neg: Any,
    H: Any = None,
    *,
    signs: Any = None,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
) -> Separability:
    r"""Tell whether the objective has a minimiser: do the hulls overlap, touch, or miss each other.

    The rows that may carry weight in some u, w of equal mass and matching moments form the support,
    the same for every p. One linear program finds it,

    .. math:: \max \sum t \quad\text{with}\quad H^\top u = \tilde H^\top w,\; 1^\top u = 1^\top w,\;
              u \ge t,\; w \ge t,\; 0 \le t \le 1,

    and its dual the direction in which all other rows go to infinity. The direction is turned into
    small whole numbers where it is near such and confirmed by an exact comparison of scores.

    With signs the question is whether coefficients that have them reach a minimum. A moment is then at most zero where
    the coefficient is at least zero, :math:`(H^\top u - \tilde H^\top w)_j \le 0`, and the other way round.

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
    Solved by HiGHS through SciPy, on columns scaled to one range. Its resolution is about 1e-9 of that range. Of more
    than a thousand rows, and up to 2000 weak rankers, it is asked about some hundreds, and about more as long as its
    direction is wrong for other rows: 100,000 rows by 50 columns take about a second where the hulls overlap.

    Columns of `pnorm.rankers.normalized` are decided as they are before they are scaled, and the direction is
    scaled afterwards: scores along it tie but for rounding.

    Examples
    --------
    One good thing has a 1 in the second column, and no bad thing does:

    >>> import pnorm
    >>> pos, neg = [[0.9, 0], [0.3, 0], [0.5, 1]], [[0.8, 0], [0.1, 0]]
    >>> s = pnorm.diagnostics.separability(pos, neg)
    >>> s.kind, s.support_pos, s.direction
    ('quasi-separable', array([ True,  True, False]), array([0., 1.]))

    Where that column must not raise a score, there is a minimiser:

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
    pos: Any,
    neg: Any,
    H: Any,
    p: float,
    *,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    group_weight: str = "pairs",
) -> Limit:
    r"""Find the limit of training: the unique ``q'*`` of COLT 2006, Theorem 3.

    .. math:: q'^*  = \operatorname{argmin} \sum_k \Bigl(\sum_i q'_{ik}\Bigr)^p \quad\text{over the closure of}\quad
              \bigl\{ q' : q'_{ik} = e^{-(f(x_i) - f(\tilde x_k))}, \; f = \sum_j \lambda_j h_j \bigr\} .

    It is unique even where the coefficients are not, and exists even where they go to infinity. Where weak
    rankers have signs (`Rankers.signs`, from ``monotone``), coefficients are those that have them.

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
        In factored form, with its support, the infimum, and a certificate.

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
    lam, trace, found = solve(problem, within, tol=0.0, progress=progress)  # q' errs by the square root of the gap
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
    pos: Any,
    neg: Any,
    H: Any,
    lam: Any,
    *,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
) -> Array:
    r"""Return :math:`q'_{ik} = e^{-(f(x_i) - f(\tilde x_k))}` for every pair.

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
        Zero for pairs that are none, because of groups or of a weight of zero; inf beyond the largest double.

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
            # a_i b_k is below A_i B_k where a_i / A_i is below B_k / b_k: the first so many positives, in this order.
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
    pos: Any,
    neg: Any,
    H: Any,
    lam1: Any,
    lam2: Any,
    *,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
) -> float:
    r"""Tell how far apart two coefficient vectors are where it matters.

    .. math:: \max_{ik} \, \lvert \log q'_{ik}(\lambda_1) - \log q'_{ik}(\lambda_2) \rvert,

    the largest change of a score difference: zero if and only if the two give the same q'.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things
        The positive rows, as in `pnorm.train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`.
    lam1 : array_like, shape (n,)
        Coefficients.
    lam2 : array_like, shape (n,)
        Other coefficients.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only.

    Returns
    -------
    float
        Zero or more, in O((I + K) n): no array over the pairs is formed.

    Examples
    --------
    The second column is one less the first, so only the difference of the two coefficients counts:

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
    r"""Follow how a run approached the infimum.

    With :math:`F^*` for the infimum of :math:`F_p` and :math:`B_\phi` for `bregman_distance`,

    .. math:: B_\phi(q^*, q_t) = \frac{F_p(\lambda_t) - F^*}{p}, \qquad
              \frac{B_\phi(q^*, q_t)}{B_\phi(0, q^*)} = e^{\log F_p(\lambda_t) - \log F^*} - 1,

    so that the distance from a limit over all pairs follows from the trace alone, even where coefficients go to
    infinity.

    Parameters
    ----------
    trace : Trace
        A run of `pnorm.train` or `pnorm.minimize`.
    limit : Limit, Certificate, Trace, or float
        Where to take the infimum from: `q_limit`, a run of `minimize`, or the lower bound of a
        certificate, all of the same problem and p; or the number itself.
    accuracies : sequence of float
        Gaps in nats whose first rounds are asked for.

    Returns
    -------
    Convergence
        The gap after each round, the rate, and the rounds to reach the accuracies; with `q_limit`, the Bregman
        distance from the limit.

    Raises
    ------
    ValueError, TypeError
        If the limit is that of separable data or has no certificate, or the run goes below it.

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
        raise TypeError(f"trace must be the second value that train or minimize returns; got {type(trace).__name__}")
    infimum = _infimum(limit)
    known = limit.gap if isinstance(limit, (Limit, Trace)) else 0.0
    wanted = _checks.numbers_of(accuracies, "accuracies")
    gap = trace.objective - infimum
    if gap[-1] < -(known + 1e-9 * (1.0 + abs(infimum))):
        raise ValueError(f"the run ends {-gap[-1]:.3g} below limit, which so is not the infimum of its problem and p")
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
    """Return the infimum that a limit stands for."""
    if not isinstance(limit, (Limit, Certificate, Trace)):
        return _checks.real(limit, "limit")
    if isinstance(limit, Limit) and limit.kind == "separable":
        raise ValueError("limit is that of separable data: log F_p falls without bound, and there is no gap to follow")
    if not math.isfinite(limit.gap):
        raise ValueError(
            "limit has no certificate, so its value may be far from the infimum (or there is none); "
            "pass what minimize or q_limit returns for overlapping or quasi-separable data"
        )
    if isinstance(limit, Certificate):
        return limit.lower_bound
    return float(limit.objective[-1]) if isinstance(limit, Trace) else limit.log_objective


def report(
    pos: Any,
    neg: Any,
    H: Any,
    p: float,
    lam: Any,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: Any = None,
    penalty: str = "coefficients",
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    group_weight: str = "pairs",
    progress: bool = False,
) -> str:
    """Say in words whether coefficients are the minimiser, and what to do if not.

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
        Weight of the penalty ``l1 |lam|_1``, zero or more. Penalties and signs are those that `lam` was trained with.
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
        One page: the kind of the data and their supports, the gap of `lam`, whether the
        minimiser is unique and why, and advice.

    Raises
    ------
    ImportError
        If `progress` is asked for and tqdm is missing.

    See Also
    --------
    certificate : The bound by itself.
    separability : The kind by itself.
    q_limit : What `lam` is compared with.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[0.9, 0.1], [0.7, 0.8], [0.2, 0.6]], [[0.8, 0.2], [0.1, 0.3], [0.4, 0.9]]
    >>> lam, trace = pnorm.train(pos, neg, p=4, t_max=5)
    >>> print(pnorm.diagnostics.report(pos, neg, None, 4, lam))
    problem       p = 4, 3 positives, 3 negatives, 2 weak rankers
    coefficients  log F_p = 5.303148728, at most 0.00047 above its infimum; largest edge 0.0091
    kind          overlapping: the hulls of the two sides overlap, and a minimiser exists
    support       3 of 3 positives and 3 of 3 negatives keep weight in the limit of training
    infimum       5.302679073, to 1e-12
    distance      log F_p is 0.00047 above its infimum, score differences are within 0.024 of the
                  minimiser's
    uniqueness    q' is unique, and so is lam: the scores determine every coefficient
    advice        pnorm.minimize gives the minimiser; stopping early on purpose is a way to
                  regularise
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
            "kind": "separable: some combination puts every positive above every negative",
            "infimum": "none: l1 is too small, and along this combination log F_p falls faster than the penalty rises",
            "distance": _right_or_not(problem, lam),
            "advice": "use l2 > 0, or a larger l1",
        }
    if added.is_bounded:
        unique = "whatever the data, a penalty with l2 makes the minimiser exist and be unique"
    else:
        unique = "score differences are unique, unless some combination of the weak rankers is the label itself; "
        unique += "so is lam, unless weak rankers depend on each other"
    done = here.gap <= max(_CLOSE, 2.0 * trace.gap)
    return {
        "infimum": f"{trace.objective[-1]:.10g}, to {max(trace.gap, _FINE):.2g}",
        "distance": f"score differences are within {_apart(problem, lam - best):.2g} of the minimiser's",
        "uniqueness": unique,
        "advice": f"{'none needed: this is' if done else 'pnorm.minimize with the same penalty gives'} the minimiser",
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
        lines["distance"] = f"log F_p is {max(0.0, here.log_objective - limit.log_objective):.2g} above its infimum"
    if limit.kind == "quasi-separable":
        f = problem.scores(lam)
        apart = limit.distance(problem.spread(f.pos, 0, 0.0), problem.spread(f.neg, 1, 0.0))
        lines["distance"] += f", q' within {max(apart, math.sqrt(_FINE)):.2g} of its limit (relative, over all pairs)"
    if limit.kind == "overlapping" and limit.lam is not None:
        apart = _apart(problem, lam - limit.lam)
        lines["distance"] += f", score differences are within {apart:.2g} of the minimiser's"
        if here.gap > max(_CLOSE, 2.0 * limit.gap):
            advice = "pnorm.minimize gives the minimiser; stopping early on purpose is a way to regularise"
    if limit.kind == "separable":
        lines["distance"] = _right_or_not(problem, lam)
    if limit.lam_unique:
        lines["uniqueness"] = "q' is unique, and so is lam: the scores determine every coefficient"
    elif limit.kind != "separable":
        why = ["part of it goes to infinity"] if limit.kind == "quasi-separable" else []
        if missing := null_space(problem).size:
            why.append(f"no score difference depends on {_count(missing, 'combination')} of the weak rankers")
        is_not = "may not be" if any_signs and limit.kind != "quasi-separable" else "is not"
        lines["uniqueness"] = f"q' is unique, lam {is_not}: " + ", and ".join(why or ["its kind is undecided"])
    return lines | {"advice": advice}


def _right_or_not(problem: Problem, lam: Vector) -> str:
    right = "put every" if problem.margin(problem.scores(lam)) > 0.0 else "do not put every"
    return f"these coefficients {right} positive above every negative"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


_CLOSE = 1e-6
"""A gap in nats below which no difference is visible in a list."""

_FINE = 1e-12
"""Smallest gap that a report prints: the digits of smaller ones differ between machines."""

_KINDS = {
    "overlapping": (
        "the hulls of the two sides overlap, and ",
        "a minimiser exists",
        "none needed: this is the minimiser",
    ),
    "quasi-separable": (
        "the hulls touch, and ",
        "some coefficients go to infinity",
        "use l2 > 0 for a finite minimiser, or stop early, or score with pnorm.minimize's lam + s * direction, s large",
    ),
    "separable": (
        "",
        "some combination puts every positive above every negative; inf F_p is 0",
        "pnorm.minimize gives coefficients that do; to choose among them use l2 > 0, stop early, or ask new rows",
    ),
    "undecided": (
        "",
        "the linear program and an exact comparison of scores do not agree",
        "use l2 > 0, or look for columns that are nearly but not quite dependent",
    ),
}
"""What the hulls do, which is no matter where coefficients have signs; what follows; and advice."""


def _apart(problem: Problem, difference: Vector) -> float:
    """Return the largest absolute difference of score differences over all pairs."""
    f = problem.scores(difference)
    return max(-problem.margin(f), -problem.margin(Scores(-f.pos, -f.neg))) + 0.0  # not -0.0


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
