"""Files of text whose columns are separated by a character, read a few megabytes at a time, or at once."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pnorm._checks.text import first
from pnorm._tables.delimited import Lines, check_lines, numbered_rows, quotes_are_around_fields, read_lines
from pnorm._tables.inputs import Part, Place, Stream, slice_rows
from pnorm._tables.packed import unpacked_stream
from pnorm._tables.source import TableError, named
from pnorm._tables.text import BLANKS, Decoder, Layout, body, layout, names_of

_HEAD = 2**20
"""Bytes that are used to detect the format of a file."""

_NAMES = 2**17
"""Bytes, or a line if that is longer, in which the names are."""

_BYTES = 2**22
"""Bytes that are read at once; rows that the csv module reads take up to 75 times as much memory."""

_CELLS = 2**20
"""Cells of a batch that the csv module reads, at most."""


class CsvStream(Stream):
    """A file of text whose columns are separated by a character.

    It is written as `like` is, an earlier file. A file without a line has no columns. If all of its bytes are given, it
    is read at once, and only once.
    """

    kind = "CSV"

    def __init__(
        self,
        path: str,
        given: Sequence[str] | None = None,
        like: CsvStream | None = None,
        skip: int = 0,
        data: bytes | None = None,
    ) -> None:
        self.path = path
        self.notes: list[str] = []
        head, is_whole = data or b"", True
        if data is None:
            with unpacked_stream(path) as file:
                head = file.read(_HEAD)
                is_whole = not file.read(1)
        head = Decoder(path, self.notes).feed(head, is_whole)
        self._text = None if data is None else head
        how = layout(head, given, self.notes if like is None else [], skip)
        if like is not None:
            how = replace(like.how, n_names=like.how.header * max(1, how.n_names))
        self.how: Layout = how
        lines = body(head, how)
        line = re.search(rb"[^\r\n]+", lines)
        some = lines[: max(_NAMES, line.end() + 1 if line else 0)].decode("utf-8", "ignore")
        self.header: list[str] = next((row for _, row in numbered_rows(path, some, how)), [])
        self.names: list[str] = []
        if not self.header:
            return
        if like is not None and given is not None and how.header and self.header != like.header:
            raise TableError(
                f"{path} has the columns {first(self.header, 8)} in its header, and {like.path} has "
                f"{first(like.header, 8)}; names are given by place, so all files need the same"
            )
        names = names_of(path, self.header, how.header, given, self.notes)
        self._ends_with_delimiter = how.header and len(names) > 1 and not names[-1]
        if self._ends_with_delimiter:
            names.pop()
        self.names = named(path, names, self.notes)

    def parts(self, names: Sequence[str], rows: int) -> Iterator[Part]:
        """Yield tables of some columns."""
        places = {name: place for place, name in enumerate(self.names)}
        at = {name: places[name] for name in names}
        for lines in self._lines(rows):
            if self._ends_with_delimiter:
                self._check_last(lines)
            columns = {name: lines.column(place) for name, place in at.items()}
            if lines.table is not None:
                columns = lines.table.select(list(at.values())).rename_columns(list(at))
            n = len(lines.numbers)
            for start in range(0, n, rows):
                size = min(rows, n - start)
                some = columns if size == n else slice_rows(columns, start, size)
                yield some, size, _places(self.path, lines.numbers, start)

    def _lines(self, rows: int) -> Iterator[Lines]:
        """Yield the rows, without the header."""
        n_names, odd = self.how.n_names, Counter[str]()
        for lines in self._all_lines(rows):
            n_names -= lines.drop_first(n_names)
            odd.update(check_lines(self.path, lines, self.header, self.how))
            yield lines
        self.odd_lines = odd

    def _all_lines(self, rows: int) -> Iterator[Lines]:
        """Yield the rows, the header among them: those of a few megabytes, if these can be told from those after."""
        read_as = list[str]()
        with self._texts(read_as) as texts:
            text = body(next(texts, b""), self.how)
            line, pending = 0, b""
            while text:
                pending += text
                text = next(texts, b"")
                end = pending.rfind(b"\n") + 1 if text else len(pending)
                block = pending if end == len(pending) else pending[:end]
                if text and not (end and self._is_apart(block)):
                    yield from self._slowly(itertools.chain([pending, text], texts), line, rows)
                    return
                pending = pending[end:]
                first, lines = read_lines(self.path, block, self.how, line)
                if lines.table is not None and len(first) != len(self.header):
                    check_lines(self.path, Lines(lines.numbers, [first]), self.header, self.how)
                if lines.numbers or lines.n_blank:
                    yield lines
                line += block.count(b"\n")
        self.notes += [note for note in read_as[:1] if not set(read_as) & set(self.notes)]

    @contextlib.contextmanager
    def _texts(self, notes: list[str]) -> Iterator[Iterator[bytes]]:
        """Yield the text of the file, in UTF-8: some megabytes at a time, none of them empty; or all of it."""
        if self._text is not None:
            text, self._text = self._text, None
            yield iter([text] * bool(text))
            return
        with unpacked_stream(self.path) as file:
            yield _texts(file, Decoder(self.path, notes))

    def _is_apart(self, block: bytes) -> bool:
        """Return whether no quote of some lines can go on in those after, nor end in one."""
        if block.count(b"\r") != block.count(b"\r\n"):
            return False
        return b'"' not in block or (
            self.how.delimiter != BLANKS and quotes_are_around_fields(block, self.how.delimiter)
        )

    def _slowly(self, texts: Iterable[bytes], line: int, rows: int) -> Iterator[Lines]:
        """Yield rows that the csv module reads one by one; `line` is the number of lines before."""
        blank = list[int]()
        found = numbered_rows(self.path, _split(map(bytes.decode, texts)), self.how, line, blank)
        several: list[tuple[int, list[str]]] | None = None
        while several or several is None:
            several = list(itertools.islice(found, max(1, min(rows, _CELLS // len(self.header)))))
            yield Lines(array("q", [number for number, _ in several]), [row for _, row in several], None, len(blank))
            blank.clear()

    def _check_last(self, lines: Lines) -> None:
        """Refuse a column without a name that holds something; where all lines end with a delimiter, it does not."""
        if not lines.is_blank(len(self.header) - 1):
            raise TableError(
                f"column {len(self.header)} of {self.path} has no name in the header; --names A,B,C gives names"
            )


def _places(path: str, numbers: Sequence[int], start: int) -> Place:
    """Return the places of rows; it does not keep the text."""
    return lambda row: f"line {numbers[start + row]} of {path}"


def _texts(file: io.BufferedReader, decoder: Decoder) -> Iterator[bytes]:
    data = file.read(max(_BYTES, 128))  # the first line is whole if it says what divides the columns
    while data:
        more = file.read(_BYTES)
        text = decoder.feed(data, not more)
        if text:
            yield text
        data = more


def _split(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text that comes in parts, with their ends."""
    pending = ""
    for text in texts:
        lines = list(io.StringIO(pending + text, newline=""))
        pending = lines.pop() if lines else ""
        yield from lines
    yield from io.StringIO(pending, newline="")
