"""The scores that a user passes: two sides, or all scores with their labels, which become two sides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pnorm import _checks
from pnorm._split import aligned, positives, refuse_of_sides, refuse_without_labels

BY_LABELS = "If these are labels, pass the scores first and the labels by name: auc(scores, y=labels)"
"""How the functions of two sides take labels, for messages."""


class Sides(NamedTuple):
    """Scores of the positives and of the negatives, with their weights."""

    f_pos: Any
    f_neg: Any
    pos_weight: Any
    neg_weight: Any


def two_sides(
    f_pos: Any,
    f_neg: Any,
    *,
    y: Any = None,
    pos_label: Any = None,
    weight: Any = None,
    pos_weight: Any = None,
    neg_weight: Any = None,
    name: str = "scores",
) -> Sides:
    """Return the scores of both sides, taken apart by their labels y if these are given.

    Without labels, what was passed is returned unchanged. Messages call all scores by `name`.
    """
    if y is None:
        refuse_without_labels({"pos_label": pos_label, "weight": weight})
        if f_neg is None:
            raise TypeError(
                "f_neg is missing; pass the scores of the negatives, or the labels of all scores as y: "
                "auc(scores, y=labels). Where a ScoreTable is accepted, it takes the place of both sides"
            )
        for name, f in (("f_pos", f_pos), ("f_neg", f_neg)):
            _refuse_text(f, name)
        return Sides(f_pos, f_neg, pos_weight, neg_weight)
    if f_neg is not None:
        raise ValueError("f_neg and y are both given; with y, all scores are in the first argument. Leave f_neg out")
    refuse_of_sides({"pos_weight": pos_weight, "neg_weight": neg_weight}, ("weight",))
    if isinstance(y, str):
        raise TypeError(f"y must hold one label for each score; got {_checks.shown(y)}, and scores have no columns")
    _refuse_text(f_pos, name)
    f = _checks.scores(f_pos, name)
    if pos_label is None:
        _refuse_exchanged(f, y)
    positive = positives(f_pos, y, f.size, pos_label)
    aligned(f_pos, weight, "weight")
    c = _checks.weights(weight, "weight", f.size, some=False)
    places = np.flatnonzero(positive), np.flatnonzero(~positive)
    if c is not None:
        for where, kind in zip(places, ("positive", "negative"), strict=True):
            if not c[where].any():
                raise ValueError(f"weight is zero for all {kind} rows; at least one of them needs a positive weight")
    return Sides(*(f[where] for where in places), *(None if c is None else c[where] for where in places))


def _refuse_text(f: Any, name: str) -> None:
    """Refuse words in the place of scores."""
    if isinstance(f, np.ndarray):
        words = f.dtype.kind in "US"
    else:
        words = isinstance(f, (list, tuple)) and len(f) > 0 and isinstance(f[0], str)
    if words:
        what = f"dtype {f.dtype}" if isinstance(f, np.ndarray) else _checks.shown(f[0])
        raise TypeError(f"{name} must hold real numbers; got {what}. {BY_LABELS}")


def _refuse_exchanged(f: Any, y: Any) -> None:
    """Refuse labels and scores in each other's place: scores of 0 and 1 alone, and labels that are fractions."""
    if not (f.min() in (0.0, -1.0) and f.max() == 1.0 and ((f == f.min()) | (f == 1.0)).all()):
        return
    try:
        labels = np.asarray(y)
    except (TypeError, ValueError):
        return
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels != np.rint(labels)).any():
        raise ValueError(
            f"y holds fractions, and the scores are only {f.min():g} and 1; they seem to be exchanged. Pass the scores "
            "first and the labels as y: auc(scores, y=labels)"
        )
