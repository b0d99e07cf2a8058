"""Losses, and their sums over all pairs.

A loss is a convex function of the difference z of the scores of a positive and a negative. All that
the objective needs of it are sums over one side of the list for every row of the other,

    value_k = sum_i c_i l(z_ik),        slope_k = -sum_i c_i l'(z_ik),

of sources with scores s and weights c, for targets with scores t: z = s - t where the sources are
the positives, and z = t - s where they are the negatives (sign = -1).
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._core import _pairs
from pnorm._threads import Pool

_REACH = 37
"""Distance of two cells beyond which ln(1 + e^-z) is e^-z or -z: what that leaves out is below 1e-16 of it."""

_FAR = 600.0
"""Exponents below minus this stay exponents: their powers would be near the smallest doubles."""

_PAIRS = 40_000
"""Pairs of which a function of the user's is asked at a time: arrays of 320 kB, which come from memory that is warm."""

_MANY_PAIRS = 10**9
"""Pairs beyond which a user is told what a loss without structure costs."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """The scores of one side, group by group, ascending within each where a loss asks for it."""

    f: Vector
    order: NDArray[np.intp] | None
    """f[k] is the score of row order[k]; None: of row k."""
    starts: NDArray[np.intp]
    """(G + 1,): where each group begins, and the end."""

    @classmethod
    def of(cls, f: Vector, codes: NDArray[np.intp] | None, starts: NDArray[np.intp], ascending: bool) -> Ranked:
        """Rank scores, whose groups are `codes`."""
        if codes is not None:
            order = np.lexsort((f, codes)) if ascending else np.argsort(codes, kind="stable")
            return cls(f[order], order, starts)
        if not ascending:
            return cls(f, None, starts)
        order, ranked = np.empty(f.size, np.intp), np.empty(f.size)
        if not _pairs.sort(f, order, ranked, np.zeros(f.size + 1, np.intc)):
            order = np.argsort(f, kind="stable")
            ranked = f[order]
        return cls(ranked, order, starts)

    def gather(self, values: Vector) -> Vector:
        """Values of the rows, in the order of this."""
        return values if self.order is None else values[self.order]

    def scatter(self, values: Vector, out: Vector) -> None:
        """Fill out, row by row, with values in the order of this."""
        out[... if self.order is None else self.order] = values

    def sums(self, values: Vector) -> Vector:
        """Sum over every group."""
        return np.asarray(np.add.reduceat(values, self.starts[:-1]))

    def spread(self, values: Vector) -> Vector:
        """Values of the groups as values of their rows, or as one number for all of them."""
        return values if values.size == 1 else np.repeat(values, np.diff(self.starts))


class Sides:
    """How the rows of both sides fall into query groups, whose numbers are codes; None for one group."""

    def __init__(self, codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None) -> None:
        self.codes: tuple[Any, Any] = (None, None) if codes is None else codes
        self._starts = None
        if codes is not None:  # where every group begins, and the end
            self._starts = [np.concatenate([[0], np.bincount(c).cumsum()]) for c in codes]

    def ranked(self, f_pos: Vector, f_neg: Vector, ascending: bool, pool: Pool) -> tuple[Ranked, Ranked]:
        """Rank the scores of both."""
        starts = self._starts or [np.array([0, f.size]) for f in (f_pos, f_neg)]
        sides = zip((f_pos, f_neg), self.codes, starts, strict=True)
        pos, neg = pool.map(lambda side: Ranked.of(*side, ascending), sides)
        return pos, neg


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which sums are asked for: over the sources, for every target."""

    source: Ranked
    weights: Vector
    """Of the sources, in their order."""
    target: Ranked
    sign: float
    """z is the source's score less the target's times this: 1 for positives as sources, -1 for negatives."""
    pool: Pool
    value: bool = True
    slope: bool = True


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the sources for every target, both to be multiplied by e^exponent."""

    value: Vector
    slope: Vector
    exponent: Vector | float = 0.0


class PairLoss(ABC):
    """A loss l(z), what is known of it, and its sums over pairs."""

    name: str
    smooth = True
    """Whether it has a derivative everywhere."""
    decreasing = True
    """Whether it never rises."""
    flat_from = np.inf
    """Where it has come down as far as it does; inf: nowhere."""
    limit = 0.0
    """What it comes down to."""
    at_zero = 1.0
    """l(0)."""
    ascending = True
    """Whether sums need the scores in ascending order."""

    @abstractmethod
    def sums(self, pairs: Pairs) -> Sums:
        """Sums for every target; those that are not asked for may be anything."""

    def curvature(self, z: Any) -> Any:
        """l''(z), from either side where it jumps."""
        raise NotImplementedError(f"nothing is known of the second derivative of {self.name}")

    def __repr__(self) -> str:
        return repr(self.name)


class ExponentialLoss(PairLoss):
    """e^-z: one factor for each row."""

    name = "exponential"
    ascending = False

    def sums(self, pairs: Pairs) -> Sums:
        source, target, weights = pairs.source, pairs.target, pairs.weights
        with np.errstate(divide="ignore"):
            exponents = np.log(np.abs(weights)) - pairs.sign * source.f
        top = np.maximum(np.maximum.reduceat(exponents, source.starts[:-1]), -1e308)
        exponents -= source.spread(top)
        total = source.sums(np.copysign(np.exp(exponents, out=exponents), weights))
        total = np.full(target.f.size, target.spread(total))
        return Sums(total, total.copy(), pairs.sign * target.f + target.spread(top))


class LogisticLoss(PairLoss):
    """ln(1 + e^-z), by Chebyshev series between cells of the score line.

    Its nearest poles are at +-i pi. On cells of width one, a series of n terms leaves out some
    12.6^-n, which 14 terms put below rounding (tests/test_objectives.py).
    """

    name = "logistic"
    at_zero = float(np.log(2.0))

    def sums(self, pairs: Pairs) -> Sums:
        source, target, sign = pairs.source, pairs.target, pairs.sign
        (s_cells, s_ends, s_starts), (t_cells, t_ends, t_starts) = _cells(source), _cells(target)
        moments = np.empty((s_ends.size, _pairs.N_TERMS))
        _pairs.particle_to_multipole(source.f, pairs.weights, s_cells, s_ends, moments)
        flip = slice(None)
        if sign < 0.0:  # the score line turned round: T_j(-x) = (-1)^j T_j(x)
            flip = slice(None, None, -1)
            s_starts, t_starts = s_ends.size - s_starts[::-1], t_ends.size - t_starts[::-1]
            s_ends, turned = -s_ends[::-1], -t_ends[::-1]
            moments = moments[::-1] * _ALTERNATE
        else:
            turned = t_ends
        tables, decay = _series_of_logistic()
        tails, exponents = np.empty(s_ends.size), np.empty(t_ends.size)

        def of(table: Any, linear: float) -> Vector:
            local = np.empty((t_ends.size, _pairs.N_WIDTH))
            _pairs.multipole_to_local(
                s_ends, moments, s_starts, turned, t_starts, table, linear, decay, tails, local, exponents
            )
            local = local[:, : _pairs.N_TERMS]
            if exponents.min() > -_FAR:  # small, but doubles
                local = local * np.exp(exponents)[:, None]
            if sign < 0.0:
                local = local[::-1] * _ALTERNATE
            local = np.ascontiguousarray(local)
            out = np.empty(target.f.size)
            _pairs.local_to_particle(target.f, t_cells, t_ends, local, out)
            return out

        sums = of(tables[0], 1.0) if pairs.value else _NOTHING, of(tables[1], 0.0) if pairs.slope else _NOTHING
        return Sums(*sums, np.repeat(exponents[flip], np.diff(t_cells)) if exponents.min() <= -_FAR else 0.0)

    def curvature(self, z: Any) -> Any:
        tail = np.exp(-np.abs(z))
        return tail / (1.0 + tail) ** 2


_NOTHING = np.empty(0)
_ALTERNATE = (-1.0) ** np.arange(_pairs.N_TERMS)


def _cells(rows: Ranked) -> tuple[NDArray[np.intp], Vector, NDArray[np.intp]]:
    """Where the rows of cells of width one begin, the lower ends of these, and where those of every group begin."""
    floors = np.floor(rows.f)
    begins = np.empty(floors.size + 1, bool)
    np.not_equal(floors[1:], floors[:-1], out=begins[1:-1])
    begins[rows.starts] = True
    cells = np.flatnonzero(begins)
    return cells, floors[cells[:-1]], np.searchsorted(cells, rows.starts)


@lru_cache(maxsize=1)
def _series_of_logistic() -> tuple[tuple[Any, Any], Vector]:
    """Coefficients of ln(1 + e^-z) and of 1 / (1 + e^z) between cells, and of e^(-x / 2) on [-1, 1]."""
    n = 2 * _pairs.N_TERMS
    nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    to_series = 2.0 / n * np.cos(np.outer(np.arange(_pairs.N_TERMS), np.arccos(nodes)))
    to_series[0] *= 0.5
    z = np.arange(-_REACH, _REACH + 1)[:, None, None] + 0.5 * (nodes[:, None] - nodes)
    kernels = np.logaddexp(0.0, -z), 1.0 / (1.0 + np.exp(z))
    pad = [(0, 0), (0, 0), (0, _pairs.N_WIDTH - _pairs.N_TERMS)]
    tables = [np.pad(to_series @ kernel @ to_series.T, pad) for kernel in kernels]
    return (tables[0], tables[1]), to_series @ np.exp(-0.5 * nodes)


class SquaredLoss(PairLoss):
    """(1 - z)^2, by moments. It rises again beyond z = 1."""

    name = "squared"
    decreasing = False
    ascending = False

    def sums(self, pairs: Pairs) -> Sums:
        source, target, sign, weights = pairs.source, pairs.target, pairs.sign, pairs.weights
        size = source.sums(np.abs(weights))
        mean = source.sums(np.abs(weights) * source.f) / np.where(size > 0.0, size, 1.0)
        apart = source.f - source.spread(mean)
        moments = [source.sums(weights)]
        for _ in range(2):  # of no, of one and of two factors
            weights = weights * apart
            moments.append(source.sums(weights))
        zeroth, first, second = (target.spread(moment) for moment in moments)
        y = 1.0 + sign * (target.f - target.spread(mean))
        half = zeroth * y - sign * first
        return Sums((half - sign * first) * y + second, 2.0 * half)

    def curvature(self, z: Any) -> Any:
        return np.full_like(z, 2.0)


class HingeLoss(PairLoss):
    """max(0, 1 - z), by a sweep over sorted scores; with smoothing, a parabola takes the place of the corner.

    The parabola spans 1 - smoothing to 1 + smoothing, above the corner by at most a quarter of the
    smoothing (O. Chapelle, "Training a support vector machine in the primal", 2007).
    """

    name = "hinge"

    def __init__(self, smoothing: float = 0.0, left: bool = False) -> None:
        """At the corner the slope is zero, the right one; or the left one, which is -1."""
        self.smoothing = smoothing
        self._reach = math.nextafter(1.0, 2.0) if left else 1.0
        self.smooth = smoothing > 0.0
        self.flat_from = 1.0 + smoothing
        if smoothing > 1.0:
            self.at_zero = (1.0 + smoothing) ** 2 / (4.0 * smoothing)

    def sums(self, pairs: Pairs) -> Sums:
        if not self.smooth:
            mass, first, _ = _sweep(pairs, self._reach, pairs.slope, pairs.value, False)
            return Sums(first, mass)
        sums = np.empty(pairs.target.f.size), np.empty(pairs.target.f.size)
        sides, turned = _ascending(pairs)
        front = np.empty((pairs.weights.size, 3))
        _pairs.rounded_sweep(*sides, pairs.sign, self.smoothing, front, *(x[turned] for x in sums))
        return Sums(*sums)

    def curvature(self, z: Any) -> Any:
        return (np.abs(1.0 - z) < self.smoothing) / (2.0 * self.smoothing) if self.smooth else super().curvature(z)


class SquaredHingeLoss(PairLoss):
    """max(0, 1 - z)^2, by the same sweep."""

    name = "squared_hinge"
    flat_from = 1.0

    def sums(self, pairs: Pairs) -> Sums:
        _, first, second = _sweep(pairs, 1.0, False, pairs.slope, pairs.value)
        first *= 2.0
        return Sums(second, first)

    def curvature(self, z: Any) -> Any:
        return 2.0 * (z < 1.0)


def _sweep(pairs: Pairs, reach: float, *wanted: bool) -> list[Vector]:
    """Sums of the powers 0, 1, 2 of 1 - z where z is below the reach; empty where they are not wanted."""
    out = [np.empty(pairs.target.f.size if this else 0) for this in wanted]
    sides, turned = _ascending(pairs)
    into = [sums[turned] if this else None for sums, this in zip(out, wanted, strict=True)]
    _pairs.sweep(*sides, pairs.sign, reach, *into)
    return out


def _ascending(pairs: Pairs) -> tuple[tuple[Vector, Vector, NDArray[np.intp], Vector, NDArray[np.intp]], slice]:
    """Both sides such that scores times the sign ascend, and the slice that turns arrays round for it."""
    source, target = pairs.source, pairs.target
    if pairs.sign > 0.0:
        return (source.f, pairs.weights, source.starts, target.f, target.starts), slice(None)
    starts = (rows.f.size - rows.starts[::-1] for rows in (source, target))
    back = slice(None, None, -1)
    return (source.f[back], pairs.weights[back], next(starts), target.f[back], next(starts)), back


class Loss(PairLoss):
    r"""A loss of the user's: a convex function of the difference of two scores, zero or more.

    .. math:: S_k = \sum_i \ell(f_i - \tilde f_k)

    Nothing is known of it but its values, so its sums take a pass over all pairs, in blocks that
    threads share: O(I K) calls' worth of work, O(I + K) memory. Above :math:`10^9` pairs a
    `RuntimeWarning` says so.

    Parameters
    ----------
    l : callable
        The loss, of an array of differences z, as an array of the same shape.
    dl : callable
        Its derivative, or at a corner any number between those on either side.
    name : str
        What messages call it.
    check : bool
        Compare `l` and `dl` on sample points between -1000 and 1000, and refuse a loss that is
        negative somewhere or not convex, or a derivative that is another function's. Points where a
        value is not finite are left out.

    Attributes
    ----------
    smooth : bool
        Whether `dl` has no jumps between sample points; the line search of training differs.
    decreasing : bool
        Whether `dl` is nowhere above zero on the sample points. A loss with a rising stretch is
        welcome in training; `pnorm.metrics.theorem1` needs one without.

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

    ascending = False

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
        points, slopes, corners = _checks.sampled(self._dl, points, check)
        self.smooth = not corners
        self.decreasing = bool(points.size and (slopes <= 0.0).all())
        flat = points[slopes == 0.0]  # from 25 on, it may be underflow
        self.flat_from = float(flat.min()) if flat.size and flat.min() <= 25.0 else np.inf
        self.limit = float(self._l(points[-1:])[0]) if points.size else np.inf

    def slope(self, z: Any) -> Vector:
        """Evaluate `dl`."""
        return self._dl(z)

    def sums(self, pairs: Pairs) -> Sums:
        source, target = pairs.source, pairs.target
        functions = [(self._l, 1.0, pairs.value), (self._dl, -1.0, pairs.slope)]
        out = [np.empty(target.f.size) for _ in functions]

        def work(item: tuple[slice, slice]) -> None:
            rows, columns = item
            totals = [np.zeros(columns.stop - columns.start) for _ in functions]
            size = max(1, _PAIRS // (columns.stop - columns.start))
            for start in range(rows.start, rows.stop, size):
                some = slice(start, min(start + size, rows.stop))
                z = pairs.sign * (source.f[some] - target.f[columns, None])
                for (function, factor, wanted), total in zip(functions, totals, strict=True):
                    if wanted:
                        total += factor * np.einsum(
                            "kr,r->k", function(z.ravel()).reshape(z.shape), pairs.weights[some]
                        )
            for whole, total in zip(out, totals, strict=True):
                whole[columns] = total

        with np.errstate(over="ignore"):
            pairs.pool.map(work, list(_rectangles(source.starts, target.starts)))
        return Sums(*out)


def _rectangles(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Any:
    """All pairs, as slices of rows and of a few columns."""
    size = math.isqrt(_PAIRS)
    for r0, r1, c0, c1 in zip(rows[:-1], rows[1:], columns[:-1], columns[1:], strict=True):
        for start in range(int(c0), int(c1), size):
            yield slice(int(r0), int(r1)), slice(start, min(start + size, int(c1)))


def work(loss: Any, n_pos: int, n_neg: int) -> int:
    """What threads would share in an evaluation: rows, or with a loss of the user's, pairs."""
    return n_pos * n_neg if isinstance(loss, Loss) else n_pos + n_neg


def warn_of_pairs(loss: PairLoss, n_pairs: int, depth: int = 5) -> None:
    """Say what a loss without structure costs, where that is much."""
    if isinstance(loss, Loss) and n_pairs > _MANY_PAIRS:
        warnings.warn(
            f"{loss.name} is asked for all {n_pairs:.3g} pairs in every evaluation, some {n_pairs / 2e8:.0f} seconds; "
            "the named losses need time linear in the rows",
            RuntimeWarning,
            stacklevel=depth,
        )


LOSSES: dict[str, PairLoss] = {
    loss.name: loss for loss in (ExponentialLoss(), LogisticLoss(), HingeLoss(), SquaredHingeLoss(), SquaredLoss())
}
"""The losses that have names."""


def loss_of(loss: Any, smoothing: Any) -> PairLoss:
    """Check a loss and return it."""
    width = _checks.squared(_checks.nonnegative(smoothing, "smoothing"), "smoothing")
    if width > 0.0 and loss != "hinge":
        raise ValueError(f"smoothing rounds the corner of the loss 'hinge'; got smoothing={smoothing!r} with {loss!r}")
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str):
        raise TypeError(f"loss must be {', '.join(map(repr, LOSSES))} or a pnorm.objectives.Loss; got {loss!r}")
    return HingeLoss(width) if width > 0.0 else LOSSES[_checks.choice(loss, "loss", LOSSES)]
