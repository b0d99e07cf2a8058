"""The rows that a user passes: two sides, or all rows with labels, which become two sides."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.labelled import (
    aligned,
    count_rows,
    counted_places,
    positives,
    refuse_of_sides,
    refuse_without_labels,
    without_column,
)
from pnorm.rankers import Rankers, as_rankers
from pnorm.rankers._coded import BothSides, is_read, sides_of

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Given:
    """The rows of both sides, with their weights, groups and grades."""

    pos: Any
    neg: Any
    H: Any
    of_rows: tuple[Any, ...]
    """Weights, groups and grades of the positives and of the negatives, in the order of `case_weights`."""
    X: Any = None
    """All rows, if they came with labels."""
    places: tuple[Index, Index] | None = None
    """The rows of X on either side, if they came with labels."""

    @property
    def weights_called(self) -> tuple[str, str]:
        """The names of the arguments with the case weights of the positives and of the negatives."""
        return ("pos_weight", "neg_weight") if self.places is None else ("weight", "weight")

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Let messages name the rows that the user passed.

        With labels, a message about row 3 of the positives becomes one about its row in X. The rows are read again for
        that, in the case of an error only.
        """
        try:
            yield
        except (ValueError, TypeError) as error:
            if self.places is None or type(error) not in (ValueError, TypeError):
                raise
            kinds = list(self.H.values()) if isinstance(self.H, Mapping) else [self.H]
            for H in kinds:
                if not callable(H):
                    _read(self.X, H)
            raise

    def folds(self, folds: Any) -> Any:
        """Return the folds of either side, given a number, those of either side, or those of all rows of X."""
        if self.places is None or _is_pair(folds) or np.ndim(folds) == 0:
            return folds
        number = _checks.folds(folds, "folds", sum([own.size for own in self.places]))
        return number[self.places[0]], number[self.places[1]]


def given(
    pos: Any,
    neg: Any,
    H: Any,
    *,
    y: Any = None,
    pos_label: Any = None,
    weight: Any = None,
    group: Any = None,
    **sides: Any,
) -> Given:
    """Return the rows of both sides, taken apart by their labels y if these are given.

    `sides` are the weights, groups and grades of either side, by the names of the parameters.
    """
    of_x = {"weight": weight, "group": group}
    if y is None:
        refuse_without_labels({"pos_label": pos_label, **of_x})
        if isinstance(neg, str) and not (callable(H) or isinstance(H, (list, tuple))):
            name = _checks.shown(neg)
            raise ValueError(
                f"neg must hold the negative rows; got {name}. If this names the column of labels, call pnorm.train(X, "
                f"y={name})"
            )
        return Given(*sides_of(pos, neg, H), tuple(sides.values()))
    if isinstance(pos, BothSides):
        raise TypeError("coded rows have both sides, and y is given as well; leave y out")
    if is_read(pos, H):
        raise TypeError(
            "y is for rows in memory; pnorm.code_rows(source, label) reads files, and train takes its result"
        )
    if neg is not None:
        raise ValueError(
            "neg and y are both given; with y, all rows are in the first argument. Leave neg out, and pass H by name"
        )
    refuse_of_sides(sides, of_x)
    X, beside = pos, {"y": y, **of_x}
    for name, value in beside.items():
        if isinstance(value, str):
            X, beside[name] = without_column(X, value, name)
    size = count_rows(X)
    positive = positives(X, beside["y"], size, pos_label)
    for name in of_x:
        aligned(X, beside[name], name)
    places = np.flatnonzero(positive), np.flatnonzero(~positive)
    c = _checks.weights(beside["weight"], "weight", size, some=False)
    codes = None if beside["group"] is None else _checks.labels(beside["group"], "group", size)[0]
    _check_counted(places, c, codes)
    both = [None if x is None else x[where] for x in (c, codes) for where in places]
    grades = [None] * (len(sides) - len(both))
    return Given(_checks.rows(X, places[0]), _checks.rows(X, places[1]), H, (*both, *grades), X, places)


def _check_counted(places: tuple[Index, Index], c: Vector | None, codes: Index | None) -> None:
    """Refuse weights that leave a side without rows, and groups of one side only."""
    counted = counted_places(places, c)
    if codes is not None and not np.intersect1d(codes[counted[0]], codes[counted[1]]).size:
        raise ValueError(_checks.NO_GROUP)


def _read(X: Any, H: Any) -> None:
    """Read rows as the weak rankers do, so that what is wrong with X is raised under its own name."""
    if H is None:
        X = _checks.list_to_array(X, "X")
    rankers: Rankers = as_rankers(H, X, "X")
    rankers._pieces(X, "X", np.arange(len(rankers)))


def _is_pair(folds: Any) -> bool:
    """Return whether folds are those of either side, and not of all rows."""
    return isinstance(folds, (list, tuple)) and len(folds) == 2 and all([np.ndim(of_side) == 1 for of_side in folds])
