"""What `train`, `score` and `Trace` promise, beyond the algorithm itself."""

import sys

import numpy as np
import pytest
from facts import raises
from repeats import each_value

import pnorm


def problem(seed=0, n_pos=60, n_neg=80, n=7):
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.3, 1, (n_pos, n)), rng.normal(0, 1, (n_neg, n))
    mix = rng.normal(size=(n, n))  # correlated columns, so that descent takes its time
    return pos @ mix, neg @ mix


@pytest.mark.parametrize("selection", ["absolute", "signed"])
@pytest.mark.parametrize("p", [1, 4, 64])
def test_a_warm_start_continues_the_run(p, selection):
    pos, neg = problem()
    whole, trace = pnorm.train(pos, neg, p=p, t_max=200, selection=selection, tol=0)
    half, first = pnorm.train(pos, neg, p=p, t_max=100, selection=selection, tol=0)
    lam, second = pnorm.train(pos, neg, p=p, t_max=100, selection=selection, tol=0, init=half)
    assert trace.n_iter == first.n_iter + second.n_iter
    np.testing.assert_array_equal(np.concatenate([first.ranker, second.ranker]), trace.ranker)
    np.testing.assert_allclose(lam, whole, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(second.log_objective, trace.log_objective[first.n_iter :], rtol=1e-12)


def test_descent_reaches_the_minimum_where_there_is_one():
    pos, neg = problem(2)
    lam, trace = pnorm.train(pos, neg, p=4, t_max=100_000)
    assert trace.status == "stationary"
    u, w = np.exp(-pos @ lam), np.exp(4 * (neg @ lam))
    np.testing.assert_allclose(pos.T @ u / u.sum(), neg.T @ w / w.sum(), atol=1e-9)  # the gradient is zero


def test_a_larger_p_puts_more_positives_on_top_where_there_is_a_choice():
    # x0 orders more pairs, but some negatives are far out on it; x1 orders fewer, and its top is clean
    rng = np.random.default_rng(4)
    pos = np.column_stack([rng.normal(1.5, 1, 400), rng.normal(0.6, 1, 400)])
    neg = np.column_stack([rng.normal(0, 1, 600), np.minimum(rng.normal(0, 1, 600), 0.9)])
    neg[:12, 0] += 4
    top, auc = [], []
    for p in (1, 4, 64):
        lam, _ = pnorm.train(pos, neg, p=p)
        top.append(pnorm.metrics.positives_at_top(pos @ lam, neg @ lam))
        auc.append(pnorm.metrics.auc(pos @ lam, neg @ lam))
    assert top[0] < top[1] < top[2]
    assert auc[0] > auc[1] > auc[2]


def test_signed_selection_never_lowers_a_coefficient():
    pos, neg = problem(3)
    lam, trace = pnorm.train(pos, neg, p=2, t_max=500, selection="signed")
    assert (trace.step > 0).all()
    assert (lam >= 0).all()
    assert trace.status == "stationary"
    u, w = np.exp(-pos @ lam), np.exp(2 * (neg @ lam))
    assert (pos.T @ u / u.sum() - neg.T @ w / w.sum() <= 1e-9).all()


@each_value()
@pytest.mark.parametrize("selection", ["signed", "largest"])
@pytest.mark.parametrize("p", [1, 4])
def test_no_increase_lowers_the_objective_where_these_rules_stop(p, selection):
    rng = np.random.default_rng(5)
    above = 0
    for seed in range(4):
        neg, pos = problem(seed, n=4) if selection == "largest" else problem(seed, n=4)[::-1]
        lam, trace = pnorm.train(pos, neg, p=p, t_max=20_000, selection=selection)
        assert trace.status == "stationary"

        def log_f(lam, pos=pos, neg=neg):
            return p * np.logaddexp.reduce(-pos @ lam) + np.logaddexp.reduce(p * (neg @ lam))

        for scale in (1e-6, 1e-3, 1.0):
            for delta in scale * rng.exponential(size=(30, 4)) * rng.integers(0, 2, (30, 4)):
                assert log_f(lam + delta) >= trace.log_objective[-1] - 1e-9
        minimum = pnorm.minimize(pos, neg, p=p)[1].log_objective[-1]
        lowest = trace.log_objective[-1] > minimum + 1e-6
        assert lowest == ("need not be a minimum" in trace.message)
        above += lowest
    assert above > 0


@pytest.mark.parametrize("p", [1, 4, 64])
def test_a_round_lowers_the_objective_by_as_much_as_its_edge_promises(p):
    for seed in range(4):
        neg, pos = problem(seed, n=4)
        r = np.ptp(np.concatenate([pos, neg]), axis=0)
        for selection in ("absolute", "signed", "largest"):
            _, trace = pnorm.train(pos, neg, p=p, t_max=50, selection=selection)
            promised = 2 * p * trace.edge**2 / ((p + 1) * r[trace.ranker] ** 2)
            assert (-np.diff(trace.log_objective) >= promised - 1e-12).all()


def test_the_largest_edge_lowers_a_coefficient_at_the_start_only():
    down = 0
    for seed in range(10):
        neg, pos = problem(seed, n=3)
        _, trace = pnorm.train(pos, neg, p=2, t_max=300, selection="largest")
        assert (trace.step[1:] > 0).all()
        if trace.step[0] < 0:
            down += 1
            _, rest = pnorm.train(pos, neg, p=2, t_max=299, selection="signed", init=trace.lam_at(1))
            np.testing.assert_array_equal(rest.ranker, trace.ranker[1:])
        else:
            _, signed = pnorm.train(pos, neg, p=2, t_max=300, selection="signed")
            np.testing.assert_array_equal(signed.step, trace.step)
    assert 0 < down < 10


def test_signed_selection_keeps_a_coefficient_that_has_become_too_large():
    from scipy.optimize import minimize

    pos, neg = problem(0, n=3)
    lam, trace = pnorm.train(pos, neg, p=2, t_max=5000, selection="signed")
    found = minimize(
        lambda lam: 2 * np.logaddexp.reduce(-pos @ lam) + np.logaddexp.reduce(2 * (neg @ lam)),
        lam,
        bounds=[(0, None)] * 3,
        method="L-BFGS-B",
    )
    assert trace.status == "stationary"
    assert found.fun < trace.log_objective[-1] - 1e-4


def test_a_constant_ranker_has_the_largest_edge_where_all_others_are_negative():
    _, trace = pnorm.train([[1.0, 0.0], [2.0, 0.0]], [[3.0, 0.0], [1.5, 0.0]], selection="largest")
    assert trace.n_iter == 0
    assert trace.status == "stationary"
    assert "x0 has an edge of" in trace.message


def test_tol_ends_the_run():
    pos, neg = problem()
    _, trace = pnorm.train(pos, neg, t_max=5000, tol=0.01)
    assert trace.status == "stationary"
    assert "0.01" in trace.message
    assert (np.abs(trace.edge) > 0.01 * np.ptp(np.concatenate([pos, neg]), axis=0)[trace.ranker]).all()


def test_no_rounds():
    pos, neg = problem()
    lam, trace = pnorm.train(pos, neg, t_max=0)
    assert (lam == 0).all()
    assert trace.status == "t_max"
    assert trace.n_iter == 0
    assert trace.log_objective == pytest.approx([np.log(len(pos) * len(neg))])


def test_the_callback_sees_every_round_and_can_stop():
    pos, neg = problem()
    seen = []

    def callback(trace):
        seen.append((trace.n_iter, trace.status, trace.log_objective[-1], trace.lam_at(trace.n_iter)))
        return trace.n_iter == 130

    lam, trace = pnorm.train(pos, neg, p=2, callback=callback, t_max=500)
    assert trace.status == "callback"
    assert [n for n, *_ in seen] == list(range(1, 131))
    assert {status for _, status, *_ in seen} == {"running"}
    np.testing.assert_array_equal([value for *_, value, _ in seen], trace.log_objective[1:])
    np.testing.assert_array_equal(seen[-1][3], lam)


def test_a_callback_that_returns_none_does_not_stop():
    pos, neg = problem()
    assert pnorm.train(pos, neg, t_max=7, callback=lambda trace: None)[1].n_iter == 7


def test_a_trace_is_read_only_and_of_the_promised_shape():
    lam, trace = pnorm.train(*problem(), t_max=20)
    assert lam.dtype == np.float64
    for array in (trace.ranker, trace.step, trace.edge, trace.z):
        assert array.shape == (trace.n_iter,)
    assert trace.log_objective.shape == (trace.n_iter + 1,)
    with pytest.raises(ValueError, match="read-only"):
        trace.step[0] = 1
    with pytest.raises(AttributeError):
        trace.status = "mine"
    assert repr(trace).startswith("<Trace: t_max after 20 rounds, log F_p 8.4")
    with raises(ValueError, "t must be at most the number of rounds, 20; got 21"):
        trace.lam_at(21)
    with raises(ValueError, "t must be at least 0; got -1"):
        trace.lam_at(-1)


def test_progress_shows_the_rounds(capsys):
    pytest.importorskip("tqdm")
    pnorm.train(*problem(), t_max=12, progress=True)
    assert "12/12" in capsys.readouterr().err


def test_progress_without_tqdm_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with raises(
        ImportError, r'needs tqdm\. Install it with: pip install "pnorm-push\[progress\]" \(or: pip install tqdm\)'
    ):
        pnorm.train(*problem(), progress=True)


def test_inputs_are_not_modified():
    pos, neg = problem()
    arguments = [pos, neg, np.ones(len(pos)), np.ones(len(neg)), np.full(pos.shape[1], 0.1)]
    copies = [a.copy() for a in arguments]
    for a in arguments:
        a.flags.writeable = False
    lam, _ = pnorm.train(pos, neg, pos_weight=arguments[2], neg_weight=arguments[3], init=arguments[4])
    pnorm.score(pos, None, lam)
    for a, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(a, copy)
    assert not np.shares_memory(lam, arguments[4])


def test_score_is_the_linear_combination():
    pos, neg = problem()
    lam, _ = pnorm.train(pos, neg, t_max=5)
    np.testing.assert_allclose(pnorm.score(pos, None, lam), pos @ lam)
    H = pnorm.rankers.callables([lambda X: X[:, 0], lambda X: 1 / 0])
    np.testing.assert_array_equal(pnorm.score(pos, H, [2.0, 0.0]), 2 * pos[:, 0])  # the second is never asked


@pytest.mark.parametrize("values", [2, None])
def test_a_run_says_whether_its_scores_separate(values):
    rng, told = np.random.default_rng(9), []
    for _ in range(150):
        sides = rng.normal(0.8, 1, (6, 5)), rng.normal(-0.8, 1, (5, 5))
        if values is not None:
            sides = [np.clip(np.round(side), 1 - values, 0) for side in sides]
        lam, trace = pnorm.train(*sides, None, float(rng.choice([1, 2, 16])), int(rng.integers(0, 30)), n_threads=1)
        pos, neg = [side @ lam for side in sides]
        if trace.status == "t_max" and abs(pos.min() - neg.max()) > 1e-9:
            told.append("no minimiser exists" in trace.message)
            assert told[-1] == (pos.min() > neg.max())
    assert min(told.count(True), told.count(False)) > 5


# Query groups


def grouped(seed=0, n_groups=4):
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.3, 1, (40, 3)), rng.normal(0, 1, (60, 3))
    return pos, neg, rng.integers(0, n_groups, 40), rng.integers(0, n_groups, 60)


