"""The choice of held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Unread
from pnorm._checks import BOOLEAN, DATE, DURATION, NUMBER, TIME, Vector
from pnorm._checks.text import shown
from pnorm._coded.sample import TableSample
from pnorm.rankers._alike import by_class
from pnorm.rankers._reader import ReadAs
from pnorm.rankers._readings import Reading, Where
from pnorm.rankers._sides import Numbers

SHARE = 0.2
"""The share of the rows that is held out by default."""

_SIDES = ("negative", "positive")


def share(y: Any, share: float = SHARE, seed: Any = 0, units: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """Hold out a share of the rows of either class, drawn at random: one row of each at least, and not all.

    `units` are numbers from 0 of what the rows are about. All rows of a unit are then on one side, and the shares are
    as near as that allows: units with a positive row are drawn first, and the negative rows that come with them count.

    It is a ValueError if a class has fewer than two rows, or if its rows cannot be divided.
    """
    positive = _checks.one_or_zero(y, "y")
    part, rng = _checks.probability(share, "share"), _checks.generator(seed)
    for side, name in enumerate(_SIDES):
        n = int(np.count_nonzero(positive == bool(side)))
        if n < 2:
            there = f"there is 1 {name} row" if n else f"there are no {name} rows"
            raise ValueError(
                f"{there}, and 2 are needed to hold one out: get more of them, or train without holding rows out"
            )
    of = np.arange(positive.size) if units is None else units
    sizes = [np.bincount(of, positive == bool(side)).astype(np.intp) for side in (0, 1)]
    drawn = [rng.permutation(own) for own in by_class(of, positive)[::-1]]
    held = np.zeros(sizes[0].size, bool)
    for side in (1, 0):
        n, before = int(sizes[side].sum()), int(sizes[side][held].sum())
        ends = np.r_[before, before + sizes[side][drawn[side]].cumsum()]
        wanted = min(max(round(part * n), 1), n - 1)
        first = 0 if before else 1
        take = first + int(np.abs(ends[first:] - wanted).argmin()) if ends.size > first else 0
        held[drawn[side][: min(take, max(drawn[side].size - 1, 0))]] = True
    out: NDArray[np.bool_] = held[of]
    for kind, name in enumerate(_SIDES):
        if not 0 < np.count_nonzero(out & (positive == bool(kind))) < sizes[kind].sum():
            raise ValueError(
                f"the {name} rows have too few different ids to hold some of them out with all rows of their ids; "
                "train without holding rows out, or without ids"
            )
    return out


def units(ids: Sequence[str]) -> NDArray[np.intp] | None:
    """Return the number of the id of each row, where rows without an id are apart; None if no id is repeated."""
    known: dict[str, int] = {}
    of = np.array([known.setdefault(text or f"\0{row}", len(known)) for row, text in enumerate(ids)], np.intp)
    return None if len(known) == of.size else of


def latest(
    times: Any,
    share: float = SHARE,
    *,
    y: Any = None,
    name: str = "times",
    known: Times | None = None,
) -> NDArray[np.bool_]:
    """Hold out the latest rows: a share of them, or as near to it as ties allow, which stay on one side.

    `times` are dates, times, durations or numbers in a column of any container, or text that reads as such. Messages
    call the column `name`. `y` says which rows are positive, to check that there are both kinds on either side; `known`
    how times are read. A row without a time is not held out, and the share is that of the others. It is a ValueError if
    all times are the same, or the column does not hold times.
    """
    part = _checks.probability(share, "share")
    if known is None:
        known = Times(name)
        known.add(times, np.arange(_checks.n_rows({name: times}, "the table")))
    x = known.read(times)
    held: NDArray[np.bool_] = x >= first_of_latest(*np.unique(x[~np.isnan(x)], return_counts=True), part, name)
    if y is not None:
        both(held, y)
    return held


def first_of_latest(values: Vector, counts: NDArray[np.integer[Any]], share: float, name: str) -> float:
    """Return the first time of rows to hold out, given all times in their order and how many rows have each."""
    if not values.size:
        raise ValueError(f"no row has a time in {shown(name)}; hold out rows at random")
    if values.size < 2:
        raise ValueError(f"all times in {shown(name)} are the same, so that no row is later; hold out rows at random")
    ends = np.cumsum(counts)
    later = ends[-1] - ends[:-1]  # rows after each value but the last
    return float(values[1:][np.argmin(np.abs(later - share * ends[-1]))])


def both(held: Any, y: Any) -> None:
    """Raise ValueError if a part of the split lacks a class."""
    held = _checks.one_or_zero(held, "held")
    positive = _checks.one_or_zero(y, "y", held.size)
    for part, rows in (("held out", held), ("to train on", ~held)):
        n = int(rows.sum())
        if n == 0:
            raise ValueError(f"no row is {part}; both parts need rows")
        for side, name in enumerate(_SIDES):
            if not (positive[rows] == bool(side)).any():
                raise ValueError(
                    f"none of the {n:,} rows {part} is {name}; hold out another share, or rows drawn at random"
                )


class UnreadTimesError(ValueError):
    """A column of times that is read as a category."""

    def __init__(self, message: str, kinds: tuple[str, ...]) -> None:
        super().__init__(message)
        self.kinds = kinds
        """Words of `kinds` that make times of it."""


class Times:
    """Times as numbers that rise with them. A column is read as `rankers.from_table` reads it.

    Batches of rows are added first, all of them, since all values determine how the column is read. Messages call the
    column `name`, and a row what `place` makes of its number. `kind` is what `kinds` of `from_table` has for the
    column; a kind without an order has no effect. `missing` are words for missing values, as `folded` writes them.
    """

    def __init__(
        self,
        name: str,
        kind: Any = None,
        missing: Sequence[str] = (),
        *,
        place: Callable[[int], str] = "row {}".format,
    ) -> None:
        self._name, self._missing, self._place = name, missing, place
        self._kinds = None if kind in _WITHOUT_ORDER else {name: kind}
        self._sample = TableSample("source")

    def add(self, times: Any, rows: NDArray[np.intp]) -> None:
        """Add the column of some rows, which have these numbers in messages."""
        either = np.arange(rows.size) % 2 == 0  # the sample has two sides, and all that is asked of it is on both
        self._sample.add({self._name: self._without(times)}, either, rows)

    def points(self) -> tuple[Vector, NDArray[np.integer[Any]]]:
        """Return the different times in their order, and how many rows have each."""
        found = self._read[1].in_order("")
        return found.values.astype(np.float64), np.diff(found.ends, prepend=0)

    def read(self, times: Any) -> Vector:
        """Return the numbers of the column for some of the rows, nan without a time."""
        (cells,) = _checks.cells_of({self._name: self._without(times)}, "source", None, 1, [0])
        return self._read[0].numbers(cells, Where("source", 0, (self._name,), False))

    @property
    def n_missing(self) -> int:
        """The number of rows without a time."""
        return sum(self._read[1].missing)

    def _without(self, times: Any) -> Any:
        return _checks.without(times, self._missing) if self._missing else times

    @cached_property
    def _read(self) -> tuple[Reading, Numbers]:
        found, numbers = self._as(self._kinds)
        if found.reading.kind == BOOLEAN and found.reading.levels:
            found, numbers = self._as({self._name: NUMBER})  # the words 0 and 1
            numbers = None if numbers is not None and _unread(numbers).unknown else numbers
        if numbers is None or found.reading.kind == BOOLEAN:
            raise self._refused(found)
        unread = _unread(numbers)
        if 2 * unread.unknown > unread.n:
            raise found.reading.refused(numbers.unread)
        return found.reading, numbers

    def _as(self, kinds: Mapping[str, Any] | None) -> tuple[ReadAs, Numbers | None]:
        return self._sample.read_as(kinds)

    def _refused(self, found: ReadAs) -> UnreadTimesError:
        """Return the error for a category, with a value that is no time though others are."""
        name = shown(self._name)
        if len(found.kinds) > 1:
            return UnreadTimesError(f"in column {name}, {found.doubt.partition(':')[0]}", found.kinds)
        must = f"column {name} must hold dates, times or numbers, to tell which rows are the latest"
        unread = []
        for kind in (DATE, NUMBER, TIME, DURATION):
            with suppress(ValueError):  # values of another type
                numbers = self._as({self._name: kind})[1]
                unread += [] if numbers is None else [(kind, _unread(numbers))]
        kind, most = min(unread, key=lambda of: of[1].unknown, default=("", None))
        if most is None or not most.found:
            return UnreadTimesError(must, ())
        row, value = min(zip(most.rows, most.found, strict=True), key=lambda of: of[0])
        told = f"{must}; got {value} in {self._place(int(row))}"
        if most.unknown == most.n:
            return UnreadTimesError(told, ())
        kinds = (kind,) if 2 * most.unknown <= most.n else ()
        told += f". {most.unknown:,} of the {most.n:,} values do not read as {most.what}"
        return UnreadTimesError(told, kinds)


_WITHOUT_ORDER = (None, "category", "any case", "boolean", "leave out")


def _unread(numbers: Numbers) -> Unread:
    of_one, of_other = numbers.unread
    return of_one + of_other
