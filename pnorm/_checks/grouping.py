"""Labels, groups and lists, and the rows that count by their weights and groups."""

from __future__ import annotations

import decimal
import fractions
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Array, Vector, as_array, refuse_masked, shape_of, vector, weights
from pnorm._checks.scalars import shown
from pnorm._checks.tables import is_missing, listed


def groups(pos_group: Any, neg_group: Any, n_pos: int, n_neg: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the labels of both sides as codes that are equal if the labels are; None for no groups."""
    if pos_group is None and neg_group is None:
        return None
    if pos_group is None or neg_group is None:
        given, missing = ("neg_group", "pos_group") if pos_group is None else ("pos_group", "neg_group")
        raise ValueError(f"{given} is given and {missing} is not; pairs form within a group, so both sides need labels")
    known: Known = {}
    return _codes(pos_group, "pos_group", n_pos, known), _codes(neg_group, "neg_group", n_neg, known)


def labels(y: Any, name: str, size: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the labels of rows as codes, and the label of each code."""
    shape = shape_of(y)
    if len(shape) > 1 or isinstance(y, (str, Mapping)):
        got = f"shape {shape}" if shape else f"{shown(y)}"
        raise ValueError(f"{name} must be one-dimensional, a label per row, such as a column of a frame; got {got}")
    known: Known = {}
    return _codes(y, name, size, known), [label for _, label in known.values()]


Known = dict[Any, tuple[int, Any]]
"""Codes and labels by the keys of the labels."""


def _codes(labels: Any, name: str, size: int, known: Known) -> NDArray[np.intp]:
    """Return labels as codes; labels in `known` keep their code, others are added."""
    try:
        values = listed(labels)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a sequence of one label per row; got {shown(labels)}") from None
    if len(values) != size:
        hint = f", the letters of {shown(labels)}" if isinstance(labels, str) else ""
        raise ValueError(f"{name} must hold one label per row, {size}; got {len(values)}{hint}")
    for i, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"{name} has {value} at row {i}; every row needs a label")
    try:
        first, codes = distinct(values)
        found = [known.setdefault(key(value), (len(known), value))[0] for value in map(values.__getitem__, first)]
    except TypeError:
        raise TypeError(f"the labels of {name} must be hashable: numbers or strings") from None
    return np.array(found, dtype=np.intp)[codes]


