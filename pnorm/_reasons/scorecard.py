"""Scorecards: scoring functions in whole points, with the cost of the rounding."""

from __future__ import annotations

import csv
import io
import json
import keyword
import math
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import Coefficients, DataFrame, Model, Rows, Vector, sheet
from pnorm._checks.text import first, shown
from pnorm._reasons.card_python import _HELPERS, _IMPORTS, _NAMES_OF_PYTHON, _OF_PYTHON, _number_of_python
from pnorm._reasons.card_sql import _case, _quoted
from pnorm._reasons.leaves import leaves, number_text
from pnorm._reasons.points import PointsOf, _folded_words, _missing_of, _points_of, _refuse_unread, _spelled
from pnorm._reasons.rounding import Points, _as_rankers, _best_scale, _changed, _rounded, _with_ends
from pnorm._reasons.shapes import by_value, coefficients, counted, shapes_of, values_text
from pnorm._score import score
from pnorm.objectives import Power, value
from pnorm.rankers import Rankers, WeakRankers, _Callables, as_rankers
from pnorm.rankers._table import WORD

_MOST = 10**6
"""Points of a column, at most: a line has a piece for each."""

_TOGETHER = 50
"""Terms of a sum in one pair of parentheses: SQLite takes no sum of more than a thousand."""

_FORMAT, _VERSION = "pnorm.scorecard", 1


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
