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

from pnorm.metrics._by_list import (
    MeanOverLists,
    expected_reciprocal_rank,
    mean_average_precision,
    mean_precision_at,
    mean_recall_at,
    mean_reciprocal_rank,
    ndcg,
)
from pnorm.metrics._estimates import Estimate
from pnorm.metrics._first_rows import enrichment_factor, precision_at, recall_at
from pnorm.metrics._heights import heights, positives_at_top, r_max, reverse_heights
from pnorm.metrics._merged import ScoreTable
from pnorm.metrics._rank_sums import average_precision, bedroc, discounted_gain_at_top
from pnorm.metrics._risks import Chain, p_norm_risk, theorem1
from pnorm.metrics._roc import Crossing, Roc, auc, crossing, partial_auc, roc_counts
from pnorm.metrics._summary import Summary, difference, summary

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


def __dir__() -> list[str]:
    return __all__
