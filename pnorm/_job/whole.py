"""All training rows, with only a sample in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pnorm import _default
from pnorm._coded.code_rows import coded_sides
from pnorm._coded.columns import Labelled
from pnorm._coded.sample import TableSample
from pnorm._default import Kind
from pnorm.rankers import Rankers
from pnorm.rankers._coded import CodedSide


@dataclass(frozen=True, eq=False)
class Whole:
    """The training rows. They are read again once the weak rankers are known, and stored as codes."""

    sample: TableSample
    """The rows from which the weak rankers are made."""
    read: Callable[[], Iterable[Labelled]]
    """Reads the rows batch by batch."""

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of rows of both sides."""
        return self.sample.sizes

    def kinds(self, *, n_cuts: int = _default.N_CUTS, **of_table: Any) -> Mapping[str, Kind]:
        """Return the kinds of weak rankers, made from all the rows; what else is given goes to `rankers.from_table`."""
        size = sum(self.sizes), len(self.sample.columns)
        table = self.sample.rankers(linear=None, n_cuts=_default.cuts_of(size, n_cuts), **of_table)
        return _default.kinds_of(table, size)

    def sides(self, H: Rankers) -> tuple[CodedSide, CodedSide, Rankers]:
        """Read the rows, and return those of either side as the codes of weak rankers, and these."""
        return coded_sides(self.read(), H, is_of_sample=not self.sample.is_whole)
