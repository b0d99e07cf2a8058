"""The list of the command on Adult beside boosted trees, logistic regression on steps and other lists, over ten splits.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/adult_rivals.py    # an hour on one core
    PNORM_DATA=... python benchmarks/adult_rivals.py --out adult.json --only steps    # one stage, added to a file

Needs scikit-learn 1.8 or newer. Each split is that of `pnorm adult.data.gz --budget 1000 --seed S`, with S from 0 to 9:
a fifth of the rows is held out. All lists see the same rows to train on. "this list, p = 1" is `pnorm -p 1`.

The boosted trees are scikit-learn's HistGradientBoostingClassifier, with text columns as categories and "?" as a
missing value. Five-fold cross-validation on the rows to train on chooses the number of trees and the weight of a
negative, by the largest partial AUC up to 1 % of false positives, as the command chooses. The lists "as they come" have
the settings of the library, which are 100 trees at most. Without interactions, ``interaction_cst="no_interactions"``,
trees are a sum over columns too.

"logistic steps" are scikit-learn's LogisticRegression with an l1 penalty. Its columns are steps as those of
the push: cuts at quantiles, at most 127 of a column, and an indicator of each level of text. C and the weight of a
negative are chosen as above.

The first table has the positives in the first 1,000 held-out rows, and the second "this list less the other list": the
mean difference, its standard error, which is corrected for rows that splits share, the smallest and largest difference,
and the numbers of splits above, equal to and below zero. The third table counts the settings that were chosen.

A stage that --out has of a split is not measured again. --only measures some stages; the tables have the lists of all
stages that were measured.
"""

import json
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).parent))
from reproduce import print_columns
from shared import corrected_error, data_folder, parser_of

import pnorm
from pnorm._job import hold_out
from pnorm._job.baselines import CURVES, LINEAR
from pnorm._job.learn import Settings
from pnorm._job.tested import Tested, tested

BUDGET, SPLITS = 1000, range(10)
TREES, CS, WEIGHTS = (100, 200, 300, 400, 500), (0.1, 0.3, 1, 3), (1, 4, 16)
"""Settings to choose from: how many trees, the C of logistic regression, and how often a negative counts."""

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)

CUTS = 127
"""Largest number of cuts of a column: all values of all columns but fnlwgt are apart, as with the 255 of the push."""

TOL = 1e-3
"""Tolerance of logistic regression. A fifth of it changed the partial AUC of one fold by 0.001 at most."""

THIS, NO_PUSH = "this list", "this list, p = 1"
BOOSTED, ADDITIVE, STEPS = "boosted trees", "additive trees", "logistic steps"
AS_THEY_COME = {f"{name}, as they come": name for name in (BOOSTED, ADDITIVE)}
RIVALS = NO_PUSH, STEPS, ADDITIVE, BOOSTED, *AS_THEY_COME, CURVES, LINEAR


COLUMNS = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
           "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"]  # fmt: skip


def table():
    """Return the rows, with missing values, and which of them are positive."""
    frame = pd.read_csv(data_folder() / "adult.data.gz", names=COLUMNS, skipinitialspace=True)
    y = (frame.pop("income") == ">50K").to_numpy()
    return frame.mask(frame == "?"), y


def split(seed, **how) -> Tested:
    """Return what the command finds on a split."""
    frame, y = table()
    settings = Settings(cutoff={"budget": BUDGET}, seed=seed, **how)
    return tested(frame, y, hold_out.share(y, seed=seed), settings, units=None)


def parts(seed):
    """Return the rows of a split to train on and those to rank, each with their labels."""
    frame, y = table()
    held = hold_out.share(y, seed=seed)
    return (frame[~held], y[~held]), (frame[held], y[held])


def of_command(seed):
    """Return the positives in the first rows of a split by the command, without the push too, and by its baselines."""
    found = split(seed)
    lists = {THIS: found.scores, NO_PUSH: split(seed, p=1, compare=False, n_top=0).scores, **found.others}
    return {name: (first_hits(f, found.held_out[1]),) for name, f in lists.items()}


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
    for train, test in FOLDS.split(rows, y):
        for i, weight in enumerate(WEIGHTS):
            model = trees(name, rows.iloc[train], y[train], weight, max_iter=TREES[-1], early_stopping=False)
            for k, f in enumerate(model.staged_decision_function(rows.iloc[test]), 1):
                if k in TREES:
                    found[i, TREES.index(k)] += roc_auc_score(y[test], f, max_fpr=0.01)
    i, k = np.unravel_index(np.argmax(found), found.shape)
    return TREES[k], WEIGHTS[i]