@pytest.mark.parametrize("p", [1, 4, 16])
def test_one_group_is_no_group(p):
    pos, neg, _, _ = grouped()
    for H in (None, pnorm.rankers.quantile_thresholds(pos, neg, 7)):
        lam, trace = pnorm.train(pos, neg, H, p, 30)
        same, again = pnorm.train(pos, neg, H, p, 30, pos_group=["q"] * 40, neg_group=["q"] * 60)
        np.testing.assert_array_equal(again.ranker, trace.ranker)
        np.testing.assert_allclose(same, lam, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(again.log_objective, trace.log_objective, rtol=1e-12)
        np.testing.assert_allclose(again.z, trace.z, rtol=1e-9)


def test_labels_may_be_anything_hashable_and_rows_in_any_order():
    pos, neg, a, b = grouped()
    lam, _ = pnorm.train(pos, neg, None, 3, 25, pos_group=a, neg_group=b)
    names = np.array(["x", "y", "z", "w"], dtype=object)
    i, k = np.random.default_rng(1).permutation(40), np.random.default_rng(2).permutation(60)
    same, _ = pnorm.train(pos[i], neg[k], None, 3, 25, pos_group=names[a[i]], neg_group=list(names[b[k]]))
    np.testing.assert_allclose(same, lam, rtol=1e-9)
    tuples, _ = pnorm.train(pos, neg, None, 3, 25, pos_group=[(g, 1) for g in a], neg_group=[(g, 1) for g in b])
    np.testing.assert_array_equal(tuples, lam)


def test_groups_of_one_side_count_for_nothing():
    pos, neg, a, b = grouped()
    lam, trace = pnorm.train(pos, neg, None, 3, 25, pos_group=a, neg_group=b)
    more_pos, more_neg = np.r_[pos, 9 * pos[:5]], np.r_[neg, -7 * neg[:3]]
    same, again = pnorm.train(
        more_pos, more_neg, None, 3, 25, pos_group=np.r_[a, [7] * 5], neg_group=np.r_[b, [8, 8, 9]]
    )
    np.testing.assert_array_equal(same, lam)
    weights = np.r_[np.ones(40), np.zeros(5)]  # a weight of zero makes the group one-sided as well
    same, again = pnorm.train(more_pos, neg, None, 3, 25, pos_weight=weights, pos_group=np.r_[a, [7] * 5], neg_group=b)
    np.testing.assert_allclose(same, lam, rtol=1e-12)
    assert again.status == trace.status


def test_rankers_that_separate_within_groups_only():
    # across groups the offset of the second group puts its negatives above the positives of the first
    pos, neg = np.array([[1.0], [2.0], [11.0]]), np.array([[0.5], [10.0], [10.5]])
    groups = {"pos_group": [0, 0, 1], "neg_group": [0, 1, 1]}
    lam, trace = pnorm.train(pos, neg, None, 2, 10, **groups)
    assert trace.status == "separable"
    f_pos, f_neg = pos @ lam, neg @ lam
    assert min(f_pos[0] - f_neg[0], f_pos[1] - f_neg[0], f_pos[2] - f_neg[2]) == pytest.approx(1.0)
    assert pnorm.train(pos, neg, None, 2, 10)[1].status != "separable"


@pytest.mark.parametrize("H", [None, "thresholds"])
def test_descent_with_groups_approaches_the_minimiser(H):
    pos, neg, a, b = grouped(3)
    if H:
        pos, neg = np.round(pos), np.round(neg)
        H = pnorm.rankers.thresholds([[-0.5, 0.5]] * 3)
    groups = {"pos_group": a, "neg_group": b}
    _, trace = pnorm.train(pos, neg, H, 4, 3000, **groups)
    _, newton = pnorm.minimize(pos, neg, H, 4, **groups)
    assert newton.status == "converged"
    assert trace.log_objective[-1] == pytest.approx(newton.log_objective[-1], abs=1e-7)
    assert (np.diff(trace.log_objective) <= 1e-12).all()


def test_groups_are_checked():
    pos, neg, a, b = grouped()
    for arguments, message in [
        ({"pos_group": a}, "pos_group is given and neg_group is not"),
        ({"pos_group": a[:-1], "neg_group": b}, "pos_group must hold one label per row, 40; got 39"),
        ({"pos_group": a, "neg_group": b + 10}, "share no label"),
        ({"pos_group": [None] * 40, "neg_group": b}, "pos_group has None at row 0"),
        ({"pos_group": a, "neg_group": [float("nan")] * 60}, "neg_group has nan at row 0"),
    ]:
        with raises(ValueError, message):
            pnorm.train(pos, neg, None, 2, 5, **arguments)
    with pytest.raises(TypeError, match="must be hashable"):
        pnorm.train(pos, neg, None, 2, 5, pos_group=[[g] for g in a], neg_group=b)
    for label in (3, np.int64(3)):
        with raises(TypeError, "pos_group must be a sequence of one label per row"):
            pnorm.train(pos, neg, None, 2, 5, pos_group=label, neg_group=b)


def test_z_may_be_more_than_a_double_holds():
    _, trace = pnorm.train([[0.0, 0], [1, 2], [0, 1]], [[2.0, 1], [1, 0]], None, 16, 300)
    assert trace.n_iter > 200
    assert (trace.z >= 0).all()


def test_groups_whose_scores_are_very_large():
    A = [[0.0, 2, 1, 1], [1, 2, 2, 2], [0, 0, 2, 1], [2, 0, 0, 1], [0, 1, 1, 0]]
    B = [[2.0, 2, 0, 2], [1, 2, 1, 1], [2, 1, 0, 1]]
    _, trace = pnorm.train(A, B, None, 16, 200, pos_group=[0, 1, 1, 0, 1], neg_group=[0, 1, 0])
    assert (np.diff(trace.log_objective) < 1e-9 * np.abs(trace.log_objective[1:])).all()


@pytest.mark.parametrize("scale", [1e-140, 1e140, 1e300])
def test_columns_of_any_scale(scale):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.3, 1, (60, 3)), rng.normal(0, 1, (50, 3))
    for A, B in ((pos, neg), (pos.round(), neg.round())):
        lam, trace = pnorm.train(A, B, None, 4, 12, tol=0)
        scaled, again = pnorm.train(A * scale, B * scale, None, 4, 12, tol=0)
        np.testing.assert_array_equal(again.ranker, trace.ranker)
        np.testing.assert_allclose(scaled * scale, lam, rtol=1e-6)


@pytest.mark.parametrize("power", [-300, -260, -240, 250, 260, 300])
def test_columns_times_a_power_of_two_have_steps_over_it(power):
    rng = np.random.default_rng(3)
    pos, neg = rng.normal(size=(2, 30, 2))
    _, trace = pnorm.train(pos, neg, p=4, t_max=6, tol=0)
    _, scaled = pnorm.train(pos * 2.0**power, neg * 2.0**power, p=4, t_max=6, tol=0)
    np.testing.assert_array_equal(scaled.step * 2.0**power, trace.step)
