"""Passes over rows in fixed blocks, and the threads that run them.

A round needs sums over the rows, and logarithms of sums of exponentials, which can be merged exactly. A pass is a list
of tasks, one for each block of rows, and a function that merges their results in the order of the blocks. The blocks
depend only on the number of rows, so the result has the same bits for any number of threads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from operator import call
from threading import current_thread, main_thread
from typing import Any, NamedTuple, TypeVar

from pnorm._core._threads import Threads

_T = TypeVar("_T")
_R = TypeVar("_R")

ROWS = 2**15
"""Smallest number of rows of a block: 256 kB of weights, a quarter of a second-level cache."""

_BLOCKS = 64
"""Largest number of blocks of one side, and so of threads that share a pass."""

_FEW = 2 * ROWS
"""Number of rows up to which a pass takes less time than waking a thread."""


def slices(stop: int, size: int, start: int = 0) -> Iterator[slice]:
    """Yield slices of one size from a start to a stop; the last one may be smaller."""
    for place in range(start, stop, size):
        yield slice(place, min(place + size, stop))


def batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yield items in lists of one size; the last one may be smaller."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def block_size(n_rows: int, least: int = ROWS) -> int:
    """Return the rows of a block."""
    return max(least, -(-n_rows // _BLOCKS))


@lru_cache(maxsize=64)
def blocks(n_rows: int, least: int = ROWS) -> tuple[slice, ...]:
    """Divide rows into blocks of one size; the last one may be smaller."""
    return tuple(slices(n_rows, block_size(n_rows, least)))


def merge_exponentials(parts: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return (top, sums) of all parts of the rows from those of each.

    The sums are over terms times e^(x - top). top is the largest x of the part, or minus infinity without terms.
    """
    if len(parts) == 1:
        return parts[0]
    top = max([part[0] for part in parts])
    sums = [0.0] * (len(parts[0]) - 1)
    for part in parts:
        factor = math.exp(part[0] - top) if part[0] > -math.inf else 0.0
        sums = [total + factor * x for total, x in zip(sums, part[1:], strict=True)]
    return top, *sums


class Pass(NamedTuple):
    """A pass over rows that is not run yet."""

    tasks: Sequence[Callable[[], Any]]
    """Independent tasks, which threads share."""
    finish: Callable[[list[Any]], Any]
    """Merge the results of the tasks, given in their order."""

    def then(self, function: Callable[[Any], Any]) -> Pass:
        """Return a pass whose result is a function of the result of this one."""
        return Pass(self.tasks, lambda answers: function(self.finish(answers)))


def over_blocks(
    n_rows: int, work: Callable[[slice], Any], finish: Callable[[list[Any]], Any] = lambda _: None, min_rows: int = ROWS
) -> Pass:
    """Return a pass whose tasks call `work` for each block of rows."""
    return Pass([partial(work, rows) for rows in blocks(n_rows, min_rows)], finish)


def together(parts: Sequence[Any], finish: Callable[[list[Any]], Any] = list) -> Pass:
    """Return one pass for several; parts that are not passes are results already."""
    tasks = [task for part in parts if isinstance(part, Pass) for task in part.tasks]

    def split(answers: list[Any]) -> Any:
        left = iter(answers)
        return finish(
            [part.finish(list(islice(left, len(part.tasks)))) if isinstance(part, Pass) else part for part in parts]
        )

    return Pass(tasks, split)


def then(part: Any, function: Callable[[Any], Any]) -> Any:
    """Return the function of a result, or a pass that computes it."""
    return part.then(function) if isinstance(part, Pass) else function(part)


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool(Threads):
    """Runs a function on many items; kernels release the interpreter's lock, so threads help.

    The threads live from the first use to `close`, or to the end of a ``with`` block.
    """

    def __init__(self, n_threads: int | None = None, n_rows: int = _FEW + 1) -> None:
        super().__init__(1 if n_rows <= _FEW else n_threads or usable_cores())

    def __reduce__(self) -> tuple[Callable[[int], Pool], tuple[int]]:
        """Threads are not pickled: the copy in another process has one thread."""
        return Pool, (1,)

    def run(self, *parts: Any) -> list[Any]:
        """Run passes together and return their results; parts that are not passes are results already."""
        if self.n_threads == 1:
            return [part.finish([task() for task in part.tasks]) if isinstance(part, Pass) else part for part in parts]
        whole = together(parts)
        return whole.finish(self.map(call, whole.tasks) if whole.tasks else [])  # type: ignore[no-any-return]

    def each(self, function: Callable[[_T], _R], items: Sequence[_T]) -> list[_R]:
        """Return [function(item) for item in items]. If some fail, the error of the first one is raised.

        Each item is a whole problem, in which a pass over the rows is too short to be shared by threads.
        """
        if self.n_threads == 1:
            return [function(item) for item in items]
        errors: dict[int, Exception] = {}

        def attempt(i: int) -> Any:
            if errors and i > min([*errors]):
                return None
            try:
                return function(items[i])
            except Exception as error:
                errors[i] = error

        found = self.map(attempt, range(len(items)))
        if errors:
            raise errors[min(errors)]
        return found

    def steps(self, n: int) -> Iterable[int]:
        """Return range(n) for a long loop in an item of `each`; Ctrl-C ends it in threads other than the main one."""
        return range(n) if current_thread() is main_thread() else _Steps(n, self)


class _Steps:
    """A range that ends early when the pool is interrupted."""

    def __init__(self, n: int, pool: Pool) -> None:
        self._n, self._pool = n, pool

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[int]:
        for step in range(self._n):
            if self._pool.interrupted:
                return
            yield step


SERIAL = Pool(1)
"""The default pool, with one thread."""
