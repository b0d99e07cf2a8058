"""What may be typed after ``pnorm``, and what of it goes together."""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Collection, Sequence
from typing import Any

import pnorm
from pnorm import _checks
from pnorm._checks.text import counted
from pnorm._command.terminal import CommandError, Parser

_DESCRIPTION = """\
Rank so that the top of the list is right: the P-Norm Push. Without a FILE, show it at work on
simulated insurance claims; with one, learn from its labelled rows, test on rows kept back, and
print what the list is worth, its first rows with their reasons, and what to do next."""

_EPILOG = """\
examples:
  pnorm                                          a demonstration on simulated claims
  pnorm leads.csv --label bought                 learn, test on a fifth, and print the list
  pnorm leads.csv --label stage --positive won --id lead --ignore closed_on,agent
  pnorm leads.csv --label bought --save model.json --report report.html --out scores.csv
  pnorm day.csv --label fraud --time booked --budget 200 --of 10000
  pnorm transactions/ --label fraud              all files of a folder
  pnorm new.parquet --model model.json --id lead --out scores.csv
  pnorm reproduce --help                         the experiments of the papers, over many splits

A FILE is CSV with any usual delimiter, compressed or not, Parquet, Feather, Arrow, or a workbook,
or a folder of such files, workbooks aside, with the same columns; several files may follow each
other, and a pattern stands in quotes where the shell is not to expand it.
Every other column is used as what it looks like: numbers, categories, truth values, dates. Ids
and free text are left out, and what was done with each column is printed. Where no column has
the name that an option gives, a number counts columns from 1. Rows are numbered from 0.

A list is measured on the rows that were kept back: those rows neither trained it nor chose
anything. Cells of --out that begin with =, +, -, @, a tab or a carriage return and are no numbers
get an apostrophe in front, so that no spreadsheet program runs them.
"""

MINIMUM = ("linear", "l1", "l2", "penalty", "max_columns")
"""Options of a penalised minimum."""

CUTOFF = ("precision", "recall", "budget")
"""Options that ask for a cut-off."""

_TRAINING = (
    *("p", "t", "rankers", "kind", "monotone", *MINIMUM, "push", "save", "test", "time", "holdout", "refit", "only"),
    *("precision", "recall", "of", "seed"),
)
"""Options that say how to learn, and mean nothing where a model ranks."""

