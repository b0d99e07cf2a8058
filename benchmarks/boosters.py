"""The push inside LightGBM and XGBoost: the numbers of the page "LightGBM and XGBoost"; needs PNORM_DATA and both.

    PNORM_DATA=... python benchmarks/boosters.py --out boosters.json     # to measure, some minutes on one core
    python benchmarks/boosters.py --show boosters.json [--rst doc/_outputs/boosting.inc]

1. One list, simulated, 20 columns, a tenth positive: seconds per tree, the first one left out; or what the library
   says instead. Row weights are asked for where it says "weights".
2. Random splits, stratified, two thirds to train on and one third to judge by; 100 trees and the defaults of the
   packages, "stumps" 300 trees of two leaves. The push has the learning rate of its package times (p + 1) / 2, but not
   more than 1, and everything else as the classifier. Rankers get all training rows as one list; LightGBM refuses more
   than 10,000, and gets so many, drawn at random. "+" and "-" are more and less than the classifier in the same block,
   p < 0.05 in a paired t test corrected for splits that share rows. "at top" are positives above the first negative;
   pAUC is standardised.
"""

import json
import re
import sys
import time
import warnings
from pathlib import Path

import lightgbm
import numpy as np
import xgboost
from reproduce import paired, print_columns
from sklearn.model_selection import StratifiedShuffleSplit

import pnorm
from pnorm import boosting, metrics

sys.path.insert(0, str(Path(__file__).parent))
from command_line import data_folder, parser_of
from tables import list_table

SETS = ("spambase", "magic", "a9a")
MEASURES = {
    "at top": metrics.positives_at_top,
    "precision 1 %": lambda pos, neg: metrics.precision_at(pos, neg, 0.01),
    "pAUC 1 %": lambda pos, neg: metrics.partial_auc(pos, neg, 0.01, standardized=True),
    "AP": metrics.average_precision,
    "AUC": metrics.auc,
}
POWERS = (1, 4, 16)
STUMPS = {"num_leaves": 2, "n_estimators": 300}


def faster(rate, p):
    """The learning rate that makes steps as long as this one does at p = 1."""
    return min(1.0, rate * (p + 1) / 2)


# Methods: labels, scores of the rows that are judged ------------------------------------------------------


def lightgbm_binary(X, y, judged, **options):
    """Its classifier."""
    return lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, **options).fit(X, y).predict(judged, raw_score=True)


def lightgbm_push(p, **options):
    """The push, in its trees."""

    def run(X, y, judged):
        made = {"objective": boosting.lightgbm_objective(p, n_threads=1), "learning_rate": faster(0.1, p)}
        return lightgbm.LGBMRegressor(n_jobs=1, verbose=-1, **made, **options).fit(X, y).predict(judged)

    return run


def lightgbm_rank(X, y, judged):
    """Its ranker, on as many rows as it takes."""
    if len(y) > 10_000:
        rows = np.random.default_rng(0).permutation(len(y))[:10_000]
        X, y = X[rows], y[rows]
    return lightgbm.LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=[len(y)]).predict(judged)


def xgboost_binary(X, y, judged):
    """Its classifier."""
    return xgboost.XGBClassifier(n_jobs=1).fit(X, y).predict(judged, output_margin=True)


def xgboost_push(p):
    """The push, in its trees."""

    def run(X, y, judged):
        made = {"objective": boosting.xgboost_objective(p, n_threads=1), "learning_rate": faster(0.3, p)}
        return xgboost.XGBRegressor(n_jobs=1, **made).fit(X, y).predict(judged)

    return run


def xgboost_rank(X, y, judged):
    """Its ranker of pairs."""
    return xgboost.XGBRanker(objective="rank:pairwise", n_jobs=1).fit(X, y, qid=np.zeros(len(y), int)).predict(judged)


METHODS = {
    "LightGBM binary": lightgbm_binary,
    "LightGBM lambdarank": lightgbm_rank,
    **{f"LightGBM push, p = {p}": lightgbm_push(p) for p in POWERS},
    "XGBoost binary:logistic": xgboost_binary,
    "XGBoost rank:pairwise": xgboost_rank,
    **{f"XGBoost push, p = {p}": xgboost_push(p) for p in POWERS},
    "stumps, binary": lambda *rows: lightgbm_binary(*rows, **STUMPS),
    **{f"stumps, push, p = {p}": lightgbm_push(p, **STUMPS) for p in POWERS},
}
CLASSIFIER = {"LightGBM": "LightGBM binary", "XGBoost": "XGBoost binary:logistic", "stumps": "stumps, binary"}


# One long list ------------------------------------------------------------------------------------------


class _Clock:
    """Notes when every tree was done."""

    def __init__(self):
        self.ends = []

    def __call__(self, *_):
        self.ends.append(time.perf_counter())

    def seconds(self):
        return float(np.median(np.diff(self.ends)))


class _After(xgboost.callback.TrainingCallback):
    """A `_Clock` as XGBoost calls it: after every tree."""

    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def after_iteration(self, *_):
        self.clock()
        return False


def of_lightgbm(objective, ranks=False):
    """Seconds per tree of LightGBM."""

    def run(X, y, c):
        clock = _Clock()
        params = {"objective": objective, "num_threads": 1, "verbose": -1, "metric": "None"}
        data = lightgbm.Dataset(X, y, weight=c, group=[len(y)] if ranks else None)
        lightgbm.train(params, data, 4, callbacks=[clock])
        return clock.seconds()

    return run


