"""Levels of categories: values that are the same level, and warnings of values that are no level.

A value belongs to the level that equals it. A value that equals no level is compared by meaning, because files differ
in how they write values. Text that reads as a number or a truth value matches that number. A number matches the text
that reads as it, if only one level does. True, "True", "true" and 1 are one value, and so are 1, 1.0 and "1". Two texts
match if they are equal without surrounding blanks, or both spell true or false: "7" does not match "007".
"""

from __future__ import annotations

import decimal
import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Names, Values, numeral, reads_as_missing

_TRUTHS = {"true": True, "false": False}

_FEW = 20
"""Number of values of a column from which on at least one must be a known level."""

EXAMPLES = 3
"""Largest number of unknown values that are kept as examples."""

_UNKNOWN, _MISSING = -1, -2
"""Codes of unknown and of missing values."""


class UnknownLevelWarning(UserWarning):
    """Some values of a column are not among the levels of the weak rankers, which are 0 for these rows.

    Or they do not read as the numbers or dates that the column had in training, and count as missing. Rows of weight
    zero are counted as well.

    Examples
    --------
    >>> import warnings
    >>> import pnorm
    >>> H = pnorm.rankers.categories([["red"], ["blue"]], [["red"], ["green"]])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     outputs = H.evaluate([["mauve"]])
    >>> caught[0].category.__name__, outputs
    ('UnknownLevelWarning', array([[0., 0., 0.]]))
    """

    _seen: Seen | None = None
    """The values of the warning."""


def read(text: str) -> str | float:
    """Return the value that a text stands for: a truth value, a finite number, or else the text itself.

    Whole numbers keep all their digits. A text that stays one loses the blanks around it.
    """
    word = text.strip()
    if word.lower() in _TRUTHS:
        return _TRUTHS[word.lower()]
    try:
        value = numeral(word)
    except ValueError:
        return word
    if not math.isfinite(value):
        return word
    # Python's own int refuses 4,300 digits, zeros in front included.
    return int(decimal.Decimal(word)) if abs(value) >= 2.0**53 and word.lstrip("+-").isdigit() else value


def _spelled(value: float) -> str:
    """Return one spelling for all numbers that are equal, truth values included."""
    return str(int(value)) if value == int(value) else repr(float(value))


@dataclass(frozen=True)
class Seen:
    """Counts of the values of a column that are missing or unknown, with examples."""

    column: str
    where: str
    """The name of the rows."""
    n: int
    """Values that are not missing."""
    unknown: int
    missing: int
    """Missing values, if these are no level."""
    found: tuple[Any, ...]
    known: tuple[Any, ...]
    """Some levels; none if a missing value is the only level."""
    as_rare: bool = False
    """Whether an unknown value counts as a rare one, which has a level."""
    name: str = ""
    """The name of the column in its file or frame, if it has one."""

    @property
    def foreign(self) -> bool:
        """Return whether the examples are all text and the known levels all numbers, or the reverse."""
        return {isinstance(value, str) for value in self.found}.isdisjoint([isinstance(x, str) for x in self.known])

    @property
    def none(self) -> Seen:
        """The counts of no values of this column."""
        return replace(self, n=0, unknown=0, missing=0, found=())

    def __add__(self, other: Seen) -> Seen:
        """Return the counts and examples of the rows of both together."""
        where = self.where if other.where == self.where else f"{self.where} and {other.where}"
        found = tuple(dict.fromkeys((*self.found, *other.found)))[:EXAMPLES]
        n, unknown, missing = self.n + other.n, self.unknown + other.unknown, self.missing + other.missing
        return replace(self, where=where, n=n, unknown=unknown, missing=missing, found=found)


_LIKE_TRAINING = "Bring the column into the form that it had in training, or train on rows like these"
"""The advice in errors on a column whose values are nearly all unknown."""

_AS_NONE = "they count as none of the known ones"
"""The end of warnings on unknown values of a column without a rare level: all of its indicators are 0."""

MANY = 5
"""Values that do not read from which on, if they are more than a tenth of a column, rows are refused."""

_REFUSED = 0.1
"""Share of these. It is twice what training tolerates, since the share of a part of the rows is off by chance."""


