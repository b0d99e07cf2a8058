"""Parts of a page of HTML: texts of users, numbers, tables, figures, and the style of it all."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pnorm._checks.text import shown
from pnorm._job.quality import Difference, Quality
from pnorm._report.style import STYLE
from pnorm.metrics import Estimate

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
    return f"{count(math.floor(value.low + 1e-9))} to {count(math.ceil(value.high - 1e-9))}"


def signed_count(value: float) -> str:
    """Return a number of rows with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{count(abs(value))}"


def compared(of: Difference, push: str) -> tuple[str, str, str]:
    """Return how many more hits a list has than another, without a full stop; the interval; and whether it is doubtful.

    These are plain texts, for a terminal as well.
    """
    first, hit = ("last", "negative") if push == "bottom" else ("first", "positive")
    by, low, high = [of.depth * value for value in of.value]
    many = count(abs(by))
    told = (
        f"as many {hit}s as"
        if many == "0"
        else f"{many} {hit}{'' if many == '1' else 's'} {'more' if by > 0.0 else 'fewer'} than"
    )
    return (
        f"In the {first} {count(of.depth)} rows this list has {told} “{shown(of.other, 40)}”",
        f"{signed_count(low)} to {signed_count(high)}",
        "" if low > 0.0 or high < 0.0 else _doubt(many, low, high, hit),
    )


def _doubt(many: str, low: float, high: float, hit: str) -> str:
    """Return what an interval allows that holds no difference."""
    if many != "0":
        return "This difference may be chance."
    ends = [f"{count(abs(x))} {'more' if x > 0.0 else 'fewer'}" for x in (low, high) if count(abs(x)) != "0"]
    return f"On other test rows it may have {' to '.join(ends)}." if ends else ""


def averages(of: Quality, alone: bool = True) -> list[str]:
    """Return a sentence for each other list whose average precision is as good as that of this list, or better.

    Sentences on a column alone are left out if `alone` is false. These are plain texts, as those of `compared`.
    """
    told = []
    own = of.measure("average_precision")
    for difference, other in zip(of.averages, own.others, strict=False):
        value, low, high = difference.value
        if value > 0.0 or low == high == 0.0 or (difference.other.endswith(ALONE) and not alone):
            continue
        ends = [f"{x:+.3f}".replace("-", "−").replace("+0.000", "0").replace("−0.000", "0") for x in (low, high)]
        name, interval = called(difference.other), f"{ends[0]} to {ends[1]}"
        if f"{other:.3f}" == f"{float(own.value):.3f}":
            told.append(f"The average precision of {name} is the same, {other:.3f} (difference {interval}).")
            continue
        doubt = f" ({interval})" if high < 0.0 else f"; the difference may be chance ({interval})"
        told.append(f"The average precision of {name} is larger, {other:.3f} against {own.value:.3f}{doubt}.")
    return told


ALONE = " alone"
"""The end of the name of a list by one column."""


def called(name: str) -> str:
    """Return the name of another list in a sentence."""
    return f"“{shown(name, 40)}”"


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

    Columns in `left` are set flush left. The caption of a table with a title is for those who do not see it.
    """
    flush = ['class="left"' if k in left else "" for k in range(len(head))]
    above = "".join(f'<th scope="col" {flush[k]}>{cell}</th>' for k, cell in enumerate(head))
    body = "".join(
        f'<tr><th scope="row" {flush[0]}>{row[0]}</th>'
        + "".join(f"<td {flush[k]}>{cell}</td>" for k, cell in enumerate(row[1:], 1))
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
