"""Prices and losses: every fast sum against all pairs, Theorem 1, and what is refused."""

import pickle

import mpmath as mp
import numpy as np
import pytest
from facts import raises, warns
from family import LOSSES, OUR_PRICES, PAIRS, PRICES, USER, matrix_value_and_weights, ours, scores, value_and_weights
from hypothesis import assume, given
from hypothesis import strategies as st
from repeats import each_value, examples

import pnorm
from pnorm import objectives
from pnorm._core import _pairs
from pnorm.objectives import _losses, _pair_loss
from pnorm.objectives._pair_loss import GroupedScores

pytestmark = pytest.mark.filterwarnings("error")


def agree(found, expected, rtol, atol=0.0):
    """Numbers are equal to a share of the expected ones."""
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


# Sums over pairs ----------------------------------------------------------------------------------


@each_value(times=6)
@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (4, 300), (300, 4), (40, 50)], ids=str)
@pytest.mark.parametrize(("price", "loss"), PAIRS)
def test_value_and_weights_are_those_of_the_double_loop(price, loss, shape):
    rng = np.random.default_rng(7)
    for scale in (1e-8, 0.3, 3.0):
        f_pos, f_neg = scores(rng, *shape, scale)
        with np.errstate(over="ignore", invalid="ignore"):
            R, A, B = matrix_value_and_weights(f_pos, f_neg, price, loss)
        if not 0.0 < R < 1e300:
            continue
        log_r, a, b = objectives.value_and_weights(f_pos, f_neg, **ours(price, loss))
        # Where terms of both signs cancel, digits are counted beside the terms.
        size = 1e-13 * np.abs(A).sum() / R if price == "falling" or loss == "squared" else 0.0
        agree(log_r, np.log(R), 1e-13, 1e-13)
        agree(a, A / R, 2e-12, size)
        agree(b, B / R, 2e-12, size)
        agree(a.sum(), b.sum(), 1e-12, size)
        agree(objectives.value(f_pos, f_neg, **ours(price, loss)), log_r, 1e-14, 1e-14)


@each_value()
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "exponential"])
@pytest.mark.parametrize("scale", [30.0, 1e3, 1e4])
def test_far_scores_keep_their_digits(loss, scale):
    rng = np.random.default_rng(3)
    for price in ("linear", "power"):
        f_pos, f_neg = scores(rng, 60, 50, scale)
        R, A, B = matrix_value_and_weights(f_pos, f_neg, price, loss)
        log_r, a, b = objectives.value_and_weights(f_pos, f_neg, **ours(price, loss))
        size = 1e-13 * np.abs(A).sum() / R if loss == "squared" else 1e-300
        agree(log_r, np.log(R), 1e-13)
        agree(a, A / R, 1e-12, size)
        agree(b, B / R, 1e-12, size)


@pytest.mark.parametrize("loss", list(LOSSES))
def test_ties_and_scores_at_the_corners_of_losses(loss):
    f_pos, f_neg = np.array([0.0, 1.0, 1.0, 2.0, 0.5, 3.0]), np.array([0.0, 1.0, 1.0, 0.25, 0.75, -1.0])
    for price in ("linear", "power"):
        R, A, B = matrix_value_and_weights(f_pos, f_neg, price, loss)
        log_r, a, b = objectives.value_and_weights(f_pos, f_neg, **ours(price, loss))
        agree(log_r, np.log(R), 1e-14)
        agree(a, A / R, 1e-13, 1e-15)
        agree(b, B / R, 1e-13, 1e-15)
        assert (b[f_neg == 1.0] == b[1]).all()


@each_value(times=2)
@pytest.mark.parametrize(("price", "loss"), [(p, c) for p, c in PAIRS if (p, c) != ("falling", "exponential")])
def test_case_weights_and_query_groups(price, loss):
    rng = np.random.default_rng(11)
    f_pos, f_neg = scores(rng, 25, 30)
    c_pos, c_neg = rng.choice([0.0, 0.5, 1.0, 3.0], 25), rng.choice([0.0, 0.7, 2.0], 30)
    groups = rng.choice(list("abcd"), 25), rng.choice(list("abce"), 30)
    for c, g in (((c_pos, c_neg), None), ((None, None), groups), ((c_pos, c_neg), groups)):
        R, A, B = value_and_weights(f_pos, f_neg, price, loss, *c, g)
        given_ = dict(zip(("pos_weight", "neg_weight"), c, strict=True))
        given_ |= dict(zip(("pos_group", "neg_group"), g or (None, None), strict=True))
        log_r, a, b = objectives.value_and_weights(f_pos, f_neg, **ours(price, loss), **given_)
        size = 1e-13 * np.abs(A).sum() / R
        agree(log_r, np.log(R), 1e-13, 1e-13)
        agree(a, A / R, 1e-11, size)
        agree(b, B / R, 1e-11, size)
        agree(objectives.value(f_pos, f_neg, **ours(price, loss), **given_), log_r, 1e-13, 1e-13)
        if c[0] is not None:
            assert (a[c_pos == 0] == 0).all()
            assert (b[c_neg == 0] == 0).all()
        if g is not None:
            assert (a[groups[0] == "d"] == 0).all()
            assert (b[groups[1] == "e"] == 0).all()


