"""The file of ``--out``: the scores of all rows, best first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks, _files
from pnorm._checks import Vector
from pnorm._checks.text import install
from pnorm._command.terminal import CommandError, path_shown

_NAMES = ("row", "score", "probability", "rank", "take", "held_out", "labelled", "reasons")
"""The columns of the file, some of which may be absent."""

_RUN = re.compile(r"(?<![^;|\t\r\n])(?=[\s\"]*[=+\-@\uff0b\uff0d\uff1d\uff20]|\A[\t\r\n])")
"""Beginnings of cells that a spreadsheet program may run as a formula. It may take other signs than commas to divide
cells, and then does not see that a text is quoted. Full-width signs begin formulas as well."""

_QUOTED = re.compile(r"[,\"\r\n]")
"""Characters for which a field of CSV is quoted; the csv module leaves out the carriage return."""


def check(path: str | None) -> None:
    """Raise CommandError if the file cannot be written."""
    if path is not None and _is_parquet(path):
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise CommandError(
                f"--out {path_shown(path)} is a Parquet file. Writing it needs pyarrow. {install('parquet')}"
            ) from None


def columns(
    f: Vector,
    ids: list[str] | None,
    probability: Vector | None,
    take: NDArray[np.bool_] | None,
    held: NDArray[np.bool_] | None,
    reasons: list[str] | None,
    has_label: NDArray[np.bool_] | None = None,
    id_column: str | None = None,
    labels: tuple[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the columns of the file, without those that are None. The rows are numbered if their ids do not differ.

    `id_column` is where the ids come from; `labels` are the column of the labels, and the labels.
    """
    rank = np.empty(f.size, np.intp)
    rank[np.argsort(-f, kind="stable")] = np.arange(1, f.size + 1)
    found: dict[str, Any] = {} if ids is None else {id_name(id_column): ids}
    if ids is None or are_repeated(ids):
        found["row"] = np.arange(f.size)
    found |= {"score": f, "probability": probability, "rank": rank, "take": take, "held_out": held}
    found |= {"labelled": has_label}
    if labels is not None:
        found[label_name(labels[0], id_column if ids is not None else None)] = labels[1]
    found["reasons"] = reasons
    return {name: values for name, values in found.items() if values is not None}


def are_repeated(ids: Sequence[str]) -> bool:
    """Return whether some rows have the same id; rows without an id have the same one."""
    return len(set(ids)) < len(ids)


ROW_COLUMN = "ids repeat, so the column row numbers the rows of the file, from 0"
"""The remark on a file with repeated ids."""


def id_name(column: str | None) -> str:
    """Return the name of the column of ids: its own, or "id" if another column of the file has that name."""
    return "id" if column is None or column in _NAMES else column


def label_name(column: str, id_column: str | None = None) -> str:
    """Return the name of the column of labels: its own, or "label" if another column of the file has that name."""
    return "label" if column in (*_NAMES, "id", id_column) else column


def write(path: str, columns: Mapping[str, Sequence[Any]], order: NDArray[np.intp]) -> None:
    """Write columns of values of all rows in some order; None is an empty cell."""
    write_parts(path, [{name: _checks.rows(values, order) for name, values in columns.items()}])


def write_parts(path: str, parts: Iterable[Mapping[str, Sequence[Any]]]) -> None:
    """Write columns of rows in parts, at least one; None is an empty cell."""
    _files.write_by(path, lambda stream: (_write_parquet if _is_parquet(path) else _write_csv)(stream, parts))


def _write_parquet(stream: BinaryIO, parts: Iterable[Mapping[str, Sequence[Any]]]) -> None:
    import pyarrow
    from pyarrow import parquet

    writer = None
    for part in parts:
        table = pyarrow.table(dict(part))
        if writer is None:
            writer = parquet.ParquetWriter(stream, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def _write_csv(stream: BinaryIO, parts: Iterable[Mapping[str, Sequence[Any]]]) -> None:
    for k, part in enumerate(parts):
        header = [tuple(map(_field, part))] if k == 0 else []
        rows = itertools.chain(header, zip(*map(_cells, part.values()), strict=True))
        stream.writelines(f"{','.join(row)}\n".encode("utf-8", "surrogatepass") for row in rows)


def _is_parquet(path: str) -> bool:
    return path.lower().endswith((".parquet", ".pq"))


def _cells(values: Any) -> Iterator[str]:
    if not isinstance(values, np.ndarray):
        return map(_field, values)
    if values.dtype == bool:
        values = values.astype(int)
    return map(repr, values.tolist())


def _field(text: str) -> str:
    """Return a text as a field of CSV, with an apostrophe before each part that a program may run as a formula."""
    found = _RUN.sub("'", text)
    if found != text and _checks.is_numeral(text):
        found = text
    return '"{}"'.format(found.replace('"', '""')) if _QUOTED.search(found) else found
