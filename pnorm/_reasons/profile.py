"""Profiles of rows, column by column, to store in a model file and compare with later rows."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Column, distinct
from pnorm._checks import Coefficients, Vector, Weights, sheet
from pnorm._checks.text import shown
from pnorm._checks.words import folded
from pnorm._reasons.explain import each_part, is_function, readable
from pnorm._reasons.shapes import Shape, shapes_of
from pnorm.rankers import Rankers, WeakRankers, as_rankers
from pnorm.rankers._readings import RARE, is_missing
from pnorm.rankers._table import OfLevels

_FORMAT, _VERSION = "pnorm.profile", 1

_BINS = 10
"""Bins of a column of numbers."""

_NAMED = 255
"""Levels of a column, at most, whose names a profile keeps."""

_LONGEST = 60
"""Characters of the name of a level."""

_TOPS = (0.01, 0.05, 0.1)

_ROUNDING = 1e-12
"""Of a share of rows."""

NUMBER, TREND, LEVELS = "number", "trend", "levels"


@dataclass(frozen=True, repr=False)
class ColumnProfile:
    """The distribution of one column of a table; part of a `Profile`.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        ``"number"``, ``"levels"``, or ``"trend"`` for the days of a date, counted from 1970.
    edges : tuple of float
        For numbers: the smallest value, the ends of the bins, and the largest value. A bin contains its upper end.
        Empty for levels, and if all values are missing.
    levels : tuple of str
        For levels: the names, the most frequent first, at most 255.
    shares : tuple of float
        The share of all rows in each bin, or of each level.
    missing : float
        The share of rows without a value.
    others : float
        The share of rows with levels beyond the first 255.
    mean : float
        The mean part of the column in the score.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 4]], names=["visits"])
    >>> column = pnorm.profile([[1], [3], [3], [7]], H, [0.5, -0.25]).columns[0]
    >>> column.kind, column.edges, column.cuts, column.shares
    ('number', (1.0, 1.0, 3.0, 7.0), (1.0, 3.0), (0.25, 0.5, 0.25))
    """

    name: str
    kind: str
    edges: tuple[float, ...]
    levels: tuple[str, ...]
    shares: tuple[float, ...]
    missing: float
    others: float
    mean: float

    @property
    def cuts(self) -> tuple[float, ...]:
        """Ends of the bins, without the smallest value and the largest one."""
        return self.edges[1:-1]

    def __repr__(self) -> str:
        return f"<ColumnProfile of {shown(self.name)}: {len(self.shares)} {'levels' if self.levels else 'bins'}>"

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.shares:
            own = "levels" if self.kind == LEVELS else "edges"
            fields |= {own: list(getattr(self, own)), "shares": list(self.shares)}
        return fields | {"missing": self.missing, "others": self.others, "mean": self.mean}


@dataclass(frozen=True, repr=False)
class Profile:
    """The distribution of rows, as read by a scoring function. `pnorm.profile` returns it.

    Attributes
    ----------
    n : int
        The number of rows, without rows of weight zero.
    effective : float
        The effective number of rows: the squared sum of the weights divided by the sum of their squares.
    columns : tuple of ColumnProfile
        The columns that have coefficients.
    score : ColumnProfile
        The scores. Their bins end at every tenth of the rows, and at the top 5 and 1 %.
    tops : tuple of (share, score, share)
        For 1, 5 and 10 %: the largest score that at least this share of the rows reaches, and the share that reaches
        it, which is larger if scores are equal.
    of : int
        A check sum of the coefficients and of the names of the weak rankers.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 4]], names=["visits"])
    >>> found = pnorm.profile([[1], [3], [3], [7]], H, [0.5, -0.25])
    >>> found.n, [column.name for column in found.columns]
    (4, ['visits'])
    >>> pnorm.Profile.from_dict(found.to_dict()) == found
    True
    """

    n: int
    effective: float
    columns: tuple[ColumnProfile, ...]
    score: ColumnProfile
    tops: tuple[tuple[float, float, float], ...]
    of: int

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as a dictionary that `json.dumps` and the metadata of `save` take.

        Returns
        -------
        dict
            `from_dict` makes the same profile of it. It contains names of levels, smallest and largest values, and
            quantiles, but no rows.
        """
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "n": self.n,
            "effective": self.effective,
            "columns": [column._fields() for column in self.columns],
            "score": [self.score._fields()],
            "tops": [list(top) for top in self.tops],
            "of": self.of,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Profile:
        """Make a profile from the dictionary of `to_dict`.

        Parameters
        ----------
        data : dict
            A dictionary that `to_dict` returned; it may have been written to JSON and read again.

        Returns
        -------
        Profile
            The same profile.

        Raises
        ------
        TypeError, ValueError
            If `data` is not such a dictionary, or was written by a newer version of pnorm.
        """
        fields = _checks.Fields(data, "the contents of a profile", _FORMAT, _VERSION)
        n, effective = fields.count("n", 1), fields.number("effective", _checks.positive)
        columns = tuple([_column_of(of) for of in fields.inner_if_any("columns")])
        (score,) = [_column_of(of) for of in fields.inner("score", 1)]
        tops = [_checks.numbers_of(top, "'tops' of a profile") for top in fields.items("tops", len(_TOPS))]
        if [len(top) for top in tops] != [3] * len(tops) or not all(0.0 < top[0] <= 1.0 for top in tops):
            raise ValueError(f"'tops' of a profile must be three lists of a share, a score and a share; got {tops}")
        found = Profile(n, effective, columns, score, tuple([(a, b, c) for a, b, c in tops]), fields.count("of", 0))
        fields.nothing_else()
        return found

    def __repr__(self) -> str:
        return f"<Profile of {self.n} rows and {len(self.columns)} columns>"


