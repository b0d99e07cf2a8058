"""Measure the numbers of the section "Many cuts" of the page "Optimality certificates"; needs LightGBM.

    python benchmarks/shapes.py

1. `minimize` on cuts of 50 columns, with l1, l2 and three columns that must not fall, beside 300 trees of one split by
   LightGBM: seconds, the certified gap, and memory. Then with the l2 that cross-validation chooses on 10,000 of the
   rows, times their share.
2. The same with other p and penalties.
3. More cuts than rows.
4. Leaves of trees, as codes and as a sparse matrix.
"""

import sys
import time
from pathlib import Path

import lightgbm
import numpy as np
from command_line import parser_of
from scipy.sparse import csc_array

import pnorm

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from memory import peak  # noqa: E402

COLUMNS = 50


def example(rows, threshold=3.0):
    """Normal columns, of which six matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, COLUMNS)).astype(np.float32)
    return X, X[:, :5].sum(1) + np.sin(3 * X[:, 5]) + rng.normal(0, 2, rows) > threshold


def timed(function, *args, **options):
    """Return the seconds, the processor seconds and the answer of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = function(*args, **options)
    return time.perf_counter() - wall, time.process_time() - cpu, answer


def rising(n_cuts, columns):
    """Signs of cuts of 50 columns of which the first so many must not fall."""
    return np.repeat(np.arange(COLUMNS) < columns, n_cuts).astype(np.int8)


def beside_stumps(rows):
    """Shapes of 255 cuts, and 300 trees of one split each."""
    X, y = example(rows)
    pos, neg = X[y], X[~y]
    cut, cut_cpu, H = timed(pnorm.rankers.quantile_thresholds, pos, neg)
    options = {"l1": 1e-3, "l2": 1e-3, "signs": rising(255, 3), "tol": 1e-6}
    ours, cpu, (_, trace) = timed(pnorm.minimize, pos, neg, H, 4, **options)
    print(f"{rows:,} rows, {len(H):,} cuts, p = 4, l1 = l2 = 1e-3, three columns monotone")
    print(f"    cuts      {cut:6.1f} s   ({cut_cpu:5.1f} s of processors)")
    print(
        f"    minimize  {ours:6.1f} s   ({cpu:5.1f})   {trace.status}, gap {trace.gap:.1e}, {trace.n_iter} iterations"
    )
    parameters = {"objective": "binary", "num_leaves": 2, "max_depth": 1, "verbose": -1}
    theirs, their_cpu, _ = timed(lambda: lightgbm.train(parameters, lightgbm.Dataset(X, label=y.astype(int)), 300))
    print(f"    LightGBM  {theirs:6.1f} s   ({their_cpu:5.1f})   300 trees of one split")
    print(f"    ratio     {theirs / (cut + ours):6.1f}     ({their_cpu / (cut_cpu + cpu):5.1f})")
    some = slice(10**4 // 2)
    tried = 4 * 10.0 ** np.arange(0.0, -5.1, -0.5)
    found = pnorm.cross_validate(pos[some], neg[some], H, 4, l2=tried, penalty="shapes", signs=options["signs"])
    l2 = found.best.l2 * 10**4 / rows
    chosen = options | {"l1": 0.0, "l2": l2, "penalty": "shapes"}
    ours, cpu, (_, trace) = timed(pnorm.minimize, pos, neg, H, 4, **chosen)
    print(f"    chosen: l2 = {l2:.2g} of shapes")
    print(
        f"    minimize  {ours:6.1f} s   ({cpu:5.1f})   {trace.status}, gap {trace.gap:.1e}, {trace.n_iter} iterations"
    )
    print(f"    ratio     {theirs / (cut + ours):6.1f}     ({their_cpu / (cut_cpu + cpu):5.1f})")
    used = peak(lambda: pnorm.minimize(pos, neg, H, 4, **options))
    print(f"    memory    {used / (rows * COLUMNS):6.2f} times that of the codes, at most, these included")


def other_penalties(rows):
    """Iterations and seconds for other p and penalties."""
    X, y = example(rows)
    H = pnorm.rankers.quantile_thresholds(X[y], X[~y])
    print(f"{rows:,} rows, {len(H):,} cuts, tol = 1e-6")
    for p, l1, l2 in ((1, 0.0, 1e-2), (4, 0.0, 1e-2), (4, 1e-3, 1e-2), (16, 0.0, 0.1), (64, 0.0, 1.0), (64, 1e-3, 0.1)):
        wall, cpu, (_, trace) = timed(pnorm.minimize, X[y], X[~y], H, p, l1=l1, l2=l2, tol=1e-6)
        print(
            f"    p = {p:<3} l1 = {l1:<6g} l2 = {l2:<5g}  {wall:5.2f} s ({cpu:5.2f})  {trace.status}, "
            f"gap {trace.gap:.0e}, {trace.n_iter} iterations"
        )


def more_cuts_than_rows():
    """500 rows and 2,550 cuts."""
    X, y = example(500, threshold=2.0)
    H = pnorm.rankers.quantile_thresholds(X[y], X[~y], 51)
    for l1 in (0.0, 1e-2):
        wall, cpu, (_, trace) = timed(pnorm.minimize, X[y], X[~y], H, 4, l1=l1, l2=1e-2)
        print(f"500 rows, {len(H):,} cuts, p = 4, l1 = {l1:g}, l2 = 1e-2: {wall:.2f} s ({cpu:.2f}), {trace.status}")


def leaves(rows, trees=1600, size=31):
    """Leaves of trees as levels, and as the columns of a sparse matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 20))
    y = X[:, :5].sum(1) + rng.normal(0, 2, rows) > 1.5
    leaf = np.empty((rows, trees), np.int64)
    for t in range(trees):
        a, b = rng.integers(0, 20, 2)
        leaf[:, t] = np.searchsorted(np.sort(rng.normal(size=size - 1)), X[:, a] * np.cos(t) + X[:, b] * np.sin(t))
    H = pnorm.rankers.categories(leaf[y], leaf[~y])
    at = (np.repeat(np.arange(rows), trees), (leaf + size * np.arange(trees)).ravel())
    S = csc_array((np.ones(rows * trees), at), shape=(rows, size * trees)).tocsr()
    for l1 in (0.0, 1e-2):
        print(f"{rows:,} rows, {len(H):,} leaves, p = 4, l1 = {l1:g}, l2 = 1, tol = 1e-6")
        for name, *of in (("codes", leaf[y], leaf[~y], H), ("sparse", S[y].tocsc(), S[~y].tocsc(), None)):
            wall, cpu, (_, trace) = timed(pnorm.minimize, *of, 4, l1=l1, l2=1.0, tol=1e-6)
            print(f"    {name:<7} {wall:5.1f} s ({cpu:5.1f})  {trace.status}, gap {trace.gap:.0e}")


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    beside_stumps(10**5)
    beside_stumps(10**6)
    other_penalties(10**5)
    more_cuts_than_rows()
    leaves(5000)
