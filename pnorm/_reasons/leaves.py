"""The collections that weak rankers are made of, and the columns of tables that they read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import BOOLEAN, DATE, DURATION, NUMBER, TIME, Vector
from pnorm.rankers import Rankers, _Closed, _Union
from pnorm.rankers._forms import Form
from pnorm.rankers._readings import CATEGORY, LEVELS_OF, ORDERED, Reading, Where, derived, is_missing
from pnorm.rankers._table import WORD, WRITTEN, Table


def number_text(x: float, read_off: str = "") -> str:
    """Return a number with ten digits, or what is read off a date, a time of day or a duration as people write it."""
    return WRITTEN[read_off](x) if read_off in WRITTEN and math.isfinite(x) else f"{x:.10g}"


@dataclass(frozen=True, eq=False)
class Leaf:
    """A collection that no others make up."""

    part: Rankers
    lam: Vector
    """Its coefficients."""
    start: int
    """The number of its first ranker."""
    rows: Callable[[Any], Any]
    """A function of the user's rows that returns those that the part reads."""
    table: Table | None = None
    """The table that it is of."""
    place: int = 0
    """Its number among the parts of the table."""

    @property
    def values(self) -> tuple[Any, ...]:
        """Meanings of the whole numbers from 0: the levels of an ordered category, no and yes."""
        if self.table is None:
            return ()
        reading = self.table._parts[self.place][0].reading
        return (reading.levels or (False, True)) if reading.kind in (BOOLEAN, ORDERED) else ()

    @property
    def read_off(self) -> str:
        """The key of what is read off a column of a table, such as the month; "" for the column itself."""
        return "" if self.table is None else self.table._parts[self.place][1].of

    @property
    def column_name(self) -> str:
        """The column of the table that it reads."""
        assert self.table is not None
        return self.table.plan[self.table._parts[self.place][0].column].name

    @property
    def kind(self) -> str:
        """The kind of the column of the table, of words in it that of a category; "" without a table."""
        if self.read_off == WORD:
            return CATEGORY
        return "" if self.table is None else self.table._parts[self.place][0].reading.kind

    @property
    def form(self) -> Form:
        """The form of the text of the column of the table."""
        return Form() if self.table is None else self.table._parts[self.place][0].reading.form

    @property
    def missing(self) -> tuple[str, ...]:
        """Words for missing values of the column of the table, beside those for all columns."""
        return () if self.table is None or self.read_off == WORD else self.table._parts[self.place][0].reading.missing

    @property
    def any_case(self) -> bool:
        """Whether levels of the column of the table are compared without regard to case and spaces."""
        return self.table is not None and self.table._parts[self.place][0].reading.any_case

    def texts(self, X: Any, write: Callable[[Any], str | None]) -> list[str | None]:
        """Return the values of the column on rows, None where missing; `write` is for those that are no times."""
        found = self.listed(X)
        if found is not None:
            return [None if value is None else write(value) for value in found]
        assert self.table is not None
        of = self.table._parts[self.place][1].of
        levels = LEVELS_OF.get(of)
        x = derived(of, self.numbers(X)).tolist()
        return [None if v != v else levels[int(v)] if levels else number_text(v, of) for v in x]

    def _read(self, X: Any) -> tuple[Reading, _checks.Cells, Where]:
        """Return how the column of the table is read, its cells on rows, and where they are."""
        assert self.table is not None
        assert self.table._width is not None
        source, known = self.table._parts[self.place][0], self.table._found
        (cells,) = _checks.cells_of(X, "X", known, self.table._width, [source.column])
        return source.reading, cells, Where("X", source.column, known)

    def numbers(self, X: Any) -> Vector:
        """Return the numbers of a column of a table."""
        reading, cells, at = self._read(X)
        return reading.numbers(cells, at)

    def listed(self, X: Any) -> list[Any] | None:
        """Return the values of the column on rows, None where one is missing; None for a column of times."""
        if self.kind in (DATE, DURATION, TIME):
            return None
        if self.read_off == WORD:
            return _checks.listed(self.raw(X))
        if self.kind == NUMBER:  # in text there may be a currency, or a decimal comma
            return [None if value != value else value for value in self.numbers(X).tolist()]
        reading, cells, _ = self._read(X)
        cells = reading.own(cells)
        values = [cells.value(row) if there else None for row, there in enumerate(cells.known().tolist())]
        values = [value.strip() if isinstance(value, str) else value for value in values]
        return [None if is_missing(value) else value for value in values]

    def raw(self, X: Any) -> _checks.Values:
        """Return what a column of levels of a table holds, or the names of days or months."""
        assert self.table is not None
        return self.table._values(X, self.place)


def leaves(H: Rankers, lam: Vector, start: int = 0) -> Iterator[Leaf]:
    """Yield the collections that H is made of."""
    if isinstance(H, _Closed):
        n = len(H._half)
        yield from leaves(H._half, lam[:n] - lam[n:], start)
    elif isinstance(H, _Union):
        for member in H._members:
            yield from leaves(member, lam[: len(member)], start)
            lam, start = lam[len(member) :], start + len(member)
    elif isinstance(H, Table):  # each part reads what has been read off a column
        for k, (_, part) in enumerate(H._parts):
            end = int(H._ends[k])
            own = slice(end - len(part.rankers), end)
            yield Leaf(part.rankers, lam[own], start + own.start, partial(_prepared, H, k), H, k)
    else:
        yield Leaf(H, lam, start, _as_it_is)


def _prepared(H: Table, k: int, X: Any) -> Any:
    return next(H._prepared(X, "X", [part == k for part in range(len(H._parts))]))[2]


def _as_it_is(X: Any) -> Any:
    return X


def places_of(X: Any, H: Rankers) -> tuple[int | None, ...]:
    """Return where in rows X the columns of a collection are; None for functions, and columns that a frame lacks."""
    keys = list(dict(H._reads()))
    found = tuple(map(str, X)) if _checks.is_columns(X) else _checks.column_names(X)
    if found is None:
        every = (H, *[leaf.part for leaf in leaves(H, np.zeros(len(H)))])
        found = next((part._found for part in every if part._found is not None), ())
    place = {name: j for j, name in enumerate(found)}
    return tuple([key if isinstance(key, int) else place.get(str(key)) for key in keys])


def of_tables(H: Rankers) -> dict[int, Leaf]:
    """Return the leaves that read columns of tables, by the number of what they read in `Rankers.column_names`."""
    number, found = H.column, dict[int, Leaf]()
    for leaf in leaves(H, np.zeros(len(H))):
        if leaf.table is not None:
            found.setdefault(int(number[leaf.start]), leaf)
    return found
