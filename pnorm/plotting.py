"""Pictures of ranked lists and of training; needs Matplotlib, the extra ``plot``.

Each function draws on ``ax``, or on a new figure, and returns the axes, so that you can change titles and limits. No
function changes Matplotlib's settings. Sizes of text and lines follow your style. Colours follow the background of the
axes, light or dark, and can be told apart by the colour-blind. Lists by a number, such as p, get an ordered scale.
Positives are blue and negatives are orange.

>>> import pnorm
>>> data = pnorm.datasets.tic_tac_toe()
>>> lam, trace = pnorm.train(data.pos, data.neg, p=4)
>>> lists = {4: (pnorm.score(data.pos, None, lam), pnorm.score(data.neg, None, lam))}
>>> ax = pnorm.plotting.ranked_list(lists)
>>> ax.figure.savefig("list.svg")  # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import Vector, sheet, text
from pnorm._checks.text import install
from pnorm._cross_validation import CrossValidation
from pnorm._minimize_path import MinimizerPath
from pnorm._reasons.explain import Explanation
from pnorm._reasons.shapes import Shape, by_value, coefficients, shapes_of
from pnorm._trace import Trace
from pnorm.metrics._merged import MergedList, ranked
from pnorm.metrics._ranked_list import estimates_by_place
from pnorm.metrics._shares import calibration as _calibration
from pnorm.rankers import as_rankers

__all__ = [
    "calibration",
    "coefficient_path",
    "cross_validation",
    "precision_by_depth",
    "push_path",
    "ranked_list",
    "reasons",
    "roc",
    "shapes",
    "trace",
    "weights",
]

_LEVELS = 24
"""Levels of a column that are drawn, at most."""

_DEPTHS = 80
"""Points of a curve over depths, at most."""

_NOISY = 200
"""Rows from which on a curve over depths starts at 10: the precision of fewer rows is mostly noise."""

_CONFIDENCE = 0.95
"""Of the intervals of observed shares."""


# Lists --------------------------------------------------------------------------------------------------


def roc(lists: Mapping[Any, Any], *, units: str | None = None, ax: Any = None) -> Any:
    """Draw ROC curves: the leftmost part, up to the first crossing, and the full curves.

    Parameters
    ----------
    lists : mapping
        From a label, or a number p, to the list: a pair of scores ``(f_pos, f_neg)``, or what
        `pnorm.metrics.roc_counts` returns for them (a `Roc`; any other pair is taken for scores).
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
    """
    named = {key: _roc(found, key) for key, found in _named(lists, "lists").items()}
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
    axes = np.atleast_1d(_axes(2, (9.0, 4.0)) if ax is None else ax)
    if axes.shape not in ((1,), (2,)) or not all(hasattr(each, "plot") for each in axes):
        raise ValueError(f"ax must be one Axes or a pair of them; got {ax!r}")
    curves = [(_label(key), curve) for key, curve in named.items()]
    what = " rate" if units == "rates" else "s"
    for each in axes:
        for (label, (false, true)), colour in zip(curves, _Look(each).of_series(named), strict=True):
            each.plot(false, true, color=colour, label=label)
        each.set(xlabel=f"false positive{what}", ylabel=f"true positive{what}")
    _legend(axes[-1], loc="lower right")
    if axes.size == 2:
        _enlarge(axes[0], curves, units, alike or units == "rates")
        return axes
    return axes[0]


def _roc(found: Any, key: Any) -> metrics.Roc:
    if isinstance(found, metrics.Roc):
        return found
    return metrics.roc_counts(*_checks.two(found, f"list {key!r} must be a pair of scores (f_pos, f_neg), or a Roc"))


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
        look, label = _Look(ax), f"first crossing of {named[0][0]} and {named[-1][0]}"
        ax.plot(*met, "o", mfc="none", mec=look.ink, mew=1.4, ms=10, label=label)
        _legend(ax, handles=ax.lines[-1:], loc="lower right")


def precision_by_depth(
    lists: Any,
    *,
    top: int | None = None,
    confidence: float | None = 0.95,
    n_resamples: int = 200,
    seed: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw the precision in the first k rows against k, with bands, beside the share of positives in all rows.

    Parameters
    ----------
    lists : pair, ScoreTable, or mapping from a label (or p) to these
        Scores of the positives and of the negatives, ``(f_pos, f_neg)``.
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
        Each share has its own line if the lists differ in it.

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
    All depths of a list share the resamples, so that a band is for one depth at a time and not for the whole curve.
    Where the first k rows are positive in every resample the band has no width. That is no proof that they always are.

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
    """
    several = lists if isinstance(lists, Mapping) else {None: lists}
    most = None if top is None else _checks.count(top, "top", 1)
    curves = []
    for key, found in _named(several, "lists").items():
        rows = ranked(*_sides(found, key))
        n = rows.n_pos + rows.n_neg
        curves.append((_depths(n if most is None else min(n, most)), rows, rows.n_pos / n))
    ax = _axes(1, (6.0, 4.0)) if ax is None else ax
    look, lowest = _Look(ax), []
    for (depths, rows, _), key, colour in zip(curves, several, look.of_series(several), strict=True):
        found = _precisions(rows, depths, confidence, n_resamples, seed)
        ax.plot(depths, found[0], color=colour, label=_label(key))
        if confidence is not None:
            ax.fill_between(depths, *found[1:], color=colour, alpha=0.18, lw=0)
        lowest.append(float(np.min(found)))
    shares = sorted({share for *_, share in curves})
    for share in shares:
        ax.axhline(share, color=look.quiet, ls="--", lw=1.0, zorder=1)
    first, last = (float(of(depths[k] for depths, *_ in curves)) for of, k in ((min, 0), (max, -1)))
    bottom = max(0.0, math.floor(10.0 * min(*lowest, shares[0]) - 1.0) / 10.0)
    ax.set_xscale("log")
    ax.set(xlabel="first rows, k", ylabel="precision in the first k rows")
    ax.set(xlim=(first, max(last, first + 1.0)), ylim=(bottom, 1.0 + 0.03 * (1.0 - bottom)))
    _percent(ax.yaxis)
    _thousands(ax.xaxis)
    below = shares[0] - bottom > 0.1 * (1.0 - bottom)  # curves are above the line, as far as lists are any good
    words = "share of positives in all rows" if len(shares) == 1 else "shares of positives in all rows"
    at, how = (0.01, shares[0] if below else shares[-1]), {"xycoords": ax.get_yaxis_transform()} | look.small
    ax.annotate(words, at, (0, -3 if below else 3), ha="left", va="top" if below else "bottom", **how)
    if len(curves) > 1:
        _legend(ax)
    return ax


