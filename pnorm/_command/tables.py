"""The rows of a file that the command trains on."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import reads_as_missing
from pnorm._checks.text import first, shown
from pnorm._command.terminal import CommandError
from pnorm._tables import Source, open_source


def read_table(path: str, label: str, ignored: Sequence[str]) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Return the numbers, their names and the labels of the rows to train on."""
    source = open_source(path)
    names = names_in(source, path, label, ignored)
    if not names:
        raise CommandError(f"{path} has no column beside the label {_checks.shown(label)} to rank by")
    labels = labels_of(source, label, "rows to train on")
    X = np.empty((len(source), len(names)))
    for c, name in enumerate(names):
        X[:, c] = source.numbers(name)
    del source
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:  # it keeps the memory of the text otherwise
        arrow.default_memory_pool().release_unused()
    return X, names, labels


def names_in(source: Source, path: str, label: str | None, ignored: Sequence[str]) -> list[str]:
    """Return the names of the columns to rank by; refuse a file that lacks a column or rows."""
    header = source.names
    for name in (*([] if label is None else [label]), *ignored):
        if name not in header:
            raise CommandError(f"no column {_checks.shown(name)} in {path}; its columns are {first(header, 20)}")
    if label in ignored:
        raise CommandError(f"--ignore {shown(label)} is the label")
    if not len(source):
        raise CommandError(f"{path} has a header and no rows")
    return [name for name in header if name != label and name not in ignored]


def labels_of(source: Source, label: str, what: str) -> list[str]:
    """Return the labels of all rows, none of which may be missing."""
    labels = source.texts(label)
    missing = {text for text in set(labels) if reads_as_missing(text)}
    if missing:
        place = source.place([text in missing for text in labels].index(True))
        raise CommandError(f"the label {_checks.shown(label)} is missing in {place}; {what} need one")
    return labels
