"""The command: the main job on embedded data, or on a file of rows."""

from __future__ import annotations

import argparse
import io
import math
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import _checks, _default, _files
from pnorm._categories import UnknownLevelWarning
from pnorm._checks.text import first, shown
from pnorm._command.tables import labels_of, names_in, read_table
from pnorm._command.terminal import CommandError, Parser, counted, one_line, path_shown
from pnorm._score import sigmoid
from pnorm._split import plainly_positive, word
from pnorm._tables import open_source

_DESCRIPTION = """\
Rank so that the top of the list is right: the P-Norm Push. Without a FILE, show it
at work on tic-tac-toe; with one, train on it and print what leads the list and why."""

_EPILOG = """\
examples:
  pnorm                                       the P-Norm Push on tic-tac-toe, p = 1 to 64
  pnorm leads.csv --label bought              rank your own rows; 1, yes or true is positive
  pnorm leads.csv --label stage --positive won -p 8 --out scores.csv --save model.json
  pnorm leads.csv --label bought --rankers thresholds --max-columns 5
  pnorm leads.csv --label bought -t 100       boost for 100 rounds, and choose nothing
  pnorm new.parquet --model model.json        rank other rows by what was learned
  pnorm reproduce --help                      the experiments of the papers, over many splits

A CSV file is UTF-8 and has a header line; its numbers are of the form -1.5e3, with no marks
between digits, or columns of true and false, 1 and 0. Parquet, Feather and Arrow files are read
with pyarrow (the extra 'parquet'), but for an index that pandas has saved. Apart from the label and
what --ignore names, columns must hold numbers. All rows are used for training, so the list printed
is the training list. Rows are numbered from 0, without the header. A model reads the columns that
it uses by their names, may come from pnorm.save as well, and says what levels it does not know.

A weak ranker is one way to order the rows: here a column, or whether a column exceeds a
cut. The list is ordered by their sum, each times its coefficient. Weak rankers, p and penalties
that are not given are chosen by rows held out. log F_p is what training lowers; AUC is the share
of pairs of a positive and a negative in right order.
"""


_MINIMUM = ("linear", "l1", "l2", "penalty", "max_columns")
"""Options of a penalised minimum."""


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
        arguments, work = parser().parse_args(words), _train_or_rank
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


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = Parser(
        prog="pnorm",
        usage="pnorm [FILE] [options]\n       pnorm reproduce [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    add = made.add_argument
    add("file", nargs="?", metavar="FILE", help="CSV file with a header line, or Parquet; - reads the standard input")
    add("-p", type=float, metavar="P", help="how hard to push, 1 or more (default with FILE: chosen, or 4 with -t)")
    add(
        "-t",
        type=int,
        metavar="ROUNDS",
        help="largest number of rounds (default without FILE: 200; with FILE: no rounds)",
    )
    add("--seed", type=int, help="without FILE: seed of the split of the tic-tac-toe boards (default: 0)")
    add("--version", action="version", version=f"pnorm {pnorm.__version__}")
    add = made.add_argument_group("with FILE").add_argument
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
        help="weak rankers: the columns as they are, scaled to [0, 1] (default with -t), or whether they exceed a "
        "cut, with at most 255 cuts per column, 31 with -t (default: chosen)",
    )
    add(
        "--monotone",
        metavar="COLUMN=SIGN",
        action="append",
        help="let no score fall as a column rises (income=+), or none rise (age=-); may be repeated",
    )
    add("--linear", action="store_const", const=True, help="add a straight line to the cuts of each column")
    add(
        "--l1",
        type=float,
        metavar="WEIGHT",
        help="penalty: this times the sum of the |coefficients| (default: chosen, as --l2)",
    )
    add(
        "--l2",
        type=float,
        metavar="WEIGHT",
        help="penalty: half of this times the sum of their squares",
    )
    add(
        "--penalty",
        choices=("coefficients", "shapes"),
        help="what penalties are of: the coefficients as they are, or the shapes that they give to columns, so that "
        "a column of few cuts and one of many pay alike (default)",
    )
    add("--max-columns", type=int, metavar="N", help="use N columns at most")
    add(
        "--push",
        choices=_checks.PUSHES,
        help="which end of the list is to be right, and to be printed (default: top)",
    )
    add("--top", type=int, metavar="N", help="rows of the list to print (default: 10)")
    add(
        "--out",
        metavar="FILE",
        help="write row,score for all rows, best first; and probability, if the model gives one",
    )
    add("--save", metavar="MODEL", help="write what was learned to a file of JSON")
    add("--model", metavar="MODEL", help="do not train: rank the rows by such a file")
    return made


