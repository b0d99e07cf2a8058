"""Checks of the files that are read and written, so that no output replaces a file in use."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from pnorm._command import scores_file
from pnorm._command.terminal import CommandError, path_shown
from pnorm._tables import is_several
from pnorm._tables.folder import files_of


def check(arguments: argparse.Namespace) -> None:
    """Raise CommandError for inputs that do not exist and outputs that cannot be written or would replace a file."""
    if "-" in arguments.paths and len(arguments.paths) > 1:
        raise CommandError("- is the standard input and cannot be combined with other files. Leave them out")
    read = [*arguments.paths, *([] if arguments.test is None else [arguments.test])]
    for path in read:
        if path != "-" and not os.path.exists(path) and not is_several(path):
            raise CommandError(f"{path_shown(path)}: No such file or directory")
    several = [path for path in read if is_several(path)]
    one = dict(zip(("the input", "the file of --test"), (arguments.file, arguments.test), strict=True))
    if arguments.test not in (None, "-"):
        of_test = _paths([arguments.test])
        twice = [path for path in _paths(arguments.paths) if any(_same_file(path, other) for other in of_test)]
        if twice:
            raise CommandError(
                f"--test {path_shown(arguments.test)}: {path_shown(twice[0])} is a file to learn from as well. A "
                "test needs rows that were not used for training; remove the file from one of them"
            )
    used: dict[str, str | int | None] = {what: 0 if path == "-" else path for what, path in one.items()}
    used |= {f"{path_shown(path)}, which is read": path for path in arguments.paths if len(arguments.paths) > 1}
    used |= {f"{path_shown(path)}, which is read": path for path in _within(several)}
    used["the model"] = arguments.model
    written = {option: getattr(arguments, option) for option in ("out", "report", "save")}
    for option, path in written.items():
        if path is None:
            continue
        if path == "-":
            raise CommandError(
                f"--{option} needs the name of a file; got -. The standard output is used for the results"
            )
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise CommandError(f"--{option} {path_shown(path)}: no such directory. Create it first")
        if os.path.isdir(path):
            raise CommandError(f"--{option} {path_shown(path)} is a directory. Give the name of a file")
        folder = next((folder for folder in several if os.path.isdir(folder) and _is_in(path, folder)), None)
        if folder is not None:
            raise CommandError(
                f"--{option} {path_shown(path)} is in {path_shown(folder)}, a folder that is read. The next run would "
                "read it as rows; write it elsewhere"
            )
        of_output = {} if option == "out" else {"the standard output": 1}
        for what, other in (used | of_output).items():
            if _same_file(other, path):
                raise CommandError(f"--{option} {path_shown(path)} would overwrite {what}. Choose another name")
        used[f"the file of --{option}"] = path
    scores_file.check(arguments.out)


def _within(several: Sequence[str]) -> list[str]:
    """Return the files that patterns stand for."""
    return [file.path for path in several if not os.path.isdir(path) for file in files_of(path)[0]]


def _is_in(path: str, folder: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _same_file(one: str | int | None, other: str) -> bool:
    """Return whether two paths, or a descriptor and a path, lead to one file; devices and pipes can be shared."""
    if one is None:
        return False
    try:
        status = os.stat(one)
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(other))
    except OSError:  # one of them is not there yet
        return isinstance(one, str) and os.path.realpath(one) == os.path.realpath(other)


def _paths(paths: Sequence[str]) -> list[str]:
    """Return the files that are read, those of folders and patterns among them."""
    several = [path for path in paths if is_several(path)]
    found = [file.path for path in several for file in files_of(path)[0]]
    return [*[path for path in paths if path != "-" and path not in several], *found]
