"""Penalties and signs of coefficients: `quadratic`, `proximal`, and their certificates."""

import dask.array
import mpmath as mp
import numpy as np
import pytest
from exact import DIGITS, Objective
from facts import raises, tells
from repeats import each_value
from scipy.optimize import minimize as general

import pnorm
import pnorm.dask
from pnorm._solvers.building import build
from pnorm._solvers.few_columns import _hessian
from pnorm._solvers.of_rows import totals
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem
from pnorm._solvers.progress import Progress
from pnorm._solvers.quadratic import least, least_of_rows
from pnorm._storage.dense import Dense
from pnorm.objectives._pnorm import PNorm, push

SETTINGS = [
    (0.3, 0.1, None),
    (0.0, 0.2, [1, -1, 0]),
    (0.4, 0.0, None),
    (0.3, 0.0, [1, 1, -1]),
    (0.05, 1e-3, [0, 1, -1]),
    (0.0, 0.0, [-1, 0, 1]),
    (0.0, 0.0, [1, 1, 1]),
]


def data(seed=0, n=3, rows=(9, 11)):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(m, n)) + shift for m, shift in zip(rows, (0.4, 0.0), strict=True)]


def infimum(objective, l1, signs, near):
    """The least value with l1 and signs, in 50 digits, given coefficients near the minimiser.

    Newton's method on the smooth function that their signs make; that its minimiser is the wanted one is then seen
    from the slopes.
    """
    pattern = np.sign(near).astype(int).tolist()
    on = [j for j in range(objective.n) if pattern[j]]
    with mp.workdps(DIGITS):
        lam, l1 = objective._vector(near), mp.mpf(l1)
        for _ in range(30):
            value, gradient, hessian = objective._derivatives(lam)
            gradient = gradient + l1 * np.array(pattern, dtype=object)
            if not on or max(abs(gradient[j]) for j in on) < mp.mpf(10) ** -40:
                break
            step = mp.lu_solve(mp.matrix(hessian[np.ix_(on, on)].tolist()), mp.matrix((-gradient[on]).tolist()))
            lam[on] = lam[on] + np.array(list(step), dtype=object)
        for j, sign in enumerate(signs):
            assert lam[j] * pattern[j] > 0 or (not pattern[j] and lam[j] == 0)
            if not pattern[j]:
                assert sign > 0 or gradient[j] <= l1
                assert sign < 0 or gradient[j] >= -l1
        return value + l1 * sum(abs(x) for x in lam)


def value_of(objective, lam, l1):
    with mp.workdps(DIGITS):
        return objective.value(lam) + mp.mpf(l1) * sum(abs(mp.mpf(float(x))) for x in lam)


VARIANTS = {
    "plain": {},
    "weights": {"pos_weight": np.arange(1.0, 10.0), "neg_weight": np.arange(12.0, 1.0, -1.0)},
    "groups": {"pos_group": [0, 1, 2] * 3, "neg_group": [0, 1, 2, 1] * 2 + [2, 0, 0]},
}


@each_value()
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("l1", "l2", "signs"), SETTINGS)
def test_the_gap_is_never_below_the_true_one(l1, l2, signs, variant):
    pos, neg = data()
    how = VARIANTS[variant]
    renamed = {name.replace("_weight", "").replace("_group", ""): x for name, x in how.items()}
    kind = {"plain": "", "weights": "c_", "groups": "g_"}[variant]
    objective = Objective(pos, neg, 4, l2=l2, **{kind + side: x for side, x in renamed.items()})
    lam, trace = pnorm.minimize(pos, neg, None, 4, l1=l1, l2=l2, signs=signs, tol=1e-13, **how)
    best = infimum(objective, l1, signs or [0, 0, 0], lam)
    assert trace.status in ("converged", "stalled")
    assert trace.gap < 1e-12
    assert value_of(objective, lam, l1) - best <= trace.gap
    for k, gap in enumerate(trace.gaps):
        true = value_of(objective, trace.lam_at(k), l1) - best
        assert true <= gap * (1 + 1e-9) + 1e-14
        assert k == 0 or gap < 10 * true + 1e-12 or gap == np.inf
    if signs:
        assert (lam * np.array(signs) >= 0.0).all()


def penalised(pos, neg, p, l1, l2, signs):
    """The answer of a general convex solver, with coefficients in two parts that are not negative."""
    n = pos.shape[1]

    def both(x):
        lam = x[:n] - x[n:]
        f, g = pos @ lam, neg @ lam
        u, w = np.exp(f.min() - f), np.exp(p * (g - g.max()))
        value = p * (np.log(u.sum()) - f.min()) + np.log(w.sum()) + p * g.max()
        slope = p * (neg.T @ w / w.sum() - pos.T @ u / u.sum()) + l2 * lam
        return value + l1 * x.sum() + 0.5 * l2 * lam @ lam, np.r_[slope + l1, l1 - slope]

    signs = np.zeros(n) if signs is None else np.asarray(signs)
    bounds = [(0, 0 if s < 0 else None) for s in signs] + [(0, 0 if s > 0 else None) for s in signs]
    found = general(
        both,
        np.full(2 * n, 0.1),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 20000, "maxfun": 40000},
    )
    return found.x[:n] - found.x[n:], found.fun


