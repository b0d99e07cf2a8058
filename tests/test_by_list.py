"""Measures of lists with grades: over all orders of ties, in exact fractions, and against those of other packages."""

import copy
import itertools
import math
import pickle
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from facts import raises
from hypothesis import given
from hypothesis import strategies as st
from repeats import examples
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, ndcg_score

import pnorm
from pnorm import metrics

MEASURES = {
    "ndcg": metrics.ndcg,
    "ndcg, exponential": lambda *a, **more: metrics.ndcg(*a, gain="exponential", **more),
    "mean_precision_at": metrics.mean_precision_at,
    "mean_recall_at": metrics.mean_recall_at,
    "mean_average_precision": lambda f, y, k=None, **more: metrics.mean_average_precision(f, y, **more),
    "mean_reciprocal_rank": metrics.mean_reciprocal_rank,
    "expected_reciprocal_rank": lambda *a, **more: metrics.expected_reciprocal_rank(*a, max_grade=3, **more),
}


def in_order(name, y, k):
    """The measure of a list whose grades y stand in its order, by the definition."""
    ranks, m = range(1, len(y) + 1), sum(g > 0 for g in y)
    if name.startswith("ndcg"):
        gains = [2**g - 1 if "exponential" in name else g for g in y]
        worth, best = (
            sum(g / math.log2(1 + s) for s, g in zip(ranks, of, strict=True) if s <= k)
            for of in (gains, sorted(gains, reverse=True))
        )
        return worth / best
    if name == "mean_precision_at":
        return sum(g > 0 for g in y[:k]) / k
    if name == "mean_recall_at":
        return sum(g > 0 for g in y[:k]) / m
    if name == "mean_reciprocal_rank":
        return next((1 / s for s, g in zip(ranks, y, strict=True) if g > 0 and s <= k), 0.0)
    expected, reads_on = 0.0, 1.0
    for s, g in zip(ranks, y, strict=True):
        stops = (2**g - 1) / 2**3
        expected += reads_on * stops / s if s <= k else 0.0
        reads_on *= 1 - stops
    return expected


def literal(name, f, y, k):
    """The mean over all orders in which the scores do not rise; average precision by a double loop."""
    if name == "mean_average_precision":
        rows = [i for i in range(len(y)) if y[i] > 0]
        return np.mean([sum(f[j] >= f[i] for j in rows) / sum(other >= f[i] for other in f) for i in rows])
    orders = [o for o in itertools.permutations(range(len(f))) if all(f[i] >= f[j] for i, j in itertools.pairwise(o))]
    return np.mean([in_order(name, [y[i] for i in o], k) for o in orders])


ONE_LIST = st.integers(1, 6).flatmap(
    lambda r: st.tuples(
        st.lists(st.sampled_from([-1.5, 0.0, 2.0, 7.0]), min_size=r, max_size=r),
        st.lists(st.integers(0, 3), min_size=r, max_size=r),
    )
)


@pytest.mark.parametrize("name", MEASURES)
@examples(4)
@given(case=st.lists(ONE_LIST, min_size=1, max_size=4), k=st.integers(1, 7), seed=st.integers(0, 99))
def test_values_of_lists_are_means_over_all_orders_of_ties(name, case, k, seed):
    expected = [literal(name, f, y, k) if any(y) else 0.25 for f, y in case]
    f, y = np.concatenate([f for f, _ in case]), np.concatenate([y for _, y in case])
    sizes = [len(f) for f, _ in case]
    labels = np.repeat(np.random.default_rng(seed).permutation(len(case)), sizes)
    found = MEASURES[name](f, y, k, group=labels, empty=0.25)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12, atol=1e-15)
    assert found == pytest.approx(np.mean(expected), rel=1e-12)
    mixed = np.random.default_rng(seed).permutation(f.size)
    again = MEASURES[name](f[mixed], y[mixed], k, group=labels[mixed], empty=0.25)
    assert again.groups.tolist() == list(dict.fromkeys(labels[mixed].tolist()))  # as they first appear
    here = dict(zip(found.groups.tolist(), found.values, strict=True))
    np.testing.assert_allclose(again.values, [here[g] for g in again.groups.tolist()], rtol=1e-12, atol=1e-15)
    alone = MEASURES[name](*case[0], k, empty=0.25)
    assert type(alone) is float
    assert alone == pytest.approx(expected[0], rel=1e-12)


