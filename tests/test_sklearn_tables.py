"""The scikit-learn estimator on tables of mixed columns, as they come; which label is positive, and cut-offs."""

import datetime
import pickle
import re
import warnings
from copy import deepcopy

import numpy as np
import pytest
from facts import raises, tells, warns

import pnorm
from pnorm import _categories
from pnorm._checks.labelled import PAIRS
from pnorm.rankers import TableWarning, UnknownLevelWarning

sklearn = pytest.importorskip("sklearn")
from sklearn.base import BaseEstimator, ClassifierMixin, clone  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import average_precision_score, get_scorer, make_scorer  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler  # noqa: E402

from pnorm.sklearn import PNormPush, partial_auc_scorer, scorer  # noqa: E402

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
    return PNormPush(**{"p": 1, "l2": 0.1} | how)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_a_table_needs_no_preprocessing(library):
    table, y = columns()
    X = as_frame(table, library)
    with warns(TableWarning, r"Columns left out: id\.\nmodel\.rankers_\.plan has") as told:
        model = (PNormPush() if library == "pandas" else quick()).fit(X, y)  # all make one table
    assert len(told) == 1
    assert told[0].filename == __file__
    assert model.feature_names_in_.tolist() == list(table)
    assert model.n_features_in_ == 5
    assert [of.kind for of in model.rankers_.plan] == ["left out", "number", "category", "boolean", "date"]
    pos, neg = ({name: [values[i] for i in np.flatnonzero(side)] for name, values in table.items()} for side in (y, ~y))
    with pytest.warns(TableWarning):
        H = pnorm.rankers.from_table(pos, neg, linear={"line + cuts": True, "lines": "only"}.get(model.kind_, False))
    assert model.rankers_.to_dict() == H.to_dict()
    lam, _ = pnorm.minimize(pos, neg, H, model.p_, l1=model.l1_, l2=model.l2_, penalty="shapes", tol=1e-6)
    np.testing.assert_allclose(model.lam_, lam, atol=1e-9)
    f = pnorm.score(table, H, lam)
    np.testing.assert_allclose(model.decision_function(X), f - model.threshold_, atol=1e-9)
    assert model.score(X, y) > 0.7


@pytest.mark.filterwarnings("ignore::pnorm.rankers.TableWarning")
def test_what_is_chosen_among_is_made_once(monkeypatch, frame):
    import pnorm.rankers._from_table as module

    made = []
    monkeypatch.setattr(module, "tell", lambda learned, of_estimator: made.append(learned))
    model = PNormPush().fit(*frame)
    assert len(made) == 1
    assert model.kind_ in ["line + cuts", "steps", "lines"]
    assert model.cross_validation_.best.kind == model.kind_
    lines = [name for name in model.rankers_.names if name.endswith("(line)")]
    assert bool(lines) == (model.kind_ in ("line + cuts", "lines"))


@pytest.mark.filterwarnings("ignore::pnorm.rankers.TableWarning")
@pytest.mark.parametrize(
    ("how", "lines"), [({"t_max": 20}, False), ({"p": 4, "l2": 0.1}, True)], ids=["rounds", "minimiser"]
)
def test_tables_of_which_nothing_is_chosen(frame, how, lines):
    X, y = frame
    model = PNormPush(**how).fit(X, y)
    assert bool([name for name in model.rankers_.names if name.endswith("(line)")]) == lines
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
    with raises(ValueError, r"X has 'Ulm' at row 0, column 1; .* rankers='table' takes numbers"):
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
    model = quick(rankers=H).fit(X, y)
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
        with raises(ValueError, message):
            model.predict(X[columns])
    with raises(ValueError, "unseen at fit time:\n- more"):
        model.predict(X.assign(more=1))
    with warns(UserWarning, "does not have valid feature names"):
        np.testing.assert_array_equal(model.decision_function(X.to_numpy()), f)
    # A dictionary has no order.
    new = {"more": [1] * N, **{name: X[name].tolist() for name in X.columns[::-1]}}
    np.testing.assert_array_equal(model.decision_function(new), f)
    del new["town"]
    with raises(ValueError, "X lacks the column 'town'"):
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


