"""The reverse push, ``push="bottom"``: F = sum over i of (sum over k of e^{-(f_i - f_k)})^p."""

import family
import literal
import numpy as np
import partitions
import pytest
import scipy.sparse
from facts import raises
from repeats import each_value

import pnorm
from pnorm import rankers

KINDS = {
    "columns": lambda pos, neg: rankers.columns(4),
    "normalized": rankers.normalized,
    "thresholds": lambda pos, neg: rankers.quantile_thresholds(pos, neg, 5),
    "categories": lambda pos, neg: rankers.categories(pos.round(), neg.round()),
    "callables": lambda pos, neg: rankers.callables([lambda X: X[:, 0] ** 2, lambda X: np.sin(X[:, 1] + X[:, 2])]),
    "closed": lambda pos, neg: rankers.closed(rankers.columns(4)),
    "union": lambda pos, neg: rankers.columns(4) + rankers.quantile_thresholds(pos, neg, 3),
}


def problem(seed=0, n_pos=30, n_neg=40, shift=0.0):
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.4, 1, (n_pos, 4)) + shift, rng.normal(0, 1, (n_neg, 4)) + shift
    c = rng.uniform(0.3, 3, n_pos), rng.uniform(0.3, 3, n_neg)
    c[0][3] = c[1][5] = 0.0
    g = [np.r_[np.arange(3), rng.integers(0, 3, n - 3)] for n in (n_pos, n_neg)]
    return (
        pos,
        neg,
        dict(zip(("pos_weight", "neg_weight"), c, strict=True)),
        dict(zip(("pos_group", "neg_group"), g, strict=True)),
    )


def log_f(f_pos, f_neg, p, pos_weight=None, neg_weight=None, pos_group=None, neg_group=None):
    """The definition, by a double loop."""
    total = 0.0
    for i in range(len(f_pos)):
        height = sum(
            np.exp(f_neg[k] - f_pos[i]) * (1 if neg_weight is None else neg_weight[k])
            for k in range(len(f_neg))
            if pos_group is None or pos_group[i] == neg_group[k]
        )
        total += (1 if pos_weight is None else pos_weight[i]) * height**p
    return np.log(total)


def assert_same(found, expected, within=1e-12):
    (lam, trace), (other_lam, other) = found, expected
    np.testing.assert_allclose(lam, other_lam, rtol=within, atol=within)
    assert trace.status == other.status
    np.testing.assert_array_equal(trace.ranker, other.ranker)
    for name in ("step", "log_objective", "z"):
        np.testing.assert_allclose(getattr(trace, name), getattr(other, name), rtol=within, atol=within)


def turned(pos, neg, about):
    """The arguments of the push at the top of the list that is read from below."""
    exchange = {"pos": "neg", "neg": "pos"}
    return (-neg, -pos), {exchange[name[:3]] + name[3:]: value for name, value in about.items()}


@each_value()
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("given", ["plain", "weights", "groups", "both"])
def test_without_rankers_it_is_the_push_of_the_negated_sides(given, storage):
    pos, neg, weights, groups = problem()
    about = {} if given == "plain" else (weights if given != "groups" else {}) | (groups if given != "weights" else {})
    pos, neg = storage(pos), storage(neg)
    other, others_about = turned(pos, neg, about)
    for more in ({}, {"selection": "signed"}, {"init": [1.0, -1.0, 0.5, 0.0]}, {"loss": "logistic"}):
        found = pnorm.train(pos, neg, None, 4, 30, push="bottom", **about, **more)
        assert_same(found, pnorm.train(*other, None, 4, 30, **others_about, **more))
    for more in ({}, {"l2": 0.3}, {"l2": 0.3, "method": "lbfgs"}, {"loss": "logistic", "l2": 0.1}):
        lam, trace = pnorm.minimize(pos, neg, None, 4, push="bottom", **about, **more)
        other_lam, other_trace = pnorm.minimize(*other, None, 4, **others_about, **more)
        np.testing.assert_allclose(lam, other_lam, rtol=1e-6, atol=1e-7)
        assert trace.log_objective[-1] == pytest.approx(other_trace.log_objective[-1], rel=1e-9)
        assert trace.status == other_trace.status
    path = pnorm.minimize_path(pos, neg, None, 4, l2=[1, 0.1], push="bottom", **about)
    np.testing.assert_allclose(
        path.lam, pnorm.minimize_path(*other, None, 4, l2=[1, 0.1], **others_about).lam, atol=1e-7
    )


