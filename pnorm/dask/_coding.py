"""Work on one partition: coding the rows of both sides, and facts on them for this process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._coded.sample import TableSample
from pnorm._solvers.fingerprints import Fingerprints
from pnorm._solvers.reductions import NAMES, Name, Rows, check_declared, in_partition, marked, rows_of, sides_of
from pnorm._tables.labels import Labels
from pnorm.rankers import Rankers, _hashes
from pnorm.rankers._hashes import Hashes

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a labelled partition that weak rankers do not read, and the positive label.

    A name is a column of the partition. For an array, labels and the other roles are separate vectors.
    """

    label: Any = None
    pos_label: Any = None
    weight: Any = None
    group: Any = None
    ignore: tuple[Any, ...] = ()
    labels_called: str = "label"
    """The name of the argument for the labels, as the user passed it."""

    def labels(self) -> Labels:
        """Return the labels, of which no row is counted yet."""
        if self.label is not None:
            return Labels(str(self.label), self.pos_label)
        called = self.labels_called
        return Labels(called, self.pos_label, column=None if called == "label" else called)

    @cached_property
    def columns(self) -> list[Any]:
        """The columns that the weak rankers do not read."""
        found = self.label, self.weight, self.group, *self.ignore
        return [name for name in dict.fromkeys(found) if name is not None]

    def without(self, X: Any) -> Any:
        """Return rows without these columns."""
        return X.drop(columns=self.columns) if self.columns else X


Groups = tuple[NDArray[np.int32], list[Any]]
"""The groups of the rows of a side that count, as codes and what they stand for."""


@dataclass(frozen=True, eq=False)
class Coded:
    """The coded rows of a partition, positives and negatives."""

    rows: tuple[Rows, Rows]
    groups: tuple[Groups | None, Groups | None]
    labels: Counter[str] = field(default_factory=Counter)
    """The number of rows of each label."""
    checksum: int | None = None
    """That of the rows as they were read, where the weak rankers follow from an earlier reading."""

    def side(self, k: int) -> Rows:
        """Return the rows of a side."""
        return self.rows[k]

    def told(self) -> tuple[tuple[Groups | None, Groups | None], Counter[str], list[Fingerprints], int | None]:
        """Return facts on the rows for this process."""
        marks = [rows.fingerprint for rows in self.rows if rows.fingerprint is not None]
        return self.groups, self.labels, marks, self.checksum


def of_labelled(
    X: Any, roles: Roles, rankers: Rankers, number: int, declared: float = math.nan, again: bool = False, **vectors: Any
) -> Coded:
    """Code a partition that contains positives and negatives.

    `vectors` are its parts of roles that are not columns: "label", "weight", "group". A partition that is read
    `again` gets a checksum.
    """
    with in_partition(number, "X"):
        X, positive, of_rows, labels = read(X, roles, declared, **vectors)
        sides = [positive, ~positive]
        c = of_rows["weight"]
        pos, neg = [marked(rows, number) for rows in sides_of(X, sides, c, rankers, "X")]
        groups = _groups_of(sides, c, of_rows["group"])
        return Coded((pos, neg), groups, labels, _checksum(_hashes.of_columns(X), positive, c) if again else None)


def read(
    X: Any, roles: Roles, declared: float = math.nan, **vectors: Any
) -> tuple[Any, Mask, dict[str, Any], Counter[str]]:
    """Return the rows of a labelled partition, which are positive, their other roles, and the labels."""
    n = X.shape[0]
    check_declared(n, declared, "X")
    of_rows: dict[str, Any] = {}
    for role in ("label", "weight", "group"):
        name = getattr(roles, role)
        of_rows[role] = vectors.get(role) if name is None else _column(X, name, role, roles.labels_called)
    labels = roles.labels()
    positive = labels.of(of_rows["label"], "row {}".format)
    of_rows["weight"] = _checks.weights(of_rows["weight"], "weight", n, some=False)
    if of_rows["group"] is not None:
        of_rows["group"] = _checks.labels(of_rows["group"], "group", n)
    return roles.without(X), positive, of_rows, labels.counts


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of some partitions, from which the weak rankers follow, and a checksum of each."""

    table: TableSample
    checksums: tuple[int, ...]


def drawn_of(X: Any, roles: Roles, number: int, first_row: int, declared: float, **vectors: Any) -> Sample:
    """Return the sample of the rows of a labelled partition, without rows of weight zero."""
    with in_partition(number, "X"):
        X, positive, of_rows, _ = read(X, roles, declared, **vectors)
        return _sample(X, positive, of_rows["weight"], first_row, "X")


def drawn_of_side(
    X: Any, name: Name, number: int, first_row: int, declared: float, weight: Any = None, group: Any = None
) -> Sample:
    """Return the sample of the rows of a partition of one side, without rows of weight zero."""
    with in_partition(number, name):
        check_declared(X.shape[0], declared, name)
        c = _checks.weights(weight, f"{name}_weight", X.shape[0], some=False)
        return _sample(X, np.full(X.shape[0], name == "pos"), c, first_row, name)


def _sample(X: Any, positive: Mask, c: Vector | None, first_row: int, name: str) -> Sample:
    columns = _hashes.of_columns(X)
    checksum, hashes = _checksum(columns, positive, c), _hashes.of_rows(columns)
    if c is not None and not c.all():
        counted = np.flatnonzero(c)
        X, positive, hashes = _checks.rows(X, counted), positive[counted], hashes[counted]
    return Sample(TableSample(name).add(X, positive, first_row, hashes), (checksum,))


def _checksum(columns: Sequence[Hashes], positive: Mask, c: Vector | None) -> int:
    """Return a number that changes with the values of a partition, its labels and which rows have weight zero."""
    return _hashes.checksum(columns, positive, *([] if c is None else [c > 0.0]))


def merged_samples(samples: Sequence[Sample]) -> Sample:
    """Merge samples in the order of their partitions."""
    tables = [of_part.table for of_part in samples]
    return Sample(reduce(TableSample.merge, tables), sum([of_part.checksums for of_part in samples], ()))


def _column(X: Any, name: Any, role: str, labels_called: str) -> Any:
    if name not in list(X.columns):
        called = labels_called if role == "label" else role
        raise ValueError(f"{called} is {_checks.shown(name)}, which is not a column of this partition")
    return X[name]


def of_side(
    X: Any,
    rankers: Rankers,
    name: Name,
    number: int,
    declared: float = math.nan,
    again: bool = False,
    weight: Any = None,
    group: Any = None,
) -> Coded:
    """Code a partition of one side; one that is read `again` gets a checksum."""
    rows = rows_of(X, weight, rankers, name, number, declared)
    with in_partition(number, name):
        n = X.shape[0]
        c = _checks.weights(weight, f"{name}_weight", n, some=False)
        own = [np.ones(n, bool), np.zeros(n, bool)][:: 1 if name == "pos" else -1]
        groups = _groups_of(own, c, None if group is None else _checks.labels(group, f"{name}_group", n))
    empty = Rows(NAMES[name == "pos"], 0, None)
    checksum = _checksum(_hashes.of_columns(X), own[0], c) if again else None
    return Coded((rows, empty) if name == "pos" else (empty, rows), groups, checksum=checksum)


def _groups_of(sides: Sequence[Mask], c: Vector | None, group: Any) -> tuple[Groups | None, Groups | None]:
    if group is None:
        return None, None
    pos, neg = [(group[0][own if c is None else own & (c > 0.0)].astype(np.int32), group[1]) for own in sides]
    return pos, neg
