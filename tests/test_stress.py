"""Numerics under stress: 50 digits judge every number of a run, for p to 1000 and scores to 1e5."""

import itertools
import math
from fractions import Fraction

import exact
import literal
import mpmath as mp
import numpy as np
import pytest
import scipy.sparse
from facts import raises
from family import LOSSES, ours, value_and_weights
from repeats import TRIALS, each_value

import pnorm
from pnorm import bounds, kernel, listwise, metrics, objectives
from pnorm.diagnostics import certificate, separability

EPS = 2.0**-52
POWERS = [1, 1.5, 2, 4, 16, 100, 1000]
RANGES = [1e-8, 1.0, 1e2, 1e4, 1e5]

# Why the tolerances are what they are. The inputs of the judge are the same doubles, so that all there is to allow for is
# what pnorm rounds. Scores of terms of size s are off by some EPS s, hence exponents by EPS p s, and a relative change of
# the weights by x changes log F_p by p x at most, an edge by x times the largest output. With the logarithms of sums and
# of case weights, this makes the units
#
#     EPS (|log F| + p (s + 3))  of log F_p,        EPS (p (s + 3) + 3) max|h|  of an edge,
#
# likewise of the weights, of z, and of the edge that is left after a step, zero by equation (1). s is the largest that it
# was since the scores last came down 16 times, after which they are formed anew. The largest errors that were seen in
# 4,000 rounds are 4.5 units of log F_p, 1.5 of an edge, 2.4 of a step and 4.7 of z; 10 are allowed: a digit more would show.
UNITS = 10


def off(found, expected):
    """How far a double is from 50 digits."""
    return float(abs(mp.mpf(float(found)) - expected))


def drawn(storage, rng, n_pos=7, n_neg=8, n=3):
    """Rows, weak rankers, and their outputs as doubles."""
    H, sides = None, (rng.normal(0.3, 1, (n_pos, n)), rng.normal(0, 1, (n_neg, n)))
    if storage == "few values":
        sides = tuple(0.75 * rng.integers(0, 4, X.shape) - 1 for X in sides)
    elif storage == "float32":
        sides = tuple(X.astype(np.float32) for X in sides)
    elif storage == "sparse":
        sides = tuple(scipy.sparse.csc_array(X * (rng.random(X.shape) < 0.7)) for X in sides)
    elif storage == "thresholds":
        H = pnorm.rankers.thresholds({0: [-0.5, 0.4], 1: [0.0], 2: [-0.3, 0.2, 0.9]})
    dense = (X.toarray() if scipy.sparse.issparse(X) else X if H is None else H.evaluate(X) for X in sides)
    return *sides, H, *(np.asarray(X, float) for X in dense)


def cases(extra, rng, n_pos, n_neg):
    """Weights or groups, as pnorm and as the judge call them."""
    given = {}
    if extra == "weights":
        given = {"pos_weight": rng.choice([0.25, 1, 3], n_pos), "neg_weight": rng.choice([1e-3, 1, 2], n_neg)}
    elif extra == "groups":
        given = {"pos_group": np.r_[0, 1, rng.integers(0, 2, n_pos - 2)]}
        given |= {"neg_group": np.r_[0, 1, rng.integers(0, 2, n_neg - 2)]}
    names = {"pos_weight": "c_pos", "neg_weight": "c_neg", "pos_group": "g_pos", "neg_group": "g_neg"}
    return given, {names[key]: value for key, value in given.items()}


# Objective, weights, edges, steps