# Large ties -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m", "above"), [(300, 1, 0), (300, 40, 7), (2000, 1900, 3), (40_000, 300, 1)])
def test_the_first_relevant_row_of_a_large_tie_is_where_it_is_on_average(n, m, above):
    # The places before it, in exact fractions: no relevant row among the first j.
    f, y = np.r_[np.ones(above), np.zeros(n)], np.r_[np.zeros(above), np.arange(n) % n < m]
    before, expected = Fraction(1), 0.0
    for j in range(n - m + 1):
        here = before * Fraction(m, n - j)
        expected += float(here) / (above + j + 1)
        before = before * Fraction(n - m - j, n - j) if n < 1000 else Fraction(float(before * (n - m - j) / (n - j)))
    assert metrics.mean_reciprocal_rank(f, y) == pytest.approx(expected, rel=1e-11)
    early = np.r_[np.zeros(above), np.arange(n) % n < m]
    assert metrics.expected_reciprocal_rank(f, early, max_grade=1) < metrics.mean_reciprocal_rank(f, early)


def test_the_expectation_over_a_large_tie_of_all_grades_in_exact_fractions():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 60)
    q = [1 - Fraction(2 ** int(g) - 1, 2**3) for g in y]
    product = [Fraction(1)] + [Fraction(0)] * y.size  # elementary symmetric polynomials
    for factor in q:
        product = [product[0]] + [product[j] + factor * product[j - 1] for j in range(1, y.size + 1)]
    alive = [Fraction(e) / math.comb(y.size, j) for j, e in enumerate(product)]
    for above, k in ((0, None), (5, None), (5, 20)):
        places = range(y.size if k is None else k - above)
        expected = float(sum((alive[j] - alive[j + 1]) / (above + j + 1) for j in places))
        f, grades = np.r_[np.ones(above), np.zeros(60)], np.r_[np.zeros(above), y]
        assert metrics.expected_reciprocal_rank(f, grades, k, max_grade=3) == pytest.approx(expected, rel=1e-13)
    many = np.tile(y, 50)  # the mean over 500 orders of 3000 rows, up to four standard errors
    shuffled = [metrics.expected_reciprocal_rank(rng.permutation(3000), many) for _ in range(500)]
    off = np.mean(shuffled) - metrics.expected_reciprocal_rank(np.zeros(3000), many)
    assert abs(off) < 4 * np.std(shuffled) / math.sqrt(500)


def test_rows_that_stop_nobody_and_rows_that_stop_everybody():
    assert metrics.expected_reciprocal_rank([1, 1, 0], [1, 0, 1], max_grade=2000) == 0.0
    assert metrics.mean_reciprocal_rank(np.zeros(5), np.ones(5)) == 1.0
    f, y = np.zeros(2000), np.r_[1.0, np.zeros(1999)]
    assert metrics.expected_reciprocal_rank(f, y, max_grade=50) == pytest.approx(
        2.0**-50 * np.mean(1 / np.arange(1, 2001)), abs=1e-15
    )


# Other packages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [4, 1000])
def test_scikit_learns_measures(levels):
    rng = np.random.default_rng(1)
    f, y = rng.integers(0, levels, (50, 12)) / 8, rng.integers(0, 4, (50, 12)) * (rng.random((50, 12)) < 0.3)
    y[:5] = 0
    group = np.full(50, 12)
    for k in (None, 1, 5, 50):
        assert metrics.ndcg(f.ravel(), y.ravel(), k, group=group) == pytest.approx(ndcg_score(y, f, k=k), rel=1e-12)
        gains = 2.0**y - 1
        found = metrics.ndcg(f.ravel(), y.ravel(), k, gain="exponential", group=group)
        assert found == pytest.approx(ndcg_score(gains, f, k=k), rel=1e-12)
    found = metrics.mean_average_precision(f.ravel(), y.ravel(), group=group)
    each = [
        average_precision_score(labels > 0, scores) if labels.any() else 0 for scores, labels in zip(f, y, strict=True)
    ]
    np.testing.assert_allclose(found.values, each, rtol=1e-12)
    one = metrics.mean_average_precision(f.ravel(), y.ravel(), group=group, empty=1)
    assert one == pytest.approx(label_ranking_average_precision_score(y > 0, f), rel=1e-12)


def test_one_list_is_the_measure_of_its_two_sides():
    rng = np.random.default_rng(2)
    for levels in (3, 100):
        f, y = rng.integers(0, levels, 40), rng.integers(0, 2, 40) * rng.integers(1, 4, 40)
        sides = f[y > 0], f[y == 0]
        assert metrics.mean_average_precision(f, y) == pytest.approx(metrics.average_precision(*sides))
        for k in (1, 7, 40):
            assert metrics.mean_precision_at(f, y, k) == pytest.approx(metrics.precision_at(*sides, k))
            assert metrics.mean_recall_at(f, y, k) == pytest.approx(metrics.recall_at(*sides, k))
        gain = metrics.discounted_gain_at_top(*sides, normalized=True)
        assert metrics.ndcg(f, y > 0) == pytest.approx(gain)


