r"""The widest margin: the shortest coefficients that put every positive at least one above every negative,

    minimise |lam / unit|**2   subject to   f(x_i) - f(x_k) >= 1 for all pairs.

The solution is unique. It does not depend on the weights of rows, on copies of rows or on their order. It is the
support vector machine without slack. With units of one, it is the direction of the minimiser of
log F_p + l2/2 |lam|**2 as l2 falls to zero (Rosset, Zhu & Hastie, JMLR 5, 2004).

With a threshold for every group, the condition on pairs becomes a condition on single rows. The rows nearest to the
thresholds give a least-distance problem, which is solved by nonnegative least squares (Lawson & Hanson, 1974,
chapter 23). Further rows are added until no row falls short of the margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector, is_sparse
from pnorm._solvers.hessian import FEW
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import Rows, reduction

_MOST = 200
"""Number of rows that a part adds at a time."""

_MAX_ROUNDS = 100

_SHORT = 1e-9
"""Share of the margin that a row may fall short: rounding of the thresholds."""

_STILL = 1e-6
"""Share of the margin that a threshold may move in the last round. The coefficients change by its square."""

_FREE = 1000.0
"""A move of a threshold by this much costs as much as a coefficient of one. The next move starts from the new place,
so the cost tends to zero.

Measured: 3 to 6 rounds, and 10 rounds with 100 instead; a move is rounded to about 1e-9 of the margin.
"""


@dataclass(frozen=True, eq=False)
class Widest:
    """The shortest coefficients of margin one."""

    lam: Vector
    between: Vector | None
    """The shortest vector between the hulls, a difference of means of rows, which is the proof; None if not found."""


def widest(problem: Problem, lam: Vector, unit: Vector) -> Widest:
    """Find the widest margin, given coefficients that separate; a ranker of unit zero is left out."""
    search, found = _Search(problem, unit, lam), []
    if search.settles():
        both = [unit * x for x in (search.x, search.polished())]
        found = [x / margin for x in both if (margin := problem.margin_at(x)) > 0.0]
    if not found:
        margin = problem.separation(problem.point(lam))
        return Widest(lam / margin if margin > 0.0 else lam, None)  # rounding of scaled outputs may hide it
    return Widest(min(found, key=lambda x: float(np.linalg.norm(_over(x, unit)))), search.between())


def _over(lam: Vector, unit: Vector) -> Vector:
    return np.divide(lam, unit, out=np.zeros_like(lam), where=unit > 0.0)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows in units of their rankers, the negatives with a minus."""

    matrix: Any
    """(m, n)."""
    sign: Vector
    group: NDArray[np.intp]

    def keys(self) -> list[tuple[Any, ...]]:
        """Return a key for every row, equal for equal rows."""
        if not is_sparse(self.matrix):
            own: list[tuple[bytes, ...]] = [(row.tobytes(),) for row in self.matrix + 0.0]  # one zero
        else:
            ends = self.matrix.indptr
            parts = self.matrix.indices, self.matrix.data
            own = [tuple(part[a:b].tobytes() for part in parts) for a, b in pairwise(ends)]
        return list(zip(self.sign.tolist(), self.group.tolist(), own, strict=True))

    def taken(self, which: Any) -> _Rows:
        return _Rows(self.matrix[which], self.sign[which], self.group[which])

    def root(self) -> Any:
        """Return a matrix (r, m) whose columns have the inner products of the rows."""
        from scipy.linalg import eigh, qr

        rows, n = self.matrix.shape
        if is_sparse(self.matrix):
            values, vectors = eigh((self.matrix @ self.matrix.T).toarray())
            return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return self.matrix.T if n <= rows else qr(self.matrix.T, mode="r")[0][:rows]

    @staticmethod
    def together(parts: Sequence[_Rows]) -> _Rows:
        """Return the rows of several parts, each once."""
        from scipy.sparse import csr_array, vstack

        matrices = [part.matrix for part in parts]
        if any(map(is_sparse, matrices)):
            whole = vstack([csr_array(matrix) for matrix in matrices], format="csr")
        else:
            whole = np.concatenate(matrices)
        rows = _Rows(whole, *(np.concatenate([getattr(part, name) for part in parts]) for name in ("sign", "group")))
        first = {key: i for i, key in reversed(list(enumerate(rows.keys())))}
        return rows.taken(np.sort(np.fromiter(first.values(), np.intp)))


