"""Grades in `train`, `minimize` and their like: pairs of unequal grades within a query, against all pairs."""

import exact
import literal
import numpy as np
import pytest
import scipy.sparse
from facts import raises
from repeats import each_value, trials
from test_reference import assert_same_run, outputs

import pnorm
from pnorm import _checks
from pnorm._checks import grouping

POWERS = [1, 2, 4]


def graded(rng, rows, n_queries=4, n_grades=4):
    """Queries and grades, of which the first rows have all."""
    query, grade = (x.ravel() for x in np.indices((n_queries, n_grades)))
    more = rows - query.size
    return np.r_[query, rng.integers(0, n_queries, more)], np.r_[grade, rng.integers(0, n_grades, more)]


def log_risk(f, query, y, p, c, loss=lambda z: np.exp(-z)):
    """The log of the objective in a double loop."""
    total = 0.0
    for k in range(len(f)):
        height = sum(c[i] * loss(f[i] - f[k]) for i in range(len(f)) if query[i] == query[k] and y[i] > y[k])
        total += c[k] * height**p
    return np.log(total)


def of_rows(query, y, c=None):
    """Both sides' arguments for a list that is passed twice."""
    given = {"group": query, "grade": y, "weight": c}
    return {f"{side}_{name}": x for name, x in given.items() if x is not None for side in ("pos", "neg")}


# Against all pairs


@each_value(times=3)
@pytest.mark.parametrize("p", [1, 1.5])
@pytest.mark.parametrize("selection", ["absolute", "signed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", ["real", "offset", "integer", "binary", "closed"])
def test_every_round_is_the_literal_one(kind, weighted, selection, p):
    rng = np.random.default_rng([int(p), weighted, len(kind)])
    for n_queries, n_grades in ((1, 3), (2, 4), (3, 2)):
        H_pos, H_neg = outputs(kind, rng, 25, 30)
        (g_pos, y_pos), (g_neg, y_neg) = (graded(rng, len(H), n_queries, n_grades) for H in (H_pos, H_neg))
        y_pos[y_pos == 0], y_neg[y_neg == n_grades - 1] = 1, 0  # as the judge needs a partner for every row
        c_pos, c_neg = (rng.uniform(0.2, 3, len(H)) if weighted else None for H in (H_pos, H_neg))
        judge = literal.train(
            H_pos, H_neg, p, 30, selection, c_pos, c_neg, groups=(g_pos, g_neg), grades=(y_pos, y_neg)
        )
        given = {"pos_weight": c_pos, "neg_weight": c_neg, "pos_group": g_pos, "neg_group": g_neg}
        lam, trace = pnorm.train(
            H_pos, H_neg, None, p, 30, selection=selection, **given, pos_grade=y_pos, neg_grade=y_neg
        )
        assert_same_run(H_pos, H_neg, lam, trace, judge)


@each_value()
@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "thresholds", "categories", "union", "callables"])
def test_each_storage_has_the_sum_over_all_pairs(kind, p):
    rng = np.random.default_rng(p)
    X = np.round(rng.normal(size=(70, 3)) * 2) / 2
    query, y = graded(rng, 70)
    c = rng.choice([0, 0.5, 1, 3], 70)
    cuts = pnorm.rankers.quantile_thresholds(X, X, 4)
    H = {"thresholds": cuts, "categories": pnorm.rankers.categories(X, X), "union": pnorm.rankers.columns(3) + cuts,
         "callables": [lambda X: X[:, 0], lambda X: X[:, 1] ** 2]}.get(kind)  # fmt: skip
    Z = H.evaluate(X) if isinstance(H, pnorm.rankers.Rankers) else np.column_stack([h(X) for h in H]) if H else X
    rows = scipy.sparse.csr_array(X) if kind == "sparse" else X
    lam, trace = pnorm.train(rows, rows, H, p, 20, **of_rows(query, y, c))
    for t in (0, 3, trace.n_iter):
        assert trace.log_objective[t] == pytest.approx(log_risk(Z @ trace.lam_at(t), query, y, p, c), abs=1e-11)
    best, run = pnorm.minimize(rows, rows, H, p, l2=0.1, **of_rows(query, y, c))
    assert run.status == "converged"
    values = [log_risk(Z @ x, query, y, p, c) + 0.05 * x @ x for x in (best, lam)]
    assert values[0] == pytest.approx(run.objective[-1], abs=1e-11)
    assert values[0] < values[1]
    for j in range(len(best)):  # a minimum along every coefficient
        for step in (-1e-3, 1e-3):
            there = best + step * (np.arange(len(best)) == j)
            assert log_risk(Z @ there, query, y, p, c) + 0.05 * there @ there > values[0]


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "squared"])
def test_other_losses_and_prices(loss):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    query, y = graded(rng, 40, 2)
    c = rng.choice([0.5, 1, 3], 40)
    lam, trace = pnorm.train(X, X, None, 2, 6, loss=loss, **of_rows(query, y, c))
    value = {
        "logistic": lambda z: np.log1p(np.exp(-z)),
        "hinge": lambda z: max(0, 1 - z),
        "squared_hinge": lambda z: max(0, 1 - z) ** 2,
        "squared": lambda z: (1 - z) ** 2,
    }[loss]
    assert trace.n_iter > 0
    assert trace.log_objective[-1] == pytest.approx(log_risk(X @ lam, query, y, 2, c, value), abs=1e-10)


