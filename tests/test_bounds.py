"""Bounds against 50 digits, brute force, exact enumeration, and experiments that know the truth."""

import itertools
import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from repeats import each_value
from scipy.integrate import quad
from scipy.stats import beta, binom, norm

from pnorm import bounds, metrics

HALVES = (0.0, 0.5, 1.0)


# The P-Norm Push --------------------------------------------------------------------------------------


@each_value()
@pytest.mark.parametrize("p", [1, 2.5, 4, 64])
@pytest.mark.parametrize(("epsilon", "sizes", "log_covering"), [
    (0.5, (200, 300), 0.0), (0.1, (10**6, 10**5), 12.5), (3.9, (10**9, 10**9), 400.0), (1e-3, (1, 1), 0.0)])  # fmt: skip
def test_confidence_is_the_printed_formula(p, epsilon, sizes, log_covering):
    with mp.workdps(50):
        e = mp.mpf(epsilon)
        terms = mp.exp(-2 * (e / 4) ** (2 * mp.mpf(p)) * sizes[1]) + mp.exp(-(e**2) * sizes[0] / 8)
        expected = 1 - 2 * mp.exp(log_covering) * terms
    found = bounds.push_confidence(epsilon, 0.1, p, *sizes, log_covering)
    assert found == pytest.approx(float(expected), rel=1e-12)
    assert found.vacuous == (expected <= 0 or epsilon >= 1)


def test_confidence_of_a_class_asks_for_its_covering_at_the_radius():
    asked = []

    def log_covering(radius):
        asked.append(radius)
        return 2.0

    found = bounds.push_confidence(0.4, 0.3, 2, 10**5, 10**5, log_covering)
    assert asked == [pytest.approx(0.4 * 0.3 / 8)]
    assert found == bounds.push_confidence(0.4, 0.3, 2, 10**5, 10**5, 2.0)


def test_nothing_overflows():
    assert bounds.push_confidence(0.1, 0.1, 500, 10, 10, 1e6) == -math.inf
    assert bounds.push_sample_size(0.05, 0.1, 0.1, 500, 1e6) == math.inf
    assert bounds.push_scaling(0.01, 500) == math.inf
    assert bounds.push_epsilon(0.05, 0.1, 500, 10, 10, 1e6).vacuous
    assert 1 < bounds.push_epsilon(1e-300, 0.1, 64, 10**6, 10**6, 1e3) < 5


@pytest.mark.parametrize("p", [1, 2, 4, 64])
@pytest.mark.parametrize("covering", [0.0, 30.0, lambda r: bounds.log_covering_linear(8, 1.0, r)])
def test_epsilon_and_sample_size_invert_the_confidence(p, covering):
    epsilon = bounds.push_epsilon(0.05, 0.2, p, 5000, 20_000, covering)
    assert bounds.push_confidence(epsilon, 0.2, p, 5000, 20_000, covering) >= 0.95 - 1e-15
    assert bounds.push_confidence(epsilon * (1 - 1e-9), 0.2, p, 5000, 20_000, covering) < 0.95
    assert epsilon.vacuous == (epsilon >= 1)
    size = bounds.push_sample_size(0.05, 0.5, 0.2, p, covering)
    if size < 2**50:
        assert bounds.push_confidence(0.5, 0.2, p, size, size, covering) >= 0.95
        assert bounds.push_confidence(0.5, 0.2, p, size - 1, size - 1, covering) < 0.95
    scarce = bounds.push_sample_size(0.05, 0.5, 0.2, p, covering, ratio=0.01)
    assert scarce >= size * (1 - 1e-9)


def test_epsilon_is_on_the_right_side_of_a_jump():
    """Covering numbers are step functions; that of linear functions falls to one ball at its radius."""
    steps = lambda r: 10.0 * math.floor(10 / r)  # noqa: E731
    linear = lambda r: bounds.log_covering_linear(50, 1.0, r)  # noqa: E731
    rng = np.random.default_rng(7)
    for theta in (0.1, 26.050057745190674, *rng.uniform(2, 2000, 50)):
        for covering, size in ((steps, 10**6), (linear, 5000)):
            epsilon = bounds.push_epsilon(0.05, theta, 1, size, size, covering)
            assert bounds.push_confidence(epsilon, theta, 1, size, size, covering) >= 0.95 - 1e-15
            assert bounds.push_confidence(epsilon * (1 - 1e-12), theta, 1, size, size, covering) < 0.95
    assert bounds.push_epsilon(0.05, 0.1, 1, 100, 100, lambda r: 1e15 * r * r) == math.inf
    assert bounds.push_confidence(0.1, 0.1, 1, 100, 100, lambda r: math.inf) == -math.inf


def test_sample_sizes_are_the_least():
    rng = np.random.default_rng(8)
    for _ in range(100):
        delta, epsilon, ratio = 10 ** rng.uniform(-6, -0.5), rng.uniform(0.02, 1), 10 ** rng.uniform(-2, 2)
        arguments = delta, epsilon, 0.1, rng.choice([1, 1.5, 2, 3]), 10 ** rng.uniform(-1, 4)
        size = bounds.push_sample_size(*arguments, ratio=ratio)
        if size <= 2**53:
            for rows, holds in ((size, True), (size - 1, False)):
                sizes = max(1, math.floor(ratio * rows)), rows
                log_failure = math.log(2) + arguments[4] + float(np.logaddexp(
                    -2 * (epsilon / 4) ** (2 * arguments[3]) * sizes[1], -(epsilon**2) / 8 * sizes[0]))  # fmt: skip
                assert (log_failure <= math.log(delta)) == holds or abs(log_failure - math.log(delta)) < 1e-9
        else:
            assert isinstance(size, float)


