"""Workers killed at random moments: `train` and `minimize` of `pnorm.dask` find the same bits.

    python benchmarks/killed.py [RUNS [ROWS]]

Two workers of this machine, which are started again when they are gone. Each run is one of the functions. At a
moment drawn from the time that it takes undisturbed, from the reading of its partitions to its last exchange,
a worker that is drawn as well is killed (SIGKILL).
"""

import os
import signal
import sys
import threading
import time

import dask
import dask.array as da
import numpy as np
from command_line import parser_of
from distributed import Client, LocalCluster, Status

import pnorm
import pnorm.dask

SETTINGS = {
    "distributed.comm.timeouts.connect": "20s",  # which some deaths cost in full
    "distributed.scheduler.allowed-failures": 100,  # of a task: chance may hit the same one time and again
    "distributed.worker.multiprocessing-method": "forkserver" if hasattr(os, "fork") else "spawn",
}


def jobs(rows):
    """Functions of nothing, each of which returns arrays."""
    generator = np.random.default_rng(0)
    pos, neg = generator.normal(0.5, 1.0, (rows, 8)), generator.normal(size=(rows, 8))
    H = pnorm.rankers.quantile_thresholds(pos, neg, 31)
    P, N = (da.from_array(side, chunks=(-(-rows // 10), -1)) for side in (pos, neg))

    def train():
        lam, trace = pnorm.dask.train(P, N, H, 4, 40)
        return lam, trace.log_objective

    def minimize():
        lam, trace = pnorm.dask.minimize(P, N, None, 4)
        return lam, trace.objective

    return {"train": train, "minimize": minimize}


def kill_one(cluster, generator):
    """Kill a worker that is alive, and return its name."""
    while True:  # asked of those who look after the workers: one that is dead does not answer
        there = [w for w in cluster.workers.values() if w.worker_address in cluster.scheduler.workers and w.pid]
        known = [w for w in there if w.status is Status.running]  # one that starts is not started again
        if known:
            chosen = known[generator.integers(len(known))]
            os.kill(chosen.pid, signal.SIGKILL)
            return chosen.name
        time.sleep(0.01)


def timed(function):
    """Return the answer of a function and the seconds that it took."""
    start = time.perf_counter()
    found = function()
    return found, time.perf_counter() - start


def main():
    """Kill a worker in each of some runs, and compare."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("runs", nargs="?", type=int, default=3)
    parser.add_argument("rows", nargs="?", type=int, default=20_000)
    asked = parser.parse_args()
    runs, rows = asked.runs, asked.rows
    generator, same = np.random.default_rng(), 0
    with (
        dask.config.set(SETTINGS),
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster),
    ):
        known = {}
        for name, function in jobs(rows).items():
            function()  # the first call loads what it needs
            known[name] = function, *timed(function)
        names, k = list(known), 0
        while k < runs:
            function, expected, seconds = known[names[k % len(names)]]
            moment, died = generator.uniform(0.0, seconds), []
            killer = threading.Timer(moment, lambda died=died: died.append(kill_one(cluster, generator)))
            killer.start()
            found, took = timed(function)
            if not died:  # it was done before
                killer.cancel()
                killer.join()
                continue
            alike = all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
            same += alike
            when = f"worker {died[0]} killed after {moment:4.1f} s of {seconds:4.1f}; done in {took:4.1f} s"
            print(f"    {names[k % len(names)]:15} {when}, {'the same bits' if alike else 'OTHER BITS'}", flush=True)
            k += 1
            while len(cluster.scheduler.workers) < 2:
                cluster.scale(2)  # Dask now and then gives up a worker that was killed
                time.sleep(1.0)
    print(f"{same} of {runs} with the same bits")
    return 0 if same == runs else 1


if __name__ == "__main__":
    sys.exit(main())
