"""Gradient descent in a kernel space: the numbers of the page "Ranking in a kernel space"; needs PNORM_DATA.

    PNORM_DATA=... python benchmarks/kernels.py

1. What a step costs, beside one product of the whole Gram matrix with a vector in NumPy, two threads each; simulated
   rows, 10 columns.
2. How many times longer than Lemma 3.4 of the paper the default step is, squared hinge, lambda = 1e-4, 3000 random rows
   of each set at most, columns scaled to unit variance; for widths gamma = 0.1, 0.3, 1, 3 over the number of columns.
3. MAGIC, 12,680 rows to learn from and 6,340 to judge by, columns scaled to unit variance, squared hinge, 200 steps:
   landmarks that are drawn by what is left, and as many drawn at random; what they leave out of the kernel, and the AUC
   on new rows. Three draws each; seconds are for the drawn ones.
4. Splits in 2:1 of Pima, Ionosphere, Spambase and MAGIC (20, 20, 5, 5 of them), columns scaled to unit variance:
   kernel descent (squared hinge, lambda and the width chosen by the AUC in 5-fold cross-validation, 500 landmarks of
   the two large sets), the P-Norm Push with p = 1 and 4 on columns and on 31 cuts of each (200 rounds), and
   scikit-learn's support vector machine with a kernel, as it is by default. "+" and "-" stand for more and less than
   kernel descent, p < 0.05 in a corrected paired t test.
5. The push: the same splits and loss, 200 steps, 200 landmarks of the two large sets, and for each of p = 1, 4, 16 the
   width and lambda with the best average precision in 3-fold cross-validation. Means in training and testing with
   standard errors over the splits; marks compare with p = 1 as above.
"""

import sys
import time
from pathlib import Path

import numpy as np
from reproduce import paired
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import SVC

import pnorm
from pnorm import bounds, kernel, metrics

sys.path.insert(0, str(Path(__file__).parent))
from command_line import data_folder, parser_of
from quality import columns, thresholds

SPLITS = {"pima": 20, "ionosphere": 20, "spambase": 5, "magic": 5}
LAMBDAS = (1e-1, 1e-2, 1e-3, 1e-4)
WIDTHS = (0.1, 0.3, 1.0, 3.0)


