"""Learn from a file, test on held-out rows, and print the results."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import _checks, _default
from pnorm._categories import UnknownLevelWarning
from pnorm._checks.text import counted, first, shown
from pnorm._command import columns as _columns
from pnorm._command import cutoffs, options, plan, printing
from pnorm._command.columns import Columns, Rows
from pnorm._command.job import Found, Job, Pairs, Top, beyond, other_warnings
from pnorm._command.large import Reader, drawn_of, first_reading
from pnorm._command.next_steps import leaving_out, next_steps
from pnorm._command.opening import looking_for, opened
from pnorm._command.progress import Progress
from pnorm._command.terminal import CommandError, called_as_in_file, in_file, pasted, path_shown
from pnorm._command.written import write
from pnorm._job import hold_out
from pnorm._job.learn import Learned, Settings, kept, learn
from pnorm._job.quality import quality
from pnorm._job.tested import ALONE, Tested, first_places, learn_and_test, reasons, tested
from pnorm._reasons.drift import drift_between
from pnorm._reasons.explain import average_row, moving_together
from pnorm._report import markup
from pnorm._report.verdicts import (
    Verdict,
    checked_probabilities,
    doubts,
    hidden_probabilities,
    in_test,
    of_leaks,
    texts,
    verdicts,
)
from pnorm._tables import Source, absent
from pnorm._tables.labels import AbsentError, word
from pnorm.rankers import Rankers
from pnorm.rankers._alike import joined, units_of
from pnorm.rankers._table import Table


def on_file(arguments: argparse.Namespace) -> None:
    """Do the main job on a user's file."""
    with Progress() as progress:
        job = _read(arguments, progress)
        with called_as_in_file(job.place):
            found = _learned(arguments, job, progress)
    top, together, told = _top(arguments, job, found), _together(job, found.learned), _verdicts(job, found)
    _print(arguments, job, found, told, top, together)
    with Progress() as progress, kept([], UnknownLevelWarning):  # all is told by now
        lines = write(arguments, job, found, progress)
    printing.section("Files written", lines)
    printing.section("Next steps", next_steps(arguments, job, found, told, _among(together, top[1])))


# The rows ---------------------------------------------------------------------------------------------


def _read(arguments: argparse.Namespace, progress: Progress) -> Job:
    """Read the file, and the file of --test, and hold rows out."""
    progress("reading")
    path = arguments.file
    with looking_for(arguments, arguments.label):
        source = opened(arguments, path)
        columns = _columns.columns_of(source, path, arguments)
    drawn = reader = None
    if isinstance(source, Source):
        file = _columns.rows_of(source, path, columns, arguments, _columns.TO_TRAIN)
    else:
        how = {"progress": progress, "unlabelled": arguments.unlabelled, "negative": arguments.negative}
        reader = Reader(source, columns, path, arguments.positive, **how, elsewhere=arguments.test is not None)
        with called_as_in_file(lambda name, row: reader.place(row) if name == "source" else None):
            drawn = first_reading(reader, arguments)
        file = drawn.file
    units = None if drawn is not None or file.ids is None else hold_out.units(file.ids)
    if arguments.test is not None:
        of_test = _test(arguments, columns, file, file.labels or () if reader is None else reader.counts, progress)
        where = f"rows of {path_shown(arguments.test)}"
        if of_test.numbers is not None:
            where = _of_drawn(of_test.numbers.size, of_test.all_counts[0], where)
        return Job(columns, file, of_test, np.zeros(file.y.size, bool), where, units, drawn, reader)
    held = _held(arguments, file, columns, units) if drawn is None else drawn.held
    told = "held-out rows" if held.any() else "training rows"
    if held.any() and columns.time is not None:
        told += f", the latest by {shown(columns.time, 30)}"
    if drawn is not None:
        whole = drawn.n_held if held.any() else sum(drawn.n_trained)
        told = _of_drawn(int((held | drawn.some).sum()), whole, told)
    return Job(columns, file, None, held, told, units, drawn, reader)


