"""The command: the main job on embedded data, or on a file of rows."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import math
import os
import re
import stat
import sys
import time
import warnings
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import _checks, _files
from pnorm._categories import UnknownLevelWarning, numeral, read, reads_as_missing
from pnorm._command import reproduce
from pnorm._split import plainly_positive, word
from pnorm._text import first, shown

_START = 4096
"""Bytes by which the kind of a file is known; those of a workbook name its parts."""

_PACKED = {
    "gzip": rb"\x1f\x8b",
    "bzip2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "7z": rb"7z\xbc\xaf\x27\x1c",
}
_ZIP, _WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_IN_WORKBOOKS = (b"[Content_Types].xml", b"xl/", b"application/vnd.oasis.opendocument.spreadsheet")

_PARQUET, _ARROW = (".parquet", ".pq"), (".feather", ".arrow")

_DESCRIPTION = """\
Rank so that the top of the list is right: the P-Norm Push. Without a FILE, show it
at work on tic-tac-toe; with one, train on it and print what leads the list and why."""

_EPILOG = """\
examples:
  pnorm                                       the P-Norm Push on tic-tac-toe, p = 1 to 64
  pnorm leads.csv --label bought              rank your own rows; 1, yes or true is positive
  pnorm leads.csv --label stage --positive won -p 8 --out scores.csv --save model.json
  pnorm new.parquet --model model.json        rank other rows by what was learned
  pnorm reproduce --help                      the experiments of the papers, over many splits

