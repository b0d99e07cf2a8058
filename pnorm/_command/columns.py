"""The columns of a file to learn from, and its positive labels."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks.labelled import is_plain, plainly_positive
from pnorm._checks.text import first, nearest, shown
from pnorm._checks.words import reads_as_missing
from pnorm._command import options
from pnorm._command.terminal import CommandError, called_as_in_file, pasted, path_shown
from pnorm._job import hold_out
from pnorm._tables import NEGATIVE, RANK, Batches, Source, absent, positive_labels
from pnorm._tables.labels import word
from pnorm._tables.sums import told_of_sums

TO_TRAIN, TO_TEST, TO_MEASURE = "rows to train on", "rows to test on", "rows to measure the list by"
"""The purpose of rows with labels, in messages."""


@dataclass(frozen=True)
class Columns:
    """The names of the columns that options give."""

    used: list[str]
    """The columns to learn from, or that a model may read, in the order of the file."""
    label: str | None = None
    id: str | None = None
    time: str | None = None
    header: Sequence[str] = ()
    """All columns of the file."""
    missing: tuple[str, ...] = ()
    """Words for missing values in all columns, as `folded` writes them."""
    missing_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words for missing values in one column, as `folded` writes them, by the name of the column."""
    met: set[tuple[str, str]] = field(default_factory=set)
    """The words for missing values that were found so far, with their column; "" for all columns."""

    def words(self, name: str) -> tuple[str, ...]:
        """Return the words for missing values in a column."""
        return (*self.missing, *self.missing_of.get(name, ()))

    def cleaned(self, table: Any) -> Any:
        """Return columns without the words for missing values."""
        if not (self.missing or self.missing_of):
            return table
        columns = table if _checks.is_columns(table) else dict(zip(table.column_names, table.columns, strict=True))
        found = {name: _checks.without(column, self.words(name)) for name, column in columns.items()}
        for name, column in columns.items():
            if found[name] is not column:
                new = self._given(name).difference(self.met)
                self.met.update([of for of in new if _checks.without(column, of[1:]) is not column])
        return found

    def _given(self, name: str) -> set[tuple[str, str]]:
        """Return the words for missing values in a column, with the column that they are given for."""
        return {*[("", word) for word in self.missing], *[(name, word) for word in self.missing_of.get(name, ())]}

    def unmet(self) -> list[str]:
        """Return warnings of words for missing values that no row has, when all were read."""
        found = []
        for name, text in sorted(set().union(*map(self._given, ["", *self.used])) - self.met):
            hint, where = "", f"column {_checks.shown(name)}" if name else "any column"
            if "," in text:
                parts = [f"{name}={part}" if name else part for part in text.split(",")]
                hint = f". Repeat the option for each: {pasted(*[of for part in parts for of in ('--missing', part)])}"
            found.append(f"no row has {_checks.shown(text)} of --missing in {where}{hint}")
        return found


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a file."""

    source: Source
    table: Any
    """The columns that are learned from, as a dictionary."""
    ids: list[str] | None = None
    labels: list[str] | None = None
    positive: list[str] = field(default_factory=list)
    """The labels that are positive, in all their spellings."""
    y: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    """Whether a row is positive."""
    numbers: NDArray[np.intp] | None = None
    """The numbers of the rows in the file, if they were drawn from more."""
    counts: tuple[int, int] | None = None
    """The numbers of rows and of positives of the file, if these rows were drawn from more."""
    n_empty: int = 0
    """The number of rows of the file without a label: set apart, or negative if `is_empty_negative`."""
    is_empty_negative: bool = False
    n_undated: int = 0
    """The number of rows with a label that have no time, if --time is given."""
    times: hold_out.Times | None = None
    """The reader of the column of --time, if the option is given."""
    all_rows: Rows | None = None
    """All rows of the file, if those without a label were set apart in memory."""
    at: NDArray[np.intp] | None = None
    """The numbers of these rows among `all_rows`."""

    @property
    def all_counts(self) -> tuple[int, int]:
        """The numbers of rows and of positives of the file."""
        return (self.y.size, int(self.y.sum())) if self.counts is None else self.counts

    def number(self, i: int) -> int:
        """Return the number of a row in the file."""
        numbers = self.numbers if self.at is None else self.at
        return i if numbers is None else int(numbers[i])

    def place(self, i: int) -> str:
        """Return the place of a row in the file, for messages."""
        return self.source.place(i if self.at is None else int(self.at[i]))

    def column(self, name: str) -> Any:
        """Return a column of the file for these rows."""
        column = self.source.column(name)
        return column if self.at is None else _checks.rows(column, self.at)


def rows_of(
    source: Source, path: str, columns: Columns, arguments: argparse.Namespace, what: str, like: Rows | None = None
) -> Rows:
    """Return the rows of a file, and their labels; `like` are other rows with the same meaning of labels."""
    assert columns.label is not None
    labels, has_label = labels_of(source, path, columns.label, what, arguments, None if like is None else like.positive)
    n_undated, times = 0, None
    if columns.time is not None:
        times = times_of(columns, path, arguments, source.place)
        at = np.flatnonzero(has_label | (arguments.unlabelled == NEGATIVE))
        with read_as_times(columns.time, source.place):
            times.add(_checks.rows(source.column(columns.time), at), at)
            n_undated = times.n_missing
    n_empty = int(np.count_nonzero(~has_label)) if arguments.unlabelled == NEGATIVE else 0
    known = Counter([label for label, known in zip(labels, has_label.tolist(), strict=True) if known])
    positive = positive_of(known, columns.label, arguments.positive, path, like, n_empty, arguments.test is not None)
    rows = rows_of_labels(source, columns, labels, positive)
    source.notes += told_of_sums(source, columns.used if columns.id is None else [*columns.used, columns.id], has_label)
    return replace(with_labels(rows, has_label, n_empty > 0), n_undated=n_undated, times=times)


def times_of(columns: Columns, path: str, arguments: argparse.Namespace, place: Callable[[int], str]) -> hold_out.Times:
    """Return the reader of the column of --time, with the options of the column."""
    assert columns.time is not None
    kind = kinds_of(columns, path, arguments).get(columns.time)
    return hold_out.Times(columns.time, kind, columns.words(columns.time), place=place)


@contextmanager
def read_as_times(name: str, place: Callable[[int], str]) -> Iterator[None]:
    """Add the options that help to errors on a column of times, and the lines of its rows."""
    try:
        with called_as_in_file(lambda of, row: place(row) if of == "source" else None, but=hold_out.UnreadTimesError):
            yield
    except hold_out.UnreadTimesError as error:
        words = [pasted("--kind", f"{name}={kind.replace(' ', '-')}") for kind in error.kinds]
        raise CommandError(f"{error}. Use {' or '.join(words)}" if words else str(error)) from None


def kinds_of(columns: Columns, path: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the kinds of --kind by the names of the columns, that of --time among them."""
    return by_name(options.kinds(arguments.kind or []), columns, path, "--kind", columns.time)


