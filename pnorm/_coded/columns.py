"""The columns of batches of labelled rows: those that are learned from, the label, weights and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector, reads_as_missing
from pnorm._checks.text import first
from pnorm._split import sign_of, word
from pnorm._tables.batches import Batch, Batches


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows of a batch that count."""

    table: Any
    """The columns that are learned from."""
    n_rows: int
    sides: tuple[NDArray[np.intp], NDArray[np.intp]]
    """The places of the positives, and of the negatives, that count."""
    weight: Vector | None
    group: NDArray[np.intp] | None
    batch: Batch

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether each row is positive."""
        found = np.zeros(self.n_rows, bool)
        found[self.sides[0]] = True
        return found


@dataclass(eq=False)
class Labels:
    """Which labels are positive, told batch by batch."""

    name: str
    wanted: Any = None
    known: dict[str, tuple[Any, bool]] = field(default_factory=dict)
    """By the word of a label, the label and whether it is positive."""

    def of(self, values: Any, batch: Batch) -> NDArray[np.bool_]:
        """Return which rows of a batch are positive."""
        try:
            codes, labels = _checks.labels(values, self.name, batch.n_rows)
        except ValueError as error:
            raise ValueError(f"{error}, in the rows from {batch.place(0)} on") from None
        signs = np.zeros(len(labels), bool)
        for k, label in enumerate(labels):
            signs[k] = self._sign(label, partial(_first_place, batch, codes, k))
        return signs[codes]

    def _sign(self, label: Any, place: Callable[[], str]) -> bool:
        text = word(label)
        if text not in self.known:
            if isinstance(label, str) and reads_as_missing(label):
                raise ValueError(f"the label {self.name} is missing in {place()}; every row needs one")
            sign = text == word(self.wanted) if self.wanted is not None else sign_of(text)
            if sign is None:
                raise ValueError(
                    f"say which label of {self.name} is positive with pos_label=...; {place()} has "
                    f"{_checks.shown(label)}"
                )
            self.known[text] = label, sign
        return self.known[text][1]

    def check(self) -> Any:
        """Refuse rows of one kind only; return the positive label."""
        by_sign = {sign: label for label, sign in self.known.values()}
        few = first([label for label, _ in self.known.values()], 8, _checks.shown)
        if len(self.known) == 1:
            raise ValueError(f"all rows of {self.name} have the label {few}; both kinds of rows are needed")
        if True not in by_sign:
            raise ValueError(f"no row of {self.name} has the label {_checks.shown(self.wanted)}; the labels are {few}")
        if self.wanted is None and len(self.known) > 2:
            raise ValueError(f"say which label of {self.name} is positive with pos_label=...; the labels are {few}")
        return by_sign[True]


def _first_place(batch: Batch, codes: NDArray[np.intp], k: int) -> str:
    return batch.place(int(np.argmax(codes == k)))


@dataclass(eq=False)
class Asked:
    """A source of batches, and what its columns are for."""

    batches: Batches
    label: Any
    positive: Any
    weight: Any
    group: Any
    used: list[str] | None
    """The columns that are learned from; None for all of a matrix."""
    found: Any = None
    """The positive label, once the rows are read."""
    _sizes: tuple[int, int, int] | None = None

    @classmethod
    def of(cls, batches: Batches, label: Any, positive: Any, weight: Any, group: Any, ignore: Any) -> Asked:
        """Check which columns there are."""
        beside = {"label": label, "weight": weight, "group": group}
        named = {argument: name for argument, name in beside.items() if isinstance(name, str)}
        ignored = [ignore] if isinstance(ignore, str) else list(ignore)
        if batches.names is None:
            if named or ignored:
                argument, name = next(iter(named.items()), ("ignore", ignored[:1]))
                raise ValueError(f"{argument} = {_checks.shown(name)} names a column, and {batches.told} has no names")
            return cls(batches, label, positive, weight, group, None)
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
        return cls(batches, label, positive, weight, group, used)

    def labelled(self) -> Iterator[Labelled]:
        """Read all rows, batch by batch; those whose weight is zero are on no side."""
        labels, groups, sizes, n_rows = Labels(self._called, self.positive), _checks.Known(), [0, 0], 0
        for batch in self.batches:
            n = batch.n_rows
            n_rows += n
            signs = labels.of(self._column(batch, self.label, "label"), batch)
            weight = group = None
            if self.weight is not None:
                weight = _checks.weights(self._column(batch, self.weight, "weight"), "weight", n, some=False)
            if self.group is not None:
                group = _checks.codes_of_labels(self._column(batch, self.group, "group"), "group", n, groups)
            counts = np.ones(n, bool) if weight is None else weight > 0.0
            sides = np.flatnonzero(signs & counts), np.flatnonzero(~signs & counts)
            sizes = [size + rows.size for size, rows in zip(sizes, sides, strict=True)]
            yield Labelled(self._table(batch), n, sides, weight, group, batch)
        for argument in ("label", "weight", "group"):
            given = getattr(self, argument)
            if given is not None and not isinstance(given, str) and len(given) != n_rows:
                raise ValueError(f"{argument} has {len(given):,} values, and {self.batches.told} has {n_rows:,} rows")
        self.found = labels.check()
        for size, name in zip(sizes, ("positive", "negative"), strict=True):
            if size == 0:
                raise ValueError(f"{self.batches.told} has no {name} row of positive weight")
        if self._sizes is not None and self._sizes != (n_rows, *sizes):
            raise ValueError(
                f"{self.batches.told} had {self._sizes[0]:,} rows, {self._sizes[1]:,} of them positive, when it was "
                f"read first, and has {n_rows:,} now, {sizes[0]:,} of them positive; it must say the same each time"
            )
        self._sizes = n_rows, sizes[0], sizes[1]

    @property
    def _called(self) -> str:
        return _checks.shown(self.label) if isinstance(self.label, str) else "label"

    def _column(self, batch: Batch, given: Any, argument: str) -> Any:
        """Values of the rows of a batch: of a column, or of an argument with one for each row."""
        if isinstance(given, str):
            return column_called(batch.table, given)
        rows = np.arange(batch.first_row, batch.first_row + batch.n_rows)
        if rows.size and rows[-1] >= len(given):
            raise ValueError(f"{argument} has {len(given):,} values, and {self.batches.told} has more rows")
        return _checks.rows(given, rows)

    def _table(self, batch: Batch) -> Any:
        return batch.table if self.used is None else columns_called(batch.table, self.used)


def column_called(X: Any, name: str) -> Any:
    """Return a column of a table."""
    return X.column(name) if hasattr(X, "column_names") else X[name]


def columns_called(X: Any, names: Sequence[str]) -> Any:
    """Return some columns of a table, as a table of the same kind."""
    if _checks.is_columns(X):
        return {name: X[name] for name in names}
    return X[list(names)] if hasattr(X, "iloc") else X.select(list(names))
