"""Arrays of one dimension: scores, weights and the like."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import text

Array = NDArray[Any]
"""A NumPy array of any dtype; the functions below say which one they return."""

Vector = NDArray[np.float64]
"""A float64 array of one dimension: scores, weights, edges, coefficients."""


def is_sparse(X: object) -> bool:
    """Return whether X is a SciPy sparse matrix or array, without an import of SciPy."""
    return type(X).__module__.startswith("scipy.sparse")


def is_columns(X: object) -> bool:
    """Return whether X is a dictionary of columns; SciPy has a sparse matrix that is a dictionary, too."""
    return isinstance(X, Mapping) and not is_sparse(X)


def shape_of(X: Any) -> tuple[int, ...]:
    """Return the shape that X reports; () if it reports none."""
    if isinstance(X, np.ndarray):
        return tuple(X.shape)
    shape = () if isinstance(X, (list, tuple)) else getattr(X, "shape", ())
    return shape if isinstance(shape, tuple) and all([isinstance(n, (int, np.integer)) for n in shape]) else ()


def n_rows(X: Any, name: str) -> int:
    """Return the number of rows of a sequence, an array or a dictionary of columns; refuse zero rows."""
    if isinstance(X, np.ndarray) and X.size > 0 and X.ndim > 0:
        return len(X)
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        raise TypeError(
            f"{name} is a Dask {type(X).__name__}: pnorm.dask.train takes these, pnorm.dask.code_rows makes weak "
            f"rankers where the rows lie, and {name}.compute() brings them into memory"
        )
    if is_columns(X):
        X = next(iter(X.values()), ())
    try:
        rows = (shape_of(X) or (len(X),))[0]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"{name} must be a sequence of rows or a two-dimensional array; got {type(X).__name__}"
        ) from None
    if rows < 1:
        raise ValueError(f"{name} is empty; at least one row is needed")
    return int(rows)


def refuse_masked(X: Any, name: str) -> None:
    if type(X) is not np.ndarray and isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        at = ", ".join(map(str, np.argwhere(np.ma.getmaskarray(X))[0]))
        raise ValueError(f"{name} is a masked array with a masked value at ({at}); fill or drop it")


@contextlib.contextmanager
def rows_called(name: str) -> Iterator[None]:
    """Let messages on rows X call these by another name."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if type(error) not in (TypeError, ValueError) or name == "X":
            raise
        told = str(error)
        raise type(error)(name + told[1:] if told.startswith("X ") else f"{told} (X is {name} here)") from None


@contextlib.contextmanager
def located(where: str) -> Iterator[None]:
    """Let messages begin with the place of the rows that they are about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError  # not theirs, which may take other arguments
        raise kind(f"{where}: {error}") from error


def as_array(X: Any, name: str) -> Array:
    try:
        return np.asarray(X)
    except (ValueError, TypeError):
        raise ValueError(f"{name} cannot be read as an array: {_unlike(X, name)}") from None


def _unlike(X: Any, name: str) -> str:
    """Return why rows make no array."""
    try:
        sizes = [len(row) for row in X]
        row = next(row for row, size in enumerate(sizes) if size != sizes[0])
    except (TypeError, StopIteration):
        return "its rows differ in length or hold unlike things"
    return f"its rows differ in length, {sizes[0]} in {name}[0] and {sizes[row]} in {name}[{row}]"


def list_to_array(X: Any, name: str) -> Any:
    """Return rows in a list as an array, so that they are converted once; other rows, and large floats, as they are.

    Large floats may stand for whole numbers, which the list still has.
    """
    if not isinstance(X, (list, tuple)):
        return X
    A = as_array(X, name)
    whole = A.dtype.kind in "iub" or (A.dtype.kind == "f" and not (np.abs(A) >= 2.0**53).any())
    return A if A.ndim == 2 and whole else X


def numbered(A: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of every distinct number, in ascending order, and for each row the code of its number."""
    A = np.ascontiguousarray(A)  # an array that is longer than memory is refused at once
    span = int(A.max()) - int(A.min()) + 1 if A.size and A.dtype.kind in "bui" else math.inf
    if span <= A.size:  # a table of the whole numbers in between is faster than sorting
        codes = (A - A.min() if A.dtype.kind == "u" else A.astype(np.intp) - int(A.min())).astype(np.intp)
        first = np.full(int(span), A.size)
        first[codes[::-1]] = np.arange(A.size - 1, -1, -1)
        order = np.argsort(first)[: np.count_nonzero(first < A.size)]
    else:
        _, first, codes = np.unique(A, return_index=True, return_inverse=True)
        order = np.argsort(first)
    place = np.empty(first.size, np.intp)
    place[order] = np.arange(order.size)
    return first[order], place[codes]


def vector(x: Any, name: str, size: int | None, meaning: str) -> Vector:
    """Return a fresh finite float64 vector of the given size, which `meaning` explains in the message."""
    if isinstance(x, tuple) and hasattr(x[-1] if x else x, "lam_at"):
        raise TypeError(f"{name} must be an array; got the pair (lam, trace) that train returns: pass the first")
    if hasattr(x, "lam_at"):
        raise TypeError(
            f"{name} must be an array; got a Trace: pass the coefficients (lam) that train returned with it"
        )
    if hasattr(type(x[0] if isinstance(x, tuple) and x else x), "score"):
        raise TypeError(f"{name} must be an array; got a model: call its own score")
    refuse_masked(x, name)
    a = as_array(x, name)
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