A CSV file is UTF-8 and has a header line; its numbers are of the form -1.5e3, with no marks
between digits, or columns of true and false, 1 and 0. Parquet, Feather and Arrow files are read
with pyarrow (the extra 'parquet'), but for an index that pandas has saved. Apart from the label and
what --ignore names, columns must hold numbers. All rows are used for training, so the list printed
is the training list. Rows are numbered from 0, without the header. A model reads the columns that
it uses by their names, may come from pnorm.save as well, and says what levels it does not know.

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
    """What a file holds once the label is set apart."""

    X: NDArray[np.float64]
    labels: list[str]
    names: list[str]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    again = words[:1] == ["reproduce"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of columns and files that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
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
        return _fail(f"{_path(os.fsdecode(error.filename))}: {error.strerror}" if error.filename else str(error))
    except (CommandError, ValueError, OverflowError) as error:
        return _fail(str(error))
    except MemoryError as error:
        return _fail(f"not enough memory: {error}".removesuffix(": "))
    except KeyboardInterrupt:
        return 130
    return 0


def _fail(message: str) -> int:
    print(f"pnorm: error: {_line(message)}", file=sys.stderr)
    return 2


def _line(message: str) -> str:
    """A message on one line, whatever is quoted in it."""
    return shown(" ".join(message.split()), 4000)


def _path(path: str) -> str:
    """A path as it is printed: there are long ones."""
    return shown(path, 1000)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and a message in which words of the command line may stand."""
        super().error(_line(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pnorm",
        usage="pnorm [FILE] [options]\n       pnorm reproduce [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="CSV file with a header line, or Parquet; - reads the standard input")
    add("-p", type=float, metavar="P", help="how hard to push at the top, 1 or more (default with FILE: 4)")
    add("-t", type=int, metavar="ROUNDS", help="largest number of rounds (default: 200)")
    add("--seed", type=int, help="without FILE: seed of the split of the tic-tac-toe boards (default: 0)")
    add("--version", action="version", version=f"pnorm {pnorm.__version__}")
    add = parser.add_argument_group("with FILE").add_argument
    add("--label", metavar="COLUMN", help="the column that says which rows are positive (needed, but with --model)")
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
    add("--save", metavar="MODEL", help="write what was learned to a file of JSON")
    add("--model", metavar="MODEL", help="do not train: rank the rows by such a file")
    return parser


def _reproduce_parser() -> argparse.ArgumentParser:
    parser = _Parser(
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
        choices=reproduce.SETTINGS,
        help=f"only these of {', '.join(reproduce.SETTINGS)}",
    )
    add(
        "--rounds",
        type=int,
        metavar="T",
        default=reproduce.ROUNDS,
        help="rounds of training (default: 200, as in the papers)",
    )
    add("--out", metavar="DIR", default="reproduced", help="folder for the files (default: reproduced)")
    return parser


def _reproduce_experiments(arguments: argparse.Namespace) -> None:
    if not 2 <= arguments.splits < 2**31:
        raise CommandError(f"--splits must be at least 2, to tell a spread, and below 2**31; got {arguments.splits}")
    names = list(dict.fromkeys(arguments.setting or reproduce.SETTINGS))
    if arguments.rounds < 1:
        raise CommandError(f"--rounds must be at least 1; got {arguments.rounds}")
    reproduce.run(names, arguments.splits, arguments.rounds, arguments.data, arguments.out)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that make no sense, before any work."""
    if arguments.file is None:
        for option in ("label", "positive", "ignore", "rankers", "top", "out", "save", "model"):
            if getattr(arguments, option) is not None:
                raise CommandError(f"--{option} needs a FILE to work on; see --help")
    elif arguments.seed is not None:
        raise CommandError("--seed is for the tic-tac-toe boards; with a FILE all rows are used")
    elif arguments.model is not None:
        for option, name in (("p", "-p"), ("t", "-t"), ("rankers", "--rankers"), ("save", "--save")):
            if getattr(arguments, option) is not None:
                raise CommandError(f"{name} is for training, and --model ranks by what was learned before")
        if arguments.positive is not None and arguments.label is None:
            raise CommandError("--positive needs --label COLUMN")
    if arguments.p is not None and not 1 <= arguments.p < math.inf:
        raise CommandError(f"-p must be at least 1 and finite; got {arguments.p:g}")
    for option, value in (("-t", arguments.t), ("--top", arguments.top), ("--seed", arguments.seed)):
        if value is not None and value < 0:
            raise CommandError(f"{option} must be zero or more; got {value}")


# The main job on embedded data ----------------------------------------------------------------------


def _demonstrate(arguments: argparse.Namespace) -> None:
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
        lam, trace = pnorm.train(pos, neg, H, p, _rounds(arguments))
        seconds = time.perf_counter() - start
        row = f"{p:5g}"
        for sides in ((pos, neg), (test_pos, test_neg)):
            f = [pnorm.score(X, H, lam) for X in sides]
            row += f"   {pnorm.metrics.positives_at_top(*f):7d}   {pnorm.metrics.auc(*f):6.4f}"
        print(f"{row}   {trace.log_objective[-1]:8.3f}   {trace.n_iter:6d}   {seconds:7.3f}")
    print()
    print("What to look for: 'at top' counts the wins ranked above every board that is not one. A larger p pushes it")
    print("up on the boards trained on, at some cost in AUC; the test columns show how much of that carries over.")


def _rounds(arguments: argparse.Namespace) -> int:
    return 200 if arguments.t is None else int(arguments.t)


# The main job on a user's file ----------------------------------------------------------------------


def _rank_file(arguments: argparse.Namespace) -> None:
    path = arguments.file
    if path != "-" and not os.path.exists(path):
        raise CommandError(f"{path}: No such file or directory")
    if arguments.label is None and arguments.model is None:
        raise CommandError("--label COLUMN is needed with a FILE: which column says which rows are positive?")
    _check_files(arguments)
    (_train_on_file if arguments.model is None else _score_file)(arguments)


def _check_files(arguments: argparse.Namespace) -> None:
    """Refuse places where nothing can be written, and files that are in use, before any work."""
    read = {"the input": 0 if arguments.file == "-" else arguments.file, "the model": arguments.model}
    more = {"the file of --out": arguments.out, "the standard output": 1}
    for option, path, used in (("--out", arguments.out, read), ("--save", arguments.save, read | more)):
        if path is None:
            continue
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise CommandError(f"{option} {_path(path)}: no such directory")
        if os.path.isdir(path):
            raise CommandError(f"{option} {_path(path)} is a directory")
        for what, other in used.items():
            if _same_file(other, path):
                raise CommandError(f"{option} {_path(path)} would overwrite {what}")


def _same_file(one: str | int | None, other: str) -> bool:
    """Whether two paths, or a descriptor and a path, lead to one file; devices and pipes can be shared."""
    if one is None:
        return False
    try:
        status = os.stat(one)
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(other))
    except OSError:  # one of them is not there yet
        return isinstance(one, str) and os.path.realpath(one) == os.path.realpath(other)


