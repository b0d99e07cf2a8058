"""Measures of a ranked list, from the scores of its positives and its negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pnorm import _checks, objectives
from pnorm._losses import Loss, loss_of
from pnorm._prices import Linear, Price, price_of

__all__ = ["Chain", "auc", "positives_at_top", "theorem1"]


def positives_at_top(f_pos: Any, f_neg: Any) -> int:
    """Count the positives that score strictly above every negative.

    This is the height of the ROC curve in counts before the first false positive, the quantity that
    the experiments of both papers report. A positive that ties with the best negative does not count.

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.

    Returns
    -------
    int
        From 0 to I.

    Raises
    ------
    ValueError, TypeError
        If a side is empty or not a vector of finite numbers.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, section 5 (there called R_max,
       a name that its theory gives to the positives at or below the best negative).

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.positives_at_top([3.0, 2.0, 1.0, 0.5], [1.0, 0.0])
    2
    """
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    return int(np.count_nonzero(pos > neg.max()))


def auc(f_pos: Any, f_neg: Any) -> float:
    r"""Return the area under the ROC curve, ties counted one half.

    .. math:: \frac{1}{IK} \sum_{i,k} \bigl(1_{[f_i > \tilde f_k]} + \tfrac12 1_{[f_i = \tilde f_k]}\bigr)

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.

    Returns
    -------
    float
        The share of pairs in the right order, from 0 to 1. O((I + K) log K).

    Raises
    ------
    ValueError, TypeError
        If a side is empty or not a vector of finite numbers.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC
       Curve", AISTATS 2005, equation (1).

    Examples
    --------
    >>> import pnorm
    >>> pnorm.metrics.auc([3.0, 1.0], [1.0, 0.0])
    0.875
    """
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    neg = np.sort(neg)
    below = np.searchsorted(neg, pos, side="left").sum()
    at_or_below = np.searchsorted(neg, pos, side="right").sum()
    return float(below + at_or_below) / (2.0 * pos.size * neg.size)


@dataclass(frozen=True)
class Chain:
    """What `theorem1` returns, as logarithms: lower <= risk <= surrogate, and risk <= upper."""

    r_max: int
    """The largest height of a negative: positives at or below it."""
    log_lower: float
    """log of K g(r_max / K)."""
    log_risk: float
    """log of R_{g,1}, the sum of the prices of all heights."""
    log_surrogate: float
    """log of R_{g,l}, with losses in the place of counts."""
    log_upper: float
    """log of K g(r_max), which bounds the risk, and not the surrogate."""


def theorem1(
    f_pos: Any,
    f_neg: Any,
    price: Price | None = None,
    loss: str | Loss = "exponential",
    *,
    smoothing: float = 0.0,
) -> Chain:
    r"""Return the inequalities that tie an objective to the top of the list, as numbers.

    .. math:: K g(R_{max} / K) \le R_{g,1} \le R_{g,\ell}, \qquad R_{g,1} \le K g(R_{max}),

    where :math:`R_{max} = \max_k r_k` is the largest of the heights :math:`r_k = |\{i : f_i \le \tilde f_k\}|`,
    :math:`R_{g,1} = \sum_k g(r_k)`, and :math:`R_{g,\ell} = \sum_k g(\sum_i \ell(f_i - \tilde f_k))`, with a loss of at
    least 1 at zero, is what training lowers.

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.
    price : Price, optional
        A price that never falls, from `pnorm.objectives`; None is ``Linear()``.
    loss : str or Loss
        A loss that never rises. One that is below 1 at z = 0 is divided by its value there, so that it
        bounds the count of misranked pairs: the logistic loss by ln 2.
    smoothing : float
        With the hinge only, as in `pnorm.train`.

    Returns
    -------
    Chain
        `r_max`, `log_lower`, `log_risk`, `log_surrogate` and `log_upper`; minus infinity stands for the
        logarithm of zero. O((I + K) log I) and one evaluation of the objective.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; if the price falls somewhere, or the loss rises (as
        ``"squared"`` does), for which the inequalities do not hold.
    OverflowError
        If the objective is more than a double holds even in logarithms.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", NYU technical report TR2005-874, 2005, Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> chain = pnorm.metrics.theorem1([3.0, 1.0], [2.0, 0.0], pnorm.objectives.Power(2), "hinge")
    >>> chain.r_max, [round(float(np.exp(x)), 3) for x in (chain.log_lower, chain.log_risk, chain.log_surrogate)]
    (1, [0.5, 1.0, 4.0])
    """
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    chosen = Linear() if price is None else price_of(price)
    of_pairs = loss_of(loss, smoothing)
    if not chosen.increasing:
        raise ValueError(f"price must be one that never falls, or Theorem 1 does not hold; got {price!r}")
    if not of_pairs.decreasing:
        raise ValueError(f"loss must be one that never rises, or Theorem 1 does not hold; got {loss!r}")
    if of_pairs.at_zero == 0.0:
        raise ValueError(f"loss must be above zero at z = 0 to count misranked pairs; got {loss!r}")
    heights = np.searchsorted(np.sort(pos), neg, side="right").astype(np.float64)
    r_max = float(heights.max())
    log_lower, log_upper = (chosen.log_of(np.array([r_max / neg.size, r_max])) + np.log(neg.size)).tolist()
    weights = None if of_pairs.at_zero >= 1.0 else np.full(pos.size, 1.0 / of_pairs.at_zero)
    return Chain(
        int(r_max),
        log_lower,
        float(np.logaddexp.reduce(chosen.log_of(heights))),
        objectives.value(pos, neg, chosen, loss, smoothing=smoothing, pos_weight=weights),
        log_upper,
    )
