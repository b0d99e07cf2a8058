"""Tables in files of text whose columns are separated by a character."""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks.text import counted
from pnorm._checks.words import plainer
from pnorm._tables.source import TableError
from pnorm._tables.text import BLANKS, Layout, reader, within

_LARGE = 2**20
"""Bytes of a CSV file from which on pyarrow saves more time than its import takes."""

_WIDE = 1000
"""Bytes of a CSV file for each column from which on pyarrow reads it, as every column takes it some time."""

_BLOCK = 2**20
"""Bytes that pyarrow reads at once; no line may be longer."""


_WIDE_DIGITS = b"\xef\xbc"
"""The first bytes of wide digits in UTF-8."""


@dataclass
class Lines:
    """Lines of text that are not blank, as rows of fields."""

    numbers: array[int] | range
    """The number of each line in its file, from 1."""
    rows: list[list[str]]
    table: Any = None
    """A table of Arrow in the place of the rows."""
    n_blank: int = 0
    """Lines that hold nothing but delimiters, and are left out."""

    def drop_first(self, n: int) -> int:
        """Leave out the first lines, and return how many there were."""
        n = min(n, len(self.numbers))
        self.numbers, self.rows = self.numbers[n:], self.rows[n:]
        self.table = None if self.table is None else self.table.slice(n)
        return n

    def drop(self, at: Sequence[int]) -> None:
        """Leave out lines, by their places."""
        if at:
            kept = np.delete(np.arange(len(self.numbers)), at)
            self.numbers = array("q", [self.numbers[k] for k in kept])
            self.rows = [self.rows[k] for k in kept] if self.table is None else []
            self.table = None if self.table is None else self.table.take(kept)

    def again(self, header: list[str]) -> list[int]:
        """Return the places of lines that are the header once more; numbers alone may well be a row."""
        if len(header) < 2 or all(map(_checks.is_numeral, header)):
            return []
        names = header[0], "\ufeff" + header[0]  # files put together keep their marks
        if self.table is None:
            return [k for k, row in enumerate(self.rows) if row[0] in names and row[1:] == header[1:]]
        import pyarrow
        from pyarrow import compute

        at = np.flatnonzero(compute.is_in(self.column(0), pyarrow.array(names)))
        for name, column in zip(header[1:], self.table.columns[1:], strict=True):
            at = at[np.flatnonzero(compute.equal(column.take(at), name))]
        return list(at)

    def column(self, at: int) -> Any:
        """Return a column, by its place: a list, or a column of Arrow."""
        return [row[at] for row in self.rows] if self.table is None else self.table.column(at)

    def is_blank(self, at: int) -> bool:
        """Return whether a column holds nothing but blanks."""
        texts = self.column(at)
        return not any(map(str.strip, texts if self.table is None else _checks.listed(texts.unique())))


def read_lines(path: str, data: bytes, how: Layout, line: int = 0) -> tuple[list[str], Lines]:
    """Return the first row of some lines, and all rows; `line` is the number of lines before them.

    pyarrow keeps the text of large files in some 1.5 times their size, a list of lists in at most 75 times; short
    fields take the most.
    """
    found = _arrow_lines(data, how) if len(data) >= _LARGE else None
    if found is not None:
        start, first, table = found
        return first, Lines(range(line + start, line + start + table.num_rows), [], table)
    lines = _lines(path, data, how, line)
    return lines.rows[0] if lines.rows else [], lines


def odd_lines(odd: Mapping[str, int]) -> list[str]:
    """Return notes on lines of some kinds, given their numbers."""
    return [f"{counted(n, 'line')} {what}" for what, n in odd.items() if n]


