"""The push in LightGBM and XGBoost: slopes pair by pair, steps on any leaves, and real trees of both libraries."""

import copy
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from facts import raises
from hypothesis import given
from hypothesis import strategies as st
from repeats import each_value, examples

import pnorm
from pnorm import boosting, metrics, objectives

# LightGBM before 4.7 gives arrays names of features when it trains on them, and misses these when it predicts.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")

POWERS = [1.0, 1.5, 4.0, 16.0, 64.0]
COLUMNS = 4


def log_f(y, f, p, weight=None, sizes=None, list_weight=None):
    """log F_p by a double loop over the pairs of each list; f may be complex."""
    weight = np.ones(len(y)) if weight is None else weight
    ends = np.cumsum([0, *([len(y)] if sizes is None else sizes)])
    total = 0.0
    for g in range(len(ends) - 1):
        rows = range(ends[g], ends[g + 1])
        pos, neg = [i for i in rows if y[i] == 1], [k for k in rows if y[k] != 1]
        heights = [sum(weight[i] * np.exp(f[k] - f[i]) for i in pos) for k in neg]
        term = sum(weight[k] * height**p for k, height in zip(neg, heights, strict=True))
        total = total + (1.0 if list_weight is None else list_weight[g]) * term
    return np.log(total)


def slopes(y, f, p, **lists):
    """The gradient of the loop, by complex steps: no difference is taken, so no digit is lost."""
    steps = f + 1e-100j * np.eye(len(f))
    return np.array([log_f(y, row, p, **lists).imag / 1e-100 for row in steps])


def unit(y, p, mass=None):
    """Factor of both slopes of log F_p, for masses of the rows that count."""
    mass = np.ones(len(y)) if mass is None else mass
    pos, neg = mass[y == 1].sum(), mass[y != 1].sum()
    return pos * neg / (pos + neg) / (p * (p + 1.0))


def some_rows(seed, n=30):
    """Labels and scores; the last row is a negative, so that both sides are there."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    y[:3], y[-3:] = 1, 0
    return rng, y, rng.normal(size=n) / 4


def learnable(n=400, seed=0):
    """Rows that trees can put in order in part; few values, so that bins and copies of rows do not matter."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (n, COLUMNS)) / 2.0
    y = (X[:, 0] + X[:, 1] ** 2 / 2 + rng.normal(size=n) > 2.5).astype(int)
    return X, y


class Dataset:
    """The part of a LightGBM Dataset that is read."""

    def __init__(self, label, weight=None, group=None):
        self.get_label, self.get_weight, self.get_group = lambda: label, lambda: weight, lambda: group


class DMatrix:
    """The part of an XGBoost DMatrix that is read."""

    def __init__(self, label, weight=(), group=None):
        ends = np.array([] if group is None else np.cumsum([0, *group]), dtype=np.uint32)
        self.get_label, self.get_weight = lambda: label, lambda: np.array(weight, dtype=np.float32)
        self.get_uint_info = lambda name: {"group_ptr": ends}[name]