@pytest.mark.parametrize("p", POWERS)
def test_a_push_at_the_bottom_is_one_at_the_top_of_the_list_read_from_below(p):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, 3))
    query, y = graded(rng, 40, 2, 5)
    c = rng.choice([0, 0.5, 1, 3], 40)
    lam, trace = pnorm.train(X, X, None, p, 15, push="bottom", **of_rows(query, y, c))
    assert trace.log_objective[-1] == pytest.approx(log_risk(-X @ lam, query, -y, p, c), abs=1e-11)
    np.testing.assert_allclose(lam, pnorm.train(-X, -X, None, p, 15, **of_rows(query, -y, c))[0], atol=1e-12)
    best, run = pnorm.minimize(X, X, None, p, l2=0.1, push="bottom", **of_rows(query, y, c))
    np.testing.assert_allclose(best, pnorm.minimize(-X, -X, None, p, l2=0.1, **of_rows(query, -y, c))[0], atol=1e-9)
    assert run.status == "converged"


# The minimum and its certificate


@pytest.mark.parametrize("seed", trials(8))
def test_no_gap_is_below_the_true_one(seed):
    rng = np.random.default_rng(seed)
    rows, n, p = rng.integers(20, 30), rng.integers(1, 4), float(rng.choice([1, 1.5, 4, 16]))
    X = rng.normal(size=(rows, n))
    query, y = graded(rng, rows, 2, 3 + seed % 2)
    c = rng.choice([0, 0.5, 1, 3], rows) if seed % 3 else None
    l2 = float(rng.choice([0, 0, 1e-2]))
    given = of_rows(query, y, c)
    lam, trace = pnorm.minimize(X, X, None, p, l2=l2, **given)
    assert trace.status == "converged"
    judge = exact.Objective(X, X, p, c, c, query, query, l2, y, y)
    infimum, _ = judge.minimum(lam)
    for point, gap in zip(trace.path, trace.gaps, strict=True):
        assert gap >= judge.value(point) - infimum
    assert trace.gap <= 1e-10
    assert pnorm.diagnostics.certificate(X, X, None, p, lam, l2=l2, **given).gap <= 1e-10
    off = pnorm.diagnostics.certificate(X, X, None, p, lam + 1e-3, l2=l2, **given)
    assert off.gap >= judge.value(lam + 1e-3) - infimum > 0


