"""The number of cases and trials of a test, and the seed of its random numbers.

A run takes a few of each. ``PNORM_TRIALS=20`` takes twenty times as many, by the same tests; ``PNORM_SEED=7`` takes
others. Both are printed at the top of a run.
"""

import itertools
import os
from collections import Counter

import pytest
from hypothesis import settings

TRIALS = int(os.environ.get("PNORM_TRIALS", "1"))
SEED = int(os.environ.get("PNORM_SEED", "0"))


def trials(number):
    """Return the seeds of so many trials at random, as parameters of a test."""
    return range(1_000_000 * SEED, 1_000_000 * SEED + number * TRIALS)


def examples(number):
    """Return settings of so many examples of Hypothesis."""
    return settings(max_examples=number * TRIALS)


def some(cases, one_in):
    """Return one in so many of some cases, others for another seed, and more of them with more trials."""
    step = max(1, one_in // TRIALS)
    return list(cases)[SEED % step :: step]


def with_each_value(cases, times=1):
    """Return few of the cases, as unlike as can be: each value of each parameter is in so many, or in all that have it.

    Each case is a sequence of values, one for each parameter. Positions come back, in order.
    """
    values = [{(k, id(value)) for k, value in enumerate(case)} for case in cases]
    lacking = Counter({value: min(times, n) for value, n in Counter(v for each in values for v in each).items()})
    rest, uses = dict(enumerate(values)), Counter()
    while +lacking:
        best = max(rest, key=lambda k: (sum(lacking[v] > 0 for v in rest[k]), -sum(uses[v] for v in rest[k])))
        uses.update(rest[best])
        lacking.subtract(rest.pop(best))
    return [k for k in range(len(cases)) if k not in rest]


def each_value(times=1):
    """Decorate a test above its marks ``parametrize``: few combinations have each value of each mark so many times."""

    def decorate(function):
        marks = [mark for mark in function.pytestmark if mark.name == "parametrize"]
        function.pytestmark = [mark for mark in function.pytestmark if mark.name != "parametrize"]
        names, several = [], []
        for mark in marks:  # the one next to the test first, as pytest orders them in a name
            of_mark, values, ids = mark.args[0], list(mark.args[1]), mark.kwargs.get("ids")
            names += [name.strip() for name in of_mark.split(",")] if isinstance(of_mark, str) else of_mark
            one = isinstance(of_mark, str) and "," not in of_mark
            named = list(ids) if ids is not None and not callable(ids) else [ids and ids(value) for value in values]
            several.append([_parameters(value, one, name) for value, name in zip(values, named, strict=True)])
        cases = list(itertools.product(*several))
        chosen = [cases[k] for k in with_each_value(cases, times * TRIALS)]
        return pytest.mark.parametrize(names, [_joined(case) for case in chosen])(function)

    return decorate


def _parameters(value, one, name):
    """Return a value of a mark as `pytest.param` has it."""
    if isinstance(value, type(pytest.param())):
        return value
    return pytest.param(*((value,) if one else value), id=name)


def _joined(case):
    """Return one set of parameters of several, with the names that pytest would give."""
    names = [each.id or "-".join(_word(value) for value in each.values) for each in case]
    values, marks = ([x for each in case for x in getattr(each, of)] for of in ("values", "marks"))
    return pytest.param(*values, id="-".join(names), marks=marks)


def _word(value):
    plain = value is None or isinstance(value, (str, int, float))
    return str(value) if plain else getattr(value, "__name__", type(value).__name__)
