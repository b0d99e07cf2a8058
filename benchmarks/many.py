"""Many small problems: cross-validation, one model for each of many customers, and the experiments of the papers.

    OMP_NUM_THREADS=1 python -P benchmarks/many.py [--quick]

Seconds on the clock, the median of repeated runs in which the numbers of threads alternate, and in brackets the
processor time. The figures of one thread and of two agree to the bit, or the script stops. Needs
pima-indians-diabetes.csv, of which PNORM_DATA names the folder.
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pnorm
from pnorm._command import reproduce

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


def measured(run, repeats):
    """Return the median times of a run on one thread and on two: on the clock, and the processor's."""
    times, results = {1: [], 2: []}, set()
    for _ in range(repeats):
        for n_threads, of in times.items():
            clock, cpu = time.perf_counter(), time.process_time()
            results.add(run(n_threads))
            of.append((time.perf_counter() - clock, time.process_time() - cpu))
    if len(results) > 1:
        raise SystemExit("results differ between runs, or numbers of threads")
    return [np.median(of, axis=0) for of in times.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds, to try the script")
    quick = parser.parse_args().quick
    rounds, repeats = (5, 1) if quick else (200, 7)
    n, splits = (20, 2) if quick else (1000, 10)
    data = pnorm.datasets.pima()
    rows = {
        f"cross_validate, Pima, 6 powers x 5 folds x {rounds} rounds": validated(data, rounds),
        f"{n:,} problems of 30 + 30 rows, 8 columns, {rounds} rounds": customers(n, rounds),
        f"reproduce, Pima, {splits} splits x 6 powers x {rounds} rounds": experiments(splits, rounds),
    }
    print(f"{'':60}{'1 thread':>16}{'2 threads':>16}")
    for what, run in rows.items():
        of_each = [f"{clock:.2f} ({cpu:.2f})" for clock, cpu in measured(run, repeats)]
        print(f"{what:60}{of_each[0]:>16}{of_each[1]:>16}", flush=True)


if __name__ == "__main__":
    main()
