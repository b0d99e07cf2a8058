"""The first rows of ranked lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import Axes, Label, Labels, Scores, Vector
from pnorm.plotting._keys import Lists, label_of, several_lists, sides_of
from pnorm.plotting._look import AS_IT_IS, Look, legend, new_axes

_KINDS, _HEIGHTS = ("positive", "negative"), (0.74, 0.44)
"""Names and heights of the bars of a list."""


def ranked_list(
    lists: Lists,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    top: int = 100,
    ax: Axes | None = None,
) -> Axes:
    """Draw the first rows of a list, or of several, as strips: tall bars for positives, short ones for negatives.

    Parameters
    ----------
    lists : pair, or mapping from a label (or p) to pairs
        Scores of the positives and of the negatives, ``(f_pos, f_neg)``.
    f_neg : array_like, shape (K,), optional
        Scores of the negatives. The first argument then has those of the positives: ``ranked_list(f_pos, f_neg)``.
    y, pos_label : optional
        With labels, ``ranked_list(scores, y=y)``, a list is the scores of all rows. The labels and the positive label
        are as in `pnorm.train`. Several lists of the same rows are a mapping: ``ranked_list({"a": scores_a, "b":
        scores_b}, y=y)``.
    top : int
        The number of rows to show.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        Ranks from left to right, one strip per list, with the number of positives at its end. Where rows tie, negatives
        are drawn before positives.

    Raises
    ------
    ValueError, TypeError
        If there is no list, one is no pair of scores, or `top` is below 1.
    ImportError
        If Matplotlib is missing.

    Examples
    --------
    >>> import pnorm
    >>> ax = pnorm.plotting.ranked_list(([5, 4, 1], [3, 2, 0]), top=5)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['positive', 'negative']

    The same from all scores and their labels:

    >>> ax = pnorm.plotting.ranked_list([5, 4, 1, 3, 2, 0], y=[1, 1, 1, 0, 0, 0], top=5)
    """
    several = several_lists(lists, f_neg, y, pos_label)
    strips = []
    for key, pair in several.items():
        if isinstance(pair, metrics.ScoreTable):
            raise TypeError("a list must be a pair of scores (f_pos, f_neg); a ScoreTable has no single rows")
        strips.append((label_of(key), _best_first(*sides_of(pair, key))))
    shown = min(_checks.count(top, "top", 1), max(found.size for _, found in strips))
    ax = new_axes(1, (7.2, 0.9 + 0.45 * len(strips)), None) if ax is None else ax
    look = Look(ax)
    width = 0.86 if shown <= 120 else 1.0  # gaps between many bars would look like data
    for place, (_, found) in enumerate(strips):
        first = found[:shown]
        ranks = np.arange(1, first.size + 1)
        for positive, colour, height in zip((True, False), look.kinds, _HEIGHTS, strict=True):
            at = ranks[first == positive]
            ax.bar(at, height, bottom=place - height / 2, width=width, color=colour, snap=False)
        count = f"{np.count_nonzero(first)} of {first.size}"
        where = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "annotation_clip": False}
        ax.annotate(count, (1.0, place), (6, 0), va="center", color=look.kinds[0], **where)
    ax.set_yticks(range(len(strips)), [label or "" for label, _ in strips], **AS_IT_IS)
    ax.tick_params(left=False)
    ax.grid(False)
    ax.spines["left"].set_visible(False)
    ax.set(xlim=(0.5, shown + 0.5), ylim=(len(strips) - 0.5, -0.5), xlabel="rank")
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour in zip(_KINDS, look.kinds, strict=True)]
    where = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.1, "frameon": False}
    legend(ax, handles=handles, ncols=2, **where)
    return ax


def _best_first(pos: Vector, neg: Vector) -> Any:
    """Return which rows of a list are positive, best first; positives come after negatives of the same score."""
    positive = np.repeat([False, True], [neg.size, pos.size])
    return positive[np.argsort(-np.concatenate([neg, pos]), kind="stable")]
