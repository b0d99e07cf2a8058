"""What the report says, section by section."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pnorm._checks import Vector, sheet
from pnorm._checks.text import first, short_count, shown
from pnorm._cross_validation import Choice, CrossValidation
from pnorm._cutoff import Cutoff
from pnorm._default import TERMS
from pnorm._job.baselines import CURVES, LINEAR, TREES
from pnorm._job.quality import Measure, Quality
from pnorm._reasons.drift import MEANING, Drift
from pnorm._reasons.importance import Importance
from pnorm._reasons.shapes import Shapes
from pnorm._report import markup
from pnorm._report.charts import ABOVE, STYLES, Axis, Chart, bar, legend, plain_number
from pnorm._report.markup import count, data, decimals, estimate, measure_named, paragraph, percent, signed_count, text
from pnorm._report.pictures import draw_shape, room_of
from pnorm._report.verdicts import AT_RANDOM, Verdict, doubts, is_separable, proof, texts
from pnorm._trace import Trace
from pnorm._version import version
from pnorm.rankers._from_table import is_of_columns
from pnorm.rankers._table import ALIKE, AS_ASKED, CODE, ColumnPlan

_COLUMNS, _SHAPES, _PLAN, _NOTED = 15, 8, 60, 12
"""Columns of the table of importance, shapes, columns of the table of what became of each, and columns that are named
in a warning, at most."""

_FEW_WARNINGS = 3
"""Warnings that are printed in the box at the beginning, at most. More are only counted there."""

Section = tuple[str, str, str]


@dataclass(frozen=True)
class Row:
    """One row of the list that is shown."""

    name: str
    hit: bool
    score: float
    probability: float | None
    reasons: Sequence[tuple[str, float]]
    """Columns with their values, and what they add."""


@dataclass(frozen=True)
class Findings:
    """All that the report tells."""

    quality: Quality
    verdicts: Sequence[Verdict]
    alone: str
    """Why the list is not compared with a linear model; empty if it is."""
    title: str
    label: str
    rows_called: str
    """The heading of the names of rows."""
    rows: Sequence[Row]
    reference: str
    """The row that effects are compared with, in words."""
    importance: Importance | None
    thinned: int
    """Of how many held-out rows each one was used for the importance of columns."""
    depth: int
    """The first rows that importance is about."""
    held_out: bool
    """Whether the rows had no part in training."""
    shapes: Shapes | None
    of_training: bool
    """Whether the shares of shapes are those of the training rows."""
    plan: Sequence[ColumnPlan]
    n_training: tuple[int, int] | None
    n_rankers: int
    n_used: int
    p: float | None
    penalties: Mapping[str, float]
    cross_validation: CrossValidation | None
    trace: Trace | None
    cutoff: Cutoff | None
    on_labels: str
    """The precision or recall of the cut-off on the rows of the page, in sentences; empty if they chose it."""
    drift: Drift | None
    of_test: bool
    """Whether the rows are known to be held out, if `held_out` says so: those of a file may be training rows."""
    at_random: bool
    """Whether the held-out rows are known to have been drawn at random."""
    notes: Sequence[str]
    """Warnings."""
    facts: Sequence[str]
    """Sentences on the page that are no warnings, such as how rows are numbered."""
    reproduce: Mapping[str, str]

    @property
    def suspects(self) -> list[str]:
        """The columns that may be known only after the label."""
        return list(dict.fromkeys([name for of in self.verdicts if of.key == "leak" for name in of.columns]))

    @property
    def n(self) -> int:
        return self.quality.n_pos + self.quality.n_neg

    @property
    def at_top(self) -> bool:
        return self.quality.push == "top"

    @property
    def end(self) -> str:
        """The end of the list that matters."""
        return "top" if self.at_top else "bottom"

    @property
    def first(self) -> str:
        """The word for the rows at that end."""
        return "first" if self.at_top else "last"

    @property
    def hit(self) -> str:
        """The kind of rows that belong there."""
        return "positive" if self.at_top else "negative"

    @property
    def miss(self) -> str:
        return "negative" if self.at_top else "positive"

    @property
    def were(self) -> str:
        """Whether the rows were held out, in words."""
        return "held out" if self.held_out else "trained on"

    @property
    def these(self) -> str:
        """What the rows are called."""
        if self.held_out:
            return "held-out rows" if self.of_test else "rows with labels"
        return "training rows"

    @property
    def lists(self) -> list[str]:
        """Names of the other lists."""
        return [text(name, 40) for name in self.quality.lists]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The names and classes of the other lines in charts."""
        return [*zip(self.lists, STYLES[1:], strict=False), ("by chance", "chance")]


