"""Summaries of batches of rows, which merge and determine the weak rankers of a table."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import EXAMPLES, Unread
from pnorm._checks import BOOLEAN, DATE, DURATION, NUMBER, TIME, UNREAD, VALUES, Cells, Coded, Lines, Vector
from pnorm.rankers import _forms
from pnorm.rankers._base import Found, Index, Rankers, names_of
from pnorm.rankers._columns import InOrder, of_cuts
from pnorm.rankers._forms import Text
from pnorm.rankers._from_table import ReadAs, made, read_as
from pnorm.rankers._readings import CATEGORY, Reading, Where, derived
from pnorm.rankers._sides import LEAST, Column, Numbers, Side, Tally, Written, tally_of
from pnorm.rankers._sketches import Quantiles, hashes_of_levels, unique
from pnorm.rankers._table import Table
from pnorm.rankers._words import Fits, FittedText, Odd, Words, earlier

_NUMERIC = (NUMBER, BOOLEAN, DATE, DURATION, TIME)


@dataclass(frozen=True, eq=False)
class SideSummary:
    """The summary of a column of the rows of one side."""

    size: int = 0
    missing: int = 0
    numbers: Mapping[str, Quantiles] = field(default_factory=dict)
    """Numbers by the kind of the values, as of `Cells`."""
    words: Words | None = None
    unread: Odd | None = None
    """A value that cannot be used."""
    infinite: Odd | None = None
    gap: Odd | None = None
    """A value that is missing, in a column of numbers."""
    types: tuple[str, ...] = ()
    """The kind of values that cannot be used."""
    order: tuple[Any, ...] | None = None
    declared: bool = False
    written: Written | None = None

    @classmethod
    def of(cls, cells: Cells, rows: Index) -> SideSummary:
        """Return what is kept of cells, which are in rows of such numbers."""
        n, kind = len(cells), cells.kind
        if n == 0:
            return cls()
        if kind in _NUMERIC:
            x = np.asarray(cells.values, np.float64)
            known = x[~np.isnan(x)]
            gap = Odd(np.nan, int(rows[np.argmax(np.isnan(x))])) if known.size < n else None
            if not known.size:
                return cls(n, n, gap=gap)
            infinite, wrong = None, np.isinf(known)
            if wrong.any():
                row = int(np.argmax(np.isinf(x)))
                infinite, known = Odd(float(x[row]), int(rows[row])), known[~wrong]
            of_kind = {kind: Quantiles.of(known, dates=kind == DATE)}
            return cls(n, int(np.count_nonzero(np.isnan(x))), of_kind, infinite=infinite, gap=gap)
        plain, words = cells.plain, None
        if plain is not None and not plain.comma and not plain.code:
            words = Words.of_plain(cells.given, plain, rows)
        if words is None and isinstance(cells.values, Coded):
            words = Words.of(cells.values, rows)
        if words is not None:
            new = cls(n, n - words.known, words=words)
            if not words.known:
                return replace(new, words=None)
            if kind == UNREAD:
                row = cells.odd()
                return replace(new, unread=Odd(cells.value(row), int(rows[row])), types=(cells.type,))
            written = None if plain is None else Written.of(plain)
            return replace(new, order=cells.order, declared=cells.declared, written=written)
        there = cells.known()
        if not there.any():
            return cls(n, n)
        row = cells.odd()
        odd = Odd(cells.value(row), int(rows[row]))
        return cls(n, int(np.count_nonzero(~there)), unread=odd, types=(cells.type,))

    @property
    def known(self) -> int:
        """Rows with a value."""
        return self.size - self.missing

    def merged(self, other: SideSummary) -> SideSummary:
        """Return the summary of the rows of both; a column without values does not affect the kind."""
        numbers = dict(self.numbers)
        for kind, of in other.numbers.items():
            numbers[kind] = numbers[kind].merged(of) if kind in numbers else of
        words = self.words
        if other.words is not None:
            words = other.words if words is None else words.merged(other.words)
        both = [side for side in (self, other) if side.known]
        written = [side.written for side in both]
        return SideSummary(
            self.size + other.size,
            self.missing + other.missing,
            numbers,
            words,
            earlier(self.unread, other.unread),
            earlier(self.infinite, other.infinite),
            earlier(self.gap, other.gap),
            tuple(sorted({*self.types, *other.types})),
            both[0].order if both and all(side.order == both[0].order for side in both) else None,
            bool(both) and all(side.declared for side in both),
            _both_written([of for of in written if of is not None]) if None not in written else None,
        )


def _both_written(written: Sequence[Written]) -> Written | None:
    if not written or any(of.comma != written[0].comma for of in written):
        return None
    with_point = [of for of in written if of.point]
    grouped = bool(with_point) and all(of.grouped for of in with_point)
    return Written(True, bool(with_point), any(of.code for of in written), written[0].comma, grouped)


@dataclass(frozen=True, eq=False)
class _Place(Where):
    """A column of which few values have a row."""

    def refuse(self, value: Any, row: int, was: str) -> ValueError:
        found = self.row(row)
        return _checks.unread(value, self.name, found if found >= 0 else None, self.column, self.names, was, self.known)


class _SummarizedSide(Side):
    def __init__(self, found: SideSummary, at: Where) -> None:
        self.found, self._at, self._numbers = found, at, [*found.numbers.values()]
        self._tally: Tally | None = None
        self.size, self.order, self.declared, self.written = found.size, found.order, found.declared, found.written
        self.type, kinds = " and ".join(found.types[:3]), {*found.numbers}
        if found.words is not None and found.unread is None:
            kinds.add(VALUES)
        if found.unread is not None:
            self.kind = UNREAD
        elif len(kinds) == 1:
            (self.kind,) = kinds
        elif kinds <= {VALUES, NUMBER, BOOLEAN}:
            self.kind = NUMBER if kinds and VALUES not in kinds else VALUES
        else:
            self.kind, self.type = (
                UNREAD,
                " and ".join(sorted("text" if kind == VALUES else kind for kind in kinds)[:3]),
            )

    @property
    def missing(self) -> int:
        return self.found.missing

    def cells(self) -> list[tuple[Cells, Index, Where]]:
        """Return columns that have each value once, how many rows each stands for, and where these are."""
        found = []
        for kind, of in self.found.numbers.items():
            x, counts = of.points()
            rows = np.full(x.size, -1)
            if kind == NUMBER and self.found.infinite is not None:
                odd = self.found.infinite
                x, counts, rows = np.append(x, odd.value), np.append(counts, 1), np.append(rows, odd.row)
            found.append((Cells(kind, x), counts, self._where(rows)))
        words = self.found.words
        if words is not None:
            found.append((replace(words.cells(), order=self.order), words.counts, self._where(words.rows)))
        if self.found.unread is not None and words is None:
            odd = self.found.unread
            found.append((Cells(UNREAD, [odd.value], type=self.type), np.ones(1, np.int64), self._where([odd.row])))
        return found

    def _where(self, rows: Any) -> Where:
        at = self._at
        return _Place(at.name, at.column, at.names, at.known, np.asarray(rows, np.intp))

    def mixed(self) -> tuple[Sequence[Any], Index]:
        words = self.found.words
        if words is None or words.distinct is not None or self.found.numbers:
            return [], np.empty(0, np.int64)
        return words.values, words.counts

    def tally(self) -> Tally:
        if self._tally is None:
            self._tally = self._counted()
        return self._tally

    def _counted(self) -> Tally:
        if self.kind not in (VALUES, NUMBER, BOOLEAN):
            return Tally(Counter(), self.missing)
        text = self.found.words
        lost = text.lost if text is not None else 0
        counts: Counter[Any] = Counter()
        words, numbers, finite = list[str](), False, True
        for k, (cells, n_rows, _) in enumerate(self.cells()):
            if k < len(self._numbers) and not self._numbers[k].exact:
                lost, numbers = lost + self._numbers[k].known, True
                continue
            tally = tally_of(cells, n_rows)
            counts.update(tally.counts)
            words, numbers, finite = words + tally.words, numbers or tally.numbers, finite and tally.finite
        known = self.size - self.missing
        distinct = None
        if text is not None and text.distinct is not None:
            words, distinct = text.text(), text.distinct.copy()
            distinct.add(hashes_of_levels([value for value in counts if not isinstance(value, str)]))
        return Tally(counts, self.missing, words, numbers, finite, known, lost, distinct)

    def refuse_levels(self) -> None:
        for cells, _, at in self.cells():
            Reading(CATEGORY).codes(cells, at)

    def quantiles(self, reading: Reading) -> tuple[Quantiles, Unread]:
        """Return the numbers that a reading gives, and counts of values that do not read."""
        all_of, words = Quantiles(reading.kind == DATE), self.found.words
        unread = reading.no_unread(self._at)
        if words is not None and words.fits is not None:
            all_of, unread = self._fitted(words, words.fits, reading)
        for k, (cells, counts, at) in enumerate(self.cells()):
            if cells.kind == VALUES and words is not None and words.fits is not None:
                continue  # all is read already
            x, of_cells = reading.read(cells, at, counts)
            unread = unread + of_cells
            there = ~np.isnan(x)
            x, counts = x[there], counts[there]
            if k < len(self._numbers) and not self._numbers[k].exact and np.array_equal(x, np.asarray(cells.values)):
                all_of = all_of.merged(self._numbers[k])
            else:
                all_of = all_of.merged(Quantiles.of(x, counts, reading.kind == DATE))
        return all_of, unread

    def _fitted(self, words: Words, fits: Fits, reading: Reading) -> tuple[Quantiles, Unread]:
        """Return what a reading makes of text of which only some is kept."""
        fit = fits.fit(reading)
        if fit.numbers is None:
            values, rows = [list(of) for of in zip(*words.some, strict=True)]
            if fit.odd is not None:
                values, rows = [*values, fit.odd.value], [*rows, fit.odd.row]
            cells, at = Cells(VALUES, Coded(values, np.arange(len(values)))), self._where(rows)
            x = reading.numbers(cells, at)
            odd = int(np.argmax(np.isnan(x))) if np.isnan(x).any() else len(values) - 1
            raise at.refuse(values[odd], odd, reading.called())
        unread, odds = fit.unread, fit.odds
        if reading.missing:  # the others are these words
            unread = fits.marks.unclear if reading.form.mixed and not reading.form.point else 0
            odds = tuple([odd for odd in odds if unread and _forms.may_be_number(odd.value.strip())])
        return fit.numbers, reading.of_odd(
            words.known - fit.unread + unread,
            unread,
            [(odd.value, odd.row) for odd in odds],
            self._at,
            len(fit.odds) < EXAMPLES,
        )


class _SummarizedColumn(Column):
    def __init__(self, sides: Sequence[SideSummary], at: Where) -> None:
        self._sides = [_SummarizedSide(side, at) for side in sides]
        self.sides = self._sides

    def text(self) -> Text:
        fits = [side.found.words.fits for side in self._sides if side.found.words is not None]
        if not any(fits):
            return super().text()
        words = [side.found.words for side in self._sides if side.found.words is not None]
        all_of = list(dict.fromkeys([word for of in words for word in of.text()]))
        return FittedText(all_of[: _forms.SOME], functools.reduce(Fits.merged, [of.fitted() for of in words]))

    def numbers(self, reading: Reading) -> Numbers:
        found, unread = zip(*[side.quantiles(reading) for side in self._sides], strict=True)
        return _Points(found, [side.size for side in self._sides], unread)


class _Points(Numbers):
    def __init__(self, sides: Sequence[Quantiles], sizes: Sequence[int], unread: Sequence[Unread]) -> None:
        self._sides, self.unread = sides, unread
        self.missing = [size - side.known for side, size in zip(sides, sizes, strict=True)]

    @cached_property
    def _points(self) -> list[tuple[Vector, Index]]:
        return [side.points() for side in self._sides]

    def points(self) -> Sequence[tuple[Vector, Index]]:
        return self._points

    def auc(self) -> float:
        (a, of_a), (b, of_b) = self._points
        if min(side.known for side in self._sides) < LEAST:
            return 0.5
        below = np.r_[0, of_b.cumsum()].astype(np.float64)
        pairs = of_a * (below[b.searchsorted(a)] + below[b.searchsorted(a, "right")])
        return float(pairs.sum() / (2.0 * below[-1] * of_a.sum()))

    def in_order(self, of: str) -> InOrder:
        if of == "hour":
            counts = self._clock(of)
            hours = np.flatnonzero(counts)
            return InOrder(hours.astype(np.float64), counts[hours].cumsum(), False, hours.size)
        x, counts = unique(*map(np.concatenate, zip(*self._points, strict=True)))
        x, counts = unique(derived(of, x), counts)
        n = x.size
        if not all(side.exact for side in self._sides):
            distinct = self._sides[0].distinct()
            distinct.merge(self._sides[1].distinct())
            n = max(min(distinct.count(), sum([side.known for side in self._sides])), n)
        return InOrder(x, counts.cumsum(), any(self.missing), n)

    def present(self, of: str) -> list[int]:
        found: list[int] = np.flatnonzero(self._clock(of)).tolist()
        return found

    def _clock(self, of: str) -> Index:
        a, b = [side.clock()[of] for side in self._sides]
        return a + b


class TableSummary:
    """The summary of the rows so far, which determines the weak rankers of a table.

    A summary of one batch of rows merges with that of the next one. The weak rankers are those that `from_table` makes
    of all rows, as long as each side of a column has at most 65,536 different values. Beyond, cuts are placed from
    points of the distribution, and the share of rows up to a cut is wrong by less than 1 / 2,000 for 10,000 batches,
    as `Quantiles` tells. The most frequent levels keep their indicators, with counts that are too small by at most
    1 / 65,536 of the rows. The number of different values is an estimate, with a standard error below 1 %. Weekdays,
    hours and months of dates are counted exactly. Of a column of numbers, a summary takes 1 MB for a million rows and
    some 10 MB for 10^9; of one of text, 65,536 words or 16 million characters a side, and the same for each form that
    fits more of them.
    """

    def __init__(
        self, name: str, found: Found, width: int, sizes: tuple[int, int], sides: Sequence[Sequence[SideSummary]]
    ) -> None:
        self._name, self._found, self._width, self._sides = name, found, width, sides
        self.n_pos, self.n_neg = sizes

    @classmethod
    def of(cls, X: Any, positive: NDArray[np.bool_], first_row: int | Index = 0, name: str = "rows") -> TableSummary:
        """Return the summary of a batch of rows.

        Parameters
        ----------
        X : table of n rows
            In any of the forms that `from_table` takes; there may be no rows.
        positive : array of bool, shape (n,)
            Whether a row is positive.
        first_row : int or array of int, shape (n,)
            The number of the first row in messages, or of every row.
        name : str
            What messages call the rows.
        """
        positive = np.asarray(positive, bool)
        if _is_empty(X):
            found = tuple([str(key) for key in X]) if _checks.is_columns(X) else _checks.column_names(X)
            width = len(found) if found is not None else (_checks.shape_of(X) or (0, 0))[-1]
            return cls(name, found, width, (0, 0), [[SideSummary(), SideSummary()]] * width)
        X = _checks.from_records(X, name)
        found, width = _checks.headings(X, name)
        if positive.shape != (_checks.n_rows(X, name),):
            raise ValueError(
                f"positive must have one truth value for each of the {_checks.n_rows(X, name)} rows of "
                f"{name}; got shape {positive.shape}"
            )
        places = [np.flatnonzero(side) for side in (positive, ~positive)]
        numbers = first_row + np.arange(positive.size) if np.ndim(first_row) == 0 else np.asarray(first_row, np.intp)
        sides = []
        for c in range(width):
            (cells,) = _checks.cells_of(X, name, found, width, [c])
            sides.append([SideSummary.of(cells.take(rows), numbers[rows]) for rows in places])
        return cls(name, found, width, (places[0].size, places[1].size), sides)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, ``x0``, ``x1``, ... where they have none."""
        return self._found or tuple([f"x{c}" for c in range(self._width)])

    def merge(self, other: TableSummary) -> TableSummary:
        """Return the summary of the rows of both, those of `other` after these."""
        if other._width == 0 or self._width == 0:
            return self if other._width == 0 else other
        order: Sequence[int] = range(self._width)
        if self._found is not None and other._found is not None:
            _checks.same_batch_columns(self._found, other._found, self._name)
            order = _checks.places(other._found, self._found, self._name)
        elif self._width != other._width:
            raise ValueError(
                f"a batch of {self._name} has {other._width} columns, and the ones before it have {self._width}; all "
                "batches need the same columns"
            )
        sides = [
            [mine.merged(theirs) for mine, theirs in zip(own, other._sides[c], strict=True)]
            for own, c in zip(self._sides, order, strict=True)
        ]
        sizes = (self.n_pos + other.n_pos, self.n_neg + other.n_neg)
        return TableSummary(self._name, self._found or other._found, self._width, sizes, sides)

    def rankers(
        self,
        *,
        kinds: Mapping[Any, Any] | None = None,
        n_cuts: int = 255,
        linear: Lines | None = False,
        monotone: Mapping[Any, int] | None = None,
        min_rows: int | None = None,
        max_levels: int = 255,
    ) -> Table:
        """Return what `from_table` makes of the rows; the parameters are those of `made`."""
        self._need_both_sides()
        return made(
            self._column,
            self._name,
            self._found,
            self._width,
            self.n_pos + self.n_neg,
            kinds=kinds,
            n_cuts=n_cuts,
            linear=linear,
            monotone=monotone,
            min_rows=min_rows,
            max_levels=max_levels,
            n_threads=1,
        )

    def read_as(self, kinds: Mapping[Any, Any] | None = None) -> tuple[ReadAs, Numbers | None]:
        """Return how `from_table` reads the only column, and its numbers; None if it is a category."""
        column = self._column(0)
        found = read_as(column, self.columns[0], kinds)
        return found, None if found.reading.kind == CATEGORY else column.numbers(found.reading)

    def thresholds(
        self,
        n_cuts: int = 255,
        *,
        names: Sequence[str] | None = None,
        missing: str = "error",
        monotone: Mapping[Any, int] | None = None,
        linear: Lines = False,
    ) -> Rankers:
        """Return what `quantile_thresholds` makes of the rows; the parameters are its own."""
        n_cuts = _checks.count(n_cuts, "n_cuts", 1)
        own = _checks.choice(missing, "missing", ("error", "own")) == "own"
        linear = _checks.lines(linear)
        self._need_both_sides()
        labels = names_of(names, self._found, self._width)
        signs = _checks.monotone(monotone, labels, self._name)
        placed = {}
        for c in range(self._width):
            self._refuse_others_than_numbers(c, own)
            placed[c] = self._column(c).numbers(Reading(NUMBER)).in_order("").cuts(n_cuts, linear)
        return of_cuts(placed, self._width, self._found, labels, own, signs)

    def _column(self, c: int) -> Column:
        return _SummarizedColumn(self._sides[c], Where(self._name, c, self._found, False))

    def _need_both_sides(self) -> None:
        for what, n in (("positive", self.n_pos), ("negative", self.n_neg)):
            if n == 0:
                raise ValueError(f"{self._name} has no {what} rows; both positive and negative rows are needed")

    def _refuse_others_than_numbers(self, c: int, own: bool) -> None:
        for side in self._sides[c]:
            what = self._name, c, self._found
            words = side.words
            if words is not None:
                pairs = [*words.some, *zip(words.values, words.rows.tolist(), strict=True)]
                for value, row in pairs:
                    if _checks.kind_of(value) not in (NUMBER, BOOLEAN):
                        raise _checks.no_real(value, what[0], row, *what[1:], own)
            if side.unread is not None:
                raise _checks.no_real(side.unread.value, what[0], side.unread.row, *what[1:], own)
            if not {*side.numbers} <= {NUMBER, BOOLEAN}:
                kind = next(kind for kind in side.numbers if kind not in (NUMBER, BOOLEAN))
                raise TypeError(
                    f"{self._name} has a {kind} in {_checks.column_called(c, self._found)}; every value must be a real "
                    f"number: {_checks.advice(True, own)}"
                )
            for odd in (side.infinite, None if own else side.gap):
                if odd is not None:
                    raise _checks.not_finite(odd.value, what[0], odd.row, *what[1:], own)


def _is_empty(X: Any) -> bool:
    if _checks.is_columns(X):
        X = next(iter(X.values()), ())
    shape = _checks.shape_of(X)
    return (shape[0] if shape else len(X)) == 0
