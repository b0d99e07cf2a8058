"""Parameters that repeat a check on more of the same kind of input, for the long run only."""

import pytest


def mark_repeats(values, quick):
    """Return the values as parameters of a test, those that are not in `quick` marked as long."""
    assert all(value in values for value in quick)
    return [value if value in quick else pytest.param(value, marks=pytest.mark.long) for value in values]
