"""The steps to which the theorem of Chen, He and Pan applies."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from pnorm import _checks
from pnorm.objectives._growth import theorem


class Schedule(NamedTuple):
    """The steps of Theorem 2.1: the number t of the iterate, the penalty, and the first step.

    Examples
    --------
    >>> import pnorm
    >>> steps = pnorm.kernel.schedule(5000, 5000, "logistic", kappa=1.0, s=2.0, theta=0.5, gamma=0.2)
    >>> steps.t, round(steps.lam, 4), round(steps.eta, 4)
    (625, 0.2759, 0.0833)
    """

    t: int
    lam: float
    eta: float


def schedule(
    n_pos: int,
    n_neg: int,
    loss: Literal["logistic", "squared", "hinge", "squared_hinge"],
    kappa: float,
    s: float,
    theta: float,
    gamma: float,
    eta_star: float | None = None,
) -> Schedule:
    """Return the number of steps, the penalty and the step size to which Theorem 2.1 applies.

    With ``N = m n / (m + n)^(3/2)`` the conditions are::

        N^s ≤ t ≤ 2 N^s,    λ = t^(-γ),    η_1 = η* λ^max(q - 2, 0),    0 < η* ≤ 1/Δ*

        Δ* = 1 + 4 κ² (M + |φ'(0)| + C_0 (8 κ² |φ'(0)|)^(q - 1))

        M = sup |φ'(u) - φ'(0)| / |u|  over  |u| ≤ 1

    with φ' the left derivative of the loss. Then ``‖f_t - f_λ‖²`` falls like ``N^(-α)``, with the alpha of
    `pnorm.bounds.rate`.

    Parameters
    ----------
    n_pos, n_neg : int
        m and n.
    loss : {"logistic", "squared", "hinge", "squared_hinge"}
        phi; q is 1, 2, 1, 2, and C_0 is 2, 2, 1, 2.
    kappa : float
        The largest ``sqrt(K(x, x))``, above 0; 1 for "rbf" and "laplacian".
    s : float
        Exponent of the number of steps, above 0.
    theta : float
        Exponent by which steps shrink, above 0 and below 1.
    gamma : float
        Exponent by which the penalty shrinks, above 0 and below (1 - theta) / max(q - 1, 1).
    eta_star : float, optional
        ``η*``; by default ``1/Δ*``.

    Returns
    -------
    t : int
        The smallest t that satisfies the conditions. f_t is the function after t - 1 steps,
        ``train(..., lam=lam, eta=eta, theta=theta, t_max=t - 1)``.
    lam : float
        λ.
    eta : float
        η_1.

    Raises
    ------
    ValueError, TypeError
        If a condition of the theorem fails, or if N is below 1, where the theorem is empty.

    See Also
    --------
    pnorm.bounds.rate : The exponent.
    pnorm.bounds.step_condition : The largest step for which the proof works; it is larger than this one.

    Notes
    -----
    Three errors of the source are corrected. The text of (2.2) has the factor C_0 in another place. That contradicts
    the proof, (3.36) and (3.37), and Table 1 of the paper, which has ``1 + 11 κ²`` for the logistic loss and
    ``1 + 8 κ²`` for the hinge. The condition on gamma has a minimum where the proof has a maximum. Table 1 has ``t^2``
    for ``(1 - t)^2``, with which training would never leave ``f_1 = 0``.

    References
    ----------
    .. [1] H. Chen, F. He, Z. Pan, "Approximation Analysis of Gradient Descent Algorithm for Bipartite Ranking",
       Journal of Applied Mathematics 2012, 189753, Theorem 2.1, (2.2) and (2.3).

    Examples
    --------
    >>> import pnorm
    >>> t, lam, eta = pnorm.kernel.schedule(5000, 5000, "logistic", kappa=1.0, s=2.0, theta=0.5, gamma=0.2)
    >>> t, round(lam, 4), round(eta, 4)
    (625, 0.2759, 0.0833)
    """
    m, n = _checks.count(n_pos, "n_pos", 1), _checks.count(n_neg, "n_neg", 1)
    size = _checks.positive(kappa, "kappa")
    phi, growth, grow, _, decay = theorem(loss, s, theta, gamma)
    log_n = math.log(m) + math.log(n) - 1.5 * math.log(m + n)
    if log_n < -1e-12:
        raise ValueError(
            f"the theorem does not apply to {_checks.shown(m)} and {_checks.shown(n)} rows: "
            f"m n / (m + n)^(3/2) is {math.exp(log_n):.3g} and must be "
            "at least 1, as it is for 8 and 8 rows"
        )
    if grow * log_n > 36.0:
        raise ValueError(f"s = {s!r} gives e^{grow * log_n:.3g} steps; pass a smaller s")
    t = max(1, math.ceil(math.exp(grow * log_n) * (1.0 - 1e-12)))
    lam = float(t) ** -decay
    slope = phi.steepest(0.0)
    inner = phi.change(1.0) + slope + growth.factor * (8.0 * size * size * slope) ** (growth.q - 1)
    largest = 1.0 / (1.0 + 4.0 * size * size * inner)
    star = largest if eta_star is None else _checks.positive(eta_star, "eta_star")
    if star > largest * (1.0 + 1e-12):
        raise ValueError(f"eta_star must be at most 1 / Delta* = {largest:g} for the {phi.name} loss; got {eta_star!r}")
    return Schedule(t, lam, star * lam ** max(growth.q - 2, 0))
