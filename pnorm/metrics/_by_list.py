"""Measures of lists whose rows have grades: the value of every list, and the mean over the lists."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Discount, Gain, Grades, GroupLabels, Scores, Vector
from pnorm.metrics._gains import Index, Ties, _depth, discounted, discounts_of, gains_of


class MeanOverLists(float):
    """The mean of a measure over lists: a float that also has `values` and `groups`.

    ``print`` shows the number of lists. A format (``f"{x:.3f}"``) and ``float(x)`` give the mean alone.

    Examples
    --------
    >>> from pnorm import metrics
    >>> found = metrics.ndcg([0.9, 0.5, 0.7, 0.1], [3, 2, 0, 1], group=["a", "a", "b", "b"])
    >>> found
    0.815465 over 2 lists
    >>> found.values.round(3), found.groups, round(float(found), 3)
    (array([1.   , 0.631]), array(['a', 'b'], dtype=object), 0.815)
    """

    values: Vector
    """The measure of every list, in the order in which the lists first appear; nan for a list that is left out."""
    groups: NDArray[Any]
    """The labels of the lists in the same order, or 0, 1, 2, ... if `group` held their sizes."""

    def __new__(cls, value: float, values: Vector, groups: NDArray[Any]) -> MeanOverLists:
        """Make a float that keeps the values of the lists."""
        made = super().__new__(cls, value)
        made.values, made.groups = values, groups
        return made

    def __reduce__(self) -> tuple[type[MeanOverLists], tuple[Any, ...]]:
        return MeanOverLists, (float(self), self.values, self.groups)

    def __repr__(self) -> str:
        out = int(np.isnan(self.values).sum())
        return f"{float(self):.6g} over {self.values.size - out} lists" + (f", {out} left out" if out else "")


def opened(scores: Any, y: Any, group: Any) -> tuple[Vector, Vector, Index | None, Index]:
    """Check scores, grades and lists, and bring the rows of a list together."""
    f = _checks.scores(scores, "scores")
    grades = _checks.grades(y, "y", f.size, "one grade for each score")
    order, starts = _checks.lists(group, f.size)
    return (f, grades, None, starts) if order is None else (f[order], grades[order], order, starts)


def _mean(
    values: Vector, hollow: NDArray[np.bool_], empty: Any, group: Any, order: Index | None, starts: Index
) -> float:
    """Return the mean over the lists; `empty` is the value of a hollow list, one without relevant rows."""
    values = np.where(hollow, _checks.of_empty(empty), values)
    counted = values[~np.isnan(values)]
    if counted.size == 0:
        raise ValueError(
            f"none of the {values.size} lists has a relevant row, and empty='skip' leaves out such lists. Pass empty=0 "
            "or empty=1 to count them"
        )
    mean = float(counted.mean())
    if group is None:
        return mean
    first = starts[:-1] if order is None else order[starts[:-1]]  # the first row of every list
    seen = np.argsort(first)
    return MeanOverLists(mean, values[seen], _checks.list_labels(group, first[seen], int(starts[-1])))


def ndcg(
    scores: Scores,
    y: Grades,
    k: int | None = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    group: GroupLabels | None = None,
    empty: float | Literal["skip"] = 0,
) -> float:
    """Return the normalised discounted cumulative gain (NDCG) of a list, or its mean over lists.

    For scores f and grades y it is::

        G(f, y) / G(y, y),    G(f, y) = Σ_i D(rank of i by f) y_i

    with ``D(s) = 1 / log2(1 + s)``.

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; the largest is first. Equal scores share the mean of their discounts.
    y : array_like, shape (r,)
        The grades, zero or more.
    k : int, optional
        Count only the first k places.
    gain : {"linear", "exponential"} or callable
        The gain of a grade y: y, 2 ** y - 1, or a function of an array of grades that never falls.
    discount : {"log2"}, callable, or array_like
        The factors D of ranks 1, 2, ...: a function of an array of ranks, or an array. They are zero or more and never
        rise.
    group : array_like, optional
        Lists: a label for each row, or the sizes of lists that follow each other. None is one list.
    empty : float or {"skip"}
        The value of a list in which no row is worth anything: a number from 0 to 1, or "skip" to leave it out.
        `pnorm.listwise.ndcg_loss` and `pnorm.listwise.train` use 1, a loss of 0.

    Returns
    -------
    float
        From 0 to 1; a `MeanOverLists` if there is a `group`. The cost is O(N log N) for N rows.

    Raises
    ------
    ValueError, TypeError
        If a gain is negative, or all lists are skipped.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM Transactions
       on Information Systems 20, 2002.
    .. [2] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", 2014, section 17.4.

    Examples
    --------
    >>> from pnorm import metrics
    >>> round(metrics.ndcg([0.9, 0.5, 0.7], [3, 2, 0]), 4)
    0.9386
    >>> found = metrics.ndcg([0.9, 0.5, 0.7, 0.1], [0, 2, 0, 1], group=["a", "a", "b", "b"])
    >>> found
    0.63093 over 2 lists
    >>> found.values, found.groups
    (array([0.63092975, 0.63092975]), array(['a', 'b'], dtype=object))
    """
    f, grades, order, starts = opened(scores, y, group)
    gains, by_rank = gains_of(grades, starts, gain), discounts_of(discount, k, starts)
    best = discounted(gains, grades, starts, by_rank)
    hollow = best == 0.0
    share = np.minimum(discounted(gains, f, starts, by_rank) / np.where(hollow, 1.0, best), 1.0)
    return _mean(share, hollow, empty, group, order, starts)


class _Relevant:
    """The relevant rows of each list, and the ties of the lists."""

    def __init__(self, scores: Any, y: Any, relevance_level: Any, group: Any) -> None:
        f, grades, self.order, self.starts = opened(scores, y, group)
        level = None if relevance_level is None else _checks.real(relevance_level, "relevance_level")
        self.rows = (grades > 0.0 if level is None else grades >= level).astype(np.float64)
        self.ties = Ties(f, self.starts)
        self.found = self.ties.of_rows(self.rows)
        """(T,): the number of relevant rows of every tie."""
        self.total = self.ties.of_lists(self.found)
        self._group = group

    def mean(self, values: Vector, empty: Any) -> float:
        """Return the mean of the values of lists."""
        return _mean(values, self.total == 0.0, empty, self._group, self.order, self.starts)

    def in_first(self, k: float) -> Vector:
        """Return how many relevant rows are among the first k of every list; tied rows share the places left."""
        share = np.clip((k - self.ties.above) / self.ties.sizes, 0.0, 1.0)
        return self.ties.of_lists(self.found * share)

    def per_relevant(self, x: Vector) -> Vector:
        """Return the sum of each list divided by its number of relevant rows; 0 if it has none."""
        return x / np.maximum(self.total, 1.0)


def mean_precision_at(
    scores: Scores,
    y: Grades,
    k: int,
    *,
    relevance_level: float | None = None,
    group: GroupLabels | None = None,
    empty: float | Literal["skip"] = 0,
) -> float:
    """Return the share of relevant rows among the first k rows, or its mean over lists.

    For one list this equals `precision_at`, which takes the list as two sides.

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; the largest is first. Rows of one score share the places that are left in equal parts.
    y : array_like, shape (r,)
        The grades, any real numbers.
    k : int
        A number of rows. In a list with fewer than k rows the count is still divided by k, as in trec_eval.
    relevance_level : float, optional
        Rows with at least this grade are relevant; by default, rows with a grade above 0.
    group : array_like, optional
        Lists, as in `ndcg`.
    empty : float or {"skip"}
        The value of a list without relevant rows: a number from 0 to 1, or "skip" to leave it out.

    Returns
    -------
    float
        From 0 to 1; a `MeanOverLists` if there is a `group`. The cost is O(N log N) for N rows.

    Raises
    ------
    ValueError, TypeError
        If all lists are skipped.

    Examples
    --------
    >>> from pnorm import metrics
    >>> found = metrics.mean_precision_at([0.9, 0.5, 0.7, 0.1], [2, 0, 1, 0], 2, group=[7, 7, 7, 4])
    >>> found, found.values, found.groups
    (0.5 over 2 lists, array([1., 0.]), array([7, 4]))
    """
    depth, lists = _depth(k), _Relevant(scores, y, relevance_level, group)
    return lists.mean(lists.in_first(depth) / depth, empty)


def mean_recall_at(
    scores: Scores,
    y: Grades,
    k: int,
    *,
    relevance_level: float | None = None,
    group: GroupLabels | None = None,
    empty: float | Literal["skip"] = 0,
) -> float:
    """Return the share of all relevant rows that are among the first k, or its mean over lists.

    For one list this equals `recall_at`, which takes the list as two sides.

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; the largest is first. Rows of one score share the places that are left in equal parts.
    y : array_like, shape (r,)
        The grades, any real numbers.
    k : int
        A number of rows.
    relevance_level : float, optional
        Rows with at least this grade are relevant; by default, rows with a grade above 0.
    group : array_like, optional
        Lists, as in `ndcg`.
    empty : float or {"skip"}
        The value of a list without relevant rows: a number from 0 to 1, or "skip" to leave it out.

    Returns
    -------
    float
        From 0 to 1; a `MeanOverLists` if there is a `group`. The cost is O(N log N) for N rows.

    Raises
    ------
    ValueError, TypeError
        If all lists are skipped.

    Examples
    --------
    >>> from pnorm import metrics
    >>> metrics.mean_recall_at([0.9, 0.5, 0.7, 0.1], [2, 1, 0, 1], 2, group=[7, 7, 7, 4])
    0.75 over 2 lists
    """
    depth, lists = _depth(k), _Relevant(scores, y, relevance_level, group)
    return lists.mean(lists.per_relevant(lists.in_first(depth)), empty)


def mean_average_precision(
    scores: Scores,
    y: Grades,
    *,
    relevance_level: float | None = None,
    group: GroupLabels | None = None,
    empty: float | Literal["skip"] = 0,
) -> float:
    """Return the average precision of a list, or its mean over lists (MAP).

    With # for the number of rows, it is::

        1/#R Σ_{i in R} #{j in R : f_j ≥ f_i} / #{j : f_j ≥ f_i}

    with the relevant rows R of the list: the mean, over the relevant rows, of the precision down to each of them. The
    precision at a tied row counts all rows of the tie. For one list this equals `average_precision`, which takes the
    list as two sides.

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; the largest is first.
    y : array_like, shape (r,)
        The grades, any real numbers.
    relevance_level : float, optional
        Rows with at least this grade are relevant; by default, rows with a grade above 0.
    group : array_like, optional
        Lists, as in `ndcg`.
    empty : float or {"skip"}
        The value of a list without relevant rows: a number from 0 to 1, or "skip" to leave it out.

    Returns
    -------
    float
        From 0 to 1; a `MeanOverLists` if there is a `group`. The cost is O(N log N) for N rows.

    Raises
    ------
    ValueError, TypeError
        If all lists are skipped.

    Examples
    --------
    The first list has the mean of 1/1 and 2/3, the second one 1/2:

    >>> from pnorm import metrics
    >>> found = metrics.mean_average_precision([0.9, 0.5, 0.7, 0.2, 0.1], [2, 1, 0, 0, 1], group=[3, 2])
    >>> found, found.values.round(4)
    (0.666667 over 2 lists, array([0.8333, 0.5   ]))
    """
    lists = _Relevant(scores, y, relevance_level, group)
    ties = lists.ties
    precision = ties.down_to(lists.found) / (ties.above + ties.sizes)
    return lists.mean(lists.per_relevant(ties.of_lists(lists.found * precision)), empty)


def mean_reciprocal_rank(
    scores: Scores,
    y: Grades,
    k: int | None = None,
    *,
    relevance_level: float | None = None,
    group: GroupLabels | None = None,
    empty: float | Literal["skip"] = 0,
) -> float:
    """Return 1 / the rank of the first relevant row, or its mean over lists (MRR).

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; the largest is first. If the first relevant row ties, the result is the mean over all orders of
        the tie.
    y : array_like, shape (r,)
        The grades, any real numbers.
    k : int, optional
        Count only the first k rows. A list counts 0 if its first relevant row comes later.
    relevance_level : float, optional
        Rows with at least this grade are relevant; by default, rows with a grade above 0.
    group : array_like, optional
        Lists, as in `ndcg`.
    empty : float or {"skip"}
        The value of a list without relevant rows: a number from 0 to 1, or "skip" to leave it out.

    Returns
    -------
    float
        From 0 to 1; a `MeanOverLists` if there is a `group`. It equals `expected_reciprocal_rank` with a probability of
        1 for each relevant row, and costs the same.

    Raises
    ------
    ValueError, TypeError
        If all lists are skipped.

    References
    ----------
    .. [1] E. M. Voorhees, "The TREC-8 Question Answering Track Report", TREC 1999.

    Examples
    --------
    >>> from pnorm import metrics
    >>> metrics.mean_reciprocal_rank([0.9, 0.5, 0.7, 0.2, 0.1], [0, 1, 0, 1, 0], group=[3, 2])
    0.666667 over 2 lists
    >>> metrics.mean_reciprocal_rank([0.5, 0.5], [1, 0])  # 1 or 1/2
    0.75
    """
    lists = _Relevant(scores, y, relevance_level, group)
    return lists.mean(_cascade(lists.rows, lists.ties, k), empty)


def expected_reciprocal_rank(
    scores: Scores,
    y: Grades,
    k: int | None = None,
    *,
    max_grade: float | None = None,
    group: GroupLabels | None = None,
    empty: float | Literal["skip"] = 0,
) -> float:
    """Return the expected 1 / rank of the row that satisfies a reader, or its mean over lists (ERR).

    It is::

        Σ_s 1/s R_(s) Π_{t < s} (1 - R_(t)),    R_i = (2^y_i - 1) / 2^y_max

    where (s) is the row in place s. The model is a reader who goes down the list and stops at row i, which has the
    grade y_i, with probability R_i.

    Parameters
    ----------
    scores : array_like, shape (r,)
        The scores f; the largest is first. If rows tie, the result is the mean over all orders of the tie.
    y : array_like, shape (r,)
        The grades, zero or more.
    k : int, optional
        Count only the first k places.
    max_grade : float, optional
        y_max, the largest grade of the scale, for instance 4. The default is the largest grade in `y` over all lists.
        Set it to compare data sets, since one of them may lack the largest grade.
    group : array_like, optional
        Lists, as in `ndcg`.
    empty : float or {"skip"}
        The value of a list without a grade above 0: a number from 0 to 1, or "skip" to leave it out.

    Returns
    -------
    float
        At least 0 and below 1; a `MeanOverLists` if there is a `group`.

    Raises
    ------
    ValueError, TypeError
        If a grade is below zero or above `max_grade`, or all lists are skipped.

    Notes
    -----
    The cost is O(N log N) for N rows without ties. The mean over the orders of n tied rows needs the mean product of 1
    - R over the first j of them, for all j. It is built up row by row, for j up to where it is less than 1e-17. This
    costs O(n m) at most, if m of the tied rows have a grade above 0.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, "Expected reciprocal rank for graded relevance",
       CIKM 2009.

    Examples
    --------
    With grades 0 to 2, the reader stops at grade 1 with probability 1/4 and at grade 2 with probability 3/4. The rows
    of grades 2 and 1 have ranks 1 and 3, so the result is 3/4 + 1/4 * 1/4 * 1/3:

    >>> from pnorm import metrics
    >>> round(metrics.expected_reciprocal_rank([0.9, 0.5, 0.7], [2, 1, 0]), 4)
    0.7708
    """
    f, grades, order, starts = opened(scores, y, group)
    if (grades < 0.0).any():
        raise ValueError(f"y must hold grades of zero or more; got {grades.min():g}")
    most = float(grades.max()) if max_grade is None else _checks.nonnegative(max_grade, "max_grade")
    if grades.max() > most:
        raise ValueError(f"y has the grade {grades.max():g}, above max_grade, {most:g}. Pass a larger max_grade")
    stops = np.exp2(grades - most) * -np.expm1(-grades * math.log(2.0))
    ties = Ties(f, starts)
    hollow = np.maximum.reduceat(grades, starts[:-1]) == 0.0
    return _mean(_cascade(stops, ties, k), hollow, empty, group, order, starts)


_NIL = 40.0
"""Probabilities below e**-40, about 4e-18, count as zero."""


def _cascade(stops: Vector, ties: Ties, k: Any) -> Vector:
    """Return the expected 1 / rank of the row at which a reader stops, for every list; 0 beyond k or without a stop.

    A row stops the reader with a probability. Rows of one tie are in any order with the same probability.
    """
    depth = math.inf if k is None else _depth(k)
    goes_on = 1.0 - stops[ties.order]
    counts = (np.minimum.reduceat(goes_on, ties.heads) < 1.0) & (ties.above < depth)
    passed, worth = np.ones(ties.sizes.size), np.zeros(ties.sizes.size)
    for size in np.unique(ties.sizes[counts]).tolist():
        at = np.flatnonzero(counts & (ties.sizes == size))
        q = goes_on[ties.heads[at, None] + np.arange(size)]
        passed[at] = q.prod(axis=1)
        alive = _alive(q)
        ranks = ties.above[at, None] + np.arange(1, alive.shape[1])
        worth[at] = ((alive[:, :-1] - alive[:, 1:]) * np.where(ranks <= depth, 1.0 / ranks, 0.0)).sum(axis=1)
    return ties.of_lists(worth * ties.product_above(passed))


def _alive(q: Vector) -> Vector:
    """Return the mean, over all orders of n factors, of the product of the first j of them, for j = 0, 1, 2, ...

    q : (B, n), the factors of B ties, from 0 to 1. By Maclaurin's inequality the mean product of j factors is at most
    the j-th power of the mean factor. j ends at n, or where this bound counts as zero.
    """
    n = q.shape[1]
    q = -np.sort(-q, axis=1)
    ones = int((q == 1.0).all(axis=0).argmin())
    with np.errstate(divide="ignore"):
        enough = _NIL / np.abs(np.log(q.mean(axis=1).max()))
    places = np.arange(1.0, np.clip(np.ceil(enough), 1.0, n) + 1.0)
    found = np.zeros((q.shape[0], places.size + 1))
    found[:, : ones + 1] = 1.0
    for i in range(ones, n):  # the next factor is among the first j of i + 1 with probability j / (i + 1)
        found[:, 1:] = ((i + 1.0 - places) * found[:, 1:] + places * q[:, i : i + 1] * found[:, :-1]) / (i + 1.0)
    return found
