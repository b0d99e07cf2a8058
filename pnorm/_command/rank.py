"""Rank the rows of a file with a saved model."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import _checks
from pnorm._categories import EXAMPLES, Seen, UnknownLevelWarning, Unread, placed, tell
from pnorm._checks import Vector
from pnorm._checks.text import counted, first, nearest, shown
from pnorm._command import columns as _columns
from pnorm._command import cutoffs, opening, printing, scores_file
from pnorm._command.columns import Columns, Rows
from pnorm._command.large import SIDE, Reader, write_in_order
from pnorm._command.progress import Progress
from pnorm._command.terminal import CommandError, called_as_in_file, one_line, pasted, path_shown, say
from pnorm._cutoff import kept_on
from pnorm._job.learn import kept
from pnorm._job.quality import quality
from pnorm._job.sample import Sample
from pnorm._job.tested import first_places, means, reasons
from pnorm._reasons import fingerprint
from pnorm._reasons.explain import without_level_trends
from pnorm._report.report import Beside
from pnorm._report.verdicts import (
    NO_PROBABILITIES,
    checked_probabilities,
    doubts,
    few_rows,
    hidden_by,
    in_test,
    left_out,
    of_leaks,
    unwritten_probabilities,
)
from pnorm._score import scores_and_levels, sigmoid
from pnorm._tables import NEGATIVE, RANK, Batch, Batches, Source
from pnorm._tables.labels import word
from pnorm.rankers._table import Table


@dataclass(frozen=True, eq=False)
class _Ranked:
    """A file, and how a model ranks its rows."""

    model: pnorm.ScoringFunction
    rows: Rows
    label: str | None
    """The column of the labels."""
    f: Vector
    take: NDArray[np.bool_] | None
    """Which rows to take: those of --budget, or those above the cut-off of the model."""
    drift: pnorm.Drift | None
    """Changes since training, if the model contains a profile of the training rows."""
    y: NDArray[np.bool_]
    """Which rows are positive, if they have labels."""
    has_label: NDArray[np.bool_]
    """Which rows the list is measured by, if they have labels."""
    first: NDArray[np.intp]
    """The rows of the list that are printed, the first one first."""
    large: Large | None = None
    """The reader, if the rows are read in batches: then `rows` are a sample of them and the first of the list."""

    @property
    def at_hand(self) -> NDArray[np.intp]:
        """The places of the first rows among `rows`."""
        return self.first if self.rows.numbers is None else np.searchsorted(self.rows.numbers, self.first)

    @cached_property
    def means(self) -> Vector:
        """These parts, in which trends that are level in all rows have no effect."""
        return without_level_trends(self.beside[0], self.rows.table, self.model.H, self.model.lam)

    @cached_property
    def beside(self) -> tuple[Vector, str]:
        """The average parts that effects are relative to: of training rows, or of these if the model has none."""
        model = self.model
        if model.average is not None:
            return model.average, model.compared_with
        table = self.rows.table if self.large is None else _checks.rows(self.rows.table, self.large.drawn)
        return means(table, model.H, model.lam), "the average row of the file"


@dataclass(frozen=True, eq=False)
class Large:
    """Rows that are read batch by batch."""

    reader: Reader
    drawn: NDArray[np.intp]
    """Which of the rows in memory were drawn at random."""


def file(arguments: argparse.Namespace) -> None:
    """Rank the rows of a file, and measure the list if the rows have labels."""
    path = arguments.file
    seen: list[Seen] = []
    with Progress() as progress:
        progress("reading")
        model = pnorm.load(arguments.model)
        if arguments.budget is not None and _push(model) == "bottom":
            raise CommandError(
                "--budget takes rows from the top of the list, and this model optimises the bottom. Leave --budget out"
            )
        needed = next(iter(getattr(model.H, "_found", None) or model.H.column_names or ()), None)
        with opening.looking_for(arguments, arguments.label or arguments.id or needed):
            source = opening.opened(arguments, path)
            if isinstance(source, Batches) and not isinstance(model.H, Table):
                source = opening.whole(arguments, path)
            columns = _columns.columns_of(source, path, arguments)
            if isinstance(source, Batches):
                ranked = _of_batches(arguments, model, source, columns, seen, progress)
            else:
                ranked = _of_source(arguments, model, source, columns, seen, progress)
    for message in _unknown(seen, () if ranked.drift is None else ranked.drift.warnings):
        say(f"pnorm: warning: {one_line(message)}")
    unwritten = _print(arguments, ranked)
    with Progress() as progress:
        lines = _write(arguments, ranked, progress, unwritten)
    printing.section("Files written", lines)
    if arguments.out is None:
        step = ("Write the scores of all rows", printing.again(arguments, ["--out", "ranked.csv"]))
        printing.section("Next step", printing.steps([step]))


def _of_source(
    arguments: argparse.Namespace,
    model: pnorm.ScoringFunction,
    source: Source,
    columns: Columns,
    seen: list[Seen],
    progress: Progress,
) -> _Ranked:
    """Rank rows in memory, and add unknown levels to `seen`."""
    labels = None
    if columns.label is not None:
        known = _positive(arguments, model)
        labels = _columns.labels_of(source, arguments.file, columns.label, _columns.TO_MEASURE, arguments, known)
    table = source.columns(_names(arguments, model, columns)) if isinstance(model.H, Table) else None
    table = source.frame(columns.used) if table is None else table
    progress("ranking")
    others = [name for name in columns.used if name not in (getattr(model.H, "_found", None) or ())]
    unread, may_miss = list[Seen](), isinstance(model.H, Table)
    with _fitting(arguments, unread, lambda name, row: source.place(row) if name == "X" else None, others, may_miss):
        f = model.score(table)
    seen += placed(unread, source.place)
    rows = _rows(arguments, model, source, columns, table, labels)
    few = first_places(f, _top(arguments, f), _push(model))
    take, drift = _taken(arguments, model, f), _drift(arguments, model, rows.table)
    has_label = np.ones(f.size, bool) if labels is None or arguments.unlabelled == NEGATIVE else labels[1]
    return _Ranked(model, rows, columns.label, f, take, drift, rows.y, has_label, few)


def _of_batches(
    arguments: argparse.Namespace,
    model: pnorm.ScoringFunction,
    batches: Batches,
    columns: Columns,
    seen: list[Seen],
    progress: Progress,
) -> _Ranked:
    """Rank rows that are read in batches, and add unknown levels to `seen`."""
    if arguments.report is not None:
        raise CommandError(
            f"--report with --model needs all rows in memory, and {path_shown(arguments.file)} is read in batches. "
            "Leave --report out, or rank fewer rows at a time"
        )
    columns = replace(columns, used=_names(arguments, model, columns), time=None)
    like, what = _positive(arguments, model), _columns.TO_MEASURE
    reader = Reader(
        batches,
        columns,
        arguments.file,
        arguments.positive,
        like,
        progress,
        arguments.unlabelled,
        what,
        arguments.negative,
    )
    top, some = [
        Sample(most, reader.names) for most in (printing.TOP if arguments.top is None else arguments.top, SIDE)
    ]
    others = [name for name in reader.batches.names or () if name not in columns.used]
    rng, sign = np.random.default_rng(0), 1.0 if _push(model) == "bottom" else -1.0
    f, y, has_label, unknown = [np.empty(0)], [np.zeros(0, bool)], [np.zeros(0, bool)], list[Seen]()
    for batch in reader.read("ranking"):
        rows = np.arange(batch.n_rows)
        with _fitting(arguments, [], partial(_place, batch), others):
            own, of_batch = scores_and_levels(reader.table(batch, rows), model.H, model.lam)
            of_batch = placed(of_batch, batch.place)
        unknown = [a + b for a, b in zip(unknown, of_batch, strict=True)] if unknown else of_batch
        f.append(own)
        for of_all, of_batch_rows in zip((y, has_label), reader.known(batch), strict=True):
            of_all.append(of_batch_rows)
        some.add(batch.table, rows, rng.random(batch.n_rows), batch.first_row)
        if top.most:
            top.add(batch.table, rows, sign * own, batch.first_row)
    with _fitting(arguments, seen, lambda name, row: None):
        tell(unknown)
    scores, first_rows = np.concatenate(f), top.found()[1]
    first_rows = first_rows[np.argsort(sign * scores[first_rows], kind="stable")]
    found, (_, is_drawn) = reader.rows([top, some], set() if columns.label is None else reader.positives())
    drawn = np.flatnonzero(is_drawn)
    drift, take = _drift(arguments, model, _checks.rows(found.table, drawn)), _taken(arguments, model, scores)
    is_pos, known_rows = np.concatenate(y), np.concatenate(has_label)
    large = Large(reader, drawn)
    return _Ranked(model, found, columns.label, scores, take, drift, is_pos, known_rows, first_rows, large)


def _positive(arguments: argparse.Namespace, model: pnorm.ScoringFunction) -> list[str] | None:
    """Return the positive labels of the training rows, if the model has them and --positive is not given."""
    known = model.metadata.get("positive")
    return list(map(str, known)) if arguments.positive is None and isinstance(known, list) else None


def _place(batch: Batch, name: str, row: int) -> str | None:
    return batch.place(row) if name == "X" else None


@contextmanager
def _fitting(
    arguments: argparse.Namespace,
    seen: list[Seen],
    place: Callable[[str, int], str | None],
    others: Sequence[str] = (),
    may_miss: bool = True,
) -> Iterator[None]:
    """Raise CommandError if a model does not fit the rows, and keep unknown levels.

    `others` are columns not read. `may_miss` is whether the model takes missing values.
    """
    try:
        of_levels = kept(seen, UnknownLevelWarning, read=lambda warning: warning._seen)
        with of_levels, called_as_in_file(place, rows="the file"):
            yield
    except (CommandError, OverflowError) as error:
        what = f"{path_shown(arguments.model)} does not fit {path_shown(arguments.file)}"
        message = str(error)
        lacks = re.match("X lacks the columns? '([^']*)'", message)
        if lacks is not None:
            near = [] if message.endswith("?") else nearest(lacks[1], others)
            message = f"the file{message[1:]}{f'; did you mean {_checks.shown(near[0])}?' if near else ''}"
            message = message.replace("which the weak rankers need", "which the model needs")
            if may_miss and not message.endswith("?"):
                it = (
                    "it, empty if it is"
                    if message.startswith("the file lacks the column ")
                    else "them, empty if they are"
                )
                message += f". Add {it} unknown"
        raise CommandError(f"{what}: {message}") from None


def _unknown(seen: list[Seen], moved: Sequence[str]) -> list[str]:
    """Return warnings of unknown levels, except those that a sentence on changes already contains."""
    said = []
    for of in seen:
        name = shown(of.name or of.column)
        if isinstance(of, Unread):
            said.append(f"{name}: {of.told()}. Correct them, or train with another --kind for this column")
            continue
        if of.unknown and not any(sentence.startswith(f"{name} has ") for sentence in moved):
            levels = counted(len(of.found), "level") if len(of.found) < EXAMPLES else "levels"
            said.append(
                f"{name} has {levels} that the training rows do not have, in {counted(of.unknown, 'row')}: "
                f"{first(of.found, EXAMPLES - 1)}"
            )
        if not of.unknown and not any(sentence.startswith(f"{name} is missing ") for sentence in moved):
            said.append(
                f"{name} is missing in all {counted(of.missing, 'row')}, and was never missing in the training rows"
            )
    return said


def _names(arguments: argparse.Namespace, model: pnorm.ScoringFunction, columns: Columns) -> list[str]:
    """Return the columns that a model of a table reads."""
    assert isinstance(model.H, Table)
    known = model.H._found
    if known is not None and not any(name in known for name in columns.used):
        raise CommandError(
            f"{path_shown(arguments.model)} does not fit {path_shown(arguments.file)}: the model needs the columns "
            f"{first(list(known), 20)}; the file has {first(columns.header, 20)}"
        )
    return list(columns.used) if known is None else [name for name in columns.used if name in known]


def _rows(
    arguments: argparse.Namespace,
    model: pnorm.ScoringFunction,
    source: Source,
    columns: Columns,
    table: Any,
    of_labels: tuple[list[str], NDArray[np.bool_]] | None,
) -> Rows:
    """Return the rows with their labels, if any; the model contains which labels are positive."""
    ids = None if columns.id is None else source.texts(columns.id)
    if of_labels is None:
        return Rows(source, table, ids)
    labels, has_label = of_labels
    counts = Counter([label for label, known in zip(labels, has_label.tolist(), strict=True) if known])
    n_empty, is_negative = int(np.count_nonzero(~has_label)), arguments.unlabelled == NEGATIVE
    n_negative = n_empty if is_negative else 0
    positive = set[str]()
    like = _positive(arguments, model)
    if like is not None:
        words = {word(label) for label in like}
        positive = {label for label in counts if word(label) in words}
    if not positive or (len(positive) == len(counts) and not n_negative):
        label, wanted = str(columns.label), arguments.positive
        positive = _columns.positive_of(counts, label, wanted, arguments.file, n_empty=n_negative)
    y = np.array([label in positive for label in labels], bool)
    sizes = len(labels) if is_negative else sum(counts.values()), int(y.sum())
    empty: dict[str, Any] = {"n_empty": n_empty, "is_empty_negative": is_negative and n_empty > 0}
    return Rows(source, table, ids, labels, sorted(positive), y, counts=sizes, **empty)


def _print(arguments: argparse.Namespace, ranked: _Ranked) -> str:
    """Print the results, and return why a file of scores has no probabilities; empty if it may have them."""
    model, rows, f = ranked.model, ranked.rows, ranked.f
    push = _push(model)
    if ranked.label is None:
        print(f"{path_shown(arguments.file)}: {counted(f.size, 'row')}")
    else:
        print(printing.labelled(arguments.file, rows, ranked.label))
    about = "" if model.p is None else f", trained with p = {model.p:g}{' at the bottom' * (push == 'bottom')}"
    of_file, n = model.metadata.get("file"), model.metadata.get("rows")
    if isinstance(of_file, str) and isinstance(n, int):
        about += f", on {counted(n, 'row')} of {shown(of_file)}"
    empty = printing.empty_labels(rows, "; the list is measured by the others", None, arguments.negative)
    about = f"ranked by {path_shown(arguments.model)}{about}"
    same = printing.repeated_ids(rows, _id_column(arguments, rows))
    label = next((name for name in rows.source.names or () if name == model.metadata.get("label")), None)
    if ranked.label is None and label is not None:
        same += [f"{shown(label, 40)} is the label of the model. To test the list: {pasted('--label', label)}"]
    printing.notes([*empty, about, *same, *rows.source.notes])
    told = [
        f"in training, {of.text} To be safe, train a model without {printing.it(of.columns)}."
        for of in of_leaks(model.H)
    ]
    printing.warn([*told, *([] if ranked.label is None else _trained_on(arguments, ranked))])
    hidden = hidden_by(model.metadata.get(NO_PROBABILITIES), "the test of the model")
    unwritten, checked, on_labels = left_out(hidden), "", ""
    if rows.labels is not None:
        pos, neg = [f[ranked.has_label & side] for side in (ranked.y, ~ranked.y)]
        of_sides = _chance(model, pos), _chance(model, neg)
        chance = None if of_sides[0] is None else of_sides
        n = pos.size + neg.size
        listed = printing.n_listed(arguments)
        measured = quality(
            pos,
            neg,
            push=push,
            probability=chance,
            n_listed=listed,
            of_test=False,
            budget=_depth(arguments, n),
        )
        title = f"Test on {n:,} rows with labels, {pos.size:,} of them positive"
        printing.section(
            title, [*printing.quality_lines(measured, below=in_test(model.H)), *printing.sentences(few_rows(measured))]
        )
        hidden, unwritten = doubts(measured), unwritten_probabilities(measured)
        checked = checked_probabilities(measured)
        on_labels = "" if model.cutoff is None else kept_on(model.cutoff, pos, neg)
    printing.section("Changes since training", _moved_lines(ranked.drift))
    if arguments.budget is not None:
        printing.section("Rows to take", cutoffs.budget_lines(f, ranked.take))
    elif model.cutoff is not None:
        printing.section("Cut-off", cutoffs.taken_lines(model.cutoff, f, on_labels))
    at, where = ranked.first, ranked.at_hand
    if at.size:
        take = None if ranked.take is None else ranked.take[at]
        chances = None if unwritten else _chance(model, f[at])
        found = printing.list_columns(push, f.size, rows, where, f[at], chances, take)
        why = reasons(_checks.rows(rows.table, where), model.H, model.lam, ranked.means)
        title = f"{push.capitalize()} of the list: {counted(at.size, 'row')} of {f.size:,}"
        notes = printing.list_notes(printing.numbering(rows, int(where[0])), ranked.beside[1])
        notes += printing.sentences(hidden)
        printing.section(title, [*printing.list_lines(found, why, checked=checked), *notes])
    return unwritten


def _trained_on(arguments: argparse.Namespace, ranked: _Ranked) -> list[str]:
    """Return a warning if the rows that the list is measured on may be those that the model was trained on."""
    about, name = ranked.model.metadata, printing.base_name(arguments.file)
    return fingerprint.warnings(about, ranked.f, name, str(about.get("file")))


def _top(arguments: argparse.Namespace, f: Vector) -> int:
    """Return how many rows of the list are printed."""
    return min(printing.n_listed(arguments), f.size)


def _write(arguments: argparse.Namespace, ranked: _Ranked, progress: Progress, unwritten: str) -> list[str]:
    """Write the files of the options, and return lines on them; `unwritten` is why probabilities are left out."""
    model, rows, f = ranked.model, ranked.rows, ranked.f
    lines, chance = [], None if unwritten else _chance(model, f)
    without = f", {unwritten}" if unwritten else ""
    if arguments.out is not None and ranked.large is not None:
        ranked.large.reader.progress = progress
        write_in_order(arguments.out, ranked.large.reader, f, chance, ranked.take, has_label=_marks(arguments, ranked))
        lines += [f"scores of {counted(f.size, 'row')}{without}: {path_shown(arguments.out)}", printing.IN_ORDER]
    elif arguments.out is not None:
        progress("writing the scores")
        why = reasons(rows.table, model.H, model.lam, ranked.means)
        is_apart, of_ids = _marks(arguments, ranked), _id_column(arguments, rows)
        labels = None if rows.labels is None else (str(ranked.label), rows.labels)
        columns = scores_file.columns(f, rows.ids, chance, ranked.take, None, why, is_apart, of_ids, labels)
        scores_file.write(arguments.out, columns, first_places(f, f.size, "top"))
        lines.append(f"scores of {counted(f.size, 'row')}, best first{without}: {path_shown(arguments.out)}")
        if rows.ids is not None and scores_file.are_repeated(rows.ids):
            lines[-1] += f" ({scores_file.ROW_COLUMN})"
    if arguments.report is not None:
        progress("writing the report")
        name, at = path_shown(printing.base_name(arguments.file)), np.flatnonzero(ranked.has_label)
        best = int(at[first_places(f[at], 1, _push(model))[0]])
        pnorm.report_html(
            arguments.report,
            _checks.rows(rows.table, at),
            rows.y[at],
            model.H,
            model.lam,
            p=model.p,
            intercept=model.intercept,
            slope=model.slope,
            ids=[f"row {i}" if rows.ids is None else rows.ids[i] for i in at.tolist()],
            cutoff=model.cutoff if arguments.budget is None else None,
            budget=_depth(arguments, at.size),
            training=Beside(
                None,
                *ranked.beside,
                n_listed=printing.n_listed(arguments),
                facts=printing.numbering(rows, best),
                of_test=False,
            ),
            drift=ranked.drift,
            notes=[text[0].upper() + text[1:] for text in _trained_on(arguments, ranked)],
            push=_push(model),
            title=f"{name}, ranked by {path_shown(os.path.basename(arguments.model))}",
            label=printing.positive(rows, str(ranked.label)),
            reproduce=arguments.typed,
        )
        lines.append(f"report: {path_shown(arguments.report)}")
    return lines


def _drift(arguments: argparse.Namespace, model: pnorm.ScoringFunction, table: Any) -> pnorm.Drift | None:
    """Return the changes since training, if the model contains a profile of the training rows."""
    if "profile" not in model.metadata:
        return None
    try:
        profile = pnorm.Profile.from_dict(model.metadata["profile"])
    except (ValueError, TypeError) as error:
        raise CommandError(f"{path_shown(arguments.model)} has no profile that this pnorm reads: {error}") from None
    with kept([], UnknownLevelWarning):  # the drift names them
        return pnorm.drift(profile, table, model.H, model.lam)


def _moved_lines(moved: pnorm.Drift | None) -> list[str]:
    if moved is None:
        return []
    if not moved.warnings:
        return ["None beyond chance, in the columns that the model uses."]
    return printing.moved_lines(map(one_line, moved.warnings))


def _push(model: pnorm.ScoringFunction) -> str:
    return "bottom" if model.metadata.get("push") == "bottom" else "top"


def _chance(model: pnorm.ScoringFunction, f: Vector) -> Vector | None:
    """Return the probabilities of scores, if the model has an intercept."""
    return None if model.p is None or model.intercept is None else sigmoid(f, model.p, model.intercept, model.slope)


def _depth(arguments: argparse.Namespace, n: int) -> int | None:
    """Return the depth of a list of n rows for --budget, None for the whole list."""
    return None if arguments.budget is None or arguments.budget >= n else int(arguments.budget)


def _marks(arguments: argparse.Namespace, ranked: _Ranked) -> NDArray[np.bool_] | None:
    """Return which rows have a label, for the file of --out, if the others are set apart."""
    return ranked.has_label if arguments.unlabelled == RANK else None


def _id_column(arguments: argparse.Namespace, rows: Rows) -> str | None:
    """Return the column of --id, which may be given by its number."""
    return None if arguments.id is None else _columns.column_named(arguments.id, rows.source.names, arguments.file)


def _taken(arguments: argparse.Namespace, model: pnorm.ScoringFunction, f: Vector) -> NDArray[np.bool_] | None:
    """Return which rows to take: the first rows of a budget, or those above the cut-off."""
    if arguments.budget is not None:
        take = np.zeros(f.size, bool)
        take[first_places(f, min(int(arguments.budget), f.size), "top")] = True
        return take
    cut = model.cutoff
    return None if cut is None or cut.score is None else f >= cut.score
