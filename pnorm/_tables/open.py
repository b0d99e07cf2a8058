"""The kind of a file, told by its first bytes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pnorm._checks.text import shown
from pnorm._tables.arrow import ArrowStream
from pnorm._tables.csv_stream import CsvStream
from pnorm._tables.inputs import Stream
from pnorm._tables.packed import ZIP, is_read_once, unpacked_stream
from pnorm._tables.source import TableError
from pnorm._tables.text import Decoder
from pnorm._tables.workbook import WorkbookStream, sheet_of

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


def stream_of(
    path: str,
    names: Sequence[str] | None = None,
    skip: int = 0,
    *,
    like: Stream | None = None,
    sheet: str | None = None,
    whole: bool = False,
) -> Stream:
    """Open a file of rows by its first bytes: delimited text, Parquet, Feather, Arrow or a workbook, packed or not.

    `like` is an earlier file that is written alike. A file that is to be read `whole` may give its rows once.
    """
    is_once = is_read_once(path)
    if is_once and not whole:
        raise TableError(
            f"{path} is a pipe, a socket or a device, which gives its rows once; save them as a file: rows of several "
            "files, or in batches, are read again"
        )
    suffix = suffix_of(path)
    with unpacked_stream(path) as file:
        start = file.peek(START)[:START]
        is_book = start.startswith((OLD_WORKBOOK, ZIP))  # an archive is unpacked
        of_arrow = not is_book and is_arrow(start, suffix)
        is_plain = of_arrow and not is_once and _starts_with(path, start)
        data = file.read() if (is_book or whole or of_arrow) and not is_plain else None
    if sheet is not None and not is_book:
        raise TableError(f"{path} is not a workbook, so it has no sheet {shown(sheet)}")
    if is_book:
        return WorkbookStream(path, data or b"", sheet, names, skip)
    if of_arrow:
        if names is not None or skip:
            raise TableError(f"{path} contains column names; pass no other names, and no lines to skip")
        return ArrowStream(path, data, start[:4] == b"PAR1" or (start[:6] != b"ARROW1" and suffix in _PARQUET))
    other = next((what for magic, what in _OTHERS.items() if start.lower().startswith(magic.lower())), None)
    if other is not None:
        raise TableError(f"{path} is {other}; save its table as CSV")
    return CsvStream(path, names, like if isinstance(like, CsvStream) else None, skip, data)


def _starts_with(path: str, start: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(start)) == start


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
        lines = Decoder(path, []).feed(data, False).decode().split("\n")[:_TOP]
        rows = [{part.strip(' "\r') for mark in ",;\t| " for part in line.split(mark)} for line in lines]
    return [number for number, row in enumerate(rows, start=1) if word in row]


def suffix_of(path: str) -> str:
    """Return the suffix of a file name, without that of compression."""
    stem, suffix = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if suffix in _PACKED else suffix


def is_rows_file(path: str) -> bool:
    """Return whether a file has rows by its name."""
    return suffix_of(path) in (*_PARQUET, *_ARROW, *_TEXT)


def is_arrow(start: bytes, suffix: str) -> bool:
    return start[:4] == b"PAR1" or start[:6] == b"ARROW1" or bool(start and suffix in _PARQUET + _ARROW)
