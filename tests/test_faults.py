"""What is left when a disk is full, a process is killed, or the memory ends: the old file, and an error that says so."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import workers
from repeats import each_value

import pnorm
from pnorm import _files
from pnorm._command.main import main
from pnorm._core import _threads
from pnorm._threads import Pool
from pnorm.objectives import _losses


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


# Files


WRITERS = {"save": lambda path: pnorm.save(path, [1.0]), "write": lambda path: _files.write(path, b"new")}


def failing(error):
    def fail(*arguments, **more):
        raise error

    return fail


def full(file, mode, opener=None):
    """A new file on a disk that has no room for what is in it."""
    open(file, mode, opener=opener).close()
    return open("/dev/full", "wb")


def test_every_file_is_written_in_one_place():
    for source in (Path(__file__).parents[1] / "pnorm").rglob("*.py"):
        code = re.sub("^ *>>> .*$", "", source.read_text("utf-8"), flags=re.M)  # but not in examples
        found = re.findall(r"open\([^)]*, \"[wax]|write_text|write_bytes|savefig\((?!picture)", code)
        assert len(found) == (2 if source.name == "_files.py" else 0), source.name


@each_value(times=4)
@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("error", [OSError("disk"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("call", ["fsync", "replace", "copymode"])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_failure_leaves_the_old_file_and_no_other(path, monkeypatch, writer, call, error, old):
    if old is None and call == "copymode":
        return
    if old is not None:
        path.write_text(old)
    before = os.listdir(path.parent)
    monkeypatch.setattr(shutil if call == "copymode" else os, call, failing(error))
    with pytest.raises(type(error)):
        WRITERS[writer](path)
    assert os.listdir(path.parent) == before
    assert old is None or path.read_text() == old


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_disk_that_is_full(path, monkeypatch, writer, old):
    if old is not None:
        path.write_text(old)
    monkeypatch.setattr(_files, "open", full, raising=False)
    with pytest.raises(OSError, match="No space left"):
        WRITERS[writer](path)
    assert os.listdir(path.parent) == ([] if old is None else [path.name])
    assert old is None or path.read_text() == old


@each_value()
@pytest.mark.parametrize(("error", "status"), [(OSError("disk"), 2), (MemoryError(), 2), (KeyboardInterrupt(), 130)])
@pytest.mark.parametrize("option", ["--out", "--save"])
def test_what_the_command_leaves(path, monkeypatch, capsys, option, error, status):
    rows = path.with_name("rows.csv")
    rows.write_text("x,y\n1,0\n2,1\n1.5,0\n")
    path.write_text("old")
    monkeypatch.setattr(os, "replace", failing(error))
    assert main([str(rows), "--label", "y", option, str(path)]) == status
    assert capsys.readouterr().err == {2: f"pnorm: error: {str(error) or 'not enough memory'}\n", 130: ""}[status]
    assert path.read_text() == "old"
    assert sorted(os.listdir(path.parent)) == [path.name, "rows.csv"]


def test_a_file_that_may_not_grow(path):
    pytest.importorskip("resource")
    pnorm.save(path, [1.0])
    before = path.read_bytes()
    code = f"""
import pnorm, numpy, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    pnorm.save({str(path)!r}, numpy.ones(1000))
except OSError:
    raise SystemExit(7)
"""
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 7
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_the_file_is_whole_at_every_moment(path, monkeypatch):
    pnorm.save(path, [1.0])
    seen = []
    replace = os.replace

    def look(source, target):
        seen.append((pnorm.load(source).lam.tolist(), pnorm.load(target).lam.tolist()))
        replace(source, target)

    monkeypatch.setattr(os, "replace", look)
    pnorm.save(path, [2.0])
    assert seen == [([2.0], [1.0])]
    assert pnorm.load(path).lam.tolist() == [2.0]


KILLS = """
import os, random, shutil, signal, sys, time
import numpy as np, pnorm
from pnorm import _files

path, folder = sys.argv[1], os.path.dirname(sys.argv[1])
old, new = np.ones(3000), np.full(3000, 2.0)
pnorm.save(path, old)
whole = [open(path, "rb").read()]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def dying(call, before):
    def then(*arguments, **more):
        before and die()
        result = call(*arguments, **more)
        die()
    return then