def check_lines(path: str, lines: Lines, header: list[str], how: Layout) -> Counter[str]:
    """Refuse a line that has more or fewer fields than the first; count those that are read otherwise, or left out."""
    width, odd, blank, longer = len(header), Counter[str](), list[int](), how.longer
    for k, (number, row) in enumerate(zip(lines.numbers, lines.rows, strict=False)):
        if longer and len(row) == width + 1 and not row[-1].strip():
            row.pop()
        if len(row) == width:
            continue
        if len(row) == 1 and how.delimiter != BLANKS:
            fields = next((fields for _, fields in numbered_rows(path, row[0], how, number - 1)), [])
            if len(fields) == width:
                lines.rows[k] = fields
                odd["quoted as a whole, and read without these quotes"] += 1
                continue
        if not any(map(str.strip, row)):
            blank.append(k)
            continue
        tail = f". If {_checks.shown(row[0])} is a title or a note, delete it" if len(row) == 1 else ""
        comma = re.search(r"(?<![\d.])\d+,\d+(?![\d.])", ",".join(row))
        if 1 < width < len(row) and how.delimiter == "," and comma:
            tail = f". If {comma[0]} is one number with a decimal comma, quote it, or divide the columns by semicolons"
        raise TableError(
            f"line {number} of {path} has {counted(len(row), 'field')}; the "
            f"{'header' if how.header else 'first line'} has {width}{tail}"
        )
    lines.drop(blank)
    again = lines.again(header) if how.header else []
    lines.drop(again)
    odd["of nothing but delimiters left out"] += lines.n_blank
    odd["with the names once more left out"] += len(again)
    return odd


def quotes_are_around_fields(data: bytes, delimiter: str) -> bool:
    """Return whether all quotes of some lines are around whole fields, and none is within one."""
    n_quotes = data.count(b'"')
    between = rb"[^%b\r\n]" % re.escape(delimiter.encode())
    quoted = rb'(?<!%b)"[^"\r\n]*"(?!%b)()' % (between, between)
    return not n_quotes or n_quotes == 2 * len(re.findall(quoted, data))


def _arrow_lines(data: bytes, how: Layout) -> tuple[int, list[str], Any] | None:
    """Return the number of the first line of text, this line and a table of all; None if pyarrow is not there.

    None as well where it could read the file in another way than `_lines`, which also says what is wrong: if quotes are
    not around whole fields, lines that may be blank stand between others, or a line has more or fewer fields than the
    first.
    """
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    first = re.compile(rb"[^\r\n]+").search(data)
    if first is None or how.delimiter == BLANKS or how.quoted or how.longer:
        return None
    if data.count(b"\r") != data.count(b"\r\n"):
        return None
    blank = rb'\n(?:\r?\n(?=[^\r\n])|[\t\v\f "\x80-\xff%b]+\r?(?:\n|\Z))' % re.escape(how.delimiter.encode())
    try:
        names = next(reader(first[0].decode(), how))
        if (
            len(data) < _WIDE * len(names)
            or not any(map(str.strip, names))
            or re.compile(blank).search(data, first.end())
            or _WIDE_DIGITS in data
            or not quotes_are_around_fields(data, how.delimiter)
        ):
            return None
        columns = [str(at) for at in range(len(names))]
        # No threads: a thread that outlives the command would abort it.
        table = arrow_csv.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(data).slice(first.start())),
            arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=columns),
            arrow_csv.ParseOptions(delimiter=how.delimiter),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(columns, pyarrow.string())),
        )
    except (ValueError, csv.Error):  # Arrow's errors of a file that it cannot read are the first
        return None
    return data.count(b"\n", 0, first.start()) + 1, names, table


def _lines(path: str, data: bytes, how: Layout, before: int = 0) -> Lines:
    """Return the lines of text that are not blank; some lines come before."""
    numbers, rows, blank = array("q"), [], list[int]()
    for number, fields in numbered_rows(path, data.decode(), how, before, blank):
        numbers.append(number)
        rows.append(fields)
    return Lines(numbers, rows, n_blank=len(blank))


def numbered_rows(
    path: str, text: str | Iterable[str], how: Layout, before: int = 0, blank: list[int] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text, or of its lines, that are not blank, with their numbers; some lines come before.

    A line of nothing but delimiters is blank, and its number is added to `blank`.
    """
    csv.field_size_limit(2**31 - 1)
    lines, in_blanks = reader(text, how), how.delimiter == BLANKS
    may_be_odd = not isinstance(text, str) or '="' in text or (not text.isascii() and _WIDE_DIGITS in text.encode())
    try:
        for fields in lines:
            if (fields and fields[0].strip()) or any(map(str.strip, fields)) or (len(fields) == 1 and not in_blanks):
                fields = within(fields, how) if how.quoted else fields
                yield before + lines.line_num, list(map(plainer, fields)) if may_be_odd else fields
            elif blank is not None and len(fields) > 1:
                blank.append(before + lines.line_num)
    except csv.Error as error:
        raise TableError(f"line {before + lines.line_num} of {path} is not CSV: {error}") from None