# The slopes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", POWERS)
def test_the_gradient_is_that_of_the_double_loop(p):
    rng, y, f = some_rows(1)
    for weight in (None, rng.integers(0, 4, len(y)).astype(float), rng.random(len(y))):
        grad, hess = boosting.lightgbm_objective(p)(y, f, weight)
        np.testing.assert_allclose(grad, unit(y, p, weight) * slopes(y, f, p, weight=weight), rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(hess, np.abs(grad) * (p + 1) / 2, rtol=1e-14)
        assert (grad[y == 1] <= 0).all()
        assert (grad[y == 0] >= 0).all()


@pytest.mark.parametrize("p", POWERS)
def test_the_slopes_add_up_to_those_of_a_classifier_at_the_base_rate(p):
    rng, y, f = some_rows(2)
    for weight in (np.ones(len(y)), rng.random(len(y)) * 7):
        rate = weight[y == 1].sum() / weight.sum()
        grad, hess = boosting.lightgbm_objective(p)(y, f, weight)
        assert hess.sum() == pytest.approx((weight * rate * (1 - rate)).sum())
        assert hess[y == 1].sum() == pytest.approx(hess[y == 0].sum())
        assert grad.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("p", POWERS)
def test_lists_are_those_of_the_double_loop(p):
    rng, y, f = some_rows(3, 40)
    sizes = [7, 1, 12, 0, 11, 9]
    y[20:31] = 1  # a list of positives alone: 31 - 20 = 11 rows
    counts = np.ones(len(y))
    counts[[7, *range(20, 31)]] = 0.0
    grad, hess = boosting.lightgbm_objective(p)(y, f, None, np.array(sizes))
    np.testing.assert_allclose(grad, unit(y, p, counts) * slopes(y, f, p, sizes=sizes), rtol=1e-10, atol=1e-14)
    assert not grad[counts == 0].any()
    assert not hess[counts == 0].any()
    weight = rng.random(len(y))
    grad, _ = boosting.lightgbm_objective(p)(y, f, weight, sizes)
    expected = unit(y, p, counts * weight) * slopes(y, f, p, weight=weight, sizes=sizes)
    np.testing.assert_allclose(grad, expected, rtol=1e-10, atol=1e-14)


def test_one_list_is_no_lists():
    _, y, f = some_rows(4)
    for found, expected in zip(boosting.lightgbm_objective(4)(y, f, None, [len(y)]),
                               boosting.lightgbm_objective(4)(y, f), strict=True):  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("p", [1.0, 4.0])
def test_a_weight_of_a_list_is_so_many_lists(p):
    _, y, f = some_rows(5, 24)
    sizes, c = [8, 6, 10], [2, 0, 3]
    assert all(set(part) == {0, 1} for part in np.split(y, [8, 14]))
    grad, hess = boosting.xgboost_objective(p)(f, DMatrix(y, c, sizes))
    expected = slopes(y, f, p, sizes=sizes, list_weight=c)
    np.testing.assert_allclose(grad, unit(y, p, np.repeat(c, sizes)) * expected, rtol=1e-10, atol=1e-14)
    copies = np.concatenate([np.arange(8), np.arange(8), *[np.arange(14, 24)] * 3])
    copied, curved = boosting.xgboost_objective(p)(f[copies], DMatrix(y[copies], (), [8, 8, 10, 10, 10]))
    np.testing.assert_allclose(grad[:8], 2 * copied[:8], rtol=1e-12)
    np.testing.assert_allclose(hess[14:], 3 * curved[16:26], rtol=1e-12)
    assert not grad[8:14].any()


@given(st.integers(0, 2**32 - 1), st.sampled_from(POWERS), st.booleans())
@examples(6)
def test_order_copies_and_a_shift_of_all_scores_do_not_matter(seed, p, negative_labels):
    rng, y, f = some_rows(seed)
    push = boosting.lightgbm_objective(p)
    grad, hess = push(y, f)
    order = rng.permutation(len(y))
    labels = np.where(y == 1, 1, -1) if negative_labels else y
    for found, expected in zip(push(labels[order], f[order] + 100.0), (grad, hess), strict=True):
        np.testing.assert_allclose(found, expected[order], rtol=1e-9, atol=1e-300)
    c = rng.integers(0, 4, len(y))
    c[[0, -1]] = 1
    rows = np.repeat(np.arange(len(y)), c)
    for found, copied in zip(push(y, f, c), push(y[rows], f[rows]), strict=True):
        np.testing.assert_allclose(found[rows], c[rows] * copied, rtol=1e-9, atol=1e-300)
        assert not found[c == 0].any()


def test_any_finite_scores_give_finite_slopes():
    y = np.array([1, 0, 1, 0, 0])
    for f in ([1e4, -1e4, 3e4, 2.0, 0.0], [-1e290, 1e290, 0.0, 1.0, 2.0], [0.0] * 5):
        grad, hess = boosting.lightgbm_objective(64)(y, np.array(f))
        assert np.isfinite(grad).all()
        assert (np.abs(grad) <= hess).all()
        assert hess.sum() == pytest.approx(6 / 5)


def test_the_slopes_are_those_of_the_objectives_module():
    rng, y, f = some_rows(6, 200)
    c = rng.random(200)
    _, up, down = objectives.value_and_weights(
        f[y == 1], f[y == 0], objectives.Power(4), pos_weight=c[y == 1], neg_weight=c[y == 0]
    )
    grad, _ = boosting.xgboost_objective(4)(y, f, c)
    np.testing.assert_allclose(grad[y == 1], -unit(y, 4, c) * up, rtol=1e-12)
    np.testing.assert_allclose(grad[y == 0], unit(y, 4, c) * down, rtol=1e-12)


# The steps --------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from([*POWERS, 300.0]), st.floats(0.01, 1.0), st.booleans())
@examples(15)
def test_steps_on_any_leaves_lower_the_objective_and_do_not_pass_their_bound(seed, p, rate, lists):
    rng, y, f = some_rows(seed, 36)
    sizes = None if not lists else [12, 4, 20] if rng.random() < 0.5 else [2] * 18
    if lists:
        y[::2], y[1::2] = 1, 0
        rate *= 0.5
    f = f * rng.choice([1.0, 10.0])
    grad, hess = boosting.lightgbm_objective(p)(y, f, None, sizes)
    leaves = rng.integers(0, rng.integers(1, 20), len(y))
    pushed, curved = (np.bincount(leaves, x) for x in (grad, hess))
    up, down = (np.bincount(leaves, 2 * (hess / hess.sum()) * (y == label)) for label in (1, 0))
    step = np.divide(-pushed, curved, out=np.zeros_like(curved), where=curved > 0)
    assert (np.abs(step) <= 2 / (p + 1) * (1 + 1e-12)).all()
    both = (up > 0) & (down > 0)
    ratio = np.log(up[both]) - np.log(down[both])
    assert (np.abs(step[both]) <= np.abs(ratio) / (p + 1) * (1 + 1e-9) + 1e-12).all()

    def value(f):
        group = {} if sizes is None else {"pos_group": np.repeat(range(len(sizes)), sizes)[y == 1],
                                          "neg_group": np.repeat(range(len(sizes)), sizes)[y == 0]}  # fmt: skip
        return objectives.value(f[y == 1], f[y == 0], objectives.Power(p), **group)

    s = rate * step
    if lists:
        bound = (up * np.expm1(-2 * p * s) + down * np.expm1(2 * p * s)) / 2
    else:
        bound = p * up * np.expm1(-s) + down * np.expm1(p * s)
    assert (bound <= 1e-14 * p).all()
    before = value(f)
    assert value(f + s[leaves]) - before <= bound.sum() + 1e-12 * (1 + abs(before) + p * np.abs(f).max())


def test_the_true_diagonal_and_its_bound_would_go_too_far():
    """Why what is passed is not the Hessian: on two leaves both of these raise what they should lower."""
    y = np.repeat([1, 0], 100)
    leaves = np.repeat([1, 0, 1, 0], [50, 50, 1, 99])  # the one has half of the positives and one negative
    f, p = np.zeros(200), 64.0
    grad, hess = boosting.lightgbm_objective(p)(y, f)
    share, slope = 2 * hess / hess.sum(), (p + 1) * grad / hess.sum()  # u and w, and with their signs
    bound = np.where(y == 1, share, p * share)

    def after(curvature):
        step = -np.bincount(leaves, slope) / np.bincount(leaves, curvature)
        moved = f + step[leaves]
        return objectives.value(moved[y == 1], moved[y == 0], objectives.Power(p))

    start = objectives.value(f[y == 1], f[y == 0], objectives.Power(p))
    assert after(share * (p + 1) / 2) < start
    assert after(bound) > start
    assert after(bound * (1.0 - share)) > start


# What libraries pass, without them --------------------------------------------------------------------


def test_both_forms_of_a_call_are_one():
    rng, y, f = some_rows(8)
    c, sizes = rng.random(len(y)), [10, 20]
    for weight, group in ((None, None), (c, None), (None, sizes), (c, sizes)):
        pairs = [
            (boosting.lightgbm_objective(4)(f, Dataset(y, weight, group)),
             boosting.lightgbm_objective(4)(y, f, weight, group)),
        ]  # fmt: skip
        if group is None:
            matrix = DMatrix(y, () if weight is None else c.astype(np.float32))
            pairs.append((boosting.xgboost_objective(4)(f, matrix),
                          boosting.xgboost_objective(4)(y, f, None if weight is None else c.astype(np.float32))))  # fmt: skip
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)
        name, value, larger = boosting.lightgbm_metric(p=4)(f, Dataset(y, weight, group))
        assert (name, larger) == ("log_f(p=4)", False)
        assert value == pytest.approx(log_f(y, f, 4, weight, group), rel=1e-12)


