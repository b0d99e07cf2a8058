"""Messages, paths and numbers as the command prints them."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO

from pnorm._checks.text import shown


class CommandError(Exception):
    """A mistake of the user of the command, in one line."""


_LONG = 4000
"""Characters of a message, at most."""


def one_line(message: str) -> str:
    """Return a message as one line, whatever it quotes.

    A long one loses its end: without its middle, an option to paste could lose the end of a quote.
    """
    line = shown(" ".join(message.split()), sys.maxsize)
    return line if len(line) <= _LONG else f"{line[: _LONG - 1]}\u2026"


def to_read(message: str) -> str:
    """Return a message for the standard error: one line for programs, lines of its width for a terminal."""
    if not sys.stderr.isatty():
        return message
    width = shutil.get_terminal_size().columns
    return textwrap.fill(message, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def say(message: str) -> None:
    """Print a message on the standard error; if it cannot be written there, go on without it."""
    try:
        print(to_read(message), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Throw away what a stream still holds, and what is printed from now on."""
    with suppress(OSError):  # a stream in memory has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def path_shown(path: str) -> str:
    """Return a path as it is printed; a long one loses its middle."""
    return shown(path, 1000)


_NAMING = ("--kind", "--ignore", "--only", "--id", "--label", "--time", "--missing", "--monotone", "--positive")
"""Options whose value may be any text of a file, one with a hyphen in front as well."""


def pasted(*words: str) -> str:
    """Return words as one line that a shell reads as the same words, and this command as options and their values.

    It is in full, whatever is in the words: a part of it may be a command of its own.
    """
    found: list[str] = []
    for k, word in enumerate(words):
        quoted = shlex.quote(word) if word.isprintable() and "  " not in word else f"$'{_escaped(word)}'"
        if word.startswith("-") and k and words[k - 1] in _NAMING:
            found[-1] += f"={quoted}"
        else:
            found.append(quoted)
    return " ".join(found)


def _escaped(word: str) -> str:
    def one(c: str) -> str:
        return c if c.isprintable() and c not in "\\' " else "".join([f"\\x{byte:02x}" for byte in os.fsencode(c)])

    return "".join(map(one, word))


_CELL = re.compile(r"(\w+) has (.*) at row (\d+)(, column \d+) \((.*?)\)([,;].*)", re.DOTALL)
"""A message on a cell of a table."""

_OPTIONS = {
    "make the column another kind with kinds": "set another kind of the column with --kind, such as category",
    "no column of pos and neg can be used": "no column can be used",
    'kinds={"COLUMN": "category"} uses one anyway': "--kind COLUMN=category uses one anyway",
    "If a list has more rows, say so with of": "If a list has more rows, say so with --of",
    "at_least must be less than": "--at-least must be less than",
}
"""Words of messages on arguments of functions, and the words of the command for them."""


@contextmanager
def called_as_in_file(
    place: Callable[[str, int], str | None], but: type[Exception] | tuple[()] = (), rows: str = "the test rows"
) -> Iterator[None]:
    """Replace rows in errors by lines of the file; `place` returns the line of a row of a table, or None.

    Errors of the class `but` stay as they are. `rows` is what all rows of the argument X are called.
    """
    try:
        yield
    except but:
        raise
    except (ValueError, TypeError) as error:
        message = str(error)
        for words, others in _OPTIONS.items():
            message = message.replace(words, others)
        cell = _CELL.fullmatch(message)
        where = None if cell is None else place(cell[1], int(cell[3]))
        if cell is not None and where is not None:
            message = f"column {cell[5]} has {cell[2]} in {where}{cell[6]}"
        raise CommandError(_with_columns(message, rows)) from None


_ROW = re.compile(r"\brow (\d+) of (pos|neg|X|source)\b")
"""A row of an argument of a function, in a warning."""


_COLUMN = re.compile(r"\bcolumn \d+ \(([^\n]*?)\) of (held-out rows of )?(X|pos and neg)\b")
"""The column of a message on all rows of an argument of a function."""


def _with_columns(text: str, rows: str) -> str:
    """Return a message with columns by their names only, and `rows` for X."""
    known = {"X": rows, "pos and neg": "the training rows"}
    return _COLUMN.sub(lambda found: f"column {found[1]} of {found[2] or ''}{known[found[3]]}", text)


def in_file(text: str, place: Callable[[str, int], str | None]) -> str:
    """Return a warning with places in the file for rows of arguments, and options for arguments."""
    for words, others in _OPTIONS.items():
        text = text.replace(words, others)
    text = _with_columns(text, "the test rows")
    return _ROW.sub(lambda row: place(row[2], int(row[1])) or row[0], text)


_ELSEWHERE = {
    "--drop": "--ignore",
    "--exclude": "--ignore",
    "--pos-label": "--positive",
    "--target": "--label",
    "--output": "--out",
    "--missing-values": "--missing",
}
"""Names of options in other programs, and the options of this one for the same purpose."""


class Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the options; the error for an unknown one names the nearest option."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            options = [option for action in self._actions for option in action.option_strings]
            word = unknown[0].partition("=")[0]
            near = difflib.get_close_matches(word, options, 1) if word.startswith("--") else []
            near = [_ELSEWHERE[word]] if _ELSEWHERE.get(word) in options else near
            hint = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and a message, which may quote the command line."""
        self.exit(2, to_read(f"{self.prog}: error: {one_line(message)}") + f"\nTry: {self.prog} --help\n")


def is_styled() -> bool:
    """Return whether the standard output shows colours and bold text, and is to show them."""
    styled = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return styled and (sys.platform != "win32" or "WT_SESSION" in os.environ)  # an old console prints the codes


def program(name: str, path: str) -> str:
    """Return a program as it can be typed here: its name if the shell finds it there, else its path."""
    if os.path.basename(path).removesuffix(".exe") != name:  # run in another way, as by python -m
        return name
    found = shutil.which(name)
    if found is not None and os.path.abspath(found) == os.path.abspath(path):
        return name
    there = os.path.relpath(path)
    return path if there.startswith(os.pardir) else there
