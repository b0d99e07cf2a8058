"""Measures of the first rows: precision, recall and enrichment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Label, Labels, Scores, Seed, Vector, Weights
from pnorm.metrics._distinct import DistinctScores
from pnorm.metrics._estimates import Estimate
from pnorm.metrics._merged import ScoreTable, ranked
from pnorm.metrics._ranked_list import RankedList
from pnorm.metrics._shares import first_rows


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
