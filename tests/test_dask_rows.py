"""Rows of a Dask collection with a label, coded once: against the same rows in memory, and how often they are read."""

import gc
import weakref
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from facts import raises, warns

import pnorm

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")
pytest.importorskip("pnorm.dask")

N = 150


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def table(seed=0):
    """Rows of both kinds, in no order, with all that may lie beside them."""
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.4
    X = np.round(rng.normal(size=(N, 3)) + 0.5 * y[:, None], 1)
    frame = pandas.DataFrame(X, columns=list("abc"))
    frame["y"] = np.where(y, "yes", "no")
    frame["w"] = rng.integers(0, 4, N) / 2.0
    frame["g"] = rng.choice(list("stuv"), N)
    frame.loc[:2, "g"] = "alone"
    frame.loc[:2, "y"] = "no"
    return frame


FRAME = table()
GOOD = FRAME["y"] == "yes"
POS, NEG = (FRAME.loc[own, list("abc")] for own in (GOOD, ~GOOD))
H = pnorm.rankers.quantile_thresholds(POS, NEG, 15)
FEW = pnorm.rankers.quantile_thresholds(POS, NEG, 3)
COLUMNS = FRAME[["a", "b", "c", "y"]]


def beside(name):
    return {f"{side}_{name}": FRAME.loc[own, name[0]].to_numpy() for side, own in (("pos", GOOD), ("neg", ~GOOD))}


