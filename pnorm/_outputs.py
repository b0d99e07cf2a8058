"""The weak rankers' outputs on the training rows, behind one small interface.

A storage answers four questions, and no one else reads the rows:

- `edges(u, w)`: u-mean of every ranker on the positives minus its w-mean on the negatives;
- `column(j, pos_out, neg_out)`: one ranker's outputs, centred;
- `combine(lam)`: scores of a linear combination;
- the extremes of every ranker on either side.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from pnorm import _checks
from pnorm._checks import Vector

# Rows converted to float64 at a time where the data are float32: some 200 kB at 50 columns, which
# stays in the second cache.
_ROWS = 512


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


def _extremes(A: _checks.Array) -> tuple[Vector, Vector]:
    return A.min(axis=0).astype(np.float64), A.max(axis=0).astype(np.float64)


def _flat(row: Any) -> Vector:
    return np.asarray(row.toarray(), dtype=np.float64).ravel()