def with_labels(rows: Rows, has_label: NDArray[np.bool_], is_empty_negative: bool) -> Rows:
    """Return the rows that have a label, or all of them if the others are negative."""
    n_empty = int(np.count_nonzero(~has_label))
    if is_empty_negative or not n_empty:
        return replace(rows, n_empty=n_empty, is_empty_negative=is_empty_negative)
    at = np.flatnonzero(has_label)
    ids, labels = [None if of is None else _checks.rows(of, at) for of in (rows.ids, rows.labels)]
    return Rows(
        rows.source,
        _checks.rows(rows.table, at),
        ids,
        labels,
        rows.positive,
        rows.y[at],
        n_empty=n_empty,
        all_rows=rows,
        at=at,
    )


def rows_of_labels(source: Source, columns: Columns, labels: list[str], positive: set[str]) -> Rows:
    """Return rows with their labels, given the positive labels."""
    table = columns.cleaned(source.columns(columns.used))
    ids = None if columns.id is None else source.texts(columns.id)
    return Rows(source, table, ids, labels, sorted(positive), np.array([label in positive for label in labels], bool))


def check_test(test: Source | Batches, path: str, columns: Columns) -> None:
    """Raise CommandError for a file of --test that lacks a column."""
    for name in (columns.label, *columns.used, columns.id):
        if name is not None and name not in (test.names or ()):
            near = nearest(name, test.names or ())
            hint = (
                f"did you mean {_checks.shown(near[0])}?" if near else f"its columns are {first(test.names or (), 20)}"
            )
            raise CommandError(f"no column {_checks.shown(name)} in {path_shown(path)}, the file of --test; {hint}")
    _check_rows(test, path)


