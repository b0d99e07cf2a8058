"""The list of the command on Adult beside boosted trees and other lists of the same rows, over ten splits.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/adult_trees.py    # half an hour on one core; needs scikit-learn

Each split is that of `pnorm adult.data.gz --budget 1000 --seed S`, with S from 0 to 9: a fifth of the rows is held out.
The boosted trees are scikit-learn's HistGradientBoostingClassifier. They get the rows that the command trains on, with
text columns as categories and "?" as a missing value. Five-fold cross-validation on these rows chooses the number of
trees and the weight of a negative, by the largest partial AUC up to 1 % of false positives, as the command chooses. The
lists "as they come" have the settings of the library, which are 100 trees at most. Without interactions,
``interaction_cst="no_interactions"``, trees are a sum over columns too. "this list, p = 1" is `pnorm -p 1`.

The first table has the positives in the first 1,000 held-out rows, and the second "this list less the other list": the
mean difference, its standard error, which is corrected for rows that splits share, the smallest and largest difference,
and the numbers of splits above, equal to and below zero. The third table counts the settings that were chosen.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).parent))

from mixed import adult
from public_sets import corrected_error

import pnorm
from pnorm._command.reproduce import print_columns
from pnorm._job import hold_out
from pnorm._job.baselines import CURVES, LINEAR
from pnorm._job.tested import Tested, tested

BUDGET, SPLITS = 1000, range(10)
TREES, WEIGHTS = (100, 200, 300, 400, 500), (1, 4, 16)
"""Settings of boosted trees to choose from: how many, and how often a negative counts."""

THIS, NO_PUSH = "this list", "this list, p = 1"
BOOSTED, ADDITIVE = "boosted trees", "additive trees"
AS_THEY_COME = {f"{name}, as they come": name for name in (BOOSTED, ADDITIVE)}
RIVALS = NO_PUSH, ADDITIVE, BOOSTED, *AS_THEY_COME, CURVES, LINEAR


def split(seed, **how) -> Tested:
    """Return what the command finds on a split."""
    frame, y = adult()
    return tested(frame.mask(frame == "?"), y, hold_out.share(y, seed=seed), budget=BUDGET, seed=seed, **how)


def as_categories(frame, new):
    """Return rows of a split to train on and rows to rank, with text as categories of the rows to train on."""
    text = frame.select_dtypes(["object", "string"]).columns
    levels = {name: pd.CategoricalDtype(sorted(frame[name].dropna().unique())) for name in text}
    known = {name: new[name].where(new[name].isin(dtype.categories)) for name, dtype in levels.items()}
    return frame.astype(levels), new.assign(**known).astype(levels)


def trees(name, rows, y, weight=1, **settings):
    """Return boosted trees, without interactions if they are to be additive."""
    how = {"interaction_cst": "no_interactions"} if name == ADDITIVE else {}
    model = HistGradientBoostingClassifier(random_state=0, **how, **settings)
    return model.fit(rows, y, sample_weight=np.where(y, 1, weight))


def choice(name, rows, y):
    """Return the number of trees and the weight of a negative that cross-validation chooses."""
    found = np.zeros((len(WEIGHTS), len(TREES)))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(rows, y):
        for i, weight in enumerate(WEIGHTS):
            model = trees(name, rows.iloc[train], y[train], weight, max_iter=TREES[-1], early_stopping=False)
            for k, f in enumerate(model.staged_decision_function(rows.iloc[test]), 1):
                if k in TREES:
                    found[i, TREES.index(k)] += roc_auc_score(y[test], f, max_fpr=0.01)
    i, k = np.unravel_index(np.argmax(found), found.shape)
    return TREES[k], WEIGHTS[i]


def of_trees(found):
    """Return the positives in the first rows of a split by boosted trees, and the settings chosen."""
    (frame, y), (held, y_held) = found.training, found.held_out
    rows, new = as_categories(frame, held)
    hits, chosen = {}, {}
    for name in (ADDITIVE, BOOSTED):
        chosen[name] = n, weight = choice(name, rows, y)
        best = trees(name, rows, y, weight, max_iter=n, early_stopping=False)
        hits[name] = first_hits(best.decision_function(new), y_held)
    for name, of in AS_THEY_COME.items():
        hits[name] = first_hits(trees(of, rows, y).decision_function(new), y_held)
    return hits, chosen


def first_hits(f, y):
    """Return the positives in the first rows."""
    return BUDGET * float(pnorm.metrics.precision_at(f[y], f[~y], BUDGET))


def main():
    """Print the tables."""
    runs, chosen = [], []
    for seed in SPLITS:
        found = split(seed)
        y = found.held_out[1]
        lists = {THIS: found.scores, NO_PUSH: split(seed, p=1, compare=False, n_top=0).scores, **found.others}
        hits, settings = of_trees(found)
        runs.append({name: first_hits(f, y) for name, f in lists.items()} | hits)
        chosen.append(settings)
        print(f"split {seed}: {runs[-1]} {settings}", file=sys.stderr, flush=True)
    print_tables(runs, chosen)


def print_tables(runs, chosen):
    """Print the tables of the hits of each split and list, and of the settings of boosted trees."""
    lines = [["positives in the first 1,000", *[f"split {seed}" for seed in SPLITS], "mean"]]
    for name in (THIS, *RIVALS):
        of = [run[name] for run in runs]
        lines.append([name, *[f"{x:.0f}" for x in of], f"{np.mean(of):.1f}"])
    print_columns(lines)
    print()
    lines = [["this list less", "mean", "error", "smallest", "largest", "above", "equal", "below"]]
    for name in RIVALS:
        by = np.round([run[THIS] - run[name] for run in runs], 6)
        lines.append([name, f"{by.mean():+.1f}", f"{corrected_error(by, 1 / 4):.1f}"])
        lines[-1] += [f"{by.min():+.0f}", f"{by.max():+.0f}"]
        lines[-1] += [f"{(np.sign(by) == sign).sum()}" for sign in (1, 0, -1)]
    print_columns(lines)
    print()
    lines = [["settings chosen", "trees", "weight of a negative", "splits"]]
    for name in (ADDITIVE, BOOSTED):
        counts = Counter(settings[name] for settings in chosen)
        lines += [[name, f"{n}", f"{weight}", f"{count}"] for (n, weight), count in sorted(counts.items())]
    print_columns(lines)


if __name__ == "__main__":
    main()
