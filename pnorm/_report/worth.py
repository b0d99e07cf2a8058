"""The sections on how good the list is: its measures, the curves by depth and ROC, and the probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pnorm._checks import Vector
from pnorm._checks.text import short_count
from pnorm._job.baselines import CURVES, LINEAR, TREES
from pnorm._job.quality import Measure
from pnorm._report import markup
from pnorm._report.charts import ABOVE, STYLES, Axis, Chart, legend
from pnorm._report.findings import Findings, Section
from pnorm._report.markup import count, data, decimals, estimate, paragraph, percent, text
from pnorm._report.verdicts import texts


def worth(of: Findings) -> Section:
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
            data(hits.chance, about(hits.chance)),
        ])  # fmt: skip
    return markup.table(f"{of.hit.capitalize()}s among the {of.first} rows", head, rows)


def _mine(value: float, write: Callable[[float], str]) -> str:
    return f'<span class="mine">{estimate(value, write)}</span>'


def _writer(key: str) -> Callable[[float], str]:
    return count if key == "positives_at_top" else decimals


def _by_chance(measure: Measure) -> str:
    return about(measure.chance) if measure.key == "positives_at_top" else decimals(measure.chance)


def _as_head(name: str) -> str:
    """Return the name of a list as the head of a column; names of columns and of the user's lists stay as they are."""
    return name.capitalize() if name in (LINEAR, CURVES, TREES) else name


def about(expected: float) -> str:
    """Return an expected number: whole if it is not small, and otherwise with two digits."""
    return count(round(expected) if expected >= 5.0 else float(f"{expected:.2g}"))


def by_depth(of: Findings) -> Section:
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


def roc(of: Findings) -> Section:
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


def calibration(of: Findings) -> Section | None:
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
