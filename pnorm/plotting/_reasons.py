"""Why a row has its score."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Axes, sheet, text
from pnorm._reasons.explain import Explanation
from pnorm.plotting._look import AS_IT_IS, Look, new_axes
from pnorm.plotting._ticks import minus


def reasons(explanation: Explanation, row: int = 0, *, top: int = 8, ax: Axes | None = None) -> Axes:
    """Draw why a row has its score: what its columns add, from the mean score to its own.

    Parameters
    ----------
    explanation : Explanation
        What `pnorm.explain` returned.
    row : int
        The number of the row, from 0; -1 is the last one.
    top : int
        The number of columns with a bar of their own, the largest contributions first. The last bar is the sum of the
        others.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With a bar for each column, which begins where the one above it ends: blue where the column raises the score,
        orange where it lowers it. Dashed lines are at the mean score of the reference and at the score of the row.

    Raises
    ------
    ValueError, TypeError
        If `explanation` is something else, or there is no such row.
    ImportError
        If Matplotlib is missing.

    See Also
    --------
    Explanation.top : The same in words.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.columns(9, names=data.names)
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, p=4)
    >>> ax = pnorm.plotting.reasons(pnorm.explain(data.X, H, lam), row=0, top=3)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['bottom-right = 2', 'top-right = 0', 'top-left = 0', '6 other columns']
    """
    if not isinstance(explanation, Explanation):
        raise TypeError(f"explanation must be what pnorm.explain returned; got {type(explanation).__name__}")
    i, top = _checks.item(row, "row", len(explanation.scores)), _checks.count(top, "top", 1)
    base, score = explanation.base, float(explanation.scores[i])
    ((*found,),) = explanation._strongest(np.array([i]), top, lambda parts: -np.abs(parts))
    names, parts = [name for name, _ in found], [part for _, part in found]
    left = len(explanation.names) - len(found)
    if left:
        names.append(f"{left} other column{'s' if left > 1 else ''}")
        parts.append(score - base - sum(parts))
    bars, ends = np.array(parts), base + np.cumsum(parts)
    starts = np.r_[base, ends[:-1]]
    if max(np.abs(ends).max(), abs(base)) > _checks.ROOT:
        raise ValueError("the scores are too large to draw; scale lam down")
    ax = new_axes(1, (6.5, 1.1 + 0.36 * len(bars)), "x") if ax is None else ax
    look, places, write = Look(ax), np.arange(len(bars)), sheet.same_digits(bars)
    ax.barh(places, bars, left=starts, color=look.signs(bars), height=0.66)
    for k, (end, bar) in enumerate(zip(ends.tolist(), bars.tolist(), strict=True)):
        if k + 1 < len(bars):
            ax.plot([end, end], [k, k + 1], color=look.quiet, lw=0.8, zorder=1)
        up = bar > 0.0
        ax.annotate(
            minus(write(bar)), (end, k), (4 if up else -4, 0), ha="left" if up else "right", va="center", **look.small
        )
    number = sheet.same_digits([base, score], sign=False)
    inner, outer = min(*starts, *ends), max(*starts, *ends)
    room = 0.16 * (outer - inner) or 1.0  # for the numbers beside the bars
    ax.set_xlim(inner - room, outer + room)
    for at, y, words, below in ((base, -0.5, "mean", False), (score, len(bars) - 0.5, "this row", True)):
        ax.axvline(at, color=look.quiet, ls="--", lw=1.0, zorder=0)
        how: Any = {"ha": "center", "va": "top" if below else "bottom"} | look.small
        ax.annotate(f"{words} {minus(number(at))}", (at, y), (0, -3 if below else 3), **how)
    ax.set_yticks(places, [text.shown(name, 40) for name in names], **AS_IT_IS)
    ax.set(ylim=(len(bars) + 0.15, -1.15), xlabel="score")
    ax.tick_params(left=False)
    ax.grid(False, axis="y")
    ax.spines["left"].set_visible(False)
    return ax
