"""Data sets that need no file."""

from __future__ import annotations

import numpy as np

from pnorm import _checks
from pnorm._checks import Seed
from pnorm.datasets._dataset import Dataset

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

_O, _X, _BLANK = 0, 1, 2  # the coding of TR2005-874


def tic_tac_toe() -> Dataset:
    """Return all 958 final boards of tic-tac-toe, with the label "x has won".

    x moves first, and a game ends with three in a row or a full board. A board is positive if x has
    three in a row (626 of 958). The columns are the nine squares, row by row from the top left,
    with o = 0, x = 1 and blank = 2 as in TR2005-874. The boards are those of the UCI set
    "Tic-Tac-Toe Endgame"; here they are generated from the rules, in lexicographic order.

    Returns
    -------
    Dataset
        958 rows, 9 columns, 626 positives.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> data
    <626 positives and 332 negatives in 9 columns>
    >>> data.names[:2]
    ('top-left', 'top-middle')
    """
    ends = _ends()
    boards = sorted(ends)
    rows, columns = ("top", "middle", "bottom"), ("left", "middle", "right")
    return Dataset(
        X=np.array(boards, dtype=np.float64),
        y=np.array([ends[board] for board in boards], dtype=np.int64),
        names=tuple(f"{row}-{column}" for row in rows for column in columns),
        citation="D. Aha, Tic-Tac-Toe Endgame, UCI Machine Learning Repository, 1991, doi:10.24432/C5688J",
    )


def _ends() -> dict[tuple[int, ...], bool]:
    """Return every board that ends a game, with whether x has won, by playing all games."""
    ends: dict[tuple[int, ...], bool] = {}
    boards: set[tuple[int, ...]] = {(_BLANK,) * 9}
    for mover, other in [(_X, _O), (_O, _X)] * 5:
        following: set[tuple[int, ...]] = set()
        for board in boards:
            won = any(all(board[square] == other for square in line) for line in _LINES)
            if won or _BLANK not in board:
                ends[board] = won and other == _X
                continue
            free = (square for square in range(9) if board[square] == _BLANK)
            following |= {(*board[:square], mover, *board[square + 1 :]) for square in free}
        boards = following
    return ends


_KINDS = {
    "honest": (2000, 5.0, 0.5, 0.5, 6.0, 0.5),
    "careless": (3500, 10.0, 2.5, 0.2, 9.0, 1.0),
    "staged": (2000, 5.0, 0.0, 1.0, 2.0, 0.5),
}
"""The means of the columns for each kind of claim."""

_WRONG = 0.2


def insurance_claims(n: int = 20_000, seed: Seed = 0, *, staged: float = 0.1) -> Dataset:
    """Return simulated insurance claims: which of them can be paid without review?

    No real claim is among the rows; each row is an independent draw from the process below. A claim that is in order
    is positive. One claim in five is wrong, and there are two kinds of wrong claims. Most are careless: the amount is
    large, the claim is late, papers and photos are missing, and the policy is old. A few are staged: their papers are
    better than those of honest claims, and the policy is new. Coefficients that lower the scores of the many careless
    claims raise the scores of the few staged claims, which so reach the top of the list, where claims are paid.

    The process was written for this package, to show when p > 1 helps: a weighted sum of the columns cannot fit both
    kinds at once. With ``staged=0`` there is one kind of wrong claims, and p changes little. The numbers are in
    ``benchmarks/demonstration.py``, beside those of logistic regression.

    Parameters
    ----------
    n : int
        Number of rows, 1 or more.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result.
    staged : float
        The share of the wrong claims that are staged, from 0 to 1.

    Returns
    -------
    Dataset
        `n` rows, 6 columns, about 80 % positives.

    Raises
    ------
    ValueError, TypeError
        If `n` is not an integer of 1 or more, `staged` is not between 0 and 1, or there is no such `seed`.

    Notes
    -----
    A claim is wrong with probability 0.2; a wrong claim is staged with probability `staged`. The columns
    are independent given the kind of the claim. Their means, before rounding:

    =====================  ======  ========  ======  ==================================
    column                 honest  careless  staged  distribution
    =====================  ======  ========  ======  ==================================
    ``amount``             2000    3500      2000    gamma, shape 2, rounded
    ``days to report``     5       10        5       exponential, rounded down
    ``documents missing``  0.5     2.5       0       Poisson
    ``photos``             0.5     0.2       1       1 (there are photos) or 0
    ``years insured``      6       9         2       exponential, rounded to one decimal
    ``earlier claims``     0.5     1         0.5     Poisson
    =====================  ======  ========  ======  ==================================

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> data = pnorm.datasets.insurance_claims()
    >>> data
    <16040 positives and 3960 negatives in 6 columns>
    >>> data.names[:3]
    ('amount', 'days to report', 'documents missing')

    Train on one half, and count the wrong claims among the first 1000 of the other half:

    >>> X, y, held_out, label = data.X[:10_000], data.y[:10_000], data.X[10_000:], data.y[10_000:]
    >>> H = pnorm.rankers.normalized(X[y == 1], X[y == 0])
    >>> for p in (1, 4):
    ...     lam, _ = pnorm.train(X[y == 1], X[y == 0], H, p)
    ...     first = np.argsort(-pnorm.score(held_out, H, lam))[:1000]
    ...     print(f"p = {p}: {(label[first] == 0).sum()} wrong")
    p = 1: 42 wrong
    p = 4: 25 wrong
    """
    n, share, rng = _checks.count(n, "n", 1), _checks.share(staged, "staged"), _checks.generator(seed)
    wrong = rng.random(n) < _WRONG
    kind = np.where(wrong, np.where(rng.random(n) < share, 2, 1), 0)
    amount, days, missing, photos, years, earlier = np.array(list(_KINDS.values())).T[:, kind]
    columns = {
        "amount": rng.gamma(2.0, amount / 2.0).round(),
        "days to report": np.floor(rng.exponential(days)),
        "documents missing": rng.poisson(missing),
        "photos": rng.random(n) < photos,
        "years insured": rng.exponential(years).round(1),
        "earlier claims": rng.poisson(earlier),
    }
    return Dataset(
        X=np.column_stack(list(columns.values())).astype(np.float64),
        y=(~wrong).astype(np.int64),
        names=tuple(columns),
        citation="Simulated by pnorm.datasets.insurance_claims; there are no real claims in it",
    )
