"""Weak rankers of a table with columns of mixed kinds."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Unread, warn
from pnorm._checks import BOOLEAN, DATE, DURATION, NUMBER, ONLY, TIME, UNREAD, VALUES, Kinds, Lines, Monotone, Rows
from pnorm._checks.text import shown
from pnorm._storage.coded import LARGEST_FEATURE
from pnorm._threads import Pool
from pnorm.rankers import _forms
from pnorm.rankers._base import LINE, MISSING, Found, Index, Rankers
from pnorm.rankers._columns import InOrder, Placed, _Thresholds, _thresholds
from pnorm.rankers._forms import DAY_FIRST, MONTH_FIRST, Form
from pnorm.rankers._readings import CATEGORY, LEVELS_OF, ORDERED, RARE, Reading, Where, derived, is_missing
from pnorm.rankers._sides import (
    FEW,
    LEAST,
    AllDiffer,
    Column,
    LeaveOut,
    Numbers,
    OneSided,
    Side,
    Tally,
    levels_of_one_side,
)
from pnorm.rankers._table import (
    AGREES,
    ALIKE,
    APART,
    AS_ASKED,
    BETWEEN,
    CODE,
    EMPTY,
    FILLED,
    ID,
    ID_BY_NAME,
    ID_OF_SEVERAL,
    NO_LEVEL,
    NONE,
    OF,
    SAME,
    SEPARATES,
    WORD,
    WRITTEN,
    Ask,
    ColumnPlan,
    OfLevels,
    Part,
    Plan,
    Source,
    Table,
)

LEFT_OUT, ANY_CASE = "left out", "any case"

WISHES = {
    NUMBER: NUMBER, "decimal point": NUMBER, "decimal comma": NUMBER, CATEGORY: CATEGORY, BOOLEAN: BOOLEAN,
    DATE: DATE, DAY_FIRST: DATE, MONTH_FIRST: DATE, TIME: TIME, DURATION: DURATION, "leave out": LEFT_OUT,
    ANY_CASE: CATEGORY,
}  # fmt: skip
"""The words of `kinds`, and the kind that each requests."""

_TWO = (("decimal point", "decimal comma"), (DAY_FIRST, MONTH_FIRST))
"""Words of `kinds` for two readings of one text."""

_SAYS = {
    "decimal point": "says which mark numbers have before the fraction",
    DAY_FIRST: "says what dates begin with",
}
"""Endings of the hint in the warning of `from_table` that names two kinds, by the first of the two."""

_DIFFERENT = 0.9
"""Share of different values from which on text is an id or free text."""

_FREE_TEXT, _SENTENCE, _LEAVE_OUT = "free text", 3.0, "leave out"
"""The name of text with several words a value, the least mean number of words, and the kind that drops a column."""

_LEAST_ASKED = 0.5
"""Share of the values that have to read as the kind that `kinds` asks for."""

_PROBABLY = 0.3
"""Share of the values, at most, that do not read as the others do where a warning says what the column probably is."""

_FEW_WORDS, _LEAST_NUMBERS = 2, 10
"""Words of a column, at most, that count as missing where they are repeated, and more different values than this that
are no such words. A column of fewer numbers is a category, in which a word keeps a place of its own."""

_SAID_MISSING = frozenset(
    {"unknown", "refused", "declined", "missing", "not stated", "not known", "not available", "not applicable", "n.a."}
    | {"no answer", "(blank)", "blank", "<na>", "#n/a", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?"}
    | {".", "*", "--", "\\n", "nil"}
)
"""Words for a missing value, of which a column may have more than two."""

_LEAST_APART, _LEAST_BELOW = 3, 5
"""Rows with a number that may stand for a missing value, at least: a number far from the others, and a negative one
that may be near them, or one beside other negative values."""

_MOST_CODES = 5
"""Numbers of one column that stand for missing values, at most."""

_CODE_OF_SURVEYS = re.compile(r"-(?:9+[5-9]|77+|88+)\.0")
_ONE_CODE = re.compile(rf"{_CODE_OF_SURVEYS.pattern}|-[1-9]\.0")
_OFTEN = 3.0
"""Rows of such a number, at least, by the median of the others, where the gap is not larger than their range."""

_MOST_ORDERED = 20
"""Different words, at most, that probably have an order, where some are numbers and others hold digits."""

_SHARE_APART = 0.01
"""Share of the known values that are such a number, at least, beside other negative values."""

_NO_DATES = {
    *("0001-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01"),
    *("2099-12-31", "2999-12-31", "9999-12-31"),
}
"""Dates that stand for no date: the first and last ones of programs, and the zeros of their clocks."""

_MOST_KEPT = 20
"""Words of a column that do not read, at most, that are kept and are no news in new rows; the most frequent ones."""

_MOST_NAMED = 4
"""Words, at most, of which the command offers to count each as missing."""

_MANY_ROWS = 100
"""Rows of one value, from which on a quarter of a side are many."""

_ALONE, _NEARLY = 0.99, 0.95
"""AUC from which on a column separates the sides nearly alone, and from which on a column of few values agrees with
the label so often that it may be another form of it."""

_FEW_VALUES = 10
"""Values of such a column, at most. More values are a measurement, of which some are that good."""

_LEAST_ROWS, _PURE, _CHANCE = 5, 0.95, 1e-6
"""Rows, at least, in which a column has a value or is missing, the share of them on the smaller side from which on it
may be known only after the outcome, and the probability of that share by chance, at most."""

_AROUND_DIGITS = re.compile(r"(?:[^\W\d_]{1,4}[.\s]*(?![-/_#:]))?(?=.*\d.*[\W_])[\d\W_]{3,}[^\W\d_]{0,5}\.?")
"""Text that may be a number with something around its digits: an id seldom has signs and no letters within."""

_MANY_MEASURES = 40
"""Different numbers with a unit that are a measurement even if most of them are frequent."""

_MOST_UNITS, _MOSTLY = 10, 0.5
"""Different units after the numbers of a column, at most, and the share of its rows that have a number and a unit, and
of its values that are rare, from which on it is a measurement rather than a category."""

_LEAST_SPAN = {"month": 365.0, "weekday": 14.0, "hour": 2.0}
"""Days between the first date and the last, from which on this is read off dates."""

_NAMED_ID = re.compile(
    r"(?i:(?:^|[\W_])(?:id|ids|uuid|guid|key|index|idx|nr|no|num|number)\.?$)|[a-z](?:Id|ID|Nr|Key)$"
    r"|(?i:^(?:row|user|customer|client|order|account|case|patient|person|member|item|record)id$)"
)
"""Names of columns of numbers that identify a row."""

_LETTER_FIRST = re.compile(r"[A-Za-z]{1,2}\d")
"""A code such as V58, which has no order among 250 and 401."""

_NAMED_CODE = re.compile(
    r"(?i:(?:^|[\W_])(?:zip|plz|(?:post|postal|zip)?code|postleitzahl|fips|naics|nace|sic|isic|mcc|cpt|drg|ndc|phone|postal|id)"
    r"(?:[\W_]?\d{1,4})?$)"
    r"|[a-z](?:Code|Zip|Id|ID)$"
)
"""Names of columns of numbers that stand for a place, a trade or another kind of thing, and have no order."""

_NAMED_DIAGNOSIS = re.compile(
    r"(?:^|.*[\W_])(?:icd|diag|dgns|dx|diagnosis)(?:[\W_]?(?:\d{1,2}|dgns|code|cd)){0,4}", re.IGNORECASE
)
"""Names of columns of codes of diagnoses, which may have a fraction, such as 250.83."""

_NAMED_ENTITY = re.compile(
    r"(?:customer|client|user|account|merchant|store|shop|branch|agent|employee|vendor|supplier|product|item|sku|device"
    r"|patient|session|company|carrier|airline|airport|station|dealer|broker|driver|hospital|school|department)"
    r"(?:[\W_]?(?:nbr|no|nr|num|number))?",
    re.IGNORECASE,
)
"""Whole names of columns whose numbers, large or many, stand for such things. Others, and plurals, may be counts."""

_LEAST_CODE, _MOST_COUNTS = 100, 200
"""The smallest number of such a column, at least; and different numbers, at most, of which small ones may be counts."""


class TableWarning(UserWarning):
    """A warning of columns of a table that are left out, or that may be known only after the outcome.

    Its text has the names of the columns. The `plan` of the weak rankers has the reasons. The same text is printed
    once for a line of code, also if it is that of a cross-validation, unless a filter of `warnings` says otherwise.

    Examples
    --------
    >>> import warnings
    >>> import pnorm
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", pnorm.rankers.TableWarning)
    ...     H = pnorm.rankers.from_table({"one": [1, 1, 1], "n": [5, 6, 5]}, {"one": [1, 1, 1], "n": [1, 6, 2]})
    >>> print(str(caught[0].message).partition(".")[0])
    Columns left out: one
    """


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
    how = _How(found, labels, n_cuts, linear, min_rows, max_levels)

    def learn(c: int) -> _Learned:
        return _Learner(how, c, column(c), wishes.get(c), signs.get(c, 0)).learn()

    with Pool(n_threads, n_rows) as pool:
        learned = pool.each(learn, range(width))
    plan = Plan([of.plan for of in learned])
    sources = [of.source for of in learned if of.source is not None]
    if not sources:
        reasons = "; ".join([f"{shown(of.name)}: {of.note}" for of in plan[:8]])
        rows = "pos and neg" if name == "pos" else name
        hint = '; kinds={"COLUMN": "category"} uses one anyway' if any(of.has_levels for of in learned) else ""
        raise ValueError(f"no column of {rows} can be used ({reasons}){hint}")
    _tell(learned, of_estimator)
    as_levels = [of.plan.name for of in learned if of.has_levels]
    return Table(found, width, sources, plan, [of.ask for of in learned if of.ask is not None], as_levels)


@dataclass(frozen=True)
class ReadAs:
    """The kind and form that `from_table` gives a column, and the other kinds that are possible."""

    reading: Reading
    doubt: str
    """Why it is a category, if another kind is possible."""
    kinds: tuple[str, ...]
    """Words of `kinds` that settle the doubt."""


def read_as(column: Column, name: str, kinds: Mapping[Any, Any] | None = None) -> ReadAs:
    """Return how `from_table` reads the column of this name."""
    how = _How((name,), (name,), 1, False, 2, 1)
    return _Learner(how, 0, column, _checks.kinds(kinds, how.labels, WISHES, name).get(0), 0).read()


@dataclass(frozen=True)
class _How:
    """The options for all columns."""

    found: Found
    labels: tuple[str, ...]
    n_cuts: int
    linear: Lines | None
    min_rows: int
    max_levels: int


@dataclass(frozen=True, eq=False)
class _Learned:
    """What a column becomes."""

    source: Source | None
    plan: ColumnPlan
    doubt: str = ""
    """Why it is a category, if another kind is possible."""
    ask: Ask | None = None
    """Which values count as missing, or what is in doubt."""
    separates: bool = False
    """Whether it almost separates the sides alone, and is not in `kinds`."""
    agrees: str = ""
    """The share of the rows in which it agrees with the label, if that is very large, and it is not in `kinds`."""
    one_sided: bool = False
    """It is not in `kinds`, and nearly all of its values, or of its missing ones, are in rows of the smaller side."""
    spelled: str = ""
    """Which levels differ only in case or spaces, if some do, and it is not in `kinds`."""
    all_rare: bool = False
    """Whether `kinds` asks for a category, and all of its values are rare."""
    codes: bool = False
    """Whether it is not in `kinds`, and its numbers may be codes, by its name."""
    has_levels: bool = False
    """Whether it is left out, and some of its values would be levels of a category."""


def _tell(learned: Sequence[_Learned], of_estimator: bool) -> None:
    """Warn, once, of columns that are left out, are in doubt, or may be known only after the outcome.

    The message has names only, so that it is mostly the same in all folds of a cross-validation. It is not printed
    again for a column that changes from one reason for suspicion to another.
    """
    of_kind = {
        _LEFT_OUT: [of for of in learned if of.plan.kind == LEFT_OUT and of.plan.note != AS_ASKED and not of.all_rare],
        _DOUBTS: [of for of in learned if of.doubt and of.source is not None],
        _UNREAD: [of for of in learned if of.ask is not None and not of.ask.lost],
        _CODES: [of for of in learned if of.codes],
        _SPELLED: [of for of in learned if of.spelled],
        _APART: [of for of in learned if of.plan.apart],
        _LEAKS: [of for of in learned if of.separates],
        _AGREE: [of for of in learned if of.agrees],
        _ONE_SIDED: [of for of in learned if of.one_sided],
    }
    all_rare = _few([shown(of.plan.name) for of in learned if of.all_rare])
    said = {kind: _few([_named(kind, of) for of in columns]) for kind, columns in of_kind.items() if columns}
    told = _TOLD.get()
    if not (said or all_rare) or told:
        return
    if told is not None:
        told.append(True)
    if all_rare:
        warn(
            f"{_ALL_RARE}: {all_rare}. Their values are not used; merge them into fewer levels, or leave the columns "
            "out",
            TableWarning,
            once=[(_ALL_RARE, of.plan.name) for of in learned if of.all_rare],
        )
    if not said:
        return
    of_kinds = {
        CATEGORY: ("makes levels of a column", _LEFT_OUT, _DOUBTS, _CODES),
        DURATION: ("reads numbers with units of time", _OF_TIME),
        "any case": ("merges spellings", _SPELLED),
        "leave out": ("drops what is known only after the outcome", _LEAKS, _AGREE, _ONE_SIDED),
    }
    of_time = any(of.ask is not None and DURATION in of.ask.kinds for of in of_kind[_DOUBTS])
    apply = {*said, *[_OF_TIME] * of_time}
    asked = {kind for of in learned if of.ask is not None for kind in of.ask.kinds}
    uses = [f'"{one}" or "{other}" {_SAYS[one]}' for one, other in _TWO if {one, other} <= asked]
    uses += [f'"{kind}" {does}' for kind, (does, *why) in of_kinds.items() if not apply.isdisjoint(why)]
    hints = [f'pass kinds={{"COLUMN": KIND}} to change that: {", ".join(uses)}'] * bool(uses)
    if _UNREAD in said:
        words = sorted({word for of in of_kind[_UNREAD] if of.ask is not None for word in of.ask.words})[:_MOST_NAMED]
        by_option = f", or pass missing={words!r}" * bool(words and of_estimator)
        hints.append(f"replace values that do not read with None{by_option}")
    if _APART in said:
        values = sorted({value for of in of_kind[_APART] for value in of.plan.apart})[:_MOST_NAMED]
        by_option = f", or pass missing={values!r}" * of_estimator
        hints.append(f"replace values that mean missing with None{by_option}")
    lines = [_wrapped(f"{_COLUMNS} {what}: {names}.") for what, names in said.items()]
    facts = [(_SUSPECTED.get(kind, kind), of.plan.name) for kind, columns in of_kind.items() for of in columns]
    plan_called = "model.rankers_.plan" if of_estimator else "H.plan"
    warn("\n".join([*lines, f"{plan_called} has the reasons; {'; '.join(hints)}"]), TableWarning, once=facts)


def _named(kind: str, of: _Learned) -> str:
    """Return a column in a warning, with the values that it is about, if these are the same in most folds."""
    return shown(of.plan.name) + f" ({', '.join(of.plan.apart)})" * (kind == _APART)


_COLUMNS = "Columns"
_ALL_RARE = f"{_COLUMNS} asked for as categories, whose values are all rare"
_LEFT_OUT, _DOUBTS = "left out", "of text read as categories"
_UNREAD, _SPELLED = "with values that do not read", "with several spellings of one value"
_APART = "with a value that may mean missing"
_CODES = "of numbers that may be codes, by their names"
_OF_TIME = "of numbers with units of time"
_LEAKS, _AGREE = "that separate positives from negatives nearly alone", "that agree with the label"
_ONE_SIDED = "with values, or missing values, nearly all on one side"
_SUSPECTED = dict.fromkeys((_LEAKS, _AGREE, _ONE_SIDED), "suspected")

_TOLD: ContextVar[list[bool] | None] = ContextVar("_TOLD", default=None)
"""Not empty if the tables of this run have been warned of; None if every table is warned of."""


@contextlib.contextmanager
def told_once(told: list[bool]) -> Iterator[None]:
    """Warn of the first of the tables that share the list, such as the training rows of the folds of one call."""
    token = _TOLD.set(told)
    try:
        yield
    finally:
        _TOLD.reset(token)


def is_of_columns(message: str) -> bool:
    """Return whether this is the message of a `TableWarning`, whose facts are also in the plan."""
    kinds = _LEFT_OUT, _DOUBTS, _UNREAD, _CODES, _SPELLED, _APART, _LEAKS, _AGREE, _ONE_SIDED
    return message.startswith(tuple([f"{_COLUMNS} {kind}: " for kind in kinds]))


def _wrapped(text: str) -> str:
    """Return text as lines, of which those after the first one are indented."""
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


_WIDTH = 120
"""Characters of a line of a warning, at most."""


def _few(items: Sequence[str], most: int = 12) -> str:
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


class _Learner:
    """What a column becomes."""

    def __init__(self, how: _How, c: int, column: Column, wish: Any, sign: int) -> None:
        self._how, self._c, self._wish, self._sign = how, c, wish, sign
        self._label = how.labels[c]
        self._column, self._sides = column, column.sides
        self._note, self._doubt = "", ""
        self._kinds: tuple[str, ...] = ()
        self._unread: Unread | None = None
        self._n_values = 0
        self._missing = [0, 0]
        self._alone = self._agrees = self._one_sided = self._words_told = self._spelled = self._apart = ""
        self._code = self._unclear = self._own_told = ""
        self._words: tuple[str, ...] = ()
        self._own: dict[str, str] = {}
        self._all_rare = self._has_levels = self._grouped = False
        self._span, self._ends = 0.0, (0.0, 0.0)

    def learn(self) -> _Learned:
        try:
            reading, parts = self._learn()
        except LeaveOut as why:
            reasons = [self._doubt, str(why)]
            if self._doubt and isinstance(why, AllDiffer):  # an amount in doubt is no id
                reasons = [self._doubt]
            note = "; ".join(filter(None, reasons))
            plan = ColumnPlan(self._label, LEFT_OUT, self._n_values, sum(self._missing), 0, note)
            return _Learned(None, plan, ask=self._ask(), all_rare=self._all_rare, has_levels=self._has_levels)
        n = sum([len(part.rankers) for part in parts])
        unread = "" if self._unread is None else self._unread.told()
        alone = f"{SEPARATES} ({self._alone})" * bool(self._alone)
        agrees = f"{AGREES} {self._agrees} of the rows" * bool(self._agrees)
        told = [self._words_told, self._unclear, unread]
        notes = [
            self._note,
            self._doubt,
            *told,
            self._own_told,
            self._apart,
            self._code,
            alone,
            agrees,
            self._one_sided,
        ]
        plan = ColumnPlan(
            self._label, reading.kind, self._n_values, sum(self._missing), n, "; ".join(filter(None, notes))
        )
        if self._unread is not None:
            reading = replace(reading, missing=(*reading.missing, *self._odd(reading)))
        source = Source(self._c, reading, tuple(parts), 0 if self._unread is None else self._unread.unknown)
        found = _Learned(source, plan, self._doubt, self._ask(), all_rare=self._all_rare)
        if self._wish is not None:
            return found
        return replace(
            found,
            separates=bool(self._alone),
            agrees=self._agrees,
            one_sided=bool(self._one_sided),
            spelled=self._spelled,
            codes=bool(self._code),
        )

    def read(self) -> ReadAs:
        """Return how the column is read, whatever it becomes."""
        self._missing = [side.missing for side in self._sides]
        try:
            reading = self._plain_numbers() or self._reading()
        except LeaveOut as why:
            return ReadAs(Reading(CATEGORY), str(why), ())
        return ReadAs(reading, self._doubt, self._kinds)

    def _ask(self) -> Ask | None:
        if self._doubt:
            return Ask(self._label, self._doubt, self._kinds, words=self._words)
        unread = "" if self._unread is None else self._unread.told()
        told = "; ".join(filter(None, [self._words_told, self._unclear, unread]))
        level = CATEGORY
        if isinstance(self._wish, tuple | list):  # levels in their order, of which one may have been forgotten
            level = ",".join(map(str, [*self._wish, *self._words]))
        kinds = (level,) * bool(self._words) + (_TWO[0] if self._unclear else ())
        return Ask(self._label, told, kinds, lost=False, words=self._words, unread=self._unread) if told else None

    def _learn(self) -> tuple[Reading, list[Part]]:
        if self._wish == _LEAVE_OUT:
            raise LeaveOut(AS_ASKED)
        reading = self._plain_numbers()
        if reading is not None:
            return self._numeric(reading)
        self._missing = [side.missing for side in self._sides]
        if self._missing == [side.size for side in self._sides]:
            raise LeaveOut("all values are missing")
        reading = self._reading()
        if reading.kind == CATEGORY:
            if self._sign:
                raise ValueError(
                    f"monotone names {shown(self._label)!r}, a category, whose levels have no order; "
                    'kinds={"COLUMN": ["low", "high"]} gives them one'
                )
            return self._levels()
        return self._numeric(reading)

    # How it is read.

    def _plain_numbers(self) -> Reading | None:
        """Return the reading of text that is plain numbers on both sides, whose words need not be counted."""
        plain = [side.written for side in self._sides if side.written is not None]
        if len(plain) < 2 or self._wish not in (None, NUMBER) or not any(of.known for of in plain):
            return None
        if plain[0].comma != plain[1].comma:
            return None
        with_point = [of for of in plain if of.point]
        if with_point and all(of.grouped for of in with_point):
            self._grouped = True
            return None  # the different words say whether a point is a decimal one
        if any(of.code for of in plain):
            return None if self._wish is None else Reading(NUMBER)
        return Reading(NUMBER, Form("," if plain[0].comma else "." if any(of.point for of in plain) else ""))

    def _reading(self) -> Reading:
        wish = self._wish
        if isinstance(wish, tuple):
            return Reading(ORDERED, levels=wish)
        asked = None if wish is None else WISHES[wish]
        if asked == CATEGORY:
            return Reading(CATEGORY)
        there = [
            side for side, missing in zip(self._sides, self._missing, strict=True) if missing < side.size
        ]  # a side on which all is missing has no say
        kinds = {side.kind for side in there}
        tallies = [side.tally for side in self._sides if side.kind in (VALUES, UNREAD)]
        numbers = NUMBER in kinds or any(tally.numbers for tally in tallies)
        text = self._column.text()
        if asked is not None:
            levels = _no_and_yes(text.words) if asked == BOOLEAN and not numbers else ()
            return Reading(asked, self._form(asked, wish, text), levels)
        if UNREAD in kinds or (len(kinds - {BOOLEAN}) > 1 and not kinds <= {VALUES, NUMBER, BOOLEAN}):
            reading = self._of_types(there)
            if reading is not None:
                return reading
        if UNREAD in kinds:
            odd = next(side for side in there if side.kind == UNREAD)
            raise LeaveOut(f"values of type {shown(odd.type, 30)} cannot be read")
        if VALUES not in kinds:
            if len(kinds) == 1:
                return Reading(kinds.pop())
            if kinds == {NUMBER, BOOLEAN}:
                return Reading(NUMBER)
            raise LeaveOut(f"values are of {len(kinds)} kinds: {', '.join(sorted(kinds))}")
        order = there[0].order
        if order is not None and all(side.order == order for side in there):
            return Reading(ORDERED, levels=order)
        if not kinds <= {VALUES, NUMBER, BOOLEAN}:
            raise LeaveOut(f"values are of {len(kinds)} kinds: {', '.join(sorted(kinds))}")
        return self._of_text(text, kinds, numbers, any(side.declared for side in there))

    def _of_text(self, text: _forms.Text, kinds: set[str], numbers: bool, declared: bool) -> Reading:
        """Return the reading of text that fits all words; a category if none does."""
        words = text.words
        if not words:
            return Reading(CATEGORY if numbers else BOOLEAN)
        only_text = kinds == {VALUES} and not numbers
        if not numbers and _forms.all_of(_forms.truth, words) is not None:
            return Reading(BOOLEAN, levels=_no_and_yes(words))
        if declared:
            return Reading(CATEGORY)
        form, doubt = text.number()
        if form is not None and (only_text or form.unit != "%"):
            return Reading(NUMBER, form)
        if not doubt and only_text:
            form, doubt = text.date()
            if form is not None:
                return Reading(DATE, form)
            if text.is_time():
                return Reading(TIME)
            form = text.duration()
            if form is not None:
                return Reading(DURATION, form)
        return self._nearly(text, "" if form is not None else doubt, only_text)

    def _nearly(self, text: _forms.Text, doubt: str, only_text: bool) -> Reading:
        """Return the reading of nearly all words; a category, with what is in doubt, if there is none."""
        n_rows: Counter[str] = Counter()
        n_known = n_others = 0
        for side in self._sides:
            tally = side.tally
            n_known += tally.known
            for value, count in tally.counts.items():
                if isinstance(value, str):
                    n_rows[value] += count
                else:
                    n_others += count
        most = text.most(n_rows, _forms.TOLERATED * n_known)
        lost = most.lost + (0 if most.kind == NUMBER and (most.form is None or most.form.unit != "%") else n_others)
        if not doubt and n_others and most.form is None and not most.doubt:
            most, lost = _forms.Most(NUMBER, Form("."), "", tuple(text.words), 0.0), float(sum(n_rows.values()))
        few = lost <= _forms.TOLERATED * n_known
        words = _repeated(most.odd, n_rows, most.kind, spare=0.0 if few else _forms.TOLERATED * n_known)
        own = [word for word in most.odd if _checks.folded(word) in words]
        if most.form is not None and not doubt and few:
            self._own = {_checks.folded(word): word for word in own}
            self._unclear = most.marks.told() if most.marks.unclear else ""
            return Reading(most.kind, most.form)
        is_read = words and most.form is not None and not doubt
        if (
            is_read
            and len({value for side in self._sides for value in side.tally.counts}) - len(most.odd) > _LEAST_NUMBERS
        ):
            self._unclear = most.marks.told() if most.marks.unclear else ""
            reading = Reading(most.kind, most.form or Form(), missing=words)
            return self._without(reading, own, sum(n_rows[word] for word in own))
        if doubt or (most.doubt and lost <= _PROBABLY * n_known):
            self._doubt = doubt or most.doubt
            self._kinds = next((kinds for kinds in _TWO if all(repr(kind) in self._doubt for kind in kinds)), ())
        elif most.form is not None and lost <= _PROBABLY * n_known:
            reading = Reading(most.kind, most.form)
            some = list(n_rows) if len(n_rows) <= _MOST_ORDERED and not any("," in word for word in n_rows) else []
            of_digits = [word for word in most.odd if any(c.isdigit() for c in word)]  # which tell more than nothing
            if of_digits and all(map(_LETTER_FIRST.match, of_digits)):
                return Reading(CATEGORY)
            if some and of_digits:
                levels = ",".join(_in_likely_order(some))
                self._doubt = "the values probably have an order, which a list of levels from low to high would keep"
                self._kinds = (levels,)
            elif sum([n_rows[word] for word in of_digits]) > _forms.TOLERATED * n_known:  # such as 105** for a place
                self._doubt, self._kinds = self._probably(reading, n_known, "loses what they tell"), (CATEGORY,)
            else:
                self._doubt, self._kinds = self._probably(reading, n_known), (reading.asked(),)
                self._words = tuple(most.odd) if len(most.odd) <= _MOST_NAMED else ()
        return Reading(CATEGORY)

    def _without(self, reading: Reading, odd: Sequence[str], lost: int) -> Reading:
        """Return a reading in which words count as missing, and keep that they do, in words."""
        odd = sorted(odd)
        self._own = {_checks.folded(word): word for word in odd}
        named = " and ".join([shown(repr(word), 24) for word in odd])
        self._words_told = f"{named} {'counts' if len(odd) == 1 else 'count'} as missing ({lost:,} values)"
        self._words = tuple(self._own.values())
        return reading

    def _probably(self, reading: Reading, n_known: int, does: str = "takes them for missing") -> str:
        """Return that a column is probably of a kind, and which values stand against it."""
        of_pos, of_neg = self._column.numbers(reading).unread
        unread = of_pos + of_neg
        named = f"{', '.join(unread.places())}{', ...' if unread.unknown > len(unread.found) else ''}"
        return (
            f"probably {reading.called()}, but {unread.unknown:,} of the {n_known:,} values do not read as one: "
            f"{named}; the kind {reading.asked()!r} {does}"
        )

    def _of_types(self, sides: Sequence[Side]) -> Reading | None:
        """Return the reading of values of which nearly all are of one type, such as dates with a word among them."""
        n_rows: Counter[str] = Counter()
        pairs = []
        for side in sides:
            values, counts = side.mixed()
            pairs += [(value, n) for value, n in zip(values, counts.tolist(), strict=True) if not is_missing(value)]
        for value, n in pairs:
            n_rows[_checks.kind_of(value)] += n
        kind = max((NUMBER, DATE, TIME, DURATION), key=lambda kind: n_rows[kind])
        reading = Reading(kind)
        meaning, lost = reading.meaning(), 0
        for value, n in pairs:
            lost += n * (meaning(value) is None)
        if n_rows[kind] and lost <= _forms.TOLERATED * n_rows.total():
            return reading
        of_words: Counter[str] = Counter()
        for value, n in pairs:
            if isinstance(value, str) and meaning(value) is None:
                of_words[value.strip()] += n
        words = _repeated(tuple(of_words), of_words, kind)
        known = {value for value, _ in pairs if not isinstance(value, str)}
        if not words or of_words.total() < lost or len(known) <= _LEAST_NUMBERS:
            return None
        return self._without(replace(reading, missing=words), tuple(of_words), lost)

    def _form(self, asked: str, wish: str, text: _forms.Text) -> Form:
        """Return the form of a kind that a user asks for, which fits most values."""
        n_rows: Counter[str] = Counter()
        for side in self._sides:
            n_rows.update({value: n for value, n in side.tally.counts.items() if isinstance(value, str)})
        if asked == NUMBER:
            form = text.number()[0]
            if form is None:
                most = text.most_of(NUMBER, n_rows)
                form = most.form or most.asked
            if wish == NUMBER:
                return form or Form()
            unit, scaled = (form.unit, form.scaled) if form else (text.unit(), text.scaled())
            mixed = form is not None and form.mixed
            return Form("," if wish == "decimal comma" else ".", unit, scaled=scaled, mixed=mixed)
        if asked == DATE:
            if wish != DATE:
                return Form(order=wish)
            return text.date(True)[0] or text.most_of(DATE, n_rows).form or Form()
        return Form()

    # What it becomes.

    def _numeric(self, reading: Reading) -> tuple[Reading, list[Part]]:
        reading = replace(reading, form=replace(reading.form, written=self._written(reading)))
        x = self._column.numbers(reading)
        self._missing = x.missing
        self._keep_unread(reading, x)
        if reading.kind == BOOLEAN:
            self._note = self._none_told(self._column.text().words)
        if reading.kind == DURATION:
            self._note = _forms.durations_told(self._column.text().words, reading.form)
        elif reading.form.scaled or reading.form.unit not in ("", "%") or reading.form.point or reading.form.mixed:
            self._note = _forms.readings_told(self._column.text().words, reading.form)
        if self._grouped and self._wish is None and reading.form.point == ".":
            self._note = _forms.thousands_told(self._column.text().words)
        parts = []
        for of in OF.get(reading.kind, ("",)):
            if self._span < _LEAST_SPAN.get(of, 0.0) or (of == "weekday" and x.are_months()):
                continue
            if of in LEVELS_OF:
                present = x.present(of)
                if len(present) > 1:
                    levels = tuple([LEVELS_OF[of][k] for k in present])
                    names = [f"{self._label} ({of}) = {level}" for level in levels]
                    parts.append(Part(of, OfLevels(names, None, [levels], True)))
                continue
            made = self._thresholds(reading, of, x.in_order(of))
            if made is not None:
                parts.append(made)
        if reading.form.point == "," and not reading.form.mixed and self._wish != "decimal comma":
            self._note = "; ".join(filter(None, ["decimal comma", self._note]))
        if reading.form.order and reading.form.order != self._wish:
            self._note = reading.form.order
        if reading.kind == DATE and _forms.short_years(self._column.text().words):
            first, last = [_forms.moment_text(days).partition("-")[0] for days in self._ends]
            years = f"two-digit years are read as {f'{first} to {last}' if first < last else first}"
            self._note = "; ".join(filter(None, [self._note, years]))
        parts += self._of_words(sum(x.missing))
        if not parts:
            raise LeaveOut("all values are equal")
        self._separates(x.auc(), x.of_one_side, partial(_value_told, reading))
        return reading, parts

    def _written(self, reading: Reading) -> str:
        """Return a value that reads, and that data bases do not read as it is written; the first of the alphabet."""
        if reading.kind not in _forms.PLAIN:
            return ""
        if reading.kind == NUMBER and reading.form.point != "," and all(side.written for side in self._sides):
            return ""
        if reading.kind == DATE and any(side.kind == NUMBER for side in self._sides):
            return "20240131"
        odd = [word for word in self._column.text().words if not _forms.PLAIN[reading.kind].fullmatch(word)]
        meaning = reading.meaning()
        return next((word for word in sorted(odd) if meaning(word) is not None), "")

    def _of_words(self, n_missing: int) -> list[Part]:
        """Return indicators of the words that count as missing; none of a word that says no more than that it is."""
        n_rows: Counter[str] = Counter()
        for word, n in self._rows_of_text().items() if self._own else ():
            n_rows[_checks.folded(word)] += n
        words = [word for word in self._own if n_rows[word] >= self._how.min_rows]
        if not words or (n_rows[words[0]] == n_missing and not any(c.isdigit() and c != "0" for c in words[0])):
            return []
        levels = tuple(sorted([self._own[word] for word in words]))
        named = " and ".join([shown(repr(level), 24) for level in levels])
        self._own_told = (
            f"{named} {'has an indicator of its own' if len(levels) == 1 else 'have indicators of their own'}"
        )
        names = [f"{self._label} = {level}" for level in levels]
        return [Part(WORD, OfLevels(names, None, [levels], True))]

    def _keep_unread(self, reading: Reading, x: Numbers) -> None:
        """Keep the values that do not read, to be told; refuse a kind that was asked for and that most do not have."""
        unread = x.unread[0] + x.unread[1]
        if unread.unknown > (1.0 - _LEAST_ASKED) * unread.n:
            raise reading.refused(x.unread)
        self._unread = unread if unread.unknown else None

    def _rows_of_text(self) -> Counter[str]:
        """Return how many rows have each text, without the blanks around it."""
        n_rows: Counter[str] = Counter()
        for side in self._sides:
            values, counts = side.mixed()
            for value, n in zip(values, counts.tolist(), strict=True):
                if isinstance(value, str) and n:
                    n_rows[value.strip()] += n
        return n_rows

    def _odd(self, reading: Reading) -> list[str]:
        """Return words that do not read in any spelling, as `folded` writes them. They are missing in new rows too.

        Keep them for the question whether they mean a missing value, if all values that do not read may do so.
        """
        counts = Counter({word: n for word, n in self._rows_of_text().items() if not is_missing(word)})
        words = [word for word, read in zip(counts, reading.meanings([*counts]), strict=True) if read is None]
        n_rows_of: Counter[str] = Counter()
        spelled: dict[str, str] = {}
        for word in words:
            n_rows_of[_checks.folded(word)] += counts[word]
            spelled.setdefault(_checks.folded(word), word)
        if self._unread is not None and n_rows_of.total() == self._unread.unknown:
            repeated = sorted(_repeated(words, counts, reading.kind, False), key=lambda word: (-n_rows_of[word], word))
            self._words = self._words or tuple([spelled[word] for word in repeated])
        words = [word for word in n_rows_of if not reading.reads_if_spelled(word)]
        return sorted(words, key=lambda word: (-n_rows_of[word], word))[:_MOST_KEPT]

    def _thresholds(self, reading: Reading, of: str, x: InOrder) -> Part | None:
        how = self._how
        placed = x.cuts(how.n_cuts, how.linear is None or how.linear)
        if of != "hour":
            self._n_values = x.values.size
            with np.errstate(over="ignore"):
                self._span = float(x.values[-1] - x.values[0]) if x.values.size else 0.0
            if of == "trend" and x.values.size:
                self._ends = float(x.values[0]), float(x.values[-1])
                self._apart = _no_date(x, self._column.text().words, reading.form)
            if reading.kind == NUMBER and self._wish is None:
                self._refuse_id(x)
                self._apart = _far_apart(x)
                has_point = any(side.written is not None and side.written.point for side in self._sides)
                self._code = CODE * _may_be_codes(self._label, x, has_point)
        if not placed.cuts:
            return None
        straight = self._cut(reading, of, x.cuts(how.n_cuts, ONLY)) if how.linear is None else None
        return Part(of, self._cut(reading, of, placed), straight)

    def _cut(self, reading: Reading, of: str, placed: Placed) -> Rankers:
        """Return the weak rankers of cuts, and of a line."""
        label, (cuts, line, between) = self._label, placed
        lines, ends = ({0: line} if line else {}), ({0: between} if between else {})
        signs = {0: self._sign} if self._sign and of != "hour" else {}
        if reading.kind not in (BOOLEAN, ORDERED, DATE) or of == "hour":
            head = label if reading.kind != DATE else f"{label} ({of})"
            return _thresholds({0: cuts}, 1, None, [head], True, lines, signs, ends)
        names = [self._named(reading, cut) for cut in cuts]
        return _Thresholds(names, 1, None, [(0, cut) for cut in cuts], True, lines, signs, ends)

    def _named(self, reading: Reading, cut: float) -> str:
        label = self._label
        if math.isnan(cut):
            return label + MISSING
        if math.isinf(cut):
            return label + LINE
        if reading.kind == BOOLEAN:
            return label
        if reading.kind == ORDERED:
            return f"{label} > {reading.levels[math.floor(cut)]}"
        return f"{label} > {_forms.moment_text(cut)}"

    def _refuse_id(self, x: InOrder) -> None:
        """Leave out a column of whole numbers whose values identify the rows."""
        n = int(x.ends[-1]) if x.ends.size else 0
        if n < FEW or x.values.size < 0.95 * n or not np.array_equal(x.values, np.floor(x.values)):
            return
        self._has_levels = int(np.diff(x.ends, prepend=0).max()) >= self._how.min_rows
        if _NAMED_ID.search(self._label):
            raise AllDiffer(ID_BY_NAME)
        if n > 2 * FEW and self._span <= 3.0 * n:
            raise LeaveOut(f"{ID}: whole numbers one after the other")

    def _levels(self) -> tuple[Reading, list[Part]]:
        of_sides = [side.tally for side in self._sides]
        counts: Counter[Any] = Counter()
        for tally, side in zip(of_sides, self._sides, strict=True):
            if side.kind not in (VALUES, NUMBER, BOOLEAN) or not tally.finite:
                side.refuse_levels()
        any_case, alike = self._wish == ANY_CASE, ""
        if any_case:
            alike = _alike(sum([tally.counts for tally in of_sides], Counter())).replace(ALIKE, "spellings are merged")
            of_sides = _in_one_case(of_sides)
        for tally in of_sides:
            counts.update(tally.counts)
        n_known, self._n_values = sum([tally.known for tally in of_sides]), len(counts)
        if self._wish is None and not self._doubt:
            self._doubt, self._kinds = _measured(counts, self._how.min_rows)
        frequent = [value for value, count in counts.items() if count >= self._how.min_rows and value != RARE]
        if self._wish is None and n_known >= FEW and self._n_values > _DIFFERENT * n_known:
            self._has_levels = bool(frequent)
            self._refuse_text([word for tally in of_sides for word in tally.words])
        if self._wish is None and not self._doubt:
            self._doubt = _of_sentences(counts, n_known, self._n_values)
            self._kinds = (_LEAVE_OUT,) * bool(self._doubt)
        n_rare = n_known - sum([counts[value] for value in frequent])
        if self._wish is None and not self._doubt and frequent and 2 * n_rare > n_known >= FEW:
            self._doubt = f"{n_rare:,} of {n_known:,} rows have rare values, which are one level"
            self._kinds = (_LEAVE_OUT,)
        frequent.sort(key=lambda value: (-counts[value], isinstance(value, str), value))
        kept = frequent[: self._how.max_levels]
        rare = self._n_values - len(kept)
        missing = sum(self._missing)
        self._all_rare = self._wish is not None and not kept
        if not kept and not missing:
            if self._wish is None and _NAMED_ID.search(self._label):
                raise LeaveOut(f"{ID_OF_SEVERAL}: {NO_LEVEL} {self._how.min_rows} rows")
            raise LeaveOut(f"{NO_LEVEL} {self._how.min_rows} rows")
        if len(kept) + bool(rare) + bool(missing) < 2:
            raise LeaveOut("all values are equal")
        levels = sorted(kept, key=lambda level: (isinstance(level, str), level))
        if rare and kept:
            levels.append(RARE)
            self._note = f"{rare:,} rare {'value is' if rare == 1 else 'values are'} the level {RARE}"
        elif rare:
            self._note = f"{NO_LEVEL} {self._how.min_rows} rows; only whether it is missing counts"
        self._spelled = "" if any_case else _alike(counts)
        self._note = "; ".join(filter(None, [self._note, alike or self._spelled, self._none_told(kept)]))
        if missing:
            levels.append(None)
        self._separates(self._auc_of_levels(levels, of_sides), lambda: levels_of_one_side(of_sides), str)
        names = [self._label + (MISSING if level is None else f" = {level}") for level in levels]
        reading = Reading(CATEGORY, levels=tuple(levels), any_case=any_case)
        return reading, [Part("", OfLevels(names, None, [tuple(levels)], True))]

    def _none_told(self, levels: Sequence[Any]) -> str:
        """Return that none counts as missing in a column of few other words, if as many rows have it as a level."""
        n = sum([count for word, count in self._rows_of_text().items() if word.lower() == "none"])
        words = [level for level in levels if isinstance(level, str) and not {",", "'", ";"} & {*level}]
        if self._wish is not None or n < self._how.min_rows or not 0 < len(words) == len(levels) <= _LEAST_NUMBERS:
            return ""
        return f"{NONE} ({n:,} values), where the kind 'none,{','.join(_in_likely_order(words))}' makes it a level"

    def _refuse_text(self, words: Sequence[str]) -> None:
        digits = [word for word in words[:1000] if _AROUND_DIGITS.fullmatch(word)]
        if 2 * len(digits) > len(words[:1000]) and not all(map(_forms.is_code, digits)):
            raise AllDiffer(f"digits in a form that does not read as numbers, such as {shown(repr(digits[0]))}")
        raise AllDiffer(_FREE_TEXT if _n_words(words) >= _SENTENCE else ID)

    def _auc_of_levels(self, levels: Sequence[Any], of_sides: Sequence[Tally]) -> float:
        """Return the AUC of scores that are the levels' shares of positives."""
        of_levels = np.array(
            [
                [tally.missing if level is None else tally.counts.get(level, 0) for level in levels]
                for tally in of_sides
            ],
            np.float64,
        )
        if RARE in levels:
            sums = [tally.known + tally.missing for tally in of_sides]
            of_levels[:, levels.index(RARE)] += np.array(sums) - of_levels.sum(axis=1)
        small = of_levels.sum(axis=0) < FEW  # together, as their shares say little
        pos, neg = np.column_stack([of_levels[:, ~small], of_levels[:, small].sum(axis=1)])
        if min(pos.sum(), neg.sum()) < LEAST:
            return 0.5
        order = np.argsort(pos / np.maximum(pos + neg, 1.0))
        below = np.concatenate([[0.0], neg[order].cumsum()[:-1]])
        return float((pos[order] * (below + 0.5 * neg[order])).sum() / (pos.sum() * neg.sum()))

    def _agreement(self, n: int) -> float:
        """Return the share of the rows in which the commoner label of their value is their label."""
        a, b = [side.tally for side in self._sides]
        of_values = sum([max(a.counts[value], b.counts[value]) for value in {*a.counts, *b.counts}])
        return (of_values + max(a.missing, b.missing)) / n

    def _separates(
        self, auc: float, of_one_side: Callable[[], Sequence[OneSided]], write: Callable[[Any], str]
    ) -> None:
        """Keep in words how the column separates the sides: by missing values, by the others, or by one of them."""
        sizes = [side.size for side in self._sides]
        known_of = [size - n for n, size in zip(self._missing, sizes, strict=True)]
        of_missing, best = _auc_of_missing(self._missing, sizes), _unless_by_chance(auc, known_of)
        by_missing = _unless_by_chance(of_missing, sizes)
        if max(best, by_missing) < _ALONE:
            if by_missing >= max(_NEARLY, best):
                self._agrees = _percent((max(self._missing) + max(known_of)) / sum(sizes))
            elif best >= _NEARLY and 0 < self._n_values <= _FEW_VALUES:
                self._agrees = _percent(self._agreement(sum(sizes)))
            else:
                self._one_sided = _of_one_side(self._missing, sizes)
                if not self._one_sided:
                    self._one_sided = _one_value(of_one_side(), known_of, write)
            return
        if by_missing >= best:
            self._alone = f"missing for nearly all {'positives' if of_missing > 0.5 else 'negatives'}"
        else:
            self._alone = f"AUC {best:.3f}"


