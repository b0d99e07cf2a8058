"""Bands behind curves: the lowest and the highest score of refits on resampled rows, at each value of a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._checks.text import shown
from pnorm._reasons.shapes import Shape, Shapes, by_value

_MORE = 65
"""Values between the ends of a curve at which lines are compared, beside the ends of pieces."""

Refits = list[Shape | None]
"""A column in each refit; None where the refit does not use it, so that its part is zero."""


def refits_of(
    others: Any, read: Callable[[Any], list[Shape]], curves: Sequence[Shape], known: Iterable[str]
) -> list[Refits]:
    """Return the refits of each of `curves`. `known` are the columns of the score, and `read` reads one refit."""
    if isinstance(others, str | Shapes) or not isinstance(others, Sequence):
        raise TypeError(f"others must be a sequence of refits, such as a list of Shapes; got {type(others).__name__}")
    if len(others) < 2:
        raise ValueError(f"others must be at least 2 refits; got {len(others)}")
    tables, columns = [], set(known)
    for k, other in enumerate(others):
        try:
            table = {shape.name: by_value(shape) for shape in read(other)}
        except (TypeError, ValueError) as error:
            raise type(error)(f"others[{k}]: {error}") from None
        if table and not columns.intersection(table):
            raise ValueError(f"others[{k}] has none of the columns of the score")
        tables.append(table)
    found = [[table.get(shape.name) for table in tables] for shape in curves]
    for shape, of_column in zip(curves, found, strict=True):
        for k, refit in enumerate(of_column):
            if refit is not None and bool(refit.levels) != bool(shape.levels):
                kinds = ["levels" if each.levels else "numbers" for each in (refit, shape)]
                raise ValueError(
                    f"others[{k}] has {kinds[0]} in the column {shown(repr(shape.name))}, and the score has {kinds[1]}"
                )
    return found


def extent_of_levels(shape: Shape, refits: Refits) -> tuple[Vector, Vector]:
    """Return the lowest and the highest score of each level, and of a missing value as the last one.

    It is nan where no refit knows the level.
    """
    shares = shape.shares if shape.shares.size else np.ones(len(shape.levels))
    found = np.empty((len(refits), len(shape.levels) + 1))
    for row, refit in zip(found, refits, strict=True):
        if refit is None:
            row[:-1], row[-1] = 0.0, 0.0 if not math.isnan(shape.missing) else math.nan
        else:
            scores = dict(zip(refit._keys, refit.scores.tolist(), strict=True))
            row[:-1], row[-1] = [scores.get(key, math.nan) for key in shape._keys], refit.missing
        weight = np.where(np.isnan(row[:-1]), 0.0, shares)
        if weight.any():
            row += np.average(shape.scores - np.nan_to_num(row[:-1]), weights=weight)
    return _extent(found)


def extent(shape: Shape, refits: Refits, start: float, stop: float) -> tuple[Vector, Vector, Vector, float, float]:
    """Return values of a column of numbers, the lowest and the highest score at each, and those of a missing value.

    There are two points at the end of each piece, which are the scores at this value and just above it.
    """
    there = [refit for refit in refits if refit is not None]
    ends = [np.r_[each.pieces] for each in (shape, *there)]
    if any(each.slope for each in there):
        ends.append(np.linspace(start, stop, _MORE))
    every = np.unique(np.concatenate(ends))
    every = every[(every > start) & (every < stop)]
    x, above = np.r_[start, np.repeat(every, 2), stop], np.r_[False, np.tile([False, True], every.size), False]
    over = shape._quantiles if shape._quantiles.size else np.linspace(start, stop, 101)
    mean = float(shape.at(over).mean())
    found, missing = np.full((len(refits), x.size), mean), np.full((len(refits), 1), mean)
    for row, of_missing, refit in zip(found, missing, refits, strict=True):
        if refit is not None:
            moved = mean - float(refit.at(over).mean())
            row[:], of_missing[:] = refit.at(x, above) + moved, refit.missing + moved
    low, high = _extent(found)
    changes = (np.diff(low) != 0.0) | (np.diff(high) != 0.0)
    kept = np.r_[True, changes] | np.r_[changes, True]
    return x[kept], low[kept], high[kept], *(float(end[0]) for end in _extent(missing))


def _extent(found: Any) -> tuple[Vector, Vector]:
    """Return the least and the largest number of each column, without nan; nan where there is no other."""
    none = np.isnan(found).all(axis=0)
    low, high = np.nanmin(np.where(none, 0.0, found), axis=0), np.nanmax(np.where(none, 0.0, found), axis=0)
    return np.where(none, math.nan, low), np.where(none, math.nan, high)