class Source:
    """A frame whose partitions are made by a function that counts its calls."""

    def __init__(self, frame, rows=40):
        self.reads, self.n = [], -(-len(frame) // rows)

        def read(k):
            self.reads.append(k)
            return frame[k * rows : (k + 1) * rows].copy()

        parts = [dask.delayed(read, pure=False)(k) for k in range(self.n)]
        self.frame = dd.from_delayed(parts, meta=frame[:0], verify_meta=False)


def assert_same(found, expected, within=1e-9):
    (lam, trace), (other_lam, other) = found, expected
    assert trace.status == other.status
    np.testing.assert_allclose(lam, other_lam, rtol=0, atol=within)
    np.testing.assert_allclose(trace.log_objective[-1], other.log_objective[-1], rtol=1e-9)


TIGHT = {"tol": 1e-13}
"""What makes minimisers, wherever they are found, agree to 1e-6: the objective is flat there."""


CASES = {
    "plain": ({}, {}),
    "weights and groups": ({"weight": "w", "group": "g"}, {**beside("weight"), **beside("group")}),
}


@pytest.mark.parametrize("case", ["plain", "weights and groups"])
def test_a_frame_with_a_label(case):
    roles, of_sides = CASES[case]
    frame = FRAME[["a", "y", "b", "c", *roles.values()]]
    source = Source(frame, 60)
    rows = pnorm.dask.code_rows(source.frame, label="y", H=FEW, **roles)
    for more in ({}, {"loss": "logistic"}, {"push": "bottom"}, {"group_weight": "equal"}):
        if "group_weight" in more and "group" not in roles:
            with raises(ValueError, "there are no groups to weigh"):
                pnorm.dask.train(rows, p=3, t_max=4, **more)
            continue
        expected = pnorm.train(POS, NEG, FEW, 3, 4, **of_sides, **more)
        assert_same(pnorm.dask.train(rows, p=3, t_max=4, **more), expected)
    expected = pnorm.minimize(POS, NEG, FEW, 2, l2=0.1, **of_sides, **TIGHT)
    assert_same(pnorm.dask.minimize(rows, p=2, l2=0.1, **TIGHT), expected, 1e-6)
    assert sorted(source.reads) == list(range(source.n))
    found = pnorm.dask.minimize(source.frame, H=FEW, p=2, l2=0.1, label="y", **roles, **TIGHT)
    assert_same(found, expected, 1e-6)
    assert sorted(source.reads) == sorted(2 * list(range(source.n)))
    for names in ({}, {"init": pnorm.train(POS, NEG, None, 2, 3)[0]}):
        source = Source(frame, 60)
        found = pnorm.dask.train(source.frame, p=2, t_max=5, label="y", **roles, **names)
        assert_same(found, pnorm.train(POS, NEG, None, 2, 5, **of_sides, **names))
        assert found[1].names == tuple("abc")
        assert sorted(source.reads) == list(range(source.n))


@pytest.mark.parametrize("run", [partial(pnorm.dask.train, t_max=3), partial(pnorm.dask.minimize, l2=0.1)])
def test_y_and_label_are_two_names(run):
    frame = dd.from_pandas(FRAME[["a", "b", "c", "y", "w"]], npartitions=3)
    given = {"H": FEW, "weight": "w", "p": 2}
    np.testing.assert_array_equal(run(frame, y="y", **given)[0], run(frame, label="y", **given)[0])


def test_an_array_with_vectors_beside_it():
    A = FRAME[list("abc")].to_numpy()
    X, y = da.from_array(A, chunks=(40, 2)), FRAME["y"].to_numpy()
    expected = pnorm.train(A[GOOD], A[~GOOD], None, 3, 8, **beside("weight"), **beside("group"))
    w, g = FRAME["w"].to_numpy(), FRAME["g"].tolist()
    of_dask = da.from_array(w, chunks=40), da.from_array(np.array(g, dtype=object), chunks=50)
    labels = y, da.from_array(y, chunks=40), list(y), y == "yes", GOOD.astype(int).to_numpy()
    for label, (weight, group) in zip(labels, [(w, g), of_dask, (w, g), of_dask, (w, g)], strict=True):
        assert_same(pnorm.dask.train(X, p=3, t_max=8, label=label, weight=weight, group=group), expected)
    other = pnorm.train(A[~GOOD], A[GOOD], None, 3, 8)
    assert_same(pnorm.dask.train(X, p=3, t_max=8, label=y, pos_label="no"), other)
    sparse = X.rechunk((40, 3)).map_blocks(scipy.sparse.csr_array)
    assert_same(pnorm.dask.train(sparse, p=3, t_max=8, label=y), pnorm.train(A[GOOD], A[~GOOD], None, 3, 8))


def mixed():
    """A table of numbers, text, truth values and missing values."""
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame({"n": rng.normal(size=N), "few": rng.integers(0, 5, N).astype(float)})
    frame["town"] = rng.choice(["Ulm", "Bonn", "Rome", "Oslo"], N, p=[0.4, 0.3, 0.28, 0.02])
    frame["yes"] = np.where(rng.random(N) < 0.5, "yes", "no")
    frame.loc[rng.random(N) < 0.1, "few"] = np.nan
    frame["y"] = (frame["n"] + rng.normal(size=N) > 0.5).astype(int)
    frame["w"] = rng.integers(0, 3, N)
    return frame


def test_weak_rankers_of_a_table_are_made_where_the_rows_lie():
    frame = mixed()
    source = Source(frame, 37)
    rows = pnorm.dask.code_rows(source.frame, "y", weight="w", n_cuts=9, linear=True, max_levels=3)
    assert sorted(source.reads) == sorted(2 * list(range(source.n)))
    counted = frame[frame["w"] > 0]
    columns = ["n", "few", "town", "yes"]
    pos, neg = (counted.loc[counted["y"] == label, columns] for label in (1, 0))
    expected = pnorm.rankers.from_table(pos, neg, n_cuts=9, linear=True, max_levels=3)
    assert rows.H.to_dict() == expected.to_dict()
    weights = {f"{side}_weight": counted.loc[counted["y"] == label, "w"] for side, label in (("pos", 1), ("neg", 0))}
    found_there = pnorm.dask.minimize(rows, p=2, l2=0.5, **TIGHT)
    assert_same(found_there, pnorm.minimize(pos, neg, expected, 2, l2=0.5, **weights, **TIGHT), 1e-6)
    assert sorted(source.reads) == sorted(2 * list(range(source.n)))
    # of both sides, of an array, and in one call
    P, G = (dd.from_pandas(side, npartitions=3) for side in (pos, neg))
    assert pnorm.dask.code_rows(P, neg=G, n_cuts=9, linear=True, max_levels=3).H.to_dict() == expected.to_dict()
    A = FRAME[list("abc")].to_numpy()
    made = pnorm.rankers.from_table(A[GOOD], A[~GOOD])
    X = da.from_array(A, chunks=(40, 3))
    assert pnorm.dask.code_rows(X, FRAME["y"].to_numpy()).H.to_dict() == made.to_dict()
    assert_same(
        pnorm.dask.train(X, H="table", p=2, t_max=3, label=FRAME["y"].to_numpy()),
        pnorm.train(A[GOOD], A[~GOOD], made, 2, 3),
    )
    assert "town = Ulm" in pnorm.dask.code_rows(source.frame, "y", ignore=["w", "n"]).H.names


@pytest.mark.parametrize("changed", ["a", "y", None])
def test_a_table_that_changes_between_its_two_readings_is_refused(changed):
    reads = []

    def read(k):
        reads.append(k)
        part = COLUMNS[40 * k : 40 * k + 40].copy()
        if changed is not None and reads.count(1) == 2 and k == 1:  # two rows change places in one column
            own = part[changed].to_numpy().copy()
            first, second = 0, int(np.argmax(own != own[0]))
            own[[first, second]] = own[[second, first]]
            part[changed] = own + 1.0 if changed == "a" else own
        return part

    parts = [dask.delayed(read, pure=False)(k) for k in range(4)]
    frame = dd.from_delayed(parts, meta=COLUMNS[:0], verify_meta=False)
    if changed is None:
        assert pnorm.dask.code_rows(frame, "y").H.to_dict() == pnorm.rankers.from_table(POS, NEG).to_dict()
        return
    with raises(ValueError, "partition 1 has other values than when it was read first"):
        pnorm.dask.code_rows(frame, "y")


def test_rows_that_count_in_one_of_two_readings_are_refused():
    reads = []

    def read(k):
        reads.append(k)
        part = COLUMNS[40 * k : 40 * k + 40].assign(weight=1.0)
        if reads.count(1) == 2 and k == 1:
            part.loc[part.index[3], "weight"] = 0.0
        return part

    meta = COLUMNS[:0].assign(weight=np.ones(0))
    frame = dd.from_delayed([dask.delayed(read, pure=False)(k) for k in range(4)], meta=meta, verify_meta=False)
    with raises(ValueError, "partition 1 has other values than when it was read first"):
        pnorm.dask.code_rows(frame, "y", weight="weight")


def test_both_sides_coded_once():
    P, G = dd.from_pandas(POS, npartitions=3), dd.from_pandas(NEG, npartitions=4)
    of_sides = {**beside("weight"), **beside("group")}
    rows = pnorm.dask.code_rows(P, neg=G, H=H, **of_sides)
    for p in (1, 4):
        assert_same(pnorm.dask.train(rows, p=p, t_max=6), pnorm.train(POS, NEG, H, p, 6, **of_sides))
    assert rows.n_partitions == 7


def test_what_is_kept_is_small_and_the_rows_go():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4000, 20))
    cuts = pnorm.rankers.quantile_thresholds(A[:2000], A[2000:], 15)
    kept = []

    def read(block):
        own = block.copy()
        kept.append(weakref.ref(own))
        return own

    X = da.from_array(A, chunks=(1000, 20)).map_blocks(read, dtype=float, meta=np.empty((0, 0)))
    y = np.repeat([1, 0, 1, 0], 1000)
    rows = pnorm.dask.code_rows(X, H=cuts, label=y)
    assert 4000 * 10 < rows.nbytes < A.nbytes / 2
    gc.collect()
    assert len(kept) == 4
    assert not any(ref() is not None for ref in kept)
    assert repr(rows) == "<CodedRows: 2,000 positives and 2,000 negatives in 4 partitions, 300 weak rankers>"
    assert cuts == rows.H
    assert (rows.n_pos, rows.n_neg, rows.n_partitions) == (2000, 2000, 4)
    # outputs that are no codes stay as they are
    rows = pnorm.dask.code_rows(X, y, None)
    assert A.nbytes < rows.nbytes < 1.1 * A.nbytes


