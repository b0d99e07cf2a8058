"""A measure against p."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import Axes, Numbers
from pnorm.plotting._keys import keyed, label_of
from pnorm.plotting._look import Look, legend, new_axes
from pnorm.plotting._ticks import powers_axis


def push_path(
    values: Mapping[float, metrics.Estimate | Numbers], *, label: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a measure against p: its interval, or its spread over splits.

    Parameters
    ----------
    values : mapping
        From p to an `Estimate`, what a measure of `pnorm.metrics` returns with ``confidence``. Or from p to the values
        of the measure, one per split (or one number).
    label : str, optional
        For the legend. Call again with the same `ax` for another measure, or for training beside testing.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With p on a logarithmic axis. The band of Estimates is their interval. Those of splits are the middle half and
        the middle nine tenths, and the line is the mean.

    Raises
    ------
    ValueError, TypeError
        If there is no p, one is not above zero, or a value is not a finite number.
    ImportError
        If Matplotlib is missing.

    Examples
    --------
    >>> import pnorm
    >>> ax = pnorm.plotting.push_path({1: [8, 6, 9], 4: [11, 10, 13], 16: [14, 15, 11]}, label="train")
    >>> ax = pnorm.plotting.push_path({1: [4, 3, 5], 4: [5, 3, 6], 16: [5, 2, 4]}, label="test", ax=ax)
    >>> len(ax.lines)
    2

    One list for each p, with intervals:

    >>> data = pnorm.datasets.tic_tac_toe()
    >>> found = {}
    >>> for p in (1, 4, 16):
    ...     lam, trace = pnorm.train(data.pos, data.neg, p=p)
    ...     f_pos, f_neg = pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam)
    ...     found[p] = pnorm.metrics.partial_auc(f_pos, f_neg, max_fpr=0.1, confidence=0.95)
    >>> ax = pnorm.plotting.push_path(found)
    >>> len(ax.collections)
    1
    """
    found = {_checks.positive(p, "p"): of for p, of in keyed(values, "values").items()}
    powers = sorted(found)
    if all(isinstance(of, metrics.Estimate) for of in found.values()):
        ends = np.array([tuple(found[p]) for p in powers]).T
        middle, bands = ends[0], [(*ends[1:], 0.2)]
        if not np.abs(ends).max() <= _checks.ROOT:
            raise ValueError("values are too large to draw, or not finite")
    else:
        spread = [
            _checks.vector(np.atleast_1d(found[p]), f"values at p = {p:g}", None, "one per split") for p in powers
        ]
        if not all(of.size for of in spread):
            raise ValueError("values must hold one number at least for every p")
        if max(np.abs(of).max() for of in spread) > _checks.ROOT:
            raise ValueError("values are too large to draw; scale them down")
        middle = np.array([of.mean() for of in spread])
        bands = [
            (*[np.array([np.quantile(of, q) for of in spread]) for q in (outer, 1.0 - outer)], alpha)
            for outer, alpha in ((0.05, 0.13), (0.25, 0.2))
        ]
    ax = new_axes(1, (5.0, 4.0)) if ax is None else ax
    cycle = Look(ax).cycle
    colour = cycle[len(ax.lines) % len(cycle)]
    ax.plot(powers, middle, color=colour, marker="o", ms=5, label=label_of(label))
    for low, high, alpha in bands:
        ax.fill_between(powers, low, high, color=colour, alpha=alpha, lw=0)
    powers_axis(ax)
    if label is not None:
        legend(ax)
    return ax
