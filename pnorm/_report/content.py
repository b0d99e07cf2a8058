"""What the report says, section by section."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pnorm._checks import sheet
from pnorm._checks.text import first, shown
from pnorm._job.baselines import CURVES, LINEAR, TREES
from pnorm._reasons.drift import MEANING
from pnorm._report import markup
from pnorm._report.charts import bar
from pnorm._report.choice import choice
from pnorm._report.findings import Findings, Section
from pnorm._report.markup import count, data, paragraph, percent, signed_count, text
from pnorm._report.pictures import draw_shape, room_of
from pnorm._report.verdicts import AT_RANDOM, Verdict, doubts, is_separable, proof, texts
from pnorm._report.worth import about, by_depth, calibration, roc, worth
from pnorm._version import version
from pnorm.rankers._notes import is_of_columns
from pnorm.rankers._table import ALIKE, AS_ASKED, CODE, ColumnPlan

_COLUMNS, _SHAPES, _PLAN, _NOTED = 15, 8, 60, 12
"""Columns of the table of importance, shapes, columns of the table of what became of each, and columns that are named
in a warning, at most."""

_FEW_WARNINGS = 3
"""Warnings that are printed in the box at the beginning, at most. More are only counted there."""


def sections(of: Findings) -> list[Section]:
    """Return all sections that have content."""
    made = [
        worth, _cutoff, by_depth, roc, _rows, _importance, _shapes, calibration, _warnings, choice, _proof,
        _reproduce, _glossary,
    ]  # fmt: skip
    return [section for make in made if (section := make(of)) is not None]


# The head -----------------------------------------------------------------------------------------------


def head(of: Findings) -> str:
    """Return the title, the main result, and the rows that it is measured on."""
    q = of.quality
    hits = q.measure("hits", q.main)
    n_hits, n = (q.n_pos, of.n) if of.at_top else (q.n_neg, of.n)
    whole = not markup.is_tied(hits.value)
    told = count(hits.value) if whole else f"about {about(hits.value)}"
    sentence = f"Of the {of.first} {count(q.main)} rows, {told} {'is' if told == '1' else 'are'} {of.hit}"
    if q.main == 1:
        sentence = f"The {of.first} row {markup.of_one(hits.value, of.hit)}"
    interval = f'<span class="interval">({percent(q.confidence)} interval {markup.whole(hits.value)})</span>'
    lead = (
        f"A random order would have {about(hits.chance)}. Measured on {count(n)} {of.these}, {count(n_hits)} of them "
        f"{of.hit} ({percent(n_hits / n)}). The interval is for the expected number."
    )
    return (
        f"<h1>{of.title}</h1>"
        + (_alert(of) if of.suspects else "")
        + (f'<p class="headline">{markup.NO_BETTER}</p>' if of.held_out and not q.beats_chance else "")
        + f'<p class="headline">{sentence} {interval}{_with_suspects(of)}.</p>'
        + paragraph(lead, kind="lead")
        + (paragraph(f"Positive means: {of.label}.", kind="lead") if of.label else "")
        + "".join(
            paragraph(text(told, 200), kind="verdict") for told in texts(of.verdicts, "simpler") if q.beats_chance
        )
        + ("" if of.suspects else _alert(of))
    )


def _with_suspects(of: Findings) -> str:
    """Return that the numbers are with the columns that may be leaks, as an end of the first sentence."""
    if not of.suspects:
        return ""
    names = text(first(of.suspects, 3, lambda name: shown(name, 40)), markup.SENTENCE)
    return f", with the suspected column{'s' if len(of.suspects) > 1 else ''} {names} in use"


def _alert(of: Findings) -> str:
    """Return the warnings in a box: all if they are few, and otherwise their number and those of suspected columns."""
    said = _warned(of)
    n = len(said)
    if not n:
        return ""
    what = "There is one warning" if n == 1 else f"There are {n} warnings"
    if n > _FEW_WARNINGS:
        told = f'{what}. Read <a href="#warnings">them</a> before using the list.'
        leaks = [_marked(verdict) for verdict in of.verdicts if verdict.key == "leak"]
        if leaks:
            return f'<div class="alert"><p>{told}</p>{markup.items(leaks)}</div>'
        return f'<p class="alert">{told}</p>'
    told = (
        f'{what}. Read {"it" if n == 1 else "them"} before using the list. <a href="#warnings">More on the columns</a>'
    )
    return f'<div class="alert"><p>{told}</p>{markup.items(said)}</div>'


# Quality ------------------------------------------------------------------------------------------------


# Rows ---------------------------------------------------------------------------------------------------


def _rows(of: Findings) -> Section | None:
    if not of.rows:
        return None
    largest = max([abs(change) for row in of.rows for _, change in row.reasons], default=0.0)
    write = markup.signed(sheet.same_digits([change for row in of.rows for _, change in row.reasons] or [0.0]))
    score = markup.signed(sheet.same_digits([row.score for row in of.rows], sign=False))
    chances = any(row.probability is not None for row in of.rows)
    head = ["Place", of.rows_called, "Outcome", "Score", *["Probability"] * chances, "Largest effects on the score"]
    rows = [
        [
            str(place),
            row.name,
            f'<span class="yes">● {of.hit}</span>' if row.hit else f'<span class="no">○ {of.miss}</span>',
            score(row.score),
            *([percent(row.probability)] if row.probability is not None else []),
            "".join(
                f'<div class="reason"><span>{text(what, 90)}</span>{bar(change, largest)}'
                f'<span class="by">{write(change)}</span></div>'
                for what, change in row.reasons
            ),
        ]
        for place, row in enumerate(of.rows, 1)
    ]
    return (
        "rows",
        f"The {of.first} rows, with reasons",
        paragraph(
            f"The {of.first} {len(rows)} {of.these}. A bar is what the value of a column adds to the score of the row, "
            f"compared with {text(of.reference, 80)}. A bar to the right raises the score, a bar to the left lowers "
            "it. Bars explain the score. They do not predict the effect of changing a value."
        )
        + (paragraph(text(doubts(of.quality), markup.SENTENCE)) if of.held_out and doubts(of.quality) else "")
        + markup.table(
            f"The {of.first} {len(rows)} of {count(of.n)} {of.these}",
            head,
            rows,
            left=(0, 1, 2, len(head) - 1),
            kind="rows",
        ),
    )


def _importance(of: Findings) -> Section | None:
    found = of.importance
    if found is None:
        return None
    order = np.argsort(-found.ranges, kind="stable")[:_COLUMNS]
    order = order[found.ranges[order] > 0.0]
    largest = float(found.ranges.max(initial=0.0))
    write = sheet.same_digits(found.ranges, False)
    k = of.depth
    rows = [
        [
            text(found.names[c], 40),
            f'<div class="bar">{bar(float(found.ranges[c]), largest, False)}</div>',
            write(float(found.ranges[c])),
            data(k * found.without[c], count(round(k * float(found.without[c]), 1))),
            signed_count(-round(k * float(found.losses[c]), 1)),
        ]
        for c in order.tolist()
    ]
    left = int(np.count_nonzero(found.ranges > 0.0)) - len(rows)
    drawn = () if of.shapes is None else [shape.name for shape in of.shapes.columns[:_SHAPES]]
    level = [
        text(name, 40) for name, spread in zip(found.names, found.ranges, strict=True) if name in drawn and not spread
    ]
    on = f" Measured on one of every {of.thinned} {of.these}." if of.thinned > 1 else ""
    return (
        "importance",
        "Column importance",
        paragraph(
            f"The range of each column's part of the score, and the number of {of.hit}s among the {of.first} "
            f"{count(k)} rows if the column were ignored. With all columns there are "
            f"{count(round(k * found.value, 1))}.{on} If two columns contain the same information, each may seem to "
            "matter little."
        )
        + markup.table(
            "Columns, largest range first",
            ["Column", "", "Range of score", f"{of.hit.capitalize()}s without it", "Change"],
            rows,
            left=(0, 1),
            kind="bars",
        )
        + (paragraph(f"{count(left)} more columns have smaller ranges.", kind="soft") if left > 0 else "")
        + (paragraph(f"The same for all {of.these}: {', '.join(level)}.", kind="soft") if level else ""),
    )


def _shapes(of: Findings) -> Section | None:
    if of.shapes is None or not len(of.shapes):
        return None
    drawn = of.shapes.columns[:_SHAPES]
    room = room_of(drawn)
    left = [text(shape.name, 40) for shape in of.shapes.columns[_SHAPES:]]
    more = f"{', '.join(left[:20])}{' and others' if len(left) > 20 else ''}" if left else ""
    rows = "training rows" if of.of_training else of.these
    is_other = len(of.rows) > 0 and not of.reference.startswith("the average row")
    reasons = f"The reasons of rows compare with another row, {text(of.reference, 80)}, so their numbers differ."
    return (
        "shapes",
        "How the score depends on each column",
        paragraph(
            f"The score of a row is the sum of these parts. Zero is the average of the {rows}. All charts have one "
            f"scale. Grey bars show the distribution of the {rows}. Curves of numbers cover the middle 98 % of them.",
            reasons * is_other,
        )
        + f'<div class="columns">{"".join(draw_shape(shape, room) for shape in drawn)}</div>'
        + (paragraph(f"Columns with smaller ranges, not drawn: {more}.", kind="soft") if more else ""),
    )


# How it was made ----------------------------------------------------------------------------------------


# Warnings -------------------------------------------------------------------------------------------


def _warned(of: Findings) -> list[str]:
    """Return what may change the use of the list, as HTML."""
    said = []
    if not of.held_out:
        said.append("All numbers on this page are from training rows. On new rows the list is worse.")
    in_head = markup.NO_BETTER  # the first line of the page
    said += [_marked(verdict) for verdict in of.verdicts if verdict.grave and verdict.text != in_head]
    of_plan = bool(len(of.plan))
    said += [text(note, markup.SENTENCE) for note in of.notes if not (of_plan and is_of_columns(str(note)))]
    return said


def _noticed(of: Findings) -> list[str]:
    """Return what a reader may want to know and that needs no action, as HTML."""
    said = [text(fact, markup.SENTENCE) for fact in of.facts]
    left = [column for column in of.plan if column.rankers == 0 and column.note != AS_ASKED]
    if left:
        said.append(f"Columns left out: {_noted(left)}.")
    rare = [column for column in of.plan if "rare" in column.note]
    if rare:
        said.append(f"Columns with rare values, which have too few rows to learn from: {_noted(rare)}.")
    alike = [column for column in of.plan if ALIKE in column.note]
    if alike:
        said.append(f"Columns with values that may be meant as one: {_noted(alike)}. They are kept apart.")
    codes = [column for column in of.plan if CODE in column.note]
    if codes:
        said.append(f"Columns of numbers without an order, perhaps: {_noted(codes)}. They are read as amounts.")
    return said + [_marked(verdict) for verdict in of.verdicts if verdict.key == "drift" and not verdict.grave]


def _marked(verdict: Verdict) -> str:
    """Return a verdict as HTML, with the name of a column at its beginning in bold."""
    name = verdict.subject
    bold = f"<strong>{text(name, 40)}</strong>" if name else ""
    return bold + text(verdict.text[len(name) :], markup.SENTENCE)


def _noted(columns: Sequence[ColumnPlan]) -> str:
    """Return columns with their notes, as HTML."""
    names = [f"<strong>{text(column.name, 40)}</strong> ({text(column.note, 120)})" for column in columns[:_NOTED]]
    return "; ".join(names) + (f"; and {len(columns) - _NOTED} more" if len(columns) > _NOTED else "")


def _warnings(of: Findings) -> Section:
    said = _warned(of)
    listed = markup.items(said) if said else paragraph("There are no warnings.")
    notes = _noticed(of)
    listed += f"<h3>Notes</h3>{markup.items(notes)}" if notes else ""
    drift = "" if of.drift is None else (
        f"<h3>The {of.these} compared with the training rows</h3>"
        f'<div class="scroll drift" tabindex="0" role="region" aria-label="Drift">{of.drift._as_html()}</div>'
        f"{paragraph(MEANING, _by_drawing(of), kind='soft')}"
    )  # fmt: skip
    return "warnings", "Warnings", listed + drift + _table_of_plan(of)


def _by_drawing(of: Findings) -> str:
    """Return why rows that were drawn differ beyond chance, if they do and no warning says it."""
    if of.drift is None or not of.at_random or any(verdict.key == "drift" and verdict.grave for verdict in of.verdicts):
        return ""
    return AT_RANDOM if any(column.beyond_chance for column in of.drift.columns) else ""


def _table_of_plan(of: Findings) -> str:
    if not len(of.plan):
        return ""
    rows = [
        [text(column.name, 40), text(column.kind), count(column.values), count(column.missing), count(column.rankers),
         text(column.note, 120)]
        for column in of.plan[:_PLAN]
    ]  # fmt: skip
    left = len(of.plan) - len(rows)
    return markup.table(
        "Columns" + (f"; and {count(left)} more" if left else ""),
        ["Column", "Read as", "Values", "Missing", "Weak rankers", "Note"],
        rows,
        left=(0, 1, 5),
    )


def _cutoff(of: Findings) -> Section | None:
    if of.cutoff is None:
        return None
    sentences, table = of.cutoff._told("at_least (--at-least of the command)")
    body = paragraph(*[text(line, markup.SENTENCE) for line in sentences])
    if of.on_labels:
        body += paragraph(text(of.on_labels, markup.SENTENCE))
    if table:
        body += markup.facts([(text(name.capitalize()), text(value, 200)) for name, value in table])
        told = (
            "The guarantee holds for new rows from the same distribution as the held-out rows. It accounts for the "
            "choice of the cut-off and for the number of held-out rows."
        )
        if of.cutoff.asked != "recall":  # whose positives are independent draws either way
            told += (
                " It is proved for held-out rows that were drawn independently. If a fixed share of both classes was "
                "held out at random, it was checked by simulation."
            )
        body += paragraph(told, kind="soft")
    return "cutoff", "Cut-off", body


def _proof(of: Findings) -> Section | None:
    trace = of.trace
    if trace is None:
        return None
    told = proof(trace, is_good=not of.held_out or of.quality.beats_chance)
    if not told:
        return None
    if is_separable(trace):
        told += " Larger coefficients always fit better. The list uses finite ones."
    elif math.isfinite(trace.gap):
        told += (
            " No other coefficients of these weak rankers have a smaller objective on the training rows, up to this "
            "gap."
        )
    return (
        "certificate",
        "Optimality certificate",
        paragraph(told) + paragraph(f"Message of the solver: {text(trace.message, markup.SENTENCE)}", kind="soft"),
    )


def _reproduce(of: Findings) -> Section:
    q = of.quality
    known = [
        (of.these.capitalize(), f"{count(of.n)}: {count(q.n_pos)} positive, {count(q.n_neg)} negative"),
    ]
    if of.n_training is not None:
        known.append(
            ("Training rows", f"{count(sum(of.n_training))}: {count(of.n_training[0])} positive, "
             f"{count(of.n_training[1])} negative")
        )  # fmt: skip
    known.append(("Weak rankers", f"{count(of.n_used)} in use of {count(of.n_rankers)}"))
    if of.p is not None:
        known.append(("p", f"{of.p:g}"))
    known += [(name, f"{value:.6g}") for name, value in of.penalties.items()]
    known.append(("pnorm", text(version)))
    known += [(text(key), text(value, markup.SENTENCE)) for key, value in of.reproduce.items() if key not in _CODE]
    code = "".join(f'<pre tabindex="0">{_lines(of.reproduce[key])}</pre>' for key in _CODE if key in of.reproduce)
    return "reproduce", "How to reproduce this report", code + markup.facts(known)


_CODE = ("command", "call")
"""Keys of `reproduce` whose values are set as code."""


def _lines(code: str) -> str:
    return "\n".join(text(line, 2000) for line in str(code).splitlines()[:60])


def _glossary(of: Findings) -> Section:
    words = {
        "Held-out rows": "Rows with known outcome that were not used for training. They stand for new rows.",
        "Score": "The number that sorts the rows. Only the order matters.",
        "Precision": f"The share of {of.hit}s among the rows taken.",
        "Recall": f"The share of all {of.hit}s that is among the rows taken.",
        "Lift": f"The precision divided by the share of {of.hit}s in all rows; 1 is chance.",
        "By chance": "The average for a list in random order.",
        "Interval": f"The range of the number that is compatible with the {of.these}, with the stated confidence.",
        "AUC": "The share of pairs of a positive and a negative that are in the right order; 0.5 is chance. The "
        f"partial AUC uses the {of.first} {of.miss}s only, scaled so that 0.5 is chance.",
        "Average precision": f"The mean of the precision at the place of each {of.hit}.",
        "Weak ranker": "A function that orders rows, such as whether a number exceeds a cut. The score is the sum of "
        "the weak rankers, each multiplied by its coefficient.",
        "p": f"The power of the push. A larger p gives more weight to {of.miss}s near the {of.end} of the list; 1 "
        "treats all places alike.",
        "Penalty": "A term that keeps coefficients small, so that the list does not overfit the training rows.",
    }
    if of.these != "held-out rows":
        del words["Held-out rows"]
    for name in of.quality.lists:
        if name == LINEAR:
            words["Linear model"] = "A logistic regression on the same columns, learned from the training rows."
        elif name == CURVES:
            words["Logistic curves"] = (
                "A logistic regression on a curve of each column, learned from the training rows. Cross-validation "
                f"chooses its penalty, and a weight on the {of.miss}s from 1, 10 and 100."
            )
        elif name == TREES:
            words["Boosted trees"] = (
                "Many small decision trees, each of which corrects the ones before, learned from the training rows "
                "(HistGradientBoostingClassifier of scikit-learn). They find interactions. Nobody can read their score."
            )
        elif name.endswith(markup.ALONE):
            words[text(name, 48)] = (
                "The order of the rows by this column, which has the largest AUC of all columns in folds of the "
                "training rows."
            )
    return "words", "Glossary", markup.facts(words.items())