def test_bounds_move_the_right_way():
    confidence = bounds.push_confidence(0.4, 0.1, 2, 10**5, 10**5, 1.0)
    assert bounds.push_confidence(0.5, 0.1, 2, 10**5, 10**5, 1.0) > confidence
    assert bounds.push_confidence(0.4, 0.1, 3, 10**5, 10**5, 1.0) < confidence
    assert bounds.push_confidence(0.4, 0.1, 2, 10**5, 9 * 10**4, 1.0) < confidence
    assert bounds.push_confidence(0.4, 0.1, 2, 10**5, 10**5, 2.0) < confidence
    epsilons = [bounds.push_epsilon(0.05, 0.1, p, 10**6, 10**6, 0.0) for p in (1, 2, 4, 8)]
    assert np.all(np.diff(epsilons) > 0)


def test_scaling_is_the_ratio_of_sample_sizes_in_the_limit():
    sizes = [bounds.push_sample_size(0.05, 0.5, 0.1, p, 0.0, ratio=1e12) for p in (1, 2)]
    assert sizes[1] / sizes[0] == pytest.approx(bounds.push_scaling(0.5, 2), rel=0.05)
    assert bounds.push_scaling(0.5, 1) == 1.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_covering_number_covers(n):
    """Points of the 1-norm ball that are all epsilon apart are no more than the bound: a packing, and a covering."""
    rng, epsilon = np.random.default_rng(n), 0.35
    kept = np.zeros((1, n))
    for point in rng.laplace(size=(20_000, n)):
        point = point / np.abs(point).sum() * rng.random() ** (1 / n)
        if (np.abs(kept - point).sum(axis=1) > epsilon).all():
            kept = np.vstack([kept, point])
    assert math.log(len(kept)) <= bounds.log_covering_linear(n, 1.0, epsilon)
    # and functions of near coefficients are near: h between 0 and 1
    lam = rng.normal(size=(50, n))
    h = rng.random((200, n))
    apart = np.abs(h @ (lam[:25] - lam[25:]).T).max(axis=0)
    assert (apart <= np.abs(lam[:25] - lam[25:]).sum(axis=1) + 1e-12).all()
    assert bounds.log_covering_linear(n, 1.0, 1.0) == 0.0


def test_the_margin_curve_pays_for_its_choice():
    rng = np.random.default_rng(0)
    f_pos, f_neg = rng.normal(3, 1, 4000), rng.normal(size=50_000)
    thetas = [1.0, 0.2, 0.5]
    covering = lambda r: bounds.log_covering_linear(3, 5.0, r)  # noqa: E731
    curve = bounds.margin_curve(f_pos, f_neg, 1, thetas, delta=0.1, log_covering=covering)
    np.testing.assert_array_equal(curve.thetas, [0.2, 0.5, 1.0])
    for theta, error, epsilon in zip(curve.thetas, curve.error, curve.epsilon, strict=True):
        assert error == metrics.p_norm_risk(f_pos, f_neg, 1, theta)
        assert epsilon == bounds.push_epsilon(0.1 / 3, theta, 1, 4000, 50_000, covering)
    assert np.all(np.diff(curve.error) >= 0)
    assert np.all(np.diff(curve.epsilon) < 0)
    np.testing.assert_array_equal(
        curve.ramp, [metrics.p_norm_risk(f_pos, f_neg, 1, theta, ramp=True) for theta in curve.thetas]
    )
    np.testing.assert_array_equal(curve.bound, curve.ramp + curve.epsilon)
    assert np.all(metrics.p_norm_risk(f_pos, f_neg, 1) < curve.ramp)
    assert np.all(curve.ramp < curve.error)
    i = int(curve.bound.argmin())
    assert (curve.theta, curve.best) == (curve.thetas[i], curve.bound[i])
    assert curve.best.vacuous == (curve.best >= 1)
    assert bounds.margin_curve(f_pos, f_neg, 1, thetas).bound is None


def test_theorem_2_holds_on_draws_from_normals():
    """A single function, whose error on the distribution is an integral: no more failures than delta, with the ramp."""
    delta, theta, p, apart = 0.2, 0.01, 2, 2.0
    truth = quad(lambda x: norm.cdf(x - apart) ** p * norm.pdf(x), -12, 12)[0] ** (1 / p)
    rng, failures = np.random.default_rng(1), 0
    epsilon = bounds.push_epsilon(delta, theta, p, 1000, 1000, 0.0)
    assert not epsilon.vacuous
    for _ in range(200):
        f_pos, f_neg = rng.normal(apart, 1, 1000), rng.normal(size=1000)
        failures += truth > metrics.p_norm_risk(f_pos, f_neg, p, theta, ramp=True) + epsilon
    assert failures / 200 <= delta