def _column_of(of: _checks.Fields) -> ColumnProfile:
    name, kind = of.of(str, "name"), of.choice("kind", (NUMBER, TREND, LEVELS))
    edges, levels, shares = list[float](), tuple[str, ...](), list[float]()
    if of.has("shares"):
        shares = of.numbers("shares", None)
        if kind == LEVELS:
            levels = of.strings("levels", len(shares))
        else:
            edges = of.numbers("edges", len(shares) + 1)
    missing, others, mean = [of.number(key) for key in ("missing", "others", "mean")]
    of.nothing_else()
    every = [*shares, missing, others]
    if min(every) < 0.0 or abs(sum(every) - 1.0) > 1e-6 or len(set(levels)) < len(levels):
        raise ValueError(f"the shares of {shown(name)} in a profile must be of different levels, and add up to 1")
    if edges != sorted(edges) or len(set(edges[1:])) < len(edges[1:]):
        raise ValueError(f"'edges' of {shown(name)} in a profile must be ascending")
    return ColumnProfile(name, kind, tuple(edges), levels, tuple(shares), missing, others, mean)


def profile(
    X: _checks.Rows, H: WeakRankers, lam: Coefficients, *, weight: Weights | None = None, n_threads: int | None = None
) -> Profile:
    """Compute the profile of rows for a scoring function, to compare later rows with it.

    Parameters
    ----------
    X : array_like, shape (N, d), or sequence of N things where the rankers are callables
        The rows: those of training, or held-out ones.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    weight : array_like, shape (N,), optional
        Case weights of the rows.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `score`.

    Returns
    -------
    Profile
        For each column with coefficients, and for the scores: the shares of rows in bins, or of levels, the share
        of missing values, and the mean part of the score. For a function, the values are its part of the score.

    Raises
    ------
    ValueError, TypeError
        If X does not fit the rankers, `lam` is not one finite number per ranker, or weights are negative or all zero.
    OverflowError
        If a score, or a part of its sum, is more than a double holds.

    See Also
    --------
    drift : Compare later rows with a profile.

    Notes
    -----
    A column with at most 10 distinct numbers has a bin for each. Other columns have 10 bins with equal numbers of rows,
    as far as ties allow. The names of the 255 most frequent levels are stored, shortened to 60 characters.

    The cost is two passes over each column with coefficients, and a sort if it contains numbers.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 4]], names=["visits"])
    >>> found = pnorm.profile([[1], [3], [3], [7]], H, [0.5, -0.25])
    >>> found
    <Profile of 4 rows and 1 columns>
    >>> found.columns[0].edges, found.columns[0].shares
    ((1.0, 1.0, 3.0, 7.0), (0.25, 0.5, 0.25))

    Store it in a model file with ``metadata={"profile": found.to_dict()}``, and read it again:

    >>> pnorm.Profile.from_dict(found.to_dict()) == found
    True
    """
    n_threads = _checks.threads(n_threads)
    rankers = as_rankers(H, X, "X")
    return profiled(X, rankers, coefficients_of(lam, rankers), weight, "weight", n_threads, _NAMED)


def coefficients_of(lam: Any, rankers: Rankers) -> Vector:
    return _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker")


