"""Opening files of rows: in memory if they fit, and in batches otherwise."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from pnorm._checks.text import counted, first, shown
from pnorm._command.terminal import CommandError
from pnorm._tables import Batches, Source, TableError, batches_of, open_sources
from pnorm._tables.folder import files_of
from pnorm._tables.open import START, is_arrow, lines_with, suffix_of
from pnorm._tables.packed import is_read_once, packed
from pnorm._tables.source import texts_of

SHARE = 0.25
"""The share of the free memory that a table may take; learning needs some copies of it."""

_OF_TEXT, _OF_PACKED = 3, 15
"""Bytes of memory for each byte of a file of text, and of one that is compressed."""

_FIRST = 10_000
"""Rows in which columns are searched that may be the label."""

_TRIED = 3
"""Lines with the name of a column that are tried as the line of all names, at most."""

_UNKNOWN = 8e9
"""Assumed bytes of free memory if the system does not report them."""


def opened(arguments: argparse.Namespace, path: str) -> Source | Batches:
    """Open the rows of the options: in memory, or in batches if they would take too much of it."""
    paths = _paths(arguments, path)
    if (
        paths == ["-"]
        or arguments.sheet is not None
        or sum([_bytes(file.path) for file in files_of(paths)[0]]) <= SHARE * free()
    ):
        return whole(arguments, path)
    return batches_of(paths, names=_names(arguments), skip=_skip(arguments))


def whole(arguments: argparse.Namespace, path: str) -> Source:
    """Read the rows of the options into memory."""
    return open_sources(_paths(arguments, path), names=_names(arguments), sheet=arguments.sheet, skip=_skip(arguments))


@contextlib.contextmanager
def looking_for(arguments: argparse.Namespace, name: str | None) -> Iterator[None]:
    """Add to errors which line has the name of a column, if it is another than that which was taken for the names."""
    try:
        yield
    except (CommandError, TableError) as error:
        line = None if name is None or arguments.names is not None else _line_with(arguments, name)
        if line is None:
            raise
        told = str(error).partition("; --names")[0]
        raise CommandError(f"{told}. Line {line} seems to have the names: --skip-lines {line - 1}") from None


def _line_with(arguments: argparse.Namespace, name: str) -> int | None:
    """Return the line from which on a file is a table that has a column, if it is none with this column as it is."""

    def has_name(skip: int) -> bool:
        with contextlib.suppress(CommandError, ValueError, OSError):
            return name in (opened(argparse.Namespace(**vars(arguments) | {"skip_lines": skip}), path).names or ())
        return False

    path = arguments.file
    with contextlib.suppress(ValueError, OSError):
        first = files_of(_paths(arguments, path))[0][0].path
        if any(map(is_read_once, [*arguments.paths, first])):
            return None
        lines = [line for line in lines_with(first, name, arguments.sheet)[:_TRIED] if line > 1]
        if lines and not has_name(_skip(arguments)):
            return next((line for line in lines if has_name(line - 1)), None)
    return None


def without_label(arguments: argparse.Namespace) -> str:
    """Return what to do without --label, with the columns that have two values in the first rows."""
    told, found, n_rows = "--label is missing. Add --label COLUMN, the column that marks the positive rows.", [], 0
    if any(map(is_read_once, arguments.paths)):
        return f"{told} To rank with a saved model, add --model MODEL"
    batches = batches_of(_paths(arguments, arguments.file), names=_names(arguments), skip=_skip(arguments), rows=_FIRST)
    for batch in islice(batches, 1):
        n_rows = batch.n_rows
        for name in batches.names or ():
            counts = Counter(texts_of(batch.column(name)))
            del counts[""]
            if len(counts) == 2:
                values = [f"{n:,} {shown(value)}" for value, n in counts.most_common()]
                found.append(f"{shown(name)} ({', '.join(values)})")
    columns = f"Columns with two values in the first {counted(n_rows, 'row')}: {', '.join(found)}"
    if not found:
        columns = f"The columns are {first(batches.names or (), 20)}"
    return f"{told} {columns}. To rank with a saved model, add --model MODEL"


def _paths(arguments: argparse.Namespace, path: str) -> list[str]:
    return list(arguments.paths) if path == arguments.file else [path]


def _names(arguments: argparse.Namespace) -> list[str] | None:
    return None if arguments.names is None else [name.strip() for name in arguments.names.split(",")]


def _skip(arguments: argparse.Namespace) -> int:
    return int(arguments.skip_lines or 0)


def _bytes(path: str) -> float:
    """Return about how many bytes the rows of a file take as a table in memory."""
    if is_read_once(path):
        return 0.0
    with open(path, "rb") as stream:
        start = stream.read(START)
    size = os.path.getsize(path)
    if packed(start) is not None:
        return float(_OF_PACKED * size)
    if not is_arrow(start, suffix_of(path)):
        return float(_OF_TEXT * size)
    with contextlib.suppress(ImportError, OSError, ValueError):  # reading it says what is wrong
        from pyarrow import parquet

        if start[:4] == b"PAR1":
            about = parquet.read_metadata(path)
            return float(8 * about.num_rows * about.num_columns)
    return float(size)


def free() -> float:
    """Return the bytes of memory that may be used: those of the machine that are free, within limits on the process."""
    found = [_UNKNOWN]
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = _text("/proc/meminfo").splitlines()
        found = [1024.0 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])]
    with contextlib.suppress(OSError, ValueError):  # "max" is no number where there is no limit
        limit, used = [float(_text(f"/sys/fs/cgroup/memory.{of}")) for of in ("max", "current")]
        found.append(max(limit - used, 0.0))
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit_of_process = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit_of_process != resource.RLIM_INFINITY:
            found.append(float(limit_of_process))
    return min(found)


def _text(path: str) -> str:
    with open(path, encoding="ascii") as stream:
        return stream.read()
