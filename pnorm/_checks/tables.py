"""Tables of rows: matrices, dense and sparse, and data frames of pandas, polars and Arrow."""

from __future__ import annotations

import datetime
import decimal
import itertools
import math
import numbers
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import text
from pnorm._checks.arrays import (
    Array,
    as_array,
    is_columns,
    is_sparse,
    n_rows,
    numbered,
    refuse_masked,
    shape_of,
    summable,
)
from pnorm._checks.records import record
from pnorm._checks.scalars import count, shown
from pnorm._core import _dense


@dataclass(frozen=True, eq=False)
class Coded(Sequence[Any]):
    """A column as its values, in the order in which rows first have them, and the number of the value of each row.

    Two of the values may still be equal: 1 and the decimal number 1.0 of a pandas category, for instance.
    """

    values: list[Any]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, values: Any) -> Coded:
        """Number the distinct values; two values are equal if they are one key of a dictionary."""
        number: dict[Any, int] = defaultdict(itertools.count().__next__)
        codes = np.fromiter(map(number.__getitem__, values), np.intp, len(values))
        return cls(list(number), codes)

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, row: Any) -> Any:
        return self.values[self.codes[row]]

    def __iter__(self) -> Iterator[Any]:
        return map(self.values.__getitem__, self.codes.tolist())


Values = list[Any] | Array | Coded
"""Values of a column: of any kind in a list, numbers in an array, or distinct values and their codes."""

Names = Sequence[str] | None
"""Names of the columns of a table, if it has any."""

_WHOLE = 2**1023
"""Integers of smaller size are in the range of floats."""

# Single values --------------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """Return whether a value of a table means a missing one: None, NaN, pandas' NA and NaT."""
    if type(value) is str:
        return False
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (float, np.floating, np.datetime64)):
        return bool(value != value)
    try:
        return isinstance(value, numbers.Number) and bool(value != value)
    except ArithmeticError:  # Decimal's nan that signals
        return True


def listed(column: Any) -> list[Any]:
    """Return the values of a sequence as a list of Python objects."""
    for convert in ("tolist", "to_pylist"):
        if hasattr(column, convert):
            return list(getattr(column, convert)())
    return list(column)


def is_date(value: Any) -> bool:
    return isinstance(value, (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64))


