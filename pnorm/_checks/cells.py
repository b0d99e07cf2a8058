"""Single values of a table, and messages that name their row and column."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Array
from pnorm._checks.scalars import shown


def is_missing(value: Any) -> bool:
    """Return whether a value of a table means a missing one: None, NaN, pandas' NA and NaT."""
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


def is_numeral(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def column_called(column: Any, names: Sequence[str] | None) -> str:
    """Return the number of a column, and its name if it has one, for a message."""
    return f"column {column}" + (f" ({shown(names[column])})" if names else "")


def cell(row: Any, column: Any, names: Sequence[str] | None) -> str:
    return f"row {row}, {column_called(column, names)}"


def not_finite(
    value: Any, name: str, row: Any, column: Any, names: Sequence[str] | None, missing: bool | None
) -> ValueError:
    hint = ", or make the weak rankers with missing='own'" if missing is False and is_missing(value) else ""
    return ValueError(
        f"{name} has {value} at {cell(row, column, names)}; every value must be finite: fill in or drop missing "
        f"values{hint}"
    )


def no_real(
    value: Any, name: str, row: Any, column: Any, names: Sequence[str] | None, missing: bool | None
) -> TypeError:
    return TypeError(
        f"{name} has {shown(value)} ({type(value).__name__}) at {cell(row, column, names)}; every value must be a real "
        f"number: {advice(is_date(value), missing)}"
    )


def advice(date: bool, missing: bool | None) -> str:
    """Return advice for a message on a column of dates or of other things that are no numbers.

    Where no value may be missing (`missing` is None), the only advice for the others is to encode the column.
    """
    if date:
        return (
            "pass the days since a fixed one in place of dates, such as "
            "(dates - np.datetime64('2000-01-01')) / np.timedelta64(1, 'D'), and days in place of durations"
        )
    if missing is None:
        return "encode the column as numbers"
    return "make pnorm.rankers.categories of the column, encode it as numbers, or pass callables as H"


def objects_to_floats(
    A: Array, name: str, columns: NDArray[np.intp], names: Sequence[str] | None, missing: bool | None
) -> Array:
    """Convert real numbers of any type to floats; refuse other objects. Messages number the columns by `columns`."""
    if A.dtype.kind in "US" and A.size:  # NumPy converts numbers next to text to text; these are not the fault
        i, j = next((at for at, text in np.ndenumerate(A) if not is_numeral(text)), (0, 0))
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
    value: Any,
    name: str,
    row: int,
    column: int,
    missing: bool,
    names: Sequence[str] | None = None,
    absent: bool = False,
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
