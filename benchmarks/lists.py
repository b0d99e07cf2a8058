"""Linear ranking of lists: the numbers of the page "Lists with grades"; needs PNORM_DATA and the packages compared.

    PNORM_DATA=... python benchmarks/lists.py

1. Documents per second and epoch, simulated, 50 columns.
2. Planted weights: noiseless lists in the order of a linear function, and how much of it is found.
3. Graded lists from spambase: how many capital letters does an e-mail have, by the frequencies of words and
   characters? Grades 0 to 4 are made from the column capital_run_length_total, cut at its 50, 75, 90 and 97 %
   quantiles; the three columns of capital letters are left out, and the 54 others are taken as log(1 + x). Lists are
   46 random sets of 100 e-mails, 30 to learn from and 16 to judge by, 10 times. "15 cuts" are indicators of a column
   being above 15 of its quantiles, in the place of the columns. The rivals have their defaults; the boosters' trees are
   not linear, and are there to show what a line costs. "+" and "-" are p < 0.05 in a paired t test, corrected.
4. Seconds for the measures of 10,000 lists of 100 rows, five grades, on one core: of scores without ties, and of
   scores rounded to whole numbers, most of which tie.
5. The P-Norm Push on pairs of unequal grades, with l2 = 0.01, beside `listwise.train`: on the lists of 3, columns
   scaled to [0, 1] or 15 cuts of each, and on simulated ones. These follow two of five columns as a whole, and a third
   at the top; 100 lists of 20, 50 or 400 rows to learn from and as many to judge by, 10 times. "grades alike" are the
   weights of `alike`. Tests as in 3.
"""

import time

import numpy as np
from command_line import data_folder, parser_of
from lightgbm import LGBMRanker
from reproduce import paired
from sklearn.linear_model import LinearRegression
from xgboost import XGBRanker

import pnorm
from pnorm import listwise, metrics


