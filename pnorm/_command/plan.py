"""The lines on how columns were read."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from pnorm._checks import NUMBER
from pnorm._checks.text import aligned, first, shown
from pnorm._command.printing import sentences
from pnorm._command.terminal import pasted
from pnorm._report.verdicts import asks
from pnorm.rankers import Rankers
from pnorm.rankers._table import ALIKE, CODE, ColumnPlan

_COLUMNS = 30
"""Columns of the file that are listed, at most."""

_NOTE = 100
"""Characters of a line of the note on a column, at most."""


def plan_lines(H: Rankers, used: Sequence[str], beside: Sequence[tuple[str, str]]) -> list[str]:
    """Return a table of the columns that are learned from, with the columns `beside` at the end."""
    plan = getattr(H, "plan", None)
    if plan is None:
        rows = [[shown(name, 30), NUMBER, "", "", ""] for name in used]
    else:
        rows = [
            [
                shown(of.name, 30),
                of.kind,
                f"{of.values:,}",
                f"{of.missing:,}" if of.missing else "",
                _note(H, of),
            ]
            for of in plan
            if of.rankers
        ]
    rows += [[shown(name, 30), what, "", "", ""] for name, what in beside]
    few = rows[: _COLUMNS if len(rows) > _COLUMNS + 1 else len(rows)]
    table = [["column", "kind", "values", "missing", "note"], *_wrapped(few)]
    kept = [k for k in range(5) if k < 3 or any(row[k] for row in few)]
    lines = aligned(
        [[row[k] for k in kept] for row in table], [at for at, k in enumerate(kept) if k in (0, 1, 4)]
    ).splitlines()
    if len(rows) > len(few):
        kinds = Counter(row[1] for row in rows[len(few) :])
        told = ", ".join([f"{count:,} {kind}" for kind, count in kinds.most_common()])
        lines.append(f"and {len(rows) - len(few):,} more: {told}")
    alike = [f"{of.name}=any-case" for of in plan or () if of.rankers and ALIKE in of.note]
    if alike:
        merge = pasted(*[part for column in alike[:4] for part in ("--kind", column)])
        more = ", ..." if len(alike) > 4 else ""
        lines += sentences(f"To merge values that differ only in case or spaces: {merge}{more}", 2)
    none = [of for of in plan or () if of.rankers and of.none_levels]
    if none:
        others = f" (the same for {first([of.name for of in none[1:]], 3)})" if len(none) > 1 else ""
        as_level = pasted("--kind", f"{none[0].name}={none[0].none_levels}")
        lines += sentences(f"If none is a level of {shown(none[0].name)}: {as_level}{others}", 2)
    codes = [of.name for of in plan or () if of.rankers and CODE in of.note]
    if codes:
        ways = [pasted("--kind", f"{codes[0]}=category"), pasted("--ignore", codes[0])]
        others = f" (the same for {first(codes[1:], 3)})" if len(codes) > 1 else ""
        lines += sentences(f"If {shown(codes[0])} holds codes: {' or '.join(ways)}{others}", 2)
    grouped = [of for of in plan or () if of.rankers and any(of._thousands)]
    if grouped:
        number, other = grouped[0]._thousands
        others = f" (the same for {first([of.name for of in grouped[1:]], 3)})" if len(grouped) > 1 else ""
        comma = pasted("--kind", f"{grouped[0].name}=decimal-comma")
        lines += sentences(f"If {number} means {other}: {comma}{others}", 2)
    numbers = list(dict.fromkeys([value for of in plan or () if of.rankers for value in of.apart]))
    if numbers:
        missing = pasted(*[f"--missing={number}" for number in numbers[:4]])
        mean = "means" if len(numbers) == 1 else "mean"
        lines += sentences(f"If {first(numbers, 4, str)} {mean} missing (in all columns): {missing}", 2)
    return lines


def _note(H: Rankers, of: ColumnPlan) -> str:
    """Return the note on a column, without what is told in a warning of its own."""
    note = of.note
    for ask in asks(H):
        if ask.column == of.name:
            short = "some values count as missing (see the warning)" if not ask.lost else "see the warning"
            value, may, _ = ask.text.partition(" may ")
            if of.rankers == 0 and may and ask.kinds:
                short = f"{value} has more than one reading; see the warning"
            note = note.replace(ask.text, short)
    return shown(note, 4 * _NOTE)


def _wrapped(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return rows of a table that end with a note; what a line is too short for follows in rows of their own."""
    found = []
    for *cells, note in rows:
        lines = textwrap.wrap(note, _NOTE, break_long_words=False, break_on_hyphens=False) or [""]
        found += [[*cells, lines[0]], *[[*[""] * len(cells), line] for line in lines[1:]]]
    return found


def kind_hints(H: Rankers) -> list[str]:
    """Return for each column in doubt the option that settles its kind, or an empty text."""
    found = []
    for ask in asks(H):
        words = [f"{ask.column}={kind if ',' in kind else kind.replace(' ', '-')}" for kind in ask.kinds]
        missing = pasted(*[part for word in ask.words for part in ("--missing", word)])
        hint = ""
        if words and ask.lost:
            hint = f" Use {' or '.join([pasted('--kind', word) for word in words])}"
            hint += f", or {missing}" if missing else ""
        elif words:
            hints = []
            if missing:
                forms = ("they mean", "them", "levels"), ("it means", "it", "a level")
                mean, it, levels = forms[len(ask.words) == 1]
                hints = [f"If {mean} no value: {missing}; to keep {it} as {levels}: {pasted('--kind', words[0])}"]
            marks = [pasted("--kind", word) for word in words[len(hints) :]]
            hints += [f"To read such numbers: {' or '.join(marks)}"] * bool(marks)
            hint = f" {'. '.join(hints)}"
        found.append(hint)
    return found


def left_out_lines(H: Rankers) -> tuple[str, list[str]]:
    """Return a heading that contains how to use a column anyway, and which columns were left out and why."""
    out = [of for of in getattr(H, "plan", ()) if of.rankers == 0]
    if not out:
        return "", []
    few = out[: _COLUMNS if len(out) > _COLUMNS + 1 else len(out)]
    lines = aligned(_wrapped([[shown(of.name, 30), _note(H, of)] for of in few]), (0, 1)).splitlines()
    if len(out) > len(few):
        lines.append(f"and {len(out) - len(few):,} more")
    asked = {ask.column for ask in asks(H)}  # a warning says what they are
    usable = [name for name in getattr(H, "as_levels", ()) if name not in asked]
    hint = f" (to use one anyway: {pasted('--kind', f'{usable[-1]}=category')})" if usable else ""
    return f"Columns left out{hint}", lines
