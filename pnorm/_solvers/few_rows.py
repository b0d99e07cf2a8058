"""Newton steps of more coefficients than there are rows: systems with one equation per row.

The Hessian of log F_p with its penalty is Z' Z + l2. Z has one row for each row of the data: its outputs about their
mean, times the root of its weight. The inverse is 1/l2 - 1/l2 Z' (1 + Z 1/l2 Z')^-1 Z 1/l2 (Woodbury). The outputs are
never formed. Z 1/l2 Z' consists of products of the outputs of two rows. Such a product is a sum over the columns: the
terms 1/l2 of the edges that lie above both codes in the tree of the column.

With many of these rows, the factor of 1 + Z 1/l2 Z' takes nearly all of the time. It is then computed once at given
weights, for the coefficients that are free at first. If some of these stop at zero, the formula has the outer factors
of the rest and this inner one. It is then no inverse, but stays positive definite, because the inner matrix can only be
too large. Conjugate gradients need about ten products with it, which takes less time than another factor.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._core import _shapes
from pnorm._solvers.columns import trees_of
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._storage.coded import Coded

_MOST_ROWS, _MANY = 1500, 6
"""Number of rows up to which products of rows are formed, and number of rankers for each row if there are more."""

_KEPT_FROM = 1000
"""Number of rows from which a factor is kept when coefficients stop at zero; with fewer, another one is cheaper."""

_ROOM = 2**25
"""Largest number of outputs of all rows; the cost of the products grows with it."""


class FewRows:
    """The rows of a problem as codes, and the systems of their Newton steps."""

    def __init__(self, problem: Problem, tables: list[Coded], penalty: Penalty) -> None:
        self._tables, schema = tables, tables[0].schema
        self._pool = problem.sides[0].parts[0].pool
        self._p, self._n_pos = problem.objective.traits.p, problem.n_pos
        self.keeps = problem.n_pos + problem.n_neg >= _KEPT_FROM
        """Whether a factor is kept for fewer coefficients."""
        self._inverse = np.divide(1.0, penalty.l2, out=np.zeros_like(penalty.l2), where=penalty.l2 > 0.0)
        self._trees = trees = trees_of(schema)
        codes = np.concatenate([table.codes() for table in tables], axis=1)
        self._nodes = np.empty(codes.shape, np.intp)
        self._lines = np.empty((trees.line.size, codes.shape[1]))
        for k, own in enumerate(codes):
            cell = trees.cell[trees.first[k] : trees.first[k + 1]]
            node_of = np.zeros(schema.levels[k], np.intp)
            node_of[cell[cell >= 0]] = np.flatnonzero(cell >= 0)
            self._nodes[k] = node_of[own]
            for i in range(trees.lines[k], trees.lines[k + 1]):
                values = trees.values[i, own]
                self._lines[i] = values - values.mean()
        self._order = np.argsort(self._nodes, axis=1, kind="stable")

    @staticmethod
    def serves(problem: Problem) -> bool:
        """Return whether the rows are few enough."""
        n_rows, n = problem.n_pos + problem.n_neg, problem.n_rankers
        return 2 * n_rows <= n and n_rows <= max(_MOST_ROWS, n // _MANY) and n_rows * n <= _ROOM

    def preconditioner(self, weights: tuple[Vector, Vector]) -> Any:
        """Return a function of the free coefficients, which returns the solver for steps at these weights.

        It solves exactly for those of the first call. For fewer it does so too, or only about if the factor is kept.
        """
        root = np.sqrt(np.concatenate([self._p * weights[0], self._p**2 * weights[1]]))  # of the weights in the Hessian
        factors: list[Any] = []

        def solver(free: NDArray[np.bool_]) -> Any:
            inverse = np.where(free, self._inverse, 0.0)
            if not factors or not self.keeps:
                factors[:] = [self._factor(weights, root, inverse)]
            return partial(self._solved, weights, root, inverse, factors[0])

        return solver

    def _factor(self, weights: tuple[Vector, Vector], root: Vector, inverse: Vector) -> Any:
        """The Cholesky factor of the system of the rows, given 1/l2 of the free coefficients and zero of the others."""
        from scipy.linalg import cho_factor

        system = self._about_means(self._about_means(self._products(inverse), weights).T, weights)
        system *= root
        system *= root[:, None]
        system.flat[:: len(system) + 1] += 1.0
        return cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

    def _solved(
        self, weights: tuple[Vector, Vector], root: Vector, inverse: Vector, factor: Any, rest: Vector
    ) -> Vector:
        """Solve for a step of the free coefficients, given the factor for these or more."""
        from scipy.linalg import cho_solve

        moved = inverse * rest
        scores = np.concatenate(self._pool.run(*[table.combine(moved) for table in self._tables]))
        back = cho_solve(factor, self._about_means(scores, weights) * root, check_finite=False) * root
        for rows, of_side in self._sides(weights):
            back[rows] -= of_side * back[rows].sum()
        of_sides = [table.sums(back[rows]) for table, rows in zip(self._tables, self._rows, strict=True)]
        of_pos, of_neg = self._pool.run(*of_sides)
        return np.asarray(moved - inverse * (of_pos + of_neg))

    def _products(self, inverse: Vector) -> NDArray[np.float64]:
        """Sums over the rankers of the products of two rows' outputs, times a number for each ranker."""
        trees = self._trees
        of_nodes, of_lines = trees.split(inverse)
        most = int(np.diff(trees.first).max())
        out = (self._lines.T * of_lines[: trees.line.size]) @ self._lines
        _shapes.row_products(
            self._nodes,
            self._order,
            trees.first,
            trees.parent,
            of_nodes,
            np.empty(most, np.intp),
            np.empty(2 * most),
            out,
        )
        return out

    @property
    def _rows(self) -> tuple[slice, slice]:
        return slice(0, self._n_pos), slice(self._n_pos, None)

    def _sides(self, weights: tuple[Vector, Vector]) -> list[tuple[slice, Vector]]:
        return list(zip(self._rows, weights, strict=True))

    def _about_means(self, x: Any, weights: tuple[Vector, Vector]) -> Any:
        """Numbers of the rows minus their mean on either side."""
        out = np.empty(x.shape)
        for rows, of_side in self._sides(weights):
            np.subtract(x[rows], of_side @ x[rows], out=out[rows])
        return out
