"""Learn from a file, test on held-out rows, and print the results."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import _checks, _default, rankers
from pnorm._categories import UnknownLevelWarning
from pnorm._checks import DATE, Vector
from pnorm._checks.text import counted, first, shown
from pnorm._command import columns as _columns
from pnorm._command import options, printing, scores_file
from pnorm._command.columns import Columns, Rows
from pnorm._command.large import Drawn, Reader, drawn_of, first_reading, write_scores
from pnorm._command.opening import looking_for, opened
from pnorm._command.progress import Progress
from pnorm._command.terminal import CommandError, called_as_in_file, in_file, pasted, path_shown, program
from pnorm._job import hold_out
from pnorm._job.baselines import LINEAR
from pnorm._job.learn import CUTS_OF_ROUNDS, Learned, kept, learn, learn_again
from pnorm._job.quality import Quality, quality
from pnorm._job.sample import in_proportion
from pnorm._job.tested import ALONE, Tested, first_places, learn_and_test, means, reasons, tested, typical
from pnorm._reasons import fingerprint
from pnorm._reasons.drift import MUCH, drift_between
from pnorm._reasons.explain import average_row, moving_together, spread_of_columns, spread_of_score
from pnorm._report import markup
from pnorm._report.report import Beside
from pnorm._report.verdicts import (
    NO_PROBABILITIES,
    Verdict,
    advice,
    checked_probabilities,
    counted_together,
    doubt_of_probabilities,
    doubts,
    hidden_probabilities,
    in_test,
    of_leaks,
    texts,
    unwritten_probabilities,
    verdicts,
)
from pnorm._tables import RANK, Source, absent
from pnorm._tables.labels import AbsentError, word
from pnorm.rankers import Rankers
from pnorm.rankers._alike import joined, units_of
from pnorm.rankers._from_table import is_of_columns
from pnorm.rankers._table import ID_BY_NAME, ID_OF_SEVERAL, Table, suspects

_REFITTED = "After the test, the model was trained again on all rows. No rows are left to test the saved model."


_SOME = 10_000
"""Rows, at most, on which the effects of columns are compared."""

_MATTERS = 0.2
"""The standard deviation of the trend of --time, as a share of that of the score, from which on there is a note."""

_Top = tuple[NDArray[np.intp], list[str]]
"""Rows of a list, and their reasons."""

_Pairs = list[tuple[str, str, float]]
"""Pairs of columns that move together, and their rank correlations."""


@dataclass(frozen=True, eq=False)
class _Job:
    """The rows in memory, and how they are divided."""

    columns: Columns
    file: Rows
    test: Rows | None
    """The rows of --test."""
    held: NDArray[np.bool_]
    """Which rows of the file are held out."""
    told: str
    """The rows that the list is measured on, in words, such as "held-out rows"."""
    units: NDArray[np.intp] | None = None
    """The number of the id of each row of the file, if all rows are in memory and ids are repeated."""
    drawn: Drawn | None = None
    """Facts on all rows of a file that is read in batches, from which the rows above were drawn; else None."""
    reader: Reader | None = None
    """The reader of all rows of the file."""

    @property
    def trained(self) -> NDArray[np.bool_]:
        """Which rows are trained on."""
        return ~self.held if self.drawn is None else self.drawn.trained

    @property
    def n_trained(self) -> int:
        """The number of training rows, in memory or not."""
        return int((~self.held).sum()) if self.drawn is None else sum(self.drawn.n_trained)

    @property
    def is_tested(self) -> bool:
        return self.test is not None or bool(self.held.any())

    @property
    def at_random(self) -> bool:
        """Whether rows are held out that were drawn at random."""
        return self.test is None and self.columns.time is None and bool(self.held.any())

    @property
    def measured(self) -> Rows:
        """The rows that contain those that the list is measured on."""
        return self.file if self.test is None else self.test

    def sides(self) -> tuple[Any, Any]:
        """Return the positives and the negatives that are trained on."""
        pos, neg = [_checks.rows(self.file.table, np.flatnonzero(self.trained & side)) for side in self._y]
        return pos, neg

    def means(self, learned: Learned) -> Vector:
        """Return what effects are compared with: the average negative training row, or positive one for the bottom."""
        side = self._y[0 if learned.push == "bottom" else 1]
        others = _checks.rows(self.file.table, np.flatnonzero(self.trained & side))
        return means(others, learned.H, learned.lam)

    def like_all(self, also_held: bool = False) -> NDArray[np.intp]:
        """Return rows that represent all training rows in proportion, or all rows of the file."""
        drawn = self.drawn
        if drawn is None:
            return np.flatnonzero(~self.held | also_held)
        parts = [np.flatnonzero(drawn.trained & side) for side in self._y]
        sizes = [*drawn.n_trained]
        if also_held:
            parts, sizes = [*parts, np.flatnonzero(self.held)], [*sizes, drawn.n_held]
        return in_proportion(np.random.default_rng(0), parts, sizes)

    @property
    def _y(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return self.file.y, ~self.file.y

    def place(self, name: str, row: int) -> str | None:
        """Return the place in a file of a row of an argument called `name` in a message."""
        if name in ("pos", "neg"):
            side = self._y[name == "neg"]
            return self.file.place(int(np.flatnonzero(self.trained & side)[row]))
        if name == "source":
            return self.file.place(row) if self.reader is None else self.reader.place(row)
        if name != "X":
            return None
        return self.measured.place(row if self.test is not None else int(np.flatnonzero(self.held)[row]))


@dataclass(frozen=True, eq=False)
class _Found:
    """The model and its results."""

    learned: Learned
    quality: Quality
    """On the held-out rows; on the training rows if no row is held out."""
    tested: Tested | None
    f: Vector
    """Scores of the rows that the list is measured on."""
    rows: NDArray[np.intp]
    """Their numbers in their file."""
    kept: Learned
    """The model for --save and --out: `learned`, or a model of all rows."""
    warnings: tuple[str, ...]
    drift: pnorm.Drift | None = None
    """The held-out rows compared with the training rows."""

    @property
    def is_refitted(self) -> bool:
        return self.kept is not self.learned

    @property
    def cutoff(self) -> pnorm.Cutoff | None:
        return None if self.tested is None else self.tested.cutoff


def on_file(arguments: argparse.Namespace) -> None:
    """Do the main job on a user's file."""
    with Progress(bool(arguments.progress)) as progress:
        job = _read(arguments, progress)
        with called_as_in_file(job.place):
            found = _learned(arguments, job, progress)
    top, together, told = _top(arguments, job, found), _together(job, found.learned), _verdicts(job, found)
    _print(arguments, job, found, told, top, together)
    with Progress(bool(arguments.progress)) as progress, kept([], UnknownLevelWarning):  # all is told by now
        lines = _write(arguments, job, found, progress)
    printing.section("Files written", lines)
    printing.section("Next steps", _next(arguments, job, found, told, _among(together, top[1])))