@each_value(times=3)
@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("extra", ["", "weights", "groups"])
@pytest.mark.parametrize("apart", RANGES)
def test_the_objective_and_the_weights_of_rows(apart, extra, p):
    rng = np.random.default_rng([int(2 * p), int(apart)])
    f_pos, f_neg = apart * (rng.random(7) + 0.1), apart * rng.random(8)
    given, known = cases(extra, rng, 7, 8)
    for offset in (0.0, 1e8 * apart):  # far from zero, the differences of the doubles as they are
        scores = f_pos + offset, f_neg + offset
        expected = exact.Objective(scores[0][:, None], scores[1][:, None], p, **known).weights([1.0])
        log_r, A, B = objectives.value_and_weights(*scores, objectives.Power(p), **given)
        size = EPS * (abs(float(expected[0])) + p * (apart + 3))
        for value in (log_r, objectives.value(*scores, objectives.Power(p), **given)):
            assert off(value, expected[0]) <= UNITS * size
            assert off(value, expected[0]) <= 1e-12 * max(1.0, abs(expected[0]))
        for found, of_side in ((A, expected[1]), (B, expected[2])):
            for weight, share in zip(found, of_side, strict=True):
                # below e^-600 a weight is nothing, and stays there
                assert off(weight, p * share) <= UNITS * EPS * (p * (apart + 3) + 3) * p * share + 1e-250


@each_value(times=3)
@pytest.mark.parametrize("p", [1, 1.5, 4, 1000])
@pytest.mark.parametrize("storage", ["dense", "float32", "sparse", "few values", "thresholds"])
@pytest.mark.parametrize("apart", RANGES)
def test_rounds_from_scores_far_apart(apart, storage, p):
    """Starting scores span `apart`; every number of the trace, after every round."""
    rng = np.random.default_rng([int(2 * p), int(apart)])
    pos, neg, H, A, B = drawn(storage, rng)
    extra = ["", "weights", "groups"][(POWERS.index(p) + RANGES.index(apart)) % 3]
    given, known = cases(extra, rng, len(A), len(B))
    init = rng.normal(size=A.shape[1])
    init *= apart / np.ptp(np.r_[A @ init, B @ init])
    lam, trace = pnorm.train(pos, neg, H, p, 4, init=init, tol=0, **given)
    judge, largest = exact.Objective(A, B, p, **known), np.abs(np.r_[A, B]).max(axis=0)
    if trace.n_iter < 4:  # the edge that is left is rounding
        assert trace.status == "stalled"
        assert abs(judge.weights(lam)[3]).max() <= UNITS * EPS * (p * (np.abs(lam) @ largest + 3) + 3) * largest.max()
    np.testing.assert_array_equal(trace.lam_at(trace.n_iter), lam)
    size = was = 0.0
    mass_before = mp.mpf(0)
    for t in range(trace.n_iter + 1):
        at = trace.lam_at(t)
        was, size = size, max(float(np.abs(at) @ largest), size / 16)
        log_f, _, _, edges, log_mass = judge.weights(at)
        assert off(trace.log_objective[t], log_f) <= UNITS * EPS * (abs(float(log_f)) + p * (size + 3))
        if t < trace.n_iter:
            j = trace.ranker[t]
            assert off(trace.edge[t], edges[j]) <= UNITS * EPS * (p * (size + 3) + 3) * largest[j]
        if t > 0:
            j, z = trace.ranker[t - 1], mp.exp(log_mass - mass_before)
            logs = abs(float(log_mass)) + abs(float(mass_before)) + max(size, was) + 10
            if 1e-300 < z < 1e300:
                assert off(trace.z[t - 1], z) <= UNITS * EPS * logs * z
            if not toward_infinity(A[:, j], B[:, j], np.sign(trace.step[t - 1]), known):
                assert abs(edges[j]) <= UNITS * EPS * (p + 1) * (max(size, was) + 3) * largest[j]
        mass_before = log_mass
    found, size = certificate(pos, neg, H, p, lam, **given), float(np.abs(lam) @ largest)
    assert off(found.log_objective, log_f) <= UNITS * EPS * (abs(float(log_f)) + p * (size + 3))
    assert off(found.gradient_norm, max(map(abs, edges))) <= UNITS * EPS * (p * (size + 3) + 3) * largest.max()


def toward_infinity(h_pos, h_neg, sign, known):
    """Whether no pair comes down along a step, so that equation (1) has no root."""
    gaps = sign * (h_pos[:, None] - h_neg)
    if "g_pos" in known:
        gaps = gaps[np.equal.outer(known["g_pos"], known["g_neg"])]
    return gaps.min() >= 0