def sections(of: Findings) -> list[Section]:
    """Return all sections that have content."""
    made = [
        _worth, _cutoff, _by_depth, _roc, _rows, _importance, _shapes, _calibration, _warnings, _choice, _proof,
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
    told = count(hits.value) if whole else f"about {_about(hits.value)}"
    sentence = f"Of the {of.first} {count(q.main)} rows, {told} {'is' if told == '1' else 'are'} {of.hit}"
    if q.main == 1:
        sentence = f"The {of.first} row {markup.of_one(hits.value, of.hit)}"
    interval = f'<span class="interval">({percent(q.confidence)} interval {markup.whole(hits.value)})</span>'
    lead = (
        f"A random order would have {_about(hits.chance)}. Measured on {count(n)} {of.these}, {count(n_hits)} of them "
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


def _worth(of: Findings) -> Section:
    q = of.quality
    first = table_of_depths(of)
    whole = [measure for measure in q.measures if measure.depth is None]
    columns = ["Measure", "This list", *map(_as_head, of.lists), "By chance"]
    rows = [
        [
            text(measure.name, 80),
            _mine(measure.value if q.has_interval(measure) else float(measure.value), _writer(measure.key)),
            *[data(value, _writer(measure.key)(value)) for value in measure.others],
            data(measure.chance, _by_chance(measure)),
        ]
        for measure in whole
    ]
    simpler = [] if q.beats_chance else texts(of.verdicts, "simpler")  # otherwise they are in the head
    told = [*markup.beside(q), *simpler, *filter(None, [of.alone])]
    difference = markup.items([text(sentence, markup.SENTENCE) for sentence in told]) if told else ""
    return (
        "quality",
        "How good the list is",
        paragraph(f"Each line of the table counts more rows from the {of.end} of the list.")
        + first
        + difference
        + markup.table("The whole list", columns, rows, kind="measures")
        + paragraph(
            f"The intervals have {percent(q.confidence)} confidence.",
            markup.without_interval(q),
            markup.jointly(q),
            f"Intervals cover the choice of the {of.these}, not the choice of the training rows.",
            kind="soft",
        ),
    )


def table_of_depths(of: Findings) -> str:
    """Return how many hits there are among the first rows, beside those of other lists."""
    q = of.quality
    head = [f"{of.first.capitalize()} rows", f"{of.hit.capitalize()}s", "Precision, lift", "Recall",
            *map(_as_head, of.lists), "By chance"]  # fmt: skip
    rows = []
    for k in q.depths:
        hits, precision, recall, lift = [q.measure(key, k) for key in ("hits", "precision", "recall", "lift")]
        rows.append([
            count(k),
            f'<span class="mine">{data(hits.value, count(hits.value))} '
            f'<span class="interval">{markup.whole(hits.value)}</span></span>',
            f'{estimate(float(precision.value), percent)} '
            f'<span class="interval">{estimate(float(lift.value), markup.times)}</span>',
            estimate(float(recall.value), percent),
            *[data(value, count(value)) for value in hits.others],
            data(hits.chance, _about(hits.chance)),
        ])  # fmt: skip
    return markup.table(f"{of.hit.capitalize()}s among the {of.first} rows", head, rows)


def _mine(value: float, write: Callable[[float], str]) -> str:
    return f'<span class="mine">{estimate(value, write)}</span>'


def _writer(key: str) -> Callable[[float], str]:
    return count if key == "positives_at_top" else decimals


def _by_chance(measure: Measure) -> str:
    return _about(measure.chance) if measure.key == "positives_at_top" else decimals(measure.chance)


def _as_head(name: str) -> str:
    """Return the name of a list as the head of a column; names of columns and of the user's lists stay as they are."""
    return name.capitalize() if name in (LINEAR, CURVES, TREES) else name


def _about(expected: float) -> str:
    """Return an expected number: whole if it is not small, and otherwise with two digits."""
    return count(round(expected) if expected >= 5.0 else float(f"{expected:.2g}"))


def _by_depth(of: Findings) -> Section:
    q = of.quality
    curve = q.by_depth
    start = int(np.searchsorted(curve.rows, min(10, q.main)))
    k = curve.rows[start:]
    own, low, high, *others = [hits[start:] / k for hits in (curve.hits, curve.low, curve.high, *curve.others)]
    top = min(1.0, 1.05 * max(float(share.max()) for share in (own, high, *others)))
    headline = float(q.headline.value)
    chart = Chart(
        Axis(float(k[0]), float(k[-1]), f"rows from the {of.end} of the list", short_count, True, whole=True),
        Axis(0.0, top, "", percent),
        "Precision by depth",
        f"Share of {of.hit}s among the {of.first} rows, from {count(k[0])} to {count(k[-1])} rows. It is "
        f"{percent(own[0])} at the left, {percent(headline)} in the {of.first} {count(q.main)} "
        f"rows and {percent(q.share)} in all rows.",
        top=ABOVE,
    )
    chart.band(k, low, high)
    chart.line(k[[0, -1]], [q.share] * 2, "chance")
    chart.mark(float(q.main), f"{of.first} {count(q.main)}: {percent(headline)}")
    lines = list(zip(of.lines, others, strict=False))
    for (_, style), share in lines[::-1]:
        chart.line(k, share, style)
    chart.line(k, own, "s0")
    chart.dots([q.main], [headline])
    ordered = sorted(lines, key=lambda line: -float(np.interp(q.main, k, line[1])))
    entries = [("<b>this list</b>, with its interval", "s0"), *[entry for entry, _ in ordered], of.lines[-1]]
    order = f" The other lists are in the order of their precision in the {of.first} {count(q.main)} rows."
    order *= len(ordered) > 1
    return (
        "depth",
        "Precision by depth",
        markup.figure(
            str(chart),
            f"Share of {of.hit}s among the {of.first} rows, by the number of rows. For the whole list it is "
            f"{percent(q.share)}, the same as by chance. The horizontal axis is logarithmic.{order}",
            legend(entries),
        ),
    )


def _roc(of: Findings) -> Section:
    q = of.quality
    ends = [float(q.roc[0][0][-1]), float(q.roc[0][1][-1])]
    false, true = q.roc[0]
    near = int(np.searchsorted(false + true, 2 * q.main))
    width = min(ends[0], max(10.0, float(false[min(near, false.size - 1)])))
    height = max([float(np.interp(width, *_increasing(*curve))) for curve in q.roc] + [1.0])
    top, whole = [
        _roc_chart(of, *size, title)
        for size, title in (((width, height), f"The {of.end} of the list"), ((ends[0], ends[1]), "The whole list"))
    ]
    at_first = float(q.measure("positives_at_top").value)
    entries = [("<b>this list</b>", "s0"), *of.lines]
    return (
        "roc",
        "Hits and false alarms in counts",
        paragraph(
            f"From the {of.end} of the list, each {of.hit} is a step up and each {of.miss} a step to the right. "
            f"A steeper curve is better. {of.hit.capitalize()}s before the first {of.miss}: {count(at_first)}."
        )
        + f'<div class="shapes">{top}{whole}</div>'
        + legend(entries),
    )


def _roc_chart(of: Findings, width: float, height: float, title: str) -> str:
    q = of.quality
    false, true = float(q.roc[0][0][-1]), float(q.roc[0][1][-1])
    chart = Chart(
        Axis(0.0, width, f"{of.miss}s taken", short_count, whole=True),
        Axis(0.0, height, "", short_count, whole=True),
        title,
        f"{of.hit.capitalize()}s against {of.miss}s among the rows taken, up to {count(height)} and {count(width)}.",
        320.0,
        250.0,
    )
    end = min(width, height * false / true)
    chart.line([0.0, end], [0.0, end * true / false], "chance")
    for style, curve in list(zip(STYLES, q.roc, strict=False))[::-1]:
        x, y = _increasing(*curve)
        inside = x <= width
        chart.line(np.r_[x[inside], width], np.r_[y[inside], np.interp(width, x, y)], style)
    return markup.figure(str(chart), f"{title}: {of.hit}s found (up) and {of.miss}s taken (to the right).")


def _increasing(false: Vector, true: Vector) -> tuple[Vector, Vector]:
    """Return a ROC curve as a function for `np.interp`: at a step the last point counts."""
    return false + 1e-9 * np.arange(false.size) / false.size, true


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


def _choice(of: Findings) -> Section | None:
    found = of.cross_validation
    if found is None:
        return None
    folds = found.scores.shape[1]
    chosen = paragraph(
        f"Chosen: <strong>{text(_setting(found.best), 120)}</strong>. Each setting was trained on part of the "
        f"training rows and measured on the rest, {folds} times.",
        "The held-out rows of this report were not used for this choice." if of.held_out else "",
    )
    return (
        "choice",
        "How p and the penalty were chosen",
        paragraph("From here on, the page is for those who check the model.", kind="soft")
        + chosen
        + _choice_chart(found)
        + _of_choice(found),
    )


def _of_choice(found: CrossValidation) -> str:
    """Return the comparison as a table, with sentences above and below it."""
    head, cells, _, _ = found._table()
    names = {"": "Terms", "p": "p", "mean": html_name(found.metric), "l1": "Penalty l1", "l2": "Penalty l2"}
    first = 0 if found.kinds else 1
    rows = [[text(TERMS.get(row[0], row[0])), *map(text, row[1:])][first:] for row in cells]
    table = markup.table(
        "The settings compared",
        [names.get(name, name.capitalize()) for name in head[first:]],
        rows,
        kind="inline",
        titled=True,
    )
    told = [text(sentence, markup.SENTENCE) for sentence in _of_best(found)]
    above = f"± is the standard error of the mean over the {found.scores.shape[1]} folds."
    return "".join([paragraph(above, kind="soft"), table, paragraph(*told, kind="soft")])


def _of_best(found: CrossValidation) -> list[str]:
    """Return sentences on the rule of the choice, the simplest setting, and what is proved of the training runs."""
    told = ["The setting with the largest mean is chosen."]
    if found.second_scores is not None:
        near, value = np.count_nonzero(found._near), found._judged[found._best_place]
        told = [
            f"{near:,} of {found.mean.size:,} settings are within one standard error of the largest mean. Of these, "
            f"the one with the largest {measure_named(str(found.second_metric))} is chosen ({value:.4f})."
        ]
    if found.simplest == found.best and found.simplest.kind == found.best.kind:
        told.append("No setting within one standard error of the largest mean is simpler.")
    elif found.scores.shape[1] > 1:
        told.append(
            f"The simplest setting within one standard error of the largest mean has {_setting(found.simplest)}."
        )
    path = found._at_end
    if path:
        more = "largest number of rounds tried; more rounds" if "t" in path else "smallest penalty tried; a smaller one"
        told.append(f"The chosen setting has the {more} may be better.")
    if found._out_of_fold is not None:
        told.append(f"Out of fold, it is {found._out_of_fold.verdict}: {found._out_of_fold}.")
    elif (doubt := found._near_chance()) is not None:
        by = measure_named(found.metric)
        told.append(f"By {by}, it is not shown to be better than a random order, {doubt.chance}: {doubt.mean}.")
    if found.status is not None:
        n, within = found._proved
        total = found.status.size
        runs = f"all {total:,}" if n == total else f"{n:,} of the {total:,}"
        within_told = f"at most {within:.2g} above its minimum" if n else "near its minimum"
        told.append(f"In {runs} training runs, the objective is proved to be {within_told}.")
    return told


def _setting(choice: Choice) -> str:
    """Return a setting with the kind of terms and the penalties in words."""
    numbers = dict(choice._numbers())
    penalties = [f"{name} = {numbers[name]:.4g}" for name in ("l1", "l2") if numbers.get(name)]
    told = [] if choice.kind is None else [TERMS.get(choice.kind, choice.kind)]
    told.append(f"p = {numbers['p']:g}")
    if "t" in numbers:
        told.append(f"{numbers['t']:,} rounds")
    if penalties or "t" not in numbers:
        told.append(f"penalty {' and '.join(penalties)}" if penalties else "no penalty")
    return ", ".join(told)


def _choice_chart(found: CrossValidation) -> str:
    """Draw the measure against the penalty or the rounds, a line for each p and kind; nothing if they do not change."""
    mean, error = found.mean, np.nan_to_num(found.standard_error)
    i, s = found._best_place
    runs = []
    for k in range(found.p.size):
        paths = [values[k].astype(np.float64) for values in found._changing.values()]
        path = next((values for values in paths if np.ptp(values) > 0.0), None)
        if path is not None and (path > 0.0).sum() > 1:
            runs.append((k, path))
    every = sorted(runs, key=lambda run: (run[0] != i, -mean[run[0]].max()))  # what was chosen first
    runs = every[: len(STYLES)]
    if not any(k == i for k, _ in runs):
        return ""
    rounds = found.along == "t"
    scaled = {k: path if rounds else path / path.max() for k, path in runs}
    low = min(float(path[path > 0.0].min()) for path in scaled.values())
    high = max(float(path.max()) for path in scaled.values())
    values = np.concatenate([mean[k] for k in scaled])
    bottom, top = float(np.min(values)), float(np.max(mean[i] + error[i]))
    room = 0.05 * (top - bottom) or 0.01
    label = "rounds" if rounds else "penalty, as a share of the largest one tried"
    chart = Chart(
        Axis(low, high, label, short_count if rounds else plain_number, True),
        Axis(bottom - room, top + room, "", plain_number),
        "The choice",
        f"{html_name(found.metric)} on rows that were left out, by {label}. The largest is {top:.4g}, the one chosen "
        f"{mean[i, s]:.4g}.",
    )
    entries = []
    for style, (k, path) in list(zip(STYLES, scaled.items(), strict=False))[::-1]:  # what was chosen is on top
        order = np.argsort(path)
        order = order[path[order] > 0.0]
        if k == i:
            chart.band(path[order], mean[k, order] - error[k, order], mean[k, order] + error[k, order])
        chart.line(path[order], mean[k, order], style)
        kind = f"{text(TERMS.get(found.kinds[k], found.kinds[k]), 30)}, " if found.kinds else ""
        entries.append((f"{kind}p = {found.p[k]:g}", style))
    if scaled[i][s] > 0.0:
        chart.dots([scaled[i][s]], [mean[i, s]])
    caption = f"{html_name(found.metric)} on the rows left out of training. The dot is the chosen setting."
    if len(runs) < len(every):
        caption += f" The best {len(runs)} of {len(every)} curves are drawn."
    return markup.figure(str(chart), caption, legend(entries[::-1]))


def html_name(name: str) -> str:
    """Return the name of a measure in words, at the beginning of a sentence."""
    told = measure_named(name)
    return text(f"{told[:1].upper()}{told[1:]}", 60)


def _calibration(of: Findings) -> Section | None:
    found = of.quality.calibration
    if found is None:
        return None
    ends = [share.high for share in found.share] + found.predicted.tolist()
    high = min(1.0, 1.05 * max(ends))
    chart = Chart(
        Axis(0.0, high, "predicted probability", percent),
        Axis(0.0, high, "", percent),
        "Predicted and observed shares",
        "Share of positives in parts of the rows, from the lowest predicted probability to the highest. Dots on the "
        "diagonal are right.",
    )
    chart.line([0.0, high], [0.0, high], "chance")
    for x, share in zip(found.predicted.tolist(), found.share, strict=True):
        chart.line([x, x], [share.low, share.high], "s0")
    chart.dots(found.predicted, [float(share) for share in found.share])
    rows = [
        [
            f"{percent(low)} to {percent(high)}",
            data(float(rows), count(rows)),
            percent(predicted),
            estimate(share, percent),
        ]
        for low, high, predicted, rows, share in zip(
            *[of_parts.tolist() for of_parts in (found.low, found.high, found.predicted, found.rows)],
            found.share,
            strict=True,
        )
    ]
    told, is_wrong = markup.calibrated(of.quality)
    first = markup.in_first(of.quality)
    how = "“Probabilities” in the documentation of pnorm shows how to recalibrate them."
    inside = sum(share.low <= x <= share.high for x, share in zip(found.predicted.tolist(), found.share, strict=True))
    parts = (
        f"In {inside} of {len(rows)} parts of the rows, the mean predicted probability is inside the interval of the "
        f"observed share. A part has {count(int(found.rows.min()))} to {count(int(found.rows.max()))} rows. A small "
        "part has a wide interval, which contains most values."
    )
    return (
        "calibration",
        "Calibration of the probabilities",
        paragraph(text(told, markup.SENTENCE), "" if first in told else text(first, markup.SENTENCE), how * is_wrong)
        + paragraph(text(parts, markup.SENTENCE), kind="soft")
        + markup.figure(
            str(chart), "Share of positives (up) and predicted probability (to the right), with intervals.",
            legend([("observed, with its interval", "s0"), ("as predicted", "chance")]),
        )
        + markup.table(
            "Rows by predicted probability", ["Predicted", "Rows", "Mean predicted", "Positive"], rows, kind="inline"
        ),
    )  # fmt: skip


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