def _of_drawn(n: int, of: int, told: str) -> str:
    """Return `told`, or how many rows the n were drawn from."""
    return told if n == of else f"rows drawn from the {of:,} {told}"


def _test(
    arguments: argparse.Namespace, columns: Columns, file: Rows, labels: Collection[str], progress: Progress
) -> Rows:
    """Return the rows of --test, or a sample of them; `labels` are those of the training rows."""
    path, what = arguments.test, _columns.TO_TEST
    source = opened(arguments, path)
    _columns.check_test(source, path, columns)
    like = [*file.positive, *(arguments.positive or ())]
    try:
        if isinstance(source, Source):
            found = _columns.rows_of(source, path, columns, arguments, what, file)
            known = Counter(found.labels)
        else:
            how = {"progress": progress, "unlabelled": arguments.unlabelled, "negative": arguments.negative}
            reader = Reader(source, replace(columns, time=None), path, None, like, what=what, **how)
            found, known = drawn_of(reader, arguments.seed or 0), reader.counts
    except AbsentError as error:
        both = pasted(*[of for label in arguments.positive or file.positive for of in ("--positive", label)])
        raise CommandError(f"{error}. If it is another label there, name both: {both} --positive LABEL") from None
    of_both = Counter(labels) + known
    for label in arguments.positive or ():
        if word(label) not in map(word, of_both):
            raise CommandError(str(absent(label, of_both, f"column {_checks.shown(columns.label)}", " of either file")))
    return found


def _held(
    arguments: argparse.Namespace, file: Rows, columns: Columns, units: NDArray[np.intp] | None
) -> NDArray[np.bool_]:
    """Return which rows are held out."""
    share, y = hold_out.SHARE if arguments.holdout is None else arguments.holdout, file.y
    if columns.time is not None:
        with _columns.read_as_times(columns.time, file.source.place):
            return hold_out.latest(file.column(columns.time), share, y=y, name=columns.time, known=file.times)
    few = min(int(y.sum()), int((~y).sum()))
    if share == 0 or (few < 2 and arguments.holdout is None and not _asked(arguments)):
        return np.zeros(y.size, bool)
    alike = units_of((file.table,), y)
    if alike is not None:
        with suppress(ValueError):  # too few ids that share no row
            return hold_out.share(y, share, arguments.seed or 0, joined(units, alike))
    return hold_out.share(y, share, arguments.seed or 0, units)


def _asked(arguments: argparse.Namespace) -> dict[str, float]:
    """Return the options of a cut-off."""
    asked = {name: getattr(arguments, name) for name in (*options.CUTOFF, "of", "at_least")}
    return {name: value for name, value in asked.items() if value is not None}


# What is learned --------------------------------------------------------------------------------------


def _learned(arguments: argparse.Namespace, job: Job, progress: Progress) -> Found:
    """Learn from the training rows, and measure the list on the held-out rows."""
    settings, file = _settings(arguments, job), job.file
    how: dict[str, Any] = {"progress": progress, "on_made": _first_lines(arguments, job, progress)}
    how["whole"] = None if job.drawn is None else job.drawn.whole
    if not job.is_tested:
        return _untested(job, settings, how)
    if job.test is None:
        found = tested(file.table, file.y, job.held, settings, job.units, **how)
    else:
        found = learn_and_test((file.table, file.y), (job.test.table, job.test.y), settings, job.units, **how)
    drift = _drift(job, found, progress)
    return Found(found.learned, found.quality, found, found.scores, found.rows, found.warnings, drift)


def _first_lines(arguments: argparse.Namespace, job: Job, progress: Progress) -> Callable[[Rankers], None]:
    """Return what prints how the rows and columns were read, before the training, which may take long."""

    def on_made(H: Rankers) -> None:
        with progress.paused():
            _print_rows(arguments, job)
            _print_columns(arguments, job, H)

    return on_made


