"""Rows that are read batch by batch and kept as codes, against the same rows in memory."""

import numpy as np
import pytest
from repeats import each_value

import pnorm
from pnorm._coded import code_rows

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 4))
X[:, 0] = np.round(X[:, 0])
Y = X @ [1.0, 0.5, 0.0, 0.0] + rng.normal(size=N) > 0.5
H = pnorm.rankers.quantile_thresholds(X[Y], X[~Y], 15)
OF_ROWS = {
    "plain": {},
    "weights": {"weight": rng.integers(0, 3, N).astype(float)},
    "groups": {"group": rng.integers(0, 6, N)},
}
KINDS = {
    "cuts": H,
    "columns": None,
    "closed": pnorm.rankers.closed(H),
    "closed columns": pnorm.rankers.closed(pnorm.rankers.normalized(X[Y], X[~Y])),
    "functions": [lambda A: A[:, 1], lambda A: A[:, 2] > 0.0],
    "both": H + pnorm.rankers.columns(4),
}


@pytest.fixture(autouse=True)
def _short_batches(monkeypatch):
    monkeypatch.setattr(code_rows, "ROWS", 37)


def sides(of_rows):
    """Weights and groups as functions of two sides take them."""
    return {f"{side}_{name}": x[rows] for name, x in of_rows.items() for side, rows in (("pos", Y), ("neg", ~Y))}


@each_value(times=2)
@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("of_rows", OF_ROWS)
@pytest.mark.parametrize("kind", KINDS)
def test_training_finds_what_it_finds_in_memory(kind, of_rows, on_disk, tmp_path):
    G, more = KINDS[kind], OF_ROWS[of_rows]
    rows = pnorm.code_rows(X, Y, G, folder=tmp_path if on_disk else None, **more)
    assert not list(tmp_path.iterdir())
    assert (
        (len(rows.pos), len(rows.neg)) == (np.count_nonzero(Y[c > 0]), np.count_nonzero(~Y[c > 0]))
        if (c := more.get("weight")) is not None
        else (Y.sum(), (~Y).sum())
    )
    expected = pnorm.train(X[Y], X[~Y], G, 4, 20, **sides(more))
    lam, trace = pnorm.train(rows, p=4, t_max=20)
    np.testing.assert_allclose(lam, expected[0], atol=1e-9)
    np.testing.assert_array_equal(trace.ranker, expected[1].ranker)
    lam, _ = pnorm.minimize(rows, p=4, l2=0.1)
    np.testing.assert_allclose(lam, pnorm.minimize(X[Y], X[~Y], G, 4, l2=0.1, **sides(more))[0], atol=1e-7)


def test_all_that_takes_two_sides_takes_coded_rows():
    rows, G = pnorm.code_rows(X, Y, H), H
    pos, neg = X[Y], X[~Y]
    path, other = pnorm.minimize_path(rows, p=4, l2=[1.0, 0.1]), pnorm.minimize_path(pos, neg, G, 4, l2=[1.0, 0.1])
    np.testing.assert_allclose(path.lam, other.lam, atol=1e-7)
    how = {"p": [1, 4], "l2": [1.0, 0.1], "folds": 3, "seed": 5}
    found, expected = pnorm.cross_validate(rows, **how), pnorm.cross_validate(pos, neg, G, **how)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-9)
    found = pnorm.cross_validate(rows, p=4, t_max=20, folds=3)
    np.testing.assert_allclose(found.scores, pnorm.cross_validate(pos, neg, G, 4, 20, folds=3).scores, atol=1e-9)
    lam = path.lam[-1]
    for side, A in ((rows.pos, pos), (rows.neg, neg)):
        np.testing.assert_allclose(pnorm.score(side, None, lam), pnorm.score(A, G, lam), atol=1e-12)
        np.testing.assert_array_equal(pnorm.score(side, G, lam), pnorm.score(side, rows.H, lam))
    d = pnorm.diagnostics
    assert d.certificate(*rows, 4, lam, l2=0.1).gap < 1e-9
    assert d.separability(*rows).kind == d.separability(pos, neg, G).kind
    assert "converged" in repr(pnorm.minimize(rows, p=4, l2=0.1, penalty="shapes")[1])


