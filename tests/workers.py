"""Threads that pnorm has started."""

import _thread
import time


def running():
    """How many threads there are, those that Python's `threading` does not know of among them."""
    return _thread._count()


def left(before):
    """How many more threads there are than before; one that has ended may be counted for a moment more."""
    until = time.monotonic() + 10
    while running() > before and time.monotonic() < until:
        time.sleep(1e-3)
    return running() - before