def _sides(found: Any, key: Any) -> tuple[Any, Any]:
    """Return the scores of both sides, or a table and None."""
    if isinstance(found, metrics.ScoreTable):
        return found, None
    f_pos, f_neg = _checks.two(found, "a list must be a pair of scores (f_pos, f_neg); several go into a mapping")
    of = "" if key is None else f" of list {key!r}"
    return _checks.scores(f_pos, f"f_pos{of}"), _checks.scores(f_neg, f"f_neg{of}")


def _depths(n: float) -> Vector:
    """Return whole numbers up to n, closer together at the start."""
    last = max(1, int(n))
    first = 10 if last >= _NOISY else 1
    if last <= _DEPTHS:
        return np.arange(first, last + 1.0)
    return np.unique(np.round(np.geomspace(first, last, _DEPTHS)))


def _precisions(rows: Any, depths: Vector, confidence: Any, n_resamples: Any, seed: Any) -> list[Vector]:
    """Return the precision at each depth, and the ends of its interval, if there is a confidence."""
    of: Any = [partial(metrics._of_first, "precision", k) for k in depths.tolist()]
    if confidence is None:
        return [np.array([float(measure(rows.distinct)) for measure in of])]
    if isinstance(rows, MergedList):
        found = rows.measure_these(of, confidence, n_resamples, seed)
    else:
        found = estimates_by_place(rows, of, [(0.0, 1.0)] * len(of), confidence, n_resamples, seed)
    return list(np.array([tuple(estimate) for estimate in found]).T)


_KINDS, _HEIGHTS = ("positive", "negative"), (0.74, 0.44)
"""Names and heights of the bars of a list."""


