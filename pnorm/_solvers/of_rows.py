"""The reductions by which a problem learns of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.reductions import FormedWeights, Rows, WeightedRows, reduction
from pnorm._storage.double_double import compensated_dot
from pnorm._threads import then


@reduction("list")
def stats(rows: Rows) -> list[Any]:
    """Statistics of a part, in a list; the merged list has those of all parts."""
    if rows.n == 0:
        return [None]
    table = rows.table
    size = 0.0 if rows.log_c is None else float(np.abs(rows.log_c).max())
    return [(rows.n, table.low, table.high, size, table.counts, rows.seen)]


@reduction("rows")
def scores(rows: Rows, lam: Vector) -> Any:
    """Pass: the scores H lam."""
    return rows.table.combine(lam)


@reduction("rows", "rows")
def precise_scores(rows: Rows, lam: Vector) -> tuple[Vector, Vector]:
    """Rounded scores, and the rounding errors."""
    return compensated_dot(rows.table.blocks(), lam)


@reduction("min", "max")
def extremes(rows: Rows, lam: Vector) -> tuple[float, float]:
    """Smallest and largest score."""
    f = rows.scores(lam)
    return float(f.min()), float(f.max())


@reduction("rows")
def is_level(rows: Rows, lam: Vector, level: Vector) -> Any:
    """Return which rows have the score of their group's level."""
    return rows.is_level(lam, level)


@reduction("rows")
def column(rows: Rows, j: int, shift: float) -> Any:
    """Pass: the outputs of one ranker minus a shift."""
    h = np.empty(rows.n)
    return then(rows.table.column(j, shift, h), lambda _: h)


@reduction("max")
def rounding_of_scores(rows: Rows, lam: Vector, size: Vector) -> float:
    """Bound on the rounding error of the scores."""
    return float(rows.table.rounding(lam, size))


@reduction("sum")
def totals(rows: WeightedRows) -> Any:
    """Pass: totals of the weights, which determine the sums of all rankers."""
    table = rows.table
    return then(table.tally(rows.total), table.totals)


@reduction("min", "max")
def ratios(rows: WeightedRows, old: FormedWeights) -> tuple[float, float]:
    """Smallest and largest ratio of weights."""
    return _ratios(old.on(rows.rows).total, rows.total)


def _ratios(old: Vector, new: Vector) -> tuple[float, float]:
    ratio = new / np.maximum(old, 1e-290)
    return float(ratio.min()), float(ratio.max())
