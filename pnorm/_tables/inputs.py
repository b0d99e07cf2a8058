"""Rows that other libraries hold or make: frames, Arrow's datasets and readers, queries of polars, arrays."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pnorm import _checks
from pnorm._checks.text import first, install, shown

Place = Callable[[int], str]
"""Returns where a row is, given its number in a batch."""

Part = tuple[Any, int, Place]
"""A table, the number of its rows, one at least, and the places of these."""


BUFFER = 2**18
"""Bytes that are read of a column of Parquet at once."""


class Input(ABC):
    """A source of rows."""

    names: tuple[str, ...] | None = None
    """The names of the columns; None for arrays."""
    index: frozenset[str] = frozenset()
    """Columns that were the index of a pandas frame."""
    told: str
    kind: str = ""
    """The kind of files."""
    once: bool = False
    """Whether the rows can be read only once."""
    notes: Sequence[str] = ()
    elsewhere: str = ""
    """The end of a message on a column that is not there."""

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names or ())

    def chosen(self, columns: Sequence[int] | None) -> list[str]:
        """Return the names of some columns, or of all."""
        names = self.names or ()
        return list(names) if columns is None else [names[place] for place in columns]

    def n_rows(self) -> int | None:
        """Return the number of rows if it is known without reading them."""
        return None

    @abstractmethod
    def parts(self, columns: Sequence[int] | None, rows: int) -> Iterator[Part]:
        """Yield tables of some columns, by number, or of all."""


class Stream(ABC):
    """A file of rows."""

    path: str
    kind: str
    names: Sequence[str]
    index: frozenset[str] = frozenset()
    notes: Sequence[str] = ()
    """Assumptions about its format, one sentence each."""
    elsewhere: str = ""
    """The other sheets of a workbook, as the end of a message on a column that this one lacks; else empty."""
    odd_lines: Mapping[str, int] = MappingProxyType({})
    """The numbers of lines that are left out or read otherwise, by what is told of them, when all were read."""

    def n_rows(self) -> int | None:
        """Return the number of rows if it is known without reading them."""
        return None

    @abstractmethod
    def parts(self, names: Sequence[str], rows: int) -> Iterator[Part]:
        """Yield tables of some columns."""


def input_of(source: Any) -> Input:
    """Return what has the rows of a table, a dataset, a query, an array or an iterator."""
    library, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if library in ("dask", "dask_expr"):
        raise TypeError(f"the rows are a Dask {kind}: pnorm.dask.code_rows takes these")
    if library == "polars" and kind == "LazyFrame":
        names = source.collect_schema().names()
        return _Stream(lambda chosen, rows: _frames(source.select(chosen), rows), names, "the polars query")
    if library == "pyarrow" and hasattr(source, "get_fragments"):
        return _Dataset(source)
    if library == "pyarrow" and hasattr(source, "read_next_batch"):
        return _Stream(lambda _chosen, _rows: source, source.schema.names, "the RecordBatchReader", once=True)
    if library == "pyarrow" and hasattr(source, "num_rows"):
        return _InMemory(_as_table(source), "the Arrow table")
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _InMemory(source, "the pandas frame")
    if library == "polars" and hasattr(source, "to_series") and hasattr(source, "columns"):
        return _InMemory(source, "the polars frame")
    if _checks.is_columns(source):
        return _InMemory(source, "the dictionary of columns")
    if _checks.is_records(source):
        return _InMemory(_checks.from_records(source, "the list of records"), "the list of records")
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "dtype"):
        return _Stream(lambda _chosen, _rows: _reader(source), _reader(source).schema.names, f"the {kind}")
    if hasattr(source, "__next__"):
        return _of_iterator(source, f"the {kind}")
    if len(_checks.shape_of(source)) == 2 or (isinstance(source, (list, tuple)) and source):
        told = "the array" if hasattr(source, "dtype") else f"the {kind}"
        return _InMemory(_checks.list_to_array(source, told), told)
    raise TypeError(
        "rows come from a file, a folder, a pattern or a list of paths, from a table, a dataset or a RecordBatchReader "
        "of Arrow, a frame, a LazyFrame, a dictionary of columns, an array or an iterator of these; got "
        f"{shown(source) if isinstance(source, (int, float)) else kind}"
    )


# In memory ------------------------------------------------------------------------------------------


class _InMemory(Input):
    """A table or an array."""

    def __init__(self, X: Any, told: str) -> None:
        self._X, self.told = X, told
        if _checks.is_columns(X):
            self.names = tuple(map(str, X))
            sizes = sorted({len(column) for column in X.values()})
            if len(sizes) > 1:
                raise ValueError(f"{told} has columns of {first(sizes, 4)} rows; every column needs as many")
        else:
            self.names = _checks.column_names(X)
        self._n = _length(X)

    @property
    def width(self) -> int:
        return super().width if self.names is not None else _checks.width(self._X, self.told)

    def n_rows(self) -> int:
        return self._n

    def parts(self, columns: Sequence[int] | None, rows: int) -> Iterator[Part]:
        X = self._X if columns is None else _take_columns(self._X, columns)
        for start in range(0, self._n, rows):
            size = min(rows, self._n - start)
            yield slice_rows(X, start, size), size, numbered(start, self.told)


# Tables that come one after the other ---------------------------------------------------------------


class _Stream(Input):
    """Tables that come one after the other: a function starts them, for some columns and about so many rows each."""

    def __init__(
        self, start: Callable[[list[str], int], Iterator[Any]], names: Sequence[str], told: str, once: bool = False
    ) -> None:
        self._start, self.names, self.told, self.once = start, tuple(map(str, names)), told, once

    def parts(self, columns: Sequence[int] | None, rows: int) -> Iterator[Part]:
        chosen = self.chosen(columns)
        yield from _cut(self._start(chosen, rows), chosen, rows, self.told)


def _cut(tables: Iterator[Any], chosen: Sequence[str], rows: int, told: str) -> Iterator[Part]:
    """Yield the chosen columns of tables that follow each other, in tables of no more than so many rows."""
    row = 0
    for given in tables:
        table = _as_table(given)
        found = list(map(str, table)) if _checks.is_columns(table) else list(_checks.column_names(table) or ())
        lacks = [name for name in chosen if name not in found]
        if lacks:
            raise ValueError(f"{told} gives a table without the column {shown(lacks[0])}, from row {row:,} on")
        if found != list(chosen):
            table = _take_columns(table, _checks.places(found, chosen, told))
        n = _length(table)
        for start in range(0, n, rows):
            size = min(rows, n - start)
            yield table if size == n else slice_rows(table, start, size), size, numbered(row + start, told)
        row += n


def _of_iterator(source: Iterator[Any], told: str) -> _Stream:
    """Return what has the rows of an iterator of tables, of which the first is asked for."""
    head = next(source, None)
    if head is None:
        raise ValueError(f"{told} gives no table")
    names = tuple(head) if _checks.is_columns(head) else _checks.column_names(_as_table(head))
    if not names:
        raise TypeError(f"{told} must give tables whose columns have names; got {shown(head)}")
    return _Stream(lambda _chosen, _rows: itertools.chain([head], source), names, told, once=True)


def _reader(source: Any) -> Any:
    """Return a RecordBatchReader of something that gives its rows as a stream of Arrow."""
    try:
        import pyarrow
    except ImportError:
        raise TypeError(f"reading the rows of a {type(source).__name__} needs pyarrow. {install('parquet')}") from None
    if not hasattr(pyarrow.RecordBatchReader, "from_stream"):
        raise TypeError(f"reading the rows of a {type(source).__name__} needs pyarrow 15 or newer")
    return pyarrow.RecordBatchReader.from_stream(source)


def _frames(query: Any, rows: int) -> Iterator[Any]:
    """Run a query of polars, and yield frames of its rows."""
    if hasattr(query, "collect_batches"):  # of polars 1.34 and newer
        yield from query.collect_batches(chunk_size=rows, maintain_order=True, lazy=True)
        return
    import polars

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.arrow")
        try:
            query.sink_ipc(path, compression="lz4", maintain_order=True)
        except polars.exceptions.InvalidOperationError:  # older versions cannot run all queries in parts
            yield query.collect()
            return
        row = 0
        while len(frame := polars.scan_ipc(path).slice(row, rows).collect()):
            yield frame
            row += len(frame)


class _Dataset(Input):
    """A dataset of Arrow, file by file: Arrow reads no file ahead, which would take memory."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names = tuple(dataset.schema.names)
        self._fragments: list[Any] | None = None
        with contextlib.suppress(ValueError):  # of a dataset with a filter
            self._fragments = list(dataset.get_fragments())
        n = sum(hasattr(fragment, "path") for fragment in self._fragments or ())
        self.told = f"the dataset of {n:,} files" if n > 1 else "the dataset"

    def n_rows(self) -> int | None:
        if self._fragments is None:
            return None
        sizes = [_rows_of_fragment(fragment) for fragment in self._fragments]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def parts(self, columns: Sequence[int] | None, rows: int) -> Iterator[Part]:
        chosen = self.chosen(columns)
        how = {"columns": chosen, "batch_size": rows, "use_threads": False, "batch_readahead": 0}
        if self._fragments is None:
            yield from _cut(self._dataset.to_batches(**how, fragment_readahead=1), chosen, rows, self.told)
            return
        for fragment in self._fragments:
            told = getattr(fragment, "path", None) or self.told
            tables = fragment.to_batches(schema=self._dataset.schema, **how, **_buffered(fragment))
            yield from _cut(tables, chosen, rows, told)


