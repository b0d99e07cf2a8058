"""Command lines of the scripts, and public sets in random splits."""

import argparse
import csv
import gzip
import io
import json
import os
import re
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pnorm
from pnorm import metrics


def parser_of(file, text):
    """Return a parser for a script. Its help is the docstring, with the needs and the time that README.md has."""
    table = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    needs, takes = re.search(rf"^\| `{Path(file).name}` \|.*\| (.*?) ?\| (.*) \|$", table, re.MULTILINE).groups()
    needed = {"data": "PNORM_DATA", "rivals": "the group rivals"}
    named = " and ".join(needed.get(need, need) for need in needs.split(", ") if need) or "no more than the extra test"
    return argparse.ArgumentParser(
        prog=f"python benchmarks/{Path(file).name}",
        description=text,
        epilog=f"Takes {takes}. Needs {named} (benchmarks/README.md).",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def data_folder():
    """Return the folder that PNORM_DATA names, or end the script with a line that says what to set."""
    named = os.environ.get("PNORM_DATA")
    if not named or not Path(named).is_dir():
        found = f"there is no folder {named}" if named else "it is not set"
        raise SystemExit(
            f"PNORM_DATA must name the folder of the public data sets; {found}. "
            "benchmarks/README.md and help(pnorm.datasets) describe the files"
        )
    return Path(named)


def list_table(lines, option):
    """Lines of cells as reStructuredText, the first one the header; an option such as ``:class: dense``."""
    rows = "".join("   * - " + "\n     - ".join(line) + "\n" for line in lines)
    return f".. list-table::\n   :header-rows: 1\n   {option}\n\n{rows}"


OVERLAP = 0.5
"""Rows to judge by for each row to train on: see `splits`."""
MOST_ROWS = 9_000
"""Rows to train on in a study of many fits, at most."""


@dataclass(frozen=True)
class Mixed:
    """Rows of numbers and categories; a category is the number of its level."""

    X: Any
    y: Any
    category: Any
    """Which columns are categories, (d,)."""

    def indicators(self):
        """Rows of numbers only: a category becomes a column for each of its levels."""
        of_levels = [self.X[:, [j]] == np.unique(self.X[:, j]) for j in np.flatnonzero(self.category)]
        return np.hstack([self.X[:, ~self.category], *of_levels]).astype(np.float64)


def dense(name):
    """A set of `pnorm.datasets` as rows of numbers."""
    data = getattr(pnorm.datasets, name)()
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    return Mixed(np.asarray(X, np.float64), data.y, np.zeros(X.shape[1], bool))


def housing():
    """Which houses are dear: a median value above 25,000 dollars, from the other thirteen columns."""
    A = np.loadtxt(data_folder() / "housing.csv", delimiter=",")
    return Mixed(A[:, :-1], (A[:, -1] > 25.0).astype(int), np.zeros(A.shape[1] - 1, bool))


def adult():
    """Who earns more than 50,000 dollars a year; without fnlwgt, which weighs a sample."""
    return _mixed("adult.data.gz", ",", ">50K", left_out=2)


def bank():
    """Which calls of a bank sell a deposit; without the duration, which is known after the call only."""
    return _mixed("bank-full.csv.gz", ";", "yes", left_out=11, header=1)


def _mixed(file, delimiter, positive, left_out, header=0):
    """Rows of a file of text, whose last column is the label."""
    with gzip.open(data_folder() / file, "rt") as lines:
        rows = [row for row in csv.reader(io.StringIO(lines.read()), delimiter=delimiter, skipinitialspace=True) if row]
    *columns, label = zip(*rows[header:], strict=True)
    del columns[left_out]
    numbers, category = [], []
    for column in columns:
        try:
            numbers.append(np.array(column, np.float64))
        except ValueError:
            numbers.append(np.unique(column, return_inverse=True)[1].astype(np.float64))
            category.append(len(numbers) - 1)
    is_category = np.isin(range(len(numbers)), category)
    return Mixed(np.stack(numbers, 1), (np.array(label) == positive).astype(int), is_category)


READERS = {name: partial(dense, name) for name in ("pima", "ionosphere", "wdbc", "spambase", "magic", "a9a")}
READERS |= {"housing": housing, "adult": adult, "bank": bank}
"""How to read the sets on which additive scores are compared."""


def splits(data, n):
    """Rows to train on and rows to judge by, two thirds and one third, stratified, n times."""
    from sklearn.model_selection import StratifiedShuffleSplit

    return StratifiedShuffleSplit(n, test_size=1 / 3, random_state=0).split(np.zeros(len(data.y)), data.y)


def few(train):
    """At most `MOST_ROWS` of the rows to train on, which are in random order."""
    return train[:MOST_ROWS]


def over_splits(n_splits, judged, out):
    """Return by set what `judged(data, train, test)` finds in each split, as a dictionary.

    A file keeps what is known after each split. What is found anew takes the place of what it had.

    n_splits : the number of splits of each set of `READERS`.
    """
    data_folder()
    found = json.loads(out.read_text()) if out and out.exists() else {}
    for name, n in n_splits.items():
        data, runs = READERS[name](), []
        known = found.get(name, {}).get("runs", [])
        for i, (train, test) in enumerate(splits(data, n)):
            runs.append((known[i] if i < len(known) else {}) | judged(data, train, test))
            print(f"\r{name}: split {len(runs)}", end="", file=sys.stderr, flush=True)
            found[name] = {"rows": len(data.y), "positives": int(data.y.sum()), "runs": runs + known[len(runs) :]}
            if out:
                out.write_text(json.dumps(found))
        print(file=sys.stderr)
    return found


MEASURES = {
    "pAUC 1 %": lambda pos, neg: metrics.partial_auc(pos, neg, 0.01, standardized=True),
    "precision 1 %": lambda pos, neg: metrics.precision_at(pos, neg, 0.01),
    "AP": metrics.average_precision,
    "AUC": metrics.auc,
}


def measured(f, y):
    """Every measure of one list."""
    return {name: float(measure(f[y == 1], f[y == 0])) for name, measure in MEASURES.items()}


def corrected_error(differences, overlap=OVERLAP):
    """Standard error of a mean over splits that share rows (Nadeau and Bengio, 2003).

    `overlap` is the number of rows to judge by for each row to train on.
    """
    d = np.asarray(differences)
    return float(d.std(ddof=1) * np.sqrt(1 / d.size + overlap))


def compared(runs, base):
    """A line per method: means of the measures, and differences to one of them with their errors.

    Each method is compared on the splits for which there are both.
    """
    lines = [["method", *MEASURES]]
    for method in {name: None for run in runs for name in run}:
        cells = []
        for measure in MEASURES:
            both = [run for run in runs if method in run and base in run]
            values, of_base = (np.array([run[which][measure] for run in both]) for which in (method, base))
            d = values - of_base
            cell = f"{values.mean():.3f}"
            if method != base:
                cell += f" {d.mean():+.3f} \u00b1{corrected_error(d):.3f} ({(d > 0).sum()}:{(d < 0).sum()})"
            cells.append(cell)
        lines.append([method, *cells])
    return lines