def is_numeral(word: str | bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def column_called(column: Any, names: Names) -> str:
    """Return the number of a column, and its name if it has one, for a message."""
    return f"column {column}" + (f" ({shown(names[column])})" if names else "")


def cell(row: Any, column: Any, names: Names) -> str:
    """Return the place of a value, for a message; the row is None where it is not known."""
    return (f"row {row}, " if row is not None else "") + column_called(column, names)


def not_finite(value: Any, name: str, row: Any, column: Any, names: Names, missing: bool | None) -> ValueError:
    hint = ", or make the weak rankers with missing='own'" if missing is False and is_missing(value) else ""
    return ValueError(
        f"{name} has {value} at {cell(row, column, names)}; every value must be finite: fill in or drop missing "
        f"values{hint}"
    )


def no_real(value: Any, name: str, row: Any, column: Any, names: Names, missing: bool | None) -> TypeError:
    return TypeError(
        f"{name} has {shown(value)} ({type(value).__name__}) at {cell(row, column, names)}; every value must be a real "
        f"number: {advice(is_date(value), missing)}"
    )


def advice(date: bool, missing: bool | None) -> str:
    """Return advice for a message on a column of dates or of other values that are not numbers.

    Where no value may be missing (`missing` is None), the only advice for the others is to encode the column.
    """
    if date:
        return (
            "pass the days since a fixed one in place of dates, such as "
            "(dates - np.datetime64('2000-01-01')) / np.timedelta64(1, 'D'), and days in place of durations"
        )
    if missing is None:
        return "encode the column as numbers (pnorm.rankers.from_table makes weak rankers of text)"
    return "make pnorm.rankers.categories of the column, encode it as numbers, or pass callables as H"


def objects_to_floats(A: Array, name: str, columns: NDArray[np.intp], names: Names, missing: bool | None) -> Array:
    """Convert real numbers of any type to floats; refuse other objects. Messages number the columns by `columns`."""
    if A.dtype.kind in "US" and A.size:  # NumPy converts numbers next to text to text; these are not the fault
        i, j = next((at for at, word in np.ndenumerate(A) if not is_numeral(word)), (0, 0))
        raise no_real(A[i, j].item(), name, i, columns[j], names, missing)
    if A.dtype.kind not in "OUS":
        raise TypeError(f"{name} must hold real numbers; got dtype {A.dtype}: {advice(A.dtype.kind in 'mM', missing)}")
    for j, column in enumerate(columns):
        for i, value in enumerate(A[:, j]):
            if is_missing(value):
                if not missing:
                    raise not_finite(value, name, i, column, names, missing)
            elif not isinstance(value, (numbers.Real, np.bool_, decimal.Decimal)):
                raise no_real(value, name, i, column, names, missing)
    if missing:
        A = np.array([[math.nan if is_missing(value) else value for value in row] for row in A])
    try:
        return A.astype(np.float64)
    except OverflowError:
        raise ValueError(f"{name} has a whole number that is larger than a float can be") from None


def python(value: Any) -> Any:
    """Convert a NumPy scalar or a decimal number to a Python number; leave dates and durations alone."""
    if isinstance(value, np.generic) and not is_date(value):
        return value.item()
    if not isinstance(value, decimal.Decimal) or not value.is_finite():
        return value
    near = float(value)
    return int(value) if math.isfinite(near) and value == value.to_integral_value() else near


def level(
    value: Any, name: str, row: int, column: int, missing: bool, names: Names = None, absent: bool = False
) -> Any:
    """Return a level of a category: a string, a number, or None for a missing value where that is allowed.

    `absent` says that a text stands for a missing value.
    """
    if absent or is_missing(value):
        if not missing:
            got = shown(value) if absent else value
            raise ValueError(
                f"{name} has {got} at {cell(row, column, names)}; fill it in, or pass missing='own' to make it a level"
            )
        return None
    value = python(value)
    if isinstance(value, (int, float)) and not abs(value) <= sys.float_info.max:
        raise ValueError(
            f"{name} has {shown(value)} at {cell(row, column, names)}; a level that is a number must be finite"
        )
    if not isinstance(value, (str, bool, int, float)):
        hint = "; make the dates text, with str for instance" if is_date(value) else ""
        raise TypeError(
            f"{name} has {shown(value)} ({type(value).__name__}) at {cell(row, column, names)}; the argument must be a "
            f"table in which every value is a string, a number or a boolean{hint}"
        )
    return value


# Records --------------------------------------------------------------------------------------------


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


# Data frames ----------------------------------------------------------------------------------------


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
    for column, sign in given.items():
        place = place_of(column, labels, name, "monotone")
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


def place_of(column: Any, labels: Sequence[str], name: str, argument: str) -> int:
    """Return the place of a column that an argument has by name or number."""
    if not isinstance(column, str):
        place = count(column, f"a column of {argument}", 0)
        if place >= len(labels):
            raise ValueError(f"{argument} has column {place}, counted from 0, and {name} has {len(labels)} columns")
        return place
    found = [place for place, label in enumerate(labels) if label == column]
    if not found:
        near = text.nearest(column, labels)
        hint = f"; did you mean {near[0]!r:.60}?" if near else f"; its columns are {text.first(labels, 8, shown)}"
        raise ValueError(f"{argument} names the column {column!r:.60}, which is not in {name}{hint}")
    if len(found) > 1:
        raise ValueError(f"{argument} names the column {column!r:.60}, and {name} has two of this name; use a number")
    return found[0]


# Large integers that would be one number as floats --------------------------------------------------


def stay_apart(
    sides: Sequence[Any],
    name: str,
    columns: NDArray[np.intp] | None = None,
    sources: Sequence[Any] | None = None,
) -> None:
    """Refuse rows in which different integers of a column would become one float.

    `sources` are the columns of a frame, if they are known already.
    """
    large: dict[int, list[Array]] = {}
    for X in sides:
        for j, values in _whole(X, columns, sources):
            if values.dtype.kind == "O":
                whole = [int(value) for value in values if isinstance(value, (int, np.integer))]
                values = np.array([value for value in whole if abs(value) < _WHOLE], dtype=object)
            if beyond_exact(values):
                large.setdefault(j, []).append(values)
    for j, parts in large.items():
        kind: Any = parts[0].dtype if len({part.dtype for part in parts}) == 1 else object
        found = np.unique(np.concatenate([part.astype(kind, copy=False) for part in parts]))
        same = np.flatnonzero(np.diff(found.astype(np.float64)) == 0.0)
        if same.size:
            names = next(filter(None, map(column_names, sides)), None)
            raise ValueError(
                f"{name} has {found[same[0]]} and {found[same[0] + 1]} in {column_called(j, names)}, which are one "
                f"number as floats; subtract an offset from the column first, such as its smallest number {found[0]}"
            )


def _whole(
    X: Any, columns: NDArray[np.intp] | None, sources: Sequence[Any] | None = None
) -> Iterator[tuple[int, Array]]:
    """Yield the columns of 64-bit integers or of objects; those of an array only if some of its numbers are large."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return
    names = column_names(X)
    if names is not None and has_columns(X):
        numbers = range(len(names)) if columns is None else columns.tolist()
        if sources is not None:
            own = [_type_of(column) for column in sources]
        elif hasattr(X, "dtypes"):  # for a wide frame, faster than column by column
            kinds = list(X.dtypes)
            own = [str(kinds[j]).lower() for j in numbers]
        else:
            own = [_type_of(column_of(X, j, names)) for j in numbers]
        for k, j in enumerate(numbers):
            kind = next((kind for kind in ("int64", "uint64", "object") if own[k].startswith(kind)), None)
            if kind is not None:
                column = column_of(X, j, names) if sources is None else sources[k]
                if not isinstance(getattr(column, "dtype", None), np.dtype):
                    drop = [getattr(column, way, None) for way in ("dropna", "drop_nulls", "drop_null")]
                    column = next(filter(None, drop))()
                yield j, np.asarray(column, dtype=kind)
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
        if beyond_exact(A.data):
            A = A.tocsc()
            for j in range(A.shape[1]) if columns is None else columns.tolist():
                yield j, A.data[A.indptr[j] : A.indptr[j + 1]]
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        if X.strides[0] == 0:
            X = X[:1]  # one row stands for all if it is broadcast
        if X.dtype.kind != "O" and not beyond_exact(X):
            return
        for j in range(X.shape[1]) if columns is None else columns.tolist():
            yield j, X[:, j]


def beyond_exact(A: Array) -> bool:
    """Return whether some integers reach 2**53, beyond which neighbours may be one float."""
    if A.dtype.kind != "O" and (A.dtype.kind not in "iu" or A.dtype.itemsize < 8):
        return False
    return A.size > 0 and bool(A.max() >= 2**53 or A.min() <= -(2**53))


# Matrices -------------------------------------------------------------------------------------------


@record(frozen=True, eq=False)
class Some:
    """Columns of a user's rows: numbers whose values are not checked yet."""

    A: Array
    """The columns, and maybe others, in any layout; any real dtype."""
    at: NDArray[np.intp]
    """Their positions in A."""
    width: int
    """The number of columns of the user's rows."""
    name: str
    columns: NDArray[np.intp]
    """Their numbers in the user's rows."""
    names: Names
    missing: bool | None

    def check(self) -> None:
        """Refuse values that are not finite; the message names the first row that has one."""
        found = []
        for k, j in enumerate(self.at):
            wrong = np.isinf(self.A[:, j]) if self.missing else ~np.isfinite(self.A[:, j])
            if wrong.any():
                found.append((int(np.argmax(wrong)), k))
        if found:
            row, k = min(found)
            raise not_finite(self.A[row, self.at[k]], self.name, row, self.columns[k], self.names, self.missing)


def matrix(X: Any, name: str, missing: bool | None = None, apart: bool = True) -> Any:
    """Return X as a finite two-dimensional matrix of floats; with `missing`, NaN may stand for a missing value.

    None says that missing values could not be allowed, which False says they could.

    NumPy arrays of float32 and float64 that are contiguous in either order, and frames that are such an array,
    come back as they are, without a copy; half precision becomes float32, everything else float64. Other frames
    are copied once, column by column. Sparse input comes back as CSC.
    """
    if is_sparse(X):
        return sparse_to_floats(X, name, missing)
    columns = some(X, name, missing, apart=apart)
    if columns.width == 0:
        raise ValueError(f"{name} has no columns; got shape {columns.A.shape}")
    A = floats(columns.A)
    if not (A.flags.aligned and (A.flags.c_contiguous or A.flags.f_contiguous)):
        A = np.array(A, order="C")
    if not _dense.finite(A.ravel("K")):
        columns.check()
    return A


def some(X: Any, name: str, missing: bool | None = None, columns: Any = None, apart: bool = True) -> Some:
    """Return columns of a dense X by their numbers, or all; other columns are neither checked nor converted.

    `apart` asks that different whole numbers of a column stay different.
    """
    refuse_masked(X, name)
    size = n_rows(X, name)
    names = column_names(X)
    lies = frame_as_array(X) if names is not None else None
    converted = names is not None and lies is None and has_columns(X)
    A = lies if lies is not None else np.empty((1, len(names or ()))) if converted else as_array(X, name)
    if A.ndim != 2:
        raise _no_table(A, name)
    if len(A) != size and not converted:
        raise ValueError(f"{name} has length {size}, but contains {len(A)} rows")
    width = A.shape[1]
    chosen = np.arange(width) if columns is None else np.asarray(columns, dtype=np.intp)
    at = chosen
    sources = [column_of(X, j, names or ()) for j in chosen.tolist()] if converted else None
    if lies is None and apart and size > 1:
        stay_apart([X if converted or A.dtype.kind == "f" else A], name, chosen, sources)
    if sources is not None:
        A, at = columns_to_floats(sources, size, chosen, name, names, missing), np.arange(chosen.size)
    elif A.dtype.kind not in "buif":
        A, at = objects_to_floats(A[:, chosen], name, chosen, names, missing), np.arange(chosen.size)
    return Some(A, at, width, name, chosen, names, missing)


def floats(A: Array) -> Array:
    """Convert real numbers to float32 or float64 in native byte order, without a copy if they are that already."""
    if A.dtype in (np.float32, np.float64) and A.dtype.isnative:
        return A
    with np.errstate(over="ignore"):  # longer floats become infinite, which the caller finds
        return A.astype(np.float32 if A.dtype.kind == "f" and A.dtype.itemsize <= 4 else np.float64)


def array(X: Any, name: str) -> Array:
    """Return X as a finite dense matrix of floats; refuse sparse input."""
    if is_sparse(X):
        raise TypeError(f"{name} is sparse; a dense matrix is needed: pass {name}.toarray()")
    A: Array = matrix(X, name)
    return A


def table(X: Any, name: str, columns: Collection[int] | None = None) -> tuple[list[Values], tuple[str, ...] | None]:
    """Return the columns of X, lists of values of any kind or arrays of numbers, and their names if there are any.

    With `columns`, only those with these numbers; the others are empty.
    """
    if is_sparse(X):
        raise TypeError(f"{name} is sparse; a table of values is needed: a list of rows, an array or a frame")
    refuse_masked(X, name)
    n_rows(X, name)
    names = column_names(X)
    if names is not None:
        return [
            _plain_column(column_of(X, j, names)) if columns is None or j in columns else [] for j in range(len(names))
        ], names
    if hasattr(X, "shape"):
        X = as_array(X, name)
        if X.ndim != 2 or X.shape[1] == 0:
            raise _no_table(X, name)
        return [_plain_column(column) if columns is None or j in columns else [] for j, column in enumerate(X.T)], None
    width = len(X[0]) if set(map(type, X)) <= {list, tuple} else 0
    if width and set(map(len, X)) == {width}:
        cells = list(itertools.chain.from_iterable(X))
        return [cells[c::width] for c in range(width)], None
    for i, row in enumerate(X):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)):
            raise ValueError(f"{name} must be two-dimensional (rows, columns); row {i} is {shown(row)}")
    width = len(X[0])
    for i, row in enumerate(X):
        if len(row) != width or width == 0:
            raise ValueError(
                f"{name} has {len(row)} values in row {i} and {width} in row 0; "
                "all rows need the same number of values, at least one"
            )
    return [list(column) for column in zip(*X, strict=True)], None


