"""What the command prints: lines for a person who wants to decide, the outcome first and details after it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm._checks import Vector
from pnorm._checks.text import aligned, counted, first, shown
from pnorm._command.columns import Rows
from pnorm._command.terminal import one_line, path_shown
from pnorm._job.learn import Learned
from pnorm._job.quality import Quality
from pnorm._report import markup
from pnorm.rankers import Rankers
from pnorm.rankers._table import AS_ASKED, Table

TOP = 10
"""Rows of the list that are printed, if nobody says how many."""

IN_ORDER = "  They are in the order of the rows, without reasons, as these are read batch by batch."
"""What is said of scores of rows that are not in memory."""

_COLUMNS = 30
"""Columns of the file that are listed."""

_WIDE = 120
"""Characters of a line, where no terminal says how wide it is."""

_KINDS = {"number": "numbers", "boolean": "truth values", "category": "categories", "ordered": "ordered categories",
          "date": "dates", "time": "times of day", "duration": "durations", "left out": "left out"}  # fmt: skip


def paragraph(lines: Iterable[str]) -> None:
    """Print lines after an empty one, if there are any."""
    found = list(lines)
    if found:
        print()
        print("\n".join(found))


def warn(messages: Iterable[str]) -> None:
    """Print warnings, each on a line and once, with the number of times."""
    for message, times in Counter(messages).items():
        print(f"warning: {one_line(message)}" + (f" ({times} times)" if times > 1 else ""))


def labelled(path: str, rows: Rows, label: str) -> str:
    """Return what a file is, with its rows and labels."""
    n, n_pos = rows.all_counts
    return f"{path_shown(path)}: {n:,} rows, {n_pos:,} positive ({positive(rows, label)}), {100 * n_pos / n:.3g} %"


def base_name(path: str) -> str:
    """Return the last part of a path, of a folder as well."""
    return os.path.basename(os.path.normpath(path))


def positive(rows: Rows, label: str) -> str:
    """Return which rows are positive, such as ``bought = yes``."""
    return f"{shown(label)} = {shown(' or '.join(rows.positive))}"


def notes(texts: Iterable[str]) -> None:
    """Print what was assumed to read the files."""
    for text in dict.fromkeys(texts):
        print(f"  {one_line(text)}")


def plan_lines(H: Rankers, used: Sequence[str], beside: Sequence[tuple[str, str]], rows_of: str = "") -> list[str]:
    """Return what became of each column, those that are not learned from at the end; `rows_of` which rows tell it."""
    plan = getattr(H, "plan", None)
    if plan is None:
        rows = [[shown(name, 30), "numbers", "", "", ""] for name in used]
    else:
        rows = [
            [
                shown(of.name, 30),
                _KINDS.get(of.kind, of.kind),
                f"{of.values:,}",
                f"{of.missing:,}" if of.missing else "",
                shown(of.note, 100),
            ]
            for of in plan
        ]
    rows += [[shown(name, 30), what, "", "", ""] for name, what in beside]
    few = rows[: _COLUMNS if len(rows) > _COLUMNS + 1 else len(rows)]
    table = [["column", "is", "values", "missing", "note"], *few]
    kept = [k for k in range(5) if k < 3 or any(row[k] for row in few)]
    lines = aligned(
        [[row[k] for k in kept] for row in table], [at for at, k in enumerate(kept) if k in (0, 1, 4)]
    ).splitlines()
    if plan is not None and rows_of:
        lines.insert(0, rows_of)
    if len(rows) > len(few):
        kinds = Counter(row[1] for row in rows[len(few) :])
        told = ", ".join([f"{count:,} {kind}" for kind, count in kinds.most_common()])
        lines.append(f"and {len(rows) - len(few):,} more: {told}")
    return lines


def plan_warnings(H: Rankers) -> list[str]:
    """Return what is to be known of the columns: those left out, and those that may be known after the label only."""
    plan = getattr(H, "plan", ())
    out = [of for of in plan if of.rankers == 0 and of.note != AS_ASKED]
    left = [f"{shown(of.name, 40)} ({of.note})" for of in out]
    leaks = [shown(of.name, 40) for of in plan if of.separates]
    found = []
    if left:
        of_levels = any(of.values > 1 for of in out)  # of one value, or none that can be read, no kind makes use
        hint = ". --kind COLUMN=category uses one anyway" if of_levels else ""
        found.append(f"left out: {first(left, 8, str)}{hint}")
    if leaks:
        one = len(leaks) == 1
        found.append(
            f"{first(leaks, 8, str)} alone {'separates' if one else 'separate'} the positive rows from the others, "
            f"nearly: {'was it' if one else 'were they'} known before the label was?"
        )
    return found


def choice_lines(found: pnorm.CrossValidation | None, told: str) -> list[str]:
    """Return what the rule of the choice takes of each kind of weak rankers, the chosen one with a star."""
    if found is None:
        return []
    places = found._of_kinds()
    points = [found._choice(i, s) for i, s in places]
    rows = []
    for place, point in zip(places, points, strict=True):
        mark = "*" if place == found._best_place else " "
        value, error = found.mean[place], found.standard_error[place]
        penalty = " + ".join([f"{name} = {x:.2g}" for name, x in (("l1", point.l1), ("l2", point.l2)) if x])
        second = np.asarray(found.second_scores).mean(axis=1)[place]
        kind = f"{mark} {point.kind or told}"
        rows.append([kind, f"{point.p:g}", penalty, f"{value:.4f} ± {error:.4f}", f"{second:.4f}"])
    head = ["  weak rankers", "p", "penalty", "partial AUC", "average precision"]
    folds, top = found.scores.shape[1], found._top_place
    largest = f"{found.mean[top]:.4f} ± {found.standard_error[top]:.4f}"
    return [
        f"Chosen (*) by {folds} folds of the rows trained on. Of what is within one standard error of the largest",
        f"partial AUC ({largest}) it has the largest average precision. Each kind is shown at what this rule takes:",
        *aligned([head, *rows], (0, 2)).splitlines(),
    ]


def model_lines(learned: Learned) -> list[str]:
    """Return what was minimised or trained, and how that ended."""
    trace, parts = learned.trace, [f"p = {learned.p:g}{at_end(learned.push)}"]
    if learned.penalty:
        penalties = [f"{name} = {x:.3g}" for name, x in (("l1", learned.l1), ("l2", learned.l2)) if x]
        parts.append(f"{' and '.join(penalties)} on the {learned.penalty}" if penalties else "no penalty")
    if learned.max_columns is not None:
        parts.append(f"{counted(learned.max_columns, 'column')} at most")
    used = np.flatnonzero(learned.lam)
    size = f"{used.size:,} of {counted(learned.lam.size, 'weak ranker')}"
    H = learned.H
    columns = np.unique((H._planned() if isinstance(H, Table) else H.column)[used]).size
    steps = counted(trace.n_iter, "step" if learned.penalty else "round")
    return [
        f"The model: {', '.join(parts)}; {size} in use, of {counted(columns, 'column')}.",
        f"  {trace.status} after {steps}: {one_line(trace.message)}",
    ]


def quality_lines(quality: Quality) -> list[str]:
    """Return what the list is worth, beside other lists."""
    head = ["", "this list", f"{100 * quality.confidence:.4g} % interval", *quality.lists, "by chance"]
    rows = []
    for measure in quality.measures:
        if measure.key == "hits" or (measure.key in ("lift", "recall") and measure.depth != quality.main):
            continue
        value, low, high = measure.value
        cells = [value, low, high, *measure.others, measure.chance]
        write = _counts if measure.key == "positives_at_top" else _short
        own, low_told, high_told, *others = map(write, cells)
        rows.append([measure.name, own, f"{low_told} to {high_told}", *others])
    table = [[shown(cell, 40) for cell in row] for row in (head, *rows)]
    lines, room = aligned(table, (0,)).splitlines(), len(head)
    while len(lines[0]) > _width() and room > 3:  # a line that a terminal breaks is no row of a table
        room -= 1
        lines = aligned([row[:room] for row in table], (0,)).splitlines()
    wider = [f"(more in a wider terminal: {', '.join(table[0][room:])})"] if room < len(head) else []
    told = []
    if quality.difference is not None:
        sentence, interval, doubt = markup.compared(quality.difference, quality.push)
        told = [f"{sentence} ({interval}).", *[f"  {doubt}"] * bool(doubt)]
    return [headline(quality), *told, "", *lines, *wider]


def headline(quality: Quality) -> str:
    """Return one sentence on the first rows."""
    measure = quality.headline
    depth, hits = measure.depth, quality.measure("hits", measure.depth)
    value = _counts(hits.value)
    what, end = ("negative", "last") if quality.push == "bottom" else ("positive", "first")
    are = "is" if value == "1" else "are"
    return (
        f"Of the {end} {depth:,} {'row' if depth == 1 else 'rows'} of the list, {value} {are} {what} "
        f"({markup.whole(hits.value)} with {100 * quality.confidence:.4g} % confidence); "
        f"by chance it would be {_counts(hits.chance)}."
    )


def _counts(x: float) -> str:
    return f"{x:,.0f}" if x >= 10.0 or float(x).is_integer() else f"{x:.1f}"


def _short(x: float) -> str:
    return f"{x:,.1f}" if x >= 10.0 else f"{x:.3f}"


def cutoff_lines(found: pnorm.Cutoff) -> list[str]:
    """Return where to stop, and what that promises, in plain words."""
    sure = f"with {100 * found.confidence:.4g} % confidence"
    asked = {"precision": "a precision", "recall": "a recall", "budget": "a budget"}[found.asked]
    lines = []
    if not found.kept:
        lines.append(f"Cut-off: none keeps {asked} of {found.target:g} {sure}; more labelled rows may allow it.")
    if not found.promised or found.nearest is None or found.precision is None or found.recall is None:
        return lines
    share, deep = f"{100 * found.share:.3g} % of the rows", f"{found.depth:,} of the {found.n_pos + found.n_neg:,}"
    begins = "Cut-off" if found.kept else "The nearest"
    lines.append(f"{begins}: take rows with a score of {found.nearest:.6g} or more, {share} ({deep} kept back).")
    if found.asked == "recall":
        promise = f"{100 * found.promised:.4g} % of the positives or more"
    elif found.asked == "precision":
        promise = f"{100 * found.promised:.4g} % of them or more are positive"
    else:
        of = f"{found.rows:,.0f} rows of {found.of:,.0f}"
        promise = f"{found.promised:,.1f} or more of {of} are positive, on average"
    precision, recall = (100 * float(x) for x in (found.precision, found.recall))
    lines.append(f"  {promise[:1].upper()}{promise[1:]}, {sure}.")
    seen = f"  Seen: {precision:.3g} % of them are positive, and {recall:.3g} % of all positives are among them"
    if found.one_list is not None and found.hits is not None:
        low, high = found.one_list
        seen += f"; one list of {found.of:,.0f} rows has {low:,} to {high:,} hits"
    return [*lines, f"{seen}."]


def budget_lines(f: Vector, take: Any) -> list[str]:
    """Return which rows a budget takes."""
    n, size = int(np.count_nonzero(take)), counted(f.size, "row")
    lines = [f"Take the first {n:,} of {size}: those with a score of {f[take].min():.6g} or more."]
    if n < f.size and f[take].min() == f[~take].max():
        ties = int(np.count_nonzero(f[~take] == f[take].min()))
        have = "has" if ties == 1 else "have"
        lines.append(f"  {counted(ties, 'more row')} {have} that score as well; the first of the file are taken.")
    return lines


def taken_lines(found: pnorm.Cutoff, f: Vector) -> list[str]:
    """Return how many rows the cut-off of a model takes, and what it promises."""
    if found.score is None:
        return [f"The model has no cut-off: none kept a {found.asked} of {found.target:g}."]
    n = int(np.count_nonzero(f >= found.score))
    lines = [f"Cut-off: {n:,} of {counted(f.size, 'row')} have a score of {found.score:.6g} or more: take these."]
    if found.precision is not None:
        _, low, high = (x * n for x in found.precision)
        share, then = 100 * n / f.size, 100 * found.share
        lines.append(
            f"  That is {share:.3g} % of the rows, and {then:.3g} % where it was chosen. If new rows are like those, "
            f"{low:,.0f} to {high:,.0f} of them are positive."
        )
    return lines


def list_columns(
    push: str, size: int, rows: Rows, which: NDArray[np.intp], f: Vector, chance: Vector | None, take: Any = None
) -> dict[str, list[str]]:
    """Return the columns of one end of a list of so many rows: `which` of the rows of a file, with their scores."""
    ranks = range(size, size - f.size, -1) if push == "bottom" else range(1, f.size + 1)
    columns = {"rank": [f"{rank:,}" for rank in ranks], "row": [str(rows.number(i)) for i in which.tolist()]}
    if rows.ids is not None:
        columns["id"] = [shown(rows.ids[i], 30) for i in which.tolist()]
    columns["score"] = [f"{x:.4f}" for x in f.tolist()]
    if chance is not None:
        columns["probability"] = [f"{x:.3f}" for x in chance.tolist()]
    if take is not None:
        columns["take"] = ["yes" if taken else "no" for taken in take.tolist()]
    if rows.labels is not None:
        columns["label"] = [shown(rows.labels[i], 20) for i in which.tolist()]
    return columns


def list_lines(
    columns: Mapping[str, Sequence[str]], reasons: Sequence[str] | None, left: Sequence[str] = ("id", "label")
) -> list[str]:
    """Return the rows of a list, with as many of their reasons as a line has room for."""
    table = [list(columns), *[list(row) for row in zip(*columns.values(), strict=True)]]
    flush = [k for k, name in enumerate(columns) if name in left]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [f"  {line:{sum(widths) + 2 * len(widths) - 2}}" for line in aligned(table, flush).splitlines()]
    if reasons is None:
        return [line.rstrip() for line in lines]
    room = max(_width() - len(lines[0]) - 2, 30)
    told = ["reasons", *[_fitting(text, room) for text in reasons]]
    return [f"{line}  {text}".rstrip() for line, text in zip(lines, told, strict=True)]


def _fitting(text: str, room: int) -> str:
    """Return as many reasons as there is room for, one at least."""
    parts = text.split("; ")
    while len(parts) > 1 and len("; ".join(parts)) > room:
        parts.pop()
    return "; ".join(parts)


def _width() -> int:
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, 60)
    except (OSError, ValueError, AttributeError):  # it is no terminal
        return _WIDE


def at_end(push: str) -> str:
    return " at the bottom" if push == "bottom" else ""
