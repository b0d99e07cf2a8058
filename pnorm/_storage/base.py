"""The weak rankers' outputs on the training rows, behind one small interface.

A storage answers these questions, and no one else reads the rows:

- `edges(u, w)`: u-mean of every ranker on the positives minus its w-mean on the negatives;
- `column(j, shift, pos_out, neg_out)`: one ranker's outputs, centred;
- `combine(lam)`: scores of a linear combination, on both sides or on one;
- `levels(j)`: the few values that one ranker takes, if the storage knows that they are few, and
  then `masses` and `multiply`, which sum and change weights by value;
- `sums(side, weights)` and `scatter(side, weights, centres)`: first and second moments of one side;
- `blocks(side)`: the rows of one side as they come, for what is asked rarely;
- `matrix()`: all of them with a sign, for the linear program;
- `rounding(lam)`: how much of a score may be rounding;
- `take(pos, neg)`: the same storage with some of the rows;
- the extremes of every ranker on either side.

Dense and sparse matrices are here, and what makes one storage of several; `_binned` has the third kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _dense
from pnorm._threads import SERIAL, Pool, blocks

# Rows whose second moments are formed at a time: 1.6 MB at 50 columns. Measured at 10**5 x 50:
# 12.5 ms with 512 rows, 10.9 ms with 4096, 12.9 ms with all.
_BLOCK = 4096

_EPS = float(np.finfo(np.float64).eps)

Side = Literal["pos", "neg"]
SIDES: tuple[Side, Side] = ("pos", "neg")
Rows = slice | NDArray[np.intp]


class Outputs(Protocol):
    """What a solver may ask of the training rows."""

    shape: tuple[int, int, int]
    """I, K, n."""
    pos_low: Vector
    pos_high: Vector
    neg_low: Vector
    neg_high: Vector
    pool: Pool

    def edges(self, u: Vector, w: Vector) -> Vector:
        """H.T @ u on the positives minus H.T @ w on the negatives: one pass over both."""

    def combine(self, lam: Vector, sides: Sequence[Side] = SIDES) -> list[Vector]:
        """H @ lam on the positives and on the negatives, or on one of them."""

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        """Write h_j - shift on both sides."""

    @property
    def coded(self) -> NDArray[np.bool_]:
        """Which rankers are known to take few values."""

    def levels(self, j: int) -> Any:
        """The values of a coded ranker, with the number of rows on either side, by code; None for others."""

    def masses(self, j: int, side: Side, weights: Vector) -> Vector:
        """Sum of weights by the code of ranker j."""

    def multiply(self, j: int, side: Side, table: Vector, weights: Vector) -> float:
        """Multiply weights by what a table says of the code of ranker j; return their sum."""

    def sums(self, side: Side, weights: Any) -> Any:
        """weights.T @ H: (n,) for one vector of weights (N,), (G, n) for a sparse matrix (N, G) of them."""

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        """Sum of weight (h - centre)(h - centre).T over the rows, (n, n), and of weight (h - centre), (G, n).

        `centres` (G, n) are the weighted means of the groups that `codes` gives the rows; None is
        one group. The second sum is what the rounding of the means has left.
        """

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        """Blocks of rows in float64, dense, with their places: to be read only."""

    def matrix(self) -> Any:
        """The positives above minus the negatives, (I + K, n), in float64; sparse if the rows are."""

    def take(self, pos: Rows, neg: Rows) -> Outputs:
        """Some of the rows, in the same storage."""

    def less(self, shift: Vector) -> Outputs:
        """The outputs less a constant each, which is zero for all that are not far from zero: these are not copied."""

    def rounding(self, lam: Vector) -> float:
        """A bound on the rounding error of all scores: terms of a sum, times the sum of their sizes, times eps."""


def rounding(lam: Vector, size: Vector) -> float:
    """Bound the rounding error of scores, sums over all rankers of coefficients times outputs up to `size`."""
    return _EPS * lam.size * float(np.abs(lam) @ size)


class Dotted:
    """What a storage in which every row has all rankers says of rounding."""

    shape: tuple[int, int, int]
    pos_low: Vector
    pos_high: Vector
    neg_low: Vector
    neg_high: Vector

    def rounding(self, lam: Vector) -> float:
        size = np.maximum.reduce([np.abs(end) for end in (self.pos_low, self.pos_high, self.neg_low, self.neg_high)])
        return rounding(lam, size)


class Uncoded(Dotted):
    """What a storage without codes says of them."""

    @property
    def coded(self) -> NDArray[np.bool_]:
        return np.zeros(self.shape[2], bool)

    def levels(self, j: int) -> Any:
        return None

    def masses(self, j: int, side: Side, weights: Vector) -> Vector:
        raise NotImplementedError

    def multiply(self, j: int, side: Side, table: Vector, weights: Vector) -> float:
        raise NotImplementedError


class Dense(Uncoded):
    """Columns of NumPy arrays, float64 or float32, row by row or column by column: used where they lie."""

    def __init__(
        self,
        pos: _checks.Array,
        neg: _checks.Array,
        pool: Pool = SERIAL,
        columns: NDArray[np.intp] | None = None,
    ) -> None:
        """Some of the columns, in ascending order, or all."""
        self.pos, self.neg, self.pool = pos, neg, pool
        n = pos.shape[1]
        self._columns = np.arange(n) if columns is None else columns
        self._runs = runs_of(self._columns)
        self._all: Any = slice(None) if self._columns.size == n else self._columns
        self.shape = (pos.shape[0], neg.shape[0], self._columns.size)
        self.pos_low, self.pos_high = (x[self._all] for x in _extremes(pos))
        self.neg_low, self.neg_high = (x[self._all] for x in _extremes(neg))

    def edges(self, u: Vector, w: Vector) -> Vector:
        return self._weighted((self.pos, u, 1.0), (self.neg, w, -1.0))

    def _weighted(self, *sides: tuple[_checks.Array, Vector, float]) -> Vector:
        def work(item: tuple[_checks.Array, Vector, slice]) -> Vector:
            A, weights, rows = item
            out = np.empty(self.shape[2])
            _dense.products(A, self._runs, weights, rows.start, rows.stop, out)
            return out

        items = [(A, weights, sign, rows) for A, weights, sign in sides for rows in blocks(len(A))]
        parts = self.pool.map(work, [(A, weights, rows) for A, weights, _, rows in items])
        total = np.zeros(self.shape[2])
        for (_, _, sign, _), part in zip(items, parts, strict=True):
            total += sign * part
        return total

    def combine(self, lam: Vector, sides: Sequence[Side] = SIDES) -> list[Vector]:
        matrices = [getattr(self, side) for side in sides]
        out = [np.zeros(len(A)) for A in matrices]
        items = [(A, f, rows) for A, f in zip(matrices, out, strict=True) for rows in blocks(f.size)]
        self.pool.map(
            lambda item: _dense.combined(item[0], self._runs, lam, item[2].start, item[2].stop, item[1]), items
        )
        return out

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        k = int(self._columns[j])
        items = [(A, out, rows) for A, out in ((self.pos, pos_out), (self.neg, neg_out)) for rows in blocks(out.size)]
        self.pool.map(lambda item: _dense.column(item[0], k, shift, item[2].start, item[2].stop, item[1]), items)

    def sums(self, side: Side, weights: Any) -> Any:
        if weights.ndim == 1:
            return self._weighted((getattr(self, side), weights, 1.0))
        return np.asarray(weights.T @ getattr(self, side)[:, self._all])

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        return scatter_of(self.blocks(side), weights, centres, codes)

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        A = getattr(self, side)
        for start in range(0, A.shape[0], _BLOCK):
            rows = slice(start, min(start + _BLOCK, A.shape[0]))
            yield rows, A[rows, self._all].astype(np.float64, copy=False)

    def matrix(self) -> Any:
        return np.concatenate([self.pos[:, self._all], -self.neg[:, self._all]]).astype(np.float64, copy=False)

    def take(self, pos: Rows, neg: Rows) -> Dense:
        return Dense(self.pos[pos], self.neg[neg], self.pool, self._columns)

    def less(self, shift: Vector) -> Outputs:
        far = np.flatnonzero(shift)
        if not far.size:
            return self
        columns, near = self._columns[far], np.setdiff1d(np.arange(shift.size), far)
        moved = Dense(self.pos[:, columns] - shift[far], self.neg[:, columns] - shift[far], self.pool)
        if not near.size:
            return moved
        return Stacked([Dense(self.pos, self.neg, self.pool, self._columns[near]), moved], [near, far])


class Sparse(Uncoded):
    """SciPy CSC matrices of float64; zeros that are not stored cost nothing in a round's edges."""

    def __init__(self, pos: Any, neg: Any, pool: Pool = SERIAL) -> None:
        self.pos, self.neg, self.pool = pos, neg, pool
        self.shape = (pos.shape[0], neg.shape[0], pos.shape[1])
        self.pos_low, self.pos_high = (_flat(pos.min(axis=0)), _flat(pos.max(axis=0)))
        self.neg_low, self.neg_high = (_flat(neg.min(axis=0)), _flat(neg.max(axis=0)))

    def edges(self, u: Vector, w: Vector) -> Vector:
        return self._weighted(self.pos, u) - self._weighted(self.neg, w)

    def _weighted(self, A: Any, weights: Vector) -> Vector:
        """A.T @ weights: a column is summed by one thread, whichever that is."""
        out = np.empty(self.shape[2])
        stored = np.linspace(0, A.indptr[-1], 4 * self.pool.n_threads + 1)  # about as much for each
        ends = np.unique(np.r_[0, np.searchsorted(A.indptr, stored[1:]), self.shape[2]])
        self.pool.map(
            lambda item: _dense.sparse_products(A.indptr, A.indices, A.data, weights, item[0], item[1], out),
            list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)),
        )
        return out

    def combine(self, lam: Vector, sides: Sequence[Side] = SIDES) -> list[Vector]:
        return [np.asarray(getattr(self, side) @ lam) for side in sides]

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        for A, out in ((self.pos, pos_out), (self.neg, neg_out)):
            stored = slice(A.indptr[j], A.indptr[j + 1])
            out.fill(-shift)
            out[A.indices[stored]] = A.data[stored] - shift

    def sums(self, side: Side, weights: Any) -> Any:
        A = getattr(self, side)
        return self._weighted(A, weights) if weights.ndim == 1 else np.asarray((A.T @ weights).T.toarray())

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        A = getattr(self, side)
        mass = _mass(weights, codes, len(centres))
        sums = self.sums(side, weights)[None] if codes is None else self.sums(side, by_group(weights, codes, len(mass)))
        left = sums - mass[:, None] * centres
        shift = (centres.T * mass) @ centres
        cross = centres.T @ left
        scatter = (A.T @ A.multiply(weights[:, None]).tocsc()).toarray() - shift - cross - cross.T
        if bool((shift.diagonal() > 1e4 * scatter.diagonal()).any()):  # an offset: the difference has lost its digits
            return scatter_of(self.blocks(side), weights, centres, codes)
        return scatter, left

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        A = getattr(self, side).tocsr()
        for start in range(0, A.shape[0], _BLOCK):
            rows = slice(start, min(start + _BLOCK, A.shape[0]))
            yield rows, A[rows].toarray()

    def matrix(self) -> Any:
        import scipy.sparse

        return scipy.sparse.vstack([self.pos, -self.neg], format="csc")

    def rounding(self, lam: Vector) -> float:
        """Of the numbers that a row stores: on text of 100,000 words, 60 a document, a millionth of all terms."""
        worst = 0.0
        for A in (self.pos, self.neg):
            most = int(np.bincount(A.indices, minlength=1).max())
            worst = max(worst, most * float((abs(A) @ np.abs(lam)).max()))
        return _EPS * worst

    def take(self, pos: Rows, neg: Rows) -> Sparse:
        return Sparse(self.pos[pos], self.neg[neg], self.pool)

    def less(self, shift: Vector) -> Sparse:
        if not shift.any():
            return self
        moved = []
        for A in (self.pos, self.neg):  # far from zero, all of a column's numbers are stored
            A = A.copy()
            A.data -= np.repeat(shift, np.diff(A.indptr))
            moved.append(A)
        return Sparse(moved[0], moved[1], self.pool)


