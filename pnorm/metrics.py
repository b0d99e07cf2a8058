"""Measures of a ranked list, from the scores of its positives and its negatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm import _checks

__all__ = ["auc", "positives_at_top"]


def positives_at_top(f_pos: Any, f_neg: Any) -> int:
    """Count the positives that score strictly above every negative.

    This is the height of the ROC curve in counts before the first false positive, the quantity that
    the experiments of both papers report. A positive that ties with the best negative does not count.

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.

    Returns
    -------
    int
        From 0 to I.

    Raises
    ------
    ValueError, TypeError
        If a side is empty or not a vector of finite numbers.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, section 5 (there called R_max,
       a name that its theory gives to the positives at or below the best negative).

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.positives_at_top([3.0, 2.0, 1.0, 0.5], [1.0, 0.0])
    2
    """
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    return int(np.count_nonzero(pos > neg.max()))


def auc(f_pos: Any, f_neg: Any) -> float:
    r"""Return the area under the ROC curve, ties counted one half.

    .. math:: \frac{1}{IK} \sum_{i,k} \bigl(1_{[f_i > \tilde f_k]} + \tfrac12 1_{[f_i = \tilde f_k]}\bigr)

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.

    Returns
    -------
    float
        The share of pairs in the right order, from 0 to 1. O((I + K) log K).

    Raises
    ------
    ValueError, TypeError
        If a side is empty or not a vector of finite numbers.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC
       Curve", AISTATS 2005, equation (1).

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.auc([3.0, 1.0], [1.0, 0.0])
    0.875
    """
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    neg = np.sort(neg)
    below = np.searchsorted(neg, pos, side="left").sum()
    at_or_below = np.searchsorted(neg, pos, side="right").sum()
    return float(below + at_or_below) / (2.0 * pos.size * neg.size)
