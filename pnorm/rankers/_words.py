"""A summary of the text of a column, of bounded size: frequent words, and the forms that fit all words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import EXAMPLES
from pnorm._checks import DATE, DURATION, NUMBER, TIME, VALUES, Cells, Coded, Vector
from pnorm.rankers import _forms
from pnorm.rankers._base import Index
from pnorm.rankers._forms import DAY_FIRST, MONTH_FIRST, Form, Marks, Most, Text
from pnorm.rankers._readings import Reading, is_missing
from pnorm.rankers._sketches import EXACT, Distinct, Quantiles, hashes_of_levels, hashes_of_numbers, unique

CHARACTERS = 2**24
"""Characters of the text of a side of a column, at most, that are kept."""

_LENGTH = 1000
"""Characters of a word, at most, that are kept of one of the first."""

_FIRST = 20
"""Words by which it is seen that a form does not fit."""


@dataclass(frozen=True, eq=False)
class Odd:
    """The first value that stands in the way, and its row."""

    value: Any
    row: int


def earlier(a: Odd | None, b: Odd | None) -> Odd | None:
    """Return the one of the earlier row."""
    return a if b is None or (a is not None and a.row <= b.row) else b


# Forms ----------------------------------------------------------------------------------------------

_FORMS = {
    (NUMBER, "."): Form("."),
    (NUMBER, ","): Form(","),
    (DATE, ""): Form(),
    (DATE, DAY_FIRST): Form(order=DAY_FIRST),
    (DATE, MONTH_FIRST): Form(order=MONTH_FIRST),
    (TIME, ""): Form(),
    (DURATION, ""): Form(),
}
"""Forms by kind, and by mark before the fraction or order of day and month."""

_MIXED = {"mixed": "", "mixed .": ".", "mixed ,": ","}
"""Names of the forms in which each number is read by its own mark, with the mark of those that may have either."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """A form that has fitted most values so far, or not."""

    numbers: Quantiles | None
    """What they mean; None if it does not fit."""
    unit: str = ""
    scaled: bool = False
    odds: tuple[Odd, ...] = ()
    """The first values that it does not fit."""
    unread: int = 0
    """Rows with such values."""

    @property
    def odd(self) -> Odd | None:
        return self.odds[0] if self.odds else None

    @property
    def share(self) -> float:
        """The share of the rows that it does not fit."""
        return 1.0 if self.numbers is None else self.unread / max(self.unread + self.numbers.known, 1)

    def merged(self, other: _Fit) -> _Fit:
        odds = {odd.value: odd for odd in sorted((*self.odds, *other.odds), key=lambda odd: -odd.row)}
        found = tuple(sorted(odds.values(), key=lambda odd: odd.row)[:EXAMPLES])
        if self.numbers is None or other.numbers is None:
            return _Fit(None, "", False, found)
        units = {self.unit, other.unit}
        if len(units - {""}) > 1 or (len(units) > 1 and "%" in units):
            return _Fit(None)
        scaled = self.scaled or other.scaled
        return _Fit(self.numbers.merged(other.numbers), max(units), scaled, found, self.unread + other.unread)


@dataclass(frozen=True, eq=False)
class Fits:
    """The forms that fit very many words, with what these mean, read while they are at hand."""

    of: dict[tuple[str, str], _Fit]
    said: frozenset[str]
    """Facts that hold for all words: "plain" if they are plain numbers, "no code" if none is a code, "no ..." for other
    marks, and "thousands ." if each point may stand between thousands."""
    numbers_differ: Odd | None
    dates_differ: Odd | None
    """The first word that means two numbers, or two dates."""
    marks: Marks
    """Counts of the rows by the mark before the fraction of their numbers."""

    @classmethod
    def to(cls, values: Sequence[Any], counts: Index, rows: Index) -> Fits:
        """Return what fits values, of which so many rows have each."""
        words = [value.strip() for value in values if isinstance(value, str)]
        unit = _forms.unit_of(words[:_FIRST]) and _forms.unit_of(words)
        of_number = Form(unit=unit, scaled=_forms.scaled(words))
        fits: dict[tuple[str, str], _Fit] = {}
        meanings: dict[tuple[str, str], Vector | None] = {}
        for (kind, mark), form in _FORMS.items():
            if kind == DATE and mark and fits[DATE, ""].numbers is not None:  # as no date leaves the order open
                fits[kind, mark], meanings[kind, mark] = fits[DATE, ""], meanings[DATE, ""]
                continue
            if kind == NUMBER:
                form = replace(of_number, point=mark)
            fits[kind, mark], meanings[kind, mark] = _fit(Reading(kind, form), values, counts, rows)
        number, date = [any(fit.numbers for of, fit in fits.items() if of[0] == kind) for kind in (NUMBER, DATE)]
        said = {
            "plain": number and all(map(_forms.is_plain, filter(_forms.may_be_number, words))),
            "no code": not (number and _forms.are_codes(words)),
            "no point": not (number and any("." in word for word in words)),
            "no unit": not any(map(_forms.names_time, words)),
            "no dots": not (date and fits[DATE, ""].numbers is None and _forms.has_dots(words)),
            "no digits": not (date and any(word[:8].isdigit() for word in words)),
            "no dashes": not (date and _forms.has_dashes(words)),
            "year first": not date or _forms.may_begin_with_year(words),
            "thousands .": number and _forms.may_have_thousands(filter(_forms.may_be_number, words), "."),
            "thousands ,": number and _forms.may_have_thousands(filter(_forms.may_be_number, words), ","),
        }
        numbers = _differ(meanings, (NUMBER, "."), (NUMBER, ","), values, rows)
        dates = _differ(meanings, (DATE, DAY_FIRST), (DATE, MONTH_FIRST), values, rows)
        mixed, marks = _by_mark(of_number, meanings, values, counts, rows)
        return cls(fits | mixed, frozenset(word for word, so in said.items() if so), numbers, dates, marks)

    @classmethod
    def to_plain(cls, plain: _checks.Plain, column: Any, pointed: Odd) -> Fits:
        """Return what fits a column of plain numbers; `pointed` is one with a decimal point if there is any."""
        there = ~np.isnan(plain.numbers)
        x = plain.numbers[there]
        fit, none = _Fit(Quantiles.of(x)), _Fit(None, "", False, (pointed,))
        fits = dict.fromkeys(_FORMS, none) | {(NUMBER, "."): fit}
        if not plain.point:
            fits[NUMBER, ","] = fit
        is_small = not plain.point and bool((np.abs(x) < 1000.0).all())
        said = (
            ["plain", "no unit", "no dots", "no dashes", "year first"]
            + ["no code"] * (not plain.code)
            + ["no point"] * (not plain.point)
            + ["thousands ."] * (plain.grouped or is_small)
            + ["thousands ,"] * is_small
        )
        fits |= {(NUMBER, name): fit for name in _MIXED}
        marks = Marks()
        if plain.point:
            marked, unclear = _checks.marked(column)
            first = [_first_word(column, mask) for mask in (marked & ~unclear, unclear)]
            counts = [int(np.count_nonzero(mask)) for mask in (marked & ~unclear, unclear)]
            marks = Marks(counts[0], 0, counts[1], (first[0], "", first[1]))
            unclear = unclear[there]
            odds = (Odd(first[1], -1),) * bool(counts[1])
            thousands = np.where(unclear, np.round(1000.0 * x), x)
            fits[NUMBER, "mixed"] = _Fit(Quantiles.of(x[~unclear]), odds=odds, unread=counts[1])
            fits[NUMBER, "mixed ,"] = _Fit(Quantiles.of(thousands))
            if plain.grouped:
                fits[NUMBER, ","] = fits[NUMBER, "mixed ,"]
        return cls(fits, frozenset(said), None, None, marks)

    def merged(self, other: Fits) -> Fits:
        """Return what fits the words of both."""
        fits = {key: fit.merged(other.of[key]) for key, fit in self.of.items()}
        numbers, dates = self.numbers_differ or other.numbers_differ, self.dates_differ or other.dates_differ
        return Fits(fits, self.said & other.said, numbers, dates, self.marks.merged(other.marks))

    def fit(self, reading: Reading) -> _Fit:
        """Return what the words mean to a reading, as far as it is one of these forms."""
        mark = (reading.form.point or ".") if reading.kind == NUMBER else reading.form.order
        if reading.form.mixed:
            mark = next(name for name, point in _MIXED.items() if point == reading.form.point)
        return self.of.get((reading.kind, mark), _Fit(None))


def _fit(reading: Reading, values: Sequence[Any], counts: Index, rows: Index) -> tuple[_Fit, Vector | None]:
    """Return whether a reading fits most values, and what they mean."""
    for some in (values[:_FIRST], values):
        meanings = reading.meanings(some)
        odd = [k for k, meaning in enumerate(meanings) if meaning is None]
        odds = tuple([Odd(values[k], int(rows[k])) for k in odd[:EXAMPLES]])
        if 2 * len(odd) > len(some):
            return _Fit(None, "", False, odds), None
    x = np.array([np.nan if meaning is None else meaning for meaning in meanings], np.float64)
    there, form = ~np.isnan(x), reading.form
    numbers = Quantiles.of(x[there], counts[there], reading.kind == DATE)
    return _Fit(numbers, form.unit, form.scaled, odds, int(counts[odd].sum())), x


def _by_mark(
    form: Form, meanings: dict[tuple[str, str], Vector | None], values: Sequence[Any], counts: Index, rows: Index
) -> tuple[dict[tuple[str, str], _Fit], Marks]:
    """Return how numbers fit if each is read by its own mark, and how many rows have which mark.

    `meanings` are what they mean with a decimal point and with a comma, where most values have these.
    """
    some = Reading(NUMBER, replace(form, point=".", mixed=True)).meanings(values[:_FIRST])
    both = []
    if 2 * list(some).count(None) <= len(some):
        for point in _forms.MARKS:
            x = meanings[NUMBER, point]
            if x is None:
                found = Reading(NUMBER, replace(form, point=point)).meanings(values)
                x = np.array([np.nan if meaning is None else meaning for meaning in found], np.float64)
            both.append(x)
    if not both or 2 * np.count_nonzero(np.isnan(both).all(axis=0)) > len(values):
        return {(NUMBER, name): _Fit(None) for name in _MIXED}, Marks()
    a, b = both
    of_point, of_comma = ~np.isnan(a), ~np.isnan(b)
    unclear = of_point & of_comma & (a != b)
    kinds = of_point & ~of_comma, of_comma & ~of_point, unclear
    of_kinds = [int(counts[kind].sum()) for kind in kinds]
    first = [values[int(np.argmax(kind))].strip() if kind.any() else "" for kind in kinds]
    fits: dict[tuple[str, str], _Fit] = {}
    for name, point in _MIXED.items():
        x = np.where(of_point, a, b)
        if unclear.any():
            x[unclear] = {".": a, ",": b}[point][unclear] if point else np.nan
        elif fits:
            fits[NUMBER, name] = fits[NUMBER, "mixed"]
            continue
        there = ~np.isnan(x)
        odd = np.flatnonzero(~there)
        odds = tuple([Odd(values[k], int(rows[k])) for k in odd[:EXAMPLES].tolist()])
        fits[NUMBER, name] = _Fit(
            Quantiles.of(x[there], counts[there]), form.unit, form.scaled, odds, int(counts[odd].sum())
        )
    return fits, Marks(of_kinds[0], of_kinds[1], of_kinds[2], (first[0], first[1], first[2]))


def _first_word(column: Any, mask: NDArray[np.bool_]) -> str:
    """Return the first word of a column that is chosen, "" if none is."""
    if not mask.any():
        return ""
    word: str = _checks.listed(_checks.rows(column, np.flatnonzero(mask)[:1]))[0]
    return word.strip()


def _differ(meanings: Any, one: Any, other: Any, values: Sequence[Any], rows: Index) -> Odd | None:
    """Return the first value to which two readings give different meanings."""
    a, b = meanings[one], meanings[other]
    if a is None or b is None:
        return None
    differ = (a != b) & ~np.isnan(a) & ~np.isnan(b)
    if not differ.any():
        return None
    k = int(np.argmax(differ))
    return Odd(values[k], int(rows[k]))


class FittedText(Text):
    """Text of which only some words are kept, and the forms that fit all."""

    def __init__(self, words: Sequence[str], fits: Fits) -> None:
        super().__init__(words)
        self._fits = fits

    def _fit(self, kind: str, mark: str = "", spare: float = 0.0) -> _Fit | None:
        fit = self._fits.of[kind, mark]
        return fit if fit.numbers is not None and fit.share <= spare else None

    def number(self) -> tuple[Form | None, str]:
        return self._number(0.0)

    def _number(self, spare: float) -> tuple[Form | None, str]:
        of_point, of_comma = self._fit(NUMBER, ".", spare), self._fit(NUMBER, ",", spare)
        if of_point is not None and of_comma is not None and of_point.unread != of_comma.unread:
            of_point, of_comma = (of_point, None) if of_point.unread < of_comma.unread else (None, of_comma)
        said = self._fits.said
        if "no code" not in said:
            return None, ""
        if "plain" in said and of_point is not None:
            if of_comma is not None and "thousands ." in said and _forms.has_thousands(self.words, "."):
                return Form(","), ""
            return Form("" if "no point" in said else "."), ""
        if of_point is None or of_comma is None:
            fit, point = (of_point, ".") if of_point is not None else (of_comma, ",")
            return (None if fit is None else Form(point, fit.unit, scaled=fit.scaled)), ""
        if self._fits.numbers_differ is None:
            return Form("", of_point.unit, scaled=of_point.scaled), ""
        if of_point.unit not in ("", "%"):
            sizes = [
                float(np.abs(x) @ n) for x, n in [of.numbers.points() for of in (of_point, of_comma) if of.numbers]
            ]
            return Form("." if sizes[0] > sizes[1] else ",", of_point.unit, scaled=of_point.scaled), ""
        if not (of_point.unit or of_point.scaled) and "thousands ," in said and _forms.has_thousands(self.words, ","):
            return Form("."), ""
        return None, _forms.two_numbers(self._fits.numbers_differ.value.strip())

    def unit(self) -> str:
        found = [fit.unit for fit in (self._fit(NUMBER, "."), self._fit(NUMBER, ",")) if fit is not None]
        return max(found, default=super().unit())

    def scaled(self) -> bool:
        return any(self._fits.of[NUMBER, point].scaled for point in _forms.MARKS) or super().scaled()

    def date(self, digits: bool = False) -> tuple[Form | None, str]:
        return self._date(0.0, digits)

    def _date(self, spare: float, digits: bool = False) -> tuple[Form | None, str]:
        if not digits and "no digits" not in self._fits.said:
            return None, ""
        if self._fit(DATE, "", spare) is not None:
            return Form(), ""
        day, month = self._fit(DATE, DAY_FIRST, spare), self._fit(DATE, MONTH_FIRST, spare)
        if day is not None and month is not None and day.unread != month.unread:
            day, month = (day, None) if day.unread < month.unread else (None, month)
        if (day is not None or month is not None) and "no dashes" not in self._fits.said:
            word = next(filter(lambda word: _forms.has_dashes((word,)), self.words), "")
            if word and "year first" in self._fits.said:
                return None, _forms.three_dates(word)
        if day is not None and month is not None and self._fits.dates_differ is not None:
            if "no dots" not in self._fits.said:
                return Form(order=DAY_FIRST), ""
            return None, _forms.two_dates(self._fits.dates_differ.value.strip())
        if day is not None:
            return Form(order=DAY_FIRST), ""
        return (None if month is None else Form(order=MONTH_FIRST)), ""

    def most(self, n_rows: Mapping[str, int], spare: float) -> Most:
        """Return the reading of nearly all words; `n_rows` and `spare` are of some words, and do not count here."""
        found = [self.most_of(kind, n_rows) for kind in (NUMBER, DATE, TIME, DURATION)]
        fit = [of for of in found if (of.form is not None or of.doubt) and of.lost <= _forms.TOLERATED]
        best = (fit or sorted(found, key=lambda of: of.lost if of.form is not None or of.doubt else math.inf))[0]
        rows = spare / _forms.TOLERATED
        return replace(best, lost=best.lost * rows)

    def most_of(self, kind: str, n_rows: Mapping[str, int]) -> Most:
        marks = {NUMBER: (".", ","), DATE: ("", DAY_FIRST, MONTH_FIRST)}.get(kind, ("",))
        if kind == NUMBER and self._fits.marks.mixed:
            marks = (*marks, "mixed")
        share = min([self._fits.of[kind, mark].share for mark in marks])
        if share >= 1.0 or (kind == DURATION and "no unit" in self._fits.said):
            found = _forms.most_numbers(self.words, dict.fromkeys(self.words, 1)) if kind == NUMBER else None
            if found is not None and found.form is None and found.doubt:  # in several currencies
                return Most(kind, None, found.doubt, (), 0.0)
            return Most(kind, None, "", (), math.inf)
        if kind == NUMBER and self._fits.marks.mixed and "no code" in self._fits.said:
            return self._by_mark()
        of_kind: dict[str, Callable[[float], tuple[Form | None, str]]] = {NUMBER: self._number, DATE: self._date}
        form, doubt = of_kind[kind](share) if kind in of_kind else (Form(), "")
        fit = min([self._fits.of[kind, mark] for mark in marks], key=lambda fit: fit.share)
        words = {odd.value.strip(): None for odd in fit.odds if isinstance(odd.value, str)}
        return Most(kind, form, doubt, tuple(words) if len(fit.odds) < EXAMPLES else (), share)

    def _by_mark(self) -> Most:
        """Return the reading of numbers by the mark of each; `lost` is a share."""
        fit = self._fits.of[NUMBER, "mixed"]
        n = 0 if fit.numbers is None else fit.unread + fit.numbers.known
        if n == 0:
            return Most(NUMBER, None, "", (), math.inf)
        words = tuple([odd.value.strip() for odd in fit.odds if isinstance(odd.value, str)])
        form = Form(unit=fit.unit, scaled=fit.scaled, mixed=True)
        most = Most(NUMBER, form, "", words if len(fit.odds) < EXAMPLES else (), fit.unread)
        found = _forms.by_mark(most, self._fits.marks, n)
        return replace(found, lost=found.lost / n)

    def is_time(self) -> bool:
        return self._fit(TIME) is not None

    def is_duration(self) -> bool:
        if self._fit(DURATION) is None:
            return False
        return "no unit" not in self._fits.said or _forms.many_beyond_a_day(self.words)


# Words ----------------------------------------------------------------------------------------------


class Words:
    """How often one side of a column has each text, or value of a mixed column, and the first row that has it.

    Up to `EXACT` values and `CHARACTERS` of text all are kept. Of more, the most frequent ones are, as Misra and Gries
    count them: what the next one counts is taken off all counts. No count is too large, and none too small by more than
    n / m of n rows, where m is how many are kept. The forms that fit all words are kept as well, and what these mean.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.counts = np.empty(0, np.int64)
        self.rows = np.empty(0, np.int64)
        self.known = 0
        """Rows with a value."""
        self.lost = 0
        """How many rows, at most, a count is too small by."""
        self.distinct: Distinct | None = None
        self.fits: Fits | None = None
        self.some: list[tuple[str, int]] = []
        """Where not all values are kept: how many are different, the forms that fit all, and the first words and their
        rows."""

    @classmethod
    def of(cls, found: Coded, rows: Index) -> Words:
        """Return the counts of values that are not missing, in rows of such numbers."""
        counts = np.bincount(found.codes, minlength=len(found.values))
        first = np.full(len(found.values), -1)
        first[found.codes[::-1]] = rows[::-1]
        there = np.flatnonzero(counts)
        there = there[np.argsort(first[there])]
        values = [found.values[k] for k in there.tolist()]
        if set(map(type, values)) <= {str}:  # of which most are no word for a missing one by their length
            known = [len(word) > 4 or not is_missing(word) for word in map(str.strip, values)]
        else:
            known = [not is_missing(value) for value in values]
        new = cls()
        new.values, there = list(itertools.compress(values, known)), there[np.array(known, bool)]
        new.counts, new.rows = counts[there], first[there]
        new.known = int(new.counts.sum())
        new._trim()
        return new

    @classmethod
    def of_plain(cls, column: Any, plain: _checks.Plain, rows: Index) -> Words | None:
        """Return what is kept of text that is plain numbers, if very many are different: these, and the first words."""
        there = np.flatnonzero(~np.isnan(plain.numbers))
        different, _ = unique(plain.numbers[there])
        if different.size <= EXACT:
            return None
        new = cls()
        new.known, new.lost = there.size, there.size
        new.distinct = Distinct()
        new.distinct.add(hashes_of_numbers(different))
        some = there[: _forms.SOME]
        new.some = list(zip(_checks.listed(_checks.rows(column, some)), rows[some].tolist(), strict=True))
        pointed = next((pair for pair in new.some if "." in pair[0]), new.some[0])
        new.fits = Fits.to_plain(plain, column, Odd(*pointed))
        return new

    def merged(self, other: Words) -> Words:
        """Return the counts of the rows of both."""
        new = Words()
        number: dict[Any, int] = {}
        at = [
            np.array([number.setdefault(_key(value), len(number)) for value in of.values], np.intp)
            for of in (self, other)
        ]
        new.values = self.values + [other.values[k] for k in np.flatnonzero(at[1] >= len(self.values)).tolist()]
        new.counts, new.rows = np.zeros(len(number), np.int64), np.full(len(number), np.iinfo(np.int64).max)
        for of, places in zip((self, other), at, strict=True):
            new.counts[places] += of.counts
            new.rows[places] = np.minimum(new.rows[places], of.rows)
        new.known, new.lost = self.known + other.known, self.lost + other.lost
        if self.distinct is not None or other.distinct is not None:
            new._of_many(self, other)
        new._trim()
        return new

    def cells(self) -> Cells:
        """Return a column that has each value once."""
        return Cells(VALUES, Coded(self.values, np.arange(len(self.values))))

    def text(self) -> list[str]:
        """Return different words without the blanks around them, or the first ones of very many."""
        values = self.values if self.distinct is None else [word for word, _ in self.some]
        return [value.strip() for value in values if isinstance(value, str)]

    def fitted(self) -> Fits:
        """Return the forms that fit all values."""
        return Fits.to(self.values, self.counts, self.rows) if self.fits is None else self.fits

    def _first(self) -> list[tuple[str, int]]:
        if self.distinct is not None:
            return self.some
        some = zip(self.values[: _forms.SOME], self.rows[: _forms.SOME].tolist(), strict=True)
        return [(value[:_LENGTH], row) for value, row in some if isinstance(value, str)]

    def _of_many(self, a: Words, b: Words) -> None:
        """Keep what is not told by the values any more."""
        self.distinct = a._counted()
        self.distinct.merge(b._counted())
        self.fits = a.fitted().merged(b.fitted())
        self.some = sorted({**dict(b._first()), **dict(a._first())}.items(), key=lambda pair: pair[1])[: _forms.SOME]

    def _counted(self) -> Distinct:
        if self.distinct is not None:
            return self.distinct.copy()
        found = Distinct()
        found.add(hashes_of_levels([value.strip() if isinstance(value, str) else value for value in self.values]))
        return found

    def _trim(self) -> None:
        """Keep the most frequent values, where there are too many."""
        lengths = [len(value) if isinstance(value, str) else 8 for value in self.values]
        if len(lengths) <= EXACT and sum(lengths) <= CHARACTERS:
            return
        if self.distinct is None:
            self.fits, self.some, self.distinct = self.fitted(), self._first(), self._counted()
        order = np.argsort(-self.counts, kind="stable")
        most = min(EXACT, int(np.searchsorted(np.cumsum(np.array(lengths)[order]), CHARACTERS, "right")))
        least = int(self.counts[order[most]]) if most < order.size else 0
        kept = np.sort(order[:most])
        kept = kept[self.counts[kept] > least]
        self.values = [self.values[k] for k in kept.tolist()]
        self.counts, self.rows, self.lost = self.counts[kept] - least, self.rows[kept], self.lost + least


def _key(value: Any) -> Any:
    return value if type(value) is str else _checks.key(value)
