"""Pictures of the shapes of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnorm._checks import Vector, sheet
from pnorm._checks.text import joined
from pnorm._reasons.shapes import Shape
from pnorm._report import markup
from pnorm._report.charts import Axis, Chart, bar, plain_number
from pnorm._report.markup import percent, text
from pnorm.rankers._times import UNITS_OF_TIME

_LEVELS, _ALIKE, _BINS, _OUTSIDE = 12, 5, 30, 0.01
"""Lines of levels, levels of one value from which on they share a line, columns of shares, and the share of rows beyond
either end of a picture."""


@dataclass(frozen=True)
class Drawn:
    """A shape, less its mean over the rows."""

    shape: Shape
    mean: float
    x: Vector
    y: Vector
    """The curve of a column of numbers."""

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest part of the score."""
        values = self.shape.scores - self.mean if self.shape.levels else self.y
        if not math.isnan(self.shape.missing):
            values = np.r_[values, self.shape.missing - self.mean]
        return float(values.min()), float(values.max())


def room_of(shapes: Sequence[Shape]) -> tuple[float, float]:
    """Return the ends of the scale of several pictures."""
    ends = [_drawn(shape).ends for shape in shapes]
    low, high = min(0.0, *[low for low, _ in ends]), max(0.0, *[high for _, high in ends])
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room


def draw_shape(shape: Shape, room: tuple[float, float]) -> str:
    """Return a picture of a column of numbers, or a table of levels with bars."""
    drawn = _drawn(shape)
    write = markup.signed(sheet.same_digits(room))
    missing = ""
    if not math.isnan(shape.missing):
        of_rows = f" ({percent(shape.missing_share)} of the rows)" if shape.missing_share >= 0.0 else ""
        missing = f"Missing values: {write(shape.missing - drawn.mean)}{of_rows}."
    title = f"<h3>{text(shape.name)}</h3>"
    if shape.levels:
        return f"<figure>{title}{_levels(drawn, room, write)}<figcaption>{missing}</figcaption></figure>"
    return f"<figure>{title}{_curve(drawn, room)}<figcaption>{missing}</figcaption></figure>"


def _drawn(shape: Shape) -> Drawn:
    """Return a shape with its mean and its curve."""
    low, high = shape.pieces
    shares = shape.shares if shape.shares.size else np.full(shape.scores.size, 1.0 / shape.scores.size)
    of_missing = 0.0 if math.isnan(shape.missing_share) else shape.missing_share
    values = shape.scores
    x = y = np.empty(0)
    if not shape.levels:
        if shape.slope:
            middle = np.where(np.isfinite(low) & np.isfinite(high), 0.5 * (low + high), shape.origin)
            values = shape.scores + shape.slope * (middle - shape.origin)
        x, above = _abscissas(shape, shares, low, high)
        y = shape.at(x, above)
    missing = 0.0 if math.isnan(shape.missing) else shape.missing
    mean = float(shares @ values) + of_missing * missing
    return Drawn(shape, mean, x, y - mean)


def _abscissas(shape: Shape, shares: Vector, low: Vector, high: Vector) -> tuple[Vector, Any]:
    """Return where to draw a curve: both sides of each cut among the middle of the rows, and the ends."""
    ends = np.unique([end for end in (*low, *high) if math.isfinite(end)])
    if not ends.size:
        return np.zeros(2), False
    start, stop = float(ends[0]), float(ends[-1])
    if math.isinf(low[0]) and math.isinf(high[-1]):
        # Cuts beyond which there are few rows are left out; where an outer piece has more rows, some of it is drawn.
        below = np.cumsum(shares)[:-1] / (shares.sum() or 1.0)
        inside = shape.cuts[(below >= _OUTSIDE) & (below <= 1.0 - _OUTSIDE)]
        first, last = (float(inside[0]), float(inside[-1])) if inside.size else (start, stop)
        room = 0.06 * (last - first) or max(0.5, 0.1 * abs(first))
        if shape._quantiles.size:  # the middle of the rows, and some of both outer pieces
            least, lowest, highest, most = shape._quantiles[[0, 1, -2, -1]].tolist()
            room = 0.03 * (highest - lowest) or room
            start = min(lowest, max(first - room, least) if least < first else first - room)
            stop = max(highest, min(last + room, most) if most > last else last + room)
            if shape.read_off == "trend":
                start, stop = math.floor(start), math.ceil(stop)
        else:
            start, stop = (
                max(start, first - room) if start < first else start - room,
                (min(stop, last + room) if stop > last else stop + room),
            )
    cuts = shape.cuts[(shape.cuts > start) & (shape.cuts < stop)]
    x = np.r_[start, np.repeat(cuts, 2), stop]
    return x, np.r_[True, np.tile([False, True], cuts.size), False]


