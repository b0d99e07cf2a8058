"""Sweeps over whole columns with Newton steps, against Newton's method, a general solver, and all active sets."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from repeats import each_value, trials
from scipy.linalg import eigh
from scipy.optimize import minimize as scipy_minimize
from scipy.special import logsumexp

import pnorm
from pnorm._core import _shapes
from pnorm._solvers import columns, few_rows, minimize, shapes
from pnorm._solvers.building import build
from pnorm._solvers.columns import Columns, Trees, coded_tables
from pnorm._solvers.few_rows import FewRows
from pnorm._solvers.hessian import Means
from pnorm._solvers.newton import NEWTON
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.shapes import SHAPES, serves
from pnorm._threads import Pool
from pnorm.objectives._pnorm import push


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def problem_of(pos, neg, H, p, weights=(None, None), side="top", threads=1):
    pool = Pool(threads, len(pos) + len(neg))
    return build(pos, neg, H, push(p), *weights, None, None, push=side, pool=pool).centred()


def two_sides(rng, rows, columns):
    X = rng.normal(size=(rows, columns))
    X[:, 1:] += 0.5 * X[:, :1]
    good = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(0, 2, rows) > 1
    return X[good], X[~good]


def mixed(rng, rows=400):
    """Both sides and rankers: cuts of columns with missing values, and levels, several columns to a word."""
    pos, neg = two_sides(rng, rows, 4)
    few = [np.round(2.0 * np.c_[X[:, :2], rng.normal(size=(len(X), 2))]).astype(int).astype(str) for X in (pos, neg)]
    for X in (pos, neg):
        X[rng.random(X.shape) < 0.1] = np.nan
    cuts = pnorm.rankers.quantile_thresholds(pos, neg, 12, missing="own")
    return (pos, neg, cuts), (*few, pnorm.rankers.categories(*few))


def run(problem, penalty, tol=1e-10, solver=SHAPES, **options):
    """Minimise with one solver, whichever is the best."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minimize, "_solver", lambda *_: solver)
        return minimize.solve(problem, penalty, tol, **options)[:2]


def objective(problem, penalty, lam, p):
    """The objective by its definition."""
    f_pos, f_neg = (table.matrix() @ lam for table in problem.tables)
    return p * logsumexp(-f_pos) + logsumexp(p * f_neg) + penalty.value(lam)


# Trees --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", trials(10))
def test_the_best_shape_of_a_tree_is_that_of_the_best_active_set(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    parent = np.array([0, *[rng.integers(0, c) for c in range(1, n)]])
    sign = rng.integers(-1, 2, n)
    low, high = np.where(sign > 0, 0.0, -np.inf), np.where(sign < 0, 0.0, np.inf)
    rigid = rng.random(n) < 0.2
    low[rigid] = high[rigid] = 0.0
    l1, l2 = rng.choice([0.0, 0.2, 1.0]) * np.ones(n), rng.uniform(0.05, 1.0, n)
    weights, moments = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.8) + np.eye(n)[0], rng.normal(size=n)
    penalty = np.array([l1, l2, low, high])
    state, shape, jump = rng.integers(-1, 3, n).astype(np.int8), np.empty(n), np.empty(n)
    assert _shapes.fit_tree(parent, penalty, weights, moments, state, shape, jump, np.empty(3 * n)) == 0

    def value(x, jumps):
        return 0.5 * weights @ x**2 - moments @ x + l1[1:] @ abs(jumps[1:]) + 0.5 * l2[1:] @ jumps[1:] ** 2

    above = np.zeros((n, n))  # a column for each jump, and the first for the level
    for c in range(n):
        above[c] = above[parent[c]]
        above[c, c] = 1.0
    above[:, 0] = 1.0
    best = np.inf
    for signs in itertools.product(*[(-1, 0, 1)] * (n - 1)):
        sign_of = np.array([1, *signs])
        on = np.flatnonzero(sign_of)
        A = above.T @ (weights[:, None] * above) + np.diag(np.r_[0.0, l2[1:]])
        x = np.zeros(n)
        x[on] = np.linalg.lstsq(A[np.ix_(on, on)], (above.T @ moments - np.r_[0.0, (l1 * sign_of)[1:]])[on])[0]
        inside = (x[1:] * sign_of[1:] >= -1e-12) & (x[1:] >= low[1:] - 1e-12) & (x[1:] <= high[1:] + 1e-12)
        if inside.all():
            best = min(best, value(above @ x, x))
    np.testing.assert_allclose(value(shape, jump), best, rtol=1e-9, atol=1e-11)
    assert (jump[1:] >= low[1:]).all()
    assert (jump[1:] <= high[1:]).all()


