"""`train` and `minimize` on other prices and losses than the paper's."""

import family
import numpy as np
import pytest
import scipy.sparse
from facts import raises, tells
from family import LOSSES, OUR_PRICES, PAIRS, USER, matrix_value_and_weights, ours
from repeats import each_value, trials
from scipy.optimize import linprog, minimize

import pnorm
from pnorm import objectives

pytestmark = pytest.mark.filterwarnings("error")

SMOOTH = [(p, c) for p, c in PAIRS if c != "hinge" and (p, c) != ("falling", "exponential")]
NEW = [(p, c) for p, c in SMOOTH if c != "exponential" or p not in ("linear", "power")]


def data(seed, n_pos=25, n_neg=30, n=4):
    rng = np.random.default_rng(seed)
    return rng.normal(0.4, 1, (n_pos, n)), rng.normal(0, 1, (n_neg, n))


def log_r(pos, neg, lam, price, loss):
    return objectives.value(pos @ lam, neg @ lam, **ours(price, loss))


# Coordinate descent -------------------------------------------------------------------------------


@each_value(times=3)
@pytest.mark.parametrize("selection", ["absolute", "signed", "largest"])
@pytest.mark.parametrize(("price", "loss"), SMOOTH)
def test_training_is_coordinate_descent_on_all_pairs(price, loss, selection):
    pos, neg = data(3)
    if selection == "largest":
        pos[:, :3] -= 1.0  # most edges are negative at first
        pos[:, 3] = neg[:25, 3] - 0.1
    lam, trace = pnorm.train(pos, neg, t_max=12, selection=selection, **ours(price, loss))
    judge = family.train(pos, neg, price, loss, 12, selection)
    assert trace.ranker.tolist() == judge.ranker
    np.testing.assert_allclose(trace.step, judge.step, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(trace.edge, judge.edge, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(trace.log_objective, judge.log_objective, rtol=1e-10)
    np.testing.assert_allclose(lam, judge.lam, rtol=1e-8, atol=1e-9)
    assert trace.status == judge.status
    assert (np.diff(trace.log_objective) <= 1e-12).all()
    if (price, loss) in NEW:
        assert np.isnan(trace.z).all()
        rounds = "1 round" if trace.n_iter == 1 else f"{trace.n_iter} rounds"
        assert repr(trace).startswith(f"<Trace: {trace.status} after {rounds}, log R ")


def test_the_power_price_is_p():
    pos, neg = data(1)
    a, by_p = pnorm.train(pos, neg, p=4, t_max=30)
    b, by_price = pnorm.train(pos, neg, price=objectives.Power(4), t_max=30)
    assert (a == b).all()
    assert (by_p.z == by_price.z).all()
    assert (pnorm.train(pos, neg, price=objectives.Linear(), t_max=9)[0] == pnorm.train(pos, neg, t_max=9)[0]).all()
    assert (pnorm.minimize(pos, neg, p=4)[0] == pnorm.minimize(pos, neg, price=objectives.Power(4))[0]).all()
    a, _ = pnorm.train(pos, neg, p=4, t_max=30, loss="logistic")
    b, _ = pnorm.train(pos, neg, price=objectives.Power(4), t_max=30, loss="logistic")
    assert (a == b).all()


@pytest.mark.parametrize("loss", ["logistic", "huber", "squared"])
def test_training_goes_on_to_the_minimum(loss):
    pos, neg = data(5)
    lam, trace = pnorm.train(pos, neg, t_max=2000, **ours("power", loss))
    assert trace.status == "stationary"
    best, of_minimum = pnorm.minimize(pos, neg, **ours("power", loss))
    np.testing.assert_allclose(lam, best, atol=1e-7)
    assert trace.log_objective[-1] == pytest.approx(of_minimum.log_objective[-1], abs=1e-12)


@pytest.mark.parametrize(
    ("price", "loss"), [("power", "logistic"), ("exponential", "squared_hinge"), ("user", "huber")]
)
def test_groups_in_training(price, loss):
    pos, neg = data(8, 20, 18)
    rng = np.random.default_rng(0)
    g_pos, g_neg = rng.integers(0, 4, 20), rng.integers(0, 4, 18)
    groups = {"pos_group": g_pos, "neg_group": g_neg}
    lam, trace = pnorm.train(pos, neg, t_max=15, **groups, **ours(price, loss))
    R, A, B = family.value_and_weights(pos @ lam, neg @ lam, price, loss, groups=(g_pos, g_neg))
    assert trace.log_objective[-1] == pytest.approx(np.log(R), rel=1e-12)
    _, one_more = pnorm.train(pos, neg, t_max=1, init=lam, **groups, **ours(price, loss))
    edges = (pos.T @ A - neg.T @ B) / np.abs(A).sum()
    assert one_more.edge[0] == pytest.approx(edges[np.abs(edges).argmax()], rel=1e-6)


def test_the_same_path_in_every_storage():
    rng = np.random.default_rng(6)
    pos, neg = rng.integers(0, 4, (60, 5)).astype(float), rng.integers(0, 3, (50, 5)).astype(float)
    H = pnorm.rankers.thresholds([[0.5, 1.5, 2.5]] * 5)
    outputs = [
        np.concatenate([(X[:, [j]] > cut).astype(float) for j in range(5) for cut in (0.5, 1.5, 2.5)], axis=1)
        for X in (pos, neg)
    ]
    for price, loss in (("power", "logistic"), ("user", "huber"), ("linear", "hinge")):
        binned, _ = pnorm.train(pos, neg, H, t_max=20, **ours(price, loss))
        dense, _ = pnorm.train(*outputs, t_max=20, **ours(price, loss))
        sparse, _ = pnorm.train(*map(scipy.sparse.csr_array, outputs), t_max=20, **ours(price, loss))
        np.testing.assert_allclose(binned, dense, atol=1e-9)
        np.testing.assert_allclose(sparse, dense, atol=1e-9)
        lam, _ = pnorm.train(pos, neg, H, t_max=20, n_threads=1, **ours(price, loss))
        assert (lam == binned).all()


def test_a_callback_and_a_start():
    pos, neg = data(2)
    half, _ = pnorm.train(pos, neg, t_max=10, loss="logistic")
    whole, trace = pnorm.train(pos, neg, t_max=20, loss="logistic")
    again, _ = pnorm.train(pos, neg, t_max=10, loss="logistic", init=half)
    np.testing.assert_allclose(again, whole, rtol=1e-9)
    np.testing.assert_allclose(trace.lam_at(10), half)
    _, stopped = pnorm.train(pos, neg, loss="logistic", callback=lambda so_far: so_far.n_iter == 3)
    assert (stopped.status, stopped.n_iter) == ("callback", 3)


# Corners ------------------------------------------------------------------------------------------


@each_value()
@pytest.mark.parametrize("price", ["linear", "power", "exponential"])
@pytest.mark.parametrize("seed", trials(4))
def test_the_hinge_stalls_at_a_corner(seed, price):
    """No single coefficient lowers the objective any more, from either side."""
    pos, neg = data(seed)
    lam, trace = pnorm.train(pos, neg, t_max=2000, **ours(price, "hinge"))
    assert trace.status == "stalled"
    assert tells(trace.message, "has a corner here, from loss 'hinge'. Pass smoothing=0.1 to round it off")
    assert (np.diff(trace.log_objective) < 0).all()
    here = log_r(pos, neg, lam, price, "hinge")
    for j in range(len(lam)):
        for step in np.concatenate([-np.geomspace(1e-6, 1, 25), np.geomspace(1e-6, 1, 25)]):
            moved = lam.copy()
            moved[j] += step
            assert log_r(pos, neg, moved, price, "hinge") >= here - 1e-13


def test_smoothing_is_the_remedy():
    """Two pairs, differences (1, -1) and (-0.3, 0.9): both could be in order, but no single step leads there."""
    pos, neg = np.array([[1.0, -1.0], [-0.3, 0.9]]), np.zeros((1, 2))
    lam, trace = pnorm.train(pos, neg, t_max=2000, loss="hinge")
    assert (trace.status, trace.n_iter) == ("stalled", 1)
    np.testing.assert_allclose(lam, [1.0, 0.0])
    assert np.exp(trace.log_objective[-1]) == pytest.approx(1.3)
    smooth, _ = pnorm.train(pos, neg, t_max=2000, loss="hinge", smoothing=0.1)
    assert np.exp(log_r(pos, neg, smooth, "linear", "hinge")) < 1e-6
    _, exact = pnorm.minimize(pos, neg, loss="hinge", smoothing=0.1)
    assert (exact.status, exact.gap) == ("converged", 0.0)


@pytest.mark.parametrize("seed", trials(3))
def test_the_smoothed_minimum_is_near_that_of_the_hinge(seed):
    """The least sum of hinges by linear programming; every pair on a parabola adds a quarter of the smoothing at most."""
    pos, neg = data(seed)
    M = (pos[:, None] - neg[None]).reshape(-1, pos.shape[1])
    m, n = M.shape
    bounds = [(None, None)] * n + [(0, None)] * m
    judge = linprog(np.r_[np.zeros(n), np.ones(m)], A_ub=np.c_[-M, -np.eye(m)], b_ub=-np.ones(m), bounds=bounds)
    lam, _ = pnorm.minimize(pos, neg, loss="hinge", smoothing=0.02)
    found = np.exp(log_r(pos, neg, lam, "linear", "hinge"))
    on_parabola = np.count_nonzero(np.abs(1 - M @ judge.x[:n]) < 0.02)
    assert judge.fun <= found * (1 + 1e-12)
    assert found <= judge.fun + 0.005 * on_parabola


def test_corners_of_the_users_own_are_found():
    """A hinge written by a user runs as the one with a name; a price with a corner stalls like it."""
    pos, neg = data(1)
    mine = objectives.Loss(*LOSSES["hinge"], name="mine")
    _, trace = pnorm.train(pos, neg, loss=mine, t_max=3000)
    _, judge = pnorm.train(pos, neg, loss="hinge", t_max=3000)
    assert (trace.status, judge.status) == ("stalled", "stalled")
    np.testing.assert_allclose(trace.log_objective[:12], judge.log_objective[:12], rtol=1e-7)
    assert trace.message.endswith("which has a corner here, from loss 'mine'")
    bent = objectives.Price(lambda r: np.maximum(r, 3 * r - 20), lambda r: np.where(r < 10, 1, 3), name="bent")
    _, trace = pnorm.train(pos, neg, loss="logistic", price=bent, t_max=3000)
    assert trace.status == "stalled"
    for chosen in ({"loss": mine}, {"price": bent}):
        with raises(ValueError, r"has corners, and minimize needs derivatives\. Pass a smooth (loss|price)"):
            pnorm.minimize(pos, neg, **chosen)


def test_the_step_along_a_hinge_is_exact():
    """One weak ranker: the minimum is at one of the corners, and all of them can be tried."""
    rng = np.random.default_rng(12)
    for price in ("linear", "power", "exponential"):
        pos, neg = rng.normal(0.5, 1, (15, 1)), rng.normal(0, 1, (12, 1))
        lam, _ = pnorm.train(pos, neg, t_max=50, **ours(price, "hinge"))
        M = (pos[:, None, 0] - neg[None, :, 0]).ravel()
        corners = [log_r(pos, neg, np.array([x]), price, "hinge") for x in [*(1 / M), 0.0]]
        here = log_r(pos, neg, lam, price, "hinge")
        assert here <= min(corners) + 1e-12
        if price == "linear":
            assert here == pytest.approx(min(corners), abs=1e-12)


# Infinity -----------------------------------------------------------------------------------------

APART = np.array([[2.0, 1.0], [3.0, 0.0], [4.0, 2.0]]), np.array([[0.0, 3.0], [1.0, 1.0], [0.5, 0.0]])
TOUCHING = (
    np.array([[1.0, 0.3], [1.0, 0.2], [0.0, 0.5], [0.0, 0.6]]),
    np.array([[0.0, 0.55], [0.0, 0.1], [0.0, 0.9]]),
)


# The forgiving price forgives all there is on so few rows.
@each_value()
@pytest.mark.parametrize(("price", "loss"), [(p, c) for p, c in NEW if p != "user"])
def test_a_ranker_that_separates(price, loss):
    lam, trace = pnorm.train(*APART, t_max=50, **ours(price, loss))
    margin = (APART[0] @ lam).min() - (APART[1] @ lam).max()
    if loss == "squared" or price == "falling":
        assert trace.status in ("stationary", "t_max")
        return
    assert (trace.status, trace.n_iter) == ("separable", 1)
    reach = {"huber": 1.25, "user": 2.0}.get(loss, 1.0)
    assert margin == pytest.approx(reach)
    if loss in ("exponential", "logistic"):
        assert trace.message.endswith("no minimiser exists")
    else:
        assert trace.message.endswith("all losses are at their minimum")
        assert (trace.log_objective[-1] == -np.inf) == (price != "exponential")
        _, after = pnorm.train(*APART, init=lam, **ours(price, loss))
        assert (after.status, after.n_iter) == ("stationary", 0)


@pytest.mark.parametrize(("price", "loss"), [("linear", "logistic"), ("power", "logistic"), ("exponential", "logistic"),
                                             ("exponential", "exponential"), ("user", "logistic")])  # fmt: skip
def test_a_step_toward_infinity_leaves_a_millionth(price, loss):
    chosen = ours(price, loss) | (
        {"price": objectives.Price(lambda r: r**3 + 1, lambda r: 3 * r**2)} if price == "user" else {}
    )
    _, trace = pnorm.train(*TOUCHING, t_max=1, **chosen)
    assert trace.ranker[0] == 0

    def value(x):
        return objectives.value(TOUCHING[0][:, 0] * x, TOUCHING[1][:, 0] * x, **chosen)

    offered = value(0.0) - value(1000.0)
    assert value(trace.step[0]) - value(1000.0) == pytest.approx(1e-6 * offered, rel=1e-6)


def test_touching_sides_whose_losses_come_down_to_zero_have_a_minimum():
    for loss in ("squared_hinge", "huber", "squared"):
        lam, trace = pnorm.train(*TOUCHING, t_max=500, **ours("linear", loss))
        best, of_minimum = pnorm.minimize(*TOUCHING, **ours("linear", loss))
        assert (trace.status, of_minimum.status) == ("stationary", "stationary")
        np.testing.assert_allclose(trace.log_objective[-1], of_minimum.log_objective[-1], rtol=1e-12)
        np.testing.assert_allclose(lam[1], best[1], atol=1e-6)


def test_a_falling_price_is_called_stationary():
    pos, neg = data(4)
    for solve in (pnorm.train, pnorm.minimize):
        _, trace = solve(pos, neg, **ours("falling", "logistic"))
        assert trace.status == "stationary"
        assert "R need not be convex with this price, so this is a stationary point" in trace.message
    # every height can be brought to the cheapest one: nothing is left to gain, and rounding is not taken for a slope
    lam, trace = pnorm.train(*TOUCHING, t_max=40, price=OUR_PRICES["falling"])
    assert trace.status == "stationary"
    assert trace.log_objective[-1] == pytest.approx(np.log(3.0))


def test_overflow_in_a_line_search_is_a_wall():
    """Far along the first line log R is no double; where training starts and ends it is."""
    rng = np.random.default_rng(0)
    pos, neg = 40 * rng.normal(0.3, 1, (30, 3)), 40 * rng.normal(0, 1, (30, 3))
    chosen = {"price": objectives.Exponential(0.05)}
    lam, trace = pnorm.train(pos, neg, t_max=300, **chosen)
    best, of_minimum = pnorm.minimize(pos, neg, **chosen)
    assert of_minimum.status == "stationary"
    assert (np.diff(trace.log_objective) <= 1e-12).all()
    assert trace.log_objective[-1] == pytest.approx(of_minimum.log_objective[-1], abs=1e-6)
    for solve in (pnorm.train, pnorm.minimize):
        with raises(OverflowError, r"the price .* overflows for a sum of losses of e"):
            solve(pos, neg, init=[-50.0, 0.0, 0.0], **chosen)


# Minimisers ---------------------------------------------------------------------------------------


def convex_form(pos, neg, price, loss, l2):
    """What `minimize` says it lowers, by all pairs, with its gradient."""

    def value(lam):
        R, A, B = matrix_value_and_weights(pos @ lam, neg @ lam, price, loss)
        slope = neg.T @ B - pos.T @ A
        form, factor = {"power": (R**0.25, 0.25 * R**-0.75), "exponential": (np.log(R), 1 / R)}.get(price, (R, 1.0))
        return form + 0.5 * l2 * lam @ lam, factor * slope + l2 * lam

    return value


@each_value(times=3)
@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize(("price", "loss"), NEW)
def test_minimize_finds_the_minimiser(price, loss, l2):
    pos, neg = data(9, 40, 50)
    lam, trace = pnorm.minimize(pos, neg, l2=l2, **ours(price, loss))
    value = convex_form(pos, neg, price, loss, l2)
    ours_, gradient = value(lam)
    scale = abs(ours_)
    assert trace.objective[-1] == pytest.approx(ours_, rel=1e-12)
    assert trace.log_objective[-1] == pytest.approx(log_r(pos, neg, lam, price, loss), rel=1e-14)
    assert trace.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-3, abs=1e-8 * scale)
    assert np.linalg.norm(gradient) <= 1e-5 * scale
    judge = minimize(value, lam + 0.01, jac=True, method="BFGS", options={"gtol": 1e-9})
    assert ours_ <= judge.fun + 1e-9 * scale
    if price == "falling":
        assert trace.status == "stationary"
        assert trace.gap == np.inf
    elif l2 > 0:
        assert trace.status == "converged"
        assert trace.gap >= ours_ - judge.fun
        assert (trace.gaps >= trace.objective - judge.fun).all()
    else:
        assert trace.status == "stationary"
        assert trace.gap == np.inf
        _, a, b = objectives.value_and_weights(pos @ lam, neg @ lam, **ours(price, loss))
        least = 1.1e-10 * np.ptp(np.concatenate([pos, neg]), axis=0)
        assert (np.abs(pos.T @ a - neg.T @ b) <= least * np.abs(a).sum()).all()


@each_value()
@pytest.mark.parametrize(("price", "loss"), [(p, c) for p, c in NEW if p != "user"])
def test_separable_data(price, loss):
    lam, trace = pnorm.minimize(*APART, **ours(price, loss))
    margin = (APART[0] @ lam).min() - (APART[1] @ lam).max()
    if loss == "squared" or price == "falling":
        assert trace.status == "stationary"
    elif loss in ("exponential", "logistic"):
        assert (trace.status, trace.gap) == ("separable", np.inf)
        assert margin == pytest.approx(1.0)
        assert trace.message.endswith(
            ": no minimiser exists; rank rows by lam, which has the widest margin, or pass l2 > 0 for a minimiser; "
            "check that no column contains the label"
        )
    else:
        assert (trace.status, trace.gap) == ("converged", 0.0)
        assert margin >= {"huber": 1.25, "user": 2.0}.get(loss, 1.0)
        assert trace.gradient_norm == 0.0
        assert trace.message.endswith(" is at its infimum")


@pytest.mark.parametrize(
    ("price", "loss"), [("linear", "logistic"), ("power", "logistic"), ("exponential", "exponential")]
)
def test_quasi_separable_data(price, loss):
    """The minimiser on the rows that keep their losses, and the way on to the infimum over all."""
    pos, neg = TOUCHING
    lam, trace = pnorm.minimize(pos, neg, **ours(price, loss))
    assert trace.status == "separable"
    assert trace.message.startswith("quasi-separable: 2 of 4 positives and 3 of 3 negatives keep weight, and R falls")
    np.testing.assert_allclose(trace.direction / trace.direction[0], [1.0, 0.0])
    support, alone = pnorm.minimize(pos[2:], neg, **ours(price, loss))
    np.testing.assert_allclose(lam[1], support[1], atol=1e-8)
    far = log_r(pos, neg, lam + 50 * trace.direction / trace.direction[0], price, loss)
    assert far == pytest.approx(trace.log_objective[-1], abs=1e-9)
    assert far == pytest.approx(alone.log_objective[-1], abs=1e-9)


def test_the_linear_program_is_left_alone_at_a_minimum(monkeypatch):
    """Most negatives weigh nothing there, but no step leads farther."""
    monkeypatch.setattr("pnorm._solvers.lbfgs.find_separation", None)
    rng = np.random.default_rng(3)
    pos, neg = rng.normal(1.5, 1, (300, 4)), rng.normal(0, 1, (300, 4))
    lam, trace = pnorm.minimize(pos, neg, p=4, loss="logistic")
    _, _, B = objectives.value_and_weights(pos @ lam, neg @ lam, objectives.Power(4), "logistic")
    assert trace.status == "stationary"
    assert B.min() < 1e-6 * B.max()


@pytest.mark.parametrize("price", [objectives.Exponential(1.0), objectives.Price(np.cosh, np.sinh)], ids=str)
def test_what_negatives_off_the_support_pay_for_ever(price):
    """A price that charges even a height of zero: the value is that of all rows, far along the direction."""
    pos, neg = np.array([[1, 0.3], [1, 0.9], [0, 0.5]]), np.array([[0, 0.6], [0, 0.2], [0, 0.4], [-1, 0.5]])
    lam, trace = pnorm.minimize(pos, neg, price=price, loss="logistic")
    assert "3 of 4 negatives keep weight" in trace.message
    far = lam + 1e3 * trace.direction
    expected = objectives.value(pos @ far, neg @ far, price, "logistic")
    assert trace.log_objective[-1] == pytest.approx(expected, abs=1e-10)


def test_a_users_loss_that_overflows_or_never_comes_down_to_zero():
    """Overflow at one end is no flat stretch, and a loss with a floor has another minimum than its support."""
    steep = objectives.Loss(lambda z: np.exp(-z), lambda z: -np.exp(-z), name="steep")
    assert steep.flat_from == np.inf
    lam, trace = pnorm.minimize(*APART, loss=steep)
    assert (trace.status, trace.gap) == ("separable", np.inf)
    assert pnorm.train(*TOUCHING, t_max=1, loss=steep)[1].step[0] == pytest.approx(
        pnorm.train(*TOUCHING, t_max=1)[1].step[0], rel=1e-6
    )
    floor = objectives.Loss(lambda z: 1 + np.logaddexp(0, -z), lambda z: -1 / (1 + np.exp(z)))
    lam, _ = pnorm.minimize(*TOUCHING, p=4, loss=floor)
    descent, _ = pnorm.train(*TOUCHING, p=4, loss=floor, t_max=2000)
    assert lam[1] == pytest.approx(descent[1], abs=1e-5)
    flat = objectives.Loss(lambda z: 1 + np.maximum(1 - z, 0) ** 2, lambda z: -2 * np.maximum(1 - z, 0))
    _, trace = pnorm.minimize(*APART, loss=flat)
    assert (trace.status, trace.gap, trace.message) == ("converged", 0.0, "R is at its infimum")
    assert trace.log_objective[-1] == pytest.approx(np.log(9.0))


def test_a_price_that_forgives():
    """R comes down to zero although one negative ties with positives for ever."""
    forgiving = OUR_PRICES["user"]
    pos, neg = [[1.0], [1.0], [0.0]] * 3, [[0.0], [0.0]]
    for solve in (pnorm.train, pnorm.minimize):
        _, trace = solve(pos, neg, price=forgiving, loss="logistic")
        assert trace.log_objective[-1] == -np.inf
        assert trace.status == ("stationary" if solve is pnorm.train else "converged")
    _, trace = pnorm.train([[1.0]] * 5, neg, price=forgiving, loss="logistic", init=[-5.0])
    assert (trace.status, trace.log_objective[-1]) == ("stationary", -np.inf)


def test_small_columns_and_uneven_weights():
    pos, neg = data(5)
    _, trace = pnorm.minimize(pos, neg, loss="logistic")
    _, small = pnorm.minimize(1e-11 * pos, 1e-11 * neg, loss="logistic")
    assert small.status == "stationary"
    assert small.log_objective[-1] == pytest.approx(trace.log_objective[-1], abs=1e-12)
    rng = np.random.default_rng(36)
    weights = {"pos_weight": 10.0 ** rng.uniform(-6, 6, 25), "neg_weight": 10.0 ** rng.uniform(-6, 6, 30)}
    chosen = {"loss": "hinge", "smoothing": 0.01} | weights
    _, best = pnorm.minimize(pos, neg, **chosen)
    _, descent = pnorm.train(pos, neg, t_max=500, **chosen)
    assert best.log_objective[-1] <= descent.log_objective[-1] + 1e-9


def test_columns_that_are_the_same_or_constant():
    pos, neg = data(2)
    lam, trace = pnorm.minimize(pos, neg, loss="logistic")
    twice = [np.column_stack([X, X[:, 0], np.full(len(X), 3.0)]) for X in (pos, neg)]
    split, again = pnorm.minimize(*twice, loss="logistic")
    assert again.status == "stationary"
    assert again.log_objective[-1] == pytest.approx(trace.log_objective[-1], abs=1e-12)
    np.testing.assert_allclose(split[[0, 4]], lam[0] / 2, atol=1e-8)
    assert split[5] == 0.0


def test_many_weak_rankers_and_a_callback():
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.1, 1, (300, 40)), rng.normal(0, 1, (400, 40))
    lam, trace = pnorm.minimize(pos, neg, loss="logistic", price=objectives.Power(2), l2=1e-3)
    assert trace.status == "converged"
    assert trace.gap <= 1e-9 * trace.objective[-1]
    seen = []
    _, stopped = pnorm.minimize(
        pos, neg, loss="logistic", callback=lambda so_far: seen.append(so_far) or len(seen) == 2
    )
    assert (stopped.status, stopped.n_iter) == ("callback", 2)
    again, quick = pnorm.minimize(pos, neg, loss="logistic", price=objectives.Power(2), l2=1e-3, init=lam)
    assert quick.n_iter <= 2
    _, cut = pnorm.minimize(pos, neg, loss="logistic", max_iter=0)
    assert (cut.status, cut.n_iter) == ("max_iter", 0)


