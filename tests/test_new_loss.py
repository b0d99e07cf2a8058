"""A new loss is one class: everything that takes a loss takes it, by an instance or by its name."""

import math
from dataclasses import replace

import family
import numpy as np
import pytest
from facts import raises
from test_kernel import literal, rbf, sides

import pnorm
from pnorm import bounds, kernel, metrics, objectives
from pnorm.objectives._losses import LOSSES, LogisticLoss
from pnorm.objectives._pair_loss import Growth, PairLoss


class Steep(PairLoss):
    """ln(1 + e^-2z): that of all pairs is the logistic loss of scores twice as far apart."""

    name = "steep"
    ascending = True
    lipschitz = 1.0
    growth = Growth(1, 2.0)

    def value(self, z):
        return np.logaddexp(0.0, -2.0 * z)

    def slope(self, z):
        return -2.0 * np.exp(-np.logaddexp(0.0, 2.0 * z))

    def curvature(self, z):
        return self.slope(z) * (self.slope(z) + 2.0) * -1.0

    def sums(self, pairs):
        source, target = (replace(side, f=2.0 * side.f) for side in (pairs.source, pairs.target))
        sums = LogisticLoss().sums(replace(pairs, source=source, target=target))
        return replace(sums, slope=2.0 * sums.slope)


class Slow(Steep):
    """The same without fast sums."""

    sums = PairLoss.sums


class Kinked(PairLoss):
    """max(0, 1 - z, 2 - 3z), of which nothing is told but value and slope."""

    name = "kinked"
    smooth = False

    def value(self, z):
        return np.maximum(np.maximum(0.0, 1.0 - z), 2.0 - 3.0 * z)

    def slope(self, z):
        return np.where(z < 0.5, -3.0, -1.0 * (z < 1.0))


JUDGED = {
    "steep": (lambda z: np.log1p(np.exp(-2 * z)), lambda z: -2 / (1 + np.exp(2 * z))),
    "kinked": (lambda z: max(0, 1 - z, 2 - 3 * z), lambda z: -3.0 if z < 0.5 else -1.0 if z < 1 else 0.0),
}
EACH = pytest.mark.parametrize("loss", [Steep(), Slow(), Kinked()], ids=["fast", "slow", "kinked"])


@pytest.fixture(autouse=True)
def _judge(monkeypatch):
    """Write the new losses out a second time."""
    for name, functions in JUDGED.items():
        monkeypatch.setitem(family.LOSSES, name, [np.vectorize(function, otypes="d") for function in functions])


