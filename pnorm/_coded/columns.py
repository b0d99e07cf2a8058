"""The columns of batches of labelled rows: inputs, the label, weights and groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.text import first
from pnorm._tables.batches import Batch, Batches
from pnorm._tables.labels import Groups, Labels, numbers
from pnorm.rankers import _hashes
from pnorm.rankers._hashes import Hashes


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows of a batch, without rows of weight zero."""

    table: Any
    """The columns that weak rankers read."""
    n_rows: int
    sides: tuple[NDArray[np.intp], NDArray[np.intp]]
    """The places of the positives, and of the negatives, that count."""
    weight: Vector | None
    group: NDArray[np.intp] | None
    batch: Batch
    hashes: Sequence[Hashes] = ()
    """Those of each column of the table, where it is read twice."""

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether each row is positive."""
        found = np.zeros(self.n_rows, bool)
        found[self.sides[0]] = True
        return found


@dataclass(eq=False)
class Asked:
    """A source of batches, and the roles of its columns."""

    batches: Batches
    label: Any
    positive: Any
    weight: Any
    group: Any
    used: list[str] | None
    """The columns that weak rankers read; None for all columns of a matrix."""
    is_read_twice: bool = False
    found: str = ""
    """The positive label, in all its spellings, once the rows are read."""
    _sizes: tuple[int, int, int] | None = None
    _sums: int | None = None

    @classmethod
    def of(
        cls,
        batches: Batches,
        label: Any,
        positive: Any,
        weight: Any,
        group: Any,
        ignore: Any,
        is_read_twice: bool = False,
    ) -> Asked:
        """Check that the columns exist."""
        label, weight, group = [
            _one_per_row(given, argument)
            for given, argument in ((label, "label"), (weight, "weight"), (group, "group"))
        ]
        beside = {"label": label, "weight": weight, "group": group}
        named = {argument: name for argument, name in beside.items() if isinstance(name, str)}
        ignored = [ignore] if isinstance(ignore, str) else list(ignore)
        if batches.names is None:
            if named or ignored:
                argument, name = next(iter(named.items()), ("ignore", ignored[:1]))
                raise ValueError(f"{argument} = {_checks.shown(name)} names a column, and {batches.told} has no names")
            return cls(batches, label, positive, weight, group, None, is_read_twice)
        for argument, name in [*named.items(), *[("ignore", name) for name in ignored]]:
            if name not in batches.names:
                have = first(batches.names, 20, _checks.shown)
                raise ValueError(f"{argument} = {_checks.shown(name)} is no column of {batches.told}: it has {have}")
        out = {*named.values(), *ignored}
        used = [name for name in batches.names if name not in out]
        if not used:
            few = first(sorted(out), 8, _checks.shown)
            raise ValueError(f"{batches.told} has no column to learn from beside {few}")
        if out.intersection(ignored) - set(named.values()):
            batches = batches.only([name for name in batches.names if name in used or name in named.values()])
        return cls(batches, label, positive, weight, group, used, is_read_twice)

    def labelled(self) -> Iterator[Labelled]:
        """Read all rows, batch by batch; those whose weight is zero are on no side."""
        labels, groups = Labels(_called(self.label, "label"), self.positive), Groups(_called(self.group, "group"))
        sizes, n_rows, sums = [0, 0], 0, 0
        for batch in self.batches:
            n, place = batch.n_rows, batch.place
            n_rows += n
            beside = {
                of: self._column(batch, given, of)
                for of, given in (("label", self.label), ("weight", self.weight), ("group", self.group))
                if given is not None
            }
            signs = labels.of(beside["label"], place)
            weight = group = None
            if self.weight is not None:
                what = f"the weight {_checks.shown(_called(self.weight, 'weight'))}"
                weight = numbers(beside["weight"], what, place)
                if (weight < 0.0).any():
                    row = int(np.argmax(weight < 0.0))
                    raise ValueError(f"{what} is {weight[row]} in {place(row)}; weights are zero or more")
            if self.group is not None:
                group = groups.of(beside["group"], place)
            counts = np.ones(n, bool) if weight is None else weight > 0.0
            sides = np.flatnonzero(signs & counts), np.flatnonzero(~signs & counts)
            sizes = [size + rows.size for size, rows in zip(sizes, sides, strict=True)]
            table = self._table(batch)
            hashes = _hashes.of_columns(table) if self.is_read_twice else []
            yield Labelled(table, n, sides, weight, group, batch, hashes)
            if self.is_read_twice:
                sums = (sums + _hashes.checksum(hashes, *beside.values())) % 2**64
        for argument in ("label", "weight", "group"):
            given = getattr(self, argument)
            if given is not None and not isinstance(given, str) and len(given) != n_rows:
                raise ValueError(f"{argument} has {len(given):,} values, and {self.batches.told} has {n_rows:,} rows")
        self.found = ", ".join(sorted(labels.check()))
        for size, name in zip(sizes, ("positive", "negative"), strict=True):
            if size == 0:
                raise ValueError(f"{self.batches.told} has no {name} row of positive weight")
        if self._sizes is not None and self._sizes != (n_rows, *sizes):
            raise ValueError(
                f"{self.batches.told} had {self._sizes[0]:,} rows, {self._sizes[1]:,} of them positive, when it was "
                f"read first, and has {n_rows:,} now, {sizes[0]:,} of them positive; it must say the same each time"
            )
        if self._sums is not None and self._sums != sums:
            raise ValueError(
                f"{self.batches.told} had other values when it was read first; it must say the same each time, as the "
                "cuts are those of the first reading"
            )
        self._sizes, self._sums = (n_rows, sizes[0], sizes[1]), sums

    def _column(self, batch: Batch, given: Any, argument: str) -> Any:
        """Values of the rows of a batch: of a column, or of an argument with one for each row."""
        if isinstance(given, str):
            return batch.column(given)
        rows = np.arange(batch.first_row, batch.first_row + batch.n_rows)
        if rows.size and rows[-1] >= len(given):
            raise ValueError(f"{argument} has {len(given):,} values, and {self.batches.told} has more rows")
        return _checks.rows(given, rows)

    def _table(self, batch: Batch) -> Any:
        if self.used is None or self.batches.names is None or len(self.used) == len(self.batches.names):
            return batch.table
        return columns_of(batch, self.used)


def _called(given: Any, argument: str) -> str:
    return given if isinstance(given, str) else argument


def _one_per_row(given: Any, argument: str) -> Any:
    """Return the name of a column as it is, and values of rows as something of a length."""
    if given is None or isinstance(given, str):
        return given
    if hasattr(given, "__array__") or hasattr(given, "__array_interface__"):
        given = np.asarray(given) if not hasattr(given, "__len__") else given
    shape = _checks.shape_of(given)
    try:
        if len(shape) < 2 and not isinstance(given, (bytes, Mapping)) and len(given) >= 0:
            return given
    except (TypeError, ValueError):  # a scalar, and an array without dimensions, has a length that it refuses to tell
        pass
    got = f"shape {shape}" if len(shape) > 1 else _checks.shown(given)
    raise TypeError(f"{argument} must be the name of a column, or one value for each row; got {got}")


def columns_of(batch: Batch, names: Sequence[str]) -> Any:
    """Return some columns of the rows of a batch, as a table of the same kind."""
    X = batch.table
    if _checks.is_columns(X):
        return {name: X[name] for name in names}
    if hasattr(X, "iloc"):  # whose names may be numbers
        known = list(map(str, X.columns))
        return X.iloc[:, [known.index(name) for name in names]]
    return X.select(list(names))
