"""The outputs of weak rankers on the rows of one side, behind one protocol.

A table computes sums over its rows, scores, and the outputs of one ranker. Only tables read the rows. A pass over all
rows is returned as an object that has not run yet, so that both sides share one set of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.records import record
from pnorm._core._descent import Leaf

# Number of rows whose second moments are formed at a time: 1.6 MB at 50 columns. Measured at 10**5 x 50:
# 12.5 ms with 512 rows, 10.9 ms with 4096, 12.9 ms with all.
BLOCK = 4096

_STORED = 2**16
"""Least number of stored numbers of a task over sparse columns."""

TASKS = 64
"""Largest number of such tasks of one side."""

_EPS = float(np.finfo(np.float64).eps)

Index = NDArray[np.intp]
Rows = slice | Index


@record(frozen=True, eq=False)
class Places:
    """The place of the outputs of every ranker in the leaves of a table: sign * (output of that leaf - level)."""

    leaf: Index
    """The number of the leaf."""
    ranker: Index
    """The number of the ranker in the leaf."""
    sign: Vector
    level: Vector


class Table(Protocol):
    """The outputs of n weak rankers on N rows.

    Methods marked "Pass" may also return the result itself, if threads would not help.
    """

    shape: tuple[int, int]
    """N, n."""
    low: Vector
    """Smallest output of every ranker."""
    high: Vector

    @property
    def stored(self) -> int:
        """The number of numbers, or of words of codes, that a pass reads."""

    # Sums over rows. A tally is a vector of sums, in the table's own form, from which those of all rankers follow;
    # totals follow from it, and those of tables with the same rankers add.

    @property
    def tally_size(self) -> int:
        """Length of a tally."""

    def tally(self, weights: Vector) -> Any:
        """Pass: the tally of weights."""

    def totals(self, tally: Vector) -> Vector:
        """Totals of a tally: sums by the codes of every feature, and sums of weights times outputs of the others."""

    def edges(self, totals: Vector) -> Vector:
        """Sums of weights times outputs, (n,), from the totals of weights that sum to zero."""

    def sums(self, weights: Any) -> Any:
        """Pass: weights.T @ H, (n,) for weights (N,), (G, n) for a sparse matrix (N, G) of them."""

    def scatter(self, weights: Vector, centres: _checks.Array, codes: Index | None) -> Any:
        """Pass: the sum of weight (h - centre)(h - centre).T, (n, n), and that of weight (h - centre), (G, n).

        `centres` (G, n) are the weighted means of the groups of the rows, which are `codes`; None stands for one group.
        The second sum would be zero without the rounding of the means.
        """

    # Scores and outputs

    def combine(self, lam: Vector) -> Any:
        """Pass: H @ lam, (N,)."""

    def column(self, j: int, shift: float, out: Vector) -> Any:
        """Pass: write h_j - shift."""

    def blocks(self) -> Iterator[tuple[slice, _checks.Array]]:
        """Blocks of rows in float64, dense and read-only, with their places."""

    def matrix(self) -> Any:
        """All outputs in float64; sparse if the rows are."""

    def rounding(self, lam: Vector, size: Vector) -> float:
        """A bound on the rounding error of all scores: terms of a sum, times the sum of their sizes, times eps.

        `size` is the largest absolute output of every ranker, on both sides.
        """

    # Rankers that take few values

    @property
    def coded(self) -> NDArray[np.bool_]:
        """Whether each ranker is stored as codes of few values, (n,)."""

    @property
    def counts(self) -> Vector:
        """Rows by the codes of every feature, as in totals; zero elsewhere."""

    def cells(self, j: int) -> slice | None:
        """Places in totals of the sums by the code of ranker j; None if it has no codes."""

    def values(self, j: int) -> Vector:
        """Outputs of a coded ranker, by code."""

    def masses(self, j: int, tally: Vector) -> Vector:
        """Sums by the code of ranker j, from a tally."""

    def multiply(self, j: int, factors: Vector, weights: Vector) -> Any:
        """Pass: multiply weights by the factors of the codes of ranker j; return their sum."""

    def retally(self, j: int, factors: Vector, weights: Vector, tally: Vector) -> Any:
        """Pass: the tally of weights after `multiply` with these factors, from the tally before."""

    # Other tables

    def leaves(self) -> list[Leaf] | None:
        """The arrays of outputs that compiled rounds read, in the order of the tally; None if they read none."""

    def places(self) -> Places:
        """The place of the outputs of every ranker in the leaves."""

    def select_rows(self, rows: Rows) -> Table:
        """Some of the rows."""

    def subtract(self, shift: Vector) -> Table:
        """The outputs minus a constant for each ranker; columns whose constant is zero are not copied."""


class Uncoded(ABC):
    """The part of a table without codes that does not depend on its storage."""

    shape: tuple[int, int]
    low: Vector
    high: Vector

    @property
    def stored(self) -> int:
        return self.shape[0] * self.shape[1]

    def totals(self, tally: Vector) -> Vector:
        return tally

    def edges(self, totals: Vector) -> Vector:
        return totals

    @property
    def coded(self) -> NDArray[np.bool_]:
        return np.zeros(self.shape[1], bool)

    @property
    def tally_size(self) -> int:
        return self.shape[1]

    @property
    def counts(self) -> Vector:
        return np.zeros(self.tally_size)

    def cells(self, j: int) -> slice | None:
        return None

    def _refuse(self, j: int, *_: Any) -> Any:
        """Raise an error for methods that need a coded ranker."""
        raise TypeError(f"ranker {j} has no codes")

    values = masses = multiply = _refuse

    def retally(self, j: int, factors: Vector, weights: Vector, tally: Vector) -> Any:
        return self.tally(weights)

    def leaves(self) -> list[Leaf] | None:
        return None

    def places(self) -> Places:
        return in_one_leaf(self.shape[1])

    def tally(self, weights: Vector) -> Any:
        return self.sums(weights)

    @abstractmethod
    def sums(self, weights: Any) -> Any: ...

    def rounding(self, lam: Vector, size: Vector) -> float:
        return rounding(lam, size)


def in_one_leaf(n: int) -> Places:
    """The places of n rankers that are the columns of a single leaf."""
    return Places(np.zeros(n, np.intp), np.arange(n), np.ones(n), np.zeros(n))


def rounding(lam: Vector, size: Vector) -> float:
    """A bound on the rounding error of all scores, of outputs up to a size in every row."""
    return _EPS * lam.size * float(np.abs(lam) @ size)


def bounds_of(counts: Index) -> Index:
    """Return 0 and the partial sums of counts."""
    bounds = np.zeros(counts.size + 1, np.intp)
    counts.cumsum(out=bounds[1:])
    return bounds


def counts_of(bounds: Index) -> Index:
    """Return the counts between bounds."""
    return bounds[1:] - bounds[:-1]


def tasks_of_columns(starts: Index) -> list[tuple[int, int]]:
    """Cut sparse columns, whose stored numbers begin at `starts`, into runs [first, last) with about as many each."""
    stored = np.linspace(0, starts[-1], min(TASKS, 1 + int(starts[-1]) // _STORED) + 1)
    ends = np.unique(np.r_[0, np.searchsorted(starts, stored[1:]), starts.size - 1]).tolist()
    return list(pairwise(ends))


def added(parts: list[Vector]) -> Vector:
    """The sum of vectors, in their order."""
    total = np.zeros_like(parts[0])
    for part in parts:
        total += part
    return total


def by_group(weights: Vector, codes: Index, n: int) -> Any:
    """Weights as a sparse matrix, a column for each group."""
    from scipy.sparse import csr_array

    return csr_array((weights, codes, np.arange(codes.size + 1)), shape=(codes.size, n))


def mass_by_group(weights: Vector, codes: Index | None, n: int) -> Any:
    """Sums of weights by group, (n,)."""
    return np.bincount(np.zeros(len(weights), np.intp) if codes is None else codes, weights, n)


def sums_of_blocks(blocks: Iterator[tuple[slice, _checks.Array]], weights: Any, n: int) -> Any:
    """weights.T @ H for a sparse matrix of weights, from blocks of rows."""
    total = np.zeros((weights.shape[1], n))
    for rows, block in blocks:
        total += weights[rows].T @ block
    return total


def scatter_of_blocks(
    blocks: Iterable[tuple[slice, _checks.Array]], weights: Vector, centres: _checks.Array, codes: Index | None
) -> tuple[Any, Any]:
    """Second moments and first moments about given centres, from blocks of rows."""
    n = centres.shape[1]
    root, total, left = np.sqrt(weights), np.zeros((n, n)), np.zeros_like(centres)
    buffer = np.empty((BLOCK, n))
    for rows, block in blocks:
        centred = buffer[: len(block)]
        if codes is None:
            np.subtract(block, centres[0], out=centred)
            left[0] += weights[rows] @ centred
        else:
            np.subtract(block, centres[codes[rows]], out=centred)
            np.add.at(left, codes[rows], weights[rows, None] * centred)
        centred *= root[rows, None]
        total += _square(centred)
    return total, left


def scatter_of_moments(
    sums: _checks.Array, square: _checks.Array, mass: Vector, centres: _checks.Array
) -> tuple[Any, Any] | None:
    """Second moments about given centres from those about zero; None if an offset makes them lose their digits.

    `sums` (G, n) are weighted sums of the outputs, `square` (n, n) those of their products.
    """
    left = sums - mass[:, None] * centres
    shift = (centres.T * mass) @ centres
    cross = centres.T @ left
    scatter = square - shift - cross - cross.T
    return None if bool((shift.diagonal() > 1e4 * scatter.diagonal()).any()) else (scatter, left)


def _square(Z: _checks.Array) -> _checks.Array:
    """Z.T @ Z; if Z has few columns, as a sum of products that are too small for threads.

    Threads of BLAS wait for one another. On a busy machine this costs more than the threads gain.
    Measured at 50,000 x 50 on two cores: idle 5 ms with threads and 6 ms without, with two other
    processes 9 to 60 ms with and 6 to 14 ms without. OpenBLAS starts threads above 2**18 multiplications.
    """
    rows, n = Z.shape
    few = 2**18 // (n * n)
    if few < 64:
        return np.asarray(Z.T @ Z)
    even = rows // few * few
    stacked = Z[:even].reshape(-1, few, n)
    return np.asarray(np.matmul(stacked.transpose(0, 2, 1), stacked).sum(axis=0) + Z[even:].T @ Z[even:])