def _drift(job: Job, found: Tested, progress: Progress) -> pnorm.Drift:
    """Return the changes between the training rows, or a sample of them, and the rows of the test."""
    progress("comparing the test with the training rows")
    table = found.training[0] if job.drawn is None else _checks.rows(job.file.table, job.like_all())
    with kept([], UnknownLevelWarning):  # the test has told of them
        H, lam = found.learned.H, found.learned.lam
        return drift_between(table, found.held_out[0], H, lam, among_known=job.columns.time)


def _untested(job: Job, settings: Settings, how: Mapping[str, Any]) -> Found:
    """Learn from all rows, and measure the list on the same rows."""
    called = np.flatnonzero(job.file.y), np.flatnonzero(~job.file.y)
    units = None if job.units is None else (job.units[called[0]], job.units[called[1]])
    learned = learn(*job.sides(), settings, units=units, called=called, **how)
    how["progress"]("measuring")
    measured_rows = np.arange(job.file.y.size) if job.drawn is None else np.flatnonzero(job.drawn.some)
    y = job.file.y[measured_rows]
    f = learned.score(_checks.rows(job.file.table, measured_rows), strict=None)  # training has told of them
    chance = learned.probability(f)
    of_sides = None if chance is None else (chance[y], chance[~y])
    measured = quality(f[y], f[~y], probability=of_sides, of_test=False, seed=settings.seed)
    told = (*[ALONE] * learned.alone, *learned.warnings)
    return Found(learned, measured, None, f, measured_rows, told)


def _settings(arguments: argparse.Namespace, job: Job) -> Settings:
    """Return the options of learning and of the test."""
    signs = _columns.by_name(options.signs(arguments.monotone or []), job.columns, arguments.file, "--monotone")
    kinds = _columns.kinds_of(job.columns, arguments.file, arguments)
    kinds = {name: kind for name, kind in kinds.items() if name in job.columns.used}
    return Settings(
        p=arguments.p,
        t_max=arguments.t,
        kinds=kinds or None,
        monotone=signs or None,
        cutoff=_asked(arguments),
        n_top=printing.n_listed(arguments),
        seed=arguments.seed or 0,
    )


# What is printed --------------------------------------------------------------------------------------


def _print_rows(arguments: argparse.Namespace, job: Job) -> None:
    """Print the rows of the files, and how they are divided."""
    columns = job.columns
    print(printing.labelled(arguments.file, job.file, str(columns.label)))
    of_files = [*job.file.source.notes, *(job.test.source.notes if job.test is not None else [])]
    empty = printing.empty_labels(
        job.file, "; --out ranks them with the others", None, arguments.negative, columns.time
    )
    empty += (
        []
        if job.test is None
        else printing.empty_labels(job.test, "; they are left out", arguments.test, arguments.negative)
    )
    same = printing.repeated_ids(job.file, columns.id, columns.time is None and bool(job.held.any()))
    if columns.time is not None:
        same += printing.shared_ids(job.units, job.held)
    if job.test is not None:
        same += [f"{path_shown(arguments.test)}: {told}" for told in printing.repeated_ids(job.test, columns.id)]
    printing.notes([_parts(arguments, job), *_negatives(job), *empty, *same, *_how_read(job), *of_files])


def _print_columns(arguments: argparse.Namespace, job: Job, H: Rankers) -> None:
    """Print how the columns were read, and warn of those that may be known only after the label."""
    columns, n = job.columns, job.n_trained
    beside = [(str(columns.label), "label")]
    if columns.id is not None:
        beside.append((columns.id, "id"))
    known = {*columns.used, *[name for name, _ in beside]}
    beside += [(name, "not used") for name in columns.header if name not in known]
    rows_of = f" (counts of the {n:,} training rows)" if n < job.file.all_counts[0] else ""
    if job.drawn is not None and not job.drawn.whole.sample.is_whole:
        rows_of = f" (counts of {job.drawn.whole.sample.most:,} of the {n:,} training rows)"
    printing.section(f"Columns{rows_of}", plan.plan_lines(H, columns.used, beside))
    printing.section(*plan.left_out_lines(H))
    hints = [(of.text, printing.it(of.columns), leaving_out(arguments, columns, of.columns)[0]) for of in of_leaks(H)]
    printing.warn(columns.unmet())
    printing.warn(
        [f"{text} To leave {it} out: {pasted(*options)}." if options else text for text, it, options in hints]
    )


