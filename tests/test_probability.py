"""Probabilities of a push, held to P-Classification: its objective as it is defined, minimised over coefficients and intercept."""

import mpmath
import numpy as np
import partitions
import pytest
from facts import raises
from repeats import each_value
from scipy.optimize import minimize, minimize_scalar

import pnorm

WEIGHTS = {"pos_weight": np.array([1.0, 0.0, 3.0, 2.0, 1.0]), "neg_weight": np.array([2.0, 1.0, 0.0, 1.0, 4.0, 1.0])}
F_POS, F_NEG = np.array([3.0, 1.0, 4.0, 2.0, 6.0]), np.array([0.0, 2.0, 5.0, -1.0, 1.0, -3.0])


def cost(f_pos, f_neg, b, p, c_pos=1.0, c_neg=1.0):
    """The objective of P-Classification."""
    return np.sum(c_pos * np.exp(-(f_pos + b))) + np.sum(c_neg * np.exp(p * (f_neg + b))) / p


def p_classification(pos, neg, p, c_neg=1.0):
    """Its minimiser, coefficients and intercept, by SciPy."""
    pos, neg = (np.column_stack([side, np.ones(len(side))]) for side in (pos, neg))

    def derivatives(z):
        u, w = np.exp(-pos @ z), c_neg * np.exp(p * (neg @ z))
        return u.sum() + w.sum() / p, neg.T @ w - pos.T @ u, (pos.T * u) @ pos + p * (neg.T * w) @ neg

    value, slope, curvature = (lambda z, k=k: derivatives(z)[k] for k in range(3))
    start = np.zeros(pos.shape[1])
    found = minimize(value, start, jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-9}).x
    for _ in range(5):  # of Newton's method, as rounding of values ends the search at half the digits
        found -= np.linalg.solve(curvature(found), slope(found))
    return found[:-1], found[-1]


def gaussians(n_pos=60, n_neg=90, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1, (n_pos, 3)), rng.normal(0, 1, (n_neg, 3))


def of_scores(pos, neg, H, lam, p, **weights):
    return pnorm.intercept(pnorm.score(pos, H, lam), pnorm.score(neg, H, lam), p, **weights)


# The theorem -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 4, 16])
def test_the_push_is_p_classification(p):
    data = pnorm.datasets.tic_tac_toe()
    lam, trace = pnorm.minimize(data.pos, data.neg, p=p, tol=0)
    expected, b = p_classification(data.pos, data.neg, p)
    np.testing.assert_allclose(lam, expected, rtol=0, atol=1e-6)  # as near as a gap of 1e-13 promises
    assert trace.intercept == pytest.approx(b, abs=1e-6)


@pytest.mark.parametrize("p", [1, 4])
def test_costs_of_a_class_move_the_intercept_alone(p):
    pos, neg = gaussians()
    lam, trace = pnorm.minimize(pos, neg, p=p, tol=0)
    costly, of_costly = pnorm.minimize(pos, neg, p=p, tol=0, neg_weight=np.full(len(neg), 5.0))
    np.testing.assert_allclose(costly, lam, rtol=0, atol=1e-10)
    assert of_costly.intercept == pytest.approx(trace.intercept - np.log(5) / (p + 1), abs=1e-10)
    expected, b = p_classification(pos, neg, p, c_neg=5.0)
    np.testing.assert_allclose(costly, expected, rtol=0, atol=1e-9)
    assert of_costly.intercept == pytest.approx(b, abs=1e-9)


