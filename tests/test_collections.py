"""Collections of weak rankers: sums, complements, categories, missing values, and the way to a file and back."""

import json
import operator

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from facts import raises
from repeats import trials

import pnorm


def table():
    return [["red", 2], ["blue", 2], ["red", 5]], [["red", 3], ["green", 2]]


def row_norm(Z):
    return np.linalg.norm(Z, axis=1)


def many():
    """Every kind of collection, with rows to evaluate it on."""
    rows = np.random.default_rng(4).normal(size=(30, 3))
    pos, neg = rows[:14], rows[14:]
    holes = np.where(np.random.default_rng(5).random(rows.shape) < 0.2, np.nan, rows)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    H = pnorm.rankers
    return {
        "columns": (H.columns(3), rows),
        "named columns": (H.columns(frame), frame),
        "normalized": (H.normalized(pos, neg, -1, 1 / 3), rows),
        "thresholds": (H.thresholds({1: [0.1, -0.7, 0.1], 0: [1 / 3]}), rows),
        "quantiles": (H.quantile_thresholds(pos, neg, 5, names=["u", "v", "w"]), rows),
        "missing": (H.quantile_thresholds(holes[:14], holes[14:], 4, missing="own"), holes),
        "lines": (H.quantile_thresholds(holes[:14], holes[14:], 6, missing="own", linear=True, monotone={2: -1}), holes),
        "lines alone": (H.quantile_thresholds(holes[:14], holes[14:], missing="own", linear="only", monotone={2: -1}), holes),
        "lines of a table": (H.from_table(holes[:14], holes[14:], linear="only", monotone={"x0": 1}), holes),
        "rising columns": (H.columns(frame, monotone={"b": 1}) + H.normalized(pos, neg, monotone={0: -1}), frame),
        "categories": (H.categories(*table()), [["blue", 5], ["gray", 2], ["red", True]]),
        "missing categories": (H.categories([[None], ["a"]], [[1.5], ["a"]], missing="own"), [["a"], [None], [1.5], [7]]),
        "closed": (H.closed(H.thresholds([[0.0], [], [1.0]])), rows),
        "twice closed": (H.closed(H.closed(H.columns(3))), rows),
        "union": (H.columns(3) + H.normalized(pos, neg) + H.closed(H.thresholds([[0.0], [1.0], []])), rows),
        "closed union": (H.closed(H.columns(3) + H.thresholds([[0.2], [], []])), rows),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", many())
def test_a_collection_comes_back_from_json_bit_for_bit(kind):
    H, rows = many()[kind]
    again = pnorm.rankers.from_dict(json.loads(json.dumps(H.to_dict(), allow_nan=False)))
    assert again.names == H.names
    assert again.to_dict() == H.to_dict()
    assert again == H
    assert again.column_names == H.column_names
    for a, b in ((again.signs, H.signs), (again.column, H.column), (again.evaluate(rows), H.evaluate(rows))):
        np.testing.assert_array_equal(a, b)
    assert H.from_dict(H.to_dict()).names == H.names


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", [*many(), "callables"])
def test_each_ranker_and_every_combination_agree_with_the_matrix(kind):
    rows = np.random.default_rng(3).normal(size=(30, 3))
    H, rows = {**many(), "callables": (pnorm.rankers.callables([lambda Z: Z[:, 0], row_norm]), rows)}[kind]
    matrix = H.evaluate(rows)
    assert matrix.shape == (len(rows), len(H))
    assert len(H) == len(H.names)
    if kind not in ("thresholds", "twice closed", "union"):  # which hold some twice
        assert len(H) == len(set(H.names))
    for j, h in enumerate(H):
        np.testing.assert_array_equal(h(rows), matrix[:, j])
        assert h.name == H[j].name == H.names[j]
    np.testing.assert_array_equal(H[-1](rows), matrix[:, -1])
    assert H[0] in H
    assert H.index(H[-1]) == len(H) - 1
    assert [h.name for h in H[:2]] == list(H.names[:2])
    with pytest.raises(IndexError):
        H[len(H)]
    assert repr(H).startswith(f"<{len(H)} weak ranker")
    assert H.names[0] in repr(H[0])
    rng = np.random.default_rng(6)
    for share in (1.0, 0.3, 0.0):
        lam = rng.normal(size=len(H)) * (rng.random(len(H)) < share)
        np.testing.assert_allclose(pnorm.score(rows, H, lam), matrix @ lam, rtol=1e-12, atol=1e-12)


def test_names_of_columns_are_known_after_json():
    H, frame = many()["named columns"]
    again = pnorm.rankers.from_dict(json.loads(json.dumps(H.to_dict())))
    np.testing.assert_array_equal(again.evaluate(frame[["c", "b", "a"]]), frame)
    with pytest.raises(ValueError, match="lacks the columns 'a', 'b'"):
        again.evaluate(frame[["c"]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "format"),
        (lambda d: d.update(version=2), "version"),
        (lambda d: d.update(kind="code"), "kind"),
        (lambda d: d.pop("cuts"), "must have the field 'cuts'"),
        (lambda d: d.update(cuts=[]), "not empty"),
        (lambda d: d.update(cuts=[[0]]), "pairs"),
        (lambda d: d.update(cuts=[[9, 0.5]]), "columns 0 to 1"),
        (lambda d: d.update(names=["only one"]), "list of 2"),
        (lambda d: d.update(names=[1, 2]), "list of strings"),
        (lambda d: d.update(width=0), "at least 1"),
        (lambda d: d.update(missing=1), "true or false"),
        (lambda d: d.update(cuts=[[0, 1e999], [1, 0.0]]), "finite"),
        (lambda d: d.update(cuts=[[0, 1.0], [0, [0.0, 0.5, 1.0]]]), "a line of 2 values in column 0"),
        (lambda d: d.update(cuts=[[0, 1.0], [0, [0.0, 0.5]]]), "values that rise from 0 to 1"),
        (lambda d: d.update(cuts=[[0, 1.0], [0, []]]), "values that rise from 0 to 1"),
        (lambda d: d.update(cuts=[[0, 1.0], [0, [0.0, 1.0]], [0, [0.0, 1.0]]]), "one line for a column at most"),
        (lambda d: d.update(cuts=[[0, [0.0, 0.5, 1.0], [2.0, 1.0]], [1, 1.0]]), "ends of a line that rise"),
        (lambda d: d.update(cuts=[[0, [0.0, 0.5, 1.0], [2.0]], [1, 1.0]]), "a line of 2 values in column 0"),
        (lambda d: d.update(cuts=[[0, 1.0], [0, [0.0, 1.0], [2.0]]]), "with cuts or with ends, and not both"),
        (lambda d: d.update(cuts=[[0, 1.0, [2.0]], [1, 1.0]]), "pairs"),
        (lambda d: d.update(monotone=[[0, 2]]), "signs 1 or -1"),
        (lambda d: d.update(monotone=[[0, 1], [0, -1]]), "pairs of different columns"),
        (lambda d: d.update(monotone=[[2, 1]]), "pairs of different columns"),
        (lambda d: d.update(monotone=[[0, -2]]), "must be at least -1"),
        (lambda d: d.update(monotone=[0, 1]), r"pairs \[column, sign\]"),
        (lambda d: d.update(monotone=[]), "not empty"),
    ],
)
def test_a_dictionary_that_is_not_one_of_ours_is_refused(change, message):
    data = pnorm.rankers.thresholds([[0.5], [1.5]]).to_dict()
    change(data)
    with raises(ValueError, message):
        pnorm.rankers.from_dict(data)
    with pytest.raises(TypeError, match="must be a dictionary"):
        pnorm.rankers.from_dict([data])


