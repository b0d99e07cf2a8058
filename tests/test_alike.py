"""Equal rows are held out together, and near copies are told of."""

import contextlib
import io
import warnings

import numpy as np
import pandas
import pytest
from scipy import sparse

import pnorm
from pnorm._command.main import main
from pnorm.rankers._alike import deal, hashes, joined, near_copies, units_of

sklearn = pytest.importorskip("pnorm.sklearn")
from pnorm.sklearn._rows import LabelledRows  # noqa: E402

N = 150


def rows(seed=0, n=N, d=3, bias=-1.0, decimals=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(decimals)
    return X, rng.random(n) < 1 / (1 + np.exp(bias * -1.0 - 1.5 * X[:, 0]))


def table(X):
    town = np.array(["Ulm", "Bonn", "Jena"])[(X[:, 1] * 10).astype(int) % 3]
    return pandas.DataFrame({"a": np.where(X[:, 0] > 1.0, np.nan, X[:, 0]), "town": town, "b": X[:, 2]})


def in_one_fold(keys, number):
    """Whether rows with the same key have the same fold."""
    found = {}
    return all([found.setdefault(key, k) == k for key, k in zip(keys, number.tolist(), strict=True)])


@pytest.mark.usefixtures("few_points")
@pytest.mark.parametrize("form", [np.asarray, table], ids=["matrix", "table"])
def test_copies_are_weights(form):
    X, y = rows(decimals=2)
    w = np.random.default_rng(1).integers(1, 5, N)
    at = np.repeat(np.arange(N), w)
    weighted = sklearn.PNormPush().fit(form(X), y, sample_weight=w)
    copied = sklearn.PNormPush().fit(form(X[at]), y[at])
    assert [getattr(copied, name) for name in ("p_", "kind_", "l1_", "l2_")] == [
        getattr(weighted, name) for name in ("p_", "kind_", "l1_", "l2_")
    ]
    np.testing.assert_allclose(copied.score_samples(form(X)), weighted.score_samples(form(X)), atol=1e-9)
    np.testing.assert_allclose(copied.slope_, weighted.slope_)
    assert str(copied.out_of_fold_) == str(weighted.out_of_fold_)


def strings(X):
    return [f"{a:g} {b:g}" for a, b in X[:, :2]]


def signed(X):
    """Zeros of both signs and NaN of both signs, which are no other values."""
    A = X.copy()
    A[np.abs(X) < 0.3] = 0.0
    A[X[:, 0] > 1.0, 0] = np.nan
    A[::2] = np.where(np.isnan(A[::2]) | (A[::2] == 0.0), -A[::2], A[::2])
    return A


def stored_zeros(X):
    A = sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    some = A[::2].tocoo()
    more = sparse.coo_array((np.zeros(len(X)), (np.arange(len(X)), np.full(len(X), 1))), shape=X.shape)
    both = [np.concatenate([getattr(x, name) for x in (A.tocoo(), more)]) for name in ("data", "row", "col")]
    assert some.nnz < A.nnz < both[0].size
    return sparse.csc_array((both[0], (both[1], both[2])), shape=X.shape)


FIRST = [lambda X: np.array([float(x.split()[0]) for x in X])]
NAMED = pnorm.rankers.from_table
FORMS = {
    "floats": (np.asarray, None),
    "float32, by columns": (lambda X: np.asfortranarray(X, np.float32), None),
    "integers": (lambda X: (10 * X).astype(int), None),
    "signs of zeros and NaN": (signed, lambda pos, neg: pnorm.rankers.quantile_thresholds(pos, neg, 9, missing="own")),
    "sparse": (stored_zeros, None),
    "list": (lambda X: X.tolist(), None),
    "pandas": (table, NAMED),
    "categories": (lambda X: table(X).astype({"town": "category"}), NAMED),
    "text": (lambda X: {k: ["" if x != x else str(x) for x in v] for k, v in table(X).items()}, NAMED),
    "records": (lambda X: table(X).to_dict("records"), NAMED),
    "strings": (strings, FIRST),
}


@pytest.mark.parametrize("form", FORMS)
def test_equal_rows_are_in_one_fold(form):
    make, H = FORMS[form]
    X, y = rows(decimals=2)
    at = np.concatenate([np.arange(N), np.random.default_rng(2).choice(np.flatnonzero(y), 2 * N)])
    given, y = make(X[at]), y[at]
    found = pnorm.cross_validate(given, H=H, y=y, p=1, l2=0.1, metric="auc")
    number = np.empty(y.size, int)
    number[y], number[~y] = found.folds
    assert in_one_fold(at.tolist(), number)
    assert {*found.folds[0].tolist()} == {*found.folds[1].tolist()} == {*range(5)}
    again = pnorm.cross_validate(given, H=H, y=y, p=1, l2=0.1, metric="auc")
    assert all((a == b).all() for a, b in zip(found.folds, again.folds, strict=True))


def test_equal_codes_are_in_one_fold_and_held_out_together():
    X, y = rows(decimals=2)
    at = np.concatenate([np.arange(N), np.random.default_rng(2).choice(np.flatnonzero(y), 2 * N)])
    coded = pnorm.code_rows({"a": X[at, 0], "b": X[at, 1], "c": X[at, 2], "won": y[at]}, "won")
    found = pnorm.cross_validate(coded, p=1, l2=0.1, metric="auc")
    assert in_one_fold(at[y[at]].tolist(), found.folds[0])
    train, test = [[*hashes(part.pos).tolist(), *hashes(part.neg).tolist()] for part in coded.hold_out()]
    assert test
    assert not {*train} & {*test}


def few_values(seed=0, levels=(2,)):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(0, n, 2000) for n in levels], axis=1).astype(float)
    return X, rng.random(2000) < 0.1 + 0.3 * X[:, 0] / levels[0]


