"""The format of a text file: its encoding, its delimiter, and whether it has a header."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pnorm._checks import reads_as_missing
from pnorm._checks.text import counted, shown
from pnorm._checks.text import first as listed
from pnorm._tables.source import TableError
from pnorm.rankers import _numbers, _times
from pnorm.rankers._forms import DAY_FIRST, MONTH_FIRST

BLANKS = " "
"""Runs of blanks between columns."""

_DELIMITERS = ",;\t|"
_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", BLANKS: "blanks"}

_WIDE_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
               codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
"""Marks at the start of text in other encodings than UTF-8; the longer ones first, as one begins with another."""

_CHUNK = 2**20

_SAMPLE = 2**16
"""Bytes of the lines that are used to detect the format."""

_LINES, _CELLS = 100, 20_000
"""Lines and cells that are looked at, at most."""

_MOST_ABOVE = 20
"""Lines above a table, at most."""

_CONTROL = re.compile("[\0-\x08\x0e-\x1f]")

_ESCAPED, _BEYOND = re.compile("[\udc80-\udcff]"), re.compile("[^\0-\x7f\udc80-\udcff]")
"""A byte that is no UTF-8, in text that was read with escapes, and letters beyond ASCII."""

_WESTERN = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(128, 256)}

_MANY_GOOD = 10
"""Letters beyond ASCII for each byte that is no UTF-8, at least, in text that is UTF-8 but for a few bytes."""

_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")

_SAID = re.compile('"?sep=([,;\t|])"?(?=[\r\n])')
"""A first line with which spreadsheet programs declare the delimiter."""

_DIGITS = re.compile(r"\d+", re.ASCII)

_SIMPLE = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)


# Encoding -------------------------------------------------------------------------------------------


def _mended(path: str, data: bytes, notes: list[str], before: int) -> str:
    """Return text that is UTF-8 but for a few bytes, which are read as cp1252; "" of other text."""
    text = data.decode("utf-8", "surrogateescape")
    wrong = [match.start() for match in _ESCAPED.finditer(text)]
    if not wrong or len(_BEYOND.findall(text)) < _MANY_GOOD * len(wrong):
        return ""
    places = list(dict.fromkeys(before + text.count("\n", 0, at) + 1 for at in wrong))
    where = f"line{'s' * (len(places) > 1)} {listed(places, 5, str)}"
    notes.append(f"read as UTF-8, but for {counted(len(wrong), 'byte')} in {where}, read as cp1252")
    return text.translate(_WESTERN)


def _from_cp1252(path: str, data: bytes, wrong: int, notes: list[str], before: int) -> str:
    """Return text that is not UTF-8, as its byte `wrong` says; there are some lines before."""
    what = f"byte 0x{data[wrong]:02x} in line {before + _line(data, wrong)}"
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} in line {before + _line(data, error.start)}"
        raise TableError(f"{path} is text in neither UTF-8 nor cp1252 ({what}); save it as UTF-8") from None
    control = _CONTROL.search(text)
    if control:
        what = f"byte 0x{ord(control[0]):02x} in line {before + _line(data, control.start())}"
        raise TableError(f"{path} is text in neither UTF-8 nor cp1252 ({what}); save it as UTF-8")
    notes.append(f"read as cp1252 (Western Europe), as it is not UTF-8 ({what})")
    return text


def nul(path: str, data: bytes, before: int) -> str:
    """Return what is wrong with text that has a NUL byte; there are some lines before."""
    line = before + _line(data, data.index(b"\0"))
    return f"line {line} of {path} has a NUL byte, which no text has; save it as UTF-8"


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


class Decoder:
    """Text of a file that comes in parts, or at once, in UTF-8 without a mark at its start.

    A file is of UTF-8 or, by its mark, UTF-16 or UTF-32. One with a few other bytes is UTF-8 with these as cp1252, and
    one with many is cp1252, if no byte beyond ASCII has come before. `notes` gets what was assumed.
    """

    def __init__(self, path: str, notes: list[str]) -> None:
        self._path, self._notes = path, notes
        self._encoding, self._held = "", b""
        self._lines = 0
        self._is_ascii = True

    def feed(self, data: bytes, final: bool) -> bytes:
        """Return the text of the next bytes, to the last whole character."""
        if not self._encoding:
            wide = next((encoding for mark, encoding in _WIDE_MARKS.items() if data.startswith(mark)), None)
            data = data if wide else data.removeprefix(codecs.BOM_UTF8)
            self._use(wide or "utf-8")
        text = self._decoded(self._held + data if self._held else data, final)
        if b"\0" in text:
            raise TableError(nul(self._path, text, self._lines))
        self._lines += text.count(b"\n")
        self._is_ascii = self._is_ascii and text.isascii()
        return text

    def _use(self, encoding: str) -> None:
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def _decoded(self, data: bytes, final: bool) -> bytes:
        self._held = b""
        if self._encoding != "utf-8":
            try:
                return self._decoder.decode(data, final).encode()
            except UnicodeDecodeError as error:
                name = self._encoding.upper()
                raise TableError(f"{self._path} begins as {name} text, but is not valid: {error}") from None
        wrong = _not_utf8(data)
        if wrong is None:
            return data
        if not final and wrong > len(data) - 4:
            decoder = codecs.getincrementaldecoder("utf-8")()
            with contextlib.suppress(UnicodeDecodeError):  # or the beginning of a character
                decoder.decode(data[wrong:])
                data, self._held = data[:wrong], data[wrong:]
                return data
        if b"\0" in data:
            raise TableError(nul(self._path, data, self._lines))
        end = len(data) if final else data.rfind(b"\n") + 1  # a line that is not whole comes again with the next part
        text = data[:end]
        if _not_utf8(text) is not None:
            text = _mended(self._path, text, self._notes, self._lines).encode()
        if text or not end:
            self._held = data[end:]
            return text
        if not self._is_ascii:
            what = f"byte 0x{data[wrong]:02x} in line {self._lines + _line(data, wrong)}"
            raise TableError(
                f"{self._path} begins as UTF-8 text, but is not valid UTF-8 ({what}); save it as UTF-8"
            ) from None
        text = _from_cp1252(self._path, data, wrong, self._notes, self._lines).encode()
        self._use("cp1252")
        return text


def _not_utf8(data: bytes) -> int | None:
    """Return the first byte that is not UTF-8, if there is one."""
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):  # not all at once, which takes memory
        pending = len(decoder.getstate()[0])
        end = start + _CHUNK
        try:
            decoder.decode(data[start:end], end >= len(data))
        except UnicodeDecodeError as error:
            return start - pending + error.start
    return None


# Lines ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """The format of the lines of a file."""

    delimiter: str
    """The delimiter; `BLANKS` for runs of blanks."""
    header: bool = True
    """Whether the first line has the names of the columns."""
    n_names: int = 1
    """Lines of names, or of units below them; 0 without a header."""
    above: int = 0
    """Lines above the table, such as a title."""
    quoted: bool = False
    """Whether lines may be quoted as a whole, the first one as well."""
    longer: bool = False
    """Whether all lines but the header end with a delimiter."""


def layout(data: bytes, names: Sequence[str] | None, notes: list[str], skip: int = 0) -> Layout:
    """Tell how the lines of a file are written from the first ones; add to `notes` what was assumed.

    The first `skip` lines are left out. If it is 0, lines above the names are found.
    """
    lines, whole = _sample(_cut(data, skip))
    said = _SAID.match(lines)
    if said:
        lines = lines[said.end() :].lstrip("\r\n")
    delimiter = said[1] if said else _delimiter(lines, whole)
    above = skip
    even = _even(lines, Layout(delimiter), whole)
    raw = _some_rows(lines, Layout(delimiter), whole)
    quoted = [*map(len, raw[:1])] == [1] and _even(lines, Layout(delimiter, quoted=True), whole) is not None
    longer = _are_longer(raw)
    may_be_title = even is None or 2 * list(map(str.strip, even[0])).count("") >= len(even[0])
    if may_be_title and not (skip or said or quoted or longer):
        above, delimiter = _title(data[: 2 * _SAMPLE], whole) or (0, delimiter)
        if above:
            left_out = "the line" if above == 1 else f"{above} lines"
            notes.append(f"the table begins in line {above + 1}; {left_out} above it left out")
            lines = _sample(_cut(data, above))[0]
    if delimiter not in ",\t":
        notes.append(f"columns are separated by {_WORDS.get(delimiter, shown(delimiter))}")
    rows = _some_rows(lines, Layout(delimiter, quoted=quoted), whole)
    if quoted:
        notes.append("lines are quoted as a whole, and read without these quotes")
    if longer:
        notes.append("all lines but the first end with a delimiter")
        rows[1:] = [row[:-1] for row in rows[1:]]
    n_names = lines_of_names(rows, notes)
    header = has_header([*rows[:1], *rows[n_names:]], names)
    return Layout(delimiter, header, n_names if header else 0, above, quoted, longer)


def body(data: bytes, how: Layout) -> bytes:
    """Return text with blank lines in place of those above the table, and of a first line that says the delimiter."""
    said = _SAID.match(data[:20].decode("latin-1"))
    return data[said.end() :] if said else _cut(data, how.above)


def _cut(data: bytes, n: int) -> bytes:
    """Return text without what the first lines hold."""
    at = 0
    for _ in range(n):
        at = data.find(b"\n", at) + 1
    return b"\n" * n + data[at:] if n else data


def _title(data: bytes, whole: bool) -> tuple[int, str] | None:
    """Return how many lines stand above a table, and its delimiter; None if there is no such line, or no table.

    They have fewer fields than all the lines below, or fewer that hold something, and the first of these has names.
    """
    for above in range(1, _MOST_ABOVE + 1):
        lines = _sample(_cut(data, above))[0]
        for delimiter in _DELIMITERS:
            rows = _even(lines, Layout(delimiter), whole)
            if rows is None or len(rows) < 3 or not (_starts_table(rows) or are_names_again(rows)):
                continue
            *before, first = data.split(b"\n", above + 1)[: above + 1]
            d = delimiter.encode()
            n_fields = [sum(map(bool, map(bytes.strip, line.split(d)))) for line in before]
            if all(n < len(rows[0]) for n in n_fields) and first.strip(b" \r" + d):
                return above, delimiter
    return None


def _starts_table(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has names and no values, for certain."""
    kinds = [(_kind(rows[0][c]), _kind_below(rows, c)) for c in range(len(rows[0]))]
    return any(own == "" and below for own, below in kinds) and all(own == "" for own, _ in kinds)


