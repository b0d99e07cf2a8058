"""Compare additive scores on eight public sets.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/additive.py --out additive.json     # to measure
    python benchmarks/additive.py --show additive.json [--rst doc/_outputs]    # to write the tables again

Ten random splits, stratified, two thirds to train on and one third to judge by; of magic, adult, bank and a9a at most
9,000 rows to train on. All methods see the same splits. All scores are sums of one function of each column; the last
method, HistGradientBoosting, is not, and shows what interactions are worth. `pip install --group rivals` has what is
compared.

Ours: `pnorm.minimize_path` on a grid of p = 1 and 4, a penalty and three kinds of scores, with the penalties that count
columns alike (``penalty="shapes"``). "both" are a straight line and 255 cuts of each column, with l2; "steps" are the
cuts with l1, which asks for few jumps; "straight" are the lines alone, with l2. Each point is fitted to all training
rows and, in 5-fold cross-validation, to four fifths of them. The file keeps the measures of all points, held out and on
the rows to judge by, so that rules of choice are compared without another fit. "PNormPush()" chooses as the estimator
does: of the points whose partial AUC down to the first ten negatives of a fold (or 1 % of them, if that is more) is
within one standard error of the best, the one with the largest average precision. "p = 1" is restricted to this power.

Theirs: logistic regression on columns of unit variance and on cubic splines with quantile knots, both with C by 5-fold
cross-validation of the log loss; "logistic, weights", on the same splines with a weight of 1, 10, 100 or 1000 on the
negatives, which is chosen together with C on the folds and by the rule of PNormPush; AdaBoost, 100 stumps; LightGBM
with trees of depth one, their number by early stopping in 5-fold cross-validation; an explainable boosting machine
(EBM) without interactions, with the defaults of interpret-core. Categories are categories for EBM, LightGBM and
HistGradientBoosting, and indicators for all others.

Differences are to PNormPush, with their standard errors, corrected for splits that share rows (Nadeau and Bengio,
2003). pAUC is standardised, 0.5 is chance. Seconds are processor time for training, choosing and scoring, in the
median; for PNormPush, of the whole grid. --rst writes two tables for the pages: the partial AUC of all methods, where a
difference whose 95 % interval excludes zero is bold, and PNormPush less the best of the other additive methods.
"""

import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from lightgbm import Dataset, cv, early_stopping, train
from reproduce import print_columns
from scipy.stats import t
from shared import MEASURES, READERS, compared, corrected_error, few, list_table, measured, over_splits, parser_of
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import pnorm
from pnorm import metrics, rankers

SETS = {"ionosphere": "Ionosphere", "housing": "Housing", "wdbc": "WDBC", "pima": "Pima", "spambase": "Spambase",
        "magic": "MAGIC", "adult": "Adult", "bank": "Bank"}  # fmt: skip
"""Names in the tables, by their number of rows."""
SPLITS, FOLDS = 10, 5

# Ours -------------------------------------------------------------------------------------------------