@each_value()
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 0.1), (0.0, 0.1), (2.0, 0.0)])
@pytest.mark.parametrize("signed", [False, True])
def test_the_solution_is_that_of_a_general_solver(l1, l2, signed):
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(size=(40, 12)) + 0.3, rng.normal(size=(50, 12))
    signs = rng.integers(-1, 2, 12) if signed else None
    lam, trace = pnorm.minimize(pos, neg, None, 4, l1=l1, l2=l2, signs=signs)
    x, value = penalised(pos, neg, 4, l1, l2, signs)
    assert trace.status == "converged"
    np.testing.assert_allclose(lam, x, atol=1e-4)
    assert -1e-10 <= value - trace.objective[-1] < 1e-8
    assert (np.abs(x) < 1e-6)[lam == 0.0].all()
    assert (lam == 0.0).any() == (l1 > 0.0 or signed)


def by_sweeps(A, b, penalty):
    """The least value of the quadratic, one coefficient at a time."""
    A, x = A + np.diag(penalty.l2), np.zeros(len(b))
    for _ in range(3000):
        for j in range(len(b)):
            slope = b[j] - A[j] @ x + A[j, j] * x[j]
            x[j] = np.sign(slope) * max(abs(slope) - penalty.l1[j], 0.0) / A[j, j]
            x[j] = min(max(x[j], penalty.low[j]), penalty.high[j])
    return x


@pytest.mark.parametrize(("l1", "l2", "signed"), [(0.1, 0.1, True), (0.2, 0.0, False), (0.0, 0.1, True)])
def test_a_quadratic_is_minimised(l1, l2, signed):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(60, 15))
    A, b = Z.T @ Z / 60, rng.normal(size=15)
    penalty = Penalty.of(15, l1, l2, rng.integers(-1, 2, 15).astype(np.int8) if signed else None)
    start = penalty.nearest(rng.normal(size=15))
    found, slow = start + least(A, b - A @ start, penalty, start), by_sweeps(A, b, penalty)
    np.testing.assert_allclose(found, slow, atol=1e-12)
    assert ((found == 0.0) == (slow == 0.0)).all()


@pytest.mark.parametrize(("l1", "l2", "signed"), [(0.1, 0.1, True), (0.5, 1e-4, False), (0.0, 0.01, True)])
def test_the_dual_function_finds_the_same(l1, l2, signed):
    rng = np.random.default_rng(3)
    Z, b = rng.normal(size=(6, 20)), rng.normal(size=20)
    penalty = Penalty.of(20, l1, l2, rng.integers(-1, 2, 20).astype(np.int8) if signed else None)
    start = penalty.nearest(rng.normal(size=20))
    steps = (
        least(Z.T @ Z, b - Z.T @ (Z @ start), penalty, start),
        least_of_rows(Z, b - Z.T @ (Z @ start), penalty, start),
    )
    np.testing.assert_allclose(*steps, atol=1e-9)
    assert ((start + steps[0] == 0.0) == (start + steps[1] == 0.0)).all()
    # No coordinate of the answer has a slope beyond its penalty.
    x = start + steps[1]
    assert np.abs(penalty.steepest(x, b - Z.T @ (Z @ x))).max() < 1e-9 * (1.0 + l2 * np.abs(x).max())


@pytest.mark.parametrize(
    "A",
    [
        np.zeros((4, 4)),
        np.ones((4, 4)),
        np.outer([1, 1e100, 1e-100, 0], [1, 1e100, 1e-100, 0]),
        np.diag([1.0, -1e-9, 1e-300, 1e300]),
        np.full((4, 4), np.inf),
        np.full((4, 4), np.nan),
    ],
)
def test_a_singular_or_a_huge_quadratic_raises_nothing(A):
    b = np.array([1.0, -2.0, 0.5, 0.0])
    for l1, l2 in ((0.1, 0.0), (0.0, 1e-300), (0.1, 0.1), (1e300, 1e300)):
        for signs in (None, np.array([1, -1, 0, 1], np.int8)):
            with np.errstate(all="ignore"):
                step = least(A, b, Penalty.of(4, l1, l2, signs), np.zeros(4))
            assert step.shape == (4,)


def test_from_a_known_l1_on_all_coefficients_are_zero():
    pos, neg = data(3, 5)
    edges = pos.mean(axis=0) - neg.mean(axis=0)
    largest = 4 * np.abs(edges).max()
    lam, trace = pnorm.minimize(pos, neg, None, 4, l1=largest * 1.0001)
    assert not lam.any()
    assert trace.status == "converged"
    assert np.flatnonzero(pnorm.minimize(pos, neg, None, 4, l1=largest * 0.99)[0]) == [np.abs(edges).argmax()]


def test_a_copy_of_a_column_changes_no_score():
    pos, neg = data(4, 4)
    twice = [np.hstack([X, X[:, :2]]) for X in (pos, neg)]
    for l2 in (0.0, 0.1):
        (lam, one), (both, two) = [pnorm.minimize(*sides, None, 2, l1=0.05, l2=l2) for sides in ((pos, neg), twice)]
        assert one.status == two.status == "converged"
        if l2 == 0.0:
            np.testing.assert_allclose(pos @ lam, twice[0] @ both, atol=1e-6)
            assert one.objective[-1] == pytest.approx(two.objective[-1], abs=1e-9)
        else:
            assert one.objective[-1] > two.objective[-1]  # two squares of halves are half the square


