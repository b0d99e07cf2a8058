"""Several files as one table: a folder, a pattern or a list of files."""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from pnorm import _checks
from pnorm._checks.text import shown
from pnorm._tables.arrow import TypedSource, columns_joined, without_codes
from pnorm._tables.batches import Batches, batches_of
from pnorm._tables.inputs import Place
from pnorm._tables.open import open_source
from pnorm._tables.source import Source, TableError


def open_sources(
    paths: Sequence[str], *, names: Sequence[str] | None = None, sheet: str | None = None, skip: int = 0
) -> Source:
    """Open files of rows as one table: a file, as `open_source` does, a folder, a pattern, or several of these."""
    if len(paths) == 1 and not is_several(paths[0]):
        return open_source(paths[0], names=names, sheet=sheet, skip=skip)
    batches = batches_of(list(paths), names=names, skip=skip)
    if sheet is not None or batches.kind == "workbook":
        raise TableError(f"{batches.told}: workbooks cannot be combined; pass one file")
    return (_TextFiles if batches.kind == "CSV" else _TypedFiles)(batches)


def is_several(path: str) -> bool:
    """Return whether a path is that of a folder, or a pattern of names and no file."""
    return os.path.isdir(path) or (path != "-" and not os.path.exists(path) and glob.has_magic(path))


class _TextFiles(Source):
    """Files of text."""

    def __init__(self, batches: Batches) -> None:
        self.kind, self._batches = batches.kind, batches
        self._starts: list[int] = []
        self._places: list[Place] = []
        super().__init__(batches.told, batches.names or (), batches.notes, batches.index)

    def __len__(self) -> int:
        if self._batches.n_rows is None:
            self.column(self.names[0])
        return self._batches.n_rows or 0

    def place(self, i: int) -> str:
        if not self._starts:
            self.column(self.names[0])
        k = bisect_right(self._starts, i) - 1
        return self._places[k](i - self._starts[k])

    def column(self, name: str) -> Any:
        return self.columns([name])[name]

    def columns(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        names = self.names if names is None else list(names)
        if not names:
            return {}
        parts: dict[str, list[Any]] = {name: [] for name in names}
        starts, places = [], []
        for batch in self._batches.only(names):
            starts.append(batch.first_row)
            places.append(batch.place)
            for name, of_column in parts.items():
                of_column.append(batch.column(name))
        self._starts, self._places = starts, places
        return {name: self._joined(name, of_column) for name, of_column in parts.items()}

    def _joined(self, name: str, parts: list[Any]) -> Any:
        """Return a column of the rows of all batches."""
        if parts and all(hasattr(part, "chunks") for part in parts):
            return _chunked(parts)
        return [text for part in parts for text in _checks.listed(part)]


class _TypedFiles(_TextFiles, TypedSource):
    """Files of Parquet or Arrow."""

    def _joined(self, name: str, parts: list[Any]) -> Any:
        import pyarrow

        types = {part.type: None for part in parts}
        if len(types) == 1:
            return _chunked(parts)
        if not parts:
            return pyarrow.chunked_array([], pyarrow.string())
        try:
            return columns_joined(parts)
        except pyarrow.ArrowException:
            plain = [without_codes(part) for part in parts]
            k = next(k for k, part in enumerate(plain) if part.type != plain[0].type)
            raise TableError(
                f"column {_checks.shown(name)} is {shown(str(plain[0].type))} in {self._places[0](0)} and "
                f"{shown(str(plain[k].type))} in {self._places[k](0)}; write it with one type"
            ) from None


def _chunked(parts: Sequence[Any]) -> Any:
    import pyarrow

    return pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
