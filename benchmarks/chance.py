"""Error rates and power of two tests of a fit against random orders.

    python benchmarks/chance.py       # some twenty minutes

The fits choose their parameters by cross-validation, as `PNormPush` does by default. "random orders" is the rule of
`out_of_fold_`: the AUC or the partial AUC of held-out rows is above the range of 99 % of random orders. "t interval" is
that of the line of a `CrossValidation`: the corrected 95 % interval of the best mean of the partial AUC over the folds
is above 0.5. Without a slope, every "better" is wrong.
"""

import warnings
from dataclasses import replace

import numpy as np
from command_line import parser_of

from pnorm.sklearn import PNormPush

SETS = 150

CASES = ((60, 3, 0.5), (150, 4, 0.5), (400, 6, 0.15))
"""Rows, columns, and the share of positives."""

SLOPES = (0.0, 0.7)


def verdicts(seed, n, d, share, slope):
    """Whether each rule calls a fit better than a random order."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, d))
    chance = share if not slope else 1.0 / (1.0 + np.exp(-slope * X[:, 0] - np.log(share / (1.0 - share))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PNormPush(n_cuts=7).fit(X, (rng.random(n) < chance).astype(int))
    alone = replace(model.cross_validation_, _out_of_fold=None)
    return model.out_of_fold_.beats_chance, "not shown" not in str(alone)


def main():
    """Print a line for each case."""
    print(f"so many of {SETS} sets of rows are called better than a random order")
    print(f"{'rows':>5} {'columns':>8} {'positive':>9} {'slope':>6}  {'random orders':>14} {'t interval':>11}")
    for n, d, share in CASES:
        for slope in SLOPES:
            of_orders, of_t = np.sum([verdicts(seed, n, d, share, slope) for seed in range(SETS)], axis=0)
            print(f"{n:5} {d:8} {share:9} {slope:6}  {of_orders:14} {of_t:11}", flush=True)


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    main()
