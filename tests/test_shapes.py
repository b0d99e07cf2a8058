"""Signs of coefficients, straight lines beside cuts, and the columns that weak rankers read."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from facts import raises
from test_collections import many

import pnorm
from pnorm import rankers


def rows(seed=0, shape=(400, 3)):
    """Both sides of a small problem, some values missing."""
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.5, 1, shape), rng.normal(0, 1, shape)
    return [np.where(rng.random(shape) < 0.1, np.nan, X) for X in (pos, neg)]


def staircase(X, j, H, pos, neg):
    """The line of column j on rows X, from the definition: means of the training rows at each level."""
    cuts = sorted(cut for column, cut in H._cuts if column == j and np.isfinite(cut))
    x = np.r_[pos[:, j], neg[:, j]]
    x = x[~np.isnan(x)]
    mean = np.array([x[np.digitize(x, cuts, right=True) == level].mean() for level in range(len(cuts) + 1)])
    line = (mean - mean[0]) / (mean[-1] - mean[0])
    return np.where(np.isnan(X[:, j]), 0.0, line[np.digitize(X[:, j], cuts, right=True)])


# Straight lines


@pytest.mark.parametrize("n_cuts", [2, 7, 255, 1000])
def test_a_line_goes_through_the_means_of_the_levels(n_cuts):
    pos, neg = rows()
    H = rankers.quantile_thresholds(pos, neg, n_cuts, missing="own", linear=True)
    new = np.concatenate([4 * rows(1)[0], [[-9.0, 9.0, np.nan], [np.nan] * 3]])
    lines = [name for name in H.names if "line" in name]
    assert lines == ["x0 (line)", "x1 (line)", "x2 (line)"]
    for j, name in enumerate(lines):
        h = H[H.names.index(name)](new)
        np.testing.assert_allclose(h, staircase(new, j, H, pos, neg), atol=1e-14)
        known = ~np.isnan(new[:, j])
        assert (np.diff(h[known][np.argsort(new[known, j])]) >= 0.0).all()
        assert (h[known].min(), h[known].max()) == (0.0, 1.0)
    without = [name for name in H.names if "line" not in name]
    assert without == list(rankers.quantile_thresholds(pos, neg, n_cuts, missing="own").names)


def test_lines_of_sparse_rows_are_those_of_dense_ones_to_the_bit():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < [0.03, 0.1, 0.5, 1.0, 0.0, 0.02])
    X[rng.random(X.shape) < 0.01] = np.nan
    H = rankers.quantile_thresholds(X[:100], X[100:], 20, missing="own", linear=True, monotone={2: 1})
    A = scipy.sparse.csc_array(X)
    assert rankers.quantile_thresholds(A[:100], A[100:], 20, missing="own", linear=True, monotone={2: 1}) == H
    assert sum("line" in name for name in H.names) == 5
    lam = rng.normal(size=len(H))
    np.testing.assert_array_equal(H.evaluate(A), H.evaluate(X))
    np.testing.assert_allclose(pnorm.score(A, H, lam), H.evaluate(X) @ lam, atol=1e-12)


def test_a_line_in_place_of_the_cuts_is_the_one_beside_many_cuts():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 5)) * (rng.random((1000, 5)) < [1.0, 0.1, 1.0, 1.0, 0.0])
    X[:, 2], X[:, 3] = X[:, 2].round(1), X[:, 3] > 0.0
    X[rng.random(X.shape) < [0.01, 0.01, 0.0, 0.01, 0.0]] = np.nan
    pos, neg, how = X[:300], X[300:], {"missing": "own", "monotone": {2: 1}}
    H = rankers.quantile_thresholds(pos, neg, 5, linear="only", **how)
    beside = rankers.quantile_thresholds(pos, neg, 1023, linear=True, **how)
    assert H.names == (
        "x0 is missing", "x0 (line)", "x1 is missing", "x1 (line)", "x2 (line)", "x3 > 0.5", "x3 is missing",
    )  # fmt: skip
    assert H.column_names == ("x0", "x1", "x2", "x3")
    np.testing.assert_array_equal(H.signs, [0, 0, 0, 0, 1, 0, 0])
    at = [beside.names.index(name) for name in H.names]
    new = np.concatenate([X[:50], 4.0 * X[50:100], np.full((1, 5), np.nan)])
    np.testing.assert_array_equal(H.evaluate(new), beside.evaluate(new)[:, at])
    A = scipy.sparse.csc_array(X)
    assert rankers.quantile_thresholds(A[:300], A[300:], linear="only", **how) == H
    np.testing.assert_array_equal(H.evaluate(A), H.evaluate(X))
    lam = rng.normal(size=len(H))
    for Z in (X, A):
        np.testing.assert_allclose(pnorm.score(Z, H, lam), H.evaluate(X) @ lam, atol=1e-12)
    best, found = pnorm.minimize(pos, neg, H, 4, l2=0.1)
    assert found.status == "converged"
    np.testing.assert_allclose(best, pnorm.minimize(H.evaluate(pos), H.evaluate(neg), None, 4, l2=0.1)[0], atol=1e-4)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=5000),
        lambda rng: rng.lognormal(size=5000),
        lambda rng: rng.poisson(1000.0, size=5000).astype(float),
    ],
    ids=["normal", "heavy tails", "counts"],
)
def test_a_line_has_fine_levels_at_both_ends(draw):
    x = draw(np.random.default_rng(0))
    ends, n = np.cumsum(np.unique(x, return_counts=True)[1])[:-1], x.size
    if ends.size > 1023:
        steps = [math.log(n) * (2 * k / 1022 - 1) for k in range(1023)]
        ends = sorted({min(ends, key=lambda end: abs(end / n - 1 / (1 + math.exp(-t)))) for t in steps})
        assert [*ends[:9], *ends[-9:]] == [*range(1, 10), *range(n - 9, n)]
    means = np.array([level.mean() for level in np.split(np.sort(x), ends)])
    line = (means - means[0]) / (means[-1] - means[0])
    H = rankers.quantile_thresholds(x[:2000, None], x[2000:, None], linear="only")
    np.testing.assert_allclose(
        H[0](np.sort(x)[:, None]), np.repeat(line, np.diff(ends, prepend=0, append=n)), atol=1e-12
    )


def test_no_column_has_a_line_that_is_its_cut():
    X = np.array([[0.0, 0.0, 7.0], [1.0, 1.0, 7.0], [1.0, 3.0, 7.0]])
    H = rankers.quantile_thresholds(X, X, linear=True)
    assert H.names == ("x0 > 0.5", "x1 > 0.5", "x1 > 2", "x1 (line)")
    np.testing.assert_allclose(H[-1](X), [0, 1 / 3, 1])


@pytest.mark.parametrize(
    "x",
    [
        [-1.7e308, 0.0, 1.7e308],
        [0.0, 5e-324, 1e-323],
        [1.0, 1 + 2**-52, 1 + 2**-51],
        [1e16, 1e16 + 2, 1e16 + 4],
        [-1e300, 1e-300, 2e-300],
    ],
)
def test_lines_at_the_ends_of_floating_point(x):
    X = np.repeat(x, [3, 7, 5])[:, None]
    H = rankers.quantile_thresholds(X, X, linear=True)
    h = H[-1](np.array(x)[:, None])
    assert (h[0], h[-1]) == (0.0, 1.0)
    assert 0.0 <= h[1] <= 1.0


def test_a_row_alone_scores_as_it_does_among_others():
    pos, neg = rows(2)
    H = rankers.quantile_thresholds(pos, neg, 30, missing="own", linear=True, monotone={1: 1})
    rng = np.random.default_rng(4)
    for share in (1.0, 0.3, 0.02):
        lam = rng.normal(size=len(H)) * (rng.random(len(H)) < share)
        f = pnorm.score(pos, H, lam)
        np.testing.assert_allclose(f, H.evaluate(pos) @ lam, atol=1e-12)
        np.testing.assert_array_equal([pnorm.score(row[None], H, lam)[0] for row in pos[:40]], f[:40])
    only = np.zeros(len(H))
    only[H.names.index("x1 (line)")] = 2.5
    np.testing.assert_array_equal(pnorm.score(pos, H, only), 2.5 * H[H.names.index("x1 (line)")](pos))


@pytest.mark.parametrize("missing", ["error", "own"])
def test_training_with_lines_is_training_on_their_outputs(missing):
    pos, neg = [np.nan_to_num(X) if missing == "error" else X for X in rows(5)]
    H = rankers.quantile_thresholds(pos, neg, 12, missing=missing, linear=True)
    lines = np.array(["line" in name for name in H.names])
    # A line is a weighted mean of its cuts, which have the larger edges: it is in the start, and never chosen.
    lam, trace = pnorm.train(pos, neg, H, 4, 60, init=np.where(lines, 2.0, 0.0))
    assert not lines[trace.ranker].any()
    same, again = pnorm.train(H.evaluate(pos), H.evaluate(neg), None, 4, 60, init=np.where(lines, 2.0, 0.0))
    np.testing.assert_array_equal(trace.ranker, again.ranker)
    np.testing.assert_allclose(lam, same, rtol=1e-9, atol=1e-12)
    best, found = pnorm.minimize(pos, neg, H, 4, l2=0.1)
    assert found.status == "converged"
    assert best[lines].all()
    np.testing.assert_allclose(best, pnorm.minimize(H.evaluate(pos), H.evaluate(neg), None, 4, l2=0.1)[0], atol=1e-6)


# Signs


def test_signs_of_columns_become_those_of_their_cuts():
    pos, neg = rows(6)
    frame = pd.DataFrame(pos, columns=["age", "income", "debt"])
    H = rankers.quantile_thresholds(
        frame, frame, 3, missing="own", linear=True, monotone={"income": 1, 2: -1, "age": 0}
    )
    of = dict(zip(H.names, H.signs.tolist(), strict=True))
    assert {name: sign for name, sign in of.items() if "is missing" in name} == {
        "age is missing": 0, "income is missing": 0, "debt is missing": 0,
    }  # fmt: skip
    for name, sign in of.items():
        if "is missing" not in name:
            assert sign == {"age": 0, "income": 1, "debt": -1}[name.split()[0]]
    assert H.signs.dtype == np.int8
    np.testing.assert_array_equal(rankers.closed(H).signs, np.r_[H.signs, -H.signs])
    free = rankers.categories([["a"]], [["b"]]) + rankers.callables([len])
    np.testing.assert_array_equal((free + H + rankers.columns(2, monotone={1: -1})).signs, [0, 0, 0, *H.signs, 0, -1])
    np.testing.assert_array_equal(rankers.thresholds({1: [2, 3]}, monotone={1: 1}).signs, [1, 1])
    np.testing.assert_array_equal(rankers.normalized([[1.0]], [[2.0]], monotone={"x0": 1}).signs, [1])


@pytest.mark.parametrize("kind", many())
def test_every_collection_has_signs_and_columns(kind):
    H, _ = many()[kind]
    again = pickle.loads(pickle.dumps(H))
    for of in (H, again, rankers.from_dict(json.loads(json.dumps(H.to_dict())))):
        assert of == H
        assert of.signs.shape == of.column.shape == (len(H),)
        np.testing.assert_array_equal(of.signs, H.signs)
        np.testing.assert_array_equal(np.unique(of.column), np.arange(len(of.column_names)))
        assert (np.diff(np.maximum.accumulate(of.column), prepend=-1) <= 1).all()  # numbered as they come
    assert bool(H.signs.any()) == ("lines" in kind or "rising" in kind)


def test_what_has_no_signs_is_written_as_it_was():
    assert rankers.thresholds([[0.5]], names=["a"]).to_dict() == {
        "format": "pnorm.rankers", "version": 1, "kind": "thresholds", "width": 1, "columns": None, "cuts": [[0, 0.5]],
        "missing": False, "names": ["a > 0.5"],
    }  # fmt: skip
    assert "monotone" not in rankers.columns(2, monotone={0: 0}).to_dict()


def test_collections_differ_by_their_signs():
    assert rankers.columns(2, monotone={0: 1}) != rankers.columns(2)
    assert rankers.columns(2, monotone={0: 1}) == rankers.columns(2, monotone={"x0": 1.0})


@pytest.mark.parametrize(
    ("monotone", "error", "message"),
    [
        ({"incme": 1}, ValueError, "names the column 'incme', which is not in pos; did you mean 'income'?"),
        (
            {"zzz": 1},
            ValueError,
            "names the column 'zzz', which is not in pos; its columns are 'age', 'income', 'debt'",
        ),
        ({3: 1}, ValueError, "monotone has column 3, counted from 0, and pos has 3 columns"),
        ({-1: 1}, ValueError, "a column of monotone must be at least 0; got -1"),
        ({1.5: 1}, TypeError, "a column of monotone must be an integer; got 1.5"),
        ({"age": 2}, ValueError, r"monotone\['age'\] must be 1 \(scores never fall .* got 2"),
        ({"age": "+"}, ValueError, "got '+'"),
        ({"age": True}, ValueError, "got True"),
        ({"age": np.array([1, 1])}, ValueError, "monotone"),
        ({"age": 1, 0: -1}, ValueError, "monotone has two signs for column 0, 'age'"),
        (["age"], TypeError, "monotone must be a mapping from a column to 1 or -1; got"),
    ],
)
def test_what_monotone_cannot_mean(monotone, error, message):
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=["age", "income", "debt"])
    for make in (rankers.quantile_thresholds, rankers.columns, rankers.normalized):
        with raises(error, message.replace("+", r"\+").replace("?", r"\?")):
            make(frame, frame, monotone=monotone)
    with raises(TypeError, "linear must be True, False or 'only'; got 1"):
        rankers.quantile_thresholds(frame, frame, linear=1)
    with raises(ValueError, "and pos has two of this name; use a number"):
        rankers.columns(2, names=["a", "a"], monotone={"a": 1})


# Columns


def test_which_column_a_weak_ranker_reads():
    pos, neg = rows(7)
    frame = pd.DataFrame(pos, columns=["age", "income", "debt"])
    cuts = rankers.quantile_thresholds(frame, frame, 2, missing="own", linear=True)
    assert cuts.column_names == ("age", "income", "debt")
    assert [name.split()[0] for name in cuts.names] == [cuts.column_names[c] for c in cuts.column]
    lines = rankers.columns(frame[["debt", "age"]].fillna(0.0))
    H = lines + cuts + [len, abs] + [len]
    assert H.column_names == ("debt", "age", "income", "len", "abs")
    np.testing.assert_array_equal(H.column, [0, 1, *np.array([1, 2, 0])[cuts.column], 3, 4, 3])
    np.testing.assert_array_equal(rankers.closed(H).column, np.r_[H.column, H.column])
    # By place where nothing has names, and by the names of a frame where something has them.
    plain = rankers.quantile_thresholds(pos, neg, 2, missing="own", names=["a > b", "b", "is missing"])
    assert plain.column_names == ("a > b", "b", "is missing")
    np.testing.assert_array_equal((rankers.columns(3) + plain).column, [0, 1, 2, *plain.column])
    assert (rankers.columns(3) + cuts).column_names == ("x0", "x1", "x2")
    np.testing.assert_array_equal((rankers.columns(3) + cuts).column, [0, 1, 2, *cuts.column])
    towns = rankers.categories([["red", None]], [["blue", 2]], missing="own")
    assert towns.column_names == ("x0", "x1")
    np.testing.assert_array_equal(towns.column, [0, 0, 1, 1])
    # The place of a column in the data is not its number: only those that are read count.
    assert rankers.thresholds({4: [1.0], 2: [1.0, 3.0]}).column_names == ("x2", "x4")
    np.testing.assert_array_equal(rankers.thresholds({4: [1.0], 2: [1.0, 3.0]}).column, [0, 0, 1])
