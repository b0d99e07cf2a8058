"""Rows of a Dask collection, coded once and stored on the workers."""

from __future__ import annotations

import contextlib
import numbers
import pickle
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import dask
import numpy as np

from pnorm import _checks
from pnorm._checks import CaseWeights, DaskRows, Label, Vector
from pnorm._checks.text import first
from pnorm._coded.code_rows import N_CUTS, check_options
from pnorm._solvers.building import rankers_of
from pnorm._solvers.partitioned import Partitions
from pnorm._solvers.problem import Problem
from pnorm._solvers.reductions import NAMES, Job, Name, Rows, reduction
from pnorm._tables.labels import Labels
from pnorm._tables.source import TableError
from pnorm._threads import SERIAL, Pool
from pnorm.dask._cluster import FAN_IN, Cluster, Traffic
from pnorm.dask._coding import Coded, Groups, Roles, drawn_of, drawn_of_side, merged_samples, of_labelled, of_side
from pnorm.dask._partitions import declared, matched, sample_of, whole
from pnorm.objectives._base import Make
from pnorm.objectives._losses import work
from pnorm.rankers import Rankers, WeakRankers, as_rankers
from pnorm.rankers._base import Index

Pair = tuple[Any, Any]


class CodedRows:
    """Rows of a Dask collection, coded once and stored on the workers. `code_rows` makes it.

    Attributes
    ----------
    H : Rankers
        The weak rankers.
    n_pos, n_neg : int
        Numbers of positive and negative rows, without rows of weight zero.
    n_partitions : int
        Number of partitions.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> import pnorm.dask
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(1000, 3)), np.arange(1000) % 4 == 0
    >>> rows = pnorm.dask.code_rows(dask.array.from_array(X, chunks=(500, 3)), dask.array.from_array(y, chunks=500))
    >>> rows
    <CodedRows: 250 positives and 750 negatives in 2 partitions, 762 weak rankers>
    >>> rows.n_pos, rows.n_neg, rows.n_partitions, rows.nbytes > 0
    (250, 750, 2, True)
    """

    def __init__(
        self,
        H: Rankers,
        partitions: Partitions,
        codes: tuple[Index, Index] | None,
        n_partitions: int,
    ) -> None:
        self.H, self._partitions, self._codes = H, partitions, codes
        self.n_pos, self.n_neg = [side.n for side in partitions.sides]
        self.n_partitions = n_partitions

    @property
    def nbytes(self) -> int:
        """Bytes of the coded rows on all workers together. The call reads one number from each partition."""
        return sum(self._partitions.executor.reduce(_size, [Job(side.parts) for side in self._partitions.sides]))

    def __repr__(self) -> str:
        return (
            f"<CodedRows: {self.n_pos:,} positives and {self.n_neg:,} negatives in {self.n_partitions:,} partitions, "
            f"{len(self.H):,} weak rankers>"
        )

    @cached_property
    def _weights(self) -> tuple[Vector, Vector] | tuple[None, None]:
        """The case weights of all rows, which come here; None where no row has one."""
        sides = self._partitions.sides
        if not any(side.max_log_c for side in sides):
            return None, None
        pos, neg = self._partitions.executor.reduce(_log_weights, [Job(side.parts) for side in sides])
        return np.exp(pos), np.exp(neg)

    @contextlib.contextmanager
    def _problem(self, make: Make, loss: Any, push: str, group_weight: str) -> Iterator[Problem]:
        """Give the problem of an objective."""
        names, partitions = self.H.names, self._partitions
        assert isinstance(partitions.executor, Cluster)
        partitions.executor.traffic = Traffic()
        objective = make(CaseWeights(None, None, None, None, 0), SERIAL)
        if objective.traits.factored and self._codes is None and group_weight == "pairs":
            yield partitions.problem(names, objective, push)
            return
        # Scores, weights and groups of all rows are held here.
        n_pos, n_neg, (c_pos, c_neg) = self.n_pos, self.n_neg, self._weights
        counted = _checks.case_weights_of(n_pos, n_neg, c_pos, c_neg, self._codes, group_weight=group_weight)
        with Pool(None, work(loss, n_pos, n_neg)) as pool:
            yield partitions.problem(names, make(counted.seen_by(push), pool), push)