@pytest.mark.parametrize("dropped", [0, 3])
def test_the_first_value_that_does_not_read_is_that_of_the_table(dropped):
    """Whatever its label is, and where rows of weight zero are left out."""
    x = np.arange(400.0) + 0.5
    y = x > 199
    weight = np.where(np.arange(x.size) < dropped, 0.0, 1.0)

    def note(words):
        texts = [words.get(k, str(value)) for k, value in enumerate(x)]
        with warns(TableWarning, "do not read: age"):
            model = quick().fit(as_frame({"age": texts, "x": x % 7}, "pandas"), y, weight)
        return model.rankers_.plan[0].note.partition(": ")[2].partition(";")[0]

    words = {5: "unknown", 9: "unknown", 210: "unknown", 300: " unknown"}
    assert note(words) == "all are 'unknown', first in row 5 of X"
    assert note({0: "unknown"} | words) == f"all are 'unknown', first in row {0 if not dropped else 5} of X"
    words = {205: "tbc", 5: "unknown", 9: "tbc", 210: "unknown"}
    assert note(words) == "'unknown' (row 5 of X), 'tbc' (row 9 of X)"
    words |= {250: "n.d.", 251: "open"}
    assert note(words) == "'unknown' (row 5 of X), 'tbc' (row 9 of X), 'n.d.' (row 250 of X) and others"


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
        with raises(ValueError, rf"^X has inf at row {row}, column 0 \('age'\), which is to be a finite"):
            fit("age", row, np.inf)
        for kinds in ({"age": "number"}, {}):
            with warns(UserWarning, "do not read: age") as warned:
                model = fit("age", row, "many", kinds=kinds)
            (said,) = [of for of in warned if of.category in (TableWarning, UnknownLevelWarning)]
            assert said.category is TableWarning
            note = f"1 value does not read as a number and counts as missing: 'many' (row {row} of X)"
            assert note in model.rankers_.plan[0].note
        with raises(ValueError, rf"^X has \[1\] at row {row}, column 1 \('town'\), which is to be text"):
            fit("town", row, [1], kinds={"town": "category"})
        with raises(ValueError, rf"^X has inf at row {row}, column 0 \('age'\); a level that is a num"):
            fit("age", row, np.inf, kinds={"age": "category"})
    model = fit("age", 9, 30.0)
    texts = ["1", "", "many", *map(str, table["age"][3:])]
    with warns(UnknownLevelWarning, r"\('age'\) of X, 1 value does not read as a number .*'many' \(row 2 of"):
        scores = model.decision_function(as_frame(table | {"age": texts}, library))
    texts[2] = ""
    assert np.array_equal(scores, model.decision_function(as_frame(table | {"age": texts}, library)))
    texts[2:] = (N - 2) * ["many"]
    with raises(ValueError, r"^X has 'many' at row 2, column 0 \('age'\), which was a number in training, and "):
        model.predict(as_frame(table | {"age": texts}, library))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (dict(kinds={"agee": "number"}), "kinds names the column 'agee', which is not in X; did you mean 'age'"),
        (dict(kinds={"age": "numbers"}), r"kinds\['age'\] must be one of 'number'"),
        (dict(monotone={"town": 1}), "monotone names 'town', a category"),
        (dict(rankers="columns", kinds={"age": "number"}), "kinds is for rankers='table'"),
        (dict(kinds={c: "leave out" for c in range(4)}), "no column of X can be used"),
    ],
    ids=str,
)
def test_bad_parameters(frame, how, message):
    with raises(ValueError, message):
        PNormPush(p=4, l2=0.1, **how).fit(*frame)


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
        with raises(ValueError, r"^y has (None|nan) at row 5"):
            quick().fit(X, np.where(np.arange(N) == 5, hole, labels.astype(object)))
    with raises(ValueError, r"^y has nan at row 5"):
        quick().fit(X, np.where(np.arange(N) == 5, np.nan, y))
    with raises(ValueError, "inconsistent numbers of samples"):
        quick().fit(X.to_dict("list"), labels[1:])
    with pytest.raises(ValueError, match=r"requires y"):
        quick().fit(X.to_dict("list"), None)


def test_one_warning_where_errors_are_made_of_them(frame):
    X, y = frame
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().fit(X, y).predict(X)


# Which label is positive ------------------------------------------------------------------------------


def clouds(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y


WORDS = np.array(["ok", "fraud"])


def test_the_positive_label_is_a_parameter(tmp_path):
    X, y = clouds()
    words = WORDS[y.astype(int)]
    plain = quick(rankers="columns").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = quick(rankers="columns", pos_label="fraud").fit(X, words)
    assert model.classes_.tolist() == ["ok", "fraud"]
    f = model.decision_function(X)
    np.testing.assert_array_equal(f, plain.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), WORDS[plain.predict(X).astype(int)])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1] > 0.5, f > 0)
    assert model.score(X, words) == plain.score(X, y)
    assert f[y].mean() > f[~y].mean()
    assert clone(model).get_params() == model.get_params()
    assert repr(PNormPush(pos_label="fraud")) == "PNormPush(pos_label='fraud')"
    other = quick(rankers="columns", pos_label="ok").fit(X, words)
    assert other.classes_.tolist() == ["fraud", "ok"]
    np.testing.assert_allclose(other.predict_proba(X)[:, 1], plain.predict_proba(X)[:, 0], atol=1e-6)
    assert quick(pos_label=0).fit(X, y.astype(int)).classes_.tolist() == [1, 0]
    assert quick(pos_label=False).fit(X, y).classes_.tolist() == [True, False]
    with raises(ValueError, r"^pos_label is 'fruad', and the labels of y are fraud, ok$"):
        quick(pos_label="fruad").fit(X, words)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "rows of X have the scores of rows of fit")
        model.choose_cutoff(X, words, budget=20)
    pnorm.save(tmp_path / "model.json", model)
    kept = pnorm.load(tmp_path / "model.json")
    np.testing.assert_array_equal(kept.predict(X), model.predict(X) == "fraud")
    np.testing.assert_array_equal(kept.probability(X), model.predict_proba(X)[:, 1])


