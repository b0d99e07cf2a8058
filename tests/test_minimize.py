"""`minimize` and its certificates, against 50 digits, the definition over all pairs, and each other."""

import itertools
import pickle
import re

import exact
import literal
import numpy as np
import pytest
import scipy.sparse
from problems import needs, wdbc
from repeats import each_value, trials
from scipy.optimize import minimize as scipy_minimize
from scipy.special import logsumexp

import pnorm
from pnorm._solvers import minimize as minimize_module
from pnorm._solvers import wide
from pnorm._storage import coded
from pnorm.diagnostics import certificate, q_prime, same_limit

POWERS = [1, 1.5, 4, 16, 64]


def random_problem(seed):
    """Small, mostly overlapping; a third with weights, a third with groups."""
    rng = np.random.default_rng(seed)
    n_pos, n_neg, n = rng.integers(7, 13), rng.integers(7, 13), rng.integers(1, 4)
    problem = {"pos": rng.normal(size=(n_pos, n)), "neg": rng.normal(size=(n_neg, n)), "p": rng.choice(POWERS)}
    if seed % 3 == 0:
        problem |= {"pos_weight": rng.choice([0, 0.5, 1, 3], n_pos), "neg_weight": rng.choice([0.01, 1, 3], n_neg)}
        problem["pos_weight"][0] = 1
    if seed % 3 == 1:
        problem |= {"pos_group": rng.integers(0, 3, n_pos), "neg_group": rng.integers(0, 3, n_neg)}
    if seed % 5 == 0:
        problem["l2"] = rng.choice([1e-6, 1e-2, 1.0])
    return problem


def judge(problem):
    names = {"pos_weight": "c_pos", "neg_weight": "c_neg", "pos_group": "g_pos", "neg_group": "g_neg"}
    return exact.Objective(**{names.get(key, key): value for key, value in problem.items()})


# The certificate


@pytest.mark.parametrize("seed", trials(12))
def test_no_gap_on_the_way_is_below_the_true_one(seed):
    problem = random_problem(seed)
    lam, trace = pnorm.minimize(**problem)
    if trace.status == "separable":
        assert trace.gap == np.inf or trace.direction is not None
        return
    assert trace.status == "converged"
    objective = judge(problem)
    infimum, _ = objective.minimum(lam)
    for point, gap, value in zip(trace.path, trace.gaps, trace.objective, strict=True):
        assert gap >= objective.value(point) - infimum
        assert gap >= value - infimum  # the value as reported, rounding and all
    assert trace.gap <= 1e-10


@pytest.mark.parametrize("seed", trials(12))
def test_the_certificate_of_any_point_is_not_below_the_true_gap(seed):
    problem = random_problem(seed)
    lam, trace = pnorm.minimize(**problem)
    if trace.status == "separable":
        pytest.skip("no minimiser")
    objective = judge(problem)
    infimum, _ = objective.minimum(lam)
    rng = np.random.default_rng(seed)
    for far in (1e-12, 1e-8, 1e-5, 1e-3, 0.1, 1.0):
        point = lam + far * rng.normal(size=lam.size)
        c = certificate(problem["pos"], problem["neg"], None, lam=point, **without_rows(problem))
        true = objective.value(point) - infimum
        assert c.gap >= true
        assert c.objective - c.gap <= infimum
        assert c.lower_bound == c.objective - c.gap
        if far <= 1e-5 and trace.gap < 1e-11:
            assert c.gap <= 2 * true + 1e-11  # and it is not idle talk


def without_rows(problem):
    return {key: value for key, value in problem.items() if key not in ("pos", "neg")}


@each_value()
@pytest.mark.parametrize("apart", [10.0**-k for k in range(1, 17)])
@pytest.mark.parametrize("p", [1, 16])
def test_nearly_equal_columns_get_an_honest_gap_or_none(apart, p):
    rng = np.random.default_rng(5)
    pos, neg = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    for X in (pos, neg):
        X[:, 1] = X[:, 0] + apart * X[:, 1]
    lam, trace = pnorm.minimize(pos, neg, p=p)
    if apart < 5e-15:  # a few units in the last place: the columns count as equal
        assert lam[0] == pytest.approx(lam[1])
        return
    objective = exact.Objective(pos, neg, p)
    infimum, _ = objective.minimum()
    assert trace.gap >= objective.value(lam) - infimum
    if apart > 1e-7:
        assert trace.status == "converged"


@pytest.mark.parametrize("apart", [10.0**-k for k in range(1, 15)])
def test_separation_by_the_tiny_difference_of_two_columns_is_never_certified(apart):
    rng = np.random.default_rng(6)
    pos, neg = rng.normal(size=(12, 2)), rng.normal(size=(12, 2))
    pos[:, 1], neg[:, 1] = pos[:, 0] + apart * (1 + pos[:, 1] ** 2), neg[:, 0] - apart * (1 + neg[:, 1] ** 2)
    lam, trace = pnorm.minimize(pos, neg, p=4)
    assert trace.gap == np.inf
    assert trace.status in ("separable", "stalled", "max_iter")
    assert certificate(pos, neg, None, 4, [0.3, 0.1]).gap == np.inf
    if apart > 1e-8:
        assert trace.status == "separable"
        assert (pos @ lam).min() > (neg @ lam).max()


