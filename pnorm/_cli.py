"""The command: the main job on embedded data, or on a CSV file."""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import _reproduce

_POSITIVE_WORDS = ("1", "true", "yes", "y", "t", "positive", "pos")
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
  pnorm reproduce --help                      the experiments of the papers, over many splits

A CSV file has a header line; apart from the label and what --ignore names, its columns
must hold numbers. All rows are used for training, so the list printed is the training
list. Rows are numbered from 0, without the header.

A weak ranker is one way to order the rows: here a column, or whether a column exceeds a
cut. The list is ordered by their sum, each times its coefficient. log F_p is what
training lowers; AUC is the share of pairs of a positive and a negative in right order.
"""


_REPRODUCE = """\
Run the experiments of both papers again, each on many random splits, for p = 1, 2, 4, 8, 16
and 64. Writes every number (results.json), a picture per setting, and a table
that says of each claim whether it holds over the splits (claims.md). Needs Matplotlib."""


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
    words = list(sys.argv[1:] if argv is None else argv)
    again = words[:1] == ["reproduce"]
    arguments = _reproduce_parser().parse_args(words[1:]) if again else _parser().parse_args(words)
    try:
        if again:
            _reproduce_experiments(arguments)
        else:
            _check(arguments)
            (_demonstrate if arguments.file is None else _rank_file)(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (CommandError, ValueError) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130
    return 0


def _fail(message: str) -> int:
    print(f"pnorm: error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pnorm",
        usage="pnorm [FILE] [options]\n       pnorm reproduce [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="CSV file with a header line; - reads the standard input")
    add("-p", type=float, metavar="P", help="how hard to push at the top, 1 or more (default with FILE: 4)")
    add("-t", type=int, metavar="ROUNDS", default=200, help="largest number of rounds (default: 200)")
    add("--seed", type=int, help="without FILE: seed of the split of the tic-tac-toe boards (default: 0)")
    add("--version", action="version", version=f"pnorm {pnorm.__version__}")
    add = parser.add_argument_group("with FILE").add_argument
    add("--label", metavar="COLUMN", help="the column that says which rows are positive (needed)")
    add(
        "--positive",
        metavar="VALUE",
        help="the label of positive rows, all others are negative "
        "(default: 1, yes, true or positive, where the only other label is its opposite)",
    )
    add("--ignore", metavar="COLUMN", action="append", help="leave a column out; may be repeated")
    add(
        "--rankers",
        choices=("columns", "normalized", "thresholds"),
        help="weak rankers: the columns as they are, scaled to [0, 1] (default), or whether they exceed a cut, "
        "with at most 31 cuts per column",
    )
    add("--top", type=int, metavar="N", help="rows of the list to print (default: 10)")
    add("--out", metavar="FILE", help="write row,score for all rows, best first")
    return parser


def _reproduce_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pnorm reproduce",
        description=_REPRODUCE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--data", metavar="DIR", help="folder with the data sets (default: the one that PNORM_DATA names)")
    add("--splits", type=int, metavar="N", default=100, help="random splits per setting (default: 100)")
    add(
        "--setting",
        metavar="NAME",
        nargs="+",
        action="extend",
        choices=_reproduce.SETTINGS,
        help=f"only these of {', '.join(_reproduce.SETTINGS)}",
    )
    add(
        "--rounds",
        type=int,
        metavar="T",
        default=_reproduce.ROUNDS,
        help="rounds of training (default: 200, as in the papers)",
    )
    add("--out", metavar="DIR", default="reproduced", help="folder for the files (default: reproduced)")
    return parser


def _reproduce_experiments(arguments: argparse.Namespace) -> None:
    if arguments.splits < 2:
        raise CommandError(f"--splits must be at least 2, to tell a spread; got {arguments.splits}")
    names = list(dict.fromkeys(arguments.setting or _reproduce.SETTINGS))
    if arguments.rounds < 1:
        raise CommandError(f"--rounds must be at least 1; got {arguments.rounds}")
    _reproduce.run(names, arguments.splits, arguments.rounds, arguments.data, arguments.out)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that make no sense, before any work."""
    if arguments.file is None:
        for option in ("label", "positive", "ignore", "rankers", "top", "out"):
            if getattr(arguments, option) is not None:
                raise CommandError(f"--{option} needs a FILE to work on; see --help")
    elif arguments.seed is not None:
        raise CommandError("--seed is for the tic-tac-toe boards; with a FILE all rows are used")
    if arguments.p is not None and not 1 <= arguments.p < math.inf:
        raise CommandError(f"-p must be at least 1 and finite; got {arguments.p:g}")
    for option, value in (("-t", arguments.t), ("--top", arguments.top), ("--seed", arguments.seed)):
        if value is not None and value < 0:
            raise CommandError(f"{option} must be zero or more; got {value}")