def test_theorem_2_holds_for_all_functions_of_a_class_at_once():
    """f = lambda x for |lambda| <= 1 on [0, 1]: the worst over a grid, whose errors are integrals."""
    delta, theta, size = 0.2, 0.1, 3000
    up = quad(lambda x: beta.cdf(x, 3, 2) * beta.pdf(x, 2, 3), 0, 1)[0]  # p = 1: the share of pairs in wrong order
    epsilon = bounds.push_epsilon(delta, theta, 1, size, size, lambda r: bounds.log_covering_linear(1, 1.0, r))
    assert not epsilon.vacuous
    rng, failures = np.random.default_rng(6), 0
    for _ in range(50):
        f_pos, f_neg = rng.beta(3, 2, size), rng.beta(2, 3, size)
        failures += any(
            (up if lam > 0 else 1 - up) > metrics.p_norm_risk(lam * f_pos, lam * f_neg, 1, theta, ramp=True) + epsilon
            for lam in (-1.0, -0.3, 0.1, 0.5, 1.0)
        )
    assert failures / 50 <= delta


# A function fixed before looking ----------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "m", "n"), [(0.1, 500, 500), (0.02, 40, 10**6), (0.3, 3, 7), (1e-9, 10**19, 9)])
def test_held_out_confidences_are_the_printed_formulas(epsilon, m, n):
    with mp.workdps(50):
        e = mp.mpf(epsilon)
        auc = 1 - 2 * mp.exp(-2 * e**2 * m * n / (m + n))  # the squares of 1/m, m times, and of 1/n, n times
        above = (mp.mpf(0.3) ** 3 + mp.sqrt(mp.log(2 / mp.mpf(epsilon)) / (2 * n))) ** (mp.mpf(1) / 3)
        above += mp.sqrt(mp.log(2 / mp.mpf(epsilon)) / (2 * m))
        pushes = [1 - 2 * mp.exp(-2 * (e / 2) ** (2 * p) * n) - 2 * mp.exp(-(e**2) * m / 2) for p in (1, 3, 64)]
    found = bounds.held_out_auc_confidence(epsilon, m, n)
    assert found == pytest.approx(float(auc), rel=1e-12)
    assert found.vacuous == (auc <= 0)
    assert bounds.held_out_push_bound(0.3, epsilon, 3, m, n) == pytest.approx(float(above), rel=1e-13)
    for p, expected in zip((1, 3, 64), pushes, strict=True):
        found = bounds.held_out_push_confidence(epsilon, p, m, n)
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-14)
        assert found.vacuous == (expected <= 0)


def test_held_out_bounds_solved_for_epsilon_and_for_rows():
    """Each solution holds, and anything less does not."""
    auc, push = bounds.held_out_auc_confidence, bounds.held_out_push_confidence
    for delta, m, n in itertools.product((0.3, 0.05, 1e-6), (30, 5000), (70, 10**6)):
        with mp.workdps(50):
            width = mp.sqrt(mp.mpf(m + n) / (2 * m * n) * mp.log(2 / mp.mpf(delta)))
        epsilon = bounds.held_out_auc_epsilon(delta, m, n)
        assert epsilon == pytest.approx(float(width), rel=1e-14)
        assert auc(epsilon * (1 + 1e-12), m, n) >= 1 - delta > auc(epsilon * (1 - 1e-9), m, n)
        for p in (1, 2.5, 8):
            epsilon = bounds.held_out_push_epsilon(delta, p, m, n)
            assert push(epsilon * (1 + 1e-12), p, m, n) >= 1 - delta > push(epsilon * (1 - 1e-9), p, m, n)
            assert epsilon.vacuous == (epsilon >= 1)
        for epsilon, ratio in itertools.product((0.03, 0.2), (1.0, 0.1, 7.0)):
            for size, confidence in (
                (bounds.held_out_auc_sample_size(delta, epsilon, ratio), lambda m, n, e=epsilon: auc(e, m, n)),
                (bounds.held_out_push_sample_size(delta, epsilon, 2, ratio), lambda m, n, e=epsilon: push(e, 2, m, n)),
            ):
                assert confidence(max(1, math.floor(ratio * size)), size) >= 1 - delta
                assert confidence(max(1, math.floor(ratio * (size - 1))), size - 1) < 1 - delta


def test_one_function_needs_less_than_a_class_of_one():
    assert bounds.held_out_auc_epsilon(0.05, 200, 200) == pytest.approx(0.1358, abs=1e-4)
    assert bounds.expected_ranking_accuracy_bound(200, 200, 0.05, 0.0) == pytest.approx(0.592, abs=1e-3)
    assert bounds.held_out_push_sample_size(0.05, 0.2, 4) == 184_443_973
    assert bounds.push_sample_size(0.05, 0.2, 0.1, 4, log_covering=0.0) == 47_217_657_013
    assert bounds.held_out_push_epsilon(0.05, 3, 500, 700) == bounds.push_epsilon(0.05, 0.1, 3, 500, 700, 0.0) / 2
    assert bounds.held_out_auc_sample_size(0.05, 1e-200) == math.inf
    assert bounds.held_out_auc_confidence(1e300, 1, 1).vacuous
    # with as many rows of the other side as one likes, half the width that Hoeffding's inequality has for a coin
    assert bounds.held_out_auc_epsilon(0.1, 50, 10**15) == pytest.approx(math.sqrt(math.log(20) / 100))


