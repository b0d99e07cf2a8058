"""Tables of the counts at each score, which merge: measures of lists that do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Labels, Scores, Vector, Weights
from pnorm._checks.labelled import sides_of_scores
from pnorm.metrics._distinct import Counts, DistinctScores, Measure
from pnorm.metrics._estimates import Estimate
from pnorm.metrics._ranked_list import (
    AveragePrecision,
    OneList,
    RankedList,
    SideOfCounts,
    Weighed,
    estimates_by_place,
    resamples,
)

_LEAST, _MOST = 1e-150, 1e150
"""Weights between these have squares and sums that neither overflow nor underflow."""

_PARTS = 5
"""Number of places over which the rows of an interval are spread. With an odd number the spread stays symmetric after
rounding to whole rows, so a pair within one interval counts one half."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    r"""The number of positives and negatives at each score: a table of bounded size for any number of rows.

    Use it for lists that do not fit into memory or lie on several machines. Make a table of each part of the rows with
    `of`, then `merge` the tables in any order.

    The measures of `pnorm.metrics` take a table in the place of `f_pos` and `f_neg`: ``auc(table)``,
    ``precision_at(table, k=100)``, ``summary(table, confidence=0.95)``, and likewise `average_precision`, `bedroc`,
    `discounted_gain_at_top`, `enrichment_factor`, `partial_auc`, `positives_at_top`, `r_max`, `recall_at`,
    `roc_counts`, and `p_norm_risk` with ``theta=0`` (``p_norm_risk(table, None, 4)``).

    The table is exact if there are at most ``size + 2 top`` distinct scores. With more, the `top` best and the `top`
    worst scores stay exact, and the others are put together in at most `size` intervals. A measure is an `Estimate`,
    and its value is that of rows evenly mixed within each interval.

    Without `confidence`, `low` and `high` are certain bounds: all positives of an interval are below its negatives, or
    above them. The `confidence` of the `Estimate` is 1. With `confidence`, `low` and `high` are the ends of the
    interval from resamples, each moved outwards by the distance of the value from the bound. 1000 resamples take less
    than a second for any number of rows. `precision_at`, `recall_at` and `enrichment_factor` need no resamples; their
    intervals contain those of all orders of the rows within places.

    Parameters
    ----------
    low, high : ndarray, shape (E,)
        The lowest and the highest score of each place, the best place first. A place is a single score or an interval.
    pos, neg : ndarray, shape (E,)
        Positives and negatives at each place: whole numbers, or sums of weights.
    size, top : int
        The largest number of intervals, and the number of distinct scores that are kept at either end.
    level : int
        The number of last binary digits, out of 64, that scores of one interval may differ in; 0 in an exact table.
    whole : bool
        Whether all weights are whole numbers.
    squares : pair of ndarray or None
        Sums of squares of the weights at each place, for resamples; None without weights.

    Notes
    -----
    Call `of` or `of_labelled` to make a table, not the class. An interval holds the doubles that agree in all but their
    last `level` binary digits. Two intervals of two tables are therefore equal, or disjoint, or one contains the other.
    `level` is the smallest number for which there are at most `size` intervals. A merged table therefore has the same
    bits as a table of all rows, for any division into parts. With weights that are not whole numbers this holds up to
    the rounding of their sums.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> f_pos, f_neg = rng.normal(1, 1, 3000), rng.normal(0, 1, 100_000)
    >>> ScoreTable = pnorm.metrics.ScoreTable
    >>> parts = [ScoreTable.of(f_pos[i::3], f_neg[i::3], size=4096, top=100) for i in range(3)]
    >>> table = parts[0].merge(*parts[1:])
    >>> table
    <ScoreTable: 3,000 positives and 100,000 negatives at 2,826 places, 595 of them exact>
    >>> table.n_pos, table.n_neg, table.exact
    (3000, 100000, False)
    >>> pnorm.metrics.auc(table)
    0.752602 [0.752175, 0.753029]
    >>> round(pnorm.metrics.auc(f_pos, f_neg), 6)
    0.752605
    >>> precision = pnorm.metrics.precision_at(table, k=100, confidence=0.95)
    >>> round(precision, 2), bool(precision.low < precision < precision.high)
    (0.34, True)
    """

    low: Vector
    high: Vector
    pos: Counts
    neg: Counts
    size: int
    top: int
    level: int
    whole: bool
    squares: tuple[Vector, Vector] | None

    @classmethod
    def of(
        cls,
        f_pos: Scores,
        f_neg: Scores,
        pos_weight: Weights | None = None,
        neg_weight: Weights | None = None,
        *,
        size: int = 2**16,
        top: int = 2**14,
    ) -> ScoreTable:
        """Return the table of rows given as two sides; one side may be empty.

        Parameters
        ----------
        f_pos, f_neg : array_like, shape (I,) and (K,)
            Scores of the positives and of the negatives.
        pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
            Case weights, zero or more. Those above zero must be from 1e-150 to 1e150.
        size : int
            The largest number of intervals, at least 16. Halving it doubles the error bound of a measure.
        top : int
            The number of distinct scores that are kept at either end of the list, 0 or more. Pass at least as many as
            the first rows that you measure.

        Returns
        -------
        ScoreTable
            Its arrays have at most ``size + 2 top`` elements, 3 MB by default. The cost is O(N log N) for N = I + K.

        Raises
        ------
        ValueError, TypeError
            If scores are not finite, or if weights are negative or out of range.

        Examples
        --------
        >>> import pnorm
        >>> table = pnorm.metrics.ScoreTable.of([3.0, 1.0], [1.0, 0.0])
        >>> pnorm.metrics.auc(table)
        0.875 [0.875, 0.875]
        """
        sides = []
        for name, f, weight in (("pos", f_pos, pos_weight), ("neg", f_neg, neg_weight)):
            scores = _checks.vector(f, f"f_{name}", None, "one score per row")
            sides.append((scores, _weights(weight, f"{name}_weight", scores.size)))
        return _of_sides(sides, size, top)

    @classmethod
    def of_labelled(
        cls, f: Scores, y: Labels, weight: Weights | None = None, *, size: int = 2**16, top: int = 2**14
    ) -> ScoreTable:
        """Return the table of rows given as scores and labels.

        Parameters
        ----------
        f : array_like, shape (N,)
            Scores.
        y : array_like, shape (N,)
            Labels: 1 for positives, 0 or -1 for all others.
        weight : array_like, shape (N,), optional
            Case weights, zero or more. Those above zero must be from 1e-150 to 1e150.
        size, top : int
            As in `of`.

        Returns
        -------
        ScoreTable
            The same table as `of` returns for the two sides.

        Raises
        ------
        ValueError, TypeError
            If there are other labels, or for the same reasons as in `of`.

        Examples
        --------
        >>> import pnorm
        >>> table = pnorm.metrics.ScoreTable.of_labelled([3.0, 1.0, 1.0, 0.0], [1, 1, 0, 0])
        >>> table
        <ScoreTable: 2 positives and 2 negatives at 3 places, all exact>
        """
        scores = _checks.vector(f, "f", None, "one score per row")
        positive = _checks.one_or_zero(y, "y", scores.size)
        c = _weights(weight, "weight", scores.size)
        sides = [(scores[own], None if c is None else c[own]) for own in (positive, ~positive)]
        return _of_sides(sides, size, top)

    def merge(self, *others: ScoreTable) -> ScoreTable:
        """Return the table of the rows of several tables.

        Parameters
        ----------
        *others : ScoreTable
            Tables of other rows.

        Returns
        -------
        ScoreTable
            The table that `of` makes of all rows at once, with the smallest `size` and the smallest `top` of the
            tables. The order of the tables does not matter. The cost is O(E log E) for E places in all tables.

        Raises
        ------
        TypeError
            If an argument is not a `ScoreTable`.

        Examples
        --------
        >>> import pnorm
        >>> of = pnorm.metrics.ScoreTable.of
        >>> of([3.0, 1.0], []).merge(of([], [1.0]), of([], [0.0]))
        <ScoreTable: 2 positives and 2 negatives at 3 places, all exact>
        """
        for other in others:
            if not isinstance(other, ScoreTable):
                raise TypeError(f"others must be tables of scores (ScoreTable); got {type(other).__name__}")
        tables = (self, *others)
        if len(tables) == 1:
            return self
        weighted = any(table.squares is not None for table in tables)
        columns = [
            np.concatenate([column[i] for column in [table._columns(weighted) for table in tables]])
            for i in range(4 if weighted else 2)
        ]
        return _coarsened(
            np.concatenate([table.low for table in tables]),
            np.concatenate([table.high for table in tables]),
            columns,
            min([table.size for table in tables]),
            min([table.top for table in tables]),
            max([table.level for table in tables]),
            all(table.whole for table in tables),
        )

    def from_below(self) -> ScoreTable:
        """Return the table of the reversed list, in which the negatives take the place of the positives.

        Returns
        -------
        ScoreTable
            The same bits as ``of(-f_neg, -f_pos)``.

        Examples
        --------
        >>> import pnorm
        >>> table = pnorm.metrics.ScoreTable.of([3.0, 1.0], [2.0, 0.0, -1.0])
        >>> pnorm.metrics.positives_at_top(table.from_below())  # negatives below every positive
        2 [2, 2]
        """
        squares = None if self.squares is None else (self.squares[1][::-1], self.squares[0][::-1])
        low, high = 0.0 - self.high[::-1], 0.0 - self.low[::-1]
        return replace(self, low=low, high=high, pos=self.neg[::-1], neg=self.pos[::-1], squares=squares)

    @property
    def exact(self) -> bool:
        """Whether every place is a single score, so that all measures are exact."""
        return bool((self.low == self.high).all())

    @property
    def n_pos(self) -> float:
        """The number of positives, I, or the sum of their weights."""
        return self._number(self.pos)

    @property
    def n_neg(self) -> float:
        """The number of negatives, K, or the sum of their weights."""
        return self._number(self.neg)

    def _number(self, counts: Counts) -> float:
        return int(counts.sum()) if self.squares is None else float(counts.sum())

    def _columns(self, weighted: bool) -> Sequence[Counts]:
        """Return the columns that are added when places are put together."""
        if not weighted:
            return self.pos, self.neg
        return self.pos + 0.0, self.neg + 0.0, *(self.squares or (self.pos + 0.0, self.neg + 0.0))

    def __repr__(self) -> str:
        exact, n = int((self.low == self.high).sum()), self.low.size
        places = "all exact" if exact == n else f"{exact:,} of them exact"
        weighted = "" if self.squares is None else "of weight "
        sides = f"positives {weighted}{self.n_pos:,} and negatives {weighted}{self.n_neg:,}"
        if self.squares is None:
            sides = f"{self.n_pos:,} positives and {self.n_neg:,} negatives"
        return f"<ScoreTable: {sides} at {n:,} places, {places}>"


def tables_of_lists(
    f_pos: NDArray[np.float64],
    f_neg: NDArray[np.float64],
    pos_weight: Vector | None = None,
    neg_weight: Vector | None = None,
    *,
    size: int = 2**16,
    top: int = 2**14,
) -> list[ScoreTable]:
    """Return the tables of several lists of the same rows, given as (S, I) and (S, K): one for each list."""
    return [ScoreTable.of(*f, pos_weight, neg_weight, size=size, top=top) for f in zip(f_pos, f_neg, strict=True)]


def _weights(weight: Any, name: str, size: int) -> Vector | None:
    """Check weights; their squares must neither overflow nor underflow."""
    c = _checks.weights(weight, name, size, some=False)
    if c is not None:
        wrong = (c > 0.0) & ~((c >= _LEAST) & (c <= _MOST))
        if wrong.any():
            found = c[wrong.argmax()]
            raise ValueError(
                f"{name} must be 0 or from {_LEAST:g} to {_MOST:g} in a table; got {found:g}. Multiply all weights by "
                "a constant"
            )
    return c


def _of_sides(given: Sequence[tuple[Vector, Vector | None]], size: Any, top: Any) -> ScoreTable:
    size, top = _checks.count(size, "size", 16), _checks.count(top, "top", 0)
    sides = [(f + 0.0, c) if c is None else (f[c > 0.0] + 0.0, c[c > 0.0]) for f, c in given]  # -0.0 is 0.0
    weighted = any(c is not None for _, c in sides)
    whole = all(c is None or bool((c % 1.0 == 0.0).all()) for _, c in sides)
    rising, at = np.unique(np.concatenate([f for f, _ in sides]), return_inverse=True)
    columns: list[Counts] = []
    for power in (1, 2) if weighted else (1,):
        for (_, c), where in zip(sides, np.split(at, [sides[0][0].size]), strict=True):
            counts = np.bincount(where, None if c is None else c**power, rising.size)
            columns.append((counts + 0.0 if weighted else counts)[::-1])
    return _coarsened(rising[::-1], rising[::-1], columns, size, top, 0, whole)


def _coarsened(
    low: Vector, high: Vector, columns: list[Counts], size: int, top: int, level: int, whole: bool
) -> ScoreTable:
    """Return the table of places, which are in any order and may be equal or contain each other."""
    order = np.argsort(-high, kind="stable")
    low, high = low[order], high[order]
    if high.size:
        # The `top` best scores of all are among the `top` best of every part that has them: none is in an interval.
        from_top = np.concatenate([[0], np.cumsum(high[1:] != high[:-1])])
        ends = (from_top < top) | (np.unique(low, return_inverse=True)[1] < top)
        differing = _differing(_magnitudes(high))
        between = ~(ends[1:] | ends[:-1])  # two neighbours, neither of them kept as one of the `top`
        level = _level(differing[between], size, level)
        new = np.where(between, differing > level, high[1:] != high[:-1])
        first = np.flatnonzero(np.concatenate([[True], new]))
        low, high = np.minimum.reduceat(low, first), high[first]
        columns = [np.add.reduceat(column[order], first) for column in columns]
    squares = (columns[2], columns[3]) if len(columns) > 2 else None
    return ScoreTable(low, high, columns[0], columns[1], size, top, level, whole, squares)


def _magnitudes(f: Vector) -> NDArray[np.int64]:
    """Return whole numbers in the order of the scores, of opposite sign for opposite scores."""
    return np.sign(f).astype(np.int64) * np.abs(f).view(np.int64)


def _differing(k: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return for neighbours how many last binary digits have to be left out for them to agree, 0 for the same."""
    a, b = np.abs(k[1:]), np.abs(k[:-1])
    apart = (k[1:] < 0) & (k[:-1] > 0)
    bits: NDArray[np.int64] = np.where(apart, a | b, a ^ b)
    upper, lower = bits >> 32, bits & 0xFFFFFFFF
    return np.asarray(np.where(upper > 0, 32 + np.frexp(upper)[1], np.frexp(lower)[1]), np.intp)


