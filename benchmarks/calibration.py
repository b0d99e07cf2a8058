"""Measure the calibration of the probabilities of a push: the tables of the page "Probabilities".

    python benchmarks/calibration.py --simulate                                        # a minute
    python benchmarks/calibration.py --small                                           # two hours on one core
    PNORM_DATA=... python benchmarks/calibration.py --out calibration.json             # ten minutes on one core
    python benchmarks/calibration.py --show calibration.json [--rst doc/_outputs/calibration.inc]
    PNORM_DATA=... python benchmarks/calibration.py --kinds                            # what splits have a minimiser

With --simulate, a population that is logistic in five columns: what is estimated against what is true.

With --small, draws of few rows from that population: the mean Kullback-Leibler divergence of the probabilities from the
true ones, in nats, on 20,000 new rows, with its standard error over the draws. "slope 1" is the same model without the
slope that held-out rows of the cross-validation give. "slope on new rows" is the coefficient of the log odds in a
logistic regression of new labels: 1 is right.

Otherwise public sets in random splits, stratified, two thirds to train on and one third to judge by. "minimize" is the
exact minimiser on columns scaled to [0, 1]; "train" is boosting of 31 cuts of each column, stopped early by the
estimator's rule on a tenth of the rows. "Platt" and "isotonic" are the same scores, recalibrated on rows held out by
5-fold cross-validation (scikit-learn's CalibratedClassifierCV). Logistic regression on columns of unit variance and
boosted trees (HistGradientBoosting) are scikit-learn's.

Brier is the mean squared error of the probabilities. The log loss is in nats; no probability counts as less than 1e-15.
"off" is the mean distance of probability and share of positives in ten bins of equally many rows. "top said" and "top
is" are the mean probability and the share of positives in the first 5 % of the list. "+" and "-" stand for a larger and
a smaller error than that of logistic regression, with p < 0.05 in a paired t test that is corrected for splits that
share rows (Nadeau and Bengio, 2003).
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from reproduce import paired, print_columns
from scipy.special import expit, kl_div
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pnorm
from pnorm.sklearn import PNormPush

sys.path.insert(0, str(Path(__file__).parent))
from command_line import data_folder, parser_of
from public_sets import over_splits, splits
from tables import list_table

SPLITS = {"pima": 20, "ionosphere": 20, "spambase": 5, "magic": 5}
POWERS = (1, 4, 16)
BINS = 10
LOGISTIC = "logistic regression"

# A population in which probabilities are right ---------------------------------------------------------------

SLOPES, LEVEL = np.array([1.0, -0.8, 0.6, 0.4, -0.2]), -1.0


def logistic_rows(n, seed):
    """Rows, labels, and the probability of each to be positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, SLOPES.size))
    true = expit(X @ SLOPES + LEVEL)
    return X, rng.random(n) < true, true


def simulate(n=1_000_000, powers=(1, 2, 4, 8, 16, 64)):
    """Print how far estimated probabilities are from the true ones."""
    X, y, true = logistic_rows(n, seed=0)
    pos, neg = pnorm.split(X, y)
    lines = [["p", "mean |P - true|", "largest"]]
    for p in powers:
        lam, trace = pnorm.minimize(pos, neg, p=p)
        error = np.abs(pnorm.probability(X, None, lam, p, trace.intercept) - true)
        lines.append([str(p), f"{error.mean():.5f}", f"{error.max():.4f}"])
    print(f"{n} rows, {y.sum()} positive")
    print_columns(lines)


# The same population, few rows ---------------------------------------------------------------------------------


SIZES = (100, 200, 500, 2000)


def divergence(P, true):
    """Mean Kullback-Leibler divergence of probabilities from the true ones, in nats."""
    P = np.clip(P, 1e-15, 1.0 - 1e-15)
    return float((kl_div(true, P) + kl_div(1.0 - true, 1.0 - P)).mean())


def few_rows(n, seed, X_new, true):
    """The divergence of each method for one draw, and the slope of the log odds on new rows."""
    X, y, _ = logistic_rows(n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        push = PNormPush().fit(X, y)
        found = {
            "PNormPush": push.predict_proba(X_new)[:, 1],
            "slope 1": pnorm.probability(X_new, push.rankers_, push.lam_, push.p_, push.trace_.intercept),
            LOGISTIC: LogisticRegression().fit(X, y).predict_proba(X_new)[:, 1],
        }
        log_odds = push.decision_function(X_new) * push.slope_ * (1 + push.p_)
    labels = np.random.default_rng(seed).random(true.size) < true
    on_new = LogisticRegression(C=np.inf).fit(log_odds[:, None] / log_odds.std(), labels).coef_[0, 0] / log_odds.std()
    return {name: divergence(P, true) for name, P in found.items()} | {"slope": float(on_new)}


def small(draws, path):
    """Print the divergences for draws of few rows; draws that the file has already are not repeated."""
    X_new, _, true = logistic_rows(20_000, seed=10**6)
    runs = json.loads(path.read_text()) if path and path.exists() else []
    for seed in range(len(runs), draws):
        runs.append({str(n): few_rows(n, seed, X_new, true) for n in SIZES})
        if path:
            path.write_text(json.dumps(runs))
    show_small(runs)


def show_small(runs):
    """Print means and standard errors of divergences, and quartiles of the slopes on new rows."""
    methods = ["PNormPush", "slope 1", LOGISTIC]
    print(f"{len(runs)} draws")
    lines = [["rows", *methods, "slope on new rows: quartiles"]]
    for n in SIZES:
        values = np.array([[run[str(n)][method] for method in methods] for run in runs])
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        cells = [f"{mean:.4f} ± {error:.4f}" for mean, error in zip(values.mean(axis=0), errors, strict=True)]
        slopes = np.quantile([run[str(n)]["slope"] for run in runs], (0.25, 0.5, 0.75))
        lines.append([str(n), *cells, ", ".join([f"{x:.2f}" for x in slopes])])
    print_columns(lines)


# Public sets -------------------------------------------------------------------------------------------------


def exact(p):
    return PNormPush(p, rankers="normalized", solver="newton")


def boosted(p):
    return PNormPush(p, n_cuts=31, t_max=2000, early_stopping=True, random_state=0)


def recalibrated(model, method):
    return CalibratedClassifierCV(model, method=method, cv=5, ensemble=False)


def methods():
    """Every method by its name."""
    made = {}
    for name, push in (("minimize", exact), ("train", boosted)):
        for p in POWERS:
            made[f"{name}, p = {p}"] = push(p)
            made[f"{name}, p = {p}, Platt"] = recalibrated(push(p), "sigmoid")
            made[f"{name}, p = {p}, isotonic"] = recalibrated(push(p), "isotonic")
    made[LOGISTIC] = make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000))
    made["boosted trees"] = HistGradientBoostingClassifier(random_state=0)
    return made


