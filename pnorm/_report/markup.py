"""Parts of a page of HTML: texts of users, numbers, tables, figures, and the style of it all."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pnorm._checks.text import counted, joined, shown
from pnorm._job.baselines import CURVES, LINEAR, TREES
from pnorm._job.quality import Difference, Quality
from pnorm._report.style import STYLE
from pnorm.metrics import Estimate
from pnorm.metrics._shares import CLOSE, Calibration, share

NAME = 48
"""Characters of a name or a value, at most."""

SENTENCE = 600
"""Characters of a sentence that others have written, at most."""


def text(value: object, limit: int = NAME) -> str:
    """Return a text of a user for HTML: on one line, cut, and with nothing that a browser would act on."""
    return html.escape(shown(str(value), limit))


def count(n: float) -> str:
    """Return a number of rows, or an expected number, with thousands marks."""
    if float(n).is_integer() or abs(n) >= 100.0:
        return f"{round(n):,}"
    return f"{n:.3g}"


def tenths(n: float) -> str:
    """Return a number of rows, or an expected number, with one decimal below 10."""
    return f"{n:,.0f}" if n >= 10.0 or float(n).is_integer() else f"{n:.1f}"


def percent(share: float) -> str:
    """Return a share with three digits, with more near the whole and fewer near zero."""
    digits = 2 if share < 0.01 else 3 if share <= 0.999 else 5
    return f"{100.0 * share:.{digits}g} %"


def decimals(value: float) -> str:
    """Return a measure between 0 and 1."""
    return f"{value:.3f}"


def times(value: float) -> str:
    """Return a ratio."""
    return f"{value:.3g}×" if value < 1000.0 else f"{value:,.0f}×"


def data(value: float, told: str) -> str:
    """Return a number as it is told, with all its digits beside it for programs."""
    return f'<data value="{float(value)!r}">{told}</data>' if math.isfinite(value) else told


def estimate(value: float, write: Any) -> str:
    """Return a number, and its interval if it has one."""
    told = data(value, write(value))
    if not isinstance(value, Estimate):
        return told
    low, high = write(value.low), write(value.high)
    return f'{told} <span class="interval">{low.removesuffix(" %")} to {high}</span>'


def signed(write: Callable[[float], str]) -> Callable[[float], str]:
    """Return a function that writes numbers with a minus sign as wide as a plus sign."""
    return lambda value: write(value).replace("-", "−")


def whole(value: Estimate) -> str:
    """Return the interval of a number of rows, in whole ones that hold it."""
    low, high = map(count, _whole_ends(value.low, value.high))
    return f"{low} to {high}"


def _whole_ends(low: float, high: float) -> tuple[int, int]:
    """Return the whole numbers that hold an interval."""
    return math.floor(low + 1e-9), math.ceil(high - 1e-9)


def is_tied(hits: float) -> bool:
    """Return whether a number of hits is not whole: rows that tie share their places in equal parts."""
    return abs(hits - round(hits)) > 1e-6


def without_interval(of: Quality) -> str:
    """Return why one measure has no interval, as a sentence of plain text."""
    name = of.measure("positives_at_top").name
    return f"{name.capitalize()} have none: one row decides."


def jointly(of: Quality) -> str:
    """Return what the intervals of the differences hold, as a sentence in plain text; empty without differences."""
    n = len(of.differences) + len(of.averages)
    if not n or not of.compares:
        return ""
    sure = f"{100 * of.confidence:.4g} % confidence"
    return f"The intervals of all {n} differences to other lists, shown or not, hold jointly with {sure} (Bonferroni)."


def signed_count(value: float) -> str:
    """Return a number of rows with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{count(abs(value))}"


def compared(of: Difference, push: str) -> tuple[str, str, str]:
    """Return how many more hits a list has than another in the first rows; the interval; and what it shows.

    The interval is empty if it is zero alone. These are plain texts, for a terminal as well.
    """
    hit = hit_of(push)
    by, low, high = [of.depth * value for value in of.value]
    ties, many = is_tied(by), count(abs(round(by)))
    notes = [_more(low, high), "tied rows count in part" if ties else ""]
    interval = "; ".join(filter(None, notes))
    shown = shown_by_hits(of)
    if not shown:
        near = ", to within one row," if ties or many != "0" else ""
        return f"as many {hit}s{near} {there(of, push)}", interval, ""
    told = f"{'about ' * ties}{many} {hit}{'' if many == '1' else 's'} {'more' if by > 0.0 else 'fewer'}"
    return f"{told} {there(of, push)}", interval, shown


