"""Dask collections as partitions of rows, with vectors of one entry per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import dask
import numpy as np

from pnorm import _checks


def sample_of(X: Any, name: str) -> Any:
    """Return sample rows with the columns of X; the values are arbitrary."""
    if not (dask.is_dask_collection(X) and hasattr(type(X), "to_delayed") and hasattr(type(X), "shape")):
        raise TypeError(
            f"{name} must be a Dask array or data frame; got {type(X).__name__}. Use pnorm.train for rows in memory, "
            "or convert them with dask.array.from_array"
        )
    if hasattr(X, "columns"):
        return X._meta_nonempty
    if X.ndim != 2:
        raise ValueError(f"{name} must be a matrix, one row per case; got {X.ndim} dimensions")
    return np.zeros((1, X.shape[1]))


def whole(value: Any) -> Any:
    """Return a task with a value that Dask does not traverse, so that it is sent once."""
    return dask.delayed(value, traverse=False, pure=False)


def declared(X: Any, n: int) -> list[float]:
    """Return the declared numbers of rows of the n partitions; nan if unknown."""
    return [np.nan] * n if hasattr(X, "columns") else [*map(float, X.chunks[0])]


def matched(
    X: Any, vectors: Mapping[str, Any], prefix: str = "", labels_called: str = "label"
) -> tuple[list[Any], list[dict[str, Any]]]:
    """The partitions of rows, and for each its part of vectors with an entry for every row.

    In messages the names of the vectors begin with the prefix, and "label" has the name that the user passed it by.
    """
    called = {what: labels_called if what == "label" else f"{prefix}{what}" for what in vectors}
    dasks = {what: _rechunked(vector, X) for what, vector in vectors.items() if dask.is_dask_collection(vector)}
    rows, parts = _partitions(X), {what: _partitions(vector) for what, vector in dasks.items()}
    if any(len(own) != len(rows) for own in parts.values()):
        # Dask reads few columns of a file in fewer partitions than many, if it may.
        rows, parts = _partitions(X, False), {what: _partitions(vector, False) for what, vector in dasks.items()}
    here = {what: vector for what, vector in vectors.items() if what not in dasks}
    for what, own in list(parts.items()):
        if len(own) == len(rows):
            continue
        if what != "group":
            raise ValueError(
                f"{called[what]} has {len(own)} partitions, and the rows have {len(rows)}. Use the same partitions"
            )
        here[what] = parts.pop(what) and dasks[what].compute()
    if here:
        ends = [0, *np.cumsum(_lengths(X, rows)).tolist()]
        for what, vector in here.items():
            checked = _checked(vector, what, called[what], ends[-1])
            parts[what] = [whole(_some(checked, slice(*span))) for span in pairwise(ends)]
    return rows, [{what: own[k] for what, own in parts.items()} for k in range(len(rows))]


def _rechunked(vector: Any, X: Any) -> Any:
    """Return a Dask vector in the chunks of the rows, if both declare their chunks and have the same length."""
    if not (hasattr(X, "chunks") and hasattr(vector, "chunks") and vector.ndim == 1):
        return vector
    own, rows = vector.chunks[0], X.chunks[0]
    return vector.rechunk((rows,)) if len(own) != len(rows) and sum(own) == sum(rows) else vector


def _checked(vector: Any, what: str, called: str, size: int) -> Any:
    """Check a vector in memory that has an entry for every row."""
    if what in ("label", "group"):
        codes, labels = _checks.labels(vector, called, size)
        return _checks.Coded(labels, codes)
    return _checks.weights(vector, called, size)


def _some(values: Any, rows: slice) -> Any:
    return _checks.Coded(values.values, values.codes[rows]) if isinstance(values, _checks.Coded) else values[rows]


def _partitions(X: Any, optimize: bool = True) -> list[Any]:
    """The partitions of rows, each with all columns."""
    full = X.rechunk({1: -1}) if getattr(X, "ndim", 1) == 2 and not hasattr(X, "columns") else X
    return list(np.ravel(full.to_delayed(optimize_graph=optimize)))


def _lengths(X: Any, parts: Sequence[Any]) -> Sequence[int]:
    """Numbers of rows of the partitions."""
    lengths: Sequence[Any] = X.chunks[0] if hasattr(X, "chunks") else [np.nan]
    if np.isnan(np.array(lengths, dtype=np.float64)).any():
        lengths = dask.compute(*[dask.delayed(_length, pure=False)(part) for part in parts])
    return lengths


def _length(X: Any) -> int:
    return int(X.shape[0])
