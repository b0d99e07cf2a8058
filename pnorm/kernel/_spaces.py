"""Spaces of functions on the training rows, in which gradient descent takes its steps.

A space holds functions f = sum_r a_r K(x_r, .) on the training rows. It is independent of losses and steps. The two
kinds differ in their coordinates:

- `Gram`: the coefficients a themselves. The Gram matrix is computed in blocks. As many blocks are stored as the memory
  limit allows; the others are computed whenever they are needed.
- `Landmarks`: the span of a few of the K(x_r, .), in an orthonormal basis.

Both have `coordinates(s)`, the coordinates of sum_r s_r K(x_r, .); `values(a)`, the values on the rows;
`square(a, values)`, the squared norm of the function with these coordinates and values; and `coefficients(a)`, which a
`Model` stores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pnorm._blas import dot
from pnorm._checks import Vector
from pnorm._core import _dense
from pnorm._storage.dense import Dense
from pnorm._threads import SERIAL, Pool
from pnorm.kernel._kernels import Kernel, Matrix, Rows, diagonal, largest

_EPS = float(np.finfo(float).eps)

_LOST = 16.0 * _EPS
"""Rounding error of the residual of K(x, x), relative to the largest K(x, x)."""

_NOTHING_LEFT = 1e-10
"""Residual, relative to the largest K(x, x), below which a row cannot become a landmark."""


Factors = tuple[NDArray[np.intp], Matrix, Matrix, Vector]
"""Positions of landmarks, phi, L and the residual of K(x, x)."""

Space: TypeAlias = "Gram | Landmarks"
"""Functions on the training rows: `n` rows, and `size` coordinates."""


class Gram:
    """The whole kernel, by its Gram matrix: blocks on and above the diagonal."""

    def __init__(self, kernel: Kernel, rows: Rows, pool: Pool = SERIAL, keep: float = math.inf) -> None:
        """Store up to `keep` bytes of blocks."""
        self.n = self.size = rows.n
        self._kernel, self._rows, self._pool = kernel, rows, pool
        slices = rows.slices()
        self._places = [(rows, columns) for k, rows in enumerate(slices) for columns in slices[k:]]
        sizes = np.cumsum([8.0 * (a.stop - a.start) * (b.stop - b.start) for a, b in self._places])
        self._n_kept = int(np.searchsorted(sizes, keep, side="right"))
        self._kept: list[Matrix | None] = [None] * len(self._places)

    @property
    def fits(self) -> bool:
        """Return whether all blocks are kept."""
        return self._n_kept == len(self._places)

    def _at(self, k: int) -> Matrix:
        found = self._kept[k]
        if found is None:
            found = self._kernel(*(self._rows[some] for some in self._places[k]))
            if k < self._n_kept:
                self._kept[k] = found
        return found

    def values(self, a: Vector) -> Vector:
        """Return G @ a; each block is read once for both of its places in the matrix."""

        def work(k: int) -> tuple[Vector, Vector]:
            rows, columns = self._places[k]
            down, across = np.zeros(rows.stop - rows.start), np.zeros(columns.stop - columns.start)
            _dense.symmetric(self._at(k), a[columns], a[rows], down, across)
            return down, across

        out = np.zeros(self.n)
        parts = self._pool.map(work, range(len(self._places)))
        for (rows, columns), (down, across) in zip(self._places, parts, strict=True):
            out[rows] += down
            if columns != rows:
                out[columns] += across
        return out

    def coordinates(self, s: Vector) -> Vector:
        """Return the coordinates of sum_r s_r K(x_r, .)."""
        return s

    def square(self, a: Vector, values: Vector, off: float = 0.0) -> float:
        """Return |f|^2 for given coordinates and values of f; an upper bound if the values have an error of `off`."""
        return max(0.0, dot(a, values)) + off * float(np.abs(a).sum())

    def coefficients(self, a: Vector) -> Vector:
        """Return the coefficients of K(x_r, .) over the rows, or over the landmarks."""
        return a.copy()

    def rounding(self, a: Vector, kappa: float) -> float:
        """Bound the rounding error of the values at these coordinates, if K(x, x) is at most kappa^2."""
        return 4.0 * _EPS * kappa * kappa * float(np.abs(a).sum())

    def diagonal(self) -> Vector:
        """Return K(x, x) of the rows."""
        parts = [self._at(k).diagonal() for k, (rows, columns) in enumerate(self._places) if rows == columns]
        return np.concatenate(parts)

    def whole(self) -> Matrix:
        """Return the matrix."""
        G = np.empty((self.n, self.n))
        for k, (rows, columns) in enumerate(self._places):
            G[rows, columns] = self._at(k)
            G[columns, rows] = G[rows, columns].T
        return G


class Landmarks:
    """The projection on the span of a few K(z, .): K~(x, x') = <phi(x), phi(x')>, with orthonormal coordinates phi.

    With C = K(rows, z) and the Cholesky factor L of K(z, z), phi are the rows of C L^-T (Nystroem approximation).
    """

    def __init__(self, phi: Matrix, L: Matrix, pool: Pool = SERIAL) -> None:
        self.n, self.size = phi.shape
        self._L = L
        self._table, self._pool = Dense(phi), pool
        self._phi = phi

    def coordinates(self, s: Vector) -> Vector:
        return self._pool.run(self._table.sums(s))[0]  # type: ignore[no-any-return]

    def values(self, a: Vector) -> Vector:
        return self._pool.run(self._table.combine(a))[0]  # type: ignore[no-any-return]

    def square(self, a: Vector, values: Vector, off: float = 0.0) -> float:
        return dot(a, a)

    def coefficients(self, a: Vector) -> Vector:
        return _solve(self._L, a, "T")

    def rounding(self, a: Vector, kappa: float) -> float:
        return 16.0 * _EPS * kappa * math.sqrt(dot(a, a))

    def diagonal(self) -> Vector:
        return np.asarray(np.einsum("rj,rj->r", self._phi, self._phi))


def rpcholesky(kernel: Kernel, rows: Rows, size: int, generator: np.random.Generator, pool: Pool) -> Factors:
    """Draw landmarks among the rows; return their positions, phi, L and the residual of K(x, x).

    Landmarks are drawn one by one, in proportion to the residual of K(x, x) that the previous landmarks leave: randomly
    pivoted Cholesky (Chen, Epperly, Tropp, Webber 2025). Candidates are drawn in batches. A candidate is kept with the
    probability by which the others of its batch have lowered its residual. This gives the same distribution (Epperly,
    Tropp, Webber 2024) at the speed of matrix products.
    """
    phi, L = np.zeros((rows.n, size)), np.zeros((size, size))
    left = diagonal(kernel, rows)
    size_of_rows = largest(left)
    least = _NOTHING_LEFT * size_of_rows
    open_to = np.ones(rows.n, bool)
    places: list[int] = []
    batch = max(8, min(256, size // 4))
    while len(places) < size:
        open_to &= left > least
        if not open_to.any():
            break
        chances = np.where(open_to, left, 0.0)
        candidates = generator.choice(rows.n, batch, p=chances / chances.sum())
        found = len(places)
        some = rows[candidates]
        rest = kernel(some, some) - phi[candidates, :found] @ phi[candidates, :found].T
        open_to[candidates[rest.diagonal() <= least]] = False
        taken, factor = _accepted(rest, size - found, least, generator)
        chosen = candidates[taken]
        end = found + taken.size
        if taken.size:
            new = phi[:, found:end]
            _fill(new, partial(kernel, B=rows[chosen]), rows, pool)
            new -= phi[:, :found] @ phi[chosen, :found].T
            new[:] = _solve(factor, new.T).T
            new[chosen] = factor  # exactly, with its zeros
            L[found:end, :found] = phi[chosen, :found]
            L[found:end, found:end] = factor
            left -= np.einsum("rj,rj->r", new, new)
            np.maximum(left, 0.0, out=left)
            open_to[chosen] = False
            places.extend(chosen.tolist())
    m = len(places)
    return np.array(places, dtype=np.intp), np.ascontiguousarray(phi[:, :m]), L[:m, :m], left + _LOST * size_of_rows


def _accepted(rest: Matrix, most: int, least: float, generator: np.random.Generator) -> tuple[NDArray[np.intp], Matrix]:
    """Return the accepted candidates, given their residual matrix, and the Cholesky factor of the accepted ones."""
    size = len(rest)
    before, chances = rest.diagonal().copy(), generator.random(size)
    columns: list[Vector] = []
    taken: list[int] = []
    for i in range(size):
        pivot = float(rest[i, i])
        if len(taken) < most and pivot > least and chances[i] * before[i] < pivot:
            column = rest[:, i] / math.sqrt(pivot)
            rest = rest - np.outer(column, column)
            columns.append(column)
            taken.append(i)
    kept = np.array(taken, dtype=np.intp)
    return kept, np.tril(np.column_stack(columns)[kept]) if taken else np.empty((0, 0))


def pivoted_cholesky(kernel: Kernel, rows: Rows, landmarks: Rows, pool: Pool) -> Factors:
    """Return the results of `rpcholesky` for given landmarks, without those that depend linearly on others."""
    W = kernel(landmarks[:], landmarks[:])
    left = W.diagonal().copy()
    least = _NOTHING_LEFT * float(left.max())
    columns: list[Vector] = []
    places: list[int] = []
    for _ in range(len(W)):
        i = int(left.argmax())
        if not left[i] > least:
            break
        column = W[:, i].copy()
        for other in columns:
            column -= other[i] * other
        column /= math.sqrt(column[i])
        column[places] = 0.0
        left -= column * column
        left[i] = 0.0
        columns.append(column)
        places.append(i)
    if not places:
        raise ValueError("the kernel is zero on all landmarks; pass other rows as landmarks")
    used = np.array(places, dtype=np.intp)
    L = np.column_stack(columns)[used]
    others = landmarks[used]
    phi = np.empty((rows.n, used.size))
    _fill(phi, lambda some: _solve(L, kernel(some, others).T).T, rows, pool)  # K L^-T
    size = diagonal(kernel, rows)
    left = np.maximum(size - np.einsum("rj,rj->r", phi, phi), 0.0)
    return used, phi, L, left + _LOST * float(size.max())


def _solve(L: Matrix, B: Matrix, trans: str = "N") -> Matrix:
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(L, B, lower=True, trans=trans))


def _fill(out: Matrix, function: Callable[[Any], Matrix], rows: Rows, pool: Pool) -> None:
    """Write a function of the rows to out, block by block."""
    pool.map(lambda some: np.copyto(out[some], function(rows[some])), rows.slices())