def test_xgboosts_measures():
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(3)
    f, y = rng.permutation(600) / 600, rng.integers(0, 4, 600) * (rng.random(600) < 0.2)
    sizes = np.full(60, 10)
    y[:40] = 0
    found = {}
    for labels, of_these in ((y, ["ndcg", "ndcg-", "ndcg@3"]), (y > 0, ["map", "map-", "pre@3"])):
        rows = xgboost.DMatrix(np.zeros((600, 1)), labels, base_margin=f.astype(np.float32))
        rows.set_group(sizes)
        told = xgboost.train(dict(objective="rank:pairwise", eval_metric=of_these), rows, 0).eval(rows).split()[1:]
        found |= dict(zip(of_these, [float(each.rpartition(":")[2]) for each in told], strict=True))
    exponential = dict(gain="exponential", group=sizes)
    ours = {
        "ndcg": metrics.ndcg(f, y, empty=1, **exponential),
        "ndcg-": metrics.ndcg(f, y, empty=0, **exponential),
        "ndcg@3": metrics.ndcg(f, y, 3, empty=1, **exponential),
        "map": metrics.mean_average_precision(f, y, group=sizes, empty=1),
        "map-": metrics.mean_average_precision(f, y, group=sizes),
        "pre@3": metrics.mean_precision_at(f, y, 3, group=sizes),
    }
    assert found == pytest.approx(ours, rel=1e-5)


def test_lightgbms_measures_of_lists_without_relevant_rows():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(4)
    f, y = rng.permutation(200) / 200, rng.integers(0, 3, 200)
    y[:80] = 0
    sizes = np.full(20, 10)
    how = dict(objective="lambdarank", metric=["ndcg", "map"], eval_at=[10], verbose=-1, num_threads=1)
    rows = lightgbm.Dataset(np.zeros((200, 1)), y, group=sizes, init_score=f, params=how)
    told = {}
    record = lightgbm.record_evaluation(told)
    lightgbm.train(how, rows, 1, valid_sets=[rows], valid_names=["all"], callbacks=[record])
    found = {name: values[0] for name, values in told["all"].items()}
    assert found["ndcg@10"] == pytest.approx(metrics.ndcg(f, y, 10, gain="exponential", group=sizes, empty=1))
    assert found["map@10"] == pytest.approx(metrics.mean_average_precision(f, y, group=sizes, empty=1))


# Lists without relevant rows --------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
def test_a_list_without_relevant_rows_counts_as_is_said(name):
    f, y, group = [3.0, 2.0, 1.0, 9.0, 8.0], [0, 2, 3, 0, 0], ["b", "b", "b", "a", "a"]
    measure = MEASURES[name]
    value = measure(f[:3], y[:3], 2)
    assert 0 < value < 1
    assert measure(f, y, 2, group=group) == pytest.approx(value / 2)
    assert measure(f, y, 2, group=group, empty=1) == pytest.approx(value / 2 + 0.5)
    found = measure(f, y, 2, group=group, empty="skip")
    assert found == value
    assert found.values.tolist() == [value, pytest.approx(math.nan, nan_ok=True)]
    assert repr(found) == f"{value:.6g} over 1 lists, 1 left out"
    assert (measure([1.0], [0], 1), measure([1.0], [0], 1, empty=1)) == (0.0, 1.0)
    with raises(ValueError, r"none of the 1 lists has a relevant row, .* Pass empty=0 or empty=1 to count"):
        measure([1.0, 2.0], [0, 0], 1, empty="skip")


def test_which_rows_are_relevant():
    f, y = [4.0, 3.0, 2.0, 1.0], [-1, 1, 2, -1]
    assert metrics.mean_reciprocal_rank(f, y) == 0.5
    assert metrics.mean_reciprocal_rank(f, y, relevance_level=2) == pytest.approx(1 / 3)
    assert metrics.mean_reciprocal_rank(f, y, relevance_level=-1) == 1.0
    assert metrics.mean_precision_at(f, y, 2, relevance_level=3) == 0.0
    assert metrics.mean_average_precision(f, y, relevance_level=1) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert metrics.mean_recall_at(f, [False, True, True, False], 2) == 0.5


def test_the_scale_of_err_is_that_of_all_lists_or_given():
    f, y, group = [2.0, 1.0, 2.0, 1.0], [1, 0, 2, 0], [2, 2]
    assert metrics.expected_reciprocal_rank(f, y, group=group).values.tolist() == [0.25, 0.75]
    assert metrics.expected_reciprocal_rank(f, y, group=group, max_grade=4).values.tolist() == [1 / 16, 3 / 16]
    assert metrics.expected_reciprocal_rank(f[:2], y[:2]) == 0.5


def test_chapelles_example_of_err():
    # Perfect (4) first: 15/16; then good (2), 3/16 of those who are left.
    expected = 15 / 16 + 1 / 16 * 3 / 16 / 2
    assert metrics.expected_reciprocal_rank([3, 2], [4, 2]) == pytest.approx(expected, rel=1e-15)


