"""Hard numerics: finite results and the right status, without a warning (the suite makes those errors)."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from repeats import each_value
from scipy.special import softmax

import pnorm
from pnorm._solvers import building
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.reductions import Rows
from pnorm._storage.dense import Dense
from pnorm.objectives._pnorm import push

POWERS = [1, 4, 64, 1000]


def assert_finite(lam, trace, *statuses):
    assert trace.status in (statuses or ("t_max", "stationary"))
    for array in (lam, trace.step, trace.edge, trace.z, trace.log_objective):
        assert np.isfinite(array).all()
    assert (trace.z >= 0).all()
    falls = np.diff(trace.log_objective)
    assert (falls <= 1e-9 * np.abs(trace.log_objective[1:]) + 1e-12).all()


def overlapping(seed=0, n_pos=50, n_neg=70, n=4):
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1, (n_pos, n)), rng.normal(0, 1, (n_neg, n))


@pytest.mark.parametrize("p", POWERS)
def test_large_p(p):
    pos, neg = overlapping()
    lam, trace = pnorm.train(pos, neg, p=p, t_max=300)
    assert_finite(lam, trace)
    assert trace.log_objective[-1] < trace.log_objective[0]


@pytest.mark.parametrize("p", POWERS)
def test_outputs_of_ten_thousand(p):
    pos, neg = overlapping(1)
    unscaled, trace = pnorm.train(1e4 * pos, 1e4 * neg, p=p, t_max=100)
    assert_finite(unscaled, trace)
    lam, small = pnorm.train(pos, neg, p=p, t_max=100, tol=0)
    rounds = min(trace.n_iter, small.n_iter)
    np.testing.assert_allclose(trace.log_objective[:rounds], small.log_objective[:rounds], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("p", POWERS)
def test_starting_scores_of_ten_thousand(p):
    pos, neg = overlapping(2)
    for init in ([1e4, 0, 0, 0], [-1e4, 5e3, 0, 2e3]):
        lam, trace = pnorm.train(pos, neg, p=p, t_max=400, init=init)
        assert_finite(lam, trace)
        assert trace.log_objective[-1] < trace.log_objective[0] - 1e3


@pytest.mark.parametrize("p", [POWERS[0], POWERS[-1]])
@pytest.mark.parametrize(("n_pos", "n_neg", "n"), [(1, 70, 4), (50, 1, 4), (50, 70, 1), (1, 5, 1), (5, 1, 1)])
def test_few_rows_or_rankers(n_pos, n_neg, n, p):
    for seed in range(10):
        pos, neg = overlapping(seed, n_pos, n_neg, n)
        assert_finite(*pnorm.train(pos, neg, p=p), "t_max", "stationary", "separable")


def test_one_pair():
    lam, trace = pnorm.train([[2.0, 5.0]], [[1.0, 5.5]], p=3)
    assert trace.status == "separable"
    assert pnorm.score([[2.0, 5.0]], None, lam) - pnorm.score([[1.0, 5.5]], None, lam) == pytest.approx([1.0])
    lam, trace = pnorm.train([[2.0]], [[2.0]])
    assert (trace.status, trace.n_iter, *lam) == ("stationary", 0, 0.0)


@pytest.mark.parametrize("constant", [0.0, 1.0, -3e7, 1e12])
def test_a_constant_ranker_is_never_chosen(constant):
    pos, neg = overlapping()
    pos[:, 1] = neg[:, 1] = constant
    lam, trace = pnorm.train(pos, neg, p=4, tol=1e-8)
    assert_finite(lam, trace)
    assert lam[1] == 0
    lam, trace = pnorm.train(pos[:, [1]], neg[:, [1]])
    assert (trace.status, trace.n_iter) == ("stationary", 0)


@pytest.mark.parametrize("p", POWERS)
def test_of_duplicate_and_complementary_rankers_the_first_is_chosen(p):
    pos, neg = overlapping()
    low, high = min(pos.min(), neg.min()), max(pos.max(), neg.max())
    pos, neg = (pos - low) / (high - low), (neg - low) / (high - low)
    lam, trace = pnorm.train(pos, neg, p=p, t_max=50)
    for copies in ([pos, pos], [neg, neg]), ([pos, 1 - pos], [neg, 1 - neg]):
        twice, again = pnorm.train(*(np.concatenate(X, axis=1) for X in copies), p=p, t_max=50)
        np.testing.assert_array_equal(again.ranker, trace.ranker)
        np.testing.assert_allclose(twice, np.concatenate([lam, 0 * lam]), rtol=1e-12)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("sense", [1, -1])
def test_a_ranker_that_separates(sense, p):
    pos, neg = overlapping()
    pos[:, 2], neg[:, 2] = sense * np.linspace(1, 2, len(pos)), sense * np.linspace(-1, 0.75, len(neg))
    for init in (None, [3.0, -2.0, 0.0, 1.0]):
        lam, trace = pnorm.train(pos, neg, p=p, init=init)
        assert_finite(lam, trace, "separable")
        assert trace.ranker[-1] == 2
        assert (pos @ lam).min() - (neg @ lam).max() >= 1 - 1e-12
        f_pos, f_neg = pos @ trace.lam_at(trace.n_iter - 1), neg @ trace.lam_at(trace.n_iter - 1)
        assert trace.step[-1] == pytest.approx(sense * (1 + max(0, f_neg.max() - f_pos.min())) / 0.25, rel=1e-12)
        assert "x2 alone puts every positive above every negative" in trace.message


def test_signed_selection_leaves_a_ranker_that_separates_the_wrong_way():
    pos, neg = overlapping()
    pos[:, 2], neg[:, 2] = -1, 1
    lam, trace = pnorm.train(pos, neg, selection="signed")
    assert trace.status != "separable"
    assert lam[2] == 0


def excess(f_pos, f_neg, limit, p):
    value = p * np.logaddexp.reduce(-f_pos) + np.logaddexp.reduce(p * f_neg)
    return value - limit


@pytest.mark.parametrize("p", [1, 2, 16])
@pytest.mark.parametrize(
    ("h_pos", "h_neg"),
    [
        ([1, 1, 1], [1, 0, 0, 0]),  # 1 on all positives
        ([1, 1, 0], [0, 0, 0, 0]),  # 0 on all negatives
        ([-1, -1, -1], [1, 1, -1, 1]),  # to minus infinity
        ([2, 2.5, 4], [2, 0, 1, -3]),  # touching, with other values on both sides
        ([-2, -2.5, -4], [-2, 0, -1, 3]),
    ],
)
def test_a_step_toward_infinity_leaves_a_millionth(h_pos, h_neg, p):
    pos, neg = np.array(h_pos, float)[:, None], np.array(h_neg, float)[:, None]
    lam, trace = pnorm.train(pos, neg, p=p, t_max=1)
    assert_finite(lam, trace, "t_max")
    sense = np.sign(lam[0])
    level = pos.min() if sense > 0 else pos.max()
    limit = p * np.log((pos == level).sum()) + np.log((neg == level).sum())
    offered, left = excess(0 * pos, 0 * neg, limit, p), excess(pos * lam, neg * lam, limit, p)
    assert left / offered == pytest.approx(1e-6, rel=1e-6)
    assert trace.log_objective[1] == pytest.approx(limit + 1e-6 * offered, rel=1e-12)


@pytest.mark.parametrize("p", POWERS)
def test_a_run_goes_on_past_a_step_toward_infinity(p):
    rng = np.random.default_rng(8)
    pos = np.column_stack([np.ones(40), rng.integers(0, 5, (40, 3))])
    neg = np.column_stack([rng.random(60) < 0.5, rng.integers(-1, 4, (60, 3))])
    lam, trace = pnorm.train(pos, neg, p=p, t_max=100)
    assert_finite(lam, trace, "t_max", "stationary", "separable")
    assert set(trace.ranker) >= {0, 1}


def test_steps_toward_infinity_from_scores_that_leave_no_weight_in_a_double():
    # e^-2000 of the mass lies on the rows that matter
    pos, neg = np.array([[1.0, 0], [1, 2000]]), np.array([[1.0, 0], [0, 2000], [0, 2100]])
    lam, trace = pnorm.train(pos, neg, p=4, init=[0.0, 1.0], t_max=3)
    assert_finite(lam, trace)
    assert trace.log_objective[-1] < trace.log_objective[0] - 1000


def test_a_root_far_out_on_a_plateau():
    # past x = 30 both means are 3 in floating point; the row of weight 1e-200 decides at x = 115
    pos, neg = np.array([[0, 3, 3, 3, 3.0]]).T, np.array([[2, 1, 3, 3, 1.0]]).T
    lam, trace = pnorm.train(pos, neg, t_max=1, pos_weight=[1e-200, 1, 1, 1, 1])
    with mpmath.workdps(60):
        x = mpmath.mpf(float(lam[0]))
        u = [mpmath.mpf("1e-200"), *[mpmath.exp(-3 * x)] * 4]
        w = [mpmath.exp(h * x) for h in (2, 1, 3, 3, 1)]
        mean_pos = mpmath.fdot(u, [0, 3, 3, 3, 3]) / mpmath.fsum(u)
        mean_neg = mpmath.fdot(w, [2, 1, 3, 3, 1]) / mpmath.fsum(w)
        assert abs((3 - mean_pos) / (3 - mean_neg) - 1) < 1e-9  # equation (1), relative to what is left of it
    assert lam[0] == pytest.approx(115.0, abs=0.1)


@each_value()
@pytest.mark.parametrize("offset", [0.0, 1e5, 1e6, -1e6])
@pytest.mark.parametrize("selection", ["absolute", "signed"])
def test_offsets_of_rankers_with_two_values(offset, selection):
    # the rounding of the offset leaves edges where there are none
    rng = np.random.default_rng(9)
    for _ in range(50):
        n_pos, n_neg = rng.integers(1, 6, 2)
        pos, neg = rng.integers(0, 2, (n_pos, 2)) + offset, rng.integers(0, 2, (n_neg, 2)) + offset
        lam, trace = pnorm.train(pos, neg, p=4, selection=selection)
        assert_finite(lam, trace, "t_max", "stationary", "separable", "stalled")
        if selection == "signed":
            assert (trace.step > 0).all()


@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_column_on_a_huge_scale_does_not_hide_the_others(place):
    pos, neg = overlapping(5, 300, 400, 5)
    rng = np.random.default_rng(0)
    milliseconds = 1.7e12 + rng.integers(0, 10**9, 700)
    both = [np.insert(X, place, t, axis=1) for X, t in ((pos, milliseconds[:300]), (neg, milliseconds[300:]))]
    lam, trace = pnorm.train(pos, neg, p=4, t_max=1000)
    wide, again = pnorm.train(*both, p=4, t_max=1000)
    assert again.log_objective[-1] <= trace.log_objective[-1] + 1e-6


@pytest.mark.parametrize("place", [0, 2, 5])
def test_in_every_round_rankers_tie_within_the_rounding_of_the_best_one(place):
    # and not within that of the largest column, which ties with all others that come before the best
    pos, neg = overlapping(5, 60, 80, 5)
    milliseconds = 1.7e12 + np.random.default_rng(0).integers(0, 10**9, 140)
    pos, neg = (np.insert(X, place, t, axis=1) for X, t in ((pos, milliseconds[:60]), (neg, milliseconds[60:])))
    _, trace = pnorm.train(pos, neg, p=4, t_max=24)
    pos, neg = pos - neg.mean(axis=0), neg - neg.mean(axis=0)
    ranges = np.ptp(np.concatenate([pos, neg]), axis=0)
    for t, j in enumerate(trace.ranker):
        lam = trace.lam_at(t)
        merit = np.abs(softmax(-pos @ lam) @ pos - softmax(4 * (neg @ lam)) @ neg)
        assert j == np.argmax(merit >= merit.max() - 1e-10 * ranges[merit.argmax()])
    assert 0 < np.count_nonzero(trace.ranker == place) < trace.n_iter - 5


@pytest.mark.parametrize("start", [0.0, 1e9])
def test_scores_that_come_down_leave_their_rounding_behind(start):
    pos, neg = overlapping()
    problem = building.build(pos, neg, pnorm.rankers.columns(4), push(4))
    lam = np.array([start, 0.0, 0.0, 0.0])
    state = DescentState(problem, lam)
    for step in (1e9 - start, 1.0 - 1e9):
        lam[0] += step
        state.move(0, step)
    f = state._rows.scores()
    np.testing.assert_array_equal(f.pos, pos[:, 0])
    np.testing.assert_array_equal(f.neg, neg[:, 0])


@pytest.mark.parametrize("p", [1, 3, 64])
def test_rows_of_weight_zero_are_absent(p):
    pos, neg = overlapping()
    pos[3], neg[5] = -100, 100  # would rule everything
    c_pos, c_neg = np.ones(len(pos)), np.ones(len(neg))
    c_pos[3] = c_neg[5] = 0
    lam, trace = pnorm.train(pos, neg, p=p, pos_weight=c_pos, neg_weight=c_neg)
    same, again = pnorm.train(np.delete(pos, 3, 0), np.delete(neg, 5, 0), p=p)
    np.testing.assert_array_equal(lam, same)
    np.testing.assert_array_equal(trace.log_objective, again.log_objective)
    # and a row that alone keeps a ranker from separating
    pos, neg = np.array([[1.0], [2.0], [-5.0]]), np.array([[0.0], [0.5]])
    assert pnorm.train(pos, neg)[1].status != "separable"
    assert pnorm.train(pos, neg, pos_weight=[1, 1, 0])[1].status == "separable"


def test_weights_of_any_size():
    pos, neg = overlapping()
    lam, trace = pnorm.train(pos, neg, p=4)
    for scale in (1e-300, 1e300):
        again, other = pnorm.train(pos, neg, p=4, pos_weight=np.full(len(pos), scale))
        np.testing.assert_allclose(again, lam, rtol=1e-9)
        np.testing.assert_allclose(other.log_objective - 4 * np.log(scale), trace.log_objective, atol=1e-9)


@each_value()
@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize(("seed", "t_max"), [(1, 3000), (4, 1000), (6, 400)])
def test_rankers_that_separate_only_together_end_in_finite_numbers(seed, t_max, p):
    # the scores grow without bound, for two of the seeds by a factor per round: to 1e6 and 1e110
    pos, neg = overlapping(seed, 1, 70, 4)
    lam, trace = pnorm.train(pos, neg, p=p, t_max=t_max)
    assert_finite(lam, trace, "t_max")
    assert np.ptp(neg @ lam) * p > {1: 100, 4: 1e6, 6: 1e110}[seed]
    assert (pos @ lam).min() > (neg @ lam).max()
    assert "the scores put every positive above every negative" in trace.message
    assert trace.log_objective[-1] < 0


def test_a_gap_too_small_to_step_over_is_none():
    lam, trace = pnorm.train([[5e-324], [1.0]], [[0.0]])
    expected, other = pnorm.train([[0.0], [1.0]], [[0.0]])
    np.testing.assert_array_equal(lam, expected)
    assert (trace.status, trace.message) == (other.status, other.message)


def test_edges_of_which_no_share_can_be_told():
    # 1e-10 of the best is zero: it ties with itself
    _, trace = pnorm.train([[1.0, 0.0], [1.0, 1e-320]], [[1.0, 0.0], [1.0, 0.0], [1.0, 1e-320]], tol=0)
    assert trace.status == "stalled"
    assert "along x1" in trace.message


def test_an_edge_that_rounding_hides_stalls():
    pos, neg = overlapping(n=1)
    lam, trace = pnorm.train(pos, neg, tol=0, t_max=10_000)
    assert trace.status in ("stalled", "stationary")
    assert trace.n_iter < 100
    assert np.isfinite(lam).all()


@pytest.mark.parametrize("offset", [0, 1e3, 1e6])
def test_an_offset_of_a_ranker_changes_nothing(offset):
    pos, neg = overlapping()
    lam, trace = pnorm.train(pos, neg, p=8, t_max=60)
    shifted, again = pnorm.train(pos + offset, neg + offset, p=8, t_max=60)
    rounds = 15  # later edges are near the rounding of the largest offset
    np.testing.assert_array_equal(again.ranker[:rounds], trace.ranker[:rounds])
    np.testing.assert_allclose(again.step[:rounds], trace.step[:rounds], atol=1e-8)
    np.testing.assert_allclose(again.log_objective[:rounds], trace.log_objective[:rounds], rtol=1e-9)


def test_precise_scores_keep_the_digits_of_differences():
    rng = np.random.default_rng(0)
    sides, lam = [1e8 + rng.normal(size=(9, 3)) for _ in range(2)], rng.normal(size=3)
    exact = [[sum(map(Fraction.__mul__, map(Fraction, row), map(Fraction, lam))) for row in A.tolist()] for A in sides]
    differences = [[float(a - b) for b in exact[1]] for a in exact[0]]
    f = building.build(*sides, pnorm.rankers.columns(3), push(2)).point(lam, precise=True).f
    level = 1e8 * lam.sum()
    of_parts = [Rows("pos", 9, Dense(A)).scores(lam, level) for A in sides]
    for pos, neg in ((f.pos, f.neg), of_parts):
        np.testing.assert_allclose(np.subtract.outer(pos, neg), differences, rtol=1e-14, atol=1e-14)
