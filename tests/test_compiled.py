"""The compiled rounds against plain ones, whose weights are formed from the scores each time; and really used."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from repeats import each_value, trials

import pnorm
from pnorm._solvers import descent_state
from pnorm._solvers.building import build
from pnorm._solvers.descent import descend
from pnorm.objectives import _pnorm_line
from pnorm.objectives._pnorm import push as push_of

SERIES = ("ranker", "step", "edge", "z", "log_objective", "intercepts")


@pytest.fixture
def counted(monkeypatch):
    """A list to which every batch of compiled rounds adds their number."""
    batches, run = [], descent_state.HeldRows.run

    def counting(self, *arguments):
        batches.append(run(self, *arguments))
        return batches[-1]

    monkeypatch.setattr(descent_state.HeldRows, "run", counting)
    return batches


def plain(patch):
    """Have weights formed from the scores after every step, and each step taken in Python."""
    patch.setattr(descent_state.HeldRows, "_compiled", lambda *_: None)


def both(monkeypatch, *arguments, **more):
    """Train by the compiled loop and plainly, and check that they agree; return the trace.

    Once the edges are those of rounding, rankers are chosen by rounding, and only what is minimised agrees.
    """
    lam, trace = pnorm.train(*arguments, **more)
    with monkeypatch.context() as patch:
        plain(patch)
        same, read = pnorm.train(*arguments, **more)
    n = min(trace.n_iter, read.n_iter)
    edges = np.maximum(np.abs(trace.edge[:n]), np.abs(read.edge[:n]))
    clear = int(np.argmax(np.append(edges <= 1e-6 * edges.max(initial=0.0), True)))
    np.testing.assert_array_equal(trace.ranker[:clear], read.ranker[:clear])
    for name in ("step", "edge", "z"):
        np.testing.assert_allclose(getattr(trace, name)[:clear], getattr(read, name)[:clear], rtol=1e-6, err_msg=name)
    last = n + 1 if more.get("selection", "absolute") == "absolute" else clear + 1
    log_f, of_plain = trace.log_objective[:last], read.log_objective[:last]
    np.testing.assert_allclose(log_f, of_plain, rtol=1e-9, atol=1e-9)
    if clear == trace.n_iter == read.n_iter:
        np.testing.assert_allclose(lam, same, rtol=1e-6, atol=1e-9 * np.abs(lam).max(initial=1.0))
        assert (trace.status, trace.message) == (read.status, read.message)
    return trace


def matrices(rng, kind, shapes):
    """Both sides: measurements, whole numbers, both, duplicates and complements, large numbers far from zero."""
    pos, neg = rng.normal(rng.choice([0.3, 3.0]), 1, shapes[0]), rng.normal(0, 1, shapes[1])
    if kind == "whole":
        return pos.round(), neg.round()
    if kind == "mixed":
        few = rng.integers(0, 2, pos.shape[1]).astype(bool)
        return [np.where(few, X.round(1), X) for X in (pos, neg)]
    if kind == "binary":
        return (pos > 0).astype(float), (neg > 0).astype(float)
    if kind == "twice":
        return [np.concatenate([X, X[:, :1], -X[:, :2]], axis=1) for X in (pos, neg)]
    if kind == "scales":
        scale = 10.0 ** rng.integers(-150, 150, pos.shape[1])
        return pos * scale, neg * scale
    if kind == "far":
        return pos + 1e6 * (np.arange(pos.shape[1]) % 2), neg + 1e6 * (np.arange(pos.shape[1]) % 2)
    return pos, neg


KINDS = ("measured", "whole", "mixed", "binary", "twice", "scales", "far")


def rankers(rng, pos, neg):
    """None, thresholds, columns and thresholds, or closed under complement."""
    H = pnorm.rankers.quantile_thresholds(pos, neg, int(rng.integers(1, 12)))
    columns = pnorm.rankers.columns(pos.shape[1])
    return [None, None, H, H + columns, pnorm.rankers.closed(columns)][rng.integers(5)]


@pytest.mark.parametrize("seed", trials(1))
@pytest.mark.parametrize("kind", KINDS)
def test_both_loops_agree(monkeypatch, counted, kind, seed):
    rng = np.random.default_rng([KINDS.index(kind), seed])
    for _ in range(20):
        (n_pos, n_neg), n = rng.integers(1, 60, 2), rng.integers(1, 8)
        form = rng.choice(["C", "F"]), rng.choice([np.float32, np.float64]) if kind != "scales" else np.float64
        pos, neg = [np.asarray(X, order=form[0], dtype=form[1]) for X in matrices(rng, kind, ((n_pos, n), (n_neg, n)))]
        H = rankers(rng, pos, neg)
        width = pos.shape[1] if H is None else len(H)
        more = {
            "p": float(rng.choice([1, 1.5, 2, 4, 16, 64])),
            "t_max": int(rng.choice([0, 1, 2, 10, 20, 110])),
            "selection": str(rng.choice(["absolute", "signed", "largest"])),
            "push": str(rng.choice(["top", "bottom"])),
            "tol": float(rng.choice([0.0, 1e-10, 1e-2])),
        }
        if rng.random() < 0.3:
            more |= {"pos_weight": rng.uniform(0.1, 3, n_pos), "neg_weight": rng.integers(0, 3, n_neg) + 1e-3}
        if rng.random() < 0.2 and kind != "scales":
            more["init"] = rng.normal(size=width) * rng.choice([1.0, 30.0]) * (rng.random(width) < 0.7)
        if rng.random() < 0.2:
            stop = rng.integers(1, 50)
            more["callback"] = lambda trace, stop=stop: trace.n_iter >= stop
        both(monkeypatch, pos, neg, H, **more)
    assert sum(counted) > 20


def overlapping(n, columns=5, dtype=float):
    rng = np.random.default_rng(n)
    return [np.asarray(rng.normal(mean, 1, (n, columns)) + rng.normal(0, 2, (n, 1)), dtype) for mean in (0.3, 0.0)]


def storages(pos, neg):
    """Rankers by the storage of their outputs."""
    columns, cuts = pnorm.rankers.columns(pos.shape[1]), pnorm.rankers.quantile_thresholds(pos, neg, 9)
    closed = pnorm.rankers.closed
    return {"dense": columns, "closed": closed(columns), "coded": cuts, "stacked": columns + closed(cuts)}


@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize("storage", ["dense", "closed", "coded", "stacked"])
def test_all_ordinary_rounds_are_compiled(counted, storage, push):
    pos, neg = overlapping(60)
    for p in (1.0, 4.0):
        counted.clear()
        _, trace = pnorm.train(pos, neg, storages(pos, neg)[storage], p, 60, push=push)
        assert trace.n_iter == 60
        assert sum(counted) >= 59  # scores of coded rankers may be formed anew
        assert len(counted) <= 4


@pytest.mark.parametrize("p", [1.0, 1.5, 4.0, 64.0])
def test_weights_that_short_steps_multiply_are_those_of_the_scores(p):
    pos, neg = overlapping(500)
    problem = build(pos, neg, pnorm.rankers.columns(5), push_of(p), np.linspace(0.5, 2, 500), None)
    lam, tilted = np.zeros(problem.n_rankers), 0
    state = descent_state.DescentState(problem, lam)
    rows = state._rows
    for _ in range(30):
        trace = descend(state, range(11), "absolute", 0.0, None)
        tilted += rows.now[descent_state.MULTIPLIED] > 0
        f, (log_c, _) = rows.scores(), problem.objective.log_c
        of_scores = [(rows.u, log_c - f.pos), (rows.w, p * f.neg)] + [(rows._v, f.neg)] * (p > 1.0)
        logs = []
        for weights, exponents in of_scores:
            exact = np.exp(exponents - exponents.max())
            logs.append(exponents.max() + math.log(exact.sum()))
            np.testing.assert_allclose(weights / weights.sum(), exact / exact.sum(), rtol=1e-13 * max(1.0, p / 8))
        assert abs(rows.u.sum() - 1.0) + abs(rows.w.sum() - 1.0) < 1e-15
        log_f = p * logs[0] + logs[1]
        assert trace.log_objective[-1] == pytest.approx(log_f, abs=1e-14 * (p + abs(log_f)))
        assert rows.log_mass == pytest.approx(logs[0] + logs[-1], abs=1e-13)
    assert tilted > 20


@pytest.mark.parametrize("p", [1.0, 1.5, 4.0, 64.0])
def test_short_steps_are_those_without_a_short_cut(monkeypatch, p):
    pos, neg = overlapping(200)
    lam, trace = pnorm.train(pos, neg, None, p, 150)
    for module in (descent_state, _pnorm_line):
        monkeypatch.setattr(module, "NEAR", -1.0)
    same, slow = pnorm.train(pos, neg, None, p, 150)
    np.testing.assert_array_equal(trace.ranker, slow.ranker)
    np.testing.assert_allclose(lam, same, rtol=1e-12, atol=1e-14)
    for name in ("step", "edge", "z", "log_objective", "intercepts"):
        np.testing.assert_allclose(getattr(trace, name), getattr(slow, name), rtol=1e-11, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("what", ["logistic", "price", "sparse"])
def test_other_runs_are_not_compiled(counted, what):
    pos, neg = overlapping(30)
    more = {
        "logistic": {"loss": "logistic"},
        "price": {"price": pnorm.objectives.Exponential(0.1)},
        "sparse": {},
    }[what]
    if what == "sparse":
        pos, neg = scipy.sparse.csc_array(pos), scipy.sparse.csc_array(neg)
    assert pnorm.train(pos, neg, t_max=3, **more)[1].n_iter == 3
    assert sum(counted) == 0


@each_value()
@pytest.mark.parametrize("n_groups", [0, 300])
@pytest.mark.parametrize("storage", ["dense", "coded", "stacked"])
def test_bits_do_not_depend_on_threads_where_rows_make_blocks(counted, storage, n_groups):
    pos, neg = overlapping(40_000, 2, np.float32)
    H, weights = storages(pos, neg)[storage], {"pos_weight": np.linspace(0.5, 2, 40_000)}
    if n_groups:
        weights |= {"pos_group": np.arange(40_000) % n_groups, "neg_group": np.arange(40_000) // 7 % n_groups}
    runs = [pnorm.train(pos, neg, H, 3, 4, n_threads=k, **weights) for k in (1, 2, 3)]
    assert sum(counted) == 12
    assert_same_bits(*runs)


def test_bits_do_not_depend_on_threads_where_short_steps_tilt_blocks(counted):
    pos, neg = overlapping(40_000, 2, np.float32)
    runs = [pnorm.train(pos, neg, None, 1, 30, n_threads=k) for k in (1, 2, 3)]
    assert sum(counted) == 90
    assert np.median(np.abs(runs[0][1].step)) * max(np.abs(X).max() for X in (pos, neg)) < _pnorm_line.NEAR
    assert_same_bits(*runs)


def assert_same_bits(*runs):
    (lam, trace), *others = runs
    for same, read in others:
        assert lam.tobytes() == same.tobytes()
        for name in SERIES:
            a, b = getattr(trace, name), getattr(read, name)
            assert a is b is None or a.tobytes() == b.tobytes(), name


def test_a_callback_sees_every_round_and_is_the_last_word(counted):
    pos, neg = overlapping(60)
    seen = []
    _, trace = pnorm.train(pos, neg, t_max=9, callback=lambda trace: seen.append(trace.n_iter))
    assert seen == [*range(1, 10)]
    assert counted == 9 * [1]
    stopped = pnorm.train(pos, neg, t_max=9, callback=lambda trace: trace.n_iter == 4)[1]
    assert (stopped.status, stopped.n_iter) == ("callback", 4)
    np.testing.assert_array_equal(stopped.step, trace.step[:4])


def test_a_callback_may_train_with_the_same_rankers():
    pos, neg = overlapping(60)
    H = storages(pos, neg)["stacked"]
    alone = pnorm.train(pos, neg, H, 4, 20)[0]
    inner = []
    outer = pnorm.train(pos, neg, H, 4, 20, callback=lambda _: inner.append(pnorm.train(pos, neg, H, 4, 20)[0]))[0]
    for lam in (outer, *inner):
        assert lam.tobytes() == alone.tobytes()
    assert len(inner) == 20


def test_rounds_come_in_batches_between_which_a_run_can_be_interrupted(monkeypatch, counted):
    pos, neg = overlapping(60)
    whole = pnorm.train(pos, neg, t_max=50)[1]
    monkeypatch.setattr(descent_state, "batch", lambda problem: 7)
    counted.clear()
    _, trace = pnorm.train(pos, neg, t_max=50)
    assert counted == 7 * [7] + [1]
    for name in SERIES:
        assert getattr(trace, name).tobytes() == getattr(whole, name).tobytes(), name
    run, error = descent_state.HeldRows.run, KeyboardInterrupt()

    def interrupted(self, *arguments):
        if len(counted) == 11:
            raise error
        return run(self, *arguments)

    monkeypatch.setattr(descent_state.HeldRows, "run", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        pnorm.train(pos, neg, t_max=50)
    assert caught.value is error
    assert error.trace.n_iter == 21
    np.testing.assert_array_equal(error.trace.step, whole.step[:21])


def test_a_progress_bar_counts_the_rounds(monkeypatch):
    tqdm = pytest.importorskip("tqdm")
    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            bars.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    pos, neg = overlapping(60)
    same = pnorm.train(pos, neg, t_max=30)[0]
    lam, _ = pnorm.train(pos, neg, t_max=30, progress=True)
    assert [bar.n for bar in bars] == [30]
    np.testing.assert_array_equal(lam, same)


def test_runs_in_several_threads_that_share_tables_do_not_meet():
    pos, neg = overlapping(400)
    problem = build(pos, neg, pnorm.rankers.quantile_thresholds(pos, neg, 9), push_of(4.0))

    def run(_):
        lam = np.zeros(problem.n_rankers)
        descend(descent_state.DescentState(problem, lam), range(300), "absolute", 1e-10, None)
        return lam.tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(run, range(8)))) == 1


@pytest.mark.parametrize("seed", trials(1))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("measured", "far")])
def test_both_loops_agree_with_query_groups(monkeypatch, counted, kind, seed):
    rng = np.random.default_rng([KINDS.index(kind), seed, 2])
    for _ in range(10):
        (n_pos, n_neg), n = rng.integers(1, 80, 2), rng.integers(1, 6)
        pos, neg = matrices(rng, "measured" if kind == "scales" else kind, ((n_pos, n), (n_neg, n)))
        H = rankers(rng, pos, neg)
        groups = [rng.integers(0, rng.integers(1, 9), size) for size in (n_pos, n_neg)]
        groups[0][0] = groups[1][0] = 0
        more = {
            "p": float(rng.choice([1, 1.5, 4, 64])),
            "t_max": int(rng.choice([1, 2, 40, 130])),
            "selection": str(rng.choice(["absolute", "signed", "largest"])),
            "push": str(rng.choice(["top", "bottom"])),
            "pos_group": np.sort(groups[0]) if rng.random() < 0.5 else groups[0],
            "neg_group": np.sort(groups[1]) if rng.random() < 0.5 else groups[1],
        }
        if rng.random() < 0.3:
            more |= {"pos_weight": rng.uniform(0.1, 3, n_pos), "neg_weight": rng.integers(0, 3, n_neg) + 1e-3}
        if rng.random() < 0.2:
            width = pos.shape[1] if H is None else len(H)
            more["init"] = rng.normal(size=width) * rng.choice([1.0, 30.0])
        if rng.random() < 0.2:
            stop = rng.integers(1, 50)
            more["callback"] = lambda trace, stop=stop: trace.n_iter >= stop
        both(monkeypatch, pos, neg, H, **more)
    assert sum(counted) > 5


@pytest.mark.parametrize("kind", ["mixed", "binary"])
def test_steps_from_sums_by_group_and_value_are_those_from_rows(monkeypatch, kind):
    others = 0
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(12):
        (n_pos, n_neg), n = rng.integers(30, 200, 2), rng.integers(1, 6)
        pos, neg = matrices(rng, kind, ((n_pos, n), (n_neg, n)))
        H = rankers(rng, pos, neg)
        groups = {f"{name}_group": rng.integers(0, 4, size) for name, size in (("pos", n_pos), ("neg", n_neg))}
        arguments = pos, neg, H, float(rng.choice([1, 1.5, 4])), int(rng.choice([20, 150]))
        with monkeypatch.context() as patch:
            patch.setattr(descent_state, "_CELLS", math.inf)
            lam, trace = pnorm.train(*arguments, **groups)
        same, by_sums = pnorm.train(*arguments, **groups)
        others += lam.tobytes() != same.tobytes()
        n = min(trace.n_iter, by_sums.n_iter)
        np.testing.assert_allclose(by_sums.log_objective[:n], trace.log_objective[:n], rtol=1e-10, atol=1e-10)
        some = np.flatnonzero(np.abs(trace.log_objective[:n]) < 1e4)  # z keeps its digits
        np.testing.assert_allclose(by_sums.z[some], trace.z[some], rtol=1e-10)
        assert by_sums.log_objective[-1] == pytest.approx(trace.log_objective[-1], rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(same, lam, rtol=1e-8, atol=1e-10)
    assert others > 3


@pytest.mark.parametrize(
    ("kind", "grouped"), [*[(kind, False) for kind in KINDS], ("measured", True), ("whole", True), ("binary", True)]
)
def test_both_loops_keep_the_signs(monkeypatch, counted, kind, grouped):
    rng = np.random.default_rng(KINDS.index(kind))
    ended, done = 0, 0
    for p, selection in ((1.0, "absolute"), (3.0, "absolute"), (3.0, "largest"), (8.0, "signed"), (4.0, "absolute")):
        pos, neg = matrices(rng, kind, ((60, 5), (80, 5)))
        H = rankers(rng, pos, neg)
        n = pos.shape[1] if H is None else len(H)
        signs = rng.integers(-1, 2, n)
        scale = 1.0 / np.maximum(np.abs(pos).max(axis=0), 1.0) if H is None else 0.3
        how = {"selection": selection, "signs": signs, "init": signs * scale * rng.random(n)}
        if grouped:
            how |= {"pos_group": rng.integers(0, 3, len(pos)), "neg_group": rng.integers(0, 3, len(neg))}
        counted.clear()
        trace = both(monkeypatch, pos, neg, H, p, 60, **how)
        stages = np.array([trace.lam_at(t) for t in range(trace.n_iter + 1)])
        assert (stages * signs >= 0.0).all()
        ended += int(((stages[1:] == 0.0) & (stages[:-1] != 0.0)).sum())
        done += sum(counted)
    assert done > 0
    assert ended > 0


def test_a_value_of_one_row_is_neither_of_the_others(monkeypatch, counted):
    rng = np.random.default_rng(0)
    pos, neg = [rng.choice([0.0, 2.0], (200, 3), p=[1 - share, share]) for share in (0.55, 0.45)]
    pos[7, 0] = neg[9, 1] = 1.0
    both(monkeypatch, pos, neg, pnorm.rankers.columns(3), 2.0, 30)
    assert sum(counted) > 5


@pytest.mark.parametrize("p", [1.0, 64.0])
def test_an_overlap_that_counts_as_a_touch_is_no_ordinary_round(counted, p):
    for tiny in (5e-324, 1e-310, 1e-300):
        pos, neg = np.array([[0.0], [1.0], [3.0]]), np.array([[tiny], [-2.0], [-1.0]])
        lam, trace = pnorm.train(pos, neg, None, p, 1)
        touching, _ = pnorm.train(pos, np.minimum(neg, 0.0), None, p, 1)
        np.testing.assert_allclose(lam, touching, rtol=1e-12)
        assert trace.n_iter == 1
    assert sum(counted) == 0