def ranked_list(lists: Any, *, top: int = 100, ax: Any = None) -> Any:
    """Draw the first rows of a list, or of several, as strips: tall bars for positives, short ones for negatives.

    Parameters
    ----------
    lists : pair, or mapping from a label (or p) to pairs
        Scores of the positives and of the negatives, ``(f_pos, f_neg)``.
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
    """
    several = lists if isinstance(lists, Mapping) else {None: lists}
    strips = []
    for key, pair in _named(several, "lists").items():
        if isinstance(pair, metrics.ScoreTable):
            raise TypeError("a list must be a pair of scores (f_pos, f_neg); a ScoreTable has no single rows")
        strips.append((_label(key), _best_first(*_sides(pair, key))))
    shown = min(_checks.count(top, "top", 1), max(found.size for _, found in strips))
    ax = _axes(1, (9.0, 0.9 + 0.45 * len(strips)), None) if ax is None else ax
    look = _Look(ax)
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
    ax.set_yticks(range(len(strips)), [label or "" for label, _ in strips])
    ax.tick_params(left=False)
    ax.grid(False)
    ax.spines["left"].set_visible(False)
    ax.set(xlim=(0.5, shown + 0.5), ylim=(len(strips) - 0.5, -0.5), xlabel="rank")
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour in zip(_KINDS, look.kinds, strict=True)]
    where = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.1, "frameon": False}
    _legend(ax, handles=handles, ncols=2, **where)
    return ax


def _best_first(pos: Vector, neg: Vector) -> Any:
    """Return which rows of a list are positive, best first; positives come after negatives of the same score."""
    positive = np.repeat([False, True], [neg.size, pos.size])
    return positive[np.argsort(-np.concatenate([neg, pos]), kind="stable")]


def push_path(values: Mapping[float, Any], *, label: str | None = None, ax: Any = None) -> Any:
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
    found = {_checks.positive(p, "p"): of for p, of in _named(values, "values").items()}
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
    ax = _axes(1, (5.0, 4.0)) if ax is None else ax
    cycle = _Look(ax).cycle
    colour = cycle[len(ax.lines) % len(cycle)]
    ax.plot(powers, middle, color=colour, marker="o", ms=5, label=label)
    for low, high, alpha in bands:
        ax.fill_between(powers, low, high, color=colour, alpha=alpha, lw=0)
    _powers_axis(ax)
    if label is not None:
        _legend(ax)
    return ax


def calibration(lists: Any, *, ax: Any = None) -> Any:
    """Draw predicted probabilities against the shares of positives that were observed, with intervals.

    Parameters
    ----------
    lists : pair, or mapping from a label (or p) to pairs
        Predicted probabilities of the positives and of the negatives, ``(P_pos, P_neg)``: what `pnorm.probability`
        returns, or the second column of ``predict_proba``. Use rows that were not trained on.
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
    """
    several = lists if isinstance(lists, Mapping) else {None: lists}
    found, probabilities = [], []
    for key, pair in _named(several, "lists").items():
        of = "" if key is None else f" of list {key!r}"
        pair = _checks.two(pair, f"the probabilities{of} must be a pair, of the positives and of the negatives")
        sides = [_checks.scores(P, f"P_{side}{of}") for P, side in zip(pair, ("pos", "neg"), strict=True)]
        for P, side in zip(sides, ("pos", "neg"), strict=True):
            if P.min() < 0.0 or P.max() > 1.0:
                raise ValueError(f"P_{side}{of} must be from 0 to 1; pass what pnorm.probability returns")
        probabilities.append(np.concatenate(sides))
        found.append(_calibration(sides[0], sides[1], _CONFIDENCE))
    ax = _axes(1, (5.0, 5.0)) if ax is None else ax
    look = _Look(ax)
    high = max(max(share.high for share in parts.share) for parts in found)
    high = min(1.0, 1.04 * max(high, *(float(parts.predicted.max()) for parts in found)))
    ax.plot([0.0, high], [0.0, high], "--", color=look.quiet, lw=1.0, label="as predicted", zorder=1)
    marks = zip(several, found, look.of_series(several), strict=True)
    for (key, parts, colour), marker in zip(marks, _repeated("osD^v")):  # noqa: B905
        y = np.array([tuple(share) for share in parts.share]).T
        ends = np.maximum([y[0] - y[1], y[2] - y[0]], 0.0)
        label = _label(key) or "observed"
        ax.errorbar(parts.predicted, y[0], ends, color=colour, marker=marker, ms=5, elinewidth=1.2, label=label)
    edges = np.linspace(0.0, high, 41)
    counts = [np.histogram(P, edges)[0] / P.size for P in probabilities]
    room = 0.16 * high
    for of_list, colour in zip(counts, look.of_series(several), strict=True):
        heights = 0.8 * room * of_list / max(float(each.max()) for each in counts)
        ax.stairs(heights - room, edges, baseline=-room, color=colour, fill=len(counts) == 1, alpha=0.8, lw=1.2)
    ax.axhline(0.0, color=look.quiet, lw=0.8, zorder=1)
    ax.set(xlabel="predicted probability", ylabel="share of positives", xlim=(0.0, high), ylim=(-room, high))
    _percent(ax.xaxis)
    _percent(ax.yaxis)
    ax.set_yticks([tick for tick in ax.get_yticks() if -1e-9 <= tick <= high + 1e-9])
    ax.set_ylim(-room, high)
    _legend(ax, loc="upper left")
    return ax


