"""Type aliases for the signatures of public functions.

Each name is defined here once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

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


class Model(Protocol):
    """A `pnorm.ScoringFunction`, or a fitted `pnorm.sklearn.PNormPush`."""

    @property
    def score(self) -> Any: ...


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

FilePath: TypeAlias = str | os.PathLike[str]
"""The path of a file or folder: a string or a `pathlib.Path`."""

Grid: TypeAlias = ArrayLike | Callable[[float], ArrayLike]
"""A number, several, or a function of p that returns them."""

PenaltyGrid: TypeAlias = Grid | Mapping[str, Grid]
"""One penalty, several, or a function of p that returns them; or a mapping from kinds of weak rankers to these."""

Kinds: TypeAlias = Mapping[Any, str | Sequence[Hashable]]
"""From columns, by name or number, to what they become."""

Monotone: TypeAlias = Mapping[Any, int]
"""From columns, by name or number, to 1 or -1."""

Lines: TypeAlias = bool | Literal["only"]
"""Whether columns have a straight line beside their cuts; "only" has it in place of the cuts."""

Gain: TypeAlias = Literal["linear", "exponential"] | Callable[[Any], ArrayLike]
"""The gain of a grade: a name, or a function of an array of grades."""

Discount: TypeAlias = Literal["log2"] | Callable[[Any], ArrayLike] | ArrayLike
"""The factors of ranks 1, 2, ...: a name, a function of an array of ranks, or an array."""
