"""How text in a table is read, as numbers, truth values, dates, durations and times of day, and how these are written.

One form has to fit the values of a column. Where two forms fit and mean different values, none is chosen. A few values
may fit no form: they count as missing. Where many numbers have a decimal point and many a decimal comma, each is read
by its own mark.
"""

from __future__ import annotations

import datetime
import functools
import heapq
import itertools
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pnorm._checks import DATE, DURATION, NUMBER, TIME, are_one, numeral, thousands

UNITS = (
    *("%", "$", "€", "£", "¥", "₹", "kr", "zł", "EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD", "NZD", "SEK", "NOK"),
    *("DKK", "PLN", "CZK", "HUF", "INR", "CNY", "BRL", "MXN", "ZAR", "US$", "CA$", "C$", "A$", "AU$", "NZ$", "HK$"),
    *("S$", "NT$", "R$", "MX$", "₩", "₽", "₺", "₪", "₱", "₦", "฿", "₫", "₴"),
    *("Kč", "Ft", "lei", "Rs.", "Rs", "Rp", "RM"),
    *("AED", "ARS", "BDT", "BGN", "CLP", "COP", "EGP", "GHS", "HKD", "IDR", "ILS", "ISK", "KES", "KRW", "KWD", "LKR"),
    *("MAD", "MYR", "NGN", "PEN", "PHP", "PKR", "QAR", "RON", "RSD", "RUB", "SAR", "SGD", "THB", "TND", "TRY", "TWD"),
    *("UAH", "VND", "SFr.", "SFr", "Fr.", "kr.", "Kr", "Euro", "円", "元"),
)
# "Rs." before "Rs"; the first letters alone, as the many units are tried at each character of a word.
_FIRST_OF_UNITS = "".join(sorted({unit[0] for unit in UNITS}))
_UNIT = f"(?=[{_FIRST_OF_UNITS}])(?:{'|'.join(map(re.escape, sorted(UNITS, key=len, reverse=True)))})"
ALIKE = {
    "CHF": ("SFr.", "SFr", "Fr."),
    "$": ("USD", "US$", "CAD", "AUD", "NZD", "MXN"),
    "€": ("EUR", "Euro"),
    "£": ("GBP",),
    "¥": ("JPY", "CNY", "円", "元"),
    "₹": ("INR", "Rs", "Rs."),
    "Rs": ("INR", "Rs."),
    "R$": ("BRL",),
    "kr": ("SEK", "NOK", "DKK", "ISK", "kr.", "Kr"),
    "zł": ("PLN",),
    "Kč": ("CZK",),
    "Ft": ("HUF",),
    "lei": ("RON",),
    "RM": ("MYR",),
    "Rp": ("IDR",),
    "₩": ("KRW",),
    "₽": ("RUB",),
    "₺": ("TRY",),
    "₪": ("ILS",),
    "₱": ("PHP",),
    "₦": ("NGN",),
    "฿": ("THB",),
    "₫": ("VND",),
    "₴": ("UAH",),
}
"""Currencies by the signs that may stand for them."""

SCALES = {
    **{
        "k": 3,
        "lakh": 5,
        "lakhs": 5,
        "lac": 5,
        "lacs": 5,
        "m": 6,
        "mn": 6,
        "mio": 6,
        "million": 6,
        "cr": 7,
        "crore": 7,
    },
    **{"crores": 7, "b": 9, "bn": 9, "mrd": 9, "billion": 9},
}
"""Powers of ten that letters after a number stand for, in any case, but for CR, which is credit."""

_SCALED = re.compile(rf"(.*[\d.,])\s?({'|'.join(SCALES)})", re.IGNORECASE | re.DOTALL)
ACCOUNT = re.compile(rf"((?:{_UNIT})?)\s*\(\s*([^()]*?)\s*\)")
"""A negative number as accounts have it, such as (5.00) and $(5.00)."""
DRESSED = re.compile(rf"([+-]?)(?:({_UNIT})\s*)?([+-]?)(.*?)(?:\s*(-))?(?:\s*({_UNIT}))?", re.DOTALL)
"""A number with a unit on either side and a sign before the unit, before the number, or a minus behind it."""

