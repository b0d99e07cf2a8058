"""What the analysis of gradient descent in a kernel space asks of a loss phi: how fast it grows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pnorm import _checks


@dataclass(frozen=True)
class Growth:
    """Facts of a loss; derivatives are from the left."""

    q: int
    """Its derivative grows at most as (1 + |u|)**(q - 1)."""
    factor: float
    """C_0: |phi(u)| <= C_0 (1 + |u|)**q and |phi'(u)| <= C_0 (1 + |u|)**(q - 1)."""
    at_zero: float
    """phi(0)."""
    slope: float
    """|phi'(0)|."""
    steepest: Callable[[float], float]
    """The largest |phi'| between -u and u."""
    largest: Callable[[float], float]
    """The largest phi between -u and u."""
    change: Callable[[float], float]
    """M: the largest |phi'(x) - phi'(0)| / |x| for x between -u and u."""


def _parabola() -> Growth:
    return Growth(2, 2.0, 1.0, 2.0, lambda u: 2.0 * (1.0 + u), lambda u: (1.0 + u) * (1.0 + u), lambda u: 2.0)


GROWTH = {
    "squared": _parabola(),
    "squared_hinge": _parabola(),
    "logistic": Growth(
        1,
        2.0,  # that of the paper's table; 1 would do
        math.log(2.0),
        0.5,
        lambda u: 1.0 / (1.0 + math.exp(-u)),
        lambda u: u + math.log1p(math.exp(-u)),
        lambda u: 0.25,
    ),
    "hinge": Growth(1, 1.0, 1.0, 1.0, lambda u: 1.0, lambda u: 1.0 + u, lambda u: 1.0 if u > 1.0 else 0.0),
}


def growth(loss: Any) -> Growth:
    """Check the name of a loss and return its facts."""
    return GROWTH[_checks.choice(loss, "loss", GROWTH)]


def theorem(loss: Any, s: Any, theta: Any, gamma: Any) -> tuple[Growth, float, float, float]:
    """Check what Theorem 2.1 asks of the loss and its three exponents; return the facts and the exponents."""
    facts = growth(loss)
    grow, shrink, decay = (
        _checks.positive(s, "s"),
        _checks.probability(theta, "theta"),
        _checks.positive(gamma, "gamma"),
    )
    most = (1.0 - shrink) / max(facts.q - 1, 1)
    if not decay < most:
        raise ValueError(
            f"gamma must be below (1 - theta) / max(q - 1, 1) = {most:g} for the {loss} loss; got {gamma!r}"
        )
    return facts, grow, shrink, decay


def largest_step(change: float, lam: float, kappa: float) -> float:
    """The largest step of Lemma 3.4, 1 / (4 kappa^2 M + lambda)."""
    return 1.0 / (4.0 * kappa * kappa * change + lam)


def reach(slope: float, lam: float, kappa: float) -> float:
    """The largest |f(x) - f(x')| of a function in the ball of Lemma 3.4: where M is taken."""
    return 4.0 * kappa * kappa * slope / lam
