"""ROC curves."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks, metrics
from pnorm._checks import Axes, Label, Labels, Scores, text
from pnorm.plotting._keys import Lists, label_of, pair_of, several_lists
from pnorm.plotting._look import Look, legend, new_axes
from pnorm.plotting._ticks import thousands


def roc(
    lists: Lists | metrics.Roc | Mapping[Hashable, metrics.Roc],
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    units: Literal["counts", "rates"] | None = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | NDArray[np.object_]:
    """Draw ROC curves: the leftmost part, up to the first crossing, and the full curves.

    Parameters
    ----------
    lists : pair, Roc, ScoreTable, or mapping from a label (or p) to these
        Scores of the positives and of the negatives, ``(f_pos, f_neg)``, or what `pnorm.metrics.roc_counts` returns for
        them (a `Roc`; any other pair is taken for scores).
    f_neg : array_like, shape (K,), optional
        Scores of the negatives. The first argument then has those of the positives: ``roc(f_pos, f_neg)``.
    y, pos_label : optional
        With labels, ``roc(scores, y=y)``, a list is the scores of all rows. The labels and the positive label are as in
        `pnorm.train`. Several lists of the same rows are a mapping: ``roc({"a": scores_a, "b": scores_b}, y=y)``.
    units : {"counts", "rates"}, optional
        Whether the axes count rows or show shares of the negatives and of the positives. By default, counts if all
        lists have as many positives and as many negatives, and rates if their sizes differ.
    ax : Axes, or pair of Axes, optional
        A pair gets the leftmost part and the full curves, a single one the full curves alone. None makes a
        figure with both.

    Returns
    -------
    ndarray of Axes, shape (2,), or Axes
        The leftmost part and the full curves; the single axes if `ax` is one.

    Raises
    ------
    ValueError, TypeError
        If there is no list, one is neither a pair of scores nor a `Roc`, or `units` is another word.
    ImportError
        If Matplotlib is missing.

    Notes
    -----
    The leftmost part shows the first crossing of the first list with the last, marked by a circle, whichever of them is
    ahead before it. It ends at one and a half times the false positives of this crossing, or at a tenth of the
    negatives if the two never cross. It shows at least a twentieth of the negatives. Lists of different sizes have a
    crossing in rates only.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lists = {}
    >>> for p in (1, 4, 16):
    ...     lam, trace = pnorm.train(data.pos, data.neg, p=p)
    ...     lists[p] = pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam)
    >>> left, full = pnorm.plotting.roc(lists)
    >>> left.get_ylabel(), [text.get_text() for text in full.get_legend().get_texts()]
    ('true positives', ['p = 1', 'p = 4', 'p = 16'])

    Lists of different sizes, such as training and held-out rows:

    >>> left, full = pnorm.plotting.roc({"all": lists[4], "fewer": (lists[4][0][::2], lists[4][1][::3])})
    >>> left.get_ylabel(), full.lines[1].get_xydata()[-1].tolist()
    ('true positive rate', [1.0, 1.0])

    One list, from all scores and their labels:

    >>> left, full = pnorm.plotting.roc(pnorm.score(data.X, None, lam), y=data.y)
    >>> full.lines[0].get_xydata()[-1].tolist()
    [332.0, 626.0]
    """
    named = {key: _roc(found, key) for key, found in several_lists(lists, f_neg, y, pos_label).items()}
    ends = [(float(false[-1]), float(true[-1])) for false, true in named.values()]
    alike = all(end == ends[0] for end in ends)
    if units is None:
        units = "counts" if alike else "rates"
    if _checks.choice(units, "units", ("counts", "rates")) == "rates":
        for key, end in zip(named, ends, strict=True):
            if not min(end) > 0.0:
                raise ValueError(f"list {key!r} must have positives and negatives, for rates; pass units='counts'")
        named = {
            key: metrics.Roc(false / end[0], true / end[1])
            for (key, (false, true)), end in zip(named.items(), ends, strict=True)
        }
    axes = np.atleast_1d(new_axes(2, (9.0, 4.0)) if ax is None else ax)
    if axes.shape not in ((1,), (2,)) or not all(hasattr(each, "plot") for each in axes):
        raise ValueError(f"ax must be one Axes or a pair of them; got {ax!r}")
    curves = [(label_of(key), curve) for key, curve in named.items()]
    what = " rate" if units == "rates" else "s"
    for each in axes:
        for (label, (false, true)), line in zip(curves, Look(each).lines_of_series(named, lead=True), strict=True):
            each.plot(false, true, label=label, **line)
        each.set(xlabel=f"false positive{what}", ylabel=f"true positive{what}")
        if units == "counts":
            thousands(each.xaxis)
            thousands(each.yaxis)
    if any(label is not None for label, _ in curves):
        legend(axes[-1], loc="lower right")
    if axes.size == 2:
        _enlarge(axes[0], curves, units, alike or units == "rates")
        for each, title in zip(axes, ("leftmost part", "full curves"), strict=True):
            if not each.get_title():
                each.set_title(title)
        return axes
    return axes[0]


def _roc(found: Any, key: Any) -> metrics.Roc:
    if isinstance(found, metrics.Roc):
        return found
    if isinstance(found, metrics.ScoreTable):
        return metrics.roc_counts(found)
    which = "a list" if key is None else f"list {key!r}"
    what = f"{which} must be a pair of scores (f_pos, f_neg), or a Roc; got {type(found).__name__}"
    return metrics.roc_counts(*pair_of(found, what))


def _enlarge(ax: Any, named: list[tuple[str | None, metrics.Roc]], units: str, alike: bool) -> None:
    """Limit the axes to the part before the first crossing, and a little more."""
    curves = [curve for _, curve in named]
    first, last = curves[0], curves[-1]
    met = metrics.crossing(first, last) if alike else None
    negatives = float(first.false_positives[-1])
    end = 0.1 * negatives if met is None else max(0.05 * negatives, 1.5 * met.false_positives)
    if units == "counts":
        end = max(3.0, np.floor(end)) + 0.5  # beside the steps, which are at whole numbers
        ax.yaxis.get_major_locator().set_params(integer=True)
    end = min(end, negatives)
    low = min(float(true[false == 0.0].max()) for false, true in curves)
    high = max(float(np.interp(end, false, true)) for false, true in curves)
    room = 0.06 * max(high - low, 1.0 if units == "counts" else 0.01)
    ax.set(xlim=(-0.02 * end, end), ylim=(max(low - 4.0 * room, -room), high + room))
    if met is not None:
        look, label = Look(ax), _crossing_label(ax, *(text.shown(str(named[k][0]), 40) for k in (0, -1)))
        ax.plot(*met, "o", mfc="none", mec=look.ink, mew=1.4, ms=10, label=label)
        legend(ax, handles=ax.lines[-1:], loc="lower right", borderpad=0.1, handlelength=1.0, handletextpad=0.4)


def _crossing_label(ax: Any, first: str, last: str) -> str:
    """Return the words of the legend, on several lines if the axes are too narrow for one."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points()
    room = 72.0 * ax.get_window_extent().width / ax.figure.dpi / (0.55 * size) - 5.0  # in letters, beside the circle
    for broken in ("first crossing of {} and {}", "first crossing of\n{} and {}"):
        words = broken.format(first, last)
        if max(map(len, words.splitlines())) <= room:
            return words
    return f"first crossing of\n{first}\nand {last}"
