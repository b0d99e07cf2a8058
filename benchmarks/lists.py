"""Linear ranking of lists: the numbers of the page "Lists with grades"; needs PNORM_DATA and the packages compared.

    PNORM_DATA=... python -P benchmarks/lists.py

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
"""

import time

import numpy as np
from lightgbm import LGBMRanker
from sklearn.linear_model import LinearRegression
from xgboost import XGBRanker

import pnorm
from pnorm import listwise, metrics
from pnorm._command.reproduce import paired


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


if __name__ == "__main__":
    speed()
    planted()
    compared()
    measured()