RANKERS = ("columns", "normalized", "thresholds")
"""Weak rankers of tables of numbers."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = Parser(
        prog="pnorm",
        usage="pnorm FILE --label COLUMN [options]\n       pnorm FILE --model MODEL [options]\n"
        "       pnorm [-p P] [-t ROUNDS] [--seed N]\n       pnorm reproduce [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    made.add_argument(
        "paths",
        nargs="*",
        metavar="FILE",
        help="the rows: a file, a folder, or several files; - reads the standard input",
    )
    made.add_argument("--version", action="version", version=f"pnorm {pnorm.__version__}")

    add = made.add_argument_group("columns").add_argument
    add("--label", metavar="COLUMN", help="the column that says which rows are positive (needed, except with --model)")
    add(
        "--positive",
        metavar="VALUE",
        help="the label of positive rows, all others are negative "
        "(default: 1, yes, true or positive, where the only other label is its opposite)",
    )
    add("--id", metavar="COLUMN", help="the column that names the rows in lists; it is not learned from")
    add("--ignore", metavar="A,B", action="append", help="leave columns out; may be repeated")
    add("--only", metavar="A,B", action="append", help="learn from these columns alone; may be repeated")
    add(
        "--kind",
        metavar="COLUMN=KIND",
        action="append",
        help="what a column is, if it is not what it seems: number, category, boolean, date, time, duration, 'decimal "
        "comma', 'day first', ..., or its levels from the lowest on, as in size=S,M,L; may be repeated",
    )
    add("--names", metavar="A,B,C", help="the names of all columns, of a file without a header line")
    add("--sheet", metavar="NAME", help="the sheet of a workbook (default: the first)")
    add(
        "--memory",
        type=float,
        metavar="GB",
        help="read batch by batch what takes more memory than this (default: a quarter of what is free)",
    )

    add = made.add_argument_group("rows kept back for the test").add_argument
    add("--holdout", type=float, metavar="SHARE", help="so many of the rows, drawn at random (default: 0.2; 0: none)")
    add("--time", metavar="COLUMN", help="the latest rows by this column, in place of drawn ones")
    add("--test", metavar="FILE", help="the labelled rows of another file; all of FILE is trained on")
    add("--seed", type=int, metavar="N", help="seed of everything that is drawn (default: 0)")

    add = made.add_argument_group("how deep to go down the list").add_argument
    add("--budget", type=float, metavar="ROWS", help="take so many rows, of each --of rows; with --model, of FILE")
    add("--of", type=float, metavar="ROWS", help="with --budget: rows of a list (default: those kept back)")
    add("--precision", type=float, metavar="SHARE", help="take rows of which this share or more are positive")
    add("--recall", type=float, metavar="SHARE", help="take this share of the positive rows or more")

    add = made.add_argument_group("results").add_argument
    add("--top", type=int, metavar="N", help="rows of the list to print (default: 10)")
    add("--report", metavar="FILE", help="write a page of HTML for those who decide")
    add(
        "--out",
        metavar="FILE",
        help="write all rows, best first, with score, probability, rank, and reasons: CSV, or Parquet by the name",
    )
    add("--save", metavar="MODEL", help="write what was learned and tested to a file of JSON")
    add("--refit", action="store_const", const=True, help="save a model of all rows; it has no test, and no cut-off")
    add("--model", metavar="MODEL", help="do not learn: rank the rows by such a file")
    add("--progress", action="store_const", const=True, help="say what is being done, also where no terminal reads it")

    add = made.add_argument_group("for experts").add_argument
    add("-p", type=float, metavar="P", help="how hard to push, 1 or more (default with FILE: chosen, or 4 with -t)")
    add(
        "--push",
        choices=_checks.PUSHES,
        help="which end of the list is to be right, and to be printed (default: top)",
    )
    add(
        "--rankers",
        choices=RANKERS,
        help="weak rankers of numbers only: the columns as they are, scaled to [0, 1], or whether they exceed a cut "
        "(default: made for each column as what it is)",
    )
    add(
        "--monotone",
        metavar="COLUMN=SIGN",
        action="append",
        help="let no score fall as a column rises (income=+), or none rise (age=-); may be repeated",
    )
    add("--linear", action="store_const", const=True, help="add a straight line to the cuts of each column")
    add("--max-columns", type=int, metavar="N", help="use N columns at most")
    add("--l1", type=float, metavar="WEIGHT", help="penalty: this times the sum of the |coefficients|")
    add("--l2", type=float, metavar="WEIGHT", help="penalty: half of this times the sum of their squares")
    add(
        "--penalty",
        choices=("coefficients", "shapes"),
        help="what penalties are of: the coefficients as they are, or the shapes that they give to columns, so that "
        "a column of few cuts and one of many pay alike (default)",
    )
    add(
        "-t",
        type=int,
        metavar="ROUNDS",
        help="boost for so many rounds, and choose nothing (default without FILE: 200; with FILE: the minimum, chosen)",
    )
    return made


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the options that are typed; `file` is what the rows are called."""
    arguments = parser().parse_args(words)
    paths = arguments.paths
    more = f" and {counted(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    arguments.file = f"{paths[0]}{more}" if paths else None
    arguments.typed = shlex.join(["pnorm", *words])
    return arguments


