"""Weak rankers, and the forms in which data may come."""

import tempfile
import time

import numpy as np
import pytest
import scipy.sparse

import pnorm

POS = np.array([[1.0, 10.0, 5.0], [3.0, 30.0, 5.0]])
NEG = np.array([[2.0, 50.0, 5.0], [2.0, 20.0, 5.0], [0.5, 20.0, 5.0]])
X = np.array([[2.0, 60.0, 5.0], [0.0, 30.0, 7.0]])


def collections():
    r = pnorm.rankers
    return {
        "columns": r.columns(POS, NEG),
        "normalized": r.normalized(POS, NEG, low=-1, high=1),
        "thresholds": r.thresholds([[1, 2], [], [4]]),
        "quantiles": r.quantile_thresholds(POS, NEG, 3),
        "callables": r.callables([lambda Z: Z[:, 0], row_norm]),
    }


def row_norm(Z):
    return np.linalg.norm(Z, axis=1)


@pytest.mark.parametrize("kind", collections())
def test_training_on_a_collection_is_training_on_its_outputs(kind):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.4, 1, (30, 3)), rng.normal(0, 1, (40, 3))
    H = collections()[kind]
    lam, trace = pnorm.train(pos, neg, H, 4, 40)
    same, again = pnorm.train(H.evaluate(pos), H.evaluate(neg), None, 4, 40)
    np.testing.assert_array_equal(trace.ranker, again.ranker)
    np.testing.assert_allclose(lam, same, rtol=1e-12)
    as_list, _ = pnorm.train(pos, neg, list(H), 4, 40)
    np.testing.assert_allclose(as_list, lam, rtol=1e-12)


def test_normalized_spans_the_interval_and_does_not_clip():
    H = pnorm.rankers.normalized(POS, NEG, low=-1, high=1)
    both = H.evaluate(np.concatenate([POS, NEG]))
    assert (both[:, :2].min(axis=0) == -1).all()
    assert (both[:, :2].max(axis=0) == 1).all()
    assert (both[:, 2] == -1).all()  # constant
    np.testing.assert_allclose(H.evaluate(X), [[0.2, 1.5, -1], [-1.4, 0, -1]])


def test_the_interval_does_not_change_the_path():
    # TR2005-874 scales to [-1, 1], COLT 2006 to [0, 1]: half the coefficients
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(0.5, 1, (50, 4)), rng.normal(0, 1, (60, 4))
    zero, a = pnorm.train(pos, neg, pnorm.rankers.normalized(pos, neg), 8)
    minus, b = pnorm.train(pos, neg, pnorm.rankers.normalized(pos, neg, -1, 1), 8)
    rounds = 60  # later edges are within the tie rule of each other
    np.testing.assert_array_equal(a.ranker[:rounds], b.ranker[:rounds])
    np.testing.assert_allclose(zero, 2 * minus, rtol=1e-8)