def profiled(
    X: Any, rankers: Rankers, lam: Vector, weight: Any, called: str, n_threads: int | None, most: int
) -> Profile:
    """Return the profile of rows, with the names of at most so many levels of each column."""
    rows = Rows.of(X, rankers, weight, called)
    columns = []
    scores = np.zeros(rows.n_rows)
    for part in parts(X, rankers, lam, n_threads):
        add_up(scores, part.adds)
        if part.compared:
            columns.append(_profiled(part, rows, most))
    ranked, shares = rows.sorted(scores)
    tops = []
    for share in _TOPS:
        at = ranked[min(int(np.searchsorted(shares, 1.0 - share + _ROUNDING, "right")), ranked.size - 1)]
        tops.append((share, float(at), rows.share(scores >= at)))
    levels = np.unique([*np.arange(1, _BINS) / _BINS, *[1.0 - share for share in _TOPS]])
    score = _of_numbers("score", NUMBER, scores, rows, rows.mean(scores), levels)
    return Profile(rows.n, rows.effective, tuple(columns), score, tuple(tops), check_sum(rankers, lam))


def add_up(scores: Vector, adds: Vector) -> None:
    """Add to scores what a column adds; neither may become more than a double holds, nor their sums over rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores += adds
        finite = np.isfinite(np.abs(scores).sum() + np.abs(adds).sum())
    if not finite:
        raise OverflowError(
            "a score, or the sum of all, is more than a double holds; scale the coefficients (lam) down"
        )


def check_sum(rankers: Rankers, lam: Vector) -> int:
    """Return a number that tells coefficients, with the names of their weak rankers, from others."""
    return zlib.crc32(
        "\0".join(rankers.names).encode("utf-8", "replace"), zlib.crc32((lam + 0.0).astype("<f8").tobytes())
    )


# Rows, and what their columns hold ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rows:
    """How much each row counts."""

    n_rows: int
    """With those of weight zero."""
    weight: Vector | None
    """None where all are equal."""
    n: int
    """Rows of a weight above zero."""
    effective: float

    @classmethod
    def of(cls, X: Any, rankers: Rankers, weight: Any, called: str) -> Rows:
        n = _checks.n_rows(X, "X")
        c = _checks.masses(weight, called, n)
        if c is None:
            return cls(n, None, n, float(n))
        scaled = c / c.max()
        return cls(n, c / c.sum(), int(np.count_nonzero(c)), float(scaled.sum() ** 2 / (scaled @ scaled)))

    def share(self, chosen: NDArray[np.bool_]) -> float:
        """Return the share of some rows."""
        return float(np.mean(chosen) if self.weight is None else self.weight @ chosen)

    def mean(self, x: Vector) -> float:
        return float(x.mean() if self.weight is None else self.weight @ x)

    def shares(self, codes: NDArray[np.intp], size: int) -> Vector:
        """Return the share of the rows of each code."""
        if self.weight is None:
            return np.bincount(codes, minlength=size) / self.n_rows
        return np.asarray(np.bincount(codes, self.weight, size), np.float64)

    def counts(self, codes: NDArray[np.intp], size: int) -> NDArray[np.intp]:
        """Return the number of rows of each code."""
        return np.bincount(codes if self.weight is None else codes[self.weight > 0.0], minlength=size)

    def sorted(self, x: Vector) -> tuple[Vector, Vector]:
        """Return the known values of rows that count, in ascending order, and the share of these up to each."""
        if self.weight is None:
            known = np.sort(x[~np.isnan(x)])
            return known, np.arange(1, known.size + 1) / max(known.size, 1)
        kept = np.flatnonzero(~np.isnan(x) & (self.weight > 0.0))
        kept = kept[np.argsort(x[kept], kind="stable")]
        sums = self.weight[kept].cumsum()
        return x[kept], sums / sums[-1] if sums.size else sums


@dataclass(frozen=True, eq=False)
class Part:
    """A column that has coefficients, on some rows."""

    name: str
    adds: Vector
    """What it adds to the score of each row."""
    shape: Shape | None
    """None for a function, and for a column that adds the same to all rows."""
    function: bool
    rows: Any

    @property
    def compared(self) -> bool:
        """Whether it has values that can be compared."""
        return self.shape is not None or self.function

    @property
    def kind(self) -> str:
        if self.shape is None or not (self.shape.levels or self.shape._values):
            of = self.shape._source.leaf.read_off if self.shape is not None and self.shape._source is not None else ""
            return TREND if of == "trend" else NUMBER
        return LEVELS

    def numbers(self) -> Vector:
        """Return the values of a column of numbers; nan where one is missing."""
        if self.shape is None:
            return self.adds
        assert self.shape._source is not None
        return self.shape._source.values(self.rows, self.shape._may_miss)

    def tally(self, before: Sequence[str] = ()) -> Tally:
        """Return the levels of a column, and which of them each row has; `before` are names to use again.

        Where the case of text does not count, all spellings of an unknown level have one name, as levels have.
        """
        shape = self.shape
        assert shape is not None
        assert shape._source is not None
        if shape._values:
            x = self.numbers()
            names = list(map(_named, shape._values))
            return Tally(names, np.where(np.isnan(x), len(names), x).astype(np.intp), len(names))
        raw = shape._source.raw(self.rows)
        first, codes = distinct(raw, "X", shape._column, None)
        rare = RARE if isinstance(shape._source.part, OfLevels) else None
        known, number = Column([key for key in shape._keys if key is not None and key != rare]), dict[str, int]()
        levels = known.levels
        of_value, any_case = [], shape._source.leaf.any_case
        spelled = {folded(name): name for name in before} if any_case else {}
        for row in first.tolist():
            value = raw[row]
            k = known.number(value)
            missing = k < 0 and is_missing(value)
            name = _named(levels[k] if k >= 0 else value)
            if any_case and k < 0 and isinstance(value, str):
                name = spelled.setdefault(folded(value), name.strip())
            of_value.append(-1 if missing else number.setdefault(name, len(number)))
        place = np.array([len(number) if k < 0 else k for k in of_value], np.intp)
        return Tally(list(number), place[codes], len(number))


def _named(value: Any) -> str:
    value = _checks.python(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value) if abs(value) < 2.0**53 else value
    return shown(str(value), _LONGEST)


@dataclass(frozen=True, eq=False)
class Tally:
    """The levels that rows have."""

    names: list[str]
    codes: NDArray[np.intp]
    missing: int
    """The code of a missing value."""


def parts(X: Any, rankers: Rankers, lam: Vector, n_threads: int | None) -> Iterator[Part]:
    """Yield the columns that have coefficients; where there are none, one that adds nothing."""
    keys, names = list(dict(rankers._reads())), rankers.column_names
    shapes: dict[int, Shape] = {}
    for shape in shapes_of(lam, rankers, True):
        shapes.setdefault(shape._column, shape)
    rows = readable(X, rankers, len(shapes))
    for c, adds, _ in each_part(rows, rankers, lam, n_threads):
        yield Part(names[c], adds, shapes.get(c), is_function(keys[c]) and bool(lam.any()), rows)


def _profiled(part: Part, rows: Rows, most: int) -> ColumnProfile:
    mean = rows.mean(part.adds)
    if part.kind != LEVELS:
        return _of_numbers(part.name, part.kind, part.numbers(), rows, mean, np.arange(1, _BINS) / _BINS)
    tally = part.tally()
    shares = rows.shares(tally.codes, tally.missing + 1)
    order = np.argsort(-shares[:-1], kind="stable")
    order = order[shares[order] > 0.0]
    kept = order[:most]
    return ColumnProfile(
        part.name,
        LEVELS,
        (),
        tuple([tally.names[k] for k in kept]),
        tuple(shares[kept].tolist()),
        float(shares[-1]),
        float(shares[order[most:]].sum()),
        mean,
    )


def _of_numbers(name: str, kind: str, x: Vector, rows: Rows, mean: float, levels: Vector) -> ColumnProfile:
    ranked, up_to = rows.sorted(x)
    if not ranked.size:
        return ColumnProfile(name, kind, (), (), (), 1.0, 0.0, mean)
    starts = np.r_[True, ranked[1:] != ranked[:-1]]
    if np.count_nonzero(starts) <= _BINS:
        cuts = ranked[starts]
    else:
        cuts = np.unique(ranked[np.minimum(up_to.searchsorted(levels - _ROUNDING), ranked.size - 1)])
    cuts = cuts[cuts < ranked[-1]]
    shares = rows.shares(bin_codes(x, cuts), cuts.size + 2)
    edges = (float(ranked[0]), *cuts.tolist(), float(ranked[-1]))
    return ColumnProfile(name, kind, edges, (), tuple(shares[:-1].tolist()), float(shares[-1]), 0.0, mean)


def bin_codes(x: Vector, cuts: Any) -> NDArray[np.intp]:
    """Return the number of the bin of each value; one after the last where it is missing."""
    ends: Vector = np.asarray(cuts, np.float64)
    return np.where(np.isnan(x), ends.size + 1, ends.searchsorted(x)).astype(np.intp)


def value_named(kind: str, value: float) -> str:
    """Return a number of a column in words; days as a date."""
    if kind != TREND:
        return str(sheet.value_text(value))
    return str(np.datetime64(math.floor(value), "D"))
