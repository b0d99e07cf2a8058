"""How much memory a call takes."""

import tracemalloc


def peak(call):
    """The most memory of arrays that was in use at once, beyond what was in use before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
