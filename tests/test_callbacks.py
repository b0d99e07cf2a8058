"""Callbacks: what they score is what scoring all rows anew would say, and they stop when they should."""

import functools
import pickle

import numpy as np
import pytest
import scipy.sparse
from facts import raises
from hypothesis import given
from hypothesis import strategies as st
from repeats import each_value, examples

import pnorm
from pnorm import callbacks, metrics


@pytest.fixture(scope="module")
def rows():
    """Training and validation rows of two overlapping clouds."""
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.5, 1, (90, 4)).round(1), rng.normal(size=(120, 4)).round(1)
    return pos[:50], neg[:70], pos[50:], neg[70:]


def by_hand(trace, H, pos, neg, measure):
    """The score of every round from scratch."""
    return [
        measure(pnorm.score(pos, H, trace.lam_at(t)), pnorm.score(neg, H, trace.lam_at(t)))
        for t in range(trace.n_iter + 1)
    ]


def collections(pos, neg):
    return {
        "columns": None,
        "normalized": pnorm.rankers.normalized(pos, neg),
        "thresholds": pnorm.rankers.quantile_thresholds(pos, neg, 9),
        "closed": pnorm.rankers.closed(pnorm.rankers.columns(4)),
        "union": pnorm.rankers.columns(4) + pnorm.rankers.categories(pos, neg),
        "callables": [lambda X: X[:, 0], lambda X: X.max(axis=1)],
    }


@each_value()
@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", ["columns", "normalized", "thresholds", "closed", "union", "callables"])
@pytest.mark.parametrize("metric", ["average_precision", "auc", "bedroc", "r_max"])
def test_scores_are_those_of_all_rows_scored_anew(rows, kind, metric):
    pos, neg, *held = rows
    H = collections(pos, neg)[kind]
    stop = callbacks.early_stopping(*held, metric, 7, H=H)
    _, trace = pnorm.train(pos, neg, H, p=4, t_max=60, callback=stop)
    expected = by_hand(trace, H, *held, getattr(metrics, metric))
    np.testing.assert_allclose(stop.scores, expected, rtol=1e-12)
    best = np.argmin(expected) if metric == "r_max" else np.argmax(expected)  # the first of them
    assert (stop.best_iter, stop.best_score) == (best, stop.scores[best])
    assert trace.n_iter == stop.best_iter + 7 if trace.status == "callback" else trace.n_iter < stop.best_iter + 7


def test_sparse_rows_and_frames(rows):
    pd = pytest.importorskip("pandas")
    pos, neg, *held = rows
    plain = callbacks.early_stopping(*held)
    pnorm.train(pos, neg, t_max=20, callback=plain)
    for form in (scipy.sparse.csr_array, lambda X: pd.DataFrame(X, columns=list("abcd"))):
        stop = callbacks.early_stopping(*map(form, held))
        pnorm.train(form(pos), form(neg), t_max=20, callback=stop)
        np.testing.assert_allclose(stop.scores, plain.scores, rtol=1e-12)


def test_frames_are_read_by_name(rows):
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(X, columns=list("abcd")) for X in rows]
    H = pnorm.rankers.quantile_thresholds(*frames[:2], 5)
    stop, other = (
        callbacks.early_stopping(frames[2][list(order)], frames[3], H=H, patience=50) for order in ("abcd", "dcab")
    )
    pnorm.train(*frames[:2], H, t_max=20, callback=callbacks.any_of(stop, other))
    np.testing.assert_array_equal(stop.scores, other.scores)


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_all_coefficients_move_in_minimize(rows, method):
    pos, neg, *held = rows
    stop = callbacks.early_stopping(*held, "log_objective", 100, p=4)
    lam, trace = pnorm.minimize(pos, neg, p=4, l2=0.01, method=method, callback=stop)
    # trace.path has all of the points, of which the callback sees those after a step
    np.testing.assert_allclose(
        stop.scores,
        by_hand(trace, None, *held, lambda a, b: pnorm.objectives.value(a, b, pnorm.objectives.Power(4))),
        rtol=1e-12,
    )
    assert stop.best_iter == np.argmin(stop.scores)
    impatient = callbacks.early_stopping(*held, lambda a, b: 0.0, 2)
    _, trace = pnorm.minimize(pos, neg, p=4, l2=0.01, method=method, callback=impatient)
    assert (trace.status, trace.n_iter, impatient.best_iter) == ("callback", 2, 0)


