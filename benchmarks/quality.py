"""Compare the push by rounds with trees and rankers as they come: the second half of the page "Benchmarks".

    PNORM_DATA=... python benchmarks/quality.py --out quality.json             # to measure, 20 minutes on two cores
    python benchmarks/quality.py --show quality.json [--rst doc/_outputs/quality.inc]   # to write the tables again

Random splits, stratified, two thirds to train on and one third to judge by. All methods see the same splits.

- P-Norm Push with p and the number of rounds chosen by 5-fold cross-validation within the training rows, by the
  partial AUC down to the first 10 negatives of a fold (or 1 % of them, if that is more); weak rankers are the columns,
  scaled to [0, 1], or 31 cuts of each. "p = 1" is the same with rounds chosen and p fixed: RankBoost.
- The others with the defaults of their packages: scikit-learn's logistic regression on columns scaled to unit
  variance, AdaBoost and HistGradientBoosting; LightGBM's classifier and its ranker (lambdarank); XGBoost's ranker
  (rank:pairwise) with both ways of choosing pairs. Rankers get all training rows as one list. LightGBM refuses
  lists of more than 10,000 rows, and gets 10,000 of them, drawn at random.

"+" and "-" stand for more and less than the push on thresholds (on columns, for the indicators of a9a), with p < 0.05
in a paired t test that is corrected for splits that share rows (Nadeau and Bengio, 2003). "at top" are the positives
above the first negative; pAUC is standardised, 0.5 is chance; seconds are medians for training, cross-validation and
scoring.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from lightgbm import LGBMClassifier, LGBMRanker
from reproduce import paired, print_columns
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from xgboost import XGBRanker

import pnorm
from pnorm import metrics

sys.path.insert(0, str(Path(__file__).parent))
from command_line import parser_of
from public_sets import over_splits
from tables import list_table

SPLITS = {"pima": 30, "ionosphere": 30, "spambase": 10, "magic": 10, "a9a": 10}
POWERS = (1, 2, 4, 8, 16, 64)
ROUNDS = (10, 25, 50, 100, 200, 400, 800)
MEASURES: dict[str, Callable] = {
    "at top": metrics.positives_at_top,
    "precision 1 %": lambda pos, neg: metrics.precision_at(pos, neg, 0.01),
    "AP": metrics.average_precision,
    "pAUC 1 %": lambda pos, neg: metrics.partial_auc(pos, neg, 0.01, standardized=True),
    "AUC": metrics.auc,
}

# Ours -------------------------------------------------------------------------------------------------


def columns(pos, neg):
    """Columns in [0, 1]; those of a sparse matrix as they are."""
    return pnorm.rankers.columns(pos, neg) if hasattr(pos, "tocsr") else pnorm.rankers.normalized(pos, neg)


def thresholds(pos, neg):
    """31 cuts of each column."""
    return pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=31)


def path(X, y, rankers, judged, powers):
    """Scores of other rows for every p and number of rounds."""
    pos, neg = X[y == 1], X[y == 0]
    H = rankers(pos, neg)
    for p in powers:
        _, trace = pnorm.train(pos, neg, H, p, t_max=ROUNDS[-1])
        lams = [trace.lam_at(min(t, trace.n_iter)) for t in ROUNDS]
        yield p, [pnorm.score(judged, H, lam) for lam in lams]


def pushed(rankers, X, y, judged):
    """What cross-validation chooses with p free, and with p = 1; the folds are read once for both."""
    value = np.zeros((len(POWERS), len(ROUNDS)))
    for train, held in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        n_neg = int((y[held] == 0).sum())
        far = max(10, n_neg // 100)
        for i, (_, scores) in enumerate(path(X[train], y[train], rankers, X[held], POWERS)):
            value[i] += [metrics.partial_auc(f[y[held] == 1], f[y[held] == 0], max_fp=far) for f in scores]
    best = [np.unravel_index(value.argmax(), value.shape), (0, value[0].argmax())]
    scores = dict(path(X, y, rankers, judged, {POWERS[i] for i, _ in best}))
    return [(scores[POWERS[i]][t], {"p": POWERS[i], "rounds": ROUNDS[t]}) for i, t in best]


# Theirs -----------------------------------------------------------------------------------------------


def classifier(make):
    """A method that tells classes apart; its scores rank."""

    def run(X, y, judged):
        model = make(X).fit(X, y)
        return (
            model.decision_function(judged)
            if hasattr(model, "decision_function")
            else model.predict_proba(judged)[:, 1]
        )

    return run


def ranker(make, longest=None):
    """A method that ranks one list, of so many rows at most."""

    def run(X, y, judged):
        if longest is not None and len(y) > longest:
            rows = np.random.default_rng(0).permutation(len(y))[:longest]
            X, y = X[rows], y[rows]
        return make().fit(X, y, **({"group": [len(y)]} if longest else {"qid": np.zeros(len(y), int)})).predict(judged)

    return run


def scaler(X):
    """Unit variance; sparse indicators as they are."""
    return MaxAbsScaler() if hasattr(X, "tocsr") else StandardScaler()


RIVALS = {
    "logistic regression": classifier(lambda X: make_pipeline(scaler(X), LogisticRegression(max_iter=10_000))),
    "AdaBoost": classifier(lambda X: AdaBoostClassifier(random_state=0)),
    "HistGradientBoosting": classifier(lambda X: HistGradientBoostingClassifier(random_state=0)),
    "LightGBM binary": classifier(lambda X: LGBMClassifier(verbose=-1, n_jobs=2)),
    "LightGBM lambdarank": ranker(lambda: LGBMRanker(verbose=-1, n_jobs=2), longest=10_000),
    "XGBoost pairwise, topk": ranker(
        lambda: XGBRanker(objective="rank:pairwise", lambdarank_pair_method="topk", n_jobs=2)
    ),
    "XGBoost pairwise, mean": ranker(
        lambda: XGBRanker(objective="rank:pairwise", lambdarank_pair_method="mean", n_jobs=2)
    ),
}
DENSE_ONLY = ("HistGradientBoosting",)


# The measurements -------------------------------------------------------------------------------------


def split(data, train, test):
    """All methods on one split: measures, seconds, and what was chosen."""
    X, y, found = data.X, data.y, {}
    for kind in (columns, thresholds):
        if kind is thresholds and hasattr(X, "tocsr"):
            continue  # indicators are their own thresholds
        start = time.perf_counter()
        (free, chosen), (fixed, rounds) = pushed(kind, X[train], y[train], X[test])
        seconds = time.perf_counter() - start
        found[f"pnorm {kind.__name__}"] = judge(free, y[test], seconds, chosen)
        found[f"pnorm {kind.__name__}, p = 1"] = judge(fixed, y[test], float("nan"), rounds)
    for name, run in RIVALS.items():
        rows = X.toarray() if hasattr(X, "tocsr") and name in DENSE_ONLY else X
        start = time.perf_counter()
        f = run(rows[train], y[train], rows[test])
        found[name] = judge(f, y[test], time.perf_counter() - start, {})
    return found


def judge(f, y, seconds, chosen):
    """Every measure of one list."""
    pos, neg = f[y == 1], f[y == 0]
    return {name: float(measure(pos, neg)) for name, measure in MEASURES.items()} | {"seconds": seconds} | chosen


def table(of):
    """A line per method: means and standard deviations, and what differs from the push on thresholds (or columns)."""
    runs = of["runs"]
    base = "pnorm thresholds" if "pnorm thresholds" in runs[0] else "pnorm columns"
    lines = [["method", *MEASURES, "seconds"]]
    for method in runs[0]:
        cells = []
        for measure in MEASURES:
            values, ours = (np.array([run[which][measure] for run in runs]) for which in (method, base))
            pair = paired(values - ours, 0.5)  # one row to judge by for two to train on
            mark = "" if not pair.corrected < 0.05 else " +" if pair.mean > 0 else " -"
            form = ".1f" if measure == "at top" else ".3f"
            cells.append(f"{values.mean():{form}} \u00b1{values.std(ddof=1):{form}}{mark}")
        seconds = np.median([run[method]["seconds"] for run in runs])
        lines.append([method, *cells, f"{seconds:.2f}" if seconds == seconds else "(above)"])
    return lines


def chosen(of):
    """What cross-validation chose, in words."""
    for kind in ("columns", "thresholds"):
        pairs = [(run[name]["p"], run[name]["rounds"]) for run in of["runs"] if (name := f"pnorm {kind}") in run]
        if pairs:
            p, rounds = np.array(pairs).T
            counts = ", ".join(f"{v} in {(p == v).sum()}" for v in sorted(set(p.tolist())))
            median = f"{np.median(rounds):.0f} rounds in the median"
            yield f"Chosen for {kind}: p = {counts} of {len(pairs)} splits; {median}."


def show(found):
    """Print a table per set."""
    for name, of in found.items():
        print(f"\n{name}: {of['rows']} rows, {of['positives']} positive; {len(of['runs'])} splits")
        print_columns(table(of))
        print(*chosen(of), sep="\n")


def write_rst(found, path):
    """Write the tables for the documentation."""
    text = ""
    for name, of in found.items():
        title = f"{name}: {of['rows']} rows, {of['positives']} positive; {len(of['runs'])} splits"
        text += f"{title}\n{'~' * len(title)}\n\n"
        text += list_table(table(of), ":class: dense")
        text += "\n" + "\n".join(chosen(of)) + "\n\n"
    text = text.replace(" \u00b1", "\u00a0\u00b1\u00a0").replace(" +\n", "\u00a0+\n").replace(" -\n", "\u00a0\u2212\n")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--set", action="append", choices=SPLITS, help="only this one; may be repeated")
    parser.add_argument("--splits", type=int, help="how many, for every set")
    parser.add_argument("--out", type=Path, help="add every number to this file")
    parser.add_argument("--show", type=Path, help="print the tables of a file written before")
    parser.add_argument("--rst", type=Path, help="with --show, write them here instead, for doc/_outputs/quality.inc")
    arguments = parser.parse_args()
    warnings.filterwarnings(
        "ignore", message="X does not have valid feature names|Converting data to scipy sparse matrix"
    )
    if arguments.show:
        known = json.loads(arguments.show.read_text())
        write_rst(known, arguments.rst) if arguments.rst else show(known)
    else:
        n_splits = {name: arguments.splits or SPLITS[name] for name in arguments.set or SPLITS}
        show(over_splits(n_splits, split, arguments.out))
