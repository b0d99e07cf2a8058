"""Gradient and Hessian of log F_p, and a solver that reports the directions that it cannot resolve.

With u and w the weights of the two sides and, if there are groups g, pi_g their shares,

    gradient = p (E_w h - E_u h),
    Hessian  = p Cov_u(h) + p**2 Cov_w(h) + p**2 Cov_pi(E_w|g h - E_u|g h),

with covariances within groups. A penalty adds l2 lam to the gradient and l2 to the Hessian.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import WeightedRows, Weights, reduction, triangle_of

_EPS = float(np.finfo(float).eps)

LARGEST_HESSIAN = 6000
"""Number of weak rankers up to which second moments are formed: about five arrays of 288 MB."""

FEW = 2000
"""Number of weak rankers up to which second moments are always formed, and singular values take seconds."""

TINY = 1e-290
"""The least divisor: curvatures are squares of columns, which may have any unit."""

_WELL_CONDITIONED = 1e-8
"""Least eigenvalue of a Hessian of unit diagonal that keeps six digits, given its rounding of about 1e-14."""

_LONG_STEP = 10.0
"""Largest change of the exponents in one step along directions that the Hessian does not resolve."""


class Means:
    """Means of the outputs under weights, with edges and gradients."""

    l2 = 0.0
    null: NullSpace | None = None
    """The null space of the outputs, if it was computed."""

    def __init__(self, problem: Problem, weights: Weights, known: list[Any] | None = None) -> None:
        """Compute the means of both sides, unless they are known."""
        self.problem = problem
        self.p = problem.objective.traits.p
        self._first(weights, known)
        self._edges_of_groups()
        mean = self.weights.share @ np.asarray(self.means)
        self.deviation = [
            np.sqrt(np.maximum((problem.high - of_side) * (of_side - problem.low), 0.0)) for of_side in mean
        ]
        """Upper bounds of the standard deviations, given the mean and the range."""

    def _first(self, weights: Weights, known: list[Any] | None = None) -> None:
        """Means."""
        self.weights = weights
        n = weights.share.size
        self.means: list[Any] = self.problem.reduce_weighted(weights, means, (n, n)) if known is None else known
        self._left = [np.zeros_like(mean) for mean in self.means]

    def _edges_of_groups(self) -> None:
        self.differences = (self.means[0] - self.means[1]) + (self._left[0] - self._left[1])
        self.differences[:, self.problem.constant] = 0.0
        self.edges = self.weights.share @ self.differences
        """<u, h_j> - <w, h_j>; the gradient of log F_p is -p times this."""
        self.moved = self.p * np.sqrt(self.weights.share)[:, None] * (self.differences - self.edges)
        """Rows of differences between groups; their outer products and those of the data sum to the Hessian."""

    def typical(self) -> Vector:
        """Return a bound on the mean size of the outputs, both sides together."""
        means = self.weights.share @ (np.abs(self.means[0]) + np.abs(self.means[1]))
        return np.asarray(means + self.deviation[0] + self.deviation[1])

    def means_along(self, lam: Vector) -> list[Vector]:
        """Return the means of scores in every group, (G,), on both sides."""
        return [(mean + left) @ lam for mean, left in zip(self.means, self._left, strict=True)]


class Moments(Means):
    """Means and covariances of the outputs under weights, to all digits for any offset of a column."""

    def __init__(self, problem: Problem, weights: Weights) -> None:
        self.problem = problem
        self.p = p = problem.objective.traits.p
        self._first(weights)
        answers = problem.reduce_weighted(weights, _scatter, tuple(self.means))
        # A mean is rounded. The mean of the centred rows is computed as well and subtracted again.
        share = np.maximum(weights.share, TINY)[:, None]
        self._left = [left / share for _, left in answers]
        second = [
            scatter - (left.T * weights.share) @ left for (scatter, _), left in zip(answers, self._left, strict=True)
        ]
        self.deviation = [np.sqrt(np.maximum(matrix.diagonal(), 0.0)) for matrix in second]
        self._edges_of_groups()
        self.hessian = p * second[0] + p * p * second[1] + self.moved.T @ self.moved

    @property
    def centres(self) -> tuple[_Centres, _Centres]:
        """The means of both sides."""
        pos, neg = (_Centres(mean, left) for mean, left in zip(self.means, self._left, strict=True))
        return pos, neg

    def singular(self, live: NDArray[np.intp], scale: Vector, *more: Any) -> tuple[Vector, Any]:
        """Return singular values and right vectors of rows whose outer products sum to the Hessian, and of others."""
        from scipy.linalg import svd

        if live.size == 0:
            return np.zeros(0), np.zeros((0, 0))
        columns = live, scale[live]
        factors = self.p, self.p * self.p
        triangles = self.problem.reduce_weighted(self.weights, _triangle, factors, self.centres, (columns, columns))
        _, values, right = svd(
            triangle_of([*triangles, *(rows[:, live] * scale[live] for rows in (self.moved, *more))])
        )
        return values, right


@dataclass(frozen=True, eq=False)
class _Centres:
    """Means by group, (G, n), and the error of their rounding."""

    mean: Any
    left: Any

    def taken_off(self, rows: WeightedRows) -> Iterator[tuple[slice, Any]]:
        """Yield blocks of rows minus the mean of their group."""
        for place, block in rows.table.blocks():
            own = rows.groups[place]
            yield place, (block - self.mean[own]) - self.left[own]


@reduction("sum")
def means(rows: WeightedRows, n_groups: int) -> Any:
    """Pass: weighted means of all rankers in every group, (G, n)."""
    return rows.sums(rows.within, n_groups)


@reduction("sum", "sum")
def _scatter(rows: WeightedRows, centres: Any) -> Any:
    return rows.table.scatter(rows.total, centres, rows.rows.codes)


@reduction("triangle")
def _triangle(rows: WeightedRows, factor: float, centres: _Centres, columns: tuple[NDArray[np.intp], Vector]) -> Any:
    """Return the triangle of the rows minus their means, times the roots of their weights."""
    live, scale = columns
    root = np.sqrt(factor * rows.total)
    return triangle_of(
        (block[:, live] * root[place, None] * scale for place, block in centres.taken_off(rows)), live.size
    )


@reduction("max")
def _leverage(rows: WeightedRows, centres: _Centres, root: Any) -> float:
    return max(float(np.square(block @ root).sum(axis=1).max()) for _, block in centres.taken_off(rows))


@reduction("list")
def _rows_of_root(rows: WeightedRows, factor: float, means: Any, share: float) -> list[Any]:
    kept = rows.total > share * rows.total.max()
    root = np.sqrt(factor * rows.total)
    return [
        ((block - means[rows.groups[place]]) * root[place, None])[kept[place]] for place, block in rows.table.blocks()
    ]


def root_of_hessian(means: Means, share: float) -> Any:
    """Return Z such that Z.T @ Z is the Hessian, without rows below a share of the largest weight of their side.

    There is one more row for every group.
    """
    p = means.p
    sides = means.problem.reduce_weighted(means.weights, _rows_of_root, (p, p * p), tuple(means.means), (share, share))
    root = np.concatenate([*sides[0], *sides[1], means.moved])
    root[:, means.problem.constant] = 0.0
    return root


class Curvature(Moments):
    """The Hessian at given weights, factored: its pseudo-inverse is root @ root.T.

    The Hessian of n nearly collinear columns loses half the digits of the rows: two columns that agree to 1e-8 look the
    same. If its condition is in doubt, the singular values of the weighted rows are used instead. Only directions that
    are rounding there are cut off.
    """

    root: Any
    """(n, rank)."""
    cut: Any
    """(n, m): further directions along which rows differ only where almost no weight is left."""

    def __init__(self, problem: Problem, weights: Weights, l2: float = 0.0) -> None:
        super().__init__(problem, weights)
        self.l2 = l2
        self.slack = 1.0
        """The inverse of the Hessian at these weights is at most this squared times root @ root.T."""
        hessian = self.hessian
        hessian[np.diag_indices_from(hessian)] += l2
        diagonal = hessian.diagonal()
        self._scale, live = _scale(diagonal, 0.0 if l2 else self.p * problem.largest)
        root = self._cholesky(live)
        if l2 == 0.0 and (root is None or live.size < problem.n_rankers):
            self.null = null_space(problem)
            live = np.setdiff1d(live, self.null.dependent)
            root = self._cholesky(live)
        cut = np.zeros((live.size, 0))
        if root is None:
            values, right = self.singular(live, self._scale, np.sqrt(l2) * np.eye(problem.n_rankers))
            kept = values > 4.0 * _EPS * np.sqrt(live.size) * values.max(initial=0.0)
            root, cut = right[kept].T / values[kept], right[~kept].T
        self._set(live, root, cut)

    def _cholesky(self, live: NDArray[np.intp]) -> Any:
        """Return the inverse root of the Hessian of the live rankers; None if its condition leaves no digits."""
        from scipy.linalg import lapack

        scaled = self.hessian[np.ix_(live, live)] * self._scale[live, None] * self._scale[live]
        if live.size == 0:
            return np.zeros((0, 0))
        factor, failed = lapack.dpotrf(scaled, lower=1)
        if failed or lapack.dpocon(factor, np.abs(scaled).sum(axis=0).max(), uplo="L")[0] <= _WELL_CONDITIONED:
            return None
        return np.tril(lapack.dtrtri(factor, lower=1)[0]).T

    def _set(self, live: NDArray[np.intp], root: Any, cut: Any) -> None:
        n = self.problem.n_rankers
        self.root = np.zeros((n, root.shape[1]))
        self.root[live] = self._scale[live, None] * root
        known = live if self.null is None else np.concatenate([live, self.null.dependent])
        unseen = np.setdiff1d(np.arange(n), known)
        self.cut = np.zeros((n, cut.shape[1] + unseen.size))
        self.cut[live, : cut.shape[1]] = self._scale[live, None] * cut
        self.cut[unseen, cut.shape[1] + np.arange(unseen.size)] = 1.0

    def at(self, weights: Weights) -> Curvature | None:
        """Return the same factors at other weights; None if a weight has changed by more than a tenth.

        Otherwise the Hessian, a sum of weights times squares about their mean, is at least 0.9 times this one.
        """
        if self.problem.objective.groups is not None or self.slack > 1.0:
            return None
        if not self.problem.near(self.weights, weights):
            return None
        here = copy(self)
        left = self._left
        here._first(weights)
        here._left = left  # of the order of rounding, and equal to a tenth
        here._edges_of_groups()
        here.slack = 1.06
        return here

    def relevant(self, lam: Vector) -> Vector | None:
        """Return the part of coefficients on which score differences depend; None while the null space is unknown."""
        return None if self.null is None else self.null.without(lam)

    def solve(self, x: Vector) -> Vector:
        """Return the pseudo-inverse of the Hessian, on the directions that it resolves, times x."""
        return np.asarray(self.root @ (self.root.T @ x))

    def step(self, slope: Vector) -> Vector:
        """Return the Newton step for a slope, with a long step along directions that have no weight left.

        Far from the minimum, almost all weight may lie on one row of each side, more so with a large p. There the
        objective is linear.
        """
        delta = self.solve(slope)
        if self.cut.shape[1]:
            span = self.problem.high - self.problem.low
            along = self.cut.T @ slope
            along[np.abs(along) <= 1e-8 * self.p * (np.abs(self.cut.T) @ span)] = 0.0
            unseen = self.cut @ along
            if unseen.any():
                delta += unseen * (_LONG_STEP / (self.p * float(np.abs(unseen) @ span)))
        return delta if self.null is None else self.null.without(delta)

    def leverage(self) -> float:
        """Return the largest |root.T (h - E h)| over all rows and over the means of groups."""
        of_groups = float(np.square((self.differences - self.edges) @ self.root).sum(axis=1).max())
        of_rows = self.problem.reduce_weighted(self.weights, _leverage, self.centres, (self.root, self.root))
        return float(np.sqrt(max(of_groups, *of_rows)))


def whitening(problem: Problem, l2: float) -> Any:
    """Return directions (n, rank) along which score differences over all pairs are uncorrelated and of one size.

    All groups count the same. Directions along which no pair differs are left out, unless there is a penalty.
    """
    moments = Moments(problem, problem.uniform())
    differences = np.sqrt(moments.weights.share)[:, None] * moments.differences
    square = moments.hessian + differences.T @ differences
    square[np.diag_indices_from(square)] += l2
    scale, live = _scale(square.diagonal(), 0.0 if l2 else problem.largest)
    values, vectors = np.linalg.eigh(square[np.ix_(live, live)] * scale[live, None] * scale[live])
    kept = values > 10.0 * live.size * _EPS * values.max(initial=0.0)
    root = np.zeros((problem.n_rankers, np.count_nonzero(kept)))
    root[live] = scale[live, None] * vectors[:, kept] / np.sqrt(values[kept])
    return root


class NullSpace:
    """Coefficients that change no score difference, to within the rounding of the outputs.

    They are found by singular values. For truly dependent columns these are about 1e-16 times the largest, or 5e-13 for
    123 indicators. Two refinements make the coefficients exact. They are then checked on all rows.
    """

    basis: Any
    """(n, m), orthonormal."""
    dependent: NDArray[np.intp]
    """(m,): weak rankers that the others can replace."""
    exact: bool
    """Whether outputs are equal along the basis on all rows, to a few units in the last place of their largest."""

    def __init__(self, problem: Problem) -> None:
        from scipy.linalg import qr

        n = problem.n_rankers
        moments = Moments(problem, problem.uniform())
        differences = np.sqrt(moments.weights.share)[:, None] * moments.differences
        diagonal = moments.hessian.diagonal() + np.square(differences).sum(axis=0)
        scale, live = _scale(diagonal, moments.p * problem.largest)
        values, right = moments.singular(live, scale, differences)
        kept = values > 100.0 * n * _EPS * values.max(initial=0.0)
        flat = np.setdiff1d(np.arange(n), live)
        self.dependent = flat
        self.basis = np.zeros((n, 0))
        self.exact = True
        vectors = np.zeros((n, np.count_nonzero(~kept)))
        vectors[live] = scale[live, None] * right[~kept].T
        if vectors.shape[1]:
            root = np.zeros((n, np.count_nonzero(kept)))
            root[live] = scale[live, None] * (right[kept].T / values[kept])
            for _ in range(2):
                vectors -= root @ (root.T @ _hessian_times(moments, vectors))
            order = qr(right[~kept], mode="r", pivoting=True)[1]
            self.dependent = np.concatenate([flat, live[order[: vectors.shape[1]]]])
        vectors = np.column_stack([np.eye(n)[:, flat], vectors])
        if vectors.shape[1]:
            self.basis = qr(vectors, mode="economic")[0]
            self.exact = _equal_along(moments, vectors)

    @property
    def size(self) -> int:
        return int(self.basis.shape[1])

    def scaled(self, factors: Vector) -> NullSpace:
        """Return the null space of the outputs times factors."""
        from scipy.linalg import qr

        found = copy(self)
        if self.size:
            found.basis = qr(self.basis / factors[:, None], mode="economic")[0]
        return found

    def without(self, lam: Vector) -> Vector:
        """Return the coefficients of least norm that order all rows as lam does."""
        return np.asarray(lam - self.basis @ (self.basis.T @ lam))


_NULL_SPACES: WeakKeyDictionary[Problem, NullSpace] = WeakKeyDictionary()


def null_space(problem: Problem) -> NullSpace:
    """Return the null space of the outputs, found once for a problem, before any scaling."""
    if problem not in _NULL_SPACES:
        if problem.unscaled is None:
            found = NullSpace(problem)
        else:
            columns, factors = problem.unscaled
            found = null_space(columns).scaled(factors)
        _NULL_SPACES[problem] = found
    return _NULL_SPACES[problem]


def _scale(diagonal: Vector, size: Any) -> tuple[Vector, NDArray[np.intp]]:
    """Return factors to a unit diagonal, and the columns that vary by more than the rounding of their size."""
    seen = diagonal > np.square(2.0 * _EPS * size)
    return np.where(seen, 1.0 / np.sqrt(np.where(seen, diagonal, 1.0)), 0.0), np.flatnonzero(seen)


def _hessian_times(moments: Moments, vectors: Any) -> Any:
    """Return the unscaled Hessian, with differences of means, times vectors in its approximate null space."""
    share, along = moments.weights.share, _along(moments, vectors)
    n, factors = share.size, (moments.p, moments.p**2)
    answers = moments.problem.reduce_weighted(moments.weights, _back, (along, along), (n, n), factors, moments.centres)
    total = answers[0][0] + answers[1][0]
    difference = answers[0][1] - answers[1][1]
    between = moments.p**2 * share[:, None] * (difference - share @ difference)
    total += moments.differences.T @ (share[:, None] * difference)
    return total + (moments.differences - moments.edges).T @ between


def _equal_along(moments: Moments, vectors: Any) -> bool:
    """Return whether no two rows of a group differ along the vectors by more than rounding of the outputs."""
    n, along = moments.weights.share.size, _along(moments, vectors)
    (pos_low, pos_high), (neg_low, neg_high) = moments.problem.reduce_weighted(
        moments.weights, _ends, (along, along), (n, n)
    )
    span = np.maximum(pos_high, neg_high) - np.minimum(pos_low, neg_low)
    return bool((span <= 4.0 * _EPS * (moments.problem.largest @ np.abs(vectors))).all())


@dataclass(frozen=True, eq=False)
class _Along:
    """Outputs along vectors of the approximate null space."""

    vectors: Any
    largest: Vector
    level: Any
    """The outputs on some positive of every group, (G, m), which are subtracted; None if nothing is subtracted."""

    def product(self, rows: WeightedRows) -> Any:
        """Return the outputs along the vectors, (N, m)."""
        blocks = (block for _, block in rows.table.blocks())
        product = _precise_product(blocks, self.vectors, self.largest)
        return product if self.level is None else product - self.level[rows.group]


def _along(moments: Moments, vectors: Any) -> _Along:
    raw, n = _Along(vectors, moments.problem.largest, None), moments.weights.share.size
    return replace(raw, level=moments.problem.reduce_weighted(moments.weights, _level, (raw, raw), (n, n))[0])


@reduction("first")
def _level(rows: WeightedRows, along: _Along, n_groups: int) -> Any:
    """Return the outputs of some row of every group that has rows here; nan for others."""
    level = np.full((n_groups, along.vectors.shape[1]), np.nan)
    if rows.rows.codes is None:
        first = next(block for _, block in rows.table.blocks())[:1]
        level[:] = _precise_product([first], along.vectors, along.largest)
    else:
        level[rows.rows.codes] = along.product(rows)
    return level


@reduction("sum", "sum")
def _back(rows: WeightedRows, along: _Along, n_groups: int, factor: float, centres: _Centres) -> tuple[Any, Any]:
    """Return centred outputs, weighted, times those along the vectors, and the mean of the latter in every group.

    The mean need not be subtracted, since the weighted outputs about their own mean sum to zero.
    """
    product = along.product(rows)
    mean = np.zeros((n_groups, product.shape[1]))
    np.add.at(mean, rows.groups, rows.within[:, None] * product)
    blocks = centres.taken_off(rows)
    return sum(block.T @ (factor * rows.total[place, None] * product[place]) for place, block in blocks), mean


@reduction("min", "max")
def _ends(rows: WeightedRows, along: _Along, n_groups: int) -> tuple[Any, Any]:
    low, high = (np.full((n_groups, along.vectors.shape[1]), x) for x in (np.inf, -np.inf))
    product = along.product(rows)
    np.minimum.at(low, rows.groups, product)
    np.maximum.at(high, rows.groups, product)
    return low, high


def _precise_product(blocks: Iterable[Any], vectors: Any, largest: Vector) -> Any:
    """Return H @ vectors, H in blocks of rows, with an error of about 1e-22 of the terms, which cancel.

    Both factors are split into leading bits and a rest. Products of the leading parts are exact (Ozaki, Ogita, Oishi &
    Rump, Numerical Algorithms 59, 2012).
    """
    n = largest.size
    bits = (53 - int(np.ceil(np.log2(n + 1)))) // 2
    top = 1.5 * 2.0 ** (52 - bits)
    unit = np.exp2(np.ceil(np.log2(np.maximum(largest, TINY))))
    scaled = vectors * unit[:, None]
    tall = np.exp2(np.ceil(np.log2(np.maximum(np.abs(scaled).max(axis=0), TINY))))
    scaled = scaled / tall
    lead = (scaled + top) - top
    parts = []
    for block in blocks:
        rows = block / unit
        first = (rows + top) - top
        parts.append((first @ lead + (first @ (scaled - lead) + (rows - first) @ scaled)) * tall)
    return np.concatenate(parts)