def _buffered(fragment: Any) -> dict[str, Any]:
    """Return how a fragment of Parquet is read in parts of its row groups."""
    if not hasattr(fragment, "row_groups"):
        return {}
    from pyarrow.dataset import ParquetFragmentScanOptions

    options = ParquetFragmentScanOptions(use_buffered_stream=True, buffer_size=BUFFER, pre_buffer=False)
    return {"fragment_scan_options": options}


def _rows_of_fragment(fragment: Any) -> int | None:
    """Return the number of rows of a fragment, if Parquet declares it or it is in memory."""
    metadata = getattr(fragment, "metadata", None)
    if metadata is not None:
        return int(metadata.num_rows)
    return None if hasattr(fragment, "path") else int(fragment.count_rows())


# By container ---------------------------------------------------------------------------------------


def numbered(first_row: int, told: str) -> Place:
    """Return the places of rows that are counted from the first row of a table."""
    return lambda row: f"row {first_row + row} of {told}"


def _as_table(X: Any) -> Any:
    """Return a RecordBatch of Arrow as a table, and anything else as it is."""
    if type(X).__module__.partition(".")[0] == "pyarrow" and not hasattr(X, "combine_chunks"):
        import pyarrow

        return pyarrow.Table.from_batches([X])
    return X


def _length(X: Any) -> int:
    if _checks.is_columns(X):
        return len(next(iter(X.values()), ()))
    return int((_checks.shape_of(X) or (len(X),))[0])


def slice_rows(X: Any, start: int, size: int) -> Any:
    """Return rows that follow each other, without a copy where that can be."""
    if _checks.is_columns(X):
        return {name: slice_rows(column, start, size) for name, column in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[start : start + size]
    if type(X).__module__.partition(".")[0] in ("pyarrow", "polars"):
        return X.slice(start, size)
    return X[start : start + size]


def _take_columns(X: Any, places: Sequence[int]) -> Any:
    """Return some columns, by number."""
    if _checks.is_columns(X):
        keys = list(X)
        return {keys[place]: X[keys[place]] for place in places}
    if hasattr(X, "iloc"):
        return X.iloc[:, list(places)]
    names = _checks.column_names(X)
    if names is not None:
        return X.select([names[place] for place in places])
    if isinstance(X, (list, tuple)):
        return [[row[place] for place in places] for row in X]
    return X[:, list(places)]
