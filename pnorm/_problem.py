"""The checked problem: outputs of the weak rankers, and the objective over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pnorm import _checks, _outputs
from pnorm._checks import Vector
from pnorm._objective import Direction, PNorm, Scores
from pnorm.rankers import Rankers

# Rankers whose edges are this close, as a share of the best one's outputs, tie: complementary and
# duplicate columns differ by rounding only, and the lowest index must win on every machine. The
# share is not of the largest output of all, or one column of milliseconds would tie with everything.
_TIE = 1e-10


class Problem:
    """All that a solver ever sees. Its data never change; two scratch columns are reused."""

    def __init__(self, outputs: _outputs.Outputs, names: Sequence[str], objective: PNorm) -> None:
        self.outputs = outputs
        self.names = names
        self.objective = objective
        self.n_pos, self.n_neg, self.n_rankers = outputs.shape
        self._low = np.minimum(outputs.pos_low, outputs.neg_low)
        self._high = np.maximum(outputs.pos_high, outputs.neg_high)
        _checks.spans(self._low, self._high, names)
        self._shift = self._low + 0.5 * (self._high - self._low)
        self._constant = self._low == self._high
        self._binary: dict[int, bool] = {}
        self._column = (np.empty(self.n_pos), np.empty(self.n_neg))
        self._size = np.minimum(np.maximum(abs(self._low), abs(self._high)), self._high - self._low)

    def scores(self, lam: Vector) -> Scores:
        """f = H lam on both sides."""
        if not lam.any():
            return Scores(np.zeros(self.n_pos), np.zeros(self.n_neg))
        with np.errstate(over="ignore", invalid="ignore"):
            return Scores(*self.outputs.combine(lam))

    def edges(self, u: Vector, w: Vector) -> Vector:
        """<u, h_j> - <w, h_j> of every ranker; exactly zero for a constant one, whatever its size."""
        edges = self.outputs.edges(u, w)
        edges[self._constant] = 0.0
        return edges

    def slack(self, merit: Vector) -> float:
        """How far below the best edge a ranker still ties with it."""
        return _TIE * float(self._size[int(merit.argmax())])

    def direction(self, j: int) -> Direction:
        """Ranker j on the rows, centred. Valid until the next call."""
        pos, neg = self._column
        shift = float(self._shift[j])
        self.outputs.column(j, shift, pos, neg)
        low, high = float(self._low[j]) - shift, float(self._high[j]) - shift
        if j not in self._binary:
            self._binary[j] = _only(low, high, pos) and _only(low, high, neg)
        out = self.outputs
        pos_low, pos_high, neg_low, neg_high = (
            float(x[j]) for x in (out.pos_low, out.pos_high, out.neg_low, out.neg_high)
        )
        return Direction(
            pos,
            neg,
            pos_low - shift,
            pos_high - shift,
            neg_low - shift,
            neg_high - shift,
            gap_up=pos_low - neg_high,
            gap_down=neg_low - pos_high,
            binary=self._binary[j],
        )


def _only(low: float, high: float, h: Vector) -> bool:
    """Whether h takes no other values; most that do show it in the first rows."""
    return all(bool(((part == low) | (part == high)).all()) for part in (h[:256], h[256:]))


def build(pos: Any, neg: Any, rankers: Rankers, p: float, pos_weight: Any, neg_weight: Any) -> Problem:
    """Check the rows a user passed and return the problem. Rows of weight zero are left out."""
    c_pos = _checks.weights(pos_weight, "pos_weight", _checks.n_rows(pos, "pos"))
    c_neg = _checks.weights(neg_weight, "neg_weight", _checks.n_rows(neg, "neg"))
    A, log_c_pos = _present(rankers._matrix(pos, "pos"), c_pos)
    B, log_c_neg = _present(rankers._matrix(neg, "neg"), c_neg)
    return Problem(_outputs.of(A, B), rankers.names, PNorm(p, log_c_pos, log_c_neg))


def _present(values: Any, c: Vector | None) -> tuple[Any, Vector | None]:
    """The rows of positive weight, and the logarithms of their weights."""
    if c is None:
        return values, None
    present = c > 0.0
    return (values if present.all() else values[present]), np.log(c[present])