def _check_rows(source: Source | Batches, path: str) -> None:
    if (source.n_rows if isinstance(source, Batches) else len(source)) == 0:
        raise CommandError(f"{path_shown(path)} has a header and no rows{getattr(source, 'elsewhere', '')}")


def columns_of(source: Source | Batches, path: str, arguments: argparse.Namespace) -> Columns:
    """Return the columns that options name; refuse a file that lacks a column, a name or rows."""
    header = source.names or ()
    _check_rows(source, path)

    def one(given: str | None) -> str | None:
        return None if given is None else column_named(given, header, path, getattr(source, "elsewhere", ""))

    label, ids, time = one(arguments.label), one(arguments.id), one(getattr(arguments, "time", None))
    ignored = _several(arguments.ignore, header, path)
    only = _several(arguments.only, header, path)
    for option, name in (("--label", label), ("--id", ids)):
        for other, several in (("--ignore", ignored), ("--only", only)):
            if name in several and (name == label or other == "--only"):
                raise CommandError(f"{other} {shown(name)} is the column of {option}")
    if label is not None and label in (ids, time):
        raise CommandError(f"{'--id' if label == ids else '--time'} {shown(label)} is the label")
    both = [name for name in only if name in ignored]
    if both:
        raise CommandError(f"--only and --ignore both name {_checks.shown(both[0])}. Remove it from one of them")
    beside = {label, ids, *ignored, *source.index.difference(only)}
    used = [name for name in header if name not in beside and (not only or name in only)]
    if not used and arguments.model is None:
        raise CommandError(f"{path_shown(path)} has no column to learn from except the label {_checks.shown(label)}")
    return Columns(used, label, ids, time, header, *_missing(arguments.missing or (), [*used, time], header, path))


