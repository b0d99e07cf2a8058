"""Kernels, and blocks of rows to compute them on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._threads import Pool

Matrix = NDArray[np.float64]

_SIDE = 1024
"""Number of rows of a block of the Gram matrix; a block takes 8 MB."""

_SAMPLE = 200
"""Number of rows on which a user's kernel is checked."""


_PARAMS = {"rbf": ["gamma"], "laplacian": ["gamma"], "polynomial": ["gamma", "degree", "coef0"], "linear": []}
"""Parameters of the named kernels."""

Kernel: TypeAlias = "Radial | Polynomial | OfUser | Given"
"""A symmetric positive semidefinite function of two rows, called with two blocks of them."""


@dataclass(frozen=True)
class Radial:
    """e^(-gamma d), d a distance."""

    name: str
    gamma: float

    def __call__(self, A: Any, B: Any) -> Matrix:
        from scipy.spatial.distance import cdist

        # From differences, since a^2 - 2 a b + b^2 loses digits of (a - b)^2 at large offsets.
        K = np.asarray(cdist(A, B, "sqeuclidean" if self.name == "rbf" else "cityblock"))
        K *= -self.gamma
        np.exp(K, out=K)
        return K


@dataclass(frozen=True)
class Polynomial:
    """(gamma <a, b> + coef0)^degree."""

    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    name: str = "polynomial"

    def __call__(self, A: Any, B: Any) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is detected by kappa
            K = np.asarray(A @ B.T)
            K *= self.gamma
            K += self.coef0
            return K if self.degree == 1 else np.asarray(K**self.degree)


@dataclass(frozen=True)
class OfUser:
    """A user's function."""

    function: Callable[..., Any]
    params: dict[str, Any]
    name: str = "a user's"

    def __call__(self, A: Any, B: Any) -> Matrix:
        found = _checks.matrix(self.function(A, B, **self.params), "what the kernel returns")
        K = np.array(found, dtype=np.float64, order="C")  # the memory layout that the products need
        if K.shape != (len(A), len(B)):
            raise ValueError(
                f"the kernel must return one number for each pair of rows, shape ({len(A)}, {len(B)}) for {len(A)} and "
                f"{len(B)} rows; got {K.shape}"
            )
        return K


@dataclass(frozen=True)
class Given:
    """A Gram matrix; rows are given by their numbers."""

    G: Matrix
    name: str = "precomputed"

    def __call__(self, A: Any, B: Any) -> Matrix:
        if isinstance(A, range) and isinstance(B, range):
            return self.G[A.start : A.stop, B.start : B.stop]
        return self.G[np.ix_(A, B)]


def params_of(kernel: Kernel) -> dict[str, Any]:
    """Return the parameters of a kernel by their names."""
    if isinstance(kernel, OfUser):
        return dict(kernel.params)
    return {key: getattr(kernel, key) for key in _PARAMS.get(kernel.name, ())}


