"""Whether a column moved: its drift, and the tests of all columns together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from pnorm._checks import Vector
from pnorm._checks.text import shown
from pnorm._reasons.profile import LEVELS, TREND, ColumnProfile, Part, Profile, Rows, bin_codes, value_named
from pnorm._reasons.shapes import values_text

SOME, MUCH = 0.1, 0.25
"""The customary marks of the population stability index."""

_LEAST = 5.0
"""Rows that are expected in each bin of a test, in the smaller table."""

_LEVELS = 18
"""Levels of a column, at most, that are compared one by one."""

_FEW = 10.0 - 1e-6
"""Old rows of a level that is compared on its own, at least."""


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