@each_value()
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "user"])
@pytest.mark.parametrize("power", [1, 3])
def test_weights_farther_apart_than_doubles_reach_against_fifty_digits(power, loss):
    # where a row of large weight has no loss, rows that weigh e-500 of it are all there is
    rng = np.random.default_rng(1)
    g = (lambda r: r**power, lambda r: power * r ** (power - 1))
    for _ in range(25):
        f_pos, f_neg = (np.round(rng.normal(0, 2, n), 2) for n in rng.integers(1, 6, 2))
        c_pos, c_neg = (10.0 ** rng.choice([-300, -200, 0, 200, 300], f.size) for f in (f_pos, f_neg))
        given = ours("linear", loss) | {"price": objectives.Power(power), "pos_weight": c_pos, "neg_weight": c_neg}
        with mp.workdps(50):
            exactly = [np.array([mp.mpf(float(x)) for x in f], object) for f in (f_pos, f_neg, c_pos, c_neg)]
            R, A, B = value_and_weights(*exactly[:2], g, loss, *exactly[2:])
            log_r = float(mp.log(R)) if R else -np.inf
            assert objectives.value(f_pos, f_neg, **given) == pytest.approx(log_r, abs=2e-12)
            if R:
                total = mp.fsum(map(abs, A)) or mp.mpf(1)
                _, a, b = objectives.value_and_weights(f_pos, f_neg, **given)
                for found, expected in zip([*a, *b], [*A, *B], strict=True):
                    assert abs(mp.mpf(float(found)) * R - expected) < 2e-11 * total


@each_value()
@pytest.mark.parametrize("loss", ["logistic", "huber"])
@pytest.mark.parametrize("shape", ["normal", "wide", "heavy tails", "a few points", "one point"])
def test_thousands_of_rows(loss, shape):
    """Enough for many rows in a cell, for both ways of sorting and for long sweeps."""
    rng = np.random.default_rng(2)
    draw = {
        "normal": lambda m: rng.normal(size=m),
        "wide": lambda m: rng.uniform(-60, 60, m),
        "heavy tails": rng.standard_cauchy,
        "a few points": lambda m: rng.integers(-3, 4, m) * 0.7,
        "one point": lambda m: np.full(m, 0.3),
    }[shape]
    f_pos, f_neg = draw(3000), draw(1700)
    R, A, B = matrix_value_and_weights(f_pos, f_neg, "power", loss)
    log_r, a, b = objectives.value_and_weights(f_pos, f_neg, **ours("power", loss))
    agree(log_r, np.log(R), 1e-13)
    agree(a, A / R, 1e-12, 1e-300)
    agree(b, B / R, 1e-12, 1e-300)


@examples(6)
@given(st.integers(0, 2**32), st.sampled_from([1e-3, 1.0, 30.0, 400.0]), st.integers(1, 40), st.integers(1, 40))
def test_the_logistic_loss_against_fifty_digits(seed, scale, n_pos, n_neg):
    rng = np.random.default_rng(seed)
    f_pos, f_neg = scores(rng, n_pos, n_neg, scale)
    f_pos = f_pos + rng.choice([0.0, 3.0 * scale])  # now and then all losses are far below any double
    with mp.workdps(50):
        z = [[mp.mpf(float(a)) - mp.mpf(float(b)) for a in f_pos] for b in f_neg]
        S = [mp.fsum(mp.log1p(mp.exp(-x)) for x in row) for row in z]
        R = mp.fsum(s**64 for s in S)
        expected = float(mp.log(R))
        A = [
            float(mp.fsum(64 * s**63 / (1 + mp.exp(row[i])) for s, row in zip(S, z, strict=True)) / R)
            for i in range(n_pos)
        ]
    log_r, a, _ = objectives.value_and_weights(f_pos, f_neg, objectives.Power(64), "logistic")
    agree(log_r, expected, 1e-13, 1e-12)
    agree(a, A, 1e-10, 1e-280)


def test_log_r_is_right_where_r_is_no_double():
    log_r, A, B = objectives.value_and_weights([5000.0, 5001.0], [0.0, -1.0], objectives.Power(8), "logistic")
    with mp.workdps(50):
        heights = [mp.exp(-5000) + mp.exp(-5001), mp.exp(-5001) + mp.exp(-5002)]
        expected = float(mp.log(sum(h**8 for h in heights)))
    agree(log_r, expected, 1e-14)
    agree(A.sum(), 8.0, 1e-11)
    assert objectives.value([2.0], [0.0], loss="hinge") == -np.inf
    nothing = objectives.value_and_weights([2.0], [0.0], loss="hinge")
    assert nothing[0] == -np.inf
    assert not nothing[1].any()
    assert not nothing[2].any()
    assert objectives.value([0.0] * 100, [400.0], objectives.Power(64)) > 25000.0


