"""Explanations of scores: the contribution of each column."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen, UnknownLevelWarning, tell
from pnorm._checks import DATE, DURATION, NUMBER, TIME, Coefficients, DataFrame, Rows, Vector, Weights, sheet
from pnorm._checks.text import shown
from pnorm._reasons.leaves import Leaf, leaves, of_tables, places_of
from pnorm._storage import scoring
from pnorm._threads import Pool
from pnorm.rankers import Rankers, WeakRankers, as_rankers
from pnorm.rankers._numbers import with_unit

_ROWS, _COLUMNS = 10, 6
"""Size of the table that is printed."""

_ORDERED = (NUMBER, DATE, TIME, DURATION)
_COMPARED, _MOST_COMPARED, _LEAST_COMPARED, _TOGETHER = 2000, 60, 20, 0.95
"""Rows and columns that are compared at most, rows that have both values at least, and the rank correlation from which
on two columns are said to move together."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The contribution of each column to the scores of rows, relative to the average of a reference.

    `pnorm.explain` returns it. It prints, also in a notebook, as a table of the first rows and of the columns with the
    largest contributions.

    Attributes
    ----------
    contributions : ndarray, shape (N, columns)
        The contribution of each column to the score of each row. The contributions of a row and `base` add up to its
        score, to rounding.
    base : float
        The mean score of the reference.
    names : tuple of str
        The columns, as in ``H.column_names``.
    scores : ndarray, shape (N,)
        The scores of the rows.
    compared_with : str
        What the reference is, in words.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.columns(2, names=["income", "visits"])
    >>> found = pnorm.explain([[52000, 3], [31000, 9], [40000, 0]], H, [1e-4, 0.5])
    >>> found.compared_with, found.top(1)
    ('the average of these rows', ['visits = 9 (+2.50)'])
    >>> found.reasons(1)
    ['income = 52,000 (+1.10)', 'visits = 9 (+2.50)', '']
    >>> found.names, found.importance.round(2), found.ranges.round(2)
    (('income', 'visits'), array([0.73, 1.67]), array([2.1, 4.5]))
    >>> found.to_frame().columns.tolist()
    ['income', 'visits']
    """

    contributions: Matrix
    base: float
    names: tuple[str, ...]
    scores: Vector
    compared_with: str
    _rows: Any
    _places: tuple[int | None, ...]
    """Where in the rows each column is; None where it is in no table."""
    _leaves: Mapping[int, Leaf]
    """Of what is read by `pnorm.rankers.from_table`, who reads it."""
    _writers: dict[int, Callable[[Any], str | None]] = field(default_factory=dict, repr=False)
    """By column, how its values are written."""

    @property
    def importance(self) -> Vector:
        """Mean of the absolute contributions of each column over the rows, shape (columns,)."""
        return np.asarray(np.abs(self.contributions).mean(axis=0))

    @property
    def ranges(self) -> Vector:
        """Largest minus smallest contribution of each column, shape (columns,)."""
        return np.asarray(np.ptp(self.contributions, axis=0))

    def top(self, row: int, n: int = 3, *, either: bool = False) -> list[str]:
        """Return the columns that raise the score of one row the most, or with `either` change it the most.

        Parameters
        ----------
        row : int
            The number of the row, from 0; -1 is the last one.
        n : int
            Largest number of columns.
        either : bool
            Whether to return also columns that lower the score: the n largest effects of either sign, as the command
            and the report show them.

        Returns
        -------
        list of str
            Texts such as ``income = 52,000 (+1.3)``, the largest contribution first. Without `either`, only
            contributions above zero are reasons; with it, those that are printed as zero are left out. So the list may
            have fewer than n items, or none.

        Raises
        ------
        ValueError, TypeError
            If there is no such row, n is below 1, or `either` is not True or False.

        Examples
        --------
        >>> import pnorm
        >>> H = pnorm.rankers.columns(2, names=["income", "visits"])
        >>> found = pnorm.explain([[52000, 3], [31000, 9], [40000, 0]], H, [1e-4, 0.5])
        >>> found.top(1)
        ['visits = 9 (+2.50)']
        >>> found.top(1, either=True)
        ['visits = 9 (+2.50)', 'income = 31,000 (-1.00)']
        """
        n, i = _checks.count(n, "n", 1), _checks.item(row, "row", len(self.scores))
        return self._told_of(np.array([i]), n, _checks.flag(either, "either"))[0]

    def reasons(self, n: int = 3, *, either: bool = False) -> list[str]:
        """Return for each row the columns that raise its score the most, or with `either` change it the most.

        Parameters
        ----------
        n : int
            Largest number of columns of a row.
        either : bool
            Whether to return also columns that lower the score: the n largest effects of either sign, as the command
            and the report show them.

        Returns
        -------
        list of str
            What `top` returns for each row, in one text, divided by semicolons. A row without reasons has an empty
            text.

        Raises
        ------
        ValueError, TypeError
            If n is below 1, or `either` is not True or False.

        Examples
        --------
        >>> import pnorm
        >>> H = pnorm.rankers.columns(2, names=["income", "visits"])
        >>> found = pnorm.explain([[52000, 3], [31000, 9], [40000, 0]], H, [1e-4, 0.5])
        >>> found.reasons()
        ['income = 52,000 (+1.10)', 'visits = 9 (+2.50)', '']
        >>> found.reasons(1, either=True)
        ['income = 52,000 (+1.10)', 'visits = 9 (+2.50)', 'visits = 0 (-2.00)']
        """
        n, either = _checks.count(n, "n", 1), _checks.flag(either, "either")
        found = self._told_of(np.arange(len(self.scores)), n, either)
        return ["; ".join(of_row) for of_row in found]

    def to_frame(self) -> DataFrame:
        """Return the contributions as a data frame of pandas.

        Returns
        -------
        DataFrame
            A column for each of `names`. The index is that of the rows, if they were a frame of pandas.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        index = getattr(self._rows, "index", None)  # of a list or tuple, a method
        return sheet.frame(self.contributions, self.names, None if callable(index) else index)

    def _told_of(self, rows: Any, n: int, either: bool) -> list[list[str]]:
        """Return n columns of each row in words, each with its sign: those that raise the score, or `either`."""
        write = sheet.same_digits(self.contributions)
        found = self._effects(n, rows) if either else self._strongest(rows, n, np.negative)
        return [[f"{what} ({write(change)})" for what, change in of_row if either or change > 0.0] for of_row in found]

    def _effects(self, n: int, rows: Any = None) -> list[list[tuple[str, float]]]:
        """Return for each row the n columns with the largest effects in either direction, except those printed as 0."""
        write = sheet.same_digits(self.contributions)
        rows = np.arange(len(self.scores)) if rows is None else rows
        return [
            [part for part in of_row if not set(write(part[1])) <= set("+-0.e")]
            for of_row in self._strongest(rows, n, lambda parts: -np.abs(parts))
        ]

    def _strongest(self, rows: Any, n: int, order: Callable[[Matrix], Matrix]) -> list[list[tuple[str, float]]]:
        """Return n columns of each row, in words with their values, and what they add; the least of `order` first."""
        parts = self.contributions[rows]
        few = rows.size < len(self.scores)
        some = _checks.rows(self._rows, rows) if few and self._leaves else self._rows
        texts = dict[int, list[str | None]]()
        for of_column in self._read_off():
            texts |= {c: self._leaves[c].texts(some, self._writer(c)) for c in of_column}
            missing = np.array([text is None for text in texts[of_column[0]]])
            parts[missing, of_column[0]] = parts[missing][:, of_column].sum(axis=1)
            for c in of_column[1:]:
                parts[missing, c] = 0.0
        first = np.argsort(order(parts), axis=1, kind="stable")[:, :n]
        others = [c for c in np.unique(first).tolist() if c not in texts]
        texts |= {c: self._leaves[c].texts(some, self._writer(c)) for c in others if c in self._leaves}
        places = {c: place for c in others if c not in texts and (place := self._places[c]) is not None}
        cells = _cells(self._rows, rows, set(places.values()))
        texts |= {c: list(map(self._writer(c), cells[place])) for c, place in places.items()}
        return [
            [(self._told(i, c, texts), float(parts[i, c])) for c in of_row] for i, of_row in enumerate(first.tolist())
        ]

    def _writer(self, c: int) -> Callable[[Any], str | None]:
        """Return a function that writes values of a column in the precision that the column has on all rows."""
        if c not in self._writers:
            place = self._places[c]
            if c in self._leaves:
                values = self._leaves[c].listed(self._rows) or []
            else:
                assert place is not None
                values = _cells(self._rows, np.arange(len(self.scores)), {place})[place]
            self._writers[c] = sheet.column_text(values)
        return self._writers[c]

    def _read_off(self) -> list[list[int]]:
        """Return, for each date, the numbers of what is read off it, if that is more than one thing."""
        of_columns: dict[tuple[int, str], list[int]] = {}
        for c, leaf in self._leaves.items():
            of_columns.setdefault((id(leaf.table), leaf.column_name), []).append(c)
        return [of_column for of_column in of_columns.values() if len(of_column) > 1]

    def _told(self, i: int, c: int, texts: Mapping[int, Sequence[str | None]]) -> str:
        """Return a column and its value in words; functions have no values."""
        if c not in texts:
            return shown(self.names[c], sheet.WIDEST)
        leaf, text = self._leaves.get(c), texts[c][i]
        if text is None:  # all that is read off a date is missing with it
            return f"{shown(leaf.column_name if leaf is not None else self.names[c], sheet.WIDEST)} is missing"
        named = text if leaf is None or leaf.kind != NUMBER else with_unit(text, leaf.form.unit)
        return f"{shown(self.names[c], sheet.WIDEST)} = {named}"

    def __repr__(self) -> str:
        return f"<Explanation of {len(self.scores)} rows by {len(self.names)} columns>"

    def _table(self) -> tuple[list[str], list[list[str]], Matrix, str]:
        """Return the head, the cells, their sizes relative to the largest one, and what is left out."""
        n, few = len(self.scores), np.argsort(-self.importance, kind="stable")[:_COLUMNS]
        parts = self.contributions[:_ROWS][:, few]
        write, write_score = sheet.same_digits(self.contributions), sheet.same_digits(self.scores, sign=False)
        cells = [
            [name, write_score(float(f)), *map(write, of_row)]
            for name, f, of_row in zip(self._row_names(), self.scores[:_ROWS], parts.tolist(), strict=True)
        ]
        largest = float(np.abs(self.contributions).max(initial=0.0)) or 1.0
        sizes = np.hstack([np.zeros((len(cells), 2)), parts / largest])
        lost = [(n - len(cells), "row"), (len(self.names) - few.size, "column")]
        left = " and ".join(f"{k} more {what}{'s' if k > 1 else ''}" for k, what in lost if k > 0)
        note = f"base {write_score(self.base)}: {self.compared_with}" + (f"; {left}" if left else "")
        return ["row", "score", *[self.names[c] for c in few]], cells, sizes, note

    def _row_names(self) -> list[str]:
        """Return the names of the rows that are printed: the index of a frame, or the numbers from 0."""
        n, index = min(len(self.scores), _ROWS), getattr(self._rows, "index", None)
        named = range(n) if index is None or callable(index) else index[:n]  # of a list or tuple, a method
        return [shown(str(name), sheet.WIDEST) for name in named]

    def __str__(self) -> str:
        head, cells, _, note = self._table()
        return f"{sheet.plain(head, cells)}\n{note}"

    def _repr_html_(self) -> str:
        head, cells, sizes, note = self._table()
        return sheet.as_html(head, cells, note=note, shades=sizes.tolist())


