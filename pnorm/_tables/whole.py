"""A table in memory, whose columns are those of all batches of its files, joined."""

from __future__ import annotations

import contextlib
import glob
import math
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import numeral, reads_as_missing
from pnorm._checks.text import shown
from pnorm._tables.arrow import columns_joined, reading, without_codes
from pnorm._tables.batches import Batches, batches_of
from pnorm._tables.files import Files, places_of
from pnorm._tables.folder import Found
from pnorm._tables.gathered import columns_of
from pnorm._tables.inputs import Place
from pnorm._tables.source import Fields, Lazy, TableError, floats_of, text_of, texts_of

_LATER = ("Parquet", "Arrow")
"""The kinds of files whose columns are read when they are asked for."""

_WORDS = re.compile(r"\w+([ -]\w+)*")
"""Names of columns that a shell takes as they are, in single quotes; others are offered by their numbers."""


class Source:
    """Rows of files with named columns, in memory or read column by column; or some of them, if columns are given."""

    def __init__(self, batches: Batches, columns: dict[str, Any] | None = None, place: Place | None = None) -> None:
        self._batches, self._columns, self._place = batches, columns, place
        self.kind, self.path, self.index, self.elsewhere = batches.kind, batches.told, batches.index, batches.elsewhere
        self.names: list[str] = list(batches.names or () if columns is None else columns)
        if columns is None and self.kind not in _LATER:
            self._columns = self._read(self.names)
        self.notes = batches.notes
        """Assumptions about the format of the files, one sentence each."""

    def __len__(self) -> int:
        """Return the number of rows."""
        if self._columns is not None:
            return len(next(iter(self._columns.values())))
        if self._batches.n_rows is None:
            self._read(self.names[:1])
        return self._batches.n_rows or 0

    def place(self, i: int) -> str:
        """Return the place of a row in the files, for messages."""
        if self._place is None:
            self._read(self.names[:1])
        assert self._place is not None
        return self._place(i)

    def column(self, name: str) -> Any:
        """Return a column: a list of text or of typed values, or a column of Arrow."""
        return self.columns([name])[name]

    def columns(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Return columns by their names, all by default, as `pnorm.rankers.from_table` takes them."""
        names = self.names if names is None else names
        if self._columns is not None:
            return {name: self._columns[name] for name in names}
        return self._read(names) if names else {}

    def _read(self, names: Sequence[str]) -> dict[str, Any]:
        batches = list(self._batches.only(names))
        self._place = place = places_of([batch.n_rows for batch in batches], [batch.place for batch in batches])
        columns = [columns_of(batch.table, names) for batch in batches]
        return {name: self._joined(name, [of[name] for of in columns], place) for name in names}

    def _joined(self, name: str, parts: list[Any], place: Place) -> Any:
        """Return a column of the rows of all batches."""
        if self.kind not in _LATER and not (parts and all(hasattr(part, "chunks") for part in parts)):
            return parts[0] if len(parts) == 1 else [value for part in parts for value in _checks.listed(part)]
        import pyarrow

        if not parts:
            return pyarrow.chunked_array([], pyarrow.string())
        if len({part.type for part in parts}) == 1:
            return pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
        try:
            return columns_joined(parts)
        except pyarrow.ArrowException:
            plain = [without_codes(part) for part in parts]
            k = next(k for k, part in enumerate(plain) if part.type != plain[0].type)
            other = place(sum(map(len, parts[:k])))
            raise TableError(
                f"column {_checks.shown(name)} is {shown(str(plain[0].type))} in {place(0)} and "
                f"{shown(str(plain[k].type))} in {other}; write it with one type"
            ) from None

    def texts(self, name: str) -> list[str]:
        """Return a column as text without blanks around it, such as labels; a missing value is empty."""
        column = self.column(name)
        if self.kind == "workbook":
            return list(map(text_of, column))
        if self.kind not in _LATER or not hasattr(column, "type"):
            return texts_of(column)
        with reading(self.path, self.kind):
            return texts_of(without_codes(column))

    def _text(self, name: str) -> Any:
        """Return a column as text, in a list or of Arrow."""
        return self.column(name) if self.kind == "CSV" else self.texts(name)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column that must hold numbers."""
        column = self.column(name)
        if self.kind in _LATER and hasattr(column, "type"):
            found = self._typed_numbers(name, without_codes(column))
            if found is not None:
                return found
        text = self._text(name)
        found = floats_of(text)
        if found is not None:
            return found
        read = Fields(text).read()
        wrong = [isinstance(value, str) or value != value for value in read.values]
        if any(wrong):
            i = int(np.argmax(read.codes == wrong.index(True)))
            raise self._no_number(texts_of(text)[i], name, i)
        return np.array(read.values, np.float64)[read.codes]

    def _typed_numbers(self, name: str, column: Any) -> NDArray[np.float64] | None:
        """Return the numbers of a column of Arrow; None of one of another type."""
        from pyarrow import types

        if column.null_count:
            raise self._no_number("", name, int(np.argmax(column.is_null().to_numpy())))
        kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if not any(is_kind(column.type) for is_kind in kinds):
            return None
        found = np.asarray(column.to_numpy(), dtype=np.float64)
        wrong = np.flatnonzero(~np.isfinite(found))
        if wrong.size:
            raise self._no_number(str(found[wrong[0]]), name, int(wrong[0]))
        return found

    def frame(self, names: Sequence[str]) -> Any:
        """Return some columns as a frame for `pnorm.score`, which converts those that it needs."""
        if self.kind not in _LATER:
            return Lazy(names, len(self), lambda name: Fields(self._text(name)))
        import pyarrow

        return pyarrow.table(self.columns(names))

    def _no_number(self, text: str, column: str, i: int) -> TableError:
        name, got = _checks.shown(column), _checks.shown(text)
        ignore = name if _WORDS.fullmatch(column) and name == f"'{column}'" else self.names.index(column) + 1
        if reads_as_missing(text):
            return TableError(f"column {name} has a missing value in {self.place(i)}; fill it in, or --ignore {ignore}")
        with contextlib.suppress(ValueError):
            if not math.isfinite(numeral(text)):
                return TableError(f"column {name} has {got} in {self.place(i)}; every value must be finite")
        return TableError(
            f"column {name} is not numeric: {got} in {self.place(i)}; encode it as numbers, or --ignore {ignore}"
        )


def open_source(path: str, *, names: Sequence[str] | None = None, sheet: str | None = None, skip: int = 0) -> Source:
    """Open a file of rows: delimited text, Parquet, Feather, Arrow or a workbook, compressed or not.

    `path` may be "-", the standard input. `names` are those of the columns of text without a header line, and `sheet`
    is the name of a sheet of a workbook, or its number from 1. The first `skip` lines or rows are left out; without it,
    lines of a title above the names are found.
    """
    return Source(Batches(Files([Found(path)], "", names, skip, sheet, True), sys.maxsize))


def open_sources(
    paths: Sequence[str], *, names: Sequence[str] | None = None, sheet: str | None = None, skip: int = 0
) -> Source:
    """Open files of rows as one table: a file, as `open_source` does, a folder, a pattern, or several of these."""
    if len(paths) == 1 and not is_several(paths[0]):
        return open_source(paths[0], names=names, sheet=sheet, skip=skip)
    batches = batches_of(list(paths), names=names, skip=skip)
    if sheet is not None or batches.kind == "workbook":
        raise TableError(f"{batches.told}: workbooks cannot be combined; pass one file")
    return Source(batches)


def is_several(path: str) -> bool:
    """Return whether a path is that of a folder, or a pattern of names and no file."""
    return os.path.isdir(path) or (path != "-" and not os.path.exists(path) and glob.has_magic(path))
