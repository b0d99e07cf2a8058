"""Tables in CSV, Parquet, Feather and Arrow files."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import math
import os
import re
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import numeral, read, reads_as_missing
from pnorm._checks import Coded
from pnorm._checks.text import first, shown
from pnorm._command.terminal import CommandError, counted

_START = 4096
"""Bytes that identify the kind of a file; those of a workbook name its parts."""

_PACKED = {
    "gzip": rb"\x1f\x8b",
    "bzip2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "7z": rb"7z\xbc\xaf\x27\x1c",
}

_ZIP, _WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_IN_WORKBOOKS = (b"[Content_Types].xml", b"xl/", b"application/vnd.oasis.opendocument.spreadsheet")

_PARQUET, _ARROW = (".parquet", ".pq"), (".feather", ".arrow")

_LARGE = 2**20
"""Bytes of a CSV file from which on pyarrow saves more time than its import takes."""

_WIDE = 1000
"""Bytes of a CSV file for each column from which on pyarrow reads it, as every column takes it some time."""

_BLOCK = 2**20
"""Bytes that pyarrow reads at once; no line may be longer."""


Source: TypeAlias = "CsvSource | ArrowSource"
"""A file of rows with named columns."""


def read_table(path: str, label: str, ignored: Sequence[str]) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Return the numbers, their names and the labels of the rows to train on."""
    source = open_source(path)
    names = names_in(source, path, label, ignored)
    if not names:
        raise CommandError(f"{path} has no column beside the label {_checks.shown(label)} to rank by")
    labels = labels_of(source, label, "rows to train on")
    X = np.empty((len(source), len(names)))
    for c, name in enumerate(names):
        X[:, c] = source.numbers(name)
    del source
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:  # it keeps the memory of the text otherwise
        arrow.default_memory_pool().release_unused()
    return X, names, labels


def names_in(source: Source, path: str, label: str | None, ignored: Sequence[str]) -> list[str]:
    """Return the names of the columns to rank by; refuse a file that lacks a column, a name or rows."""
    header = source.names
    times = Counter(header)
    for position, name in enumerate(header, start=1):
        if not name:
            raise CommandError(f"column {position} of {path} has no name in the header")
        if times[name] > 1:
            raise CommandError(f"the column name {_checks.shown(name)} appears more than once in {path}")
    for name in (*([] if label is None else [label]), *ignored):
        if name not in header:
            raise CommandError(f"no column {_checks.shown(name)} in {path}; its columns are {first(header, 20)}")
    if label in ignored:
        raise CommandError(f"--ignore {shown(label)} is the label")
    if not len(source):
        raise CommandError(f"{path} has a header and no rows")
    return [name for name in header if name != label and name not in ignored]


def labels_of(source: Source, label: str, what: str) -> list[str]:
    labels = source.texts(label)
    missing = {text for text in set(labels) if reads_as_missing(text)}
    if missing:
        place = source.place([text in missing for text in labels].index(True))
        raise CommandError(f"the label {_checks.shown(label)} is missing in {place}; {what} need one")
    return labels


def open_source(path: str) -> Source:
    """Open a file whose kind is known by its name or by its first bytes."""
    suffix = os.path.splitext(path)[1].lower()
    with contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as stream:
        start = stream.read(_START)  # read once, as a pipe does not give its bytes again
        _refuse_other_kinds(path, start)
        is_arrow = start[:4] == b"PAR1" or start[:6] == b"ARROW1" or bool(start and suffix in _PARQUET + _ARROW)
        is_file = path != "-" and os.path.isfile(path)
        data = None
        if not (is_arrow and is_file):
            if is_file:  # so that it is not in memory twice
                stream.seek(0)
                start = b""
            data = start + stream.read()
    if is_arrow:
        return ArrowSource(path, data, start[:4] == b"PAR1" or (start[:6] != b"ARROW1" and suffix in _PARQUET))
    return CsvSource(path, data or b"")


def _refuse_other_kinds(path: str, start: bytes) -> None:
    """Refuse compressed files and workbooks; the message says what they are."""
    for what, magic in _PACKED.items():
        if re.match(magic, start):
            raise CommandError(f"{path} is compressed ({what}); unpack it first")
    if start.startswith(_WORKBOOK) or (start.startswith(_ZIP) and any(part in start for part in _IN_WORKBOOKS)):
        raise CommandError(f"{path} is a workbook of a spreadsheet program; save its sheet as CSV, in UTF-8")
    if start.startswith(_ZIP):
        raise CommandError(f"{path} is compressed (zip); unpack it first")


