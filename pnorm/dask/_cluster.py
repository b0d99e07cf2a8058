"""The executor of reductions over partitions that a Dask scheduler knows."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import cloudpickle
import dask
import numpy as np
from dask.system import CPU_COUNT

from pnorm._checks.records import record
from pnorm._checks.text import counted
from pnorm._solvers.fingerprints import FINGERPRINT, Known
from pnorm._solvers.reductions import Job, answer, merged
from pnorm._trace import Trace

FAN_IN = 16
"""Workers whose answers are merged at a time: a hundred in two stages, a thousand in three."""

HERE = 4
"""Answers that are merged in this process, at most: one stage less, of some ten milliseconds."""

GROUPED_FOR = 1.0
"""Seconds after which the scheduler is asked anew where partitions lie, a round trip of some milliseconds."""

_OF_MEMORY = (
    "Workers that die one after the other of the same task have run out of memory, as a rule. A worker has to hold one "
    "partition as it is read and the codes of all that lie there: make partitions smaller (repartition, rechunk), "
    "or take fewer threads for each worker, or more memory."
)

Place = tuple[int, int, int]
"""The key of an answer: the job, the size of the run of partitions (2 ** level), and the number of the run."""


class Cluster:
    """The executor of a Dask scheduler. It compares every answer with the fingerprints of the partitions.

    If rows differ when they are read again, the run ends before these rows are used.

    An exchange is one task for each thread of a worker, for the partitions on that worker. Answers are merged in pairs
    by the number of the partition, not by its location, so the result is the same to the last bit on any cluster.
    Pairs on one worker are merged there.
    """

    in_memory = False

    def __init__(self) -> None:
        self.known = Known()
        self.traffic = Traffic()
        self._grouped: tuple[Any, float, list[list[int]]] = None, -math.inf, []

    def reduce(self, function: Any, jobs: Sequence[Job]) -> list[Any]:
        question = _Question(function, [len(job.handles) for job in jobs])
        shared = [job.shared for job in jobs]
        places = [(k, i) for k, width in enumerate(question.widths) for i in range(width)]
        size, sent, layer = _size((question, shared)), 0, []
        for group in self._groups([jobs[k].handles[i] for k, i in places]):
            mine = [places[i] for i in group]
            # Weights of rows go with the task: another worker can answer in the place of a lost one.
            of_parts = [None if (weights := jobs[k].own) is None else weights[i] for k, i in mine]
            # Bound to the function, where Dask does not look into them.
            ask = partial(_answers, question, shared, mine, of_parts)
            sent += size + _size((mine, of_parts))
            layer.append(dask.delayed(ask, pure=False)(*[jobs[k].handles[i] for k, i in mine]))
        merge = dask.delayed(partial(_merged, question), pure=False)
        while len(layer) > HERE:
            layer = [merge(layer[k : k + FAN_IN]) for k in range(0, len(layer), FAN_IN)]
        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
                found = _merged(question, dask.compute(*layer))
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                error.add_note(_OF_MEMORY)
            raise
        self.traffic.add(len(places), sent, found.received)
        self.known.check(np.frombuffer(found.fingerprints, FINGERPRINT))
        values = [found.nodes[k, _levels(width), 0] for k, width in enumerate(question.widths)]
        for value in values:
            if isinstance(value, _Failed):
                raise value.error
        return values

    def _groups(self, handles: Sequence[Any]) -> list[list[int]]:
        """Return the groups of partitions, as they were a moment ago: old ones cost time, and change no answer."""
        keys, now = [handle.key for handle in handles], time.monotonic()
        of, asked, groups = self._grouped
        if of != keys or now > asked + GROUPED_FOR:
            groups = _groups(handles)
            self._grouped = keys, now, groups
        return groups

    def changed(
        self, function: Any, handles: Sequence[Any], *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        call = dask.delayed(function, pure=False)
        if own is None:
            return list(dask.persist(*[call(part, *arguments) for part in handles]))
        firsts = [dask.delayed(first, traverse=False, pure=False) for first in own]
        return list(dask.persist(*[call(*both, *arguments) for both in zip(handles, firsts, strict=True)]))

    def first(self, function: Any, handle: Any) -> Any:
        return self.reduce(function, [Job([handle])])[0]


@dataclass
class Traffic:
    """The bytes of pickled messages that were sent, without what Dask adds."""

    exchanges: int = 0
    partitions: int = 0
    """The most that were asked at a time."""
    sent: int = 0
    """Bytes of questions, once for each task that asks."""
    received: int = 0
    """Bytes of answers, from worker to worker and to here."""

    def add(self, partitions: int, sent: int, received: int) -> None:
        """Count an exchange. Nothing is sent if nothing is received: the partitions are in this process."""
        self.exchanges += 1
        self.partitions = max(partitions, self.partitions)
        self.sent += sent if received else 0
        self.received += received

    def __str__(self) -> str:
        """Say it."""
        what = f"{counted(self.exchanges, 'exchange')} with {counted(self.partitions, 'partition')}"
        return f"{what}: {_bytes(self.sent)} out, {_bytes(self.received)} back" if self.received else what


def with_traffic(trace: Trace, executor: Any) -> Trace:
    """Return a trace with the traffic in its message."""
    return replace(trace, message=f"{trace.message}; {executor.traffic}")


@record(frozen=True, eq=False)
class _Question:
    """A reduction, and how many partitions each side has."""

    function: Any
    widths: Sequence[int]


@record(frozen=True, eq=False)
class _Failed:
    """An error instead of an answer, with the fingerprint of the rows."""

    error: Exception


@record(frozen=True, eq=False)
class _Answers:
    """Answers of some partitions, merged as far as their neighbours are there."""

    fingerprints: bytes
    nodes: dict[Place, Any]
    where: str
    """The address of the worker; empty in this process."""
    received: int
    """Bytes of those of them that have come to this worker from others."""


def _answers(
    question: _Question, shared: Sequence[Any], places: Sequence[tuple[int, int]], of_parts: Sequence[Any], *parts: Any
) -> _Answers:
    """Ask partitions that lie in one place."""
    fingerprints, nodes = b"", {}
    for (side, number), own, rows in zip(places, of_parts, parts, strict=True):
        told = shared[side] if own is None else (own, *shared[side])
        try:
            nodes[side, 0, number] = answer(question.function, rows, *told)
        except Exception as error:
            nodes[side, 0, number] = _Failed(error)
        if rows.fingerprint is not None:
            fingerprints += rows.fingerprint.tobytes()
    return _Answers(fingerprints, _folded(question, nodes), _address(), 0)


def _merged(question: _Question, answers: Sequence[_Answers]) -> _Answers:
    """Put answers from several places together."""
    nodes = {place: value for some in answers for place, value in some.nodes.items()}
    where, fingerprints = _address(), b"".join([some.fingerprints for some in answers])
    received = sum([some.received + (_size(some) if some.where != where else 0) for some in answers])
    return _Answers(fingerprints, _folded(question, nodes), where, received)


def _folded(question: _Question, nodes: dict[Place, Any]) -> dict[Place, Any]:
    """Merge answers of neighbours, and these with theirs."""
    for side, width in enumerate(question.widths):
        for level in range(_levels(width)):
            last = (width - 1) >> level
            here = sorted(number for of, height, number in nodes if (of, height) == (side, level))
            for number in here:
                if number % 2:
                    continue
                if number == last:
                    nodes[side, level + 1, number // 2] = nodes.pop((side, level, number))
                elif (side, level, number + 1) in nodes:
                    pair = [nodes.pop((side, level, k)) for k in (number, number + 1)]
                    failed = [value for value in pair if isinstance(value, _Failed)]
                    nodes[side, level + 1, number // 2] = failed[0] if failed else merged(question.function, pair)
    return nodes


def _address() -> str:
    """Return the address of the worker that runs this, or nothing."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        with contextlib.suppress(ValueError):
            return str(distributed.get_worker().address)
    return ""


