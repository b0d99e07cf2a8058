"""Rows in partitions against the same rows in memory."""

import numpy as np
import pytest
import scipy.sparse
from facts import raises

import pnorm

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("pnorm.dask")


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def sides(n_pos=60, n_neg=90, d=4, seed=0):
    generator = np.random.default_rng(seed)
    pos = generator.normal(size=(n_pos, d)) + 0.5
    neg = generator.normal(size=(n_neg, d))
    pos[:, 0], neg[:, 0] = np.round(pos[:, 0]), np.round(neg[:, 0])
    return pos, neg


def parts(A, rows):
    return da.from_array(A, chunks=(rows, -1))


def assert_same(found, expected, within=1e-9):
    (lam, trace), (other_lam, other) = found, expected
    assert trace.status == other.status
    np.testing.assert_array_equal(trace.ranker, other.ranker)
    np.testing.assert_allclose(lam, other_lam, rtol=0, atol=within)
    for name in ("step", "edge", "z", "log_objective"):
        np.testing.assert_allclose(getattr(trace, name), getattr(other, name), rtol=within, atol=within)


def test_train_and_minimize_in_partitions(monkeypatch):
    pos, neg = sides()
    H = pnorm.rankers.quantile_thresholds(pos, neg, 5)
    P, N = parts(pos, 4), parts(neg, 5)
    monkeypatch.setattr(pnorm.dask._cluster, "FAN_IN", 3)
    monkeypatch.setattr(pnorm.dask._cluster, "CPU_COUNT", 15)  # merged by three, and by two, and then here
    for more in (
        {},
        {"selection": "signed"},
        {"selection": "largest"},
        {"push": "bottom"},
        {"init": np.linspace(-1.0, 1.0, len(H))},
    ):
        assert_same(pnorm.dask.train(P, N, H, 4, 8, **more), pnorm.train(pos, neg, H, 4, 8, **more))
    stop = pnorm.dask.train(P, N, None, 4, 50, callback=lambda trace: trace.n_iter == 3)
    assert_same(stop, pnorm.train(pos, neg, None, 4, 3, callback=lambda trace: trace.n_iter == 3))
    for more in ({}, {"l2": 0.1}, {"init": [1.0, -2.0, 3.0, 4.0]}, {"push": "bottom"}):
        lam, trace = pnorm.dask.minimize(P, N, None, 4, **more)
        np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, None, 4, **more)[0], atol=1e-9)
        assert trace.gap < 1e-9


def test_answers_merge_to_the_same_bits_wherever_partitions_lie(monkeypatch):
    cluster = pnorm.dask._cluster
    pos, neg = sides()
    H = pnorm.rankers.quantile_thresholds(pos, neg, 5) + pnorm.rankers.columns(4)
    runs = []
    for threads, fan_in, here in ((1, 16, 4), (2, 16, 4), (7, 2, 1), (50, 3, 2)):
        for name, value in (("CPU_COUNT", threads), ("FAN_IN", fan_in), ("HERE", here)):
            monkeypatch.setattr(cluster, name, value)
        runs.append(pnorm.dask.train(parts(pos, 4), parts(neg, 5), H, 4, 6))
    for lam, trace in runs[1:]:
        np.testing.assert_array_equal(lam, runs[0][0])
        np.testing.assert_array_equal(trace.log_objective, runs[0][1].log_objective)
    dealt = [np.random.default_rng(k).permutation(33).tolist() for k in range(3)]  # as workers might hold them
    for order in dealt:

        def places(handles, order=order):
            there = [k for k in order if k < len(handles)]
            return [own for own in (there[:9], there[9:10], there[10:]) if own]

        monkeypatch.setattr(cluster, "_groups", places)
        lam, _ = pnorm.dask.train(parts(pos, 4), parts(neg, 5), H, 4, 6)
        np.testing.assert_array_equal(lam, runs[0][0])


def test_the_trace_says_what_has_travelled():
    pos, neg = sides()
    P, N = parts(pos, 13), parts(neg, 20)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 9)
    _, trace = pnorm.dask.train(P, N, H, 4, 20)
    assert trace.message == "all 20 rounds were run; 23 exchanges with 10 partitions"
    _, trace = pnorm.dask.minimize(P, N, None, 4)
    assert trace.message.endswith(" exchanges with 10 partitions")
    traffic = pnorm.dask._cluster.Traffic()
    for n in (10, 9):
        traffic.add(n, 999, 999_499_999)
    assert str(traffic) == "2 exchanges with 10 partitions: 2 kB out, 2 GB back"