def test_the_objective_is_that_of_training(rows):
    pos, neg, *_ = rows
    rng = np.random.default_rng(1)
    c, d = rng.integers(0, 3, len(pos)), rng.integers(0, 3, len(neg)) + 0.5
    of_pos, of_neg = rng.integers(0, 4, len(pos)), rng.integers(0, 4, len(neg))
    about = dict(pos_weight=c, neg_weight=d, pos_group=of_pos, neg_group=of_neg)
    for how in (dict(p=3.0), dict(price=pnorm.objectives.Exponential(0.1), loss="logistic"),
                dict(p=2.0, loss="hinge", smoothing=0.1)):  # fmt: skip
        stop = callbacks.early_stopping(pos, neg, "log_objective", 100, **how, **about)
        _, trace = pnorm.train(pos, neg, t_max=15, callback=stop, **how, **about)
        np.testing.assert_allclose(stop.scores, trace.log_objective, rtol=1e-12)


def test_groups_are_averaged_and_rows_that_do_not_count_left_out(rows):
    pos, neg, *held = rows
    of_pos, of_neg = np.arange(40) % 3, np.arange(50) % 4  # group 3 has no positives
    c = np.where(np.arange(40) % 5 == 0, 0.0, 2.0)
    stop = callbacks.early_stopping(*held, "auc", 100, pos_weight=c, pos_group=of_pos, neg_group=of_neg)
    _, trace = pnorm.train(pos, neg, t_max=10, callback=stop)

    def mean(f_pos, f_neg):
        return np.mean(
            [metrics.auc(f_pos[(of_pos == g) & (c > 0)], f_neg[of_neg == g]) for g in range(3)]
        )  # equal weights

    np.testing.assert_allclose(stop.scores, by_hand(trace, None, *held, mean), rtol=1e-12)


def test_weights_reach_the_metric(rows):
    pos, neg, *held = rows
    c, d = np.arange(40.0), np.ones(50)
    seen = []

    def measure(f_pos, f_neg, pos_weight, neg_weight):
        seen.append((pos_weight, neg_weight))
        return metrics.auc(f_pos, f_neg, pos_weight=pos_weight, neg_weight=neg_weight)

    stop = callbacks.early_stopping(*held, measure, 100, pos_weight=c, neg_weight=d)
    named = callbacks.early_stopping(*held, "auc", 100, pos_weight=c, neg_weight=d)
    pnorm.train(pos, neg, t_max=10, callback=callbacks.any_of(stop, named))
    np.testing.assert_array_equal(stop.scores, named.scores)
    np.testing.assert_array_equal(seen[-1][0], c[1:])
    assert seen[-1][1].size == 50


def test_direction_of_a_metric(rows):
    pos, neg, *held = rows

    def best(metric, **how):
        stop = callbacks.early_stopping(*held, metric, 100, **how)
        pnorm.train(pos, neg, p=4, t_max=30, callback=stop)
        return stop.best_score == (stop.scores.max() if how.get("maximize", True) else stop.scores.min()), stop

    assert best("auc")[0]
    assert best(metrics.auc)[0]
    assert best(lambda a, b: -metrics.auc(a, b), maximize=False)[0]
    for risk in ("r_max", metrics.r_max, functools.partial(functools.partial(metrics.p_norm_risk, theta=0.0), p=2)):
        stop = best(risk)[1]
        assert stop.best_score == stop.scores.min() < stop.scores.max()


def test_the_partial_area_ends_early(rows):
    pos, neg, *held = rows
    named = callbacks.early_stopping(*held, "partial_auc", 100)
    spelled = callbacks.early_stopping(*held, functools.partial(metrics.partial_auc, max_fp=10, standardized=True), 100)
    pnorm.train(pos, neg, t_max=10, callback=callbacks.any_of(named, spelled))
    np.testing.assert_array_equal(named.scores, spelled.scores)


