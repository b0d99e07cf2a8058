"""The kind of a file, told by its first bytes."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence

from pnorm._checks.text import naming, shown
from pnorm._tables.arrow import ArrowSource
from pnorm._tables.delimited import CsvSource
from pnorm._tables.packed import ZIP, is_workbook, packed, unpacked, unpacked_stream
from pnorm._tables.source import Source, TableError
from pnorm._tables.text import Decoder
from pnorm._tables.workbook import WorkbookSource, sheet_of

START = 16
"""Bytes that identify the kind of a file."""

OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_TOP, _TOP_BYTES = 50, 2**16
"""Lines and bytes in which names are looked for that do not stand where they should."""

_PARQUET, _ARROW, _TEXT = (".parquet", ".pq"), (".feather", ".arrow"), (".csv", ".tsv", ".tab", ".txt")

_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")

_OTHERS = {
    b"%PDF": "a PDF document", b"SQLite format 3": "a data base of SQLite", b"\x89HDF": "an HDF5 file",
    b"{\\rtf": "a text document (RTF)",
    b"<html": "an HTML page", b"<!doctype html": "an HTML page", b"<table": "an HTML page",
    b'{"': "JSON", b"[{": "JSON",
}  # fmt: skip


def open_source(path: str, *, names: Sequence[str] | None = None, sheet: str | None = None, skip: int = 0) -> Source:
    """Open a file of rows: delimited text, Parquet, Feather, Arrow or a workbook, compressed or not.

    `path` may be "-", the standard input. `names` are those of the columns of text without a header line, and `sheet`
    is the name of a sheet of a workbook, or its number from 1. The first `skip` lines or rows are left out; without it,
    lines of a title above the names are found.
    """
    suffix = suffix_of(path)
    with naming(path), contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as stream:
        start = stream.read(START)  # read once, as a pipe does not give its bytes again
        is_file = not is_read_once(path)
        data = None
        if not (is_arrow(start, suffix) and is_file and packed(start) is None):
            if is_file:  # so that it is not in memory twice
                stream.seek(0)
                start = b""
            data = unpacked(path, start + stream.read())
            start = data[:START]
    is_book = start.startswith(OLD_WORKBOOK) or (start.startswith(ZIP) and is_workbook(io.BytesIO(data or b"")))
    if sheet is not None and not is_book:
        raise TableError(f"{path} is not a workbook, so it has no sheet {shown(sheet)}")
    if is_book:
        return WorkbookSource(path, data or b"", sheet, names, skip)
    if is_arrow(start, suffix):
        check_given(path, names, skip)
        return ArrowSource(path, data, is_parquet(start, suffix))
    refuse_others(path, start)
    return CsvSource(path, data or b"", names, skip)


def lines_with(path: str, word: str, sheet: str | None = None) -> list[int]:
    """Return the numbers of the first lines, or rows of a sheet, that have a word as a field, however they divide."""
    with unpacked_stream(path) as file:
        start = file.peek(START)[:START]
        is_book = start.startswith((OLD_WORKBOOK, ZIP))
        data = file.read() if is_book else file.read(_TOP_BYTES)
    if is_book:
        rows = [{str(value).strip() for value in row} for row in sheet_of(path, data, sheet)[2][:_TOP]]
    elif is_arrow(start, suffix_of(path)):
        return []
    else:
        lines = Decoder(path, []).feed(data, False).split("\n")[:_TOP]
        rows = [{part.strip(' "\r') for mark in ",;\t| " for part in line.split(mark)} for line in lines]
    return [number for number, row in enumerate(rows, start=1) if word in row]


def check_given(path: str, names: Sequence[str] | None, skip: int) -> None:
    """Refuse names, and lines to leave out, of a file that says itself where its columns are."""
    if names is not None or skip:
        raise TableError(f"{path} contains column names; pass no other names, and no lines to skip")


def is_read_once(path: str) -> bool:
    """Return whether a path is the standard input, a pipe, a socket or a device: these give their bytes once."""
    return path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path))


def suffix_of(path: str) -> str:
    """Return the suffix of a file name, without that of compression."""
    stem, suffix = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if suffix in _PACKED else suffix


def is_rows_file(path: str) -> bool:
    """Return whether a file has rows by its name."""
    return suffix_of(path) in (*_PARQUET, *_ARROW, *_TEXT)


def is_arrow(start: bytes, suffix: str) -> bool:
    return start[:4] == b"PAR1" or start[:6] == b"ARROW1" or bool(start and suffix in _PARQUET + _ARROW)


def is_parquet(start: bytes, suffix: str) -> bool:
    """Return whether a file that `is_arrow` is one of Parquet."""
    return start[:4] == b"PAR1" or (start[:6] != b"ARROW1" and suffix in _PARQUET)


def refuse_others(path: str, start: bytes) -> None:
    """Raise TableError for a file that is not text, by its first bytes."""
    other = next((what for magic, what in _OTHERS.items() if start.lower().startswith(magic.lower())), None)
    if other is not None:
        raise TableError(f"{path} is {other}; save its table as CSV")
