"""Text that is numbers: with marks between thousands, units, and letters for powers of ten."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pnorm._checks import NUMBER, are_one, numeral, thousands
from pnorm.rankers._forms import _LONGEST, MARKS, TOLERATED, Form, Marks, Most, _most, _told, all_of, two_numbers

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

_LEAST_THOUSANDS = 3
"""Different numbers with a mark and three digits after it, at least, and different ones below 1,000 without it, from
which on the mark stands between thousands."""

_LOOK = 20
"""Words that are looked at before all are."""


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


def is_plain(word: str) -> bool:
    """Return whether a word is a number as files write it."""
    return _plain(word) is not None


def is_code(word: str) -> bool:
    """Return whether a word is a number that begins with a zero, such as 007."""
    return _CODE.fullmatch(word) is not None


def are_codes(words: Sequence[str]) -> bool:
    """Return whether a word is such a number, or whole numbers that differ would be one."""
    return any(map(is_code, words)) or are_one(words)
