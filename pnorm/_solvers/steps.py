"""Weights that a part of the rows keeps from round to round, as rows in memory do.

A step along a coded ranker multiplies them by a number for each code. A part that has lost them, as on a worker that
takes the place of another, forms them from the coefficients at the start and takes all steps again. These are the same
operations in the same order, and so the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pnorm._checks import Vector
from pnorm._checks.records import record
from pnorm._core import _tilt
from pnorm._solvers.reductions import Rows, reduction


@record(frozen=True, eq=False)
class Steps:
    """Coefficients, and the steps along coded rankers that follow."""

    run: str
    """A name of its own for each training run."""
    start: Vector
    taken: tuple[tuple[int, float], ...] = ()
    """Rankers, and by how much their coefficients change."""

    def then(self, j: int, step: float) -> Steps:
        """Return these steps and one more."""
        return Steps(self.run, self.start, (*self.taken, (j, step)))


@reduction("exponentials", "exponentials")
def sums_after_steps(rows: Rows, steps: Steps, scales: Sequence[float]) -> Any:
    """Sums of exponentials after some steps, with totals for the first scale, and for the last scale.

    As `problem.sums_of_weights` without extremes of scores.
    """
    runs = _KEPT.get(rows.table)
    kept = None if runs is None else runs.pop(steps.run, None)  # so another thread that asks the same forms its own
    if runs is None or (kept is None and not steps.taken):
        # A new run: others may have ended. One that goes on finds its weights lost, and keeps them beside these.
        runs = _KEPT[rows.table] = {}
    if kept is None or not kept.lead_to(steps):
        kept = KeptWeights(rows, steps, scales)
    for j, step in steps.taken[len(kept.taken) :]:
        kept.multiply(rows, j, step)
    runs[steps.run] = kept
    return kept.sums(rows)


class KeptWeights:
    """Weights of some rows for one or two scales of their scores, 8 bytes a row for each."""

    def __init__(self, rows: Rows, steps: Steps, scales: Sequence[float]) -> None:
        """Form them at the start."""
        self._start, self._scales = steps.start, scales
        self.taken: tuple[tuple[int, float], ...] = ()
        self._weights, sums = rows.weigh(rows.scores(steps.start), scales)
        self._tops, self._totals = [top for top, _ in sums], [total for _, total in sums]
        self._tally = rows.pool.run(rows.table.tally(self._weights[0]))[0]

    def lead_to(self, steps: Steps) -> bool:
        """Whether some steps are those that were taken, from the same start, and maybe more."""
        return np.array_equal(self._start, steps.start) and self.taken == steps.taken[: len(self.taken)]

    def multiply(self, rows: Rows, j: int, step: float) -> None:
        """Take a step along ranker j."""
        table, run = rows.table, rows.pool.run
        values, counts = table.values(j), table.counts[table.cells(j)]
        factors = np.empty_like(values)
        for k, (weights, scale) in enumerate(zip(self._weights, self._scales, strict=True)):
            top = _tilt.tilt_codes(counts, values, scale * step, factors)[0]
            self._tops[k] += top
            self._totals[k] = run(table.multiply(j, factors, weights))[0]
            if k == 0:
                self._tally = run(table.retally(j, factors, weights, self._tally))[0]
        self.taken = (*self.taken, (j, step))

    def sums(self, rows: Rows) -> Any:
        """Return the answer of `sums_after_steps`."""
        first = self._tops[0], np.r_[self._totals[0], rows.table.totals(self._tally)]
        return first, (self._tops[-1], self._totals[-1])


_KEPT: WeakKeyDictionary[Any, dict[str, KeptWeights]] = WeakKeyDictionary()
"""The weights of runs by the table of the rows, for all rows that lie in this process."""
