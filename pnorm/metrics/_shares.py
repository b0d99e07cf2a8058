"""Shares of rows with intervals, and predicted probabilities beside the shares that were observed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from pnorm._checks import Vector
from pnorm.metrics._ranked_list import Estimate

_EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Shares of the rows between which probabilities are compared with what happened; the top is told apart more finely."""

_IN_BIN = 20
"""Rows of such a part, at least."""


def low(x: float, y: float, level: float) -> float:
    """Return the lower bound of Clopper and Pearson on a share, of which x of x + y rows are."""
    return float(betaincinv(x, y + 1, level)) if x else 0.0


def high(x: float, y: float, level: float) -> float:
    """Return the upper one."""
    return float(betaincinv(x + 1, y, 1.0 - level)) if y else 1.0


def share(found: float, n: int, confidence: float) -> tuple[float, float, float]:
    """Return the share that was found of n rows, with the interval of Clopper and Pearson."""
    found = min(found, float(n))  # a sum of parts of rows that tie may round
    level, rest = 0.5 * (1.0 - confidence), n - found
    return found / n, low(found, rest, level), high(found, rest, level)


def of_first_rows(what: str, found: float, k: int, n_pos: int, n: int, confidence: float) -> Estimate:
    """Return a measure of the first k of n rows, with the interval of Clopper and Pearson.

    `what` is ``"precision"``, ``"lift"``, ``"recall"`` or ``"hits"``. Of the k rows, `found` are positive, and `n_pos`
    of all rows. The interval of recall takes `n_pos` as given, and ends at the recall of first rows that are all
    positive. That of lift is that of precision, and takes the share of positives in all rows as given.
    """
    size, factor = (n_pos if what == "recall" else k), {"lift": n / n_pos, "hits": float(k)}.get(what, 1.0)
    _, lower, upper = share(found, size, confidence)
    most = min(1.0, k / n_pos) if what == "recall" else 1.0
    return Estimate(found * factor / size, factor * lower, factor * min(upper, most), confidence)


class Calibration(NamedTuple):
    """Predicted probabilities and what happened, in parts of the rows from low to high."""

    low: Vector
    """The smallest probability of each part."""
    high: Vector
    """The largest."""
    predicted: Vector
    """The mean."""
    rows: NDArray[np.intp]
    """Rows of each part."""
    positives: NDArray[np.intp]
    """Positives among them."""
    share: tuple[Estimate, ...]
    """The share of positives in each part, with the interval of Clopper and Pearson."""


def calibration(pos: Vector, neg: Vector, confidence: float) -> Calibration:
    """Compare probabilities with what happened, in parts of the rows; rows of one probability stay together."""
    if min(pos.min(), neg.min()) < 0.0 or max(pos.max(), neg.max()) > 1.0:
        raise ValueError("probability must be from 0 to 1; pass what pnorm.probability returns")
    x = np.concatenate([pos, neg])
    order = np.argsort(x, kind="stable")
    x, y = x[order], (order < pos.size).astype(np.intp)
    ends = [0]
    for edge in _EDGES[1:]:
        where = int(np.searchsorted(x, x[max(0, math.ceil(edge * x.size) - 1)], side="right"))
        if where - ends[-1] >= _IN_BIN and (x.size - where >= _IN_BIN or where == x.size):
            ends.append(where)
    if len(ends) == 1 or ends[-1] < x.size:
        ends = [*(ends if len(ends) < 2 else ends[:-1]), x.size]
    starts, rows = np.array(ends[:-1]), np.diff(ends)
    hits = np.add.reduceat(y, starts)
    shares = [
        Estimate(*share(k, size, confidence), confidence) for k, size in zip(hits.tolist(), rows.tolist(), strict=True)
    ]
    mean = np.add.reduceat(x, starts) / rows
    return Calibration(x[starts], x[np.array(ends[1:]) - 1], mean, rows, hits, tuple(shares))
