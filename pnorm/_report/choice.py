"""The section on how p and the penalty were chosen."""

from __future__ import annotations

import numpy as np

from pnorm._checks.text import short_count
from pnorm._cross_validation import Choice, CrossValidation
from pnorm._default import TERMS
from pnorm._report import markup
from pnorm._report.charts import STYLES, Axis, Chart, legend, plain_number
from pnorm._report.findings import Findings, Section
from pnorm._report.markup import measure_named, paragraph, text


def choice(of: Findings) -> Section | None:
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
