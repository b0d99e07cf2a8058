"""The options of the command, and the checks that they can be combined."""

from __future__ import annotations

import argparse
import math
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pnorm
from pnorm import _checks
from pnorm._checks.text import counted, joined, nearest
from pnorm._command.terminal import CommandError, Parser
from pnorm._tables import NEGATIVE, RANK, UNLABELLED
from pnorm._tables.labels import word
from pnorm.rankers._reader import WISHES

_DESCRIPTION = """\
Learn from a table with labels to put the positive rows at the top of a list. pnorm reads FILE,
holds out a fifth of the rows as a test, learns from the others, and prints how good the list is
on the test rows, the first rows of the list with reasons, and what to do next.
With --model it ranks new rows with a saved model."""

FIRST_STEPS = """\
pnorm FILE --label COLUMN   learns from the labelled rows of a table, and tests the list
pnorm FILE --model MODEL    ranks new rows with a model that --save has written
pnorm --help                describes all options

In a clone, 6,000 simulated leads are at hand:
pnorm examples/leads.csv --label bought --id lead"""
"""The output without a FILE."""

_EPILOG = """\
examples:
  learn, test and print the list
    pnorm leads.csv --label bought
  the same; save the model, an HTML report and the scores of all rows
    pnorm leads.csv --label bought --save model.json --report report.html --out scores.csv
  rank new rows with the saved model; rows are named by the column lead
    pnorm new.csv --model model.json --id lead --out ranked.csv
  a label with other words, and columns to leave out
    pnorm leads.csv --label stage --positive won --id lead --ignore closed_on,agent
  test on the latest rows; 200 of every 10,000 rows can be looked at
    pnorm day.csv --label fraud --time booked --budget 200 --of 10000
  all files of a folder
    pnorm transactions/ --label fraud

files:
  FILE is CSV with any usual delimiter, Parquet, Feather, Arrow or an Excel workbook, compressed or
  not. It may be a folder, several files, or a quoted pattern ('sales/*.csv'), workbooks excepted;
  the columns must be the same in all of them.

columns:
  Each column is used according to its content: numbers, categories, booleans, dates. Ids, and
  free text that differs in nearly all rows, are left out. The output lists how each column was
  used. --kind changes it: the kinds are number, decimal-point, decimal-comma, category, any-case,
  boolean, date, day-first, month-first, time, duration and leave-out, or the levels in rising
  order, as in size=S,M,L. With city=any-case, Rome and ROME are one level.
  A duration is text such as '772 days', '3.2 years', '1 yr 2 mo', '5 weeks' or '36 hours'.
  A column can be given by its name or by its number, from 1.
  An empty cell is missing, and so is ?, -, NA, N/A, NaN, null or none. --missing adds a word, such
  as unknown or -999, for all columns except the label; --missing age=-9 is for one column. The
  saved model reads new rows so too.

labels:
  A row without a label stops the command. With --unlabelled rank, the list is learned and tested
  on the other rows, and --out ranks all of them. With --unlabelled negative, an empty label means
  negative: for a column that is filled in for positive rows only. With --positive won, all other
  labels are negative. With --negative lost as well, only lost is, and other labels count as none.
  Both are repeatable: with --positive won --positive 'won back', both labels are positive.

model:
  By default p (1 or 4), the weak rankers and the penalty are chosen by cross-validation on the
  training rows. With -t nothing is chosen, and p is 4 unless -p is given. For other weak rankers,
  penalties or a push at the bottom, use pnorm in Python.

test:
  Rows with the same --id are held out together, except by --time and from batches of a large file.
  The held-out rows are used only to measure the list and to choose the cut-off of --budget,
  --precision or --recall. The cut-off is saved with the model. With --model, --budget is the
  number of rows to take from FILE. The tests of --precision begin with few rows. --at-least 200
  begins them at the first 200 held-out rows, and --at-least 20% at the first fifth. Choose it from
  the work you can do, not from the results. With --time, a row without a value in that column
  is trained on and not tested on. If it may be later than the test, remove it from the file.

ids:
  The file of --out names the rows by --id, or in the column row by their number among the data
  rows, from 0, as pandas counts them. If ids repeat, it has both columns. Messages name the line
  of a CSV file, from 1 with the header, or the row of a sheet, as an editor or a spreadsheet
  program does. The file of a table read in batches is in the order of the rows.

spreadsheets:
  In a CSV file of --out, text that begins with =, +, -, @, a tab or a carriage return gets an
  apostrophe in front, so that spreadsheet programs do not run it as a formula. Numbers are kept.
"""