@each_value()
@pytest.mark.parametrize("l2", [1e-14, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("p", [1, 4, 32])
def test_a_tiny_penalty_on_columns_far_from_zero_has_a_small_gap(p, l2):
    """A slope that rounding changes by e adds e**2 / (2 l2) to the gap, unless it is computed to more digits."""
    rng = np.random.default_rng(2)
    sizes, centres = np.array([1.0, 1e3, 1e6, 1e-3]), np.array([0.0, 5e4, 1e6, 0.0])
    pos, neg = [(rng.normal(size=(n, 4)) + more) * sizes + centres for n, more in ((24, 0.4), (30, 0.0))]
    lam, trace = pnorm.minimize(pos, neg, p=p, l2=l2)
    objective = exact.Objective(pos, neg, p, l2=l2)
    infimum, _ = objective.minimum(start=lam)
    assert trace.gap <= 1e-6
    for share in (1.0, 0.999, 0.5):
        c = certificate(pos, neg, None, p, share * lam, l2=l2)
        assert c.gap >= objective.value(share * lam) - infimum
        assert c.lower_bound <= infimum
    for point, gap in zip(trace.path, trace.gaps, strict=True):
        assert gap >= objective.value(point) - infimum


def test_the_moments_behind_a_certificate_match():
    problem = random_problem(2)
    lam, _ = pnorm.minimize(**problem)
    c = certificate(problem["pos"], problem["neg"], None, problem["p"], lam)
    assert c.moment_residual < 1e-14
    assert c.gradient_norm < 1e-5
    assert c.message == ""
    far = certificate(problem["pos"], problem["neg"], None, problem["p"], lam + 30)
    assert far.gap == np.inf
    assert far.lower_bound == -np.inf
    assert "not all positive" in far.message


def test_certificate_of_a_penalised_objective_is_finite_everywhere():
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(size=(10, 3)), rng.normal(size=(8, 3))
    infimum, _ = exact.Objective(pos, neg, 4, l2=0.1).minimum()
    for _ in range(20):
        lam = rng.normal(0, 5, 3)
        c = certificate(pos, neg, None, 4, lam, l2=0.1)
        assert c.gap < np.inf
        assert c.lower_bound <= infimum
        assert c.objective == pytest.approx(c.log_objective + 0.05 * lam @ lam)


# The minimiser


@pytest.mark.parametrize("p", POWERS)
def test_tic_tac_toe_is_certified_in_a_few_steps(p):
    data = pnorm.datasets.tic_tac_toe()
    lam, trace = pnorm.minimize(data.pos, data.neg, p=p)
    assert trace.status == "converged"
    assert trace.gap <= 1e-10
    assert trace.n_iter <= 25
    descent, long = pnorm.train(data.pos, data.neg, p=p, t_max=3000)
    assert long.log_objective[-1] >= trace.log_objective[-1] - trace.gap
    assert long.log_objective[-1] == pytest.approx(trace.log_objective[-1], abs=1e-6)


@needs("wdbc.data")
@pytest.mark.parametrize("p", [1, 4, 16, 64])
def test_wdbc_is_certified_within_25_steps(p):
    pos, neg, H = wdbc()
    _, trace = pnorm.minimize(pos, neg, H, p)
    assert trace.status == "converged"
    assert trace.gap <= 1e-9
    assert trace.n_iter <= 25


@needs("wdbc.data")
@pytest.mark.parametrize("p", [1, 4, 16, 64])
def test_wdbc_by_20000_rounds_of_descent_tends_to_the_same_limit(p):
    pos, neg, H = wdbc()
    lam, trace = pnorm.minimize(pos, neg, H, p)
    _, run = pnorm.train(pos, neg, H, p, t_max=20_000)
    stops = [t for t in (200, 2000, 20_000) if t <= run.n_iter] + [run.n_iter]
    apart = [same_limit(pos, neg, H, lam, run.lam_at(t)) for t in stops]
    assert all(a >= b for a, b in itertools.pairwise(apart))
    assert apart[-1] < 0.1 * apart[0]
    gaps = pnorm.diagnostics.convergence(run, trace).gap
    assert (gaps >= -1e-9).all()
    assert gaps[-1] < 1e-2 * gaps[200]


@each_value()
@pytest.mark.parametrize("l2", [0.0, 1e-3])
@pytest.mark.parametrize("p", [1, 4, 16])
def test_same_value_as_scipy_on_the_same_objective(p, l2):
    rng = np.random.default_rng(p)
    mix = rng.normal(size=(10, 10))
    pos, neg = rng.normal(0.1, 1, (800, 10)) @ mix, rng.normal(0, 1, (900, 10)) @ mix

    def objective(lam):
        f, g = pos @ lam, neg @ lam
        value = p * logsumexp(-f) + logsumexp(p * g)
        u, w = np.exp(-f - logsumexp(-f)), np.exp(p * g - logsumexp(p * g))
        return value + 0.5 * l2 * lam @ lam, p * (neg.T @ w - pos.T @ u) + l2 * lam

    theirs = scipy_minimize(
        objective, np.zeros(10), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000}
    )
    lam, trace = pnorm.minimize(pos, neg, p=p, l2=l2)
    assert trace.objective[-1] == pytest.approx(theirs.fun, abs=1e-8)
    assert trace.objective[-1] <= theirs.fun + trace.gap
    assert trace.log_objective[-1] == pytest.approx(trace.objective[-1] - 0.5 * l2 * lam @ lam, abs=1e-12)
    assert np.abs(objective(lam)[1]).max() < 1e-3


def test_of_several_minimisers_the_least_norm_one_is_returned():
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(0.3, 1, (60, 3)), rng.normal(0, 1, (70, 3))
    alone, _ = pnorm.minimize(pos, neg, p=4)
    more = [np.column_stack([X, X[:, 0], 2 * X[:, 1], 5 - X[:, 2], np.full(len(X), 7.0)]) for X in (pos, neg)]
    for init in (None, rng.normal(size=7)):
        lam, trace = pnorm.minimize(*more, p=4, init=init)
        assert trace.status == "converged"
        expected = [alone[0] / 2, alone[1] / 5, alone[2] / 2, alone[0] / 2, 2 * alone[1] / 5, -alone[2] / 2, 0]
        np.testing.assert_allclose(lam, expected, atol=1e-6)
        assert same_limit(*more, None, lam, [*alone, 0, 0, 0, 0]) < 1e-5


def test_different_runs_end_at_one_q_prime():
    """COLT 2006, Theorem 3: the minimiser in q' is unique even where the coefficients are not."""
    rng = np.random.default_rng(2)
    pos, neg = rng.uniform([0.2, 0, 0], [1.2, 1, 1], (40, 3)), rng.uniform(0, 1, (50, 3))
    closed = [np.column_stack([X, 1 - X, X[:, 1]]) for X in (pos, neg)]
    ends = [
        pnorm.minimize(*closed, p=4)[0],
        pnorm.minimize(*closed, p=4, method="lbfgs", init=rng.normal(size=7))[0],
        pnorm.train(*closed, p=4, t_max=20_000, tol=1e-12)[0],
        pnorm.train(*closed, p=4, t_max=20_000, tol=1e-12, selection="signed")[0],
        pnorm.train(*closed, p=4, t_max=20_000, tol=1e-12, init=rng.normal(size=7))[0],
    ]
    for a, b in itertools.combinations(ends, 2):
        assert np.abs(a - b).max() > 1e-3
        assert same_limit(*closed, None, a, b) < 1e-5
        np.testing.assert_allclose(q_prime(*closed, None, a), q_prime(*closed, None, b), rtol=1e-5)
        assert certificate(*closed, None, 4, a).gap < 1e-9


# Data without a minimiser


def test_separable_data_give_coefficients_that_separate_by_at_least_one():
    rng = np.random.default_rng(3)
    for p in POWERS:
        pos, neg = rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
        pos[:, 2] += neg[:, 2].max() - pos[:, 2].min() + 0.01
        lam, trace = pnorm.minimize(pos, neg, p=p)
        assert trace.status == "separable"
        assert trace.gap == np.inf
        assert "no minimiser" in trace.message
        f, g = pnorm.score(pos, None, lam), pnorm.score(neg, None, lam)
        assert f.min() - g.max() == pytest.approx(1)
        np.testing.assert_array_equal(trace.direction, lam)
        np.testing.assert_array_equal(trace.lam_at(trace.n_iter), lam)
        assert trace.gaps.size == trace.log_objective.size == trace.n_iter + 1


def test_one_good_and_one_bad_row_are_separable_unless_they_are_equal():
    assert pnorm.minimize([[1.0]], [[0.0]], p=4)[1].status == "separable"
    lam, trace = pnorm.minimize([[1.0, 2.0]], [[1.0, 2.0]], p=4)
    assert trace.status == "converged"
    np.testing.assert_array_equal(lam, 0)
    assert trace.log_objective[-1] == 0


def quasi_separable(seed=0):
    """Two real columns that overlap, and a third that only some positives and, negated, some negatives have."""
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.3, 1, (40, 3)), rng.normal(0, 1, (50, 3))
    pos[:, 2], neg[:, 2] = rng.random(40) < 0.2, -(rng.random(50) < 0.1).astype(float)
    return pos, neg


