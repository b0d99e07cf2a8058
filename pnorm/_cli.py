"""The command: the main job on embedded data, or on a CSV file."""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import pnorm

_POWERS = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0)  # those of both papers
_TRAINING_BOARDS = 500  # as in TR2005-874
_POSITIVE_WORDS = ("1", "+1", "true", "yes", "y", "t", "positive", "pos")
_NEGATIVE_WORDS = ("0", "-1", "false", "no", "n", "f", "negative", "neg")
_MISSING_WORDS = ("", "?", "na", "n/a", "nan", "null", "none", "-")

_DESCRIPTION = """\
Rank so that the top of the list is right: the P-Norm Push. Without a FILE, show it
at work on tic-tac-toe; with one, train on it and print what leads the list and why."""

_EPILOG = """\
examples:
  pnorm                                       the P-Norm Push on tic-tac-toe, p = 1 to 64
  pnorm leads.csv --label bought              rank your own rows; 1, yes or true is positive
  pnorm leads.csv --label stage --positive won -p 8 --out scores.csv

A CSV file has a header line; apart from the label and what --ignore names, its columns
must hold numbers. All rows are used for training, so the list printed is the training
list. Rows are numbered from 0, without the header.
"""


class CommandError(Exception):
    """What the user of the command did wrong, in one line."""


@dataclass(frozen=True)
class Table:
    """What a CSV file holds once the label is set apart."""

    X: NDArray[np.float64]
    labels: list[str]
    names: list[str]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        if arguments.file is None:
            _demonstrate(arguments)
        else:
            _rank_file(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CommandError, OSError, ValueError) as error:
        print(f"pnorm: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pnorm",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="CSV file with a header line")
    add("--label", metavar="COLUMN", help="the column that says which rows are positive (needed with FILE)")
    add(
        "--positive",
        metavar="VALUE",
        help="the label of positive rows; all others are negative "
        "(default: 1, yes, true or positive, where the other label is its opposite)",
    )
    add("--ignore", metavar="COLUMN", action="append", default=[], help="leave a column out; may be repeated")
    add("-p", type=float, metavar="P", help="how hard to push at the top, 1 or more (default: 4)")
    add("-t", type=int, metavar="ROUNDS", default=200, help="largest number of rounds (default: 200)")
    add(
        "--rankers",
        choices=("columns", "normalized", "thresholds"),
        default="normalized",
        help="weak rankers: the columns as they are, scaled to [0, 1] (default), or indicators of exceeding "
        "a cut, at most 31 cuts per column",
    )
    add("--top", type=int, metavar="N", default=10, help="rows of the list to print (default: 10)")
    add("--out", metavar="FILE", help="write row,score for all rows, best first")
    add("--seed", type=int, default=0, help="seed of the split of the tic-tac-toe boards (default: 0)")
    add("--version", action="version", version=f"pnorm {pnorm.__version__}")
    return parser


# The main job on embedded data ----------------------------------------------------------------------


def _demonstrate(arguments: argparse.Namespace) -> None:
    for option in ("label", "positive", "ignore", "out"):
        if getattr(arguments, option):
            raise CommandError(f"--{option} needs a FILE to work on; see --help")
    data = pnorm.datasets.tic_tac_toe()
    order = np.random.default_rng(arguments.seed).permutation(data.y.size)
    train, test = order[:_TRAINING_BOARDS], order[_TRAINING_BOARDS:]
    pos, neg = (data.X[train][data.y[train] == label] for label in (1, 0))
    test_pos, test_neg = (data.X[test][data.y[test] == label] for label in (1, 0))
    H = pnorm.rankers.normalized(pos, neg, low=-1, high=1)

    print("Tic-tac-toe: which final boards did x win? o = 0, x = 1, blank = 2, each square scaled to [-1, 1].")
    print(f"{train.size} boards to train on ({len(pos)} won by x), {test.size} to test on ({len(test_pos)} won by x).")
    print()
    print("         ---- train ----   ---- test -----")
    print("    p    at top      AUC   at top      AUC    log F_p   rounds   seconds")
    for p in _POWERS if arguments.p is None else (arguments.p,):
        start = time.perf_counter()
        lam, trace = pnorm.train(pos, neg, H, p, arguments.t)
        seconds = time.perf_counter() - start
        row = f"{p:5g}"
        for sides in ((pos, neg), (test_pos, test_neg)):
            f = [pnorm.score(X, H, lam) for X in sides]
            row += f"   {pnorm.metrics.positives_at_top(*f):7d}   {pnorm.metrics.auc(*f):6.4f}"
        print(f"{row}   {trace.log_objective[-1]:8.3f}   {trace.n_iter:6d}   {seconds:7.3f}")
    print()
    print("What to look for: 'at top' counts the wins ranked above every board that is not one. A larger p pushes it")
    print("up on the boards trained on, at some cost in AUC; the test columns show how much of that carries over.")