CUTOFF = ("precision", "recall", "budget")
"""Options that choose a cut-off."""

_TRAINING = (
    *("p", "t", "kind", "missing", "monotone", "save", "test", "time", "holdout", "only", "details"),
    *("precision", "at_least", "recall", "of", "seed"),
)
"""Options of learning. With --model they are an error."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = Parser(
        prog="pnorm",
        usage="pnorm FILE --label COLUMN [options]    learn from labelled rows\n"
        "       pnorm FILE --model MODEL [options]     rank new rows",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        add_help=False,
    )
    add = made.add_argument_group("data").add_argument
    add("paths", nargs="*", metavar="FILE", help="files or folders with the rows; - is standard input")
    add("--label", metavar="COLUMN", help="column of labels (required without --model)")
    add(
        "--positive",
        metavar="VALUE",
        action="append",
        help="label of positive rows (default: 1, yes, ...); repeatable",
    )
    add("--negative", metavar="VALUE", action="append", help="label of negative rows; repeatable; see labels below")
    add(
        "--unlabelled",
        choices=UNLABELLED,
        metavar="USE",
        help="rows without a label: rank, negative (default: stop)",
    )
    add("--id", metavar="COLUMN", help="column of row names, for lists; not learned from")
    add("--ignore", metavar="A,B", action="append", help="columns to leave out; repeatable")
    add("--only", metavar="A,B", action="append", help="use only these columns; repeatable")
    add("--kind", metavar="COLUMN=KIND", action="append", help="kind of a column; repeatable; see columns below")
    add("--missing", metavar="WORD", action="append", help="word for a missing value, or COLUMN=WORD; repeatable")
    add("--names", metavar="A,B,C", help="column names, for a file without a header line")
    add("--skip-lines", type=int, metavar="N", help="lines above the names (default: a title is found)")
    add("--sheet", metavar="NAME", help="sheet of a workbook (default: the first)")

    add = made.add_argument_group("model").add_argument
    add("--model", metavar="MODEL", help="rank with this saved model; nothing is learned")
    add(
        "-p",
        type=_powers,
        metavar="P[,P...]",
        help="power of the push, or several to try (default: 1,4)",
    )
    add("-t", type=int, metavar="ROUNDS", help="boost for so many rounds (default: minimise instead)")
    add("--monotone", metavar="COLUMN=SIGN", action="append", help="income=+ or age=-: one direction only; repeatable")
    add("--seed", type=int, metavar="N", help="seed of all random draws (default: 0)")

    add = made.add_argument_group("test").add_argument
    add("--holdout", type=float, metavar="SHARE", help="share of rows held out (default: 0.2; 0: no test)")
    add("--time", metavar="COLUMN", help="hold out the latest rows by this column instead")
    add("--test", metavar="FILE", help="test on the labelled rows of this file instead")
    add("--budget", type=float, metavar="ROWS", help="cut-off: take this many rows of a list")
    add("--of", type=float, metavar="ROWS", help="rows of a list, for --budget (default: held-out)")
    add("--precision", type=float, metavar="SHARE", help="cut-off: this share of the rows taken is positive")
    add("--at-least", metavar="ROWS", help="with --precision: take so many test rows or more")
    add("--recall", type=float, metavar="SHARE", help="cut-off: take this share of the positive rows")

    add = made.add_argument_group("output").add_argument
    add("--top", type=int, metavar="N", help="number of rows of the list to print (default: 10)")
    add("--details", action="store_const", const=True, help="print how the model was chosen and its settings")
    add("--save", metavar="MODEL", help="save the tested model, for --model (JSON)")
    add("--out", metavar="FILE", help="write the scores of all rows (CSV or .parquet)")
    add("--report", metavar="FILE", help="write a report for readers of the result (HTML)")
    add("--version", action="version", version=f"pnorm {pnorm.__version__}", help="print the version and exit")
    add("-h", "--help", action="help", help="print this help and exit")
    return made


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the options that were typed; `file` is the name of the rows in messages."""
    arguments = parser().parse_args(words)
    paths = arguments.paths
    more = f" and {counted(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    arguments.file = f"{paths[0]}{more}" if paths else None
    arguments.typed, arguments.words = shlex.join(["pnorm", *words]), list(words)
    return arguments