def scores_by_name(given: Any, name: str, size: int, what: str) -> dict[str, Vector]:
    """Return vectors of one length by their names."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping from names to scores; got {type(given).__name__}")
    return {str(key): vector(values, f"{name}[{text.shown(repr(key))}]", size, what) for key, values in given.items()}


def scores(f: Any, name: str) -> Vector:
    """Return a non-empty finite vector of scores."""
    a = vector(f, name, None, "one score per row")
    n_rows(a, name)
    return a


def grades(y: Any, name: str, size: int, meaning: str) -> Vector:
    """Return grades as a finite vector."""
    try:
        return vector(y, name, size, meaning)
    except TypeError as error:
        raise TypeError(f"{error}; grades are numbers: map words or categories to 0, 1, 2, ...") from None


def weights(c: Any, name: str, size: int, some: bool = True) -> Vector | None:
    """Return case weights: nonnegative, one per row and, with `some`, not all zero; None for no weights."""
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
    """Return case weights whose sum is finite."""
    a = weights(c, name, size)
    summable(a, name)
    return a


def summable(a: Array | None, name: str) -> None:
    """Refuse weights whose sum overflows."""
    if a is not None and a.max() > np.finfo(np.float64).max / a.size:
        raise ValueError(f"{name} sums to more than a float can hold; scale it down")


def exponents(p: float, f_pos: Vector, f_neg: Vector, name: str = "init") -> None:
    """Refuse scores whose exponents p f overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = 2.0 * p * max(f_pos.max(), f_neg.max(), -f_pos.min(), -f_neg.min())
    if not math.isfinite(spread):
        raise ValueError(f"{name} gives scores that, times p, overflow; scale it down")


def spans(low: Vector, high: Vector, span: Vector, names: Sequence[str]) -> None:
    """Refuse a range of a column that overflows."""
    j = int(span.argmax())
    if math.isinf(span[j]):
        raise ValueError(
            f"{text.shown(names[j])} spans {low[j]:g} to {high[j]:g}, more than a float can hold; scale it first"
        )


def signs(values: Any, names: Sequence[str], of_rankers: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the required sign of each coefficient, 1 or -1, or 0 for any, from the user and the rankers."""
    if values is None:
        return of_rankers
    a = vector(values, "signs", of_rankers.size, "one sign per weak ranker")
    wrong = ~np.isin(a, (-1.0, 0.0, 1.0))
    if wrong.any():
        j = int(wrong.argmax())
        raise ValueError(f"signs has {a[j]:g} at position {j}; a sign is 1 (at least zero), -1 (at most zero) or 0")
    asked = a.astype(np.int8)
    clash = asked * of_rankers < 0
    if clash.any():
        j = int(clash.argmax())
        raise ValueError(
            f"signs has {asked[j]} for {text.shown(names[j])}, and its own sign is {of_rankers[j]}: the coefficient "
            "could only be zero; leave the ranker out, or give it the sign 0"
        )
    return np.where(asked != 0, asked, of_rankers).astype(np.int8)


def within(lam: Vector, low: Vector, high: Vector, names: Sequence[str]) -> Vector:
    """Return coefficients; refuse one of the wrong sign."""
    wrong = (lam < low) | (lam > high)
    if wrong.any():
        j = int(wrong.argmax())
        sign = "1, zero or more" if lam[j] < 0.0 else "-1, zero or less"
        raise ValueError(f"lam has the coefficient {lam[j]:g} for {text.shown(names[j])}, whose sign must be {sign}")
    return lam


def folds(number: Any, name: str, size: int, most: int | None = None) -> NDArray[np.intp]:
    """Return the fold of each row, -1 for no fold. The number of folds is at most `most`, by default `size`."""
    a = vector(number, name, size, "the number of its fold for each row")
    wrong = (a != np.floor(a)) | (a < -1) | (a >= (size if most is None else most))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{name} has {a[i]:g} at row {i}; folds are numbered from 0, and -1 is for rows that are always trained on"
        )
    return a.astype(np.intp)


def one_or_zero(y: Any, name: str, size: int | None = None) -> NDArray[np.bool_]:
    """Return which rows are positive: label 1 is positive; label 0, or -1 in some files, is negative."""
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


def some_of(values: Any, name: str) -> list[Any]:
    """Return a sequence of values as a list; refuse an empty one."""
    A = as_array(values, name)
    if A.ndim != 1 or A.size == 0:
        raise ValueError(f"{name} must be a sequence of numbers, one at least; got shape {A.shape}")
    return list(A.tolist())


def held_out(f: Array, name: str) -> None:
    """Refuse scores of held-out rows that are not numbers."""
    if not np.isfinite(f).all():
        raise ValueError(
            f"{name} has a row whose score, held out, is more than a float can hold; scale its columns first"
        )