def test_partitions_of_one_kind_and_empty_ones():
    frame = COLUMNS.sort_values("y", kind="stable")
    frame.iloc[:30, 0] = -9.0
    source = Source(frame, 30)
    few = source.frame[source.frame["a"] > -9.0]
    assert 0 in [len(part) for part in dask.compute(*few.to_delayed())]
    inside = frame[30:]
    expected = pnorm.train(*(inside.loc[inside["y"] == word, list("abc")] for word in ("yes", "no")), H, 2, 5)
    assert_same(pnorm.dask.train(few, H=H, p=2, t_max=5, label="y"), expected)


def test_levels_that_are_not_known_are_told_once(recwarn):
    frame = COLUMNS.assign(e=np.where(GOOD, "x", "z"))
    frame.loc[:60, "e"] = "v"
    levels = pnorm.rankers.categories([["x"]], [["z"]], names=["e"])
    with warns(pnorm.rankers.UnknownLevelWarning, f"61 of {N} values") as told:
        rows = pnorm.dask.code_rows(dd.from_pandas(frame[["e", "y"]], npartitions=4), label="y", H=levels)
    assert len(told) == 1
    pnorm.dask.train(rows, t_max=2)
    pnorm.dask.minimize(rows, l2=0.1)
    assert not recwarn.list