OURS = "PNormPush()"
POWERS = 1, 4
PENALTIES = {"l2": 10.0 ** np.arange(0.0, -5.1, -0.5), "l1": 10.0 ** np.linspace(-0.4, -4.0, 11)}
"""Relative to p: the penalties of larger p are larger in proportion, as log F_p is."""
LEAST = 1e-5
"""l2 / p beside l1, so that there is a minimiser and a certificate."""
cuts = partial(rankers.quantile_thresholds, n_cuts=255)
KINDS: dict[str, tuple[Callable, str]] = {
    "both": (partial(cuts, linear=True), "l2"),
    "steps": (cuts, "l1"),
    "straight": (partial(cuts, linear="only"), "l2"),
}
"""Weak rankers, and the penalty that is varied."""
HELD: dict[str, Callable] = {
    "pAUC of 10": lambda pos, neg: metrics.partial_auc(pos, neg, max_fp=max(10, len(neg) // 100), standardized=True),
    "AP": metrics.average_precision,
}
"""By what to choose; of the rows that are held out."""
TOL = 1e-3
"""Nats: far below what a choice could tell."""


def points(X, y, judged, of_judged, measures):
    """Every measure of other rows at every point of the grid: (kind, p, penalty, measure)."""
    pos, neg = X[y == 1], X[y == 0]
    values = np.empty((len(KINDS), len(POWERS), len(PENALTIES["l2"]), len(measures)))
    for a, (recipe, along) in enumerate(KINDS.values()):
        H = recipe(pos, neg)
        for b, p in enumerate(POWERS):
            penalties = {"l2": LEAST * p} | {along: p * PENALTIES[along]}
            path = pnorm.minimize_path(pos, neg, H, p, **penalties, penalty="shapes", tol=TOL)
            for c, lam in enumerate(path.lam):
                f = pnorm.score(judged, H, lam)
                values[a, b, c] = [measure(f[of_judged == 1], f[of_judged == 0]) for measure in measures.values()]
    return values


def ours(X, y, judged, of_judged):
    """Measure each point of the grid on the held-out rows of each fold, and on the rows to judge by, to five digits."""
    start = time.process_time()
    measures = np.round(points(X, y, judged, of_judged, MEASURES), 5)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    held = np.round([points(X[rest], y[rest], X[fold], y[fold], HELD) for rest, fold in folds], 5)
    found = {"held": held.tolist(), "judged": measures.tolist()}
    return found | {"seconds": time.process_time() - start}


def chosen_point(held, powers=slice(None)):
    """The largest average precision of those whose partial AUC cannot be told from the best.

    held : measures of `HELD` on the rows of each fold, (fold, kind, p, penalty, measure).
    powers : the places of those that may be chosen.
    """
    allowed = np.full(held.shape[1:-1], -np.inf)
    allowed[:, powers] = 0.0
    mean = held.mean(axis=0) + allowed[..., None]
    top = held[(slice(None), *np.unravel_index(mean[..., 0].argmax(), allowed.shape), 0)]
    near = mean[..., 0] >= top.mean() - top.std(ddof=1) / np.sqrt(len(top))
    return np.unravel_index(np.where(near, mean[..., 1], -np.inf).argmax(), allowed.shape)


# Theirs -----------------------------------------------------------------------------------------------


CS = np.logspace(-4, 2, 7)
WEIGHTS = 1, 10, 100, 1000
"""On the negatives, in the place of powers."""


def columns(data, rows, splines):
    """Return columns for a linear model: indicators and numbers, or splines of the numbers."""
    X = data.indicators()
    if not splines:
        return X
    knots = make_pipeline(StandardScaler(), SplineTransformer(n_knots=6, knots="quantile", extrapolation="linear"))
    numbers = int((~data.category).sum())  # they come first
    knots.fit(X[rows, :numbers])
    return np.hstack([knots.transform(X[:, :numbers]), X[:, numbers:]])


def logistic(data, rows, judged, *, splines=False):
    """Logistic regression on columns, or on splines of those that are numbers."""
    X = columns(data, rows, splines)
    classifier = LogisticRegressionCV(Cs=CS, cv=FOLDS, scoring="neg_log_loss", max_iter=300)
    return make_pipeline(StandardScaler(), classifier).fit(X[rows], data.y[rows]).decision_function(X[judged])


def weighted_path(X, y, judged, weight):
    """Scores of other rows by logistic regressions with a weight on the negatives, one for each C."""
    scaler = StandardScaler().fit(X)
    X, judged = scaler.transform(X), scaler.transform(judged)
    tol = 1e-4 * len(y) / (y + weight * (1 - y)).sum()  # of a mean loss, in which the positives count less and less
    how = {"class_weight": {0: weight, 1: 1.0}, "tol": tol, "max_iter": 1000, "warm_start": True}
    model = LogisticRegression(**how)
    return [model.set_params(C=C).fit(X, y).decision_function(judged) for C in CS]


def weighted(data, rows, judged):
    """Logistic regression on splines, with a weight on the negatives: the scores, and what was chosen.

    C and the weight are chosen together, on the same folds and by the same rule as the point of the default.
    """
    X, y = columns(data, rows, splines=True), data.y
    held = np.empty((FOLDS, 1, len(WEIGHTS), len(CS), len(HELD)))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X[rows], y[rows])
    for a, (rest, fold) in enumerate((rows[rest], rows[fold]) for rest, fold in folds):
        for b, weight in enumerate(WEIGHTS):
            for c, f in enumerate(weighted_path(X[rest], y[rest], X[fold], weight)):
                held[a, 0, b, c] = [measure(f[y[fold] == 1], f[y[fold] == 0]) for measure in HELD.values()]
    _, b, c = chosen_point(np.round(held, 5))
    path = weighted_path(X[rows], y[rows], X[judged], WEIGHTS[b])
    return path[c], {"weight": WEIGHTS[b], "C": float(CS[c])}


def adaboost(data, rows, judged):
    """AdaBoost on stumps."""
    X = data.indicators()
    return AdaBoostClassifier(n_estimators=100, random_state=0).fit(X[rows], data.y[rows]).decision_function(X[judged])


def stumps(data, rows, judged):
    """LightGBM with trees of depth one."""
    how = {"objective": "binary", "num_leaves": 2, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1, "seed": 0}

    def of_rows():
        of = np.flatnonzero(data.category).tolist()
        return Dataset(data.X[rows], data.y[rows], categorical_feature=of, params={"verbose": -1})

    tried = cv(how, of_rows(), 2000, nfold=FOLDS, seed=0, callbacks=[early_stopping(50, verbose=False)])
    return train(how, of_rows(), len(tried["valid binary_logloss-mean"])).predict(data.X[judged])


def ebm(data, rows, judged):
    """An explainable boosting machine."""
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["nominal" if category else "continuous" for category in data.category]
    model = ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=0, feature_types=kinds)
    return model.fit(data.X[rows], data.y[rows]).predict_proba(data.X[judged])[:, 1]


