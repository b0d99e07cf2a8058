"""The findings of a report, before they are text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pnorm._cross_validation import CrossValidation
from pnorm._cutoff import Cutoff
from pnorm._job.quality import Quality
from pnorm._reasons.drift import Drift
from pnorm._reasons.importance import Importance
from pnorm._reasons.shapes import Shapes
from pnorm._report.charts import STYLES
from pnorm._report.markup import text
from pnorm._report.verdicts import Verdict
from pnorm._trace import Trace
from pnorm.rankers._table import ColumnPlan

Section = tuple[str, str, str]


@dataclass(frozen=True)
class Row:
    """One row of the list that is shown."""

    name: str
    hit: bool
    score: float
    probability: float | None
    reasons: Sequence[tuple[str, float]]
    """Columns with their values, and what they add."""


@dataclass(frozen=True)
class Findings:
    """All that the report tells."""

    quality: Quality
    verdicts: Sequence[Verdict]
    alone: str
    """Why the list is not compared with a linear model; empty if it is."""
    title: str
    label: str
    rows_called: str
    """The heading of the names of rows."""
    rows: Sequence[Row]
    reference: str
    """The row that effects are compared with, in words."""
    importance: Importance | None
    thinned: int
    """Of how many held-out rows each one was used for the importance of columns."""
    depth: int
    """The first rows that importance is about."""
    held_out: bool
    """Whether the rows had no part in training."""
    shapes: Shapes | None
    of_training: bool
    """Whether the shares of shapes are those of the training rows."""
    plan: Sequence[ColumnPlan]
    n_training: tuple[int, int] | None
    n_rankers: int
    n_used: int
    p: float | None
    penalties: Mapping[str, float]
    cross_validation: CrossValidation | None
    trace: Trace | None
    cutoff: Cutoff | None
    on_labels: str
    """The precision or recall of the cut-off on the rows of the page, in sentences; empty if they chose it."""
    drift: Drift | None
    of_test: bool
    """Whether the rows are known to be held out, if `held_out` says so: those of a file may be training rows."""
    at_random: bool
    """Whether the held-out rows are known to have been drawn at random."""
    notes: Sequence[str]
    """Warnings."""
    facts: Sequence[str]
    """Sentences on the page that are no warnings, such as how rows are numbered."""
    reproduce: Mapping[str, str]

    @property
    def suspects(self) -> list[str]:
        """The columns that may be known only after the label."""
        return list(dict.fromkeys([name for of in self.verdicts if of.key == "leak" for name in of.columns]))

    @property
    def n(self) -> int:
        return self.quality.n_pos + self.quality.n_neg

    @property
    def at_top(self) -> bool:
        return self.quality.push == "top"

    @property
    def end(self) -> str:
        """The end of the list that matters."""
        return "top" if self.at_top else "bottom"

    @property
    def first(self) -> str:
        """The word for the rows at that end."""
        return "first" if self.at_top else "last"

    @property
    def hit(self) -> str:
        """The kind of rows that belong there."""
        return "positive" if self.at_top else "negative"

    @property
    def miss(self) -> str:
        return "negative" if self.at_top else "positive"

    @property
    def were(self) -> str:
        """Whether the rows were held out, in words."""
        return "held out" if self.held_out else "trained on"

    @property
    def these(self) -> str:
        """The name of the rows in sentences."""
        if self.held_out:
            return "held-out rows" if self.of_test else "rows with labels"
        return "training rows"

    @property
    def lists(self) -> list[str]:
        """Names of the other lists."""
        return [text(name, 40) for name in self.quality.lists]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The names and classes of the other lines in charts."""
        return [*zip(self.lists, STYLES[1:], strict=False), ("by chance", "chance")]
