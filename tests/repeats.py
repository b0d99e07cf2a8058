"""Numbers of cases and examples of a test: a quick run takes fewer, the long run all."""

from collections import Counter

import pytest
from hypothesis import settings


def mark_repeats(values, quick):
    """Return the values as parameters of a test, those that are not in `quick` marked as long."""
    assert all(value in values for value in quick)
    return [value if value in quick else pytest.param(value, marks=pytest.mark.long) for value in values]


def with_each_value(cases, times=1):
    """Return few of the cases, as unlike as can be: each value of each parameter is in so many, or in all that have it.

    Each case is a dictionary of values by parameter. Positions come back, in order.
    """
    values = [{(name, id(value)) for name, value in case.items()} for case in cases]
    lacking = Counter({value: min(times, n) for value, n in Counter(v for each in values for v in each).items()})
    rest, uses = dict(enumerate(values)), Counter()
    while +lacking:
        best = max(rest, key=lambda k: (sum(lacking[v] > 0 for v in rest[k]), -sum(uses[v] for v in rest[k])))
        uses.update(rest[best])
        lacking.subtract(rest.pop(best))
    return [k for k in range(len(cases)) if k not in rest]


def examples(number):
    """Return settings of so many examples, or of a share of them under the profile `quick`."""
    return settings(max_examples=min(number, max(4, number * settings().max_examples // 100)))