@dataclass(frozen=True)
class Unread(Seen):
    """Counts of the values of a column that do not read as its kind, and count as missing, with examples."""

    what: str = ""
    """The kind of the column with its article, such as "a number"."""
    rows: tuple[int | str, ...] = ()
    """The rows of the examples, or their places in words."""
    in_training: int = 0
    """Such values of the rows that the weak rankers were made from, which they have told of."""
    is_all: bool = True
    """Whether there are no other values than the examples."""
    words: tuple[tuple[str, int], ...] = ()
    """Words that count as missing, as `folded` writes them, and how many rows have each."""

    def placed(self, place: Callable[[int], str | None]) -> Unread:
        """Return these counts with the places of rows in words."""
        return replace(self, rows=tuple([row if isinstance(row, str) else place(row) or row for row in self.rows]))

    @property
    def none(self) -> Unread:
        """The counts of no values of this column."""
        return replace(self, n=0, unknown=0, found=(), rows=(), is_all=True)

    def at(self) -> str:
        """Return the place of the first example."""
        row = self.rows[0]
        return f"row {row}, {self.column}" if isinstance(row, int) and row >= 0 else self.column

    def places(self) -> list[str]:
        """Return the examples and where they are."""
        both = [(value, self._place(row)) for value, row in zip(self.found, self.rows, strict=True)]
        return [f"{value} ({place})" if place else value for value, place in both]

    def _place(self, row: int | str) -> str:
        if isinstance(row, str):
            return row
        return f"row {row} of {self.where}" if row >= 0 else ""

    def told(self) -> str:
        """Return how many values do not read, and the first ones."""
        values, do, count = ("value", "does", "counts") if self.unknown == 1 else ("values", "do", "count")
        first = f": {', '.join(self.places())}{'' if self.is_all else ' and others'}" if self.found else ""
        if self.unknown > 1 and len(self.found) == 1 and self.is_all:
            place = self._place(self.rows[0])
            first = f": all are {self.found[0]}{f', first in {place}' if place else ''}"
        return f"{self.unknown:,} {values} {do} not read as {self.what} and {count} as missing{first}"

    def __add__(self, other: Seen) -> Unread:
        assert isinstance(other, Unread)
        a, b = self, other
        where = a.where
        if a.where != b.where:
            a, b, where = a.placed(a._place), b.placed(b._place), f"{a.where} and {b.where}"
        every = [*zip(a.found, a.rows, strict=True), *zip(b.found, b.rows, strict=True)]
        if all(isinstance(row, int) for _, row in every):  # rows of one table
            every.sort(key=lambda pair: pair[1])
        of_values = dict(reversed(every))
        pairs = [(value, of_values[value]) for value in dict.fromkeys([value for value, _ in every])]
        return replace(
            a,
            where=where,
            n=a.n + b.n,
            unknown=a.unknown + b.unknown,
            found=tuple([value for value, _ in pairs[:EXAMPLES]]),
            rows=tuple([row for _, row in pairs[:EXAMPLES]]),
            in_training=max(a.in_training, b.in_training),
            is_all=a.is_all and b.is_all and len(pairs) <= EXAMPLES,
            words=tuple((Counter(dict(a.words)) + Counter(dict(b.words))).items()),
        )


def placed(columns: Iterable[Seen], place: Callable[[int], str | None]) -> list[Seen]:
    """Return counts of values with the places of rows in words, where there are rows."""
    return [seen.placed(place) if isinstance(seen, Unread) else seen for seen in columns]


def _tell_unread(columns: Iterable[Seen], learned: bool) -> None:
    """Warn of values that do not read as the kind of their column, and refuse columns that have many."""
    of_columns: dict[str, list[Unread]] = {}
    for seen in columns:
        if isinstance(seen, Unread) and seen.unknown:
            of_columns.setdefault(seen.column, []).append(seen)
    for of in of_columns.values():
        n = sum([seen.unknown for seen in of])
        if n <= of[0].in_training and (learned or all(seen.where != "X" for seen in of)):
            continue
        for seen in of:
            if seen.unknown >= MANY and seen.unknown > _REFUSED * seen.n and seen.unknown > seen.in_training:
                raise ValueError(
                    f"{seen.where} has {seen.found[0]} at {seen.at()}, which was {seen.what} in training, and "
                    f"{seen.unknown:,} of the {seen.n:,} values are not. {_LIKE_TRAINING}"
                )
            it = "the value" if seen.unknown == 1 else "the values"
            _warn_of(
                seen,
                f"in {seen.column} of {seen.where}, {seen.told()}. Correct {it}, or make the column another kind with "
                "kinds",
            )