def _train_on_file(arguments: argparse.Namespace) -> None:
    path = arguments.file
    table = _read(path, arguments.label, arguments.ignore or [])
    positive = _positive(table.labels, arguments.label, arguments.positive)
    y = np.array([label in positive for label in table.labels])
    pos, neg = pnorm.split(table.X, y)

    p, kind = 4.0 if arguments.p is None else arguments.p, arguments.rankers or "normalized"
    H = _rankers(kind, pos, neg, table.names)
    lam, trace = pnorm.train(pos, neg, H, p, _rounds(arguments))
    f = pnorm.score(table.X, H, lam)

    print(f"{_path(path)}: {_labelled(y, arguments.label, positive)}")
    print(f"P-Norm Push with p = {p:g} on {_counted(len(H), 'weak ranker')} ({kind}): {trace.status}")
    print(f"after {_counted(trace.n_iter, 'round')}: {trace.message}")
    if trace.status == "separable":
        print("Look at what separates: was it known before the label was?")
    _print_measures("On these rows, the ones trained on", f, y, f", log F_p {trace.log_objective[-1]:.6g}")
    _print_rankers(H, lam, table.X)
    _print_top(f, arguments.top, table.labels)
    if arguments.save is not None:
        about = {"file": os.path.basename(path), "label": arguments.label, "positive": sorted(positive)}
        pnorm.save(arguments.save, lam, H, p, {**about, "rounds": trace.n_iter, "status": trace.status})
        print(f"\nThe model, for --model or pnorm.load: {_path(arguments.save)}")
    _write_scores(f, arguments.out)


def _score_file(arguments: argparse.Namespace) -> None:
    path, label = arguments.file, arguments.label
    model = pnorm.load(arguments.model)
    source = _source(path)
    _check_columns(source, path, label, arguments.ignore or [])
    names = [name for name in source.names if name != label and name not in (arguments.ignore or [])]
    labels = None if label is None else _labels(source, label, "rows to measure the list by")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnknownLevelWarning)
            f = model.score(source.frame(names))
    except (ValueError, TypeError, OverflowError) as error:
        raise CommandError(f"{_path(arguments.model)} does not fit {_path(path)}: {error}") from None
    for warning in caught:
        if issubclass(warning.category, UnknownLevelWarning):
            print(f"pnorm: warning: {_line(str(warning.message))}", file=sys.stderr)
        else:  # of a library, as Python and its user have it
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    y = np.zeros(f.size, bool)
    if labels is None:
        print(f"{_path(path)}: {_counted(f.size, 'row')}")
    else:
        positive = _positive(labels, label, arguments.positive)
        y = np.array([text in positive for text in labels])
        print(f"{_path(path)}: {_labelled(y, label, positive)}")
    push = "" if model.p is None else f", trained with p = {model.p:g}"
    used = np.count_nonzero(model.lam)
    print(f"ranked by {_path(arguments.model)}: {used} of {_counted(model.lam.size, 'weak ranker')} in use{push}")
    if labels is not None:
        _print_measures("On these rows", f, y, "")
    _print_top(f, arguments.top, labels)
    _write_scores(f, arguments.out)


def _labelled(y: NDArray[np.bool_], label: str, positive: set[str]) -> str:
    return f"{_counted(y.size, 'row')}, {y.sum()} positive ({shown(label)} = {shown(' or '.join(sorted(positive)))})"


def _print_measures(where: str, f: NDArray[np.float64], y: NDArray[np.bool_], more: str) -> None:
    top, auc = pnorm.metrics.positives_at_top(f[y], f[~y]), pnorm.metrics.auc(f[y], f[~y])
    print(f"{where}: {top} of {y.sum()} positives above every negative,")
    print(f"AUC {auc:.4f}{more}")


def _best_first(f: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.argsort(-f, kind="stable")


def _write_scores(f: NDArray[np.float64], out: str | None) -> None:
    if out is None:
        return
    lines = ["row,score", *(f"{i},{float(f[i])!r}" for i in _best_first(f)), ""]
    _files.write(out, "\n".join(lines).encode())
    print(f"\nScores of {_counted(f.size, 'row')}, best first: {_path(out)}")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _rankers(kind: str, pos: NDArray[np.float64], neg: NDArray[np.float64], names: list[str]) -> pnorm.rankers.Rankers:
    """Weak rankers that know the columns of a file by their names, for rows to come."""
    if kind == "columns":
        made = pnorm.rankers.columns(pos, neg, names=names)
    elif kind == "normalized":
        made = pnorm.rankers.normalized(pos, neg, names=names)
    else:
        made = pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=31, names=names)
    return pnorm.rankers.from_dict({**made.to_dict(), "columns": names})


