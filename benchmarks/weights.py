"""A weight on the negatives of a logistic regression, and the power p: two ways from the whole list to its top.

    PNORM_DATA=... OMP_NUM_THREADS=1 python benchmarks/weights.py          # about a minute; needs the group rivals

MAGIC in the ten splits of additive.py, 9,000 rows to train on. The scores are sums of one cubic spline of each column.
One is fitted by logistic regression with a weight on the negatives, the other by `pnorm.minimize` with a power p. The
penalties correspond: C = 1 / (EPSILON I) for I positives, and l2 = EPSILON p ** 2. Both scores then have the same limit
for large weights and large p, the minimiser of

    LSE_k(g_k) - mean_i(g_i) + EPSILON / 2 |lam| ** 2

with g = p f. "limit" is `pnorm.minimize` with p = 1e6. "pAUC 1 %" is standardised, "tau" is Kendall's tau of the scores
of the rows to judge by and those of the limit. All are means over splits. The last columns are a fit less the limit.
The second table is the partial AUC with a weight (lines) less that with a p (columns). ± is the standard error of a
mean difference, corrected for splits that share rows (Nadeau and Bengio, 2003).
"""

import sys
from pathlib import Path

import numpy as np
from reproduce import print_columns
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import pnorm

sys.path.insert(0, str(Path(__file__).parent))
from additive import columns
from command_line import data_folder, parser_of
from public_sets import MEASURES, READERS, corrected_error, few, measured, splits

SPLITS = 10
EPSILON = 2e-2
"""About what cross-validation chooses for the weights in additive.py: C = 0.01."""
WEIGHTS = (1, 10, 100, 1_000, 10_000)
POWERS = (1, 2, 4, 8, 16, 64)
LIMIT = 1e6


def push(X, y, p):
    """Return the minimiser of the push."""
    lam, trace = pnorm.minimize(X[y == 1], X[y == 0], None, p, l2=EPSILON * p**2, tol=1e-6)
    if trace.status != "converged":
        raise RuntimeError(f"p = {p}: {trace.status}")
    return lam


def logistic(X, y, weight):
    """Return the coefficients of logistic regression with a weight on the negatives."""
    how = {"class_weight": {0: weight, 1: 1.0}, "solver": "newton-cholesky", "max_iter": 1000}
    tol = 1e-6 * len(y) / (y + weight * (1 - y)).sum()  # of a mean loss, in which the positives count less and less
    return LogisticRegression(C=1 / (EPSILON * y.sum()), tol=tol, **how).fit(X, y).coef_[0]


def split(data, rows, judged):
    """Return the measures of each score of one split."""
    X, y = columns(data, rows, splines=True), data.y
    scaler = StandardScaler().fit(X[rows])
    X, of = scaler.transform(X[rows]), scaler.transform(X[judged])
    scores = {f"weight {w}": of @ logistic(X, y[rows], w) for w in WEIGHTS}
    scores |= {f"p = {p}": of @ push(X, y[rows], p) for p in POWERS}
    scores["limit"] = of @ push(X, y[rows], LIMIT)
    return {
        name: measured(f, y[judged]) | {"tau": kendalltau(f, scores["limit"]).statistic} for name, f in scores.items()
    }


def main():
    """Print both tables."""
    data = READERS["magic"]()
    runs = [split(data, few(rows), judged) for rows, judged in splits(data, SPLITS)]

    def less(name, fit, other):
        """Return the mean of a measure less that of another fit, with its standard error."""
        by = np.array([run[fit][name] - run[other][name] for run in runs])
        return f"{0.0 + by.mean():+.3f} \u00b1{corrected_error(by):.3f}"

    names, beside = (*MEASURES, "tau"), ("pAUC 1 %", "AUC")
    lines = [["fit", *names, *[f"{name} less limit" for name in beside]]]
    for fit in runs[0]:
        means = [np.mean([run[fit][name] for run in runs]) for name in names]
        by = [less(name, fit, "limit") if fit != "limit" else "" for name in beside]
        lines.append([fit, *(f"{mean:.3f}" for mean in means), *by])
    print_columns(lines)
    print()
    lines = [["pAUC 1 %, less that with", *[f"p = {p}" for p in POWERS]]]
    for weight in WEIGHTS:
        fit = f"weight {weight}"
        lines.append([fit, *[less("pAUC 1 %", fit, f"p = {p}") for p in POWERS]])
    print_columns(lines)


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    main()
