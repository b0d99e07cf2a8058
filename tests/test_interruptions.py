"""A callback's error, or Ctrl-C at any moment, ends a run at once, carries the trace so far, and leaves nothing behind."""

import _thread
import inspect
import itertools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import workers
from repeats import SEED, TRIALS, each_value

import pnorm
from pnorm import _blas, _threads
from pnorm._solvers import folds
from pnorm._solvers import lbfgs as _lbfgs
from pnorm._storage.features import Feature

rng = np.random.default_rng(20)
POS, NEG = rng.normal(size=(40, 4)).round(2) + 0.3, rng.normal(size=(60, 4)).round(2)
X, GRADES, LISTS = np.vstack([POS, NEG]), rng.integers(0, 3, 100), np.repeat(np.arange(10), 10)
CUTS = pnorm.rankers.thresholds([[-0.5, 0.1, 0.7]] * 4)


def in_partitions(function, **arguments):
    """The function of pnorm.dask on these rows, computed here."""

    def run(callback, **more):
        pytest.importorskip("dask")
        from dask import array, config

        with config.set(scheduler="synchronous"):
            sides = [array.from_array(side, chunks=(25, -1)) for side in (POS, NEG)]
            return getattr(pnorm.dask, function)(*sides, **arguments, callback=callback, **more)

    return run


def run_of(function, *rows, **arguments):
    return lambda callback, **more: function(*rows, **arguments, callback=callback, **more)


RUNS = {
    "train": run_of(pnorm.train, POS, NEG, p=4, t_max=12),
    "train thresholds": run_of(pnorm.train, POS, NEG, CUTS, p=2, t_max=12, selection="signed"),
    "minimize": run_of(pnorm.minimize, POS, NEG, p=16),
    "minimize by L-BFGS": run_of(pnorm.minimize, POS, NEG, p=4, method="lbfgs"),
    "dask.train": in_partitions("train", p=4, t_max=6),
    "kernel.train": run_of(pnorm.kernel.train, POS, NEG, t_max=8),
    "kernel.minimize": lambda callback: pnorm.kernel.minimize(POS, NEG),  # which takes none
    "listwise.train": run_of(pnorm.listwise.train, X, GRADES, LISTS, loss="kendall", epochs=6),
}
SERIES = ("ranker", "step", "edge", "z", "log_objective", "objective", "gaps", "loss", "norm", "surrogate", "error")


def coefficients(trace):
    """Coefficients at the end of a trace, which are those that a whole run returns."""
    if hasattr(trace, "lam_at"):
        return trace.lam_at(trace.n_iter)
    return trace.w if hasattr(trace, "w") else trace.model.coef


def whole_run(name):
    """The trace of a run that nothing interrupts, and the coefficients after each of its rounds."""
    after = {}
    whole = RUNS[name](lambda trace: after.update({trace.n_iter: coefficients(trace)}))[1]
    return whole, after


def is_beginning(trace, whole, n, after):
    """Whether a trace is that of the first n rounds of a whole run."""
    assert trace.n_iter == n
    if n in after:
        np.testing.assert_array_equal(coefficients(trace), after[n])
    for name in SERIES:
        part, series = getattr(trace, name, None), getattr(whole, name, None)
        if isinstance(series, np.ndarray):
            short = whole.n_iter + 1 - series.size  # one number per round, or one more
            assert part.shape == (n + 1 - short,), name
            known = part.size - (name == "gaps" and not np.isfinite(part[-1]))  # the last point may lack a certificate
            np.testing.assert_array_equal(part[:known], series[:known], err_msg=name)


class OwnError(Exception):
    """Nobody else's."""


@each_value()
@pytest.mark.parametrize("kind", [OwnError, KeyboardInterrupt, StopIteration])
@pytest.mark.parametrize("name", [name for name in RUNS if name != "kernel.minimize"])
def test_an_error_of_the_callback_comes_out_as_it_is_with_the_trace_so_far(name, kind):
    whole, after = whole_run(name)
    error, threads = kind("mine"), workers.running()

    def callback(trace):
        assert trace.status == "running"
        if trace.n_iter == 3:
            raise error

    with pytest.raises(kind) as caught:
        RUNS[name](callback)
    assert caught.value is error
    assert error.trace.status == "interrupted"
    assert error.trace.message == f"{kind.__name__} ended the run"
    is_beginning(error.trace, whole, 3, after)
    assert not workers.left(threads)


@pytest.mark.parametrize("name", ["train", "train thresholds", "dask.train"])
def test_a_run_goes_on_from_where_it_was_interrupted(name):
    lam, whole = RUNS[name](None)

    def callback(trace):
        if trace.n_iter == 5:
            raise OwnError

    with pytest.raises(OwnError) as caught:
        RUNS[name](callback)
    sofar = caught.value.trace
    rest = RUNS[name](lambda trace: trace.n_iter == whole.n_iter - 5, init=sofar.lam_at(5))
    np.testing.assert_allclose(rest[0], lam, rtol=1e-12)
    np.testing.assert_array_equal(np.append(sofar.ranker, rest[1].ranker), whole.ranker)


