"""Drift between training rows and later rows."""

from __future__ import annotations

import html
import math
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from pnorm import _checks
from pnorm._checks import Coefficients, DataFrame, Vector, Weights, sheet
from pnorm._checks.text import first, joined, shown
from pnorm._reasons.profile import (
    LEVELS,
    TREND,
    ColumnProfile,
    Part,
    Profile,
    Rows,
    add_up,
    bin_codes,
    check_sum,
    coefficients_of,
    parts,
    profiled,
    value_named,
)
from pnorm._reasons.shapes import values_text
from pnorm.rankers import WeakRankers, as_rankers

SOME, MUCH = 0.1, 0.25
"""The customary marks of the population stability index."""

MEANING = f"PSI, the population stability index, is 0 if nothing changed; {MUCH} or more is much."
"""A sentence below lists of what moved."""

_LEAST = 5.0
"""Rows that are expected in each bin of a test, in the smaller table."""

_LEVELS = 18
"""Levels of a column, at most, that are compared one by one."""

_FEW = 10.0 - 1e-6
"""Old rows of a level that is compared on its own, at least."""

_ROWS, _TOLD = 20, 10
"""Columns in the table, and columns in sentences, at most."""

_WIDTH = 100
"""Characters of a line of sentences."""

_EXAMPLES = 5
"""New levels that are named in a sentence."""


