"""Charts as SVG in the page: their colours are those of its style, so that they fit light and dark."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._checks.text import short_count
from pnorm._report import markup

_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 12.0, 12.0, 52.0
"""Room around the frame of a chart, for its labels."""

ABOVE = 20.0
"""Room above the frame for the words of a marked place."""

STYLES = ("s0", "s1", "s2", "s3", "s4")
"""Classes of lines, this list's first."""


@dataclass(frozen=True)
class Axis:
    """One direction of a chart."""

    low: float
    high: float
    label: str
    write: Callable[[float], str]
    log: bool = False
    ticks: int = 6
    """Values that are written, more or less."""
    whole: bool = False
    """Whether only whole numbers are values."""
    dates: bool = False
    """Whether values are dates, in days since the start of 1970. The first days of years or of months are written, if
    two or more are between the ends."""
    unit: float = 1.0
    """Ticks are at round multiples of this number, such as the days of a year."""

    def at(self, values: Any) -> Vector:
        """Return where values lie between the ends, from 0 to 1."""
        low, high, x = self.low, self.high, np.clip(np.asarray(values, np.float64), self.low, self.high)
        if self.log:
            low, high, x = math.log(low), math.log(high), np.log(x)
        return np.asarray((x - low) / (high - low or 1.0))

    def values(self) -> list[float]:
        """Return round values between the ends, to be written."""
        if self.dates and len(firsts := _firsts(self.low, self.high, self.ticks)) > 1:
            return firsts
        if self.unit != 1.0:
            low, high, most = self.low / self.unit, self.high / self.unit, self.ticks
            of_unit = round_values(low, high, most)
            while len(of_unit) < 2 and high > low:
                most += 1
                of_unit = round_values(low, high, most)
            return [value * self.unit for value in of_unit]
        found = _decades(self.low, self.high) if self.log else round_values(self.low, self.high, self.ticks)
        if len(found) < 2 and self.high > self.low and not self.log:
            thirds = np.linspace(self.low, self.high, 7)[1::2]
            found = (thirds if self.high - self.low < 6.0 else thirds.round()).tolist()  # days are whole
        return [value for value in found if not self.whole or abs(value - round(value)) < 1e-9] or found

    def written(self) -> list[tuple[float, str]]:
        """Return the values with their texts: years and months where all values are their first days."""
        values = self.values()
        if self.dates:
            days = np.array(values).astype("datetime64[D]")
            for unit in ("Y", "M"):
                if (days.astype(f"datetime64[{unit}]") == days).all() and (days.astype(np.float64) == values).all():
                    return list(zip(values, days.astype(f"datetime64[{unit}]").astype(str).tolist(), strict=True))
        return [(value, self.write(value)) for value in values]


@dataclass
class Chart:
    """A frame with two axes, and what is drawn in it."""

    x: Axis
    y: Axis
    title: str
    told: str
    """What the picture shows, for those who do not see it."""
    width: float = 560.0
    height: float = 290.0
    right: float = _RIGHT
    top: float = _TOP
    _drawn: list[str] = field(default_factory=list)

    def _points(self, x: Any, y: Any) -> list[str]:
        across = _LEFT + self.x.at(x) * (self.width - _LEFT - self.right)
        down = self.height - _BOTTOM - self.y.at(y) * (self.height - self.top - _BOTTOM)
        return [f"{a:.1f},{b:.1f}" for a, b in zip(across.tolist(), down.tolist(), strict=True)]

    def line(self, x: Any, y: Any, style: str) -> None:
        """Draw a line through points."""
        self._drawn.append(
            f'<polyline class="line {style}" points="{" ".join(_without_repeats(self._points(x, y)))}"/>'
        )

    def band(self, x: Any, low: Any, high: Any) -> None:
        """Fill what lies between two lines."""
        points = self._points(x, low) + self._points(x, high)[::-1]
        self._drawn.append(f'<polygon class="band" points="{" ".join(points)}"/>')

    def mark(self, x: float, words: str) -> None:
        """Mark a place of the horizontal axis by a line, with words above the frame."""
        across, down = self._points([x], [self.y.high])[0].split(",")
        share = float(self.x.at(x))
        anchor = "start" if share < 0.2 else "end" if share > 0.8 else "middle"
        self._drawn.append(
            f'<line class="mark" x1="{across}" x2="{across}" y1="{down}" y2="{self.height - _BOTTOM:.1f}"/>'
            f'<text class="marked" x="{across}" y="{float(down) - 7:.1f}" text-anchor="{anchor}">{words}</text>'
        )

    def columns(self, ends: Any, heights: Any, style: str) -> None:
        """Draw columns from the axis up; a height of 1 is a fifth of the frame."""
        across = _LEFT + self.x.at(ends) * (self.width - _LEFT - self.right)
        base, room = self.height - _BOTTOM, (self.height - self.top - _BOTTOM) / 5.0
        self._drawn += [
            f'<rect class="{style}" x="{a:.1f}" y="{base - room * h:.1f}" width="{max(b - a - 0.5, 0.5):.1f}" '
            f'height="{room * h:.1f}"/>'
            for a, b, h in zip(across[:-1].tolist(), across[1:].tolist(), np.asarray(heights).tolist(), strict=True)
            if h > 0.0
        ]

    def dots(self, x: Any, y: Any, style: str = "dot") -> None:
        """Draw a dot at each point."""
        for point in self._points(x, y):
            a, b = point.split(",")
            self._drawn.append(f'<circle class="{style}" cx="{a}" cy="{b}" r="4"/>')

    def __str__(self) -> str:
        left, right, base = _LEFT, self.width - self.right, self.height - _BOTTOM
        parts = []
        for tick, told in self.y.written():
            (at,) = self._points([self.x.low], [tick])
            y = at.split(",")[1]
            parts.append(f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}"/>')
            parts.append(f'<text x="{left - 6:.1f}" y="{float(y) + 4:.1f}" text-anchor="end">{told}</text>')
        written = self.x.written()
        across = [float(self._points([tick], [self.y.low])[0].split(",")[0]) for tick, _ in written]
        for x, told in _apart(list(zip(across, [told for _, told in written], strict=True))):
            parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{base:.1f}" y2="{base + 4:.1f}"/>')
            parts.append(f'<text x="{x:.1f}" y="{base + 22:.1f}" text-anchor="middle">{told}</text>')
        parts += self._drawn
        parts.append(f'<line class="axis" x1="{left:.1f}" x2="{right:.1f}" y1="{base:.1f}" y2="{base:.1f}"/>')
        middle = 0.5 * (left + right)
        parts.append(f'<text x="{middle:.1f}" y="{self.height - 6:.1f}" text-anchor="middle">{self.x.label}</text>')
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img">'
            f"<title>{self.title}</title><desc>{self.told}</desc>{''.join(parts)}</svg>"
        )