def test_weights_of_any_kind():
    pos, neg = sides()
    generator = np.random.default_rng(1)
    c, d = generator.integers(0, 4, 60).astype(float), generator.uniform(0.0, 3.0, 90)
    expected = pnorm.train(pos, neg, None, 4, 10, pos_weight=c, neg_weight=d)
    P, N = parts(pos, 13), parts(neg, 20)
    assert_same(pnorm.dask.train(P, N, None, 4, 10, pos_weight=c, neg_weight=list(d)), expected)
    of_dask = {"pos_weight": da.from_array(c, chunks=13), "neg_weight": da.from_array(d, chunks=20)}
    assert_same(pnorm.dask.train(P, N, None, 4, 10, **of_dask), expected)


def test_partitions_of_any_kind():
    pandas, frame = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    pos, neg = sides()
    expected = pnorm.train(pos, neg, None, 4, 20)
    # sparse
    P, N = (parts(A, 17).map_blocks(scipy.sparse.csr_array) for A in (pos, neg))
    assert_same(pnorm.dask.train(P, N, None, 4, 20), expected)
    # columns in several chunks
    P, N = da.from_array(pos, chunks=(20, 2)), da.from_array(neg, chunks=(20, 3))
    assert_same(pnorm.dask.train(P, N, None, 4, 20), expected)
    # frames, of which some partitions are empty
    F, G = (pandas.DataFrame(A, columns=list("abcd")) for A in (pos, neg))
    P, N = frame.from_pandas(F, npartitions=4), frame.from_pandas(G, npartitions=5)
    assert_same(pnorm.dask.train(P, N, None, 4, 20), expected)
    kept = N[N["b"] > neg[:18, 1].max()]
    assert 0 in [len(part) for part in dask.compute(*kept.to_delayed())]
    inside = neg[neg[:, 1] > neg[:18, 1].max()]
    assert_same(pnorm.dask.train(P, kept, None, 4, 20), pnorm.train(pos, inside, None, 4, 20))
    c = N["a"].abs() + 1.0
    assert_same(
        pnorm.dask.train(P, N, None, 4, 20, neg_weight=c),
        pnorm.train(pos, neg, None, 4, 20, neg_weight=np.abs(neg[:, 0]) + 1.0),
    )
    # words and numbers, each with their own weak rankers, read by name
    F["e"], G["e"] = np.where(pos[:, 1] > 0.3, "x", "y"), np.where(neg[:, 1] > 0.4, "y", "z")
    H = pnorm.rankers.categories(F[["e"]], G[["e"]]) + pnorm.rankers.quantile_thresholds(
        F[["a", "c"]], G[["a", "c"]], 9
    )
    P, N = frame.from_pandas(F, npartitions=4), frame.from_pandas(G, npartitions=5)
    lam, trace = pnorm.train(F, G, H, 4, 20)
    assert_same(pnorm.dask.train(P, N, H, 4, 20), (lam, trace))
    f = pnorm.dask.score(P, H, lam).compute()
    np.testing.assert_allclose(f, pnorm.score(F, H, lam), atol=1e-12)
    assert (f.index == F.index).all()
    assert pnorm.dask.score(kept, None, np.ones(4)).compute().size == len(inside)


def test_score_in_partitions():
    pos, neg = sides()
    H = pnorm.rankers.quantile_thresholds(pos, neg, 9) + pnorm.rankers.columns(4)
    lam = np.random.default_rng(0).normal(size=len(H))
    f = pnorm.dask.score(da.from_array(pos, chunks=(13, 2)), H, lam)
    assert f.shape == (60,)
    np.testing.assert_array_equal(f.compute(), pnorm.score(pos, H, lam))