# The main job on embedded data ----------------------------------------------------------------------


def _demonstrate(arguments: argparse.Namespace) -> None:
    data = pnorm.datasets.tic_tac_toe()
    order = np.random.default_rng(arguments.seed or 0).permutation(data.y.size)
    setting = _reproduce.SETTINGS["tic-tac-toe"]
    train, test = order[: setting.n_train], order[setting.n_train :]
    pos, neg = (data.X[train][data.y[train] == label] for label in (1, 0))
    test_pos, test_neg = (data.X[test][data.y[test] == label] for label in (1, 0))
    H = setting.rankers(pos, neg)

    print("Tic-tac-toe: which final boards did x win? o = 0, x = 1, blank = 2, each square scaled to [-1, 1].")
    print(f"{train.size} boards to train on ({len(pos)} won by x), {test.size} to test on ({len(test_pos)} won by x).")
    print()
    print("         ---- train ----   ---- test -----")
    print("    p    at top      AUC   at top      AUC    log F_p   rounds   seconds")
    for p in _reproduce.POWERS if arguments.p is None else (arguments.p,):
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
    path, out = arguments.file, arguments.out
    if path != "-" and not os.path.exists(path):
        raise CommandError(f"{path}: No such file or directory")
    if arguments.label is None:
        raise CommandError("--label COLUMN is needed with a FILE: which column says which rows are positive?")
    if out is not None and not os.path.isdir(os.path.dirname(out) or "."):
        raise CommandError(f"--out {out}: no such directory")
    if out is not None and os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
        raise CommandError(f"--out {out} would overwrite the input")
    table = _read(path, arguments.label, arguments.ignore or [])
    positive = _positive(table.labels, arguments.label, arguments.positive)
    y = np.array([label in positive for label in table.labels])
    pos, neg = table.X[y], table.X[~y]

    p, kind = 4.0 if arguments.p is None else arguments.p, arguments.rankers or "normalized"
    H = _rankers(kind, pos, neg, table.names)
    lam, trace = pnorm.train(pos, neg, H, p, arguments.t)
    f = pnorm.score(table.X, H, lam)
    best_first = np.argsort(-f, kind="stable")

    print(
        f"{path}: {_counted(y.size, 'row')}, {y.sum()} positive ({arguments.label} = {' or '.join(sorted(positive))})"
    )
    print(f"P-Norm Push with p = {p:g} on {_counted(len(H), 'weak ranker')} ({kind}): {trace.status}")
    print(f"after {_counted(trace.n_iter, 'round')}: {trace.message}")
    if trace.status == "separable":
        print("Look at what separates: was it known before the label was?")
    top, auc = pnorm.metrics.positives_at_top(f[y], f[~y]), pnorm.metrics.auc(f[y], f[~y])
    print(f"On these rows, the ones trained on: {top} of {y.sum()} positives above every negative,")
    print(f"AUC {auc:.4f}, log F_p {trace.log_objective[-1]:.6g}")
    _print_rankers(H, lam, table.X)
    _print_top(f, best_first[: 10 if arguments.top is None else arguments.top], table.labels)
    if out is not None:
        with open(out, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["row", "score"])
            writer.writerows((int(i), repr(float(f[i]))) for i in best_first)
        print(f"\nScores of {_counted(y.size, 'row')}, best first: {out}")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _rankers(kind: str, pos: NDArray[np.float64], neg: NDArray[np.float64], names: list[str]) -> pnorm.rankers.Rankers:
    if kind == "columns":
        return pnorm.rankers.columns(pos, neg, names=names)
    if kind == "normalized":
        return pnorm.rankers.normalized(pos, neg, names=names)
    return pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=31, names=names)


def _print_rankers(H: pnorm.rankers.Rankers, lam: NDArray[np.float64], X: NDArray[np.float64]) -> None:
    """The rankers that move scores the most: coefficient times range of the outputs."""
    used = [int(j) for j in np.flatnonzero(lam)]
    if not used:
        print("\nNo weak ranker is in use: every row has the same score.")
        return
    moves = {j: abs(lam[j]) * float(np.ptp(H[j](X))) for j in used}
    leading = sorted(used, key=lambda j: -moves[j])[:10]
    names = [name if len(name) <= 40 else name[:39] + "\u2026" for name in (H.names[j] for j in leading)]
    width = max(map(len, names))
    print(f"\nThe weak rankers that carry the most weight ({len(leading)} of {len(used)} in use):")
    print(f"  {'':{width}}    coefficient   moves a score by up to")
    for name, j in zip(names, leading, strict=True):
        print(f"  {name:{width}}   {lam[j]:+12.5g}   {moves[j]:22.4f}")