def _plain_column(column: Any) -> Values:
    if isinstance(column, np.ndarray) and column.dtype.kind in "mM":
        return list(column)  # tolist would convert them to numbers of nanoseconds
    return column_values(column)


_NUMBERS = {"bool", "boolean", "halffloat", "float", "double", "float32", "float64"}
_NUMBERS |= {f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)}
"""Types of numbers of Arrow and, in small letters, of polars."""


def column_values(column: Any) -> Values:
    """Return a column as an array of numbers or with codes where its type makes that fast; else as a list."""
    if isinstance(column, Coded):
        return column
    if getattr(column, "ndim", 1) == 1 and not isinstance(column, np.ma.MaskedArray):
        dtype = getattr(column, "dtype", None)
        if isinstance(dtype, np.dtype) and dtype.kind in "buif":
            return np.asarray(column)
        count = getattr(column, "null_count", None)
        kind = str(getattr(column, "type", None) or dtype).lower()
        if kind in _NUMBERS and count is not None and (count() if callable(count) else count) == 0:
            return np.asarray(column)
        physical = _physical(column, kind)
        if physical is not None:
            first, codes = numbered(physical)
            return Coded(listed(rows(column, first)), codes)
    return listed(column)


def _physical(column: Any, kind: str) -> Array | None:
    """Return whole numbers for the values of a column of text or categories, equal for equal ones; None of others."""
    if isinstance(column, np.ndarray):
        return _first_of_text(column) if column.dtype.kind == "U" else None
    if hasattr(column, "iloc"):
        if kind == "category":
            return np.asarray(column.cat.codes)
        if getattr(column.dtype, "storage", "") == "pyarrow" or hasattr(column.dtype, "pyarrow_dtype"):
            values = column.array.__arrow_array__()
            return _physical(values, str(values.type))
        return None
    if hasattr(column, "to_physical"):  # polars
        polars = sys.modules["polars"]
        if kind == "string":
            column = column.cast(polars.Categorical)
        elif not kind.startswith(("categorical", "enum")):
            return None
        return np.asarray(column.to_physical().cast(polars.Int64).fill_null(-1))
    if kind in ("string", "large_string"):
        column = column.dictionary_encode()
    elif not kind.startswith("dictionary"):
        return None
    if hasattr(column, "unify_dictionaries"):
        column = column.unify_dictionaries()
    chunks = getattr(column, "chunks", [column])
    return np.concatenate([np.empty(0, np.int64), *[chunk.indices.cast("int64").fill_null(-1) for chunk in chunks]])


