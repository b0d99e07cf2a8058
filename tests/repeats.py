"""Numbers of cases and examples of a test: a quick run takes fewer, the long run all."""

import pytest
from hypothesis import settings


def mark_repeats(values, quick):
    """Return the values as parameters of a test, those that are not in `quick` marked as long."""
    assert all(value in values for value in quick)
    return [value if value in quick else pytest.param(value, marks=pytest.mark.long) for value in values]


def examples(number):
    """Return settings of so many examples, or of a share of them under the profile `quick`."""
    return settings(max_examples=min(number, max(4, number * settings().max_examples // 100)))