@pytest.mark.parametrize("measure", [scorer("precision_at", k=20), scorer("r_max"), partial_auc_scorer])
def test_scorers_take_the_positive_label_of_the_estimator(measure):
    X, y = clouds()
    words, how = WORDS[y.astype(int)], {"rankers": "columns"}
    plain, model = quick(**how), quick(**how, pos_label="fraud")
    expected = cross_val_score(plain, X, y, scoring=measure, cv=3)
    assert not np.allclose(expected, cross_val_score(quick(**how, pos_label="ok"), X, words, scoring=measure, cv=3))
    np.testing.assert_allclose(cross_val_score(model, X, words, scoring=measure, cv=3), expected)
    found = cross_validate(model, X, words, scoring={"a": measure, "b": scorer("auc")}, cv=3)
    np.testing.assert_allclose(found["test_a"], expected)
    expected = cross_val_score(make_pipeline(StandardScaler(), plain), X, y, scoring=measure, cv=3)
    pipe = make_pipeline(StandardScaler(), model)
    np.testing.assert_allclose(cross_val_score(pipe, X, words, scoring=measure, cv=3), expected)
    search = GridSearchCV(pipe, {"pnormpush__p": [plain.p]}, scoring=measure, cv=3).fit(X, words)
    assert search.best_score_ == pytest.approx(expected.mean())
    assert search.score(X, words) == measure(search.best_estimator_, X, words)
    assert pickle.loads(pickle.dumps(measure))(search, X, words) == measure(search, X, words)


def test_scorers_of_other_estimators_need_the_positive_label():
    X, y = clouds()
    words = WORDS[y.astype(int)]
    of_words, of_truth = LogisticRegression().fit(X, words), LogisticRegression().fit(X, y)
    expected = scorer("precision_at", k=20)(of_truth, X, y)
    assert scorer("precision_at", k=20, pos_label="fraud")(of_words, X, words) == expected
    assert scorer("precision_at", k=20, pos_label="ok")(of_words, X, words) != expected
    for none in ({}, {"pos_label": None}):
        of_ok = scorer("precision_at", k=20, **none)(of_words, X, words)
        assert of_ok == scorer("precision_at", k=20, pos_label="ok")(of_words, X, words)
    model = quick(pos_label="fraud").fit(X, words)
    assert scorer("r_max", pos_label="ok")(model, X, words) == -pnorm.metrics.r_max(-model.decision_function(X), y=~y)


class OfTexts(ClassifierMixin, BaseEstimator):
    """A classifier whose classes are texts, whatever the labels are."""

    classes_ = np.array(["False", "True"])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0]


def test_scorers_take_the_label_that_sorts_last_if_the_classes_of_the_model_are_not_the_labels():
    X, y = clouds()
    assert scorer("auc")(OfTexts(), X, y) == pnorm.metrics.auc(X[:, 0], y=y)


def test_the_positive_label_in_pipelines_and_with_scorers():
    X, y = clouds()
    words = WORDS[y.astype(int)]
    pipe = make_pipeline(FunctionTransformer(), quick(rankers="columns", pos_label="fraud")).fit(X, words)
    assert pipe.classes_.tolist() == ["ok", "fraud"]
    f = pipe.decision_function(X)
    top = pnorm.metrics.precision_at(f[y], f[~y], k=20)
    assert scorer("precision_at", k=20, pos_label="fraud")(pipe, X, words) == top
    assert scorer("precision_at", k=20)(pipe, X, words) == top
    assert get_scorer("accuracy")(pipe, X, words) == np.mean(pipe.predict(X) == words)
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = scorer("auc").set_score_request(pos_label=True)
        found = cross_val_score(pipe[-1], X, words, params={"pos_label": "fraud"}, scoring=scoring, cv=3)
    assert (found > 0.7).all()


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", scorer("precision_at", k=20)])
def test_rows_held_out_are_measured_for_the_positive_label(scoring):
    X, y = clouds()
    how = {"p": 1, "rankers": "columns"}
    plain = PNormPush(**how, scoring=get_scorer(scoring)).fit(X, y)
    measure = get_scorer(scoring)
    if scoring == "average_precision":
        measure = make_scorer(average_precision_score, response_method="decision_function", pos_label="fraud")
    model = PNormPush(**how, scoring=measure, pos_label="fraud").fit(X, WORDS[y.astype(int)])
    found = [of.cross_validation_.scores for of in (model, plain)]
    np.testing.assert_allclose(*found, atol=1e-12)


