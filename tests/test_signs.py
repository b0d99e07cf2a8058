"""Signs of coefficients in training: who may move, where a step ends, and when nothing is left to do."""

from functools import partial

import literal
import numpy as np
import pytest
import scipy.sparse
from facts import raises, tells
from repeats import each_value
from scipy.optimize import minimize
from scipy.special import logsumexp

import pnorm
from pnorm import rankers

SIGNS = np.array([1, -1, 0, 1, 1, -1])


def sides(seed, kind="measured", shape=(40, 6)):
    """Rows of which some columns help against their sign, some only together with others."""
    rng = np.random.default_rng(seed)
    mix = np.eye(6) + 0.6 * rng.normal(size=(6, 6))
    pos, neg = rng.normal(0.3, 1, shape) @ mix, rng.normal(0, 1, (shape[0] + 10, 6)) @ mix
    return (pos, neg) if kind == "measured" else ((pos > 0) * 1.0, (neg > 0) * 1.0)


def kept(lam, signs):
    return (lam * signs >= 0.0).all()


@each_value()
@pytest.mark.parametrize("kind", ["measured", "binary"])
@pytest.mark.parametrize("selection", ["absolute", "signed", "largest"])
def test_training_with_signs_is_figure_1_with_steps_that_end_at_zero(kind, selection):
    ended = 0
    for seed in range(12):
        pos, neg = sides(seed, kind)
        how = {"selection": selection, "signs": SIGNS, "init": SIGNS * [0.3, 0.0, 0.0, 0.0, 0.2, 0.1] * (seed % 2)}
        lam, trace = pnorm.train(pos, neg, None, 3, 60, **how)
        judge = literal.train(pos, neg, 3, 60, **how)
        if selection == "largest":  # as printed, which goes on where the largest edge is zero
            judge = literal.train(pos, neg, 3, trace.n_iter, **how)
            assert (trace.status == "stationary") == (trace.n_iter < 60)
        else:
            assert (trace.status, trace.n_iter) == (judge.status, len(judge.ranker))
        np.testing.assert_array_equal(trace.ranker, judge.ranker)
        np.testing.assert_allclose(lam, judge.lam, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(trace.edge, judge.edge, rtol=1e-8, atol=1e-13)
        np.testing.assert_allclose(trace.z, judge.z, rtol=1e-9)
        np.testing.assert_allclose(trace.log_objective, judge.log_objective, rtol=1e-12)
        stages = np.array([trace.lam_at(t) for t in range(trace.n_iter + 1)])
        assert kept(stages, SIGNS)
        assert (stages[-1] == lam).all()
        ended += int(((stages[1:] == 0.0) & (stages[:-1] != 0.0)).sum())
    assert (ended > 5) == (selection == "absolute")  # the others lower a coefficient rarely, or never


@pytest.mark.parametrize("p", [1.0, 4.0])
def test_the_limit_is_the_minimum_within_the_signs(p):
    pos, neg = sides(3)

    def value(lam):
        f, g = pos @ lam, neg @ lam
        u, w = np.exp(-f - logsumexp(-f)), np.exp(p * g - logsumexp(p * g))
        return p * logsumexp(-f) + logsumexp(p * g), p * (w @ neg - u @ pos)

    bounds = [(0 if sign > 0 else None, 0 if sign < 0 else None) for sign in SIGNS]
    best = minimize(
        value, np.zeros(6), jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10}
    )
    lam, trace = pnorm.train(pos, neg, None, p, 5000, signs=SIGNS, tol=1e-9)
    assert trace.status == "stationary"
    assert tells(trace.message, "above tol = 1e-09 times its range in the direction that its sign allows")
    np.testing.assert_allclose(lam, best.x, atol=1e-5)
    assert (lam == 0.0).any()
    edges = -value(lam)[1] / p
    at_zero, least = (lam == 0.0) & (SIGNS != 0), 1e-9 * np.ptp(np.concatenate([pos, neg]), axis=0) + 1e-14
    assert (np.where(at_zero, edges * SIGNS, np.abs(edges)) <= least).all()
    assert edges[at_zero].any()
    free, _ = pnorm.train(pos, neg, None, p, 5000, tol=1e-9)
    assert not kept(free, SIGNS)


