"""Tables of rows: matrices, dense and sparse, and data frames of pandas, polars and Arrow."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Array, as_array, is_columns, is_sparse, n_rows, refuse_masked, shape_of, summable
from pnorm._checks.frames import (
    _type_of,
    column_names,
    column_of,
    columns_to_floats,
    frame_as_array,
    has_columns,
    same_names,
)
from pnorm._checks.records import record
from pnorm._checks.scalars import shown
from pnorm._checks.values import (
    Names,
    Values,
    advice,
    cell,
    column_called,
    column_values,
    is_date,
    is_numeral,
    not_finite,
    objects_to_floats,
    summing,
)
from pnorm._core import _dense

_WHOLE = 2**1023
"""Integers of smaller size are in the range of floats."""


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