def test_nan_is_worse_than_any_number(rows):
    pos, neg, *held = rows
    values = iter([0.0, np.nan, np.nan, 1.0, np.nan, 2.0, 2.0, np.nan, np.nan])  # the first one is a trial
    stop = callbacks.early_stopping(*held, lambda a, b: next(values), 3)
    _, trace = pnorm.train(pos, neg, t_max=30, callback=stop)
    assert (stop.best_iter, stop.best_score, trace.n_iter) == (4, 2.0, 7)


def test_a_gain_counts_if_it_is_above_min_delta(rows):
    pos, neg, *held = rows
    values = iter([0.0, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0])
    stop = callbacks.early_stopping(*held, lambda a, b: next(values), 2, min_delta=1.0)
    _, trace = pnorm.train(pos, neg, t_max=30, callback=stop)
    assert (stop.best_iter, stop.best_score, trace.n_iter) == (2, 1.5, 4)  # 2.5 is better by one, not by more


def test_from_coefficients_that_were_given(rows):
    pos, neg, *held = rows
    init = np.array([0.3, -0.1, 0.2, 0.4])
    stop = callbacks.early_stopping(*held, "auc", 100)
    _, trace = pnorm.train(pos, neg, t_max=10, init=init, callback=stop)
    np.testing.assert_allclose(stop.scores, by_hand(trace, None, *held, metrics.auc), rtol=1e-12)
    assert stop.scores[0] == metrics.auc(*(pnorm.score(X, None, init) for X in held))


def test_every_run_starts_anew(rows):
    pos, neg, *held = rows
    stop = callbacks.early_stopping(*held, "auc", 100)
    for t_max in (10, 3, 3, 12):  # also as long as the one before, and longer
        for solve in (functools.partial(pnorm.train, t_max=t_max), functools.partial(pnorm.minimize, max_iter=2)):
            _, trace = solve(pos, neg, callback=stop)
            assert len(stop.scores) == trace.n_iter + 1
            np.testing.assert_allclose(stop.scores, by_hand(trace, None, *held, metrics.auc), rtol=1e-12)


def test_rounds_that_it_was_not_called_for_are_scored(rows):
    pos, neg, *held = rows
    stop, always = (callbacks.early_stopping(*held, "auc", 1000) for _ in range(2))
    for _ in range(2):
        pnorm.train(pos, neg, t_max=23, callback=lambda trace: bool(trace.n_iter % 5 == 0 and stop(trace)))
        pnorm.train(pos, neg, t_max=20, callback=always)
        np.testing.assert_array_equal(stop.scores, always.scores)


@examples(10)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 6), st.integers(0, 2))
def test_patience_against_a_loop(values, patience, delta):
    best, best_at, end = values[0], 0, None
    for t, value in enumerate(values):
        if value > best + delta:
            best, best_at = value, t
        if t and t - best_at >= patience:
            end = t
            break
    scores = iter([0, *values, *[0] * 100])
    stop = callbacks.early_stopping([[1.0]], [[0.0]], lambda a, b: next(scores), patience, min_delta=delta)
    init = np.zeros(1)
    for n in range(1, len(values)):
        trace = _rounds(n, init)
        if stop(trace):
            break
    else:
        n = None
    assert n == end
    if len(values) > 1:
        assert (stop.best_iter, stop.best_score) == (best_at, best)


def _rounds(n, init):
    """The trace of n rounds of which nothing is known."""
    ones = np.ones(n)
    return pnorm.Trace(np.zeros(n, int), ones, ones, ones, np.ones(n + 1), "running", "", init)


def test_after_a_run_of_no_rounds_the_start_is_the_best():
    stop = callbacks.early_stopping([[1.0], [0.0]], [[1.0], [0.0]])
    _, trace = pnorm.train([[1.0], [0.0]], [[1.0], [0.0]], callback=stop)
    assert trace.status == "stationary"
    assert (stop.best_iter, stop.scores.size) == (0, 0)
    assert not trace.lam_at(stop.best_iter).any()


# The clock --------------------------------------------------------------------------------------------


