"""Many small problems: cross-validation, one model for each of many customers, and the experiments of the papers.

    OMP_NUM_THREADS=1 python benchmarks/many.py [--quick]

Seconds of processor time on one thread and on two, which alternate, and the ratio of the times on the clock: medians
of repeated pairs. The results of one thread and of two agree to the bit, or the script stops. Needs
pima-indians-diabetes.csv, of which PNORM_DATA names the folder.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import reproduce
from command_line import data_folder, parser_of

import pnorm

POWERS = 1, 2, 4, 8, 16, 64


def validated(data, rounds):
    """Return a function of the number of threads: 5-fold cross-validation of six powers."""

    def run(n_threads):
        found = pnorm.cross_validate(data.pos, data.neg, None, POWERS, rounds, folds=5, n_threads=n_threads)
        return found.scores.tobytes()

    return run


def customers(n, rounds):
    """Return a function of the number of threads: a model for each of n customers with 30 + 30 rows of 8 columns."""
    rng = np.random.default_rng(0)
    problems = [(rng.normal(0.3, 1, (30, 8)), rng.normal(0, 1, (30, 8))) for _ in range(n)]

    def model(rows):
        return pnorm.train(*rows, None, 4, rounds)[0]

    def run(n_threads):
        if n_threads == 1:
            return np.array([model(rows) for rows in problems]).tobytes()
        with ThreadPoolExecutor(n_threads) as threads:
            return np.array(list(threads.map(model, problems))).tobytes()

    return run


def experiments(n_splits, rounds):
    """Return a function of the number of threads: splits of the Pima setting of ``pnorm reproduce``."""

    def run(n_threads):
        of = reproduce.measure("pima", range(n_splits), os.environ.get("PNORM_DATA"), rounds, n_threads=n_threads)
        return of.objective.tobytes() + of.auc.tobytes()

    return run


def measured(run, pairs):
    """Return the medians of the processor's times on one thread and two, and of the ratio of the clock's."""
    times, results = [], set()
    for _ in range(pairs):
        pair = []
        for n_threads in (1, 2):
            clock, cpu = time.perf_counter(), time.process_time()
            results.add(run(n_threads))
            pair.append((time.process_time() - cpu, time.perf_counter() - clock))
        (cpu, clock), (cpu_of_two, clock_of_two) = pair
        times.append((cpu, cpu_of_two, clock_of_two / clock))
    if len(results) > 1:
        raise SystemExit("results differ between runs, or numbers of threads")
    return np.median(times, axis=0)


def main():
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, to try the script")
    quick = parser.parse_args().quick
    data_folder()
    rounds, pairs = (5, 1) if quick else (200, 9)
    n, splits = (20, 2) if quick else (1000, 10)
    data = pnorm.datasets.pima()
    rows = {
        f"cross_validate, Pima, 6 powers x 5 folds x {rounds} rounds": validated(data, rounds),
        f"{n:,} problems of 30 + 30 rows, 8 columns, {rounds} rounds": customers(n, rounds),
        f"reproduce, Pima, {splits} splits x 6 powers x {rounds} rounds": experiments(splits, rounds),
    }
    print(f"{'':56}{'1 thread':>10}{'2 threads':>11}{'clock, 2/1':>12}")
    for what, run in rows.items():
        one, two, ratio = measured(run, pairs)
        print(f"{what:56}{one:10.2f}{two:11.2f}{ratio:12.2f}", flush=True)


if __name__ == "__main__":
    main()
