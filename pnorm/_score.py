"""Scores of rows."""

from __future__ import annotations

from typing import Any

from pnorm import _checks
from pnorm._categories import tell
from pnorm._checks import Vector
from pnorm._storage import scoring
from pnorm._threads import Pool
from pnorm.rankers import as_rankers


def score(X: Any, H: Any, lam: Any, *, n_threads: int | None = None) -> Vector:
    r"""Score rows: :math:`f(x) = \sum_j \lambda_j h_j(x)`.

    Parameters
    ----------
    X : array_like, shape (N, d), or sequence of N things where the rankers are callables
        The rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    n_threads : int, optional
        Threads that share the passes over the rows; by default, as many as this process may use cores. Up to 65,536
        rows, one does it all. The result is the same to the last bit for any number.

    Returns
    -------
    ndarray, shape (N,)
        The scores: only their order, and differences, mean anything.

    Raises
    ------
    ValueError, TypeError
        If X does not fit the rankers, or `lam` is not one finite number per ranker.
    OverflowError
        If a score, or a part of its sum, is more than a double holds.

    Warns
    -----
    UnknownLevelWarning
        If values are no levels that `pnorm.rankers.categories` knows; where none of 20 values or more of a column is
        one, that is a ValueError.

    Notes
    -----
    Only weak rankers with coefficients other than zero count, and only the columns that they read: all others may hold
    anything, missing values and text included. Weak rankers made from a frame find these columns by their names, and a
    frame may lack the others; an array needs all of its columns in their places.

    The cost is one pass over these columns where they lie, and memory beyond the scores is that of a block of rows;
    lists, and columns of frames that are no array of floats, are converted first, once.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.score([[1.0, 2.0], [3.0, 4.0]], None, [0.5, -1.0])
    array([-1.5, -2.5])
    """
    return scored(X, H, lam, n_threads)


def scored(X: Any, H: Any, lam: Any, n_threads: int | None = None, strict: bool | None = True) -> Vector:
    """Score rows, and `tell` of levels that are not known, if strictly or not; None is without a word."""
    n_threads = _checks.threads(n_threads)
    rankers = as_rankers(H, X, "X")
    lam = _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker")
    n_rows = _checks.n_rows(X, "X")
    terms = rankers._terms(X, lam)
    if strict is not None:
        tell(scoring.unknown_levels(terms), strict)
    with Pool(n_threads, n_rows) as pool:
        return scoring.total(terms, n_rows, pool)
