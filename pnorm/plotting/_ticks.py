"""Axes of p, of penalties, of counts, of whole numbers and of dates."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._checks.text import short_count


def powers_axis(ax: Any, powers: Any = None) -> None:
    """Make a logarithmic axis with a tick for each p, by default those of the lines."""
    ticks = sorted({float(p) for line in ax.lines for p in line.get_xdata()} if powers is None else map(float, powers))
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [f"{p:g}" for p in ticks])
    ax.set_xlabel("p")


def penalties_axis(ax: Any, values: Vector, name: str) -> None:
    """Make a logarithmic axis of penalties, on which zero has a place."""
    if values.min() > 0.0:
        ax.set_xscale("log")
    else:
        ax.set_xscale("symlog", linthresh=float(values[values > 0.0].min(initial=1.0)))
        ax.set_xlim(0.0, None)
    ax.set_xlabel(name)


def rounds_axis(ax: Any, first: float | None) -> None:
    """Make a logarithmic axis of rounds, on which zero has a place: 0, 1, 10, 100."""
    ax.set_xscale("symlog", linthresh=1.0, linscale=0.4)
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    ax.set(xlabel="rounds", xlim=(first, None))


def minus(number: str) -> str:
    """Write the sign of a negative number as the axes write it."""
    from matplotlib import rcParams

    return number.replace("-", "\N{MINUS SIGN}") if rcParams["axes.unicode_minus"] else number


def thousands(axis: Any) -> None:
    """Write counts with commas."""
    axis.set_major_formatter(lambda x, _: f"{x:,.10g}")


_DIGITS = 1e4
"""Numbers from which on ticks are written in few characters: 20k."""
_STEPS = (1, 2, 5, 10), (1, 2, 3, 4, 5, 6, 8, 10)
"""Of ticks, the second where the first leave fewer than two numbers on a narrow axis."""


def number_axis(ax: Any, whole: bool, start: float, width: float) -> None:
    """Put at most six ticks on an axis, and so many that their numbers are apart; with `whole`, at whole numbers only.

    The ticks are those from `start` to the right end, which are `width` points apart.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    stop = max(ax.get_xlim())
    large = max(abs(start), abs(stop)) >= _DIGITS
    if large:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: minus(short_count(x))))
    size = ax.xaxis.get_major_ticks(1)[0].label1.get_size()
    for steps, most in ((steps, most) for steps in _STEPS for most in range(5, 0, -1)):
        locator = MaxNLocator(most, steps=steps, integer=whole, min_n_ticks=min(most, 2))
        ticks = np.asarray(locator.tick_values(start, stop))
        ticks = ticks[(ticks >= start) & (ticks <= stop)]
        letters = max((len(short_count(x) if large else f"{round(x, 10):.10g}") for x in ticks.tolist()), default=0)
        if ticks.size > 1 and (0.6 * letters + 0.4) * size <= width * (ticks[1] - ticks[0]) / (stop - start):
            break
    ax.xaxis.set_major_locator(locator)


def date_axis(ax: Any) -> None:
    """Write days since the start of 1970 as dates."""
    from matplotlib import dates

    locator = dates.AutoDateLocator(minticks=2, maxticks=5)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


def apart_axis(ax: Any, start: float, place: float, name: str) -> None:
    """Leave out ticks of values below `start`, and put a name at a place there, which is no value."""
    from matplotlib.dates import DateLocator, num2date
    from matplotlib.ticker import FixedFormatter, FixedLocator, Locator

    every = ax.xaxis.get_major_locator()
    read = num2date if isinstance(every, DateLocator) else float

    class FromStart(Locator):  # type: ignore[misc, unused-ignore]  # untyped where matplotlib is missing
        def __call__(self) -> Any:
            low, high = sorted(ax.get_xlim())
            ticks = np.asarray(every.tick_values(read(max(low, start)), read(high)))
            return ticks[ticks >= start]

    ax.xaxis.set_major_locator(FromStart())
    ax.xaxis.set_minor_locator(FixedLocator([place]))
    ax.xaxis.set_minor_formatter(FixedFormatter([name]))
    major = ax.xaxis.get_major_ticks(1)[0]  # the name is on a line with the numbers
    ax.tick_params(axis="x", which="minor", length=0, pad=major.get_tick_padding(), labelsize="small")
