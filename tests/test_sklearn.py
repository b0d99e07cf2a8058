"""The scikit-learn estimator: what it learns is what pnorm learns by hand, and it keeps scikit-learn's rules."""

import _thread
import functools
import inspect
import io
import math
import pickle
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from facts import raises, tells, warns
from repeats import each_value

import pnorm
from pnorm import _default

sklearn = pytest.importorskip("sklearn")
import joblib  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomTreesEmbedding,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import balanced_accuracy_score, get_scorer, roc_auc_score  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from pnorm._core import _threads  # noqa: E402
from pnorm.diagnostics import SeparationWarning  # noqa: E402
from pnorm.sklearn import PNormPush, leaves, partial_auc_scorer, positives_at_top_scorer, scorer  # noqa: E402

pytestmark = pytest.mark.usefixtures("few_points")


@pytest.fixture(scope="module")
def data():
    """Two overlapping clouds with few distinct values, labels, weights and groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4)).round(1)
    y = (X[:, 0] - 0.5 * X[:, 1] + 0.8 * rng.normal(size=160) > 0.4).astype(int)
    return X, y, rng.integers(0, 4, 160), np.array([f"query {g}" for g in rng.integers(0, 12, 160)])


def sides(X, y, **about):
    """Rows, and what is known of them, as pnorm.train takes them."""
    named = {f"{side}_{what}": x[y == label] for what, x in about.items() for side, label in (("pos", 1), ("neg", 0))}
    return (X[y == 1], X[y == 0]), named


def cuts(n):
    """A recipe of few cuts."""
    return functools.partial(pnorm.rankers.quantile_thresholds, n_cuts=n, missing="own")


# scikit-learn's own checks -----------------------------------------------------------------------------


def battery(estimator):
    """The checks that scikit-learn has for an estimator."""
    try:
        from sklearn.utils.estimator_checks import estimator_checks_generator as generate
    except ImportError:  # 1.4, 1.5
        generate = functools.partial(check_estimator, generate_only=True)
    return [check for _, check in generate(estimator)]


def name_of(check):
    return getattr(check, "func", check).__name__


def checks_of(estimator):
    return {name_of(check) for check in battery(estimator)}


def test_no_check_is_left_out_that_a_linear_classifier_passes():
    ours, theirs = checks_of(PNormPush(rankers="columns")), checks_of(LogisticRegression())
    # A weight that all rows of a class have moves the intercept alone, and there is no class_weight.
    left_out = {name for name in theirs - ours if "array_api" not in name and "class_weight" not in name}
    assert left_out <= {"check_sparsify_coefficients"}
    assert len(ours) > 40
    assert checks_of(PNormPush()) >= ours - {"check_estimators_nan_inf"}  # of thresholds, NaN is above none


_ESTIMATORS = [
    *(
        PNormPush(rankers=kind, **how)
        for how in ({"t_max": 200}, {"l2": 0.0, "p": 4})
        for kind in ("thresholds", "columns", "normalized", "categories")
    ),
    PNormPush(rankers="columns", p=4, l2=0.01),
    PNormPush(p=4, l1=0.1, l2=0.1, max_columns=2),
    PNormPush(rankers="normalized", loss="logistic", t_max=5),
    PNormPush(rankers=RandomTreesEmbedding(3, random_state=0), t_max=20),
    PNormPush(cv=2),
    PNormPush(p=4, rankers="columns", cv=2),
]
_OF_DEFAULT = checks_of(_ESTIMATORS[0])
"""Checks of the first estimator, which the others pass over."""


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{i}-{name_of(check)}-{j}")
        for i, estimator in enumerate(_ESTIMATORS)
        for j, check in enumerate(battery(estimator))
        if i == 0 or name_of(check) not in _OF_DEFAULT
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(estimator, check):
    copies = name_of(check).startswith(("check_sample_weight_equivalence", "check_sample_weights_invariance"))
    if copies and estimator.rankers is not None and not isinstance(estimator.rankers, str):
        pytest.skip("splits of trees are drawn blindly, and others are drawn where copies stand for weights")
    check(estimator)


# The same as by hand ----------------------------------------------------------------------------------


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_coordinate_descent_is_train(data, weighted, grouped):
    X, y, c, g = data
    fit = {"sample_weight": c} if weighted else {}
    about = {"weight": c} if weighted else {}
    if grouped:
        fit["groups"], about["group"] = g, g
    keep = c > 0 if weighted else np.ones(len(y), bool)
    rows, named = sides(X[keep], y[keep], **{name: x[keep] for name, x in about.items()})
    H = cuts(5)(*rows)
    lam, trace = pnorm.train(*rows, H, 3.0, 30, **named)
    model = PNormPush(3.0, rankers=cuts(5), t_max=30).fit(X, y, **fit)
    np.testing.assert_array_equal(model.lam_, lam)
    assert model.rankers_.names == H.names
    np.testing.assert_array_equal(model.trace_.log_objective, trace.log_objective)
    assert model.n_iter_ == trace.n_iter == 30
    np.testing.assert_array_equal(model.decision_function(X), pnorm.score(X, H, lam) - model.threshold_)


@each_value()
@pytest.mark.parametrize("loss", ["exponential", "squared_hinge"])
@pytest.mark.parametrize("more", [{"l1": 0.5}, {"l2": 0.1}, {"l2": 0.1, "max_columns": 2}, {"l1": 0.1, "l2": 0.1}])
def test_given_penalties_and_columns_are_those_of_minimize(data, loss, more):
    X, y, c, g = data
    rows, named = sides(X, y, weight=c + 1, group=g)
    H = cuts(9)(*rows, linear=True)
    if loss != "exponential":
        more = {"l2": 0.1}
    all_of = {"l2": 4e-5, "penalty": "shapes", "tol": 1e-6, "max_iter": 200, "loss": loss, **more, **named}
    lam, trace = pnorm.minimize(*rows, H, 4.0, **all_of)
    model = PNormPush(rankers=H, loss=loss, **more).fit(X, y, c + 1, g)
    np.testing.assert_array_equal(model.lam_, lam)
    assert model.trace_.status == trace.status == "converged"
    assert (model.n_iter_, model.p_, model.l2_) == (trace.n_iter, 4.0, all_of["l2"])
    used = np.flatnonzero(lam)
    assert 0 < np.unique(H.column[used]).size <= more.get("max_columns", X.shape[1])
    if loss == "exponential":
        assert model.certificate_.gap < 1e-6
        assert model.certificate_.objective == pytest.approx(trace.objective[-1], rel=1e-12)


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning", "ignore::pnorm.diagnostics.SeparationWarning")
@pytest.mark.parametrize(
    "how",
    [{"t_max": 200}, {"rankers": "columns", "t_max": 200}, {"rankers": "categories", "t_max": 200},
     {"rankers": "normalized", "p": 4, "l2": 0.1}, {"loss": "logistic", "t_max": 10}],
    ids=str,
)  # fmt: skip
def test_a_weight_is_so_many_copies(data, how):
    X, y, c, _ = data
    model = PNormPush(**how).fit(X, y, c)
    copies = PNormPush(**how).fit(np.repeat(X, c, axis=0), np.repeat(y, c))
    np.testing.assert_allclose(model.decision_function(X), copies.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), copies.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(X), copies.predict_proba(X), atol=1e-7)


@pytest.mark.filterwarnings("ignore:.*no cut-off keeps")
@pytest.mark.parametrize(("rows", "is_told"), [(range(400), True), (range(360, 600), True), (range(400, 600), False)])
def test_a_cut_off_on_rows_of_fit_warns(rows, is_told):
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(600, 3)), list(rows)
    y = X[:, 0] + rng.normal(size=600) > 0.5
    model = PNormPush(p=1, l2=0.1).fit(X[:400], y[:400])
    for found in (model, pickle.loads(pickle.dumps(model))):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found.choose_cutoff(X[rows], y[rows], precision=0.5)
        said = [str(of.message) for of in told if "rows of X have the scores of rows of fit" in str(of.message)]
        assert bool(said) == is_told
        assert all(of.filename == __file__ for of in told)


def test_weights_that_are_no_copies_are_told(data):
    X, y, *_ = data
    told = rf"sample_weight has the mean {1 / y.size:.3g}\. .* sees 1 rows in place of {y.size}\. Divide the weights"
    with warns(UserWarning, told) as caught:
        PNormPush(cv=2).fit(X, y, np.full(y.size, 1.0 / y.size))
    assert caught[0].filename == __file__
    PNormPush(cv=2).fit(X, y, np.full(y.size, 0.2))  # a warning would be an error
    PNormPush(t_max=2, p=4).fit(X, y, np.full(y.size, 1.0 / y.size))  # nothing is chosen


@pytest.mark.parametrize("how", [{"t_max": 10}, {"p": 4}], ids=str)
def test_any_number_of_jobs_gives_the_same(data, how):
    X, y, *_ = data
    one, two = (PNormPush(n_jobs=n, **how).fit(X, y) for n in (None, 2))
    np.testing.assert_array_equal(one.lam_, two.lam_)


# What is chosen ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.filterwarnings("ignore::pnorm.diagnostics.NoSignalWarning")  # levels that few rows share
@pytest.mark.parametrize(
    "how",
    [{}, {"p": 4}, {"p": 2, "monotone": {0: 1}}, {"l2": 0.1}, {"l2": 0.1, "p": 1}, {"rankers": "columns"},
     {"rankers": "categories", "p": 1}, {"rankers": cuts(7), "p": 2}, {"p": 2, "l2": 0.1, "rankers": "normalized"},
     {"max_columns": 2, "p": 1, "rankers": "thresholds"}, {"push": "bottom", "p": 1}],
    ids=lambda how: " ".join(how),
)  # fmt: skip
def test_what_is_not_given_is_chosen_and_minimised(data, how):
    X, y, c, _ = data
    model = PNormPush(**how).fit(X, y, c + 1)
    rows, named = sides(X, y, weight=c + 1)
    penalties = {"l1": model.l1_, "l2": model.l2_, "penalty": "shapes"}
    more = {"max_columns": how.get("max_columns"), "push": how.get("push", "top"), **named}
    lam, trace = pnorm.minimize(*rows, model.rankers_, model.p_, tol=1e-6, max_iter=200, **penalties, **more)
    np.testing.assert_array_equal(model.lam_, lam)
    assert model.trace_.status == trace.status == "converged"
    assert model.certificate_.gap <= 1e-6
    found = model.cross_validation_
    if {"p", "l2"} <= set(how):
        kind = None if "rankers" in how else "line + cuts"  # lines with cuts go with a given l2
        assert (found, model.kind_, model.p_, model.l1_, model.l2_) == (None, kind, how["p"], 0, 0.1)
        return
    best = found.best
    assert (best.p, best.l1, best.l2) == (model.p_, model.l1_, model.l2_)
    assert best.kind == (None if "rankers" in how or "l2" in how else model.kind_)
    offered = [None] if "rankers" in how else ["line + cuts"] if "l2" in how else _default.OFFERED
    assert model.kind_ in offered
    assert set(found.p) == ({how["p"]} if "p" in how else {1, 4})
    below = ", read from below" if "push" in how else ""
    assert (found.metric, found.second_metric) == (f"partial_auc{below}", f"average_precision{below}")
    assert found.scores.shape[1] == 5
    assert "l2" not in how or set(found.l2.ravel()) == {how["l2"]}
    signs = model.rankers_.signs
    assert ("monotone" in how) == (signs is not None and signs.any())
    if "max_columns" in how:
        assert np.unique(model.rankers_.column[np.flatnonzero(lam)]).size <= 2


@pytest.mark.parametrize("case", ["given", "loss", "trees", "groups", "sparse"])
def test_what_asks_for_rounds(data, case):
    """A number of them; and where nothing can be chosen, 200, unless a penalty asks for the minimiser."""
    X, y, _, g = data
    how = {
        "given": {"t_max": 30},
        "loss": {"loss": "squared"},
        "trees": {"rankers": RandomTreesEmbedding(3, random_state=0)},
    }
    how = {"rankers": "thresholds", **how.get(case, {})}
    rows, groups = scipy.sparse.csr_matrix(X) if case == "sparse" else X, g if case == "groups" else None
    model = PNormPush(**how).fit(rows, y, groups=groups)
    rounds = PNormPush(4, **{"t_max": 200, **how}).fit(rows, y, groups=groups)
    assert model.trace_.path is None
    np.testing.assert_array_equal(model.lam_, rounds.lam_)
    assert (model.p_, model.l1_, model.l2_, model.kind_, model.cross_validation_) == (4.0, 0.0, 0.0, None, None)
    if case != "given":
        penalised = PNormPush(4, l2=0.5, **how).fit(rows, y, groups=groups)
        assert (penalised.trace_.status, penalised.l2_, penalised.cross_validation_) == ("converged", 0.5, None)


@pytest.mark.parametrize("weighted", [False, True])
def test_scoring_is_the_measure_that_chooses(data, weighted):
    X, y, c, _ = data
    labels = np.array(["no", "yes"])[y]

    def scores(scoring, **how):
        model = PNormPush([1, 4], rankers="columns", scoring=scoring, cv=3, **how)
        return model.fit(X, labels, c + 1 if weighted else None).cross_validation_

    for name, same in (("auc", "roc_auc"), ("auc", get_scorer("roc_auc")), ("positives_at_top", positives_at_top_scorer),
                       ("average_precision", scorer("average_precision"))):  # fmt: skip
        found = scores(name)
        assert (found.metric, found.second_metric) == (name, None)
        np.testing.assert_allclose(found.scores, scores(same).scores, rtol=1e-12)
    np.testing.assert_array_equal(scores(None).scores, scores("partial_auc").scores)
    np.testing.assert_allclose(scores("auc").scores, scores(scorer("auc", pos_label="no")).scores, rtol=1e-12)
    assert scores("auc", push="bottom").metric == "auc, read from below"


def test_the_state_deals_the_folds(data):
    X, y, *_ = data
    one, again, other = (PNormPush(1, rankers="columns", random_state=state).fit(X, y) for state in (1, 1, 2))
    for side in (0, 1):
        of_one, of_again, of_other = (model.cross_validation_.folds[side] for model in (one, again, other))
        np.testing.assert_array_equal(of_one, of_again)
        assert (of_one != of_other).any()
    assert PNormPush(1, rankers="columns", cv=3).fit(X, y).cross_validation_.scores.shape[1] == 3


def test_a_class_of_one_row_is_told(data):
    X, y, *_ = data
    keep = np.r_[np.flatnonzero(y == 1)[:1], np.flatnonzero(y == 0)]
    with warns(UserWarning, "a class has one row, which cannot be held out: line . cuts, p = 4, l2 = 0.4"):
        model = PNormPush().fit(X[keep], y[keep])
    assert (model.kind_, model.p_, model.l2_, model.cross_validation_) == ("line + cuts", 4.0, 0.4, None)


@pytest.mark.parametrize(
    "how",
    [{"t_max": 3}, {"rankers": "columns", "t_max": 3}, {"rankers": "columns", "p": 4, "l2": 0.1},
     {"rankers": "normalized", "loss": "logistic", "t_max": 1}],
    ids=str,
)  # fmt: skip
def test_one_job_is_this_thread_alone(monkeypatch, how):
    started, start = [], _thread.start_new_thread

    def watched(*what):
        started.append(what)
        return start(*what)

    monkeypatch.setattr(_threads, "start_new_thread", watched)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread))
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100_000, 2)).round(1)
    y = X[:, 0] + rng.normal(size=len(X)) > 0.0
    for n_jobs in (1, 2):
        model = PNormPush(**how, n_jobs=n_jobs).fit(X, y)
        model.predict(X)
        model.decision_function(X)
        assert bool(started) == (n_jobs > 1)


@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([False, True]), np.array([-1.0, 1.0])], ids=str)
def test_the_second_label_is_the_positive(data, labels):
    X, y, *_ = data
    model, numbers = PNormPush(t_max=20).fit(X, labels[y]), PNormPush(t_max=20).fit(X, y)
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.lam_, numbers.lam_)
    np.testing.assert_array_equal(model.predict(X), labels[numbers.predict(X)])


# Classes ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"rankers": "columns", "p": 1},
        {"rankers": "normalized", "p": 4, "l2": 0.0},
        {"rankers": "columns", "push": "bottom"},
        {"rankers": "categories", "t_max": 20},
        {"rankers": RandomTreesEmbedding(3, random_state=0), "t_max": 20},
    ],
    ids=str,
)
def test_probabilities(data, how):
    X, y, c, _ = data
    labels = np.array(["no", "yes"])
    for weight in (None, c):
        model = PNormPush(**how).fit(X, labels[y], weight)
        found = model.predict_proba(X)
        f = pnorm.score(X, model.rankers_, model.lam_)
        sides = {"pos_weight": c[y == 1], "neg_weight": c[y == 0]} if weight is not None else {}
        b, a = model.trace_.intercept, model.slope_
        assert (a == 1.0) == (model.cross_validation_ is None)
        expected = pnorm.intercept(f[y == 1], f[y == 0], model.p_, push=model.push, **sides)
        assert b == pytest.approx(expected, abs=1e-9)
        if a != 1.0:
            b = -model.threshold_
            assert np.average(found[:, 1], weights=weight) == pytest.approx(np.average(y, weights=weight), rel=1e-9)
        expected = pnorm.probability(X, model.rankers_, model.lam_, model.p_, b, slope=a)
        np.testing.assert_allclose(found, np.column_stack([1 - expected, expected]), rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(model.predict(X), labels[(expected > 0.5).astype(int)])
        logit = a * (1 + model.p_) * model.decision_function(X)
        np.testing.assert_allclose(logit, np.log(found[:, 1] / found[:, 0]), atol=1e-9)


def test_fits_that_give_no_probabilities(data):
    X, y, _, group = data
    model = PNormPush(t_max=5)
    assert hasattr(model, "predict_proba")
    model.fit(X, y, groups=group)
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "only differences within a group are learned" in str(error.value.__cause__ or error.value)
    assert hasattr(model.fit(X, y), "predict_proba")
    assert not hasattr(PNormPush(loss="logistic", t_max=5), "predict_proba")
    assert set(PNormPush(loss="logistic", t_max=5).fit(X, y).predict(X)) == {0, 1}


@pytest.mark.parametrize("rankers", ["columns", cuts(3)], ids=["columns", "cuts"])
def test_without_probabilities_no_threshold_has_a_better_balanced_accuracy(data, rankers):
    X, y, c, _ = data
    for weight in (None, c, c * 0.1):
        model = PNormPush(rankers=rankers, t_max=8).fit(X, y, weight, groups=np.zeros(len(y)))
        f = model.decision_function(X)
        found = balanced_accuracy_score(y, model.predict(X), sample_weight=weight)
        levels = np.unique(f)
        others = [
            balanced_accuracy_score(y, (f > cut).astype(int), sample_weight=weight)
            for cut in [levels[0] - 1, *(levels[1:] + levels[:-1]) / 2, levels[-1] + 1]
        ]
        assert found == pytest.approx(max(others), abs=1e-12)
        np.testing.assert_array_equal(model.predict(X), (f > 0).astype(int))
        counted = np.unique(f if weight is None else f[weight > 0])
        assert counted[counted < 0].max() == pytest.approx(-counted[counted > 0].min())  # half-way


def test_of_equal_thresholds_the_highest():
    X = np.array([[4.0], [3.0], [2.0], [1.0]])
    model = PNormPush(rankers="columns", t_max=1).fit(
        X, [1, 0, 1, 0], groups=np.zeros(4)
    )  # right for 4 of 4, 3 of 4, 4 of 4
    np.testing.assert_array_equal(model.predict(X), [1, 0, 0, 0])


@pytest.mark.filterwarnings("ignore::pnorm.diagnostics.NoSignalWarning")
def test_where_nothing_was_learned_all_rows_score_the_same():
    rows = [[1.0], [2.0], [1.0], [2.0]], [0, 0, 1, 1]
    model = PNormPush(rankers="columns", t_max=200).fit(*rows)
    assert model.trace_.status == "stationary"
    assert not model.decision_function([[1.0], [7.0]]).any()
    model = PNormPush(rankers="columns").fit(*rows)
    assert model.trace_.status == "converged"
    assert not model.decision_function([[1.0], [7.0]]).any()


# Coefficients of the columns --------------------------------------------------------------------------


@pytest.mark.parametrize("rankers", ["columns", "normalized"])
def test_coefficients_of_the_columns(data, rankers):
    X, y, *_ = data
    far = X * [1.0, 1e-6, 1e6, 1.0] + [0.0, 1.0, 1e8, -5.0]
    model = PNormPush(4, rankers=rankers, l2=1e-3).fit(far, y)
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    np.testing.assert_allclose(far @ model.coef_[0] + model.intercept_[0], model.decision_function(far), atol=1e-6)
    centred = (far - far.mean(axis=0)) @ model.coef_[0]
    f = model.decision_function(far)
    np.testing.assert_allclose(centred, f - f.mean(), atol=1e-8)


def test_a_constant_column_has_no_coefficient(data):
    X, y, *_ = data
    model = PNormPush(rankers="normalized").fit(np.c_[X, np.full(len(y), 3.0)], y)
    assert model.coef_[0, 4] == 0.0


def test_coefficients_only_where_scores_are_linear(data):
    X, y, *_ = data
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    picked = pnorm.rankers.columns(frame[["d", "a", "b", "c"]])
    assert not hasattr(PNormPush(rankers=picked, t_max=3).fit(frame, y), "coef_")  # other columns than those of X
    assert not hasattr(PNormPush(t_max=3).fit(X, y), "coef_")
    with pytest.raises(NotFittedError):
        _ = PNormPush(rankers="columns").coef_


# Certificates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [{"l2": 0.5}, {"l1": 0.5, "monotone": {0: -1}}, {"t_max": 300}],
    ids=str,
)
def test_the_certificate_is_that_of_the_rows_trained_on(data, how):
    X, y, c, g = data
    model = PNormPush(rankers="columns", **how).fit(X, y, c, g)
    found = model.certificate_
    assert found.log_objective == pytest.approx(model.trace_.log_objective[model.n_iter_], rel=1e-12)
    keep = c > 0
    rows, named = sides(X[keep], y[keep], weight=c[keep], group=g[keep])
    named |= {"l1": model.l1_, "l2": model.l2_, "penalty": "shapes", "signs": model.rankers_.signs}
    expected = pnorm.diagnostics.certificate(*rows, None, 4.0, model.lam_, **named)
    assert found == expected
    assert found.gap < 1e-6
    assert model.certificate_ is found
    assert pickle.loads(pickle.dumps(model)).certificate_ == found


def test_a_push_at_the_bottom(data):
    X, y, c, g = data
    model = PNormPush(p=8, rankers="columns", t_max=50, push="bottom").fit(X, y)
    lam, _ = pnorm.train(*sides(X, y)[0], None, 8, 50, push="bottom")
    np.testing.assert_array_equal(model.lam_, lam)
    newton = PNormPush(p=8, rankers="columns", l2=0.1, push="bottom").fit(X, y, c, g)
    assert newton.certificate_.gap < 1e-6
    with raises(ValueError, "push must be one of"):
        PNormPush(push="left").fit(X, y)


def test_certificates_that_are_not_to_be_had(data):
    X, y, *_ = data
    with pytest.raises(NotFittedError):
        _ = PNormPush().certificate_
    model = PNormPush(rankers="columns", t_max=5).fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < 5000  # of rows nothing is kept
    with pytest.raises(AttributeError, match="fit again"):
        _ = pickle.loads(stored).certificate_
    with pytest.raises(AttributeError, match="loss='exponential'"):
        _ = PNormPush(rankers="columns", t_max=5, loss="logistic").fit(X, y).certificate_


def test_a_minimum_that_is_not_there_is_warned_of(data):
    X, y, *_ = data
    indicator = np.zeros(len(y))
    indicator[np.flatnonzero(y)[:3]] = 1.0  # some positives have what no negative has
    with warns(ConvergenceWarning, r"quasi-separable.*for these rows only; l2 above 0 gives a minimiser$"):
        PNormPush(4, rankers="columns", l2=0.0).fit(np.c_[X, indicator], y)


# Cut-offs ---------------------------------------------------------------------------------------------


def test_the_tests_of_a_precision_begin_where_a_tenth_of_the_positives_have_it():
    rng = np.random.default_rng(1)
    y = rng.random(3000) < 0.3
    X = rng.normal(size=(3000, 1)) + y[:, None]
    model = PNormPush(p=1, rankers="columns", t_max=20).fit(X[:1000], y[:1000])
    f, label = model.decision_function(X[1000:]) + model.threshold_, y[1000:]
    alone = pnorm.cutoff(f, y=label, precision=0.5)
    assert (alone.kept, alone.depth) == (False, 8)
    found = model.choose_cutoff(X[1000:], label, precision=0.5)
    assert found.kept
    expected = 2000 * y[:1000].mean()  # positives, from the share in training
    assert found.depth == pnorm.cutoff(f, y=label, precision=0.5, at_least=math.ceil(0.1 * expected / 0.5)).depth
    for asked in ({"precision": 0.4, "at_least": 1}, {"precision": 0.4, "prior": 0.3}, {"recall": 0.5}):
        assert model.choose_cutoff(X[1000:], label, **asked).depth == pnorm.cutoff(f, y=label, **asked).depth


def held_out(model, X, y, c=None):
    """The rows that a model has trained on, and those that it has not."""
    seen = []
    split = PNormPush._split
    try:
        PNormPush._split = lambda self, rows: seen.append(split(self, rows)) or seen[-1]
        clone(model).fit(X, y, c)
    finally:
        PNormPush._split = split
    return seen[0]


@pytest.mark.filterwarnings("ignore:.*no cut-off keeps")
def test_a_tenth_of_each_class_is_held_out_and_one_at_least(data):
    X, y, c, _ = data
    cut = PNormPush(rankers="columns", t_max=5, cutoff={"recall": 0.5})
    known, out = held_out(cut, X, y, np.minimum(c, 1))
    for label in (0, 1):  # every row of positive weight is on one side
        assert (out.positive == label).sum() == round(0.1 * ((y == label) & (c > 0)).sum())
    np.testing.assert_array_equal(np.sort(np.concatenate([known.X, out.X]), axis=0), np.sort(X[c > 0], axis=0))
    X, y = np.arange(100.0)[:, None], np.repeat([0, 1], [98, 2])
    known, out = held_out(cut, X, y)
    assert out.positive.sum() == known.positive.sum() == 1
    with raises(ValueError, "some rows of the class 1; there are 1, and two at least are needed"):
        cut.fit(X[:-1], y[:-1])


def test_scorers_know_what_their_measure_takes():
    with raises(ValueError, r"precision_at does not go with kk: pnorm.metrics.precision_at takes k, "):
        scorer("precision_at", kk=3)
    assert scorer("precision_at", k=3, pos_label="good")


# Weak rankers from estimators -------------------------------------------------------------------------

_TREES = [
    DecisionTreeClassifier(max_depth=4, random_state=0),
    RandomForestClassifier(7, max_depth=4, random_state=0),
    ExtraTreesClassifier(7, max_depth=4, random_state=0),
    GradientBoostingClassifier(n_estimators=7, max_depth=2, random_state=0),
    RandomTreesEmbedding(7, max_depth=3, random_state=0),
]


@pytest.mark.parametrize("trees", _TREES, ids=lambda trees: type(trees).__name__)
def test_leaves_are_one_hot_columns(data, trees):
    X, y, *_ = data
    trees = clone(trees).fit(X[:60], y[:60])
    of_rows = trees.apply(X).reshape(len(X), -1)
    encoder = OneHotEncoder(handle_unknown="ignore").fit(of_rows[:100])
    H = leaves(trees, X[:100])
    columns = encoder.transform(of_rows).toarray()
    assert (columns.sum(axis=1) <= of_rows.shape[1]).all()
    np.testing.assert_array_equal(H.evaluate(X), columns)
    np.testing.assert_array_equal(H[3](X), columns[:, 3])
    lam = np.random.default_rng(0).normal(size=len(H))
    np.testing.assert_allclose(pnorm.score(X, H, lam), columns @ lam, rtol=1e-12, atol=1e-12)
    known, labels = scipy.sparse.csr_array(columns[:100]), y[:100]
    expected, trace = pnorm.train(known[labels == 1], known[labels == 0], p=4, t_max=60)
    model = PNormPush(rankers=trees, t_max=60).fit(X[:100], labels)
    np.testing.assert_allclose(model.lam_, expected, rtol=1e-7, atol=1e-9)
    assert model.rankers_.names == H.names
    assert H.names[0].startswith("tree 0, leaf ")
    with pytest.raises(TypeError, match="cannot be written"):
        H.to_dict()


def test_leaves_of_xgboost(data):
    xgboost = pytest.importorskip("xgboost")
    X, y, *_ = data
    trees = xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1).fit(X, y)
    columns = OneHotEncoder().fit_transform(trees.apply(X)).toarray()
    np.testing.assert_array_equal(leaves(trees, X).evaluate(X), columns)
    model = PNormPush(rankers=xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1), t_max=5).fit(X, y)
    np.testing.assert_array_equal(model.rankers_.evaluate(X), columns)


def test_complements_and_sums_of_leaves(data):
    X, y, *_ = data
    trees = RandomTreesEmbedding(3, max_depth=2, random_state=0).fit(X)
    H = pnorm.rankers.closed(leaves(trees, X)) + pnorm.rankers.columns(4)
    n = len(leaves(trees, X))
    columns = trees.transform(X).toarray()
    np.testing.assert_array_equal(H.evaluate(X), np.c_[columns, 1 - columns, X])
    lam, _ = pnorm.train(X[y == 1], X[y == 0], H, t_max=20, selection="signed")
    np.testing.assert_allclose(pnorm.score(X, H, lam), np.c_[columns, 1 - columns, X] @ lam, atol=1e-12)
    assert len(H) == 2 * n + 4


def test_an_estimator_that_is_not_fitted_is_cloned_and_fitted(data):
    X, y, c, _ = data
    for trees in (RandomForestClassifier(5, max_depth=3, random_state=0), RandomTreesEmbedding(5, random_state=0)):
        model = PNormPush(rankers=trees, t_max=20).fit(X, y, c)
        keep = c > 0
        fitted = PNormPush(rankers=clone(trees).fit(X[keep], y[keep], c[keep]), t_max=20).fit(X, y, c)
        np.testing.assert_array_equal(model.lam_, fitted.lam_)
        with pytest.raises(NotFittedError):
            trees.apply(X)
        assert clone(model).rankers is not trees


def test_only_rows_that_are_trained_on_make_weak_rankers(data):
    X, y, *_ = data
    seen = []

    def made(pos, neg):
        seen.append((pos, neg))
        return pnorm.rankers.normalized(pos, neg)

    model = PNormPush(rankers=made, cutoff={"recall": 0.1}, t_max=5).fit(X, y)
    n_pos, n_neg = (y == 1).sum(), (y == 0).sum()
    assert [len(side) for side in seen[0]] == [n_pos - round(n_pos / 10), n_neg - round(n_neg / 10)]
    assert model.rankers_.names == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize("sparse", [False, True])
def test_what_a_transformer_returns_are_weak_rankers(data, sparse):
    X, y, *_ = data
    transformer = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [3]), (PolynomialFeatures(2), [0, 1]), sparse_threshold=float(sparse)
    )
    model = PNormPush(rankers=transformer, t_max=30).fit(X, y)
    columns = clone(transformer).fit(X).transform(X)
    assert scipy.sparse.issparse(columns) == sparse
    columns = scipy.sparse.csr_array(columns) if sparse else columns
    lam, _ = pnorm.train(columns[y == 1], columns[y == 0], p=4, t_max=30)
    np.testing.assert_array_equal(model.lam_, lam)
    np.testing.assert_allclose(model.decision_function(X) + model.threshold_, columns @ lam, atol=1e-12)
    assert model.rankers_.names[-1] == "polynomialfeatures__x1^2"
    np.testing.assert_array_equal(model.rankers_[-1](X), X[:, 1] ** 2)
    with pytest.raises(TypeError, match="cannot be written"):
        model.rankers_.to_dict()


def test_texts(data):
    texts, y = ["win now", "you win", "see you at ten", "now and then", "win ten"], [1, 1, 0, 0, 1]
    model = PNormPush(rankers=CountVectorizer(), t_max=10).fit(texts, y)
    assert model.rankers_.names[-2:] == ("win", "you")
    assert not hasattr(model, "n_features_in_")
    f = model.decision_function(["win a prize", "see you"])
    assert f[0] > f[1]
    functions = PNormPush(rankers=[lambda rows: [len(text) for text in rows]], t_max=1).fit(texts, y)
    assert (functions.lam_ < 0).all()


def test_the_docstring_has_each_parameter_in_one_group():
    text = inspect.getdoc(PNormPush)
    groups = text[text.index("- Usually set") : text.index("After `fit`, ``print(model)``")]
    parameters = PNormPush().get_params()
    assert sorted(re.findall(r"`(\w+)`", groups)) == sorted(parameters)
    page = (Path(__file__).parents[1] / "doc" / "howto" / "sklearn.rst").read_text(encoding="utf-8")
    assert f"Of the {len(parameters)} parameters of" in page
    assert repr(PNormPush(p=4, verbose=1)) == "PNormPush(p=4, verbose=1)"


def test_nested_parameters_can_be_searched(data):
    X, y, *_ = data
    search = GridSearchCV(
        PNormPush(rankers=RandomTreesEmbedding(5, random_state=0), t_max=10),
        {"rankers__max_depth": [1, 3], "p": [1.0, 4.0]},
        scoring="roc_auc",
        cv=3,
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_.rankers_.names


def test_a_frozen_estimator_stays_as_it_is(data):
    frozen = pytest.importorskip("sklearn.frozen")
    X, y, *_ = data
    trees = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X[:50], y[:50])
    model = clone(PNormPush(rankers=frozen.FrozenEstimator(trees), t_max=5)).fit(X[50:], y[50:])
    np.testing.assert_array_equal(model.rankers_.evaluate(X), leaves(trees, X[50:]).evaluate(X))


@pytest.mark.parametrize(
    ("rankers", "message"),
    [
        ("trees", "rankers must be one of 'table', 'thresholds', 'columns', 'normalized', 'categories'; got 'trees'"),
        (7, "rankers must be one of .* or a scikit-learn estimator; got 7"),
        (RandomTreesEmbedding, "rankers must be one of .* or a scikit-learn estimator; got <class"),
        (LogisticRegression(), "with apply, trees, or with transform; LogisticRegression has neither"),
        (HistGradientBoostingClassifier(), "HistGradientBoostingClassifier has neither"),
        (lambda pos, neg: 3, "must return a collection; got 3"),
    ],
    ids=["a word", "a number", "a class", "no trees", "no leaves", "no recipe"],
)
def test_rankers_that_are_none(data, rankers, message):
    with raises((ValueError, TypeError), message):
        PNormPush(rankers=rankers).fit(*data[:2])


def test_leaves_of_what_has_none(data):
    with raises(TypeError, "trees must have a method apply; got LogisticRegression"):
        leaves(LogisticRegression(), data[0])

    class Tree:
        def apply(self, X):
            return np.arange(len(X))

    with raises(ValueError, "tree 0 has 65536 leaves; at most 65535 can be told apart"):
        leaves(Tree(), np.zeros((65536, 1)))
    H = leaves(Tree(), np.zeros((65535, 1)))
    assert H[65534](np.zeros((65535, 1))).sum() == 1


# Missing values, levels, frames -------------------------------------------------------------------------


def test_missing_values_have_weak_rankers_of_their_own(data):
    X, y, *_ = data
    X = X.copy()
    X[::5, 1] = np.nan
    model = PNormPush(t_max=20).fit(X, y)
    H = pnorm.rankers.quantile_thresholds(X[y == 1], X[y == 0], missing="own")
    assert "x1 is missing" in H.names
    assert model.rankers_.names == H.names
    np.testing.assert_array_equal(model.lam_, pnorm.train(X[y == 1], X[y == 0], H, 4, 20)[0])
    assert np.isfinite(PNormPush(t_max=20).fit(data[0], y).decision_function(X)).all()
    for rankers in ("columns", "normalized"):
        with pytest.raises(ValueError, match="contains NaN"):
            PNormPush(rankers=rankers).fit(X, y)
    with raises(ValueError, r"y contains NaN. Use keep = pandas.notna\(y\), and fit\(X\[keep\], y\[keep\]\)"):
        PNormPush().fit(X, np.where(y == 1, 1.0, np.nan))
    with pytest.raises(ValueError, match="infinity"):
        PNormPush().fit(np.where(np.isnan(X), np.inf, X), y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(data, library):
    frames = pytest.importorskip(library)
    X, y, c, g = data
    table = frames.DataFrame({name: X[:, j] for j, name in enumerate("abcd")})
    plain = PNormPush(t_max=20).fit(X, y, c, g)
    model = PNormPush(t_max=20).fit(table, frames.Series(y), frames.Series(c), frames.Series(g))
    np.testing.assert_array_equal(model.feature_names_in_, list("abcd"))
    assert model.rankers_.names[0].startswith("a > ")
    np.testing.assert_array_equal(model.lam_, plain.lam_)
    np.testing.assert_array_equal(model.decision_function(table), plain.decision_function(X))
    with raises(ValueError, r"feature names should match(.|\n)*Pass X\[model.feature_names_in_\]"):
        model.predict(table[list("bacd")])
    with raises(ValueError, r"feature names should match(.|\n)* column 'd'; fit had it\. Add it, with missing v"):
        model.predict(table[list("abc")])
    unknown = (
        table[list("abc")].assign(d=np.nan) if library == "pandas" else table.with_columns(d=frames.lit(None, float))
    )
    assert np.isfinite(model.decision_function(unknown)).all()


def test_a_column_that_is_not_there_is_named_without_advice_where_nothing_may_be_missing(data):
    frames = pytest.importorskip("pandas")
    X, y, *_ = data
    table = frames.DataFrame({name: X[:, j] for j, name in enumerate("abcd")})
    model = PNormPush(rankers="columns", t_max=5).fit(table, y)
    with raises(ValueError, r"X lacks the columns 'b', 'd'; fit had them$"):
        model.predict(table[["a", "c"]])


def test_functions_that_take_no_model_name_the_method(data, tmp_path):
    X, y, *_ = data
    model = PNormPush(t_max=5).fit(X, y)
    saved = pnorm.ScoringFunction(model.lam_, model.rankers_)
    path = tmp_path / "page.html"
    calls = {
        "explain": (
            lambda of: pnorm.explain(of, X),
            "Call model.explain(X)",
            "Call model.explain(X)",
        ),
        "importance": (
            lambda of: pnorm.importance(of, X, y),
            "Use model.feature_importances_",
            "Call pnorm.importance(",
        ),
        "score": (lambda of: pnorm.score(X, of), "Call model.decision_function(X)", "Call model.score(X)"),
        "probability": (
            lambda of: pnorm.probability(of, X),
            "Call model.predict_proba(X)",
            "Call model.probability(X)",
        ),
        "shapes": (lambda of: pnorm.shapes(of), "Call model.shapes(X)", "Call pnorm.shapes(model.lam, model.H, X)"),
        "report_html": (
            lambda of: pnorm.report_html(path, X, y, H=of),
            "Call model.report_html(path, X, y)",
            "Call pnorm.report_html(path, X, y, model.H, model.lam)",
        ),
    }
    for name, (call, of_estimator, of_saved) in calls.items():
        for given, hint in ((model, of_estimator), (saved, of_saved)):
            said = f"pnorm.{name} takes weak rankers and coefficients (H and lam) instead of a model; got "
            with raises(TypeError, f"{said}{type(given).__name__}. {hint}"):
                call(given)
    with pytest.raises(TypeError, match=r"got LogisticRegression$"):
        pnorm.explain(LogisticRegression(), X)
    assert list(inspect.signature(pnorm.score).parameters) == ["X", "H", "lam", "n_threads"]


@pytest.mark.filterwarnings("ignore:rows of X have the scores of rows of fit")
def test_a_model_that_was_loaded_scores_and_explains_rows_as_the_estimator_does(data, tmp_path):
    X, y, _, group = data
    model, path = PNormPush(p=4, l2=0.1).fit(X, y), tmp_path / "model.json"
    pnorm.save(path, model)
    loaded = pnorm.load(path)
    np.testing.assert_array_equal(loaded.score(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.decision_function(X) > 0.0, loaded.probability(X) > 0.5)
    negatives = X[y == model.classes_[0]]
    parts = [explained.contributions for explained in (loaded.explain(X, negatives), model.explain(X))]
    np.testing.assert_allclose(*parts, atol=1e-12)
    with warns(UserWarning, "no cut-off keeps"):
        model.choose_cutoff(X[:40], y[:40], precision=0.9999)
    pnorm.save(path, model)
    np.testing.assert_array_equal(pnorm.load(path).decision_function(X), model.decision_function(X))
    pnorm.save(path, PNormPush(t_max=3).fit(X, y, groups=group))
    with raises(ValueError, r"saved without intercept.*use score\(X\)"):
        pnorm.load(path).decision_function(X)


@pytest.mark.parametrize("name", [*pnorm._files._INSTEAD, "no_such_name"])
def test_a_loaded_model_says_what_it_has_instead_of_the_members_of_an_estimator(name):
    known = name in pnorm._files._INSTEAD
    assert hasattr(PNormPush, name) or name in ("threshold_", "classes_") or not known
    model = pnorm.ScoringFunction([1.0])
    assert not hasattr(model, name)
    end = (
        f": {pnorm._files._INSTEAD[name]}. joblib.dump and joblib.load keep a fitted estimator as it is"
        if known
        else ""
    )
    with raises(AttributeError, re.escape(f"object has no attribute {name!r}{end}") + "$"):
        getattr(model, name)


def test_a_report_begins_with_the_budget_of_the_cut_off_and_has_the_reasons_of_explain(tmp_path):
    data, path = pnorm.datasets.insurance_claims(3000), tmp_path / "page.html"
    model = PNormPush(p=1, l2=0.1).fit(data.X[:2000], data.y[:2000])
    X, y = data.X[2000:], data.y[2000:]
    model.choose_cutoff(X, y, budget=300, of=10_000)
    model.report_html(path, X, y)
    text = path.read_text(encoding="utf-8")
    assert "Of the first 30 rows, " in text  # 300 of 10,000 as a share of 1,000
    assert "compared with the average negative training row" in text
    assert tells(text, "pass the training rows as training=(X, y)")
    first = int(model.decision_function(X).argmax())
    for told in model.explain(X).top(first, 2, either=True):
        value, change = told.rstrip(")").split(" (")
        column, number = value.split(" = ")
        written = re.search(rf'{column} = {float(number):g}(?:\.0+)?<.*?class="by">(.*?)<', text, re.DOTALL)[1]
        assert float(written.replace("−", "-")) == pytest.approx(float(change), abs=0.006)
    model.report_html(path, X, y, budget=50)
    assert "Of the first 50 rows, " in path.read_text(encoding="utf-8")


def test_a_report_names_the_order_of_its_arguments(data, tmp_path):
    X, y, *_ = data
    model, path = PNormPush(t_max=5).fit(X, y), tmp_path / "page.html"
    with raises(TypeError, r"got ndarray. The order is model.report_html\(path, X, y\)"):
        model.report_html(X, y, path)
    with raises(TypeError, r"got ndarray. The order is report_html\(path, X, y, H, lam\)"):
        pnorm.report_html(X, y, path, model.rankers_, model.lam_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_levels_and_collections_of_frames(data, library):
    frames = pytest.importorskip(library)
    X, y, c, _ = data
    towns = np.array(["Bonn", "Köln", "Ulm"])[(X[:, 2] > -0.4).astype(int) + (X[:, 2] > 0.4)]
    table = frames.DataFrame({"age": X[:, 0], "town": towns.tolist()})

    def mixed(pos, neg):
        return pnorm.rankers.quantile_thresholds(pos[["age"]], neg[["age"]], 9) + pnorm.rankers.categories(
            pos[["town"]], neg[["town"]]
        )

    model = PNormPush(rankers=mixed, t_max=20).fit(table, y, c)
    assert {"town = Bonn", "town = Köln", "town = Ulm"} < set(model.rankers_.names)
    again = PNormPush(rankers=model.rankers_, t_max=20).fit(table, y, c)
    np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))
    levels = PNormPush(rankers="categories", t_max=20).fit(table[["town"]], y)
    assert levels.rankers_.names == ("town = Bonn", "town = Köln", "town = Ulm")
    with raises(ValueError, "feature names should match"):
        levels.predict(table[["age"]])


def test_levels_of_arrays_of_objects():
    X = np.array([["red", 1], ["blue", 2], ["red", None], ["blue", 1]], dtype=object)
    model = PNormPush(rankers="categories", t_max=5).fit(X, [1, 0, 1, 0])
    assert model.rankers_.names == ("x0 = blue", "x0 = red", "x1 = 1", "x1 = 2", "x1 is missing")
    np.testing.assert_array_equal(model.predict(X), [1, 0, 1, 0])


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
@pytest.mark.parametrize("rankers", ["thresholds", "columns"])
def test_sparse_rows(data, form, rankers):
    X, y, c, g = data
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    sparse = getattr(scipy.sparse, form)(X)
    dense = PNormPush(rankers=rankers, t_max=15).fit(X, y, c, g)
    model = PNormPush(rankers=rankers, t_max=15).fit(sparse, y, c, g)
    np.testing.assert_allclose(model.decision_function(sparse), dense.decision_function(X), atol=1e-9)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        PNormPush(rankers="normalized").fit(sparse, y)


# In scikit-learn's machinery ---------------------------------------------------------------------------


def test_pipelines_searches_and_calibration(data):
    X, y, *_ = data
    pipe = make_pipeline(StandardScaler(), PNormPush(rankers="columns", t_max=30))
    search = GridSearchCV(
        pipe,
        {"pnormpush__p": [1.0, 4.0, 16.0]},
        scoring={"top": positives_at_top_scorer, "area": partial_auc_scorer, "roc_auc": "roc_auc"},
        refit="top",
        cv=3,
    ).fit(X, y)
    assert search.cv_results_["mean_test_top"].shape == (3,)
    assert np.isfinite(search.cv_results_["mean_test_area"]).all()
    assert search.decision_function(X).shape == (160,)
    assert (cross_val_score(pipe, X, y, cv=3, scoring="roc_auc") > 0.7).all()
    calibrated = CalibratedClassifierCV(pipe, cv=3).fit(X, y)
    probability = calibrated.predict_proba(X)[:, 1]
    assert roc_auc_score(y, probability) > 0.7
    assert (probability >= 0).all()
    assert (probability <= 1).all()


STAGES = {
    "chosen": (
        {"t_max": None},
        ["rows to train on", "cross-validation: 15 runs", "chosen: ", "training: converged", "out-of-fold: AUC 0."],
    ),
    "given": ({"p": 2, "l2": 0.5}, ["rows to train on", "taken: line + cuts, p = 2", "training: "]),
    "rounds": ({"t_max": 5}, ["rows to train on", "training: t_max after 5 rounds, log F_p"]),
    "cut": (
        {"p": 4, "l2": 1.0, "cutoff": {"recall": 0.5}},
        ["rows to train on", "taken: ", "training: converged", "cut-off: "],
    ),
}


@pytest.mark.parametrize("case", STAGES)
@pytest.mark.filterwarnings("ignore:no cut-off")
def test_verbose_prints_a_line_for_each_stage(data, capsys, case):
    X, y, *_ = data
    how, expected = STAGES[case]
    silent = PNormPush(random_state=0, **how).fit(X, y)
    assert capsys.readouterr().out == ""
    model = PNormPush(random_state=0, verbose=True, **how).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("[PNormPush] ") for line in lines)
    assert len(lines) == len(expected)
    assert all(text in line for line, text in zip(lines, expected, strict=True))
    np.testing.assert_array_equal(model.lam_, silent.lam_)
    PNormPush(random_state=0, verbose=2, **how).fit(X, y)
    folds = [line for line in capsys.readouterr().out.splitlines() if ": run " in line]
    assert len(folds) == (15 if case == "chosen" else 0)


@pytest.mark.parametrize("verbose", [-1, 0.5, "yes", None])
def test_verbose_is_a_number(data, verbose):
    with pytest.raises((ValueError, TypeError), match="verbose must be"):
        PNormPush(verbose=verbose).fit(*data[:2])


def test_clones_and_pickles(data):
    X, y, *_ = data
    model = PNormPush(8.0, t_max=10, random_state=0).fit(X, y)
    assert not hasattr(clone(model), "lam_")
    assert clone(model).get_params() == model.get_params()
    room = io.BytesIO()
    joblib.dump(model, room)
    room.seek(0)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(room)):
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert "p=8.0" in repr(model)
    given = PNormPush(rankers=model.rankers_)
    assert clone(given).rankers.names == model.rankers_.names


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("_routing")
def test_weights_and_groups_are_routed(data):
    X, y, c, g = data
    c = c + 1
    plain = make_pipeline(StandardScaler(), PNormPush(rankers="columns", t_max=20))
    model = PNormPush(rankers="columns", t_max=20).set_fit_request(groups=True, sample_weight=True)
    pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(
        X, y, sample_weight=c, groups=g
    )
    by_hand = PNormPush(rankers="columns", t_max=20).fit(StandardScaler().fit_transform(X), y, c, g)
    np.testing.assert_allclose(pipe[-1].lam_, by_hand.lam_, rtol=1e-12)
    with raises(ValueError, r"\[groups\] are passed but are not explicitly set"):
        cross_val_score(plain, X, y, params={"groups": g}, scoring=positives_at_top_scorer)

    assert repr(scorer("precision_at", k=10)) == "scorer('precision_at', k=10)"
    weighted = scorer("auc").set_score_request(sample_weight=True)
    found = cross_validate(
        model, X, y, params={"groups": g, "sample_weight": c}, cv=GroupKFold(3), scoring=weighted, return_indices=True
    )
    for known, new, value in zip(*found["indices"].values(), found["test_score"], strict=True):
        by_hand = PNormPush(rankers="columns", t_max=20).fit(X[known], y[known], c[known], g[known])
        f = by_hand.decision_function(X[new])
        assert value == pytest.approx(roc_auc_score(y[new], f, sample_weight=c[new]), rel=1e-12)


@pytest.mark.parametrize("measure", ["auc", "average_precision", "positives_at_top", "partial_auc", "r_max", "bedroc"])
def test_scorers_are_the_measures(data, measure):
    X, y, c, _ = data
    labels = np.array(["no", "yes"])[y]
    model = PNormPush(t_max=10).fit(X, labels)
    f = model.decision_function(X)
    of_list, sign = getattr(pnorm.metrics, measure), -1 if measure == "r_max" else 1
    assert scorer(measure)(model, X, labels) == sign * of_list(f[y == 1], f[y == 0])
    reverse = scorer(measure, pos_label="no")(model, X, labels)
    assert reverse == pytest.approx(sign * of_list(-f[y == 0], -f[y == 1]))
    if measure != "bedroc":
        expected = sign * of_list(f[y == 1], f[y == 0], pos_weight=c[y == 1], neg_weight=c[y == 0])
        assert scorer(measure)(model, X, labels, sample_weight=c) == pytest.approx(expected)


def test_scorers_of_other_models_and_their_options(data):
    X, y, *_ = data
    forest = RandomForestClassifier(10, random_state=0).fit(X[:80], y[:80])
    f = forest.predict_proba(X[80:])[:, 1]
    pos, neg = f[y[80:] == 1], f[y[80:] == 0]
    assert positives_at_top_scorer(forest, X[80:], y[80:]) == pnorm.metrics.positives_at_top(pos, neg)
    expected = pnorm.metrics.partial_auc(pos, neg, max_fpr=0.1, standardized=True)
    assert partial_auc_scorer(forest, X[80:], y[80:]) == expected
    assert expected == pytest.approx(roc_auc_score(y[80:], f, max_fpr=0.1))
    assert scorer("precision_at", k=5)(forest, X[80:], y[80:]) == pnorm.metrics.precision_at(pos, neg, 5)
    assert pickle.loads(pickle.dumps(positives_at_top_scorer))(forest, X, y) == positives_at_top_scorer(forest, X, y)


def test_scorers_say_what_is_wrong(data):
    X, y, *_ = data
    model = PNormPush(t_max=5).fit(X, y)
    with raises(ValueError, r"measure must be one of 'auc', .* got 'f1'"):
        scorer("f1")
    with raises(ValueError, "y_true must have two classes for positives_at_top; got 1"):
        positives_at_top_scorer(model, X[y == 1], y[y == 1])
    with raises(ValueError, "sample_weight has the negative weight"):
        positives_at_top_scorer(model, X, y, sample_weight=-np.ones(len(y)))


# Front door -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (dict(p=0.5), "p must be at least 1"),
        (dict(p=[1, 0.5]), "p must be at least 1"),
        (dict(p=[]), "p is empty; at least one number is needed"),
        (dict(p=[4, 4.0]), "p has 4 2 times; once is enough"),
        (dict(p=[1, 4], t_max=5), "p has 2 numbers for cross-validation to choose from; t_max takes one"),
        (dict(p=[1, 4], loss="logistic"), "choose from; loss=logistic takes one"),
        (dict(l2=1.0, t_max=5), "l2 = 1 is for the minimiser; t_max asks for rounds"),
        (dict(l1=0.5, t_max=5), "l1 = 0.5 is for the minimiser"),
        (dict(max_columns=3, t_max=5), "max_columns = 3 is for the minimiser"),
        (dict(l2=-1.0), "l2 must be zero or more"),
        (dict(l1=-1.0), "l1 must be zero or more"),
        (dict(max_columns=0), "max_columns must be at least 1"),
        (dict(cv=1), "cv must be at least 2"),
        (dict(t_max=-1), "t_max must be at least 0"),
        (dict(loss="log"), "loss must be"),
        (dict(scoring="top"), "top"),
    ],
    ids=str,
)
def test_bad_parameters(data, how, message):
    with raises(ValueError, message):
        PNormPush(**how).fit(*data[:2])


def test_of_several_powers_cross_validation_chooses_one(data):
    X, y, *_ = data
    model = PNormPush(p=(2, 16), l2=0.1).fit(X, y)
    assert np.unique(model.cross_validation_.p).tolist() == [2.0, 16.0]
    assert model.p_ == model.cross_validation_.best.p
    assert f"p = {model.p_:g} (of 2 and 16)" in str(model)
    alone = PNormPush(p=model.p_, l2=0.1).fit(X, y)
    np.testing.assert_array_equal(model.lam_, alone.lam_)
    np.testing.assert_array_equal(PNormPush(p=[4], t_max=5).fit(X, y).lam_, PNormPush(p=4, t_max=5).fit(X, y).lam_)
    assert clone(model).p == (2, 16)
    with raises(TypeError, "p must be a number of 1 or more, or a sequence of such numbers; got 'auto'"):
        PNormPush(p="auto").fit(X, y)


def test_monotone_goes_to_the_columns(data):
    X, y, *_ = data
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    for rankers in ("thresholds", "columns", "normalized"):
        model = PNormPush(rankers=rankers, t_max=60, monotone={"c0": -1, 1: 1}).fit(frame, y)
        H, lam = model.rankers_, model.lam_
        assert (H.signs[H.column == 0] == -1).all()
        assert (H.signs * lam >= 0.0).all()
        free = PNormPush(rankers=rankers, t_max=60).fit(frame, y)
        assert (H.signs * free.lam_ < 0.0).any()
    with raises(ValueError, r"monotone is for rankers among 'table', 'thresholds', 'columns', 'normalized'; for oth"):
        PNormPush(rankers="categories", monotone={0: 1}).fit(X, y)
    with raises(ValueError, "monotone names the column 'd0', which is not in X"):
        PNormPush(monotone={"d0": 1}).fit(frame, y)


SEPARABLE = {
    "given": ({"p": 1, "l2": 1.0}, r"are separable: the penalty \(l2 = 1\) determines how far"),
    "steps": ({"rankers": "thresholds", "p": 1, "l1": 0.1}, r"the penalty \(l1 = 0.1, l2 = "),
    "rounds": ({"t_max": 30}, r"are separable: the end of training \(n_iter_ = \d+\) determines"),
}


@pytest.mark.parametrize("case", SEPARABLE)
def test_separable_rows_are_named_and_probabilities_warn(case):
    how, message = SEPARABLE[case]
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], 40)
    X = rng.normal(size=(80, 2)) + 8.0 * y[:, None]
    model = PNormPush(**how).fit(X, y)  # without a warning: the order of the rows is right
    f = model.decision_function(X)
    assert f[y == 1].min() > f[y == 0].max()
    assert model.separation_ == "separable"
    with warns(SeparationWarning, message):
        model.predict_proba(X)
    assert pickle.loads(pickle.dumps(model)).separation_ == "separable"
    assert PNormPush(**how).fit(X[:, :1], np.where(np.arange(80) % 9, y, 1 - y)).separation_ is None


def test_separation_is_that_of_the_score_within_groups():
    X, y, group = np.array([[1.0], [0.0], [5.0], [4.0]]), [1, 0, 1, 0], [0, 0, 1, 1]
    assert PNormPush(rankers="columns", t_max=5).fit(X, y, groups=group).separation_ == "separable"
    assert PNormPush(rankers="columns", t_max=5).fit(X, y).separation_ is None
    rng = np.random.default_rng(0)  # more rows than are scored first, of which the last one is in the way
    y = np.repeat([1, 0], 1500)
    X = rng.random((3000, 1)) + 2.0 * y[:, None]
    assert PNormPush(rankers="columns", t_max=5).fit(X, y).separation_ == "separable"
    X[-1] = 9.0
    assert PNormPush(rankers="columns", t_max=5).fit(X, y).separation_ is None


def test_bad_rows_and_labels(data):
    X, y, c, g = data
    with raises(ValueError, r"Only binary classification.*multiclass: y has 3 classes"):
        PNormPush().fit(X, np.arange(160) % 3)
    with raises(ValueError, r"pos_label is one of two labels\. Pass y == 2 to rank the rows with it above"):
        PNormPush(pos_label=2).fit(X, np.arange(160) % 3)
    with raises(ValueError, r"y has 3 classes, 0, 1, 2\. Pass y == LABEL, where LABEL is one of these, to"):
        PNormPush().fit(X, np.arange(160) % 3)
    with raises(ValueError, r"classes, 'fraud', 'ok', 'paid'\. Pass y == LABEL, where LABEL is one of these"):
        PNormPush().fit(X, np.array(["ok", "paid", "fraud"])[np.arange(160) % 3])
    words = np.array(["Yes", "no ", "yes", "No"])[np.arange(160) % 4]
    with raises(ValueError, r"classes, .*Only case or spaces differ: 'No' and 'no '; 'Yes' and 'yes'\. Me"):
        PNormPush().fit(X, words)
    merged = PNormPush(t_max=2).fit(X, [word.strip().lower() for word in words])  # as the message says, without pandas
    assert merged.classes_.tolist() == ["no", "yes"]
    with raises(ValueError, "y has one class, 1; two classes are needed to rank"):
        PNormPush().fit(X, np.ones(160, int))
    with raises(ValueError, "only one class has rows of positive sample_weight, 0; two"):
        PNormPush().fit(X, y, 1 - y)
    with raises(ValueError, "sample_weight has the negative weight"):
        PNormPush().fit(X, y, -c)
    with raises(ValueError, "groups must hold one label per row, 160; got 159"):
        PNormPush().fit(X, y, groups=g[1:])
    with pytest.raises(ValueError, match="share no label"):
        PNormPush().fit(X, y, groups=y)
    with raises(ValueError, "inconsistent numbers of samples"):
        PNormPush(rankers=[lambda X: X[:, 0]]).fit(X, y[1:])
    with pytest.raises(NotFittedError):
        PNormPush().predict(X)
    with raises(ValueError, r"Pass y == LABEL, .* others\. Only case or spaces differ: 'No' and 'no '$"):
        PNormPush(t_max=2).fit(X, np.array(["No", "no ", "late", "Yes"])[np.arange(len(y)) % 4])


def test_scikit_learn_is_imported_only_when_asked_for():
    code = (
        "import sys, pnorm; assert not {'sklearn', 'dask'} & set(sys.modules); pnorm.sklearn.PNormPush; "
        "assert 'sklearn' in sys.modules and 'dask' not in sys.modules; assert not hasattr(pnorm, 'torch')"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    for name in [name for name in sys.modules if name.startswith("pnorm.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    with raises(
        ImportError, r"needs scikit-learn 1\.4 or newer \(.*\)\. Install it with: pip install .pnorm-push\[sklearn\]"
    ):
        import pnorm.sklearn  # noqa: F401


@pytest.mark.filterwarnings("ignore::pnorm.diagnostics.NoSignalWarning")
def test_text_among_numbers_is_found_for_the_user():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "why": ["1", "2", "travel" * 50_000, "x"]})
    for kind in ("thresholds", "columns", "normalized"):
        model = PNormPush(rankers=kind)
        for X in (frame, frame.to_numpy(), frame.to_numpy().tolist()):
            where = r"row 2, column 1 \('why'\); " if X is frame else "row 2, column 1; "
            with raises(ValueError, f"^X has 'travel.*travel' at {where}every value must be a number: ") as error:
                model.fit(X, [0, 1, 0, 1])
            assert tells(str(error.value), "rankers='table' takes numbers, text and dates as they are")
            assert len(str(error.value)) < 400
        dates = frame.assign(why=pd.to_datetime("2024-01-02"))
        with raises(TypeError, r"X has Timestamp.* at row 0, column 1 \('why'\).*days since a fixed one"):
            model.fit(dates, [0, 1, 0, 1])
        model.fit(frame.assign(why=["1", "2", "3", "4"]), [0, 1, 0, 1])  # text that holds numbers is what it was
        with pytest.raises(ValueError, match=r"column 1 \('why'\)"):
            model.predict(frame)


@pytest.mark.filterwarnings("ignore:rows of X have the scores of rows of fit")
def test_a_fitted_estimator_is_saved_with_all_that_it_has(tmp_path):
    rng = np.random.default_rng(5)
    y = rng.random(200) < 0.3
    X = rng.normal(size=(200, 2)) + y[:, None]
    model = PNormPush(p=2, rankers="thresholds", l2=0.1).fit(X, y)
    pnorm.save(tmp_path / "plain.json", model, metadata={"by": "me"})
    kept = pnorm.load(tmp_path / "plain.json")
    assert kept.p == 2
    assert kept.metadata == {"by": "me"}
    np.testing.assert_array_equal(kept.score(X), pnorm.score(X, model.rankers_, model.lam_))
    np.testing.assert_allclose(kept.probability(X), model.predict_proba(X)[:, 1], rtol=1e-12)
    assert kept.cutoff is None
    model.choose_cutoff(X, y, budget=20)
    pnorm.save(tmp_path / "cut.json", model)
    np.testing.assert_array_equal(pnorm.load(tmp_path / "cut.json").predict(X), model.predict(X))
    pipe = make_pipeline(StandardScaler(), PNormPush(rankers="columns", t_max=2)).fit(np.eye(4), [0, 1, 0, 1])
    with raises(TypeError, r"a pipeline cannot be saved: save its last step, pnorm.save\(path, pipeline"):
        pnorm.save(tmp_path / "pipe.json", pipe)
    assert not (tmp_path / "pipe.json").exists()
    pnorm.save(tmp_path / "pipe.json", pipe[-1])
    with raises(ValueError, "an estimator brings its own p; leave p out"):
        pnorm.save(tmp_path / "plain.json", model, p=3)
    with pytest.raises(TypeError, match="lam must be"):
        pnorm.save(tmp_path / "plain.json", PNormPush())


# What a model prints


def test_a_printed_model_says_which_label_is_positive():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 3 == 0
    X, words = rng.normal(size=(80, 2)) + y[:, None], np.where(y, "lost", "won")
    model = PNormPush(p=1, l2=0.1, pos_label="lost").fit(X, words)
    assert "rows         80: 27 positive (lost), 53 negative (won); 2 columns" in str(model).splitlines()
    assert "27 positive, 53 negative; 2" in str(PNormPush(p=1, l2=0.1).fit(X, y))


def told_of(model, X, positive):
    """The lines that describe a fitted model, from its public attributes."""
    tried = set() if model.cross_validation_ is None else set(model.cross_validation_.p.tolist())
    power = f"p = {model.p_:g}" + " (of 1 and 4)" * (tried == {1.0, 4.0})
    n_pos, of_what = int(sum(positive)), []
    if model.kind_ is not None:
        words = {"line + cuts": "lines with fine steps", "steps": "step functions", "lines": "straight lines"}
        of_what.append(f"{words[model.kind_]} ({model.kind_})" if model.kind_ in words else model.kind_)
    of_what.append(power)
    if model.l1_ > 0:
        of_what.append(f"l1 = {model.l1_:.4g}")
    if model.l2_ > 0:
        of_what.append(f"l2 = {model.l2_:.4g}")
    rounds = model.trace_.path is None
    if model.l1_ == model.l2_ == 0 and not rounds:
        of_what.append("no penalty")
    n = model.trace_.n_iter
    ended = f"{model.trace_.status} after {n} {'round' if rounds else 'step'}{'s' if n != 1 else ''}"
    if model.separation_ in ("separable", "quasi-separable"):
        ended += f"; the training rows are {model.separation_}"
    lines = [
        f"rows         {len(positive)}: {n_pos} positive, {len(positive) - n_pos} negative; {X.shape[1]} columns",
        f"model        {', '.join(of_what)}; {len(model.lam_)} weak rankers",
        f"training     {ended}",
    ]
    if model.out_of_fold_ is not None:
        auc, partial = model.out_of_fold_.auc, model.out_of_fold_.partial_auc
        found, of_random = str(model.out_of_fold_), "99 % of random orders: "
        assert found.startswith(f"AUC {auc:.3f} ({of_random}")
        assert f", partial AUC {partial:.3f} (0." in found
        is_better = max(auc.low, partial.low) > 0.5
        lines += [
            f"out of fold  {found}",
            f"             {'better' if is_better else 'not shown to be better'} than a random order",
        ]
    return lines


@pytest.mark.filterwarnings("ignore::pnorm.diagnostics.NoSignalWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("how", "shift"),
    [
        ({}, 1.0),
        ({"p": 2.0, "cv": 3}, 0.0),
        ({"rankers": "columns", "l2": 0.5, "p": 4}, 1.0),
        ({"rankers": "columns", "l2": 0.0, "p": 4}, 20.0),
        ({"t_max": 7}, 1.0),
        ({"t_max": 1, "rankers": "columns"}, 1.0),
    ],
    ids=str,
)
def test_a_fitted_model_prints_what_it_is(how, shift):
    rng = np.random.default_rng(1)
    y = np.arange(80) % 3 == 0
    X = rng.normal(size=(80, 2)) + shift * y[:, None]
    model = PNormPush(**how)
    before = repr(model)
    assert str(model) == before
    model.fit(X, y)
    first, *lines = str(model).splitlines()
    assert first == repr(model) == before  # scikit-learn's own words, of which a pipeline is made
    assert lines == told_of(model, X, y)
    assert str(pickle.loads(pickle.dumps(model))) == str(model)
    assert str(clone(model)) == before
    wrapped = make_pipeline(model)
    assert str(wrapped) == repr(wrapped)
    assert "rows  " not in repr(wrapped)
    assert "rows  " not in repr(GridSearchCV(model, {"p": [1, 4]}))


def test_a_model_of_rows_without_columns_prints_no_number_of_them():
    rows = [{"a": float(i)} for i in (3, 1, 2, 0)]
    model = PNormPush(rankers=[lambda rows: np.array([row["a"] for row in rows])], l2=1.0, p=2)
    lines = str(model.fit(rows, [1, 0, 1, 0])).splitlines()
    assert "rows         4: 2 positive, 2 negative" in lines
    assert "model        p = 2, l2 = 1; 1 weak ranker" in lines


@pytest.mark.parametrize(("p", "told"), [(None, r"p = [14] \(of 1 and 4\),"), (4, "p = 4,")])
def test_the_printed_model_says_which_p_were_tried(p, told):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = PNormPush(p=p).fit(X, X[:, 0] + rng.normal(size=200) > 1.0)
    (line,) = [line for line in str(model).splitlines() if line.startswith("model ")]
    assert re.search(told, line)
