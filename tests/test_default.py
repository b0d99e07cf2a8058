"""What is taken where a user does not say: which kinds are offered, and what is compared."""

import numpy as np
import pytest
from facts import raises

import pnorm
from pnorm import _default, rankers

HALVES, LOG_STEPS = 10.0 ** -(np.arange(11) / 2), 10.0 ** (-0.4 - 0.36 * np.arange(11))


def problem(seed=0, n_pos=12, n_neg=17, n=2):
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1, (n_pos, n)), rng.normal(0, 1, (n_neg, n))


def cuts(pos, neg, **how):
    return rankers.quantile_thresholds(pos, neg, 3, missing="own", **how)


def test_all_that_is_compared_spelled_out():
    pos, neg = problem()
    found = _default.choose(pos, neg, _default.kinds(pos, neg, n_cuts=3), seed=3, penalty="shapes")
    kinds = {
        "line + cuts": cuts(pos, neg, linear=True),
        "steps": cuts(pos, neg),
        "lines": cuts(pos, neg, linear="only"),
    }
    assert list(kinds) == list(_default.OFFERED)
    l1 = {name: (lambda p: p * LOG_STEPS) if name == "steps" else 0.0 for name in kinds}
    l2 = {name: (lambda p: 1e-5 * p) if name == "steps" else (lambda p: p * HALVES) for name in kinds}
    expected = pnorm.cross_validate(
        pos, neg, kinds, [1, 4], l1=l1, l2=l2, penalty="shapes", folds=5, metric="partial_auc",
        second_metric="average_precision", seed=3, tol=1e-3,
    )  # fmt: skip
    for name in ("l1", "l2"):
        np.testing.assert_allclose(getattr(found.cross_validation, name), getattr(expected, name), rtol=1e-14)
    np.testing.assert_allclose(found.cross_validation.scores, expected.scores, rtol=1e-12)
    np.testing.assert_allclose(found.cross_validation.second_scores, expected.second_scores, rtol=1e-12)
    best = expected.best
    assert (found.kind, found.p) == (best.kind, best.p)
    np.testing.assert_allclose((found.l1, found.l2), (best.l1, best.l2), rtol=1e-14)
    assert found.rankers.to_dict() == kinds[best.kind].to_dict()


def test_columns_have_255_cuts():
    pos, neg = problem(4, 300, 300, 1)
    assert len(_default.kinds(pos, neg)["steps"].make(pos, neg)) == 255


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(_default, "L1", np.array([0.1, 0.01]))
    monkeypatch.setattr(_default, "L2", np.array([1.0, 0.1]))


def test_the_rows_say_which_kinds_there_are():
    pos, neg = problem()
    missing = pos.copy()
    missing[0, 1] = np.nan
    constant = np.full((3, 2), 7.0)
    whole = ["line + cuts", "steps", "lines"]
    for rows, expected in (
        ((pos, neg), whole),
        ((missing, neg), whole),
        ((neg, missing), whole),
        ((constant, constant), ["lines"]),
        ((constant, constant + np.arange(2)), whole),
    ):
        made = _default.kinds(*rows)
        assert list(made) == expected
        assert [kind.along for kind in made.values()] == ["l1" if name == "steps" else "l2" for name in expected]
        for kind in made.values():
            kind.make(*rows)
    for kind in _default.kinds(pos, neg, names=["a", "b"], monotone={"b": -1}).values():
        H = kind.make(pos, neg)
        assert H.names[-1].startswith("b")
        assert set(H.signs[H.column == 1]) == {-1}
        assert not H.signs[H.column == 0].any()


