"""Generalization bounds of the P-Norm Push: by covering numbers, and by margins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import Covering, Label, Labels, Numbers, Scores, Vector
from pnorm._checks.labelled import sides_of_scores
from pnorm.bounds._bound import Bound


def push_confidence(epsilon: float, theta: float, p: float, n_pos: int, n_neg: int, log_covering: Covering) -> Bound:
    """Return a lower bound of the probability that no error exceeds its margin error by more than epsilon.

    For a class F of scoring functions with covering numbers N, with probability at least::

        1 - 2 N(F, ε θ / 8) [exp(-2 (ε/4)^(2p) K) + exp(-ε² I / 8)]

    over the draw of I positives and K negatives, every f in F satisfies ``error(f) ≤ emp(f; θ) + ε``. The left side is
    the error on the distribution. The right side has the error on the rows with margin theta
    (`pnorm.metrics.p_norm_risk`). The proof uses the ramp error (``p_norm_risk(..., theta, ramp=True)``) instead, which
    is never larger than the margin error.

    Parameters
    ----------
    epsilon : float
        The excess, above 0.
    theta : float
        The margin, above 0, in units of the scores.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    n_pos, n_neg : int
        I and K.
    log_covering : float or callable
        Logarithm of the covering number of F in the sup norm at radius epsilon theta / 8, or a function that returns
        it for a radius, such as ``lambda r: log_covering_linear(n, radius, r)``. The value 0 stands for a single
        function fixed before looking at the rows; `held_out_push_confidence` is a better bound for it.

    Returns
    -------
    Bound
        A probability. Vacuous if it is 0 or less, or if epsilon is 1 or more, since errors are at most 1.

    Notes
    -----
    The printed proof has an inequality for each negative, and then takes a supremum over the negatives inside the
    probability. The theorem is true as stated. For one f this is a supremum over thresholds of its scores, and the
    inequality of Dvoretzky, Kiefer and Wolfowitz, with Massart's constant, gives the same term for the positives.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Theorem 2; Appendix A, equation (6), for the ramp.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.push_confidence(0.2, 0.1, 1, 900, 900, log_covering=0.0)
    0.955564
    """
    excess = _checks.positive(epsilon, "epsilon")
    log_n = _covering(log_covering, excess, _checks.positive(theta, "theta"))
    return _confidence(excess, _push_failure(excess, _checks.power(p), *_sizes(n_pos, n_neg), log_n))


def _confidence(epsilon: float, log_failure: float) -> Bound:
    """Return 1 minus the probability that an error is off by more than epsilon."""
    value = -math.expm1(log_failure) if log_failure < 700.0 else -math.inf
    return Bound(value, value <= 0.0 or epsilon >= 1.0)


def _push_failure(epsilon: float, p: float, n_pos: int, n_neg: int, log_covering: float) -> float:
    """Return the logarithm of the probability that Theorem 2 subtracts from 1."""
    log_epsilon = math.log(epsilon)
    of_neg = -_exp(math.log(2.0) + 2.0 * p * (log_epsilon - math.log(4.0)) + math.log(n_neg))
    of_pos = -_exp(2.0 * log_epsilon - math.log(8.0) + math.log(n_pos))
    return math.log(2.0) + log_covering + float(np.logaddexp(of_neg, of_pos))


def _exp(x: float) -> float:
    return math.exp(x) if x < 700.0 else math.inf


def push_epsilon(delta: float, theta: float, p: float, n_pos: int, n_neg: int, log_covering: Covering) -> Bound:
    """Return the largest excess of the error at a given confidence, by Theorem 2: `push_confidence` for epsilon.

    Parameters
    ----------
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    theta : float
        The margin, above 0, in units of the scores.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    n_pos, n_neg : int
        I and K.
    log_covering : float or callable
        As in `push_confidence`; a function is called at every epsilon theta / 8 that is tried.

    Returns
    -------
    Bound
        The least epsilon for which ``push_confidence(epsilon, ...) >= 1 - delta``, by bisection. Vacuous if it is 1 or
        more, since errors are at most 1. inf if there is no such epsilon.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Theorem 2.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.push_epsilon(0.05, 0.1, 1, 10_000, 10_000, log_covering=0.0)
    0.0592083
    >>> bounds.push_epsilon(0.05, 0.1, 4, 10_000, 10_000, log_covering=0.0)
    1.3655 (vacuous)
    """
    margin, power = _checks.positive(theta, "theta"), _checks.power(p)
    log_delta = math.log(_checks.probability(delta, "delta"))
    sizes = _sizes(n_pos, n_neg)

    def holds(epsilon: float) -> bool:
        return _push_failure(epsilon, power, *sizes, _covering(log_covering, epsilon, margin)) <= log_delta

    low = high = 1.0
    while holds(low) and low > 1e-150:
        low *= 0.5
    while not holds(high):
        high *= 2.0
        if high > 1e150:
            return Bound(math.inf, True)
    # Covering numbers jump. Bisection still ends on the side where the condition holds.
    while low < (middle := math.sqrt(low) * math.sqrt(high)) < high:
        low, high = (low, middle) if holds(middle) else (middle, high)
    return Bound(high, high >= 1.0)


def push_sample_size(
    delta: float, epsilon: float, theta: float, p: float, log_covering: Covering, ratio: float = 1.0
) -> float:
    """Return the number of negatives that Theorem 2 requires: `push_confidence`, solved for K.

    Parameters
    ----------
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    epsilon : float
        The excess, above 0.
    theta : float
        The margin, above 0, in units of the scores.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    log_covering : float or callable
        As in `push_confidence`.
    ratio : float
        I / K, the number of positives per negative.

    Returns
    -------
    int or float
        The least K. I is the whole part of ratio K, at least 1. Beyond 2**53 the result is a float that is slightly
        larger, and inf beyond 1e308.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Theorem 2 and the remark after it.

    Examples
    --------
    >>> from pnorm import bounds
    >>> [bounds.push_sample_size(0.05, 0.2, 0.1, p, log_covering=0.0) for p in (1, 2, 4)]
    [877, 295111, 47217657013]
    """
    excess, margin = _checks.positive(epsilon, "epsilon"), _checks.positive(theta, "theta")
    power, share = _checks.power(p), Fraction(_checks.positive(ratio, "ratio"))
    log_delta, log_n = math.log(_checks.probability(delta, "delta")), _covering(log_covering, excess, margin)

    def holds(n_pos: int, n_neg: int) -> bool:
        return _push_failure(excess, power, n_pos, n_neg, log_n) <= log_delta

    return _least_size(holds, share)


def _least_size(holds: Callable[[int, int], bool], ratio: Fraction) -> float:
    """Return the least number of negatives for which a condition on both numbers of rows holds."""

    def enough(size: int) -> bool:
        return holds(max(1, math.floor(ratio * size)), size)

    high = 1
    while not enough(high):
        high *= 2
        if high > 2**1023:
            return math.inf
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high if high <= 2**53 else float(high) * (1.0 + 1e-12)


def _covering(log_covering: Any, epsilon: float, theta: float) -> float:
    """Return the logarithm of the covering number at radius epsilon theta / 8; inf if there is none."""
    found = log_covering(epsilon * theta / 8.0) if callable(log_covering) else log_covering
    return math.inf if isinstance(found, float) and found == math.inf else _checks.nonnegative(found, "log_covering")


def _sizes(n_pos: Any, n_neg: Any) -> tuple[int, int]:
    return _checks.count(n_pos, "n_pos", 1), _checks.count(n_neg, "n_neg", 1)


def log_covering_linear(n_rankers: int, radius: float, epsilon: float) -> float:
    """Bound the covering number of linear combinations of weak rankers, as a logarithm.

    The class is ``{Σ_j λ_j h_j : |λ|_1 ≤ B, 0 ≤ h_j ≤ 1}`` for n given weak rankers, with the sup norm. Coefficients
    that are epsilon apart in the 1-norm give functions that are at most epsilon apart. A covering of the 1-norm ball is
    therefore enough, and::

        ln N ≤ n ln(1 + 2 B / ε),    and 0 for ε ≥ B

    Parameters
    ----------
    n_rankers : int
        n, the number of weak rankers.
    radius : float
        B, a bound on the sum of the absolute coefficients, above 0.
    epsilon : float
        Radius of the balls, above 0, in units of the scores.

    Returns
    -------
    float
        A bound on the logarithm of the covering number, in nats, zero or more.

    Examples
    --------
    >>> from pnorm import bounds
    >>> round(bounds.log_covering_linear(8, radius=1.0, epsilon=0.01), 3)
    42.426
    """
    n = _checks.real(_checks.count(n_rankers, "n_rankers", 1), "n_rankers")
    ball, eps = _checks.positive(radius, "radius"), _checks.positive(epsilon, "epsilon")
    return 0.0 if eps >= ball else n * math.log1p(2.0 * ball / eps)


def push_scaling(epsilon: float, p: float) -> float:
    """Return the factor by which p requires more negatives than p = 1, by Theorem 2.

    The factor is::

        (4/ε)^(2 (p - 1))

    The factor applies where the number of negatives limits the bound. At p = 1 the number of positives may limit it.

    Parameters
    ----------
    epsilon : float
        The excess, above 0.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.

    Returns
    -------
    float
        A ratio of numbers of negatives; inf beyond 1e308.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, section 3.

    Examples
    --------
    >>> from pnorm import bounds
    >>> [round(bounds.push_scaling(0.5, p)) for p in (1, 2, 4)]
    [1, 64, 262144]
    """
    return _exp(2.0 * (_checks.power(p) - 1.0) * math.log(4.0 / _checks.positive(epsilon, "epsilon")))


@dataclass(frozen=True, eq=False, repr=False)
class MarginCurve:
    """The result of `margin_curve`; arrays are over the margins.

    Examples
    --------
    >>> from pnorm import bounds
    >>> curve = bounds.margin_curve([3.0, 2.0, 0.5], [1.0, 0.0], 2, [0.25, 1.5])
    >>> curve.thetas, curve.error.round(3), curve.ramp.round(3)
    (array([0.25, 1.5 ]), array([0.236, 0.527]), array([0.236, 0.351]))
    >>> curve.theta, curve.epsilon, curve.bound, curve.best
    (None, None, None, None)
    """

    thetas: Vector
    """The margins, ascending."""
    error: Vector
    """The margin error on the given rows; it never falls as the margin grows."""
    ramp: Vector
    """The ramp error on the given rows; it is never larger than `error`."""
    epsilon: Vector | None
    """The excess of Theorem 2 at each margin, valid for all margins together."""
    bound: Vector | None
    """The bound at each margin: the sum of `ramp` and `epsilon`."""
    theta: float | None
    """The margin with the least bound."""
    best: Bound | None
    """The least bound on the error of f on the distribution."""

    def __repr__(self) -> str:
        best = "" if self.theta is None else f", best bound {self.best!r} at {self.theta:.3g}"
        return (
            f"<MarginCurve: {self.thetas.size} margins from {self.thetas[0]:.3g} to {self.thetas[-1]:.3g}, error "
            f"{self.error[0]:.3g} -> {self.error[-1]:.3g}{best}>"
        )


def margin_curve(
    f_pos: Scores,
    f_neg: Scores | None = None,
    p: float = 1.0,
    thetas: Numbers | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    delta: float = 0.05,
    log_covering: Covering | None = None,
) -> MarginCurve:
    """Return the margin errors of a list, and the margin with the least bound of Theorem 2.

    A larger margin is violated by more rows, but needs a coarser covering. To choose the margin after looking at the
    rows, the theorem is applied to all T margins, each with confidence 1 - delta/T (a union bound). With probability
    1 - delta, this holds for all margins θ, and therefore the least of the bounds holds::

        error(f) ≤ emp(f; ramp, θ) + ε(δ/T, θ)

    The left side is the error on the distribution. The right side has the error on the rows with the ramp, which falls
    from 1 at a score difference of 0 to 0 at theta. The theorem is stated with the margin error. Its proof holds for
    the ramp error, which is never larger.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`. The rows may be those that f was
        trained on.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    thetas : array_like, shape (T,)
        Margins, above 0, in units of the scores. Fix them before looking at the rows.
    y, pos_label : optional
        With labels, ``margin_curve(scores, p=2, thetas=[0.5, 1], y=y)``, the first argument holds all scores. The
        labels and the positive label are as in `pnorm.train`.
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    log_covering : float or callable, optional
        As in `push_confidence`; None to compute the errors alone.

    Returns
    -------
    MarginCurve
        `thetas`, `error`, `ramp`, `epsilon`, `bound` (each (T,)), and `theta` and `best`, the margin with the least
        bound and that bound. Without `log_covering`, the last four are None. The cost is O(T (I + K) log(I + K)).

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Theorem 2, and equation (6) of its proof.

    Examples
    --------
    >>> from pnorm import bounds
    >>> curve = bounds.margin_curve([3.0, 2.0, 0.5], [1.0, 0.0], 2, [0.25, 1.5])
    >>> curve.error.round(3), curve.ramp.round(3)
    (array([0.236, 0.527]), array([0.236, 0.351]))

    The same with labels:

    >>> bounds.margin_curve([3.0, 2.0, 0.5, 1.0, 0.0], p=2, thetas=[0.25, 1.5], y=[1, 1, 1, 0, 0]).error.round(3)
    array([0.236, 0.527])
    """
    f_pos, f_neg, *_ = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label)
    f_pos, f_neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    if thetas is None:
        raise TypeError("thetas is missing; pass one or more margins above 0, in units of the scores")
    margins = np.sort(_checks.vector(thetas, "thetas", None, "one margin each"))
    if margins.size == 0 or not margins[0] > 0.0:
        raise ValueError(f"thetas must be one or more margins above 0; got {thetas!r}")
    error = np.array([float(metrics.p_norm_risk(f_pos, f_neg, p, theta)) for theta in margins])
    ramp = np.array([float(metrics.p_norm_risk(f_pos, f_neg, p, theta, ramp=True)) for theta in margins])
    share = _checks.probability(delta, "delta") / margins.size
    if log_covering is None:
        return MarginCurve(margins, error, ramp, None, None, None, None)
    sizes = f_pos.size, f_neg.size
    epsilon = np.array([float(push_epsilon(share, theta, p, *sizes, log_covering)) for theta in margins])
    total = ramp + epsilon
    i = int(total.argmin())
    return MarginCurve(margins, error, ramp, epsilon, total, float(margins[i]), Bound(total[i], bool(total[i] >= 1.0)))
