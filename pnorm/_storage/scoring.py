"""Sums of weak rankers on new rows, block by block.

The score of a collection is a sum of terms. A term adds its part to the scores of any block of rows, on any thread. It
reads only the columns whose coefficients are not zero, without a copy if possible; other data are converted block by
block. Non-finite values make scores infinite or nan, and are searched for only then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import Some, Vector
from pnorm._core import _bins, _dense
from pnorm._storage.dense import runs_of
from pnorm._storage.features import padded
from pnorm._threads import Pool, blocks, slices

_ROWS = 2**12
"""Number of rows that are converted, or coded, at a time. Measured at 10**6 x 50 with 1024, 4096 and 16384 rows:
normalized columns take 150, 120 and 140 ms, thresholds of them 400, 280 and 310 ms."""

_LINE = 16
"""Ratio of all columns to used columns from which on it is faster to collect the used columns than to read all."""

_LARGEST = float(np.finfo(np.float64).max)

CUTS = 2**16 - 4
"""Number of cuts of a column that are searched at a time: codes have two bytes."""


class Term(Protocol):
    """A part of a sum."""

    def add(self, rows: slice, out: Vector) -> None:
        """Add this term to the scores of some rows."""

    def check(self) -> None:
        """Refuse values that make a score infinite or nan."""


def total(terms: Sequence[Term], n_rows: int, pool: Pool) -> Vector:
    """Return the sum of all terms, for every row: finite numbers, or an error."""
    f = np.zeros(n_rows)

    def work(rows: slice) -> None:
        with np.errstate(all="ignore"):  # non-finite values show in the scores
            for term in terms:
                term.add(rows, f[rows])

    pool.map(work, blocks(n_rows))
    if not np.isfinite(f).all():
        for term in terms:
            term.check()
        row = int(np.flatnonzero(~np.isfinite(f))[0])
        raise OverflowError(
            f"the score of row {row}, or a part of its sum, is more than a double holds; scale the coefficients "
            "(lam) down, which keeps the order of the scores"
        )
    return f


class _Checked:
    """Terms whose values are known to be finite."""

    def check(self) -> None:
        pass


@dataclass
class Level(_Checked):
    """A constant, added to every score."""

    value: float

    def add(self, rows: slice, out: Vector) -> None:
        out += self.value


@dataclass
class Values(_Checked):
    """Given scores."""

    f: Vector

    def add(self, rows: slice, out: Vector) -> None:
        out += self.f[rows]


def _lies(A: _checks.Array) -> bool:
    """Whether compiled code can read A without a copy."""
    return (
        A.dtype in (np.float32, np.float64)
        and A.dtype.isnative
        and A.flags.aligned
        and not any(stride % A.itemsize for stride in A.strides)
    )


class Products:
    """Columns times a coefficient each; with `moved`, (x - shift) / scale instead of x."""

    def __init__(self, some: Some, c: Vector, moved: tuple[Vector, Vector] | None = None) -> None:
        order = np.argsort(some.at, kind="stable")
        self._some, self._at, self._c = some, some.at[order], c[order]
        self._moved = None if moved is None else (moved[0][order, None], moved[1][order, None])
        A, size = some.A, some.A.itemsize
        self._down = _lies(A) and A.strides[0] == size
        self._across = _lies(A) and A.strides[1] == size and A.strides[0] >= size
        self._runs = runs_of(self._at)
        self._first, self._last = int(self._at[0]), int(self._at[-1]) + 1
        if self._across and _LINE * self._at.size < self._last - self._first:
            self._across = False  # most of the columns are not used
        self._full = np.zeros(self._last - self._first)
        self._full[self._at - self._first] = self._c
        self._is_full = self._at.size == self._full.size

    def add(self, rows: slice, out: Vector) -> None:
        A = self._some.A
        if self._moved is None and self._down:
            _dense.combined(A[rows], self._runs, self._c, 0, out.size, out)
        elif self._moved is None and self._across:
            self._add_across(A[rows, self._first : self._last], out)
        else:
            for part in slices(out.size, _ROWS):
                self._add_copied(slice(rows.start + part.start, rows.start + part.stop), out[part])

    def _add_across(self, B: _checks.Array, out: Vector) -> None:
        """Add rows of adjacent numbers, some of which have the coefficient 0."""
        f = np.zeros(out.size)
        run = np.array([[0, self._full.size]])
        _dense.combined(B, run, self._full, 0, out.size, f)
        if not self._is_full:
            wrong = np.flatnonzero(~np.isfinite(f))
            if wrong.size:  # 0 times infinity: columns that are not used must not matter
                B = np.where(self._full == 0.0, 0.0, B[wrong])
                again = np.zeros(wrong.size)
                _dense.combined(np.ascontiguousarray(B), run, self._full, 0, wrong.size, again)
                f[wrong] = again
        out += f

    def _add_copied(self, rows: slice, out: Vector) -> None:
        A = self._some.A
        T = A.T[self._at, rows] if abs(A.strides[0]) < abs(A.strides[1]) else np.take(A[rows], self._at, axis=1).T
        if self._moved is None:
            T = _checks.floats(T)
        else:
            shift, scale = self._moved
            T = np.subtract(T, shift, dtype=np.float64)
            T /= scale
        _dense.combined(T.T, np.array([[0, self._at.size]]), self._c, 0, out.size, out)

    def check(self) -> None:
        self._some.check()


@dataclass
class Steps:
    """A function that jumps at cuts: values[k] if k of them are below x, and another value if x is nan."""

    column: int
    """The number of its column among the columns that were read."""
    cuts: Vector
    values: Vector
    missing: float
    """The value for missing x; nan if no value may be missing."""

    @classmethod
    def of(cls, column: int, cuts: Vector, heights: Vector, missing: float) -> list[Steps]:
        """The sum of heights of the cuts below x: one function, or several if there are too many cuts for one."""
        with np.errstate(over="ignore"):
            return [
                cls(
                    column,
                    cuts[own],
                    np.concatenate([[0.0], heights[own].cumsum()]),
                    0.0 * missing if own.start else missing,
                )
                for own in slices(max(cuts.size, 1), CUTS)
            ]

    def by_code(self) -> tuple[Vector, Vector]:
        """Cuts and values with separate codes for nan and for infinities, whose values are nan.

        nan and -inf are below the first cut, inf is above the last one.
        """
        cuts = np.concatenate([[-np.inf], self.cuts, [_LARGEST]])
        return cuts, np.concatenate([[self.missing], self.values, [np.nan]])


class Jumps:
    """Functions that jump at cuts, prepared for lookups."""

    def __init__(self, steps: Sequence[Steps]) -> None:
        self.steps = steps
        self.columns = np.array([step.column for step in steps], np.intp)
        """The numbers of their columns among the columns that were read."""
        self.may_miss = not all([math.isnan(step.missing) for step in steps])
        cuts, values = zip(*[step.by_code() for step in steps], strict=True)
        self.values: tuple[Vector, ...] = values
        self.dtype: Any = np.uint8 if max([x.size for x in values]) <= 2**8 else np.uint16
        """Type of codes."""
        numbers = np.arange(len(steps))
        self.search = *padded(cuts), numbers, np.ones_like(numbers)
        """Arguments of `encode`: bounds and cuts, and the place of each code."""


class Lookups:
    """Functions that jump at cuts, of columns of a dense matrix."""

    def __init__(self, some: Some, jumps: Jumps) -> None:
        self._some, self._at, self._jumps = some, some.at[jumps.columns], jumps

    def add(self, rows: slice, out: Vector) -> None:
        A, lies, jumps = self._some.A, _lies(self._some.A), self._jumps
        codes = np.empty((len(jumps.values), min(_ROWS, out.size)), jumps.dtype)
        for start in range(0, out.size, _ROWS):
            part = out[start : start + _ROWS]
            B = A[rows.start + start : rows.start + start + part.size]
            at = self._at
            if not lies:
                B, at = _checks.floats(B[:, at]), np.arange(at.size)
            codes.fill(0)
            _bins.encode(B, 0, part.size, at, *jumps.search, codes)
            for of_rows, values in zip(codes, jumps.values, strict=True):
                _bins.add_looked_up(of_rows, values, 0, part.size, part)
            if jumps.may_miss:  # -inf has the code of nan
                part[np.isneginf(B[:, at]).any(axis=1)] = np.nan

    def check(self) -> None:
        self._some.check()


def sparse_lookups(A: Any, jumps: Jumps) -> Values:
    """Sum functions that jump at cuts, of columns of a CSC matrix; a row that stores nothing has their sum at zero."""
    f, level = np.zeros(A.shape[0]), 0.0
    with np.errstate(all="ignore"):  # non-finite values show in the scores
        for step in jumps.steps:
            at_zero = float(step.values[np.searchsorted(step.cuts, 0.0)])
            stored = slice(A.indptr[step.column], A.indptr[step.column + 1])
            x = A.data[stored]
            values = np.where(np.isnan(x), step.missing, step.values[np.searchsorted(step.cuts, x)])
            f[A.indices[stored]] += values - at_zero
            level += at_zero
        f += level
    return Values(f)


@dataclass
class Codes(_Checked):
    """A value for every code of a row."""

    codes: NDArray[np.uint16]
    values: Vector
    seen: Seen | None = None
    """Unknown levels, if they need a warning."""

    def add(self, rows: slice, out: Vector) -> None:
        _bins.add_looked_up(self.codes[rows], self.values, 0, out.size, out)


@dataclass
class Told(_Checked):
    """Nothing but counts of values that do not read, of a column of numbers."""

    seen: Seen

    def add(self, rows: slice, out: Vector) -> None:
        pass


def unknown_levels(terms: Sequence[Term]) -> list[Seen]:
    """Return the unknown levels, and values that do not read, by column."""
    return [term.seen for term in terms if isinstance(term, (Codes, Told)) and term.seen is not None]
