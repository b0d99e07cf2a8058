"""Scores of rows, and probabilities made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pnorm import _checks
from pnorm._categories import Seen, placed, tell, warn
from pnorm._checks import Rows, Vector, Weights
from pnorm._storage import scoring
from pnorm._threads import SERIAL, Pool
from pnorm._trace import SeparationWarning
from pnorm.objectives._base import Scores
from pnorm.objectives._pairwise import objective_of
from pnorm.rankers import Rankers, WeakRankers, as_rankers
from pnorm.rankers._coded import CodedSide, is_read, reads_columns, same_rankers


@_checks.takes_no_model("decision_function(X)", "model.score(X)")
def score(X: Rows, H: WeakRankers, lam: ArrayLike, *, n_threads: int | None = None) -> Vector:
    """Score rows: ``f(x) = Σ_j λ_j h_j(x)``.

    Parameters
    ----------
    X : array_like, shape (N, d), or sequence of N things where the rankers are callables
        The rows. Weak rankers of a table also accept a frame, a dictionary of columns or a list of dictionaries. A
        path, a folder, a list of paths, a dataset of pyarrow or a lazy frame of polars is read in batches. A side of
        the coded rows of `code_rows` is accepted as well.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. Up to 65,536 rows, one thread is
        used. The result is the same to the last bit for any number of threads.

    Returns
    -------
    ndarray, shape (N,)
        The scores. Only their order and their differences have a meaning.

    Raises
    ------
    ValueError, TypeError
        If X does not fit the rankers, or `lam` is not one finite number per ranker.
    OverflowError
        If a score, or a part of its sum, is too large for a double.

    Warns
    -----
    UnknownLevelWarning
        If values of a column are not among the levels of `pnorm.rankers.categories`. If none of 20 or more values is, a
        ValueError is raised instead.

    Notes
    -----
    Only weak rankers with nonzero coefficients are evaluated. Columns that these do not read may contain anything,
    including missing values and text. Weak rankers made from a frame find their columns by name, and a frame may lack
    the other columns. An array needs all of its columns in their places.

    The cost is one pass over the columns that are read, without a copy. Memory beyond the scores is that of a block of
    rows. Lists, and columns of frames that are not arrays of floats, are converted first.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.score([[1.0, 2.0], [3.0, 4.0]], None, [0.5, -1.0])
    array([-1.5, -2.5])
    """
    return scored(X, H, lam, n_threads)


def scored(
    X: Any,
    H: Rankers | Sequence[Callable[..., Any]] | None,
    lam: ArrayLike,
    n_threads: int | None = None,
    strict: bool | None = True,
) -> Vector:
    """Score rows, and `tell` of levels that are not known, if strictly or not; None is without a word."""
    n_threads = _checks.threads(n_threads)
    if isinstance(X, CodedSide):
        return _of_coded(X, H, lam, n_threads)
    if is_read(X, H):
        f, seen = _of_batches(X, H, lam, n_threads)
    else:
        f, seen = _of_rows(X, H, lam, n_threads)
    if strict is not None:
        tell(seen, strict)
    return f


def _of_rows(X: Any, H: Any, lam: Any, n_threads: int | None) -> tuple[Vector, list[Seen]]:
    """Return the scores of rows in memory, and the values that were no levels."""
    rankers = as_rankers(H, X, "X")
    each = "weak ranker" if H is not None else "weak ranker, which are the columns of X if H is None"
    lam = _checks.vector(lam, "lam", len(rankers), f"one coefficient per {each}")
    n_rows = _checks.n_rows(X, "X")
    terms = rankers._terms(X, lam)
    with Pool(n_threads, n_rows) as pool:
        return scoring.total(terms, n_rows, pool), scoring.unknown_levels(terms)


def scores_and_levels(
    X: Any, H: Rankers | Sequence[Callable[..., Any]] | None, lam: ArrayLike
) -> tuple[Vector, list[Seen]]:
    """Return the scores of a batch of rows, and the values that were no levels, of which nothing is said."""
    return _of_rows(X, H, lam, _checks.threads(None))


def _of_coded(X: CodedSide, H: Any, lam: Any, n_threads: int | None) -> Vector:
    """Return the scores of coded rows."""
    if H is not None:
        same_rankers(X, H, "H")
    lam = _checks.vector(lam, "lam", len(X.rankers), "one coefficient per weak ranker")
    with Pool(n_threads, len(X)) as pool:
        return X.scores(lam, pool)


def _of_batches(X: Any, H: Any, lam: Any, n_threads: int | None) -> tuple[Vector, list[Seen]]:
    """Return the scores of rows that are read batch by batch, and the values that were no levels."""
    from pnorm._tables.batches import batches_of
    from pnorm._tables.source import with_numbers

    try:
        batches = batches_of(X)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"X is a path or another source of rows in batches, and cannot be read: {error}") from error
    parts, unknown = [np.empty(0)], list[Seen]()
    for batch in batches:
        with _checks.located(f"in the rows of {batches.told} from {batch.place(0)} on"):
            table = batch.table if reads_columns(H) else with_numbers(batch.table)
            f, seen = _of_rows(table, H, lam, n_threads)
        seen = placed(seen, batch.place)
        parts.append(f)
        unknown = [a + b for a, b in zip(unknown, seen, strict=True)] if unknown else seen
    return np.concatenate(parts), unknown


@_checks.takes_no_model("predict_proba(X)", "model.probability(X)")
def probability(
    X: Rows,
    H: WeakRankers,
    lam: ArrayLike,
    p: float,
    intercept: float | None,
    *,
    slope: float = 1.0,
    n_threads: int | None = None,
) -> Vector:
    """Estimate the probability that rows are positive, from a P-Norm Push and its intercept.

    The estimate is, with a the `slope` and b the `intercept`::

        P(y = 1 | x) = 1 / (1 + exp(-a (1 + p) (f(x) + b))),    f(x) = Σ_j λ_j h_j(x)

    Parameters
    ----------
    X : array_like, shape (N, d), or sequence of N things where the rankers are callables
        The rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    intercept : float
        b, the `intercept` of the trace, or of `pnorm.intercept`.
    slope : float
        a, a factor of the log odds, above 0. It is 1 in the theory. The `slope_` of a fitted ``PNormPush`` corrects
        them by held-out rows.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `score`.

    Returns
    -------
    ndarray, shape (N,)
        Probabilities, in the order of the scores.

    Raises
    ------
    ValueError, TypeError
        If X does not fit the rankers, `lam` is not one finite number per ranker, or there is no intercept.
    OverflowError
        If a score, or a part of its sum, is too large for a double.

    Warns
    -----
    UnknownLevelWarning
        If values of a column are not among the levels of `pnorm.rankers.categories`. As in `score`.
    SeparationWarning
        If `intercept` is that of a trace of separable or quasi-separable data.

    See Also
    --------
    intercept : b from the scores of training rows.
    ScoringFunction : The four arguments in one object: ``ScoringFunction(lam, H, p, intercept=b).probability(X)``.

    Notes
    -----
    The probabilities refer to rows drawn like those of training, with the same shares of both classes and the same case
    weights. They are correct in the limit of many rows if the log odds are linear in the weak rankers and `lam` is the
    minimiser. After early stopping, with a penalty, on separable data, or at large p, they may be far off. The page
    "Probabilities" shows how far, how to recalibrate, and how ``PNormPush`` finds a `slope`.

    References
    ----------
    .. [1] S. Ertekin and C. Rudin, "On Equivalence Relationships Between Classification and Ranking Algorithms",
       Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.minimize(data.pos, data.neg, p=4)
    >>> pnorm.probability(data.X[[0, -1]], None, lam, 4, trace.intercept).round(3)
    array([0.6  , 0.833])
    """
    p, b, slope = _checks.power(p), _checks.intercept(intercept), _checks.positive(slope, "slope")
    _warn_of_separation(intercept)
    return sigmoid(score(X, H, lam, n_threads=n_threads), p, b, slope)


def _warn_of_separation(intercept: Any) -> None:
    """Warn if an intercept is that of a trace of data without a minimiser."""
    found = getattr(intercept, "separation", None)
    if found == "quasi-separable":
        warn(
            "the training rows are quasi-separable: the probabilities hold for rows of the support only. Pass l2 > 0 "
            "to pnorm.minimize, or recalibrate on held-out rows",
            SeparationWarning,
        )
    elif found == "separable":
        warn(
            "the training rows are separable: they do not determine how far the probabilities are from 0 and 1. Pass "
            "l2 > 0 to pnorm.minimize, or recalibrate on held-out rows",
            SeparationWarning,
        )


def sigmoid(f: Vector, p: float, b: float, slope: float = 1.0) -> Vector:
    """Return the probabilities of scores."""
    from scipy.special import expit

    with np.errstate(over="ignore"):
        return np.asarray(expit(slope * (1.0 + p) * (f + b)))


def intercept_by_mean(
    sides: Sequence[Vector], scale: float, sizes: Sequence[int], weights: Sequence[Vector | None] = (None, None)
) -> float:
    """Return the intercept b with which the mean of ``expit(scale * (f + b))`` is the share of positives.

    `sides` are the scores f of both sides, with case weights. Each may be a sample of as many rows as `sizes` has.
    """
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    x = scale * np.concatenate(sides)
    counted = [np.ones(f.size) if w is None else w for f, w in zip(sides, weights, strict=True)]
    c = np.concatenate([n / w.size * w for n, w in zip(sizes, counted, strict=True)])
    share = float(c[: sides[0].size].sum() / c.sum())
    low, high = float(logit(share) - x.max()), float(logit(share) - x.min())
    if low == high:
        return low / scale
    added = brentq(lambda added: c @ expit(x + added) / c.sum() - share, low - 1.0, high + 1.0, xtol=1e-12)
    return float(added) / scale


def intercept(
    f_pos: ArrayLike,
    f_neg: ArrayLike,
    p: float,
    *,
    push: Literal["top", "bottom"] = "top",
    pos_weight: ArrayLike | None = None,
    neg_weight: Weights | None = None,
) -> float:
    """Compute the intercept that turns scores into probabilities.

    The intercept is::

        b = (log Σ_i c_i exp(-f_i) - log Σ_k c̃_k exp(p f̃_k)) / (p + 1)

    which minimises the objective of P-Classification, ``Σ_i c_i exp(-(f_i + b)) + 1/p Σ_k c̃_k exp(p (f̃_k + b))``, over
    b.

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `train`. With ``"bottom"``, positives pay, and b is minus
        the intercept of the scores -f with the sides exchanged.
    pos_weight : array_like, shape (I,), optional
        Case weights, zero or more. A row of weight w counts as w copies.
    neg_weight : array_like, shape (K,), optional
        Case weights, zero or more. The same for the negatives.

    Returns
    -------
    float
        The intercept b, in the units of the scores.

    Raises
    ------
    ValueError, TypeError
        If a side is empty or not a vector of finite numbers, weights are negative or all zero, or scores times p
        overflow.

    See Also
    --------
    probability : Probabilities with this intercept.
    Trace : Its `intercept` is that of the rows of training.

    Notes
    -----
    If a negative costs C times as much, b falls by log(C)/(p + 1), and the minimising λ does not change. With query
    groups or grades, only differences within each group are learned. Every group has its own level, so no intercept
    turns these scores into probabilities.

    References
    ----------
    .. [1] S. Ertekin and C. Rudin, "On Equivalence Relationships Between Classification and Ranking Algorithms",
       Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
    >>> b = pnorm.intercept(pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam), p=4)
    >>> abs(b - trace.intercept) < 1e-12
    True
    """
    pos, neg, p = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg"), _checks.power(p)
    _checks.push(push)
    counted = _checks.case_weights(pos.size, neg.size, pos_weight, neg_weight)
    pos, neg = counted.select(pos, neg)
    _checks.exponents(p, pos, neg, "f_pos or f_neg")
    f = Scores(pos, neg).seen_by(push)
    objective = objective_of(p, None, "exponential", 0.0)(counted.seen_by(push), SERIAL)
    b = objective.evaluate(f, np.empty_like(f.pos), np.empty_like(f.neg)).intercept
    return -b if push == "bottom" else b
