"""Bounds on the expected ranking accuracy and on the AUC by counts of labels."""

from __future__ import annotations

import math

import numpy as np

from pnorm import _checks
from pnorm._checks import Numbers, Vector
from pnorm.bounds._bound import Bound
from pnorm.bounds._held_out import _log_share
from pnorm.bounds._push import _sizes


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
