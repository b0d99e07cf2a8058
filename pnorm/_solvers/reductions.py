"""Questions to the rows, part by part, and how the answers of two parts become one.

What a solver wants of the rows beside their scores is a sum over them, or an extreme. A question is
a function of some rows of one side, and of numbers; its mark says of each thing it returns how
those of two parts merge. Rows in memory are one part per side; rows on a cluster are as many as the user's
data have, and only numbers travel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._storage.base import Outputs, Side, by_group

Question = TypeVar("Question", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of one side, or all of them."""

    side: Side
    """What the storage calls them."""
    outputs: Outputs
    codes: NDArray[np.intp] | None
    """The group of every row; None where there are no groups."""
    total: Vector
    """u or w, of sum one over all parts of the side."""
    within: Vector
    """The same, of sum one in every group."""

    @property
    def group(self) -> Any:
        """What gives every row the number of its group, taken out of one number per group."""
        return np.intp(0) if self.codes is None else self.codes

    @property
    def groups(self) -> NDArray[np.intp]:
        """The number of every row's group."""
        return np.zeros(self.total.size, np.intp) if self.codes is None else self.codes

    def scores(self, lam: Vector) -> Vector:
        """A linear combination of the outputs: to be read only."""
        return self.outputs.combine(lam, (self.side,))[0]

    def sums(self, weights: Vector, n_groups: int) -> Any:
        """weights.T @ H in every group, (G, n)."""
        if self.codes is None:
            return self.outputs.sums(self.side, weights)[None]
        return self.outputs.sums(self.side, by_group(weights, self.codes, n_groups))

    def by_group(self, values: Vector, n_groups: int) -> Vector:
        """The sum of values in every group, (G,)."""
        sums = values.sum(keepdims=True) if self.codes is None else np.bincount(self.codes, values, n_groups)
        return np.asarray(sums, dtype=np.float64)


def _add(a: Any, b: Any) -> Any:
    return a + b


def triangle_of(rows: Iterable[Any], n: int | None = None) -> Any:
    """The triangle R of a QR decomposition of rows that come in blocks, of n columns where there may be none."""
    from scipy.linalg import qr

    triangle = None if n is None else np.zeros((n, n))
    for block in rows:
        stacked = block if triangle is None else np.concatenate([triangle, block])
        triangle = qr(stacked, mode="r")[0][: stacked.shape[1]]
    return triangle


def _exponentials(a: tuple[float, Any], b: tuple[float, Any]) -> tuple[float, Any]:
    """Sums of e^x with the largest x taken out, (largest, sums)."""
    if a[0] < b[0]:
        a, b = b, a
    return a[0], a[1] + b[1] * np.exp(b[0] - a[0]) if b[0] > -np.inf else a[1]


_MERGES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": _add,
    "list": _add,
    "least": np.minimum,
    "largest": np.maximum,
    "first": lambda a, b: np.where(np.isnan(a), b, a),
    "triangle": lambda a, b: triangle_of([a, b], a.shape[1]),
    "exponentials": _exponentials,
}


def question(*how: str) -> Callable[[Question], Question]:
    """Mark a function of a part: how the things it returns merge, one word each."""
    merges = [_MERGES[word] for word in how]

    def merge(a: Any, b: Any) -> Any:
        if len(merges) == 1:
            return merges[0](a, b)
        return tuple(one(x, y) for one, x, y in zip(merges, a, b, strict=True))

    def mark(function: Question) -> Question:
        function.merge = merge  # type: ignore[attr-defined]
        return function

    return mark


def merged(asked: Callable[..., Any], answers: Sequence[Any]) -> Any:
    """One answer of those of several parts, in their order."""
    return reduce(asked.merge, answers)  # type: ignore[attr-defined]