def of_xgboost(objective, **more):
    """Seconds per tree of XGBoost."""

    def run(X, y, c):
        clock = _Clock()
        ranks = isinstance(objective, str) and objective.startswith("rank")
        data = xgboost.QuantileDMatrix(X, y, weight=c, group=[len(y)] if ranks else None, nthread=1)
        params = {"nthread": 1} | more | ({"objective": objective} if isinstance(objective, str) else {})
        obj = None if isinstance(objective, str) else objective
        xgboost.train(params, data, 4, obj=obj, callbacks=[_After(clock)])
        return clock.seconds()

    return run


LISTS = {
    "LightGBM binary": of_lightgbm("binary"),
    "LightGBM lambdarank": of_lightgbm("lambdarank", ranks=True),
    "LightGBM push, p = 4": of_lightgbm(boosting.lightgbm_objective(4, n_threads=1)),
    "XGBoost binary:logistic": of_xgboost("binary:logistic"),
    "XGBoost rank:pairwise": of_xgboost("rank:pairwise"),
    "XGBoost rank:pairwise, mean": of_xgboost("rank:pairwise", lambdarank_pair_method="mean"),
    "XGBoost push, p = 4": of_xgboost(boosting.xgboost_objective(4, n_threads=1)),
}


def long_lists(sizes=(10_000, 100_000, 1_000_000)):
    """By method, seconds per tree or the first line of what is said, for each size without and with row weights."""
    found = {name: [] for name in LISTS}
    for n in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 20)).astype(np.float32)
        y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 2.2).astype(int)
        for c in (None, rng.integers(1, 4, n).astype(float)):
            for name, run in LISTS.items():
                try:
                    found[name].append(run(X, y, c))
                except (lightgbm.basic.LightGBMError, xgboost.core.XGBoostError, ValueError) as error:
                    found[name].append(str(error).splitlines()[0])
                print(f"\r{n} rows: {name}{' ' * 30}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"rows": list(sizes), "found": found}


# Splits -------------------------------------------------------------------------------------------------


def splits(name, number):
    """What every method finds on every split."""
    data = getattr(pnorm.datasets, name)()
    X, y = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X, (data.y == 1).astype(int)
    runs = []
    for train, test in StratifiedShuffleSplit(number, test_size=1 / 3, random_state=0).split(np.zeros(len(y)), y):
        run = {}
        for method, scores in METHODS.items():
            start = time.perf_counter()
            f = scores(X[train], y[train], X[test])
            seconds = time.perf_counter() - start
            pos, neg = (np.asarray(f, dtype=float)[y[test] == label] for label in (1, 0))
            run[method] = {key: float(measure(pos, neg)) for key, measure in MEASURES.items()} | {"seconds": seconds}
        runs.append(run)
        print(f"\r{name}: split {len(runs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"rows": len(y), "positives": int(y.sum()), "runs": runs}


# Tables -------------------------------------------------------------------------------------------------


def tables(found):
    """Titles and lines of cells."""
    lists = found["lists"]
    sizes = [f"{n:,}{more}" for n in lists["rows"] for more in ("", ", weights")]
    said: dict[str, tuple[str, str]] = {}
    lines = [["seconds per tree", *sizes]]
    for method, values in lists["found"].items():
        cells = []
        for value in values:
            if isinstance(value, str):
                kind = re.sub(r"\d+", "", value.split("Check failed: ")[-1])  # whatever the size of the list
                said.setdefault(kind, (f"[{len(said) + 1}]", value.split("Check failed: ")[-1]))
                cells.append(said[kind][0])
            else:
                cells.append(f"{value:.3f}")
        lines.append([method, *cells])
    yield "One list", lines, [f"{mark} {text}" for mark, text in said.values()]
    for name in SETS:
        of = found[name]
        runs, lines = of["runs"], [["", *MEASURES, "seconds"]]
        for method in METHODS:
            base, cells = CLASSIFIER[method.replace(",", " ").split()[0]], []
            for measure in MEASURES:
                values, its = (np.array([run[which][measure] for run in runs]) for which in (method, base))
                pair = paired(values - its, 0.5)  # one row to judge by for two to train on
                mark = "" if not pair.corrected < 0.05 else " +" if pair.mean > 0 else " -"
                cells.append(f"{values.mean():{'.1f' if measure == 'at top' else '.3f'}}{mark}")
            seconds = np.median([run[method]["seconds"] for run in runs])
            lines.append([method, *cells, f"{seconds:.1f}"])
        yield f"{name}: {of['rows']} rows, {of['positives']} positive; {len(runs)} splits", lines, []


def show(found):
    """Print the tables."""
    for title, lines, notes in tables(found):
        print(f"\n{title}")
        print_columns(lines)
        print(*notes, sep="\n")


def write_rst(found, path):
    """Write the tables for the documentation."""
    text = ""
    for title, lines, notes in tables(found):
        text += f"**{title}**\n\n{list_table(lines, ':class: dense')}\n" + "".join(f"{note}\n\n" for note in notes)
    path.write_text(text.replace(" +\n", "\u00a0+\n").replace(" -\n", "\u00a0\u2212\n"), encoding="utf-8")


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--splits", type=int, default=6, help="how many, for every set")
    parser.add_argument("--out", type=Path, help="write every number to this file")
    parser.add_argument("--show", type=Path, help="print the tables of a file written before")
    parser.add_argument("--rst", type=Path, help="with --show, write them here instead, for doc/_outputs/boosting.inc")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message="X does not have valid feature names|Converting data to scipy")
    if arguments.show:
        known = json.loads(arguments.show.read_text())
        write_rst(known, arguments.rst) if arguments.rst else show(known)
    else:
        data_folder()
        measured = {"lists": long_lists()} | {name: splits(name, arguments.splits) for name in SETS}
        if arguments.out:
            arguments.out.write_text(json.dumps(measured))
        show(measured)