# Training -----------------------------------------------------------------------------------------------


def trace(runs: Trace | Mapping[Any, Trace], *, floor: float | None = None, ax: Any = None) -> Any:
    """Draw the objective of a run, or of several, round by round.

    Parameters
    ----------
    runs : Trace, or mapping from a label (or p) to Trace
        What `pnorm.train` or `pnorm.minimize` returned.
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
    """
    several = _named(runs if isinstance(runs, Mapping) else {None: runs}, "runs")
    for run in several.values():
        if not isinstance(run, Trace):
            raise TypeError(f"runs must be a Trace, or a mapping from labels to them; got {type(run).__name__}")
    base = None if floor is None else _checks.real(floor, "floor")
    if base is not None and (base < -_checks.ROOT or all(run.objective.max() <= base for run in several.values())):
        raise ValueError(f"floor must be below the objectives, and not out of all proportion; got {floor!r}")
    ax = _axes(1, (5.0, 4.0)) if ax is None else ax
    symbols = {run._symbol for run in several.values()}
    symbol = symbols.pop() if len(symbols) == 1 else "objective"
    for (key, run), colour in zip(several.items(), _Look(ax).of_series(several), strict=True):
        value = run.objective - (run.objective[0] if base is None else base)
        rounds = np.arange(run.n_iter + 1)
        shown = np.ones(rounds.size, bool) if base is None else value > 1e-14 * abs(run.objective[-1])
        marker = "o" if run.n_iter < 30 else None
        ax.plot(rounds[shown], value[shown], color=colour, marker=marker, ms=4, label=_label(key))
    ax.set_xscale("symlog", linthresh=1.0)
    if base is not None:
        ax.set_yscale("log")
    what = f"change of {symbol}" if base is None else f"{symbol} above the floor"
    ax.set(xlabel="rounds", xlim=(0, None), ylabel=f"{what} (nats)")
    if len(several) > 1:
        _legend(ax)
    return ax


def cross_validation(found: CrossValidation, *, ax: Any = None) -> Any:
    """Draw a measure on held-out rows against rounds, or falling penalties, a curve for each p.

    Parameters
    ----------
    found : CrossValidation
        What `pnorm.cross_validate` returned.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        Means over the folds, with a band of one standard error on either side. Rounds are on a logarithmic axis that
        begins at 0; penalties have the largest on the left. If both penalties change, the axis shows their places on
        the path. With several kinds of weak rankers, there is a curve for each kind and p. A circle marks the best, a
        square the simplest within one standard error of it. The axes leave out values far below the best of every p.

    Raises
    ------
    TypeError
        If `found` is something else.
    ImportError
        If Matplotlib is missing.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> found = pnorm.cross_validate(data.pos, data.neg, pnorm.rankers.normalized, [1, 16], t_max=30)
    >>> ax = pnorm.plotting.cross_validation(found)
    >>> [line.get_label() for line in ax.lines[:2]], ax.get_ylabel()
    (['p = 1', 'p = 16'], 'partial_auc on held-out rows')
    """
    if not isinstance(found, CrossValidation):
        raise TypeError(f"found must be what pnorm.cross_validate returned; got {type(found).__name__}")
    ax = _axes(1, (5.0, 4.0)) if ax is None else ax
    mean, error = found.mean, found.standard_error
    along = found._order
    several = len(found._changing) > 1
    stages: Any = np.argsort(along, axis=1) + 1 if several else found._changing[found.along]
    order = np.argsort(found.p, kind="stable")
    look = _Look(ax)
    for i, colour in zip(order, look.of_series(range(order.size)), strict=True):
        label = _label(float(found.p[i])) if not found.kinds else f"{found.kinds[i]}, p = {found.p[i]:g}"
        x, y, half = (values[i, along[i]] for values in (stages, mean, error))
        ax.plot(x, y, color=colour, label=label)
        if np.isfinite(half).all():
            ax.fill_between(x, y - half, y + half, color=colour, alpha=0.13, lw=0)
    for (i, s), marker, what in ((found._best_place, "o", "best"), (found._simplest_place, "s", "simplest")):
        ax.plot([stages[i, s]], mean[i, s], marker, mfc="none", mec=look.ink, mew=1.4, ms=9, label=what)
    ax.set_ylabel(f"{found.metric} on held-out rows")
    if several:
        ax.set(xlabel="penalties, from the largest", xlim=(1, stages.shape[1]), xticks=range(1, stages.shape[1] + 1))
    elif found.rounds is None:
        _penalties_axis(ax, stages, found.along)
        ax.set_xlim(stages.max(), stages.min())  # rounds grow as l2 falls
    else:
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set(xlabel="rounds", xlim=(found.rounds[0], None))
    peaks = mean.max(axis=1)
    below = 3.0 * float(np.ptp(peaks)) + 4.0 * float(np.nan_to_num(error).max(axis=1).min())
    if below > 0.0:
        ax.set_ylim(max(float(peaks.min()) - below, ax.get_ylim()[0]), None)
    _legend(ax)
    return ax


