"""Ranking in a kernel space: the papers' update pair by pair, kernels, landmarks, the minimiser, schedules."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from facts import raises, warns
from repeats import each_value
from scipy.optimize import approx_fprime, minimize_scalar
from scipy.optimize import minimize as scipy_minimize
from sklearn.metrics import pairwise

import pnorm
from pnorm import bounds, kernel
from pnorm._threads import SERIAL
from pnorm.kernel._kernels import Rows
from pnorm.kernel._spaces import Gram, rpcholesky

# phi and its left derivative, for numbers.
LOSSES = {
    "squared": (lambda z: (1 - z) ** 2, lambda z: -2 * (1 - z)),
    "squared_hinge": (lambda z: max(0, 1 - z) ** 2, lambda z: -2 * max(0, 1 - z)),
    "logistic": (lambda z: math.log1p(math.exp(-z)), lambda z: -1 / (1 + math.exp(z))),
    "hinge": (lambda z: max(0, 1 - z), lambda z: -1.0 if z <= 1 else 0.0),
}


def literal(G, n_pos, loss, lam, eta, theta, t_max, weight=None):
    """(1.5) as printed, pair by pair, on coefficients; weight (m, n) stands for 1 / (mn)."""
    phi, slope = LOSSES[loss] if isinstance(loss, str) else loss
    n = len(G) - n_pos
    weight = np.full((n_pos, n), 1 / (n_pos * n)) if weight is None else weight
    a = np.zeros(len(G))
    coefs, risks = [a], []
    for t in range(1, t_max + 2):
        f = [sum(G[r][q] * a[q] for q in range(len(G))) for r in range(len(G))]
        risks.append(sum(weight[i, k] * phi(f[i] - f[n_pos + k]) for i in range(n_pos) for k in range(n)))
        step = eta * t**-theta
        new = (1 - step * lam) * a
        for i in range(n_pos):
            for k in range(n):
                d = step * weight[i, k] * slope(f[i] - f[n_pos + k])
                new[i] -= d
                new[n_pos + k] += d
        a = new
        coefs.append(a)
    return np.array(coefs[:-1]), np.array(risks)


def sides(m, n, d=3, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(m, d)) + 0.4, generator.normal(size=(n, d))


def rbf(X, Y, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


# The update -------------------------------------------------------------------------------------------


@each_value(times=2)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_training_is_the_papers_update_pair_by_pair(loss, theta):
    pos, neg = sides(7, 9)
    X = np.concatenate([pos, neg])
    G = rbf(X, X)
    coefs, risks = literal(G, 7, loss, 0.07, 0.8, theta, 25)
    model, trace = kernel.train(pos, neg, "rbf", loss, lam=0.07, eta=0.8, theta=theta, t_max=25, gamma=0.3)
    np.testing.assert_allclose(model.coef, coefs[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.loss, risks, rtol=1e-10)
    norms = np.sqrt(np.einsum("tr,rq,tq->t", coefs, G, coefs))
    np.testing.assert_allclose(trace.norm, norms, atol=1e-10)
    np.testing.assert_allclose(trace.objective, risks + 0.07 * norms**2, rtol=1e-10)
    np.testing.assert_allclose(trace.descended, risks + 0.035 * norms**2, rtol=1e-10)
    np.testing.assert_allclose(trace.step, 0.8 * np.arange(1, 26) ** -theta)
    moves = np.diff(coefs, axis=0)
    np.testing.assert_allclose(
        trace.gradient_norm[:-1] * trace.step, np.sqrt(np.einsum("tr,rq,tq->t", moves, G, moves)), atol=1e-9
    )
    assert (trace.status, trace.n_iter) == ("t_max", 25)
    np.testing.assert_allclose(model.score(X), G @ coefs[-1], atol=1e-10)


def test_the_hinge_has_its_left_derivative_at_the_corner():
    # f(1) - f(0) is 1 exactly after the first step: the left derivative goes on, the right one would turn back.
    model, trace = kernel.train([[1.0]], [[0.0]], "linear", "hinge", lam=0.25, eta=1.0, t_max=2)
    assert trace.loss.tolist() == [1.0, 0.0, 0.0]
    assert model.score([[1.0]])[0] == 1.75
    slopes = pnorm.objectives.Loss(lambda z: np.maximum(0, 1 - z), lambda z: -1.0 * (z <= 1.0))
    assert kernel.train([[1.0]], [[0.0]], "linear", slopes, lam=0.25, eta=1.0, t_max=2)[0].coef.tolist() == (
        model.coef.tolist()
    )


def test_a_loss_of_the_users_is_trained_on():
    pos, neg = sides(12, 8)
    own = pnorm.objectives.Loss(lambda z: np.logaddexp(0, -z), lambda z: -1 / (1 + np.exp(z)))
    a, ta = kernel.train(pos, neg, loss=own, t_max=30)
    b, tb = kernel.train(pos, neg, loss="logistic", t_max=30)
    assert ta.largest_step == pytest.approx(tb.largest_step, rel=1e-4)  # found on sample points
    a, _ = kernel.train(pos, neg, loss=own, t_max=30, eta=0.9)
    b, _ = kernel.train(pos, neg, loss="logistic", t_max=30, eta=0.9)
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-12)


def test_what_rounding_does_to_the_scores_is_gone_after_64_steps(monkeypatch):
    exact = kernel._train.gradient_at

    def rounded(problem, a, f, record):
        gradient, change, point = exact(problem, a, f, record)
        return gradient, change + (np.linspace(0, 1e-3, 16) if record.steps.size == 3 else 0.0), point

    monkeypatch.setattr(kernel._train, "gradient_at", rounded)
    pos, neg = sides(7, 9)
    model, trace = kernel.train(pos, neg, lam=0.01, t_max=64)
    f_pos, f_neg = model.score(pos), model.score(neg)
    assert trace.loss[-1] == pytest.approx(np.logaddexp(0, f_neg - f_pos[:, None]).mean(), rel=1e-13)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_and_groups_count_in_the_mean(loss):
    pos, neg = sides(6, 7, seed=1)
    X = np.concatenate([pos, neg])
    generator = np.random.default_rng(2)
    c, k = generator.integers(0, 3, 6) * 1.0, generator.integers(0, 3, 7) * 1.0
    groups = list("aabbcc"), list("aabbbdd")
    weight = np.outer(c, k) * np.equal.outer(*map(np.array, groups))
    coefs, risks = literal(rbf(X, X), 6, loss, 0.1, 0.5, 0.0, 10, weight / weight.sum())
    arguments = dict(lam=0.1, eta=0.5, t_max=10, gamma=0.3, pos_group=groups[0], neg_group=groups[1])
    model, trace = kernel.train(pos, neg, loss=loss, pos_weight=c, neg_weight=k, **arguments)
    np.testing.assert_allclose(model.coef, coefs[-1], atol=1e-12)
    np.testing.assert_allclose(trace.loss, risks, rtol=1e-12)
    assert (model.coef[:6][c == 0] == 0).all()
    copies = kernel.train(
        np.repeat(pos, c.astype(int), axis=0),
        np.repeat(neg, k.astype(int), axis=0),
        loss=loss,
        **{
            **arguments,
            "pos_group": np.repeat(groups[0], c.astype(int)),
            "neg_group": np.repeat(groups[1], k.astype(int)),
        },
    )
    np.testing.assert_allclose(copies[1].descended, trace.descended, rtol=1e-12)
    np.testing.assert_allclose(copies[0].score(X), model.score(X), atol=1e-12)


def test_the_average_has_weights_t():
    pos, neg = sides(5, 6)
    X = np.concatenate([pos, neg])
    coefs, _ = literal(rbf(X, X), 5, "hinge", 0.1, 0.9, 0.5, 12)
    model, trace = kernel.train(pos, neg, loss="hinge", lam=0.1, eta=0.9, theta=0.5, t_max=12, gamma=0.3, average=True)
    t = np.arange(1, 13)
    np.testing.assert_allclose(model.coef, t @ coefs[1:] / t.sum(), atol=1e-13)
    assert trace.model is model
    f = rbf(X, X) @ model.coef
    mean = np.maximum(0, 1 - f[:5, None] + f[None, 5:]).mean() + 0.05 * model.coef @ f
    _, best = kernel.minimize(pos, neg, loss="hinge", smoothing=1e-9, lam=0.1, gamma=0.3)
    assert 0 < mean - best.descended[-1] <= trace.gap + 1e-9
    assert trace.gap != trace.gaps[-1]
    _, trace = kernel.train(pos, neg, lam=1.0, average=True, t_max=300, tol=1e-3)
    assert (trace.status, trace.n_iter) == ("t_max", 300)  # tol is of the last function, not of the mean


def test_the_callback_sees_every_step_and_may_stop_the_run():
    pos, neg = sides(8, 8)
    seen = []

    def look(trace):
        assert trace.status == "running"
        assert trace.loss.size == trace.n_iter + 1
        seen.append(trace.model.coef.copy())
        return trace.n_iter == 4

    model, trace = kernel.train(pos, neg, callback=look)
    assert (trace.status, trace.n_iter) == ("callback", 4)
    assert "step 4" in trace.message
    np.testing.assert_array_equal(seen[-1], model.coef)
    np.testing.assert_array_equal(seen[1], kernel.train(pos, neg, t_max=2)[0].coef)


def test_a_run_ends_where_the_gradient_does():
    pos, neg = sides(8, 8)
    model, trace = kernel.train(pos, neg, lam=1.0, tol=1e-6, t_max=10_000)
    assert trace.status == "stationary"
    assert trace.kappa == 1.0
    assert trace.gradient_norm[-1] <= 1e-6 < trace.gradient_norm[-2]
    assert kernel.train(pos, neg, t_max=0)[1].n_iter == 0


@pytest.mark.parametrize("price", [None, pnorm.objectives.Power(4), pnorm.objectives.Exponential(0.1)])
def test_steps_that_diverge_are_told(price):
    pos, neg = sides(8, 8)
    with pytest.raises(OverflowError, match="Pass a smaller eta"):
        kernel.train(pos, neg, eta=1e300, loss="squared", price=price, t_max=5)
    with raises(OverflowError, r"do not diverge\. Pass a smaller eta"):
        kernel.train(pos, neg, loss="squared", eta=50.0, price=price, t_max=1000)


# Kernels ----------------------------------------------------------------------------------------------

KERNELS = {
    "rbf": (dict(gamma=0.7), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.7)),
    "laplacian": (dict(gamma=0.7), lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.7)),
    "polynomial": (dict(gamma=0.7, degree=2, coef0=0.5), lambda A, B: pairwise.polynomial_kernel(A, B, 2, 0.7, 0.5)),
    "linear": ({}, pairwise.linear_kernel),
}


@each_value()
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "form", ["dense", "float32", "sparse", "frame", "lists", "callable", "callable, by columns", "gram", "precomputed"]
)
def test_every_kernel_in_every_form(name, form):
    pos, neg = sides(10, 12, seed=3)
    pos, neg = pos.astype(np.float32).astype(float), neg.astype(np.float32).astype(float)
    params, function = KERNELS[name]
    X, new = np.concatenate([pos, neg]), np.random.default_rng(5).normal(size=(4, 3)).astype(np.float32).astype(float)
    G, K = function(X, X), function(new, X)
    common = dict(loss="logistic", lam=0.1, eta=0.05, t_max=20)
    expected, _ = literal(G, 10, "logistic", 0.1, 0.05, 0.0, 20)
    change = {
        "dense": lambda A: A,
        "float32": lambda A: A.astype(np.float32),
        "sparse": scipy.sparse.csr_array,
        "frame": lambda A: pd.DataFrame(A, columns=list("abc")),
        "lists": lambda A: A.tolist(),
    }.get(form)
    if change is not None:
        model, _ = kernel.train(change(pos), change(neg), name, **common, **params)
        scores = model.score(change(new))
        assert (model.kernel, model.params) == (name, params)
    elif form == "callable":
        model, _ = kernel.train(pos.tolist(), neg.tolist(), function, **common)
        scores = model.score(new)
    elif form == "callable, by columns":
        model, _ = kernel.train(pos, neg, lambda A, B: np.asfortranarray(function(A, B)), **common)
        scores = model.score(new)
    elif form == "gram":
        model, _ = kernel.train(pos, neg, G, **common)
        scores = model.score(K)
    else:
        model, _ = kernel.train(G[:10], G[10:], "precomputed", **common)
        scores = model.score(K)
    np.testing.assert_allclose(model.coef, expected[-1], atol=1e-12)
    np.testing.assert_allclose(scores, K @ expected[-1], atol=1e-12)


def test_the_default_width_is_that_of_the_data():
    pos, neg = sides(10, 12, d=5)
    X = np.concatenate([pos, neg])
    assert kernel.train(pos, neg, t_max=1)[0].params["gamma"] == pytest.approx(1 / (5 * X.var()))
    assert kernel.train(pos, neg, "laplacian", t_max=1)[0].params["gamma"] == pytest.approx(1 / (5 * X.std()))
    polynomial = kernel.train(scipy.sparse.csr_array(pos), scipy.sparse.csr_array(neg), "polynomial", t_max=1)[0]
    assert polynomial.params == {"gamma": pytest.approx(1 / (5 * X.var())), "degree": 3, "coef0": 1.0}
    assert kernel.train(np.ones((2, 1)), np.ones((2, 1)), t_max=1)[0].params["gamma"] == 1.0
    for offset in (0.0, 0.7, 1e6):
        dense = [np.round(side, 3) + offset for side in (pos, neg)]
        sparse = [scipy.sparse.csr_array(side) for side in dense]
        for name in ("rbf", "laplacian"):
            gammas = [kernel.train(*some, name, t_max=0)[0].params["gamma"] for some in (dense, sparse)]
            assert gammas[0] == pytest.approx(gammas[1], rel=1e-9)
    with raises(ValueError, "too extreme for a default gamma"):
        kernel.train(pos * 1e-155, neg * 1e-155)
    with raises(ValueError, "too extreme for a default gamma"):
        kernel.train(pos * 1e155, neg * 1e155)


def test_rows_that_are_all_the_same_teach_nothing():
    for rows in (3, 60):
        model, trace = kernel.train(np.ones((rows, 2)), np.ones((rows, 2)))
        assert trace.loss[-1] == pytest.approx(math.log(2))
        groups = np.arange(rows)
        X = np.repeat(np.random.default_rng(0).normal(size=(rows, 2)), 2, axis=0)
        _, trace = kernel.train(X[::2], X[1::2], pos_group=groups, neg_group=groups)  # the same within each group
        assert trace.loss[-1] == pytest.approx(math.log(2))


@each_value()
@pytest.mark.parametrize("unit", [1e-11, 1e-4, 1e4, 1e8])
@pytest.mark.parametrize("size", [(6, 5), (40, 30)])
def test_the_size_of_a_kernel_is_made_up_for_by_the_penalty(unit, size):
    pos, neg = sides(*size)
    model, trace = kernel.train(pos, neg, "linear", lam=0.1)
    scaled, other = kernel.train(pos * unit, neg * unit, "linear", lam=0.1 * unit**2)
    np.testing.assert_allclose(other.descended, trace.descended, rtol=1e-6)
    np.testing.assert_allclose(scaled.score(pos * unit), model.score(pos), rtol=1e-5, atol=1e-7)
    assert other.largest_step == pytest.approx(trace.largest_step / unit**2, rel=1e-2)


def test_a_kernel_that_overflows_is_told():
    pos, neg = sides(5, 6)
    with raises(ValueError, "the training rows is inf; scale"):
        kernel.train(pos * 1e120, neg * 1e120, "polynomial", gamma=1.0)
    with raises(ValueError, "the training rows is inf; scale"):
        kernel.minimize(pos * 1e120, neg * 1e120, "polynomial", gamma=1.0)


def test_things_that_are_no_numbers_are_ranked_by_a_kernel_of_things():
    def shared(A, B):  # how many pairs of neighbouring letters two words share: an inner product of counts
        pieces = [[{w[i : i + 2] for i in range(len(w) - 1)} for w in words] for words in (A, B)]
        return np.array([[len(a & b) for b in pieces[1]] for a in pieces[0]], dtype=float)

    good, bad = ["ranker", "ranking", "ranked", "ranks"], ["boost", "booster", "boosting", "toast"]
    model, trace = kernel.train(good, bad, shared, lam=0.1)
    f = model.score(["rank", "boo"])
    assert f[0] > f[1]
    expected, _ = literal(shared(good + bad, good + bad), 4, "logistic", 0.1, trace.step[0], 0.0, 200)
    np.testing.assert_allclose(model.coef, expected[-1], atol=1e-12)
    fewer, _ = kernel.train(good, bad, shared, landmarks=["rank", "boost", "rank"])
    assert fewer.landmarks.tolist() in ([0, 1], [1, 0])
    assert fewer.score(["rank"])[0] > fewer.score(["boost"])[0]


@pytest.mark.parametrize("n", [1, 5, 1024, 1025, 2500])
def test_a_symmetric_product_in_blocks_is_the_product(n):
    A = np.random.default_rng(n).normal(size=(n, 4))
    x = np.random.default_rng(1).normal(size=n)
    G = A @ A.T
    calls = []

    def products(rows, columns):
        calls.append((rows, columns))
        return rows @ columns.T

    for keep in (0.0, 1e7, math.inf):
        calls.clear()
        gram = Gram(products, Rows(A), keep=keep)
        for _ in range(2):
            np.testing.assert_allclose(gram.values(x), G @ x, atol=1e-9)
        n_blocks = len(gram._places)
        kept = {0.0: 0, 1e7: 1 if n == 2500 else n_blocks, math.inf: n_blocks}[keep]
        assert len(calls) == 2 * n_blocks - kept
        assert gram.fits == (len(calls) == n_blocks)
        np.testing.assert_allclose(gram.whole(), G, atol=1e-12)
        np.testing.assert_allclose(gram.diagonal(), G.diagonal())


def test_a_gram_matrix_that_does_not_fit_is_computed_anew_with_the_same_result():
    pos, neg = sides(900, 1400, d=2)
    kept, _ = kernel.train(pos, neg, t_max=3, n_threads=1)
    with pytest.warns(RuntimeWarning, match="landmarks=1000"):
        anew, _ = kernel.train(pos, neg, t_max=3, memory_limit=1e7)
    np.testing.assert_array_equal(kept.coef, anew.coef)  # any number of threads, too
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many, _ = kernel.train(pos, neg, t_max=3, n_threads=3)
    np.testing.assert_array_equal(kept.coef, many.coef)


# Landmarks --------------------------------------------------------------------------------------------


def test_all_rows_as_landmarks_are_the_kernel():
    pos, neg = sides(20, 25, d=4)
    exact, trace = kernel.train(pos, neg, lam=0.1)
    model, approximate = kernel.train(pos, neg, lam=0.1, landmarks=45)
    X = np.concatenate([pos, neg])
    assert sorted(model.landmarks.tolist()) == list(range(45))
    assert 0.0 < model.approximation.share < 1e-12  # what rounding may hide
    np.testing.assert_allclose(model.score(X), exact.score(X), atol=1e-9)
    np.testing.assert_allclose(approximate.descended, trace.descended, rtol=1e-9)
    np.testing.assert_allclose(approximate.gradient_norm, trace.gradient_norm, rtol=1e-6, atol=1e-12)
    other, _ = kernel.train(pos, neg, lam=0.1, landmarks=10_000)
    np.testing.assert_array_equal(model.coef, other.coef)


@pytest.mark.parametrize("way", ["drawn", "given", "gram"])
def test_landmarks_project_the_kernel_and_say_what_they_leave_out(way):
    pos, neg = sides(40, 50, d=2, seed=4)
    X = np.concatenate([pos, neg])
    G = rbf(X, X)
    if way == "drawn":
        model, trace = kernel.train(pos, neg, lam=0.05, eta=0.5, t_max=30, gamma=0.3, landmarks=12, seed=3)
        assert model.landmarks.size == 12
        Z = X[model.landmarks]
        np.testing.assert_array_equal(model.rows, Z)
    elif way == "given":
        Z = np.random.default_rng(0).normal(size=(12, 2))
        Z = np.concatenate([Z, Z[:1]])  # the last one adds nothing
        model, trace = kernel.train(pos, neg, lam=0.05, eta=0.5, t_max=30, gamma=0.3, landmarks=Z)
        assert set(model.landmarks.tolist()) <= set(range(13))
        assert {0, 12} - set(model.landmarks.tolist())
        np.testing.assert_array_equal(model.rows, Z[model.landmarks])
        Z = model.rows
    else:
        model, trace = kernel.train(pos, neg, G, lam=0.05, eta=0.5, t_max=30, landmarks=12, seed=3)
        Z = X[model.landmarks]
        assert model.rows is None
    C, W = rbf(X, Z), rbf(Z, Z)
    near = C @ np.linalg.solve(W, C.T)  # Nystroem's approximation
    left = (G - near).diagonal()
    assert model.approximation.share == pytest.approx(left.sum() / len(G), rel=1e-6)
    assert model.approximation.worst == pytest.approx(left.max(), rel=1e-6)
    coefs, risks = literal(near, 40, "logistic", 0.05, 0.5, 0.0, 30)
    np.testing.assert_allclose(trace.loss, risks, rtol=1e-8)
    scores = model.score(G if way == "gram" else X)
    np.testing.assert_allclose(scores, near @ coefs[-1], atol=1e-7)
    assert trace.kappa == pytest.approx(math.sqrt(near.diagonal().max()))


def test_no_function_of_the_space_is_farther_from_the_landmarks_than_told():
    pos, neg = sides(30, 30, d=2, seed=6)
    X = np.concatenate([pos, neg])
    model, _ = kernel.train(pos, neg, gamma=0.3, landmarks=8, t_max=1)
    G, C = rbf(X, X), rbf(X, model.rows)
    for seed in range(20):
        a = np.random.default_rng(seed).normal(size=60)
        projected = C @ np.linalg.solve(rbf(model.rows, model.rows), C.T @ a)
        assert np.abs(G @ a - projected).max() <= math.sqrt(a @ G @ a * model.approximation.worst)


def test_landmarks_of_a_kernel_of_low_rank_are_exact_and_few():
    pos, neg = sides(60, 70, d=3)
    exact, _ = kernel.train(pos, neg, "linear", lam=0.1, eta=0.05, t_max=50)
    model, _ = kernel.train(pos, neg, "linear", lam=0.1, eta=0.05, t_max=50, landmarks=50)
    assert model.coef.size == 3
    assert model.approximation.share < 1e-12
    np.testing.assert_allclose(model.score(pos), exact.score(pos), atol=1e-10)


def test_landmarks_are_drawn_in_proportion_to_what_is_left():
    # Two clusters of copies, a large one and a small one: the second landmark comes from the cluster without one.
    X = np.repeat([[0.0], [100.0]], [198, 2], axis=0)
    for seed in range(20):
        model, _ = kernel.train(X[:100], X[100:], gamma=1.0, landmarks=2, t_max=1, seed=seed)
        assert sorted(model.rows.ravel().tolist()) == [0.0, 100.0]
        again, _ = kernel.train(X[:100], X[100:], gamma=1.0, landmarks=2, t_max=1, seed=seed)
        np.testing.assert_array_equal(model.landmarks, again.landmarks)
    first = [kernel.train(X[:100], X[100:], gamma=1.0, landmarks=1, t_max=1, seed=s)[0].rows[0, 0] for s in range(300)]
    assert 0 < np.mean(np.array(first) == 100.0) < 0.05  # one in a hundred


def test_a_batch_keeps_the_law_of_one_draw_after_the_other():
    # Three rows, two landmarks: the chances of each ordered pair, by hand, and how often they came
    X = np.array([[0.0], [0.5], [3.0]])
    G = rbf(X, X, 1.0)
    expected = {}
    for i in range(3):
        left = (G.diagonal() - G[i] ** 2 / G[i, i]).clip(0)
        for j in range(3):
            if i != j:
                expected[i, j] = left[j] / left.sum() / 3
    found = dict.fromkeys(expected, 0)
    rows = Rows(X)
    for seed in range(3000):
        places, *_ = rpcholesky(lambda A, B: rbf(A, B, 1.0), rows, 2, np.random.default_rng(seed), SERIAL)
        found[tuple(places.tolist())] += 1
    for pair, chance in expected.items():
        assert abs(found[pair] / 3000 - chance) < 4.5 * math.sqrt(chance * (1 - chance) / 3000)


def test_landmarks_keep_to_the_rows_that_count():
    pos, neg = sides(30, 30)
    weight = np.r_[np.ones(15), np.zeros(15)]
    model, _ = kernel.train(pos, neg, landmarks=20, pos_weight=weight)
    assert not set(model.landmarks.tolist()) & set(range(15, 30))
    np.testing.assert_array_equal(model.rows, np.concatenate([pos, neg])[model.landmarks])


# The minimiser ----------------------------------------------------------------------------------------


def smooth(loss, smoothing):
    if loss == "hinge":

        def phi(z):
            return np.where(np.abs(1 - z) < smoothing, (1 + smoothing - z) ** 2 / (4 * smoothing), np.maximum(0, 1 - z))

        def slope(z):
            return np.where(np.abs(1 - z) < smoothing, -(1 + smoothing - z) / (2 * smoothing), -1.0 * (z < 1))

        return phi, slope
    return (np.vectorize(function) for function in LOSSES[loss])


@each_value()
@pytest.mark.parametrize(("loss", "smoothing"), [("logistic", 0), ("squared", 0), ("squared_hinge", 0), ("hinge", 0.2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_newton_finds_the_minimiser(loss, smoothing, weighted):
    pos, neg = sides(14, 11, seed=8)
    X = np.concatenate([pos, neg])
    G = rbf(X, X)
    extra, weight = {}, np.ones((14, 11))
    if weighted:
        c, k = np.arange(14) % 4 * 0.7, np.arange(11) % 3 + 0.5
        groups = [0, 1] * 7, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 2]
        weight = np.outer(c, k) * np.equal.outer(*map(np.array, groups))
        extra = dict(pos_weight=c, neg_weight=k, pos_group=groups[0], neg_group=groups[1])
    weight /= weight.sum()
    phi, slope = smooth(loss, smoothing)

    def value(a):
        f = G @ a
        z = f[:14, None] - f[None, 14:]
        s = weight * slope(z)
        g = np.r_[s.sum(axis=1), -s.sum(axis=0)]
        return (weight * phi(z)).sum() + 0.05 * a @ f, G @ (g + 0.1 * a)

    model, trace = kernel.minimize(pos, neg, loss=loss, smoothing=smoothing, lam=0.1, gamma=0.3, **extra)
    assert trace.status == "converged"
    assert trace.distances[-1] <= 1e-10
    rival = scipy_minimize(
        value, np.zeros(25), jac=True, method="L-BFGS-B", options=dict(maxiter=10_000, ftol=0, gtol=1e-13)
    )
    assert trace.descended[-1] <= rival.fun + 1e-13
    assert trace.descended[-1] == pytest.approx(value(model.coef)[0], rel=1e-12)
    assert np.abs(value(model.coef)[1]).max() < 1e-10
    np.testing.assert_allclose(model.score(X), G @ rival.x, atol=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
def test_descent_comes_to_the_minimiser_and_is_never_farther_than_it_says(loss):
    pos, neg = sides(15, 15, seed=9)
    X = np.concatenate([pos, neg])
    G = rbf(X, X)
    best, exact = kernel.minimize(pos, neg, loss=loss, lam=0.1, gamma=0.3)
    coefs = []
    _, trace = kernel.train(
        pos, neg, loss=loss, lam=0.1, gamma=0.3, t_max=900, tol=0, callback=lambda t: coefs.append(t.model.coef)
    )
    away = np.array([np.zeros(30), *coefs]) - best.coef
    distances = np.sqrt(np.maximum(np.einsum("tr,rq,tq->t", away, G, away), 0.0))
    assert distances[-1] < 1e-4 * distances[0]
    assert (distances <= trace.distances + 1e-10).all()  # that of `best`
    assert (trace.descended - exact.descended[-1] <= trace.gaps * (1 + 1e-9) + 1e-15).all()
    assert (np.diff(trace.descended) <= 1e-15).all()
    assert (np.diff(distances) <= 1e-10).all()


@each_value()
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e8])
def test_bounds_hold_where_rounding_spoils_the_kernel(loss, offset):
    # <x, x'> loses what rows have in common; differences within pairs do not know of it
    pos, neg = sides(30, 25)
    extra = {"smoothing": 1e-9} if loss == "hinge" else {}
    _, exact = kernel.minimize(pos, neg, "linear", loss, lam=0.1, **extra)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an objective that goes up
        model, trace = kernel.train(pos + offset, neg + offset, "linear", loss, lam=0.1, t_max=500)
    w = model.coef @ np.concatenate([pos, neg])
    z = (pos @ w)[:, None] - neg @ w
    phi = np.logaddexp(0, -z) if loss == "logistic" else np.maximum(0, 1 - z)
    excess = phi.mean() + 0.05 * w @ w - exact.descended[-1]
    assert excess <= trace.gap + 1e-9
    if offset == 0.0:
        assert trace.gap < (1e-15 if loss == "logistic" else 1e-1)


@pytest.mark.parametrize("form", ["linear", "gram"])
@pytest.mark.parametrize(
    ("loss", "lam", "pos", "neg"),
    [
        ("logistic", 1.3719732948683514, [1, 1, 0], [0, 1, 1, 1]),
        ("logistic", 0.0011514895601381656, [4, 6, 9], [4, 9]),
        ("squared", 1.2847e-4, [1, 1, 0, 0, 0], [0, 1]),
        ("squared_hinge", 3.402e-4, [1], [4, 2, 9]),
    ],
)
def test_bounds_hold_where_the_gram_matrix_is_exact_and_all_but_singular(form, loss, lam, pos, neg):
    # Products of integers near 3e7 are exact, and their differences lose all that tells rows apart.
    rows = np.array([*pos, *neg], dtype=float)[:, None] + 3e7
    m = len(pos)
    for average in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, trace = kernel.train(
                rows[:m], rows[m:], "linear" if form == "linear" else rows @ rows.T, loss, lam=lam, average=average
            )
        phi = np.vectorize(LOSSES[loss][0])

        def value(w):
            z = w * np.subtract.outer(np.array(pos, float), neg)
            return phi(z).mean() + 0.5 * lam * w * w  # noqa: B023

        best = minimize_scalar(value, bounds=(-50, 50), method="bounded", options=dict(xatol=1e-12)).fun
        w = float(model.coef @ (rows[:, 0] - 3e7) + 3e7 * model.coef.sum())
        assert value(w) - best <= trace.gap * (1 + 1e-9) + 1e-12


def test_the_minimiser_refuses_what_it_cannot_do():
    pos, neg = sides(5, 5)
    with pytest.raises(ValueError, match=r"smoothing=0\.1"):
        kernel.minimize(pos, neg, loss="hinge")
    own = pnorm.objectives.Loss(lambda z: np.logaddexp(0, -z), lambda z: -1 / (1 + np.exp(z)))
    with pytest.raises(ValueError, match="does not provide"):
        kernel.minimize(pos, neg, loss=own)
    with raises(ValueError, "pass fewer rows, or call pnorm"):
        kernel.minimize(pos, neg, memory_limit=1000)
    model, trace = kernel.minimize(pos, neg, max_iter=1)
    assert (trace.status, trace.n_iter) == ("max_iter", 1)
    model, trace = kernel.minimize(pos, neg, tol=1e-30)
    assert trace.status == "stalled"
    assert trace.distances[-1] < 1e-11


# The push ---------------------------------------------------------------------------------------------


PUSHES = {
    "1.5": dict(p=1.5),
    "4": dict(price=pnorm.objectives.Power(4)),
    "16": dict(p=16),
    "exponential": dict(price=pnorm.objectives.Exponential(0.3)),
}


def pushed(push, heights, c, k, pairs):
    """The mean of the heights of negatives, and its derivatives by them, as `kernel.train` defines it."""
    masses = [sum(c[i] for i in range(len(c)) if pairs[i][j]) for j in range(len(k))]
    if push == "exponential":
        mean_mass = sum(k * masses) / sum(k)
        total = sum(k * np.exp(0.3 * heights))
        return np.log(total / sum(k)) / (0.3 * mean_mass), k * np.exp(0.3 * heights) / total / mean_mass
    p = float(push)
    norm = sum(k * np.array(masses) ** p)
    mean = (sum(k * heights**p) / norm) ** (1 / p)
    return mean, k / norm * (heights / mean) ** (p - 1)


def push_sample(m, n, weighted):
    """Case weights and pairs, and the arguments that say so."""
    if not weighted:
        return np.ones(m), np.ones(n), np.ones((m, n), bool), {}
    c, k = np.arange(m) % 3 + 0.5, np.arange(n) % 4 * 0.7 + 0.2
    groups = np.arange(m) % 2, np.arange(n) % 3 % 2
    given = dict(pos_weight=c, neg_weight=k, pos_group=groups[0], neg_group=groups[1])
    return c, k, np.equal.outer(*groups), given


@each_value(times=3)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_push_is_its_definition_pair_by_pair(loss, push, weighted):
    pos, neg = sides(6, 7, seed=1)
    X = np.concatenate([pos, neg])
    G = rbf(X, X)
    c, k, pairs, given = push_sample(6, 7, weighted)
    phi, slope = LOSSES[loss]
    a, values, norms = np.zeros(13), [], []
    for _ in range(10):
        f, heights, s = G @ a, np.zeros(7), np.zeros(13)
        for i, j in np.argwhere(pairs):
            heights[j] += c[i] * phi(f[i] - f[6 + j])
        value, b = pushed(push, heights, c, k, pairs)
        for i, j in np.argwhere(pairs):
            s[i] -= b[j] * c[i] * slope(f[i] - f[6 + j])
            s[6 + j] += b[j] * c[i] * slope(f[i] - f[6 + j])
        gradient = 0.1 * a - s
        values.append(value)
        norms.append(np.sqrt(gradient @ G @ gradient))
        last, a = a, a - 0.5 * gradient
    arguments = dict(lam=0.1, eta=0.5, t_max=9, gamma=0.3, **PUSHES[push], **given)
    model, trace = kernel.train(pos, neg, "rbf", loss, **arguments)
    np.testing.assert_allclose(model.coef, last, rtol=0, atol=1e-11)
    np.testing.assert_allclose(trace.loss, values, rtol=1e-11)
    np.testing.assert_allclose(trace.gradient_norm, norms, rtol=1e-9)
    f_pos, f_neg = model.score(pos), model.score(neg)
    if push != "exponential" and loss != "hinge":
        named = pnorm.objectives.normalized_value(f_pos, f_neg, float(push), loss, **given)
        assert named == pytest.approx(values[-1], rel=1e-11)
    all_landmarks, _ = kernel.train(pos, neg, "rbf", loss, landmarks=13, **arguments)
    np.testing.assert_allclose(all_landmarks.score(X), G @ last, atol=1e-7)


def test_a_push_of_one_is_none():
    pos, neg = sides(9, 8)
    for function in (kernel.train, kernel.minimize):
        plain, trace = function(pos, neg)
        for given in (dict(p=1), dict(price=pnorm.objectives.Linear())):
            model, other = function(pos, neg, **given)
            assert (model.coef == plain.coef).all()
            assert (other.loss == trace.loss).all()


@each_value()
@pytest.mark.parametrize(("loss", "smoothing"), [("logistic", 0), ("squared", 0), ("squared_hinge", 0), ("hinge", 0.2)])
@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimum_of_a_push_and_its_bounds(loss, smoothing, push, weighted):
    """The gradient over all pairs is zero there; descent approaches it and never claims to be nearer than it is."""
    pos, neg = sides(14, 11, seed=8)
    X = np.concatenate([pos, neg])
    G = rbf(X, X)
    c, k, pairs, given = push_sample(14, 11, weighted)
    phi, slope = smooth(loss, smoothing)
    given |= dict(lam=0.1, gamma=0.3, **PUSHES[push])

    def value(a):
        f = G @ a
        z = f[:14, None] - f[None, 14:]
        mean, b = pushed(push, c @ (pairs * phi(z)), c, k, pairs)
        s = c[:, None] * pairs * slope(z) * b
        g = np.r_[s.sum(axis=1), -s.sum(axis=0)]
        return mean + 0.05 * a @ f, G @ (g + 0.1 * a)

    model, trace = kernel.minimize(pos, neg, loss=loss, smoothing=smoothing, **given)
    assert trace.status in ("converged", "stalled")
    assert trace.distances[-1] < 1e-9
    assert trace.n_iter < 20
    assert trace.descended[-1] == pytest.approx(value(model.coef)[0], rel=1e-12)
    assert np.abs(value(model.coef)[1]).max() < 1e-9  # of a convex function
    numeric = approx_fprime(model.coef + 0.1, lambda a: value(a)[0], 1e-7)
    np.testing.assert_allclose(value(model.coef + 0.1)[1], numeric, atol=1e-5)
    assert (trace.descended - trace.descended[-1] <= trace.gaps * (1 + 1e-9) + 1e-15).all()
    if loss != "hinge":
        coefs = []
        _, descent = kernel.train(pos, neg, loss=loss, t_max=60, callback=lambda t: coefs.append(t.model.coef), **given)
        assert (np.diff(descent.descended) <= 1e-15).all()
        away = np.array([np.zeros(25), *coefs]) - model.coef
        distances = np.sqrt(np.maximum(np.einsum("tr,rq,tq->t", away, G, away), 0.0))
        assert (distances <= descent.distances + 1e-9).all()
        assert (descent.descended - trace.descended[-1] <= descent.gaps * (1 + 1e-9) + 1e-15).all()
        assert distances[-1] < 0.5 * distances[0]


@each_value()
@pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
@pytest.mark.parametrize("push", ["1.5", "4", "16"])
def test_the_gradient_of_a_push_changes_by_2_p_minus_1_times_as_much_at_most(loss, push):
    """With kappa = 1, by 4 M (2 p - 1) times the distance."""
    X = np.concatenate(sides(8, 9, seed=5))
    G, rng = rbf(X, X), np.random.default_rng(0)
    c, k, pairs, _ = push_sample(8, 9, False)
    phi, slope = map(np.vectorize, LOSSES[loss])

    def s(f):
        z = f[:8, None] - f[None, 8:]
        weights = slope(z) * pushed(push, phi(z).sum(axis=0), c, k, pairs)[1]
        return np.r_[weights.sum(axis=1), -weights.sum(axis=0)]

    for size in (0.01, 1.0, 10.0):
        for _ in range(20):
            a, b = size * rng.normal(size=(2, 17))
            moved, away = s(G @ a) - s(G @ b), a - b
            bound = 4 * CHANGES[loss] * (2 * float(push) - 1)
            assert moved @ G @ moved <= bound**2 * (away @ G @ away)


def test_a_push_whose_losses_come_down_to_zero():
    model, trace = kernel.train([[9.0], [8.0]], [[0.0], [1.0]], "linear", "squared_hinge", p=4, lam=1e-3, t_max=50)
    assert trace.loss[-1] < 1e-4
    assert np.isfinite(model.coef).all()
    exact, of_minimum = kernel.minimize([[9.0], [8.0]], [[0.0], [1.0]], "linear", "squared_hinge", p=4, lam=1e-3)
    assert of_minimum.distances[-1] < 1e-6
    assert trace.descended[-1] - of_minimum.descended[-1] <= trace.gap
    with raises(ValueError, "p must be at least 1"):
        kernel.train([[9.0]], [[0.0]], p=0.5)
    with raises(ValueError, "both set the price"):
        kernel.train([[9.0]], [[0.0]], p=2, price=pnorm.objectives.Exponential())
    with raises(ValueError, "price must be a Power or an Exponential in a kernel space"):
        kernel.minimize([[9.0]], [[0.0]], price=pnorm.objectives.Price(np.square, lambda r: 2 * r))


def test_a_push_with_a_corner_goes_down_by_steps_of_the_lemma_at_least():
    pos, neg = sides(30, 25)
    _, trace = kernel.train(pos, neg, loss="hinge", p=4, t_max=300)
    assert trace.step.min() >= trace.largest_step
    _, best = kernel.minimize(pos, neg, loss="hinge", smoothing=1e-3, p=4)
    assert trace.descended[-1] < best.descended[-1] + 1e-3
    assert best.descended[-1] - trace.gap <= trace.descended[-1] <= best.descended[-1] + 1e-3 + trace.gap


def test_a_push_keeps_to_the_ball_with_steps_of_the_lemma():
    pos, neg = sides(10, 12, seed=4)
    for push in PUSHES.values():
        given = dict(lam=0.05, pos_group=[0, 1] * 5, neg_group=[0, 1, 1] * 4, **push)
        _, free = kernel.train(pos, neg, t_max=0, **given)
        _, trace = kernel.train(pos, neg, eta=free.largest_step, **given)
        assert trace.norm.max() <= trace.norm_bound < np.inf


# What is proved ---------------------------------------------------------------------------------------


CHANGES = {"squared": 2.0, "squared_hinge": 2.0, "logistic": 0.25, "hinge": 1.0}


@each_value()
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("lam", [0.01, 0.5, 10.0])
@pytest.mark.parametrize("landmarks", [None, 6])
def test_the_norm_keeps_to_the_ball_of_lemma_3_4(loss, lam, landmarks):
    pos, neg = sides(25, 20)
    pos *= 3.0
    arguments = dict(kernel="polynomial", loss=loss, lam=lam, gamma=0.2, degree=2, landmarks=landmarks)
    _, trace = kernel.train(pos, neg, t_max=300, **arguments)
    slope = {"squared": 2.0, "squared_hinge": 2.0, "logistic": 0.5, "hinge": 1.0}[loss]
    if landmarks is None:
        X = np.concatenate([pos, neg])
        assert trace.kappa == pytest.approx(math.sqrt(((0.2 * (X**2).sum(axis=1) + 1) ** 2).max()))
    assert trace.norm_bound == pytest.approx(2 * trace.kappa * slope / lam)
    assert (trace.norm <= trace.norm_bound).all()
    assert trace.step.max() == trace.largest_step >= bounds.step_condition(loss, lam, trace.kappa)
    if loss != "hinge":
        assert (np.diff(trace.descended) <= 1e-14).all()
    _, over = kernel.train(pos, neg, t_max=1, eta=trace.largest_step * 1.01, **arguments)
    assert over.norm_bound == math.inf
    lemma = bounds.step_condition(loss, lam, trace.kappa)
    _, under = kernel.train(pos, neg, t_max=3, eta=lemma, **arguments)
    assert under.largest_step == lemma
    assert under.norm_bound == trace.norm_bound


@pytest.mark.parametrize("size", [(4, 3), (30, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_default_step_is_that_of_the_rows(size, weighted):
    pos, neg = sides(*size)
    X = np.concatenate([pos, neg])
    weight, extra = np.ones(size), {}
    if weighted:
        c, groups = np.arange(size[0]) + 1.0, [np.arange(n) % 2 for n in size]
        weight = c[:, None] * np.equal.outer(*groups)
        extra = dict(pos_weight=c, pos_group=groups[0], neg_group=groups[1])
    weight = weight / weight.sum()
    H = np.block([[np.diag(weight.sum(axis=1)), -weight], [-weight.T, np.diag(weight.sum(axis=0))]])
    largest = np.abs(np.linalg.eigvals(H @ rbf(X, X))).max()
    for loss, change in CHANGES.items():
        _, trace = kernel.train(pos, neg, loss=loss, lam=0.1, gamma=0.3, t_max=1, **extra)
        assert trace.largest_step == pytest.approx(1 / (change * 1.01 * largest + 0.1), rel=2e-3)
        assert trace.largest_step < 1 / (change * largest + 0.1)


@each_value()
@pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_descent_is_as_fast_as_proposition_3_8_promises(loss, theta):
    # The sample as its own population: the bound without its last term, which is that of countless rows.
    pos, neg = sides(12, 12, seed=10)
    X = np.concatenate([pos, neg])
    G = rbf(X, X)
    best, _ = kernel.minimize(pos, neg, loss=loss, lam=0.5, gamma=0.3)
    norm = math.sqrt(best.coef @ G @ best.coef)
    coefs = []
    _, trace = kernel.train(
        pos,
        neg,
        loss=loss,
        lam=0.5,
        gamma=0.3,
        theta=theta,
        eta=bounds.step_condition(loss, 0.5, 1.0),
        t_max=300,
        tol=0,
        callback=lambda t: coefs.append(t.model.coef),
    )
    for t in (2, 10, 50, 300):
        away = coefs[t - 2] - best.coef  # f_t is what t - 1 steps lead to
        bound = bounds.sample_error_bound(
            loss, 10**40, 10**40, t, 0.5, 1.0, trace.step[0], theta, 0.5, f_lambda_norm=norm
        )
        assert away @ G @ away <= bound


def test_a_disc_in_a_ring_is_put_in_order():
    generator = np.random.default_rng(1)
    angle = generator.uniform(0, 2 * np.pi, 1200)
    radius = np.where(np.arange(1200) % 2, generator.uniform(0, 1, 1200), generator.uniform(1.1, 2, 1200))
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y = np.arange(1200) % 2 == 1
    train, test = np.arange(1200) < 600, np.arange(1200) >= 600
    for arguments in ({}, {"landmarks": 40}, {"kernel": "polynomial", "degree": 2}, {"loss": "hinge", "theta": 0.5}):
        model, _ = kernel.train(X[train & y], X[train & ~y], **arguments)
        assert pnorm.metrics.auc(model.score(X[test & y]), model.score(X[test & ~y])) > 0.99
    model, _ = kernel.train(X[train & y], X[train & ~y], "linear")
    assert pnorm.metrics.auc(model.score(X[test & y]), model.score(X[test & ~y])) < 0.6
    lam, _ = pnorm.minimize(X[train & y], X[train & ~y])
    assert pnorm.metrics.auc(X[test & y] @ lam, X[test & ~y] @ lam) < 0.6


# Theorem 2.1 ------------------------------------------------------------------------------------------


@each_value()
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("m", "n"), [(8, 8), (5000, 5000), (400, 90_000)])
@pytest.mark.parametrize("s", [0.3, 1.0, 2.5])
def test_the_schedule_is_that_of_theorem_2_1(loss, m, n, s):
    theta, gamma, kappa = 0.4, 0.5, 1.3
    t, lam, eta = kernel.schedule(m, n, loss, kappa, s, theta, gamma)
    balance = m * n / (m + n) ** 1.5
    assert isinstance(t, int)
    assert balance**s * (1 - 1e-9) <= t <= 2 * balance**s
    assert lam == pytest.approx(t**-gamma)
    slope, factor, q = {"squared": (2, 2, 2), "squared_hinge": (2, 2, 2), "logistic": (0.5, 2, 1), "hinge": (1, 1, 1)}[
        loss
    ]
    left = LOSSES[loss][1]
    u = np.r_[-np.geomspace(1e-6, 1, 500), np.geomspace(1e-6, 1, 500)]
    sup = max(abs(left(x) - left(0.0)) / abs(x) for x in u)
    delta = 1 + 4 * kappa**2 * (sup + slope + factor * (8 * kappa**2 * slope) ** (q - 1))
    assert eta == pytest.approx(1 / delta, rel=1e-6)
    assert eta <= bounds.step_condition(loss, lam, kappa)
    assert kernel.schedule(m, n, loss, kappa, s, theta, gamma, eta_star=eta / 3).eta == eta / 3
    # (2.1): C_0 is large enough
    for x in np.linspace(-30, 30, 601):
        assert LOSSES[loss][0](x) <= factor * (1 + abs(x)) ** q + 1e-12
        assert abs(left(x)) <= factor * (1 + abs(x)) ** (q - 1) + 1e-12


def test_the_constants_of_table_1_where_they_are_legible():
    for kappa in (0.5, 1.0, 2.0):
        for loss, factor in (("logistic", 11), ("hinge", 8)):
            assert kernel.schedule(50, 50, loss, kappa, 1, 0.5, 0.1).eta == pytest.approx(1 / (1 + factor * kappa**2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(theta=0.0), "theta must be above 0 and below 1"),
        (dict(theta=1.0), "theta must be above 0"),
        (dict(gamma=0.0), "gamma must be above 0"),
        (dict(gamma=0.5), "gamma must be below"),
        (dict(s=0.0), "s must be above 0"),
        (dict(s=50.0), "pass a smaller s"),
        (dict(kappa=0.0), "kappa must be above 0"),
        (dict(eta_star=0.0), "eta_star must be above 0"),
        (dict(eta_star=0.084), r"at most 1 / Delta\* = 0.0833333"),
        (dict(n_pos=7, n_neg=7), "as it is for 8 and 8 rows"),
        (dict(loss="exponential"), "loss must be one of"),
        (dict(n_pos=0), "n_pos must be at least 1"),
    ],
)
def test_the_schedule_checks_the_conditions(change, message):
    arguments = dict(n_pos=100, n_neg=100, loss="logistic", kappa=1.0, s=1.0, theta=0.5, gamma=0.2)
    kernel.schedule(**arguments)
    with raises(ValueError, message):
        kernel.schedule(**{**arguments, **change})


def test_a_scheduled_run_meets_its_own_conditions():
    pos, neg = sides(60, 60)
    t, lam, eta = kernel.schedule(60, 60, "hinge", 1.0, s=3.0, theta=0.5, gamma=0.3)
    _, trace = kernel.train(pos, neg, loss="hinge", lam=lam, eta=eta, theta=0.5, t_max=t - 1)
    assert trace.norm_bound < math.inf
    assert (trace.norm <= trace.norm_bound).all()


# Bad input --------------------------------------------------------------------------------------------


def bad(A, B):
    return -(A @ B.T)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (dict(kernel="sigmoid"), ValueError, "kernel must be one of 'rbf'"),
        (dict(gamma="scale"), TypeError, "or left out for the default"),
        (dict(pos=[["a", "b", "c"]] * 5), TypeError, "encode the column as numbers"),
        (dict(pos=pd.DataFrame({"x": [1, "b"], "y": 1, "z": 1})), TypeError, "real number: encode the column"),
        (dict(pos=scipy.sparse.eye(5, 11).tocsr(), neg=scipy.sparse.eye(6, 11).tocsr(), kernel="precomputed"),
         TypeError, r"pos is sparse; .* pass pos.toarray\(\)"),
        (dict(kernel=scipy.sparse.eye(11).tocsr()), TypeError, "kernel is sparse"),
        (dict(loss=pnorm.objectives.Power(2.0)), TypeError, "loss must be one of 'logistic'"),
        (dict(landmarks=[0, 2, 4]), ValueError, "row numbers are not accepted"),
        (dict(kernel="linear", landmarks=np.zeros((3, 3))), ValueError, "zero on all landmarks"),
        (dict(kernel=lambda A, B: np.zeros((len(A), len(B))), landmarks=3), ValueError, "the training rows is 0; scale"),
        (dict(pos_weight=[1e-320] * 5, neg_weight=[1e-10] * 6), ValueError, "Scale the weights to about one"),
        (dict(kernel=3), TypeError, "a function of two blocks"),
        (dict(kernel=bad), ValueError, "not positive semidefinite"),
        (dict(kernel=lambda A, B: np.triu(np.ones((len(A), len(B))))), ValueError, "not symmetric"),
        (dict(kernel=lambda A, B: np.ones(len(A))), ValueError, "two-dimensional"),
        (dict(kernel=lambda A, B: np.ones((len(A), 2))), ValueError, "one number for each pair"),
        (dict(kernel=lambda A, B: np.zeros((len(A), len(B)))), ValueError, "the training rows is 0; scale"),
        (dict(kernel=np.eye(4)), ValueError, "a row and a column for each of the 11"),
        (dict(kernel=-np.eye(11)), ValueError, "not positive semidefinite"),
        (dict(kernel=np.eye(11), gamma=1.0), TypeError, "a Gram matrix takes no parameters; got gamma"),
        (dict(kernel="precomputed"), ValueError, "a row and a column for each of the 11"),
        (dict(gamma=0.0), ValueError, "gamma must be above 0"),
        (dict(degree=2), TypeError, "no argument is called degree, and the kernel 'rbf' takes gamma"),
        (dict(kernel="linear", gamma=1.0), TypeError, "takes no parameters"),
        (dict(kernel="polynomial", coef0=-1.0), ValueError, "coef0 must be zero or more"),
        (dict(kernel="polynomial", degree=0), ValueError, "degree must be at least 1"),
        (dict(loss="exponential"), ValueError, "grows too fast"),
        (dict(loss=3), TypeError, "loss must be"),
        (dict(lam=0.0), ValueError, "lam must be above 0"),
        (dict(eta=-1.0), ValueError, "eta must be above 0"),
        (dict(theta=2.0), ValueError, "theta must be between 0 and 1"),
        (dict(t_max=-1), ValueError, "t_max must be at least 0"),
        (dict(tol=-1.0), ValueError, "tol must be zero or more"),
        (dict(landmarks=0), ValueError, "landmarks must be at least 1"),
        (dict(landmarks=2.5), TypeError, "landmarks must be an integer"),
        (dict(landmarks=np.ones((3, 2))), ValueError, "landmarks has 2 columns"),
        (dict(landmarks=5, memory_limit=100), ValueError, "5 landmarks of 11 rows"),
        (dict(kernel=np.eye(11), landmarks=np.eye(11)), TypeError, "a number of training rows"),
        (dict(memory_limit=0), ValueError, "memory_limit must be above 0"),
        (dict(seed=-1), ValueError, "seed must be"),
        (dict(callback=3), TypeError, "callback must be"),
        (dict(pos_weight=[1.0]), ValueError, "pos_weight must have shape"),
        (dict(neg_group=[1] * 6), ValueError, "neg_group is given and pos_group is not"),
        (dict(neg=np.ones((6, 2))), ValueError, "pos has 3 columns and neg has 2"),
        (dict(neg=np.full((6, 3), np.nan)), ValueError, "neg has nan"),
        (dict(pos=np.empty((0, 3))), ValueError, "pos is empty"),
    ],
)  # fmt: skip
def test_bad_input_is_told(change, error, message):
    pos, neg = sides(5, 6)
    with raises(error, message):
        kernel.train(**{"pos": pos, "neg": neg, **change})


def test_rows_to_score_must_fit():
    pos, neg = sides(5, 6)
    frames = [pd.DataFrame(side, columns=list("abc")) for side in (pos, neg)]
    model, _ = kernel.train(*frames)
    np.testing.assert_array_equal(model.score(frames[0][["c", "a", "b"]]), model.score(pos))
    with raises(ValueError, "X has 2 columns and the training rows have 3"):
        model.score(pos[:, :2])
    with pytest.raises(ValueError, match="lacks the column 'b'"):
        model.score(frames[0][["a", "c"]])
    G = np.eye(11)
    model, _ = kernel.train(G[:5], G[5:], "precomputed")
    with raises(ValueError, "the kernel between its rows and the 11 training rows, one column each"):
        model.score(G[:, :4])


def test_models_are_not_coefficients_and_strings_are_not_lists():
    model, trace = kernel.train(
        ["aa", "ab"], ["ba", "bb"], lambda A, B: np.array([[float(a[0] == b[0]) for b in B] for a in A])
    )
    assert model.score(["ac"])[0] > model.score(["bc"])[0]
    with raises(TypeError, r"the string 'ac'. Pass \['ac'\]"):
        model.score("ac")
    column = pd.Series([2.0], index=["score"])
    assert pnorm.score([[1.0]], None, column).tolist() == [2.0]
    for wrong in (model, (model, trace)):
        with raises(TypeError, "got a model: call its own score"):
            pnorm.score([[1.0]], None, wrong)


def test_steps_that_are_too_long_are_warned_of():
    pos, neg = sides(30, 30)
    _, trace = kernel.train(pos, neg, loss="squared_hinge", t_max=3)
    with warns(RuntimeWarning, "the objective went up, from 1 to .* theta=0.5, which makes steps shrink"):
        kernel.train(pos, neg, loss="squared_hinge", eta=10 * trace.largest_step, t_max=7)


def test_models_and_traces_say_what_they_are_and_can_be_stored():
    pos, neg = sides(5, 6)
    for arguments, words in (
        ({}, "the kernel rbf on 11 rows"),
        ({"landmarks": 4}, "rbf on 4 landmarks, which leave out 0"),
    ):
        model, trace = kernel.train(pos, neg, **arguments)
        assert words in repr(model)
        assert len(pickle.dumps(model)) < 4000
        assert "mean loss 0.693147 -> " in repr(trace)
        again = pickle.loads(pickle.dumps((model, trace)))
        np.testing.assert_array_equal(again[0].score(pos), model.score(pos))
        assert again[1].gap == trace.gap
    with pytest.raises(ValueError, match="read-only"):
        trace.loss[0] = 1.0


def test_the_bar_counts_steps(capsys):
    pos, neg = sides(5, 6)
    kernel.train(pos, neg, t_max=7, progress=True)
    assert "7/7" in capsys.readouterr().err
