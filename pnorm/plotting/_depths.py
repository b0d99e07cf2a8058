"""Precision in the first rows."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Axes, Label, Labels, Scores, Seed, Vector
from pnorm.metrics._first_rows import _drawn, _of_first
from pnorm.metrics._merged import ranked
from pnorm.plotting._keys import Lists, label_of, several_lists, sides_of
from pnorm.plotting._look import BESIDE, Look, legend, new_axes, room_beside
from pnorm.plotting._ticks import percent, thousands

_DEPTHS = 80
"""Points of a curve over depths, at most."""


_NOISY = 200
"""Rows from which on a curve over depths starts at 10: the precision of fewer rows is mostly noise."""


def precision_by_depth(
    lists: Lists,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    top: int | None = None,
    confidence: float | None = 0.95,
    n_resamples: int = 200,
    seed: Seed = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the precision in the first k rows against k, with bands, beside the share of positives in all rows.

    Parameters
    ----------
    lists : pair, ScoreTable, or mapping from a label (or p) to these
        Scores of the positives and of the negatives, ``(f_pos, f_neg)``.
    f_neg : array_like, shape (K,), optional
        Scores of the negatives. The first argument then has those of the positives:
        ``precision_by_depth(f_pos, f_neg)``.
    y, pos_label : optional
        With labels, ``precision_by_depth(scores, y=y)``, a list is the scores of all rows. The labels and the positive
        label are as in `pnorm.train`. Several lists of the same rows are a mapping: ``precision_by_depth({"a":
        scores_a, "b": scores_b}, y=y)``.
    top : int, optional
        The largest k; by default, all rows.
    confidence, n_resamples : float, int, optional
        For the bands, as in `pnorm.metrics.precision_at`. Without a confidence there is no band.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result. Of the resamples.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With k on a logarithmic axis. A curve has at most 80 depths. It starts at k = 10 if it ends at 200 or beyond,
        and else at 1. The dashed line is the share of positives in all rows, the precision of a list in random order.
        Each share has its own line if the lists differ in it. Of three or more lists with names, the first is a thick
        line above the others.

    Raises
    ------
    ValueError, TypeError
        If there is no list, one is no pair of scores, or `top` is below 1.
    ImportError
        If Matplotlib is missing.

    See Also
    --------
    pnorm.metrics.precision_at : One depth, with its interval.

    Notes
    -----
    The band is for one depth at a time and not for the whole curve. Only that of a `ScoreTable` with weights is from
    resamples.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lists = {}
    >>> for p in (1, 16):
    ...     lam, trace = pnorm.train(data.pos, data.neg, p=p)
    ...     lists[p] = pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam)
    >>> ax = pnorm.plotting.precision_by_depth(lists)
    >>> [line.get_label() for line in ax.lines[:2]], ax.get_xlabel()
    (['p = 1', 'p = 16'], 'first rows, k')

    One list, from all scores and their labels:

    >>> ax = pnorm.plotting.precision_by_depth(pnorm.score(data.X, None, lam), y=data.y)
    >>> ax.lines[0].get_xydata()[-1].round(3).tolist()
    [958.0, 0.653]
    """
    several = several_lists(lists, f_neg, y, pos_label)
    most = None if top is None else _checks.count(top, "top", 1)
    curves = []
    for key, found in several.items():
        rows = ranked(*sides_of(found, key))
        n = rows.n_pos + rows.n_neg
        curves.append((_depths(n if most is None else min(n, most)), rows, rows.n_pos / n))
    beside = room_beside(map(label_of, several)) if ax is None else 0.0
    ax = new_axes(1, (6.0 + beside, 4.0)) if ax is None else ax
    look, lowest = Look(ax), []
    for (depths, rows, _), key, line in zip(curves, several, look.lines_of_series(several, lead=True), strict=True):
        found = _precisions(rows, depths, confidence, n_resamples, seed)
        ax.plot(depths, found[0], label=label_of(key), **line)
        if confidence is not None:
            alpha = 0.07 if line.get("zorder") == 2.0 else 0.18  # of lists behind the first, or not
            ax.fill_between(depths, *found[1:], color=line["color"], alpha=alpha, lw=0)
        lowest.append(float(np.min(found)))
    shares = sorted({share for *_, share in curves})
    for share in shares:
        ax.axhline(share, color=look.quiet, ls="--", lw=1.0, zorder=1)
    first, last = (float(of(depths[k] for depths, *_ in curves)) for of, k in ((min, 0), (max, -1)))
    bottom = max(0.0, math.floor(10.0 * min(*lowest, shares[0]) - 1.0) / 10.0)
    ax.set_xscale("log")
    ax.set(xlabel="first rows, k", ylabel="precision in the first k rows")
    ax.set(xlim=(first, max(last, first + 1.0)), ylim=(bottom, 1.0 + 0.03 * (1.0 - bottom)))
    percent(ax.yaxis)
    thousands(ax.xaxis)
    below = shares[0] - bottom > 0.1 * (1.0 - bottom)  # curves are above the line, as far as lists are any good
    words = "share of positives in all rows" if len(shares) == 1 else "shares of positives in all rows"
    at, how = (0.01, shares[0] if below else shares[-1]), {"xycoords": ax.get_yaxis_transform()} | look.small
    ax.annotate(words, at, (0, -3 if below else 3), ha="left", va="top" if below else "bottom", **how)
    if len(curves) > 1:
        legend(ax, **(BESIDE if beside else {}))
    return ax


def _depths(n: float) -> Vector:
    """Return whole numbers up to n, closer together at the start."""
    last = max(1, int(n))
    first = 10 if last >= _NOISY else 1
    if last <= _DEPTHS:
        return np.arange(first, last + 1.0)
    return np.unique(np.round(np.geomspace(first, last, _DEPTHS)))


def _precisions(rows: Any, depths: Vector, confidence: Any, n_resamples: Any, seed: Any) -> list[Vector]:
    """Return the precision at each depth, and the ends of its interval, if there is a confidence."""
    of: Any = [partial(_of_first, "precision", k) for k in depths.tolist()]
    if confidence is None:
        return [np.array([float(measure(rows.distinct)) for measure in of])]
    if rows.weighted:
        found = rows.measure_these(of, confidence, n_resamples, seed)
    else:
        found = _drawn("precision", depths, rows, confidence)
    return list(np.array([tuple(estimate) for estimate in found]).T)
