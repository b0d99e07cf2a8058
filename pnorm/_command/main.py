"""The command: learn from a file of rows, or rank new ones."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from pnorm._command import options
from pnorm._command.terminal import CommandError, discard, one_line, path_shown, say


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as by cron; the next file that is opened would take its place
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of columns and files that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    arguments = options.parsed(words)
    try:
        _work(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` say, has closed the pipe
        discard(sys.stdout)
        return 1
    except OSError as error:
        if error.errno is None:
            return _fail(str(error))
        if error.filename is None:  # files have their names
            discard(sys.stdout)
        return _fail(f"{path_shown(os.fsdecode(error.filename or 'the standard output'))}: {error.strerror}")
    except (CommandError, ValueError, OverflowError) as error:
        return _fail(str(error))
    except MemoryError as error:
        return _fail(f"not enough memory: {error}".removesuffix(": "))
    except KeyboardInterrupt:
        return 130
    return 0


def _fail(message: str) -> int:
    say(f"pnorm: error: {one_line(message)}")
    return 2


def _work(arguments: argparse.Namespace) -> None:
    options.check(arguments)
    if arguments.file is None:
        print(options.FIRST_STEPS)
        return
    from pnorm._command import files

    files.check(arguments)
    if arguments.model is None:
        if arguments.label is None:
            from pnorm._command.opening import without_label

            raise CommandError(without_label(arguments))
        from pnorm._command import learn

        learn.on_file(arguments)
    else:
        from pnorm._command import rank

        rank.file(arguments)
