"""Rows that do not fit in memory: read once for samples and weak rankers, and again for the codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._coded.columns import Labelled, columns_of
from pnorm._coded.sample import TableSample
from pnorm._command import columns as _columns
from pnorm._command import scores_file
from pnorm._command.columns import Columns, Rows
from pnorm._command.progress import Progress
from pnorm._command.terminal import CommandError, path_shown
from pnorm._job import hold_out
from pnorm._job.learn import Learned
from pnorm._job.sample import Index, Sample
from pnorm._job.whole import Whole
from pnorm._tables import RANK, Batch, Batches, Labels, Source, labelled, positive_labels
from pnorm._tables.batches import ROWS
from pnorm._tables.gathered import joined
from pnorm._tables.source import texts_of
from pnorm.rankers import _hashes
from pnorm.rankers._hashes import Hashes

SIDE, HELD = 2**16, 2**19
"""Rows of either side to train on, and rows to measure the list by, that are drawn at most."""

Mask = NDArray[np.bool_]
HeldIn = Callable[[Batch, Mask], Mask]


@dataclass(frozen=True, eq=False)
class Drawn:
    """The samples, counts and column summaries of a first reading."""

    file: Rows
    """The rows that were drawn, in the order of the source."""
    trained: Mask
    """Which of them are to train on."""
    held: Mask
    """Which of them are held out."""
    some: Mask
    """Which of them measure the list if no row is held out: a uniform sample of the rows."""
    n_held: int
    """The number of all held-out rows."""
    n_trained: tuple[int, int]
    """The numbers of all positives and negatives to train on."""
    whole: Whole
    """All rows to train on."""
    split: Callable[[], HeldIn]
    """Begin a reading: returns a function from a batch, and which of its rows count, to the rows that are held out."""


@dataclass(eq=False)
class Reader:
    """A source of batches that is read more than once."""

    batches: Batches
    columns: Columns
    path: str
    positive: Sequence[str] | None
    """The labels of the positives, if they are given."""
    like: Sequence[str] | None = None
    """The positive labels of other rows, which apply to these rows too."""
    progress: Progress | None = None
    unlabelled: str | None = None
    what: str = _columns.TO_TRAIN
    """The purpose of the labels, in messages."""
    negative: Sequence[str] | None = None
    """The labels of the negatives, if all labels that are neither positive nor negative count as none."""
    elsewhere: bool = False
    """Whether some of the labels of the positives may be in another file."""

    def __post_init__(self) -> None:
        self.label = self.columns.label or ""
        wanted = [*self.columns.used, self.columns.label, self.columns.id, self.columns.time]
        self.names = list(dict.fromkeys([name for name in wanted if name is not None]))
        self._known = self.like if self.positive is None else self.positive
        known = None if self._known is None else list(self._known)
        self._labels = Labels(
            self.label,
            known,
            "--positive",
            self.unlabelled,
            lambda counts: _columns.advice(counts, self.what, self.positive, self.negative),
        )
        self.n_empty = 0
        """The number of rows without a label, when all rows were read once."""
        self.n_undated = 0
        """The number of rows without a time, when all rows were read once."""
        self._texts: set[str] = set()
        """All labels, if --negative sets some of them apart."""
        self.counts = self._labels.counts
        """The number of rows of each label."""
        self.sums = 0
        """The checksum of the rows, when all were read once."""

    @property
    def is_many(self) -> bool:
        """Whether there are several files."""
        return self.batches.told[:1].isdigit()

    def read(self, stage: str, names: Sequence[str] | None = None) -> Iterator[Batch]:
        """Read all rows and report the progress."""
        for batch in self.batches.only(self.names if names is None else names):
            if batch.n_rows:
                yield batch
            if self.progress is not None:
                self.progress(stage, batch.first_row + batch.n_rows, self.batches.n_rows or 0)

    def signs(self, batch: Batch) -> Mask:
        """Return which rows of a batch are positive."""
        return self.known(batch)[0]

    def known(self, batch: Batch) -> tuple[Mask, Mask]:
        """Return which rows of a batch are positive, and which are to be learned from or measured by."""
        if self.columns.label is None:
            return np.zeros(batch.n_rows, bool), np.ones(batch.n_rows, bool)
        y, has_label = self._labels.known(self.labels(batch), batch.place)
        return y, has_label if self.is_apart else np.ones(batch.n_rows, bool)

    def labels(self, batch: Batch) -> Any:
        """Return the labels of a batch, empty where a row counts as without one by --negative."""
        column = batch.column(self.label)
        if self.negative is None:
            return column
        texts = texts_of(column)
        self._texts.update(texts)
        apart = _columns.set_apart(set(texts), self._known, self.negative)
        return ["" if text in apart else text for text in texts]

    @property
    def is_apart(self) -> bool:
        """Whether rows without a label are set apart."""
        return self.unlabelled == RANK

    def positives(self) -> set[str]:
        """Return the positive labels when all rows were read once; refuse rows of one kind."""
        where = f" of {path_shown(self.path)}" if self.like is not None else ""
        self.n_empty = self._labels.n_missing
        if self.negative is not None:
            _columns.check_negative(self._texts, self.negative, self.what)
        if self.n_empty:
            _columns.check_known(self.counts, self.label, self.path, self.unlabelled)
        n_negative = 0 if self.is_apart else self.n_empty
        known = (
            self._known if self.positive is None else _columns.looked_for(self.counts, self.positive, self.elsewhere)
        )
        found = positive_labels(self.counts, self.label, known, where, "--positive", n_negative)
        self._labels = Labels(self.label, found, "--positive", self.unlabelled)
        return found

    def table(self, batch: Batch, rows: Index) -> Any:
        """Return the columns to learn from of some rows."""
        table = self.columns.cleaned(columns_of(batch, self.columns.used))
        return table if rows.size == batch.n_rows else _checks.rows(table, rows)

    def place(self, row: int) -> str:
        """Return where a row is, which is read again."""
        for batch in self.batches.only(self.names[:1]):
            if row < batch.first_row + batch.n_rows:
                return batch.place(row - batch.first_row)
        return f"row {row} of {self.path}"

    def rows(self, samples: Sequence[Sample], positive: set[str]) -> tuple[Rows, list[Mask]]:
        """Return the rows of some samples, and which of them are in each."""
        parts, of_parts = zip(*[sample.found() for sample in samples], strict=True)
        numbers, first = np.unique(np.concatenate(of_parts), return_index=True)
        there = [part for part, own in zip(parts, of_parts, strict=True) if own.size]
        columns = {name: _checks.rows(column, first) for name, column in joined(there, self.names).items()}
        source = Source(self.batches, columns, lambda i: self.place(int(numbers[i])))
        of_parts = [np.isin(numbers, own) for own in of_parts]
        if self.columns.label is None:
            ids = None if self.columns.id is None else source.texts(self.columns.id)
            return Rows(source, source.columns(self.columns.used), ids, numbers=numbers), of_parts
        n_negative = 0 if self.is_apart else self.n_empty
        sizes = n_negative + sum(self.counts.values()), sum([self.counts[label] for label in positive])
        found = _columns.rows_of_labels(source, self.columns, source.texts(self.label), positive)
        found = replace(found, n_empty=self.n_empty, is_empty_negative=n_negative > 0, n_undated=self.n_undated)
        return replace(found, numbers=numbers, counts=sizes), of_parts


def first_reading(reader: Reader, arguments: argparse.Namespace) -> Drawn:
    """Read all rows: draw samples, hold rows out, and summarise the columns for the weak rankers."""
    seed, split = arguments.seed or 0, _split(reader, arguments)
    keys_of, held_in = np.random.default_rng([seed, 1]), split()
    pos, neg, held, some = [Sample(most, reader.names) for most in (SIDE, SIDE, HELD, HELD)]
    whole, sums = TableSample("source"), 0
    counts = np.zeros((2, 2), np.int64)
    for batch in reader.read("reading"):
        y, there = reader.known(batch)
        out = held_in(batch, there) & there
        keys = keys_of.random(batch.n_rows)
        for sample, rows in ((pos, there & ~out & y), (neg, there & ~out & ~y), (held, out)):
            at = np.flatnonzero(rows)
            sample.add(batch.table, at, keys[at], batch.first_row)
        for k, rows in enumerate((there & ~out, out)):
            counts[k] += np.count_nonzero(rows & y), np.count_nonzero(rows & ~y)
        if not counts[1].any() and arguments.test is None:
            some.add(batch.table, np.flatnonzero(there), keys[there], batch.first_row)
        hashes = _hashes.of_columns(batch.table)
        of_rows = _hashes.of_rows([hashes[reader.names.index(name)] for name in reader.columns.used])
        at = np.flatnonzero(there & ~out)
        whole.add(reader.table(batch, at), y[at], batch.first_row + at, of_rows[at])
        sums += _sum_of(batch, hashes)
    reader.sums = sums % 2**64
    positive = reader.positives()
    if arguments.test is None and arguments.holdout != 0:
        _check(counts)
    measured = held if counts[1].any() else some
    file, (is_pos, is_neg, is_measured) = reader.rows([pos, neg, measured], positive)
    nothing = np.zeros(is_pos.size, bool)
    is_held, is_some = (is_measured, nothing) if measured is held else (nothing, is_measured)
    return Drawn(
        file,
        is_pos | is_neg,
        is_held,
        is_some,
        int(counts[1].sum()),
        (int(counts[0, 0]), int(counts[0, 1])),
        Whole(whole, lambda: _again(reader, split())),
        split,
    )


def drawn_of(reader: Reader, seed: int) -> Rows:
    """Read all rows, and draw some that the list is measured by."""
    rng, some = np.random.default_rng([seed, 2]), Sample(HELD, reader.names)
    for batch in reader.read(f"reading {path_shown(reader.path)}"):
        _, there = reader.known(batch)
        some.add(batch.table, np.flatnonzero(there), rng.random(batch.n_rows)[there], batch.first_row)
    found, _ = reader.rows([some], reader.positives())
    return found


def _again(reader: Reader, held_in: HeldIn) -> Iterator[Labelled]:
    """Read the rows to train on again."""
    sums = 0
    for batch in reader.read("reading again"):
        y, there = reader.known(batch)
        rows = np.flatnonzero(there & ~held_in(batch, there))
        sides = np.flatnonzero(y[rows]), np.flatnonzero(~y[rows])
        yield Labelled(reader.table(batch, rows), rows.size, sides, None, None, batch)
        sums += _sum_of(batch, _hashes.of_columns(batch.table))
    if sums % 2**64 != reader.sums:
        raise CommandError(f"{path_shown(reader.path)} had other values when it was read first. Run the command again")


def _sum_of(batch: Batch, hashes: Sequence[Hashes]) -> int:
    """Return a checksum of rows and their places, by which rows are held out."""
    return _hashes.checksum(hashes, np.arange(batch.first_row, batch.first_row + batch.n_rows))


def _split(reader: Reader, arguments: argparse.Namespace) -> Callable[[], HeldIn]:
    """Return a function that begins a reading and returns a function from a batch to its held-out rows."""
    share = hold_out.SHARE if arguments.holdout is None else arguments.holdout
    time = reader.columns.time
    if arguments.test is not None or share == 0:
        return lambda: lambda batch, there: np.zeros(batch.n_rows, bool)
    if time is None:
        seed = arguments.seed or 0

        def drawing() -> HeldIn:
            rng = np.random.default_rng([seed, 0])
            return lambda batch, there: rng.random(batch.n_rows) < share

        return drawing
    times = _columns.times_of(reader.columns, reader.path, arguments, reader.place)
    with _columns.read_as_times(time, reader.place):
        first = _first_of_latest(reader, times, time, share)

    def reading() -> HeldIn:
        reader.n_undated = 0

        def held_in(batch: Batch, there: Mask) -> Mask:
            held, at = np.zeros(batch.n_rows, bool), np.flatnonzero(there)
            if at.size:
                with _columns.read_as_times(time, reader.place):
                    x = times.read(_checks.rows(batch.column(time), at))
                held[at] = x >= first
                reader.n_undated += int(np.count_nonzero(np.isnan(x)))
            return held

        return held_in

    return reading


def _first_of_latest(reader: Reader, times: hold_out.Times, time: str, share: float) -> float:
    """Return the first time of the held-out rows. It reads their column once."""
    for batch in reader.read("reading the times", [time, *[reader.label] * reader.is_apart]):
        there = np.ones(batch.n_rows, bool)
        if reader.is_apart:
            there = labelled(reader.labels(batch), f"the label {_checks.shown(reader.label)}", batch.place)
        at = np.flatnonzero(there)
        times.add(_checks.rows(batch.column(time), at), batch.first_row + at)
    return hold_out.first_of_latest(*times.points(), share, time)


def _check(counts: NDArray[np.int64]) -> None:
    """Raise ValueError if a part of the split lacks a class; `counts` has both parts and both classes."""
    if not counts.all():
        parts = np.repeat([False, False, True, True], counts.ravel())
        hold_out.both(parts, np.repeat([True, False, True, False], counts.ravel()))


def write_scores(
    path: str,
    reader: Reader,
    learned: Learned,
    threshold: float | None,
    split: Callable[[], HeldIn] | None,
    has_probability: bool = True,
) -> int:
    """Write the scores of all rows, in their order; return how many there are.

    The rows are read for the scores, of which all are kept for the ranks. Their ids are read again.
    """
    held_in, f = None if split is None else split(), [np.empty(0)]
    held, has_label = [np.zeros(0, bool)], [np.zeros(0, bool)]
    for batch in reader.read("scoring"):
        f.append(learned.score(reader.table(batch, np.arange(batch.n_rows)), strict=None))
        there = reader.known(batch)[1] if reader.is_apart else np.ones(batch.n_rows, bool)
        has_label.append(there)
        if held_in is not None:
            held.append(held_in(batch, there) & there)
    scores, is_held = np.concatenate(f), None if split is None else np.concatenate(held)
    take = None if threshold is None else scores >= threshold
    known = np.concatenate(has_label) if reader.is_apart else None
    probability = learned.probability(scores) if has_probability else None
    write_in_order(path, reader, scores, probability, take, is_held, known)
    return scores.size


def write_in_order(
    path: str,
    reader: Reader,
    f: Vector,
    probability: Vector | None,
    take: Mask | None,
    held: Mask | None = None,
    has_label: Mask | None = None,
) -> None:
    """Write what is known of all rows, in their order, with their ids, which are read again."""
    columns = scores_file.columns(f, None, probability, take, held, None, has_label)
    scores_file.write_parts(path, _parts_of(columns, reader, f.size))


def _parts_of(columns: Mapping[str, Any], reader: Reader, n_rows: int) -> Iterator[dict[str, Any]]:
    """Yield the columns batch by batch, with the ids and the labels of the rows if they have some."""
    ids, label = reader.columns.id, reader.columns.label
    read_again = [name for name in (ids, label) if name is not None]
    if not read_again:
        for start in range(0, n_rows, ROWS):
            yield {name: values[start : start + ROWS] for name, values in columns.items()}
        return
    for batch in reader.read("writing the scores", read_again):
        rows = slice(batch.first_row, batch.first_row + batch.n_rows)
        of_batch = {name: values[rows] for name, values in columns.items() if ids is None or name != "row"}
        if ids is not None:
            of_batch = {scores_file.id_name(ids): texts_of(batch.column(ids))} | of_batch
        if label is not None:
            of_batch[scores_file.label_name(label, ids)] = texts_of(batch.column(label))
        yield of_batch