def test_every_way_to_store_the_rows_keeps_the_signs_alike():
    pos, neg = sides(4)
    H = rankers.quantile_thresholds(pos, neg, 6, monotone={0: 1, 1: -1, 4: 1})
    sparse = [scipy.sparse.csc_array(X) for X in (pos, neg)]
    lam, trace = pnorm.train(pos, neg, H, 4, 80)
    assert kept(lam, H.signs)
    assert not kept(pnorm.train(H.evaluate(pos), H.evaluate(neg), None, 4, 80)[0], H.signs)
    for same in (
        pnorm.train(*sparse, H, 4, 80),
        pnorm.train(H.evaluate(pos), H.evaluate(neg), None, 4, 80, signs=H.signs),
        pnorm.train(pos, neg, list(H), 4, 80, signs=H.signs),
        pnorm.train(pos, neg, H, 4, 80, n_threads=2, signs=H.signs),
        pnorm.train(pos, neg, H, 4, 80, pos_group=["a"] * len(pos), neg_group=["a"] * len(neg)),
    ):
        np.testing.assert_array_equal(same[1].ranker, trace.ranker)
        np.testing.assert_allclose(same[0], lam, rtol=1e-9)


def test_partitions_keep_the_signs():
    pytest.importorskip("dask")
    import dask.array

    import pnorm.dask

    pos, neg = sides(5)
    H = rankers.quantile_thresholds(pos, neg, 6, monotone={0: -1, 1: -1, 4: 1}, linear=True)
    cut = [dask.array.from_array(X, chunks=(15, -1)) for X in (pos, neg)]
    for collection, signs in ((H, None), (None, SIGNS)):
        lam, trace = pnorm.train(pos, neg, collection, 4, 40, signs=signs)
        same, again = pnorm.dask.train(*cut, collection, 4, 40, signs=signs)
        np.testing.assert_array_equal(again.ranker, trace.ranker)
        np.testing.assert_allclose(same, lam, rtol=1e-9)
        assert kept(same, H.signs if signs is None else signs)
    lam, trace = pnorm.minimize(pos, neg, H, 4, l2=0.1, tol=1e-12)
    same, again = pnorm.dask.minimize(*cut, H, 4, l2=0.1, tol=1e-12)
    assert max(trace.gap, again.gap) <= 1e-12  # so that each is within sqrt(2 gap / l2) of the minimiser
    np.testing.assert_allclose(same, lam, rtol=0.0, atol=1e-5)
    assert same[["line" in name for name in H.names]].any()


@each_value()
@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_scores_of_monotone_columns_never_fall(push, loss):
    pos, neg = sides(6)
    monotone = {0: 1, 1: -1, 2: 1, 3: -1}
    H = rankers.quantile_thresholds(pos, neg, 9, monotone=monotone) + rankers.columns(6, monotone=monotone)
    lam, _ = pnorm.train(pos, neg, H, 4, 100, push=push, loss=loss)
    rng = np.random.default_rng(0)
    for column, sign in monotone.items():
        grid = np.repeat(3.0 * rng.normal(size=(1, 6)), 200, axis=0)
        grid[:, column] = np.linspace(-9, 9, 200)
        assert (sign * np.diff(pnorm.score(grid, H, lam)) >= -1e-12).all()
    assert np.unique(H.column[lam != 0.0]).size > 3


def test_the_minimum_within_the_signs_of_weak_rankers():
    pos, neg = sides(6)
    monotone = {0: 1, 1: -1, 2: 1, 3: -1}
    H = rankers.quantile_thresholds(pos, neg, 5, monotone=monotone, linear=True)
    lam, trace = pnorm.minimize(pos, neg, H, 4, l2=0.1)
    assert trace.status == "converged"
    assert kept(lam, H.signs)
    assert not kept(pnorm.minimize(H.evaluate(pos), H.evaluate(neg), None, 4, l2=0.1)[0], H.signs)
    same, _ = pnorm.minimize(H.evaluate(pos), H.evaluate(neg), None, 4, l2=0.1, signs=H.signs)
    # Within gaps of 1e-10, each is at most (2 gap / l2)^(1/2) away from the minimiser.
    np.testing.assert_allclose(lam, same, atol=2 * (2 * 1e-10 / 0.1) ** 0.5)
    for of_l2 in pnorm.minimize_path(pos, neg, H, 4, l2=[1.0, 0.1]).lam:
        assert kept(of_l2, H.signs)


