"""Messages, paths and numbers as the command prints them."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from pnorm._checks.text import shown


class CommandError(Exception):
    """A mistake of the user of the command, in one line."""


def one_line(message: str) -> str:
    """Return a message as one line, whatever it quotes."""
    return shown(" ".join(message.split()), 4000)


def path_shown(path: str) -> str:
    """Return a path as it is printed; a long one loses its middle."""
    return shown(path, 1000)


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


class Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and a message, which may quote the command line."""
        super().error(one_line(message))
