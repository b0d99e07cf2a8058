"""`train` against Figure 1 as printed, round by round."""

import literal
import numpy as np
import pytest
from repeats import each_value

import pnorm

POWERS = [1, 1.5, 2, 4, 16, 64]


def outputs(kind, rng, n_pos=14, n_neg=17, n=5):
    """Outputs that mostly overlap, the positives' a little larger."""
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


@each_value(times=3)
@pytest.mark.parametrize("p", [1, 64])
@pytest.mark.parametrize("selection", ["absolute", "signed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", ["real", "offset", "integer", "binary", "closed", "plus-minus"])
def test_every_round_is_the_literal_one(kind, weighted, selection, p):
    rng = np.random.default_rng([POWERS.index(p), weighted, len(kind)])
    for _ in range(4):
        H_pos, H_neg = outputs(kind, rng)
        c_pos, c_neg = (rng.uniform(0.2, 3, len(H)) if weighted else None for H in (H_pos, H_neg))
        judge = literal.train(H_pos, H_neg, p, 30, selection, c_pos, c_neg)
        lam, trace = pnorm.train(H_pos, H_neg, None, p, 30, selection=selection, pos_weight=c_pos, neg_weight=c_neg)
        assert_same_run(H_pos, H_neg, lam, trace, judge)


@each_value(times=3)
@pytest.mark.parametrize("p", [1.5, 64])
@pytest.mark.parametrize("selection", ["absolute", "signed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", ["real", "offset", "integer", "binary", "closed"])
def test_every_round_with_groups_is_the_literal_one(kind, weighted, selection, p):
    rng = np.random.default_rng([POWERS.index(p), weighted, len(kind), 7])
    for n_groups in (1, 2, 3, 5):
        H_pos, H_neg = outputs(kind, rng, 25, 30)
        groups = [np.r_[np.arange(n_groups), rng.integers(0, n_groups, len(H) - n_groups)] for H in (H_pos, H_neg)]
        c_pos, c_neg = (rng.uniform(0.2, 3, len(H)) if weighted else None for H in (H_pos, H_neg))
        judge = literal.train(H_pos, H_neg, p, 30, selection, c_pos, c_neg, groups=groups)
        lam, trace = pnorm.train(
            H_pos,
            H_neg,
            None,
            p,
            30,
            selection=selection,
            pos_weight=c_pos,
            neg_weight=c_neg,
            pos_group=groups[0],
            neg_group=groups[1],
        )
        assert_same_run(H_pos, H_neg, lam, trace, judge)


@each_value()
@pytest.mark.parametrize("selection", ["absolute", "signed"])
@pytest.mark.parametrize("p", [1.5, 16])
def test_small_groups_of_integers_meet_infinity_as_in_the_literal_one(p, selection):
    rng = np.random.default_rng([int(2 * p), len(selection), 3])
    compared = 0
    statuses = set()
    for _ in range(40):
        n_pos, n_neg, n = (int(x) for x in rng.integers(4, 12, 3) // [1, 1, 3])
        H_pos, H_neg = outputs("integer", rng, n_pos, n_neg, n)
        groups = [np.r_[[0, 1, 2], rng.integers(0, 3, len(H) - 3)] for H in (H_pos, H_neg)]
        try:
            judge = literal.train(H_pos, H_neg, p, 25, selection, groups=groups)
        except RuntimeWarning:  # the weights of all pairs underflow: no judge there
            continue
        compared += 1
        statuses.add(judge.status)
        lam, trace = pnorm.train(
            H_pos, H_neg, None, p, 25, selection=selection, pos_group=groups[0], neg_group=groups[1]
        )
        assert_same_run(H_pos, H_neg, lam, trace, judge)
    assert compared >= 35
    assert len(statuses) >= 2


@pytest.mark.parametrize("selection", ["absolute", "signed"])
@pytest.mark.parametrize("p", [1, 1.5, 4, 16])
def test_long_runs_on_few_rows_of_integers(p, selection):
    # most are quasi-separable: coefficients grow, and the roots lie far out on plateaus
    rng = np.random.default_rng([int(2 * p), len(selection)])
    compared = 0
    for _ in range(12):
        n_pos, n_neg, n = rng.integers(2, 16, 3) // [1, 1, 3] + [0, 0, 1]
        H_pos, H_neg = outputs("integer", rng, n_pos, n_neg, n)
        try:
            judge = literal.train(H_pos, H_neg, p, 60, selection)
        except RuntimeWarning:  # the weights of all pairs underflow: no judge there
            continue
        compared += 1
        lam, trace = pnorm.train(H_pos, H_neg, None, p, 60, selection=selection)
        assert_same_run(H_pos, H_neg, lam, trace, judge)
    assert compared >= 9


@each_value(times=2)
@pytest.mark.parametrize("p", [1, 1.5])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", ["real", "offset", "integer", "binary", "closed", "plus-minus"])
def test_the_largest_edge_of_whatever_sign_as_printed(kind, weighted, p):
    # The judge goes on for 30 rounds. Where ours stops, its steps are zero from there on.
    rng = np.random.default_rng([POWERS.index(p), weighted, len(kind), 1])
    lowered = stopped = 0
    for n in (1, 2, 2, 3, 4):
        H_neg, H_pos = outputs(kind, rng, n=n)  # the positives' are the smaller ones: most edges are negative at first
        c_pos, c_neg = (rng.uniform(0.2, 3, len(H)) if weighted else None for H in (H_pos, H_neg))
        judge = literal.train(H_pos, H_neg, p, 30, "largest", c_pos, c_neg)
        lam, trace = pnorm.train(H_pos, H_neg, None, p, 30, selection="largest", pos_weight=c_pos, neg_weight=c_neg)
        lowered += (trace.step < 0).sum()
        if trace.status == "stationary":
            stopped += 1
            assert np.abs(judge.step[trace.n_iter :]).max() < 1e-8
            judge.status = "stationary"
            for values in (judge.ranker, judge.step, judge.edge, judge.z):
                del values[trace.n_iter :]
            del judge.log_objective[trace.n_iter + 1 :]
        assert_same_run(H_pos, H_neg, lam, trace, judge)
    assert stopped > 0 or kind == "closed"
    assert lowered > 0 or kind == "closed"


def test_the_largest_edge_where_all_are_negative_at_first():
    pos, neg = [[0.1, 0.2], [0.3, 0.4]], [[0.9, 0.8], [0.2, 0.35]]
    runs = {rule: pnorm.train(pos, neg, None, 2, 50, selection=rule) for rule in ("signed", "largest")}
    judge = literal.train(np.array(pos), np.array(neg), 2, 50, "largest")
    assert runs["signed"][1].n_iter == 0
    lam, trace = runs["largest"]
    np.testing.assert_allclose(lam, judge.lam, rtol=1e-9)
    assert trace.ranker.tolist() == [1, 0]
    assert trace.step[0] < -1 < 0 < trace.step[1]
    for _, trace in runs.values():
        assert trace.status == "stationary"
        assert "need not be a minimum" in trace.message


@pytest.mark.parametrize("p", POWERS)
def test_a_ranker_that_separates_ends_the_run_as_in_the_literal_one(p):
    H_pos = np.array([[0.3, 0.2, 1.0], [0.1, 0.9, 0.8], [0.6, 0.4, 0.9]])
    H_neg = np.array([[0.2, 0.5, 0.1], [0.5, 0.3, 0.7]])
    for H in ((H_pos, H_neg), (-H_pos, -H_neg)):
        judge = literal.train(*H, p, 10)
        lam, trace = pnorm.train(*H, None, p, 10)
        assert judge.status == "separable"
        assert_same_run(*H, lam, trace, judge)


@each_value(times=2)
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("flip", [1, -1])
@pytest.mark.parametrize("p", POWERS)
def test_a_ranker_whose_infimum_is_at_infinity_steps_as_in_the_literal_one(p, flip, binary):
    # 1 on all positives and on some negatives; then 0 on all negatives and on some positives.
    H_pos = np.array([[1.0, 0, 0.2], [1, 1, 0.9], [1, 0.5, 0.1]])
    H_neg = np.array([[1.0, 0, 0.5], [0, 0, 0.4], [0.5, 0, 0.6]])
    if binary:
        H_pos[:, :2], H_neg[:, :2] = np.round(H_pos[:, :2]), np.round(H_neg[:, :2])
    H_pos, H_neg = flip * H_pos, flip * H_neg
    judge = literal.train(H_pos, H_neg, p, 4)
    lam, trace = pnorm.train(H_pos, H_neg, None, p, 4)
    assert 0 in judge.ranker or 1 in judge.ranker
    assert_same_run(H_pos, H_neg, lam, trace, judge)


def test_p_1_with_binary_rankers_is_rankboost():
    # alpha = ln(W+ / W-) / 2, where W+ and W- weigh the pairs that h orders rightly and wrongly
    H_pos, H_neg = outputs("binary", np.random.default_rng(1))
    d = np.full((len(H_pos), len(H_neg)), 1 / (len(H_pos) * len(H_neg)))
    _, trace = pnorm.train(H_pos, H_neg, None, 1, 25)
    for j, step in zip(trace.ranker, trace.step, strict=True):
        M = H_pos[:, j][:, None] - H_neg[:, j]
        np.testing.assert_allclose(step, 0.5 * np.log(d[M > 0].sum() / d[M < 0].sum()), rtol=1e-9)
        d *= np.exp(-step * M)
        d /= d.sum()
