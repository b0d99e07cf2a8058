"""The next steps that are worth a try, with the commands to type."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import pnorm
from pnorm import _checks
from pnorm._checks import DATE
from pnorm._checks.text import first, shown
from pnorm._command import columns as _columns
from pnorm._command import options, printing
from pnorm._command.columns import Columns
from pnorm._command.job import Found, Job, Pairs, beyond
from pnorm._command.terminal import pasted, program
from pnorm._job import hold_out
from pnorm._reasons.explain import spread_of_columns
from pnorm._reasons.moved import MUCH
from pnorm._report import markup
from pnorm._report.verdicts import Verdict, advice, texts
from pnorm.rankers._table import ID_BY_NAME, ID_OF_SEVERAL, suspects

_SOME = 10_000
"""Rows, at most, on which the effects of columns are compared."""


def next_steps(
    arguments: argparse.Namespace, job: Job, found: Found, told: Sequence[Verdict], together: Pairs
) -> list[str]:
    """Return the most useful next steps, with the commands to type. They leave out the columns that may be leaks."""
    plan, n = getattr(found.learned.H, "plan", ()), found.quality
    facts: list[str] = []
    steps: list[tuple[str, str]] = []
    is_useful = found.tested is None or n.beats_chance
    apart = suspects(found.learned.H)
    cleaned, replaced = leaving_out(arguments, job.columns, apart)
    if apart and not any(of.rankers and of.name not in apart for of in plan):
        return printing.sentences(
            f"No column is left without {first(apart, 8)}. Add columns that are known before the label."
        )

    def step(what: str, more: Sequence[str], without: Sequence[str] = ()) -> None:
        steps.append((what, printing.again(arguments, [*cleaned, *more], [*replaced, *without])))

    def leave_out(what: str, name: str) -> None:
        options, without = leaving_out(arguments, job.columns, [*apart, name])
        steps.append((what, printing.again(arguments, options, without)))

    if apart:
        step(f"Leave out {first(apart, 8)}", [])
    time = job.columns.time
    if time is not None and time not in apart and (_is_moved(found.drift, time) or beyond(job, found.learned)):
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
    if found.cutoff is None and found.tested is not None and is_useful:
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


def leaving_out(
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


def _weaker_first(job: Job, found: Found, names: tuple[str, str]) -> list[str]:
    """Return two columns, and first the one by which the scores of the measured rows differ less."""
    some = found.rows[:_SOME] if job.test is None else np.arange(min(found.f.size, _SOME))
    spread = spread_of_columns(_checks.rows(job.measured.table, some), found.learned.H, found.learned.lam)
    return sorted(names, key=lambda name: spread[name])


def _can_hold_out(arguments: argparse.Namespace, job: Job) -> bool:
    """Return whether rows can be held out at random; it takes two rows or ids of each class."""
    try:
        hold_out.share(job.file.y, hold_out.SHARE, arguments.seed or 0, job.units)
    except ValueError:
        return False
    return True


def _divides(arguments: argparse.Namespace, job: Job, name: str) -> bool:
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
