"""Bounds from held-out rows: the deviation of the AUC and of the push from their means."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from pnorm import _checks
from pnorm.bounds._bound import Bound
from pnorm.bounds._push import _confidence, _least_size, _push_failure, _sizes, push_epsilon, push_sample_size


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


def _log_share(delta: Any, parts: float) -> float:
    return math.log(_checks.probability(delta, "delta")) - math.log(parts)
