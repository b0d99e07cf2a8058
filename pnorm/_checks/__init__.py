"""The front door: what users pass in is checked here, once, before any work.

One function per kind of argument. Each returns the value in the form the rest of the package
relies on, or raises `ValueError` or `TypeError` that names the argument, says what was got and
what was expected, and where it helps what to try.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import numbers
import operator
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _text

ROOT, SQUARED, CUBED = 1e140, 1e153, 1e100
"""Numbers up to these have squares with room for products and sums, squares that can be added up, and cubes."""

_WHOLE = 2**1023
"""Whole numbers below this are in the range of floats."""

_NO_NUMBERS = (bool, np.bool_, np.timedelta64)
"""What Python or NumPy take for integers, and users do not mean as such."""

Array = NDArray[Any]
"""A NumPy array of any dtype; the functions below say which one they return."""

Vector = NDArray[np.float64]
"""What scores, weights, edges and coefficients are: float64, one-dimensional."""


def is_sparse(X: object) -> bool:
    """Whether X is a SciPy sparse matrix or array; does not import SciPy for those who have none."""
    return type(X).__module__.startswith("scipy.sparse")


def n_rows(X: Any, name: str) -> int:
    """Return the number of rows of anything with a length; sides of the list are never empty."""
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        raise TypeError(
            f"{name} is a Dask {type(X).__name__}: pnorm.dask.train takes these, and {name}.compute() brings the rows "
            "into memory; cuts can be placed by a sample of them"
        )
    try:
        rows = (shape_of(X) or (len(X),))[0]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"{name} must be a sequence of rows or a two-dimensional array; got {type(X).__name__}"
        ) from None
    if rows < 1:
        raise ValueError(f"{name} is empty; at least one row is needed")
    return int(rows)


def shape_of(X: Any) -> tuple[int, ...]:
    """The shape that X has, or says it has; () where it says nothing of the kind."""
    shape = () if isinstance(X, (list, tuple)) else getattr(X, "shape", ())
    return shape if isinstance(shape, tuple) and all([isinstance(n, (int, np.integer)) for n in shape]) else ()


def width(X: Any, name: str) -> int:
    """Return the number of columns of X; the values are not looked at where X has a shape."""
    shape = shape_of(X)
    return int(shape[1]) if len(shape) == 2 else some(X, name, columns=[]).width


def column_names(X: Any) -> tuple[str, ...] | None:
    """Column names of a data frame or table (pandas, polars, pyarrow); None where X has none."""
    names = getattr(X, "columns", None)
    if hasattr(X, "column_names"):  # pyarrow: .columns are the data
        names = X.column_names
    return None if names is None else tuple(str(name) for name in names)


@dataclass(frozen=True, eq=False)
class Some:
    """Columns of what a user passes in: numbers, at whose values no one has looked yet."""

    A: Array
    """The columns, and maybe others, in any layout; any real dtype."""
    at: NDArray[np.intp]
    """Where they are in A."""
    width: int
    """The number of columns that the user's rows have."""
    name: str
    columns: NDArray[np.intp]
    """Their numbers in the user's rows."""
    names: Sequence[str] | None
    missing: bool | None

    def check(self) -> None:
        """Refuse values that are not finite, the first row first."""
        found = []
        for k, j in enumerate(self.at):
            wrong = np.isinf(self.A[:, j]) if self.missing else ~np.isfinite(self.A[:, j])
            if wrong.any():
                found.append((int(np.argmax(wrong)), k))
        if found:
            row, k = min(found)
            raise _not_finite(self.A[row, self.at[k]], self.name, row, self.columns[k], self.names, self.missing)


def matrix(X: Any, name: str, missing: bool | None = None, apart: bool = True) -> Any:
    """Return X as a finite two-dimensional matrix of floats; with `missing`, NaN may stand for a missing value.

    None says that missing values could not be allowed, which False says they could.

    NumPy arrays of float32 and float64 that are contiguous in either order, and frames that are such an array,
    come back as they are, without a copy; half precision becomes float32, everything else float64. Other frames
    are copied once, column by column. Sparse input comes back as CSC.
    """
    if is_sparse(X):
        return _sparse_matrix(X, name, missing)
    columns = some(X, name, missing, apart=apart)
    if columns.width == 0:
        raise ValueError(f"{name} has no columns; got shape {columns.A.shape}")
    A = floats(columns.A)
    if not (A.flags.aligned and (A.flags.c_contiguous or A.flags.f_contiguous)):
        A = np.array(A, order="C")
    # The extremes propagate NaN and infinity, and need no array of flags beside the data.
    if not (math.isfinite(A.min()) and math.isfinite(A.max())):
        columns.check()
    return A


def some(X: Any, name: str, missing: bool | None = None, columns: Any = None, apart: bool = True) -> Some:
    """Return columns of a dense X by their numbers, or all; others are not looked at, nor converted if in a frame.

    `apart` asks that different whole numbers of a column stay different.
    """
    _no_mask(X, name)
    size = n_rows(X, name)
    names = column_names(X)
    lies = _frame_as_it_lies(X) if names is not None else None
    converted = names is not None and lies is None and _has_columns(X)
    A = lies if lies is not None else np.empty((1, len(names or ()))) if converted else _as_array(X, name)
    if A.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional (rows, columns); got shape {A.shape}{_shape_hint(A, name)}")
    if len(A) != size and not converted:
        raise ValueError(f"{name} is of length {size} by its own account, and holds {len(A)} rows")
    width = A.shape[1]
    chosen = np.arange(width) if columns is None else np.asarray(columns, dtype=np.intp)
    at = chosen
    if lies is None and apart:
        stay_apart([X if converted or A.dtype.kind == "f" else A], name, chosen)
    if converted:
        A, at = _columns_of_frame(X, chosen, name, names, missing), np.arange(chosen.size)
    elif A.dtype.kind not in "buif":
        A, at = _as_floats(A[:, chosen], name, chosen, names, missing), np.arange(chosen.size)
    return Some(A, at, width, name, chosen, names, missing)


def floats(A: Array) -> Array:
    """Real numbers as float32 or float64 in native byte order, without a copy if they are that."""
    if A.dtype in (np.float32, np.float64) and A.dtype.isnative:
        return A
    with np.errstate(over="ignore"):  # longer floats become infinite, which the caller finds
        return A.astype(np.float32 if A.dtype.kind == "f" and A.dtype.itemsize <= 4 else np.float64)


