"""Weak rankers of a table with columns of mixed kinds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Kinds, Lines, Monotone, Rows
from pnorm._checks.text import shown
from pnorm._storage.features import LARGEST_FEATURE
from pnorm._threads import Pool
from pnorm.rankers._base import Found, Index, Rankers
from pnorm.rankers._learner import How, Learner
from pnorm.rankers._notes import HAS_LEVELS, Learned, tell
from pnorm.rankers._reader import WISHES, ReadAs, Reader
from pnorm.rankers._readings import Where
from pnorm.rankers._sides import Column
from pnorm.rankers._table import Plan, Table


def from_table(
    pos: Rows,
    neg: Rows,
    *,
    kinds: Kinds | None = None,
    n_cuts: int = 255,
    linear: Lines = False,
    monotone: Monotone | None = None,
    min_rows: int | None = None,
    max_levels: int = 255,
    n_threads: int | None = None,
) -> Rankers:
    """Make weak rankers of a table with numbers, text, booleans, dates and missing values.

    The kind of each column is read from the values of both sides together. A column of numbers gets cuts, placed as in
    `quantile_thresholds`. Text gets an indicator of each level. A boolean gets one indicator. Dates get cuts
    of the trend and indicators of the weekday, the hour and the month, where these vary. Missing values get an
    indicator. Ids, free text and constant columns are left out. The page "How columns are read" contains the rules.

    Parameters
    ----------
    pos : table of I rows
        The positive rows of training: a data frame of pandas or polars, an Arrow table, a dictionary of columns, a
        list of rows, or an array. Columns without names are called ``x0``, ``x1``, ... Rows may be dictionaries, as
        `json.load` returns them; a key that a row lacks is a missing value.
    neg : table of K rows
        The negative rows of training, with the same columns.
    kinds : mapping from column to kind, optional
        What columns become, by name or number from 0, in place of what they seem to be: ``"number"``,
        ``"decimal point"`` or ``"decimal comma"`` (for text with numbers that can be read in two ways), ``"category"``,
        ``"boolean"``, ``"date"``, ``"day first"`` or ``"month first"`` (likewise), ``"time"`` of day, ``"duration"``
        (numbers with units of time, such as ``772 days``, ``3.2 years`` or ``1 yr 2 mo``; a month is 30.44 days and a
        year 365.25), ``"any case"`` (a category in which values that differ only in case or spaces are one),
        ``"leave out"``, or a list of levels from the lowest to the highest.
    n_cuts : int
        Largest number of cuts per column. As in `quantile_thresholds`.
    linear : bool or "only"
        Whether to add a straight line to the cuts of each column. With ``"only"``, a line takes the place of the cuts.
        As in `quantile_thresholds`.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). For a date, the sign
        is that of the trend. Columns that are left out may be included.
    min_rows : int, optional
        A level of fewer rows than this is rare; by default 10, or a fiftieth of the rows if there are fewer than 500,
        but at least 2. All rare levels of a column form the level ``(rare)``. Values of new rows that are not a level
        belong to it too.
    max_levels : int
        Largest number of levels of a column. The most frequent levels are kept; the others are rare.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. Up to 65,536 rows, one does it all.
        The result is the same to the last bit for any number. They share the columns.

    Returns
    -------
    Rankers
        Column by column; named like ``age > 30.5``, ``city = Rome``, ``smoker``, ``when (weekday) = Mon`` and
        ``age is missing``. Its attribute `plan` lists the kind of each column and why columns were left out. Columns of
        new rows are found by name, in any of the forms above and in any order; additional columns are ignored. Values
        may be text, as in a file.

    Raises
    ------
    ValueError, TypeError
        If the sides have different columns, no column can be used, `kinds` or `monotone` names a column that does
        not exist, or more than half of the values cannot be read as the kind that `kinds` asks for. For new rows: if a
        column is missing, or more than a tenth of its values, and at least 5, cannot be read as its kind in training
        and are not words that training counted as missing. The message contains the column, the row and the value.

    Warns
    -----
    TableWarning
        If columns are left out, or all values of a category that `kinds` asks for are rare. If values do not read as
        the others of their column do; they count as missing. A column has the kind that at least 95 % of its values
        have. Where many numbers have a decimal point and many a decimal comma, each is read by its own mark, and those
        that may have either count as missing. If the others are one or two words that are repeated, and the column has
        more than 10 other values; these words count as missing, in new rows too. Each has an indicator, unless it is
        the only kind of missing value. If text can
        be read in two ways; it is then a category unless `kinds` contains its kind. If most values of a category are
        numbers with a unit, and most are rare or there are more than 40; the plan names the kind that reads them, if
        there is one. If a column almost separates the sides alone; it may be known only after the outcome. The
        criterion is at least 20 values on each side and an AUC of at least 0.99: of the values, of the levels by their
        shares of positives, or of the indicator of missing values. Of 5 to 19 values on a side, the AUC must be 1, and
        the probability of that by chance at most one in a million. For a column of at most 10 values, and for missing
        values, an AUC of 0.95 is enough; the plan has the share of the rows in which the column agrees with the label.
        If a column has one value on a whole side of 20 rows or more, and others in at least half of the other side.
        If a column has values, or is missing, in at least 5 rows, all on one side, or at least 95 % on that with fewer
        rows. The probability of so many by chance is at most one in a million; the plan has the numbers.
    UnknownLevelWarning
        When rows are evaluated, scored or trained on, if values are not levels of a column without rare levels, as in
        `categories`. Or if values of other rows do not read as the kind of their column; they count as missing. Words
        that training counted as missing are missing in other rows too, without a warning, up to 20 of a column.

    See Also
    --------
    quantile_thresholds, categories : Weak rankers of columns that are all numbers, or all categories.

    Notes
    -----
    The labels only affect the warning. So the function can be passed to `pnorm.cross_validate` as ``H=from_table``.
    The cost is a pass over each column to find its distinct values, and a sort of numbers, O(N log N) for
    N = I + K. New rows cost one pass over the columns that have coefficients.

    Examples
    --------
    >>> import pnorm
    >>> pos = {"age": [61, 58, None], "smoker": ["yes", "no", "yes"], "city": ["Rome", "Rome", "Oslo"]}
    >>> neg = {"age": [35, 52, 58], "smoker": ["no", "no", "yes"], "city": ["Oslo", "Rome", "Bari"]}
    >>> H = pnorm.rankers.from_table(pos, neg)
    >>> H.plan
    column  becomes   values  missing  weak rankers
    age     number         4        1             4
    smoker  boolean        2        0             1
    city    category       3        0             3  1 rare value is the level (rare)
    >>> H.names
    ('age > 43.5', 'age > 55', 'age > 59.5', 'age is missing', 'smoker', 'city = Oslo', 'city = Rome', 'city = (rare)')
    >>> H.evaluate({"city": ["Pisa"], "smoker": [False], "age": ["57"]})
    array([[1., 1., 0., 0., 0., 0., 0., 1.]])
    """
    whole, places = _NUMBERED.get().of(pos, neg)
    B: Any = _checks.from_records(neg, "neg")
    A: Any = _checks.from_records(pos, "pos", B if _checks.is_columns(B) else ())
    B = _checks.from_records(neg, "neg", A if _checks.is_columns(A) else ())
    found, width = _checks.headings(A, "pos")
    found_of_neg, width_of_neg = _checks.headings(B, "neg")
    if found is not None and found_of_neg is not None:
        _checks.same_columns(found, found_of_neg)
    elif width != width_of_neg:
        raise ValueError(f"pos has {width} columns and neg has {width_of_neg}; both sides need the same columns")

    def column(c: int) -> Column:
        return Column(
            [
                (_checks.cells_of(X, name, found, width, [c])[0], Where(whole or name, c, found, False, rows))
                for name, X, rows in (("pos", A, places[0]), ("neg", B, places[1]))
            ]
        )

    n_rows = _checks.n_rows(A, "pos") + _checks.n_rows(B, "neg")
    return made(
        column,
        "pos",
        found,
        width,
        n_rows,
        kinds=kinds,
        n_cuts=n_cuts,
        linear=linear,
        monotone=monotone,
        min_rows=min_rows,
        max_levels=max_levels,
        n_threads=n_threads,
    )


@dataclass(frozen=True, eq=False)
class _Numbered:
    """The name of a table, two parts of it, and the numbers of their rows."""

    name: str = ""
    parts: tuple[Any, Any] = (None, None)
    rows: tuple[Index | None, Index | None] = (None, None)

    def of(self, pos: Any, neg: Any) -> tuple[str, tuple[Index | None, Index | None]]:
        """Return the name and the numbers if these are the parts."""
        is_known = pos is self.parts[0] and neg is self.parts[1]
        return (self.name, self.rows) if is_known else ("", (None, None))


_NUMBERED: ContextVar[_Numbered] = ContextVar("_NUMBERED", default=_Numbered())  # noqa: B039


@contextlib.contextmanager
def numbered(name: str, pos: Any, neg: Any, rows: tuple[Index, Index]) -> Iterator[None]:
    """Let messages of `from_table` on cells of these two tables have the name and the rows of the table of both."""
    token = _NUMBERED.set(_Numbered(name, (pos, neg), rows))
    try:
        yield
    finally:
        _NUMBERED.reset(token)


def of_rows(
    X: Any, positive: NDArray[np.bool_], called: Index, name: str = "X", of_estimator: bool = False, **how: Any
) -> Table:
    """Make the rankers of `from_table` from one table with the rows of both sides, in one pass over each column.

    `called` are the numbers of the rows in messages, and `how` the options of `from_table`. `of_estimator` is whether
    an estimator makes them, which a warning depends on.
    """
    found, width = _checks.headings(X, name)
    column = column_of_rows(X, positive, called, name)
    return made(column, name, found, width, positive.size, of_estimator=of_estimator, **how)


def column_of_rows(X: Any, positive: NDArray[np.bool_], called: Index, name: str) -> Callable[[int], Column]:
    """Return a function from the number of a column to the column, of a table with the rows of both sides."""
    X = _checks.from_records(X, name)
    found, width = _checks.headings(X, name)
    places = [np.flatnonzero(side) for side in (positive, ~positive)]

    def column(c: int) -> Column:
        (cells,) = _checks.cells_of(X, name, found, width, [c])
        return Column([(cells.take(rows), Where(name, c, found, False, called[rows])) for rows in places])

    return column


def made(
    column: Callable[[int], Column],
    name: str,
    found: Found,
    width: int,
    n_rows: int,
    *,
    kinds: Mapping[Any, Any] | None = None,
    n_cuts: int = 255,
    linear: Lines | None = False,
    monotone: Mapping[Any, int] | None = None,
    min_rows: int | None = None,
    max_levels: int = 255,
    n_threads: int | None = None,
    of_estimator: bool = False,
) -> Table:
    """Return the weak rankers of a table; `column` is a function that returns its columns.

    With `linear` None, they are made for every `linear` in one pass, which `Table.with_lines` tells apart.
    `of_estimator` is whether an estimator makes them, which a warning depends on.
    """
    n_cuts = _checks.count(n_cuts, "n_cuts", 1)
    max_levels = _checks.count(max_levels, "max_levels", 1)
    if max_levels > LARGEST_FEATURE - 4:
        raise ValueError(f"max_levels must be at most {LARGEST_FEATURE - 4}; got {shown(max_levels)}")
    linear, n_threads = None if linear is None else _checks.lines(linear), _checks.threads(n_threads)
    if width == 0:
        raise ValueError(f"{name} has no columns")
    labels = found or tuple([f"x{c}" for c in range(width)])
    wishes = _checks.kinds(kinds, labels, WISHES, name)
    signs = _checks.monotone(monotone, labels, name)
    min_rows = max(min(n_rows // 50, 10), 2) if min_rows is None else _checks.count(min_rows, "min_rows", 1)
    how = How(found, labels, n_cuts, linear, min_rows, max_levels)

    def learn(c: int) -> Learned:
        return Learner(how, c, column(c), wishes.get(c), signs.get(c, 0)).learn()

    with Pool(n_threads, n_rows) as pool:
        learned = pool.each(learn, range(width))
    plan = Plan([of.plan for of in learned])
    sources = [of.source for of in learned if of.source is not None]
    as_levels = [of.plan.name for of in learned if of.source is None and HAS_LEVELS in of.kinds]
    if not sources:
        reasons = "; ".join([f"{shown(of.name)}: {of.note}" for of in plan[:8]])
        rows = "pos and neg" if name == "pos" else name
        hint = '; kinds={"COLUMN": "category"} uses one anyway' if as_levels else ""
        raise ValueError(f"no column of {rows} can be used ({reasons}){hint}")
    tell(learned, of_estimator)
    return Table(found, width, sources, plan, [of.ask for of in learned if of.ask is not None], as_levels)


def read_as(column: Column, name: str, kinds: Mapping[Any, Any] | None = None) -> ReadAs:
    """Return how `from_table` reads the column of this name."""
    return Reader(column, name, _checks.kinds(kinds, (name,), WISHES, name).get(0)).read()