def _repeated(
    odd: Sequence[str], n_rows: Mapping[str, int], kind: str, numbers: bool = True, spare: float = 0.0
) -> tuple[str, ...]:
    """Return words that may mean a missing value, as `folded` writes them: few, repeated, and no numbers among others.

    If not `numbers`, they have no digits but zeros. Words of one or two rows, in `spare` rows or fewer together, are
    slips beside them.
    """
    counts: Counter[str] = Counter()
    for word in odd:
        counts[_checks.folded(word)] += n_rows[word]
    slips = {word: n for word, n in counts.items() if n <= _FEW_WORDS}
    if len(slips) < len(counts) and sum(slips.values()) <= spare:
        counts -= Counter(slips)
    others = [word for word in counts if word not in _SAID_MISSING]
    if not 0 < len(counts) <= _MOST_CODES or len(others) > _FEW_WORDS or min(counts.values()) < 2:
        return ()
    if numbers:
        return () if kind == NUMBER and any(map(_forms.may_be_number, counts)) else tuple(sorted(counts))
    return () if any(c.isdigit() and c != "0" for word in counts for c in word) else tuple(sorted(counts))


def _measured(counts: Mapping[Any, int], min_rows: int) -> tuple[str, tuple[str, ...]]:
    """Return that most values are numbers with a unit, if most are rare or they are many; and what reads them."""
    are_rare = sum([count < min_rows for count in counts.values()]) > _MOSTLY * len(counts)
    if len(counts) <= (_LEAST_NUMBERS if are_rare else _MANY_MEASURES):
        return "", ()
    of_units: Counter[str] = Counter()
    example = ""
    for value, count in counts.items():
        unit = _forms.unit_after(value.strip()) if isinstance(value, str) else ""
        if unit:
            of_units[unit] += count
            example = example or shown(repr(value))
    n_rows = sum(counts.values())
    if of_units.total() <= _MOSTLY * n_rows or len(of_units) > _MOST_UNITS:
        return "", ()
    said = f"most values are numbers with a unit, such as {example}{', and most are rare' * are_rare}"
    if of_units["time"] > _MOSTLY * n_rows:
        return f"{said}; the kind {DURATION!r} reads days, weeks, months and years", (DURATION,)
    return f"{said}; numbers without the unit would be read as numbers", ()


