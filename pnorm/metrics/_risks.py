"""The quantities of the papers: the p-norm risk and the chain of inequalities of Theorem 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks, objectives
from pnorm._checks import Label, Labels, Scores, Seed, Vector, Weights
from pnorm._checks.labelled import sides_of_scores
from pnorm.metrics._distinct import LEAST, Counts, DistinctScores, dots
from pnorm.metrics._heights import heights
from pnorm.metrics._merged import ScoreTable, ranked
from pnorm.objectives._losses import Loss, loss_of
from pnorm.objectives._prices import Linear, Price, price_of


def p_norm_risk(
    f_pos: Scores | ScoreTable,
    f_neg: Scores | None = None,
    p: float = 1.0,
    theta: float = 0.0,
    *,
    ramp: bool = False,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    confidence: float | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> float:
    """Return the error that Theorem 2 bounds, a p-norm of the heights of the negatives as rates.

    The error is::

        (1/K Σ_k (1/I Σ_i 1[f_i - f̃_k ≤ θ])^p)^(1/p)

    With `ramp`, ``φ(f_i - f̃_k)`` takes the place of the indicator, where ``φ(z) = min(1, max(0, 1 - z/θ))``. The result
    is between the errors at margins 0 and theta.

    Ties count as errors. At p = 1 and theta = 0 the error is 1 - AUC if there are no ties. For large p it tends to
    ``r_max / I``.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    theta : float
        The margin, zero or more, in units of the scores. A pair is an error unless the positive is above the negative
        by more than this.
    ramp : bool
        Whether a positive that is above a negative by less than theta counts in part. No effect if theta is 0.
    y, pos_label, weight : optional
        With labels, ``p_norm_risk(scores, p=4, y=y)``, the first argument holds all scores. The labels, the positive
        label and the case weights of the rows are as in `pnorm.train`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more.
    confidence, n_resamples, seed : float, int, int or Generator, optional
        Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.
        The result is then an `Estimate`, a float with `low` and `high`.

    Returns
    -------
    float
        From 0 to 1; it never falls as p or theta grows. An `Estimate` if there is a `confidence`.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, section 3.
    .. [2] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix A, equation (6), for the ramp.

    Examples
    --------
    >>> import pnorm
    >>> f_pos, f_neg = [3.0, 2.0, 0.5, 0.2], [1.0, 0.0, -1.0, -2.0]
    >>> pnorm.metrics.p_norm_risk(f_pos, f_neg, 1), pnorm.metrics.p_norm_risk(f_pos, f_neg, 2)
    (0.125, 0.25)
    >>> pnorm.metrics.p_norm_risk(f_pos, f_neg, 2, theta=1.0)
    0.4506939094329987
    >>> pnorm.metrics.p_norm_risk(f_pos, f_neg, 2, theta=1.0, ramp=True)
    0.2981715110469141

    The same with labels:

    >>> pnorm.metrics.p_norm_risk(f_pos + f_neg, p=2, y=[1, 1, 1, 1, 0, 0, 0, 0])
    0.25
    """
    power = _checks.power(p)
    margin = _checks.nonnegative(theta, "theta")
    rows = ranked(f_pos, f_neg, pos_weight, neg_weight, y=y, pos_label=pos_label, weight=weight)
    within = _first_within(rows.scores, margin)

    def risk(at: DistinctScores) -> Any:
        at = at.even
        heights = at.not_above
        if margin > 0.0:
            near = heights[..., within]
            if ramp:
                near = np.maximum(near - _distances(rows.scores, at.pos, within) / margin, heights)
            heights = near
        rates = heights / at.pos.sum(axis=-1, keepdims=True)
        largest = np.take_along_axis(rates, at.first, axis=-1)
        # Scores above the best negative have larger rates but no negatives, so they have no weight in the mean.
        shares = np.minimum(rates, largest) / np.maximum(largest, LEAST)
        mean = dots(at.neg, shares**power) / at.neg.sum(axis=-1)
        return largest[..., 0] * mean ** (1.0 / power)

    return rows.measure(risk, confidence, n_resamples, seed, by_score=margin > 0.0)


def _first_within(scores: Vector, theta: float) -> NDArray[np.intp]:
    """Return, for each of falling scores, the first score that is at most theta above it, by bisection."""
    low, high = np.zeros(scores.size, dtype=np.intp), np.arange(scores.size)
    if theta == 0.0:
        return high
    with np.errstate(over="ignore"):  # an infinite difference is above any theta
        while (low < high).any():
            middle = (low + high) // 2
            near = scores[middle] - scores <= theta
            low, high = np.where(near, low, middle + 1), np.where(near, middle, high)
    return low


def _distances(scores: Vector, counts: Counts, first: NDArray[np.intp]) -> Vector:
    """Return, for each of falling scores, the sum of counts times distances over the scores from `first` to it."""
    # Any window is made up of blocks of 1, 2, 4, ... scores, whose sums have positive terms. A difference of two
    # cumulated sums would lose the digits of a narrow window.
    end, length, total = np.arange(scores.size), np.arange(1, scores.size + 1) - first, np.zeros(counts.shape)
    mass, distance, width = counts.copy(), np.zeros(counts.shape), 1
    with np.errstate(over="ignore", invalid="ignore"):  # in blocks that no window contains
        while True:
            rows = np.flatnonzero(length & width)
            at = end[rows]
            total[..., rows] += distance[..., at] + mass[..., at] * (scores[at] - scores[rows])
            end[rows] -= width
            if 2 * width > length.max():
                return total
            distance[..., width:] += distance[..., :-width] + mass[..., :-width] * (scores[:-width] - scores[width:])
            mass[..., width:] += mass[..., :-width]
            width *= 2


@dataclass(frozen=True)
class Chain:
    """The inequalities of `theorem1`, as logarithms: lower <= risk <= surrogate, and risk <= upper.

    Examples
    --------
    >>> import pnorm
    >>> chain = pnorm.metrics.theorem1([3.0, 1.0], [2.0, 0.0], pnorm.objectives.Power(2), "hinge")
    >>> chain.r_max, chain.log_lower <= chain.log_risk <= chain.log_surrogate
    (1, True)
    """

    r_max: int
    """The largest height of a negative: positives at or below it."""
    log_lower: float
    """log of K g(r_max / K)."""
    log_risk: float
    """log of R_{g,1}, the sum of the prices of all heights."""
    log_surrogate: float
    """log of R_{g,l}, with sums of losses in the place of heights."""
    log_upper: float
    """log of K g(r_max), an upper bound of the risk (the surrogate may be larger)."""


def theorem1(
    f_pos: Scores,
    f_neg: Scores | None = None,
    price: Price | None = None,
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    *,
    smoothing: float = 0.0,
    y: Labels | None = None,
    pos_label: Label | None = None,
) -> Chain:
    """Return the terms of Theorem 1, which relates the objective to the top of the list.

    The theorem states::

        K g(R_max / K) ≤ R_{g,1} ≤ R_{g,ℓ},    R_{g,1} ≤ K g(R_max)

    where ``R_max = max_k r_k`` is the largest of the heights ``r_k = #{i : f_i ≤ f̃_k}``, and ``R_{g,1} = Σ_k g(r_k)``.
    Training lowers ``R_{g,ℓ} = Σ_k g(Σ_i ℓ(f_i - f̃_k))``, whose loss is at least 1 at zero.

    Parameters
    ----------
    f_pos : array_like, shape (I,)
        Scores of the positives.
    f_neg : array_like, shape (K,)
        Scores of the negatives.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. It must be convex and must never fall.
        None is ``Linear()``.
    loss : str or Loss
        The cost of a pair whose scores differ by z. It must never rise. A loss below 1 at z = 0 is divided by its value
        there, so that it bounds the count of misranked pairs: the logistic loss is divided by ln 2.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    y, pos_label : optional
        With labels, ``theorem1(scores, y=y)``, the first argument holds all scores. The labels and the positive label
        are as in `pnorm.train`.

    Returns
    -------
    Chain
        `r_max`, `log_lower`, `log_risk`, `log_surrogate` and `log_upper`. The logarithm of zero is minus infinity.
        The cost is O((I + K) log I) and one evaluation of the objective.

    Raises
    ------
    ValueError, TypeError
        If the inequalities do not hold: the price falls somewhere or is not convex, or the loss rises somewhere (as
        ``"squared"`` does).
    OverflowError
        If the logarithm of the objective is too large for a double.

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

    The same with labels:

    >>> pnorm.metrics.theorem1([3.0, 1.0, 2.0, 0.0], None, pnorm.objectives.Power(2), "hinge", y=[1, 1, 0, 0]).r_max
    1
    """
    f_pos, f_neg, *_ = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label)
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    chosen = Linear() if price is None else price_of(price)
    of_pairs = loss_of(loss, smoothing)
    if not chosen.increasing:
        raise ValueError(f"price must never fall, or Theorem 1 does not hold; got {price!r}")
    if chosen.root != 1.0:
        raise ValueError(f"price must be convex, or Theorem 1 does not hold; got {price!r}")
    if not of_pairs.decreasing:
        raise ValueError(f"loss must never rise, or Theorem 1 does not hold; got {loss!r}")
    if of_pairs.at_zero == 0.0:
        raise ValueError(f"loss must be above zero at z = 0, or it does not bound the misranked pairs; got {loss!r}")
    of_each = heights(pos, neg).astype(np.float64)
    highest = float(of_each.max())
    log_lower, log_upper = (chosen.log_of(np.array([highest / neg.size, highest])) + np.log(neg.size)).tolist()
    weights = None if of_pairs.at_zero >= 1.0 else np.full(pos.size, 1.0 / of_pairs.at_zero)
    return Chain(
        int(highest),
        log_lower,
        float(np.logaddexp.reduce(chosen.log_of(of_each))),
        objectives.value(pos, neg, chosen, loss, smoothing=smoothing, pos_weight=weights),
        log_upper,
    )
