"""The receiver operating characteristic: its counts, the areas below it, and where two curves cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pnorm import _checks
from pnorm._checks import Label, Labels, Numbers, Scores, Seed, Vector, Weights
from pnorm.metrics._merged import ScoreTable, ranked
from pnorm.metrics._ranked_list import Auc, PartialAuc, RankedList


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