class Closed(Uncoded):
    """The rankers of a storage without codes, and then 1 - h for each of them, which take no room."""

    def __init__(self, half: Outputs, shift: Vector | None = None) -> None:
        """The complements are 1 - h less a shift."""
        self.half, self.pool = half, half.pool
        n_pos, n_neg, n = half.shape
        self.shape = (n_pos, n_neg, 2 * n)
        self._level = np.ones(n) if shift is None else shift
        for side in SIDES:
            low, high = getattr(half, f"{side}_low"), getattr(half, f"{side}_high")
            setattr(self, f"{side}_low", np.r_[low, self._level - high])
            setattr(self, f"{side}_high", np.r_[high, self._level - low])

    pos_low: Vector
    pos_high: Vector
    neg_low: Vector
    neg_high: Vector

    def edges(self, u: Vector, w: Vector) -> Vector:
        edges = self.half.edges(u, w)
        return np.concatenate([edges, -edges])

    def combine(self, lam: Vector, sides: Sequence[Side] = SIDES) -> list[Vector]:
        n = self._level.size
        level = float(self._level @ lam[n:])
        return [f + level for f in self.half.combine(lam[:n] - lam[n:], sides)]

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        n = self._level.size
        if j < n:
            self.half.column(j, shift, pos_out, neg_out)
            return
        self.half.column(j - n, float(self._level[j - n]) - shift, pos_out, neg_out)
        np.negative(pos_out, out=pos_out)
        np.negative(neg_out, out=neg_out)

    def sums(self, side: Side, weights: Any) -> Any:
        sums = self.half.sums(side, weights)
        total = np.asarray(weights.sum(axis=0))
        return np.concatenate([sums, np.multiply.outer(total, self._level).reshape(sums.shape) - sums], axis=-1)

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        n = self._level.size
        scatter, left = self.half.scatter(side, weights, centres[:, :n], codes)
        mass = _mass(weights, codes, len(centres))
        rounded = mass[:, None] * ((self._level - centres[:, :n]) - centres[:, n:])
        return np.block([[scatter, -scatter], [-scatter, scatter]]), np.concatenate([left, rounded - left], axis=1)

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        for rows, block in self.half.blocks(side):
            yield rows, np.concatenate([block, self._level - block], axis=1)

    def matrix(self) -> Any:
        return np.concatenate(list(signed(self)))

    def take(self, pos: Rows, neg: Rows) -> Closed:
        return Closed(self.half.take(pos, neg), self._level)

    def less(self, shift: Vector) -> Closed:
        n = self._level.size
        return Closed(self.half.less(shift[:n]), self._level - shift[:n] - shift[n:])


