"""Kendall's tau loss and the NDCG loss of lists, and their surrogates."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm._blas import dot
from pnorm._checks import Discount, Gain, Grades, GroupLabels, Scores, Vector
from pnorm._core import _lists
from pnorm.metrics import ndcg
from pnorm.metrics._by_list import opened
from pnorm.metrics._gains import discounted, discounts_of, gains_of

HARD = 1e12
"""Sum of r^3 over the assignments of a run above which a warning states their time; a unit takes about 0.5 ns."""


class RankingLoss(Protocol):
    """A ranking loss and its surrogate on lists of rows."""

    errors: Vector
    """(G,): the ranking loss of every list."""
    surrogates: Vector
    """(G,): its upper bound."""
    units: Vector
    """(G,): the factor of the slopes of every list."""

    def evaluate(self, f: Vector, first: int, last: int, grad: Vector | None) -> None:
        """Write the surrogates of the lists first:last and their derivatives by the scores f, or only the errors."""


class Kendall:
    """Kendall's tau loss: 2 / (r (r - 1)) times the sum over pairs."""

    def __init__(self, y: Vector, starts: NDArray[np.intp]) -> None:
        sizes = np.diff(starts)
        self._starts = starts
        self._by_grade = np.lexsort((y, np.repeat(np.arange(sizes.size), sizes)))
        self._y = y[self._by_grade]
        self._scratch = np.empty(y.size, np.intp), np.empty(y.size, np.intp)
        self.errors, self.surrogates = np.empty(sizes.size), np.empty(sizes.size)
        self.units = 2.0 / np.maximum(sizes * (sizes - 1.0), 1.0)

    def evaluate(self, f: Vector, first: int, last: int, grad: Vector | None) -> None:
        rows = self._y, self._by_grade, self._starts
        _lists.kendall(f, *rows, first, last, *self._scratch, self.surrogates, self.errors, grad)
        for sums in (self.surrogates, self.errors):
            sums[first:last] *= self.units[first:last]


class Ndcg:
    """1 - NDCG, and its upper bound by the worst permutation."""

    def __init__(self, y: Vector, starts: NDArray[np.intp], k: Any, gain: Any, discount: Any) -> None:
        self._starts = starts
        self._gains = gains_of(y, starts, gain)
        self._by_rank = discounts_of(discount, k, starts)
        self._best, worst = [discounted(self._gains, f, starts, self._by_rank) for f in (y, -y)]
        self._settled = self._best - worst <= 1e-12 * self._best  # any order is best
        n_lists = starts.size - 1
        lists = [slice(starts[g], starts[g + 1]) for g in range(n_lists)]
        self._positions = np.concatenate([_mean_places(y[rows]) for rows in lists])
        self.errors, self.surrogates, self.units = np.empty(n_lists), np.empty(n_lists), np.ones(n_lists)

    def evaluate(self, f: Vector, first: int, last: int, grad: Vector | None) -> None:
        if grad is None:
            self.rank(f, first, last)
        for g in range(first, last):
            self._bound(g, f, grad)

    def rank(self, f: Vector, first: int, last: int) -> None:
        """Write only the errors."""
        rows = slice(self._starts[first], self._starts[last])
        starts = self._starts[first : last + 1] - rows.start
        best = np.where(self._settled[first:last], 1.0, self._best[first:last])
        share = discounted(self._gains[rows], f[rows], starts, self._by_rank) / best
        self.errors[first:last] = np.where(self._settled[first:last], 0.0, np.maximum(0.0, 1.0 - share))

    def _bound(self, g: int, f: Vector, grad: Vector | None) -> None:
        from scipy.optimize import linear_sum_assignment

        rows = slice(self._starts[g], self._starts[g + 1])
        size = int(rows.stop - rows.start)
        by_place = self._by_rank[:size][::-1]
        if self._settled[g]:
            self.surrogates[g] = 0.0
            if grad is not None:
                grad[rows] = 0.0
            return
        # Place v has rank r - v + 1; only differences of scores count.
        scores, places = f[rows] - f[rows].mean(), np.arange(1.0, size + 1.0)
        worth = np.outer(scores, places)
        worth -= np.outer(self._gains[rows] / self._best[g], by_place)
        chosen = linear_sum_assignment(worth, maximize=True)
        moved = places[chosen[1]] - self._positions[rows]
        loss = 1.0 - dot(self._gains[rows], by_place[chosen[1]]) / self._best[g]
        self.surrogates[g] = max(0.0, loss + dot(moved, scores))
        if grad is not None:
            grad[rows] = moved if self.surrogates[g] > 0.0 else 0.0


def _mean_places(y: Vector) -> Vector:
    """Return pi(y): r for the highest grade, 1 for the lowest; rows of one grade get the mean of their places."""
    _, level, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - 0.5 * (counts - 1.0))[level])


def kendall_tau_loss(scores: Scores, y: Grades, *, group: GroupLabels | None = None) -> float:
    """Return Kendall's tau loss: the share of pairs of rows in the wrong order.

    For r rows it is::

        2/(r (r - 1)) · #{i < j : y_i ≠ y_j and sign(f_i - f_j) ≠ sign(y_i - y_j)}

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; larger is better. Rows of different grades with equal scores are in the wrong order.
    y : array_like, shape (r,)
        The grades, any real numbers. Pairs of one grade do not count in the sum, but r is the number of all rows.
    group : array_like, optional
        Lists, as in `pnorm.listwise.train`. The mean over the lists is returned. A list without pairs has the loss 0.

    Returns
    -------
    float
        From 0 to 1. Without ties, Kendall's tau is 1 minus twice this loss.

    Notes
    -----
    The cost is O(r log r).

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", 2014, section 17.4.

    Examples
    --------
    >>> from pnorm import listwise
    >>> round(listwise.kendall_tau_loss([0.3, 0.2, 0.1], [2, 0, 1]), 3)
    0.333
    """
    f, grades, _, starts = opened(scores, y, group)
    loss = Kendall(grades, starts)
    loss.evaluate(f, 0, loss.units.size, None)
    return float(loss.errors.mean())