def _missing(
    given: Sequence[str], used: Sequence[str | None], header: Sequence[str], path: str
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the words of --missing for all columns, and those for one, which stands before an =."""
    words: list[str] = []
    of_columns: dict[str, list[str]] = {}
    for text in given:
        column, _, word = text.partition("=")
        if not (column and word.strip()):
            words.append(text)
            continue
        name = column_named(column, header, path)
        if name not in used:
            raise CommandError(f"--missing names {_checks.shown(name)}, which is not a column to learn from")
        of_columns.setdefault(name, []).append(word)
    return options.missing(words), {name: options.missing(of) for name, of in of_columns.items()}


def column_named(given: str, header: Sequence[str], path: str, elsewhere: str = "") -> str:
    """Return the column with a name, or else with a number from 1; `elsewhere` ends the message that there is none."""
    if given in header:
        return given
    if given.isascii() and given.isdigit() and len(given) < 10 and 1 <= int(given) <= len(header):
        return header[int(given) - 1]
    near = nearest(given, header)
    hint = f"; did you mean {_checks.shown(near[0])}?" if near else f"; its columns are {first(header, 20)}"
    raise CommandError(f"no column {_checks.shown(given)} in {path_shown(path)}{hint}{elsewhere}")


def _several(given: Sequence[str] | None, header: Sequence[str], path: str) -> list[str]:
    """Return the columns of an option that takes several; a name with a comma is looked for as a whole first."""
    found: list[str] = []
    for text in given or ():
        parts = [text] if text in header or "," not in text else [part.strip() for part in text.split(",")]
        found += [column_named(part, header, path) for part in parts if part]
    return list(dict.fromkeys(found))


def by_name(
    given: Collection[tuple[str, Any]], columns: Columns, path: str, option: str, beside: str | None = None
) -> dict[str, Any]:
    """Return the values of an option by the names of the columns: those to learn from, and one `beside` them."""
    found: dict[str, Any] = {}
    for text, value in given:
        name = column_named(text, columns.header, path)
        if name not in columns.used and name != beside:
            raise CommandError(f"{option} names {_checks.shown(name)}, which is not a column to learn from")
        if name in found:
            raise CommandError(
                f"{option} names {_checks.shown(name)} twice, as {shown(text)} as well. Leave one of them out"
            )
        found[name] = value
    return found


def labels_of(
    source: Source,
    path: str,
    column: str,
    what: str,
    arguments: argparse.Namespace,
    positive: Collection[str] | None = None,
) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the labels of all rows, and which rows have one; refuse missing ones without --unlabelled.

    `positive` are the positive labels of other rows, which apply to these rows too.
    """
    labels, unlabelled = source.texts(column), arguments.unlabelled
    positive = [*(positive or ()), *(arguments.positive or ())]
    if {word(label) for label in positive}.isdisjoint(map(word, set(labels))):
        positive = arguments.positive
    check_negative(labels, arguments.negative, what)
    missing = set_apart(set(labels), positive, arguments.negative)
    has_label = np.array([text not in missing for text in labels], bool)
    counts = Counter([text for text in labels if text not in missing])
    if missing and unlabelled is None:
        if what == TO_TRAIN:
            of_rows = Counter([text for text in labels if not reads_as_missing(text)])
            check_positive(of_rows, column, looked_for(of_rows, arguments.positive, arguments.test is not None))
        rows = np.flatnonzero(~has_label)
        many = f", and in {rows.size:,} of {len(labels):,} rows" if rows.size > 1 else ""
        told = advice(counts, what, arguments.positive, arguments.negative)
        other = "" if arguments.negative is None else ", or is neither positive nor negative,"
        raise CommandError(
            f"the label {_checks.shown(column)} is missing{other} in "
            f"{source.place(int(rows[0]))}{many}; {what} need one. {told}"
        )
    if missing:
        check_known(counts, column, path, unlabelled)
    return labels, has_label


def check_positive(counts: Counter[str], column: str, positive: Sequence[str] | None) -> None:
    """Raise CommandError if no row has any of the labels of --positive, and some have others."""
    if counts and positive and {word(label) for label in counts}.isdisjoint(map(word, positive)):
        raise CommandError(str(absent(positive[0], counts, f"column {_checks.shown(column)}")))


def check_negative(labels: Collection[str], negative: Sequence[str] | None, what: str) -> None:
    """Raise CommandError if no row has a label of --negative. Rows to test on need only one of them."""
    if negative is None:
        return
    known = {word(text) for text in labels}
    absent = [label for label in negative if word(label) not in known]
    if absent and (what != TO_TEST or len(absent) == len(negative)):
        have = first(sorted({shown(text) for text in labels if not reads_as_missing(text)}), 8, str)
        raise CommandError(f"no row has the label {_checks.shown(absent[0])} of --negative; the labels are {have}")


def set_apart(labels: Collection[str], positive: Collection[str] | None, negative: Collection[str] | None) -> set[str]:
    """Return the labels that count as none: missing ones, and with --negative those that are neither."""
    missing = {text for text in labels if reads_as_missing(text)}
    if negative is None:
        return missing
    given = {word(label) for label in (*negative, *(positive or ()))}

    def is_kept(text: str) -> bool:
        known = word(text)
        return known in given or (positive is None and is_plain(known) is True)

    return missing | {text for text in labels if not is_kept(text)}


def check_known(counts: Counter[str], column: str, path: str, unlabelled: str | None) -> None:
    """Raise CommandError if the labels of a column with empty ones are none, or one that leaves no negative row."""
    where = f"column {_checks.shown(column)} of {path_shown(path)}"
    if not counts:
        raise CommandError(f"{where} has no labels. Fill in some of them")
    if unlabelled == RANK and _is_one(counts):
        raise CommandError(f"{where} has one label and no negative row. {_only(counts)} instead of --unlabelled {RANK}")


def _is_one(counts: Counter[str]) -> bool:
    return len({word(label) for label in counts}) == 1


def _only(counts: Counter[str]) -> str:
    label = f"{shown(next(iter(counts)), 40)} ({sum(counts.values()):,})"
    return f"The only label is {label}. If an empty label means negative, use --unlabelled {NEGATIVE}"


def advice(
    counts: Counter[str],
    what: str,
    positive: Collection[str] | None = None,
    negative: Collection[str] | None = None,
) -> str:
    """Return the option for rows without a label, given the labels of the others, and other options they need."""
    if not counts:
        return "No row has a label. Check that this is the right column"
    last = ", or leave --label out" if what == TO_MEASURE else ""
    if _is_one(counts):
        return f"{_only(counts)}{last}"
    use = {
        TO_TRAIN: "to learn from the other rows and rank these with them",
        TO_TEST: "to test on the other rows",
        TO_MEASURE: "to measure by the other rows",
    }[what]
    words = {word(label) for label in counts}
    if what == TO_TRAIN and positive is None and not (len(words) == 2 and plainly_positive(list(counts))):
        labels = first([f"{shown(label)} ({n:,})" for label, n in counts.most_common()], 8, str)
        last += f". The other rows have the labels {labels}; name the positive label with --positive as well"
        last += merged(counts)
    if what == TO_TRAIN:  # in batches; in memory, all labels were known and this was an error
        unknown = [label for label in positive or () if word(label) not in words]
        last += f". No row before it has the label {_checks.shown(unknown[0])} of --positive" if unknown else ""
    if negative is not None:
        return f"Add --unlabelled {RANK} {use}{last}"
    return f"Add --unlabelled {RANK} {use}, or --unlabelled {NEGATIVE} if an empty label means negative{last}"


def merged(counts: Counter[str]) -> str:
    """Return sentences on labels that count as one, and on those that are neither positive nor negative."""
    same: dict[str, list[str]] = {}
    for label in counts:
        same.setdefault(word(label), []).append(shown(label, 20))
    several = [" and ".join(sorted(labels)) for labels in same.values() if len(labels) > 1]
    told = f". Capitals and blanks make no difference: {first(several, 4, str)} count as one" if several else ""
    more = ". Repeat --positive if several are positive. With --negative, all labels that are not named count as none"
    return told + (more if len(same) > 2 else "")


def positive_of(
    counts: Counter[str],
    column: str,
    wanted: Sequence[str] | None,
    path: str,
    like: Rows | None = None,
    n_empty: int = 0,
    elsewhere: bool = False,
) -> set[str]:
    """Return the labels that mean positive, in all their spellings; refuse a column with one kind of rows.

    `n_empty` rows without a label are negative.
    """
    known, where = looked_for(counts, wanted, elsewhere), ""
    if like is not None:
        known, where = [*like.positive, *(wanted or ())], f" of {path_shown(path)}"
    try:
        return positive_labels(counts, column, known, where, "--positive", n_empty)
    except ValueError as error:
        if "--positive" not in str(error):
            raise
        raise CommandError(f"{error}{merged(counts)}") from None


def looked_for(counts: Collection[str], wanted: Sequence[str] | None, elsewhere: bool = False) -> Sequence[str] | None:
    """Return the labels of --positive. If no row has one of them, return that one alone, for the message.

    With `elsewhere`, some of them may be labels of another file.
    """
    known = {word(label) for label in counts}
    missing = [label for label in wanted or () if word(label) not in known]
    return missing[:1] if missing and not (elsewhere and wanted != missing) else wanted