_PLACES = 22
"""Binary logarithm of the places of a table of hashed text. Only places that are written take memory."""


def _first_of_text(column: Array) -> Array | None:
    """Return for each row one that has the same text, by hashing; None if two texts have one hash, or are long."""
    if not (column.size and 0 < column.dtype.itemsize <= 128):
        return None
    words = np.ascontiguousarray(column).view(np.uint32).reshape(column.size, -1)
    if words.shape[1] % 2 == 0:
        words = words.view(np.uint64)
    hashed = np.zeros(column.size, np.uint64)
    for k in range(words.shape[1]):
        hashed += words[:, k] * np.uint64(pow(0x9E3779B97F4A7C15, 2 * k + 1, 2**64))
    place = (hashed >> np.uint64(64 - _PLACES)).astype(np.intp)
    row = np.empty(2**_PLACES, np.intp)
    row[place] = np.arange(column.size)
    found = row[place]
    return found if np.array_equal(words, words[found]) else None


def _no_table(A: Array, name: str) -> ValueError:
    hint = "; a single column has shape (N, 1), a single row (1, d)"
    if name == "neg":
        hint = f". {_IF_LABELS}"
    return ValueError(
        f"{name} must be two-dimensional (rows, columns); got shape {A.shape}{hint if A.ndim == 1 else ''}"
    )


