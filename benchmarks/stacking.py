"""Join the scores of several kinds of trees: the tables of the page "Stacking".

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/stacking.py --out stacking.json    # to measure
    python benchmarks/stacking.py --show stacking.json [--rst doc/_outputs/stacking.inc]  # to write the tables again

Random splits, stratified, two thirds to train on and one third to judge by; of magic, adult and bank at most 9,000 rows
to train on. Three kinds of trees, LightGBM, HistGradientBoosting and ExtraTrees, score each training row by models of
the four fifths that it is not in. These scores, as log-odds, are three columns. `pnorm.minimize` joins them, with p = 4
and p = 1 and a small penalty; its certificate says how far the sum is from the best one. Logistic regression without a
penalty and the plain mean are the other ways. Then each kind of trees learns from all training rows, and the sums are
taken to the rows to judge by.

The differences are to LightGBM alone, with their standard errors, corrected for splits that share rows (Nadeau and
Bengio, 2003), and the number of splits with more.
"""

import json
import sys
from pathlib import Path

import numpy as np
from lightgbm import LGBMClassifier
from reproduce import print_columns
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import pnorm

sys.path.insert(0, str(Path(__file__).parent))
from command_line import parser_of
from public_sets import READERS, compared, few, measured, over_splits
from tables import list_table

SPLITS = {"pima": 10, "spambase": 5, "magic": 5, "adult": 5, "bank": 5}
FOLDS = 5
TREES = {
    "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=1, random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "ExtraTrees": lambda: ExtraTreesClassifier(200, min_samples_leaf=2, random_state=0),
}
PENALTY = 1e-3


def log_odds(make, X, y, judged):
    """Scores of other rows by one model, no further out than a share of 1e-4."""
    share = np.clip(make().fit(X, y).predict_proba(judged)[:, 1], 1e-4, 1 - 1e-4)
    return np.log(share / (1 - share))


def out_of_fold(make, X, y):
    """Scores of all rows, each by a model that has not seen it."""
    f = np.empty(len(y))
    for train, held in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        f[held] = log_odds(make, X[train], y[train], X[held])
    return f


def split(data, train, test):
    """All ways on one split: measures, and weights."""
    X, y, train = data.indicators(), data.y, few(train)
    inner = np.stack([out_of_fold(make, X[train], y[train]) for make in TREES.values()], axis=1)
    outer = np.stack([log_odds(make, X[train], y[train], X[test]) for make in TREES.values()], axis=1)
    scores, found = dict(zip(TREES, outer.T, strict=True)), {}
    scores["mean"] = outer.mean(axis=1)
    lam = LogisticRegression(C=np.inf, max_iter=1000).fit(inner, y[train]).coef_[0]
    scores["logistic weights"] = outer @ lam
    for p in (1, 4):
        lam, trace = pnorm.minimize(inner[y[train] == 1], inner[y[train] == 0], p=p, l2=PENALTY)
        scores[f"push, p = {p}"] = pnorm.score(outer, None, lam)
        found[f"push, p = {p}"] = {"weights": lam.tolist(), "gap": trace.gap}
    return {name: measured(f, y[test]) | found.get(name, {}) for name, f in scores.items()}


def tables(found):
    """By set, a title, the lines of a table, and what became of the push."""
    for name, of in found.items():
        runs = of["runs"]
        push = [run["push, p = 4"] for run in runs]
        weights = zip(np.mean([x["weights"] for x in push], axis=0), TREES, strict=True)
        words = ", ".join(f"{weight:.2f} {trees}" for weight, trees in weights)
        title = f"{name}: {of['rows']} rows, {of['positives']} positive; {len(runs)} splits"
        note = f"push, p = 4: {words} in the mean; largest gap {max(x['gap'] for x in push):.1e}"
        yield title, compared(runs, "LightGBM"), note


def show(found, rst=None):
    """Print the tables, or write them for the documentation."""
    if rst:
        pages = [
            f"{title}\n{'-' * len(title)}\n\n{list_table(lines, ':class: dense')}\n{note}.\n"
            for title, lines, note in tables(found)
        ]
        rst.write_text("\n".join(pages).replace(" \u00b1", "\u00a0\u00b1\u00a0"), encoding="utf-8")
        return
    for title, lines, note in tables(found):
        print(f"\n{title}")
        print_columns(lines)
        print(note)


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--set", action="append", choices=READERS, help="only this one; may be repeated")
    parser.add_argument("--splits", type=int, help="how many, for every set")
    parser.add_argument("--out", type=Path, help="add every number to this file")
    parser.add_argument("--show", type=Path, help="print the tables of a file written before")
    parser.add_argument("--rst", type=Path, help="with --show, write them here instead, for doc/_outputs/stacking.inc")
    arguments = parser.parse_args()
    if arguments.show:
        show(json.loads(arguments.show.read_text()), arguments.rst)
    else:
        n_splits = {name: arguments.splits or SPLITS.get(name, 5) for name in arguments.set or SPLITS}
        show(over_splits(n_splits, split, arguments.out, READERS))
