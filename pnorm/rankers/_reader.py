"""The reading of a column of a table: the kind and the form that fit its values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pnorm import _checks
from pnorm._checks import BOOLEAN, DATE, DURATION, NUMBER, TIME, UNREAD, VALUES
from pnorm._checks.text import shown
from pnorm.rankers import _forms, _text, _times
from pnorm.rankers._forms import DAY_FIRST, MONTH_FIRST, Form
from pnorm.rankers._notes import ANY_CASE, DOUBTS, LEFT_OUT, MOST_NAMED, TWO, UNCLEAR, WORDS, Note
from pnorm.rankers._oddities import LEAST_NUMBERS, in_likely_order, repeated
from pnorm.rankers._readings import CATEGORY, ORDERED, Reading, is_missing
from pnorm.rankers._sides import Column, LeaveOut, Side

WISHES = {
    NUMBER: NUMBER, "decimal point": NUMBER, "decimal comma": NUMBER, CATEGORY: CATEGORY, BOOLEAN: BOOLEAN,
    DATE: DATE, DAY_FIRST: DATE, MONTH_FIRST: DATE, TIME: TIME, DURATION: DURATION, "leave out": LEFT_OUT,
    ANY_CASE: CATEGORY,
}  # fmt: skip
"""The words of `kinds`, and the kind that each requests."""

_PROBABLY = 0.3
"""Share of the values, at most, that do not read as the others do where a warning says what the column probably is."""

_MOST_ORDERED = 20
"""Different words, at most, that probably have an order, where some are numbers and others hold digits."""

_LETTER_FIRST = re.compile(r"[A-Za-z]{1,2}\d")
"""A code such as V58, which has no order among 250 and 401."""


@dataclass(frozen=True)
class ReadAs:
    """The kind and form that `from_table` gives a column, and the other kinds that are possible."""

    reading: Reading
    doubt: str
    """Why it is a category, if another kind is possible."""
    kinds: tuple[str, ...]
    """Words of `kinds` that settle the doubt."""


class Reader:
    """A column whose reading is looked for, with notes on it; `wish` is the kind that is asked for, None for any."""

    def __init__(self, column: Column, label: str, wish: Any) -> None:
        self._column, self._sides, self._label, self._wish = column, column.sides, label, wish
        self._notes: list[Note] = []
        self._kinds: tuple[str, ...] = ()
        self._missing = [0, 0]
        self._words: tuple[str, ...] = ()
        self._own: dict[str, str] = {}

    def _tell(self, kind: str, text: str) -> None:
        if text:
            self._notes.append(Note(kind, text))

    @property
    def _doubt(self) -> str:
        """Why it is a category, if another kind is possible."""
        return next((note.text for note in self._notes if note.kind == DOUBTS), "")

    def read(self) -> ReadAs:
        """Return how the column is read, whatever it becomes."""
        self._missing = [side.missing for side in self._sides]
        try:
            reading = self._plain_numbers() or self._reading()
        except LeaveOut as why:
            return ReadAs(Reading(CATEGORY), str(why), ())
        return ReadAs(reading, self._doubt, self._kinds)

    def _plain_numbers(self) -> Reading | None:
        """Return the reading of text that is plain numbers on both sides, whose words need not be counted."""
        plain = [side.written for side in self._sides if side.written is not None]
        if len(plain) < 2 or self._wish not in (None, NUMBER) or not any(of.known for of in plain):
            return None
        if plain[0].comma != plain[1].comma or self._are_grouped():
            return None
        if any(of.code for of in plain):
            return None if self._wish is None else Reading(NUMBER)
        return Reading(NUMBER, Form("," if plain[0].comma else "." if any(of.point for of in plain) else ""))

    def _are_grouped(self) -> bool:
        """Return whether the points of plain numbers may stand between thousands, which the different words tell."""
        plain = [side.written for side in self._sides if side.written is not None]
        with_point = [of for of in plain if of.point]
        return len(plain) == 2 and bool(with_point) and all(of.grouped for of in with_point)

    def _reading(self) -> Reading:
        wish = self._wish
        if isinstance(wish, tuple):
            return Reading(ORDERED, levels=wish)
        asked = None if wish is None else WISHES[wish]
        if asked == CATEGORY:
            return Reading(CATEGORY)
        there = [
            side for side, missing in zip(self._sides, self._missing, strict=True) if missing < side.size
        ]  # a side on which all is missing has no say
        kinds = {side.kind for side in there}
        numbers = NUMBER in kinds or any(side.tally.numbers for side in self._sides if side.kind in (VALUES, UNREAD))
        text = self._column.text()
        if asked is not None:
            levels = _no_and_yes(text.words) if asked == BOOLEAN and not numbers else ()
            return Reading(asked, self._form(asked, wish, text), levels)
        if UNREAD in kinds or (len(kinds - {BOOLEAN}) > 1 and not kinds <= {VALUES, NUMBER, BOOLEAN}):
            reading = self._of_types(there)
            if reading is not None:
                return reading
        if UNREAD in kinds:
            odd = next(side for side in there if side.kind == UNREAD)
            raise LeaveOut(f"values of type {shown(odd.type, 30)} cannot be read")
        if VALUES not in kinds and (len(kinds) == 1 or kinds == {NUMBER, BOOLEAN}):
            return Reading(NUMBER if NUMBER in kinds else kinds.pop())
        order = there[0].order if VALUES in kinds else None
        if order is not None and all(side.order == order for side in there):
            return Reading(ORDERED, levels=order)
        if VALUES not in kinds or not kinds <= {VALUES, NUMBER, BOOLEAN}:
            raise LeaveOut(f"values are of {len(kinds)} kinds: {', '.join(sorted(kinds))}")
        return self._of_text(text, kinds, numbers, any(side.declared for side in there))

    def _of_text(self, text: _text.Text, kinds: set[str], numbers: bool, declared: bool) -> Reading:
        """Return the reading of text that fits all words; a category if none does."""
        words = text.words
        if not words:
            return Reading(CATEGORY if numbers else BOOLEAN)
        only_text = kinds == {VALUES} and not numbers
        if not numbers and _forms.all_of(_times.truth, words) is not None:
            return Reading(BOOLEAN, levels=_no_and_yes(words))
        if declared:
            return Reading(CATEGORY)
        form, doubt = text.number()
        if form is not None and (only_text or form.unit != "%"):
            return Reading(NUMBER, form)
        if not doubt and only_text:
            form, doubt = text.date()
            if form is not None:
                return Reading(DATE, form)
            if text.is_time():
                return Reading(TIME)
            form = text.duration()
            if form is not None:
                return Reading(DURATION, form)
        return self._nearly(text, "" if form is not None else doubt)

    def _n_rows(self) -> Counter[str]:
        """Return how many rows have each text that is not missing."""
        n_rows: Counter[str] = Counter()
        for side in self._sides:
            n_rows.update({value: n for value, n in side.tally.counts.items() if isinstance(value, str)})
        return n_rows

    def _rows_of_text(self) -> Counter[str]:
        """Return how many rows have each text without the blanks around it, words for missing values among it."""
        n_rows: Counter[str] = Counter()
        for side in self._sides:
            values, counts = side.mixed()
            for value, n in zip(values, counts.tolist(), strict=True):
                if isinstance(value, str) and n:
                    n_rows[value.strip()] += n
        return n_rows

    def _nearly(self, text: _text.Text, doubt: str) -> Reading:
        """Return the reading of nearly all words; a category, with what is in doubt, if there is none."""
        n_rows, n_known = self._n_rows(), sum([side.tally.known for side in self._sides])
        n_others, spare = n_known - n_rows.total(), _forms.TOLERATED * n_known
        most = text.most(n_rows, spare)
        lost = most.lost + (0 if most.kind == NUMBER and (most.form is None or most.form.unit != "%") else n_others)
        if not doubt and n_others and most.form is None and not most.doubt:
            most, lost = _forms.Most(NUMBER, Form("."), "", tuple(text.words), 0.0), float(n_rows.total())
        few = lost <= spare
        words = repeated(most.odd, n_rows, most.kind, spare=0.0 if few else spare)
        own = [word for word in most.odd if _checks.folded(word) in words]
        if most.form is not None and not doubt:
            n_values = len({value for side in self._sides for value in side.tally.counts})
            if few or (words and n_values - len(most.odd) > LEAST_NUMBERS):
                self._tell(UNCLEAR, most.marks.told() if most.marks.unclear else "")
            if few:
                self._own = {_checks.folded(word): word for word in own}
                return Reading(most.kind, most.form)
            if words and n_values - len(most.odd) > LEAST_NUMBERS:
                reading = Reading(most.kind, most.form, missing=words)
                return self._without(reading, own, sum(n_rows[word] for word in own))
        if doubt or (most.doubt and lost <= _PROBABLY * n_known):
            self._tell(DOUBTS, doubt or most.doubt)
            self._kinds = next((kinds for kinds in TWO if all(repr(kind) in self._doubt for kind in kinds)), ())
        elif most.form is not None and lost <= _PROBABLY * n_known:
            reading = Reading(most.kind, most.form)
            some = list(n_rows) if len(n_rows) <= _MOST_ORDERED and not any("," in word for word in n_rows) else []
            of_digits = [word for word in most.odd if any(c.isdigit() for c in word)]  # which tell more than nothing
            if of_digits and all(map(_LETTER_FIRST.match, of_digits)):
                return Reading(CATEGORY)
            if some and of_digits:
                self._kinds = (",".join(in_likely_order(some)),)
                likely = "the values probably have an order, which a list of levels from low to high would keep"
                self._tell(DOUBTS, likely)
            elif sum([n_rows[word] for word in of_digits]) > spare:  # such as 105** for a place
                self._kinds = (CATEGORY,)
                self._tell(DOUBTS, self._probably(reading, n_known, "loses what they tell"))
            else:
                self._kinds, self._words = (reading.asked(),), most.odd if len(most.odd) <= MOST_NAMED else ()
                self._tell(DOUBTS, self._probably(reading, n_known, "takes them for missing"))
        return Reading(CATEGORY)

    def _without(self, reading: Reading, odd: Sequence[str], lost: int) -> Reading:
        """Return a reading in which words count as missing, and tell that they do."""
        odd = sorted(odd)
        self._own = {_checks.folded(word): word for word in odd}
        named = " and ".join([shown(repr(word), 24) for word in odd])
        self._tell(WORDS, f"{named} {'counts' if len(odd) == 1 else 'count'} as missing ({lost:,} values)")
        self._words = tuple(self._own.values())
        return reading

    def _probably(self, reading: Reading, n_known: int, does: str) -> str:
        """Return that a column is probably of a kind, and which values stand against it."""
        of_pos, of_neg = self._column.numbers(reading).unread
        unread = of_pos + of_neg
        named = f"{', '.join(unread.places())}{', ...' if unread.unknown > len(unread.found) else ''}"
        return (
            f"probably {reading.called()}, but {unread.unknown:,} of the {n_known:,} values do not read as one: "
            f"{named}; the kind {reading.asked()!r} {does}"
        )

    def _of_types(self, sides: Sequence[Side]) -> Reading | None:
        """Return the reading of values of which nearly all are of one type, such as dates with a word among them."""
        n_rows: Counter[str] = Counter()
        pairs = []
        for side in sides:
            values, counts = side.mixed()
            pairs += [(value, n) for value, n in zip(values, counts.tolist(), strict=True) if not is_missing(value)]
        for value, n in pairs:
            n_rows[_checks.kind_of(value)] += n
        kind = max((NUMBER, DATE, TIME, DURATION), key=lambda kind: n_rows[kind])
        reading = Reading(kind)
        meaning = reading.meaning()
        odd = [(value, n) for value, n in pairs if meaning(value) is None]
        lost = sum([n for _, n in odd])
        if n_rows[kind] and lost <= _forms.TOLERATED * n_rows.total():
            return reading
        of_words: Counter[str] = Counter()
        for value, n in odd:
            if isinstance(value, str):
                of_words[value.strip()] += n
        words = repeated(tuple(of_words), of_words, kind)
        known = {value for value, _ in pairs if not isinstance(value, str)}
        if not words or of_words.total() < lost or len(known) <= LEAST_NUMBERS:
            return None
        return self._without(replace(reading, missing=words), tuple(of_words), lost)

    def _form(self, asked: str, wish: str, text: _text.Text) -> Form:
        """Return the form of a kind that a user asks for, which fits most values."""
        if asked == NUMBER:
            form = text.number()[0]
            if form is None:
                most = text.most_of(NUMBER, self._n_rows())
                form = most.form or most.asked
            if wish == NUMBER:
                return form or Form()
            unit, scaled = (form.unit, form.scaled) if form else (text.unit(), text.scaled())
            mixed = form is not None and form.mixed
            return Form("," if wish == "decimal comma" else ".", unit, scaled=scaled, mixed=mixed)
        if asked == DATE:
            if wish != DATE:
                return Form(order=wish)
            return text.date(True)[0] or text.most_of(DATE, self._n_rows()).form or Form()
        return Form()


def _no_and_yes(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words for no and yes, if there is one for each."""
    of_truth = {_times.TRUTHS.get(word.lower()): word for word in words}
    return (of_truth[0.0], of_truth[1.0]) if len(words) == len(of_truth) == 2 and None not in of_truth else ()
