"""Text that is truth values, dates, times of day and durations, and how these are written."""

from __future__ import annotations

import datetime
import functools
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pnorm._checks import DATE, DURATION, NUMBER, TIME
from pnorm.rankers._forms import _LONGEST, DAY_FIRST, MONTH_FIRST, Form, Most, _most, _told, all_of

_TRUTHS = dict.fromkeys(("true", "t", "yes", "y"), 1.0) | dict.fromkeys(("false", "f", "no", "n"), 0.0)

TRUTHS = _TRUTHS | {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
"""Words for truth values; numbers are such words where the other values are."""

ISO_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"

ISO_DATE = rf"\d{{4}}-\d\d-\d\d(?:[ T]{ISO_CLOCK}(?:Z|[+-]\d\d(?::?\d\d)?)?)?"

PLAIN = {
    kind: re.compile(pattern, re.ASCII)
    for kind, pattern in {
        NUMBER: r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
        DATE: ISO_DATE,
        TIME: ISO_CLOCK,
        DURATION: "(?!)",  # no text is one
    }.items()
}
"""Text that data bases read, by kind."""

_CLOCK, _DATED_CLOCK = [
    rf"(\d{{1,2}}){mark}(\d{{2}})(?:{mark}(\d{{2}})(?:[.,](\d{{1,9}}))?)?(?:\s*([AaPp])\.?[Mm]\.?)?"
    for mark in (":", "[:.]")
]
"""Clocks alone, and behind a date, where some data bases write points: 10.15.00 PM."""

_ZONE = r"(?:\s*(?:Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?))?"

_WHEN = rf"(?:(?:[T ]+|:(?=\d\d:)|-(?=\d\d\.)){_DATED_CLOCK}{_ZONE})?"

_DAY_OF_WEEK = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"

_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _WHEN, re.ASCII)

_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2}),?" + _WHEN, re.ASCII)

_DASHED = re.compile(r"(\d{2})(-)(\d{1,2})-(\d{2}),?" + _WHEN, re.ASCII)

_DIGITS = re.compile(r"(\d{4})()(\d{2})(\d{2})" + _WHEN, re.ASCII)

_COMPACT = re.compile(rf"(\d{{4}})()(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d{{1,9}}))?)?((?!))?{_ZONE}", re.ASCII)

_DAY_NAMED = re.compile(
    rf"{_DAY_OF_WEEK}(\d{{1,2}})([ ./-]*)([a-z]{{3,9}})[ .,/-]*(\d{{4}}|\d{{2}}),?{_WHEN}", re.ASCII | re.IGNORECASE
)

_MONTH_NAMED = re.compile(
    rf"{_DAY_OF_WEEK}([a-z]{{3,9}})([ .]+)(\d{{1,2}}),?[ ]+(\d{{4}}),?{_WHEN}", re.ASCII | re.IGNORECASE
)

_OF_MONTH_YEAR = re.compile(
    r"(?:(\d{1,2})[-/]|([A-Za-z]{3,9})[ .,/'-]*)((?:19|20)\d\d|(?<=[A-Za-z][-'])\d\d)", re.ASCII
)

_OF_YEAR_MONTH = re.compile(r"((?:19|20)\d\d)[-/](\d{1,2})", re.ASCII)
"""Months, as loans have them: Dec-2015, 12/2015, 2015-12."""

_TIME = re.compile(_CLOCK, re.ASCII)

_SPAN = re.compile(r"(?:([+-]?\d{1,9}) days?,?)?(?:(?:^| )([+-]?)(\d{1,6}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?)?", re.ASCII)

UNITS_OF_TIME = {
    name: days
    for names, days in (
        ("y yr yrs year years", 365.25), ("mo mos mth mths month months", 30.44), ("w wk wks week weeks", 7.0),
        ("d day days", 1.0), ("h hr hrs hour hours", 1 / 24), ("min mins minute minutes", 1 / 1440),
        ("s sec secs second seconds", 1 / 86400))
    for name in names.split()
}  # fmt: skip
"""Units of time and their days. An m alone is none, as it may be minutes, months or metres. It is months behind years,
and minutes behind weeks, days or hours and before seconds; in a column with one of these an m alone is one as well."""

