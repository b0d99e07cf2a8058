"""Pictures of ranked lists and of training; needs Matplotlib, the extra ``plot``.

Each function draws on ``ax``, or on a figure of its own, and returns the axes: titles, limits and files are
yours. Colours can be told apart by the colour-blind: an ordered scale from dark to light where lists have an
order, as for growing p, and blue for positives and orange for negatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import Vector, text
from pnorm._checks.text import install
from pnorm._cross_validation import CrossValidation
from pnorm._minimize_path import MinimizerPath
from pnorm._reasons.shapes import Shape, by_value, coefficients, shapes_of
from pnorm._trace import Trace
from pnorm.rankers import Rankers, as_rankers

__all__ = ["coefficient_path", "cross_validation", "push_path", "ranked_list", "roc", "shapes", "trace", "weights"]

# Okabe and Ito's colours.
_BLUE, _ORANGE = "#0072b2", "#e69f00"
_KINDS = (("positive", _BLUE, 0.74), ("negative", _ORANGE, 0.44))
_CYCLE = (_BLUE, _ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#d55e00")

_LEVELS = 24
"""Levels of a column that are drawn, at most."""


def roc(lists: Mapping[Any, Any], *, ax: Any = None) -> Any:
    """Draw ROC curves in counts: the leftmost part, up to where the first crossing is, and the full curves.

    Parameters
    ----------
    lists : mapping
        From a label, or a number p, to the list: a pair of scores ``(f_pos, f_neg)``, or what
        `pnorm.metrics.roc_counts` returns for them (a `Roc`; any other pair is taken for scores).
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
        If there is no list, or one is neither a pair of scores nor a `Roc`.
    ImportError
        If Matplotlib is missing.

    Notes
    -----
    The leftmost part ends somewhat beyond the first crossing of the first list with the last, which is marked,
    whichever of them is ahead before it. Where they never cross, or do not rank as many rows, it ends after a tenth
    of the negatives. It shows a twentieth of them at least.

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
    """
    curves = [(_label(key), _roc(found, key)) for key, found in _named(lists, "lists").items()]
    axes = np.atleast_1d(_axes(2, (9.0, 4.0)) if ax is None else ax)
    if axes.shape not in ((1,), (2,)) or not all(hasattr(each, "plot") for each in axes):
        raise ValueError(f"ax must be one Axes or a pair of them; got {ax!r}")
    for each in axes:
        for (label, (false, true)), colour in zip(curves, _shades(len(curves)), strict=True):
            each.plot(false, true, color=colour, lw=1.4, label=label)
        each.set(xlabel="false positives", ylabel="true positives")
    axes[-1].legend(loc="lower right", frameon=False)
    if axes.size == 2:
        _enlarge(axes[0], curves)
        return axes
    return axes[0]


def _roc(found: Any, key: Any) -> metrics.Roc:
    if isinstance(found, metrics.Roc):
        return found
    return metrics.roc_counts(*_checks.two(found, f"list {key!r} must be a pair of scores (f_pos, f_neg), or a Roc"))


def _enlarge(ax: Any, named: list[tuple[str | None, metrics.Roc]]) -> None:
    """Limit the axes to the part before the first crossing, and a little more."""
    curves = [curve for _, curve in named]
    first, last = curves[0], curves[-1]
    alike = all(a[-1] == b[-1] for a, b in zip(first, last, strict=True))
    met = metrics.crossing(first, last) if alike else None
    negatives = float(first.false_positives[-1])
    end = 0.1 * negatives if met is None else max(0.05 * negatives, 1.5 * met.false_positives)
    end = min(max(3.0, np.floor(end)) + 0.5, negatives)  # beside the steps, which are at whole numbers
    low = min(float(true[false == 0.0].max()) for false, true in curves)
    high = max(float(np.interp(end, false, true)) for false, true in curves)
    room = 0.06 * max(high - low, 1.0)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(xlim=(-0.02 * end, end), ylim=(max(low - 4.0 * room, -room), high + room))
    if met is not None:
        label = f"first crossing of {named[0][0]} and {named[-1][0]}"
        ax.plot(*met, "o", mfc="none", mec="black", ms=9, label=label)
        ax.legend(handles=ax.lines[-1:], loc="lower right", frameon=False)


def push_path(values: Mapping[float, Any], *, label: str | None = None, ax: Any = None) -> Any:
    """Draw a measure against p, with its spread over splits: mean, middle half and middle nine tenths.

    Parameters
    ----------
    values : mapping
        From p to the values of the measure, one per split (or one number).
    label : str, optional
        For the legend. Call again with the same `ax` for another measure, or for training beside testing.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With p on a logarithmic axis.

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
    """
    found = {_checks.positive(p, "p"): of for p, of in _named(values, "values").items()}
    powers = sorted(found)
    spread = [_checks.vector(np.atleast_1d(found[p]), f"values at p = {p:g}", None, "one per split") for p in powers]
    if not all(of.size for of in spread):
        raise ValueError("values must hold one number at least for every p")
    if max(np.abs(of).max() for of in spread) > _checks.ROOT:
        raise ValueError("values are too large to draw; scale them down")
    ax = _axes(1, (5.0, 4.0)) if ax is None else ax
    colour = _CYCLE[len(ax.lines) % len(_CYCLE)]
    ax.plot(powers, [of.mean() for of in spread], color=colour, marker="o", ms=4.5, lw=1.4, label=label)
    for outer, alpha in ((0.05, 0.13), (0.25, 0.2)):
        low, high = (np.array([np.quantile(of, q) for of in spread]) for q in (outer, 1.0 - outer))
        ax.fill_between(powers, low, high, color=colour, alpha=alpha, lw=0)
    _powers_axis(ax)
    if label is not None:
        ax.legend(frameon=False)
    return ax


def trace(runs: Trace | Mapping[Any, Trace], *, floor: float | None = None, ax: Any = None) -> Any:
    """Draw how far the objective came down, round by round.

    Parameters
    ----------
    runs : Trace, or mapping from a label (or p) to Trace
        What `pnorm.train` or `pnorm.minimize` returned.
    floor : float, optional
        The infimum, ``trace.objective[-1]`` of a run of `pnorm.minimize`: what is drawn is then how far the
        objective is above it, on a logarithmic axis and as long as that is more than rounding.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With rounds on a logarithmic axis, on which 0 has a place, too.

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
    for (key, run), colour in zip(several.items(), _shades(len(several)), strict=True):
        value = run.objective - (run.objective[0] if base is None else base)
        rounds = np.arange(run.n_iter + 1)
        shown = np.ones(rounds.size, bool) if base is None else value > 1e-14 * abs(run.objective[-1])
        marker = "o" if run.n_iter < 30 else None
        ax.plot(rounds[shown], value[shown], color=colour, lw=1.4, marker=marker, ms=3.5, label=_label(key))
    ax.set_xscale("symlog", linthresh=1.0)
    if base is not None:
        ax.set_yscale("log")
    what = f"change of {symbol}" if base is None else f"{symbol} above the floor"
    ax.set(xlabel="rounds", xlim=(0, None), ylabel=f"{what} (nats)")
    if len(several) > 1:
        ax.legend(frameon=False)
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
        Means over the folds, with a band of one standard error on either side, and rounds on a logarithmic axis on
        which 0 has a place, too; or penalties, the largest on the left. Where both penalties change, their places on
        the path are in the place of their values. With several kinds of weak rankers, a curve for
        each kind and p. A circle is at the best, a square at the simplest within one standard error of it. What is far
        below every p at its best is out of the picture.

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
    for i, colour in zip(order, _shades(order.size), strict=True):
        label = _label(float(found.p[i])) if not found.kinds else f"{found.kinds[i]}, p = {found.p[i]:g}"
        x, y, half = (values[i, along[i]] for values in (stages, mean, error))
        ax.plot(x, y, color=colour, lw=1.4, label=label)
        if np.isfinite(half).all():
            ax.fill_between(x, y - half, y + half, color=colour, alpha=0.13, lw=0)
    for (i, s), marker, what in ((found._best_place, "o", "best"), (found._simplest_place, "s", "simplest")):
        ax.plot([stages[i, s]], mean[i, s], marker, mfc="none", mec="black", ms=8, label=what)
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
    ax.legend(loc="lower right", frameon=False)
    return ax


