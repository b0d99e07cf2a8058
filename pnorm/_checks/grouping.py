"""Labels, groups and lists, and the rows that count by their weights and groups."""

from __future__ import annotations

import decimal
import fractions
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pnorm._checks import scalars
from pnorm._checks.arrays import Array, Vector, as_array, grades, numbered, refuse_masked, shape_of, vector, weights
from pnorm._checks.records import record
from pnorm._checks.scalars import share, shown
from pnorm._checks.values import Coded, Values, column_values, is_missing, listed


def groups(pos_group: Any, neg_group: Any, n_pos: int, n_neg: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the labels of both sides as codes that are equal if the labels are; None for no groups."""
    if not _both_given(pos_group, neg_group, "group", "pairs form within a group, so both sides need labels"):
        return None
    pos, neg = _labels(pos_group, "pos_group", n_pos), _labels(neg_group, "neg_group", n_neg)
    whole = [values for values in (pos, neg) if isinstance(values, np.ndarray) and values.dtype.kind in "iu"]
    if len(whole) == 2 and whole[0].dtype == whole[1].dtype:  # no label has to be looked at by itself
        codes = numbered(np.concatenate(whole))[1]
        return codes[:n_pos], codes[n_pos:]
    known: Known = {}
    return _codes(pos, "pos_group", known), _codes(neg, "neg_group", known)


def _both_given(pos: Any, neg: Any, what: str, why: str) -> bool:
    """Return whether both sides have a value; refuse one side alone."""
    if (pos is None) != (neg is None):
        given, missing = ("neg", "pos") if pos is None else ("pos", "neg")
        raise ValueError(f"{given}_{what} is given and {missing}_{what} is not; {why}")
    return pos is not None


def _both_grades(pos_grade: Any, neg_grade: Any, n_pos: int, n_neg: int) -> tuple[Vector, Vector] | None:
    """Return the grades of both sides; None for no grades."""
    why = "a pair has a positive of the higher grade, so both sides need them"
    if not _both_given(pos_grade, neg_grade, "grade", why):
        return None
    pos = grades(pos_grade, "pos_grade", n_pos, "one grade per row")
    return pos, grades(neg_grade, "neg_grade", n_neg, "one grade per row")


def labels(y: Any, name: str, size: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the labels of rows as codes, and the label of each code."""
    shape = shape_of(y)
    if len(shape) > 1 or isinstance(y, (str, Mapping)):
        got = f"shape {shape}" if shape else f"{shown(y)}"
        raise ValueError(f"{name} must be one-dimensional, a label per row, such as a column of a frame; got {got}")
    known: Known = {}
    return _codes(_labels(y, name, size), name, known), [label for _, label in known.values()]


Known = dict[Any, tuple[int, Any]]
"""Codes and labels by the keys of the labels."""


def _labels(labels: Any, name: str, size: int) -> Values:
    """Return labels, one per row, as `distinct` takes them."""
    try:
        values = column_values(labels)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a sequence of one label per row; got {shown(labels)}") from None
    if len(values) != size:
        hint = f", the letters of {shown(labels)}" if isinstance(labels, str) else ""
        raise ValueError(f"{name} must hold one label per row, {size}; got {len(values)}{hint}")
    return values


def _codes(values: Values, name: str, known: Known) -> NDArray[np.intp]:
    """Return labels as codes; labels in `known` keep their code, others are added."""
    try:
        first, codes = distinct(values)
    except TypeError:
        _refuse_missing(values, range(len(values)), name)
        raise TypeError(f"the labels of {name} must be hashable: numbers or strings") from None
    each = values[first].tolist() if isinstance(values, np.ndarray) else [values[row] for row in first.tolist()]
    _refuse_missing(each, first, name)
    found = [known.setdefault(key(value), (len(known), value))[0] for value in each]
    return np.array(found, dtype=np.intp)[codes]


def _refuse_missing(values: Iterable[Any], rows: Iterable[Any], name: str) -> None:
    for row, value in zip(rows, values, strict=True):
        if is_missing(value):
            mend = ". Use keep = pandas.notna(y), and pass X[keep] and y[keep]" if name == "y" else ""
            raise ValueError(f"{name} has {value} at row {row}; every row needs a label{mend}")


def distinct(values: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of every distinct value, in ascending order, and for each row the code of its value.

    Equal values are one, whatever their types, and so are all NaN.
    """
    numbers = _numbers(values)
    if numbers is not None:
        return numbered(numbers)
    if not isinstance(values, Coded):
        values = Coded.of(values if _hashes_apart(values) else [key(value) for value in values])
    number: dict[Any, int] = {}
    merged = [number.setdefault(value if type(value) is str else key(value), len(number)) for value in values.values]
    codes = np.array(merged, np.intp)[values.codes]
    first = np.full(len(number), -1)
    first[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    there = first >= 0  # a category may have levels that no row has
    return (first, codes) if there.all() else (first[there], (there.cumsum() - 1)[codes])


def _numbers(values: Values) -> Array | None:
    """Return values as an array of numbers if none loses digits, as sorting finds equal ones; None otherwise."""
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "buif" else None
    if isinstance(values, Coded):
        return None
    types = set(map(type, values))
    if types and types <= {float, np.float64}:
        return np.array(values)
    try:
        return np.array(values, np.int64) if types and types <= {int, bool} else None
    except OverflowError:
        return None


def _hashes_apart(values: Any) -> bool:
    """Return whether a dictionary of these values is fast: no more than some of them can have one hash.

    The hash of a whole number is its remainder by `sys.hash_info.modulus`.
    """
    types = set(map(type, values))
    if not types <= {str, np.str_, float, np.float64, bool, int, type(None)}:
        return False
    whole = [value for value in values if type(value) is int] if int in types else [0]
    return -sys.hash_info.modulus < min(whole) <= max(whole) < sys.hash_info.modulus


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
        codes = _codes(_labels(group, "group", size), "group", known)
        labels = _in_order(codes, [label for _, label in known.values()])
    heads = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    if np.unique(labels[heads]).size == heads.size:
        return None, np.concatenate([heads, [size]]).astype(np.intp)
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(labels[order][1:] != labels[order][:-1]) + 1
    return order, np.concatenate([[0], ends, [size]]).astype(np.intp)


def list_labels(group: Any, first: NDArray[np.intp], size: int) -> Array:
    """Return the labels of lists by the first row of each, or 0, 1, 2, ... if `group` holds the sizes of lists."""
    labels = as_array(group, "group")
    if labels.size != size:
        return np.arange(first.size)
    if labels.dtype.kind not in "iubf":
        labels = np.array([None, *listed(group)], dtype=object)[1:]  # None, as tuples would be read as rows
    return np.asarray(labels[first])


def of_empty(value: Any) -> float:
    """Return what a list without relevant rows counts, a number from 0 to 1, or nan to skip it."""
    if isinstance(value, str):
        if value != "skip":
            raise ValueError(f"empty must be a number from 0 to 1, or 'skip'; got {shown(value)}")
        return math.nan
    return share(value, "empty")


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


# Case weights ---------------------------------------------------------------------------------------


class Run(NamedTuple):
    """Rows brought together by group."""

    order: NDArray[np.intp] | None
    """The rows of group 0, those of group 1 and so on; None where they come so."""
    starts: NDArray[np.intp]
    """The first place of every group in this order, and the number of rows, (n + 1,)."""

    def sort(self, values: Any) -> Any:
        """Return values of the rows in this order; None stays None."""
        if self.order is None or values is None:
            return values
        return np.take(values, self.order)  # 5 times as fast as values[order]

    def unsort(self, values: Vector) -> Vector:
        """Return values in this order as values of the rows, a copy."""
        if self.order is None:
            return values.copy()
        out = np.empty_like(values)
        out[self.order] = values
        return out


def _run(codes: NDArray[np.intp], n: int) -> Run:
    starts = np.r_[0, np.cumsum(np.bincount(codes, minlength=n))]
    ascending = bool((codes[1:] >= codes[:-1]).all())
    if ascending:
        return Run(None, starts)
    # No two of these numbers are equal: their sort takes 0.6 times as long as a stable argsort of the codes.
    return Run(np.sort(codes * codes.size + np.arange(codes.size)) % codes.size, starts)


@dataclass(frozen=True, eq=False)
class Groups:
    """Query groups: the number of each row's group, 0 .. n - 1, all of which have both sides."""

    pos: NDArray[np.intp]
    neg: NDArray[np.intp]
    n: int
    repeats: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None] = None, None
    """Numbers of the rows of a side, ascending, one for each group of a row; None where each row is in one group."""

    @cached_property
    def runs(self) -> tuple[Run, Run]:
        """The rows of either side, group by group."""
        return _run(self.pos, self.n), _run(self.neg, self.n)

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each side, in however many groups a row is."""
        both = zip((self.pos, self.neg), self.repeats, strict=True)
        return [codes.size if rows is None else np.unique(rows).size for codes, rows in both]

    def exchanged(self) -> Groups:
        """The groups with their sides exchanged."""
        return Groups(self.neg, self.pos, self.n, self.repeats[::-1])

    def take(self, pos: slice | NDArray[np.intp], neg: slice | NDArray[np.intp]) -> Groups:
        """Some of the rows; the groups that are left are numbered anew."""
        left, codes = np.unique(self.pos[pos], return_inverse=True)
        repeats = [rows if rows is None else rows[own] for rows, own in zip(self.repeats, (pos, neg), strict=True)]
        return Groups(codes.astype(np.intp), np.searchsorted(left, self.neg[neg]), left.size, (repeats[0], repeats[1]))


@record(frozen=True, eq=False)
class CaseWeights:
    """Case weights and query groups of the rows that count."""

    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None
    """The user's rows that count, per side; None where all do."""
    c_pos: Vector | None
    """A row in several groups has an entry for each, as in `groups`."""
    c_neg: Vector | None
    groups: Groups | None
    n_pairs: int

    def seen_by(self, push: str) -> CaseWeights:
        """Weights and groups as a push takes the sides: at the bottom they are exchanged."""
        if push == "top":
            return self
        kept = self.kept and self.kept[::-1]
        groups = self.groups and self.groups.exchanged()
        return CaseWeights(kept, self.c_neg, self.c_pos, groups, self.n_pairs)

    def select(self, pos: Any, neg: Any) -> tuple[Any, Any]:
        """Return the values of the rows that count, given values of all rows of the user."""
        return (pos, neg) if self.kept is None else (pos[self.kept[0]], neg[self.kept[1]])


_REPEATS = 2**24
"""Repeats of rows that are always allowed: 134 MB a vector. More are if they are not too many for each row."""

_REPEATS_PER_ROW = 64


def case_weights(
    n_pos: int,
    n_neg: int,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    pos_grade: Any = None,
    neg_grade: Any = None,
    *,
    push: str = "top",
    group_weight: str = "pairs",
) -> CaseWeights:
    """Check weights, groups and grades; rows of weight zero, and rows that are in no pair, do not count."""
    c_pos = weights(pos_weight, "pos_weight", n_pos)
    c_neg = weights(neg_weight, "neg_weight", n_neg)
    codes = groups(pos_group, neg_group, n_pos, n_neg)
    of_grades = _both_grades(pos_grade, neg_grade, n_pos, n_neg)
    return case_weights_of(n_pos, n_neg, c_pos, c_neg, codes, of_grades, push, group_weight)


def case_weights_of(
    n_pos: int,
    n_neg: int,
    c_pos: Vector | None,
    c_neg: Vector | None,
    codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
    of_grades: tuple[Vector, Vector] | None = None,
    push: str = "top",
    group_weight: str = "pairs",
) -> CaseWeights:
    """Return the rows that count, given checked weights and grades, and groups as numbers.

    With the group weight "equal", the weights of either side add up to one in every group.
    """
    equal = scalars.group_weight(group_weight) == "equal"
    if equal and codes is None:
        raise ValueError(
            "group_weight is 'equal', and there are no groups to weigh: pass the group of every row, or leave "
            "group_weight out"
        )
    c = [c_pos, c_neg]
    if c_pos is None and c_neg is None and codes is None and of_grades is None:
        return CaseWeights(None, None, None, None, n_pos * n_neg)
    keep = [np.ones(n, bool) if own is None else own > 0.0 for n, own in zip((n_pos, n_neg), c, strict=True)]
    found: Groups | None = None
    n_pairs = int(keep[0].sum()) * int(keep[1].sum())
    if codes is not None or of_grades is not None:
        queries = codes or (np.zeros(n_pos, np.intp), np.zeros(n_neg, np.intp))
        n_grades, ranks = _ranks(of_grades)
        many = 0 if push == "top" or of_grades is None else 1  # the side of which a row may be in several groups
        if many:  # the same read from below
            ranks = [n_grades - 1 - rank for rank in ranks]
        steps = [(query * n_grades + rank)[own] for query, rank, own in zip(queries, ranks, keep, strict=True)]
        found, *in_pairs = _nested_groups(steps[many], steps[1 - many], n_grades)
        if found.n == 0:
            raise ValueError(_no_pair(codes is not None, of_grades is not None))
        n_pairs = int(np.bincount(found.pos, minlength=found.n) @ np.bincount(found.neg, minlength=found.n))
        for side, in_pair in zip((many, 1 - many), in_pairs, strict=True):
            keep[side][keep[side]] = in_pair
        found = found.exchanged() if many else found
        if codes is None and found.n == 1:
            found = None  # all pairs of the rows that count
    c = [None if own is None else own[rows] for own, rows in zip(c, keep, strict=True)]
    if equal and codes is not None:
        c = [_shares(own, of_side[rows]) for own, of_side, rows in zip(c, codes, keep, strict=True)]
    if found is not None:
        c = [own if own is None or rows is None else own[rows] for own, rows in zip(c, found.repeats, strict=True)]
    kept = None if keep[0].all() and keep[1].all() else (keep[0], keep[1])
    return CaseWeights(kept, c[0], c[1], found, n_pairs)


def _shares(c: Vector | None, codes: NDArray[np.intp]) -> Vector:
    """Return the share of each row in the weight of its group."""
    c = np.ones(codes.size) if c is None else c
    top = np.zeros(int(codes.max()) + 1)
    np.maximum.at(top, codes, c)
    c = np.maximum(c / top[codes], np.finfo(float).tiny)  # a row that counts has a weight
    return np.asarray(c / np.bincount(codes, c)[codes])


def _ranks(of_grades: tuple[Vector, Vector] | None) -> tuple[int, list[Any]]:
    """Return how many grades there are, and the rank of each row's; without grades, two, one for each side."""
    if of_grades is None:
        return 2, [1, 0]
    found, rank = np.unique(np.concatenate(of_grades), return_inverse=True)
    n_pos = of_grades[0].size
    return found.size, [rank[:n_pos], rank[n_pos:]]


def _nested_groups(
    pos: NDArray[np.intp], neg: NDArray[np.intp], n_grades: int
) -> tuple[Groups, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return groups in which all positives and negatives are pairs, given query * n_grades + rank of the grade of rows.

    The negatives that are below the same positives of their query are a group. Return also which rows are in a group.
    """
    steps, step, least = _steps(pos, neg)
    in_pair = np.append(steps // n_grades, -1)[least] == neg // n_grades
    least = least[in_pair]
    needed, of_neg, _ = _steps(least, least[:0])
    first = np.searchsorted(needed, np.searchsorted(steps, steps // n_grades * n_grades))
    stop = np.searchsorted(needed, np.arange(steps.size), side="right")
    n_repeats = (stop - first)[step]
    total = int(n_repeats.sum())
    if total > max(_REPEATS, _REPEATS_PER_ROW * (pos.size + neg.size)):
        raise ValueError(
            f"pos_grade and neg_grade have so many values that a row is apart from {total / pos.size:.0f} of them in "
            f"its group on average, which makes {total:.3g} numbers for {pos.size} rows; round the grades"
        )
    of_pos = np.arange(total) - np.repeat(np.cumsum(n_repeats) - stop[step], n_repeats)
    paired = n_repeats > 0
    several = n_repeats.max() > 1
    repeats = np.repeat(np.arange(np.count_nonzero(paired)), n_repeats[paired]) if several else None
    return Groups(of_pos, of_neg, needed.size, (repeats, None)), paired, in_pair


def _steps(a: NDArray[np.intp], b: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct numbers >= 0 of a, ascending, the place in them of each, and how many are <= each of b."""
    size = max(int(a.max(initial=-1)), int(b.max(initial=-1))) + 1
    if size <= 4 * (a.size + b.size):  # a table of all numbers is faster than sorting
        there = np.zeros(size, bool)
        there[a] = True
        up_to = np.cumsum(there)
        return np.flatnonzero(there), up_to[a] - 1, up_to[b]
    found, place = np.unique(a, return_inverse=True)
    return found, place, np.searchsorted(found, b, side="right")


NO_GROUP = "no group has both positive and negative rows of positive weight, so no pair is left"


def _no_pair(grouped: bool, graded: bool) -> str:
    if not graded:
        return "pos_group and neg_group share no label among rows of positive weight: no pair is left"
    within = "in no group of pos_group and neg_group" if grouped else "nowhere"
    return f"pos_grade is {within} above neg_grade among rows of positive weight: no pair is left"


def spread(values: Any, kept: NDArray[np.bool_] | None, fill: Any = 0.0) -> Any:
    """Return values of the rows that count as values of the user's rows; the others get `fill`."""
    if kept is None:
        return values
    whole = np.full(kept.size, fill, dtype=np.asarray(values).dtype)
    whole[kept] = values
    return whole
