"""A whole fit of `PNormPush()`, with its choice of p, curves and penalty, beside scikit-learn's boosted trees.

    OMP_NUM_THREADS=1 python benchmarks/whole_fit.py [--rows 20000] [--columns 20] [--repeat 3]

The rows are normal numbers. The labels depend on six columns, by lines, curves and a step; half of the rows are
positive. `PNormPush().fit` and `HistGradientBoostingClassifier().fit`, both with their defaults, take turns in one
process, on the threads that `OMP_NUM_THREADS` allows. Wall-clock and processor time are medians, in seconds, without
imports. The ratio is the median of the ratios of the turns.
"""

import statistics
import time

import numpy as np
from command_line import parser_of
from sklearn.ensemble import HistGradientBoostingClassifier

from pnorm.sklearn import PNormPush


def made(n_rows, n_columns, seed=0):
    """Rows and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    f = 0.8 * X[:, 0] - 0.5 * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.4 * X[:, 3] ** 2
    f += 0.6 * (X[:, 4] > 1.0) + 0.3 * X[:, 5]
    f += rng.logistic(size=n_rows)
    return X, (f > np.median(f)).astype(int)


def seconds(model, X, y):
    """Wall-clock and processor time of a fit."""
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    return time.perf_counter() - wall, time.process_time() - cpu


def main(argv=None):
    """Print the medians."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args(argv)
    X, y = made(args.rows, args.columns)
    models = {"PNormPush()": PNormPush, "HistGradientBoostingClassifier()": HistGradientBoostingClassifier}
    found = {name: [] for name in models}
    for _ in range(args.repeat):
        for name, model in models.items():
            found[name].append(seconds(model(), X, y))
    print(f"{args.rows:,} rows, {args.columns} columns, medians of {args.repeat}")
    print(f"{'':34}wall  processor")
    for name, times in found.items():
        wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"{name:32}{wall:6.1f} {cpu:10.1f}")
    ratios = [push[1] / trees[1] for push, trees in zip(*found.values(), strict=True)]
    print(f"processor time of PNormPush() over that of the trees: {statistics.median(ratios):.1f}")


if __name__ == "__main__":
    main()