def kendall_tau_hinge(scores: Scores, y: Grades, *, group: GroupLabels | None = None) -> tuple[float, Vector]:
    """Return the hinge surrogate of Kendall's tau loss, and a subgradient.

    For r rows it is::

        2/(r (r - 1)) Σ_{i < j, y_i ≠ y_j} max(0, 1 - sign(y_i - y_j) (f_i - f_j))

    It is convex in the scores and never below `kendall_tau_loss`. As a function of w in f = Xw it changes by at most
    ``max_ij |x_i - x_j|`` per unit of w.

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; larger is better.
    y : array_like, shape (r,)
        The grades, any real numbers. Pairs of one grade do not count, as in the loss.
    group : array_like, optional
        Lists, as in `pnorm.listwise.train`. The mean over the lists is returned.

    Returns
    -------
    value : float
        The surrogate. It is zero if all pairs are in the right order by at least 1.
    grad : ndarray, shape (r,)
        A subgradient with respect to the scores. At a corner it is the derivative from the side where the pair still
        has a loss.

    Raises
    ------
    OverflowError
        If differences of scores, summed over all pairs, are too large for a double.

    Notes
    -----
    The cost is O(r log r) for any number of grades. The rows are merged by score, grade by grade, and each merge adds
    up the pairs of the two parts in one sweep.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", 2014, section 17.4.

    Examples
    --------
    >>> from pnorm import listwise
    >>> value, grad = listwise.kendall_tau_hinge([3.0, 2.0, 1.0], [2, 0, 1])
    >>> round(value, 3), grad.round(3)
    (0.667, array([ 0.   ,  0.333, -0.333]))
    """
    f, grades, order, starts = opened(scores, y, group)
    return _surrogate(Kendall(grades, starts), f, order, starts)


def _surrogate(
    loss: RankingLoss, f: Vector, order: NDArray[np.intp] | None, starts: NDArray[np.intp]
) -> tuple[float, Vector]:
    """Return the mean surrogate over the lists and its subgradient, in the order of the user's rows."""
    if math.isinf(float(np.abs(f).max()) * f.size**2):
        raise OverflowError("sums of score differences overflow; scale the scores down")
    slopes = np.empty(f.size)
    loss.evaluate(f, 0, loss.units.size, slopes)
    slopes *= np.repeat(loss.units / loss.units.size, np.diff(starts))
    grad = np.empty(f.size)
    grad[... if order is None else order] = slopes
    return float(loss.surrogates.mean()), grad


def ndcg_loss(
    scores: Scores,
    y: Grades,
    k: int | None = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    group: GroupLabels | None = None,
) -> float:
    """Return 1 - `ndcg` with ``empty=1``: the loss of a list without any gain is 0.

    Parameters
    ----------
    scores, y, k, gain, discount, group : as in `ndcg`
        The list, or lists.

    Returns
    -------
    float
        From 0 for the best order to 1.

    Examples
    --------
    >>> from pnorm import listwise
    >>> round(listwise.ndcg_loss([0.9, 0.5, 0.7], [3, 2, 0]), 4)
    0.0614
    """
    return 1.0 - float(ndcg(scores, y, k, gain=gain, discount=discount, group=group, empty=1))


def ndcg_hinge(
    scores: Scores,
    y: Grades,
    k: int | None = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    group: GroupLabels | None = None,
) -> tuple[float, Vector]:
    """Return a convex upper bound of `ndcg_loss`, and a subgradient.

    Write an order of the rows as a vector v of places: r for the first row, 1 for the last. The order by f has the
    largest ``Σ_i v_i f_i`` (17.7). Therefore::

        Δ(π(f), y) ≤ max_v [Δ(v, y) + Σ_i (v_i - π(y)_i) f_i]

        Δ(v, y) = 1 - Σ_i D(r - v_i + 1) y_i / G(y, y)

    where π(f) and π(y) are the orders by the scores and by the grades. The maximum over all permutations v is an
    assignment problem of rows to places.

    Parameters
    ----------
    scores, y, k, gain, discount, group : as in `ndcg`
        The list, or lists. In π(y), rows of one grade share the mean of their places. No order among them is then
        preferred, and the bound still holds, since the sum for a mean of permutations is never larger.

    Returns
    -------
    value : float
        The bound, zero or more. Unlike the loss it depends on the size of the scores. It is zero if the best order is
        best by a margin. It is also zero if any order of the list is best, for instance if all rows have one grade.
    grad : ndarray, shape (r,)
        A subgradient with respect to the scores: ``v - π(y)`` for a maximal v.

    Raises
    ------
    OverflowError
        If differences of scores, summed over all pairs, are too large for a double.

    Notes
    -----
    `scipy.optimize.linear_sum_assignment` computes the maximum in O(r^3).

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", 2014, section 17.4.

    Examples
    --------
    >>> from pnorm import listwise
    >>> value, grad = listwise.ndcg_hinge([0.9, 0.5, 0.7], [3, 2, 0])
    >>> round(value, 4), grad
    (0.3212, array([-1., -1.,  2.]))
    """
    f, grades, order, starts = opened(scores, y, group)
    return _surrogate(Ndcg(grades, starts, k, gain, discount), f, order, starts)
