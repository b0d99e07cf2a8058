"""Curves of the parts of the score, one for each column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Axes, Coefficients, Model, text
from pnorm._reasons.shapes import Shape, Shapes, by_value, coefficients, shapes_of
from pnorm.plotting._look import Look, new_axes
from pnorm.plotting._models import of_model
from pnorm.plotting._ticks import date_axis
from pnorm.rankers import Rankers

_LEVELS = 24
"""Levels of a column that are drawn, at most."""
_FEW = 6
"""Levels, at most, whose names stand aslant below the bars; those of more stand upright."""


def shapes(
    lam: Coefficients | Model | Shapes | Shape,
    H: Rankers | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    top: int = 6,
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
    ax : Axes, or sequence of Axes, optional
        Where to draw, one for each column; None for a figure of its own, with two or three columns of axes.

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

    What `pnorm.shapes` returned is drawn as it is:

    >>> axes = pnorm.plotting.shapes(pnorm.shapes(lam, H), top=3)
    >>> axes[0].get_xlabel()
    'middle-middle'
    """
    top = _checks.count(top, "top", 1)
    if isinstance(lam, Shapes | Shape):
        if H is not None:
            raise TypeError("the shapes are computed already; leave H out")
        drawn = [lam] if isinstance(lam, Shape) else list(lam.columns)
    else:
        rankers, lam = coefficients(*of_model(lam, H))
        drawn = shapes_of(lam, rankers)
    curves = sorted(map(by_value, drawn), key=lambda shape: -shape.range)
    found = [shape.name for shape in curves]
    wanted = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
    lost = [name for name in wanted or () if name not in found]
    if lost or not found:
        known = f"; those with one are {text.first(found, 8, repr)}" if found else ""
        what = f"the column {lost[0]!r:.60} has no shape" if lost else "no column has a shape"
        raise ValueError(f"{what} with these coefficients{known}")
    curves = curves[:top] if wanted is None else [shape for shape in curves if shape.name in wanted]
    axes = np.atleast_1d(_grid(curves) if ax is None else ax).ravel()
    if axes.size != len(curves):
        raise ValueError(f"ax must be {len(curves)} Axes, one for each column; got {axes.size}")
    for each, shape in zip(axes, curves, strict=True):
        _draw_shape(each, shape)
        each.axhline(0.0, color=Look(each).quiet, lw=0.8, zorder=0)
        beside = {"loc": "left"} if shape.read_off == "trend" else {}  # the month stands at the right
        each.set_xlabel(shape.name + (" in days" if shape.read_off == "days" else ""), **beside)
    axes[0].set_ylabel("part of the score")
    if ax is None:
        for each in axes[1:]:
            if each.get_subplotspec().is_first_col():
                each.set_ylabel("part of the score")
    ends = [end for each in axes for end in each.get_ylim()]
    room = 0.04 * (max(ends) - min(ends))
    for each in axes:
        each.set_ylim(min(ends) - room, max(ends) + room)
    return axes


def _grid(curves: list[Shape]) -> Any:
    """Return axes of a new figure: three side by side, or two if one needs the width for its name, dates or bars."""
    wide = any(len(each.levels or ()) > _FEW or len(each.name) > 24 or each.read_off == "trend" for each in curves)
    across = min(len(curves), 2 if wide or len(curves) == 4 else 3)
    size = 7.2 if across > 1 else 4.5, 0.4 + 2.3 * -(-len(curves) // across)
    return new_axes(len(curves), size, across=across)


def _draw_shape(ax: Any, shape: Shape) -> None:
    """Draw a curve, with two points at every cut, or a bar for each level."""
    look = Look(ax)
    if shape.levels:
        names, scores, gone = list(shape.levels), shape.scores.tolist(), [key is None for key in shape._keys]
        if not math.isnan(shape.missing):
            names, scores, gone = [*names, "missing"], [*scores, shape.missing], [*gone, True]
        drawn = np.sort(np.argsort(-np.abs(scores), kind="stable")[:_LEVELS]).tolist()
        ax.bar(range(len(drawn)), [scores[k] for k in drawn], color=[look.kinds[gone[k]] for k in drawn])
        labels = [text.shown(names[k], 18) for k in drawn]
        if len(drawn) > _FEW:
            ax.set_xticks(range(len(drawn)), labels, rotation=90, size="small")
        else:
            ax.set_xticks(range(len(drawn)), labels, rotation=30, ha="right", rotation_mode="anchor")
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
        date_axis(ax)
    elif shape.read_off == "hours":
        ax.xaxis.set_major_formatter(lambda x, _: shape.text(x) if 0.0 <= x <= 24.0 else "")
    if not math.isnan(shape.missing):
        at = x[0] - 0.08 * (x[-1] - x[0])
        ax.plot([at], [shape.missing], "o", color=look.cycle[1], ms=5)
        ax.annotate("missing", (at, shape.missing), (5, 4), **look.small)