@EACH
@pytest.mark.parametrize("price", ["linear", "power", "exponential"])
def test_values_and_weights(loss, price):
    rng = np.random.default_rng(0)
    f_pos, f_neg = family.scores(rng, 20, 25)
    weights = rng.choice([0.0, 0.5, 2.0], 20), rng.choice([0.0, 1.0, 3.0], 25)
    groups = rng.integers(0, 3, 20), rng.integers(0, 3, 25)
    for c, g in ((None, None), (weights, None), (weights, groups)):
        given = dict(zip(("pos_weight", "neg_weight"), c or (None, None), strict=True))
        given |= dict(zip(("pos_group", "neg_group"), g or (None, None), strict=True))
        R, A, B = family.value_and_weights(f_pos, f_neg, price, loss.name, *(c or (None, None)), g)
        found = objectives.value_and_weights(f_pos, f_neg, family.OUR_PRICES[price], loss, **given)
        np.testing.assert_allclose(found[0], np.log(R), rtol=1e-12)
        np.testing.assert_allclose(found[1], A / R, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(found[2], B / R, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("loss", [Steep(), Slow()], ids=["fast", "slow"])
def test_training_and_the_minimum(loss):
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(0.3, 1, (15, 3)), rng.normal(0, 1, (18, 3))
    price = family.OUR_PRICES["power"]
    expected = family.train(pos, neg, "power", "steep", 12)
    lam, trace = pnorm.train(pos, neg, price=price, loss=loss, t_max=12)
    assert trace.ranker.tolist() == expected.ranker
    np.testing.assert_allclose(lam, expected.lam, rtol=1e-8)
    lam, trace = pnorm.minimize(pos, neg, price=price, loss=loss, l2=0.1, tol=1e-12)
    assert trace.status == "converged"
    R, A, B = family.matrix_value_and_weights(pos @ lam, neg @ lam, "power", "steep")
    slope = (neg.T @ B - pos.T @ A) * R ** (1 / 4 - 1) / 4 + 0.1 * lam  # of R ** (1 / 4) and the penalty
    assert np.abs(slope).max() < 1e-6


def test_a_corner_is_named():
    rng = np.random.default_rng(2)
    pos, neg = rng.integers(0, 2, (20, 4)), rng.integers(0, 2, (20, 4))
    _, trace = pnorm.train(pos, neg, loss=Kinked(), t_max=40)
    assert trace.message.endswith("which has a corner here, from loss 'kinked'")
    with raises(ValueError, r"loss 'kinked' has corners, and minimize needs derivatives\. Pass a smooth loss"):
        pnorm.minimize(pos, neg, loss=Kinked())
    with raises(ValueError, "smoothing rounds off the corner of the loss 'hinge' only"):
        pnorm.train(pos, neg, loss=Kinked(), smoothing=0.1)


@EACH
def test_the_chain_of_theorem_1(loss):
    f_pos, f_neg = family.scores(np.random.default_rng(3), 12, 14)
    chain = metrics.theorem1(f_pos, f_neg, family.OUR_PRICES["power"], loss)
    at_zero = min(1.0, float(family.LOSSES[loss.name][0](0.0)))
    R, _, _ = family.value_and_weights(f_pos, f_neg, "power", loss.name, np.full(12, 1 / at_zero))
    assert chain.log_surrogate == pytest.approx(np.log(R), rel=1e-12)
    assert chain.log_lower <= chain.log_risk <= chain.log_surrogate


@EACH
def test_training_in_a_kernel_space(loss):
    pos, neg = sides(7, 9)
    coefs, risks = literal(rbf(*[np.concatenate([pos, neg])] * 2), 7, JUDGED[loss.name], 0.07, 0.5, 0.5, 20)
    model, trace = kernel.train(pos, neg, loss=loss, lam=0.07, eta=0.5, theta=0.5, t_max=20, gamma=0.3)
    np.testing.assert_allclose(model.coef, coefs[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.loss, risks, rtol=1e-10)


def test_the_minimum_in_a_kernel_space():
    pos, neg = sides(7, 9)
    for loss in (Steep(), Slow()):
        model, trace = kernel.minimize(pos, neg, loss=loss, lam=0.2, gamma=0.3)
        assert trace.status == "converged"
        f = model.score(np.concatenate([pos, neg]))
        slopes = family.LOSSES["steep"][1](f[:7, None] - f[7:]) / 63
        np.testing.assert_allclose(model.coef, np.r_[-slopes.sum(axis=1), slopes.sum(axis=0)] / 0.2, atol=1e-9)
    with raises(ValueError, "needs second derivatives, which the loss 'kinked'"):
        kernel.minimize(pos, neg, loss=Kinked())


def test_the_bounds_of_a_loss_that_says_how_fast_it_grows():
    phi, slope = JUDGED["steep"]
    assert bounds.step_condition(Steep(), 0.5, 1.5) == pytest.approx(1 / (4 * 1.5**2 * 1.0 + 0.5))
    radius = 2 * abs(slope(0.0)) + math.sqrt(2 * phi(0.0))
    tail = phi(-2 * radius) * math.sqrt(2 * math.log(2 / 0.05))
    spread = 4 * abs(slope(-2 * radius)) * radius + 2 * phi(0.0) + tail
    expected = spread * 40**1.5 / 400
    assert bounds.sample_deviation_bound(Steep(), 20, 20, 1.0, 1.0, 0.05) == pytest.approx(expected)
    assert bounds.rate(Steep(), 0.6, 0.1, 1) == bounds.rate("logistic", 0.6, 0.1, 1)
    eta = kernel.schedule(500, 500, Steep(), 1.0, 1.0, 0.5, 0.1).eta
    assert eta == pytest.approx(1 / (1 + 4 * (1.0 + 1.0 + 2.0)))
    with raises(ValueError, "which grow no faster than a known power; got 'kinked'"):
        bounds.rate(Kinked(), 0.6, 0.1, 1)


def test_a_name_in_the_table_is_all_that_a_named_loss_needs(monkeypatch):
    monkeypatch.setitem(LOSSES, "steep", Steep())
    pos, neg = sides(8, 9)
    for function in (pnorm.train, pnorm.minimize, kernel.train, kernel.minimize):
        (by_name, _), (by_instance, _) = (function(pos, neg, loss=loss) for loss in ("steep", Steep()))
        np.testing.assert_array_equal(getattr(by_name, "coef", by_name), getattr(by_instance, "coef", by_instance))
    assert bounds.step_condition("steep", 0.5, 1.5) == bounds.step_condition(Steep(), 0.5, 1.5)
    assert kernel.schedule(50, 50, "steep", 1.0, 1.0, 0.5, 0.1) == kernel.schedule(50, 50, Steep(), 1.0, 1.0, 0.5, 0.1)


@pytest.mark.parametrize("name", LOSSES)
def test_the_value_and_slope_of_named_losses_are_those_of_their_sums(name):
    """Sums over all pairs by `value` and `slope` against the loss's own."""
    rng = np.random.default_rng(4)
    f_pos, f_neg = 3.0 * rng.normal(size=30), 3.0 * rng.normal(size=40)
    for smoothing in (0.0, 0.25, 1.5) if name == "hinge" else (0.0,):
        own = LOSSES[name].smoothed(smoothing) if smoothing else LOSSES[name]
        plain = type(f"Plain{name}", (type(own),), {"sums": PairLoss.sums})
        slow = plain(smoothing) if smoothing else plain()
        price = objectives.Exponential(0.01)  # no shortcut for the exponential loss
        for a, b in zip(*(objectives.value_and_weights(f_pos, f_neg, price, x) for x in (own, slow)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14)