def test_a_threshold_is_strict():
    H = pnorm.rankers.thresholds({1: [20, 30]}, names=["a", "b", "c"])
    assert H.names == ("b > 20", "b > 30")
    np.testing.assert_array_equal(H.evaluate(NEG), [[1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(pnorm.rankers.thresholds({1: [20, 30]}).evaluate(NEG), H.evaluate(NEG))


def test_quantile_thresholds_take_every_mid_point_or_spread_them():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1000, 1))
    H = pnorm.rankers.quantile_thresholds(x[:400], x[400:], 9)
    np.testing.assert_allclose(H.evaluate(x).mean(axis=0), np.arange(9, 0, -1) / 10, atol=2e-3)
    few = np.repeat([[0.0], [1.0], [4.0]], 50, axis=0)
    assert pnorm.rankers.quantile_thresholds(few, few, 2).names == ("x0 > 0.5", "x0 > 2.5")
    assert len(pnorm.rankers.quantile_thresholds(few, few, 1)) == 1
    heavy = np.concatenate([np.zeros((900, 1)), x[:100]])  # nine tenths are one value
    assert 2 <= len(pnorm.rankers.quantile_thresholds(heavy, heavy, 9)) <= 9


def test_thresholds_between_neighbours_tell_them_apart():
    x = np.array([[1.0], [1 + 2**-52], [1 + 2**-51]])
    H = pnorm.rankers.quantile_thresholds(x, x)
    np.testing.assert_array_equal(H.evaluate(x).sum(axis=1), [0, 1, 2])
    wide = np.array([[-1.5e308], [1.5e308]])
    np.testing.assert_array_equal(pnorm.rankers.quantile_thresholds(wide, wide).evaluate(wide), [[0], [1]])


def test_names_of_thresholds_tell_them_apart():
    assert pnorm.rankers.thresholds([[1000001.5, 1000002.5]]).names == ("x0 > 1000001.5", "x0 > 1000002.5")


def test_callables_read_whatever_the_rows_are():
    pos, neg = ["WIN A PRIZE NOW", "free $$$ inside", "prize!!"], ["see you at ten", "lunch?", "the prize committee"]

    def length(texts):
        return [len(text) for text in texts]

    def marks(texts):
        return [sum(c in "!?$" for c in text) for text in texts]

    H = pnorm.rankers.callables([length, marks, lambda texts: [text.isupper() for text in texts]])
    assert H.names == ("length", "marks", "h2")
    lam, trace = pnorm.train(pos, neg, H, p=2, t_max=20)
    assert pnorm.score(["FREE!!!"], H, lam).shape == (1,)
    assert trace.log_objective[-1] < trace.log_objective[0]


def frames():
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(POS, columns=["age", "bmi", "dose"])
    return [frame, pyarrow.Table.from_pandas(frame, preserve_index=False)]


def test_data_frames_bring_their_names():
    for frame in frames():
        assert pnorm.rankers.columns(frame).names == ("age", "bmi", "dose")
        assert pnorm.rankers.normalized(frame, NEG).names == ("age", "bmi", "dose")
        np.testing.assert_array_equal(pnorm.rankers.columns(frame).evaluate(frame), POS)


def data():
    rng = np.random.default_rng(3)
    pos, neg = rng.integers(0, 9, (40, 6)) * 0.25 + 0.25, rng.integers(0, 9, (50, 6)) * 0.25
    pos[rng.random(pos.shape) < 0.5] = 0
    neg[rng.random(neg.shape) < 0.5] = 0
    return pos, neg


def forms():
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    return {
        "lists": lambda A: A.tolist(),
        "fortran": np.asfortranarray,
        "strided": lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": lambda A: A[::-1].copy()[::-1],
        "big-endian": lambda A: A.astype(">f8"),
        "float32": lambda A: A.astype(np.float32),
        "float32 fortran": lambda A: np.asfortranarray(A, np.float32),
        "float16": lambda A: A.astype(np.float16),
        "object": lambda A: A.astype(object),
        "matrix subclass": lambda A: np.ma.masked_array(A),
        "memory map": memory_map,
        "pandas": lambda A: pandas.DataFrame(A),
        "pyarrow": lambda A: pyarrow.table({f"c{j}": A[:, j] for j in range(A.shape[1])}),
        "polars": lambda A: polars.DataFrame(A),
        "csr": scipy.sparse.csr_array,
        "csc": scipy.sparse.csc_matrix,
        "coo": scipy.sparse.coo_array,
    }


def memory_map(A):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=A.dtype, shape=A.shape, mode="w+")
        mapped[:] = A
        return mapped


@pytest.mark.parametrize("form", ["lists", "fortran", "strided", "reversed", "big-endian", "float32",
                                  "float32 fortran", "float16", "object", "matrix subclass", "memory map", "pandas",
                                  "pyarrow", "polars", "csr", "csc", "coo"])  # fmt: skip