@pytest.mark.parametrize("p", [1, 4, 16])
def test_quasi_separable_data_give_the_minimiser_on_the_support_and_a_direction(p):
    pos, neg = quasi_separable()
    on_pos, on_neg = pos[:, 2] == 0, neg[:, 2] == 0
    lam, trace = pnorm.minimize(pos, neg, p=p)
    assert trace.status == "separable"
    assert f"{on_pos.sum()} of 40 positives and {on_neg.sum()} of 50 negatives" in trace.message
    assert trace.gap <= 1e-10
    np.testing.assert_array_equal(trace.direction, [0, 0, 1])
    alone, restricted = pnorm.minimize(pos[on_pos, :2], neg[on_neg, :2], p=p)
    np.testing.assert_allclose(lam, [*alone, 0], atol=1e-6)
    assert trace.log_objective[-1] == pytest.approx(restricted.log_objective[-1], abs=1e-10)

    # All rows, far along the direction, and long descent: both come down to the same infimum.
    def value(lam):
        return p * logsumexp(-pos @ lam) + logsumexp(p * (neg @ lam))

    assert value(lam + 40 * trace.direction) == pytest.approx(trace.log_objective[-1], abs=1e-9)
    _, run = pnorm.train(pos, neg, p=p, t_max=3000)
    assert run.log_objective[-1] >= trace.log_objective[-1] - trace.gap
    assert run.log_objective[-1] == pytest.approx(trace.log_objective[-1], abs=1e-5)


def test_with_a_penalty_separable_data_have_a_minimiser():
    for pos, neg in (quasi_separable(), (np.array([[1.0], [2.0]]), np.array([[0.0]]))):
        lam, trace = pnorm.minimize(pos, neg, p=4, l2=0.01)
        assert trace.status == "converged"
        assert trace.direction is None
        infimum, best = exact.Objective(pos[:15], neg[:15], 4, l2=0.01).minimum() if len(pos) < 15 else (None, None)
        if best is not None:
            np.testing.assert_allclose(lam, np.array(best, float), rtol=1e-6)


