"""The rows of a file, how they are divided, and what was learned and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pnorm
from pnorm import _checks
from pnorm._checks import DATE, Vector
from pnorm._checks.text import shown
from pnorm._command.columns import Columns, Rows
from pnorm._command.large import Drawn, Reader
from pnorm._command.terminal import pasted
from pnorm._job.learn import Learned
from pnorm._job.quality import Quality
from pnorm._job.sample import in_proportion
from pnorm._job.tested import Tested, means, typical
from pnorm._reasons.explain import spread_of_score
from pnorm._report.verdicts import counted_together
from pnorm.rankers._notes import is_of_columns

_MATTERS = 0.2
"""The standard deviation of the trend of --time, as a share of that of the score, from which on there is a note."""


Top = tuple[NDArray[np.intp], list[str]]
"""Rows of a list, and their reasons."""

Pairs = list[tuple[str, str, float]]
"""Pairs of columns that move together, and their rank correlations."""


@dataclass(frozen=True, eq=False)
class Job:
    """The rows in memory, and how they are divided."""

    columns: Columns
    file: Rows
    test: Rows | None
    """The rows of --test."""
    held: NDArray[np.bool_]
    """True for the rows of the file that are held out."""
    told: str
    """The rows that the list is measured on, in words, such as "held-out rows"."""
    units: NDArray[np.intp] | None = None
    """The number of the id of each row of the file, if all rows are in memory and ids are repeated."""
    drawn: Drawn | None = None
    """Facts on all rows of a file that is read in batches, from which the rows above were drawn; else None."""
    reader: Reader | None = None
    """The reader of all rows of the file."""

    @property
    def trained(self) -> NDArray[np.bool_]:
        """True for the rows that are trained on."""
        return ~self.held if self.drawn is None else self.drawn.trained

    @property
    def n_trained(self) -> int:
        """The number of training rows, in memory or not."""
        return int((~self.held).sum()) if self.drawn is None else sum(self.drawn.n_trained)

    @property
    def is_tested(self) -> bool:
        return self.test is not None or bool(self.held.any())

    @property
    def at_random(self) -> bool:
        """Whether rows are held out that were drawn at random."""
        return self.test is None and self.columns.time is None and bool(self.held.any())

    @property
    def measured(self) -> Rows:
        """The rows that contain those that the list is measured on."""
        return self.file if self.test is None else self.test

    def sides(self) -> tuple[Any, Any]:
        """Return the positives and the negatives that are trained on."""
        pos, neg = [_checks.rows(self.file.table, np.flatnonzero(self.trained & side)) for side in self.both_sides]
        return pos, neg

    def means(self, learned: Learned) -> Vector:
        """Return what effects are compared with: the average negative training row."""
        others = _checks.rows(self.file.table, np.flatnonzero(self.trained & ~self.file.y))
        return means(others, learned.H, learned.lam)

    def like_all(self) -> NDArray[np.intp]:
        """Return rows that represent all training rows in proportion."""
        if self.drawn is None:
            return np.flatnonzero(~self.held)
        parts = [np.flatnonzero(self.drawn.trained & side) for side in self.both_sides]
        return in_proportion(np.random.default_rng(0), parts, self.drawn.n_trained)

    @property
    def both_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks of the positive and of the negative rows."""
        return self.file.y, ~self.file.y

    def place(self, name: str, row: int) -> str | None:
        """Return the place in a file of a row of an argument called `name` in a message."""
        if name in ("pos", "neg"):
            side = self.both_sides[name == "neg"]
            return self.file.place(int(np.flatnonzero(self.trained & side)[row]))
        if name == "source":
            return self.file.place(row) if self.reader is None else self.reader.place(row)
        if name != "X":
            return None
        return self.measured.place(row if self.test is not None else int(np.flatnonzero(self.held)[row]))


@dataclass(frozen=True, eq=False)
class Found:
    """The model and its results."""

    learned: Learned
    quality: Quality
    """On the held-out rows; on the training rows if no row is held out."""
    tested: Tested | None
    f: Vector
    """Scores of the rows that the list is measured on."""
    rows: NDArray[np.intp]
    """Their numbers in their file."""
    warnings: tuple[str, ...]
    drift: pnorm.Drift | None = None
    """The held-out rows compared with the training rows."""

    @property
    def cutoff(self) -> pnorm.Cutoff | None:
        return None if self.tested is None else self.tested.cutoff


def other_warnings(found: Found) -> list[str]:
    """Return the warnings that do not repeat what the plan of the columns or the verdicts contain."""
    planned = hasattr(found.learned.H, "plan")
    others = {} if found.tested is None else counted_together(found.learned.H, found.tested.unread)
    return [text for text in found.warnings if text not in others and not (planned and is_of_columns(text))]


def beyond(job: Job, learned: Learned) -> list[str]:
    """Return that the column of --time is learned from, if its trend matters: it is the same for all later rows."""
    H, time = learned.H, job.columns.time
    plan = next((of for of in getattr(H, "plan", ()) if of.name == time and of.rankers), None)
    if plan is None or time is None:
        return []
    X = typical(_checks.rows(job.file.table, job.like_all()))
    trend = f"{time} (trend)" if plan.kind == DATE else time
    spread, part = spread_of_score(X, H, learned.lam, trend)
    if part < _MATTERS * spread:
        return []
    return [
        f"{shown(time, 30)} is learned from too; later rows get its trend in the latest training row (to leave it "
        f"out: {pasted('--ignore', time)})"
    ]
