"""The lines that the command prints."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm._checks import Vector
from pnorm._checks.text import aligned, counted, shown
from pnorm._command.columns import Rows
from pnorm._command.terminal import is_styled, one_line, pasted, path_shown, program
from pnorm._default import TERMS
from pnorm._job.baselines import CURVES, LINEAR, TREES
from pnorm._job.learn import Learned
from pnorm._job.quality import Quality
from pnorm._reasons.drift import MEANING
from pnorm._report import markup
from pnorm._report.verdicts import proof
from pnorm.rankers._table import Table

WRITTEN = ("--save", "--out", "--report")
"""The options of files that a run writes. A command to try next leaves them out, as it would replace these files."""

TOP = 10
"""Rows of the list that are printed by default."""

IN_ORDER = "  They are in the order of the rows and have no reasons, because the rows are read in batches."
"""A note on scores of rows that are not in memory."""

_LONGEST = 480
"""Characters of a command, at most; what is added to a longer one is printed."""

_WIDE, _NARROW = 120, 60
"""Characters of a line if the output is not a terminal, and at least."""


def n_listed(arguments: argparse.Namespace) -> int:
    """Return how many rows of the list are printed, of a list that is as long."""
    return TOP if arguments.top is None else int(arguments.top)


def paragraph(lines: Iterable[str]) -> None:
    """Print lines after an empty one, if there are any."""
    found = list(lines)
    if found:
        print()
        print("\n".join(found))


def section(title: str, lines: Iterable[str]) -> None:
    """Print a heading, in bold on a terminal, and lines below it, indented, if there are any."""
    found = list(lines)
    if found:
        paragraph([f"\033[1m{title}\033[0m" if is_styled() else title, *[f"  {line}".rstrip() for line in found]])


def sentences(text: str, indent: int = 0) -> list[str]:
    """Return text as lines that fit below a heading; lines after the first one get `indent` blanks in front."""
    return textwrap.wrap(
        text, _width() - 2, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def warn(messages: Iterable[str]) -> None:
    """Print warnings, each once, with the number of times."""
    found: list[str] = []
    for message, times in Counter(messages).items():
        text = f"warning: {one_line(message)}" + (f" ({times} times)" if times > 1 else "")
        found += textwrap.wrap(
            text, _width(), subsequent_indent=" " * 9, break_long_words=False, break_on_hyphens=False
        )
    paragraph(found)


def labelled(path: str, rows: Rows, label: str) -> str:
    """Return the name of a file, with the numbers of its rows and positives."""
    n, n_pos = rows.all_counts
    which = " with a label" if rows.n_empty and not rows.is_empty_negative else ""
    return (
        f"{path_shown(path)}: {n:,} rows{which}, {n_pos:,} positive ({positive(rows, label)}), {100 * n_pos / n:.3g} %"
    )


def empty_labels(
    rows: Rows, what: str, path: str | None = None, negative: Sequence[str] | None = None, time: str | None = None
) -> list[str]:
    """Return sentences on rows without a label or a time, if any; `what` becomes of those without a label."""
    other = "" if negative is None else ", or one that is neither positive nor negative"
    of, found, n = "" if path is None else f" of {path_shown(path)}", [], rows.n_empty
    if n and rows.is_empty_negative:
        found.append(f"{counted(n, 'row')}{of} {_have(n)} no label, which counts as negative")
    elif n:
        found.append(f"{counted(n, 'more row')}{of} {_have(n)} no label{other}{what}")
    if rows.n_undated and time is not None:
        stay = f"{_have(rows.n_undated)} no time in {shown(time)}: trained on, not tested on"
        found.append(f"{counted(rows.n_undated, 'row')}{of} {stay}")
    return found


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


_REPEATED = 2
"""Repeated ids that are named, at most."""

_PLACES = 3
"""Rows of a repeated id that are named, at most."""


def repeated_ids(rows: Rows, name: str | None, is_whole: bool = False) -> list[str]:
    """Return a sentence on ids in several rows and on rows without an id, if there are any and all rows are in memory.

    `name` is the column of the ids. `is_whole` is whether ids are held out with all their rows.
    """
    rows = rows if rows.all_rows is None else rows.all_rows
    if rows.ids is None or name is None or rows.numbers is not None:
        return []
    of_ids: dict[str, list[int]] = {}
    for i, text in enumerate(rows.ids):
        of_ids.setdefault(text, []).append(i)
    n_empty = len(of_ids.pop("", []))
    several = [(text, at) for text, at in of_ids.items() if len(at) > 1]
    told = []
    if several:
        few = [f"{shown(text, 30)} ({_places(rows, at)})" for text, at in several[:_REPEATED]]
        more = ", ..." if len(several) > _REPEATED else ""
        told.append(f"{counted(len(several), 'id')} {_are(len(several))} in more than one row: {', '.join(few)}{more}")
    if n_empty:
        told.append(f"{counted(n_empty, 'row')} {_have(n_empty)} no id")
    split = "; an id is held out with all its rows, or not at all" if several and is_whole else ""
    return [f"{shown(name, 30)}: {'; '.join(told)}; all rows are kept{split}"] if told else []


def shared_ids(units: NDArray[np.intp] | None, held: NDArray[np.bool_]) -> list[str]:
    """Return a sentence on the ids of the test by --time that are also in training, if any; `units` number the ids."""
    if units is None or not held.any():
        return []
    of_test = np.unique(units[held])
    n = int(np.isin(of_test, units[~held]).sum())
    if not n:
        return []
    return [
        f"{n:,} of {counted(of_test.size, 'test id')} {_are(n)} also in training: with --time, rows of one id are not "
        "kept together. If new rows will have new ids, leave --time out: rows of one id are then held out together"
    ]


def _places(rows: Rows, at: Sequence[int]) -> str:
    """Return the places of the first rows, such as ``lines 3, 9, ...``, with their files if these differ."""
    parts = [rows.place(i).partition(" of ") for i in at[:_PLACES]]
    more = ", ..." if len(at) > _PLACES else ""
    if len({where for _, _, where in parts}) > 1:
        return f"{', '.join(map(''.join, parts))}{more}"
    word = parts[0][0].partition(" ")[0]
    return f"{word}s {', '.join([head.partition(' ')[2] for head, _, _ in parts])}{more}"


def base_name(path: str) -> str:
    """Return the last part of a path, of a folder as well."""
    return os.path.basename(os.path.normpath(path))


def positive(rows: Rows, label: str) -> str:
    """Return the rule for positive rows, such as ``bought = yes``."""
    return f"{shown(label)} = {shown(' or '.join(rows.positive))}"


def notes(texts: Iterable[str]) -> None:
    """Print assumptions about the format of the files."""
    for text in dict.fromkeys(texts):
        print(f"  {one_line(text)}")


def moved_lines(told: Iterable[str]) -> list[str]:
    """Return sentences on what moved, and below them what PSI is."""
    of = list(told)
    meaning = [MEANING] if any("(PSI " in sentence for sentence in of) else []
    return [line for sentence in [*of, *meaning] for line in sentences(sentence, 2)]


def it(columns: Sequence[str]) -> str:
    """Return the pronoun for some columns."""
    return "it" if len(columns) == 1 else "them"


def steps(of: Sequence[tuple[str, str]]) -> list[str]:
    """Return what can be done next, each with its whole command: beside it, or below it if one line is too short."""
    wide = max([len(what) for what, _ in of], default=0)
    if all(wide + len(command) + 4 <= _width() for _, command in of):
        return [f"{what:{wide}}  {command}" for what, command in of]
    return [line for what, command in of for line in (f"{what}:", f"  {command}")]


def again(arguments: argparse.Namespace, more: Sequence[str], without: Sequence[str] = ()) -> str:
    """Return the command as it was typed with more options, without some others and without the files it wrote."""
    words = list(arguments.words)
    for option in (*without, *WRITTEN):
        words = [word for word in words if not word.startswith(f"{option}=")]
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
    command = pasted(program("pnorm", sys.argv[0]), *words, *more)
    return command if len(command) <= _LONGEST else f"the same command with {pasted(*more)}"


def choice_lines(found: pnorm.CrossValidation | None, sampled: Sequence[tuple[str, int, int]] = ()) -> list[str]:
    """Return the choice for each kind of weak rankers, with a star at the one that was taken, and the rule.

    `sampled` names a side of which only some of all training rows served the choice.
    """
    if found is None:
        return []
    top = found._top_place
    places = found._of_kinds()
    places += [top] if top not in places else []
    points = [found._choice(i, s) for i, s in places]
    rows = []
    for place, point in zip(places, points, strict=True):
        mark = "*" if place == found._best_place else " "
        value, error = found.mean[place], found.standard_error[place]
        penalty = " + ".join([f"{name} = {x:.2g}" for name, x in (("l1", point.l1), ("l2", point.l2)) if x])
        second = np.asarray(found.second_scores).mean(axis=1)[place]
        kind = f"{mark} {point.kind}"
        rows.append([kind, f"{point.p:g}", penalty, f"{value:.4f} ± {error:.4f}", f"{second:.4f}"])
    head = ["  terms", "p", "penalty", "partial AUC", "average precision"]
    folds = found.scores.shape[1]
    largest = f"{found.mean[top]:.4f} ± {found.standard_error[top]:.4f}"
    rule = (
        f"Rule: within one standard error of the largest partial AUC ({largest}), the largest average precision. "
        f"± is the standard error over the {folds} folds, whose training rows overlap."
    )
    few = [
        f"The choice uses {n:,} of {of:,} {side} training rows, so average precision is not comparable with the test."
        for side, n, of in sampled
    ]
    return [
        f"Chosen (*) by {folds}-fold cross-validation on the training rows:",
        *aligned([head, *rows], (0, 2)).splitlines(),
        *sentences(" ".join([rule, *few])),
    ]


def summary_lines(learned: Learned, has_details: bool = False, is_good: bool = True) -> list[str]:
    """Return what kind of score the model is, how it was chosen, and whether its minimum is proved, in plain words.

    Without details, a proved minimum is left out if the test does not show that the list `is_good`.
    """
    trace, found = learned.trace, learned.cross_validation
    of = TERMS.get(learned.kind, "terms")
    size = counted(columns_in_use(learned), "column")
    score = f"The score is a sum of {of} of {size} in use, with p = {learned.p:g}"
    score += " (no push: all places count alike)" if learned.p == 1.0 else ""
    if found is not None:
        what = "penalty" if found.rounds is None else "number of rounds"
        what = f"terms and the {what} were" if len({*found.kinds}) > 1 else f"{what} was"
        is_given = len({*found.p.tolist()}) == 1
        score += f". The {what}" if is_given else ","
        score += f" chosen by {found.scores.shape[1]}-fold cross-validation"
    score += "."
    proved = proof(trace, has_details, is_good or has_details)
    return sentences(" ".join(filter(None, [score, proved, "" if has_details else "More: --details."])))


def columns_in_use(learned: Learned) -> int:
    used, H = np.flatnonzero(learned.lam), learned.H
    return int(np.unique((H._planned() if isinstance(H, Table) else H.column)[used]).size)


def model_lines(learned: Learned) -> list[str]:
    """Return the settings of the model, its size, and how training ended."""
    trace, parts = learned.trace, [f"p = {learned.p:g}"]
    if learned.penalty:
        penalties = [f"{name} = {x:.3g}" for name, x in (("l1", learned.l1), ("l2", learned.l2)) if x]
        parts.append(f"penalty {' and '.join(penalties)} on the {learned.penalty}" if penalties else "no penalty")
    used = np.flatnonzero(learned.lam)
    size = f"{used.size:,} of {counted(learned.lam.size, 'term')} of the score"
    columns = columns_in_use(learned)
    steps = counted(trace.n_iter, "step" if learned.penalty else "round")
    return [
        *sentences(f"{', '.join(parts)}; {size} in use, of {counted(columns, 'column')}"),
        *sentences(f"{trace.status} after {steps}: {one_line(trace.message)}", 2),
    ]


def together(pairs: Sequence[tuple[str, str, float]], most: int = 3) -> list[str]:
    """Return sentences on columns that move together, with at most some pairs named."""
    told = [
        f"{shown(a, 40)} and {shown(b, 40)} move together (rank correlation {r:.2f}); their reasons share one effect."
        for a, b, r in pairs[:most]
    ]
    more = [f"So do {counted(len(pairs) - most, 'more pair')} of columns."] if len(pairs) > most else []
    return [*told, *more]


def quality_lines(quality: Quality, is_test: bool = True, below: Sequence[str] = ()) -> list[str]:
    """Return statements on the list, each on a line of its own, and a table of measures beside other lists.

    The first statement is whether a test shows that the list is any good.

    `below` are statements that follow the one on the first rows: verdicts on the cross-validation, on columns, and on
    simpler lists that may be as good.
    """
    head = ["", "this list", f"{100 * quality.confidence:.4g} % interval", *quality.lists, "by chance"]
    rows = []
    for measure in quality.measures:
        if measure.key == "hits" or (measure.key in ("lift", "recall") and measure.depth != quality.main):
            continue
        value, low, high = measure.value
        cells = [value, low, high, *measure.others, measure.chance]
        write = markup.tenths if measure.key == "positives_at_top" else _short
        own, low_told, high_told, *others = map(write, cells)
        name = measure.name.removesuffix(" of the positives")
        rows.append([name, own, f"{low_told} to {high_told}" if quality.has_interval(measure) else "none", *others])
    table = [[shown(cell, 40) for cell in row] for row in (head, *rows)]
    kept = list(range(len(head)))
    lines, left_out = aligned(table, (0,)).splitlines(), list[int]()
    place = {name: k for k, name in enumerate(head)}
    alone = [k for name, k in place.items() if name.endswith(markup.ALONE)]
    least = [*alone, place["by chance"], *[place[name] for name in (TREES, LINEAR, CURVES) if name in place]]
    given = _given_width()
    room = given - 2 if given else len(lines[0])  # a wrapped line would not be readable as a row
    while len(lines[0]) > room and least:
        left_out.append(least.pop(0))
        kept.remove(left_out[-1])
        lines = aligned([[row[k] for k in kept] for row in table], (0,)).splitlines()
    no_better = [markup.NO_BETTER] if is_test and not quality.beats_chance else []
    told = [*no_better, markup.headline(quality), *below, *markup.beyond_the_top(quality), *markup.untested(quality)]
    wider = f"(in a wider terminal: {', '.join([table[0][k] for k in sorted(left_out)])})" if left_out else ""
    return [
        *[line for statement in told for line in sentences(statement, 2)],
        *_differences(quality),
        "",
        *lines,
        *sentences(wider, 2),
    ]


def _differences(quality: Quality) -> list[str]:
    """Return a table of the differences to other lists, below an empty line, and what its intervals hold."""
    told = markup.told_of_others(quality)
    if not told:
        return []
    depths = {difference.depth for difference, _ in told}  # lists with the same first rows differ further down
    where = f"{depths.pop():,}" if len(depths) == 1 else "rows"
    hits = f"{markup.hit_of(quality.push)}s in the {markup.of_end(quality.push)} {where}"
    rows = [["difference from", hits, "average precision"]]
    for difference, average in told:
        more = f"{difference.depth:,} rows: " * bool(depths) + markup.difference_of_hits(difference)
        rows.append(
            [shown(difference.other, 24), more, "" if average is None else markup.difference_of_averages(average)]
        )
    sure = f"{100 * quality.confidence:.4g} % intervals, which hold jointly"
    notes = f"In brackets: {sure}. Neither better nor worse: may be chance."
    return ["", *aligned(rows, (0, 1, 2)).splitlines(), *sentences(notes)]


def test_notes(quality: Quality, has_details: bool) -> list[str]:
    """Return what the other lists of the table are, and what the intervals cover; with details, how they are made."""
    column = next((name for name in quality.lists if name.endswith(markup.ALONE)), None)
    told = []
    if CURVES in quality.lists:
        told.append("Linear model, curves (splines, tuned weight): logistic regression.")
        if has_details:
            misses = "positives" if quality.push == "bottom" else "negatives"
            told.append(
                f"Cross-validation chooses a weight on the {misses} (1, 10 or 100) and a penalty of the curves."
            )
    if TREES in quality.lists:
        told.append("Boosted trees: scikit-learn.")
    if column is not None:
        name = shown(column.removesuffix(markup.ALONE), 40)
        told.append(f"“{name}”: largest AUC in training.")
    told.append("Intervals cover test rows only.")
    if has_details:
        told.append("Mixtures of exact intervals for precision, lift and recall; a bootstrap of all rows for others.")
        told += filter(None, [markup.without_interval(quality), markup.jointly(quality)])
    return sentences(" ".join(told))


def _short(x: float) -> str:
    return f"{x:,.1f}" if x >= 10.0 else f"{x:.3f}"


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


_MANY = 5
"""Rows of a list from which on the reasons that all have in common are printed once, above."""


def list_lines(
    columns: Mapping[str, Sequence[str]],
    reasons: Sequence[str] | None,
    left: Sequence[str] = ("id", "label"),
    checked: str = "",
) -> list[str]:
    """Return the rows of a list, with as many reasons as fit on the line; `checked` is on probabilities, above."""
    table = [list(columns), *[list(row) for row in zip(*columns.values(), strict=True)]]
    flush = [k for k, name in enumerate(columns) if name in left]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [f"{line:{sum(widths) + 2 * len(widths) - 2}}" for line in aligned(table, flush).splitlines()]
    if reasons is None:
        return [line.rstrip() for line in lines]
    room = max(_width() - len(lines[0]) - 4, 30)
    parts = [text.split("; ") for text in reasons]
    common = [part for part in parts[0] if all(part in of_row for of_row in parts)] if len(parts) >= _MANY else []
    of_rows = ["; ".join([part for part in of_row if part not in common]) for of_row in parts]
    told = ["other reasons" if common else "reasons", *[_fitting(text, room) for text in of_rows]]
    shared = [f"Reasons in all {len(parts)} rows: {'; '.join(common)}."] if common else []
    above = sentences(" ".join(filter(None, [*shared, checked])))
    return [*above, *[f"{line}  {text}".rstrip() for line, text in zip(lines, told, strict=True)]]


def list_notes(numbers: Sequence[str], reference: str, pairs: Sequence[tuple[str, str, float]] = ()) -> list[str]:
    """Return notes on a list: what `numbering` returns, and the numbers in the reasons.

    `reference` is the row that they are compared with, in words. `pairs` of columns move together.
    """
    told = f"Reasons: largest effects on the score, up (+) or down (-), compared with {reference}."
    return sentences(" ".join([*numbers, told, *together(pairs, 1)]))


def numbering(rows: Rows, i: int) -> list[str]:
    """Return a sentence on how rows are numbered, for row i as an example; none if they have ids.

    Messages name the line of a row. To know that of a row that was drawn from a file, the file would be read again.
    """
    if rows.ids is not None:
        return []
    told, n = "Row: data rows of the file, counted from 0", rows.number(i)
    place = f"row {n}" if rows.numbers is not None else rows.place(i).removesuffix(f" of {rows.source.path}")
    return [f"{told}." if place.split(" of ")[0] == f"row {n}" else f"{told}; row {n} is {one_line(place)}."]


def _fitting(text: str, room: int) -> str:
    """Return as many reasons as fit, at least one, and dots in the place of the others."""
    parts, dots = text.split("; "), ""
    while len(parts) > 1 and len("; ".join(parts) + dots) > room:
        parts.pop()
        dots = "; ..."
    return "; ".join(parts) + dots


def _given_width() -> int:
    """Return the characters of a line: COLUMNS if it is set, or else those of the terminal; 0 without either."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return max(int(given), _NARROW)
    try:
        found = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError, AttributeError):  # not a terminal
        return 0
    return max(found, _NARROW) if found else 0


def _width() -> int:
    """Return the characters of a line of sentences."""
    return _given_width() or _WIDE
