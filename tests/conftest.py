"""The run of the tests says how many inputs its fuzzers have tried, and what came of them."""

import os
import sys
from collections import Counter, defaultdict

import pytest
from hypothesis import HealthCheck, settings
from repeats import with_each_value

from pnorm import _default
from pnorm._job import quality

# The same examples in every run. `pytest --hypothesis-profile=search` looks for new ones, ten times as many, and
# `--hypothesis-profile=quick` tries a tenth of them.
_common = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, **_common)
settings.register_profile("quick", max_examples=10, derandomize=True, **_common)
settings.register_profile("search", max_examples=1000, **_common)
settings.load_profile("fixed")

_TRIED = "inputs tried"

os.environ.pop("COLUMNS", None)  # by which the command wraps its lines


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    """Of a test marked each_value, few combinations of parameters are quick, and the others are marked long."""
    combinations = defaultdict(list)
    for item in items:
        if item.get_closest_marker("each_value") and not item.get_closest_marker("long"):
            combinations[item.parent, item.originalname].append(item)
    for of_test in combinations.values():
        few = with_each_value(
            [item.callspec.params for item in of_test], **of_test[0].get_closest_marker("each_value").kwargs
        )
        for k in set(range(len(of_test))).difference(few):
            of_test[k].add_marker("long")


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