def stay_apart(sides: Sequence[Any], name: str, columns: NDArray[np.intp] | None = None) -> None:
    """Refuse rows in which different whole numbers of a column would be one float; other things are not looked at."""
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
    """The columns of 64-bit integers or of objects; those of an array only if some of its numbers are large."""
    names = column_names(X)
    if names is not None and _has_columns(X):
        kinds = list(X.dtypes) if hasattr(X, "dtypes") else None  # of a wide frame, quicker than column by column
        for j in range(len(names)) if columns is None else columns.tolist():
            own = str(getattr(column_of(X, j, names), "type", "") if kinds is None else kinds[j]).lower()
            kind = next((kind for kind in ("int64", "uint64", "object") if own.startswith(kind)), None)
            if kind is not None:
                column = column_of(X, j, names)
                drop = [getattr(column, way, None) for way in ("dropna", "drop_nulls", "drop_null")]
                yield j, np.asarray(next(filter(None, drop))(), dtype=kind)
        return
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple)):
        # Beside fractions, NumPy makes floats of whole numbers.
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
            X = X[:1]  # of a row that is broadcast, however often
        if X.dtype.kind != "O" and not _beyond_exact(X):
            return
        for j in range(X.shape[1]) if columns is None else columns.tolist():
            yield j, X[:, j]


def _beyond_exact(A: Array) -> bool:
    """Whether whole numbers go to 2**53, beyond which neighbours may be one float."""
    if A.dtype.kind != "O" and (A.dtype.kind not in "iu" or A.dtype.itemsize < 8):
        return False
    return A.size > 0 and bool(A.max() >= 2**53 or A.min() <= -(2**53))


def array(X: Any, name: str) -> Array:
    """The same for what cannot be sparse."""
    if is_sparse(X):
        raise TypeError(f"{name} is sparse; a matrix with all its entries is needed: pass {name}.toarray()")
    A: Array = matrix(X, name)
    return A


def table(
    X: Any, name: str, columns: Collection[int] | None = None
) -> tuple[list[list[Any] | Array], tuple[str, ...] | None]:
    """Return the columns of X, lists of values of any kind or arrays of numbers, and their names if they have some.

    With `columns`, only those with these numbers; the others are empty.
    """
    if is_sparse(X):
        raise TypeError(f"{name} is sparse; categories needs a table of values: a list of rows, an array or a frame")
    _no_mask(X, name)
    n_rows(X, name)
    names = column_names(X)
    if names is not None:
        return [
            _plain_column(column_of(X, j, names)) if columns is None or j in columns else [] for j in range(len(names))
        ], names
    if hasattr(X, "shape"):
        X = _as_array(X, name)
        if X.ndim != 2 or X.shape[1] == 0:
            raise ValueError(
                f"{name} must be two-dimensional (rows, columns); got shape {X.shape}{_shape_hint(X, name)}"
            )
        return [_plain_column(column) if columns is None or j in columns else [] for j, column in enumerate(X.T)], None
    for i, row in enumerate(X):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)):
            raise ValueError(f"{name} must be two-dimensional (rows, columns); row {i} is {shown(row)}")
    width = len(X[0])
    for i, row in enumerate(X):
        if len(row) != width or width == 0:
            raise ValueError(
                f"{name} has {len(row)} values in row {i} and {width} in row 0; rows need as many, one at least"
            )
    return [list(column) for column in zip(*X, strict=True)], None


def _plain_column(column: Any) -> list[Any] | Array:
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "buif":
        return np.asarray(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "mM":
        return list(column)  # tolist would make numbers of nanoseconds
    return listed(column)


def _no_mask(X: Any, name: str) -> None:
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        at = ", ".join(map(str, np.argwhere(np.ma.getmaskarray(X))[0]))
        raise ValueError(f"{name} is a masked array with a masked value at ({at}); fill or drop it")


def _shape_hint(A: Array, name: str) -> str:
    if A.ndim != 1:
        return ""
    if name == "neg":
        return "; train takes the good and the bad rows apart: train(X[y == 1], X[y == 0])"
    return "; a single column has shape (N, 1), a single row (1, d)"


def column_called(column: Any, names: Sequence[str] | None) -> str:
    """Return the number of a column, and its name if it has one, for a message."""
    return f"column {column}" + (f" ({shown(names[column])})" if names else "")


def _at(row: Any, column: Any, names: Sequence[str] | None) -> str:
    return f"row {row}, {column_called(column, names)}"


def _not_finite(
    value: Any, name: str, row: Any, column: Any, names: Sequence[str] | None, missing: bool | None
) -> ValueError:
    hint = ", or make the weak rankers with missing='own'" if missing is False and is_missing(value) else ""
    return ValueError(
        f"{name} has {value} at {_at(row, column, names)}; every value must be finite: fill in or drop missing "
        f"values{hint}"
    )


def _as_array(X: Any, name: str) -> Array:
    try:
        return np.asarray(X)
    except (ValueError, TypeError):
        raise ValueError(
            f"{name} cannot be read as an array: its rows differ in length or hold unlike things"
        ) from None


def _as_floats(
    A: Array, name: str, columns: NDArray[np.intp], names: Sequence[str] | None, missing: bool | None
) -> Array:
    """Objects as floats, if all of them are real numbers; the columns have these numbers in messages."""
    if A.dtype.kind in "US" and A.size:  # NumPy makes text of numbers beside it, which is not what is wrong
        i, j = next((at for at, text in np.ndenumerate(A) if not _is_numeral(text)), (0, 0))
        raise _no_real(A[i, j].item(), name, i, columns[j], names, missing)
    if A.dtype.kind not in "OUS":
        raise TypeError(
            f"{name} must hold real numbers; got dtype {A.dtype}: {_instead(A.dtype.kind in 'mM', missing)}"
        )
    for j, column in enumerate(columns):
        for i, value in enumerate(A[:, j]):
            if is_missing(value):
                if not missing:
                    raise _not_finite(value, name, i, column, names, missing)
            elif not isinstance(value, (numbers.Real, np.bool_, decimal.Decimal)):
                raise _no_real(value, name, i, column, names, missing)
    if missing:
        A = np.array([[math.nan if is_missing(value) else value for value in row] for row in A])
    try:
        return A.astype(np.float64)
    except OverflowError:
        raise ValueError(f"{name} has a whole number that is larger than a float can be") from None


def _no_real(
    value: Any, name: str, row: Any, column: Any, names: Sequence[str] | None, missing: bool | None
) -> TypeError:
    return TypeError(
        f"{name} has {shown(value)} ({type(value).__name__}) at {_at(row, column, names)}; every value must be a real "
        f"number: {_instead(_is_date(value), missing)}"
    )


def _is_date(value: Any) -> bool:
    return isinstance(value, (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64))


def no_number(X: Any, name: str) -> str | None:
    """Return a message on the first value of X that is a date or a text that is no number; None if there is none."""
    columns, names = table(X, name)
    for j, column in enumerate(columns):
        for i, value in enumerate(column):
            if _is_date(value) or (isinstance(value, str) and not _is_numeral(value)):
                return f"{name} has {shown(value)} at {_at(i, j, names)}; every value must be a number: " + (
                    _instead(True, False)
                    if _is_date(value)
                    else "rankers='categories' makes indicators of the levels of all columns, a function of (pos, neg) "
                    "pnorm.rankers.categories of this column, and OneHotEncoder, say, encodes it"
                )
    return None


def _is_numeral(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _instead(date: bool, missing: bool | None) -> str:
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


def _has_columns(X: Any) -> bool:
    """Whether X is a frame whose columns can be had one by one: pandas, pyarrow, polars."""
    return hasattr(X, "iloc") or hasattr(X, "column_names") or hasattr(X, "to_series")


def _frame_as_it_lies(X: Any) -> Array | None:
    """A frame that is one array of floats as that array, and None where it is not."""
    A: Array
    if hasattr(X, "iloc"):
        first = X.iloc[:1]  # has columns in common with an array if and only if all the rows have
        A = np.asarray(first)
        if A.dtype not in (np.float32, np.float64) or A.size == 0:
            return None
        if not np.shares_memory(A, first.iloc[:, 0].to_numpy()):
            return None
        return np.asarray(X)
    if not hasattr(X, "to_series"):  # the columns of an Arrow table lie apart
        return None
    try:
        A = X.to_numpy(allow_copy=False)
    except RuntimeError:
        return None
    return A if A.dtype in (np.float32, np.float64) else None


def column_of(X: Any, j: int, names: Sequence[str]) -> Any:
    """A column of a frame: a pandas or polars series, or what Arrow has."""
    try:
        if hasattr(X, "iloc"):
            column = X.iloc[:, j]
            return column.array.__arrow_array__() if hasattr(column.dtype, "pyarrow_dtype") else column
        if hasattr(X, "column_names"):
            return X.column(j)
        return X.to_series(j) if hasattr(X, "to_series") else X[names[j]]
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise TypeError(f"the column {shown(names[j])} cannot be had of {type(X).__name__}: {error}") from error


def _columns_of_frame(
    X: Any, columns: NDArray[np.intp], name: str, names: Sequence[str] | None, missing: bool | None
) -> Array:
    """Columns of a frame as floats: one array, filled column by column, so that nothing else of its size is needed."""
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
                values, start = _as_floats(objects, name, columns[[k]], names, missing)[:, 0], 0
            out[start : start + len(values), k] = values
            start += len(values)
            if start == len(out):
                break
        if start < len(out):
            raise ValueError(f"{name} has {len(out)} rows by its own account, and {start} in column {columns[k]}")
    return out


def _values(column: Any, missing: bool | None) -> Array:
    """A column, or a chunk of one, as an array: the one in which it lies if that is possible."""
    if hasattr(column, "null_count") and hasattr(column, "to_pylist"):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    dtype = getattr(column, "dtype", None)
    if not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "O") in tuple("buif"):  # pandas' own
        if missing or not column.hasnans:
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=math.nan))
        return np.asarray(column, dtype=object)
    return np.asarray(column)