def _print_rankers(H: pnorm.rankers.Rankers, lam: NDArray[np.float64], X: NDArray[np.float64]) -> None:
    """The rankers that move scores the most: coefficient times range of the outputs."""
    used = [int(j) for j in np.flatnonzero(lam)]
    if not used:
        print("\nNo weak ranker is in use: every row has the same score.")
        return
    moves = {j: abs(lam[j]) * float(np.ptp(H[j](X))) for j in used}
    leading = sorted(used, key=lambda j: -moves[j])[:10]
    names = [shown(H.names[j], 40) for j in leading]
    width = max(map(len, names))
    print(f"\nThe weak rankers that carry the most weight ({len(leading)} of {len(used)} in use):")
    print(f"  {'':{width}}    coefficient   moves a score by up to")
    for name, j in zip(names, leading, strict=True):
        print(f"  {name:{width}}   {lam[j]:+12.5g}   {moves[j]:22.4f}")


def _print_top(f: NDArray[np.float64], top: int | None, labels: list[str] | None) -> None:
    rows = _best_first(f)[: 10 if top is None else top]
    if rows.size == 0:
        return
    print("\nThe top of the list:")
    print("  rank       row        score" + ("" if labels is None else "   label"))
    for rank, i in enumerate(rows, start=1):
        print(f"  {rank:4d}   {i:7d}   {f[i]:10.4f}" + ("" if labels is None else f"   {shown(labels[i])}"))


# Reading --------------------------------------------------------------------------------------------


class Source(Protocol):
    """A file of rows with named columns."""

    names: list[str]

    def __len__(self) -> int:
        """The number of rows."""

    def place(self, i: int) -> str:
        """Where the user finds a row."""

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column that must hold numbers."""

    def texts(self, name: str) -> list[str]:
        """A column of labels, empty where there is none."""

    def frame(self, names: list[str]) -> Any:
        """Some columns as something that `pnorm.score` reads, converted when it asks for them."""


def _read(path: str, label: str, ignored: Sequence[str]) -> Table:
    """The rows to train on."""
    source = _source(path)
    _check_columns(source, path, label, ignored)
    names = [name for name in source.names if name != label and name not in ignored]
    if not names:
        raise CommandError(f"{path} has no column beside the label {_checks.shown(label)} to rank by")
    labels = _labels(source, label, "rows to train on")
    X = np.empty((len(source), len(names)))
    for c, name in enumerate(names):
        X[:, c] = source.numbers(name)
    return Table(X, labels, names)


def _check_columns(source: Source, path: str, label: str | None, ignored: Sequence[str]) -> None:
    header = source.names
    times = Counter(header)
    for position, name in enumerate(header, start=1):
        if not name:
            raise CommandError(f"column {position} of {path} has no name in the header")
        if times[name] > 1:
            raise CommandError(f"the column name {_checks.shown(name)} appears more than once in {path}")
    for name in (*([] if label is None else [label]), *ignored):
        if name not in header:
            raise CommandError(f"no column {_checks.shown(name)} in {path}; its columns are {first(header, 20)}")
    if label in ignored:
        raise CommandError(f"--ignore {shown(label)} is the label")
    if not len(source):
        raise CommandError(f"{path} has a header and no rows")


def _labels(source: Source, label: str, what: str) -> list[str]:
    labels = source.texts(label)
    for i, text in enumerate(labels):
        if reads_as_missing(text):
            raise CommandError(f"the label {_checks.shown(label)} is missing in {source.place(i)}; {what} need one")
    return labels


def _source(path: str) -> Source:
    """A file by its name, or by the bytes it begins with."""
    suffix = os.path.splitext(path)[1].lower()
    with contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as stream:
        start = stream.read(_START)  # once: what a pipe has given it does not give again
        _refuse_other_kinds(path, start)
        is_arrow = start[:4] == b"PAR1" or start[:6] == b"ARROW1" or bool(start and suffix in _PARQUET + _ARROW)
        data = None if is_arrow and os.path.isfile(path) else start + stream.read()
    if is_arrow:
        return ArrowSource(path, data, start[:4] == b"PAR1" or (start[:6] != b"ARROW1" and suffix in _PARQUET))
    return CsvSource(path, data or b"")


def _refuse_other_kinds(path: str, start: bytes) -> None:
    """Say what a file is that holds a table in a form which is not read here."""
    for what, magic in _PACKED.items():
        if re.match(magic, start):
            raise CommandError(f"{path} is compressed ({what}); unpack it first")
    if start.startswith(_WORKBOOK) or (start.startswith(_ZIP) and any(part in start for part in _IN_WORKBOOKS)):
        raise CommandError(f"{path} is a workbook of a spreadsheet program; save its sheet as CSV, in UTF-8")
    if start.startswith(_ZIP):
        raise CommandError(f"{path} is compressed (zip); unpack it first")


class CsvSource:
    """The lines of a CSV file that are not blank, in at most 75 times its memory: the shortest take the most."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path, self._numbers, self._rows = path, *_lines(path, data)
        if not self._rows:
            raise CommandError(f"{path} is empty")
        self.names = [name.strip() for name in self._rows[0]]
        del self._rows[0], self._numbers[0]
        self._at = {name: at for at, name in enumerate(self.names)}
        if all(map(_is_number, self.names)):
            raise CommandError(f"the first line of {path} holds numbers; it should be a header with the column names")
        for number, row in zip(self._numbers, self._rows, strict=True):
            if len(row) != len(self.names):
                raise CommandError(
                    f"line {number} of {path} has {_counted(len(row), 'field')}; the header has {len(self.names)}"
                )

    def __len__(self) -> int:
        return len(self._rows)

    def place(self, i: int) -> str:
        return f"line {self._numbers[i]} of {self._path}"

    def numbers(self, name: str) -> NDArray[np.float64]:
        return _numbers(self.texts(name), name, self)

    def fields(self, name: str) -> Fields:
        at = self._at[name]
        return Fields([row[at] for row in self._rows])

    def texts(self, name: str) -> list[str]:
        at = self._at[name]
        return [row[at].strip() for row in self._rows]

    def frame(self, names: list[str]) -> Any:
        return Lazy(self, names)