@pytest.mark.parametrize("delta", [0.3, 0.05, 0.001])
def test_held_out_bounds_hold_for_coins_exactly_and_not_by_much(delta):
    """Rows of one side fall above or below all of the other: the errors are binomial, and their law is known."""
    rows, many = 400, 10**9
    shares = np.arange(rows + 1) / rows
    law = binom.pmf(np.arange(rows + 1), rows, 0.5)
    auc = np.abs(shares - 0.5)  # negatives at 0, positives at -1 or 1
    epsilon = bounds.held_out_auc_epsilon(delta, rows, many)
    assert law[auc >= epsilon].sum() <= delta < law[auc >= 0.5 * epsilon].sum()
    for share, p in itertools.product((0.5, 0.1, 0.003), (1, 2, 4)):
        law = binom.pmf(np.arange(rows + 1), rows, share)
        for sizes, errors, truth in (
            ((rows, many), shares, share),  # negatives at 0, positives below with this share: the same for all p
            ((many, rows), shares ** (1 / p), share ** (1 / p)),  # positives at 0, negatives above with this share
        ):
            epsilon = bounds.held_out_push_epsilon(delta, p, *sizes)
            assert law[truth - errors >= epsilon].sum() <= delta
            apart = np.abs(truth - errors)
            assert law[apart >= epsilon].sum() <= delta
            if p == 1 and share == 0.5:
                assert law[apart >= 0.25 * epsilon].sum() > delta
            above = np.array([bounds.held_out_push_bound(error, delta, p, *sizes) for error in errors])
            assert law[truth >= above].sum() <= delta
            if share == 0.5:
                assert law[truth >= errors + 0.25 * (above - errors)].sum() > delta


def test_held_out_bounds_hold_on_draws_from_normals():
    """The truth is an integral; tied scores count one half in the AUC and whole in the error."""
    delta, p, apart, rng = 0.2, 2, 1.0, np.random.default_rng(11)
    accuracy = norm.cdf(apart / math.sqrt(2))
    truth = quad(lambda x: norm.cdf(x - apart) ** p * norm.pdf(x), -12, 12)[0] ** (1 / p)
    width, excess = bounds.held_out_auc_epsilon(delta, 40, 60), bounds.held_out_push_epsilon(delta, p, 2000, 9000)
    assert not width.vacuous
    assert not excess.vacuous
    found = [metrics.auc(rng.normal(apart, 1, 40), rng.normal(size=60)) for _ in range(400)]
    assert (np.abs(np.array(found) - accuracy) >= width).mean() <= delta
    assert np.var(found) <= bounds.held_out_auc_variance(40, 60)
    errors = np.array([metrics.p_norm_risk(rng.normal(apart, 1, 2000), rng.normal(size=9000), p) for _ in range(50)])
    assert (truth - errors >= excess).mean() <= delta
    above = np.array([bounds.held_out_push_bound(error, delta, p, 2000, 9000) for error in errors])
    assert (truth >= above).mean() <= delta
    assert (above < errors + excess).all()


def test_the_variance_of_the_auc_is_at_most_its_bound():
    """All lists of m + n rows with scores 0, 1 and 2, each with the probability of its rows."""
    rng = np.random.default_rng(12)
    for m, n in ((1, 3), (3, 3), (4, 2)):
        for chances in (rng.dirichlet([0.3] * 3, 2), [[0.5, 0, 0.5], [0, 1, 0]]):
            first = second = 0.0
            for rows in itertools.product(range(3), repeat=m + n):
                chance = math.prod(chances[int(i >= m)][score] for i, score in enumerate(rows))
                auc = bounds.rank_matrix(rows[:m], rows[m:]).mean()
                first, second = first + chance * auc, second + chance * auc**2
            assert second - first**2 <= (m + n) / (4 * m * n) == bounds.held_out_auc_variance(m, n)
        assert second - first**2 == pytest.approx(1 / (4 * m))  # the coin, to which the bound tends as n grows
    assert [bounds.held_out_auc_variance(m, 10**9).vacuous for m in (1, 2)] == [True, False]


# Rank matrices ----------------------------------------------------------------------------------------


def matrices(m, n):
    for entries in itertools.product(HALVES, repeat=m * n):
        yield np.array(entries).reshape(m, n)


def is_forbidden(a, b, c, d):
    """Theorem 1, part 1: a 2 x 2 matrix that forces a cycle, x above or level with u, u with y, y with v, v with x."""
    if a == b == c == d == 0.5:
        return False
    return (a >= 0.5 >= c and d >= 0.5 >= b) or (a <= 0.5 <= c and d <= 0.5 <= b)


def has_forbidden(B):
    m, n = B.shape
    return any(is_forbidden(B[i, k], B[i, q], B[j, k], B[j, q])
               for i, j in itertools.combinations(range(m), 2) for k, q in itertools.combinations(range(n), 2))  # fmt: skip