def _in_likely_order(words: Iterable[str]) -> list[str]:
    """Return words by the first number in each; those without come first, and one of more than a number last."""

    def place(word: str) -> tuple[float, int, str]:
        number = re.search(r"\d+(?:\.\d+)?", word)
        folded = word.lower()
        is_more = re.search(r"more|over|above|\+|>|older|plus|at least", folded) is not None
        is_less = re.search(r"less|under|below|<|up to", folded) is not None
        return (-math.inf if number is None else float(number[0]), is_more - is_less, folded)

    return sorted(words, key=place)


def _of_sentences(counts: Mapping[Any, int], n_known: int, n_values: int) -> str:
    """Return that the values are probably free text, if most of them differ and they have several words."""
    if n_known < FEW or n_values <= _MOSTLY * n_known:
        return ""
    if _n_words([value for value in counts if isinstance(value, str)]) < _SENTENCE:
        return ""
    told = f"{n_values:,} of {n_known:,} values differ, and only the frequent ones are used"
    return f"probably {_FREE_TEXT}: {told}; the kind {_LEAVE_OUT!r} drops the column"


def _n_words(values: Sequence[str]) -> float:
    """Return the mean number of words of the first values."""
    some = values[:1000]
    return sum([len(value.split()) for value in some]) / max(len(some), 1)


