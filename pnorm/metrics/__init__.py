"""Measures of a ranked list, from the scores of its positives and its negatives.

The list is sorted by falling score: the best score is first. Each measure describes how it treats ties. No measure
depends on the order in which the rows are passed. Each costs one sort, O(N log N) for N = I + K.

Lists
    `ndcg`, `mean_average_precision`, `mean_reciprocal_rank`, `expected_reciprocal_rank`, `mean_precision_at` and
    `mean_recall_at` take the scores of all rows and their grades ``y``. With ``group`` they take the rows of many
    lists, such as the results of queries, and return the mean over the lists: a `MeanOverLists`, which also holds the
    value of every list. ``empty`` is the value of a list without relevant rows: 0 as in scikit-learn and trec_eval,
    1 as in LightGBM and XGBoost, or ``"skip"``. All other measures take the two sides of one list.

Labels
    All measures of two sides also take all scores with their labels, in the same words as `pnorm.train`:
    ``auc(scores, y=y)``. The labels are passed by name, because scikit-learn has them first and this module has the
    scores first. ``pos_label`` names the positive label, and ``weight`` has a case weight for each row:

    >>> import pnorm
    >>> pnorm.metrics.auc([0.9, 0.2, 0.4, 0.3], y=[1, 0, 1, 0])
    1.0
    >>> pnorm.metrics.auc([0.9, 0.4], [0.2, 0.3])  # the same list as two sides
    1.0

Tables
    Measures that take two sides also take a `ScoreTable` alone. It holds the number of rows at each score. Tables of
    parts of the rows merge, so the rows themselves need not be kept or sent.

Weights
    Many measures take ``pos_weight`` (I,) and ``neg_weight`` (K,). A row of weight w counts as w copies; a row of
    weight zero counts as absent.

Intervals
    With ``confidence``, for instance 0.95, a measure returns an `Estimate`: a float with an interval from `low` to
    `high`. These ends are quantiles of the measure over ``n_resamples`` resampled lists. Each has I positives drawn
    from the positives with replacement, and K negatives drawn likewise (a stratified percentile bootstrap). A row is
    drawn together with its weight. ``seed`` is an integer or a `numpy.random.Generator`.
    The quantiles are farther out with few rows, as in Hesterberg's expanded percentile interval [1]_. With Φ, the
    distribution function of a normal variable, and n, the smaller of I and K, the lower one of 95 % is at
    Φ(√(n / (n - 1)) t), where t is the quantile at 2.5 % of Student's t with n - 1 degrees of freedom. With weights,
    (Σ w)² / Σ w² stands for the number of rows of a side.
    Four measures have intervals of their own, see there: `auc`, and `precision_at`, `recall_at` and
    `enrichment_factor` without weights. The latter three need no resamples.
    For `average_precision`, also in a `summary`, I + K rows are drawn from all rows instead, so that the numbers of
    positives and negatives vary between resamples. A resample without one of the classes gets a row of it. With
    ``stratified=True`` it draws as the other measures do.
    Where many rows share a score, their number is drawn instead of the rows, from the same distribution. Negatives
    with no positive between them count as one score, unless a measure depends on the scores themselves. A resample
    costs O(N) at most; pass a smaller ``n_resamples`` for millions of rows.
    The interval shows how the measure varies with the rows that are judged. It does not show how the scores would vary
    with the training rows. It is only a rough guide where a measure depends on few rows: on the single best
    negative (`r_max`, `positives_at_top`), or on the first few rows of the list.
    Resamples of a list without a mistake have none either. The intervals of `auc`, `average_precision` and
    `partial_auc` still have a width: see there. So have those of a list without a success. Another measure that does
    not differ between resamples has an interval of width zero.

References
----------
.. [1] T. C. Hesterberg, "What Teachers Should Know About the Bootstrap: Resampling in the Undergraduate Statistics
   Curriculum", The American Statistician 69(4), 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks, objectives
from pnorm._checks import DataFrame, Label, Labels, Numbers, Scores, Seed, Vector, Weights
from pnorm._checks.labelled import sides_of_scores
from pnorm.metrics._by_list import (
    MeanOverLists,
    expected_reciprocal_rank,
    mean_average_precision,
    mean_precision_at,
    mean_recall_at,
    mean_reciprocal_rank,
    ndcg,
)
from pnorm.metrics._merged import ScoreTable, ranked
from pnorm.metrics._ranked_list import (
    LEAST,
    Auc,
    AveragePrecision,
    Counts,
    DistinctScores,
    Estimate,
    Measure,
    PartialAuc,
    RankedList,
    cumulated,
    dots,
    estimates,
)
from pnorm.metrics._shares import first_rows
from pnorm.objectives._losses import Loss, loss_of
from pnorm.objectives._prices import Linear, Price, price_of

__all__ = [
    "Chain",
    "Crossing",
    "Estimate",
    "MeanOverLists",
    "Roc",
    "ScoreTable",
    "Summary",
    "auc",
    "average_precision",
    "bedroc",
    "crossing",
    "difference",
    "discounted_gain_at_top",
    "enrichment_factor",
    "expected_reciprocal_rank",
    "heights",
    "mean_average_precision",
    "mean_precision_at",
    "mean_recall_at",
    "mean_reciprocal_rank",
    "ndcg",
    "p_norm_risk",
    "partial_auc",
    "positives_at_top",
    "precision_at",
    "r_max",
    "recall_at",
    "reverse_heights",
    "roc_counts",
    "summary",
    "theorem1",
]

# Counts of rows ---------------------------------------------------------------------------------------


def heights(
    f_pos: Scores,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
) -> NDArray[Any]:
    """Count, for every negative, the positives that do not score above it.

    The height of the negative k is::

        r_k = Σ_i 1[f_i ≤ f̃_k]

    It is zero for a negative below all positives. A positive that ties with the negative counts. In the objective, each
    negative pays a price that grows with its height.

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.
    y, pos_label, weight : optional
        With labels, ``heights(scores, y=y)``, the first argument holds all scores. The labels, the positive label and
        the case weights of the rows are as in `pnorm.train`.
    pos_weight : array_like, shape (I,), optional
        Case weights, zero or more. They are summed where rows would be counted.

    Returns
    -------
    ndarray, shape (K,)
        One height per negative, in the order of `f_neg`: integers from 0 to I, or floats if there are weights.

    Raises
    ------
    ValueError, TypeError
        If a side is empty or is not a vector of finite numbers, or if weights are negative or all zero.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, equation (1).

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.heights([3.0, 1.0], [2.0, 0.0, 3.0])
    array([1, 0, 2])

    The same with labels:

    >>> pnorm.metrics.heights([3.0, 1.0, 2.0, 0.0, 3.0], y=[1, 1, 0, 0, 0])
    array([1, 0, 2])
    """
    sides = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label, weight=weight, pos_weight=pos_weight)
    pos, neg = _checks.scores(sides.f_pos, "f_pos"), _checks.scores(sides.f_neg, "f_neg")
    return _at_or_below(pos, neg, _checks.masses(sides.pos_weight, "pos_weight", pos.size))


def reverse_heights(
    f_pos: Scores,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    neg_weight: Weights | None = None,
) -> NDArray[Any]:
    """Count, for every positive, the negatives that do not score below it.

    The reverse height of the positive i is::

        r̃_i = Σ_k 1[f_i ≤ f̃_k]

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.
    y, pos_label, weight : optional
        With labels, ``reverse_heights(scores, y=y)``, the first argument holds all scores. The labels, the positive
        label and the case weights of the rows are as in `pnorm.train`.
    neg_weight : array_like, shape (K,), optional
        Case weights, zero or more. They are summed where rows would be counted.

    Returns
    -------
    ndarray, shape (I,)
        One count per positive, in the order of `f_pos`: integers from 0 to K, or floats if there are weights. Their
        sum equals the sum of the `heights`: the number of pairs that are not in the right order.

    Raises
    ------
    ValueError, TypeError
        If a side is empty or is not a vector of finite numbers, or if weights are negative or all zero.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.reverse_heights([3.0, 1.0], [2.0, 0.0, 3.0])
    array([1, 2])

    The same with labels:

    >>> pnorm.metrics.reverse_heights([3.0, 1.0, 2.0, 0.0, 3.0], y=[1, 1, 0, 0, 0])
    array([1, 2])
    """
    sides = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label, weight=weight, neg_weight=neg_weight)
    pos, neg = _checks.scores(sides.f_pos, "f_pos"), _checks.scores(sides.f_neg, "f_neg")
    return _at_or_below(-neg, -pos, _checks.masses(sides.neg_weight, "neg_weight", neg.size))


def _at_or_below(of: Vector, at: Vector, c: Vector | None) -> NDArray[Any]:
    """Return for each score in `at` the number of rows of `of` (or their weight) whose scores are not higher."""
    if c is None:
        return np.searchsorted(np.sort(of), at, side="right")
    order = np.argsort(of)
    return np.concatenate([[0.0], np.cumsum(c[order])])[np.searchsorted(of[order], at, side="right")]


def r_max(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Count the positives at or below the best negative, the largest of the `heights`.

    ``r_max + positives_at_top`` is the number of positives. Smaller is better.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    y, pos_label, weight : optional
        With labels, ``r_max(scores, y=y)``, the first argument holds all scores. The labels, the positive label and the
        case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. For the negatives it matters only which weights are zero.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    int or float
        From 0 to I; a float if there are weights, an `Estimate` if there is a `confidence`.

    Notes
    -----
    The interval is too short, because the measure depends on the best negative alone. On simulated lists of 330 to 400
    rows, 95 % intervals contain the mean over lists in 83 to 92 %, and most others are too low
    (``benchmarks/intervals.py``). For a reliable interval, use `precision_at` or `partial_auc`.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, section 2. Its section 5 gives the name R_max to
       the count that is called `positives_at_top` here.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.r_max([3.0, 2.0, 1.0, 0.5], [1.0, 0.0])
    2

    The same with labels:

    >>> pnorm.metrics.r_max([3.0, 2.0, 1.0, 0.5, 1.0, 0.0], y=[1, 1, 1, 1, 0, 0])
    2
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    return rows.count(rows.measure(_r_max, confidence, n_resamples, seed))


def _r_max(at: DistinctScores) -> Any:
    return np.take_along_axis(at.not_above, at.first, axis=-1)[..., 0]


def positives_at_top(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Count the positives that score strictly above every negative.

    This is the height of the ROC curve, in counts, before the first false positive. The experiments of both papers
    report it. A positive that ties with the best negative does not count.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    y, pos_label, weight : optional
        With labels, ``positives_at_top(scores, y=y)``, the first argument holds all scores. The labels, the positive
        label and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. For the negatives it matters only which weights are zero.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    int or float
        From 0 to I; a float if there are weights, an `Estimate` if there is a `confidence`.

    Notes
    -----
    The interval is too short, because the measure depends on the best negative alone. On simulated lists of 330 to 400
    rows, 95 % intervals contain the mean over lists in 83 to 92 %, and most others are too high
    (``benchmarks/intervals.py``). For a reliable interval, use `precision_at` or `partial_auc`.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, section 5. It is called R_max there; the theory of
       the same report gives this name to the positives at or below the best negative, `r_max` here.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.positives_at_top([3.0, 2.0, 1.0, 0.5], [1.0, 0.0])
    2

    The same with labels:

    >>> pnorm.metrics.positives_at_top([3.0, 2.0, 1.0, 0.5, 1.0, 0.0], y=[1, 1, 1, 1, 0, 0])
    2
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    return rows.count(rows.measure(_at_top, confidence, n_resamples, seed))


def _at_top(at: DistinctScores) -> Any:
    return np.take_along_axis(at.above, at.first, axis=-1)[..., 0]


# The ROC curve ----------------------------------------------------------------------------------------


class Roc(NamedTuple):
    """A ROC curve in counts, from (0, 0) to (K, I): one point after each distinct score, best first.

    Examples
    --------
    >>> import pnorm
    >>> roc = pnorm.metrics.roc_counts([3.0, 2.0], [2.0, 1.0])
    >>> roc.false_positives, roc.true_positives
    (array([0., 0., 1., 2.]), array([0., 1., 2., 2.]))
    """

    false_positives: Vector
    """Negatives at or above the score."""
    true_positives: Vector
    """Positives at or above it."""

    def __repr__(self) -> str:
        n_neg, n_pos = self.false_positives[-1], self.true_positives[-1]
        return f"<Roc: {len(self.true_positives)} points from (0, 0) to ({n_neg:g}, {n_pos:g})>"


def roc_counts(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
) -> Roc:
    """Return the ROC curve in counts instead of rates, as the papers draw it.

    The curve is a straight line between two points. It goes up where only positives have the score, to the right
    where only negatives have it, and diagonally where both have it.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    y, pos_label, weight : optional
        With labels, ``roc_counts(scores, y=y)``, the first argument holds all scores. The labels, the positive label
        and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. They are summed where rows would be counted.

    Returns
    -------
    Roc
        `false_positives` and `true_positives`: the origin, and one point for each distinct score.

    Examples
    --------
    >>> import pnorm
    >>> roc = pnorm.metrics.roc_counts([3.0, 2.0], [2.0, 1.0])
    >>> roc
    <Roc: 4 points from (0, 0) to (2, 2)>
    >>> roc.false_positives, roc.true_positives
    (array([0., 0., 1., 2.]), array([0., 1., 2., 2.]))

    The same with labels:

    >>> pnorm.metrics.roc_counts([3.0, 2.0, 2.0, 1.0], y=[1, 1, 0, 0])
    <Roc: 4 points from (0, 0) to (2, 2)>
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    return Roc(*(counts * rows.unit for counts in rows.distinct.curve))


