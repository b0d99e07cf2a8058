"""Numbers of rows above and below others: heights, and what they say of the top of the list."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Label, Labels, Scores, Seed, Vector, Weights
from pnorm._checks.labelled import sides_of_scores
from pnorm.metrics._distinct import DistinctScores
from pnorm.metrics._merged import ScoreTable, ranked


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