NO_CENTS = re.compile(r"(?<=\d)(?:[.,](?:--?|\u2013|\u2014)|/-)(?=\D*$)")
"""Signs for no cents, as in 12.- and 12,--."""

PLAINER = {"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-"}
"""Blanks, an apostrophe and a minus, with their ASCII replacements."""

_PLAINER = str.maketrans(PLAINER)

MARKS = {".": ", '", ",": ". '"}
"""Marks between thousands, by the mark before the fraction."""

BETWEEN = MARKS | {"": " '"}
"""Marks between thousands, by the mark before the fraction; "" is for columns whose values show none."""

_LAKHS = r"|[1-9]\d?(?:,\d\d)+,\d{3}"
"""A number as in India, where two digits stand between all commas but the last."""

# Thousands have no zero in front, so that "0,343" has one reading.
NUMBER_OF = {
    point: re.compile(rf"[+-]?(?:(?:[1-9]\d{{0,2}}([{marks}])\d{{3}}(?:\1\d{{3}})*{_LAKHS * (point == '.')})"
                      rf"(?:{mark}\d*)?|\d+(?:{mark}\d*)?(?:[eE][+-]?\d+)?|{mark}\d+)", re.ASCII)
    for point, marks in BETWEEN.items()
    for mark in [re.escape(point or ".")]
}  # fmt: skip

_CODE = re.compile(r"0\d+", re.ASCII)