def test_labels_that_do_not_say_which():
    X = dd.from_pandas(COLUMNS, npartitions=3)
    with raises(ValueError, r"no row has the label 'maybe' in column 'y'; its labels are no \(\d+\), yes"):
        pnorm.dask.train(X, label="y", pos_label="maybe")
    good = X[X["y"] == "yes"]
    with raises(ValueError, r"column 'y' has only one label, yes \(\d+\); positive and negative rows are needed"):
        pnorm.dask.train(good, label="y")
    words = X.assign(y=X["y"].replace({"yes": "up", "no": "down"}))
    with raises(
        ValueError, r"partition \d of X: column 'y' has the labels .*; name the positive label with pos_label="
    ):
        pnorm.dask.train(words, label="y")
    expected = pnorm.train(POS, NEG, H, 2, 3)
    assert_same(pnorm.dask.train(words, H=H, p=2, t_max=3, label="y", pos_label="up"), expected)
    missing = X.assign(y=X["y"].where(X["a"] > -1, None))
    with raises(ValueError, r"partition \d of X: the label 'y' is missing in row \d+; every row needs one"):
        pnorm.dask.train(missing, label="y", pos_label="yes")
    two = da.from_array(np.repeat([1, 2], [100, 50]), chunks=50)
    with raises(ValueError, r"y has the labels .*; name the positive label with pos_label="):
        pnorm.dask.train(da.from_array(np.ones((N, 2)), chunks=(50, 2)), y=two)
    with raises(ValueError, r"column 'label' has the labels .*; name the positive label with pos_label="):
        pnorm.dask.train(da.from_array(np.ones((N, 2)), chunks=(50, 2)), label=two)


