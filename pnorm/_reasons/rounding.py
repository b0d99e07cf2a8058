"""Shapes in whole points: the scale, the cuts, the weak rankers, and the cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import Vector
from pnorm._checks.text import shown
from pnorm._reasons.leaves import Leaf, leaves
from pnorm._reasons.shapes import Shape, counted
from pnorm.rankers import Rankers, _Categories, _Thresholds
from pnorm.rankers._columns import _OfColumns
from pnorm.rankers._table import Part, Table

_SHARES = np.linspace(1.0, 0.5, 100, endpoint=False)
"""Scales that are tried, relative to the largest one."""

_MISSING = -math.inf
"""In the place of a cut: a missing value."""

Points = NDArray[np.int64]


def _with_ends(shape: Shape, tables: Mapping[str, Any]) -> Shape:
    """Return a shape whose line, if it has one, goes somewhere."""
    if not shape.slope or math.isfinite(shape.ends[0]):
        return shape
    if not tables:
        raise ValueError(f"{shown(shape.name)} is a column as it is: pass pos and neg, or X, which say how far it goes")
    return counted([shape], tables)[0]


@dataclass(frozen=True, eq=False)
class _Values:
    """The scores of a shape: at both ends of each piece, where a value is missing, and where it is no known level."""

    at_start: Vector
    at_end: Vector
    others: Vector

    @classmethod
    def of(cls, shape: Shape) -> _Values:
        missing = [] if not shape._may_miss or shape.levels else [0.0 if math.isnan(shape.missing) else shape.missing]
        others = np.array([0.0] if shape.levels else missing)
        if not shape.slope:
            return cls(shape.scores, shape.scores, others)
        low, high = shape.pieces
        return cls(shape.at(low, True), shape.at(high), others)

    @property
    def all(self) -> Vector:
        return np.concatenate([self.at_start, self.at_end, self.others])


def _best_scale(found: Sequence[Shape], most: int) -> float:
    """Return the scale at which rounding costs least, as if each line, which has steps of a point, cost that."""
    with np.errstate(over="ignore"):
        values = [of_shape.all - of_shape.all.min() for of_shape in map(_Values.of, found)]
    largest = max([float(of_column.max()) for of_column in values], default=0.0)
    if largest == math.inf:
        raise OverflowError("a column moves the score by more than a double holds; scale the coefficients (lam) down")
    if largest == 0.0:
        raise ValueError(
            "there is nothing to round: with these coefficients (lam) no column moves the score, over its cuts and "
            "levels, or over the values of X, or of pos and neg"
        )
    if not math.isfinite(most / largest):
        raise ValueError("the contributions of lam and X are too small to be rounded; scale the coefficients (lam) up")
    stairs = [of_column for of_column, shape in zip(values, found, strict=True) if not shape.slope]
    together, starts = np.concatenate([np.zeros(1), *stairs]), np.cumsum([1, *map(len, stairs)])[:-1]
    scales, costs = most * _SHARES / largest, []
    for scale in scales.tolist():
        residues = np.rint(scale * together) / scale - together
        spread = (
            np.maximum.reduceat(residues, starts) - np.minimum.reduceat(residues, starts) if stairs else np.zeros(1)
        )
        costs.append(float(spread.sum()) + (len(found) - len(stairs)) / scale)
    # Of several that are lowest but for rounding, the largest, so that the answer is the same on all machines.
    return float(scales[int(np.argmax(np.array(costs) <= (1.0 + 1e-9) * min(costs)))])


def _rounded(shape: Shape, scale: float) -> tuple[Shape, float]:
    """Return a shape in whole points, and the largest difference of two of its residues."""
    floor = float(_Values.of(shape).all.min())
    if shape.slope:
        shape = _cut(shape, scale, floor)
    values = _Values.of(shape)
    points = np.rint(scale * (0.5 * values.at_start + 0.5 * values.at_end - floor))
    others = np.rint(scale * (values.others - floor))
    residues = np.r_[
        points / scale - (values.at_start - floor),
        points / scale - (values.at_end - floor),
        others / scale - (values.others - floor),
    ]
    differ = np.ones(points.size, bool) if shape.levels else np.r_[True, points[1:] != points[:-1]]
    made = replace(
        shape,
        cuts=shape.cuts[differ[1:]] if not shape.levels else shape.cuts,
        scores=points[differ],
        slope=0.0,
        ends=(-math.inf, math.inf),
        missing=float(others[0]) if others.size else math.nan,
    )
    return made, float(np.ptp(residues))


def _cut(shape: Shape, scale: float, floor: float) -> Shape:
    """Return a shape with a line and with cuts about where its points, rounded, change.

    The cuts have as few digits as move them by a twentieth of a step at most.
    """
    low, high = shape.pieces
    start, end = [scale * (values - floor) for values in (shape.at(low, True), shape.at(high))]
    decimals = 1 - math.floor(math.log10(1.0 / (scale * abs(shape.slope))))
    cuts = [shape.cuts]
    for a, b, x, y in zip(low.tolist(), high.tolist(), start.tolist(), end.tolist(), strict=True):
        halves = np.arange(math.floor(min(x, y)), math.ceil(max(x, y))) + 0.5
        halves = halves[(halves > min(x, y)) & (halves < max(x, y))]
        if halves.size and a < b:
            cuts.append(np.round(a + (halves - x) / (y - x) * (b - a), decimals).clip(a, b))
    every = np.unique(np.concatenate(cuts))
    return replace(shape, cuts=every, scores=shape.scores[shape.cuts.searchsorted(np.r_[every, np.inf])])


def _as_rankers(rounded: Sequence[Shape], H: Rankers) -> tuple[Rankers, Vector, int]:
    """Return weak rankers with whole coefficients, and a constant, that add up to points.

    They are those of H, and cuts where a straight line has become steps, or the many steps of a line fewer ones.
    """
    number, lam, offset = H.column, np.zeros(len(H)), 0
    ranker: dict[tuple[int, float], int] = {}  # by column and cut; by column and nan of a missing value
    of_level: dict[tuple[int, Any], int] = {}
    straight: dict[int, tuple[Leaf, int]] = {}
    for leaf in leaves(H, lam):
        part, start = leaf.part, leaf.start
        of_part = number[start : start + len(part)].tolist()
        if isinstance(part, _Thresholds):
            for j, (c, (place, cut)) in enumerate(zip(of_part, part._cuts, strict=True)):
                ranker.setdefault((c, _MISSING if math.isnan(cut) else cut), start + j)
                straight.setdefault(c, (leaf, place))
        elif isinstance(part, _Categories):
            levels = [level for column in part._levels for level in column]
            for j, (c, level) in enumerate(zip(of_part, levels, strict=True)):
                of_level.setdefault((c, level), start + j)
        elif isinstance(part, _OfColumns):
            for c, place in zip(of_part, part._places_read(), strict=True):
                straight.setdefault(c, (leaf, place))
    more: dict[int, tuple[Leaf, list[tuple[int, float]], list[float]]] = {}
    for shape in rounded:
        c = shape._column
        if shape.levels:
            offset += int(shape.missing)
            for level, points in zip(shape._keys, shape.scores.tolist(), strict=True):
                lam[of_level[c, level]] = points - shape.missing
            continue
        offset += int(shape.scores[0])
        for cut, height in zip(shape.cuts.tolist(), np.diff(shape.scores).tolist(), strict=True):
            if (c, cut) in ranker:
                lam[ranker[c, cut]] = height
            else:
                leaf, place = straight[c]
                _, cuts, heights = more.setdefault(id(leaf.part), (leaf, [], []))
                cuts.append((place, cut))
                heights.append(height)
        if shape.missing != shape.scores[0] and not math.isnan(shape.missing):
            lam[ranker[c, _MISSING]] = shape.missing - shape.scores[0]
    made = H
    for leaf, cuts, heights in more.values():
        made, lam = made + _cuts_in(leaf, cuts), np.r_[lam, heights]
    return made, lam, offset


def _cuts_in(leaf: Leaf, cuts: Sequence[tuple[int, float]]) -> Rankers:
    """Return cuts of the columns that a collection reads, given with their places."""
    part = leaf.part
    assert isinstance(part, _OfColumns)
    label = dict(zip(part._places_read(), [name for _, name in part._reads()], strict=True))
    names = [f"{label[place]} > {cut:.10g}" for place, cut in cuts]
    made = _Thresholds(names, part._width, part._found, cuts, bool(part._missing))
    if leaf.table is None:
        return made
    table, (source, own) = leaf.table, leaf.table._parts[leaf.place]
    assert table._width is not None
    return Table(table._found, table._width, [replace(source, parts=(Part(own.of, made),))], table.plan)


def _changed(before: Sequence[Vector], after: Sequence[Points]) -> tuple[float, float]:
    """Return the shares of pairs of both sides whose order is another one, and that are tied only after."""
    both = [(np.concatenate(before), np.concatenate(after)), *zip(before, after, strict=True)]
    (turned, *own_turned), (tied, *own_tied) = zip(*[(_turned(f, q), _tied(f, q)) for f, q in both], strict=True)
    pairs = before[0].size * before[1].size
    return (turned - sum(own_turned)) / pairs, (tied - sum(own_tied)) / pairs


def _turned(f: Vector, q: Points) -> int:
    """Return the number of pairs of rows that have one order in f and the other one in q.

    It counts the pairs in which the larger q comes first, when f rises: bit by bit, from the highest, those of which
    this is the first bit that differs.
    """
    codes = np.unique(q, return_inverse=True)[1][np.lexsort((q, f))]
    found = 0
    for bit in reversed(range(int(codes.max()).bit_length())):
        ones = codes >> bit & 1
        before = np.cumsum(ones)
        group = codes >> (bit + 1)
        starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
        earlier = np.repeat(before[starts] - ones[starts], np.diff(np.r_[starts, codes.size]))
        found += int((before - earlier)[ones == 0].sum())
        codes = codes[np.argsort(codes >> bit, kind="stable")]
    return found


def _tied(f: Vector, q: Points) -> int:
    """Return the number of pairs of rows with one q and different f."""
    of_f, of_q = np.unique(f, return_inverse=True)[1], np.unique(q, return_inverse=True)[1]
    return _pairs(of_q) - _pairs(of_q * f.size + of_f)


def _pairs(codes: NDArray[np.intp]) -> int:
    counts = np.unique(codes, return_counts=True)[1].astype(object)
    return int((counts * (counts - 1) // 2).sum())