def _train_or_rank(arguments: argparse.Namespace) -> None:
    _check(arguments)
    (_demonstrate if arguments.file is None else _rank_file)(arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other or are out of range, before any work."""
    if arguments.file is None:
        for option in (
            "label",
            "positive",
            "ignore",
            "rankers",
            "monotone",
            *_MINIMUM,
            "push",
            "top",
            "out",
            "save",
            "model",
        ):
            if getattr(arguments, option) is not None:
                raise CommandError(f"{_dashed(option)} needs a FILE to work on; see --help")
    elif arguments.seed is not None:
        raise CommandError("--seed is for the tic-tac-toe boards; with a FILE all rows are used")
    elif arguments.model is not None:
        for option in ("p", "t", "rankers", "monotone", *_MINIMUM, "push", "save"):
            if getattr(arguments, option) is not None:
                raise CommandError(f"{_dashed(option)} is for training, and --model ranks by what was learned before")
        if arguments.positive is not None and arguments.label is None:
            raise CommandError("--positive needs --label COLUMN")
    if arguments.p is not None and not 1 <= arguments.p < math.inf:
        raise CommandError(f"-p must be at least 1 and finite; got {arguments.p:g}")
    for option, value in (("-t", arguments.t), ("--top", arguments.top), ("--seed", arguments.seed)):
        if value is not None and value < 0:
            raise CommandError(f"{option} must be zero or more; got {value}")
    _check_minimum(arguments)


def _dashed(option: str) -> str:
    """Return the name of an option as it is typed."""
    return f"-{option}" if len(option) == 1 else f"--{option.replace('_', '-')}"


def _check_minimum(arguments: argparse.Namespace) -> None:
    """Refuse what does not go with a minimum."""
    for option in ("l1", "l2"):
        value = getattr(arguments, option)
        if value is not None and not 0 <= value < math.inf:
            raise CommandError(f"--{option} must be zero or more and finite; got {value:g}")
    if arguments.max_columns is not None and arguments.max_columns < 1:
        raise CommandError(f"--max-columns must be at least 1; got {arguments.max_columns}")
    if arguments.linear and arguments.rankers not in (None, "thresholds"):
        raise CommandError("--linear is for --rankers thresholds")
    minimum = [option for option in _MINIMUM if getattr(arguments, option) is not None]
    if minimum and arguments.t is not None:
        raise CommandError(f"-t counts rounds, and {_dashed(minimum[0])} asks for the minimum; leave one out")


# The main job on embedded data ----------------------------------------------------------------------


def _demonstrate(arguments: argparse.Namespace) -> None:
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
    """Refuse outputs that cannot be written, or would replace a file in use, before any work."""
    read = {"the input": 0 if arguments.file == "-" else arguments.file, "the model": arguments.model}
    more = {"the file of --out": arguments.out, "the standard output": 1}
    for option, path, used in (("--out", arguments.out, read), ("--save", arguments.save, read | more)):
        if path is None:
            continue
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise CommandError(f"{option} {path_shown(path)}: no such directory")
        if os.path.isdir(path):
            raise CommandError(f"{option} {path_shown(path)} is a directory")
        for what, other in used.items():
            if _same_file(other, path):
                raise CommandError(f"{option} {path_shown(path)} would overwrite {what}")


def _same_file(one: str | int | None, other: str) -> bool:
    """Return whether two paths, or a descriptor and a path, lead to one file; devices and pipes can be shared."""
    if one is None:
        return False
    try:
        status = os.stat(one)
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(other))
    except OSError:  # one of them is not there yet
        return isinstance(one, str) and os.path.realpath(one) == os.path.realpath(other)


def _train_on_file(arguments: argparse.Namespace) -> None:
    path = arguments.file
    X, names, labels = read_table(path, arguments.label, arguments.ignore or [])
    positive = _positive(labels, arguments.label, arguments.positive)
    y = np.array([label in positive for label in labels])
    pos, neg = pnorm.split(X, y)

    push, signs = arguments.push or "top", _signs(arguments.monotone or [], names)
    added: dict[str, Any] = {}
    chosen = None
    if arguments.t is None:
        chosen, added = _choose(arguments, pos, neg, names, signs, push)
        p, kind = chosen.p, chosen.kind or arguments.rankers
        H = _named(chosen.rankers, names)
        lam, trace = pnorm.minimize(pos, neg, H, p, push=push, tol=_default.TOL, **added)
    else:
        p, kind = 4.0 if arguments.p is None else arguments.p, arguments.rankers or "normalized"
        H = _named(_rankers(kind, pos, neg, names, signs), names)
        lam, trace = pnorm.train(pos, neg, H, p, _rounds(arguments), push=push)
    f = pnorm.score(X, H, lam)

    print(f"{path_shown(path)}: {_labelled(y, arguments.label, positive)}")
    if chosen is not None:
        _print_choice(chosen)
    print(f"P-Norm Push with p = {p:g}{_where(push)} on {counted(len(H), 'weak ranker')} ({kind}): {trace.status}")
    if added:
        print(_minimised(added))
    print(f"after {counted(trace.n_iter, 'step' if added else 'round')}: {trace.message}")
    apart = _separating(X, y, names) if chosen is not None else []
    if apart:
        print(f"{shown(apart[0], 40)} alone puts every positive above every negative, or below.")
    if apart or trace.status == "separable":
        print("Look at what separates: was it known before the label was?")
    _print_measures("On these rows, the ones trained on", f, y, push, f", log F_p {trace.log_objective[-1]:.6g}")
    _print_rankers(H, lam, X)
    _print_end(f, arguments.top, labels, push)
    if arguments.save is not None:
        about = {"file": os.path.basename(path), "label": arguments.label, "positive": sorted(positive)}
        about |= {"push": push, **({"steps": trace.n_iter, **added} if added else {"rounds": trace.n_iter})}
        about |= {"status": trace.status, **_choice_told(chosen)}
        pnorm.save(arguments.save, lam, H, p, about, intercept=trace.intercept)
        print(f"\nThe model, for --model or pnorm.load: {path_shown(arguments.save)}")
    _write_scores(f, p, trace.intercept, arguments.out)


def _choose(
    arguments: argparse.Namespace,
    pos: NDArray[np.float64],
    neg: NDArray[np.float64],
    names: list[str],
    signs: dict[int, int],
    push: str,
) -> tuple[_default.Chosen, dict[str, Any]]:
    """Choose what the options leave open, and return with it what `minimize` is given."""
    kind, linear = arguments.rankers, arguments.linear
    if kind is None:
        kinds = _default.kinds(pos, neg, names=names, monotone=signs, linear=linear)
    else:
        how: dict[str, Any] = {"n_cuts": _default.N_CUTS, "linear": bool(linear)}
        kinds = {"": _default.Kind(lambda pos, neg: _rankers(kind, pos, neg, names, signs, **how), "l2")}
    about = {"penalty": arguments.penalty or _default.PENALTY, "max_columns": arguments.max_columns}
    given = {name: getattr(arguments, name) for name in ("p", "l1", "l2")}
    chosen = _default.choose(pos, neg, kinds, push=push, **given, **about)
    return chosen, {"l1": chosen.l1, "l2": chosen.l2, **about}


def _print_choice(chosen: _default.Chosen) -> None:
    """Print the best of each kind on rows held out, the chosen one among them."""
    if chosen.alone:
        print("Nothing is chosen, as there is one row of a kind, which cannot be held out.")
    found = chosen.cross_validation
    if found is None:
        return
    places = found._of_kinds()
    points = [found._choice(i, s) for i, s in places]
    wide = max(len("weak rankers"), *[len(point.kind or "") for point in points])
    second = np.asarray(found.second_scores).mean(axis=1)
    print(f"\nOn rows held out, {found.scores.shape[1]} folds; the best of each kind, and * what is chosen:")
    print(f"    {'weak rankers':{wide}}      p   penalty                    partial AUC   average precision")
    for place, point in zip(places, points, strict=True):
        mark = "*" if place == found._best_place else " "
        value, error = found.mean[place], found.standard_error[place]
        penalty = " + ".join([f"{name} = {x:.2g}" for name, x in (("l1", point.l1), ("l2", point.l2)) if x])
        kind = point.kind or chosen.kind or "as given"
        judged = f"{value:.4f} ± {error:.4f}   {second[place]:17.4f}"
        print(f"  {mark} {kind:{wide}}   {point.p:4g}   {penalty:21}  {judged}")
    print()


def _choice_told(chosen: _default.Chosen | None) -> dict[str, Any]:
    """Return what a model file holds of the choice."""
    if chosen is None or chosen.cross_validation is None:
        return {}
    found = chosen.cross_validation
    compared = {"points": found.mean.size, "folds": found.scores.shape[1]}
    value, error = (float(of_all[found._best_place]) for of_all in (found.mean, found.standard_error))
    return {"chosen": {"kind": chosen.kind or None, found.metric: value, "standard_error": error, **compared}}


def _minimised(added: dict[str, Any]) -> str:
    """Say what was minimised."""
    told = [f"{name} = {added[name]:g}" for name in ("l1", "l2") if added[name]]
    told = [f"{' and '.join(told)} on the {added['penalty']}"] if told else ["no penalty"]
    if added["max_columns"] is not None:
        told.append(f"{counted(added['max_columns'], 'column')} at most")
    return f"minimised with {', '.join(told)}"


def _score_file(arguments: argparse.Namespace) -> None:
    path, label = arguments.file, arguments.label
    model = pnorm.load(arguments.model)
    source = open_source(path)
    names = names_in(source, path, label, arguments.ignore or [])
    labels = None if label is None else labels_of(source, label, "rows to measure the list by")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnknownLevelWarning)
            f = model.score(source.frame(names))
    except (ValueError, TypeError, OverflowError) as error:
        raise CommandError(f"{path_shown(arguments.model)} does not fit {path_shown(path)}: {error}") from None
    for warning in caught:
        if issubclass(warning.category, UnknownLevelWarning):
            print(f"pnorm: warning: {one_line(str(warning.message))}", file=sys.stderr)
        else:  # of a library: as Python shows it
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    y = np.zeros(f.size, bool)
    if labels is None:
        print(f"{path_shown(path)}: {counted(f.size, 'row')}")
    else:
        positive = _positive(labels, label, arguments.positive)
        y = np.array([text in positive for text in labels])
        print(f"{path_shown(path)}: {_labelled(y, label, positive)}")
    push = "bottom" if model.metadata.get("push") == "bottom" else "top"
    trained = "" if model.p is None else f", trained with p = {model.p:g}{_where(push)}"
    used = np.count_nonzero(model.lam)
    print(
        f"ranked by {path_shown(arguments.model)}: {used} of {counted(model.lam.size, 'weak ranker')} in use{trained}"
    )
    if labels is not None:
        _print_measures("On these rows", f, y, push, "")
    _print_end(f, arguments.top, labels, push)
    _write_scores(f, model.p, model.intercept, arguments.out)


def _labelled(y: NDArray[np.bool_], label: str, positive: set[str]) -> str:
    return f"{counted(y.size, 'row')}, {y.sum()} positive ({shown(label)} = {shown(' or '.join(sorted(positive)))})"


def _where(push: str) -> str:
    return " at the bottom" if push == "bottom" else ""


def _print_measures(where: str, f: NDArray[np.float64], y: NDArray[np.bool_], push: str, more: str) -> None:
    if push == "bottom":
        told = f"{pnorm.metrics.positives_at_top(-f[~y], -f[y])} of {(~y).sum()} negatives below every positive"
    else:
        told = f"{pnorm.metrics.positives_at_top(f[y], f[~y])} of {y.sum()} positives above every negative"
    print(f"{where}: {told},")
    print(f"AUC {pnorm.metrics.auc(f[y], f[~y]):.4f}{more}")


def _separating(X: NDArray[np.float64], y: NDArray[np.bool_], names: list[str]) -> list[str]:
    """Return the columns whose values of positives and of negatives do not overlap."""
    (low, high), (below, above) = [(X[side].min(axis=0), X[side].max(axis=0)) for side in (y, ~y)]
    return [names[j] for j in np.flatnonzero((low > above) | (high < below))]


def _best_first(f: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.argsort(-f, kind="stable")


def _write_scores(f: NDArray[np.float64], p: float | None, intercept: float | None, out: str | None) -> None:
    if out is not None:
        columns = {"row": np.arange(f.size), "score": f}
        if p is not None and intercept is not None:
            columns["probability"] = sigmoid(f, p, intercept)
        order = _best_first(f)
        rows = zip(*[column[order].tolist() for column in columns.values()], strict=True)
        lines = [",".join(columns), *[",".join(map(repr, row)) for row in rows], ""]
        _files.write(out, "\n".join(lines).encode())
        print(f"\nScores of {counted(f.size, 'row')}, best first: {path_shown(out)}")


def _signs(given: Sequence[str], names: list[str]) -> dict[int, int]:
    """Return the signs of columns that --monotone gives."""
    known, signs = {"+": 1, "-": -1}, dict[str, int]()
    for text in given:
        column, _, sign = text.rpartition("=")
        if sign not in known or not column:
            raise CommandError(
                f"--monotone needs a column and a sign, as in income=+ or age=-; got {_checks.shown(text)}"
            )
        if signs.setdefault(column, known[sign]) != known[sign]:
            raise CommandError(f"--monotone gives both signs to {_checks.shown(column)}")
    return _checks.monotone(signs, names, "the file")


def _rankers(
    kind: str,
    pos: NDArray[np.float64],
    neg: NDArray[np.float64],
    names: list[str],
    signs: dict[int, int],
    n_cuts: int = 31,
    linear: bool = False,
) -> pnorm.rankers.Rankers:
    if kind == "columns":
        return pnorm.rankers.columns(pos, neg, names=names, monotone=signs)
    if kind == "normalized":
        return pnorm.rankers.normalized(pos, neg, names=names, monotone=signs)
    return pnorm.rankers.quantile_thresholds(pos, neg, n_cuts, names=names, monotone=signs, linear=linear)


def _named(H: pnorm.rankers.Rankers, names: list[str]) -> pnorm.rankers.Rankers:
    """Return weak rankers that find the columns of later files by name."""
    return pnorm.rankers.from_dict({**H.to_dict(), "columns": names})


def _print_rankers(H: pnorm.rankers.Rankers, lam: NDArray[np.float64], X: NDArray[np.float64]) -> None:
    """Print what moves scores the most: columns, or weak rankers if each has a column of its own."""
    used = np.flatnonzero(lam)
    if not used.size:
        print("\nNo weak ranker is in use: every row has the same score.")
        return
    in_use = np.bincount(H.column[used], minlength=len(H.column_names))
    if (in_use > 1).any():
        of_columns, ranges = np.flatnonzero(in_use).tolist(), pnorm.explain(X, H, lam).ranges
        title, head = "columns that move the score the most", "weak rankers"
        rows = [(H.column_names[c], str(in_use[c]), float(ranges[c])) for c in of_columns]
    else:
        title, head = "weak rankers that carry the most weight", "coefficient"
        rows = [(H.names[j], f"{lam[j]:+.5g}", abs(lam[j]) * float(np.ptp(H[j](X)))) for j in used.tolist()]
    leading = sorted([(shown(name, 40), told, moves) for name, told, moves in rows], key=lambda row: -row[2])[:10]
    width = max([len(name) for name, _, _ in leading])
    print(f"\nThe {title} ({len(leading)} of {len(rows)} in use):")
    print(f"  {'':{width}}   {head:>12}   moves a score by up to")
    for name, told, moves in leading:
        print(f"  {name:{width}}   {told:>12}   {moves:22.4f}")


def _print_end(f: NDArray[np.float64], top: int | None, labels: list[str] | None, push: str) -> None:
    """Print the end of the list that the push is at."""
    few = min(10 if top is None else top, f.size)
    if few == 0:
        return
    above = f.size - few if push == "bottom" else 0
    print(f"\nThe {push} of the list:")
    print("  rank       row        score" + ("" if labels is None else "   label"))
    for rank, i in enumerate(_best_first(f)[above : above + few], start=above + 1):
        print(f"  {rank:4d}   {i:7d}   {f[i]:10.4f}" + ("" if labels is None else f"   {shown(labels[i])}"))


def _positive(labels: list[str], column: str, wanted: str | None) -> set[str]:
    """Return the labels that mean positive, in all their spellings; refuse a column with one kind of rows."""
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
    if not positive:
        raise CommandError(f"say which label in column {name} is positive with --positive; its labels are {few}")
    return positive
