"""The points of one column of a scorecard, and how its values are written."""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pnorm import _categories, _checks
from pnorm._checks import BOOLEAN, DATE, NUMBER
from pnorm._checks.text import shown
from pnorm._checks.words import NO_VALUE, numeral
from pnorm._reasons.shapes import Shape
from pnorm.rankers._readings import CATEGORY, LEVELS_OF, RARE
from pnorm.rankers._table import UNITS, WORD
from pnorm.rankers._times import TRUTHS

_TRUTH = "truth"
"""The key of a column of truth values, beside those of `OF` of `pnorm.rankers._table`."""

_TO_STORE = {
    "": ("numbers in text", "plain numbers, such as 1234.5"),
    **dict.fromkeys(("trend", "weekday", "month", "hour"), ("dates in text", "dates, or text such as 2024-01-31")),
    "hours": ("times in text", "times, or text such as 14:30"),
    "days": ("durations in text", "durations"),
}
"""Names of text that SQL does not read, and of what to store instead, by what is read off a column."""


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


def _written(number: float) -> list[str]:
    """Return a number as Python and data bases write both of its types."""
    return [f"{number:.0f}"] * number.is_integer() + [repr(number)]


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
