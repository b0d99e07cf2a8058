"""The reading of a column: one rule for its values in training rows and in new rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Column, Seen
from pnorm._checks import (
    BOOLEAN,
    DATE,
    DURATION,
    NUMBER,
    TIME,
    UNREAD,
    VALUES,
    Cells,
    Coded,
    Vector,
    reads_as_missing,
)
from pnorm.rankers import _forms
from pnorm.rankers._forms import Form

CATEGORY, ORDERED = "category", "ordered"

KINDS = (NUMBER, BOOLEAN, CATEGORY, ORDERED, DATE, TIME, DURATION)

RARE = "(rare)"

_WAS = {NUMBER: "a number", BOOLEAN: "a truth value", ORDERED: "one of the ordered levels", DATE: "a date",
        TIME: "a time of day", DURATION: "a duration", CATEGORY: "text, a number or a truth value"}  # fmt: skip

DAY, HOUR = 86400e6, 3600e6
"""In microseconds."""

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

LEVELS_OF = {"weekday": DAYS, "month": _forms.MONTHS}
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

    def refuse(self, value: Any, row: int, was: str) -> ValueError:
        row = row if self.rows is None else int(self.rows[row])
        return _checks.unread(value, self.name, row, self.column, self.names, was, self.known)


@dataclass(frozen=True)
class Reading:
    """How the values of a column are read."""

    kind: str
    """One of `KINDS`."""
    form: Form = field(default_factory=Form)
    levels: tuple[Any, ...] = ()
    """Of a category those that have an indicator, of an ordered one all, from the lowest to the highest; of truth
    values the words for no and yes, if there is one for each."""

    @cached_property
    def _column(self) -> Column:
        return Column(self.levels, self.levels.index(RARE) if self.kind == CATEGORY and RARE in self.levels else None)

    def numbers(self, cells: Cells, at: Where) -> Vector:
        """Return numbers, nan where a value is missing.

        Truth values are 0 and 1, levels of an ordered category their places, dates microseconds since 1970, times
        those since midnight, and durations those that they last.
        """
        plain, form = cells.plain, self.form
        if plain is not None and self.kind == NUMBER and plain.comma == (form.point == ",") and form.unit != "%":
            return plain.numbers
        found, kind = cells.values, cells.kind
        if kind == NUMBER and self.kind == BOOLEAN:
            self._refuse_first(np.asarray(found), ~np.isin(found, (0.0, 1.0)) & cells.known(), at)
        takes = {NUMBER: (NUMBER, BOOLEAN), BOOLEAN: (NUMBER, BOOLEAN)}.get(self.kind, (self.kind,))
        if kind in takes and self.form.unit != "%":
            x = np.asarray(found)
            self._refuse_first(x, np.isinf(x), at)
            return x
        if (kind == BOOLEAN and self.kind == ORDERED) or (kind == NUMBER and self.kind in (ORDERED, DATE)):
            rows, codes = _checks.distinct(found)
            found, kind = Coded([_whole(value) for value in np.asarray(found)[rows].tolist()], codes), VALUES
        if kind not in (VALUES, UNREAD) or not isinstance(found, Coded):
            if cells.known().any():
                row = cells.odd()
                raise at.refuse(cells.value(row), row, _WAS[self.kind])
            return np.full(len(cells), math.nan)
        return self._of_values(found, at)

    def _of_values(self, found: Coded, at: Where) -> Vector:
        numbers = self.meanings(found.values)
        wrong = [k for k, number in enumerate(numbers) if number is None]
        if wrong:
            bad = np.zeros(len(numbers), bool)
            bad[wrong] = True
            rows = np.flatnonzero(bad[found.codes])
            if rows.size:
                raise at.refuse(found[rows[0]], int(rows[0]), self.called())
        return np.array([math.nan if number is None else number for number in numbers])[found.codes]

    def meanings(self, values: Sequence[Any]) -> Sequence[float | None]:
        """Return the number of each value, nan for a missing one and None for one that has none."""
        there = [not is_missing(value) for value in values]
        known = list(itertools.compress(values, there))
        meanings: Sequence[float | None] | None = None
        if self.kind == DATE and all(isinstance(value, str) for value in known):
            meanings = _forms.dates([value.strip() for value in known], self.form.order, True)
        if meanings is None:
            meanings = list(map(self.meaning(), known))
        of_known = iter(meanings)
        return [next(of_known) if known else math.nan for known in there]

    def called(self) -> str:
        """Return the kind of the values in training, for a message."""
        if self.form.unit == "%":
            return "a number with %"
        return _WAS[self.kind] + " written with a decimal comma" * (self.form.point == ",")

    def meaning(self) -> Callable[[Any], float | None]:
        """Return the function from a value to its number, None if it has none."""
        form, kind = self.form, self.kind
        if kind == ORDERED:
            return self._place
        of_word: dict[str, Callable[[str], float | None]] = {
            NUMBER: lambda word: _forms.number(word, form),
            BOOLEAN: _truth,
            DATE: lambda word: _forms.date(word, form.order, True),
            TIME: _forms.time,
            DURATION: _forms.duration,
        }
        of_number: dict[str, Callable[[float], float | None]] = {
            NUMBER: lambda x: None if form.unit == "%" else x,
            BOOLEAN: lambda x: x if x in (0.0, 1.0) else None,
            DATE: lambda x: _forms.date(str(_whole(x)), "", True),
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

    def _refuse_first(self, x: Vector, wrong: NDArray[np.bool_], at: Where) -> None:
        if wrong.any():
            row = int(np.argmax(wrong))
            raise at.refuse(float(x[row]), row, "a finite number" if self.kind == NUMBER else _WAS[self.kind])

    def codes(self, cells: Cells, at: Where) -> tuple[NDArray[np.uint16], Seen]:
        """Return the numbers of the levels of a category, and counts of values that are none."""
        if cells.kind not in (VALUES, NUMBER, BOOLEAN) and cells.known().any():
            row = cells.odd()
            raise at.refuse(cells.value(row), row, _WAS[CATEGORY])
        return self._column.codes(cells.values, at.name, at.column, True, at.names, at.rows)


def is_missing(value: Any) -> bool:
    """Return whether a value is missing, or a word for a missing value."""
    return reads_as_missing(value) if isinstance(value, str) else _checks.is_missing(value)


def _truth(word: str) -> float | None:
    return _forms.TRUTHS.get(word.lower())


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
