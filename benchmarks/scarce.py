"""Few positive rows to train on: the estimator as it is by default, beside the lists that the command compares with.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/scarce.py [--draws 6]     # half an hour; needs scikit-learn

Each draw takes 50, 100, 200 or 400 positives of a set to train on, with as many negatives as its share of positives
asks for, and 6,000 other rows to judge by. Lines with more than 9,000 negatives are left out. The leads are those of
`benchmarks/mixed.py`. Printed are the mean average precision of `PNormPush()`, and by how much that of another list is
larger: the mean over the draws and its standard error. The line "all sets" is the mean over the sets. "simplest" is the
simplest candidate within one standard error of the best, with the same cross-validation.
"""

import warnings

import numpy as np
import pandas as pd
from command_line import parser_of
from mixed import adult, bank, leads
from public_sets import READERS

from pnorm import metrics
from pnorm._default import MADE
from pnorm._job.baselines import CURVES, LINEAR, TREES, baselines
from pnorm.sklearn import PNormPush

POSITIVES = (50, 100, 200, 400)
MOST_NEGATIVES, JUDGED = 9_000, 6_000
METHODS = ("simplest", LINEAR, CURVES, TREES)


def numbers(name):
    """A set of numbers as a frame."""
    data = READERS[name]()
    return pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.X.shape[1])]), data.y.astype(bool)


SETS = {
    "adult": adult,
    "bank": bank,
    "leads": leads,
    "magic": lambda: numbers("magic"),
    "spambase": lambda: numbers("spambase"),
}


def drawn(rng, y, n_pos):
    """Rows to train on, and rows to judge by."""
    pos, neg = (rng.permutation(np.flatnonzero(side)) for side in (y, ~y))
    n_neg = round(n_pos * neg.size / pos.size)
    rest = rng.permutation(np.concatenate([pos[n_pos:], neg[n_neg:]]))
    return np.concatenate([pos[:n_pos], neg[:n_neg]]), rest[:JUDGED]


def judged(frame, y, train, test):
    """Average precision of each list on rows that it was not trained on."""
    X, known, rows = frame.iloc[train], y[train], frame.iloc[test]
    model = PNormPush().fit(X, known)
    plain = model.cross_validation_.simplest
    simplest = PNormPush(p=plain.p, l1=plain.l1, l2=plain.l2, linear=MADE[plain.kind][0]).fit(X, known)
    found = {"PNormPush()": model.decision_function(rows), "simplest": simplest.decision_function(rows)}
    found |= {of.name: of.score(rows) for of in baselines(X[known], X[~known], model.rankers_)}
    return {
        name: float(metrics.average_precision(f, y=y[test]))
        for name, f in found.items()
        if name in ("PNormPush()", *METHODS)
    }


def main(argv=None):
    """Print a line for each set and number of positives."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--draws", type=int, default=6)
    draws = parser.parse_args(argv).draws
    warnings.simplefilter("ignore")
    print(f"{'':8} {'positives':>9} {'PNormPush()':>11}" + "".join([f" {name:>15}" for name in METHODS]))
    of_sets = {n_pos: [] for n_pos in POSITIVES}
    for name, read in SETS.items():
        frame, y = read()
        for n_pos in POSITIVES:
            if n_pos * (~y).sum() > MOST_NEGATIVES * y.sum():
                continue
            runs = [judged(frame, y, *drawn(np.random.default_rng(seed), y, n_pos)) for seed in range(draws)]
            of_sets[n_pos].append(runs)
            line(name, n_pos, [runs])
    for n_pos, runs in of_sets.items():
        if len(runs) == len(SETS):
            line("all sets", n_pos, runs)


def line(name, n_pos, of_sets):
    """Print the means over sets, with standard errors from the draws of each."""
    own = np.array([[run["PNormPush()"] for run in runs] for runs in of_sets])
    cells = []
    for method in METHODS:
        by = np.array([[run[method] for run in runs] for runs in of_sets]) - own
        error = np.sqrt(by.var(axis=1, ddof=1).sum() / by.shape[1]) / len(by)
        cells.append(f"{by.mean():+.3f} ± {error:.3f}")
    print(f"{name:8} {n_pos:9} {own.mean():11.3f}" + "".join([f" {cell:>15}" for cell in cells]), flush=True)


if __name__ == "__main__":
    main()