# The main job on a user's file ----------------------------------------------------------------------


def _rank_file(arguments: argparse.Namespace) -> None:
    if arguments.label is None:
        raise CommandError("--label COLUMN is needed with a FILE: which column says which rows are positive?")
    if arguments.out is not None and os.path.exists(arguments.out) and os.path.samefile(arguments.out, arguments.file):
        raise CommandError(f"--out {arguments.out} would overwrite the input")
    if arguments.out is not None and not os.path.isdir(os.path.dirname(arguments.out) or "."):
        raise CommandError(f"--out {arguments.out}: no such directory")
    if arguments.top < 0:
        raise CommandError(f"--top must be zero or more; got {arguments.top}")
    p = 4.0 if arguments.p is None else arguments.p
    table = _read(arguments.file, arguments.label, arguments.ignore)
    positive = _positive(table.labels, arguments.label, arguments.positive)
    y = np.array([label in positive for label in table.labels])
    pos, neg = table.X[y], table.X[~y]

    H = _rankers(arguments.rankers, pos, neg, table.names)
    lam, trace = pnorm.train(pos, neg, H, p, arguments.t)
    f = pnorm.score(table.X, H, lam)
    best_first = np.argsort(-f, kind="stable")

    label = f"{arguments.label} = {' or '.join(sorted(positive))}"
    print(f"{arguments.file}: {y.size} rows, {y.sum()} positive ({label}), {len(table.names)} columns")
    print(
        f"P-Norm Push with p = {p:g}, {len(H)} weak rankers ({arguments.rankers}): {trace.status} after "
        f"{trace.n_iter} rounds ({trace.message})"
    )
    print(
        f"On these rows: {pnorm.metrics.positives_at_top(f[y], f[~y])} of {y.sum()} positives above every negative, "
        f"AUC {pnorm.metrics.auc(f[y], f[~y]):.4f}, log F_p {trace.log_objective[-1]:.4f}"
    )
    _print_rankers(H, lam, table.X)
    _print_top(f, best_first[: arguments.top], table.labels)
    if arguments.out is not None:
        with open(arguments.out, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["row", "score"])
            writer.writerows((int(i), repr(float(f[i]))) for i in best_first)
        print(f"\nScores of all {y.size} rows, best first: {arguments.out}")


def _rankers(kind: str, pos: NDArray[np.float64], neg: NDArray[np.float64], names: list[str]) -> pnorm.rankers.Rankers:
    if kind == "columns":
        return pnorm.rankers.columns(pos, neg, names=names)
    if kind == "normalized":
        return pnorm.rankers.normalized(pos, neg, names=names)
    return pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=31, names=names)


def _print_rankers(H: pnorm.rankers.Rankers, lam: NDArray[np.float64], X: NDArray[np.float64]) -> None:
    """The rankers that move scores the most: coefficient times range of the outputs."""
    used = [int(j) for j in np.flatnonzero(lam)]
    reach = {j: abs(lam[j]) * float(np.ptp(H[j](X))) for j in used}
    leading = sorted(used, key=lambda j: -reach[j])[:10]
    width = max([len(H.names[j]) for j in leading], default=0)
    print(f"\nThe weak rankers that carry the most weight ({len(leading)} of {len(used)} in use):")
    print(f"  {'':{width}}   coefficient   moves a score by up to")
    for j in leading:
        print(f"  {H.names[j]:{width}}   {lam[j]:+11.5g}   {reach[j]:8.4g}")