def auc(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the area under the ROC curve; a tied pair counts one half.

    It is the share of the pairs in the right order::

        1/(I K) Σ_ik (1[f_i > f̃_k] + 1/2 1[f_i = f̃_k])

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    y, pos_label, weight : optional
        With labels, ``auc(scores, y=y)``, the first argument holds all scores. The labels, the positive label and the
        case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    float
        The share of pairs in the right order, from 0 to 1; 1/2 for a random order. An `Estimate` if there is a
        `confidence`.

    Notes
    -----
    The interval is that of Newcombe's method 5 [2]_, which takes the variance of Hanley and McNeil at each end. If the
    AUC varies more over the resamples than this variance at the value, the variance is multiplied by the ratio. An AUC
    of 1 or 0 is one end of its interval. In ``benchmarks/intervals.py``, with 10 positives and more, 95 to 98 % of the
    95 % intervals hold the mean over lists, and more for lists that are nearly perfect.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC
       Curve", AISTATS 2005, equation (1).
    .. [2] R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part
       2: asymptotic methods and evaluation", Statistics in Medicine 25(4), 2006.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.auc([3.0, 1.0], [1.0, 0.0])
    0.875
    >>> pnorm.metrics.auc([3.0, 1.0, 2.0], [1.0, 0.0, 2.5], confidence=0.9)
    0.722222 [0.276557, 0.943043]

    The same with labels:

    >>> pnorm.metrics.auc([3.0, 1.0, 1.0, 0.0], y=[1, 1, 0, 0])
    0.875
    """
    return ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight).measure(
        _auc, confidence, n_resamples, seed
    )


_auc = Auc()


def partial_auc(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    max_fpr: float | None = None,
    *,
    min_fpr: float | None = None,
    min_tpr: float = 0.0,
    max_fp: float | None = None,
    min_fp: float | None = None,
    standardized: bool = False,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the area under a part of the ROC curve.

    With T(x) the true positive rate at the false positive rate x, the area is::

        ∫_a^b max(T(x) - c, 0) dx

    A tie is a diagonal piece of the curve. A bound that falls within such a piece cuts it.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    max_fpr, min_fpr : float, optional
        b and a, rates with 0 <= a < b <= 1; by default 1 and 0.
    min_tpr : float
        c, less than 1. Only the area above this true positive rate counts. Together with `max_fpr` this is the
        two-way partial AUC, for a test that must be specific and sensitive.
    max_fp, min_fp : float, optional
        The bounds as numbers of false positives instead of rates: b K and a K.
    standardized : bool
        Whether to rescale the area, so that a perfect list has 1 and a list in random order 1/2 for any part of the
        curve: (1 + (area - least) / (most - least)) / 2. Here ``least`` is the area under the diagonal and ``most``
        is the largest possible area.
    y, pos_label, weight : optional
        With labels, ``partial_auc(scores, y=y)``, the first argument holds all scores. The labels, the positive label
        and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    float
        The area in units of rates, from 0 to (b - a) (1 - c), or standardized. An `Estimate` if there is a
        `confidence`.

    Raises
    ------
    ValueError, TypeError
        If a bound is given both as a rate and as a number, or the lower bound is not below the upper one.

    Notes
    -----
    If the area is the largest possible, no resample has a mistake, and one end comes from outside the resamples.
    That end is the lower value of the measure in two cases: if the share 1 - a^(1/I) of the positives were below
    all negatives, or the share 1 - a^(1/K) of the negatives above all positives, with a = (1 - confidence) / 2. These
    are the bounds of Clopper and Pearson for rows of which none was seen. A list with the least value has an upper end
    likewise.

    References
    ----------
    .. [1] D. K. McClish, "Analyzing a Portion of the ROC Curve", Medical Decision Making 9, 1989.
    .. [2] H. Yang, K. Lu, X. Lyu, F. Hu, "Two-way partial AUC and its properties", Statistical Methods
       in Medical Research 28, 2019.

    Examples
    --------
    Up to one false positive out of four, the area is 1/4 times the share of positives above the best negative:

    >>> import pnorm
    >>> pnorm.metrics.partial_auc([5.0, 4.0, 1.0], [3.0, 2.0, 0.0, -1.0], max_fp=1) * 4
    0.6666666666666666

    The same with labels:

    >>> pnorm.metrics.partial_auc([5.0, 4.0, 1.0, 3.0, 2.0, 0.0, -1.0], max_fp=1, y=[1, 1, 1, 0, 0, 0, 0]) * 4
    0.6666666666666666
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    high, low = _rate("max", max_fpr, max_fp, 1.0, rows), _rate("min", min_fpr, min_fp, 0.0, rows)
    if not low < high:
        raise ValueError(
            f"the lower bound (min_fpr or min_fp) must be below the upper bound (max_fpr or max_fp); got the rates "
            f"{low:g} and {high:g}"
        )
    floor = _checks.share(min_tpr, "min_tpr")
    if floor == 1.0:
        raise ValueError("min_tpr must be less than 1; got 1, and no area lies above a true positive rate of 1")
    return rows.measure(PartialAuc(low, high, floor, bool(standardized)), confidence, n_resamples, seed)


def _rate(end: str, rate: Any, number: Any, default: float, rows: RankedList) -> float:
    """Return one end of the part of a ROC curve as a rate; it is given as a rate or as a number of negatives."""
    if number is None:
        return default if rate is None else _checks.share(rate, f"{end}_fpr")
    if rate is not None:
        raise ValueError(f"{end}_fpr and {end}_fp set the same bound, as a rate and as a number; pass one of them")
    value = _checks.real(number, f"{end}_fp")
    n_neg = rows.n_neg * rows.unit
    if not 0.0 <= value <= n_neg:
        raise ValueError(f"{end}_fp must be between 0 and the {n_neg:g} negatives; got {number!r}")
    return value / rows.unit / rows.n_neg


class Crossing(NamedTuple):
    """A point where two ROC curves cross, in counts.

    Examples
    --------
    >>> import pnorm
    >>> push = pnorm.metrics.roc_counts([9, 8, 1], [7, 6, 5])
    >>> plain = pnorm.metrics.roc_counts([8, 7, 6], [9, 5, 4])
    >>> found = pnorm.metrics.crossing(push, plain)
    >>> found.false_positives, found.true_positives
    (1.0, 2.0)
    """

    false_positives: float
    """Negatives down to the point."""
    true_positives: float
    """Positives down to the point."""


def crossing(roc_a: Sequence[Numbers], roc_b: Sequence[Numbers]) -> Crossing | None:
    """Find the first point at which the ROC curve that starts higher falls below the other.

    Before this point, one list has at least as many positives among its first n rows as the other, for every n. Right
    after it, the list has fewer. If that list comes from a push at the top, the push costs positives from here on.

    Parameters
    ----------
    roc_a, roc_b : Roc, or pair of array_like
        The curves of two scores of the same rows, as `roc_counts` returns them: false and true positives, which rise
        from (0, 0) to the same (K, I).

    Returns
    -------
    Crossing or None
        The last common point before the other curve is above. None if one curve is never below the other, or if the
        curves are equal. The cost is O(N log N).

    Raises
    ------
    ValueError, TypeError
        If a curve does not rise from (0, 0), or the two do not end at the same point.

    Notes
    -----
    The curves are compared after the same number of rows n. Each curve goes up and to the right, so it has exactly one
    point for each n. The answer is therefore exact on vertical pieces, too.

    Examples
    --------
    >>> import pnorm
    >>> push = pnorm.metrics.roc_counts([9, 8, 1], [7, 6, 5])
    >>> plain = pnorm.metrics.roc_counts([8, 7, 6], [9, 5, 4])
    >>> pnorm.metrics.crossing(push, plain)
    Crossing(false_positives=1.0, true_positives=2.0)
    """
    a, b = _curve(roc_a, "roc_a"), _curve(roc_b, "roc_b")
    end_a, end_b = ([counts[-1] for counts in curve] for curve in (a, b))
    if not np.allclose(end_a, end_b, rtol=1e-9, atol=0.0):
        raise ValueError(
            f"roc_a ends at {end_a[0]:g} negatives and {end_a[1]:g} positives and roc_b at {end_b[0]:g} and "
            f"{end_b[1]:g}; both must rank the same rows"
        )
    return _lead(a, b)[1]


def _lead(a: tuple[Vector, Vector], b: tuple[Vector, Vector]) -> tuple[float, Crossing | None]:
    """Return 1.0 if curve a starts above b, -1.0 if below, else 0.0; and the point where this changes."""
    (fp_a, tp_a), (fp_b, tp_b) = a, b
    depth = np.union1d(fp_a + tp_a, fp_b + tp_b)
    true_a = np.interp(depth, fp_a + tp_a, tp_a)
    ahead = true_a - np.interp(depth, fp_b + tp_b, tp_b)
    ahead[np.abs(ahead) <= 1e-12 * depth[-1]] = 0.0  # rounding errors of the interpolation on ties
    sign = float(np.sign(ahead[np.flatnonzero(ahead)[:1]]).sum())
    behind = np.flatnonzero(sign * ahead < 0.0)
    if behind.size == 0:
        return sign, None
    i = int(behind[0]) - 1
    share = ahead[i] / (ahead[i] - ahead[i + 1])
    true = float(true_a[i] + share * (true_a[i + 1] - true_a[i]))
    return sign, Crossing(float(depth[i] + share * (depth[i + 1] - depth[i])) - true, true)


def _curve(roc: Any, name: str) -> tuple[Vector, Vector]:
    false, true = _checks.two(roc, f"{name} must be a pair of false and true positives, as roc_counts returns it")
    x, y = _checks.scores(false, f"false positives of {name}"), _checks.scores(true, f"true positives of {name}")
    if x.size != y.size:
        raise ValueError(
            f"{name} must have as many false as true positives; got {x.size} and {y.size}. Pass roc_counts(f_pos, "
            "f_neg), not the scores"
        )
    if x.size < 2 or x[0] != 0.0 or y[0] != 0.0 or (np.diff(x) < 0.0).any() or (np.diff(y) < 0.0).any():
        raise ValueError(f"{name} must rise from (0, 0). Pass roc_counts(f_pos, f_neg), not the scores")
    return x, y


# The first k rows -------------------------------------------------------------------------------------


def precision_at(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    k: float = 0.01,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the share of positives among the first k rows.

    If the k-th row ties with others, the result is the mean over all orders of the tied rows: they share the places
    that are left in equal parts.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    k : int or float
        An integer is a number of rows, from 1 to I + K. A float above 0 and at most 1 is a share of the rows, rounded
        up to whole rows. If weights are not whole numbers, it is a share of their sum and is not rounded.
    y, pos_label, weight : optional
        With labels, ``precision_at(scores, y=y)``, the first argument holds all scores. The labels, the positive label
        and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. k counts their sum.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval with the confidence `confidence` (such as 0.95). The result is then an `Estimate`, a float with
        `low` and `high`. With weights, the interval is from `n_resamples` resampled lists, drawn with `seed`. Without
        weights, these two are not used.

    Returns
    -------
    float
        From 0 to 1; an `Estimate` if there is a `confidence`.

    Notes
    -----
    The interval is that of the command, for n = I + K rows that are all drawn, with their classes. Let H_m be the
    number of positives among the first m rows. The ends are quantiles of mixtures of beta distributions over m, the
    number of rows above a fixed score, which is binomial with mean k::

        Σ_m P(m) P(Beta(a_m, b_m + 1) ≤ low) = (1 - confidence) / 2,   m ~ Bin(n, k / n), m > 0
        Σ_m P(m) P(Beta(a_m + 1, b_m) ≥ high) = (1 - confidence) / 2,   a_m = k H_m / m, b_m = k - a_m

    Each is the interval of Clopper and Pearson for k H_m / m positives in k rows. It takes 2 to 5 ms. In
    ``benchmarks/intervals.py``, 95 to 100 % of the 95 % intervals hold the mean over lists, also with tied scores. The
    interval of a `ScoreTable` contains those of all orders of the rows within its places. With weights, the interval is
    from resamples.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.precision_at([3.0, 1.0], [2.0, 1.0, 0.0], 2)
    0.5
    >>> pnorm.metrics.precision_at([3.0, 1.0], [2.0, 1.0, 0.0], 3)  # the third place is shared
    0.5

    The same with labels:

    >>> pnorm.metrics.precision_at([3.0, 1.0, 2.0, 1.0, 0.0], k=2, y=[1, 1, 0, 0, 0])
    0.5

    With an interval, for a list whose first 10 rows are positive:

    >>> pnorm.metrics.precision_at(range(50, 90), range(50), 10, confidence=0.95)
    1 [0.691503, 1]
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    return _of_first_rows("precision", _first(k, rows), rows, confidence, n_resamples, seed)


def recall_at(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    k: float = 0.01,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the share of all positives that are among the first k rows.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    k : int or float
        A number of rows or a share of them, as in `precision_at`. Ties are treated as there.
    y, pos_label, weight : optional
        With labels, ``recall_at(scores, y=y)``, the first argument holds all scores. The labels, the positive label and
        the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. k counts their sum.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval with the confidence `confidence` (such as 0.95). The result is then an `Estimate`, a float with
        `low` and `high`. With weights, the interval is from `n_resamples` resampled lists, drawn with `seed`. Without
        weights, these two are not used.

    Returns
    -------
    float
        From 0 to 1; an `Estimate` if there is a `confidence`.

    Notes
    -----
    The interval is that of the command, for n = I + K rows that are all drawn, with their classes. It is for the recall
    of the rows above the score that a share k / n of all rows exceeds. Let H_m be the number of positives among the
    first m rows. The precision U above this score and the share V of positives below it give the recall
    k U / (k U + (n - k) V). The ends are quantiles of a mixture of the recall for pairs of independent beta variables
    over m, the number of rows above the score, which is binomial with mean k::

        low:  U ~ Beta(a_m, b_m + 1), V ~ Beta(c_m + 1, d_m),   a_m = k H_m / m, b_m = k - a_m
        high: U ~ Beta(a_m + 1, b_m), V ~ Beta(c_m, d_m + 1),   c_m = (n - k) (I - H_m) / (n - m), d_m = n - k - c_m

    For one m it is the melded interval of [1]_ for the ratio of two rates. It takes 10 to 50 ms. In
    ``benchmarks/intervals.py``, 96 to 100 % of the 95 % intervals contain the mean hits divided by the mean number of
    positives. The interval of a `ScoreTable` contains those of all orders of the rows within its places. With weights,
    the interval is from resamples.

    References
    ----------
    .. [1] M. P. Fay, M. A. Proschan, E. Brittain, "Combining one-sample confidence procedures for inference in the
       two-sample case", Biometrics 71, 2015, 146-156.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.recall_at([3.0, 1.0], [2.0, 1.0, 0.0], 3)
    0.75

    The same with labels:

    >>> pnorm.metrics.recall_at([3.0, 1.0, 2.0, 1.0, 0.0], k=3, y=[1, 1, 0, 0, 0])
    0.75
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    return _of_first_rows("recall", _first(k, rows), rows, confidence, n_resamples, seed)


def enrichment_factor(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    k: float = 0.01,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the precision in the first k rows divided by the share of positives in all rows.

    The factor compares the first k rows with k rows drawn at random. It is used for virtual screening in drug
    discovery: the usual EF 1 % is ``k=0.01``.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    k : int or float
        A number of rows or a share of them, as in `precision_at`. Ties are treated as there.
    y, pos_label, weight : optional
        With labels, ``enrichment_factor(scores, y=y)``, the first argument holds all scores. The labels, the positive
        label and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. k counts their sum.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval with the confidence `confidence` (such as 0.95). The result is then an `Estimate`, a float with
        `low` and `high`. With weights, the interval is from `n_resamples` resampled lists, drawn with `seed`. Without
        weights, these two are not used.

    Returns
    -------
    float
        From 0 to (I + K) / I; 1 is expected of a random order. An `Estimate` if there is a `confidence`.

    Notes
    -----
    The interval is that of `recall_at`, multiplied by (I + K) / k, as of the command. So it covers the error of the
    share of positives in all rows. With weights, it is from resamples.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.enrichment_factor([3.0, 1.0], [2.0, 1.5, 1.2, 0.0, -1.0, -2.0], k=0.25)
    2.0

    The same with labels:

    >>> pnorm.metrics.enrichment_factor([3.0, 1.0, 2.0, 1.5, 1.2, 0.0, -1.0, -2.0], k=2, y=[1, 1, 0, 0, 0, 0, 0, 0])
    2.0
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    return _of_first_rows("enrichment", _first(k, rows), rows, confidence, n_resamples, seed)


def _first(k: Any, rows: RankedList) -> float:
    """Return the depth k as a number of rows or, if rows have weights, as a sum of weights."""
    total = rows.n_pos + rows.n_neg
    if isinstance(k, float | np.floating):
        depth = _checks.real(k, "k") * total
        if not 0.0 < depth <= total:
            raise ValueError(
                f"k as a share of the rows must be above 0 and at most 1; got {k}. Pass an integer for a number of rows"
            )
        return float(_checks.rows_of_share(float(k), total)) if rows.whole else depth
    depth = _checks.count(k, "k, a number of rows (a share of them is a float),", 1)
    if depth > total * rows.unit * (1.0 + 1e-12):  # not depth / unit, as it may be of any number of digits
        what = "the sum of the weights" if rows.weighted else "the number of rows"
        raise ValueError(f"k must be at most {what}, {total * rows.unit:.12g}; got {_checks.shown(k)}")
    return float(depth)


def _of_first(what: str, depth: float, at: DistinctScores) -> Any:
    """Return the precision, the recall or the enrichment factor of the first rows."""
    total, positives = at.ranks[..., -1], at.curve[1][..., -1]
    first = np.minimum(depth, total)
    last = (at.ranks[..., 1:] >= first[..., None]).argmax(axis=-1, keepdims=True)  # the place that contains the depth
    rows, above, pos, neg = (
        np.take_along_axis(counts, last, axis=-1)[..., 0] for counts in (at.ranks, at.above, at.pos, at.neg)
    )
    found = above + (first - rows) / (pos + neg) * pos
    if what == "precision":
        return found / first
    recall = np.minimum(found / positives, 1.0)
    return recall if what == "recall" else recall * (total / first)


def _of_first_rows(what: str, depth: float, rows: RankedList, confidence: Any, n_resamples: Any, seed: Any) -> float:
    """Return a measure of the first rows, with an interval if `confidence` is given."""
    if confidence is not None and not rows.weighted:
        return _drawn(what, [depth], rows, confidence)[0]
    return rows.measure(partial(_of_first, what, depth), confidence, n_resamples, seed)


def _drawn(what: str, depths: Sequence[float] | Vector, rows: RankedList, confidence: Any) -> list[Estimate]:
    """Return a measure of the first rows at several depths, with the interval of `first_rows`; rows have no weights.

    The ends do not fall if positives move up. So the best and the worst order of the rows of a table bound them.
    """
    level = _checks.probability(confidence, "confidence")
    of_orders = [(at, first_rows(at, np.asarray(depths, np.intp), level)) for at in rows.ends]
    found = []
    for i, depth in enumerate(depths):
        value = float(_of_first(what, depth, rows.distinct))
        low = high = value
        for at, of_order in of_orders:
            interval, bound = of_order.measure(_OF_COMMAND.get(what, what), i), float(_of_first(what, depth, at))
            low, high = min(low, interval.low, bound), max(high, interval.high, bound)
        found.append(Estimate(value, low, high, level))
    return found


_OF_COMMAND = {"enrichment": "lift"}
"""Names of measures of the first rows in `first_rows`, if they are others."""


# Sums over the ranks of the positives ------------------------------------------------------------------


def average_precision(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
    stratified: bool = False,
) -> float:
    """Return the average precision: the mean, over the positives, of the precision down to each of them.

    With # for the number of rows, it is::

        1/I Σ_i #{j : f_j ≥ f_i} / (#{j : f_j ≥ f_i} + #{k : f̃_k ≥ f_i})

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    y, pos_label, weight : optional
        With labels, ``average_precision(scores, y=y)``, the first argument holds all scores. The labels, the positive
        label and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.
    stratified : bool
        Draw as many positives and negatives for each resampled list. By default, rows of both classes are drawn
        together, and the numbers of positives and negatives vary.

    Returns
    -------
    float
        Above 0 and at most 1; an `Estimate` if there is a `confidence`. The precision at a tied positive counts all
        rows of the tie.

    Notes
    -----
    If all positives are above all negatives, no resample has a mistake. One end of the interval then comes from outside
    the resamples, as that of `partial_auc`.

    Average precision depends on the share of positives. The interval is for a random sample of rows, in which this
    share varies. If the numbers of both classes are chosen beforehand, as in a case-control study, pass
    ``stratified=True``: the interval is then for lists with as many positives. Of lists with drawn classes in
    ``benchmarks/intervals.py``, these 95 % intervals hold in 94 to 98 %, and stratified ones in 85 to 94 %. If almost
    all rows are positives, both may be too high.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.average_precision([3.0, 1.0], [2.0, 0.0])
    0.8333333333333333

    The same with labels:

    >>> pnorm.metrics.average_precision([3.0, 1.0, 2.0, 0.0], y=[1, 1, 0, 0])
    0.8333333333333333

    With an interval for lists in which the number of positives varies, and for lists with as many positives:

    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
    >>> f = pnorm.score(data.X, None, lam)
    >>> pnorm.metrics.average_precision(f, y=data.y, confidence=0.95)
    0.809834 [0.77721, 0.841302]
    >>> pnorm.metrics.average_precision(f, y=data.y, confidence=0.95, stratified=True)
    0.809834 [0.784574, 0.835331]
    """
    return ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight).measure(
        _average, confidence, n_resamples, seed, stratified=bool(stratified)
    )


_average = AveragePrecision()


def discounted_gain_at_top(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    k: float | None = None,
    *,
    normalized: bool = False,
    y: Labels | None = None,
    pos_label: Label | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the discounted cumulative gain (DCG); every positive has gain 1.

    The sum over the positives in the first k ranks is::

        Σ_{i : rank_i ≤ k} 1 / log2(1 + rank_i)

    Rows of one score share the gains of their ranks in equal parts. This is the mean over all orders of the tie.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    k : int or float, optional
        Only the first k ranks count. A number of rows or a share of them, as in `precision_at`; None for all ranks.
    normalized : bool
        Whether to divide by the gain of the best list, which has all positives first (NDCG).
    y, pos_label : optional
        With labels, ``discounted_gain_at_top(scores, y=y)``, the first argument holds all scores. The labels and the
        positive label are as in `pnorm.train`.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    float
        Zero or more, and at most 1 if normalized. An `Estimate` if there is a `confidence`.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM Transactions
       on Information Systems 20, 2002.
    .. [2] F. McSherry, M. Najork, "Computing information retrieval performance measures efficiently in the
       presence of tied scores", ECIR 2008.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.discounted_gain_at_top([3.0, 1.0], [2.0, 0.0])
    1.5

    The same with labels:

    >>> pnorm.metrics.discounted_gain_at_top([3.0, 1.0, 2.0, 0.0], y=[1, 1, 0, 0])
    1.5
    """
    rows = ranked(f_pos, f_neg, y=y, pos_label=pos_label)
    depth = math.inf if k is None else _first(k, rows)
    return rows.measure(_gain(depth, bool(normalized), rows), confidence, n_resamples, seed)


def _gain(depth: float, normalized: bool, rows: RankedList) -> Measure:
    _refuse_weights(rows)
    n = rows.n_pos + rows.n_neg
    if n > _LONG:
        gain: _Discount = _LongDiscount(partial(_gain_to, _gains(_FIRST), min(depth, n)))
    else:
        gain = _Discount(np.where(np.arange(1.0, n + 1.0) <= depth, _gains(int(n)), 0.0))
    most = gain.between(0, int(rows.n_pos)) if normalized else 1.0
    return lambda at: gain.of(at) / most


def _refuse_weights(rows: RankedList) -> None:
    if rows.weighted:
        raise ValueError(
            "this measure uses ranks and takes no weights; got a ScoreTable with weights. Make a table without weights"
        )


def _gains(n: int) -> Vector:
    """Return the gains of the first n ranks."""
    return np.asarray(1.0 / np.log2(1.0 + np.arange(1.0, n + 1.0)))


def _gain_to(first: Vector, depth: float, ranks: Counts) -> Vector:
    """Return the sums of the gains down to each rank and the depth; after the first ranks by Euler and Maclaurin."""
    from scipy.special import expi

    def integral(x: Any) -> Any:
        log = np.log(x)
        return expi(log) + 0.5 / log - 1.0 / (12.0 * x * log * log)

    to = np.minimum(ranks, math.floor(depth))
    beyond = math.log(2.0) * (integral(np.maximum(to, first.size) + 1.0) - integral(first.size + 1.0))
    return np.asarray(cumulated(first)[np.minimum(to, first.size)] + beyond)


def bedroc(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    alpha: float = 20.0,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return BEDROC, the Boltzmann-enhanced discrimination of ROC.

    It is::

        (S - S_min) / (S_max - S_min),    S = Σ_i exp(-α rank_i / N)

    with the sum over the positives, N = I + K, and the least and the largest S over all lists. It measures early
    recognition in drug discovery: the first ranks count most.

    Rows of one score share the terms of their ranks in equal parts. This is the mean over all orders of the tie.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    alpha : float
        Weight of the early ranks, above 0. With 20, the first 8 % of the list account for 80 % of the largest score.
        As alpha goes to 0, the measure tends to the AUC.
    y, pos_label : optional
        With labels, ``bedroc(scores, y=y)``, the first argument holds all scores. The labels and the positive label are
        as in `pnorm.train`.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    float
        From 0 for the worst list to 1 for the best list. An `Estimate` if there is a `confidence`.

    References
    ----------
    .. [1] J.-F. Truchon, C. I. Bayly, "Evaluating virtual screening methods: good and bad metrics for the
       'early recognition' problem", Journal of Chemical Information and Modeling 47, 2007.

    Examples
    --------
    >>> import pnorm
    >>> round(pnorm.metrics.bedroc([3.0, 1.0], [2.0, 0.0, -1.0, -2.0]), 4)
    0.9668

    The same with labels:

    >>> round(pnorm.metrics.bedroc([3.0, 1.0, 2.0, 0.0, -1.0, -2.0], y=[1, 1, 0, 0, 0, 0]), 4)
    0.9668
    """
    rows = ranked(f_pos, f_neg, y=y, pos_label=pos_label)
    return rows.measure(_bedroc(_checks.positive(alpha, "alpha"), rows), confidence, n_resamples, seed)


def _bedroc(alpha: float, rows: RankedList) -> Measure:
    _refuse_weights(rows)
    n_pos, n_all = int(rows.n_pos), int(rows.n_pos + rows.n_neg)
    if n_all > _LONG:
        early: _Discount = _LongDiscount(partial(_early_to, alpha / n_all))
    else:
        with np.errstate(over="ignore"):  # relative to the first term, for large alpha; minus 1, for small alpha
            early = _Discount(np.expm1(-alpha * np.arange(n_all) / n_all))
    most, least = early.between(0, n_pos), early.between(n_all - n_pos, n_all)
    return lambda at: (early.of(at) - least) / (most - least)


def _early_to(rate: float, ranks: Counts) -> Vector:
    """Return the sums over each of the first ranks, from 0 on, of exp(-rate rank) - 1."""
    n = ranks + 0.0
    if rate * float(n.max()) > 1e-3:
        return np.asarray(np.expm1(-rate * n) / math.expm1(-rate) - n)
    m = n * (n - 1.0)  # the sums of the first three powers; the difference above would lose their digits
    return np.asarray(-rate * m / 2.0 * (1.0 - rate * (2.0 * n - 1.0) / 6.0 + rate * rate * m / 12.0))


class _Discount:
    """Weights of the ranks of a list, for measures that are sums over the ranks of the positives (DCG, BEDROC)."""

    def __init__(self, of_rank: Vector) -> None:
        """Take the weight of each rank; the array is overwritten."""
        # The weights are split in two parts. Sums of the first part are exact and sums of the second part are small,
        # so a difference of two sums keeps its digits.
        unit = np.spacing(np.abs(of_rank).max() * of_rank.size)
        coarse = np.rint(of_rank / unit)
        coarse *= unit
        of_rank -= coarse
        high = cumulated(coarse)
        del coarse  # saves memory when there are many rows
        self._sums = high, cumulated(of_rank)

    def _to(self, ranks: Counts) -> list[Vector]:
        """Return the sums down to each rank, as a list of terms to be added."""
        return [sums.take(ranks) for sums in self._sums]

    def between(self, start: int, end: int) -> float:
        """Return the sum over the ranks after `start` and up to `end`."""
        return float(sum(sums[1] - sums[0] for sums in self._to(np.array([start, end]))))

    def of(self, at: DistinctScores) -> Any:
        """Return the sums over the positives; tied rows get the mean over their ranks."""
        return sum([dots(at.share, np.diff(sums, axis=-1)) for sums in self._to(at.ranks)])


_LONG = 1 << 22
"""Lists longer than this are measured without an array of their length."""

_FIRST = 1 << 12
"""In such a list, the gains of this many ranks are summed one by one."""


class _LongDiscount(_Discount):
    """Weights of the ranks given by a function that returns their sums down to each rank, for lists of any length."""

    def __init__(self, sums: Callable[[Counts], Vector]) -> None:
        self._function = sums

    def _to(self, ranks: Counts) -> list[Vector]:
        return [self._function(ranks)]


# Quantities of the theory -----------------------------------------------------------------------------


def p_norm_risk(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    p: float = 1.0,
    theta: float = 0.0,
    *,
    ramp: bool = False,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the error that Theorem 2 bounds, a p-norm of the heights of the negatives as rates.

    The error is::

        (1/K Σ_k (1/I Σ_i 1[f_i - f̃_k ≤ θ])^p)^(1/p)

    With `ramp`, ``φ(f_i - f̃_k)`` takes the place of the indicator, where ``φ(z) = min(1, max(0, 1 - z/θ))``. The result
    is between the errors at margins 0 and theta.

    Ties count as errors. At p = 1 and theta = 0 the error is 1 - AUC if there are no ties. For large p it tends to
    ``r_max / I``.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    theta : float
        The margin, zero or more, in units of the scores. A pair is an error unless the positive is above the negative
        by more than this.
    ramp : bool
        Whether a positive that is above a negative by less than theta counts in part. No effect if theta is 0.
    y, pos_label, weight : optional
        With labels, ``p_norm_risk(scores, p=4, y=y)``, the first argument holds all scores. The labels, the positive
        label and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    float
        From 0 to 1; it never falls as p or theta grows. An `Estimate` if there is a `confidence`.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, section 3.
    .. [2] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix A, equation (6), for the ramp.

    Examples
    --------
    >>> import pnorm
    >>> f_pos, f_neg = [3.0, 2.0, 0.5, 0.2], [1.0, 0.0, -1.0, -2.0]
    >>> pnorm.metrics.p_norm_risk(f_pos, f_neg, 1), pnorm.metrics.p_norm_risk(f_pos, f_neg, 2)
    (0.125, 0.25)
    >>> pnorm.metrics.p_norm_risk(f_pos, f_neg, 2, theta=1.0)
    0.4506939094329987
    >>> pnorm.metrics.p_norm_risk(f_pos, f_neg, 2, theta=1.0, ramp=True)
    0.2981715110469141

    The same with labels:

    >>> pnorm.metrics.p_norm_risk(f_pos + f_neg, p=2, y=[1, 1, 1, 1, 0, 0, 0, 0])
    0.25
    """
    power = _checks.power(p)
    margin = _checks.nonnegative(theta, "theta")
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    within = _first_within(rows.scores, margin)

    def risk(at: DistinctScores) -> Any:
        at = at.even
        heights = at.not_above
        if margin > 0.0:
            near = heights[..., within]
            if ramp:
                near = np.maximum(near - _distances(rows.scores, at.pos, within) / margin, heights)
            heights = near
        rates = heights / at.pos.sum(axis=-1, keepdims=True)
        largest = np.take_along_axis(rates, at.first, axis=-1)
        # Scores above the best negative have larger rates but no negatives, so they have no weight in the mean.
        shares = np.minimum(rates, largest) / np.maximum(largest, LEAST)
        mean = dots(at.neg, shares**power) / at.neg.sum(axis=-1)
        return largest[..., 0] * mean ** (1.0 / power)

    return rows.measure(risk, confidence, n_resamples, seed, by_score=margin > 0.0)


def _first_within(scores: Vector, theta: float) -> NDArray[np.intp]:
    """Return, for each of falling scores, the first score that is at most theta above it, by bisection."""
    low, high = np.zeros(scores.size, dtype=np.intp), np.arange(scores.size)
    if theta == 0.0:
        return high
    with np.errstate(over="ignore"):  # an infinite difference is above any theta
        while (low < high).any():
            middle = (low + high) // 2
            near = scores[middle] - scores <= theta
            low, high = np.where(near, low, middle + 1), np.where(near, middle, high)
    return low


def _distances(scores: Vector, counts: Counts, first: NDArray[np.intp]) -> Vector:
    """Return, for each of falling scores, the sum of counts times distances over the scores from `first` to it."""
    # Any window is made up of blocks of 1, 2, 4, ... scores, whose sums have positive terms. A difference of two
    # cumulated sums would lose the digits of a narrow window.
    end, length, total = np.arange(scores.size), np.arange(1, scores.size + 1) - first, np.zeros(counts.shape)
    mass, distance, width = counts.copy(), np.zeros(counts.shape), 1
    with np.errstate(over="ignore", invalid="ignore"):  # in blocks that no window contains
        while True:
            rows = np.flatnonzero(length & width)
            at = end[rows]
            total[..., rows] += distance[..., at] + mass[..., at] * (scores[at] - scores[rows])
            end[rows] -= width
            if 2 * width > length.max():
                return total
            distance[..., width:] += distance[..., :-width] + mass[..., :-width] * (scores[:-width] - scores[width:])
            mass[..., width:] += mass[..., :-width]
            width *= 2


@dataclass(frozen=True)
class Chain:
    """The inequalities of `theorem1`, as logarithms: lower <= risk <= surrogate, and risk <= upper.

    Examples
    --------
    >>> import pnorm
    >>> chain = pnorm.metrics.theorem1([3.0, 1.0], [2.0, 0.0], pnorm.objectives.Power(2), "hinge")
    >>> chain.r_max, chain.log_lower <= chain.log_risk <= chain.log_surrogate
    (1, True)
    """

    r_max: int
    """The largest height of a negative: positives at or below it."""
    log_lower: float
    """log of K g(r_max / K)."""
    log_risk: float
    """log of R_{g,1}, the sum of the prices of all heights."""
    log_surrogate: float
    """log of R_{g,l}, with sums of losses in the place of heights."""
    log_upper: float
    """log of K g(r_max), an upper bound of the risk (the surrogate may be larger)."""


def theorem1(
    f_pos: Scores,
    f_neg: Scores | None = None,
    price: Price | None = None,
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    *,
    smoothing: float = 0.0,
    y: Labels | None = None,
    pos_label: Label | None = None,
) -> Chain:
    """Return the terms of Theorem 1, which relates the objective to the top of the list.

    The theorem states::

        K g(R_max / K) ≤ R_{g,1} ≤ R_{g,ℓ},    R_{g,1} ≤ K g(R_max)

    where ``R_max = max_k r_k`` is the largest of the heights ``r_k = #{i : f_i ≤ f̃_k}``, and ``R_{g,1} = Σ_k g(r_k)``.
    Training lowers ``R_{g,ℓ} = Σ_k g(Σ_i ℓ(f_i - f̃_k))``, whose loss is at least 1 at zero.

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. It must be convex and must never fall.
        None is ``Linear()``.
    loss : str or Loss
        The cost of a pair whose scores differ by z. It must never rise. A loss below 1 at z = 0 is divided by its value
        there, so that it bounds the count of misranked pairs: the logistic loss is divided by ln 2.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    y, pos_label : optional
        With labels, ``theorem1(scores, y=y)``, the first argument holds all scores. The labels and the positive label
        are as in `pnorm.train`.

    Returns
    -------
    Chain
        `r_max`, `log_lower`, `log_risk`, `log_surrogate` and `log_upper`. The logarithm of zero is minus infinity.
        The cost is O((I + K) log I) and one evaluation of the objective.

    Raises
    ------
    ValueError, TypeError
        If the inequalities do not hold: the price falls somewhere or is not convex, or the loss rises somewhere (as
        ``"squared"`` does).
    OverflowError
        If the logarithm of the objective is too large for a double.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", NYU technical report TR2005-874, 2005, Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> chain = pnorm.metrics.theorem1([3.0, 1.0], [2.0, 0.0], pnorm.objectives.Power(2), "hinge")
    >>> chain.r_max, [round(float(np.exp(x)), 3) for x in (chain.log_lower, chain.log_risk, chain.log_surrogate)]
    (1, [0.5, 1.0, 4.0])

    The same with labels:

    >>> pnorm.metrics.theorem1([3.0, 1.0, 2.0, 0.0], None, pnorm.objectives.Power(2), "hinge", y=[1, 1, 0, 0]).r_max
    1
    """
    f_pos, f_neg, *_ = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label)
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    chosen = Linear() if price is None else price_of(price)
    of_pairs = loss_of(loss, smoothing)
    if not chosen.increasing:
        raise ValueError(f"price must never fall, or Theorem 1 does not hold; got {price!r}")
    if chosen.root != 1.0:
        raise ValueError(f"price must be convex, or Theorem 1 does not hold; got {price!r}")
    if not of_pairs.decreasing:
        raise ValueError(f"loss must never rise, or Theorem 1 does not hold; got {loss!r}")
    if of_pairs.at_zero == 0.0:
        raise ValueError(f"loss must be above zero at z = 0, or it does not bound the misranked pairs; got {loss!r}")
    of_each = heights(pos, neg).astype(np.float64)
    highest = float(of_each.max())
    log_lower, log_upper = (chosen.log_of(np.array([highest / neg.size, highest])) + np.log(neg.size)).tolist()
    weights = None if of_pairs.at_zero >= 1.0 else np.full(pos.size, 1.0 / of_pairs.at_zero)
    return Chain(
        int(highest),
        log_lower,
        float(np.logaddexp.reduce(chosen.log_of(of_each))),
        objectives.value(pos, neg, chosen, loss, smoothing=smoothing, pos_weight=weights),
        log_upper,
    )


# Two lists of the same rows ---------------------------------------------------------------------------


def difference(
    measure: Callable[[Any, Any], float],
    a: tuple[Scores, Scores] | Scores,
    b: tuple[Scores, Scores] | Scores,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
    **arguments: object,
) -> Estimate:
    """Return the difference of a measure between two lists of the same rows, with an interval.

    The same resampled rows are used for both lists. Variation that the lists share cancels, so the interval is narrower
    than the intervals of the two lists suggest. If it contains zero, these rows do not distinguish the two scores.

    Parameters
    ----------
    measure : callable
        A measure of this module, or any function of ``(f_pos, f_neg)``.
    a, b : pair of array_like, shapes (I,) and (K,)
        Scores ``(f_pos, f_neg)`` of the two lists. Both have the same positives and negatives in the same order. Or,
        with `y`, the scores of all rows by either list.
    y, pos_label : optional
        With labels, ``difference(auc, scores_a, scores_b, y=y)``. The labels and the positive label are as in
        `pnorm.train`.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
    **arguments : optional
        Arguments of `measure`, by name: ``difference(precision_at, a, b, k=20)``.

    Returns
    -------
    Estimate
        measure(a) - measure(b), with `low` and `high`. The cost is two calls of `measure` per resample.

    Raises
    ------
    ValueError, TypeError
        If the lists have different numbers of positives or of negatives.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lists = {}
    >>> for p in (1, 16):
    ...     lam, trace = pnorm.train(data.pos, data.neg, p=p)
    ...     lists[p] = pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam)
    >>> pnorm.metrics.difference(pnorm.metrics.auc, lists[16], lists[1], n_resamples=200)
    -0.00411871 [-0.00618288, -0.00257901]

    The same with labels:

    >>> f = {p: pnorm.score(data.X, None, pnorm.train(data.pos, data.neg, p=p)[0]) for p in (1, 16)}
    >>> pnorm.metrics.difference(pnorm.metrics.auc, f[16], f[1], y=data.y, n_resamples=200)
    -0.00411871 [-0.00618288, -0.00257901]

    Of a measure with an argument:

    >>> pnorm.metrics.difference(pnorm.metrics.precision_at, f[16], f[1], y=data.y, k=600, n_resamples=200)
    -0.0133333 [-0.0233333, 0]
    """
    if not callable(measure):
        got = _checks.shown(measure) if isinstance(measure, str) else type(measure).__name__
        order = "difference(pnorm.metrics.auc, a, b, y=labels)"
        raise TypeError(f"measure must be a function of (f_pos, f_neg); got {got}. It comes first: {order}")
    if arguments:
        measure = partial(measure, **arguments)
    sides = []
    for given, name in ((a, "a"), (b, "b")):
        if y is None:
            pair = _checks.two(given, f"{name} must be a pair of scores (f_pos, f_neg), or all scores with y=labels")
            f_pos, f_neg, *_ = sides_of_scores(*pair, pos_label=pos_label)
        else:
            with _checks.located(name):
                f_pos, f_neg, *_ = sides_of_scores(given, None, y=y, pos_label=pos_label)
        sides.append((_checks.scores(f_pos, f"f_pos of {name}"), _checks.scores(f_neg, f"f_neg of {name}")))
    (pos_a, neg_a), (pos_b, neg_b) = sides
    if (pos_a.size, neg_a.size) != (pos_b.size, neg_b.size):
        raise ValueError(
            f"a and b must rank the same rows; a has {pos_a.size} positives and {neg_a.size} negatives, b has "
            f"{pos_b.size} and {neg_b.size}"
        )

    def again(rng: np.random.Generator, draws: int) -> list[list[float]]:
        found = []
        for _ in range(draws):
            i, k = rng.integers(pos_a.size, size=pos_a.size), rng.integers(neg_a.size, size=neg_a.size)
            found.append([float(measure(pos_a[i], neg_a[k])) - float(measure(pos_b[i], neg_b[k]))])
        return found

    value = float(measure(pos_a, neg_a)) - float(measure(pos_b, neg_b))
    return estimates([value], again, confidence, n_resamples, seed, sizes=(pos_a.size, neg_a.size))[0]


# All at once ------------------------------------------------------------------------------------------

_COUNTS = ("positives", "negatives", "k", "positives_at_top", "r_max")

_OF_FIRST_ROWS = {"precision_at": "precision", "recall_at": "recall", "enrichment_factor": "enrichment"}

_OF_ONE_ROW = ("positives_at_top", "r_max")
"""Measures that depend on the best negative alone, whose bootstrap intervals are too short."""

_TOO_SHORT = "* One row decides, so this interval is too short: at 95 %, it is right for 83 to 92 % of lists."
"""As counted by benchmarks/intervals.py."""


class Summary(dict[str, float]):
    """Measures of one list: a dictionary from names to numbers, which prints as a table.

    Examples
    --------
    >>> import pnorm
    >>> found = pnorm.metrics.summary([3.0, 1.0, 2.0], [0.0, 1.5, 0.5])
    >>> found["positives_at_top"], round(found["auc"], 3)
    (2, 0.889)
    >>> found.to_frame().shape
    (14, 1)
    """

    def _rows(self) -> list[tuple[str, str, str]]:
        """Return names, values and intervals as text."""
        rows = []
        for name, value in self.items():
            form = (".0f" if value % 1.0 == 0.0 else ".1f") if name in _COUNTS else ".4f"
            mark = " *" if name in _OF_ONE_ROW else ""
            interval = f"{value.low:{form}} to {value.high:{form}}{mark}" if isinstance(value, Estimate) else ""
            rows.append((name, f"{float(value):{form}}", interval))
        return rows

    def to_frame(self) -> DataFrame:
        """Return the measures as a pandas data frame.

        Returns
        -------
        DataFrame
            The column ``value``, and with intervals the columns ``low`` and ``high``. The index holds the names.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        from pnorm._checks import sheet

        table = {"value": [float(value) for value in self.values()]}
        if any(isinstance(value, Estimate) for value in self.values()):
            for end in ("low", "high"):
                table[end] = [getattr(value, end, math.nan) for value in self.values()]
        return sheet.frame(table, index=list(self))

    def __str__(self) -> str:
        width, rows = max(map(len, self)), self._rows()
        lines = [f"{name:{width}}  {value:>10}   {interval}".rstrip() for name, value, interval in rows]
        return "\n".join([*lines, *[_TOO_SHORT for *_, interval in rows if interval.endswith("*")][:1]])

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        several = any(interval for _, _, interval in self._rows())
        rows = [row if several else row[:2] for row in self._rows()]
        return sheet.as_html(["measure", "value", "interval"][: 2 + several], rows)


def summary(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    k: float = 0.01,
    *,
    max_fpr: float = 0.1,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
    stratified: bool = False,
) -> Summary:
    """Return a table of measures for one list, from measures of its top to measures of the whole list.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`; or a `ScoreTable` alone.
    k : int or float
        The first rows for `precision_at`, `recall_at` and `enrichment_factor`: a number of rows or a share of them, as
        in `precision_at`.
    max_fpr : float
        The largest false positive rate of the partial AUC, above 0. The standardized partial AUC is computed.
    y, pos_label, weight : optional
        With labels, ``summary(scores, y=y)``, the first argument holds all scores. The labels, the positive label and
        the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. With weights, measures of ranks (the normalized discounted gain and `bedroc`) are
        left out.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        Each value is then an `Estimate`, a float with `low` and `high`. Each measure has the interval of its own
        function.
    stratified : bool
        As in `average_precision`, for the average precision alone.

    Returns
    -------
    Summary
        A dictionary from names to numbers (`Estimate` if there is a `confidence`), which prints as a table. The first
        four entries are the numbers of positives and negatives, `k` in rows, and `max_fpr`.

    Notes
    -----
    The intervals of `positives_at_top` and `r_max` are too short, because these measures depend on the best negative
    alone. They are marked in print. See the notes of `positives_at_top`.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
    >>> f_pos, f_neg = pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam)
    >>> print(pnorm.metrics.summary(f_pos, f_neg, k=0.2, confidence=0.95))
    positives                          626
    negatives                          332
    k                                  192
    max_fpr                         0.1000
    positives_at_top                    74   59 to 98 *
    r_max                              552   528 to 567 *
    precision_at                    0.8125   0.7431 to 0.8684
    recall_at                       0.2492   0.2285 to 0.2681
    enrichment_factor               1.2434   1.1402 to 1.3376
    bedroc                          0.9350   0.9020 to 0.9592
    normalized_discounted_gain      0.9684   0.9628 to 0.9734
    average_precision               0.8098   0.7772 to 0.8413
    standardized_partial_auc        0.5625   0.5480 to 0.5898
    auc                             0.7057   0.6686 to 0.7399
    * One row decides, so this interval is too short: at 95 %, it is right for 83 to 92 % of lists.

    From the scores of all rows and their labels:

    >>> pnorm.metrics.summary(pnorm.score(data.X, None, lam), y=data.y)["positives_at_top"]
    74
    """
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    depth, end = _first(k, rows), _checks.share(max_fpr, "max_fpr")
    if end == 0.0:
        raise ValueError("max_fpr must be above 0; got 0")
    measures: dict[str, Callable[[], Measure]] = {
        "positives_at_top": lambda: _at_top,
        "r_max": lambda: _r_max,
        "precision_at": lambda: partial(_of_first, "precision", depth),
        "recall_at": lambda: partial(_of_first, "recall", depth),
        "enrichment_factor": lambda: partial(_of_first, "enrichment", depth),
        "bedroc": lambda: _bedroc(20.0, rows),
        "normalized_discounted_gain": lambda: _gain(math.inf, True, rows),
        "average_precision": lambda: _average,
        "standardized_partial_auc": lambda: PartialAuc(0.0, end, 0.0, True),
        "auc": lambda: _auc,
    }
    if rows.weighted:
        del measures["bedroc"], measures["normalized_discounted_gain"]
    values: dict[str, float] = {}
    if confidence is not None and not rows.weighted:
        values |= {name: _drawn(what, [depth], rows, confidence)[0] for name, what in _OF_FIRST_ROWS.items()}
    rng = _checks.generator(seed)
    drawn = {"stratified": bool(stratified)}
    values["average_precision"] = rows.measure(_average, confidence, n_resamples, deepcopy(rng), **drawn)
    others = {name: measure for name, measure in measures.items() if name not in values}
    values |= zip(others, rows.measure_all(list(others.values()), confidence, n_resamples, rng), strict=True)
    given = {"positives": rows.n_pos, "negatives": rows.n_neg, "k": depth, "max_fpr": end}
    found = given | {name: values[name] for name in measures}
    return Summary(found | {name: rows.count(found[name]) for name in _COUNTS})


def __dir__() -> list[str]:
    return __all__
