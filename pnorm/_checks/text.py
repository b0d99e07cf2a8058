"""Values of users in messages and in tables: one short line that a terminal prints unchanged."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any


def shown(value: object, limit: int = 60) -> str:
    """Return a text as it is, or the `repr` of something else, on one line, with `limit` characters at most.

    Control characters, ends of lines and marks of direction are escaped; a longer text loses its middle.
    """
    if not isinstance(value, str):
        try:
            value = repr(value)
        except ValueError:  # a whole number of thousands of digits
            value = f"{type(value).__name__} of very many digits"
    start, end = value[:limit], value[-limit:] if len(value) > limit else ""
    start, end = ("".join(c if c.isprintable() else ascii(c)[1:-1] for c in part) for part in (start, end))
    if not end and len(start) <= limit:
        return start
    keep = limit - 1
    return f"{start[: keep - keep // 3]}\u2026{(end or start)[len(end or start) - keep // 3 :]}"


@contextlib.contextmanager
def naming(path: str, temporary: str | None = None) -> Iterator[None]:
    """Name a file or folder in errors of the system that name none, as on a full disk, or a temporary file."""
    try:
        yield
    except OSError as error:
        if error.filename in (None, temporary):
            error.filename = path
        raise


def first(values: Sequence[object], most: int, show: Callable[[Any], str] = shown) -> str:
    """Return the first of some values as `show` writes them, divided by commas."""
    return ", ".join(map(show, values[:most])) + (", ..." if len(values) > most else "")


ALIKE = 0.65
"""The least similarity of a name that messages propose; 0.615 is that of "amount" and "country"."""


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """Return a list with the name that is most similar to another one; an empty list if none is similar."""
    same = [other for other in names if other.strip().casefold() == name.strip().casefold()]
    return same[:1] if same or len(name) > 100 else difflib.get_close_matches(name, names, 1, ALIKE)


_PACKAGES = {
    "plot": "matplotlib",
    "sklearn": "scikit-learn",
    "dask": "'dask[array,distributed]'",
    "progress": "tqdm",
    "parquet": "pyarrow",
    "excel": "python-calamine",
}
"""The package of each extra, as `pip install` takes it."""


def install(extra: str) -> str:
    """Return how to install the package of an extra."""
    return f'Install it with: pip install "pnorm-push[{extra}]" (or: pip install {_PACKAGES[extra]})'


def counted(number: int, thing: str) -> str:
    """Return a number of things, such as ``"1 row"`` and ``"2,000 rows"``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def joined(parts: Sequence[str]) -> str:
    """Return parts of a sentence, such as ``"a"``, ``"a and b"`` and ``"a, b and c"``."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """Return rows of cells as lines of text; the columns with the numbers `left` are set flush left, others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def short_count(value: float) -> str:
    """Return a number in few characters: 20k, 1M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