def _print_top(f: NDArray[np.float64], rows: NDArray[np.intp], labels: list[str]) -> None:
    if rows.size == 0:
        return
    print("\nThe top of the list:")
    print("  rank       row       score   label")
    for rank, i in enumerate(rows, start=1):
        print(f"  {rank:4d}   {i:7d}   {f[i]:9.5g}   {labels[i]}")


# Reading --------------------------------------------------------------------------------------------


def _read(path: str, label: str, ignored: Sequence[str]) -> Table:
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            first = stream.readline()
            stream.seek(0)
            delimiter = max(",;\t", key=first.count)
            lines = [line for line in csv.reader(stream, delimiter=delimiter) if line]
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    except csv.Error as error:
        raise CommandError(f"{path} is not a CSV file: {error}") from None
    if not lines:
        raise CommandError(f"{path} is empty")
    header, rows = [name.strip() for name in lines[0]], lines[1:]
    for name in header:
        if header.count(name) > 1:
            raise CommandError(f"the column name {name!r} appears more than once in {path}")
    for name in (label, *ignored):
        if name not in header:
            raise CommandError(f"no column {name!r} in {path}; its columns are {', '.join(header)}")
    if not rows:
        raise CommandError(f"{path} has a header and no rows")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise CommandError(f"row {i} of {path} has {len(row)} fields; the header has {len(header)}")
    names = [name for name in header if name != label and name not in ignored]
    if not names:
        raise CommandError(f"{path} has no column beside the label {label!r} to rank by")
    X = np.empty((len(rows), len(names)))
    for c, name in enumerate(names):
        at = header.index(name)
        X[:, c] = [_number(row[at], name, i) for i, row in enumerate(rows)]
    at = header.index(label)
    return Table(X, [row[at].strip() for row in rows], names)


def _number(text: str, column: str, row: int) -> float:
    text = text.strip()
    if text.lower() in _MISSING_WORDS:
        raise CommandError(f"column {column!r} has a missing value in row {row}; fill it in, or --ignore {column!r}")
    try:
        value = float(text.replace("_", "x"))  # Python reads 1_000 as a number, a CSV file should not
    except ValueError:
        raise CommandError(
            f"column {column!r} is not numeric: {text!r} in row {row}; encode it as numbers, or --ignore {column!r}"
        ) from None
    if not math.isfinite(value):
        raise CommandError(f"column {column!r} has {text!r} in row {row}; every value must be finite")
    return value


def _positive(labels: list[str], column: str, wanted: str | None) -> set[str]:
    """The labels that mean positive; both kinds of rows must be there."""
    found = sorted(set(labels))
    shown = ", ".join(found[:8]) + (", ..." if len(found) > 8 else "")
    if len(found) < 2:
        raise CommandError(f"column {column!r} holds one label only ({shown}); both kinds of rows are needed")
    if wanted is not None:
        positive = {label for label in found if label == wanted} or {x for x in found if _same_number(x, wanted)}
        if not positive:
            raise CommandError(f"no row has the label {wanted!r} in column {column!r}; its labels are {shown}")
        return positive
    positive = {label for label in found if _word(label) in _POSITIVE_WORDS}
    negative = {label for label in found if _word(label) in _NEGATIVE_WORDS}
    if len(set(map(_word, found))) == 2 and positive and negative:
        return positive
    raise CommandError(f"say which label in column {column!r} is positive with --positive; its labels are {shown}")


def _word(label: str) -> str:
    """A label in lower case, with 1.0 read as 1."""
    label = label.lower()
    return next((word for word in ("1", "0", "-1") if _same_number(label, word)), label)


def _same_number(a: str, b: str) -> bool:
    try:
        return float(a) == float(b)
    except ValueError:
        return False