# The rows ---------------------------------------------------------------------------------------------


def _read(arguments: argparse.Namespace, progress: Progress) -> _Job:
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
        return _Job(columns, file, of_test, np.zeros(file.y.size, bool), where, units, drawn, reader)
    held = _held(arguments, file, columns, units) if drawn is None else drawn.held
    told = "held-out rows" if held.any() else "training rows"
    if held.any() and columns.time is not None:
        told += f", the latest by {shown(columns.time, 30)}"
    if drawn is not None:
        whole = drawn.n_held if held.any() else sum(drawn.n_trained)
        told = _of_drawn(int((held | drawn.some).sum()), whole, told)
    return _Job(columns, file, None, held, told, units, drawn, reader)


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


def _learned(arguments: argparse.Namespace, job: _Job, progress: Progress) -> _Found:
    """Learn from the training rows, and measure the list on the held-out rows."""
    how = _how(arguments, job) | {"progress": progress, "on_made": _first_lines(arguments, job, progress)}
    few = printing.n_listed(arguments)
    if not job.is_tested:
        return _untested(job, how)
    more: dict[str, Any] = _asked(arguments) | {"n_top": few}
    if job.test is None:
        found = tested(job.file.table, job.file.y, job.held, units=job.units, **more, **how)
    else:
        more |= {"units": job.units}
        found = learn_and_test(job.file.table, job.file.y, job.test.table, job.test.y, **more, **how)
    kept = found.learned
    if arguments.refit:
        progress("learning from all rows")
        everything = None if job.drawn is None else job.drawn.everything
        kept = found.refit() if everything is None else learn_again(*job.sides(), kept, whole=everything)
    drift = _drift(job, found, progress)
    return _Found(found.learned, found.quality, found, found.scores, found.rows, kept, found.warnings, drift)


def _first_lines(arguments: argparse.Namespace, job: _Job, progress: Progress) -> Callable[[Rankers], None]:
    """Return what prints how the rows and columns were read, before the training, which may take long."""

    def on_made(H: Rankers) -> None:
        with progress.paused():
            _print_rows(arguments, job)
            _print_columns(arguments, job, H)

    return on_made


