"""Prices, losses, and the objective that a price and a loss define.

In the general objective of the papers, every negative k pays a price g for its height, the number of positives that do
not score above it. A loss l replaces this count by a smooth sum:

    R = sum_k c_k g(S_k),        S_k = sum_i c_i l(f_i - f_k).

`pnorm.train` and `pnorm.minimize` take any price and any loss of this module.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pnorm import _checks
from pnorm._checks import CaseWeights, GroupLabels, Vector
from pnorm._threads import Pool
from pnorm.objectives._base import FAR_FROM_ZERO, Objective, Scores, log_of_ones
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Exponential, Linear, Power, Price

__all__ = ["Exponential", "Linear", "Loss", "Power", "Price", "normalized_value", "value", "value_and_weights"]


def value(
    f_pos: ArrayLike,
    f_neg: ArrayLike,
    price: Price | None = None,
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    *,
    smoothing: float = 0.0,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    n_threads: int | None = None,
) -> float:
    """Return the logarithm of the general objective at given scores.

    With the price g and the loss ℓ it is::

        log R = log Σ_k c̃_k g(Σ_i c_i ℓ(f_i - f̃_k))

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. In the formula, g. None is `Linear`.
    loss : str or Loss
        The cost of a pair whose scores differ by z. ``"exponential"`` is ``exp(-z)``, ``"logistic"``
        ``ln(1 + exp(-z))``, ``"hinge"`` ``max(0, 1 - z)``, ``"squared_hinge"`` its square, ``"squared"`` ``(1 - z)^2``;
        or a `Loss` of your own. In the formula, ℓ.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. In the formula, c.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. Rows of a group that has only one side do not count.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `pnorm.train`.

    Returns
    -------
    float
        log R in nats; minus infinity if R is zero.

    Raises
    ------
    OverflowError
        If log R itself is too large for a double, as with an exponential price of huge sums.

    See Also
    --------
    value_and_weights : log R with its derivatives.

    Notes
    -----
    Cost: O(I + K) for the exponential and the squared loss, and a sort in addition for the hinges and the logistic
    loss. Only a `Loss` of your own takes a pass over the pairs. The logistic loss is summed by Chebyshev series on
    cells of the score line. The relative error of all sums is about 1e-14.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", NYU technical report TR2005-874, 2005, section 2.

    Examples
    --------
    >>> import pnorm
    >>> round(pnorm.objectives.value([2.0, 1.0], [0.0, 1.5], pnorm.objectives.Power(4), "logistic"), 6)
    1.489659
    """
    objective, f, pool, _ = _opened(
        f_pos, f_neg, price, loss, smoothing, n_threads, pos_weight, neg_weight, pos_group, neg_group
    )
    with pool:
        return objective.log_value(f)


def value_and_weights(
    f_pos: ArrayLike,
    f_neg: ArrayLike,
    price: Price | None = None,
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    *,
    smoothing: float = 0.0,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    n_threads: int | None = None,
) -> tuple[float, Vector, Vector]:
    """Return log R and its derivatives with respect to every score.

    The derivatives are::

        A_i = -∂ log R / ∂f_i = 1/R Σ_k c̃_k g'(S_k) c_i (-ℓ'(f_i - f̃_k))
        B_k =  ∂ log R / ∂f̃_k

    with ``Σ_i A_i = Σ_k B_k``. If the score is a weighted sum of weak rankers, log R falls with the coefficient of h at
    the rate ``Σ_i A_i h(x_i) - Σ_k B_k h(x̃_k)``.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives.
    price, loss, smoothing : as in `value`
        The objective.
    pos_weight, neg_weight, pos_group, neg_group, n_threads : as in `value`
        Case weights, query groups and threads.

    Returns
    -------
    log_r : float
        log R in nats.
    A : ndarray, shape (I,)
        Weights of the positives. They are zero or more, unless the price falls somewhere or the loss rises somewhere.
        R times A gives the derivatives of R itself. At a corner of a loss, they are between the weights on either side.
        Zero for rows that do not count, and if R is zero.
    B : ndarray, shape (K,)
        Weights of the negatives.

    Raises
    ------
    OverflowError
        As in `value`.

    Examples
    --------
    With the exponential price, almost all weight is on the top negative:

    >>> import pnorm
    >>> push = pnorm.objectives.Exponential(5.0)
    >>> log_r, A, B = pnorm.objectives.value_and_weights([2.0, 1.0], [0.0, 1.5], push, "hinge")
    >>> round(float(A[0]), 6), round(float(B[1]), 6)
    (4.999773, 9.999546)
    """
    objective, f, pool, counted = _opened(
        f_pos, f_neg, price, loss, smoothing, n_threads, pos_weight, neg_weight, pos_group, neg_group
    )
    A, B = np.empty(f.pos.size), np.empty(f.neg.size)
    with pool:
        evaluation = objective.evaluate(f, A, B)
    A *= evaluation.rate
    B *= evaluation.rate
    kept = counted.kept or (None, None)
    return evaluation.log_f, _checks.spread(A, kept[0]), _checks.spread(B, kept[1])


def normalized_value(
    f_pos: ArrayLike,
    f_neg: ArrayLike,
    p: float = 1.0,
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    *,
    smoothing: float = 0.0,
    pos_weight: ArrayLike | None = None,
    neg_weight: ArrayLike | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    n_threads: int | None = None,
) -> float:
    """Return the normalised objective of the P-Norm Push, ``F_p^(1/p) / (I K^(1/p))``, with any loss.

    With case weights c and a loss ℓ it is::

        (Σ_k c̃_k (Σ_i c_i ℓ(f_i - f̃_k))^p / Σ_k c̃_k (Σ_i c_i)^p)^(1/p)

    This is the power mean, over the negatives, of their mean losses. Values for different p, and for lists of different
    length, are comparable. The value never falls as p grows. It is at least `pnorm.metrics.p_norm_risk` if the loss is
    at least 1 whenever a positive is not above a negative.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    loss, smoothing : as in `value`
        The loss.
    pos_weight, neg_weight, pos_group, neg_group, n_threads : as in `value`
        Case weights, query groups and threads. With groups, the inner sums are over the positives of the group.

    Returns
    -------
    float
        The value in units of the loss. With the exponential loss it is 1 if all scores are equal.

    Raises
    ------
    OverflowError
        If the value is too large for a double. `value` returns logarithms.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", NYU technical report TR2005-874, 2005, section 4.

    Examples
    --------
    >>> import pnorm
    >>> f_pos, f_neg = [3.0, 2.0, 0.5, 0.2], [1.0, 0.0, -1.0, -2.0]
    >>> [round(pnorm.objectives.normalized_value(f_pos, f_neg, p), 6) for p in (1, 4, 16)]
    [0.424889, 0.77742, 1.003541]
    >>> pnorm.metrics.p_norm_risk(f_pos, f_neg, 4)
    0.3535533905932738
    """
    power = Power(p).power
    objective, f, pool, counted = _opened(
        f_pos, f_neg, Power(power), loss, smoothing, n_threads, pos_weight, neg_weight, pos_group, neg_group
    )
    given = zip((counted.c_pos, counted.c_neg), (f.pos, f.neg), strict=True)
    c_pos, c_neg = [np.ones(scores.size) if c is None else c for c, scores in given]
    with pool:
        log_value = (objective.log_value(f) - log_of_ones(power, c_pos, c_neg, counted.groups)) / power
    if log_value > math.log(np.finfo(float).max):
        raise OverflowError(
            f"the normalised objective is e^{log_value:.4g}, too large for a double; call pnorm.objectives.value for "
            "its logarithm"
        )
    return math.exp(log_value)


def _opened(
    f_pos: Any, f_neg: Any, price: Any, loss: Any, smoothing: Any, n_threads: Any, *weights_and_groups: Any
) -> tuple[Objective, Scores, Pool, CaseWeights]:
    """Check the arguments of the functions above."""
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    make = objective_of(1.0, price, loss, smoothing)
    counted = _checks.case_weights(pos.size, neg.size, *weights_and_groups)
    pool = Pool(_checks.threads(n_threads), work(loss, pos.size, neg.size))
    objective = make(counted, pool)
    pos, neg = counted.select(pos, neg)
    _checks.exponents(objective.traits.p, pos, neg, "f_pos with f_neg")
    low, high = min(pos.min(), neg.min()), max(pos.max(), neg.max())
    if abs(low) / FAR_FROM_ZERO > high - low:  # only differences count, and these are exact
        pos, neg = pos - low, neg - low
    return objective, Scores(pos, neg), pool, counted


def __dir__() -> list[str]:
    return __all__