def timed(rows, **arguments):
    """The model, seconds before the first step, and seconds for each further one."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 10))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * generator.normal(size=rows) > 1
    ends = [time.perf_counter()]
    model, _ = kernel.train(
        X[y], X[~y], t_max=12, callback=lambda _: ends.append(time.perf_counter()), n_threads=2, **arguments
    )
    return model, ends[1] - ends[0], np.median(np.diff(ends[1:]))


def steps():
    """Seconds per step."""
    print("1. A step, two threads, in ms; G @ x; seconds before the first step")
    for rows in (2000, 8000, 20_000):
        _, before, step = timed(rows)
        G, x, product = np.random.default_rng(0).normal(size=(rows, rows)), np.ones(rows), []
        for _ in range(7):
            start = time.perf_counter()
            G @ x
            product.append(time.perf_counter() - start)
        del G
        floor = np.median(product)
        print(f"    {rows:6} rows: {1e3 * step:7.2f} {1e3 * floor:9.2f}   ratio {step / floor:.2f}   {before:8.2f}")
    for landmarks in (100, 1000):
        model, before, step = timed(100_000, landmarks=landmarks)
        print(
            f"    100000 rows, {landmarks:4} landmarks: {1e3 * step:7.2f}   {before:8.2f}; they leave out "
            f"{model.approximation.share:.3f} of the kernel"
        )


def scaled(name):
    """The rows of a data set with columns of unit variance, and their labels."""
    data = getattr(pnorm.datasets, name)()
    spread = data.X.std(axis=0)
    return (data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), data.y


def longer():
    """The default step over that of the lemma."""
    print("2. The default step, in steps of the lemma, for four widths")
    for name in SPLITS:
        X, y = scaled(name)
        rows = np.random.default_rng(0).permutation(len(y))[:3000]
        pos, neg = (X[rows][y[rows] == label] for label in (1, 0))
        ratios = []
        for width in WIDTHS:
            _, trace = kernel.train(pos, neg, loss="squared_hinge", lam=1e-4, gamma=width / X.shape[1], t_max=0)
            ratios.append(trace.largest_step / bounds.step_condition("squared_hinge", 1e-4, trace.kappa))
        print(f"    {name:10} " + " ".join(f"{ratio:6.0f}" for ratio in ratios))


def landmarks():
    """What landmarks leave out, and what that does to the list."""
    X, y = scaled("magic")
    train, test = next(StratifiedShuffleSplit(1, test_size=1 / 3, random_state=0).split(X, y))
    (pos, neg), (new_pos, new_neg) = ([X[part][y[part] == label] for label in (1, 0)] for part in (train, test))
    arguments = {"loss": "squared_hinge", "lam": 1e-4}
    print("3. MAGIC: landmarks, what they leave out (drawn, random), AUC (drawn, random), seconds")
    rows = np.concatenate([pos, neg])
    for size in (50, 100, 200, 500, 1000, 2000):
        found = []
        for seed in range(3):
            random = rows[np.random.default_rng(seed).choice(len(rows), size, replace=False)]
            for chosen in (size, random):
                start = time.perf_counter()
                model, _ = kernel.train(pos, neg, landmarks=chosen, seed=seed, **arguments)
                seconds = time.perf_counter() - start
                found.append(
                    (model.approximation.share, metrics.auc(model.score(new_pos), model.score(new_neg)), seconds)
                )
        drawn, random = np.mean(found[::2], axis=0), np.mean(found[1::2], axis=0)
        print(f"    {size:5}  {drawn[0]:.4f} {random[0]:.4f}   {drawn[1]:.4f} {random[1]:.4f}   {drawn[2]:6.1f}")
    start = time.perf_counter()
    model, _ = kernel.train(pos, neg, **arguments)
    seconds = time.perf_counter() - start
    auc = metrics.auc(model.score(new_pos), model.score(new_neg))
    print(f"      all                   {auc:.4f}          {seconds:6.1f}")


def descent(name):
    """Kernel descent with its width and penalty chosen by cross-validation."""
    arguments = {"loss": "squared_hinge", "landmarks": 500 if name in ("spambase", "magic") else None}

    def run(X, y, judged):
        best = (-1.0, 0.0, 0.0)
        for width in WIDTHS:
            for lam in LAMBDAS:
                value = 0.0
                for train, held in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
                    pos, neg = X[train][y[train] == 1], X[train][y[train] == 0]
                    model, _ = kernel.train(pos, neg, lam=lam, gamma=width / X.shape[1], **arguments)
                    f = model.score(X[held])
                    value += metrics.auc(f[y[held] == 1], f[y[held] == 0])
                best = max(best, (value, width, lam))
        _, width, lam = best
        model, _ = kernel.train(X[y == 1], X[y == 0], lam=lam, gamma=width / X.shape[1], **arguments)
        return model.score(judged)

    return run


def push(rankers, p):
    """The P-Norm Push, 200 rounds."""

    def run(X, y, judged):
        H = rankers(X[y == 1], X[y == 0])
        lam, _ = pnorm.train(X[y == 1], X[y == 0], H, p)
        return pnorm.score(judged, H, lam)

    return run


MEASURES = {"AUC": metrics.auc, "AP": metrics.average_precision, "at top": metrics.positives_at_top}


def compared():
    """Means over splits."""
    print("4. Splits in 2:1; seconds with the choice of parameters")
    for name, splits in SPLITS.items():
        X, y = scaled(name)
        methods = {
            "kernel descent": descent(name),
            **{f"push, {kind.__name__}, p = {p}": push(kind, p) for kind in (columns, thresholds) for p in (1, 4)},
            "support vector machine": lambda X, y, judged: SVC().fit(X, y).decision_function(judged),
        }
        found = {method: [] for method in methods}
        for train, test in StratifiedShuffleSplit(splits, test_size=1 / 3, random_state=0).split(X, y):
            for method, run in methods.items():
                start = time.perf_counter()
                f = run(X[train], y[train], X[test])
                seconds = time.perf_counter() - start
                pos, neg = f[y[test] == 1], f[y[test] == 0]
                found[method].append([float(measure(pos, neg)) for measure in MEASURES.values()] + [seconds])
        print(f"    {name + f', {len(y)} rows':26} {'AUC':>8} {'AP':>10} {'at top':>9} {'seconds':>9}", flush=True)
        ours = np.array(found["kernel descent"])
        for method, values in found.items():
            line = f"    {method:26}"
            for j, form in enumerate(("8.4f", "8.4f", "8.1f")):
                pair = paired(np.array(values)[:, j] - ours[:, j], 0.5)
                mark = " " if not pair.corrected < 0.05 else "+" if pair.mean > 0 else "-"
                line += f" {np.mean(values, axis=0)[j]:{form}}{mark}"
            print(f"{line} {np.median(values, axis=0)[3]:9.1f}", flush=True)


def chosen(X, y, p, landmarks):
    """The width and the penalty with the best average precision in cross-validation."""
    best = (-1.0, 0.0, 0.0)
    for width in WIDTHS[:3]:
        for lam in LAMBDAS[1:]:
            value = 0.0
            for train, held in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
                model = pushed(X[train], y[train], p, width, lam, landmarks)
                f = model.score(X[held])
                value += metrics.average_precision(f[y[held] == 1], f[y[held] == 0])
            best = max(best, (value, width, lam))
    return best[1:]


def pushed(X, y, p, width, lam, landmarks):
    """The function of the push with a power p."""
    arguments = {"loss": "squared_hinge", "p": p, "lam": lam, "gamma": width / X.shape[1], "landmarks": landmarks}
    return kernel.train(X[y == 1], X[y == 0], **arguments)[0]


def powers():
    """Print measures of the top for each power p."""
    print("5. The push in a kernel space: training and testing")
    for name, splits in SPLITS.items():
        X, y = scaled(name)
        landmarks = 200 if name in ("spambase", "magic") else None
        found = {p: [] for p in (1, 4, 16)}
        for train, test in StratifiedShuffleSplit(splits, test_size=1 / 3, random_state=0).split(X, y):
            for p, values in found.items():
                model = pushed(X[train], y[train], p, *chosen(X[train], y[train], p, landmarks), landmarks)
                row = []
                for part in (train, test):
                    f = model.score(X[part])
                    row += [float(measure(f[y[part] == 1], f[y[part] == 0])) for measure in MEASURES.values()]
                values.append(row)
        print(f"    {name:11} " + " ".join(f"{measure:>15}" for measure in [*MEASURES, *MEASURES]), flush=True)
        for p, values in found.items():
            line = f"    p = {p:<7} "
            for j, form in enumerate((".4f", ".4f", ".1f") * 2):
                own = np.array(values)[:, j]
                pair = paired(own - np.array(found[1])[:, j], 0.5)
                mark = " " if p == 1 or not pair.corrected < 0.05 else "+" if pair.mean > 0 else "-"
                line += f" {own.mean():{form}}{mark}({own.std(ddof=1) / len(own) ** 0.5:{form}})".rjust(16)
            print(line, flush=True)


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    steps()
    longer()
    landmarks()
    compared()
    powers()