class CsvSource:
    """The lines of a CSV file that are not blank.

    pyarrow keeps the text of large files in some 1.5 times their size, a list of lists in at most 75 times; short
    fields take the most.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._numbers: Sequence[int]
        self._rows: list[list[str]] = []
        self._table: Any = None
        found = _arrow_lines(data) if len(data) >= _LARGE else None
        if found is None:
            self._numbers, self._rows = _lines(path, data)
            if not self._rows:
                raise CommandError(f"{path} is empty")
            header = self._rows[0]
            del self._rows[0], self._numbers[0]
        else:
            self._numbers, header, self._table = found
        self.names = [name.strip() for name in header]
        self._at = {name: at for at, name in enumerate(self.names)}
        if not any(isinstance(read(name), (str, bool)) for name in self.names):
            raise CommandError(f"the first line of {path} holds numbers; it should be a header with the column names")
        for number, row in zip(self._numbers, self._rows, strict=False):
            if len(row) != len(self.names):
                raise CommandError(
                    f"line {number} of {path} has {counted(len(row), 'field')}; the header has {len(self.names)}"
                )

    def __len__(self) -> int:
        return len(self._numbers)

    def place(self, i: int) -> str:
        """Return the place of a row in the file, for messages."""
        return f"line {self._numbers[i]} of {self._path}"

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column that must hold numbers."""
        return _numbers(self._column(name), name, self)

    def _column(self, name: str) -> Any:
        """Return the text of a column, in a list or of Arrow."""
        at = self._at[name]
        return [row[at] for row in self._rows] if self._table is None else self._table.column(at)

    def fields(self, name: str) -> Fields:
        return Fields(self._column(name))

    def texts(self, name: str) -> list[str]:
        """Return a column of labels, with empty text for missing ones."""
        return _texts(self._column(name))

    def frame(self, names: list[str]) -> Any:
        """Return some columns as a frame for `pnorm.score`, which converts those that it needs."""
        return Lazy(self, names)


@dataclass
class Lazy:
    """Columns of a CSV file, converted one by one on request."""

    source: CsvSource
    column_names: list[str]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.source), len(self.column_names)

    def column(self, j: int) -> Fields:
        return self.source.fields(self.column_names[j])


@dataclass
class Fields:
    """A column of a CSV file: its text, for levels, and an array, of numbers if all of the text reads as numbers."""

    text: Any
    """In a list, or a column of Arrow."""
    dtype = np.dtype(object)

    def tolist(self) -> list[str]:
        return _checks.listed(self.text)

    def read(self) -> Coded:
        """Return numbers, NaN for missing values, and text; true and false are numbers if there is nothing else."""
        texts = Coded.of(self.tolist())
        values = [math.nan if reads_as_missing(text) else read(text) for text in texts.values]
        truths = [isinstance(value, bool) for value in values]
        if any(truths) and not all(truth or value != value for truth, value in zip(truths, values, strict=True)):
            values = [text if truth else value for text, truth, value in zip(texts.values, truths, values, strict=True)]
        return Coded(values, texts.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = _floats(self.text)
        if found is not None:
            return found
        read = self.read()
        of_text = any(isinstance(value, str) for value in read.values)
        return np.array(read.values, object if of_text else np.float64)[read.codes]


class ArrowSource:
    """A Parquet, Feather or Arrow file; only columns that are needed are read."""

    def __init__(self, path: str, data: bytes | None, is_parquet: bool) -> None:
        kind = "Parquet" if is_parquet else "Arrow"
        try:
            import pyarrow
            from pyarrow import feather, parquet
        except ImportError:
            raise CommandError(
                f"{path} is a{'n' if kind == 'Arrow' else ''} {kind} file, which takes pyarrow to read, the extra "
                "'parquet' of pnorm: pip install pyarrow"
            ) from None
        self._path, self._kind, self._arrow = path, kind, pyarrow
        where = path if data is None else pyarrow.BufferReader(data)
        # No threads: a thread that outlives the command would abort it.
        if is_parquet:
            self._file = self._asked(lambda: parquet.ParquetFile(where, pre_buffer=False))
        else:
            self._file = self._asked(lambda: feather.read_table(where, use_threads=False))
        schema = self._file.schema_arrow if is_parquet else self._file.schema
        about = self._asked(lambda: schema.pandas_metadata)
        index = about.get("index_columns") if isinstance(about, dict) else None
        self._index = {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()
        self.names = [name for name in schema.names if name not in self._index]

    def _asked(self, work: Any) -> Any:
        try:
            return work()
        except (self._arrow.ArrowException, OSError, ValueError, RecursionError) as error:
            raise CommandError(f"{self._path} is no {self._kind} file that pyarrow can read: {error}") from None

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows if self._kind == "Parquet" else self._file.num_rows)

    def place(self, i: int) -> str:
        return f"row {i} of {self._path}"

    def frame(self, names: list[str]) -> Any:
        if self._kind == "Parquet":
            return self._asked(lambda: self._file.read(columns=names, use_threads=False)).select(names)
        return self._file.select(names)

    def _values(self, name: str) -> Any:
        column = self.frame([name]).column(0)
        if self._arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if len(column) != len(self):
            raise CommandError(f"{self._path} says that it has {len(self)} rows, and {len(column)} are there")
        return column

    def numbers(self, name: str) -> NDArray[np.float64]:
        column, types = self._values(name), self._arrow.types
        if column.null_count:
            raise _no_number("", name, self, int(np.argmax(column.is_null().to_numpy())))
        kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if not any(is_kind(column.type) for is_kind in kinds):
            return _numbers(self.texts(name), name, self)
        found = np.asarray(column.to_numpy(), dtype=np.float64)
        wrong = np.flatnonzero(~np.isfinite(found))
        if wrong.size:
            raise _no_number(str(found[wrong[0]]), name, self, int(wrong[0]))
        return found

    def texts(self, name: str) -> list[str]:
        return list(self._asked(lambda: _texts(self._values(name))))


def _arrow_lines(data: bytes) -> tuple[range, list[str], Any] | None:
    """Return the numbers of the lines of a CSV file, its header and a table of text; None if pyarrow is not there.

    None as well where it could read the file in another way than `_lines`, which also says what is wrong: if quotes are
    not around whole fields, blank lines stand between others, or a line has more or fewer fields than the header.
    """
    try:
        import pyarrow
        from pyarrow import csv as reader
    except ImportError:
        return None
    header = re.compile(rb"[^\r\n]+").search(data, len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
    if header is None or b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    try:
        text = header[0].decode()
        delimiter = _delimiter(text)
        names = next(csv.reader([text], delimiter=delimiter, strict=True))
        quotes = data.count(b'"')
        between = rb"[^%b\r\n]" % re.escape(delimiter.encode())
        quoted = rb'(?<!%b)"[^"\r\n]*"(?!%b)()' % (between, between)
        if (
            len(data) < _WIDE * len(names)
            or re.compile(rb"\n\r?\n(?=[^\r\n])").search(data, header.end())
            or (quotes and quotes != 2 * len(re.findall(quoted, data)))
        ):
            return None
        columns = [str(at) for at in range(len(names))]
        # No threads: a thread that outlives the command would abort it.
        table = reader.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(data).slice(header.end())),
            reader.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=columns),
            reader.ParseOptions(delimiter=delimiter),
            reader.ConvertOptions(column_types=dict.fromkeys(columns, pyarrow.string())),
        )
    except (ValueError, csv.Error):  # Arrow's errors of a file that it cannot read are the first
        return None
    line = data.count(b"\n", 0, header.start()) + 2
    return range(line, line + table.num_rows), names, table


