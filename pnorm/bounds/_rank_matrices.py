"""Rank matrices, their number, and shatter coefficients of linear scores."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Label, Labels, Numbers, Rows, Scores
from pnorm._checks.labelled import sides_of_scores


def rank_matrix(
    f_pos: Scores, f_neg: Scores | None = None, *, y: Labels | None = None, pos_label: Label | None = None
) -> NDArray[np.float64]:
    """Return the bipartite rank matrix of a list: the order of every pair.

    The entry of the positive i and the negative k is::

        B_ik = 1[f_i > f̃_k] + 1/2 1[f_i = f̃_k]

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`.
    y, pos_label : optional
        With labels, ``rank_matrix(scores, y=y)``, the first argument holds all scores. The labels and the positive
        label are as in `pnorm.train`.

    Returns
    -------
    ndarray, shape (I, K)
        Entries 0, 1/2 and 1; their mean is the AUC.

    Raises
    ------
    ValueError, TypeError
        If a side is empty or is not a vector of finite numbers.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Definition 2.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.rank_matrix([2.0, 1.0], [1.0, 0.0])
    array([[1. , 1. ],
           [0.5, 1. ]])

    The same with labels:

    >>> bounds.rank_matrix([2.0, 1.0, 1.0, 0.0], y=[1, 1, 0, 0])
    array([[1. , 1. ],
           [0.5, 1. ]])
    """
    f_pos, f_neg, *_ = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label)
    pos, neg = _checks.scores(f_pos, "f_pos"), _checks.scores(f_neg, "f_neg")
    return np.asarray((pos[:, None] > neg) + 0.5 * (pos[:, None] == neg))


def is_rank_matrix(B: Numbers) -> bool:
    """Return whether some scores realise a matrix of 0, 1/2 and 1.

    Parameters
    ----------
    B : array_like, shape (m, n)
        Entries 0, 1/2 and 1.

    Returns
    -------
    bool
        Whether ``rank_matrix(f_pos, f_neg)`` is B for some scores. Negatives with larger column sums must be lower,
        which determines the order of all scores. Their rank matrix is compared with B. The cost is O(m n + n log n).

    Raises
    ------
    ValueError, TypeError
        If B is not a matrix of 0, 1/2 and 1.

    Notes
    -----
    By Theorem 1 of the source, two conditions are equivalent to this one. First, B has none of the forbidden 2 x 2
    sub-matrices. Second, take the graph with an edge from i to k where B is 1, from k to i where B is 0, and an
    undirected edge where B is 1/2. No cycle follows all directions and contains a directed edge.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 1.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.is_rank_matrix([[1, 0], [1, 0.5]]), bounds.is_rank_matrix([[1, 0], [0, 1]])
    (True, False)
    """
    A = _checks.matrix(B, "B")
    if _checks.is_sparse(A):
        A = A.toarray()
    if not np.isin(A, (0.0, 0.5, 1.0)).all():
        i, k = np.argwhere(~np.isin(A, (0.0, 0.5, 1.0)))[0]
        raise ValueError(f"B has {A[i, k]:g} at row {i}, column {k}; entries must be 0, 1/2 or 1")
    _, level = np.unique(-A.sum(axis=0), return_inverse=True)
    f_neg = 2.0 * level.reshape(-1)
    # The level of a row is the level that it ties with, else just above the highest level that it beats.
    tied = np.where(A == 0.5, f_neg, -np.inf).max(axis=1)
    beaten = np.where(A == 1.0, f_neg + 1.0, -1.0).max(axis=1)
    return np.array_equal(rank_matrix(np.where(np.isfinite(tied), tied, beaten), f_neg), A)


def rank_matrix_count(m: int, n: int) -> int:
    """Count the rank matrices of m positives and n negatives that some scores realise, psi(m, n).

    A list is a word over P, N and X. Each letter is a level, from the bottom: with positives only, negatives only, or
    both. Two P in a row, or two N, would be one level. Let W(a, b) be the number of words in which a levels contain
    positives and b contain negatives. Then::

        ψ(m, n) = Σ_ab W(a, b) a! S(m, a) b! S(n, b)

    where S are the Stirling numbers of the second kind: the factors count the ways to distribute the rows among the
    levels.

    Parameters
    ----------
    m, n : int
        Numbers of positives and of negatives, 1 or more.

    Returns
    -------
    int
        The exact count. The cost is O(m n) operations on integers with about (m + n) log(m + n) digits.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, section 4, where this number bounds the rank-shatter coefficient.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.rank_matrix_count(1, 1), bounds.rank_matrix_count(2, 2), bounds.rank_matrix_count(3, 3)
    (3, 51, 2067)
    """
    m, n = _checks.count(m, "m", 1), _checks.count(n, "n", 1)
    # No two P are adjacent, so a levels with positives need a // 2 levels with negatives; likewise for N.
    most_pos, most_neg = min(m, 2 * n + 1), min(n, 2 * m + 1)
    ways_pos, ways_neg = _surjections(m, most_pos), _surjections(n, most_neg)
    above: list[tuple[int, int, int]] = []
    total = 0
    for a in range(most_pos + 1):
        row: list[tuple[int, int, int]] = []  # words by their last letter: P, N, X
        for b in range(most_neg + 1):
            p = above[b][1] + above[b][2] if a else 0
            q = row[b - 1][0] + row[b - 1][2] if b else 0
            x = sum(above[b - 1]) if a and b else int(a == b == 0)
            row.append((p, q, x))
            total += (p + q + x) * ways_pos[a] * ways_neg[b]
        above = row
    return total


def _surjections(n: int, most: int) -> list[int]:
    """Return a! S(n, a) for a = 0 to `most`: the ways to distribute n rows among a levels, none empty."""
    row = [1] + [0] * most
    for _ in range(n):
        row = [0] + [a * (row[a - 1] + row[a]) for a in range(1, most + 1)]
    return row


def rank_shatter_linear(d: int, m: int, n: int) -> int:
    """Bound the number of rank matrices that linear scoring functions of d columns realise on m + n rows.

    The bound holds for any rows. For d = 1 it is exact, and there are 3 matrices: the order, its reverse, and all tied.
    Otherwise it is the smaller of two numbers: ψ(m, n) (`rank_matrix_count`), and the number of faces in the proof,
    with N = m n::

        Σ_{k=0..d} Σ_{i=d-k..d} C(i, d - k) C(N, i) = Σ_{i=0..d} 2^i C(N, i)

    which is at most ``3^N``, and at most the closed form ``(2 e N / d)^d`` if N is at least d. (The source states the
    closed form for all N; it fails for N < d.)

    Parameters
    ----------
    d, m, n : int
        Numbers of columns, of positives and of negatives, 1 or more.

    Returns
    -------
    int
        An upper bound on the rank-shatter coefficient r(F, m, n). psi is only computed if m n is at most 40,000.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Theorem 5.

    Examples
    --------
    >>> from pnorm import bounds
    >>> [bounds.rank_shatter_linear(d, 3, 3) for d in (1, 2, 3, 4)]
    [3, 163, 835, 2067]
    """
    d, m, n = (_checks.count(size, name, 1) for size, name in ((d, "d"), (m, "m"), (n, "n")))
    if d == 1:
        return 3
    faces, term = 0, 1
    for i in range(min(d, m * n) + 1):
        faces += term
        term = term * 2 * (m * n - i) // (i + 1)
    return min(faces, rank_matrix_count(m, n)) if m * n <= 40_000 else faces


def rank_shatter_exact(pos: Rows, neg: Rows) -> int:
    """Count the rank matrices that linear scoring functions realise on given rows, in exact arithmetic.

    A rank matrix is the vector of signs of ``<w, x_i - x̃_k>`` over the pairs. The count is therefore the number of
    faces into which hyperplanes through the origin cut the space of w. The lines in which hyperplanes meet are
    enumerated. All other faces are compositions of these lines. A composition X o Y has the signs of X where they are
    not 0, and else the signs of Y.

    Parameters
    ----------
    pos, neg : array_like, shapes (m, d) and (n, d)
        The rows. A float is taken as the exact binary number that it holds.

    Returns
    -------
    int
        The number of different ``rank_matrix(pos @ w, neg @ w)`` over all w, including w = 0.

    Raises
    ------
    ValueError, TypeError
        If there are too many rows. The count is feasible only for a few rows.

    References
    ----------
    .. [1] S. Agarwal, S. Har-Peled, D. Roth, "A Uniform Convergence Bound for the Area Under the ROC Curve",
       AISTATS 2005, Definition 3.

    Examples
    --------
    >>> from pnorm import bounds
    >>> bounds.rank_shatter_exact([[0, 1], [1, 0]], [[0, 0], [2, 3]])
    17
    """
    P, Q = _exact(pos, "pos"), _exact(neg, "neg")
    _checks.same_width(pos, neg)
    if len(P) * len(Q) > 2000:
        raise ValueError(f"{len(P) * len(Q)} pairs are too many to count exactly; use rank_shatter_linear for a bound")
    normals = [[u - v for u, v in zip(x, y, strict=True)] for x in P for y in Q]
    columns = _echelon(normals)[1]  # independent columns; further columns change no sign vector
    normals = [[row[c] for c in columns] for row in normals]
    rank = len(columns)
    distinct = list(dict.fromkeys(tuple(x / next(filter(None, row)) for x in row) for row in normals if any(row)))
    if rank <= 2:  # no pair, one pair, or lines in a plane: rays, sectors, and the origin
        return (1, 3, 1 + 4 * len(distinct))[rank]
    most = sum(2**i * math.comb(len(distinct), i) for i in range(rank + 1))
    if most * math.comb(len(distinct), rank - 1) > 10**7:
        raise ValueError(
            f"{len(distinct)} pairs in {rank} dimensions are too many to count exactly; use rank_shatter_linear for a "
            "bound"
        )
    lines = set()
    for chosen in combinations(distinct, rank - 1):
        reduced, pivots = _echelon([list(row) for row in chosen])
        if len(pivots) == rank - 1:
            lines |= _both_ends(normals, reduced, pivots, rank)
    faces, waiting = {(0, 0)}, [(0, 0)]
    while waiting:
        plus, minus = waiting.pop()
        free = ~(plus | minus)
        for up, down in lines:
            face = plus | up & free, minus | down & free
            if face not in faces:
                faces.add(face)
                waiting.append(face)
    return len(faces)


def _exact(X: Any, name: str) -> list[list[Fraction]]:
    """Return rows as exact numbers."""
    if _checks.is_sparse(X):
        raise TypeError(f"{name} is sparse; pass a handful of dense rows")
    A = _checks.matrix(X, name, apart=False)
    if not isinstance(X, (list, tuple)):
        exact = np.asarray(X)
        X = (exact if exact.dtype.kind in "iuO" else A).tolist()
    return [[Fraction(value) for value in row] for row in X]


def _both_ends(
    normals: list[list[Fraction]], reduced: list[list[Fraction]], pivots: list[int], rank: int
) -> set[tuple[int, int]]:
    """Return the signs of all pairs along a line, the null space of rows in echelon form, both ways, as bits."""
    free = next(c for c in range(rank) if c not in pivots)
    w = [Fraction(0)] * rank
    w[free] = Fraction(1)
    for row, c in zip(reduced, pivots, strict=True):
        w[c] = -row[free]
    f = [sum(a * b for a, b in zip(row, w, strict=True)) for row in normals]
    plus, minus = (sum(1 << i for i, y in enumerate(f) if sign * y > 0) for sign in (1, -1))
    return {(plus, minus), (minus, plus)}


def _echelon(rows: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced row echelon form of a matrix, without rows of zeros, and its pivot columns."""
    rows, pivots = [list(row) for row in rows], list[int]()
    for c in range(len(rows[0]) if rows else 0):
        r = len(pivots)
        found = next((i for i in range(r, len(rows)) if rows[i][c]), None)
        if found is None:
            continue
        rows[r], rows[found] = rows[found], rows[r]
        rows[r] = [x / rows[r][c] for x in rows[r]]
        for i, row in enumerate(rows):
            if i != r and row[c]:
                rows[i] = [x - row[c] * y for x, y in zip(row, rows[r], strict=True)]
        pivots.append(c)
    return rows[: len(pivots)], pivots
