"""Labels, weights and groups in columns that are read in batches, with the same meaning in all batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector, reads_as_missing
from pnorm._checks import labelled as _labelled
from pnorm._checks.labelled import is_plain, may_be_plain, plainly_positive
from pnorm._checks.text import first, nearest, shown
from pnorm._tables.inputs import Place
from pnorm._tables.source import TableError

_MANY = 20
"""Number of labels above which the message asks whether the column is right."""

RANK, NEGATIVE = UNLABELLED = ("rank", "negative")
"""The ways to treat rows without a label: set them apart and rank them with the others, or take them as negative."""

SAY = "pos_label=..."
"""The option for the positive label, as messages name it."""


class AbsentError(TableError):
    """No row has the positive label."""


def word(label: Any) -> str:
    """Return one form for all spellings of a label, which may differ in blanks as well, also inside."""
    return _labelled.word("".join(label.split()) if isinstance(label, str) else label)


class Labels:
    """Which rows are positive, by a column of labels that is read in batches.

    Labels are compared as words, without regard to capitals and blanks; 1, 1.0 and the text "1" are one label. With
    `positive`, rows with this label, or one of several, are positive, and all others negative. Without it the labels
    must be plain opposites, such as 1 and 0, true and false, yes and no, as in `pnorm.split`. Then a batch can be
    labelled before the others are read.

    A row without a label is an error, and `advice` of the labels so far follows the message. With `unlabelled`, one of
    `UNLABELLED`, it is set apart, or negative.
    """

    def __init__(
        self,
        name: str,
        positive: Any = None,
        say: str = SAY,
        unlabelled: str | None = None,
        advice: Callable[[Counter[str]], str] | None = None,
        column: str | None = None,
    ) -> None:
        """Messages call the labels `column`; by default it is the column `name`."""
        several = positive if isinstance(positive, (list, tuple, set, frozenset)) else [positive]
        self.name, self._say, self._unlabelled, self._advice, self._column = name, say, unlabelled, advice, column
        self._positive = None if positive is None else frozenset(map(str, several))
        self.counts: Counter[str] = Counter()
        """How many rows have each label so far, in all spellings."""
        self.n_missing = 0
        """The number of rows without a label so far."""

    def of(self, column: Any, place: Place) -> NDArray[np.bool_]:
        """Return which rows of a batch are positive, given its labels and the places of its rows."""
        return self.known(column, place)[0]

    def known(self, column: Any, place: Place) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows of a batch are positive, and which have a label."""
        what = f"the label {_checks.shown(self.name)}"
        at, values, codes = _distinct(column, what, place)
        counts = np.bincount(codes, minlength=len(values)).tolist()
        labels = ["" if _has_none(value) else str(value).strip() for value in values]
        of_batch = Counter[str]()
        for label, n in zip(labels, counts, strict=True):
            of_batch[label] += n
        self.n_missing += of_batch.pop("", 0)
        if "" in labels and self._unlabelled is None:
            row = int(at[labels.index("")])
            advice = "" if self._advice is None else f". {self._advice(self.counts + of_batch)}"
            raise TableError(f"{what} is missing in {place(row)}; every row needs one{advice}")
        self.add(of_batch)
        positive = self.positive()
        of_values = np.array([[label in positive, label != ""] for label in labels], bool).reshape(-1, 2)
        return of_values[codes, 0], of_values[codes, 1]

    def add(self, counts: Mapping[str, int]) -> None:
        """Count the labels of more rows; raise TableError if the positive label is not clear."""
        self.counts.update(counts)
        if self._positive is None:
            words = {word(label) for label in self.counts}
            alone = self._unlabelled is not None and len(words) < 2  # the only label so far
            if words and not alone and not may_be_plain(words):
                raise _say_which(self.counts, self._column or _column(self.name), self._say)

    def positive(self) -> set[str]:
        """Return the positive ones of the labels so far."""
        if self._positive is None:
            if self._unlabelled == NEGATIVE and len({word(label) for label in self.counts}) == 1:
                return {label for label in self.counts if is_plain(word(label)) is not False}
            return {label for label in self.counts if is_plain(word(label))}
        words = {word(label) for label in self._positive}
        return {label for label in self.counts if word(label) in words}

    def check(self) -> set[str]:
        """Return the positive labels when all rows are counted; refuse rows of one kind."""
        n_empty = self.n_missing if self._unlabelled == NEGATIVE else 0
        return positive_labels(
            self.counts, self.name, self._positive, say=self._say, n_empty=n_empty, column=self._column
        )


