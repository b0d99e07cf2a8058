"""Rates and errors of regularized ranking in a space with a kernel, and steps of its descent."""

from __future__ import annotations

import math
from typing import Literal

from pnorm import _checks
from pnorm.bounds._bound import Bound
from pnorm.bounds._held_out import _log_share
from pnorm.objectives._growth import bounded, largest_difference, largest_step, theorem
from pnorm.objectives._pair_loss import PairLoss


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
