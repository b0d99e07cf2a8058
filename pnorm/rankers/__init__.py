"""Weak rankers: functions from rows of data to outputs h_1(x), ..., h_n(x).

A collection has `names` and a length. Its items are callables, one per weak ranker. `Rankers.evaluate` computes the
matrix of all outputs. Collections can be added, and written to JSON. `pnorm.train` and `pnorm.score` take a
collection, a sequence of callables, or None for the columns of the data.
"""

from __future__ import annotations

from typing import Any

# The private names are for other modules.
from pnorm import _checks
from pnorm._categories import UnknownLevelWarning
from pnorm.rankers._base import (
    Rankers,
    Signs,
    WeakRanker,
    WeakRankers,
    _Callables,
    _Closed,
    _Curve,
    _Levels,
    _Union,
    callables,
    closed,
    from_dict,
    names_of,
)
from pnorm.rankers._columns import _Columns, _Normalized, columns, normalized
from pnorm.rankers._from_table import from_table
from pnorm.rankers._levels import _Categories, categories
from pnorm.rankers._notes import TableWarning
from pnorm.rankers._thresholds import _Thresholds, quantile_thresholds, thresholds

__all__ = [
    "Rankers",
    "TableWarning",
    "UnknownLevelWarning",
    "WeakRanker",
    "callables",
    "categories",
    "closed",
    "columns",
    "from_dict",
    "from_table",
    "normalized",
    "quantile_thresholds",
    "thresholds",
]


def as_rankers(H: Any, X: Any, name: str) -> Rankers:
    """Return H as a collection; None means the columns of X, which messages call `name`."""
    if H is None:
        width, found = _checks.width(X, name), _checks.column_names(X)
        return _Columns(names_of(None, found, width), width, found)
    return H if isinstance(H, Rankers) else callables(H)


def __dir__() -> list[str]:
    return __all__
