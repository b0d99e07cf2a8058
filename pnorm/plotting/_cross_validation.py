"""A measure on held-out rows against rounds or penalties."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm._checks import Axes, Model
from pnorm._cross_validation import CrossValidation
from pnorm.plotting._keys import label_of
from pnorm.plotting._look import AS_IT_IS, Look, legend, new_axes
from pnorm.plotting._ticks import penalties_axis, rounds_axis


def cross_validation(found: CrossValidation | Model, *, ax: Axes | None = None) -> Axes:
    """Draw a measure on held-out rows against rounds, or falling penalties, a curve for each p.

    Parameters
    ----------
    found : CrossValidation
        What `pnorm.cross_validate` returned. Or a fitted `pnorm.sklearn.PNormPush` that chose by cross-validation.
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
    if getattr(found, "cross_validation_", ...) is None:
        raise ValueError("found is a model that chose nothing by cross-validation; its cross_validation_ is None")
    given, found = found, getattr(found, "cross_validation_", found)
    if not isinstance(found, CrossValidation):
        raise TypeError(f"found must be what pnorm.cross_validate returned; got {type(given).__name__}")
    ax = new_axes(1, (5.0, 4.0)) if ax is None else ax
    mean, error = found.mean, found.standard_error
    along = found._order
    several = len(found._changing) > 1
    stages: Any = np.argsort(along, axis=1) + 1 if several else found._changing[found.along]
    order = np.argsort(found.p, kind="stable")
    look = Look(ax)
    for i, colour in zip(order, look.of_series(range(order.size)), strict=True):
        label = label_of(float(found.p[i])) if not found.kinds else f"{found.kinds[i]}, p = {found.p[i]:g}"
        x, y, half = (values[i, along[i]] for values in (stages, mean, error))
        ax.plot(x, y, color=colour, label=label)
        if np.isfinite(half).all():
            ax.fill_between(x, y - half, y + half, color=colour, alpha=0.13, lw=0)
    for (i, s), marker, what in ((found._best_place, "o", "best"), (found._simplest_place, "s", "simplest")):
        ax.plot([stages[i, s]], mean[i, s], marker, mfc="none", mec=look.ink, mew=1.4, ms=9, label=what)
    ax.set_ylabel(f"{found.metric} on held-out rows", **AS_IT_IS)
    if several:
        ax.set(xlabel="penalties, from the largest", xlim=(1, stages.shape[1]), xticks=range(1, stages.shape[1] + 1))
    elif found.rounds is None:
        penalties_axis(ax, stages, found.along)
        ax.set_xlim(stages.max(), stages.min())  # rounds grow as l2 falls
    else:
        rounds_axis(ax, found.rounds[0])
    peaks = mean.max(axis=1)
    below = 3.0 * float(np.ptp(peaks)) + 4.0 * float(np.nan_to_num(error).max(axis=1).min())
    if below > 0.0:
        ax.set_ylim(max(float(peaks.min()) - below, ax.get_ylim()[0]), None)
    legend(ax)
    return ax
