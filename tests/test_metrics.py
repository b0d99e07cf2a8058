"""Measures against brute force and scikit-learn."""

import numpy as np
import pytest

import pnorm


@pytest.mark.parametrize("levels", [2, 5, 10**6])
@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 1), (1, 30), (40, 1), (25, 33)])
def test_against_every_pair(n_pos, n_neg, levels):
    rng = np.random.default_rng(levels)
    for _ in range(20):
        f_pos, f_neg = rng.integers(0, levels, n_pos) / 7, rng.integers(0, levels, n_neg) / 7
        wins = sum((a > b) + 0.5 * (a == b) for a in f_pos for b in f_neg)
        assert pnorm.metrics.auc(f_pos, f_neg) == pytest.approx(wins / (n_pos * n_neg), rel=1e-14)
        above_all = sum(all(a > b for b in f_neg) for a in f_pos)
        assert pnorm.metrics.positives_at_top(f_pos, f_neg) == above_all


def test_auc_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    f_pos, f_neg = rng.integers(0, 50, 300), rng.integers(0, 45, 500)
    y, f = np.repeat([1, 0], [300, 500]), np.concatenate([f_pos, f_neg])
    assert pnorm.metrics.auc(f_pos, f_neg) == pytest.approx(metrics.roc_auc_score(y, f), rel=1e-14)


def test_a_tie_with_the_best_negative_is_not_at_the_top():
    assert pnorm.metrics.positives_at_top([2, 2, 3], [2, 1]) == 1
    assert pnorm.metrics.positives_at_top([2.0], [2.0]) == 0