_LONG = 30.0
"""Days from which on a duration is written in days with decimals, if five tell it."""

_PART = r"(\d{1,9}(?:\.\d{1,9})?|[1-9]\d{0,2}(?:,\d{3})+)\s*([A-Za-z]+)\.?"

_PARTS = re.compile(rf"([+-]?)\s?({_PART}(?:(?:,\s*|\s+(?:and\s+)?|){_PART}){{0,6}})", re.ASCII)

_OF_PARTS = re.compile(_PART, re.ASCII)

_ISO_SPAN = re.compile(
    r"P(?=.)(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?"
    r"(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?",
    re.ASCII,
)

_MINUTES = re.compile(r"(\d{1,6}):([0-5]\d)", re.ASCII)
"""Minutes and seconds, which are a time of day where all of them may be."""

_BARE_M = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*[mM]", re.ASCII)

_ISO_DAYS = [UNITS_OF_TIME[unit] for unit in ("year", "month", "week", "day", "hour", "minute", "second")]

_NAMED_TIME = re.compile(
    rf"(?<![a-z])(?:{'|'.join(name for name in UNITS_OF_TIME if len(name) > 1)})(?![a-z])", re.IGNORECASE
)

_MEASURED = re.compile(r"[+-]?\d[\d.,]*\s*([A-Za-z°²³/]{2,12})\.?", re.ASCII)

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_MONTH = {
    name[:length]: k + 1
    for k, name in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
         "december"))
    for length in (3, len(name))
} | {"sept": 9}  # fmt: skip

_FIRST_SHORT = 69
"""Two-digit years from this one on are of the 1900s, and those below it of the 2000s, as for %y of Python."""

_AHEAD = 50
"""Years from now, at most, to the last date of a column with two-digit years, as that of a loan or a licence."""

MANY = 1000
"""Dates from which on NumPy reads them faster."""

_EPOCH, _MICRO = datetime.datetime(1970, 1, 1), datetime.timedelta(microseconds=1)


def durations_told(words: Sequence[str], form: Form) -> str:
    """Return how durations are read that may mean another one: 30m and 5:07; "" if there are none."""
    said = []
    for pattern in (_BARE_M, _MINUTES):
        word = next((word for word in words if pattern.fullmatch(word)), "")
        value = duration(word, form.unit) if word else None
        said += [f"{word!r} is read as {span_text(value / 86400e6)}"] if value is not None else []
    return ", ".join(said)


def truth(word: str) -> float | None:
    """Return 1 for a yes and 0 for a no."""
    return _TRUTHS.get(word.lower())


@functools.lru_cache(maxsize=1 << 15)  # every fold reads its dates again
def date(word: str, order: str = "", digits: bool = False, first_year: int = 0) -> float | None:
    """Return the microseconds since 1970 on the clock that a date was written by; its zone does not count."""
    found = _parts_of(word, order, digits)
    if found is None:
        return None
    year, month, day, clock = found
    return _microseconds(_whole_year(year, first_year), _MONTH.get(month.lower(), 0) or month, day, clock)


_Parts = tuple[str, str, str, Sequence[str | None]]


def _parts_of(word: str, order: str, digits: bool = False) -> _Parts | None:
    """Return the year, the month, the day and the clock of a date."""
    if len(word) > _LONGEST:
        return None
    found = _YEAR_FIRST.fullmatch(word) or _COMPACT.fullmatch(word) or (_DIGITS.fullmatch(word) if digits else None)
    if found:
        return found[1], found[3], found[4], found.groups()[4:]
    found = _DAY_NAMED.fullmatch(word)
    if found:
        return found[4], found[3], found[1], found.groups()[4:]
    found = _MONTH_NAMED.fullmatch(word)
    if found:
        return found[4], found[1], found[3], found.groups()[4:]
    found = _OF_MONTH_YEAR.fullmatch(word)
    if found:
        return found[3], found[1] or found[2], "1", (None,)
    found = _OF_YEAR_MONTH.fullmatch(word)
    if found:
        return found[1], found[2], "1", (None,)
    found = _YEAR_LAST.fullmatch(word) if order else None
    if not found:
        return None
    day, month = (found[1], found[3]) if order == DAY_FIRST else (found[3], found[1])
    return found[4], month, day, found.groups()[4:]