@dataclass
class Lazy:
    """Columns of a CSV file."""

    source: CsvSource
    column_names: list[str]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.source), len(self.column_names)

    def column(self, j: int) -> Fields:
        return self.source.fields(self.column_names[j])


@dataclass
class Fields:
    """A column of a CSV file: the text that is there, for levels, and an array of numbers where all of it reads so."""

    texts: list[str]
    dtype = np.dtype(object)

    def tolist(self) -> list[Any]:
        return self.texts

    def read(self) -> list[float | str]:
        """Numbers, NaN for what is missing, and text; true and false are numbers if there is nothing else."""
        values = [math.nan if reads_as_missing(text) else read(text) for text in self.texts]
        truths = [isinstance(value, bool) for value in values]
        if any(truths) and not all(truth or value != value for truth, value in zip(truths, values, strict=True)):
            values = [text if truth else value for text, truth, value in zip(self.texts, truths, values, strict=True)]
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.read()
        return np.array(values, object if any(isinstance(value, str) for value in values) else np.float64)


class ArrowSource:
    """A Parquet, Feather or Arrow file, of which only the columns that are needed are read."""

    def __init__(self, path: str, data: bytes | None, is_parquet: bool) -> None:
        kind = "Parquet" if is_parquet else "Arrow"
        try:
            import pyarrow
            from pyarrow import feather, parquet
        except ImportError:
            raise CommandError(
                f"{path} is a{'n' if kind == 'Arrow' else ''} {kind} file, which takes pyarrow to read, the extra "
                "'parquet' of pnorm: pip install pyarrow"
            ) from None
        self._path, self._kind, self._arrow = path, kind, pyarrow
        where = path if data is None else pyarrow.BufferReader(data)
        # No threads: one that outlives the command would abort it.
        self._file = self._asked(
            lambda: (
                parquet.ParquetFile(where, pre_buffer=False)
                if is_parquet
                else feather.read_table(where, use_threads=False)
            )
        )
        schema = self._file.schema_arrow if is_parquet else self._file.schema
        about = self._asked(lambda: schema.pandas_metadata)
        index = about.get("index_columns") if isinstance(about, dict) else None
        self._index = {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()
        self.names = [name for name in schema.names if name not in self._index]

    def _asked(self, work: Any) -> Any:
        try:
            return work()
        except (self._arrow.ArrowException, OSError, ValueError, RecursionError) as error:
            raise CommandError(f"{self._path} is no {self._kind} file that pyarrow can read: {error}") from None

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows if self._kind == "Parquet" else self._file.num_rows)

    def place(self, i: int) -> str:
        return f"row {i} of {self._path}"

    def frame(self, names: list[str]) -> Any:
        if self._kind == "Parquet":
            return self._asked(lambda: self._file.read(columns=names, use_threads=False)).select(names)
        return self._file.select(names)

    def _values(self, name: str) -> Any:
        column = self.frame([name]).column(0)
        if self._arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if len(column) != len(self):
            raise CommandError(f"{self._path} says that it has {len(self)} rows, and {len(column)} are there")
        return column

    def numbers(self, name: str) -> NDArray[np.float64]:
        column, types = self._values(name), self._arrow.types
        if column.null_count:
            raise _no_number("", name, self, int(np.argmax(column.is_null().to_numpy())))
        kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if not any(is_kind(column.type) for is_kind in kinds):
            return _numbers(self.texts(name), name, self)
        found = np.asarray(column.to_numpy(), dtype=np.float64)
        wrong = np.flatnonzero(~np.isfinite(found))
        if wrong.size:
            raise _no_number(str(found[wrong[0]]), name, self, int(wrong[0]))
        return found

    def texts(self, name: str) -> list[str]:
        values = self._asked(self._values(name).to_pylist)
        return ["" if value is None else str(value).strip() for value in values]