def test_a_column_of_the_other_sign_has_the_other_coefficient():
    pos, neg = data(5, 4)
    flip = np.array([1.0, -1.0, 1.0, -1.0])
    signs = np.array([1, 1, -1, 0])
    lam, _ = pnorm.minimize(pos, neg, None, 4, l1=0.1, l2=0.1, signs=signs)
    other, _ = pnorm.minimize(pos * flip, neg * flip, None, 4, l1=0.1, l2=0.1, signs=signs * flip)
    np.testing.assert_allclose(other, lam * flip, atol=1e-9)


def test_the_bottom_is_the_top_from_below():
    pos, neg = data(6, 4)
    lam, trace = pnorm.minimize(pos, neg, None, 3, l1=0.2, l2=0.1, signs=[1, 0, -1, 0], push="bottom")
    top, of_top = pnorm.minimize(-neg, -pos, None, 3, l1=0.2, l2=0.1, signs=[1, 0, -1, 0])
    np.testing.assert_allclose(lam, top, atol=1e-9)
    assert trace.objective[-1] == pytest.approx(of_top.objective[-1], abs=1e-12)


def test_l1_alone_may_have_no_minimum():
    # The margin of (1, 0) is 2, and no coefficients of that size have a wider one.
    pos, neg = np.array([[1.0, 0.3], [1.5, -0.2]]), np.array([[-1.0, 0.1], [-1.2, 0.4]])
    for p in (1, 4):
        lam, trace = pnorm.minimize(pos, neg, None, p, l1=1.9 * p)
        assert trace.status == "separable"
        assert trace.gap == np.inf
        at = [p * np.log(np.exp(-t * pos @ lam).sum()) + np.log(np.exp(p * t * neg @ lam).sum()) for t in (10, 20)]
        assert at[1] + 20 * 1.9 * p * np.abs(lam).sum() < at[0] + 10 * 1.9 * p * np.abs(lam).sum()
        lam, trace = pnorm.minimize(pos, neg, None, p, l1=2.1 * p)
        assert trace.status == "converged"
        assert trace.gap < 1e-10
        assert pnorm.minimize(pos, neg, None, p, l1=1.9 * p, l2=1e-3)[1].status == "converged"


def test_few_of_many_columns(monkeypatch):
    rng = np.random.default_rng(7)
    pos, neg = rng.normal(size=(60, 700)), rng.normal(size=(80, 700))
    pos[:, :4] += 1.0
    whole, trace = pnorm.minimize(pos, neg, None, 2, l1=0.8, l2=0.01)
    assert trace.status == "converged"
    monkeypatch.setattr("pnorm._solvers.proximal._CHEAP", 0.0)
    lam, some = pnorm.minimize(pos, neg, None, 2, l1=0.8, l2=0.01)
    assert some.status == "converged"
    np.testing.assert_allclose(lam, whole, atol=1e-4)
    assert 4 <= np.count_nonzero(lam) < 60
    monkeypatch.setattr("pnorm._solvers.proximal.FEW", 0)
    monkeypatch.setattr("pnorm._solvers.proximal._FIRST", 1)
    lam, by_gradients = pnorm.minimize(pos, neg, None, 2, l1=0.8, l2=0.01)
    assert by_gradients.status == "converged"
    np.testing.assert_allclose(lam, whole, atol=1e-4)


def test_a_path_over_l1():
    pos, neg = data(8, 6, (30, 40))
    path = pnorm.minimize_path(pos, neg, None, 4, l1=[1e-1, 10.0, 1.0], l2=0.01)
    assert (path.along, path.l1.tolist(), path.l2.tolist()) == ("l1", [0.1, 10.0, 1.0], [0.01] * 3)
    assert path.status == ("converged",) * 3
    assert [np.count_nonzero(lam) for lam in path.lam][1] == 0
    for l1, lam in zip(path.l1, path.lam, strict=True):
        np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, None, 4, l1=l1, l2=0.01)[0], atol=1e-4)


def test_rows_in_partitions():
    pos, neg = data(9, 5, (40, 50))
    parts = [dask.array.from_array(X, chunks=(25, -1)) for X in (pos, neg)]
    for how in ({"l1": 0.5, "l2": 0.1, "signs": [1, -1, 0, 0, 1]}, {"l1": 0.5}):
        lam, trace = pnorm.minimize(pos, neg, None, 4, **how)
        found, of_parts = pnorm.dask.minimize(*parts, None, 4, **how)
        assert of_parts.status == trace.status == "converged"
        np.testing.assert_allclose(found, lam, atol=1e-8)


@pytest.mark.parametrize(
    ("signs", "message"),
    [([1, 2, 0], "signs has 2 at position 1"), ([1, 0], "must have shape"), ([1, np.nan, 0], "every value")],
)
def test_signs_are_checked(signs, message):
    with raises(ValueError, message):
        pnorm.minimize(*data(), signs=signs)


