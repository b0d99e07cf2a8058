"""Rows that lie in partitions, on a cluster or elsewhere.

A worker keeps the outputs of its rows, and weights that it can form again (`steps`). Every call to it contains all
other data: coefficients, steps and a few sums over all rows, or the weights of its rows. So no data are lost with a
worker, and a partition that is read again elsewhere gives the same results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from pnorm._categories import Seen, tell
from pnorm._solvers.problem import Problem, Side, described
from pnorm._solvers.reductions import Executor, Rows
from pnorm.objectives._base import Objective
from pnorm.objectives._pnorm import PNorm


class Partitions:
    """The partitions of both sides."""

    def __init__(self, executor: Executor, parts: Sequence[Sequence[Any]]) -> None:
        """Describe partitions, given handles of their `Rows`."""
        self.executor = executor
        self.sides, known = described(executor, parts)
        of_sides = [_unknown_levels(of_side) for of_side in known]
        tell(map(add, *of_sides), learned=True)

    def problem(self, names: tuple[str, ...], objective: Objective, push: str = "top") -> Problem:
        """Return the problem of an objective, columns far from zero moved there.

        For the P-Norm Push without groups, the parts keep the weights of rows. For a push at the bottom the sides are
        exchanged as in `exchanged`, and the objective is that of the exchanged sides.
        """
        sides = self.sides
        if push == "bottom":
            parts = [self.executor.changed(Rows.exchanged, side.parts) for side in reversed(sides)]
            sides, _ = described(self.executor, parts)
        return Problem(self.executor, sides, names, counted_by_parts(objective, sides)).centred()


def counted_by_parts(objective: Objective, sides: Sequence[Side]) -> Objective:
    """The objective, if the parts keep the weights of their rows and compute all terms that depend on them."""
    if not objective.traits.factored or objective.groups is not None:
        return objective
    return PNorm(objective.traits.p, None, None, sizes=(sides[0].max_log_c, sides[1].max_log_c))


def _unknown_levels(known: Sequence[Any]) -> list[Seen]:
    """Unknown levels, by column of one side."""
    parts = [fact[-1] for fact in known if fact is not None]
    return [reduce(add, of_column) for of_column in zip(*parts, strict=True)]
