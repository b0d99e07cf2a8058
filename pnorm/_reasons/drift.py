"""Drift between training rows and later rows."""

from __future__ import annotations

import html
import math
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Coefficients, DataFrame, Vector, Weights, sheet
from pnorm._checks.text import first, joined, shown
from pnorm._reasons.moved import MUCH, SOME, ColumnDrift, _judged, _moved, _of_numbers
from pnorm._reasons.profile import LEVELS, TREND, Profile, Rows, add_up, check_sum, coefficients_of, parts, profiled
from pnorm.rankers import WeakRankers, as_rankers

MEANING = f"PSI, the population stability index, is 0 if nothing changed; {MUCH} or more is much."
"""A sentence below lists of what moved."""

_ROWS, _TOLD = 20, 10
"""Columns in the table, and columns in sentences, at most."""

_WIDTH = 100
"""Characters of a line of sentences."""

_EXAMPLES = 5
"""New levels that are named in a sentence."""


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """The drift between two tables. `pnorm.drift` returns it. It prints as sentences and a table.

    Attributes
    ----------
    columns : tuple of ColumnDrift
        The columns with coefficients, the largest drift first.
    score : ColumnDrift
        The scores.
    tops : tuple of (share, score, share, share)
        For 1, 5 and 10 %: a score that so many old rows reach; the share of these that does, which is larger where
        scores are equal; and the share of the new rows.
    n : tuple of two ints
        The number of rows, then and now.
    confidence : float
        With this probability none of the columns, nor the scores, is said to move beyond chance if both tables are
        drawn from one distribution.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> H = pnorm.rankers.columns(2, names=["age", "visits"])
    >>> old, new = rng.normal(size=(4000, 2)), rng.normal(size=(1000, 2)) + [0.0, 0.5]
    >>> found = pnorm.drift(old, new, H, [0.5, 1.0])
    >>> found.moved
    ('visits',)
    >>> len(found.warnings), found.n
    (2, (4000, 1000))
    >>> found.to_frame().shape
    (3, 11)
    """

    columns: tuple[ColumnDrift, ...]
    score: ColumnDrift
    tops: tuple[tuple[float, float, float, float], ...]
    n: tuple[int, int]
    confidence: float

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the columns that drifted beyond chance, with an index of 0.1 or more, the largest first."""
        return tuple([column.name for column in self.columns if column.moved])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about drift and about unknown values; empty if there is none."""
        found = [_told(column) for column in self.columns if column.moved]
        if len(found) > _TOLD:
            rest = self.moved[_TOLD:]
            found[_TOLD:] = [f"{len(rest)} more columns moved: {first(rest, _TOLD)}"]
        if self.score.moved:
            found.append(f"the scores moved{_by(self.score.psi)}: {self._reached()}")
        elif self.score.beyond_chance:
            found.append(f"the scores moved a little, but beyond chance{_by(self.score.psi)}: {self._reached()}")
        return (*found, *[sentence for sentence, _ in self._news()])

    def _news(self) -> list[tuple[str, bool]]:
        """Return sentences on values that no old row had, and whether each may change the use of the list."""
        news = [of for column in self.columns for of in _news(column, self.n[1])]
        if len(news) > 2 * _TOLD:
            rest = news[2 * _TOLD :]
            news[2 * _TOLD :] = [(f"{len(rest)} more such findings", any(grave for _, grave in rest))]
        return news

    def to_frame(self) -> DataFrame:
        """Return the columns as a data frame of pandas.

        Returns
        -------
        DataFrame
            The columns ``psi``, ``by_chance``, ``p_value``, ``beyond_chance``, ``missing_then``, ``missing_now``,
            ``below``, ``above``, ``unseen``, ``adds_then`` and ``adds_now``; the index has the names, and ``score``
            at the end.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        every = (*self.columns, self.score)
        rows = [
            {
                "psi": column.psi,
                "by_chance": column.by_chance,
                "p_value": column.p_value,
                "beyond_chance": column.beyond_chance,
                "missing_then": column.missing[0],
                "missing_now": column.missing[1],
                "below": column.outside[0],
                "above": column.outside[1],
                "unseen": column.unseen_share,
                "adds_then": column.adds[0],
                "adds_now": column.adds[1],
            }
            for column in every
        ]
        return sheet.frame(rows, index=[column.name for column in every])

    def _reached(self) -> str:
        parts = []
        for k, (share, _, then, now) in enumerate(self.tops):
            ties = "" if abs(then - share) < 0.2 * share else f" (it was {_percent(then)})"
            parts.append(
                f"{_percent(now)} {'that of the' if k else 'reach the score of the old'} top {100 * share:g} %{ties}"
            )
        return f"of the new rows, {joined(parts)}"

    def _sentences(self) -> list[str]:
        """Return the warnings with a capital and a full stop."""
        return [f"{_capital(sentence)}." for sentence in self.warnings]

    def _grave(self) -> list[bool]:
        """Return whether each of the warnings may change the use of the list."""
        news = [grave for _, grave in self._news()]
        moved = [not _is_month(column) for column in self.columns if column.moved]  # later rows have later months
        if len(moved) > _TOLD:
            moved[_TOLD:] = [True]
        of_scores = [self.score.moved] * (len(self.warnings) - len(moved) - len(news))  # a little is no reason to act
        return moved + of_scores + news

    def _lines(self, told: Sequence[str]) -> list[str]:
        """Return what there is to say, the most important first."""
        tested, moved = [column for column in self.columns if column.kind != TREND], len(self.moved)
        size = f"{self.n[0]:,} rows then, {self.n[1]:,} now"
        if not tested:
            head = "There are no columns to compare, and the scores"
            head += " moved" if self.score.moved else " have not moved"
        elif moved:
            head = f"{moved} of {len(tested)} columns moved"
        else:
            head = "No column moved" if len(tested) > 1 else "The column has not moved"
        lines = [f"{head} ({size}).", *told]
        little = [column for column in tested if column.beyond_chance and not column.moved]
        if little:
            names = first([f"{shown(column.name)} (PSI {column.psi:.2g})" for column in little], _TOLD, str)
            lines.append(f"Beyond chance, but by little: {names}.")
        if not self.score.beyond_chance:
            lines.append(f"The scores have not moved beyond chance: {self._reached()}.")
        if self.score.by_chance > SOME:
            lines.append(
                f"So few rows cannot show much: chance alone makes a PSI of {self.score.by_chance:.2g} of the scores."
            )
        return lines

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        every = [*self.columns[:_ROWS], self.score]
        write = sheet.same_digits([add for column in every for add in column.adds])
        rows = [
            [
                column.name,
                "" if math.isnan(column.psi) else f"{column.psi:.3f}",
                "" if math.isnan(column.psi) else f"{column.by_chance:.3f}",
                _verdict(column),
                *[_percent(share) if any(column.missing) else "" for share in column.missing],
                _percent(fresh) if (fresh := sum(column.outside) + column.unseen_share) else "",
                *map(write, column.adds),
            ]
            for column in every
        ]
        head = ["column", "PSI", "by chance", "", "missing then", "now", "new values", "score then", "now"]
        if not any(any(column.missing) for column in every):
            head, rows = head[:4] + head[6:], [row[:4] + row[6:] for row in rows]
        left = len(self.columns) - _ROWS
        return head, rows, f"{left} more column{'s' * (left > 1)}" if left > 0 else ""

    def __str__(self) -> str:
        head, rows, note = self._table()
        bound = [line.replace(" %", "\xa0%") for line in self._lines(self._sentences())]
        lines = [textwrap.fill(line, _WIDTH, subsequent_indent="  ").replace("\xa0%", " %") for line in bound]
        return "\n".join([*lines, sheet.plain(head, rows), *[note] * bool(note)])

    def __repr__(self) -> str:
        return f"<Drift of {len(self.columns)} columns: {len(self.moved)} moved>"

    def _repr_html_(self) -> str:
        return self._as_html(self._sentences())

    def _as_html(self, told: Sequence[str] = ()) -> str:
        """Return the table below what there is to say; a page that has told the warnings elsewhere leaves them out."""
        head, rows, note = self._table()
        rows = [[*row[:-2], *[cell.replace("-", "−") for cell in row[-2:]]] for row in rows]
        texts = [html.escape(line).replace(" %", "&nbsp;%") for line in self._lines(told)]
        lines = [f'<p style="margin:.3em .6em">{text}</p>' for text in texts]
        return "".join(lines) + sheet.as_html(head, rows, note=note)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _is_tiny(share: float) -> bool:
    """Return whether a share would be printed as zero."""
    return _percent(share) == _percent(0.0)


def _of_rows(share: float, n: int) -> str:
    """Return in how many of n rows something is found, with a count if the share is tiny."""
    if not _is_tiny(share):
        return f"in {_percent(share)} of the rows"
    rows = share * n
    if abs(rows - round(rows)) > 1e-6:  # rows have weights
        return "in less than 0.05 % of the rows"
    return f"in {round(rows):,} of {n:,} rows"


def _some(share: float) -> str:
    return _percent(share) if share else "none"


def _by(psi: float) -> str:
    return f"{' much' if psi >= MUCH else ''} (PSI {psi:.2g})"


def _capital(sentence: str) -> str:
    return sentence if sentence[:4] != "the " else f"T{sentence[1:]}"


def _verdict(column: ColumnDrift) -> str:
    if column.kind == TREND:
        return "not tested"
    if not column.beyond_chance:
        return "new values" if column.beyond_ends or column.unseen else ""
    return "moved much" if column.psi >= MUCH else "moved" if column.moved else "moved little"


def _is_month(column: ColumnDrift) -> bool:
    """Return whether a column is the month that was read off a date."""
    return column.kind == LEVELS and column.name.endswith(" (month)")


def _told(column: ColumnDrift) -> str:
    """Return a sentence on a column that moved: where most of it lies."""
    text, then, now = max(column.bins, key=lambda of: abs(of[2] - of[1]))
    what = "missing values" if text == "missing" else shown(text) if column.kind == LEVELS else f"values {text}"
    shares = f"{_some(now)} of the rows have {what}, and {_some(then)} had"
    expected = "; other months are to be expected unless old and new rows cover whole years"
    why = expected if _is_month(column) else ""
    return f"{shown(column.name)} moved{_by(column.psi)}: {shares}{why}"


def _news(column: ColumnDrift, n: int) -> list[tuple[str, bool]]:
    """Return sentences on what no old row had, and whether each may change the use of the list."""
    name, found = shown(column.name), list[tuple[str, bool]]()
    if column.unseen:
        rows, names = sum(column.unseen.values()), list(column.unseen.items())
        listed = first([f"{shown(level)} ({count:,})" for level, count in names], _EXAMPLES, str)
        told = (
            f"{name} has {len(names):,} level{'s' * (len(names) > 1)} never seen before, in {rows:,} "
            f"row{'s' * (rows > 1)}: {listed}"
        )
        found.append((told, column.moved and column.unseen_share >= SOME))
    if column.kind == TREND and any(column.outside):
        now, before = " to ".join(column.ends[:2]), " to ".join(column.ends[2:])
        told = f"{name} runs from {now}, and ran from {before} before"
        newer = "; newer rows have later days, which add what the last day of training adds" * (column.outside[1] > 0.0)
        found.append((f"{told}{newer}", False))
    for k, side in enumerate(("below", "above")):
        if side in column.beyond_ends:
            what = "the smallest" if side == "below" else "the largest"
            told = f"{name} is {side} {what} value before, {column.ends[2 + k]}, {_of_rows(column.outside[k], n)}"
            found.append((told, not _is_tiny(column.outside[k])))
    if "missing" in column.beyond_ends:
        told = f"{name} is missing {_of_rows(column.missing[1], n)}, and was never missing before"
        found.append((told, not _is_tiny(column.missing[1])))
    return found


def drift(
    old: Profile | Mapping[str, Any] | _checks.Rows,
    new: _checks.Rows,
    H: WeakRankers,
    lam: Coefficients,
    *,
    old_weight: Weights | None = None,
    new_weight: Weights | None = None,
    confidence: float = 0.95,
    n_threads: int | None = None,
) -> Drift:
    r"""Compare later rows with the training rows of a scoring function, column by column.

    Parameters
    ----------
    old : Profile, or rows
        The result of `profile`, or the dictionary of `Profile.to_dict`, or the rows.
    new : array_like, shape (N, d), or sequence of N things where the rankers are callables
        Later rows. Unknown levels are counted and cause no Python warning.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    old_weight, new_weight : array_like, optional
        Case weights of the rows. A profile has its own.
    confidence : float
        Of tables drawn from one distribution, the share of which nothing is said to move beyond chance, at least.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `score`.

    Returns
    -------
    Drift
        The drift by column and in the scores. It prints, also in a notebook, as a few sentences and a table.

    Raises
    ------
    ValueError, TypeError
        If rows do not fit the rankers, or the profile was made with other weak rankers or coefficients.
    OverflowError
        If a score, or a part of its sum, is more than a double holds.

    See Also
    --------
    profile : Summarise the training rows for later comparisons.
    explain : The contribution of each column to a score.

    Notes
    -----
    The population stability index of shares a_b and c_b of old rows and new ones in B bins is::

        PSI = Σ_b (a_b - c_b) log(a_b / c_b)

    Half a row of the smaller table is added to each bin of both, so that no bin is empty. An index of 0.1 or more is
    customarily called a shift, and 0.25 or more a large shift. For two tables of n and m rows from the same
    distribution its mean is about (B - 1)(1/n + 1/m). A chi-squared test of the two rows of counts tests for a larger
    drift. Bins in which fewer than 5 rows of the smaller table are expected are merged for the test. The tests of
    columns, of the scores, and of values that no old row had are corrected together by Holm's method. With case
    weights n and m are the squared sums of the weights divided by the sums of their squares.

    Missing values have a bin, as do values below or above all old ones. Each of a column's 18 most frequent old levels
    has a bin if it has 10 old rows or more. All other levels share a bin with levels that no old row had: if some
    levels are rare, new ones are expected in every table. The days of a date are not tested, because later rows have
    later days.

    The cost is that of `profile`.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> H = pnorm.rankers.columns(2, names=["age", "visits"])
    >>> old, new = rng.normal(size=(4000, 2)), rng.normal(size=(1000, 2)) + [0.0, 0.5]
    >>> found = pnorm.drift(old, new, H, [0.5, 1.0])
    >>> found.moved
    ('visits',)
    >>> kept = pnorm.profile(old, H, [0.5, 1.0]).to_dict()  # for a model file
    >>> print(pnorm.drift(kept, new, H, [0.5, 1.0]))
    1 of 2 columns moved (4,000 rows then, 1,000 now).
    visits moved much (PSI 0.27): 18.9 % of the rows have values > 0.84495 and <= 1.31542, and 10.0 %
      had.
    The scores moved (PSI 0.25): of the new rows, 2.7 % reach the score of the old top 1 %, 9.9 % that
      of the top 5 % and 19.8 % that of the top 10 %.
    column    PSI  by chance              new values  score then     now
    visits  0.267      0.013  moved much       0.2 %      +0.003  +0.495
    age     0.012      0.013                   0.1 %      -0.001  +0.032
    score   0.247      0.014       moved                  +0.002  +0.527
    """
    return drift_between(old, new, H, lam, old_weight, new_weight, confidence, n_threads)


def drift_between(
    old: Profile | Mapping[str, Any] | _checks.Rows,
    new: _checks.Rows,
    H: WeakRankers,
    lam: Coefficients,
    old_weight: Weights | None = None,
    new_weight: Weights | None = None,
    confidence: float = 0.95,
    n_threads: int | None = None,
    among_known: str | None = None,
) -> Drift:
    """Return what `drift` does; a column of the table may be compared among the rows that have a value of it.

    The new rows may have been chosen by the column, so that none of them lacks a value.
    """
    n_threads, confidence = _checks.threads(n_threads), _checks.probability(confidence, "confidence")
    rankers = as_rankers(H, new, "new")
    lam = coefficients_of(lam, rankers)
    if isinstance(old, Mapping) and isinstance(old.get("format"), str):
        old = Profile.from_dict(old)
    if not isinstance(old, Profile):
        with _checks.rows_called("old"):
            old = profiled(old, rankers, lam, old_weight, "old_weight", n_threads, sys.maxsize)
    elif old_weight is not None:
        raise ValueError("old_weight is for rows, and old is a profile, which has its weights; leave old_weight out")
    with _checks.rows_called("new"):
        return _compared(old, new, rankers, lam, new_weight, confidence, n_threads, among_known)


def _compared(
    old: Profile,
    X: Any,
    rankers: Any,
    lam: Vector,
    weight: Any,
    confidence: float,
    n_threads: int | None,
    among_known: str | None,
) -> Drift:
    if old.of != check_sum(rankers, lam):
        raise ValueError(
            "old is a profile of other weak rankers or other coefficients; make one with pnorm.profile of the rows of "
            "training and these"
        )
    rows = Rows.of(X, rankers, weight, "new_weight")
    scores, columns, of_columns = np.zeros(rows.n_rows), list[ColumnDrift](), iter(old.columns)
    for part in parts(X, rankers, lam, n_threads):
        add_up(scores, part.adds)
        if part.compared:
            column = next(of_columns, None)
            if column is None or (column.name, column.kind) != (part.name, part.kind):
                there = "no column" if column is None else f"the column {shown(column.name)}"
                raise ValueError(
                    f"old is a profile with {there} in the place of {shown(part.name)}; make one with pnorm.profile"
                )
            is_known = among_known is not None and part.shape is not None and part.shape.column_name == among_known
            columns.append(_moved(column, part, old, rows, is_known))
    if (column := next(of_columns, None)) is not None:
        raise ValueError(
            f"old is a profile with the column {shown(column.name)}, which has no coefficients; make one with "
            "pnorm.profile"
        )
    score = _of_numbers(old.score, scores, rows.mean(scores), old, rows)
    tops = tuple([(share, at, then, rows.share(scores >= at)) for share, at, then in old.tops])
    *columns, score = _judged([*columns, score], old, rows, 1.0 - confidence)
    columns.sort(key=lambda column: (-column.beyond_chance, -(-1.0 if math.isnan(column.psi) else column.psi)))
    return Drift(tuple(columns), score, tops, (old.n, rows.n), confidence)
