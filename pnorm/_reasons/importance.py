"""Importance of columns: the range of their part of the score, and the loss without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pnorm import _checks
from pnorm._categories import tell
from pnorm._checks import Coefficients, DataFrame, Rows, Vector, Weights, sheet
from pnorm._reasons.explain import parts_of
from pnorm.metrics._by_name import COSTS, LARGER, SMALLER, named, scorer
from pnorm.rankers import WeakRankers, as_rankers

_ROWS = 30
"""Columns that are printed."""


@dataclass(frozen=True, eq=False, repr=False)
class Importance:
    """The importance of each column for a list. `pnorm.importance` returns it.

    It prints, also in a notebook, as a table with the largest loss first.

    Attributes
    ----------
    names : tuple of str
        The columns, as in ``H.column_names``.
    ranges : ndarray, shape (columns,)
        Largest minus smallest part of the score of the column, over all rows.
    metric : str
        The measure of the list.
    value : float
        The measure with all columns.
    without : ndarray, shape (columns,)
        The measure without each column.
    losses : ndarray, shape (columns,)
        How much worse the measure is without the column; negative if it is better.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
    >>> found = pnorm.importance(data.pos, data.neg, None, lam, "auc")
    >>> found.metric, round(found.value, 4), found.losses.round(3)
    ('auc', 0.7057, array([-0.001, -0.014, -0.001, -0.015,  0.038, -0.014, -0.001, -0.015,
           -0.001]))
    >>> found.to_frame().shape
    (9, 3)
    """

    names: tuple[str, ...]
    ranges: Vector
    metric: str
    value: float
    without: Vector
    losses: Vector

    def to_frame(self) -> DataFrame:
        """Return the table as a data frame of pandas.

        Returns
        -------
        DataFrame
            The columns ``range``, ``without`` and ``loss``; the index is `names`.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        table = {"range": self.ranges, "without": self.without, "loss": self.losses}
        return sheet.frame(table, index=list(self.names))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        order = np.lexsort([-self.ranges, -self.losses])[:_ROWS]
        columns = [(self.ranges, False), (self.without, False), (self.losses, True)]
        texts = [list(map(sheet.same_digits(values, sign), values[order].tolist())) for values, sign in columns]
        rows = [list(row) for row in zip([self.names[c] for c in order], *texts, strict=True)]
        left = len(self.names) - order.size
        note = f"{self.metric} with all columns: {self.value:.4g}" + (f"; {left} more columns" if left else "")
        return ["column", "range", "without", "loss"], rows, note

    def __str__(self) -> str:
        head, rows, note = self._table()
        return f"{sheet.plain(head, rows)}\n{note}"

    def __repr__(self) -> str:
        return f"<Importance of {len(self.names)} columns for {self.metric}>"

    def _repr_html_(self) -> str:
        head, rows, note = self._table()
        return sheet.as_html(head, rows, note=note)


@_checks.takes_no_model("feature_importances_", "pnorm.importance(pos, neg, model.H, model.lam)")
def importance(
    pos: Rows,
    neg: Rows,
    H: WeakRankers,
    lam: Coefficients,
    metric: str | Callable[..., float] = "partial_auc",
    *,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    n_threads: int | None = None,
) -> Importance:
    """Compute how much a measure of the list loses without each column.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things where the rankers are callables
        The positive rows.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    metric : str or callable
        A measure of a list, by its name or as a function of ``(f_pos, f_neg)``. As in `cross_validate`; the names are
        partial_auc, positives_at_top, average_precision, bedroc, discounted_gain_at_top, enrichment_factor, auc and
        r_max. For a function, larger values are better, except for those of `pnorm.metrics`, whose direction is known.
        With weights, it gets them as ``pos_weight`` and ``neg_weight``.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `train`. The measure must take weights.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `score`.

    Returns
    -------
    Importance
        For each column its range, the measure without it, and the loss.

    Raises
    ------
    ValueError, TypeError
        If the rows do not fit the rankers, there is no such measure, or it takes no weights.

    Warns
    -----
    UnknownLevelWarning
        If values are no levels that `pnorm.rankers.categories` knows. As in `score`.

    See Also
    --------
    explain : The same for single rows.

    Notes
    -----
    Without a column means that its part of the score is the same for all rows. The other coefficients stay the same;
    nothing is trained again. If two columns contain the same information, each may have a small loss, because the other
    one remains. A model that is trained without the column may do better than the measure without it. Rows that were
    not trained on give honest figures.

    The cost is one pass over each column, and the measure once for each; memory is twice the rows times the columns.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
    >>> found = pnorm.importance(data.pos, data.neg, None, lam, "auc")
    >>> found.names[found.losses.argmax()], float(found.losses.max().round(3))
    ('x4', 0.038)
    """
    n_threads = _checks.threads(n_threads)
    rankers = as_rankers(H, pos, "pos")
    lam = _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker")
    n_pos = _checks.n_rows(pos, "pos")
    counted = _checks.case_weights(n_pos, _checks.n_rows(neg, "neg"), pos_weight, neg_weight)
    measure, name = named(metric, {**LARGER, **SMALLER}, counted)
    sides = []
    for X, side in ((pos, "pos"), (neg, "neg")):
        with _checks.rows_called(side):
            parts, seen = parts_of(X, rankers, lam, n_threads)
        tell(seen, strict=False)
        sides.append(parts)
    sides = [of_side.T for of_side in counted.select(*[of_side.T for of_side in sides])]
    n_pos, parts = sides[0].shape[1], np.hstack(sides)
    worth = scorer(measure, name, counted)
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = np.ptp(parts, axis=1)
        # Sums of the columns before and after one: rows that are tied without it stay so, which differences would not.
        after = np.zeros((len(parts) + 1, parts.shape[1]))
        np.cumsum(parts[::-1], axis=0, out=after[1:])
        after = after[::-1]
    if not (np.isfinite(after).all() and np.isfinite(ranges).all()):
        raise OverflowError("a score is more than a double holds; scale the coefficients (lam) down")
    value, before = worth(after[0, :n_pos], after[0, n_pos:]), np.zeros(parts.shape[1])
    without = np.empty(len(parts))
    for c, part in enumerate(parts):
        f = before + after[c + 1]
        without[c] = worth(f[:n_pos], f[n_pos:])
        before += part
    better = -1.0 if measure in COSTS else 1.0
    return Importance(rankers.column_names, ranges, name, value, without, better * (value - without))
