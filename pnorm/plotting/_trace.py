"""The objective, round by round."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np

from pnorm import _checks
from pnorm._checks import Axes, Model, Vector
from pnorm._trace import Trace
from pnorm.plotting._keys import keyed, label_of
from pnorm.plotting._look import Look, legend, new_axes
from pnorm.plotting._ticks import rounds_axis

Run: TypeAlias = Trace | tuple[Vector, Trace] | Model
"""The result of a solver, its trace alone, or a fitted model."""


def trace(runs: Run | Mapping[Hashable, Run], *, floor: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the objective of a run, or of several, round by round.

    Parameters
    ----------
    runs : Trace, or mapping from a label (or p) to Trace
        What `pnorm.train` or `pnorm.minimize` returned: the trace, or the pair with the coefficients. A fitted
        `pnorm.sklearn.PNormPush` is accepted as well.
    floor : float, optional
        The infimum, ``trace.objective[-1]`` of a run of `pnorm.minimize`. The curve is then the distance of the
        objective from it, on a logarithmic axis, and ends where this is rounding. Without a floor it is the change
        since the start.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With rounds on a logarithmic axis that begins at 0.

    Raises
    ------
    ValueError, TypeError
        If there is no run, or something else than a run.
    ImportError
        If Matplotlib is missing.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, best = pnorm.minimize(data.pos, data.neg, p=4)
    >>> lam, run = pnorm.train(data.pos, data.neg, p=4)
    >>> ax = pnorm.plotting.trace({"descent": run, "Newton": best}, floor=best.objective[-1])
    >>> ax.get_yscale()
    'log'

    The result of a solver is drawn as it is:

    >>> ax = pnorm.plotting.trace(pnorm.train(data.pos, data.neg, p=4))
    """
    given = keyed(runs if isinstance(runs, Mapping) else {None: runs}, "runs")
    several = {key: _trace_of(run) for key, run in given.items()}
    base = None if floor is None else _checks.real(floor, "floor")
    if base is not None and (base < -_checks.ROOT or all(run.objective.max() <= base for run in several.values())):
        raise ValueError(f"floor must be below the objectives, and not out of all proportion; got {floor!r}")
    ax = new_axes(1, (5.0, 4.0)) if ax is None else ax
    symbols = {run._symbol for run in several.values()}
    symbol = symbols.pop() if len(symbols) == 1 else "objective"
    for (key, run), line in zip(several.items(), Look(ax).lines_of_series(several), strict=True):
        value = run.objective - (run.objective[0] if base is None else base)
        rounds = np.arange(run.n_iter + 1)
        shown = np.ones(rounds.size, bool) if base is None else value > 1e-14 * abs(run.objective[-1])
        marker = "o" if run.n_iter < 30 else None
        ax.plot(rounds[shown], value[shown], marker=marker, ms=4, label=label_of(key), **line)
    rounds_axis(ax, 0.0)
    if base is not None:
        ax.set_yscale("log")
    symbol = symbol.replace("F_p", "$F_p$")
    what = f"change of {symbol}" if base is None else f"{symbol} above the floor"
    ax.set_ylabel(f"{what} (nats)")
    if len(several) > 1:
        legend(ax)
    return ax


def _trace_of(run: Any) -> Trace:
    """Return the trace of a run, of the pair that a solver returns, or of a fitted model."""
    if isinstance(run, tuple) and len(run) == 2 and isinstance(run[1], Trace):
        return run[1]
    found = getattr(run, "trace_", run)
    if not isinstance(found, Trace):
        raise TypeError(
            f"runs must be a Trace, or a mapping from labels to them; got {type(run).__name__}. Pass what pnorm.train "
            "or pnorm.minimize returned"
        )
    return found