def has_cycle(B):
    """Theorem 1, part 2: a directed edge of the mixed graph that lies on a cycle."""
    m, n = B.shape
    reach = np.zeros((m + n, m + n), dtype=bool)
    reach[:m, m:], reach[m:, :m] = B >= 0.5, (B <= 0.5).T
    strict = np.zeros_like(reach)
    strict[:m, m:], strict[m:, :m] = B == 1.0, (B == 0.0).T
    for k in range(m + n):
        reach |= reach[:, k : k + 1] & reach[k : k + 1]
    return bool((strict & reach.T).any())


@pytest.mark.parametrize(
    ("m", "n"),
    [(m, n) for m in range(1, 4) for n in range(m, 8) if m * n <= 7],
)
def test_both_characterisations_and_the_count_agree(m, n):
    count = 0
    for B in matrices(m, n):
        realised = bounds.is_rank_matrix(B)
        assert realised == (not has_forbidden(B)) == (not has_cycle(B))
        count += realised
    assert count == bounds.rank_matrix_count(m, n) == bounds.rank_matrix_count(n, m)


def test_the_forbidden_matrices_are_thirty():
    forbidden = [entries for entries in itertools.product(HALVES, repeat=4) if is_forbidden(*entries)]
    assert len(forbidden) == 30
    assert bounds.rank_matrix_count(2, 2) == 81 - 30


def test_every_list_has_a_rank_matrix():
    rng = np.random.default_rng(2)
    for _ in range(100):
        m, n = rng.integers(1, 12, 2)
        f_pos, f_neg = rng.integers(0, 6, m), rng.integers(0, 6, n)
        B = bounds.rank_matrix(f_pos, f_neg)
        np.testing.assert_array_equal(B, [[(a > b) + 0.5 * (a == b) for b in f_neg] for a in f_pos])
        assert B.mean() == pytest.approx(metrics.auc(f_pos, f_neg))
        assert bounds.is_rank_matrix(B)
        assert not has_cycle(B)
        wrong = B.copy()
        wrong[rng.integers(m), rng.integers(n)] = rng.choice(HALVES)
        assert bounds.is_rank_matrix(wrong) == (not has_cycle(wrong))


def test_counts_that_are_known():
    assert [bounds.rank_matrix_count(1, n) for n in (1, 2, 5)] == [3, 9, 243]
    assert bounds.rank_matrix_count(4, 4) == 155187
    assert bounds.rank_matrix_count(60, 60) > 3**60


# Linear functions -------------------------------------------------------------------------------------


def test_the_bound_on_linear_functions_is_the_least_of_four():
    for d, m, n in itertools.product((2, 3, 5, 9), (1, 2, 3, 6), (1, 3, 4)):
        N = m * n
        faces = sum(math.comb(i, d - k) * math.comb(N, i) for k in range(d + 1) for i in range(d - k, d + 1))
        candidates = [faces, 3**N, bounds.rank_matrix_count(m, n)]
        if d <= N:
            candidates.append((2 * math.e * N / d) ** d)
        assert bounds.rank_shatter_linear(d, m, n) == min(candidates)
    assert bounds.rank_shatter_linear(1, 50, 70) == 3
    assert bounds.rank_shatter_linear(30, 10**5, 10**5) > 10**200
    # the closed form as printed, beyond its range: fewer than the three matrices of one pair
    assert (2 * math.e * 1 / 30) ** 30 < 3 == bounds.rank_shatter_exact([[0] * 29 + [1]], [[0] * 30])


def realised(pos, neg, steps):
    """Rank matrices that a grid of integer weights realises."""
    found = set()
    for w in itertools.product(range(-steps, steps + 1), repeat=pos.shape[1]):
        found.add(bounds.rank_matrix(pos @ np.array(w), neg @ np.array(w)).tobytes())
    return found


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_exact_count_is_what_a_grid_of_weights_finds(d):
    rng = np.random.default_rng(d)
    for _ in range(4 if d < 3 else 1):
        m, n = rng.integers(1, 4), rng.integers(1, 3)
        pos, neg = rng.integers(-2, 3, (m, d)), rng.integers(-2, 3, (n, d))
        exact = bounds.rank_shatter_exact(pos, neg)
        # weights up to 12 separate all directions of differences between -4 and 4 for d <= 2, nearly all for d = 3
        grid = len(realised(pos, neg, {1: 1, 2: 40, 3: 14}[d]))
        assert grid == exact if d < 3 else 0.9 * exact <= grid <= exact
        assert exact <= bounds.rank_shatter_linear(d, int(m), int(n))
        assert exact % 2 == 1  # w and -w, and 0


def test_whole_numbers_that_no_double_tells_apart_are_counted_in_any_form():
    pandas = pytest.importorskip("pandas")
    pos, neg = np.array([[2**53 + 1], [2**53]]), np.array([[2**53]])
    for form in (np.asarray, pandas.DataFrame, np.ndarray.tolist):
        assert bounds.rank_shatter_exact(form(pos), form(neg)) == 3


def test_exact_counts_that_are_known():
    rng = np.random.default_rng(3)
    assert bounds.rank_shatter_exact([[1.0, 2.0]], [[1.0, 2.0]]) == 1
    assert bounds.rank_shatter_exact([[3], [1]], [[2], [0]]) == 3
    assert bounds.rank_shatter_exact(rng.normal(size=(2, 2)), rng.normal(size=(3, 2))) == 1 + 4 * 6
    # enough columns realise every rank matrix
    assert bounds.rank_shatter_exact(rng.normal(size=(2, 4)), rng.normal(size=(2, 4))) == bounds.rank_matrix_count(2, 2)
    # 0.1 + 0.2 is not 0.3: floats are taken for what they are
    assert bounds.rank_shatter_exact([[0.1 + 0.2]], [[0.3]]) == 3


