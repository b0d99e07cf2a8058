"""Query groups that count the same, against weights that a plain loop makes."""

import numpy as np
import pytest
from facts import raises
from repeats import each_value

import pnorm
from pnorm import _checks, boosting, rankers

rng = np.random.default_rng(0)
POS, NEG = rng.normal(0.4, 1, (50, 3)), rng.normal(0, 1, (70, 3))
GROUPS = {"pos_group": rng.choice(list("aaaabc"), 50), "neg_group": rng.choice(list("abbbbcd"), 70)}  # no positive in d
WEIGHTS = {"pos_weight": rng.choice([0, 0.5, 1, 3], 50), "neg_weight": rng.choice([0.1, 0, 2], 70)}
EQUAL = {"group_weight": "equal"}


def shares(weight, group):
    """The weight of each row over the sum of those of its group."""
    of = {g: sum(c for c, own in zip(weight, group, strict=True) if own == g) for g in group}
    return np.array([c / of[g] if c else 0.0 for c, g in zip(weight, group, strict=True)])


def by_hand(weighted=True):
    """Groups, and weights that make them count the same."""
    of = WEIGHTS if weighted else {"pos_weight": np.ones(50), "neg_weight": np.ones(70)}
    return {
        **GROUPS,
        **{f"{side}_weight": shares(of[f"{side}_weight"], GROUPS[f"{side}_group"]) for side in ("pos", "neg")},
    }


def given(weighted=True):
    """The same, said in words."""
    return {**GROUPS, **(WEIGHTS if weighted else {}), **EQUAL}


@each_value(times=2)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize("H", [None, rankers.quantile_thresholds(POS, NEG, 5)], ids=["columns", "cuts"])
def test_train_and_minimize(H, push, weighted):
    for p in (1, 4):
        one = pnorm.train(POS, NEG, H, p, 15, push=push, **given(weighted))
        other = pnorm.train(POS, NEG, H, p, 15, push=push, **by_hand(weighted))
        np.testing.assert_allclose(one[0], other[0], rtol=1e-9)
        np.testing.assert_allclose(one[1].log_objective, other[1].log_objective, rtol=1e-9, atol=1e-12)
        assert one[1].log_objective[0] == pytest.approx(np.log(3))  # every group begins with a value of one
        one = pnorm.minimize(POS, NEG, H, p, l2=0.01, push=push, **given(weighted))
        other = pnorm.minimize(POS, NEG, H, p, l2=0.01, push=push, **by_hand(weighted))
        np.testing.assert_allclose(one[0], other[0], rtol=1e-4, atol=1e-6)
        assert one[1].objective[-1] == pytest.approx(other[1].objective[-1], abs=1e-9)


def test_copies_of_all_rows_of_a_group_change_nothing():
    copies = [
        np.r_[np.arange(n), *[np.flatnonzero(of == "a")] * 4] for n, of in zip((50, 70), GROUPS.values(), strict=True)
    ]
    more = {name: of[rows] for (name, of), rows in zip(GROUPS.items(), copies, strict=True)}
    sides = POS[copies[0]], NEG[copies[1]]
    equal = [pnorm.minimize(*X, None, 4, **of, **EQUAL)[0] for X, of in (((POS, NEG), GROUPS), (sides, more))]
    pairs = [pnorm.minimize(*X, None, 4, **of)[0] for X, of in (((POS, NEG), GROUPS), (sides, more))]
    np.testing.assert_allclose(equal[0], equal[1], rtol=1e-5)
    assert np.abs(pairs[0] - pairs[1]).max() > 0.01


def test_paths_diagnostics_and_early_stopping():
    path, other = [pnorm.minimize_path(POS, NEG, None, 4, l2=[1, 0.1], **how) for how in (given(), by_hand())]
    np.testing.assert_allclose(path.lam, other.lam, rtol=1e-5)
    lam, d = path.lam[1], pnorm.diagnostics
    for ask in (
        lambda how: d.certificate(POS, NEG, None, 4, lam, l2=0.1, **how).log_objective,
        lambda how: d.certificate(POS, NEG, None, 4, lam, l2=0.1, **how).gap,
        lambda how: d.q_limit(POS, NEG, None, 4, **how).log_pos[0],
    ):
        assert ask(given()) == pytest.approx(ask(by_hand()), rel=1e-8, abs=1e-9)
    stops = [pnorm.callbacks.early_stopping(POS, NEG, "log_objective", p=4, **how) for how in (given(), by_hand())]
    for stop in stops:
        pnorm.train(POS, NEG, t_max=5, callback=stop)
    np.testing.assert_allclose(stops[0].scores, stops[1].scores, rtol=1e-9)
    assert d.report(POS, NEG, None, 4, lam, l2=0.1, **given()) == d.report(POS, NEG, None, 4, lam, l2=0.1, **by_hand())


@pytest.mark.parametrize("how", [{"t_max": 6}, {"l2": [1.0, 0.1], "tol": 1e-10}], ids=["rounds", "penalties"])
def test_cross_validation_trains_with_equal_weights_and_judges_with_those_of_the_rows(how):
    groups = {"pos_group": np.arange(50) % 7 % 5, "neg_group": np.arange(70) ** 2 % 5}  # 0, 1, 4 have both
    found = pnorm.cross_validate(POS, NEG, None, [1, 4], folds=3, metric="bedroc", **how, **groups, **EQUAL)
    for k in range(3):
        train, held = [(n >= 0) & (n != k) for n in found.folds], [n == k for n in found.folds]
        own = {name: of[rows] for (name, of), rows in zip(groups.items(), train, strict=True)}
        for i, p in enumerate((1, 4)):
            sides = POS[train[0]], NEG[train[1]]
            if "l2" in how:
                lam, _ = pnorm.minimize(*sides, None, p, l2=0.1, **own, **EQUAL)
            else:
                lam, _ = pnorm.train(*sides, None, p, 6, **own, **EQUAL)
            f = POS[held[0]] @ lam, NEG[held[1]] @ lam
            labels = groups["pos_group"][held[0]], groups["neg_group"][held[1]]
            lists = [pnorm.metrics.bedroc(f[0][labels[0] == g], f[1][labels[1] == g]) for g in set(labels[0])]
            assert found.scores[i, k, -1] == pytest.approx(np.mean(lists), rel=1e-5)


