"""Which weak rankers are stored how.

Rankers come in pieces: features with codes, or a matrix of outputs. Columns of a dense matrix
that take few values become features too, without loss; all features share one packed storage, the other
columns of a matrix stay where they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._core import _bins
from pnorm._storage.base import Closed, Dense, Outputs, Sparse, Stacked
from pnorm._storage.coded import Binned, Codes, Cuts, Feature
from pnorm._threads import SERIAL, Pool

_VALUES = 256
"""Distinct values up to which a column becomes a feature: those of a byte."""

_ROWS_PER_VALUE = 4
"""Rows for each value, at least: sums by value of fewer rows would be no shorter than the rows."""

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Matrices:
    """Outputs (I, n) and (K, n), both dense or both sparse; ranker i is number where[i] of all."""

    pos: _checks.Array
    neg: _checks.Array
    where: Index
    complements: Index | None = None
    """Numbers of 1 - h, if these are wanted."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A feature; its ranker i is number where[i] of all."""

    feature: Feature
    where: Index


Piece = Matrices | Coded


def store(pieces: Sequence[Piece], pool: Pool = SERIAL, recode: bool = True) -> Outputs:
    """Return the storage of all rankers.

    Columns of matrices that take few values become features. Without `recode` none do, and codes mean the same
    whatever the rows: so it has to be for rows in partitions.
    """
    coded = [piece for piece in pieces if isinstance(piece, Coded)]
    if not recode:
        coded = [
            replace(piece, feature=piece.feature.with_room()) if isinstance(piece.feature.source, Codes) else piece
            for piece in coded
        ]
    parts: list[tuple[Outputs, Index]] = []
    for piece in pieces:
        if isinstance(piece, Matrices):
            features, rest = _split(piece, pool, recode)
            coded += features
            if rest is not None:
                parts.append(rest)
    if coded:
        where = [piece.where for piece in coded]
        own = np.sort(np.concatenate(where))
        ranks = [np.searchsorted(own, numbers) for numbers in where]
        parts.append((Binned([piece.feature for piece in coded], ranks, pool), own))
    if len(parts) == 1:
        return parts[0][0]
    return Stacked([part for part, _ in parts], [own for _, own in parts])


def taken(pieces: Sequence[Piece], pos: NDArray[np.bool_], neg: NDArray[np.bool_]) -> list[Piece]:
    """Some of the rows of all pieces."""
    known: dict[tuple[int, str], _checks.Array] = {}  # matrices that several pieces share stay shared

    def rows_of(sides: Matrices | Cuts | Codes) -> dict[str, _checks.Array]:
        for side, keep in (("pos", pos), ("neg", neg)):
            A = getattr(sides, side)
            if (id(A), side) not in known:
                known[id(A), side] = A[keep]
        return {side: known[id(getattr(sides, side)), side] for side in ("pos", "neg")}

    def of(piece: Piece) -> Piece:
        if isinstance(piece, Matrices):
            return replace(piece, **rows_of(piece))
        source = piece.feature.source
        return replace(piece, feature=replace(piece.feature, source=replace(source, **rows_of(source))))  # type: ignore[arg-type]

    return [of(piece) for piece in pieces]


def seen(pieces: Sequence[Piece]) -> list[tuple[Seen, ...]]:
    """Of columns of categories, for either side, what values were no levels."""
    sources = [piece.feature.source for piece in pieces if isinstance(piece, Coded)]
    return [source.seen for source in sources if isinstance(source, Codes) and source.seen]


def _split(piece: Matrices, pool: Pool, recode: bool) -> tuple[list[Coded], tuple[Outputs, Index] | None]:
    """The columns that take few values as features, and the others."""
    pos, neg, complements = piece.pos, piece.neg, piece.complements
    _checks.same_form(pos, neg)
    rest: Outputs
    coded: list[Coded] = []
    if _checks.is_sparse(pos):
        left = np.arange(pos.shape[1])
        rest = Sparse(pos, neg, pool)
    else:
        values = _few_values(pos, neg) if recode else {}
        left = np.setdiff1d(np.arange(pos.shape[1]), np.fromiter(values, np.intp, len(values)))
        for column, found in values.items():
            feature = Feature.of_values(Cuts(pos, neg, column, found[:-1]), found)
            where = piece.where[[column]]
            if complements is not None:
                feature, where = feature.and_complements(), np.r_[where, complements[column]]
            coded.append(Coded(feature, where))
        if not left.size:
            return coded, None
        rest = Dense(pos, neg, pool, left)
    if complements is None:
        return coded, (rest, piece.where[left])
    return coded, (Closed(rest), np.r_[piece.where[left], complements[left]])


def _few_values(pos: _checks.Array, neg: _checks.Array) -> dict[int, _checks.Array]:
    """The sorted values of the columns that take few."""
    most = min(_VALUES, (len(pos) + len(neg)) // _ROWS_PER_VALUE)
    room = np.empty(max(most, 1))
    few = {}
    for column in range(pos.shape[1]):
        found: list[float] = []
        for A in (pos, neg):
            count = _bins.distinct(A, column, room)
            if count > most:
                break
            found.extend(room[:count].tolist())
        else:
            values = np.unique(np.array(found))
            if values.size <= most:
                few[column] = values
    return few