def _are_longer(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether all rows have one field more than the first, and it is blank."""
    return len(rows) > 1 and all(len(row) == len(rows[0]) + 1 and not row[-1].strip() for row in rows[1:])


def lines_of_names(rows: Sequence[Sequence[str]], notes: list[str]) -> int:
    """Return how many of the first rows have names, or units below names, if the first has; add a note on the others.

    One of units has words in columns of numbers alone.
    """
    for n in (2, 1):
        if all(are_names_again([rows[0], row, *rows[n + 1 :]], True) for row in rows[1 : n + 1]) and len(rows) > n:
            others = "second line has" if n == 1 else "second and the third line have"
            notes.append(f"the {others} names as well, and {'is' if n == 1 else 'are'} left out")
            return n + 1
    return 1


def are_names_again(rows: Sequence[Sequence[str]], units: bool = False) -> bool:
    """Return whether the second row has names too: different words, in two columns or more that are numbers below.

    With `units`, it may as well have words in such columns alone.
    """
    if len(rows) < 4 or rows[0] == rows[1] or len(rows[0]) != len(rows[1]):
        return False
    if [_kind(word) for word in rows[1]].count("") < 2:  # which spares a look at all the others
        return False
    kinds = [(word.strip(), _kind_below(rows[1:], c)) for c, word in enumerate(rows[1])]
    of_numbers = [word for word, kind in kinds if kind and word]
    is_full = all(word for word, _ in kinds)
    are_names = len(set(rows[1])) == len(rows[1]) if is_full else units and all(kind for word, kind in kinds if word)
    return are_names and len(of_numbers) > 1 and all(_kind(word) == "" for word in of_numbers)


def reader(text: str | Iterable[str], how: Layout) -> Any:
    """Return a reader of the csv module for a text, or for its lines with their ends."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    if how.delimiter == BLANKS:
        stripped = (line.strip(" \r\n") + "\n" for line in lines)
        return csv.reader(stripped, delimiter=" ", skipinitialspace=True, strict=True)
    return csv.reader(lines, delimiter=how.delimiter, skipinitialspace=True, strict=True)


def within(row: list[str], how: Layout) -> list[str]:
    """Return the fields of a line, those within one that is quoted as a whole if the file may have such."""
    return next(reader(row[0], how), row) if how.quoted and len(row) == 1 else row


def _sample(data: bytes) -> tuple[str, bool]:
    """Return the first lines that are not blank, and whether these are all."""
    start = re.compile(rb"[^\r\n]").search(data)
    if start is None:
        return "", True
    end = start.start() + _SAMPLE
    if end >= len(data):
        return data[start.start() :].decode(), True
    line = re.compile(rb"[\r\n]").search(data, start.start())
    last = max(data.rfind(b"\n", 0, end), data.rfind(b"\r", 0, end), line.start() if line else len(data))
    return data[start.start() : last].decode(), False


def _some_rows(lines: str, how: Layout, whole: bool) -> list[list[str]]:
    """Return the first rows; fewer of very wide ones, and those after a line that is no CSV are missing."""
    rows: list[list[str]] = []
    n_cells = 0
    try:
        for row in reader(lines, how):
            if row:
                rows.append(within(row, how))
                n_cells += len(row)
            if len(rows) >= _LINES or (len(rows) > 1 and n_cells >= _CELLS):
                return rows
    except csv.Error:
        return rows
    return rows if whole or len(rows) < 3 else rows[:-1]  # a quote may go on after the sample


def _delimiter(lines: str, whole: bool) -> str:
    """Return what divides all of the first lines into equally many columns, two at least."""
    first = re.match(r"[^\r\n]*", lines)
    header = first[0] if first else ""
    likely = max(_DELIMITERS, key=header.count)
    fits = {d: len(rows[0]) for d in _DELIMITERS if d in header and (rows := _even(lines, Layout(d), whole))}
    if "," in fits and len(fits) > 1 and not _DECIMAL_COMMA.sub("", lines).count(","):
        del fits[","]  # the commas are in numbers
    if fits:
        return max(fits, key=lambda d: (fits[d], d == likely))
    if likely not in header:
        rows = _even(lines, Layout(BLANKS), whole)
        if rows and len(rows) > 1 and any(_kind_below(rows, c) for c in range(len(rows[0]))):
            return BLANKS
    return likely


def _even(lines: str, how: Layout, whole: bool) -> list[list[str]] | None:
    """Return rows if there are two columns or more, and all have as many."""
    rows = _some_rows(lines, how, whole)
    return rows if rows and len(rows[0]) > 1 and len(set(map(len, rows))) == 1 else None


# The header -----------------------------------------------------------------------------------------


def has_header(rows: Sequence[Sequence[str]], names: Sequence[str] | None) -> bool:
    """Return whether the first of some rows has the names of columns, and no values.

    It has values if it has numbers, dates or times in all columns that have nothing else below; where there is no such
    column, if each of its words stands below in its column as well. Numbers that rise by as much each, or are years,
    are names. Where that does not tell, a first row has names; but not if a user gives others.
    """
    if not rows:
        return True
    first, below = [word.strip() for word in rows[0]], [row for row in rows[1:] if len(row) == len(rows[0])]
    in_doubt = names is None or first == list(names)
    if not below:
        return in_doubt if not all(_kind(word) == "number" for word in first) else _are_counted(first)
    alike = []
    for c, word in enumerate(first):
        kind, own = _kind_below(rows, c), _kind(word)
        if kind and own is not None:
            if own != kind:
                return True
            alike.append(word)
    if alike:
        return _are_counted(alike)
    stripped = [[word.strip().lstrip("\ufeff") for word in row] for row in below]
    times = [[row[c] for row in stripped].count(word) for c, word in enumerate(first)]
    if not any(first) or not all(times):
        return in_doubt
    return set(times) == {stripped.count(first)}  # a header that comes again, in files put together


def names_of(path: str, first: Sequence[str], header: bool, names: Sequence[str] | None, notes: list[str]) -> list[str]:
    """Return the names of the columns, given the first row; add a note if the names are not from there."""
    own = [name.strip() for name in first]
    if names is None:
        if header:
            if len(own) > 1 and _are_counted(own):
                notes.append("the numbers of the first line are taken for the names of the columns")
            return own
        notes.append("there is no header; the columns are called 'column 1', 'column 2', ...")
        return [f"column {c}" for c in range(1, len(own) + 1)]
    if len(names) != len(own):
        raise TableError(f"{path} has {counted(len(own), 'column')}, and as many names are needed; got {len(names)}")
    if header and own != list(names):
        notes.append(f"the names given replace those of the header ({listed(own, 5)})")
    return [name.strip() for name in names]


def _kind_below(rows: Sequence[Sequence[str]], c: int) -> str | None:
    """Return what all values of a column are below the first row: numbers, dates or times; None if they are not."""
    kinds = {_kind(row[c]) for row in rows[1:] if len(row) == len(rows[0])} - {None}
    return kinds.pop() or None if len(kinds) == 1 else None


def _kind(word: str) -> str | None:
    """Return what a word is, "" for text and None for a missing value."""
    word = word.strip()
    if reads_as_missing(word):
        return None
    if _DIGITS.fullmatch(word):
        return "number"
    form, doubt = _numbers.number_form((word,))
    if form is not None or doubt:
        return "number"
    if any(_times.date(word, order) is not None for order in (DAY_FIRST, MONTH_FIRST)):
        return "date"
    return "time" if _times.time(word) is not None else ""


def _are_counted(words: Sequence[str]) -> bool:
    """Return whether numbers are names of columns: 0 and 1, three or more that rise by as much each, or years."""
    if len(words) < 2 or not all(map(_SIMPLE.fullmatch, words)):
        return False
    numbers = list(map(float, words))
    steps = [b - a for a, b in itertools.pairwise(numbers)]
    even = max(steps) - min(steps) <= 1e-9 * max(map(abs, numbers)) and (len(steps) > 1 or numbers == [0.0, 1.0])
    return min(steps) > 0.0 and (even or all(x.is_integer() and 1900.0 <= x <= 2100.0 for x in numbers))
