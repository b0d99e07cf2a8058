"""Splitting of rows with labels into positives and negatives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Label, Labels, Rows, numeral
from pnorm._checks.text import first

_POSITIVE_WORDS = ("1", "true", "yes", "y", "t", "positive", "pos")
_NEGATIVE_WORDS = ("0", "-1", "false", "no", "n", "f", "negative", "neg")
"""Labels that are positive or negative without further information."""

PAIRS = (
    *[("ja", no) for no in ("nein", "nee", "nej", "nei")],
    *[(yes, "no") for yes in ("sí", "si", "sì")],
    *[("sim", no) for no in ("não", "nao")],
    *[("da", no) for no in ("ne", "nu")],
    *[("evet", no) for no in ("hayır", "hayir")],
    *[("kyllä", "ei"), ("kylla", "ei"), ("oui", "non"), ("tak", "nie"), ("ano", "ne"), ("áno", "nie"), ("igen", "nem")],
    *[("да", "нет"), ("так", "ні"), ("ναι", "όχι"), ("はい", "いいえ"), ("是", "否")],
    *[("wahr", "falsch"), ("vrai", "faux"), ("vero", "falso"), ("verdadero", "falso"), ("verdadeiro", "falso")],
)
"""Labels of other languages, positive and negative, that are plain only as a pair."""

_POSITIVE = {*_POSITIVE_WORDS, *[yes for yes, _ in PAIRS]}
_NEGATIVE = {*_NEGATIVE_WORDS, *[no for _, no in PAIRS]}


def split(
    X: Rows, y: Labels, *more: Any, positive: Label | None = None, pos_label: Label | None = None
) -> tuple[Any, ...]:
    """Split rows, or scores, by their labels into positives and negatives.

    Parameters
    ----------
    X : array, data frame, sparse matrix, dictionary of columns or sequence, with N rows
        The rows: NumPy, pandas, polars, pyarrow, SciPy sparse, a dictionary of columns, or a list of anything. A vector
        of scores is accepted as well.
    y : sequence of N labels, or str
        Numbers, strings or booleans, in a list, an array, or a column of a frame. Or the name of the column of X that
        holds the labels; the column is then left out of the rows. X is in this case a frame, a dictionary of columns,
        or a list of dictionaries, one for each row.
    *more : sequences of length N, or None
        Other values of each row, such as weights and groups. None is returned as (None, None).
    positive : label, optional
        Another name for `pos_label`.
    pos_label : label, optional
        The label of positive rows; all others are negative. Leave it out if the labels are plain opposites: 1 (or
        "1"), true, yes, y, t, positive or pos, and 0, -1, false, no, n, f, negative or neg, or yes and no in another
        language, such as ja and nein, oui and non, sí and no. Capitals make no difference.

    Returns
    -------
    pos, neg
        The positive and the negative rows of X, in their order in X and in the form of X: an array gives arrays, a
        frame gives frames with the same columns, a list gives lists, a dictionary of columns gives dictionaries.
    (more_pos, more_neg), ...
        The same for each of `more`. If there are any, the rows of X are returned as a pair as well.

    Raises
    ------
    ValueError
        If lengths differ, a label is missing, all rows are of one kind, `pos_label` is needed and missing, no row has
        the label `pos_label`, or the indices of pandas objects differ, which would join the wrong rows.
    TypeError
        If an argument is not a sequence of rows, or a label is not a number, a string or a boolean.

    See Also
    --------
    train : Accepts rows with labels as well: ``pnorm.train(X, y=y)``.

    Examples
    --------
    >>> import pnorm
    >>> X = [[31.0, 5.0], [44.0, 0.0], [27.0, 2.0]]
    >>> pnorm.split(X, [1, 0, 1])
    ([[31.0, 5.0], [27.0, 2.0]], [[44.0, 0.0]])

    >>> pnorm.split(X, ["yes", "no", "Yes"])
    ([[31.0, 5.0], [27.0, 2.0]], [[44.0, 0.0]])

    A dictionary of columns, one of which holds the labels:

    >>> pnorm.split({"age": [31, 44, 27], "town": ["Ulm", "Bonn", "Ulm"], "good": ["yes", "no", "yes"]}, "good")
    ({'age': [31, 27], 'town': ['Ulm', 'Ulm']}, {'age': [44], 'town': ['Bonn']})

    Weights, and labels of which one has to be named as the positive one:

    >>> (pos, neg), (pos_weight, neg_weight) = pnorm.split(X, ["won", "lost", "open"], [1.0, 2.0, 0.5], pos_label="won")
    >>> pos, pos_weight, neg_weight
    ([[31.0, 5.0]], [1.0], [2.0, 0.5])
    >>> lam, trace = pnorm.train(pos, neg, pos_weight=pos_weight, neg_weight=neg_weight, t_max=1)

    Scores, for the functions of `pnorm.metrics`:

    >>> f_pos, f_neg = pnorm.split([0.9, 0.2, 0.4, 0.3], [1, 0, 1, 0])
    >>> pnorm.metrics.positives_at_top(f_pos, f_neg)
    2
    """
    positive = one_label(positive, pos_label)
    if isinstance(y, str):
        X, y = without_column(X, y)
    size = count_rows(X)
    keep = positives(X, y, size, positive)
    names = [f"argument {k} after y" for k in range(1, len(more) + 1)]
    for name, values in zip(names, more, strict=True):
        if values is not None:
            if _rows(values, name) != size:
                raise ValueError(f"{name} must hold one value per row, {size}; got {_rows(values, name)}")
            aligned(X, values, name)
    sides = np.flatnonzero(keep), np.flatnonzero(~keep)
    pairs = [
        tuple(None if values is None else _checks.rows(values, places) for places in sides) for values in (X, *more)
    ]
    return tuple(pairs) if more else pairs[0]


def one_label(positive: Any, pos_label: Any) -> Any:
    """Return the positive label, which has two names."""
    if positive is not None and pos_label is not None:
        raise ValueError("positive and pos_label are both given, and are two names of one argument; leave positive out")
    return positive if pos_label is None else pos_label


def positives(X: Any, y: Any, size: int, positive: Any = None, name: str = "y") -> NDArray[np.bool_]:
    """Return which of so many rows are positive by their labels."""
    codes, known = _checks.labels(y, name, size)
    aligned(X, y, name)
    return np.isin(codes, _positives(known, positive, name))


def refuse_without_labels(given: Mapping[str, Any]) -> None:
    """Refuse arguments that go with labels, where there are none."""
    for name, value in given.items():
        if value is not None:
            instead = "" if name == "pos_label" else f", or use pos_{name} and neg_{name}"
            raise ValueError(f"{name} needs labels: pass the label of every row as y{instead}")


def refuse_of_sides(given: Mapping[str, Any], of_rows: Collection[str]) -> None:
    """Refuse arguments for one side, where all rows have labels; `of_rows` are those for all rows."""
    for name, value in given.items():
        if value is not None:
            what = name.partition("_")[2]
            instead = f"pass {what}, one value for each row" if what in of_rows else "pass pos and neg without y"
            raise ValueError(f"{name} is for rows of two sides, and y is given; {instead}")


def count_rows(X: Any) -> int:
    """Return the number of rows of X, in any form; refuse what is no rows."""
    return _columns(X) if _checks.is_columns(X) else _rows(X, "X")


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


def without_column(X: Any, name: str, role: str = "y") -> tuple[Any, Any]:
    """Return a table without one of its columns, and that column, which is the argument `role`."""
    records = _checks.from_records(X, "X")
    names = tuple(records) if _checks.is_columns(records) else _checks.column_names(X) or ()
    if name not in names:
        have = f"X has the columns {first(names, 8)}" if names else "X has no column names"
        what = "label" if role == "y" else "value"
        raise ValueError(
            f"{role} is {_checks.shown(name)}, which is not a column of X; {have}. Or pass {role} as a vector, one "
            f"{what} for each row"
        )
    if _checks.is_columns(X):
        return {key: column for key, column in X.items() if key != name}, X[name]
    if _checks.is_columns(records):
        return [{key: value for key, value in row.items() if key != name} for row in X], records[name]
    if hasattr(X, "iloc"):
        return X.drop(columns=name), X[name]
    if hasattr(X, "column_names"):  # pyarrow
        return X.drop_columns([name]), X[name]
    return X.drop(name), X[name]


def aligned(X: Any, values: Any, name: str) -> None:
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
            raise ValueError(f"say which label of {name} is positive with pos_label=...; the labels are {few}")
        return [k for k, label in enumerate(known) if label in plain]
    try:
        return [known.index(positive)]
    except (ValueError, ArithmeticError):  # there is a nan, of Decimal's, that compares with nothing
        raise ValueError(f"no row of {name} has the label {_checks.shown(positive)}; the labels are {few}") from None


def plainly_positive(labels: Collection[Any]) -> set[Any]:
    """Return the labels that are positive by their own words, if all others are their opposite; else none."""
    words = [word(label) for label in labels]
    if len(set(words)) != 2 or not may_be_plain(words):
        return set()
    return {label for label, text in zip(labels, words, strict=True) if is_plain(text)}


def is_pair(words: Iterable[str]) -> bool:
    """Return whether words, as `word` writes them, are yes and no in another language."""
    known = set(words)
    return any(known == set(pair) for pair in PAIRS)


def may_be_plain(words: Collection[str]) -> bool:
    """Return whether words, as `word` writes them, are opposites, or one word that has an opposite."""
    known = set(words)
    if len(known) != 2:
        return len(known) == 1 and is_plain(*known) is not None
    if is_pair(known):
        return True
    return len(known & set(_POSITIVE_WORDS)) == len(known & set(_NEGATIVE_WORDS)) == 1


def is_plain(text: str) -> bool | None:
    """Return whether a word, as `word` writes it, is positive, or negative; None if it is neither."""
    return True if text in _POSITIVE else False if text in _NEGATIVE else None


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
