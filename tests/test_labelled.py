"""All rows with their labels, in the place of two sides: the same bits, and messages about the rows that were passed."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from facts import raises
from repeats import each_value

import pnorm

pl = pytest.importorskip("polars")

rng = np.random.default_rng(7)
X = np.round(rng.normal(size=(60, 3)), 1)
Y = rng.integers(0, 2, 60)
C = rng.integers(0, 4, 60).astype(float)
G = rng.choice(["u", "v", "w"], 60)
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES).assign(bought=Y, cost=C, shop=G)
H = pnorm.rankers.thresholds([[-0.5, 0.5], [0.0], [0.3]])
GOOD = Y == 1
SIDES = {
    "pos_weight": C[GOOD],
    "neg_weight": C[~GOOD],
    "pos_group": G[GOOD],
    "neg_group": G[~GOOD],
}

METHODS = {
    "train": partial(pnorm.train, p=4, t_max=30),
    "minimize": partial(pnorm.minimize, p=4, l2=0.1),
    "minimize_path": partial(pnorm.minimize_path, p=4, l2=[1.0, 0.1]),
    "cross_validate": partial(pnorm.cross_validate, p=[1, 4], t_max=10, folds=3),
}


def numbers(found):
    """The numbers of a result."""
    if isinstance(found, tuple):
        return [found[0], found[1].log_objective]
    if isinstance(found, pnorm.MinimizerPath):
        return [found.lam, found.gap]
    return [found.scores, *found.folds]


def assert_same(a, b):
    for x, y in zip(numbers(a), numbers(b), strict=True):
        np.testing.assert_array_equal(x, y)


@each_value()
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("rankers", [None, H], ids=["columns", "thresholds"])
def test_rows_with_labels_give_the_bits_of_two_sides(name, rankers):
    run = METHODS[name]
    assert_same(run(X, y=Y, H=rankers), run(X[GOOD], X[~GOOD], rankers))
    groups = {} if name == "cross_validate" else {"group_weight": "equal"}
    assert_same(run(X, y=Y, H=rankers, weight=C, group=G, **groups), run(X[GOOD], X[~GOOD], rankers, **SIDES, **groups))


@each_value()
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.table, lambda frame: frame.to_dict("records")])
def test_columns_are_named_in_any_frame(name, make):
    run, rows = METHODS[name], make(FRAME)
    if isinstance(rows, list):  # dictionaries, one for each row, which weak rankers of a table read
        H = pnorm.rankers.from_table(*pnorm.split(FRAME[[*NAMES, "bought"]], "bought"), min_rows=1)
    else:
        H = None
    found = run(rows, y="bought", H=H, weight="cost", group="shop")
    pos, neg = pnorm.split(FRAME[NAMES], Y)
    assert_same(found, run(pos, neg, H, **SIDES))
    if name == "train" and H is None:
        assert found[1].names == tuple(NAMES)


def test_what_stands_for_labels():
    words = np.where(GOOD, "won", "lost")
    expected = pnorm.train(X[GOOD], X[~GOOD])
    for y, how in [
        (Y.tolist(), {}),
        (GOOD, {}),
        (2 * Y - 1, {}),
        (pd.Series(Y), {}),
        (pl.Series(GOOD), {}),
        (pa.array(Y), {}),
        (np.where(GOOD, "yes", "No"), {}),
        (words, {"pos_label": "won"}),
        (pd.Series(words, dtype="category"), {"pos_label": "won"}),
        (np.where(GOOD, 7, np.arange(60) % 3), {"pos_label": 7}),
    ]:
        assert_same(pnorm.train(X, y=y, **how), expected)
    assert_same(pnorm.train(X, y=1 - Y, pos_label=0), expected)


def test_rows_in_other_forms():
    expected = pnorm.train(X[GOOD], X[~GOOD])
    for rows in (X.tolist(), np.asfortranarray(X), scipy.sparse.csr_array(X)):
        np.testing.assert_allclose(pnorm.train(rows, y=Y)[0], expected[0], rtol=1e-9)
    texts = [f"{x[0]} {x[1]}" for x in X.tolist()]
    functions = [lambda rows: np.array([float(row.split()[0]) for row in rows])]
    pos, neg = pnorm.split(texts, Y)
    assert_same(pnorm.train(texts, y=Y, H=functions), pnorm.train(pos, neg, functions))


def test_folds_of_all_rows_or_of_either_side():
    fold = np.arange(60) % 3
    run = METHODS["cross_validate"]
    expected = run(X[GOOD], X[~GOOD], folds=(fold[GOOD], fold[~GOOD]))
    assert_same(run(X, y=Y, folds=fold), expected)
    assert_same(run(X, y=Y, folds=pd.Series(fold)), expected)
    assert_same(run(X, y=Y, folds=expected.folds), expected)
    with raises(ValueError, r"folds must have shape \(60,\)"):
        run(X, y=Y, folds=fold[:5])


def test_a_recipe_gets_two_sides():
    recipe = pnorm.rankers.quantile_thresholds
    run = METHODS["cross_validate"]
    assert_same(run(X, y=Y, H=recipe), run(X[GOOD], X[~GOOD], recipe))


def test_scores_are_split_for_the_measures():
    lam, _ = pnorm.train(X, y=Y)
    f = pnorm.score(X, None, lam)
    assert pnorm.metrics.auc(*pnorm.split(f, Y)) == pnorm.metrics.auc(f[GOOD], f[~GOOD])


def bad():
    """Rows with a value that is missing: the eighth row is the third or so of its side."""
    rows = X.copy()
    rows[7, 1] = np.nan
    return rows


@each_value()
@pytest.mark.parametrize(
    ("arguments", "how", "error", "message"),
    [
        ((bad(),), {}, ValueError, "X has nan at row 7, column 1; every value must be finite"),
        ((bad().tolist(),), {}, ValueError, "X has nan at row 7, column 1"),
        ((pd.DataFrame(bad(), columns=NAMES),), {}, ValueError, r"X has nan at row 7, column 1 \('b'\)"),
        ((bad(),), {"H": H}, ValueError, "X has nan at row 7, column 1"),
        ((bad(),), {"H": [lambda rows: rows[:, 1]]}, ValueError, r"the output of H\[0\] .* on X has nan at position 7"),
        ((FRAME,), {}, TypeError, r"X has 'w' \(str\) at row \d+, column 5 \('shop'\)"),
        ((X,), {"y": Y[:3]}, ValueError, "y must hold one label per row, 60; got 3"),
        ((X,), {"y": np.ones(60)}, ValueError, "all rows of y have the label 1.0; both kinds of rows are needed"),
        ((X,), {"y": np.arange(60) % 3}, ValueError, "say which label of y is positive with pos_label="),
        ((X,), {"y": G}, ValueError, "say which label of y is positive with pos_label="),
        ((X,), {"pos_label": 5}, ValueError, "no row of y has the label 5; the labels are"),
        ((X,), {"y": np.where(GOOD, 1.0, np.nan)}, ValueError, r"y has nan at row \d+; every row needs a label"),
        ((X,), {"y": Y[:, None]}, ValueError, r"y must be one-dimensional, .* got shape \(60, 1\)"),
        ((X,), {"y": "bought"}, ValueError, "y is 'bought', which is not a column of X"),
        (
            (FRAME,),
            {"y": "sold"},
            ValueError,
            "y is 'sold', which is not a column of X; X has the columns a,",
        ),
        ((FRAME,), {"y": "bought", "weight": "x"}, ValueError, "weight is 'x', which is not a column of X"),
        ((FRAME[["bought"]],), {"y": "bought"}, ValueError, "X has no columns"),
        ((FRAME,), {"y": FRAME["bought"][::-1]}, ValueError, "y has another index than X"),
        ((FRAME[NAMES],), {"weight": FRAME["cost"][::-1]}, ValueError, "weight has another index than X"),
        ((X,), {"weight": -C}, ValueError, r"weight has the negative weight -\d.0 at row \d+"),
        ((X,), {"weight": C[:5]}, ValueError, r"weight must have shape \(60,\), one weight per row"),
        ((X,), {"weight": C * Y}, ValueError, "weight is zero for all negative rows"),
        ((X,), {"group": G[:5]}, ValueError, "group must hold one label per row, 60; got 5"),
        ((X,), {"group": Y}, ValueError, "no group has both positive and negative rows"),
        ((X, X), {}, ValueError, "neg and y are both given; .* Leave neg out, and pass H by name"),
        ((X, H), {}, ValueError, "neg and y are both given"),
        ((X,), {"pos_weight": C}, ValueError, "pos_weight is for rows of two sides, and y is given; pass weight"),
        ((X,), {"neg_group": G}, ValueError, "neg_group is for rows of two sides, and y is given; pass group"),
        (([],), {"y": []}, ValueError, "X is empty"),
        ((3,), {}, TypeError, "X must be a sequence of rows"),
        (("sales.csv",), {"y": "bought"}, TypeError, r"y is for rows in memory; pnorm.code_rows\(source, label\)"),
        ((pnorm.code_rows(FRAME, "bought"),), {}, TypeError, "coded rows have both sides, and y is given as well"),
    ],
)
@pytest.mark.parametrize("name", METHODS)
def test_messages_name_what_was_passed(name, arguments, how, error, message):
    with raises(error, message) as raised:
        METHODS[name](*arguments, **{"y": Y, **how})
    assert "pos_group" not in str(raised.value)


def test_a_sum_of_weights_that_is_no_number_is_called_by_its_name():
    with pytest.raises((ValueError, OverflowError), match=r"^weight "):
        METHODS["cross_validate"](X, y=Y, weight=np.full(60, 1e308))


@pytest.mark.parametrize("name", METHODS)
def test_what_goes_with_labels_only_is_refused_without_them(name):
    for how in ({"weight": C}, {"group": G}, {"pos_label": 1}):
        with raises(ValueError, f"{next(iter(how))} needs labels: pass the label of every row as y"):
            METHODS[name](X[GOOD], X[~GOOD], **how)


@pytest.mark.parametrize("name", ["train", "minimize"])
def test_grades_are_for_two_sides(name):
    with raises(ValueError, "pos_grade is for rows of two sides, and y is given; pass pos and neg without"):
        METHODS[name](X, y=Y, pos_grade=C)


@each_value()
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("labels", [Y, Y.tolist(), pd.Series(Y), Y[:, None], G], ids=str)
def test_labels_in_the_place_of_negatives_are_refused_with_the_call_to_make(name, labels):
    with raises(ValueError, r"If neg holds labels, call pnorm\.train\(X, y=labels\)"):
        METHODS[name](X, labels)


def test_an_error_of_a_function_of_the_user_goes_through():
    class OwnError(ValueError):
        pass

    def ranker(rows):
        raise OwnError("pos has nan at row 3")

    with raises(OwnError, "pos has nan at row 3"):
        pnorm.train(X, y=Y, H=[ranker])