# Derivatives --------------------------------------------------------------------------------------


@each_value(times=2)
@pytest.mark.parametrize(("price", "loss"), [(p, c) for p, c in PAIRS if c != "hinge"])
def test_weights_are_derivatives_in_fifty_digits(price, loss):
    """Central differences of log R in 50 digits: nothing of them rounds."""
    rng = np.random.default_rng(17)
    f_pos, f_neg = scores(rng, 6, 5)
    with mp.workdps(50):
        exact = [[mp.mpf(float(x)) for x in f] for f in (f_pos, f_neg)]
        step = mp.mpf(10) ** -15

        def log_r(side, row, sign):
            moved = [list(f) for f in exact]
            moved[side][row] += sign * step
            return mp.log(value_and_weights(*moved, price, loss)[0])

        slopes = [
            [float((log_r(s, r, 1) - log_r(s, r, -1)) / (2 * step)) for r in range(len(exact[s]))] for s in (0, 1)
        ]
    value, A, B = objectives.value_and_weights(f_pos, f_neg, **ours(price, loss))
    agree(-A, slopes[0], 1e-10, 1e-12 * np.abs(A).sum())
    agree(B, slopes[1], 1e-10, 1e-12 * np.abs(A).sum())
    with mp.workdps(50):
        agree(value, float(mp.log(value_and_weights(*exact, price, loss)[0])), 1e-13, 1e-13)


@each_value(times=2)
@pytest.mark.parametrize(("price", "loss"), PAIRS)
def test_weights_are_slopes_of_the_value(price, loss):
    rng = np.random.default_rng(23)
    f_pos, f_neg = rng.normal(size=40), rng.normal(size=30)
    d_pos, d_neg = rng.normal(size=40), rng.normal(size=30)

    def value(x):
        return objectives.value(f_pos + x * d_pos, f_neg + x * d_neg, **ours(price, loss))

    _, A, B = objectives.value_and_weights(f_pos, f_neg, **ours(price, loss))
    step = 1e-5
    slope = (value(step) - value(-step)) / (2 * step)
    agree(B @ d_neg - A @ d_pos, slope, 1e-4 if loss == "hinge" else 1e-7, 1e-6)


# Theorem 1 and convexity --------------------------------------------------------------------------


@each_value(times=2)
@pytest.mark.parametrize(
    ("price", "loss"),
    [(p, c) for p, c in PAIRS if p not in ("falling", "log") and c != "squared"] + [("steep", "logistic")],
)
@examples(4)
@given(st.integers(0, 2**32), st.integers(1, 25), st.integers(1, 25))
def test_theorem_1(price, loss, seed, n_pos, n_neg):
    """K g(R_max / K) <= R_{g,1} <= R_{g,l} and R_{g,1} <= K g(R_max), counted pair by pair."""
    rng = np.random.default_rng(seed)
    f_pos, f_neg = scores(rng, n_pos, n_neg, rng.choice([0.1, 1.0, 5.0]))
    g = (lambda r: r**64.0) if price == "steep" else PRICES[price][0]
    chosen = {"price": objectives.Power(64), "loss": loss} if price == "steep" else ours(price, loss)
    heights = (f_pos[:, None] <= f_neg).sum(axis=0)
    ell = LOSSES[loss][0]
    scale = min(1.0, float(ell(np.zeros(1))[0]))
    with np.errstate(over="ignore"):
        R1 = g(1.0 * heights).sum()
        R = g(ell(f_pos[:, None] - f_neg).sum(axis=0) / scale).sum()
    assume(R < 1e300)
    chain = pnorm.metrics.theorem1(f_pos, f_neg, **chosen)
    assert chain.r_max == heights.max()
    with np.errstate(divide="ignore"):
        agree(np.exp(chain.log_risk), R1, 1e-10)
        agree(np.exp(chain.log_lower), n_neg * g(heights.max() / n_neg), 1e-10)
        agree(np.exp(chain.log_upper), n_neg * g(1.0 * heights.max()), 1e-10)
        agree(np.exp(chain.log_surrogate / 64), R ** (1 / 64), 1e-11, 0.4 if R < 1e-25 else 0.0)
    slack = 1e-12 * (1.0 + np.abs(np.nan_to_num(chain.log_upper, neginf=0.0)))
    assert chain.log_lower <= chain.log_risk + slack
    assert chain.log_risk <= chain.log_surrogate + slack
    assert chain.log_risk <= chain.log_upper + slack


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"price": OUR_PRICES["falling"]}, "price must never fall"),
        ({"price": OUR_PRICES["log"]}, "price must be convex, or Theorem 1 does not hold; got log"),
        ({"loss": "squared"}, "loss must never rise"),
        (
            {"loss": objectives.Loss(lambda z: np.maximum(-z, 0), lambda z: -1.0 * (z < 0))},
            "loss must be above zero at z = 0",
        ),
    ],
)
def test_theorem_1_refuses_what_it_does_not_hold_for(arguments, message):
    with raises(ValueError, message):
        pnorm.metrics.theorem1([1.0], [0.0], **arguments)


