"""Formulas of the analysis of gradient descent in a kernel space, which depend on the growth of the loss."""

from __future__ import annotations

import math
from typing import Any

from pnorm import _checks
from pnorm.objectives._losses import LOSSES
from pnorm.objectives._pair_loss import Growth, PairLoss


def bounded(loss: Any) -> tuple[PairLoss, Growth]:
    """Check a loss that is known to grow no faster than a power, and return it with its growth."""
    known = [other.name for other in LOSSES.values() if other.growth is not None and other.growth.q < math.inf]
    found = loss if isinstance(loss, PairLoss) else LOSSES[_checks.choice(loss, "loss", known)]
    if found.growth is None or found.growth.q == math.inf:
        raise ValueError(
            f"loss must be one of {', '.join(map(repr, known))}, which grow no faster than a known power; got {found!r}"
        )
    return found, found.growth


def theorem(loss: Any, s: Any, theta: Any, gamma: Any) -> tuple[PairLoss, Growth, float, float, float]:
    """Check the conditions of Theorem 2.1 on a loss and three exponents; return them and the growth of the loss."""
    found, growth = bounded(loss)
    grow, shrink = _checks.positive(s, "s"), _checks.probability(theta, "theta")
    decay = _checks.positive(gamma, "gamma")
    most = (1.0 - shrink) / max(growth.q - 1, 1)
    if not decay < most:
        raise ValueError(
            f"gamma must be below (1 - theta) / max(q - 1, 1) = {most:g} for the {found.name} loss; got {gamma!r}"
        )
    return found, growth, grow, shrink, decay


def largest_step(change: float, lam: float, kappa: float) -> float:
    """Return the largest step of Lemma 3.4, 1 / (4 kappa^2 M + lambda)."""
    return 1.0 / (4.0 * kappa * kappa * change + lam)


def largest_difference(slope: float, lam: float, kappa: float) -> float:
    """Return the largest |f(x) - f(x')| of a function in the ball of Lemma 3.4, on which M is taken."""
    return 4.0 * kappa * kappa * slope / lam