def test_bad_input():
    X = dd.from_pandas(FRAME, npartitions=3)
    A = da.from_array(FRAME[list("abc")].to_numpy(), chunks=(50, 3))
    y = GOOD.to_numpy()
    rows = pnorm.dask.code_rows(A, y, None)
    for use, error, message in (
        (
            lambda: pnorm.dask.train(X, label="z"),
            ValueError,
            "label is 'z', which is not a column of the rows; they have 'a'",
        ),
        (lambda: pnorm.dask.train(X, label="y", weight="z"), ValueError, "weight is 'z', which is not a column"),
        (lambda: pnorm.dask.train(A, label="y"), TypeError, "an array has no column names. Pass a vector"),
        (lambda: pnorm.dask.train(A, A, label=y), ValueError, "label and neg are both given"),
        (lambda: pnorm.dask.train(A), TypeError, "neg is missing: pass the negative rows, or the label of every row"),
        (lambda: pnorm.dask.train(A, A, weight=y), ValueError, "weight is for rows with labels: pass the labels, or"),
        (lambda: pnorm.dask.train(A, A, pos_label=1), ValueError, "pos_label is for rows with labels"),
        (lambda: pnorm.dask.train(A, label=y, pos_weight=y), ValueError, "pos_weight is for rows of two sides"),
        (lambda: pnorm.dask.train(X, y="z"), ValueError, "y is 'z', which is not a column of the rows"),
        (lambda: pnorm.dask.train(A, y=y, label=y), ValueError, "y and label are both given, and are two names of one"),
        (lambda: pnorm.dask.train(A, A, y=y), ValueError, "y and neg are both given"),
        (lambda: pnorm.dask.train(A, y=y[1:]), ValueError, "y must hold one label per row, 150; got 149"),
        (
            lambda: pnorm.dask.train(A, y=y[:, None]),
            ValueError,
            "y must be a vector, one label per row; got 2 dimensions",
        ),
        (lambda: pnorm.dask.minimize(rows, y=y), ValueError, "y is given together with coded rows"),
        (lambda: pnorm.dask.train(A, y=da.ones(N + 1, chunks=151)), ValueError, "y has 1 partitions, and the rows"),
        (lambda: pnorm.dask.train(A, label=y[1:]), ValueError, "label must hold one label per row, 150; got 149"),
        (lambda: pnorm.dask.train(A, label=y, weight=y[1:]), ValueError, r"weight must have shape \(150,\)"),
        (
            lambda: pnorm.dask.train(A, label=da.ones(N + 1, chunks=151)),
            ValueError,
            "label has 1 partitions, and the rows",
        ),
        (lambda: pnorm.dask.code_rows(A, A), ValueError, "label must be a vector, one label per row; got 2 dimensions"),
        (lambda: pnorm.dask.code_rows(X, "y", H, n_cuts=3), TypeError, "n_cuts is for H='table', and H is given"),
        (lambda: pnorm.dask.code_rows(X, "y", "tables"), ValueError, "H must be one of 'table'"),
        (lambda: pnorm.dask.code_rows(X, "y", ignore="z"), ValueError, "ignore is 'z', which is not a column"),
        (lambda: pnorm.dask.code_rows(A, y, ignore="z"), TypeError, "ignore is 'z', but an array has no column names"),
        (lambda: pnorm.dask.code_rows(X[["y"]], "y"), ValueError, "the rows have no column to learn from except 'y'"),
        (lambda: pnorm.dask.train(A, label=y, weight=np.zeros(N)), ValueError, "weight is all zero"),
        (lambda: pnorm.dask.train(rows, 4), TypeError, "coded rows contain both sides. Pass p by name: p=4"),
        (lambda: pnorm.dask.train(rows, H=H), ValueError, "H is given together with coded rows"),
        (lambda: pnorm.dask.minimize(rows, label=y), ValueError, "label is given together with coded rows"),
        (
            lambda: pnorm.dask.train(FRAME, label="y"),
            TypeError,
            "pos must be a Dask array or data frame; got DataFrame",
        ),
    ):
        with raises(error, message):
            use()
    broken = FRAME[list("abcy")].copy()
    broken.loc[107, "b"] = np.inf
    with raises(ValueError, r"partition 2 of X: X has inf at row 7, column 1 \('b'\)"):
        pnorm.dask.train(dd.from_pandas(broken, npartitions=3), label="y")
    short = A.map_blocks(lambda block: block[::2], chunks=A.chunks, dtype=float, meta=np.empty((0, 0)))
    with raises(ValueError, r"partition \d of X: it has 25 rows, but its chunk in X\.chunks has 50"):
        pnorm.dask.train(short, label=da.from_array(y, chunks=50))