def _apart(ticks: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return every tick, or every second, fourth, ... one, so that their texts do not run into each other."""
    sizes = [(x, 0.5 * _CHARACTER * (1 + len(html.unescape(told)))) for x, told in ticks]
    while any(b - a < half + other for (a, half), (b, other) in itertools.pairwise(sizes)):
        sizes, ticks = sizes[::2], ticks[::2]
    return ticks


_CHARACTER = 6.8
"""The width of a digit, of text of 12 pixels."""


def _without_repeats(points: Sequence[str]) -> list[str]:
    return [point for k, point in enumerate(points) if k == 0 or point != points[k - 1]]


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Return what the lines of a chart are: names, which are HTML, and classes."""
    line = '<svg viewBox="0 0 34 10" aria-hidden="true"><line class="line {}" x1="1" x2="33" y1="5" y2="5"/></svg>'
    return markup.items([f"{line.format(style)}<span>{name}</span>" for name, style in entries], "legend")


def bar(value: float, largest: float, signed: bool = True) -> str:
    """Return a bar: to the right of the middle if positive, to the left if negative; or from the left end on."""
    share = min(1.0, abs(value) / largest) if largest > 0.0 else 0.0
    room = 50.0 if signed else 100.0
    start = room - room * share if signed and value < 0.0 else room if signed else 0.0
    style = "up" if value >= 0.0 else "down"
    middle = '<line class="grid" x1="50" x2="50" y1="0" y2="12"/>' if signed else ""
    return (
        '<svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{style}" x="{start:.1f}" y="1.5" width="{max(room * share, 0.6):.1f}" height="9"/>{middle}</svg>'
    )


def round_values(low: float, high: float, most: int) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten between two ends, a few of them."""
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1.0, 2.0, 5.0, 10.0) if power * m >= rough * (1.0 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _firsts(low: float, high: float, most: int) -> list[float]:
    """Return first days of years or of months between two ends, as days since the start of 1970; one more than `most`.

    They are every year or month, or those of a multiple. There are none of spans beyond those of a calendar.
    """
    if not -720_000.0 < low < high < 2_900_000.0:
        return []
    first, last = (np.datetime64(math.floor(end), "D").astype("datetime64[M]").astype(int) for end in (low, high))
    found: list[float] = []
    for step in _MONTHS:  # months are counted from January 1970, and years of a multiple from the year 0
        months = np.arange(first - (first + 12 * 1970) % step, last + 1, step)
        days = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)
        fewer = days[(days >= low) & (days <= high)].tolist()
        if found and len(fewer) < 2:
            break
        found = fewer
        if len(found) <= most + 1:
            break
    return found


_MONTHS = (1, 2, 3, 6, *(12 * years * power for power in (1, 10, 100, 1000) for years in (1, 2, 5)))
"""Of a step from one first day to the next."""


def _decades(low: float, high: float) -> list[float]:
    """Return powers of ten between two ends, and where there are few, two and five times these."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / 7))
    factors = (1.0, 2.0, 5.0) if last - first <= 2 else (1.0,)
    found = [m * 10.0**k for k in range(first, last + 1, every) for m in factors]
    return [value for value in found if low * (1.0 - 1e-9) <= value <= high * (1.0 + 1e-9)]


def plain_number(value: float) -> str:
    """Return a value of an axis."""
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    return html.escape(f"{round(value, 10):,.10g}" if abs(value) < 1e5 else short_count(value))