def no_number(X: Any, name: str) -> str | None:
    """Return a message on the first value of X that is a date or a text other than a number; None if there is none."""
    columns, names = table(X, name)
    for j, column in enumerate(columns):
        for i, value in enumerate(column):
            if is_date(value) or (isinstance(value, str) and not is_numeral(value)):
                return f"{name} has {shown(value)} at {cell(i, j, names)}; every value must be a number: " + (
                    advice(True, False)
                    if is_date(value)
                    else "rankers='table' takes numbers, text and dates as they are, and rankers='categories' makes "
                    "indicators of the levels of all columns"
                )
    return None


def width(X: Any, name: str) -> int:
    """Return the number of columns of X; the values are read only if X has no shape."""
    shape = shape_of(X)
    return int(shape[1]) if len(shape) == 2 else some(X, name, columns=[]).width


_IF_LABELS = "If neg holds labels, call pnorm.train(X, y=labels); pnorm.split(X, labels) returns pos and neg"


def same_width(pos: Any, neg: Any) -> None:
    """Refuse two sides whose numbers of columns differ."""
    a, b = width(pos, "pos"), width(neg, "neg")
    if a != b:
        hint = f". {_IF_LABELS}" if b == 1 and n_rows(pos, "pos") == n_rows(neg, "neg") else ""
        raise ValueError(f"pos has {a} columns and neg has {b}; both sides need the same columns{hint}")


