"""Case weights and query groups of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Vector, weights
from pnorm._checks.grouping import groups, shared


@dataclass(frozen=True, eq=False)
class Groups:
    """Query groups: the number of each row's group, 0 .. n - 1, all of which have both sides."""

    pos: NDArray[np.intp]
    neg: NDArray[np.intp]
    n: int

    def take(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> Groups:
        """Some of the rows; the groups that are left are numbered anew."""
        left, codes = np.unique(self.pos[pos], return_inverse=True)
        return Groups(codes.astype(np.intp), np.searchsorted(left, self.neg[neg]), left.size)


@dataclass(frozen=True, eq=False)
class CaseWeights:
    """Case weights and query groups of the rows that count."""

    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None
    """The user's rows that count, per side; None where all do."""
    c_pos: Vector | None
    c_neg: Vector | None
    groups: Groups | None
    n_pairs: int

    def select(self, pos: Any, neg: Any) -> tuple[Any, Any]:
        """Return the values of the rows that count, given values of all rows of the user."""
        return (pos, neg) if self.kept is None else (pos[self.kept[0]], neg[self.kept[1]])


def case_weights(
    n_pos: int, n_neg: int, pos_weight: Any, neg_weight: Any, pos_group: Any, neg_group: Any
) -> CaseWeights:
    """Check weights and groups; rows of weight zero, and rows of groups that have only one side, do not count."""
    c_pos = weights(pos_weight, "pos_weight", n_pos)
    c_neg = weights(neg_weight, "neg_weight", n_neg)
    return case_weights_of(n_pos, n_neg, c_pos, c_neg, groups(pos_group, neg_group, n_pos, n_neg))


def case_weights_of(
    n_pos: int,
    n_neg: int,
    c_pos: Vector | None,
    c_neg: Vector | None,
    codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
) -> CaseWeights:
    """Return the rows that count, given checked weights and groups as numbers."""
    keep = [np.ones(n, bool) if c is None else c > 0.0 for n, c in ((n_pos, c_pos), (n_neg, c_neg))]
    found = None
    n_pairs = int(keep[0].sum()) * int(keep[1].sum())
    if codes is not None:
        both = shared(codes[0][keep[0]], codes[1][keep[1]])
        for own, of_side in zip(keep, codes, strict=True):
            own &= np.isin(of_side, both)
        pos, neg = (np.searchsorted(both, of_side[own]) for own, of_side in zip(keep, codes, strict=True))
        found = Groups(pos, neg, both.size)
        n_pairs = int(np.bincount(pos, minlength=both.size) @ np.bincount(neg, minlength=both.size))
    c_pos, c_neg = (None if c is None else c[own] for c, own in zip((c_pos, c_neg), keep, strict=True))
    return CaseWeights(None if keep[0].all() and keep[1].all() else (keep[0], keep[1]), c_pos, c_neg, found, n_pairs)


def spread(values: Any, kept: NDArray[np.bool_] | None, fill: Any = 0.0) -> Any:
    """Return values of the rows that count as values of the user's rows; the others get `fill`."""
    if kept is None:
        return values
    whole = np.full(kept.size, fill, dtype=np.asarray(values).dtype)
    whole[kept] = values
    return whole
