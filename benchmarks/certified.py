"""Measure the numbers of the page "Optimality certificates"; PNORM_DATA names a folder with wdbc and the Pima data.

    PNORM_DATA=... python benchmarks/certified.py

1. Newton's method on WDBC beside coordinate descent: steps, certified gap, gap left by descent.
2. How the q' of descent approaches that of the minimiser.
3. The share of each kind of data over random splits of the papers' Pima thresholds.
4. How descent approaches a limit where coefficients go to infinity, Pima thresholds.
5. `minimize` against SciPy's L-BFGS-B on the same objective with its gradient, 10**5 x 50.
6. `minimize` with a penalty on more than 2,000 weak rankers, by Newton's method and by L-BFGS.
7. `minimize` and `report` beside `train` on 14,000 rows of a9a.
8. Seconds for `separability`.
9. `minimize` with l1 and signs: sparse words, dense columns, and cuts of which some have a sign.
"""

import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

import numpy as np
from scipy.sparse import csr_array, hstack, random_array
from shared import data_folder, parser_of

import pnorm

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]

from benchmarks.minimize import scipy_lbfgsb  # noqa: E402
from benchmarks.problems import bits, correlated, gaussian, touching  # noqa: E402
from problems import pima, wdbc  # noqa: E402

SPLITS = 200


def newton_beside_descent():
    """WDBC, first six features scaled to [0, 1]: steps and gaps, and how far the q' of descent is from the limit."""
    pos, neg, H = wdbc()
    powers, stops = (1, 4, 16, 64), (200, 2000, 20_000)
    best = {p: pnorm.minimize(pos, neg, H, p) for p in powers}
    runs = {p: pnorm.train(pos, neg, H, p, t_max=stops[-1])[1] for p in powers}
    print("WDBC        Newton: steps, certified gap    descent: gap after 200, 2,000, 20,000 rounds")
    for p, (_, trace) in best.items():
        gap = pnorm.diagnostics.convergence(runs[p], trace).gap
        left = [f"{gap[min(t, runs[p].n_iter)]:8.1e}" for t in stops]
        print(f"    p = {p:<4}  {trace.n_iter:8}        {trace.gap:8.1e}              {'  '.join(left)}")
    print("WDBC        largest difference of log q' from the minimiser after 200, 2,000, 20,000 rounds")
    for p, (lam, _) in best.items():
        reached = [runs[p].lam_at(min(t, runs[p].n_iter)) for t in stops]
        apart = [f"{pnorm.diagnostics.same_limit(pos, neg, H, lam, at):8.1e}" for at in reached]
        print(f"    p = {p:<4}            {'  '.join(apart)}")


def kinds(sizes, splits=SPLITS):
    """Count the kinds of random training sets of the papers' Pima thresholds."""
    X, y, H = pima()
    counts = {}
    for size in sizes:
        rows = [np.random.default_rng(seed).permutation(len(X))[:size] for seed in range(splits)]
        parts = [(X[r][y[r]], X[r][~y[r]]) for r in rows]
        counts[size] = Counter(pnorm.diagnostics.separability(pos, neg, H).kind for pos, neg in parts)
    return counts


def shares():
    """Print them for the papers' sizes."""
    for size, count in kinds([50, 300]).items():
        share = ", ".join(f"{100 * n / SPLITS:.0f} % {kind}" for kind, n in count.most_common())
        print(f"Pima thresholds, {size} training rows, {SPLITS} random splits: {share}")
    X, y, _ = pima()
    print("Pima, the eight features themselves, all rows:", pnorm.diagnostics.separability(X[y], X[~y]).kind)


def toward_infinity():
    """Pima thresholds, 300 rows, a split that is quasi-separable: the distances from the limit, and from its `lam`."""
    X, y, H = pima()
    rows = np.random.default_rng(1).permutation(len(X))[:300]
    pos, neg = X[rows][y[rows]], X[rows][~y[rows]]
    limit, (_, run) = pnorm.diagnostics.q_limit(pos, neg, H, 4), pnorm.train(pos, neg, H, 4, t_max=200_000, tol=0.0)
    bregman = pnorm.diagnostics.convergence(run, limit).bregman
    print(f"Pima thresholds, 300 rows, p = 4, {limit.kind}")
    print("     rounds   Bregman distance   q' off its limit   largest difference of log q' from lam")
    for t in (200, 2000, 20_000, 200_000):
        lam = run.lam_at(min(t, run.n_iter))
        f = [pnorm.score(Z, H, lam) for Z in (pos, neg)]
        apart = pnorm.diagnostics.same_limit(pos, neg, H, lam, limit.lam)
        print(f"    {t:7,}   {bregman[min(t, run.n_iter)]:16.1e}   {limit.distance(*f):16.1e}   {apart:37.1f}")


def against_lbfgsb():
    """I + K = 10**5, n = 50: columns mixed by a random matrix, and columns with one factor in common."""
    for make, p in ((correlated, 1), (correlated, 4), (correlated, 16), (gaussian, 4)):
        pos, neg = make(50_000, 50_000, 50)
        pnorm.minimize(pos[:5000], neg[:5000], None, p)
        ours, theirs = [], []
        for _ in range(5):
            start = time.perf_counter()
            _, trace = pnorm.minimize(pos, neg, None, p, tol=1e-8)
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            result = scipy_lbfgsb(pos, neg, p)
            theirs.append(time.perf_counter() - start)
        ratio = median(b / a for a, b in zip(ours, theirs, strict=True))
        print(
            f"10**5 x 50, {make.__name__}, p = {p}: minimize {1e3 * median(ours):.0f} ms, {trace.n_iter} steps, "
            f"gap {trace.gap:.0e};\n    L-BFGS-B {median(theirs):.2f} s, {result.nfev} evaluations, "
            f"value {result.fun - trace.objective[-1]:+.0e}: {ratio:.0f} times"
        )


