"""Prices of the height of a negative."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Vector

_SUM_ERROR = 1e-14
"""Relative rounding error of a sum of losses."""


class Price:
    """A price defined by you: a function of the height r that is zero or more, and convex in r, its root or ln r.

    The objective is::

        R = Σ_k g(S_k),    S_k = Σ_i ℓ(f_i - f̃_k)

    A negative k pays g(S_k). S_k is the sum of losses that stands for its height, the number of positives not above it.

    Parameters
    ----------
    g : callable
        The price, of an array of numbers r >= 0, as an array of the same shape.
    dg : callable
        The derivative of `g`. At a corner it may be any number between the derivatives on either side.
    name : str
        The name of the price in messages.
    check : bool
        Whether to compare `g` and `dg` on sample points, zero and 1e-6 to 1e6. A price must be zero or more. It must be
        convex, or rise and be convex in ln r. The derivative must match. Points with non-finite values are left out.
        Without the checks, a price may also be used if the objective is not convex; training then finds a stationary
        point.

    Attributes
    ----------
    smooth : bool
        Whether `dg` has no jumps between sample points. Training chooses its line search by this.
    increasing : bool
        Whether `dg` is nowhere below zero on the sample points. If it is false, R is not a convex function of the
        coefficients, and training finds a stationary point.
    root : float
        The least q of 1, 2 and inf such that g is convex in ``r^(1/q)``, or in ln r, on the sample points. If g
        increases, R is convex with every loss of that `root` or a larger one.

    Raises
    ------
    ValueError, TypeError
        If a check fails; the message names the point.

    See Also
    --------
    Power, Exponential, Linear : Prices in the log domain, which do not overflow.

    Notes
    -----
    A composition g(S(λ)) is convex if g is convex and increases and S is convex. A weaker condition is enough if roots
    or logarithms of losses are convex. Then ``S^(1/q) = (Σ_i ℓ_i)^(1/q)``, a norm, or ln S, a log-sum-exp, is convex as
    well. It is then enough that ``g(t^q)`` or ``g(exp(t))`` is convex and increases in t [1]_.

    References
    ----------
    .. [1] S. Boyd and L. Vandenberghe, "Convex Optimization", 2004, section 3.2.4.

    Examples
    --------
    A price that does not charge for the first three positives below a negative:

    >>> import numpy as np
    >>> import pnorm
    >>> forgiving = pnorm.objectives.Price(
    ...     lambda r: np.maximum(r - 3, 0) ** 2, lambda r: 2 * np.maximum(r - 3, 0), name="forgiving"
    ... )
    >>> forgiving.increasing
    True

    A price that is lowest at a height of three is accepted. A price that fails the checks is refused:

    >>> pnorm.objectives.Price(lambda r: (r - 3) ** 2, lambda r: 2 * (r - 3)).increasing
    False
    >>> pnorm.objectives.Price(lambda r: r / (1 + r), lambda r: 1 / (1 + r) ** 2, name="share")
    Traceback (most recent call last):
    ValueError: g of share is not convex in r, nor rising and convex in ln r: at r = 1 it is 0.5, above its chord from
        0.794 to 1.26

    A price that needs a loss whose logarithm is convex, such as the exponential loss:

    >>> pnorm.objectives.Price(np.log1p, lambda r: 1 / (1 + r), name="log").root
    inf
    """

    power: float = 1.0
    """R ** (1 / power) is convex in the coefficients, for every convex loss, if the price increases."""
    log_convex = False
    """Whether log R is convex in the coefficients."""
    smooth = True
    """Whether it has a derivative everywhere."""
    root = 1.0
    checked = True
    """Whether a loss that makes the objective non-convex is refused."""
    forgiving = False
    """Whether it is lowest at some height above zero."""

    def __init__(
        self, g: Callable[[Any], Any], dg: Callable[[Any], Any], *, name: str = "a user's price", check: bool = True
    ) -> None:
        self._g = _checks.Vectorised(g, "g", name)
        self._dg = _checks.Vectorised(dg, "dg", name)
        self.name = str(name)
        points = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 121), np.arange(2.0, 31.0)])
        points = np.unique(points)
        if check:
            _checks.convex(self._g, self._dg, points, name, "r")
        self.checked = check
        self.root = _checks.root_of_price(self._g, points)
        points, slopes, corners = _checks.sampled(self._dg, points, check)
        self.smooth = not corners
        self.increasing = bool(points.size and (slopes >= 0.0).all())
        self.forgiving = bool((slopes[(points > 0.0) & (points <= 1e-5)] == 0.0).any())

    def log_terms(self, log_s: Vector) -> tuple[Vector, Vector, Vector | float]:
        """Return log g(S), log |g'(S)| and the sign of g'(S), given log S."""
        with np.errstate(over="ignore", divide="ignore"):
            s = np.exp(log_s)
            if not np.isfinite(s).all():
                raise OverflowError(
                    f"a sum of losses is e^{float(log_s.max()):.4g}, too large for a double. Scale the weak rankers or "
                    "the coefficients (lam) down"
                )
            g, slope = self._g(s), self._dg(s)
            if not self.increasing:  # at the minimum of the price, rounding of S must not decide the sign
                below, above = self._dg(s * (1.0 - _SUM_ERROR)), self._dg(s * (1.0 + _SUM_ERROR))
                slope = np.where(np.sign(below) == np.sign(above), slope, 0.0)
            if (g < 0.0).any():
                k = int(np.argmax(g < 0.0))
                raise ValueError(f"g of {self.name} is {g[k]:g} at r = {s[k]:g}; a price must be zero or more")
            if np.isinf(slope).any():
                raise OverflowError(
                    f"dg of {self.name} overflows at r = {s[np.isinf(slope)][0]:g}. Pass Power or Exponential, which "
                    "work in logarithms"
                )
            return np.log(g), np.log(np.abs(slope)), np.sign(slope)

    def log_of(self, r: Vector) -> Vector:
        """Return log g(r) of heights r."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self._g(r))

    def __repr__(self) -> str:
        return self.name


