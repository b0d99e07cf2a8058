"""Column steps of rows in partitions, by models of a sample, against the same rows in memory."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from partitions import minimize, partitioned, penalty_of
from repeats import each_value

import pnorm
from pnorm._solvers import minimize as _minimize
from pnorm._solvers import sampled
from pnorm._solvers.few_columns import _hessian
from pnorm._solvers.forming import formed
from pnorm._solvers.hessian import Moments
from pnorm._solvers.minimize import solve
from pnorm._solvers.of_rows import totals
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.sampled import Model, drawn


@pytest.fixture
def few(monkeypatch):
    """Samples of a fraction of the rows."""
    monkeypatch.setattr(sampled, "_ROWS", 600)
    monkeypatch.setattr(sampled, "_PER_CODE", 1)


def sides(rows, columns=4, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, columns))
    X[:, 1:] += 0.5 * X[:, :1]
    X[generator.random(X.shape) < 0.1] = np.nan
    good = np.nan_to_num(X[:, 0] + np.sin(2 * X[:, 1])) + generator.normal(0, 2, rows) > 1
    return X[good], X[~good]


def levels(rows, seed=0):
    return [np.round(X[:, :3]).astype(str) for X in sides(rows, seed=seed)]


def cuts(pos, neg):
    return pnorm.rankers.quantile_thresholds(pos, neg, 12, missing="own", linear=True)


def assert_near(found, expected, l2):
    """Both are within their gaps of the minimiser of an objective that is strongly convex."""
    (lam, trace), (other_lam, other) = found, expected
    assert trace.status == other.status == "converged"
    assert np.linalg.norm(lam - other_lam) <= np.sqrt(2.0 / l2) * (np.sqrt(trace.gap) + np.sqrt(other.gap))
    assert -other.gap - 1e-12 <= trace.objective[-1] - other.objective[-1] <= trace.gap + 1e-12


PENALTIES = {
    "l1": {"l1": 0.003, "l2": 0.02},
    "signs": {"l2": 0.02, "signs": 1},
    "shapes": {"l1": 0.001, "l2": 0.02, "penalty": "shapes"},
}


def options(kind, H):
    more = dict(PENALTIES[kind])
    if "signs" in more:
        more["signs"] = np.where(np.arange(len(H)) % 3 == 0, 1, 0).astype(np.int8)
    return more


@each_value()
@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("of_levels", [False, True])
def test_a_sample_finds_the_minimiser_of_all_rows(few, kind, of_levels):
    p = 16
    pos, neg = levels(4_000) if of_levels else sides(4_000)
    H = pnorm.rankers.categories(pos, neg) if of_levels else cuts(pos, neg)
    more = options(kind, H)
    found = minimize(pos, neg, H, p, rows=211, tol=1e-9, **more)
    assert_near(found, pnorm.minimize(pos, neg, H, p, tol=1e-9, **more), 0.02)


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_a_sample_with_case_weights_and_the_other_end_of_the_list(few, push):
    pos, neg = sides(4_000)
    H = cuts(pos, neg)
    generator = np.random.default_rng(1)
    weights = {"pos_weight": generator.uniform(0.0, 3.0, len(pos)), "neg_weight": generator.exponential(size=len(neg))}
    weights["pos_weight"][:300] = 0.0  # a whole partition, and more
    problem = partitioned(pos, neg, H, 4, 211, push=push, **weights)
    penalty = penalty_of(problem, H, 0.003, 0.02)
    found = solve(problem, penalty, 1e-9)[:2]
    assert_near(found, pnorm.minimize(pos, neg, H, 4, l1=0.003, l2=0.02, tol=1e-9, push=push, **weights), 0.02)
    assert drawn in problem.executor.asked


@pytest.mark.parametrize("rows", [1, 13, 1000])
def test_where_all_rows_have_room_the_model_is_the_objective(rows):
    pos, neg = sides(120)
    H = cuts(pos, neg)
    problem = partitioned(pos, neg, H, 4, rows)
    penalty = penalty_of(problem, H, 0.003, 0.02)
    lam, trace = solve(problem, penalty)[:2]
    assert trace.n_iter == 1
    assert [question.__name__ for question in problem.executor.asked] == [
        "stats", "_is_coded", "sums_of_weights", "drawn", "sums_of_weights"
    ]  # fmt: skip
    assert_near((lam, trace), pnorm.minimize(pos, neg, H, 4, l1=0.003, l2=0.02), 0.02)


def test_questions_are_few_and_answers_do_not_grow_with_the_rows(few):
    asked, sizes = {}, {}
    for rows in (4_000, 40_000):
        pos, neg = sides(rows)
        H = cuts(*sides(4_000))
        problem = partitioned(pos, neg, H, 4, rows)
        reduce, most = problem.executor.reduce, []

        def counted(function, jobs, reduce=reduce, most=most):
            most.append(reduce(function, jobs))
            return most[-1]

        problem.executor.reduce = counted
        _, trace, _ = solve(problem, penalty_of(problem, H, 0.003, 0.02))
        assert trace.status == "converged"
        asked[rows], sizes[rows] = len(problem.executor.asked), max(len(pickle.dumps(answer)) for answer in most)
    assert max(asked.values()) < 40
    assert sizes[40_000] == pytest.approx(sizes[4_000], rel=0.3)


def drawn_at(problem, lam, size):
    point, totals = formed(problem, lam, of_rankers=True)
    rare = [1.0 / np.maximum(of_side.size * of_side, 1e-3) for of_side in totals]
    sides = problem.reduce_weighted(
        point.weights, drawn, (size, size), (problem.n_pos, problem.n_neg), (rare[0], rare[1])
    )
    return point, totals, [(np.concatenate(codes, axis=1), np.concatenate(logs)) for _, codes, logs in sides]


def test_drawn_rows_stand_for_all():
    pos, neg = sides(20_000)
    H = cuts(pos, neg)
    problem = partitioned(pos, neg, H, 4, 700)
    lam = np.random.default_rng(2).normal(0, 0.1, len(H))
    cells = problem.table.schema.cells
    for size in (500.0, 3_000.0):
        _, totals, found = drawn_at(problem, lam, size)
        for (codes, log_c), sign, of_side in zip(found, (-1.0, 4.0), totals, strict=True):
            assert 0.5 * size < log_c.size < 1.2 * size
            f = sum(problem.table.schema.scores(lam)[cells[k] :][own] for k, own in enumerate(codes))
            weights = np.exp(sign * f + log_c)
            weights /= weights.sum()
            sums = np.concatenate([np.bincount(own, weights, cells[k + 1] - cells[k]) for k, own in enumerate(codes)])
            spread = np.sqrt(of_side * cells.size / size) + 1.0 / size  # of independent rows, at most
            assert (np.abs(sums - of_side) < 4.0 * spread).all()
            assert np.abs(sums - of_side).mean() < np.mean(spread)


def test_every_row_is_drawn_where_there_is_room_and_heavy_ones_always():
    pos, neg = sides(300)
    H = cuts(pos, neg)
    for weights in ({}, {"pos_weight": np.r_[1e9, np.ones(len(pos) - 1)]}):
        problem = partitioned(pos, neg, H, 4, 13, **weights)
        _, _, found = drawn_at(problem, np.zeros(len(H)), 2_000.0)
        if not weights:
            assert [log_c.size for _, log_c in found] == [len(pos), len(neg)]
            assert not any(log_c.any() for _, log_c in found)
        _, _, found = drawn_at(problem, np.zeros(len(H)), 30.0)
        assert [log_c.size < 100 for _, log_c in found] == [True, True]
        if weights:
            np.testing.assert_allclose(found[0][1].max(), np.log(1e9))


@pytest.mark.parametrize("side", ["top", "bottom"])
def test_a_model_has_the_slope_of_all_rows(side):
    pos, neg = sides(3_000)
    H = cuts(pos, neg)
    problem, penalty = partitioned(pos, neg, H, 4, 211, push=side), Penalty.of(len(H), 0.003, 0.02)
    lam, trace = solve(problem, penalty, 1e-12)[:2]
    point, totals = formed(problem, lam, of_rankers=True)
    schema = partitioned(pos, neg, H, 4, 211).table.schema
    model = Model(problem, schema, point, totals, 300.0)
    slope = 4.0 * problem.edges_at(point)
    after, fall = model.minimise(penalty, lam, totals, slope, 1e-12)
    # At the minimiser of the objective, any model stays there.
    np.testing.assert_allclose(after, lam, atol=1e-5)
    assert abs(fall) < 1e-11
    far = lam + 0.1
    point, totals = formed(problem, far, of_rankers=True)
    after, fall = model.minimise(penalty, far, totals, 4.0 * problem.edges_at(point), 1e-12)
    before, value = (x.log_f + penalty.value(x.lam) for x in (point, problem.point(far + 1e-4 * (after - far))))
    assert 0.0 < before - value < 2e-4 * fall * 1.5


def test_the_ends_of_a_run(few):
    pos, neg = sides(4_000)
    H = cuts(pos, neg)
    more = {"l1": 0.003, "l2": 0.02, "rows": 500}
    seen = []
    lam, trace = minimize(pos, neg, H, 4, callback=lambda trace: seen.append(trace.n_iter) or len(seen) == 2, **more)
    assert trace.status == "callback"
    assert seen == [1, 2]
    lam, trace = minimize(pos, neg, H, 4, max_iter=1, tol=1e-14, **more)
    assert trace.status == "max_iter"
    assert trace.n_iter == 4
    assert (np.diff(trace.objective) < 0.0).all()
    expected, _ = pnorm.minimize(pos, neg, H, 4, l1=0.003, l2=0.02)
    again, trace = minimize(pos, neg, H, 4, init=lam, **more)
    assert trace.status == "converged"
    np.testing.assert_allclose(again, expected, atol=1e-4)


def test_parts_that_are_not_all_codes_go_another_way():
    rng = np.random.default_rng(2)
    pos, neg = (rng.integers(-1, 4, (n, 6)) * (rng.random((n, 6)) < np.linspace(0, 1, n)[:, None]) for n in (60, 90))
    H = pnorm.rankers.quantile_thresholds(pos, neg)
    P, N = scipy.sparse.csr_array(pos), scipy.sparse.csr_array(neg)
    found = minimize(P, N, H, 4, l1=0.01, l2=0.1)
    assert_near(found, pnorm.minimize(pos, neg, H, 4, l1=0.01, l2=0.1), 0.1)


def test_a_sample_that_misleads_is_replaced_by_a_larger_one(monkeypatch):
    monkeypatch.setattr(sampled, "_ROWS", 6)
    monkeypatch.setattr(sampled, "_PER_CODE", 0)
    pos, neg = sides(2_000)
    H = cuts(pos, neg)
    found = minimize(pos, neg, H, 4, l1=0.003, l2=0.02, rows=500, tol=1e-8)
    assert_near(found, pnorm.minimize(pos, neg, H, 4, l1=0.003, l2=0.02), 0.02)
    assert (np.diff(found[1].objective) <= 1e-12).all()
    assert found[1].n_iter < 40


@each_value()
@pytest.mark.parametrize("p", [1, 16])
@pytest.mark.parametrize("l1", [0.0, 0.005])
def test_without_l2_the_last_steps_have_a_hessian(few, monkeypatch, p, l1):
    monkeypatch.setattr(_minimize, "_FEW_CODED", 20)
    pos, neg = sides(4_000)
    H = cuts(pos, neg)
    problem = partitioned(pos, neg, H, p, 500)
    lam, trace = solve(problem, penalty_of(problem, H, l1), 1e-9)[:2]
    expected, other = pnorm.minimize(pos, neg, H, p, l1=l1, tol=1e-9)
    assert trace.status == other.status == "converged"
    assert -other.gap - 1e-12 <= trace.objective[-1] - other.objective[-1] <= trace.gap + 1e-12
    asked = [question.__name__ for question in problem.executor.asked]
    assert asked.count("_scatter") <= 3
    assert (trace.gaps[:-4] == np.inf).all()
    np.testing.assert_allclose(trace.objective, trace.log_objective + [l1 * np.abs(trace.lam_at(k)).sum()
                               for k in range(trace.n_iter + 1)], atol=1e-12)  # fmt: skip
    _, trace, _ = solve(problem, penalty_of(problem, H, l1), 1e-9, callback=lambda trace: trace.n_iter == 2)
    assert (trace.status, trace.n_iter) == ("callback", 2)


def test_where_a_hessian_has_no_room_the_gradient_is_zero(few, monkeypatch):
    monkeypatch.setattr(_minimize, "_FEW_CODED", 20)
    monkeypatch.setattr(_minimize, "FEW", 20)
    pos, neg = sides(2_000)
    H = cuts(pos, neg)
    problem = partitioned(pos, neg, H, 4, 500)
    lam, trace = solve(problem)[:2]
    assert trace.status == "stationary"
    assert trace.gap == np.inf
    assert "no certificate" in trace.message
    assert "_scatter" not in [question.__name__ for question in problem.executor.asked]
    expected, other = pnorm.minimize(pos, neg, H, 4)
    assert trace.objective[-1] - other.objective[-1] < 1e-9
    apart, neg = np.nan_to_num(pos) + 20.0, np.nan_to_num(neg)
    problem = partitioned(apart, neg, pnorm.rankers.thresholds([np.linspace(-2.0, 30.0, 8)] * 4), 4, 500)
    lam, trace = solve(problem)[:2]
    assert trace.status == "separable"
    assert problem.margin_at(lam) > 0.0


def test_few_columns_of_partitions(few):
    pos, neg = sides(3_000)
    H = cuts(pos, neg)
    more = {"l1": 0.003, "l2": 0.02, "max_columns": 2}
    found, expected = minimize(pos, neg, H, 4, rows=500, **more), pnorm.minimize(pos, neg, H, 4, **more)
    assert_near(found, expected, 0.02)
    assert found[1].message.rsplit(":", 1)[1] == expected[1].message.rsplit(":", 1)[1]


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_the_model_of_a_column_follows_from_sums_by_code(push):
    pos, neg = sides(400)
    H = cuts(pos, neg)
    problem = partitioned(pos, neg, H, 4, 50, push=push)
    lam = np.random.default_rng(3).normal(0, 0.1, len(H))
    for k in range(4):
        which = np.flatnonzero(H.column == k)
        point = problem.point(np.where(H.column == k, lam, 0.0))
        sums = problem.reduce_weighted(point.weights, totals)
        found = _hessian(problem, point, sums, which)
        expected = Moments(problem.columns(which), point.weights.of_columns(which)).hessian
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert _hessian(problem, point, sums, np.arange(len(H))) is None  # of several columns