def test_a_weak_ranker_that_separates_against_its_sign_does_not_end_a_run():
    rng = np.random.default_rng(7)
    noise = rng.normal(size=(30, 1))
    pos, neg = np.c_[np.full(15, 1.0), noise[:15]], np.c_[np.full(15, 2.0), noise[15:]]
    _, free = pnorm.train(pos, neg, None, 2, 50)
    assert free.status == "separable"
    lam, trace = pnorm.train(pos, neg, None, 2, 50, signs=[1, 0], init=[0.75, 0.0])
    assert trace.step[0] == -0.75
    assert (trace.status, lam[0]) == ("stationary", 0.0)
    assert (trace.ranker[1:] == 1).all()
    lam, trace = pnorm.train(pos, neg, None, 2, 50, signs=[-1, 0])
    assert (trace.status, trace.ranker[-1]) == ("separable", 0)
    np.testing.assert_array_equal(lam, pnorm.train(pos, neg, None, 2, 50)[0])


def test_where_every_edge_points_outward_nothing_moves():
    pos, neg = np.array([[0.0], [1.0], [1.0]]), np.array([[0.0], [0.0], [1.0]])
    for selection in ("absolute", "signed", "largest"):
        lam, trace = pnorm.train(pos, neg, None, 2, 50, signs=[-1], selection=selection)
        assert (trace.status, trace.n_iter, lam.tolist()) == ("stationary", 0, [0.0])
        assert "in the direction that its sign allows" in trace.message


def test_a_run_goes_on_within_its_signs():
    pos, neg = sides(8)
    lam, trace = pnorm.train(pos, neg, None, 4, 40, signs=SIGNS)
    half, first = pnorm.train(pos, neg, None, 4, 20, signs=SIGNS)
    same, _ = pnorm.train(pos, neg, None, 4, 20, signs=SIGNS, init=first)
    np.testing.assert_allclose(same, lam, rtol=1e-9)
    free, unsigned = pnorm.train(pos, neg, None, 4, 40)
    assert not kept(free, SIGNS)
    with raises(ValueError, r"init has the coefficient .* whose sign must be"):
        pnorm.train(pos, neg, None, 4, 20, signs=SIGNS, init=unsigned)


def test_folds_keep_the_signs():
    pos, neg = sides(9)
    recipe = partial(rankers.quantile_thresholds, n_cuts=4, monotone={0: 1, 1: -1})
    for H, signs in ((recipe, None), (None, SIGNS), (recipe(pos, neg), None)):
        found = pnorm.cross_validate(pos, neg, H, p=[1, 4], t_max=20, folds=3, signs=signs)
        for trace in [trace for of_power in found.traces for trace in of_power]:
            lam = trace.lam_at(trace.n_iter)
            if H is None:
                assert kept(lam, SIGNS)
            else:
                of = np.array([{"x0": 1, "x1": -1}.get(name.split()[0], 0) for name in trace.names])
                assert kept(lam, of)
                assert lam[of == 0].min() < 0.0 < lam[of == 0].max()


@pytest.mark.parametrize(
    ("signs", "error", "message"),
    [
        ([1, 0], ValueError, r"signs must have shape \(6,\), one sign per weak ranker"),
        ([1, 0, 0, 2, 0, 0], ValueError, "signs has 2 at position 3; a sign is 1"),
        ([1, 0, 0, np.nan, 0, 0], ValueError, "signs has nan at position 3"),
        (["+"] * 6, TypeError, "signs must hold real numbers"),
        ([-1, 0, 0, 0, 0, 0], ValueError, "signs has -1 for x0, and its own sign is 1"),
    ],
)
def test_signs_that_cannot_be_used(signs, error, message):
    pos, neg = sides(0)
    H = rankers.columns(6, monotone={0: 1})
    for function in (pnorm.train, pnorm.cross_validate):
        with raises(error, message):
            function(pos, neg, H, signs=signs)