def speed():
    """Documents per second in the median epoch, the look at all lists after it included."""
    print("1. Documents per second and epoch, 50 columns, five grades")
    generator = np.random.default_rng(0)
    for loss, rows, size in (("kendall", 100_000, 10), ("kendall", 100_000, 100), ("kendall", 100_000, 100_000),
                             ("ndcg", 20_000, 10), ("ndcg", 20_000, 100)):  # fmt: skip
        X = generator.normal(size=(rows, 50))
        f = X @ generator.normal(size=50) + 3 * generator.normal(size=rows)
        y = np.digitize(f, np.quantile(f, [0.5, 0.75, 0.9, 0.97]))
        ends = []
        group = np.full(rows // size, size)
        listwise.train(X, y, group, loss, epochs=4, callback=lambda _: ends.append(time.perf_counter()))  # noqa: B023
        print(f"    {loss:8} lists of {size:6}: {rows / np.median(np.diff(ends)):12,.0f}")


def planted():
    """Kendall's tau on lists without noise."""
    print("2. Noiseless lists, 20 columns, 300 lists of 20: tau, and the share of lists in perfect order")
    generator = np.random.default_rng(1)
    group = np.full(300, 20)
    for what in ("integers", "real numbers", "five grades"):
        X, w = generator.normal(size=(6000, 20)), generator.normal(size=20)
        if what == "integers":
            X, w = generator.integers(-3, 4, X.shape), generator.integers(-5, 6, 20)
        y = X @ w
        if what == "five grades":
            y = np.digitize(y, np.quantile(y, [0.5, 0.75, 0.9, 0.97]))
        for epochs in (20, 50):
            found, _ = listwise.train(X, y, group, epochs=epochs)
            lists = zip(np.split(X @ found, 300), np.split(y, 300), strict=True)
            losses = np.array([listwise.kendall_tau_loss(*one) for one in lists])
            pairs = np.mean([(one[:, None] != one).sum() / 380 for one in np.split(y, 300)])
            tau = 1 - 2 * losses.mean() / pairs
            print(f"    y {what:13} {epochs} epochs: tau {tau:.5f}, {np.mean(losses == 0):6.1%} of the lists")


def graded(seed):
    """Lists of 100 e-mails: rows, grades and sizes, to learn from and to judge by."""
    data = pnorm.datasets.spambase()
    y = np.digitize(data.X[:, 56], np.quantile(data.X[:, 56], [0.5, 0.75, 0.9, 0.97]))
    rows = np.random.default_rng(seed).permutation(4601)[:4600]
    X = np.log1p(data.X[:, :54])
    return [(X[part], y[part], np.full(part.size // 100, 100)) for part in (rows[:3000], rows[3000:])]


def listwise_of(loss, cuts=0, **arguments):
    """One of ours, on the columns or on so many cuts of each."""

    def run(X, y, group, judged):
        if cuts:
            H = pnorm.rankers.quantile_thresholds(X, X, n_cuts=cuts)
            X, judged = H.evaluate(X), H.evaluate(judged)
        return judged @ listwise.train(X, y, group, loss, **arguments)[0]

    return run


METHODS = {
    "pnorm kendall": listwise_of("kendall"),
    "pnorm ndcg": listwise_of("ndcg"),
    "pnorm ndcg, k = 10": listwise_of("ndcg", k=10),
    "pnorm kendall, 15 cuts": listwise_of("kendall", 15),
    "pnorm ndcg, k = 10, 15 cuts": listwise_of("ndcg", 15, k=10),
    "least squares on grades": lambda X, y, group, judged: LinearRegression().fit(X, y).predict(judged),
    "LightGBM lambdarank": lambda X, y, group, judged: (
        LGBMRanker(verbose=-1, n_jobs=2).fit(X, y, group=group).predict(judged)
    ),
    "XGBoost rank:ndcg": lambda X, y, group, judged: (
        XGBRanker(objective="rank:ndcg", n_jobs=2).fit(X, y, group=group).predict(judged)
    ),
}
MEASURES = {
    "tau loss": lambda f, y, group: listwise.kendall_tau_loss(f, y, group=group),
    "NDCG": lambda f, y, group: listwise.ndcg(f, y, group=group),
    "NDCG at 10": lambda f, y, group: listwise.ndcg(f, y, 10, group=group),
}


def compared(splits=10):
    """Means over splits; what differs from ours for Kendall's tau, by a corrected paired t test."""
    print(f"3. Graded lists from spambase, {splits} splits; +, - more or less than 'pnorm kendall'")
    print(f"    {'':28} {'tau loss':>10} {'NDCG':>10} {'NDCG at 10':>12} {'seconds':>9}")
    found = {name: [] for name in METHODS}
    for seed in range(splits):
        train, (X, y, group) = graded(seed)
        for name, run in METHODS.items():
            start = time.perf_counter()
            f = run(*train, X)
            seconds = time.perf_counter() - start
            found[name].append([measure(f, y, group) for measure in MEASURES.values()] + [seconds])
    ours = np.array(found["pnorm kendall"])
    for name, values in found.items():
        line = f"    {name:28}"
        for j, width in enumerate((9, 9, 11)):
            pair = paired(np.array(values)[:, j] - ours[:, j], 16 / 30)
            mark = " " if not pair.corrected < 0.05 else "+" if pair.mean > 0 else "-"
            line += f" {np.mean(values, axis=0)[j]:{width}.3f}{mark}"
        print(f"{line} {np.median(values, axis=0)[3]:9.2f}")


def measured():
    """Seconds per call, the best of three."""
    print("4. Seconds for 10,000 lists of 100 rows, five grades")
    print(f"    {'':26} {'no ties':>9} {'ties':>9}")
    rng = np.random.default_rng(0)
    y = rng.choice(5, 1_000_000, p=[0.6, 0.2, 0.1, 0.06, 0.04])
    f = 3.0 * rng.normal(size=y.size) + y
    group = np.repeat(rng.permutation(10_000), 100)
    for name in (
        "ndcg",
        "mean_average_precision",
        "mean_reciprocal_rank",
        "expected_reciprocal_rank",
        "mean_precision_at",
        "mean_recall_at",
    ):
        k = {"k": 10} if name.endswith("_at") else {}
        seconds = []
        for scores in (f, f.round()):
            times = []
            for _ in range(3):
                start = time.perf_counter()
                getattr(metrics, name)(scores, y, group=group, **k)
                times.append(time.perf_counter() - start)
            seconds.append(min(times))
        print(f"    {name:26} {seconds[0]:9.2f} {seconds[1]:9.2f}")


def simulated(seed):
    """Lists of several lengths, the top of which is told by another column than the rest."""
    generator = np.random.default_rng(seed)
    for _ in range(2):
        group = generator.choice([20, 50, 400], 100, p=[0.6, 0.3, 0.1])
        X = generator.normal(size=(group.sum(), 5))
        worth = X[:, 0] + X[:, 1] + 3 * np.maximum(X[:, 2] - 0.5, 0) + 0.5 * generator.normal(size=len(X))
        lists = np.split(worth, np.cumsum(group)[:-1])
        yield X, np.concatenate([np.digitize(one, np.quantile(one, [0.5, 0.75, 0.9, 0.97])) for one in lists]), group


def scaled(seed):
    """The lists of e-mails, columns scaled to [0, 1]."""
    return _evaluated(pnorm.rankers.normalized, *graded(seed))


def with_cuts(seed):
    """The lists of e-mails, 15 cuts of each column."""
    return _evaluated(lambda pos, neg: pnorm.rankers.quantile_thresholds(pos, neg, n_cuts=15), *graded(seed))


def _evaluated(rankers_of, train, judged):
    H = rankers_of(train[0], train[0])
    return [(H.evaluate(X), *rest) for X, *rest in (train, judged)]


def alike(y, query, p):
    """Weights of negatives by which all grades of all lists count alike where all scores are equal."""
    grades, of_row, rows = np.unique(np.column_stack([query, y]), axis=0, return_inverse=True, return_counts=True)
    last = np.searchsorted(grades[:, 0], grades[:, 0], "right") - 1
    above = np.cumsum(rows)[last] - np.cumsum(rows)
    return (1 / (rows * np.maximum(above, 1.0) ** p))[of_row]


def push_of(p, weigh=False):
    """The push, with all pairs of the same weight or all grades."""

    def run(X, y, group, judged):
        query = np.repeat(np.arange(group.size), group)
        lists = {"pos_grade": y, "neg_grade": y, "pos_group": query, "neg_group": query}
        weight = alike(y, query, p) if weigh else None
        return judged @ pnorm.minimize(X, X, p=p, l2=0.01, neg_weight=weight, **lists)[0]

    return run


PUSHES = {"listwise kendall": listwise_of("kendall")}
PUSHES |= {f"push, p = {p}": push_of(p) for p in (1, 2, 4)}
PUSHES |= {f"push, p = {p}, grades alike": push_of(p, True) for p in (1, 2, 4)}


def pushed(splits=10):
    """Means over splits; what differs from `listwise.train` for Kendall's tau."""
    measures = {**MEASURES, "NDCG at 3": lambda f, y, group: listwise.ndcg(f, y, 3, group=group)}
    print(f"5. The push on grades, {splits} splits; +, - more or less than 'listwise kendall'")
    for name, draw, overlap in (
        ("spambase, columns", scaled, 16 / 30),
        ("spambase, 15 cuts", with_cuts, 16 / 30),
        ("simulated", simulated, 0.0),
    ):
        print(f"    {name:28}" + "".join([f" {measure:>11}" for measure in measures]))
        found = {method: [] for method in PUSHES}
        for seed in range(splits):
            train, (X, y, group) = draw(seed)
            for method, run in PUSHES.items():
                f = run(*train, X)
                found[method].append([measure(f, y, group) for measure in measures.values()])
        for method, values in found.items():
            line = f"    {method:28}"
            for ours, theirs in zip(np.transpose(found["listwise kendall"]), np.transpose(values), strict=True):
                pair = paired(theirs - ours, overlap)
                line += f" {theirs.mean():10.3f}" + (
                    " " if not pair.corrected < 0.05 else "+" if pair.mean > 0 else "-"
                )
            print(line)


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    speed()
    planted()
    compared()
    measured()
    pushed()
