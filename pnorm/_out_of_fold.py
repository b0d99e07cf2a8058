"""The ranking of held-out rows by the chosen setting, beside a random order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from pnorm._checks import CaseWeights, Vector
from pnorm._cross_validation import shared_rows
from pnorm.metrics import Estimate
from pnorm.metrics._by_name import LARGER, scorer_of_lists

_CHANCE = 0.5
"""The mean of both measures over all orders of the rows."""

_CONFIDENCE = 0.99
"""Of both intervals. It is high because the setting is the best of many, and because there are two measures."""

_ORDERS, _CELLS = (200, 1000), 2**22
"""Least and largest number of random orders, and the number of scores of all of them that is aimed at."""

_AT_ONCE = 2**17
"""Number of scores that are ordered at once."""


class Fold(NamedTuple):
    """The scores of the held-out rows of a fold."""

    pos: Vector
    neg: Vector


@dataclass(frozen=True)
class OutOfFold:
    """Two measures of the ranking of held-out rows by the chosen setting; means over the folds.

    Attributes
    ----------
    auc : Estimate
        The AUC, with its interval.
    partial_auc : Estimate
        The partial AUC down to the first ten negatives of a fold, or the first 1 % of them, standardised.
    """

    auc: Estimate
    partial_auc: Estimate

    @property
    def beats_chance(self) -> bool:
        """Whether one of the intervals lies above 0.5, the value of a random order."""
        return self.auc.low > _CHANCE or self.partial_auc.low > _CHANCE

    def __str__(self) -> str:
        """Return both measures with their intervals."""
        return ", ".join(
            [
                f"{name} {value:.3f} ({100 * value.confidence:g} % interval {value.low:.3f} to {value.high:.3f})"
                for name, value in (("AUC", self.auc), ("partial AUC", self.partial_auc))
            ]
        )


def out_of_fold(folds: Sequence[Fold], n_rows: int, push: str) -> OutOfFold:
    """Measure the scores of held-out rows of folds, of `n_rows` rows in all.

    The standard error is that of random orders of the rows of each fold, times a factor. Folds share training rows, so
    their measures are correlated even if no column is related to the labels: each pair of rows from different folds
    counts twice. The factor is that of Nadeau and Bengio, the root of 1 + F r for F folds and the ratio r of held-out
    rows to training rows. For all rows in 5 folds it is 1.5. The error is too large where the classes are far apart,
    which does not change the verdict.
    """
    sides = [(-fold.neg, -fold.pos) if push == "bottom" else (fold.pos, fold.neg) for fold in folds]
    n_held = sum([pos.size + neg.size for pos, neg in sides])
    orders = int(np.clip(_CELLS // n_held, *_ORDERS))
    rng = np.random.default_rng(0)
    measure = scorer_of_lists([LARGER["auc"], LARGER["partial_auc"]], CaseWeights(None, None, None, None, 0))
    found, by_chance = np.zeros(2), np.zeros((2, orders))
    for pos, neg in sides:
        f, n_pos = np.concatenate([pos, neg]), pos.size
        found += measure(pos[None], neg[None])[:, 0]
        at_once = max(1, _AT_ONCE // f.size)
        for start in range(0, orders, at_once):
            some = rng.permuted(np.tile(f, (min(at_once, orders - start), 1)), axis=1)
            by_chance[:, start : start + at_once] += measure(some[:, :n_pos], some[:, n_pos:])
    n = len(sides)
    wide = float(ndtri(0.5 + 0.5 * _CONFIDENCE)) * shared_rows(n, n_held, n_rows) * by_chance.std(axis=1) / n
    low, high = np.maximum(found / n - wide, 0.0), np.minimum(found / n + wide, 1.0)
    ends = zip((found / n).tolist(), low.tolist(), high.tolist(), strict=True)
    auc, partial_auc = [Estimate(*end, _CONFIDENCE) for end in ends]
    return OutOfFold(auc, partial_auc)
