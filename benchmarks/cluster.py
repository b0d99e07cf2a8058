"""Costs of a round on a cluster: the numbers of the page "Rows on a cluster"; needs Dask (extra ``dask``).

    python benchmarks/cluster.py

1. Measured on a cluster of two processes of this machine: what an exchange costs beside the work on the rows, with the
   number of tasks and with that of partitions, and what the work on a million rows costs.
2. Simulated from these: seconds, exchanges and bytes of a round on a billion rows of 50 columns, for 1 to 1000 workers
   of one thread. The scheduler hands out one task at a time, with the question in it; a worker that has its answer
   sends it to the one that merges it with 15 others, over a network of 1 GB/s and 1 ms; the last four come here;
   merging costs as much as sending. Everything else is as measured. `doc/pictures.py workers` draws it.
"""

import heapq
import time
from dataclasses import dataclass

import dask.array as da
import numpy as np
from command_line import parser_of
from distributed import Client, LocalCluster

import pnorm
import pnorm.dask
from pnorm._solvers.problem import extremes, sums_of_weights
from pnorm._solvers.reductions import rows_of
from pnorm._solvers.steps import Steps, sums_after_steps
from pnorm.dask import _cluster
from pnorm.objectives._pnorm import push

COLUMNS, CUTS = 50, 63
LATENCY, BYTES_PER_SECOND = 1e-3, 1e9
WORKERS = (1, 2, 4, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Costs:
    """Seconds."""

    question: float
    """For a question to nobody."""
    task: float
    """For each worker thread more."""
    partition: float
    """For each partition more."""
    row: dict
    """Per row and question, by the kind of weak rankers."""


KINDS = {"thresholds": 1.0, "columns": 3.0}
"""Questions a round: of columns, the step takes two as a rule."""

NUMBERS = {"thresholds": COLUMNS * (CUTS + 1), "columns": COLUMNS}
"""In an answer of each side."""


def median(function, times):
    """Median seconds of some calls."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def of_a_round(rows, lam, generator):
    """Seconds of a step that follows others, along rankers that many rows are above or below."""
    taken = [Steps("benchmark", lam)]
    for j in generator.integers(0, lam.size, 20):
        taken.append(taken[-1].then(int(j), float(generator.normal() / 10.0)))
    todo = iter(taken)
    return median(lambda: sums_after_steps(rows, next(todo), (4.0, 1.0)), len(taken))


def measure():
    """Time questions with next to no rows, and partitions without a cluster."""
    generator = np.random.default_rng(0)
    numbers, tasks, partitions = (2, 8, 32, 128), [], []
    groups = _cluster._groups
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        for n in numbers:
            pos, neg = (da.from_array(generator.normal(size=(n // 2, 2)), chunks=(1, 2)) for _ in range(2))
            rows = pnorm.dask.code_rows(pos, neg=neg, H=pnorm.rankers.columns(2))
            with rows._problem([push(4.0)], "exponential", "top", "pairs") as (problem, _):
                lams = (np.ones(2), np.ones(2))
                partitions.append(median(lambda: problem.reduce(extremes, lams), 41))  # noqa: B023
                _cluster._groups = lambda handles: [[k] for k in range(len(handles))]
                tasks.append(median(lambda: problem.reduce(extremes, lams), 41))  # noqa: B023
                _cluster._groups = groups
            print(
                f"    {n:4} partitions: {1e3 * partitions[-1]:6.1f} ms by worker, {1e3 * tasks[-1]:6.1f} ms one by one"
            )
    partition, question = np.polyfit(numbers, partitions, 1)
    task, _ = np.polyfit(numbers, tasks, 1)
    row = {}
    X = generator.normal(size=(1_000_000, COLUMNS))
    for kind in KINDS:
        H = pnorm.rankers.columns(COLUMNS)
        if kind == "thresholds":
            H = pnorm.rankers.quantile_thresholds(X[:100_000], X[:1000], CUTS)
        rows = rows_of(X, None, H, "neg", 0)
        lam = generator.normal(size=len(H)) / len(H)
        if kind == "thresholds":
            row[kind] = of_a_round(rows, lam, generator) / len(X)
        else:
            row[kind] = median(lambda: sums_of_weights(rows, lam, None, True, (4.0, 1.0)), 5) / len(X)  # noqa: B023
        print(f"    {kind}: {1e9 * row[kind]:.1f} ns per row and reduction")
    partition = max(float(partition), 0.0)
    return Costs(max(float(question), 0.0), max(float(task) - partition, 0.0), partition, row)


def simulated(costs, kind, n_rows, n_workers):
    """Seconds of a round and bytes of one exchange: the events of an exchange of one partition for each worker."""
    answer = 2 * 8.0 * NUMBERS[kind] + 24
    asking = 8.0 * NUMBERS[kind] / BYTES_PER_SECOND
    sending = LATENCY + answer / BYTES_PER_SECOND
    ready = []  # of the partitions, one for each worker: when the answer is where it is merged
    start = costs.question / 2 + n_workers * costs.partition
    scheduler = start
    for _ in range(n_workers):
        scheduler += costs.task + asking
        ready.append(scheduler + LATENCY + costs.row[kind] * n_rows / n_workers + sending)
    moved = n_workers * (answer + 8.0 * NUMBERS[kind])
    while len(ready) > _cluster.HERE:  # the merges of one stage, in the order in which their parts are there
        some = [ready[k : k + _cluster.FAN_IN] for k in range(0, len(ready), _cluster.FAN_IN)]
        events = [(max(own), k) for k, own in enumerate(some)]
        heapq.heapify(events)
        done = [0.0] * len(some)
        while events:
            at, k = heapq.heappop(events)
            scheduler = max(scheduler, at) + costs.task
            done[k] = scheduler + len(some[k]) * sending
        moved += len(some) * answer
        ready = done
    return KINDS[kind] * (max(ready) + len(ready) * sending + costs.question / 2), moved


def main():
    """Print both parts."""
    print("1. Two processes of this machine")
    costs = measure()
    print(
        f"    so {1e3 * costs.question:.1f} ms an exchange, {1e3 * costs.task:.2f} ms more for each worker thread, "
        f"and {1e3 * costs.partition:.2f} ms for each partition"
    )
    n_rows = 10**9
    print(
        f"\n2. Simulated, {n_rows:,} rows of {COLUMNS} columns: seconds a round, the share of it that workers work, MB"
    )
    print("    workers" + "".join(f"{kind:>25}" for kind in KINDS))
    for n in WORKERS:
        cells = []
        for kind in KINDS:
            seconds, moved = simulated(costs, kind, n_rows, n)
            share = KINDS[kind] * costs.row[kind] * n_rows / n / seconds
            cells.append(f"{seconds:10.3f} {share:5.0%} {KINDS[kind] * moved / 1e6:7.2f}")
        print(f"    {n:7}" + "".join(f"{cell:>25}" for cell in cells))


if __name__ == "__main__":
    parser_of(__file__, __doc__).parse_args()
    main()
