"""Rows in fixed blocks, and who does the work.

Whatever a round needs of the rows is a sum over them, or a log of a sum of exponentials, which
merges exactly. A pool maps a function over blocks and returns the results in the order of the
blocks, which the caller merges in that order. The blocks depend on the number of rows alone, so
the same bits come out on any number of threads.
"""

from __future__ import annotations

import os
from functools import lru_cache

from pnorm._core._threads import Threads

ROWS = 2**15
"""Rows of a block, at least: 256 kB of weights, a quarter of a second cache."""

_BLOCKS = 64
"""Blocks of one side, at most: the most threads that can share a pass."""

_FEW = 2 * ROWS
"""Rows up to which a pass takes less time than waking a thread does."""


@lru_cache(maxsize=64)
def blocks(n_rows: int, least: int = ROWS) -> tuple[slice, ...]:
    """Cut rows into blocks of one size, but for the last."""
    size = max(least, -(-n_rows // _BLOCKS))
    return tuple(slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def usable_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool(Threads):
    """Runs a function on many items; kernels release the interpreter's lock, so threads help.

    The threads live from the first use to `close`, or to the end of a ``with`` block.
    """

    def __init__(self, n_threads: int | None = None, n_rows: int = _FEW + 1) -> None:
        super().__init__(1 if n_rows <= _FEW else n_threads or usable_cores())


SERIAL = Pool(1)
"""The pool of those who ask for none."""
