"""`train` against Figure 1 as printed, round by round."""

import literal
import numpy as np
import pytest

import pnorm

POWERS = [1, 1.5, 2, 4, 16, 64]


def outputs(kind, rng, n_pos=9, n_neg=12, n=6):
    """Outputs that overlap on every column; a shift makes positives a little better."""
    if kind == "real":
        return rng.normal(0.3, 1, (n_pos, n)), rng.normal(0, 1, (n_neg, n))
    if kind == "offset":
        return rng.normal(0.3, 1, (n_pos, n)) + 50, rng.normal(0, 1, (n_neg, n)) + 50
    if kind == "integer":
        return rng.integers(0, 4, (n_pos, n)).astype(float), rng.integers(0, 3, (n_neg, n)).astype(float)
    H_pos, H_neg = rng.random((n_pos, n)) < 0.6, rng.random((n_neg, n)) < 0.4
    H = np.concatenate([H_pos, H_neg]).astype(float)
    if kind == "closed":
        H = np.concatenate([H, 1 - H], axis=1)
    if kind == "plus-minus":
        H = 2 * H - 1
    return H[:n_pos], H[n_pos:]


def assert_same_run(H_pos, H_neg, lam, trace, judge):
    assert trace.status == judge.status
    np.testing.assert_array_equal(trace.ranker, judge.ranker)
    for name in ("step", "edge", "z", "log_objective"):
        np.testing.assert_allclose(getattr(trace, name), getattr(judge, name), rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(lam, judge.lam, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("selection", ["absolute", "signed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", ["real", "offset", "integer", "binary", "closed", "plus-minus"])
def test_every_round_is_the_literal_one(kind, weighted, selection, p):
    rng = np.random.default_rng([POWERS.index(p), weighted, len(kind)])
    for _ in range(4):
        H_pos, H_neg = outputs(kind, rng)
        c_pos, c_neg = (rng.uniform(0.2, 3, len(H)) if weighted else None for H in (H_pos, H_neg))
        judge = literal.train(H_pos, H_neg, p, 30, selection, c_pos, c_neg)
        lam, trace = pnorm.train(
            H_pos, H_neg, None, p, 30, selection=selection, pos_weight=c_pos, neg_weight=c_neg
        )
        assert_same_run(H_pos, H_neg, lam, trace, judge)