def _print_top(f: NDArray[np.float64], rows: NDArray[np.intp], labels: list[str]) -> None:
    if rows.size == 0:
        return
    print("\nThe top of the list:")
    print("  rank       row        score   label")
    for rank, i in enumerate(rows, start=1):
        print(f"  {rank:4d}   {i:7d}   {f[i]:10.4f}   {labels[i]}")


# Reading --------------------------------------------------------------------------------------------


def _read(path: str, label: str, ignored: Sequence[str]) -> Table:
    lines = _lines(path)
    if not lines:
        raise CommandError(f"{path} is empty")
    header, rows = [name.strip() for name in lines[0][1]], lines[1:]
    if all(map(_is_number, header)):
        raise CommandError(f"the first line of {path} holds numbers; it should be a header with the column names")
    for position, name in enumerate(header, start=1):
        if not name:
            raise CommandError(f"column {position} of {path} has no name in the header")
        if header.count(name) > 1:
            raise CommandError(f"the column name {name!r} appears more than once in {path}")
    for name in (label, *ignored):
        if name not in header:
            shown = ", ".join(header[:20]) + (", ..." if len(header) > 20 else "")
            raise CommandError(f"no column {name!r} in {path}; its columns are {shown}")
    if label in ignored:
        raise CommandError(f"--ignore {label} is the label")
    if not rows:
        raise CommandError(f"{path} has a header and no rows")
    for number, row in rows:
        if len(row) != len(header):
            raise CommandError(
                f"line {number} of {path} has {_counted(len(row), 'field')}; the header has {len(header)}"
            )
    names = [name for name in header if name != label and name not in ignored]
    if not names:
        raise CommandError(f"{path} has no column beside the label {label!r} to rank by")
    X = np.empty((len(rows), len(names)))
    for c, name in enumerate(names):
        at = header.index(name)
        X[:, c] = [_number(row[at], name, number) for number, row in rows]
    at = header.index(label)
    labels = [row[at].strip() for _, row in rows]
    for (number, _), text in zip(rows, labels, strict=True):
        if text.lower() in _MISSING_WORDS:
            raise CommandError(f"the label {label!r} is missing in line {number}; rows to train on need one")
    return Table(X, labels, names)


def _lines(path: str) -> list[tuple[int, list[str]]]:
    """The lines of a CSV file that are not blank, each with its number in the file."""
    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as stream:
            data = stream.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None
    delimiter = max(",;\t|", key=text.partition("\n")[0].count)
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, line) for line in reader if line]
    except csv.Error as error:
        raise CommandError(f"line {reader.line_num} of {path} is not CSV: {error}") from None


def _number(text: str, column: str, line: int) -> float:
    text = text.strip()
    if text.lower() in _MISSING_WORDS:
        raise CommandError(f"column {column!r} has a missing value in line {line}; fill it in, or --ignore {column!r}")
    try:
        value = float(text.replace("_", "x"))  # Python reads 1_000 as a number, a CSV file should not
    except ValueError:
        raise CommandError(
            f"column {column!r} is not numeric: {text!r} in line {line}; encode it as numbers, or --ignore {column!r}"
        ) from None
    if not math.isfinite(value):
        raise CommandError(f"column {column!r} has {text!r} in line {line}; every value must be finite")
    return value


def _positive(labels: list[str], column: str, wanted: str | None) -> set[str]:
    """The labels that mean positive, in all their spellings; both kinds of rows must be there."""
    found = sorted(set(labels))
    words = {label: _word(label) for label in found}
    shown = ", ".join(found[:8]) + (", ..." if len(found) > 8 else "")
    if len(set(words.values())) < 2:
        raise CommandError(f"column {column!r} holds one label only ({shown}); both kinds of rows are needed")
    if wanted is not None:
        positive = {label for label in found if words[label] == _word(wanted)}
        if not positive:
            raise CommandError(f"no row has the label {wanted!r} in column {column!r}; its labels are {shown}")
        return positive
    positive = {label for label in found if words[label] in _POSITIVE_WORDS}
    negative = {label for label in found if words[label] in _NEGATIVE_WORDS}
    if len(set(words.values())) == 2 and positive and negative:
        return positive
    raise CommandError(f"say which label in column {column!r} is positive with --positive; its labels are {shown}")


def _word(label: str) -> str:
    """One form for all spellings of a label: lower case, and 1.0 or +1 are 1."""
    try:
        return f"{float(label):.17g}"
    except ValueError:
        return label.lower()


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
