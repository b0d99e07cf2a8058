"""The executor of reductions over partitions that a Dask scheduler knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask

from pnorm._solvers.reductions import Job, answer, merged

FAN_IN = 16
"""Answers that are merged at a time: a hundred workers in two stages, a thousand in three."""


class Cluster:
    """The executor of a Dask scheduler."""

    in_memory = False

    def reduce(self, function: Any, jobs: Sequence[Job]) -> list[Any]:
        ask, merge = dask.delayed(_answer, pure=False), dask.delayed(_merge, pure=False)
        answers = []
        for job in jobs:
            # One message for all partitions of the side, into which Dask need not look.
            question = dask.delayed((function, job.shared), traverse=False, pure=False)
            if job.own is None:
                layer = [ask(part, question) for part in job.handles]
            else:
                # Weights of rows go with the task: another worker can answer in the place of a lost one.
                layer = [
                    ask(part, question, dask.delayed(own, traverse=False, pure=False))
                    for part, own in zip(job.handles, job.own, strict=True)
                ]
            while len(layer) > 1:
                layer = [merge(question, layer[k : k + FAN_IN]) for k in range(0, len(layer), FAN_IN)]
            answers += layer
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return list(dask.compute(*answers))

    def changed(
        self, function: Any, handles: Sequence[Any], *arguments: Any, own: Sequence[Any] | None = None
    ) -> list[Any]:
        call = dask.delayed(function, pure=False)
        if own is None:
            return list(dask.persist(*[call(part, *arguments) for part in handles]))
        firsts = [dask.delayed(first, traverse=False, pure=False) for first in own]
        return list(dask.persist(*[call(*both, *arguments) for both in zip(handles, firsts, strict=True)]))

    def first(self, function: Any, handle: Any) -> Any:
        return dask.delayed(function, pure=False)(handle).compute()


def _answer(rows: Any, question: Any, *own: Any) -> Any:
    function, shared = question
    return answer(function, rows, *own, *shared)


def _merge(question: Any, answers: Any) -> Any:
    return merged(question[0], answers)