def _in_one_case(of_sides: Sequence[Tally]) -> list[Tally]:
    """Return tallies in which text that differs only in case or spaces is one value, in its most frequent spelling."""
    counts: Counter[Any] = sum([tally.counts for tally in of_sides], Counter())
    spelled: dict[str, str] = {}
    for word in sorted([value for value in counts if isinstance(value, str)], key=lambda word: (-counts[word], word)):
        spelled.setdefault(_checks.folded(word), word)
    found = []
    for tally in of_sides:
        merged: Counter[Any] = Counter()
        for value, n in tally.counts.items():
            merged[spelled[_checks.folded(value)] if isinstance(value, str) else value] += n
        found.append(replace(tally, counts=merged))
    return found


def _far_apart(x: InOrder) -> str:
    """Return a note on a number that may stand for a missing value; empty if there is none.

    It is -1, or nines, sevens or eights with or without a minus sign, at an end of the column and in three rows or
    more. The other values are more than ten. Beside nines, their range is smaller than the gap, or the nines have a
    minus sign and are in five rows or more; beside -1, their median is above 1. If some of the others are negative, the
    number is two digits or more, in five rows and in 1 % of the known values or more, and the gap is the larger one.
    """
    values, counts = x.values, np.diff(x.ends, prepend=0)
    if values.size < 2 + _LEAST_NUMBERS:
        return ""
    together = _codes_apart(values, counts) or _codes_apart(-values[::-1], counts[::-1], -1.0)
    if together:
        return together
    for end, others in ((0, slice(1, None)), (-1, slice(None, -1))):
        value, low, high = float(values[end]), float(values[others][0]), float(values[others][-1])
        if counts[end] < _LEAST_APART or not value.is_integer():
            continue
        is_nines = re.fullmatch("9+|77+|88+", f"{abs(value):.0f}") is not None
        is_far = (low - value if end == 0 else value - high) > high - low
        if low < 0.0:
            least = max(_LEAST_BELOW, _SHARE_APART * counts.sum())
            is_told = is_nines and is_far and abs(value) > 9.0 and counts[end] >= least
        else:
            rows = counts[others].cumsum()
            is_one = value == -1.0 and values[others][rows.searchsorted(0.5 * rows[-1])] > 1.0
            is_below = value < 0.0 and counts[end] >= _LEAST_BELOW
            is_told = is_one or (is_nines and (is_below or is_far))
        if is_told:
            beyond = f"below {low:g}" if end == 0 else f"above {high:g}"
            return f"{value:.0f} in {counts[end]:,} rows, {APART} {beyond}"
    return ""


