"""How text in a table is read, as numbers, truth values, dates, durations and times of day, and how these are written.

One form has to fit all values of a column. Where two forms fit and mean different values, none is chosen.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pnorm._checks import numeral

UNITS = ("%", "$", "€", "£", "¥", "₹", "EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD")
_UNIT = "|".join(map(re.escape, UNITS))
DRESSED = re.compile(rf"([+-]?)(?:({_UNIT})\s*)?([+-]?)(.*?)(?:\s*({_UNIT}))?", re.DOTALL)
PLAINER = {"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-"}
"""Blanks, an apostrophe and a minus, with their ASCII replacements."""

_PLAINER = str.maketrans(PLAINER)

MARKS = {".": ", '", ",": ". '"}
"""Marks between thousands, by the mark before the fraction."""

NUMBER_OF = {
    point: re.compile(rf"[+-]?(?:\d{{1,3}}([{marks}])\d{{3}}(?:\1\d{{3}})*(?:{re.escape(point)}\d*)?"
                      rf"|\d+(?:{re.escape(point)}\d*)?(?:[eE][+-]?\d+)?|{re.escape(point)}\d+)", re.ASCII)
    for point, marks in MARKS.items()
}  # fmt: skip

_CODE = re.compile(r"0\d+", re.ASCII)

_TRUTHS = dict.fromkeys(("true", "t", "yes", "y"), 1.0) | dict.fromkeys(("false", "f", "no", "n"), 0.0)
TRUTHS = _TRUTHS | {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
"""Words for truth values; numbers are such words where the other values are."""

DAY_FIRST, MONTH_FIRST = "day first", "month first"

_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*([AaPp])\.?[Mm]\.?)?"
_WHEN = rf"(?:[T ]+{_CLOCK}(?:\s*(?:Z|UTC|GMT|[+-]\d{{2}}:?(?:\d{{2}})?))?)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _WHEN, re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}),?" + _WHEN, re.ASCII)
_DIGITS = re.compile(r"(\d{4})()(\d{2})(\d{2})" + _WHEN, re.ASCII)
_DAY_NAMED = re.compile(r"(\d{1,2})([ .-]+)([A-Za-z]{3,9})[ .,-]+(\d{4}),?" + _WHEN, re.ASCII)
_MONTH_NAMED = re.compile(r"([A-Za-z]{3,9})([ .]+)(\d{1,2}),?[ ]+(\d{4}),?" + _WHEN, re.ASCII)
_TIME = re.compile(_CLOCK, re.ASCII)
_SPAN = re.compile(r"(?:([+-]?\d{1,9}) days?,?)?(?:(?:^| )([+-]?)(\d{1,6}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?)?", re.ASCII)

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = {
    name[:length]: k + 1
    for k, name in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
         "december"))
    for length in (3, len(name))
} | {"sept": 9}  # fmt: skip

_LONGEST = 64
"""Characters of a number or a date, at most."""

_FIRST = 20
"""Number of words that are examined to find that a column does not hold numbers."""

SOME = 2000
"""Words, at most, of which it is looked whether nearly all are numbers."""

MANY = 1000
"""Dates from which on NumPy reads them faster."""

_EPOCH, _MICRO = datetime.datetime(1970, 1, 1), datetime.timedelta(microseconds=1)


@dataclass(frozen=True)
class Form:
    """How the text of a column is written, and what it says of doubts."""

    point: str = ""
    """The mark before the fraction of a number; "" where no value shows it."""
    unit: str = ""
    """The unit that numbers have, "%" or a currency."""
    order: str = ""
    """Whether the day or the month comes first, in dates that do not say so."""


def all_of(read: Callable[[str], float | None], words: Iterable[str]) -> list[float] | None:
    """Return the values of all words; None if a word has none."""
    found = []
    for word in words:
        value = read(word)
        if value is None:
            return None
        found.append(value)
    return found


class Text:
    """The different words of a column, and the forms that fit all of them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def number(self) -> tuple[Form | None, str]:
        """Return the form in which all are numbers, or none and what is in doubt."""
        return number_form(self.words) if self.words else (None, "")

    def unit(self) -> str:
        """Return the unit that some have, if there is only one."""
        return unit_of(self.words)

    def date(self, digits: bool = False) -> tuple[Form | None, str]:
        """Return the form in which all are dates, eight digits included or not, or none and what is in doubt."""
        return date_form(self.words, digits) if self.words else (None, "")

    def odd(self) -> str | None:
        """Return a word that is no number where nearly all others are."""
        return odd_one(self.words)

    def is_time(self) -> bool:
        """Return whether all are times of day."""
        return all_of(time, self.words) is not None

    def is_duration(self) -> bool:
        """Return whether all are durations, and one has days."""
        return any("day" in word for word in self.words) and all_of(duration, self.words) is not None


