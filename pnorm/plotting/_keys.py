"""Names of what is drawn: mappings from labels or numbers p, and pairs of scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pnorm import _checks, metrics
from pnorm._checks import text

_LONGEST = 60
"""Letters of a label."""


def keyed(given: Any, name: str) -> dict[Any, Any]:
    """Return a mapping as a dict, which is not empty."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping from labels or numbers p; got {type(given).__name__}")
    if not given:
        raise ValueError(f"{name} is empty; at least one is needed")
    return dict(given)


def label_of(key: Any) -> str | None:
    """Return a label: "p = ..." for a number, the text for anything else."""
    if key is None:
        return None
    label = f"p = {key:.12g}" if isinstance(key, int | float | np.number) else str(key)
    return label if len(label) <= _LONGEST else text.shown(label, _LONGEST)


def sides_of(found: Any, key: Any) -> tuple[Any, Any]:
    """Return the scores of both sides, or a table and None."""
    if isinstance(found, metrics.ScoreTable):
        return found, None
    f_pos, f_neg = _checks.two(found, "a list must be a pair of scores (f_pos, f_neg); several go into a mapping")
    of = "" if key is None else f" of list {key!r}"
    return _checks.scores(f_pos, f"f_pos{of}"), _checks.scores(f_neg, f"f_neg{of}")
