"""Compare additive scores on public sets, and rules that choose p, the penalty and the kind of weak rankers for ours.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/additive.py --out additive.json     # to measure
    python benchmarks/additive.py --show additive.json [--rst doc]    # to write the tables again
    python benchmarks/additive.py --show some.json --rst doc --add METHOD     # to put one method into the tables

Random splits, stratified, two thirds to train on and one third to judge by; of magic, adult, bank and a9a at most 9,000
rows to train on. All methods see the same splits. All scores are sums of one function of each column; the last method,
HistGradientBoosting, is not, and shows what interactions are worth. `pip install --group rivals` has what is compared.

Ours: `pnorm.minimize_path` on a grid of p, a penalty and kinds of scores, with the penalties that count columns alike
(``penalty="shapes"``). "both" are a straight line and 255 cuts of each column, with l2; "steps" are the cuts with l1,
which asks for few jumps; "straight" are the lines alone, with l2. Each point is fitted to all training rows and, in
5-fold cross-validation, to four fifths of them. The file keeps the measures of all points, held out and on the rows to
judge by, so that rules of choice are compared without another fit. "default" chooses among these three with p = 1 and
4: of the points whose partial AUC down to the first ten negatives of a fold (or 1 % of them, if that is more) is within
one standard error of the best, the one with the largest average precision. "p = 1" and "p = 4" are restricted to one
power.

The method "wide" has five powers and four kinds: both, steps, cuts with l2, and columns scaled to [0, 1] ("lines").
"four kinds, five powers" chooses among all of them. "simplest" takes the strongest penalty within one standard error of
the best average precision. Others are restricted to one p or to some kinds, or choose by one measure alone.

Not measured unless asked for: "wide"; "bags", the mean of ten fits of what "wide" has chosen, each to rows drawn again
with replacement; "a third chooses", a fit to all rows of what "wide" chooses by the first third of them, with the
penalties as they are and divided by three. "200 rounds" is `pnorm.train` on 255 cuts with p = 4, stopped there: the
push without a penalty.

Theirs: logistic regression on columns of unit variance and on cubic splines with quantile knots, both with C by 5-fold
cross-validation of the log loss; "logistic, weights", on the same splines with a weight of 1, 10, 100 or 1000 on the
negatives, which is chosen together with C on the folds and by the rule of the default; AdaBoost, 100 stumps; LightGBM
with trees of depth one, their number by early stopping in 5-fold cross-validation; an explainable boosting machine
(EBM) without interactions, with the defaults of interpret-core. Categories are categories for EBM, LightGBM and
HistGradientBoosting, and indicators for all others.

Differences are to the default, with their standard errors, corrected for splits that share rows (Nadeau and Bengio,
2003), and the numbers of splits with more and less. pAUC is standardised, 0.5 is chance. Seconds are processor time for
training, choosing and scoring, in the median; for ours, of the whole grid.
"""

import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lightgbm import Dataset, cv, early_stopping, train
from reproduce import print_columns
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import pnorm
from pnorm import metrics, rankers

sys.path.insert(0, str(Path(__file__).parent))
from command_line import parser_of
from public_sets import MEASURES, READERS, compared, corrected_error, few, measured, over_splits
from tables import list_table

SPLITS = {"pima": 20, "housing": 20, "wdbc": 20, "ionosphere": 20, "spambase": 10, "magic": 10, "adult": 10, "bank": 10}
FOLDS = 5
FEWEST = 5
"""Splits of a set in the documentation: fewer have no error to speak of."""

# Ours -------------------------------------------------------------------------------------------------

PENALTIES = {"l2": 10.0 ** np.arange(0.0, -5.1, -0.5), "l1": 10.0 ** np.linspace(-0.4, -4.0, 11)}
"""Relative to p: the penalties of larger p are larger in proportion, as log F_p is."""
LEAST = 1e-5
"""l2 / p beside l1, so that there is a minimiser and a certificate."""
cuts = partial(rankers.quantile_thresholds, n_cuts=255)
KINDS: dict[str, tuple[Callable, str]] = {
    "lines": (rankers.normalized, "l2"),
    "cuts": (cuts, "l2"),
    "both": (partial(cuts, linear=True), "l2"),
    "steps": (cuts, "l1"),
    "straight": (partial(cuts, linear="only"), "l2"),
}
"""Weak rankers, and the penalty that is varied."""
OLDER = ("both", "steps")
"""The kinds of the default without straight lines."""


class Grid(NamedTuple):
    """Among what to choose."""

    kinds: tuple[str, ...]
    powers: tuple[int, ...]


