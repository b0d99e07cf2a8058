"""Scores of new rows: in every form, on any number of threads, and from nothing but what is used."""

import gc
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from facts import raises
from memory import peak
from repeats import each_value
from test_collections import many

import pnorm

pl = pytest.importorskip("polars")

RNG = np.random.default_rng(0)
ROWS = np.round(RNG.normal(size=(40, 5)), 1) * (RNG.random((40, 5)) < 0.6)
NAMES = ["a", "b", "c", "d", "e"]
FRAME = pd.DataFrame(ROWS, columns=NAMES)

FORMS = {
    "row-major": np.ascontiguousarray,
    "column-major": np.asfortranarray,
    "float32": lambda A: A.astype(np.float32),
    "float32 column-major": lambda A: np.asfortranarray(A, np.float32),
    "float16": lambda A: A.astype(np.float16),
    "big-endian": lambda A: A.astype(">f8"),
    "strided": lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "transposed and reversed": lambda A: A.T[::-1].copy()[::-1].T,
    "within a record": lambda A: np.array([(row, 0) for row in A], dtype=[("x", "f8", 5), ("y", "i1")])["x"],
    "objects": lambda A: A.astype(object),
    "lists": lambda A: A.tolist(),
    "read-only": lambda A: np.frombuffer(A.tobytes()).reshape(A.shape),
    "pandas": lambda A: pd.DataFrame(A, columns=NAMES),
    "pandas column-major": lambda A: pd.DataFrame(np.asfortranarray(A), columns=NAMES),
    "pandas in pieces": lambda A: pd.DataFrame({name: A[:, j].copy() for j, name in enumerate(NAMES)}),
    "pandas nullable": lambda A: pd.DataFrame(A, columns=NAMES).convert_dtypes(),
    "pandas arrow": lambda A: pd.DataFrame(A, columns=NAMES).astype("double[pyarrow]"),
    "polars": lambda A: pl.DataFrame(A, schema=NAMES),
    "arrow": lambda A: pa.table(dict(zip(NAMES, A.T, strict=True))),
    "arrow in chunks": lambda A: pa.concat_tables([pa.table(dict(zip(NAMES, B.T, strict=True))) for B in (A[:9], A[9:])]),
    "record batch": lambda A: pa.RecordBatch.from_arrays([pa.array(x) for x in A.T], names=NAMES),
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_array,
    "coo": scipy.sparse.coo_array,
    "lil": scipy.sparse.lil_array,
    "matrix": scipy.sparse.csr_matrix,
}  # fmt: skip


def collections():
    r = pnorm.rankers
    cuts = r.quantile_thresholds(ROWS[:20], ROWS[20:], 7)
    return {
        "none": None,
        "columns": r.columns(5),
        "normalized": r.normalized(ROWS[:20], ROWS[20:], -1, 2),
        "quantiles": cuts,
        "thresholds": r.thresholds({3: [0.5, -0.5, 0.5], 0: [0.0]}),
        "missing": r.thresholds([[0.5, 0.0], [], [1.0], [-1.0], [2.0]], missing="own"),
        "closed": r.closed(cuts),
        "union": r.columns(5) + r.closed(r.columns(5) + r.normalized(ROWS, ROWS)) + cuts,
        "from a frame": r.columns(FRAME) + r.quantile_thresholds(FRAME[:20], FRAME[20:], 3),
        "out of order": r.normalized(FRAME[NAMES[::-1]], FRAME[NAMES[::-1]]) + r.columns(FRAME[NAMES[::-1]]),
    }


def lams(n, rng):
    """All used, some, one, none."""
    yield rng.normal(size=n)
    for share in (0.5, 0.15):
        yield rng.normal(size=n) * (rng.random(n) < share)
    yield np.eye(1, n, int(rng.integers(n)))[0]
    yield np.zeros(n)