def _print(
    arguments: argparse.Namespace,
    job: Job,
    found: Found,
    told: Sequence[Verdict],
    top: Top,
    together: Pairs,
) -> None:
    """Print the test, the list and the model."""
    learned = found.learned
    others = [in_file(text, job.place) for text in other_warnings(found)]
    asked = [text + hint for text, hint in zip(texts(told, "column"), plan.kind_hints(learned.H), strict=True)]
    printing.warn([*asked, *others, *texts(told, "better")])
    title, where = _where(job, found)
    is_test = found.tested is not None
    is_good = not is_test or found.quality.beats_chance
    below = [*texts(told, "choice"), *([*in_test(learned.H), *texts(told, "simpler")] if is_test else [])]
    under = printing.test_notes(found.quality, bool(arguments.details)) if is_test else []
    printing.section(title, [*where, *printing.quality_lines(found.quality, is_test, below), *under])
    moved = printing.moved_lines([of.text for of in told if of.key == "drift" and of.grave])
    printing.section(f"Changes between training rows and {job.told.partition(',')[0]}", moved)
    if found.cutoff is not None:
        lines = cutoffs.cutoff_lines(found.cutoff, job.at_random)
        if arguments.budget is not None:
            lines += cutoffs.budget_notes(found.cutoff, found.quality.main, arguments.of is not None)
        if not is_good:
            lines = printing.sentences(f"{markup.NO_BETTER} So a cut-off of it is of no use.") + lines
        printing.section("Cut-off", lines)
    printing.section(*_list(job, found, top, _among(together, top[1])))
    printing.section("Model", printing.summary_lines(learned, bool(arguments.details), is_good))
    if arguments.details:
        chosen = printing.choice_lines(learned.cross_validation, _sampled(job))
        lines = [line for text in printing.together(together) for line in printing.sentences(text)]
        printing.section("Details of the model", [*printing.model_lines(learned), *chosen, *lines])


def _together(job: Job, learned: Learned) -> Pairs:
    """Return columns that move together on the training rows."""
    if not isinstance(learned.H, Table):
        return []
    rows = _checks.rows(job.file.table, np.flatnonzero(~job.held if job.drawn is None else job.trained))
    return moving_together(rows, learned.H, learned.lam)


def _among(pairs: Pairs, why: Sequence[str]) -> Pairs:
    """Return the pairs of columns that are both among the reasons of rows."""
    parts = {part for of_row in why for part in of_row.split("; ")}
    named = {name: any(part.startswith(f"{name} ") for part in parts) for a, b, _ in pairs for name in (a, b)}
    return [(a, b, r) for a, b, r in pairs if named[a] and named[b]]


def _verdicts(job: Job, found: Found) -> list[Verdict]:
    """Return the verdicts on the list, which are printed in several places."""
    here = partial(in_file, place=job.place)
    is_test = found.tested is not None
    unread = None if found.tested is None else found.tested.unread
    return verdicts(
        found.quality,
        found.learned.H,
        held_out=is_test,
        cross_validation=found.learned.cross_validation,
        drift=found.drift,
        in_file=here,
        unread=unread,
        at_random=job.at_random,
    )


def _negatives(job: Job) -> list[str]:
    """Return which labels count as negative, if they are several."""
    labels = job.file.labels or []
    counts = Counter([label for label, y in zip(labels, job.file.y.tolist(), strict=True) if not y])
    if job.reader is not None:
        counts = Counter({label: n for label, n in job.reader.counts.items() if label not in job.file.positive})
    if len(counts) < 2:
        return []
    told = [f"{shown(label, 30) or 'no label'} ({n:,})" for label, n in counts.most_common()]
    return [f"negative: {first(told, 8, str)}"]