def test_what_minimize_refuses():
    pos, neg = data(0)
    with raises(ValueError, r"loss 'hinge' has corners, and minimize needs derivatives\. Pass smoothing=0.1"):
        pnorm.minimize(pos, neg, loss="hinge")
    with raises(ValueError, "method 'newton' is only for the exponential loss with a power price"):
        pnorm.minimize(pos, neg, loss="logistic", method="newton")
    pnorm.minimize(pos, neg, loss="logistic", method="lbfgs", max_iter=1)


@pytest.mark.parametrize("solve", [pnorm.train, pnorm.minimize])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"p": 2, "price": objectives.Power(2)},
            ValueError,
            "p = 2 and price=Power(2) both set the price; pass only one of them",
        ),
        ({"price": 2.0}, TypeError, "such as Linear(), Power(4) or Exponential(0.1); got 2.0"),
        ({"loss": "log"}, ValueError, "loss must be one of 'exponential', 'logistic', 'hinge', 'squared_hinge'"),
        ({"loss": USER, "smoothing": 0.1}, ValueError, "smoothing rounds off the corner of the loss 'hinge' only"),
        ({"loss": "logistic", "init": [1e308] * 4}, ValueError, "init gives scores that, times p, over"),
    ],
)
def test_what_both_refuse(solve, arguments, error, message):
    with raises(error, message):
        solve(*data(0), **arguments)