class Stacked:
    """Rankers that lie in several storages of the same rows."""

    def __init__(self, parts: Sequence[Outputs], where: Sequence[NDArray[np.intp]]) -> None:
        """Ranker i of part k is number where[k][i] of all."""
        self.parts, self.where, self.pool = parts, where, parts[0].pool
        n = sum(part.shape[2] for part in parts)
        self.shape = (*parts[0].shape[:2], n)
        self._part, self._place = np.empty(n, np.intp), np.empty(n, np.intp)
        for k, own in enumerate(where):
            self._part[own], self._place[own] = k, np.arange(own.size)
        self.pos_low, self.pos_high, self.neg_low, self.neg_high = (
            self._gathered([getattr(part, name) for part in parts])
            for name in ("pos_low", "pos_high", "neg_low", "neg_high")
        )

    def _gathered(self, values: Sequence[Any]) -> Any:
        """Values of the parts' rankers, along the last axis, as those of all."""
        out = np.empty((*values[0].shape[:-1], self.shape[2]))
        for own, value in zip(self.where, values, strict=True):
            out[..., own] = value
        return out

    def _of(self, j: int) -> tuple[Outputs, int]:
        return self.parts[self._part[j]], int(self._place[j])

    def edges(self, u: Vector, w: Vector) -> Vector:
        return self._gathered([part.edges(u, w) for part in self.parts])  # type: ignore[no-any-return]

    def combine(self, lam: Vector, sides: Sequence[Side] = SIDES) -> list[Vector]:
        out = [np.zeros(self.shape[SIDES.index(side)]) for side in sides]
        for part, own in zip(self.parts, self.where, strict=True):
            if lam[own].any():
                for f, more in zip(out, part.combine(lam[own], sides), strict=True):
                    f += more
        return out

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        part, i = self._of(j)
        part.column(i, shift, pos_out, neg_out)

    @property
    def coded(self) -> NDArray[np.bool_]:
        return self._gathered([part.coded for part in self.parts]) > 0.0  # type: ignore[no-any-return]

    def levels(self, j: int) -> Any:
        part, i = self._of(j)
        return part.levels(i)

    def masses(self, j: int, side: Side, weights: Vector) -> Vector:
        part, i = self._of(j)
        return part.masses(i, side, weights)

    def multiply(self, j: int, side: Side, table: Vector, weights: Vector) -> float:
        part, i = self._of(j)
        return part.multiply(i, side, table, weights)

    def sums(self, side: Side, weights: Any) -> Any:
        return self._gathered([part.sums(side, weights) for part in self.parts])

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        return scatter_of(self.blocks(side), weights, centres, codes)

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        rows_of_parts = [_rowwise(part.blocks(side)) for part in self.parts]
        n_rows = self.shape[0 if side == "pos" else 1]
        for start in range(0, n_rows, 256):
            rows = slice(start, min(start + 256, n_rows))
            yield rows, self._gathered([next(blocks_of_part) for blocks_of_part in rows_of_parts])

    def matrix(self) -> Any:
        matrices = [part.matrix() for part in self.parts]
        order = np.argsort(np.concatenate(self.where), kind="stable")
        if not any(_checks.is_sparse(matrix) for matrix in matrices):
            return np.concatenate(matrices, axis=1)[:, order]
        import scipy.sparse

        return scipy.sparse.hstack(matrices, format="csc")[:, order]

    def rounding(self, lam: Vector) -> float:
        return len(self.parts) * sum(part.rounding(lam[own]) for part, own in zip(self.parts, self.where, strict=True))

    def take(self, pos: Rows, neg: Rows) -> Stacked:
        return Stacked([part.take(pos, neg) for part in self.parts], self.where)

    def less(self, shift: Vector) -> Stacked:
        return Stacked([part.less(shift[own]) for part, own in zip(self.parts, self.where, strict=True)], self.where)