THIS_IS_BETTER, OTHER_IS_BETTER, MAY_BE_CHANCE = "this list is better", "the other list is better", "may be chance"
"""Words for a difference whose interval is above zero, is below zero, or contains zero."""

_BEYOND = {THIS_IS_BETTER: " better", OTHER_IS_BETTER: " worse", MAY_BE_CHANCE: "", "": ""}
"""Words of a cell for whether this list is better or worse, by these words."""

SAME = 0.001
"""Average precisions that differ by no more are called the same."""


def shown_by_hits(of: Difference) -> str:
    """Return what a difference of hits in the first rows shows; empty if it is less than a row, as rows may tie."""
    return "" if abs(of.depth * float(of.value)) < 1.0 - 1e-6 else _shown_by(of)


def shown_by_averages(of: Difference) -> str:
    """Return what a difference of average precisions shows; empty if they are called the same."""
    return "" if abs(of.value) <= SAME else _shown_by(of)


def _shown_by(of: Difference) -> str:
    """Return what the interval of the difference between this list and another one shows."""
    return THIS_IS_BETTER if of.value.low > 0.0 else OTHER_IS_BETTER if of.value.high < 0.0 else MAY_BE_CHANCE


def _in_brackets(*notes: str) -> str:
    """Return notes in brackets, after a blank; nothing if all are empty."""
    told = "; ".join(filter(None, notes))
    return f" ({told})" if told else ""


def of_one(hits: float, hit: str) -> str:
    """Return whether the first row is a hit, as the end of a sentence; rows that tie share the place."""
    if is_tied(hits):
        return f"counts as {hits:.2g} {hit}"
    return f"is {'' if round(hits) else 'not '}{hit}"


def there(of: Difference, push: str) -> str:
    """Return the rows of a difference in words."""
    return f"in the {of_end(push)} {'row' if of.depth == 1 else f'{count(of.depth)} rows'}"


def _more(low: float, high: float) -> str:
    """Return the interval of a difference of counts, in whole rows that hold it; empty if it is zero alone."""
    ends = _whole_ends(low, high)
    low_told, high_told = [count(abs(x)) for x in ends]
    if ends == (0, 0):
        return ""
    if ends[0] >= 0:
        return f"{low_told} to {high_told} more"
    if ends[1] <= 0:
        return f"{high_told} to {low_told} fewer"
    return f"{low_told} fewer to {high_told} more"


_SHORT = ("auc", "ndcg", "bedroc", "map", "mrr", "err")
"""Parts of names of measures that are written in capitals."""


def measure_named(name: str) -> str:
    """Return the name of a measure in words, inside a sentence."""
    return " ".join([part.upper() if part in _SHORT else part for part in name.split("_")])


NO_BETTER = "The test does not show that this list is better than a random order."


def beaten(of: Quality) -> list[tuple[str, str]]:
    """Return the other lists that are better beyond chance, each with the measures in which they are.

    The interval excludes zero, and the difference is a row or more, or more than `SAME` in average precision. The
    cells of the command and the sentences of the report have the same rule (`shown_by_hits`). A list that is no better
    than a random order is not among them, nor any with few rows.
    """
    found: dict[str, list[str]] = {}
    if not of.compares:
        return []
    for difference in of.differences:
        if shown_by_hits(difference) == OTHER_IS_BETTER and _above_chance(of, "precision", difference):
            found.setdefault(difference.other, []).append(there(difference, of.push))
    for difference in of.averages:
        if shown_by_averages(difference) == OTHER_IS_BETTER and _above_chance(of, "average_precision", difference):
            found.setdefault(difference.other, []).append("in average precision")
    return [(name, " and ".join(what)) for name, what in found.items()]


def _above_chance(of: Quality, key: str, difference: Difference) -> bool:
    """Return whether the other list of a difference has more of a measure than a random order has."""
    measure = of.measure(key, None if key == "average_precision" else difference.depth)
    return measure.others[of.lists.index(difference.other)] > measure.chance