def check(arguments: argparse.Namespace) -> None:
    """Raise CommandError for options that contradict each other or are out of range, and read --at-least."""
    given = {name for name, value in vars(arguments).items() if value is not None and name not in ("typed", "words")}
    if arguments.file is None:
        for option in vars(arguments):
            if option in given - {"file", "paths"}:
                raise CommandError(f"{dashed(option)} needs a FILE. Try: pnorm FILE --label COLUMN; or pnorm --help")
    elif arguments.model is not None:
        for option in _TRAINING:
            if option in given:
                raise CommandError(
                    f"{dashed(option)} is an option of learning, and --model does not learn. Leave one of them out"
                )
        if arguments.budget is not None and not (arguments.budget >= 1 and float(arguments.budget).is_integer()):
            raise CommandError(
                f"with --model, --budget must be a whole number of rows, 1 or more; got {arguments.budget:g}"
            )
        for option in ("positive", "negative", "unlabelled", "report"):
            if option in given and arguments.label is None:
                raise CommandError(f"{dashed(option)} needs the labels of the rows. Add --label COLUMN")
    _check_labels(arguments.positive or (), arguments.negative or ())
    if arguments.negative is not None and arguments.unlabelled == NEGATIVE:
        raise CommandError(
            f"--negative sets all other labels apart, and --unlabelled {NEGATIVE} makes them negative. Use "
            f"--unlabelled {RANK}, or leave --negative out"
        )
    _check_ranges(arguments)
    _check_test(arguments, given)


def _check_labels(positive: Collection[str], negative: Collection[str]) -> None:
    """Raise CommandError for a label that is given twice, or as positive and as negative."""
    for option, values in (("--positive", positive), ("--negative", negative)):
        for label, times in Counter(values).items():
            if times > 1:
                raise CommandError(f"{option} has {_checks.shown(label)} twice. Leave one of them out")
    of_negative = set(map(word, negative))
    for value in positive:
        if word(value) in of_negative:
            raise CommandError(
                f"--positive and --negative both have {_checks.shown(value)}. Leave it out of one of them"
            )


def _powers(text: str) -> tuple[float, ...]:
    """Return the numbers of -p, each once."""
    try:
        return tuple(dict.fromkeys([float(part) for part in text.split(",")]))
    except ValueError:
        raise argparse.ArgumentTypeError(f"needs a number, or several with commas between; got {text!r}") from None


_RANGES: tuple[tuple[tuple[str, ...], Callable[[float], bool], str], ...] = (
    (("t", "top", "seed", "skip_lines"), lambda x: x >= 0, "zero or more"),
    (("budget", "of"), lambda x: 0 < x < math.inf, "above zero and finite"),
    (("precision", "recall"), lambda x: 0 < x < 1, "a share, above 0 and below 1"),
    (("holdout",), lambda x: 0 <= x < 1, "a share of the rows, 0 or more and below 1"),
)
"""Options, which values they take, and these in words."""


def _check_ranges(arguments: argparse.Namespace) -> None:
    for p in arguments.p or ():
        if not 1 <= p < math.inf:
            raise CommandError(f"-p must be at least 1 and finite; got {p:g}")
    if arguments.t is not None and len(arguments.p or ()) > 1:
        raise CommandError("-t trains in rounds, which take one p, and -p has several. Leave one of them out")
    for option, fits, told in [(option, fits, told) for of, fits, told in _RANGES for option in of]:
        value = getattr(arguments, option)
        if value is not None and not fits(value):
            raise CommandError(f"{dashed(option)} must be {told}; got {value:g}")
    if arguments.at_least is not None:
        arguments.at_least = rows_or_share("at_least", arguments.at_least)