def _rowwise(parts: Iterable[tuple[slice, _checks.Array]]) -> Iterator[_checks.Array]:
    """Blocks of whatever height as blocks of 256 rows."""
    rest: list[_checks.Array] = []
    for _, block in parts:
        rest.append(block)
        if sum(map(len, rest)) < 256:
            continue
        block = np.concatenate(rest) if len(rest) > 1 else block
        even = len(block) // 256 * 256
        for start in range(0, even, 256):
            yield block[start : start + 256]
        rest = [block[even:]] if even < len(block) else []
    if rest:
        yield np.concatenate(rest)


def runs_of(columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Ascending numbers of columns as the runs [first, last) that they make, shape (r, 2)."""
    starts = np.flatnonzero(np.diff(columns, prepend=-2) > 1)
    return np.column_stack([columns[starts], columns[np.r_[starts[1:], 0] - 1] + 1])


def signed(outputs: Outputs) -> Iterator[_checks.Array]:
    """Blocks of the positives, and then of the negatives with a minus."""
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        for _, block in outputs.blocks(side):
            yield sign * block


def by_group(weights: Vector, codes: NDArray[np.intp], n: int) -> Any:
    """Weights as a sparse matrix, a column for each group."""
    from scipy.sparse import csr_array

    return csr_array((weights, codes, np.arange(codes.size + 1)), shape=(codes.size, n))


def _mass(weights: Vector, codes: NDArray[np.intp] | None, n: int) -> Any:
    """Sums of weights by group, (n,)."""
    return np.bincount(np.zeros(len(weights), np.intp) if codes is None else codes, weights, n)


def sums_of(parts: Iterator[tuple[slice, _checks.Array]], weights: Any, n: int) -> Any:
    """weights.T @ H for a sparse matrix of weights, from blocks of rows."""
    total = np.zeros((weights.shape[1], n))
    for rows, block in parts:
        total += weights[rows].T @ block
    return total


def scatter_of(
    blocks: Iterator[tuple[slice, _checks.Array]],
    weights: Vector,
    centres: _checks.Array,
    codes: NDArray[np.intp] | None,
) -> tuple[Any, Any]:
    """Second moments about given centres, and what the centres leave of the first, from blocks of rows."""
    n = centres.shape[1]
    root, total, left = np.sqrt(weights), np.zeros((n, n)), np.zeros_like(centres)
    buffer = np.empty((_BLOCK, n))
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


def _square(Z: _checks.Array) -> _checks.Array:
    """Z.T @ Z; where Z has few columns, as a sum of products that are too small for threads.

    Threads of BLAS wait for one another, which costs more than they bring when the machine is busy.
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


def _extremes(A: _checks.Array) -> tuple[Vector, Vector]:
    fold = 64  # rows side by side: NumPy's minimum over short rows is 10 times as slow
    if A.flags.c_contiguous and A.shape[0] > fold * fold:
        even = A.shape[0] // fold * fold
        sides = A[:even].reshape(-1, fold * A.shape[1])
        A = np.concatenate([x.reshape(fold, -1) for x in (sides.min(axis=0), sides.max(axis=0))] + [A[even:]])
    return A.min(axis=0).astype(np.float64), A.max(axis=0).astype(np.float64)


def _flat(row: Any) -> Vector:
    return np.asarray(row.toarray(), dtype=np.float64).ravel()