def _sampled(job: Job) -> list[tuple[str, int, int]]:
    """Return the sides of which the choice uses a sample: the name, the rows of the sample, and all training rows."""
    n_pos = int((job.trained & job.file.y).sum()) if job.drawn is None else job.drawn.n_trained[0]
    sizes = ("positive", n_pos), ("negative", job.n_trained - n_pos)
    return [(side, _default.MOST, n) for side, n in sizes if n > _default.MOST]


def _parts(arguments: argparse.Namespace, job: Job) -> str:
    """Return how the rows were divided into training and test rows."""
    training = f"{job.n_trained:,} training rows"
    if job.test is not None:
        return f"{training}; the test rows are in {path_shown(arguments.test)}"
    n_held = int(job.held.sum()) if job.drawn is None else job.drawn.n_held
    if not n_held:
        return f"{training}; no row is held out for a test"
    how = "drawn at random" if job.columns.time is None else f"the latest by {shown(job.columns.time, 30)}"
    return f"{training}, {n_held:,} held-out rows for the test only ({how})"


def _how_read(job: Job) -> list[str]:
    """Return how many rows are in memory, if the file is read in batches."""
    if job.drawn is None or job.reader is None:
        return []
    sides = [int((job.trained & side).sum()) for side in job.both_sides]
    told = f"{job.reader.batches.told} {'are' if job.reader.is_many else 'is'} read in batches"
    if sum(sides) == job.n_trained:
        return [told]
    few = " and ".join([counted(n, name) for n, name in zip(sides, ("positive", "negative"), strict=True)])
    return [f"{told}; the model uses all training rows; its settings are chosen on {few}"]


def _where(job: Job, found: Found) -> tuple[str, list[str]]:
    """Return a heading that contains which rows the list is measured on, and a note."""
    n, n_pos = found.quality.n_pos + found.quality.n_neg, found.quality.n_pos
    if found.tested is None:
        note = f"No row is held out. These are results on {n:,} {job.told}; on new rows the list is worse."
        return "Results on training rows", printing.sentences(note)
    return f"Test on {n:,} {job.told}, {n_pos:,} of them positive", beyond(job, found.learned)


def _top(arguments: argparse.Namespace, job: Job, found: Found) -> Top:
    """Return the first rows of the list, and their reasons."""
    learned = found.learned
    few = min(printing.n_listed(arguments), found.f.size)
    if few == 0:
        return np.empty(0, np.intp), []
    if found.tested is not None:
        return found.tested.top, list(found.tested.reasons)
    at = first_places(found.f, few, "top")
    some = _checks.rows(job.file.table, found.rows[at])
    with kept([], UnknownLevelWarning):  # training has told of them
        return at, reasons(some, learned.H, learned.lam, job.means(learned))


def _list(job: Job, found: Found, top: Top, together: Pairs) -> tuple[str, list[str]]:
    """Return a heading, and the first rows of the list with reasons."""
    learned, (at, why) = found.learned, top
    title = f"Top of the list: {counted(at.size, 'row')} of {found.f.size:,} {job.told}"
    if not at.size:
        wrong, is_wrong = markup.calibrated(found.quality) if found.tested is not None else ("", False)
        return title, printing.sentences(wrong) if is_wrong else []
    shown_rows, f = found.rows[at], found.f[at]
    take = None if found.cutoff is None or found.cutoff.score is None else f >= found.cutoff.score
    is_hidden = found.tested is not None and hidden_probabilities(found.quality)
    chance = None if is_hidden else learned.probability(f)
    columns = printing.list_columns("top", found.f.size, job.measured, shown_rows, f, chance, take)
    checked = "" if found.tested is None else checked_probabilities(found.quality)
    numbers = printing.numbering(job.measured, int(shown_rows[0]))
    notes = printing.list_notes(numbers, average_row("top"), together)
    if found.tested is not None:
        notes += printing.sentences(doubts(found.quality))
    return title, [*printing.list_lines(columns, why, checked=checked), *notes]
