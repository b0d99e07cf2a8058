"""Rows of a Dask collection that are drawn at random, to choose with in memory."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np

from pnorm import _checks
from pnorm._checks import DaskRows, Labels, Rows, Seed
from pnorm._solvers.reductions import in_partition
from pnorm.dask._coding import Roles
from pnorm.dask._estimator import _joined
from pnorm.dask._partitions import _lengths, matched, sample_of, whole
from pnorm.rankers._base import Index


def sample(X: DaskRows, y: DaskRows, n_rows: int, seed: Seed = 0) -> tuple[Rows, Labels]:
    r"""Draw rows and their labels at random, without replacement: every set of `n_rows` rows is equally likely.

    A sample fits in memory, where `pnorm.cross_validate` and `pnorm.sklearn.PNormPush` choose the power p and the
    penalty. Then `train` or `minimize` learns from all rows. The variance against which a penalty stands falls with
    the number of rows, so multiply a penalty that was chosen with n rows by n/N.

    Parameters
    ----------
    X : dask Array, shape (N, d), or dask DataFrame
        The rows.
    y : str, or dask or NumPy array or dask Series of N labels
        The labels, or the name of the column of `X` that holds them.
    n_rows : int
        Number of rows to draw, from 1 to N.
    seed : int, Generator or SeedSequence
        The same seed draws the same rows of the collection, whatever its partitions.

    Returns
    -------
    rows : ndarray, scipy.sparse matrix or pandas DataFrame, shape (n_rows, d)
        The rows in the order of `X`, without the column of labels.
    labels : ndarray, shape (n_rows,)
        The label of each.

    Raises
    ------
    ValueError, TypeError
        If `n_rows` is not from 1 to N, if `X` is no Dask collection, if it has no such column, or if `y` has not one
        label per row.

    Notes
    -----
    Only the drawn rows are sent. One pass over the partitions takes them; a collection that does not know the number
    of rows of its partitions, such as a data frame, needs one more to count them.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> import pnorm.dask
    >>> X = dask.array.from_array(np.arange(20.0).reshape(10, 2), chunks=(4, 2))
    >>> rows, labels = pnorm.dask.sample(X, np.arange(10) % 2, 3)
    >>> rows
    array([[10., 11.],
           [12., 13.],
           [18., 19.]])
    >>> labels
    array([1, 0, 1])
    """
    columns = getattr(sample_of(X, "X"), "columns", None)
    if isinstance(y, str) and (columns is None or y not in columns):
        raise ValueError(f"y is {_checks.shown(y)}, which is not a column of X")
    roles, vectors = (Roles(label=y), {}) if isinstance(y, str) else (Roles(), {"label": y})
    parts, beside = matched(X, vectors, labels_called="y")
    ends = np.cumsum([0, *_lengths(X, parts)])
    if not 1 <= (n_rows := _checks.count(n_rows, "n_rows", 1)) <= ends[-1]:
        raise ValueError(f"n_rows is {n_rows:,}, but X has {ends[-1]:,} rows")
    drawn = np.sort(_checks.generator(seed).choice(int(ends[-1]), n_rows, replace=False))
    cuts = np.searchsorted(drawn, ends)
    take, what, tasks = dask.delayed(_taken, pure=False), whole(roles), []
    for k, part in enumerate(parts):
        if cuts[k] < cuts[k + 1]:
            tasks.append(take(part, what, k, drawn[cuts[k] : cuts[k + 1]] - ends[k], **beside[k]))
    rows, labels = zip(*dask.compute(*tasks), strict=True)
    return _joined(rows), np.array([label for of_part in labels for label in of_part])


def _taken(X: Any, roles: Roles, number: int, drawn: Index, label: Any = None) -> tuple[Any, list[Any]]:
    """Return some rows of a partition, and their labels."""
    with in_partition(number, "X"):
        codes, labels = _checks.labels(label if roles.label is None else X[roles.label], "y", X.shape[0])
        return _checks.rows(roles.without(X), drawn), [labels[code] for code in codes[drawn]]
