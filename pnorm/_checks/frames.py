"""Data frames and tables of pandas, polars and Arrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import text
from pnorm._checks.arrays import Array, n_rows
from pnorm._checks.cells import listed, objects_to_floats
from pnorm._checks.scalars import shown


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame or table (pandas, polars, pyarrow); None if X has none."""
    names = getattr(X, "columns", None)
    if hasattr(X, "column_names"):  # pyarrow: .columns are the data
        names = X.column_names
    return None if names is None else tuple(str(name) for name in names)


def has_columns(X: Any) -> bool:
    """Return whether X is a frame of pandas, pyarrow or polars, whose columns can be read one by one."""
    return hasattr(X, "iloc") or hasattr(X, "column_names") or hasattr(X, "to_series")


def frame_as_array(X: Any) -> Array | None:
    """Return a frame that is one array of floats as that array; None for other frames."""
    A: Array
    if hasattr(X, "iloc"):
        first = X.iloc[:1]  # shares memory with an array if and only if all the rows do
        A = np.asarray(first)
        if A.dtype not in (np.float32, np.float64) or A.size == 0:
            return None
        if not np.shares_memory(A, first.iloc[:, 0].to_numpy()):
            return None
        return np.asarray(X)
    if not hasattr(X, "to_series"):  # the columns of an Arrow table are separate arrays
        return None
    try:
        A = X.to_numpy(allow_copy=False)
    except RuntimeError:
        return None
    return A if A.dtype in (np.float32, np.float64) else None


def column_of(X: Any, j: int, names: Sequence[str]) -> Any:
    """Return a column of a frame: a pandas or polars series, or an Arrow array."""
    try:
        if hasattr(X, "iloc"):
            column = X.iloc[:, j]
            return column.array.__arrow_array__() if hasattr(column.dtype, "pyarrow_dtype") else column
        if hasattr(X, "column_names"):
            return X.column(j)
        return X.to_series(j) if hasattr(X, "to_series") else X[names[j]]
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise TypeError(f"the column {shown(names[j])} cannot be had of {type(X).__name__}: {error}") from error


def columns_to_floats(
    X: Any, columns: NDArray[np.intp], name: str, names: Sequence[str] | None, missing: bool | None
) -> Array:
    """Return columns of a frame as one array of floats; it is filled column by column, which saves memory."""
    sources = [column_of(X, int(j), names or ()) for j in columns]
    kinds = {str(getattr(source, "type", None) or source.dtype).lower() for source in sources}
    half = kinds and kinds <= {"float", "halffloat", "float16", "float32"}  # the first two are Arrow's
    out = np.empty((n_rows(X, name), columns.size), np.float32 if half else np.float64, order="F")
    for k, source in enumerate(sources):
        start = 0
        for chunk in getattr(source, "chunks", [source]):
            values = _values(chunk, missing)
            if values.dtype.kind not in "buif":
                objects = np.empty((len(out), 1), object)
                whole = values.dtype.kind == "O" and len(values) == len(out)
                objects[:, 0] = values if whole else listed(source)
                values, start = objects_to_floats(objects, name, columns[[k]], names, missing)[:, 0], 0
            out[start : start + len(values), k] = values
            start += len(values)
            if start == len(out):
                break
        if start < len(out):
            raise ValueError(f"{name} has {len(out)} rows by its own account, and {start} in column {columns[k]}")
    return out


def _values(column: Any, missing: bool | None) -> Array:
    """Return a column, or a chunk of one, as an array, without a copy if possible."""
    if hasattr(column, "null_count") and hasattr(column, "to_pylist"):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    dtype = getattr(column, "dtype", None)
    if not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "O") in tuple("buif"):  # pandas' own
        if missing or not column.hasnans:
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=math.nan))
        return np.asarray(column, dtype=object)
    return np.asarray(column)


def same_names(expected: Sequence[str] | None, found: Sequence[str] | None, name: str) -> None:
    """Refuse a data frame whose column names, or their order, differ from those expected."""
    if expected is None or found is None or tuple(expected) == tuple(found):
        return
    j = next(j for j, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b)
    raise ValueError(
        f"{name} has the column {shown(found[j])} in the place of {shown(expected[j])}; bring its columns into the "
        f"order of those before: {name}[[{text.first(expected, 4, shown)}]]"
    )


def pick(X: Any, expected: Sequence[str] | None, name: str) -> Any:
    """Return the expected columns of a data frame, by name; return anything else unchanged."""
    found = column_names(X)
    if expected is None or found is None or tuple(expected) == found:
        return X
    chosen = places(found, expected, name)
    if hasattr(X, "iloc"):
        return X.iloc[:, chosen]
    return X.select([found[place] for place in chosen])


def places(found: Sequence[str], expected: Sequence[str], name: str) -> list[int]:
    """Return the positions of the expected columns in a frame."""
    if len(set(found)) < len(found):
        raise ValueError(f"{name} has two columns of one name among {', '.join(map(shown, found[:8]))}; rename one")
    place = {column: j for j, column in enumerate(found)}
    missing = [column for column in expected if column not in place]
    if missing:
        raise ValueError(
            f"{name} lacks the column{'s' if len(missing) > 1 else ''} {text.first(missing, 4, shown)} "
            "which these scores are made from"
        )
    return [place[column] for column in expected]