def _drift(job: _Job, found: Tested, progress: Progress) -> pnorm.Drift:
    """Return the changes between the training rows, or a sample of them, and the rows of the test."""
    progress("comparing the test with the training rows")
    table = found.training[0] if job.drawn is None else _checks.rows(job.file.table, job.like_all())
    with kept([], UnknownLevelWarning):  # the test has told of them
        H, lam = found.learned.H, found.learned.lam
        return drift_between(table, found.held_out[0], H, lam, among_known=job.columns.time)


def _untested(job: _Job, how: Mapping[str, Any]) -> _Found:
    """Learn from all rows, and measure the list on the same rows."""
    called = np.flatnonzero(job.file.y), np.flatnonzero(~job.file.y)
    units = None if job.units is None else (job.units[called[0]], job.units[called[1]])
    learned = learn(*job.sides(), units=units, called=called, **how)
    how["progress"]("measuring")
    measured_rows = np.arange(job.file.y.size) if job.drawn is None else np.flatnonzero(job.drawn.some)
    y = job.file.y[measured_rows]
    f = learned.score(_checks.rows(job.file.table, measured_rows), strict=None)  # training has told of them
    chance = learned.probability(f)
    of_sides = None if chance is None else (chance[y], chance[~y])
    measured = quality(f[y], f[~y], push=learned.push, probability=of_sides, of_test=False, seed=how["seed"])
    told = (*[ALONE] * learned.alone, *learned.warnings)
    return _Found(learned, measured, None, f, measured_rows, learned, told)


def _how(arguments: argparse.Namespace, job: _Job) -> dict[str, Any]:
    """Return the options of learning."""
    more: dict[str, Any] = {} if job.drawn is None else {"whole": job.drawn.whole}
    how = {name: getattr(arguments, name) for name in ("p", "l1", "l2", "penalty", "max_columns")}
    how |= {"push": arguments.push or "top", "seed": arguments.seed or 0, "t_max": arguments.t, **more}
    signs = _columns.by_name(options.signs(arguments.monotone or []), job.columns, arguments.file, "--monotone")
    kinds = _columns.kinds_of(job.columns, arguments.file, arguments)
    kinds = {name: kind for name, kind in kinds.items() if name in job.columns.used}
    linear: _checks.Lines | None = _checks.ONLY if arguments.straight else arguments.linear
    if arguments.rankers is not None:
        return how | {"rankers": _kind(arguments.rankers, arguments.t, signs, linear or False)}
    return how | {"monotone": signs or None, "kinds": kinds or None, "linear": linear}


def _kind(name: str, t_max: int | None, signs: Mapping[str, int], linear: _checks.Lines) -> _default.Kind:
    """Return the maker of weak rankers for columns of numbers."""
    if name != "thresholds":
        return _default.Kind(partial(getattr(rankers, name), monotone=signs), "l2")
    n_cuts = _default.N_CUTS if t_max is None else CUTS_OF_ROUNDS
    made = partial(rankers.quantile_thresholds, n_cuts=n_cuts, monotone=signs, linear=linear)
    return _default.Kind(made, "l2")


# What is printed --------------------------------------------------------------------------------------


def _print_rows(arguments: argparse.Namespace, job: _Job) -> None:
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


def _print_columns(arguments: argparse.Namespace, job: _Job, H: Rankers) -> None:
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
    printing.section(f"Columns{rows_of}", printing.plan_lines(H, columns.used, beside))
    printing.section(*printing.left_out_lines(H))
    hints = [(of.text, printing.it(of.columns), _leaving_out(arguments, columns, of.columns)[0]) for of in of_leaks(H)]
    printing.warn(columns.unmet())
    printing.warn(
        [f"{text} To leave {it} out: {pasted(*options)}." if options else text for text, it, options in hints]
    )


def _print(
    arguments: argparse.Namespace,
    job: _Job,
    found: _Found,
    told: Sequence[Verdict],
    top: _Top,
    together: _Pairs,
) -> None:
    """Print the test, the list and the model."""
    learned = found.learned
    others = [in_file(text, job.place) for text in _other_warnings(found)]
    asked = [text + hint for text, hint in zip(texts(told, "column"), printing.kind_hints(learned.H), strict=True)]
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
        lines = printing.cutoff_lines(found.cutoff, job.at_random)
        if arguments.budget is not None:
            lines += printing.budget_notes(found.cutoff, found.quality.main, arguments.of is not None)
        if not is_good:
            lines = printing.sentences(f"{markup.NO_BETTER} So a cut-off of it is of no use.") + lines
        printing.section("Cut-off", lines)
    printing.section(*_list(job, found, top, _among(together, top[1])))
    printing.section("Model", printing.summary_lines(learned, bool(arguments.details), is_good))
    if arguments.details:
        kind = arguments.rankers or learned.kind or "as given"
        chosen = printing.choice_lines(learned.cross_validation, kind, _sampled(job))
        lines = [line for text in printing.together(together) for line in printing.sentences(text)]
        printing.section("Details of the model", [*printing.model_lines(learned), *chosen, *lines])


