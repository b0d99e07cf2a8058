"""Queries of uneven sizes, weighed by their pairs or equally: the table of the page "Queries of uneven sizes".

    python benchmarks/queries.py           # a minute

A draw has 150 queries to learn from and 300 to judge by, of 6 to 3000 rows: their sizes are lognormal, with a median of
30 and a standard deviation of 1.5 on the log scale. Rows have 10 normal columns. A query's rows are ranked by their
scores along a direction of its own, plus normal noise; the best share of them is relevant, 5 to 50 percent. Directions
are one for all queries, of which the first two columns are a large part, plus a normal deviation, whose length is 0,
1/2 or 1 times that of the common one. In the last setting the first column tempts and the second is clean at the top:
of the irrelevant rows, 5 percent are 4 larger in the first, and none is above 1/2 in the second. That is where a push
should help.

Coefficients are those of `minimize` with l2 = 0.001. NDCG in the first 10 rows and precision in the first 5 are means
over the queries to judge by, in hundredths. Differences between methods are paired by draw, with standard errors over
40 draws.
"""

import numpy as np
from command_line import parser_of

import pnorm
from pnorm import metrics

POWERS = (1, 2, 4)
COLUMNS, DRAWS = 10, 40
SETTINGS = {
    "all queries have one direction": (0.0, 0.0),
    "directions deviate by 1/2": (0.5, 0.0),
    "directions deviate by 1": (1.0, 0.0),
    "directions deviate by 1/2; one column tempts, another is clean at the top": (0.5, 0.05),
}
"""Deviation of directions, and share of the irrelevant rows that are far out in the first column."""
METHODS = [(p, weight) for p in POWERS for weight in ("pairs", "equal")]


def drawn(rng, n, common, deviation, far_out):
    """Rows of some queries: columns, relevance and the sizes of the queries."""
    sizes = np.clip(np.exp(rng.normal(np.log(30), 1.5, n)), 6, 3000).astype(int)
    query = np.repeat(np.arange(n), sizes)
    X = rng.normal(size=(sizes.sum(), COLUMNS))
    own = common + deviation * rng.normal(size=(n, COLUMNS)) / np.sqrt(COLUMNS)
    value = (X * own[query]).sum(axis=1) + rng.normal(size=query.size)
    y = np.zeros(query.size)
    shares = rng.uniform(0.05, 0.5, n)
    for rows, share in zip(np.split(np.arange(query.size), np.cumsum(sizes)[:-1]), shares, strict=True):
        y[rows[np.argsort(-value[rows])[: max(1, int(share * rows.size))]]] = 1
    if far_out:
        X[(y == 0) & (rng.random(y.size) < far_out), 0] += 4.0
        X[y == 0, 1] = np.minimum(X[y == 0, 1], 0.5)
    return X, y, query, sizes


def draw(seed, deviation, far_out):
    """What each method's list is worth: (methods, measures)."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=COLUMNS)
    common[:2] = 1.5, 1.0
    common /= np.linalg.norm(common)
    X, y, query, _ = drawn(rng, 150, common, deviation, far_out)
    Z, relevant, _, sizes = drawn(rng, 300, common, deviation, far_out)
    groups = {"pos_group": query[y == 1], "neg_group": query[y == 0]}
    out = []
    for p, weight in METHODS:
        lam, trace = pnorm.minimize(X[y == 1], X[y == 0], p=p, l2=1e-3, tol=1e-8, **groups, group_weight=weight)
        assert trace.status == "converged"
        f = Z @ lam
        out.append([metrics.ndcg(f, relevant, 10, group=sizes), metrics.mean_precision_at(f, relevant, 5, group=sizes)])
    return out


def told(values):
    """A mean and its standard error, in hundredths."""
    return f"{100 * values.mean():+6.2f} ± {100 * values.std(ddof=1) / np.sqrt(values.size):.2f}"


def main():
    """Print the table."""
    print(f"{'':38}{'NDCG at 10':>22}{'precision at 5':>25}")
    for setting, how in SETTINGS.items():
        found = np.array([draw(seed, *how) for seed in range(DRAWS)])
        print(setting)
        for m, (p, weight) in enumerate(METHODS):
            means = [f"{100 * found[:, m, measure].mean():.2f}" for measure in range(2)]
            print(f"   p = {p}, {weight:32}{means[0]:>15}{means[1]:>25}")
        at = {method: found[:, m] for m, method in enumerate(METHODS)}
        pairs = [(f"p = {p}: equal less pairs", (p, "equal"), (p, "pairs")) for p in POWERS]
        for weight in ("pairs", "equal"):
            pairs += [(f"{weight}: p = {p} less p = 1", (p, weight), (1, weight)) for p in POWERS[1:]]
        for name, one, other in pairs:
            print(f"   {name:35}{told((at[one] - at[other])[:, 0]):>22}{told((at[one] - at[other])[:, 1]):>25}")
        print(flush=True)


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    main()
