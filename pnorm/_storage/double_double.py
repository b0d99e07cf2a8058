"""Sums and products that also return their rounding errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._checks import Vector


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a + b rounded, and the rounding error (Knuth)."""
    total = a + b
    moved = total - a
    return total, (a - (total - moved)) + (b - moved)


def _halves(x: Any) -> tuple[Any, Any]:
    """Split numbers into two of half the digits each (Dekker)."""
    large = 134217729.0 * x  # 2**27 + 1
    high = large - (large - x)
    return high, x - high


def compensated_dot(blocks: Iterator[tuple[slice, _checks.Array]], lam: Vector) -> tuple[Vector, Vector]:
    """Return H @ lam rounded, and the rounding error, from blocks of the rows of H.

    Large coefficients of nearly collinear columns cancel in the scores. Dekker's product and Knuth's sum give the
    rounding errors (Ogita, Rump & Oishi, SIAM J. Sci. Comput. 26, 2005).
    """
    parts = []
    for _, block in blocks:
        total, rest = np.zeros(len(block)), np.zeros(len(block))
        used = np.flatnonzero(lam)
        columns = np.ascontiguousarray(block[:, used].T)  # 16 kB rows: a cache line per number
        for h, j in zip(columns, used.tolist(), strict=True):
            (a, b), (c, d) = _halves(h), _halves(lam[j])
            product = h * lam[j]
            rest += b * d - (((product - a * c) - b * c) - a * d)
            total, rounded = two_sum(total, product)
            rest += rounded
        parts.append((total, rest))
    totals, rests = zip(*parts, strict=True)
    return np.concatenate(totals), np.concatenate(rests)


def compensated_sum(terms: Any, rests: Any) -> tuple[Vector, Vector]:
    """Return the sum over the first axis rounded, and the rounding error, by Knuth's sums of pairs."""
    while len(terms) > 1:
        half = len(terms) // 2
        odd, odd_rest = terms[2 * half :], rests[2 * half :]
        total, rounded = two_sum(terms[:half], terms[half : 2 * half])
        rests = np.concatenate([rests[:half] + rests[half : 2 * half] + rounded, odd_rest])
        terms = np.concatenate([total, odd])
    return terms[0], rests[0]