def test_push_at_the_bottom_and_another_loss():
    rows = pnorm.code_rows(X, Y, H)
    for how in ({"push": "bottom"}, {"loss": "logistic"}):
        found, expected = pnorm.train(rows, p=2, t_max=10, **how), pnorm.train(X[Y], X[~Y], H, 2, 10, **how)
        np.testing.assert_allclose(found[0], expected[0], atol=1e-9)


def test_held_out_rows_are_the_others():
    rows = pnorm.code_rows(X, Y, H)
    train, test = rows.hold_out(0.25, seed=3)
    lam = np.ones(len(H))
    for whole, one, other in zip(rows, train, test, strict=True):
        if whole is H:
            continue
        f = [pnorm.score(side, None, lam) for side in (whole, one, other)]
        assert len(other) == round(0.25 * len(whole))
        np.testing.assert_array_equal(np.sort(f[0]), np.sort(np.concatenate(f[1:])))
    again = rows.hold_out(0.25, seed=3)[1]
    np.testing.assert_array_equal(pnorm.score(again.pos, None, lam), pnorm.score(test.pos, None, lam))
    with pytest.raises(ValueError, match="share must be"):
        rows.hold_out(1.5)
    one = pnorm.code_rows(X[:3], [1, 0, 0], None)
    with pytest.raises(ValueError, match="there is 1 positive row, and 2 are needed"):
        one.hold_out()


def test_groups_are_held_out_whole():
    group = np.arange(N) % 10
    train, test = pnorm.code_rows(X, Y, H, group=group).hold_out(0.3)
    held = [set(part.pos.group) | set(part.neg.group) for part in (train, test)]
    assert len(held[1]) == 3
    assert not held[0] & held[1]
    with pytest.raises(ValueError, match="groups with both sides: 1; 2 are needed"):
        pnorm.code_rows(X, Y, H, group=np.zeros(N, int)).hold_out()


def test_labels_in_words_and_columns_by_name():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": np.ones(N), "y": np.where(Y, "fraud", "ok")})
    rows = pnorm.code_rows(table, "y", None, pos_label="fraud", weight="w")
    assert rows.positive == "fraud"
    assert rows.H.names == ("a", "b")
    with pytest.raises(
        ValueError, match=r"column 'y' has the labels .*; name the positive label with pos_label=\.\.\."
    ):
        pnorm.code_rows(table, "y", None)
    with pytest.raises(ValueError, match="no row has the label 'bad' in column 'y'; its labels are"):
        pnorm.code_rows(table, "y", None, pos_label="bad")
    with pytest.raises(ValueError, match=r"label = 'z' is no column of .*: it has 'a', 'b'"):
        pnorm.code_rows(table, "z", None)
    with pytest.raises(ValueError, match=r"the weight .w. is -1\.0 in row 5"):
        pnorm.code_rows(
            table.assign(w=np.where(np.arange(N) == 5, -1.0, 1.0)), "y", None, pos_label="fraud", weight="w"
        )
    rows = pnorm.code_rows(table, Y, None, ignore=["y", "w"])
    assert rows.H.names == ("a", "b")
    with pytest.raises(ValueError, match="no column to learn from"):
        pnorm.code_rows(table[["y"]], "y", None)
    truths = pandas.DataFrame({"a": X[:, 0], "y": ["yes" if y else "no" for y in Y]})
    assert pnorm.code_rows(truths, "y", None).positive == "yes"


