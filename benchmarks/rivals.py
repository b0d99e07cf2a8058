"""A round of training beside the same work in NumPy, LightGBM, XGBoost and scikit-learn, and how rounds grow.

    pip install lightgbm xgboost scikit-learn
    python benchmarks/rivals.py [--threads N] [--quick]

A round of boosting depth-one trees is the rivals' name for a round of the P-Norm Push on
thresholds: one pass over all features of all rows. Every ratio compares runs that alternate in one
process, on the same rows, with the same number of threads; figures are medians of rounds. The
docs quote this output.
"""

import importlib
import itertools
import multiprocessing
import time
from functools import partial
from statistics import mean, median

import numpy as np
from shared import parser_of

import pnorm

P = 4.0


def main():
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--threads", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, to try the script")
    given = parser.parse_args()
    rows = 10**5 if given.quick else 10**6
    print(f"{rows} rows, 50 columns, {given.threads} threads; a round in ms, and pnorm's share of the rival's\n")
    dense_round(rows, given.threads)
    for bins, most in (
        (64, {"LightGBM": 0.6}),
        (255, {"LightGBM": 0.95, "XGBoost": 0.4, "XGBoost rank:pairwise": 0.05}),
    ):
        threshold_rounds(rows, bins, given.threads, most)
    first_round(rows, given.threads)
    stumps_of_scikit_learn(rows // 10)
    print()
    small_rounds()
    print()
    growth(given.threads, 10 if given.quick else 1)
    print()
    memory(rows * 10, given.threads)


def raw(rows, columns=50, seed=0):
    """Continuous float32 features with a weak signal, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=rows) > 1
    return X, y


def rounds(pos, neg, H, threads, n, p=P):
    """Seconds of n rounds of `train`, after two to warm up."""
    stamps = []
    pnorm.train(pos, neg, H, p, n + 3, n_threads=threads, callback=lambda _: stamps.append(time.perf_counter()))
    return [b - a for a, b in itertools.pairwise(stamps[2:])]


def timed(function, n, clock=time.perf_counter):
    """Seconds of n calls."""
    stamps = [clock()]
    for _ in range(n):
        function()
        stamps.append(clock())
    return [b - a for a, b in itertools.pairwise(stamps)]


def report(what, own, rival, name):
    own, rival = median(own), median(rival)
    print(f"{what:36}{own * 1e3:8.1f}  {name:22}{rival * 1e3:8.1f}  {own / rival:5.3f}", flush=True)


def dense_round(rows, threads):
    """Float64 outputs as they are: the least is one product of the same matrix with a vector."""
    X, y = raw(rows)
    X = X.astype(np.float64)
    pos, neg, s = X[y], X[~y], np.random.default_rng(1).random(rows)
    own, product = [], []
    for _ in range(3):
        own += rounds(pos, neg, None, threads, 10)
        product += timed(lambda: X.T @ s, 10)
    report("dense outputs, float64", own, product, "NumPy's A.T @ s")


def lightgbm_update(X, y, bins, threads):
    import lightgbm

    options = {"objective": "binary", "num_leaves": 2, "max_bin": bins, "num_threads": threads, "verbose": -1}
    options |= {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0}
    return lightgbm.Booster(options, lightgbm.Dataset(X, y.astype(np.float32), params=options)).update


def xgboost_update(X, y, bins, threads, objective="binary:logistic"):
    import xgboost

    lists = {"qid": np.zeros(len(y), np.int32)} if objective.startswith("rank") else {}
    data = xgboost.QuantileDMatrix(X, y.astype(np.float32), max_bin=bins, nthread=threads, **lists)
    options = {"objective": objective, "max_depth": 1, "max_bin": bins, "tree_method": "hist", "nthread": threads}
    booster, count = xgboost.Booster(options, [data]), itertools.count()
    return lambda: booster.update(data, next(count))


def threshold_rounds(rows, bins, threads, rivals):
    """Thresholds at quantiles, as many bins for all."""
    X, y = raw(rows)
    pos, neg = X[y], X[~y]
    H = pnorm.rankers.quantile_thresholds(pos, neg, bins - 1)
    makers = {
        "LightGBM": lambda: lightgbm_update(X, y, bins, threads),
        "XGBoost": lambda: xgboost_update(X, y, bins, threads),
        "XGBoost rank:pairwise": lambda: xgboost_update(X, y, bins, threads, "rank:pairwise"),
    }
    for name in rivals:
        if not has(name.split()[0].lower()):
            continue
        update, own, rival = makers[name](), [], []
        few = 3 if "rank" in name else 10
        timed(update, 2)
        for _ in range(3):
            own += rounds(pos, neg, H, threads, 10)
            rival += timed(update, few)
        report(f"thresholds, {bins} bins", own, rival, name)


def first_round(rows, threads):
    """From a raw float32 array to the end of the first round, beside the construction of LightGBM's data set."""
    if not has("lightgbm"):
        return
    import lightgbm

    X, y = raw(rows)
    pos, neg = X[y], X[~y]

    def own():
        pnorm.train(pos, neg, pnorm.rankers.quantile_thresholds(pos, neg, 254), P, 1, n_threads=threads)

    def rival():
        options = {"max_bin": 255, "num_threads": threads, "verbose": -1}
        lightgbm.Dataset(X, y.astype(np.float32), params=options).construct()

    a, b = [], []
    for _ in range(3):
        a += timed(own, 1)
        b += timed(rival, 1)
    report("raw float32 to first round, 255 bins", a, b, "LightGBM Dataset")


def stumps_of_scikit_learn(rows):
    """AdaBoost with stumps, one thread, a tenth of the rows: it sorts all columns in every round."""
    if not has("sklearn"):
        return
    from sklearn.ensemble import AdaBoostClassifier

    X, y = raw(rows)
    pos, neg = X[y], X[~y]
    H = pnorm.rankers.quantile_thresholds(pos, neg, 254)
    rival = timed(lambda: AdaBoostClassifier(n_estimators=3).fit(X, y), 1)[0] / 3
    report(f"thresholds, 255 bins, {rows} rows", rounds(pos, neg, H, 1, 10), [rival], "AdaBoostClassifier")


def small_rounds():
    """Few rows: cuts, tables and 100 rounds, from raw float32 rows on; processor time of one thread."""
    print("few rows: 100 rounds on thresholds, 64 bins, from raw rows on, 1 thread; processor time in ms, share")
    for each, columns in ((30, 8), (150, 8), (500, 9), (2000, 20)):
        X, _ = raw(2 * each, columns)
        y = np.arange(2 * each) < each
        X[y] += np.float32(0.3)

        def own(pos=X[y], neg=X[~y]):
            H = pnorm.rankers.quantile_thresholds(pos, neg, 63)
            pnorm.train(pos, neg, H, P, 100, n_threads=1)

        def rival(maker, X=X, y=y):
            update = maker(X, y, 64, 1)
            for _ in range(100):
                update()

        for name, maker in (("LightGBM", lightgbm_update), ("XGBoost", xgboost_update)):
            if has(name.lower()):
                a, b = [], []
                for _ in range(7):
                    a.append(mean(timed(own, 10, time.process_time)))  # one short call varies too much
                    b.append(mean(timed(partial(rival, maker), 10, time.process_time)))
                report(f"{each} + {each} rows, {columns} columns", a, b, name)


def growth(threads, smaller):
    """Slopes of log time on log size; p is to make no difference."""
    sizes = [25_000 // smaller * k for k in (8, 16, 32, 64)]

    def slope(x, times):
        return float(np.polyfit(np.log(x), np.log([median(t) for t in times]), 1)[0])

    def of_rows(kind):
        times = []
        for rows in sizes:
            X, y = raw(rows, 20)
            pos, neg = X[y].astype(np.float64), X[~y].astype(np.float64)
            H = pnorm.rankers.quantile_thresholds(pos, neg, 63) if kind == "thresholds" else None
            times.append(rounds(pos, neg, H, threads, 20))
        return slope(sizes, times)

    def of_columns(kind):
        columns, times = [20, 40, 80, 160], []
        for n in columns:
            X, y = raw(4 * sizes[0] // 8, n)
            pos, neg = X[y].astype(np.float64), X[~y].astype(np.float64)
            H = pnorm.rankers.quantile_thresholds(pos, neg, 63) if kind == "thresholds" else None
            times.append(rounds(pos, neg, H, threads, 20))
        return slope(columns, times)

    for kind in ("dense", "thresholds"):
        print(
            f"{kind}: slope of log time on log(I + K), {sizes[0]} to {sizes[-1]}: {of_rows(kind):.2f}; "
            f"on log n, 20 to 160: {of_columns(kind):.2f}",
            flush=True,
        )
    X, y = raw(sizes[1], 50)
    pos, neg = X[y].astype(np.float64), X[~y].astype(np.float64)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 63)
    for kind, outputs in (("dense", None), ("thresholds", H)):
        times = {p: [] for p in (1, 64)}
        for _ in range(3):
            for p, found in times.items():
                found += rounds(pos, neg, outputs, threads, 10, p)
        print(f"{kind}: a round at p = 64 takes {median(times[64]) / median(times[1]):.2f} times one at p = 1")


def memory(rows, threads):
    """Peak of a process that trains on thresholds of 28 continuous float32 features."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        print(pool.apply(memory_here, (rows, threads)))


def memory_here(rows, threads):
    """Run in a process of its own, which holds the input and nothing else."""
    pos = np.empty((rows // 2, 28), np.float32)
    neg = np.empty((rows - rows // 2, 28), np.float32)
    for X, shift in ((pos, 0.2), (neg, 0.0)):
        rng = np.random.default_rng(len(X))
        for block in np.array_split(X, 100):
            block[:] = rng.standard_normal(block.shape, dtype=np.float32) + np.float32(shift)
    held = status("VmRSS")
    H = pnorm.rankers.quantile_thresholds(pos, neg, 255)
    cuts = status("VmHWM")
    start = time.perf_counter()
    pnorm.train(pos, neg, H, P, 20, n_threads=threads)
    seconds = time.perf_counter() - start
    codes, vector = rows * 28, rows * 8
    return (
        f"{rows} x 28 float32, 255 cuts a feature: input {held / 1e6:.0f} MB, codes {codes / 1e6:.0f} MB, a vector "
        f"{vector / 1e6:.0f} MB;\n    beyond the input {(cuts - held) / 1e6:.0f} MB while cuts are found, "
        f"{(status('VmHWM') - held) / 1e6:.0f} MB at most; 20 rounds, with coding, {seconds:.1f} s"
    )


def status(key):
    """A size of this process in bytes (Linux)."""
    with open("/proc/self/status") as file:
        return int(file.read().split(f"{key}:")[1].split()[0]) * 1024


def has(module):
    try:
        importlib.import_module(module)
    except ImportError:
        print(f"{module} is not installed")
        return False
    return True


if __name__ == "__main__":
    main()