def wide():
    """Processor seconds of one run each, p = 4: 2,048 bits, and thresholds on few rows."""
    pos, neg = bits(1000, 10_000, 2048)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = X[:, :3].sum(axis=1) + rng.normal(size=500) > 0.8
    cuts = X[y], X[~y], pnorm.rankers.quantile_thresholds(X[y], X[~y], 255)
    for name, (*rows, H), l2 in (
        ("11,000 x 2,048 bits", (pos, neg, None), 1e-3),
        ("the same, sparse", (csr_array(pos), csr_array(neg), None), 1e-3),
        (f"500 x {len(cuts[2]):,} cuts", cuts, 1e-2),
    ):
        said = []
        for method, steps in ((None, "steps"), ("lbfgs", "iterations")):
            start = time.process_time()
            _, trace = pnorm.minimize(*rows, H, 4, l2=l2, method=method, n_threads=1)
            took = time.process_time() - start
            said.append(f"{took:.1f} s, {trace.n_iter} {steps}, gap {trace.gap:.0e}, {trace.status}")
        print(f"{name}, l2 = {l2:g}: minimize {said[0]};\n    L-BFGS {said[1]}")


def few_of_many():
    """Processor seconds of one run each with l1, p = 4: 20,000 words, 100 dense columns, and 1,000 cuts with signs."""
    rng = np.random.default_rng(0)
    words = (rng.random((5000, 40)) < 0.1).astype(float)
    other = random_array((5000, 19_960), density=0.003, rng=rng, format="csr")
    other.data[:] = 1.0
    y = words @ rng.normal(0.0, 2.0, 40) + rng.normal(size=5000) > 1.0
    text = csr_array(hstack([words, other]))
    X = rng.normal(size=(50_000, 100))
    good = X[:, :8].sum(axis=1) + 3.0 * rng.normal(size=50_000) > 3.0
    Z = rng.normal(size=(5000, 10))
    best = Z[:, :4].sum(axis=1) + 2.0 * rng.normal(size=5000) > 2.0
    cuts = pnorm.rankers.quantile_thresholds(Z[best], Z[~best], 100)
    signs = np.arange(len(cuts)) < 300
    for name, rows, H, l1, l2, sign in (
        ("5,000 x 20,000 words", (text[y], text[~y]), None, 0.1, 0.01, None),
        ("the same", (text[y], text[~y]), None, 0.05, 0.0, None),
        ("50,000 x 100", (X[good], X[~good]), None, 0.05, 0.001, None),
        (f"5,000 x {len(cuts):,} cuts, 300 with a sign", (Z[best], Z[~best]), cuts, 0.01, 0.01, signs),
    ):
        start = time.process_time()
        lam, trace = pnorm.minimize(*rows, H, 4, l1=l1, l2=l2, signs=sign, n_threads=1)
        took = time.process_time() - start
        print(
            f"{name}, l1 = {l1:g}, l2 = {l2:g}: {took:.1f} s, {trace.n_iter} steps, gap {trace.gap:.0e}, "
            f"{np.count_nonzero(lam)} coefficients"
        )


def beside_train():
    """Processor seconds on 14,000 rows of a9a, its 122 indicators that vary, p = 4; medians of five runs."""
    data = pnorm.datasets.a9a()
    pos, neg = data.pos[:3_372, :122].toarray(), data.neg[:10_628, :122].toarray()
    lam = pnorm.train(pos, neg, p=4)[0]
    calls = {
        "train, 200 rounds": lambda: pnorm.train(pos, neg, p=4),
        "minimize": lambda: pnorm.minimize(pos, neg, p=4),
        "report": lambda: pnorm.diagnostics.report(pos, neg, None, 4, lam),
    }
    for name, call in calls.items():
        times = []
        for _ in range(5):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
        print(f"a9a, 14,000 x 122, {name}: {median(times):.2f} s")


def separability_times():
    """Seconds per problem, Gaussian rows: without and with a column that only some positives have."""
    for rows, n in ((10_000, 20), (10_000, 50), (100_000, 20)):
        times = []
        for make in (gaussian, touching):
            sides = make(rows // 2, rows // 2, n)
            start = time.perf_counter()
            kind = pnorm.diagnostics.separability(*sides).kind
            times.append(f"{time.perf_counter() - start:.2f} s ({kind})")
        print(f"separability, {rows} x {n}: {', '.join(times)}")
    X, y, H = pima()
    rows = np.random.default_rng(0).permutation(len(X))[:300]
    start = time.perf_counter()
    kind = pnorm.diagnostics.separability(X[rows][y[rows]], X[rows][~y[rows]], H).kind
    print(f"separability, 300 x 32 thresholds: {1e3 * (time.perf_counter() - start):.0f} ms ({kind})")


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    newton_beside_descent()
    shares()
    toward_infinity()
    against_lbfgsb()
    wide()
    few_of_many()
    beside_train()
    separability_times()