def test_scores_that_have_come_down_keep_nothing_of_their_rounding():
    """Left in place, the rounding of scores of 1e5 put log F_p off by 2e-9 here, at p = 1000."""
    A, B = (np.random.default_rng(seed).normal(size=(20, 3)) for seed in (1, 2))
    lam, trace = pnorm.train(A, B, p=1000, t_max=30, init=[-4e4, 200.0, 7e3])
    log_f = exact.Objective(A, B, 1000).weights(lam)[0]
    assert off(trace.log_objective[-1], log_f) <= UNITS * EPS * (log_f + 1000 * (3 * np.abs(lam).sum() + 3)) < 2e-11


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, scipy.sparse.csc_array, "closed", "one"])
def test_an_offset_that_loses_no_bit_changes_no_bit(form):
    """Columns far from zero are centred: their edges would be rounding long before they are stationary."""
    rng = np.random.default_rng(0)
    pos, neg = (rng.integers(0, 2**20, (rows, 4)) / 2**20 for rows in (60, 70))
    offset, H = 2.0**31, None
    if form == "closed":
        form, H = np.asarray, pnorm.rankers.closed(pnorm.rankers.columns(4))
    elif form == "one":
        form, offset = np.asarray, np.array([0, 0, 2.0**31, 0])
    lam, trace = pnorm.train(pos, neg, H, 4, 600)
    same, again = pnorm.train(form(pos + offset), form(neg + offset), H, 4, 600)
    assert again.status == trace.status == "stationary"
    np.testing.assert_allclose(same, lam, rtol=0, atol=1e-15)
    np.testing.assert_allclose(again.log_objective, trace.log_objective, rtol=1e-15)
    near, far = (
        pnorm.cross_validate(*sides, H, p=4, t_max=20, folds=3, metric="auc")
        for sides in ((pos, neg), (form(pos + offset), form(neg + offset)))
    )
    np.testing.assert_allclose(far.scores, near.scores, rtol=1e-12)


@pytest.mark.parametrize(("storage", "p"), [("dense", 16), ("few values", 4), ("sparse", 64)])
def test_many_rounds_do_not_drift(storage, p):
    """Along columns that are nearly one, so that there is something to do in every round."""
    rng, rounds = np.random.default_rng(0), 5_000 * TRIALS
    Z = rng.normal(size=(60, 1)) + 0.02 * rng.normal(size=(60, 3))
    if storage == "sparse":
        Z *= rng.random((60, 1)) < 0.7
    elif storage == "few values":
        Z = np.round(3 * Z + 0.2 * rng.normal(size=Z.shape))
    A, B = (Z[:8], Z[8:17]) if storage == "dense" else (Z[:25], Z[25:])
    pos, neg = (scipy.sparse.csc_array(X) if storage == "sparse" else X for X in (A, B))
    lam, trace = pnorm.train(pos, neg, p=p, t_max=rounds, tol=0)
    assert (trace.status, trace.n_iter) == ("t_max", rounds)
    np.testing.assert_array_equal(trace.lam_at(rounds), lam)
    judge = exact.Objective(A, B, p)
    log_f, size = judge.weights(lam)[0], float(np.abs(lam) @ np.abs(Z).max(axis=0))
    rounding = UNITS * EPS * (abs(float(log_f)) + p * (size + 3))
    assert off(trace.log_objective[-1], log_f) <= rounding < 1e-11
    assert np.diff(trace.log_objective).max() <= rounding
    gap = certificate(pos, neg, None, p, lam).gap
    assert judge.value(lam) - judge.minimum(lam)[0] <= gap < 1e-2


# Minimisers and certificates


