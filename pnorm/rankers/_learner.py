"""The weak rankers of a column of a table, or the reason why it is left out, with notes on it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._categories import Unread
from pnorm._checks import BOOLEAN, DATE, DURATION, NUMBER, ONLY, VALUES, Lines
from pnorm._checks.text import shown
from pnorm.rankers import _notes, _numbers, _oddities, _times
from pnorm.rankers._base import LINE, MISSING, Found, Rankers
from pnorm.rankers._cuts import InOrder, Placed
from pnorm.rankers._notes import ALL_RARE, ANY_CASE, DOUBTS, HAS_LEVELS, LEFT_OUT, SAID, Learned, Note
from pnorm.rankers._oddities import LEAST_NUMBERS
from pnorm.rankers._reader import Reader
from pnorm.rankers._readings import CATEGORY, LEVELS_OF, ORDERED, RARE, Reading, is_missing
from pnorm.rankers._sides import FEW, LEAST, AllDiffer, Column, LeaveOut, Numbers, OneSided, Tally, levels_of_one_side
from pnorm.rankers._table import (
    AGREES,
    ALIKE,
    AS_ASKED,
    CODE,
    ID,
    ID_BY_NAME,
    ID_OF_SEVERAL,
    NO_LEVEL,
    NONE,
    OF,
    SEPARATES,
    WORD,
    Ask,
    ColumnPlan,
    OfLevels,
    Part,
    Source,
)
from pnorm.rankers._thresholds import _Thresholds, _thresholds

_DIFFERENT = 0.9
"""Share of different values from which on text is an id or free text."""

_LEAST_ASKED = 0.5
"""Share of the values that have to read as the kind that `kinds` asks for."""

_MOST_KEPT = 20
"""Words of a column that do not read, at most, that are kept and are no news in new rows; the most frequent ones."""

_ALONE, _NEARLY = 0.99, 0.95
"""AUC from which on a column separates the sides nearly alone, and from which on a column of few values agrees with
the label so often that it may be another form of it."""

_FEW_VALUES = 10
"""Values of such a column, at most. More values are a measurement, of which some are that good."""

_AROUND_DIGITS = re.compile(r"(?:[^\W\d_]{1,4}[.\s]*(?![-/_#:]))?(?=.*\d.*[\W_])[\d\W_]{3,}[^\W\d_]{0,5}\.?")
"""Text that may be a number with something around its digits: an id seldom has signs and no letters within."""

_LEAST_SPAN = {"month": 365.0, "weekday": 14.0, "hour": 2.0}
"""Days between the first date and the last, from which on this is read off dates."""

_NAMED_ID = re.compile(
    r"(?i:(?:^|[\W_])(?:id|ids|uuid|guid|key|index|idx|nr|no|num|number)\.?$)|[a-z](?:Id|ID|Nr|Key)$"
    r"|(?i:^(?:row|user|customer|client|order|account|case|patient|person|member|item|record)id$)"
)
"""Names of columns of numbers that identify a row."""


@dataclass(frozen=True)
class How:
    """The options for all columns."""

    found: Found
    labels: tuple[str, ...]
    n_cuts: int
    linear: Lines | None
    min_rows: int
    max_levels: int


class Learner(Reader):
    """A column on its way to weak rankers, with the notes on it."""

    def __init__(self, how: How, c: int, column: Column, wish: Any, sign: int) -> None:
        super().__init__(column, how.labels[c], wish)
        self._how, self._c, self._sign = how, c, sign
        self._unread: Unread | None = None
        self._n_values = 0
        self._span, self._ends = 0.0, (0.0, 0.0)

    def learn(self) -> Learned:
        try:
            reading, parts = self._learn()
        except LeaveOut as why:  # an amount in doubt is no id
            said = [self._doubt] if self._doubt and isinstance(why, AllDiffer) else [self._doubt, str(why)]
            return self._learned(self._plan(LEFT_OUT, 0, "; ".join(filter(None, said))))
        n = sum([len(part.rankers) for part in parts])
        plan = self._plan(reading.kind, n, _notes.in_order(self._notes))
        if self._unread is not None:
            reading = replace(reading, missing=(*reading.missing, *self._odd(reading, self._unread)))
        unread = 0 if self._unread is None else self._unread.unknown
        return self._learned(plan, Source(self._c, reading, tuple(parts), unread))

    def _plan(self, kind: str, n: int, note: str) -> ColumnPlan:
        return ColumnPlan(self._label, kind, self._n_values, sum(self._missing), n, note)

    def _learned(self, plan: ColumnPlan, source: Source | None = None) -> Learned:
        kinds = frozenset([note.kind for note in self._notes])
        return Learned(plan, source, self._ask(), kinds if self._wish is None else kinds.difference(_notes.UNASKED))

    def _ask(self) -> Ask | None:
        if self._doubt:
            return Ask(self._label, self._doubt, self._kinds, words=self._words)
        kinds = {note.kind for note in self._notes}
        told = _notes.in_order([note for note in self._notes if note.kind in _notes.ASKED])
        level = CATEGORY
        if isinstance(self._wish, tuple | list):  # levels in their order, of which one may have been forgotten
            level = ",".join(map(str, [*self._wish, *self._words]))
        asked = (level,) * bool(self._words) + (_notes.TWO[0] if _notes.UNCLEAR in kinds else ())
        return Ask(self._label, told, asked, lost=False, words=self._words, unread=self._unread) if told else None

    def _learn(self) -> tuple[Reading, list[Part]]:
        if self._wish == _oddities.LEAVE_OUT:
            raise LeaveOut(AS_ASKED)
        reading = self._plain_numbers()
        if reading is not None:
            return self._numeric(reading)
        self._missing = [side.missing for side in self._sides]
        if self._missing == [side.size for side in self._sides]:
            raise LeaveOut("all values are missing")
        reading = self._reading()
        if reading.kind != CATEGORY:
            return self._numeric(reading)
        if self._sign:
            raise ValueError(
                f"monotone names {shown(self._label)!r}, a category, whose levels have no order; "
                'kinds={"COLUMN": ["low", "high"]} gives them one'
            )
        return self._levels()

    def _numeric(self, reading: Reading) -> tuple[Reading, list[Part]]:
        reading = replace(reading, form=replace(reading.form, written=self._written(reading)))
        form, text = reading.form, self._column.text
        x = self._column.numbers(reading)
        self._missing = x.missing
        self._keep_unread(reading, x)
        if form.point == "," and not form.mixed and self._wish != "decimal comma":
            self._tell(SAID, "decimal comma")
        if reading.kind == BOOLEAN:
            self._tell(SAID, self._none_told(text().words))
        elif reading.kind == DURATION:
            self._tell(SAID, _times.durations_told(text().words, form))
        elif self._wish is None and form.point == "." and self._are_grouped():
            self._tell(SAID, _numbers.thousands_told(text().words))
        elif form.scaled or form.unit not in ("", "%") or form.point or form.mixed:
            self._tell(SAID, _numbers.readings_told(text().words, form))
        if form.order != self._wish:
            self._tell(SAID, form.order)
        parts = []
        for of in OF.get(reading.kind, ("",)):
            if self._span < _LEAST_SPAN.get(of, 0.0) or (of == "weekday" and x.are_months()):
                continue
            if of in LEVELS_OF:
                present = x.present(of)
                if len(present) > 1:
                    levels = tuple([LEVELS_OF[of][k] for k in present])
                    names = [f"{self._label} ({of}) = {level}" for level in levels]
                    parts.append(Part(of, OfLevels(names, None, [levels], True)))
                continue
            made = self._thresholds(reading, of, x.in_order(of))
            if made is not None:
                parts.append(made)
        if reading.kind == DATE and _times.short_years(text().words):
            first, last = [_times.moment_text(days).partition("-")[0] for days in self._ends]
            self._tell(SAID, f"two-digit years are read as {f'{first} to {last}' if first < last else first}")
        parts += self._of_words(sum(x.missing))
        if not parts:
            raise LeaveOut("all values are equal")
        self._separates(x.auc(), x.of_one_side, partial(_oddities.value_told, reading))
        return reading, parts

    def _written(self, reading: Reading) -> str:
        """Return a value that reads, and that data bases do not read as it is written; the first of the alphabet."""
        if reading.kind not in _times.PLAIN:
            return ""
        if reading.kind == NUMBER and reading.form.point != "," and all(side.written for side in self._sides):
            return ""
        if reading.kind == DATE and any(side.kind == NUMBER for side in self._sides):
            return "20240131"
        odd = [word for word in self._column.text().words if not _times.PLAIN[reading.kind].fullmatch(word)]
        meaning = reading.meaning()
        return next((word for word in sorted(odd) if meaning(word) is not None), "")

    def _of_words(self, n_missing: int) -> list[Part]:
        """Return indicators of the words that count as missing; none of a word that says no more than that it is."""
        n_rows: Counter[str] = Counter()
        for word, n in self._rows_of_text().items() if self._own else ():
            n_rows[_checks.folded(word)] += n
        words = [word for word in self._own if n_rows[word] >= self._how.min_rows]
        if not words or (n_rows[words[0]] == n_missing and not any(c.isdigit() and c != "0" for c in words[0])):
            return []
        levels = tuple(sorted([self._own[word] for word in words]))
        named = " and ".join([shown(repr(level), 24) for level in levels])
        own = "has an indicator of its own" if len(levels) == 1 else "have indicators of their own"
        self._tell(_notes.OWN, f"{named} {own}")
        names = [f"{self._label} = {level}" for level in levels]
        return [Part(WORD, OfLevels(names, None, [levels], True))]

    def _keep_unread(self, reading: Reading, x: Numbers) -> None:
        """Keep the values that do not read, to be told; refuse a kind that was asked for and that most do not have."""
        unread = x.unread[0] + x.unread[1]
        if unread.unknown > (1.0 - _LEAST_ASKED) * unread.n:
            raise reading.refused(x.unread)
        if unread.unknown:
            self._unread = unread
            self._tell(_notes.UNREAD, unread.told())

    def _odd(self, reading: Reading, unread: Unread) -> list[str]:
        """Return words that do not read in any spelling, as `folded` writes them. They are missing in new rows too.

        Keep them for the question whether they mean a missing value, if all values that do not read may do so.
        """
        counts = Counter({word: n for word, n in self._rows_of_text().items() if not is_missing(word)})
        words = [word for word, read in zip(counts, reading.meanings([*counts]), strict=True) if read is None]
        n_rows_of: Counter[str] = Counter()
        spelled: dict[str, str] = {}
        for word in words:
            n_rows_of[_checks.folded(word)] += counts[word]
            spelled.setdefault(_checks.folded(word), word)
        if n_rows_of.total() == unread.unknown:
            repeated = _oddities.repeated(words, counts, reading.kind, False)
            in_order = sorted(repeated, key=lambda word: (-n_rows_of[word], word))
            self._words = self._words or tuple([spelled[word] for word in in_order])
        words = [word for word in n_rows_of if not reading.reads_if_spelled(word)]
        return sorted(words, key=lambda word: (-n_rows_of[word], word))[:_MOST_KEPT]

    def _thresholds(self, reading: Reading, of: str, x: InOrder) -> Part | None:
        how = self._how
        placed = x.cuts(how.n_cuts, how.linear is None or how.linear)
        if of != "hour":
            self._n_values = x.values.size
            with np.errstate(over="ignore"):
                self._span = float(x.values[-1] - x.values[0]) if x.values.size else 0.0
            if of == "trend" and x.values.size:
                self._ends = float(x.values[0]), float(x.values[-1])
                no_date = _oddities.no_date(x, self._column.text().words, reading.form)
                self._tell(_notes.MAY_BE_MISSING, no_date)
            if reading.kind == NUMBER and self._wish is None:
                self._refuse_id(x)
                self._tell(_notes.MAY_BE_MISSING, _oddities.far_apart(x))
                has_point = any(side.written is not None and side.written.point for side in self._sides)
                self._tell(_notes.CODES, CODE * _oddities.may_be_codes(self._label, x, has_point))
        if not placed.cuts:
            return None
        straight = self._cut(reading, of, x.cuts(how.n_cuts, ONLY)) if how.linear is None else None
        return Part(of, self._cut(reading, of, placed), straight)

    def _cut(self, reading: Reading, of: str, placed: Placed) -> Rankers:
        """Return the weak rankers of cuts, and of a line."""
        label, (cuts, line, between) = self._label, placed
        lines, ends = ({0: line} if line else {}), ({0: between} if between else {})
        signs = {0: self._sign} if self._sign and of != "hour" else {}
        if reading.kind not in (BOOLEAN, ORDERED, DATE) or of == "hour":
            head = label if reading.kind != DATE else f"{label} ({of})"
            return _thresholds({0: cuts}, 1, None, [head], True, lines, signs, ends)
        names = [self._named(reading, cut) for cut in cuts]
        return _Thresholds(names, 1, None, [(0, cut) for cut in cuts], True, lines, signs, ends)

    def _named(self, reading: Reading, cut: float) -> str:
        label = self._label
        if math.isnan(cut):
            return label + MISSING
        if math.isinf(cut):
            return label + LINE
        if reading.kind == BOOLEAN:
            return label
        if reading.kind == ORDERED:
            return f"{label} > {reading.levels[math.floor(cut)]}"
        return f"{label} > {_times.moment_text(cut)}"

    def _refuse_id(self, x: InOrder) -> None:
        """Leave out a column of whole numbers whose values identify the rows."""
        n = int(x.ends[-1]) if x.ends.size else 0
        if n < FEW or x.values.size < 0.95 * n or not np.array_equal(x.values, np.floor(x.values)):
            return
        if int(np.diff(x.ends, prepend=0).max()) >= self._how.min_rows:
            self._notes.append(Note(HAS_LEVELS, ""))
        if _NAMED_ID.search(self._label):
            raise AllDiffer(ID_BY_NAME)
        if n > 2 * FEW and self._span <= 3.0 * n:
            raise LeaveOut(f"{ID}: whole numbers one after the other")

    def _levels(self) -> tuple[Reading, list[Part]]:
        for side in self._sides:
            if side.kind not in (VALUES, NUMBER, BOOLEAN) or not side.tally.finite:
                side.refuse_levels()
        of_sides, any_case = [side.tally for side in self._sides], self._wish == ANY_CASE
        counts: Counter[Any] = sum([tally.counts for tally in of_sides], Counter())
        merged = ""
        if any_case:
            merged = _oddities.alike(counts).replace(ALIKE, "spellings are merged")
            of_sides = _oddities.in_one_case(of_sides)
            counts = sum([tally.counts for tally in of_sides], Counter())
        n_known, self._n_values = sum([tally.known for tally in of_sides]), len(counts)
        min_rows, missing = self._how.min_rows, sum(self._missing)
        frequent = [value for value, count in counts.items() if count >= min_rows and value != RARE]
        n_rare = n_known - sum([counts[value] for value in frequent])
        if self._wish is None and not self._doubt:
            measured, self._kinds = _oddities.measured(counts, min_rows)
            self._tell(DOUBTS, measured)
        if self._wish is None and n_known >= FEW and self._n_values > _DIFFERENT * n_known:
            self._notes += [Note(HAS_LEVELS, "")] * bool(frequent)
            self._refuse_text([word for tally in of_sides for word in tally.words])
        if self._wish is None and not self._doubt:
            doubt = _oddities.of_sentences(counts, n_known, self._n_values)
            if not doubt and frequent and 2 * n_rare > n_known >= FEW:
                doubt = f"{n_rare:,} of {n_known:,} rows have rare values, which are one level"
            self._tell(DOUBTS, doubt)
            self._kinds = (_oddities.LEAVE_OUT,) * bool(doubt)
        frequent.sort(key=lambda value: (-counts[value], isinstance(value, str), value))
        kept = frequent[: self._how.max_levels]
        rare = self._n_values - len(kept)
        if self._wish is not None and not kept:
            self._notes.append(Note(ALL_RARE, ""))
        if not kept and not missing:
            is_id = self._wish is None and _NAMED_ID.search(self._label)
            raise LeaveOut(f"{f'{ID_OF_SEVERAL}: ' if is_id else ''}{NO_LEVEL} {min_rows} rows")
        if len(kept) + bool(rare) + bool(missing) < 2:
            raise LeaveOut("all values are equal")
        levels = sorted(kept, key=lambda level: (isinstance(level, str), level))
        if rare and kept:
            levels.append(RARE)
            self._tell(SAID, f"{rare:,} rare {'value is' if rare == 1 else 'values are'} the level {RARE}")
        elif rare:
            self._tell(SAID, f"{NO_LEVEL} {min_rows} rows; only whether it is missing counts")
        self._tell(SAID, merged)
        self._tell(_notes.SPELLED, "" if any_case else _oddities.alike(counts))
        self._tell(SAID, self._none_told(kept))
        if missing:
            levels.append(None)
        self._separates(self._auc_of_levels(levels, of_sides), lambda: levels_of_one_side(of_sides), str)
        names = [self._label + (MISSING if level is None else f" = {level}") for level in levels]
        reading = Reading(CATEGORY, levels=tuple(levels), any_case=any_case)
        return reading, [Part("", OfLevels(names, None, [tuple(levels)], True))]

    def _none_told(self, levels: Sequence[Any]) -> str:
        """Return that none counts as missing in a column of few other words, if as many rows have it as a level."""
        n = sum([count for word, count in self._rows_of_text().items() if word.lower() == "none"])
        words = [level for level in levels if isinstance(level, str) and not {",", "'", ";"} & {*level}]
        if self._wish is not None or n < self._how.min_rows or not 0 < len(words) == len(levels) <= LEAST_NUMBERS:
            return ""
        in_order = ",".join(_oddities.in_likely_order(words))
        return f"{NONE} ({n:,} values), where the kind 'none,{in_order}' makes it a level"

    def _refuse_text(self, words: Sequence[str]) -> None:
        digits = [word for word in words[:1000] if _AROUND_DIGITS.fullmatch(word)]
        if 2 * len(digits) > len(words[:1000]) and not all(map(_numbers.is_code, digits)):
            raise AllDiffer(f"digits in a form that does not read as numbers, such as {shown(repr(digits[0]))}")
        raise AllDiffer(_oddities.FREE_TEXT if _oddities.n_words(words) >= _oddities.SENTENCE else ID)

    def _auc_of_levels(self, levels: Sequence[Any], of_sides: Sequence[Tally]) -> float:
        """Return the AUC of scores that are the levels' shares of positives."""
        of_levels = np.array(
            [
                [tally.missing if level is None else tally.counts.get(level, 0) for level in levels]
                for tally in of_sides
            ],
            np.float64,
        )
        if RARE in levels:
            sums = [tally.known + tally.missing for tally in of_sides]
            of_levels[:, levels.index(RARE)] += np.array(sums) - of_levels.sum(axis=1)
        small = of_levels.sum(axis=0) < FEW  # together, as their shares say little
        pos, neg = np.column_stack([of_levels[:, ~small], of_levels[:, small].sum(axis=1)])
        if min(pos.sum(), neg.sum()) < LEAST:
            return 0.5
        order = np.argsort(pos / np.maximum(pos + neg, 1.0))
        below = np.concatenate([[0.0], neg[order].cumsum()[:-1]])
        return float((pos[order] * (below + 0.5 * neg[order])).sum() / (pos.sum() * neg.sum()))

    def _agreement(self, n: int) -> float:
        """Return the share of the rows in which the commoner label of their value is their label."""
        a, b = [side.tally for side in self._sides]
        of_values = sum([max(a.counts[value], b.counts[value]) for value in {*a.counts, *b.counts}])
        return (of_values + max(a.missing, b.missing)) / n

    def _separates(
        self, auc: float, of_one_side: Callable[[], Sequence[OneSided]], write: Callable[[Any], str]
    ) -> None:
        """Keep in words how the column separates the sides: by missing values, by the others, or by one of them."""
        sizes = [side.size for side in self._sides]
        known_of = [size - n for n, size in zip(self._missing, sizes, strict=True)]
        of_missing, best = _oddities.auc_of_missing(self._missing, sizes), _oddities.unless_by_chance(auc, known_of)
        by_missing = _oddities.unless_by_chance(of_missing, sizes)
        if max(best, by_missing) >= _ALONE:
            alone = f"missing for nearly all {'positives' if of_missing > 0.5 else 'negatives'}"
            self._tell(_notes.LEAKS, f"{SEPARATES} ({alone if by_missing >= best else f'AUC {best:.3f}'})")
            return
        agrees = 0.0
        if by_missing >= max(_NEARLY, best):
            agrees = (max(self._missing) + max(known_of)) / sum(sizes)
        elif best >= _NEARLY and 0 < self._n_values <= _FEW_VALUES:
            agrees = self._agreement(sum(sizes))
        if agrees:
            self._tell(_notes.AGREE, f"{AGREES} {_oddities.percent(agrees)} of the rows")
            return
        one_sided = _oddities.of_one_side(self._missing, sizes)
        self._tell(_notes.ONE_SIDED, one_sided or _oddities.one_value(of_one_side(), known_of, write))