def coefficient_path(path: MinimizerPath, *, top: int = 6, ax: Any = None) -> Any:
    """Draw the coefficients of minimisers against the penalty, or against p.

    Parameters
    ----------
    path : MinimizerPath
        What `pnorm.minimize_path` returned.
    top : int
        How many weak rankers get a colour and a name, those with the largest coefficients anywhere on the path; the
        others are grey.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With the penalty or p on a logarithmic axis, on which a penalty of 0 has a place, too.

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
    for rank, j in reversed(list(enumerate(largest.tolist()))):  # those with a name on top
        named = rank < top
        colour, label = (_CYCLE[rank % len(_CYCLE)], path.names[j]) if named else ("0.8", None)
        dashes = ("-", "--", ":")[rank // len(_CYCLE) % 3] if named else "-"
        ax.plot(values[order], path.lam[order, j], dashes, color=colour, lw=1.4 if named else 0.8, label=label)
    ax.axhline(0.0, color="black", lw=0.7)
    if path.along == "p":
        _powers_axis(ax, values)
    else:
        _penalties_axis(ax, values, path.along)
    ax.set_ylabel("coefficient")
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
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


def weights(lam: Any, H: Any = None, X: Any = None, *, top: int = 10, ax: Any = None) -> Any:
    """Draw which weak rankers carry the list.

    Parameters
    ----------
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    H : None, sequence of callables, or Rankers
        The weak rankers. They give the names; None stands for the columns of X.
    X : array_like, shape (N, d), optional
        Rows: bars are then coefficients times the range of each weak ranker's outputs on these rows, by how
        much it can move a score. Coefficients alone compare only weak rankers on one scale.
    top : int
        The number of bars; the rest is counted in the title.
    ax : Axes, optional
        Where to draw; None for a figure of its own.

    Returns
    -------
    Axes
        With horizontal bars, the largest on top; blue where a larger output speaks for a row, orange where it
        speaks against it.

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
    ax = _axes(1, (6.0, 0.6 + 0.32 * max(first.size, 3))) if ax is None else ax
    places = np.arange(first.size)
    ax.barh(places, bars[first], color=np.where(bars[first] > 0.0, _BLUE, _ORANGE), height=0.7)
    ax.set_yticks(places, [names[j] for j in first])
    ax.invert_yaxis()
    ax.axvline(0.0, color="black", lw=0.7)
    ax.set_xlabel("coefficient" if X is None else "coefficient times range of outputs")
    if used.size > first.size:
        ax.set_title(f"the first {first.size} of {used.size} weak rankers in use", fontsize="medium")
    return ax


