"""Values of tables: single ones, and those of a column."""

from __future__ import annotations

import datetime
import decimal
import itertools
import math
import numbers
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Array, is_columns, is_sparse, numbered, shape_of
from pnorm._checks.scalars import shown


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


_NUMBERS = {"bool", "boolean", "halffloat", "float", "double", "float32", "float64"}


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


def summing(X: Any) -> Any:
    """Return a sparse X as floats where a conversion adds up duplicate entries: 100 + 100 is -56 as int8.

    CSR and CSC keep such entries as they are.
    """
    return X if X.format in ("csr", "csc") else X.astype(np.float64, copy=False)
