r"""The minimiser of a quadratic function with a penalty, within the bounds of the penalty,

.. math:: \tfrac12 (x - s)^\top A (x - s) - \langle g, x - s \rangle + \Omega(x),

by Newton steps from s among the coefficients that may move. A coefficient that would cross zero ends there (Bertsekas,
SIAM Journal on Control and Optimization 20, 1982). If so many cross that the function would not fall, the step ends at
the first crossing.

If A = Z^T Z has more columns than Z has rows, and all coefficients have a penalty on their squares, the dual function
is the smaller problem. It has one number y for each row, and

.. math:: x = \arg\max_x \langle g - Z^\top y, x \rangle - \Omega(x), \qquad y = Z (x - s).

It is smooth, and Newton's method for piecewise linear equations finds y (Li, Sun & Toh, SIAM Journal on Optimization
28, 2018).

The function is written in terms of x - s, and the step x - s is returned. Near the minimiser it keeps its digits for
coefficients of any size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pnorm._checks import Vector
from pnorm._solvers.penalty import Penalty

_MOST = 100
"""Largest number of steps; each of them lowers the function."""

_ROUNDED = 4e-15
"""Share of the terms of a slope that counts as rounding."""

_RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-6)
"""Numbers added to a diagonal of ones, until a matrix is positive definite in spite of its rounding.

A matrix with nan has no factor with any of these. Then the step is that of steepest descent.
"""

_SHORTEST = 1e-6
"""Share of a step of the dual function below which there is none."""

_SHARES = (1.0, 0.5, 0.25, 0.125)
"""Number of shares of a step that are tried before it ends at the first zero crossing."""


@np.errstate(over="ignore", invalid="ignore")  # nan gives no step
def least(A: Any, slope: Vector, penalty: Penalty, start: Vector) -> Vector:
    """Return the step to the minimiser, given a positive semidefinite A, (n, n), and the slope g at the start s.

    The slope excludes the penalty. The step of a coefficient to zero is exactly minus this coefficient.
    """
    A = A + np.diag(penalty.l2)
    root = np.sqrt(A.diagonal())
    root[root == 0.0] = 1.0
    A, unit = A / root / root[:, None], 1.0 / root  # in units of a diagonal of ones
    first, l2 = penalty.nearest(start) * root, penalty.l2 * unit * unit
    b, sizes = slope * unit - l2 * first, np.abs(A)
    b_size = np.abs(slope * unit) + np.abs(l2 * first) + penalty.l1 * unit
    penalty, x = Penalty(penalty.l1 * unit, np.zeros_like(b), penalty.low, penalty.high), first
    step = np.zeros_like(first)
    for _ in range(_MOST):
        down = penalty.steepest(x, b - A @ step)
        down[np.abs(down) <= _ROUNDED * (b_size + sizes @ np.abs(step))] = 0.0
        if not down.any():
            break
        move = _step(A, x, down)
        if move is None:
            break
        x, step = x + move, step + move
    return np.where(x == 0.0, -start, step * unit)


@np.errstate(over="ignore", invalid="ignore")
def least_of_rows(Z: Any, slope: Vector, penalty: Penalty, start: Vector) -> Vector | None:
    """Return the step, given Z, (m, n), if all coefficients that may move have an l2; None after too many steps."""
    y, squares = np.zeros(len(Z)), np.where(penalty.l2 > 0.0, penalty.l2, 1.0)
    first, sizes = penalty.steepest(start, slope), np.abs(Z)

    def at(y: Vector) -> tuple[float, Vector, Vector, Vector]:
        """Return minus the dual function, the coefficients, the step to them, and the gradient."""
        along = y @ Z
        c = slope - along
        x = penalty.best(c)
        way = np.where(x * start > 0.0, (first - along) / squares, x - start)
        value = 0.5 * float(y @ y) + 0.5 * float(penalty.l2 @ np.square(x)) - float(c @ start)
        return value, x, way, y - Z @ way

    value, x, way, down = at(y)
    for _ in range(_MOST):
        terms = np.abs(way) + (np.abs(first) + np.abs(y) @ sizes) / squares
        if (np.abs(down) <= _ROUNDED * (np.abs(y) + sizes @ np.where(x != 0.0, terms, np.abs(way)))).all():
            return way
        free = np.flatnonzero(x)
        own = Z[:, free]
        step = -_solved(np.eye(len(Z)) + (own / squares[free]) @ own.T, down)
        promised, slack = float(down @ step), _ROUNDED * (1.0 + abs(value))
        share, size = 1.0, float(down @ down)
        while True:
            after = at(y + share * step)
            if after[0] <= value + 1e-4 * share * promised or float(after[3] @ after[3]) <= 0.25 * size:
                break
            share *= 0.5
            if share < _SHORTEST:
                return way if -promised <= slack else None
        y = y + share * step
        value, x, way, down = after
    return None


def _step(A: Any, x: Vector, down: Vector) -> Vector | None:
    """Return a step that lowers the function; None if it would fall only by rounding."""
    side = np.where(x != 0.0, np.sign(x), np.sign(down))
    free = np.flatnonzero(side)
    while free.size:
        delta = np.zeros_like(x)
        delta[free] = _solved(A[np.ix_(free, free)], down[free])
        slope = float(down @ delta)
        if not slope > 0.0:
            return None
        for share in _SHARES:
            move = share * delta
            move = np.where((x + move) * side < 0.0, -x, move)
            if float(down @ move) - 0.5 * float(move @ (A @ move)) >= 1e-3 * share * slope:
                return move
        crossed = free[(x[free] + delta[free]) * side[free] < 0.0]
        if not crossed.size:
            return None
        shares = -x[crossed] / delta[crossed]
        first = float(shares.min())
        if first > 0.0:
            move = first * delta
            at_zero = (x + move) * side < 0.0
            at_zero[crossed[shares == first]] = True
            return np.where(at_zero, -x, move)
        free = np.setdiff1d(free, crossed[shares == first])  # zero, and on their way to the wrong side
    return None


def _solved(A: Any, b: Vector) -> Vector:
    """Return the solution of A x = b, with a larger diagonal if rounding has made A indefinite."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    for ridge in _RIDGES:
        factor, failed = dpotrf(A + ridge * np.eye(b.size) if ridge else A, lower=1)
        if not failed:
            x = np.asarray(dpotrs(factor, b, lower=1)[0])
            if np.isfinite(x).all():
                return x
    return b
