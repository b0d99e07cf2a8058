"""Newton steps of more coefficients than there are rows: systems of as many equations as rows.

The Hessian of log F_p with its penalty is Z' Z + l2 with one row of Z for each row of the data: its outputs about
their mean, times the root of its weight. Its inverse is 1/l2 - 1/l2 Z' (1 + Z 1/l2 Z')^-1 Z 1/l2 (Woodbury). The
products of the rows' outputs, of which Z 1/l2 Z' is made, do not change with the weights.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem

_MOST_ROWS = 1500
"""Rows up to which their products are formed."""

_ROOM = 2**24
"""Outputs that are kept, at most: 128 MB."""


class FewRows:
    """The rows of a problem, and the products of their outputs over the free coefficients."""

    def __init__(self, problem: Problem, penalty: Penalty) -> None:
        blocks = [block for table in problem.tables for _, block in table.blocks()]
        self._outputs = np.concatenate(blocks) - problem.shift
        self._p, self._n_pos = problem.objective.traits.p, problem.n_pos
        self._inverse = np.divide(1.0, penalty.l2, out=np.zeros_like(penalty.l2), where=penalty.l2 > 0.0)
        self._free = np.zeros(problem.n_rankers, bool)
        self._products = np.zeros((len(self._outputs), len(self._outputs)))

    @staticmethod
    def serves(problem: Problem) -> bool:
        """Return whether the rows are few enough."""
        n_rows, n = problem.n_pos + problem.n_neg, problem.n_rankers
        return n_rows <= _MOST_ROWS and 2 * n_rows <= n and n_rows * n <= _ROOM

    def preconditioner(self, weights: tuple[Vector, Vector]) -> Any:
        """Return, as a function of the coefficients that are free, the one that solves for steps at these weights."""
        return partial(self._solver, weights)

    def _solver(self, weights: tuple[Vector, Vector], free: NDArray[np.bool_]) -> Any:
        """Return the function that solves for steps of the free coefficients at these weights."""
        from scipy.linalg import cho_factor, cho_solve

        self._take(free)
        root = np.sqrt(np.concatenate([self._p * weights[0], self._p**2 * weights[1]]))
        system = self._about_means(self._about_means(self._products, weights).T, weights)
        system = system * root * root[:, None]
        system.flat[:: len(system) + 1] += 1.0
        factor = cho_factor(system, lower=True)
        inverse = np.where(free, self._inverse, 0.0)

        def solve(rest: Vector) -> Vector:
            moved = inverse * rest
            along = self._about_means(self._outputs @ moved, weights) * root
            back = cho_solve(factor, along) * root
            for side in self._sides(weights):
                back[side[0]] -= side[1] * back[side[0]].sum()
            return np.asarray(moved - inverse * (back @ self._outputs))

        return solve

    def _take(self, free: NDArray[np.bool_]) -> None:
        """Bring the products up to date: those of few columns are added or taken off."""
        changed = np.flatnonzero(free != self._free)
        if 2 * changed.size > free.sum():
            self._products[:] = 0.0
            changed, self._free = np.flatnonzero(free), np.zeros_like(free)
        if changed.size:
            some = self._outputs[:, changed]
            self._products += (some * np.where(free[changed], 1.0, -1.0) * self._inverse[changed]) @ some.T
        self._free = free.copy()

    def _sides(self, weights: tuple[Vector, Vector]) -> list[tuple[slice, Vector]]:
        return [(slice(0, self._n_pos), weights[0]), (slice(self._n_pos, None), weights[1])]

    def _about_means(self, x: Any, weights: tuple[Vector, Vector]) -> Any:
        """Numbers of the rows less their mean on either side."""
        out = np.empty(x.shape)
        for rows, of_side in self._sides(weights):
            out[rows] = x[rows] - of_side @ x[rows]
        return out
