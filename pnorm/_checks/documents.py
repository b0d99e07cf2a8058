"""Dictionaries that are read from files or written to them."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

import numpy as np

from pnorm._checks.grouping import key
from pnorm._checks.scalars import choice, count, numbers_of, real, shown
from pnorm._checks.values import level

_KINDS: dict[type, str] = {str: "a string", dict: "a dictionary", bool: "true or false"}

_T = TypeVar("_T", bound="str | dict[str, Any] | bool")

_DEPTH = 64
"""Largest depth of lists and dictionaries in a file; collections stay far below it."""

DIGITS = 309
"""Largest number of digits of an integer in a file: those of the largest double."""

TOO_DEEP = f"{{}} has lists or dictionaries in each other, more than {_DEPTH} deep"


def shallow(x: Any, name: str, room: int = _DEPTH) -> None:
    """Refuse lists and dictionaries that are nested too deeply, or contain themselves."""
    if not isinstance(x, (Mapping, list, tuple)):
        return
    if room == 0:
        raise ValueError(TOO_DEEP.format(name))
    for inner in x.values() if isinstance(x, Mapping) else x:
        shallow(inner, name, room - 1)


def plain(x: Any, name: str) -> Any:
    """Return a copy of a dictionary that JSON stores without change: strings, finite numbers, true, false, None."""
    if not isinstance(x, Mapping):
        raise TypeError(f"{name} must be a dictionary; got {type(x).__name__}")
    shallow(x, name)
    return _plain(x, name)


def _plain(x: Any, name: str) -> Any:
    if isinstance(x, Mapping):
        for key in x:
            if not isinstance(key, str):
                raise TypeError(f"{name} has the key {shown(key)}; keys must be strings")
        return {str(key): _plain(value, f"{name}[{shown(key)}]") for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_plain(value, f"{name}[{i}]") for i, value in enumerate(x)]
    if isinstance(x, int) and abs(x) >= 10**DIGITS:
        raise ValueError(f"{name} is an integer of more than {DIGITS} digits; make it a float or a string")
    if x is None or isinstance(x, (str, bool, int)):
        return x
    if isinstance(x, float):
        return real(x, name)
    hint = f": pass {name}.tolist()" if hasattr(x, "tolist") else ""
    raise TypeError(
        f"{name} is of type {type(x).__name__}; a file holds strings, numbers, true, false, None, lists and "
        f"dictionaries{hint}"
    )


_ROOM = 5
"""Smallest number of characters of a file per list; twice as many per dictionary. A list in memory takes 100 bytes
or more, a dictionary 230, so files of only these, such as [[],[],[]], would need too much memory."""

_STRING = re.compile(r'"(?:[^"\\]++|\\.?+)*+(?:"|\Z)', re.DOTALL)
"""A string of JSON, in which brackets are text, or the rest of a file where it has no end; each character is looked at
once."""


def parsed(text: str) -> Any:
    """Return what a text of JSON holds; refuse one that would take too much memory, or that has odd numbers."""
    outside = _STRING.sub("", text)
    lists, dictionaries = outside.count("["), outside.count("{")
    if _ROOM * (lists + 2 * dictionaries - 1000) > len(text):
        raise ValueError(
            f"it has {lists + dictionaries} lists and dictionaries in {len(text)} characters, which would take more "
            "memory than a model may"
        )
    data = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer)
    shallow(data, "it")
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the field {shown(twice)} appears twice")
    return found


def _constant(word: str) -> Any:
    raise ValueError(f"it has the number {word}; every number must be finite")


def _float(digits: str) -> float:
    value = float(digits)
    if not np.isfinite(value):
        raise ValueError(f"it has the number {shown(digits)}, more than a double holds")
    return value


def _integer(digits: str) -> int:
    length = len(digits.lstrip("-"))
    if length > DIGITS:
        raise ValueError(f"it has an integer of {length} digits; no number needs more than {DIGITS}")
    return int(digits)


class Fields:
    """The fields of a dictionary that was read from a file, checked one by one."""

    def __init__(self, data: Any, what: str, form: str, version: int) -> None:
        if not isinstance(data, Mapping):
            hint = ": read it with json.loads first" if isinstance(data, (str, bytes)) else ""
            raise TypeError(f"{what} must be a dictionary, as to_dict returns it; got {type(data).__name__}{hint}")
        self._data, self._what = data, what
        self._known = {"format", "version"}
        if data.get("format") != form:
            raise ValueError(f"{what} must have the format {form!r}; got {shown(data.get('format'))}")
        found = data.get("version")
        if isinstance(found, (bool, np.bool_)) or found != version:
            raise ValueError(
                f"{what} have version {shown(found)} of the format, and this pnorm reads version {version}"
            )

    @classmethod
    def part(cls, data: Any, what: str) -> Fields:
        """Return the fields of a dictionary within another one, which has no format of its own."""
        if not isinstance(data, Mapping):
            raise TypeError(f"{what} must be a dictionary, as to_dict returns it; got {type(data).__name__}")
        fields = cls.__new__(cls)
        fields._data, fields._what, fields._known = data, what, set()
        return fields

    def get(self, key: str) -> Any:
        """Return a field that must be there."""
        if key not in self._data:
            raise ValueError(f"{self._what} must have the field {key!r}")
        self._known.add(key)
        return self._data[key]

    def nothing_else(self) -> None:
        """Refuse fields that have not been read."""
        for field in self._data:
            if field not in self._known:
                raise ValueError(f"the field {shown(field)} of {self._what} is not known to this version of pnorm")

    def choice(self, key: str, allowed: Collection[str]) -> str:
        """Return one of the allowed words."""
        return choice(self.get(key), f"{key!r} of {self._what}", allowed)

    def of(self, kind: type[_T], key: str) -> _T:
        """Return a string, a dictionary, or true or false."""
        value = self.get(key)
        if not isinstance(value, kind):
            raise self._wrong(key, _KINDS[kind], value)
        return value

    def items(self, key: str, size: int | None = None) -> list[Any]:
        """Return a list of a given size, or of any size above zero."""
        value = self.get(key)
        if not isinstance(value, list) or not value or size not in (None, len(value)):
            raise self._wrong(key, "a list" + (f" of {size!s:.80}" if size else " that is not empty"), value)
        return value

    def inner(self, key: str, size: int | None = None) -> list[Fields]:
        """Return the fields of each dictionary in a list."""
        found = []
        for item in self.items(key, size):
            if not isinstance(item, dict):
                raise self._wrong(key, "a list of dictionaries", item)
            found.append(Fields.part(item, f"{key!r} of {self._what}"))
        return found

    def inner_if_any(self, key: str) -> list[Fields]:
        """Return the fields of each dictionary in a list, which may be empty."""
        return [] if self.get(key) == [] else self.inner(key)

    def has(self, key: str) -> bool:
        """Return whether there is a field."""
        return key in self._data

    def strings(self, key: str, size: int | None) -> tuple[str, ...]:
        """Return a list of strings."""
        values = self.items(key, size)
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(key, "a list of strings", values)
        return tuple(values)

    def optional_strings(self, key: str, size: int | None) -> tuple[str, ...] | None:
        """Return a list of strings, or None."""
        return None if self.get(key) is None else self.strings(key, size)

    def count(self, key: str, least: int) -> int:
        """Return an integer that is at least `least`."""
        value = count(self.get(key), f"{key!r} of {self._what}", least)
        if value > sys.maxsize:
            raise self._wrong(key, "a number of columns", value)
        return value

    def optional_count(self, key: str, least: int) -> int | None:
        """Return an integer that is at least `least`, or None."""
        return None if self.get(key) is None else self.count(key, least)

    def number(self, key: str, check: Callable[[Any, str], float] = real) -> float:
        """Return a finite number that passes a check of this package."""
        return check(self.get(key), f"{key!r} of {self._what}")

    def optional_number(self, key: str, check: Callable[[Any, str], float] = real) -> float | None:
        """Return such a number, or None."""
        return None if self.get(key) is None else self.number(key, check)

    def real_if_there(self, key: str) -> float | None:
        """Return a finite number; None where there is no such field."""
        return real(self.get(key), f"{key!r} of {self._what}") if key in self._data else None

    def numbers(self, key: str, size: int | None) -> list[float]:
        """Return a list of finite numbers."""
        return numbers_of(self.items(key, size), f"{key!r} of {self._what}")

    def cuts(
        self, key: str, width: int | None, missing: bool, most: int
    ) -> tuple[list[tuple[int, float]], dict[int, list[float]], dict[int, list[float]]]:
        """Return pairs of a column and a cut, the lines of columns, and the ends of their levels.

        The cut None, if allowed, means a missing value and becomes NaN. A list in its place is a line: its values
        at the levels of the column, from 0 to 1, between `most` cuts at most. Its cut becomes infinite. A column
        without other cuts has the ends of the levels after its line.
        """
        pairs: list[tuple[int, float]] = []
        lines: dict[int, list[float]] = {}
        between: dict[int, list[float]] = {}
        for pair in self.items(key):
            is_line = isinstance(pair, list) and len(pair) == 3 and isinstance(pair[1], list)
            if not is_line and not (isinstance(pair, list) and len(pair) == 2):
                raise self._wrong(key, "a list of pairs [column, cut]", pair)
            column = count(pair[0], f"a column in {key!r} of {self._what}", 0)
            if column >= (width or sys.maxsize):
                raise self._wrong(key, f"cuts of columns 0 to {(width or sys.maxsize) - 1}", pair)
            if pair[1] is None and not missing:
                raise self._wrong(key, "numbers, as 'missing' is false", pair)
            if isinstance(pair[1], list):
                values = numbers_of(pair[1], f"a line in {key!r} of {self._what}")
                if column in lines or values != sorted(values) or [*values[:1], *values[-1:]] != [0.0, 1.0]:
                    raise self._wrong(key, "one line for a column at most, of values that rise from 0 to 1", pair)
                lines[column] = values
                pairs.append((column, math.inf))
                for ends in pair[2:]:
                    between[column] = numbers_of(ends, f"the ends of a line in {key!r} of {self._what}")
                    if between[column] != sorted(set(between[column])):
                        raise self._wrong(key, "ends of a line that rise", pair)
            else:
                cut = math.nan if pair[1] is None else real(pair[1], f"a cut in {key!r} of {self._what}")
                pairs.append((column, cut))
        for column, values in lines.items():
            cuts = {cut for c, cut in pairs if c == column and math.isfinite(cut)}
            if cuts and column in between:
                raise self._wrong(key, f"a line of column {column} with cuts or with ends, and not both", values)
            n_levels = 1 + len(between.get(column, cuts))
            if len(values) != n_levels or n_levels > most + 1:
                raise self._wrong(key, f"a line of {n_levels} values in column {column}, one for each level", values)
        return pairs, lines, between

    def flag(self, key: str) -> bool:
        """Return a truth value, False where there is no such field."""
        return key in self._data and self.of(bool, key)

    def signs(self, key: str, width: int | None) -> dict[int, int]:
        """Return the signs, 1 or -1, of columns from pairs of both; none where there is no such field."""
        if key not in self._data:
            return {}
        signs: dict[int, int] = {}
        for pair in self.items(key):
            if not isinstance(pair, list) or len(pair) != 2:
                raise self._wrong(key, "a list of pairs [column, sign]", pair)
            column = count(pair[0], f"a column in {key!r} of {self._what}", 0)
            sign = count(pair[1], f"a sign in {key!r} of {self._what}", -1)
            if column >= (width or sys.maxsize) or column in signs or sign not in (1, -1):
                raise self._wrong(key, "pairs of different columns and signs 1 or -1", pair)
            signs[column] = sign
        return signs

    def levels(self, field: str, most: int) -> list[tuple[Any, ...]]:
        """Return tuples of distinct levels; None is a missing value."""
        columns, name = [], f"{field!r} of {self._what}"
        for c, column in enumerate(self.items(field)):
            if not isinstance(column, list):
                raise self._wrong(field, "a list of lists of levels", column)
            if len(column) > most:
                raise ValueError(f"a column has {len(column)} levels; there can be {most} at most")
            columns.append(tuple([level(value, name, k, c, True) for k, value in enumerate(column)]))
            if len({key(value) for value in columns[-1]}) < len(column):
                raise self._wrong(field, "different levels in every column", column)
        return columns

    def _wrong(self, key: str, expected: str, got: Any) -> ValueError:
        return ValueError(f"{key!r} of {self._what} must be {expected}; got {shown(got)}")