def test_the_form_of_the_data_does_not_matter(form):
    # quarters are exact in every precision, so float32 storage must give the float64 result
    pos, neg = data()
    c_pos = np.arange(len(pos)) % 3.0
    lam, trace = pnorm.train(pos, neg, p=6, t_max=80, pos_weight=c_pos, init=[0.1] * 6)
    convert = forms()[form]
    same, again = pnorm.train(convert(pos), convert(neg), p=6, t_max=80, pos_weight=c_pos, init=[0.1] * 6)
    np.testing.assert_array_equal(again.ranker, trace.ranker)
    np.testing.assert_allclose(same, lam, rtol=1e-9)
    np.testing.assert_allclose(again.log_objective, trace.log_objective, rtol=1e-12)
    np.testing.assert_allclose(pnorm.score(convert(pos), None, lam), pos @ lam, rtol=1e-12)


def test_arrays_in_the_right_layout_are_not_copied():
    from pnorm._solvers import building
    from pnorm.objectives._pnorm import push
    from pnorm.rankers import as_rankers

    for dtype in (np.float32, np.float64):
        for order in "CF":
            rng = np.random.default_rng(0)
            pos, neg = (np.asarray(rng.normal(size=(100, 6)), dtype=dtype, order=order) for _ in range(2))
            tables = building.build(pos, neg, as_rankers(None, pos, "pos"), push(2.0), None, None).tables
            assert np.shares_memory(tables[0]._A, pos)
            assert np.shares_memory(tables[1]._A, neg)


def test_float32_sums_are_float64():
    # a sum of 2e5 float32 terms in float32 would be off by 1e-5
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.1, 1, (200_000, 3)).astype(np.float32), rng.normal(0, 1, (200_000, 3)).astype(np.float32)
    lam, trace = pnorm.train(pos, neg, p=4, t_max=10)
    same, again = pnorm.train(pos.astype(float), neg.astype(float), p=4, t_max=10)
    np.testing.assert_allclose(trace.edge, again.edge, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(lam, same, rtol=1e-9)


@pytest.mark.parametrize("missing", ["error", "own"])
def test_cuts_of_sparse_rows_are_those_of_the_same_rows_dense(missing):
    rng = np.random.default_rng(0)
    for _ in range(60):
        n_pos, n_neg, d = rng.integers(1, 40, 3)
        kept = rng.random((n_pos + n_neg, d)) < rng.choice([0.0, 0.1, 0.5, 1.0], d)
        values = np.where(rng.random(d) < 0.5, rng.integers(-2, 3, kept.shape), rng.normal(size=kept.shape))
        X = np.where(kept, values, 0.0)
        if missing == "own":
            X[rng.random(X.shape) < 0.05] = np.nan
        X[0, 0], X[1:, 0] = 1.0, 0.0  # one column, at least, has a cut
        sides = X[:n_pos], X[n_pos:]
        of_sparse = [scipy.sparse.csc_array(side) for side in sides]
        of_sparse[1].data[:1] = 0.0  # stored, and nothing
        sides = [side.toarray() for side in of_sparse]
        for n_cuts in (1, 2, 5, 255):
            found, expected = (
                pnorm.rankers.quantile_thresholds(*form, n_cuts, missing=missing).to_dict()
                for form in (of_sparse, sides)
            )
            assert found == expected


def test_cuts_of_wide_sparse_rows_take_no_time_for_columns_of_nothing():
    rng = np.random.default_rng(0)
    pos, neg = (
        scipy.sparse.coo_array((rng.normal(size=9000), (rng.integers(300, size=9000), columns)), shape=(300, 300_000))
        for columns in rng.integers(300_000, size=(2, 9000))
    )
    start = time.process_time()
    H = pnorm.rankers.quantile_thresholds(pos, neg)
    assert time.process_time() - start < 20  # half a second, where it was half a minute or more
    assert len(H) > 17_000
    cuts = H.to_dict()["cuts"]
    columns = np.unique([column for column, _ in cuts])[:50]
    few = [scipy.sparse.csc_array(side)[:, columns].toarray() for side in (pos, neg)]
    expected = [[np.searchsorted(columns, column), cut] for column, cut in cuts if column in columns]
    assert pnorm.rankers.quantile_thresholds(*few).to_dict()["cuts"] == expected
