"""Rows of batches that were drawn, and are in memory together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pnorm import _checks
from pnorm._tables.arrow import TypedSource
from pnorm._tables.batches import Batches
from pnorm._tables.inputs import Place
from pnorm._tables.source import Source


class _Drawn(Source):
    """Rows of text."""

    def __init__(self, batches: Batches, columns: dict[str, Any], place: Place) -> None:
        self.kind = batches.kind
        super().__init__(batches.told, list(columns), batches.notes, batches.index)
        self._columns, self._place = columns, place

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def place(self, i: int) -> str:
        return self._place(i)

    def column(self, name: str) -> Any:
        return self._columns[name]


class _TypedDrawn(_Drawn, TypedSource):
    """Rows of Parquet or Arrow."""


def drawn(batches: Batches, columns: dict[str, Any], place: Place) -> Source:
    """Return some rows of batches as a table in memory, given its columns and the places of its rows."""
    is_typed = all([hasattr(column, "type") for column in columns.values()]) and batches.kind != "CSV"
    return (_TypedDrawn if is_typed else _Drawn)(batches, columns, place)


def joined(tables: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of tables one below the other; each is a table of Arrow or a dictionary of columns."""
    return {name: _joined([_column(table, name) for table in tables]) for name in names}


def _column(table: Any, name: str) -> Any:
    return table[name] if _checks.is_columns(table) else table.column(name)


def _joined(columns: Sequence[Any]) -> Any:
    """Return columns one below the other: of Arrow if they are, and otherwise as a list."""
    if not any([hasattr(column, "type") for column in columns]):
        return [value for column in columns for value in _checks.listed(column)]
    import pyarrow

    try:
        tables = [pyarrow.table({"": _of_arrow(column)}) for column in columns]
        return pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks().column(0)
    except (pyarrow.ArrowException, TypeError):  # numbers in one file and text in another
        return [value for column in columns for value in _checks.listed(column)]


def _of_arrow(column: Any) -> Any:
    """Return a column as one of Arrow, a list of text among others as text."""
    import pyarrow

    if hasattr(column, "type"):
        return column
    of_text = all([isinstance(value, str) for value in column])
    return pyarrow.array(column, pyarrow.string() if of_text else None)