def test_bad_input():
    pos, neg = sides()
    P, N = parts(pos, 13), parts(neg, 8)
    with raises(TypeError, r"pos must be a Dask array or data frame; got ndarray\. Use pnorm\.train for rows in"):
        pnorm.dask.train(pos, N)
    with raises(TypeError, "X must be a Dask array"):
        pnorm.dask.score(pos, None, np.ones(4))
    with raises(ValueError, "neg must be a matrix, one row per case; got 1 dimensions"):
        pnorm.dask.minimize(P, da.ones(5))
    with pytest.raises(ValueError, match="columns"):
        pnorm.dask.train(P, N[:, :3])
    with pytest.raises(ValueError, match="p must be"):
        pnorm.dask.train(P, N, None, 0.5)
    with pytest.raises(ValueError, match="method"):
        pnorm.dask.minimize(P, N, method="adam")
    with pytest.raises(ValueError, match="init"):
        pnorm.dask.minimize(P, N, init=[1.0])
    broken = neg.copy()
    broken[17, 2] = np.nan
    with raises(ValueError, r"partition 2 of neg: .*row 1, column 2"):
        pnorm.dask.train(P, parts(broken, 8))
    with raises(ValueError, r"neg_weight has 4 partitions, and the rows have 12\. Use the same partitions"):
        pnorm.dask.train(P, N, neg_weight=da.ones(91, chunks=30))
    with raises(ValueError, r"partition \d+ of neg: neg_weight must have shape"):
        pnorm.dask.train(P, N, neg_weight=da.ones(96, chunks=(9, *[8] * 10, 7)))
    with raises(ValueError, r"partition 1 of pos: pos_weight has the negative weight -1.0 at row 2"):
        pnorm.dask.train(P, N, pos_weight=da.from_array(np.r_[np.ones(15), -1.0, np.ones(44)], chunks=13))
    with raises(ValueError, "pos has no rows that count"):
        pnorm.dask.train(P, N, pos_weight=da.zeros(60, chunks=13))
    with pytest.raises(ValueError, match="neg_weight"):
        pnorm.dask.train(P, N, neg_weight=[1.0])
    with raises(ValueError, "init gives scores that, times p, overflow"):
        pnorm.dask.train(P, N, None, 64, init=[1e306, 0, 0, 0])


def groups_of(size, seed):
    """Labels of five groups, in every partition some of each, and one that only one side has."""
    labels = np.random.default_rng(seed).choice(list("abcde"), size)
    labels[:3] = f"only {seed}"
    return labels


HELD = {
    "a price": {"price": pnorm.objectives.Exponential(0.05), "loss": "logistic"},
    "a loss of one's own": {"loss": pnorm.objectives.Loss(lambda z: np.exp(-z / 2), lambda z: -np.exp(-z / 2) / 2)},
    "groups and the reverse push": {
        "push": "bottom",
        "pos_group": groups_of(60, 2),
        "neg_group": groups_of(90, 3),
        "pos_weight": np.linspace(0.0, 2.0, 60),
    },
    "groups and logistic": {"loss": "logistic", "pos_group": groups_of(60, 2), "neg_group": groups_of(90, 3)},
}


def in_partitions(more):
    """Arguments whose weights and groups are Dask arrays where their names begin with neg."""
    return {name: da.from_array(x, chunks=20) if name.startswith("neg") else x for name, x in more.items()}


@pytest.mark.parametrize("name", HELD)
def test_groups_prices_and_losses(name):
    pos, neg = sides()
    P, N = parts(pos, 13), parts(neg, 20)
    more, p = HELD[name], 1 if "price" in HELD[name] else 3
    dependent = np.column_stack([pos, pos[:, 0]]), np.column_stack([neg, neg[:, 0]])
    H = pnorm.rankers.columns(4) + pnorm.rankers.quantile_thresholds(pos, neg, 9)
    for own in (None, H):
        found = pnorm.dask.train(P, N, own, p, 12, **in_partitions(more))
        assert_same(found, pnorm.train(pos, neg, own, p, 12, **more))
    for l2 in (0.0, 0.1):
        lam, trace = pnorm.dask.minimize(P, N, None, p, l2=l2, **in_partitions(more))
        expected, other = pnorm.minimize(pos, neg, None, p, l2=l2, **more)
        assert trace.status == other.status
        np.testing.assert_allclose(lam, expected, atol=1e-9)
    D, E = (da.from_array(A, chunks=(13, -1)) for A in dependent)
    lam, _ = pnorm.dask.minimize(D, E, None, p, l2=0.1, **in_partitions(more))
    np.testing.assert_allclose(lam, pnorm.minimize(*dependent, None, p, l2=0.1, **more)[0], atol=1e-9)