@each_value(times=3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", collections())
def test_scores_are_the_sum_of_the_rankers_one_by_one(kind, form):
    H = collections()[kind]
    X = FORMS[form](ROWS)
    exact = np.asarray(ROWS, np.float16).astype(float) if form == "float16" else ROWS
    exact = exact.astype(np.float32).astype(float) if form.startswith("float32") else exact
    own = FRAME if kind in ("from a frame", "out of order") else None
    rows = exact if own is None else pd.DataFrame(exact, columns=NAMES)
    if kind == "out of order" and pnorm.rankers.columns(X if not isinstance(X, list) else ROWS).names != tuple(NAMES):
        rows = pd.DataFrame(exact, columns=NAMES[::-1])  # without names, columns go by position
    outputs = rows if H is None else np.column_stack([h(rows) for h in H])
    for lam in lams(outputs.shape[1], np.random.default_rng(1)):
        expected = sum((c * h for c, h in zip(lam, np.asarray(outputs).T, strict=True)), np.zeros(40))
        np.testing.assert_allclose(pnorm.score(X, H, lam), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", many())
def test_scores_of_every_kind_of_collection(kind):
    H, rows = many()[kind]
    matrix = H.evaluate(rows)
    for lam in lams(len(H), np.random.default_rng(2)):
        np.testing.assert_allclose(pnorm.score(rows, H, lam), matrix @ lam, rtol=1e-12, atol=1e-12)


# Threads


@each_value()
@pytest.mark.parametrize(
    "form", ["row-major", "column-major", "float32", "strided", "reversed", "csc", "pandas in pieces"]
)
@pytest.mark.parametrize("kind", ["columns", "normalized", "missing", "union"])
def test_the_same_bits_for_any_number_of_threads(kind, form):
    H = collections()[kind]
    X = FORMS[form](np.random.default_rng(3).normal(size=(100_003, 5)))
    lam = np.random.default_rng(4).normal(size=len(H)) * (np.arange(len(H)) % 3 > 0)
    expected = pnorm.score(X, H, lam, n_threads=1)
    for n_threads in (2, 3, 7, None):
        np.testing.assert_array_equal(pnorm.score(X, H, lam, n_threads=n_threads), expected)
    some = [0, 1, 70_000, 100_002]
    rows = X.iloc[some] if hasattr(X, "iloc") else X[some]
    np.testing.assert_allclose(pnorm.score(rows, H, lam), expected[some], rtol=1e-12, atol=1e-14)


# One row


@each_value(times=2)
@pytest.mark.parametrize("form", ["row-major", "float32", "big-endian", "lists", "pandas in pieces", "arrow", "polars"])
@pytest.mark.parametrize("kind", collections())
def test_a_row_alone_has_the_score_that_it_has_among_others(kind, form):
    H, rows = collections()[kind], np.random.default_rng(8).normal(size=(30, 5))
    lam = np.random.default_rng(9).normal(size=5 if H is None else len(H))
    expected = pnorm.score(FORMS[form](rows), H, lam)
    alone = np.concatenate([pnorm.score(FORMS[form](rows[i : i + 1]), H, lam) for i in range(30)])
    np.testing.assert_allclose(alone, expected, rtol=1e-14, atol=1e-14)
    if form in ("row-major", "float32", "lists") or kind in ("quantiles", "thresholds", "missing"):
        np.testing.assert_array_equal(alone, expected)


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", many())
def test_what_is_kept_for_the_next_row_is_forgotten_for_other_coefficients(kind):
    H, rows = many()[kind]
    fresh, stored = many()[kind][0], len(pickle.dumps(H))
    first, second, _, one, none = lams(len(H), np.random.default_rng(10))
    for lam in (first, second, first, first, none, one, -first, second, 2.0 * second):
        mine = lam.copy()
        np.testing.assert_array_equal(pnorm.score(rows, H, mine), pnorm.score(rows, many()[kind][0], lam))
        mine[:] = 7.0  # the caller's, who may write to it
    assert fresh == H
    assert len(pickle.dumps(H)) == stored
    np.testing.assert_array_equal(pnorm.score(rows, pickle.loads(pickle.dumps(H)), first), pnorm.score(rows, H, first))


def test_threads_that_ask_for_different_coefficients_get_their_own_scores():
    H = collections()["union"]
    asked = [np.random.default_rng(k).normal(size=len(H)) for k in range(4)]
    expected = [pnorm.score(ROWS, H, lam) for lam in asked]
    with ThreadPoolExecutor(4) as pool:
        for k, f in enumerate(pool.map(lambda k: pnorm.score(ROWS, H, asked[k % 4], n_threads=1), range(400))):
            np.testing.assert_array_equal(f, expected[k % 4])


def test_many_small_calls_keep_nothing():
    H, row = collections()["quantiles"], ROWS[:1]
    asked = [np.random.default_rng(k).normal(size=len(H)) for k in range(50)]

    def calls(n):
        for k in range(n):
            pnorm.score(row, H, asked[k % 50])

    calls(100)
    gc.collect()
    tracemalloc.start()
    try:
        calls(50)
        before = tracemalloc.get_traced_memory()[0]
        calls(1000)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 50_000
    finally:
        tracemalloc.stop()


def test_many_columns_few_of_which_are_used():
    X = np.random.default_rng(5).normal(size=(300, 2000))
    lam = np.zeros(2000)
    lam[[3, 700, 1999]] = 1.0, -2.0, 0.5
    for order in "CF":
        for dtype in (np.float32, np.float64, int):
            A = np.asarray(X, dtype, order)
            np.testing.assert_allclose(pnorm.score(A, None, lam), A.astype(float) @ lam, rtol=1e-12, atol=1e-14)


def test_more_cuts_than_a_code_has():
    x = np.arange(140_000.0)
    lam = np.random.default_rng(6).normal(size=x.size - 2)
    H = pnorm.rankers.thresholds([x[1:-1] - 0.5])
    own = pnorm.rankers.thresholds([x[1:-1] - 0.5], missing="own")
    expected = np.r_[0.0, np.cumsum(lam), lam.sum()]
    for make in (np.asarray, scipy.sparse.csc_array):
        np.testing.assert_allclose(pnorm.score(make(x[:, None]), H, lam), expected, atol=1e-9)
        with_hole = np.r_[x, np.nan][:, None]
        scores = pnorm.score(make(with_hole), own, np.r_[lam, 7.0])
        np.testing.assert_allclose(scores, np.r_[expected, 7.0], atol=1e-9)


# What is not used


@each_value(times=3)
@pytest.mark.parametrize("wrong", [np.nan, -np.inf])
@pytest.mark.parametrize("form", [form for form in FORMS if form != "pandas nullable"])
@pytest.mark.parametrize("kind", [kind for kind in collections() if kind != "out of order"])
def test_what_is_not_used_may_hold_anything_and_what_is_used_may_not(kind, form, wrong):
    H = collections()[kind]
    names = (H or pnorm.rankers.columns(FRAME)).names
    rankers = [pnorm.rankers.columns(5)] if H is None else getattr(H, "_members", [H])
    reads = np.concatenate([columns_of(part) for part in rankers])
    assert reads.size == len(names)
    lam = np.where(np.isin(reads, [0, 3]), np.linspace(1, 2, reads.size), 0.0)
    X = FORMS[form](ROWS)
    expected = pnorm.score(X, H, lam)
    holes = ROWS.copy()
    holes[::3, [1, 2, 4]] = wrong
    np.testing.assert_array_equal(pnorm.score(FORMS[form](holes), H, lam), expected)
    holes[[7, 22], 3] = wrong
    if kind == "missing" and np.isnan(wrong):
        assert pnorm.score(FORMS[form](holes), H, lam).size == 40
        return
    with raises(ValueError, r"X has (nan|None|-?inf) at row 7, column 3") as caught:
        pnorm.score(FORMS[form](holes), H, lam)
    assert ("'d'" in str(caught.value)) == (pnorm.rankers._checks.column_names(X) is not None)


def columns_of(part):
    """Which column each ranker of a collection reads."""
    if hasattr(part, "_half"):
        half = np.concatenate([columns_of(inner) for inner in getattr(part._half, "_members", [part._half])])
        return np.r_[half, half]
    return np.array([column for column, _ in part._cuts]) if hasattr(part, "_cuts") else np.arange(len(part))


def test_the_first_wrong_row_is_named_on_any_number_of_threads():
    X = np.zeros((200_000, 3))
    X[199_000, 0] = X[150_001, 2] = X[40_000, 1] = np.nan
    for n_threads in (1, 2, 5):
        for H in (None, pnorm.rankers.thresholds([[0.5]] * 3), pnorm.rankers.normalized(X[:5] + 1, X[:5])):
            with pytest.raises(ValueError, match="row 40000, column 1;"):
                pnorm.score(X, H, [1, 1, 1], n_threads=n_threads)
            with pytest.raises(ValueError, match="row 150001, column 2;"):
                pnorm.score(X, H, [1, 0, 1], n_threads=n_threads)


def test_frames_need_only_the_columns_that_are_used():
    H = pnorm.rankers.columns(FRAME) + pnorm.rankers.quantile_thresholds(FRAME, FRAME, 2)
    lam = np.zeros(len(H))
    lam[1], lam[H.names.index("d > 0.35") if "d > 0.35" in H.names else -3] = 2.0, 1.0
    used = sorted({H.names[j].split(" ")[0] for j in np.flatnonzero(lam)})
    expected = pnorm.score(FRAME, H, lam)
    for make in (lambda f: f, pl.from_pandas, lambda f: pa.Table.from_pandas(f, preserve_index=False)):
        np.testing.assert_array_equal(pnorm.score(make(FRAME[used[::-1]]), H, lam), expected)
        text = FRAME.assign(**{name: "Ulm" for name in NAMES if name not in used}, f="x")
        np.testing.assert_array_equal(pnorm.score(make(text), H, lam), expected)
        with raises(ValueError, "X lacks the column 'b' which the weak rankers need"):
            pnorm.score(make(FRAME.drop(columns="b")), H, lam)
        with raises(TypeError, r"X has 'Ulm' \(str\) at row 0, column 1 \('b'\)"):
            pnorm.score(make(FRAME.assign(b="Ulm")), H, lam)
    with raises(ValueError, "X has 2 columns; these weak rankers were made for 5"):
        pnorm.score(FRAME[used].to_numpy(), H, lam)
    assert pnorm.score(FRAME[[]].assign(other=1), pnorm.rankers.columns(FRAME), np.zeros(5)).tolist() == [0.0] * 40


def test_columns_as_they_are_need_not_be_numbers_where_they_are_not_used():
    frame = FRAME.assign(c="Ulm")
    np.testing.assert_array_equal(pnorm.score(frame, None, [1, 0, 0, 0, 2]), FRAME["a"] + 2 * FRAME["e"])
    with pytest.raises(TypeError, match=r"column 2 \('c'\)"):
        pnorm.score(frame, None, [1, 0, 1, 0, 2])
    rows = [[1.0, None, 3.0], [2.0, None, 5.0]]
    np.testing.assert_array_equal(pnorm.score(rows, None, [1, 0, 1]), [4.0, 7.0])
    np.testing.assert_array_equal(pnorm.score(np.array([[1, "x"], [3, None]], object), None, [2, 0]), [2.0, 6.0])


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
def test_categories_that_are_not_used_are_not_looked_at():
    rows = pd.DataFrame({"u": ["a", "b", "a"], "v": [1, 2, 2], "w": ["x", "x", "y"]})
    H = pnorm.rankers.categories(rows, rows)
    lam = [0.0, 0.0, 3.0, 5.0, 0.0, 0.0]
    other = rows.assign(u=[[1], {}, None], w=[np.nan, object(), 0], v=[2, 1, 7])
    for X in (other, other[["w", "v"]], other[["v"]], pa.table({"v": [2, 1, 7]}), pl.DataFrame({"v": [2, 1, 7]})):
        np.testing.assert_array_equal(pnorm.score(X, H, lam), [5.0, 3.0, 0.0])
    for X in (other.to_numpy(), other.to_numpy().tolist()):
        np.testing.assert_array_equal(pnorm.score(X, H, lam), [5.0, 3.0, 0.0])
    for values in ([1, [2], 1], [1, None, 1]):
        with pytest.raises((TypeError, ValueError), match=r"at row 1, column 1 \('v'\)"):
            pnorm.score(other.assign(v=values), H, lam)


def test_functions_that_are_not_used_are_not_called():
    def fail(X):
        raise AssertionError

    H = [fail, lambda X: X[:, 0], fail]
    np.testing.assert_array_equal(pnorm.score(ROWS, H, [0, 2, 0]), 2 * ROWS[:, 0])
    closed = pnorm.rankers.closed(H)
    np.testing.assert_array_equal(pnorm.score(ROWS, closed, [3, 2, 0, 3, 0, 0]), 2 * ROWS[:, 0] + 3)


@pytest.mark.parametrize("row", [[1e308, 1.0, 0.0], [1.5e307, 1.5e307, -1.5e307], [1e308, 0.0, -1e308]])
def test_a_sum_that_leaves_the_doubles_on_its_way_is_refused_and_no_fault_of_the_rows(row):
    X, lam = np.array([[0.0, 0.0, 0.0], row]), np.full(3, 10.0)
    with raises(OverflowError, "the score of row 1, or a part of its sum"):
        pnorm.score(X, None, lam)
    assert np.isfinite(pnorm.score(X, None, lam / 1e10)).all()


def test_columns_of_almost_one_value():
    x = np.array([[0.0, 1e9], [5e-324, 1e9 + 1e-6], [1e-323, 1e9 + 2e-6]])
    H = pnorm.rankers.normalized(x, x)
    np.testing.assert_allclose(pnorm.score(x, H, [1, 1]), H.evaluate(x) @ [1, 1], rtol=1e-15)


# Memory


@each_value()
@pytest.mark.parametrize("form", ["row-major", "column-major", "float32", "reversed", "pandas", "pandas column-major"])
@pytest.mark.parametrize("kind", ["columns", "normalized", "quantiles"])
def test_rows_are_read_where_they_lie(kind, form):
    X = FORMS[form](np.random.default_rng(7).normal(size=(300_000, 5)))
    H = collections()[kind]
    lam = np.ones(len(H))
    pnorm.score(X[:9], H, lam)
    scores, rows = 8 * 300_000, 5 * 4 * 300_000
    assert peak(lambda: pnorm.score(X, H, lam, n_threads=1)) < scores + rows / 2
