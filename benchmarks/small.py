"""Small problems: a round of `train` and a whole call of it beside Newton's method in plain NumPy.

    OMP_NUM_THREADS=1 python benchmarks/small.py [--quick]

`descent` is what Figure 1 is in NumPy once the sums over pairs are gone. It walks the same path as `train`: the
coefficients of the two differ by less than 1e-10, or the script stops. p = 4, one thread, normal
columns with a correlation of 0.9, which are far from the minimum after 200 rounds. CPU time:
the two sides alternate, a figure is the median of repeated pairs, and a ratio that of the ratios. A round is what
200 take less what one takes, over 199; a call of `train` with one round has checks and tables in it, and the last
ratio is that of whole calls with 200. `claims.py` has the literal algorithm, pairs and all.
"""

import time

import numpy as np
from command_line import parser_of

import pnorm

P = 4.0
SIZES = ((30, 30, 8), (150, 150, 8), (500, 458, 9), (2_000, 2_000, 20), (20_000, 20_000, 20))


def descent(pos, neg, p, rounds):
    """Return the coefficients after some rounds of Figure 1; Newton's method finds each step."""
    lam, f, g = np.zeros(pos.shape[1]), np.zeros(len(pos)), np.zeros(len(neg))
    for _ in range(rounds):
        u, w = np.exp(f.min() - f), np.exp(p * (g - g.max()))
        u, w = u / u.sum(), w / w.sum()
        j = np.abs(u @ pos - w @ neg).argmax()
        x, y, step = pos[:, j].copy(), neg[:, j].copy(), 0.0
        a, b, xx, yy = u, w, x * x, y * y
        while True:
            mean_x, mean_y = a @ x, b @ y
            change = (mean_x - mean_y) / (a @ xx - mean_x**2 + p * (b @ yy - mean_y**2))
            step += change
            if abs(change) <= 1e-7 * abs(step) + 1e-15:  # what is left is of the order of its square
                break
            a, b = u * np.exp(-step * x), w * np.exp(p * step * y)
            a, b = a / a.sum(), b / b.sum()
        lam[j], f, g = lam[j] + step, f + step * x, g + step * y
    return lam


def train(pos, neg, p, rounds):
    return pnorm.train(pos, neg, None, p, rounds, n_threads=1)


def cpu(times, function, *args):
    """Return the mean processor time of some calls in seconds, and the result."""
    start = time.process_time()
    for _ in range(times):
        result = function(*args)
    return (time.process_time() - start) / times, result


def measure(n_pos, n_neg, columns, rounds, pairs, times):
    """Return medians: the times of a round of both sides, their ratio, that of whole calls, a call with one round."""
    rng = np.random.default_rng(0)
    pos, neg = (
        rng.normal(mean, 1, (rows, columns)) + rng.normal(0, 3, (rows, 1)) for mean, rows in ((0.3, n_pos), (0, n_neg))
    )
    found = []
    for _ in range(pairs):
        plain, judge = cpu(times, descent, pos, neg, P, rounds)
        own, (lam, trace) = cpu(times, train, pos, neg, P, rounds)
        apart = np.abs(lam - judge).max()
        if trace.n_iter != rounds or not apart < 1e-10:
            raise SystemExit(f"the paths differ at {n_pos} + {n_neg} x {columns}: by {apart:.1e}")
        first, one = (cpu(4 * times, function, pos, neg, P, 1)[0] for function in (descent, train))
        of_round = (plain - first) / (rounds - 1), (own - one) / (rounds - 1)
        found.append((*of_round, of_round[0] / of_round[1], plain / own, one))
    return np.median(found, axis=0)


def main():
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, to try the script")
    quick = parser.parse_args().quick
    print(
        f"{'rows, columns':22}{'us a round':>11}{'plain NumPy':>13}{'ratio':>8}{'us a call':>11}{'ratio of calls':>16}"
    )
    for n_pos, n_neg, columns in SIZES:
        large = n_pos > 10_000
        size = 5 if quick else 40 if large else 200, 3 if quick else 15, 2 if quick else 5
        plain, own, ratio, whole, one = measure(n_pos, n_neg, columns, *size)
        rows = f"{n_pos:,} + {n_neg:,}, {columns}"
        print(f"{rows:22}{own * 1e6:11,.1f}{plain * 1e6:13,.1f}{ratio:8.1f}{one * 1e6:11,.0f}{whole:16.1f}", flush=True)


if __name__ == "__main__":
    main()