DEFAULT = Grid(("both", "steps", "straight"), (1, 4))
WIDE = Grid(("lines", "cuts", "both", "steps"), (1, 2, 4, 8, 16))
BAGS = 10
THIRD = {"a third chooses": 1.0, "a third chooses, penalties / 3": 1 / 3}
"""The share of the penalties that the fit to all rows gets, where a third of them has chosen."""
HELD: dict[str, Callable] = MEASURES | {
    "pAUC of 10": lambda pos, neg: metrics.partial_auc(pos, neg, max_fp=max(10, len(neg) // 100), standardized=True),
    "pAUC 5 %": lambda pos, neg: metrics.partial_auc(pos, neg, 0.05, standardized=True),
}
"""By what to choose; of the rows that are held out."""
TOL = 1e-3
"""Nats: far below what a choice could tell."""


def points(grid, X, y, judged, of_judged, measures):
    """Every measure of other rows at every point of a grid: (kind, p, penalty, measure)."""
    pos, neg = X[y == 1], X[y == 0]
    values = np.empty((len(grid.kinds), len(grid.powers), len(PENALTIES["l2"]), len(measures)))
    for a, kind in enumerate(grid.kinds):
        recipe, along = KINDS[kind]
        H = recipe(pos, neg)
        for b, p in enumerate(grid.powers):
            penalties = {"l2": LEAST * p} | {along: p * PENALTIES[along]}
            path = pnorm.minimize_path(pos, neg, H, p, **penalties, penalty="shapes", tol=TOL)
            for c, lam in enumerate(path.lam):
                f = pnorm.score(judged, H, lam)
                values[a, b, c] = [measure(f[of_judged == 1], f[of_judged == 0]) for measure in measures.values()]
    return values


def held_out(grid, X, y):
    """Return the measures of `HELD` for each fold and each point of the grid, on the rows that the fold holds out."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    return np.round([points(grid, X[rest], y[rest], X[fold], y[fold], HELD) for rest, fold in folds], 5)


def ours(grid, X, y, judged, of_judged):
    """Measure each point of the grid on the held-out rows of each fold, and on the rows to judge by, to five digits."""
    start = time.process_time()
    measures = np.round(points(grid, X, y, judged, of_judged, MEASURES), 5)
    found = {"held": held_out(grid, X, y).tolist(), "judged": measures.tolist()}
    return found | {"seconds": time.process_time() - start}


def minimiser(X, y, judged, point, share=1.0, grid=WIDE):
    """Scores of other rows by one point of a grid, with this share of its penalties."""
    kind, p, penalty = point
    (recipe, along), p = KINDS[grid.kinds[kind]], grid.powers[p]
    penalties = {"l2": LEAST * p} | {along: p * PENALTIES[along][penalty]}
    pos, neg = X[y == 1], X[y == 0]
    H = recipe(pos, neg)
    scaled = {name: share * value for name, value in penalties.items()}
    return pnorm.score(judged, H, pnorm.minimize(pos, neg, H, p, **scaled, penalty="shapes", tol=TOL)[0])


def bags(X, y, judged, point):
    """Scores of other rows: the mean of fits to rows drawn with replacement."""
    rng = np.random.default_rng(0)
    drawn = [np.concatenate([rng.choice(np.flatnonzero(y == side), (y == side).sum()) for side in (0, 1)])
             for _ in range(BAGS)]  # fmt: skip
    return np.mean([minimiser(X[rows], y[rows], judged, point) for rows in drawn], axis=0)


def rounds(X, y, judged, n=200, p=4):
    """Scores of other rows after a fixed number of rounds without a penalty."""
    pos, neg = X[y == 1], X[y == 0]
    H = cuts(pos, neg)
    return pnorm.score(judged, H, pnorm.train(pos, neg, H, p, t_max=n)[0])


def means(held, grid, measure, kinds, powers):
    """Means over folds at the points that are allowed, -inf elsewhere."""
    allowed = np.ix_([grid.kinds.index(k) for k in kinds], [grid.powers.index(p) for p in powers])
    among = np.full(held.shape[1:-1], -np.inf)
    among[allowed] = held[..., list(HELD).index(measure)].mean(axis=0)[allowed]
    return among


def best(held, grid, kinds, powers, measure="AP"):
    """The point with the largest mean over folds, among some."""
    mean = means(held, grid, measure, kinds, powers)
    return np.unravel_index(mean.argmax(), mean.shape)


def near(held, grid, measure, kinds, powers):
    """Whether each point is within one standard error of the best one."""
    point = best(held, grid, kinds, powers, measure)
    values = held[(slice(None), *point, list(HELD).index(measure))]
    return means(held, grid, measure, kinds, powers) >= values.mean() - values.std(ddof=1) / np.sqrt(len(values))


def top_then_all(held, grid, kinds, powers):
    """The largest average precision of those whose partial AUC cannot be told from the best."""
    allowed = near(held, grid, "pAUC of 10", kinds, powers)
    mean = np.where(allowed, means(held, grid, "AP", kinds, powers), -np.inf)
    return np.unravel_index(mean.argmax(), mean.shape)


def simplest(held, grid, kinds, powers):
    """The strongest penalty, then the smallest p, of those whose average precision cannot be told from the best."""
    kind, p, penalty = np.nonzero(near(held, grid, "AP", kinds, powers))
    first = np.lexsort((kind, p, penalty))[0]
    return kind[first], p[first], penalty[first]


def rule(grid, choose=top_then_all, kinds=None, powers=None, **how):
    """Return a function from held-out measures to the point that `choose` takes, among some kinds and powers."""
    return partial(choose, grid=grid, kinds=kinds or grid.kinds, powers=powers or grid.powers, **how)


RULES: dict[str, dict[str, Callable]] = {"ours": {"default": rule(DEFAULT)}}
RULES["ours"] |= {f"p = {p}": rule(DEFAULT, powers=(p,)) for p in DEFAULT.powers}
OF_WIDE = {"both, steps; p = 1, 4": rule(WIDE, kinds=OLDER, powers=DEFAULT.powers)}
OF_WIDE |= {"both, steps": rule(WIDE, kinds=OLDER), "four kinds, five powers": rule(WIDE)}
OF_WIDE |= {f"four kinds, p = {p}": rule(WIDE, powers=(p,)) for p in WIDE.powers}
OF_WIDE |= {f"without {kind}": rule(WIDE, kinds=tuple(k for k in WIDE.kinds if k != kind)) for kind in WIDE.kinds}
OF_WIDE |= {f"{kind} only": rule(WIDE, kinds=(kind,)) for kind in WIDE.kinds}
OF_WIDE |= {"simplest": rule(WIDE, simplest)}
OF_WIDE |= {f"by {measure}": rule(WIDE, best, measure=measure) for measure in HELD}
RULES["wide"] = OF_WIDE
"""By the method whose points they choose among."""

# Theirs -----------------------------------------------------------------------------------------------


CS = np.logspace(-4, 2, 7)
WEIGHTED = Grid(("splines",), (1, 10, 100, 1000))
"""The weights on the negatives, in the place of powers."""


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
    held = np.empty((FOLDS, 1, len(WEIGHTED.powers), len(CS), len(HELD)))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X[rows], y[rows])
    for a, (rest, fold) in enumerate((rows[rest], rows[fold]) for rest, fold in folds):
        for b, weight in enumerate(WEIGHTED.powers):
            for c, f in enumerate(weighted_path(X[rest], y[rest], X[fold], weight)):
                held[a, 0, b, c] = [measure(f[y[fold] == 1], f[y[fold] == 0]) for measure in HELD.values()]
    _, b, c = rule(WEIGHTED)(np.round(held, 5))
    path = weighted_path(X[rows], y[rows], X[judged], WEIGHTED.powers[b])
    return path[c], {"weight": WEIGHTED.powers[b], "C": float(CS[c])}


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
METHODS = ("ours", "wide", "bags", "a third chooses", "200 rounds", *RIVALS)
"""Methods that can be measured. The method "bags" needs "wide" as well."""
ON_PAGE = ("default", "p = 1", "p = 4", "four kinds, five powers", "bags", *THIRD, "200 rounds", *RIVALS)

# The measurements -------------------------------------------------------------------------------------


def split(data, rows, judged, wanted):
    """Train and measure the wanted methods on one split."""
    rows, y, found = few(rows), data.y, {}
    X = data.indicators() if {"ours", "wide", "200 rounds", "a third chooses"} & set(wanted) else None
    for name, grid in (("ours", DEFAULT), ("wide", WIDE)):
        if name in wanted:
            found[name] = ours(grid, X[rows], y[rows], X[judged], y[judged])
    if "wide" in wanted and "bags" in wanted:
        point = rule(WIDE)(np.array(found["wide"]["held"]))
        found["bags"] = measured(bags(X[rows], y[rows], X[judged], point), y[judged])
    if "a third chooses" in wanted:
        some = rows[: len(rows) // 3]
        point = rule(WIDE)(held_out(WIDE, X[some], y[some]))
        for name, share in THIRD.items():
            found[name] = measured(minimiser(X[rows], y[rows], X[judged], point, share), y[judged])
    if "200 rounds" in wanted:
        start = time.process_time()
        f = rounds(X[rows], y[rows], X[judged])
        found["200 rounds"] = measured(f, y[judged]) | {"seconds": time.process_time() - start}
    for name in [name for name in RIVALS if name in wanted]:
        start = time.process_time()
        found_by = RIVALS[name](data, rows, judged)
        f, choice = found_by if isinstance(found_by, tuple) else (found_by, {})
        found[name] = measured(f, y[judged]) | {"seconds": time.process_time() - start} | choice
    return found


def methods(run):
    """Measures by method: every rule applied to the points of its grid, then the others."""
    found = {}
    for name in [name for name in RULES if name in run]:
        held, judged = (np.array(run[name][of]) for of in ("held", "judged"))
        for title, choose in RULES[name].items():
            point = tuple(int(i) for i in choose(held))
            found[title] = dict(zip(MEASURES, judged[point].tolist(), strict=True)) | {"point": point}
        whole = "default" if name == "ours" else "four kinds, five powers"
        found[whole]["seconds"] = run[name]["seconds"]
    order = ("bags", *THIRD, "200 rounds", *RIVALS)  # whatever was measured first
    return found | {name: run[name] for name in order if name in run}


def chosen(runs):
    """What the default was, in words."""
    kinds, powers, places = zip(*[run["default"]["point"] for run in runs], strict=True)
    yield ", ".join(f"{DEFAULT.kinds[k]} in {kinds.count(k)}" for k in sorted(set(kinds)))
    yield ", ".join(f"p = {DEFAULT.powers[k]} in {powers.count(k)}" for k in sorted(set(powers)))
    for along, values in PENALTIES.items():
        of = [places[i] for i, kind in enumerate(kinds) if KINDS[DEFAULT.kinds[kind]][1] == along]
        if of:
            yield f"{along} / p = {values[int(np.median(of))]:.2g} in the median"


def table(runs):
    """Means, differences to the first method, and seconds."""
    lines = compared(runs, next(iter(runs[0])))
    lines[0].append("seconds")
    for line in lines[1:]:
        seconds = np.median([run[line[0]].get("seconds", np.nan) for run in runs if line[0] in run])
        line.append(f"{seconds:.2f}" if seconds == seconds else "")
    return lines


def behind(runs, rule, without=(NOT_ADDITIVE,)):
    """By measure, the additive method of others that is best in the mean, and what it has more than a rule."""
    others = [other for other in RIVALS if other not in without and all(other in run for run in runs)]
    for measure in MEASURES if others else ():
        values = {method: np.array([run[method][measure] for run in runs]) for method in (rule, *others)}
        top = max(others, key=lambda method: values[method].mean())
        yield measure, values[rule].mean(), top, values[top] - values[rule]


def verdicts(found):
    """Yield the comparisons in which a rule is more than one standard error behind the best additive method.

    Without "logistic, weights", which is newer than these rules.
    """
    yield ["rule", "behind", "where"]
    for title in RULES["wide"]:
        measured_on = {name: [run for run in runs if title in run] for name, runs in found.items()}
        known = {name: runs for name, runs in measured_on.items() if runs}
        lost = [
            f"{measure} on {name} (\u2212{d.mean():.3f}, {top})"
            for name, runs in known.items()
            for measure, _, top, d in behind(runs, title, (NOT_ADDITIVE, "logistic, weights"))
            if d.mean() > corrected_error(d)
        ]
        yield [title, f"{len(lost)} of {len(known) * len(MEASURES)}", "; ".join(lost) or "nowhere"]


def summary(found):
    """The default beside the best other additive method of each set: what the default has more."""
    lines = [["set", *MEASURES]]
    for name, runs in found.items():
        cells = []
        for _, mean, top, d in behind(runs, "default"):
            cells.append(f"{mean:.3f}, {0.0 - d.mean():+.3f} \u00b1{corrected_error(d):.3f} ({top})")
        lines.append([name, *cells])
    return lines


def typeset(text):
    """Minus signs, and no break before an error."""
    return re.sub(r"(?<=[ *])-(?=0\.)", "\u2212", text.replace(" \u00b1", "\u00a0\u00b1\u00a0"))


def add(found, folder, method):
    """Put one method into the tables of a folder; the lines of all other methods stay as they are.

    The file needs the method and "ours". The summary gets the method where it was run on all splits of a set and its
    mean is above that of the best so far.
    """
    pages = {part: (folder / f"additive{part}.inc").read_text(encoding="utf-8") for part in ("", "_summary")}
    after = ON_PAGE[ON_PAGE.index(method) - 1]
    for name, of in found.items():
        runs = [{key: run[key] for key in ("default", method)} for run in map(methods, of["runs"]) if "default" in run]
        line = table(runs)[-1]
        new = typeset("".join(f"   {'*' if not i else ' '} - {cell}\n" for i, cell in enumerate(line)))
        before, title, rest = re.split(rf"(?m)^({name}: .*\n)", pages[""])
        rest = re.sub(rf"   \* - {re.escape(method)}\n(     - .*\n)+", "", rest, count=1)
        at = re.search(rf"   \* - {re.escape(after)}\n(     - .*\n)+", rest).end()
        pages[""] = before + title + rest[:at] + new + rest[at:]
        if len(runs) < int(re.search(r"(\d+) splits", title)[1]):
            continue
        _, row, *cells = re.search(rf"(   \* - )({name})\n((?:     - .*\n?)+)", pages["_summary"]).groups()
        cells = cells[0].splitlines()
        for i, measure in enumerate(MEASURES):
            values, ours = (np.array([run[which][measure] for run in runs]) for which in (method, "default"))
            mean, more = (float(x.replace("\u2212", "-")) for x in re.findall(r"[+\u2212]?\d\.\d+", cells[i])[:2])
            d = ours - values
            if f"({method})" in cells[i] or values.mean() > mean - more + 5e-4:
                cell = f"{ours.mean():.3f}, {0.0 + d.mean():+.3f} \u00b1{corrected_error(d):.3f} ({method})"
                cells[i] = typeset(f"     - {cell}")
        body = "\n".join(cells)
        pages["_summary"] = re.sub(
            rf"   \* - {row}\n(     - .*\n?)+", lambda _, r=row, b=body: f"   * - {r}\n{b}\n", pages["_summary"]
        )
    for part, text in pages.items():
        (folder / f"additive{part}.inc").write_text(text, encoding="utf-8")


def show(found, folder=None):
    """Print a table per set and what became of each rule, or write the tables for the documentation."""
    tables, of_sets = "", {}
    for name, of in found.items():
        every = [methods(run) for run in of["runs"]]
        judged = [run for run in every if "default" in run]
        runs = judged or every
        if folder and len(judged) < FEWEST:
            continue
        of_sets |= {name: judged} if judged else {}
        title = f"{name}: {of['rows']} rows, {of['positives']} positive; {len(runs)} splits"
        said = "".join(f"\nChosen: {words}." for words in chosen(runs)) if "default" in runs[0] else ""
        if folder:
            shown = [{method: run[method] for method in ON_PAGE if method in run} for run in runs]
            tables += f"{title}\n{'~' * len(title)}\n\n{list_table(table(shown), ':class: dense')}{said}\n\n"
        else:
            print(f"\n{title}")
            print_columns(table(runs))
            print(said[1:])
    if of_sets:
        lines = list(verdicts(of_sets))
        if folder:
            parts = {"": tables, "_summary": list_table(summary(of_sets), ":class: dense")}
            parts["_rules"] = list_table(lines, ":widths: 18 12 70")
            for part, text in parts.items():
                (folder / f"additive{part}.inc").write_text(typeset(text), encoding="utf-8")
        else:
            print_columns(lines)


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--set", action="append", choices=READERS, help="only this one; may be repeated")
    parser.add_argument("--method", action="append", choices=METHODS, help="only this one; may be repeated")
    parser.add_argument("--splits", type=int, help="how many, for every set")
    parser.add_argument("--out", type=Path, help="add every number to this file")
    parser.add_argument("--show", type=Path, help="print the tables of a file written before")
    parser.add_argument("--rst", type=Path, help="with --show, write them into this folder, for the documentation")
    parser.add_argument("--add", choices=RIVALS, help="with --show and --rst, put this method alone into the tables")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    if arguments.add:
        add(json.loads(arguments.show.read_text()), arguments.rst, arguments.add)
    elif arguments.show:
        show(json.loads(arguments.show.read_text()), arguments.rst)
    else:
        wanted = arguments.method or ("ours", "200 rounds", *RIVALS)
        n_splits = {name: arguments.splits or SPLITS.get(name, 10) for name in arguments.set or SPLITS}
        show(over_splits(n_splits, partial(split, wanted=wanted), arguments.out, READERS))
