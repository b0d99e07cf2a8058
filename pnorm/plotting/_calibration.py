"""Predicted probabilities against observed shares."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pnorm import _checks
from pnorm._checks import Axes, Label, Labels, Scores
from pnorm.metrics._shares import calibration as _calibration
from pnorm.plotting._keys import Lists, label_of, pair_of, several_lists
from pnorm.plotting._look import BESIDE, Look, legend, new_axes, room_beside
from pnorm.plotting._ticks import percent

_CONFIDENCE = 0.95
"""Of the intervals of observed shares."""


def calibration(
    lists: Lists,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw predicted probabilities against the shares of positives that were observed, with intervals.

    Parameters
    ----------
    lists : pair, or mapping from a label (or p) to pairs
        Predicted probabilities of the positives and of the negatives, ``(P_pos, P_neg)``: what `pnorm.probability`
        returns, or the second column of ``predict_proba``. Use rows that were not trained on.
    f_neg : array_like, shape (K,), optional
        Scores of the negatives. The first argument then has those of the positives. Both are probabilities here:
        ``calibration(P_pos, P_neg)``.
    y, pos_label : optional
        With labels, ``calibration(P, y=y)``, a list is the probabilities of all rows. The labels and the positive label
        are as in `pnorm.train`. Several lists of the same rows are a mapping: ``calibration({"a": P_a, "b": P_b},
        y=y)``.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        A dot for each part of the rows, at the mean of its probabilities and at its share of positives. The bar is the
        95 % interval of Clopper and Pearson. Dots on the dashed diagonal are right. Parts are tenths of the rows, the
        last of them in three, with at least 20 rows each; rows of one probability stay together. Below zero is the
        histogram of the probabilities.

    Raises
    ------
    ValueError, TypeError
        If there is no list, one is no pair of vectors, or a probability is not from 0 to 1.
    ImportError
        If Matplotlib is missing.

    See Also
    --------
    pnorm.probability : Probabilities from scores.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.minimize(data.pos, data.neg, p=1)
    >>> P = [pnorm.probability(rows, None, lam, 1, trace.intercept) for rows in (data.pos, data.neg)]
    >>> ax = pnorm.plotting.calibration(P)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability', 'share of positives')

    The same from the probabilities of all rows and their labels:

    >>> ax = pnorm.plotting.calibration(pnorm.probability(data.X, None, lam, 1, trace.intercept), y=data.y)
    """
    several = several_lists(lists, f_neg, y, pos_label, "P")
    found, probabilities = [], []
    for key, pair in several.items():
        of = "" if key is None else f" of list {key!r}"
        pair = pair_of(pair, f"the probabilities{of} must be a pair, of the positives and of the negatives")
        sides = [_checks.scores(P, f"P_{side}{of}") for P, side in zip(pair, ("pos", "neg"), strict=True)]
        for P, side in zip(sides, ("pos", "neg"), strict=True):
            if P.min() < 0.0 or P.max() > 1.0:
                raise ValueError(f"P_{side}{of} must be from 0 to 1; pass what pnorm.probability returns")
        probabilities.append(np.concatenate(sides))
        found.append(_calibration(sides[0], sides[1], _CONFIDENCE))
    beside = room_beside(map(label_of, several)) if ax is None else 0.0
    ax = new_axes(1, (5.0 + beside, 5.0)) if ax is None else ax
    look = Look(ax)
    high = max(max(share.high for share in parts.share) for parts in found)
    high = min(1.0, 1.04 * max(high, *(float(parts.predicted.max()) for parts in found)))
    ax.plot([0.0, high], [0.0, high], "--", color=look.quiet, lw=1.0, label="as predicted", zorder=1)
    marks = zip(several, found, look.of_series(several), strict=True)
    for (key, parts, colour), marker in zip(marks, _repeated("osD^v")):  # noqa: B905
        y = np.array([tuple(share) for share in parts.share]).T
        ends = np.maximum([y[0] - y[1], y[2] - y[0]], 0.0)
        label = label_of(key) or "observed"
        ax.errorbar(parts.predicted, y[0], ends, color=colour, marker=marker, ms=5, elinewidth=1.2, label=label)
    edges = np.linspace(0.0, high, 41)
    counts = [np.histogram(P, edges)[0] / P.size for P in probabilities]
    room = 0.16 * high
    for of_list, colour in zip(counts, look.of_series(several), strict=True):
        heights = 0.8 * room * of_list / max(float(each.max()) for each in counts)
        ax.stairs(heights - room, edges, baseline=-room, color=colour, fill=len(counts) == 1, alpha=0.8, lw=1.2)
    ax.axhline(0.0, color=look.quiet, lw=0.8, zorder=1)
    ax.set(xlabel="predicted probability", ylabel="share of positives", xlim=(0.0, high), ylim=(-room, high))
    percent(ax.xaxis)
    percent(ax.yaxis)
    ax.set_yticks([tick for tick in ax.get_yticks() if -1e-9 <= tick <= high + 1e-9])
    ax.set_ylim(-room, high)
    legend(ax, **(BESIDE if beside else {"loc": "upper left"}))
    return ax


def _repeated(marks: str) -> Iterable[str]:
    from itertools import cycle

    return cycle(marks)
