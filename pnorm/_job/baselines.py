"""Baselines for a list: a linear model and the best single column, learned from the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.text import shown
from pnorm._minimize import minimize
from pnorm.rankers import Rankers, TableWarning, from_table
from pnorm.rankers._readings import CATEGORY, Where
from pnorm.rankers._table import Source, Table

LINES = "linear model"

L2 = 1e-3
"""The penalty of straight lines, whose columns have a standard deviation of 1. Any from 1e-5 to 1e-2 gives the same AUC
on held-out rows of adult and bank to 0.0004. It is within 0.003 of that of logistic regression."""

_ROWS, _NUMBERS = 2**14, 2**23
"""Rows of either side for straight lines, and numbers in a matrix of them, at most; p = 1 does not depend on how many
rows of either side there are but by a constant."""

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
    seed: Any = 0,
    n_threads: int | None = None,
) -> list[Baseline]:
    """Train what a list is to be compared with: "linear model" and "NAME alone".

    The first is a sum of one straight line per column of numbers and an indicator per level of text, by `minimize` with
    p = 1 and a small penalty: what logistic regression would be. The second is the column by which rows are ordered
    best, by the AUC of the rows at hand, in either direction; levels count by their shares of positives.

    `H` is what `from_table` has made of these rows and says how columns are read; if it is something else, `from_table`
    is called, with `kinds`. `seed` draws rows for the lines, where there are very many. O(N log N) for each column.
    """
    if not isinstance(H, Table):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)  # it has been said of the model
            try:
                H = from_table(pos, neg, kinds=kinds, n_cuts=1, n_threads=n_threads)
            except ValueError:  # no column of it can be used
                return []
    assert isinstance(H, Table)
    return [_lines(H, pos, neg, _checks.generator(seed), n_threads), _alone(H, pos, neg)]


def _read(H: Table, X: Any, name: str = "X", sources: tuple[Source, ...] | None = None) -> Iterator[NDArray[Any]]:
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


# Straight lines ---------------------------------------------------------------------------------------


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


def _lines(H: Table, pos: Any, neg: Any, rng: np.random.Generator, n_threads: int | None) -> Baseline:
    most = max(100, min(_ROWS, _NUMBERS // (2 * len(H._sources))))
    sides = [_some(rng, X, most) for X in (pos, neg)]
    columns = list(zip(*[_read(H, X, name) for X, name in zip(sides, ("pos", "neg"), strict=True)], strict=True))
    parts = [_part(*of_sides) for of_sides in columns]
    ends = np.cumsum([part.width for part in parts])
    matrices = []
    fewer = max(100, _NUMBERS // (2 * int(ends[-1])))
    for side in (0, 1):
        rows = slice(min(fewer, len(columns[0][side])))
        A = np.empty((len(columns[0][side][rows]), int(ends[-1])))
        for part, of_sides, end in zip(parts, columns, ends.tolist(), strict=True):
            part.columns(of_sides[side][rows], A[:, end - part.width : end])
        matrices.append(A)
    lam, _ = minimize(matrices[0], matrices[1], p=1.0, l2=L2, tol=1e-6, n_threads=n_threads)
    of_parts = np.split(lam, ends[:-1])

    def score(X: Any) -> Vector:
        f = np.zeros(_checks.n_rows(X, "X"))
        for part, own, x in zip(parts, of_parts, _read(H, X), strict=True):
            f += part.score(x, own)
        return f

    return Baseline(LINES, score)


def _some(rng: np.random.Generator, X: Any, most: int) -> Any:
    """Return rows in an order at random, `most` of them at most."""
    return _checks.rows(X, rng.permutation(_checks.n_rows(X, "X"))[:most])


def _part(pos: NDArray[Any], neg: NDArray[Any]) -> _Line | _Indicators:
    """Return the columns that a column gives, told from the values of both sides, which count the same."""
    x = np.concatenate([pos, neg])
    if x.dtype.kind == "i":
        counts = np.bincount(x)
        levels = np.argsort(-counts, kind="stable")[:_LEVELS]
        return _Indicators(np.sort(levels[counts[levels] > 0]))
    known = x[~np.isnan(x)]
    if not known.size:
        return _Line(0.0, 0.0, True)
    middle, spread = float(known.mean()), float(known.std())
    return _Line(middle, 1.0 / spread if spread > 0.0 else 0.0, known.size < x.size)


# The best column --------------------------------------------------------------------------------------


def _alone(H: Table, pos: Any, neg: Any) -> Baseline:
    best, most = None, -1.0
    for source, x_pos, x_neg in zip(H._sources, _read(H, pos, "pos"), _read(H, neg, "neg"), strict=True):
        order = _by_level(x_pos, x_neg) if x_pos.dtype.kind == "i" else _by_number(x_pos, x_neg)
        found = _auc(order(x_pos), order(x_neg))
        if found > most:
            best, most = (source, order), found
    assert best is not None
    source, order = best
    name = f"{shown(H.plan[source.column].name, 40)} alone"
    return Baseline(name, lambda X: order(next(_read(H, X, "X", (source,)))))


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
