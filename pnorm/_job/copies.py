"""Held-out rows that are copies of training rows, beyond those that are equal by chance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm.rankers._hashes import hashes_of_numbers

SHARE, FEWEST = 0.01, 5
"""The least share of the held-out rows that is told of, and the least number: fewer hardly change a measure."""

BEYOND = 10.0
"""Times the number by chance, from which on equal rows are called copies. Chance is computed as if the finest column
were independent of the others; dependence makes equal rows more frequent: 7 times in seven columns of bank."""

LIKELY = 0.5
"""The number of equal training rows by chance from which on a row is not counted."""

_SOME = 10_000
"""Training rows in which different values are counted, at most, to find the finest column."""

Pair = tuple[NDArray[Any], NDArray[Any]]
"""The values of a column, in the training rows and in the held-out rows."""


def copies(columns: Iterable[Pair]) -> int:
    """Return how many held-out rows are copies: equal to a training row in all columns; 0 if chance explains them.

    A row is equal by chance to m q training rows, where m rows agree with it in all columns but the finest one, and q
    is the share of the other training rows that have its value there. Rows with a large m q are not counted. Nor are
    rows that are equal to more than the root of the number of training rows: they are a frequent pattern, such as a
    customer without purchases. The finest column is the one with the most different values. Rows are compared by hashes
    of 64 bits. O(N log N). One column alone does not tell copies from rows that are equal by chance.
    """
    whole: list[NDArray[np.uint64]] = []
    finest: list[NDArray[np.uint64]] = []
    most = n_columns = 0
    for k, pair in enumerate(columns):
        n_columns += 1
        own = [_hashes(x, k) for x in pair]
        whole = [a + b for a, b in zip(whole, own, strict=True)] if whole else own
        n = np.unique(own[0][:: max(1, own[0].size // _SOME)]).size
        if n > most:
            most, finest = n, own
    if n_columns < 2:
        return 0
    equal = _count(*whole)
    if np.count_nonzero(equal) < max(FEWEST, SHARE * equal.size):
        return 0
    n = whole[0].size
    near = _count(*[a - b for a, b in zip(whole, finest, strict=True)])
    chance = near * (_count(*finest) - equal) / n
    told = (equal**2 <= n) & (chance < LIKELY)
    found = int(np.count_nonzero(told & (equal > 0)))
    is_many = found >= max(FEWEST, SHARE * equal.size, BEYOND * chance[told].sum())
    return found if is_many else 0


def _count(training: NDArray[np.uint64], held: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return how many training rows have the value of each held-out row."""
    order = np.sort(training)
    return order.searchsorted(held, "right") - order.searchsorted(held)


def _hashes(x: NDArray[Any], k: int) -> NDArray[np.uint64]:
    """Return hashes of the values of column number k, which can be added to those of other columns."""
    values = np.array(x, np.float64)
    values[np.isnan(values)] = np.nan  # of any sign
    return hashes_of_numbers(values) * np.uint64(pow(0x9E3779B97F4A7C15, 2 * k + 1, 2**64))


def told_of(n: int, of: int) -> str:
    """Return a sentence on n copies among the rows of a test."""
    return f"{n:,} or more of the {of:,} test rows are copies of training rows: the test may be too good."
