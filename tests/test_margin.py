"""The widest margin: what `minimize` answers on separable data, and where it goes on from with a small penalty."""

import exact
import mpmath as mp
import numpy as np
import pytest
import scipy.sparse
from facts import tells
from repeats import each_value, trials
from scipy.optimize import nnls

import pnorm
from pnorm._solvers import margin as _margin
from pnorm.objectives._base import Scores
from pnorm.objectives._pnorm import PNorm


def clouds(seed, n_pos=20, n_neg=25, n=4, apart=2.0):
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(apart, 1, (n_pos, n)), rng.normal(-apart, 1, (n_neg, n))
    return pos, neg, rng


def is_widest(lam, pos, neg, g_pos=None, g_neg=None):
    """Whether coefficients have margin one and are a sum of the pairs on the margin: no others are as short.

    The conditions of Karush, Kuhn and Tucker over explicit pairs, in ranges of the columns.
    """
    size = np.ptp(np.concatenate([pos, neg]), axis=0)
    size[size == 0.0] = np.inf
    same = np.ones((len(pos), len(neg)), bool) if g_pos is None else np.equal.outer(g_pos, g_neg)
    pairs = (pos[:, None] - neg)[same] / size
    x = lam * np.where(np.isinf(size), 0.0, size)
    margins = pairs @ x
    on = pairs[margins < 1 + 1e-7]
    _, left = nnls(on.T, x)
    return margins.min() == pytest.approx(1, abs=1e-9) and left < 1e-7 * np.linalg.norm(x)


@pytest.mark.parametrize("seed", trials(10))
def test_it_is_a_sum_of_pairs_on_the_margin(seed):
    pos, neg, rng = clouds(seed, n=[1, 2, 4, 30][seed % 4])
    if seed % 3 == 0:  # ties
        pos, neg = pos.round(), neg.round() - 3
    if seed % 3 == 1:  # columns of all sizes, far from zero, and a constant one
        size, offset = 10.0 ** rng.integers(-6, 7, pos.shape[1]), rng.normal(0, 100, pos.shape[1])
        pos, neg = (np.column_stack([(X + offset) * size, np.ones(len(X))]) for X in (pos, neg))
    lam, trace = pnorm.minimize(pos, neg, p=4)
    assert trace.status == "separable"
    assert is_widest(lam, pos, neg)


def test_narrow_margins_and_starts_of_next_to_none():
    """The margin of the coefficients that Newton's method happens on may be 1e-13, or 1e-56 where weights are extreme."""
    pos, neg = np.array([[0.0, 0], [1, 1]]), np.array([[0.2, 0.199], [0.9, 0.898], [0.5, 0.4985]])
    for more in ({}, {"p": 4}, {"p": 64}, {"pos_weight": [1, 1e6]}, {"method": "lbfgs"}):
        np.testing.assert_allclose(pnorm.minimize(pos, neg, **more)[0], [-1000, 1000], rtol=1e-9)
    pos = np.array([[0.0, 0, 1, 1], [0, 0, 0, 0]])
    neg = np.array([[1.0, 1, 0, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]])
    for method in ("newton", "lbfgs"):
        np.testing.assert_allclose(pnorm.minimize(pos, neg, method=method)[0], [-1, -1, 0, 0], atol=1e-12)
    pos, neg = np.array([[101.0, 100, 101, 101]]), np.array([[0.0, 0, 0, 1], [0, 1, 0, 0]])
    weights = {"pos_weight": [2.2563209406368836e38], "neg_weight": [5.810106857257585e-05, 630696906.1037133]}
    assert is_widest(pnorm.minimize(pos, neg, p=4, **weights)[0], pos, neg)


@pytest.mark.parametrize("seed", trials(8))
def test_groups_on_levels_far_apart(seed):
    rng = np.random.default_rng(seed)
    pos, neg, group = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), np.array([0, 0, 0, 1, 1, 1])
    pos[:, 0] += 3
    pos[3:], neg[3:] = pos[3:] + 50, neg[3:] + 50
    found = [pnorm.minimize(pos, neg, p=p, pos_group=group, neg_group=group) for p in (1, 4)]
    if {trace.status for _, trace in found} == {"separable"}:
        np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-8)
        assert is_widest(found[0][0], pos, neg, group, group)


def test_in_groups_every_group_has_a_threshold_of_its_own():
    pos, neg, rng = clouds(0)
    g_pos, g_neg = rng.integers(0, 3, len(pos)), rng.integers(0, 3, len(neg))
    level = np.array([0.0, 5.0, -9.0])
    pos, neg = pos + level[g_pos, None], neg + level[g_neg, None]
    lam, trace = pnorm.minimize(pos, neg, p=4, pos_group=g_pos, neg_group=g_neg)
    assert trace.status == "separable"
    assert is_widest(lam, pos, neg, g_pos, g_neg)


@pytest.mark.parametrize("most", [3, 200])
def test_rows_join_until_none_falls_short(most, monkeypatch):
    monkeypatch.setattr(_margin, "_MOST", most)
    pos, neg, _ = clouds(1, 300, 250, 30, apart=0.5)
    lam, trace = pnorm.minimize(pos, neg)
    assert trace.status == "separable"
    assert is_widest(lam, pos, neg)


@pytest.mark.parametrize("n", [50, 2100])
def test_sparse_rows_and_more_rankers_than_a_hessian_has_room_for(n):
    rng = np.random.default_rng(2)
    X = scipy.sparse.random_array((40, n), density=0.2, rng=rng, format="csr")
    lam, trace = pnorm.minimize(X[:15], X[15:], p=2, method="lbfgs")
    assert trace.status == "separable"
    assert is_widest(lam, X[:15].toarray(), X[15:].toarray())