def test_reasons_in_a_pipeline_have_the_names_of_a_frame():
    pandas = pytest.importorskip("pandas")
    X, y = clouds()
    frame = pandas.DataFrame({"age": X[:, 0], "town": np.where(X[:, 1] > 0, "Ulm", "Rome")})
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), ["town"]), remainder="passthrough")
    names = {}
    for output in ("default", "pandas"):
        pipe = make_pipeline(clone(steps), quick()).set_output(transform=output).fit(frame, y)
        explained = pipe[-1].explain(pipe[:-1].transform(frame))
        np.testing.assert_allclose(explained.scores, pipe.decision_function(frame) + pipe[-1].threshold_)
        names[output] = {reason.split(" ")[0] for row in explained.reasons() for reason in row.split("; ")} - {""}
    assert names["default"] == {"x0", "x1", "x2"}
    assert names["pandas"] == {"onehotencoder__town_Rome", "onehotencoder__town_Ulm", "remainder__age"}


def test_words_that_do_not_say_which_is_positive_are_told():
    X, y = clouds()
    for labels in (["no", "yes"], ["0", "1"], ["False", "True"], [0, 1], [False, True], [1, 2]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            quick().fit(X, np.array(labels)[y.astype(int)])
    for labels in (["bought", "left"], ["YES", "maybe"]):
        with warns(UserWarning, rf"^{labels[1]} is taken .*\(pos_label='{labels[0]}'\) for the other class") as told:
            model = quick().fit(X, np.array(labels)[y.astype(int)])
        assert len(told) == 1
        assert told[0].filename == __file__
        assert model.classes_[1] == labels[1]


# Cut-offs ---------------------------------------------------------------------------------------------


def fitted():
    """A model, and held-out rows with labels."""
    X, y = clouds(1500)
    return PNormPush(p=1, l2=0.01, rankers="columns").fit(X[:500], y[:500]), X[500:], y[500:]


@pytest.mark.parametrize(
    "asked",
    [{"precision": 0.7}, {"precision": 0.7, "at_least": 90}, {"recall": 0.8}, {"budget": 10, "of": 200, "prior": 0.1}],
    ids=str,
)
def test_predict_goes_by_the_cut_off(tmp_path, asked):
    model, X, y = fitted()
    before = model.decision_function(X), model.predict_proba(X)
    f = pnorm.score(X, model.rankers_, model.lam_)
    found = model.choose_cutoff(X, y, **asked)
    assert found is model.cutoff_
    # 129 of the 500 rows of training are positive: 258 of 1000, and a tenth of them fill 37 rows with the precision
    first = {"at_least": 37} | asked if "precision" in asked else asked
    plain = pnorm.cutoff(f[y], f[~y], **first)
    assert found == plain
    assert (hash(found), found.to_dict(), type(found)) == (hash(plain), plain.to_dict(), pnorm.Cutoff)
    for cut in (pickle.loads(pickle.dumps(found)), deepcopy(found)):
        assert (cut, str(cut), repr(cut)) == (found, str(plain), repr(plain))
    np.testing.assert_array_equal(model.predict(X), f >= found.score)
    assert model.predict(X[[np.argmin(np.where(f >= found.score, f, np.inf))]]).all()
    np.testing.assert_array_equal(model.score_samples(X), f)
    np.testing.assert_array_equal(model.decision_function(X), before[0])  # only predict knows the cut-off
    np.testing.assert_array_equal(model.predict_proba(X), before[1])
    pnorm.save(tmp_path / "m.json", model)
    loaded = pnorm.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
    model.fit(X, y)
    assert model.cutoff_ is None


@pytest.mark.filterwarnings("ignore:rows of X have the scores of rows of fit")
def test_a_cut_off_that_keeps_nothing_takes_no_row(tmp_path):
    model, X, y = fitted()
    threshold, f = model.threshold_, model.decision_function(X)
    model.choose_cutoff(X, y, precision=0.6)
    with warns(UserWarning, "^predict will take no row: no cut-off keeps a precision of 99.99 %") as told:
        found = model.choose_cutoff(X, y, precision=0.9999)
    proved = f"proves a precision of at least {100 * found.promised:.4g} % (one-sided bound). Label new rows"
    assert proved in str(told[0].message)
    assert told[0].filename == __file__
    assert found is model.cutoff_
    assert (found.score, model.threshold_) == (None, threshold)
    assert str(found).startswith("No cut-off keeps")
    assert f"Rows with a score of {found.nearest:.6g}" not in str(found)
    with warns(UserWarning, "no row is taken: no cut-off keeps a precision"):
        assert not model.predict(X).any()
    np.testing.assert_array_equal(model.decision_function(X), f)
    with warns(UserWarning, "^predict will take no row"):
        assert model.choose_cutoff(X, y, precision=0.9999) == found  # the same call is no further attempt
    further = (
        r"^an earlier call found no cut-off on as many rows\. .* adds up to 0\.05 to the probability that .* Use new"
    )
    with warns(UserWarning, further):
        assert model.choose_cutoff(X, y, precision=0.6).kept
    told = "An earlier try found no cut-off on as many rows. If these are the same rows, the confidence is up to 0.05 lower"
    assert told in str(model.cutoff_)
    model.report_html(tmp_path / "r.html", X, y)
    assert told in (tmp_path / "r.html").read_text(encoding="utf-8")
    for again in ({"precision": 0.6}, {"recall": 0.6}):  # the same call once more, and another one
        with warns(UserWarning, further):
            model.choose_cutoff(X, y, **again)
        pnorm.save(tmp_path / "m.json", model)
        for kept in (pnorm.load(tmp_path / "m.json").cutoff, pickle.loads(pickle.dumps(model)).cutoff_):
            assert told in str(kept)
            assert kept == model.cutoff_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "rows of X have the scores of rows of fit")
        model.choose_cutoff(X[:-1], y[:-1], recall=0.6)  # of other rows
        model.fit(X, y).choose_cutoff(X, y, recall=0.6)  # of another model
    assert "earlier call" not in str(model.cutoff_)