def positive_labels(
    counts: Counter[str],
    name: str,
    positive: Collection[str] | None = None,
    where: str = "",
    say: str = SAY,
    n_empty: int = 0,
    column: str | None = None,
) -> set[str]:
    """Return the labels that mean positive, in all their spellings; refuse a column with one kind of rows.

    `column` is how messages call it, and `where` follows that, such as " of test.csv". `n_empty` rows without a label
    are negative. If all the others have one label, it is positive, unless it plainly means the opposite.
    """
    column, few = column or _column(name), _few(counts)
    if not counts:
        raise TableError(f"{column}{where} has no rows; positive and negative rows are needed")
    known = {word(label) for label in counts}
    if n_empty and positive is None and len(known) == 1 and is_plain(next(iter(known))) is not False:
        return set(counts)
    if len(known) < 2 and not (n_empty and positive is not None):
        raise TableError(f"{column}{where} has only one label, {few}; positive and negative rows are needed")
    if positive is None:
        plain = plainly_positive(list(counts))
        if not plain:
            raise _say_which(counts, column, say)
        return plain
    words = {word(label) for label in positive}
    found = {label for label in counts if word(label) in words}
    if not found:
        raise absent(sorted(positive)[0], counts, column, where)
    if len(found) == len(counts) and not n_empty:
        raise TableError(f"{column}{where} has positive labels only, {few}; positive and negative rows are needed")
    return found


def absent(label: str, counts: Counter[str], column: str, where: str = "") -> AbsentError:
    """Return the error for a positive label that no row has, given the labels that rows have."""
    near = nearest(label, list(counts))
    hint = f"; did you mean {_checks.shown(near[0])}?" if near else ""
    parts = [word(part) for part in label.split(",")]
    if len(parts) > 1 and {*parts} <= {word(own) for own in counts}:
        hint = "; name each of several labels on its own"
    got = _checks.shown(label)
    return AbsentError(f"no row{where} has the label {got} in {column}; its labels are {_few(counts)}{hint}")


def _column(name: str) -> str:
    return f"column {_checks.shown(name)}"


def _say_which(counts: Counter[str], column: str, say: str) -> TableError:
    n = len({word(label) for label in counts})
    many = f". {n:,} labels are many: check that this is the right column" if n > _MANY else ""
    return TableError(f"{column} has the labels {_few(counts)}; name the positive label with {say}{many}")


def _few(counts: Counter[str]) -> str:
    return first([f"{shown(label)} ({n:,})" for label, n in counts.most_common()], 8, str)


class Groups:
    """The numbers of the groups of rows by a column of labels, of any values that a dictionary takes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._known: dict[Any, int] = {}

    def of(self, column: Any, place: Place) -> NDArray[np.intp]:
        """Return the number of the group of each row of a batch; groups are numbered as they first come."""
        values, codes = distinct(column, f"the group {_checks.shown(self.name)}", place)
        found = [self._known.setdefault(_checks.key(value), len(self._known)) for value in values]
        return np.array(found, np.intp)[codes]

    def __len__(self) -> int:
        return len(self._known)


def distinct(column: Any, what: str, place: Place) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct values of a column and the code of each row; refuse a missing one, by its place."""
    at, each, codes = _distinct(column, what, place)
    for row, value in zip(at.tolist(), each, strict=True):
        if _has_none(value):
            raise TableError(f"{what} is missing in {place(row)}; every row needs one")
    return each, codes


def labelled(column: Any, what: str, place: Place) -> NDArray[np.bool_]:
    """Return which rows of a column have a value."""
    _, values, codes = _distinct(column, what, place)
    return np.array([not _has_none(value) for value in values], bool)[codes]


def _distinct(column: Any, what: str, place: Place) -> tuple[NDArray[np.intp], list[Any], NDArray[np.intp]]:
    """Return the first row of each distinct value of a column, the values, and the code of each row."""
    values = _checks.column_values(column)
    try:
        at, codes = _checks.distinct(values)
    except TypeError:
        raise TableError(f"{what} must be a number, a text or a date in every row, from {place(0)} on") from None
    each = values[at].tolist() if isinstance(values, np.ndarray) else [values[row] for row in at.tolist()]
    return at, each, codes


def _has_none(value: Any) -> bool:
    """Return whether a value is missing."""
    return bool(_checks.is_missing(value)) or (isinstance(value, str) and reads_as_missing(value))


def numbers(column: Any, what: str, place: Place) -> Vector:
    """Return a column of numbers, or of text that is numbers, such as weights; refuse others by the place of a row."""
    cells = _checks.cells_of({what: column}, what, None, 1, [0])[0]
    if cells.plain is None and cells.kind not in (_checks.NUMBER, _checks.BOOLEAN):
        values = list(map(cells.value, range(len(cells))))
        row = next((row for row, value in enumerate(values) if not _is_number(value)), 0)
        raise TableError(f"{what} must be a number; got {_checks.shown(values[row])} in {place(row)}")
    found: Vector = np.asarray(cells.values if cells.plain is None else cells.plain.numbers, np.float64)
    odd = np.flatnonzero(~np.isfinite(found))
    if odd.size:
        row = int(odd[0])
        got = "is missing" if np.isnan(found[row]) else f"is {found[row]}"
        raise TableError(f"{what} {got} in {place(row)}; every row needs a finite number")
    return found


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, as text or not, or missing."""
    if not isinstance(value, str):
        return _checks.is_missing(value) or isinstance(value, Real)
    return reads_as_missing(value) or _checks.is_numeral(value)
