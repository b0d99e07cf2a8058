"""Scorecards as SQL."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pnorm._checks.text import shown
from pnorm._reasons.points import _TRUTH, PointsOf, _folded_words, _missing_of, _spelled, _written
from pnorm.rankers._readings import DAY, HOUR, LEVELS_OF
from pnorm.rankers._table import WORD

_YEAR_FIRST = ("____-__-__", "____-__-__ __:__", "____-__-__ __:__:__", "____-__-__ __:__:__._%")
"""Dates without and with a time of day, as SQL matches them."""

_BLANKS = "".join([blank for blank in map(chr, range(0x3001)) if blank.isspace()])
"""All that `str.strip` takes off a text."""


def _case(column: PointsOf) -> str:
    """Return the points of a column as an expression of SQL."""
    x = f"r.{_quoted(column.source)}"
    x = f"({x} AT TIME ZONE {_literal(column.zone)})" if column.zone else x
    words, numbers = _missing_of(column)
    absent = f" OR {_folded(x, words)} IN ({_listed(words)})" if words else ""
    start = f"CASE WHEN {x} IS NULL{absent} THEN {_number(column.missing)}"
    if column.read_off in _READ_OFF:
        return _case_of_time(column, start, x)
    if column.read_off == WORD:
        known = _folded_words(column)
        return f"{start} ELSE {_looked_up(_folded(x, list(known)), known, _number(column.other))} END"
    if column.levels:
        return f"{start} ELSE {_case_of_levels(column, x)} END"
    cases = [f"WHEN {x} <= {_literal(cut)} THEN {n}" for cut, n in zip(column.cuts, column.points, strict=False)]
    # The last piece ends as well: NULL is below no number, and NaN above all.
    cases.append(f"WHEN {x} <= {sys.float_info.max!r} THEN {column.points[-1]}")
    if column.form is None and column.read_off != "days":
        return " ".join(["CASE", *cases, "END" if column.missing is None else f"ELSE {column.missing} END"])
    if numbers:
        cases.insert(0, f"WHEN {x} IN ({_listed(numbers)}) THEN {_number(column.missing)}")
    return " ".join([start, f"WHEN {_is_text(x)} THEN NULL", *cases, "END"])


def _case_of_levels(column: PointsOf, x: str) -> str:
    """Return the points of a column of levels as an expression of SQL; numbers are compared as such if none is text."""
    values, texts, words = _spelled(column)
    numbers = [level for level in column.levels if isinstance(level, (int, float))] * (column.read_off != _TRUTH)
    for number in numbers:
        texts |= {text: values[number] for text in _written(float(number)) if text not in texts}
    found = _looked_up("word", {word: n for word, n in words.items() if isinstance(word, str)}, _number(column.other))
    meant = [(float(value), n) for value, n in values.items() if isinstance(value, (int, float))]
    typed = {text: n for number, n in meant for text in _written(number)} | texts
    of_text, of_typed = _looked_up("t", texts, found), _looked_up("t", typed, found)
    found = of_text if typed == texts else f"CASE WHEN {_is_text(x)} THEN {of_text} ELSE {of_typed} END"
    if numbers and not any(isinstance(level, str) for level in column.levels):
        found = _looked_up(x, values, found)
    else:
        alike = {text: n for text, n in values.items() if isinstance(text, str)}
        found = _looked_up(f"CAST({x} AS VARCHAR)", alike, found)
    return f"(SELECT {found}\n{_from([f'SELECT {_stripped(x)} AS t', 'SELECT t, LOWER(t) AS word'])})"


def _looked_up(x: str, points: Mapping[Any, int | None], rest: str) -> str:
    """Return the points of the value that an expression of SQL equals, and the rest for others."""
    cases = " ".join([f"WHEN {_literal(value)} THEN {_number(n)}" for value, n in points.items()])
    return f"CASE {x} {cases} ELSE {rest} END" if cases else rest


def _is_text(x: str) -> str:
    return f"LOWER(TYPEOF({x})) IN ('text', 'varchar')"


def _stripped(x: str) -> str:
    """Return text without the blanks around it, as an expression of SQL; TRIM alone leaves tabs and ends of lines."""
    return f"TRIM(CAST({x} AS VARCHAR), '{_BLANKS}')"


def _folded(x: str, words: Sequence[str]) -> str:
    """Return text as `folded` writes it, as far as that can make it one of some words, as an expression of SQL.

    LOWER of SQLite leaves letters beyond ASCII as they are.
    """
    pairs = [(odd, plain) for odd, plain in _odd_letters() if any(plain in word for word in words)]
    if any(" " in word for word in words):
        pairs += [*[(blank, " \1") for blank in _BLANKS], ("\1 ", ""), ("\1", "")]
    text = f"LOWER({_stripped(x)})"
    if not pairs:
        return text
    steps = [f"SELECT REPLACE(t, {_literal(odd)}, {_literal(plain)}) AS t" for odd, plain in pairs]
    return f"(SELECT t\n{_from([f'SELECT {text} AS t', *steps])})"


@functools.cache
def _odd_letters() -> list[tuple[str, str]]:
    """Return the letters beyond ASCII that have another spelling in `str.casefold`, and this."""
    return [(odd, plain) for odd in map(chr, range(128, sys.maxunicode + 1)) if (plain := odd.casefold()) != odd]


_DIGITS = "'0123456789'"

_FIELDS = {"y": (1, 4), "m": (6, 2), "d": (9, 2), "hh": (12, 2), "mi": (15, 2), "ss": (18, 2)}
"""Places of the parts of a date and time in its text: the first character, from 1, and how many."""

_CLOCK = "((hh * 60 + mi) * 60 + ss) * 1000000 + us"

_DAYS = (
    "365 * (y - 1970) + (y - y % 4) / 4 - (y - y % 100) / 100 + (y - y % 400) / 400"
    " + (153 * m - 457 - (153 * m - 457) % 5) / 5 + d - 419"
)
"""Days since the start of 1970. Years begin in March: January and February are months 13 and 14 of the year before."""

_IN_CALENDAR = (
    "y > 0 AND m BETWEEN 1 AND 12 AND d BETWEEN 1 AND CASE WHEN m IN (4, 6, 9, 11) THEN 30 WHEN m <> 2 THEN 31"
    " WHEN y % 4 = 0 AND (y % 100 <> 0 OR y % 400 = 0) THEN 29 ELSE 28 END AND hh < 24 AND mi < 60 AND ss < 60"
)

_READ_OFF = {
    "trend": f"CAST({_DAYS} AS BIGINT) * 86400000000 + {_CLOCK}",
    "weekday": f"(CAST({_DAYS} AS BIGINT) % 7 + 10) % 7",
    "month": "(m - 1) % 12",
    "hour": "hh",
    "hours": _CLOCK,
}
"""Expressions in SQL for the parts of a date or a time of day."""


def _case_of_time(column: PointsOf, start: str, x: str) -> str:
    """Return the points of what is read off a date or a time of day, whose text is taken apart.

    All numbers are whole ones, microseconds in the place of days and hours, so that comparisons are exact. Divisions
    leave no rest, as data bases differ in what they do with it.
    """
    of = column.read_off
    if column.levels:
        names = LEVELS_OF[of]
        of_points: dict[int, list[str]] = {}
        for level, n in zip(column.levels, column.points, strict=True):
            of_points.setdefault(n, []).append(str(names.index(level)))
        cases = [f"WHEN x IN ({', '.join(codes)}) THEN {n}" for n, codes in of_points.items()]
        rest = "NULL" if column.other is None else str(column.other)
    else:
        ends = [_last_micro(cut, {"trend": DAY, "hours": HOUR}.get(of, 1.0)) for cut in column.cuts]
        *below, last = column.points
        rest = str(last)
        cases = [f"WHEN x <= {end} THEN {n}" for end, n in zip(ends, below, strict=True)]
    if of == "hours":
        text, zone = f"'1970-01-01 ' || {_stripped(x)}", "z = ''"
    else:  # where the type has a zone, the text is that of the session, which is another one than in training
        zoned = f"LENGTH(CAST(CASE WHEN 1 = 0 THEN {x} ELSE '1970-01-01' END AS VARCHAR)) > 19"
        text = f"CASE WHEN {zoned} THEN NULL ELSE {_stripped(x)} END"
        zone = (
            "(z IN ('', 'Z') OR (SUBSTR(z, 1, 1) IN ('+', '-') AND (LENGTH(o) = LENGTH(z) - 1 OR z LIKE '___:__')\n"
            f"        AND LENGTH(o) IN (2, 4) AND LTRIM(o, {_DIGITS}) = ''))"
        )
    fits = " OR ".join([f"t LIKE '{pattern}'" for pattern in _YEAR_FIRST])
    digits = " || ".join([f"SUBSTR(t, {at}, {size})" for at, size in _FIELDS.values()])
    fields = [f"CAST('0' || SUBSTR(t, {at}, {size}) AS BIGINT) AS {name}" for name, (at, size) in _FIELDS.items()]
    fields.append("CAST(SUBSTR(SUBSTR(t, 21) || '000000', 1, 6) AS BIGINT) AS us")
    march = "CASE WHEN m < 3 THEN y - 1 ELSE y END AS y, CASE WHEN m < 3 THEN m + 12 ELSE m END AS m, d, hh, mi, ss, us"
    steps = [
        f"SELECT {text} AS t",
        "SELECT SUBSTR(t, 1, 10) || REPLACE(SUBSTR(t, 11, 1), 'T', ' ') || SUBSTR(t, 12) AS t,\n"
        "        LTRIM(SUBSTR(t, 12), '0123456789:.') AS z",
        "SELECT z, REPLACE(SUBSTR(z, 2), ':', '') AS o, SUBSTR(t, 1, LENGTH(t) - LENGTH(z)) AS t",
        f"SELECT CASE WHEN ({fits})\n        AND LENGTH(t) < 30 AND LTRIM({digits} || SUBSTR(t, 21), {_DIGITS}) = ''\n"
        f"        AND {zone} THEN t END AS t",
        f"SELECT {', '.join(fields)}",
        f"SELECT {_IN_CALENDAR} AS fits, {march}",
        f"SELECT CASE WHEN fits THEN {_READ_OFF[of]} END AS x",
    ]
    return f"{start} ELSE (SELECT CASE WHEN x IS NULL THEN NULL {' '.join(cases)} ELSE {rest} END\n{_from(steps)}) END"


def _from(steps: Sequence[str]) -> str:
    """Return the FROM of the last of some SELECTs, each of which reads the one before.

    Nested, they are too deep for SQLite. Without MATERIALIZED it puts each step into all places of the next one.
    """
    froms = ["", *[f" FROM w{k}" for k in range(len(steps) - 1)]]
    *named, last = [f"{step}{source}" for step, source in zip(steps, froms, strict=True)]
    told = ",\n        ".join([f"w{k} AS MATERIALIZED ({step})" for k, step in enumerate(named)])
    return f"        FROM (WITH {told}\n        {last}) AS v"


def _last_micro(cut: float, unit: float) -> int:
    """Return the last microsecond that is not above a cut in days or hours, as these are computed; or whole number."""
    last = math.floor(cut * unit)
    while (last + 1) / unit <= cut:
        last += 1
    while last / unit > cut:
        last -= 1
    return last


def _literal(value: Any) -> str:
    """Return a value as SQL has it; a number with an exponent is a double there, and not a decimal number."""
    if isinstance(value, str):
        return "'" + _without_nul(value).replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = repr(value)
    return text if isinstance(value, int) or "e" in text else f"{text}e0"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(_literal, values))


def _number(n: int | None) -> str:
    return "NULL" if n is None else str(n)


def _quoted(name: str) -> str:
    return '"' + _without_nul(name).replace('"', '""') + '"'


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"{shown(text)} holds a NUL, which no SQL can hold")
    return text