def code_rows(
    pos: DaskRows,
    label: DaskRows | None = None,
    H: Literal["table"] | WeakRankers = "table",
    *,
    neg: DaskRows | None = None,
    pos_label: Label | None = None,
    weight: DaskRows | None = None,
    group: DaskRows | None = None,
    ignore: str | Sequence[str] = (),
    pos_weight: DaskRows | None = None,
    neg_weight: DaskRows | None = None,
    pos_group: DaskRows | None = None,
    neg_group: DaskRows | None = None,
    **of_table: Any,
) -> CodedRows:
    """Read rows in partitions once, and store on the workers the codes that the weak rankers make of them.

    A row takes a byte or two for each column with cuts or levels; other outputs are stored as they are. The rows
    themselves are not stored. Pass the result to `train` or `minimize` in the place of the rows: they read nothing
    again.

    Parameters
    ----------
    pos : dask Array, shape (I, d), or dask DataFrame
        The positive rows; or, with `label`, all rows. A partition may contain positives and negatives.
    label : str, or dask or NumPy array or dask Series of N labels, optional
        The column of `pos` that tells positives from negatives, or the label of every row.
    H : "table", None, sequence of callables, or Rankers
        The weak rankers. ``"table"`` makes them on the workers, as `pnorm.rankers.from_table` does, which reads
        the rows once more. None takes the columns as they are. A collection is used as it is; callables are called
        with one partition at a time.
    neg : dask Array, shape (K, d), or dask DataFrame, optional
        The negative rows, where there is no `label`.
    pos_label : label, optional
        The label of positive rows; all others are negative. It may be left out if the labels are 1 and 0, true
        and false, or yes and no. As in `pnorm.code_rows`.
    weight : str, or dask or NumPy array or dask Series of N numbers, optional
        With `label`, the column of case weights, or the weight of every row. Rows of weight zero are not kept.
    group : str, or dask or NumPy array or dask Series of N labels, optional
        With `label`, the column of query groups, or the group of every row. A group may lie in several partitions.
    ignore : str or sequence of str
        With `label`, further columns that are not learned from.
    pos_weight, neg_weight : dask or NumPy array, or dask Series, shape (I,) and (K,), optional
        Case weights, zero or more. Dask ones are in the same partitions as the rows.
    pos_group, neg_group : sequence, dask array or dask Series of labels, of length I and K, optional
        Query groups: pairs form within a group only. A group may lie in several partitions.
    **of_table
        Options of `pnorm.rankers.from_table`, for ``H="table"``: `kinds`, `n_cuts`, `linear`, `monotone`, `min_rows`,
        `max_levels`.

    Returns
    -------
    CodedRows
        The rows, with `H`, `n_pos`, `n_neg`, `n_partitions` and `nbytes`. The workers free the rows when nothing refers
        to the object.

    Raises
    ------
    ValueError, TypeError
        If rows cannot be used; the message names the partition, and calls the rows X if `label` is given. If
        `pos_label` is needed and not given, or if all labels are of one kind.

    Warns
    -----
    TableWarning
        With ``H="table"``, if columns are left out, or may be known only after the outcome.
    UnknownLevelWarning
        If values are not levels of `H`.

    See Also
    --------
    train, minimize : Functions that take the coded rows.

    Notes
    -----
    All columns of a frame except those of `label`, `weight` and `group` are columns of the table. Weak rankers
    that were made of a frame find their columns by name and ignore the others.

    One task reads a partition and codes the rows of both sides; the partition is freed afterwards. A given `H` needs
    one reading. ``H="table"`` needs two: one for the rows that determine cuts and levels, and one for the codes. The
    first keeps up to 200,000 rows of each partition, merges these on the workers, and sends 200,000 to this process;
    `pnorm.code_rows` describes which, and what the weak rankers are. Groups are sent to this process, 4
    bytes per row. If a worker is lost, its partitions are read again.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> import pnorm.dask
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> X = dask.array.from_array(np.concatenate([data.pos, data.neg]), chunks=(100, -1))
    >>> y = np.repeat([1, 0], [len(data.pos), len(data.neg)])
    >>> rows = pnorm.dask.code_rows(X, y)
    >>> rows
    <CodedRows: 626 positives and 332 negatives in 10 partitions, 18 weak rankers>
    >>> lam, trace = pnorm.dask.train(rows, p=4, t_max=20)
    >>> lam, trace = pnorm.dask.minimize(rows, p=4, l2=0.1)
    """
    of_sides = {"pos_weight": pos_weight, "neg_weight": neg_weight, "pos_group": pos_group, "neg_group": neg_group}
    of_rows = {"weight": weight, "group": group}
    return _coded(
        pos, label, H, of_table, neg=neg, pos_label=pos_label, of_rows=of_rows, ignore=ignore, of_sides=of_sides
    )


