"""Functions that users pass in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Vector, as_array


def callback(function: Any) -> Callable[[Any], bool | None] | None:
    """Return the callback, which is None or callable."""
    if function is not None and not callable(function):
        raise TypeError(f"callback must be a function of the trace so far, or None; got {type(function).__name__}")
    return function  # type: ignore[no-any-return]


class Vectorised:
    """A user's function of an array; each call checks that it returns as many numbers, none of them nan."""

    def __init__(self, function: Any, argument: str, owner: str) -> None:
        if not callable(function):
            raise TypeError(f"{argument} of {owner} must be a function of an array; got {type(function).__name__}")
        self._function, self._name = function, f"{argument} of {owner}"

    def __call__(self, x: Any) -> Vector:
        x = np.array(x, dtype=np.float64)  # a copy, as some functions work in place
        try:
            with np.errstate(all="ignore"):
                y = as_array(self._function(x), f"what {self._name} returns")
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self._name} must take an array of numbers and return one, like NumPy's functions; given an array it "
                f"raised {type(error).__name__}: {error}"
            ) from error
        if y.dtype.kind not in "buif" or (y.dtype.kind == "f" and y.dtype.itemsize < 8):
            raise TypeError(f"{self._name} must return real numbers in double precision; got dtype {y.dtype}")
        if y.shape != x.shape:
            if y.shape != ():
                raise ValueError(
                    f"{self._name} must return as many numbers as it is given, an array of shape {x.shape}; got shape "
                    f"{y.shape}"
                )
            y = np.full(x.shape, y)  # a constant
        y = y.astype(np.float64, copy=False)
        if math.isnan(y.min(initial=math.inf)):
            raise ValueError(f"{self._name} is nan at {x[np.isnan(y)][0]:g}")
        return y


def convex(function: Any, slope: Any, points: Vector, owner: str, variable: str) -> None:
    """Refuse a function that is negative or not convex on sample points, and a slope that is not its derivative.

    A price may rise and be convex in the root of r or in ln r instead. Where f is convex, d is a slope at x if
    f(y) >= f(x) + d (y - x) for all y; points 1e-5 apart leave a wrong one little room. Rounding is that of numbers of
    the size of f, of x and of one.
    """
    letter, kind, way = {"r": ("g", "price", 1.0), "z": ("l", "loss", -1.0)}[variable]
    f, d = function(points), slope(points)
    finite = np.isfinite(f) & np.isfinite(d) & (np.abs(f) < 1e150) & (np.abs(d) < 1e150)
    x, f, d = points[finite], f[finite], d[finite]
    if x.size < 3:
        raise ValueError(f"{letter} of {owner} is finite at too few points between {points[0]:g} and {points[-1]:g}")
    if (f < 0.0).any():
        i = int(np.argmax(f < 0.0))
        raise ValueError(f"{letter} of {owner} is {f[i]:g} at {variable} = {x[i]:g}; a {kind} must be zero or more")
    above = _above_chords(x, f)
    root = _root(x, f) if above.size and variable == "r" and (d >= 0.0).all() else 1.0
    if above.size and not root > 1.0:
        i = _nearest_to_one(x, above)
        wanted = "convex in r, nor rising and convex in ln r" if variable == "r" else "convex"
        raise ValueError(
            f"{letter} of {owner} is not {wanted}: at {variable} = {x[i]:.3g} it is {f[i]:.3g}, above its chord from "
            f"{x[i - 1]:.3g} to {x[i + 1]:.3g}"
        )
    if root == math.inf:
        x, f, d = x[x > 0.0], f[x > 0.0], d[x > 0.0]
    rounding = _rounding(x, f)
    near = 1e-5 * np.maximum(np.abs(x), 1e-3)
    others = [(x - near)[x > near] if variable == "r" else x - near, x + near, x]
    y = np.concatenate(others)
    fy = function(y)
    y, fy = y[np.isfinite(fy)], fy[np.isfinite(fy)]
    if root == math.inf:
        rise = d[:, None] * x[:, None] * np.log(y / x[:, None])
    elif root == 2.0:
        rise = d[:, None] * 2.0 * np.sqrt(x)[:, None] * (np.sqrt(y) - np.sqrt(x)[:, None])
    else:
        rise = d[:, None] * (y - x[:, None])
    wrong = f[:, None] + rise - fy > rounding[:, None] + 1e-10 * (np.abs(fy) + np.abs(rise))
    if wrong.any():
        i = _nearest_to_one(x, np.flatnonzero(wrong.any(axis=1)))
        k = int(np.argmin(np.where(wrong[i], np.abs(y - x[i]), math.inf)))
        raise ValueError(
            f"d{letter} of {owner} is not the derivative of {letter}: {d[i]:.3g} at {variable} = {x[i]:.3g}, where "
            f"{letter} changes at the rate {(fy[k] - f[i]) / (y[k] - x[i]):.6g}"
        )
    if not (way * d > 0.0).any():
        hint = "rises with the height r" if variable == "r" else "falls with z, a positive's score less a negative's"
        raise ValueError(f"{letter} of {owner} goes the wrong way, or nowhere: a {kind} {hint}")