def _delimiter(header: str) -> str:
    return max(",;\t|", key=header.count)


def _lines(path: str, data: bytes) -> tuple[array[int], list[list[str]]]:
    """Return the lines of a CSV file that are not blank, with the number of each in the file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise CommandError(f"line {line} of {path} has a NUL byte, which no text has; save it as UTF-8")
    first = re.search(r"[^\r\n]+", text)
    delimiter = _delimiter(first[0] if first else "")
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    numbers, lines = array("q"), []
    try:
        for fields in reader:
            if fields:
                numbers.append(reader.line_num)
                lines.append(fields)
    except csv.Error as error:
        raise CommandError(f"line {reader.line_num} of {path} is not CSV: {error}") from None
    return numbers, lines


def _texts(column: Any) -> list[str]:
    """Return a column as text without blanks around it; a missing value is empty."""
    values = _checks.column_values(column)
    each = values.values if isinstance(values, Coded) else _checks.listed(column)
    texts = ["" if value is None else str(value).strip() for value in each]
    return list(Coded(texts, values.codes)) if isinstance(values, Coded) else texts


def _floats(text: Any) -> NDArray[np.float64] | None:
    """Return a column of text as floats if all of it is finite numbers as `numeral` reads them; None otherwise."""
    found: NDArray[np.float64]
    try:
        if not isinstance(text, list):
            try:
                found = text.cast("float64").to_numpy()
                return found if np.isfinite(found).all() else None
            except ValueError:  # Arrow allows no blanks and no plus
                text = text.to_pylist()
        whole = "".join(text)
        if "_" in whole or not whole.isascii():
            return None
        found = np.fromiter(map(float, text), np.float64, len(text))
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _numbers(text: Any, column: str, source: Source) -> NDArray[np.float64]:
    """Convert the text of a column that must hold numbers."""
    found = _floats(text)
    if found is not None:
        return found
    read = Fields(text).read()
    wrong = [isinstance(value, str) or value != value for value in read.values]
    if any(wrong):
        i = int(np.argmax(read.codes == wrong.index(True)))
        raise _no_number(_texts(text)[i], column, source, i)
    return np.array(read.values, np.float64)[read.codes]


def _no_number(text: str, column: str, source: Source, i: int) -> CommandError:
    name, got = _checks.shown(column), _checks.shown(text)
    if reads_as_missing(text):
        return CommandError(f"column {name} has a missing value in {source.place(i)}; fill it in, or --ignore {name}")
    with contextlib.suppress(ValueError):
        if not math.isfinite(numeral(text)):
            return CommandError(f"column {name} has {got} in {source.place(i)}; every value must be finite")
    return CommandError(
        f"column {name} is not numeric: {got} in {source.place(i)}; encode it as numbers, or --ignore {name}"
    )