def blas_is_free():
    """Release the lock of the threads of BLAS, and restore their number, where a tracer has raised before `__exit__`."""
    while _blas._Runs.lock._is_owned():
        _blas._Runs.lock.release()
    if _blas._Runs.asking:
        _blas._Runs.asking = 0
        _blas._Runs.limit.restore_original_limits()


@pytest.mark.parametrize("name", RUNS)
def test_an_error_between_any_two_lines_comes_out_as_it_is_with_a_whole_trace(name):
    home = str(Path(pnorm.__file__).parent)
    whole, after = whole_run(name)
    seen, lines, end, error = [], itertools.count(), np.inf, None

    def watch(frame, event, argument):
        if not frame.f_code.co_filename.startswith(home):
            return None
        # A generator makes a RuntimeError of a StopIteration (PEP 479); after its last item, Python 3.13 its end.
        lost = isinstance(error, StopIteration) and frame.f_code.co_flags & inspect.CO_GENERATOR
        if event == "line" and next(lines) >= end and not lost:
            raise error
        return watch

    def run():
        before, errors = sys.gettrace(), np.geterr()
        sys.settrace(watch)
        try:
            return RUNS[name](lambda trace: seen.append(trace.n_iter))
        finally:
            sys.settrace(before)
            # A tracer may raise where no signal does: after a block and before its __exit__.
            np.seterr(**errors)
            blas_is_free()

    run()
    total, known = next(lines), 0
    tries = 9 if "dask" in name else 60
    for k, line in enumerate(np.random.default_rng(21).integers(0, total, tries)):
        end = line
        seen, lines = [], itertools.count()
        kind = (KeyboardInterrupt, RuntimeError, StopIteration)[k % 3]
        error, threads = kind("mine"), workers.running()
        with pytest.raises(kind) as caught:
            run()
        # SciPy's L-BFGS takes a StopIteration in its own lines for a wish to stop, and keeps no more of it.
        assert caught.value is error or (kind is StopIteration and name == "minimize by L-BFGS")
        trace = getattr(caught.value, "trace", None)
        assert not workers.left(threads)
        rounds = len(seen) if after else trace and trace.n_iter
        if trace is None:  # before the first point, or after the end
            assert rounds in (None, 0, whole.n_iter)
        else:
            known += 1
            assert trace.status == "interrupted"
            assert trace.message == f"{kind.__name__} ended the run"
            assert trace.n_iter - rounds in (0, 1)
            is_beginning(trace, whole, trace.n_iter, after)
    assert known > tries // 3
    is_beginning(RUNS[name](None)[1], whole, whole.n_iter, after)


def test_a_stop_iteration_of_a_signal_handler_in_scipys_lines_is_not_lost(monkeypatch):
    def interrupted(self, intermediate_result):
        raise StopIteration("mine")

    monkeypatch.setattr(_lbfgs.Descent, "_after_iteration", interrupted)
    with pytest.raises(StopIteration):
        RUNS["minimize by L-BFGS"](None)


def test_a_stop_iteration_while_rankers_are_counted_ends_no_sum(monkeypatch):
    """A `map` would take it for the end; with too few rankers kernels wrote beyond their arrays."""
    error, length = StopIteration("mine"), Feature.__len__
    calls = itertools.count()

    def interrupted(self):
        if next(calls) == 2:
            raise error
        return length(self)

    monkeypatch.setattr(Feature, "__len__", interrupted)
    with pytest.raises(StopIteration) as caught:
        RUNS["train thresholds"](None)
    assert caught.value is error


def test_an_error_that_the_callback_makes_of_a_stop_iteration_is_its_own():
    def callback(trace):
        all(next(iter(())) for _ in range(3))

    with pytest.raises(RuntimeError, match="generator raised StopIteration") as caught:
        RUNS["train"](callback)
    assert caught.value.trace.n_iter == 1


@pytest.mark.parametrize("n_threads", [1, 4])
def test_ctrl_c_ends_a_long_run(n_threads):
    alike = 1.0 + 0.01 * np.eye(3)  # columns that are nearly the same: no run of them ends soon
    pos, neg = (np.random.default_rng(22 + k).normal(size=(40_000, 3)) @ alike for k in range(2))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, shells have it ignored
    started = threading.Event()
    interrupter = threading.Thread(target=lambda: started.wait() and _thread.interrupt_main())
    threads = workers.running()
    interrupter.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:  # ten million rounds would take an hour
            pnorm.train(pos, neg, p=8, t_max=10**7, tol=0, n_threads=n_threads, callback=lambda trace: started.set())
    finally:
        started.set()
        interrupter.join()
        signal.signal(signal.SIGINT, handler)
    trace = caught.value.trace
    assert trace.n_iter >= 1
    lam = trace.lam_at(trace.n_iter)
    f = pnorm.objectives.value(pos @ lam, neg @ lam, pnorm.objectives.Power(8))
    assert trace.log_objective[-1] == pytest.approx(f, rel=1e-12)
    assert not workers.left(threads)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no thread of this system can be sent a signal")
