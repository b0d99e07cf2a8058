"""The weak rankers' outputs on the training rows, behind one small interface.

A storage answers these questions, and no one else reads the rows:

- `edges(u, w)`: u-mean of every ranker on the positives minus its w-mean on the negatives;
- `column(j, pos_out, neg_out)`: one ranker's outputs, centred;
- `combine(lam)`: scores of a linear combination;
- `sums(side, weights)` and `scatter(side, weights, centres)`: first and second moments of one side;
- `blocks(side)`: the rows of one side as they come, for what is asked rarely;
- `matrix()`: all of them with a sign, for the linear program;
- `take(pos, neg)`: the same storage with some of the rows;
- the extremes of every ranker on either side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector

# Rows converted to float64 at a time where the data are float32: some 200 kB at 50 columns, which
# stays in the second cache.
_ROWS = 512

# Rows whose second moments are formed at a time: 1.6 MB at 50 columns. Measured at 10**5 x 50:
# 12.5 ms with 512 rows, 10.9 ms with 4096, 12.9 ms with all.
_BLOCK = 4096

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

    def edges(self, u: Vector, w: Vector) -> Vector:
        """H.T @ u on the positives minus H.T @ w on the negatives: one pass over both."""

    def combine(self, lam: Vector) -> tuple[Vector, Vector]:
        """H @ lam on the positives and on the negatives."""

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        """Write h_j - shift on both sides."""

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
        """The outputs less a constant each; the same where zeros are not stored."""


class Dense:
    """NumPy arrays (I, n) and (K, n), float64 or float32, in either order: used where they lie."""

    def __init__(self, pos: _checks.Array, neg: _checks.Array) -> None:
        self.pos, self.neg = pos, neg
        self.shape = (pos.shape[0], neg.shape[0], pos.shape[1])
        self.pos_low, self.pos_high = _extremes(pos)
        self.neg_low, self.neg_high = _extremes(neg)

    def edges(self, u: Vector, w: Vector) -> Vector:
        return transposed_product(self.pos, u) - transposed_product(self.neg, w)

    def combine(self, lam: Vector) -> tuple[Vector, Vector]:
        return product(self.pos, lam), product(self.neg, lam)

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        np.subtract(self.pos[:, j], shift, out=pos_out, dtype=np.float64)
        np.subtract(self.neg[:, j], shift, out=neg_out, dtype=np.float64)

    def sums(self, side: Side, weights: Any) -> Any:
        A = getattr(self, side)
        return transposed_product(A, weights) if weights.ndim == 1 else np.asarray(weights.T @ A)

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        return _scatter(self.blocks(side), weights, centres, codes)

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        A = getattr(self, side)
        for start in range(0, A.shape[0], _BLOCK):
            rows = slice(start, min(start + _BLOCK, A.shape[0]))
            yield rows, A[rows].astype(np.float64, copy=False)

    def matrix(self) -> Any:
        return np.concatenate([self.pos, -self.neg]).astype(np.float64, copy=False)

    def take(self, pos: Rows, neg: Rows) -> Dense:
        return Dense(self.pos[pos], self.neg[neg])

    def less(self, shift: Vector) -> Dense:
        return Dense(self.pos - shift, self.neg - shift)


class Sparse:
    """SciPy CSC matrices of float64; zeros that are not stored cost nothing in a round's edges."""

    def __init__(self, pos: Any, neg: Any) -> None:
        self.pos, self.neg = pos, neg
        self.shape = (pos.shape[0], neg.shape[0], pos.shape[1])
        self.pos_low, self.pos_high = (_flat(pos.min(axis=0)), _flat(pos.max(axis=0)))
        self.neg_low, self.neg_high = (_flat(neg.min(axis=0)), _flat(neg.max(axis=0)))

    def edges(self, u: Vector, w: Vector) -> Vector:
        return np.asarray(self.pos.T @ u - self.neg.T @ w)

    def combine(self, lam: Vector) -> tuple[Vector, Vector]:
        return product(self.pos, lam), product(self.neg, lam)

    def column(self, j: int, shift: float, pos_out: Vector, neg_out: Vector) -> None:
        for A, out in ((self.pos, pos_out), (self.neg, neg_out)):
            stored = slice(A.indptr[j], A.indptr[j + 1])
            out.fill(-shift)
            out[A.indices[stored]] = A.data[stored] - shift

    def sums(self, side: Side, weights: Any) -> Any:
        A = getattr(self, side)
        return np.asarray(A.T @ weights if weights.ndim == 1 else (A.T @ weights).T.toarray())

    def scatter(
        self, side: Side, weights: Vector, centres: _checks.Array, codes: NDArray[np.intp] | None
    ) -> tuple[Any, Any]:
        A = getattr(self, side)
        mass = np.bincount(np.zeros(len(weights), np.intp) if codes is None else codes, weights, len(centres))
        shift = (centres.T * mass) @ centres
        scatter = (A.T @ A.multiply(weights[:, None]).tocsc()).toarray() - shift
        if bool((shift.diagonal() > 1e4 * scatter.diagonal()).any()):  # an offset: the difference has lost its digits
            return _scatter(self.blocks(side), weights, centres, codes)
        return scatter, np.zeros_like(centres)

    def blocks(self, side: Side) -> Iterator[tuple[slice, _checks.Array]]:
        A = getattr(self, side).tocsr()
        for start in range(0, A.shape[0], _BLOCK):
            rows = slice(start, min(start + _BLOCK, A.shape[0]))
            yield rows, A[rows].toarray()

    def matrix(self) -> Any:
        import scipy.sparse

        return scipy.sparse.vstack([self.pos, -self.neg], format="csc")

    def take(self, pos: Rows, neg: Rows) -> Sparse:
        return Sparse(self.pos[pos], self.neg[neg])

    def less(self, shift: Vector) -> Sparse:
        return self


def of(pos: Any, neg: Any) -> Outputs:
    """Return the storage that fits two matrices of outputs."""
    if _checks.is_sparse(pos) != _checks.is_sparse(neg):
        raise TypeError("one of pos and neg is sparse and the other is not; pass both in the same form")
    return Sparse(pos, neg) if _checks.is_sparse(pos) else Dense(pos, neg)


def product(A: Any, lam: Vector) -> Vector:
    """A @ lam in float64, whatever A is stored in."""
    if A.dtype == np.float64:
        return np.asarray(A @ lam)
    return np.concatenate([A[r : r + _ROWS].astype(np.float64) @ lam for r in range(0, A.shape[0], _ROWS)])


def transposed_product(A: _checks.Array, s: Vector) -> Vector:
    """A.T @ s in float64, whatever A is stored in."""
    if A.dtype == np.float64:
        return np.asarray(A.T @ s)
    total = np.zeros(A.shape[1])
    for r in range(0, A.shape[0], _ROWS):
        total += A[r : r + _ROWS].astype(np.float64).T @ s[r : r + _ROWS]
    return total


def _scatter(
    blocks: Iterator[tuple[slice, _checks.Array]],
    weights: Vector,
    centres: _checks.Array,
    codes: NDArray[np.intp] | None,
) -> tuple[Any, Any]:
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