def distinct(values: Sequence[Any] | Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of every distinct value, in ascending order, and for each row the code of its value.

    Equal values are one, whatever their types, and so are all NaN.
    """
    numbers = _numbers(values)
    if numbers is None:
        keys = [value if type(value) is str else key(value) for value in values]
        number = {each: k for k, each in enumerate(dict.fromkeys(keys))}
        codes = np.fromiter(map(number.__getitem__, keys), np.intp, len(keys))
        first = np.empty(len(number), np.intp)
        first[codes[::-1]] = np.arange(len(keys) - 1, -1, -1)
        return first, codes
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(order.size, np.intp)
    place[order] = np.arange(order.size)
    return first[order], place[codes]


def _numbers(values: Sequence[Any] | Array) -> Array | None:
    """Return values as an array of numbers if none loses digits, as sorting finds equal ones; None otherwise."""
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "buif" else None
    types = set(map(type, values))
    if types == {float}:
        return np.array(values)
    try:
        return np.array(values, np.int64) if types and types <= {int, bool} else None
    except OverflowError:
        return None


_LONG = 1000
"""Largest number of digits and zeros of a decimal number that is compared with numbers of other types."""

_WIDEST = decimal.Context(decimal.MAX_PREC, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def key(value: Any) -> Any:
    """Return the key of a label or a level in a dictionary; equal labels have equal keys.

    Numbers whose hashes are equal can be made at will, k (2**61 - 1) for instance: 40,000 of them took a dictionary
    37 s. The hash of a string holds a secret of the process.
    """
    if isinstance(value, (np.integer, np.bool_)) and not isinstance(value, np.timedelta64):
        value = value.item()
    if isinstance(value, decimal.Decimal) and value.is_finite():
        value = value.normalize(_WIDEST)
        _, digits, exponent = value.as_tuple()
        if len(digits) + abs(int(exponent)) > _LONG:  # an integer of a million digits takes long to make
            return (str(value),)
    if isinstance(value, (int, float, np.floating, decimal.Decimal, fractions.Fraction)):
        try:
            numerator, denominator = value.as_integer_ratio()
        except (ValueError, OverflowError):  # nan and infinity
            return None if is_missing(value) else value
        return (f"{numerator:x}/{denominator:x}",)  # in a tuple, as a string could be another label
    return value


def sizes(group: Any, name: str, size: int) -> NDArray[np.intp]:
    """Return the number of the list of each row, given the sizes of consecutive lists."""
    counts = vector(group, name, None, "one size for each list")
    total = float(counts.sum()) if (np.abs(counts) <= size).all() else math.inf
    if (counts < 0.0).any() or (counts % 1.0 != 0.0).any() or total != size:
        raise ValueError(
            f"{name} must hold the sizes of the lists, which follow each other and add up to the {size} rows; got "
            f"{counts.size} entries that add up to {total:g}"
        )
    return np.repeat(np.arange(counts.size, dtype=np.intp), counts.astype(np.intp))


def lists(group: Any, size: int) -> tuple[NDArray[np.intp] | None, NDArray[np.intp]]:
    """Return the order that brings the rows of each list together (None if they are), and the bounds of the lists.

    `group` holds a label for each row, or the sizes of the lists, which follow each other; None is one list.
    """
    if group is None:
        return None, np.array([0, size], dtype=np.intp)
    refuse_masked(group, "group")
    labels = as_array(group, "group")
    if labels.ndim != 1:
        raise ValueError(f"group must be one-dimensional: a label per row or a size per list; got {shown(group)}")
    if labels.size != size:
        kind = "" if labels.dtype.kind in "iu" else ", which are no integers"
        many = labels.size > size  # as each is one or more
        if kind or many or labels.size == 0 or labels.min() < 1 or labels.sum() != size:
            few = not kind and not many
            small = f", the least of them {labels.min()}" if few and labels.size and labels.min() < 1 else ""
            total = f" that add up to {labels.sum()}{small}" if few else kind
            raise ValueError(
                f"group must hold one label for each of the {size} rows, or the sizes of the lists, one or more each, "
                f"which add up to that; got {labels.size} entries{total}"
            )
        return None, np.concatenate([[0], labels.cumsum()]).astype(np.intp)
    if labels.dtype.kind not in "iub":  # labels of different types would become strings in an array
        known: Known = {}
        labels = _in_order(_codes(group, "group", size, known), [label for _, label in known.values()])
    heads = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    if np.unique(labels[heads]).size == heads.size:
        return None, np.concatenate([heads, [size]]).astype(np.intp)
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(labels[order][1:] != labels[order][:-1]) + 1
    return order, np.concatenate([[0], ends, [size]]).astype(np.intp)


def _in_order(codes: NDArray[np.intp], known: list[Any]) -> NDArray[np.intp]:
    """Renumber codes in the order of their labels, so that no result depends on the order of rows.

    Labels that Python cannot order keep their codes.
    """
    try:
        places = sorted(range(len(known)), key=known.__getitem__)
    except TypeError:
        return codes
    rank = np.empty(len(known), np.intp)
    rank[places] = np.arange(len(known))
    return rank[codes]


def shared(pos: NDArray[np.intp], neg: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the groups that have rows of positive weight on both sides; refuse none."""
    both = np.intersect1d(pos, neg)
    if both.size == 0:
        raise ValueError("pos_group and neg_group share no label among rows of positive weight: no pair is left")
    return both


# Case weights ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Groups:
    """Query groups: the number of each row's group, 0 .. n - 1, all of which have both sides."""

    pos: NDArray[np.intp]
    neg: NDArray[np.intp]
    n: int

    def exchanged(self) -> Groups:
        """The groups with their sides exchanged."""
        return Groups(self.neg, self.pos, self.n)

    def take(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> Groups:
        """Some of the rows; the groups that are left are numbered anew."""
        left, codes = np.unique(self.pos[pos], return_inverse=True)
        return Groups(codes.astype(np.intp), np.searchsorted(left, self.neg[neg]), left.size)


@dataclass(frozen=True, eq=False)
class CaseWeights:
    """Case weights and query groups of the rows that count."""

    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None
    """The user's rows that count, per side; None where all do."""
    c_pos: Vector | None
    c_neg: Vector | None
    groups: Groups | None
    n_pairs: int

    def exchanged(self) -> CaseWeights:
        """Weights and groups with their sides exchanged."""
        kept = self.kept and self.kept[::-1]
        return CaseWeights(kept, self.c_neg, self.c_pos, self.groups and self.groups.exchanged(), self.n_pairs)

    def select(self, pos: Any, neg: Any) -> tuple[Any, Any]:
        """Return the values of the rows that count, given values of all rows of the user."""
        return (pos, neg) if self.kept is None else (pos[self.kept[0]], neg[self.kept[1]])


def case_weights(
    n_pos: int, n_neg: int, pos_weight: Any = None, neg_weight: Any = None, pos_group: Any = None, neg_group: Any = None
) -> CaseWeights:
    """Check weights and groups; rows of weight zero, and rows of groups that have only one side, do not count."""
    c_pos = weights(pos_weight, "pos_weight", n_pos)
    c_neg = weights(neg_weight, "neg_weight", n_neg)
    return case_weights_of(n_pos, n_neg, c_pos, c_neg, groups(pos_group, neg_group, n_pos, n_neg))


def case_weights_of(
    n_pos: int,
    n_neg: int,
    c_pos: Vector | None,
    c_neg: Vector | None,
    codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
) -> CaseWeights:
    """Return the rows that count, given checked weights and groups as numbers."""
    keep = [np.ones(n, bool) if c is None else c > 0.0 for n, c in ((n_pos, c_pos), (n_neg, c_neg))]
    found = None
    n_pairs = int(keep[0].sum()) * int(keep[1].sum())
    if codes is not None:
        both = shared(codes[0][keep[0]], codes[1][keep[1]])
        for own, of_side in zip(keep, codes, strict=True):
            own &= np.isin(of_side, both)
        pos, neg = [np.searchsorted(both, of_side[own]) for own, of_side in zip(keep, codes, strict=True)]
        found = Groups(pos, neg, both.size)
        n_pairs = int(np.bincount(pos, minlength=both.size) @ np.bincount(neg, minlength=both.size))
    c_pos, c_neg = [None if c is None else c[own] for c, own in zip((c_pos, c_neg), keep, strict=True)]
    return CaseWeights(None if keep[0].all() and keep[1].all() else (keep[0], keep[1]), c_pos, c_neg, found, n_pairs)


def spread(values: Any, kept: NDArray[np.bool_] | None, fill: Any = 0.0) -> Any:
    """Return values of the rows that count as values of the user's rows; the others get `fill`."""
    if kept is None:
        return values
    whole = np.full(kept.size, fill, dtype=np.asarray(values).dtype)
    whole[kept] = values
    return whole
