"""BLAS on one thread, for products that are too small for more, or not at all.

Threads of BLAS wait for one another after every product. On a busy machine one of them is always late: `minimize` on
14,000 rows of 122 indicators took 41 s with two threads of BLAS and 20 with one, two other processes running.
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
"""Weak rankers up to which one thread does: a block of 4096 rows times itself takes it 3 ms."""


def dot(a: Vector, b: Vector) -> float:
    """The sum of a * b without BLAS: the bits do not depend on its kernels, nor on where in memory the numbers lie."""
    return float(np.einsum("i,i->", a, b))


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """Return the controller of the threads of BLAS, if threadpoolctl is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import scipy.linalg  # noqa: F401  (its BLAS is another than NumPy's)

    return ThreadpoolController()


class _Runs:
    """The number of runs that ask for one thread of BLAS, and the limit in force for them.

    The first run sets the limit, and the last one restores the number of threads from before.
    """

    lock = threading.RLock()
    asking = 0
    limit: Any = None


def calm(n_rankers: int) -> Any:
    """A context in which products of so many weak rankers run on one thread, where that can be asked for."""
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