# The area under the curve -----------------------------------------------------------------------------


def test_counts_of_lopsided_and_of_many_rows():
    assert bounds.rank_matrix_count(1, 3000) == 3**3000
    assert bounds.rank_shatter_linear(3, 1, 40_000) == sum(2**i * math.comb(40_000, i) for i in range(4))
    assert bounds.rank_shatter_exact([[2**53 + 1]], [[2**53]]) == 3
    for m, n, d in ((3, 3, 2), (2, 4, 2)):
        rng = np.random.default_rng(m)
        assert bounds.rank_shatter_exact(rng.normal(size=(m, d)), rng.normal(size=(n, d))) == 1 + 4 * m * n


def test_accuracy_bounds_are_the_printed_formulas():
    m, n, delta, log_r = 300, 700, 0.02, 5.5
    ours = bounds.expected_ranking_accuracy_bound(m, n, delta, log_r)
    assert ours == pytest.approx(math.sqrt(8 * (m + n) * (log_r + math.log(4 / delta)) / (m * n)), rel=1e-14)
    # Theorem 2: its right side at this epsilon is delta
    assert 4 * math.exp(log_r - m * n * ours**2 / (8 * (m + n))) == pytest.approx(delta, rel=1e-10)
    assert bounds.random_labels_bound(0.3, 1000, delta, log_r) == pytest.approx(ours, rel=1e-14)
    assert bounds.random_labels_bound(0.0, 1000, delta, log_r) == math.inf
    theirs = 2 * math.sqrt((3 + math.log(12 / delta)) / m) + 2 * math.sqrt((4 + math.log(12 / delta)) / n)
    assert bounds.freund_bound(m, n, delta, 3, 4) == pytest.approx(theirs, rel=1e-14)
    assert bounds.freund_bound(m, n, delta) == bounds.freund_bound(
        m, n, delta, math.log(8 * m + 1), math.log(8 * n + 1)
    )
    assert (ours.vacuous, bounds.expected_ranking_accuracy_bound(5, 5, delta, log_r).vacuous) == (False, True)


@pytest.mark.parametrize("share", [0.5, 0.25, 0.1, 0.01])
def test_the_bound_of_figure_1_is_the_smaller_one_where_it_means_anything(share):
    rows = np.unique(np.geomspace(2 / share, 1e6, 200).astype(int))
    ours, freund = bounds.auc_bounds(rows, share)
    meaningful = np.minimum(ours, freund) < 0.5
    assert meaningful.any()
    assert (ours < freund)[meaningful].all()
    m = round(share * rows[-1])
    assert ours[-1] == bounds.expected_ranking_accuracy_bound(m, int(rows[-1]) - m, 0.01, math.log(3))


@pytest.mark.parametrize("labels", ["fixed", "random"])
def test_auc_bounds_hold_on_draws_from_normals(labels):
    truth, delta = norm.cdf(1 / math.sqrt(2)), 0.3
    rng, failures = np.random.default_rng(4), 0
    for _ in range(200):
        m = 400 if labels == "fixed" else rng.binomial(1000, 0.4)
        apart = abs(metrics.auc(rng.normal(1, 1, m), rng.normal(size=1000 - m)) - truth)
        if labels == "fixed":
            failures += apart >= bounds.expected_ranking_accuracy_bound(400, 600, delta, 0.0)
            assert apart < bounds.freund_bound(400, 600, delta)
        else:
            failures += apart >= bounds.random_labels_bound(m / 1000, 1000, delta, 0.0)
    assert failures / 200 <= delta


def test_the_bound_on_all_linear_functions_of_two_columns_holds():
    """The largest deviation over directions, of which the expected accuracy is known."""
    m, n, delta, apart = 150, 250, 0.3, np.array([1.0, 0.5])
    width = bounds.expected_ranking_accuracy_bound(m, n, delta, math.log(bounds.rank_shatter_linear(2, 2 * m, 2 * n)))
    angles = np.linspace(0, math.pi, 60, endpoint=False)  # w and -w deviate alike
    W = np.array([np.cos(angles), np.sin(angles)])
    truth = norm.cdf(apart @ W / math.sqrt(2))
    rng, failures = np.random.default_rng(9), 0
    for _ in range(60):
        pos, neg = rng.normal(size=(m, 2)) + apart, rng.normal(size=(n, 2))
        found = [metrics.auc(f, g) for f, g in zip((pos @ W).T, (neg @ W).T, strict=True)]
        failures += np.abs(found - truth).max() >= width
    assert failures / 60 <= delta


# Kernels ----------------------------------------------------------------------------------------------


LOSSES = {  # phi, its left derivative, q
    "squared": (lambda u: (1 - u) ** 2, lambda u: -2 * (1 - u), 2),
    "squared_hinge": (lambda u: np.maximum(1 - u, 0) ** 2, lambda u: -2 * np.maximum(1 - u, 0), 2),
    "logistic": (lambda u: np.logaddexp(0, -u), lambda u: -1 / (1 + np.exp(u)), 1),
    "hinge": (lambda u: np.maximum(1 - u, 0), lambda u: -1.0 * (u <= 1), 1),
}


