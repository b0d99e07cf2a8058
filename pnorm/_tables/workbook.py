"""Workbooks of spreadsheet programs: .xlsx, .xls, .xlsb and .ods."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from pnorm._checks.text import counted, first, install, shown
from pnorm._tables.extent import check_extent
from pnorm._tables.inputs import Part, Place, Stream
from pnorm._tables.source import TableError, named, text_of
from pnorm._tables.text import are_names_again, has_header, lines_of_names, names_of


class WorkbookStream(Stream):
    """A sheet of a workbook, whose values have types."""

    kind = "workbook"

    def __init__(
        self, path: str, data: bytes, sheet: str | None, names: Sequence[str] | None = None, skip: int = 0
    ) -> None:
        sheets, chosen, read = sheet_of(path, data, sheet)
        notes: list[str] = []
        if sheet is None and len(sheets) > 1:
            notes.append(f"reads the sheet {shown(chosen)}, the first of {len(sheets)}")
        others = [name for name in sheets if name != chosen]
        if others:
            also = f"{'the other is' if len(others) == 1 else 'others are'} {first(others, 8, _quoted)}"
            self.elsewhere = f". This is the sheet {_quoted(chosen)}; {also}. Choose one with --sheet"
        self.path, self.notes = path, notes
        every = list(enumerate(read, start=1))[skip:]
        rows = [(number, row) for number, row in every if any(value != "" for value in row)]
        if not rows:
            raise TableError(f"the sheet {shown(chosen)} of {path} is empty{self.elsewhere}")
        width = max(max(c for c, value in enumerate(row) if value != "") for _, row in rows) + 1
        texts = [[text_of(value) for value in row[:width]] for _, row in rows[:100]]
        if not all(texts[0][1:]) and are_names_again(texts):  # groups of columns, in merged cells
            notes.append(f"the names are in row {rows[1][0]}; the row above them is left out")
            del rows[0], texts[0]
        n_names = lines_of_names(texts, notes)
        has_names = has_header([texts[0], *texts[n_names:]], names)
        header = names_of(path, texts[0], has_names, names, notes)
        if has_names:
            del rows[:n_names]
        columns = [[None if row[c] == "" else row[c] for _, row in rows] for c in range(width)]
        kept = [c for c in range(width) if header[c] or any(value is not None for value in columns[c])]
        self._numbers, self._sheet = [number for number, _ in rows], chosen
        try:
            self.names = named(path, [header[c] for c in kept], notes)
        except TableError as error:
            raise TableError(f"{error}{self.elsewhere}") from None
        self._columns = {name: columns[c] for name, c in zip(self.names, kept, strict=True)}

    def n_rows(self) -> int:
        return len(self._numbers)

    def parts(self, names: Sequence[str], rows: int) -> Iterator[Part]:
        for start in range(0, len(self._numbers), rows):
            columns = {name: self._columns[name][start : start + rows] for name in names}
            numbers = self._numbers[start : start + rows]
            yield columns, len(numbers), _places(f"of the sheet {shown(self._sheet)} of {self.path}", numbers)


def _places(where: str, numbers: Sequence[int]) -> Place:
    return lambda row: f"row {numbers[row]} {where}"


def sheet_of(path: str, data: bytes, sheet: str | None) -> tuple[list[str], str, list[list[Any]]]:
    """Return the sheets of a workbook, the one that is read, and its rows."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise TableError(
            f"{path} is a spreadsheet workbook. Reading it needs python-calamine. {install('excel')}, or save the "
            "sheet as CSV"
        ) from None
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = list(book.sheet_names)
        chosen = _chosen(path, sheets, sheet)
        check_extent(path, data, chosen)
        return sheets, chosen, book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
    except calamine.CalamineError as error:
        raise TableError(f"{path} is a workbook that cannot be read: {error}") from None


def _chosen(path: str, sheets: Sequence[str], sheet: str | None) -> str:
    if not sheets:
        raise TableError(f"{path} is a workbook without a sheet")
    if sheet is None:
        return sheets[0]
    if sheet in sheets:
        return sheet
    if sheet.isdecimal() and 1 <= int(sheet) <= len(sheets):
        return sheets[int(sheet) - 1]
    raise TableError(
        f"no sheet {_quoted(sheet)} in {path}, which has {counted(len(sheets), 'sheet')}: {first(sheets, 20, _quoted)}"
    )


def _quoted(name: str) -> str:
    return shown(repr(name))
