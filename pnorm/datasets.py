"""Data to rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset", "tic_tac_toe"]


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """Rows with labels.

    Attributes
    ----------
    X : ndarray, shape (N, d)
        The rows.
    y : ndarray of int, shape (N,)
        1 for a positive row, 0 for a negative one.
    names : tuple of str
        Names of the d columns.
    citation : str
        Where the data come from.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    names: tuple[str, ...]
    citation: str

    @property
    def pos(self) -> NDArray[np.float64]:
        """The positive rows, (I, d)."""
        return np.asarray(self.X[self.y == 1])

    @property
    def neg(self) -> NDArray[np.float64]:
        """The negative rows, (K, d)."""
        return np.asarray(self.X[self.y == 0])

    def __repr__(self) -> str:
        positives = int(self.y.sum())
        return f"<{positives} positives and {self.y.size - positives} negatives in {self.X.shape[1]} columns>"


_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_O, _X, _BLANK = 0, 1, 2  # the coding of TR2005-874


def tic_tac_toe() -> Dataset:
    """Return all 958 boards on which a game of tic-tac-toe can end.

    x moves first, and a game ends with three in a row or a full board. A board is positive if x has
    three in a row (626 of 958). The columns are the nine squares, row by row from the top left,
    with o = 0, x = 1 and blank = 2 as in TR2005-874. The boards are those of the UCI set
    "Tic-Tac-Toe Endgame"; here they are played out from the rules, in lexicographic order.

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
    """Every board that ends a game, with whether x has won: play on from the empty board, move by move."""
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