def test_time_is_up(rows, monkeypatch):
    pos, neg, *_ = rows
    ticks = iter(np.arange(0.0, 1000.0, 2.5))
    monkeypatch.setattr(callbacks, "monotonic", lambda: next(ticks))
    stop = callbacks.time_limit(10)
    for _ in range(2):  # the clock of the second run starts with it
        _, trace = pnorm.train(pos, neg, t_max=100, callback=stop)
        assert (trace.status, trace.n_iter) == ("callback", 5)
    _, trace = pnorm.minimize(pos, neg, p=8, tol=0.0, callback=callbacks.time_limit(2))
    assert (trace.status, trace.n_iter) == ("callback", 2)


def test_the_clock_goes_forward():
    stop = callbacks.time_limit(1e-9)
    assert not stop(_rounds(1, init := np.zeros(1)))
    assert any(stop(_rounds(n, init)) for n in range(2, 1000))


# Several ----------------------------------------------------------------------------------------------


def test_any_of_calls_them_all(rows):
    pos, neg, *held = rows
    stop = callbacks.early_stopping(*held, "auc", 100)
    calls = []
    both = callbacks.any_of(lambda trace: trace.n_iter >= 4, lambda trace: calls.append(trace.n_iter), stop)
    _, trace = pnorm.train(pos, neg, t_max=20, callback=both)
    assert (trace.status, calls, stop.scores.size) == ("callback", [1, 2, 3, 4], 5)


# Front door -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(metric="auk"), "metric must be one of 'partial_auc', .* got 'auk'"),
        (dict(metric="precision_at"), r"'precision_at' needs further arguments: pass functools.partial"),
        (dict(metric="log_objective"), "'log_objective' needs the p of the run"),
        (dict(metric="log_objective", p=0.5), "p must be at least 1"),
        (dict(p=2.0), "p and price are for the metric 'log_objective'"),
        (dict(patience=0), "patience must be at least 1"),
        (dict(min_delta=-1.0), "min_delta must be zero or more"),
        (dict(pos_weight=[1.0]), r"pos_weight must have shape \(2,\)"),
        (dict(pos_group=[0, 1], neg_group=[2, 3]), "share no label"),
        (dict(pos_val=[[np.nan], [0.0]]), "pos_val has nan"),
        (dict(neg_val=[[0.0, 1.0]]), "neg_val has 2 columns; these weak rankers were made for 1"),
        (dict(pos_val=np.zeros((0, 1))), "pos_val is empty"),
    ],
)
def test_bad_arguments(arguments, message):
    given = dict(pos_val=[[1.0], [0.0]], neg_val=[[1.0], [0.0]]) | arguments
    with raises((ValueError, TypeError), message):
        callbacks.early_stopping(**given)


def test_a_metric_that_cannot_be_called_says_so_at_once(rows):
    _, _, *held = rows
    with raises(ValueError, "the metric bedroc takes no weights"):
        callbacks.early_stopping(*held, "bedroc", pos_weight=np.ones(40))
    with pytest.raises(TypeError):
        callbacks.early_stopping(*held, lambda f: 0.0)


def test_other_weak_rankers_are_refused(rows):
    pos, neg, *held = rows
    stop = callbacks.early_stopping(*held)
    with raises(ValueError, r"the run has 1 weak rankers and early_stopping 4\. Pass the same H to both"):
        pnorm.train(pos, neg, [lambda X: X[:, 0]], callback=stop)


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, "10"])
def test_bad_times(seconds):
    with pytest.raises((ValueError, TypeError), match="seconds must be"):
        callbacks.time_limit(seconds)


def test_any_of_nothing():
    with pytest.raises(ValueError, match="at least one"):
        callbacks.any_of()
    for wrong in (None, 3):
        with pytest.raises(TypeError):
            callbacks.any_of(wrong)


def test_they_print_what_they_know(rows):
    pos, neg, *held = rows
    stop = callbacks.early_stopping(*held)
    pnorm.train(pos, neg, t_max=3, callback=stop)
    assert f"best {stop.best_score:.6g} after round {stop.best_iter} of 3" in repr(stop)
    assert repr(callbacks.time_limit(90)) == "<TimeLimit: 90 seconds>"
    assert pickle.loads(pickle.dumps(callbacks.time_limit(90)))
