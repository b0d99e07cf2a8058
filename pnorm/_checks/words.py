"""Text that stands for a number or for a missing value, one at a time and a whole column at once."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Vector

NO_VALUE = ("", "?", "na", "n/a", "nan", "null", "none", "-")
"""Words for a missing value."""

_SPELLED = sorted(
    {
        "".join(letters)
        for word in NO_VALUE
        for letters in itertools.product(*[{letter, letter.upper()} for letter in word])
    }
)
"""The same in all spellings."""

_FIRST = 20
"""Number of values that are examined to find that a column does not hold numbers."""

_CODE = re.compile(r"^[\s\x1c-\x1f]*0\d+[\s\x1c-\x1f]*$", re.ASCII | re.MULTILINE)

_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)

_COMMA = r"^[+-]?[0-9]+(,[0-9]*)?$"

_DECIMAL = r"[0-9]{4},|,[0-9]{0,2}$|,[0-9]{4}"
"""A comma that is not a separator of thousands."""

_EITHER = r"^\s*[+-]?[0-9]{1,3}\.[0-9]{3}\s*$"
"""A number whose point may stand between thousands."""


def thousands(mark: str) -> str:
    """Return the pattern of a number below a million that may have this mark between thousands."""
    return rf"[+-]?(?:[1-9][0-9]{{0,2}}\{mark}[0-9]{{3}}|[0-9]{{1,3}})"


_OTHER = re.compile(
    rf"^(?![^\S\n]*(?:{thousands('.')}|{'|'.join(map(re.escape, NO_VALUE))})[^\S\n]*$)", re.MULTILINE | re.IGNORECASE
)
"""The start of a line with anything else that is known."""

_LONGEST = 64
"""Largest number of characters of a number with a decimal comma."""


def numeral(text: str) -> float:
    """Return a number as files write it; Python would read 1_000 and digits of all scripts as well."""
    if "_" in text or not text.isascii():
        raise ValueError
    return float(text)


def reads_as_missing(text: str) -> bool:
    """Return whether a text is one of the words for a missing value."""
    return len(word := text.strip()) <= 4 and word.lower() in NO_VALUE


_ARABIC = {start + digit: 0x30 + digit for start in (0x660, 0x6F0) for digit in range(10)} | {0x66B: ".", 0x66C: ","}
NARROW = {code: code - 0xFEE0 for code in (0xFF05, *range(0xFF0B, 0xFF1B))} | _ARABIC
WIDE = re.compile(rf"[{''.join(map(chr, NARROW))}\s0-9./:,-]+")


def plainer(text: str) -> str:
    """Return text without what spreadsheets put around it, as in ="007", and wide or Arabic digits as others."""
    if text.startswith('="') and text.endswith('"') and len(text) > 2:
        text = text[2:-1]
    return text if text.isascii() or not WIDE.fullmatch(text) else text.translate(NARROW)


def folded(text: str) -> str:
    """Return a text by which two are the same if they differ only in case or spaces."""
    return " ".join(text.split()).casefold()


@dataclass(frozen=True, eq=False)
class Plain:
    """A column of text that is finite numbers, as `numeral` reads them but for a decimal comma, and missing values."""

    numbers: Vector
    """NaN where missing."""
    point: bool
    """Whether one is written with a decimal point."""
    code: bool
    """True if a number has a zero before other digits, as 007, or if different whole numbers are one float."""
    comma: bool = False
    """Whether all are digits, with a decimal comma or without one, and one comma cannot stand between thousands."""
    grouped: bool = False
    """Whether one has a point, and each point may stand between thousands."""

    def take(self, places: NDArray[np.intp]) -> Plain:
        """Return some of the numbers, with the facts on the format of all."""
        return replace(self, numbers=self.numbers[places])


def plain_numbers(column: Any) -> Plain | None:
    """Return the numbers of a column of text: a list, or an array of Arrow; None if it may hold anything else."""
    return _of_list(column) if isinstance(column, list) else _of_arrow(column)


def _may_be_plain(values: list[Any]) -> bool:
    """Return whether some values are numbers or missing, which is checked before all values are read."""
    return all(value is None or value != value or reads_as_missing(value) or _is_number(value) for value in values)


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(numeral(word.strip().replace(",", ".")))
    except ValueError:
        return False


def _of_list(values: list[Any]) -> Plain | None:
    types = set(map(type, values))
    if str not in types or not types <= {str, type(None), float}:
        return None
    if not _may_be_plain([value for value in values[:_FIRST] if type(value) is str]):
        return None
    if len(types) > 1:
        if any(type(value) is float and value == value for value in values):
            return None
        values = [value if type(value) is str else "" for value in values]
    try:
        numbers = np.fromiter(map(float, values), np.float64, len(values))
    except ValueError:
        values = ["nan" if reads_as_missing(value) else value for value in values]
        try:
            numbers = np.fromiter(map(float, values), np.float64, len(values))
        except ValueError:
            return _with_commas(values)
    if not all(reads_as_missing(values[row]) for row in np.flatnonzero(~np.isfinite(numbers)).tolist()):
        return None  # an infinity, or a nan with a sign
    whole = "\n".join(values)
    if "_" in whole or not whole.isascii():
        return None
    point = "." in whole
    code = _CODE.search(whole) is not None or (_may_be_one(numbers) and are_one(set(values)))
    return Plain(numbers, point, code, grouped=point and _OTHER.search(whole) is None)


def _with_commas(words: list[str]) -> Plain | None:
    """Read words with decimal commas, where a missing one is "nan"."""
    known = [word.strip() for word in words if word != "nan"]
    comma, decimal = re.compile(_COMMA), re.compile(_DECIMAL)
    if max(map(len, known)) > _LONGEST or not all(map(comma.fullmatch, known)) or not any(map(decimal.search, known)):
        return None
    numbers = np.array([float(word.replace(",", ".")) for word in words])
    return Plain(numbers, False, _CODE.search("\n".join(known)) is not None, True)


def _of_arrow(column: Any) -> Plain | None:
    """Read an array of Arrow; what it reads in another way than `numeral`, or not at all, is None."""
    import pyarrow
    import pyarrow.compute as of

    if not _may_be_plain(column[:_FIRST].to_pylist()):
        return None
    words, comma = column, False
    numbers = _cast(words)
    if numbers is None:
        words = of.ascii_trim_whitespace(words)
        missing = of.is_in(words, pyarrow.array(_SPELLED, words.type))
        words = of.if_else(missing, pyarrow.scalar(None, words.type), words)
        numbers = _cast(words)
        if numbers is None:
            numbers = _cast(of.replace_substring_regex(words, r"^\+([0-9.])", r"\1"))
        comma = numbers is None
        if comma:
            decimal = of.any(of.match_substring_regex(words, _DECIMAL)).as_py()
            if not decimal or of.max(of.binary_length(words)).as_py() > _LONGEST:
                return None
            if not of.all(of.match_substring_regex(words, _COMMA)).as_py():
                return None
            numbers = _cast(of.replace_substring(of.replace_substring(words, "+", ""), ",", "."))
        if numbers is None:
            return None
    zeros = words.filter(of.starts_with(words, "0"))
    code = of.any(of.match_substring_regex(zeros, "^0[0-9]+$")).as_py()
    code = code or (_may_be_one(numbers) and are_one(words.drop_null().unique().to_pylist()))
    point = bool(of.any(of.match_substring(words, ".")).as_py())
    grouped = point and of.all(of.match_substring_regex(words, rf"^\s*{thousands('.')}\s*$")).as_py()
    return Plain(numbers, point, bool(code), comma, bool(grouped))


def _may_be_one(numbers: Vector) -> bool:
    """Return whether some numbers are so large that different whole ones may be one float."""
    return bool((np.abs(numbers) >= 2.0**53).any())


def are_one(words: Iterable[str]) -> bool:
    """Return whether different whole numbers among words are one float, as 2**53 and 2**53 + 1 are."""
    large = {int(word) for word in words if 15 < len(word) <= _LONGEST and _WHOLE.fullmatch(word)}
    return len(set(map(float, large))) < len(large)


def marked(column: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which of a column of plain numbers have a decimal point, and of which it may stand between thousands."""
    if isinstance(column, list):
        either = re.compile(_EITHER)
        has_point = [type(word) is str and "." in word for word in column]
        may_be_either = [
            point and either.search(word) is not None for point, word in zip(has_point, column, strict=True)
        ]
        return np.array(has_point, bool), np.array(may_be_either, bool)
    import pyarrow.compute as of

    found = [of.match_substring(column, "."), of.match_substring_regex(column, _EITHER)]
    points, unclear = [np.asarray(of.fill_null(mask, False)) for mask in found]
    return points, unclear


def _cast(words: Any) -> Vector | None:
    """Return the numbers of words, NaN for null; None if a word is not a finite number."""
    try:
        found = words.cast("float64")
    except ValueError:
        return None
    numbers = np.array(found, np.float64)
    return numbers if np.count_nonzero(np.isfinite(numbers)) == len(found) - found.null_count else None