def trees(data, rows, judged):
    """Trees of any depth: not additive."""
    model = HistGradientBoostingClassifier(random_state=0, categorical_features=data.category)
    return model.fit(data.X[rows], data.y[rows]).predict_proba(data.X[judged])[:, 1]


RIVALS = {
    "logistic regression": logistic,
    "logistic, splines": partial(logistic, splines=True),
    "logistic, weights": weighted,
    "AdaBoost": adaboost,
    "LightGBM, depth 1": stumps,
    "EBM": ebm,
    "HistGradientBoosting": trees,
}

NOT_ADDITIVE = "HistGradientBoosting"

# The measurements -------------------------------------------------------------------------------------


def split(data, rows, judged, wanted):
    """Train and measure the wanted methods on one split."""
    rows, y, found = few(rows), data.y, {}
    if "ours" in wanted:
        X = data.indicators()
        found["ours"] = ours(X[rows], y[rows], X[judged], y[judged])
    for name in [name for name in RIVALS if name in wanted]:
        start = time.process_time()
        found_by = RIVALS[name](data, rows, judged)
        f, choice = found_by if isinstance(found_by, tuple) else (found_by, {})
        found[name] = measured(f, y[judged]) | {"seconds": time.process_time() - start} | choice
    return found


def methods(run):
    """Measures by method: ours as it chooses among all points and among those of p = 1, then the others."""
    found = {}
    if "ours" in run:
        held, judged = (np.array(run["ours"][of]) for of in ("held", "judged"))
        for title, powers in ((OURS, slice(None)), ("p = 1", [0])):
            found[title] = dict(zip(MEASURES, judged[chosen_point(held, powers)].tolist(), strict=True))
        found[OURS]["seconds"] = run["ours"]["seconds"]
    return found | {name: run[name] for name in RIVALS if name in run}