@pytest.mark.parametrize("levels", [(2,), (10,), (60,), (3, 3, 3), (5, 10, 4)], ids=str)
def test_equal_rows_of_few_values_are_cases(levels):
    X, y = few_values(0, levels)
    assert units_of((X,), y) is None
    found = pnorm.cross_validate(X, y=y, p=1, l2=1.0, metric="auc")
    for of_side in found.folds:
        assert np.ptp(np.bincount(of_side)) <= 1
    copied = np.concatenate([np.arange(2000), np.flatnonzero(y)])
    assert units_of((X[copied],), y[copied]) is None


@pytest.mark.usefixtures("few_points")
@pytest.mark.filterwarnings("ignore:Columns with values")  # a town has one label
def test_a_level_that_is_held_out_as_a_whole_would_hide_the_signal():
    X, y = few_values(3, (10,))
    model = sklearn.PNormPush().fit(pandas.DataFrame({"town": X[:, 0].astype(int).astype(str)}), X[:, 0] % 3 == 0)
    assert model.out_of_fold_.auc > 0.99
    model = sklearn.PNormPush().fit(pandas.DataFrame({"town": X[:, 0].astype(int).astype(str)}), y)
    assert model.out_of_fold_.beats_chance


def test_folds_are_balanced_where_equal_rows_are_most():
    X, y = rows(4, 1000, decimals=3)
    X[:600], y[:600] = 0.0, False
    units = units_of((X,), y)
    number = deal(y, 5, np.random.default_rng(0), units)
    for side in (y, ~y):
        assert np.ptp(np.bincount(number[side])) <= 0.05 * side.sum()
    one = np.zeros((100, 2))
    assert units_of((one,), np.arange(100) < 30) is None


def test_folds_keep_units_together():
    rng = np.random.default_rng(1)
    units = rng.integers(0, 150, 600)
    y = (units % 7 == 0) | (rng.random(600) < 0.05)
    number = deal(y, 5, np.random.default_rng(0), units)
    assert in_one_fold(units.tolist(), number)
    assert {*number[y].tolist()} == {*number[~y].tolist()} == {*range(5)}
    few = np.array([0, 0, 0, 1, 2, 3, 4, 5])  # two units have positive rows
    number = deal(few < 2, 5, np.random.default_rng(0), few)
    assert sorted(number[:4].tolist()) in ([0, 0, 0, 1], [0, 1, 1, 1])
    assert {*number[4:].tolist()} == {0, 1}
    assert {*deal(few < 1, 3, np.random.default_rng(0), few)[:3].tolist()} == {0, 1, 2}  # one has: dealt one by one


def test_units_of_two_kinds_are_joined():
    assert joined(np.array([0, 1, 0, 2, 3]), np.array([0, 1, 2, 2, 3])).tolist() == [0, 1, 0, 0, 2]
    assert joined(None, np.arange(3)).tolist() == joined(np.arange(3), None).tolist() == [0, 1, 2]


