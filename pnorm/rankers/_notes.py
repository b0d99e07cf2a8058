"""Notes on the columns of a table, and the warning of them."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from pnorm._categories import warn
from pnorm._checks import DURATION
from pnorm._checks.text import shown
from pnorm.rankers._forms import DAY_FIRST, MONTH_FIRST
from pnorm.rankers._readings import CATEGORY
from pnorm.rankers._table import AS_ASKED, Ask, ColumnPlan, Source

LEFT_OUT, ANY_CASE = "left out", "any case"

SAID, WORDS, UNCLEAR, OWN, HAS_LEVELS = "", "words", "unclear", "own words", "has levels"
"""Kinds of notes without a line of the warning: remarks, words that count as missing, numbers with either mark, words
with an indicator, and (without a text) that some values of a column that is left out would be levels."""

DOUBTS, UNREAD = "of text read as categories", "with values that do not read"
SPELLED = "with several spellings of one value"
MAY_BE_MISSING, CODES = "with a value that may mean missing", "of numbers that may be codes, by their names"
LEAKS, AGREE = "that separate positives from negatives nearly alone", "that agree with the label"
ONE_SIDED = "with values, or missing values, nearly all on one side"
"""Kinds of notes with a line of the warning, which begins so."""

_LINES = (LEFT_OUT, DOUBTS, UNREAD, CODES, SPELLED, MAY_BE_MISSING, LEAKS, AGREE, ONE_SIDED)
_SUSPECTED = dict.fromkeys((LEAKS, AGREE, ONE_SIDED), "suspected")
UNASKED = (CODES, SPELLED, LEAKS, AGREE, ONE_SIDED)
"""Kinds of which columns that `kinds` names have no line."""

_ORDER = (DOUBTS, WORDS, UNCLEAR, UNREAD, OWN, MAY_BE_MISSING, CODES, LEAKS, AGREE, ONE_SIDED)
"""The order of notes in the plan, behind those of other kinds."""

ASKED = (WORDS, UNCLEAR, UNREAD)
"""Kinds of which an `Ask` is made."""

_COLUMNS = "Columns"
ALL_RARE = f"{_COLUMNS} asked for as categories, whose values are all rare"

TWO = (("decimal point", "decimal comma"), (DAY_FIRST, MONTH_FIRST))
"""Words of `kinds` for two readings of one text."""

_SAYS = {
    "decimal point": "says which mark numbers have before the fraction",
    DAY_FIRST: "says what dates begin with",
}
"""Endings of the hint in the warning that names two kinds, by the first of the two."""

MOST_NAMED = 4
"""Words, at most, of which the command offers to count each as missing."""

_OF_TIME = "of numbers with units of time"
_DOES = {
    CATEGORY: ("makes levels of a column", LEFT_OUT, DOUBTS, CODES),
    DURATION: ("reads numbers with units of time", _OF_TIME),
    ANY_CASE: ("merges spellings", SPELLED),
    "leave out": ("drops what is known only after the outcome", LEAKS, AGREE, ONE_SIDED),
}
"""For words of `kinds`, their effect, and the lines of the warning that hint at them."""

_WIDTH = 120
"""Characters of a line of a warning, at most."""


class TableWarning(UserWarning):
    """A warning of columns of a table that are left out, or that may be known only after the outcome.

    Its text has the names of the columns. The `plan` of the weak rankers has the reasons. The same text is printed
    once for a line of code, also if it is that of a cross-validation, unless a filter of `warnings` says otherwise.

    Examples
    --------
    >>> import warnings
    >>> import pnorm
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", pnorm.rankers.TableWarning)
    ...     H = pnorm.rankers.from_table({"one": [1, 1, 1], "n": [5, 6, 5]}, {"one": [1, 1, 1], "n": [1, 6, 2]})
    >>> print(str(caught[0].message).partition(".")[0])
    Columns left out: one
    """


@dataclass(frozen=True)
class Note:
    """A note on a column."""

    kind: str
    text: str


def in_order(notes: Sequence[Note]) -> str:
    """Return the texts of notes as the plan has them."""
    place = {kind: place for place, kind in enumerate(_ORDER)}
    return "; ".join([note.text for note in sorted(notes, key=lambda note: place.get(note.kind, -1)) if note.text])


@dataclass(frozen=True, eq=False)
class Learned:
    """The plan of a column, and the source of its weak rankers."""

    plan: ColumnPlan
    source: Source | None = None
    ask: Ask | None = None
    """A doubt about the column, such as values that may count as missing."""
    kinds: frozenset[str] = frozenset()
    """The kinds of its notes."""

    def has(self, line: str) -> bool:
        """Return whether a line of the warning names the column."""
        if line == LEFT_OUT:
            return self.source is None and self.plan.note != AS_ASKED and ALL_RARE not in self.kinds
        if line == UNREAD:
            return self.ask is not None and not self.ask.lost
        return line in self.kinds and self.source is not None


def tell(learned: Sequence[Learned], of_estimator: bool) -> None:
    """Warn, once, of columns that are left out, are in doubt, or may be known only after the outcome.

    The message has names only, so that it is mostly the same in all folds of a cross-validation. It is not printed
    again for a column that changes from one reason for suspicion to another.
    """
    of_kind = {line: columns for line in _LINES if (columns := [of for of in learned if of.has(line)])}
    all_rare = [of.plan.name for of in learned if ALL_RARE in of.kinds]
    told = _TOLD.get()
    if not (of_kind or all_rare) or told:
        return
    if told is not None:
        told.append(True)
    if all_rare:
        warn(
            f"{ALL_RARE}: {_few(list(map(shown, all_rare)))}. Their values are not used; merge them into fewer levels, "
            "or leave the columns out",
            TableWarning,
            once=[(ALL_RARE, name) for name in all_rare],
        )
    if not of_kind:
        return
    of_time = any(of.ask is not None and DURATION in of.ask.kinds for of in of_kind.get(DOUBTS, ()))
    lines = {*of_kind, *[_OF_TIME] * of_time}
    asked = {kind for of in learned if of.ask is not None for kind in of.ask.kinds}
    uses = [f'"{one}" or "{other}" {_SAYS[one]}' for one, other in TWO if {one, other} <= asked]
    uses += [f'"{kind}" {does}' for kind, (does, *of) in _DOES.items() if not lines.isdisjoint(of)]
    hints = [f'pass kinds={{"COLUMN": KIND}} to change that: {", ".join(uses)}'] * bool(uses)
    unread = {word for of in of_kind.get(UNREAD, ()) if of.ask is not None for word in of.ask.words}
    apart = {value for of in of_kind.get(MAY_BE_MISSING, ()) for value in of.plan.apart}
    for line, what, values in (
        (UNREAD, "that do not read", sorted(unread)[:MOST_NAMED]),
        (MAY_BE_MISSING, "that mean missing", sorted(apart)[:MOST_NAMED]),
    ):
        by_option = f", or pass missing={values!r}" * bool(values and of_estimator)
        hints += [f"replace values {what} with None{by_option}"] * (line in of_kind)
    texts = [
        _wrapped(f"{_COLUMNS} {line}: {_few([_named(line, of) for of in columns])}.")
        for line, columns in of_kind.items()
    ]
    facts = [(_SUSPECTED.get(line, line), of.plan.name) for line, columns in of_kind.items() for of in columns]
    plan_called = "model.rankers_.plan" if of_estimator else "H.plan"
    warn("\n".join([*texts, f"{plan_called} has the reasons; {'; '.join(hints)}"]), TableWarning, once=facts)


def _named(line: str, of: Learned) -> str:
    """Return a column in a warning, with the values that it is about, if these are the same in most folds."""
    return shown(of.plan.name) + f" ({', '.join(of.plan.apart)})" * (line == MAY_BE_MISSING)


_TOLD: ContextVar[list[bool] | None] = ContextVar("_TOLD", default=None)
"""Not empty if the tables of this run have been warned of; None if every table is warned of."""


@contextlib.contextmanager
def told_once(told: list[bool]) -> Iterator[None]:
    """Warn of the first of the tables that share the list, such as the training rows of the folds of one call."""
    token = _TOLD.set(told)
    try:
        yield
    finally:
        _TOLD.reset(token)


def is_of_columns(message: str) -> bool:
    """Return whether this is the message of a `TableWarning`, whose facts are also in the plan."""
    return message.startswith(tuple([f"{_COLUMNS} {line}: " for line in _LINES]))


def _wrapped(text: str) -> str:
    """Return text as lines, of which those after the first one are indented."""
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _few(items: Sequence[str], most: int = 12) -> str:
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")