def test_rates_are_those_of_the_theorem_and_its_corollary():
    assert bounds.rate("squared", 0.6, 0.1, 1) == pytest.approx(0.3)
    assert bounds.rate("squared", 0.6, 0.1, 1, beta=0.5) == pytest.approx(0.05)
    assert bounds.rate("squared", 0.6, 0.1, 1 / 0.6) == pytest.approx(0.5)
    assert bounds.rate("hinge", 0.6, 0.1, 1) == bounds.rate("logistic", 0.6, 0.1, 1) == pytest.approx(0.5)
    # Table 1: s = 1 / theta for squares, 1 / (theta + gamma) for the others
    for theta, gamma, fit in ((0.5, 0.1, 0.9), (0.7, 0.2, 0.3)):
        squares = bounds.rate("squared", theta, gamma, 1 / theta, fit)
        assert squares == pytest.approx(min(theta - 3 * gamma, gamma * fit) / theta)
        others = bounds.rate("logistic", theta, gamma, 1 / (theta + gamma), fit)
        assert others == pytest.approx(min(theta - gamma, gamma * fit) / (theta + gamma))
    poor = bounds.rate("squared", 0.2, 0.5, 1)
    assert (poor < 0, poor.vacuous) == (True, True)


@pytest.mark.parametrize("loss", LOSSES)
def test_descent_stays_in_its_ball_and_near_its_limit(loss):
    """Literal descent on pairs drawn from a finite population, whose best function is computed by long descent."""
    kappa = 3.0
    phi, slope, _ = LOSSES[loss]
    rng, lam, theta, delta = np.random.default_rng(5), 0.5, 0.5, 0.05
    x = rng.normal(size=30) + np.repeat([1.0, 0.0], 15)
    G = kappa**2 * np.exp(-((x[:, None] - x) ** 2))
    eta = bounds.step_condition(loss, lam, kappa)
    slope_0 = abs(float(slope(np.float64(0.0))))

    def gradient(c, pos, neg):
        f = G @ c
        D = slope(f[pos][:, None] - f[neg])
        g = np.zeros(30)
        np.add.at(g, pos, D.sum(axis=1) / D.size)
        np.add.at(g, neg, -D.sum(axis=0) / D.size)
        return g

    best = np.zeros(30)
    for t in range(1, 20_000):  # steps that vanish: the hinge has corners
        best = best - eta / math.sqrt(t) * (gradient(best, np.arange(15), np.arange(15, 30)) + lam * best)
    pos, neg = rng.integers(15, size=10), 15 + rng.integers(15, size=10)
    c = np.zeros(30)
    for t in range(1, 200):
        norm_of_f = math.sqrt(max(c @ G @ c, 0.0))
        assert norm_of_f <= 2 * kappa * slope_0 / lam + 1e-9
        apart = (c - best) @ G @ (c - best)
        assert apart <= bounds.sample_error_bound(loss, 10, 10, t, lam, kappa, eta, theta, delta)
        c = c - eta * t**-theta * (gradient(c, pos, neg) + lam * c)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_constants_of_a_loss(loss):
    phi, slope, q = LOSSES[loss]
    for lam, kappa in ((1.0, 1.0), (0.1, 2.0), (3.0, 0.5), (5.0, 1.0)):
        slope_0 = abs(float(slope(np.float64(0.0))))
        u = np.linspace(1e-6, 4 * kappa**2 * slope_0 / lam, 20_001)
        change = max(np.abs((slope(side) - slope(np.float64(0.0))) / side).max() for side in (u, -u))
        largest = 1 / (4 * kappa**2 * change + lam)
        assert bounds.step_condition(loss, lam, kappa) == pytest.approx(largest, rel=2e-3)
        r = 2 * kappa * slope_0 / lam + math.sqrt(2 * float(phi(np.float64(0.0))) / lam)
        ends = np.array([-2 * kappa * r, 2 * kappa * r])
        spread = 4 * np.abs(slope(ends)).max() * kappa * r + 2 * phi(np.float64(0.0))
        spread += phi(ends).max() * math.sqrt(2 * math.log(2 / 0.05))
        found = bounds.sample_deviation_bound(loss, 30, 70, lam, kappa, 0.05)
        assert found == pytest.approx(spread * 100**1.5 / 2100, rel=1e-12)
    grid = np.linspace(-50, 50, 1001)
    assert (np.abs(slope(grid)) <= 2 * (1 + np.abs(grid)) ** (q - 1)).all()


def test_the_sample_error_bound_at_theta_one_and_when_it_says_something():
    loose = bounds.sample_error_bound("logistic", 10, 10, 100, 1.0, 1.0, 0.5, 1.0, 0.05)
    assert loose.vacuous
    tight = bounds.sample_error_bound("logistic", 10**8, 10**8, 10**10, 1.0, 1.0, 0.5, 0.5, 0.05)
    assert not tight.vacuous
    assert 0 < tight < bounds.sample_error_bound("logistic", 10**7, 10**7, 10**10, 1.0, 1.0, 0.5, 0.5, 0.05)
    known = bounds.sample_error_bound("logistic", 10**8, 10**8, 2, 1.0, 1.0, 0.5, 0.5, 0.05, f_lambda_norm=0.0)
    assert known < bounds.sample_error_bound("logistic", 10**8, 10**8, 2, 1.0, 1.0, 0.5, 0.5, 0.05)


