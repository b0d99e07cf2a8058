"""Colours and legends that can be read on any background, and axes of a new figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pnorm._checks.text import install


def new_axes(n: int, size: tuple[float, float], grid: str | None = "y", across: int | None = None) -> Any:
    """Return axes of a new figure, side by side; with `across`, in lines of so many, with one y axis."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"pnorm.plotting needs Matplotlib. {install('plot')}") from None
    if across is None:
        _, axes = pyplot.subplots(1, n, figsize=size, layout="constrained")
    else:
        _, axes = pyplot.subplots(
            -(-n // across), across, figsize=size, layout="constrained", sharey=True, squeeze=False
        )
        for ax in axes.flat[n:]:
            ax.remove()
        axes = axes.ravel()[:n]
    for ax in np.atleast_1d(axes):
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        if grid is not None:
            ax.grid(axis=grid, color=Look(ax).faint, lw=0.6, alpha=0.45)
    return axes


class Look:
    """Colours that can be seen on the background of some axes, light or dark."""

    _LIGHT = ("#0072b2", "#d55e00", "#009e73", "#b0578f", "#e69f00", "#6d7684"), ("#0072b2", "#d55e00"), (0.0, 0.74)
    _DARK = ("#56b4e9", "#ff8a50", "#37c79b", "#e3a0c8", "#f0b93a", "#9aa4b0"), ("#56b4e9", "#ff8a50"), (0.48, 1.0)
    """The colours of Okabe and Ito, lighter on dark: of series, of positives and negatives; and the
    part of an ordered scale that can be seen."""

    def __init__(self, ax: Any) -> None:
        from matplotlib import colors, rcParams

        backgrounds = (ax.get_facecolor(), ax.figure.get_facecolor(), colors.to_rgba(rcParams["figure.facecolor"]))
        seen = [colour[:3] for colour in backgrounds if colour[3] > 0.5]
        ink = colors.to_rgb(ax.xaxis.label.get_color())
        dark = _luminance(seen[0]) < 0.4 if seen else _luminance(ink) > 0.5
        self.paper = seen[0] if seen else (0.08, 0.09, 0.11) if dark else (1.0, 1.0, 1.0)
        """The background."""
        if abs(_luminance(ink) - _luminance(self.paper)) < 0.3:  # axes of another colour than their style's
            ink = (0.92, 0.92, 0.92) if dark else (0.1, 0.1, 0.1)
        self.ink = ink
        """Of marks and lines that are no data."""
        self.quiet, self.faint = (self._mixed(share) for share in (0.7, 0.45))
        self.cycle, self.kinds, self._scale = self._DARK if dark else self._LIGHT
        patch = {"facecolor": self.paper, "edgecolor": "none", "pad": 0.4}
        self.small: Any = {"textcoords": "offset points", "size": "small", "color": self.ink, "bbox": patch}
        """Of words beside a mark, which no line is to run through."""

    def _mixed(self, share: float) -> tuple[float, ...]:
        return tuple(share * a + (1.0 - share) * b for a, b in zip(self.ink, self.paper, strict=True))

    def of_series(self, keys: Iterable[Any]) -> list[Any]:
        """Return a colour for each of several series: an ordered scale if they are numbers."""
        keys = list(keys)
        if len(keys) == 1 or not _are_numbers(keys):
            return [self.cycle[k % len(self.cycle)] for k in range(len(keys))]
        from matplotlib import colormaps

        return [colormaps["viridis"](share) for share in np.linspace(*self._scale, len(keys))]

    def lines_of_series(self, keys: Iterable[Any], lead: bool = False) -> list[dict[str, Any]]:
        """Return a colour and a dash for each of several lines: dashes are for those beyond the colours.

        With `lead`, the first of three or more with names is thick and above the others, which are thin.
        """
        keys = list(keys)
        colours, size = self.of_series(keys), len(self.cycle)
        dashes = ("-",) if len(set(colours)) == len(colours) else ("-", "--", ":")
        lines = [{"color": each, "ls": dashes[k // size % len(dashes)]} for k, each in enumerate(colours)]
        if lead and len(keys) > 2 and not _are_numbers(keys):
            for k, line in enumerate(lines):
                line.update({"lw": 1.2, "zorder": 2.0} if k else {"lw": 3.0, "zorder": 2.5})
        return lines

    def signs(self, values: Any) -> list[str]:
        """Return blue for values above zero, orange for others."""
        return [self.kinds[0] if value > 0.0 else self.kinds[1] for value in values]


BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
"""Place of a legend at the right of the axes, with its first name on top."""


def room_beside(names: Iterable[str | None]) -> float:
    """Return the inches that a legend of these names needs beside the axes, or 0 if it fits within them."""
    sizes = [len(name) for name in names if name]
    fits = len(sizes) <= 6 and max(sizes, default=0) <= 20
    return 0.0 if fits else 0.7 + 0.085 * max(sizes)


def _are_numbers(keys: Iterable[Any]) -> bool:
    return all(isinstance(key, int | float | np.number) for key in keys)


def _luminance(rgb: Any) -> float:
    """Return how light a colour looks, from 0 to 1."""
    return float(np.dot((0.299, 0.587, 0.114), rgb[:3]))


AS_IT_IS: Any = {"parse_math": False}
"""Of text with names of a user's. Matplotlib takes what is between two dollars for a formula."""

_MANY = 50_000
"""Points of all lines, from which on no best place for a legend is searched."""


def legend(ax: Any, **how: Any) -> None:
    """Draw a legend on a patch of the background, so that no line runs through its words."""
    few = sum(len(line.get_xdata(orig=False)) for line in ax.lines) <= _MANY
    look = Look(ax)
    patch = {"frameon": True, "facecolor": look.paper, "edgecolor": "none", "framealpha": 0.85, "labelcolor": look.ink}
    made = ax.legend(**({"loc": "best" if few else "lower right"} | patch | how))
    for words in made.get_texts():
        words.set(**AS_IT_IS)
