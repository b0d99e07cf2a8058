"""Measure what the documentation claims: ratios in one run, and peak memory.

    python benchmarks/claims.py

1. `train` against the literal Figure 1 in NumPy (tests/literal.py), same problem, same trace.
2. A dense round of `train` against one product `A.T @ s` with the same matrix.
3. How the time of a round grows: the slope of log time on log size, and p = 64 beside p = 1.
4. Peak memory of 200 rounds over 10**10 pairs, beside the size of the input.
5. One evaluation of the objective and its weights under other losses, beside the exponential one.
"""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
from command_line import parser_of

import pnorm

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]

from benchmarks import problems  # noqa: E402


def seconds(function, *args, clock=time.perf_counter, **kwargs):
    """Time one call."""
    start = clock()
    result = function(*args, **kwargs)
    return clock() - start, result


def against_the_literal_algorithm():
    """I = K = 1000, n = 50, p = 4, 20 rounds; processor time, one thread."""
    import literal

    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.2, 1, (1000, 50)), rng.normal(0, 1, (1000, 50))
    own = {"n_threads": 1, "clock": time.process_time}
    lam, trace = pnorm.train(pos, neg, None, 4, 20, n_threads=1)
    ours = median(seconds(pnorm.train, pos, neg, None, 4, 20, **own)[0] for _ in range(21))
    theirs, judge = seconds(literal.train, pos, neg, 4, 20, clock=time.process_time)
    apart = max(np.abs(trace.step - judge.step).max(), np.abs(lam - judge.lam).max())
    print(
        f"literal NumPy {theirs:.2f} s, train {1e3 * ours:.2f} ms: {theirs / ours:.0f} times; "
        f"largest difference of a step or coefficient {apart:.1e}"
    )


def against_one_product():
    """10**6 rows, 50 columns: time per round from the difference of two runs, product in between."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(10**6, 50))
    A[: 5 * 10**5] += 0.1
    s = rng.normal(size=len(A))
    for p in (1, 4, 16):
        ratios, rounds = [], []
        for _ in range(9):
            long, (_, trace) = seconds(pnorm.train, A[: 5 * 10**5], A[5 * 10**5 :], None, p, 12)
            short, _ = seconds(pnorm.train, A[: 5 * 10**5], A[5 * 10**5 :], None, p, 2)
            product = median(seconds(np.matmul, A.T, s)[0] for _ in range(5))
            assert trace.n_iter == 12
            rounds.append((long - short) / 10)
            ratios.append(rounds[-1] / product)
        print(f"a round at 10**6 x 50, p = {p}: {1e3 * median(rounds):.1f} ms, {median(ratios):.2f} products A.T @ s")


def a_round(pos, neg, p):
    """Seconds per round, from the difference of two runs."""
    times = [seconds(pnorm.train, pos, neg, None, p, rounds)[0] for rounds in (22, 2) * 3]
    return (median(times[::2]) - median(times[1::2])) / 20


def growth():
    """Each slope is that of log time per round on log size, from one size to the next."""
    pos, neg = problems.gaussian(10**6, 10**6, 20)
    sizes = [10**4, 10**5, 10**6]
    print("I = K = 10**4, 10**5, 10**6 at n = 20: slopes", slopes(sizes, [a_round(pos[:m], neg[:m], 4) for m in sizes]))
    s = np.ones(10**6)
    products = [median(seconds(np.matmul, pos[:m].T, s[:m])[0] for _ in range(9)) for m in sizes]
    print("    one product with the same positives: slopes", slopes(sizes, products))
    pos, neg = problems.gaussian(10**5, 10**5, 320)
    sizes = [20, 80, 320]
    cut = [[np.ascontiguousarray(X[:, :n]) for X in (pos, neg)] for n in sizes]
    print("n = 20, 80, 320 at I = K = 10**5: slopes", slopes(sizes, [a_round(*sides, 4) for sides in cut]))
    pos, neg = cut[0]
    ratio = median(a_round(pos, neg, 64) / a_round(pos, neg, 1) for _ in range(5))
    print(f"p = 64 takes {ratio:.2f} times p = 1")


def slopes(sizes, times):
    """One slope per step."""
    return ", ".join(f"{slope:.2f}" for slope in np.diff(np.log(times)) / np.diff(np.log(sizes)))


def peak_memory():
    """I = K = 10**5, n = 20, p = 8, 200 rounds, in a process of its own."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import claims; claims.peak_memory_here()"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def peak_memory_here():
    before = peak_mb()
    pos, neg = problems.gaussian(10**5, 10**5, 20)
    held = peak_mb()
    elapsed, (_, trace) = seconds(pnorm.train, pos, neg, None, 8, 200)
    size = (pos.nbytes + neg.nbytes) / 1e6
    print(
        f"I = K = 10**5, n = 20, p = 8, {trace.n_iter} rounds: {elapsed:.1f} s; input {size:.0f} MB; peak of the "
        f"process {peak_mb():.0f} MB: {peak_mb() - held:.0f} for training,\n    {held - before:.0f} for the input, "
        f"{before:.0f} for Python and its libraries"
    )


def evaluations():
    """The price r ** 4 of every loss at I = K = 10**5 and 10**6, one after the other, nine times."""
    losses = "exponential", "squared", "logistic", "hinge", "squared_hinge"
    for rows in (10**5, 10**6):
        rng = np.random.default_rng(0)
        f_pos, f_neg = rng.normal(0.5, 1, rows), rng.normal(0, 1, rows)
        times = {loss: [] for loss in losses}
        for _ in range(9):
            for loss in losses:
                evaluate = pnorm.objectives.value_and_weights
                times[loss].append(seconds(evaluate, f_pos, f_neg, pnorm.objectives.Power(4), loss)[0])
        ms = {loss: 1e3 * median(runs) for loss, runs in times.items()}
        parts = [f"{loss} {ms[loss]:.1f} ms ({ms[loss] / ms['exponential']:.1f})" for loss in losses]
        print(f"value and weights at I = K = {rows}: {', '.join(parts)}")


def peak_mb():
    """Largest resident size of this process so far, in MB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    against_the_literal_algorithm()
    against_one_product()
    growth()
    peak_memory()
    evaluations()