def _curve(drawn: Drawn, room: tuple[float, float]) -> str:
    shape, x = drawn.shape, drawn.x
    write = _as_text(shape) if shape.read_off else plain_number
    chart = Chart(
        Axis(
            float(x[0]),
            float(x[-1]),
            text(shape.name, 30),
            write,
            ticks=3 if shape.read_off else 6,
            whole=shape._is_whole and not shape.read_off,
            dates=shape.read_off == "trend",
            unit=_unit_of_time(float(x[-1])) if shape.read_off == "days" else 1.0,
        ),
        Axis(*room, "", plain_number),
        f"Shape of {text(shape.name)}",
        f"Part of the score from {write(float(x[0]))} to {write(float(x[-1]))}: {drawn.y[0]:+.3g} at the left, "
        f"{drawn.y[-1]:+.3g} at the right, between {drawn.y.min():+.3g} and {drawn.y.max():+.3g}.",
        320.0,
        210.0,
    )
    ends, heights = _distribution(shape, float(x[0]), float(x[-1]))
    if heights.any():
        chart.columns(ends, heights / heights.max(), "shares")
    chart.line(x[[0, -1]], [0.0, 0.0], "chance")
    chart.line(x, drawn.y, "s0")
    return str(chart)


def _distribution(shape: Shape, low: float, high: float) -> tuple[Vector, Vector]:
    """Return the ends of columns and the share of rows in each of them.

    A column of few values has one for each value. Otherwise the rows of a piece are spread evenly over it.
    """
    ends = np.linspace(low, high, _BINS + 1)
    if not high > low:
        return ends, np.zeros(_BINS)
    values, counts = np.unique(shape._quantiles, return_counts=True)
    if shape.shares.size < 4 and values.size >= _BINS:  # these pieces are too wide
        knots, sums = _rising(shape._quantiles, np.linspace(0.0, 1.0, shape._quantiles.size))
        return ends, np.diff(np.interp(ends, knots, sums))
    if values.size < _BINS and (values.size or not shape.shares.size):
        shares = counts / max(1, counts.sum())
        if shape.shares.size:
            piece = np.searchsorted(shape.cuts, values)  # a piece contains its upper end
            shares = shape.shares[piece] * counts / np.bincount(piece, counts)[piece]
        values, shares = [of[(values >= low) & (values <= high)] for of in (values, shares)]
        half = 0.5 * min(ends[1] - ends[0], 0.8 * float(np.diff(values).min(initial=high - low)))
        sides = np.clip(np.c_[values - half, values + half], low, high)
        return sides.ravel(), np.c_[shares, np.zeros(values.size)].ravel()[:-1]  # nothing between two values
    below = np.cumsum(shape.shares)[:-1]
    knots = np.r_[min(low, shape.cuts[0]), shape.cuts, max(high, shape.cuts[-1])]
    sums = np.r_[0.0, below, float(shape.shares.sum())]
    return ends, np.diff(np.interp(ends, *_rising(knots, sums)))


def _rising(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return points whose first coordinates differ."""
    new = np.r_[True, np.diff(x) > 0.0]
    return x[new], y[new]


def _levels(drawn: Drawn, room: tuple[float, float], write: Any) -> str:
    shape, largest = drawn.shape, max(map(abs, room))
    values = shape.scores - drawn.mean
    shares = shape.shares if shape.shares.size else np.ones(values.size)
    lines = _alike(values, shares, write)
    rows = [
        [
            text(shape.levels[of[0]], 30) if len(of) == 1 else _together(shape, of),
            f'<div class="bar">{bar(float(values[of[0]]), largest)}</div>',
            write(float(values[of[0]])),
            *([percent(float(shares[of].sum()))] if shape.shares.size else []),
        ]
        for of in lines
    ]
    left = sorted(set(range(values.size)).difference(*lines))
    head = ["Level", "", "Adds", *(["Rows"] if shape.shares.size else [])]
    made = markup.table(f"{text(shape.name)}: levels", head, rows, left=(0, 1), kind="bars", titled=True)
    if not left:
        return made
    known, every = [sum(shape._keys[k] is not None for k in of) for of in (left, range(values.size))]
    parts = [f"{known:,} of {every:,} levels"] * (known > 0) + ["missing values"] * (len(left) > known)
    rarer = f"Not shown, as rarer: {joined(parts)}."
    return made + markup.paragraph(rarer, kind="soft")


def _alike(values: Vector, shares: Vector, write: Any) -> list[list[int]]:
    """Return the levels of each line of a table: one, or many that add the same; the largest value first."""
    order = np.argsort(-shares, kind="stable").tolist()
    groups: dict[str, list[int]] = {}
    for k in order:
        groups.setdefault(write(float(values[k])), []).append(k)
    lines = []
    for of in groups.values():
        lines += [of] if len(of) >= _ALIKE else [[k] for k in of]
    lines.sort(key=lambda of: -float(shares[of].sum()))
    return sorted(lines[:_LEVELS], key=lambda of: -float(values[of[0]]))


def _together(shape: Shape, of: Sequence[int]) -> str:
    """Return the number of levels of a line, and the first of them."""
    more = f" and {len(of) - 3} more" if len(of) > 3 else ""
    return f"{shape._counted(of)}: " + ", ".join(text(shape.levels[k], 20) for k in of[:3]) + more


def _unit_of_time(longest: float) -> float:
    """Return the days of a year or a month if durations are up to two of them or more; otherwise one day."""
    return next((UNITS_OF_TIME[unit] for unit in ("year", "month") if longest >= 2.0 * UNITS_OF_TIME[unit]), 1.0)


def _as_text(shape: Shape) -> Callable[[float], str]:
    """Return a function that writes what is read off dates and times as people do."""
    return lambda value: text(shape.text(value), 20)