# Weights, groups, storage


@pytest.mark.parametrize("p", [1, 4, 16])
def test_groups_agree_with_the_sum_over_groups(p):
    rng = np.random.default_rng(p)
    pos, neg = rng.normal(0.3, 1, (30, 3)), rng.normal(0, 1, (40, 3))
    g_pos, g_neg = rng.choice(["a", "b", "only good"], 30), rng.choice(["b", "a", "only bad"], 40)
    lam, trace = pnorm.minimize(pos, neg, p=p, pos_group=g_pos, neg_group=g_neg)
    assert trace.status == "converged"

    def literally(lam):
        M = {g: pos[g_pos == g][:, None] - neg[g_neg == g][None] for g in "ab"}
        parts = [literal.log_objective(M[g], lam, p, np.ones(len(M[g])), np.ones(M[g].shape[1])) for g in "ab"]
        return logsumexp(parts)

    assert literally(lam) == pytest.approx(trace.log_objective[-1], abs=1e-9)
    for j, sign in itertools.product(range(3), (-1, 1)):
        assert literally(lam + sign * 1e-3 * np.eye(3)[j]) > literally(lam)
    shuffled = rng.permutation(40)
    again, _ = pnorm.minimize(pos, neg[shuffled], p=p, pos_group=g_pos, neg_group=g_neg[shuffled])
    np.testing.assert_allclose(again, lam, rtol=1e-6)


def test_one_group_is_no_group():
    pos, neg = quasi_separable(1)
    pos, neg = pos[:, :2], neg[:, :2]
    lam, trace = pnorm.minimize(pos, neg, p=4)
    grouped, run = pnorm.minimize(pos, neg, p=4, pos_group=["q"] * 40, neg_group=["q"] * 50)
    np.testing.assert_allclose(grouped, lam, rtol=1e-4)
    assert run.log_objective[-1] == pytest.approx(trace.log_objective[-1], abs=2e-10)
    assert run.gap <= 1e-10


@pytest.mark.parametrize("store", [np.asfortranarray, scipy.sparse.csr_array, np.float32, "callables"])
def test_storages_agree(store):
    rng = np.random.default_rng(7)
    pos, neg = (np.round(rng.normal(m, 2, (n, 4))) for m, n in ((0.5, 80), (0, 90)))
    lam, trace = pnorm.minimize(pos, neg, p=4)
    if store == "callables":
        other, run = pnorm.minimize(list(pos), list(neg), [lambda X, j=j: [x[j] for x in X] for j in range(4)], 4)
    else:
        other, run = pnorm.minimize(store(pos), store(neg), p=4)
    np.testing.assert_allclose(other, lam, atol=1e-9)
    assert run.status == trace.status == "converged"


@each_value()
@pytest.mark.parametrize("method", ["newton", "lbfgs"])
@pytest.mark.parametrize("more", [{}, {"pos_group": np.arange(300) % 3, "neg_group": np.arange(400) % 3}])
def test_cuts_of_sparse_rows_have_the_minimum_of_the_same_rows_dense(more, method):
    """Some levels are below zero, so that cuts are on either side of the rows that are not stored."""
    rng = np.random.default_rng(11)
    pos, neg = (rng.integers(-2, 3, (rows, 9)) * (rng.random((rows, 9)) < 0.03) for rows in (300, 400))
    H = pnorm.rankers.closed(pnorm.rankers.quantile_thresholds(pos, neg))
    sides = [scipy.sparse.csr_array(side) for side in (pos, neg)]
    lam, trace = pnorm.minimize(*sides, H, 3, l2=1e-2, method=method, **more)
    same, of_dense = pnorm.minimize(pos, neg, H, 3, l2=1e-2, method=method, **more)
    assert trace.status == of_dense.status == "converged"
    np.testing.assert_allclose(lam, same, atol=1e-4 if method == "lbfgs" else 1e-9)
    assert trace.log_objective[-1] == pytest.approx(of_dense.log_objective[-1], abs=2e-10)
    gaps = [certificate(*rows, H, 3, lam, l2=1e-2, **more).gap for rows in (sides, (pos, neg))]
    assert gaps == pytest.approx([trace.gap] * 2, abs=2e-10)


@pytest.mark.parametrize("kind", ["separable", "quasi-separable"])
def test_sparse_cuts_that_separate_are_found(kind):
    rng = np.random.default_rng(12)
    pos, neg = (rng.integers(0, 3, (80, 20)) * (rng.random((80, 20)) < 0.02) for _ in range(2))
    pos[:, -1] = rng.random(80) < (1.0 if kind == "separable" else 0.05)
    neg[:, -1] = 0
    H = pnorm.rankers.quantile_thresholds(pos, neg)
    found = [pnorm.minimize(*map(make, (pos, neg)), H, 2)[1] for make in (np.asarray, scipy.sparse.csc_array)]
    assert [trace.status for trace in found] == [found[0].status] * 2
    assert found[0].status == kind.replace("-", "_") or kind in found[0].message
    assert found[1].gap == pytest.approx(found[0].gap, rel=1e-3, abs=1e-12)


def test_an_offset_and_a_scale_of_the_columns_do_not_matter():
    pos, neg = quasi_separable(2)
    pos, neg = pos[:, :2], neg[:, :2]
    lam, trace = pnorm.minimize(pos, neg, p=4)
    scaled, run = pnorm.minimize(pos * [1e5, 1e-5] + [1e7, 3], neg * [1e5, 1e-5] + [1e7, 3], p=4)
    np.testing.assert_allclose(scaled * [1e5, 1e-5], lam, rtol=1e-4)
    assert run.status == "converged"


