"""Records and data frames, and their columns by name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import text
from pnorm._checks.arrays import Array, is_columns
from pnorm._checks.scalars import count, shown
from pnorm._checks.values import Names, listed, objects_to_floats


def is_records(X: object) -> bool:
    """Return whether X is a list of dictionaries, one for each row, as `json.load` gives it."""
    return isinstance(X, (list, tuple)) and is_columns(next(iter(X), None))


def from_records(X: Any, name: str, more: Iterable[Any] = ()) -> Any:
    """Return records as a dictionary of columns; return anything else unchanged.

    The columns are the keys of all rows, in the order in which they first come, and then the names in `more`, of which
    there must be one among the keys. What a row lacks is None, a missing value.
    """
    if not is_records(X):
        return X
    for i, row in enumerate(X):
        if not is_columns(row):
            raise TypeError(
                f"{name} has {shown(row)} ({type(row).__name__}) as row {i}, and row 0 is a dictionary; every row must "
                "be a dictionary from the names of columns to values"
            )
    keys = dict.fromkeys(itertools.chain.from_iterable(X))
    if not keys:
        raise ValueError(f"{name} has no columns: all its rows are empty dictionaries")
    own, expected = set(map(str, keys)), dict.fromkeys(map(str, more))
    if expected and own.isdisjoint(expected):
        raise ValueError(
            f"{name} has none of the columns {text.first(list(expected), 4, shown)}; the keys of its rows are "
            f"{text.first(list(keys), 4, shown)}"
        )
    keys |= dict.fromkeys([key for key in expected if key not in own])
    return {key: [row.get(key) for row in X] for key in keys}


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame or table (pandas, polars, pyarrow); None if X has none."""
    if type(X) is np.ndarray:
        return None
    names: Any = getattr(X, "columns", None)
    if hasattr(names, "tolist"):  # pandas
        names = names.tolist()
    elif hasattr(X, "column_names"):  # pyarrow: .columns are the data
        names = X.column_names
    return None if names is None else tuple([str(name) for name in names])


def has_columns(X: Any) -> bool:
    """Return whether X is a frame of pandas, pyarrow or polars, whose columns can be read one by one."""
    return hasattr(X, "iloc") or hasattr(X, "column_names") or hasattr(X, "to_series")


def frame_as_array(X: Any) -> Array | None:
    """Return a frame that is one array of floats as that array; None for other frames."""
    A: Array
    if hasattr(X, "iloc"):
        if 0 in X.shape:
            return None
        first = X.iloc[:1] if len(X) > 1 else X  # shares memory with an array if and only if all the rows do
        column = first.iloc[:, 0]
        if column.dtype not in (np.float32, np.float64):
            return None
        A = first.to_numpy()
        return X.to_numpy() if np.shares_memory(A, column.to_numpy()) else None
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
        raise TypeError(f"the column {shown(names[j])} cannot be read from {type(X).__name__}: {error}") from error


def _type_of(column: Any) -> str:
    """Return the type of the values of a column of a frame, in small letters."""
    dtype = getattr(column, "dtype", None)
    return str(column.type if dtype is None else dtype).lower()


def _is_half(column: Any) -> bool:
    """Return whether the values of a column of a frame are floats of half the precision, or a quarter."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "f" and dtype.itemsize <= 4
    return _type_of(column) in ("float", "halffloat", "float16", "float32")  # the first two are Arrow's


def columns_to_floats(
    sources: Sequence[Any], size: int, columns: NDArray[np.intp], name: str, names: Names, missing: bool | None
) -> Array:
    """Return columns of a frame as one array of floats; it is filled column by column, which saves memory."""
    half = sources and all([_is_half(source) for source in sources])
    out = np.empty((size, columns.size), np.float32 if half else np.float64, order="F")
    for k, source in enumerate(sources):
        start = 0
        for chunk in [source] if hasattr(source, "iloc") else getattr(source, "chunks", [source]):
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
            raise ValueError(f"{name} has {len(out)} rows, but column {columns[k]} has {start}")
    return out


def _values(column: Any, missing: bool | None) -> Array:
    """Return a column, or a chunk of one, as an array, without a copy if possible."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype):
        return np.asarray(column.to_numpy() if hasattr(column, "iloc") else column)
    if hasattr(column, "null_count") and hasattr(column, "to_pylist"):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if getattr(dtype, "kind", "O") in tuple("buif"):  # pandas' own
        if missing or not column.hasnans:
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=math.nan))
        return np.asarray(column, dtype=object)
    return np.asarray(column)


def same_names(expected: Names, found: Names, name: str) -> None:
    """Refuse a data frame whose column names, or their order, differ from those expected."""
    if expected is None or found is None or tuple(expected) == tuple(found):
        return
    j = next(j for j, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b)
    raise ValueError(
        f"{name} has the column {shown(found[j])} in the place of {shown(expected[j])}; bring its columns into the "
        f"order of those before: {name}[[{text.first(expected, 4, shown)}]]"
    )


def pick(X: Any, expected: Names, name: str) -> Any:
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
        others = [column for column in found if column not in set(expected)]
        near = dict.fromkeys([of for column in missing[:4] for of in text.nearest(column, others)])
        hint = f"; did you mean {text.first(list(near), 4, shown)}?" if near else ""
        raise ValueError(
            f"{name} lacks the column{'s' if len(missing) > 1 else ''} {text.first(missing, 4, shown)} "
            f"which the weak rankers need{hint}"
        )
    return [place[column] for column in expected]


def monotone(given: Any, labels: Sequence[str], name: str) -> dict[int, int]:
    """Return the signs, 1 or -1, of columns that are given by name or number; `labels` are those that `name` has."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"monotone must be a mapping from a column to 1 or -1; got {shown(given)}")
    signs: dict[int, int] = {}
    place_of = finder(labels, name, "monotone")
    for column, sign in given.items():
        place = place_of(column)
        try:
            known = not isinstance(sign, (bool, np.bool_)) and sign in (1, -1, 0)
        except (TypeError, ValueError):
            known = False
        if not known:
            raise ValueError(
                f"monotone[{column!r:.60}] must be 1 (scores never fall with the column), -1 (they never rise) or 0; "
                f"got {shown(sign)}"
            )
        if signs.setdefault(place, int(sign)) != sign:
            raise ValueError(f"monotone has two signs for column {place}, {shown(labels[place])}")
    return {place: signs[place] for place in sorted(signs) if signs[place]}


def finder(labels: Sequence[str], name: str, argument: str) -> Callable[[Any], int]:
    """Return a function of a column that an argument has by name or number, which finds its place."""
    at: dict[str, int] = {}
    twice = {label for place, label in enumerate(labels) if at.setdefault(label, place) != place}

    def place_of(column: Any) -> int:
        if not isinstance(column, str):
            place = count(column, f"a column of {argument}", 0)
            if place >= len(labels):
                raise ValueError(f"{argument} has column {place}, counted from 0, and {name} has {len(labels)} columns")
            return place
        if column not in at:
            near = text.nearest(column, labels)
            hint = f"; did you mean {near[0]!r:.60}?" if near else f"; its columns are {text.first(labels, 8, shown)}"
            raise ValueError(f"{argument} names the column {column!r:.60}, which is not in {name}{hint}")
        if column in twice:
            raise ValueError(
                f"{argument} names the column {column!r:.60}, and {name} has two of this name; use a number"
            )
        return at[column]

    return place_of