def listed(column: Any) -> list[Any]:
    """Values of a sequence of any kind as Python's own, in a list."""
    for convert in ("tolist", "to_pylist"):
        if hasattr(column, convert):
            return list(getattr(column, convert)())
    return list(column)


def is_missing(value: Any) -> bool:
    """Whether a value of a table of objects stands for none: None, NaN, pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (float, np.floating, np.datetime64)):
        return bool(value != value)
    try:
        return isinstance(value, numbers.Number) and bool(value != value)
    except ArithmeticError:  # Decimal's nan that signals
        return True


def sparse(X: Any, name: str) -> Any:
    """Return a sparse X whose values no one has looked at: CSR or CSC of any real dtype, or COO or BSR of floats."""
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
    """A sparse X of which conversions add up the entries of one place, as floats: 100 + 100 is -56 as int8.

    CSR and CSC keep such entries as they are.
    """
    return X if X.format in ("csr", "csc") else X.astype(np.float64, copy=False)


def _coherent(X: Any, name: str) -> None:
    """Refuse sparse arrays that contradict each other: SciPy's conversions would read and write beyond their ends."""
    if X.format == "coo":
        places = [*zip((X.row, X.col), X.shape, ("row", "column"), strict=True)]
        used, wrong = X.data.size, X.row.size != X.data.size or X.col.size != X.data.size
    else:
        size = X.shape if X.format != "bsr" else tuple(n // b for n, b in zip(X.shape, X.blocksize, strict=True))
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
    """Return some columns of a sparse X as `matrix` does; the others are not looked at."""
    X = sparse(X, name)
    A = X if X.format in ("csr", "csc") else X.tocsc()
    return _sparse_matrix(A[:, columns], name, missing, columns)


def _sparse_matrix(X: Any, name: str, missing: bool | None, columns: NDArray[np.intp] | None = None) -> Any:
    import scipy.sparse

    A = sparse(X, name)
    stay_apart([X], name)
    A = scipy.sparse.csc_array(A, dtype=np.float64)
    if not A.has_canonical_format:
        A = A.copy()  # the user's arrays are not to be sorted
        A.sum_duplicates()
    if A.indices.dtype != A.indptr.dtype:
        A.indices, A.indptr = (x.astype(np.int64) for x in (A.indices, A.indptr))
    wrong = np.isinf(A.data) if missing else ~np.isfinite(A.data)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        column = int(np.searchsorted(A.indptr, k, side="right")) - 1
        number = column if columns is None else columns[column]
        raise _not_finite(A.data[k], name, A.indices[k], number, None, missing)
    return A


def same_width(pos: Any, neg: Any) -> None:
    """Refuse two sides whose numbers of columns differ."""
    a, b = width(pos, "pos"), width(neg, "neg")
    if a != b:
        raise ValueError(f"pos has {a} columns and neg has {b}; both sides need the same columns")


def same_form(pos: Any, neg: Any) -> None:
    """Refuse two sides of which one is sparse and the other is not."""
    if is_sparse(pos) != is_sparse(neg):
        raise TypeError("one of pos and neg is sparse and the other is not; pass both in the same form")


def same_names(expected: Sequence[str] | None, found: Sequence[str] | None, name: str) -> None:
    """Refuse a data frame whose columns are not those of another, in the same order."""
    if expected is None or found is None or tuple(expected) == tuple(found):
        return
    j = next(j for j, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b)
    raise ValueError(
        f"{name} has the column {shown(found[j])} in the place of {shown(expected[j])}; bring its columns into the "
        f"order of those before: {name}[[{_text.first(expected, 4, shown)}]]"
    )


def pick(X: Any, expected: Sequence[str] | None, name: str) -> Any:
    """Return the columns of a data frame that were expected, by their names; anything else than a frame as it is."""
    found = column_names(X)
    if expected is None or found is None or tuple(expected) == found:
        return X
    chosen = places(found, expected, name)
    if hasattr(X, "iloc"):
        return X.iloc[:, chosen]
    return X.select([found[place] for place in chosen])


def places(found: Sequence[str], expected: Sequence[str], name: str) -> list[int]:
    """Where the columns that are expected are among those of a frame."""
    if len(set(found)) < len(found):
        raise ValueError(f"{name} has two columns of one name among {', '.join(map(shown, found[:8]))}; rename one")
    place = {column: j for j, column in enumerate(found)}
    missing = [column for column in expected if column not in place]
    if missing:
        raise ValueError(
            f"{name} lacks the column{'s' if len(missing) > 1 else ''} {_text.first(missing, 4, shown)} "
            "which these scores are made from"
        )
    return [place[column] for column in expected]


def rows(X: Any, places: NDArray[np.intp]) -> Any:
    """Return some of the rows of what `n_rows` has accepted, in its own form: arrays, frames, tables, sequences."""
    if is_sparse(X):
        if X.format in ("csr", "csc"):
            return X[places]
        A = X.tocsr()
        return (A if A.nnz == X.nnz else summing(X).tocsr())[places].asformat(X.format)
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return X.take(places)
    if shape_of(X):
        return (X if hasattr(X, "__getitem__") and not isinstance(X, memoryview) else np.asarray(X))[places]
    return type(X)(X[i] for i in places.tolist()) if isinstance(X, (list, tuple)) else [X[i] for i in places.tolist()]


def spans(low: Vector, high: Vector, names: Sequence[str]) -> None:
    """Refuse columns whose highest less lowest value overflows."""
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(~np.isfinite(high - low))
    if wide.size:
        j = int(wide[0])
        raise ValueError(
            f"{_text.shown(names[j])} spans {low[j]:g} to {high[j]:g}, more than a float can hold; scale it first"
        )


def vector(x: Any, name: str, size: int | None, meaning: str) -> Vector:
    """Return a fresh finite float64 vector of the given size, which `meaning` explains in the message."""
    if isinstance(x, tuple) and hasattr(x[-1] if x else x, "lam_at"):
        raise TypeError(f"{name} must be an array; got the pair (lam, trace) that train returns: pass the first")
    if hasattr(x, "lam_at"):
        raise TypeError(f"{name} must be an array; got a Trace: pass the coefficients, lam, that came with it")
    if hasattr(type(x[0] if isinstance(x, tuple) and x else x), "score"):
        raise TypeError(f"{name} must be an array; got a model: call its own score")
    _no_mask(x, name)
    a = _as_array(x, name)
    if a.dtype.kind not in "buif":
        raise TypeError(f"{name} must hold real numbers; got dtype {a.dtype}")
    if a.ndim != 1 or (size is not None and a.size != size):
        expected = f"({size},)" if size is not None else "(N,)"
        raise ValueError(f"{name} must have shape {expected}, {meaning}; got shape {a.shape}")
    with np.errstate(over="ignore"):
        a = np.array(a, dtype=np.float64)
    if not np.isfinite(a).all():
        i = int(np.flatnonzero(~np.isfinite(a))[0])
        raise ValueError(f"{name} has {a[i]} at position {i}; every value must be finite")
    return a


def pairs(q: Any, name: str) -> NDArray[np.float64]:
    """Return one number per pair, zero or more, as a float64 matrix (I, K)."""
    a = np.array(matrix(q, name), dtype=np.float64)
    if (a < 0.0).any():
        i, k = np.argwhere(a < 0.0)[0]
        raise ValueError(f"{name} has {a[i, k]} at pair ({i}, {k}); every number must be zero or more")
    summable(a, name)
    return a


def weights(c: Any, name: str, size: int, some: bool = True) -> Vector | None:
    """Return case weights, nonnegative, one per row and, if there must be some, not all zero; or None for none."""
    if c is None:
        return None
    a = vector(c, name, size, "one weight per row")
    if (a < 0).any():
        i = int(np.flatnonzero(a < 0)[0])
        raise ValueError(f"{name} has the negative weight {a[i]} at row {i}; weights are zero or more")
    if some and not a.any():
        raise ValueError(f"{name} is all zero; at least one row needs a positive weight")
    return a


def masses(c: Any, name: str, size: int) -> Vector | None:
    """Return case weights that can be added up."""
    a = weights(c, name, size)
    summable(a, name)
    return a


def summable(a: Array | None, name: str) -> None:
    """Refuse weights whose sum overflows."""
    if a is not None and a.max() > np.finfo(np.float64).max / a.size:
        raise ValueError(f"{name} sums to more than a float can hold; scale it down")


def groups(pos_group: Any, neg_group: Any, n_pos: int, n_neg: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the labels of both sides as numbers, equal where the labels are; None for no groups."""
    if pos_group is None and neg_group is None:
        return None
    if pos_group is None or neg_group is None:
        given, missing = ("neg_group", "pos_group") if pos_group is None else ("pos_group", "neg_group")
        raise ValueError(f"{given} is given and {missing} is not; pairs form within a group, so both sides need labels")
    known: Known = {}
    return _codes(pos_group, "pos_group", n_pos, known), _codes(neg_group, "neg_group", n_neg, known)


def labels(y: Any, name: str, size: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the labels of rows as numbers, and the labels that these stand for."""
    shape = shape_of(y)
    if len(shape) > 1 or isinstance(y, (str, Mapping)):
        got = f"shape {shape}" if shape else f"{shown(y)}"
        raise ValueError(
            f"{name} must be one-dimensional, a label for each row, such as a column of a frame; got {got}"
        )
    known: Known = {}
    return _codes(y, name, size, known), [label for _, label in known.values()]


Known = dict[Any, tuple[int, Any]]
"""Labels by their keys, each with its number."""


def _codes(labels: Any, name: str, size: int, known: Known) -> NDArray[np.intp]:
    """Return labels as numbers, those of `known` where they have one."""
    try:
        values = listed(labels)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a sequence of one label per row; got {shown(labels)}") from None
    if len(values) != size:
        hint = f", the letters of {shown(labels)}" if isinstance(labels, str) else ""
        raise ValueError(f"{name} must hold one label per row, {size}; got {len(values)}{hint}")
    for i, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"{name} has {value} at row {i}; every row needs a label")
    try:
        first, codes = distinct(values)
        found = [known.setdefault(key(value), (len(known), value))[0] for value in map(values.__getitem__, first)]
    except TypeError:
        raise TypeError(f"the labels of {name} must be hashable: numbers or strings") from None
    return np.array(found, dtype=np.intp)[codes]


def distinct(values: Sequence[Any] | Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of every value, in ascending order, and for each row the number of its value among these.

    Equal values are one, whatever their types, and so are all NaN.
    """
    numbers = _numbers(values)
    if numbers is None:
        keys = [value if type(value) is str else key(value) for value in values]
        number = {each: k for k, each in enumerate(dict.fromkeys(keys))}
        codes = np.fromiter(map(number.__getitem__, keys), np.intp, len(keys))
        first = np.empty(len(number), np.intp)
        first[codes[::-1]] = np.arange(len(keys) - 1, -1, -1)
        return first, codes
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(order.size, np.intp)
    place[order] = np.arange(order.size)
    return first[order], place[codes]


def _numbers(values: Sequence[Any] | Array) -> Array | None:
    """The same as an array of numbers that loses nothing, if there is one: equal values are found by sorting them."""
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "buif" else None
    types = set(map(type, values))
    if types == {float}:
        return np.array(values)
    try:
        return np.array(values, np.int64) if types and types <= {int, bool} else None
    except OverflowError:
        return None


_LONG = 1000
"""Digits and zeros of a decimal number that is compared with numbers of other types, at most."""

_WIDEST = decimal.Context(decimal.MAX_PREC, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def key(value: Any) -> Any:
    """Return what finds a label or a level in a dictionary, the same for equal ones.

    Numbers whose hashes are equal can be made at will, k (2**61 - 1) for instance: 40,000 of them took a dictionary
    37 s. The hash of a string holds a secret of the process.
    """
    if isinstance(value, (np.integer, np.bool_)) and not isinstance(value, np.timedelta64):
        value = value.item()
    if isinstance(value, decimal.Decimal) and value.is_finite():
        value = value.normalize(_WIDEST)
        _, digits, exponent = value.as_tuple()
        if len(digits) + abs(int(exponent)) > _LONG:  # an integer of a million digits takes long to make
            return (str(value),)
    if isinstance(value, (int, float, np.floating, decimal.Decimal, fractions.Fraction)):
        try:
            numerator, denominator = value.as_integer_ratio()
        except (ValueError, OverflowError):  # nan and infinity
            return None if is_missing(value) else value
        return (f"{numerator:x}/{denominator:x}",)  # in a tuple, as strings are labels, too
    return value


def folds(number: Any, name: str, size: int) -> NDArray[np.intp]:
    """Return the number of the fold of each row; -1 for a row that is in none."""
    a = vector(number, name, size, "the number of its fold for each row")
    wrong = (a != np.floor(a)) | (a < -1) | (a >= size)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{name} has {a[i]:g} at row {i}; folds are numbered from 0, and -1 is for rows that are always trained on"
        )
    return a.astype(np.intp)


def one_or_zero(y: Any, name: str, size: int | None = None) -> NDArray[np.bool_]:
    """Return which rows are positive: those of label 1, and not those of label 0 or, in other files, -1."""
    a = vector(y, name, size, "one label per row")
    positive: NDArray[np.bool_] = a == 1.0
    other = a.min(initial=0.0)
    wrong = ~positive & (a != (other if other == -1.0 else 0.0))
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(
            f"{name} must be 1 for positives and 0 for all others (or -1 for all others); got {a[i]:g} at row {i}. Of "
            f"grades, say which are good: {name} >= 2, for instance"
        )
    return positive


def sizes(group: Any, name: str, size: int) -> NDArray[np.intp]:
    """Return the number of the list that each row is in, of the sizes of lists that follow each other."""
    counts = vector(group, name, None, "one size for each list")
    total = float(counts.sum()) if (np.abs(counts) <= size).all() else math.inf
    if (counts < 0.0).any() or (counts % 1.0 != 0.0).any() or total != size:
        raise ValueError(
            f"{name} must hold the sizes of the lists, which follow each other and add up to the {size} rows; got "
            f"{counts.size} entries that add up to {total:g}"
        )
    return np.repeat(np.arange(counts.size, dtype=np.intp), counts.astype(np.intp))


def lists(group: Any, size: int) -> tuple[NDArray[np.intp] | None, NDArray[np.intp]]:
    """Return the order that brings rows of a list together (None: they are), and where every list begins, and the end.

    `group` holds a label for each row, or the sizes of the lists, which follow each other; None is one list.
    """
    if group is None:
        return None, np.array([0, size], dtype=np.intp)
    _no_mask(group, "group")
    labels = _as_array(group, "group")
    if labels.ndim != 1:
        raise ValueError(
            f"group must be one-dimensional: a label for each row or a size for each list; got {shown(group)}"
        )
    if labels.size != size:
        kind = "" if labels.dtype.kind in "iu" else ", which are no integers"
        many = labels.size > size  # as each is one or more
        if kind or many or labels.size == 0 or labels.min() < 1 or labels.sum() != size:
            small = (
                "" if kind or many or labels.size == 0 or labels.min() >= 1 else f", the least of them {labels.min()}"
            )
            total = kind or ("" if many else f" that add up to {labels.sum()}{small}")
            raise ValueError(
                f"group must hold one label for each of the {size} rows, or the sizes of the lists, one or more each, "
                f"which add up to that; got {labels.size} entries{total}"
            )
        return None, np.concatenate([[0], labels.cumsum()]).astype(np.intp)
    if labels.dtype.kind not in "iub":  # labels of unlike kinds would become strings in an array
        known: Known = {}
        labels = _in_order(_codes(group, "group", size, known), [label for _, label in known.values()])
    heads = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    if np.unique(labels[heads]).size == heads.size:
        return None, np.concatenate([heads, [size]]).astype(np.intp)
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(labels[order][1:] != labels[order][:-1]) + 1
    return order, np.concatenate([[0], ends, [size]]).astype(np.intp)


def _in_order(codes: NDArray[np.intp], known: list[Any]) -> NDArray[np.intp]:
    """Codes that rise as labels do, so that no answer depends on the order of rows; unlike kinds have no order."""
    try:
        places = sorted(range(len(known)), key=known.__getitem__)
    except TypeError:
        return codes
    rank = np.empty(len(known), np.intp)
    rank[places] = np.arange(len(known))
    return rank[codes]


def shared(pos: NDArray[np.intp], neg: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the groups that have rows of positive weight on both sides; one at least."""
    both = np.intersect1d(pos, neg)
    if both.size == 0:
        raise ValueError("pos_group and neg_group share no label among rows of positive weight: no pair is left")
    return both


def two(x: Any, message: str) -> tuple[Any, Any]:
    """Return the two things that something consists of, or raise a TypeError with this message."""
    try:
        first, second = x
    except (TypeError, ValueError):
        raise TypeError(message) from None
    return first, second


def scores(f: Any, name: str) -> Vector:
    """Return a non-empty finite vector of scores."""
    a = vector(f, name, None, "one score per row")
    n_rows(a, name)
    return a


def outputs_of_callable(values: Any, ranker: str, side: str, size: int) -> Vector:
    """Return what a user's weak ranker gave on one side, as a float64 vector of one value per row."""
    return vector(values, f"the output of {ranker} on {side}", size, f"one value for each row of {side}")


def shown(x: Any) -> str:
    """What was got, in few characters; text in quotes."""
    return f"'{_text.shown(x)}'" if isinstance(x, str) else _text.shown(x)


def real(x: Any, name: str) -> float:
    """Return a finite real number as a float."""
    if isinstance(x, _NO_NUMBERS) or not isinstance(x, numbers.Real):
        raise TypeError(f"{name} must be a real number; got {shown(x)} ({type(x).__name__})")
    try:
        value = float(x)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite; got {shown(x)}")
    return value


def exponents(p: float, f_pos: Vector, f_neg: Vector, name: str = "init") -> None:
    """Refuse scores whose exponents p f overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = 2.0 * p * max(f_pos.max(), f_neg.max(), -f_pos.min(), -f_neg.min())
    if not math.isfinite(spread):
        raise ValueError(f"{name} gives scores that, times p, overflow; scale it down")


def numbers_of(values: Any, name: str) -> list[float]:
    """Return a sequence of finite real numbers as a list of floats."""
    try:
        return [real(value, name) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]
    except TypeError:
        raise TypeError(f"{name} must be a sequence of numbers; got {shown(values)}") from None


def some_of(values: Any, name: str) -> list[Any]:
    """Return a sequence of things of a kind, one at least."""
    A = _as_array(values, name)
    if A.ndim != 1 or A.size == 0:
        raise ValueError(f"{name} must be a sequence of numbers, one at least; got shape {A.shape}")
    return list(A.tolist())


def several(values: Any, name: str, check: Callable[[Any], float]) -> list[float]:
    """Return different numbers, each in the form that `check` gives it; one number is a sequence of one."""
    found = [check(value) for value in ([values] if isinstance(values, numbers.Real) else numbers_of(values, name))]
    if not found:
        raise ValueError(f"{name} is empty; at least one number is needed")
    for value in found:
        if found.count(value) > 1:
            raise ValueError(f"{name} has {value:g} {found.count(value)} times; once is enough")
    return found


def power(p: Any) -> float:
    """Return the power p of the price r ** p."""
    value = real(p, "p")
    if not value >= 1.0:
        raise ValueError(f"p must be at least 1 (p = 1 is RankBoost); got {shown(p)}")
    return squared(value, "p")


def power_of_two(value: float) -> float:
    """Return the largest power of two that is no larger than a number above zero; division by it is exact."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)


def squared(value: float, name: str) -> float:
    """Return a number whose square is one, too."""
    if value > ROOT:
        raise ValueError(f"{name} must be at most {ROOT:g}, so that no square overflows; got {value:g}")
    return value


def nonnegative(x: Any, name: str) -> float:
    """Return a number that is zero or more."""
    value = real(x, name)
    if not value >= 0.0:
        raise ValueError(f"{name} must be zero or more; got {shown(x)}")
    return value


def count(n: Any, name: str, least: int) -> int:
    """Return an integer that is at least `least`."""
    try:
        value = operator.index(n) if not isinstance(n, _NO_NUMBERS) else None
    except TypeError:
        value = None
    if value is None:
        raise TypeError(f"{name} must be an integer; got {shown(n)} ({type(n).__name__})")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {shown(value)}")
    return value


def positive(x: Any, name: str) -> float:
    """Return a number above 0."""
    value = real(x, name)
    if not value > 0.0:
        raise ValueError(f"{name} must be above 0; got {shown(x)}")
    return value


def share(x: Any, name: str) -> float:
    """Return a number from 0 to 1."""
    value = real(x, name)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be between 0 and 1; got {shown(x)}")
    return value


def probability(x: Any, name: str) -> float:
    """Return a number above 0 and below 1."""
    value = real(x, name)
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must be above 0 and below 1; got {shown(x)}")
    return value


def generator(seed: Any) -> np.random.Generator:
    """Return a random generator: a new one from a seed, or the one that is passed."""
    try:
        if isinstance(seed, (bool, np.timedelta64)):
            raise TypeError
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"seed must be an integer, zero or more, or a numpy.random.Generator; got {shown(seed)}"
        ) from None


def threads(n_threads: Any) -> int | None:
    """Return the number of threads; None leaves the choice to the package."""
    return None if n_threads is None else count(n_threads, "n_threads", 1)


def choice(value: Any, name: str, allowed: Collection[str]) -> str:
    """Return one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {shown(value)}")
    return value


def callback(function: Any) -> Callable[[Any], bool | None] | None:
    """Return the callback, which is None or callable."""
    if function is not None and not callable(function):
        raise TypeError(f"callback must be a function of the trace so far, or None; got {type(function).__name__}")
    return function  # type: ignore[no-any-return]


class Vectorised:
    """A user's function of an array, known to give as many numbers, none of them nan."""

    def __init__(self, function: Any, argument: str, owner: str) -> None:
        if not callable(function):
            raise TypeError(f"{argument} of {owner} must be a function of an array; got {type(function).__name__}")
        self._function, self._name = function, f"{argument} of {owner}"

    def __call__(self, x: Any) -> Vector:
        x = np.array(x, dtype=np.float64)  # a copy, as some functions work in place
        try:
            with np.errstate(all="ignore"):
                y = _as_array(self._function(x), f"what {self._name} returns")
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self._name} must take an array of numbers and return one, like NumPy's functions; given an array it "
                f"raised {type(error).__name__}: {error}"
            ) from error
        if y.dtype.kind not in "buif" or (y.dtype.kind == "f" and y.dtype.itemsize < 8):
            raise TypeError(f"{self._name} must return real numbers in double precision; got dtype {y.dtype}")
        if y.shape != x.shape:
            if y.shape != ():
                raise ValueError(
                    f"{self._name} must return as many numbers as it is given, an array of shape {x.shape}; got shape "
                    f"{y.shape}"
                )
            y = np.full(x.shape, y)  # a constant
        y = y.astype(np.float64, copy=False)
        if math.isnan(y.min(initial=math.inf)):
            raise ValueError(f"{self._name} is nan at {x[np.isnan(y)][0]:g}")
        return y


