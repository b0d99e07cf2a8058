"""The losses: the named ones, and losses defined by users."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Numbers, Vector
from pnorm._core import _pairs
from pnorm.objectives._pair_loss import GroupedScores, Growth, PairLoss, Pairs, Sums

_FARTHEST_CELL = 37
"""Distance of two cells beyond which ln(1 + e^-z) is replaced by e^-z or -z, with a relative error below 1e-16."""

_SMALLEST_EXPONENT = -600.0
"""Exponents below this stay exponents: their powers would be near the smallest doubles."""

_MANY_PAIRS = 10**9
"""Number of pairs beyond which a warning states the cost of a loss that visits all pairs."""


_Class = TypeVar("_Class", bound=type[PairLoss])

LOSSES: dict[str, PairLoss] = {}
"""The named losses, in the order of messages."""


def _named(loss: _Class) -> _Class:
    """Enter a loss in the table of names."""
    LOSSES[loss.name] = loss()
    return loss


@_named
class ExponentialLoss(PairLoss):
    """e^-z: one factor for each row."""

    name = "exponential"
    root = math.inf
    growth = Growth(math.inf, math.inf)

    def value(self, z: Any) -> Any:
        return np.exp(-z)

    def slope(self, z: Any) -> Any:
        return -np.exp(-z)

    def sums(self, pairs: Pairs) -> Sums:
        source, target, weights = pairs.source, pairs.target, pairs.weights
        with np.errstate(divide="ignore"):
            exponents = np.log(np.abs(weights)) - pairs.sign * source.f
        top = np.maximum(np.maximum.reduceat(exponents, source.starts[:-1]), -1e308)
        exponents -= source.spread(top)
        total = source.group_sums(np.copysign(np.exp(exponents, out=exponents), weights))
        total = np.full(target.f.size, target.spread(total))
        return Sums(total, total.copy(), pairs.sign * target.f + target.spread(top))


@_named
class LogisticLoss(PairLoss):
    """ln(1 + e^-z), summed by a one-dimensional black-box fast multipole method.

    The score line is cut into cells of width one. `particle_to_multipole` gives every cell of sources its
    moments of Chebyshev polynomials. `multipole_to_local` turns them into a Chebyshev series on every cell
    of targets, by a table for each distance of two cells. Far cells need only running sums, since the loss is
    e^-z or -z there. `local_to_particle` evaluates the series at the targets. (W. Fong, E. Darve, "The
    black-box fast multipole method", Journal of Computational Physics 228, 2009.)

    The nearest poles of the loss are at +-i pi. The error of a series of n terms is therefore about 12.6^-n, which is
    below rounding for 14 terms (tests/test_objectives.py).
    """

    name = "logistic"
    ascending = True
    lipschitz = 0.25
    growth = Growth(1, 2.0)  # the factor of the paper's table; 1 is enough

    def value(self, z: Any) -> Any:
        return np.logaddexp(0.0, -z)

    def slope(self, z: Any) -> Any:
        tail = np.exp(-np.abs(z))
        return -np.where(z < 0.0, 1.0, tail) / (1.0 + tail)

    def curvature(self, z: Any) -> Any:
        tail = np.exp(-np.abs(z))
        return tail / (1.0 + tail) ** 2

    def sums(self, pairs: Pairs) -> Sums:
        source, target, sign = pairs.source, pairs.target, pairs.sign
        (s_cells, s_ends, s_starts), (t_cells, t_ends, t_starts) = _cells(source), _cells(target)
        moments = np.empty((s_ends.size, _pairs.N_TERMS))
        _pairs.particle_to_multipole(source.f, pairs.weights, s_cells, s_ends, moments)
        order, turned = slice(None), t_ends
        if sign < 0.0:  # the score line is reversed: T_j(-x) = (-1)^j T_j(x)
            order = slice(None, None, -1)
            s_starts, t_starts = s_ends.size - s_starts[::-1], t_ends.size - t_starts[::-1]
            s_ends, turned = -s_ends[::-1], -t_ends[::-1]
            moments = moments[::-1] * _ALTERNATE
        tables, decay = _series_of_logistic()
        tails, exponents = np.empty(s_ends.size), np.empty(t_ends.size)

        def evaluate(table: Any, linear: float) -> Vector:
            """Return the sums of a function that is -z far on the left (linear = 1), or one (linear = 0)."""
            local = np.empty((t_ends.size, _pairs.N_WIDTH))
            _pairs.multipole_to_local(
                s_ends, moments, s_starts, turned, t_starts, table, linear, decay, tails, local, exponents
            )
            local = local[:, : _pairs.N_TERMS]
            if exponents.min() > _SMALLEST_EXPONENT:
                local = local * np.exp(exponents)[:, None]
            if sign < 0.0:
                local = local[::-1] * _ALTERNATE
            out = np.empty(target.f.size)
            _pairs.local_to_particle(target.f, t_cells, t_ends, np.ascontiguousarray(local), out)
            return out

        value = evaluate(tables[0], 1.0) if pairs.value else _NOT_ASKED
        slope = evaluate(tables[1], 0.0) if pairs.slope else _NOT_ASKED
        remain = exponents.min() <= _SMALLEST_EXPONENT
        return Sums(value, slope, np.repeat(exponents[order], np.diff(t_cells)) if remain else 0.0)


_NOT_ASKED = np.empty(0)
_ALTERNATE = (-1.0) ** np.arange(_pairs.N_TERMS)


def _cells(rows: GroupedScores) -> tuple[NDArray[np.intp], Vector, NDArray[np.intp]]:
    """Return the first rows of cells of width one, the lower ends of these, and the first cells of groups."""
    floors = np.floor(rows.f)
    begins = np.empty(floors.size + 1, bool)
    np.not_equal(floors[1:], floors[:-1], out=begins[1:-1])
    begins[rows.starts] = True
    cells = np.flatnonzero(begins)
    return cells, floors[cells[:-1]], np.searchsorted(cells, rows.starts)


@lru_cache(maxsize=1)
def _series_of_logistic() -> tuple[tuple[Any, Any], Vector]:
    """Return coefficients of ln(1 + e^-z) and of 1 / (1 + e^z) between cells, and of e^(-x / 2) on [-1, 1]."""
    n = 2 * _pairs.N_TERMS
    nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    to_series = 2.0 / n * np.cos(np.outer(np.arange(_pairs.N_TERMS), np.arccos(nodes)))
    to_series[0] *= 0.5
    z = np.arange(-_FARTHEST_CELL, _FARTHEST_CELL + 1)[:, None, None] + 0.5 * (nodes[:, None] - nodes)
    kernels = np.logaddexp(0.0, -z), 1.0 / (1.0 + np.exp(z))
    pad = [(0, 0), (0, 0), (0, _pairs.N_WIDTH - _pairs.N_TERMS)]
    tables = [np.pad(to_series @ kernel @ to_series.T, pad) for kernel in kernels]
    return (tables[0], tables[1]), to_series @ np.exp(-0.5 * nodes)


@_named
class HingeLoss(PairLoss):
    """max(0, 1 - z), by a sweep over sorted scores; with smoothing, a parabola takes the place of the corner.

    The parabola spans 1 - smoothing to 1 + smoothing, above the corner by at most a quarter of the
    smoothing (O. Chapelle, "Training a support vector machine in the primal", 2007).
    """

    name = "hinge"
    ascending = True

    def __init__(self, smoothing: float = 0.0, left: bool = False) -> None:
        """Make a hinge whose slope at the corner is the right derivative, 0, or with `left` the left one, -1."""
        self.smoothing = smoothing
        self._falls_below = math.nextafter(1.0, 2.0) if left else 1.0
        self.smooth = smoothing > 0.0
        self.flat_from = 1.0 + smoothing
        self.lipschitz = 0.5 / float(smoothing) if self.smooth else None
        self.growth = None if self.smooth else Growth(1, 1.0)

    def value(self, z: Any) -> Any:
        hinge = np.maximum(1.0 - z, 0.0)
        if not self.smooth:
            return hinge
        with np.errstate(over="ignore"):  # far from a narrow parabola
            parabola = (1.0 + self.smoothing - z) ** 2 / (4.0 * self.smoothing)
        return np.where(np.abs(1.0 - z) < self.smoothing, parabola, hinge)

    def slope(self, z: Any) -> Any:
        if not self.smooth:
            return -1.0 * (z < self._falls_below)
        with np.errstate(over="ignore"):
            return -np.clip(0.5 + 0.5 * (1.0 - z) / self.smoothing, 0.0, 1.0)

    def curvature(self, z: Any) -> Any:
        return (np.abs(1.0 - z) < self.smoothing) / (2.0 * self.smoothing)

    def change(self, radius: float) -> float:
        return super().change(radius) if self.smooth else 1.0 if radius > 1.0 else 0.0

    def smoothed(self, width: float) -> HingeLoss:
        return HingeLoss(width)

    def with_left_slope(self) -> HingeLoss:
        return HingeLoss(self.smoothing, left=True)

    def sums(self, pairs: Pairs) -> Sums:
        if not self.smooth:
            mass, first, _ = _sweep(pairs, self._falls_below, pairs.slope, pairs.value, False)
            return Sums(first, mass)
        sums = np.empty(pairs.target.f.size), np.empty(pairs.target.f.size)
        sides, order = _ascending(pairs)
        front = np.empty((pairs.weights.size, 3))
        _pairs.rounded_sweep(*sides, pairs.sign, self.smoothing, front, *(x[order] for x in sums))
        return Sums(*sums)


@_named
class SquaredHingeLoss(PairLoss):
    """max(0, 1 - z)^2, by a sweep over sorted scores."""

    name = "squared_hinge"
    root = 2.0
    flat_from = 1.0
    ascending = True
    lipschitz = 2.0
    growth = Growth(2, 2.0)

    def value(self, z: Any) -> Any:
        return np.maximum(1.0 - z, 0.0) ** 2

    def slope(self, z: Any) -> Any:
        return -2.0 * np.maximum(1.0 - z, 0.0)

    def curvature(self, z: Any) -> Any:
        return 2.0 * (z < 1.0)

    def sums(self, pairs: Pairs) -> Sums:
        _, first, second = _sweep(pairs, 1.0, False, pairs.slope, pairs.value)
        first *= 2.0
        return Sums(second, first)


def _sweep(pairs: Pairs, end: float, *wanted: bool) -> list[Vector]:
    """Return sums of the powers 0, 1, 2 of 1 - z over z < end; an empty array for each power that is not wanted."""
    out = [np.empty(pairs.target.f.size if this else 0) for this in wanted]
    sides, order = _ascending(pairs)
    into = [sums[order] if this else None for sums, this in zip(out, wanted, strict=True)]
    _pairs.sweep(*sides, pairs.sign, end, *into)
    return out


def _ascending(pairs: Pairs) -> tuple[tuple[Vector, Vector, NDArray[np.intp], Vector, NDArray[np.intp]], slice]:
    """Return both sides ordered so that scores times the sign ascend, and the slice for that order."""
    source, target = pairs.source, pairs.target
    if pairs.sign > 0.0:
        return (source.f, pairs.weights, source.starts, target.f, target.starts), slice(None)
    starts = (rows.f.size - rows.starts[::-1] for rows in (source, target))
    back = slice(None, None, -1)
    return (source.f[back], pairs.weights[back], next(starts), target.f[back], next(starts)), back


@_named
class SquaredLoss(PairLoss):
    """(1 - z)^2, by moments. It rises again beyond z = 1."""

    name = "squared"
    root = 2.0
    decreasing = False
    lipschitz = 2.0
    growth = Growth(2, 2.0)

    def value(self, z: Any) -> Any:
        return (1.0 - z) ** 2

    def slope(self, z: Any) -> Any:
        return -2.0 * (1.0 - z)

    def curvature(self, z: Any) -> Any:
        return np.full_like(z, 2.0)

    def sums(self, pairs: Pairs) -> Sums:
        source, target, sign, weights = pairs.source, pairs.target, pairs.sign, pairs.weights
        size = source.group_sums(np.abs(weights))
        mean = source.group_sums(np.abs(weights) * source.f) / np.where(size > 0.0, size, 1.0)
        apart = source.f - source.spread(mean)
        moments = [source.group_sums(weights)]
        for _ in range(2):  # products of zero, one and two factors
            weights = weights * apart
            moments.append(source.group_sums(weights))
        zeroth, first, second = (target.spread(moment) for moment in moments)
        y = 1.0 + sign * (target.f - target.spread(mean))
        half = zeroth * y - sign * first
        return Sums((half - sign * first) * y + second, 2.0 * half)


class Loss(PairLoss):
    """A loss defined by you: a convex function of the difference of two scores, zero or more.

    A negative k is charged for the sum::

        S_k = Σ_i ℓ(f_i - f̃_k)

    The sums take a pass over all pairs, in blocks that threads share. The cost is O(I K) work and O(I + K) memory.
    Above 1e9 pairs a `RuntimeWarning` states the time.

    Parameters
    ----------
    l : callable
        The loss, of an array of differences z, as an array of the same shape.
    dl : callable
        The derivative of `l`. At a corner it may be any number between the derivatives on either side.
    name : str
        The name of the loss in messages.
    check : bool
        Whether to compare `l` and `dl` on sample points between -1000 and 1000. A loss that is negative somewhere or
        not convex is refused, and so is a derivative that does not match. Points with non-finite values are left out.

    Attributes
    ----------
    smooth : bool
        Whether `dl` has no jumps between sample points. Training chooses its line search by this.
    decreasing : bool
        Whether `dl` is nowhere above zero on the sample points. Training also takes a loss that rises somewhere;
        `pnorm.metrics.theorem1` does not.
    root : float
        The largest q of 1, 2 and inf such that ``ℓ^(1/q)``, or ln ℓ, is convex on the sample points; see `Price`.

    Raises
    ------
    ValueError, TypeError
        If a check fails; the message names the point.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> softer = pnorm.objectives.Loss(
    ...     lambda z: np.logaddexp(0, -z / 2), lambda z: -0.5 / (1 + np.exp(z / 2)), name="softer"
    ... )
    >>> softer.decreasing
    True
    >>> round(pnorm.objectives.value([1.0, 0.0], [0.5], loss=softer), 6)
    0.337813
    """

    def __init__(
        self,
        l: Callable[[Any], Any],  # noqa: E741
        dl: Callable[[Any], Any],
        *,
        name: str = "a user's loss",
        check: bool = True,
    ) -> None:
        self._l = _checks.Vectorised(l, "l", name)
        self._dl = _checks.Vectorised(dl, "dl", name)
        self.name = str(name)
        self.at_zero = float(self._l(np.zeros(1))[0])
        far = np.geomspace(30.0, 1000.0, 24)
        points = np.concatenate([-far[::-1], np.linspace(-25.0, 25.0, 201), far])
        if check:
            _checks.convex(self._l, self._dl, points, name, "z")
        self.root = _checks.root_of_loss(self._l, points)
        points, slopes, corners = _checks.sampled(self._dl, points, check)
        self.smooth = not corners
        self.decreasing = bool(points.size and (slopes <= 0.0).all())
        flat = points[slopes == 0.0]  # from 25 on, it may have underflowed
        self.flat_from = float(flat.min()) if flat.size and flat.min() <= 25.0 else math.inf
        self.limit = float(self._l(points[-1:])[0]) if points.size else math.inf

    def value(self, z: Numbers) -> Vector:
        """Evaluate `l`."""
        return self._l(z)

    def slope(self, z: Numbers) -> Vector:
        """Evaluate `dl`."""
        return self._dl(z)


def work(loss: Any, n_pos: int, n_neg: int) -> int:
    """Return the size of an evaluation that threads share: the number of rows, or of pairs if the loss visits them."""
    return n_pos * n_neg if isinstance(loss, PairLoss) and loss.visits_pairs else n_pos + n_neg


def warn_of_pairs(loss: PairLoss, n_pairs: int, depth: int = 5) -> None:
    """Warn of the cost of a loss that visits very many pairs."""
    if loss.visits_pairs and n_pairs > _MANY_PAIRS:
        warnings.warn(
            f"{loss.name} visits all {n_pairs:.3g} pairs in every evaluation, which takes about "
            f"{n_pairs / 2e8:.0f} seconds. The named losses take time linear in the rows, or a sort",
            RuntimeWarning,
            stacklevel=depth,
        )


def loss_of(loss: Any, smoothing: Any) -> PairLoss:
    """Check a loss and return it."""
    width = _checks.squared(_checks.nonnegative(smoothing, "smoothing"), "smoothing")
    if not isinstance(loss, str | PairLoss):
        raise TypeError(f"loss must be {', '.join(map(repr, LOSSES))} or a pnorm.objectives.Loss; got {loss!r}")
    found = LOSSES[_checks.choice(loss, "loss", LOSSES)] if isinstance(loss, str) else loss
    if width == 0.0:
        return found
    if not found.smoothable:
        able = " or ".join(repr(other) for other in LOSSES.values() if other.smoothable)
        raise ValueError(
            f"smoothing rounds off the corner of the loss {able} only; got smoothing={smoothing!r} with {loss!r}. "
            "Leave smoothing out"
        )
    return found.smoothed(width)