def _codes_apart(values: Any, counts: Index, sign: float = 1.0) -> str:
    """Return a note on several numbers at the lower end that surveys write for missing values; empty if there are none.

    They are up to five, in three rows or more each: nines but for the last digit, which is 5 or more, or sevens or
    eights. Their gap to the others is larger than the range of these, or a tenth of it where each is in more rows than
    the others are. Or they are below zero, -9 to -1 included, one of them is -7 or less, and no other is negative. The
    numbers are multiplied by `sign`.
    """
    most = min(_MOST_CODES + 1, values.size - _LEAST_NUMBERS)
    texts = list(map(repr, values[:most].tolist()))
    found = len(list(itertools.takewhile((_ONE_CODE if sign > 0.0 else _CODE_OF_SURVEYS).fullmatch, texts)))
    for n in range(min(found, most - 1), 1, -1):  # others may look like codes, such as an age of 97
        low, high, least = float(values[n]), float(values[-1]), counts[:n].min()
        is_often = least >= max(_LEAST_BELOW, _OFTEN * float(np.median(counts[n:])))
        is_far = low - float(values[n - 1]) > (0.1 if is_often else 1.0) * (high - low)
        if least >= _LEAST_APART and (is_far or (sign > 0.0 and low >= 0.0 and values[0] <= -7.0)):
            *some, last = [f"{sign * value:.0f}" for value in values[:n][:: int(sign)].tolist()]
            beyond = f"below {low:g}" if sign > 0.0 else f"above {-low:g}"
            return f"{', '.join(some)} and {last} in {counts[:n].sum():,} rows, {APART} {beyond}"
    return ""