class _Search:
    """Rows near the thresholds, and the widest margin of these rows."""

    def __init__(self, problem: Problem, unit: Vector, lam: Vector) -> None:
        self.problem, self.unit = problem, unit
        self._wide = problem.n_rankers > FEW  # rows that are sparse stay so
        self._centre = np.zeros_like(lam) if self._wide else 0.5 * problem.low + 0.5 * problem.high
        self._n_groups = problem.groups.n
        self.x = _over(lam, unit)
        """Coefficients in units."""
        self.x /= np.linalg.norm(self.x)
        low, high = self._ask(lowest)
        self._margin = max(float((low + high).min()), 0.1)
        """The required margin of all pairs, chosen so that the coefficients have a length of about one."""
        self._middle = 0.5 * (low - high) - self._level
        """The threshold of every group, above the score of the centre."""
        self._rows: _Rows | None = None
        self._share = np.zeros(0)
        """The multiplier of every row in the coefficients."""

    def settles(self) -> bool:
        """Solve with more and more rows until no other row falls short; return whether this succeeds."""
        level = np.inf
        for _ in range(_MAX_ROUNDS):
            more = self._join(level)
            try:
                moved = self._solve()
            except RuntimeError:  # raised by SciPy at its limit of steps
                return False
            if not moved < np.inf:
                return False
            if not more and moved <= _STILL * self._margin:
                return True
            level = 0.5 * self._margin * (1.0 - _SHORT)
        return False

    @property
    def _level(self) -> float:
        return float(self._centre @ (self.unit * self.x))

    def _ask(self, asked: Any, *more: Any) -> list[Any]:
        lam = self.unit * self.x
        return self.problem.reduce(asked, *[(x, x) for x in (lam, self._n_groups, *more)])

    def _join(self, level: float) -> bool:
        """Add rows below a level; return whether there are any."""
        found = [
            _Rows(self._in_units(rows, sign), sign, group)
            for rows, sign, group in chain(*self._ask(_near, self._middle + self._level, level))
        ]
        if not found:
            return False
        known = self._rows
        if known is not None and self._share.size > 4 * _MOST:
            known = known.taken(self._share > 0.0)
        self._rows = _Rows.together(found if known is None else [known, *found])
        return known is None or self._rows.sign.size > known.sign.size

    def _in_units(self, rows: Any, sign: Vector) -> Any:
        """Return rows about the centre, in units."""
        if is_sparse(rows) and self._wide:
            rows = rows.multiply(self.unit).tocsr()
            rows.sum_duplicates()
            rows.eliminate_zeros()
            return rows
        dense = rows.toarray() if is_sparse(rows) else rows
        return (dense - sign[:, None] * self._centre) * self.unit

    def _solve(self) -> float:
        """Find the widest margin of the rows; return the largest move of a threshold."""
        from scipy.optimize import nnls

        rows = self._rows
        assert rows is not None
        here, group = np.unique(rows.group, return_inverse=True)
        price = _FREE * min(1.0, self._margin)  # a move is rounded to its square over the margin
        free = np.zeros((here.size, rows.sign.size))
        free[group, np.arange(group.size)] = -price * rows.sign
        asked = 0.5 * self._margin + rows.sign * self._middle[rows.group]
        matrix = np.concatenate([rows.root(), free, asked[None]])
        target = np.zeros(len(matrix))
        target[-1] = 1.0
        weights, _ = nnls(matrix, target, maxiter=30 * matrix.shape[1])
        left = 1.0 - float(asked @ weights)
        if not left > 0.0 or not (weights[rows.sign > 0.0].any() and weights[rows.sign < 0.0].any()):
            return np.inf
        self._share = weights / left
        self.x = np.asarray(rows.matrix.T @ self._share)
        moves = price * (free @ self._share)
        self._middle[here] += moves
        moved, size = float(np.abs(moves).max()), float(np.linalg.norm(self.x))
        if 0.1 < size < 10.0:
            return moved
        if not 0.0 < size < np.inf:  # nothing but rounding is left of the rows
            return np.inf
        self.x /= size
        self._share /= size
        self._middle /= size
        self._margin /= size
        return max(moved / size, 2.0 * _STILL * self._margin)  # one more round

    def between(self) -> Vector:
        """Return the difference of means that is proportional to the coefficients; masses match to all digits."""
        rows = self._rows
        assert rows is not None
        on_pos, on_neg = (
            np.bincount(rows.group, self._share * (rows.sign == sign), self._n_groups) for sign in (1.0, -1.0)
        )
        share = self._share * np.where(rows.sign > 0.0, 1.0, (on_pos / np.maximum(on_neg, 1e-300))[rows.group])
        return np.asarray(rows.matrix.T @ share) / float(on_pos.sum())

    def polished(self) -> Vector:
        """Return the shortest coefficients with the support rows on the margin, by least squares for more digits."""
        from scipy.linalg import lstsq

        assert self._rows is not None
        rows = self._rows.taken(self._share > 0.0)
        pairs = []
        for g in np.unique(rows.group):
            pos, neg = (np.flatnonzero((rows.group == g) & (rows.sign == sign)) for sign in (1.0, -1.0))
            if pos.size and neg.size:
                pairs += [(pos[0], k) for k in neg] + [(i, neg[0]) for i in pos[1:]]
        i, k = np.array(pairs).T
        differences, ones = rows.matrix[i] + rows.matrix[k], np.full(len(pairs), self._margin)
        if not is_sparse(differences):
            return np.asarray(lstsq(differences, ones)[0])
        square, x = (differences @ differences.T).toarray(), np.zeros(self.x.size)
        for _ in range(2):
            x += differences.T @ lstsq(square, ones - differences @ x)[0]
        return x


@reduction("min")
def lowest(rows: Rows, lam: Vector, n_groups: int) -> Vector:
    """Return the lowest score of a positive in every group, or of a negative with a minus."""
    out = np.full(n_groups, np.inf)
    np.minimum.at(out, rows.groups, rows.sign * rows.scores(lam))
    return out


@reduction("list")
def _near(rows: Rows, lam: Vector, n_groups: int, middle: Vector, level: float) -> list[Any]:
    """Return the rows nearest to their threshold, within a level of it or beyond, with a sign, and their groups."""
    sign = rows.sign
    above = sign * (rows.scores(lam) - middle[rows.group])
    which = np.flatnonzero(above < level)
    if which.size > _MOST:
        which = which[np.argpartition(above[which], _MOST)[:_MOST]]
    if not which.size:
        return []
    return [(sign * rows.table.select_rows(which).matrix(), np.full(which.size, sign), rows.groups[which])]
