"""Linear ranking of lists: losses and surrogates pair by pair and over all permutations, and training."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from facts import raises, warns
from hypothesis import given
from hypothesis import strategies as st
from repeats import each_value, examples
from scipy.optimize import linprog
from scipy.stats import kendalltau
from sklearn.metrics import ndcg_score

import pnorm
from pnorm import listwise

LISTS = st.integers(1, 12).flatmap(
    lambda r: st.tuples(
        st.lists(st.integers(-20, 20).map(lambda x: x / 8), min_size=r, max_size=r),  # gaps of exactly 1 are common
        st.lists(st.integers(0, 4), min_size=r, max_size=r),
    )
)


def literal_tau(f, y):
    """The printed double sums, for the loss and its surrogate."""
    r = len(f)
    pairs = [(i, j) for i in range(r - 1) for j in range(i + 1, r) if y[i] != y[j]]
    wrong = sum(np.sign(f[i] - f[j]) != np.sign(y[i] - y[j]) for i, j in pairs)
    hinge = sum(max(0.0, 1.0 - np.sign(y[i] - y[j]) * (f[i] - f[j])) for i, j in pairs)
    return [2 / (r * (r - 1)) * x if r > 1 else 0.0 for x in (wrong, hinge)]


def literal_ndcg(f, y, k=None, gain=lambda y: y, discount=lambda s: 1 / np.log2(1 + s)):
    """1 - NDCG, as a mean over all ways to break ties of the scores, and the bound over all permutations."""
    r = len(f)
    gains = [float(gain(v)) for v in y]
    by_rank = [discount(s) if k is None or s <= k else 0.0 for s in range(1, r + 1)]

    def worth(ranks):
        return sum(by_rank[s] * gains[i] for i, s in enumerate(ranks))

    orders = list(itertools.permutations(range(r)))  # the rank of every row, from 0
    best = max(worth(ranks) for ranks in orders)
    if best - min(worth(ranks) for ranks in orders) <= 1e-12 * best:  # any order will do
        return 0.0, 0.0

    def sorts(ranks, x):
        return all(ranks[i] < ranks[j] for i in range(r) for j in range(r) if x[i] > x[j])

    sorting = [ranks for ranks in orders if sorts(ranks, f)]
    loss = 1 - np.mean([worth(ranks) for ranks in sorting]) / best
    of_y = [ranks for ranks in orders if sorts(ranks, y)]
    places = r - np.mean(of_y, axis=0)  # r for the first
    bound = max(1 - worth(ranks) / best + (r - np.array(ranks) - places) @ f for ranks in orders)
    return loss, bound


# Kendall's tau ----------------------------------------------------------------------------------------


@examples(30)
@given(LISTS)
def test_kendalls_loss_and_surrogate_are_the_double_sums(case):
    f, y = case
    loss, hinge = literal_tau(f, y)
    assert listwise.kendall_tau_loss(f, y) == pytest.approx(loss, abs=1e-14)
    value, grad = listwise.kendall_tau_hinge(f, y)
    assert value == pytest.approx(hinge, abs=1e-13)
    assert loss <= value + 1e-13
    assert abs(grad.sum()) < 1e-13


@examples(20)
@given(LISTS, st.integers(0, 2**32))
def test_the_slope_of_kendalls_surrogate_is_a_subgradient(case, seed):
    f, y = np.array(case[0]), case[1]
    value, grad = listwise.kendall_tau_hinge(f, y)
    for scale in (1e-3, 1.0, 10.0):
        other = f + scale * np.random.default_rng(seed).normal(size=f.size)
        assert listwise.kendall_tau_hinge(other, y)[0] >= value + grad @ (other - f) - 1e-12


@each_value()
@pytest.mark.parametrize("n_grades", [1, 2, 3, 10, 400])
@pytest.mark.parametrize("unit", [0.01, 1.0, 1e6])
def test_long_lists_of_few_and_of_many_grades(n_grades, unit):
    generator = np.random.default_rng(n_grades)
    f, y = generator.normal(size=400) * unit + 1e3 * unit, generator.integers(0, n_grades, 400) ** 2
    z = np.sign(y[:, None] - y) * (f[:, None] - f)
    pairs = np.triu(y[:, None] != y)
    value, grad = listwise.kendall_tau_hinge(f, y)
    size = 400 * 399 / 2
    assert listwise.kendall_tau_loss(f, y) == pytest.approx((pairs & (z <= 0)).sum() / size, rel=1e-15)
    assert value == pytest.approx(np.maximum(0, 1 - z)[pairs].sum() / size, rel=1e-12)
    near = (y[:, None] > y) & (z < 1)
    np.testing.assert_allclose(grad * size, near.sum(axis=0) - near.sum(axis=1), atol=1e-9)


def test_a_grade_that_most_rows_have_does_not_make_the_parts_deep():
    generator = np.random.default_rng(0)
    for y in (np.r_[np.zeros(50_000), np.arange(50)], np.r_[np.arange(50), np.full(50_000, 60)]):
        f = generator.normal(size=y.size)
        pos, neg = (f[y > 25], f[y <= 25]) if y[-1] == 49 else (f[y > 55], f[y <= 55])
        assert listwise.kendall_tau_loss(f, y) > 0
        two = listwise.kendall_tau_hinge(f, (y > 25) if y[-1] == 49 else (y > 55))[0] * y.size * (y.size - 1) / 2
        assert two == pytest.approx(math.exp(pnorm.objectives.value(pos, neg, loss="hinge")), rel=1e-11)


def test_without_ties_the_loss_is_kendalls_tau():
    generator = np.random.default_rng(1)
    f, y = generator.normal(size=60), generator.permutation(60)
    assert 1 - 2 * listwise.kendall_tau_loss(f, y) == pytest.approx(kendalltau(f, y).statistic)


def test_equal_scores_of_different_grades_are_wrong():
    assert listwise.kendall_tau_loss([1.0, 1.0], [0, 1]) == 1.0
    assert listwise.kendall_tau_loss([1.0, 1.0], [1, 1]) == 0.0
    assert listwise.kendall_tau_loss([1.0], [1]) == 0.0


def test_the_surrogate_changes_with_w_by_no_more_than_the_rows_differ():
    generator = np.random.default_rng(2)
    for _ in range(50):
        X, y = generator.normal(size=(8, 3)), generator.integers(0, 3, 8)
        widest = max(np.linalg.norm(a - b) for a in X for b in X)
        a, b = generator.normal(size=(2, 3))
        change = abs(listwise.kendall_tau_hinge(X @ a, y)[0] - listwise.kendall_tau_hinge(X @ b, y)[0])
        assert change <= widest * np.linalg.norm(a - b) + 1e-12


def test_two_grades_are_the_objective_of_training_with_the_hinge():
    data = pnorm.datasets.tic_tac_toe()
    pos, neg = data.pos[:200], data.neg[:150]
    H = pnorm.rankers.normalized(pos, neg)
    lam, trace = pnorm.train(pos, neg, H, loss="hinge", price=pnorm.objectives.Linear(), t_max=30)
    f = np.concatenate([pnorm.score(side, H, lam) for side in (pos, neg)])
    y, pairs = np.repeat([1, 0], [200, 150]), 350 * 349 / 2
    value, grad = listwise.kendall_tau_hinge(f, y)
    assert value * pairs == pytest.approx(math.exp(trace.log_objective[-1]), rel=1e-12)
    log_r, A, B = pnorm.objectives.value_and_weights(f[:200], f[200:], loss="hinge")
    np.testing.assert_allclose(grad * pairs, np.r_[-A, B] * math.exp(log_r), atol=1e-8)


# NDCG -------------------------------------------------------------------------------------------------


@examples(6)
@given(
    st.integers(1, 5).flatmap(
        lambda r: st.tuples(
            st.lists(st.integers(-12, 12).map(lambda x: x / 8), min_size=r, max_size=r),
            st.lists(st.integers(0, 3), min_size=r, max_size=r),
        )
    ),
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["linear", "exponential"]),
)
def test_ndcg_and_its_bound_are_those_over_all_permutations(case, k, gain):
    f, y = case
    loss, bound = literal_ndcg(f, y, k, {"linear": lambda y: y, "exponential": lambda y: 2**y - 1}[gain])
    assert listwise.ndcg_loss(f, y, k, gain=gain) == pytest.approx(loss, abs=1e-12)
    assert listwise.ndcg(f, y, k, gain=gain, empty=1) == pytest.approx(1 - loss, abs=1e-12)
    value, grad = listwise.ndcg_hinge(f, y, k, gain=gain)
    assert value == pytest.approx(bound, abs=1e-12)
    assert loss <= value + 1e-12
    assert abs(grad.sum()) < 1e-9


@pytest.mark.parametrize("ties", [False, True])
def test_lists_of_seven_over_all_permutations(ties):
    generator = np.random.default_rng(3)
    for _ in range(4):
        f, y = generator.normal(size=7), generator.permutation(7) % (3 if ties else 7)
        loss, bound = literal_ndcg(f, y)
        assert listwise.ndcg_loss(f, y) == pytest.approx(loss, abs=1e-12)
        assert listwise.ndcg_hinge(f, y)[0] == pytest.approx(bound, abs=1e-12)


@examples(10)
@given(LISTS, st.integers(0, 2**32), st.sampled_from([None, 3]))
def test_the_bound_of_ndcg_is_convex_and_above_it(case, seed, k):
    f, y = np.array(case[0]), case[1]
    value, grad = listwise.ndcg_hinge(f, y, k)
    assert value >= listwise.ndcg_loss(f, y, k) - 1e-12
    for scale in (1e-3, 1.0, 10.0):
        other = f + scale * np.random.default_rng(seed).normal(size=f.size)
        assert listwise.ndcg_hinge(other, y, k)[0] >= value + grad @ (other - f) - 1e-9
    assert listwise.ndcg_hinge(f + 1e3, y, k)[0] == pytest.approx(value, abs=1e-9)


@each_value()
@pytest.mark.parametrize("k", [None, 1, 5, 50])
@pytest.mark.parametrize("rounded", [False, True])
def test_ndcg_is_scikit_learns(k, rounded):
    generator = np.random.default_rng(4)
    for _ in range(20):
        f, y = generator.normal(size=30), generator.integers(0, 4, 30)
        f = f.round() if rounded else f  # ties share the mean of their discounts there, too
        assert listwise.ndcg(f, y, k) == pytest.approx(ndcg_score([y], [f], k=k), abs=1e-12)
        expected = ndcg_score([2.0**y - 1], [f], k=k)
        assert listwise.ndcg(f, y, k, gain="exponential") == pytest.approx(expected, abs=1e-12)


def test_gains_at_the_edge_of_doubles():
    for y in ([1023] * 5 + [0], [1020, 1023, 3, 1023, 0, 1]):
        f = np.arange(6.0)
        loss, bound = literal_ndcg(f, y, gain=lambda y: 2.0 ** (y - 1023) - 2.0**-1023)
        assert listwise.ndcg_loss(f, y, gain="exponential") == pytest.approx(loss)
        assert listwise.ndcg_hinge(f, y, gain="exponential")[0] == pytest.approx(bound)
    assert listwise.ndcg([1, 2, 3], [1.7e308, 1.7e308, 1]) < 0.8
    y, f = np.arange(10), np.arange(10)[::-1]
    expected = listwise.ndcg_hinge(f, y, discount=1 / np.arange(1, 11))
    for unit in (1e308, 1e-307):
        found = listwise.ndcg_hinge(f, y, discount=unit / np.arange(1, 11))
        assert found[0] == pytest.approx(expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
    assert listwise.ndcg([1, 2], [2e-17, 1e-17], gain="exponential") == listwise.ndcg([1, 2], [2, 1])


def test_the_order_by_scores_is_the_largest_sum_of_places():
    # (17.7), by which the surrogate is one
    generator = np.random.default_rng(5)
    for _ in range(20):
        f = generator.normal(size=6)
        best = max(itertools.permutations(range(1, 7)), key=lambda v: np.dot(v, f))
        np.testing.assert_array_equal(np.argsort(best), np.argsort(f))


def test_gains_and_discounts_of_ones_own():
    f, y = [0.3, 0.1, 0.2], [2, 1, 0]
    linear = listwise.ndcg_loss(f, y)
    assert listwise.ndcg_loss(f, y, gain=lambda y: 5 * y) == pytest.approx(linear)
    assert listwise.ndcg_loss(f, y, discount=lambda s: 3 / np.log2(1 + s)) == pytest.approx(linear)
    assert listwise.ndcg_loss(f, y, discount=[1.0, 0.5, 0.25, 0.0]) == pytest.approx(1 - (2 + 0.25) / (2 + 0.5))
    loss, bound = literal_ndcg(f, y, gain=lambda y: y**2, discount=lambda s: 1 / s)
    assert listwise.ndcg_hinge(f, y, gain=np.square, discount=lambda s: 1 / s)[0] == pytest.approx(bound)


def test_a_list_of_which_any_order_is_best_has_no_loss():
    for y in ([0, 0], [3, 3]):
        assert listwise.ndcg_loss([1.0, 2.0], y) == 0.0
        assert listwise.ndcg([1.0, 2.0], y) == (1.0 if y[0] else 0.0)
        value, grad = listwise.ndcg_hinge([1.0, 2.0], y)
        assert (value, grad.tolist()) == (0.0, [0.0, 0.0])
    assert listwise.ndcg_hinge([1.0, 2.0], [1, 0], discount=[1.0, 1.0])[0] == 0.0
    X, y, group, _ = planted(10, 6)
    more = np.concatenate([X, np.eye(4)]), np.concatenate([y - y.min(), np.full(4, 2.0)]), [*group, 4]
    w, trace = listwise.train(*more, "ndcg", epochs=30)
    assert trace.objective[-1] < 0.01


# Lists ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [listwise.kendall_tau_hinge, listwise.ndcg_hinge])
def test_lists_are_told_by_labels_or_by_sizes(function):
    generator = np.random.default_rng(6)
    f, y = generator.normal(size=10), generator.integers(0, 3, 10)
    parts = [slice(0, 3), slice(3, 4), slice(4, 10)]
    single = [function(f[part], y[part]) for part in parts]
    value, grad = np.mean([v for v, _ in single]), np.concatenate([g for _, g in single]) / 3
    mixed = generator.permutation(10)
    for group in (
        [3, 1, 6],
        np.repeat([7, 2, 9], [3, 1, 6]),
        list("aaabcccccc"),
        np.repeat([0.5, 0.25, 2], [3, 1, 6]),
        np.repeat(["u", "v", "a"], [3, 1, 6]),
    ):
        got, slopes = function(f, y, group=group)
        assert got == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(slopes, grad, atol=1e-15)
    got, slopes = function(f[mixed], y[mixed], group=np.repeat([7, 2, 9], [3, 1, 6])[mixed])
    assert got == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(slopes, grad[mixed], atol=1e-15)
    assert function(f, y, group=pd.Series(np.repeat(["u", "v", "a"], [3, 1, 6]), dtype=object))[0] == pytest.approx(
        value
    )


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ([3, 4], "add up to that; got 2 entries that add up to 7"),
        ([0, 3], "one or more each"),
        ([1.5, 1.5], "got 2 entries, which are no integers"),
        ([4, -1], "got 2 entries that add up to 3, the least of them -1"),
        ([[1, 1, 1]], "one-dimensional"),
        ([1.0, math.nan, 1.0], "group has nan at row 1"),
        ([None, "a", "b"], "group has None at row 0"),
        (["a", math.nan, "a"], "group has nan at row 1"),
        (np.ma.array([1, 1, 2], mask=[0, 1, 0]), "group is a masked array"),
        ([[1], [1, 2]], "group cannot be read as an array"),
        (np.array(["2020-01-01", "NaT", "2020-01-02"], "M8[D]"), "group has None at row 1"),
        ("abc", "one-dimensional"),
    ],
)
def test_groups_that_fit_no_rows(group, message):
    for call in (
        lambda: listwise.kendall_tau_loss([1.0, 2.0, 3.0], [1, 2, 3], group=group),
        lambda: listwise.train(np.eye(3), [1, 2, 3], group),
    ):
        with raises(ValueError, message):
            call()


# Training ---------------------------------------------------------------------------------------------


def planted(n_lists=100, r=15, d=4, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.integers(-3, 4, (n_lists * r, d)).astype(float)
    w = generator.integers(1, 5, d) * generator.choice([-1, 1], d)
    return X, X @ w, np.full(n_lists, r), w


@pytest.mark.parametrize("loss", ["kendall", "ndcg"])
def test_a_planted_w_is_found(loss):
    X, y, group, w = planted()
    found, trace = listwise.train(X, y - y.min(), group, loss)
    assert listwise.kendall_tau_loss(X @ found, y, group=group) == (
        0.0 if loss == "kendall" else pytest.approx(0, abs=0.01)
    )
    assert found @ w / np.linalg.norm(found) / np.linalg.norm(w) > 0.995
    assert trace.error[-1] == pytest.approx(0, abs=1e-4)


def test_a_planted_w_is_all_but_found_where_gaps_have_no_least_size():
    generator = np.random.default_rng(1)
    X, w = generator.normal(size=(4000, 5)), generator.normal(size=5)
    found, trace = listwise.train(X, X @ w, np.full(200, 20), epochs=50)
    assert 1 - 2 * trace.error[-1] > 0.995
    assert found @ w / np.linalg.norm(found) / np.linalg.norm(w) > 0.99999


def test_grades_of_a_planted_w():
    generator = np.random.default_rng(2)
    X, w = generator.normal(size=(4000, 5)), generator.normal(size=5)
    y = np.digitize(X @ w, np.quantile(X @ w, [0.5, 0.8, 0.95]))
    _, trace = listwise.train(X, y, np.repeat(np.arange(200), 20))
    assert trace.error[-1] < 1e-3


def least(X, y, group, l2=0.0):
    """The least mean surrogate without penalty, by linear programming over pairs."""
    rows, weights, at = [], [], 0
    for size in group:
        for i, j in itertools.permutations(range(at, at + size), 2):
            if y[i] > y[j]:
                rows.append(X[i] - X[j])
                weights.append(2 / (size * (size - 1)) / len(group))
        at += size
    n, d = len(rows), X.shape[1]
    c = np.r_[np.zeros(d), weights]
    found = linprog(
        c, A_ub=np.c_[-np.array(rows), -np.eye(n)], b_ub=-np.ones(n), bounds=[(None, None)] * d + [(0, None)] * n
    )
    return found.fun


def test_training_comes_to_the_minimum():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(240, 3)) * [1.0, 100.0, 0.01]
    y = np.clip(np.round(X @ [1.0, 0.01, -50.0] + generator.normal(size=240)), -1, 2)
    group = np.full(24, 10)
    best = least(X, y, group)
    _, trace = listwise.train(X, y, group, epochs=200)
    assert best - 1e-9 <= trace.objective.min()
    assert trace.objective[-1] - best < 2e-3 * (trace.objective[0] - best)
    assert trace.objective[-1] < trace.objective[1]


def test_units_do_not_matter_without_a_penalty():
    X, y, group, _ = planted(seed=4)
    y = y + np.random.default_rng(0).normal(size=y.size) * 3
    w, trace = listwise.train(X, y, group)
    for units in (1e3, 1e-3, np.array([1e6, 1.0, 1e-6, 3.0])):
        other, scaled = listwise.train(X * units, y, group)
        np.testing.assert_allclose(other * units, w, rtol=1e-6)
        np.testing.assert_allclose(scaled.objective, trace.objective, rtol=1e-6)
    shifted, _ = listwise.train(X + np.repeat(np.arange(100.0), 15)[:, None], y, group)  # a constant per list
    np.testing.assert_allclose(shifted, w, rtol=1e-5)


@pytest.mark.parametrize("change", [np.asarray, scipy.sparse.csr_array])
def test_offsets_and_sizes_of_columns_do_no_harm(change):
    X, y, group, _ = planted(seed=4)
    y = y + np.random.default_rng(0).normal(size=y.size) * 3
    w, trace = listwise.train(X, y, group, epochs=5)
    seconds = X + np.array([1.7e9, 0, -1e6, 0])  # times of day
    found, _ = listwise.train(change(seconds), y, group, epochs=5)
    np.testing.assert_allclose(found, w, rtol=1e-5)
    for unit in (1e160, 1e-160):
        found, scaled = listwise.train(change(X * unit), y, group, epochs=5)
        np.testing.assert_allclose(found * unit, w, rtol=1e-9)
        np.testing.assert_allclose(scaled.objective, trace.objective, rtol=1e-9)
    far = np.concatenate([X, [[1e10, 0, 0, 0]] * 3])  # a list in which a column is far off, and constant
    found, _ = listwise.train(change(far), [*y, 0, 1, 2], [*group, 3], epochs=5)
    assert abs(found[0] / found[1] - w[0] / w[1]) < 0.2 * abs(w[0] / w[1])
    least, _ = listwise.train(change(X * [1, 1, 1, 1e-310]), y, group, epochs=5)
    assert least[3] == 0.0
    with raises(ValueError, r"an entry of size 3e\+307, too large"):
        listwise.train(change(X * [1, 1, 1, 1e307]), y, group)
    tiny, _ = listwise.train(change(X * 1e-160), y, group, l2=1.0, epochs=5)
    assert tiny.tolist() == [0.0] * 4  # no weight is worth the penalty


def test_long_lists_are_warned_of_before_anything_is_done(monkeypatch):
    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    monkeypatch.setattr(listwise._train, "_scale", stop)
    with (
        warns(RuntimeWarning, "lists of up to 4000 rows, 20 epochs .* about 21 minutes"),
        pytest.raises(StopError),
    ):
        listwise.train(np.ones((4000, 1)), np.arange(4000.0), loss="ndcg", epochs=20)


def test_a_column_that_differs_within_no_list_has_no_weight():
    X, y, group, _ = planted()
    wide = np.c_[X, np.repeat(np.random.default_rng(0).normal(size=100) * 1e3, 15), np.full(1500, 0.1)]
    for A in (wide, scipy.sparse.csr_array(wide)):
        w, _ = listwise.train(A, y, group, epochs=3)
        assert w[4:].tolist() == [0.0, 0.0]
        np.testing.assert_allclose(w[:4], listwise.train(X, y, group, epochs=3)[0], rtol=1e-6)


@pytest.mark.parametrize("loss", ["kendall", "ndcg"])
def test_the_penalty_shrinks_w_and_is_in_the_objective(loss):
    X, y, group, _ = planted(30, 8)
    y = y - y.min()
    w, trace = listwise.train(X, y, group, loss, l2=0.1)
    value = (listwise.kendall_tau_hinge if loss == "kendall" else listwise.ndcg_hinge)(X @ w, y, group=group)[0]
    assert trace.surrogate[-1] == pytest.approx(value)
    assert trace.objective[-1] == pytest.approx(value + 0.05 * w @ w)
    error = (listwise.kendall_tau_loss if loss == "kendall" else listwise.ndcg_loss)(X @ w, y, group=group)
    assert trace.error[-1] == pytest.approx(error, abs=1e-12)
    assert np.linalg.norm(listwise.train(X, y, group, loss, l2=10.0)[0]) < np.linalg.norm(w)
    free = listwise.train(X, y, group, loss)[0]
    assert trace.objective[-1] <= value_at(loss, X, y, group, free) + 0.05 * free @ free + 1e-3 * trace.objective[0]


def value_at(loss, X, y, group, w):
    return (listwise.kendall_tau_hinge if loss == "kendall" else listwise.ndcg_hinge)(X @ w, y, group=group)[0]


def test_the_minimum_with_a_penalty_is_approached():
    # one list of two rows: max(0, 1 - a w) + l2 / 2 w^2 has its minimum at min(a / l2, 1 / a)
    for a, l2 in ((1.0, 0.5), (1.0, 4.0), (5.0, 0.1)):
        w, trace = listwise.train([[a], [0.0]], [1, 0], l2=l2, epochs=3000)
        best = min(a / l2, 1 / a)
        assert w[0] == pytest.approx(best, rel=0.06)
        assert trace.objective[-1] == pytest.approx(max(0.0, 1 - a * best) + 0.5 * l2 * best**2, abs=1e-3)


def test_the_steps_are_those_that_are_documented():
    X, y, group, _ = planted(6, 5, d=2, seed=5)
    y = np.round(y / 3)
    w, trace = listwise.train(X, y, group, epochs=4, l2=0.02, seed=9)
    lists = [slice(5 * g, 5 * g + 5) for g in range(6)]
    spread = np.sqrt(np.mean([2 * X[rows].var(axis=0, ddof=1) for rows in lists], axis=0))
    Z, h = X / spread, 0.02 / spread**2
    u, mean, squares, far, t = np.zeros(2), np.zeros(2), 0.0, 0.0, 0
    generator = np.random.default_rng(9)
    for _ in range(4):
        for g in generator.permutation(6):
            t += 1
            value, slope = listwise.kendall_tau_hinge(Z[lists[g]] @ u, y[lists[g]])
            slope = slope @ Z[lists[g]]
            squares += slope @ slope
            far = max(far, np.linalg.norm(u)) if t > 1 else 0.1 * value / np.sqrt(squares)
            eta = 1 / (np.sqrt(squares) / far + h * t)
            u = (u - eta * slope) / (1 + eta * h)
            mean += 2 / (t + 1) * (u - mean)
    np.testing.assert_allclose(w, mean / spread, rtol=1e-9)
    np.testing.assert_allclose(
        listwise.train(X, y, group, epochs=4, l2=0.02, seed=9, average=False)[0], u / spread, rtol=1e-9
    )
    np.testing.assert_array_equal(trace.w, w)


@pytest.mark.parametrize("loss", ["kendall", "ndcg"])
def test_a_seed_decides_all(loss):
    X, y, group, _ = planted(80, 6)
    y = y - y.min() + 0.0
    w, trace = listwise.train(X, y, group, loss, epochs=2, n_threads=1)
    for n_threads in (2, 3):
        again, other = listwise.train(X, y, group, loss, epochs=2, n_threads=n_threads)
        np.testing.assert_array_equal(w, again)
        np.testing.assert_array_equal(trace.objective, other.objective)
    assert (listwise.train(X, y, group, loss, epochs=2, seed=1)[0] != w).any()


@pytest.mark.parametrize("form", ["float32", "fortran", "frame", "sparse", "mixed"])
def test_rows_come_in_any_form(form):
    X, y, group, _ = planted(20, 6)
    y = y + np.tile([0.0, 0.0, 3.0], 40)
    expected, trace = listwise.train(X, y, group, epochs=3)
    if form == "mixed":  # rows of a list that lie apart; lists in the order of their labels
        at = np.random.default_rng(0).permutation(120)
        at = at[np.argsort(np.repeat(np.arange(20), 6)[at] % 2, kind="stable")]
        w, _ = listwise.train(X[at], y[at], np.repeat(np.arange(20), 6)[at], epochs=3)
    else:
        change = {"float32": lambda A: A.astype(np.float32), "fortran": np.asfortranarray, "frame": pd.DataFrame,
                  "sparse": scipy.sparse.csc_array}[form]  # fmt: skip
        w, _ = listwise.train(change(X), y, group, epochs=3)
    np.testing.assert_allclose(w, expected, rtol=1e-6)


def test_the_callback_sees_every_epoch_and_may_stop():
    X, y, group, _ = planted(30, 6)
    y = y + np.random.default_rng(0).normal(size=y.size)
    seen = []
    w, trace = listwise.train(X, y, group, callback=lambda t: seen.append((t.status, t.n_iter)) or t.n_iter == 3)
    assert seen == [("running", 1), ("running", 2), ("running", 3)]
    assert (trace.status, trace.n_iter) == ("callback", 3)
    np.testing.assert_array_equal(trace.w, w)


def test_what_is_learned_says_what_it_is(capsys):
    X, y, group, _ = planted(30, 6)
    w, trace = listwise.train(X, y, group, epochs=2, progress=True)
    assert "2/2" in capsys.readouterr().err
    assert repr(trace).startswith("<Epochs: t_max after 2 epochs, objective 0.9")
    assert pickle.loads(pickle.dumps(trace)).error.tolist() == trace.error.tolist()
    assert listwise.train(X, y, group, epochs=0)[0].tolist() == [0.0] * 4
    with pytest.raises(ValueError, match="read-only"):
        trace.error[0] = 1.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (dict(loss="map"), ValueError, "loss must be one of 'kendall', 'ndcg'"),
        (dict(k=3), ValueError, "k, gain and discount are for the loss 'ndcg'"),
        (dict(discount=np.ones(3)), ValueError, "k, gain and discount are for the loss 'ndcg'"),
        (dict(y=[[1], [2, 3], [1]]), ValueError, "y cannot be read as an array"),
        (dict(l2=-1.0), ValueError, "l2 must be zero or more"),
        (dict(epochs=-1), ValueError, "epochs must be at least 0"),
        (dict(seed="x"), ValueError, "seed must be"),
        (dict(callback=1), TypeError, "callback must be"),
        (dict(n_threads=0), ValueError, "n_threads must be"),
        (dict(X=np.eye(3)[:2]), ValueError, "y must have shape"),
        (dict(X=np.full((3, 2), np.inf)), ValueError, "X has inf"),
        (dict(X=np.ones(3)), ValueError, "X must be two-dimensional"),
        (dict(X=[["a"]] * 3), TypeError, "encode the column as numbers"),
        (dict(y=[1, math.nan, 2]), ValueError, "y has nan"),
        (dict(y=["a", "b", "c"]), TypeError, "dtype <U1; grades are numbers: map words"),
        (dict(y=pd.Categorical(["low", "mid", "high"], ordered=True)), TypeError, "dtype object; grades are numbers: map words"),
        (dict(y=[1, 1, 1]), ValueError, "none of the 1 lists has rows of two grades"),
        (dict(group=[5, 6, 7]), ValueError, "none of the 3 lists has rows of two grades"),
        (dict(loss="ndcg", y=[1, -1, 2]), ValueError, "got -1 for the grade -1"),
        (dict(loss="ndcg", k=0), ValueError, "k must be at least 1"),
        (dict(loss="ndcg", gain="cubic"), ValueError, "gain must be one of"),
        (dict(loss="ndcg", gain=lambda y: 5 - y), ValueError, "gain must not fall"),
        (dict(loss="ndcg", gain=lambda y: y - 2), ValueError, "gain must return"),
        (dict(loss="ndcg", y=[1, 2, 5000], gain="exponential"), ValueError, "got inf for the grade 5000"),
        (dict(loss="ndcg", discount="ln"), ValueError, "discount must be one of 'log2'"),
        (dict(loss="ndcg", discount=lambda s: s), ValueError, "not rise"),
        (dict(loss="ndcg", discount=[1.0, 0.5]), ValueError, "for a list of 3 rows"),
        (dict(loss="ndcg", discount=[1.0, -0.5, -1]), ValueError, "zero or more"),
    ],
)  # fmt: skip
def test_bad_input_is_told(change, error, message):
    with raises(error, message):
        listwise.train(**{"X": np.eye(3), "y": [1, 2, 3], **change})


def test_scores_and_grades_must_fit():
    for function in (
        listwise.kendall_tau_loss,
        listwise.kendall_tau_hinge,
        listwise.ndcg,
        listwise.ndcg_loss,
        listwise.ndcg_hinge,
    ):
        with pytest.raises(ValueError, match="y must have shape"):
            function([1.0, 2.0], [1])
        with pytest.raises(ValueError, match="scores is empty"):
            function([], [])
        with pytest.raises(ValueError, match="scores has nan"):
            function([math.nan], [1])
