"""The facts on a column of a table that determine its weak rankers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._categories import Unread
from pnorm._checks import BOOLEAN, NUMBER, UNREAD, VALUES, Cells, Coded, Vector, reads_as_missing
from pnorm.rankers._base import Index
from pnorm.rankers._cuts import InOrder, in_order
from pnorm.rankers._readings import CATEGORY, Reading, Where, derived, is_missing
from pnorm.rankers._text import Text

_GAP = 0.1
"""The distance of a range from all others, at least, as a share of the width of the column."""

FEW, LEAST = 20, 5
"""Values from which on a column is called an id, or said to separate; and the values on each side from which on it is
said so if it separates them all."""


class LeaveOut(Exception):  # noqa: N818
    """Why a column is left out."""


class AllDiffer(LeaveOut):
    """A column is left out as an id or as free text."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: nearly all values differ")


@dataclass(frozen=True)
class Written:
    """How text that is plain numbers is written."""

    known: bool
    """Whether there is a number at all."""
    point: bool
    code: bool
    comma: bool
    grouped: bool

    @classmethod
    def of(cls, plain: _checks.Plain) -> Written:
        """Return how plain numbers are written."""
        return cls(not np.isnan(plain.numbers).all(), plain.point, plain.code, plain.comma, plain.grouped)


@dataclass
class Tally:
    """How often a column has each value, missing ones aside."""

    counts: Counter[Any]
    missing: int
    words: list[str] = field(default_factory=list)
    """The text among the values."""
    numbers: bool = False
    """Whether there are numbers as well, truth values aside."""
    finite: bool = True
    """Whether the others can be levels."""
    known: int = 0
    """Rows that have a value."""


class Side:
    """A column of the rows of one side."""

    def __init__(self, cells: Cells, at: Where) -> None:
        self.cells, self.at = cells, at
        self.size, self.kind, self.order, self.declared = len(cells), cells.kind, cells.order, cells.declared
        self.type = cells.type
        self.written = None if cells.plain is None else Written.of(cells.plain)
        """Of a column of text that is plain numbers and missing values."""

    @property
    def missing(self) -> int:
        """Rows without a value."""
        if self.kind in (VALUES, UNREAD):
            return self.tally.missing
        return int(np.count_nonzero(~self.cells.known()))

    def mixed(self) -> tuple[Sequence[Any], Index]:
        """Return the values of a column of several types, and how many rows have each; none of another column."""
        found = self.cells.values
        if not isinstance(found, Coded):
            return [], np.empty(0, np.int64)
        return found.values, np.bincount(found.codes, minlength=len(found.values))

    @cached_property
    def tally(self) -> Tally:
        """The counts of values that may be levels."""
        return tally_of(self.cells)

    def refuse_levels(self) -> None:
        """Refuse a value that cannot be a level."""
        Reading(CATEGORY).codes(self.cells, self.at)


class Column:
    """A column of both sides."""

    def __init__(self, sides: Iterable[tuple[Cells, Where]]) -> None:
        self.sides = [Side(cells, at) for cells, at in sides]

    def numbers(self, reading: Reading) -> Numbers:
        """Return numbers, with counts of values that have none."""
        found, unread = zip(*[reading.read(side.cells, side.at) for side in self.sides], strict=True)
        return Numbers(found, unread)

    def text(self) -> Text:
        """Return the different words of both sides."""
        return self._text

    @cached_property
    def _text(self) -> Text:
        tallies = [side.tally for side in self.sides if side.kind in (VALUES, UNREAD)]
        return Text(list(dict.fromkeys([word for tally in tallies for word in tally.words])))


@dataclass(frozen=True)
class OneSided:
    """The commonest value of a side of a column, and its longest range apart from all values of the other side."""

    value: Any
    count: int
    shared: int
    """Rows of the other side with the value."""
    n_apart: int = 0
    """Rows within the range; 0 if it is not apart."""
    low: float = 0.0
    high: float = 0.0


def levels_of_one_side(sides: Sequence[Tally]) -> list[OneSided]:
    """Return the commonest level of either side."""
    counts = [side.counts for side in sides]
    if not all(counts):
        return []
    values = [max(of.items(), key=lambda pair: pair[1]) for of in counts]
    return [OneSided(value, n, of.get(value, 0)) for (value, n), of in zip(values, counts[::-1], strict=True)]