def calibrated(of: Quality) -> tuple[str, bool]:
    """Return whether the test shows that the probabilities are wrong, in words, and whether they are.

    The slope is tested, the mean probability, and the sum of the first probabilities. A difference that is found counts
    in a test of any size.
    With few rows of either kind, none that is found says little.
    """
    found, slope = of.calibration, of.slope
    if found is None:
        return "", False
    n = of.n_pos + of.n_neg
    expected = float(found.predicted @ found.rows) / n
    _, low, high = share(of.n_pos, n, of.confidence)
    told = []
    if not low <= expected <= high:
        told.append(
            f"The mean predicted probability is {percent(expected)}, and {percent(of.n_pos / n)} of the rows are "
            "positive."
        )
    known, is_wrong = "", bool(told) and not CLOSE[0] <= expected * n / of.n_pos <= CLOSE[1]
    first = of.first_probabilities
    if first is not None and off_first(of):
        told.append(in_first(of))
        is_wrong = is_wrong or not CLOSE[0] * first.positives <= first.expected <= CLOSE[1] * first.positives
    if slope is not None:
        ends = f"{slope.low:.2f} to {slope.high:.2f}".replace("-", "−")
        interval = f"calibration slope {slope:.2f}, {100 * of.confidence:.4g} % interval {ends}; 1 is right"
        known = f" ({interval})".replace("slope -", "slope −")
        if slope.high < 1.0 or slope.low > 1.0:
            is_close = CLOSE[0] <= slope <= CLOSE[1]
            is_wrong = is_wrong or not is_close
            what = "extreme" if slope < 1.0 else "close to the average"
            told.append(f"The probabilities are {'slightly ' * is_close}too {what}{known}.")
    if told:
        use = (
            " Use them as an order only, or recalibrate them."
            if is_wrong
            else f" This is beyond chance. {_apart(found)}"
        )
        return f"{' '.join(told)}{use}", is_wrong
    least, kind = min((of.n_pos, "positive"), (of.n_neg, "negative"))
    if least < CALIBRATED:
        few = f"The test has too few rows to judge the probabilities{known}. {counted(least, 'row')} of it "
        return f"{few}{'is' if least == 1 else 'are'} {kind}; {CALIBRATED} of each kind are needed.", False
    return f"The test shows no error of the probabilities{known}.", False


def in_first(of: Quality) -> str:
    """Return the sum of the probabilities of the first rows beside the positives found; empty without probabilities."""
    first = of.first_probabilities
    if first is None:
        return ""
    what = "test row" if first.of_test else "row"  # rows of a file with labels may be training rows
    rows, expected, found = counted(first.rows, what), count(first.expected), count(round(first.positives, 6))
    told, off = f"The probabilities of the {of_end(of.push)} {rows} sum to {expected}", off_first(of)
    return f"{told}{off and f', which is {off}'}; {found} {'is' if found == '1' else 'are'} positive."


def off_first(of: Quality) -> str:
    """Return ``"too high"`` or ``"too low"`` if the sum of the first probabilities is outside the interval."""
    first = of.first_probabilities
    if first is None or first.positives.low <= first.expected <= first.positives.high:
        return ""
    return "too high" if first.expected > first.positives.high else "too low"


def hit_of(push: str) -> str:
    """Return the word for a row that belongs at the end of the list that the push is at."""
    return "negative" if push == "bottom" else "positive"


def of_end(push: str) -> str:
    """Return the word for rows at the end of the list that the push is at."""
    return "last" if push == "bottom" else "first"


def _apart(found: Calibration) -> str:
    """Return how far predicted and observed shares are apart, on average over the parts."""
    observed = np.array([float(x) for x in found.share])
    mean = float(np.average(np.abs(found.predicted - observed), weights=found.rows))
    return (
        f"Predicted and observed shares differ by {100.0 * mean:.2g} percentage points on average over the parts of "
        "the rows."
    )


CALIBRATED = 100
"""Rows of either kind that are needed to judge probabilities: Vergouwe et al., J. Clin. Epidemiol. 58 (2005)."""


def told_of_others(of: Quality) -> list[tuple[Difference, Difference | None]]:
    """Return the differences to other lists that are told: in the first rows, and in average precision if it is known.

    A column alone is told of if the list is not better in both measures. If the test shows nothing of the list, only
    those that are better beyond chance are told of.
    """
    if not of.compares:
        return []
    found, better = [], {name for name, _ in beaten(of)}
    averages = {difference.other: difference for difference in of.averages}
    for difference in of.differences:
        name, average = difference.other, averages.get(difference.other)
        is_worse = difference.value.low <= 0.0 or (average is not None and average.value <= 0.0)
        if (of.beats_chance or name in better) and (is_worse or not name.endswith(ALONE)):
            found.append((difference, average))
    return found