@pytest.mark.parametrize("signs", [None, [1, -1, 0, 0, 1]])
def test_lbfgs_finds_the_same(signs):
    pos, neg = data(10, 5, (30, 40))
    how = {"l1": 0.5, "l2": 0.3, "signs": signs}
    lam, trace = pnorm.minimize(pos, neg, None, 4, **how)
    found, by_lbfgs = pnorm.minimize(pos, neg, None, 4, method="lbfgs", tol=1e-8, **how)
    assert by_lbfgs.status == "converged"
    assert by_lbfgs.gap >= by_lbfgs.objective[-1] - trace.objective[-1] - 1e-12
    np.testing.assert_allclose(found, lam, atol=1e-3)
    assert ((found == 0.0) == (lam == 0.0)).all()


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_another_loss_within_bounds(loss):
    pos, neg = data(11, 4, (20, 30))
    how = {"l1": 0.2, "signs": [1, -1, 0, 0], "loss": loss}
    lam, trace = pnorm.minimize(pos, neg, None, 2, l2=0.1, tol=1e-7, **how)
    assert trace.status == "converged"
    assert trace.gap <= 1e-7
    assert (lam == 0.0).any()
    assert lam[0] >= 0.0 >= lam[1]
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        other = lam + size * rng.normal(size=4)
        other[:2] = [max(other[0], 0.0), min(other[1], 0.0)]
        # No steps: the objective there.
        there = pnorm.minimize(pos, neg, None, 2, l2=0.1, init=other, max_iter=0, **how)[1]
        assert there.objective[-1] >= trace.objective[-1] - trace.gap
    assert pnorm.minimize(pos, neg, None, 2, **how)[1].status in ("stationary", "stalled")


def test_signs_alone_may_separate():
    # The first column separates with a coefficient above zero, and no column with one below.
    pos, neg = np.array([[1.0, 0.3], [1.5, -0.2]]), np.array([[-1.0, 0.1], [-1.2, 0.4]])
    lam, trace = pnorm.minimize(pos, neg, None, 2, signs=[1, 1])
    assert trace.status == "separable"
    assert (lam >= 0.0).all()
    assert (pos @ lam).min() - (neg @ lam).max() == pytest.approx(1.0)
    lam, trace = pnorm.minimize(pos, neg, None, 2, signs=[-1, 1])
    assert trace.status == "converged"
    assert trace.gap < 1e-10
    assert lam.tolist() == [0.0, 0.0]


def test_signs_alone_may_put_the_minimiser_at_infinity():
    # No negative has the first indicator: without a sign on it, its coefficient goes to infinity.
    rng = np.random.default_rng(12)
    pos, neg = rng.normal(size=(12, 3)) + 0.2, rng.normal(size=(15, 3))
    pos[:, 0], neg[:, 0] = np.arange(12) < 3, 0.0
    lam, trace = pnorm.minimize(pos, neg, None, 2, signs=[1, 0, 1])
    assert trace.status == "separable"
    assert trace.direction[0] > 0.0
    assert trace.direction[2] >= 0.0
    far = [pnorm.minimize(pos, neg, None, 2, init=lam + t * trace.direction, max_iter=0)[1] for t in (20.0, 40.0)]
    assert far[1].log_objective[0] - trace.log_objective[-1] < 1e-6
    lam, trace = pnorm.minimize(pos, neg, None, 2, signs=[-1, 0, 1])
    assert trace.status == "converged"
    assert lam[0] == 0.0


@pytest.mark.parametrize(("l1", "l2", "signs"), SETTINGS)
def test_the_certificate_of_any_coefficients(l1, l2, signs):
    pos, neg = data()
    how = {"l1": l1, "l2": l2, "signs": signs}
    best, trace = pnorm.minimize(pos, neg, None, 4, **how)
    at_best = pnorm.diagnostics.certificate(pos, neg, None, 4, best, **how)
    assert at_best.gap < 1e-9
    assert at_best.objective == pytest.approx(trace.objective[-1], abs=1e-12)
    exact = Objective(pos, neg, 4, l2=l2)
    true = infimum(exact, l1, signs or [0, 0, 0], best)
    for size in (1e-3, 0.1):
        near = best * (1.0 + size)
        here = pnorm.diagnostics.certificate(pos, neg, None, 4, near, **how)
        assert here.gap >= value_of(exact, near, l1) - true
        assert size > 0.01 or here.gap < 1e-3
    if signs:
        with raises(ValueError, "whose sign must be"):
            pnorm.diagnostics.certificate(pos, neg, None, 4, -np.array(signs), **how)


def test_the_certificate_keeps_the_signs_of_the_rankers():
    pos, neg, H = cuts(9, monotone={1: -1})  # against what the rows say: without signs they are far from a minimum
    for how in ({"l2": 0.1}, {"l1": 0.5}, {"l1": 0.5, "l2": 0.1}):
        lam, trace = pnorm.minimize(pos, neg, H, 4, **how)
        here = pnorm.diagnostics.certificate(pos, neg, H, 4, lam, **how)
        assert here.objective == pytest.approx(trace.objective[-1], abs=1e-12)
        assert here.gap < 1e-9
        without = pnorm.diagnostics.certificate(H.evaluate(pos), H.evaluate(neg), None, 4, lam, **how)
        assert without.gap > 1e-2
        named = pnorm.diagnostics.certificate(H.evaluate(pos), H.evaluate(neg), None, 4, lam, signs=H.signs, **how)
        assert named.gap == pytest.approx(here.gap, abs=1e-12)
    with raises(ValueError, "whose sign must be -1"):
        pnorm.diagnostics.certificate(pos, neg, H, 4, np.abs(H.signs), l2=0.1)
    with raises(ValueError, r"signs has 1 for x1 > .*its own sign is -1"):
        pnorm.diagnostics.certificate(pos, neg, H, 4, lam, l2=0.1, signs=-H.signs)


