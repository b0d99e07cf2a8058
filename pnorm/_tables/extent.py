"""The cells of a sheet, looked through before they are read: the reader makes an array of the rectangle they lie in."""

from __future__ import annotations

import functools
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree

from pnorm._checks.text import counted, shown
from pnorm._tables.source import TableError

_MOST = 2**22
"""Cells of a rectangle that is read in any case; they take 130 MB."""

_SPARSE = 50
"""Cells of a larger rectangle for each cell that has a value, at most."""

_CELL = re.compile(rb"<(?:\w+:)?c\s[^<>]*?\br=[\"']([A-Za-z]{1,9})(\d{1,18})[\"'][^<>]*(?<!/)>(?!</)")
"""A cell that holds something, in XML; cells that have a format alone are not read."""

_ROW, _CELLS, _SHEET = 0, range(2, 12), 156
"""Kinds of records of binary files: a row, a cell with a value, and the name of a sheet."""

_BYTES = 2**20

Cells = tuple[int, dict[int, int]]
"""The number of cells that have a value, and the last row that has one in each column; both from 1."""


def check_extent(path: str, data: bytes, sheet: str) -> None:
    """Refuse a sheet of few cells that are far apart, such as a note in the last row and column."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            part = _part(archive, sheet)
            with archive.open(part) as file:
                n, last = (_of_records if part.endswith(".bin") else _of_xml)(file)
    except (
        zipfile.BadZipFile,
        KeyError,
        StopIteration,
        ElementTree.ParseError,
        IndexError,
    ):  # not of these kinds, or damaged
        return
    bottom, right = max(last.values(), default=0), max(last, default=0)
    if bottom * right > max(_MOST, _SPARSE * n):
        lowest = max(column for column in last if last[column] == bottom)
        far = dict.fromkeys([f"{_letters(column)}{last[column]}" for column in (right, lowest)])
        raise TableError(
            f"the sheet {shown(sheet)} of {path} has {counted(n, 'cell')} with a value, and one as far away as "
            f"{' and '.join(far)}. Delete what is beside the table, or save the table as CSV"
        )


def _part(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the file that has the cells of a sheet."""
    book = "workbook.bin" if "xl/workbook.bin" in archive.namelist() else "workbook.xml"
    data = archive.read(f"xl/{book}")
    names = _names_of_records(data) if book.endswith(".bin") else _names_of_xml(data)
    relations = ElementTree.fromstring(archive.read(f"xl/_rels/{book}.rels"))
    target = next(of.attrib["Target"] for of in relations if of.get("Id") == names[sheet])
    return target[1:] if target.startswith("/") else posixpath.join("xl", target)


def _names_of_xml(data: bytes) -> dict[str, str]:
    """Return the relation of each sheet."""
    sheets = [of for of in ElementTree.fromstring(data).iter() if of.tag.endswith("}sheet")]
    return {of.attrib["name"]: next(of.attrib[key] for key in of.attrib if key.endswith("}id")) for of in sheets}


def _of_xml(file: IO[bytes]) -> Cells:
    n, last, rest = 0, dict[bytes, bytes](), b""
    while more := file.read(_BYTES):
        text = rest + more
        end = text.rfind(b"<")
        found = _CELL.findall(text, 0, end + 2)
        n += len(found)
        last.update(found)
        rest = text[end:] if end >= 0 else b""
    return n, {_number(letters): int(row) for letters, row in last.items()}


def _number(letters: bytes) -> int:
    """Return the number of a column, from 1."""
    return functools.reduce(lambda number, letter: 26 * number + letter - 64, letters.upper(), 0)


def _letters(number: int) -> str:
    """Return the letters of a column."""
    return "" if number == 0 else _letters((number - 1) // 26) + chr(65 + (number - 1) % 26)


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the kind of each record of a binary file, and where its data begin."""
    at = 0
    while at < len(data):
        kind, size, shift = data[at], 0, 0
        at += 1
        if kind > 127:
            kind += (data[at] - 1) << 7
            at += 1
        byte = 128
        while byte > 127:
            byte = data[at]
            size |= (byte & 127) << shift
            shift += 7
            at += 1
        yield kind, at
        at += size


def _names_of_records(data: bytes) -> dict[str, str]:
    """Return the relation of each sheet."""
    found = {}
    for kind, at in _records(data):
        if kind == _SHEET:
            relation, end = _text(data, at + 8)
            found[_text(data, end)[0]] = relation
    return found


def _text(data: bytes, at: int) -> tuple[str, int]:
    """Return a text of a binary file, and where it ends."""
    end = at + 4 + 2 * int.from_bytes(data[at : at + 4], "little")
    return data[at + 4 : end].decode("utf-16-le", "replace"), end


def _of_records(file: IO[bytes]) -> Cells:
    n, row, last, data = 0, 0, dict[int, int](), file.read()
    for kind, at in _records(data):
        if kind == _ROW:
            row = int.from_bytes(data[at : at + 4], "little") + 1
        elif kind in _CELLS:
            n += 1
            last[int.from_bytes(data[at : at + 4], "little") + 1] = row
    return n, last