@_checks.takes_no_model("explain(X)", "model.explain(X)")
def explain(
    X: Rows,
    H: WeakRankers,
    lam: Coefficients,
    *,
    reference: Rows | None = None,
    weight: Weights | None = None,
    n_threads: int | None = None,
) -> Explanation:
    r"""Split the scores of rows into contributions of the columns.

    The score is an average plus one contribution for each column::

        f(x) = b + Σ_c (f_c(x) - b_c),    f_c = Σ_{j reads c} λ_j h_j,    b = Σ_c b_c

    with the mean b_c of f_c over the rows of a reference. A score is a sum over columns, so the
    contributions describe it completely. They do not depend on an order of the columns or on sampling. They equal the
    Shapley values of the columns.

    Parameters
    ----------
    X : array_like, shape (N, d), or sequence of N things where the rankers are callables
        The rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    reference : rows, or a single row, optional
        Rows to compare with, in the form of X: the negatives, to explain how a row differs from the average negative;
        or another row, to explain why one is above the other. By default X, which then needs rows that differ.
    weight : array_like, optional
        Case weights of the rows of the reference, or of X without a reference, zero or more: all means are weighted.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `score`.

    Returns
    -------
    Explanation
        `contributions`, shape (N, columns), and `base`, which add up to the scores. The columns are those of
        ``H.column_names``; a function counts as a column.

    Raises
    ------
    ValueError, TypeError
        If X or the reference does not fit the rankers, `lam` is not one finite number per ranker, or `weight` not one
        number per row, zero or more. Also if X is a single row, or equal rows, and there is no reference.
    OverflowError
        If a score, or a part of its sum, is too large for a double.

    Warns
    -----
    UnknownLevelWarning
        If values are no levels that `pnorm.rankers.categories` knows. As in `score`.

    See Also
    --------
    shapes : The contribution of each column, as a function of its value.
    importance : The loss at the top of the list without a column.

    Notes
    -----
    Contributions have the units of scores. They explain the scoring function. They do not predict the effect of
    changing a value.

    The cost is one pass over each column with a coefficient, for the rows and for the reference. The memory is N
    numbers for each column of `H`. Sparse rows are read once for each column.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.columns(2, names=["income", "visits"])
    >>> found = pnorm.explain([[52000, 3], [31000, 9], [40000, 0]], H, [1e-4, 0.5])
    >>> found.contributions.round(2)
    array([[ 1.1, -0.5],
           [-1. ,  2.5],
           [-0.1, -2. ]])
    >>> print(found)
    row  score  visits  income
    0     6.70   -0.50   +1.10
    1     7.60   +2.50   -1.00
    2     4.00   -2.00   -0.10
    base 6.10: the average of these rows

    Why is the second row above the first one?

    >>> pnorm.explain([[31000, 9]], H, [1e-4, 0.5], reference=[52000, 3]).top(0)
    ['visits = 9 (+3.00)']
    """
    n_threads = _checks.threads(n_threads)
    rankers = as_rankers(H, X, "X")
    lam = _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker")
    beside = (
        X
        if reference is None
        else _checks.some_rows(reference, "reference", not all(map(is_function, dict(rankers._reads()))))
    )
    parts, seen = parts_of(X, rankers, lam, n_threads)
    tell(seen)
    others = parts
    if reference is None and lam.any() and not (parts != parts[:, :1]).any():
        raise ValueError(
            f"X has {'a single row' if parts.shape[1] == 1 else 'equal rows'} and there is no reference, so every "
            "contribution would be zero. Pass reference=training rows, such as the negatives. The estimator's explain "
            "needs none"
        )
    if reference is not None:
        with _checks.rows_called("reference"):
            others, seen = parts_of(beside, rankers, lam, n_threads)
        tell(seen, strict=False)
    c = _checks.masses(weight, "weight", others.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        means = others.mean(axis=1) if c is None else others @ (c / c.sum())
    told = "the average of these rows" if reference is None else "the average of the reference"
    return beside_means(X, rankers, parts, means, "the reference" if others.shape[1] == 1 else told)


def beside_means(X: Any, rankers: Rankers, parts: Matrix, means: Vector, compared_with: str = "") -> Explanation:
    """Return contributions of columns, from `parts` of `parts_of` and the means of other rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        base, scores = float(means.sum()), parts.sum(axis=0)
        parts -= means[:, None]
        finite = np.isfinite(base) and np.isfinite(scores).all() and np.isfinite(parts).all()
    if not finite:
        raise OverflowError("a contribution is more than a double holds; scale the coefficients (lam) down")
    of_rows = X, places_of(X, rankers), of_tables(rankers)
    return Explanation(parts.T, base, rankers.column_names, scores, compared_with, *of_rows)


def beside_average(
    X: Rows, rankers: Rankers, lam: Vector, average: Vector, compared_with: str, n_threads: int | None
) -> Explanation:
    """Return what `explain` does, given the mean part of each column in the scores of the reference."""
    parts, seen = parts_of(X, rankers, lam, n_threads)
    tell(seen)
    return beside_means(X, rankers, parts, average, compared_with)


def average_row(push: str, which: str = "training row") -> str:
    """Return what effects are compared with by default, in words: the average of the rows of the other class."""
    return f"the average {'positive' if push == 'bottom' else 'negative'} {which}"


def without_level_trends(means: Vector, X: Any, rankers: Rankers, lam: Vector, n_threads: int | None = None) -> Vector:
    """Return what effects are compared with, so that trends of dates that are level over all rows have no effect.

    The trend of a date is level in rows that are later than all training rows. It is then no reason for any of them.
    """
    of_column = rankers.column
    trends = {int(of_column[leaf.start]) for leaf in leaves(rankers, lam) if leaf.read_off == "trend"}
    if not trends or _checks.n_rows(X, "X") < 2:
        return means
    means, only = means.copy(), np.where(np.isin(of_column, [*trends]), lam, 0.0)
    for c, part, _ in each_part(X, rankers, only, n_threads):
        if c in trends and np.ptp(part) == 0.0:
            means[c] = part[0]
    return means


def moving_together(X: Any, rankers: Rankers, lam: Vector) -> list[tuple[str, str, float]]:
    """Return pairs of columns of a table in use whose rank correlation is large, and this.

    Only numbers, dates, times and durations are compared, on rows that have both. Of very many rows, some are taken.
    """
    used = {leaf.column_name: leaf for leaf in leaves(rankers, lam) if leaf.kind in _ORDERED and leaf.lam.any()}
    some = _checks.rows(X, np.linspace(0, _checks.n_rows(X, "X") - 1, _COMPARED).astype(np.intp))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownLevelWarning)
        columns = {name: leaf.numbers(some) for name, leaf in list(used.items())[:_MOST_COMPARED]}
    found = []
    for (a, x), (b, y) in itertools.combinations(columns.items(), 2):
        both = ~np.isnan(x) & ~np.isnan(y)
        ranks = [_ranks(of[both]) for of in (x, y)]
        if both.sum() >= _LEAST_COMPARED and min(np.ptp(of) for of in ranks) > 0.0:
            r = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
            found += [(a, b, r)] * (abs(r) > _TOGETHER)
    return sorted(found, key=lambda pair: -abs(pair[2]))


def spread_of_columns(X: Any, rankers: Rankers, lam: Vector) -> dict[str, float]:
    """Return the standard deviation of the part of each column of a table in the scores of rows."""
    parts, number = parts_of(X, rankers, lam, None)[0], rankers.column
    places: dict[str, set[int]] = {}
    for leaf in leaves(rankers, lam):
        if leaf.table is not None:
            places.setdefault(leaf.column_name, set()).add(int(number[leaf.start]))
    return {name: float(parts[sorted(of)].sum(axis=0).std()) for name, of in places.items()}


def spread_of_score(X: Any, rankers: Rankers, lam: Vector, column: str) -> tuple[float, float]:
    """Return the standard deviation of the scores of rows, and of the part of one column in them."""
    parts, _ = parts_of(X, rankers, lam, None)
    own = [part for part, name in zip(parts, rankers.column_names, strict=True) if name == column]
    return float(parts.sum(axis=0).std()), float(np.sum(own, axis=0).std())


def _ranks(x: Vector) -> Vector:
    """Return the ranks of numbers, the mean of them where numbers are equal."""
    _, number, counts = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts + 1))[number])


def means_of(X: Any, rankers: Rankers, lam: Vector, weight: Vector | None, n_threads: int | None) -> Vector:
    """Return the mean part of each column over rows, (columns,)."""
    means = np.zeros(len(rankers.column_names))
    for c, part, _ in each_part(X, rankers, lam, n_threads):
        means[c] = np.average(part, weights=weight)
    return means


def parts_of(X: Any, rankers: Rankers, lam: Vector, n_threads: int | None) -> tuple[Matrix, list[Seen]]:
    """Return the part of each column in the scores of rows, (columns, N), and unknown levels."""
    parts, seen = np.zeros((len(rankers.column_names), _checks.n_rows(X, "X"))), list[Seen]()
    for c, part, unknown in each_part(X, rankers, lam, n_threads):
        parts[c] = part
        seen += unknown
    return parts, seen


def each_part(X: Any, rankers: Rankers, lam: Vector, n_threads: int | None) -> Iterator[tuple[int, Vector, list[Seen]]]:
    """Yield the number of each column with coefficients, its part of the scores of rows, and unknown values.

    Without coefficients the first column is yielded, as rows are checked in any case.
    """
    n_rows = _checks.n_rows(X, "X")
    X = readable(X, rankers, np.unique(rankers.column[lam != 0.0]).size)
    with Pool(n_threads, n_rows) as pool:
        for c, terms in rankers._terms_by_column(X, lam):
            yield c, scoring.total(terms, n_rows, pool), scoring.unknown_levels(terms)


def readable(X: Any, rankers: Rankers, n_columns: int) -> Any:
    """Return rows for reading several columns one by one, with conversions done once.

    Functions get the rows as they are.
    """
    if n_columns < 2 or any(map(is_function, dict(rankers._reads()))):
        return X
    return _checks.sparse(X, "X").tocsc() if _checks.is_sparse(X) else _checks.list_to_array(X, "X")


def is_function(key: Hashable) -> bool:
    """Whether a weak ranker reads whole rows and not a column of a table."""
    return isinstance(key, tuple) and not isinstance(key[-1], str)  # what is read off a column has a name


def _cells(X: Any, rows: Any, places: set[int]) -> dict[int, Any]:
    """Return the values of some rows in some columns."""
    if not places:
        return {}
    if _checks.is_columns(X):
        columns = list(X.values())
        return {j: _checks.listed(_checks.rows(columns[j], rows)) for j in places}
    some = X if len(rows) == _checks.n_rows(X, "X") else _checks.rows(X, rows)
    if _checks.is_sparse(some):
        columns = some.tocsc()
        return {j: columns[:, [j]].toarray().ravel() for j in places}
    table, _ = _checks.table(some, "X", places)
    return {j: table[j] for j in places}
