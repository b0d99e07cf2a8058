"""Oddities in the values of a column: words for missing values, ids, codes, and values that tell the label."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import BOOLEAN, DURATION, NUMBER
from pnorm._checks.text import shown
from pnorm.rankers import _numbers, _times
from pnorm.rankers._base import Index
from pnorm.rankers._cuts import InOrder
from pnorm.rankers._forms import Form
from pnorm.rankers._readings import ORDERED, Reading, derived
from pnorm.rankers._sides import FEW, LEAST, OneSided, Tally
from pnorm.rankers._table import ALIKE, APART, BETWEEN, EMPTY, FILLED, OF, SAME, WRITTEN

FREE_TEXT, SENTENCE, LEAVE_OUT = "free text", 3.0, "leave out"
"""The name of text with several words a value, the least mean number of words, and the kind that drops a column."""

_FEW_WORDS, LEAST_NUMBERS = 2, 10
"""Words of a column, at most, that count as missing where they are repeated, and more different values than this that
are no such words. A column of fewer numbers is a category, in which a word keeps a place of its own."""

_SAID_MISSING = frozenset(
    {"unknown", "refused", "declined", "missing", "not stated", "not known", "not available", "not applicable", "n.a."}
    | {"no answer", "(blank)", "blank", "<na>", "#n/a", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?"}
    | {".", "*", "--", "\\n", "nil"}
)
"""Words for a missing value, of which a column may have more than two."""

_LEAST_APART, _LEAST_BELOW = 3, 5
"""Rows with a number that may stand for a missing value, at least: a number far from the others, and a negative one
that may be near them, or one beside other negative values."""

_MOST_CODES = 5
"""Numbers of one column that stand for missing values, at most."""

_CODE_OF_SURVEYS = re.compile(r"-(?:9+[5-9]|77+|88+)\.0")

_ONE_CODE = re.compile(rf"{_CODE_OF_SURVEYS.pattern}|-[1-9]\.0")

_OFTEN = 3.0
"""Rows of such a number, at least, by the median of the others, where the gap is not larger than their range."""

_SHARE_APART = 0.01
"""Share of the known values that are such a number, at least, beside other negative values."""

_NO_DATES = {
    *("0001-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01"),
    *("2099-12-31", "2999-12-31", "9999-12-31"),
}
"""Dates that stand for no date: the first and last ones of programs, and the zeros of their clocks."""

_MANY_ROWS = 100
"""Rows of one value, from which on a quarter of a side are many."""

_LEAST_ROWS, _PURE, _CHANCE = 5, 0.95, 1e-6
"""Rows, at least, in which a column has a value or is missing, the share of them on the smaller side from which on it
may be known only after the outcome, and the probability of that share by chance, at most."""

_MANY_MEASURES = 40
"""Different numbers with a unit that are a measurement even if most of them are frequent."""

_MOST_UNITS, _MOSTLY = 10, 0.5
"""Different units after the numbers of a column, at most, and the share of its rows that have a number and a unit, and
of its values that are rare, from which on it is a measurement rather than a category."""

_NAMED_CODE = re.compile(
    r"(?i:(?:^|[\W_])(?:zip|plz|(?:post|postal|zip)?code|postleitzahl|fips|naics|nace|sic|isic|mcc|cpt|drg|ndc|phone|postal|id)"
    r"(?:[\W_]?\d{1,4})?$)"
    r"|[a-z](?:Code|Zip|Id|ID)$"
)
"""Names of columns of numbers that stand for a place, a trade or another kind of thing, and have no order."""

_NAMED_DIAGNOSIS = re.compile(
    r"(?:^|.*[\W_])(?:icd|diag|dgns|dx|diagnosis)(?:[\W_]?(?:\d{1,2}|dgns|code|cd)){0,4}", re.IGNORECASE
)
"""Names of columns of codes of diagnoses, which may have a fraction, such as 250.83."""

_NAMED_ENTITY = re.compile(
    r"(?:customer|client|user|account|merchant|store|shop|branch|agent|employee|vendor|supplier|product|item|sku|device"
    r"|patient|session|company|carrier|airline|airport|station|dealer|broker|driver|hospital|school|department)"
    r"(?:[\W_]?(?:nbr|no|nr|num|number))?",
    re.IGNORECASE,
)
"""Whole names of columns whose numbers, large or many, stand for such things. Others, and plurals, may be counts."""

_LEAST_CODE, _MOST_COUNTS = 100, 200
"""The smallest number of such a column, at least; and different numbers, at most, of which small ones may be counts."""


def repeated(
    odd: Sequence[str], n_rows: Mapping[str, int], kind: str, numbers: bool = True, spare: float = 0.0
) -> tuple[str, ...]:
    """Return words that may mean a missing value, as `folded` writes them: few, repeated, and no numbers among others.

    If not `numbers`, they have no digits but zeros. Words of one or two rows, in `spare` rows or fewer together, are
    slips beside them.
    """
    counts: Counter[str] = Counter()
    for word in odd:
        counts[_checks.folded(word)] += n_rows[word]
    slips = {word: n for word, n in counts.items() if n <= _FEW_WORDS}
    if len(slips) < len(counts) and sum(slips.values()) <= spare:
        counts -= Counter(slips)
    others = [word for word in counts if word not in _SAID_MISSING]
    if not 0 < len(counts) <= _MOST_CODES or len(others) > _FEW_WORDS or min(counts.values()) < 2:
        return ()
    if numbers:
        return () if kind == NUMBER and any(map(_numbers.may_be_number, counts)) else tuple(sorted(counts))
    return () if any(c.isdigit() and c != "0" for word in counts for c in word) else tuple(sorted(counts))


def measured(counts: Mapping[Any, int], min_rows: int) -> tuple[str, tuple[str, ...]]:
    """Return that most values are numbers with a unit, if most are rare or they are many; and what reads them."""
    are_rare = sum([count < min_rows for count in counts.values()]) > _MOSTLY * len(counts)
    if len(counts) <= (LEAST_NUMBERS if are_rare else _MANY_MEASURES):
        return "", ()
    of_units: Counter[str] = Counter()
    example = ""
    for value, count in counts.items():
        unit = _times.unit_after(value.strip()) if isinstance(value, str) else ""
        if unit:
            of_units[unit] += count
            example = example or shown(repr(value))
    n_rows = sum(counts.values())
    if of_units.total() <= _MOSTLY * n_rows or len(of_units) > _MOST_UNITS:
        return "", ()
    said = f"most values are numbers with a unit, such as {example}{', and most are rare' * are_rare}"
    if of_units["time"] > _MOSTLY * n_rows:
        return f"{said}; the kind {DURATION!r} reads days, weeks, months and years", (DURATION,)
    return f"{said}; numbers without the unit would be read as numbers", ()


def in_likely_order(words: Iterable[str]) -> list[str]:
    """Return words by the first number in each; those without come first, and one of more than a number last."""

    def place(word: str) -> tuple[float, int, str]:
        number = re.search(r"\d+(?:\.\d+)?", word)
        folded = word.lower()
        is_more = re.search(r"more|over|above|\+|>|older|plus|at least", folded) is not None
        is_less = re.search(r"less|under|below|<|up to", folded) is not None
        return (-math.inf if number is None else float(number[0]), is_more - is_less, folded)

    return sorted(words, key=place)


def of_sentences(counts: Mapping[Any, int], n_known: int, n_values: int) -> str:
    """Return that the values are probably free text, if most of them differ and they have several words."""
    if n_known < FEW or n_values <= _MOSTLY * n_known:
        return ""
    if n_words([value for value in counts if isinstance(value, str)]) < SENTENCE:
        return ""
    told = f"{n_values:,} of {n_known:,} values differ, and only the frequent ones are used"
    return f"probably {FREE_TEXT}: {told}; the kind {LEAVE_OUT!r} drops the column"


def n_words(values: Sequence[str]) -> float:
    """Return the mean number of words of the first values."""
    some = values[:1000]
    return sum([len(value.split()) for value in some]) / max(len(some), 1)


def in_one_case(of_sides: Sequence[Tally]) -> list[Tally]:
    """Return tallies in which text that differs only in case or spaces is one value, in its most frequent spelling."""
    counts: Counter[Any] = sum([tally.counts for tally in of_sides], Counter())
    spelled: dict[str, str] = {}
    for word in sorted([value for value in counts if isinstance(value, str)], key=lambda word: (-counts[word], word)):
        spelled.setdefault(_checks.folded(word), word)
    found = []
    for tally in of_sides:
        merged: Counter[Any] = Counter()
        for value, n in tally.counts.items():
            merged[spelled[_checks.folded(value)] if isinstance(value, str) else value] += n
        found.append(replace(tally, counts=merged))
    return found


def far_apart(x: InOrder) -> str:
    """Return a note on a number that may stand for a missing value; empty if there is none.

    It is -1, or nines, sevens or eights with or without a minus sign, at an end of the column and in three rows or
    more. The other values are more than ten. Beside nines, their range is smaller than the gap, or the nines have a
    minus sign and are in five rows or more; beside -1, their median is above 1. If some of the others are negative, the
    number is two digits or more, in five rows and in 1 % of the known values or more, and the gap is the larger one.
    """
    values, counts = x.values, np.diff(x.ends, prepend=0)
    if values.size < 2 + LEAST_NUMBERS:
        return ""
    together = _codes_apart(values, counts) or _codes_apart(-values[::-1], counts[::-1], -1.0)
    if together:
        return together
    for end, others in ((0, slice(1, None)), (-1, slice(None, -1))):
        value, low, high = float(values[end]), float(values[others][0]), float(values[others][-1])
        if counts[end] < _LEAST_APART or not value.is_integer():
            continue
        is_nines = re.fullmatch("9+|77+|88+", f"{abs(value):.0f}") is not None
        is_far = (low - value if end == 0 else value - high) > high - low
        if low < 0.0:
            least = max(_LEAST_BELOW, _SHARE_APART * counts.sum())
            is_told = is_nines and is_far and abs(value) > 9.0 and counts[end] >= least
        else:
            rows = counts[others].cumsum()
            is_one = value == -1.0 and values[others][rows.searchsorted(0.5 * rows[-1])] > 1.0
            is_below = value < 0.0 and counts[end] >= _LEAST_BELOW
            is_told = is_one or (is_nines and (is_below or is_far))
        if is_told:
            beyond = f"below {low:g}" if end == 0 else f"above {high:g}"
            return f"{value:.0f} in {counts[end]:,} rows, {APART} {beyond}"
    return ""


def _codes_apart(values: Any, counts: Index, sign: float = 1.0) -> str:
    """Return a note on several numbers at the lower end that surveys write for missing values; empty if there are none.

    They are up to five, in three rows or more each: nines but for the last digit, which is 5 or more, or sevens or
    eights. Their gap to the others is larger than the range of these, or a tenth of it where each is in more rows than
    the others are. Or they are below zero, -9 to -1 included, one of them is -7 or less, and no other is negative. The
    numbers are multiplied by `sign`.
    """
    most = min(_MOST_CODES + 1, values.size - LEAST_NUMBERS)
    texts = list(map(repr, values[:most].tolist()))
    found = len(list(itertools.takewhile((_ONE_CODE if sign > 0.0 else _CODE_OF_SURVEYS).fullmatch, texts)))
    for n in range(min(found, most - 1), 1, -1):  # others may look like codes, such as an age of 97
        low, high, least = float(values[n]), float(values[-1]), counts[:n].min()
        is_often = least >= max(_LEAST_BELOW, _OFTEN * float(np.median(counts[n:])))
        is_far = low - float(values[n - 1]) > (0.1 if is_often else 1.0) * (high - low)
        if least >= _LEAST_APART and (is_far or (sign > 0.0 and low >= 0.0 and values[0] <= -7.0)):
            *some, last = [f"{sign * value:.0f}" for value in values[:n][:: int(sign)].tolist()]
            beyond = f"below {low:g}" if sign > 0.0 else f"above {-low:g}"
            return f"{', '.join(some)} and {last} in {counts[:n].sum():,} rows, {APART} {beyond}"
    return ""


def no_date(x: InOrder, words: Sequence[str], form: Form) -> str:
    """Return a note on a date in text that may stand for a missing value; empty if there is none.

    It is one that programs write for no date, is the first or the last of the column, and is in five rows or more and
    in as many as any other.
    """
    values, counts = x.values, np.diff(x.ends, prepend=0)
    if values.size < 2 + LEAST_NUMBERS:
        return ""
    for end, next_one, side in ((0, 1, "before"), (-1, -2, "after")):
        date, other = (_times.moment_text(float(values[place])) for place in (end, next_one))
        n = counts[end]
        if date[:10] in _NO_DATES and n >= max(_LEAST_BELOW, counts.max()):
            moment = round(86400e6 * float(values[end]))
            word = next((word for word in words if _times.date(word, form.order, False, form.first_year) == moment), "")
            if word:
                return f"{word} in {n:,} rows, {APART} {side} {other}"
    return ""


def may_be_codes(label: str, x: InOrder, has_point: bool) -> bool:
    """Return whether a column has whole numbers, three or more, and a name such as zip, customer_id or diag_1.

    If the name is only that of a thing, such as customer, they are more than ten large numbers, or more than 200, or
    text such as 9.0, which programs write for ids where some are missing.
    """
    if _NAMED_DIAGNOSIS.fullmatch(label.strip()):
        return x.values.size > 2
    is_large = x.values.size > LEAST_NUMBERS and (has_point or bool(x.values[0] >= _LEAST_CODE))
    is_named = _NAMED_CODE.search(label) is not None
    is_many = is_large or x.values.size > _MOST_COUNTS
    is_named = is_named or (is_many and _NAMED_ENTITY.fullmatch(label.strip()) is not None)
    return x.values.size > 2 and is_named and np.array_equal(x.values, np.floor(x.values))


def percent(share: float) -> str:
    return f"{math.floor(1000.0 * share) / 10.0:g} %"


def auc_of_missing(missing: Sequence[int], sizes: Sequence[int]) -> float:
    if min(sizes) < LEAST:
        return 0.5
    return 0.5 + 0.5 * (missing[0] / sizes[0] - missing[1] / sizes[1])


def unless_by_chance(auc: float, sizes: Sequence[int]) -> float:
    """Return how well a column separates the sides in either order; of few values, only a perfect order counts.

    That has one order in so many ways to choose the values of a side.
    """
    best = max(auc, 1.0 - auc)
    if min(sizes) >= FEW:
        return best
    return best if best == 1.0 and math.comb(sum(sizes), min(sizes)) * _CHANCE >= 1.0 else 0.5


def of_one_side(missing: Sequence[int], sizes: Sequence[int]) -> str:
    """Return that the values of a column, or the missing ones, are nearly all on the smaller side, or all on one.

    Chance does so once in a million; empty if not.
    """
    from scipy.special import bdtrc

    known = [size - n for n, size in zip(missing, sizes, strict=True)]
    for what, rows in ((FILLED, known), (EMPTY, missing)):
        n = sum(rows)
        for of_side, size, side in zip(rows, sizes, ("positive", "negative"), strict=True):
            share = size / sum(sizes)
            is_pure = n >= _LEAST_ROWS and (of_side == n or (of_side >= _PURE * n and share <= 0.5))
            if is_pure and bdtrc(of_side - 1, n, share) <= _CHANCE:
                return f"{what} {n:,} rows ({'all' if of_side == n else f'{of_side:,}'} {side})"
    return ""


def value_told(reading: Reading, x: float) -> str:
    """Return a number of a column as people write it."""
    if reading.kind in (BOOLEAN, ORDERED) and reading.levels:
        return str(reading.levels[int(x)])
    (of, *_) = OF.get(reading.kind, ("",))
    write: Callable[[float], str] = WRITTEN.get(of, "{:.6g}".format)
    return write(float(derived(of, np.array([x]))[0]))


def one_value(of_sides: Sequence[OneSided], sizes: Sequence[int], write: Callable[[Any], str]) -> str:
    """Return that a value, or a range apart from all others, is that of very many rows of one side alone.

    Very many are half of the side, or a hundred rows and a quarter of the smaller side or 35 % of the larger one, and
    so many that chance does so once in a million. Or that a value is that of a whole side, and of a minority of the
    other.
    """
    if min(sizes) < FEW:
        return ""
    n_of = zip(sizes, sizes[::-1], ("positive", "negative"), ("negative", "positive"), strict=True)
    for found, (n, n_others, label, other) in zip(of_sides, n_of, strict=True):
        if found.count == n and 2 * found.shared <= n_others:
            rest = n_others - found.shared
            return f"{SAME} {n:,} rows (all {label}), and differs in {rest:,} rows (all {other})"
        share = 0.25 if n <= n_others else 0.35  # more on the larger side, where chance and habit do more
        many = max(min(n / 2.0, max(share * n, _MANY_ROWS)), math.log(_CHANCE) / math.log(n / (n + n_others)))
        if found.count >= many and not found.shared:
            return f"{SAME} {found.count:,} rows (all {label}): {shown(write(found.value), 24)}"
        if found.n_apart >= many:
            return f"{BETWEEN} {write(found.low)} to {write(found.high)} in {found.n_apart:,} rows (all {label})"
    return ""


def alike(counts: Mapping[Any, int]) -> str:
    """Return a note on values that differ only in case or spaces; they are kept apart."""
    forms: dict[str, list[str]] = {}
    for value in counts:
        if isinstance(value, str):
            forms.setdefault(" ".join(value.split()).casefold(), []).append(value)
    groups = [sorted(group, key=lambda value: (-counts[value], value)) for group in forms.values() if len(group) > 1]
    if not groups:
        return ""
    groups.sort(key=lambda group: -sum([counts[value] for value in group]))
    some = [shown(repr(value) if value != " ".join(value.split()) else value, 24) for value in groups[0][:4]]
    more = ", ..." if len(groups) > 1 or len(groups[0]) > 4 else ""
    return f"{sum(map(len, groups)):,} {ALIKE}: {', '.join(some)}{more}"
