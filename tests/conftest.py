"""The run of the tests says how many inputs its fuzzers have tried, and what came of them."""

import os
import sys
from collections import Counter, defaultdict

import pytest
from hypothesis import HealthCheck, settings
from repeats import SEED, TRIALS

# Before NumPy is imported: tests run beside each other, and the threads of BLAS would wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from pnorm import _default
from pnorm._job import quality

settings.register_profile(
    "few",
    max_examples=7 * TRIALS,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("few")

_TRIED = "inputs tried"

os.environ.pop("COLUMNS", None)  # by which the command wraps its lines


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads it
def pytest_configure(config):
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SEED)


def pytest_report_header():
    return f"trials at random: {TRIALS} times as many (PNORM_TRIALS), from seed {SEED} (PNORM_SEED)"


@pytest.fixture(autouse=True)
def no_figure_left_open():
    """Matplotlib warns at the twenty-first open figure, and the tests that share a process come in any order."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def few_points(request, monkeypatch):
    """A choice among few points, which is quick, but in tests marked whole_grid; test_default.py has the whole grid."""
    if request.node.get_closest_marker("whole_grid"):
        return
    monkeypatch.setattr(_default, "POWERS", (1.0, 4.0))
    monkeypatch.setattr(_default, "L1", _default.L1[[1, 4]])
    monkeypatch.setattr(_default, "L2", _default.L2[[0, 2]])


@pytest.fixture
def few_resamples(monkeypatch):
    """Intervals from a quarter of the resamples or fewer, which is quick."""
    monkeypatch.setattr(quality, "_RESAMPLES", quality._RESAMPLES // 5)
    monkeypatch.setattr(quality, "_BEYOND", 1)


@pytest.fixture
def tried(record_property):
    """Counts inputs by (kind, outcome): ``tried["array", "refused"] += 1``."""
    counts = Counter()
    yield counts
    record_property(_TRIED, [[*what, n] for what, n in counts.items()])


def pytest_terminal_summary(terminalreporter):
    total = defaultdict(Counter)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, counts in getattr(report, "user_properties", ()):
                for kind, outcome, n in counts if name == _TRIED else ():
                    total[kind][outcome] += n
    if total:
        terminalreporter.section(_TRIED)
    for kind, outcomes in sorted(total.items()):
        each = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(outcomes.items()))
        terminalreporter.write_line(f"{kind}: {sum(outcomes.values()):,} ({each})")