@pytest.mark.parametrize("seed", trials(10))
def test_products_of_rows_are_sums_over_the_edges_above_both(seed):
    rng = np.random.default_rng(seed)
    sizes, n_rows = rng.integers(1, 9, 3), 12
    parents, above = [], []
    for n in sizes:
        parent, path = [0], [0]
        for c in range(1, n):  # what hangs on a node follows it
            path = path[: rng.integers(1, len(path) + 1)]
            parent.append(path[-1])
            path.append(c)
        under = np.zeros((n, n))
        for c in range(1, n):
            under[c] = under[parent[c]]
            under[c, c] = 1.0
        parents.append(parent)
        above.append(under)
    first, most = np.r_[0, np.cumsum(sizes)], int(sizes.max())
    factors = rng.uniform(size=first[-1]) * (rng.random(first[-1]) < 0.7)
    nodes = np.array([rng.integers(0, n, n_rows) for n in sizes])
    rows = np.hstack([under[own] for under, own in zip(above, nodes, strict=True)])
    before = rng.normal(size=(n_rows, n_rows))
    out = before + before.T
    wanted = out + (rows * factors) @ rows.T
    order = np.argsort(nodes, axis=1, kind="stable")
    _shapes.row_products(
        nodes, order, first, np.concatenate(parents), factors, np.empty(most, np.intp), np.empty(2 * most), out
    )
    np.testing.assert_allclose(out, wanted, rtol=1e-13)


@pytest.mark.parametrize("side", ["top", "bottom"])
@pytest.mark.parametrize("p", [1.0, 3.0])
def test_steps_of_few_rows_solve_the_system_of_the_columns(rng, p, side):
    pos, neg = two_sides(rng, 60, 3)
    for X in (pos, neg):
        X[rng.random(X.shape) < 0.1] = np.nan
    cuts = pnorm.rankers.quantile_thresholds(pos, neg, missing="own", linear=True)
    few = [np.round(X[:, :2]).astype(str) for X in (pos, neg)]
    for *rows, H in ((pos, neg, cuts), (*few, pnorm.rankers.categories(*few))):
        problem = problem_of(*rows, H, p, side=side)
        n = problem.n_rankers
        penalty = Penalty.of(n, l2=rng.uniform(0.1, 1.0, n))
        point = problem.point(rng.normal(size=n))
        weights = point.weights.total
        free, rest = rng.random(n) < 0.6, rng.normal(size=n)
        rest[~free] = 0.0
        outputs = [table.matrix() for table in problem.tables]
        wanted = np.diag(penalty.l2)
        for X, own, factor in zip(outputs, weights, (p, p * p), strict=True):
            about = X - own @ X
            wanted += factor * about.T @ (own[:, None] * about)
        solve = FewRows(problem, coded_tables(problem), penalty).preconditioner(weights)(free)
        move = solve(rest)
        assert not move[~free].any()
        np.testing.assert_allclose((wanted @ move)[free], rest[free], atol=1e-10)


def test_a_factor_for_more_coefficients_is_a_preconditioner_of_fewer(rng, monkeypatch):
    pos, neg = two_sides(rng, 60, 3)
    problem = problem_of(pos, neg, pnorm.rankers.quantile_thresholds(pos, neg), 3.0)
    n = problem.n_rankers
    weights = problem.point(rng.normal(size=n)).weights.total
    monkeypatch.setattr(few_rows, "_KEPT_FROM", 60)
    solver = FewRows(problem, coded_tables(problem), Penalty.of(n, l2=1e-3)).preconditioner(weights)
    monkeypatch.setattr(few_rows, "_KEPT_FROM", 61)
    exact = FewRows(problem, coded_tables(problem), Penalty.of(n, l2=1e-3)).preconditioner(weights)
    for made in (solver, exact):
        made(np.ones(n, bool))
    fewer = rng.random(n) < 0.8
    found, wanted = [
        np.column_stack([solve(row)[fewer] for row in np.eye(n)[fewer]]) for solve in (solver(fewer), exact(fewer))
    ]
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9 * np.abs(found).max())
    ratios = eigh(found, wanted, eigvals_only=True)
    assert ratios.min() > 1.0 - 1e-9  # positive definite, and never short of the exact step
    assert ratios.max() > 1.0 + 1e-3  # it is not the exact one