@each_value(times=2)
@pytest.mark.parametrize("p", [1, 1.5, 4, 1000])
@pytest.mark.parametrize("apart", RANGES)
def test_minimisers_of_columns_of_any_size_from_scores_far_apart(apart, p):
    """The value to its last digits, the coefficients to the root of what the gap leaves, and a gap that holds."""
    rng = np.random.default_rng([int(2 * p), int(apart)])
    storage = ["dense", "sparse", "few values"][POWERS.index(p) % 3]
    extra = ["", "weights", "groups"][(POWERS.index(p) + RANGES.index(apart)) % 3]
    pos, neg, _, A, B = drawn(storage, rng, 14, 16, 2)
    given, known = cases(extra, rng, 14, 16)
    pos, neg, A, B = (apart * X for X in (pos, neg, A, B))
    init = rng.normal(size=2)
    init *= apart / np.ptp(np.r_[A @ init, B @ init])
    judge = exact.Objective(A, B, p, **known)
    infimum, best = judge.minimum(pnorm.minimize(pos, neg, p=p, **given)[0])
    for start, l2 in ((None, 0.0), (init, 0.0), (None, 0.01 * apart**2)):
        if l2:
            judge = exact.Objective(A, B, p, **known, l2=l2)
            infimum, best = judge.minimum(best)
        lam, trace = pnorm.minimize(pos, neg, p=p, init=start, l2=l2, **given)
        assert trace.status == "converged"
        size = float(np.abs(lam) @ np.abs(np.r_[A, B]).max(axis=0))
        rounding = UNITS * EPS * (abs(float(infimum)) + p * (size + 3))
        assert off(trace.objective[-1], judge.value(lam)) <= rounding
        assert max(judge.value(lam), mp.mpf(trace.objective[-1])) - infimum <= trace.gap <= max(1e-10, 4 * rounding)
        far = np.array([off(x, y) for x, y in zip(lam, best, strict=True)]) * np.ptp(np.r_[A, B], axis=0)
        assert far.max() <= 20 * np.sqrt(trace.gap / min(p, 4))


def ill_conditioned():
    """Name -> rows of both sides, and those of a problem with the same infimum without a penalty."""
    rng = np.random.default_rng(3)
    made, Z = {}, rng.normal(size=(19, 2))
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    made["condition 1e+12"] = rng.normal(size=(19, 3)) * [1, 1e-6, 1e-12] @ Q
    made["columns that differ by 1e-12"] = np.c_[Z, Z[:, 0] + 1e-12 * rng.normal(size=19)]
    made["columns of 1e8 and 1e-8"] = Z * [2.0**26, 2.0**-26]
    made["a far row"] = np.c_[Z, np.r_[1e6, np.zeros(17), 1e6 + 3]]
    made["offsets"] = Z + np.array([1e9, -1e5])
    same = {name: X for name, X in made.items()}
    made["columns of 1e150 and 1e-150"], same["columns of 1e150 and 1e-150"] = Z * [2.0**498, 2.0**-498], Z
    whole = np.round(4 * Z)
    made["dependent columns"], same["dependent columns"] = np.c_[whole, whole.sum(axis=1), 3 - whole[:, 0]], whole
    return {name: (X, same[name]) for name, X in made.items()}


ILL_CONDITIONED = ill_conditioned()


@pytest.mark.parametrize("name", ILL_CONDITIONED)
def test_ill_conditioned_columns_have_a_gap_that_holds_or_none(name):
    p, (Z, plain) = 1000, ILL_CONDITIONED[name]
    for l2, method in itertools.product((0.0, 1e-3), ("newton", "lbfgs")):
        if l2 and Z.shape != plain.shape:
            continue  # without the penalty the judge cannot tell dependent columns apart
        lam, trace = pnorm.minimize(Z[:9], Z[9:], p=p, l2=l2, method=method)
        assert np.isfinite(lam).all()
        assert trace.gap >= 0
        if trace.gap == np.inf:
            assert trace.status in ("stalled", "stationary", "max_iter")
            assert "no certificate" in trace.message
        if method == "newton" and not l2 and "e+12" not in name and "e-12" not in name:
            assert trace.status == "converged"
        if l2 and "1e150" in name:
            continue
        judge = exact.Objective(Z[:9], Z[9:], p, l2=l2)
        if method == "newton":
            infimum = exact.Objective(plain[:9], plain[9:], p, l2=l2).minimum()[0]
        assert max(judge.value(lam), mp.mpf(trace.objective[-1])) - infimum <= trace.gap
        assert trace.status != "converged" or trace.gap <= 1e-10 + 1e-12 * abs(trace.objective[-1])
        rng = np.random.default_rng(0)
        for far in (1e-8, 1e-3, 1.0):
            point = lam * (1 + far * rng.normal(size=lam.size))
            gap = certificate(Z[:9], Z[9:], None, p, point, l2=l2).gap
            assert judge.value(point) - infimum <= gap  # false for nan


