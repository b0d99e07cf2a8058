"""Hulls that overlap, touch or are apart, and the weak rankers that separate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pnorm import _checks
from pnorm._checks import GroupLabels, Rows, Vector
from pnorm._solvers.building import rankers_of
from pnorm._solvers.separability import find_separation
from pnorm.diagnostics._certificate import _build
from pnorm.rankers import WeakRankers


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
        return f"<Separability: {self.kind}, {_support(self.support_pos, self.support_neg)}>"


def _support(pos: NDArray[np.bool_], neg: NDArray[np.bool_]) -> str:
    return f"support {pos.sum()} of {pos.size} positives and {neg.sum()} of {neg.size} negatives"


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