def test_weights_copies_orders_powers_methods_and_storages_change_nothing():
    pos, neg, rng = clouds(3, n=6, apart=1.0)
    lam, trace = pnorm.minimize(pos, neg)
    assert trace.status == "separable"
    order = rng.permutation(len(pos))
    for other, _ in [
        pnorm.minimize(pos, neg, p=16),
        pnorm.minimize(pos, neg, pos_weight=rng.uniform(0.1, 9, len(pos))),
        pnorm.minimize(np.repeat(pos, 3, axis=0), neg),
        pnorm.minimize(pos[order], neg[::-1]),
        pnorm.minimize(pos, neg, init=rng.normal(size=6)),
        pnorm.minimize(pos, neg, method="lbfgs"),
        pnorm.minimize(pos, neg, loss="logistic"),
        pnorm.minimize(scipy.sparse.csr_array(pos), scipy.sparse.csr_array(neg)),
    ]:
        np.testing.assert_allclose(other, lam, rtol=1e-9)


def test_other_units_change_nothing_but_units():
    pos, neg, _ = clouds(4)
    lam, _ = pnorm.minimize(pos, neg)
    unit = np.array([1.0, 1e-8, 1e5, 3.0])
    other, _ = pnorm.minimize(pos * unit + 7 * unit, neg * unit + 7 * unit)
    np.testing.assert_allclose(other * unit, lam, rtol=1e-9)


def test_where_least_squares_fails_the_answer_still_separates(monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", fails)
    pos, neg, _ = clouds(5)
    lam, trace = pnorm.minimize(pos, neg)
    assert trace.status == "separable"
    assert (pos @ lam).min() - (neg @ lam).max() == pytest.approx(1)
    assert tells(
        trace.message, "rounding hides which coefficients have the widest margin; rank rows by lam, or pass l2 > 0"
    )
    assert pnorm.minimize(pos, neg, p=8, l2=1e-3)[1].status == "converged"


# With a penalty --------------------------------------------------------------------------------------


@each_value()
@pytest.mark.parametrize("l2", [1e-4, 1e-8, 1e-12, 1e-30])
@pytest.mark.parametrize("p", [1, 8, 64])
def test_a_small_penalty_goes_along_the_margin(p, l2):
    for seed in range(3):
        pos, neg, rng = clouds(seed)
        lam, trace = pnorm.minimize(pos, neg, p=p, l2=l2)
        assert trace.status == "converged"
        assert trace.gap <= 1e-9 + 1e-13 * abs(trace.objective[-1])
        for _ in range(5):
            nearby = lam * (1 + 1e-3 * rng.normal(size=4))
            c = pnorm.diagnostics.certificate(pos, neg, None, p, nearby, l2=l2)
            assert c.objective > trace.objective[-1] - trace.gap


@pytest.mark.parametrize("l2", [1e-6, 1e-13, 1e-30])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gap_is_no_less_than_the_distance_to_the_infimum(l2, weighted):
    """In one column: the infimum in 50 digits."""
    pos, neg, p = [[1.0], [1.25]], [[0.0], [-0.5]], 4
    c = [3.0, 1e-5] if weighted else None
    lam, trace = pnorm.minimize(pos, neg, p=p, l2=l2, pos_weight=c)
    assert trace.status == "converged"
    objective = exact.Objective(pos, neg, p, c_pos=c, l2=l2)
    with mp.workdps(50):
        start = mp.mpf(p) / mp.mpf(l2)
        best = mp.findroot(lambda x: mp.diff(lambda y: objective.value([y]), x), start)
        infimum = objective.value([best])
        assert 0 <= objective.value(lam) - infimum <= trace.gap
        assert trace.objective[-1] - infimum <= trace.gap


def test_the_nearest_points_are_a_proof_for_the_point_before_as_well():
    pos = [
        [1, 1, 0, 2, 3],
        [0, 2, 1, 1, 1],
        [2, 1, 3, 1, 1],
        [3, 3, 3, 1, 1],
        [3, 2, 0, 2, 2],
        [2, 3, 2, 2, 0],
        [3, 1, 1, 0, 0],
    ]
    neg = [[1, 0, 3, 3, 2], [0, 1, 1, 2, 3], [2, 2, 1, 2, 3]]
    trace = pnorm.minimize(pos, neg, p=64, l2=1e-12)[1]
    assert trace.status in ("converged", "stalled")  # the gap is about twice what rounding is
    assert trace.gap < 1e-12 * abs(trace.objective[-1])


def test_nothing_but_the_nearest_points_is_a_proof():
    """The bound is no lower than the infimum whatever the coefficients, and infinite where nothing was found."""
    pos, neg, _ = clouds(6)
    lam, trace = pnorm.minimize(pos, neg, p=8, l2=1e-13)
    for times in (0.5, 0.999, 1.001, 2.0):
        c = pnorm.diagnostics.certificate(pos, neg, None, 8, times * lam, l2=1e-13)
        assert c.objective - c.gap <= trace.objective[-1] + trace.gap


def test_weights_sum_to_one_however_far_apart_scores_are():
    rng = np.random.default_rng(0)
    f = Scores(1e12 + rng.normal(size=100), 1e12 + rng.normal(size=80))
    u, w = np.empty(100), np.empty(80)
    PNorm(8.0, None, None).evaluate(f, u, w)
    assert u.sum() == pytest.approx(1, abs=1e-14)
    assert w.sum() == pytest.approx(1, abs=1e-14)
