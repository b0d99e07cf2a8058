"""Labelled rows that are read in batches and stored as the codes of weak rankers."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen, placed, tell
from pnorm._checks import FilePath, GroupLabels, Label, Labels, Seed, Weights
from pnorm._coded.columns import Asked, Labelled
from pnorm._coded.sample import TableSample
from pnorm._storage.growing import Growing
from pnorm._storage.store import seen
from pnorm._tables.batches import ROWS, batches_of
from pnorm._tables.source import TableError, with_numbers
from pnorm._threads import Pool
from pnorm.rankers import Rankers, WeakRankers, _hashes, as_rankers, from_table
from pnorm.rankers._alike import by_class, units_of
from pnorm.rankers._coded import BothSides, CodedSide, reads_columns
from pnorm.rankers._table import Table

N_CUTS = 254
"""Cuts of a column: with a code for values below all of them, and one for missing values, a byte has no more."""


@dataclass(frozen=True, eq=False)
class CodedRows(BothSides):
    """Labelled rows that were read once and are stored as codes. `code_rows` returns it.

    Pass it to `train`, `minimize`, `minimize_path` and `cross_validate` in the place of `pos`, `neg` and `H`:
    ``pnorm.train(rows, p=4)``. For other functions unpack it into these three:
    ``pnorm.diagnostics.separability(*rows)``.

    Attributes
    ----------
    pos, neg : CodedSide
        The rows of each side, without rows of weight zero, in the order of the source.
    H : Rankers
        The weak rankers.
    positive : str
        The label of the positives, in all its spellings.
    told : str
        The source of the rows, in words.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> table = {"amount": rng.normal(size=500), "age": rng.normal(size=500), "bought": np.arange(500) % 5 == 0}
    >>> rows = pnorm.code_rows(table, "bought")
    >>> learn, test = rows.hold_out(0.2)
    >>> test
    <the dictionary of columns, held out: 20 positives and 80 negatives as codes of 508 weak rankers, 0.0 MB>
    >>> lam, trace = pnorm.train(learn, p=4, t_max=20)
    >>> rows.nbytes < 500 * 2 * 8
    True
    """

    positive: str
    told: str

    @property
    def nbytes(self) -> int:
        """Memory of the codes, weights and groups, in bytes."""
        return self.pos.nbytes + self.neg.nbytes

    def __repr__(self) -> str:
        n_pos, n_neg = len(self.pos), len(self.neg)
        return (
            f"<{self.told}: {n_pos:,} positives and {n_neg:,} negatives as codes of {len(self.H):,} weak rankers, "
            f"{self.nbytes / 1e6:,.1f} MB>"
        )

    def hold_out(self, share: float = 0.2, seed: Seed = 0) -> tuple[CodedRows, CodedRows]:
        """Split the rows into training rows and a held-out share of each side; groups and equal rows stay whole.

        Parameters
        ----------
        share : float
            The share of either side that is held out, above 0 and below 1.
        seed : int or numpy.random.Generator
            Random numbers; the same seed gives the same result.

        Returns
        -------
        train, test : CodedRows
            Copies of the codes. Together they take as much memory as the original.

        Raises
        ------
        ValueError
            If `share` is not in between, a side has fewer than two rows, or fewer than two groups have both sides.
        """
        part, rng = _checks.probability(share, "share"), _checks.generator(seed)
        both = self.pos.group, self.neg.group
        if both[0] is not None and both[1] is not None:
            held = _groups_held(part, rng, both[0], both[1])
        else:
            held = _rows_held(part, rng, self.pos, self.neg)
        sides = [
            [X.take(np.flatnonzero(rows)) for rows in (~out, out)]
            for X, out in zip((self.pos, self.neg), held, strict=True)
        ]
        train, test = [
            CodedRows(pos, neg, self.H, self.positive, f"{self.told}, {what}")
            for pos, neg, what in zip(*sides, ("all but those held out", "held out"), strict=True)
        ]
        return train, test


def _rows_held(share: float, rng: np.random.Generator, pos: CodedSide, neg: CodedSide) -> list[NDArray[np.bool_]]:
    """Return which rows of either side are held out."""
    positive = np.repeat([True, False], [len(pos), len(neg)])
    units = units_of((pos, neg), positive)
    of, drawn = np.arange(positive.size) if units is None else units, []
    for own, name in zip(by_class(of, positive), ("positive", "negative"), strict=True):
        if own.size < 2:
            raise ValueError(f"there is 1 {name} row, and 2 are needed to hold one out")
        drawn.append(rng.permutation(own)[: min(max(round(share * own.size), 1), own.size - 1)])
    out = np.isin(of, np.concatenate(drawn))
    return [out[positive], out[~positive]]


def _groups_held(
    share: float, rng: np.random.Generator, pos: NDArray[np.intp], neg: NDArray[np.intp]
) -> list[NDArray[np.bool_]]:
    """Return which rows of either side are held out, of whole groups; those of one side go with the others."""
    whole = np.intersect1d(pos, neg)
    if whole.size < 2:
        raise ValueError(f"groups with both sides: {whole.size}; 2 are needed to hold one out")
    out = rng.permutation(whole)[: min(max(round(share * whole.size), 1), whole.size - 1)]
    return [np.isin(codes, out) for codes in (pos, neg)]


def code_rows(
    source: Any,
    label: Labels,
    H: Literal["table"] | WeakRankers = "table",
    *,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    group: GroupLabels | None = None,
    ignore: str | Sequence[str] = (),
    folder: FilePath | None = None,
    n_threads: int | None = None,
    **of_table: Any,
) -> CodedRows:
    r"""Read labelled rows in batches, and store a byte or two for each value.

    The result contains the codes of weak rankers: the interval between cuts for a number, the level for a category.
    Codes of 20 columns take some 20 bytes per row instead of 160. The source may be much larger than memory. Further
    powers, penalties and folds do not read the source again.

    Parameters
    ----------
    source : path, list of paths, table, or anything of batches
        A file, a folder of files, with its subfolders, a pattern such as ``"sales/2026-*.parquet"``, or a list of
        files: Parquet, Feather, Arrow or delimited text, compressed or not. A dataset, a table or a reader of pyarrow,
        a lazy or eager frame of polars, a frame of pandas, a dictionary of columns, or a matrix.
    label : str or array_like, shape (N,)
        The column that says which rows are positive, or the label of every row.
    H : "table", None, sequence of callables, or Rankers
        The weak rankers. With ``"table"`` they are those of `pnorm.rankers.from_table`, and a first reading finds the
        cuts and levels. None takes the columns as they are, of eight bytes a value. A collection is used as it is.
    pos_label : label, optional
        The label of positive rows; all others are negative. It may be left out if the labels are 1 and 0, true and
        false, or yes and no. Capitals do not matter, nor whether 1 is a number or text.
    weight : str or array_like, shape (N,), optional
        Case weights, or their column. Rows of weight zero are not kept.
    group : str or sequence of N labels, optional
        Query groups, or their column: pairs form within a group only.
    ignore : sequence of str
        Columns that are not learned from, beside the label, the weight and the group.
    folder : path, optional
        Folder for the codes as files, if the codes do not fit in memory. The files are deleted with the rows.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. The codes do not depend on it.
    **of_table
        Options of `pnorm.rankers.from_table`, for ``H="table"``: `kinds`, `n_cuts`, `linear`, `monotone`, `min_rows`,
        `max_levels`. By default there are 254 cuts: with a code for missing values they fit in a byte.

    Returns
    -------
    CodedRows
        The rows, in the place of pos, neg and H.

    Raises
    ------
    ValueError, TypeError
        If the source, a column or a label cannot be used, if files differ in their columns, or if the rows of the
        second reading differ from those of the first. The message names the file and the row.
    ImportError
        If a kind of file needs a package that is missing.
    OSError
        If a file cannot be read, or the codes do not fit on the disk of `folder`.

    Warns
    -----
    TableWarning
        With ``H="table"``, if columns are left out, or may be known only after the outcome.
    UnknownLevelWarning
        If values are no levels that `H` knows.

    See Also
    --------
    pnorm.rankers.from_table : What columns become.
    pnorm.dask.code_rows : The same for rows on a cluster.

    Notes
    -----
    Of at most 200,000 rows, the weak rankers are those that `from_table` makes in memory. Of more, they are those of
    200,000 rows, or fewer of more than 670 columns, which hashes of their content choose: the order and the batches do
    not matter. The share of rows below a cut is then off by .001, as a standard error. In the plan, missing values are
    counted in all rows, and the other counts are those of the 200,000.

    The memory is that of the codes and of a batch. With weak rankers of n columns, N rows take about n N bytes, up to
    255 cuts or levels each; columns of few levels share a byte. Training takes some 40 further bytes per row.

    Examples
    --------
    >>> import pnorm
    >>> table = {"amount": [9.5, 120.0, 80.0, 7.0], "country": ["SE", "US", "US", "SE"], "fraud": [0, 1, 1, 0]}
    >>> rows = pnorm.code_rows(table, "fraud", min_rows=1)
    >>> rows
    <the dictionary of columns: 2 positives and 2 negatives as codes of 5 weak rankers, 0.0 MB>
    >>> lam, trace = pnorm.train(rows, p=4)
    >>> trace.status
    'separable'
    """
    try:
        check_options(H, of_table)
        asked = Asked.of(batches_of(source, rows=ROWS), label, pos_label, weight, group, ignore, isinstance(H, str))
        folder = None if folder is None else _folder(folder)
        n_threads = _checks.threads(n_threads)
        is_sample = False
        if isinstance(H, str):
            H, is_sample = _of_table(asked, of_table)
        pos, neg, rankers = coded_sides(asked.labelled(), H, folder, n_threads, is_sample)
    except TableError as error:
        raise ValueError(str(error)) from None
    return CodedRows(pos, neg, rankers, asked.found, asked.batches.told)


def check_options(H: Any, of_table: Mapping[str, Any]) -> None:
    """Raise an error for unknown options of a table, or options that do not go with a given H, before any reading."""
    if isinstance(H, str):
        _checks.choice(H, "H", ("table",))
    known = [name for name in inspect.signature(from_table).parameters if name not in ("pos", "neg", "n_threads")]
    for name in of_table:
        if name not in known:
            near = difflib.get_close_matches(name, [*known, "weight", "group", "ignore", "folder", "pos_label"], 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(f"{name} is no option of code_rows, nor of from_table, which has {', '.join(known)}{hint}")
        if not isinstance(H, str):
            raise TypeError(f"{name} is for H='table', and H is given; leave one out")


def coded_sides(
    parts: Iterable[Labelled],
    H: Any,
    folder: str | None = None,
    n_threads: int | None = None,
    is_of_sample: bool = False,
) -> tuple[CodedSide, CodedSide, Rankers]:
    """Return the rows of both sides as codes, and the weak rankers: those given, or made of the columns.

    If the weak rankers of a table are those of a sample of the rows, their plan gets the missing values of all rows.
    """
    with Pool(_checks.threads(n_threads), ROWS) as pool, contextlib.closing(Growing(folder, pool)) as growing:
        unknown = list[Seen]()
        rankers: Rankers | None = None
        of_rows: list[list[list[Any]]] = [[[], []], [[], []]]
        n_rows = 0
        for rows in parts:
            n_rows += rows.n_rows
            table = rows.table if reads_columns(H) else with_numbers(rows.table)
            if rankers is None:
                rankers = as_rankers(H, table, "source")
            unknown = _add(growing, rankers, rows, table, unknown)
            for kept, values in zip(of_rows, (rows.weight, rows.group), strict=True):
                if values is not None:
                    for side, where in zip(kept, rows.sides, strict=True):
                        side.append(values[where])
        tables = growing.tables()
    assert rankers is not None
    tell(unknown)
    if is_of_sample and isinstance(rankers, Table):
        rankers = rankers.counted(unknown, n_rows)
    weights, groups = [[np.concatenate(side) if side else None for side in kept] for kept in of_rows]
    pos, neg = [
        CodedSide(table, rankers, weight, group) for table, weight, group in zip(tables, weights, groups, strict=True)
    ]
    return pos, neg, rankers


def _folder(folder: Any) -> str:
    path = os.fspath(folder)
    if not os.path.isdir(path):
        raise ValueError(f"folder must be a folder that is there, for the codes to lie in; got {_checks.shown(path)}")
    return str(path)


def _of_table(asked: Asked, options: Mapping[str, Any]) -> tuple[Rankers, bool]:
    """Return the weak rankers of the table, which a first reading finds, and whether it kept a sample of the rows."""
    sample = TableSample("source")
    for rows in asked.labelled():
        counted = np.sort(np.concatenate(rows.sides))
        table = rows.table if counted.size == rows.n_rows else _checks.rows(rows.table, counted)
        hashes = _hashes.of_rows(rows.hashes)[counted]
        sample.add(table, rows.positive[counted], rows.batch.first_row + counted, hashes)
    return sample.rankers(**{"n_cuts": N_CUTS, **options}), not sample.is_whole


def _add(growing: Growing, rankers: Rankers, rows: Labelled, table: Any, unknown: list[Seen]) -> list[Seen]:
    """Add the rows of a batch; return the values so far that are not levels."""
    if not rows.n_rows:
        return unknown
    with _checks.located(f"in the {rows.n_rows:,} rows from {rows.batch.place(0)} on"):
        pieces = rankers._pieces(table, "source", np.arange(len(rankers)))
    found = placed(seen(pieces), rows.batch.place)
    growing.add(pieces, rows.n_rows, rows.sides)
    return [a + b for a, b in zip(unknown, found, strict=True)] if unknown else found