@pytest.mark.parametrize(
    ("measure", "options", "larger"),
    [
        ("positives_at_top", {}, True),
        ("r_max", {}, False),
        ("partial_auc", {"max_fpr": 0.3, "standardized": True}, True),
        ("precision_at", {"k": 5}, True),
        ("precision_at", {"k": 0.5}, True),
        ("recall_at", {"k": 5}, True),
        ("enrichment_factor", {}, True),
        ("average_precision", {}, True),
        ("auc", {}, True),
        ("p_norm_risk", {"p": 2}, False),
    ],
)
def test_measures_are_those_of_the_metrics_module(measure, options, larger):
    rng, y, f = some_rows(9)
    c = rng.integers(0, 3, len(y)).astype(float)
    c[[0, -1]] = 1
    function = getattr(metrics, measure)
    plain = function(f[y == 1], f[y == 0], **options)
    name, value, more = boosting.lightgbm_metric(measure, **options)(f, Dataset(y))
    assert (value, more) == (plain, larger)
    assert name.startswith(measure)
    assert not set(name) & set(" \t:-")  # at which XGBoost cuts
    weighted = function(f[y == 1], f[y == 0], pos_weight=c[y == 1], neg_weight=c[y == 0], **options)
    assert boosting.lightgbm_metric(measure, **options)(y, f, c)[1] == weighted
    sign, minus = (-1, "-") if larger else (1, "")
    found = boosting.xgboost_metric(measure, **options)
    assert found(f, DMatrix(y, c)) == (minus + name, sign * weighted)
    assert found(y, f, c) == sign * weighted
    assert found.__name__ == minus + name