def test_the_first_depth_is_a_share_of_the_rows_held_out():
    X, y = clouds(6000)
    how = {"p": 1, "l2": 0.01, "rankers": "columns"}
    model = PNormPush(cutoff={"precision": 0.4, "at_least": 0.3}, **how).fit(X, y)
    assert model.cutoff_.kept
    assert model.cutoff_.depth >= 180
    by_number = PNormPush(cutoff={"precision": 0.4, "at_least": 180}, **how).fit(X, y)
    assert by_number.cutoff_ == model.cutoff_
    with raises(ValueError, "at_least must be less than the 600 held-out rows; got 600"):
        PNormPush(cutoff={"precision": 0.4, "at_least": 600}, **how).fit(X, y)


def test_rows_held_out_for_the_cut_off_are_not_trained_on():
    X, y = clouds(600)
    model = PNormPush(p=1, l2=0.01, rankers="columns", cutoff={"recall": 0.5})
    drawn = np.random.RandomState(0)
    held = np.concatenate([drawn.permutation(np.flatnonzero(side))[: round(0.1 * side.sum())] for side in (y, ~y)])
    kept = np.setdiff1d(np.arange(600), held)
    by_hand = PNormPush(p=1, l2=0.01, rankers="columns").fit(X[kept], y[kept])
    np.testing.assert_array_equal(model.fit(X, y).lam_, by_hand.lam_)
    assert model.cutoff_ == by_hand.choose_cutoff(X[held], y[held], recall=0.5)


@pytest.mark.filterwarnings("ignore:predict will take no row")
def test_the_precision_is_kept_in_95_percent_of_lists():
    model, _, _ = fitted()
    X, y = clouds(20_000, seed=1)
    f, rng = pnorm.score(X, model.rankers_, model.lam_), np.random.default_rng(2)
    broken, chosen = 0, 0
    for _ in range(200):
        rows = rng.integers(0, len(y), 500)
        model.choose_cutoff(X[rows], y[rows], precision=0.6)
        if model.cutoff_.score is not None:
            chosen += 1
            broken += y[f >= model.cutoff_.score].mean() < 0.6
    assert chosen > 150
    assert 0 < broken <= 10


@pytest.mark.parametrize(
    ("cutoff", "message"),
    [
        (0.8, "cutoff must be a mapping such as {'precision': 0.8}; got 0.8"),
        ({"precision": 2}, "precision must be above 0 and below 1"),
        ({"precision": 0.5, "recall": 0.5}, "give one of precision, budget, recall; got precision and recall"),
        ({"confidence": 0.5}, "got none of them"),
        (
            {"depth": 5},
            "cutoff has depth; it may have 'precision', 'budget', 'recall', 'of', 'at_least', 'prior', 'confidence'",
        ),
        ({"recall": 0.5, "at_least": 0.2}, "at_least is for a precision; leave it out with recall"),
        ({"precision": 0.5, "at_least": 1.0}, "at_least, a share of the held-out rows .* must be above 0 and below 1"),
    ],
    ids=str,
)
def test_cut_offs_that_make_no_sense(cutoff, message):
    with raises((ValueError, TypeError), message):
        PNormPush(cutoff=cutoff).fit([["never read"]], None)


@pytest.mark.filterwarnings("ignore:rows of X have the scores of rows of fit")
def test_cut_offs_need_one_list_of_rows_that_count_alike():
    X, y = clouds()
    model = quick(cutoff={"recall": 0.5})
    with raises(ValueError, "scores of different groups do not compare"):
        PNormPush(cutoff={"recall": 0.5}, t_max=2).fit(X, y, groups=np.arange(400) % 5)
    with raises(ValueError, "sample_weight makes them count differently"):
        model.fit(X, y, np.arange(400))
    assert model.fit(X, y, np.arange(400) % 2).cutoff_.n_pos < 30
    one = np.arange(400) < 1 + np.flatnonzero(y)[0]
    with raises(ValueError, "cutoff holds out some rows of the class True; there are 1"):
        model.fit(X[one | ~y], y[one | ~y])
    with raises(ValueError, "y has 'x' at row 2; the labels of fit are False, True"):
        quick().fit(X, y).choose_cutoff(X[:3], np.array([True, False, "x"], dtype=object), recall=0.5)
    with pytest.raises(ValueError, match="f_neg"):
        quick().fit(X, y).choose_cutoff(X[y], y[y], recall=0.5)