def test_every_ranker_of_codes_is_one_edge_or_one_line(rng):
    for rows in mixed(rng):
        problem = problem_of(*rows, 2.0)
        trees = Trees.of(problem.table.schema)
        edges = trees.ranker[trees.ranker >= 0]
        assert sorted([*edges, *trees.line]) == list(range(problem.n_rankers))
        lam = rng.normal(size=problem.n_rankers)
        np.testing.assert_array_equal(trees.join(*trees.split(lam), lam.size), lam)


# Sweeps -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["top", "bottom"])
def test_a_sweep_lowers_the_objective_by_what_it_says(rng, side):
    for rows in mixed(rng):
        weights = [rng.uniform(0.5, 2.0, len(X)) for X in rows[:2]]
        problem = problem_of(*rows, 3.0, weights, side)
        penalty = Penalty.of(problem.n_rankers, 1e-2, 0.1)
        solver = Columns(problem, coded_tables(problem), penalty)
        lam = np.zeros(problem.n_rankers)
        for sweeps in (1, 1, 3):
            point = problem.point(lam)
            before = point.log_f + penalty.value(lam)
            lam, falls = solver.sweeps(lam, point.weights.total, 0.0, 0.0, 1.0, sweeps)
            assert falls.size == sweeps
            assert (falls > 0.0).all()
            after = problem.point(lam)
            np.testing.assert_allclose(before - after.log_f - penalty.value(lam), falls.sum(), rtol=1e-8)


@pytest.mark.parametrize("few", [0, 2**16])
@pytest.mark.parametrize("side", ["top", "bottom"])
def test_sweeps_with_a_linear_term_end_where_the_slope_is_what_it_takes(rng, monkeypatch, side, few):
    monkeypatch.setattr(columns, "_FEW", few)
    for rows in mixed(rng):
        problem = problem_of(*rows, 3.0, side=side)
        schema = coded_tables(problem)[0].schema
        penalty = Penalty.of(problem.n_rankers, 1e-2, 0.1)
        linear = np.concatenate([0.1 * (x - x.mean()) for x in map(rng.random, schema.levels)])
        solver = Columns(problem, coded_tables(problem), penalty, linear)
        of_rankers = schema.of_rankers(linear, schema.terms) * (1.0 if side == "top" else -1.0)

        def value(point, penalty=penalty, of_rankers=of_rankers):
            return point.log_f - of_rankers @ point.lam + penalty.value(point.lam)

        start = problem.point(np.zeros(problem.n_rankers))
        lam, falls = solver.sweeps(start.lam, start.weights.total, 0.0, 0.0, 1.0, 200)
        end = problem.point(lam)
        np.testing.assert_allclose(value(start) - value(end), falls.sum(), rtol=1e-8)
        slope = 3.0 * Means(problem, end.weights).edges + of_rankers
        np.testing.assert_allclose(penalty.steepest(lam, slope), 0.0, atol=1e-5)


