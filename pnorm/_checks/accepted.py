"""What public functions accept and return: the names that stand in their signatures.

Each name is defined here once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

Axes: TypeAlias = Any
"""The axes of Matplotlib, ``matplotlib.axes.Axes``; it is imported only where something is drawn."""

DataFrame: TypeAlias = Any
"""A data frame of pandas; it is imported only where one is made."""


class Sparse(Protocol):
    """A SciPy sparse matrix or array."""

    def tocsr(self) -> Any: ...


class Lazy(Protocol):
    """A Dask array, data frame or series."""

    def compute(self) -> Any: ...


Scores: TypeAlias = ArrayLike
"""One finite number for each row: a list, a NumPy array, or a column of pandas, polars or pyarrow."""

Weights: TypeAlias = ArrayLike
"""One number for each row, zero or more."""

Grades: TypeAlias = ArrayLike
"""One real number for each row; larger is better."""

Numbers: TypeAlias = ArrayLike
"""Real numbers, in the shape that the description states."""

Coefficients: TypeAlias = ArrayLike
"""One number for each weak ranker."""

Label: TypeAlias = Hashable
"""A number, a string or a boolean."""

Labels: TypeAlias = ArrayLike | Sequence[Hashable]
"""One label for each row: numbers, strings or booleans. Where rows have columns, also the name of one of them."""

GroupLabels: TypeAlias = ArrayLike | Sequence[Hashable]
"""The query of each row, by any labels. Where rows have columns, also the name of one of them."""

Rows: TypeAlias = ArrayLike | Sequence[Any] | Mapping[Any, Any] | Sparse
"""A table: NumPy, pandas, polars, pyarrow, SciPy sparse, a dictionary of columns, or a sequence of rows."""

DaskRows: TypeAlias = Lazy | ArrayLike
"""A Dask array, data frame or series; an array in memory where the description states it."""

Seed: TypeAlias = int | np.integer[Any] | np.random.Generator
"""A whole number, zero or more, or a random generator."""

Covering: TypeAlias = float | Callable[[float], float]
"""The logarithm of a covering number, or a function from the radius to it."""
