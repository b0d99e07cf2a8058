"""The files that learning writes."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

import pnorm
from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.text import first, shown
from pnorm._command import printing, scores_file
from pnorm._command.job import Found, Job, other_warnings
from pnorm._command.large import write_scores
from pnorm._command.progress import Progress
from pnorm._command.terminal import called_as_in_file, in_file, path_shown
from pnorm._job.tested import ALONE, first_places, reasons
from pnorm._reasons import fingerprint
from pnorm._reasons.explain import average_row
from pnorm._report.report import Beside
from pnorm._report.verdicts import NO_PROBABILITIES, doubt_of_probabilities, unwritten_probabilities
from pnorm._tables import RANK
from pnorm.rankers._table import Table, suspects


def write(arguments: argparse.Namespace, job: Job, found: Found, progress: Progress) -> list[str]:
    """Write the files of the options, and return lines on them."""
    learned, lines = found.learned, []
    if arguments.save is not None:
        progress("saving the model")
        about = _about(arguments, job, found)
        trained = job.file.table
        if job.drawn is not None or job.held.any():
            trained = _checks.rows(trained, job.like_all())
        some = fingerprint.of(learned.score(trained, strict=None))
        if some:
            about["training_scores"] = some
        H = learned.H.with_missing(job.columns.words) if isinstance(learned.H, Table) else learned.H
        about["profile"] = pnorm.profile(trained, H, learned.lam).to_dict()
        model = pnorm.ScoringFunction(
            learned.lam,
            H,
            learned.p,
            about,
            intercept=learned.intercept,
            slope=learned.slope,
            cutoff=found.cutoff,
            average=np.array(_rounded(job.means(learned))),
            compared_with=average_row("top"),
        )
        pnorm.save(arguments.save, model)
        apart = suspects(learned.H)
        uses = f" (it uses {first(apart, 8)})" if apart else ""
        lines.append(f"model: {path_shown(arguments.save)}{uses}")
    if arguments.out is not None:
        progress("writing the scores")
        lines += _write_scores(arguments, job, found)
    if arguments.report is not None:
        progress("writing the report")
        _report(arguments, job, found)
        lines.append(f"report: {path_shown(arguments.report)}")
    return lines


def _write_scores(arguments: argparse.Namespace, job: Job, found: Found) -> list[str]:
    """Write the scores of all rows of the file, and return lines on them."""
    learned, cut = found.learned, found.cutoff
    unwritten = "" if found.tested is None else unwritten_probabilities(found.quality)
    without = f", {unwritten}" if unwritten else ""
    threshold = None if cut is None else cut.score
    has_held, is_apart = job.held.any(), arguments.unlabelled == RANK
    path, told = path_shown(arguments.out), []
    if job.reader is not None and job.drawn is not None:
        split = job.drawn.split if has_held else None
        n = write_scores(arguments.out, job.reader, learned, threshold, split, has_probability=not unwritten)
        lines = [f"scores of {n:,} rows{without}: {path}", printing.IN_ORDER]
    else:
        rows, held = job.file, job.held
        has_label = np.ones(held.size, bool)
        if rows.at is not None and rows.all_rows is not None:
            rows = rows.all_rows
            has_label, held = np.zeros(rows.y.size, bool), np.zeros(rows.y.size, bool)
            has_label[job.file.at], held[job.file.at] = True, job.held
        with called_as_in_file(lambda name, row: rows.place(row) if name == "X" else None):
            f = learned.score(rows.table, strict=None)
            why = reasons(rows.table, learned.H, learned.lam, job.means(learned))
        columns = scores_file.columns(
            f,
            rows.ids,
            None if unwritten else learned.probability(f),
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


def _report(arguments: argparse.Namespace, job: Job, found: Found) -> None:
    """Write the report on the list that was measured."""
    learned, measured, test = found.learned, job.measured, found.tested
    training = None if test is None else test.training
    if test is not None:
        X, y = test.held_out
    elif job.drawn is None:
        X, y = measured.table, measured.y
    else:
        X, y = _checks.rows(measured.table, found.rows), measured.y[found.rows]
    others = other_warnings(found)
    notes = [in_file(text, job.place) for text in (*[ALONE] * learned.alone, *learned.warnings) if text in others]
    notes += [] if test is None else test.copied
    facts = printing.numbering(measured, int(found.rows[first_places(found.f, 1, "top")[0]]))
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
            average_row("top"),
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


def _about(arguments: argparse.Namespace, job: Job, found: Found) -> dict[str, Any]:
    """Return the metadata of the model file: data, settings and test results."""
    learned = found.learned
    about: dict[str, Any] = {
        "file": printing.base_name(arguments.file),
        "label": job.columns.label,
        "positive": job.file.positive,
        "rows": job.n_trained,
        "push": "top",
    }
    if learned.penalty:
        about |= {"steps": learned.trace.n_iter, "l1": learned.l1, "l2": learned.l2, "penalty": learned.penalty}
        about |= {"max_columns": None}
    else:
        about |= {"rounds": learned.trace.n_iter}
    about["status"] = learned.trace.status
    doubt = "" if found.tested is None else doubt_of_probabilities(found.quality)
    if doubt:
        about[NO_PROBABILITIES] = doubt
    chosen = learned.cross_validation
    if chosen is not None:
        value, error = (float(of_all[chosen._best_place]) for of_all in (chosen.mean, chosen.standard_error))
        compared = {"points": chosen.mean.size, "folds": chosen.scores.shape[1]}
        about["chosen"] = {"kind": learned.kind or None, chosen.metric: value, "standard_error": error, **compared}
    if found.tested is not None:
        n = found.quality
        about["tested"] = {"rows": n.n_pos + n.n_neg, "positive": n.n_pos} | {
            measure.name: [float(x) for x in measure.value] for measure in n.measures if measure.key != "hits"
        }
    return about