def cuts(n_cuts, levels=(), rows=200, seed=13, **how):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 3))
    for j, n in levels:
        X[:, j] = np.floor(n * X[:, j])
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=rows) > 1.0
    return X[y], X[~y], pnorm.rankers.quantile_thresholds(X[y], X[~y], n_cuts, **how)


def test_penalties_of_shapes():
    pos, neg, H = cuts(8, [(1, 5), (2, 3)], linear=True)
    outputs = [H.evaluate(X) for X in (pos, neg)]
    span = np.ptp(np.vstack(outputs), axis=0)
    two = [len(np.unique(column)) == 2 for column in np.vstack(outputs).T]
    number = np.array([sum(a == b and t for b, t in zip(H.column, two, strict=True)) if own else 1
                       for a, own in zip(H.column, two, strict=True)])  # fmt: skip
    assert set(number) == {8, 4, 2, 1}
    lam, trace = pnorm.minimize(pos, neg, H, 4, l1=0.3, l2=0.1, penalty="shapes")
    # Columns scaled by 1 / (span * root of number) have plain penalties, but for l1.
    unit = span * np.sqrt(number)
    scaled, of_scaled = pnorm.minimize(*[X / unit for X in outputs], None, 4, l2=0.1)
    alone, of_shapes = pnorm.minimize(pos, neg, H, 4, l2=0.1, penalty="shapes")
    np.testing.assert_allclose(alone, scaled / unit, atol=1e-5)
    assert of_shapes.objective[-1] == pytest.approx(of_scaled.objective[-1], abs=1e-9)
    added = 0.3 * np.abs(lam * span).sum() + 0.05 * (number * (lam * span) ** 2).sum()
    assert trace.status == "converged"
    assert trace.objective[-1] - trace.log_objective[-1] == pytest.approx(added, abs=1e-12)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_at_most_so_many_columns(loss):
    pos, neg, H = cuts(6)
    how = {"l1": 0.02, "l2": 0.01, "loss": loss, "tol": 1e-8}
    values = []
    for most in (1, 2, 3):
        lam, trace = pnorm.minimize(pos, neg, H, 2, max_columns=most, **how)
        chosen = np.unique(H.column[np.flatnonzero(lam)])
        assert len(chosen) == most
        assert trace.status == "converged"
        assert "chosen columns only: 'x0'" in trace.message
        values.append(trace.objective[-1])
        # The same among the columns alone, and no better with any other one column.
        kept = np.isin(H.column, chosen)
        outputs = [H.evaluate(X)[:, kept] for X in (pos, neg)]
        same, alone = pnorm.minimize(*outputs, None, 2, **how)
        np.testing.assert_allclose(lam[kept], same, atol=1e-2)
        assert alone.objective[-1] == pytest.approx(trace.objective[-1], abs=1e-7)
    whole = pnorm.minimize(pos, neg, H, 2, **how)[1].objective[-1]
    assert values[0] > values[1] > values[2] == pytest.approx(whole, abs=1e-7)
    others = [
        pnorm.minimize(*[H.evaluate(X)[:, H.column == k] for X in (pos, neg)], None, 2, **how)[1] for k in range(3)
    ]
    assert values[0] == pytest.approx(min(trace.objective[-1] for trace in others), abs=1e-7)


@pytest.mark.parametrize("how", [{"l2": 0.5}, {"l1": 0.1, "l2": 0.5}, {"l1": 0.1}], ids=str)
def test_a_constant_ranker_has_a_penalty_of_shapes_too(how):
    pos, neg, _ = cuts(4)
    sides = [np.column_stack([X, np.full(len(X), 3.0)]) for X in (pos, neg)]
    lam, trace = pnorm.minimize(*sides, None, 4, penalty="shapes", **how)
    alone, without = pnorm.minimize(pos, neg, None, 4, penalty="shapes", **how)
    assert trace.status == without.status == "converged"
    assert lam[-1] == 0.0
    np.testing.assert_allclose(lam[:-1], alone, atol=1e-6)


def test_shapes_and_few_columns_along_a_path_and_in_partitions():
    pos, neg, H = cuts(6)
    how = {"penalty": "shapes", "max_columns": 2}
    path = pnorm.minimize_path(pos, neg, H, 2, l1=[0.5, 0.1], l2=0.01, **how)
    for l1, lam, trace in zip(path.l1, path.lam, path.traces, strict=True):
        assert trace.status == "converged"
        assert len(np.unique(H.column[np.flatnonzero(lam)])) == 2
        alone = pnorm.minimize(pos, neg, H, 2, l1=l1, l2=0.01, **how)[1]
        assert trace.objective[-1] == pytest.approx(alone.objective[-1], abs=1e-9)
    parts = [dask.array.from_array(X, chunks=(60, -1)) for X in (pos, neg)]
    lam, trace = pnorm.dask.minimize(*parts, H, 2, l1=0.1, l2=0.01, **how)
    assert trace.status == "converged"
    np.testing.assert_allclose(lam, path.lam[1], atol=1e-4)


