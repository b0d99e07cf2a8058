"""Single files whose rows are read in parts: Parquet, Arrow, and others whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from pnorm._tables.arrow import arrow_for, names_of, reading
from pnorm._tables.csv_stream import CsvStream
from pnorm._tables.inputs import BUFFER, Part, Stream, numbered, slice_rows
from pnorm._tables.open import (
    OLD_WORKBOOK,
    START,
    check_given,
    is_arrow,
    is_parquet,
    is_read_once,
    open_source,
    refuse_others,
    suffix_of,
)
from pnorm._tables.packed import ZIP, unpacked_stream
from pnorm._tables.source import Source, TableError


def stream_of(path: str, names: Sequence[str] | None, like: Stream | None, skip: int = 0) -> Stream:
    """Open a file of rows, look what it has, and close it; `like` is an earlier file that is written alike."""
    if is_read_once(path):
        raise TableError(
            f"{path} is a pipe, a socket or a device, which gives its rows once; save them as a file: rows of several "
            "files, or in batches, are read again"
        )
    suffix = suffix_of(path)
    with unpacked_stream(path) as file:
        start = file.peek(START)[:START]
        is_book = start.startswith(OLD_WORKBOOK) or start.startswith(ZIP)  # an archive is unpacked
    if is_book:
        return _Whole(path, names, skip)
    if is_arrow(start, suffix):
        check_given(path, names, skip)
        with open(path, "rb") as file:
            is_unpacked = file.read(START)[: len(start)] == start
        if not is_unpacked or start[:4] == b"FEA1":
            return _Whole(path)
        return _Parquet(path) if is_parquet(start, suffix) else _Arrow(path)
    refuse_others(path, start)
    return CsvStream(path, names, like if isinstance(like, CsvStream) else None, skip)


class _Parquet(Stream):
    kind = "Parquet"

    def __init__(self, path: str) -> None:
        self.path = path
        with self._opened() as file:
            self.names, self.index = names_of(file.schema_arrow)
            self.n_rows = int(file.metadata.num_rows)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Any]:
        arrow_for(self.path, self.kind)
        from pyarrow import parquet

        with (
            reading(self.path, self.kind),
            parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER) as file,
        ):
            yield file

    def parts(self, names: Sequence[str], rows: int) -> Iterator[Part]:
        import pyarrow

        row = 0
        with self._opened() as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(names), use_threads=False):
                table = pyarrow.Table.from_batches([batch])
                yield table.select(list(names)), batch.num_rows, numbered(row, self.path)
                row += batch.num_rows
        if row != self.n_rows:
            raise TableError(f"{self.path} declares {self.n_rows} rows, but contains {row}")


class _Arrow(Stream):
    kind = "Arrow"

    def __init__(self, path: str) -> None:
        self.path = path
        with self._opened() as file:
            self.names, self.index = names_of(file.schema)
            count = getattr(file, "count_rows", None)  # of newer versions
            self.n_rows = None if count is None else count()

    @contextlib.contextmanager
    def _opened(self, names: Sequence[str] | None = None) -> Iterator[Any]:
        pyarrow = arrow_for(self.path, self.kind)
        with reading(self.path, self.kind), pyarrow.OSFile(self.path) as stream:  # a map takes addresses, which may end
            file = pyarrow.ipc.open_file(stream)
            if names is not None:
                at = [place for place, name in enumerate(file.schema.names) if name in names]
                stream.seek(0)
                options = pyarrow.ipc.IpcReadOptions(use_threads=False, included_fields=at)
                file = pyarrow.ipc.open_file(stream, options=options)
            yield file

    def parts(self, names: Sequence[str], rows: int) -> Iterator[Part]:
        import pyarrow

        row = 0
        with self._opened(names) as file:
            for k in range(file.num_record_batches):
                batch = file.get_batch(k)
                table = pyarrow.Table.from_batches([batch]).select(list(names))
                for start in range(0, batch.num_rows, rows):
                    size = min(rows, batch.num_rows - start)
                    yield table.slice(start, size), size, numbered(row + start, self.path)
                row += batch.num_rows


class _Whole(Stream):
    """A file that is read whole, such as a workbook."""

    def __init__(self, path: str, names: Sequence[str] | None = None, skip: int = 0) -> None:
        self.path, self._names, self._skip = path, names, skip
        source = self._source()
        self.kind = source.kind
        self.names, self.index, self.n_rows = source.names, source.index, len(source)
        self.notes = source.notes

    def _source(self) -> Source:
        return open_source(self.path, names=self._names, skip=self._skip)

    def parts(self, names: Sequence[str], rows: int) -> Iterator[Part]:
        source = self._source()
        columns = source.columns(names)
        for start in range(0, len(source), rows):
            size = min(rows, len(source) - start)

            def place(row: int, start: int = start) -> str:
                return source.place(start + row)

            yield slice_rows(columns, start, size), size, place
