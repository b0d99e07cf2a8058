"""How text in a table is read, as numbers, truth values, dates, durations and times of day, and how these are written.

One form has to fit the values of a column. Where two forms fit and mean different values, none is chosen. A few values
may fit no form: they count as missing. Where many numbers have a decimal point and many a decimal comma, each is read
by its own mark.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

MARKS = {".": ", '", ",": ". '"}
"""Marks between thousands, by the mark before the fraction."""

DAY_FIRST, MONTH_FIRST = "day first", "month first"

_LONGEST = 64
"""Characters of a number or a date, at most."""

TOLERATED = 0.05
"""Share of the known values, at most, that may not read as the others do, and count as missing. One value in twenty is
more than slips of those who fill in a table are, and too little for a kind of its own."""


@dataclass(frozen=True)
class Form:
    """How the text of a column is written, and what it says of doubts."""

    point: str = ""
    """The mark before the fraction of a number; "" where no value shows it."""
    unit: str = ""
    """The unit that numbers have, "%" or a currency."""
    order: str = ""
    """Whether the day or the month comes first, in dates that do not say so."""
    scaled: bool = False
    """Whether letters after numbers stand for powers of ten, as in 1.2k."""
    mixed: bool = False
    """Whether numbers have either mark before the fraction, and each is read by its own; `point` is that of a number
    that may have either, "" if such a number does not read."""
    first_year: int = 0
    """The first of the hundred years that two digits stand for; 0 for 1969."""
    written: str = ""
    """A value whose text data bases do not read, as it has marks or a unit, or is no date as in ISO 8601; or ""."""

    @functools.cached_property
    def of_marks(self) -> tuple[Form, Form]:
        """The forms of the two marks, of which either is one of a mixed form."""
        one, other = [replace(self, point=point, mixed=False) for point in MARKS]
        return one, other


@dataclass(frozen=True)
class Marks:
    """Counts of the rows whose number has a decimal point, a decimal comma, or a mark that may be either."""

    point: int = 0
    comma: int = 0
    unclear: int = 0
    words: tuple[str, str, str] = ("", "", "")
    """The first word of each."""

    @property
    def mixed(self) -> bool:
        """Whether neither mark is that of nearly all numbers that tell."""
        return min(self.point, self.comma) > TOLERATED * (self.point + self.comma)

    def told(self) -> str:
        """Return that some numbers may have either mark, and how many have which."""
        point, comma, unclear = self.words
        like = "1 value" if self.unclear == 1 else f"{self.unclear:,} values like it"
        return (
            f"{two_numbers(unclear)} for {like}; {self.point:,} with a decimal point, such as {point!r}, and "
            f"{self.comma:,} with a decimal comma, such as {comma!r}, are clear"
        )


def all_of(read: Callable[[str], float | None], words: Iterable[str]) -> list[float] | None:
    """Return the values of all words; None if a word has none."""
    found = []
    for word in words:
        value = read(word)
        if value is None:
            return None
        found.append(value)
    return found


@dataclass(frozen=True)
class Most:
    """A reading of most words of a column; the other words count as missing."""

    kind: str
    form: Form | None
    """None if there is none, or more than one."""
    doubt: str
    """What is in doubt, if there are two."""
    odd: tuple[str, ...]
    """The words that do not read."""
    lost: float
    """How many rows have these."""
    marks: Marks = field(default_factory=Marks)
    """The marks of numbers, where both are in use."""
    asked: Form | None = None
    """The form that reads numbers where both marks are in use, and too many may have either."""


def two_numbers(word: str) -> str:
    """Return that the mark in a number may be read in two ways."""
    return f"{word!r} may mean two numbers: 'decimal point' or 'decimal comma' says which"


def _told(words: list[str], of_two: Sequence[set[str]], n_rows: Mapping[str, int]) -> tuple[list[str], str]:
    """Return the words that one of two forms reads, the one that nearly all words that tell are in; or one in doubt."""
    one, other = of_two
    n_one, n_other = [sum([n_rows[word] for word in own]) for own in (one - other, other - one)]
    if min(n_one, n_other) > TOLERATED * (n_one + n_other):
        return words, next(word for word in words if word in one ^ other)
    own = one if n_one >= n_other else other
    return [word for word in words if word in own], ""


def _most(
    kind: str, form: Form | None, doubt: str, words: Sequence[str], fits: Sequence[str], n_rows: Mapping[str, int]
) -> Most:
    known = set(fits)
    odd = tuple([word for word in words if word not in known])
    return Most(kind, form, doubt, odd, sum([n_rows[word] for word in odd]))