def test_signs_and_l2_where_rows_are_separable():
    """The way through larger penalties begins without an l1 here."""
    rng = np.random.default_rng(15)
    pos, neg = rng.normal(size=(10, 8)) + 0.5, rng.normal(size=(10, 8))
    lam, trace = pnorm.minimize(pos, neg, None, 16, l2=1e-3, signs=[1] + [0] * 7)
    assert trace.status == "converged"
    assert lam[0] >= 0.0
    free, without = pnorm.minimize(pos, neg, None, 16, l2=1e-3)
    assert trace.objective[-1] >= without.objective[-1] - without.gap


@each_value()
@pytest.mark.parametrize("how", [{"l1": 0.1}, {"l2": 0.01}, {"l1": 0.1, "l2": 0.01}])
@pytest.mark.parametrize("kind", ["columns", "cuts"])
def test_as_many_columns_as_there_are_leave_the_minimiser(kind, how):
    rng = np.random.default_rng(30)
    pos, neg = rng.normal(size=(40, 4)) + 0.3, rng.normal(size=(40, 4))
    for X in (pos, neg):
        X[:, 1] = 0.9 * X[:, 0] + 0.3 * X[:, 1]
    H = pnorm.rankers.quantile_thresholds(pos, neg, 5) if kind == "cuts" else None
    values = [pnorm.minimize(pos, neg, H, 4, max_columns=most, **how)[1] for most in (None, 4, 2)]
    assert [trace.status for trace in values] == ["converged"] * 3
    whole, all_columns, two = [trace.objective[-1] for trace in values]
    assert abs(all_columns - whole) < 1e-9
    assert two > whole + 1e-6


@pytest.mark.parametrize("name", ["l1", "l2"])
def test_the_largest_weight_serves_shapes_too(name):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.5, 10, (20, 3)), rng.normal(0, 10, (30, 3))  # ranges and numbers of cuts above one
    for H in (None, pnorm.rankers.quantile_thresholds(pos, neg, 5)):
        lam, trace = pnorm.minimize(pos, neg, H, 2, **{name: 1e308}, penalty="shapes")
        assert trace.status == "converged"
        assert np.abs(lam).max() < 1e-300


SEPARABLE = [
    {"l1": 0.01, "l2": 1e-5},
    {"l1": 1.0, "l2": 1e-4},
    {"l1": 0.1, "l2": 1e-8, "signs": [1, -1] * 10},
    {"l2": 1e-4, "signs": [1] + [0] * 19},
]


@each_value()
@pytest.mark.parametrize("p", [16, 64])
@pytest.mark.parametrize("how", SEPARABLE)
def test_a_small_l2_on_separable_rows(how, p):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(size=(15, 20)) + 0.5, rng.normal(size=(15, 20))
    lam, trace = pnorm.minimize(pos, neg, None, p, **how)
    best = trace.objective[-1]
    assert trace.status == "converged"
    assert trace.gap <= 1e-10 * max(abs(best), 1.0)

    def value(lam):
        f, g = pos @ lam, neg @ lam
        log_f = (
            p * np.log(np.exp(f.min() - f).sum()) + np.log(np.exp(p * (g - g.max())).sum()) + p * (g.max() - f.min())
        )
        return log_f + how.get("l1", 0.0) * np.abs(lam).sum() + 0.5 * how["l2"] * lam @ lam

    assert value(lam) == pytest.approx(best, rel=1e-12)
    signs = np.array(how.get("signs", [0] * 20))
    assert (lam * signs >= 0.0).all()
    for size in (1e-6, 1e-3, 0.1):
        for _ in range(20):
            other = lam * (1.0 + size * rng.normal(size=20) * rng.integers(0, 2)) * (1.0 + size * rng.normal())
            assert value(other) >= best - trace.gap
    start, other = pnorm.minimize(pos, neg, None, p, init=0.3 * lam, **how)
    assert abs(other.objective[-1] - best) <= max(trace.gap, other.gap)


def test_small_penalties_find_what_a_general_solver_finds():
    rng = np.random.default_rng(4)
    pos, neg = rng.normal(size=(15, 12)) + 0.5, rng.normal(size=(15, 12))
    for p, l1, l2 in ((1, 0.1, 0.01), (4, 0.5, 0.1)):
        trace = pnorm.minimize(pos, neg, None, p, l1=l1, l2=l2)[1]
        _, value = penalised(pos, neg, p, l1, l2, None)
        assert trace.status == "converged"
        assert -trace.gap <= value - trace.objective[-1] < 1e-5 * abs(value)


