"""The reading of a column: one rule for its values in training rows and in new rows."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import EXAMPLES, Column, Seen, Unread
from pnorm._checks import BOOLEAN, DATE, DURATION, NUMBER, TIME, UNREAD, VALUES, Cells, Coded, Vector, reads_as_missing
from pnorm.rankers import _numbers, _times
from pnorm.rankers._forms import Form

CATEGORY, ORDERED = "category", "ordered"

KINDS = (NUMBER, BOOLEAN, CATEGORY, ORDERED, DATE, TIME, DURATION)

RARE = "(rare)"

_WAS = {NUMBER: "a number", BOOLEAN: "a truth value", ORDERED: "one of the ordered levels", DATE: "a date",
        TIME: "a time of day", DURATION: "a duration", CATEGORY: "text, a number or a truth value"}  # fmt: skip

DAY, HOUR = 86400e6, 3600e6
"""In microseconds."""

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

LEVELS_OF = {"weekday": DAYS, "month": _times.MONTHS}
"""The levels of what is read off a date."""


@dataclass(frozen=True)
class Where:
    """The place of a column, for messages."""

    name: str
    """The name of the rows."""
    column: int
    names: Sequence[str] | None
    known: bool = True
    """Whether weak rankers of the column exist already."""
    rows: NDArray[np.intp] | None = None
    """The numbers of the rows in messages, where these are some of the rows that a user has given."""

    def row(self, row: int) -> int:
        """Return the number of a row in messages."""
        return row if self.rows is None else int(self.rows[row])

    def refuse(self, value: Any, row: int, was: str) -> ValueError:
        return _checks.unread(value, self.name, self.row(row), self.column, self.names, was, self.known)


@dataclass(frozen=True)
class Reading:
    """How the values of a column are read."""

    kind: str
    """One of `KINDS`."""
    form: Form = field(default_factory=Form)
    levels: tuple[Any, ...] = ()
    """Of a category those that have an indicator, of an ordered one all, from the lowest to the highest; of truth
    values the words for no and yes, if there is one for each."""
    missing: tuple[str, ...] = ()
    """Words that mean a missing value in this column, beside those that mean it in all, as `folded` writes them."""
    any_case: bool = False
    """Whether text that differs from a level only in case or spaces is this level."""

    @cached_property
    def _column(self) -> Column:
        return Column(self.levels, self.levels.index(RARE) if self.kind == CATEGORY and RARE in self.levels else None)

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """The levels that are text, as `folded` writes them."""
        levels = self.levels if self.any_case else ()
        return {_checks.folded(level): level for level in levels if isinstance(level, str) and level != RARE}

    def own(self, cells: Cells) -> Cells:
        """Return a column without words for missing values of its own, and with levels in one spelling."""
        return _checks.spelled(cells, self.missing, self._spelled) if self.missing or self.any_case else cells

    def numbers(self, cells: Cells, at: Where) -> Vector:
        """Return numbers, nan where a value is missing or does not read.

        Truth values are 0 and 1, levels of an ordered category their places, dates microseconds since 1970, times
        those since midnight, and durations those that they last.
        """
        return self.read(cells, at)[0]

    def read(self, cells: Cells, at: Where) -> tuple[Vector, Unread]:
        """Return numbers, and counts of the values that do not read.

        A column of another type is refused, and so are infinite numbers.
        """
        own = self.own(cells)
        x, unread = self._read(own, at)
        if own is cells or cells.plain is not None or not isinstance(own.values, Coded):
            return x, unread
        return x, replace(unread, words=self._words(cells.values, own.values))

    def _words(self, before: Any, own: Coded) -> tuple[tuple[str, int], ...]:
        """Return how many rows have each word that counts as missing, which is not among the own values."""
        counts: Counter[str] = Counter()
        n_rows = np.bincount(own.codes, minlength=len(own.values)).tolist()
        for value, kept, n in zip(before.values, own.values, n_rows, strict=True):
            if kept is None and isinstance(value, str) and n and (word := _checks.folded(value)) in self.missing:
                counts[word] += n
        return tuple(counts.items())

    def _read(self, cells: Cells, at: Where) -> tuple[Vector, Unread]:
        plain, form = cells.plain, self.form
        if plain is not None and self.kind == NUMBER and form.unit != "%" and _same_mark(plain, form):
            return plain.numbers, self._unread(plain.numbers, None, cells, at)
        found, kind = cells.values, cells.kind
        takes = {NUMBER: (NUMBER, BOOLEAN), BOOLEAN: (NUMBER, BOOLEAN)}.get(self.kind, (self.kind,))
        if kind in takes and self.form.unit != "%":
            x = np.asarray(found)
            if np.isinf(x).any():
                row = int(np.argmax(np.isinf(x)))
                raise at.refuse(float(x[row]), row, "a finite number" if self.kind == NUMBER else _WAS[self.kind])
            odd = ~np.isin(x, (0.0, 1.0)) & ~np.isnan(x) if (kind, self.kind) == (NUMBER, BOOLEAN) else None
            return (x if odd is None else np.where(odd, math.nan, x)), self._unread(x, odd, cells, at, x)
        if (kind == BOOLEAN and self.kind == ORDERED) or (kind == NUMBER and self.kind in (ORDERED, DATE)):
            rows, codes = _checks.distinct(found)
            found, kind = Coded([_whole(value) for value in np.asarray(found)[rows].tolist()], codes), VALUES
        if kind not in (VALUES, UNREAD) or not isinstance(found, Coded):
            if cells.known().any():
                row = cells.odd()
                raise at.refuse(cells.value(row), row, self.called())
            x = np.full(len(cells), math.nan)
            return x, self._unread(x, None, cells, at)
        numbers = self.meanings(found.values)
        wrong = np.array([number is None for number in numbers], bool)
        infinite = [k for k in np.flatnonzero(wrong).tolist() if _is_infinite(found.values[k])]
        rows = np.flatnonzero(np.isin(found.codes, infinite)) if infinite else np.empty(0, np.intp)
        if rows.size:
            raise at.refuse(found[rows[0]], int(rows[0]), self.called())
        x = np.array([math.nan if number is None else number for number in numbers], np.float64)[found.codes]
        return x, self._unread(x, wrong[found.codes] if wrong.any() else None, cells, at, found.codes)

    def _unread(
        self,
        x: Vector,
        odd: NDArray[np.bool_] | None,
        cells: Cells,
        at: Where,
        codes: NDArray[Any] | None = None,
    ) -> Unread:
        """Return the counts of values that have a number, and of the odd ones, of which equal ones have equal codes."""
        there = ~np.isnan(x) if odd is None else ~np.isnan(x) | odd
        pairs: list[tuple[Any, int]] = []
        n = 0
        if odd is not None and codes is not None:
            n = int(np.count_nonzero(odd))
            rows = np.flatnonzero(odd)
            first = rows[np.unique(codes[rows], return_index=True)[1]]
            pairs = [(cells.value(row), at.row(row)) for row in sorted(first.tolist(), key=at.row)]
        name = "" if at.names is None else str(at.names[at.column])
        of_values: dict[Any, int] = {}
        is_all = True
        for value, row in pairs:
            of_values.setdefault(value.strip() if isinstance(value, str) else _checks.python(value), row)
            if len(of_values) > EXAMPLES:
                is_all = False
                of_values.popitem()
                break
        values, places = tuple(map(_checks.shown, of_values)), tuple(of_values.values())
        column = _checks.column_called(at.column, at.names)
        known = int(np.count_nonzero(there))
        return Unread(column, at.name, known, n, 0, values, (), False, name, self.called(), places, is_all=is_all)

    def meanings(self, values: Sequence[Any]) -> Sequence[float | None]:
        """Return the number of each value, nan for a missing one and None for one that has none."""
        there = [not is_missing(value) or self._is_level(value) for value in values]
        known = list(itertools.compress(values, there))
        meanings: Sequence[float | None] | None = None
        if self.kind == DATE and all(isinstance(value, str) for value in known):
            meanings = _times.dates([value.strip() for value in known], self.form.order, True, self.form.first_year)
        if meanings is None:
            meanings = list(map(self.meaning(), known))
        of_known = iter(meanings)
        return [next(of_known) if known else math.nan for known in there]

    def _is_level(self, value: Any) -> bool:
        """Return whether a word for a missing value is a level that was given in an order, such as none."""
        return self.kind == ORDERED and isinstance(value, str) and value.strip() in self.levels

    def reads_if_spelled(self, word: str) -> bool:
        """Return whether a word, as `folded` writes it, is a number or reads in upper or lower case or as a level."""
        with contextlib.suppress(ValueError):
            _checks.numeral(word)
            return True  # of another mark before the fraction; a number in a column of numbers
        spellings = (word, word.upper(), word.title(), word.replace(" ", ""))
        if self.form.mixed and any(map(_numbers.may_be_number, spellings)):
            return True  # a number of which it is not clear which one
        levels = [_checks.folded(level) for level in self.levels if isinstance(level, str)]
        return word in levels or any(meaning is not None for meaning in self.meanings(spellings))

    def refused(self, sides: Sequence[Unread]) -> ValueError:
        """Return the error for a column that is to be of this kind, and of which most values do not read."""
        found = [side for side in sides if side.found]
        is_one = len({side.where for side in found}) == 1
        first = min(found, key=lambda side: side.rows[0]) if is_one else found[0]
        n, of = [sum(counts) for counts in zip(*[(side.unknown, side.n) for side in sides], strict=True)]
        unit = _times.unit_after(first.found[0].strip("'")) if self.kind == NUMBER else ""
        correct = "correct them" if unit in ("", "time") else "remove the unit"
        return ValueError(
            f"{first.where} has {first.found[0]} at {first.at()}, which is to be {self.called()}, and {n:,} of the "
            f"{of:,} values do not read as one; {correct}, or make the column another kind with kinds"
        )

    def asked(self) -> str:
        """Return the word of `kinds` for this reading."""
        if self.kind == NUMBER and self.form.point:
            return "decimal comma" if self.form.point == "," else "decimal point"
        return self.form.order or self.kind

    def called(self) -> str:
        """Return the kind of the values in training, for a message."""
        if self.form.unit == "%":
            return "a number with %"
        if self.form.mixed:
            return _WAS[NUMBER] + " with one meaning" * (not self.form.point)
        return _WAS[self.kind] + " written with a decimal comma" * (self.form.point == ",")

    def meaning(self) -> Callable[[Any], float | None]:
        """Return the function from a value to its number, None if it has none."""
        form, kind = self.form, self.kind
        if kind == ORDERED:
            return self._place
        of_word: dict[str, Callable[[str], float | None]] = {
            NUMBER: lambda word: _numbers.number(word, form),
            BOOLEAN: _truth,
            DATE: lambda word: _times.date(word, form.order, True, form.first_year),
            TIME: _times.time,
            DURATION: lambda word: _times.duration(word, form.unit),
        }
        of_number: dict[str, Callable[[float], float | None]] = {
            NUMBER: lambda x: None if form.unit == "%" else x,
            BOOLEAN: lambda x: x if x in (0.0, 1.0) else None,
            DATE: lambda x: _times.date(str(_whole(x)), "", True),
        }
        read, convert = of_word[kind], of_number.get(kind)

        def meaning(value: Any) -> float | None:
            if isinstance(value, str):
                return read(value.strip())
            of_kind = _checks.kind_of(value)
            if of_kind in (NUMBER, BOOLEAN):
                number = _checks.float_of(value, NUMBER)
                return convert(number) if convert is not None and math.isfinite(number) else None
            return _checks.float_of(value, kind) if of_kind == kind else None

        return meaning

    def _place(self, value: Any) -> float | None:
        place = self._column.number(value)
        return float(place) if place >= 0 else None

    def codes(self, cells: Cells, at: Where) -> tuple[NDArray[np.uint16], Seen]:
        """Return the numbers of the levels of a category, and counts of values that are none."""
        cells = self.own(cells)
        if cells.kind not in (VALUES, NUMBER, BOOLEAN) and cells.known().any():
            row = cells.odd()
            raise at.refuse(cells.value(row), row, _WAS[CATEGORY])
        return self._column.codes(cells.values, at.name, at.column, True, at.names, at.rows)


def is_missing(value: Any) -> bool:
    """Return whether a value is missing, or a word for a missing value."""
    return reads_as_missing(value) if isinstance(value, str) else _checks.is_missing(value)


def _same_mark(plain: _checks.Plain, form: Form) -> bool:
    """Return whether plain numbers, each without another meaning, are those of a form."""
    return not (plain.comma or plain.point) if form.mixed else plain.comma == (form.point == ",")


def _is_infinite(value: Any) -> bool:
    return (
        not isinstance(value, str) and _checks.kind_of(value) == NUMBER and math.isinf(_checks.float_of(value, NUMBER))
    )


def _truth(word: str) -> float | None:
    return _times.TRUTHS.get(word.lower())


def _whole(value: float) -> Any:
    return int(value) if abs(value) < 2.0**53 and value == math.floor(value) else value


def derived(of: str, x: Vector) -> Vector:
    """Return what is read off dates, times or durations; other numbers as they are."""
    if of in ("trend", "days"):
        return x / DAY
    if of == "weekday":
        return (np.floor(x / DAY) + 3.0) % 7.0
    if of == "hour":
        return np.floor(x / HOUR) % 24.0
    if of == "hours":
        return x / HOUR
    if of == "month":
        known = ~np.isnan(x)
        months = np.full(x.size, math.nan)
        months[known] = x[known].astype(np.int64).view("M8[us]").astype("M8[M]").astype(np.int64) % 12
        return months
    return x