def test_equal_rows_are_not_split_within_fit():
    X, y = rows(decimals=2)
    at = np.concatenate([np.arange(N), np.random.default_rng(2).choice(np.flatnonzero(y), 2 * N)])
    known = LabelledRows(X[at], y[at], None, None, np.arange(at.size))
    model = sklearn.PNormPush()
    model.classes_ = np.array([False, True])
    parts = [{*at[part.number].tolist()} for part in model._split(known)]
    assert min(map(len, parts)) > 5
    assert not parts[0] & parts[1]


@pytest.mark.usefixtures("few_points")
def test_copies_are_no_evidence():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(420, 4)), np.arange(420) < 20
    at = np.concatenate([np.arange(20).repeat(20), np.arange(20, 420)])
    with pytest.warns(pnorm.diagnostics.NoSignalWarning):
        model = sklearn.PNormPush().fit(X[at], y[at])
    assert not model.out_of_fold_.beats_chance


def copied(X, y, how, seed=0):
    """Rows with twenty copies of each positive one, or what is like copies."""
    rng = np.random.default_rng(seed)
    pos = X[y]
    some = pos.repeat(20, axis=0)
    if how == "noise":
        some += 0.02 * rng.normal(size=some.shape)
    if how == "between neighbours":
        order = ((pos[:, None] - pos) ** 2).sum(axis=2).argsort(axis=1)[:, 1:6]
        some += rng.random((len(some), 1)) * (
            pos[order[np.arange(len(pos)).repeat(20), rng.integers(0, 5, len(some))]] - some
        )
    X, y = np.concatenate([pos, some, X[~y]]), np.arange(len(pos) + len(some) + (~y).sum()) < len(pos) + len(some)
    return (np.c_[X, rng.permutation(len(X))], y) if how == "an id" else (X, y)


@pytest.mark.parametrize("how", ["noise", "between neighbours", "an id"])
@pytest.mark.parametrize("n", [400, 1500])
def test_near_copies_are_found(how, n):
    X, y = rows(5, n, 6, -3.0, 6)
    assert near_copies((X[y], X[~y])) is None
    A, z = copied(X, y, how)
    assert near_copies((A[z], A[~z])) == 0
    assert near_copies((A[~z], A[z])) == 1
    frame = pandas.DataFrame(A, columns=[f"x{k}" for k in range(A.shape[1])])
    assert near_copies((frame[z], frame[~z])) == 0
    assert near_copies([sparse.csr_array(A[side]) for side in (z, ~z)]) == 0


def test_few_rows_are_called_near_copies_by_mistake():
    """Of independent rows: several sizes, dimensions, shares, and classes of two widths."""
    wrong = tried = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n, d = int(rng.choice([60, 150, 300])), int(rng.choice([1, 2, 4, 8, 20]))
        y = rng.random(n) < rng.choice([0.1, 0.3, 0.5])
        X = (
            rng.normal(size=(n, d)) * np.where(y, rng.choice([0.5, 1.0, 2.0]), 1.0)[:, None]
            + rng.choice([0, 1]) * y[:, None]
        )
        X = X.round(int(rng.choice([0, 1, 9])))
        tried += 1
        wrong += near_copies((X[y], X[~y])) is not None
    assert wrong <= 0.02 * tried


@pytest.mark.usefixtures("few_points")
@pytest.mark.parametrize("how", ["noise", "split"])
def test_fit_tells_of_near_copies_and_of_split_ones(how):
    from sklearn.model_selection import KFold

    X, y = rows(6, 300, 4, -2.5, 6)
    A, z = copied(X, y, how)
    model = sklearn.PNormPush(cv=KFold(3, shuffle=True, random_state=0) if how == "split" else 3)
    with pytest.warns(UserWarning, match="sample_weight"):
        model.fit(A, z)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sklearn.PNormPush(cv=3).fit(X, y)


def test_the_command_holds_equal_rows_out_together(tmp_path):
    X, y = rows(7, 200, 3, -1.5, 2)
    at = np.concatenate([np.arange(200), np.flatnonzero(y).repeat(5)])
    path, out = tmp_path / "t.csv", tmp_path / "s.csv"
    pandas.DataFrame(X[at], columns=["a", "b", "c"]).assign(won=y[at].astype(int)).to_csv(path, index=False)
    with contextlib.redirect_stdout(io.StringIO()):
        main([str(path), "--label", "won", "-t", "2", "--out", str(out)])
    held = pandas.read_csv(out).sort_values("row")["held_out"].astype(bool).to_numpy()
    assert in_one_fold(at.tolist(), held)
    for side in (y[at], ~y[at]):
        assert 0.1 < held[side].mean() < 0.3