def convex(function: Any, slope: Any, points: Vector, owner: str, variable: str) -> None:
    """Refuse a function that is negative or not convex on sample points, and a slope that is not its derivative.

    Where f is convex, d is a slope at x if f(y) >= f(x) + d (y - x) for all y; points 1e-5 apart
    leave a wrong one little room. Rounding is that of numbers of the size of f, of x and of one.
    """
    letter, kind, way = {"r": ("g", "price", 1.0), "z": ("l", "loss", -1.0)}[variable]
    f, d = function(points), slope(points)
    finite = np.isfinite(f) & np.isfinite(d) & (np.abs(f) < 1e150) & (np.abs(d) < 1e150)
    x, f, d = points[finite], f[finite], d[finite]
    if x.size < 3:
        raise ValueError(f"{letter} of {owner} is finite at too few points between {points[0]:g} and {points[-1]:g}")
    if (f < 0.0).any():
        i = int(np.argmax(f < 0.0))
        raise ValueError(f"{letter} of {owner} is {f[i]:g} at {variable} = {x[i]:g}; a {kind} must be zero or more")
    rounding = 1e-10 * np.abs(f) + 1e-15 * (1.0 + np.abs(x)) * min(1.0, float(np.abs(f).max())) + 1e-300
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    chord = (1.0 - share) * f[:-2] + share * f[2:]
    above = np.flatnonzero(f[1:-1] - chord > rounding[1:-1] + 1e-10 * chord)
    if above.size:
        i = _nearest_to_one(x, above + 1)
        raise ValueError(
            f"{letter} of {owner} is not convex: at {variable} = {x[i]:.3g} it is {f[i]:.3g}, above its chord from "
            f"{x[i - 1]:.3g} to {x[i + 1]:.3g}"
        )
    near = 1e-5 * np.maximum(np.abs(x), 1e-3)
    others = [(x - near)[x > near] if variable == "r" else x - near, x + near, x]
    y = np.concatenate(others)
    fy = function(y)
    y, fy = y[np.isfinite(fy)], fy[np.isfinite(fy)]
    rise = d[:, None] * (y - x[:, None])
    wrong = f[:, None] + rise - fy > rounding[:, None] + 1e-10 * (np.abs(fy) + np.abs(rise))
    if wrong.any():
        i = _nearest_to_one(x, np.flatnonzero(wrong.any(axis=1)))
        k = int(np.argmin(np.where(wrong[i], np.abs(y - x[i]), math.inf)))
        raise ValueError(
            f"d{letter} of {owner} is not the derivative of {letter}: {d[i]:.3g} at {variable} = {x[i]:.3g}, where "
            f"{letter} changes at the rate {(fy[k] - f[i]) / (y[k] - x[i]):.6g}"
        )
    if not (way * d > 0.0).any():
        hint = "rises with the height r" if variable == "r" else "falls with z, a positive's score less a negative's"
        raise ValueError(f"{letter} of {owner} goes the wrong way, or nowhere: a {kind} {hint}")