def barely(rng, margin, whole):
    """Two columns: rows of both sides on a line, in turns, and others on either side of it; then the positives move."""
    normal = rng.choice([[1.0, 0], [0, 1], [1, 1], [1, -1], [2, 1]]) if whole else rng.normal(size=2)
    along = np.array([-normal[1], normal[0]])
    t = np.sort(np.round(3 * rng.normal(size=5)) if whole else rng.normal(size=5))
    on = [t[[0, 2, 4]], t[[1, 3]]][:: rng.choice([1, -1])]
    beyond = rng.integers(1, 5, 4) if whole else abs(rng.normal(size=4))
    aside = np.round(3 * rng.normal(size=4)) if whole else rng.normal(size=4)
    pos = np.r_[np.outer(on[0], along), np.outer(beyond[:2], normal) + np.outer(aside[:2], along)]
    neg = np.r_[np.outer(on[1], along), np.outer(-beyond[2:], normal) + np.outer(aside[2:], along)]
    return pos + margin * normal, neg


MARGINS = [s * x for x in (1e-3, 1e-6, 1e-9, 1e-12, 1e-15) for s in (1, -1)] + [0.0]


@pytest.mark.parametrize("margin", [1e-3, -1e-6, 1e-9, 1e-15, -1e-15, 0.0])
def test_barely_separable_rows_are_what_fractions_say_or_undecided(margin):
    for seed, whole in ((0, False), (28, True)):
        pos, neg = barely(np.random.default_rng(seed), margin, whole)
        kind, on_pos, on_neg = exact.hulls(pos, neg)
        found = separability(pos, neg)
        assert found.kind in (kind, "undecided")
        if found.kind == kind:
            assert (set(np.flatnonzero(found.support_pos)), set(np.flatnonzero(found.support_neg))) == (on_pos, on_neg)
        assert found.kind == kind or 0 < abs(margin) < 1e-6 or not whole
        for p, method in ((16, "newton"), (1, "lbfgs"), (1000, "newton")):
            lam, trace = pnorm.minimize(pos, neg, p=p, method=method)
            assert np.isfinite(lam).all()
            if kind == "separable":
                assert trace.gap == np.inf
                assert trace.status != "converged"
                if trace.status == "separable":
                    f, g = ([sum(map(Fraction.__mul__, map(Fraction, lam), map(Fraction, row))) for row in X.tolist()] for X in (pos, neg))  # fmt: skip
                    assert min(f) > max(g)
            elif kind == "quasi-separable":
                assert trace.status != "converged"
            else:
                assert trace.status != "separable"
                judge = exact.Objective(pos, neg, p)
                for times in (0.5, 2, 100):
                    assert judge.value(lam) - judge.value(times * lam) <= trace.gap


# Other prices and losses, lists, kernels, measures and bounds