def dates(words: Sequence[str], order: str, digits: bool = False, first_year: int = 0) -> list[float] | None:
    """Return `date` of all words; None if one is no date."""
    if len(words) > MANY and all(len(word) in (10, 19) and word[4:5] == word[7:8] == "-" for word in words):
        try:  # NumPy reads many of the commonest form fast
            found: list[float] = np.array(words, "M8[us]").astype(np.int64).astype(np.float64).tolist()
        except ValueError:
            pass
        else:
            return found
    return all_of(lambda word: date(word, order, digits, first_year), words)


def date_form(words: Sequence[str], digits: bool = False) -> tuple[Form | None, str]:
    """Return the form in which all words are dates, or none and what is in doubt."""
    form, doubt = _date_form(words, digits)
    return (None if form is None else replace(form, first_year=_first_year(words))), doubt


def _date_form(words: Sequence[str], digits: bool) -> tuple[Form | None, str]:
    if date(words[0], DAY_FIRST, digits) is None and date(words[0], MONTH_FIRST, digits) is None:
        return None, ""
    if dates(words, "", digits) is not None:
        return Form(), ""
    fits = {order: dates(words, order, digits) for order in (DAY_FIRST, MONTH_FIRST)}
    day, month = fits[DAY_FIRST], fits[MONTH_FIRST]
    if (day is not None or month is not None) and has_dashes(words) and may_begin_with_year(words):
        return None, three_dates(next(word for word in words if has_dashes((word,))))
    if day is not None and month is not None and day != month:
        if has_dots(words):
            return Form(order=DAY_FIRST), ""
        return None, two_dates(next(word for word, a, b in zip(words, day, month, strict=True) if a != b))
    if day is not None:
        return Form(order=DAY_FIRST), ""
    return (Form(order=MONTH_FIRST), "") if month is not None else (None, "")


def most_dates(words: Sequence[str], n_rows: Mapping[str, int]) -> Most:
    """Return the form in which most words are dates."""
    fits = list(filter(_is_date, words))
    form, doubt = date_form(fits)
    if form is None and not doubt:
        of_orders = [{word for word in fits if date(word, order) is not None} for order in (DAY_FIRST, MONTH_FIRST)]
        fits, odd = _told(fits, of_orders, n_rows)
        form, doubt = (None, two_dates(odd)) if odd else date_form(fits)
    return _most(DATE, form, doubt, words, fits, n_rows)


def _is_date(word: str) -> bool:
    return date(word, DAY_FIRST) is not None or date(word, MONTH_FIRST) is not None


def _is_time(word: str) -> bool:
    return time(word) is not None


def meaning_of_m(words: Iterable[str]) -> str:
    """Return the unit of an m alone, by other durations of the column; "" if they leave it open, or there is none."""
    bare, units = False, set[float]()
    for word in words:
        if _BARE_M.fullmatch(word[: _LONGEST + 1]):
            bare = True
        elif _PARTS.fullmatch(word[: _LONGEST + 1]):
            units |= {UNITS_OF_TIME.get(part[2].lower(), math.nan) for part in _OF_PARTS.finditer(word)}
    if not bare:
        return ""
    if UNITS_OF_TIME["year"] in units:
        return "mo"
    return "min" if {UNITS_OF_TIME["hour"], UNITS_OF_TIME["second"]} & units else ""


def has_dots(words: Iterable[str]) -> bool:
    """Return whether a date that ends with the year has dots, as where the day comes first."""
    return any(match is not None and match[2] == "." for match in map(_YEAR_LAST.fullmatch, words))