def given(G: Any, n: int, params: dict[str, Any]) -> Given:
    """Check a Gram matrix of n rows."""
    if params:
        raise TypeError(f"a Gram matrix takes no parameters; got {', '.join(params)}")
    if G.shape != (n, n):
        raise ValueError(
            f"a Gram matrix must have a row and a column for each of the {n} training rows, positives first; got "
            f"shape {G.shape}"
        )
    tolerance = 1e-8 if G.dtype == np.float64 else 1e-5
    G = np.ascontiguousarray(G, dtype=np.float64)
    some = slice(None, None, max(1, -(-n // 512)))
    semidefinite(G[some, some], "the Gram matrix", tolerance)
    return Given(G)


def named(name: Any, params: dict[str, Any], X: Any) -> Kernel:
    """Check a named kernel or a user's kernel, and its parameters; X are the training rows."""
    if callable(name):
        return OfUser(name, params)
    if not isinstance(name, str):
        raise TypeError(
            f"kernel must be one of {', '.join(map(repr, _PARAMS))}, 'precomputed', a function of two blocks of rows, "
            f"or a Gram matrix; got {type(name).__name__}"
        )
    known = _PARAMS[_checks.choice(name, "kernel", [*_PARAMS, "precomputed"])]
    unknown = [key for key in params if key not in known]
    if unknown:
        takes = f"takes {', '.join(known)}" if known else "takes no parameters"
        raise TypeError(f"no argument is called {', '.join(unknown)}, and the kernel {name!r} {takes}")
    if name == "linear":
        return Polynomial(name="linear")
    gamma = params.get("gamma")
    if isinstance(gamma, str):
        raise TypeError(f"gamma must be a number, or left out for the default; got {gamma!r}")
    gamma = _default_gamma(name, X) if gamma is None else _checks.positive(gamma, "gamma")
    if name != "polynomial":
        return Radial(name, gamma)
    degree, coef0 = _checks.count(params.get("degree", 3), "degree", 1), params.get("coef0", 1.0)
    return Polynomial(gamma, _checks.nonnegative(coef0, "coef0"), degree)


def _default_gamma(name: str, X: Any) -> float:
    """Return 1 / (d Var), with Var over all entries of the rows; for the 1-norm, 1 / (d sd)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if _checks.is_sparse(X):
            size = X.shape[0] * X.shape[1]
            mean = X.sum() / size
            variance = float((((X.data - mean) ** 2).sum() + (size - X.nnz) * mean * mean) / size)
        else:
            variance = float(X.var(dtype=np.float64))
    spread = (math.sqrt(variance) if name == "laplacian" else variance) * X.shape[1]
    if spread == 0.0:
        return 1.0
    if not 1e-300 < spread < 1e300:
        raise ValueError(
            f"the variance of the rows of pos and neg, {variance:g}, is too extreme for a default gamma. Scale the "
            "columns or pass gamma"
        )
    return float(1.0 / spread)


class Rows:
    """Rows, block by block: float64 arrays of a matrix, or parts of a list or range."""

    def __init__(self, X: Any) -> None:
        self._X = X.tocsr() if _checks.is_sparse(X) else X
        self.n = int(X.shape[0]) if hasattr(X, "shape") else len(X)

    def __getitem__(self, rows: Any) -> Any:
        X = self._X
        if isinstance(X, (list, range)):
            return X[rows] if isinstance(rows, slice) else [X[r] for r in rows]
        block = X[rows].toarray() if _checks.is_sparse(X) else np.asarray(X[rows], dtype=np.float64).view()
        block.flags.writeable = False  # it is passed to a user's function
        return block

    def slices(self, size: int = _SIDE) -> list[slice]:
        """Return the blocks, in order."""
        return [slice(start, min(start + size, self.n)) for start in range(0, self.n, size)]


def check(kernel: Kernel, rows: Rows) -> None:
    """Refuse a user's function that is not a kernel on a sample of the rows."""
    if isinstance(kernel, OfUser):
        some = rows[np.unique(np.linspace(0, rows.n - 1, min(rows.n, _SAMPLE)).astype(np.intp))]
        semidefinite(kernel(some, some), "the kernel")


def semidefinite(G: Matrix, name: str, tolerance: float = 1e-8) -> None:
    """Refuse a matrix that is not symmetric, or has a negative eigenvalue beyond rounding."""
    size = float(np.abs(G).max())
    if size > _checks.ROOT:
        raise ValueError(f"{name} has an entry of size {size:.3g}, whose square overflows; scale it down")
    if np.abs(G - G.T).max() > tolerance * size:
        i, j = np.unravel_index(np.abs(G - G.T).argmax(), G.shape)
        raise ValueError(f"{name} is not symmetric: K(x, x') is {G[i, j]:g} and K(x', x) is {G[j, i]:g}")
    least = float(np.linalg.eigvalsh(G)[0])
    if least < -tolerance * size * len(G):
        raise ValueError(
            f"{name} is not positive semidefinite: its matrix on {len(G)} of the rows has the eigenvalue {least:.3g}. "
            "Gradient descent needs an inner product"
        )


def diagonal(kernel: Kernel, rows: Rows) -> Vector:
    """Return K(x, x) of all rows."""
    if isinstance(kernel, Radial):
        return np.ones(rows.n)
    return np.concatenate([kernel(rows[some], rows[some]).diagonal() for some in rows.slices(64)])


def largest(sizes: Vector) -> float:
    """Return the largest K(x, x); refuse zero and infinity."""
    size = float(sizes.max())
    if not 0.0 < size < math.inf:
        raise ValueError(f"the largest K(x, x) of the training rows is {size:g}; scale the columns or the kernel")
    return size


def values(kernel: Kernel, rows: Rows, others: Rows, coef: Vector, pool: Pool) -> Vector:
    """Return the sum over r of coef_r K(x, other_r) for all rows x, block by block."""

    def work(some: slice) -> Vector:
        block, total = rows[some], np.zeros(some.stop - some.start)
        for part in others.slices():
            total += np.einsum("rj,j->r", kernel(block, others[part]), coef[part])
        return total

    return np.concatenate(pool.map(work, rows.slices()))