def test_grades_keep_the_groups_of_the_user():
    X, group, grade = rng.normal(size=(60, 2)), np.arange(60) % 7 % 3, rng.integers(0, 3, 60).astype(float)
    how = {"pos_group": group, "neg_group": group, "pos_grade": grade, "neg_grade": grade}
    pos = np.array([any((grade < grade[i]) & (group == group[i])) for i in range(60)])
    neg = np.array([any((grade > grade[k]) & (group == group[k])) for k in range(60)])
    weights = {"pos_weight": shares(pos.astype(float), group), "neg_weight": shares(neg.astype(float), group)}
    one, other = [pnorm.minimize(X, X, None, 2, l2=0.1, **how, **more)[0] for more in (EQUAL, weights)]
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_the_estimator():
    pytest.importorskip("sklearn")
    from pnorm.sklearn import PNormPush

    X, y = np.concatenate([POS, NEG]), np.repeat([1, 0], [50, 70])
    groups = np.concatenate(list(GROUPS.values()))
    for how, (lam, _) in (
        ({"t_max": 30}, pnorm.train(POS, NEG, None, 2, 30, **given(False))),
        ({"l2": 0.1}, pnorm.minimize(POS, NEG, None, 2, l2=0.1, penalty="shapes", tol=1e-6, **given(False))),
    ):
        model = PNormPush(2, rankers="columns", group_weight="equal", **how).fit(X, y, groups=groups)
        np.testing.assert_allclose(model.lam_, lam, rtol=1e-9)
    assert model.certificate_.gap < 1e-6
    with raises(ValueError, "there are no groups to weigh"):
        PNormPush(group_weight="equal").fit(X, y)


@pytest.mark.parametrize("make", [boosting.lightgbm_objective, boosting.xgboost_objective])
def test_boosters(make):
    sizes = np.array([2, 30, 8, 3])
    y, f = np.r_[1, 0, rng.integers(0, 2, 38), 1, 1, 1], rng.normal(size=43)  # the last list has no negative
    c = rng.choice([1.0, 2.0], 43)

    class Data:
        """What either library passes."""

        def get_label(self):
            return y

        def get_weight(self):
            return c

        def get_group(self):
            return sizes

        def get_uint_info(self, name):
            return np.r_[0, np.cumsum(sizes)].astype(np.uint32)

    grad, hess = make(4, group_weight="equal")(f, Data())
    number = np.repeat(np.arange(4), sizes)
    side = [np.flatnonzero(y == 1), np.flatnonzero(y == 0)]
    explicit = np.zeros(43)
    for rows in side:
        explicit[rows] = shares(c[rows], number[rows])
    shown, c[:] = c.copy(), explicit
    other, _ = make(4)(f, Data())
    c[:] = shown
    np.testing.assert_allclose(grad / np.abs(grad).sum(), other / np.abs(other).sum(), rtol=1e-9, atol=1e-15)
    assert (grad[40:] == 0).all()
    assert repr(make(4, group_weight="equal")).endswith("_objective(p=4, group_weight='equal')")
    assert make(4, group_weight="equal") == make(4, group_weight="equal") != make(4)
    with raises(ValueError, "there are no lists"):
        boosting._Rows.read(y, f, None, None, "equal")
    with raises(ValueError, "but weights of lists are given"):
        boosting._Rows.read(y, f, np.ones(4), sizes, "equal")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_partitions():
    dask_array = pytest.importorskip("dask.array")
    sides = [dask_array.from_array(X, chunks=(30, -1)) for X in (POS, NEG)]
    for run, how in (("train", {"t_max": 6}), ("minimize", {"l2": 0.1})):
        one = getattr(pnorm.dask, run)(*sides, None, 4, **how, **given())[0]
        other = getattr(pnorm, run)(POS, NEG, None, 4, **how, **given())[0]
        np.testing.assert_allclose(one, other, rtol=1e-6)
        with raises(ValueError, "there are no groups to weigh"):
            getattr(pnorm.dask, run)(*sides, **EQUAL)


def test_weights_of_any_size_are_shares():
    c = np.array([1e308, 1e308, 1e-308, 5e-324])
    counted = _checks.case_weights(4, 1, c, None, [0, 0, 0, 0], [0], group_weight="equal")
    np.testing.assert_allclose(counted.c_pos[:2], 0.5)
    assert (counted.c_pos > 0).all()
    assert counted.c_neg.tolist() == [1.0]


@pytest.mark.parametrize("run", [pnorm.train, pnorm.minimize, pnorm.minimize_path, pnorm.cross_validate])
def test_refusals(run):
    with raises(ValueError, "group_weight is 'equal', and there are no groups to weigh"):
        run(POS, NEG, **EQUAL)
    with raises(ValueError, "group_weight must be one of 'pairs', 'equal'; got 'rows'"):
        run(POS, NEG, **GROUPS, group_weight="rows")
