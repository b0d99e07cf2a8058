"""Weak rankers that are cuts of the columns of a matrix, and lines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from pnorm import _checks
from pnorm._checks import Lines, Monotone, Rows, Vector
from pnorm._checks.text import first
from pnorm._storage import scoring
from pnorm._storage.features import LARGEST_FEATURE, Cuts, Feature
from pnorm._storage.store import Piece
from pnorm._threads import Pool
from pnorm.rankers._base import LINE, MISSING, Found, Index, Rankers, Signs, _Curve, _Shape, coded, kind, names_of
from pnorm.rankers._columns import _column, _OfColumns, _Plan
from pnorm.rankers._cuts import Placed, _cuts, _sides_of


class _Thresholds(_OfColumns):
    """Ranker j is x > cut for the pair (column, cut) number j.

    Where the cut is NaN, it is whether x is missing; where it is infinite, the line of the column: a value for each
    of its levels, between which the cuts lie, and 0 for a missing value.
    """

    _lines: Mapping[int, Sequence[float]] = MappingProxyType({})
    """Values of the lines of columns, by level."""
    _between: Mapping[int, Sequence[float]] = MappingProxyType({})
    """The ends of these levels, where no cuts are beside the line of a column."""

    def __init__(
        self,
        names: Sequence[str],
        width: int | None,
        found: Found,
        cuts: Sequence[tuple[int, float]],
        missing: bool,
        lines: Mapping[int, Sequence[float]] | None = None,
        monotone: Mapping[int, int] | None = None,
        between: Mapping[int, Sequence[float]] | None = None,
    ) -> None:
        super().__init__(names, width, found, monotone)
        self._cuts, self._missing = cuts, missing
        self._last = max([column for column, _ in cuts])
        if lines:
            self._lines = dict(lines)
        if between:
            self._between = dict(between)

    def _meanings(self) -> list[str]:
        def meaning(column: int, cut: float) -> str:
            if not math.isinf(cut):
                return "x is missing" if math.isnan(cut) else f"x > {cut:g}"
            cuts, values = self._line(column)
            return f"a line from {cuts[0]:g} to {cuts[-1]:g} through {first(values.tolist(), 4, '{:g}'.format)}"

        return [meaning(column, cut) for column, cut in self._cuts]

    def _fields(self) -> dict[str, Any]:
        def written(column: int, cut: float) -> list[Any]:
            if not math.isinf(cut):
                return [column, None if math.isnan(cut) else cut]
            ends = [list(self._between[column])] if column in self._between else []
            return [column, list(self._lines[column]), *ends]

        cuts = [written(column, cut) for column, cut in self._cuts]
        return {"kind": "thresholds", **super()._fields(), "cuts": cuts, "missing": self._missing}

    @property
    def _is_straight(self) -> bool:
        return bool(self._between)

    def _places_read(self) -> list[int]:
        return [column for column, _ in self._cuts]

    @property
    def signs(self) -> Signs:
        signs = super().signs
        if self._monotone:
            signs[[math.isnan(cut) for _, cut in self._cuts]] = 0
        return signs

    def _reads(self) -> list[tuple[Hashable, str]]:
        if self._found is not None:
            return super()._reads()
        # The name of a column is that of its first ranker, without what makes it that of a cut.
        labels: dict[int, str] = {}
        for name, (column, cut) in zip(self.names, self._cuts, strict=True):
            if column not in labels:
                whole = name.removesuffix(MISSING).removesuffix(LINE)
                labels[column] = whole.rpartition(" > ")[0] or name if math.isfinite(cut) else whole
        return [(column, labels[column]) for column, _ in self._cuts]

    def _line(self, column: int) -> tuple[Vector, Vector]:
        """Return the cuts between the levels of a column that has a line, and the values of this by level."""
        cuts = self._between.get(column) or {cut for c, cut in self._cuts if c == column and math.isfinite(cut)}
        return np.array(sorted(cuts)), np.array(self._lines[column])

    def _fits(self, width: int, name: str) -> None:
        super()._fits(width, name)
        if width <= self._last:
            raise ValueError(f"{name} has {width} columns; these weak rankers cut column {self._last}, counted from 0")

    def _output(self, rows: Any, j: int, name: str) -> Vector:
        column, cut = self._cuts[j]
        x = _column(rows, column)
        if math.isinf(cut):
            cuts, values = self._line(column)
            return np.where(np.isnan(x), 0.0, values[cuts.searchsorted(x)])
        return (np.isnan(x) if math.isnan(cut) else x > cut).astype(np.float64)

    def _plan(self, lam: Vector) -> _Plan:
        """A sum over the cuts of a column below a value is one number of a table."""
        plan = super()._plan(lam)
        if not plan.lam.size:
            return plan
        lam, of_column = plan.lam, np.array([self._cuts[j][0] for j in plan.rankers], np.intp)
        columns, own = np.unique(of_column, return_inverse=True)
        cuts = np.array([self._cuts[j][1] for j in plan.rankers])
        steps = []
        order = np.lexsort([cuts, own])  # by column, then by cut; infinity and nan come last
        for k, members in enumerate(np.split(order, np.flatnonzero(np.diff(own[order])) + 1)):
            known = members[np.isfinite(cuts[members])]
            others = members[known.size :]
            is_missing = np.isnan(cuts[others])
            missing = float(lam[others[is_missing]].sum()) if self._missing else math.nan
            if is_missing.all():
                steps += scoring.Steps.of(k, cuts[known], lam[known], missing)
                continue
            ends, values = self._line(int(columns[k]))
            heights = np.bincount(ends.searchsorted(cuts[known]), lam[known], ends.size)
            with np.errstate(over="ignore", invalid="ignore"):
                values = float(lam[others[~is_missing]].sum()) * values + np.r_[0.0, heights.cumsum()]
            steps.append(scoring.Steps(k, ends, values, missing))
        return replace(plan, columns=columns, jumps=scoring.Jumps(steps))

    def _shapes(self, lam: Vector) -> list[tuple[int, _Shape]]:
        plan = self._plan(lam)
        if plan.jumps is None:
            return []
        of_column, columns = np.array([self._cuts[j][0] for j in plan.rankers]), plan.columns.tolist()
        first = plan.rankers[[int(np.argmax(of_column == column)) for column in columns]].tolist()
        missed = {column for column, cut in self._cuts if math.isnan(cut)}
        every = {column: set(self._between.get(column, ())) for column in columns}
        for column, cut in self._cuts:
            if column in every and math.isfinite(cut):
                every[column].add(cut)
        found: list[tuple[int, _Shape]] = []
        for step in plan.jumps.steps:
            column = columns[step.column]
            missing = step.missing if column in missed else math.nan
            curve = _Curve(step.cuts, step.values, 0.0, missing, np.array(sorted(every[column])))
            found.append((first[step.column], curve))
        return found

    def _terms_of(self, columns: Any, plan: _Plan) -> list[scoring.Term]:
        assert plan.jumps is not None
        if _checks.is_sparse(columns):
            return [scoring.sparse_lookups(columns, plan.jumps)]
        return [scoring.Lookups(columns, plan.jumps)]

    def _pieces(self, X: Any, name: str, where: Index, complements: Index | None = None) -> list[Piece]:
        A = self._read(X, name)
        of_column: dict[int, list[int]] = {}
        for j, (column, _) in enumerate(self._cuts):
            of_column.setdefault(column, []).append(j)
        pieces: list[Piece] = []
        for column, members in of_column.items():
            own, cuts = np.array(members), np.array([self._cuts[j][1] for j in members])
            known, missing = np.isfinite(cuts), np.isnan(cuts)
            below, steps = np.unique(cuts[known], return_inverse=True)
            if column in self._between:  # there are no cuts
                below = np.array(self._between[column])
            # With missing values, a first cut below everything leaves code 0 to them.
            floor = np.full(int(bool(self._missing)), -np.inf)
            room = LARGEST_FEATURE - 2
            for start in range(0, max(below.size, 1), room):
                some = (steps >= start) & (steps < start + room)
                ends = np.r_[floor, below[start : start + room]]
                feature = Feature.of_steps(Cuts(A, column, ends), ends.size + 1, 1 + floor.size + steps[some] - start)
                numbers = own[known][some]
                if start == 0 and missing.any():
                    feature = feature.and_indicators(np.zeros(np.count_nonzero(missing), np.intp))
                    numbers = np.r_[numbers, own[missing]]
                for line in own[np.isinf(cuts)]:
                    feature = feature.and_values(np.r_[np.zeros(floor.size), self._lines[column]])
                    numbers = np.r_[numbers, line]
                pieces.append(coded(feature, numbers, where, complements))
        return pieces


def thresholds(
    cuts: Mapping[int, Sequence[float]] | Sequence[Sequence[float]],
    *,
    names: Sequence[str] | None = None,
    missing: Literal["error", "own"] = "error",
    monotone: Monotone | None = None,
) -> Rankers:
    """Make one indicator per cut: h(x) = 1 if x_c > cut, else 0 (the papers' rule).

    Sparse rows stay sparse: training and scoring need memory in proportion to the stored numbers. `Rankers.evaluate`
    returns a dense array.

    Parameters
    ----------
    cuts : sequence of sequences of float, or mapping from column to sequence of float
        ``cuts[c]`` are the cuts of column c. A sequence has one entry per column of the data,
        empty where a column is not used; a mapping has only the columns that are.
    names : sequence of str, optional
        Names of all columns; by default ``x0``, ``x1``, ...
    missing : {"error", "own"}
        Refuse rows with missing values (NaN, None), or give every column with cuts a weak ranker
        ``x2 is missing``: 1 where the value is missing, else 0. The cuts of a missing value are 0.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It sets `Rankers.signs`,
        which every solver keeps. Indicators of missing values are free.

    Returns
    -------
    Rankers
        Column by column, the cuts in the given order; named like ``x2 > 0.5``.

    Raises
    ------
    ValueError, TypeError
        If there is no cut, a cut is not a finite number, or `monotone` names a column that has no name here.

    Examples
    --------
    >>> import pnorm
    >>> H = pnorm.rankers.thresholds([[2, 3], [], [0.5]])
    >>> H.names
    ('x0 > 2', 'x0 > 3', 'x2 > 0.5')
    >>> H.evaluate([[3, 7, 1], [1, 7, 0]])
    array([[1., 0., 1.],
           [0., 0., 0.]])
    """
    if not isinstance(cuts, (Mapping, Sequence)) or isinstance(cuts, str):
        raise TypeError(f"cuts must be a sequence or mapping of sequences of numbers; got {type(cuts).__name__}")
    width = None if names is None else len(names)
    if not isinstance(cuts, Mapping):
        cuts, width = dict(enumerate(cuts)), len(cuts)
    items = cuts.items()
    table = {_checks.count(c, "a column of cuts", 0): _checks.numbers_of(v, f"cuts of column {c}") for c, v in items}
    own = _checks.choice(missing, "missing", ("error", "own")) == "own"
    if own:
        table = {column: [*cuts, math.nan] if cuts else [] for column, cuts in table.items()}
    labels = names_of(names, None, width or max(table, default=0) + 1)
    return _thresholds(table, width, None, labels, own, {}, _checks.monotone(monotone, labels, "cuts"), {})


def _thresholds(
    table: Mapping[int, list[float]],
    width: int | None,
    found: Found,
    labels: Sequence[str],
    missing: bool,
    lines: Mapping[int, list[float]],
    monotone: Mapping[int, int],
    between: Mapping[int, list[float]],
) -> Rankers:
    def named(digits: str) -> list[str]:
        def end(cut: float) -> str:
            return MISSING if math.isnan(cut) else LINE if math.isinf(cut) else f" > {cut:{digits}}"

        return [labels[c] + end(cut) for c, cut in pairs]

    pairs = [(column, cut) for column in sorted(table) for cut in table[column]]
    if not pairs:
        raise ValueError("cuts is empty; give at least one cut")
    if pairs[-1][0] >= len(labels):
        raise ValueError(f"there are cuts of column {pairs[-1][0]}, counted from 0, and only {len(labels)} names")
    names = named("g")
    if len(set(names)) < len(names):  # six digits do not tell all cuts apart
        names = named("")
    return _Thresholds(names, width, found, pairs, missing, lines, monotone, between)


def quantile_thresholds(
    pos: Rows,
    neg: Rows,
    n_cuts: int = 255,
    *,
    names: Sequence[str] | None = None,
    missing: Literal["error", "own"] = "error",
    monotone: Monotone | None = None,
    linear: Lines = False,
    n_threads: int | None = None,
) -> Rankers:
    """Make one indicator per cut, with cuts at quantiles of the training rows.

    If a column has at most ``n_cuts + 1`` distinct values, every mid-point between neighbours is a cut. More cuts
    would not separate any further training rows. Other columns get at most `n_cuts` mid-points: those with a share of
    rows below them nearest to 1 / (n_cuts + 1), 2 / (n_cuts + 1), ..., for the rows of both sides together.

    The cost is a sort per column, O((I + K) log(I + K)); for sparse rows, a sort of the stored numbers. Sparse rows
    stay sparse, as in `thresholds`.

    Parameters
    ----------
    pos : array_like, shape (I, d)
        The positive rows of training.
    neg : array_like, shape (K, d)
        The negative rows of training.
    n_cuts : int
        Largest number of cuts per column.
    names : sequence of str, optional
        Names of the columns; by default those of a data frame, else ``x0``, ``x1``, ...
    missing : {"error", "own"}
        Refuse rows with missing values (NaN, None), or give every column in which training rows
        have some a weak ranker ``x2 is missing``. The cuts of a missing value are 0. Missing values do not
        change where the cuts are.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It sets `Rankers.signs`,
        which every solver keeps. Indicators of missing values are free.
    linear : bool or "only"
        Whether to add a straight line to the cuts of each column, named like ``x2 (line)``. With ``"only"``, a line
        takes the place of the cuts. See Notes.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. Up to 65,536 rows, one does it all.
        The result is the same to the last bit for any number. They sort columns.

    Returns
    -------
    Rankers
        The cuts of each column in ascending order; named like ``x2 > 0.5``. Then its indicator of missing values,
        and then its line.

    Raises
    ------
    ValueError, TypeError
        If the rows are not matrices of finite numbers with the same columns, every column is
        constant, or `monotone` names a column that they have not.

    Notes
    -----
    The cuts divide a column into levels 0, ..., m. The line has one value for each level::

        h(x) = (mean_ℓ - mean_0) / (mean_m - mean_0),    ℓ = the level of x

    with ``mean_ℓ`` the mean of the training rows of both sides at that level. The line is a staircase along a straight
    line. It is computed from the codes of the cuts and needs no storage. All values above the last cut give 1. A
    missing value gives 0. A column with one cut gets no line, because the line would equal the cut; a column with more
    than 65,532 cuts gets none either. With ``"only"`` a line has up to 1,024 levels, whatever `n_cuts` is, and columns
    of two values keep their cut. If there are more different values, the levels end at equal steps of the logit of the
    share of rows below: one row has each of the outermost levels, and up to 0.7 % of a million rows one in the middle.
    `columns` and `normalized` have lines without steps.

    Use lines with `pnorm.minimize` and a penalty: one slope replaces many jumps. `pnorm.train` does not choose lines,
    because a line is a weighted mean of its cuts and its edge is at most their largest edge.

    Examples
    --------
    >>> import pnorm
    >>> pnorm.rankers.quantile_thresholds([[1, 5], [2, 5]], [[4, 5]]).names
    ('x0 > 1.5', 'x0 > 3')
    >>> H = pnorm.rankers.quantile_thresholds([[1, 5], [2, 5]], [[4, 5]], linear=True, monotone={0: 1})
    >>> H.evaluate([[1, 5], [2, 5], [9, 5]])
    array([[0.        , 0.        , 0.        ],
           [1.        , 0.        , 0.33333333],
           [1.        , 1.        , 1.        ]])
    >>> H.signs
    array([1, 1, 1], dtype=int8)
    """
    n_cuts = _checks.count(n_cuts, "n_cuts", 1)
    own = _checks.choice(missing, "missing", ("error", "own")) == "own"
    linear, n_threads = _checks.lines(linear), _checks.threads(n_threads)
    A, B = _checks.two_sides(pos, neg, own)
    found, n_rows = _checks.column_names(pos), A.shape[0] + B.shape[0]
    labels = names_of(names, found, A.shape[1])
    signs = _checks.monotone(monotone, labels, "pos")
    place = partial(_cuts, n_rows=n_rows, n_cuts=n_cuts, linear=linear)
    with Pool(n_threads, n_rows) as pool:
        if _checks.is_sparse(A):
            ends = [(X.data, X.indptr.tolist()) for X in (A, B)]
            stored = np.flatnonzero(np.diff(A.indptr) + np.diff(B.indptr)).tolist()  # the others are zero in all rows
            columns = [[data[at[j] : at[j + 1]] for data, at in ends] for j in stored]
            placed = {j: place(np.concatenate(parts)) for j, parts in zip(stored, columns, strict=True)}
        else:
            # Neighbouring columns of a row-major matrix share cache lines: several are read at a time.
            together = min(max(2**24 // n_rows, 1), 16)
            batches = [range(j, min(j + together, A.shape[1])) for j in range(0, A.shape[1], together)]
            several = [pool.map(place, _sides_of(A, B, batch)) for batch in batches]
            placed = dict(enumerate(itertools.chain.from_iterable(several)))
    return of_cuts(placed, A.shape[1], found, labels, own, signs)


def of_cuts(
    placed: Mapping[int, Placed],
    width: int,
    found: Found,
    labels: Sequence[str],
    own: bool,
    signs: Mapping[int, int],
) -> Rankers:
    """Return the thresholds of given cuts and lines, by column."""
    cuts, lines, between = [
        {j: of_column[k] for j, of_column in placed.items() if of_column[k]} for k in range(len(Placed._fields))
    ]
    if not cuts:
        raise ValueError("every column is constant, so no threshold tells any two rows apart")
    return _thresholds(cuts, width, found, labels, own, lines, signs, between)


@kind("thresholds")
def _thresholds_of(fields: _checks.Fields) -> Rankers:
    width, missing = fields.optional_count("width", 1), fields.of(bool, "missing")
    found, monotone = fields.optional_strings("columns", width), fields.signs("monotone", width)
    cuts, lines, between = fields.cuts("cuts", width, missing, scoring.CUTS)
    return _Thresholds(fields.strings("names", len(cuts)), width, found, cuts, missing, lines, monotone, between)