def test_measures_of_lists_are_means_over_those_with_both_sides():
    _, y, f = some_rows(10, 24)
    y[8:14] = 1
    parts = [np.arange(8), np.arange(14, 24)]
    each = [metrics.auc(f[rows][y[rows] == 1], f[rows][y[rows] == 0]) for rows in parts]
    assert each[0] != each[1]
    assert boosting.lightgbm_metric("auc")(y, f, None, [8, 6, 10])[1] == pytest.approx(np.mean(each))
    name, value = boosting.xgboost_metric("auc")(f, DMatrix(y, [2, 5, 1], [8, 6, 10]))
    assert (name, value) == ("-auc", pytest.approx(-np.average(each, weights=[2, 1])))
    weight = np.linspace(0, 1, 24)
    each = [metrics.auc(f[rows][y[rows] == 1], f[rows][y[rows] == 0], pos_weight=weight[rows][y[rows] == 1],
                        neg_weight=weight[rows][y[rows] == 0]) for rows in parts]  # fmt: skip
    assert boosting.lightgbm_metric("auc")(y, f, weight, [8, 6, 10])[1] == pytest.approx(np.mean(each))


def test_they_are_values_that_can_be_copied_and_stored():
    made = [
        boosting.lightgbm_objective(4),
        boosting.xgboost_objective(4, n_threads=2),
        boosting.lightgbm_metric("partial_auc", max_fpr=0.01),
        boosting.xgboost_metric("precision_at", k=10),
    ]
    _, y, f = some_rows(11)
    for one in made:
        for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), eval(f"boosting.{one!r}")):
            assert other == one
            assert hash(other) == hash(one)
            assert repr(other(y, f)) == repr(one(y, f))
    assert boosting.lightgbm_objective(4) != boosting.lightgbm_objective(8)
    assert boosting.lightgbm_objective(4) != boosting.xgboost_objective(4)