# What is returned -------------------------------------------------------------------------------------


def test_a_mean_is_a_number_that_remembers_its_lists():
    found = metrics.ndcg([0.9, 0.5, 0.7, 0.1], [0, 2, 0, 1], group=[2, 2])
    assert isinstance(found, float)
    assert f"{found:.3f}" == "0.631"
    assert repr(found) == str(found) == "0.63093 over 2 lists"
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert type(other) is metrics.MeanOverLists
        assert other == found
        assert other.values.tolist() == found.values.tolist()
        assert other.groups.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([7, 7, 3, 7], [7, 3]),
        (np.array([7.5, 7.5, 3, 7.5]), [7.5, 3.0]),
        (["u", "u", "a", "u"], ["u", "a"]),
        ([1, 1, "1", 1], [1, "1"]),
        (pd.Series(["u", "u", "a", "u"], index=[5, 6, 7, 8]), ["u", "a"]),
        (pd.Categorical(["u", "u", "a", "u"]), ["u", "a"]),
        (np.array(["2020-02", "2020-02", "2020-01", "2020-02"], "M8[D]"), [date(2020, 2, 1), date(2020, 1, 1)]),
        (np.array([(1, 2), None, (1, 2), (0, 5), (1, 2)], object)[[0, 2, 3, 4]], [(1, 2), (0, 5)]),
    ],
)
def test_groups_keep_their_labels(labels, expected):
    found = metrics.mean_reciprocal_rank([3.0, 2.0, 1.0, 4.0], [0, 1, 1, 0], group=labels)
    assert found.values.tolist() == [1 / 3, 1.0]
    assert found.groups.tolist() == expected


def test_listwise_has_the_same_function():
    assert pnorm.listwise.ndcg is metrics.ndcg


@pytest.mark.parametrize(
    ("name", "change", "error", "message"),
    [
        ("ndcg", dict(y=[1, -1, 2]), ValueError, "y must hold grades of zero or more"),
        ("ndcg", dict(y=[1, 2]), ValueError, "y must have shape"),
        ("ndcg", dict(k=0), ValueError, "k must be at least 1"),
        ("ndcg", dict(k=0.5), TypeError, "k must be an integer"),
        ("ndcg", dict(group=[4]), ValueError, "group must hold one label for each of the 3 rows, or the sizes"),
        ("ndcg", dict(group=[3, 0]), ValueError, "group must hold one label for each of the 3 rows, or the sizes"),
        ("ndcg", dict(empty="drop"), ValueError, "empty must be a number from 0 to 1, or 'skip'; got 'drop'"),
        ("ndcg", dict(empty=2), ValueError, "empty must be between 0 and 1; got 2"),
        ("ndcg", dict(empty=None), TypeError, "empty must be a real number"),
        ("ndcg", dict(gain=lambda y: 5 - y), ValueError, "gain must not fall"),
        ("ndcg", dict(discount=[1.0, 0.5]), ValueError, "for a list of 3 rows"),
        ("mean_precision_at", dict(k=None), TypeError, "k must be an integer"),
        ("mean_recall_at", dict(k=0), ValueError, "k must be at least 1"),
        ("mean_average_precision", dict(relevance_level="high"), TypeError, "relevance_level must be a real number"),
        ("mean_reciprocal_rank", dict(k=0), ValueError, "k must be at least 1"),
        ("mean_reciprocal_rank", dict(scores=[1, math.nan, 2]), ValueError, "scores has nan at position 1"),
        ("expected_reciprocal_rank", dict(y=[1, -1, 2]), ValueError, "y must hold grades of zero or more; got -1"),
        ("expected_reciprocal_rank", dict(max_grade=1), ValueError, "y has the grade 2, above max_grade, 1"),
        ("expected_reciprocal_rank", dict(max_grade=-1), ValueError, "max_grade must be zero or more"),
        ("expected_reciprocal_rank", dict(y=["a", "b", "c"]), TypeError, "grades are numbers: map words"),
    ],
)
def test_bad_input_is_told(name, change, error, message):
    needs_k = {"k": 2} if name in ("mean_precision_at", "mean_recall_at") else {}
    with raises(error, message):
        getattr(metrics, name)(**{"scores": [3.0, 2.0, 1.0], "y": [0, 1, 2], **needs_k, **change})


@pytest.mark.parametrize("name", ["ndcg", "mean_average_precision"])
def test_measures_of_lists_are_no_measures_of_two_sides(name):
    data = pnorm.datasets.tic_tac_toe()
    with raises(ValueError, "metric must be one of 'partial_auc'"):
        pnorm.cross_validate(data.pos, data.neg, p=1, metric=name)