def root_of_price(function: Any, points: Vector) -> float:
    """Return the least q of 1, 2 and inf such that a price is convex in r**(1/q), or ln r, on sample points.

    Nan if there is none; one where it cannot be known.
    """
    try:
        f = function(points)
    except (TypeError, ValueError):
        return 1.0
    finite = np.isfinite(f)
    return _root(points[finite], f[finite])


def root_of_loss(function: Any, points: Vector) -> float:
    """Return the largest q of 1, 2 and inf such that l**(1/q), or ln l, is convex on sample points.

    Points where the loss is next to nothing are left out of its logarithm.
    """
    try:
        f = function(points)
    except (TypeError, ValueError):
        return 1.0
    seen = np.isfinite(f) & (f > 1e-290)
    if seen.any() and not _above_chords(points[seen], np.log(f[seen])).size:
        return math.inf
    seen = np.isfinite(f) & (f >= 0.0)
    return 1.0 if _above_chords(points[seen], np.sqrt(f[seen])).size else 2.0


def _root(r: Vector, f: Vector) -> float:
    """Return the least q of 1, 2 and inf such that f is convex in r**(1/q), or ln r; nan if there is none."""
    above_zero = r > 0.0
    for q, x, values in ((1.0, r, f), (2.0, np.sqrt(r), f), (math.inf, np.log(r[above_zero]), f[above_zero])):
        if not _above_chords(x, values).size:
            return q
    return math.nan


def _above_chords(x: Vector, f: Vector) -> NDArray[np.intp]:
    """Return the places of the points that lie above the chord of their neighbours by more than rounding."""
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    chord = (1.0 - share) * f[:-2] + share * f[2:]
    return 1 + np.flatnonzero(f[1:-1] - chord > _rounding(x, f)[1:-1] + 1e-10 * np.abs(chord))


def _rounding(x: Vector, f: Vector) -> Vector:
    return 1e-10 * np.abs(f) + 1e-15 * (1.0 + np.abs(x)) * min(1.0, float(np.abs(f).max(initial=0.0))) + 1e-300


def sampled(slope: Any, points: Vector, check: bool) -> tuple[Vector, Vector, bool]:
    """Return the points at which a slope is finite, the slopes there, and whether it jumps in between.

    Nothing and no jumps where it cannot be known and is not to be checked.
    """
    try:
        slopes = slope(points)
        finite = np.isfinite(slopes)
        return points[finite], slopes[finite], _jumps(slope, points[finite])
    except (TypeError, ValueError):
        if check:
            raise
        return np.empty(0), np.empty(0), False


def _jumps(slope: Any, points: Vector) -> bool:
    """Return whether a slope jumps: bisection follows the larger part of its change between two points."""
    low, high = points[:-1], points[1:]
    at_low, at_high = slope(low), slope(high)
    with np.errstate(invalid="ignore"):
        change, size = np.abs(at_high - at_low), np.abs(at_high) + np.abs(at_low)
        rounding = 1e-9 * size + 1e-13 * min(1.0, float(size.max()))
    for _ in range(60):
        middle = 0.5 * (low + high)
        at = slope(middle)
        with np.errstate(invalid="ignore"):
            left = np.abs(at - at_low) > np.abs(at_high - at)
        low, at_low = np.where(left, low, middle), np.where(left, at_low, at)
        high, at_high = np.where(left, middle, high), np.where(left, at, at_high)
    with np.errstate(invalid="ignore"):
        jump = np.abs(at_high - at_low)
        return bool((np.isfinite(size) & (jump > rounding) & (jump > 1e-3 * change)).any())


def _nearest_to_one(x: Vector, where: NDArray[np.intp]) -> int:
    """Return the point nearest to one, the easiest for a user to try."""
    return int(where[np.argmin(np.abs(np.log(np.maximum(np.abs(x[where]), 1e-9))))])
