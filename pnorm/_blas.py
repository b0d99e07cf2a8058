"""Small products on one thread of BLAS, or without BLAS.

The threads of BLAS wait for each other after every product. On a busy machine this costs time: `minimize` on 14,000
rows of 122 indicators took 41 s with two threads of BLAS and 20 s with one, while two other processes were running.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any

import numpy as np

from pnorm._checks import Vector

_NARROW = 128
"""Number of weak rankers up to which one thread is enough: it multiplies a block of 4096 rows by itself in 3 ms."""


def dot(a: Vector, b: Vector) -> float:
    """Return the sum of a * b without BLAS. The bits do not depend on BLAS kernels or on memory alignment."""
    return float(np.einsum("i,i->", a, b))


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """Return the thread controller of BLAS, if threadpoolctl is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import scipy.linalg  # noqa: F401  (its BLAS is another than NumPy's)

    return ThreadpoolController()


class _Runs:
    """The number of runs that use one thread of BLAS, and the current limit.

    The first run sets the limit, and the last one restores the number of threads from before.
    """

    lock = threading.RLock()
    asking = 0
    limit: Any = None


def calm(n_rankers: int) -> Any:
    """Return a context in which products of so many weak rankers run on one thread, if threadpoolctl is installed."""
    return _one_thread() if n_rankers <= _NARROW and _libraries() is not None else nullcontext()


@contextmanager
def _one_thread() -> Iterator[None]:
    asked = False
    try:
        with _Runs.lock:
            if _Runs.asking == 0:
                _Runs.limit = _libraries().limit(limits=1, user_api="blas")
            _Runs.asking += 1
            asked = True
        yield
    finally:
        if asked:
            with _Runs.lock:
                _Runs.asking -= 1
                if _Runs.asking == 0:
                    _Runs.limit.restore_original_limits()
