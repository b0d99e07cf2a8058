"""The checked rows, kernel, loss, weights and groups of a run in a kernel space."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._blas import dot
from pnorm._checks import Groups, Vector
from pnorm._threads import Pool
from pnorm.kernel import _kernels, _spaces
from pnorm.kernel._model import Approximation, Model
from pnorm.objectives._base import Make, Scores, log_of_ones
from pnorm.objectives._losses import warn_of_pairs
from pnorm.objectives._pair_loss import GroupedScores, Grouping, PairLoss, Pairs, Sums
from pnorm.objectives._pairwise import PairwiseObjective
from pnorm.objectives._prices import Power


@dataclass(frozen=True, eq=False)
class Push:
    """A mean of the losses that gives more weight to high negatives: g^-1 of the mean of g(height), per positive.

    It is the convex form of sum_k g(S_k), shifted and scaled so that the mean is c if all losses are c.
    """

    objective: PairwiseObjective
    zero: float
    norm: float
    heaviest: float
    """The largest possible sum of the weights of the pairs."""

    @classmethod
    def of(cls, objective: Any, c_pos: Vector, c_neg: Vector, groups: Groups | None, mass: float) -> Push:
        """Return the mean for an objective of the rows that count."""
        price = objective.price
        if isinstance(price, Power):
            return cls(objective, 0.0, math.exp(log_of_ones(price.p, c_pos, c_neg, groups) / price.p), 1.0)
        heights = np.array([c_pos.sum()]) if groups is None else np.bincount(groups.pos, c_pos)
        total = float(c_neg.sum())
        norm = mass / total  # the mean height if all losses are one
        return cls(objective, math.log(total), price.scale * norm, float(heights.max()) / norm)

    def mean(self, log_r: float) -> tuple[float, float]:
        """Return the mean, given log R, and its derivative with respect to log R."""
        value, rate = self.objective.convex(log_r)
        return (value - self.zero) / self.norm, rate / self.norm

    def log_value(self, f: Scores) -> float:
        """Return log R; inf on overflow."""
        try:
            return self.objective.log_value(f)
        except OverflowError:
            return math.inf

    def straightness(self, heights: Vector) -> Any:
        """Return g' / g'' at given heights."""
        price: Any = self.objective.price
        return heights / (price.p - 1.0) if isinstance(price, Power) else 1.0 / price.scale

    def condition(self, mean: float) -> float:
        """Return a bound on 1 + S g''(S) / g'(S) for all heights S: the relative rate of g'(S) S compared with S."""
        price: Any = self.objective.price
        if isinstance(price, Power):
            return price.p
        return 2.0 * (1.0 + abs(self.zero) + self.norm * mean + self.objective.sizes()[1])  # twice the value


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows of positive weight, in a space, and the mean loss of their pairs."""

    space: _spaces.Space
    loss: PairLoss
    c_pos: Vector
    c_neg: Vector
    groups: Groups | None
    grouping: Grouping
    mass: float
    """The sum of the weights of all pairs."""
    pool: Pool
    make: Callable[[Vector], Model]
    push: Push | None
    """The price of heights; None if it is r, where E_S is a mean."""

    def mean_loss(self, f: Vector) -> float:
        """Return E_S."""
        if self.push is not None:
            return self.push.mean(self.push.log_value(self._split(f)))[0]
        return self._sums(f, slope=False)[0]

    def slopes(self, f: Vector) -> tuple[float, Vector]:
        """Return E_S, and minus its derivatives with respect to the scores."""
        if self.push is not None:
            s = np.empty(f.size)
            u, w = s[: self.c_pos.size], s[self.c_pos.size :]
            found = self.push.objective.evaluate(self._split(f), u, w)
            value, rate = self.push.mean(found.log_f)
            s *= rate * found.rate
            np.negative(w, out=w)
            return value, s
        mean, pos, neg, heights = self._sums(f, slope=True)
        back = self.loss.sums(Pairs(neg, neg.gather(self.c_neg), pos, -1.0, self.pool, value=False))
        s = np.empty(f.size)
        pos.scatter(back.slope * np.exp(back.exponent), s[: self.c_pos.size])
        neg.scatter(heights.slope * -np.exp(heights.exponent), s[self.c_pos.size :])
        s[: self.c_pos.size] *= self.c_pos / self.mass
        s[self.c_pos.size :] *= self.c_neg / self.mass
        return mean, s

    def _split(self, f: Vector) -> Scores:
        return Scores(f[: self.c_pos.size], f[self.c_pos.size :])

    def _sums(self, f: Vector, slope: bool) -> tuple[float, GroupedScores, GroupedScores, Sums]:
        n = self.c_pos.size
        pos, neg = self.grouping.sort(f[:n], f[n:], self.loss.ascending, self.pool)
        heights = self.loss.sums(Pairs(pos, pos.gather(self.c_pos), neg, 1.0, self.pool, slope=slope))
        return dot(heights.value * np.exp(heights.exponent), neg.gather(self.c_neg)) / self.mass, pos, neg, heights

    def apart(self, f: Vector) -> Vector:
        """Return H f, where H is the Hessian of half the mean squared difference of scores within pairs."""
        n = self.c_pos.size
        codes = np.zeros(n, np.intp), np.zeros(f.size - n, np.intp)
        if self.groups is not None:
            codes = self.groups.pos, self.groups.neg
        sides = (f[:n], self.c_pos, codes[0]), (f[n:], self.c_neg, codes[1])
        mass = [np.bincount(code, c) for _, c, code in sides]
        total = [np.bincount(code, c * values) for values, c, code in sides]
        others = zip(sides, reversed(mass), reversed(total), strict=True)
        return np.concatenate([c * (m[code] * values - t[code]) / self.mass for (values, c, code), m, t in others])

    def model(self, a: Vector) -> Model:
        """Return the function of these coordinates."""
        return self.make(self.space.coefficients(a))


def make_problem(
    pos: Any,
    neg: Any,
    kernel: Any,
    params: dict[str, Any],
    loss: PairLoss,
    make_push: Make | None,
    sample: tuple[Any, Any, Any, Any],
    landmarks: Any,
    generator: np.random.Generator,
    limit: float,
    pool: Pool,
) -> Problem:
    """Check the rows, the kernel, and the weights and groups in `sample`."""
    X, names, known = _read(pos, neg, kernel, params)
    n_pos, n_neg = _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg")
    counted = _checks.case_weights(n_pos, n_neg, *sample)
    if make_push is None:
        warn_of_pairs(loss, counted.n_pairs, depth=4)
    keep = None if counted.kept is None else np.flatnonzero(np.concatenate(counted.kept))
    rows = _kernels.Rows(X) if keep is None else _kernels.Rows(_kernels.Rows(X)[keep])
    if counted.kept is not None:
        n_pos, n_neg = (int(side.sum()) for side in counted.kept)
    _kernels.check(known, rows)

    chosen: NDArray[np.intp] | None = None
    approximation = None
    space: _spaces.Space
    if landmarks is None:
        space = gram = _spaces.Gram(known, rows, pool, math.inf if isinstance(known, _kernels.Given) else limit)
        if not gram.fits and limit > 0.0:
            warnings.warn(
                f"the Gram matrix of {gram.n} rows takes {4e-9 * gram.n * gram.n:.3g} GB, and the part beyond "
                "memory_limit is computed again in every step. Pass landmarks=1000 to approximate the kernel, or raise "
                "memory_limit",
                RuntimeWarning,
                stacklevel=3,
            )
    else:
        space, left_out, chosen, base = _landmarks(known, rows, landmarks, X, names, generator, limit, pool)
        total = float((left_out + space.diagonal()).sum())
        approximation = Approximation(float(left_out.sum()) / total, float(left_out.max()))
        if base is None and keep is not None:
            chosen = keep[chosen]
        elif base is not None:
            X = base

    def make(coef: Vector) -> Model:
        if chosen is None and keep is not None:
            coef = _checks.spread(coef, np.concatenate(counted.kept or ()))
        own = None if isinstance(known, _kernels.Given) else X if chosen is None else _kernels.Rows(X)[chosen]
        kept = len(X) if isinstance(known, _kernels.Given) else known
        return Model(coef, own, known.name, _kernels.params_of(known), chosen, approximation, kept, names)

    c_pos = np.ones(n_pos) if counted.c_pos is None else counted.c_pos
    c_neg = np.ones(n_neg) if counted.c_neg is None else counted.c_neg
    groups = counted.groups
    codes = None if groups is None else (groups.pos, groups.neg)
    if codes is None:
        mass = float(c_pos.sum()) * float(c_neg.sum())
    else:
        with np.errstate(over="ignore"):
            mass = float((np.bincount(codes[0], c_pos) * np.bincount(codes[1], c_neg)).sum())
    if not 1.0 / _checks.ROOT < mass < _checks.ROOT:
        raise ValueError(
            f"the products of pos_weight and neg_weight add up to {mass:.3g}, so the mean over pairs cannot be "
            "computed. Scale the weights to about one"
        )
    push = None if make_push is None else Push.of(make_push(counted, pool), c_pos, c_neg, groups, mass)
    return Problem(space, loss, c_pos, c_neg, groups, Grouping(codes), mass, pool, make, push)


def _read(
    pos: Any, neg: Any, kernel: Any, params: dict[str, Any]
) -> tuple[Any, tuple[str, ...] | None, _kernels.Kernel]:
    """Return the training rows (row numbers for a Gram matrix), their column names, and the kernel."""
    n = _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg")
    G = None
    if isinstance(kernel, str) and kernel == "precomputed":
        _checks.same_width(pos, neg)
        G = np.concatenate([_checks.array(X, name) for X, name in ((pos, "pos"), (neg, "neg"))])
    elif len(_checks.shape_of(kernel)) == 2:
        G = _checks.array(kernel, "kernel")
    if G is not None:
        return range(n), None, _kernels.given(G, n, params)
    if callable(kernel) and not (_is_table(pos) and _is_table(neg)):
        return [*pos, *neg], None, _kernels.named(kernel, params, None)
    sides = _checks.two_sides(pos, neg)
    if _checks.is_sparse(sides[0]):
        import scipy.sparse

        X = scipy.sparse.vstack(sides, format="csr")
    else:
        X = np.concatenate(sides)
    return X, _checks.column_names(pos), _kernels.named(kernel, params, X)


def _is_table(X: Any) -> bool:
    """Return whether X is a matrix, a frame, or rows of numbers, and not a sequence of things."""
    if _checks.shape_of(X):
        return len(_checks.shape_of(X)) == 2
    try:
        A = np.asarray(X)
    except ValueError:
        return False
    return A.ndim == 2 and A.dtype.kind in "buif"


def _landmarks(
    kernel: _kernels.Kernel,
    rows: _kernels.Rows,
    landmarks: Any,
    X: Any,
    names: tuple[str, ...] | None,
    generator: np.random.Generator,
    limit: float,
    pool: Pool,
) -> tuple[_spaces.Landmarks, Vector, NDArray[np.intp], Any]:
    """Return the space of landmarks, the residual of K(x, x), the positions, and the rows that were given."""
    base = None
    if isinstance(landmarks, numbers.Number):
        size = min(_checks.count(landmarks, "landmarks", 1), rows.n)
    elif isinstance(kernel, _kernels.Given):
        raise TypeError("with a Gram matrix, landmarks must be a number of training rows")
    elif isinstance(X, list):
        base = list(landmarks)
        size = len(base)
    else:
        if len(_checks.shape_of(landmarks)) != 2 and not _is_table(landmarks):
            raise ValueError(
                "landmarks must be a number of training rows, or an array of rows of shape (m, d); row numbers are not "
                "accepted"
            )
        base = _checks.matrix(_checks.pick(landmarks, names, "landmarks"), "landmarks")
        if base.shape[1] != X.shape[1]:
            raise ValueError(f"landmarks has {base.shape[1]} columns and the training rows have {X.shape[1]}")
        size = base.shape[0]
    if 8.0 * rows.n * size > limit:
        raise ValueError(
            f"{size} landmarks of {rows.n} rows take {8e-9 * rows.n * size:.3g} GB, more than memory_limit = "
            f"{limit * 1e-9:.3g} GB. Pass at most {int(limit / (8.0 * rows.n))} landmarks, or raise memory_limit"
        )
    if base is None:
        chosen, phi, L, left = _spaces.rpcholesky(kernel, rows, size, generator, pool)
    else:
        chosen, phi, L, left = _spaces.pivoted_cholesky(kernel, rows, _kernels.Rows(base), pool)
    return _spaces.Landmarks(phi, L, pool), left, chosen, base
