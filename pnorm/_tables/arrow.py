"""Parquet, Feather and Arrow files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.text import install
from pnorm._tables.source import Source, TableError, texts_of

_NO_NAME = re.compile(r"__index_level_\d+__")
"""The name that pandas gives to an unnamed index."""


def arrow_for(path: str, kind: str) -> Any:
    """Return pyarrow, which a file of a kind takes."""
    try:
        import pyarrow
    except ImportError:
        raise TableError(
            f"{path} is a{'n' if kind == 'Arrow' else ''} {kind} file. Reading it needs pyarrow. {install('parquet')}"
        ) from None
    return pyarrow


@contextlib.contextmanager
def reading(path: str, kind: str) -> Iterator[None]:
    """Add the name of the file to errors of pyarrow."""
    import pyarrow

    try:
        yield
    except TableError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, RecursionError) as error:
        raise TableError(f"{path} is no {kind} file that pyarrow can read: {error}") from None


def names_of(schema: Any) -> tuple[list[str], frozenset[str]]:
    """Return the names of the columns of a file, and which of them were the index of a pandas frame."""
    about = schema.pandas_metadata
    index = about.get("index_columns") if isinstance(about, dict) else None
    of_index = {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()
    names = [name for name in schema.names if name not in of_index or not _NO_NAME.fullmatch(name)]
    return names, frozenset(of_index.intersection(names))


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


class TypedSource(Source):
    """Columns of Arrow, whose values have types."""

    def _values(self, name: str) -> Any:
        return without_codes(self.column(name))

    def numbers(self, name: str) -> NDArray[np.float64]:
        import pyarrow

        column, types = self._values(name), pyarrow.types
        if column.null_count:
            raise self._no_number("", name, int(np.argmax(column.is_null().to_numpy())))
        kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if not any(is_kind(column.type) for is_kind in kinds):
            return super().numbers(name)
        found = np.asarray(column.to_numpy(), dtype=np.float64)
        wrong = np.flatnonzero(~np.isfinite(found))
        if wrong.size:
            raise self._no_number(str(found[wrong[0]]), name, int(wrong[0]))
        return found

    def texts(self, name: str) -> list[str]:
        with reading(self._path, self.kind):
            return texts_of(self._values(name))

    def _text(self, name: str) -> list[str]:
        return self.texts(name)


class ArrowSource(TypedSource):
    """A Parquet, Feather or Arrow file; only columns that are needed are read."""

    def __init__(self, path: str, data: bytes | None, is_parquet: bool) -> None:
        self.kind = "Parquet" if is_parquet else "Arrow"
        self._path = path
        pyarrow = arrow_for(path, self.kind)
        from pyarrow import feather, parquet

        where = path if data is None else pyarrow.BufferReader(data)
        with reading(path, self.kind):  # No threads: a thread that outlives the command would abort it.
            if is_parquet:
                self._file = parquet.ParquetFile(where, pre_buffer=False)
            else:
                self._file = feather.read_table(where, use_threads=False)
            names, index = names_of(self._file.schema_arrow if is_parquet else self._file.schema)
        super().__init__(path, names, index=index)

    def _asked(self, work: Callable[[], Any]) -> Any:
        with reading(self._path, self.kind):
            return work()

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows if self.kind == "Parquet" else self._file.num_rows)

    def place(self, i: int) -> str:
        return f"row {i} of {self._path}"

    def frame(self, names: Sequence[str]) -> Any:
        names = list(names)
        if self.kind == "Parquet":
            return self._asked(lambda: self._file.read(columns=names, use_threads=False)).select(names)
        return self._file.select(names)

    def column(self, name: str) -> Any:
        column = self.frame([name]).column(0)
        if len(column) != len(self):
            raise TableError(f"{self._path} says that it has {len(self)} rows, and {len(column)} are there")
        return column

    def columns(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        names = list(self.names if names is None else names)
        table = self.frame(names)
        if names and len(table) != len(self):
            raise TableError(f"{self._path} says that it has {len(self)} rows, and {len(table)} are there")
        return dict(zip(names, table.columns, strict=True))