def _coded(
    pos: Any,
    label: Any,
    H: Any,
    of_table: dict[str, Any],
    *,
    neg: Any,
    pos_label: Any,
    of_rows: dict[str, Any],
    ignore: Any,
    of_sides: dict[str, Any],
    called: str = "label",
) -> CodedRows:
    """Return the result of `code_rows`, with messages that name the labels as they were `called`."""
    check_options(H, of_table)
    if label is None:
        given = of_rows | {"pos_label": pos_label, "ignore": ignore or None}
        _refuse(
            given,
            "is for rows with labels: pass the labels, or the name of their column, as y, or as label to code_rows",
        )
        if neg is None:
            raise TypeError(
                "neg is missing: pass the negative rows, or the label of every row, as in pnorm.dask.train(X, y=labels)"
            )
        return _of_sides(pos, neg, H, of_table, of_sides)
    if neg is not None:
        raise ValueError(
            f"{called} and neg are both given. With labels, pass all rows as the first argument, without neg"
        )
    if getattr(label, "ndim", 1) != 1:
        raise ValueError(
            f"{called} must be a vector, one label per row; got {label.ndim} dimensions. Pass negative rows as neg"
        )
    _refuse(of_sides, "is for rows of two sides. With labels, pass weight and group of all rows")
    ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    return _of_label(pos, H, of_table, label, pos_label, of_rows, ignored, called)