def test_what_cannot_be_used():
    rows = pnorm.code_rows(X, Y, H)
    for run in (pnorm.train, pnorm.minimize, pnorm.minimize_path, pnorm.cross_validate):
        with pytest.raises(TypeError, match="neg is missing: pass the negative rows, or the label of every row"):
            run(X)
        with pytest.raises(TypeError, match="coded rows have both sides, and weak rankers: neg is given as well"):
            run(rows, X)
        with pytest.raises(TypeError, match="coded rows have both sides, and weak rankers: H is given as well"):
            run(rows, H=H)
    with pytest.raises(TypeError, match="pos is coded rows, and neg is of type ndarray"):
        pnorm.train(rows.pos, X[~Y])
    with pytest.raises(TypeError, match="neg is coded rows, and pos is of type list"):
        pnorm.train([[1.0]], rows.neg)
    with pytest.raises(ValueError, match="H is not what these rows were coded with"):
        pnorm.train(rows.pos, rows.neg, pnorm.rankers.columns(4))
    with pytest.raises(ValueError, match="H is not what these rows were coded with"):
        pnorm.score(rows.pos, pnorm.rankers.columns(4), np.ones(4))
    with pytest.raises(TypeError, match="coded rows, of which the values are not kept"):
        np.asarray(rows.pos)
    other = pnorm.code_rows(X, Y, None)
    with pytest.raises(ValueError, match="neg was coded with other weak rankers than pos"):
        pnorm.train(rows.pos, other.neg)
    weighted = pnorm.code_rows(X, Y, H, weight=np.ones(N))
    with pytest.raises(ValueError, match="pos_weight is given, and the coded rows have weights of their own"):
        pnorm.train(weighted, pos_weight=np.ones(Y.sum()))
    with pytest.raises(ValueError, match="column 'label' has only one label, True"):
        pnorm.code_rows(X, np.ones(N, bool), H)
    with pytest.raises(ValueError, match="label has 299 values"):
        pnorm.code_rows(X, Y[1:], H)
    with pytest.raises(ValueError, match=r"label has 301 values, and .* has 300 rows"):
        pnorm.code_rows(X, np.r_[Y, True], H)
    with pytest.raises(ValueError, match="no positive row of positive weight"):
        pnorm.code_rows(X, Y, H, weight=(~Y).astype(float))
    with pytest.raises(ValueError, match="weights are zero or more"):
        pnorm.code_rows(X, Y, H, weight=-np.ones(N))
    with pytest.raises(ValueError, match=r"weight = 'w' names a column, and .* has no names"):
        pnorm.code_rows(X, Y, H, weight="w")
    with pytest.raises(ValueError, match="H must be"):
        pnorm.code_rows(X, Y, "columns")
    with pytest.raises(TypeError, match="n_cuts is for H='table', and H is given"):
        pnorm.code_rows(X, Y, H, n_cuts=3)
    with pytest.raises(ValueError, match="folder must be a folder that is there"):
        pnorm.code_rows(X, Y, H, folder="/nowhere")
    bad = X.copy()
    bad[200, 1] = np.nan
    with pytest.raises(ValueError, match=r"in the 37 rows from .* on: source has nan at row 15"):
        pnorm.code_rows(bad, Y, H)


def test_files_of_text_serve_weak_rankers_of_numbers(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1].round(3), "c": np.where(X[:, 2] > 0.0, "x", "z")})
    for k in range(3):
        table.assign(y=Y.astype(int))[100 * k : 100 * (k + 1)].to_csv(tmp_path / f"{k}.csv", index=False)
    pos, neg = table[Y], table[~Y]
    of_two = pnorm.rankers.quantile_thresholds(pos[["a", "b"]], neg[["a", "b"]], 9)
    both = pnorm.rankers.categories(pos[["c"]], neg[["c"]]) + pnorm.rankers.columns(pos[["a", "b"]])
    for G, ignore in ((None, ["c"]), (of_two, ["c"]), (both, [])):
        rows = pnorm.code_rows(tmp_path, "y", G, ignore=ignore)
        lam, _ = pnorm.minimize(rows, p=2, l2=0.1)
        known = table.drop(columns=ignore)
        np.testing.assert_allclose(lam, pnorm.minimize(known[Y], known[~Y], G, 2, l2=0.1)[0], atol=1e-9)
        if G is not None:
            np.testing.assert_allclose(pnorm.score(tmp_path, G, lam), pnorm.score(known, G, lam), atol=1e-12)


def test_what_is_no_option_is_said_before_anything_is_read():
    with pytest.raises(TypeError, match=r"weights is no option of code_rows, .*; did you mean weight\?"):
        pnorm.code_rows("/nowhere", "y", weights="w")
    with pytest.raises(TypeError, match=r"neg is missing: pnorm.code_rows\(source, label\) reads files"):
        pnorm.train("sales/")
