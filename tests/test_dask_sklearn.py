"""The estimator on Dask collections, against the estimator on the same rows in memory."""

import numpy as np
import pytest
from facts import raises

import pnorm

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

from pnorm import _default  # noqa: E402
from pnorm.sklearn import PNormPush  # noqa: E402

N = 160


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def table():
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(N, 3)), 1)
    frame = pandas.DataFrame(X, columns=list("abc"))
    frame["town"] = rng.choice(["Ulm", "Rome"], N)
    frame["y"] = np.where(X[:, 0] + rng.normal(size=N) > 0.4, "good", "bad")
    return frame


FRAME = table()
ROWS = FRAME.drop(columns="y")
HOW = {"p": 2.0, "l2": 0.5, "cv": 2}


def test_a_frame_whose_rows_are_few_gets_the_model_of_memory():
    X = dd.from_pandas(FRAME, npartitions=3)
    of_memory = PNormPush(**HOW, pos_label="good").fit(ROWS, FRAME["y"])
    for y in ("y", X["y"]):
        rows = X if isinstance(y, str) else X[["a", "b", "c", "town"]]
        model = PNormPush(**HOW, pos_label="good").fit(rows, y)
        assert sorted(model.rankers_.names) == sorted(of_memory.rankers_.names)
        assert model.classes_.tolist() == ["bad", "good"]
        assert model.trace_.gap < 1e-5
        f = model.decision_function(rows)
        np.testing.assert_allclose(f.compute(), of_memory.decision_function(ROWS), atol=0.02)
        np.testing.assert_array_equal(f.compute(), model.decision_function(ROWS))
        labels, probabilities = model.predict(rows), model.predict_proba(rows)
        np.testing.assert_array_equal(labels.compute(), model.predict(ROWS))
        np.testing.assert_array_equal(probabilities.compute(), model.predict_proba(ROWS))
        assert probabilities.compute().shape == (N, 2)
    with raises(AttributeError, r"no certificate_ of rows in partitions: trace_\.gap"):
        _ = model.certificate_
    assert model.feature_importances_.size == 4
    n_pos = int((FRAME["y"] == "good").sum())
    for each in (model, of_memory):
        told = f"{n_pos} positive (good), {N - n_pos} negative (bad)"
        assert str(each).splitlines()[1] == f"rows         160: {told}; 4 columns"


def test_the_positive_label_may_sort_first():
    X = dd.from_pandas(FRAME, npartitions=3)
    how = HOW | {"pos_label": "bad"}
    of_memory, model = PNormPush(**how).fit(ROWS, FRAME["y"]), PNormPush(**how).fit(X, "y")
    assert model.classes_.tolist() == ["good", "bad"]
    f, bad = model.decision_function(ROWS), (FRAME["y"] == "bad").to_numpy()
    assert f[bad].mean() > f[~bad].mean()
    np.testing.assert_allclose(f, of_memory.decision_function(ROWS), atol=0.02)
    assert model._n_rows == of_memory._n_rows == (bad.sum(), (~bad).sum())


@pytest.mark.filterwarnings("ignore::pnorm.diagnostics.NoSignalWarning")  # so few rows
def test_some_rows_choose_and_all_are_minimised_over(monkeypatch):
    monkeypatch.setattr(_default, "MOST", 30)
    monkeypatch.setattr(_default, "N_CUTS", 3)
    A, y = FRAME[list("abc")].to_numpy(), (FRAME["y"] == "good").astype(int).to_numpy()
    X, weight = da.from_array(A, chunks=(50, 3)), np.where(np.arange(N) % 3, 1.0, 2.0)
    labels = da.from_array(y, chunks=50)
    model = PNormPush(p=2.0, cv=2).fit(X, labels, sample_weight=weight)
    again = PNormPush(p=2.0, cv=2).fit(X, labels, sample_weight=weight)
    np.testing.assert_array_equal(model.lam_, again.lam_)
    chosen = model.cross_validation_.best
    share = max(30 / size for size in np.bincount(y))
    np.testing.assert_allclose([model.l1_, model.l2_], [share * chosen.l1, share * chosen.l2])
    weights = {"pos_weight": weight[y == 1], "neg_weight": weight[y == 0]}
    penalties = {"l1": model.l1_, "l2": model.l2_, "penalty": "shapes", "tol": 1e-6}
    lam, trace = pnorm.minimize(A[y == 1], A[y == 0], model.rankers_, 2, **penalties, **weights)
    np.testing.assert_allclose(model.trace_.objective[-1], trace.objective[-1], atol=3e-6)
    assert model.lam_.shape == lam.shape
    told = (
        f"rows         160: {y.sum()} positive, {N - y.sum()} negative; 3 columns"  # all of them, not those that choose
    )
    assert str(model).splitlines()[1] == told


def test_what_is_for_rows_in_memory_is_refused():
    X = dd.from_pandas(FRAME, npartitions=2)
    for how, message in (
        ({"t_max": 3}, "t_max is for rows in memory"),
        ({"loss": "logistic"}, "loss=logistic is for rows in memory"),
        ({"cutoff": {"precision": 0.8}}, "cutoff is for rows in memory"),
        ({"cv": [([0, 1], [2, 3])]}, "cv must be a number of folds"),
    ):
        with raises(ValueError, message):
            PNormPush(**how, pos_label="good").fit(X, "y")
    with raises(ValueError, r"y must have two classes; got \d+ labels"):
        PNormPush().fit(X, X["a"])
