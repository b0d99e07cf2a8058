"""The choice of a storage for weak rankers.

Rankers come in pieces, one side at a time: features with codes, or a matrix of outputs. Columns of a dense matrix that
take few values on both sides become features as well, without loss. All features share one packed table. The other
columns of a matrix are not copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen
from pnorm._checks import Vector
from pnorm._checks.records import record
from pnorm._core import _bins
from pnorm._storage.base import Index, Table
from pnorm._storage.codebook import Codebook, Schema
from pnorm._storage.coded import Coded
from pnorm._storage.combined import Closed, Stacked
from pnorm._storage.dense import Dense
from pnorm._storage.features import BYTE, Codes, Cuts, Feature
from pnorm._storage.sparse import Sparse
from pnorm._storage.sparse_coded import SparseCoded
from pnorm._threads import SERIAL, Pool

_VALUES = 256
"""Largest number of distinct values for which a column becomes a feature: one byte."""

_ROWS_PER_VALUE = 4
"""Least number of rows per value: with fewer rows, sums by value would be no shorter than the rows."""


@record(frozen=True, eq=False)
class OfMatrix:
    """Outputs (N, n), dense or sparse; ranker i is number where[i] of all."""

    A: _checks.Array
    where: Index
    complements: Index | None = None
    """Numbers of the rankers 1 - h, if these are included."""
    unscaled: tuple[_checks.Array, Vector] | None = None
    """Columns and factors, if the outputs are rounded multiples of these columns, plus an offset each."""


@record(frozen=True, eq=False)
class OfFeature:
    """A feature; its ranker i is number where[i] of all."""

    feature: Feature
    where: Index


Piece = OfMatrix | OfFeature


OfSides = tuple[Feature, Sequence[Cuts | Codes], Index]
"""A feature, the source of its codes on each side, and the numbers of its rankers."""


def store(pieces: Sequence[Sequence[Piece]], pool: Pool = SERIAL) -> list[Table]:
    """Return the tables of both sides, given the pieces of either side, which correspond to each other."""
    features: list[OfSides] = []
    rest: list[tuple[list[Table], Index]] = []
    for of_sides in zip(*pieces, strict=True):
        if isinstance(of_sides[0], OfFeature):
            alike = [piece.feature for piece in of_sides if isinstance(piece, OfFeature)]
            levels = max([feature.levels for feature in alike])
            sources = [feature.source for feature in alike]
            features.append((alike[0].with_levels(levels), sources, of_sides[0].where))
            continue
        matrices = [piece for piece in of_sides if isinstance(piece, OfMatrix)]
        of_values, others = _split(matrices)
        features += of_values
        rest += others
    packed: list[OfSides] = []
    sparse: list[OfSides] = []
    for of_sides in features:
        (sparse if _stays_sparse(*of_sides[:2]) else packed).append(of_sides)
    rest += [_coded(some, some is sparse, pool) for some in (sparse, packed) if some]
    if len(rest) == 1:
        return rest[0][0]
    numbers = [own for _, own in rest]
    return [Stacked(parts, numbers) for parts in zip(*[tables for tables, _ in rest], strict=True)]


def _coded(features: Sequence[OfSides], sparse: bool, pool: Pool) -> tuple[list[Table], Index]:
    """Return features in one table for each side, and the numbers of their rankers."""
    known, of_features, where = zip(*features, strict=True)
    own = np.sort(np.concatenate(where))
    ranks = [own.searchsorted(numbers) for numbers in where]
    sides = list(zip(*of_features, strict=True))
    sizes = [_n_rows(of_side[0]) for of_side in sides]
    if sparse:
        book = Codebook(known, ranks)
        return [SparseCoded.encoded(book, of_side, size) for of_side, size in zip(sides, sizes, strict=True)], own
    schema = Schema(known, ranks, sum(sizes))
    return [Coded.encoded(schema, of_side, size, pool) for of_side, size in zip(sides, sizes, strict=True)], own


def _stays_sparse(feature: Feature, sources: Sequence[Cuts | Codes]) -> bool:
    """Whether a feature takes less memory as the rows and codes that its column stores than packed into words.

    Parts of a side are stored one by one and must all have one form, so sparse features always stay sparse there.
    """
    cuts = [source for source in sources if isinstance(source, Cuts) and _checks.is_sparse(source.A)]
    n_rows = [_n_rows(source) for source in cuts]
    if not cuts or max(n_rows) >= 2**31:
        return False
    size = 4 + (1 if feature.levels <= BYTE else 2)
    stored = sum([source.n_stored for source in cuts])
    return len(cuts) == 1 or 8 * size * stored < math.log2(feature.levels) * sum(n_rows)


def store_part(pieces: Sequence[Piece]) -> Table:
    """Return the table of some rows of one side; the meaning of codes does not depend on the rows."""
    return store([[with_room(piece) for piece in pieces]])[0]


def with_room(piece: Piece) -> Piece:
    """A piece with a code for unknown levels, even if these rows have none."""
    if isinstance(piece, OfMatrix) or not isinstance(piece.feature.source, Codes):
        return piece
    feature = piece.feature
    known = int(feature.at[feature.at < feature.levels].max()) + 1
    return replace(piece, feature=feature.with_levels(known + 1))


def _n_rows(source: Cuts | Codes) -> int:
    return len(source.codes) if isinstance(source, Codes) else int(source.A.shape[0])


def unscaled(pieces: Sequence[Piece], n: int) -> tuple[list[Piece], Vector] | None:
    """Return the outputs before a scaling, and n factors; None if nothing is scaled.

    The output of a ranker is its factor times the returned output, plus an offset.
    """
    if not any([isinstance(piece, OfMatrix) and piece.unscaled is not None for piece in pieces]):
        return None
    found: list[Piece] = []
    factors = np.ones(n)
    for piece in pieces:
        if isinstance(piece, OfFeature) or piece.unscaled is None:
            found.append(piece)
            continue
        A, factor = piece.unscaled
        found.append(OfMatrix(A, piece.where))
        factors[piece.where] = factor
        if piece.complements is not None:
            found.append(OfMatrix(A, piece.complements))
            factors[piece.complements] = -factor
    return found, factors


def select_rows(pieces: Sequence[Piece], keep: NDArray[np.bool_]) -> list[Piece]:
    """Some of the rows of all pieces, without their columns before a scaling."""
    known: dict[int, _checks.Array] = {}  # matrices that several pieces share stay shared

    def rows_of(A: _checks.Array) -> _checks.Array:
        if id(A) not in known:
            known[id(A)] = A[keep]
        return known[id(A)]

    def selected(piece: Piece) -> Piece:
        if isinstance(piece, OfMatrix):
            return replace(piece, A=rows_of(piece.A), unscaled=None)
        source = piece.feature.source
        if isinstance(source, Codes):
            source = replace(source, codes=rows_of(source.codes))
        else:
            source = replace(source, A=rows_of(source.A))
        return replace(piece, feature=replace(piece.feature, source=source))

    return [selected(piece) for piece in pieces]


def seen(pieces: Sequence[Piece]) -> list[Seen]:
    """The unknown levels of columns of categories, and the values of others that do not read."""
    sources = [piece.feature.source for piece in pieces if isinstance(piece, OfFeature)]
    return [source.seen for source in sources if source.seen]


def _split(sides: Sequence[OfMatrix]) -> tuple[list[OfSides], list[tuple[list[Table], Index]]]:
    """The columns that take few values as features, and the others as tables.

    If only one side is given, the values on the other are unknown, and no column becomes a feature.
    """
    matrices, where, complements = [piece.A for piece in sides], sides[0].where, sides[0].complements
    for A in matrices[1:]:
        _checks.same_form(matrices[0], A)
    tables: list[Table]
    features: list[OfSides] = []
    if _checks.is_sparse(matrices[0]):
        left = np.arange(where.size)
        tables = [Sparse(A) for A in matrices]
    else:
        values = _few_values(matrices) if len(sides) > 1 else {}
        left = np.array([column for column in range(where.size) if column not in values], np.intp)
        for column, found in values.items():
            sources = [Cuts(A, column, found[:-1]) for A in matrices]
            feature, numbers = Feature.of_values(sources[0], found), where[column : column + 1]
            if complements is not None:
                feature, numbers = feature.and_complements(), np.array([where[column], complements[column]])
            features.append((feature, sources, numbers))
        if not left.size:
            return features, []
        tables = [Dense(A, left) for A in matrices]
    if complements is None:
        return features, [(tables, where[left])]
    return features, [([Closed(table) for table in tables], np.r_[where[left], complements[left]])]


def _few_values(matrices: Sequence[_checks.Array]) -> dict[int, _checks.Array]:
    """The sorted values of the columns that take few values."""
    most = min(_VALUES, sum(map(len, matrices)) // _ROWS_PER_VALUE)
    n = matrices[0].shape[1]
    values, counts = np.empty((n, most)), np.zeros(n, np.intp)
    for A in matrices:
        _bins.distinct(A, values, counts)
    return {column: np.sort(values[column, : counts[column]]) for column in (counts <= most).nonzero()[0].tolist()}
