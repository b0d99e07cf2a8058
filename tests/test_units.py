"""Weak rankers times a number: the same run, with coefficients divided by it; the literal algorithm is the judge."""

import literal
import numpy as np
import partitions
import pytest
import scipy.sparse
from repeats import each_value
from scipy.special import softmax

import pnorm
from pnorm._solvers import descent_state

EXACT = [2.0**-40, 2.0**30]
"""Factors that round no output."""
FACTORS = [1e-300, 1e-14, 1e-10, 1e-3, 1e5, 1e8, *EXACT]
RULES = ["absolute", "signed"]

RNG = np.random.default_rng(5)
POS, NEG = RNG.normal(0.3, 1, (40, 5)), RNG.normal(0, 1, (50, 5))
GROUPS = {"pos_group": RNG.integers(0, 3, 40), "neg_group": RNG.integers(0, 3, 50)}
WEIGHTS = {"pos_weight": RNG.uniform(0.2, 3, 40), "neg_weight": RNG.uniform(0.2, 3, 50)}


def halves(X):
    return np.round(2 * X) / 2


def assert_same_path(found, expected, factor):
    (lam, trace), (other, run) = found, expected
    assert (trace.status, trace.n_iter) == (run.status, run.n_iter)
    np.testing.assert_array_equal(trace.ranker, run.ranker)
    if factor in EXACT:
        np.testing.assert_array_equal(trace.log_objective, run.log_objective)
        np.testing.assert_array_equal(lam * factor, other)
    np.testing.assert_allclose(trace.log_objective, run.log_objective, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(lam * factor, other, rtol=1e-8, atol=1e-9)


@each_value()
@pytest.mark.parametrize("selection", RULES)
@pytest.mark.parametrize("kind", ["real", "few values", "weights", "groups"])
@pytest.mark.parametrize("factor", [1.0, 1e-14, 1e-10, 1e-3, 1e5, 1e8])
def test_a_run_ends_where_the_literal_one_does(factor, kind, selection):
    H = [factor * (halves(X) if kind == "few values" else X) for X in (POS, NEG)]
    how = {"weights": WEIGHTS, "groups": GROUPS}.get(kind, {})
    of_judge = {"c_pos": how.get("pos_weight"), "c_neg": how.get("neg_weight")}
    of_judge["groups"] = (how["pos_group"], how["neg_group"]) if kind == "groups" else None
    judge = literal.train(*H, 2, 300, selection, **of_judge)
    lam, trace = pnorm.train(*H, None, 2, 300, selection=selection, **how)
    assert (trace.status, trace.n_iter) == (judge.status, len(judge.ranker)) == ("stationary", trace.n_iter)
    np.testing.assert_array_equal(trace.ranker, judge.ranker)
    np.testing.assert_allclose(lam * factor, judge.lam * factor, rtol=1e-9)
    np.testing.assert_allclose(trace.log_objective, judge.log_objective, rtol=1e-12)


@pytest.mark.parametrize("selection", RULES)
@pytest.mark.parametrize("p", [1, 4])
def test_columns_in_units_of_their_own(p, selection):
    # The largest edge is that of the largest unit. Its rounding is above the edges of the others, and does not count.
    units = np.array([1e-8, 1.0, 1e8, 1e3, 1e-3])
    judge = literal.train(POS * units, NEG * units, p, 500, selection)
    lam, trace = pnorm.train(POS * units, NEG * units, None, p, 500, selection=selection)
    assert trace.status == judge.status == "stationary"
    np.testing.assert_array_equal(trace.ranker, judge.ranker)
    np.testing.assert_allclose(lam, judge.lam, rtol=1e-8)
    _, best = pnorm.minimize(POS, NEG, None, p)
    assert selection == "signed" or trace.log_objective[-1] == pytest.approx(best.log_objective[-1], abs=1e-10)


def thinned(X):
    return scipy.sparse.csc_array(np.where(np.abs(X) > 0.7, X, 0))


CASES = {
    "dense": (np.asarray, pnorm.train, {}),
    "sparse": (thinned, pnorm.train, {}),
    "few values": (halves, pnorm.train, {}),
    "few values in groups": (halves, pnorm.train, GROUPS),
    "callables": (np.asarray, pnorm.train, {"H": [lambda X, j=j: X[:, j] for j in range(5)]}),
    "far from zero": (lambda X: X + 2.0**14, pnorm.train, {}),
    "weights": (np.asarray, pnorm.train, WEIGHTS),
    "groups": (np.asarray, pnorm.train, GROUPS),
    "signs": (np.asarray, pnorm.train, {"signs": [1, -1, 0, 1, -1]}),
    "bottom": (np.asarray, pnorm.train, {"push": "bottom"}),
    "callback": (np.asarray, pnorm.train, {"callback": lambda trace: False}),
    "partitions": (np.asarray, partitions.train, {}),
    "codes in partitions": (halves, partitions.train, {}),
}


@each_value(times=2)
@pytest.mark.parametrize("selection", [*RULES, "largest"])
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("factor", FACTORS)
def test_every_storage_and_objective_takes_the_same_path(kind, factor, selection):
    make, train, how = CASES[kind]
    how = {"p": 2, "t_max": 400, "selection": selection, **how}
    found = train(factor * make(POS), factor * make(NEG), **how)
    expected = train(make(POS), make(NEG), **how)
    assert expected[1].status == "stationary"
    assert_same_path(found, expected, factor)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared"])
@pytest.mark.parametrize("factor", FACTORS[1:])
def test_other_objectives_take_the_same_path(factor, loss):
    how = {"p": 2, "t_max": 400, "loss": loss, "tol": 1e-3}
    expected = pnorm.train(POS, NEG, **how)
    assert expected[1].status == "stationary"
    assert_same_path(pnorm.train(factor * POS, factor * NEG, **how), expected, factor)


@pytest.mark.parametrize("factor", EXACT)
def test_outputs_of_four_bytes(factor):
    sides = [X.astype(np.float32) for X in (POS, NEG)]
    expected = pnorm.train(*sides, None, 2, 400)
    assert_same_path(pnorm.train(*[np.float32(factor) * X for X in sides], None, 2, 400), expected, factor)


@pytest.mark.parametrize("factor", FACTORS)
def test_both_loops_and_a_start(monkeypatch, factor):
    first, _ = pnorm.train(POS, NEG, None, 2, 7)
    for compiled in (descent_state.HeldRows._compiled, lambda *_: None):
        monkeypatch.setattr(descent_state.HeldRows, "_compiled", compiled)
        found = pnorm.train(factor * POS, factor * NEG, None, 2, 400, init=first / factor)
        assert_same_path(found, pnorm.train(POS, NEG, None, 2, 400, init=first), factor)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("p", [1, 4])
def test_a_ranker_that_separates(p, factor):
    pos, neg = POS.copy(), NEG.copy()
    pos[:, 2], neg[:, 2] = 1 + np.abs(pos[:, 2]), -np.abs(neg[:, 2])
    lam, trace = pnorm.train(factor * pos, factor * neg, None, p)
    assert (trace.status, trace.ranker[-1]) == ("separable", 2)
    assert_same_path((lam, trace), pnorm.train(pos, neg, None, p), factor)


@pytest.mark.parametrize("factor", FACTORS)
def test_tol_is_a_share_of_the_range(factor):
    pos, neg = factor * POS, factor * NEG
    least = 1e-3 * np.ptp(np.concatenate([pos, neg]), axis=0)
    lam, trace = pnorm.train(pos, neg, None, 2, 400, tol=1e-3)
    edges = softmax(-(pos @ lam)) @ pos - softmax(2 * (neg @ lam)) @ neg
    assert trace.status == "stationary"
    assert (np.abs(edges) <= least).all()
    assert (np.abs(trace.edge) > least[trace.ranker]).all()


def test_outputs_too_small_for_a_step_are_reported():
    _, trace = pnorm.train(1e-310 * POS, 1e-310 * NEG)
    assert (trace.status, trace.n_iter) == ("stalled", 0)
    assert "is lost in floating point" in trace.message


MINIMA = {
    "free": {},
    "l2": {"l2": 0.1},
    "l1": {"l1": 0.05},
    "both": {"l1": 0.05, "l2": 0.1},
    "signs": {"signs": [1, -1, 0, 1, -1]},
    "shapes": {"l1": 0.01, "l2": 0.01, "penalty": "shapes"},
    "groups": GROUPS,
    "weights": {**WEIGHTS, "l2": 0.1},
    "few columns": {"l2": 0.1, "max_columns": 2},
    "L-BFGS": {"method": "lbfgs"},
    "L-BFGS with signs": {"method": "lbfgs", "signs": [1, -1, 0, 1, -1], "tol": 1e-6},
    "logistic": {"loss": "logistic", "tol": 1e-6},
    "squared hinge": {"loss": "squared_hinge", "tol": 1e-6},
}


def in_units(how, factor):
    """Penalties that are the same for outputs times a factor."""
    if how.get("penalty") == "shapes":
        return how
    powers = {"l1": factor, "l2": factor**2}
    return {name: value * powers.get(name, 1.0) if name in powers else value for name, value in how.items()}


@each_value(times=2)
@pytest.mark.parametrize("kind", MINIMA)
@pytest.mark.parametrize("factor", FACTORS[1:])
def test_minimisers(kind, factor):
    how = MINIMA[kind]
    lam, trace = pnorm.minimize(factor * POS, factor * NEG, None, 2, **in_units(how, factor))
    expected, run = pnorm.minimize(POS, NEG, None, 2, **how)
    assert trace.status == run.status
    assert trace.status in ("converged", "stationary")
    assert abs(trace.n_iter - run.n_iter) <= 1
    assert (trace.gap <= 1e-10) == (run.gap <= 1e-10) == (trace.status == "converged")
    np.testing.assert_allclose(lam * factor, expected, rtol=1e-5, atol=1e-6)
    assert trace.log_objective[-1] == pytest.approx(run.log_objective[-1], rel=1e-12)


@pytest.mark.parametrize("factor", FACTORS[1:])
def test_data_without_a_minimiser(factor):
    touching = np.maximum(POS, 0.3), np.minimum(NEG, 0.3)
    for pos, neg in (POS + 9, NEG), touching:
        lam, trace = pnorm.minimize(factor * pos, factor * neg, None, 2)
        expected, run = pnorm.minimize(pos, neg, None, 2)
        assert trace.status == run.status == "separable"
        assert trace.separation == run.separation
        np.testing.assert_allclose(lam * factor, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("factor", FACTORS[1:])
def test_paths_and_choices(factor):
    H = factor * POS, factor * NEG
    path, expected = pnorm.minimize_path(*H, None, 2), pnorm.minimize_path(POS, NEG, None, 2)
    np.testing.assert_allclose(path.l2 / factor**2, expected.l2, rtol=1e-9)
    np.testing.assert_allclose(path.lam * factor, expected.lam, rtol=1e-6, atol=1e-6)
    for how in ({"t_max": 20}, {"l2": [1.0, 0.01]}):
        own = {name: np.multiply(value, factor**2) if name == "l2" else value for name, value in how.items()}
        found = pnorm.cross_validate(*H, None, [1, 4], **own, folds=2)
        best = pnorm.cross_validate(POS, NEG, None, [1, 4], **how, folds=2)
        assert found.best.p == best.best.p
        np.testing.assert_allclose(found.mean, best.mean, rtol=1e-9)