def _together(job: _Job, learned: Learned) -> _Pairs:
    """Return columns that move together on the training rows."""
    if not isinstance(learned.H, Table):
        return []
    rows = _checks.rows(job.file.table, np.flatnonzero(~job.held if job.drawn is None else job.trained))
    return moving_together(rows, learned.H, learned.lam)


def _among(pairs: _Pairs, why: Sequence[str]) -> _Pairs:
    """Return the pairs of columns that are both among the reasons of rows."""
    parts = {part for of_row in why for part in of_row.split("; ")}
    named = {name: any(part.startswith(f"{name} ") for part in parts) for a, b, _ in pairs for name in (a, b)}
    return [(a, b, r) for a, b, r in pairs if named[a] and named[b]]


def _verdicts(job: _Job, found: _Found) -> list[Verdict]:
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


def _other_warnings(found: _Found) -> list[str]:
    """Return the warnings that do not repeat what the plan of the columns or the verdicts contain."""
    planned = hasattr(found.learned.H, "plan")
    others = {} if found.tested is None else counted_together(found.learned.H, found.tested.unread)
    return [text for text in found.warnings if text not in others and not (planned and is_of_columns(text))]


def _negatives(job: _Job) -> list[str]:
    """Return which labels count as negative, if they are several."""
    labels = job.file.labels or []
    counts = Counter([label for label, y in zip(labels, job.file.y.tolist(), strict=True) if not y])
    if job.reader is not None:
        counts = Counter({label: n for label, n in job.reader.counts.items() if label not in job.file.positive})
    if len(counts) < 2:
        return []
    told = [f"{shown(label, 30) or 'no label'} ({n:,})" for label, n in counts.most_common()]
    return [f"negative: {first(told, 8, str)}"]


def _sampled(job: _Job) -> list[tuple[str, int, int]]:
    """Return the sides of which the choice uses a sample: the name, the rows of the sample, and all training rows."""
    n_pos = int((job.trained & job.file.y).sum()) if job.drawn is None else job.drawn.n_trained[0]
    sizes = ("positive", n_pos), ("negative", job.n_trained - n_pos)
    return [(side, _default.MOST, n) for side, n in sizes if n > _default.MOST]


def _parts(arguments: argparse.Namespace, job: _Job) -> str:
    """Return how the rows were divided into training and test rows."""
    training = f"{job.n_trained:,} training rows"
    if job.test is not None:
        return f"{training}; the test rows are in {path_shown(arguments.test)}"
    n_held = int(job.held.sum()) if job.drawn is None else job.drawn.n_held
    if not n_held:
        return f"{training}; no row is held out for a test"
    how = "drawn at random" if job.columns.time is None else f"the latest by {shown(job.columns.time, 30)}"
    return f"{training}, {n_held:,} held-out rows for the test only ({how})"


def _how_read(job: _Job) -> list[str]:
    """Return how many rows are in memory, if the file is read in batches."""
    if job.drawn is None or job.reader is None:
        return []
    sides = [int((job.trained & side).sum()) for side in job._y]
    told = f"{job.reader.batches.told} {'are' if job.reader.is_many else 'is'} read in batches"
    if sum(sides) == job.n_trained:
        return [told]
    few = " and ".join([counted(n, name) for n, name in zip(sides, ("positive", "negative"), strict=True)])
    return [f"{told}; the model uses all training rows; its settings are chosen on {few}"]


def _beyond(job: _Job, learned: Learned) -> list[str]:
    """Return that the column of --time is learned from, if its trend matters: it is the same for all later rows."""
    H, time = learned.H, job.columns.time
    plan = next((of for of in getattr(H, "plan", ()) if of.name == time and of.rankers), None)
    if plan is None or time is None:
        return []
    X = typical(_checks.rows(job.file.table, job.like_all()))
    trend = f"{time} (trend)" if plan.kind == DATE else time
    spread, part = spread_of_score(X, H, learned.lam, trend)
    if part < _MATTERS * spread:
        return []
    return [
        f"{shown(time, 30)} is learned from too; later rows get its trend in the latest training row (to leave it "
        f"out: {pasted('--ignore', time)})"
    ]


