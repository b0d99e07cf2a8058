"""The command without a FILE: the push on simulated insurance claims, drawn in the terminal."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm._command.terminal import is_styled, program

POWERS = (1.0, 4.0, 16.0)
ROUNDS = 200
PAID = 1000
"""Number of held-out claims that are paid."""
PER_MARK = 20
"""Number of paid claims in a mark of the chart."""

DRAWS = 200
OVER_DRAWS = {1.0: 52.3, 4.0: 30.9, 16.0: 22.9}
"""Wrong claims among those paid, mean over `DRAWS` draws; printed by benchmarks/demonstration.py."""
GAIN, GAIN_ERROR = 21.4, 0.4
"""Wrong claims less for p = 4 than for p = 1, and its standard error; from there too."""
LOGISTIC, WEIGHTED, CURVED = 76.8, 20.8, 25.5
"""Wrong claims with logistic regression: plain, with a weight of 1,000 on the wrong claims, and on curves with a weight
by cross-validation; from there too."""
BY_DEFAULT, DRAWS_BY_DEFAULT = 27.4, 200
"""Wrong claims with `pnorm.sklearn.PNormPush()`, and the draws; from there too, for the documentation."""
BY_THREE, BY_TREES = 23.3, 15.3
"""Wrong claims with ``PNormPush(p=[1, 4, 16])`` and with gradient boosting; from there too, for the documentation."""

_BARS, _DIGITS = "▁▃▅▇█", ".123456789+"
"""Marks by the number of wrong claims, the last one for more; in Unicode and in ASCII."""
_GREEN, _RED, _BOLD, _END = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"
_WIDEST = 80


@dataclass(frozen=True)
class Run:
    """The held-out list of one p."""

    p: float
    wrong: NDArray[np.int64]
    """Number of wrong claims in each mark, best claims first."""
    auc: float


@dataclass(frozen=True)
class Screen:
    """The size and abilities of the output."""

    width: int
    unicode: bool
    colour: bool


def show(arguments: argparse.Namespace) -> None:
    """Train on simulated claims, and print what the held-out ones are worth."""
    given = arguments.p is not None or arguments.t is not None
    powers = POWERS if arguments.p is None else tuple(dict.fromkeys((1.0, *arguments.p)))
    rounds = ROUNDS if arguments.t is None else arguments.t
    data = pnorm.datasets.insurance_claims(seed=arguments.seed or 0)
    runs = list(_runs(data, powers, rounds))
    print("\n".join(lines(runs, data, of_stdout(), over_draws=not given)))


def _runs(data: Any, powers: Sequence[float], rounds: int) -> Iterator[Run]:
    """Learn from the first half of the rows, and rank the second."""
    half = data.y.size // 2
    X, y, held, label = data.X[:half], data.y[:half], data.X[half:], data.y[half:]
    pos, neg = X[y == 1], X[y == 0]
    H = pnorm.rankers.normalized(pos, neg)
    for p in powers:
        f = pnorm.score(held, H, pnorm.train(pos, neg, H, p, rounds)[0])
        paid = label[np.argsort(-f, kind="stable")[:PAID]]
        wrong = (paid == 0).reshape(-1, PER_MARK).sum(axis=1)
        yield Run(p, wrong, pnorm.metrics.auc(f[label == 1], f[label == 0]))


def of_stdout() -> Screen:
    """Return what the standard output can show."""
    try:
        _BARS.encode(sys.stdout.encoding or "ascii")
        shown = True
    except (UnicodeEncodeError, LookupError):
        shown = False
    return Screen(shutil.get_terminal_size().columns, shown, is_styled())


def lines(runs: Sequence[Run], data: Any, screen: Screen, over_draws: bool) -> list[str]:
    """Return what is printed, line by line."""
    width = max(20, min(screen.width, _WIDEST) - 1)
    held = data.y[data.y.size // 2 :]

    def paragraph(text: str) -> list[str]:
        plain = text if screen.unicode else text.replace("±", "+/-")
        for sign in ("=", "±", "+/-"):  # no line ends inside p = 4
            plain = plain.replace(f" {sign} ", f"\0{sign}\0")
        wrapped = textwrap.wrap(plain, width, break_long_words=False, break_on_hyphens=False)
        return ["", *[line.replace("\0", " ") for line in wrapped]]

    title = textwrap.wrap("Which insurance claims can be paid without review?", width)
    made = [_painted(line, _BOLD, screen) for line in title]
    made += paragraph(
        f"{data.y.size - held.size:,} simulated claims to train on, {held.size:,} held out. A weighted sum of six "
        f"columns ranks them; the best {PAID:,} are paid. At random {PAID * (held == 0).mean():.0f} would be wrong."
    )
    made += ["", *_chart(runs, screen, width), *_legend(screen, width)]
    made += paragraph(_gain(runs))
    if over_draws:
        default = f"On curves, PNormPush() has {BY_DEFAULT:g}, and tuned logistic regression {CURVED:g}"
        means = ", ".join(f"{mean:g} with p = {p:g}" for p, mean in OVER_DRAWS.items())
        made += paragraph(
            f"Means over {DRAWS} such draws: {means}, {LOGISTIC:g} with logistic regression, {WEIGHTED:g} if that "
            f"weighs wrong claims by 1,000. p = 4 has {GAIN:g} ± {GAIN_ERROR:g} (standard error) fewer than p = 1. "
            f"{default} (benchmarks/demonstration.py)."
        )
    return [*made, "", *_next(width)]


def _gain(runs: Sequence[Run]) -> str:
    """Return what the chart shows, in words."""
    first, *others = runs
    if not others:
        return "p = 1 gives no extra weight to the wrong claims near the top. Compare it with -p 4."
    changes = []
    for run in others:
        fewer = int(first.wrong.sum() - run.wrong.sum())
        amount = f"{abs(fewer)} {'fewer' if fewer > 0 else 'more'}" if fewer else "as many"
        changes.append(f"{amount} with p = {run.p:g}")
    return (
        f"Wrong claims paid: {first.wrong.sum()} with p = 1, {', '.join(changes)}. A larger p gives more weight to the "
        f"top, so the AUC goes from {first.auc:.4f} to {others[-1].auc:.4f}."
    )


def _chart(runs: Sequence[Run], screen: Screen, width: int) -> list[str]:
    """Return a strip of marks for each run, on as many lines as it needs, with its numbers."""
    labels = [f"p = {run.p:g}" for run in runs]
    indent = 2 + max(map(len, labels)) + 2
    marks = next((n for n in (50, 25) if indent + n + 16 <= width), 10)
    head = "best claims first"
    made = [f"{head:{marks}}".rjust(indent + marks) + "  wrong     AUC"]
    for label, run in zip(labels, runs, strict=True):
        for start in range(0, run.wrong.size, marks):
            strip = _strip(run.wrong[start : start + marks], screen)
            if start == 0:
                made.append(f"  {label:{indent - 2}}{strip}  {run.wrong.sum():5}  {run.auc:.4f}")
            else:
                made.append(" " * indent + strip)
    return made


def _strip(wrong: NDArray[np.int64], screen: Screen) -> str:
    """Return a mark for each number of wrong claims."""
    marks = _BARS if screen.unicode else _DIGITS
    runs = groupby(wrong.tolist(), key=lambda n: n > 0)
    return "".join(
        _painted("".join(marks[min(n, len(marks) - 1)] for n in some), _RED if bad else _GREEN, screen)
        for bad, some in runs
    )


def _legend(screen: Screen, width: int) -> list[str]:
    """Return what the marks mean."""
    if screen.unicode:
        meaning = f"{_BARS[0]} none wrong, {_BARS[1]} 1, {_BARS[2]} 2, {_BARS[3]} 3, {_BARS[4]} 4 or more"
    else:
        meaning = f"{_DIGITS[0]} none wrong, otherwise their number, + more than 9"
    text = f"Each mark is {PER_MARK} claims: {meaning}"
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ")


def _next(width: int) -> list[str]:
    """Return what to do next; no command is broken."""
    interpreter = os.path.basename(sys.executable).removesuffix(".exe")
    command, python = program("pnorm", sys.argv[0]), program(interpreter, sys.executable)
    steps = {
        f"{command} FILE --label COLUMN": "rank your own table",
        f'{python} -c "import pnorm; help(pnorm.train)"': "train in Python",
        "doc/tutorials/first_steps.rst": "the tutorial",
    }
    room = max(map(len, steps)) + 2
    beside = 2 + room + max(map(len, steps.values())) <= width
    made = ["Next:"]
    for step, what in steps.items():
        made += [f"  {step:{room}}{what}"] if beside else [f"  {step}", f"    {what}"]
    return made


def _painted(text: str, colour: str, screen: Screen) -> str:
    return f"{colour}{text}{_END}" if screen.colour else text
