"""Read the lists that a function draws: one, or several in a mapping from labels or numbers p."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import Scores, text
from pnorm._checks.labelled import sides_of_scores

Lists: TypeAlias = (
    tuple[Scores, Scores]
    | Scores
    | metrics.ScoreTable
    | Mapping[Any, tuple[Scores, Scores] | Scores | metrics.ScoreTable]
)
"""One list: two sides, all scores with y, or a ScoreTable. Or several, by a label or by p."""

_LONGEST = 60
"""Letters of a label."""

ONE_LIST = "a list must be a pair of scores (f_pos, f_neg); several go into a mapping"
"""The beginning of the message for anything else."""


def keyed(given: Any, name: str) -> dict[Any, Any]:
    """Return a mapping as a dict, which is not empty."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping from labels or numbers p; got {type(given).__name__}")
    if not given:
        raise ValueError(f"{name} is empty; at least one is needed")
    return dict(given)


def several_lists(lists: Any, f_neg: Any, y: Any, pos_label: Any) -> dict[Any, Any]:
    """Return what stands for each list: pairs of two sides, or what was passed in their place.

    One list has the key None. With labels y, each list is a vector of the scores of all rows.
    """
    if isinstance(lists, Mapping):
        if f_neg is not None:
            raise ValueError("f_neg is for one list, and lists is a mapping of several; leave f_neg out")
        several = keyed(lists, "lists")
    else:
        several = {None: lists if f_neg is None else (lists, f_neg)}
    if y is None:
        if pos_label is not None:
            raise ValueError("pos_label needs labels: pass the label of every row as y")
        return several
    if f_neg is not None:
        sides_of_scores(lists, f_neg, y=y)  # raises
    return {key: _labelled(found, key, y, pos_label) for key, found in several.items()}


def _labelled(found: Any, key: Any, y: Any, pos_label: Any) -> tuple[Any, Any]:
    """Return the two sides of a list of all scores."""
    if isinstance(found, metrics.ScoreTable | metrics.Roc):
        raise TypeError(f"a {type(found).__name__} holds both sides; leave y and pos_label out")
    if isinstance(found, tuple) and len(found) == 2 and not _is_vector(found):
        raise TypeError("with y, a list is the scores of all rows; got a pair of vectors. Leave y out for two sides")
    if key is None:
        return sides_of_scores(found, None, y=y, pos_label=pos_label)[:2]
    with _checks.located(f"list {key!r}"):
        return sides_of_scores(found, None, y=y, pos_label=pos_label)[:2]


def _is_vector(found: Any) -> bool:
    """Return whether something is one vector of numbers, and not a pair of vectors."""
    if isinstance(found, (list, tuple)):
        return bool(found) and all(isinstance(x, int | float | np.number) for x in found)
    return getattr(found, "ndim", 0) == 1


def label_of(key: Any) -> str | None:
    """Return a label: "p = ..." for a number, the text for anything else."""
    if key is None:
        return None
    label = f"p = {key:.12g}" if isinstance(key, int | float | np.number) else str(key)
    label = label if len(label) <= _LONGEST else text.shown(label, _LONGEST)
    return f" {label}" if label.startswith("_") else label  # legends leave out what begins with an underscore


def pair_of(found: Any, message: str) -> tuple[Any, Any]:
    """Return the two sides of a list, or raise a TypeError with this message."""
    if _is_vector(found):
        raise TypeError(f"{message}. With one vector of scores, pass the labels as well: y=labels")
    return _checks.two(found, message)


def sides_of(found: Any, key: Any) -> tuple[Any, Any]:
    """Return the scores of both sides, or a table and None."""
    if isinstance(found, metrics.ScoreTable):
        return found, None
    if isinstance(found, metrics.Roc):
        raise TypeError(f"{ONE_LIST}. A Roc has no scores: pass the scores that it was made from")
    f_pos, f_neg = pair_of(found, f"{ONE_LIST}; got {type(found).__name__}")
    of = "" if key is None else f" of list {key!r}"
    return _checks.scores(f_pos, f"f_pos{of}"), _checks.scores(f_neg, f"f_neg{of}")