# How it runs


def test_it_goes_on_from_where_it_was():
    problem = random_problem(2)
    lam, _ = pnorm.minimize(**problem)
    again, trace = pnorm.minimize(**problem, init=lam)
    assert trace.n_iter == 0
    assert trace.status == "converged"
    np.testing.assert_array_equal(again, lam)
    np.testing.assert_array_equal(trace.init, lam)


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_it_stops_when_told(method):
    problem = random_problem(2)
    lam, trace = pnorm.minimize(**problem, max_iter=0, method=method)
    assert trace.status == "max_iter"
    assert trace.n_iter == 0
    np.testing.assert_array_equal(lam, 0)
    seen = []
    lam, trace = pnorm.minimize(**problem, method=method, callback=lambda t: seen.append(t) or t.n_iter == 1)
    assert trace.status == "callback"
    assert trace.n_iter == 1
    assert [t.n_iter for t in seen] == [1]
    assert {t.status for t in seen} == {"running"}
    np.testing.assert_array_equal(seen[-1].lam_at(1), lam)


def test_the_trace_holds_every_step():
    problem = random_problem(8)
    lam, trace = pnorm.minimize(**problem)
    rounds = trace.n_iter
    assert rounds >= 2
    for array in (trace.ranker, trace.step, trace.edge, trace.z):
        assert array.shape == (rounds,)
    for array in (trace.log_objective, trace.objective, trace.gaps):
        assert array.shape == (rounds + 1,)
    assert trace.path.shape == (rounds + 1, lam.size)
    assert trace.gap == trace.gaps[-1]
    assert isinstance(trace.gap, float)
    np.testing.assert_array_equal(trace.lam_at(rounds), lam)
    assert (np.diff(trace.log_objective) < 0).all()
    assert (trace.step > 0).all()
    assert (trace.step <= 1).all()
    q = [q_prime(problem["pos"], problem["neg"], None, x).sum() for x in trace.path]
    np.testing.assert_allclose(trace.z, np.divide(q[1:], q[:-1]), rtol=1e-9)


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
@pytest.mark.parametrize("start", [None, [0.5, 0.0, -0.5, 2.0]])
def test_the_path_is_every_point_though_some_coefficients_never_move(method, start):
    rng = np.random.default_rng(8)
    pos, neg = (np.insert(rng.normal(shift, 1, (30, 3)), 1, 7.0, axis=1) for shift in (0.2, 0.0))  # one is constant
    seen = []
    lam, trace = pnorm.minimize(
        pos, neg, l2=1e-4, init=start, method=method, callback=lambda trace: seen.append(trace.lam_at(trace.n_iter))
    )
    assert len(seen) == trace.n_iter >= 3
    np.testing.assert_array_equal(trace.path[1:], seen)
    np.testing.assert_array_equal(trace.path[-1], lam)
    np.testing.assert_array_equal(trace.path[0], trace.init)
    assert trace.path is trace.path
    assert not trace.path.flags.writeable
    np.testing.assert_array_equal([trace.lam_at(t) for t in range(trace.n_iter + 1)], trace.path)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(trace)).path, trace.path)
    before = trace.path.copy()
    trace.lam_at(1)[:] = 3.0
    np.testing.assert_array_equal(trace.path, before)


@pytest.mark.parametrize("rows", [300, 1300])
def test_many_rankers_with_a_penalty_go_by_newton(rows):
    """With few rows in a basis of these, and with many by conjugate gradients."""
    rng = np.random.default_rng(8)
    pos, neg = (scipy.sparse.csr_array(rng.random((rows, 2100)) * (rng.random((rows, 2100)) < 0.01)) for _ in range(2))
    lam, trace = pnorm.minimize(pos, neg, p=2, l2=0.1, tol=1e-8)
    assert trace.status == "converged"
    assert trace.gap <= 1e-8
    assert trace.n_iter < 10
    by_lbfgs, run = pnorm.minimize(pos, neg, p=2, l2=0.1, tol=1e-8, method="lbfgs")
    assert "L-BFGS" in run.message
    assert abs(trace.objective[-1] - run.objective[-1]) <= trace.gap + run.gap
    np.testing.assert_allclose(lam, by_lbfgs, atol=1e-3)
    assert certificate(pos, neg, None, 2, lam, l2=0.1).gap < 1e-7


def test_beyond_six_thousand_rankers_only_a_penalty_has_a_certificate():
    rng = np.random.default_rng(8)
    pos, neg = (scipy.sparse.csr_array((rng.random((30, 6100)) < 0.01).astype(float)) for _ in range(2))
    lam, trace = pnorm.minimize(pos, neg, p=2, l2=0.1)
    assert trace.status == "converged"
    assert certificate(pos, neg, None, 2, lam, l2=0.1).gap < 1e-10
    c = certificate(pos, neg, None, 2, lam)
    assert c.gap == np.inf
    assert "6100 weak rankers" in c.message


WAYS = {
    "basis of the rows": {"_rotates": lambda _: True},
    "conjugate gradients": {"_rotates": lambda _: False, "_FLOPS": 1e-30},
    "factor at once": {"_rotates": lambda _: False, "_FLOPS": 1e30},
    "factor later": {"_rotates": lambda _: False, "_product_time": lambda problem: problem.n_rankers**3 / wide._FLOPS / 9},
}  # fmt: skip


