"""Scorecards: scoring functions in whole points, with the cost of the rounding."""

from __future__ import annotations

import builtins
import contextlib
import csv
import functools
import io
import json
import keyword
import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _categories, _checks, metrics
from pnorm._checks import BOOLEAN, DATE, NUMBER, Coefficients, DataFrame, Model, Rows, Vector, sheet
from pnorm._checks.text import first, shown
from pnorm._checks.words import NARROW, NO_VALUE, WIDE, numeral
from pnorm._reasons.shapes import (
    Leaf,
    Shape,
    by_value,
    coefficients,
    counted,
    leaves,
    number_text,
    shapes_of,
    values_text,
)
from pnorm._score import score
from pnorm.objectives import Power, value
from pnorm.rankers import Rankers, WeakRankers, _Callables, _Categories, _forms, _Thresholds, as_rankers
from pnorm.rankers._columns import _OfColumns
from pnorm.rankers._forms import TRUTHS
from pnorm.rankers._readings import CATEGORY, DAY, HOUR, LEVELS_OF, RARE
from pnorm.rankers._table import UNITS, WORD, Part, Table

_SHARES = np.linspace(1.0, 0.5, 100, endpoint=False)
"""Scales that are tried, relative to the largest one."""

_MOST = 10**6
"""Points of a column, at most: a line has a piece for each."""

_TOGETHER = 50
"""Terms of a sum in one pair of parentheses: SQLite takes no sum of more than a thousand."""

_FORMAT, _VERSION = "pnorm.scorecard", 1

_MISSING = -math.inf
"""In the place of a cut: a missing value."""

Points = NDArray[np.int64]

_TRUTH = "truth"
"""What is read off a column of truth values, beside the keys of `OF` of `pnorm.rankers._table`."""

_TO_STORE = {
    "": ("numbers in text", "plain numbers, such as 1234.5"),
    **dict.fromkeys(("trend", "weekday", "month", "hour"), ("dates in text", "dates, or text such as 2024-01-31")),
    "hours": ("times in text", "times, or text such as 14:30"),
    "days": ("durations in text", "durations"),
}
"""Names of text that SQL does not read, and of what to store instead, by what is read off a column."""

_YEAR_FIRST = ("____-__-__", "____-__-__ __:__", "____-__-__ __:__:__", "____-__-__ __:__:__._%")
"""Dates without and with a time of day, as SQL matches them."""

_OF_PYTHON = {
    "trend": "({}_moment(x) - datetime(1970, 1, 1)) / timedelta(days=1)",
    "weekday": f"{LEVELS_OF['weekday']}[{{}}_moment(x).weekday()]",
    "month": f"{LEVELS_OF['month']}[{{}}_moment(x).month - 1]",
    "hour": "{}_moment(x).hour",
    "hours": "({}_moment(x, '1970-01-01 ') - datetime(1970, 1, 1)) / timedelta(hours=1)",
    "days": "{}_days(x)",
}
"""What Python reads off a date, a time of day or a duration."""

_IMPORTS = {
    "bisect_left": "from bisect import bisect_left",
    "datetime": "from datetime import datetime",
    "timedelta": "from datetime import timedelta",
    "re": "import re",
}
_NAMES_OF_PYTHON = {*dir(builtins), *_IMPORTS}
"""Names that the source of a function must not hide."""

_HELPERS = {
    "numeral": '''
def NAME_numeral(word):
    """Return the number that a word spells, or the word."""
    try:
        return float(word) if word.isascii() and "_" not in word else word
    except ValueError:
        return word
''',
    "missing": '''
def NAME_missing(x, words=(), numbers=()):
    """Return whether a value is missing, or one of these words or numbers."""
    if not isinstance(x, str):
        return str(x).lower().lstrip("-s") in ("none", "nan", "nat", "<na>") or x in numbers
    word = " ".join(x.split()).casefold()
    return word in words or NAME_numeral(word) in numbers
''',
    "level": '''
def NAME_level(x, values, texts, words, other):
    """Return the points of a level: by its value, as text without blanks around it, or as a word in any case."""
    if x in values:
        points = values[x]
    elif not isinstance(x, str):
        points = values.get(float(x), other) if float(x) == x else other
    elif x.strip() in texts:
        points = texts[x.strip()]
    else:
        word = x.strip().lower()
        points = words.get(word, words.get(NAME_numeral(word), other))
    if points is None:
        raise ValueError(f"{x!r} has no points")
    return points
''',
    "days": '''
def NAME_days(x):
    """Return the days of a duration."""
    if isinstance(x, str):
        raise ValueError(f"{x!r} is text and no timedelta")
    return x / timedelta(days=1)
''',
    "moment": r'''
def NAME_moment(x, day=""):
    """Return the date and time that a value stands for, by its own clock."""
    text = day + str(x).strip()
    clock = r"[ T]CLOCK"
    zone = "" if day else r"(?:Z|[+-]\d\d(?::?\d\d)?)?"
    if isinstance(x, str) and not re.fullmatch(rf"\d{{4}}-\d\d-\d\d(?:{clock}{zone})?", text):
        raise ValueError(f"Invalid isoformat string: {x!r}")
    return datetime.fromisoformat(text).replace(tzinfo=None)
'''.replace("CLOCK", _forms.ISO_CLOCK),
}
"""Functions in the source of a function."""

_BLANKS = "".join([blank for blank in map(chr, range(0x3001)) if blank.isspace()])
"""All that `str.strip` takes off a text."""