def check(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other or are out of range, before any work."""
    given = {name for name, value in vars(arguments).items() if value is not None and name != "typed"}
    if arguments.file is None:
        for option in vars(arguments):
            if option in given - {"file", "paths", "p", "t", "seed"}:
                raise CommandError(f"{dashed(option)} needs a FILE to work on; see --help")
    elif arguments.model is not None:
        for option in _TRAINING:
            if option in given:
                raise CommandError(f"{dashed(option)} is for training, and --model ranks by what was learned before")
        if arguments.budget is not None and not (arguments.budget >= 1 and float(arguments.budget).is_integer()):
            raise CommandError(
                f"with --model, --budget must be a whole number of rows of FILE, 1 or more; got {arguments.budget:g}"
            )
        for option in ("positive", "report"):
            if option in given and arguments.label is None:
                raise CommandError(f"{dashed(option)} needs --label COLUMN")
    elif arguments.label is None:
        raise CommandError(
            "--label COLUMN is needed with a FILE: which column says which rows are positive? (--model needs none)"
        )
    _check_ranges(arguments)
    _check_test(arguments, given)
    _check_minimum(arguments)


def _check_ranges(arguments: argparse.Namespace) -> None:
    if arguments.p is not None and not 1 <= arguments.p < math.inf:
        raise CommandError(f"-p must be at least 1 and finite; got {arguments.p:g}")
    for option, value in (("-t", arguments.t), ("--top", arguments.top), ("--seed", arguments.seed)):
        if value is not None and value < 0:
            raise CommandError(f"{option} must be zero or more; got {value}")
    for option in ("budget", "of"):
        value = getattr(arguments, option)
        if value is not None and not 0 < value < math.inf:
            raise CommandError(f"--{option} must be above zero and finite; got {value:g}")
    for option in ("precision", "recall"):
        value = getattr(arguments, option)
        if value is not None and not 0 < value < 1:
            raise CommandError(f"--{option} must be a share, above 0 and below 1; got {value:g}")
    if arguments.holdout is not None and not 0 <= arguments.holdout < 1:
        raise CommandError(f"--holdout must be a share of the rows, 0 or more and below 1; got {arguments.holdout:g}")
    if arguments.memory is not None and not 0 <= arguments.memory < math.inf:
        raise CommandError(f"--memory must be zero or more, in GB, and finite; got {arguments.memory:g}")


def _check_test(arguments: argparse.Namespace, given: Collection[str]) -> None:
    """Refuse what contradicts itself about the test, and what it chooses."""
    if arguments.test is not None:
        for option in ("time", "holdout"):
            if option in given:
                raise CommandError(
                    f"{dashed(option)} keeps rows of FILE back, and --test has other rows; leave one out"
                )
    if arguments.time is not None and arguments.holdout == 0:
        raise CommandError("--time keeps the latest rows back, and --holdout 0 none; leave one out")
    asked = [option for option in CUTOFF if option in given]
    if len(asked) > 1:
        raise CommandError(f"--{asked[0]} and --{asked[1]} both ask for a cut-off; leave one out")
    if asked and arguments.holdout == 0:
        raise CommandError(f"--{asked[0]} needs rows kept back, on which the cut-off is chosen; leave --holdout 0 out")
    if arguments.of is not None and arguments.budget is None:
        raise CommandError("--of goes with --budget: a budget of how many rows, of how many?")
    if asked and arguments.push == "bottom":
        raise CommandError(f"--{asked[0]} is for the top of the list, and --push bottom looks at the other end")
    if arguments.refit and (arguments.test is not None or arguments.holdout == 0):
        raise CommandError("--refit adds the rows kept back, and there are none: all rows of FILE are trained on")
    if arguments.refit and arguments.save is None and arguments.out is None:
        raise CommandError("--refit makes the model that --save or --out uses; give one of them")


def _check_minimum(arguments: argparse.Namespace) -> None:
    """Refuse what does not go with a minimum, or with the weak rankers."""
    for option in ("l1", "l2"):
        value = getattr(arguments, option)
        if value is not None and not 0 <= value < math.inf:
            raise CommandError(f"--{option} must be zero or more and finite; got {value:g}")
    if arguments.max_columns is not None and arguments.max_columns < 1:
        raise CommandError(f"--max-columns must be at least 1; got {arguments.max_columns}")
    if arguments.linear and arguments.rankers not in (None, "thresholds"):
        raise CommandError("--linear is for --rankers thresholds, or none of them")
    if arguments.kind and arguments.rankers is not None:
        raise CommandError("--kind says what columns are, and --rankers takes all for numbers; leave one out")
    minimum = [option for option in MINIMUM if getattr(arguments, option) is not None]
    if minimum and arguments.t is not None:
        raise CommandError(f"-t counts rounds, and {dashed(minimum[0])} asks for the minimum; leave one out")


def dashed(option: str) -> str:
    """Return the name of an option as it is typed."""
    return f"-{option}" if len(option) == 1 else f"--{option.replace('_', '-')}"


def pairs(option: str, given: Collection[str], example: str) -> list[tuple[str, str]]:
    """Return the columns and values of options such as ``income=+``; the last = divides them."""
    found: list[tuple[str, str]] = []
    for text in given:
        column, equals, value = text.rpartition("=")
        if not equals or not column or not value:
            raise CommandError(f"{option} needs {example}; got {_checks.shown(text)}")
        found.append((column, value))
    return found


def signs(given: Collection[str]) -> list[tuple[str, int]]:
    """Return the columns and signs that --monotone gives."""
    known, example = {"+": 1, "-": -1}, "a column and a sign, as in income=+ or age=-"
    of_columns: dict[str, int] = {}
    for column, sign in pairs("--monotone", given, example):
        if sign not in known:
            raise CommandError(f"--monotone needs {example}; got {_checks.shown(f'{column}={sign}')}")
        if of_columns.setdefault(column, known[sign]) != known[sign]:
            raise CommandError(f"--monotone gives both signs to {_checks.shown(column)}")
    return list(of_columns.items())


def kinds(given: Collection[str]) -> list[tuple[str, Any]]:
    """Return the columns and kinds that --kind gives; a value with commas is a list of levels."""
    found: dict[str, Any] = {}
    for column, kind in pairs("--kind", given, "a column and a kind, as in zip=category or size=S,M,L"):
        if column in found:
            raise CommandError(f"--kind gives two kinds to {_checks.shown(column)}")
        levels = [level.strip() for level in kind.split(",")]
        found[column] = levels if len(levels) > 1 else kind.strip().replace("-", " ")
    return list(found.items())