@pytest.mark.parametrize("p", [1, 4])
def test_a_penalty_has_its_match(p):
    """l2 on log F_p is kappa = l2 / p * F_p ** (1 / (p + 1)) on the objective of P-Classification."""
    pos, neg = gaussians()
    lam, trace = pnorm.minimize(pos, neg, p=p, l2=0.3, tol=0)
    kappa = 0.3 / p * np.exp(trace.log_objective[-1] / (p + 1))
    sides = [np.column_stack([side, np.ones(len(side))]) for side in (pos, neg)]

    def penalised(z):
        u, w = np.exp(-sides[0] @ z), np.exp(p * (sides[1] @ z))
        slope = sides[1].T @ w - sides[0].T @ u
        return u.sum() + w.sum() / p + 0.5 * kappa * z[:-1] @ z[:-1], slope + kappa * np.append(z[:-1], 0.0)

    found = minimize(penalised, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose([*lam, trace.intercept], found, atol=1e-6)
    assert np.abs(lam - pnorm.minimize(pos, neg, p=p)[0]).max() > 1e-3


@each_value()
@pytest.mark.parametrize("p", [1, 1.5, 4, 16])
@pytest.mark.parametrize("eta", [0.01, 0.5, 0.9])
def test_the_price_of_a_small_error(p, eta):
    """Of the expected cost at one row: least at the true logit, with the curvature that the theory page gives."""

    def expected(theta):
        return eta * mpmath.exp(-theta / (1 + p)) + (1 - eta) / p * mpmath.exp(p * theta / (1 + p))

    true = mpmath.log(eta / (1 - eta))
    assert abs(mpmath.diff(expected, true)) < 1e-10
    curvature = eta ** (p / (1 + p)) * (1 - eta) ** (1 / (1 + p)) / (1 + p)
    assert float(mpmath.diff(expected, true, 2)) == pytest.approx(curvature, rel=1e-8)


@pytest.mark.parametrize("p", [1, 1.5, 4, 16])
def test_the_least_cost_is_a_power_of_the_objective(p):
    b = pnorm.intercept(F_POS, F_NEG, p)
    f_p = pnorm.objectives.value(F_POS, F_NEG, pnorm.objectives.Power(p))
    assert np.log(cost(F_POS, F_NEG, b, p)) == pytest.approx(np.log1p(1 / p) + f_p / (p + 1), rel=1e-12)


# The intercept -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 1.5, 4, 16])
@pytest.mark.parametrize("weights", [{}, WEIGHTS])
def test_intercept_is_the_minimiser(p, weights):
    found = minimize_scalar(
        lambda b: cost(F_POS, F_NEG, b, p, *weights.values()), bounds=(-20, 20), options={"xatol": 1e-10}
    )
    assert pnorm.intercept(F_POS, F_NEG, p, **weights) == pytest.approx(found.x, abs=1e-6)


def test_a_weight_counts_copies():
    copies = [np.repeat(f, c.astype(int)) for f, c in zip((F_POS, F_NEG), WEIGHTS.values(), strict=True)]
    assert pnorm.intercept(F_POS, F_NEG, 4, **WEIGHTS) == pytest.approx(pnorm.intercept(*copies, 4), rel=1e-14)


@pytest.mark.parametrize("p", [1e3, 1e8, 1e140])
def test_intercept_at_large_p(p):
    with mpmath.workdps(400):
        log_pos = mpmath.log(mpmath.fsum(mpmath.exp(-mpmath.mpf(f)) for f in 100 * F_POS))
        top = 100 * mpmath.mpf(max(F_NEG))
        log_neg = p * top + mpmath.log(mpmath.fsum(mpmath.exp(p * (100 * mpmath.mpf(f) - top)) for f in F_NEG))
        exact = float((log_pos - log_neg) / (mpmath.mpf(p) + 1))
    assert pnorm.intercept(100 * F_POS, 100 * F_NEG, p) == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, np.nan], [0.0], 1), "f_pos"),
        (([], [0.0], 1), "f_pos"),
        (([1.0], [[0.0]], 1), "f_neg"),
        (([1.0], [0.0], 0.5), "p must be at least 1"),
        (([1e200], [0.0], 1e120), "f_pos or f_neg gives scores that, times p, overflow"),
    ],
)
def test_intercepts_that_are_refused(arguments, message):
    with raises(ValueError, message):
        pnorm.intercept(*arguments)
    for push in ("top", "bottom"):
        with raises(ValueError, "neg_weight is all zero"):
            pnorm.intercept([1.0], [0.0], 1, push=push, neg_weight=[0.0])
    with raises(ValueError, "push must be one of"):
        pnorm.intercept([1.0], [0.0], 1, push="up")