def sampled(slope: Any, points: Vector, check: bool) -> tuple[Vector, Vector, bool]:
    """Return the points at which a slope is finite, the slopes there, and whether it jumps in between.

    Nothing and no jumps where it cannot be known and is not to be checked.
    """
    try:
        slopes = slope(points)
        finite = np.isfinite(slopes)
        return points[finite], slopes[finite], _jumps(slope, points[finite])
    except (TypeError, ValueError):
        if check:
            raise
        return np.empty(0), np.empty(0), False


def _jumps(slope: Any, points: Vector) -> bool:
    """Whether a slope jumps: bisection runs after the larger part of its change between two points."""
    low, high = points[:-1], points[1:]
    at_low, at_high = slope(low), slope(high)
    with np.errstate(invalid="ignore"):
        change, size = np.abs(at_high - at_low), np.abs(at_high) + np.abs(at_low)
        rounding = 1e-9 * size + 1e-13 * min(1.0, float(size.max()))
    for _ in range(60):
        middle = 0.5 * (low + high)
        at = slope(middle)
        with np.errstate(invalid="ignore"):
            left = np.abs(at - at_low) > np.abs(at_high - at)
        low, at_low = np.where(left, low, middle), np.where(left, at_low, at)
        high, at_high = np.where(left, middle, high), np.where(left, at, at_high)
    with np.errstate(invalid="ignore"):
        jump = np.abs(at_high - at_low)
        return bool((np.isfinite(size) & (jump > rounding) & (jump > 1e-3 * change)).any())


