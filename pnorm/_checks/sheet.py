"""Tables for people: as lines of text, and as HTML that needs nothing else and fits light and dark pages."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks.text import aligned, shown

WIDEST, _WIDEST_LEFT, _WIDEST_HEAD = 40, 60, 24
"""Characters of a cell, at most, of one that is set flush left, and of the head of another."""

_WHOLE = 1e15
"""Numbers up to this are written with all digits before the point."""

_COMMAS = 10_000
"""Whole numbers from this on have commas. Smaller ones may be years."""

_COMMAS_OF_DECIMALS = 1_000
"""Numbers with decimals from this on have commas."""

_STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums",
    "padding:.15em .6em;border-bottom:1px solid rgba(128,128,128,.5)",
    "padding:.15em .6em;border-bottom:1px solid rgba(128,128,128,.2)",
)
"""Styles of a table, of a cell of its head, and of others. Colours of text and page are those of what is around."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 1.5em auto; max-width: 60em; padding: 0 1em; }}
table {{ display: block; overflow-x: auto; margin: 1em 0; }}
@media print {{ body {{ margin: 0; }} tr {{ break-inside: avoid; }} }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def value_text(value: Any) -> str | None:
    """Return a value of a table as text; None for a missing value."""
    if _checks.is_missing(value):
        return None
    value = _checks.python(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return shown(str(value), WIDEST)
    if isinstance(value, float) and not (value.is_integer() and abs(value) < _WHOLE):
        if _COMMAS <= abs(value) < _WHOLE:
            return f"{value:,.2f}"
        return f"{value:,.6g}" if abs(value) < _WHOLE else f"{value:.6g}"
    return shown(f"{int(value):,}" if abs(value) >= _COMMAS else str(int(value)), WIDEST)


def column_text(values: Iterable[Any]) -> Callable[[Any], str | None]:
    """Return a function that writes values of a column as `value_text`, numbers in the precision of the column.

    They have as many decimals as the one that needs most has, and six digits for the largest at most, but two decimals
    if it needs them. Whole numbers from 10,000 on have commas, and numbers with decimals from 1,000 on.
    """
    numbers = [python for value in values if (python := _number(value)) is not None]
    largest = max([abs(x) for x in numbers], default=0.0)
    if all(isinstance(x, int) or x.is_integer() for x in numbers) or not 1e-4 <= largest < _WHOLE:
        decimals = 0 if largest < _WHOLE else -1
    else:
        few = [f"{x:.{max(6, math.floor(math.log10(abs(x) or 1.0)) + 3)}g}" for x in numbers]
        most = max([len(text.partition(".")[2]) for text in few if "e" not in text], default=0)
        decimals = min(most or 2, max(2, 5 - math.floor(math.log10(largest))))
    return partial(_written, decimals)


def _written(decimals: int, value: Any) -> str | None:
    """Return a value with so many decimals; of a number too small for them, and of other values, `value_text`."""
    x = _number(value)
    if x is None or decimals < 0 or (x and abs(x) < 0.5 * 10.0**-decimals):
        return value_text(value)
    comma = "," if abs(round(x, decimals)) >= (_COMMAS_OF_DECIMALS if decimals else _COMMAS) else ""
    return f"{x + 0.0:{comma}.{decimals}f}" if decimals else f"{int(x):{comma}}"


def _number(value: Any) -> int | float | None:
    """Return a finite number of a table as one of Python; None for other values."""
    if type(value) is str or _checks.is_missing(value):
        return None
    value = _checks.python(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def same_digits(values: Any, sign: bool = True) -> Callable[[float], str]:
    """Return a function that writes numbers like these with as many decimals each, three digits for the largest."""
    largest = float(np.abs(np.asarray(values, float)).max(initial=0.0))
    plus = "+" if sign else ""
    if largest and not 1e-4 <= largest < 1e9:
        return lambda value: f"{value:{plus}.2e}"
    decimals = max(0, 2 - math.floor(math.log10(largest))) if largest else 0
    return lambda value: f"{value + 0.0 if round(value, decimals) else 0.0:{plus}.{decimals}f}"


def plain(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return lines of text; the first columns are set flush left, as many as `left`."""
    widest = [_WIDEST_LEFT if k < left else WIDEST for k in range(len(head))]
    cells = [[shown(cell, most) for cell, most in zip(row, widest, strict=True)] for row in rows]
    heads = [shown(cell, WIDEST if k < left else _WIDEST_HEAD) for k, cell in enumerate(head)]
    return aligned([heads, *cells], range(left))


def as_html(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: int | Collection[int] = 1,
    caption: str = "",
    note: str = "",
    shades: Sequence[Sequence[float]] | None = None,
) -> str:
    """Return a table as HTML; `shades` from -1 (orange) to 1 (blue) lie behind the cells.

    `left` are the numbers of the columns that are set flush left, or how many of the first ones are.
    """
    left = range(left) if isinstance(left, int) else left
    table, of_head, of_cell = _STYLE
    above = f'<caption style="text-align:left;padding:.3em .6em">{escaped(caption)}</caption>' if caption else ""
    parts = [f'<table style="{table}">{above}<thead><tr>']
    parts += [
        f'<th scope="col" style="{of_head};{_flush(k in left)};{_wrap(cell)}">{escaped(cell)}</th>'
        for k, cell in enumerate(head)
    ]
    parts.append("</tr></thead><tbody>")
    for i, row in enumerate(rows):
        parts.append("<tr>")
        for k, cell in enumerate(row):
            behind = _shade(shades[i][k]) if shades is not None else ""
            parts.append(f'<td style="{of_cell};{_flush(k in left)}{behind}">{escaped(cell)}</td>')
        parts.append("</tr>")
    parts.append("</tbody></table>")
    parts += [f'<p style="margin:.3em .6em">{escaped(line)}</p>' for line in note.splitlines()]
    return "".join(parts)


def page(title: str, body: str) -> str:
    """Return a self-contained page of HTML that contains `body` unchanged."""
    return _PAGE.format(title=escaped(title), body=body)


def frame(values: Any, names: Sequence[str] | None = None, index: Any = None) -> Any:
    """Return a data frame of pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame needs pandas. Install it with: pip install pandas") from error
    return pandas.DataFrame(values, columns=None if names is None else list(names), index=index)


def escaped(cell: str) -> str:
    """Return a text for HTML, on one line."""
    return html.escape(shown(cell, 200))


def escaped_lines(lines: str) -> str:
    """Return lines of text for HTML."""
    return "\n".join(map(escaped, lines.splitlines()))


def _flush(left: bool) -> str:
    return "text-align:left" if left else "text-align:right;white-space:nowrap"


def _wrap(cell: str) -> str:
    """Return the style by which a long name of a column breaks anywhere, and a short one nowhere."""
    return "white-space:normal;overflow-wrap:anywhere;min-width:7em;max-width:12em" if len(cell) > 12 else ""


def _shade(value: float) -> str:
    if not value:
        return ""
    colour = "0,114,178" if value > 0.0 else "230,159,0"
    return f";background:rgba({colour},{0.5 * min(abs(value), 1.0):.2f})"