@each_value(times=2)
@pytest.mark.parametrize(("price", "loss"), [(p, c) for p, c in PAIRS if p != "falling"])
@examples(4)
@given(st.integers(0, 2**32))
def test_what_is_called_convex_is(price, loss, seed):
    """R ** (1 / p) for powers, log R for the exponential price, R for others: below its chords on random lines."""
    rng = np.random.default_rng(seed)
    f, d = scores(rng, 8, 7), (rng.normal(size=8), rng.normal(size=7))
    form = {"power": lambda v: np.exp(v / 4), "exponential": lambda v: v}.get(price, np.exp)
    a, m, b = (form(objectives.value(f[0] + x * d[0], f[1] + x * d[1], **ours(price, loss))) for x in (-0.5, 0.0, 0.5))
    assert m <= 0.5 * (a + b) * (1 + 1e-12) + 1e-12 * abs(a - b)


ROOTS = {
    "log": (objectives.Price(*PRICES["log"], name="log"), np.inf),
    "cube root": (objectives.Price(np.cbrt, lambda r: 1 / (3 * np.cbrt(r) ** 2), name="cube root"), np.inf),
    "root": (objectives.Price(lambda r: np.sqrt(r + 0.01), lambda r: 0.5 / np.sqrt(r + 0.01), name="root"), 2.0),
    "rising": (objectives.Price(lambda r: r + np.log1p(r), lambda r: 1 + 1 / (1 + r), name="rising"), 2.0),
    "user": (OUR_PRICES["user"], 1.0),
}
"""Prices that never fall, and the least q such that they are convex in r ** (1/q), or in ln r."""


@each_value(times=2)
@pytest.mark.parametrize("price", ROOTS)
@pytest.mark.parametrize("loss", [*LOSSES, "own"])
def test_a_price_goes_with_the_losses_that_make_r_convex(price, loss):
    """R is below its chords on random lines; of pairs that are refused, it is above one for some single pair of rows."""
    chosen, root = ROOTS[price]
    assert (chosen.root, chosen.increasing) == (root, True)
    own = objectives.Loss(lambda z: np.exp(-2 * z) + 1, lambda z: -2 * np.exp(-2 * z), name="own")
    assert own.root == np.inf
    of_pairs = {"own": own, "user": USER}.get(loss, loss)
    given = {"loss": "hinge", "smoothing": 0.25} if loss == "huber" else {"loss": of_pairs}
    rng = np.random.default_rng(0)
    if root <= {"exponential": np.inf, "own": np.inf, "squared": 2, "squared_hinge": 2, "user": 2}.get(loss, 1):
        for _ in range(100):
            f, d = scores(rng, 4, 3), (rng.normal(size=4), rng.normal(size=3))
            a, m, b = [np.exp(objectives.value(f[0] + x * d[0], f[1] + x * d[1], chosen, **given)) for x in (-1, 0, 1)]
            assert m <= 0.5 * (a + b) * (1 + 1e-12)
        if loss != "hinge":
            pos, neg = [[0.0, 1.0], [1.0, 0.0], [0.2, 0.1]], [[0.5, 0.6], [0.2, 0.3], [0.9, 0.1]]
            _, trace = pnorm.minimize(pos, neg, price=chosen, l2=0.1, **given)
            assert trace.status == "converged"
        return
    said = f"the objective may not be convex with the price {price} and the loss "
    with raises(ValueError, said):
        objectives.value([1.0], [0.0], chosen, **given)
    with raises(ValueError, said + r".*\. \w.* goes with the losses 'exponential'"):
        pnorm.train([[1.0]], [[0.0]], price=chosen, **given)
    z = np.linspace(-40.0, 3.0, 2000)
    assert (np.diff(chosen._g(LOSSES[loss][0](z)), 2) < -1e-9).any() or (price, loss) == ("cube root", "user")


def test_roots_of_losses():
    """The largest q of 1, 2 and inf such that the loss to 1/q, or its logarithm, is convex: those of names and users."""
    for name, (ell, slope) in LOSSES.items():
        user = objectives.Loss(ell, slope, name=name)
        named = objectives._losses.LOSSES.get(name)
        assert user.root == (2.0 if name == "user" else 1.0 if name == "huber" else named.root)


