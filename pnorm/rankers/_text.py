"""The different words of a column, and the forms that fit them."""

from __future__ import annotations

import functools
import heapq
import math
import zlib
from collections.abc import Callable, Mapping, Sequence

from pnorm._checks import DATE, DURATION, NUMBER, TIME
from pnorm.rankers._forms import Form, Most, _most, all_of
from pnorm.rankers._numbers import may_be_number, most_numbers, number_form, scaled, unit_of
from pnorm.rankers._times import _is_date, _is_time, are_durations, date_form, duration, meaning_of_m, most_dates, time

SOME = 2000
"""Words, at most, of which it is looked whether most are numbers, or dates; of more, those with the smallest checksums,
so that their order does not decide."""


class Text:
    """The different words of a column, and the forms that fit all of them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def number(self) -> tuple[Form | None, str]:
        """Return the form in which all are numbers, or none and what is in doubt."""
        return number_form(self.words) if self.words else (None, "")

    def most(self, n_rows: Mapping[str, int], spare: float) -> Most:
        """Return the reading of nearly all words as numbers, dates, times or durations.

        `n_rows` is how many rows have each word, and `spare` how many rows may have a word that does not read.
        """
        found = [self.most_of(kind, n_rows) for kind in (NUMBER, DATE, TIME, DURATION)]
        fit = [of for of in found if (of.form is not None or of.doubt) and of.lost <= spare]
        return (fit or sorted(found, key=lambda of: of.lost if of.form is not None or of.doubt else math.inf))[0]

    def most_of(self, kind: str, n_rows: Mapping[str, int]) -> Most:
        """Return the reading of most words as a kind."""
        words = self.words
        m = meaning_of_m(words) if kind == DURATION else ""
        as_kind: dict[str, Callable[[str], bool]] = {NUMBER: may_be_number, DATE: _is_date, TIME: _is_time}
        reads = as_kind.get(kind, lambda word: duration(word, m) is not None)
        if not words or 2 * sum(map(reads, self._some)) < len(self._some):
            return Most(kind, None, "", (), math.inf)
        if kind in (NUMBER, DATE):
            return (most_numbers if kind == NUMBER else most_dates)(words, n_rows)
        fits = list(filter(reads, words))
        form = Form(unit=m) if kind == TIME or m or are_durations(fits) else None
        return _most(kind, form, "", words, fits, n_rows)

    @functools.cached_property
    def _some(self) -> Sequence[str]:
        """Some of the words, whatever their order."""
        return self.words if len(self.words) <= SOME else heapq.nsmallest(SOME, self.words, key=_checksum)

    def unit(self) -> str:
        """Return the unit that some have, if there is only one."""
        return unit_of(self.words)

    def scaled(self) -> bool:
        """Return whether letters after numbers stand for powers of ten."""
        return scaled(self.words)

    def date(self, digits: bool = False) -> tuple[Form | None, str]:
        """Return the form in which all are dates, eight digits included or not, or none and what is in doubt."""
        return date_form(self.words, digits) if self.words else (None, "")

    def is_time(self) -> bool:
        """Return whether all are times of day."""
        return all_of(time, self.words) is not None

    def duration(self) -> Form | None:
        """Return the form in which all are durations, if one names a unit of time."""
        form = Form(unit=meaning_of_m(self.words))
        fits = all_of(lambda word: duration(word, form.unit), self.words) is not None
        return form if fits and (form.unit or are_durations(self.words)) else None


def _checksum(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))
