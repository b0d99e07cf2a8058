"""Measure what rounding to whole points costs on public sets: the table of the page "Scorecards".

Random splits, stratified, two thirds to train on and one third to judge by, five of each set; means over the splits.
Training is 200 rounds at p = 4 on 32 cuts of each number, and on the levels of each category. Needs PNORM_DATA,
pandas and scikit-learn.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas

import pnorm

sys.path.insert(0, str(Path(__file__).parent))
from command_line import data_folder, parser_of
from public_sets import READERS, splits

SETS = ("pima", "wdbc", "ionosphere", "spambase", "magic", "adult", "bank")
POINTS = (5, 10, 20, 100)


def weak_rankers(pos, neg, category):
    """Cuts of numbers, and levels of categories."""
    names = np.array(pos.columns)
    numbers, of_levels = names[~category], names[category]
    H = pnorm.rankers.quantile_thresholds(pos[numbers], neg[numbers], 32)
    return H + pnorm.rankers.categories(pos[of_levels], neg[of_levels]) if category.any() else H


def measured(name):
    """Bound, and scores and points on the rows to judge by, for each number of points: means over splits."""
    data, found = READERS[name](), {points: [] for points in POINTS}
    frame = pandas.DataFrame(data.X).rename(columns=str)
    for train, test in splits(data, 5):
        X, y = frame.iloc[train], data.y[train] == 1
        H = weak_rankers(X[y], X[~y], data.category)
        lam, _ = pnorm.train(X[y], X[~y], H, p=4, t_max=200)
        Z, of_test = frame.iloc[test], data.y[test] == 1
        for points in POINTS:
            card = pnorm.scorecard(H, lam, points=points)
            cost = card.compare(Z[of_test], Z[~of_test], 4)
            pieces = sum(len(column.points) for column in card.columns)
            found[points].append([pieces, card.bound, *cost.auc, *cost.positives_at_top, cost.reordered, cost.tied])
    return {points: np.mean(rows, axis=0) for points, rows in found.items()}


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    warnings.simplefilter("ignore", pnorm.rankers.UnknownLevelWarning)
    print("set         points  lines  bound  AUC: scores  points  at the top: scores  points  turned    tied")
    for name in SETS:
        for points, (pieces, bound, a, b, c, d, turned, tied) in measured(name).items():
            print(f"{name:11} {points:6} {pieces:6.0f} {bound:6.2f} {a:12.4f} {b:7.4f} {c:19.1f} {d:7.1f} "
                  f"{100 * turned:6.2f}% {100 * tied:6.2f}%")  # fmt: skip
