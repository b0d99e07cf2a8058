"""Generalisation bounds: guarantees of the theory for new rows, as numbers.

Each function evaluates a statement of a paper, or a part of one, for given numbers of rows. All of them assume that
rows are independent draws, positives from one distribution and negatives from another. The class of functions, the
confidence and the margin must be fixed before looking at the rows.

Functions named ``held_out_...`` are for rows that were not used in training. The class is then a single function, and
the bounds are much smaller. Most other bounds are loose. A bound is vacuous if it holds without any theory: an error of
at most 1 or more, a probability of at least 0 or less. Guarantees are of type `Bound`, a float with the attribute
`vacuous`. A vacuous bound prints as such. Bounds are computed in logarithms where they would overflow otherwise.

There are three sources: the P-Norm Push (C. Rudin, COLT 2006 and TR2005-874), the area under the ROC curve (S. Agarwal,
S. Har-Peled, D. Roth, AISTATS 2005), and gradient descent in a kernel space (H. Chen, F. He, Z. Pan, Journal of Applied
Mathematics 2012). The number of positives is I or m, the number of negatives K or n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks, metrics
from pnorm._checks import Covering, Label, Labels, Numbers, Rows, Scores, Vector
from pnorm._checks.labelled import sides_of_scores
from pnorm.objectives._growth import bounded, largest_difference, largest_step, theorem
from pnorm.objectives._pair_loss import PairLoss

__all__ = [
    "Bound",
    "MarginCurve",
    "auc_bounds",
    "expected_ranking_accuracy_bound",
    "freund_bound",
    "held_out_auc_confidence",
    "held_out_auc_epsilon",
    "held_out_auc_sample_size",
    "held_out_auc_variance",
    "held_out_push_bound",
    "held_out_push_confidence",
    "held_out_push_epsilon",
    "held_out_push_sample_size",
    "is_rank_matrix",
    "log_covering_linear",
    "margin_curve",
    "push_confidence",
    "push_epsilon",
    "push_sample_size",
    "push_scaling",
    "random_labels_bound",
    "rank_matrix",
    "rank_matrix_count",
    "rank_shatter_exact",
    "rank_shatter_linear",
    "rate",
    "sample_deviation_bound",
    "sample_error_bound",
    "step_condition",
]


class Bound(float):
    """A bound: a float with the attribute `vacuous`. A vacuous one prints as ``1.2 (vacuous)``.

    Examples
    --------
    >>> from pnorm import bounds
    >>> found = bounds.push_epsilon(0.05, 0.1, 4, 10_000, 10_000, log_covering=0.0)
    >>> found, found.vacuous, found < 1
    (1.3655 (vacuous), True, False)
    """

    vacuous: bool
    """True if the bound holds trivially, such as a probability of at least 0."""

    def __new__(cls, value: float, vacuous: bool) -> Bound:
        """Make a float with the attribute `vacuous`."""
        made = super().__new__(cls, value)
        made.vacuous = bool(vacuous)
        return made

    def __reduce__(self) -> tuple[type[Bound], tuple[float, bool]]:
        return Bound, (float(self), self.vacuous)

    def __repr__(self) -> str:
        return f"{float(self):.6g}" + (" (vacuous)" if self.vacuous else "")


# The P-Norm Push --------------------------------------------------------------------------------------


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


# One function, fixed before looking at the rows -------------------------------------------------------


def held_out_auc_confidence(epsilon: float, n_pos: int, n_neg: int) -> Bound:
    """Return a lower bound of the probability that the AUC on held-out rows is near its expectation.

    For one scoring function f, with probability at least::

        1 - 2 exp(-2 m n ε² / (m + n))

    over the draw of m positives and n negatives, ``|Â(f) - A(f)| < ε``. A(f) is the probability that f ranks a positive
    above a negative; a tie counts one half. The function must be fixed before looking at these rows. It must be neither
    trained on them nor chosen with them.

    Parameters
    ----------
    epsilon : float
        The distance from the expectation, above 0.
    n_pos, n_neg : int
        m and n. They may be random, since the bound holds given the labels.

    Returns
    -------
    Bound
        A probability. Vacuous if it is 0 or less, or if epsilon is 1 or more.

    See Also
    --------
    held_out_auc_epsilon : The same statement, solved for epsilon.
    expected_ranking_accuracy_bound : A bound for all functions of a class, including those trained on the rows.

    Notes
    -----
    This is McDiarmid's inequality, which has two sides. One row of m positives changes the AUC by at most 1/m. For one
    side alone, such as ``A(f) > Â(f) - ε``, drop the 2 before the exponential.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 7 with the constants of Lemma 3.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.held_out_auc_confidence(0.1, 500, 500)
    0.986524
    """
    apart = _checks.positive(epsilon, "epsilon")
    change = _change(*_sizes(n_pos, n_neg))
    return _confidence(apart, math.log(2.0) - (2.0 * apart * apart / change if change else math.inf))


def _change(n_pos: int, n_neg: int) -> float:
    """Return 1/m + 1/n, the sum over the rows of the squares of the largest change of the AUC."""
    return 1 / n_pos + 1 / n_neg


def held_out_auc_epsilon(delta: float, n_pos: int, n_neg: int) -> Bound:
    """Bound the distance of the AUC on held-out rows from its expectation: `held_out_auc_confidence` for epsilon.

    With probability at least 1 - delta, for one f that was fixed before looking at the rows::

        |Â(f) - A(f)| < sqrt((m + n) ln(2/δ) / (2 m n))

    Parameters
    ----------
    delta : float
        The probability with which the bound may fail, between 0 and 1. For one side alone, pass twice that.
    n_pos, n_neg : int
        m and n.

    Returns
    -------
    Bound
        The distance. Vacuous if it is 1 or more.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 7 with the constants of Lemma 3.

    Examples
    --------
    The bound for a class is four times as large, even if the function is its only member:

    >>> from pnorm import bounds
    >>> bounds.held_out_auc_epsilon(0.05, 200, 200)
    0.13581
    >>> bounds.expected_ranking_accuracy_bound(200, 200, 0.05, log_shatter=0.0)
    0.592083
    """
    value = math.sqrt(-0.5 * _change(*_sizes(n_pos, n_neg)) * _log_share(delta, 2.0))
    return Bound(value, value >= 1.0)


def held_out_auc_sample_size(delta: float, epsilon: float, ratio: float = 1.0) -> float:
    """Return the number of held-out negatives that give the AUC to within epsilon: `held_out_auc_confidence` for n.

    Parameters
    ----------
    delta : float
        The probability with which the bound may fail, between 0 and 1. For one side alone, pass twice that.
    epsilon : float
        The distance from the expectation, above 0.
    ratio : float
        m / n, the number of positives per negative.

    Returns
    -------
    int or float
        The least n. m is the whole part of ratio n, at least 1. Beyond 2**53 the result is a float that is slightly
        larger, and inf beyond 1e308.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 7 with the constants of Lemma 3.

    Examples
    --------
    >>> from pnorm import bounds
    >>> [bounds.held_out_auc_sample_size(0.05, epsilon) for epsilon in (0.1, 0.05, 0.01)]
    [369, 1476, 36889]
    """
    apart, share = _checks.positive(epsilon, "epsilon"), Fraction(_checks.positive(ratio, "ratio"))
    logs = -_log_share(delta, 2.0)
    return _least_size(lambda n_pos, n_neg: 2.0 * apart * apart >= _change(n_pos, n_neg) * logs, share)


def held_out_auc_variance(n_pos: int, n_neg: int) -> Bound:
    """Bound the variance of the AUC on held-out rows, for any distribution.

    The bound is::

        Var Â(f) ≤ (m + n) / (4 m n)

    for one f that was fixed before looking at the rows. The root of the bound is a bound on the standard error.

    Parameters
    ----------
    n_pos, n_neg : int
        m and n.

    Returns
    -------
    Bound
        The variance. Vacuous if it is 1/4 or more, since no variable between 0 and 1 has a larger variance.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Appendix A, Theorem 8 and step 1.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.held_out_auc_variance(200, 200)
    0.0025
    """
    value = 0.25 * _change(*_sizes(n_pos, n_neg))
    return Bound(value, value >= 0.25)


def held_out_push_confidence(epsilon: float, p: float, n_pos: int, n_neg: int) -> Bound:
    """Return a lower bound of the probability that the error exceeds that on held-out rows by less than epsilon.

    For one scoring function f, with probability at least::

        1 - 2 exp(-2 (ε/2)^(2p) K) - 2 exp(-ε² I / 2)

    over the draw of I positives and K negatives, ``error(f) < emp(f) + ε``: the error on the distribution is below the
    error on the rows (`pnorm.metrics.p_norm_risk`) plus epsilon. No margin is needed. The function must be fixed before
    looking at these rows. It must be neither trained on them nor chosen with them.

    Parameters
    ----------
    epsilon : float
        The excess, above 0.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    n_pos, n_neg : int
        I and K.

    Returns
    -------
    Bound
        A probability. Vacuous if it is 0 or less, or if epsilon is 1 or more, since errors are at most 1.

    See Also
    --------
    held_out_push_epsilon : The same statement, solved for epsilon.
    push_confidence : A bound for all functions of a class, including those trained on the rows.

    Notes
    -----
    The source states this side. Its proof bounds both sides, so ``|error(f) - emp(f)| < ε`` has the same probability.
    The same holds with the margin errors, or the ramp errors, in the place of both errors. It is Theorem 2 with a
    covering number of 1 and twice this epsilon. The gap in the proof that the notes of `push_confidence` describe is
    closed in the same way, since all these losses fall as the score of the positive rises.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix A, Lemma 4.
    .. [2] C. Rudin, "Ranking with a P-Norm Push", TR2005-874, 2005, Lemma 4.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.held_out_push_confidence(0.1, 1, 900, 900)
    0.955564
    """
    excess = _checks.positive(epsilon, "epsilon")
    return _confidence(excess, _push_failure(2.0 * excess, _checks.power(p), *_sizes(n_pos, n_neg), 0.0))


def held_out_push_epsilon(delta: float, p: float, n_pos: int, n_neg: int) -> Bound:
    """Bound the excess of the error over that on held-out rows: `held_out_push_confidence`, solved for epsilon.

    Parameters
    ----------
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    n_pos, n_neg : int
        I and K.

    Returns
    -------
    Bound
        The least epsilon, by bisection. Vacuous if it is 1 or more, since errors are at most 1.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix A, Lemma 4.

    Examples
    --------
    >>> from pnorm import bounds
    >>> [bounds.held_out_push_epsilon(0.05, p, 10_000, 10_000) for p in (1, 2, 4)]
    [0.0296041, 0.233075, 0.682752]
    """
    value = 0.5 * push_epsilon(delta, 1.0, p, n_pos, n_neg, 0.0)
    return Bound(value, value >= 1.0)


def held_out_push_sample_size(delta: float, epsilon: float, p: float, ratio: float = 1.0) -> float:
    """Return the number of held-out negatives that bound the excess by epsilon: `held_out_push_confidence` for K.

    Parameters
    ----------
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    epsilon : float
        The excess, above 0.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    ratio : float
        I / K, the number of positives per negative.

    Returns
    -------
    int or float
        The least K. I is the whole part of ratio K, at least 1. Beyond 2**53 the result is a float that is slightly
        larger, and inf beyond 1e308.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix A, Lemma 4.

    Examples
    --------
    >>> from pnorm import bounds
    >>> [bounds.held_out_push_sample_size(0.05, 0.2, p) for p in (1, 2, 4)]
    [220, 18445, 184443973]
    """
    return push_sample_size(delta, 2.0 * _checks.positive(epsilon, "epsilon"), 1.0, p, 0.0, ratio)


def held_out_push_bound(error: float, delta: float, p: float, n_pos: int, n_neg: int) -> Bound:
    """Bound the p-norm error on the distribution, given the error on held-out rows.

    With probability at least 1 - delta, for one f that was fixed before looking at the rows::

        error(f) ≤ (emp(f)^p + sqrt(ln(2/δ) / (2 K)))^(1/p) + sqrt(ln(2/δ) / (2 I))

    Here error(f) is the error on the distribution, and emp(f) is the argument `error`, the error on the rows.

    Parameters
    ----------
    error : float
        The error on the rows, ``pnorm.metrics.p_norm_risk(f_pos, f_neg, p)``, from 0 to 1.
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    n_pos, n_neg : int
        I and K.

    Returns
    -------
    Bound
        A bound on the error. Vacuous if it is 1 or more.

    Notes
    -----
    The proof of Lemma 4 bounds the deviation of ``error(f)^p`` over the negatives. It then takes the root by
    ``|a^(1/p) - b^(1/p)| ≤ |a - b|^(1/p)`` (Lemma 3). For p > 1 and a other than b, this is an equality only if a or b
    is 0. Here the error on the rows is known, so the root of the sum is taken instead. Both deviations are bounded on
    one side only.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix A, proof of Lemma 4 without equation (4).

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.held_out_push_bound(0.4, 0.05, 4, 10_000, 10_000)
    0.458488
    >>> bounds.held_out_push_epsilon(0.05, 4, 10_000, 10_000)  # would be added to 0.4
    0.682752
    """
    at_hand, logs = _checks.share(error, "error"), -_log_share(delta, 2.0)
    power, (m, n) = _checks.power(p), _sizes(n_pos, n_neg)
    value = (at_hand**power + math.sqrt(0.5 * logs * (1 / n))) ** (1.0 / power) + math.sqrt(0.5 * logs * (1 / m))
    return Bound(value, value >= 1.0)


# Rank matrices ----------------------------------------------------------------------------------------


def rank_matrix(
    f_pos: Scores, f_neg: Scores | None = None, *, y: Labels | None = None, pos_label: Label | None = None
) -> NDArray[np.float64]:
    """Return the bipartite rank matrix of a list: the order of every pair.

    The entry of the positive i and the negative k is::

        B_ik = 1[f_i > f̃_k] + 1/2 1[f_i = f̃_k]

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`.
    y, pos_label : optional
        With labels, ``rank_matrix(scores, y=y)``, the first argument holds all scores. The labels and the positive
        label are as in `pnorm.train`.

    Returns
    -------
    ndarray, shape (I, K)
        Entries 0, 1/2 and 1; their mean is the AUC.

    Raises
    ------
    ValueError, TypeError
        If a side is empty or is not a vector of finite numbers.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Definition 2.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.rank_matrix([2.0, 1.0], [1.0, 0.0])
    array([[1. , 1. ],
           [0.5, 1. ]])

    The same with labels:

    >>> bounds.rank_matrix([2.0, 1.0, 1.0, 0.0], y=[1, 1, 0, 0])
    array([[1. , 1. ],
           [0.5, 1. ]])
    """
    f_pos, f_neg, *_ = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label)
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    return np.asarray((pos[:, None] > neg) + 0.5 * (pos[:, None] == neg))


def is_rank_matrix(B: Numbers) -> bool:
    """Return whether some scores realise a matrix of 0, 1/2 and 1.

    Parameters
    ----------
    B : array_like, shape (m, n)
        Entries 0, 1/2 and 1.

    Returns
    -------
    bool
        Whether ``rank_matrix(f_pos, f_neg)`` is B for some scores. Negatives with larger column sums must be lower,
        which determines the order of all scores. Their rank matrix is compared with B. The cost is O(m n + n log n).

    Raises
    ------
    ValueError, TypeError
        If B is not a matrix of 0, 1/2 and 1.

    Notes
    -----
    By Theorem 1 of the source, two conditions are equivalent to this one. First, B has none of the forbidden 2 x 2
    sub-matrices. Second, take the graph with an edge from i to k where B is 1, from k to i where B is 0, and an
    undirected edge where B is 1/2. No cycle follows all directions and contains a directed edge.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 1.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.is_rank_matrix([[1, 0], [1, 0.5]]), bounds.is_rank_matrix([[1, 0], [0, 1]])
    (True, False)
    """
    A = _checks.matrix(B, "B")
    if _checks.is_sparse(A):
        A = A.toarray()
    if not np.isin(A, (0.0, 0.5, 1.0)).all():
        i, k = np.argwhere(~np.isin(A, (0.0, 0.5, 1.0)))[0]
        raise ValueError(f"B has {A[i, k]:g} at row {i}, column {k}; entries must be 0, 1/2 or 1")
    _, level = np.unique(-A.sum(axis=0), return_inverse=True)
    f_neg = 2.0 * level.reshape(-1)
    # The level of a row is the level that it ties with, else just above the highest level that it beats.
    tied = np.where(A == 0.5, f_neg, -np.inf).max(axis=1)
    beaten = np.where(A == 1.0, f_neg + 1.0, -1.0).max(axis=1)
    return np.array_equal(rank_matrix(np.where(np.isfinite(tied), tied, beaten), f_neg), A)


def rank_matrix_count(m: int, n: int) -> int:
    """Count the rank matrices of m positives and n negatives that some scores realise, psi(m, n).

    A list is a word over P, N and X. Each letter is a level, from the bottom: with positives only, negatives only, or
    both. Two P in a row, or two N, would be one level. Let W(a, b) be the number of words in which a levels contain
    positives and b contain negatives. Then::

        ψ(m, n) = Σ_ab W(a, b) a! S(m, a) b! S(n, b)

    where S are the Stirling numbers of the second kind: the factors count the ways to distribute the rows among the
    levels.

    Parameters
    ----------
    m, n : int
        Numbers of positives and of negatives, 1 or more.

    Returns
    -------
    int
        The exact count. The cost is O(m n) operations on integers with about (m + n) log(m + n) digits.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, section 4, where this number bounds the rank-shatter coefficient.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.rank_matrix_count(1, 1), bounds.rank_matrix_count(2, 2), bounds.rank_matrix_count(3, 3)
    (3, 51, 2067)
    """
    m, n = _checks.count(m, "m", 1), _checks.count(n, "n", 1)
    # No two P are adjacent, so a levels with positives need a // 2 levels with negatives; likewise for N.
    most_pos, most_neg = min(m, 2 * n + 1), min(n, 2 * m + 1)
    ways_pos, ways_neg = _surjections(m, most_pos), _surjections(n, most_neg)
    above: list[tuple[int, int, int]] = []
    total = 0
    for a in range(most_pos + 1):
        row: list[tuple[int, int, int]] = []  # words by their last letter: P, N, X
        for b in range(most_neg + 1):
            p = above[b][1] + above[b][2] if a else 0
            q = row[b - 1][0] + row[b - 1][2] if b else 0
            x = sum(above[b - 1]) if a and b else int(a == b == 0)
            row.append((p, q, x))
            total += (p + q + x) * ways_pos[a] * ways_neg[b]
        above = row
    return total


def _surjections(n: int, most: int) -> list[int]:
    """Return a! S(n, a) for a = 0 to `most`: the ways to distribute n rows among a levels, none empty."""
    row = [1] + [0] * most
    for _ in range(n):
        row = [0] + [a * (row[a - 1] + row[a]) for a in range(1, most + 1)]
    return row


def rank_shatter_linear(d: int, m: int, n: int) -> int:
    """Bound the number of rank matrices that linear scoring functions of d columns realise on m + n rows.

    The bound holds for any rows. For d = 1 it is exact, and there are 3 matrices: the order, its reverse, and all tied.
    Otherwise it is the smaller of two numbers: ψ(m, n) (`rank_matrix_count`), and the number of faces in the proof,
    with N = m n::

        Σ_{k=0..d} Σ_{i=d-k..d} C(i, d - k) C(N, i) = Σ_{i=0..d} 2^i C(N, i)

    which is at most ``3^N``, and at most the closed form ``(2 e N / d)^d`` if N is at least d. (The source states the
    closed form for all N; it fails for N < d.)

    Parameters
    ----------
    d, m, n : int
        Numbers of columns, of positives and of negatives, 1 or more.

    Returns
    -------
    int
        An upper bound on the rank-shatter coefficient r(F, m, n). psi is only computed if m n is at most 40,000.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 5.

    Examples
    --------
    >>> from pnorm import bounds
    >>> [bounds.rank_shatter_linear(d, 3, 3) for d in (1, 2, 3, 4)]
    [3, 163, 835, 2067]
    """
    d, m, n = (_checks.count(size, name, 1) for size, name in ((d, "d"), (m, "m"), (n, "n")))
    if d == 1:
        return 3
    faces, term = 0, 1
    for i in range(min(d, m * n) + 1):
        faces += term
        term = term * 2 * (m * n - i) // (i + 1)
    return min(faces, rank_matrix_count(m, n)) if m * n <= 40_000 else faces


def rank_shatter_exact(pos: Rows, neg: Rows) -> int:
    """Count the rank matrices that linear scoring functions realise on given rows, in exact arithmetic.

    A rank matrix is the vector of signs of ``<w, x_i - x̃_k>`` over the pairs. The count is therefore the number of
    faces into which hyperplanes through the origin cut the space of w. The lines in which hyperplanes meet are
    enumerated. All other faces are compositions of these lines. A composition X o Y has the signs of X where they are
    not 0, and else the signs of Y.

    Parameters
    ----------
    pos, neg : array_like, shapes (m, d) and (n, d)
        The rows. A float is taken as the exact binary number that it holds.

    Returns
    -------
    int
        The number of different ``rank_matrix(pos @ w, neg @ w)`` over all w, including w = 0.

    Raises
    ------
    ValueError, TypeError
        If there are too many rows. The count is feasible only for a few rows.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Definition 3.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.rank_shatter_exact([[0, 1], [1, 0]], [[0, 0], [2, 3]])
    17
    """
    P, Q = _exact(pos, "pos"), _exact(neg, "neg")
    _checks.same_width(pos, neg)
    if len(P) * len(Q) > 2000:
        raise ValueError(f"{len(P) * len(Q)} pairs are too many to count exactly; use rank_shatter_linear for a bound")
    normals = [[u - v for u, v in zip(x, y, strict=True)] for x in P for y in Q]
    columns = _echelon(normals)[1]  # independent columns; further columns change no sign vector
    normals = [[row[c] for c in columns] for row in normals]
    rank = len(columns)
    distinct = list(dict.fromkeys(tuple(x / next(filter(None, row)) for x in row) for row in normals if any(row)))
    if rank <= 2:  # no pair, one pair, or lines in a plane: rays, sectors, and the origin
        return (1, 3, 1 + 4 * len(distinct))[rank]
    most = sum(2**i * math.comb(len(distinct), i) for i in range(rank + 1))
    if most * math.comb(len(distinct), rank - 1) > 10**7:
        raise ValueError(
            f"{len(distinct)} pairs in {rank} dimensions are too many to count exactly; use rank_shatter_linear for a "
            "bound"
        )
    lines = set()
    for chosen in combinations(distinct, rank - 1):
        reduced, pivots = _echelon([list(row) for row in chosen])
        if len(pivots) == rank - 1:
            lines |= _both_ends(normals, reduced, pivots, rank)
    faces, waiting = {(0, 0)}, [(0, 0)]
    while waiting:
        plus, minus = waiting.pop()
        free = ~(plus | minus)
        for up, down in lines:
            face = plus | up & free, minus | down & free
            if face not in faces:
                faces.add(face)
                waiting.append(face)
    return len(faces)


def _exact(X: Any, name: str) -> list[list[Fraction]]:
    """Return rows as exact numbers."""
    if _checks.is_sparse(X):
        raise TypeError(f"{name} is sparse; pass a handful of dense rows")
    A = _checks.matrix(X, name, apart=False)
    if not isinstance(X, (list, tuple)):
        exact = np.asarray(X)
        X = (exact if exact.dtype.kind in "iuO" else A).tolist()
    return [[Fraction(value) for value in row] for row in X]


def _both_ends(
    normals: list[list[Fraction]], reduced: list[list[Fraction]], pivots: list[int], rank: int
) -> set[tuple[int, int]]:
    """Return the signs of all pairs along a line, the null space of rows in echelon form, both ways, as bits."""
    free = next(c for c in range(rank) if c not in pivots)
    w = [Fraction(0)] * rank
    w[free] = Fraction(1)
    for row, c in zip(reduced, pivots, strict=True):
        w[c] = -row[free]
    f = [sum(a * b for a, b in zip(row, w, strict=True)) for row in normals]
    plus, minus = (sum(1 << i for i, y in enumerate(f) if sign * y > 0) for sign in (1, -1))
    return {(plus, minus), (minus, plus)}


def _echelon(rows: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced row echelon form of a matrix, without rows of zeros, and its pivot columns."""
    rows, pivots = [list(row) for row in rows], list[int]()
    for c in range(len(rows[0]) if rows else 0):
        r = len(pivots)
        found = next((i for i in range(r, len(rows)) if rows[i][c]), None)
        if found is None:
            continue
        rows[r], rows[found] = rows[found], rows[r]
        rows[r] = [x / rows[r][c] for x in rows[r]]
        for i, row in enumerate(rows):
            if i != r and row[c]:
                rows[i] = [x - row[c] * y for x, y in zip(row, rows[r], strict=True)]
        pivots.append(c)
    return rows[: len(pivots)], pivots


# The area under the ROC curve -------------------------------------------------------------------------


def expected_ranking_accuracy_bound(n_pos: int, n_neg: int, delta: float, log_shatter: float) -> Bound:
    """Bound the distance of the AUC from its expectation for all functions of a class, with given numbers of rows.

    With probability at least 1 - delta, for all f of the class F at once::

        |Â(f) - A(f)| < sqrt(8 (m + n) (ln r(F, 2m, 2n) + ln(4/δ)) / (m n))

    where A(f) is the probability that f ranks a positive above a negative; a tie counts one half.

    Parameters
    ----------
    n_pos, n_neg : int
        m and n.
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    log_shatter : float
        ln r(F, 2m, 2n), at twice the sizes: ``math.log(rank_shatter_linear(d, 2 * m, 2 * n))``. The value 0 stands for
        a single function fixed before looking at the rows; `held_out_auc_epsilon` is a better bound for it.

    Returns
    -------
    Bound
        The distance. Vacuous if it is 1 or more.

    Notes
    -----
    Rows are independent draws, positives from one distribution and negatives from another. Both may be any
    distributions.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 2 and Corollary 1.

    Examples
    --------
    >>> import math
    >>> from pnorm import bounds
    >>> bounds.expected_ranking_accuracy_bound(5000, 5000, 0.01, math.log(3))
    0.150626
    """
    m, n = _sizes(n_pos, n_neg)
    logs = _checks.nonnegative(log_shatter, "log_shatter") - _log_share(delta, 4.0)
    value = math.sqrt(8.0 * (1 / m + 1 / n) * logs)
    return Bound(value, value >= 1.0)


def random_labels_bound(share: float, n_rows: int, delta: float, log_shatter: float) -> Bound:
    """Bound the distance of the AUC from its expectation for all functions of a class, with random labels.

    Rows and labels are drawn together, and a share rho of the rows is positive. With probability at least 1 - delta,
    for all f of the class F at once, the AUC on the rows differs from its expectation by less than::

        sqrt(8 (ln r(F, 2ρM, 2(1 - ρ)M) + ln(4/δ)) / (ρ (1 - ρ) M))

    Parameters
    ----------
    share : float
        rho, the share of positives among the rows, from 0 to 1.
    n_rows : int
        M, the number of rows.
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    log_shatter : float
        ln r(F, 2 rho M, 2 (1 - rho) M).

    Returns
    -------
    Bound
        The distance. Vacuous if it is 1 or more; inf if the rows have one class only.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 3.

    Examples
    --------
    >>> import math
    >>> from pnorm import bounds
    >>> bounds.random_labels_bound(0.1, 10_000, 0.01, math.log(3))
    0.251044
    """
    rho, rows = _checks.share(share, "share"), _checks.count(n_rows, "n_rows", 1)
    logs = _checks.nonnegative(log_shatter, "log_shatter") - _log_share(delta, 4.0)
    value = math.sqrt(8.0 * logs / (rho * (1.0 - rho)) * (1 / rows)) if 0.0 < rho < 1.0 else math.inf
    return Bound(value, value >= 1.0)


def freund_bound(
    n_pos: int, n_neg: int, delta: float, log_shatter_pos: float | None = None, log_shatter_neg: float | None = None
) -> Bound:
    """Bound the distance of the AUC from its expectation through classification errors, after Freund et al.

    With probability at least 1 - delta, for all f of the class F at once, the AUC on m positives and n negatives
    differs from its expectation by at most::

          2 sqrt((ln s(F̌, 2m) + ln(12/δ)) / m)
        + 2 sqrt((ln s(F̌, 2n) + ln(12/δ)) / n)

    where s counts the sign patterns of ``x -> sign(f(x) - f(z))``, over all f and z, on the given number of rows.

    Parameters
    ----------
    n_pos, n_neg : int
        m and n.
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    log_shatter_pos, log_shatter_neg : float, optional
        ln s at 2m and at 2n rows. None stands for linear functions of one column: s = 8m + 1 and 8n + 1.

    Returns
    -------
    Bound
        The distance. Vacuous if it is 1 or more.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 6.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.freund_bound(5000, 5000, 0.01)
    0.237902
    """
    total = 0.0
    for size, given, side in ((n_pos, log_shatter_pos, "pos"), (n_neg, log_shatter_neg, "neg")):
        rows = _checks.count(size, f"n_{side}", 1)
        log_s = math.log(8 * rows + 1) if given is None else _checks.nonnegative(given, f"log_shatter_{side}")
        total += 2.0 * math.sqrt((log_s - _log_share(delta, 12.0)) * (1 / rows))
    return Bound(total, total >= 1.0)


def auc_bounds(n_rows: Numbers, share: float, delta: float = 0.01) -> tuple[Vector, Vector]:
    """Return two bounds on the AUC of linear functions of one column, the data of Figure 1.

    Parameters
    ----------
    n_rows : array_like of int, shape (T,)
        M, total numbers of rows. Each must have at least one row of either class.
    share : float
        The share of positives, m / M.
    delta : float
        The probability with which the bound may fail, between 0 and 1.

    Returns
    -------
    ours, freund : ndarray, shape (T,)
        `expected_ranking_accuracy_bound` with r = 3, and `freund_bound`. With delta = 0.01 the first is smaller
        wherever either of them is below one half.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Figure 1.

    Examples
    --------
    >>> from pnorm import bounds
    >>> ours, freund = bounds.auc_bounds([1000, 10_000], share=0.5)
    >>> ours.round(3), freund.round(3)
    (array([0.476, 0.151]), array([0.702, 0.238]))
    """
    rho, pairs = _checks.share(share, "share"), []
    for total in [n_rows] if isinstance(n_rows, (int, np.integer)) else _checks.some_of(n_rows, "n_rows"):
        m = round(rho * _checks.real(_checks.count(total, "n_rows", 1), "n_rows"))
        n = total - m
        if min(m, n) < 1:
            raise ValueError(
                f"n_rows must give each class at least one row; got {total} rows, {m} of them positive by share"
            )
        pairs.append((expected_ranking_accuracy_bound(m, n, delta, math.log(3.0)), freund_bound(m, n, delta)))
    ours, freund = np.array(pairs, dtype=np.float64).T
    return ours, freund


def _log_share(delta: Any, parts: float) -> float:
    return math.log(_checks.probability(delta, "delta")) - math.log(parts)


# Gradient descent in a kernel space -------------------------------------------------------------------


def rate(
    loss: Literal["logistic", "squared", "hinge", "squared_hinge"],
    theta: float,
    gamma: float,
    s: float,
    beta: float | None = None,
) -> Bound:
    """Return the rate at which gradient descent approaches the best function, as an exponent of the number of rows.

    Take descent on the mean loss over all pairs (1.5), with ``N = m n / (m + n)^(3/2)``, a number t of steps between
    ``N^s`` and ``2 N^s``, step sizes ``η_t = η* λ^max(q - 2, 0) t^(-θ)``, and ``λ = t^(-γ)``. With high probability the
    squared distance ``‖f_t - f_λ‖²`` is at most a constant times ``N^(-α)``::

        α = min(s θ - s γ min(q + 1, 2q - 1), 1 - s γ (1 + q))

    Suppose that the squared distance of f_λ from the best function of all is at most a constant times ``λ^β``. Then the
    squared distance of f_t from the best function is at most a constant times ``N^(-α̃)``, ``α̃ = min(α, s γ β)``.

    Parameters
    ----------
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi; q is 1, 2, 1, 2: the derivative grows at most as ``(1 + |u|)^(q - 1)``.
    theta : float
        Exponent of the step sizes, between 0 and 1.
    gamma : float
        Exponent of lambda, above 0 and below (1 - theta) / max(q - 1, 1).
    s : float
        Exponent of the number of steps, above 0.
    beta : float, optional
        Exponent of the approximation error of the kernel space, between 0 and 1. None returns alpha, a number returns
        alpha tilde.

    Returns
    -------
    Bound
        The exponent. Vacuous if it is 0 or less, which proves no convergence.

    Notes
    -----
    eta* must be small enough for `step_condition` (2.2). The theorem has min{q - 1, 1} in the condition on gamma, but
    its proof has the maximum, which is used here. The theorem assumes a derivative, and the hinge has none at its
    corner; the proof only needs the left derivative.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, Theorem 2.1 (2.5) and Corollary 2.2 (2.7).

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.rate("logistic", theta=0.6, gamma=0.1, s=1), bounds.rate("squared", 0.6, 0.1, 1, beta=0.5)
    (0.5, 0.05)
    """
    _, (q, _), grow, shrink, decay = theorem(loss, s, theta, gamma)
    value = min(grow * (shrink - decay * min(q + 1, 2 * q - 1)), 1.0 - grow * decay * (1 + q))
    if beta is not None:
        value = min(value, grow * decay * _checks.probability(beta, "beta"))
    return Bound(value, value <= 0.0)


def step_condition(loss: Literal["logistic", "squared", "hinge", "squared_hinge"], lam: float, kappa: float) -> float:
    """Return the largest step size for which gradient descent in a kernel space stays in a ball.

    If no step is larger than::

        1 / (4 κ² M(λ) + λ)

        M(λ) = sup |φ'(u) - φ'(0)| / |u|  over  0 < |u| ≤ 4 κ² |φ'(0)| / λ

    then ``‖f_t‖ ≤ 2 κ |φ'(0)| / λ`` for all t and any rows.

    Parameters
    ----------
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi; M is 1/4, 2, 1, 2. For the hinge, M is 0 if u does not reach its corner.
    lam : float
        lambda, above 0: the penalty is ``λ/2 ‖f‖²``.
    kappa : float
        The largest ``sqrt(K(x, x))``, above 0.

    Returns
    -------
    float
        The largest step size.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, Definition 3.3 and Lemma 3.4.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.step_condition("logistic", lam=1.0, kappa=1.0)
    0.5
    """
    phi, _ = bounded(loss)
    penalty, size = _checks.positive(lam, "lam"), _checks.positive(kappa, "kappa")
    return largest_step(phi.change(largest_difference(phi.steepest(0.0), penalty, size)), penalty, size)


def sample_deviation_bound(
    loss: Literal["logistic", "squared", "hinge", "squared_hinge"],
    n_pos: int,
    n_neg: int,
    lam: float,
    kappa: float,
    delta: float,
) -> float:
    """Bound the deviation of the objective on the rows from its expectation, for all descent steps at once.

    With probability at least 1 - delta, for all t::

        E_S(f_λ) - E(f_λ) + E(f_t) - E_S(f_t)
            ≤ (4 L_r κ r + 2 φ(0) + M_r sqrt(2 ln(2/δ))) (m + n)^(3/2) / (m n)

    Here f_t are the iterates (1.5), E is the expected loss of a pair and E_S the mean loss over the rows,
    ``r = 2 κ |φ'(0)| / λ + sqrt(2 φ(0) / λ)``, and L_r and M_r are the largest ``|φ'|`` and φ between ``-2 κ r`` and
    ``2 κ r``.

    Parameters
    ----------
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi.
    n_pos, n_neg : int
        m and n.
    lam, kappa : float
        As in `step_condition`. The steps must satisfy its condition.
    delta : float
        The probability with which the bound may fail, between 0 and 1.

    Returns
    -------
    float
        The deviation, in units of the loss. It is useless if it is larger than any value of the loss. inf beyond 1e308.

    Notes
    -----
    The printed proof bounds a supremum on both sides and loses factors of 2. The value holds nevertheless, and is not
    tight: f_lambda is fixed, and a supremum on one side is enough.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, Lemma 3.6 (3.19).

    Examples
    --------
    >>> from pnorm import bounds
    >>> round(bounds.sample_deviation_bound("logistic", 10, 10, lam=1.0, kappa=1.0, delta=0.05), 2)
    19.54
    """
    m, n = (_checks.real(_checks.count(size, name, 1), name) for size, name in ((n_pos, "n_pos"), (n_neg, "n_neg")))
    lam, kappa = _checks.positive(lam, "lam"), _checks.positive(kappa, "kappa")
    phi, _ = bounded(loss)
    r = _radius(phi, lam, kappa)
    tail = phi.largest(2.0 * kappa * r) * math.sqrt(2.0 * -_log_share(delta, 2.0))
    spread = 4.0 * phi.steepest(2.0 * kappa * r) * kappa * r + 2.0 * phi.at_zero + tail
    return spread * math.exp(1.5 * math.log(m + n) - math.log(m) - math.log(n))


def _radius(phi: PairLoss, lam: float, kappa: float) -> float:
    """Return the radius of a ball that contains all f_t and the best function."""
    return 2.0 * kappa * phi.steepest(0.0) / lam + math.sqrt(2.0 * phi.at_zero / lam)


def sample_error_bound(
    loss: Literal["logistic", "squared", "hinge", "squared_hinge"],
    n_pos: int,
    n_neg: int,
    t: int,
    lam: float,
    kappa: float,
    eta1: float,
    theta: float,
    delta: float,
    f_lambda_norm: float | None = None,
) -> Bound:
    """Bound the squared distance of the iterate after t steps of gradient descent from the function it approaches.

    For steps ``η_t = η_1 t^(-θ)`` that meet `step_condition`, with probability at least 1 - delta for all t,
    ``‖f_t - f_λ‖²`` is at most, for theta < 1, with v = ``η_1 λ``::

          ‖f_λ‖² exp(-v / (1 - θ) · (t^(1 - θ) - 1))
        + 18 G² η_1 / (λ t^θ)
        + 9 G² η_1² t^(1 - θ) / ((1 - θ) 2^(1 - θ))
          · exp(-v (1 - 2^(θ - 1)) / (1 - θ) · (t + 1)^(1 - θ))
        + 6 B / λ

    and ``‖f_λ‖² t^(-v) + 8 G² η_1² / (1 - v) · (t + 1)^(-v) + 6 B / λ`` for theta = 1. B is `sample_deviation_bound`,
    ``G = 2 κ (L_r + |φ'(0)|)`` bounds the gradients, and f_λ minimises the expected loss plus ``λ/2 ‖f‖²``.

    Parameters
    ----------
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi.
    n_pos, n_neg : int
        m and n.
    t : int
        The number of the iterate, 1 or more; f_1 = 0.
    lam, kappa : float
        As in `step_condition`.
    eta1 : float
        The first step.
    theta : float
        Exponent of the step sizes, from 0 to 1.
    delta : float
        The probability with which the bound may fail, between 0 and 1.
    f_lambda_norm : float, optional
        ``‖f_λ‖``, if known. By default its upper bound is used, ``sqrt(2 φ(0) / λ)``.

    Returns
    -------
    Bound
        A squared distance. Vacuous if it is not below that of the zero function, where descent begins.

    Raises
    ------
    ValueError, TypeError
        If the first step is larger than `step_condition`, or theta is 1 and eta1 lam is not below 1.

    Notes
    -----
    Three errors of the source are corrected here. It omits the square of kappa in the condition on the steps, has
    ``2 κ L_r + κ |φ'(0)|`` for G, and has 2 where its proof has 9.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, Proposition 3.8.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.sample_error_bound("logistic", 10**7, 10**7, 10**9, lam=1.0, kappa=1.0, eta1=0.5, theta=0.5, delta=0.05)
    0.119771
    """
    lam, kappa = _checks.positive(lam, "lam"), _checks.positive(kappa, "kappa")
    phi, _ = bounded(loss)
    steps, shrink = float(_checks.count(t, "t", 1)), _checks.share(theta, "theta")
    first, largest = _checks.positive(eta1, "eta1"), step_condition(loss, lam, kappa)
    if first > largest * (1.0 + 1e-12):
        raise ValueError(
            f"eta1 must be at most 1 / (4 kappa^2 M + lam) = {largest:g} for the {phi.name} loss; got {eta1!r}. "
            "Pass a smaller first step"
        )
    trivial = 2.0 * phi.at_zero / lam
    norm = trivial
    if f_lambda_norm is not None:
        known = _checks.real(f_lambda_norm, "f_lambda_norm")
        if not 0.0 <= known <= math.sqrt(trivial) * (1.0 + 1e-12):
            raise ValueError(
                f"f_lambda_norm must be between 0 and sqrt(2 phi(0) / lam), {math.sqrt(trivial):g}; got {known:g}"
            )
        norm = known * known
    gradient = 2.0 * kappa * (phi.steepest(2.0 * kappa * _radius(phi, lam, kappa)) + phi.steepest(0.0))
    end, v = 6.0 * sample_deviation_bound(loss, n_pos, n_neg, lam, kappa, delta) / lam, first * lam
    moved = gradient * first
    if shrink == 1.0:
        if not v < 1.0:
            raise ValueError(f"eta1 * lam must be below 1 for theta = 1; got {v:g}")
        end += norm * steps**-v + 8.0 * moved * moved / (1.0 - v) * (steps + 1.0) ** -v
        return Bound(end, end >= norm)
    w = 1.0 - shrink
    end += norm * math.exp(-v / w * (steps**w - 1.0)) + 18.0 * gradient * gradient * first / (lam * steps**shrink)
    faded = math.exp(-v * (1.0 - 2.0**-w) / w * (steps + 1.0) ** w)
    end += 9.0 * moved * moved * faded * steps**w / (w * 2.0**w)
    return Bound(end, end >= norm)


def __dir__() -> list[str]:
    return __all__