def coefficient_path(path: MinimizerPath, *, top: int = 6, ax: Any = None) -> Any:
    """Draw the coefficients of minimisers against the penalty, or against p.

    Parameters
    ----------
    path : MinimizerPath
        What `pnorm.minimize_path` returned.
    top : int
        How many weak rankers get a colour and a name: those with the largest coefficients anywhere on the path. The
        others are grey.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With the penalty or p on a logarithmic axis, which has a place for a penalty of 0.

    Raises
    ------
    ImportError
        If Matplotlib is missing.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.columns(9, names=data.names)
    >>> ax = pnorm.plotting.coefficient_path(pnorm.minimize_path(data.pos, data.neg, H, 4), top=1)
    >>> ax.get_legend().get_texts()[0].get_text(), ax.get_xlabel()
    ('middle-middle', 'l2')
    """
    if not isinstance(path, MinimizerPath):
        raise TypeError(f"path must be what pnorm.minimize_path returned; got {type(path).__name__}")
    top = _checks.count(top, "top", 1)
    ax = _axes(1, (5.5, 4.0)) if ax is None else ax
    values = getattr(path, path.along)
    order = np.argsort(values)
    largest = np.argsort(-np.abs(path.lam).max(axis=0), kind="stable")
    look = _Look(ax)
    for rank, j in reversed(list(enumerate(largest.tolist()))):  # those with a name on top
        named, size = rank < top, len(look.cycle)
        colour, label = (look.cycle[rank % size], path.names[j]) if named else (look.faint, None)
        how = {"ls": ("-", "--", ":")[rank // size % 3]} if named else {"lw": 0.8}
        ax.plot(values[order], path.lam[order, j], color=colour, label=label, **how)
    ax.axhline(0.0, color=look.ink, lw=0.8)
    if path.along == "p":
        _powers_axis(ax, values)
    else:
        _penalties_axis(ax, values, path.along)
    ax.set_ylabel("coefficient")
    handles, labels = ax.get_legend_handles_labels()
    _legend(ax, handles=handles[::-1], labels=labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return ax


def _powers_axis(ax: Any, powers: Any = None) -> None:
    """Make a logarithmic axis with a tick for each p, by default those of the lines."""
    ticks = sorted({float(p) for line in ax.lines for p in line.get_xdata()} if powers is None else map(float, powers))
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [f"{p:g}" for p in ticks])
    ax.set_xlabel("p")


def _penalties_axis(ax: Any, values: Vector, name: str) -> None:
    """Make a logarithmic axis of penalties, on which zero has a place."""
    if values.min() > 0.0:
        ax.set_xscale("log")
    else:
        ax.set_xscale("symlog", linthresh=float(values[values > 0.0].min(initial=1.0)))
        ax.set_xlim(0.0, None)
    ax.set_xlabel(name)


# Scores -------------------------------------------------------------------------------------------------


def reasons(explanation: Explanation, row: int = 0, *, top: int = 8, ax: Any = None) -> Any:
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
    ax = _axes(1, (6.5, 1.1 + 0.36 * len(bars)), "x") if ax is None else ax
    look, places, write = _Look(ax), np.arange(len(bars)), sheet.same_digits(bars)
    ax.barh(places, bars, left=starts, color=look.signs(bars), height=0.66)
    for k, (end, bar) in enumerate(zip(ends.tolist(), bars.tolist(), strict=True)):
        if k + 1 < len(bars):
            ax.plot([end, end], [k, k + 1], color=look.quiet, lw=0.8, zorder=1)
        up = bar > 0.0
        ax.annotate(write(bar), (end, k), (4 if up else -4, 0), ha="left" if up else "right", va="center", **look.small)
    number = sheet.same_digits([base, score], sign=False)
    inner, outer = min(*starts, *ends), max(*starts, *ends)
    room = 0.16 * (outer - inner) or 1.0  # for the numbers beside the bars
    ax.set_xlim(inner - room, outer + room)
    for at, y, words, below in ((base, -0.5, "mean", False), (score, len(bars) - 0.5, "this row", True)):
        ax.axvline(at, color=look.quiet, ls="--", lw=1.0, zorder=0)
        how: Any = {"ha": "center", "va": "top" if below else "bottom"} | look.small
        ax.annotate(f"{words} {number(at)}", (at, y), (0, -3 if below else 3), **how)
    ax.set_yticks(places, [text.shown(name, 40) for name in names])
    ax.set(ylim=(len(bars) + 0.15, -1.15), xlabel="score")
    ax.tick_params(left=False)
    ax.grid(False, axis="y")
    ax.spines["left"].set_visible(False)
    return ax


def weights(lam: Any, H: Any = None, X: Any = None, *, top: int = 10, ax: Any = None) -> Any:
    """Draw the weak rankers with the largest coefficients.

    Parameters
    ----------
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker. Or a model alone, without H: a fitted `pnorm.sklearn.PNormPush`, or a
        `pnorm.ScoringFunction`.
    H : None, sequence of callables, or Rankers
        The weak rankers. They give the names; None stands for the columns of X.
    X : array_like, shape (N, d), optional
        Rows. A bar is then the coefficient times the range of the weak ranker's outputs on these rows: the largest
        difference that it makes between two scores. Coefficients alone compare only weak rankers on one scale.
    top : int
        The number of bars. The title reports how many weak rankers are in use, if there are more.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With horizontal bars, the largest on top: blue where a larger output raises the score, orange where it lowers
        it.

    Raises
    ------
    ImportError
        If Matplotlib is missing.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.columns(9, names=data.names)
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, p=4)
    >>> ax = pnorm.plotting.weights(lam, H, data.X, top=3)
    >>> ax.get_yticklabels()[0].get_text()
    'middle-middle'
    """
    top = _checks.count(top, "top", 1)
    lam, H = _of_model(lam, H)
    rankers = None if H is None and X is None else as_rankers(H, X, "X")
    lam = _checks.vector(lam, "lam", None if rankers is None else len(rankers), "one coefficient per weak ranker")
    names = [f"h[{j}]" for j in range(lam.size)] if rankers is None else rankers.names
    bars = lam
    if rankers is not None and X is not None:
        with np.errstate(over="ignore"):
            bars = np.array([a * np.ptp(rankers[j](X)) if a else 0.0 for j, a in enumerate(lam)])
    if np.abs(bars).max(initial=0.0) > _checks.ROOT:
        raise ValueError("lam times X is too large to draw; scale either down")
    used = np.flatnonzero(lam)
    first = used[np.argsort(-np.abs(bars[used]), kind="stable")][:top]
    ax = _axes(1, (6.0, 0.8 + 0.34 * max(first.size, 3)), "x") if ax is None else ax
    look, places = _Look(ax), np.arange(first.size)
    ax.barh(places, bars[first], color=look.signs(bars[first]), height=0.7)
    ax.set_yticks(places, [text.shown(names[j], 40) for j in first])
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.axvline(0.0, color=look.ink, lw=0.8)
    ax.set_xlabel("coefficient" if X is None else "coefficient times range of outputs")
    if used.size > first.size:
        ax.set_title(f"the first {first.size} of {used.size} weak rankers in use", fontsize="medium")
    return ax


def _of_model(lam: Any, H: Any) -> tuple[Any, Any]:
    """Return coefficients and weak rankers, of a model if one was passed in the place of both."""
    if H is None and not isinstance(lam, Trace):
        for names in (("lam", "H"), ("lam_", "rankers_")):
            if all(hasattr(lam, name) for name in names):
                return getattr(lam, names[0]), getattr(lam, names[1])
    return lam, H


def shapes(lam: Any, H: Any = None, columns: Any = None, *, top: int = 6, ax: Any = None) -> Any:
    r"""Draw what each column adds to the score, as a function of its value.

    .. math:: f(x) = \sum_c f_c(x_c), \qquad f_c = \sum_{j \text{ reads } c} \lambda_j h_j,

    These curves describe the score completely: it is their sum.

    Parameters
    ----------
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker. Or a model alone, without H: a fitted `pnorm.sklearn.PNormPush`, or a
        `pnorm.ScoringFunction`.
    H : Rankers
        The weak rankers. Cuts, lines, scaled columns and categories have shapes. Functions, and columns as they are,
        have none, because the range of their values is unknown.
    columns : str, or sequence of str, optional
        The columns to draw, by their names in ``H.column_names``; by default those that move a score the most.
    top : int
        The number of columns to draw, if they are not named.
    ax : Axes, or sequence of Axes, optional
        Where to draw, one for each column; None for a figure of its own.

    Returns
    -------
    ndarray of Axes
        One for each column, those that move a score the most first. A curve ends a twentieth of its width beyond its
        first and last cut; it is constant from there on. The dot beside it is the level of missing values. Levels of
        categories are bars: at most 24, those that move a score the most, with a missing value in orange. Dates have an
        axis of dates.

    Raises
    ------
    ValueError, TypeError
        If H is no collection, or no column, or not a named one, has a shape with these coefficients.
    ImportError
        If Matplotlib is missing.

    Notes
    -----
    A shape is defined up to a constant, which changes no order. The shape of cuts is zero below the first one. All axes
    have the same scale.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.thresholds([[0.5, 1.5]] * 9, names=data.names)
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, p=4)
    >>> axes = pnorm.plotting.shapes(lam, H, top=3)
    >>> axes[0].get_xlabel(), axes[0].get_ylabel()
    ('middle-middle', 'part of the score')
    """
    top = _checks.count(top, "top", 1)
    rankers, lam = coefficients(*_of_model(lam, H))
    curves = sorted(map(by_value, shapes_of(lam, rankers)), key=lambda shape: -shape.range)
    found = [shape.name for shape in curves]
    wanted = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
    lost = [name for name in wanted or () if name not in found]
    if lost or not found:
        known = f"; those with one are {text.first(found, 8, repr)}" if found else ""
        what = f"the column {lost[0]!r:.60} has no shape" if lost else "no column has a shape"
        raise ValueError(f"{what} with these coefficients{known}")
    curves = curves[:top] if wanted is None else [shape for shape in curves if shape.name in wanted]
    axes = np.atleast_1d(_axes(len(curves), (3.2 * len(curves), 3.0)) if ax is None else ax).ravel()
    if axes.size != len(curves):
        raise ValueError(f"ax must be {len(curves)} Axes, one for each column; got {axes.size}")
    for each, shape in zip(axes, curves, strict=True):
        _draw_shape(each, shape)
        each.axhline(0.0, color=_Look(each).quiet, lw=0.8, zorder=0)
        each.set_xlabel(shape.name + (" in days" if shape.read_off == "days" else ""))
    axes[0].set_ylabel("part of the score")
    ends = [end for each in axes for end in each.get_ylim()]
    room = 0.04 * (max(ends) - min(ends))
    for each in axes:
        each.set_ylim(min(ends) - room, max(ends) + room)
    return axes


def _draw_shape(ax: Any, shape: Shape) -> None:
    """Draw a curve, with two points at every cut, or a bar for each level."""
    look = _Look(ax)
    if shape.levels:
        names, scores, gone = list(shape.levels), shape.scores.tolist(), [key is None for key in shape._keys]
        if not math.isnan(shape.missing):
            names, scores, gone = [*names, "missing"], [*scores, shape.missing], [*gone, True]
        drawn = np.sort(np.argsort(-np.abs(scores), kind="stable")[:_LEVELS]).tolist()
        ax.bar(range(len(drawn)), [scores[k] for k in drawn], color=[look.kinds[gone[k]] for k in drawn])
        labels = [text.shown(names[k], 18) for k in drawn]
        ax.set_xticks(range(len(drawn)), labels, rotation=45, ha="right", rotation_mode="anchor")
        if len(drawn) < len(names):
            ax.set_title(f"{len(drawn)} of {len(names)} levels", fontsize="medium")
        return
    low, high = shape.pieces
    ends = np.unique([end for end in (*low, *high) if math.isfinite(end)])
    outer = ends[[0, -1]] if ends.size else np.zeros(2)
    room = 0.05 * float(outer[1] - outer[0]) or 0.5
    x = np.r_[outer[0] - room, np.repeat(ends, 2), outer[1] + room]
    ax.plot(x, shape.at(x, np.r_[False, np.tile([False, True], ends.size), False]), color=look.cycle[0])
    if shape.read_off == "trend":
        _date_axis(ax)
    elif shape.read_off == "hours":
        ax.xaxis.set_major_formatter(lambda x, _: shape.text(x) if 0.0 <= x <= 24.0 else "")
    if not math.isnan(shape.missing):
        at = x[0] - 0.08 * (x[-1] - x[0])
        ax.plot([at], [shape.missing], "o", color=look.cycle[1], ms=5)
        ax.annotate("missing", (at, shape.missing), (5, 4), **look.small)


def _date_axis(ax: Any) -> None:
    """Write days since the start of 1970 as dates."""
    from matplotlib import dates

    locator = dates.AutoDateLocator(maxticks=6)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


def _named(given: Any, name: str) -> dict[Any, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping from labels or numbers p; got {type(given).__name__}")
    if not given:
        raise ValueError(f"{name} is empty; at least one is needed")
    return dict(given)


def _label(key: Any) -> str | None:
    """Return a label: "p = ..." for a number, the text for anything else."""
    if key is None or isinstance(key, str):
        return key
    return f"p = {key:.12g}" if isinstance(key, int | float | np.number) else str(key)


def _axes(n: int, size: tuple[float, float], grid: str | None = "y") -> Any:
    """Return axes of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"pnorm.plotting needs Matplotlib. {install('plot')}") from None
    _, axes = pyplot.subplots(1, n, figsize=size, layout="constrained")
    for ax in np.atleast_1d(axes):
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        if grid is not None:
            ax.grid(axis=grid, color=_Look(ax).faint, lw=0.6, alpha=0.45)
    return axes


class _Look:
    """Colours that can be seen on the background of some axes, light or dark."""

    _LIGHT = ("#0072b2", "#d55e00", "#009e73", "#b0578f", "#e69f00", "#6d7684"), ("#0072b2", "#e69f00"), (0.0, 0.74)
    _DARK = ("#56b4e9", "#ff8a50", "#37c79b", "#e3a0c8", "#f0b93a", "#9aa4b0"), ("#56b4e9", "#f0b93a"), (0.48, 1.0)
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
        if len(keys) == 1 or not all(isinstance(key, int | float | np.number) for key in keys):
            return [self.cycle[k % len(self.cycle)] for k in range(len(keys))]
        from matplotlib import colormaps

        return [colormaps["viridis"](share) for share in np.linspace(*self._scale, len(keys))]

    def signs(self, values: Any) -> list[str]:
        """Return blue for values above zero, orange for others."""
        return [self.kinds[0] if value > 0.0 else self.kinds[1] for value in values]


def _luminance(rgb: Any) -> float:
    """Return how light a colour looks, from 0 to 1."""
    return float(np.dot((0.299, 0.587, 0.114), rgb[:3]))


_MANY = 50_000
"""Points of all lines, from which on no best place for a legend is searched."""


def _legend(ax: Any, **how: Any) -> None:
    """Draw a legend on a patch of the background, so that no line runs through its words."""
    few = sum(len(line.get_xdata(orig=False)) for line in ax.lines) <= _MANY
    look = _Look(ax)
    patch = {"frameon": True, "facecolor": look.paper, "edgecolor": "none", "framealpha": 0.85, "labelcolor": look.ink}
    ax.legend(**({"loc": "best" if few else "lower right"} | patch | how))


def _percent(axis: Any) -> None:
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0))


def _thousands(axis: Any) -> None:
    axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1.0 else f"{x:g}")


def _repeated(marks: str) -> Iterable[str]:
    from itertools import cycle

    return cycle(marks)


def __dir__() -> list[str]:
    return __all__
