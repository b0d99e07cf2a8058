"""The choice of held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import DATE, DURATION, NUMBER, TIME, VALUES, Cells, Coded, Vector
from pnorm._checks.text import shown
from pnorm.rankers import _forms
from pnorm.rankers._readings import Reading, Where, is_missing

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
    drawn = [rng.permutation(own) for own in _of_kinds(sizes)]
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


def folds(
    y: NDArray[np.bool_], n: int, seed: Any, units: NDArray[np.intp] | None
) -> int | tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the fold of each positive row and of each negative row, so that all rows of a unit are in one fold.

    There are n folds, or as many as leave each with both classes. It is n if there are no units, or too few.
    """
    if units is None:
        return n
    sizes = [np.bincount(units, y == bool(side)) for side in (0, 1)]
    rng = _checks.generator(seed)
    drawn = [rng.permutation(own) for own in _of_kinds(sizes)]
    for fewer in range(n, 1, -1):
        number = np.empty(sizes[0].size, np.intp)
        for own in drawn:
            number[own] = np.arange(own.size) % fewer
        if all((np.bincount(number, of_side, fewer) > 0).all() for of_side in sizes):
            return number[units[y]], number[units[~y]]
    return n


def _of_kinds(sizes: Sequence[NDArray[Any]]) -> list[NDArray[np.intp]]:
    """Return the units without a positive row, and those with one, given the numbers of rows of either class."""
    return [np.flatnonzero((sizes[1] > 0) == bool(kind)) for kind in (0, 1)]


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
    place: Callable[[int], str] = "row {}".format,
    advice: str = "leave these rows out",
) -> NDArray[np.bool_]:
    """Hold out the latest rows: a share of them, or as near to it as ties allow, which stay on one side.

    `times` are dates, times, durations or numbers in a column of any container, or text that reads as such. Messages
    call the column `name`, and a row what `place` makes of its number; `advice` ends the one on missing times. `y` says
    which rows are positive, to check that there are both kinds on either side. It is a ValueError if a time is missing
    or cannot be read, which names the row, or all are the same.
    """
    part = _checks.probability(share, "share")
    x = Moments(name, advice).of(times, place)
    held: NDArray[np.bool_] = x >= first_of_latest(*np.unique(x, return_counts=True), part, name)
    if y is not None:
        both(held, y)
    return held


def first_of_latest(values: Vector, counts: NDArray[np.integer[Any]], share: float, name: str) -> float:
    """Return the first time of rows to hold out, given all times in their order and how many rows have each."""
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


class Moments:
    """Times as numbers that rise with them; all batches of a column are read as the first one is."""

    def __init__(self, name: str, advice: str = "leave these rows out") -> None:
        self._name, self._advice = name, advice
        self._reading: Reading | None = None

    def of(self, times: Any, place: Callable[[int], str]) -> Vector:
        """Return the numbers of a column."""
        name = self._name
        (cells,) = _checks.cells_of({name: times}, "the table", None, 1, [0])
        at = Where("the table", 0, (name,))
        if self._reading is None:
            self._reading = self._told(cells)
        elif cells.kind not in (VALUES, self._reading.kind):
            raise ValueError(
                f"column {shown(name)} has a {cells.kind} in {place(0)}, and a {self._reading.kind} in rows before"
            )
        x, unread = self._reading.read(cells, at)
        if unread.unknown:
            row = int(unread.rows[0])
            raise at.refuse(cells.value(row), row, self._reading.called())
        missing = np.flatnonzero(np.isnan(x))
        if missing.size:
            raise ValueError(
                f"column {shown(name)} has no time in {place(int(missing[0]))}, and in {missing.size:,} of {x.size:,} "
                f"rows; fill it in, or {self._advice}"
            )
        return x

    def _told(self, cells: Cells) -> Reading:
        kind, form = cells.kind, _forms.Form()
        if kind == VALUES:
            kind, form = _of_text(cells, self._name)
        if kind not in (NUMBER, DATE, TIME, DURATION):
            raise ValueError(
                f"column {shown(self._name)} must hold dates, times or numbers, to tell which rows are the latest"
            )
        return Reading(kind, form)


def _of_text(cells: Cells, name: str) -> tuple[str, _forms.Form]:
    """Return what all texts of a column read as."""
    assert isinstance(cells.values, Coded)
    known = [value for value in cells.values.values if not is_missing(value)]
    words = [value.strip() for value in known if isinstance(value, str)]
    if not words:
        return (NUMBER if known else VALUES), _forms.Form()
    form, doubt = _forms.number_form(words)
    if form is not None:
        return NUMBER, form
    if not doubt:
        form, doubt = _forms.date_form(words, True)
        if form is not None:
            return DATE, form
    if doubt:
        raise ValueError(f"in column {shown(name)}, {doubt.partition(':')[0]}; write dates as 2024-05-31")
    for kind, read in ((TIME, _forms.time), (DURATION, _forms.duration)):
        if _forms.all_of(read, words) is not None:
            return kind, _forms.Form()
    odd = next((word for word in words if _forms.date(word, "", True) is None), words[0])
    raise ValueError(
        f"column {shown(name)} must hold dates, times or numbers, to tell which rows are the latest; got {shown(odd)}"
    )