def test_one_call_takes_the_sweeps_that_threads_share(rng, monkeypatch):
    for rows in mixed(rng):
        problem = problem_of(*rows, 3.0)
        penalty, found = Penalty.of(problem.n_rankers, 1e-2, 0.1), []
        for few in (0, 2**16):
            monkeypatch.setattr(columns, "_FEW", few)
            solver, weights = Columns(problem, coded_tables(problem), penalty), problem.point(np.zeros(len(rows[2])))
            found.append(solver.sweeps(np.zeros(len(rows[2])), weights.weights.total, 0.0, 1e-8, 1.0, 30))
        (lam, falls), (again, as_far) = found
        assert 2 < falls.size == as_far.size < 30
        assert falls[-1] <= 1e-8 < falls[-2]
        np.testing.assert_allclose(lam, again, atol=1e-12)
        np.testing.assert_allclose(falls, as_far, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("few", [0, 2**16])
def test_the_product_and_the_blocks_are_those_of_the_hessian(rng, monkeypatch, few):
    monkeypatch.setattr(columns, "_FEW", few)
    for rows in mixed(rng):
        problem = problem_of(*rows, 3.0)
        n = problem.n_rankers
        free, penalty = rng.random(n) < 0.7, Penalty.of(n, 0.01, 0.1)
        solver = Columns(problem, coded_tables(problem), penalty.only(~problem.constant))
        free &= ~problem.constant
        point = problem.point(0.1 * rng.normal(size=n))
        weights = point.weights.total
        hessian = sum(
            factor * np.cov(table.matrix(), rowvar=False, aweights=w, bias=True)
            for factor, table, w in zip((3.0, 9.0), problem.tables, weights, strict=True)
        )
        x = rng.normal(size=n)
        times = solver.product(Means(problem, point.weights), weights)
        np.testing.assert_allclose(times(x), hessian @ x, atol=1e-11)
        solve, feature = solver.preconditioner(weights)(free), problem.table.schema.feature
        both = np.concatenate([factor * w for factor, w in zip((3.0, 9.0), weights, strict=True)])
        outputs = np.concatenate([table.matrix() for table in problem.tables])
        together = 12.0 * np.cov(outputs, rowvar=False, aweights=both, bias=True)  # about the mean of both sides
        blocks = np.where(feature == feature[:, None], together, 0.0) + 0.1 * np.eye(n)
        np.testing.assert_allclose((blocks @ solve(x))[free], x[free], atol=1e-9)
        assert not solve(x)[~free].any()


# The solver ---------------------------------------------------------------------------------------


@each_value()
@pytest.mark.parametrize("p", [1.0, 4.0, 16.0])
@pytest.mark.parametrize("side", ["top", "bottom"])
def test_with_l2_alone_it_finds_what_newtons_method_finds(rng, p, side):
    for rows in mixed(rng):
        weights = [rng.uniform(0.5, 2.0, len(X)) for X in rows[:2]]
        problem = problem_of(*rows, p, weights, side)
        penalty = Penalty.of(problem.n_rankers, l2=0.05)
        assert serves(problem)
        lam, trace = run(problem, penalty)
        expected, by_newton = run(problem, penalty, solver=NEWTON)
        assert trace.status == by_newton.status == "converged"
        apart = np.sqrt(2.0 / 0.05) * (np.sqrt(trace.gap) + np.sqrt(by_newton.gap))  # the objective is strongly convex
        assert np.linalg.norm(lam - expected) <= apart < 1e-4
        assert trace.objective[-1] - by_newton.objective[-1] + by_newton.gap >= -1e-12
        assert trace.objective[-1] - by_newton.objective[-1] <= trace.gap


def test_on_separable_rows_newtons_method_goes_on(rng):
    pos, neg = rng.normal(size=(20, 3)), rng.normal(size=(30, 3))
    H = pnorm.rankers.quantile_thresholds(pos, neg, 20)
    problem = problem_of(pos, neg, H, 64.0)
    penalty = Penalty.of(problem.n_rankers, l2=1e-3)
    _, trace = run(problem, penalty, 1e-6)
    _, by_newton = run(problem, penalty, 1e-6, solver=NEWTON)
    assert trace.status == by_newton.status == "converged"
    assert trace.n_iter > 25
    assert abs(trace.objective[-1] - by_newton.objective[-1]) <= max(trace.gap, by_newton.gap)
    assert trace.objective[-1] < -1000.0


@pytest.mark.parametrize("sign", [0, 1])
def test_on_separable_rows_it_begins_with_a_larger_l2(rng, monkeypatch, sign):
    pos, neg = rng.normal(size=(30, 3)), rng.normal(size=(50, 3))
    pos[:, 0] += 5.0 * sign  # cuts that must not fall separate them, too
    H = pnorm.rankers.quantile_thresholds(pos, neg, 25)
    problem = problem_of(pos, neg, H, 64.0)
    penalty = Penalty.of(problem.n_rankers, 1e-2, 1e-3, np.full(problem.n_rankers, sign, np.int8))
    lam, trace = run(problem, penalty, 1e-4)
    assert trace.status == "converged"
    assert problem.margin_at(lam) > 1.0
    size = abs(trace.objective[-1])
    assert (np.diff(trace.objective) <= 1e-12 * size).all()
    assert (trace.objective - trace.objective[-1] <= trace.gaps + 1e-12 * size).all()
    monkeypatch.setattr(shapes, "_DOUBT", 10**6)
    _, without = run(problem, penalty, 1e-4, max_iter=trace.n_iter // 4 + 1)
    assert trace.objective[-1] <= without.objective[-1] + trace.gap
    if not sign:
        assert without.status == "max_iter"
        assert without.objective[-1] > 0.9 * trace.objective[-1]


@pytest.mark.parametrize(("p", "l1", "l2"), [(1.0, 0.05, 0.1), (4.0, 0.02, 0.05), (4.0, 0.0, 0.05), (32.0, 0.1, 0.2)])
def test_l1_and_signs_against_a_general_solver(rng, p, l1, l2):
    pos, neg = two_sides(rng, 300, 3)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 6)
    problem = problem_of(pos, neg, H, p)
    n = problem.n_rankers
    signs = np.repeat([1, -1, 0], n // 3).astype(np.int8)
    penalty = Penalty.of(n, l1, l2, signs)
    lam, trace = run(problem, penalty, 1e-9)
    assert trace.status == "converged"
    assert (lam * signs >= 0.0).all()
    assert lam.any()
    outputs = [table.matrix() for table in problem.tables]

    def split(x):  # lam = x[:n] - x[n:], both at least zero
        f_pos, f_neg = [h @ (x[:n] - x[n:]) for h in outputs]
        log_u, log_w = logsumexp(-f_pos), logsumexp(p * f_neg)
        slope = p * (outputs[1].T @ np.exp(p * f_neg - log_w) - outputs[0].T @ np.exp(-f_pos - log_u))
        slope = slope + l2 * (x[:n] - x[n:])
        value = p * log_u + log_w + l1 * x.sum() + 0.5 * l2 * ((x[:n] - x[n:]) ** 2).sum()
        return value, np.r_[slope + l1, l1 - slope]

    bounds = [(0.0, 0.0 if s < 0 else None) for s in signs] + [(0.0, 0.0 if s > 0 else None) for s in signs]
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000, "maxfun": 50000}
    found = scipy_minimize(split, np.zeros(2 * n), jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    value = trace.objective[-1]
    np.testing.assert_allclose(lam, found.x[:n] - found.x[n:], atol=2e-4)
    assert value <= found.fun + 1e-9
    assert value - trace.gap <= found.fun
    np.testing.assert_allclose(value, objective(problem, penalty, lam, p), rtol=1e-12)


def test_where_it_ends_no_coefficient_is_pulled(rng):
    pos, neg = two_sides(rng, 500, 4)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 30)
    problem = problem_of(pos, neg, H, 4.0)
    penalty = Penalty.of(problem.n_rankers, 0.05, 0.02, np.repeat([1, 0, 0, -1], 30).astype(np.int8))
    lam, trace = run(problem, penalty, 1e-12)
    slope = 4.0 * problem.edges_at(problem.point(lam))
    used = lam != 0.0
    assert 5 < used.sum() < 115
    np.testing.assert_allclose(slope[used], 0.02 * lam[used] + 0.05 * np.sign(lam[used]), atol=1e-5)
    assert (slope[~used & (penalty.high > 0.0)] <= 0.05 + 1e-5).all()
    assert (slope[~used & (penalty.low < 0.0)] >= -0.05 - 1e-5).all()
    assert (slope[~used & (penalty.high == 0.0)] > 0.05).any()  # held by its sign alone


def test_every_gap_on_the_way_is_a_bound(rng):
    pos, neg = two_sides(rng, 400, 3)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 20)
    problem = problem_of(pos, neg, H, 8.0)
    penalty = Penalty.of(problem.n_rankers, 0.01, 0.05)
    _, trace = run(problem, penalty, 1e-11)
    assert (trace.objective - trace.objective[-1] <= trace.gaps + 1e-12).all()
    assert (np.diff(trace.objective) <= 1e-12).all()
    assert np.isfinite(trace.gaps).all()


