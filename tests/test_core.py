"""The kernels against 50-digit arithmetic and plain NumPy."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import pnorm
from pnorm._core import _tilt
from pnorm.objectives._pnorm_line import Direction, Line, Side, over_blocks


def solve(f_pos, h_pos, u, f_neg, h_neg, w, p, sign):
    """The step along h, and how often its slope was evaluated."""
    pos, neg = Side(f_pos, h_pos, None, u, -1.0), Side(f_neg, h_neg, None, w, p)
    ends = [x for h in (h_pos, h_neg) for x in (h.min(), h.max())]
    line = Line(
        p,
        over_blocks((pos, neg)),
        Direction(h_pos, h_neg, *ends, ends[0] - ends[3], ends[2] - ends[1], False, 0.0),
        sign,
    )
    calls = []
    slope = line._slope
    line._slope = lambda x: calls.append(x) or slope(x)
    return line.step(), len(calls)


def side(rng, size, spread=1.0, weighted=True):
    f, h = spread * rng.normal(size=size), rng.normal(size=size)
    return f, h, np.log(rng.uniform(0.1, 3, size)) if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [0.0, 1.0, 1e4])
@pytest.mark.parametrize("size", [1, 2, 3, 255, 256, 257, 1000])
def test_log_sum_and_weights(size, spread, weighted):
    rng = np.random.default_rng(size)
    f, _, log_c = side(rng, size, spread, weighted)
    for scale in (-1.0, 1.0, 64.0):
        exponents = scale * f + (log_c if weighted else 0.0)
        weights = np.empty(size)
        top, total = _tilt.weigh(f, log_c, weights, scale, 0, size)
        assert top == exponents.max()
        assert top + math.log(total) == pytest.approx(logsumexp(exponents), rel=1e-14, abs=1e-13)
        assert _tilt.log_sum(f, log_c, scale, 0, size) == (top, pytest.approx(total, rel=1e-14))
        assert weights.sum() == pytest.approx(total, rel=1e-14)
        np.testing.assert_allclose(weights / total, softmax(exponents), rtol=1e-12, atol=1e-260)


def test_some_rows_only():
    rng = np.random.default_rng(0)
    f, h, log_c = side(rng, 700)
    weights = np.full(700, 7.0)
    top, total = _tilt.weigh(f, log_c, weights, 2.0, 100, 600)
    assert top + math.log(total) == pytest.approx(logsumexp((2.0 * f + log_c)[100:600]), rel=1e-14)
    _tilt.rescale_rows(weights, 0.5, 100, 600)
    assert weights[100:600].sum() == pytest.approx(total / 2)
    assert (weights[:100] == 7.0).all()
    assert (weights[600:] == 7.0).all()
    moved = f.copy()
    _tilt.advance(moved, h, 0.3, 100, 600)
    np.testing.assert_allclose(moved, np.where((np.arange(700) >= 100) & (np.arange(700) < 600), f + 0.3 * h, f))


def test_blocks_merge_to_the_whole():
    rng = np.random.default_rng(1)
    f, h, log_c = side(rng, 1000, 20.0)
    ends = [0, 10, 300, 999, 1000]
    parts = [_tilt.tilted(f, h, log_c, -1.0, 0.4, *rows) for rows in itertools.pairwise(ends)]
    whole = _tilt.tilted(f, h, log_c, -1.0, 0.4, 0, 1000)
    assert _tilt.cumulants(parts) == pytest.approx(_tilt.cumulants([whole]), rel=1e-12)
    omega = softmax(-(f + 0.4 * h) + log_c)
    mean = omega @ h
    centred = [omega @ (h - mean) ** k for k in (2, 3)]
    assert _tilt.cumulants(parts)[:3] == pytest.approx((mean, *centred), rel=1e-9)
    assert _tilt.cumulants(parts)[3] == h[np.argmax(omega)]


def test_a_million_rows_sum_like_fifty_digits():
    f = np.random.default_rng(0).normal(size=10**6)
    exact = math.fsum(np.exp(f))
    top, total = _tilt.log_sum(f, None, 1.0, 0, f.size)
    assert top + math.log(total) == pytest.approx(math.log(exact), rel=1e-15)


@pytest.mark.parametrize("size", [1, 5, 300])
def test_sums_at_a_level_and_off_it(size):
    rng = np.random.default_rng(size)
    f, _, log_c = side(rng, size, 100.0)
    h = rng.integers(0, 3, size).astype(float)
    exponents = -(f + 0.7 * h) + log_c
    for level in (0.0, 1.0, 7.0):
        parts = [_tilt.split(f, h, log_c, -1.0, 0.7, level, *rows) for rows in ((0, size // 2), (size // 2, size))]
        at, off = (_tilt.merged(kind) for kind in zip(*parts, strict=True))
        for rows, (top, sums) in ((h == level, at), (h != level, off)):
            if not rows.any():
                assert top == -math.inf
                assert not any(sums)
                continue
            assert top == exponents[rows].max()
            powers = [(np.exp(exponents[rows] - top) * (h[rows] - level) ** k).sum() for k in range(len(sums))]
            assert sums == pytest.approx(powers, rel=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_by_group(weighted):
    rng = np.random.default_rng(4)
    f, h, log_c = side(rng, 600, 30.0, weighted)
    codes = np.r_[np.arange(7), rng.integers(0, 7, 593)]
    weights, log_sums, level = np.empty(600), np.empty(7), np.empty(7)
    tops, sums = np.empty((7, 2)), np.empty((7, 5))
    h = np.round(2 * h)
    _tilt.weigh_by_group(f, log_c, codes, 3.0, weights, log_sums, np.empty(7))
    _tilt.heaviest_by_group(f, h, log_c, codes, 3.0, -0.2, np.empty(7), level)
    _tilt.split_by_group(f, h, log_c, codes, 3.0, -0.2, level, tops, sums)
    for g in range(7):
        own = codes == g
        exponents = 3.0 * f[own] + (log_c[own] if weighted else 0.0)
        assert log_sums[g] == pytest.approx(logsumexp(exponents), rel=1e-14)
        np.testing.assert_allclose(weights[own], softmax(exponents), rtol=1e-12, atol=1e-250)
        exponents -= 0.6 * h[own]
        assert level[g] == h[own][exponents.argmax()]
        y = h[own] - level[g]
        at, off = y == 0, y != 0
        assert tops[g] == pytest.approx([exponents[at].max(), exponents[off].max()], rel=1e-14)
        assert sums[g, 0] == pytest.approx(np.exp(exponents[at] - tops[g, 0]).sum(), rel=1e-12)
        powers = [(np.exp(exponents[off] - tops[g, 1]) * y[off] ** k).sum() for k in range(4)]
        np.testing.assert_allclose(sums[g, 1:], powers, rtol=1e-12)


def exact_root(f_pos, h_pos, f_neg, h_neg, p, digits=50):
    """Equation (1) in many digits, by bisection."""
    with mpmath.workdps(digits):
        f_pos, h_pos, f_neg, h_neg = ([mpmath.mpf(float(x)) for x in v] for v in (f_pos, h_pos, f_neg, h_neg))

        def mean(f, h, scale, alpha):
            top = max(scale * (x + alpha * y) for x, y in zip(f, h, strict=True))
            weights = [mpmath.exp(scale * (x + alpha * y) - top) for x, y in zip(f, h, strict=True)]
            return mpmath.fdot(weights, h) / mpmath.fsum(weights)

        def g(alpha):
            return mean(f_neg, h_neg, p, alpha) - mean(f_pos, h_pos, -1, alpha)

        sign = 1 if g(0) < 0 else -1
        lo, hi = mpmath.mpf(0), mpmath.mpf(1)
        while sign * g(sign * hi) < 0:
            hi *= 2
        for _ in range(120):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if sign * g(sign * middle) < 0 else (lo, middle)
        return float(sign * hi)


@pytest.mark.parametrize("p", [1.0, 1.5, 4.0, 64.0, 1000.0])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1000.0])
def test_the_step_solves_equation_1(spread, p):
    rng = np.random.default_rng([int(spread), int(p)])
    for _ in range(3):
        (f_pos, h_pos, _), (f_neg, h_neg, _) = side(rng, 12, spread), side(rng, 15, spread)
        u, w = softmax(-f_pos), softmax(p * f_neg)
        sign = float(np.sign(u @ h_pos - w @ h_neg))
        alpha, evaluations = solve(f_pos, h_pos, u, f_neg, h_neg, w, p, sign)
        assert alpha == pytest.approx(exact_root(f_pos, h_pos, f_neg, h_neg, p), rel=1e-10 * max(1, spread))
        assert evaluations <= (8 if p * max(spread, 1.0) <= 4 else 50)


def test_the_last_step_to_a_root_leaves_nothing_but_rounding():
    # a logistic function and its derivatives, in 40 digits: no error but that of the search
    def logistic(start):
        def evaluate(x):
            s = 1 / (1 + mpmath.exp(-start - x))
            return float(s - mpmath.mpf(7) / 10), float(s * (1 - s)), float(s * (1 - s) * (1 - 2 * s))

        return evaluate

    with mpmath.workdps(40):
        for start in map(mpmath.mpf, np.linspace(-40, 0.8, 200).tolist()):
            evaluate, root = logistic(start), mpmath.log(mpmath.mpf(7) / 3) - start
            x, evaluations = _tilt.find_root(evaluate, 1.0, *evaluate(mpmath.mpf(0)))
            assert abs(x - root) <= 2**-53 * (1 + root)
            assert evaluations <= 8


def test_a_search_ends_where_all_weight_has_underflowed():
    assert _tilt.find_root(lambda x: (0.0, 0.0, 0.0), 1.0, -1.0, 1.0, 0.0) == (1.0, 2)


def test_the_step_needs_few_evaluations_where_scores_are_moderate():
    rng = np.random.default_rng(3)
    counts = []
    for p in (1.0, 2.0, 4.0, 8.0, 16.0, 64.0):
        for _ in range(20):
            f_pos, f_neg = 2 / p * rng.normal(size=500), 2 / p * rng.normal(size=500)
            h_pos, h_neg = rng.random(500), rng.random(500) ** 1.2
            u, w = softmax(-f_pos), softmax(p * f_neg)
            sign = float(np.sign(u @ h_pos - w @ h_neg))
            counts.append(solve(f_pos, h_pos, u, f_neg, h_neg, w, p, sign)[1])
    assert np.mean(counts) <= 4
    assert max(counts) <= 8


def test_no_step_where_the_edge_has_the_other_sign():
    f, h = np.zeros(3), np.array([0.0, 1.0, 2.0])
    even = np.full(3, 1 / 3)
    assert solve(f, h, even, f, np.array([1.0, 2.0, 2.5]), even, 1.0, 1.0) == (0.0, 0)


def test_exp_is_within_two_units_in_the_last_place():
    # below 0, where sums take it; at -600 it stays
    x = np.concatenate([np.linspace(-599, 0, 4001), -np.logspace(-20, 2.7, 2000), [0.0, -0.0]])
    got = x.copy()
    _tilt.exp_below(got, 0.0)
    with mpmath.workdps(40):
        for value, e in zip(x, got, strict=True):
            exact = mpmath.exp(mpmath.mpf(float(value)))
            assert abs(float((mpmath.mpf(float(e)) - exact) / exact)) <= 2 * 2.0**-53
    far = np.array([-600.0, -601.0, -1e6, -1e300])
    _tilt.exp_below(far, 0.0)
    assert (far == far[0]).all()
    assert far[0] == pytest.approx(np.exp(-600.0))


def test_a_far_root_is_reached_in_steps_that_grow():
    # scores of 1e4 and three levels: g falls by 1 / e per unit over ten thousand units
    f_pos, h_pos = np.array([-6885.6, -1914.1, 1442.6, 8521.4, 17533.8]), np.array([-1.0, -1, 0, 0, 1])
    f_neg, h_neg = np.array([15239.4, 6658.9, 4695.7, -10338.7, -15246.9]), np.array([0.0, 0, -1, 0, -1])
    u, w = softmax(-f_pos), softmax(64 * f_neg)
    alpha, evaluations = solve(f_pos, h_pos, u, f_neg, h_neg, w, 64.0, -1.0)
    assert evaluations < 60
    assert alpha == pytest.approx(exact_root(f_pos, h_pos, f_neg, h_neg, 64, digits=2000), rel=1e-12)


@pytest.mark.parametrize("p", [1.0, 4.0, 64.0])
def test_the_step_of_groups_far_out_on_plateaus(p):
    # scores of hundreds: nearly all weight of a group lies at one level, and other groups have next to none
    rng = np.random.default_rng(int(p))
    compared = 0
    for _ in range(40):
        A, B = rng.integers(0, 3, (7, 3)).astype(float), rng.integers(0, 3, (8, 3)).astype(float)
        groups = np.r_[0, 1, rng.integers(0, 2, 5)], np.r_[0, 1, rng.integers(0, 2, 6)]
        init = np.round(300 * rng.normal(size=3), 1)
        lam, trace = pnorm.train(A, B, None, p, 1, init=init, pos_group=groups[0], neg_group=groups[1])
        if trace.n_iter == 0:
            continue
        j, sign = int(trace.ranker[0]), float(np.sign(trace.step[0]))
        gap = min(sign * (a - b) for a, g in zip(A[:, j], groups[0], strict=True) for b, k in zip(B[:, j], groups[1], strict=True) if g == k)  # fmt: skip
        if gap >= 0:
            continue
        compared += 1
        assert trace.step[0] == pytest.approx(exact_root_of_groups(A, B, groups, init, j, sign, p), rel=1e-8)
    assert compared > 10


def exact_root_of_groups(A, B, groups, init, j, sign, p):
    """Where the slope of log F_p vanishes, in 50 digits, by bisection."""
    with mpmath.workdps(50):
        f_pos, f_neg = ([mpmath.mpf(float(x)) for x in Z @ init] for Z in (A, B))

        def slope(x):
            total = mpmath.mpf(0)
            for g in range(2):
                u = [
                    (mpmath.exp(-f - sign * x * h), h)
                    for f, h, k in zip(f_pos, A[:, j], groups[0], strict=True)
                    if k == g
                ]
                w = [
                    (mpmath.exp(p * (f + sign * x * h)), h)
                    for f, h, k in zip(f_neg, B[:, j], groups[1], strict=True)
                    if k == g
                ]
                # pair by pair: a difference of two means would need thousands of digits
                pairs = mpmath.fsum(a * b * (k - h) for a, h in u for b, k in w)
                total += mpmath.fsum(e for e, _ in u) ** (p - 1) * pairs
            return sign * total

        lo, hi = mpmath.mpf(0), mpmath.mpf(1)
        while slope(hi) < 0:
            hi *= 2
        for _ in range(100):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if slope(middle) < 0 else (lo, middle)
        return float(sign * hi)
