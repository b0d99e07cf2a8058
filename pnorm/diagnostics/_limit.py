"""The limit of the weights where no minimiser exists, and the weights of some coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pnorm import _checks
from pnorm._checks import Array, GroupLabels, Label, Labels, Rows, Scores, Vector
from pnorm._checks.labelled import sides_of_scores
from pnorm._solvers.building import rankers_of
from pnorm._solvers.hessian import null_space
from pnorm._solvers.minimize import solve
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm.diagnostics._certificate import _build, _problem_and
from pnorm.diagnostics._separability import _support
from pnorm.objectives._pnorm import PNorm
from pnorm.rankers import WeakRankers

_GroupCodes = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The number of the group of each of the user's rows, per side; below zero for rows that do not count."""


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
        support = _support(self.support_pos, self.support_neg)
        return f"<Limit: {self.kind}, log F_p {self.log_objective:.6g}, gap {self.gap:.2g}, {support}>"


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
