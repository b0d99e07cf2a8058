"""A data set: rows, labels, names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """Rows with labels.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array, shape (N, d)
        The rows.
    y : ndarray of int, shape (N,)
        1 for a positive row, 0 for a negative one.
    names : tuple of str
        Names of the d columns.
    citation : str
        The source of the data.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> data.X.shape, data.y[:3], data.names[:2]
    ((958, 9), array([0, 0, 0]), ('top-left', 'top-middle'))
    >>> data.pos.shape, data.neg.shape
    ((626, 9), (332, 9))
    """

    X: Any
    y: NDArray[np.int64]
    names: tuple[str, ...]
    citation: str

    @property
    def pos(self) -> Any:
        """The positive rows, (I, d)."""
        return self.X[self.y == 1]

    @property
    def neg(self) -> Any:
        """The negative rows, (K, d)."""
        return self.X[self.y == 0]

    def __repr__(self) -> str:
        positives = int(self.y.sum())
        return f"<{positives} positives and {self.y.size - positives} negatives in {self.X.shape[1]} columns>"
