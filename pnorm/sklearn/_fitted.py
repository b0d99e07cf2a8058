"""Results of a fit: thresholds, labels, and what is computed from the training rows on request."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from pnorm._categories import warn
from pnorm._checks import Vector
from pnorm._cutoff import Cutoff
from pnorm._reasons.explain import each_part
from pnorm._reasons.leaves import of_tables, places_of
from pnorm._score import sigmoid
from pnorm._trace import RANK_BY, Trace
from pnorm.diagnostics._certificate import Certificate, _certificate_of_model
from pnorm.rankers import Rankers
from pnorm.sklearn._rows import LabelledRows


def labels_of(f: Vector, classes: NDArray[Any], threshold: float, cut: Cutoff | None) -> NDArray[Any]:
    """Return the labels of rows by their scores."""
    above: NDArray[np.bool_] = f - threshold > 0.0 if cut is None else cut.takes(f)
    return np.asarray(classes[above.astype(np.intp)])


def balanced_threshold(f: Vector, positive: NDArray[np.bool_], weight: Vector | None) -> float:
    """Return the threshold, half-way between two scores, with the largest balanced accuracy."""
    c = np.ones(f.size) if weight is None else weight
    levels, at = np.unique(f, return_inverse=True)
    if levels.size == 1:
        return float(levels[0])
    below = [np.cumsum(np.bincount(at, c * side, levels.size))[:-1] / c[side].sum() for side in (positive, ~positive)]
    merit = below[1] - below[0]  # negatives that are below a cut, less positives that are
    k = int(np.flatnonzero(merit >= merit.max() - 1e-12)[-1])
    low, high = float(levels[k]), float(levels[k + 1])
    middle = 0.5 * low + 0.5 * high
    return middle if middle < high else low


def separated(f: Vector, positive: NDArray[np.bool_], group: NDArray[np.intp] | None) -> bool:
    """Return whether every positive scores above every negative of its group."""
    group = np.zeros(f.size, np.intp) if group is None else group
    lowest, highest = np.full((2, group.max() + 1), np.inf)
    np.minimum.at(lowest, group[positive], f[positive])
    np.minimum.at(highest, group[~positive], -f[~positive])
    return bool((lowest > -highest).all())


def both_classes(f: Vector, p: float, slope: float) -> NDArray[np.float64]:
    """Return the probabilities of both classes from scores less those of probability 1/2."""
    return np.column_stack([sigmoid(side, p, 0.0, slope) for side in (-f, f)])


class Later:
    """A result that is computed on request from rows that stay out of pickles, or with `keeps` before one is made."""

    def __init__(self, compute: Callable[[], Any] | None, found: Any = None, keeps: bool = False) -> None:
        self._compute, self._found, self._asking, self._keeps = compute, found, Lock(), keeps

    def get(self, what: str) -> Any:
        with self._asking:  # of many threads, one computes it
            if self._found is None:
                if self._compute is None:
                    verb = "need" if what.endswith("s") else "needs"
                    raise AttributeError(f"{what} {verb} the training rows, which a pickle does not contain; fit again")
                self._found, self._compute = self._compute(), None  # the rows can go
            return self._found

    def __getstate__(self) -> dict[str, Any]:
        if self._keeps and self._compute is not None:
            with contextlib.suppress(AttributeError, OverflowError):  # there is none
                self.get("a pickle")
        return {"found": self._found}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(None, state.get("found"))  # type: ignore[misc]


def warn_of_end(trace: Trace) -> None:
    """Warn where the minimum is not proved, or there is none."""
    if trace.status == "max_iter" or (trace.direction is not None and trace.gap < np.inf):
        hint = "; l2 above 0 gives a minimiser" if trace.direction is not None else ""
        why = trace.message.partition(RANK_BY)[0]  # the model ranks rows so already
        warn(f"{why}{hint}", ConvergenceWarning)


def not_here() -> Certificate:
    raise AttributeError(
        "no certificate_ of rows in partitions: trace_.gap bounds the distance of the objective from its minimum"
    )


def no_certificate() -> Certificate:
    raise AttributeError("there is a certificate for loss='exponential' only")


def ranges_of(X: Any, H: Rankers, lam: Vector, n_features: int, n_threads: int) -> Vector:
    """Return the range of what each column of rows adds to scores."""
    tables = of_tables(H)
    places = [
        tables[c].table._parts[tables[c].place][0].column if c in tables else place  # type: ignore[union-attr]
        for c, place in enumerate(places_of(X, H))
    ]
    if any(place is None for place in places):
        raise AttributeError("feature_importances_ is for weak rankers that read single columns; look at lam_")
    sums: dict[Any, Vector] = {}
    for c, part, _ in each_part(X, H, lam, n_threads):
        sums[places[c]] = sums[places[c]] + part if places[c] in sums else part
    ranges = np.zeros(n_features)
    for place, part in sums.items():
        ranges[place] = np.ptp(part)
    return ranges


def certificate(
    rows: LabelledRows,
    H: Rankers,
    p: float,
    lam: Vector,
    push: str,
    group_weight: str,
    max_columns: int | None,
    **added: Any,
) -> Certificate:
    about = rows.about()
    of_rows = [about.get(f"{side}_{what}") for what in ("weight", "group") for side in ("pos", "neg")]
    pos, neg = rows.sides()
    how: dict[str, Any] = {"few": max_columns is not None, "push": push, "group_weight": group_weight, **added}
    return _certificate_of_model(pos, neg, H, p, lam, *of_rows, **how)