# Refusals ---------------------------------------------------------------------------------------------


def test_a_bound_is_a_number_that_knows_what_it_is_worth():
    weak = bounds.push_epsilon(0.05, 0.1, 4, 100, 100, 0.0)
    assert repr(weak).endswith("(vacuous)")
    twin = pickle.loads(pickle.dumps(weak))
    assert (twin, twin.vacuous) == (weak, True)
    assert "vacuous" not in repr(bounds.push_epsilon(0.05, 0.1, 1, 10**6, 10**6, 0.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.push_confidence(0, 0.1, 2, 5, 5, 0.0), "epsilon must be above 0; got 0"),
        (lambda: bounds.push_confidence(0.1, 0, 2, 5, 5, 0.0), "theta must be above 0; got 0"),
        (lambda: bounds.push_confidence(0.1, 0.1, 0.5, 5, 5, 0.0), "p must be at least 1"),
        (lambda: bounds.push_confidence(0.1, 0.1, 2, 0, 5, 0.0), "n_pos must be at least 1; got 0"),
        (lambda: bounds.push_confidence(0.1, 0.1, 2, 5, 5, -1.0), "log_covering must be zero or more"),
        (lambda: bounds.push_epsilon(0, 0.1, 2, 5, 5, 0.0), "delta must be above 0 and below 1; got 0"),
        (lambda: bounds.push_sample_size(0.1, 0.1, 0.1, 2, 0.0, ratio=0), "ratio must be above 0; got 0"),
        (lambda: bounds.held_out_auc_confidence(0, 5, 5), "epsilon must be above 0; got 0"),
        (lambda: bounds.held_out_auc_epsilon(1, 5, 5), "delta must be above 0 and below 1; got 1"),
        (lambda: bounds.held_out_auc_sample_size(0.1, 0.1, -1), "ratio must be above 0; got -1"),
        (lambda: bounds.held_out_auc_variance(5, 0), "n_neg must be at least 1; got 0"),
        (lambda: bounds.held_out_push_bound(1.5, 0.1, 2, 5, 5), "error must be between 0 and 1; got 1.5"),
        (lambda: bounds.held_out_push_confidence(0.1, 0.5, 5, 5), "p must be at least 1"),
        (lambda: bounds.held_out_push_epsilon(2, 1, 5, 5), "delta must be above 0 and below 1; got 2"),
        (lambda: bounds.held_out_push_sample_size(0.1, -1, 1), "epsilon must be above 0; got -1"),
        (lambda: bounds.log_covering_linear(3, -1, 0.1), "radius must be above 0; got -1"),
        (lambda: bounds.margin_curve([1.0], [0.0], 2, [0.0]), "thetas must be one or more margins above 0; got [0.0]"),
        (lambda: bounds.is_rank_matrix([[0.3]]), "B has 0.3 at row 0, column 0; entries must be 0, 1/2 or 1"),
        (lambda: bounds.rank_matrix_count(0, 3), "m must be at least 1; got 0"),
        (lambda: bounds.rank_shatter_exact(np.eye(9), np.eye(9) * 2), "use rank_shatter_linear for a bound"),
        (lambda: bounds.rank_shatter_exact(np.eye(14), np.zeros((1, 14))), "14 pairs in 14 dimensions are too many"),
        (lambda: bounds.rank_shatter_exact(np.ones((50, 2)), np.zeros((50, 2))), "2500 pairs are too many to count exactly"),
        (lambda: bounds.auc_bounds([10], 0.01), "n_rows must give each class at least one row; got 10 rows, 0 of them"),
        (lambda: bounds.sample_error_bound("hinge", 5, 5, 9, 1, 1, 0.1, 0.5, 0.1, f_lambda_norm=50), "must be between 0 and"),
        (lambda: bounds.rank_shatter_exact([[1, 2]], [[1]]), "pos has 2 columns and neg has 1"),
        (lambda: bounds.expected_ranking_accuracy_bound(5, 5, 0.1, -1), "log_shatter must be zero or more"),
        (lambda: bounds.random_labels_bound(1.5, 5, 0.1, 0), "share must be between 0 and 1; got 1.5"),
        (lambda: bounds.freund_bound(5, 5, 1), "delta must be above 0 and below 1; got 1"),
        (lambda: bounds.rate("exponential", 0.5, 0.1, 1), "loss must be one of 'logistic'"),
        (lambda: bounds.rate("logistic", 0.5, 0.6, 1), "gamma must be below (1 - theta) / max(q - 1, 1) = 0.5"),
        (lambda: bounds.step_condition("hinge", 0, 1), "lam must be above 0; got 0"),
        (lambda: bounds.sample_error_bound("squared", 5, 5, 9, 1, 1, 0.5, 0.5, 0.1), "eta1 must be at most"),
        (lambda: bounds.sample_error_bound("hinge", 5, 5, 9, 9, 1, 1 / 9, 1, 0.1), "eta1 * lam must be below 1 for theta = 1"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert message in str(caught.value)