def test_wrong_arguments_are_named():
    for make in (boosting.lightgbm_objective, boosting.xgboost_objective):
        with raises(ValueError, "p must be at least 1"):
            make(0.5)
        with raises(TypeError, "n_threads must be an integer"):
            make(2, n_threads=1.5)
    for make in (boosting.lightgbm_metric, boosting.xgboost_metric):
        with raises(ValueError, "measure must be one of 'log_f', 'auc'"):
            make("ndcg")
        with raises(TypeError, "auc takes no options; got max_fpr="):
            make("auc", max_fpr=0.1)
        with pytest.raises(TypeError, match="log_f takes p; got q=2"):
            make(q=2)
        with raises(ValueError, "p must be at least 1"):
            make(p=0)
        with raises(TypeError, "max_fpr must be a real number"):
            make("partial_auc", max_fpr="1 %")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1, 0, 2, 0]}, "the labels must be 1 for positives and 0 .* got 2 at row 2"),
        ({"y": [1, 0, -1, 0]}, "got 0 at row 1"),
        ({"y": [1, 0, 0.5, 0]}, "got 0.5 at row 2"),
        ({"y": [1, 1, 1, 1]}, r"no row has the label 0 \(or -1\)"),
        ({"y": [0, 0, 0, 0]}, "no row has the label 1"),
        ({"y": [1, 0, 1]}, r"the labels must have shape \(4,\)"),
        ({"f": [0, np.nan, 0, 1]}, "the scores has nan at position 1|the scores .* nan"),
        ({"f": np.zeros((4, 2))}, "the scores must have shape"),
        ({"weight": [1, -1, 1, 1]}, "weight has the negative weight -1.0 at row 1"),
        ({"weight": [1, 1, 1]}, r"weight must have shape \(4,\)"),
        ({"weight": [0, 1, 0, 1]}, "no row of positive weight has the label 1"),
        ({"group": [3, 2]}, "group must .* add up to the 4 rows; got 2 entries that add up to 5"),
        ({"group": [1, 1, 1, 1]}, "no list of group has rows of both labels"),
        ({"f": [1e308, -1e308, 0, 0]}, "overflow"),
    ],
)
def test_what_a_booster_should_not_pass_is_refused(change, message):
    given = {"y": [1, 0, 1, 0], "f": [0.0, 1.0, 2.0, 0.5], "weight": None, "group": None} | change
    for function in (boosting.lightgbm_objective(4), boosting.lightgbm_metric(p=4)):
        with raises(ValueError, message):
            function(*given.values())


# LightGBM ---------------------------------------------------------------------------------------------

QUIET = {"verbose": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}


@each_value()
@pytest.mark.parametrize("p", [1, 4, 16, 64])
@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_lightgbm_lowers_the_objective_with_every_tree(p, rate):
    lgb = pytest.importorskip("lightgbm")
    X, y = learnable()
    data, seen = lgb.Dataset(X, y), {}
    model = lgb.train(QUIET | {"objective": boosting.lightgbm_objective(p), "learning_rate": rate}, data, 30,
                      valid_sets=[data], valid_names=["rows"], feval=boosting.lightgbm_metric(p=p),
                      callbacks=[lgb.record_evaluation(seen)])  # fmt: skip
    values = np.array(seen["rows"][f"log_f(p={p})"])
    assert (np.diff(values) < 0).all()
    start = objectives.value(np.zeros(y.sum()), np.zeros((1 - y).sum()), objectives.Power(p))
    assert values[0] < start
    f = model.predict(X)
    assert values[-1] == pytest.approx(log_f(y, f, p), rel=1e-9)
    assert values[-1] < start - rate * 3
    restored = lgb.Booster(model_str=model.model_to_string())
    np.testing.assert_array_equal(restored.predict(X), f)


def test_lightgbm_applies_weights_once():
    lgb = pytest.importorskip("lightgbm")
    X, y = learnable()
    c = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), c)
    exact = QUIET | {"objective": boosting.lightgbm_objective(4), "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 2.0,
                     "min_data_in_bin": 1, "lambda_l2": 1.0}  # fmt: skip
    weighted = lgb.train(exact, lgb.Dataset(X, y, weight=c), 10).predict(X)
    copied = lgb.train(exact, lgb.Dataset(X[rows], y[rows]), 10).predict(X)
    plain = lgb.train(exact, lgb.Dataset(X, y), 10).predict(X)
    np.testing.assert_allclose(weighted, copied, atol=1e-6)
    assert np.abs(weighted - plain).max() > 0.01
    model = lgb.LGBMRegressor(n_estimators=10, min_child_samples=1, min_child_weight=2.0, min_data_in_bin=1, reg_lambda=1.0,
                              n_jobs=1, verbose=-1, objective=boosting.lightgbm_objective(4))  # fmt: skip
    np.testing.assert_allclose(model.fit(X, y, sample_weight=c).predict(X), weighted, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")  # eval_X is not in older versions
@pytest.mark.parametrize("kind", ["LGBMRegressor", "LGBMClassifier", "LGBMRanker"])
def test_lightgbm_estimators_stop_early_and_can_be_stored(kind, tmp_path):
    lgb = pytest.importorskip("lightgbm")
    joblib = pytest.importorskip("joblib")
    from sklearn.base import clone

    X, y = learnable(600)
    model = getattr(lgb, kind)(n_estimators=300, learning_rate=0.3, n_jobs=1, verbose=-1, metric="None",
                               objective=boosting.lightgbm_objective(4))  # fmt: skip
    lists = {"group": [200, 200], "eval_group": [[200]]} if kind == "LGBMRanker" else {}
    model = clone(model).fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])], eval_metric=boosting.lightgbm_metric(p=4),
                             callbacks=[lgb.early_stopping(10, verbose=False)], **lists)  # fmt: skip
    held = np.array(model.evals_result_["valid_0"]["log_f(p=4)"])
    assert 0 < model.best_iteration_ < 290
    assert held.argmin() + 1 == model.best_iteration_
    joblib.dump(model, tmp_path / "model")
    restored = joblib.load(tmp_path / "model")
    assert restored.objective == boosting.lightgbm_objective(4)
    np.testing.assert_array_equal(restored.predict(X, raw_score=True), model.predict(X, raw_score=True))
    f = model.predict(X[400:], raw_score=True)
    assert held.min() == pytest.approx(log_f(y[400:], f, 4), rel=1e-9)


