"""Rows in partitions against the same rows in memory."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from facts import raises
from partitions import InLists, minimize, partitioned, train
from repeats import each_value

import pnorm
from pnorm._solvers import building, descent_state, forming, of_rows, steps
from pnorm._solvers.building import rankers_of
from pnorm._solvers.descent import descend
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.fingerprints import Known
from pnorm._solvers.hessian import Curvature
from pnorm._solvers.minimize import solve
from pnorm._solvers.reductions import Job, Rows, rows_of
from pnorm._solvers.steps import sums_after_steps
from pnorm.objectives._pnorm import push


def sides(n_pos=60, n_neg=90, d=4, seed=0):
    generator = np.random.default_rng(seed)
    pos = generator.normal(size=(n_pos, d)) + 0.5
    neg = generator.normal(size=(n_neg, d))
    pos[:, 0], neg[:, 0] = np.round(pos[:, 0]), np.round(neg[:, 0])
    return pos, neg


def assert_same(found, expected, within=1e-9):
    (lam, trace), (other_lam, other) = found, expected
    assert trace.status == other.status
    np.testing.assert_array_equal(trace.ranker, other.ranker)
    np.testing.assert_allclose(lam, other_lam, rtol=0, atol=within)
    for name in ("step", "edge", "z", "log_objective"):
        np.testing.assert_allclose(getattr(trace, name), getattr(other, name), rtol=within, atol=within)


def mixed(pos, neg):
    return pnorm.rankers.quantile_thresholds(pos, neg, 9) + pnorm.rankers.columns(pos.shape[1])


KINDS = {
    "thresholds": lambda pos, neg: pnorm.rankers.quantile_thresholds(pos, neg, 15),
    "columns": lambda pos, neg: None,
    "normalized": pnorm.rankers.normalized,
    "closed": lambda pos, neg: pnorm.rankers.closed(pnorm.rankers.quantile_thresholds(pos, neg, 7)),
    "mixed": mixed,
    "functions": lambda pos, neg: [lambda X: X[:, 1], lambda X: X[:, 2] > 0.0, lambda X: np.abs(X[:, 3])],
}


@each_value()
@pytest.mark.parametrize("p", [1, 64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 13])
def test_train_finds_what_it_finds_in_memory(kind, p, rows):
    pos, neg = sides(20, 30) if rows == 1 else sides()  # a partition takes a while, however many rows it has
    H = KINDS[kind](pos, neg)
    assert_same(train(pos, neg, H, p, 40, rows=rows), pnorm.train(pos, neg, H, p, 40))


@pytest.mark.parametrize("kind", KINDS)
def test_case_weights(kind):
    pos, neg = sides()
    generator = np.random.default_rng(1)
    c, d = generator.integers(0, 4, 60).astype(float), generator.uniform(0.0, 3.0, 90)
    c[:20] = 0.0  # a whole partition, and more
    d[[0, 50]] = 0.0
    H = KINDS[kind](pos, neg)
    weights = {"pos_weight": c, "neg_weight": d}
    assert_same(train(pos, neg, H, 4, 30, **weights), pnorm.train(pos, neg, H, 4, 30, **weights))


def test_the_largest_edge_where_all_are_negative():
    neg, pos = sides()
    H = pnorm.rankers.normalized(pos, neg)
    expected = pnorm.train(pos, neg, H, 4, 30, selection="largest")
    assert expected[1].step[0] < 0
    assert_same(train(pos, neg, H, 4, 30, selection="largest"), expected)


def test_signed_selection_and_going_on():
    pos, neg = sides()
    H = pnorm.rankers.closed(pnorm.rankers.normalized(pos, neg))
    expected = pnorm.train(pos, neg, H, 4, 30, selection="signed")
    assert_same(train(pos, neg, H, 4, 30, selection="signed"), expected)
    half, _ = train(pos, neg, H, 4, 15, selection="signed")
    rest, _ = train(pos, neg, H, 4, 15, selection="signed", init=half)
    np.testing.assert_allclose(rest, expected[0], atol=1e-9)


def test_the_ends_of_a_run():
    pos, neg = sides()
    assert_same(train(pos, neg, None, 1, 500, tol=1e-6), pnorm.train(pos, neg, None, 1, 500, tol=1e-6))
    # separable by one ranker, and touching: an infimum at infinity
    for shift in (100.0, neg[:, 0].max() - pos[:, 0].min()):
        apart = pos + np.array([shift, 0.0, 0.0, 0.0])
        assert_same(train(apart, neg, None, 4, 5), pnorm.train(apart, neg, None, 4, 5))


def test_weights_too_uneven_for_sums_by_code():
    # p = 64 and a far start: sums of weights by code of less than 1e-200, whose step is found on the rows.
    pos, neg = sides()
    H = pnorm.rankers.quantile_thresholds(pos, neg, 15)
    init = np.zeros(len(H))
    init[[3, 20]] = 9.0, -7.0
    problem = partitioned(pos, neg, H, 64, 13)
    lam = init.copy()
    trace = descend(DescentState(problem, lam), range(25), "absolute", 1e-10, None)
    assert_same((lam, trace), pnorm.train(pos, neg, H, 64, 25, init=init))
    assert descent_state.line_sums in problem.executor.asked


def test_a_round_of_thresholds_is_one_question():
    pos, neg = sides()
    problem = partitioned(pos, neg, pnorm.rankers.quantile_thresholds(pos, neg, 15), 4, 13)
    lam = np.zeros(problem.n_rankers)
    trace = descend(DescentState(problem, lam), range(30), "absolute", 1e-10, None)
    assert trace.n_iter == 30
    assert problem.executor.asked == [of_rows.stats, *31 * [sums_after_steps], of_rows.extremes]


class Forgetful(InLists):
    """Parts that lose what they keep in every seventh reduction, as on another worker."""

    def reduce(self, function, jobs):
        if len(self.asked) % 7 == 6:
            jobs = [Job(pickle.loads(pickle.dumps(job.handles)), job.shared, job.own) for job in jobs]
        return super().reduce(function, jobs)


@each_value()
@pytest.mark.parametrize("kind", ["thresholds", "closed"])
@pytest.mark.parametrize("push", ["top", "bottom"])
def test_lost_weights_are_formed_again_to_the_same_bits(kind, push):
    p = 64
    # 130 rounds, so that weights are also formed anew by themselves.
    pos, neg = sides()
    c = np.random.default_rng(1).uniform(0.5, 3.0, 60)
    runs = []
    for executor in (InLists(), Forgetful()):
        problem = partitioned(pos, neg, KINDS[kind](pos, neg), p, 40, pos_weight=c, push=push, executor=executor)
        lam = np.zeros(problem.n_rankers)
        runs.append((lam, descend(DescentState(problem, lam), range(130), "absolute", 1e-12, None)))
    (lam, trace), (other_lam, other) = runs
    assert trace.n_iter > 100
    np.testing.assert_array_equal(lam, other_lam)
    for name in ("ranker", "step", "edge", "z", "log_objective"):
        np.testing.assert_array_equal(getattr(trace, name), getattr(other, name))
    expected = pnorm.train(pos, neg, KINDS[kind](pos, neg), p, 130, tol=1e-12, pos_weight=c, push=push)
    np.testing.assert_allclose(trace.log_objective[-1], expected[1].log_objective[-1], rtol=1e-9)


def test_two_runs_in_turn_do_not_use_the_weights_of_the_other():
    pos, neg = sides()
    problem = partitioned(pos, neg, KINDS["thresholds"](pos, neg), 4, 13)
    states = [DescentState(problem, np.zeros(problem.n_rankers)) for _ in range(2)]
    found = []
    for state, j in zip(states, (3, 20), strict=True):
        state.lam[j] = 0.25
        state.move(j, 0.25)
    for state, j in zip(states, (20, 3), strict=True):
        state.lam[j] = 0.25
        state.move(j, 0.25)
        found.append(state.edges())
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-14)


def test_runs_at_once_keep_their_weights_beside_each_other_and_a_new_one_lets_them_go(monkeypatch):
    pos, neg = sides()
    problem = partitioned(pos, neg, KINDS["thresholds"](pos, neg), 4, 100)
    formed, forms = [], steps.KeptWeights.__init__
    monkeypatch.setattr(steps.KeptWeights, "__init__", lambda kept, *of: formed.append(kept) or forms(kept, *of))
    tables = [side.parts[0].table for side in problem.sides]
    states = [DescentState(problem, np.zeros(problem.n_rankers)) for _ in range(2)]
    for _ in range(10):
        for j, state in enumerate(states):
            state.lam[j] += 0.125
            state.move(j, 0.125)
    # On either side both form theirs, and the first once more, which has lost its own to the second.
    assert [len(side.parts) for side in problem.sides] == [1, 2]
    assert len(formed) == 3 * 3
    assert [len(steps._KEPT[table]) for table in tables] == [2, 2]
    DescentState(problem, np.zeros(problem.n_rankers))
    assert [len(steps._KEPT[table]) for table in tables] == [1, 1]


def test_sparse_partitions():
    pos, neg = sides()
    P, N = scipy.sparse.csr_array(pos), scipy.sparse.csr_array(neg)
    assert_same(train(P, N, None, 4, 20), pnorm.train(pos, neg, None, 4, 20))
    np.testing.assert_allclose(minimize(P, N, None, 4)[0], pnorm.minimize(pos, neg, None, 4)[0], atol=1e-9)


def test_cuts_of_sparse_partitions():
    """Columns are sparse in some partitions and full in others; codes mean the same in all."""
    rng = np.random.default_rng(2)
    pos, neg = (rng.integers(-1, 4, (n, 6)) * (rng.random((n, 6)) < np.linspace(0, 1, n)[:, None]) for n in (60, 90))
    H = pnorm.rankers.quantile_thresholds(pos, neg)
    P, N = scipy.sparse.csr_array(pos), scipy.sparse.csr_array(neg)
    assert_same(train(P, N, H, 4, 20), pnorm.train(pos, neg, H, 4, 20))
    np.testing.assert_allclose(minimize(P, N, H, 4, l2=0.1)[0], pnorm.minimize(pos, neg, H, 4, l2=0.1)[0], atol=1e-9)


MINIMISED = {
    "columns": (lambda pos, neg: None, {}),
    "thresholds": (lambda pos, neg: pnorm.rankers.thresholds([[0.5], [0.1, 0.6], [0.2], [-0.3]]), {}),
    "dependent": (lambda pos, neg: pnorm.rankers.closed(pnorm.rankers.columns(4)), {}),
    "penalty": (mixed, {"l2": 0.1}),
    "lbfgs": (lambda pos, neg: None, {"method": "lbfgs"}),
    "start": (lambda pos, neg: None, {"init": [30.0, -20.0, 3.0, 4.0]}),
}


@each_value()
@pytest.mark.parametrize("p", [1, 64])
@pytest.mark.parametrize("kind", MINIMISED)
@pytest.mark.parametrize("weighted", [False, True])
def test_minimize_finds_and_proves_what_it_does_in_memory(kind, p, weighted):
    pos, neg = sides()
    H, more = MINIMISED[kind]
    H = H(pos, neg)
    if weighted:
        generator = np.random.default_rng(1)
        more = {**more, "pos_weight": generator.uniform(0.0, 3.0, 60), "neg_weight": generator.integers(0, 3, 90)}
    lam, trace = minimize(pos, neg, H, p, **more)
    expected, other = pnorm.minimize(pos, neg, H, p, **more)
    assert trace.status == other.status == "converged"
    np.testing.assert_allclose(lam, expected, rtol=0, atol=1e-9 if kind != "lbfgs" else 1e-6)
    assert trace.gap <= 2e-10
    assert trace.gap > 0.0
    # the bound holds: nothing in memory is lower
    assert trace.objective[-1] - trace.gap <= other.objective[-1]
    assert pnorm.diagnostics.certificate(pos, neg, H, p, lam, **{k: v for k, v in more.items() if k in
                                         ("l2", "pos_weight", "neg_weight")}).gap < 1e-9  # fmt: skip


def test_columns_far_from_zero_keep_their_digits():
    pos, neg = sides()
    far = np.array([1e7, 0.0, -1e8, 0.0])
    near = pnorm.train((pos + far) - far, (neg + far) - far, None, 4, 30)  # these differences are exact
    assert_same(train(pos + far, neg + far, None, 4, 30), near)
    lam, trace = minimize(pos + far, neg + far, None, 4)
    expected, _ = pnorm.minimize(pos + far, neg + far, None, 4)
    assert trace.status == "converged"
    np.testing.assert_allclose(lam, expected, atol=1e-9)


def test_nearly_collinear_columns_ask_for_precise_scores(monkeypatch):
    pos, neg = sides()
    pos, neg = (np.column_stack([A, A[:, 1] + 1e-6 * A[:, 2] + 1e-7 * A[:, 0] ** 2]) for A in (pos, neg))
    levels = []
    scores = Rows.scores
    monkeypatch.setattr(Rows, "scores", lambda self, lam, level=None: levels.append(level) or scores(self, lam, level))
    lam, trace = minimize(pos, neg, None, 4)
    expected, other = pnorm.minimize(pos, neg, None, 4)
    assert {level is None for level in levels} == {True, False}
    assert trace.status == other.status == "converged"
    np.testing.assert_allclose(trace.log_objective[-1], other.log_objective[-1], atol=1e-9)
    np.testing.assert_allclose(*(pnorm.score(pos, None, x - 0.0) for x in (lam, expected)), atol=1e-4)


def test_leverage_is_that_of_all_rows():
    pos, neg = sides()
    lam = np.array([0.3, -0.2, 0.5, 0.0])
    in_memory = building.build(pos, neg, pnorm.rankers.columns(4), push(4))
    leverages = [
        Curvature(problem, problem.point(lam).weights).leverage()
        for problem in (in_memory, partitioned(pos, neg, None, 4, 13))
    ]
    assert leverages[1] == pytest.approx(leverages[0], rel=1e-12)


def test_separable_rows():
    pos, neg = sides()
    pos = pos + np.array([3.0, 3.0, 0.0, 0.0])
    lam, trace = minimize(pos, neg, None, 4)
    assert trace.status == "separable"
    assert pnorm.score(pos, None, lam).min() >= pnorm.score(neg, None, lam).max() + 1.0 - 1e-12
    lam, trace = minimize(pos, neg, None, 4, l2=0.01)
    assert trace.status == "converged"
    np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, None, 4, l2=0.01)[0], atol=1e-7)


def test_partitions_have_the_widest_margin_too():
    l2 = 0.0
    pos, neg = sides()
    pos = pos + 6.0 * (pos.mean(axis=0) - neg.mean(axis=0))
    lam, trace = minimize(pos, neg, None, 8, l2=l2)
    expected, other = pnorm.minimize(pos, neg, None, 8, l2=l2)
    assert trace.status == other.status == ("converged" if l2 else "separable")
    np.testing.assert_allclose(lam, expected, rtol=1e-9)


def test_quasi_separable_rows():
    pos, neg = sides()
    indicator = np.r_[np.ones(5), np.zeros(55)], np.zeros(90)  # some positives have what no negative has
    pos, neg = (np.column_stack([A, x]) for A, x in zip((pos, neg), indicator, strict=True))
    lam, trace = minimize(pos, neg, None, 4)
    expected, other = pnorm.minimize(pos, neg, None, 4)
    assert trace.status == other.status == "separable"
    assert trace.gap < 1e-9
    np.testing.assert_array_equal(trace.direction, [0, 0, 0, 0, 1])
    np.testing.assert_allclose(lam, expected, atol=1e-9)
    lam, trace = minimize(pos, neg, None, 4, l2=1e-3)
    assert trace.gap < 1e-9
    np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, None, 4, l2=1e-3)[0], atol=1e-9)


def test_nothing_but_numbers_is_kept_of_a_partition(monkeypatch):
    # What a worker keeps may be sent to another, and answers come out the same.
    pos, neg = sides()
    for kind, H in KINDS.items():
        if kind == "functions":
            continue
        H = H(pos, neg) or pnorm.rankers.columns(4)
        rows = rows_of(pos, np.ones(60), H, "pos", 0)
        before = forming.sums_of_weights(rows, np.arange(len(H)) / 10.0, None, True, (-1.0,))
        after = forming.sums_of_weights(pickle.loads(pickle.dumps(rows)), np.arange(len(H)) / 10.0, None, True, (-1.0,))
        np.testing.assert_array_equal(before[2][1], after[2][1])


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
def test_levels_that_only_some_partitions_have():
    # Weak rankers of a sample: a level that it lacks is none of them, in whatever partition it turns up.
    generator = np.random.default_rng(0)
    pos, neg = generator.choice(list("abc"), (60, 2)), generator.choice(list("abc"), (90, 2), p=[0.5, 0.3, 0.2])
    for H in (pnorm.rankers.categories(pos, neg), pnorm.rankers.closed(pnorm.rankers.categories(pos, neg))):
        pos[[3, 40], 0], neg[17, 1], neg[80] = "new", "other", "new"
        for rows in (1, 13, 1000):
            assert_same(train(pos, neg, H, 4, 20, rows=rows), pnorm.train(pos, neg, H, 4, 20))
        lam, _ = minimize(pos, neg, H, 4, l2=0.1, method="newton")
        np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, H, 4, l2=0.1)[0], atol=1e-9)
        lam, _ = minimize(pos, neg, H, 4, l2=0.1, tol=1e-13)
        np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, H, 4, l2=0.1)[0], atol=1e-5)


def test_answers_do_not_grow_with_the_rows():
    sizes = {}
    for n in (2_000, 20_000):
        generator = np.random.default_rng(0)
        pos, neg = generator.normal(size=(n, 3)) + 0.3, generator.normal(size=(n, 3))
        H = pnorm.rankers.closed(pnorm.rankers.columns(3)) + pnorm.rankers.thresholds([[0.1], [0.2], [0.3]])
        problem = partitioned(pos, neg, H, 4, n)  # one partition of positives, two of negatives
        reduce, most = problem.executor.reduce, []
        problem.executor.reduce = lambda asked, jobs, reduce=reduce, most=most: (
            most.append(reduce(asked, jobs)) or most[-1]
        )
        solve(problem, None, 1e-10, 100, None, None)
        sizes[n] = max(len(pickle.dumps(answer)) for answer in most)
    assert sizes[20_000] == pytest.approx(sizes[2_000], rel=0.01)


def test_fingerprints_know_every_row_and_every_output():
    pos, neg = sides()
    c = np.linspace(1.0, 2.0, 90)
    generator = np.random.default_rng(0)
    for kind, make in KINDS.items():
        _, _, rankers = rankers_of(pos, neg, make(pos, neg))

        def mark(A, weight=c, rankers=rankers):
            return rows_of(A, weight, rankers, "neg", 3).fingerprint

        (first,) = mark(neg)
        assert (first["side"], first["partition"]) == (1, 3)
        assert np.array_equal([first], mark(neg.copy()))
        swapped = np.arange(90)
        swapped[[4, 9]] = 9, 4
        others = {mark(neg[swapped]).tobytes(), mark(neg[:-1], c[:-1]).tobytes(), mark(neg, c[swapped]).tobytes()}
        for _ in range(20):
            i, j = generator.integers(90), generator.integers(3 if kind == "functions" else 4)
            other = neg.copy()
            other[i, j + (kind == "functions")] *= -1.0
            if not np.array_equal(*[rankers.evaluate(A) for A in (other, neg)]):
                others.add(mark(other).tobytes())
        found = np.frombuffer(b"".join(others), first.dtype)
        with raises(ValueError, "partition 3 of neg has changed"):
            Known.check(known := Known(), np.r_[first, first, found[:1]])
        for one in found:
            with raises(ValueError, "partition 3 of neg has changed"):
                known.check(one[None])
        assert len(others) > 10


def test_fingerprints_of_sparse_rows_and_of_none():
    A = scipy.sparse.random_array((200, 7), density=0.1, rng=np.random.default_rng(0), format="csc")
    B = A.copy()
    B.data[3] *= -1.0
    for H in (None, pnorm.rankers.quantile_thresholds(A, A, 3)):
        rankers = rankers_of(A, A, H)[2]
        first, again, other = [rows_of(X, None, rankers, "pos", 0).fingerprint for X in (A, A.tocsr(), B)]
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
        assert not np.array_equal(first, rows_of(A, np.zeros(200), rankers, "pos", 0).fingerprint)
