"""Tables in files of text whose columns are divided by a character."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Sequence
from typing import Any

from pnorm import _checks
from pnorm._checks.text import counted
from pnorm._tables.source import Source, TableError
from pnorm._tables.text import BLANKS, Layout, as_utf8, layout, names_of, nul, reader, without_delimiter_line

_LARGE = 2**20
"""Bytes of a CSV file from which on pyarrow saves more time than its import takes."""

_WIDE = 1000
"""Bytes of a CSV file for each column from which on pyarrow reads it, as every column takes it some time."""

_BLOCK = 2**20
"""Bytes that pyarrow reads at once; no line may be longer."""


class CsvSource(Source):
    """The lines of a file of text that are not blank.

    pyarrow keeps the text of large files in some 1.5 times their size, a list of lists in at most 75 times; short
    fields take the most.
    """

    kind = "CSV"

    def __init__(self, path: str, data: bytes, names: Sequence[str] | None = None) -> None:
        self._path = path
        self._numbers: Sequence[int]
        self._rows: list[list[str]] = []
        self._table: Any = None
        notes: list[str] = []
        data = as_utf8(path, data, notes)
        how = layout(data, names, notes)
        data = without_delimiter_line(data)
        found = _arrow_lines(data, how) if len(data) >= _LARGE else None
        if found is None:
            self._numbers, self._rows = _lines(path, data, how)
            if not self._rows:
                raise TableError(f"{path} is empty")
            first = self._rows[0]
            if how.header:
                del self._rows[0], self._numbers[0]
        else:
            self._numbers, first, self._table = found
        for number, row in zip(self._numbers, self._rows, strict=False):
            if len(row) != len(first):
                raise TableError(
                    f"line {number} of {path} has {counted(len(row), 'field')}; the "
                    f"{'header' if how.header else 'first line'} has {len(first)}"
                )
        header = names_of(path, first, how.header, names, notes)
        if len(header) > 1 and not header[-1] and len(self) and not any(map(str.strip, self._last())):
            header.pop()  # every line ends with a delimiter
        super().__init__(path, header, notes)
        self._at = {name: at for at, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self._numbers)

    def place(self, i: int) -> str:
        return f"line {self._numbers[i]} of {self._path}"

    def column(self, name: str) -> Any:
        at = self._at[name]
        return [row[at] for row in self._rows] if self._table is None else self._table.column(at)

    def _last(self) -> list[str]:
        """Return all or the different texts of the last column."""
        if self._table is None:
            return [row[-1] for row in self._rows]
        return _checks.listed(self._table.column(self._table.num_columns - 1).unique())


def _arrow_lines(data: bytes, how: Layout) -> tuple[range, list[str], Any] | None:
    """Return the numbers of the lines of a CSV file, its first line and a table of text; None if pyarrow is not there.

    None as well where it could read the file in another way than `_lines`, which also says what is wrong: if quotes are
    not around whole fields, blank lines stand between others, or a line has more or fewer fields than the first.
    """
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    first = re.compile(rb"[^\r\n]+").search(data)
    if first is None or how.delimiter == BLANKS or b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    try:
        names = next(reader(first[0].decode(), how))
        quotes = data.count(b'"')
        between = rb"[^%b\r\n]" % re.escape(how.delimiter.encode())
        quoted = rb'(?<!%b)"[^"\r\n]*"(?!%b)()' % (between, between)
        if (
            len(data) < _WIDE * len(names)
            or re.compile(rb"\n\r?\n(?=[^\r\n])").search(data, first.end())
            or (quotes and quotes != 2 * len(re.findall(quoted, data)))
        ):
            return None
        columns = [str(at) for at in range(len(names))]
        start = first.end() if how.header else first.start()
        # No threads: a thread that outlives the command would abort it.
        table = arrow_csv.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(data).slice(start)),
            arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=columns),
            arrow_csv.ParseOptions(delimiter=how.delimiter),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(columns, pyarrow.string())),
        )
    except (ValueError, csv.Error):  # Arrow's errors of a file that it cannot read are the first
        return None
    line = data.count(b"\n", 0, first.start()) + 1 + how.header
    return range(line, line + table.num_rows), names, table


def _lines(path: str, data: bytes, how: Layout) -> tuple[array[int], list[list[str]]]:
    """Return the lines of a CSV file that are not blank, with the number of each in the file."""
    if b"\0" in data:
        raise TableError(nul(path, data))
    csv.field_size_limit(2**31 - 1)
    lines = reader(data.decode(), how)
    numbers, rows = array("q"), []
    try:
        for fields in lines:
            if fields and (how.delimiter != BLANKS or fields != [""]):
                numbers.append(lines.line_num)
                rows.append(fields)
    except csv.Error as error:
        raise TableError(f"line {lines.line_num} of {path} is not CSV: {error}") from None
    return numbers, rows
