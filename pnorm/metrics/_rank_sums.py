"""Sums over the ranks of the positives: average precision, discounted gain, BEDROC."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Label, Labels, Scores, Seed, Vector, Weights
from pnorm.metrics._distinct import Counts, DistinctScores, Measure, cumulated, dots
from pnorm.metrics._first_rows import _first
from pnorm.metrics._merged import ScoreTable, ranked
from pnorm.metrics._ranked_list import AveragePrecision, RankedList


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