class Power(Price):
    """The price ``r^p`` of the P-Norm Push, p >= 1.

    It is computed in the log domain, so no p overflows.

    Parameters
    ----------
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. A larger p gives more
        weight to the negatives near the top.

    Raises
    ------
    ValueError, TypeError
        If `p` is not a finite number of at least 1.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.objectives.Power(4)
    Power(4)
    """

    increasing = True

    def __init__(self, p: float) -> None:
        self.p = self.power = _checks.power(p)
        self.name = f"Power({self.power:g})"

    def log_terms(self, log_s: Vector) -> tuple[Vector, Vector, Vector | float]:
        if self.power == 1.0:
            return log_s, np.zeros_like(log_s), 1.0
        return self.power * log_s, math.log(self.power) + (self.power - 1.0) * log_s, 1.0

    def log_of(self, r: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return self.power * np.log(r)


class Linear(Power):
    """The price r, which counts all pairs equally, as in RankBoost. It equals ``Power(1)``.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.objectives.Linear()
    Power(1)
    >>> f_pos, f_neg = [1.0, 0.0], [0.5]
    >>> pnorm.objectives.value(f_pos, f_neg, pnorm.objectives.Linear()) == pnorm.objectives.value(f_pos, f_neg)
    True
    """

    def __init__(self) -> None:
        super().__init__(1.0)


class Exponential(Price):
    """The price ``exp(scale r)``; log R is then close to scale times the largest height.

    Heights are counts. With a scale of 1 and a thousand positives, prices range from 1 to ``exp(1000)``, and almost
    only the top negative counts. A scale of a few times ``1 / I`` spreads the weight over more negatives.

    Parameters
    ----------
    scale : float
        Factor of the height in the exponent, above zero.

    Raises
    ------
    ValueError, TypeError
        If `scale` is not a finite number above zero.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.objectives.Exponential(0.01)
    Exponential(0.01)
    """

    increasing = True
    log_convex = True

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = _checks.real(scale, "scale")
        if not self.scale > 0.0:
            raise ValueError(f"scale must be above zero; got {scale!r}")
        self.name = f"Exponential({self.scale:g})"

    def log_terms(self, log_s: Vector) -> tuple[Vector, Vector, Vector | float]:
        with np.errstate(over="ignore"):
            exponents = self.scale * np.exp(log_s)
        return exponents, math.log(self.scale) + exponents, 1.0

    def log_of(self, r: Vector) -> Vector:
        return self.scale * r


def price_of(price: Any) -> Price:
    """Check a price and return it."""
    if not isinstance(price, Price):
        raise TypeError(
            f"price must be one of pnorm.objectives, such as Linear(), Power(4) or Exponential(0.1); got {price!r}"
        )
    return price