def shapes(lam: Any, H: Rankers, columns: Any = None, *, top: int = 6, ax: Any = None) -> Any:
    r"""Draw what each column adds to the score, as a function of its value.

    .. math:: f(x) = \sum_c f_c(x_c), \qquad f_c = \sum_{j \text{ reads } c} \lambda_j h_j,

    which is all that there is to know of an additive score.

    Parameters
    ----------
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.
    H : Rankers
        The weak rankers. Cuts, lines, scaled columns and categories have shapes; functions, and columns as they are,
        have none, as nothing says over which values to draw them.
    columns : str, or sequence of str, optional
        The columns to draw, by their names in ``H.column_names``; by default those that move a score the most.
    top : int
        The number of columns to draw, if they are not named.
    ax : Axes, or sequence of Axes, optional
        Where to draw, one for each column; None for a figure of its own.

    Returns
    -------
    ndarray of Axes
        One for each column, those that move a score the most first. A curve is cut off a twentieth beyond its first
        and last cut, where it is constant. The dot beside it is the level of missing values. Levels of categories are
        bars, at most 24, those that move a score the most; orange is a missing value. Dates have an axis of dates.

    Raises
    ------
    ValueError, TypeError
        If H is no collection, or no column, or not a named one, has a shape with these coefficients.
    ImportError
        If Matplotlib is missing.

    Notes
    -----
    Shapes are drawn but for a constant, which changes no order: that of cuts is zero below the first one. All axes have
    the same scale.

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
    rankers, lam = coefficients(lam, H)
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
        each.axhline(0.0, color="black", lw=0.7, zorder=0)
        each.set_xlabel(shape.name + (" in days" if shape.read_off == "days" else ""))
    axes[0].set_ylabel("part of the score")
    ends = [end for each in axes for end in each.get_ylim()]
    room = 0.04 * (max(ends) - min(ends))
    for each in axes:
        each.set_ylim(min(ends) - room, max(ends) + room)
    return axes


def _draw_shape(ax: Any, shape: Shape) -> None:
    """Draw a curve, with two points at every cut, or a bar for each level."""
    if shape.levels:
        names, scores, gone = list(shape.levels), shape.scores.tolist(), [key is None for key in shape._keys]
        if not math.isnan(shape.missing):
            names, scores, gone = [*names, "missing"], [*scores, shape.missing], [*gone, True]
        drawn = np.sort(np.argsort(-np.abs(scores), kind="stable")[:_LEVELS]).tolist()
        ax.bar(range(len(drawn)), [scores[k] for k in drawn], color=[_ORANGE if gone[k] else _BLUE for k in drawn])
        labels = [text.shown(names[k], 18) for k in drawn]
        ax.set_xticks(range(len(drawn)), labels, rotation=45, ha="right", rotation_mode="anchor")
        if len(drawn) < len(names):
            ax.set_title(f"{len(drawn)} of {len(names)} levels", fontsize="small")
        return
    low, high = shape.pieces
    ends = np.unique([end for end in (*low, *high) if math.isfinite(end)])
    outer = ends[[0, -1]] if ends.size else np.zeros(2)
    room = 0.05 * float(outer[1] - outer[0]) or 0.5
    x = np.r_[outer[0] - room, np.repeat(ends, 2), outer[1] + room]
    ax.plot(x, shape.at(x, np.r_[False, np.tile([False, True], ends.size), False]), color=_BLUE, lw=1.6)
    if shape.read_off == "trend":
        _date_axis(ax)
    elif shape.read_off == "hours":
        ax.xaxis.set_major_formatter(lambda x, _: shape.text(x) if 0.0 <= x <= 24.0 else "")
    if not math.isnan(shape.missing):
        at = x[0] - 0.08 * (x[-1] - x[0])
        ax.plot([at], [shape.missing], "o", color=_ORANGE, ms=5)
        ax.annotate("missing", (at, shape.missing), (5, 4), textcoords="offset points", fontsize="x-small")


def _date_axis(ax: Any) -> None:
    """Write days since the start of 1970 as dates."""
    from matplotlib import dates

    locator = dates.AutoDateLocator(maxticks=6)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


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
        Ranks from left to right, one strip per list. Where rows tie, negatives are drawn before positives.

    Raises
    ------
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
        f_pos, f_neg = _checks.two(pair, "a list must be a pair of scores (f_pos, f_neg); several go into a mapping")
        of = "" if key is None else f" of list {key!r}"
        pos, neg = _checks.scores(f_pos, f"f_pos{of}"), _checks.scores(f_neg, f"f_neg{of}")
        strips.append((_label(key), _best_first(pos, neg)))
    shown = min(_checks.count(top, "top", 1), max(found.size for _, found in strips))
    ax = _axes(1, (9.0, 0.75 + 0.4 * len(strips))) if ax is None else ax
    width = 0.86 if shown <= 120 else 1.0  # gaps between many bars would look like data
    for place, (_, found) in enumerate(strips):
        ranks = np.arange(1, min(shown, found.size) + 1)
        for positive, (_, colour, height) in zip((True, False), _KINDS, strict=True):
            at = ranks[found[: ranks.size] == positive]
            ax.bar(at, height, bottom=place - height / 2, width=width, color=colour, snap=False)
    ax.set_yticks(range(len(strips)), [label or "" for label, _ in strips])
    ax.tick_params(left=False)
    ax.spines["left"].set_visible(False)
    ax.set(xlim=(0.5, shown + 0.5), ylim=(len(strips) - 0.5, -0.5), xlabel="rank")
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour, _ in _KINDS]
    ax.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, borderaxespad=0.1)
    return ax


def _best_first(pos: Vector, neg: Vector) -> Any:
    """Return which rows of a list are positive, best first; positives come after negatives of the same score."""
    positive = np.repeat([False, True], [neg.size, pos.size])
    return positive[np.argsort(-np.concatenate([neg, pos]), kind="stable")]


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


def _shades(n: int) -> list[Any]:
    """Return colours from dark to light; blue if there is only one."""
    if n == 1:
        return [_BLUE]
    from matplotlib import colormaps

    return [colormaps["viridis"](share) for share in np.linspace(0.0, 0.88, n)]


def _axes(n: int, size: tuple[float, float]) -> Any:
    """Return axes of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"pnorm.plotting needs Matplotlib. {install('plot')}") from None
    _, axes = pyplot.subplots(1, n, figsize=size, layout="constrained")
    for ax in np.atleast_1d(axes):
        ax.spines[["top", "right"]].set_visible(False)
    return axes