def test_without_checks_a_pair_that_is_not_convex_is_called_stationary():
    log = objectives.Price(*PRICES["log"], name="log", check=False)
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.5, 1, (20, 2)), rng.normal(0, 1, (20, 2))
    for solve in (pnorm.train, pnorm.minimize):
        _, trace = solve(pos, neg, price=log, loss="logistic")
        assert "R need not be convex with this price, so this is a stationary point" in trace.message
        assert "convex" not in solve(pos, neg, price=log)[1].message


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("grouped", [False, True])
def test_the_normalized_value_is_a_power_mean_and_bounds_the_risk(loss, grouped):
    rng = np.random.default_rng(0)
    of_pair = LOSSES[loss][0]
    given = {"loss": "hinge", "smoothing": 0.25} if loss == "huber" else {"loss": USER if loss == "user" else loss}
    for p in (1.0, 1.5, 4.0, 64.0):
        f_pos, f_neg = scores(rng, 6, 5)
        c_pos, c_neg = rng.integers(1, 4, 6) / 2, rng.integers(1, 4, 5) / 2
        groups = (np.arange(6) % 2, np.arange(5) % 2) if grouped else (np.zeros(6), np.zeros(5))
        total = norm = 0.0
        for k in range(5):
            own = groups[0] == groups[1][k]
            total += c_neg[k] * (c_pos[own] * of_pair(f_pos[own] - f_neg[k])).sum() ** p
            norm += c_neg[k] * c_pos[own].sum() ** p
        weights = {"pos_weight": c_pos, "neg_weight": c_neg}
        found = objectives.normalized_value(
            f_pos, f_neg, p, **given, **weights, pos_group=groups[0], neg_group=groups[1]
        )
        assert found == pytest.approx((total / norm) ** (1 / p), rel=1e-11)
        if not grouped:
            plain = objectives.normalized_value(f_pos, f_neg, p, **given)
            R = matrix_value_and_weights(f_pos, f_neg, "linear", loss)[0]
            assert p > 1 or plain == pytest.approx(R / 30)
            assert plain <= objectives.normalized_value(f_pos, f_neg, p + 1, **given) * (1 + 1e-12)
            if loss in ("exponential", "hinge", "squared_hinge"):
                assert found >= pnorm.metrics.p_norm_risk(f_pos, f_neg, p, **weights)
    if loss == "exponential":
        assert objectives.normalized_value([0.0, 0.0], [0.0], 2, pos_weight=[1e308, 1e308]) == pytest.approx(1.0)
        with raises(OverflowError, r"call pnorm\.objectives\.value for its logarithm"):
            objectives.normalized_value([0.0], [710.0], 2)


def test_log_r_is_not_convex_for_a_power_price_of_another_loss():
    """Why minimize takes the root: far up, log of a linear loss is concave."""
    a, m, b = (objectives.value([x], [0.0], objectives.Power(4), "logistic") for x in (-30.0, -20.0, -10.0))
    assert m > 0.5 * (a + b) + 0.1


@pytest.mark.parametrize("loss", ["huber", "hinge"])
def test_smoothing_bounds_the_hinge_from_above_by_a_quarter(loss):
    z = np.linspace(-3, 3, 601)
    smoothing = 0.0 if loss == "hinge" else 0.25
    smooth = np.array([np.exp(objectives.value([x], [0.0], loss="hinge", smoothing=smoothing)) for x in z])
    hinge = np.maximum(0.0, 1.0 - z)
    assert (smooth >= hinge - 1e-13).all()
    assert (smooth <= hinge + 0.25 * smoothing + 1e-13).all()


# How it is done -----------------------------------------------------------------------------------


@examples(10)
@given(
    st.lists(
        st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, -0.0, 1.0, 1e300, -1e300, 5e-324])),
        min_size=1,
        max_size=60,
    )
)
def test_ranks_are_those_of_a_stable_sort(values):
    f = np.array(values)
    ranked = GroupedScores.of(f, None, np.array([0, f.size]), True)
    order = np.argsort(f, kind="stable")
    assert (ranked.order == order).all()
    assert (ranked.f == f[order]).all()


def test_both_ways_of_sorting_are_used_and_agree():
    rng = np.random.default_rng(0)
    for f, by_buckets in ((rng.normal(size=20000), True), (rng.standard_cauchy(20000) ** 5, False)):
        order, out = np.empty(f.size, np.intp), np.empty(f.size)
        assert _pairs.sort(f, order, out, np.zeros(f.size + 1, np.intc)) == by_buckets
        assert (GroupedScores.of(f, None, np.array([0, f.size]), True).order == np.argsort(f, kind="stable")).all()


@pytest.mark.parametrize("wild", [[np.nan], [np.inf], [-np.inf], [np.nan, np.inf, -np.inf], [1e308, -1e308]])
def test_scores_that_are_no_places_on_the_line_are_left_to_a_general_sort(wild):
    f = np.concatenate([np.linspace(0, 1, 50), wild, np.linspace(1, 0, 50)])
    assert not _pairs.sort(f, np.empty(f.size, np.intp), np.empty(f.size), np.zeros(f.size + 1, np.intc))