def has_dashes(words: Iterable[str]) -> bool:
    """Return whether a date is three numbers of two digits with dashes, of which the first may be the year."""
    return any(map(_DASHED.fullmatch, words))


def may_begin_with_year(words: Iterable[str]) -> bool:
    """Return whether all such dates may begin with the year."""
    found = (match for match in map(_DASHED.fullmatch, words) if match is not None)
    return all(
        _microseconds(_whole_year(match[1]), match[3], match[4], match.groups()[4:]) is not None for match in found
    )


def short_years(words: Iterable[str]) -> set[int]:
    """Return the years of two digits that dates have."""
    years = [found[0] for word in words if (found := _parts_of(word, DAY_FIRST))]
    return {int(year) for year in years if len(year) == 2}


def _this_year() -> int:
    return datetime.date.today().year


def _first_year(words: Sequence[str]) -> int:
    """Return the first of the hundred years that two digits stand for; 0 if no date would be in the future.

    They begin behind the longest gap between the years. They are the last hundred of which the first year is not after
    the next one, and the last date not more than fifty years ahead: 31 to 99 and 00 to 06 are 1931 to 2006.
    """
    years, now = sorted(short_years(words)), _this_year()
    if not any(now % 100 < year < _FIRST_SHORT for year in years):
        return 0
    gaps = [(after - year) % 100 or 100 for year, after in zip(years, [*years[1:], years[0]], strict=True)]
    longest = gaps.index(max(gaps))
    first, span = years[(longest + 1) % len(years)], 100 - gaps[longest]
    return 2000 + first if 2000 + first <= now + 1 and 2000 + first + span <= now + _AHEAD else 1900 + first


def three_dates(word: str) -> str:
    """Return that a date may begin with any of its parts."""
    return (
        f"{word!r} may begin with the day, the month or the year: 'day first' or 'month first' says which; write a "
        "year that comes first with four digits"
    )


def two_dates(word: str) -> str:
    """Return that a date may be read in two ways."""
    return f"{word!r} may begin with the day or the month: 'day first' or 'month first' says which"


def _microseconds(year: int, month: str | int, day: str, clock: Sequence[str | None]) -> float | None:
    try:
        at = datetime.datetime(year, int(month), int(day))
    except ValueError:
        return None
    start = float((at - _EPOCH) / _MICRO)
    since = _since_midnight(*clock) if clock[0] is not None else 0.0
    return None if since is None else start + since


def _whole_year(year: str, first_year: int = 0) -> int:
    """Return a year of four digits, or of two, which stand for the hundred years from the first one on."""
    first = first_year or 1900 + _FIRST_SHORT
    return int(year) if len(year) > 2 else first + (int(year) - first) % 100


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


def duration(word: str, m: str = "") -> float | None:
    """Return the microseconds of a duration as Python and pandas write it, of ISO 8601, or of numbers with units.

    Also of minutes and seconds, as 5:07. An m alone is of the unit `m`, if that is known.
    """
    iso = _ISO_SPAN.fullmatch(word[: _LONGEST + 1])
    if iso:
        n_days = sum([float(n or 0) * size for n, size in zip(iso.groups(), _ISO_DAYS, strict=True)])
        return float(round(86400e6 * n_days))
    found = _SPAN.fullmatch(word[: _LONGEST + 1])
    if not found or not word:
        clock = _MINUTES.fullmatch(word[: _LONGEST + 1])
        if clock is not None:
            return 60e6 * int(clock[1]) + 1e6 * int(clock[2])
        bare = _BARE_M.fullmatch(word[: _LONGEST + 1]) if m else None
        return _sum_of_parts(word) if bare is None else float(round(86400e6 * float(bare[1]) * UNITS_OF_TIME[m]))
    days, sign, hours, minutes, seconds, fraction = found.groups()
    since = 1e6 * (3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)) + _fraction(fraction)
    return 86400e6 * int(days or 0) + (-since if sign == "-" else since)


