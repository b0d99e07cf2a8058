"""Rows in batches, from files that are larger than memory or from tables in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pnorm import _checks
from pnorm._checks.text import counted, shown
from pnorm._tables.files import Files
from pnorm._tables.folder import files_of, is_paths
from pnorm._tables.inputs import Input, Place, input_of
from pnorm._tables.source import TableError

ROWS = 2**17
"""Rows of a batch, about."""


class Batch(NamedTuple):
    """Rows that follow each other."""

    table: Any
    """An Arrow table, a frame, a dictionary of columns or an array."""
    first_row: int
    """The number of the first of them, of all rows."""
    place: Place
    """Return where a row is, given its number in the batch: ``"row 17 of transactions/part-03.parquet"``."""

    @property
    def n_rows(self) -> int:
        return _checks.n_rows(self.table, "rows")

    def column(self, name: str | int) -> Any:
        """Return a column: a list, an array, a series of a frame, or a column of Arrow."""
        if _checks.is_columns(self.table):
            return self.table[name]
        names = _checks.column_names(self.table)
        return self.table[:, name] if names is None else _checks.column_of(self.table, names.index(str(name)), names)


class Batches:
    """The rows of a source in batches, in the order of the source, as often as they are iterated over.

    An iterator and a RecordBatchReader of Arrow give their rows once.
    """

    def __init__(self, source: Input, rows: int) -> None:
        names = source.names or ()
        if len(set(names)) < len(names):
            twice = next(name for at, name in enumerate(names) if name in names[:at])
            raise TableError(f"the column name {shown(twice)} appears more than once in {source.told}")
        self._source, self._rows = source, rows
        self._columns: Sequence[int] | None = None
        self._seen = _Seen()

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns; None for arrays."""
        of_source = self._source.names
        if of_source is None or self._columns is None:
            return of_source
        return tuple([of_source[place] for place in self._columns])

    @property
    def index(self) -> frozenset[str]:
        """Columns that were the index of a pandas frame: they may name rows, but are no measurements."""
        return self._source.index.intersection(self.names or ())

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if the source declares it or was read."""
        return self._source.n_rows() if self._seen.n_rows is None else self._seen.n_rows

    @property
    def told(self) -> str:
        """The source, for messages: ``"20 Parquet files of transactions/"``."""
        return self._source.told

    @property
    def kind(self) -> str:
        """The kind of the files: CSV, Parquet, Arrow or workbook; empty without files."""
        return self._source.kind

    @property
    def elsewhere(self) -> str:
        """The other sheets of a workbook, as the end of a message on a column that this one lacks; else empty."""
        return self._source.elsewhere

    @property
    def notes(self) -> list[str]:
        """Assumptions about the format of text files, one sentence each."""
        return list(self._source.notes)

    @property
    def reads(self) -> int:
        """The number of complete readings so far, with any columns."""
        return self._seen.reads

    def only(self, columns: Sequence[str | int]) -> Batches:
        """Return the same rows with some columns, by name or number: only these are read from files."""
        width = self._source.width if self._columns is None else len(self._columns)
        labels = [str(j) for j in range(width)] if self.names is None else self.names
        places = list(map(_checks.finder(labels, self.told, "columns"), columns))
        if not places or len(set(places)) < len(places):
            got = f"{shown(list(columns))}, with a column twice" if places else "none"
            raise ValueError(f"columns must name one column at least, and each once; got {got}")
        found = Batches(self._source, self._rows)
        found._columns = places if self._columns is None else [self._columns[place] for place in places]
        found._seen = self._seen
        return found

    def __iter__(self) -> Iterator[Batch]:
        if self._source.once and self._seen.begun:
            raise ValueError(
                f"{self.told} gives its rows once, and they were read already; pass what can be read again: files, a "
                "dataset or a table"
            )
        self._seen.begun = True
        row = 0
        for table, size, place in self._source.parts(self._columns, self._rows):
            yield Batch(table, row, place)
            row += size
        self._seen.end(row, self.told)


@dataclass
class _Seen:
    """The number of readings by all users of a source."""

    begun: bool = False
    reads: int = 0
    n_rows: int | None = None

    def end(self, n_rows: int, told: str) -> None:
        if self.n_rows is not None and n_rows != self.n_rows:
            raise TableError(
                f"{told} had {counted(self.n_rows, 'row')} when read before, and {n_rows:,} now: it has changed"
            )
        self.n_rows = n_rows
        self.reads += 1


def batches_of(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    rows: int = ROWS,
    names: Sequence[str] | None = None,
    skip: int = 0,
) -> Batches:
    """Return the rows of a source in batches.

    Parameters
    ----------
    source : path, list of paths, table, dataset, query, array or iterator
        A file, a folder, a pattern such as ``"sales/*.parquet"``, or a list of these: Parquet, Feather, Arrow, or text
        divided by a character, compressed or not. A dataset, a table or a RecordBatchReader of Arrow; a frame or a
        LazyFrame of polars; a pandas frame; a dictionary of columns; an array; an iterator of tables.
    columns : sequence of str or int, optional
        The columns that are read, by default all.
    rows : int
        The number of rows of a batch, about.
    names : sequence of str, optional
        The names of the columns of text without a header line.
    skip : int
        The number of lines of each file of text that are left out at its beginning.

    Returns
    -------
    Batches
        The columns are known and the same in all files, of which only the beginning or the end was read.
    """
    rows = _checks.count(rows, "rows", 1)
    if is_paths(source):
        found = Batches(Files(*files_of(source), names, skip), rows)
    elif names is not None:
        raise TypeError(f"names are for files of text; got names and a {type(source).__name__}")
    else:
        found = Batches(input_of(source), rows)
    return found if columns is None else found.only(columns)