@each_value(times=2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", trials(10))
def test_all_ways_to_a_newton_step_lead_to_one_minimiser(seed, way, monkeypatch):
    rng = np.random.default_rng(seed)
    n_pos, n_neg, n = rng.integers(5, 25, 3)
    X = rng.normal(size=(n_pos + n_neg, n))
    if seed % 2:
        X = (X > 0.5).astype(float)
    X[:, 1], X[:, 2], X[:, 3] = X[:, 0], 3.0, 2 * X[:, 0] - 1  # copies, a constant, an image
    X[n_pos : n_pos + 2] = X[:2]
    problem = {"pos": X[:n_pos], "neg": X[n_pos:], "p": rng.choice([1, 2, 8]), "l2": rng.choice([1e-4, 1e-2, 1.0])}
    if seed % 3 == 0:
        problem |= {"pos_weight": rng.choice([0.5, 1, 3], n_pos), "neg_weight": rng.choice([0, 1, 3], n_neg)}
        problem["neg_weight"][0] = 1
    if seed % 3 == 1:
        problem |= {"pos_group": np.arange(n_pos) % 3, "neg_group": np.arange(n_neg) % 3}
    if seed % 4 == 2:
        problem |= {side: scipy.sparse.csr_array(problem[side]) for side in ("pos", "neg")}
    if seed % 4 == 3:
        problem |= {"push": "bottom", "init": rng.normal(size=n)}
    lam, trace = pnorm.minimize(**problem)
    monkeypatch.setattr(wide, "_FEW", 0)
    for name, value in WAYS[way].items():
        monkeypatch.setattr(wide, name, value)
    other, run = pnorm.minimize(**problem)
    assert run.status == trace.status == "converged"
    assert abs(run.objective[-1] - trace.objective[-1]) <= run.gap + trace.gap
    np.testing.assert_allclose(other, lam, atol=2 * np.sqrt(2 * (run.gap + trace.gap) / problem["l2"]))


@pytest.mark.parametrize("shape", [(40, 60, 5), (6, 8, 30), (30, 40, 8)])
def test_without_a_penalty_lbfgs_before_newton_changes_no_status(shape, monkeypatch):
    rng = np.random.default_rng(shape[0])
    n_pos, n_neg, n = shape
    pos, neg = (rng.integers(0, 3, (rows, n)).astype(float) for rows in (n_pos, n_neg))
    if n == 8:
        pos[:, 0], neg[:, 0], pos[:5, 0] = 2.0, 2.0, 7.0
    _, trace = pnorm.minimize(pos, neg, p=2)
    monkeypatch.setattr(minimize_module, "FEW", 0)
    _, run = pnorm.minimize(pos, neg, p=2)
    assert run.status == trace.status == {5: "converged", 30: "separable", 8: "separable"}[n]
    assert (run.direction is None) == (trace.direction is None) == (n == 5)
    if n != 30:
        assert abs(run.log_objective[-1] - trace.log_objective[-1]) <= run.gap + trace.gap < 1e-9


def test_codes_of_few_rows_against_codes_of_many(monkeypatch):
    """The linear program takes one side as an array and the other as a sparse matrix."""
    monkeypatch.setattr(coded, "CELLS", 2**7)
    rng = np.random.default_rng(0)
    pos, neg = (rng.random((10, 6)) < 0.5).astype(float), (rng.random((200, 6)) < 0.5).astype(float)
    pos[0], neg[:, 5] = 1.0, 0.0
    assert pnorm.diagnostics.separability(pos, neg).kind == "quasi-separable"


def test_on_sparse_text_the_tolerance_is_proved():
    """What rounds a score is the words of a document, not all words: with these a gap of 1e-9 was the end."""
    rng = np.random.default_rng(0)
    words = np.minimum((rng.pareto(0.7, (4000, 60)) * 10).astype(int), 19_999)
    X = scipy.sparse.csr_array((np.full(words.size, 0.13), words.ravel(), np.arange(0, words.size + 1, 60)))
    f = X @ rng.normal(size=X.shape[1])
    y = f + rng.normal(size=4000) * f.std() > f.std()
    lam, trace = pnorm.minimize(X[y], X[~y], p=2, l2=0.01)
    assert trace.status == "converged"
    assert trace.gap <= 1e-10
    assert "rounding" not in trace.message
    lam, trace = pnorm.minimize(X[y], X[~y], p=2, l2=0.01, tol=1e-300)
    assert trace.status in ("converged", "stalled")
    assert trace.gap < 1e-11
    if trace.status == "converged":
        assert (
            f"within {trace.gap:.2g} of its infimum, and rounding hides whether it is within tol=1e-300"
            in trace.message
        )


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_a_progress_bar_counts_steps(method, capsys):
    pytest.importorskip("tqdm")
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.5, 1, (40, 6)), rng.normal(0, 1, (50, 6))
    _, trace = pnorm.minimize(pos, neg, p=4, l2=1e-3, method=method, progress=True)
    assert f"{trace.n_iter}/{100 if method == 'newton' else 1000}" in capsys.readouterr().err.rpartition("\r")[2]
    pnorm.diagnostics.report(pos, neg, None, 4, np.ones(6), l2=1e-3, progress=True)
    assert "/100" in capsys.readouterr().err


def test_lbfgs_notices_separation():
    pos, neg = np.array([[1.0, 0.3], [2.0, 0.1]]), np.array([[0.0, 0.2]])
    lam, trace = pnorm.minimize(pos, neg, p=4, method="lbfgs")
    assert trace.status == "separable"
    assert (pos @ lam).min() - (neg @ lam).max() == pytest.approx(1)
    np.testing.assert_array_equal(trace.lam_at(trace.n_iter), lam)


