"""Baselines for a list: a linear model, logistic curves, boosted trees and the best column, from the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.special import expit

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.text import shown
from pnorm._default import METRIC, SECOND_METRIC
from pnorm._minimize import minimize
from pnorm.metrics._by_name import LARGER
from pnorm.rankers import Rankers, TableWarning, from_table
from pnorm.rankers._alike import deal, units_of
from pnorm.rankers._readings import CATEGORY, Where
from pnorm.rankers._table import Source, Table

LINEAR = "linear model"
CURVES = "logistic curves"
TREES = "boosted trees"

L2 = 1e-3
"""The penalty of straight lines, whose columns have a standard deviation of 1. Any from 1e-5 to 1e-2 gives the same AUC
on held-out rows of adult and bank to 0.0004. It is within 0.003 of that of logistic regression."""

_ROWS, _NUMBERS = 2**14, 2**23
"""Rows of either side for straight lines, and numbers in a matrix of them, at most; p = 1 does not depend on how many
rows of either side there are but by a constant."""

WEIGHTS = 1.0, 10.0, 100.0
"""Weights of the negatives in logistic regression. A larger one counts mistakes near the top more, as a larger p does:
``benchmarks/weights.py`` at 096f0207."""

PENALTIES = 1.0, 1e-1, 1e-2
"""Penalties of logistic regression, beside the sum of losses by the number of positives; the strongest first."""

_KNOTS, _DEGREE = 6, 3
"""Knots of a curve, at quantiles, and the degree of its polynomials, as in ``benchmarks/additive.py``."""

_FOLDS, _TO_CHOOSE = 3, 50
"""Folds of the choice, and the rows of either side below which nothing is chosen: the weight is 1, the penalty 0.1."""

_CHOOSING, _FINAL = 1e-3, 1e-5
"""Gradients at which logistic regression ends, while it chooses and for good."""

_CHOOSING_NUMBERS = 2**21
"""Numbers in the matrix of curves that the choice is made with, at most."""

_RATE, _ROUNDS = 0.05, 300
"""The learning rate of boosted trees, and their number at most; rows that are kept back say when to end."""

_FEW_ROUNDS = 50
"""The number of boosted trees where too few rows of either side are there to keep some back."""

_TREE_LEVELS = 250
"""The most frequent levels of a column, at most, that boosted trees are given."""

_FOLDS_OF_COLUMNS = 5
"""Folds by which the best column is chosen."""

_LEVELS = 30
"""The most frequent levels of a column, at most, that have an indicator beside the lines."""

_FEW = 20
"""Levels with fewer rows are put together: they have one share of positives."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """Another list of the same rows."""

    name: str
    """Its name."""
    score: Callable[[Any], Vector]
    """A function from a table of rows to their scores."""


def baselines(
    pos: Any,
    neg: Any,
    H: Rankers | None = None,
    *,
    kinds: Mapping[Any, Any] | None = None,
    push: str = "top",
    seed: Any = 0,
    n_threads: int | None = None,
) -> list[Baseline]:
    """Train what a list is to be compared with: "linear model", "logistic curves", "boosted trees" and "NAME alone".

    The first is a sum of one straight line per column of numbers and an indicator per level of text, by `minimize` with
    p = 1 and a small penalty: what logistic regression would be. The second is logistic regression on a cubic spline
    per column of numbers and the same indicators. Cross-validation chooses its penalty and a weight on the negatives,
    or on the positives if the push is at the bottom, by the measures of the default. The third is scikit-learn's
    HistGradientBoostingClassifier, and is left out where scikit-learn is not installed. The last one is the column by
    which rows are ordered best, by the mean AUC of 5 folds, in either direction; levels count by their shares of
    positives in the other folds.

    `H` is what `from_table` has made of these rows and says how columns are read; if it is something else, `from_table`
    is called, with `kinds`. `seed` draws rows for the sums, where there are very many. O(N log N) for each column.
    """
    if not isinstance(H, Table):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)  # it has been said of the model
            try:
                H = from_table(pos, neg, kinds=kinds, n_cuts=1, n_threads=n_threads)
            except ValueError:  # no column of it can be used
                return []
    assert isinstance(H, Table)
    rng = _checks.generator(seed)
    most = max(100, min(_ROWS, _NUMBERS // (2 * len(H._sources))))
    sides = [_some(rng, X, most) for X in (pos, neg)]
    columns = list(zip(*[values_read(H, X, name) for X, name in zip(sides, ("pos", "neg"), strict=True)], strict=True))
    found = [Baseline(LINEAR, _lines(H, columns, n_threads)), Baseline(CURVES, _curves(H, columns, push))]
    boosted = _boosted()
    if boosted is not None:
        found.append(Baseline(TREES, _trees(boosted, H, columns, rng, n_threads)))
    return [*found, _alone(H, columns, pos, neg)]


def values_read(H: Table, X: Any, name: str = "X", sources: tuple[Source, ...] | None = None) -> Iterator[NDArray[Any]]:
    """Yield what is in each column that is used: floats, NaN where missing, or numbers of levels."""
    used = H._sources if sources is None else sources
    width = H._width
    assert width is not None
    for source in used:
        (cells,) = _checks.cells_of(X, name, H._found, width, [source.column])
        at = Where(name, source.column, H._found)
        if source.reading.kind == CATEGORY:
            yield source.reading.codes(cells, at)[0].astype(np.intp)
        else:
            yield source.reading.numbers(cells, at)


# Sums over columns ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Line:
    """Columns of a matrix that a column of numbers gives: a line, and whether the value is missing, if some are."""

    middle: float
    scale: float
    missing: bool

    @property
    def width(self) -> int:
        return 1 + self.missing

    def columns(self, x: Vector, out: NDArray[np.float64]) -> None:
        there = ~np.isnan(x)
        out[:, 0] = np.where(there, x - self.middle, 0.0) * self.scale
        if self.missing:
            out[:, 1] = ~there

    def score(self, x: Vector, lam: Vector) -> Vector:
        there = ~np.isnan(x)
        return np.where(there, lam[0] * self.scale * (x - self.middle), lam[1] if self.missing else 0.0)


@dataclass(frozen=True, eq=False)
class _Curve:
    """Columns made of a column of numbers: the parts of a spline, and an indicator of missing values."""

    knots: Vector
    missing: bool

    @property
    def n_parts(self) -> int:
        return self.knots.size - _DEGREE - 1

    @property
    def width(self) -> int:
        return self.n_parts + self.missing

    def columns(self, x: Vector, out: NDArray[np.float64]) -> None:
        there = ~np.isnan(x)
        out[~there, : self.n_parts] = 0.0
        out[there, : self.n_parts] = self._at(x[there], np.eye(self.n_parts))
        if self.missing:
            out[:, -1] = ~there

    def score(self, x: Vector, lam: Vector) -> Vector:
        there = ~np.isnan(x)
        f = np.full(x.size, lam[-1] if self.missing else 0.0)
        f[there] = self._at(x[there], lam[: self.n_parts])
        return f

    def _at(self, x: Vector, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return splines at values; they are level beyond the training rows."""
        curve = BSpline(self.knots, coefficients, _DEGREE)
        return np.asarray(curve(np.clip(x, self.knots[0], self.knots[-1])))