def test_lightgbm_stops_at_the_most_of_what_should_be_large():
    lgb = pytest.importorskip("lightgbm")
    X, y = learnable(600)
    train = lgb.Dataset(X[:300], y[:300])
    model = lgb.train(QUIET | {"objective": boosting.lightgbm_objective(4), "learning_rate": 0.5}, train, 200,
                      valid_sets=[lgb.Dataset(X[300:], y[300:], reference=train)],
                      feval=boosting.lightgbm_metric("partial_auc", max_fp=10),
                      callbacks=[lgb.early_stopping(15, verbose=False)])  # fmt: skip
    areas = [metrics.partial_auc(f[y[300:] == 1], f[y[300:] == 0], max_fp=10)
             for f in (model.predict(X[300:], num_iteration=n) for n in range(1, model.current_iteration() + 1))]  # fmt: skip
    assert model.best_iteration == np.argmax(areas) + 1
    assert model.best_score["valid_0"]["partial_auc(max_fp=10)"] == pytest.approx(max(areas))


def test_lightgbm_reads_lists_and_their_order_within():
    lgb = pytest.importorskip("lightgbm")
    X, y = learnable()
    X[:, 0] += np.repeat([0.0, 50.0], 200)  # a column that tells the lists apart says nothing within them
    params = QUIET | {"objective": boosting.lightgbm_objective(4)}
    train = lgb.Dataset(X, y, group=[200, 200])
    f = lgb.train(params, train, 20).predict(X)
    assert boosting.lightgbm_metric(p=4)(f, train)[1] == pytest.approx(log_f(y, f, 4, sizes=[200, 200]), rel=1e-9)
    found = lgb.LGBMRanker(n_estimators=20, n_jobs=1, verbose=-1, objective=boosting.lightgbm_objective(4))
    np.testing.assert_allclose(found.fit(X, y, group=[200, 200]).predict(X), f, atol=1e-12)
    assert np.abs(lgb.train(params, lgb.Dataset(X, y), 20).predict(X) - f).max() > 0.01


def test_a_list_that_lightgbms_ranker_refuses_is_learned():
    lgb = pytest.importorskip("lightgbm")
    X, y = learnable(10_001)
    with raises(lgb.basic.LightGBMError, "exceeds upper limit of 10000"):
        lgb.LGBMRanker(n_estimators=1, n_jobs=1, verbose=-1).fit(X, y, group=[10_001])
    model = lgb.LGBMRanker(
        n_estimators=10, n_jobs=1, verbose=-1, metric="None", objective=boosting.lightgbm_objective(4)
    )
    f = model.fit(X, y, group=[10_001]).predict(X)
    assert metrics.auc(f[y == 1], f[y == 0]) > 0.9


def test_lightgbm_cross_validates():
    lgb = pytest.importorskip("lightgbm")
    X, y = learnable()
    found = lgb.cv(QUIET | {"objective": boosting.lightgbm_objective(4)}, lgb.Dataset(X, y), 10, nfold=3,
                   feval=boosting.lightgbm_metric("auc"))  # fmt: skip
    assert found["valid auc-mean"][-1] > 0.85