@pytest.mark.parametrize(
    ("given", "kinds", "powers", "l1", "l2"),
    [
        ({"p": 2.0}, _default.OFFERED, [2], {0, 0.2, 0.02}, {2, 0.2, 2e-5}),
        ({"l2": 0.3}, _default.OFFERED[:1], [1, 4], {0}, {0.3}),
        ({"l2": 0.0}, _default.OFFERED[:1], [1, 4], {0}, {0}),
        ({"l1": 0.3}, _default.OFFERED[:1], [1, 4], {0.3}, {1e-5, 4e-5}),
        ({"l1": 0.0}, _default.OFFERED[::2], [1, 4], {0}, {1, 0.1, 4, 0.4}),
    ],
)
def test_what_is_given_is_not_chosen(few, given, kinds, powers, l1, l2):
    pos, neg = problem(1, 40, 50)
    found = _default.choose(pos, neg, _default.kinds(pos, neg, n_cuts=3), **given)
    compared = found.cross_validation
    assert compared.kinds == tuple(kind for kind in kinds for _ in powers if len(kinds) > 1)
    assert compared.p.tolist() == powers * len(kinds)
    for values, expected in ((compared.l1, l1), (compared.l2, l2)):
        np.testing.assert_allclose(np.unique(values), sorted(expected), rtol=1e-14)
    assert all(getattr(found, name) == value for name, value in given.items())
    assert found.kind in kinds
    assert not found.alone


def test_one_point_is_not_compared_with_anything():
    pos, neg = problem()
    H = rankers.columns(2)
    found = _default.choose(pos, neg, {"": _default.Kind(lambda *_: H, "l2")}, p=3.0, l2=0.2)
    assert (found.rankers, found.p, found.l1, found.l2) == (H, 3.0, 0.0, 0.2)
    assert (found.cross_validation, found.alone) == (None, False)


def test_what_may_know_the_labels_is_made_of_each_fold():
    pos, neg = problem()
    made = []

    def recipe(pos, neg):
        made.append((len(pos), len(neg)))
        return rankers.columns(2)

    _default.choose(pos, neg, {"": _default.Kind(recipe, "l2", anew=True)}, p=1.0, folds=3)
    assert sorted(made[:3]) == [(8, 11), (8, 11), (8, 12)]
    assert made[3:] == [(12, 17)]


def test_of_many_rows_some_are_drawn_to_choose_by(few, monkeypatch):
    pos, neg = problem(2, 15, 70)
    weight = np.arange(1.0, 71.0)
    made, compared = [], []

    def make(pos, neg):
        made.append((pos, neg))
        return rankers.normalized(pos, neg)

    def watched(*rows, **how):
        compared.append(how)
        return pnorm.cross_validate(*rows, **how)

    monkeypatch.setattr(_default, "MOST", 20)
    monkeypatch.setattr(_default, "cross_validate", watched)
    found = _default.choose(pos, neg, {"": _default.Kind(make, "l2")}, neg_weight=weight, seed=5)
    (drawn_pos, drawn_neg), whole = made
    assert drawn_pos is pos
    assert (whole[0] is pos, whole[1] is neg) == (True, True)
    where = [int(np.flatnonzero((neg == row).all(axis=1))[0]) for row in drawn_neg]
    assert len(set(where)) == 20
    np.testing.assert_array_equal(compared[0]["neg_weight"], weight[where])
    assert found.cross_validation.folds[1].size == 20
    assert found.rankers.to_dict() == rankers.normalized(pos, neg).to_dict()
    assert found.l2 == found.cross_validation.best.l2  # all rows of one side were there
    _default.choose(pos, neg, {"": _default.Kind(make, "l2")}, neg_weight=weight, seed=6)
    assert (made[2][1] != drawn_neg).any()
    monkeypatch.setattr(_default, "MOST", 10)
    fewer = _default.choose(pos, neg, {"": _default.Kind(make, "l2")}, seed=5)
    assert fewer.l2 == pytest.approx(fewer.cross_validation.best.l2 * 10 / 15, rel=1e-14)
    assert _default.choose(pos, neg, {"": _default.Kind(make, "l2")}, l2=0.5, seed=5).l2 == 0.5


def test_a_side_of_few_rows(few):
    pos, neg = problem(3, 3, 30)
    kinds = _default.kinds(pos, neg, n_cuts=3)
    found = _default.choose(pos, neg, kinds)
    assert found.cross_validation.scores.shape[1] == 3
    for given, expected in (
        ({}, ("line + cuts", 4.0, 0.0, 0.4)),
        ({"p": 2.0}, ("line + cuts", 2.0, 0.0, 0.2)),
        ({"l1": 0.5}, ("line + cuts", 4.0, 0.5, 4e-5)),
        ({"l2": 0.5}, ("line + cuts", 4.0, 0.0, 0.5)),
    ):
        alone = _default.choose(pos[:1], neg, kinds, **given)
        assert (alone.kind, alone.p, alone.l1) == expected[:3]
        assert alone.l2 == pytest.approx(expected[3], rel=1e-14)
        assert alone.cross_validation is None
        assert alone.alone
    assert alone.told == "line + cuts, p = 4, l2 = 0.5"


