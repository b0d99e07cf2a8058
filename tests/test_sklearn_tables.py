"""The scikit-learn estimator on tables of mixed columns, as they come."""

import datetime
import warnings

import numpy as np
import pytest

import pnorm
from pnorm.rankers import TableWarning

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402

from pnorm.sklearn import PNormPush  # noqa: E402

pytestmark = pytest.mark.usefixtures("few_points")

N = 160


def columns():
    """Columns of a mixed table by name, and whether each row is positive."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, N).astype(float)
    town = rng.choice(["Bonn", "Köln", "Ulm"], N).tolist()
    rich = rng.random(N) < 0.4
    start = datetime.datetime(2024, 1, 1)
    y = age / 20.0 + (np.array(town) == "Ulm") + rich + rng.normal(size=N) > 3.2
    age[rng.random(N) < 0.1] = np.nan
    town[3] = None
    table = {
        "id": [f"TX{i:05d}" for i in range(N)],
        "age": age,
        "town": town,
        "rich": rich,
        "since": [start + datetime.timedelta(hours=int(h)) for h in rng.integers(0, 9000, N)],
    }
    return table, y


def as_frame(table, library):
    if library == "dict":
        return dict(table)
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").table(table)
    return pytest.importorskip(library).DataFrame(table)


@pytest.fixture(scope="module")
def frame():
    """The table as pandas has it, without the id, and labels."""
    table, y = columns()
    return pytest.importorskip("pandas").DataFrame(table).drop(columns="id"), y


def quick(**how):
    """An estimator that has nothing to choose."""
    return PNormPush(**{"p": 1, "l2": 0.1, "linear": True} | how)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_a_table_needs_no_preprocessing(library):
    table, y = columns()
    X = as_frame(table, library)
    with pytest.warns(TableWarning, match=r"leaves out id \(an id") as told:
        model = PNormPush().fit(X, y)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert model.feature_names_in_.tolist() == list(table)
    assert model.n_features_in_ == 5
    assert [of.kind for of in model.rankers_.plan] == ["left out", "number", "category", "boolean", "date"]
    pos, neg = ({name: [values[i] for i in np.flatnonzero(side)] for name, values in table.items()} for side in (y, ~y))
    with pytest.warns(TableWarning):
        H = pnorm.rankers.from_table(pos, neg, linear=model.kind_ == "line + cuts")
    assert model.rankers_.to_dict() == H.to_dict()
    lam, _ = pnorm.minimize(pos, neg, H, model.p_, l1=model.l1_, l2=model.l2_, penalty="shapes", tol=1e-6)
    np.testing.assert_allclose(model.lam_, lam, atol=1e-9)
    f = pnorm.score(table, H, lam)
    np.testing.assert_allclose(model.decision_function(X), f - model.threshold_, atol=1e-9)
    assert model.score(X, y) > 0.7


@pytest.mark.filterwarnings("ignore::pnorm.rankers.TableWarning")
@pytest.mark.parametrize("how", [{}, {"linear": True}, {"linear": False}], ids=str)
def test_what_is_chosen_among_is_made_once(monkeypatch, frame, how):
    import pnorm.rankers._from_table as module

    made = []
    monkeypatch.setattr(module, "_tell", made.append)
    model = PNormPush(**how).fit(*frame)
    assert len(made) == 1
    kinds = {None: ["line + cuts", "steps"], True: ["line + cuts"], False: ["cuts", "steps"]}[how.get("linear")]
    assert model.kind_ in kinds
    assert (model.cross_validation_.best.kind or kinds[0]) == model.kind_
    lines = [name for name in model.rankers_.names if name.endswith("(line)")]
    assert bool(lines) == (model.kind_ == "line + cuts")


@pytest.mark.filterwarnings("ignore::pnorm.rankers.TableWarning")
@pytest.mark.parametrize(
    "how", [{"t_max": 20}, {"early_stopping": True, "t_max": 20}, {"solver": "newton", "l2": 0.1}], ids=str
)
def test_tables_with_rounds_and_newton(frame, how):
    X, y = frame
    model = PNormPush(**how).fit(X, y)
    assert not [name for name in model.rankers_.names if name.endswith("(line)")]
    assert {"town = Ulm", "town is missing", "rich", "since (weekday) = Mon"} < set(model.rankers_.names)
    assert model.score(X, y) > 0.6


def test_groups_and_weights_of_a_table(frame):
    X, y = frame
    rng = np.random.default_rng(1)
    groups, weight = np.arange(N) % 8, rng.integers(0, 3, N)
    model = PNormPush(t_max=20).fit(X, y, weight, groups)
    keep = weight > 0
    again = PNormPush(t_max=20).fit(X[keep], y[keep], weight[keep], groups[keep])
    np.testing.assert_array_equal(model.lam_, again.lam_)
    assert not hasattr(model, "predict_proba")


def test_a_word_and_kinds_make_tables_of_arrays():
    table, y = columns()
    A = np.array([table["age"], table["town"]], dtype=object).T
    model = quick(rankers="table").fit(A, y)
    assert {"x0 > 24.5", "x1 = Ulm"} < set(model.rankers_.names)
    assert model.predict(A.tolist()).tolist() == model.predict(A).tolist()
    numbers = np.column_stack([table["age"] // 10, table["rich"]])
    assert {"x0 = 3", "x1"} < set(quick(kinds={0: "category", 1: "boolean"}).fit(numbers, y).rankers_.names)
    assert "x0 > 2.5" in quick().fit(numbers, y).rankers_.names
    with pytest.raises(ValueError, match=r"X has 'Ulm' at row 0, column 1; .* rankers='table' takes numbers"):
        quick().fit(A, y)


def test_signs_and_kinds_go_to_the_columns(frame):
    X, y = frame
    model = quick(kinds={"age": "category", "since": "leave out"}).fit(X, y)
    assert [of.kind for of in model.rankers_.plan] == ["category", "category", "boolean", "left out"]
    model = quick(monotone={"age": -1, 2: 1}).fit(X, y)
    H = model.rankers_
    assert (H.signs[[name.startswith("age >") for name in H.names]] == -1).all()
    assert H.signs[H.names.index("rich")] == 1
    assert (H.signs * model.lam_ >= 0.0).all()


def test_a_collection_that_was_made_of_a_table(frame):
    X, y = frame
    H = pnorm.rankers.from_table(X[y], X[~y])
    model = quick(rankers=H, linear=None).fit(X, y)
    assert model.rankers_ is H
    assert model.predict(X.to_dict("list")).tolist() == model.predict(X).tolist()


def test_columns_of_new_rows(frame):
    X, y = frame
    model = quick().fit(X, y)
    f = model.decision_function(X)
    for columns, message in (
        (X.columns[::-1], "must be in the same order"),
        (["age", "town", "rich"], "now missing:\n- since"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(X[columns])
    with pytest.raises(ValueError, match="unseen at fit time:\n- more"):
        model.predict(X.assign(more=1))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(model.decision_function(X.to_numpy()), f)
    # A dictionary has no order.
    new = {"more": [1] * N, **{name: X[name].tolist() for name in X.columns[::-1]}}
    np.testing.assert_array_equal(model.decision_function(new), f)
    del new["town"]
    with pytest.raises(ValueError, match="X lacks the column 'town'"):
        model.predict(new)


def test_a_later_fit_forgets_the_names(frame):
    X, y = frame
    model = quick().fit(X.to_dict("list"), y)
    assert model.feature_names_in_.tolist() == list(X)
    model.fit(X[["age"]].fillna(0.0).to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")


def test_tables_in_scikit_learns_machinery(frame):
    X, y = frame
    pipe = make_pipeline(FunctionTransformer(), quick())
    assert (cross_val_score(pipe, X, y, cv=3, scoring="roc_auc") > 0.6).all()
    search = GridSearchCV(pipe, {"pnormpush__kinds": [None, {"age": "category"}]}, cv=2).fit(X, y)
    assert search.predict_proba(X).shape == (N, 2)
    given = quick(kinds={"age": "category"})
    assert clone(given).get_params() == given.get_params()


@pytest.mark.parametrize("library", ["pandas", "dict"])
def test_errors_name_the_column_and_the_row_that_was_given(library):
    table, y = columns()
    del table["id"]
    weight = np.ones(N)
    weight[:7] = 0.0

    def fit(column, row, value, **how):
        values = list(table[column])
        values[row] = value
        return quick(**how).fit(as_frame(table | {column: values}, library), y, weight)

    for row in (int(np.flatnonzero(y)[-1]), int(np.flatnonzero(~y)[-1])):
        with pytest.raises(ValueError, match=rf"^X has inf at row {row}, column 0 \('age'\), which is to be a finite"):
            fit("age", row, np.inf)
        with pytest.raises(ValueError, match=rf"^X has 'many' at row {row}, column 0 \('age'\), which is to be a num"):
            fit("age", row, "many", kinds={"age": "number"})
        with pytest.raises(ValueError, match=rf"^X has \[1\] at row {row}, column 1 \('town'\), which is to be text"):
            fit("town", row, [1], kinds={"town": "category"})
        with pytest.raises(ValueError, match=rf"^X has inf at row {row}, column 0 \('age'\); a level that is a num"):
            fit("age", row, np.inf, kinds={"age": "category"})
    model = fit("age", 9, 30.0)
    with pytest.raises(ValueError, match=r"^X has 'many' at row 2, column 0 \('age'\), which was a number when"):
        model.predict(as_frame(table | {"age": ["1", "", "many", *map(str, table["age"][3:])]}, library))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (dict(kinds={"agee": "number"}), "kinds names the column 'agee', which X has not; did you mean 'age'"),
        (dict(kinds={"age": "numbers"}), r"kinds\['age'\] must be one of 'number'"),
        (dict(monotone={"town": 1}), "monotone names 'town', a category"),
        (dict(rankers="columns", kinds={"age": "number"}), "kinds is for rankers='table'"),
        (dict(kinds={c: "leave out" for c in range(4)}), "no column of X can be used"),
        (dict(linear=True, rankers="categories"), "linear is for rankers='table' and 'thresholds'"),
    ],
    ids=str,
)
def test_bad_parameters(frame, how, message):
    with pytest.raises(ValueError, match=message):
        PNormPush(solver="newton", **how).fit(*frame)


def test_labels_of_a_table(frame):
    X, y = frame
    labels = np.array(["no", "yes"])[y.astype(int)]
    pd = pytest.importorskip("pandas")
    model = quick().fit(X, y)
    for given in (labels.tolist(), pd.Series(labels, dtype="category"), pd.Series(labels, dtype="string")):
        again = quick().fit(X, given)
        assert again.classes_.tolist() == ["no", "yes"]
        np.testing.assert_array_equal(again.lam_, model.lam_)
    for hole in (None, np.nan):
        with pytest.raises(ValueError, match=r"^y has (None|nan) at row 5"):
            quick().fit(X, np.where(np.arange(N) == 5, hole, labels.astype(object)))
    with pytest.raises(ValueError, match=r"^y has nan at row 5"):
        quick().fit(X, np.where(np.arange(N) == 5, np.nan, y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick().fit(X.to_dict("list"), labels[1:])
    with pytest.raises(ValueError, match=r"requires y"):
        quick().fit(X.to_dict("list"), None)


def test_one_warning_where_errors_are_made_of_them(frame):
    X, y = frame
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().fit(X, y).predict(X)
