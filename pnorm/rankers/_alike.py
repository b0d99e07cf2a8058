"""Equal rows, which are held out together as the rows of an id are, and rows that are near copies of others.

Held-out rows that are equal to training rows do not show what new rows are like. With copies of the positive rows, a
choice by such rows halved the average precision, from .22 to .11. In tables of few different rows, equal rows are no
copies, and their labels differ as those of any rows do. They are dealt one by one: of a column of levels, none could be
learned if all its rows were held out.
"""

from __future__ import annotations

import contextlib
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Cells, Coded, Vector
from pnorm._threads import SERIAL, slices
from pnorm.rankers._base import Index
from pnorm.rankers._coded import CodedSide
from pnorm.rankers._hashes import hashes_of_numbers
from pnorm.rankers._table import Table

SHARE = 0.01
"""The share of the rows of a class that are equal to others, from which on equal rows are kept together: fewer hardly
change a measure."""

REPEATED, FEW = 4, 40
"""Rows for each different row from which on equal rows may be no copies, and the number of different rows up to which
they are none. With fewer for each, it cost no average precision on parts of adult to keep equal rows together."""

UNLIKE = 0.1
"""The share of other labels among equal rows, relative to that among all rows, from which on they are no copies. It is
0.5 to 1.1 in tables of few columns, and below 0.1 among copies, and among equal rows of spambase and hotel."""

LARGEST = 0.2
"""The share of all rows above which equal rows are dealt one by one, as they are more than a fold."""

NEAREST, FEWEST = 2048, 8
"""Rows of either side, at most, among which near copies are looked for, and nearest rows of the other side, at least,
that tell of them."""

FEWER, NEARER = 0.5, 0.4
"""A side has near copies if at most this share of the nearest rows of the other side are on the other side of it, and
its rows are nearer to one another than those of the other side, by this factor or more."""

_AT_ONCE, _ROUNDING = 2**16, 1e-9
"""Numbers that are hashed at once, and the rounding error of squared distances."""


def units_of(parts: Sequence[Any], positive: NDArray[np.bool_], H: Any = None) -> Index | None:
    """Return a number for each row of some tables, the same for equal rows; None if no rows are to stay together.

    Numbers rise from 0 in the order of the rows. NaN equals NaN, and the two zeros are equal. Columns that the weak
    rankers H of a table do not read make no difference. O(N d + N log N).
    """
    return together([hashes(X, H) for X in parts], positive, isinstance(parts[0], CodedSide))


def together(hashes: Sequence[NDArray[np.uint64]], positive: NDArray[np.bool_], coded: bool) -> Index | None:
    """Return the units of rows, given the hashes of all parts; None if no rows are to stay together.

    Rows may be equal as codes only, if they are `coded`. Then their labels alone say whether they are copies.
    """
    first, of = _checks.numbered(np.concatenate(hashes))
    n, n_pos = np.bincount(of), np.bincount(of, positive)
    shares = [own[n > 1].sum() / own.sum() for own in (n_pos, n - n_pos)]
    if max(shares) < SHARE or _are_cases(n, n_pos, 1 if coded else REPEATED):
        return None
    alone = (n > LARGEST * of.size)[of]
    of = _checks.numbered(np.where(alone, first.size + np.arange(of.size), of))[1]
    return of if min([own.size for own in by_class(of, positive)]) > 1 else None


def _are_cases(n: NDArray[Any], n_pos: NDArray[Any], repeated: int) -> bool:
    """Return whether equal rows are no copies, given the numbers of all and of the positive ones of each."""
    if n.sum() < repeated * n.size:
        return False
    few = n.size <= FEW
    share, n, n_pos = n_pos.sum() / n.sum(), n[n > 1], n_pos[n > 1]
    unlike = 2.0 * n_pos * (n - n_pos) / (n - 1)
    return few or bool(unlike.sum() >= UNLIKE * 2.0 * share * (1.0 - share) * n.sum())


def by_class(units: Index, positive: NDArray[np.bool_]) -> tuple[Index, Index]:
    """Return the units with a positive row, and the others."""
    has = np.bincount(units, positive) > 0
    return np.flatnonzero(has), np.flatnonzero(~has)


def joined(units: Index | None, more: Index | None) -> Index | None:
    """Return the smallest units that contain those of two kinds, such as equal rows, and rows of one id."""
    if units is None or more is None:
        return more if units is None else units
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    of_more = units.max() + 1 + more
    links = coo_array((np.ones(units.size, bool), (units, of_more)), shape=(of_more.max() + 1,) * 2)
    return _checks.numbered(connected_components(links, directed=False)[1][units])[1]