# The trace ---------------------------------------------------------------------------------------------

KINDS = {
    "columns": lambda pos, neg: None,
    "thresholds": lambda pos, neg: pnorm.rankers.quantile_thresholds(pos, neg, 15),
    "both": lambda pos, neg: pnorm.rankers.quantile_thresholds(pos, neg, 5) + pnorm.rankers.columns(3),
}


@each_value()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1, 8])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_trace_has_the_intercept_of_every_round(kind, p, far):
    """In memory and in partitions; far from zero, the solvers move columns there, and multiplied weights their middles."""
    pos, neg = (side + far for side in gaussians(30, 40))
    H = KINDS[kind](pos, neg)
    rng = np.random.default_rng(1)
    weights = {"pos_weight": rng.integers(0, 3, len(pos)) * 1.0, "neg_weight": rng.integers(0, 3, len(neg)) * 1.0}
    runs = [
        pnorm.train(pos, neg, H, p, t_max=120, **weights)[1],
        pnorm.minimize(pos, neg, H, p, l2=0.1, **weights)[1],
        partitions.train(pos, neg, H, p, 5, **weights)[1],
        partitions.minimize(pos, neg, H, p, l2=0.1, **weights)[1],
    ]
    for trace in runs:
        assert trace.intercepts.shape == (trace.n_iter + 1,)
        assert trace.intercept == trace.intercepts[-1]
        for t in {0, 1, trace.n_iter // 2, trace.n_iter}:
            expected = of_scores(pos, neg, H, trace.lam_at(t), p, **weights)
            np.testing.assert_allclose(trace.intercepts[t], expected, rtol=1e-12, atol=1e-12)


def test_steps_in_twice_the_working_precision_keep_the_intercept():
    """A column far from zero, nearly separating: the last points are formed precisely, less a level."""
    pos, neg = np.array([[1.0], [2.0], [3.0]]) + 1e7, np.array([[0.0], [0.5], [0.9]]) + 1e7
    for run in (pnorm.minimize, partitions.minimize):
        lam, trace = run(pos, neg, p=4, l2=1e-9)
        assert trace.intercept == pytest.approx(of_scores(pos, neg, None, lam, 4), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_reverse_push(kind, far):
    pos, neg = (side + far for side in gaussians(30, 40))
    H = KINDS[kind](pos, neg)
    weight = np.random.default_rng(1).integers(0, 3, len(pos)) * 1.0
    runs = [
        pnorm.train(pos, neg, H, 4, t_max=120, push="bottom", pos_weight=weight)[1],
        pnorm.minimize(pos, neg, H, 4, l2=0.1, push="bottom", pos_weight=weight)[1],
    ]
    for trace in runs:
        for t in {0, 1, trace.n_iter}:
            expected = of_scores(pos, neg, H, trace.lam_at(t), 4, push="bottom", pos_weight=weight)
            np.testing.assert_allclose(trace.intercepts[t], expected, rtol=1e-12, atol=1e-12)


def test_reverse_push_exchanges_the_sides():
    cost_of = lambda b: cost(-F_NEG, -F_POS, -b, 4)  # noqa: E731
    found = minimize_scalar(cost_of, bounds=(-20, 20), options={"xatol": 1e-10}).x
    assert pnorm.intercept(F_POS, F_NEG, 4, push="bottom") == pytest.approx(found, abs=1e-6)
    assert abs(found - pnorm.intercept(F_POS, F_NEG, 4)) > 0.1


def test_runs_without_an_intercept():
    pos, neg = gaussians()
    groups = {"pos_group": np.arange(len(pos)) % 3, "neg_group": np.arange(len(neg)) % 3}
    for trace in (
        pnorm.train(pos, neg, t_max=3, **groups)[1],
        pnorm.minimize(pos, neg, **groups)[1],
        pnorm.minimize(pos, neg, pos_grade=1 + np.arange(len(pos)) % 2, neg_grade=np.arange(len(neg)) % 2)[1],
        pnorm.train(pos, neg, t_max=3, loss="logistic")[1],
        pnorm.minimize(pos, neg, price=pnorm.objectives.Exponential(0.1))[1],
    ):
        assert trace.intercept is None
        assert trace.intercepts is None
    lam, trace = pnorm.minimize(pos, neg, **groups)
    with raises(ValueError, "only differences within a group are learned"):
        pnorm.probability(pos, None, lam, 1, trace.intercept)


@pytest.mark.parametrize("far", [0.0, 2.0**20])
def test_on_quasi_separable_data_the_intercept_is_that_of_the_support(far):
    pos, neg = (
        np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]),
        np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]),
    )
    pos, neg = pos + far, neg + far
    lam, trace = pnorm.minimize(pos, neg, p=2)
    assert trace.status == "separable"
    assert np.isfinite(trace.gap)
    of_support = pnorm.diagnostics.separability(pos, neg)
    kept = pos[of_support.support_pos], neg[of_support.support_neg]
    assert 0 < len(kept[0]) < len(pos)
    assert trace.intercept == pytest.approx(of_scores(*kept, None, lam, 2), rel=1e-12)