@each_value()
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "user"])
@pytest.mark.parametrize("apart", [1e-8, 30.0, 1e5])
def test_prices_and_losses_of_scores_far_apart(apart, loss):
    rng = np.random.default_rng(int(apart))
    for power, shift in itertools.product((1, 1.5, 100, 1000, "exponential"), (-1, 0, 1)):
        f_pos, f_neg = apart * (rng.random(6) + shift), apart * rng.random(7)
        chosen = ours("linear", loss) | {"price": objectives.Exponential(0.5)}
        if power != "exponential":
            chosen["price"] = objectives.Power(power)
        with mp.workdps(50):
            if power == "exponential":
                g = (lambda r: mp.exp(r / 2), lambda r: mp.exp(r / 2) / 2)
            else:  # of no loss at all, too
                g = (lambda r, q=power: r**q if r else r, lambda r, q=power: q * r ** (q - 1) if r or q == 1 else r)
            exactly = [[mp.mpf(float(x)) for x in f] for f in (f_pos, f_neg)]
            heights = [mp.fsum(LOSSES[loss][0](a - b) for a in exactly[0]) for b in exactly[1]]
            log_heights = [abs(mp.log(x)) for x in heights if x]
            if not log_heights and power != "exponential":
                assert objectives.value(f_pos, f_neg, **chosen) == -np.inf
                continue
            if power == "exponential" and max(heights) > 1e308:
                with pytest.raises(OverflowError):
                    objectives.value(f_pos, f_neg, **chosen)
                continue
            R, A, B = value_and_weights(*exactly, g, loss)
            log_r, A, B = mp.log(R), A / R, B / R
        steep = float(max(heights) if power == "exponential" else power)
        size = 1 + (apart if loss == "exponential" else 0)
        found = objectives.value_and_weights(f_pos, f_neg, **chosen)
        for value in (found[0], objectives.value(f_pos, f_neg, **chosen)):
            assert (
                off(value, log_r) <= 16 * EPS * (1 + float(power != "exponential") * steep + abs(float(log_r))) * size
            )
        unit = 16 * EPS * (steep + 10) * (1 + float(max(log_heights, default=0)))
        terms = max(map(abs, [*A, *B])) if loss == "squared" else 0  # which cancel
        for weight, share in zip(np.r_[found[1], found[2]], [*A, *B], strict=True):
            assert off(weight, share) <= unit * max(abs(share), terms) + 1e-240


@pytest.mark.parametrize("far", [1e-300, 1e5, 1e15, 1e300])
def test_lists_of_scores_far_apart(far):
    f, y = [far, -far, 5e-324, 0.0, far / 3], [1, 2, 3, 4, 4]
    exactly = [Fraction(x) for x in f]
    pairs = [(i, j) for i, j in itertools.permutations(range(5), 2) if y[i] > y[j]]
    assert listwise.kendall_tau_loss(f, y) == sum(f[i] <= f[j] for i, j in pairs) / 10
    expected = sum(max(Fraction(0), 1 - exactly[i] + exactly[j]) for i, j in pairs) / 10
    assert listwise.kendall_tau_hinge(f, y)[0] == pytest.approx(float(expected), rel=8 * EPS)
    by_rank = [1 / mp.log(rank + 2, 2) for rank in range(5)]  # 15 digits, of which the gap keeps as many
    best = sum(d * v for d, v in zip(by_rank, sorted(y, reverse=True), strict=True))
    own = [Fraction(1), Fraction(2), Fraction(3), Fraction(9, 2), Fraction(9, 2)]
    worst = max(
        1 - Fraction(float(sum(by_rank[5 - v] * g for v, g in zip(places, y, strict=True)) / best))
        + sum((v - o) * x for v, o, x in zip(places, own, exactly, strict=True))
        for places in itertools.permutations(range(1, 6))
    )  # fmt: skip
    assert listwise.ndcg_hinge(f, y)[0] == pytest.approx(float(worst), rel=8 * EPS, abs=1e-15)