# XGBoost ----------------------------------------------------------------------------------------------

SMALL = {"max_depth": 3, "nthread": 1, "tree_method": "exact"}


@each_value()
@pytest.mark.parametrize("p", [1, 4, 16, 64])
@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_xgboost_lowers_the_objective_with_every_tree(p, rate):
    xgb = pytest.importorskip("xgboost")
    X, y = learnable()
    data, seen = xgb.DMatrix(X, y), {}
    model = xgb.train(SMALL | {"learning_rate": rate}, data, 30, obj=boosting.xgboost_objective(p), evals=[(data, "rows")],
                      custom_metric=boosting.xgboost_metric(p=p), evals_result=seen, verbose_eval=False)  # fmt: skip
    values = np.array(seen["rows"][f"log_f(p={p})"])
    assert (np.diff(values) < 0).all()
    start = objectives.value(np.zeros(y.sum()), np.zeros((1 - y).sum()), objectives.Power(p))
    assert values[-1] < start - rate * 3
    assert values[-1] == pytest.approx(log_f(y, model.predict(data), p), rel=1e-6)


def test_xgboost_applies_weights_once():
    xgb = pytest.importorskip("xgboost")
    X, y = learnable()
    c = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), c)
    push = boosting.xgboost_objective(4)
    weighted = xgb.train(SMALL, xgb.DMatrix(X, y, weight=c), 10, obj=push).predict(xgb.DMatrix(X))
    copied = xgb.train(SMALL, xgb.DMatrix(X[rows], y[rows]), 10, obj=push).predict(xgb.DMatrix(X))
    plain = xgb.train(SMALL, xgb.DMatrix(X, y), 10, obj=push).predict(xgb.DMatrix(X))
    np.testing.assert_allclose(weighted, copied, atol=1e-5)
    assert np.abs(weighted - plain).max() > 0.01
    model = xgb.XGBRegressor(
        n_estimators=10, max_depth=3, learning_rate=0.3, tree_method="exact", n_jobs=1, objective=push
    )
    np.testing.assert_allclose(model.fit(X, y, sample_weight=c).predict(X), weighted, atol=1e-5)


def test_xgboost_weighs_lists():
    xgb = pytest.importorskip("xgboost")
    X, y = learnable()
    push = boosting.xgboost_objective(4)
    sizes, c = [100, 140, 160], [2, 1, 3]
    parts = np.split(np.arange(400), [100, 240])
    rows = np.concatenate([parts[g] for g in range(3) for _ in range(c[g])])
    weighted = xgb.train(SMALL, xgb.DMatrix(X, y, group=sizes, weight=c), 10, obj=push).predict(xgb.DMatrix(X))
    copied = xgb.DMatrix(X[rows], y[rows], group=[100, 100, 140, 160, 160, 160])
    np.testing.assert_allclose(xgb.train(SMALL, copied, 10, obj=push).predict(xgb.DMatrix(X)), weighted, atol=1e-5)
    plain = xgb.train(SMALL, xgb.DMatrix(X, y), 10, obj=push).predict(xgb.DMatrix(X))
    assert np.abs(weighted - plain).max() > 0.01
    of_lists = xgb.DMatrix(X, y, qid=np.repeat([3, 5, 8], sizes), weight=c)
    assert boosting.xgboost_metric(p=4)(weighted, of_lists)[1] == pytest.approx(
        log_f(y, weighted.astype(float), 4, sizes=sizes, list_weight=c), rel=1e-6
    )


