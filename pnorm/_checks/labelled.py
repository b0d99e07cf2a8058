"""Rows and scores with labels: which are positive, and both sides of scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Vector, is_columns, is_sparse, n_rows, scores, summable, weights
from pnorm._checks.frames import column_names, from_records
from pnorm._checks.grouping import labels
from pnorm._checks.scalars import shown
from pnorm._checks.tables import sparse
from pnorm._checks.text import first
from pnorm._checks.words import numeral

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

BY_LABELS = "If these are labels, pass the scores first and the labels by name: auc(scores, y=labels)"
"""The end of messages on labels in the place of scores."""


def one_label(positive: Any, pos_label: Any) -> Any:
    """Return the positive label, which has two names."""
    if positive is not None and pos_label is not None:
        raise ValueError("positive and pos_label are both given, and are two names of one argument; leave positive out")
    return positive if pos_label is None else pos_label


def positives(X: Any, y: Any, size: int, positive: Any = None, name: str = "y") -> NDArray[np.bool_]:
    """Return which of so many rows are positive by their labels."""
    codes, known = labels(y, name, size)
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
    return _columns(X) if is_columns(X) else rows_of(X, "X")


def rows_of(X: Any, name: str) -> int:
    """Return the number of rows of X, which is not a dictionary of columns."""
    if isinstance(X, (str, bytes, dict, set, frozenset)) and not is_sparse(X):  # one of these is a dict
        raise TypeError(f"{name} must be an array, a frame or a list of rows; got {type(X).__name__}")
    size = n_rows(X, name)
    if not (is_sparse(X) or hasattr(X, "__getitem__") or hasattr(X, "__array__")):
        raise TypeError(f"{name} must be an array, a frame or a list of rows; got {type(X).__name__}")
    if is_sparse(X):
        sparse(X, name)
    return size


def _columns(X: Any) -> int:
    """Return the number of rows of a dictionary of columns."""
    sizes = {name: rows_of(column, f"X[{shown(name)}]") for name, column in X.items()}
    size = n_rows(X, "X")
    for name, of_column in sizes.items():
        if of_column != size:
            raise ValueError(
                f"X[{shown(name)}] has {of_column} values and {shown(next(iter(sizes)))} has {size}; "
                "every column needs one value for each row"
            )
    return size


def without_column(X: Any, name: str, role: str = "y") -> tuple[Any, Any]:
    """Return a table without one of its columns, and that column, which is the argument `role`."""
    records = from_records(X, "X")
    names = tuple(records) if is_columns(records) else column_names(X) or ()
    if name not in names:
        have = f"X has the columns {first(names, 8)}" if names else "X has no column names"
        what = "label" if role == "y" else "value"
        raise ValueError(
            f"{role} is {shown(name)}, which is not a column of X; {have}. Or pass {role} as a vector, one "
            f"{what} for each row"
        )
    if is_columns(X):
        return {key: column for key, column in X.items() if key != name}, X[name]
    if is_columns(records):
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
    few = first(known, 8, shown)
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
        raise ValueError(f"no row of {name} has the label {shown(positive)}; the labels are {few}") from None


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
    """Return one form for all spellings of a label: lower case, no spaces around, no full stop, 1 for an exact 1.0."""
    try:
        text = str(label).strip()
    except ValueError:  # Python writes no number of thousands of digits
        return ""
    try:
        value = numeral(text)
    except ValueError:
        return text.lower().removesuffix(".") or text
    return f"{value:.17g}" if abs(value) < 2**53 else text.lower()


def counted_places(places: Sequence[NDArray[np.intp]], c: Vector | None) -> list[NDArray[np.intp]]:
    """Return the rows of each side whose weight is not zero; refuse weights that leave a side without rows."""
    counted = [where if c is None else where[c[where] > 0.0] for where in places]
    for rows, kind in zip(counted, ("positive", "negative"), strict=True):
        if not rows.size:
            raise ValueError(f"weight is zero for all {kind} rows; at least one of them needs a positive weight")
    return counted


class Sides(NamedTuple):
    """Scores of the positives and of the negatives, with their weights."""

    f_pos: Any
    f_neg: Any
    pos_weight: Any
    neg_weight: Any


def sides_of_scores(
    f_pos: Any,
    f_neg: Any,
    *,
    y: Any = None,
    pos_label: Any = None,
    weight: Any = None,
    pos_weight: Any = None,
    neg_weight: Any = None,
    name: str = "scores",
) -> Sides:
    """Return the scores of both sides, taken apart by their labels y if these are given.

    Without labels, what was passed is returned unchanged. Messages call all scores by `name`.
    """
    if y is None:
        refuse_without_labels({"pos_label": pos_label, "weight": weight})
        if f_neg is None:
            raise TypeError(
                "f_neg is missing; pass the scores of the negatives, or the labels of all scores as y: "
                "auc(scores, y=labels). Where a ScoreTable is accepted, it takes the place of both sides"
            )
        for name, f in (("f_pos", f_pos), ("f_neg", f_neg)):
            _refuse_text(f, name)
        return Sides(f_pos, f_neg, pos_weight, neg_weight)
    if f_neg is not None:
        raise ValueError("f_neg and y are both given; with y, all scores are in the first argument. Leave f_neg out")
    refuse_of_sides({"pos_weight": pos_weight, "neg_weight": neg_weight}, ("weight",))
    if isinstance(y, str):
        raise TypeError(f"y must hold one label for each score; got {shown(y)}, and scores have no columns")
    _refuse_text(f_pos, name)
    f = scores(f_pos, name)
    if pos_label is None:
        _refuse_exchanged(f, y)
    positive = positives(f_pos, y, f.size, pos_label)
    aligned(f_pos, weight, "weight")
    c = weights(weight, "weight", f.size, some=False)
    summable(c, "weight")
    places = np.flatnonzero(positive), np.flatnonzero(~positive)
    counted_places(places, c)
    return Sides(*(f[where] for where in places), *(None if c is None else c[where] for where in places))


def _refuse_text(f: Any, name: str) -> None:
    """Refuse words in the place of scores."""
    if isinstance(f, np.ndarray):
        words = f.dtype.kind in "US"
    else:
        words = type(f) in (list, tuple) and bool(f) and isinstance(f[0], str)
    if words:
        what = f"dtype {f.dtype}" if isinstance(f, np.ndarray) else shown(f[0])
        raise TypeError(f"{name} must hold real numbers; got {what}. {BY_LABELS}")


def _refuse_exchanged(f: Any, y: Any) -> None:
    """Refuse labels and scores in each other's place: scores of 0 and 1 alone, and labels that are fractions."""
    if not (f.min() in (0.0, -1.0) and f.max() == 1.0 and ((f == f.min()) | (f == 1.0)).all()):
        return
    try:
        labels = np.asarray(y)
    except (TypeError, ValueError):
        return
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels != np.rint(labels)).any():
        raise ValueError(
            f"y holds fractions, and the scores are only {f.min():g} and 1; they seem to be exchanged. Pass the scores "
            "first and the labels as y: auc(scores, y=labels)"
        )