@pytest.mark.parametrize("bound", [listwise.kendall_tau_hinge, listwise.ndcg_hinge])
def test_sums_over_lists_that_no_double_holds_are_refused(bound):
    with raises(OverflowError, "sums of score differences overflow; scale the scores down"):
        bound([1e308, -1e308, 0.0], [1, 2, 3])


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e150])
def test_kernels_of_rows_far_from_zero(offset):
    step = max(1.0, float(np.spacing(offset)))
    X = offset + step * np.array([[0.0], [1], [3], [4], [6], [7]])
    for name, params in (("rbf", {"gamma": 0.1 / step**2}), ("laplacian", {"gamma": 0.1 / step})):
        model, _ = kernel.train(X[::2], X[1::2], name, t_max=5, **params)
        rows = [Fraction(x) for x in np.r_[X[::2], X[1::2]].ravel()]
        with mp.workdps(50):
            for x, f in zip(X.ravel(), model.score(X), strict=True):
                apart = [abs(mp.mpf(float(row - Fraction(x)))) for row in rows]
                values = [mp.exp(-mp.mpf(params["gamma"]) * (d**2 if name == "rbf" else d)) for d in apart]
                terms = [mp.mpf(float(a)) * v for a, v in zip(model.coef, values, strict=True)]
                assert off(f, mp.fsum(terms)) <= UNITS * EPS * mp.fsum(map(abs, terms))


@pytest.mark.parametrize("p", [1, 1.5, 64, 1000, 1e6])
def test_risks_of_steep_prices_and_of_scores_that_all_but_tie(p):
    f_pos, f_neg = [2e300, 5e-324, 0.0, -1e300, 1e-323], [1e300, 5e-324, -5e-324, -2e300]
    heights = [sum(a <= b for a in f_pos) for b in f_neg]
    assert heights == [4, 3, 1, 0]
    np.testing.assert_array_equal(metrics.heights(f_pos, f_neg), heights)
    assert metrics.auc(f_pos, f_neg) == (20 - 8 + 0.5) / 20  # one tie
    with mp.workdps(50):
        risk = (sum((mp.mpf(h) / 5) ** p for h in heights) / 4) ** (1 / mp.mpf(p))
    assert metrics.p_norm_risk(f_pos, f_neg, p) == pytest.approx(float(risk), rel=UNITS * EPS)
    near = [1e5, 0.0, -3e4], [1e5, -1e5, 2e4]
    chain = metrics.theorem1(*near, objectives.Power(p))
    judge = exact.Objective(*(np.array(f)[:, None] for f in near), p)
    assert off(chain.log_surrogate, judge.value([1.0])) <= UNITS * EPS * p * 2e5
    assert chain.log_lower <= chain.log_risk <= min(chain.log_surrogate, chain.log_upper)


@pytest.mark.parametrize("rows", [1, 10**6, 10**18, 10**300, 10**400])
def test_bounds_of_any_number_of_rows(rows):
    with mp.workdps(50):
        for delta, log_covering in ((0.05, 10.0), (1e-300, 1e6)):
            accuracy = mp.sqrt(16 * (log_covering + mp.log(4 / mp.mpf(delta))) / mp.mpf(rows))
            found = bounds.expected_ranking_accuracy_bound(rows, rows, delta, log_covering)
            assert found == pytest.approx(float(accuracy), rel=UNITS * EPS)
            assert bounds.random_labels_bound(0.5, 2 * rows, delta, log_covering) == pytest.approx(float(found))
            for p, epsilon in ((1, 1e-3), (4, 0.9), (1000, 0.99)):
                x = mp.mpf(epsilon)
                left = 2 * mp.exp(log_covering) * (
                    mp.exp(-2 * (x / 4) ** (2 * p) * rows) + mp.exp(-(x**2) * mp.mpf(rows) / 8)
                )  # fmt: skip
                expected = float(1 - left) if left < 1e300 else -math.inf
                found = bounds.push_confidence(epsilon, 0.1, p, rows, rows, log_covering)
                assert found == pytest.approx(expected, rel=1e-9)