# Reasons ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "dict"])
def test_reasons_are_those_of_the_functions(library):
    table, y = columns()
    del table["id"]
    X = as_frame(table, library)
    model = quick().fit(X, y)
    found, f = model.explain(X), model.decision_function(X) + model.threshold_
    np.testing.assert_allclose(found.contributions.sum(axis=1) + found.base, f, atol=1e-12)
    one = {name: [values[0]] for name, values in table.items()}
    against = model.explain(X, reference=one)
    np.testing.assert_allclose(against.base, f[0], atol=1e-12)
    bad = {name: [value for value, good in zip(values, y, strict=True) if not good] for name, values in table.items()}
    beside = pnorm.explain(X, model.rankers_, model.lam_, reference=bad)
    np.testing.assert_allclose(found.contributions, beside.contributions, atol=1e-12)
    assert found.top(0) == beside.top(0)
    first = as_frame({name: values[:1] for name, values in table.items()}, library)
    for copy in (model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.explain(first).contributions, found.contributions[:1])
    shape = model.shapes(X)["age"]
    assert shape.range == pnorm.shapes(model.lam_, model.rankers_)["age"].range
    importances = model.feature_importances_
    names = ["age", "town", "rich", "since"]
    for k, name in enumerate(names):
        of = [c for c, column in enumerate(found.names) if column == name or column.startswith(f"{name} (")]
        np.testing.assert_allclose(importances[k], np.ptp(found.contributions[:, of].sum(axis=1)), atol=1e-12)
    assert (importances > 0.0).all()


@pytest.mark.parametrize("rankers", ["thresholds", "columns", "normalized", "categories"])
def test_importances_of_a_matrix(rankers):
    X, y = clouds()
    X = np.column_stack([X[:, 0], np.ones(400), X[:, 1]]).round(1)
    model = PNormPush(rankers=rankers, t_max=20).fit(X, y)
    for j, found in enumerate(model.feature_importances_):
        of_column = np.where(
            np.array([model.rankers_.column_names[c] for c in model.rankers_.column]) == f"x{j}", 1.0, 0.0
        )
        part = pnorm.score(X, model.rankers_, model.lam_ * of_column)
        np.testing.assert_allclose(found, np.ptp(part), atol=1e-12)
    assert model.feature_importances_[1] == 0.0
    stored = pickle.dumps(model)
    np.testing.assert_array_equal(pickle.loads(stored).feature_importances_, model.feature_importances_)
    again = pickle.loads(pickle.dumps(PNormPush(rankers=rankers, t_max=20).fit(X, y)))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


def test_functions_have_no_importances():
    X, y = clouds()
    model = PNormPush(rankers=[lambda X: X[:, 0] + X[:, 1]], t_max=3).fit(X, y)
    with raises(AttributeError, "feature_importances_ is for weak rankers that read single columns"):
        _ = model.feature_importances_


def test_a_report_of_a_table(tmp_path, capsys, frame):
    X, y = frame
    words = np.array(["left", "stayed"])[y.astype(int)]
    model = quick(pos_label="left").fit(X[:100], words[:100])
    model.choose_cutoff(X[100:], words[100:], recall=0.5)
    training = X[:100], words[:100]
    model.report_html(tmp_path / "report.html", X[100:], words[100:], training=training, title="Who leaves", n_rows=5)
    assert capsys.readouterr().out == ""
    model.set_params(verbose=1).report_html(tmp_path / "other.html", X[100:], words[100:])
    stages = ["lists to compare with", "changes since training", "measures", "columns and rows"]
    assert capsys.readouterr().out.splitlines() == [f"[PNormPush] report: {stage}" for stage in stages]
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "compared with the training rows" in text
    assert "Who leaves" in text
    assert "with 95 % confidence" in text
    with raises(ValueError, "y has 2 at row 0; the labels of fit are stayed, left"):
        model.choose_cutoff(X[:1], [2], recall=0.5)
    with raises(ValueError, "y has 'gone' at row 0; the labels of fit are stayed, left"):
        model.report_html(tmp_path / "report.html", X[:1], ["gone"])


