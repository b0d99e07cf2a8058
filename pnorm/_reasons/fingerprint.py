"""Whether rows are among those that a model was trained on, by their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._checks.text import shown

_MOST, _LEAST = 200, 20
"""Scores that are stored, at most and at least."""

_SHARE = 0.9
"""The share of them among the scores of a file from which on the file counts as containing the training rows."""

_FINE, _FEW = 0.95, 3
"""The share of the rows of a file that have scores of their own from which on a score is as good as a name, and how
many of the stored ones then show that some of the training rows are in the file."""

_NEAR = 2e-8
"""Scores that differ by less are one: the digits after that depend on the processor."""


def of(f: Vector) -> list[float]:
    """Return some scores that one training row each has, in eight decimals; nothing if there are few.

    The rows of another file seldom have all of them. A file that contains the training rows has them, in any order.
    """
    each, counts = np.unique(np.round(f, 8), return_counts=True)
    single = each[counts == 1]
    if single.size < _LEAST:
        return []
    few: list[float] = single[np.unique(np.linspace(0, single.size - 1, _MOST).astype(np.intp))].tolist()
    return [float(f"{x:.8f}") for x in few]


def has_some(stored: Sequence[float], f: Vector) -> bool:
    """Return whether rows with these scores are probably rows of training, given what `of` has returned."""
    if not stored:
        return False
    here, wanted = np.sort(f), np.array(stored)
    known = np.searchsorted(here, wanted - _NEAR) < np.searchsorted(here, wanted + _NEAR)
    return bool(known.mean() >= _SHARE or (_is_fine(here) and known.sum() >= _FEW))


def warnings(metadata: Mapping[str, Any], f: Vector, name: str, trained_on: str) -> list[str]:
    """Return a warning if the rows of a file, with these scores, may be those that the model was trained on."""
    stored = metadata.get("training_scores")
    if isinstance(stored, list) and stored and all(isinstance(x, float) for x in stored):
        if has_some(stored, f):
            return [
                "the file contains rows that the model was trained on, so these results are too good. Measure the list "
                "on other rows"
            ]
        return []
    if name == trained_on:
        return [
            f"the model was trained on rows of a file that is called {shown(name, 40)} too. If they are in this file, "
            "these results are too good"
        ]
    return []


def _is_fine(f: Vector) -> bool:
    """Return whether nearly all of some sorted scores are apart, and hardly one is near a stored one by chance."""
    apart = np.count_nonzero(np.diff(f) > 2.0 * _NEAR)
    expected = _MOST * f.size * 2.0 * _NEAR / max(float(f[-1] - f[0]), _NEAR)
    return bool(apart >= _FINE * f.size and expected < 0.1)