@pytest.mark.parametrize("n_rows", [1, 50, N])
def test_a_sample_is_the_same_rows_whatever_the_partitions(n_rows):
    taken = [k for k in range(N) if k in np.random.default_rng(3).choice(N, n_rows, replace=False)]
    expected, labels = FRAME[["a", "b"]].iloc[taken], FRAME["y"].iloc[taken].tolist()
    A, y = FRAME[["a", "b"]].to_numpy(), FRAME["y"].to_numpy()
    for size in (7, 40, N):
        X = da.from_array(A, chunks=(size, 1))
        frame = Source(FRAME[["a", "y", "b"]], size).frame
        sparse = X.rechunk((size, 2)).map_blocks(scipy.sparse.csr_array)
        for rows, own in (
            *[(X, beside) for beside in (y, list(y), da.from_array(y, chunks=31), frame["y"])],
            (sparse, y),
            (frame, "y"),
            (frame[["a", "b"]], frame["y"]),
        ):
            found, told = pnorm.dask.sample(rows, own, n_rows, seed=3)
            np.testing.assert_array_equal(found.toarray() if rows is sparse else found, expected)
            assert list(told) == labels
            assert list(getattr(found, "columns", "ab")) == ["a", "b"]


def test_every_row_is_as_likely_in_a_sample():
    X, counts = da.from_array(np.arange(12.0)[:, None], chunks=(5, 1)), np.zeros(12)
    for seed in range(300):
        rows, labels = pnorm.dask.sample(X, np.arange(12), 4, seed=seed)
        np.testing.assert_array_equal(rows[:, 0], labels)
        counts[labels] += 1
    assert abs(counts - 100).max() < 5 * np.sqrt(300 * (1 / 3) * (2 / 3))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"n_rows": N + 1}, ValueError, "n_rows is 151, but X has 150 rows"),
        ({"n_rows": 0}, ValueError, "n_rows must be at least 1; got 0"),
        ({"y": "z"}, ValueError, "y is 'z', which is not a column of X"),
        ({"y": np.ones(3)}, ValueError, "y must hold one label per row, 150; got 3"),
        ({"X": FRAME}, TypeError, "X must be a Dask array or data frame; got DataFrame"),
        ({"seed": -1}, ValueError, "seed must be an integer, zero or more"),
        ({"y": [None] * N}, ValueError, "y has None at row 0; every row needs a label"),
    ],
)
def test_samples_that_are_refused(given, error, message):
    with raises(error, message):
        pnorm.dask.sample(**({"X": dd.from_pandas(FRAME, npartitions=3), "y": "y", "n_rows": 5} | given))


def test_frames_with_more_columns_are_scored():
    X, lam = dd.from_pandas(FRAME, npartitions=3), np.linspace(-1, 1, len(H))
    expected = pnorm.score(FRAME[list("abc")], H, lam)
    np.testing.assert_array_equal(pnorm.dask.score(X, H, lam).compute(), expected)  # columns are found by name
    others = list("ywg")
    f = pnorm.dask.score(X, None, [1, 2, 3], ignore=others)
    np.testing.assert_array_equal(f.compute(), pnorm.score(FRAME[list("abc")], None, [1, 2, 3]))
    of_place = pnorm.rankers.columns(3)
    np.testing.assert_array_equal(pnorm.dask.score(X, of_place, [1, 2, 3], ignore=others).compute(), f.compute())
    with raises(ValueError, "ignore is 'z', which is not a column of X; it has 'a'"):
        pnorm.dask.score(X, None, [1, 2, 3], ignore="z")
    with raises(TypeError, "ignore is 'y', but an array has no column names"):
        pnorm.dask.score(da.ones((4, 3), chunks=2), None, [1, 2, 3], ignore="y")