def beside(of: Quality) -> list[str]:
    """Return statements on the other lists, in plain text: one for each list, and one on AUC; each measure is named."""
    told = []
    of_average = dict(zip(of.lists, of.measure("average_precision").others, strict=True))
    for difference, average in told_of_others(of):
        hits, *notes = compared(difference, of.push)
        parts = [f"{hits}{_in_brackets(*notes)}"]
        parts += [] if average is None else [_averages(of, average, of_average[difference.other])]
        told.append(f"Against {in_words(difference.other)}: {'; '.join(parts)}.")
    return [*told, *beyond_the_top(of), *untested(of)]


def _averages(of: Quality, difference: Difference, other: float) -> str:
    """Return the average precision of this list and of another one, with the interval of the difference."""
    own = float(of.measure("average_precision").value)
    _, low, high = difference.value
    ends = [f"{x:+.3f}".replace("-", "−").replace("+0.000", "0").replace("−0.000", "0") for x in (low, high)]
    interval = "" if low == high == 0.0 else f"{ends[0]} to {ends[1]}"
    both = f"{own:.3f}" if f"{own:.3f}" == f"{other:.3f}" else f"{own:.3f} against {other:.3f}"
    shown = shown_by_averages(difference)
    if not shown:
        near = "the same" if both == f"{own:.3f}" else "nearly the same"
        return f"{near} average precision, {both}{_in_brackets(interval and f'difference {interval}')}"
    return f"average precision {both}{_in_brackets(interval, shown)}"


def difference_of_hits(of: Difference) -> str:
    """Return how many more hits this list has among the first rows, with the interval in whole rows that hold it."""
    by, low, high = [of.depth * value for value in of.value]
    ends = [signed_count(end) for end in _whole_ends(low, high)]
    shown = shown_by_hits(of)
    if shown in (THIS_IS_BETTER, OTHER_IS_BETTER):  # an end of 0 would contradict it
        ends = [
            f"{value:+.2g}".replace("-", "−") if end == "0" else end
            for value, end in zip((low, high), ends, strict=True)
        ]
    return f"{'about ' * is_tied(by)}{signed_count(round(by))} ({ends[0]} to {ends[1]}){_BEYOND[shown]}"


def difference_of_averages(of: Difference) -> str:
    """Return how much larger the average precision of this list is, with its interval."""
    value, low, high = [f"{x:+.3f}".replace("-", "−") for x in of.value]
    return f"{value} ({low} to {high}){_BEYOND[shown_by_averages(of)]}"


def untested(of: Quality) -> list[str]:
    """Return what no test is behind: that rows are too few to compare lists, or else that others have a larger AUC."""
    if of.lists and not of.compares:
        n, kind = min((of.n_pos, "positive"), (of.n_neg, "negative"))
        are = "is" if n == 1 else "are"
        return [f"{counted(n, f'{kind} row')} {are} too few to say whether another list is better."]
    auc = of.measure("auc")
    own = f"{float(auc.value):.3f}"
    least = max(float(auc.value) + _LARGER_AUC, auc.chance)
    larger = [(name, x) for name, x in zip(of.lists, auc.others, strict=True) if x > least]
    if not larger:
        return []
    named = [f"{in_words(name)} ({x:.3f})" for name, x in larger]
    return [f"The AUC of all rows is larger for {joined(named)} than for this list ({own}): not tested."]


_LARGER_AUC = 0.005
"""Smaller differences in AUC have no sentence. They are a fraction of its interval in most tests."""

ALONE = " alone"
"""The end of the name of a list by one column."""


def called(name: str) -> str:
    """Return the name of another list in a sentence."""
    return f"“{shown(name, 40)}”"


def in_words(name: str) -> str:
    """Return another list inside a sentence: the name of one that this package makes, or a name in quotes."""
    if name == LINEAR:
        return f"the {LINEAR}"
    if name in (CURVES, TREES):
        return name
    if name.endswith(ALONE):
        return f"{called(name.removesuffix(ALONE))}{ALONE}"
    return called(name)


def headline(of: Quality) -> str:
    """Return one sentence on the first rows, in plain text."""
    measure = of.headline
    depth, hits = measure.depth, of.measure("hits", measure.depth)
    hit, end = hit_of(of.push), of_end(of.push)
    ties = is_tied(hits.value)
    told = f"In the {end} {depth:,} rows: {f'about {hits.value:,.0f}' if ties else tenths(hits.value)} {hit}"
    if depth == 1:
        told = f"The {end} row {of_one(hits.value, hit)}"
    tied = "; rows at this place tie" if ties else ""
    interval = f"{100 * of.confidence:.4g} % interval for the expected number: {whole(hits.value)}{tied}"
    return f"{told} ({interval}); a random order has {tenths(hits.chance)} on average."


