"""Rows that lie in partitions, on a cluster or anywhere.

A worker keeps the outputs of its rows and nothing else. Every question to it carries all it needs to know,
coefficients and a few sums over all rows, or the weights of its rows, so that a lost worker takes nothing
along, and a partition read again elsewhere gives the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from pnorm._categories import Seen, tell
from pnorm._solvers.problem import Problem, Side, described, stats
from pnorm._solvers.reductions import NAMES, Executor, Job, Rows
from pnorm.objectives._base import Objective
from pnorm.objectives._pnorm import PNorm


class Partitions:
    """The partitions of both sides, and the stats that they stated at first."""

    def __init__(self, executor: Executor, parts: Sequence[Sequence[Any]]) -> None:
        """Describe partitions, given handles of their `Rows`."""
        self._executor, self._parts = executor, parts
        self.sides, self._known = described(executor, parts)
        of_sides = [_unknown_levels(of_side) for of_side in self._known]
        tell(map(add, *of_sides))

    def problem(self, names: tuple[str, ...], objective: Objective, push: str = "top") -> Problem:
        """Return the problem of an objective, columns far from zero moved there.

        The P-Norm Push without groups knows no weights of rows here: the parts keep them. For a push at the bottom the
        sides are exchanged, as `exchanged` says, and the objective is that of exchanged sides.
        """
        sides = self.sides
        if push == "bottom":
            parts = [self._executor.changed(Rows.exchanged, side.parts) for side in reversed(sides)]
            sides, _ = described(self._executor, parts)
        return Problem(self._executor, sides, names, counted_by_parts(objective, sides)).centred()

    def check_unchanged(self) -> None:
        """Refuse rows that are no longer what they were at first, as those of a source that changes may be."""
        again = self._executor.reduce(stats, [Job(handles) for handles in self._parts])
        for name, before, after in zip(NAMES, self._known, again, strict=True):
            for k, (a, b) in enumerate(zip(before, after, strict=True)):
                if not _alike(a, b):
                    raise ValueError(
                        f"partition {k} of {name} has changed since it was read at first, and coefficients that "
                        "follow from both mean nothing. Rows are read again where a worker is lost: make the source "
                        f"say the same each time (a seed, a file), or keep the rows: {name} = {name}.persist()"
                    )


def counted_by_parts(objective: Objective, sides: Sequence[Side]) -> Objective:
    """The objective, where parts know the weights of their rows and form all that depends on them."""
    if not objective.traits.factored or objective.groups is not None:
        return objective
    return PNorm(objective.traits.p, None, None, sizes=(sides[0].max_log_c, sides[1].max_log_c))


def _unknown_levels(known: Sequence[Any]) -> list[Seen]:
    """Values that are no levels, by column of one side."""
    parts = [fact[-1] for fact in known if fact is not None]
    return [reduce(add, of_column) for of_column in zip(*parts, strict=True)]


def _alike(before: tuple[Any, ...] | None, after: tuple[Any, ...] | None) -> bool:
    """Whether two stats are of the same rows, to within what other processors round."""
    if before is None or after is None:
        return before is after
    span = np.max([np.abs(stats[k]) for stats in (before, after) for k in (1, 2)], axis=0)
    close = all((np.abs(before[k] - after[k]) <= 1e-9 * span).all() for k in (1, 2))
    return close and before[0] == after[0] and bool(np.array_equal(before[4], after[4]))
