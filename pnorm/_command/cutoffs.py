"""The lines on a cut-off, and on the rows that it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

import pnorm
from pnorm._checks import Vector
from pnorm._checks.text import counted
from pnorm._command.printing import sentences
from pnorm._cutoff import hits_of, written

_DEPTH = "A budget sets the depth of the test, and does not change the model."


def cutoff_lines(found: pnorm.Cutoff, is_part: bool = False) -> list[str]:
    """Return the rows to take and what the cut-off promises; `is_part` if a fixed share of both sides was held out."""
    sure = f"with {100 * found.confidence:.4g} % confidence"
    lines = []
    if not found.kept:
        none = f"No cut-off guarantees {found._aim()} {sure}. A saved model has no cut-off."
        few = f"the first {found.depth:,} held-out rows, of which {found._found() or 'none'} "
        few += "is positive" if found._found() < 2 else "are positive"
        rows = "these rows" if found._proves_none() else few
        deeper = [f"{told} (a new file with --test)." for told in found._begins("--at-least ROWS", rows)]
        if found._proves_none():
            other = "--recall or --budget" if found.asked == "precision" else "--budget"
            told = [none, f"{found._first_rows()}.", *deeper, f"Use {other}, or label more rows."]
            return sentences(" ".join(told))
        lines += sentences(" ".join([none, *deeper, "More labelled rows may allow one."]))
    if not found.promised or found.nearest is None or found.precision is None or found.recall is None:
        return lines
    share, deep = f"{100 * found.share:.3g} % of the rows", f"{found.depth:,} of the {found.n_pos + found.n_neg:,}"
    begins = "Take rows" if found.kept else "The nearest cut takes rows"
    lines += sentences(f"{begins} with a score of {found._at()} or more. That is {share} ({deep} held-out rows).")
    by_chance = ""
    if found.asked == "recall":
        promise = f"at least {100 * found.promised:.4g} % of the positives are taken"
    elif found.asked == "precision":
        promise = f"at least {100 * found.promised:.4g} % of the rows taken are positive"
    else:
        of = f"{found.rows:,.0f} rows taken from {found.of:,.0f}"
        promise = f"at least {found._hits()} of {of} are positive, on average"
        chance = found.rows * found.n_pos / (found.n_pos + found.n_neg)
        more = ", which is more than the guarantee" if chance > found.promised else ""
        by_chance = f" A random order has {chance:,.1f} on average{more}."
    precision, recall = (100 * float(x) for x in (found.precision, found.recall))
    begins = "To plan, use this guarantee for new rows like these:" if found.kept else "For new rows like these,"
    lines += sentences(f"{begins} {promise}, {sure}.{by_chance}")
    if found.kept and is_part and found.asked != "recall":  # whose positives are independent draws either way
        lines += sentences(
            "It is proved for a test on a file of its own (--test). Where a share of one file is held out, as here, it "
            "was checked by simulation."
        )
    if found.kept and found.one_list is not None:
        low, high = found.one_list
        lines += sentences(
            f"In a new list of {found.of:,.0f} rows, {found.rows:,.0f} have this score or more on average, and {low:,} "
            f"to {high:,} of them are positive ({100 * found.confidence:.4g} % interval for one list; it covers chance "
            "in the test and in the list)."
        )
    return lines + sentences(
        f"For comparison, the test: {precision:.3g} % of the rows taken are positive. They contain {recall:.3g} % of "
        "all positives."
    )


def budget_notes(found: pnorm.Cutoff, measured: int, is_given: bool) -> list[str]:
    """Return how the rows of a budget, those of the test and those of the cut-off belong together."""
    n, tied = found.n_pos + found.n_neg, found._tied()
    if not is_given:
        told = f"A new list is assumed to be as long as the test set, {n:,} rows. Use --of ROWS for another length."
        return [*sentences(told), *sentences(f"The cut-off takes {tied}." if tied else "")]
    rows, of, less = f"{found.target:,.6g}", f"{found.of:,.0f}", ""
    if tied or found.depth < measured:
        takes = tied or f"{found.depth:,} of them"
        less = f" The cut-off takes {takes}: then {rows} rows or fewer are taken from a new list on average."
    return sentences(
        f"{rows} of {of} rows are as many as {found.target * n / found.of:,.1f} of the {n:,} held-out rows. The test "
        f"above measures the first {measured:,}.{less} {_DEPTH}"
    )


def budget_lines(f: Vector, take: Any) -> list[str]:
    """Return which rows a budget takes."""
    n, size, last = int(np.count_nonzero(take)), counted(f.size, "row"), float(f[take].min())
    lines = [f"Take the first {n:,} of {size}: those with a score of {written(last, f)} or more."]
    if n < f.size and f[take].min() == f[~take].max():
        ties = int(np.count_nonzero(f[~take] == f[take].min()))
        have = "has" if ties == 1 else "have"
        lines += sentences(
            f"{counted(ties, 'more row')} {have} this score as well. Ties are taken in the order of the file."
        )
    return lines


def taken_lines(found: pnorm.Cutoff, f: Vector, on_labels: str) -> list[str]:
    """Return how many rows the cut-off of a model takes, what it promises, and what labels show of that."""
    if found.score is None:
        return [f"The model has no cut-off: none guaranteed {found._aim()}."]
    n = int(np.count_nonzero(f >= found.score))
    at = found._at()  # as it was printed when it was chosen
    if not np.array_equal(f >= float(at), f >= found.score):
        at = written(found.score, f)
    lines = [f"Take {n:,} of {counted(f.size, 'row')}: those with a score of {at} or more."]
    if found.precision is not None:
        share, then = 100 * n / f.size, 100 * found.share
        lines += sentences(
            f"That is {share:.3g} % of the rows. It was {then:.3g} % of the rows on which the cut-off was chosen. If "
            f"the new rows are like those, {_between(*hits_of(found, n))} ({100 * found.confidence:.4g} % interval)."
        )
    lines += sentences(on_labels)
    if found.asked == "budget" and found.target >= 1.0:
        rows = int(found.target)
        lines += sentences(
            "The model keeps a budget as a score, which takes more or fewer rows of another list. For exactly "
            f"{counted(rows, 'row')}: --budget {rows}"
        )
    return lines


def _between(low: int, high: int) -> str:
    """Return how many of the rows taken are positive, given the ends of an interval."""
    if low == high:
        return f"{low:,} of the rows taken are positive" if low > 1 else f"{('none', 'one')[low]} of them is positive"
    return f"{low:,} to {high:,} of the rows taken are positive"