class Numbers:
    """The numbers that a reading gives of both sides of a column."""

    def __init__(self, sides: Sequence[Vector], unread: Sequence[Unread]) -> None:
        self.unread = unread
        """Values that do not read, of either side."""
        self._sides = [np.sort(x) for x in sides]  # NaN comes last
        known = [int(np.searchsorted(x, np.nan)) for x in self._sides]
        self.missing = [x.size - n for x, n in zip(self._sides, known, strict=True)]
        """Rows without a number, of either side."""
        self._known = [x[:n] for x, n in zip(self._sides, known, strict=True)]

    def auc(self) -> float:
        """Return the share of pairs in which the number of a positive is larger."""
        a, b = self._known
        if min(a.size, b.size) < LEAST:
            return 0.5
        return float((b.searchsorted(a) + b.searchsorted(a, "right")).mean() / (2.0 * b.size))

    def of_one_side(self) -> list[OneSided]:
        """Return of either side what it may have alone."""
        found, (pos, neg) = [], self._known
        if not (pos.size and neg.size):
            return []
        width = max(pos[-1], neg[-1]) - min(pos[0], neg[0])
        for own, others in ((pos, neg), (neg, pos)):
            value, count = _commonest(own)
            shared = int(np.diff(others.searchsorted([value, np.nextafter(value, np.inf)]))[0])
            ends = own.searchsorted(others, "right")
            starts = np.r_[0, ends]
            lasts = np.r_[own.searchsorted(others), own.size]  # own[start:last] lie between two others
            k = int((lasts - starts).argmax())
            n, low, high = int(lasts[k] - starts[k]), 0.0, 0.0
            if n:
                low, high = float(own[starts[k]]), float(own[lasts[k] - 1])
                below = low - others[k - 1] if k else np.inf
                above = others[k] - high if k < others.size else np.inf
                n *= min(below, above) > _GAP * width
            found.append(OneSided(value, count, shared, n, low, high))
        return found

    def in_order(self, of: str) -> InOrder:
        """Return what is read off the numbers, in ascending order."""
        # The hour has no indicator of missing values, as the trend has it.
        values = derived(of, np.concatenate(self._known if of == "hour" else self._sides))
        return in_order(values, values.size, "stable")  # which merges what is sorted already

    def are_months(self) -> bool:
        """Return whether all dates are the start of a month, as those of loans are that name no day."""
        dates = np.concatenate(self._known).astype("M8[us]")
        return bool((dates == dates.astype("M8[M]")).all())

    def present(self, of: str) -> list[int]:
        """Return which levels of what is read off dates there are."""
        found: list[int] = np.unique(derived(of, np.concatenate(self._known))).astype(int).tolist()
        return found


def _commonest(x: Vector) -> tuple[float, int]:
    """Return the commonest of numbers in ascending order, and how many rows have it."""
    starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
    n = np.diff(np.r_[starts, x.size])
    k = int(n.argmax())
    return float(x[starts[k]]), int(n[k])


def _counted(x: Any) -> tuple[Any, Index]:
    """Return different numbers in ascending order, and how many rows have each."""
    return np.unique(x, return_counts=True)


# Counts of values -----------------------------------------------------------------------------------


def tally_of(cells: Cells) -> Tally:
    """Count the values of a column that may be levels."""
    if cells.kind not in (VALUES, NUMBER, BOOLEAN):
        return Tally(Counter(), int(np.count_nonzero(~cells.known())))
    if isinstance(cells.values, Coded):
        found = _tally_of_text(cells.values)
        if found is not None:
            return found
        of_values = np.bincount(cells.values.codes, minlength=len(cells.values.values))
        pairs: Iterable[tuple[Any, int]] = zip(cells.values.values, of_values.tolist(), strict=True)
    else:
        values, of_values = _counted(np.asarray(cells.values))
        spelled = values.astype(bool) if cells.kind == BOOLEAN and not np.isnan(values).any() else values
        pairs = zip(spelled.tolist(), of_values.tolist(), strict=True)
    counts: Counter[Any] = Counter()
    missing = 0
    numbers, finite = False, True
    for value, count in pairs:
        if not count:
            continue
        if is_missing(value):
            missing += count
        elif isinstance(value, str):
            counts[value.strip()] += count
        else:
            level = _plain(value)
            counts[level] += count
            numbers |= not isinstance(level, bool)
            finite &= isinstance(level, int) or (isinstance(level, float) and math.isfinite(level))
    words = [value for value in counts if isinstance(value, str)]
    return Tally(counts, missing, words, numbers, finite, counts.total())


def _tally_of_text(column: Coded) -> Tally | None:
    """Count text that is all different without the blanks around it, which is quicker; None of other values."""
    if not set(map(type, column.values)) <= {str, type(None)}:
        return None
    words = ["" if value is None else value.strip() for value in column.values]
    of_words = np.bincount(column.codes, minlength=len(words))
    there = np.array([not reads_as_missing(word) for word in words], bool) & (of_words > 0)
    known = dict(zip(compress(words, there), of_words[there].tolist(), strict=True))
    if len(known) < np.count_nonzero(there):
        return None
    n_known = int(of_words[there].sum())
    return Tally(Counter(known), int(of_words.sum()) - n_known, list(known), known=n_known)


def _plain(value: Any) -> Any:
    """Return a number as a level is written: a whole one without a fraction."""
    value = _checks.python(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53 else value
