"""The linear program of separability, the span of rows, and directions in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector, is_sparse
from pnorm._solvers.reductions import triangle_of

FRACTIONS = 500_000
"""Number of products up to which the scores of a part are compared as fractions: about a second."""


@dataclass(frozen=True, eq=False)
class Separation:
    """The result of the linear program: the kind of the data, the support, and a direction."""

    kind: str
    """overlapping, quasi-separable, separable, or undecided."""
    pos: NDArray[np.bool_]
    neg: NDArray[np.bool_]
    direction: Vector | None
    """Puts no positive below a negative, and none level with one unless both are on the support."""
    level: Vector | None = None
    """For rows in parts, which have no `pos` and `neg`: the score of the support in every group; nan if it has no row
    there."""


def program(equal: Any, signs: NDArray[np.int8]) -> tuple[Vector, Vector, Vector] | None:
    """Solve the linear program: return t, t + s, and the multipliers of the moments; None if it fails.

    A moment of sign 1 need only be at most zero, one of sign -1 at least zero.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    directions, size = equal.shape
    if directions == 0:
        return np.ones(size), np.ones(size), np.zeros(0)
    if size == 0:
        return np.zeros(0), np.zeros(0), np.zeros(directions)
    exact, bounded = np.flatnonzero(signs == 0), np.flatnonzero(signs)
    both = csr_array(hstack([csr_array(equal), csr_array(equal)]))
    found = linprog(
        np.r_[-np.ones(size), np.zeros(size)],
        A_eq=both[exact],
        b_eq=np.zeros(exact.size),
        A_ub=both[bounded].multiply(signs[bounded, None]) if bounded.size else None,
        b_ub=np.zeros(bounded.size) if bounded.size else None,
        bounds=np.c_[np.zeros(2 * size), np.r_[np.ones(size), np.full(size, np.inf)]],
        method="highs",
    )
    if found.status != 0:
        return None
    multipliers = np.zeros(directions)
    multipliers[exact] = found.eqlin.marginals
    if bounded.size:
        multipliers[bounded] = signs[bounded] * found.ineqlin.marginals
    return found.x[:size], found.x[:size] + found.x[size:], multipliers


def span(rows: Any, more: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return a triangle whose rows span the given rows and those of another triangle."""
    blocks = (rows[start : start + 4096] for start in range(0, rows.shape[0], 4096))
    dense = (block.toarray() if is_sparse(block) else block for block in blocks)
    triangle: NDArray[np.float64] = triangle_of(dense if more is None else chain([more], dense), rows.shape[1])
    return triangle


def unspanned(triangle: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the directions that are orthogonal to all rows, (m, c); None if rounding hides them.

    Each direction expresses a column by the independent columns. For indicators it consists of small whole numbers.
    """
    from scipy.linalg import qr, solve_triangular

    m = triangle.shape[1]
    triangle, order = qr(triangle, mode="r", pivoting=True)
    share = np.abs(triangle.diagonal()) / max(abs(triangle[0, 0]), 1e-300)
    if ((share > 1e-13 * m) & (share < 1e-6)).any():
        return None
    rank = int(np.count_nonzero(share >= 1e-6))
    basis = np.zeros((m, m - rank))
    basis[order[:rank]] = -solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    basis[np.abs(basis) < 1e-12] = 0.0
    basis[order[rank:], np.arange(m - rank)] = 1.0
    return basis


def matches(equal: Any, weights: Vector, signs: NDArray[np.int8]) -> bool:
    """Return whether the moments match exactly after a change of less than one in each weight, all at least one.

    A moment of sign 1 may also be below zero, one of sign -1 above.
    """
    from scipy.linalg import lstsq

    if 0 in equal.shape:
        return True
    residual, tiny = equal @ weights, 1e-9 * weights.sum()
    held = (signs == 0) | (signs * residual > -tiny)
    rows = equal[held]
    square = rows @ rows.T
    square = square.toarray() if is_sparse(square) else square
    change = rows.T @ lstsq(square, residual[held])[0] if held.any() else np.zeros(weights.size)
    left = equal @ (weights - change)
    return bool(np.abs(change).max() < 1.0 and np.where(signs == 0, np.abs(left), signs * left).max() < tiny)


def candidates(direction: Vector, size: Vector) -> list[Vector]:
    """Return the direction rounded to small whole numbers, if it is near such numbers, and the direction itself."""
    largest = float(np.abs(direction * size).max(initial=0.0))
    if largest == 0.0:
        return []
    kept = np.where(np.abs(direction) * size > 1e-7 * largest, direction, 0.0)
    found = []
    for unit in (1.0, float(np.abs(kept[kept != 0.0]).min()), float(np.abs(kept).max())):
        parts = [Fraction(x).limit_denominator(720) for x in (kept / unit).tolist()]
        whole = np.lcm.reduce([part.denominator for part in parts], dtype=object)
        if whole < 2**30 and all(
            abs(part - x) < 1e-6 * max(1, abs(x)) for part, x in zip(parts, kept / unit, strict=True)
        ):
            found.append(np.array([float(part * int(whole)) for part in parts]))
    return [*found, kept]
