"""The command on a file, with other splits: this list beside the other lists.

    OMP_NUM_THREADS=1 python benchmarks/splits.py [WORDS ...]     # two minutes on one core for examples/leads.csv

WORDS are what is typed after `pnorm`, without --seed; by default examples/leads.csv --label bought --id lead. The
command runs with --seed 1 to 9, and each seed holds out another fifth of the rows; "p = 1" is its list with -p 1, where
WORDS have no -p. Means of its measures are printed, and the differences "this list less the other list": their mean,
its standard error, which is corrected for rows that splits share, the smallest and largest value, and in how many
splits they are above, equal to and below zero. The best column is that with the largest AUC in training; it may differ
by split. Boosted trees need scikit-learn.
"""

import contextlib
import io
import os
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from reproduce import print_columns
from shared import corrected_error, parser_of

from pnorm._command.main import main as command

SEEDS = range(1, 10)
LEADS = ["examples/leads.csv", "--label", "bought", "--id", "lead"]
MEASURES = ("precision in the first ", "partial AUC", "average precision", "AUC")
"""Prefixes of the printed names of measures; of several depths the first one is taken."""

RIVALS = ("linear model", "logistic curves", "boosted trees", "best column")


def measured(words):
    """Return by measure the values of this list and of its rivals, as the command prints them."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if command(words) != 0:
            raise SystemExit("the command failed")
    lines = iter(printed.getvalue().splitlines())
    next(line for line in lines if line.lstrip().startswith("this list "))
    found = {}
    for line in lines:
        name, *cells = re.split(r" {2,}", line.strip())
        of = next((of for of in MEASURES if name.startswith(of)), None)
        if of is not None and len(cells) == 3 + len(RIVALS):
            mine, _, *others = cells  # the interval comes second, the random order last
            found.setdefault(of.strip(), (name, [float(x) for x in (mine, *others[:-1])]))
        if len(found) == len(MEASURES):
            return dict(found.values())
    raise SystemExit("the print of the command has no such table")


def main(words):
    """Print the comparison over the seeds."""
    os.environ["COLUMNS"] = "200"  # all columns of the table
    runs, rivals = [measured([*words, "--seed", str(seed)]) for seed in SEEDS], list(RIVALS)
    if "-p" not in words:
        rivals.append("p = 1")
        for seed, run in zip(SEEDS, runs, strict=True):
            without_push = measured([*words, "--seed", str(seed), "-p", "1"])
            for name, values in run.items():
                values.append(without_push[name][0])
    print(f"pnorm {' '.join(words)}, --seed {SEEDS[0]} to {SEEDS[-1]}\n")
    values = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    print_columns([
        ["means", "this list", *rivals],
        *[[name, *[f"{x:.3f}" for x in of.mean(0)]] for name, of in values.items()],
    ])  # fmt: skip
    print()
    lines = [["this list less", "mean", "error", "smallest", "largest", "above", "equal", "below"]]
    for name, of in values.items():
        lines.append([name, *[""] * 7])
        for k, rival in enumerate(rivals, 1):
            by = of[:, 0] - of[:, k]
            counts = [f"{(np.sign(by.round(9)) == sign).sum()}" for sign in (1, 0, -1)]
            ends = [f"{x:+.3f}" for x in (by.min(), by.max())]
            lines.append([f"  {rival}", f"{by.mean():+.3f}", f"{corrected_error(by, 1 / 4):.3f}", *ends, *counts])
    print_columns(lines)


if __name__ == "__main__":
    _, words = parser_of(__file__, __doc__).parse_known_args()
    main(words or LEADS)
