"""The Bregman geometry behind COLT 2006, Theorem 3: the distance that training shortens.

Arrays over pairs have shape (I, K): rows are positives, columns negatives. S_k is the sum of column k. The functions
form these arrays, so they are for small problems.
"""

from __future__ import annotations

import numpy as np

from pnorm import _checks
from pnorm._checks import Array, Numbers


def phi(q: Numbers, p: float) -> float:
    """Compute phi, the convex function whose Bregman distance training shortens.

    It is::

        φ(q) = Σ_ik q_ik ln(q_ik / (p^(1/p) (Σ_j q_jk)^((p - 1)/p))),    0 ln 0 = 0

    At p = 1, phi is the negative entropy.

    Parameters
    ----------
    q : array_like, shape (I, K)
        One number per pair, zero or more.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.

    Returns
    -------
    float
        The value of phi, in O(I K).

    Raises
    ------
    ValueError, TypeError
        If `q` is not a matrix of finite numbers, zero or more.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix B.

    Examples
    --------
    >>> from pnorm.diagnostics import phi
    >>> phi([[1.0, 2.0], [0.0, 2.0]], p=1)
    2.772588722239781
    """
    from scipy.special import xlogy

    p, q = _checks.power(p), _checks.pairs(q, "q")
    total = q.sum(axis=0)
    entropy = xlogy(q, q).sum() - (p - 1.0) / p * xlogy(total, total).sum()
    return float(entropy - np.log(p) / p * total.sum())


def bregman_distance(a: Numbers, b: Numbers, p: float) -> float:
    """Compute the Bregman distance of `phi` from b to a.

    With S^a and S^b for the sums of the columns of a and b, it is::

        B(a, b) = φ(a) - φ(b) - <∇φ(b), a - b>
                = Σ_k [Σ_i a_ik ln(a_ik S^b_k / (b_ik S^a_k))
                       + 1/p · (S^a_k ln(S^a_k / S^b_k) - S^a_k + S^b_k)]

    The second form is computed. Its terms are all nonnegative, so small distances keep their digits.
    ``B(0, q) = F_p(λ) / p`` for ``q_ik = q'_ik (Σ_j q'_jk)^(p - 1)``, ``q'_ik = exp(-(f(x_i) - f(x̃_k)))``.

    Parameters
    ----------
    a : array_like, shape (I, K)
        One number per pair, zero or more.
    b : array_like, shape (I, K)
        One number per pair, zero or more.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.

    Returns
    -------
    float
        Zero or more; zero only if a = b. It is inf if some pair has b = 0 and a > 0.

    Raises
    ------
    ValueError, TypeError
        If `a` and `b` are not matrices of finite numbers, zero or more, with the same shape.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix B.

    Examples
    --------
    >>> from pnorm.diagnostics import bregman_distance
    >>> bregman_distance([[0.0, 0.0]], [[1.0, 16.0]], p=4)
    4.25
    """
    from scipy.special import kl_div

    p = _checks.power(p)
    a, b = _checks.pairs(a, "a"), _checks.pairs(b, "b")
    if a.shape != b.shape:
        raise ValueError(f"a and b must have the same shape; got {a.shape} and {b.shape}")
    sum_a, sum_b = a.sum(axis=0), b.sum(axis=0)
    # The columns of b scaled to the sums of a. The ratio of two sums may overflow, so its square root is applied twice.
    root = np.sqrt(sum_a) / np.sqrt(np.maximum(sum_b, np.finfo(float).tiny))
    level = b * root * root
    return float(kl_div(a, level).sum() + kl_div(sum_a, sum_b).sum() / p)


def legendre_bregman_projection(q: Numbers, v: Numbers, p: float) -> Array:
    """Compute the point at which the gradient of `phi` equals its gradient at q plus v.

    The point L(q, v) is::

        L(q, v)_ik = exp(v_ik) q_ik (Σ_j exp(v_jk) q_jk / Σ_j q_jk)^(p - 1)

        ∇φ(L(q, v)) = ∇φ(q) + v

    From ``q_0 = I^(p - 1)`` for every pair, ``v = -Mλ`` leads to the q of the coefficients λ.

    Parameters
    ----------
    q : array_like, shape (I, K)
        One number per pair, zero or more.
    v : array_like, shape (I, K)
        The change of the gradient; any finite numbers.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.

    Returns
    -------
    ndarray, shape (I, K)
        The projection, computed in logarithms; inf if it is above the largest double.

    Raises
    ------
    ValueError, TypeError
        If `q` and `v` are not matrices of finite numbers with the same shape, or if `q` has a negative number.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, Appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> from pnorm.diagnostics import legendre_bregman_projection
    >>> legendre_bregman_projection([[1.0], [1.0]], np.log([[2.0], [4.0]]), p=3)
    array([[18.],
           [36.]])
    """
    from scipy.special import logsumexp

    p = _checks.power(p)
    q = _checks.pairs(q, "q")
    v = np.asarray(_checks.matrix(v, "v"), dtype=np.float64)
    if q.shape != v.shape:
        raise ValueError(f"q and v must have the same shape; got {q.shape} and {v.shape}")
    with np.errstate(divide="ignore"):
        log_q = np.log(q)
    empty = ~(q > 0.0).any(axis=0)
    log_q[:, empty] = 0.0
    moved = v + log_q
    rise = logsumexp(moved, axis=0) - logsumexp(log_q, axis=0)
    with np.errstate(over="ignore"):
        projection = np.exp(moved + (p - 1.0) * rise)
    projection[:, empty] = 0.0
    return np.asarray(projection)


def primal_objective(P: Numbers, p: float) -> float:
    """Compute the primal objective of COLT 2006, the Bregman distance from the start of training.

    It is::

        B(P, q_0) = Σ_ik P_ik ln(P_ik / (p^(1/p) (Σ_j P_jk)^((p - 1)/p)))
                    - (1 - ln p)/p · Σ_ik P_ik + I^p K / p

        q_0 = I^(p - 1)

    Its minimiser over all P with ``Pᵀ M = 0`` is q*, the limit of training. At p = 1 it is the unnormalised relative
    entropy to the constant 1.

    Parameters
    ----------
    P : array_like, shape (I, K)
        One number per pair, zero or more.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.

    Returns
    -------
    float
        Zero or more.

    Raises
    ------
    ValueError, TypeError
        If `P` is not a matrix of finite numbers, zero or more, or if I ** (p - 1) overflows.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006, the end of Appendix B.

    Examples
    --------
    >>> from pnorm.diagnostics import primal_objective
    >>> primal_objective([[4.0, 4.0], [4.0, 4.0]], p=3)
    0.0
    >>> primal_objective([[0.0, 0.0], [0.0, 0.0]], p=3)
    5.333333333333333
    """
    p, P = _checks.power(p), _checks.pairs(P, "P")
    log_start = (p - 1.0) * np.log(P.shape[0])
    if log_start > 600.0:
        raise ValueError(f"I ** (p - 1) = {P.shape[0]} ** {p - 1:g} overflows; pass a smaller p or fewer rows")
    return bregman_distance(P, np.full(P.shape, np.exp(log_start)), p)