def _no_date(x: InOrder, words: Sequence[str], form: Form) -> str:
    """Return a note on a date in text that may stand for a missing value; empty if there is none.

    It is one that programs write for no date, is the first or the last of the column, and is in five rows or more and
    in as many as any other.
    """
    values, counts = x.values, np.diff(x.ends, prepend=0)
    if values.size < 2 + _LEAST_NUMBERS:
        return ""
    for end, next_one, side in ((0, 1, "before"), (-1, -2, "after")):
        date, other = (_forms.moment_text(float(values[place])) for place in (end, next_one))
        n = counts[end]
        if date[:10] in _NO_DATES and n >= max(_LEAST_BELOW, counts.max()):
            moment = round(86400e6 * float(values[end]))
            word = next((word for word in words if _forms.date(word, form.order, False, form.first_year) == moment), "")
            if word:
                return f"{word} in {n:,} rows, {APART} {side} {other}"
    return ""


def _may_be_codes(label: str, x: InOrder, has_point: bool) -> bool:
    """Return whether a column has whole numbers, three or more, and a name such as zip, customer_id or diag_1.

    If the name is only that of a thing, such as customer, they are more than ten large numbers, or more than 200, or
    text such as 9.0, which programs write for ids where some are missing.
    """
    if _NAMED_DIAGNOSIS.fullmatch(label.strip()):
        return x.values.size > 2
    is_large = x.values.size > _LEAST_NUMBERS and (has_point or bool(x.values[0] >= _LEAST_CODE))
    is_named = _NAMED_CODE.search(label) is not None
    is_many = is_large or x.values.size > _MOST_COUNTS
    is_named = is_named or (is_many and _NAMED_ENTITY.fullmatch(label.strip()) is not None)
    return x.values.size > 2 and is_named and np.array_equal(x.values, np.floor(x.values))


