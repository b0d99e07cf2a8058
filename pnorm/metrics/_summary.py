"""Many measures at once: their difference between two scores, and a summary of one."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import DataFrame, Label, Labels, Scores, Seed, Weights
from pnorm._checks.labelled import sides_of_scores
from pnorm.metrics._distinct import Measure
from pnorm.metrics._estimates import Estimate
from pnorm.metrics._first_rows import _drawn, _first, _of_first
from pnorm.metrics._heights import _at_top, _r_max
from pnorm.metrics._merged import ScoreTable, ranked
from pnorm.metrics._rank_sums import _average, _bedroc, _gain
from pnorm.metrics._ranked_list import PartialAuc, estimates
from pnorm.metrics._roc import _auc


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