def test_rounding_of_scores_does_not_hide_the_end_of_a_small_problem(rng, monkeypatch):
    pos, neg = two_sides(rng, 100, 4)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 50)
    l1, l2 = 0.01, 0.01
    for affordable in (0, 2**24):
        monkeypatch.setattr(shapes, "_PRECISE", affordable)
        lam, trace = run(problem_of(pos, neg, H, 4.0), Penalty.of(len(H), l1, l2))
        assert trace.status == "converged"
        with mpmath.workdps(40):
            A, B = ([math.fsum(row * lam) for row in H.evaluate(X)] for X in (pos, neg))
            exact = 4 * mpmath.log(mpmath.fsum(mpmath.exp(-mpmath.mpf(f)) for f in A))
            exact += mpmath.log(mpmath.fsum(mpmath.exp(4 * mpmath.mpf(f)) for f in B))
            exact += l1 * mpmath.fsum(map(abs, lam)) + l2 / 2 * mpmath.fsum(mpmath.mpf(x) ** 2 for x in lam)
            assert abs(trace.objective[-1] - exact) <= trace.gap
        assert (trace.gap <= 1e-10) == (affordable > 0)


def test_the_number_of_threads_changes_no_bit(rng):
    pos, neg = two_sides(rng, 140_000, 2)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 5)
    found = []
    for threads in (1, 2, 7):
        problem = problem_of(pos, neg, H, 4.0, threads=threads)
        found.append(run(problem, Penalty.of(problem.n_rankers, 1e-3, 1e-2), 1e-6)[0].tobytes())
    assert len(set(found)) == 1