@dataclass(frozen=True, eq=False, repr=False)
class PointsOf:
    """The points of one column of a scorecard.

    Attributes
    ----------
    name : str
        The column.
    cuts : tuple of float
        Ends of the pieces of a column of numbers, in ascending order; a piece holds its upper end.
    levels : tuple of str, float, bool or None
        The levels of a column of levels; None is a missing value. Of truth values the word for no, and that for yes.
        Text with blanks around it is the level without them.
    points : tuple of int
        The points of each piece, one more than there are cuts, or of each level.
    other : int or None
        The points of a value that is no known level; None where there can be none.
    missing : int or None
        The points of a missing value; None where none may be missing.
    shares : tuple of float
        Share of the rows in each piece, or of each level; empty if there were no rows.
    missing_share : float
        Share of the rows whose value is missing, or no known level; nan if there were no rows.
    source : str
        The column of the table, where something is read off it; else `name`.
    read_off : str
        What is read off it: of a date ``trend``, the days since the start of 1970, ``weekday``, ``month`` or ``hour``;
        of a time of day ``hours`` since midnight; of a duration ``days``; of a truth value ``truth``, whatever word or
        number it is written as. For the column itself "".
    missing_words : tuple of str
        Words that mean a missing value, in lower case, where text may mean one.
    form : tuple of two str, or None
        How text is read as a number, where `pnorm.rankers.from_table` reads it as one: the mark before the fraction,
        "" where no row of training had one, and the unit, "%" or a currency, "" for none.
    scaled : bool
        Whether numbers in text may have k, m, mn or bn after them. SQL and source of Python do not read such text.
    any_case : bool
        Whether text that differs from a level only in case or spaces is this level. SQL and source of Python do not
        merge such text.
    mixed : bool
        Whether each number in text is read by its own mark before the fraction, a point or a comma. ``form`` has the
        mark of a number such as ``1,234``, which may have either; "" where it is missing. SQL and source of Python do
        not read such text.
    written : str
        A value as text that SQL does not read: a number with marks or a unit, a date or time that is not as ISO 8601
        has it, or a duration. "" if no row of training had one. Source of Python reads the numbers.
    zone : str
        The time zone whose clock dates have, if their type had one in the rows that `pnorm.scorecard` got.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[31, 2], [45, 5], [52, 1]], [[22, 0], [28, 3], [39, 0], [47, 1]]
    >>> H = pnorm.rankers.thresholds([[30, 40, 50], [0, 2]], names=["age", "visits"])
    >>> lam, trace = pnorm.minimize(pos, neg, H, p=2, l2=0.1)
    >>> age = pnorm.scorecard(H, lam, points=10).columns[0]
    >>> age.name, age.cuts, age.points
    ('age', (30.0, 40.0, 50.0), (0, 8, 5, 10))
    >>> [row["points"] for row in age.rows()]
    [0, 8, 5, 10]
    """

    name: str
    cuts: tuple[float, ...]
    levels: tuple[Any, ...]
    points: tuple[int, ...]
    other: int | None
    missing: int | None
    shares: tuple[float, ...] = ()
    missing_share: float = math.nan
    source: str = ""
    read_off: str = ""
    missing_words: tuple[str, ...] = ()
    form: tuple[str, str] | None = None
    scaled: bool = False
    any_case: bool = False
    mixed: bool = False
    written: str = ""
    zone: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", self.source or self.name)

    def __repr__(self) -> str:
        what = f"{len(self.levels)} levels" if self.levels else f"{len(self.points)} pieces"
        return f"<PointsOf {shown(self.name)}: {what}, {min(self.points)} to {max(self.points)} points>"

    @property
    def unit(self) -> str:
        """The unit of the cuts, if they are read off a date, a time of day or a duration; else empty."""
        return UNITS.get(self.read_off, "")

    def rows(self) -> list[dict[str, Any]]:
        """Return the table of the column.

        Returns
        -------
        list of dict
            One for each piece, and one for each number of points that levels have: ``column``; ``from`` and ``to``, the
            ends of a piece, and their ``unit``, if they have one; ``level``, a list of levels; ``points``; and
            ``share``, the share of rows there. What does not apply is None.
        """
        unit = self.unit or None
        shares: Sequence[Any] = self.shares or [None] * len(self.points)
        found = []
        if not self.levels:
            ends = (-math.inf, *self.cuts, math.inf)
            for low, high, points, share in zip(ends, ends[1:], self.points, shares, strict=False):
                found.append(_row(self.name, low, high, unit, None, points, share))
        else:
            by_points: dict[int, list[tuple[Any, Any]]] = {}
            for level, points, share in zip(self.levels, self.points, shares, strict=True):
                if level is not None:
                    by_points.setdefault(points, []).append((level, share))
            for points, members in by_points.items():
                share = sum([share for _, share in members]) if self.shares else None
                found.append(_row(self.name, None, None, None, [str(level) for level, _ in members], points, share))
            if self.other is not None and RARE not in self.levels:
                found.append(_row(self.name, None, None, None, ["(any other)"], self.other, None))
        if self.missing is not None:
            share = None if math.isnan(self.missing_share) or self.other is not None else self.missing_share
            found.append(_row(self.name, None, None, None, ["(missing)"], self.missing, share))
        return found


def _row(name: str, low: Any, high: Any, unit: Any, level: Any, points: int, share: Any) -> dict[str, Any]:
    return {"column": name, "from": low, "to": high, "unit": unit, "level": level, "points": points, "share": share}