def test_a_users_loss_in_blocks(monkeypatch):
    """Blocks smaller than a side, and threads."""
    rng = np.random.default_rng(4)
    f_pos, f_neg = rng.normal(size=150), rng.normal(size=170)
    groups = rng.integers(0, 3, 150), rng.integers(0, 3, 170)
    whole = objectives.value_and_weights(f_pos, f_neg, loss=USER, pos_group=groups[0], neg_group=groups[1])
    monkeypatch.setattr(_pair_loss, "_PAIRS", 40)
    monkeypatch.setattr("pnorm._threads._FEW", 1)
    parts = objectives.value_and_weights(f_pos, f_neg, loss=USER, pos_group=groups[0], neg_group=groups[1], n_threads=3)
    for a, b in zip(whole, parts, strict=True):
        agree(a, b, 1e-13)
    R, A, B = value_and_weights(f_pos, f_neg, "linear", "user", groups=groups)
    agree(parts[1], A / R, 1e-12)


def test_a_warning_where_a_users_loss_means_too_many_pairs(monkeypatch):
    monkeypatch.setattr(_losses, "_MANY_PAIRS", 10)
    with warns(RuntimeWarning, "cube visits all 12 pairs in every evaluation"):
        objectives.value([0.0, 1.0, 2.0], [0.0] * 4, loss=USER)
    with pytest.warns(RuntimeWarning, match="cube visits all"):
        pnorm.train([[0.0]] * 4, [[1.0]] * 3, loss=USER, t_max=1)
    groups = {"pos_group": [0, 0, 1], "neg_group": [0, 0, 1, 1]}
    objectives.value([0.0, 1.0, 2.0], [0.0] * 4, loss=USER, **groups)  # 6 pairs
    objectives.value([0.0, 1.0, 2.0], [0.0] * 4, loss="logistic")  # no warning: pytestmark makes it an error


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: objectives.Power(0.5), ValueError, "p must be at least 1"),
        (lambda: objectives.Exponential(0.0), ValueError, "scale must be above zero; got 0.0"),
        (lambda: objectives.Exponential("a"), TypeError, "scale must be a real number; got 'a'"),
        (lambda: objectives.Price(3, np.exp), TypeError, "g of a user's price must be a function of an array; got int"),
        (
            lambda: objectives.Price(np.sin, np.cos, name="wave"),
            ValueError,
            "g of wave is -",
        ),
        (
            lambda: objectives.Price(lambda r: 1 - np.exp(-r), lambda r: np.exp(-r), name="share"),
            ValueError,
            "g of share is not convex in r, nor rising and convex in ln r: at r = ",
        ),
        (
            lambda: objectives.Price(lambda r: np.log(r + 1e-3) ** 2, lambda r: 2 * np.log(r + 1e-3) / (r + 1e-3)),
            ValueError,
            "of a user's price is not convex in r, nor rising and convex in ln r",
        ),
        (
            lambda: objectives.Price(np.log1p, lambda r: 1.01 / (1 + r), name="log"),
            ValueError,
            "dg of log is not the derivative of g: 0.505 at r = 1, where g changes at the rate 0.499999",
        ),
        (
            lambda: objectives.Price(lambda r: r**2 - r, lambda r: 2 * r - 1, name="dip"),
            ValueError,
            "g of dip is -9.99999e-07 at r = 1e-06; a price must be zero or more",
        ),
        (
            lambda: objectives.Price(np.square, lambda r: r, name="half"),
            ValueError,
            "dg of half is not the derivative of g: 1 at r = 1, where g changes at the rate 1.9999",
        ),
        (
            lambda: objectives.Price(lambda r: r**2, lambda r: 2.02 * r),
            ValueError,
            "dg of a user's price is not the derivative of g",
        ),
        (
            lambda: objectives.Price(lambda r: r * np.log(r), lambda r: 1 + np.log(r)),
            ValueError,
            "g of a user's price is nan at 0",
        ),
        (
            lambda: objectives.Price(lambda r: r[:-1], lambda r: r),
            ValueError,
            "g of a user's price must return as many numbers as it is given, an array of shape (",
        ),
        (
            lambda: objectives.Price(lambda r: r if r > 0 else 0, lambda r: 1),
            TypeError,
            "g of a user's price must take an array of numbers and return one, like NumPy's functions; given an array "
            "it raised ValueError",
        ),
        (
            lambda: objectives.Price(lambda r: 1j * r, lambda r: r),
            TypeError,
            "g of a user's price must return real numbers in double precision; got dtype complex128",
        ),
        (
            lambda: objectives.Price(lambda r: r * np.inf, lambda r: r, check=True),
            ValueError,
            "g of a user's price is nan at 0",
        ),
        (
            lambda: objectives.Price(lambda r: r + np.inf, lambda r: r),
            ValueError,
            "g of a user's price is finite at too few points between 0 and 1e+06",
        ),
        (
            lambda: objectives.Loss(lambda z: 1 / (1 + np.exp(z)), lambda z: -np.exp(z) / (1 + np.exp(z)) ** 2),
            ValueError,
            "dl of a user's loss is nan at 737.184",
        ),
        (
            lambda: objectives.Loss(lambda z: 0.5 - 0.5 * np.tanh(z), lambda z: -0.5 / np.cosh(z) ** 2, name="soft"),
            ValueError,
            "l of soft is not convex: at z = ",
        ),
        (
            lambda: objectives.Loss(lambda z: -z, lambda z: -1 + 0 * z),
            ValueError,
            "a loss must be zero or more",
        ),
        (
            lambda: objectives.Loss(lambda z: np.exp(-z), lambda z: np.exp(-z)),
            ValueError,
            "dl of a user's loss is not the derivative of l",
        ),
    ],
)
def test_a_price_or_loss_is_refused(make, error, message):
    with raises(error, message):
        make()