def test_the_start_does_not_matter(rng):
    pos, neg = two_sides(rng, 300, 3)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 10)
    problem = problem_of(pos, neg, H, 4.0)
    penalty = Penalty.of(problem.n_rankers, 0.01, 0.05, np.ones(problem.n_rankers, np.int8))
    lam, _ = run(problem, penalty)
    for init in (rng.normal(size=lam.size), -5.0 * np.ones(lam.size)):
        again, trace = run(problem, penalty, init=init)
        assert trace.status == "converged"
        np.testing.assert_allclose(again, lam, atol=1e-6)


def test_steps_run_out_and_callbacks_stop(rng):
    pos, neg = two_sides(rng, 300, 3)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 10)
    problem = problem_of(pos, neg, H, 4.0)
    penalty = Penalty.of(problem.n_rankers, 0.01, 0.05)
    lam, trace = run(problem, penalty, max_iter=0)
    assert (trace.status, trace.n_iter) == ("max_iter", 0)
    assert not lam.any()
    assert 0.0 < trace.gap < np.inf
    problem = problem_of(pos, neg, pnorm.rankers.quantile_thresholds(pos, neg, 50), 16.0)
    penalty = Penalty.of(problem.n_rankers, 1e-2, 1e-2)
    assert run(problem, penalty)[1].n_iter > 2
    _, trace = run(problem, penalty, callback=lambda trace: trace.n_iter == 2)
    assert (trace.status, trace.n_iter) == ("callback", 2)


def test_what_it_serves(rng):
    pos, neg = two_sides(rng, 60, 2)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 5)
    problem = problem_of(pos, neg, H, 2.0)
    assert serves(problem)
    assert minimize._solver(problem, Penalty.of(len(H), 0.1, 0.1), None) is minimize.CODED
    assert minimize._solver(problem, Penalty.of(len(H), 0.1), None) is minimize.APPROACHED
    assert not serves(problem_of(pos, neg, pnorm.rankers.columns(2), 2.0))
    groups = [np.arange(len(X)) % 3 for X in (pos, neg)]
    grouped = build(pos, neg, H, push(2.0), None, None, *groups)
    assert not serves(grouped)