def _size(message: Any) -> int:
    """Return the bytes of a message, whose arrays are not copied for that."""
    buffers: list[Any] = []
    pickled = cloudpickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    return len(pickled) + sum([int(buffer.raw().nbytes) for buffer in buffers])


def _bytes(n: int) -> str:
    """Say a number of bytes to three digits."""
    left, units = float(n), ["bytes", "kB", "MB", "GB"]
    while left >= 999.5 and len(units) > 1:
        left, units = left / 1000.0, units[1:]
    return f"{left:.3g} {units[0]}"


def _levels(width: int) -> int:
    """Return how often answers are merged with their neighbours until one is left."""
    return (width - 1).bit_length()


def _groups(handles: Sequence[Any]) -> list[list[int]]:
    """Return the partitions, by number, that one task asks: those that lie on a worker, shared among its threads."""
    futures = _futures(handles)
    if futures is None:
        return _cut(list(range(len(handles))), CPU_COUNT)
    client = futures[0].client
    where, threads = client.who_has(futures), client.nthreads()
    of_workers: dict[str, list[int]] = {}
    alone = []
    for k, future in enumerate(futures):
        holders = [worker for worker in where.get(future.key, ()) if worker in threads]
        if holders:  # several, where one has been to see the other
            fewest = min(holders, key=lambda worker: (len(of_workers.get(worker, ())), worker))
            of_workers.setdefault(fewest, []).append(k)
        else:  # lost, and read again wherever there is room
            alone.append([k])
    return alone + [part for worker in sorted(of_workers) for part in _cut(of_workers[worker], threads[worker])]


def _cut(numbers: list[int], most: int) -> list[list[int]]:
    """Cut a list into runs of about the same length."""
    ends = np.linspace(0, len(numbers), min(most, len(numbers)) + 1).astype(int).tolist()
    return [numbers[start:stop] for start, stop in pairwise(ends)]


def _futures(handles: Sequence[Any]) -> Sequence[Any] | None:
    """Return the futures of partitions, if they are kept by a cluster."""
    distributed = sys.modules.get("distributed")
    found: Sequence[Any] = [] if distributed is None else distributed.futures_of(list(handles))
    return found if len(found) == len(handles) else None
