"""The command: the main job on embedded data, or on a file of rows."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

import pnorm
from pnorm._command import files, options
from pnorm._command.terminal import CommandError, one_line, path_shown


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of columns and files that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    work: Callable[[argparse.Namespace], None]
    if words[:1] == ["reproduce"]:
        from pnorm._command import reproduce

        arguments, work = reproduce.parser().parse_args(words[1:]), reproduce.command
    else:
        arguments, work = options.parsed(words), _work
    try:
        work(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` say, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(f"{path_shown(os.fsdecode(error.filename))}: {error.strerror}" if error.filename else str(error))
    except (CommandError, ValueError, OverflowError) as error:
        return _fail(str(error))
    except MemoryError as error:
        return _fail(f"not enough memory: {error}".removesuffix(": "))
    except KeyboardInterrupt:
        return 130
    return 0


def _fail(message: str) -> int:
    print(f"pnorm: error: {one_line(message)}", file=sys.stderr)
    return 2


def _work(arguments: argparse.Namespace) -> None:
    options.check(arguments)
    if arguments.file is None:
        _demonstrate(arguments)
        return
    files.check(arguments)
    if arguments.model is None:
        from pnorm._command import learn

        learn.on_file(arguments)
    else:
        from pnorm._command import rank

        rank.file(arguments)


def _demonstrate(arguments: argparse.Namespace) -> None:
    """Do the main job on embedded data."""
    from pnorm._command import reproduce

    data = pnorm.datasets.tic_tac_toe()
    order = np.random.default_rng(arguments.seed or 0).permutation(data.y.size)
    setting = reproduce.SETTINGS["tic-tac-toe"]
    train, test = order[: setting.n_train], order[setting.n_train :]
    pos, neg = (data.X[train][data.y[train] == label] for label in (1, 0))
    test_pos, test_neg = (data.X[test][data.y[test] == label] for label in (1, 0))
    H = setting.rankers(pos, neg)

    print("Tic-tac-toe: which final boards did x win? o = 0, x = 1, blank = 2, each square scaled to [-1, 1].")
    print(f"{train.size} boards to train on ({len(pos)} won by x), {test.size} to test on ({len(test_pos)} won by x).")
    print()
    print("         ---- train ----   ---- test -----")
    print("    p    at top      AUC   at top      AUC    log F_p   rounds   seconds")
    for p in reproduce.POWERS if arguments.p is None else (arguments.p,):
        start = time.perf_counter()
        lam, trace = pnorm.train(pos, neg, H, p, 200 if arguments.t is None else arguments.t)
        seconds = time.perf_counter() - start
        row = f"{p:5g}"
        for sides in ((pos, neg), (test_pos, test_neg)):
            f = [pnorm.score(X, H, lam) for X in sides]
            row += f"   {pnorm.metrics.positives_at_top(*f):7d}   {pnorm.metrics.auc(*f):6.4f}"
        print(f"{row}   {trace.log_objective[-1]:8.3f}   {trace.n_iter:6d}   {seconds:7.3f}")
    print()
    print("What to look for: 'at top' counts the wins ranked above every board that is not one. A larger p pushes it")
    print("up on the boards trained on, at some cost in AUC; the test columns show how much of that carries over.")