# Numbers --------------------------------------------------------------------------------------------


def number(word: str, form: Form) -> float | None:
    """Return the number that a word spells."""
    value = _plain(word) if form.point != "," else None
    if value is not None and form.unit != "%":
        return value
    bare, unit = _bare(word)
    if unit not in (form.unit, "") or (form.unit == "%" and not unit):
        return None
    if not form.point:
        return _plain(bare)
    return _marked(bare, form.point)


def number_form(words: Sequence[str]) -> tuple[Form | None, str]:
    """Return the form in which all words are numbers, or none and what is in doubt."""
    if any(map(is_code, words)):
        return None, ""
    if all_of(_plain, words) is not None:
        return Form("." if any("." in word for word in words) else ""), ""
    if not all(any(_marked(_bare(word)[0], point) is not None for point in MARKS) for word in words[:_FIRST]):
        return None, ""  # a look at some words spares one at all
    dressed = [_bare(word) for word in words]
    units = {unit for _, unit in dressed}
    if len(units - {""}) > 1 or (len(units) > 1 and "%" in units):
        return None, ""
    unit, bare = max(units), [word for word, _ in dressed]
    of_point, of_comma = [all_of(lambda word, point=point: _marked(word, point), bare) for point in MARKS]  # type: ignore[misc]
    if of_point is None or of_comma is None:
        point = "." if of_point is not None else ","
        return (None, "") if of_point is of_comma else (Form(point, unit), "")
    if of_point == of_comma:
        return Form("", unit), ""
    # The marks that differ have three digits after them: thousands, where there is a currency.
    if unit not in ("", "%"):
        return Form("." if sum(map(abs, of_point)) > sum(map(abs, of_comma)) else ",", unit), ""
    if all_of(_plain, bare) is not None:
        return Form(".", unit), ""
    return None, two_numbers(next(word for word, a, b in zip(bare, of_point, of_comma, strict=True) if a != b))


def two_numbers(word: str) -> str:
    """Return that the mark in a number may be read in two ways."""
    return f"{word!r} may mean two numbers: 'decimal point' or 'decimal comma' says which"


def odd_one(words: Sequence[str]) -> str | None:
    """Return a word that is no number where nearly all others are."""
    words = words[:SOME]
    odd = [word for word in words if number(word, Form(".")) is None]
    return odd[0] if 0 < len(odd) <= 0.1 * len(words) else None


def unit_of(words: Iterable[str]) -> str:
    """Return the unit that some words have, if there is only one."""
    units = {_bare(word)[1] for word in words} - {""}
    return units.pop() if len(units) == 1 else ""


def _bare(word: str) -> tuple[str, str]:
    """Return a word without its unit, and this."""
    if len(word) > _LONGEST:
        return word, ""
    found = DRESSED.fullmatch(word.strip().translate(_PLAINER))
    if found is None:
        return word, ""
    sign, before, inner, rest, after = found.groups()
    if (sign and inner) or (before and after):
        return word, ""
    return f"{sign}{inner}{rest}", before or after or ""