@pytest.mark.parametrize("kind", ["XGBRegressor", "XGBClassifier"])
def test_xgboost_estimators_stop_early_and_can_be_stored(kind, tmp_path):
    xgb = pytest.importorskip("xgboost")
    joblib = pytest.importorskip("joblib")
    from sklearn.base import clone

    X, y = learnable(600)
    c = np.ones(200)
    c[::3] = 2.0
    for metric, name in ((boosting.xgboost_metric(p=4), "log_f(p=4)"),
                         (boosting.xgboost_metric("partial_auc", max_fp=10), "-partial_auc(max_fp=10)")):  # fmt: skip
        model = getattr(xgb, kind)(n_estimators=300, learning_rate=0.3, n_jobs=1, eval_metric=metric, early_stopping_rounds=15,
                                   objective=boosting.xgboost_objective(4))  # fmt: skip
        model = clone(model).fit(
            X[:400], y[:400], eval_set=[(X[400:], y[400:])], sample_weight_eval_set=[c], verbose=False
        )
        held = np.array(model.evals_result()["validation_0"][name])
        assert 0 < model.best_iteration == held.argmin() < 280
        joblib.dump(model, tmp_path / "model")
        restored = joblib.load(tmp_path / "model")
        assert restored.objective == boosting.xgboost_objective(4)
        f = restored.predict(X[400:], output_margin=True)
        np.testing.assert_array_equal(f, model.predict(X[400:], output_margin=True))
        assert held.min() == pytest.approx(metric(y[400:], f.astype(float), c), abs=1e-6)


def test_xgboost_stops_at_the_most_of_what_should_be_large():
    xgb = pytest.importorskip("xgboost")
    X, y = learnable(600)
    held = xgb.DMatrix(X[300:], y[300:])
    model = xgb.train(SMALL, xgb.DMatrix(X[:300], y[:300]), 200, obj=boosting.xgboost_objective(4), evals=[(held, "held")],
                      custom_metric=boosting.xgboost_metric("positives_at_top"), early_stopping_rounds=20,
                      verbose_eval=False)  # fmt: skip
    counts = [metrics.positives_at_top(f[y[300:] == 1], f[y[300:] == 0])
              for f in (model.predict(held, iteration_range=(0, n)) for n in range(1, model.num_boosted_rounds() + 1))]  # fmt: skip
    assert model.best_iteration == np.argmax(counts)
    assert model.best_score == -max(counts) < 0


def test_a_starting_score_changes_nothing():
    xgb = pytest.importorskip("xgboost")
    X, y = learnable()
    push = boosting.xgboost_objective(4)
    low, high = (xgb.train(SMALL | {"base_score": base}, xgb.DMatrix(X, y), 10, obj=push).predict(xgb.DMatrix(X))
                 for base in (0.0, 3.0))  # fmt: skip
    np.testing.assert_allclose(low + 3.0, high, atol=1e-4)


# Both -------------------------------------------------------------------------------------------------


def test_a_push_is_a_push():
    """On data where the top is not where the rest is, a larger p gives up AUC for it."""
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    n = 6000
    X = rng.random((n, 2))
    # Column 0 orders most rows; where column 1 is above 0.9, the highest of column 0 are negatives.
    y = (rng.random(n) < np.where((X[:, 1] > 0.9) & (X[:, 0] > 0.8), 0.3, X[:, 0] ** 2)).astype(int)
    found = {}
    for p in (1, 16):
        model = lgb.LGBMRegressor(n_estimators=60, num_leaves=3, max_depth=1, learning_rate=1.0, n_jobs=1, verbose=-1,
                                  objective=boosting.lightgbm_objective(p))  # fmt: skip
        f = model.fit(X[:4000], y[:4000]).predict(X[4000:])
        pos, neg = f[y[4000:] == 1], f[y[4000:] == 0]
        found[p] = metrics.partial_auc(pos, neg, 0.02), metrics.auc(pos, neg)
    assert found[16][0] > found[1][0]
    assert found[16][1] < found[1][1]


def test_the_blocks_of_the_page_run():
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    page = (Path(__file__).parents[1] / "doc" / "howto" / "boosting.rst").read_text()
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page)
    X, y = learnable(600)
    names = {"X": X[:400], "y": y[:400], "X_valid": X[400:], "y_valid": y[400:], "X_new": X[400:], "sizes": [150, 250]}
    for block in blocks:
        exec(textwrap.dedent(block), names)
        f = names["f"]
        assert metrics.auc(f[y[400:] == 1], f[y[400:] == 0]) > 0.85
    assert len(blocks) == 5
    assert 0 < names["model"].best_iteration < 450
    assert names["ranker"].predict(X).shape == (600,)


def test_neither_library_is_imported():
    code = "import sys, pnorm.boosting; assert not {'lightgbm', 'xgboost', 'sklearn'} & set(sys.modules)"
    home = Path(pnorm.__file__).parents[1]
    subprocess.run([sys.executable, "-P", "-c", code], check=True, cwd=home)