def of_trees(seed):
    """Return the positives in the first rows of a split by boosted trees, and the settings chosen, if any."""
    (frame, y), (held, y_held) = parts(seed)
    rows, new = as_categories(frame, held)
    found = {}
    for name in (ADDITIVE, BOOSTED):
        n, weight = choice(name, rows, y)
        best = trees(name, rows, y, weight, max_iter=n, early_stopping=False)
        found[name] = first_hits(best.decision_function(new), y_held), n, weight
    for name, of in AS_THEY_COME.items():
        found[name] = (first_hits(trees(of, rows, y).decision_function(new), y_held),)
    return found


def steps(frame, y, new):
    """Return the steps of rows to train on and of rows to rank, which the former place."""
    H = pnorm.rankers.from_table(frame[y], frame[~y], n_cuts=CUTS)
    S, of_new = H.evaluate(frame), H.evaluate(new)
    # "x <= t" in the place of "x > t", where most rows are above t: the same scores and penalty, and half the time
    turned = S.mean(axis=0) > 0.5
    return [csr_array(np.where(turned, 1 - each, each)) for each in (S, of_new)]


def logistic(S, y, C, weight):
    """Return logistic regression with an l1 penalty, which hardly counts the intercept."""
    how = {"l1_ratio": 1, "solver": "liblinear", "intercept_scaling": 10, "max_iter": 1000, "random_state": 0}
    tol = TOL / weight  # of the gradient at the start, which grows with the weight
    return LogisticRegression(C=C, class_weight={0: weight, 1: 1}, tol=tol, **how).fit(S, y)


def of_steps(seed):
    """Return the positives in the first rows of a split by logistic regression on steps, and the settings chosen."""
    (frame, y), (held, y_held) = parts(seed)
    S, new = steps(frame, y, held)
    found = np.zeros((len(CS), len(WEIGHTS)))
    for train, test in FOLDS.split(S, y):
        for (i, k), _ in np.ndenumerate(found):
            f = logistic(S[train], y[train], CS[i], WEIGHTS[k]).decision_function(S[test])
            found[i, k] += roc_auc_score(y[test], f, max_fpr=0.01)
    i, k = np.unravel_index(np.argmax(found), found.shape)
    best = logistic(S, y, CS[i], WEIGHTS[k])
    return {STEPS: (first_hits(best.decision_function(new), y_held), CS[i], WEIGHTS[k])}


STAGES = {"command": of_command, "trees": of_trees, "steps": of_steps}
"""Functions from the seed of a split to lists by name: the positives in the first rows, and the settings chosen."""


def first_hits(f, y):
    """Return the positives in the first rows."""
    return BUDGET * float(pnorm.metrics.precision_at(f[y], f[~y], BUDGET))


def main(arguments=None):
    """Measure, and print the tables."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--out", type=Path, help="a file that keeps what is measured, and goes on from there")
    parser.add_argument("--only", nargs="+", choices=STAGES, default=list(STAGES), help="stages to measure")
    options = parser.parse_args(arguments)
    kept = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    for seed, stage in product(map(str, SPLITS), options.only):
        of_split = kept.setdefault(seed, {})
        if stage not in of_split:
            of_split[stage] = STAGES[stage](int(seed))
            print(f"split {seed}: {of_split[stage]}", file=sys.stderr, flush=True)
            if options.out:
                options.out.write_text(json.dumps(kept))
    print_tables([{name: of for stage in kept[str(seed)].values() for name, of in stage.items()} for seed in SPLITS])


def print_tables(runs):
    """Print the tables of the hits of each split and list, and of the settings that were chosen."""
    measured = [name for name in (THIS, *RIVALS) if all(name in run for run in runs)]
    hits = {name: np.array([run[name][0] for run in runs]) for name in measured}
    lines = [["positives in the first 1,000", *[f"split {seed}" for seed in SPLITS], "mean"]]
    for name, of in hits.items():
        lines.append([name, *[f"{x:.0f}" for x in of], f"{np.mean(of):.1f}"])
    print_columns(lines)
    print()
    lines = [["this list less", "mean", "error", "smallest", "largest", "above", "equal", "below"]]
    for name in measured[1:] if THIS in measured else ():
        by = np.round(hits[THIS] - hits[name], 6)
        lines.append([name, f"{by.mean():+.1f}", f"{corrected_error(by, 1 / 4):.1f}"])
        lines[-1] += [f"{by.min():+.0f}", f"{by.max():+.0f}"]
        lines[-1] += [f"{(np.sign(by) == sign).sum()}" for sign in (1, 0, -1)]
    print_columns(lines)
    print()
    lines = [["settings chosen", "trees or C", "weight of a negative", "splits"]]
    for name in [name for name in measured if runs[0][name][1:]]:
        counts = Counter(tuple(run[name][1:]) for run in runs)
        lines += [[name, f"{n}", f"{weight}", f"{count}"] for (n, weight), count in sorted(counts.items())]
    print_columns(lines)


if __name__ == "__main__":
    main()