def deal(positive: NDArray[np.bool_], n: int, rng: np.random.Generator, units: Index | None) -> Index:
    """Deal folds 0, 1, ..., n - 1 in turn to units of rows in random order: those with a positive row, and the others.

    There are n folds, or as many as leave each with both classes. Without units, or if these are too few, rows are
    dealt one by one.
    """
    alone = np.arange(positive.size)
    for of in (alone,) if units is None else (units, alone):
        drawn = [rng.permutation(own) for own in by_class(of, positive)]
        number = np.empty(sum([own.size for own in drawn]), np.intp)
        for fewer in range(n, 1, -1):
            for own in drawn:
                number[own] = np.arange(own.size) % fewer
            if all([np.bincount(number[of[side]], minlength=fewer).all() for side in (positive, ~positive)]):
                return number[of]
    raise ValueError("each class needs two rows that can be dealt into folds")


def once(units: Index | None, sizes: Sequence[int]) -> list[NDArray[np.bool_]]:
    """Return which rows of each side are the first ones of their units on that side."""
    of_sides = np.split(np.arange(sum(sizes)) if units is None else units, np.cumsum(sizes)[:-1])
    return [np.isin(np.arange(own.size), np.unique(own, return_index=True)[1]) for own in of_sides]


def near_copies(parts: Sequence[Any], H: Any = None) -> int | None:
    """Return the side with near copies of rows, which are synthetic or differ by noise or in a column; None if neither.

    If rows are drawn one by one, about as many of one side have their nearest row on the other side as the reverse: by
    any distance, whatever the sizes and the distributions. Near copies have each other, and only the other number
    stays. In many dimensions the rows of a narrow side are also next to those of a wide one. So the distances within
    each side are compared as well, in units of its spread. The distance is that of the ranks in each column.

    Of 284 simulated sets of independent rows, 1 was said to have near copies. Of 19 public sets hmeq was, where many
    rows of good loans agree to 1 % in all columns.
    """
    rng = np.random.default_rng(0)
    some = [np.sort(rng.permutation(_checks.n_rows(X, "X"))[:NEAREST]) for X in parts]
    ranks = _ranks([_checks.rows(X, own) for X, own in zip(parts, some, strict=True)], H)
    if ranks is None or min([own.size for own in some]) < FEWEST:
        return None
    side, places = np.repeat([0, 1], [own.size for own in some]), np.arange(len(ranks))
    square = (ranks * ranks).sum(axis=1)
    unlike, near = np.empty(side.size), np.empty(side.size)
    for own in slices(side.size, _AT_ONCE // 256):
        apart = square[own, None] + square - 2.0 * ranks[own] @ ranks.T
        apart[places[own] - own.start, places[own]] = np.inf
        same, nearest = side[own, None] == side, apart <= apart.min(axis=1, keepdims=True) + _ROUNDING
        unlike[own] = (nearest & ~same).sum(axis=1) / nearest.sum(axis=1)
        near[own] = np.where(same, apart, np.inf).min(axis=1)
    crossing = [float(unlike[side == k].sum()) for k in (0, 1)]
    closer = [float(np.median(near[side == k])) / float(ranks[side == k].var(axis=0).sum() or 1.0) for k in (0, 1)]
    found = [
        k
        for k in (0, 1)
        if FEWEST <= crossing[1 - k] >= crossing[k] / FEWER and closer[k] <= NEARER**2 * max(closer[1 - k], 0.0)
    ]
    return found[0] if found else None


def _ranks(parts: Sequence[Any], H: Any) -> NDArray[np.float64] | None:
    """Return the ranks of all rows in each column, from 0 to 1, where text is in random order; None without columns."""
    if any([isinstance(X, CodedSide) for X in parts]):
        return None
    try:
        tables = [dict(_columns(X.toarray() if _checks.is_sparse(X) else X, H)) for X in parts]
        columns = [np.concatenate([_numbers(table[name]) for table in tables]) for name in tables[0]]
    except (ValueError, TypeError, KeyError):
        return None
    found = np.empty((columns[0].size, len(columns)))
    for k, x in enumerate(columns):
        _, at, n = np.unique(x, return_inverse=True, return_counts=True)
        found[:, k] = ((n.cumsum() - 0.5 * n) / x.size)[at]
    return found


# Hashes of rows ---------------------------------------------------------------------------------------


def hashes(X: Any, H: Any = None) -> NDArray[np.uint64]:
    """Return a number for each row, the same for equal rows of one process, and nearly always another one for others.

    Columns that the weak rankers H of a table do not read are left out. Coded rows are equal if all weak rankers have
    the same output, and rows that are no table if Python says so.
    """
    if isinstance(X, CodedSide):
        return of_scores(SERIAL.run(X.table.combine(any_scores(X.shape[1])))[0])
    if _checks.is_sparse(X):
        return _of_sparse(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "buif" and not isinstance(H, Table):
        return _of_array(X.reshape(len(X), -1))
    n = _checks.n_rows(X, "X")
    try:
        found = np.zeros(n, np.uint64)
        for name, cells in _columns(X, H):
            found += _of_floats(_numbers(cells), hash(name))
        return found
    except (ValueError, TypeError):  # no table: rows of any form, for weak rankers that are functions
        rows = _checks.listed(X)
        return np.array([_of_thing(row) for row in rows] if len(rows) == n else np.arange(n), np.uint64)


def any_scores(n: int) -> Vector:
    """Return coefficients by which only rows with equal outputs of n weak rankers have equal scores."""
    return np.random.default_rng(0).random(n)


def of_scores(f: Vector) -> NDArray[np.uint64]:
    """Return hashes of rows from such scores, of which products in blocks may round the last bits."""
    digits, exponent = np.frexp(f)
    return hashes_of_numbers(np.ldexp(np.round(digits * 2.0**36), exponent))


def _of_floats(x: Any, column: Any) -> NDArray[np.uint64]:
    """Return hashes of numbers, of which those of a row can be added; `column` has the number of the column of each."""
    values = np.array(x, np.float64, order="C")
    values[np.isnan(values)] = np.nan  # of any sign
    return hashes_of_numbers(values, hashes_of_numbers(np.asarray(column, np.float64).reshape(-1)))


def _of_array(A: Any) -> NDArray[np.uint64]:
    found, columns = np.empty(len(A), np.uint64), np.arange(A.shape[1])
    for own in slices(len(A), max(1, _AT_ONCE // max(1, columns.size))):
        found[own] = _of_floats(A[own], columns).sum(axis=1, dtype=np.uint64)
    return found


def _of_sparse(X: Any) -> NDArray[np.uint64]:
    A = _checks.summing(X).tocsr(copy=True)
    A.sum_duplicates()
    own = _of_floats(A.data, A.indices)
    own[A.data == 0] = 0  # stored or not
    ends = np.concatenate([np.zeros(1, np.uint64), own.cumsum(dtype=np.uint64)])[A.indptr]
    return np.asarray(ends[1:] - ends[:-1])


def _columns(X: Any, H: Any) -> Iterator[tuple[Any, Cells]]:
    """Yield the name or the number of each column, and its cells; those of a frame one by one."""
    X = _checks.from_records(X, "X")
    names, width = _checks.headings(X, "X")
    some, expected = [*range(width)], None
    if isinstance(H, Table):
        some, expected = sorted({source.column for source in H._sources}), H._found
        names = expected if names is None else names if expected is None else expected
    for own in [some] if names is None else [[c] for c in some]:
        for c, cells in zip(own, _checks.cells_of(X, "X", expected, width, own), strict=True):
            yield c if names is None else names[c], cells


def _numbers(cells: Cells) -> Vector:
    """Return the numbers of a column, or numbers that stand for its levels."""
    values = cells.values if cells.plain is None else cells.plain.numbers
    if isinstance(values, Coded):
        return np.array([_of_level(value) for value in values.values])[values.codes]
    return values if isinstance(values, np.ndarray) else np.zeros(len(cells))  # which no weak ranker reads


def _of_level(level: Any) -> float:
    """Return the number of a level; text that is none, or means a missing value, has one that is hardly any other's."""
    if _checks.is_missing(level) or (isinstance(level, str) and _checks.reads_as_missing(level)):
        return math.nan
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return _checks.numeral(level) if isinstance(level, str) else float(level)
    return math.pi * zlib.crc32(str(level).encode("utf-8", "replace"))


def _of_thing(row: Any) -> int:
    try:
        return hash(_checks.key(row)) % 2**64
    except TypeError:  # lists and arrays have no hash
        return hash(row.tobytes() if isinstance(row, np.ndarray) else id(row)) % 2**64
