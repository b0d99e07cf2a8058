"""The split of labelled rows into positives and negatives."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import numeral
from pnorm._checks.text import first

_POSITIVE_WORDS = ("1", "true", "yes", "y", "t", "positive", "pos")
_NEGATIVE_WORDS = ("0", "-1", "false", "no", "n", "f", "negative", "neg")
"""Labels that are positive or negative without further information."""


def split(X: Any, y: Any, *more: Any, positive: Any = None) -> tuple[Any, ...]:
    """Take rows apart by their labels: the form in which `train` wants them.

    Parameters
    ----------
    X : array, data frame, sparse matrix, dictionary of columns or sequence, with N rows
        The rows: NumPy, pandas, polars, pyarrow, SciPy sparse, a dictionary of columns, or a list of anything.
    y : sequence of N labels, or str
        Numbers, strings or booleans, in a list, an array, or a column of a frame; or the name of a column of X that
        holds them, which is then no part of the rows. X is then a frame, a dictionary of columns, or a list of
        dictionaries, one for each row.
    *more : sequences of length N, or None
        Whatever else there is of every row, such as weights and groups; None is passed on.
    positive : label, optional
        The label of positive rows; all others are negative. May be left out if the labels are plain opposites: 1 (or
        "1"), true, yes, y, t, positive or pos, in capitals or not, and 0, -1, false, no, n, f, negative or neg.

    Returns
    -------
    pos, neg
        The rows of X with either kind of label, in the order in which they came, in the form in which X came:
        an array gives arrays, a frame gives frames with the same columns, a list gives lists, a dictionary of columns
        gives dictionaries.
    (more_pos, more_neg), ...
        The same for each of `more`. With some of them, the rows of X are a pair as well.

    Raises
    ------
    ValueError
        If lengths differ, a label is missing, there is only one kind of rows, or `positive` has to be said or is no
        label of any row; if pandas indices differ, which would join the wrong rows.
    TypeError
        If something is not a sequence of rows, or a label is not a number, a string or a boolean.

    Examples
    --------
    >>> import pnorm
    >>> X = [[31.0, 5.0], [44.0, 0.0], [27.0, 2.0]]
    >>> pnorm.split(X, [1, 0, 1])
    ([[31.0, 5.0], [27.0, 2.0]], [[44.0, 0.0]])

    >>> pnorm.split(X, ["yes", "no", "Yes"])
    ([[31.0, 5.0], [27.0, 2.0]], [[44.0, 0.0]])

    A dictionary of columns, one of which has the labels:

    >>> pnorm.split({"age": [31, 44, 27], "town": ["Ulm", "Bonn", "Ulm"], "good": ["yes", "no", "yes"]}, "good")
    ({'age': [31, 27], 'town': ['Ulm', 'Ulm']}, {'age': [44], 'town': ['Bonn']})

    With weights, and labels that do not speak for themselves:

    >>> (pos, neg), (pos_weight, neg_weight) = pnorm.split(X, ["won", "lost", "open"], [1.0, 2.0, 0.5], positive="won")
    >>> pos, pos_weight, neg_weight
    ([[31.0, 5.0]], [1.0], [2.0, 0.5])
    >>> lam, trace = pnorm.train(pos, neg, pos_weight=pos_weight, neg_weight=neg_weight, t_max=1)
    """
    if isinstance(y, str):
        X, y = _without(X, y)
    size = _columns(X) if _checks.is_columns(X) else _rows(X, "X")
    keep = positives(X, y, size, positive)
    names = [f"argument {k} after y" for k in range(1, len(more) + 1)]
    for name, values in zip(names, more, strict=True):
        if values is not None:
            if _rows(values, name) != size:
                raise ValueError(f"{name} must hold one value per row, {size}; got {_rows(values, name)}")
            _aligned(X, values, name)
    sides = np.flatnonzero(keep), np.flatnonzero(~keep)
    pairs = [
        tuple(None if values is None else _checks.rows(values, places) for places in sides) for values in (X, *more)
    ]
    return tuple(pairs) if more else pairs[0]


def positives(X: Any, y: Any, size: int, positive: Any = None, name: str = "y") -> NDArray[np.bool_]:
    """Return which of so many rows are positive by their labels."""
    codes, known = _checks.labels(y, name, size)
    _aligned(X, y, name)
    return np.isin(codes, _positives(known, positive, name))


def _rows(X: Any, name: str) -> int:
    if isinstance(X, (str, bytes, dict, set, frozenset)) and not _checks.is_sparse(X):  # one of these is a dict
        raise TypeError(f"{name} must be an array, a frame or a list of rows; got {type(X).__name__}")
    size = _checks.n_rows(X, name)
    if not (_checks.is_sparse(X) or hasattr(X, "__getitem__") or hasattr(X, "__array__")):
        raise TypeError(f"{name} must be an array, a frame or a list of rows; got {type(X).__name__}")
    if _checks.is_sparse(X):
        _checks.sparse(X, name)
    return size


def _columns(X: Any) -> int:
    """Return the number of rows of a dictionary of columns."""
    sizes = {name: _rows(column, f"X[{_checks.shown(name)}]") for name, column in X.items()}
    size = _checks.n_rows(X, "X")
    for name, of_column in sizes.items():
        if of_column != size:
            raise ValueError(
                f"X[{_checks.shown(name)}] has {of_column} values and {_checks.shown(next(iter(sizes)))} has {size}; "
                "every column needs one value for each row"
            )
    return size


def _without(X: Any, name: str) -> tuple[Any, Any]:
    """Return a table without one of its columns, and that column."""
    records = _checks.from_records(X, "X")
    names = tuple(records) if _checks.is_columns(records) else _checks.column_names(X) or ()
    if name not in names:
        have = f"X has {first(names, 8)}" if names else "X has no names"
        raise ValueError(f"y = {_checks.shown(name)} is no column of X, and labels are one for each row: {have}")
    if _checks.is_columns(X):
        return {key: column for key, column in X.items() if key != name}, X[name]
    if _checks.is_columns(records):
        return [{key: value for key, value in row.items() if key != name} for row in X], records[name]
    if hasattr(X, "iloc"):
        return X.drop(columns=name), X[name]
    if hasattr(X, "column_names"):  # pyarrow
        return X.drop_columns([name]), X[name]
    return X.drop(name), X[name]


def _aligned(X: Any, values: Any, name: str) -> None:
    """Refuse a pandas object whose index differs from that of another, as rows are matched by position."""
    if hasattr(X, "iloc") and hasattr(values, "iloc") and not X.index.equals(values.index):
        raise ValueError(
            f"{name} has another index than X, and rows go together by position: bring it into the order of X with "
            ".loc[X.index], or drop both with .reset_index(drop=True)"
        )


def _positives(known: list[Any], positive: Any, name: str) -> list[int]:
    """Return the labels that are positive."""
    few = first(known, 8, _checks.shown)
    if len(known) == 1:
        raise ValueError(f"all rows of {name} have the label {few}; both kinds of rows are needed")
    if positive is None:
        plain = plainly_positive(known)
        if not plain:
            raise ValueError(f"say which label of {name} is positive with positive=...; the labels are {few}")
        return [k for k, label in enumerate(known) if label in plain]
    try:
        return [known.index(positive)]
    except (ValueError, ArithmeticError):  # there is a nan, of Decimal's, that compares with nothing
        raise ValueError(f"no row of {name} has the label {_checks.shown(positive)}; the labels are {few}") from None


def plainly_positive(labels: Collection[Any]) -> set[Any]:
    """Return the labels that are positive by their own words, if all others are their opposite; else none."""
    words = [word(label) for label in labels]
    plain = set(words)
    if len(plain) != 2 or set(map(is_plain, plain)) != {True, False}:
        return set()
    return {label for label, text in zip(labels, words, strict=True) if is_plain(text)}


def is_plain(text: str) -> bool | None:
    """Return whether a word, as `word` writes it, is positive by itself, or negative; None if it is neither."""
    return True if text in _POSITIVE_WORDS else False if text in _NEGATIVE_WORDS else None


def word(label: Any) -> str:
    """Return one form for all spellings of a label: lower case, and 1 for 1.0 or +1, where doubles are exact."""
    try:
        text = str(label)
    except ValueError:  # Python writes no number of thousands of digits
        return ""
    try:
        value = numeral(text)
    except ValueError:
        return text.lower()
    return f"{value:.17g}" if abs(value) < 2**53 else text.lower()
