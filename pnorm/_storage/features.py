"""Features of rows as codes, and the weak rankers that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._categories import Seen
from pnorm._checks import Vector
from pnorm._checks.records import record
from pnorm._storage.base import Index, bounds_of, counts_of

BYTE = 2**8
"""Number of codes of a byte."""


LARGEST_FEATURE = 2**16
"""Largest number of codes of a feature."""


@record(frozen=True, eq=False)
class Cuts:
    """Codes that count the cuts below a value of a column; for NaN the count is zero."""

    A: Any
    """Dense, or CSC with the rows in order."""
    column: int
    cuts: Vector
    seen: Seen | None = None
    """Values of the column that do not read, if they need a warning."""

    @property
    def n_stored(self) -> int:
        """Number of rows that a sparse column stores."""
        return int(self.A.indptr[self.column + 1] - self.A.indptr[self.column])

    def stored(self) -> tuple[Index, Index]:
        """The rows that a sparse column stores, in order, and their codes."""
        own = slice(self.A.indptr[self.column], self.A.indptr[self.column + 1])
        x = self.A.data[own]
        return self.A.indices[own], np.where(np.isnan(x), 0, np.searchsorted(self.cuts, x))

    @property
    def of_zero(self) -> int:
        """The code of zero, which all rows have that a sparse column does not store."""
        return int(np.searchsorted(self.cuts, 0.0))


@record(frozen=True, eq=False)
class Codes:
    """Given codes."""

    codes: NDArray[np.uint16]
    seen: Seen | None = None
    """Unknown levels of the column, if they need a warning."""


@record(frozen=True, eq=False)
class Feature:
    """Codes 0 .. levels - 1 of the rows, and rankers that are functions of the code.

    Ranker j is the sum of the terms first[j] .. first[j + 1]. Term t adds terms[t] at the code at[t] if at[t] < levels,
    and at code c and all codes above if at[t] = levels + c.
    """

    source: Cuts | Codes
    levels: int
    first: Index
    at: Index
    terms: Vector

    @classmethod
    def of_steps(cls, source: Cuts | Codes, levels: int, starts: Index) -> Feature:
        """Ranker j is 1 from code starts[j] on."""
        return cls(source, levels, np.arange(starts.size + 1), levels + starts, np.ones(starts.size))

    @classmethod
    def of_values(cls, source: Cuts | Codes, values: Vector) -> Feature:
        """One ranker, with a value for each code."""
        return cls(source, values.size, np.array([0, values.size]), np.arange(values.size), values)

    def __len__(self) -> int:
        return self.first.size - 1

    def and_indicators(self, codes: Index) -> Feature:
        """The rankers, followed by an indicator of each of some codes."""
        return replace(
            self,
            first=np.r_[self.first, self.first[-1] + 1 + np.arange(codes.size)],
            at=np.r_[self.at, codes],
            terms=np.r_[self.terms, np.ones(codes.size)],
        )

    def and_values(self, values: Vector) -> Feature:
        """The rankers, followed by one with a value for each code."""
        return replace(
            self,
            first=np.r_[self.first, self.first[-1] + values.size],
            at=np.r_[self.at, np.arange(values.size)],
            terms=np.r_[self.terms, values],
        )

    def with_levels(self, levels: int) -> Feature:
        """The feature with additional codes, which no row has."""
        if levels == self.levels:
            return self
        return replace(self, levels=levels, at=np.where(self.at < self.levels, self.at, self.at - self.levels + levels))

    def and_complements(self) -> Feature:
        """The rankers, followed by 1 - h for each of them."""
        at, terms, counts = [self.at], [self.terms], [counts_of(self.first)]
        for j in range(len(self)):
            own = slice(self.first[j], self.first[j + 1])
            if self.first[j + 1] - self.first[j] == self.levels and self.at[own].max() < self.levels:
                at.append(self.at[own])
                terms.append(1.0 - self.terms[own])
            else:
                at.append(np.r_[self.at[own], self.levels])
                terms.append(np.r_[-self.terms[own], 1.0])
            counts.append(np.array([at[-1].size]))
        return replace(
            self, first=bounds_of(np.concatenate(counts)), at=np.concatenate(at), terms=np.concatenate(terms)
        )


def padded(cuts: Sequence[Vector]) -> tuple[Index, Vector]:
    """Pad the sorted cuts of each feature with infinities, to a number that is one less than a power of two.

    Return the bounds of the features, and the numbers.
    """
    bounds = bounds_of(np.array([(2 << max(len(own).bit_length() - 1, 0)) - 1 for own in cuts]))
    out = np.full(bounds[-1], np.inf)
    for own, start in zip(cuts, bounds.tolist(), strict=False):
        out[start : start + len(own)] = own
    return bounds, out
