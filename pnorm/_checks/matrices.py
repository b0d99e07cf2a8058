"""Matrices and tables of rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Array, as_array, is_sparse, n_rows, refuse_masked, shape_of, summable
from pnorm._checks.cells import advice, cell, is_date, is_numeral, listed, not_finite, objects_to_floats
from pnorm._checks.frames import column_names, column_of, columns_to_floats, frame_as_array, has_columns
from pnorm._checks.integers import stay_apart
from pnorm._checks.scalars import shown
from pnorm._checks.sparse_matrices import sparse_to_floats, summing


@dataclass(frozen=True, eq=False)
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
    names: Sequence[str] | None
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
    # The extremes propagate NaN and infinity without an array of flags.
    if not (math.isfinite(A.min()) and math.isfinite(A.max())):
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
        raise ValueError(f"{name} must be two-dimensional (rows, columns); got shape {A.shape}{_shape_hint(A, name)}")
    if len(A) != size and not converted:
        raise ValueError(f"{name} is of length {size} by its own account, and holds {len(A)} rows")
    width = A.shape[1]
    chosen = np.arange(width) if columns is None else np.asarray(columns, dtype=np.intp)
    at = chosen
    if lies is None and apart:
        stay_apart([X if converted or A.dtype.kind == "f" else A], name, chosen)
    if converted:
        A, at = columns_to_floats(X, chosen, name, names, missing), np.arange(chosen.size)
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
        raise TypeError(f"{name} is sparse; a matrix with all its entries is needed: pass {name}.toarray()")
    A: Array = matrix(X, name)
    return A


def table(
    X: Any, name: str, columns: Collection[int] | None = None
) -> tuple[list[list[Any] | Array], tuple[str, ...] | None]:
    """Return the columns of X, lists of values of any kind or arrays of numbers, and their names if there are any.

    With `columns`, only those with these numbers; the others are empty.
    """
    if is_sparse(X):
        raise TypeError(f"{name} is sparse; categories needs a table of values: a list of rows, an array or a frame")
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
        return list(column)  # tolist would convert them to numbers of nanoseconds
    return listed(column)


def _shape_hint(A: Array, name: str) -> str:
    if A.ndim != 1:
        return ""
    if name == "neg":
        return "; train takes the good and the bad rows apart: train(X[y == 1], X[y == 0])"
    return "; a single column has shape (N, 1), a single row (1, d)"


def no_number(X: Any, name: str) -> str | None:
    """Return a message on the first value of X that is a date or a text other than a number; None if there is none."""
    columns, names = table(X, name)
    for j, column in enumerate(columns):
        for i, value in enumerate(column):
            if is_date(value) or (isinstance(value, str) and not is_numeral(value)):
                return f"{name} has {shown(value)} at {cell(i, j, names)}; every value must be a number: " + (
                    advice(True, False)
                    if is_date(value)
                    else "rankers='categories' makes indicators of the levels of all columns, a function of (pos, neg) "
                    "pnorm.rankers.categories of this column, and OneHotEncoder, say, encodes it"
                )
    return None


def width(X: Any, name: str) -> int:
    """Return the number of columns of X; the values are read only if X has no shape."""
    shape = shape_of(X)
    return int(shape[1]) if len(shape) == 2 else some(X, name, columns=[]).width


def same_width(pos: Any, neg: Any) -> None:
    """Refuse two sides whose numbers of columns differ."""
    a, b = width(pos, "pos"), width(neg, "neg")
    if a != b:
        raise ValueError(f"pos has {a} columns and neg has {b}; both sides need the same columns")


def same_form(pos: Any, neg: Any) -> None:
    """Refuse two sides of which one is sparse and the other is not."""
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
    if shape_of(X):
        return (X if hasattr(X, "__getitem__") and not isinstance(X, memoryview) else np.asarray(X))[places]
    return type(X)(X[i] for i in places.tolist()) if isinstance(X, (list, tuple)) else [X[i] for i in places.tolist()]


def pairs(q: Any, name: str) -> NDArray[np.float64]:
    """Return one number per pair, zero or more, as a float64 matrix (I, K)."""
    a = np.array(matrix(q, name), dtype=np.float64)
    if (a < 0.0).any():
        i, k = np.argwhere(a < 0.0)[0]
        raise ValueError(f"{name} has {a[i, k]} at pair ({i}, {k}); every number must be zero or more")
    summable(a, name)
    return a
