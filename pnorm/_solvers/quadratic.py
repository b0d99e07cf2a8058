r"""The minimiser of a quadratic function with a penalty, within the bounds of the penalty,

.. math:: \tfrac12 (x - s)^\top A (x - s) - \langle g, x - s \rangle + \Omega(x),

by Newton steps from s among the coefficients that may move. A step that crosses zero ends there (Bertsekas, SIAM
Journal on Control and Optimization 20, 1982). Where too many do so that the function would not fall, it ends at the
first.

The function is written about s, so that near the minimiser its slope loses no digits to the size of the coefficients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.penalty import Penalty

_MOST = 100
"""Steps, at most: each of them lowers the function."""

_ROUNDED = 4e-15
"""Share of the terms of a slope that is taken for rounding."""

_RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-6)
"""What is added to a diagonal of ones, until a matrix is positive definite in spite of its rounding.

A matrix with numbers that are none has no factor, with any of these. Then the step is that of steepest descent.
"""

_SHARES = (1.0, 0.5, 0.25, 0.125)
"""Shares of a step that are tried before it ends at the first zero that it meets."""


def least(A: Any, slope: Vector, penalty: Penalty, start: Vector) -> Vector:
    """Return the minimiser, given a positive semidefinite A, (n, n), and the slope g at the start s without penalty."""
    A = A + np.diag(penalty.l2)
    root = np.sqrt(A.diagonal())
    root[root == 0.0] = 1.0
    A, unit = A / root / root[:, None], 1.0 / root  # in units of a diagonal of ones
    first, l2 = penalty.nearest(start) * root, penalty.l2 * unit * unit
    b, sizes = slope * unit - l2 * first, np.abs(A)
    b_size = np.abs(slope * unit) + np.abs(l2 * first) + penalty.l1 * unit
    penalty, x = Penalty(penalty.l1 * unit, np.zeros_like(b), penalty.low, penalty.high), first
    for _ in range(_MOST):
        down = penalty.steepest(x, b - A @ (x - first))
        down[np.abs(down) <= _ROUNDED * (b_size + sizes @ np.abs(x - first))] = 0.0
        if not down.any():
            break
        after = _step(A, x, down)
        if after is None:
            break
        x = after
    return np.asarray(x * unit)


def _step(A: Any, x: Vector, down: Vector) -> Vector | None:
    """Return the coefficients after a step; None where nothing falls but by rounding."""
    side = np.where(x != 0.0, np.sign(x), np.sign(down))
    free = np.flatnonzero(side)
    while free.size:
        delta = np.zeros_like(x)
        delta[free] = _solved(A[np.ix_(free, free)], down[free])
        slope = float(down @ delta)
        if not slope > 0.0:
            return None
        for share in _SHARES:
            after = x + share * delta
            after[after * side < 0.0] = 0.0
            move = after - x
            if float(down @ move) - 0.5 * float(move @ (A @ move)) >= 1e-3 * share * slope:
                return after
        crossed = free[(x[free] + delta[free]) * side[free] < 0.0]
        if not crossed.size:
            return None
        shares = -x[crossed] / delta[crossed]
        first = float(shares.min())
        if first > 0.0:
            after = x + first * delta
            after[crossed[shares == first]] = 0.0
            after[after * side < 0.0] = 0.0
            return after
        free = np.setdiff1d(free, crossed[shares == first])  # zero, and on their way to the wrong side
    return None


def _solved(A: Any, b: Vector) -> Vector:
    """Return the solution of A x = b; where rounding has made A indefinite, of one with a larger diagonal."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    for ridge in _RIDGES:
        factor, failed = dpotrf(A + ridge * np.eye(b.size) if ridge else A, lower=1)
        if not failed:
            x = np.asarray(dpotrs(factor, b, lower=1)[0])
            if np.isfinite(x).all():
                return x
    return b