def test_check_false_lets_anything_pass_until_it_hurts():
    root = objectives.Price(np.sqrt, lambda r: 0.5 / np.sqrt(np.maximum(r, 1e-300)), check=False)
    agree(objectives.value([0.0], [0.0, 0.0], root, "squared"), np.log(2.0), 1e-15)
    negative = objectives.Price(lambda r: r - 5, lambda r: 1, name="low", check=False)
    with raises(ValueError, "g of low is -4 at r = 1; a price must be zero or more"):
        objectives.value([0.0], [0.0], negative, "squared")
    assert objectives.Loss(lambda z: -z, lambda z: -1, check=False).decreasing
    somewhere = objectives.Price(
        lambda r: np.where(r < 5, r, np.nan), lambda r: np.where(r < 5, 1.0, np.nan), check=False
    )
    assert not somewhere.increasing
    agree(objectives.value([0.0], [0.0, 0.0], somewhere, "squared"), np.log(2.0), 1e-15)
    with raises(ValueError, "g of a user's price is nan at 9"):
        objectives.value([-2.0], [0.0], somewhere, "squared")


@each_value()
@pytest.mark.parametrize("function", [objectives.value, objectives.value_and_weights])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"f_pos": []}, ValueError, "f_pos is empty"),
        ({"f_neg": [np.nan]}, ValueError, "f_neg has nan at position 0"),
        ({"f_neg": [[1.0]]}, ValueError, "f_neg must have shape (N,)"),
        (
            {"price": 4},
            TypeError,
            "price must be one of pnorm.objectives, such as Linear(), Power(4) or Exponential(0.1); got 4",
        ),
        ({"price": "power"}, TypeError, "price must be one of pnorm.objectives"),
        ({"loss": "log"}, ValueError, "loss must be one of 'exponential', 'logistic', 'hinge', "),
        ({"loss": np.exp}, TypeError, "loss must be 'exponential', 'logistic', 'hinge', 'squared_hinge', 'squared' or"),
        ({"smoothing": -1.0, "loss": "hinge"}, ValueError, "smoothing must be zero or more; got -1.0"),
        (
            {"smoothing": 0.1},
            ValueError,
            "smoothing rounds off the corner of the loss 'hinge' only; got smoothing=0.1 with ",
        ),
        ({"pos_weight": [1.0]}, ValueError, "pos_weight must have shape (2,)"),
        ({"pos_group": [0, 0]}, ValueError, "pos_group is given and neg_group is not"),
        ({"n_threads": 0}, ValueError, "n_threads must be at least 1"),
        ({"f_pos": [1e308, -1e308]}, ValueError, "f_pos with f_neg gives scores that, times p, overflow"),
    ],
)
def test_a_value_is_refused(function, arguments, error, message):
    with raises(error, message):
        function(**({"f_pos": [0.0, 1.0], "f_neg": [0.0]} | arguments))


