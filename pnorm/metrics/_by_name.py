"""Measures of a list by name, for rows with weights and groups."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from pnorm import _checks, metrics
from pnorm._checks import CaseWeights, Vector
from pnorm.metrics._ranked_list import RankedLists

_NEGATIVES, _SHARE = 10, 0.01
"""Default number of negatives at the top for the partial AUC, or share of the negatives if that is more."""

_ALL: tuple[Any, Any] = (slice(None), slice(None))

Measure = Callable[..., float]


def _standardized(f_pos: Any, f_neg: Any, *, pos_weight: Any = None, neg_weight: Any = None) -> float:
    if isinstance(f_pos, RankedLists):
        n_neg = f_pos.n_neg * f_pos.unit
    elif isinstance(f_pos, metrics.ScoreTable):
        n_neg = f_pos.n_neg
    else:
        with np.errstate(over="ignore"):
            n_neg = f_neg.size if neg_weight is None else min(float(neg_weight.sum()), sys.float_info.max)
    return metrics.partial_auc(
        f_pos,
        f_neg,
        max_fp=first_negatives(n_neg),
        standardized=True,
        pos_weight=pos_weight,
        neg_weight=neg_weight,
    )


def first_negatives(n_neg: float) -> float | None:
    """Return the number of negatives that the default partial AUC covers, None for all of them."""
    if n_neg <= (1.0 + 1e-9) * _NEGATIVES:  # a sum of weights in another order may round differently
        return None
    return max(float(_NEGATIVES), _SHARE * n_neg)


def by_chance(name: str, n_pos: int, n_neg: int) -> float:
    """Return the mean of the AUC, the partial AUC or the average precision over all orders of rows without weights."""
    if name != "average_precision":
        return 0.5
    n = n_pos + n_neg
    harmonic = float(digamma(n + 1.0) - digamma(1.0))
    return (harmonic + (n_pos - 1) / (n - 1) * (n - harmonic)) / n


def shared_rows(n_folds: int, n_held: int, n_rows: int) -> float:
    """Return the factor by which standard errors over folds are too small, as folds share training rows.

    It is that of Nadeau and Bengio, the root of 1 + F r for F folds and the ratio r of held-out rows to training rows.
    """
    return math.sqrt(1.0 + n_held / (n_rows - n_held / n_folds)) if n_folds > 1 else 1.0


LARGER: dict[str, Measure] = {
    "partial_auc": _standardized,
    "positives_at_top": metrics.positives_at_top,
    "average_precision": metrics.average_precision,
    "bedroc": metrics.bedroc,
    "discounted_gain_at_top": metrics.discounted_gain_at_top,
    "enrichment_factor": metrics.enrichment_factor,
    "auc": metrics.auc,
}
"""Measures without further arguments for which larger is better."""

SMALLER: dict[str, Measure] = {"r_max": metrics.r_max}
"""Measures without further arguments for which smaller is better."""

COSTS: tuple[Measure, ...] = (*SMALLER.values(), metrics.p_norm_risk)
"""All functions of `pnorm.metrics` for which smaller is better."""

MEASURES = sorted({*LARGER, *SMALLER, "p_norm_risk", "precision_at", "recall_at"})
"""All measures of one list, given as two sides."""


def named(
    metric: Any, names: Mapping[str, Measure], counted: CaseWeights, push: str = "top", argument: str = "metric"
) -> tuple[Measure, str]:
    """Return the measure that a user passes, by name or as a function, and its name.

    A measure given by name is computed at the end of the list where the push is. A function gets the scores unchanged.
    """
    if callable(metric):
        inner, keywords = (metric.func, metric.keywords) if isinstance(metric, partial) else (metric, {})
        name = getattr(inner, "__name__", type(inner).__name__)
        name += "".join(f", {key}={value!r}" for key, value in keywords.items())
        measure = metric
    elif not isinstance(metric, str):
        raise TypeError(f"{argument} must be a name or a function of (f_pos, f_neg); got {type(metric).__name__}")
    elif metric not in names and metric in MEASURES:
        raise ValueError(
            f"{argument} {metric!r} needs further arguments: pass functools.partial(pnorm.metrics.{metric}, ...). The "
            f"names without arguments are {', '.join(map(repr, names))}"
        )
    else:
        name, measure = metric, names[_checks.choice(metric, argument, names)]
    weighted = counted.c_pos is not None or counted.c_neg is not None
    if weighted and not takes(measure, None, None, pos_weight=None, neg_weight=None):
        raise ValueError(
            f"rows have weights, but the {argument} {name} takes no weights. Pass a function of (f_pos, f_neg, "
            "pos_weight, neg_weight)"
        )
    if push == "bottom" and isinstance(metric, str):
        name, measure = f"{name}, read from below", partial(_from_below, measure)
    return measure, name


def _from_below(measure: Measure, f_pos: Any, f_neg: Any, *, pos_weight: Any = None, neg_weight: Any = None) -> float:
    """Return a measure of the reversed list, in which the negatives take the place of the positives."""
    if isinstance(f_pos, RankedLists | metrics.ScoreTable):
        return measure(f_pos.from_below(), None)
    weights = {"pos_weight": neg_weight, "neg_weight": pos_weight}
    return measure(-f_neg, -f_pos, **{side: c for side, c in weights.items() if c is not None})


def takes(function: Callable[..., Any], *args: Any, **keywords: Any) -> bool:
    """Return whether the signature of a function accepts these arguments; true if it has none."""
    try:
        inspect.signature(function).bind(*args, **keywords)
    except TypeError:
        return False
    except ValueError:  # it has no signature
        pass
    return True


def scorer(
    measure: Measure, name: str, counted: CaseWeights, rows: tuple[Any, Any] = _ALL
) -> Callable[[Vector, Vector], float]:
    """Return a function that measures the scores of given rows, with groups the mean over them; nan is possible."""
    of_lists = lists(counted, rows)

    def score(f_pos: Vector, f_neg: Vector) -> float:
        total = 0.0
        for i, k, given in of_lists:
            value = measure(f_pos[i].copy(), f_neg[k].copy(), **given)  # it may sort in place
            total += value if isinstance(value, float) and math.isnan(value) else _checks.real(value, name)
        return total / len(of_lists)

    return score


def one_by_one(
    score: Callable[[Vector, Vector], float], name: str
) -> Callable[[NDArray[np.float64], NDArray[np.float64]], Vector]:
    """Return a function that measures many lists of the same rows, which must be finite."""
    return lambda f_pos, f_neg: np.array([_checks.real(score(*f), name) for f in zip(f_pos, f_neg, strict=True)])


def scorer_of_lists(
    measures: Sequence[Measure], counted: CaseWeights, rows: tuple[Any, Any] = _ALL
) -> Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
    """Return a function that measures many lists of the same rows at once, by measures that have names.

    Scores are (S, I) and (S, K), a row for each list. The result is (M, S), a row for each measure. A list is sorted
    once for all measures.
    """
    of_lists = lists(counted, rows)

    def score(f_pos: NDArray[np.float64], f_neg: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros((len(measures), len(f_pos)))
        for i, k, given in of_lists:
            ranked = RankedLists(f_pos[:, i], f_neg[:, k], given.get("pos_weight"), given.get("neg_weight"))
            total += [measure(ranked, None) for measure in measures]
        return total / len(of_lists)

    return score


def lists(counted: CaseWeights, rows: tuple[Any, Any] = _ALL) -> list[tuple[Any, Any, dict[str, Vector]]]:
    """Return the positives and the negatives of each group among some rows, and their weights by name."""
    weights = [None if c is None else c[own] for c, own in zip((counted.c_pos, counted.c_neg), rows, strict=True)]
    groups = [_ALL]
    if counted.groups is not None:
        groups = list(zip(_by_group(counted.groups.pos[rows[0]]), _by_group(counted.groups.neg[rows[1]]), strict=True))
    found = []
    for places in groups:
        sides = zip(("pos_weight", "neg_weight"), weights, places, strict=True)
        found.append((*places, {side: c[own] for side, c, own in sides if c is not None}))
    return found


def _by_group(codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the rows of each group, in the order of the codes."""
    sizes = np.bincount(codes)
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes[sizes > 0])[:-1])
