"""Files that are read batch by batch, one after the other."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pnorm._checks.text import counted, first
from pnorm._tables.delimited import odd_lines
from pnorm._tables.folder import Found, values_of
from pnorm._tables.inputs import Input, Part, Place, Stream
from pnorm._tables.open import stream_of
from pnorm._tables.source import TableError

_KINDS = {"CSV": "text (CSV)", "Parquet": "Parquet", "Arrow": "Arrow", "workbook": "a workbook"}


class Files(Input):
    """Files of one kind that have the same columns, in whatever order, of whatever types."""

    def __init__(
        self,
        files: Sequence[Found],
        where: str = "",
        names: Sequence[str] | None = None,
        skip: int = 0,
        sheet: str | None = None,
        whole: bool = False,
    ) -> None:
        self._files: list[Stream] = []
        found: list[Found] = []
        for file in files:
            like = self._files[0] if self._files else None
            opened = stream_of(file.path, names, skip, like=like, sheet=sheet, whole=whole)
            if opened.names:  # a file without a byte has no rows
                self._files.append(opened)
                found.append(file)
        if not found:
            raise TableError(f"{files[0].path} is empty")
        self.notes = self._notes()
        like, *others = self._files
        for opened in others:
            if opened.kind != like.kind:
                raise TableError(
                    f"{like.path} is {_KINDS[like.kind]} and {opened.path} is {_KINDS[opened.kind]}; files of one kind "
                    "are read together, so pass a pattern"
                )
            _same_columns(opened, like)
        self._values = {name: values for name, values in values_of(found).items() if name not in like.names}
        self.names = (*like.names, *self._values)
        self.index, self.kind, self.elsewhere = like.index, like.kind, like.elsewhere
        self.told = f"{counted(len(files), f'{like.kind} file')}{where}" if len(files) > 1 else like.path

    def _notes(self) -> list[str]:
        """Return the assumptions about the format; some are known only when all was read."""
        of_files = dict.fromkeys(note for file in self._files for note in file.notes)
        return [*of_files, *odd_lines(sum([Counter(file.odd_lines) for file in self._files], Counter[str]()))]

    def n_rows(self) -> int | None:
        sizes = [file.n_rows() for file in self._files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def parts(self, columns: Sequence[int] | None, rows: int) -> Iterator[Part]:
        chosen = self.chosen(columns)
        own = [name for name in chosen if name not in self._values]
        gathered = _Gathered(rows)
        for k, file in enumerate(self._files):
            for table, size, place in file.parts(own, rows):
                if size:
                    values = {name: self._values[name][k] for name in chosen if name in self._values}
                    whole = _with_values(table, size, values, chosen) if values else table
                    yield from gathered.add((whole, size, place))
        yield from gathered.rest()
        self.notes = self._notes()


def _same_columns(file: Stream, like: Stream) -> None:
    """Refuse a file whose columns are not called as those of another."""
    lacks = [name for name in like.names if name not in file.names]
    more = [name for name in file.names if name not in like.names]
    if lacks or more:
        what = f"lacks the column{'s' * (len(lacks) > 1)} {first(lacks, 4)}, which {like.path} has"
        if not lacks:
            what = f"has the column{'s' * (len(more) > 1)} {first(more, 4)}, which {like.path} has not"
        also = f" (and has {first(more, 4)})" if lacks and more else ""
        raise TableError(f"{file.path} {what}{also}; all files need the same columns")


def _with_values(table: Any, size: int, values: dict[str, Any], chosen: Sequence[str]) -> Any:
    """Return a table with columns of one value each."""
    if isinstance(table, dict):
        more = {name: ["" if value is None else str(value)] * size for name, value in values.items()}
        return {name: more[name] if name in more else table[name] for name in chosen}
    import pyarrow

    columns = []
    for name in chosen:
        if name not in values:
            columns.append(table.column(name))
            continue
        kind = pyarrow.int64() if isinstance(values[name], int) else pyarrow.string()
        columns.append(pyarrow.repeat(pyarrow.scalar(values[name], kind), size))
    return pyarrow.table(columns, names=list(chosen))


class _Gathered:
    """Small tables whose columns have the same types, which become one."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._parts: list[Part] = []

    def add(self, part: Part) -> Iterator[Part]:
        if self._parts and not (self._n_rows() + part[1] <= self._rows and _are_alike(part[0], self._parts[0][0])):
            yield from self.rest()
        self._parts.append(part)

    def _n_rows(self) -> int:
        return sum(size for _, size, _ in self._parts)

    def rest(self) -> Iterator[Part]:
        n, parts = self._n_rows(), self._parts
        place = places_of([size for _, size, _ in parts], [place for *_, place in parts])
        self._parts = []
        if len(parts) < 2:
            yield from parts
        elif isinstance(parts[0][0], dict):
            yield {name: [value for of in parts for value in of[0][name]] for name in parts[0][0]}, n, place
        else:
            import pyarrow

            yield pyarrow.concat_tables([table for table, _, _ in parts]), n, place


def _are_alike(table: Any, other: Any) -> bool:
    """Return whether two tables are dictionaries of lists, or tables of Arrow with the same types."""
    if isinstance(table, dict) or isinstance(other, dict):
        return isinstance(table, dict) and isinstance(other, dict)
    return bool(table.schema.equals(other.schema)) and not any(
        [getattr(field.type, "ordered", False) for field in table.schema]  # whose orders may differ
    )


def places_of(sizes: Sequence[int], places: Sequence[Place]) -> Place:
    """Return the places of rows of tables that became one."""
    starts = [0, *itertools.accumulate(sizes[:-1])]

    def place(row: int) -> str:
        k = bisect_right(starts, row) - 1
        return places[k](row - starts[k])

    return place
