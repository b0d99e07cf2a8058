"""Second order: gradient and Hessian of log F_p, and a solve that says which directions it cannot see.

With u and w the weights of the two sides and, where there are groups g, pi_g their masses,

    gradient = p (E_w h - E_u h),
    Hessian  = p Cov_u(h) + p**2 Cov_w(h) + p**2 Cov_pi(E_w|g h - E_u|g h),

the covariances within groups; l2 adds l2 lam and l2.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._outputs import SIDES, Side
from pnorm._problem import Problem

_WELL_CONDITIONED = 1e-8
"""Least eigenvalue of a Hessian of unit diagonal that its own rounding, some 1e-14, leaves six digits."""


_FAR = 10.0
"""Change of the exponents, at most, in one step along directions that the Hessian does not see."""


class Curvature:
    """The Hessian at weights u, w, factored: its pseudo-inverse is root @ root.T.

    The Hessian of n nearly collinear columns loses half the digits of the rows: two columns that
    agree to 1e-8 look the same to it. Where its condition is in doubt, the singular values of the
    weighted rows themselves decide, and only directions that are rounding there are cut off.
    """

    root: Any
    """(n, rank)."""
    blind: Any
    """(n, n - rank): directions along which all outputs are equal, to within rounding."""

    def __init__(self, problem: Problem, u: Vector, w: Vector, l2: float = 0.0) -> None:
        self._problem, self.l2 = problem, l2
        groups = problem.objective.groups
        self.p = p = problem.objective.p
        self._codes = (None, None) if groups is None else (groups.pos, groups.neg)
        moved = self._first_moments(u, w)
        covariance_pos = problem.outputs.scatter("pos", u, self.means_pos, self._codes[0])
        covariance_neg = problem.outputs.scatter("neg", w, self.means_neg, self._codes[1])
        self.deviation_pos = np.sqrt(np.maximum(covariance_pos.diagonal(), 0.0))
        self.deviation_neg = np.sqrt(np.maximum(covariance_neg.diagonal(), 0.0))
        hessian = p * covariance_pos + p * p * covariance_neg + moved.T @ moved
        hessian[np.diag_indices_from(hessian)] += l2
        self._factor(hessian, moved)
        self.slack = 1.0
        """The inverse of the Hessian at u and w is at most this squared times root @ root.T."""

    def _first_moments(self, u: Vector, w: Vector) -> Any:
        """Means and edges; returns what the differences between groups add to the rows of the Hessian."""
        self._u, self._w = u, w
        outputs, groups = self._problem.outputs, self._problem.objective.groups
        if groups is None:
            self.share = np.ones(1)
            self.means_pos, self.means_neg = outputs.sums("pos", u)[None], outputs.sums("neg", w)[None]
        else:
            from scipy.sparse import csr_array

            self.share = np.bincount(groups.pos, u, groups.n)
            self.means_pos, self.means_neg = (
                outputs.sums(side, csr_array((x / self.share[c], c, np.arange(c.size + 1)), shape=(c.size, groups.n)))
                for side, x, c in zip(SIDES, (u, w), (groups.pos, groups.neg), strict=True)
            )
        difference = self.means_pos - self.means_neg
        self.edges = self.share @ difference
        self.edges[self._problem.constant] = 0.0
        return self.p * np.sqrt(self.share)[:, None] * (difference - self.edges)

    def _factor(self, hessian: Any, moved: Any) -> None:
        from scipy.linalg import lapack

        diagonal = np.maximum(hessian.diagonal(), 0.0)
        seen = (diagonal > 0.0) & ~(self._problem.constant & (self.l2 == 0.0))
        self._scale = np.where(seen, 1.0 / np.sqrt(np.where(seen, diagonal, 1.0)), 0.0)
        self._live = live = np.flatnonzero(seen)
        scaled = hessian[np.ix_(live, live)] * self._scale[live, None] * self._scale[live]
        factor, failed = lapack.dpotrf(scaled, lower=1)
        well = live.size > 0 and not failed and lapack.dpocon(factor, np.abs(scaled).sum(axis=0).max(), uplo="L")[0]
        if well > _WELL_CONDITIONED:
            inverse, _ = lapack.dtrtri(factor, lower=1)
            self._set(np.tril(inverse).T, np.zeros((live.size, 0)))
        else:
            self._by_singular_values(moved)

    def at(self, u: Vector, w: Vector) -> Curvature | None:
        """The same factors at other weights, if none of these has changed by more than a tenth.

        Then the Hessian, a sum of weights times squares about their mean, is at least 0.9 times
        this one.
        """
        if self._problem.objective.groups is not None or self.slack > 1.0:
            return None
        for old, new in ((self._u, u), (self._w, w)):
            ratio = new / np.maximum(old, 1e-290)
            if not (ratio.min() > 0.9 and ratio.max() < 1.1):
                return None
        here = copy(self)
        here._first_moments(u, w)
        here.slack = 1.06
        return here

    def _set(self, root: Any, blind: Any) -> None:
        n, live = self._problem.n_rankers, self._live
        self.root = np.zeros((n, root.shape[1]))
        self.root[live] = self._scale[live, None] * root
        unseen = np.setdiff1d(np.arange(n), live)
        self.blind = np.zeros((n, blind.shape[1] + unseen.size))
        self.blind[live, : blind.shape[1]] = self._scale[live, None] * blind
        self.blind[unseen, blind.shape[1] + np.arange(unseen.size)] = 1.0

    def _by_singular_values(self, moved: Any) -> None:
        from scipy.linalg import qr, svd

        live = self._live
        triangle = np.zeros((0, live.size))
        for rows in self._weighted_rows(moved):
            triangle = qr(np.concatenate([triangle, rows[:, live] * self._scale[live]]), mode="r")[0][: live.size]
        _, values, right = svd(np.concatenate([triangle, np.zeros_like(triangle, shape=(1, live.size))]))
        values = np.concatenate([values, np.zeros(live.size - values.size)])
        # What rounding of the rows and of the factorisation leaves of columns that are truly dependent.
        kept = values > 4.0 * np.finfo(float).eps * np.sqrt(live.size) * values.max(initial=0.0)
        self._set(right[kept].T / values[kept], right[~kept].T)

    def _sides(self) -> tuple[tuple[Side, Any, Any], tuple[Side, Any, Any]]:
        return ("pos", self.means_pos, self._codes[0]), ("neg", self.means_neg, self._codes[1])

    def _weighted_rows(self, moved: Any) -> Iterator[Any]:
        """Rows whose outer products sum to the Hessian."""
        p = self.p
        for side, centres, codes in self._sides():
            root = np.sqrt(self._u * p if side == "pos" else self._w * p * p)
            for rows, block in self._problem.outputs.blocks(side):
                yield (block - (centres[0] if codes is None else centres[codes[rows]])) * root[rows, None]
        if len(self.share) > 1:
            yield moved
        if self.l2 > 0.0:
            yield np.sqrt(self.l2) * np.eye(self._problem.n_rankers)

    def solve(self, x: Vector) -> Vector:
        """The pseudo-inverse of the Hessian, on what it sees, times x."""
        return np.asarray(self.root @ (self.root.T @ x))

    def step(self, slope: Vector) -> Vector:
        """The Newton step for a slope, and a long one along what the Hessian does not see.

        Far from the minimum nearly all weight may lie on one row of each side, the more so with a
        large p, and there the objective is linear.
        """
        delta = self.solve(slope)
        if not self.full_rank:
            span = self._problem.high - self._problem.low
            along = self.blind.T @ slope
            along[np.abs(along) <= 1e-8 * self.p * (np.abs(self.blind.T) @ span)] = 0.0
            unseen = self.blind @ along
            if unseen.any():
                delta += unseen * (_FAR / (self.p * float(np.abs(unseen) @ span)))
        return delta

    @property
    def full_rank(self) -> bool:
        return bool(self.blind.shape[1] == 0)

    def leverage(self) -> float:
        """Largest |root.T (h - E h)| over all rows, by a pass over them."""
        largest = 0.0
        for side, centres, codes in self._sides():
            for rows, block in self._problem.outputs.blocks(side):
                whitened = (block - (centres[0] if codes is None else centres[codes[rows]])) @ self.root
                largest = max(largest, float(np.einsum("ij,ij->i", whitened, whitened).max()))
        return float(np.sqrt(largest))


def null_space(problem: Problem) -> Any:
    """An orthonormal basis (n, m) of the coefficients that leave all differences of scores as they are."""
    from scipy.linalg import orth

    middle = problem.point(np.zeros(problem.n_rankers))
    blind = Curvature(problem, middle.u, middle.w).blind
    return orth(blind) if blind.shape[1] else blind