class Half:
    # A disk that takes half of what is written.
    def __init__(self, file, mode, opener=None):
        self.stream = open(file, mode, opener=opener)
    def __enter__(self):
        return self
    def __exit__(self, *_):
        pass
    def write(self, data):
        self.stream.write(data[: len(data) // 2])
        self.stream.flush()
        die()

def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid

def left(status):
    names = sorted(os.listdir(folder))
    for name in set(names) - {os.path.basename(path)}:
        assert name.startswith(".pnorm-") and name.endswith(".tmp"), name
        os.unlink(os.path.join(folder, name))
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
    lam = pnorm.load(path).lam
    assert lam.tobytes() in (old.tobytes(), new.tobytes())
    return len(names) - 1, "new" if lam[0] == 2.0 else "old"

def patched(module, name, value):
    def work():
        setattr(module, name, value)
        pnorm.save(path, new)
    return work

points = [(_files, "open", Half)]
for module, name in ((os, "fsync"), (shutil, "copymode"), (os, "replace"), (os, "close")):
    points += [(module, name, dying(getattr(module, name), before)) for before in (True, False)]
for module, name, value in points:
    pnorm.save(path, old)
    print(name, *left(os.waitpid(child(patched(module, name, value)), 0)[1]))

def forever():
    while True:
        pnorm.save(path, new)
        pnorm.save(path, old)

chance = random.Random(0)
for _ in range(40):
    pid = child(forever)
    time.sleep(chance.uniform(0.0, 0.03))
    os.kill(pid, signal.SIGKILL)
    left(os.waitpid(pid, 0)[1])
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="killed processes are forked")
def test_a_process_killed_while_it_saves_leaves_the_old_model_or_the_new(path):
    done = subprocess.run([sys.executable, "-P", "-c", KILLS, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "open 1 old",  # beside the old file one that is hidden, to be deleted
        "fsync 1 old",
        "fsync 1 old",
        "copymode 1 old",
        "copymode 1 old",
        "replace 1 old",
        "replace 0 new",
        "close 0 new",
        "close 0 new",
        "done",
    ]


# Memory

ALLOCATE = ("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like", "array", "asarray", "concatenate",
            "ascontiguousarray", "arange", "unique", "cumsum", "where", "column_stack", "repeat", "flatnonzero", "nonzero", "argsort", "sort",
            "outer", "lexsort", "searchsorted", "einsum", "clip", "linspace", "diff")  # fmt: skip


class Memory:
    """NumPy's functions that allocate, of which the call number `last`, and those after it, find no memory."""

    def __init__(self, monkeypatch):
        self.calls, self.last, self.forever, self._lock = 0, None, True, threading.Lock()
        for name in ALLOCATE:
            monkeypatch.setattr(np, name, self._counted(getattr(np, name)))

    def _counted(self, function):
        def call(*arguments, **more):
            with self._lock:
                self.calls += 1
                if self.calls == self.last or (self.forever and self.last is not None and self.calls > self.last):
                    raise MemoryError("none left")
            return function(*arguments, **more)

        return call

    def ends_at(self, last):
        self.calls, self.last = 0, last


def problem():
    generator = np.random.default_rng(0)
    return generator.normal(size=(9, 3)) + 0.5, generator.normal(size=(12, 3))


H = pnorm.rankers.thresholds([[0.0, 1.0], [0.2], []]) + pnorm.rankers.columns(3)
TASKS = {
    "train": lambda pos, neg: pnorm.train(pos, neg, H, 4, 3),
    "train in groups": lambda pos, neg: pnorm.train(
        pos, neg, H, 4, 3, pos_group=[0] * 4 + [1] * 5, neg_group=[0] * 6 + [1] * 6
    ),
    "logistic": lambda pos, neg: pnorm.train(pos, neg, H, 4, 1, loss="logistic"),
    "minimize": lambda pos, neg: pnorm.minimize(pos, neg, None, 4, l2=0.1),
    "score": lambda pos, neg: (pnorm.score(pos, H, np.arange(1.0, len(H) + 1)),),
    "normalized": lambda pos, neg: (pnorm.rankers.normalized(pos, neg).evaluate(pos),),
    "quantiles": lambda pos, neg: (pnorm.rankers.quantile_thresholds(pos, neg, 3).evaluate(pos),),
}


@each_value()
@pytest.mark.parametrize("forever", [True, False], ids=["from then on", "once"])
@pytest.mark.parametrize("task", TASKS)
def test_memory_that_ends_at_any_moment(monkeypatch, tried, task, forever):
    pos, neg = problem()
    work = TASKS[task]
    expected = work(pos, neg)[0]
    memory = Memory(monkeypatch)
    memory.forever = forever
    _losses._series_of_logistic.cache_clear()
    work(pos, neg)
    for last in range(1, memory.calls + 1):
        _losses._series_of_logistic.cache_clear()
        memory.ends_at(last)
        with pytest.raises(MemoryError, match="none left"):
            work(pos, neg)
        memory.ends_at(None)
        tried["end of memory", "MemoryError"] += 1
        if last % 10 == 1:
            np.testing.assert_array_equal(work(pos, neg)[0], expected)


@pytest.mark.parametrize("task", ["train", "minimize", "score"])
def test_memory_that_ends_in_a_thread(monkeypatch, tried, task):
    generator = np.random.default_rng(0)
    pos, neg = generator.normal(size=(70_000, 2)) + 0.5, generator.normal(size=(70_000, 2))
    H = pnorm.rankers.thresholds([[0.0], [0.5]])
    work = {
        "train": lambda: pnorm.train(pos, neg, H, 4, 2, n_threads=2)[0],
        "minimize": lambda: pnorm.minimize(pos, neg, None, 4, tol=1e-3, n_threads=2)[0],
        "score": lambda: pnorm.score(pos, H, [1.0, 2.0], n_threads=2),
    }[task]
    threads, expected = workers.running(), work()
    memory = Memory(monkeypatch)
    work()
    for last in generator.choice(memory.calls, 8, replace=False) + 1:
        memory.ends_at(int(last))
        with pytest.raises(MemoryError, match="none left"):
            work()
        memory.ends_at(None)
        tried["end of memory", "MemoryError"] += 1
        assert not workers.left(threads)
    np.testing.assert_array_equal(work(), expected)


def test_an_error_in_a_thread_comes_out_when_all_threads_are_done():
    together, ended, roles = threading.Barrier(3, timeout=60), [], ["fails", "takes longer"]
    threads, caller = workers.running(), threading.get_ident()

    def work(item):
        role = "calls" if threading.get_ident() == caller else roles.pop()
        together.wait()
        if role == "fails":
            raise MemoryError(role)
        if role == "takes longer":
            time.sleep(0.3)
        ended.append(role)

    with Pool(3) as pool:
        with pytest.raises(MemoryError, match="fails"):
            pool.map(work, range(3))  # one for each thread, as they wait for each other
        assert sorted(ended) == ["calls", "takes longer"]
        assert pool.map(abs, range(-9, 0)) == list(range(9, 0, -1))
    assert not workers.left(threads)


@pytest.mark.parametrize("room", [0, 1])
def test_no_room_for_another_thread(monkeypatch, room):
    start, started = _threads.start_new_thread, []

    def no_more(*what):
        if len(started) >= room:
            raise RuntimeError("can't start new thread")
        started.append(what)
        return start(*what)

    monkeypatch.setattr(_threads, "start_new_thread", no_more)
    with Pool(4) as pool:
        for _ in range(3):
            assert pool.map(abs, range(-9, 0)) == list(range(9, 0, -1))
    assert len(started) == room


TOO_LARGE = """
import resource, warnings
import numpy as np, pnorm

generator = np.random.default_rng(0)
small = generator.normal(size=(9, 3)) + 0.5, generator.normal(size=(12, 3))
tasks = {
    "train": lambda pos, neg: pnorm.train(pos, neg, None, 4, 3)[0],
    "thresholds": lambda pos, neg: pnorm.train(pos, neg, pnorm.rankers.thresholds([[0.0]] * 3), 4, 3)[0],
    "minimize": lambda pos, neg: pnorm.minimize(pos, neg, None, 4, l2=0.1)[0],
    "logistic": lambda pos, neg: pnorm.train(pos, neg, None, 4, 3, loss="logistic")[0],
    "score": lambda pos, neg: pnorm.score(pos, None, [1.0, 2.0, 3.0]),
    "normalized": lambda pos, neg: pnorm.rankers.normalized(pos, neg).evaluate(pos),
    "quantiles": lambda pos, neg: pnorm.rankers.quantile_thresholds(pos, neg, 3).evaluate(pos),
    "auc": lambda pos, neg: pnorm.metrics.auc(pos[:, 0], neg[:, 0]),
}
expected = {name: task(*small) for name, task in tasks.items()}
large = [np.broadcast_to(side[:1], (30_000_000, 3)) for side in small]  # three numbers, seen again and again
with open("/proc/self/statm") as stream:
    now = int(stream.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 2**26, now + 2**26))
for name, task in tasks.items():
    try:
        task(*large)
    except MemoryError:
        print(name)
    np.testing.assert_array_equal(task(*small), expected[name])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_data_too_large_for_the_memory_leave_the_process_as_it_was():
    one = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-P", "-c", TOO_LARGE], capture_output=True, text=True, check=False, env=one)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "train", "thresholds", "minimize", "logistic", "score", "normalized", "quantiles", "auc"
    ]  # fmt: skip