def test_the_hinge_in_partitions():
    pos, neg = sides()
    found = pnorm.dask.train(parts(pos, 13), parts(neg, 20), None, 2, 30, loss="hinge")
    assert_same(found, pnorm.train(pos, neg, None, 2, 30, loss="hinge"))
    with raises(ValueError, "corners, and minimize needs derivatives"):
        pnorm.dask.minimize(parts(pos, 13), parts(neg, 20), loss="hinge")


def test_groups_of_one_side_leave_partitions_empty():
    pos, neg = sides()
    pos_group, neg_group = np.repeat([0, 1, 2], 20), np.repeat([1, 2, 3], 30)
    P, N = parts(pos, 10), parts(neg, 15)
    more = {"pos_group": pos_group, "neg_group": neg_group}
    assert_same(pnorm.dask.train(P, N, None, 4, 20, **more), pnorm.train(pos, neg, None, 4, 20, **more))
    lam, trace = pnorm.dask.minimize(P, N, None, 4, **more)
    np.testing.assert_allclose(lam, pnorm.minimize(pos, neg, None, 4, **more)[0], atol=1e-9)
    assert trace.gap < 1e-9
    with raises(ValueError, "neg_group must hold one label per row, 90; got 89"):
        pnorm.dask.train(P, N, pos_group=pos_group, neg_group=neg_group[1:])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, for what Dask calls
def test_weights_in_a_column_of_the_same_file(tmp_path):
    # Dask reads few columns of a file in fewer partitions than many.
    pandas, frame = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    pos, neg = sides()
    c = np.abs(neg[:, 1]) + 1.0
    whole = pandas.DataFrame(neg, columns=list("abcd")).assign(w=c, **{f"text{k}": "x" * 50 for k in range(20)})
    frame.from_pandas(whole, npartitions=6).to_parquet(tmp_path / "neg")
    read = frame.read_parquet(tmp_path / "neg")
    P = frame.from_pandas(pandas.DataFrame(pos, columns=list("abcd")), npartitions=3)
    found = pnorm.dask.train(P, read[list("abcd")], None, 4, 10, neg_weight=read["w"])
    assert_same(found, pnorm.train(pos, neg, None, 4, 10, neg_weight=c))


def test_dask_frames_elsewhere_are_sent_here():
    pandas, frame = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    P = frame.from_pandas(pandas.DataFrame(sides()[0], columns=list("abcd")), npartitions=3)
    for use in (
        lambda: pnorm.train(P, P),
        lambda: pnorm.rankers.quantile_thresholds(P, P),
        lambda: pnorm.split(P, [1, 0]),
    ):
        with raises(TypeError, r"is a Dask DataFrame: pnorm\.dask\.train takes these"):
            use()
    with raises(TypeError, "pos must be a Dask array or data frame; got Delayed"):
        pnorm.dask.train(dask.delayed(np.ones)((3, 2)), P)


def test_the_side_of_a_fault_is_named():
    pos, neg = sides()
    broken = neg.copy()
    broken[16, 1] = np.inf  # the first row of its partition, which stands for the other side as well
    with raises(ValueError, r"^partition 2 of neg: neg has inf at row 0, column 1"):
        pnorm.dask.train(parts(pos, 13), parts(broken, 8))


def test_sparse_and_coordinate_partitions_are_scored_and_an_overflow_is_refused():
    pos, neg = sides()
    P = parts(pos, 13).map_blocks(scipy.sparse.csr_array)
    np.testing.assert_array_equal(pnorm.dask.score(P, None, np.ones(4)).compute(), pnorm.score(pos, None, np.ones(4)))
    P, N = (parts(A, 13).map_blocks(scipy.sparse.coo_matrix) for A in (pos, neg))
    assert_same(pnorm.dask.train(P, N, None, 4, 5), pnorm.train(pos, neg, None, 4, 5))
    with raises(ValueError, "init gives scores that, times p, overflow"):
        pnorm.dask.minimize(P, N, None, 64, init=[1e306, 0, 0, 0])


