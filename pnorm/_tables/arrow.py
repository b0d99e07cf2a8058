"""Parquet, Feather and Arrow files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pnorm._checks.text import install
from pnorm._tables.inputs import BUFFER, Part, Stream, numbered
from pnorm._tables.source import TableError

_NO_NAME = re.compile(r"__index_level_\d+__")
"""The name that pandas gives to an unnamed index."""


@contextlib.contextmanager
def reading(path: str, kind: str) -> Iterator[Any]:
    """Yield pyarrow, which a file of a kind takes, and add the name of the file to its errors."""
    try:
        import pyarrow
    except ImportError:
        raise TableError(
            f"{path} is a{'n' if kind == 'Arrow' else ''} {kind} file. Reading it needs pyarrow. {install('parquet')}"
        ) from None
    try:
        yield pyarrow
    except TableError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, RecursionError) as error:
        raise TableError(f"{path} is no {kind} file that pyarrow can read: {error}") from None


def without_codes(column: Any) -> Any:
    """Return a column of Arrow; codes of a dictionary become its values."""
    import pyarrow

    return column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column


def columns_joined(columns: Sequence[Any]) -> Any:
    """Return columns of Arrow one below the other, in one type: categories if those of one are such."""
    import pyarrow

    plain = columns if len({column.type for column in columns}) == 1 else [_short(without_codes(x)) for x in columns]
    tables = [pyarrow.table({"": column}) for column in plain]
    found = pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks().column(0)
    are_codes = any([pyarrow.types.is_dictionary(column.type) for column in columns])
    return found.dictionary_encode() if are_codes else found


def _short(column: Any) -> Any:
    """Return text with the shortest type of text."""
    import pyarrow

    types = pyarrow.types
    is_text = types.is_large_string(column.type) or str(column.type) == "string_view"
    return column.cast(pyarrow.string()) if is_text else column


class ArrowStream(Stream):
    """A Parquet, Feather or Arrow file; only columns that are asked for are read.

    It is read without threads: a thread that outlives the command would abort it.
    """

    def __init__(self, path: str, data: bytes | None, is_parquet: bool) -> None:
        """Unless it is a plain file, all of its bytes are given."""
        self.path, self._data = path, data
        self.kind = "Parquet" if is_parquet else "Arrow"
        with self._opened() as file:
            schema = file.schema_arrow if is_parquet else file.schema
            self._n_rows = int(file.metadata.num_rows) if is_parquet else None
            about = schema.pandas_metadata
        index = about.get("index_columns") if isinstance(about, dict) else None
        of_index = {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()
        self.names = [name for name in schema.names if name not in of_index or not _NO_NAME.fullmatch(name)]
        self.index = frozenset(of_index.intersection(self.names))

    @contextlib.contextmanager
    def _opened(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Open the file, or a table of one of Feather's first version; of an Arrow file some columns or all."""
        with reading(self.path, self.kind) as pyarrow, contextlib.ExitStack() as opened:
            # A map takes addresses, which may end.
            file = pyarrow.OSFile(self.path) if self._data is None else pyarrow.BufferReader(self._data)
            opened.enter_context(file)
            if self.kind == "Parquet":
                from pyarrow import parquet

                yield opened.enter_context(parquet.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER))
                return
            if file.read(4) == b"FEA1":
                from pyarrow import feather

                file.seek(0)
                yield feather.read_table(file, columns=columns, use_threads=False)
                return
            file.seek(0)
            found = pyarrow.ipc.open_file(file)
            if columns is not None:
                at = [place for place, name in enumerate(found.schema.names) if name in columns]
                file.seek(0)
                options = pyarrow.ipc.IpcReadOptions(use_threads=False, included_fields=at)
                found = pyarrow.ipc.open_file(file, options=options)
            yield found

    def n_rows(self) -> int | None:
        if self._n_rows is None:
            with self._opened() as file:
                self._n_rows = file.count_rows() if hasattr(file, "count_rows") else getattr(file, "num_rows", None)
        return self._n_rows

    def _tables(self, file: Any, columns: list[str], rows: int) -> Iterator[Any]:
        import pyarrow

        if isinstance(file, pyarrow.Table):
            yield file
        elif self.kind == "Arrow":
            yield from (pyarrow.Table.from_batches([file.get_batch(k)]) for k in range(file.num_record_batches))
        elif self._n_rows is not None and rows >= self._n_rows:
            yield file.read(columns=columns, use_threads=False)
        else:
            for batch in file.iter_batches(batch_size=rows, columns=columns, use_threads=False):
                yield pyarrow.Table.from_batches([batch])

    def parts(self, names: Sequence[str], rows: int) -> Iterator[Part]:
        columns, row = list(names), 0
        with self._opened(columns) as file:
            for given in self._tables(file, columns, rows):
                table = given.select(columns)
                for start in range(0, table.num_rows, rows):
                    size = min(rows, table.num_rows - start)
                    yield table.slice(start, size), size, numbered(row + start, self.path)
                row += table.num_rows
        if self.kind == "Parquet" and row != self._n_rows:
            raise TableError(f"{self.path} declares {self._n_rows} rows, but contains {row}")
