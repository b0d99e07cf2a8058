"""The result of a run in a kernel space: a function of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._threads import Pool
from pnorm.kernel import _kernels


@dataclass(frozen=True)
class Approximation:
    """The part of a kernel that the functions of its landmarks do not reach.

    Attributes
    ----------
    share : float
        Of the sum of K(x, x) over the training rows, 0 to 1.
    worst : float
        The largest K(x, x) - K~(x, x) over the training rows, where K~ is the kernel in which training takes place. Of
        any f in the space of K, the best function of the landmarks differs at no training row by more than the norm of
        f times the square root of this.
    """

    share: float
    worst: float


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    r"""A function :math:`f = \sum_r a_r K(x_r, \cdot)`.

    Attributes
    ----------
    coef : ndarray
        The coefficients a: of the training rows, shape (I + K,), positives first; or of the landmarks, shape (m,).
    rows : object
        The rows that they belong to: an array, or a list; None where the Gram matrix was given.
    kernel : str
        The kernel's name.
    params : dict
        Its parameters, the defaults filled in.
    landmarks : ndarray of int, or None
        Which training rows the landmarks are, positives first; of landmarks that were given, which of these are used.
    approximation : Approximation or None
        What the landmarks leave out.
    """

    coef: Vector
    rows: Any
    kernel: str
    params: dict[str, Any]
    landmarks: NDArray[np.intp] | None
    approximation: Approximation | None
    _kernel: _kernels.Kernel | int
    """The number of training rows where the Gram matrix was given."""
    _names: tuple[str, ...] | None

    def score(self, X: Any, n_threads: int | None = None) -> Vector:
        """Score rows.

        Parameters
        ----------
        X : array_like, shape (N, d), or sequence of N things for a kernel of things
            The rows. For a model of a Gram matrix, the kernel between them and the training rows, shape (N, I + K).
        n_threads : int, optional
            Number of threads; by default, one for each core that this process may use. As in `pnorm.kernel.train`.

        Returns
        -------
        ndarray, shape (N,)
            f(x). The kernel of training rows with coefficient zero is not computed.

        Raises
        ------
        ValueError, TypeError
            If X does not fit the training rows.
        """
        used = np.flatnonzero(self.coef)
        with Pool(_checks.threads(n_threads)) as pool:
            if isinstance(self._kernel, int):
                rows, size = np.arange(self.coef.size) if self.landmarks is None else self.landmarks, self._kernel
                K = _checks.matrix(X, "X")
                if K.shape[1] != size:
                    raise ValueError(
                        f"X must have one column for each training row, {size}, the kernel between them; got "
                        f"{K.shape[1]}"
                    )
                return np.asarray(K[:, rows[used]] @ self.coef[used])
            if isinstance(self.rows, list):
                if isinstance(X, str):
                    raise TypeError(f"X must be a sequence of things; got the string {X!r}: pass [{X!r}]")
                _checks.n_rows(X, "X")
                things = _kernels.Rows(list(X))
            else:
                width = self.rows.shape[1]
                A = _checks.matrix(_checks.pick(X, self._names, "X"), "X")
                if A.shape[1] != width:
                    raise ValueError(f"X has {A.shape[1]} columns and the training rows have {width}")
                things = _kernels.Rows(A)
            others = _kernels.Rows(_kernels.Rows(self.rows)[used])
            return _kernels.values(self._kernel, things, others, self.coef[used], pool)

    def __repr__(self) -> str:
        what = f"{self.coef.size} rows"
        if self.approximation is not None:
            what = f"{self.coef.size} landmarks, which leave out {self.approximation.share:.2g} of it"
        return f"<Model: the kernel {self.kernel} on {what}>"