@pytest.mark.parametrize("p", [1, 64])
def test_a_tolerance_of_zero_ends_at_the_floor_of_rounding(p):
    data = pnorm.datasets.tic_tac_toe()
    _, trace = pnorm.minimize(data.pos, data.neg, p=p, tol=0)
    assert trace.status == "converged"
    assert trace.gap <= 100 * np.finfo(float).eps * p * 10 * trace.log_objective[-1]


# Cases that were wrong once


def test_dependent_integer_columns_with_an_offset_are_solved_in_least_norm():
    """Year, birth year and age: the centres are rounded means, and must not make a direction of their own."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_pos, n_neg = rng.integers(5, 15, 2)
        year, age = rng.integers(2000, 2010, n_pos + n_neg), rng.integers(0, 80, n_pos + n_neg)
        X = np.column_stack([year, year - age, age]).astype(float)
        lam, trace = pnorm.minimize(X[:n_pos], X[n_pos:])
        assert trace.status in ("converged", "separable")
        if trace.status == "converged":
            assert lam @ [1, -1, -1] == pytest.approx(0, abs=1e-12)


def test_indicators_of_a_level_each_are_solved_in_least_norm():
    rng = np.random.default_rng(0)
    for weights in ({}, {"pos_weight": 10.0 ** rng.uniform(-4, 4, 300)}):
        pos, neg = (np.eye(5)[rng.choice(5, size, p=[0.4, 0.3, 0.2, 0.09, 0.01])] for size in (300, 400))
        pos, neg = np.hstack([pos, rng.normal(0.3, 1, (300, 2))]), np.hstack([neg, rng.normal(0, 1, (400, 2))])
        lam, trace = pnorm.minimize(pos, neg, p=4, **weights)
        assert trace.gap <= 1e-10
        assert lam[:5].sum() == pytest.approx(0, abs=1e-9)


def test_a_column_that_alone_separates_is_seen():
    lam, trace = pnorm.minimize([[2, 1], [1, 1]], [[0, 0], [2, 0], [2, 0]], p=4)
    assert trace.status == "separable"
    assert (np.array([[2, 1], [1, 1]]) @ lam).min() > (np.array([[0, 0], [2, 0]]) @ lam).max()
    # The mean of five equal doubles is not that double; what is left must not be taken for variance.
    assert certificate([[-1.3151242243842465]] * 5, [[-0.856845509524625]] * 7, None, 1, [-1.59]).gap == np.inf


@each_value()
@pytest.mark.parametrize("l2", [1.0, 1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("p", [1, 8, 64])
def test_separable_data_with_a_small_penalty_are_solved(p, l2):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(2, 1, (20, 4)), rng.normal(-2, 1, (20, 4))
    lam, trace = pnorm.minimize(pos, neg, p=p, l2=l2)
    assert trace.status == "converged"
    assert trace.gap <= 1e-9 + 1e-12 * abs(trace.objective[-1])
    for _ in range(20):
        nearby = lam * (1 + 1e-3 * rng.normal(size=4))
        c = certificate(pos, neg, None, p, nearby, l2=l2)
        assert c.objective > trace.objective[-1] - trace.gap


@pytest.mark.parametrize("p", [64, 128])
def test_rows_that_separate_late_take_few_steps(p):
    # Newton's method separates these rows after some 35 steps, and would need more than 200 steps from there
    rng = np.random.default_rng(4)
    pos, neg = rng.normal(0.5, 1.0, (300, 40)), rng.normal(0.0, 1.0, (60, 40))
    lam, trace = pnorm.minimize(pos, neg, p=p, l2=0.1)
    assert trace.status == "converged"
    assert trace.n_iter < 80
    start = None
    for power in (1, 4, 16, p):  # another way to the same minimum
        start, other = pnorm.minimize(pos, neg, p=power, l2=0.1, init=start)
    assert trace.objective[-1] == pytest.approx(other.objective[-1], abs=1e-8)
    assert certificate(pos, neg, None, p, lam, l2=0.1).gap < 1e-8


@pytest.mark.parametrize("far", [1e2, 1e5])
def test_a_far_start_is_brought_near(far):
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(0.3, 1, (50, 3)), rng.normal(0, 1, (50, 3))
    _, trace = pnorm.minimize(pos, neg, p=4, init=[-far, far, 0])
    assert trace.status == "converged"
    assert np.abs(trace.init).max() < far


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_a_group_of_next_to_no_weight_does_no_harm(l2):
    pos, neg, group = [[0.0], [1.0], [0.0], [1.0]], [[1.0], [0.0], [1.0], [0.0]], [0, 0, 1, 1]
    weights = [1, 1, 1e-50, 1e-50]
    lam, trace = pnorm.minimize(pos, neg, p=8, l2=l2, pos_weight=weights, pos_group=group, neg_group=group)
    assert trace.status == "converged"
    assert lam[0] == pytest.approx(0, abs=1e-9)
    wide = [[0.0, 0], [1, 0], [0, 0], [1, 40]], [[1.0, 0], [0, 0], [1, 20], [0, 20]]
    c = certificate(*wide, None, 16, [0.3, 3.0], l2=0.1, pos_group=group, neg_group=group)
    assert c.objective - 1e-6 < c.gap + c.lower_bound < c.objective + 1e-6
    assert c.gap > 0


def test_an_offset_of_the_scores_does_not_shorten_the_gap():
    """The weights that a Newton step gives are divided by their sums, and their entropies have to follow."""
    pos, neg = [[1000.0], [1000.0]], [[1000 + 2.0**-7], [992.0]]
    infimum, _ = exact.Objective(pos, neg, 1).minimum()
    for lam in np.linspace(-3, 5, 97):
        c = certificate(pos, neg, None, 1, [lam])
        assert c.gap >= exact.Objective(pos, neg, 1).value([lam]) - infimum


def test_sparse_columns_with_an_offset_have_honest_gaps():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        pos, neg = rng.normal(0.5, 1, (10, 2)) + 1e7, rng.normal(0, 1, (10, 2)) + 1e7
        lam, trace = pnorm.minimize(scipy.sparse.csc_array(pos), scipy.sparse.csc_array(neg), p=2)
        objective = exact.Objective(pos, neg, 2)
        infimum, _ = objective.minimum(start=np.zeros(2))
        for point, gap in zip(trace.path, trace.gaps, strict=True):
            assert gap >= objective.value(point) - infimum


def test_extreme_weights_have_honest_gaps():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pos, neg = rng.normal(0.3, 1, (8, 2)), rng.normal(0, 1, (9, 2))
        c_pos, c_neg = 10.0 ** rng.uniform(-2, 2, 8) * 1e140, 10.0 ** rng.uniform(-2, 2, 9) * 1e-140
        lam, trace = pnorm.minimize(pos, neg, p=2, pos_weight=c_pos, neg_weight=c_neg)
        if trace.status == "separable":
            continue
        objective = exact.Objective(pos, neg, 2, c_pos, c_neg)
        infimum, _ = objective.minimum(lam)
        assert trace.gap >= objective.value(lam) - infimum
        assert trace.gap >= trace.objective[-1] - infimum


@pytest.mark.parametrize("size", [1e160, 1e302])
def test_coefficients_of_any_size_have_a_certificate_or_none(size):
    c = certificate([[1.0], [2.0]], [[1.5]], None, 1, [size])
    assert c.gap == np.inf
    assert c.log_objective == pytest.approx(0.5 * size)
    assert c.lower_bound == -np.inf


def test_a_run_may_converge_where_the_kind_is_undecided():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    is_positive = X.sum(axis=1) > 0.0
    pos, neg = X[is_positive], X[~is_positive]
    pos[0] = neg[neg.sum(axis=1).argmax()] - 1e-12  # the hulls overlap by less than the linear program resolves
    _, trace = pnorm.minimize(pos, neg, None, 4)
    assert (trace.status, trace.separation) == ("converged", "undecided")
    assert trace.gap < 1e-10
    assert trace.message.endswith(
        "; whether the data are separable could not be decided (trace.separation); rank rows by lam, and pass l2 > 0 to "
        "interpret coefficients"
    )
    pos[0] += 1.0
    _, trace = pnorm.minimize(pos, neg, None, 4)
    assert (trace.status, trace.separation, trace.gap) == ("separable", "separable", np.inf)


def test_a_trace_without_a_minimiser_prints_what_to_do():
    def lines(pos, neg, **how):
        lam, trace = pnorm.minimize(pos, neg, p=4, **how)
        assert trace.status == "separable"
        text = re.sub(r"\n {13}", " ", str(trace))  # lines are wrapped
        assert "; ".join(line[11:] for line in text.split("\nsteps")[0].splitlines()[1:]) == trace.message
        return lam, trace, text

    lam, trace, text = lines([[1.0], [2.0]], [[0.0], [0.5]])
    assert text.splitlines()[:4] == [
        "status     separable",
        "reason     the coefficients put every positive above every negative: inf F_p is 0 and no minimiser exists",
        "           rank rows by lam, which has the widest margin, or pass l2 > 0 for a minimiser",
        "           check that no column contains the label",
    ]
    # the only positive above both negatives leaves; the other two rows have one output, and lam is zero
    lam, trace, text = lines([[1.0], [2.0]], [[0.0], [1.0]])
    assert lam.tolist() == [0.0]
    assert trace.gap < 1e-13
    assert text.splitlines()[:5] == [
        "status     separable",
        "reason     quasi-separable: 1 of 2 positives and 1 of 2 negatives keep weight, and F_p falls toward its infimum "
        "along trace.direction without end",
        f"           on these rows the status is converged: log F_p is within {trace.gap:.2g} of its infimum",
        "           no minimiser exists, and lam is for these rows only",
        "           rank rows by trace.lam_along(), or pass l2 > 0 for a minimiser",
    ]
    assert text.splitlines()[-1].endswith(" nats above the infimum, in the limit along trace.direction")
    f, g = ([x * trace.lam_along()[0] for x in side] for side in ((1.0, 2.0), (0.0, 1.0)))
    assert f[0] == g[1] < f[1]
    assert g[0] < f[0]
    for pos, neg in (([[1.0], [2.0]], [[0.0], [0.5]]), ([[1.0], [2.0]], [[0.0], [1.0]])):
        _, trace = pnorm.minimize(pos, neg, p=4, l2=0.1)
        assert (trace.status, "rank rows" in trace.message) == ("converged", False)
        assert str(trace).endswith(" nats above the infimum")


def test_a_direction_whose_length_rounding_hides_is_to_be_followed_far(monkeypatch):
    monkeypatch.setattr("pnorm._solvers.minimize.least_step", lambda *_: None)
    _, trace = pnorm.minimize([[1.0], [2.0]], [[0.0], [1.0]], p=4)
    assert trace.message.endswith(
        "; rank rows by trace.lam_along(s) with a large s, such as 1e6, or pass l2 > 0 for a minimiser"
    )
    assert trace.lam_along(1e6)[0] > 0.0