def tell(columns: Iterable[Seen], strict: bool = True, learned: bool = False) -> None:
    """Warn of unknown values, and refuse columns of several values that are all unknown.

    If not `strict`, for a part of the rows of a table, a column is refused only if its values are of another kind than
    the levels, because all values of a fold or partition may be new. Rows that are `learned` from are not told of
    values that did not read when the weak rankers were made, since that has been told then.
    """
    every = dict.fromkeys(columns)
    _tell_unread(every, learned)
    told = [
        seen for seen in every if seen.unknown and seen.known and (not seen.as_rare or seen.n == seen.unknown >= _FEW)
    ]
    for seen in told:
        if seen.n == seen.unknown >= _FEW and (strict or seen.foreign):
            raise ValueError(
                f"none of the {seen.n:,} values of {seen.column} of {seen.where} is known: got "
                f"{_list(seen.found[:1])}, and the known ones include {_list(seen.known)}. {_LIKE_TRAINING}"
            )
    for seen in told:
        becomes = "they count as rare ones" if seen.as_rare else _AS_NONE
        _warn_of(
            seen,
            f"unknown values in {seen.column} of {seen.where}: {seen.unknown:,} of {seen.n:,} values, such as "
            f"{_list(seen.found)}; {becomes}",
        )
    for seen in every:
        if seen.n == 0 and seen.missing >= _FEW:
            _warn_of(
                seen,
                f"all {seen.missing:,} values of {seen.column} of {seen.where} are missing, and a missing value is not "
                f"known there; {_AS_NONE}",
            )


def unread_of(told: Iterable[Warning]) -> dict[str, Unread]:
    """Return the values that do not read, by the texts of the warnings that tell of them."""
    seen = {str(warning): warning._seen for warning in told if isinstance(warning, UnknownLevelWarning)}
    return {text: of for text, of in seen.items() if isinstance(of, Unread)}


def _warn_of(seen: Seen, message: str) -> None:
    warning = UnknownLevelWarning(message)
    warning._seen = seen
    warn(warning, UnknownLevelWarning)


def held_out(columns: Iterable[Seen]) -> list[Seen]:
    """Merge the counts of all folds of a cross-validation into one `Seen` for each column.

    Unknown values add up: a value is unknown only in the fold that holds its row out. The other counts are of all rows
    in every fold, and the largest is taken.
    """
    whole: dict[str, Seen] = {}
    for seen in columns:
        before = whole.get(seen.column)
        if isinstance(before, Unread) and isinstance(seen, Unread):  # all rows of every fold, held out or not
            most = before if before.unknown >= seen.unknown else seen
            whole[seen.column] = replace(most, in_training=before.in_training + seen.in_training)
            continue
        if before is not None:
            seen = replace(before + seen, n=max(before.n, seen.n), missing=max(before.missing, seen.missing))
        whole[seen.column] = seen
    return [replace(seen, where=f"held-out rows of {seen.where}") for seen in whole.values()]


def _list(values: Iterable[Any]) -> str:
    return ", ".join(map(_checks.shown, values))


_PRINTED: dict[tuple[str, int], set[Hashable]] = {}
"""The facts in warnings that were printed once, by the file and the line."""


def warn(message: str | Warning, category: type[Warning], once: Collection[Hashable] = ()) -> None:
    """Warn with the place of the caller of pnorm.

    Python prints a text once for each place, but forgets what it has printed when filters change, as scikit-learn does
    before each fold. Folds may also differ in a few columns. With `once`, the facts that a text contains, it is not
    printed if these were all printed before for the same line that calls pnorm, or scikit-learn.
    """
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame) == "pnorm":
        depth, frame = depth + 1, frame.f_back
    if once and _is_printed_once(str(message), category, frame.f_globals.get("__name__", ""), frame.f_lineno):
        while frame.f_back is not None and _package(frame) in ("sklearn", "joblib"):
            frame = frame.f_back
        printed = _PRINTED.setdefault((frame.f_code.co_filename, frame.f_lineno), set())
        if printed.issuperset(once):
            return
        printed.update(once)
    warnings.warn(message, category, stacklevel=depth)