def two_sides(pos: Any, neg: Any, missing: bool | None = None) -> tuple[Any, Any]:
    """Return both sides as `matrix` does; refuse sides whose columns do not go together."""
    A, B = matrix(pos, "pos", missing), matrix(neg, "neg", missing)
    stay_apart([pos, neg], "pos or neg")
    same_form(A, B)
    same_width(A, B)
    same_names(column_names(pos), column_names(neg), "neg")
    return A, B


def same_form(pos: Any, neg: Any) -> None:
    """Refuse two sides if only one is sparse."""
    if is_sparse(pos) != is_sparse(neg):
        raise TypeError("one of pos and neg is sparse and the other is not; pass both in the same form")


def rows(X: Any, places: NDArray[np.intp]) -> Any:
    """Return some rows of anything that `n_rows` accepts, in the type of the input."""
    if is_sparse(X):
        if X.format in ("csr", "csc"):
            return X[places]
        A = X.tocsr()
        return (A if A.nnz == X.nnz else summing(X).tocsr())[places].asformat(X.format)
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return X.take(places)
    if is_columns(X):
        return {name: rows(column, places) for name, column in X.items()}
    if shape_of(X):
        return (X if hasattr(X, "__getitem__") and not isinstance(X, memoryview) else np.asarray(X))[places]
    return type(X)([X[i] for i in places.tolist()]) if isinstance(X, (list, tuple)) else [X[i] for i in places.tolist()]


def some_rows(X: Any, name: str, table: bool) -> Any:
    """Return rows; of a `table`, a single row becomes a table of one."""
    if isinstance(X, (str, bytes)):
        raise TypeError(f"{name} must be rows in the form of X, or a single row; got {type(X).__name__}")
    if is_columns(X):  # columns by name, or the values of one row
        return {key: [of] if isinstance(of, str) or not hasattr(of, "__len__") else of for key, of in X.items()}
    shape = shape_of(X)
    if not table or len(shape) > 1 or is_sparse(X):
        return X
    if hasattr(X, "iloc"):
        return X.to_frame().T.infer_objects()
    if len(shape) == 1:
        return np.asarray(X)[None]
    flat = (
        isinstance(X, (list, tuple)) and n_rows(X, name) > 0 and (isinstance(X[0], str) or not hasattr(X[0], "__len__"))
    )
    return [X] if flat else X