def seconds(runs, method):
    """The median over the splits that have a time of a method, as text."""
    known = [run[method]["seconds"] for run in runs if "seconds" in run.get(method, {})]
    return f"{np.median(known):.2f}" if known else ""


def table(runs):
    """Means, differences to the first method, and seconds."""
    head, *lines = compared(runs, next(iter(runs[0])))
    return [[*head, "seconds"], *([*line, seconds(runs, line[0])] for line in lines)]


def less_ours(runs, method):
    """The partial AUC of a method less ours, in bold where its 95 % interval excludes zero, by the digits shown."""
    d = np.array([run[method]["pAUC 1 %"] - run[OURS]["pAUC 1 %"] for run in runs])
    cell = f"{d.mean():+.3f} \u00b1{corrected_error(d):.3f}"
    mean, error = map(float, cell.split(" \u00b1"))
    return f"**{cell}**" if abs(mean) > t.ppf(0.975, len(d) - 1) * error + 1e-9 else cell


def partial_aucs(found):
    """A line for each method and a column for each set."""
    runs_of = {SETS[name]: list(map(methods, found[name]["runs"])) for name in SETS if name in found}
    yield ["partial AUC", *runs_of]
    yield ["rows", *(f"{found[name]['rows']:,}" for name in SETS if name in found)]
    yield [OURS, *(f"{np.mean([run[OURS]['pAUC 1 %'] for run in runs]):.3f}" for runs in runs_of.values())]
    for method in ("p = 1", *RIVALS):
        yield [method, *(less_ours(runs, method) for runs in runs_of.values())]
    for method in (OURS, "EBM", NOT_ADDITIVE):
        yield [f"seconds, {method}", *(seconds(runs, method) for runs in runs_of.values())]


def summary(found):
    """Ours beside the additive method of others that is best in the mean, by set and measure: what ours has more."""
    yield ["set", *MEASURES]
    others = [name for name in RIVALS if name != NOT_ADDITIVE]
    for name in [name for name in SETS if name in found]:
        runs, cells = list(map(methods, found[name]["runs"])), []
        for measure in MEASURES:
            values = {method: np.array([run[method][measure] for run in runs]) for method in (OURS, *others)}
            top = max(others, key=lambda method: values[method].mean())
            d = values[OURS] - values[top]
            cells.append(f"{values[OURS].mean():.3f}, {0.0 + d.mean():+.3f} \u00b1{corrected_error(d):.3f} ({top})")
        yield [SETS[name], *cells]


def show(found, folder=None):
    """Print a table for each set, or write the tables for the documentation."""
    if folder:
        for name, lines in (("additive", partial_aucs(found)), ("additive_summary", summary(found))):
            text = list_table(list(lines), ":class: dense").replace(" \u00b1", "\u00a0\u00b1\u00a0")
            text = text.replace(" -0.", " \u22120.").replace("*-0.", "*\u22120.")
            (folder / f"{name}.inc").write_text(text, encoding="utf-8")
        return
    for name, of in found.items():
        runs = list(map(methods, of["runs"]))
        print(f"\n{name}: {of['rows']} rows, {of['positives']} positive; {len(runs)} splits")
        print_columns(table(runs))


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--set", action="append", choices=READERS, help="only this one; may be repeated")
    parser.add_argument("--method", action="append", choices=("ours", *RIVALS), help="only this one; may be repeated")
    parser.add_argument("--splits", type=int, default=SPLITS, help="how many (default: 10)")
    parser.add_argument("--out", type=Path, help="add every number to this file")
    parser.add_argument("--show", type=Path, help="print the tables of a file written before")
    parser.add_argument("--rst", type=Path, help="with --show, write them into this folder, for the documentation")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    if arguments.show:
        show(json.loads(arguments.show.read_text()), arguments.rst)
    else:
        wanted = arguments.method or ("ours", *RIVALS)
        n_splits = dict.fromkeys(arguments.set or SETS, arguments.splits)
        show(over_splits(n_splits, partial(split, wanted=wanted), arguments.out))
