"""Sketches of many values: points of their distribution, and the number of distinct values."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Coded, Vector
from pnorm.rankers._base import Index
from pnorm.rankers._readings import derived

EXACT = 2**16
"""Different values of a side of a column, at most, that are all kept."""

POINTS = 2**14
"""Groups of equal shares of the rows, of which a run of more values keeps one each."""

_HASHES = 2**15
"""Hashes, at most, from which different values are counted."""

_SHORT = 32
"""Characters of a text, at most, whose hash is a sum over its letters."""

CLOCK = {"weekday": 7, "hour": 24, "month": 12}
"""What is counted of dates for each level, and how many levels it has."""


class Distinct:
    """A count of different values, from the hashes below a bound, which is halved when there are too many.

    Its standard error is below 1 % of the count, and the same values give the same count in any order.
    """

    def __init__(self) -> None:
        self._bits, self._kept = 0, np.empty(0, np.uint64)

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Count values by their hashes, which are to be different."""
        low = self._low(hashes)
        while low.size > _HASHES:
            low = self._halved(low)
        self._kept = np.sort(np.concatenate([self._low(self._kept), low]))
        self._kept = self._kept[np.diff(self._kept, prepend=~self._kept[:1]) != 0]
        while self._kept.size > _HASHES:
            self._kept = self._halved(self._kept)

    def merge(self, other: Distinct) -> None:
        """Count the values of another one as well."""
        if other._bits > self._bits:
            self._bits = other._bits
            self._kept = self._low(self._kept)
        self.add(other._kept)

    def copy(self) -> Distinct:
        """Return one that changes by itself."""
        new = Distinct()
        new._bits, new._kept = self._bits, self._kept
        return new

    def count(self) -> int:
        """Return about how many values were different, with three digits."""
        n = self._kept.size << self._bits
        return int(float(f"{n:.3g}")) if self._bits else n

    def _halved(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        self._bits += 1
        return self._low(hashes)

    def _low(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return hashes if self._bits == 0 else hashes[hashes >> np.uint64(64 - self._bits) == 0]


def hashes_of_numbers(x: Vector, salt: Any = 0) -> NDArray[np.uint64]:
    """Return a hash of each number, which is another one for another salt."""
    return _mixed((x + 0.0).view(np.uint64) + salt)  # + 0.0, as the two zeros are equal


def hashes_of_levels(levels: Iterable[Any]) -> NDArray[np.uint64]:
    """Return a hash of each different text or number, the same in every process."""
    written = {level if isinstance(level, str) else f"\0{level!r}" for level in levels}
    long = [word for word in written if len(word) > _SHORT]
    found = [hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in long]
    short = [word for word in written if len(word) <= _SHORT] if long else [*written]
    letters = np.array(short, f"U{_SHORT}").view(np.uint64).reshape(len(short), _SHORT // 2)
    sums = np.zeros(len(short), np.uint64)
    for k in range(letters.shape[1]):
        sums += letters[:, k] * np.uint64(pow(0x9E3779B97F4A7C15, 2 * k + 1, 2**64))
    return np.concatenate([_mixed(sums), np.frombuffer(b"".join(found), np.uint64)])


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return bits of which each depends on all, as `splitmix64` mixes them."""
    h = bits + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(h ^ (h >> np.uint64(31)))


def checksum(X: Any, *beside: Any) -> int:
    """Return a number that changes with any value of a table and of columns beside it, and where values change rows.

    It is the same for any order of whole rows. Checksums of parts add, modulo 2**64.
    """
    names = _checks.column_names(X)
    if _checks.is_columns(X):
        columns = list(X.values())
    elif names is not None:
        columns = [_checks.column_of(X, j, names) for j in range(len(names))]
    else:
        columns = _checks.table(X, "X")[0]
    rows = np.zeros(1, np.uint64)
    for j, column in enumerate([*columns, *beside]):
        rows = rows + _hashes(column) * np.uint64(pow(0x9E3779B97F4A7C15, 2 * j + 1, 2**64))
    return int(_mixed(rows).sum(dtype=np.uint64))


_OF_OBJECTS = ("object", "str", "<u")
"""The beginnings of the types of columns whose values are Python objects, text most of the time."""


def _hashes(column: Any) -> NDArray[np.uint64]:
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
        return _hashes(values.values)[values.codes]
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


def _hashes_of_arrow(column: Any) -> NDArray[np.uint64]:
    """Return a number for each text of an array of Arrow."""
    column = column.fill_null("") if column.null_count else column
    _, ends, data = column.buffers()
    ends = np.frombuffer(ends, np.int32 if str(column.type) == "string" else np.int64)
    return _hashes_of_text(np.frombuffer(data or b"", np.uint8), ends[column.offset : column.offset + len(column) + 1])


def _hashes_of_words(words: list[str]) -> NDArray[np.uint64]:
    whole = "".join(words)
    sizes = map(len, words if whole.isascii() else [word.encode("utf-8", "surrogatepass") for word in words])
    ends = np.cumsum(np.fromiter(itertools.chain([0], sizes), np.int64, len(words) + 1))
    return _hashes_of_text(np.frombuffer(whole.encode("utf-8", "surrogatepass"), np.uint8), ends)


_TEXT = 2**16
"""Bytes of text that are hashed at once, but for a longer text."""


@functools.lru_cache(1)
def _powers(n: int) -> NDArray[np.uint64]:
    """Return the powers of an odd number from the zeroth to the n-th, modulo 2**64, and below them their inverses."""
    odd = 0x9E3779B97F4A7C15
    factors = np.full((2, n + 1), [[odd], [pow(odd, -1, 2**64)]], np.uint64)
    factors[:, 0] = 1
    return np.cumprod(factors, axis=1, dtype=np.uint64)


def _hashes_of_text(data: NDArray[np.uint8], ends: NDArray[Any]) -> NDArray[np.uint64]:
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


class Quantiles:
    """The distribution of the numbers of one side of a column, in bounded memory, whatever the number of rows.

    All values and their counts are kept up to `EXACT` different ones. More of them become a run of points: the rows,
    sorted, are cut into `POINTS` groups of equal size, and a value that lies across a cut is a point with its own
    count, while the values within a group become one point, the middle one. The number of rows up to any number is
    then wrong by half a group, n / (2 POINTS) of n rows, at most. Two runs of one level become one of the next level,
    and no other runs are merged, so that each row goes through at most as many levels as there are: 1 + log2(m), with m
    the smaller one of the number of batches and n / EXACT. For 10,000 batches the error is below 14 / (2 POINTS), one
    row in 2,340. A value that fills a group of every run keeps its exact count, and so do the least and the largest
    value.
    """

    def __init__(self, dates: bool = False) -> None:
        self.dates = dates
        self.known = 0
        """Rows with a finite number."""
        self.error = 0.0
        """How many rows, at most, the number of rows up to any number is wrong by."""
        self.whole = True
        """Whether all are whole numbers."""
        self._exact = (np.empty(0), np.empty(0, np.int64))
        self._runs: dict[int, tuple[Vector, Index]] = {}
        self._distinct: Distinct | None = None
        self._clock = {of: np.zeros(levels, np.int64) for of, levels in CLOCK.items()} if dates else {}

    @classmethod
    def of(cls, x: Vector, counts: Index | None = None, dates: bool = False) -> Quantiles:
        """Return the distribution of finite numbers, with the number of rows that have each of them."""
        new = cls(dates)
        new._add(*unique(x, counts))
        return new

    @property
    def exact(self) -> bool:
        """Whether all values are kept."""
        return self._distinct is None

    def merged(self, other: Quantiles) -> Quantiles:
        """Return the distribution of the rows of both."""
        new = Quantiles(self.dates)
        new._runs, new._exact, new.error = dict(self._runs), self._exact, self.error + other.error
        new.known, new.whole = self.known + other.known - int(other._exact[1].sum()), self.whole and other.whole
        for of in new._clock:
            new._clock[of] = self._clock[of] + other._clock[of]
        new._distinct = None if self._distinct is None else self._distinct.copy()
        if other._distinct is not None:
            if new._distinct is None:
                new._distinct = Distinct()
            new._distinct.merge(other._distinct)
        for level, run in sorted(other._runs.items()):
            new._add_run(level, *run)
        new._add(*other._exact)
        return new

    def points(self) -> tuple[Vector, Index]:
        """Return values in ascending order, and the number of rows that each stands for."""
        parts = [self._exact, *self._runs.values()]
        return self._exact if len(parts) == 1 else unique(*map(np.concatenate, zip(*parts, strict=True)))

    def clock(self) -> Mapping[str, Index]:
        """Return how many rows have each weekday, hour and month, of dates."""
        x, counts = self._exact
        return {of: known + _by_level(of, x, counts) for of, known in self._clock.items()}

    def distinct(self) -> Distinct:
        """Return the count of different values."""
        found = Distinct() if self._distinct is None else self._distinct.copy()
        found.add(hashes_of_numbers(self._exact[0]))
        return found

    def _add(self, x: Vector, counts: Index) -> None:
        """Add rows, of different numbers in ascending order."""
        self.known += int(counts.sum())
        self.whole = self.whole and np.array_equal(x, np.floor(x))
        if self._exact[0].size:
            x, counts = unique(np.concatenate([self._exact[0], x]), np.concatenate([self._exact[1], counts]))
        if x.size <= EXACT:
            self._exact = x, counts
            return
        if self._distinct is None:
            self._distinct = Distinct()
        self._distinct.add(hashes_of_numbers(x))
        for of in self._clock:
            self._clock[of] = self._clock[of] + _by_level(of, x, counts)
        self._exact = (np.empty(0), np.empty(0, np.int64))
        self._add_run(1, *self._fewer(x, counts))

    def _add_run(self, level: int, x: Vector, counts: Index) -> None:
        while level in self._runs:
            more = self._runs.pop(level)
            x, counts = self._fewer(*unique(np.concatenate([more[0], x]), np.concatenate([more[1], counts])))
            level += 1
        self._runs[level] = x, counts

    def _fewer(self, x: Vector, counts: Index) -> tuple[Vector, Index]:
        """Return at most 2 `POINTS` + 2 points for values in ascending order."""
        ends = counts.cumsum()
        n = int(ends[-1])
        begin, end = (ends - counts) * POINTS // n, (ends - 1) * POINTS // n  # of one group, unless it lies across
        own = begin < end
        own[[0, -1]] = True
        starts = np.flatnonzero(np.r_[True, own[1:] | own[:-1] | (begin[1:] != begin[:-1])])
        last = np.r_[starts[1:], x.size] - 1
        sums = np.add.reduceat(counts, starts)
        several = last > starts
        if several.any():
            self.error += 0.5 * float(sums[several].max())
        middle = np.searchsorted(ends, ends[last] - sums // 2)
        return x[middle], sums


def unique(x: Vector, counts: Index | None = None) -> tuple[Vector, Index]:
    """Return different numbers in ascending order, and how many rows have each; a row for each number by default."""
    if counts is None:
        x = np.sort(x)
    else:
        order = np.argsort(x, kind="stable")
        x, counts = x[order], counts[order]
    starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]]) if x.size else np.empty(0, np.intp)
    if counts is None:
        return x[starts], np.diff(starts, append=x.size).astype(np.int64)
    sums = np.add.reduceat(counts, starts) if x.size else np.empty(0)
    return x[starts], sums.astype(np.int64)


def _by_level(of: str, x: Vector, counts: Index) -> Index:
    found = np.bincount(derived(of, x).astype(np.intp), counts, CLOCK[of])
    return found.astype(np.int64)
