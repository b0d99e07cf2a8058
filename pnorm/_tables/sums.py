"""Rows that sum others, as reports end with them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._checks.text import counted, shown
from pnorm._checks.words import plain_numbers
from pnorm._tables.whole import Source

_SUM = re.compile(
    r"(?:grand[\s-]|sub[\s-]?)?totals?\b.*|.*\btotal|(?:sub|zwischen)?sum(?:me|a)?|gesamt(?:summe)?|insgesamt|totaal"
    r"|averages?|mean|(?:mittel|durchschnitts)wert|durchschnitt",
    re.IGNORECASE,
)
"""Words of a row that sums others."""

_IN_ALL = ("tota", "sum", "gesamt", "average", "mean", "mittel", "durchschnitt")
"""Letters of which each of these words has some: most columns have none, and need no look at each cell."""

_SHARE = 0.1
"""The share of such rows, at most."""

_NEAR = 1e-3
"""The difference from the sum, at most, relative to it: numbers may be rounded."""


def told_of_sums(source: Source, names: Sequence[str], has_label: NDArray[np.bool_] | None = None) -> list[str]:
    """Return a note on rows with such a word and a number that is the sum of all others, or of those since the last.

    Otherwise it is on rows with such a word if none of them has a label, or the last row of all is one, and there is
    one alone or all have an empty cell.
    """
    texts = {name: texts for name in names if (texts := _texts(source, name)) is not None}
    words: dict[int, str] = {}
    for of in texts.values():
        whole = "\n".join(of).lower()
        if not any(letters in whole for letters in _IN_ALL):
            continue
        words |= {row: text.strip() for row, text in enumerate(of) if len(text) < 40 and _SUM.fullmatch(text.strip())}
    rows = np.array(sorted(words), np.intp)
    if not 0 < rows.size <= max(1.0, _SHARE * len(source)):
        return []
    for name in names:
        x = _numbers(texts[name] if name in texts else source.texts(name))
        own, is_sum = np.delete(x, rows), np.zeros(len(source), bool)
        is_sum[rows] = True
        so_far = np.where(is_sum, 0.0, x).cumsum()
        since = so_far[rows] - np.r_[0.0, so_far[rows[:-1]]]
        sums = [np.full(rows.size, own.sum()), so_far[rows], since]
        with np.errstate(invalid="ignore"):
            right = [np.abs(x[rows] - total) <= _NEAR * np.abs(total) for total in sums]
        found = rows[np.any(right, axis=0) & (np.count_nonzero(own) > 1) & (x[rows] != 0.0)]
        if found.size:
            first = int(found[0])
            return [
                f"{counted(found.size, 'row')} may sum other rows, such as {source.place(first)}: "
                f"{shown(repr(words[first]))}, with the sum of {shown(name)}. Leave sums out of the file"
            ]
    is_apart = rows[-1] == len(source) - 1 or (has_label is not None and not has_label[rows].any())
    gaps = np.any([[of[row] == "" for row in rows.tolist()] for of in map(source.texts, names)], axis=0)
    if is_apart and (rows.size == 1 or gaps.all()):
        row, word = int(rows[-1]), words[int(rows[-1])]
        column = next(name for name, of in texts.items() if of[row].strip() == word)
        return [
            f"{counted(rows.size, 'row')} may hold sums of other rows, such as {source.place(row)}: "
            f"{shown(repr(word))} in {shown(column)}. Leave sums out of the file"
        ]
    return []


def _texts(source: Source, name: str) -> list[str] | None:
    """Return the cells of a column of text that is no plain numbers."""
    column = source.column(name)
    if not isinstance(column, list) and str(getattr(column, "type", "")) not in ("string", "large_string"):
        return None
    return None if plain_numbers(column) is not None else source.texts(name)


def _numbers(texts: Sequence[str]) -> Vector:
    """Return the numbers that cells show, whatever stands around the digits and between thousands; 0 where none."""
    found = np.zeros(len(texts))
    for row, text in enumerate(texts):
        digits = re.sub(r"[^\d.,()-]|[.,](?=\d{3}(?!\d))", "", text).replace(",", ".")
        is_negative = "-" in digits or digits.startswith("(")
        digits = digits.strip("()-")
        if re.fullmatch(r"\d{1,15}(\.\d*)?|\.\d+", digits):
            found[row] = -float(digits) if is_negative else float(digits)
    return found
