"""Hashes of numbers, of text and of rows, the same in every process."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Coded, Vector

Hashes = NDArray[np.uint64]


def hashes_of_numbers(x: Vector, salt: Any = 0) -> Hashes:
    """Return a hash of each number, which is another one for another salt."""
    return _mixed((x + 0.0).view(np.uint64) + salt)  # + 0.0, as the two zeros are equal


def _mixed(bits: Hashes) -> Hashes:
    """Return bits of which each depends on all, as `splitmix64` mixes them."""
    h = bits + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(h ^ (h >> np.uint64(31)))


def of_columns(X: Any) -> list[Hashes]:
    """Return a number for each value of each column of a table."""
    names = _checks.column_names(X)
    if _checks.is_columns(X):
        columns = list(X.values())
    elif names is not None:
        columns = [_checks.column_of(X, j, names) for j in range(len(names))]
    else:
        columns = _checks.table(X, "X")[0]
    return list(map(_of_column, columns))


def of_rows(columns: Sequence[Hashes], beside: Sequence[Any] = ()) -> Hashes:
    """Return a number for each row of the columns of a table that `of_columns` hashed, and of others beside it."""
    rows = np.zeros(1, np.uint64)
    for j, hashes in enumerate(itertools.chain(columns, map(_of_column, beside))):
        rows = rows + hashes * np.uint64(pow(0x9E3779B97F4A7C15, 2 * j + 1, 2**64))
    return _mixed(rows)


def checksum(columns: Sequence[Hashes], *beside: Any) -> int:
    """Return a number that changes with any value of hashed columns and of others, and where values change rows.

    It is the same for any order of whole rows. Checksums of parts add, modulo 2**64.
    """
    return int(of_rows(columns, beside).sum(dtype=np.uint64))


def _of_column(column: Any) -> Hashes:
    """Return a hash for the value of each row.

    They are mixed, as those of text are polynomials: without it, the rows "41", "c" and "61", "a" would have one hash.
    """
    return _mixed(_values_of(column))


_OF_OBJECTS = ("object", "str", "<u")
"""The beginnings of the types of columns whose values are Python objects, text most of the time."""


def _values_of(column: Any) -> Hashes:
    """Return a number for the value of each row, the same in every process."""
    if getattr(getattr(column, "dtype", None), "storage", "") == "pyarrow":
        column = column.array.__arrow_array__()
    kind = str(getattr(column, "type", None) or getattr(column, "dtype", "object")).lower()
    if hasattr(column, "type") and kind in ("string", "large_string"):
        parts = [_hashes_of_arrow(chunk) for chunk in getattr(column, "chunks", [column]) if len(chunk)]
        return np.concatenate([np.empty(0, np.uint64), *parts])
    if isinstance(column, Coded) or kind.startswith(_OF_OBJECTS):
        values = _checks.column_values(column)
    else:
        values = _checks.cells_of({"": column}, "X", None, 1, [0])[0].values
    if isinstance(values, Coded):
        return _values_of(values.values)[values.codes]
    if isinstance(values, list):
        types = set(map(type, values))
        if types == {str}:
            return _hashes_of_words(values)
        if not types <= {float, int, bool, type(None)}:
            return _hashes_of_words([of if type(of) is str else f"\0{of!r}" for of in values])
    try:
        return np.ascontiguousarray(values, np.float64).view(np.uint64)
    except OverflowError:
        return _hashes_of_words(list(map(str, values)))


def _hashes_of_arrow(column: Any) -> Hashes:
    """Return a number for each text of an array of Arrow."""
    column = column.fill_null("") if column.null_count else column
    _, ends, data = column.buffers()
    ends = np.frombuffer(ends, np.int32 if str(column.type) == "string" else np.int64)
    return _hashes_of_text(np.frombuffer(data or b"", np.uint8), ends[column.offset : column.offset + len(column) + 1])


def _hashes_of_words(words: list[str]) -> Hashes:
    whole = "".join(words)
    sizes = map(len, words if whole.isascii() else [word.encode("utf-8", "surrogatepass") for word in words])
    ends = np.cumsum(np.fromiter(itertools.chain([0], sizes), np.int64, len(words) + 1))
    return _hashes_of_text(np.frombuffer(whole.encode("utf-8", "surrogatepass"), np.uint8), ends)


_TEXT = 2**16
"""Bytes of text that are hashed at once, but for a longer text."""


@functools.lru_cache(1)
def _powers(n: int) -> Hashes:
    """Return the powers of an odd number from the zeroth to the n-th, modulo 2**64, and below them their inverses."""
    odd = 0x9E3779B97F4A7C15
    factors = np.full((2, n + 1), [[odd], [pow(odd, -1, 2**64)]], np.uint64)
    factors[:, 0] = 1
    return np.cumprod(factors, axis=1, dtype=np.uint64)


def _hashes_of_text(data: NDArray[np.uint8], ends: NDArray[Any]) -> Hashes:
    """Return a polynomial in the bytes of each text, from one of the ends to the next."""
    found, start = np.diff(ends).astype(np.uint64), 0
    while start < found.size:
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + _TEXT, "right")) - 1)
        part, at = data[ends[start] : ends[stop]], ends[start : stop + 1] - ends[start]
        powers, inverses = _powers(max(_TEXT, part.size))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(part * powers[: part.size])])
        found[start:stop] += np.diff(sums[at]) * inverses[at[:-1]]
        start = stop
    return found
