"""Sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.cells import not_finite
from pnorm._checks.integers import stay_apart


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
        A.indices, A.indptr = (x.astype(np.int64) for x in (A.indices, A.indptr))
    wrong = np.isinf(A.data) if missing else ~np.isfinite(A.data)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        column = int(np.searchsorted(A.indptr, k, side="right")) - 1
        number = column if columns is None else columns[column]
        raise not_finite(A.data[k], name, A.indices[k], number, None, missing)
    return A
