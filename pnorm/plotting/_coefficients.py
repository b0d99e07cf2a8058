"""Coefficients: the largest of a score, and all against the penalty or p."""

from __future__ import annotations

import numpy as np

from pnorm import _checks
from pnorm._checks import Axes, Coefficients, Model, Rows, text
from pnorm._minimize_path import MinimizerPath
from pnorm.plotting._keys import label_of
from pnorm.plotting._look import AS_IT_IS, BESIDE, Look, legend, new_axes, room_beside
from pnorm.plotting._models import of_model
from pnorm.plotting._ticks import penalties_axis, powers_axis
from pnorm.rankers import WeakRankers, as_rankers


def coefficient_path(path: MinimizerPath, *, top: int = 6, ax: Axes | None = None) -> Axes:
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
    values = getattr(path, path.along)
    order = np.argsort(values)
    largest = np.argsort(-np.abs(path.lam).max(axis=0), kind="stable")
    names = [label_of(text.shown(path.names[j], 40)) for j in largest[:top]]
    ax = new_axes(1, (max(5.5, 4.2 + room_beside(names)), 4.0)) if ax is None else ax
    look = Look(ax)
    for rank, j in reversed(list(enumerate(largest.tolist()))):  # those with a name on top
        named, size = rank < top, len(look.cycle)
        colour, label = (look.cycle[rank % size], names[rank]) if named else (look.faint, None)
        how = {"ls": ("-", "--", ":")[rank // size % 3]} if named else {"lw": 0.8}
        ax.plot(values[order], path.lam[order, j], color=colour, label=label, **how)
    ax.axhline(0.0, color=look.ink, lw=0.8)
    if path.along == "p":
        powers_axis(ax, values)
    else:
        penalties_axis(ax, values, path.along)
    ax.set_ylabel("coefficient")
    handles, labels = ax.get_legend_handles_labels()
    legend(ax, handles=handles[::-1], labels=labels[::-1], **BESIDE)
    return ax


def weights(
    lam: Coefficients | Model,
    H: WeakRankers = None,
    X: Rows | None = None,
    *,
    top: int = 10,
    ax: Axes | None = None,
) -> Axes:
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
    lam, H = of_model(lam, H)
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
    ax = new_axes(1, (6.0, 0.8 + 0.34 * max(first.size, 3)), "x") if ax is None else ax
    look, places = Look(ax), np.arange(first.size)
    ax.barh(places, bars[first], color=look.signs(bars[first]), height=0.7)
    ax.set_yticks(places, [text.shown(names[j], 40) for j in first], **AS_IT_IS)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.axvline(0.0, color=look.ink, lw=0.8)
    ax.set_xlabel("coefficient" if X is None else "coefficient times range of outputs")
    if used.size > first.size:
        ax.set_title(f"the first {first.size} of {used.size} weak rankers in use", fontsize="medium")
    return ax