def _check_test(arguments: argparse.Namespace, given: Collection[str]) -> None:
    """Raise CommandError for options of the test that contradict each other."""
    if arguments.test is not None:
        for option in ("time", "holdout"):
            if option in given:
                raise CommandError(
                    f"{dashed(option)} holds out rows of FILE, and --test names another file. Leave one of them out"
                )
    if arguments.time is not None and arguments.holdout == 0:
        raise CommandError("--time holds out the latest rows, and --holdout 0 holds out none. Leave one of them out")
    asked = [option for option in CUTOFF if option in given]
    if len(asked) > 1:
        raise CommandError(f"--{asked[0]} and --{asked[1]} both choose a cut-off. Leave one of them out")
    if asked and arguments.holdout == 0:
        raise CommandError(f"--{asked[0]} needs held-out rows to choose the cut-off. Leave --holdout 0 out")
    if arguments.of is not None and arguments.budget is None:
        raise CommandError("--of is the length of the list for --budget. Add --budget ROWS")
    if arguments.at_least is not None and arguments.precision is None:
        does = f"--{asked[0]} does not test the precision. Leave one of them out" if asked else "Add --precision SHARE"
        raise CommandError(f"--at-least says where the tests of --precision begin{', and ' if asked else '. '}{does}")


def dashed(option: str) -> str:
    """Return the name of an option as it is typed."""
    return f"-{option}" if len(option) == 1 else f"--{option.replace('_', '-')}"


def rows_or_share(option: str, given: str) -> float:
    """Return an option such as ``200`` or ``20%`` as an integer, a number of rows, or as a float, a share of them."""
    try:
        value = float(given[:-1]) / 100.0 if given.endswith("%") else int(given)
    except ValueError:
        value = 0
    if value <= 0 or (given.endswith("%") and not value < 1.0):
        raise CommandError(
            f"{dashed(option)} must be a whole number of rows, 1 or more, or a share of them, as in 20%; "
            f"got {_checks.shown(given)}"
        )
    return value


def pairs(option: str, given: Collection[str], example: str) -> list[tuple[str, str]]:
    """Return the columns and values of options such as ``income=+``, split at the last =."""
    found: list[tuple[str, str]] = []
    for text in given:
        column, equals, value = text.rpartition("=")
        if not equals or not column or not value:
            raise CommandError(f"{option} needs {example}; got {_checks.shown(text)}")
        found.append((column, value))
    return found


def missing(given: Collection[str] | None) -> tuple[str, ...]:
    """Return the words for missing values that --missing gives, as cells are compared with them."""
    return tuple(dict.fromkeys([_checks.folded(word) for word in given or () if word.strip()]))


def signs(given: Collection[str]) -> list[tuple[str, int]]:
    """Return the columns and signs that --monotone gives."""
    known, example = {"+": 1, "-": -1}, "a column and a sign, as in income=+ or age=-"
    of_columns: dict[str, int] = {}
    for column, sign in pairs("--monotone", given, example):
        if sign not in known:
            raise CommandError(f"--monotone needs {example}; got {_checks.shown(f'{column}={sign}')}")
        if of_columns.setdefault(column, known[sign]) != known[sign]:
            raise CommandError(f"--monotone gives both signs to {_checks.shown(column)}. Use one of them")
    return list(of_columns.items())


def kinds(given: Collection[str]) -> list[tuple[str, Any]]:
    """Return the columns and kinds that --kind gives; a value with commas is a list of levels."""
    found: dict[str, Any] = {}
    for column, kind in pairs("--kind", given, "a column and a kind, as in zip=category or size=S,M,L"):
        if column in found:
            raise CommandError(f"--kind gives two kinds to {_checks.shown(column)}. Use one of them")
        levels = [level.strip() for level in kind.split(",")]
        found[column] = levels if len(levels) > 1 else _kind(column, kind.strip().replace("-", " "))
    return list(found.items())


def _kind(column: str, kind: str) -> str:
    """Return a kind that exists; refuse others."""
    if kind in WISHES:
        return kind
    known, word = [of.replace(" ", "-") for of in WISHES], kind.replace(" ", "-")
    near = nearest(word, known)
    hint = f"; did you mean {near[0]}?" if near else "."
    raise CommandError(
        f"--kind has no kind {_checks.shown(word)}, which is given to {_checks.shown(column)}{hint} The kinds are "
        f"{joined(known)}, or levels in their order, as in size=S,M,L"
    )