def _refuse(given: Mapping[str, Any], why: str) -> None:
    """Raise ValueError for arguments that cannot be combined with the others."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} {why}")


def coded_or_read(pos: Any, neg: Any, H: Any, *, y: Any, label: Any, **given: Any) -> CodedRows:
    """Return coded rows: those that were passed, or coded for one call. `y` and `label` are two names of the labels."""
    if y is not None and label is not None:
        raise ValueError("y and label are both given, and are two names of one argument; leave label out")
    called, label = ("label", label) if y is None else ("y", y)
    if not isinstance(pos, CodedRows):
        of_rows = {what: given.pop(what, None) for what in ("weight", "group")}
        pos_label = given.pop("pos_label")
        return _coded(
            pos,
            label,
            H,
            {},
            neg=neg,
            pos_label=pos_label,
            of_rows=of_rows,
            ignore=given.pop("ignore", ()),
            of_sides=given,
            called=called,
        )
    if isinstance(neg, numbers.Real):
        raise TypeError(f"coded rows contain both sides. Pass p by name: p={neg}")
    given = {"neg": neg, "H": H, called: label} | given
    _refuse(given, "is given together with coded rows, which have it: pass it to code_rows")
    return pos


def _of_label(
    X: Any,
    H: Any,
    of_table: dict[str, Any],
    label: Any,
    pos_label: Any,
    of_rows: dict[str, Any],
    ignore: tuple[str, ...],
    called: str,
) -> CodedRows:
    """Code rows of both sides that lie together; `called` is the name of the argument `label` in messages."""
    sample = sample_of(X, "pos")
    given = {"label": label} | {role: value for role, value in of_rows.items() if value is not None}
    names = {role: value for role, value in given.items() if isinstance(value, str)}
    as_called = [(called if role == "label" else role, name) for role, name in names.items()]
    named = [*as_called, *[("ignore", name) for name in ignore]]
    _check_columns(named, list(sample.columns) if hasattr(sample, "columns") else None)
    roles = Roles(pos_label=pos_label, ignore=ignore, labels_called=called, **names)
    vectors = {role: value for role, value in given.items() if role not in names}
    parts, beside = matched(X, vectors, labels_called=called)
    lengths, what = declared(X, len(parts)), whole(roles)
    checksums: Sequence[int] | None = None
    if isinstance(H, str):
        draw = dask.delayed(drawn_of, pure=False)
        each = enumerate(zip(parts, beside, _starts(lengths), strict=True))
        rankers, checksums = _of_table(
            [draw(part, what, k, start, lengths[k], **own) for k, (part, own, start) in each], of_table
        )
    else:
        rankers = as_rankers(H, roles.without(sample), "X")
    code, recipe = dask.delayed(of_labelled, pure=False), whole(rankers)
    again = checksums is not None
    tasks = [code(part, what, recipe, k, lengths[k], again, **beside[k]) for k, part in enumerate(parts)]
    every = slice(None)
    return _assembled(rankers, tasks, (every, every), checksums, roles.labels())


def _starts(lengths: Sequence[float]) -> list[int]:
    """Return the number of the first row of each partition for messages; 0 where that is not known."""
    return [0 if np.isnan(start) else int(start) for start in np.cumsum([0.0, *lengths[:-1]]).tolist()]


def _of_table(samples: list[Any], options: dict[str, Any]) -> tuple[Rankers, Sequence[int]]:
    """Return the weak rankers of all partitions, given the tasks that draw rows of each, and a checksum of each."""
    merge = dask.delayed(merged_samples, pure=False)
    while len(samples) > 1:
        samples = [merge(samples[k : k + FAN_IN]) for k in range(0, len(samples), FAN_IN)]
    found = samples[0].compute()
    return found.table.rankers(**{"n_cuts": N_CUTS, **options}), found.checksums


def _check_columns(named: Sequence[tuple[str, str]], columns: list[Any] | None) -> None:
    """Refuse names of columns that are not there, or are all."""
    for role, name in named:
        if columns is None:
            raise TypeError(f"{role} is {_checks.shown(name)}, but an array has no column names. Pass a vector")
        if name not in columns:
            has = first(columns, 8, _checks.shown)
            raise ValueError(f"{role} is {_checks.shown(name)}, which is not a column of the rows; they have {has}")
    if columns is not None and {*columns} <= {name for _, name in named}:
        raise ValueError(f"the rows have no column to learn from except {first(columns, 8, _checks.shown)}")


def _of_sides(pos: Any, neg: Any, H: Any, of_table: dict[str, Any], of_sides: dict[str, Any]) -> CodedRows:
    """Code the rows of two sides."""
    samples = [sample_of(X, name) for name, X in zip(NAMES, (pos, neg), strict=True)]
    groups = of_sides["pos_group"], of_sides["neg_group"]
    if any(labels is None for labels in groups):
        _checks.groups(*groups, 0, 0)  # which refuses those of one side
    each: list[tuple[Name, int, float, Any, dict[str, Any]]] = []
    ends = [0]
    for name, X in zip(NAMES, (pos, neg), strict=True):
        given = {what: of_sides[f"{name}_{what}"] for what in ("weight", "group")}
        parts, beside = matched(X, {what: value for what, value in given.items() if value is not None}, f"{name}_")
        lengths = declared(X, len(parts))
        each += [(name, k, lengths[k], part, beside[k]) for k, part in enumerate(parts)]
        ends.append(len(each))
    checksums: Sequence[int] | None = None
    if isinstance(H, str):
        draw = dask.delayed(drawn_of_side, pure=False)
        rankers, checksums = _of_table([draw(part, name, k, 0, n, **own) for name, k, n, part, own in each], of_table)
    else:
        *_, rankers = rankers_of(samples[0], samples[1], H)
    code, recipe = dask.delayed(of_side, pure=False), whole(rankers)
    again = checksums is not None
    tasks = [code(part, recipe, name, k, n, again, **own) for name, k, n, part, own in each]
    return _assembled(rankers, tasks, (slice(0, ends[1]), slice(ends[1], ends[2])), checksums)


def _assembled(
    rankers: Rankers,
    tasks: Sequence[Any],
    of_side: tuple[slice, slice],
    checksums: Sequence[int] | None,
    labels: Labels | None = None,
) -> CodedRows:
    """Have the workers code partitions and keep their sides, of which those in `of_side` have rows.

    The checksums of an earlier reading must be those of this one.
    """
    coded, told, side = dask.persist(*tasks), dask.delayed(Coded.told, pure=False), dask.delayed(Coded.side, pure=False)
    groups_of_parts, found, marks, sums = zip(*dask.compute(*[told(task) for task in coded]), strict=True)
    for k, (before, now) in enumerate(zip(checksums or sums, sums, strict=True)):
        if before != now:
            raise ValueError(
                f"partition {k} has other values than when it was read first, and the cuts are those of the first "
                "reading. Give the source a seed, read from a file, or keep the partitions with persist()"
            )
    executor = Cluster()
    executor.known.check(np.concatenate([mark for of_part in marks for mark in of_part]))
    if labels is not None:
        try:
            for counts in found:
                labels.add(counts)
            labels.check()
        except TableError as error:
            raise ValueError(str(error)) from None
    parts = [[side(task, k) for task in coded[of_side[k]]] for k in (0, 1)]
    kept = dask.persist(*parts[0], *parts[1])
    parts = [list(kept[: len(parts[0])]), list(kept[len(parts[0]) :])]
    groups = [[of_part[k] for of_part in groups_of_parts[of_side[k]]] for k in (0, 1)]
    codes, parts = _grouped(executor, parts, groups, labels is not None)
    return CodedRows(rankers, Partitions(executor, parts), codes, len(tasks))


def _grouped(
    executor: Cluster, parts: list[list[Any]], groups: list[list[Groups | None]], labelled: bool
) -> tuple[tuple[Index, Index] | None, list[list[Any]]]:
    """Return the groups of the rows that are in pairs, and the parts of these rows."""
    if groups[0][0] is None:
        return None, parts
    known: dict[Any, int] = {}
    of_sides = []
    for own in groups:
        codes = []
        for of_part in own:
            assert of_part is not None
            numbers, labels = of_part
            number = np.array([known.setdefault(_checks.key(label), len(known)) for label in labels], np.intp)
            codes.append(number[numbers])
        of_sides.append(codes)
    pos, neg = [np.concatenate(codes) for codes in of_sides]
    if labelled and not np.intersect1d(pos, neg).size:
        raise ValueError(_checks.NO_GROUP)
    counted = _checks.case_weights_of(pos.size, neg.size, None, None, (pos, neg))
    assert counted.groups is not None
    changed = []
    for k, of_group in enumerate((counted.groups.pos, counted.groups.neg)):
        paired = np.ones(of_group.size, bool) if counted.kept is None else counted.kept[k]
        of_parts = np.split(paired, np.cumsum([len(codes) for codes in of_sides[k]])[:-1])
        places = [np.flatnonzero(own) for own in of_parts]
        own_codes = np.split(of_group, np.cumsum([own.size for own in places])[:-1])
        changed.append(executor.changed(_selected, parts[k], own=list(zip(places, own_codes, strict=True))))
    return (counted.groups.pos, counted.groups.neg), changed


def _selected(rows: Rows, own: tuple[Index, Index]) -> Rows:
    return rows.select(*own)


@reduction("sum")
def _size(rows: Rows) -> int:
    """Bytes of some rows."""
    buffers: list[int] = []
    rest = pickle.dumps(rows, protocol=5, buffer_callback=lambda buffer: buffers.append(buffer.raw().nbytes))
    return len(rest) + sum(buffers)


@reduction("rows")
def _log_weights(rows: Rows) -> Vector:
    return np.zeros(rows.n) if rows.log_c is None else rows.log_c