def test_a_callback_sees_the_intercepts_so_far():
    seen = []
    _, trace = pnorm.train(*gaussians(), p=2, t_max=5, callback=lambda trace: seen.append(trace.intercept))
    np.testing.assert_array_equal(seen, trace.intercepts[1:])


# Probabilities -----------------------------------------------------------------------------------------


def test_probability_is_the_formula():
    X, lam = [[1.0, 2.0], [3.0, 4.0], [-800.0, 0.0], [800.0, 0.0]], [0.5, -1.0]
    expected = [1 / (1 + np.exp(-4.0 * (f + 0.25))) for f in (-1.5, -2.5)]
    found = pnorm.probability(X, None, lam, 3, 0.25)
    np.testing.assert_allclose(found[:2], expected, rtol=1e-14)
    np.testing.assert_array_equal(found[2:], [0.0, 1.0])


@pytest.mark.parametrize(("p", "push"), [(1, "top"), (2, "top"), (4, "top"), (8, "top"), (4, "bottom")])
def test_probabilities_of_a_well_specified_population_are_right(p, push):
    rng = np.random.default_rng(p)
    X = rng.normal(size=(60_000, 5))
    true = 1 / (1 + np.exp(-(X @ [1.0, -0.8, 0.6, 0.0, 0.4] - 1.0)))
    pos, neg = pnorm.split(X, rng.random(len(X)) < true)
    lam, trace = pnorm.minimize(pos, neg, p=p, push=push)
    found = pnorm.probability(X, None, lam, p, trace.intercept)
    assert np.abs(found - true).mean() < 0.02
    np.testing.assert_allclose((1 + p) * lam, [1.0, -0.8, 0.6, 0.0, 0.4], atol=0.1)


def test_a_model_file_keeps_the_intercept(tmp_path):
    pos, neg = gaussians()
    lam, trace = pnorm.train(pos, neg, p=4, t_max=20)
    path = tmp_path / "model.json"
    pnorm.save(path, lam, p=4, intercept=trace.intercept)
    model = pnorm.load(path)
    assert model.intercept == trace.intercept
    np.testing.assert_array_equal(model.probability(pos), pnorm.probability(pos, None, lam, 4, trace.intercept))
    pnorm.save(path, lam, p=4)
    assert pnorm.load(path).intercept is None
    assert "intercept" not in path.read_text()
    with pytest.raises(ValueError, match="intercept is None"):
        pnorm.load(path).probability(pos)
    pnorm.save(path, lam, intercept=1.0)
    with pytest.raises(ValueError, match="was saved without p"):
        pnorm.load(path).probability(pos)
    with raises(TypeError, "intercept must be a real number"):
        pnorm.save(path, lam, intercept="1")
