"""Values of the bounds of `pnorm.bounds`: the numbers of the page "Generalisation bounds"; needs PNORM_DATA.

    PNORM_DATA=... python benchmarks/guarantees.py

1. Pima, 300 rows to train on: the margin error, what Theorem 2 of the P-Norm Push adds, and the rows it asks for.
2. Simulated rows, p = 4: how far the error on the distribution is above that on the rows, and what the theorem grants.
3. How often bounds fail where the truth is known, beside how often they may.
4. Rows from which on the bounds say anything.
"""

import math

import numpy as np
from command_line import data_folder, parser_of
from scipy.special import ndtr

import pnorm
from pnorm import bounds, metrics

DELTA = 0.05
POWERS = (1, 2, 4, 8, 16, 64)


# Ranges that were not read off the rows, as the class of functions is to be fixed beforehand.
LOW, HIGH = np.array([[0, 0, 0, 0, 0, 0, 0, 20], [17, 200, 130, 100, 900, 70, 2.5, 90]])


def scoring(pos, neg, p):
    """A scoring function with coefficients of absolute sum 1 on columns from 0 to 1."""
    lam, _ = pnorm.train(pos, neg, p=p)
    lam = lam / np.abs(lam).sum()
    return lambda X: X @ lam


def on_pima():
    """Margin errors, their bounds and sample sizes for each p."""
    data = pnorm.datasets.pima()
    rows = np.random.default_rng(0).permutation(len(data.y))
    columns = np.clip((data.X - LOW) / (HIGH - LOW), 0.0, 1.0)
    (X, y), (new, new_y) = ((columns[part], data.y[part] == 1) for part in (rows[:300], rows[300:]))
    print(f"1. Pima: {y.sum()} positives, {(~y).sum()} negatives; delta = {DELTA}; margins 0.01, 0.02, ..., 0.2")
    print("      p   error: train   test   margin   ramp   Theorem 2 adds   K for an excess of 0.2 at margin 0.1")
    for p in POWERS:
        f = scoring(X[y], X[~y], p)
        train, test = (metrics.p_norm_risk(f(Z[z]), f(Z[~z]), p) for Z, z in ((X, y), (new, new_y)))
        curve = bounds.margin_curve(f(X[y]), f(X[~y]), p, np.arange(1, 21) / 100, delta=DELTA, log_covering=_covering)
        i = int(curve.bound.argmin())
        size = bounds.push_sample_size(DELTA, 0.2, 0.1, p, _covering)
        print(
            f"    {p:3}   {train:12.3f} {test:6.3f}   {curve.error[i]:6.3f} {curve.ramp[i]:6.3f}   "
            f"{curve.epsilon[i]:14.2f}   {size:.1e}"
        )


def _covering(radius):
    return bounds.log_covering_linear(8, 1.0, radius)


def on_simulated_rows(p=4, d=5):
    """Two normal clouds: the error on a million new rows less that on the rows trained on, and the bound on it."""
    fresh = [ndtr(np.random.default_rng(1).normal(size=(10**6, d)) + apart) for apart in (0.5, 0.0)]
    print(f"2. Normal rows in {d} columns, brought to [0, 1], I = K, p = {p}; 20 draws; Theorem 2 at margin 0.02")
    print("         K   error: train    new   less train, at most   less margin error, at most   Theorem 2 adds")
    for size in (100, 1000, 10_000, 100_000):
        found = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            pos, neg = ndtr(rng.normal(size=(size, d)) + 0.5), ndtr(rng.normal(size=(size, d)))
            f = scoring(pos, neg, p)
            at_hand, wide = (metrics.p_norm_risk(f(pos), f(neg), p, theta) for theta in (0.0, 0.02))
            found.append((at_hand, metrics.p_norm_risk(f(fresh[0]), f(fresh[1]), p), wide))
        train, new, wide = np.array(found).T
        adds = bounds.push_epsilon(DELTA, 0.02, p, size, size, lambda r: bounds.log_covering_linear(d, 1.0, r))
        print(
            f"    {size:6}   {train.mean():12.3f} {new.mean():6.3f}   {(new - train).max():19.3f}   "
            f"{(new - wide).max():26.3f}   {adds:14.2f}"
        )
    size = bounds.push_sample_size(DELTA, 0.1, 0.02, p, lambda r: bounds.log_covering_linear(d, 1.0, r))
    print(f"    K that Theorem 2 asks for, for an excess of 0.1: {size:.1e}")