@pytest.mark.parametrize("busy", ["runs", "waits"])
def test_ctrl_c_ends_the_runs_of_all_threads(monkeypatch, busy):
    """That of the caller, who is at a run or waits for one, and those that others are at."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threads, caller, descend = workers.running(), threading.get_ident(), folds.descend
    ended, others = [], threading.Event()
    pos, neg = np.random.default_rng(22).normal(size=(2, 20, 30))  # all positives come first, further and further

    def watched(state, rounds, *arguments):
        if threading.get_ident() == caller:
            others.wait()
            if busy == "waits":
                return descend(state, range(1), *arguments)
        else:
            others.set()
            threading.Timer(0.1, signal.pthread_kill, (caller, signal.SIGINT)).start()
        trace = descend(state, rounds, *arguments)  # ten million rounds would take an hour
        ended.append(trace.n_iter)
        return trace

    monkeypatch.setattr(folds, "descend", watched)
    try:
        with pytest.raises(KeyboardInterrupt):
            pnorm.cross_validate(pos, neg, None, [4], 10**7, folds=2, rounds=[1], tol=0, n_threads=2)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert not workers.left(threads)
    assert 0 < ended[0] < 10**7


def test_an_exception_that_takes_no_attributes_comes_out_all_the_same():
    class ClosedError(Exception):
        def __setattr__(self, name, value):
            raise TypeError("no attributes")

    def callback(trace):
        raise ClosedError("mine")

    with pytest.raises(ClosedError, match="mine"):
        RUNS["train"](callback)


def test_of_runs_in_each_other_the_trace_is_that_of_the_outer_one():
    def inner(trace):
        raise OwnError

    def outer(trace):
        if trace.n_iter == 2:
            pnorm.minimize(POS, NEG, callback=inner)

    with pytest.raises(OwnError) as caught:
        RUNS["train"](outer)
    assert caught.value.trace.n_iter == 2
    assert caught.value.trace.path is None


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that send signals")
def test_a_second_exception_does_not_wait_for_a_thread_that_does_not_end():
    caller, goes_on, raised, threads = threading.get_ident(), threading.Event(), [], workers.running()
    taken = threading.Barrier(2, timeout=60)

    def work(item):
        taken.wait()
        if threading.get_ident() != caller:
            goes_on.wait()
        else:
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)

    def handler(*_):
        raised.append(OwnError(len(raised)))
        if len(raised) == 2:
            signal.setitimer(signal.ITIMER_REAL, 0)
        raise raised[-1]

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with _threads.Pool(2) as pool:
            with pytest.raises(OwnError) as caught:
                pool.map(work, range(2))
            assert caught.value is raised[1]
            assert caught.value.__context__ is raised[0]
            assert pool.map(abs, range(-9, 0)) == list(range(9, 0, -1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        goes_on.set()
    assert not workers.left(threads)


FORK = """
import os, signal, sys, warnings
import numpy as np
import pnorm

signal.alarm(20)  # ends the process
warnings.simplefilter("ignore")  # newer Pythons warn of forks where there are threads
pos, neg = np.random.default_rng(0).normal(size=(2, 40_000, 3))
children = []

def fork(trace):
    if trace.n_iter == 2:
        children.append(os.fork())
        if not children[-1]:
            signal.alarm(15)

lam, trace = pnorm.train(pos, neg, p=4, t_max=5, n_threads=2, callback=fork)
same = (lam == pnorm.train(pos, neg, p=4, t_max=5, n_threads=1)[0]).all()
if not children[0]:
    os._exit(0 if same else 1)
sys.exit(0 if same and os.waitpid(children[0], 0)[1] == 0 else 1)
"""

FORK_IN_A_PASS = """
import os, signal, threading, warnings
from pnorm import _threads

signal.alarm(20)
warnings.simplefilter("ignore")
parent, caller = os.getpid(), threading.get_ident()
started, forked = threading.Event(), threading.Event()

def work(item):
    if threading.get_ident() != caller:
        started.set()
        forked.wait()
    else:
        started.wait()
        if not os.fork():
            signal.alarm(15)
        forked.set()
    return item

try:
    with _threads.Pool(2) as pool:
        assert pool.map(work, range(2)) == [0, 1] and os.getpid() == parent
except RuntimeError as error:
    os._exit("was forked in the middle" not in str(error) or os.getpid() == parent)
status = os.wait()[1]
assert status == 0, status
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("code", [FORK, FORK_IN_A_PASS], ids=["in a callback", "in a pass"])
def test_a_child_of_a_fork_does_not_wait_for_threads_that_it_lacks(code):
    """It starts its own after a callback; in the middle of a pass it is told that it cannot go on."""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


INTERRUPTIONS = 150 * TRIALS


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that send signals")
def test_what_signal_handlers_raise_at_random_times_comes_out_and_leaves_nothing_behind():
    """In a process of its own, which ends itself when an interruption has taken 20 seconds."""
    storm = Path(__file__).with_name("storm.py")
    command = [sys.executable, "-P", str(storm), str(INTERRUPTIONS), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 + INTERRUPTIONS, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