def test_functions_cannot_be_written():
    H = pnorm.rankers.callables([len]) + pnorm.rankers.columns(1)
    with raises(TypeError, "functions cannot be written"):
        H.to_dict()


def test_a_sum_of_collections_is_one_after_the_other():
    a, b, c = (
        pnorm.rankers.columns(2),
        pnorm.rankers.thresholds([[0.5], []]),
        pnorm.rankers.callables([lambda X: X[:, 0] ** 2]),
    )
    H = a + b + c
    assert H.names == (*a.names, *b.names, *c.names)
    assert len(H) == 4
    X = np.array([[0.4, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(H.evaluate(X), [[0.4, 1, 0, 0.4**2], [2, 3, 1, 4]])
    assert H[-1].name == "h0"
    assert operator.add(a, [len]).names == ("x0", "x1", "len")
    assert operator.add([len], a).names == ("len", "x0", "x1")
    assert sum([a, b]).names == (a + b).names
    for other in (3, None, "x0"):
        with pytest.raises(TypeError, match="unsupported operand"):
            operator.add(a, other)
    sparse = scipy.sparse.csr_array(X)
    both = (a + a).evaluate(sparse)
    assert scipy.sparse.issparse(both)
    np.testing.assert_array_equal(both.toarray(), np.c_[X, X])


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
def test_a_union_of_all_kinds_trains_as_its_matrix_does():
    rng = np.random.default_rng(7)
    pos, neg = rng.normal(0.4, 1, (90, 3)).round(1), rng.normal(0, 1, (120, 3)).round(1)
    H = (
        pnorm.rankers.columns(3)
        + pnorm.rankers.normalized(pos, neg)
        + pnorm.rankers.quantile_thresholds(pos, neg, 9)
        + pnorm.rankers.categories(pos > 0, neg > 0)
        + pnorm.rankers.callables([lambda X: np.sin(X[:, 0])])
    )
    for H_ in (H, pnorm.rankers.closed(H)):
        for selection in ("absolute", "signed"):
            lam, trace = pnorm.train(pos, neg, H_, 4, 60, selection=selection)
            same, again = pnorm.train(H_.evaluate(pos), H_.evaluate(neg), None, 4, 60, selection=selection)
            np.testing.assert_array_equal(trace.ranker, again.ranker)
            np.testing.assert_allclose(lam, same, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("selection", ["signed", "largest"])
def test_a_closed_collection_takes_the_steps_of_absolute(selection):
    rng = np.random.default_rng(8)
    pos, neg = rng.normal(0.4, 1, (80, 4)), rng.normal(0, 1, (90, 4))
    lam, trace = pnorm.train(pos, neg, None, 2, 18)
    closed, signed = pnorm.train(pos, neg, pnorm.rankers.closed(pnorm.rankers.columns(4)), 2, 18, selection=selection)
    np.testing.assert_array_equal(signed.ranker % 4, trace.ranker)
    np.testing.assert_allclose(signed.step, np.abs(trace.step), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(signed.log_objective, trace.log_objective, rtol=1e-12)
    np.testing.assert_allclose(closed[:4] - closed[4:], lam, rtol=1e-9, atol=1e-12)
    assert (closed >= 0).all()


def test_closed_takes_callables_and_names_what_it_adds():
    H = pnorm.rankers.closed([len])
    assert H.names == ("len", "1 - len")
    assert pnorm.rankers.closed(pnorm.rankers.thresholds([[2]])).names == ("x0 > 2", "1 - (x0 > 2)")


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
def test_categories_of_strings_numbers_and_frames():
    pos, neg = table()
    H = pnorm.rankers.categories(pos, neg)
    assert H.names == ("x0 = blue", "x0 = green", "x0 = red", "x1 = 2", "x1 = 3", "x1 = 5")
    np.testing.assert_array_equal(H.evaluate([["green", 2.0], ["pink", 4]]), [[0, 1, 0, 1, 0, 0], [0] * 6])
    frames = [pd.DataFrame(rows, columns=["colour", "size"]) for rows in (pos, neg)]
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for make in (lambda f: f, pl.from_pandas, pa.Table.from_pandas, lambda f: f.astype({"colour": "category"})):
        own = pnorm.rankers.categories(*map(make, frames))
        assert own.names[:3] == ("colour = blue", "colour = green", "colour = red")
        np.testing.assert_array_equal(own.evaluate(make(frames[0])), H.evaluate(pos))
    rows = [np.array(row, dtype=object) for row in pos]
    np.testing.assert_array_equal(H.evaluate(rows), H.evaluate(pos))
    lam, trace = pnorm.train(pos, neg, H, 2, 5)
    assert trace.n_iter > 0
    own = pnorm.rankers.categories(*frames)
    np.testing.assert_array_equal(own.evaluate(frames[0][["size", "colour"]]), H.evaluate(pos))
    with raises(ValueError, "neg has the column 'size' in the place of 'colour'"):
        pnorm.rankers.categories(frames[0], frames[1][["size", "colour"]])


def test_numbers_and_strings_of_one_frame():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(
        {"age": rng.normal(50, 9, 80), "town": rng.choice(["Ulm", "Bonn"], 80), "pay": rng.normal(size=80)}
    )
    pos, neg = frame[:35], frame[35:]
    numbers, words = ["pay", "age"], ["town"]
    H = pnorm.rankers.quantile_thresholds(pos[numbers], neg[numbers], 9) + pnorm.rankers.categories(
        pos[words], neg[words]
    )
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for make in (lambda f: f, pl.from_pandas, lambda f: pa.Table.from_pandas(f, preserve_index=False)):
        lam, trace = pnorm.train(make(pos), make(neg), H, 2, 20)
        same, _ = pnorm.train(H.evaluate(make(pos)), H.evaluate(make(neg)), None, 2, 20)
        np.testing.assert_allclose(lam, same, rtol=1e-9, atol=1e-12)
        assert len(pnorm.score(make(frame), H, lam)) == 80
    with raises(ValueError, "X has no names of columns, by which these weak rankers"):
        H.evaluate(frame[["age"]].to_numpy())
    with raises(ValueError, r"X has 1 columns; these weak rankers were made for 2, the columns pay, age of a frame"):
        pnorm.rankers.normalized(pos[numbers], neg[numbers]).evaluate([[1.0]])


def test_messages_say_what_to_try():
    nan, r = np.nan, pnorm.rankers
    frame = pd.DataFrame({"age": [1.0, nan], "town": ["Ulm", None]})
    for call, error, message in [
        (
            lambda: r.quantile_thresholds(frame[["age"]], frame[["age"]]),
            ValueError,
            "row 1, column 0 .'age'.*or make the weak rankers with missing='own'",
        ),
        (lambda: r.columns(frame[["age"]]), ValueError, "fill in or drop missing values$"),
        (lambda: r.categories(frame[["town"]], frame[["town"]]), ValueError, "row 1, column 0 .'town'.*missing='own'"),
        (
            lambda: r.normalized(frame[["town"]], frame[["town"]]),
            TypeError,
            "make pnorm.rankers.categories of the column",
        ),
        (lambda: pnorm.train([[1.0]], [[0.0]], r.columns(1).to_dict()), TypeError, "from_dict makes a collection"),
        (lambda: r.from_dict("{}"), TypeError, "json.loads"),
        (lambda: pnorm.train([[1.0]], [[0.0]], ["x0"]), TypeError, "pass the columns as pos and neg"),
        (
            lambda: pnorm.train([[1.0]], [[0.0]], pos_group="day", neg_group=[1]),
            ValueError,
            "got 3, the letters of 'day'",
        ),
    ]:
        with raises(error, message):
            call()


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
def test_levels_that_training_rows_do_not_have_take_no_ranker():
    # made of some rows, trained on others, some of whose levels are unknown
    H = pnorm.rankers.categories([["a"], ["b"]], [["c"]])
    pos, neg = [["a"]] * 3 + [["z"]] * 2 + [["b"]], [["z"]] * 4 + [["b"]] + [["a"]]
    lam, trace = pnorm.train(pos, neg, H, 2, 10)
    same, again = pnorm.train(H.evaluate(pos), H.evaluate(neg), None, 2, 10)
    np.testing.assert_allclose(trace.log_objective, again.log_objective, rtol=1e-12)
    np.testing.assert_allclose(lam, same, rtol=1e-9)


def test_missing_values_have_a_ranker_of_their_own_or_are_refused():
    nan = np.nan
    pos, neg = [[1.0, nan], [2.0, 5.0]], [[3.0, 6.0]]
    H = pnorm.rankers.quantile_thresholds(pos, neg, missing="own")
    assert H.names == ("x0 > 1.5", "x0 > 2.5", "x1 > 5.5", "x1 is missing")
    np.testing.assert_array_equal(H.evaluate([[nan, nan], [2, 6]]), [[0, 0, 0, 1], [1, 0, 1, 0]])
    own = pnorm.rankers.thresholds([[2.0], [5.5]], missing="own")
    assert own.names == ("x0 > 2", "x0 is missing", "x1 > 5.5", "x1 is missing")
    np.testing.assert_array_equal(own.evaluate([[nan, 5.0], [None, 6.0]]), [[0, 1, 0, 0], [0, 1, 1, 0]])
    for maker in (pnorm.rankers.quantile_thresholds, pnorm.rankers.categories):
        with raises(ValueError, "pos has nan at row 0, column 1"):
            maker(pos, neg)
    with raises(ValueError, "pos has inf at row 0, column 0"):
        pnorm.rankers.quantile_thresholds([[np.inf]], [[1.0]], missing="own")
    with pytest.raises(ValueError, match="X has nan"):
        pnorm.rankers.thresholds([[0.5]]).evaluate([[nan]])
    with raises(ValueError, "missing must be one of 'error', 'own'"):
        pnorm.rankers.thresholds([[0.5]], missing="drop")
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [0.5, 1.5, 2.5]})
    H = pnorm.rankers.quantile_thresholds(frame, frame, missing="own")
    assert H.names == ("a > 2", "a is missing", "b > 1", "b > 2")
    np.testing.assert_array_equal(H.evaluate(frame)[:, 1], [0, 1, 0])
    levels = pnorm.rankers.categories([["a"], [nan]], [[None]], missing="own")
    assert levels.names == ("x0 = a", "x0 is missing")
    np.testing.assert_array_equal(levels.evaluate([[pd.NA], ["a"], [nan]]), [[0, 1], [1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("pos", "error", "message"),
    [
        ([["a", 1], ["b"]], ValueError, "1 values in row 1 and 2 in row 0"),
        (["a", "b"], ValueError, "row 0 is 'a'"),
        (np.array(["a", "b"]), ValueError, "two-dimensional"),
        ([[(1, 2), 1]], TypeError, "argument must be .* is a string, a number or a boolean"),
        (scipy.sparse.csr_array(np.eye(2)), TypeError, "sparse"),
        ([], ValueError, "empty"),
    ],
)
def test_tables_that_hold_no_categories_are_refused(pos, error, message):
    with raises(error, message):
        pnorm.rankers.categories(pos, [["a", 1]])


@pytest.mark.parametrize("seed", trials(6))
def test_cuts_lie_at_the_quantiles(seed):
    # the rule of the documentation, cut by cut, on columns with and without ties
    rng = np.random.default_rng(seed)
    x = rng.normal(size=397) if seed % 2 else rng.integers(0, 60, 397) ** 1.5
    x = x.astype(np.float32 if seed % 3 else np.float64)
    n_cuts = [3, 7, 20, 55][seed % 4]
    values, counts = np.unique(x, return_counts=True)
    middle, below = 0.5 * (values[:-1].astype(float) + values[1:]), np.cumsum(counts)[:-1] / x.size
    expected = sorted({middle[np.argmin(np.abs(below - k / (n_cuts + 1)))] for k in range(1, n_cuts + 1)})
    H = pnorm.rankers.quantile_thresholds(x[:150, None], x[150:, None], n_cuts)
    assert [cut for _, cut in H._cuts] == expected


def test_frames_with_two_columns_of_one_name():
    frame = pd.DataFrame([["r", "s"], ["b", "s"], ["r", "t"]], columns=["a", "a"])
    H = pnorm.rankers.categories(frame, frame[:2])
    assert H.names == ("a = b", "a = r", "a = s", "a = t")
    np.testing.assert_array_equal(H.evaluate(frame), [[0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]])


def test_a_file_does_not_contradict_itself():
    data = pnorm.rankers.thresholds([[0.5]], missing="own").to_dict()
    data["missing"] = False
    with raises(ValueError, "numbers, as 'missing' is false"):
        pnorm.rankers.from_dict(data)
    with pytest.raises(ValueError, match="must be finite"):
        pnorm.rankers.categories([[np.inf]], [[1.0]])