def _where(job: _Job, found: _Found) -> tuple[str, list[str]]:
    """Return a heading that contains which rows the list is measured on, and a note."""
    n, n_pos = found.quality.n_pos + found.quality.n_neg, found.quality.n_pos
    if found.tested is None:
        note = f"No row is held out. These are results on {n:,} {job.told}; on new rows the list is worse."
        return "Results on training rows", printing.sentences(note)
    notes = [_REFITTED] * found.is_refitted + _beyond(job, found.learned)
    return f"Test on {n:,} {job.told}, {n_pos:,} of them positive", notes


def _top(arguments: argparse.Namespace, job: _Job, found: _Found) -> _Top:
    """Return the rows at the optimised end of the list, and their reasons."""
    learned = found.learned
    few = min(printing.n_listed(arguments), found.f.size)
    if few == 0:
        return np.empty(0, np.intp), []
    if found.tested is not None:
        return found.tested.top, list(found.tested.reasons)
    at = first_places(found.f, few, learned.push)
    some = _checks.rows(job.file.table, found.rows[at])
    with kept([], UnknownLevelWarning):  # training has told of them
        return at, reasons(some, learned.H, learned.lam, job.means(learned))


def _list(job: _Job, found: _Found, top: _Top, together: _Pairs) -> tuple[str, list[str]]:
    """Return a heading, and the rows at the optimised end of the list with reasons."""
    learned, (at, why) = found.learned, top
    title = f"{learned.push.capitalize()} of the list: {counted(at.size, 'row')} of {found.f.size:,} {job.told}"
    if not at.size:
        wrong, is_wrong = markup.calibrated(found.quality) if found.tested is not None else ("", False)
        return title, printing.sentences(wrong) if is_wrong else []
    shown_rows, f = found.rows[at], found.f[at]
    take = None if found.cutoff is None or found.cutoff.score is None else f >= found.cutoff.score
    is_hidden = found.tested is not None and hidden_probabilities(found.quality)
    chance = None if is_hidden else learned.probability(f)
    columns = printing.list_columns(learned.push, found.f.size, job.measured, shown_rows, f, chance, take)
    checked = "" if found.tested is None else checked_probabilities(found.quality)
    numbers = printing.numbering(job.measured, int(shown_rows[0]))
    notes = printing.list_notes(numbers, average_row(learned.push), together)
    if found.tested is not None:
        notes += printing.sentences(doubts(found.quality))
    return title, [*printing.list_lines(columns, why, checked=checked), *notes]


def _next(
    arguments: argparse.Namespace, job: _Job, found: _Found, told: Sequence[Verdict], together: _Pairs
) -> list[str]:
    """Return the most useful next steps, with the commands to type. They leave out the columns that may be leaks."""
    plan, n = getattr(found.learned.H, "plan", ()), found.quality
    facts: list[str] = []
    steps: list[tuple[str, str]] = []
    is_useful = found.tested is None or n.beats_chance
    apart = suspects(found.learned.H)
    cleaned, replaced = _leaving_out(arguments, job.columns, apart)
    if apart and not any(of.rankers and of.name not in apart for of in plan):
        return printing.sentences(
            f"No column is left without {first(apart, 8)}. Add columns that are known before the label."
        )

    def step(what: str, more: Sequence[str], without: Sequence[str] = ()) -> None:
        steps.append((what, printing.again(arguments, [*cleaned, *more], [*replaced, *without])))

    def leave_out(what: str, name: str) -> None:
        options, without = _leaving_out(arguments, job.columns, [*apart, name])
        steps.append((what, printing.again(arguments, options, without)))

    if apart:
        step(f"Leave out {first(apart, 8)}", [])
    time = job.columns.time
    if time is not None and time not in apart and (_is_moved(found.drift, time) or _beyond(job, found.learned)):
        leave_out(f"Split by {shown(time, 40)} but do not learn from it: later rows differ", time)
    if found.tested is None and _can_hold_out(arguments, job):
        step("Test on held-out rows", ["--holdout", "0.2"], ["--holdout"])
    facts += [line for text in texts(told, "few") for line in printing.sentences(text)]
    if found.tested is not None:
        facts += printing.sentences(advice(n))
    if found.tested is not None and not apart:  # with a leak, all lists are as good
        better = dict(markup.beaten(n))
        for difference in n.averages:
            name = difference.other
            if name not in better and (difference.value.low > 0.0 or not is_useful):
                continue
            if (
                name.endswith(markup.ALONE)
                and (name in better or difference.value <= 0.0)
                and len(job.columns.used) > 1
            ):
                what = f"is better {better[name]}" if name in better else "may do as well"
                column = name.removesuffix(markup.ALONE)
                step(f"Use {shown(column, 40)} alone, which {what}", ["--only", column], ["--only", "--ignore"])
        as_good = any(of.other == LINEAR and not of.value.low > 0.0 for of in n.averages)
        if as_good and _may_be_straight(arguments, found.learned):
            step("Learn straight lines only", ["--straight", "-p", "1"], ["-p"])
    dates = [of.name for of in plan if of.kind == DATE and of.rankers and not of.missing and of.name not in apart]
    if found.tested is not None and job.at_random:
        dividing = next((name for name in dates if _divides(arguments, job, name)), None)
        if dividing is not None:
            step("Test on the latest rows", ["--time", dividing])
    if together and not apart and is_useful:
        weak, strong = _weaker_first(job, found, together[0][:2])
        leave_out(f"Leave out {shown(weak, 40)}, which moves together with {shown(strong, 40)}", weak)
    ids = sorted([of for of in plan if of.is_id], key=lambda of: not of.note.startswith((ID_BY_NAME, ID_OF_SEVERAL)))
    if job.columns.id is None and ids:
        is_of_several = ids[0].note.startswith(ID_OF_SEVERAL)
        what = "Keep the rows of an id together" if is_of_several else "Show the id of each row"
        step(what, ["--id", ids[0].name])
    if found.cutoff is None and found.tested is not None and found.learned.push == "top" and is_useful:
        step(f"Set a cut-off, such as {found.quality.main:,} rows", ["--budget", str(found.quality.main)])
    named = [] if job.columns.id is None else ["--id", job.columns.id]
    model = "model.json" if arguments.save is None else arguments.save
    if apart and arguments.save is not None:
        model = "-without".join(os.path.splitext(model))  # the saved one uses them
    if (apart or arguments.save is None) and is_useful:
        step(f"Save a model without {printing.it(apart)}" if apart else "Save the model", ["--save", model])
    if is_useful:
        rank = pasted(program("pnorm", sys.argv[0]), "NEW_FILE", "--model", model, *named, "--out", "ranked.csv")
        steps.append(("Rank new rows", rank))
    if steps and any(getattr(arguments, option.removeprefix("--")) is not None for option in printing.WRITTEN):
        facts.append("The commands leave out the files of this run, so that they do not replace them.")
    return [*facts, *printing.steps(steps)]


