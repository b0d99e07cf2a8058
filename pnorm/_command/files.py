"""The files that are read and written: checked before any work, so that none replaces another."""

from __future__ import annotations

import argparse
import os
import stat

from pnorm._command import scores_file
from pnorm._command.terminal import CommandError, path_shown


def check(arguments: argparse.Namespace) -> None:
    """Refuse outputs that cannot be written, or would replace a file in use."""
    for path in (arguments.file, arguments.test):
        if path not in (None, "-") and not os.path.exists(path):
            raise CommandError(f"{path_shown(path)}: No such file or directory")
    used: dict[str, str | int | None] = {
        "the input": 0 if arguments.file == "-" else arguments.file,
        "the file of --test": arguments.test,
        "the model": arguments.model,
    }
    written = {option: getattr(arguments, option) for option in ("out", "report", "save")}
    for option, path in written.items():
        if path is None:
            continue
        if path == "-":
            raise CommandError(f"--{option} needs the name of a file; the standard output has what is printed")
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise CommandError(f"--{option} {path_shown(path)}: no such directory")
        if os.path.isdir(path):
            raise CommandError(f"--{option} {path_shown(path)} is a directory")
        of_output = {} if option == "out" else {"the standard output": 1}
        for what, other in (used | of_output).items():
            if _same_file(other, path):
                raise CommandError(f"--{option} {path_shown(path)} would overwrite {what}")
        used[f"the file of --{option}"] = path
    scores_file.check(arguments.out)


def _same_file(one: str | int | None, other: str) -> bool:
    """Return whether two paths, or a descriptor and a path, lead to one file; devices and pipes can be shared."""
    if one is None:
        return False
    try:
        status = os.stat(one)
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(other))
    except OSError:  # one of them is not there yet
        return isinstance(one, str) and os.path.realpath(one) == os.path.realpath(other)