@dataclass(frozen=True)
class Rounding:
    """The cost of rounding to whole points on some rows. `Scorecard.compare` returns it.

    Attributes
    ----------
    p : float
        The power of the objective.
    log_objective : tuple of two floats
        log F_p of the scores, and of the points, in units of scores.
    positives_at_top : tuple of two ints
        Positives above every negative, by the scores and by the points.
    auc : tuple of two floats
        Area under the ROC curve, by the scores and by the points.
    reordered : float
        Share of the pairs of a positive and a negative whose order changes.
    tied : float
        Share of those pairs with different scores and equal points.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[31, 2], [45, 5], [52, 1]], [[22, 0], [28, 3], [39, 0], [47, 1]]
    >>> H = pnorm.rankers.thresholds([[30, 40, 50], [0, 2]], names=["age", "visits"])
    >>> lam, trace = pnorm.minimize(pos, neg, H, p=2, l2=0.1)
    >>> cost = pnorm.scorecard(H, lam, points=10).compare(pos, neg, p=2)
    >>> cost.positives_at_top, cost.auc, cost.reordered
    ((3, 3), (1.0, 1.0), 0.0)
    """

    p: float
    log_objective: tuple[float, float]
    positives_at_top: tuple[int, int]
    auc: tuple[float, float]
    reordered: float
    tied: float

    def __str__(self) -> str:
        pairs = [
            (f"log F_{self.p:g}", [f"{x:.4f}" for x in self.log_objective]),
            ("positives at the top", [str(x) for x in self.positives_at_top]),
            ("AUC", [f"{x:.4f}" for x in self.auc]),
        ]
        table = sheet.plain(["", "scores", "points"], [[what, *cells] for what, cells in pairs])
        return f"{table}\npairs in another order {100 * self.reordered:.2f} %, tied {100 * self.tied:.2f} %"


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard:
    """A scoring function in whole points. `pnorm.scorecard` returns it.

    The points of a row are the sum of the points of its columns. It prints, also in a notebook and as HTML, as a table
    for manual use, with cuts of ten digits. The other formats have all digits.

    Attributes
    ----------
    columns : tuple of PointsOf
        The points of each column.
    scale : float
        Points per unit of the score.
    bound : float
        Largest change of a difference of two scores by the rounding, for rows within the range of those of training or,
        of columns as they are, of those given. log F_p changes by p times this at most.
    rounding : Rounding or None
        The cost of the rounding on the given rows; None without positives and negatives.
    H : Rankers
        Weak rankers. Their outputs, times the coefficients `lam`, plus the constant `offset`, are the points.
    lam : ndarray, shape (n,)
        Their coefficients, whole numbers.
    offset : int
        Points of a row for which all these weak rankers are zero.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[31, 2], [45, 5], [52, 1]], [[22, 0], [28, 3], [39, 0], [47, 1]]
    >>> H = pnorm.rankers.thresholds([[30, 40, 50], [0, 2]], names=["age", "visits"])
    >>> lam, trace = pnorm.minimize(pos, neg, H, p=2, l2=0.1)
    >>> card = pnorm.scorecard(H, lam, points=10, pos=pos, neg=neg, p=2)
    >>> card.score([[45, 5], [22, 0]])
    array([14,  0])
    >>> card.compare(pos, neg, p=2).auc
    (1.0, 1.0)
    >>> card.rows()[0]["points"]
    0
    >>> card.to_frame().shape
    (7, 7)
    >>> print(card.to_csv().splitlines()[1])
    age,,30.0,,,0,0.285714
    >>> sorted(card.to_dict()), card.to_json()[:1], card.to_html()[:15]
    (['bound', 'columns', 'format', 'scale', 'version'], '{', '<!DOCTYPE html>')

    As code that needs no library:

    >>> points = {}
    >>> exec(card.to_python(), points)
    >>> points["points"]({"age": 45, "visits": 5})
    14
    >>> "people" in card.to_sql("people")
    True
    """

    columns: tuple[PointsOf, ...]
    scale: float
    bound: float
    rounding: Rounding | None
    H: Rankers
    lam: Vector
    offset: int
    _scored: tuple[Rankers, Vector]
    """The weak rankers and coefficients that were rounded."""

    def score(self, X: Rows) -> Points:
        """Return the points of rows.

        Parameters
        ----------
        X : array_like, shape (N, d)
            The rows.

        Returns
        -------
        ndarray of int, shape (N,)
            The points.

        Raises
        ------
        ValueError, TypeError
            If X does not fit the columns, or a value is missing in a column without points for missing values.

        Warns
        -----
        UnknownLevelWarning
            If values are not levels of the scorecard. As in `pnorm.score`.
        """
        f: Vector = score(X, self.H, self.lam)
        return np.rint(self.offset + f).astype(np.int64)

    def compare(self, pos: Rows, neg: Rows, p: float = 1.0) -> Rounding:
        """Return the cost of the rounding on some rows.

        Parameters
        ----------
        pos : array_like, shape (I, d)
            The positive rows.
        neg : array_like, shape (K, d)
            The negative rows.
        p : float
            Power of the price r ** p that a negative pays for the positives below it; at least 1.

        Returns
        -------
        Rounding
            The objective, the positives at the top, the AUC, and the pairs whose order changes.

        Raises
        ------
        ValueError, TypeError
            If rows do not fit the weak rankers.
        """
        p = _checks.power(p)
        before, after = list[Vector](), list[Points]()
        for X, name in ((pos, "pos"), (neg, "neg")):
            with _checks.rows_called(name):
                before.append(score(X, *self._scored))
                after.append(self.score(X))
        units = [points / self.scale for points in after]
        return Rounding(
            p,
            (value(before[0], before[1], Power(p)), value(units[0], units[1], Power(p))),
            (int(metrics.positives_at_top(*before)), int(metrics.positives_at_top(*units))),
            (float(metrics.auc(*before)), float(metrics.auc(*units))),
            *_changed(before, after),
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the table.

        Returns
        -------
        list of dict
            The rows of `PointsOf.rows` of each column.
        """
        return [row for column in self.columns for row in column.rows()]

    def to_frame(self) -> DataFrame:
        """Return the table as a data frame of pandas.

        Returns
        -------
        DataFrame
            The columns ``column``, ``from``, ``to``, ``unit``, ``level``, ``points`` and ``share``.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        return sheet.frame([row | {"level": row["level"] and ", ".join(row["level"])} for row in self.rows()])

    def to_csv(self) -> str:
        """Return the table as CSV.

        Returns
        -------
        str
            The columns ``column``, ``from``, ``to``, ``unit``, ``level``, ``points`` and ``share``. A level has a line
            of its own. Texts stand as they are: a spreadsheet may take one that begins with ``=`` for a formula.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["column", "from", "to", "unit", "level", "points", "share"])
        for row in self.rows():
            ends = ["" if end is None or math.isinf(end) else repr(end) for end in (row["from"], row["to"])]
            for level in row["level"] or [""]:
                share = "" if row["share"] is None or len(row["level"] or "1") > 1 else f"{row['share']:.6g}"
                writer.writerow([row["column"], *ends, row["unit"] or "", level, row["points"], share])
        return out.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the points as a dictionary that `json.dumps` takes.

        Returns
        -------
        dict
            ``format``, ``version``, ``scale``, ``bound``, and ``columns``: for each column ``column``, ``points``,
            ``missing``, and either ``cuts`` or ``levels`` and ``other``, as in `PointsOf`; ``source`` and ``read_off``
            where something is read off a column, ``missing_words`` where there are such, and ``form`` where text is
            read as a number.
        """
        columns = [
            {"column": c.name, "points": list(c.points), "missing": c.missing}
            | ({"source": c.source, "read_off": c.read_off} if c.read_off else {})
            | ({"missing_words": list(c.missing_words)} if c.missing_words else {})
            | ({"form": {"point": c.form[0], "unit": c.form[1]}} if c.form is not None else {})
            | ({"scaled": True} if c.scaled else {})
            | ({"any_case": True} if c.any_case else {})
            | ({"mixed": True} if c.mixed else {})
            | ({"zone": c.zone} if c.zone else {})
            | ({"cuts": list(c.cuts)} if not c.levels else {"levels": list(c.levels), "other": c.other})
            for c in self.columns
        ]
        head = {"format": _FORMAT, "version": _VERSION, "scale": self.scale, "bound": self.bound}
        return {**head, "columns": columns}

    def to_json(self) -> str:
        """Return `to_dict` as JSON.

        Returns
        -------
        str
            One line of ASCII. Numbers have as many digits as tell them from all others.
        """
        return json.dumps(self.to_dict(), allow_nan=False)

    def to_html(self) -> str:
        """Return a page with the table.

        Returns
        -------
        str
            A self-contained HTML page, for light and dark screens and for printing.
        """
        return sheet.page("Scorecard", f"<h1>Scorecard</h1>{self._repr_html_()}")

    def to_sql(self, table: str = "rows", *, name: str = "points") -> str:
        """Return a query that adds the points to the rows of a table.

        Parameters
        ----------
        table : str
            The table, without a schema. Its columns have the names of `columns`, and values of the types that the rows
            of training had; NULL is a missing value. Of what `pnorm.rankers.from_table` reads, numbers are of a type of
            numbers, also if they were text in training. Dates and times of day are of these types, or text as ISO 8601
            has it: ``2021-03-05``, ``2021-03-05 14:30:00.25``, ``14:30``. A duration is a number of days. Blanks around
            text do not count.
        name : str
            The name of the column of points, which no column of the card may have.

        Returns
        -------
        str
            A SELECT of standard SQL: one CASE for each column. Where a value is missing and none may be, or is not
            written as above, the points are NULL. Numbers are written with all their digits, so that comparisons are
            exact. Rows come in no certain order: sort by a column of your own. The tests run it in SQLite and DuckDB.
            Dates of a mixed table need SQLite 3.35 or newer, as text is taken apart in ``WITH ... AS MATERIALIZED``.
            Numbers and durations need the function TYPEOF of both: text in their place has the points NULL, or is an
            error in DuckDB. Dates of a type with a time zone have points if the rows that `pnorm.scorecard` got had
            one, such as UTC or Europe/Berlin: then they are read AT TIME ZONE, which SQLite does not know. Otherwise
            their points are NULL.

        Raises
        ------
        ValueError
            If a name or a level contains a NUL character, which SQL cannot represent. If two columns, or `name` and a
            column, have one name but for case. If a column is `scaled`, `mixed` or `any_case`, or has text `written` in
            another form than above.
        """
        _refuse_unread(self.columns, "SQL")
        columns = {column.source.casefold(): column.source for column in self.columns}
        for column in self.columns:
            if (other := columns[column.source.casefold()]) != column.source:
                raise ValueError(
                    f"the columns {shown(column.source)} and {shown(other)} are one in SQL, where case does not count. "
                    "Rename one before training"
                )
        if name.casefold() in columns:
            raise ValueError(
                f"name is that of the column {shown(columns[name.casefold()])} of the table; got {shown(name)!r}. Pass "
                "another one for the points"
            )
        terms = [_case(column) for column in self.columns]
        while len(terms) > 1:
            parts = [terms[k : k + _TOGETHER] for k in range(0, len(terms), _TOGETHER)]
            terms = ["(" + "\n    + ".join(part) + ")" for part in parts]
        return f"SELECT r.*,\n    {terms[0]} AS {_quoted(name)}\nFROM {_quoted(table)} AS r"

    def to_python(self, name: str = "points") -> str:
        """Return the source of a function that adds up the points of a row.

        Parameters
        ----------
        name : str
            The name of the function.

        Returns
        -------
        str
            Python that imports nothing but its own `bisect`, `datetime` and `re`. The function takes a dictionary of
            the values of a row by column; None, nan, and NA and NaT of pandas are missing values. Dates and times of
            day are those of `datetime`, or text as ISO 8601 has it, and durations those of `datetime`. Text is read as
            a number as in training. Where a value is missing and none may be, or text is no such number, it raises a
            ValueError.

        Raises
        ------
        ValueError
            If `name` is not a valid function name, or one that the source needs, such as ``float``. If two columns have
            one name, or a column is `scaled`, `mixed` or `any_case`, or has dates or durations `written` otherwise.
        """
        plain = unicodedata.normalize("NFKC", name)  # as Python reads it
        if not name.isidentifier() or keyword.iskeyword(plain) or plain in _NAMES_OF_PYTHON:
            raise ValueError(
                f"name must be a name of a function; got {shown(name)!r}. Words and functions of Python's own and "
                "what the source imports are none"
            )
        _refuse_unread(self.columns, "source of Python")
        lines = ["", f"def {name}(row):", '    """Return the points of a row."""', "    total = 0"]
        for column in self.columns:
            words, numbers = _missing_of(column)
            told = f", {words!a}" * bool(words or numbers) + f", {numbers}" * bool(numbers)
            lines += [f"    x = row[{column.source!a}]", f"    if {name}_missing(x{told}):"]
            if column.missing is None:
                lines.append(f"        raise ValueError({column.source + ' is missing'!a})")
            else:
                lines.append(f"        total += {column.missing}")
            lines.append("    else:")
            if column.read_off in _OF_PYTHON:
                lines.append(f"        x = {_OF_PYTHON[column.read_off].format(name)}")
            if column.form is not None:
                lines.append(f"        x = {name}_number(x, {column.form[0]!a}, {column.form[1]!a})")
            if column.levels and column.read_off in _OF_PYTHON:
                known = dict(zip(column.levels, column.points, strict=True))
                other = "[x]" if column.other is None else f".get(x, {column.other})"
                lines.append(f"        total += {known}{other}")
            elif column.read_off == WORD:
                known = _folded_words(column)
                lines.append(f'        total += {known!a}.get(" ".join(str(x).split()).casefold(), {column.other})')
            elif column.levels:
                spelled = ", ".join(map(ascii, _spelled(column)))
                lines.append(f"        total += {name}_level(x, {spelled}, {column.other})")
            else:
                cuts, points = ", ".join(map(repr, column.cuts)), ", ".join(map(str, column.points))
                lines.append(f"        total += [{points}][bisect_left([{cuts}], float(x))]")
        source = "\n".join([*lines, "    return total", ""])
        for helper, of in reversed((_HELPERS | {"number": _number_of_python()}).items()):
            if f"{name}_{helper}(" in source:
                source = f"{of.replace('NAME', name)}\n{source}"
        imports = [line for word, line in _IMPORTS.items() if re.search(rf"\b{word}\b[.(]", source)]
        return "\n".join([*imports, "", source])

    def _notes(self) -> list[str]:
        notes = [
            f"one point is {1.0 / self.scale:.4g} of the score; rounding moves a difference of two scores by "
            f"{self.bound:.4g} at most"
        ]
        return notes + ([] if self.rounding is None else str(self.rounding).splitlines())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        shares = any(column.shares for column in self.columns)
        head, rows = ["column", "values", "points", "share"][: 3 + shares], []
        last = None
        for row, read_off in [(row, column.read_off) for column in self.columns for row in column.rows()]:
            level = None if row["level"] is None else first(row["level"], 8)
            share = "" if row["share"] is None else f"{100 * row['share']:.1f} %"
            name = row["column"] if row["column"] != last else ""
            last = row["column"]
            write = partial(number_text, read_off=read_off)
            cells = [name, values_text(row["from"], row["to"], level, write), str(row["points"]), share]
            rows.append(cells[: 3 + shares])
        return head, rows

    def __str__(self) -> str:
        head, rows = self._table()
        return "\n".join([sheet.plain(head, rows, left=2), "", *self._notes()])

    def __repr__(self) -> str:
        return f"<Scorecard of {len(self.columns)} columns: rounding moves a difference by {self.bound:.3g} at most>"

    def _repr_html_(self) -> str:
        head, rows = self._table()
        notes = [f"<p>{sheet.escaped(self._notes()[0])}</p>"]
        if self.rounding is not None:
            notes.append(f"<pre>{sheet.escaped_lines(str(self.rounding))}</pre>")
        return sheet.as_html(head, rows, left=2) + "".join(notes)


def scorecard(
    H: WeakRankers | Model,
    lam: Coefficients | None = None,
    *,
    points: int = 100,
    pos: Rows | None = None,
    neg: Rows | None = None,
    X: Rows | None = None,
    p: float | None = None,
) -> Scorecard:
    r"""Round a scoring function to whole points per column.

    The points of a row approximate a multiple of its score::

        Σ_c q_c(x_c) ≈ s f(x) + const,    f(x) = Σ_c f_c(x_c)

    with whole numbers q_c ≥ 0 for each piece of the values of a column, and points s per unit of the score.

    Parameters
    ----------
    H : Rankers, or a model
        The weak rankers. They are columns, scaled columns, cuts, categories, tables, and sums and complements of these.
        Or a `ScoringFunction`, or an estimator of `pnorm.sklearn`.
    lam : array_like, shape (n,), optional
        Coefficients, one per weak ranker. They are left out with a model.
    points : int
        Largest number of points of a column. With 10 the table is short and coarse, with 100 long and fine.
    pos : array_like, shape (I, d), optional
        The positive rows. With `neg`, they are used for the cost of the rounding and the share of rows in each piece.
    neg : array_like, shape (K, d), optional
        The negative rows.
    X : array_like, shape (N, d), optional
        Rows without labels, instead of `pos` and `neg`.
    p : float, optional
        Power of the price r ** p that a negative pays for the positives below it; at least 1. By default that of a
        model, else 1. It is used in the comparison of the objective.

    Returns
    -------
    Scorecard
        The points, a bound on the cost of the rounding, and the cost on the rows.

    Raises
    ------
    ValueError, TypeError
        If functions are among the weak rankers, or all coefficients are zero; if there are columns as they are, and no
        rows for the ends of their lines.

    See Also
    --------
    shapes : The parts of the score before the rounding.

    Notes
    -----
    The scale is chosen among those at which the largest range of a column is between half of `points` and `points`; it
    has the smallest bound. The lowest piece of each column has zero points. A straight line becomes steps of about one
    point each, at short numbers. Outside its training range, or the range of the rows, it stays at its last step.
    Neighbouring pieces with equal points are merged.

    The bound is the sum, over the columns, of the largest difference of the residues q_c(x) / s - f_c(x) of two
    values. No difference of two scores changes by more, and log F_p changes by p times the bound at most.

    The cost is one pass over each column of the rows, and a sort of their scores.

    Examples
    --------
    >>> import pnorm
    >>> pos, neg = [[31, 2], [45, 5], [52, 1]], [[22, 0], [28, 3], [39, 0], [47, 1]]
    >>> H = pnorm.rankers.thresholds([[30, 40, 50], [0, 2]], names=["age", "visits"])
    >>> lam, trace = pnorm.minimize(pos, neg, H, p=2, l2=0.1)
    >>> card = pnorm.scorecard(H, lam, points=10, pos=pos, neg=neg, p=2)
    >>> print(card)
    column  values          points   share
    age     <= 30                0  28.6 %
            > 30 and <= 40       8  28.6 %
            > 40 and <= 50       5  28.6 %
            > 50                10  14.3 %
    visits  <= 0                 0  28.6 %
            > 0 and <= 2         5  42.9 %
            > 2                  9  28.6 %
    <BLANKLINE>
    one point is 0.5962 of the score; rounding moves a difference of two scores by 0.4955 at most
                           scores   points
    log F_2               -2.1416  -2.0085
    positives at the top        3        3
    AUC                    1.0000   1.0000
    pairs in another order 0.00 %, tied 0.00 %
    >>> card.score([[45, 5]])
    array([14])
    """
    rankers, lam, p = _model(H, lam, p)
    most, p = _checks.count(points, "points", 1), _checks.power(p)
    if most > _MOST:
        raise ValueError(f"points must be at most {_MOST}; got {shown(most)}")
    if (pos is None) != (neg is None):
        raise ValueError("pos and neg go together; rows without labels are X")
    tables = {name: rows for name, rows in (("pos", pos), ("neg", neg), ("X", X)) if rows is not None}
    if rankers is None:
        if not tables:
            raise ValueError("H=None means columns as they are, which need rows: pass pos and neg, or X")
        name, rows = next(iter(tables.items()))
        rankers = as_rankers(None, rows, name)
    rankers, lam = coefficients(lam, rankers)
    for leaf in leaves(rankers, lam):
        if isinstance(leaf.part, _Callables) and leaf.lam.any():
            name = leaf.part.names[int(np.flatnonzero(leaf.lam)[0])]
            raise TypeError(f"{shown(name)} is a function, which has no table; a scorecard needs columns")
    found = [_with_ends(shape, tables) for shape in shapes_of(lam, rankers, True)]
    scale = _best_scale(found, most)
    made = [_rounded(shape, scale) for shape in found]
    rounded, bound = [shape for shape, _ in made], sum([spread for _, spread in made])
    told = list(map(by_value, rounded))
    columns = tuple([_points_of(shape, tables) for shape in (counted(told, tables) if tables else told)])
    bound += 1e-12 * (1.0 + bound)  # its own rounding
    card = Scorecard(columns, scale, bound, None, *_as_rankers(rounded, rankers), (rankers, lam))
    return card if pos is None or neg is None else replace(card, rounding=card.compare(pos, neg, p))


def _model(H: Any, lam: Any, p: float | None) -> tuple[Any, Any, float]:
    """Return the weak rankers, coefficients and power of a model, or those that were passed."""
    known = p
    if lam is None:
        for names in (("H", "lam"), ("rankers_", "lam_")):
            if all(hasattr(H, name) for name in names):
                known = getattr(H, "p", None) if p is None else p
                H, lam = [getattr(H, name) for name in names]
                break
        else:
            raise TypeError(f"lam is missing: pass scorecard(H, lam), or a model; got {type(H).__name__}")
    return H, lam, 1.0 if known is None else known


def _with_ends(shape: Shape, tables: Mapping[str, Any]) -> Shape:
    """Return a shape whose line, if it has one, goes somewhere."""
    if not shape.slope or math.isfinite(shape.ends[0]):
        return shape
    if not tables:
        raise ValueError(f"{shown(shape.name)} is a column as it is: pass pos and neg, or X, which say how far it goes")
    return counted([shape], tables)[0]


@dataclass(frozen=True, eq=False)
class _Values:
    """The scores of a shape: at both ends of each piece, where a value is missing, and where it is no known level."""

    at_start: Vector
    at_end: Vector
    others: Vector

    @classmethod
    def of(cls, shape: Shape) -> _Values:
        missing = [] if not shape._may_miss or shape.levels else [0.0 if math.isnan(shape.missing) else shape.missing]
        others = np.array([0.0] if shape.levels else missing)
        if not shape.slope:
            return cls(shape.scores, shape.scores, others)
        low, high = shape.pieces
        return cls(shape.at(low, True), shape.at(high), others)

    @property
    def all(self) -> Vector:
        return np.concatenate([self.at_start, self.at_end, self.others])


def _best_scale(found: Sequence[Shape], most: int) -> float:
    """Return the scale at which rounding costs least, as if each line, which has steps of a point, cost that."""
    with np.errstate(over="ignore"):
        values = [of_shape.all - of_shape.all.min() for of_shape in map(_Values.of, found)]
    largest = max([float(of_column.max()) for of_column in values], default=0.0)
    if largest == math.inf:
        raise OverflowError("a column moves the score by more than a double holds; scale the coefficients (lam) down")
    if largest == 0.0:
        raise ValueError(
            "there is nothing to round: with these coefficients (lam) no column moves the score, over its cuts and "
            "levels, or over the values of X, or of pos and neg"
        )
    if not math.isfinite(most / largest):
        raise ValueError("the contributions of lam and X are too small to be rounded; scale the coefficients (lam) up")
    stairs = [of_column for of_column, shape in zip(values, found, strict=True) if not shape.slope]
    together, starts = np.concatenate([np.zeros(1), *stairs]), np.cumsum([1, *map(len, stairs)])[:-1]
    scales, costs = most * _SHARES / largest, []
    for scale in scales.tolist():
        residues = np.rint(scale * together) / scale - together
        spread = (
            np.maximum.reduceat(residues, starts) - np.minimum.reduceat(residues, starts) if stairs else np.zeros(1)
        )
        costs.append(float(spread.sum()) + (len(found) - len(stairs)) / scale)
    # Of several that are lowest but for rounding, the largest, so that the answer is the same on all machines.
    return float(scales[int(np.argmax(np.array(costs) <= (1.0 + 1e-9) * min(costs)))])


def _rounded(shape: Shape, scale: float) -> tuple[Shape, float]:
    """Return a shape in whole points, and the largest difference of two of its residues."""
    floor = float(_Values.of(shape).all.min())
    if shape.slope:
        shape = _cut(shape, scale, floor)
    values = _Values.of(shape)
    points = np.rint(scale * (0.5 * values.at_start + 0.5 * values.at_end - floor))
    others = np.rint(scale * (values.others - floor))
    residues = np.r_[
        points / scale - (values.at_start - floor),
        points / scale - (values.at_end - floor),
        others / scale - (values.others - floor),
    ]
    differ = np.ones(points.size, bool) if shape.levels else np.r_[True, points[1:] != points[:-1]]
    made = replace(
        shape,
        cuts=shape.cuts[differ[1:]] if not shape.levels else shape.cuts,
        scores=points[differ],
        slope=0.0,
        ends=(-math.inf, math.inf),
        missing=float(others[0]) if others.size else math.nan,
    )
    return made, float(np.ptp(residues))


def _cut(shape: Shape, scale: float, floor: float) -> Shape:
    """Return a shape with a line and with cuts about where its points, rounded, change.

    The cuts have as few digits as move them by a twentieth of a step at most.
    """
    low, high = shape.pieces
    start, end = [scale * (values - floor) for values in (shape.at(low, True), shape.at(high))]
    decimals = 1 - math.floor(math.log10(1.0 / (scale * abs(shape.slope))))
    cuts = [shape.cuts]
    for a, b, x, y in zip(low.tolist(), high.tolist(), start.tolist(), end.tolist(), strict=True):
        halves = np.arange(math.floor(min(x, y)), math.ceil(max(x, y))) + 0.5
        halves = halves[(halves > min(x, y)) & (halves < max(x, y))]
        if halves.size and a < b:
            cuts.append(np.round(a + (halves - x) / (y - x) * (b - a), decimals).clip(a, b))
    every = np.unique(np.concatenate(cuts))
    return replace(shape, cuts=every, scores=shape.scores[shape.cuts.searchsorted(np.r_[every, np.inf])])


def _points_of(shape: Shape, tables: Mapping[str, Any]) -> PointsOf:
    """Return whole scores as points."""
    points = tuple([int(value) for value in shape.scores])
    other, missing = None, None if math.isnan(shape.missing) else int(shape.missing)
    if shape.levels and not shape._values:
        by_level = dict(zip(shape._keys, points, strict=True))
        other = by_level.get(RARE, missing) if shape.kind == CATEGORY else missing
        missing = by_level.get(None, missing if shape._may_miss else None)
        other = None if len(shape._keys) == len(LEVELS_OF.get(shape.read_off, ())) else other
    return PointsOf(
        shape.name,
        () if shape.levels else tuple(shape.cuts.tolist()),
        shape._keys,
        points,
        other,
        missing,
        tuple(shape.shares.tolist()),
        shape.missing_share,
        shape.column_name,
        _TRUTH if shape.kind == BOOLEAN else shape.read_off,
        _missing_words(shape),
        _form(shape),
        shape._source is not None and shape.kind == NUMBER and shape._source.leaf.form.scaled,
        shape._source is not None and shape._source.leaf.any_case,
        shape._source is not None and shape.kind == NUMBER and shape._source.leaf.form.mixed,
        "" if shape._source is None or shape.read_off == WORD else shape._source.leaf.form.written,
        _zone(shape, tables),
    )


def _zone(shape: Shape, tables: Mapping[str, Any]) -> str:
    """Return the time zone that a column of dates has in all tables, by a name that data bases know; else ""."""
    if shape._source is None or shape.kind != DATE:
        return ""
    zones = {shape._source.leaf._read(X)[1].zone for X in tables.values()}
    (zone,) = zones if len(zones) == 1 else ("",)
    return zone if re.fullmatch("[A-Za-z_/-]+", zone) else ""


def _missing_words(shape: Shape) -> tuple[str, ...]:
    """Return the words that mean a missing value; a number has the spellings of Python for both of its types."""
    if shape._source is None or not (shape.kind or shape.levels):
        return ()
    levels = [level.strip().lower() for level in shape._keys if isinstance(level, str)]
    words = [word for word in NO_VALUE if word not in levels]
    for word in shape._source.leaf.missing:
        words.append(word)
        with contextlib.suppress(ValueError):
            words += _written(numeral(word))
    return tuple(dict.fromkeys(words))


def _form(shape: Shape) -> tuple[str, str] | None:
    """Return how text is read as a number in a column of a table; None for other columns."""
    if shape._source is None or shape.kind != NUMBER:
        return None
    form = shape._source.leaf.form
    return form.point, form.unit


def _as_rankers(rounded: Sequence[Shape], H: Rankers) -> tuple[Rankers, Vector, int]:
    """Return weak rankers with whole coefficients, and a constant, that add up to points.

    They are those of H, and cuts where a straight line has become steps, or the many steps of a line fewer ones.
    """
    number, lam, offset = H.column, np.zeros(len(H)), 0
    ranker: dict[tuple[int, float], int] = {}  # by column and cut; by column and nan of a missing value
    of_level: dict[tuple[int, Any], int] = {}
    straight: dict[int, tuple[Leaf, int]] = {}
    for leaf in leaves(H, lam):
        part, start = leaf.part, leaf.start
        of_part = number[start : start + len(part)].tolist()
        if isinstance(part, _Thresholds):
            for j, (c, (place, cut)) in enumerate(zip(of_part, part._cuts, strict=True)):
                ranker.setdefault((c, _MISSING if math.isnan(cut) else cut), start + j)
                straight.setdefault(c, (leaf, place))
        elif isinstance(part, _Categories):
            levels = [level for column in part._levels for level in column]
            for j, (c, level) in enumerate(zip(of_part, levels, strict=True)):
                of_level.setdefault((c, level), start + j)
        elif isinstance(part, _OfColumns):
            for c, place in zip(of_part, part._places_read(), strict=True):
                straight.setdefault(c, (leaf, place))
    more: dict[int, tuple[Leaf, list[tuple[int, float]], list[float]]] = {}
    for shape in rounded:
        c = shape._column
        if shape.levels:
            offset += int(shape.missing)
            for level, points in zip(shape._keys, shape.scores.tolist(), strict=True):
                lam[of_level[c, level]] = points - shape.missing
            continue
        offset += int(shape.scores[0])
        for cut, height in zip(shape.cuts.tolist(), np.diff(shape.scores).tolist(), strict=True):
            if (c, cut) in ranker:
                lam[ranker[c, cut]] = height
            else:
                leaf, place = straight[c]
                _, cuts, heights = more.setdefault(id(leaf.part), (leaf, [], []))
                cuts.append((place, cut))
                heights.append(height)
        if shape.missing != shape.scores[0] and not math.isnan(shape.missing):
            lam[ranker[c, _MISSING]] = shape.missing - shape.scores[0]
    made = H
    for leaf, cuts, heights in more.values():
        made, lam = made + _cuts_in(leaf, cuts), np.r_[lam, heights]
    return made, lam, offset


def _cuts_in(leaf: Leaf, cuts: Sequence[tuple[int, float]]) -> Rankers:
    """Return cuts of the columns that a collection reads, given with their places."""
    part = leaf.part
    assert isinstance(part, _OfColumns)
    label = dict(zip(part._places_read(), [name for _, name in part._reads()], strict=True))
    names = [f"{label[place]} > {cut:.10g}" for place, cut in cuts]
    made = _Thresholds(names, part._width, part._found, cuts, bool(part._missing))
    if leaf.table is None:
        return made
    table, (source, own) = leaf.table, leaf.table._parts[leaf.place]
    assert table._width is not None
    return Table(table._found, table._width, [replace(source, parts=(Part(own.of, made),))], table.plan)


def _changed(before: Sequence[Vector], after: Sequence[Points]) -> tuple[float, float]:
    """Return the shares of pairs of both sides whose order is another one, and that are tied only after."""
    both = [(np.concatenate(before), np.concatenate(after)), *zip(before, after, strict=True)]
    (turned, *own_turned), (tied, *own_tied) = zip(*[(_turned(f, q), _tied(f, q)) for f, q in both], strict=True)
    pairs = before[0].size * before[1].size
    return (turned - sum(own_turned)) / pairs, (tied - sum(own_tied)) / pairs


def _turned(f: Vector, q: Points) -> int:
    """Return the number of pairs of rows that have one order in f and the other one in q.

    It counts the pairs in which the larger q comes first, when f rises: bit by bit, from the highest, those of which
    this is the first bit that differs.
    """
    codes = np.unique(q, return_inverse=True)[1][np.lexsort((q, f))]
    found = 0
    for bit in reversed(range(int(codes.max()).bit_length())):
        ones = codes >> bit & 1
        before = np.cumsum(ones)
        group = codes >> (bit + 1)
        starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
        earlier = np.repeat(before[starts] - ones[starts], np.diff(np.r_[starts, codes.size]))
        found += int((before - earlier)[ones == 0].sum())
        codes = codes[np.argsort(codes >> bit, kind="stable")]
    return found


def _tied(f: Vector, q: Points) -> int:
    """Return the number of pairs of rows with one q and different f."""
    of_f, of_q = np.unique(f, return_inverse=True)[1], np.unique(q, return_inverse=True)[1]
    return _pairs(of_q) - _pairs(of_q * f.size + of_f)


def _pairs(codes: NDArray[np.intp]) -> int:
    counts = np.unique(codes, return_counts=True)[1].astype(object)
    return int((counts * (counts - 1) // 2).sum())


def _spelled(column: PointsOf) -> tuple[dict[Any, int], dict[str, int], dict[Any, int | None]]:
    """Return the points of levels by their value, by text without blanks around it, and by a word in small letters."""
    if column.read_off == _TRUTH:
        return dict(enumerate(column.points)), {}, {word: column.points[int(truth)] for word, truth in TRUTHS.items()}
    words: dict[Any, int | None] = dict.fromkeys(NO_VALUE, column.missing)
    known = [(level, n) for level, n in zip(column.levels, column.points, strict=True) if level is not None]
    n_alike = Counter([level.strip() for level, _ in known if isinstance(level, str)])
    values, texts = dict[Any, int](), dict[str, int]()
    for level, n in known:
        if not isinstance(level, str):
            values[level] = words[float(level)] = n
        elif n_alike[level.strip()] > 1:
            values[level] = n
        else:
            texts[level.strip()] = n
    of = _categories.Column([level for level, _ in known])
    for meaning in [False, True, *map(_categories.read, texts)]:
        if not isinstance(meaning, str) and (k := of.number(meaning)) >= 0:
            values[meaning] = known[k][1]
    return values, texts, words | {str(truth).lower(): values[truth] for truth in (False, True) if truth in values}


def _folded_words(column: PointsOf) -> dict[str, int]:
    """Return the points of words among numbers, which are compared as `folded` writes them."""
    return dict(zip(map(_checks.folded, column.levels), column.points, strict=True))


def _missing_of(column: PointsOf) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the words and the numbers that mean a missing value, whatever the levels are."""
    words, numbers = column.missing_words, set[float]()
    if column.levels and column.read_off in ("", WORD):
        words = tuple([word for word in words if word not in NO_VALUE])
    for word in words:
        with contextlib.suppress(ValueError):
            numbers.add(numeral(word))
    return words, tuple(sorted(filter(math.isfinite, numbers)))


def _case(column: PointsOf) -> str:
    """Return the points of a column as an expression of SQL."""
    x = f"r.{_quoted(column.source)}"
    x = f"({x} AT TIME ZONE {_literal(column.zone)})" if column.zone else x
    words, numbers = _missing_of(column)
    absent = f" OR {_folded(x, words)} IN ({_listed(words)})" if words else ""
    start = f"CASE WHEN {x} IS NULL{absent} THEN {_number(column.missing)}"
    if column.read_off in _READ_OFF:
        return _case_of_time(column, start, x)
    if column.read_off == WORD:
        known = _folded_words(column)
        return f"{start} ELSE {_looked_up(_folded(x, list(known)), known, _number(column.other))} END"
    if column.levels:
        return f"{start} ELSE {_case_of_levels(column, x)} END"
    cases = [f"WHEN {x} <= {_literal(cut)} THEN {n}" for cut, n in zip(column.cuts, column.points, strict=False)]
    # The last piece ends as well: NULL is below no number, and NaN above all.
    cases.append(f"WHEN {x} <= {sys.float_info.max!r} THEN {column.points[-1]}")
    if column.form is None and column.read_off != "days":
        return " ".join(["CASE", *cases, "END" if column.missing is None else f"ELSE {column.missing} END"])
    if numbers:
        cases.insert(0, f"WHEN {x} IN ({_listed(numbers)}) THEN {_number(column.missing)}")
    return " ".join([start, f"WHEN {_is_text(x)} THEN NULL", *cases, "END"])


def _case_of_levels(column: PointsOf, x: str) -> str:
    """Return the points of a column of levels as an expression of SQL; numbers are compared as such if none is text."""
    values, texts, words = _spelled(column)
    numbers = [level for level in column.levels if isinstance(level, (int, float))] * (column.read_off != _TRUTH)
    for number in numbers:
        texts |= {text: values[number] for text in _written(float(number)) if text not in texts}
    found = _looked_up("word", {word: n for word, n in words.items() if isinstance(word, str)}, _number(column.other))
    meant = [(float(value), n) for value, n in values.items() if isinstance(value, (int, float))]
    typed = {text: n for number, n in meant for text in _written(number)} | texts
    of_text, of_typed = _looked_up("t", texts, found), _looked_up("t", typed, found)
    found = of_text if typed == texts else f"CASE WHEN {_is_text(x)} THEN {of_text} ELSE {of_typed} END"
    if numbers and not any(isinstance(level, str) for level in column.levels):
        found = _looked_up(x, values, found)
    else:
        alike = {text: n for text, n in values.items() if isinstance(text, str)}
        found = _looked_up(f"CAST({x} AS VARCHAR)", alike, found)
    return f"(SELECT {found}\n{_from([f'SELECT {_stripped(x)} AS t', 'SELECT t, LOWER(t) AS word'])})"


def _looked_up(x: str, points: Mapping[Any, int | None], rest: str) -> str:
    """Return the points of the value that an expression of SQL equals, and the rest for others."""
    cases = " ".join([f"WHEN {_literal(value)} THEN {_number(n)}" for value, n in points.items()])
    return f"CASE {x} {cases} ELSE {rest} END" if cases else rest


def _written(number: float) -> list[str]:
    """Return a number as Python and data bases write both of its types."""
    return [f"{number:.0f}"] * number.is_integer() + [repr(number)]


def _is_text(x: str) -> str:
    return f"LOWER(TYPEOF({x})) IN ('text', 'varchar')"


def _stripped(x: str) -> str:
    """Return text without the blanks around it, as an expression of SQL; TRIM alone leaves tabs and ends of lines."""
    return f"TRIM(CAST({x} AS VARCHAR), '{_BLANKS}')"


def _folded(x: str, words: Sequence[str]) -> str:
    """Return text as `folded` writes it, as far as that can make it one of some words, as an expression of SQL.

    LOWER of SQLite leaves letters beyond ASCII as they are.
    """
    pairs = [(odd, plain) for odd, plain in _odd_letters() if any(plain in word for word in words)]
    if any(" " in word for word in words):
        pairs += [*[(blank, " \1") for blank in _BLANKS], ("\1 ", ""), ("\1", "")]
    text = f"LOWER({_stripped(x)})"
    if not pairs:
        return text
    steps = [f"SELECT REPLACE(t, {_literal(odd)}, {_literal(plain)}) AS t" for odd, plain in pairs]
    return f"(SELECT t\n{_from([f'SELECT {text} AS t', *steps])})"


@functools.cache
def _odd_letters() -> list[tuple[str, str]]:
    """Return the letters beyond ASCII that have another spelling in `str.casefold`, and this."""
    return [(odd, plain) for odd in map(chr, range(128, sys.maxunicode + 1)) if (plain := odd.casefold()) != odd]


_DIGITS = "'0123456789'"


def _refuse_unread(columns: Sequence[PointsOf], where: str) -> None:
    twice = [name for name, n in Counter([column.name for column in columns]).items() if n > 1]
    if twice:
        raise ValueError(
            f"{shown(twice[0])} is the name of two columns, which are one in SQL and in a dictionary. Rename one "
            "before training"
        )
    for column in columns:
        if column.scaled:
            raise ValueError(
                f"column {shown(column.source)} has numbers with letters, such as 1.2k, which SQL and source of Python "
                "do not read. Write the numbers out before training"
            )
        if column.mixed:
            raise ValueError(
                f"column {shown(column.source)} has numbers with a decimal point and with a decimal comma, and SQL and "
                "source of Python read only one of them. Write the numbers with a decimal point before training"
            )
        if column.written and (where == "SQL" or column.form is None):
            what, instead = _TO_STORE[column.read_off]
            raise ValueError(
                f"column {shown(column.source)} has {what} such as {shown(repr(column.written))}, which {where} does "
                f"not read. Store {instead}, and train on these"
            )
        if column.any_case:
            raise ValueError(
                f"column {shown(column.source)} is of the kind 'any case', and SQL and source of Python do not merge "
                "its spellings. Write each level in one way before training"
            )


def _number_of_python() -> str:
    """Return the source of a function that reads a value as a number, as `from_table` does."""
    patterns = {point: pattern.pattern for point, pattern in _forms.NUMBER_OF.items()}
    plainer = {ord(odd): plain for odd, plain in _forms.PLAINER.items()}
    alike = {unit: others for unit in _forms.UNITS if (others := _forms.alike(unit))}
    wide = "".join(map(chr, NARROW))
    lines = [
        "",
        "def NAME_number(x, point, unit):",
        '    """Return the number that a value stands for."""',
        "    if not isinstance(x, str):",
        '        if unit == "%":',
        '            raise ValueError(f"{x!r} is no number with %")',
        "        return float(x)",
        "    x = x.strip()",
        "    if x.startswith('=\"') and x.endswith('\"') and len(x) > 2:",
        "        x = x[2:-1].strip()",
        f"    if re.fullmatch({WIDE.pattern!a}, x):",
        f"        x = x.translate(str.maketrans({wide!a}, {wide.translate(NARROW)!a}))",
        '    if point != "," and unit != "%" and re.fullmatch("[-+.0-9eE]*[.0-9]", x):',
        "        return float(x)",
        f"    word = re.sub({_forms.NO_CENTS.pattern!a}, '', x.translate({plainer!a}))",
        f"    account = re.fullmatch({_forms.ACCOUNT.pattern!a}, word)",
        "    if account:",
        '        word = f"-{account[1]}{account[2]}"',
        f"    found = re.fullmatch({_forms.DRESSED.pattern!a}, word, re.DOTALL)",
        '    sign, before, inner, rest, behind, after = found.groups(default="")',
        "    found = before or after",
        f"    if found in {alike!a}.get(unit, ()):",
        "        found = unit",
        "    signs = sign + inner + behind",
        "    bare = signs + rest",
        f"    number = re.fullmatch({patterns!a}[point], bare, re.ASCII)",
        f"    for mark in {_forms.BETWEEN!a}[point]:",
        '        bare = bare.replace(mark, "")',
        '    wrong = found not in (unit, "") or (unit == "%" and not found) or len(signs) > 1 or (before and after)',
        "    if wrong or not number:",
        '        raise ValueError(f"{x!r} is no number as in training")',
        '    return float(bare.replace(point or ".", "."))',
        "",
    ]
    return "\n".join(lines)


_FIELDS = {"y": (1, 4), "m": (6, 2), "d": (9, 2), "hh": (12, 2), "mi": (15, 2), "ss": (18, 2)}
"""Where the parts of a date and time stand in its text: the first character, from 1, and how many."""

_CLOCK = "((hh * 60 + mi) * 60 + ss) * 1000000 + us"
_DAYS = (
    "365 * (y - 1970) + (y - y % 4) / 4 - (y - y % 100) / 100 + (y - y % 400) / 400"
    " + (153 * m - 457 - (153 * m - 457) % 5) / 5 + d - 419"
)
"""Days since the start of 1970. Years begin in March: January and February are months 13 and 14 of the year before."""

_IN_CALENDAR = (
    "y > 0 AND m BETWEEN 1 AND 12 AND d BETWEEN 1 AND CASE WHEN m IN (4, 6, 9, 11) THEN 30 WHEN m <> 2 THEN 31"
    " WHEN y % 4 = 0 AND (y % 100 <> 0 OR y % 400 = 0) THEN 29 ELSE 28 END AND hh < 24 AND mi < 60 AND ss < 60"
)

_READ_OFF = {
    "trend": f"CAST({_DAYS} AS BIGINT) * 86400000000 + {_CLOCK}",
    "weekday": f"(CAST({_DAYS} AS BIGINT) % 7 + 10) % 7",
    "month": "(m - 1) % 12",
    "hour": "hh",
    "hours": _CLOCK,
}
"""What SQL reads off a date or a time of day."""


def _case_of_time(column: PointsOf, start: str, x: str) -> str:
    """Return the points of what is read off a date or a time of day, whose text is taken apart.

    All numbers are whole ones, microseconds in the place of days and hours, so that comparisons are exact. Divisions
    leave no rest, as data bases differ in what they do with it.
    """
    of = column.read_off
    if column.levels:
        names = LEVELS_OF[of]
        of_points: dict[int, list[str]] = {}
        for level, n in zip(column.levels, column.points, strict=True):
            of_points.setdefault(n, []).append(str(names.index(level)))
        cases = [f"WHEN x IN ({', '.join(codes)}) THEN {n}" for n, codes in of_points.items()]
        rest = "NULL" if column.other is None else str(column.other)
    else:
        ends = [_last_micro(cut, {"trend": DAY, "hours": HOUR}.get(of, 1.0)) for cut in column.cuts]
        *below, last = column.points
        rest = str(last)
        cases = [f"WHEN x <= {end} THEN {n}" for end, n in zip(ends, below, strict=True)]
    if of == "hours":
        text, zone = f"'1970-01-01 ' || {_stripped(x)}", "z = ''"
    else:  # where the type has a zone, the text is that of the session, which is another one than in training
        zoned = f"LENGTH(CAST(CASE WHEN 1 = 0 THEN {x} ELSE '1970-01-01' END AS VARCHAR)) > 19"
        text = f"CASE WHEN {zoned} THEN NULL ELSE {_stripped(x)} END"
        zone = (
            "(z IN ('', 'Z') OR (SUBSTR(z, 1, 1) IN ('+', '-') AND (LENGTH(o) = LENGTH(z) - 1 OR z LIKE '___:__')\n"
            f"        AND LENGTH(o) IN (2, 4) AND LTRIM(o, {_DIGITS}) = ''))"
        )
    fits = " OR ".join([f"t LIKE '{pattern}'" for pattern in _YEAR_FIRST])
    digits = " || ".join([f"SUBSTR(t, {at}, {size})" for at, size in _FIELDS.values()])
    fields = [f"CAST('0' || SUBSTR(t, {at}, {size}) AS BIGINT) AS {name}" for name, (at, size) in _FIELDS.items()]
    fields.append("CAST(SUBSTR(SUBSTR(t, 21) || '000000', 1, 6) AS BIGINT) AS us")
    march = "CASE WHEN m < 3 THEN y - 1 ELSE y END AS y, CASE WHEN m < 3 THEN m + 12 ELSE m END AS m, d, hh, mi, ss, us"
    steps = [
        f"SELECT {text} AS t",
        "SELECT SUBSTR(t, 1, 10) || REPLACE(SUBSTR(t, 11, 1), 'T', ' ') || SUBSTR(t, 12) AS t,\n"
        "        LTRIM(SUBSTR(t, 12), '0123456789:.') AS z",
        "SELECT z, REPLACE(SUBSTR(z, 2), ':', '') AS o, SUBSTR(t, 1, LENGTH(t) - LENGTH(z)) AS t",
        f"SELECT CASE WHEN ({fits})\n        AND LENGTH(t) < 30 AND LTRIM({digits} || SUBSTR(t, 21), {_DIGITS}) = ''\n"
        f"        AND {zone} THEN t END AS t",
        f"SELECT {', '.join(fields)}",
        f"SELECT {_IN_CALENDAR} AS fits, {march}",
        f"SELECT CASE WHEN fits THEN {_READ_OFF[of]} END AS x",
    ]
    return f"{start} ELSE (SELECT CASE WHEN x IS NULL THEN NULL {' '.join(cases)} ELSE {rest} END\n{_from(steps)}) END"


def _from(steps: Sequence[str]) -> str:
    """Return the FROM of the last of some SELECTs, each of which reads the one before.

    Nested, they are too deep for SQLite. Without MATERIALIZED it puts each step into all places of the next one.
    """
    froms = ["", *[f" FROM w{k}" for k in range(len(steps) - 1)]]
    *named, last = [f"{step}{source}" for step, source in zip(steps, froms, strict=True)]
    told = ",\n        ".join([f"w{k} AS MATERIALIZED ({step})" for k, step in enumerate(named)])
    return f"        FROM (WITH {told}\n        {last}) AS v"


def _last_micro(cut: float, unit: float) -> int:
    """Return the last microsecond that is not above a cut in days or hours, as these are computed; or whole number."""
    last = math.floor(cut * unit)
    while (last + 1) / unit <= cut:
        last += 1
    while last / unit > cut:
        last -= 1
    return last


def _literal(value: Any) -> str:
    """Return a value as SQL has it; a number with an exponent is a double there, and not a decimal number."""
    if isinstance(value, str):
        return "'" + _without_nul(value).replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = repr(value)
    return text if isinstance(value, int) or "e" in text else f"{text}e0"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(_literal, values))


def _number(n: int | None) -> str:
    return "NULL" if n is None else str(n)


def _quoted(name: str) -> str:
    return '"' + _without_nul(name).replace('"', '""') + '"'


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"{shown(text)} holds a NUL, which no SQL can hold")
    return text
