"""Rows taken apart by their labels, in every form in which rows and labels come."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from facts import raises

import pnorm
from pnorm import _checks
from pnorm._checks.labelled import PAIRS
from pnorm._tables.labels import Labels

pl = pytest.importorskip("polars")

ROWS = np.round(np.random.default_rng(0).normal(size=(9, 3)), 2) * (np.random.default_rng(1).random((9, 3)) < 0.7)
KEEP = np.array([1, 0, 0, 1, 1, 0, 0, 0, 1]) == 1
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(ROWS, columns=NAMES)

FORMS = {
    "array": ROWS,
    "column-major": np.asfortranarray(ROWS),
    "float32": ROWS.astype(np.float32),
    "strings": ROWS.astype(str),
    "one-dimensional": ROWS[:, 0],
    "masked": np.ma.masked_array(ROWS, ROWS == 0),
    "pandas": FRAME,
    "pandas, any index": FRAME.set_index(pd.Index(list("ihgfedcba"))),
    "pandas, repeated index": FRAME.set_index(pd.Index([0] * 9)),
    "pandas column": FRAME["b"],
    "pandas categorical": FRAME["b"].astype("category"),
    "pandas array": pd.array([*range(8), None], dtype="Int64"),
    "polars": pl.DataFrame(ROWS, schema=NAMES),
    "polars column": pl.Series("b", ROWS[:, 1]),
    "table": pa.table(dict(zip(NAMES, ROWS.T, strict=True))),
    "chunked table": pa.concat_tables([pa.table(dict(zip(NAMES, part.T, strict=True))) for part in (ROWS[:4], ROWS[4:])]),
    "record batch": pa.RecordBatch.from_arrays([pa.array(x) for x in ROWS.T], names=NAMES),
    "arrow column": pa.array(ROWS[:, 1]),
    "chunked column": pa.chunked_array([ROWS[:5, 1], ROWS[5:, 1]]),
    "list": ROWS.tolist(),
    "tuple": tuple(ROWS.tolist()),
    "texts": [f"row {i}" for i in range(9)],
    "objects": [object() for _ in range(9)],
}  # fmt: skip
SPARSE = {form: getattr(scipy.sparse, f"{form}_array")(ROWS) for form in ("csr", "csc", "coo", "lil", "dok", "bsr")}
SPARSE["matrix"] = scipy.sparse.csr_matrix(ROWS)


def plain(X):
    """Rows as a list."""
    if hasattr(X, "toarray"):
        return X.toarray().tolist()
    if isinstance(X, pd.DataFrame):
        return X.to_numpy().tolist()
    if isinstance(X, (pa.Table, pa.RecordBatch)):
        return [list(row.values()) for row in X.to_pylist()]
    if isinstance(X, pl.DataFrame):
        return X.rows()
    return X.to_list() if isinstance(X, pl.Series) else list(X)


@pytest.mark.parametrize("form", [*FORMS, *SPARSE])
def test_rows_come_back_in_their_own_form(form):
    X = {**FORMS, **SPARSE}[form]
    pos, neg = pnorm.split(X, KEEP)
    rows = plain(X)
    for side, keep in ((pos, KEEP), (neg, ~KEEP)):
        assert type(side) is type(X)
        assert repr(plain(side)) == repr([row for row, wanted in zip(rows, keep, strict=True) if wanted])
        for name in ("dtype", "schema", "dtypes", "columns", "type", "format"):
            if hasattr(X, name) and (name != "format" or scipy.sparse.issparse(X)) and not hasattr(X, "column_names"):
                assert str(getattr(side, name)) == str(getattr(X, name))
    assert getattr(pos, "schema", None) == getattr(X, "schema", None)
    if hasattr(X, "iloc"):
        assert pos.index.tolist() == X.index[KEEP].tolist()


def labels():
    one, words = KEEP.astype(int), np.where(KEEP, "good", "bad")
    column = pd.Series(KEEP)
    return {
        "integers": (one, None),
        "booleans": (KEEP, None),
        "floats": (one * 1.0, None),
        "signs": (2 * one - 1, None),
        "bytes": (one.astype(np.uint8), None),
        "list": (one.tolist(), None),
        "said": (one, 1),
        "said, the other way": (1 - one, 0),
        "true for 1": (one, True),
        "numpy's": (one, np.int8(1)),
        "strings": (words, "good"),
        "list of strings": (words.tolist(), "good"),
        "objects": (words.astype(object), "good"),
        "numpy's string": (words, np.str_("good")),
        "many": (np.where(KEEP, 7, np.arange(9) + 10), 7),
        "mixed": (["x" if keep else i for i, keep in enumerate(KEEP)], "x"),
        "pandas": (column, None),
        "nullable": (column.astype("boolean"), None),
        "categorical": (pd.Series(words, dtype="category"), "good"),
        "arrow in pandas": (pd.Series(words, dtype=pd.ArrowDtype(pa.string())), "good"),
        "polars": (pl.Series(KEEP), None),
        "polars categorical": (pl.Series(words, dtype=pl.Categorical), "good"),
        "arrow": (pa.array(one), None),
        "chunked": (pa.chunked_array([one[:2], one[2:]]), None),
        "dictionary": (pa.array(words).dictionary_encode(), "good"),
    }


@pytest.mark.parametrize("kind", labels())
def test_labels_of_every_kind(kind):
    y, positive = labels()[kind]
    pos, neg = pnorm.split(ROWS, y, positive=positive)
    np.testing.assert_array_equal(pos, ROWS[KEEP])
    np.testing.assert_array_equal(neg, ROWS[~KEEP])


def test_what_belongs_to_rows_is_split_alike_and_goes_into_training():
    rng = np.random.default_rng(2)
    X, y, c, g = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.random(60), rng.choice(["u", "v"], 60)
    (pos, neg), (pos_weight, neg_weight), (pos_group, neg_group), none = pnorm.split(
        X, y, pd.Series(c), g.tolist(), None
    )
    assert none == (None, None)
    assert isinstance(pos_weight, pd.Series)
    assert pos_group == [label for label, good in zip(g, y, strict=True) if good]
    lam, _ = pnorm.train(pos, neg, None, 2, 20, pos_weight=pos_weight, neg_weight=neg_weight, pos_group=pos_group,
                         neg_group=neg_group)  # fmt: skip
    good, bad = y == 1, y == 0
    same, _ = pnorm.train(X[good], X[bad], None, 2, 20, pos_weight=c[good], neg_weight=c[bad], pos_group=g[good],
                          neg_group=g[bad])  # fmt: skip
    np.testing.assert_array_equal(lam, same)


@pytest.mark.parametrize(
    ("arguments", "more", "error", "message"),
    [
        ((ROWS, [1, 0]), {}, ValueError, "y must hold one label per row, 9; got 2"),
        ((ROWS, KEEP, [1, 2]), {}, ValueError, "argument 1 after y must hold one value per row, 9; got 2"),
        ((ROWS, KEEP, None, [1, 2]), {}, ValueError, "argument 2 after y must hold"),
        ((ROWS, KEEP, "weights"), {}, TypeError, "argument 1 after y must be an array, a frame or a list"),
        ((ROWS, [1, 0, None, 1, 0, 1, 0, 1, 0]), {}, ValueError, "y has None at row 2; every row needs a label"),
        ((ROWS, np.where(KEEP, 1, np.nan)), {}, ValueError, "y has nan at row 1; every row needs a label"),
        ((ROWS, pd.Series([1, 0, 1, 1, 0, 0, pd.NA, 1, 0], dtype="Int64")), {}, ValueError, "y has <NA> at row 6"),
        ((ROWS, pa.array([1, 0, 1, 1, 0, 0, 1, 1, None])), {}, ValueError, "y has None at row 8"),
        ((ROWS, np.ones(9)), {}, ValueError, "all rows of y have the label 1.0; both kinds of rows are needed"),
        ((ROWS, ["a"] * 9), {"positive": "a"}, ValueError, "all rows of y have the label 'a'"),
        ((ROWS, KEEP + 1), {}, ValueError, r"say which label of y is positive with pos_label=...; the labels are 2, 1"),
        ((ROWS, ["b", "a", "c"] * 3), {}, ValueError, "the labels are 'b', 'a', 'c'$"),
        ((ROWS, ["2", "0", "2"] * 3), {}, ValueError, "the labels are '2', '0'$"),
        ((ROWS, [-1, 0, 1] * 3), {}, ValueError, "say which label"),
        ((ROWS, KEEP), {"positive": 1, "pos_label": 1}, ValueError, "positive and pos_label are both given"),
        ((ROWS, range(9)), {}, ValueError, "the labels are 0, 1, 2, 3, 4, 5, 6, 7, ...$"),
        ((ROWS, ["1", "0", "1"] * 3), {"positive": 1}, ValueError, "no row of y has the label 1; the labels are '1', '0'"),
        ((ROWS, KEEP), {"positive": [1]}, ValueError, r"no row of y has the label \[1\]"),
        ((ROWS, KEEP), {"positive": np.nan}, ValueError, "no row of y has the label nan"),
        ((ROWS, KEEP[:, None]), {}, ValueError, r"y must be one-dimensional, .*; got shape \(9, 1\)"),
        ((FRAME, FRAME[["a"]]), {}, ValueError, "such as a column of a frame; got shape"),
        ((ROWS, [[1]] * 9), {}, TypeError, "the labels of y must be hashable"),
        ((ROWS, 3), {}, TypeError, "y must be a sequence of one label per row"),
        (("some text", list("abcdefghi")), {}, TypeError, "X must be an array, a frame or a list of rows; got str"),
        (({"a": [1, 2]}, [1]), {}, ValueError, "y must hold one label per row, 2; got 1"),
        (({"a": [1, 2], "b": [1]}, [1, 0]), {}, ValueError, r"X\['b'\] has 1 values and 'a' has 2"),
        (({"a": "ab", "b": [1]}, [1, 0]), {}, TypeError, r"X\['a'\] must be an array, .* got str"),
        (({}, []), {}, ValueError, "X is empty"),
        ((ROWS, KEEP, {"a": KEEP}), {}, TypeError, "argument 1 after y must be an array, .* got dict"),
        (({"a": [1, 2]}, "b"), {}, ValueError, "y is 'b', which is not a column of X; X has the columns a. Or pass y"),
        (([{"a": 1}, {"a": 2}], "b"), {}, ValueError, "y is 'b', which is not a column of X; X has the columns a. Or pass y"),
        (([{"a": 1, "b": 0}, {"a": 2}], "b"), {}, ValueError, "y has None at row 1"),
        (([{"a": 1, "b": 0}, 7], "b"), {}, TypeError, r"X has 7 \(int\) as row 1, and row 0 is a dictionary"),
        ((7, [1]), {}, TypeError, "X must be a sequence of rows"),
        (([], []), {}, ValueError, "X is empty"),
        ((pl.LazyFrame({"a": [1]}), [1]), {}, TypeError, "got LazyFrame"),
        ((FRAME, pd.Series(KEEP, index=range(1, 10))), {}, ValueError, "y has another index than X"),
        ((FRAME, KEEP, pd.Series(KEEP)[::-1]), {}, ValueError, "argument 1 after y has another index than X"),
    ],
)  # fmt: skip
def test_what_cannot_be_split(arguments, more, error, message):
    with raises(error, message):
        pnorm.split(*arguments, **more)


def test_groups_of_arrow():
    pos, neg = ROWS[KEEP], ROWS[~KEEP]
    g = np.arange(9) % 2
    expected, _ = pnorm.train(pos, neg, t_max=5, pos_group=g[KEEP], neg_group=g[~KEEP])
    for make in (pa.array, lambda g: pa.chunked_array([g[:1], g[1:]]), pl.Series):
        lam, _ = pnorm.train(pos, neg, t_max=5, pos_group=make(g[KEEP]), neg_group=make(g[~KEEP]))
        np.testing.assert_array_equal(lam, expected)


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_labels_in_a_column_of_the_frame(form):
    columns = {"a": [1.0, 2.0, 3.0], "won": ["yes", "no", "yes"], "b": [4.0, 5.0, 6.0]}
    (pos, neg), (w, v) = pnorm.split(form(columns), "won", [1, 2, 3], positive="yes")
    assert list(_checks.column_names(pos)) == list(_checks.column_names(neg)) == ["a", "b"]
    assert np.array_equal(_checks.matrix(pos, "pos"), [[1.0, 4.0], [3.0, 6.0]])
    assert np.array_equal(_checks.matrix(neg, "neg"), [[2.0, 5.0]])
    assert (w, v) == ([1, 3], [2])
    with raises(ValueError, "y is 'lost', which is not a column of X; X has the columns a, won, b"):
        pnorm.split(form(columns), "lost")


def test_labels_in_a_column_of_a_dictionary_and_of_records():
    columns = {"a": [1, 2, 3], "won": ["yes", "no", "yes"], "b": [4, None, 6]}
    (pos, neg), (w, v) = pnorm.split(columns, "won", [1, 2, 3])
    assert (pos, neg, w, v) == ({"a": [1, 3], "b": [4, 6]}, {"a": [2], "b": [None]}, [1, 3], [2])
    assert list(columns) == ["a", "won", "b"]
    pos, neg = pnorm.split({"a": np.arange(3)}, [0, 1, 0])
    assert (pos["a"].tolist(), neg["a"].tolist()) == ([1], [0, 2])
    records = [{"a": 1, "won": "yes"}, {"won": "no", "b": 5}, {"a": 3, "won": "yes"}]
    assert pnorm.split(records, "won") == ([{"a": 1}, {"a": 3}], [{"b": 5}])
    assert pnorm.split(records, [1, 0, 0]) == (records[:1], records[1:])


def test_a_name_needs_a_frame():
    with raises(ValueError, r"y is 'won', which is not a column of X; X has no column names"):
        pnorm.split(ROWS, "won")


@pytest.mark.parametrize(
    "labels",
    [
        *[["yes", "no"], ["No", "YES"], ["t", "F"], ["1", "0"], ["1.0", "-1"], ["Positive", "neg"], ["true", "0"]],
        *[[" yes", "no"], ["Yes", "no "]],
    ],
)
def test_labels_that_the_command_takes(labels):
    plain = [label for label in labels if label.strip().lower()[0] in "yt1p"]
    y = np.array([*labels * 4, plain[0].upper()])
    pos, neg = pnorm.split(ROWS, y)
    keep = np.isin(y, [plain[0], plain[0].upper()])
    np.testing.assert_array_equal(pos, ROWS[keep])
    np.testing.assert_array_equal(neg, ROWS[~keep])


@pytest.mark.parametrize(
    "labels",
    [["yes", "maybe"], ["yes", "no", "maybe"], ["yes", "true", "no"], ["Yes", "yes"], ["no", "0"], [10**5000, 0]],
)
def test_labels_that_are_no_plain_opposites(labels):
    y = [*labels, *labels[:1] * (9 - len(labels))]
    with raises(ValueError, "say which label of y is positive"):
        pnorm.split(ROWS, y)


def test_a_label_of_any_length_makes_a_short_message():
    with pytest.raises(ValueError, match="say which label") as error:
        pnorm.split(ROWS, ["x" * 200_000, *"yyyyyyyy"])
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(("yes", "no"), PAIRS, ids=lambda word: word)
def test_yes_and_no_of_other_languages_are_plain_as_a_pair(yes, no):
    for words in ((yes, no), (yes.capitalize(), no.capitalize())):
        y = np.where(KEEP, *words)
        pos, neg = pnorm.split(np.arange(9), y)
        np.testing.assert_array_equal(pos, np.flatnonzero(KEEP))
        np.testing.assert_array_equal(neg, np.flatnonzero(~KEEP))
        labels = Labels("y")
        for label in y:
            labels.of([str(label)], lambda row: f"row {row}")
        assert labels.check() == {words[0]}
    for other in ("maybe", "0", "no" if no != "no" else "nein"):
        with raises(ValueError, "say which label of y is positive with pos_label"):
            pnorm.split(np.arange(9), np.where(KEEP, yes, other))


def test_other_words_are_no_pair():
    for words in (("ok", "fraud"), ("ja", "non"), ("oui", "nein"), ("nein", "non")):
        with raises(ValueError, "say which label of y is positive with pos_label"):
            pnorm.split(np.arange(9), np.where(KEEP, *words))