def _lines(path: str, data: bytes) -> tuple[array[int], list[list[str]]]:
    """The lines of a CSV file that are not blank, and the number of each in the file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise CommandError(f"line {line} of {path} has a NUL byte, which no text has; save it as UTF-8")
    first = re.search(r"[^\r\n]+", text)
    delimiter = max(",;\t|", key=(first[0] if first else "").count)
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    numbers, lines = array("q"), []
    try:
        for fields in reader:
            if fields:
                numbers.append(reader.line_num)
                lines.append(fields)
    except csv.Error as error:
        raise CommandError(f"line {reader.line_num} of {path} is not CSV: {error}") from None
    return numbers, lines


def _numbers(texts: list[str], column: str, source: Source) -> NDArray[np.float64]:
    """A column that must hold numbers, from its text."""
    values = Fields(texts).read()
    for i, value in enumerate(values):
        if isinstance(value, str) or value != value:
            raise _no_number(texts[i], column, source, i)
    return np.array(values, np.float64)


def _no_number(text: str, column: str, source: Source, i: int) -> CommandError:
    name = _checks.shown(column)
    if reads_as_missing(text):
        return CommandError(f"column {name} has a missing value in {source.place(i)}; fill it in, or --ignore {name}")
    with contextlib.suppress(ValueError):
        if not math.isfinite(numeral(text)):
            return CommandError(
                f"column {name} has {_checks.shown(text)} in {source.place(i)}; every value must be finite"
            )
    return CommandError(
        f"column {name} is not numeric: {_checks.shown(text)} in {source.place(i)}; encode it as numbers, or "
        f"--ignore {name}"
    )


def _positive(labels: list[str], column: str, wanted: str | None) -> set[str]:
    """The labels that mean positive, in all their spellings; both kinds of rows must be there."""
    found = sorted(set(labels))
    words = {label: word(label) for label in found}
    name, few = _checks.shown(column), first(found, 8)
    if len(set(words.values())) < 2:
        raise CommandError(f"column {name} holds one label only ({few}); both kinds of rows are needed")
    if wanted is not None:
        positive = {label for label in found if words[label] == word(wanted)}
        if not positive:
            raise CommandError(f"no row has the label {_checks.shown(wanted)} in column {name}; its labels are {few}")
        return positive
    positive = plainly_positive(found)
    if positive:
        return positive
    raise CommandError(f"say which label in column {name} is positive with --positive; its labels are {few}")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(numeral(text))
    except ValueError:
        return False