def probabilities(model, data, train, test):
    """Probabilities of held-out rows; that there is no minimiser is said on the page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(data.X[train], data.y[train]).predict_proba(data.X[test])[:, 1]


def reliability(P, y):
    """Mean probability and share of positives in bins of equally many rows, by probability."""
    bins = np.array_split(np.argsort(P, kind="stable"), BINS)
    return np.array([[P[rows].mean(), y[rows].mean()] for rows in bins])


def judge(P, y):
    """Every measure of one list of probabilities."""
    said, found = reliability(P, y).T
    top = np.argsort(-P, kind="stable")[: P.size // 20]
    return {
        "Brier": brier_score_loss(y, P),
        "log loss": log_loss(y, np.clip(P, 1e-15, 1 - 1e-15)),
        "off": float(np.abs(said - found).mean()),
        "top said": float(P[top].mean()),
        "top is": float(y[top].mean()),
    }


def split(data, train, test):
    """Every measure of every method in one split."""
    return {m: judge(probabilities(model, data, train, test), data.y[test]) for m, model in methods().items()}


def kinds(names):
    """Print how many splits have a minimiser, and the log loss of `minimize` on each kind of them."""
    for name in names:
        data, found = getattr(pnorm.datasets, name)(), {}
        for train, test in splits(data, SPLITS[name]):
            pos, neg = pnorm.split(data.X[train], data.y[train])
            kind = pnorm.diagnostics.separability(pos, neg, pnorm.rankers.normalized(pos, neg)).kind
            losses = [judge(probabilities(exact(p), data, train, test), data.y[test])["log loss"] for p in POWERS]
            found.setdefault(kind, []).append(losses)
        for kind, losses in found.items():
            means = ", ".join(f"{mean:.3f} at p = {p}" for p, mean in zip(POWERS, np.mean(losses, axis=0), strict=True))
            print(f"{name}: {len(losses)} splits {kind}, log loss {means}")


def table(runs):
    """A line per method: means, and where they differ from those of logistic regression."""
    lines = [["method", *runs[0][LOGISTIC]]]
    for method in runs[0]:
        cells = []
        for name in runs[0][method]:
            values, theirs = (np.array([run[which][name] for run in runs]) for which in (method, LOGISTIC))
            pair = paired(values - theirs, 0.5)  # one row to judge by for two to train on
            compared = name in ("Brier", "log loss") and pair.corrected < 0.05
            cells.append(f"{values.mean():.3f}" + ("" if not compared else " +" if pair.mean > 0 else " -"))
        lines.append([method, *cells])
    return lines


def title(name, of):
    return f"{name}: {of['rows']} rows, {of['positives']} positive; {len(of['runs'])} splits"


def show(found):
    """Print a table per set."""
    for name, of in found.items():
        print(f"\n{title(name, of)}")
        print_columns(table(of["runs"]))


def write_rst(found, path):
    """Write the tables for the documentation."""
    text = ""
    for name, of in found.items():
        text += f"{title(name, of)}\n{'^' * len(title(name, of))}\n\n{list_table(table(of['runs']), ':class: dense')}\n"
    path.write_text(text.replace(" +\n", "\u00a0+\n").replace(" -\n", "\u00a0\u2212\n"), encoding="utf-8")


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--simulate", action="store_true", help="rows whose probabilities are known")
    parser.add_argument("--small", action="store_true", help="the same, draws of few rows")
    parser.add_argument("--draws", type=int, default=100, help="how many, with --small")
    parser.add_argument("--kinds", action="store_true", help="how many splits have a minimiser")
    parser.add_argument("--set", action="append", choices=SPLITS, help="only this one; may be repeated")
    parser.add_argument("--splits", type=int, help="how many, for every set")
    parser.add_argument("--out", type=Path, help="add every number to this file")
    parser.add_argument("--show", type=Path, help="print the tables of a file written before")
    parser.add_argument(
        "--rst", type=Path, help="with --show, write them here instead, for doc/_outputs/calibration.inc"
    )
    arguments = parser.parse_args()
    if arguments.simulate:
        simulate()
    elif arguments.small:
        small(arguments.draws, arguments.out)
    elif arguments.kinds:
        data_folder()
        kinds(arguments.set or SPLITS)
    elif arguments.show:
        known = json.loads(arguments.show.read_text())
        write_rst(known, arguments.rst) if arguments.rst else show(known)
    else:
        n_splits = {name: arguments.splits or SPLITS[name] for name in arguments.set or SPLITS}
        show(over_splits(n_splits, split, arguments.out))
