"""Passes over rows in fixed blocks, and the threads that share them.

A round needs sums over the rows, and logs of sums of exponentials, which merge exactly. A pass is a
list of tasks, one for each block of rows, and a function that makes one answer of theirs, in the order of
the blocks. The blocks depend on the number of rows alone, so that the bits are the same for any number of
threads.
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
"""Rows of a block, at least: 256 kB of weights, a quarter of a second cache."""

_BLOCKS = 64
"""Blocks of one side, at most: the most threads that can share a pass."""

_FEW = 2 * ROWS
"""Rows up to which a pass takes less time than waking a thread does."""


def slices(stop: int, size: int, start: int = 0) -> Iterator[slice]:
    """Yield slices of one size, but for the last, from a start to a stop."""
    for place in range(start, stop, size):
        yield slice(place, min(place + size, stop))


def batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yield items in lists of one size, but for the last."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def block_size(n_rows: int, least: int = ROWS) -> int:
    """Return the rows of a block."""
    return max(least, -(-n_rows // _BLOCKS))


@lru_cache(maxsize=64)
def blocks(n_rows: int, least: int = ROWS) -> tuple[slice, ...]:
    """Cut rows into blocks of one size, but for the last."""
    return tuple(slices(n_rows, block_size(n_rows, least)))


def merge_exponentials(parts: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return (top, sums) of all parts of the rows from those of each.

    Sums are of terms times e^(x - top), with the part's largest x as top: minus infinity in a part without terms.
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
    """A pass over rows that has not been run yet."""

    tasks: Sequence[Callable[[], Any]]
    """Independent of each other; threads share them."""
    finish: Callable[[list[Any]], Any]
    """Make one answer of those of the tasks, in their order."""

    def then(self, function: Callable[[Any], Any]) -> Pass:
        """A pass with the function of this one's answer."""
        return Pass(self.tasks, lambda answers: function(self.finish(answers)))


def over_blocks(
    n_rows: int, work: Callable[[slice], Any], finish: Callable[[list[Any]], Any] = lambda _: None, min_rows: int = ROWS
) -> Pass:
    """A pass whose tasks are `work` on each block of rows."""
    return Pass([partial(work, rows) for rows in blocks(n_rows, min_rows)], finish)


def together(parts: Sequence[Any], finish: Callable[[list[Any]], Any] = list) -> Pass:
    """One pass of several; what is no pass among them is an answer already."""
    tasks = [task for part in parts if isinstance(part, Pass) for task in part.tasks]

    def split(answers: list[Any]) -> Any:
        left = iter(answers)
        return finish(
            [part.finish(list(islice(left, len(part.tasks)))) if isinstance(part, Pass) else part for part in parts]
        )

    return Pass(tasks, split)


def then(part: Any, function: Callable[[Any], Any]) -> Any:
    """The function of an answer, or a pass that gives it."""
    return part.then(function) if isinstance(part, Pass) else function(part)


def usable_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool(Threads):
    """Runs a function on many items; kernels release the interpreter's lock, so threads help.

    The threads live from the first use to `close`, or to the end of a ``with`` block.
    """

    def __init__(self, n_threads: int | None = None, n_rows: int = _FEW + 1) -> None:
        super().__init__(1 if n_rows <= _FEW else n_threads or usable_cores())

    def __reduce__(self) -> tuple[Callable[[int], Pool], tuple[int]]:
        """Threads do not travel: rows that arrive elsewhere are worked on by one."""
        return Pool, (1,)

    def run(self, *parts: Any) -> list[Any]:
        """Run passes at once and return their answers; what is no pass is an answer already."""
        if self.n_threads == 1:
            return [part.finish([task() for task in part.tasks]) if isinstance(part, Pass) else part for part in parts]
        whole = together(parts)
        return whole.finish(self.map(call, whole.tasks) if whole.tasks else [])  # type: ignore[no-any-return]

    def each(self, function: Callable[[_T], _R], items: Sequence[_T]) -> list[_R]:
        """Return [function(item) for item in items], of items that may fail: the first one's error comes out.

        Items are whole problems, where a pass over the rows of one is shorter than it takes to wake a thread.
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
        """Return range(n) for a long loop in an item of `each`: Ctrl-C ends it in other threads than the main one."""
        return range(n) if current_thread() is main_thread() else _Steps(n, self)


class _Steps:
    """A range that ends when nobody waits for the result any more."""

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
"""The pool of those who ask for none."""
