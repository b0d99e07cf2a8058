"""Embedded data."""

import os
from pathlib import Path

import numpy as np
import pytest

import pnorm


def test_tic_tac_toe_is_958_distinct_boards_of_which_x_wins_626():
    data = pnorm.datasets.tic_tac_toe()
    assert data.X.shape == (958, 9)
    assert len(data.names) == len(set(data.names)) == 9
    assert len({tuple(board) for board in data.X}) == 958
    assert (len(data.pos), len(data.neg)) == (626, 332)
    assert "10.24432/C5688J" in data.citation


def test_tic_tac_toe_follows_the_rules():
    data = pnorm.datasets.tic_tac_toe()
    lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
    for board, label in zip(data.X, data.y, strict=True):
        x, o = (board == 1).sum(), (board == 0).sum()
        x_wins, o_wins = (any((board[line] == mark).all() for line in lines) for mark in (1, 0))
        assert label == x_wins
        assert x - o in (0, 1)
        assert not (x_wins and o_wins)
        assert x_wins or o_wins or (board != 2).all()
        if x_wins:
            assert x == o + 1
        if o_wins:
            assert x == o


def test_tic_tac_toe_is_the_set_at_uci():
    home = os.environ.get("PNORM_DATA")
    path = Path(home or "") / "tic-tac-toe.data"
    if not home or not path.exists():
        pytest.skip("PNORM_DATA does not name a folder with tic-tac-toe.data")
    code = {"o": 0, "x": 1, "b": 2, "positive": 1, "negative": 0}
    theirs = {tuple(code[word] for word in line.split(",")) for line in path.read_text().split()}
    data = pnorm.datasets.tic_tac_toe()
    ours = {tuple(int(v) for v in (*board, label)) for board, label in zip(data.X, data.y, strict=True)}
    assert ours == theirs


def test_each_call_returns_data_of_its_own():
    first = pnorm.datasets.tic_tac_toe()
    first.X[:] = 9
    assert np.isin(pnorm.datasets.tic_tac_toe().X, [0, 1, 2]).all()