@dataclass(frozen=True, eq=False)
class _Indicators:
    """Columns that a category gives: one for each of some levels."""

    levels: NDArray[np.intp]

    @property
    def width(self) -> int:
        return self.levels.size

    def columns(self, codes: NDArray[np.intp], out: NDArray[np.float64]) -> None:
        out[:] = codes[:, None] == self.levels

    def score(self, codes: NDArray[np.intp], lam: Vector) -> Vector:
        of_code = np.zeros(1 + max(int(codes.max()), int(self.levels.max())))
        of_code[self.levels] = lam
        return np.asarray(of_code[codes])


_Part = _Line | _Curve | _Indicators
_Columns = Sequence[tuple[NDArray[Any], NDArray[Any]]]
"""The values of each column, of the positives and of the negatives, in random order."""


def _some(rng: np.random.Generator, X: Any, most: int) -> Any:
    """Return rows in an order at random, `most` of them at most."""
    return _checks.rows(X, rng.permutation(_checks.n_rows(X, "X"))[:most])


def _matrices(parts: Sequence[_Part], columns: _Columns) -> list[NDArray[np.float64]]:
    """Return a matrix of either side: the columns of all parts, for as many rows as there is memory for."""
    ends = np.cumsum([part.width for part in parts]).tolist()
    fewer = max(100, _NUMBERS // (2 * ends[-1]))
    matrices = []
    for side in (0, 1):
        rows = slice(min(fewer, len(columns[0][side])))
        A = np.empty((len(columns[0][side][rows]), ends[-1]))
        for part, of_sides, end in zip(parts, columns, ends, strict=True):
            part.columns(of_sides[side][rows], A[:, end - part.width : end])
        matrices.append(A)
    return matrices


def _sum(H: Table, parts: Sequence[_Part], lam: Vector) -> Callable[[Any], Vector]:
    """Return the function from a table to scores that coefficients of the parts define."""
    of_parts = np.split(lam, np.cumsum([part.width for part in parts])[:-1])

    def score(X: Any) -> Vector:
        f = np.zeros(_checks.n_rows(X, "X"))
        for part, own, x in zip(parts, of_parts, values_read(H, X), strict=True):
            f += part.score(x, own)
        return f

    return score


def _indicators(x: NDArray[Any]) -> _Indicators:
    return _Indicators(_most_frequent(x, _LEVELS))


def _most_frequent(codes: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the levels that most rows have, in order of their codes."""
    counts = np.bincount(codes)
    levels = np.argsort(-counts, kind="stable")[:most]
    return np.sort(levels[counts[levels] > 0])


def _line(x: NDArray[Any]) -> _Part:
    """Return the line of a column, or its indicators, told from the values of both sides, which count the same."""
    if x.dtype.kind == "i":
        return _indicators(x)
    known = x[~np.isnan(x)]
    if not known.size:
        return _Line(0.0, 0.0, True)
    middle, spread = float(known.mean()), float(known.std())
    return _Line(middle, 1.0 / spread if spread > 0.0 else 0.0, known.size < x.size)


def _curve(x: NDArray[Any]) -> _Part:
    """Return the curve of a column, or a line if it has too few values for one, or its indicators."""
    if x.dtype.kind == "i":
        return _indicators(x)
    known = x[~np.isnan(x)]
    knots = np.unique(np.quantile(known, np.linspace(0.0, 1.0, _KNOTS))) if known.size else known
    if knots.size < 3:
        return _line(x)
    return _Curve(np.pad(knots, _DEGREE, mode="edge"), known.size < x.size)


def _lines(H: Table, columns: _Columns, n_threads: int | None) -> Callable[[Any], Vector]:
    parts = [_line(np.concatenate(of_sides)) for of_sides in columns]
    hits, others = _matrices(parts, columns)
    lam, _ = minimize(hits, others, p=1.0, l2=L2, tol=1e-6, n_threads=n_threads)
    return _sum(H, parts, lam)


# Logistic regression on curves ------------------------------------------------------------------------


def _curves(H: Table, columns: _Columns, push: str) -> Callable[[Any], Vector]:
    parts = [_curve(np.concatenate(of_sides)) for of_sides in columns]
    sides = _matrices(parts, columns)
    rows = np.concatenate(sides)
    spread = rows.std(axis=0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-12)
    middle = rows.mean(axis=0)
    hits, others = [(side - middle) * scale for side in (sides if push == "top" else sides[::-1])]
    fewer = max(100, _CHOOSING_NUMBERS // (2 * hits.shape[1]))
    penalty, weight = _chosen(hits[:fewer], others[:fewer])
    lam = _logistic(hits, others, penalty, weight, _FINAL)[:-1] * scale
    return _sum(H, parts, lam if push == "top" else -lam)


def _chosen(hits: NDArray[np.float64], others: NDArray[np.float64]) -> tuple[float, float]:
    """Return a penalty and a weight, by cross-validation with the rule of `_default.choose`."""
    grid = [(penalty, weight) for weight in WEIGHTS for penalty in PENALTIES]
    if min(len(hits), len(others)) < _TO_CHOOSE:
        return PENALTIES[1], WEIGHTS[0]
    positive = np.repeat([True, False], [len(hits), len(others)])
    units = units_of((hits, others), positive)
    number = np.concatenate([np.arange(len(side)) % _FOLDS for side in (hits, others)])
    if units is not None:
        number = deal(positive, _FOLDS, np.random.default_rng(0), units)
    n_folds = 1 + int(number.max())
    measured = np.empty((2, len(grid), n_folds))
    for fold in range(n_folds):
        out, out_others = number[positive] == fold, number[~positive] == fold
        theta: Vector | None = None
        for k, (penalty, weight) in enumerate(grid):
            theta = _logistic(hits[~out], others[~out_others], penalty, weight, _CHOOSING, theta)
            f = hits[out] @ theta[:-1], others[out_others] @ theta[:-1]
            measured[:, k, fold] = [LARGER[name](*f) for name in (METRIC, SECOND_METRIC)]
    first, second = measured
    mean, best = first.mean(axis=1), first[first.mean(axis=1).argmax()]
    near = mean >= best.mean() - best.std(ddof=1) / math.sqrt(n_folds)
    return grid[int(np.where(near, second.mean(axis=1), -1.0).argmax())]


def _logistic(
    hits: NDArray[np.float64],
    others: NDArray[np.float64],
    penalty: float,
    weight: float,
    tol: float,
    start: Vector | None = None,
) -> Vector:
    """Return the coefficients and the intercept of logistic regression, with a weight on the others."""
    n = len(hits)

    def value(theta: Vector) -> tuple[float, Vector]:
        f, g = hits @ theta[:-1] + theta[-1], others @ theta[:-1] + theta[-1]
        loss = np.logaddexp(0.0, -f).sum() + weight * np.logaddexp(0.0, g).sum()
        u, v = expit(-f), weight * expit(g)
        slope = np.append(v @ others - u @ hits, v.sum() - u.sum()) / n
        slope[:-1] += penalty * theta[:-1]
        return float(loss / n + 0.5 * penalty * theta[:-1] @ theta[:-1]), slope

    start = np.zeros(hits.shape[1] + 1) if start is None else start
    how = {"maxiter": 1000, "gtol": tol, "ftol": 0.0}
    return np.asarray(scipy.optimize.minimize(value, start, jac=True, method="L-BFGS-B", options=how).x)


# Boosted trees ----------------------------------------------------------------------------------------


def _boosted() -> Any:
    """Return the class of boosted trees and the limit of its threads; None if scikit-learn is not installed.

    It is imported here, for the comparison only: it takes about a second.
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits  # which scikit-learn requires
    except ImportError:
        return None
    return HistGradientBoostingClassifier, threadpool_limits


def _trees(
    boosted: Any, H: Table, columns: _Columns, rng: np.random.Generator, n_threads: int | None
) -> Callable[[Any], Vector]:
    trees, limits = boosted
    # Threads of OpenMP wait in a loop. While other processes were running, 4,800 rows took 4 to 21 s on two threads,
    # and 0.5 to 0.8 s on one. 100,000 rows take 2.4 s on one.
    limited = partial(limits, _checks.threads(n_threads) or 1, "openmp")
    both = [np.concatenate(of_sides) for of_sides in columns]
    levels = [_most_frequent(x, _TREE_LEVELS) if x.dtype.kind == "i" else None for x in both]

    def matrix(values: Iterable[NDArray[Any]]) -> NDArray[np.float64]:
        return np.column_stack([_of_trees(x, of) for x, of in zip(values, levels, strict=True)])

    n_pos, n_neg = [len(side) for side in columns[0]]
    enough = min(n_pos, n_neg) >= _TO_CHOOSE
    model = trees(
        learning_rate=_RATE,
        max_iter=_ROUNDS if enough else _FEW_ROUNDS,
        early_stopping=enough,
        categorical_features=[of is not None for of in levels],
        random_state=int(rng.integers(2**31)),
    )
    with limited():
        model.fit(matrix(both), np.arange(n_pos + n_neg) < n_pos)

    def score(X: Any) -> Vector:
        with limited():
            return np.asarray(model.decision_function(matrix(values_read(H, X))))

    return score


def _of_trees(x: NDArray[Any], levels: NDArray[np.intp] | None) -> Vector:
    """Return a column for boosted trees: numbers as they are, or the places of levels; NaN for other levels."""
    if levels is None:
        return x
    place = np.minimum(levels.searchsorted(x), levels.size - 1)
    return np.where(levels[place] == x, place, np.nan)


# The best column --------------------------------------------------------------------------------------


def _alone(H: Table, columns: _Columns, pos: Any, neg: Any) -> Baseline:
    """Return the list by the best column: chosen on the rows of the sums, and learned from all rows."""
    auc = [_held_out_auc(*of_sides) for of_sides in columns]
    source = H._sources[int(np.argmax(auc))]
    order = _order(*[next(values_read(H, X, name, (source,))) for X, name in ((pos, "pos"), (neg, "neg"))])
    name = f"{shown(H.plan[source.column].name, 40)} alone"
    return Baseline(name, lambda X: order(next(values_read(H, X, "X", (source,)))))


def _held_out_auc(pos: NDArray[Any], neg: NDArray[Any]) -> float:
    """Return the mean AUC of the order by a column over folds, each of which is ordered as the other rows say.

    On the rows that it is learned from, a column of many levels is ahead by chance: 400 levels of noise in 10,000 rows
    had an AUC of 0.61, and 0.50 in folds. A class of one row cannot be divided.
    """
    n = min(_FOLDS_OF_COLUMNS, len(pos), len(neg))
    if n < 2:
        order = _order(pos, neg)
        return _auc(order(pos), order(neg))
    found = []
    for fold in range(n):
        out, out_others = [np.arange(len(side)) % n == fold for side in (pos, neg)]
        order = _order(pos[~out], neg[~out_others])
        found.append(_auc(order(pos[out]), order(neg[out_others])))
    return float(np.mean(found))


def _order(pos: NDArray[Any], neg: NDArray[Any]) -> Callable[[NDArray[Any]], Vector]:
    """Return the function from values of a column to scores that rows of both sides give."""
    return _by_level(pos, neg) if pos.dtype.kind == "i" else _by_number(pos, neg)


def _by_number(pos: Vector, neg: Vector) -> Callable[[Vector], Vector]:
    """Return a function that scores by a column of numbers, rising or falling; missing values are in the middle."""
    known = np.concatenate([pos, neg])
    known = known[~np.isnan(known)]
    middle = float(np.median(known)) if known.size else 0.0

    def order(x: Vector, sign: float = 1.0) -> Vector:
        return sign * np.where(np.isnan(x), middle, x)

    sign = 1.0 if _auc(order(pos), order(neg)) >= 0.5 else -1.0
    return lambda x: order(x, sign)


def _by_level(pos: NDArray[np.intp], neg: NDArray[np.intp]) -> Callable[[NDArray[np.intp]], Vector]:
    """Return a function that scores levels by their shares of positives; the rare ones and new ones have one."""
    size = 1 + int(max(pos.max(), neg.max()))
    hits, others = np.bincount(pos, minlength=size), np.bincount(neg, minlength=size)
    rows = hits + others
    rare = rows < _FEW
    share = hits / np.maximum(rows, 1)
    share[rare] = hits[rare].sum() / rows[rare].sum() if rows[rare].sum() else pos.size / (pos.size + neg.size)
    of_new = float(share[rare][0]) if rare.any() else pos.size / (pos.size + neg.size)
    return lambda codes: np.append(share, of_new)[np.minimum(codes, size)]


def _auc(a: Vector, b: Vector) -> float:
    """Return the share of pairs in which a score of `a` is larger than one of `b`, ties counted one half."""
    b = np.sort(b)
    return float((b.searchsorted(a) + b.searchsorted(a, "right")).mean() / (2.0 * b.size))