_TRUTHS = dict.fromkeys(("true", "t", "yes", "y"), 1.0) | dict.fromkeys(("false", "f", "no", "n"), 0.0)
TRUTHS = _TRUTHS | {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
"""Words for truth values; numbers are such words where the other values are."""

DAY_FIRST, MONTH_FIRST = "day first", "month first"

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

_LEAST_THOUSANDS = 3
"""Different numbers with a mark and three digits after it, at least, and different ones below 1,000 without it, from
which on the mark stands between thousands."""

_LONGEST = 64
"""Characters of a number or a date, at most."""

_LOOK = 20
"""Words that are looked at before all are."""

SOME = 2000
"""Words, at most, of which it is looked whether most are numbers, or dates; of more, those with the smallest checksums,
so that their order does not decide."""

TOLERATED = 0.05
"""Share of the known values, at most, that may not read as the others do, and count as missing. One value in twenty is
more than slips of those who fill in a table are, and too little for a kind of its own."""

_FIRST_SHORT = 69
"""Two-digit years from this one on are of the 1900s, and those below it of the 2000s, as for %y of Python."""

_AHEAD = 50
"""Years from now, at most, to the last date of a column with two-digit years, as that of a loan or a licence."""

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
    scaled: bool = False
    """Whether letters after numbers stand for powers of ten, as in 1.2k."""
    mixed: bool = False
    """Whether numbers have either mark before the fraction, and each is read by its own; `point` is that of a number
    that may have either, "" if such a number does not read."""
    first_year: int = 0
    """The first of the hundred years that two digits stand for; 0 for 1969."""
    written: str = ""
    """A value whose text data bases do not read, as it has marks or a unit, or is no date as in ISO 8601; or ""."""

    @functools.cached_property
    def of_marks(self) -> tuple[Form, Form]:
        """The forms of the two marks, of which either is one of a mixed form."""
        one, other = [replace(self, point=point, mixed=False) for point in MARKS]
        return one, other


@dataclass(frozen=True)
class Marks:
    """Counts of the rows whose number has a decimal point, a decimal comma, or a mark that may be either."""

    point: int = 0
    comma: int = 0
    unclear: int = 0
    words: tuple[str, str, str] = ("", "", "")
    """The first word of each."""

    @property
    def mixed(self) -> bool:
        """Whether neither mark is that of nearly all numbers that tell."""
        return min(self.point, self.comma) > TOLERATED * (self.point + self.comma)

    def told(self) -> str:
        """Return that some numbers may have either mark, and how many have which."""
        point, comma, unclear = self.words
        like = "1 value" if self.unclear == 1 else f"{self.unclear:,} values like it"
        return (
            f"{two_numbers(unclear)} for {like}; {self.point:,} with a decimal point, such as {point!r}, and "
            f"{self.comma:,} with a decimal comma, such as {comma!r}, are clear"
        )


def all_of(read: Callable[[str], float | None], words: Iterable[str]) -> list[float] | None:
    """Return the values of all words; None if a word has none."""
    found = []
    for word in words:
        value = read(word)
        if value is None:
            return None
        found.append(value)
    return found


@dataclass(frozen=True)
class Most:
    """A reading of most words of a column; the other words count as missing."""

    kind: str
    form: Form | None
    """None if there is none, or more than one."""
    doubt: str
    """What is in doubt, if there are two."""
    odd: tuple[str, ...]
    """The words that do not read."""
    lost: float
    """How many rows have these."""
    marks: Marks = field(default_factory=Marks)
    """The marks of numbers, where both are in use."""
    asked: Form | None = None
    """The form that reads numbers where both marks are in use, and too many may have either."""


class Text:
    """The different words of a column, and the forms that fit all of them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def number(self) -> tuple[Form | None, str]:
        """Return the form in which all are numbers, or none and what is in doubt."""
        return number_form(self.words) if self.words else (None, "")

    def most(self, n_rows: Mapping[str, int], spare: float) -> Most:
        """Return the reading of nearly all words as numbers, dates, times or durations.

        `n_rows` is how many rows have each word, and `spare` how many rows may have a word that does not read.
        """
        found = [self.most_of(kind, n_rows) for kind in (NUMBER, DATE, TIME, DURATION)]
        fit = [of for of in found if (of.form is not None or of.doubt) and of.lost <= spare]
        return (fit or sorted(found, key=lambda of: of.lost if of.form is not None or of.doubt else math.inf))[0]

    def most_of(self, kind: str, n_rows: Mapping[str, int]) -> Most:
        """Return the reading of most words as a kind."""
        words = self.words
        m = meaning_of_m(words) if kind == DURATION else ""
        as_kind: dict[str, Callable[[str], bool]] = {NUMBER: may_be_number, DATE: _is_date, TIME: _is_time}
        reads = as_kind.get(kind, lambda word: duration(word, m) is not None)
        if not words or 2 * sum(map(reads, self._some)) < len(self._some):
            return Most(kind, None, "", (), math.inf)
        if kind in (NUMBER, DATE):
            return (most_numbers if kind == NUMBER else most_dates)(words, n_rows)
        fits = list(filter(reads, words))
        form = Form(unit=m) if kind == TIME or m or are_durations(fits) else None
        return _most(kind, form, "", words, fits, n_rows)

    @functools.cached_property
    def _some(self) -> Sequence[str]:
        """Some of the words, whatever their order."""
        return self.words if len(self.words) <= SOME else heapq.nsmallest(SOME, self.words, key=_checksum)

    def unit(self) -> str:
        """Return the unit that some have, if there is only one."""
        return unit_of(self.words)

    def scaled(self) -> bool:
        """Return whether letters after numbers stand for powers of ten."""
        return scaled(self.words)

    def date(self, digits: bool = False) -> tuple[Form | None, str]:
        """Return the form in which all are dates, eight digits included or not, or none and what is in doubt."""
        return date_form(self.words, digits) if self.words else (None, "")

    def is_time(self) -> bool:
        """Return whether all are times of day."""
        return all_of(time, self.words) is not None

    def duration(self) -> Form | None:
        """Return the form in which all are durations, if one names a unit of time."""
        form = Form(unit=meaning_of_m(self.words))
        fits = all_of(lambda word: duration(word, form.unit), self.words) is not None
        return form if fits and (form.unit or are_durations(self.words)) else None


# Numbers --------------------------------------------------------------------------------------------


def number(word: str, form: Form) -> float | None:
    """Return the number that a word spells."""
    plain = _plain(word) if form.mixed or form.point != "," else None
    if plain is not None and form.unit != "%" and not form.mixed:
        return plain
    bare, unit = _bare(word)
    if (unit and not _is_unit(unit, form.unit)) or (form.unit == "%" and not unit):
        return None
    bare, power = _unscaled(bare) if form.scaled else (bare, 0)
    if form.mixed:
        value = clear(_marked(bare, ".") if plain is None else plain, _marked(bare, ","), form.point)
    else:
        value = _marked(bare, form.point)
    return value if value is None or not power else _plain(f"{value!r}e{power}")


def clear(of_point: float | None, of_comma: float | None, point: str) -> float | None:
    """Return the one of two readings of a number that there is; of two that differ, the one with a mark, or None."""
    if of_point is None or of_comma is None or of_point == of_comma:
        return of_comma if of_point is None else of_point
    return {".": of_point, ",": of_comma}.get(point)


def number_form(words: Sequence[str]) -> tuple[Form | None, str]:
    """Return the form in which all words are numbers, or none and what is in doubt."""
    if are_codes(words):
        return None, ""
    if all_of(_plain, words) is not None:
        if has_thousands(words, "."):
            return Form(","), ""
        return Form("." if any("." in word for word in words) else ""), ""
    if not all(map(may_be_number, words[:_LOOK])):
        return None, ""  # a look at some words spares one at all
    dressed = [_bare(word) for word in words]
    units = {unit for _, unit in dressed}
    unit = _common(units)
    if unit is None:
        return None, ("" if "%" in units or not all(map(may_be_number, words)) else two_units(units))
    bare, of_letters = [word for word, _ in dressed], False
    if not all(any(_marked(word, point) is not None for point in MARKS) for word in bare):
        of_letters = scaled(words)
        if not of_letters:
            return None, ""
        bare = [_unscaled(word)[0] for word in bare]
    of_point, of_comma = [all_of(lambda word, point=point: _marked(word, point), bare) for point in MARKS]  # type: ignore[misc]
    if of_point is None or of_comma is None:
        point = "." if of_point is not None else ","
        return (None, "") if of_point is of_comma else (Form(point, unit, scaled=of_letters), "")
    if of_point == of_comma:
        return Form("", unit, scaled=of_letters), ""
    # The marks that differ have three digits after them: thousands, where there is a currency.
    if unit not in ("", "%"):
        return Form("." if sum(map(abs, of_point)) > sum(map(abs, of_comma)) else ",", unit, scaled=of_letters), ""
    if all_of(_plain, bare) is not None:
        return Form(".", unit, scaled=of_letters), ""
    if not unit and not of_letters and has_thousands(bare, ","):
        return Form("."), ""
    return None, two_numbers(next(word for word, a, b in zip(words, of_point, of_comma, strict=True) if a != b))


def has_thousands(words: Sequence[str], mark: str) -> bool:
    """Return whether a mark with three digits after it stands between thousands, as in 23.420, 914, 2.053 and 87.

    It does if several numbers are below 1,000 and have no mark. Were it the one before a fraction of three digits, one
    number in a thousand would be whole.
    """
    n_marked = sum([mark in word for word in words])
    return min(n_marked, len(words) - n_marked) >= _LEAST_THOUSANDS and may_have_thousands(words, mark)


def may_have_thousands(words: Iterable[str], mark: str) -> bool:
    """Return whether all numbers have a mark with three digits after it, or are below 1,000 and have none."""
    return all(map(re.compile(thousands(mark)).fullmatch, words))


def thousands_told(words: Sequence[str]) -> str:
    """Return how the first number with a point is read that may stand between thousands; "" if one may not."""
    if not may_have_thousands(words, "."):
        return ""
    word = next((word for word in words if "." in word), "")
    values = [_marked(word, point) for point in MARKS]
    return f"{word!r} is read as {values[0]:.12g}, {MAY_MEAN} {values[1]:.12g}" if None not in values else ""


MAY_MEAN = "and may mean"
"""Words of a note on a number that is read in one of two ways."""


def scaled(words: Iterable[str]) -> bool:
    """Return whether letters after numbers stand for powers of ten; an m alone may be metres, minutes or months."""
    found = {(letters, unit) for bare, unit in map(_bare, words) for letters in [_letters(bare)] if letters}
    return any(letters != "m" or unit not in ("", "%") for letters, unit in found)


def may_be_number(word: str) -> bool:
    """Return whether a word is a number in some form."""
    bare = _unscaled(_bare(word)[0])[0]
    return any(_marked(bare, point) is not None for point in MARKS)


def readings_told(words: Iterable[str], form: Form) -> str:
    """Return how the first number with letters is read, and the first one in brackets; "" where there are none.

    Where numbers have either mark, this begins with the first one of each.
    """
    said: dict[str, None] = {}
    unusual: list[Callable[[str], Any]] = [
        lambda word: form.scaled and _letters(_bare(word)[0]),
        lambda word: word.rstrip().endswith((")", "-")),
    ]
    if form.point and not form.unit:
        (mark,) = [mark for mark in MARKS if mark != form.point]
        unusual.append(lambda word: mark in word and _marked(word, mark) is not None)
    if form.mixed:
        one, other = form.of_marks
        unusual = [lambda word: number(word, other) is None, lambda word: number(word, one) is None, *unusual]
    for found in unusual:
        for word in words:
            value = number(word, form) if found(word) else None
            if value is not None:
                said[f"{word!r} is read as {value:,.12g}"] = None
                break
    return ", ".join(said)


def durations_told(words: Sequence[str], form: Form) -> str:
    """Return how durations are read that may mean another one: 30m and 5:07; "" if there are none."""
    said = []
    for pattern in (_BARE_M, _MINUTES):
        word = next((word for word in words if pattern.fullmatch(word)), "")
        value = duration(word, form.unit) if word else None
        said += [f"{word!r} is read as {span_text(value / 86400e6)}"] if value is not None else []
    return ", ".join(said)


def two_numbers(word: str) -> str:
    """Return that the mark in a number may be read in two ways."""
    return f"{word!r} may mean two numbers: 'decimal point' or 'decimal comma' says which"


def _checksum(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def most_numbers(words: Sequence[str], n_rows: Mapping[str, int]) -> Most:
    """Return the form in which most words are numbers."""
    kept = [word for word in words if may_be_number(word)]
    of_units = Counter[str]()
    for word in kept:
        of_units[_bare(word)[1]] += n_rows[word]
    unit = max((unit for unit in of_units if unit), key=lambda unit: (of_units[unit], unit), default="")
    if unit == "%" and of_units["%"] < of_units[""]:
        unit = ""
    takes = {unit} if unit == "%" else {"", *[of for of in of_units if _is_unit(of, unit)][:2]}
    fits = [word for word in kept if _bare(word)[1] in takes]
    form, doubt = number_form(fits)
    most = _most(NUMBER, form, doubt, words, fits, n_rows)
    if form is None and not doubt and not are_codes(fits):
        most = _most_by_mark(words, fits, n_rows, Form(unit=unit, scaled=scaled(fits), mixed=True))
    foreign = sum([count for of, count in of_units.items() if of not in takes and of not in ("", "%")])
    if unit and foreign > TOLERATED * sum([n_rows[word] for word in words]):
        return replace(most, form=None, doubt=two_units({of for of in of_units if of != "%"}))
    return most


def _most_by_mark(words: Sequence[str], fits: list[str], n_rows: Mapping[str, int], form: Form) -> Most:
    """Return the reading of numbers of which some have a decimal point and some a decimal comma."""
    of_point, of_comma = [{word: number(word, of_mark) for word in fits} for of_mark in form.of_marks]
    one, other = [{word for word, value in of.items() if value is not None} for of in (of_point, of_comma)]
    unclear = {word for word in one & other if of_point[word] != of_comma[word]}
    kinds = (one - other, other - one, unclear)
    counts = [sum([n_rows[word] for word in kind]) for kind in kinds]
    examples = [next((word for word in fits if word in kind), "") for kind in kinds]
    marks = Marks(counts[0], counts[1], counts[2], (examples[0], examples[1], examples[2]))
    if marks.mixed:
        fits = [word for word in fits if word not in unclear]
        return by_mark(_most(NUMBER, form, "", words, fits, n_rows), marks, sum([n_rows[word] for word in words]))
    fits, _ = _told(fits, (one, other), n_rows)
    found, doubt = number_form(fits) if fits else (None, "")
    return _most(NUMBER, found, doubt, words, fits, n_rows)


def by_mark(most: Most, marks: Marks, n: int) -> Most:
    """Return the reading of n numbers by the mark of each; what is in doubt, if more than slips may have either."""
    most = replace(most, odd=tuple([word for word in most.odd if not may_be_number(word)]), marks=marks)
    if marks.unclear <= TOLERATED * n:
        return most
    return replace(most, form=None, doubt=marks.told(), lost=most.lost - marks.unclear, asked=most.form)


def _told(words: list[str], of_two: Sequence[set[str]], n_rows: Mapping[str, int]) -> tuple[list[str], str]:
    """Return the words that one of two forms reads, the one that nearly all words that tell are in; or one in doubt."""
    one, other = of_two
    n_one, n_other = [sum([n_rows[word] for word in own]) for own in (one - other, other - one)]
    if min(n_one, n_other) > TOLERATED * (n_one + n_other):
        return words, next(word for word in words if word in one ^ other)
    own = one if n_one >= n_other else other
    return [word for word in words if word in own], ""


def _most(
    kind: str, form: Form | None, doubt: str, words: Sequence[str], fits: Sequence[str], n_rows: Mapping[str, int]
) -> Most:
    known = set(fits)
    odd = tuple([word for word in words if word not in known])
    return Most(kind, form, doubt, odd, sum([n_rows[word] for word in odd]))


def two_units(units: Iterable[str]) -> str:
    """Return that amounts are in several currencies."""
    return f"amounts are in {', '.join(sorted(set(units) - {''}))}; convert them to one currency"


def unit_of(words: Iterable[str]) -> str:
    """Return the unit that some words have, if there is only one."""
    return _common({_bare(word)[1] for word in words} - {""}) or ""


def _common(units: set[str]) -> str | None:
    """Return the unit of a column with these, "" where a word has none; None if they do not go together."""
    found = units - {""}
    if "%" in found:
        return "%" if units == {"%"} else None
    for unit in sorted(found):
        if len(found) < 3 and all(_is_unit(other, unit) for other in found):
            return unit
    return None if found else ""


def _is_unit(unit: str, of: str) -> bool:
    """Return whether a number with a unit belongs to a column that has the unit `of`."""
    return unit == of or unit in alike(of)


def with_unit(number: str, unit: str) -> str:
    """Return a number with its unit: the sign of a currency before it, % or a code of letters after it."""
    if not unit or unit == "%" or unit.isalpha():
        return f"{number} {unit}".strip()
    return f"-{unit}{number[1:]}" if number.startswith("-") else f"{unit}{number}"


def alike(unit: str) -> tuple[str, ...]:
    """Return other ways to write a currency."""
    return ALIKE.get(unit) or tuple([sign for sign, names in ALIKE.items() if unit in names])


def _bare(word: str) -> tuple[str, str]:
    """Return a word without its unit, and this; a number in brackets has a minus."""
    if len(word) > _LONGEST:
        return word, ""
    plainer = NO_CENTS.sub("", word.strip().translate(_PLAINER))
    account = ACCOUNT.fullmatch(plainer)
    if account is not None:
        plainer = f"-{account[1]}{account[2]}"
    found = DRESSED.fullmatch(plainer)
    if found is None:
        return word, ""
    sign, before, inner, rest, behind, after = found.groups(default="")
    if len(sign + inner + behind) > 1 or (before and after):
        return word, ""
    return f"{sign}{inner}{behind}{rest}", before or after


def _scaled(bare: str) -> re.Match[str] | None:
    found = _SCALED.fullmatch(bare) if len(bare) <= _LONGEST else None
    return None if found is None or found[2] == "CR" else found


def _letters(bare: str) -> str:
    """Return the letters for a power of ten after a number, in capitals but for an m; "" where there are none."""
    found = _scaled(bare)
    return "" if found is None else found[2] if found[2] == "m" else found[2].upper()


def _unscaled(bare: str) -> tuple[str, int]:
    """Return a number without letters for a power of ten after it, and this; 0 where there are none."""
    found = _scaled(bare)
    return (bare, 0) if found is None else (found[1], SCALES[found[2].lower()])


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
    elif point == "." and "," in word:
        word = word.replace(",", "")
    return _plain(word.replace(point, ".") if point else word)


# Truth values, dates, times -------------------------------------------------------------------------


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


def is_plain(word: str) -> bool:
    """Return whether a word is a number as files write it."""
    return _plain(word) is not None


def is_code(word: str) -> bool:
    """Return whether a word is a number that begins with a zero, such as 007."""
    return _CODE.fullmatch(word) is not None


def are_codes(words: Sequence[str]) -> bool:
    """Return whether a word is such a number, or whole numbers that differ would be one."""
    return any(map(is_code, words)) or are_one(words)


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