def _leaving_out(
    arguments: argparse.Namespace, columns: Columns, names: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the options that leave columns out, and the options of this run that they replace."""
    signs = options.signs(arguments.monotone or [])
    gone = [text for text, _ in signs if _columns.column_named(text, columns.header, arguments.file) in names]
    kept = [f"{text}={'+' if sign > 0 else '-'}" for text, sign in signs if text not in gone]
    again = [word for given in kept for word in ("--monotone", given)] if gone else []
    replaced = ("--monotone",) if gone else ()
    if not arguments.only or not names:
        return [*_naming("--ignore", names), *again], replaced
    return [*_naming("--only", [name for name in columns.used if name not in names]), *again], ("--only", *replaced)


def _naming(option: str, names: Sequence[str]) -> list[str]:
    """Return an option with the names of columns; a name with a comma needs one of its own."""
    apart = [name for name in names if "," in name]
    joined = ",".join([name for name in names if name not in apart])
    return [word for name in filter(None, [joined, *apart]) for word in (option, name)]


def _is_moved(drift: pnorm.Drift | None, name: str) -> bool:
    """Return whether the scores moved much, and the column of the times too, or what is read off it."""
    if drift is None or not drift.score.psi >= MUCH:
        return False
    return any(of.moved and (of.name == name or of.name.startswith(f"{name} (")) for of in drift.columns)


def _may_be_straight(arguments: argparse.Namespace, learned: Learned) -> bool:
    """Return whether straight lines only would be another list, with the options that were given."""
    settings = ("rankers", "linear", "straight", "penalty", "max_columns", "t")
    if learned.H._is_straight or any(getattr(arguments, name) for name in settings):
        return False
    found = learned.cross_validation
    return found is None or not _prefers_curves(found)


def _prefers_curves(found: pnorm.CrossValidation) -> bool:
    """Return whether straight lines were compared and are behind, by more than a standard error over the folds."""
    lines = next(
        (place for place in found._of_kinds() if found.kinds and found.kinds[place[0]] == _default.LINES), None
    )
    if lines is None:
        return False
    scores = [found.scores] if found.second_scores is None else [found.scores, found.second_scores]
    behind = [of[found._best_place[0], :, found._best_place[1]] - of[lines[0], :, lines[1]] for of in scores]
    return any(x.mean() > x.std(ddof=1) / math.sqrt(x.size) for x in behind)


def _weaker_first(job: _Job, found: _Found, names: tuple[str, str]) -> list[str]:
    """Return two columns, and first the one by which the scores of the measured rows differ less."""
    some = found.rows[:_SOME] if job.test is None else np.arange(min(found.f.size, _SOME))
    spread = spread_of_columns(_checks.rows(job.measured.table, some), found.learned.H, found.learned.lam)
    return sorted(names, key=lambda name: spread[name])


def _can_hold_out(arguments: argparse.Namespace, job: _Job) -> bool:
    """Return whether rows can be held out at random; it takes two rows or ids of each class."""
    try:
        hold_out.share(job.file.y, hold_out.SHARE, arguments.seed or 0, job.units)
    except ValueError:
        return False
    return True


def _divides(arguments: argparse.Namespace, job: _Job, name: str) -> bool:
    """Return whether the latest rows by a column without gaps can be held out.

    Rows that are not in memory are not read again.
    """
    times = _columns.times_of(replace(job.columns, time=name), arguments.file, arguments, job.file.place)
    column = job.file.column(name)
    times.add(column, np.arange(job.file.y.size))
    try:
        hold_out.latest(column, hold_out.SHARE, y=job.file.y, name=name, known=times)
    except ValueError:
        return False
    return times.n_missing == 0  # the plan counts the gaps of the training rows only


# What is written --------------------------------------------------------------------------------------


def _write(arguments: argparse.Namespace, job: _Job, found: _Found, progress: Progress) -> list[str]:
    """Write the files of the options, and return lines on them."""
    kept, lines = found.kept, []
    cut = None if found.is_refitted else found.cutoff
    if arguments.save is not None:
        progress("saving the model")
        about = _about(arguments, job, found)
        trained = job.file.table
        if job.drawn is not None or (not found.is_refitted and job.held.any()):
            trained = _checks.rows(trained, job.like_all(also_held=found.is_refitted))
        some = fingerprint.of(kept.score(trained, strict=None))
        if some:
            about["training_scores"] = some
        H = kept.H.with_missing(job.columns.words) if isinstance(kept.H, Table) else kept.H
        about["profile"] = pnorm.profile(trained, H, kept.lam).to_dict()
        average, row = np.array(_rounded(job.means(kept))), average_row(kept.push)
        model = pnorm.ScoringFunction(
            kept.lam,
            H,
            kept.p,
            about,
            intercept=kept.intercept,
            slope=kept.slope,
            cutoff=cut,
            average=average,
            compared_with=row,
        )
        pnorm.save(arguments.save, model)
        which = " (trained on all rows)" if found.is_refitted else ""
        apart = suspects(kept.H)
        uses = f" (it uses {first(apart, 8)})" if apart else ""
        lines.append(f"model{which}: {path_shown(arguments.save)}{uses}")
    if arguments.out is not None:
        progress("writing the scores")
        lines += _write_scores(arguments, job, found)
    if arguments.report is not None:
        progress("writing the report")
        _report(arguments, job, found)
        lines.append(f"report: {path_shown(arguments.report)}")
    return lines


def _write_scores(arguments: argparse.Namespace, job: _Job, found: _Found) -> list[str]:
    """Write the scores of all rows of the file, and return lines on them."""
    kept = found.kept
    cut = None if found.is_refitted else found.cutoff
    unwritten = "" if found.tested is None else unwritten_probabilities(found.quality)
    without = f", {unwritten}" if unwritten else ""
    threshold = None if cut is None else cut.score
    has_held, is_apart = job.held.any() and not found.is_refitted, arguments.unlabelled == RANK
    path, told = path_shown(arguments.out), []
    if job.reader is not None and job.drawn is not None:
        split = job.drawn.split if has_held else None
        n = write_scores(arguments.out, job.reader, kept, threshold, split, has_probability=not unwritten)
        lines = [f"scores of {n:,} rows{without}: {path}", printing.IN_ORDER]
    else:
        rows, held = job.file, job.held
        has_label = np.ones(held.size, bool)
        if rows.at is not None and rows.all_rows is not None:
            rows = rows.all_rows
            has_label, held = np.zeros(rows.y.size, bool), np.zeros(rows.y.size, bool)
            has_label[job.file.at], held[job.file.at] = True, job.held
        with called_as_in_file(lambda name, row: rows.place(row) if name == "X" else None):
            f = kept.score(rows.table, strict=None)
            why = reasons(rows.table, kept.H, kept.lam, job.means(kept))
        columns = scores_file.columns(
            f,
            rows.ids,
            None if unwritten else kept.probability(f),
            None if threshold is None else f >= threshold,
            held if has_held else None,
            why,
            has_label if is_apart else None,
            job.columns.id,
            None if rows.labels is None else (str(job.columns.label), rows.labels),
        )
        scores_file.write(arguments.out, columns, first_places(f, f.size, "top"))
        lines = [f"scores of {f.size:,} rows, best first{without}: {path}"]
        if rows.ids is not None and scores_file.are_repeated(rows.ids):
            told.append(scores_file.ROW_COLUMN)
    if has_held:
        of = "held_out = 0 and labelled = 1" if is_apart else "held_out = 0"
        told.append(f"rows with {of} are training rows")
    if is_apart:
        told.append("rows to rank have labelled = 0")
    if told:
        lines[-1] += f" ({'; '.join(told)})"
    return lines


def _report(arguments: argparse.Namespace, job: _Job, found: _Found) -> None:
    """Write the report on the list that was measured."""
    learned, measured, test = found.learned, job.measured, found.tested
    training = None if test is None else test.training
    if test is not None:
        X, y = test.held_out
    elif job.drawn is None:
        X, y = measured.table, measured.y
    else:
        X, y = _checks.rows(measured.table, found.rows), measured.y[found.rows]
    others = _other_warnings(found)
    notes = [in_file(text, job.place) for text in (*[ALONE] * learned.alone, *learned.warnings) if text in others]
    notes += [] if test is None else test.copied
    facts = printing.numbering(measured, int(found.rows[first_places(found.f, 1, learned.push)[0]]))
    if found.is_refitted:
        facts.append(_REFITTED)
    if training is not None and job.drawn is not None:
        like_all = job.like_all()
        training = _checks.rows(job.file.table, like_all), job.file.y[like_all]
        if like_all.size < job.n_trained:
            facts.append(
                f"The model learned from {job.n_trained:,} rows, {job.drawn.n_trained[0]:,} of them positive. The "
                f"figures for training rows on this page are from a sample of {like_all.size:,} of them."
            )
    pnorm.report_html(
        arguments.report,
        X,
        y,
        learned.H,
        learned.lam,
        p=learned.p,
        intercept=learned.intercept,
        slope=learned.slope,
        ids=[f"row {measured.number(i)}" if measured.ids is None else measured.ids[i] for i in found.rows.tolist()],
        training=Beside(
            training,
            job.means(learned),
            average_row(learned.push),
            partial(in_file, place=job.place),
            printing.n_listed(arguments),
            facts,
            at_random=job.at_random,
        ),
        others=None if test is None else test.others,
        cross_validation=learned.cross_validation,
        trace=learned.trace,
        cutoff=found.cutoff,
        drift=found.drift,
        budget=found.quality.main if arguments.budget is not None else None,
        l1=learned.l1,
        l2=learned.l2,
        push=learned.push,
        title=f"{path_shown(printing.base_name(arguments.file))}: {shown(str(job.columns.label))}",
        label=printing.positive(measured, str(job.columns.label)),
        held_out=test is not None,
        notes=notes,
        reproduce=arguments.typed,
        seed=arguments.seed or 0,
    )


def _rounded(values: Vector) -> list[float]:
    """Return numbers in ten digits, which do not depend on the order of the rows that they are means of."""
    return [float(f"{value:.10g}") for value in values.tolist()]


def _about(arguments: argparse.Namespace, job: _Job, found: _Found) -> dict[str, Any]:
    """Return the metadata of the model file: data, settings and test results."""
    kept = found.kept
    about: dict[str, Any] = {
        "file": printing.base_name(arguments.file),
        "label": job.columns.label,
        "positive": job.file.positive,
        "rows": job.file.all_counts[0] if found.is_refitted else job.n_trained,
        "push": kept.push,
    }
    if kept.penalty:
        about |= {"steps": kept.trace.n_iter, "l1": kept.l1, "l2": kept.l2, "penalty": kept.penalty}
        about |= {"max_columns": kept.max_columns}
    else:
        about |= {"rounds": kept.trace.n_iter}
    about["status"] = kept.trace.status
    doubt = "" if found.tested is None else doubt_of_probabilities(found.quality)
    if doubt:
        about[NO_PROBABILITIES] = doubt
    chosen = found.learned.cross_validation
    if chosen is not None:
        value, error = (float(of_all[chosen._best_place]) for of_all in (chosen.mean, chosen.standard_error))
        compared = {"points": chosen.mean.size, "folds": chosen.scores.shape[1]}
        about["chosen"] = {"kind": kept.kind or None, chosen.metric: value, "standard_error": error, **compared}
    if found.tested is not None and not found.is_refitted:
        n = found.quality
        about["tested"] = {"rows": n.n_pos + n.n_neg, "positive": n.n_pos} | {
            measure.name: [float(x) for x in measure.value] for measure in n.measures if measure.key != "hits"
        }
    return about