def pairs(q: Any, name: str) -> NDArray[np.float64]:
    """Return one number per pair, zero or more, as a float64 matrix (I, K)."""
    a = np.array(matrix(q, name), dtype=np.float64)
    if (a < 0.0).any():
        i, k = np.argwhere(a < 0.0)[0]
        raise ValueError(f"{name} has {a[i, k]} at pair ({i}, {k}); every number must be zero or more")
    summable(a, name)
    return a


# Sparse matrices ------------------------------------------------------------------------------------


def sparse(X: Any, name: str) -> Any:
    """Return a sparse X with values unchecked: CSR or CSC of any real dtype, or COO or BSR of floats."""
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"{name} must be two-dimensional with rows and columns; got sparse shape {X.shape}")
    if X.dtype.kind not in "buif":
        raise TypeError(f"{name} must hold real numbers; got sparse dtype {X.dtype}")
    if X.format in ("dok", "dia"):
        X = X.tocoo()
    elif X.format == "lil":
        X = X.tocsr()
    _coherent(X, name)
    return summing(X)


def summing(X: Any) -> Any:
    """Return a sparse X as floats where a conversion adds up duplicate entries: 100 + 100 is -56 as int8.

    CSR and CSC keep such entries as they are.
    """
    return X if X.format in ("csr", "csc") else X.astype(np.float64, copy=False)


def _coherent(X: Any, name: str) -> None:
    """Refuse sparse arrays that contradict each other: SciPy would read and write beyond their ends."""
    if X.format == "coo":
        places = [*zip((X.row, X.col), X.shape, ("row", "column"), strict=True)]
        used, wrong = X.data.size, X.row.size != X.data.size or X.col.size != X.data.size
    else:
        size = X.shape if X.format != "bsr" else tuple([n // b for n, b in zip(X.shape, X.blocksize, strict=True)])
        major, minor = size[::-1] if X.format == "csc" else size
        ends = X.indptr
        wrong = ends.size != major + 1 or ends[0] != 0 or bool((np.diff(ends) < 0).any())
        used = 0 if wrong else int(ends[-1])
        wrong = wrong or used > min(X.indices.size, len(X.data))
        places = [(X.indices, minor, "column" if X.format != "csc" else "row")]
    if wrong:
        raise ValueError(
            f"{name} is a sparse matrix whose arrays do not fit together: it has been changed since it was made"
        )
    for index, size, what in places:
        index = index[:used]
        if index.size and (index.min() < 0 or index.max() >= size):
            wrong = index.min() if index.min() < 0 else index.max()
            raise ValueError(
                f"{name} is a sparse matrix with an entry in {what} {wrong}, and has {size} of them: it has been "
                "changed since it was made"
            )


def sparse_columns(X: Any, name: str, missing: bool | None, columns: NDArray[np.intp]) -> Any:
    """Return some columns of a sparse X as `matrix` does; other columns are not checked."""
    X = sparse(X, name)
    A = X if X.format in ("csr", "csc") else X.tocsc()
    return sparse_to_floats(A[:, columns], name, missing, columns)


def sparse_to_floats(X: Any, name: str, missing: bool | None, columns: NDArray[np.intp] | None = None) -> Any:
    import scipy.sparse

    A = sparse(X, name)
    stay_apart([X], name)
    A = scipy.sparse.csc_array(A, dtype=np.float64)
    if not A.has_canonical_format:
        A = A.copy()  # the user's arrays are not to be sorted
        A.sum_duplicates()
    if A.indices.dtype != A.indptr.dtype:
        A.indices, A.indptr = [x.astype(np.int64) for x in (A.indices, A.indptr)]
    wrong = np.isinf(A.data) if missing else ~np.isfinite(A.data)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        column = int(np.searchsorted(A.indptr, k, side="right")) - 1
        number = column if columns is None else columns[column]
        raise not_finite(A.data[k], name, A.indices[k], number, None, missing)
    return A