@pytest.mark.filterwarnings("ignore::pnorm.diagnostics.NoSignalWarning")  # so few rows
def test_folds_of_scikit_learn(few):
    sklearn = pytest.importorskip("pnorm.sklearn")
    from sklearn.model_selection import LeaveOneGroupOut, RepeatedKFold, ShuffleSplit, StratifiedKFold

    pos, neg = problem()
    X, y = np.concatenate([neg, pos]), np.repeat([0, 1], [len(neg), len(pos)])
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    third = np.full(y.size, -1)
    for k, (_, held) in enumerate(splitter.split(X, y)):
        third[held] = k
    weight = np.ones(y.size)
    weight[[2, -3]] = 0.0  # rows that are left out of all folds
    expected = pnorm.cross_validate(
        pos, neg, cuts(pos, neg), [1, 4], l2=lambda p: p * np.array([1.0, 0.1]), penalty="shapes",
        folds=(np.where(weight, third, -1)[y == 1], np.where(weight, third, -1)[y == 0]),
        second_metric="average_precision", tol=1e-3, pos_weight=weight[y == 1], neg_weight=weight[y == 0],
    )  # fmt: skip
    own = list(LeaveOneGroupOut().split(X, y, third))
    for cv in (splitter, own, [(train.tolist(), test.tolist()) for train, test in own]):
        model = sklearn.PNormPush(rankers=cuts(pos, neg), cv=cv).fit(X, y, weight)
        np.testing.assert_allclose(model.cross_validation_.scores, expected.scores, rtol=1e-12)
    for cv in (RepeatedKFold(n_splits=3, n_repeats=2), ShuffleSplit(2, test_size=0.6), [(np.arange(3), np.arange(3))]):
        with raises(ValueError, "cv must hold each row out once at most"):
            sklearn.PNormPush(rankers=cuts(pos, neg), cv=cv).fit(X, y)


@pytest.mark.filterwarnings("ignore::pnorm.diagnostics.NoSignalWarning")  # so few rows
def test_sparse_rows_are_minimised_where_a_penalty_says_so(few):
    sklearn = pytest.importorskip("pnorm.sklearn")
    scipy_sparse = pytest.importorskip("scipy.sparse")
    pos, neg = problem()
    X, y = np.concatenate([neg, pos]), np.repeat([0, 1], [len(neg), len(pos)])
    S = scipy_sparse.csr_array(X)
    assert sklearn.PNormPush().fit(S, y).cross_validation_ is None
    model = sklearn.PNormPush(l2=0.5).fit(S, y)
    assert model.kind_ == "line + cuts"
    assert model.cross_validation_.p.tolist() == [1, 4]
    assert (model.l2_, model.trace_.status) == (0.5, "converged")


def test_a_wide_table_has_few_cuts_and_strong_penalties():
    rng = np.random.default_rng(0)
    wide, long = rng.normal(size=(60, 70)), rng.normal(size=(560, 70))
    kinds = _default.kinds(wide[:20], wide[20:])
    assert list(kinds) == ["line + cuts"]
    assert len(kinds["line + cuts"].make(wide[:20], wide[20:])) == 70 * 32
    assert list(_default.kinds(long[:200], long[200:])) == ["line + cuts", "steps", "lines"]
    assert list(_default.kinds(wide[:20, :64], wide[20:, :64])) == ["line + cuts", "steps", "lines"]
    assert _default.cuts_of((200, 5000)) == 3
    assert _default.cuts_of((200, 10**5)) == 1
    assert _default.cuts_of((60, 70), 5) == 5
    found = _default.choose(wide[:20], wide[20:], kinds, p=1.0, folds=2, penalty="shapes")
    assert found.cross_validation.mean.size == 6
    assert found.l2 >= 10**-2.5