def beyond_the_top(of: Quality) -> list[str]:
    """Return a statement if the first rows are not shown to be better than a random order, or deeper ones are worse."""
    of_top = of.headline, of.measure("partial_auc")
    if of.beats_chance and not any(measure.value.low > measure.chance for measure in of_top):
        hits = {depth: of.measure("hits", depth) for depth in of.depths}
        shown = next((depth for depth, measure in hits.items() if measure.value.low > measure.chance), None)
        where = f"In the {of_end(of.push)} {shown:,} rows" if shown else "By AUC, over all rows,"
        few = f"For the {of_end(of.push)} {of.main:,} rows alone"
        return [f"{where} the list is better than a random order. {few} this is not shown."]
    for depth in of.depths:
        measure = of.measure("hits", depth)
        if depth > of.main and measure.value.high < measure.chance:
            few = "Only the very top is good. " if of.headline.value.low > of.share else ""
            return [
                f"{few}In the {of_end(of.push)} {depth:,} rows there are fewer {hit_of(of.push)}s, "
                f"{tenths(measure.value)}, than in a random order, {tenths(measure.chance)} on average."
            ]
    return []


def paragraph(*sentences: str, kind: str = "") -> str:
    """Return sentences as a paragraph, those that are empty left out."""
    of_kind = f' class="{kind}"' if kind else ""
    return f"<p{of_kind}>{' '.join(filter(None, sentences))}</p>"


def items(of: Iterable[str], kind: str = "") -> str:
    """Return a list with dots."""
    of_kind = f' class="{kind}"' if kind else ""
    return f"<ul{of_kind}>{''.join(f'<li>{item}</li>' for item in of)}</ul>"


def facts(of: Iterable[tuple[str, str]]) -> str:
    """Return names and what there is to say of each."""
    return f"<dl>{''.join(f'<div><dt>{name}</dt><dd>{value}</dd></div>' for name, value in of)}</dl>"


def table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Sequence[int] = (0,),
    kind: str = "",
    titled: bool = False,
) -> str:
    """Return a table whose first column names the rows; all cells are HTML.

    Columns in `left` are set flush left. The caption of a table with a title is for those who do not see it. On a
    narrow page a table without pictures becomes a block for each row, with the heads beside the cells.
    """
    if kind not in ("rows", "bars"):
        kind = f"{kind} stack".strip()
    flush = ['class="left"' if k in left else "" for k in range(len(head))]
    above = "".join(f'<th scope="col" {flush[k]}>{cell}</th>' for k, cell in enumerate(head))
    body = "".join(
        f'<tr><th scope="row" {flush[0]} data-head="{head[0]}">{row[0]}</th>'
        + "".join(f'<td {flush[k]} data-head="{head[k]}">{cell}</td>' for k, cell in enumerate(row[1:], 1))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll {kind}" role="region" aria-label="{caption}" tabindex="0"><table>'
        f"<caption{' class=hidden' if titled else ''}>{caption}</caption>"
        f"<thead><tr>{above}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def figure(drawn: str, caption: str, legend: str = "") -> str:
    """Return a picture with its legend and what is to be seen in it."""
    return f"<figure>{drawn}{legend}<figcaption>{caption}</figcaption></figure>"


def section(key: str, title: str, *parts: str) -> str:
    """Return a section of the page, with a heading to which the table of contents leads."""
    return (
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>{"".join(parts)}</section>'
    )


def page(title: str, head: str, sections: Sequence[tuple[str, str, str]], foot: str) -> str:
    """Return the whole page; `sections` are keys, titles and contents. The policy forbids scripts and the network."""
    links = "".join(f'<li><a href="#{key}">{name}</a></li>' for key, name, _ in sections)
    body = "".join(section(key, name, content) for key, name, content in sections)
    return _PAGE.format(title=title, style=STYLE, head=head, links=links, body=body, foot=foot)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="pnorm">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<header>{head}</header>
<nav aria-label="Contents"><p>Contents</p><ol>{links}</ol></nav>
{body}
<footer>{foot}</footer>
</main>
</body>
</html>
"""
