"""Rank held-out rows after a fit to quasi-separable rows: by `lam`, along the direction, and with a penalty.

    PNORM_DATA=... python benchmarks/separation.py [SET ...]

For each set, random splits are drawn, and those are kept whose training rows are quasi-separable. The table has means
over these splits of the AUC and of the precision in the first tenth of the held-out rows. Penalties are l2 = p * SHARE.
Takes about a minute.
"""

import numpy as np
from command_line import data_folder, parser_of

import pnorm
from pnorm import metrics

P = (1, 4)
SHARES = (1e-6, 1e-3, 0.1)
SPLITS = 20


def marker(rng):
    """A column that 50 % of the positives and 5 % of the negatives have; no training negative of 60 has it."""

    def rows(n_pos, n_neg, share):
        pos, neg = rng.normal(0.4, 1, (n_pos, 4)), rng.normal(0, 1, (n_neg, 4))
        pos[:, 3], neg[:, 3] = rng.random(n_pos) < 0.5, rng.random(n_neg) < share
        return pos, neg

    return rows(40, 60, 0.0), rows(500, 500, 0.05), None


def levels(rng):
    """Two columns and fifteen levels, of which some have one class by chance among 80 training rows."""
    effects = rng.normal(size=15)

    def rows(n):
        level, z = rng.integers(0, 15, n), rng.normal(size=(n, 2))
        y = rng.random(n) < 1 / (1 + np.exp(-(z @ [0.8, -0.5] + effects[level])))
        return pnorm.split(np.column_stack([z, np.eye(15)[level]]), y)

    return rows(80), rows(4000), None


def split(name, n, cuts=None):
    """Some rows of a public set to train on, and all others; columns as they are, or cuts."""
    data = getattr(pnorm.datasets, name)()

    def draw(rng):
        order = rng.permutation(len(data.X))
        train, held = [pnorm.split(data.X[some], data.y[some]) for some in (order[:n], order[n:])]
        return train, held, None if cuts is None else pnorm.rankers.quantile_thresholds(*train, cuts)

    return draw


def measures(held, H, lam):
    """The AUC, and the precision in the first tenth."""
    f = [pnorm.score(X, H, lam) for X in held]
    return metrics.auc(*f), metrics.precision_at(*f, 0.1)


def compare(name, draw, p):
    """Print a line for each kind of coefficients."""
    found = []
    for seed in range(SPLITS):
        train, held, H = draw(np.random.default_rng(seed))
        lam, trace = pnorm.minimize(*train, H, p)
        if trace.separation == "quasi-separable":
            small = [pnorm.minimize(*train, H, p, l2=p * share, tol=1e-6)[0] for share in SHARES]
            far = trace.lam_along(), trace.lam_along(1000 * max(trace.direction_step, 1.0))
            found.append([measures(held, H, x) for x in (lam, *far, *small)])
    means = np.mean(found, axis=0)
    print(f"{name:12} {p:3} {len(found):6}  " + "  ".join(f"{a:.3f} {b:.3f}" for a, b in means))


if __name__ == "__main__":
    parser = parser_of(__file__, __doc__)
    parser.add_argument("set", nargs="*", help="marker, levels, Pima, Ionosphere or Spambase; by default all")
    asked = parser.parse_args()
    data_folder()
    heads = ["lam", "lam_along", "far along", *[f"l2={share:g}p" for share in SHARES]]
    print("set            p splits  " + "  ".join(f"{head:11}" for head in heads))
    print(" " * 25 + "  ".join(["AUC   top  "] * len(heads)))
    sets = {
        "marker": marker,
        "levels": levels,
        "Pima": split("pima", 200, 3),
        "Ionosphere": split("ionosphere", 230),
        "Spambase": split("spambase", 1500),
    }
    for name in asked.set or sets:
        for p in P:
            compare(name, sets[name], p)