def test_convex_functions_that_round_are_not_refused():
    """Differences of near numbers are rounded at the size of their parts."""
    for g, dg in (
        (lambda r: np.cosh(r) - 1, np.sinh),
        (lambda r: np.exp(0.01 * r) - 1, lambda r: 0.01 * np.exp(0.01 * r)),
        (lambda r: np.sqrt(1 + r * r) - 1, lambda r: r / np.sqrt(1 + r * r)),
        (lambda r: r * np.log1p(r), lambda r: np.log1p(r) + r / (1 + r)),
        (lambda r: r**1.5, lambda r: 1.5 * np.sqrt(r)),
        (lambda r: np.square(r, out=r), lambda r: 2 * r),
        (lambda r: 3.0 + r, lambda r: 1),
    ):
        assert objectives.Price(g, dg).smooth
    for ell, slope in (
        (lambda z: np.log(1 + np.exp(-z)), lambda z: -1 / (1 + np.exp(z))),
        (lambda z: np.logaddexp(0, -z), lambda z: 1 / (1 + np.exp(-z)) - 1),
        (
            lambda z: 0.5 * (1 - z + np.sqrt((1 - z) ** 2 + 0.01)),
            lambda z: -0.5 - 0.5 * (1 - z) / np.sqrt((1 - z) ** 2 + 0.01),
        ),
    ):
        assert objectives.Loss(ell, slope).smooth
    assert not objectives.Price(lambda r: np.abs(r - 3), lambda r: np.sign(r - 3)).smooth
    assert not objectives.Loss(*LOSSES["hinge"]).smooth
    assert objectives.Loss(*LOSSES["squared_hinge"]).smooth


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: objectives.Loss(np.exp, np.exp, name="up"),
            "l of up goes the wrong way, or nowhere: a loss falls with z",
        ),
        (lambda: objectives.Loss(lambda z: 1.0, lambda z: 0.0), "goes the wrong way, or nowhere"),
        (
            lambda: objectives.Price(lambda r: 1 / (1 + r), lambda r: -1 / (1 + r) ** 2),
            "g of a user's price goes the wrong way, or nowhere: a price rises with the height r",
        ),
        (lambda: objectives.Price(lambda r: 3.0, lambda r: 0), "goes the wrong way, or nowhere"),
    ],
)
def test_a_price_or_loss_the_wrong_way_round(make, message):
    with raises(ValueError, message):
        make()


def single(z):
    return np.float32(1) * z.astype(np.float32) ** 2


def squares(r):
    return r**2


def doubles(r):
    return 2 * r


def test_single_precision_is_refused_and_named_functions_travel():
    with raises(TypeError, "must return real numbers in double precision; got dtype float32"):
        objectives.Price(single, doubles)
    price = pickle.loads(pickle.dumps(objectives.Price(squares, doubles)))
    agree(objectives.value([0.0], [1.0], price), objectives.value([0.0], [1.0], objectives.Power(2)), 1e-14)
    assert objectives.Power(3).p == 3.0


def test_users_functions_beyond_their_sample_points():
    steep = objectives.Price(lambda r: np.hypot(1, r), lambda r: r / np.hypot(1, r))
    with raises(OverflowError, r"a sum of losses is e\^800, too large for a double"):
        objectives.value([-800.0], [0.0], steep)
    in_place = objectives.Price(lambda r: np.square(r, out=r), lambda r: np.multiply(2, r, out=r))
    for a, b in zip(
        objectives.value_and_weights([0.0, 0.5], [0.1], in_place),
        objectives.value_and_weights([0.0, 0.5], [0.1], objectives.Power(2)),
        strict=True,
    ):
        agree(a, b, 1e-13)


def test_scores_far_from_zero_and_weights_far_from_one():
    f_pos, f_neg = np.array([0.5, 0.25, -3.0]), np.array([0.0, 1.0])
    for loss in LOSSES:
        near = objectives.value_and_weights(f_pos, f_neg, **ours("power", loss))
        far = objectives.value_and_weights(f_pos + 2.0**40, f_neg + 2.0**40, **ours("power", loss))
        for a, b in zip(near, far, strict=True):
            agree(a, b, 1e-14)
        light = objectives.value_and_weights(f_pos, f_neg, **ours("power", loss), pos_weight=[1e-290] * 3)
        agree(light[0], near[0] + 4 * np.log(1e-290), 1e-13)
        agree(light[1], near[1], 1e-11)
    for x in (1e15, 1e16, 1e300):
        agree(objectives.value([x, x], [x], loss="logistic"), np.log(2 * np.log(2)), 3e-14)
        agree(objectives.value([x, -x], [x], loss="logistic"), np.log(2 * x), 1e-14)


def test_where_log_r_is_no_double():
    steep = objectives.Exponential(1.0)
    for function in (objectives.value, objectives.value_and_weights):
        with raises(OverflowError, r"the price Exponential\(1\) overflows for a sum of losses of e\^800"):
            function([0.0], [800.0], steep)
        with raises(OverflowError, r"the price cubes overflows for a sum of losses of e\^300"):
            function([0.0], [300.0], objectives.Price(lambda r: r**3, lambda r: 3 * r**2, name="cubes"))
    assert objectives.value([0.0], [700.0], steep) == pytest.approx(np.exp(700.0))


def test_prices_say_what_they_are():
    assert repr(objectives.Linear()) == "Power(1)"
    assert repr(objectives.Exponential(0.25)) == "Exponential(0.25)"
    assert repr(OUR_PRICES["user"]) == "forgiving"
    assert repr(USER) == "'cube'"
    assert OUR_PRICES["user"].increasing
    assert not OUR_PRICES["falling"].increasing
    assert USER.decreasing
    assert not objectives.Loss(lambda z: (1 - z) ** 2, lambda z: 2 * (z - 1)).decreasing