def test_errors_of_users_functions_keep_their_words():
    def undecided(X):
        return b"\xff".decode("utf-8")

    pos, neg = sides()
    with raises(ValueError, r"partition \d+ of (pos|neg): 'utf-8' codec can't decode byte 0xff"):
        pnorm.dask.train(parts(pos, 13), parts(neg, 8), [undecided])


@pytest.mark.parametrize(
    "change",
    [
        lambda block: block + 5.0 * np.eye(*block.shape),
        lambda block: block[::-1],
        lambda block: block[:, ::-1],
        lambda block: block[:-1],
        lambda block: block[:0],
    ],
)
def test_a_source_that_changes_when_it_is_read_again_is_refused_at_once(monkeypatch, change):
    monkeypatch.setattr(dask, "persist", lambda *parts: parts)  # as though workers were lost all the time
    pos, neg = sides()
    cuts = pnorm.rankers.quantile_thresholds(pos, neg, 15)
    N = parts(neg, 30)

    def source(readings, altered):
        """Partitions of which one becomes another after some readings."""
        left = [readings]

        def read(block):
            left[0] -= 1
            return altered(block) if left[0] < 0 else block

        blocks = [dask.delayed(read, pure=False)(pos[20:40]) if k == 1 else pos[20 * k : 20 * k + 20] for k in range(3)]
        return da.concatenate([da.from_delayed(dask.delayed(b), (np.nan, 4), dtype=float) for b in blocks])

    for function, H, more in (
        (pnorm.dask.train, None, {"t_max": 5}),
        (pnorm.dask.train, cuts, {"t_max": 5}),
        (pnorm.dask.minimize, None, {"l2": 0.1, "max_iter": 5}),
    ):
        for readings in (1, 4):
            with raises(ValueError, r"partition 1 of pos has changed since it was first read.* persist\(\)") as caught:
                function(source(readings, change), N, H, **more)
            assert readings == 1 or caught.value.trace.status == "interrupted"
            assert readings == 1 or caught.value.trace.n_iter < 4
        function(source(4, lambda block: block), N, H, **more)


def test_what_other_processors_round_is_no_change(monkeypatch):
    monkeypatch.setattr(dask, "persist", lambda *parts: parts)
    pos, neg = sides()
    generator = np.random.default_rng(0)
    P = parts(pos, 20).map_blocks(lambda block: block * (1.0 + 2e-16 * generator.integers(0, 2, block.shape)))
    assert_same(pnorm.dask.train(P, parts(neg, 30), None, 4, 5), pnorm.train(pos, neg, None, 4, 5))


@pytest.mark.parametrize("H", [None, "cuts"])
def test_a_partition_that_is_not_as_long_as_it_says_is_refused(H):
    pos, neg = sides()
    H = H and pnorm.rankers.quantile_thresholds(pos, neg, 7)
    short = parts(neg, 30).map_blocks(
        lambda block: block[::3], chunks=((30, 30, 30), (4,)), dtype=float, meta=np.empty((0, 0))
    )
    for function in (pnorm.dask.train, pnorm.dask.minimize):
        with raises(ValueError, r"partition \d of neg: it has 10 rows, but its chunk in neg\.chunks has 30"):
            function(parts(pos, 20), short, H)
    unknown = da.from_delayed(dask.delayed(neg[::3]), (np.nan, 4), dtype=float)
    assert_same(pnorm.dask.train(parts(pos, 20), unknown, H, 4, 5), pnorm.train(pos, neg[::3], H, 4, 5))


def test_quasi_separable_rows_are_decided_on_a_cluster():
    pos, neg = sides()
    indicator = np.r_[np.ones(5), np.zeros(len(pos) - 5)], np.zeros(len(neg))  # of some positives alone
    pos, neg = (np.column_stack([A, x]) for A, x in zip((pos, neg), indicator, strict=True))
    lam, trace = pnorm.dask.minimize(parts(pos, 25), parts(neg, 40), p=4)
    expected, other = pnorm.minimize(pos, neg, p=4)
    assert trace.status == other.status == "separable"
    assert trace.gap < 1e-9
    np.testing.assert_array_equal(trace.direction != 0.0, np.arange(pos.shape[1]) == pos.shape[1] - 1)
    np.testing.assert_allclose(lam, expected, atol=1e-9)