def failures(delta=0.3, draws=2000):
    """Shares of draws in which a bound on one function fails, two normals 1 apart."""
    truth, rng = ndtr(1 / math.sqrt(2)), np.random.default_rng(0)
    grid = np.linspace(-10, 10, 20_001)
    at = np.exp(-0.5 * grid**2) / math.sqrt(2 * math.pi) * (grid[1] - grid[0])
    risks = {p: float((at @ ndtr(grid - 1) ** p) ** (1 / p)) for p in (1, 2)}
    names = [
        "AHR Corollary 1, 400 and 600 rows",
        "AHR Theorem 3, 1000 rows, 40 % positive",
        "Freund et al., 400 and 600 rows",
    ]
    names += [f"P-Norm Push Theorem 2, 1000 and 1000 rows, p = {p}" for p in risks]
    names += ["held out: AUC, 400 and 600 rows"]
    names += [f"held out: push, 1000 and 1000 rows, p = {p}" for p in risks]
    names += [f"held out: push, given its error, p = {p}" for p in risks]
    found, adds = [], np.zeros(len(names))
    for _ in range(draws):
        m = rng.binomial(1000, 0.4)
        fixed, drawn = (abs(metrics.auc(rng.normal(1, 1, k), rng.normal(size=1000 - k)) - truth) for k in (400, m))
        f_pos, f_neg = rng.normal(1, 1, 1000), rng.normal(size=1000)
        wide, at_hand = [[metrics.p_norm_risk(f_pos, f_neg, p, theta) for p in risks] for theta in (0.01, 0.0)]
        wide, errors = [np.array([*risks.values()]) - some for some in (wide, at_hand)]
        adds = np.array([
            bounds.expected_ranking_accuracy_bound(400, 600, delta, 0.0),
            bounds.random_labels_bound(m / 1000, 1000, delta, 0.0),
            bounds.freund_bound(400, 600, delta, 0.0, 0.0),
            *(bounds.push_epsilon(delta, 0.01, p, 1000, 1000, 0.0) for p in risks),
            bounds.held_out_auc_epsilon(delta, 400, 600),
            *(bounds.held_out_push_epsilon(delta, p, 1000, 1000) for p in risks),
            *(bounds.held_out_push_bound(e, delta, p, 1000, 1000) - e for e, p in zip(at_hand, risks, strict=True)),
        ])  # fmt: skip
        found.append(np.array([fixed, drawn, fixed, *wide, fixed, *errors, *errors]) / adds)
    print(f"3. One function, normals 1 apart, {draws} draws, leave to fail in {delta:.0%} of them")
    print("                                                       fails   width   width that would have done")
    for name, shares, width in zip(names, np.array(found).T, adds, strict=True):
        enough = max(0.0, float(np.quantile(shares, 1 - delta))) * width
        print(f"    {name:50} {(shares >= 1).mean():6.1%}   {width:5.2f}   {enough:26.3f}")


def first_sizes():
    """The smallest m = n at which each bound says something."""
    print("4. m = n from which on a bound says anything, delta = 0.05")
    for d in (1, 8, 50):

        def of_auc(m, d=d):
            shatter = bounds.rank_shatter_linear(d, 2 * m, 2 * m)
            return bounds.expected_ranking_accuracy_bound(m, m, DELTA, math.log(shatter))

        print(f"    AUC, linear in {d} columns: {_first(of_auc)}")
    for loss in ("logistic", "hinge", "squared"):
        step = bounds.step_condition(loss, 1.0, 1.0)

        def of_descent(m, loss=loss, step=step):
            return bounds.sample_error_bound(loss, m, m, 10**9, 1.0, 1.0, step, 0.5, DELTA)

        print(f"    kernel descent, {loss}, lambda = kappa = 1, 10**9 steps: {_first(of_descent):,}")


def _first(bound):
    """The least m at which a bound that falls with m is not vacuous, by bisection."""
    high = 4
    while bound(high).vacuous:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(middle).vacuous else (low, middle)
    return high


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    data_folder()
    on_pima()
    on_simulated_rows()
    failures()
    first_sizes()