def test_more_weak_rankers_than_rows_in_groups(monkeypatch):
    rng = np.random.default_rng(0)
    X, g = rng.normal(size=(80, 5)), rng.integers(0, 3, 80)
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=80) > 0
    H = pnorm.rankers.quantile_thresholds(X[y], X[~y], 40)
    how = {"l1": 0.01, "l2": 0.01, "pos_group": g[y], "neg_group": g[~y]}
    lam, trace = pnorm.minimize(X[y], X[~y], H, 4, **how)
    assert len(lam) > 2 * len(X)
    assert trace.status == "converged"
    assert trace.n_iter < 50
    monkeypatch.setattr("pnorm._solvers.proximal._WorkingSet._is_wide", lambda working, size: False)
    same, slow = pnorm.minimize(X[y], X[~y], H, 4, **how)
    assert slow.status == "converged"
    np.testing.assert_allclose(same, lam, atol=1e-5)


def test_an_l2_far_below_l1_costs_no_certificate():
    pos, neg, H = cuts(5)
    alone = pnorm.minimize(pos, neg, H, 4, l1=0.1)[1]
    for l2 in (1e-12, 1e-18, 1e-60):
        for rankers in (H, None):
            trace = pnorm.minimize(pos, neg, rankers, 4, l1=0.1, l2=l2)[1]
            assert trace.status == "converged"
            assert trace.gap < 1e-9
            if rankers is H:
                assert abs(trace.objective[-1] - alone.objective[-1]) < 1e-8


@pytest.mark.parametrize("p", [1, 16])
def test_a_penalty_below_rounding(p):
    pos, neg = data(14, 4, (60, 80))
    alone = pnorm.minimize(pos, neg, None, p)[1]
    within = pnorm.minimize(pos, neg, None, p, signs=[1, -1, 1, -1])[1]
    for how in ({"l1": 1e-18}, {"l1": 1e-13}, {"l1": 1e-12}, {"l2": 1e-60, "signs": [1, -1, 1, -1]}):
        trace = pnorm.minimize(pos, neg, None, p, **how)[1]
        assert trace.status == "converged"
        assert trace.gap <= 1e-10
        assert trace.n_iter < 10
        assert trace.objective[-1] == pytest.approx((within if "l2" in how else alone).objective[-1], abs=1e-9)


def test_an_l1_at_which_minimisers_end_is_said_to_be_one():
    # With the margin 2 of (1, 0), log F_p falls by 2p for each unit in the end, and more before.
    pos, neg = np.array([[1.0, 0.3], [1.5, -0.2]]), np.array([[-1.0, 0.1], [-1.2, 0.4]])
    for p in (1, 4):
        _, trace = pnorm.minimize(pos, neg, None, p, l1=2.0 * p)
        assert trace.status in ("converged", "stalled", "max_iter")
        if trace.status != "converged":
            assert tells(trace.message, "l1 is within 0.001 of the least value with a minimiser")
        assert "is within 0.001" not in pnorm.minimize(pos, neg, None, p, l1=2.1 * p)[1].message


@pytest.mark.parametrize("scale", [1e-22, 1e-100, 1e100])
def test_units_of_columns_change_nothing(scale):
    pos, neg = data(16, 5, (60, 80))
    for how in ({"l1": 0.5}, {"signs": [1, -1, 1, 0, 1]}, {"l1": 0.5, "max_columns": 2}):
        lam, trace = pnorm.minimize(pos, neg, None, 4, **how)
        scaled = how | {"l1": how.get("l1", 0.0) * scale}
        other, of_scaled = pnorm.minimize(pos * scale, neg * scale, None, 4, **scaled)
        assert trace.status == of_scaled.status == "converged"
        np.testing.assert_allclose(other * scale, lam, atol=1e-7)
        assert of_scaled.objective[-1] == pytest.approx(trace.objective[-1], abs=1e-10)


def test_shapes_name_the_column_whose_square_is_lost():
    pos, neg = data(17, 3)
    for X in (pos, neg):
        X[:, 1] *= 1e-100
    with raises(ValueError, r"'x1' spans only .*e-100: with penalty='shapes' .* scale the column"):
        pnorm.minimize(pos, neg, None, 2, l1=0.1, l2=0.1, penalty="shapes")


def test_the_best_point_visited_is_the_answer():
    pos, neg = data(18)
    problem = Problem.of_tables([Dense(pos), Dense(neg)], ("a", "b", "c"), PNorm(2, None, None))
    penalty = Penalty.of(3, 0.1, 0.1)
    progress = Progress(problem, penalty, 1e-10, 10, None, iter(()))
    near, far = [problem.point(np.array([x, 0.0, 0.0])) for x in (0.3, 30.0)]
    progress.arrive(near, 0.5)
    progress.step(problem.edges_at(near), 1.0, far)
    progress.arrive(far, 9.0)
    assert "after step 0, which is within 0.5" in progress.return_to_best(problem)
    trace = progress.trace("max_iter", "")
    assert trace.objective.argmin() in (0, 2)
    assert trace.gap == 0.5
    np.testing.assert_array_equal(trace.lam_at(2), near.lam)
    assert progress.return_to_best(problem) == ""


def test_the_certificate_far_from_the_minimiser():
    """Weights that a step would make negative are cut off, and what they prove stays true."""
    pos, neg = data()
    rng = np.random.default_rng(0)
    for how in ({"l1": 0.3, "l2": 0.1}, {"l2": 0.2, "signs": [1, -1, 0]}):
        best = pnorm.minimize(pos, neg, None, 4, **how)[1]
        for size in (1.0, 10.0, 100.0):
            lam = size * np.abs(rng.normal(size=3)) * [1, -1, 1]
            here = pnorm.diagnostics.certificate(pos, neg, None, 4, lam, **how)
            assert best.objective[-1] - best.gap >= here.objective - here.gap
            assert here.gap < 10.0 * (here.objective - best.objective[-1]) + 1.0


