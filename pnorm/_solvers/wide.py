"""Newton steps of a penalised objective with many weak rankers.

The Hessian is p Cov_u(h) + p**2 Cov_w(h) + l2, as in `hessian`. There are three ways to solve for a step. A certificate
needs only the step, since with a penalty any weights prove a bound.

- Few weak rankers: the Hessian is formed and factored (`Curvature`).
- Fewer rows than weak rankers: the Hessian is formed and factored in a basis of the rows, which contains the minimiser
  (`Rotated`).
- Otherwise: conjugate gradients, which read the rows twice for each product with the Hessian (`Iterative`). Once these
  have cost as much as a factor of the Hessian would, the factor is computed. It then preconditions all later steps.

Costs are estimated from the numbers of rows, weak rankers and stored outputs. The choice, and with it every bit of the
result, does therefore not depend on the machine.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.hessian import LARGEST_HESSIAN, Curvature, Means
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import WeightedRows, Weights, reduction
from pnorm._solvers.search import conjugate_gradients
from pnorm._storage.dense import Dense

_FEW = 500
"""Number of weak rankers up to which the Hessian is formed at every step."""

_SMALL_BASIS, _LARGEST_BASIS = 2**22, 2**26
"""Largest sizes of a basis of the rows: 32 MB for any rows, and 512 MB."""

_FULLER = 256
"""Largest ratio of numbers in a basis beyond the smaller size to numbers that the rows store: text stays sparse."""

_ROUNDED = 1e-12
"""Share of a slope that counts as rounding."""

_MOST = 1000
"""Largest number of products with the Hessian for one step."""

_TYPICAL = 500
"""Approximate number of products for all steps of a run."""

_FLOPS = 25e9
"""Operations a second in a factor of the Hessian."""


def curvature_at(problem: Problem, weights: Weights, l2: float, tol: float) -> Curvature | Rotated | Iterative:
    """Return the cheapest solver for Newton steps at given weights; `tol` is the tolerance of the gap."""
    if l2 == 0.0 or problem.n_rankers <= _FEW:
        return Curvature(problem, weights, l2)
    if _rotates(problem):
        return Rotated(problem, weights, l2)
    return Iterative(problem, weights, l2, tol)


class Rotated(Means):
    """The Hessian in an orthonormal basis of the rows, with one vector per row; on the rest it is l2."""

    def __init__(self, problem: Problem, weights: Weights, l2: float) -> None:
        super().__init__(problem, weights)
        self.l2 = l2
        self._basis, rows = _rotation(problem)
        self._inside = Curvature(rows, weights, l2)

    def at(self, weights: Weights) -> Rotated | None:
        """Return the same factors at other weights; None if these have changed too much."""
        inside = self._inside.at(weights)
        if inside is None:
            return None
        here = copy(self)
        Means.__init__(here, self.problem, weights)
        here._inside = inside
        return here

    def relevant(self, lam: Vector) -> Vector:
        """Return the part of coefficients on which the scores depend."""
        return np.asarray(self._basis @ (lam @ self._basis))

    def step(self, slope: Vector) -> Vector:
        """Return the Newton step for a slope that lies in the span of the rows."""
        return np.asarray(self._basis @ self._inside.step(slope @ self._basis))


_ROTATIONS: WeakKeyDictionary[Problem, tuple[Any, Problem]] = WeakKeyDictionary()


def _rotates(problem: Problem) -> bool:
    """Return whether the rows are few enough for a basis."""
    n_rows, n = problem.n_pos + problem.n_neg, problem.n_rankers
    if not problem.in_memory or 2 * n_rows > n:
        return False
    room = min(max(_SMALL_BASIS, _FULLER * _stored(problem)), _LARGEST_BASIS)
    return n_rows * n <= room and 4.0 * n_rows**2 * n / _FLOPS < _TYPICAL * _product_time(problem)


def _rotation(problem: Problem) -> tuple[Any, Problem]:
    """Return an orthonormal basis of the rows about the middle, (n, N), and the problem of the rows in this basis."""
    from scipy.linalg import qr

    if problem not in _ROTATIONS:
        rows = np.concatenate([block - problem.shift for table in problem.tables for _, block in table.blocks()])
        basis, triangle = qr(rows.T, mode="economic")
        sides = np.split(np.ascontiguousarray(triangle.T), [problem.n_pos])
        names = problem.names[: triangle.shape[0]]
        _ROTATIONS[problem] = basis, Problem.of_tables([Dense(side) for side in sides], names, problem.objective)
    return _ROTATIONS[problem]


# Conjugate gradients -------------------------------------------------------------------------------


def _stored(problem: Problem) -> int:
    """Return how many numbers a pass over the rows reads."""
    if problem.in_memory:
        return sum([table.stored for table in problem.tables])
    return problem.n_rankers * (problem.n_pos + problem.n_neg)


def _product_time(problem: Problem) -> float:
    """Return the time that a product with the Hessian takes, about, in seconds."""
    return 1e-3 + 1.5e-9 * _stored(problem)


class Iterative(Means):
    """The Hessian by its products, with the factor of an earlier one as the preconditioner."""

    def __init__(self, problem: Problem, weights: Weights, l2: float, tol: float) -> None:
        super().__init__(problem, weights)
        self.l2, self._tol = l2, tol
        self._factor: Curvature | None = None
        n = problem.n_rankers
        flops = (problem.n_pos + problem.n_neg + n) * n * n
        self._patience = flops / _FLOPS / _product_time(problem) if n <= LARGEST_HESSIAN else np.inf
        """Number of products that cost as much as a factor."""
        self._taken = 0
        """Number of products since the last factor."""

    def at(self, weights: Weights) -> Iterative:
        """Return the Hessian at other weights, with the same preconditioner."""
        here = copy(self)
        Means.__init__(here, self.problem, weights)
        return here

    def relevant(self, _: Vector) -> None:
        """Return None: steps remove the part on which the scores do not depend."""

    def step(self, slope: Vector) -> Vector:
        """Return the Newton step for a slope, as accurately as needed."""
        delta, rest = np.zeros_like(slope), slope.copy()
        if self._solve(delta, rest) or not self._taken > self._patience:
            return delta
        self._factor, self._taken = Curvature(self.problem, self.weights, self.l2), 0
        del self._factor.hessian
        if self._factor.cut.shape[1]:
            return self._factor.step(slope)
        self._solve(delta, rest)
        return delta

    def _solve(self, delta: Vector, rest: Vector) -> bool:
        """Improve a step by conjugate gradients, given the rest of the slope; return whether it is accurate enough.

        A step is accurate enough if the next product would add little to the fall of the quadratic model (Nash & Sofer,
        Operations Research Letters 9, 1990), and at the end, if the rest does not affect the certificate.
        """
        scale = 2.0 * self.l2
        harmless = max(0.1 * self._tol, _ROUNDED**2 * float(rest @ rest) / scale)
        fall, gains = 0.0, conjugate_gradients(self._times, self._precondition, delta, rest)
        for k in range(1, _MOST + 1):
            if float(rest @ rest) / scale <= harmless:
                return True
            if self._taken > self._patience:
                return False
            self._taken += 1
            gain = next(gains, None)
            if gain is None:  # only rounding is left
                return True
            fall += gain
            if fall > 10.0 * self._tol and k * gain <= min(0.1, math.sqrt(fall)) * fall:
                return True
        return False

    def _precondition(self, x: Vector) -> Vector:
        if self._factor is not None:
            return self._factor.solve(x)
        of_pos, of_neg = np.square(self.deviation)
        return np.asarray(x / (self.p * of_pos + self.p**2 * of_neg + np.square(self.moved).sum(axis=0) + self.l2))

    def _times(self, x: Vector) -> Vector:
        """Return the Hessian times a vector."""
        return hessian_times(self, x) + self.l2 * x


def hessian_times(means: Means, x: Vector) -> Vector:
    """Return the Hessian of log F_p times a vector: two passes over the rows."""
    factors = means.p, means.p**2
    pos, neg = means.problem.reduce_weighted(means.weights, _product, (x, x), tuple(means.means_along(x)), factors)
    within = means.problem.without_constants(pos + neg)
    return np.asarray(within + (means.moved @ x) @ means.moved)


@reduction("sum")
def _product(rows: WeightedRows, x: Vector, mean: Vector, factor: float) -> Any:
    """Pass: weighted outputs times the scores along x, these about their mean in every group."""
    along = rows.rows.scores(x)  # a new array, changed in place to save memory
    along -= mean[rows.group]
    along *= rows.total
    along *= factor
    return rows.table.sums(along)