def _plain(word: str) -> float | None:
    try:
        value = numeral(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _marked(word: str, point: str) -> float | None:
    found = NUMBER_OF[point].fullmatch(word) if len(word) <= _LONGEST else None
    if found is None:
        return None
    if found[1]:
        word = word.replace(found[1], "")
    return _plain(word.replace(point, "."))


# Truth values, dates, times -------------------------------------------------------------------------


def truth(word: str) -> float | None:
    """Return 1 for a yes and 0 for a no."""
    return _TRUTHS.get(word.lower())


def date(word: str, order: str = "", digits: bool = False) -> float | None:
    """Return the microseconds since 1970 on the clock that a date was written by; its zone does not count."""
    if len(word) > _LONGEST:
        return None
    found = _YEAR_FIRST.fullmatch(word) or (_DIGITS.fullmatch(word) if digits else None)
    if found:
        return _microseconds(found[1], found[3], found[4], found.groups()[4:])
    found = _DAY_NAMED.fullmatch(word)
    if found:
        return _microseconds(found[4], _MONTH.get(found[3].lower(), 0), found[1], found.groups()[4:])
    found = _MONTH_NAMED.fullmatch(word)
    if found:
        return _microseconds(found[4], _MONTH.get(found[1].lower(), 0), found[3], found.groups()[4:])
    found = _YEAR_LAST.fullmatch(word) if order else None
    if not found:
        return None
    day, month = (found[1], found[3]) if order == DAY_FIRST else (found[3], found[1])
    return _microseconds(found[4], month, day, found.groups()[4:])


def dates(words: Sequence[str], order: str, digits: bool = False) -> list[float] | None:
    """Return `date` of all words; None if one is no date."""
    if len(words) > MANY and all(len(word) in (10, 19) and word[4:5] == word[7:8] == "-" for word in words):
        try:  # NumPy reads many of the commonest form fast
            found: list[float] = np.array(words, "M8[us]").astype(np.int64).astype(np.float64).tolist()
        except ValueError:
            pass
        else:
            return found
    return all_of(lambda word: date(word, order, digits), words)


def date_form(words: Sequence[str], digits: bool = False) -> tuple[Form | None, str]:
    """Return the form in which all words are dates, or none and what is in doubt."""
    if date(words[0], DAY_FIRST, digits) is None and date(words[0], MONTH_FIRST, digits) is None:
        return None, ""
    if dates(words, "", digits) is not None:
        return Form(), ""
    fits = {order: dates(words, order, digits) for order in (DAY_FIRST, MONTH_FIRST)}
    day, month = fits[DAY_FIRST], fits[MONTH_FIRST]
    if day is not None and month is not None and day != month:
        if has_dots(words):
            return Form(order=DAY_FIRST), ""
        return None, two_dates(next(word for word, a, b in zip(words, day, month, strict=True) if a != b))
    if day is not None:
        return Form(order=DAY_FIRST), ""
    return (Form(order=MONTH_FIRST), "") if month is not None else (None, "")


def has_dots(words: Iterable[str]) -> bool:
    """Return whether a date that ends with the year has dots, as where the day comes first."""
    return any(match is not None and match[2] == "." for match in map(_YEAR_LAST.fullmatch, words))


def two_dates(word: str) -> str:
    """Return that a date may be read in two ways."""
    return f"{word!r} may begin with the day or the month: 'day first' or 'month first' says which"


def is_plain(word: str) -> bool:
    """Return whether a word is a number as files write it."""
    return _plain(word) is not None


def is_code(word: str) -> bool:
    """Return whether a word is a number that begins with a zero, such as 007."""
    return _CODE.fullmatch(word) is not None


def _microseconds(year: str, month: str | int, day: str, clock: Sequence[str | None]) -> float | None:
    try:
        at = datetime.datetime(int(year), int(month), int(day))
    except ValueError:
        return None
    start = float((at - _EPOCH) / _MICRO)
    since = _since_midnight(*clock) if clock[0] is not None else 0.0
    return None if since is None else start + since


def _since_midnight(
    hour: str | None, minute: str | None, second: str | None, fraction: str | None, half: str | None
) -> float | None:
    h, m, s = int(hour or 0), int(minute or 0), int(second or 0)
    if half is not None:
        if not 1 <= h <= 12:
            return None
        h = h % 12 + 12 * (half in "Pp")
    if h > 23 or m > 59 or s > 60:
        return None
    return 1e6 * (3600 * h + 60 * m + s) + _fraction(fraction)


def _fraction(digits: str | None) -> float:
    return float((digits or "0")[:6].ljust(6, "0"))


def time(word: str) -> float | None:
    """Return the microseconds since midnight of a time of day."""
    found = _TIME.fullmatch(word[: _LONGEST + 1])
    return _since_midnight(*found.groups()) if found else None


def duration(word: str) -> float | None:
    """Return the microseconds of a duration as Python and pandas write it."""
    found = _SPAN.fullmatch(word[: _LONGEST + 1])
    if not found or not word:
        return None
    days, sign, hours, minutes, seconds, fraction = found.groups()
    clock = 1e6 * (3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)) + _fraction(fraction)
    return 86400e6 * int(days or 0) + (-clock if sign == "-" else clock)


# What is read, in words ------------------------------------------------------------------------------


def moment_text(days: float) -> str:
    """Return the date that is so many days after the start of 1970, and the time of day where it has one."""
    micros = round(86400e6 * days)
    whole = round(micros, -3)
    micros = whole if abs(micros - whole) < 3 else micros  # a double has the days to less than a microsecond
    day, _, clock = str(np.datetime64(micros, "us")).partition("T")
    clock = _short_clock(clock)
    return day if clock == "00:00" else f"{day} {clock}"


def clock_text(hours: float) -> str:
    """Return the time of day that is so many hours after midnight."""
    micros = round(3600e6 * hours)
    minutes, rest = divmod(micros, 60_000_000)
    return _short_clock(f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1_000_000:02d}.{rest % 1_000_000:06d}")


def span_text(days: float) -> str:
    """Return a duration of so many days, in days, hours, minutes and seconds."""
    rest, parts = abs(round(86400e6 * days)), []
    for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000)):
        n, rest = divmod(rest, size)
        parts += [f"{n} {unit}"] * bool(n)
    parts += [f"{rest / 1e6:.10g} s"] * bool(rest or not parts)
    return ("-" if days < 0.0 and parts != ["0 s"] else "") + " ".join(parts)


def _short_clock(clock: str) -> str:
    return clock.removesuffix(".000000").removesuffix(":00") if clock.count(":") > 1 else clock
