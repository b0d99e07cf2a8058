"""Scores of rows in partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Coefficients, DaskRows, Vector
from pnorm._checks.text import first
from pnorm._score import scored
from pnorm.dask._partitions import sample_of
from pnorm.rankers import Rankers, WeakRankers, as_rankers


def score(X: DaskRows, H: WeakRankers, lam: Coefficients, *, ignore: str | Sequence[str] = ()) -> Any:
    """Score rows in partitions: ``f(x) = Σ_j λ_j h_j(x)``.

    Parameters
    ----------
    X : dask Array, shape (N, d), or dask DataFrame
        The rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    ignore : str or sequence of str
        Columns of a frame that are not inputs, such as the label. It is not needed for weak rankers that were made of a
        frame, which find their columns by name.

    Returns
    -------
    dask Array, shape (N,), or dask Series
        The scores, in the same partitions, not yet computed; those of a frame have its index.

    Raises
    ------
    ValueError, TypeError
        If `X` is not a Dask collection, or `lam` is not one finite number per ranker; when computed, if rows do not
        fit.

    Warns
    -----
    UnknownLevelWarning
        When computed, for each partition with values that are not levels of `pnorm.rankers.categories`, even if no
        value is a level. Text in place of numbers, or the reverse, is a ValueError.

    Examples
    --------
    >>> import dask.array
    >>> import pnorm.dask
    >>> X = dask.array.from_array([[1.0, 2.0], [3.0, 4.0]], chunks=(1, 2))
    >>> pnorm.dask.score(X, None, [0.5, -1.0]).compute()
    array([-1.5, -2.5])
    """
    rows = _without(X, [ignore] if isinstance(ignore, str) else list(ignore))
    rankers = as_rankers(H, sample_of(rows, "X"), "X")
    lam = _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker")
    if hasattr(rows, "columns"):
        import pandas

        return rows.map_partitions(_scores, rankers, lam, meta=pandas.Series(dtype=np.float64, name="score"))
    return rows.rechunk({1: -1}).map_blocks(_scores, rankers, lam, dtype=np.float64, drop_axis=1, meta=np.empty(0))


def _without(X: Any, ignore: list[Any]) -> Any:
    """Return a frame without some of its columns."""
    if not ignore:
        return X
    if not hasattr(sample_of(X, "X"), "columns"):
        raise TypeError(f"ignore is {_checks.shown(ignore[0])}, but an array has no column names")
    missing = [name for name in ignore if name not in X.columns]
    if missing:
        has = first(list(X.columns), 8, _checks.shown)
        raise ValueError(f"ignore is {_checks.shown(missing[0])}, which is not a column of X; it has {has}")
    return X.drop(columns=ignore)


def _scores(X: Any, rankers: Rankers, lam: Vector) -> Any:
    f = scored(X, rankers, lam, strict=False) if X.shape[0] else np.empty(0)
    if not hasattr(X, "columns"):
        return f
    import pandas

    return pandas.Series(f, X.index, name="score")