@each_value()
@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared", "squared_hinge", "hinge"])
@pytest.mark.parametrize("copies", [1, 12])  # of few values, and coded
def test_outputs_that_no_step_can_tell_apart_are_equal(loss, copies):
    p = 64
    for pos, neg in (
        ([0, 1e-310, 1], [0, -1e-310, -1]),  # touch
        ([1e-310, 1e-310, 1], [0, -1e-310, -1]),  # separate, by less than a coefficient can make anything of
        ([0, 0, 5e-324, 1], [1e-310, 0, -1]),  # overlap, by as little
        ([0, 1e-310, 2], [0, -1e-310, 1]),
    ):
        pos, neg = (np.repeat(np.array(side, float)[:, None], copies, axis=0) for side in (pos, neg))
        equal = [np.where(np.abs(side) < 1e-300, 0.0, side) for side in (pos, neg)]
        groups = [np.arange(len(side)) % 2 for side in (pos, neg)]
        for more in ({}, {"pos_group": groups[0], "neg_group": groups[1]}):
            lam, trace = pnorm.train(pos, neg, p=p, loss=loss, t_max=5, **more)
            expected, other = pnorm.train(*equal, p=p, loss=loss, t_max=5, **more)
            np.testing.assert_allclose(lam, expected, rtol=1e-3)  # a millionth of a millionth is left
            assert trace.status == other.status
            if loss == "hinge":
                continue
            lam, trace = pnorm.minimize(pos, neg, p=p, l2=0.1, loss=loss, **more)
            expected, other = pnorm.minimize(*equal, p=p, l2=0.1, loss=loss, **more)
            np.testing.assert_allclose(lam, expected, rtol=1e-9)
            assert trace.status == other.status
        if loss == "exponential" and (pos >= neg.max()).all() and (equal[0].min() == equal[1].max()):
            judge = literal.train(*equal, p, 5)
            np.testing.assert_allclose(pnorm.train(pos, neg, p=p, t_max=5)[0], judge.lam, rtol=1e-9)


@each_value()
@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared", "squared_hinge", "hinge"])
@pytest.mark.parametrize("scale", [1e-280, 1e-150, 1e-20, 1e100])
def test_coefficients_are_in_inverse_proportion_to_the_data_however_small(loss, scale):
    scale = 2.0 ** round(math.log2(scale))
    rng = np.random.default_rng(3)
    pos, neg = rng.normal(1, 1, (15, 1)), rng.normal(size=(20, 1))
    expected = pnorm.train(pos, neg, p=2, loss=loss, t_max=1, tol=0.0)[0]
    lam = pnorm.train(scale * pos, scale * neg, p=2, loss=loss, t_max=1, tol=0.0)[0]
    if loss == "exponential":
        np.testing.assert_allclose(scale * lam, expected, rtol=1e-12)  # squares of small columns vanish
    else:
        np.testing.assert_array_equal(scale * lam, expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared", "squared_hinge", "hinge"])
def test_columns_too_small_for_any_coefficient_stall_train_and_are_refused_by_minimize(loss):
    pos, neg = np.array([[0.0], [1e-310], [3e-310]]), np.array([[0.0], [-1e-310], [2e-310]])
    for sides in ((pos, neg), (pos, neg[:2])):
        lam, trace = pnorm.train(*sides, loss=loss, tol=0.0)
        assert (trace.status, lam.tolist()) == ("stalled", [0.0])
        assert "is lost in floating point" in trace.message or loss == "hinge"
    if loss != "hinge":
        with raises(ValueError, r"column 'x0' spans only 4e-310.*scale it first"):
            pnorm.minimize(pos, neg, loss=loss)


def test_slopes_of_positives_that_all_vanish_leave_those_of_negatives():
    # three negatives tie with both positives and one is 4 below: the slopes 2 (1 - z) add up to zero for each positive
    lam, trace = pnorm.train([[0, 1], [0, 1.0]], [[-1, 3], [0, 1], [0, 1], [0, 1.0]], loss="squared", init=[4.0, 0.0])
    assert trace.log_objective[-1] < trace.log_objective[0] - 1
    A, B = objectives.value_and_weights([0.0, 0.0], [-4.0, 0.0, 0.0, 0.0], loss="squared")[1:]
    np.testing.assert_allclose(A, 0.0)
    np.testing.assert_allclose(B, [-1 / 2, 1 / 6, 1 / 6, 1 / 6])
