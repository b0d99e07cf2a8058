"""The result of a run in a kernel space: a function of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Rows, Vector
from pnorm._threads import Pool
from pnorm.kernel import _kernels


@dataclass(frozen=True)
class Approximation:
    """The part of a kernel that is outside the span of its landmarks.

    Attributes
    ----------
    share : float
        The part as a share of the sum of K(x, x) over the training rows, 0 to 1.
    worst : float
        The largest K(x, x) - K~(x, x) over the training rows, where K~ is the kernel restricted to the landmarks, which
        training uses. For any f in the space of K, the best function of the landmarks differs from f at a training row
        by at most the norm of f times the square root of this number.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> model, trace = pnorm.kernel.train(data.pos[:60], data.neg[:40], "rbf", lam=0.1, landmarks=50, t_max=20)
    >>> 0 <= model.approximation.share < 0.5, model.approximation.worst <= 1
    (True, True)
    """

    share: float
    worst: float


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A function ``f(x) = Σ_r a_r K(x_r, x)``.

    Attributes
    ----------
    coef : ndarray
        The coefficients a: of the training rows, shape (I + K,), positives first, or of the landmarks, shape (m,).
    rows : object
        The rows of the coefficients: an array, or a list. None if the Gram matrix was given.
    kernel : str
        The name of the kernel.
    params : dict
        Its parameters, including defaults.
    landmarks : ndarray of int, or None
        The numbers of the training rows that are landmarks, positives first. If landmarks were given, the numbers of
        those that are used.
    approximation : Approximation or None
        The part of the kernel that the landmarks leave out.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> model, trace = pnorm.kernel.minimize(data.pos[:60], data.neg[:40], "polynomial", lam=0.1)
    >>> model
    <Model: the kernel polynomial on 100 rows>
    >>> model.kernel, model.coef.shape
    ('polynomial', (100,))
    >>> model.score(data.X[:3]).round(3)
    array([-1.013, -0.732, -0.644])
    """

    coef: Vector
    rows: Any
    kernel: str
    params: dict[str, Any]
    landmarks: NDArray[np.intp] | None
    approximation: Approximation | None
    _kernel: _kernels.Kernel | int
    """The number of training rows, if the Gram matrix was given."""
    _names: tuple[str, ...] | None

    def score(self, X: Rows, n_threads: int | None = None) -> Vector:
        """Score rows.

        Parameters
        ----------
        X : array_like, shape (N, d), or sequence of N things for a kernel of things
            The rows. For a model of a Gram matrix, the kernel between these rows and the training rows,
            shape (N, I + K).
        n_threads : int, optional
            Number of threads; by default, one for each core that this process may use. As in `pnorm.kernel.train`.

        Returns
        -------
        ndarray, shape (N,)
            The scores f(x). Training rows with coefficient zero are skipped.

        Raises
        ------
        ValueError, TypeError
            If X does not have the columns of the training rows.
        """
        used = np.flatnonzero(self.coef)
        with Pool(_checks.threads(n_threads)) as pool:
            if isinstance(self._kernel, int):
                rows, size = np.arange(self.coef.size) if self.landmarks is None else self.landmarks, self._kernel
                K = _checks.matrix(X, "X")
                if K.shape[1] != size:
                    raise ValueError(
                        f"X must hold the kernel between its rows and the {size} training rows, one column each; got "
                        f"{K.shape[1]} columns"
                    )
                return np.asarray(K[:, rows[used]] @ self.coef[used])
            if isinstance(self.rows, list):
                if isinstance(X, str):
                    raise TypeError(f"X must be a sequence of things; got the string {X!r}. Pass [{X!r}]")
                _checks.n_rows(X, "X")
                each: Any = X
                things = _kernels.Rows(list(each))
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