def _sum_of_parts(word: str) -> float | None:
    """Return the microseconds of numbers with units of time, each smaller than the one before, such as 1 year 3 mo."""
    found = _PARTS.fullmatch(word) if len(word) <= _LONGEST else None
    if found is None:
        return None
    days, before, parts = 0.0, math.inf, [*_OF_PARTS.finditer(found[2])]
    to_seconds = UNITS_OF_TIME.get(parts[-1][2].lower()) == UNITS_OF_TIME["second"]
    for part in parts:
        number, unit = part[1], UNITS_OF_TIME.get(part[2].lower())
        if part[2] == "m" and (before < math.inf or to_seconds):
            unit = UNITS_OF_TIME["month" if 7.0 < before < math.inf else "minute"]
        if unit is None or unit >= before:
            return None
        days, before = days + float(number.replace(",", "")) * unit, unit
    return float(round(86400e6 * (-days if found[1] == "-" else days)))


def names_time(word: str) -> bool:
    """Return whether a word has a unit of time of more than one letter, or several units, which mean nothing else."""
    some = word[: _LONGEST + 1]
    return _NAMED_TIME.search(some) is not None or _ISO_SPAN.fullmatch(some) is not None or _has_parts(word)


def _has_parts(word: str) -> bool:
    return len(word) <= _LONGEST and len(_OF_PARTS.findall(word)) > 1 and _sum_of_parts(word) is not None


def are_durations(words: Sequence[str]) -> bool:
    """Return whether words that read as durations are no times of day, nor numbers with a letter behind."""
    return any(map(names_time, words)) or many_beyond_a_day(words)


def many_beyond_a_day(words: Sequence[str]) -> bool:
    """Return whether several words are hours, minutes and seconds of more than a day, beside 24:00."""
    beyond = (word for word in words if ":" in word and time(word) is None and duration(word) is not None)
    return len(set(itertools.islice((word for word in beyond if not word.startswith("24:00")), 2))) > 1


def unit_after(word: str) -> str:
    """Return the unit after a number, or "time" for a duration; "" for another word."""
    found = _MEASURED.fullmatch(word) if len(word) <= _LONGEST else None
    return "time" if duration(word) is not None else "" if found is None else found[1].lower()


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
    """Return a duration of so many days: in days, hours, minutes and seconds, or a long one in one unit with decimals.

    Tenths of years and whole months are written as such, and so are years and months. Their lengths of 365.25 and 30.44
    days have a multiple of a whole day first at 4 years and at 25 months, and together not below 12 months.
    """
    for unit, decimals in (("year", 1), ("month", 0)):
        n = round(abs(days) / UNITS_OF_TIME[unit], decimals)
        if n and abs(abs(days) - n * UNITS_OF_TIME[unit]) < 1e-9:
            return f"{math.copysign(n, days):.10g} {unit}" + "s" * (n != 1.0)
    years, beyond = divmod(abs(days), UNITS_OF_TIME["year"])
    months = round(beyond / UNITS_OF_TIME["month"])
    if years and 0 < months < 12 and abs(beyond - months * UNITS_OF_TIME["month"]) < 1e-9:
        parts = [f"{years:.10g} year" + "s" * (years != 1.0), f"{months} month" + "s" * (months != 1)]
        return "-" * (days < 0.0) + " ".join(parts)
    rest, parts = abs(round(86400e6 * days)), []
    if not rest:
        return "0 d"
    for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000)):
        n, rest = divmod(rest, size)
        parts += [f"{n} {unit}"] * bool(n)
    parts += [f"{rest / 1e6:.10g} s"] * bool(rest)
    if len(parts) > 2 and abs(days) >= _LONG and abs(days - round(days, 5)) < 1e-11 * abs(days):
        parts = [f"{abs(round(days, 5)):.12g} d"]
    return ("-" if days < 0.0 else "") + " ".join(parts)


def _short_clock(clock: str) -> str:
    return clock.removesuffix(".000000").removesuffix(":00") if clock.count(":") > 1 else clock