def _level(differing: NDArray[np.intp], size: int, least: int) -> int:
    """Return the least number of digits to leave out, so that neighbours are in at most `size` intervals."""
    intervals = 1 + differing.size - np.cumsum(np.bincount(differing, minlength=65))  # by the digits that are left out
    return max(least, int((intervals <= size).argmax()))


# Measuring tables -------------------------------------------------------------------------------------


class MergedList(OneList):
    """A `ScoreTable` with the interface of a `RankedList`; its measures have bounds."""

    unit = 1.0

    def __init__(self, table: ScoreTable) -> None:
        self.n_pos, self.n_neg = float(table.n_pos), float(table.n_neg)
        for number, side in ((self.n_pos, "positives"), (self.n_neg, "negatives")):
            if number == 0.0:
                raise ValueError(f"the table has no {side}; a measure needs both sides. Merge the tables of all parts")
        self.weighted, self.whole = table.squares is not None, table.whole
        self.scores = table.high
        self._table, self._mixed = table, table.low < table.high
        self.distinct, self._of_place = self._spread()
        self.ends = [self._split(first) for first in ("pos", "neg")]
        """The list with the positives of each interval above its negatives, and the list with them below."""

    def _spread(self) -> tuple[DistinctScores, NDArray[np.intp]]:
        """Return the list with the rows of an interval evenly mixed, and the place that contains each of its places."""
        parts = np.where(self._mixed, _PARTS, 1)
        at = np.repeat(np.arange(parts.size), parts)
        i = np.arange(at.size) - np.repeat(np.cumsum(parts) - parts, parts)
        n = parts[at]
        sides = []
        for counts in (self._table.pos[at], self._table.neg[at]):
            if counts.dtype == np.intp:
                sides.append((2 * counts * (i + 1) + n) // (2 * n) - (2 * counts * i + n) // (2 * n))
            else:
                sides.append(counts / n)
        return DistinctScores(*sides), at

    def _split(self, first: str) -> DistinctScores:
        """Return the list with one side of each interval above the other."""
        at = np.repeat(np.arange(self._mixed.size), np.where(self._mixed, 2, 1))
        start = np.concatenate([[True], at[1:] != at[:-1]])
        gone = {"pos": self._mixed[at] & ~start, "neg": self._mixed[at] & start}
        if first == "neg":
            gone = {"pos": gone["neg"], "neg": gone["pos"]}
        return DistinctScores(*[np.where(gone[side], 0, getattr(self._table, side)[at]) for side in ("pos", "neg")])

    @property
    def sizes(self) -> tuple[float, float]:
        """The rows of each side; with weights, the rows of one weight that vary as much (Kish's effective size)."""
        if self._table.squares is None:
            return self.n_pos, self.n_neg
        pos, neg = [float(of_side.sum()) for of_side in self._table.squares]
        return self.n_pos * (self.n_pos / pos), self.n_neg * (self.n_neg / neg)  # the square may overflow

    def count(self, value: Any) -> Any:
        """Return a number of rows."""
        return value

    def measure_all(
        self,
        makes: list[Callable[[], Measure]],
        confidence: Any,
        n_resamples: Any,
        seed: Any,
        by_score: bool = False,
        *,
        stratified: bool = True,
    ) -> list[Estimate]:
        """Return several measures, with intervals from the same resamples."""
        if by_score:
            raise ValueError(
                "theta must be 0 for a ScoreTable, which does not hold all scores. Pass the scores themselves"
            )
        return self.measure_these([make() for make in makes], confidence, n_resamples, seed, stratified=stratified)

    def measure_these(
        self, of: list[Measure], confidence: Any, n_resamples: Any, seed: Any, *, stratified: bool = True
    ) -> list[Estimate]:
        """Return measures with their bounds or, if `confidence` is given, intervals from the same resamples."""
        found = [self._bounded(measure) for measure in of]
        if confidence is None:
            return found
        ranges = [self._range(measure, bounds) for measure, bounds in zip(of, found, strict=True)]
        made = []
        near = estimates_by_place(self, of, ranges, confidence, n_resamples, seed, stratified=stratified)
        for (value, low, high), bounds, (least, most) in zip(near, found, ranges, strict=True):
            lower, upper = max(least, low - (value - bounds.low)), min(most, high + (bounds.high - value))
            made.append(Estimate(value, min(low, lower), max(high, upper), near[0].confidence))
        return made

    def _bounded(self, of: Measure) -> Estimate:
        """Return a measure with certain bounds."""
        value = float(of(self.distinct))
        if not self._mixed.any():
            return Estimate(value, value, value, 1.0)
        best, worst = [float(of(at)) for at in self.ends]
        if isinstance(of, AveragePrecision):  # a tie counts with all of its rows: more than in any order
            worst = float(of.least(self._table.pos, self._table.neg, self._mixed))
        return Estimate(value, min(value, best, worst), max(value, best, worst), 1.0)

    def _range(self, of: Measure, found: Estimate) -> tuple[float, float]:
        """Return the least and the largest value of a measure over all orders of the rows."""
        sides = self.distinct.pos, self.distinct.neg
        n_pos, n_neg = (np.array([side.sum(), 0], side.dtype) for side in sides)
        ends = [float(of(DistinctScores(*order))) for order in ((n_pos, n_neg[::-1]), (n_pos[::-1], n_neg))]
        return min(*ends, found.low), max(*ends, found.high)

    def resampled(self, place: NDArray[np.intp], rng: np.random.Generator, draws: int, stratified: bool) -> Any:
        """Yield resamples in blocks, with their numbers. Scores of one `place` tie; places rise from 0."""
        squares: list[Vector | None] = [None, None]
        if self._table.squares is not None:
            parts = np.bincount(self._of_place)[self._of_place]
            every = [of_side[self._of_place] / parts for of_side in self._table.squares]
            squares = [np.asarray(np.bincount(place, of_side), np.float64) for of_side in every]
        sides = [
            SideOfCounts(np.bincount(place, counts).astype(counts.dtype), of_side)
            for counts, of_side in zip((self.distinct.pos, self.distinct.neg), squares, strict=True)
        ]
        return resamples(sides, int(place[-1]) + 1, rng, draws, stratified)


def ranked(
    f_pos: Any,
    f_neg: Any,
    pos_weight: Any = None,
    neg_weight: Any = None,
    *,
    y: Any = None,
    pos_label: Any = None,
    weight: Any = None,
) -> RankedList:
    """Return a sorted list, a table in its place, or `RankedLists` unchanged (their measures are arrays)."""
    if isinstance(f_pos, Weighed):
        return f_pos  # type: ignore[return-value]
    if isinstance(f_pos, ScoreTable):
        if not (f_neg is pos_weight is neg_weight is None):
            raise TypeError("a ScoreTable holds both sides and their weights; pass f_neg=None and no weights")
        if not (y is pos_label is weight is None):
            raise TypeError("a ScoreTable holds both sides and their weights; leave y, pos_label and weight out")
        return MergedList(f_pos)  # type: ignore[return-value]
    both = {"pos_weight": pos_weight, "neg_weight": neg_weight}
    sides = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label, weight=weight, **both)
    return RankedList(*sides, sure=y is not None)
