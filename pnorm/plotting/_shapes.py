"""Curves of the parts of the score, one for each column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Axes, Coefficients, Model, text
from pnorm._reasons.shapes import Shape, Shapes, by_value, coefficients, shapes_of, with_seen
from pnorm.plotting._look import AS_IT_IS, Look, new_axes
from pnorm.plotting._models import of_model
from pnorm.plotting._refits import Refits, extent, extent_of_levels, refits_of
from pnorm.plotting._ticks import apart_axis, date_axis, number_axis
from pnorm.rankers import Rankers

_LEVELS = 24
"""Levels of a column that are drawn, at most."""
_STRIP = 46.0, 32.0, 10.0
"""Points left of a curve for missing values, and how far from the curve the dot and the line that parts them are."""
_MANY = 50
"""Cuts from which on their quantiles stand for those of the rows."""
_FEW = 6
"""Levels, at most, whose names stand aslant below the bars; those of more stand upright."""


def shapes(
    lam: Coefficients | Model | Shapes | Shape,
    H: Rankers | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    top: int = 6,
    others: Sequence[Coefficients | Model | Shapes | Shape] | None = None,
    ax: Axes | Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    r"""Draw what each column adds to the score, as a function of its value.

    The score is a sum over columns::

        f(x) = Σ_c f_c(x_c),    f_c = Σ_{j reads c} λ_j h_j

    These curves describe the score completely: it is their sum.

    Parameters
    ----------
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker. Or a model alone, without H: a fitted `pnorm.sklearn.PNormPush`, or a
        `pnorm.ScoringFunction`. Or the shapes alone, all or one: what `pnorm.shapes` or ``PNormPush.shapes`` returned.
    H : Rankers
        The weak rankers. Cuts, lines, scaled columns and categories have shapes. Functions, and columns as they are,
        have none, because the range of their values is unknown.
    columns : str, or sequence of str, optional
        The columns to draw, by their names in ``H.column_names``; by default those that move a score the most.
    top : int
        The number of columns to draw, if they are not named.
    others : sequence, optional
        Refits on resampled rows, two or more, each in a form of `lam`: coefficients of the same `H`, models, or shapes.
        Their range is drawn as a band (see Notes). None draws no band.
    ax : Axes, or sequence of Axes, optional
        Where to draw, one for each column; None for a figure of its own, with two or three columns of axes.

    Returns
    -------
    ndarray of Axes
        One for each column, those that move a score the most first. For shapes that were computed with rows, a curve
        extends over the quantiles 0.01 to 0.99 of the rows, so that outliers do not set the axis. For an estimator, and
        the shapes that it returns, they are those of its training rows. If all cuts lie outside, it extends over them.
        Without rows, a curve extends over all cuts of its column, those with coefficient zero included, or over the
        quantiles 0.01 to 0.99 of 50 cuts or more. Where values are possible, it goes on for a tenth of its width beyond
        the outer cuts with a coefficient. Levels of categories are bars: at most 24, those that move a score the most.
        An orange dot in a strip of its own, left of the curve, is the score of missing values. Whole numbers have ticks
        at whole numbers, and dates an axis of dates. The band of `others` lies behind a curve, and stands as a line on
        bars and dots.

    Raises
    ------
    ValueError, TypeError
        If H is no collection, or no column, or not a named one, has a shape with these coefficients. If `others` are
        fewer than two refits, or one of them has other columns, or levels in a column of numbers.
    ImportError
        If Matplotlib is missing.

    Notes
    -----
    A shape is defined up to a constant, which changes no order. The shape of cuts is zero below the first one. All axes
    have the same scale.

    The band extends from the lowest to the highest refit at each value. Each refit is first moved by a constant, so
    that its mean over the known values of the rows is that of the curve. The rows are those of the quantiles or shares
    of the shape; without rows, all values of the axis, or all levels, count alike. A column that a refit does not use
    has the same score everywhere, and a refit without a level is left out at that level. If a further refit is drawn in
    the same way, it is inside the band of n refits at a given value with probability (n - 1)/(n + 1) or more, which is
    0.9 for 19 refits.

    The band shows how a curve varies with the training rows at fixed settings. It is no confidence interval of the
    curve of all possible rows: a penalty flattens the curves of all refits alike, and this bias is not in the band. Nor
    is the choice of the settings. The cost is one evaluation of each refit at the ends of all pieces.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.thresholds([[0.5, 1.5]] * 9, names=data.names)
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, p=4)
    >>> axes = pnorm.plotting.shapes(lam, H, top=3)
    >>> axes[0].get_xlabel(), axes[0].get_ylabel()
    ('middle-middle', 'part of the score')

    What `pnorm.shapes` returned is drawn as it is:

    >>> axes = pnorm.plotting.shapes(pnorm.shapes(lam, H), top=3)
    >>> axes[0].get_xlabel()
    'middle-middle'

    A band of refits on resampled rows, with weights that count how often each row is drawn:

    >>> import numpy as np
    >>> rng, refits = np.random.default_rng(0), []
    >>> for _ in range(19):
    ...     drawn = [rng.multinomial(len(X), np.full(len(X), 1 / len(X))) for X in (data.pos, data.neg)]
    ...     refits.append(pnorm.train(data.pos, data.neg, H, p=4, pos_weight=drawn[0], neg_weight=drawn[1])[0])
    >>> axes = pnorm.plotting.shapes(lam, H, top=3, others=refits)
    >>> len(axes[0].collections)
    1
    """
    top = _checks.count(top, "top", 1)
    if isinstance(lam, Shapes | Shape) and H is not None:
        raise TypeError("the shapes are computed already; leave H out")
    drawn = with_seen(_shapes_in(lam, H), None if H is not None else getattr(lam, "_seen", None))
    curves = sorted(map(by_value, drawn), key=lambda shape: -shape.range)
    found = [shape.name for shape in curves]
    wanted = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
    lost = [name for name in wanted or () if name not in found]
    if lost or not found:
        known = f"; those with one are {text.first(found, 8, repr)}" if found else ""
        what = f"the column {lost[0]!r:.60} has no shape" if lost else "no column has a shape"
        raise ValueError(f"{what} with these coefficients{known}")
    curves = curves[:top] if wanted is None else [shape for shape in curves if shape.name in wanted]
    varied: list[Refits] = [[] for _ in curves]
    if others is not None:
        varied = refits_of(others, partial(_shapes_in, H=H), curves, found)
    axes = np.atleast_1d(_grid(curves) if ax is None else ax).ravel()
    if axes.size != len(curves):
        raise ValueError(f"ax must be {len(curves)} Axes, one for each column; got {axes.size}")
    for each, shape, refits in zip(axes, curves, varied, strict=True):
        _draw_shape(each, shape, refits)
        each.axhline(0.0, color=Look(each).quiet, lw=0.8, zorder=0)
        beside = AS_IT_IS | ({"loc": "left"} if shape.read_off == "trend" else {})  # the month stands at the right
        each.set_xlabel(shape.name + (" in days" if shape.read_off == "days" else ""), **beside)
    for each in axes:
        place = each.get_subplotspec()
        if each is axes[0] or (place is not None and place.is_first_col()):
            each.set_ylabel("part of the score")
    _set_heights(axes)
    return axes


def _shapes_in(lam: Any, H: Any) -> list[Shape]:
    """Return shapes that were passed, all or one, or the shapes of coefficients or of a model."""
    if isinstance(lam, Shapes | Shape):
        return [lam] if isinstance(lam, Shape) else list(lam.columns)
    rankers, lam = coefficients(*of_model(lam, H))
    return shapes_of(lam, rankers)


def _set_heights(axes: Any) -> None:
    """Give all axes the same heights."""
    ends = [end for each in axes for end in each.get_ylim()]
    room = 0.04 * (max(ends) - min(ends))
    for each in axes:
        each.set_ylim(min(ends) - room, max(ends) + room)


def _width(ax: Any) -> float:
    """Return the width of axes in points, before a layout of the figure."""
    return 72.0 * float(ax.get_position(original=True).width * ax.figure.get_size_inches()[0])


def _grid(curves: list[Shape]) -> Any:
    """Return axes of a new figure: three side by side, or two if one needs the width for its name, dates or bars."""
    wide = any(len(each.levels or ()) > _FEW or len(each.name) > 24 or each.read_off == "trend" for each in curves)
    across = min(len(curves), 2 if wide or len(curves) == 4 else 3)
    size = 7.2 if across > 1 else 4.5, 0.4 + 2.3 * -(-len(curves) // across)
    return new_axes(len(curves), size, across=across)


def _draw_shape(ax: Any, shape: Shape, refits: Refits) -> None:
    """Draw a curve, with two points at every cut, or a bar for each level, and the range of its refits."""
    look = Look(ax)
    if shape.levels:
        names, scores, gone = list(shape.levels), shape.scores.tolist(), [key is None for key in shape._keys]
        if not math.isnan(shape.missing):
            names, scores, gone = [*names, "missing"], [*scores, shape.missing], [*gone, True]
        drawn = np.sort(np.argsort(-np.abs(scores), kind="stable")[:_LEVELS]).tolist()
        known = [at for at, k in enumerate(drawn) if not gone[k]]
        ax.bar(known, [scores[drawn[at]] for at in known], color=look.cycle[0])
        for at in set(range(len(drawn))).difference(known):
            _draw_missing(ax, at, scores[drawn[at]])
        if refits:
            ax.vlines(
                range(len(drawn)), *(end[drawn] for end in extent_of_levels(shape, refits)), color=look.ink, lw=1.4
            )
        labels = [text.shown(names[k], 18) for k in drawn]
        if len(drawn) > _FEW:
            ax.set_xticks(range(len(drawn)), labels, rotation=90, size="small", **AS_IT_IS)
        else:
            ax.set_xticks(range(len(drawn)), labels, rotation=30, ha="right", rotation_mode="anchor", **AS_IT_IS)
        if len(drawn) < len(names):
            ax.set_title(f"{len(drawn)} of {len(names)} levels", fontsize="medium")
        return
    first, last = shape.pieces
    ends = np.unique([end for end in (*first, *last) if math.isfinite(end)])
    start, stop = _ends(shape, ends)
    ends = ends[(ends > start) & (ends < stop)]
    x = np.r_[start, np.repeat(ends, 2), stop]
    low = high = shape.missing
    if refits:
        *band, low, high = extent(shape, refits, start, stop)
        ax.fill_between(*band, color=look.cycle[0], alpha=0.22, lw=0)
    ax.plot(x, shape.at(x, np.r_[False, np.tile([False, True], ends.size), False]), color=look.cycle[0])
    missing = not math.isnan(shape.missing)
    place = _draw_strip(ax, shape.missing, (low, high), start, stop) if missing else start
    if shape.read_off == "trend":
        date_axis(ax)
    else:
        left, right = ax.get_xlim()
        begin = start if missing else left
        number_axis(ax, shape._is_whole, begin, _width(ax) * (right - begin) / (right - left))
        if shape.read_off == "hours":
            ax.xaxis.set_major_formatter(lambda x, _: shape.text(x) if 0.0 <= x <= 24.0 else "")
    if missing:
        apart_axis(ax, start, place, "missing")


def _draw_strip(ax: Any, missing: float, band: tuple[float, float], start: float, stop: float) -> float:
    """Draw the score of missing values left of a curve, parted from its axis by a line; return its place."""
    look, (whole, *within) = Look(ax), _STRIP
    share = min(whole / _width(ax), 0.4)
    strip = (stop - start) * share / (1.0 - share)
    place, line = (start - strip * points / whole for points in within)
    if band[0] < band[1]:
        ax.vlines(place, *band, color=look.ink, lw=1.4)
    _draw_missing(ax, place, missing)
    ax.axvline(line, color=look.faint, lw=0.8)
    ax.update_datalim([(start - strip, missing)])
    ax.autoscale_view()
    return float(place)


def _ends(shape: Shape, ends: Any) -> tuple[float, float]:
    """Return the ends of a curve: nearly all values, and a tenth of the width beyond the cuts among them.

    The values are quantiles of the rows, and no curve leaves their range. Without rows they are the cuts, and a half
    more of whole numbers; a column without cuts below zero has no values there.
    """
    if shape._quantiles.size:
        least, low, high, most = shape._quantiles[[0, 1, -2, -1]].tolist()
    else:
        every = np.union1d(shape._all_cuts, ends)
        if not every.size:
            return -0.5, 0.5
        few = every if every.size < _MANY else np.quantile(every, [0.01, 0.99])
        low, high = (few[[0, -1]] + np.r_[-0.5, 0.5] * shape._is_whole).tolist()
        least, most = 0.0 if low >= 0.0 else -math.inf, math.inf
    inside = ends[(ends >= low) & (ends <= high)]
    if not inside.size and not (shape.slope and low < high):
        inside = ends
    first, last = inside[[0, -1]].tolist() if inside.size else (low, high)
    room = 0.1 * (max(high, last) - min(low, first)) or 0.5
    start, stop = first - room, last + room
    if first > least:
        start = max(start, least)
    if last < most:
        stop = min(stop, most)
    return min(low, start), max(high, stop)


def _draw_missing(ax: Any, at: float, score: float) -> None:
    ax.plot([at], [score], "o", color=Look(ax).cycle[1], ms=5)
