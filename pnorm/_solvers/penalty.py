r"""Penalties of coefficients, and signs that coefficients must have.

.. math:: \Omega(\lambda) = \sum_j l1_j |\lambda_j| + \tfrac12 l2_j \lambda_j^2, \qquad
          low_j \le \lambda_j \le high_j,

where every bound is zero or infinite. A coefficient with both bounds zero stays out of the score.

With an objective V and its slope g, minus the gradient, weak duality gives (Fenchel)

    V(lam) + Omega(lam) - inf <= Omega(lam) + Omega*(g) - <lam, g>.

The right side costs O(n) and is a sum of nonnegative terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector


@dataclass(frozen=True, eq=False)
class Penalty:
    """A penalty of n coefficients, and their bounds."""

    l1: Vector
    l2: Vector
    low: Vector
    """Zero or -inf."""
    high: Vector
    """Zero or inf."""
    told: str = ""
    """The weights that were given, in a few words."""

    @classmethod
    def of(
        cls,
        n: int,
        l1: float | Vector = 0.0,
        l2: float | Vector = 0.0,
        signs: NDArray[np.int8] | None = None,
        units: tuple[float | Vector, float | Vector] = (1.0, 1.0),
    ) -> Penalty:
        """The penalty of n coefficients; signs are 1 (at least zero), -1 (at most zero) or 0.

        `units` are the factors of l1 and l2; a product that overflows becomes the largest float.
        """
        signs = np.zeros(n, np.int8) if signs is None else signs
        low, high = np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)
        with np.errstate(over="ignore"):
            weights = [
                np.minimum(np.multiply(x, unit), np.finfo(float).max) for x, unit in zip((l1, l2), units, strict=True)
            ]
        both = [np.broadcast_to(x, n) for x in weights]
        given = [f"{name} = {x:.4g}" for name, x in (("l1", l1), ("l2", l2)) if isinstance(x, float) and x]
        return cls(both[0], both[1], low, high, ", ".join(given))

    def of_columns(self, which: NDArray[np.intp]) -> Penalty:
        """The penalty of some coefficients by themselves."""
        return Penalty(*[getattr(self, field)[which] for field in ("l1", "l2", "low", "high")])

    def enlarged(self, factor: float) -> Penalty:
        """The penalty with its l2 times a factor; with l1 times the factor too, if some coefficients have no l2."""
        l1 = self.l1 if self.is_bounded else factor * self.l1
        return self if factor == 1.0 else Penalty(l1, factor * self.l2, self.low, self.high)

    def bounds_alone(self) -> Penalty:
        """The bounds without a penalty."""
        nothing = np.zeros_like(self.l1)
        return Penalty(nothing, nothing, self.low, self.high)

    def only(self, kept: NDArray[np.bool_]) -> Penalty:
        """The penalty if all other coefficients stay zero."""
        return Penalty(self.l1, self.l2, np.where(kept, self.low, 0.0), np.where(kept, self.high, 0.0), self.told)

    @property
    def signs(self) -> NDArray[np.int8]:
        """1 for coefficients that are at least zero, -1 for those at most zero, else 0."""
        return np.where(self.low == 0.0, 1, 0).astype(np.int8) - np.where(self.high == 0.0, 1, 0).astype(np.int8)

    @cached_property
    def ridge(self) -> float | None:
        """The common weight of all squares, if there are no l1 and no bounds; else None."""
        return float(self.l2[0]) if self.is_smooth and (self.l2 == self.l2[0]).all() else None

    @property
    def is_smooth(self) -> bool:
        """Whether there are no bounds and no l1."""
        return not self.l1.any() and bool(np.isinf(self.low).all() and np.isinf(self.high).all())

    @property
    def is_bounded(self) -> bool:
        """Whether every coefficient that may move has a penalty on its square, so that a minimiser exists."""
        return bool((self.l2[self.low < self.high] > 0.0).all())

    def nearest(self, lam: Vector) -> Vector:
        """Return the nearest coefficients within the bounds."""
        return np.clip(lam, self.low, self.high) + 0.0  # no -0.0

    @np.errstate(over="ignore", invalid="ignore")  # a line search may try too large a step
    def value(self, lam: Vector) -> float:
        """Omega at coefficients within the bounds."""
        if self.ridge is not None:
            return 0.5 * self.ridge * float(lam @ lam) if self.ridge else 0.0
        return float(self.l1 @ np.abs(lam)) + 0.5 * float(self.l2 @ np.square(lam))

    def pull(self, slope: Vector) -> Vector:
        """Return the part of a slope beyond l1 and the bounds; it is zero where a coefficient of zero is best."""
        up = np.where(self.high > 0.0, np.maximum(slope - self.l1, 0.0), 0.0)
        down = np.where(self.low < 0.0, np.maximum(-slope - self.l1, 0.0), 0.0)
        return up - down

    def best(self, slope: Vector) -> Vector:
        """Return the coefficients that maximise <slope, lam> - Omega(lam), if all that may move have an l2."""
        return np.asarray(self.pull(slope) / np.where(self.l2 > 0.0, self.l2, 1.0))

    @np.errstate(over="ignore", invalid="ignore")  # steps may overflow
    def steepest(self, lam: Vector, slope: Vector) -> Vector:
        """Return the direction of steepest descent at coefficients within the bounds; zero at a minimiser."""
        inside = slope - self.l1 * np.sign(lam) - self.l2 * lam
        return np.where(lam != 0.0, inside, self.pull(slope))

    @np.errstate(over="ignore", invalid="ignore")
    def promised(self, lam: Vector, after: Vector, slope: Vector) -> float:
        """Return the fall from some coefficients to others that the slope and Omega predict."""
        change = np.abs(after) - np.abs(lam)
        squares = self.l2 * 0.5 * (after - lam) * (after + lam)
        return float((slope * (after - lam) - self.l1 * change - squares).sum())

    def excess(self, slope: Vector, error: Vector) -> Vector:
        """Return how far slopes, known up to an error, exceed l1 and the bounds; negative within them."""
        up = np.where(self.high > 0.0, slope, -np.inf)
        down = np.where(self.low < 0.0, -slope, -np.inf)
        return np.maximum(up, down) - self.l1 + error

    def gap(self, lam: Vector, slope: Vector, error: float | Vector = 0.0) -> float:
        """Bound Omega(lam) + Omega*(slope) - <lam, slope> for a slope known up to an error in each number.

        It is infinite if the slope of a coefficient without a penalty on its square exceeds l1 and the bounds.
        """
        if self.ridge:
            short = np.abs(self.ridge * lam - slope) + error
            return float(short @ short) / (2.0 * self.ridge)
        return float(np.maximum(self._gaps(lam, slope - error), self._gaps(lam, slope + error)).sum())

    def _gaps(self, lam: Vector, slope: Vector) -> Vector:
        """The gap of each coefficient: a convex function of its slope."""
        pull = self.pull(slope)
        away = np.abs(lam) * (self.l1 - np.sign(lam) * (slope - pull))
        short = np.abs(self.l2 * lam - pull)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return away + np.where(short > 0.0, 0.5 * np.square(short) / self.l2, 0.0)