def _package(frame: FrameType) -> str:
    """Return the package of the code that runs in a frame."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_printed_once(text: str, category: type[Warning], module: str, line: int) -> bool:
    """Return whether the filters of Python print the first warning only."""
    filters = getattr(warnings, "_get_filters", lambda: warnings.filters)()  # those of the context, from Python 3.14 on
    for action, of_text, of_category, of_module, at in filters:
        if (
            issubclass(category, of_category)
            and (of_text is None or re.match(of_text, text))
            and (of_module is None or re.match(of_module, module))
            and at in (0, line)
        ):
            return action in ("default", "module", "once")
    return True


def distinct(
    column: Values, name: str, c: int, names: Names, called: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return `_checks.distinct` of a column; raise a TypeError that names the row of a value that can be no level.

    `called` are the numbers of the rows in messages.
    """
    try:
        return _checks.distinct(column)
    except TypeError:
        for row, value in zip(range(len(column)) if called is None else called.tolist(), column, strict=True):
            _checks.level(value, name, row, c, True, names)
        raise


class Column:
    """The levels of a column by number; None is a missing value.

    Unknown values may count as the level number `rare`.
    """

    def __init__(self, levels: Sequence[Any], rare: int | None = None) -> None:
        self.levels, self._rare = levels, rare
        self._missing = next((k for k, level in enumerate(levels) if level is None), None)
        self._texts, self._numbers = dict[str, int](), dict[str, int]()
        self._stripped, self._read = dict[str, int](), dict[str, int]()  # of texts: as such, and as numbers
        for k, level in enumerate(levels):
            if isinstance(level, str):
                meaning = read(level)
                self._texts[level] = k
                _put(self._stripped, level.strip(), k)
                if not isinstance(meaning, str):
                    _put(self._read, _spelled(meaning), k)
            elif level is not None:
                self._numbers[_spelled(level)] = k

    def number(self, value: Any) -> int:
        """Return the code of a value's level; a negative one if there is none."""
        if isinstance(value, str):
            if value in self._texts:
                return self._texts[value]
            k, meaning = self._stripped.get(value.strip(), _UNKNOWN), read(value)
            if k != _UNKNOWN or isinstance(meaning, str):
                return k
            spelled = _spelled(meaning)
            if spelled in self._numbers or not isinstance(meaning, bool):
                return self._numbers.get(spelled, _UNKNOWN)
            return self._read.get(spelled, _UNKNOWN)
        value = _checks.python(value)
        if not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
            return _UNKNOWN
        spelled = _spelled(value)
        return self._numbers.get(spelled, self._read.get(spelled, _UNKNOWN))

    def codes(
        self, column: Values, name: str, c: int, missing: bool, names: Names, called: NDArray[np.intp] | None = None
    ) -> tuple[NDArray[np.uint16], Seen]:
        """Return the code of every value's level, one after the last for unknown values, and counts of these.

        `called` are the numbers of the rows in messages.
        """
        rows, which = distinct(column, name, c, names, called)
        number = [self.number(column[row]) for row in rows]
        found: list[Any] = []
        for k, row in enumerate(rows.tolist()):
            if number[k] < 0:
                value = column[row]
                absent = isinstance(value, str) and reads_as_missing(value)
                in_message = row if called is None else int(called[row])
                level = _checks.level(value, name, in_message, c, missing, names, absent)
                if level is None:
                    number[k] = _MISSING if self._missing is None else self._missing
                elif len(found) < EXAMPLES:
                    found.append(level)
        codes = np.array(number, np.intp)[which]
        n_missing = np.count_nonzero(codes == (_MISSING if self._missing is None else self._missing))
        seen = Seen(
            _checks.column_called(c, names),
            name,
            len(column) - int(n_missing),
            int(np.count_nonzero(codes == _UNKNOWN)),
            int(n_missing) if self._missing is None else 0,
            tuple(found),
            tuple([level for k, level in enumerate(self.levels[:5]) if level is not None and k != self._rare])[:3],
            self._rare is not None,
            "" if names is None else str(names[c]),
        )
        if self._rare is not None:
            codes[codes == _UNKNOWN] = self._rare
        codes[codes < 0] = len(self.levels)
        return codes.astype(np.uint16), seen


def _put(known: dict[str, int], key: str, k: int) -> None:
    """Add a level under a key; a key of several levels means none of them."""
    known[key] = _UNKNOWN if key in known else k