@dataclass(frozen=True, repr=False)
class ColumnDrift:
    """The drift of one column; part of a `Drift`.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        As in `ColumnProfile`.
    psi : float
        The population stability index of its bins or levels. For a trend of days, nan: later days are later.
    by_chance : float
        Its mean for two tables from the same distribution.
    p_value : float
        The p-value of the chi-squared test that both tables have the same distribution, corrected by Holm's method.
    beyond_chance : bool
        Whether that is less than 1 - `confidence`.
    missing : tuple of two floats
        The share of missing values, then and now.
    outside : tuple of two floats
        The shares of new rows below the smallest value of the old ones, and above the largest one.
    unseen : dict
        The number of new rows by level, of levels that no old row had, the most frequent first. Empty as well where
        the profile does not name all levels.
    unseen_share : float
        The share of new rows with such levels.
    adds : tuple of two floats
        The mean part of the column in the score, then and now.
    bins : tuple of (str, float, float)
        The shares of old rows and of new ones in each bin, or of each level.
    ends : tuple of two strings
        The smallest new value and the largest one, in words; empty for levels.
    beyond_ends : tuple of str
        Which of ``"below"``, ``"above"`` and ``"missing"`` no old row had, and more new rows than chance explains.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> H = pnorm.rankers.columns(2, names=["age", "visits"])
    >>> old, new = rng.normal(size=(4000, 2)), rng.normal(size=(1000, 2)) + [0.0, 0.5]
    >>> found = pnorm.drift(old, new, H, [0.5, 1.0])
    >>> visits = found.columns[0]
    >>> visits.name, round(visits.psi, 2), visits.moved, visits.beyond_chance
    ('visits', 0.27, True, True)
    """

    name: str
    kind: str
    psi: float
    by_chance: float
    p_value: float
    beyond_chance: bool
    missing: tuple[float, float]
    outside: tuple[float, float]
    unseen: dict[str, int]
    unseen_share: float
    adds: tuple[float, float]
    bins: tuple[tuple[str, float, float], ...]
    ends: tuple[str, ...]
    beyond_ends: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the column has drifted beyond chance, with an index of 0.1 or more."""
        return self.beyond_chance and self.psi >= SOME

    def __repr__(self) -> str:
        return f"<ColumnDrift of {shown(self.name)}: PSI {self.psi:.3g}{', moved' if self.moved else ''}>"


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


# One column -----------------------------------------------------------------------------------------


def _moved(column: ColumnProfile, part: Part, old: Profile, rows: Rows, is_known: bool) -> ColumnDrift:
    """Return the drift of a column; where `is_known`, among the rows that have a value."""
    mean = rows.mean(part.adds)
    if part.kind != LEVELS:
        return _of_numbers(column, part.numbers(), mean, old, rows, is_known)
    tally = part.tally(column.levels)
    shares = rows.shares(tally.codes, tally.missing + 1)
    counts = rows.counts(tally.codes, tally.missing + 1)
    new = dict(zip(tally.names, shares.tolist(), strict=False))
    known = set(column.levels)
    other = [k for k, name in enumerate(tally.names) if name not in known and counts[k]]
    unseen: dict[str, int] = {}
    if not column.others:
        order = sorted(other, key=lambda k: -counts[k])
        unseen, other = {tally.names[k]: int(counts[k]) for k in order}, []
    # Where levels of few rows are, levels never seen are to be expected: both are drawn from the same rare ones.
    few = _FEW / old.effective
    n_kept = sum([share >= few for share in column.shares[:_LEVELS]])
    kept, rest = column.levels[:n_kept], column.levels[n_kept:]
    of_unseen = sum([new[name] for name in unseen])
    found = [(level, then, new.get(level, 0.0)) for level, then in zip(kept, column.shares, strict=False)]
    of_rest = sum(column.shares[n_kept:]) + column.others
    now = sum([new.get(level, 0.0) for level in rest]) + float(shares[other].sum())
    if of_rest:
        found.append(("other levels", of_rest, now + of_unseen))
    else:
        found.append(("levels never seen", 0.0, of_unseen))
    found.append(("missing", column.missing, float(shares[-1])))
    return _indexed(column, found, old, rows, mean, True, is_known, unseen=unseen, unseen_share=of_unseen)


def _of_numbers(
    column: ColumnProfile, x: Vector, mean: float, old: Profile, rows: Rows, is_known: bool = False
) -> ColumnDrift:
    write = partial(value_named, column.kind)
    known = x[~np.isnan(x)] if rows.weight is None else x[~np.isnan(x) & (rows.weight > 0.0)]
    outside, ends = (0.0, 0.0), tuple[str, ...]()
    if column.edges:
        low, high = column.edges[0], column.edges[-1]
        outside = rows.share(x < low), rows.share(x > high)
        shares = rows.shares(bin_codes(np.clip(x, low, high), column.cuts), len(column.shares) + 1)
        shares[0] -= outside[0]
        shares[-2] -= outside[1]
        lows, highs = (-math.inf, *column.cuts), (*column.cuts, math.inf)
        texts = [values_text(*of, None, write) for of in zip(lows, highs, strict=True)]
        if not column.cuts:
            texts = [f"= {write(low)}" if low == high else f"from {write(low)} to {write(high)}"]
        found = [(f"< {write(low)}", 0.0, outside[0]), (f"> {write(high)}", 0.0, outside[1])]
        found[1:1] = zip(texts, column.shares, np.maximum(shares[:-1], 0.0).tolist(), strict=True)
        if known.size:
            ends = tuple(map(write, (known.min(), known.max(), low, high)))
    else:
        found = [("any", 0.0, rows.share(~np.isnan(x)))]
    found.append(("missing", column.missing, rows.share(np.isnan(x))))
    return _indexed(column, found, old, rows, mean, False, is_known, outside=outside, ends=ends)


def _indexed(
    column: ColumnProfile,
    found: Sequence[tuple[str, float, float]],
    old: Profile,
    rows: Rows,
    mean: float,
    sort: bool,
    is_known: bool,
    outside: tuple[float, float] = (0.0, 0.0),
    unseen: dict[str, int] | None = None,
    unseen_share: float = 0.0,
    ends: tuple[str, ...] = (),
) -> ColumnDrift:
    n, m, missing = old.effective, rows.effective, (column.missing, found[-1][2])
    if is_known and max(missing) < 1.0:
        known = 1.0 - missing[0], 1.0 - missing[1]
        found = [(text, then / known[0], now / known[1]) for text, then, now in found[:-1]]
        n, m = n * known[0], m * known[1]
    there = [of for of in found if of[1] or of[2]]
    then, now = np.array([of[1:] for of in there]).reshape(-1, 2).T
    trend = column.kind == TREND
    return ColumnDrift(
        column.name,
        column.kind,
        math.nan if trend else _psi(then, now, min(n, m)),
        math.nan if trend else (len(there) - 1) * (1.0 / n + 1.0 / m),
        math.nan if trend else _p_value(then, now, n, m, sort),
        False,
        missing,
        outside,
        unseen or {},
        unseen_share,
        (column.mean, mean),
        tuple(there),
        ends,
    )


def _psi(then: Vector, now: Vector, n: float) -> float:
    """Return the index of two rows of shares, with half a row of n added to each share."""
    half = 0.5 / n
    a, c = [(shares + half) / (1.0 + half * shares.size) for shares in (then, now)]
    return float((a - c) @ np.log(a / c))


def _p_value(then: Vector, now: Vector, n: float, m: float, sort: bool) -> float:
    """Return the p-value of the test that shares of n rows and of m rows are of one distribution."""
    pooled = (n * then + m * now) / (n + m)
    order: NDArray[np.intp] = np.argsort(pooled, kind="stable") if sort else np.arange(pooled.size)
    merged = np.zeros((0, 3))
    group = np.zeros(3)
    for k in order:
        group += then[k], now[k], pooled[k]
        if group[2] * min(n, m) >= _LEAST:
            merged, group = np.vstack([merged, group]), np.zeros(3)
    if not len(merged):
        return 1.0
    merged[-1] += group
    a, c, both = merged.T
    return float(chdtrc(len(merged) - 1, ((a - c) ** 2 / both).sum() / (1.0 / n + 1.0 / m))) if len(merged) > 1 else 1.0


# All tests together ---------------------------------------------------------------------------------


def _judged(columns: Sequence[ColumnDrift], old: Profile, rows: Rows, level: float) -> list[ColumnDrift]:
    """Return the columns with what is beyond chance in all of them together."""
    tests: list[tuple[int, str, float]] = []
    share_new = rows.effective / (old.effective + rows.effective)
    for k, column in enumerate(columns):
        if column.kind == TREND:
            continue
        tests.append((k, "", column.p_value))
        news = {"below": column.outside[0], "above": column.outside[1]}
        if column.missing[0] == 0.0:
            news["missing"] = column.missing[1]
        # If the tables are of one distribution, all of so many extreme rows are new ones with this probability at most.
        tests += [(k, what, share_new ** (share * rows.effective)) for what, share in news.items() if share]
    corrected = _holm([p for _, _, p in tests])
    found = list(columns)
    for (k, what, _), p in zip(tests, corrected, strict=True):
        if not what:
            found[k] = replace(found[k], p_value=p, beyond_chance=p < level)
        elif p < level:
            found[k] = replace(found[k], beyond_ends=(*found[k].beyond_ends, what))
    return found


def _holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's method."""
    p = np.array(p_values)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(p.size)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return corrected.tolist()
