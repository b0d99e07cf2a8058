"""The common interface of files of rows: names, places, columns, and the text and numbers of a column."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import read
from pnorm._checks import Coded, reads_as_missing

_UNNAMED = ("", "Unnamed: 0")
"""Names that pandas gives to an index which it has saved."""

_WORDS = re.compile(r"\w+([ -]\w+)*")
"""Names of columns that a shell takes as they are, in single quotes; others are offered by their numbers."""


class TableError(ValueError):
    """An error in a file, in one line."""


def named(path: str, names: Sequence[str], notes: list[str]) -> list[str]:
    """Return the names of the columns of a file, of which each has one of its own; add to `notes` what was assumed."""
    names = list(names)
    if len(names) > 1 and names[0] in _UNNAMED:
        called = "index" if "index" not in names else "row index"
        notes.append(f"the first column has no name, and is called {called!r}")
        names[0] = called
    times = Counter(names)
    for position, name in enumerate(names, start=1):
        if not name:
            raise TableError(f"column {position} of {path} has no name in the header; --names A,B,C gives names")
        if times[name] > 1:
            raise TableError(
                f"the column name {_checks.shown(name)} appears more than once in {path}; --names A,B,C gives others"
            )
    return names


@dataclass
class Lazy:
    """Columns of a file, converted one by one on request."""

    column_names: Sequence[str]
    n_rows: int
    fields: Callable[[str], Fields]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.column_names)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: NDArray[np.intp]) -> Lazy:
        return Lazy(self.column_names, rows.size, lambda name: Fields(_checks.rows(self.fields(name).text, rows)))

    def column(self, j: int) -> Fields:
        return self.fields(self.column_names[j])

    def select(self, names: Sequence[str]) -> Lazy:
        return Lazy(names, self.n_rows, self.fields)


def with_numbers(table: Any) -> Any:
    """Return a dictionary of columns as a frame in which text that is numbers is read as such, and others as they are.

    Weak rankers of a table read text by themselves; all others need a matrix, or a frame.
    """
    if not _checks.is_columns(table):
        return table
    names = list(table)
    size = len(table[names[0]])
    return Lazy(names, size, lambda name: Fields(_texts_or_words(table[name])))


def _texts_or_words(column: Any) -> Any:
    """Return a column whose values are text; of other values, the text that they have."""
    values = _checks.listed(column)
    return values if all([isinstance(value, str) for value in values]) else texts_of(column)


@dataclass
class Fields:
    """A column of text, for levels, and an array, of numbers if all of the text reads as numbers."""

    text: Any
    """In a list, or a column of Arrow."""
    dtype = np.dtype(object)

    def tolist(self) -> list[str]:
        return _checks.listed(self.text)

    def read(self) -> Coded:
        """Return numbers, NaN for missing values, and text; true and false are numbers if there is nothing else."""
        texts = Coded.of(self.tolist())
        values = [math.nan if reads_as_missing(text) else read(text) for text in texts.values]
        truths = [isinstance(value, bool) for value in values]
        if any(truths) and not all(truth or value != value for truth, value in zip(truths, values, strict=True)):
            values = [text if truth else value for text, truth, value in zip(texts.values, truths, values, strict=True)]
        return Coded(values, texts.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = floats_of(self.text)
        if found is not None:
            return found
        read = self.read()
        of_text = any(isinstance(value, str) for value in read.values)
        return np.array(read.values, object if of_text else np.float64)[read.codes]


def text_of(value: Any) -> str:
    """Return a value of a workbook as a file of text would have it."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53
    return "" if value is None else str(int(value) if is_whole else value).strip()


def texts_of(column: Any) -> list[str]:
    """Return a column as text without blanks around it; a missing value is empty."""
    values = _checks.column_values(column)
    each = values.values if isinstance(values, Coded) else _checks.listed(column)
    texts = ["" if value is None else str(value).strip() for value in each]
    return list(Coded(texts, values.codes)) if isinstance(values, Coded) else texts


def floats_of(text: Any) -> NDArray[np.float64] | None:
    """Return a column of text as floats if all of it is finite numbers as `numeral` reads them; None otherwise."""
    found: NDArray[np.float64]
    try:
        if not isinstance(text, list):
            try:
                found = text.cast("float64").to_numpy()
                return found if np.isfinite(found).all() else None
            except ValueError:  # Arrow allows no blanks and no plus
                text = text.to_pylist()
        whole = "".join(text)
        if "_" in whole or not whole.isascii():
            return None
        found = np.fromiter(map(float, text), np.float64, len(text))
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None