def test_a_column_that_the_way_left_out_comes_back():
    """On the way the coefficient of the first column is zero to within the tolerance, and at the minimum it is not."""
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.3, 1, (40, 3)), rng.normal(0, 1, (40, 3))
    whole, best = pnorm.minimize(pos, neg, None, 2, l1=0.47)
    lam, trace = pnorm.minimize(pos, neg, None, 2, l1=0.47, max_columns=3)
    assert 0.0 < whole[0] < 0.01
    np.testing.assert_allclose(lam, whole, atol=1e-4)
    assert trace.objective[-1] == pytest.approx(best.objective[-1], abs=1e-9)


def test_the_penalty_counts_where_a_column_is_chosen():
    """The first column orders the rows better, but in its small unit the coefficient costs more than it gains."""
    rng = np.random.default_rng(1)
    pos, neg = rng.normal([1.0, 0.5], 1, (60, 2)) * [0.01, 1.0], rng.normal(size=(60, 2)) * [0.01, 1.0]
    how = {"loss": "logistic", "l2": 100.0}
    lam, trace = pnorm.minimize(pos, neg, max_columns=1, **how)
    alone = [pnorm.minimize(pos[:, [j]], neg[:, [j]], **how)[1].objective[-1] for j in range(2)]
    assert pnorm.metrics.auc(pos[:, 0], neg[:, 0]) > pnorm.metrics.auc(pos[:, 1], neg[:, 1])
    assert np.flatnonzero(lam).tolist() == [1]
    assert trace.objective[-1] == pytest.approx(min(alone), rel=1e-9)


@pytest.mark.parametrize(("seed", "most", "l1"), [(20, 2, 0.5), (120, 2, 0.5), (338, 3, 0.4)])
def test_columns_that_were_replaced_are_not_too_many(seed, most, l1):
    """The first column is nearly the sum of two others, which take its place, and it would lower the objective still."""
    rng = np.random.default_rng(seed)

    def side(mean):
        B = rng.normal(mean, 1, (40, 3))
        A = B[:, :2].sum(axis=1) * rng.uniform(0.4, 0.8) + rng.normal(0, 0.3, 40)
        return np.column_stack([A, B])

    pos, neg = side(0.4), side(0.0)
    lam, trace = pnorm.minimize(pos, neg, None, 2, l1=l1, max_columns=most)
    chosen = np.flatnonzero(lam)
    assert chosen.size == most
    alone = pnorm.minimize(pos[:, chosen], neg[:, chosen], None, 2, l1=l1)[1]
    assert trace.objective[-1] == pytest.approx(alone.objective[-1], abs=1e-9)


@pytest.mark.parametrize("how", [{"signs": [1] * 10, "l2": 0.1}, {"l1": 0.3}], ids=["signs", "l1"])
def test_columns_are_compared_by_what_their_penalty_leaves(how):
    """The first columns are steeper than the last, but have the other sign, or a unit in which they cost more."""
    rng = np.random.default_rng(3)
    sides = []
    for mean in (1.0, 0.0):
        z = rng.normal(mean, 1, (80, 1))
        steep = (-z if "signs" in how else z) + 1e-3 * rng.normal(size=(80, 9))
        sides.append(np.column_stack([steep, 10.0 * (z + 0.3 * rng.normal(size=z.shape))]))
    lam, trace = pnorm.minimize(*sides, None, 2, max_columns=1, **how)
    alone = [pnorm.minimize(*(X[:, [j]] for X in sides), None, 2, **how | {"signs": [1]}) for j in (0, 9)]
    assert np.flatnonzero(lam).tolist() == [9]
    assert trace.objective[-1] == pytest.approx(alone[1][1].objective[-1], rel=1e-9)
    assert alone[1][1].objective[-1] < alone[0][1].objective[-1]


def test_a_column_of_many_rankers_that_are_alike_is_not_worth_their_sum():
    rng = np.random.default_rng(4)
    pos, neg = rng.normal([0.7, 1.0], 1, (200, 2)), rng.normal(size=(200, 2))
    H = pnorm.rankers.thresholds([np.linspace(-0.1, 0.1, 40), [0.5]])
    lam, _ = pnorm.minimize(pos, neg, H, 1, l2=0.01, max_columns=1)
    assert np.flatnonzero(lam).tolist() == [40]


def test_the_model_of_a_column_of_codes_is_that_of_its_outputs():
    pos, neg = data(3, 2, (30, 40))
    H, lam = pnorm.rankers.thresholds([[-0.5, 0.0, 0.5], [0.0]]), np.array([0.5, -0.2, 0.1, 0.3])
    found = []
    for sides in ((pos, neg, H), (H.evaluate(pos), H.evaluate(neg), pnorm.rankers.columns(4))):
        problem = build(*sides, push(4))
        point = problem.point(lam)
        found.append(_hessian(problem, point, problem.reduce_weighted(point.weights, totals), np.arange(3)))
    np.testing.assert_allclose(*found, rtol=1e-10)