def _nearest_to_one(x: Vector, where: NDArray[np.intp]) -> int:
    """Of some points, the one that is easiest to try."""
    return int(where[np.argmin(np.abs(np.log(np.maximum(np.abs(x[where]), 1e-9))))])


def names(given: Sequence[str] | None, size: int, default: Sequence[str]) -> tuple[str, ...]:
    """Return one name per ranker."""
    if given is None:
        return tuple(default)
    if isinstance(given, str) or len(given) != size:
        raise ValueError(f"names must be a sequence of {size} names, one per ranker; got {shown(given)}")
    return tuple(str(name) for name in given)


_DEPTH = 64
"""How deep lists and dictionaries of a file may lie in each other; those of a collection do not come near."""

DIGITS = 309
"""Digits of an integer in a file, at most: those of the largest double."""

TOO_DEEP = f"{{}} has lists or dictionaries in each other, more than {_DEPTH} deep"


def shallow(x: Any, name: str, room: int = _DEPTH) -> None:
    """Refuse lists and dictionaries that lie in each other without end, or deeper than any that make sense."""
    if not isinstance(x, (Mapping, list, tuple)):
        return
    if room == 0:
        raise ValueError(TOO_DEEP.format(name))
    for inner in x.values() if isinstance(x, Mapping) else x:
        shallow(inner, name, room - 1)