def _percent(share: float) -> str:
    return f"{math.floor(1000.0 * share) / 10.0:g} %"


def _no_and_yes(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words for no and yes, if there is one for each."""
    of_truth = {_forms.TRUTHS.get(word.lower()): word for word in words}
    return (of_truth[0.0], of_truth[1.0]) if len(words) == len(of_truth) == 2 and None not in of_truth else ()


def _auc_of_missing(missing: Sequence[int], sizes: Sequence[int]) -> float:
    if min(sizes) < LEAST:
        return 0.5
    return 0.5 + 0.5 * (missing[0] / sizes[0] - missing[1] / sizes[1])


def _unless_by_chance(auc: float, sizes: Sequence[int]) -> float:
    """Return how well a column separates the sides in either order; of few values, only a perfect order counts.

    That has one order in so many ways to choose the values of a side.
    """
    best = max(auc, 1.0 - auc)
    if min(sizes) >= FEW:
        return best
    return best if best == 1.0 and math.comb(sum(sizes), min(sizes)) * _CHANCE >= 1.0 else 0.5


def _of_one_side(missing: Sequence[int], sizes: Sequence[int]) -> str:
    """Return that the values of a column, or the missing ones, are nearly all on the smaller side, or all on one.

    Chance does so once in a million; empty if not.
    """
    from scipy.special import bdtrc

    known = [size - n for n, size in zip(missing, sizes, strict=True)]
    for what, rows in ((FILLED, known), (EMPTY, missing)):
        n = sum(rows)
        for of_side, size, side in zip(rows, sizes, ("positive", "negative"), strict=True):
            share = size / sum(sizes)
            is_pure = n >= _LEAST_ROWS and (of_side == n or (of_side >= _PURE * n and share <= 0.5))
            if is_pure and bdtrc(of_side - 1, n, share) <= _CHANCE:
                return f"{what} {n:,} rows ({'all' if of_side == n else f'{of_side:,}'} {side})"
    return ""


def _value_told(reading: Reading, x: float) -> str:
    """Return a number of a column as people write it."""
    if reading.kind in (BOOLEAN, ORDERED) and reading.levels:
        return str(reading.levels[int(x)])
    (of, *_) = OF.get(reading.kind, ("",))
    write: Callable[[float], str] = WRITTEN.get(of, "{:.6g}".format)
    return write(float(derived(of, np.array([x]))[0]))


def _one_value(of_sides: Sequence[OneSided], sizes: Sequence[int], write: Callable[[Any], str]) -> str:
    """Return that a value, or a range apart from all others, is that of very many rows of one side alone.

    Very many are half of the side, or a hundred rows and a quarter of the smaller side or 35 % of the larger one, and
    so many that chance does so once in a million. Or that a value is that of a whole side, and of a minority of the
    other.
    """
    if min(sizes) < FEW:
        return ""
    n_of = zip(sizes, sizes[::-1], ("positive", "negative"), ("negative", "positive"), strict=True)
    for found, (n, n_others, label, other) in zip(of_sides, n_of, strict=True):
        if found.count == n and 2 * found.shared <= n_others:
            rest = n_others - found.shared
            return f"{SAME} {n:,} rows (all {label}), and differs in {rest:,} rows (all {other})"
        share = 0.25 if n <= n_others else 0.35  # more on the larger side, where chance and habit do more
        many = max(min(n / 2.0, max(share * n, _MANY_ROWS)), math.log(_CHANCE) / math.log(n / (n + n_others)))
        if found.count >= many and not found.shared:
            return f"{SAME} {found.count:,} rows (all {label}): {shown(write(found.value), 24)}"
        if found.n_apart >= many:
            return f"{BETWEEN} {write(found.low)} to {write(found.high)} in {found.n_apart:,} rows (all {label})"
    return ""


def _alike(counts: Mapping[Any, int]) -> str:
    """Return a note on values that differ only in case or spaces; they are kept apart."""
    forms: dict[str, list[str]] = {}
    for value in counts:
        if isinstance(value, str):
            forms.setdefault(" ".join(value.split()).casefold(), []).append(value)
    groups = [sorted(group, key=lambda value: (-counts[value], value)) for group in forms.values() if len(group) > 1]
    if not groups:
        return ""
    groups.sort(key=lambda group: -sum([counts[value] for value in group]))
    some = [shown(repr(value) if value != " ".join(value.split()) else value, 24) for value in groups[0][:4]]
    more = ", ..." if len(groups) > 1 or len(groups[0]) > 4 else ""
    return f"{sum(map(len, groups)):,} {ALIKE}: {', '.join(some)}{more}"
