"""A line search that needs values and slopes only.

Along a line, log R falls from its start to a minimum. If R, or a root of it, is convex, log R rises after the minimum.
All functions below take `evaluate(x)`. It returns log R(x) - log R(0), infinite on overflow, and its derivative, which
is negative at zero. The functions return a step x >= 0; zero means that no step lowers R.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pnorm.objectives._pnorm_line import LEFT_OVER

Evaluate = Callable[[float], tuple[float, float]]

_MAX_STEP = 1e9
"""Largest step, in units of the step that changes scores by one. If R still falls there, it never stops falling."""

_VALUE_ERROR = 1e-15
"""Relative error of R."""


def _bracket(evaluate: Evaluate, unit: float, enough: Callable[[float, float], bool]) -> tuple[float, float]:
    """Return a step that is not enough, or zero, and a step that is enough; the same number twice if none is."""
    low, high = 0.0, unit
    while not enough(*evaluate(high)):
        low, high = high, 4.0 * high
        if high > _MAX_STEP * unit:
            return low, low
    while evaluate(high)[0] == math.inf and high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(*evaluate(middle)) else (middle, high)
    return low, high


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # slow to import

    return float(brentq(function, low, high, xtol=1e-16 * high, rtol=1e-14, maxiter=200))


def smooth_step(evaluate: Evaluate, unit: float, highest: float = math.inf) -> float:
    """Return the step at which the slope has come up to zero, or R above `highest`; the first trial is `unit`."""

    def excess(x: float) -> float:
        value, slope = evaluate(x)
        return slope if value <= highest and value < math.inf else 1.0

    low, high = _bracket(evaluate, unit, lambda value, slope: not (value <= highest and slope < 0.0))
    return high if low == high or excess(high) == 0.0 else _root(excess, low, high)


def falling_step(evaluate: Evaluate, unit: float, limit: float) -> float:
    """Return the step that leaves a millionth of a decrease toward a limit at infinity."""
    target = -LEFT_OVER * limit

    def log_ratio(x: float) -> float:
        return math.log(max(evaluate(x)[0] - limit, 1e-3 * target)) - math.log(target)

    if target <= _VALUE_ERROR:
        return 0.0
    low, high = _bracket(evaluate, unit, lambda value, _: value - limit <= target)
    return high if low == high else _root(log_ratio, low, high)


def corner_step(
    evaluate: Evaluate, unit: float, convex: Callable[[float], tuple[float, float]], rounding: float
) -> float:
    """Return the minimum of a convex function with corners.

    `convex` turns log R(x) - log R(0) into a convex function that is zero at zero, and its derivative. The tangents at
    the ends of the bracket meet at or below the minimum. The search ends when the better end is no higher than this
    point, up to rounding. The next point is in turn the point where the tangents meet, which is exact at a single
    corner, and the zero of the linearly interpolated slope, which is fast if corners are dense.
    """

    def at(x: float) -> tuple[float, float, float]:
        value, slope = evaluate(x)
        if value == math.inf:
            return x, math.inf, math.nan
        value, factor = convex(value)
        return x, value, factor * slope

    ends = _bracket(evaluate, unit, lambda value, slope: not slope < 0.0)
    if ends[0] == ends[1]:
        return ends[0]
    low, high = at(ends[0]), at(ends[1])
    before = high[0] - low[0]
    for turn in range(200):
        best = min(low, high, key=lambda end: end[1])
        width = high[0] - low[0]
        if high[2] == 0.0 or width <= 1e-15 * high[0]:
            break
        meet = (high[1] - low[1] + low[2] * low[0] - high[2] * high[0]) / (low[2] - high[2])
        if low[1] + low[2] * (meet - low[0]) >= best[1] - rounding:
            break
        x = meet if turn % 2 == 0 else low[0] - low[2] * width / (high[2] - low[2])
        if turn % 3 == 2:  # three turns at least halve the bracket
            x, before = (low[0] + 0.5 * width, width) if width > 0.5 * before else (x, width)
        if not low[0] < x < high[0]:
            x = low[0] + 0.5 * width
        here = at(x)
        low, high = (here, high) if here[2] < 0.0 else (low, here)
    best = min(low, high, key=lambda end: end[1])
    return best[0] if best[1] < -4.0 * rounding else 0.0
