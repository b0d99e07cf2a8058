"""Axes of p, of penalties, of shares, of counts, of whole numbers and of dates."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm._checks import Vector


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


def percent(axis: Any) -> None:
    """Write shares as per cent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0))


def thousands(axis: Any) -> None:
    """Write counts with commas."""
    axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1.0 else f"{x:g}")


def number_axis(ax: Any, whole: bool) -> None:
    """Put few ticks on an axis, as numbers may be long; with `whole`, at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=whole))


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
