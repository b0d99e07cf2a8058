"""The files of a path, a folder, a pattern or a list of these."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pnorm._checks.text import first, shown
from pnorm._tables.open import is_rows_file
from pnorm._tables.source import TableError

_HIVE = re.compile(r"([^=]+)=(.*)", re.DOTALL)
"""A folder of rows that have one value of a column: ``year=2024``."""

_HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Found:
    """A file, and the values of columns in the names of its folders."""

    path: str
    values: dict[str, str | None] = field(default_factory=dict)


def is_path(source: object) -> bool:
    return isinstance(source, (str, os.PathLike))


def is_paths(source: object) -> bool:
    """Return whether something is a path, or a list of them."""
    return is_path(source) or (isinstance(source, (list, tuple)) and len(source) > 0 and all(map(is_path, source)))


def files_of(source: Any) -> tuple[list[Found], str]:
    """Return the files that a path, a folder, a pattern or a list of these stands for, and where they are, in words.

    Files of a folder are sorted by name, and those of a list come in its order.
    """
    paths = [os.fspath(path) for path in ([source] if is_path(source) else source)]
    found = [file for path in paths for file in _files(path)]
    twice: set[str] = set()
    for file in found:
        real = os.path.realpath(file.path)
        if real in twice:
            raise TableError(f"{file.path} is there twice; its rows would count twice")
        twice.add(real)
    if len(paths) > 1:
        return found, ""
    is_folder = os.path.isdir(paths[0])
    return found, f" of {os.path.join(paths[0], '') if is_folder else paths[0]}"


def _files(path: str) -> list[Found]:
    if os.path.isdir(path):
        return _of_folder(path)
    if os.path.exists(path) or not glob.has_magic(path):
        return [Found(path)]
    matched = sorted(glob.glob(path, recursive=True), key=_parts)
    matched = [
        of for of in matched if os.path.isfile(of) or not any(other.startswith(of + os.sep) for other in matched)
    ]
    if not matched:
        raise TableError(f"no file is called {path}")
    base = path
    while glob.has_magic(base):
        base = os.path.dirname(base)
    found = [file for of in matched for file in (_of_folder(of) if os.path.isdir(of) else [Found(of)])]
    return [Found(file.path, _values(file.path, base)) for file in found]


def _of_folder(folder: str) -> list[Found]:
    """Return the files of rows in a folder and those within it, sorted by name; refuse others, but skip hidden ones."""
    found: list[str] = []
    known: set[str] = set()
    for inner, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(inner)
        if real in known:
            raise TableError(f"{inner} is a folder that is in {folder} twice; its rows would count twice")
        known.add(real)
        if "_delta_log" in folders:
            raise TableError(
                f"{inner} is a table of Delta Lake, whose files hold deleted rows as well: pass "
                "deltalake.DeltaTable(path).to_pyarrow_dataset()"
            )
        folders[:] = [name for name in folders if not _is_hidden(name)]
        found += [os.path.join(inner, name) for name in names if not _is_hidden(name)]
    found.sort(key=_parts)
    if not found:
        raise TableError(f"{folder} is a folder without files")
    others = [path for path in found if not is_rows_file(path)]
    if others:
        raise TableError(
            f"{folder} has {shown(os.path.relpath(others[0], folder))}, which by its name is no file of rows: Parquet, "
            f"Arrow or CSV; move it, or pass a pattern such as {os.path.join(folder, '*.parquet')}"
        )
    return [Found(path, _values(path, folder)) for path in found]


def _is_hidden(name: str) -> bool:
    """Return whether a file or a folder is hidden, or one that Spark and others write about the rows."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _parts(path: str) -> list[str]:
    return path.split(os.sep)


def _values(path: str, base: str) -> dict[str, str | None]:
    """Return the values of columns that the folders of a file say, below a folder."""
    found: dict[str, str | None] = {}
    for part in _parts(os.path.relpath(os.path.dirname(path) or ".", base or ".")):
        said = _HIVE.fullmatch(part)
        if said:
            found[unquote(said[1])] = None if said[2] == _HIVE_MISSING else unquote(said[2])
    return found


def values_of(files: Sequence[Found]) -> dict[str, list[Any]]:
    """Return the columns that the folders of files say, a value for each file: whole numbers if all are, else text."""
    names = list(files[0].values)
    for file in files:
        if set(file.values) != set(names):
            odd = first(sorted(set(file.values) ^ set(names)), 3)
            raise TableError(f"the folders of {file.path} and of {files[0].path} do not both say {odd}")
    columns: dict[str, list[Any]] = {}
    for name in names:
        values = [file.values[name] for file in files]
        whole = [value is None or re.fullmatch(r"-?(0|[1-9]\d{0,17})", value, re.ASCII) for value in values]
        columns[name] = [None if value is None else int(value) if all(whole) else value for value in values]
    return columns
