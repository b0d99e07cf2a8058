"""A cluster that loses workers, clients and files on the way."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from facts import raises
from repeats import TRIALS

import pnorm

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("pnorm.dask")

SETTINGS = {
    "distributed.comm.timeouts.connect": "20s",  # which some deaths cost in full
    "distributed.scheduler.allowed-failures": 100,  # of a task: chance may hit the same one time and again
    "distributed.worker.multiprocessing-method": "forkserver" if hasattr(os, "fork") else "spawn",
}


@contextlib.contextmanager
def workers():
    """Two workers, each in a process of its own that is started again when it is gone."""
    with (
        dask.config.set(SETTINGS),
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


class Killer:
    """A callback that kills a worker after some rounds."""

    def __init__(self, cluster, seed=0):
        self.cluster, self.generator, self.rounds, self.killed = cluster, np.random.default_rng(seed), set(), []

    def __call__(self, trace):
        if trace.n_iter - 1 in self.rounds:
            self.kill_one()

    def kill_one(self):
        alive = []
        while not alive:  # asked of those who look after the workers: one that is dead does not answer
            time.sleep(0.01)
            there = [w for w in self.cluster.workers.values() if w.worker_address in self.cluster.scheduler.workers]
            known = [w for w in there if w.status is distributed.Status.running]  # one that starts is not started again
            alive = sorted(w.pid for w in known if w.pid and w.pid not in self.killed)
        self.killed.append(alive[self.generator.integers(len(alive))])
        os.kill(self.killed[-1], signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def sides(n_pos=400, n_neg=600, d=4, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n_pos, d)) + 0.5, generator.normal(size=(n_neg, d))


def parts(A, rows):
    return da.from_array(A, chunks=(rows, -1))


def example():
    """Rows in 14 partitions, and their thresholds."""
    pos, neg = sides()
    return parts(pos, 60), parts(neg, 90), pnorm.rankers.quantile_thresholds(pos, neg, 31)


def assert_same_bits(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1].log_objective, expected[1].log_objective)


def test_workers_killed_on_the_way_change_nothing_but_time():
    P, N, H = example()
    with dask.config.set(scheduler="synchronous"):
        trained, minimised = pnorm.dask.train(P, N, H, 4, 11), pnorm.dask.minimize(P, N, None, 4)
        logistic, _ = pnorm.dask.train(P, N, None, 4, 5, loss="logistic")
    with workers() as cluster:
        killer = Killer(cluster)
        killer.rounds = {*np.random.default_rng(0).choice(10, 2 * TRIALS, replace=False).tolist()}
        assert_same_bits(found := pnorm.dask.train(P, N, H, 4, 11, callback=killer), trained)
        assert re.search(r"\d+ exchanges with 14 partitions: [\d.]+ kB out, [\d.]+ kB back$", found[1].message)
        killer.rounds = {0, 1}
        assert_same_bits(found := pnorm.dask.minimize(P, N, None, 4, callback=killer), minimised)
        assert found[1].status == "converged"
        killer.rounds = {0}
        found, _ = pnorm.dask.train(P, N, None, 4, 5, loss="logistic", callback=killer)
        assert len(killer.killed) == 3 + 2 * TRIALS
        np.testing.assert_allclose(found, logistic, rtol=0, atol=1e-9)
        timer = threading.Timer(0.3, killer.kill_one)
        timer.start()
        assert_same_bits(pnorm.dask.train(P, N, H, 4, 11), trained)
        timer.join()


def test_workers_that_come_and_go():
    P, N, H = example()
    with dask.config.set(scheduler="synchronous"):
        expected = pnorm.dask.train(P, N, H, 4, 18)
    with workers() as cluster:
        sizes = {2: 3, 7: 1, 12: 2}

        def scale(trace):
            if trace.n_iter in sizes:
                cluster.scale(sizes[trace.n_iter])

        assert_same_bits(pnorm.dask.train(P, N, H, 4, 18, callback=scale), expected)
        cluster.adapt(minimum=1, maximum=3, interval="100 ms")
        assert_same_bits(pnorm.dask.train(P, N, H, 4, 18), expected)


_CLIENT = """
import sys
import numpy as np
from distributed import Client
import pnorm.dask
from test_dask_faults import example

def save(trace):
    np.save(sys.argv[2], trace.lam_at(trace.n_iter))
    print(trace.n_iter, flush=True)

with Client(sys.argv[1]):
    P, N, H = example()
    pnorm.dask.train(P, N, H, 4, 10_000, callback=save)
"""


def test_a_client_that_dies_leaves_nothing_behind_and_another_goes_on(tmp_path):
    P, N, H = example()
    with dask.config.set(scheduler="synchronous"):
        expected, _ = pnorm.dask.train(P, N, H, 4, 8)
    with workers() as cluster:
        command = [sys.executable, "-P", "-c", _CLIENT, cluster.scheduler_address, str(tmp_path / "lam.npy")]
        path = os.pathsep.join(filter(None, [os.path.dirname(__file__), os.environ.get("PYTHONPATH")]))
        env = os.environ | {"PYTHONPATH": path}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as client:
            while int(client.stdout.readline()) < 5:
                pass
            start = np.load(tmp_path / "lam.npy")
            assert cluster.scheduler.tasks
            client.kill()
        stop = time.monotonic() + 60.0
        while cluster.scheduler.tasks and time.monotonic() < stop:
            time.sleep(0.05)
        assert not cluster.scheduler.tasks  # the partitions and what was asked of them
        done = 5
        while not np.array_equal(start, pnorm.dask.train(P, N, H, 4, done)[0]):
            done += 1  # it may have got on before it was stopped
            assert done < 8
        # A run with init forms the weights anew, and the other multiplied them: they differ by rounding.
        lam, _ = pnorm.dask.train(P, N, H, 4, 8 - done, init=start)
        np.testing.assert_allclose(lam, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, for what Dask calls
@pytest.mark.filterwarnings("ignore:Dask annotations")  # which frames pass over, and what is made of their parts keeps
def test_files_that_are_away_for_a_moment_are_read_again(tmp_path):
    pandas, frame = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")

    def source(name, shift):
        def read(k):
            mark = tmp_path / f"{name} {k}"
            if not mark.exists():
                mark.touch()
                raise OSError("the file system is away")
            return pandas.DataFrame(np.random.default_rng(k).normal(size=(50, 3)) + shift, columns=list("abc"))

        return frame.from_map(read, range(3), meta=pandas.DataFrame(np.empty((0, 3)), columns=list("abc")))

    with workers():
        with raises(OSError, "the file system is away"):
            pnorm.dask.train(source("first", 0.5), source("second", 0.0), None, 4, 3)
        P, N = source("third", 0.5), source("fourth", 0.0)
        with dask.annotate(retries=2):
            lam, _ = pnorm.dask.train(P, N, None, 4, 3)
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(lam, pnorm.dask.train(P, N, None, 4, 3)[0])


def test_workers_that_run_out_of_memory_are_explained(monkeypatch):
    pos, neg = sides(20, 20)

    def compute(*answers):
        raise distributed.KilledWorker("a task", SimpleNamespace(address="there"), 3)

    with dask.config.set(scheduler="synchronous"):
        rows = pnorm.dask.code_rows(parts(pos, 5), neg=parts(neg, 5), H=None)
        monkeypatch.setattr(dask, "compute", compute)
        with raises(distributed.KilledWorker, "all those workers died") as caught:
            pnorm.dask.train(rows, p=4)
    assert "make partitions smaller" in caught.value.__notes__[0]
