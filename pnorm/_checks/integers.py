"""Large integers that would be one number as floats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Array, is_sparse
from pnorm._checks.cells import column_called
from pnorm._checks.frames import column_names, column_of, has_columns

_WHOLE = 2**1023
"""Integers of smaller size are in the range of floats."""


def stay_apart(sides: Sequence[Any], name: str, columns: NDArray[np.intp] | None = None) -> None:
    """Refuse rows in which different integers of a column would become one float."""
    large: dict[int, list[Array]] = {}
    for X in sides:
        for j, values in _whole(X, columns):
            if values.dtype.kind == "O":
                whole = [int(value) for value in values if isinstance(value, (int, np.integer))]
                values = np.array([value for value in whole if abs(value) < _WHOLE], dtype=object)
            if _beyond_exact(values):
                large.setdefault(j, []).append(values)
    for j, parts in large.items():
        kind: Any = parts[0].dtype if len({part.dtype for part in parts}) == 1 else object
        found = np.unique(np.concatenate([part.astype(kind, copy=False) for part in parts]))
        same = np.flatnonzero(np.diff(found.astype(np.float64)) == 0.0)
        if same.size:
            names = next(filter(None, map(column_names, sides)), None)
            raise ValueError(
                f"{name} has {found[same[0]]} and {found[same[0] + 1]} in {column_called(j, names)}, which are one "
                f"number as floats; take an offset off the column first, its least number {found[0]} for instance"
            )


def _whole(X: Any, columns: NDArray[np.intp] | None) -> Iterator[tuple[int, Array]]:
    """Yield the columns of 64-bit integers or of objects; those of an array only if some of its numbers are large."""
    names = column_names(X)
    if names is not None and has_columns(X):
        kinds = list(X.dtypes) if hasattr(X, "dtypes") else None  # for a wide frame, faster than column by column
        for j in range(len(names)) if columns is None else columns.tolist():
            own = str(getattr(column_of(X, j, names), "type", "") if kinds is None else kinds[j]).lower()
            kind = next((kind for kind in ("int64", "uint64", "object") if own.startswith(kind)), None)
            if kind is not None:
                column = column_of(X, j, names)
                drop = [getattr(column, way, None) for way in ("dropna", "drop_nulls", "drop_null")]
                yield j, np.asarray(next(filter(None, drop))(), dtype=kind)
        return
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple)):
        # In a list with fractions, NumPy converts integers to floats.
        if not any(isinstance(value, int) and abs(value) >= 2**53 for value in X[0]):
            return
        X = np.asarray(X, dtype=object)
    if is_sparse(X):
        if X.dtype.kind not in "iu" or X.dtype.itemsize < 8:
            return
        A = X if isinstance(getattr(X, "data", None), np.ndarray) and X.format != "lil" else X.tocoo()
        if _beyond_exact(A.data):
            A = A.tocsc()
            for j in range(A.shape[1]) if columns is None else columns.tolist():
                yield j, A.data[A.indptr[j] : A.indptr[j + 1]]
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        if X.strides[0] == 0:
            X = X[:1]  # one row stands for all if it is broadcast
        if X.dtype.kind != "O" and not _beyond_exact(X):
            return
        for j in range(X.shape[1]) if columns is None else columns.tolist():
            yield j, X[:, j]


def _beyond_exact(A: Array) -> bool:
    """Return whether some integers reach 2**53, beyond which neighbours may be one float."""
    if A.dtype.kind != "O" and (A.dtype.kind not in "iu" or A.dtype.itemsize < 8):
        return False
    return A.size > 0 and bool(A.max() >= 2**53 or A.min() <= -(2**53))
