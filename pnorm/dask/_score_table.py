"""The scores of a ranked list in partitions, counted in a table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import dask
import numpy as np

from pnorm import _checks
from pnorm._checks import DaskRows
from pnorm.dask import _cluster
from pnorm.dask._partitions import _lengths, _partitions, _rechunked, whole
from pnorm.metrics import ScoreTable


def score_table(
    f: DaskRows, y: DaskRows, weight: DaskRows | None = None, *, size: int = 2**16, top: int = 2**14
) -> ScoreTable:
    """Count the scores of rows in partitions, as input for the measures of `pnorm.metrics`.

    Each partition counts its own scores. Only tables are sent, of 3 MB at most by default. Pass the result to the
    measures of `pnorm.metrics` in place of both sides: ``pnorm.metrics.summary(table, confidence=0.95)``.

    Parameters
    ----------
    f : dask Array, shape (N,), or dask Series
        Scores, such as those of `score`.
    y : dask Array, shape (N,), dask Series, or array_like
        Labels: 1 for positives, 0 or -1 for all others.
    weight : dask Array, shape (N,), dask Series, or array_like, optional
        Case weights, zero or more. Those above zero must be from 1e-150 to 1e150.
    size : int
        The most intervals of scores, 16 at least.
    top : int
        Distinct scores that are kept at either end of the list, 0 or more.

    Returns
    -------
    ScoreTable
        The table of all rows. It is the same to the last bit for any partitions; with weights that are not whole
        numbers, up to the rounding of their sums.

    Raises
    ------
    ValueError, TypeError
        If `f` is not a Dask vector, if `y` or `weight` has other partitions, or as in
        `pnorm.metrics.ScoreTable.of_labelled`.

    Examples
    --------
    >>> import dask.array
    >>> import pnorm.dask
    >>> f = dask.array.from_array([3.0, 1.0, 2.0, 0.0], chunks=2)
    >>> table = pnorm.dask.score_table(f, [1, 1, 0, 0])
    >>> table
    <ScoreTable: 2 positives and 2 negatives at 4 places, all exact>
    >>> pnorm.metrics.auc(table)
    0.75 [0.75, 0.75]
    """
    if not (dask.is_dask_collection(f) and hasattr(type(f), "to_delayed") and getattr(f, "ndim", 0) == 1):
        raise TypeError(
            f"f must be a Dask array or Series of one score per row; got {type(f).__name__}. "
            "Use pnorm.metrics.ScoreTable.of_labelled for scores in memory"
        )
    how = {"size": _checks.count(size, "size", 16), "top": _checks.count(top, "top", 0)}
    scores = _partitions(f)
    beside = [_beside(vector, name, f, scores) for vector, name in ((y, "y"), (weight, "weight"))]
    tables = [
        dask.delayed(ScoreTable.of_labelled, pure=False)(*part, **how) for part in zip(scores, *beside, strict=True)
    ]
    while len(tables) > 1:
        tables = [_merged(*tables[i : i + _cluster.FAN_IN]) for i in range(0, len(tables), _cluster.FAN_IN)]
    found: ScoreTable = dask.compute(*tables)[0]
    return found


@dask.delayed(pure=False)  # type: ignore[untyped-decorator, unused-ignore]
def _merged(table: ScoreTable, *others: ScoreTable) -> ScoreTable:
    return table.merge(*others)


def _beside(vector: Any, name: str, f: Any, scores: list[Any]) -> list[Any]:
    """Return the parts of a vector for the partitions of the scores."""
    if vector is None and name == "weight":
        return [None] * len(scores)
    if dask.is_dask_collection(vector):
        parts = _partitions(_rechunked(vector, f))
        if len(parts) != len(scores):
            raise ValueError(f"{name} has {len(parts)} partitions, and f has {len(scores)}. Use the same partitions")
        return parts
    ends = [0, *np.cumsum(_lengths(f, scores)).tolist()]
    here = _checks.vector(vector, name, ends[-1], f"one {'label' if name == 'y' else 'weight'} per row")
    return [whole(here[slice(*span)]) for span in pairwise(ends)]