def test_grades_that_a_column_knows_are_separable():
    rng = np.random.default_rng(2)
    query, y = graded(rng, 60, 3, 5)
    X = np.column_stack([y + 0.2 * rng.random(60) + 7 * query, query, rng.normal(size=60)])
    lam, trace = pnorm.minimize(X, X, None, 2, **of_rows(query, y))
    f = X @ lam
    pairs = np.equal.outer(query, query) & np.greater.outer(y, y)
    assert (trace.status, trace.gap) == ("separable", np.inf)
    assert np.subtract.outer(f, f)[pairs].min() == pytest.approx(1)
    assert pnorm.train(X[:, :1], X[:, :1], None, 2, **of_rows(query, y))[1].status == "separable"


@pytest.mark.parametrize("scaled", [False, True])
def test_grades_that_touch_are_quasi_separable(scaled):
    """Some of the best grade show in the first column, and nothing else does."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 20)
    X = np.column_stack([np.where(y == 2, rng.integers(0, 2, 60), 0), rng.normal(size=60)])
    H = pnorm.rankers.normalized(X, X) if scaled else pnorm.rankers.columns(2)
    lam, trace = pnorm.minimize(X, X, H, 2, **of_rows(np.zeros(60), y))
    assert trace.status == "separable"
    left = (y < 2) | (X[:, 0] == 0)
    assert f"quasi-separable: {left[y > 0].sum()} of 40 positives and 40 of 40 negatives" in trace.message
    near = [log_risk(H.evaluate(X) @ (lam + s * trace.direction), np.zeros(60), y, 2, np.ones(60)) for s in (0, 10, 50)]
    assert near[0] > near[1] > near[2] - 1e-12
    assert near[2] == pytest.approx(trace.log_objective[-1], abs=1e-9)


def test_a_path_is_the_minimisers():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    given = of_rows(*graded(rng, 60))
    path = pnorm.minimize_path(X, X, None, 4, l2=[1, 0.1], **given)
    for lam, l2 in zip(path.lam, path.l2, strict=True):
        np.testing.assert_allclose(lam, pnorm.minimize(X, X, None, 4, l2=l2, **given)[0], atol=1e-6)


# What is the same as without grades


@pytest.mark.parametrize("H", [None, pnorm.rankers.thresholds([[-1, 0, 1], [0], [0, 0.5]])], ids=["columns", "cuts"])
def test_two_grades_are_two_sides(H):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    query, c = np.sort(rng.integers(0, 5, 90)), rng.uniform(0.5, 2, 90)  # sorted, for the groups' sums in one order
    good, bad = y == 1, y == 0
    for given in ({}, {"weight": c}, {"weight": c, "group": query}):
        plain = {f"{side}_{name}": x[of] for name, x in given.items() for side, of in (("pos", good), ("neg", bad))}
        twice = {f"{side}_{name}": x for name, x in given.items() for side in ("pos", "neg")}
        twice |= {"pos_grade": y, "neg_grade": y}
        for solve in (pnorm.train, pnorm.minimize):
            (a, run), (b, other) = solve(X[good], X[bad], H, 4, **plain), solve(X, X, H, 4, **twice)
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(run.log_objective, other.log_objective)


def test_only_the_order_of_grades_counts():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 3))
    query, y = graded(rng, 50)
    runs = [pnorm.train(X, X, None, 2, 20, **of_rows(query, grades))[0] for grades in (y, np.exp(y) - 5)]
    np.testing.assert_array_equal(*runs)


def test_rows_without_a_partner_and_of_no_weight_are_absent():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    query, y = graded(rng, 60)
    query[-5:], y[-5:] = 99, 3  # of one grade, so in no pair
    c = np.ones(60)
    c[::7] = 0
    X[-5:], X[::7] = 1e5, -1e5
    there = c.astype(bool) & (query != 99)
    a, run = pnorm.train(X, X, None, 2, 20, **of_rows(query, y, c))
    b, other = pnorm.train(X[there], X[there], None, 2, 20, **of_rows(query[there], y[there]))
    np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_allclose(run.log_objective, other.log_objective, rtol=1e-12)


# How positives are repeated


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_repeats_are_the_pairs(push):
    """Each pair once, and no others, and rows of one side only in several groups."""
    rng = np.random.default_rng(8)
    for n_grades in (2, 3, 40):
        g_pos, g_neg = rng.integers(0, 4, 40), rng.integers(1, 5, 30)
        y_pos, y_neg = rng.integers(0, n_grades, 40) / 3, rng.integers(0, n_grades, 30) / 3
        c_pos, c_neg = rng.integers(0, 3, 40), rng.integers(0, 3, 30)
        counted = _checks.case_weights(40, 30, c_pos, c_neg, g_pos, g_neg, y_pos, y_neg, push=push)
        pairs = np.equal.outer(g_pos, g_neg) & np.greater.outer(y_pos, y_neg) & np.logical_and.outer(c_pos, c_neg)
        kept = counted.kept
        np.testing.assert_array_equal(kept[0], pairs.any(axis=1))
        np.testing.assert_array_equal(kept[1], pairs.any(axis=0))
        repeats = counted.groups.repeats
        assert repeats[0 if push == "bottom" else 1] is None
        pos, neg = [np.arange(own.sum()) if rows is None else rows for own, rows in zip(kept, repeats, strict=True)]
        found = np.zeros((kept[0].sum(), kept[1].sum()), int)
        np.add.at(found, np.ix_(pos, neg), np.equal.outer(counted.groups.pos, counted.groups.neg))
        np.testing.assert_array_equal(found, pairs[np.ix_(*kept)])
        assert counted.n_pairs == pairs.sum()
        np.testing.assert_array_equal(counted.c_pos, c_pos[kept[0]][pos])
        np.testing.assert_array_equal(counted.c_neg, c_neg[kept[1]][neg])


def test_grades_of_negatives_between_which_no_positive_lies_are_one():
    counted = _checks.case_weights(3, 4, pos_grade=[9.0, 8.0, 7.0], neg_grade=[0.1, 0.2, 0.3, 0.4])
    assert counted.groups is counted.kept is None


@pytest.mark.parametrize("most", [3, 40, 10**9])
def test_steps_are_those_of_sorting(most):
    # in a table where the numbers are few beside the rows
    rng = np.random.default_rng(most)
    for n_a, n_b in ((1, 0), (1, 5), (30, 20)):
        a, b = rng.integers(0, most, n_a), rng.integers(0, most, n_b)
        found, place, up_to = grouping._steps(a, b)
        assert found.tolist() == sorted(set(a.tolist()))
        assert found[place].tolist() == a.tolist()
        assert up_to.tolist() == [sum(x <= y for x in found.tolist()) for y in b.tolist()]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_whole_numbers_have_the_codes_of_any_labels(dtype):
    rng = np.random.default_rng(0)
    for n_pos, n_neg, most in ((1, 1, 1), (30, 20, 5), (9, 40, 100)):
        pos, neg = rng.integers(0, most, n_pos).astype(dtype), rng.integers(0, most, n_neg).astype(dtype)
        names = [[f"day {k}" for k in of_side.tolist()] for of_side in (pos, neg)]
        for codes, same in zip(
            _checks.groups(pos, neg, n_pos, n_neg), _checks.groups(*names, n_pos, n_neg), strict=True
        ):
            assert codes.tolist() == same.tolist()


def test_so_many_grades_are_refused(monkeypatch):
    y = np.arange(1000.0)
    assert _checks.case_weights(1000, 1000, pos_grade=y, neg_grade=y).groups.pos.size == 999 * 1000 // 2
    monkeypatch.setattr(grouping, "_REPEATS", 1000)
    assert _checks.case_weights(60, 60, pos_grade=y[:60], neg_grade=y[:60]).groups.pos.size == 59 * 60 // 2
    with raises(ValueError, "a row is apart from 500 of them in its group on average"):
        _checks.case_weights(1000, 1000, pos_grade=y, neg_grade=y)