def plain(x: Any, name: str) -> Any:
    """Return a copy of a dictionary that JSON holds as it is: strings, finite numbers, true, false, None in it."""
    if not isinstance(x, Mapping):
        raise TypeError(f"{name} must be a dictionary; got {type(x).__name__}")
    shallow(x, name)
    return _plain(x, name)


def _plain(x: Any, name: str) -> Any:
    if isinstance(x, Mapping):
        for key in x:
            if not isinstance(key, str):
                raise TypeError(f"{name} has the key {shown(key)}; keys must be strings")
        return {str(key): _plain(value, f"{name}[{shown(key)}]") for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_plain(value, f"{name}[{i}]") for i, value in enumerate(x)]
    if isinstance(x, int) and abs(x) >= 10**DIGITS:
        raise ValueError(f"{name} is an integer of more than {DIGITS} digits; make it a float or a string")
    if x is None or isinstance(x, (str, bool, int)):
        return x
    if isinstance(x, float):
        return real(x, name)
    hint = f": pass {name}.tolist()" if hasattr(x, "tolist") else ""
    raise TypeError(
        f"{name} is of type {type(x).__name__}; a file holds strings, numbers, true, false, None, lists and "
        f"dictionaries{hint}"
    )


def python(value: Any) -> Any:
    """One of NumPy's scalars, or a decimal number, as what Python has for it; dates and durations stay."""
    if isinstance(value, np.generic) and not _is_date(value):
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
    """Return a level of a category: a string, a number, or None for a missing value if there may be some.

    `absent` says that a text stands for a missing value.
    """
    if absent or is_missing(value):
        if not missing:
            got = shown(value) if absent else value
            raise ValueError(
                f"{name} has {got} at {_at(row, column, names)}; fill it in, or pass missing='own' to make it a level"
            )
        return None
    value = python(value)
    if isinstance(value, (int, float)) and not abs(value) <= sys.float_info.max:
        raise ValueError(
            f"{name} has {shown(value)} at {_at(row, column, names)}; a level that is a number must be finite"
        )
    if not isinstance(value, (str, bool, int, float)):
        hint = "; make the dates text, with str for instance" if _is_date(value) else ""
        raise TypeError(
            f"{name} has {shown(value)} ({type(value).__name__}) at {_at(row, column, names)}; the argument must be a "
            f"table in which every value is a string, a number or a boolean{hint}"
        )
    return value