@each_value(times=3)
@pytest.mark.parametrize("p", [1, 4, 16])
@pytest.mark.parametrize("given", ["plain", "weights", "groups"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_round_is_the_literal_one_of_the_definition(kind, given, p):
    pos, neg, weights, groups = problem(1)
    if kind == "categories":
        pos, neg = pos.round(), neg.round()
    H = KINDS[kind](pos, neg)
    about = {"plain": {}, "weights": weights, "groups": groups}[given]
    lam, trace = pnorm.train(pos, neg, H, p, 25, push="bottom", **about)
    f, g = pnorm.score(pos, H, lam), pnorm.score(neg, H, lam)
    assert trace.log_objective[-1] == pytest.approx(log_f(f, g, p, **about), rel=1e-11)
    kept = [about.get(f"{side}_weight", np.ones(len(X))) > 0 for side, X in (("pos", pos), ("neg", neg))]
    c = [
        about[f"{side}_weight"][own] if weights is about else None
        for side, own in zip(("pos", "neg"), kept, strict=True)
    ]
    of_groups = (groups["neg_group"], groups["pos_group"]) if groups is about else None
    judge = literal.train(
        -H.evaluate(neg)[kept[1]], -H.evaluate(pos)[kept[0]], p, 25, "absolute", c[1], c[0], groups=of_groups
    )
    assert_same((lam, trace), (judge.lam, judge), 1e-9)
    np.testing.assert_allclose(trace.edge, judge.edge, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_minimiser_has_a_gradient_of_zero_and_a_certificate(kind):
    pos, neg, weights, _ = problem(2)
    if kind == "categories":
        pos, neg = pos.round(), neg.round()
    H = KINDS[kind](pos, neg)
    for l2 in (0.0, 0.2):
        lam, trace = pnorm.minimize(pos, neg, H, 3, l2=l2, push="bottom", **weights)
        if trace.direction is not None:
            assert l2 == 0.0
            continue
        assert trace.status == "converged"
        A, B = H.evaluate(pos), H.evaluate(neg)
        u = weights["pos_weight"] * np.exp(-3 * (A @ lam))
        w = weights["neg_weight"] * np.exp(B @ lam)
        np.testing.assert_allclose(3 * (A.T @ u / u.sum() - B.T @ w / w.sum()), l2 * lam, atol=1e-4)
        assert trace.log_objective[-1] == pytest.approx(log_f(A @ lam, B @ lam, 3, **weights), rel=1e-11)
        of = pnorm.diagnostics.certificate(pos, neg, H, 3, lam, l2=l2, push="bottom", **weights)
        assert of.gap < 1e-8
        assert of.log_objective == pytest.approx(trace.log_objective[-1], rel=1e-12)
        assert pnorm.diagnostics.certificate(pos, neg, H, 3, lam, l2=l2, **weights).gap > 1e-3
        sides, exchanged = turned(A, B, weights)
        of_scores = pnorm.objectives.value(-B @ lam, -A @ lam, pnorm.objectives.Power(3), **exchanged)
        assert of_scores == pytest.approx(trace.log_objective[-1], rel=1e-12)
        if l2 == 0.0:
            limit = pnorm.diagnostics.q_limit(*sides, None, 3, **exchanged)
            assert limit.log_objective == pytest.approx(trace.log_objective[-1], abs=1e-9)


@pytest.mark.parametrize(
    ("price", "loss"), [("power", "logistic"), ("exponential", "squared_hinge"), ("user", "exponential")]
)
def test_any_price_and_loss(price, loss):
    pos, neg, weights, groups = problem(3)
    H = KINDS["union"](pos, neg)
    chosen = family.ours(price, loss)
    for about in (weights, groups):
        lam, trace = pnorm.train(pos, neg, H, t_max=10, push="bottom", **chosen, **about)
        f, g = pnorm.score(pos, H, lam), pnorm.score(neg, H, lam)
        c = about.get("neg_weight"), about.get("pos_weight")
        labels = (groups["neg_group"], groups["pos_group"]) if about is groups else None
        R, _, _ = family.value_and_weights(-g, -f, price, loss, *c, groups=labels)
        assert trace.log_objective[-1] == pytest.approx(np.log(R), rel=1e-9)
        assert (np.diff(trace.log_objective) < 0).all()


def test_an_edge_is_a_mean_over_the_positives_less_one_over_the_negatives():
    pos, neg, _, _ = problem(4)
    lam = np.array([0.3, -0.2, 0.1, 0.5])
    _, trace = pnorm.train(pos, neg, None, 4, 1, init=lam, push="bottom")
    u, w = np.exp(-4 * (pos @ lam)), np.exp(neg @ lam)
    edges = pos.T @ u / u.sum() - neg.T @ w / w.sum()
    assert trace.edge[0] == pytest.approx(edges[np.abs(edges).argmax()], rel=1e-12)


def test_the_bottom_is_right_where_the_push_is():
    # x0 has some positives far down, and orders more pairs; x1 has a clean bottom.
    rng = np.random.default_rng(4)
    neg = np.column_stack([rng.normal(-1.5, 1, 400), rng.normal(-0.6, 1, 400)])
    pos = np.column_stack([rng.normal(0, 1, 600), np.maximum(rng.normal(0, 1, 600), -0.9)])
    pos[:12, 0] -= 4
    below = []
    for p in (1, 4, 64):
        lam, _ = pnorm.train(pos, neg, p=p, push="bottom")
        below.append(pnorm.metrics.positives_at_top(-neg @ lam, -pos @ lam))
    assert below[0] < below[1] < below[2]


@pytest.mark.parametrize("kind", ["columns", "thresholds", "union"])
def test_columns_far_from_zero_and_rows_in_partitions(kind):
    pos, neg, weights, _ = problem(5, shift=3e5)
    H = KINDS[kind](pos, neg)
    expected = pnorm.train(pos, neg, H, 4, 20, push="bottom", **weights)
    near = pnorm.train(pos - 3e5, neg - 3e5, KINDS[kind](pos - 3e5, neg - 3e5), 4, 20, push="bottom", **weights)
    np.testing.assert_array_equal(expected[1].ranker, near[1].ranker)
    np.testing.assert_allclose(expected[0], near[0], rtol=1e-6)
    assert_same(partitions.train(pos, neg, H, 4, 20, push="bottom", **weights), expected, 1e-8)
    how = {"l2": 0.1, "push": "bottom", "tol": 1e-13, **weights}
    lam, trace = partitions.minimize(pos, neg, H, 4, **how)
    np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, H, 4, **how)[0], atol=1e-6)
    assert trace.gap < 1e-8


def test_cross_validation():
    pos, neg, weights, groups = problem(6)
    H = KINDS["union"](pos, neg)
    for about in ({}, weights, groups):
        found = pnorm.cross_validate(
            pos, neg, H, [1, 4], 10, folds=2, metric="positives_at_top", push="bottom", **about
        )
        for k in range(2):
            train, held = (
                [number == k if out else (number != k) & (number >= 0) for number in found.folds] for out in (0, 1)
            )
            own = {name: value[train[name.startswith("neg")]] for name, value in about.items()}
            lam, trace = pnorm.train(pos[train[0]], neg[train[1]], H, 4, 10, push="bottom", **own)
            assert_same((lam, found.traces[1][k]), (lam, trace), 1e-9)
            if about is not groups:
                f, g = pnorm.score(pos[held[0]], H, lam), pnorm.score(neg[held[1]], H, lam)
                c = (
                    {}
                    if not about
                    else {"pos_weight": about["neg_weight"][held[1]], "neg_weight": about["pos_weight"][held[0]]}
                )
                assert found.scores[1, k, -1] == pytest.approx(pnorm.metrics.positives_at_top(-g, -f, **c))
    assert found.metric == "positives_at_top, read from below"
    seen = []

    def metric(f_pos, f_neg):
        seen.append((f_pos.size, f_neg.size))
        return pnorm.metrics.auc(f_pos, f_neg)

    found = pnorm.cross_validate(pos, neg, H, 4, 10, folds=2, metric=metric, push="bottom")
    assert set(seen) == {(15, 20)}
    assert found.scores[0, :, -1].min() > 0.5


@pytest.mark.parametrize("metric", ["positives_at_top", "log_objective"])
def test_early_stopping(metric):
    pos, neg, weights, groups = problem(7)
    H = KINDS["union"](pos, neg)
    for about in ({}, weights, groups):
        p = 4 if metric == "log_objective" else None
        stop = pnorm.callbacks.early_stopping(pos, neg, metric, 100, H=H, p=p, push="bottom", **about)
        lam, trace = pnorm.train(pos, neg, H, 4, 10, callback=stop, push="bottom", **about)
        if metric == "log_objective":
            np.testing.assert_allclose(stop.scores, trace.log_objective, rtol=1e-11)
        elif about is not groups:
            f, g = pnorm.score(pos, H, lam), pnorm.score(neg, H, lam)
            c = {} if not about else {"pos_weight": about["neg_weight"], "neg_weight": about["pos_weight"]}
            assert stop.scores[-1] == pytest.approx(pnorm.metrics.positives_at_top(-g, -f, **c))


def test_messages_call_the_sides_what_they_are():
    pos, neg = [[0.9, 0], [0.3, 0], [0.5, 1]], [[0.8, 0], [0.1, 0]]
    said = "quasi-separable: 2 of 3 positives and 2 of 2 negatives keep weight"
    for push in ("top", "bottom"):
        _, trace = pnorm.minimize(pos, neg, None, 2, push=push)
        assert trace.message.startswith(said)
    _, trace = pnorm.train([[2.0], [3.0]], [[1.0], [0.0]], push="bottom")
    assert trace.status == "separable"
    assert trace.step[0] == pytest.approx(1.0)
    assert "x0 alone puts every positive above every negative" in trace.message
    with raises(ValueError, "neg_weight has the negative weight"):
        pnorm.train(pos, neg, push="bottom", neg_weight=[1.0, -1.0])
    with raises(ValueError, "push must be one of 'top', 'bottom'; got 'left'"):
        pnorm.train(pos, neg, push="left")


def test_the_threads_make_no_difference():
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.2, 1, (70_000, 3)), rng.normal(0, 1, (80_000, 3))
    H = rankers.columns(3) + rankers.quantile_thresholds(pos, neg, 9)
    one, three = (pnorm.train(pos, neg, H, 4, 8, push="bottom", n_threads=n)[0] for n in (1, 3))
    np.testing.assert_array_equal(one, three)