@pytest.mark.parametrize(("name", "heading"), [(None, "index"), ("customer <id>", "customer &lt;id&gt;")])
def test_a_report_names_rows_by_the_index_of_a_frame(name, heading, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    age = rng.permutation(200) + 0.5
    index = pandas.Index(np.arange(5000, 5200), name=name)
    X, y = pandas.DataFrame({"age": age}, index=index), age + rng.normal(0.0, 30.0, 200) > 100.0
    held, path = np.arange(200) % 2 == 1, tmp_path / "report.html"
    model = PNormPush(p=1, l2=0.1).fit(X[~held], y[~held])

    def first_names(write, X, *of_model, **more):
        write(path, X, y[held], *of_model, n_rows=3, **more)
        page = path.read_text(encoding="utf-8")
        part = page[page.index('<section id="rows"') :]
        found = re.findall(r'<td [^>]*data-head="([^"]*)">([^<]*)</td>', part[: part.index("</section>")])
        return [pair for pair in found if pair[0] in ("Row", heading)]

    order = np.argsort(-model.decision_function(X[held]), kind="stable")[:3]
    by_index = [(heading, str(k)) for k in X[held].index[order]]
    assert first_names(model.report_html, X[held]) == by_index
    assert first_names(pnorm.report_html, X[held], model.rankers_, model.lam_) == by_index
    plain = X[held].reset_index(drop=True)
    assert first_names(model.report_html, plain) == [("Row", f"row {k}") for k in order]
    ids = [f"c{k}" for k in range(100)]
    assert first_names(model.report_html, X[held], ids=ids) == [("Row", ids[k]) for k in order]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_single_column_is_refused_with_the_way_to_a_frame(package):
    frames = pytest.importorskip(package)
    for column in (frames.Series(["a", "b"] * 20), frames.Series(np.arange(40.0))):
        with raises(ValueError, r"got a single column \(Series\). Pass a frame, as in"):
            PNormPush().fit(column, np.arange(40) % 2)


def test_a_single_row_is_refused_with_the_way_to_a_frame():
    """A series with other names is a column."""
    pandas = pytest.importorskip("pandas")
    x, noise = np.random.default_rng(0).normal(size=(2, 80))
    frame = pandas.DataFrame({"amount": x, "city": np.where(x > 0, "Oslo", "Rome")})
    model = PNormPush(t_max=2).fit(frame, x + noise > 0.3)
    row = frame.iloc[3]
    for method in (model.explain, model.decision_function):
        with raises(ValueError, r"got a single row \(Series\).* frame\.iloc\[\[k\]\] .*row\.to_frame"):
            method(row)
        with raises(ValueError, r"got a single column \(Series\)"):
            method(frame["amount"])
    expected = model.decision_function(frame)[[3]]
    np.testing.assert_array_equal(model.decision_function(frame.iloc[[3]]), expected)
    np.testing.assert_array_equal(model.decision_function(row.to_frame().T), expected)


ODD_CASE = [("Yes", "no"), ("yes", "NO"), (" yes", "no"), ("yes", " No"), ("True", "false"), ("+1", "-1")]


@pytest.mark.parametrize(("yes", "no"), [*PAIRS, *ODD_CASE], ids=lambda word: word)
def test_yes_in_any_language_and_case_is_the_positive_class(yes, no):
    x = np.linspace(-2, 2, 60)[:, None]
    y = np.where(np.sin(7 * x[:, 0]) + x[:, 0] > 0, yes, no)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = quick().fit(x, y)
    assert model.classes_.tolist() == [no, yes]
    assert (model.lam_ > 0).all()
    assert len(told) == (yes < no)
    for warning in told:
        assert warning.filename == __file__
        assert f"The labels {yes} and {no} mean positive and negative" in str(warning.message)
        assert f"give them y == {yes!r}. Use PNormPush(pos_label={yes!r}) to" in str(warning.message)


def test_an_explicit_positive_label_wins_over_the_meaning_of_words():
    x = np.linspace(-2, 2, 60)[:, None]
    y = np.where(np.sin(7 * x[:, 0]) + x[:, 0] > 0, "Yes", "no")
    assert quick(pos_label="no").fit(x, y).classes_.tolist() == ["Yes", "no"]
    assert quick(pos_label="Yes").fit(x, y).classes_.tolist() == ["no", "Yes"]


def test_unknown_words_are_taken_in_their_order_with_a_warning():
    x = np.linspace(-2, 2, 60)[:, None]
    y = np.where(np.sin(7 * x[:, 0]) + x[:, 0] > 0, "fraud", "ok")
    with warns(UserWarning, "ok is taken as the positive class, because it sorts after fraud") as told:
        model = quick().fit(x, y)
    assert tells(
        str(told[0].message), "Use PNormPush(pos_label='ok') to confirm this, or PNormPush(pos_label='fraud') for"
    )
    assert model.classes_.tolist() == ["fraud", "ok"]


@pytest.mark.parametrize("of", [str, lambda path: path, open], ids=["text", "path", "file"])
def test_a_file_is_refused_with_the_way_to_read_it(tmp_path, of):
    path = tmp_path / "leads.csv"
    path.write_text("x,bought\n1,yes\n")
    X = of(path)
    for call in (lambda: quick().fit(X, "bought"), lambda: quick().fit([[1], [2]], [0, 1]).predict(X)):
        with raises(TypeError, r"^X must have rows; got .*\. Read it .* pandas\.read_csv.* \(pip install pandas\)"):
            call()
    if of is open:
        X.close()


def test_the_folds_of_scikit_learn_print_one_warning(monkeypatch):
    monkeypatch.setattr(_categories, "_PRINTED", {})
    table, y = columns()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        cross_val_score(quick(), as_frame(table, "pandas"), y, cv=3)
    assert [of.category for of in caught] == [TableWarning]


@pytest.mark.parametrize("search", [False, True])
def test_folds_that_suspect_a_column_for_different_reasons_print_one_warning(monkeypatch, search):
    monkeypatch.setattr(_categories, "_PRINTED", {})
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3 == 0
    near = y ^ (np.arange(900) < 8)  # the first fold holds the rows that disagree
    X = as_frame({"a": rng.normal(size=900) + y, "code": near.astype(float)}, "pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = [quick().fit(X.iloc[rows], y[rows]).rankers_.plan[1] for rows in (np.arange(300, 900), np.arange(600))]
    assert [(of.separates, bool(of.agrees)) for of in kinds] == [(True, False), (False, True)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        folds = KFold(3)
        if search:
            GridSearchCV(quick(), {"l2": [0.1, 0.2]}, cv=folds).fit(X, y)
        else:
            cross_val_score(quick(), X, y, cv=folds)
    assert [str(of.message).splitlines()[0] for of in caught] == [
        "Columns that separate positives from negatives nearly alone: code."
    ]


@pytest.mark.parametrize("is_chosen", [False, True])
def test_a_printed_model_names_columns_that_may_leak(tmp_path, is_chosen):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3 == 0
    X = as_frame({"a": rng.normal(size=300) + y, "paid": y.astype(float)}, "pandas")
    with pytest.warns(TableWarning):
        model = (PNormPush() if is_chosen else quick()).fit(X, y)
    told = "paid may be known only after the outcome"
    doubt = "             if so, the out-of-fold result says little about new rows"
    assert (
        str(model).splitlines()[-1 - is_chosen :]
        == [f"suspected    {told}: see the warning of fit", doubt][: 1 + is_chosen]
    )
    assert told in model._repr_html_()
    assert str(pickle.loads(pickle.dumps(model))) == str(model)
    pnorm.save(tmp_path / "m.json", model.lam_, model.rankers_, model.p_)
    loaded = pnorm.load(tmp_path / "m.json")
    assert str(loaded).endswith(f"p = {model.p_:g}; {told}>")
    assert told in loaded._repr_html_()
    assert "suspected" not in str(quick().fit(X[["a"]], y))


def test_a_warning_names_the_plan_of_the_model_and_spellings():
    x = np.linspace(-2, 2, 80)
    X = {"x": x, "town": ["Ulm", "ulm", "Bonn", "BONN"] * 20}
    with pytest.warns(TableWarning) as told:
        quick().fit(X, np.sin(7 * x) + x > 0)
    message = str(told[0].message)
    assert told[0].filename == __file__
    assert tells(message, "with several spellings of one value: town.\nmodel.rankers_.plan has the reasons; ")
    assert message.endswith('pass kinds={"COLUMN": KIND} to change that: "any case" merges spellings')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(kinds={"town": "any case"}).fit(X, np.sin(7 * x) + x > 0)


def test_values_for_positives_only_are_a_warning():
    x = np.linspace(-2, 2, 400)
    y = np.sin(70 * x) + x > 1.5
    X = {"x": x, "charged": [7.0 if at and k % 2 else None for k, at in enumerate(y)]}
    with pytest.warns(TableWarning) as told:
        model = quick().fit(X, y)
    message = str(told[0].message)
    assert message.startswith("Columns with values, or missing values, nearly all on one side: charged.\n")
    assert message.endswith('"leave out" drops what is known only after the outcome')
    n = sum(value is not None for value in X["charged"])
    assert model.rankers_.plan[1].one_sided == f"has a value in {n} rows (all positive)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(kinds={"charged": "leave out"}).fit(X, y)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_words_and_numbers_for_missing_values(library):
    """The model is that of a table without them, and new rows are read so too."""
    rng = np.random.default_rng(0)
    x, unknown = rng.normal(size=(2, 400)).round(2), rng.random((2, 400)) < 0.2
    town = np.array(["Rome", "Oslo", "Bari"], object)[rng.integers(3, size=400)]
    y = x[0] + (town == "Oslo") + rng.normal(size=400) > 0.5

    def table(number, word):
        columns = {"x": np.where(unknown[0], number, x[0]), "town": np.where(unknown[1], word, town).tolist()}
        if library == "dict":
            return columns
        module = pytest.importorskip(library)
        return (module.table if library == "pyarrow" else module.DataFrame)(columns)

    plain, coded = table(np.nan, None), table(-999.0, " Not Asked")
    how = {"p": 2, "l2": 1e-3}
    expected = PNormPush(**how).fit(plain, y)
    model = PNormPush(missing=["not asked", -999], **how).fit(coded, y)
    np.testing.assert_array_equal(model.lam_, expected.lam_)
    np.testing.assert_array_equal(model.decision_function(coded), expected.decision_function(plain))
    assert [of.missing for of in model.rankers_.plan] == unknown.sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"missing": "unknown"}, TypeError, "missing must be a list of words and numbers .* got 'unknown'"),
        ({"missing": [None]}, TypeError, "got None in it"),
        ({"missing": [-999], "rankers": "thresholds"}, ValueError, "missing is for rankers='table'"),
        ({"missing": [-999]}, ValueError, "missing is for columns with names; in a matrix"),
    ],
)
def test_words_for_missing_values_that_cannot_be_used(given, error, message):
    with raises(error, message):
        PNormPush(**given).fit(np.arange(20.0).reshape(10, 2), [0, 1] * 5)