class Fields:
    """What a dictionary read from a file holds, checked field by field."""

    def __init__(self, data: Any, what: str, form: str, version: int) -> None:
        if not isinstance(data, Mapping):
            hint = ": read it with json.loads first" if isinstance(data, (str, bytes)) else ""
            raise TypeError(f"{what} must be a dictionary, as to_dict returns it; got {type(data).__name__}{hint}")
        self._data, self._what = data, what
        self._known = {"format", "version"}
        if data.get("format") != form:
            raise ValueError(f"{what} must have the format {form!r}; got {shown(data.get('format'))}")
        found = data.get("version")
        if isinstance(found, (bool, np.bool_)) or found != version:
            raise ValueError(
                f"{what} have version {shown(found)} of the format, and this pnorm reads version {version}"
            )

    def get(self, key: str) -> Any:
        """Return a field that must be there."""
        if key not in self._data:
            raise ValueError(f"{self._what} lack the field {key!r}")
        self._known.add(key)
        return self._data[key]

    def nothing_else(self) -> None:
        """Refuse fields that no one has asked for."""
        for key in self._data:
            if key not in self._known:
                raise ValueError(f"{self._what} have the field {shown(key)}, which this version does not know")

    def choice(self, key: str, allowed: Collection[str]) -> str:
        """Return one of the allowed words."""
        return choice(self.get(key), f"{key!r} of {self._what}", allowed)

    def string(self, key: str) -> str:
        """Return a string."""
        value = self.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a string", value)
        return value

    def dictionary(self, key: str) -> dict[str, Any]:
        """Return a dictionary."""
        value = self.get(key)
        if not isinstance(value, dict):
            raise self._wrong(key, "a dictionary", value)
        return value

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def items(self, key: str, size: int | None = None) -> list[Any]:
        """Return a list, of a given size if there is one."""
        value = self.get(key)
        if not isinstance(value, list) or not value or size not in (None, len(value)):
            raise self._wrong(key, "a list" + (f" of {size!s:.80}" if size else " that is not empty"), value)
        return value

    def strings(self, key: str, size: int | None) -> tuple[str, ...]:
        """Return a list of strings."""
        values = self.items(key, size)
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(key, "a list of strings", values)
        return tuple(values)

    def optional_strings(self, key: str, size: int | None) -> tuple[str, ...] | None:
        """Return a list of strings, or None."""
        return None if self.get(key) is None else self.strings(key, size)

    def count(self, key: str, least: int) -> int:
        """Return an integer that is at least `least`."""
        value = count(self.get(key), f"{key!r} of {self._what}", least)
        if value > sys.maxsize:
            raise self._wrong(key, "a number of columns", value)
        return value

    def optional_count(self, key: str, least: int) -> int | None:
        """Return an integer that is at least `least`, or None."""
        return None if self.get(key) is None else self.count(key, least)

    def numbers(self, key: str, size: int | None) -> list[float]:
        """Return a list of finite numbers."""
        return numbers_of(self.items(key, size), f"{key!r} of {self._what}")

    def cuts(self, key: str, width: int | None, missing: bool) -> list[tuple[int, float]]:
        """Return pairs of a column and a cut; the cut None, if allowed, stands for a missing value, and is NaN here."""
        pairs = []
        for pair in self.items(key):
            if not isinstance(pair, list) or len(pair) != 2:
                raise self._wrong(key, "a list of pairs [column, cut]", pair)
            column = count(pair[0], f"a column in {key!r} of {self._what}", 0)
            if column >= (width or sys.maxsize):
                raise self._wrong(key, f"cuts of columns 0 to {(width or sys.maxsize) - 1}", pair)
            if pair[1] is None and not missing:
                raise self._wrong(key, "numbers, as 'missing' is false", pair)
            pairs.append((column, math.nan if pair[1] is None else real(pair[1], f"a cut in {key!r} of {self._what}")))
        return pairs

    def levels(self, field: str, most: int) -> list[tuple[Any, ...]]:
        """Return tuples of levels, each of which stands there once; None is a missing value."""
        columns, name = [], f"{field!r} of {self._what}"
        for c, column in enumerate(self.items(field)):
            if not isinstance(column, list):
                raise self._wrong(field, "a list of lists of levels", column)
            if len(column) > most:
                raise ValueError(f"a column has {len(column)} levels; there can be {most} at most")
            columns.append(tuple(level(value, name, k, c, True) for k, value in enumerate(column)))
            if len({key(value) for value in columns[-1]}) < len(column):
                raise self._wrong(field, "different levels in every column", column)
        return columns

    def _wrong(self, key: str, expected: str, got: Any) -> ValueError:
        return ValueError(f"{key!r} of {self._what} must be {expected}; got {shown(got)}")
