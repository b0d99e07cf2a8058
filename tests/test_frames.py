"""Data frames as matrices: where they lie if they can be, and copied once if not."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from facts import raises
from memory import peak
from repeats import each_value

import pnorm
from pnorm import _checks, kernel, listwise, sklearn
from pnorm._solvers import building
from pnorm.objectives._pnorm import push

pl = pytest.importorskip("polars")

N, D = 100_000, 12
NAMES = [f"c{j}" for j in range(D)]
ROWS = np.random.default_rng(0).normal(size=(N, D))
NUMBERS = np.round(100 * ROWS)
HOLES = np.where(np.random.default_rng(1).random(ROWS.shape) < 0.1, np.nan, NUMBERS)


def arrow(A, **more):
    return pa.table({name: pa.array(x, **more) for name, x in zip(NAMES, A.T, strict=True)})


def chunked(table, size=N // 3):
    return pa.concat_tables([table.slice(start, size) for start in range(0, N, size)])


def in_pieces(A):
    return pd.DataFrame({name: x.copy() for name, x in zip(NAMES, A.T, strict=True)})


def mixed():
    frame = in_pieces(NUMBERS)
    frame["c1"] = NUMBERS[:, 1].astype(np.int16)
    frame["c2"] = NUMBERS[:, 2] > 0
    frame["c3"] = NUMBERS[:, 3].astype(np.float32)
    frame["c4"] = pd.array(NUMBERS[:, 4].astype(int), dtype="Int64")
    frame["c5"] = pd.array(NUMBERS[:, 5] > 0, dtype="boolean")
    frame["c6"] = pd.Series(NUMBERS[:, 6], dtype="double[pyarrow]")
    frame["c7"] = pd.Categorical(NUMBERS[:, 7])
    frame["c8"] = pd.arrays.SparseArray(NUMBERS[:, 8])
    expected = NUMBERS.copy()
    expected[:, [2, 5]] = expected[:, [2, 5]] > 0
    return frame, expected


LIE = {
    "pandas": pd.DataFrame(ROWS, columns=NAMES),
    "pandas column-major": pd.DataFrame(np.asfortranarray(ROWS), columns=NAMES),
    "pandas float32": pd.DataFrame(ROWS.astype(np.float32), columns=NAMES),
    "pandas, one column": pd.DataFrame(ROWS[:, :1].copy(), columns=["a"]),
    "polars": pl.DataFrame(np.asfortranarray(ROWS), schema=NAMES),
    "polars, one column": pl.DataFrame({"a": ROWS[:, 0].copy()}),
}
COPIED = {
    "pandas in pieces": (in_pieces(ROWS), ROWS),
    "pandas float32 in pieces": (in_pieces(ROWS.astype(np.float32)), ROWS.astype(np.float32)),
    "pandas integers": (pd.DataFrame(NUMBERS.astype(int), columns=NAMES), NUMBERS),
    "pandas, every other row": (pd.DataFrame(ROWS, columns=NAMES)[::2], ROWS[::2]),
    "pandas, some rows": (pd.DataFrame(ROWS, columns=NAMES)[7:9000], ROWS[7:9000]),
    "pandas mixed": mixed(),
    "pandas nullable": (in_pieces(HOLES).astype("Int64"), HOLES),
    "pandas nullable float32": (in_pieces(HOLES).astype("Float32"), HOLES.astype(np.float32)),
    "pandas arrow": (in_pieces(HOLES).astype("int64[pyarrow]"), HOLES),
    "polars": (pl.DataFrame({name: x.copy() for name, x in zip(NAMES, ROWS.T, strict=True)}), ROWS),
    "polars integers": (pl.DataFrame(NUMBERS.astype(np.int32), schema=NAMES), NUMBERS),
    "polars with holes": (pl.DataFrame(HOLES, schema=NAMES, nan_to_null=True), HOLES),
    "arrow": (arrow(ROWS), ROWS),
    "arrow float32": (arrow(ROWS.astype(np.float32)), ROWS.astype(np.float32)),
    "arrow in chunks": (chunked(arrow(ROWS)), ROWS),
    "arrow integers": (chunked(arrow(NUMBERS.astype(np.int8))), NUMBERS.astype(np.int8)),
    "arrow with holes": (chunked(arrow(HOLES, type=pa.int64(), from_pandas=True)), HOLES),
    "arrow half": (arrow(NUMBERS.astype(np.float16)), NUMBERS.astype(np.float16).astype(np.float32)),
    "arrow booleans": (chunked(arrow(NUMBERS > 0)), NUMBERS > 0),
    "record batch": (arrow(ROWS).to_batches()[0], ROWS),
}


@pytest.mark.parametrize("form", LIE)
def test_a_frame_that_is_one_array_is_used_where_it_lies(form):
    X = LIE[form]
    A = _checks.matrix(X, "X")
    column = X.iloc[:, -1].to_numpy() if hasattr(X, "iloc") else X.to_series(X.width - 1).to_numpy()
    assert A.shape == X.shape
    assert np.shares_memory(A, column)
    np.testing.assert_array_equal(A, X.to_numpy())
    assert peak(lambda: _checks.matrix(X, "X")) < 200_000


@pytest.mark.parametrize("form", COPIED)
def test_other_frames_are_copied_once_column_by_column(form):
    X, expected = COPIED[form]
    A = _checks.matrix(X, "X", True)
    dtype = expected.dtype if expected.dtype in (np.float32, np.float64) else np.float64
    assert A.dtype == dtype
    assert A.flags.f_contiguous or A.flags.c_contiguous
    np.testing.assert_array_equal(A, expected)
    column = 8 * N
    assert peak(lambda: _checks.matrix(X, "X", True)) < A.nbytes + 3 * column


def test_an_arrow_table_takes_no_memory_of_its_own():
    table = chunked(arrow(ROWS))
    before = pa.total_allocated_bytes()
    most = pa.default_memory_pool().max_memory()
    _checks.matrix(table, "X")
    assert pa.total_allocated_bytes() == before
    assert pa.default_memory_pool().max_memory() == most


@pytest.mark.parametrize("form", ["pandas", "pandas column-major", "polars"])
def test_training_reads_frames_where_they_lie(form):
    X = LIE[form]
    table = building.build(X, X, pnorm.rankers.columns(X), push(1)).tables[0]
    A = _checks.matrix(X, "X")
    assert np.shares_memory(table._A, A)
    before = A.copy()
    lam, _ = pnorm.train(X[: N // 2], X[N // 2 :], p=2, t_max=3)
    same, _ = pnorm.train(ROWS[: N // 2], ROWS[N // 2 :], p=2, t_max=3)
    np.testing.assert_allclose(lam, same, rtol=1e-9)
    np.testing.assert_array_equal(A, before)


def test_sparse_columns_are_used_where_they_lie():
    S = scipy.sparse.random_array((300, 7), density=0.2, format="csc", rng=0)
    for X in (S, scipy.sparse.csc_matrix(S)):
        assert np.shares_memory(_checks.matrix(X, "X").data, X.data)


@each_value()
@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (
            ["x", 1.5, 2.5],
            TypeError,
            r"X has 'x' \(str\) at row 0, column 1 \('b'\); every value must be a real number",
        ),
        ([1.5, None, 2.5], ValueError, r"X has (nan|None) at row 1, column 1 \('b'\); every value must be finite"),
        ([1.5, 2.5, np.inf], ValueError, r"X has inf at row 2, column 1 \('b'\)"),
        ([datetime.date(2020, 1, 1)] * 3, TypeError, r"date.* at row 0, column 1 \('b'\)"),
        ([True, None, False], ValueError, r"X has None at row 1, column 1 \('b'\)"),
        ([[1], [2], [3]], TypeError, r"at row 0, column 1 \('b'\)"),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_what_is_no_number_is_named(kind, values, error, message):
    columns = {"a": [1.0, 2.0, 3.0], "b": values}
    if kind == "pandas":
        X = pd.DataFrame(columns)
    elif any(isinstance(value, str) for value in values):
        columns["b"] = list(map(str, values))
        X = pa.table(columns) if kind == "arrow" else pl.DataFrame(columns)
    else:
        X = pa.table(columns) if kind == "arrow" else pl.DataFrame(columns)
    with raises(error, message):
        _checks.matrix(X, "X", False)


def test_frames_of_no_columns_and_of_no_rows():
    for X in (pd.DataFrame(index=[0, 1]), pa.table({"a": [1.0]}).select([])):
        with raises(ValueError, r"X has no columns|X is empty"):
            _checks.matrix(X, "X")
    for X in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": pa.array([], pa.float64())})):
        with pytest.raises(ValueError, match="X is empty"):
            _checks.matrix(X, "X")


def test_objects_that_are_numbers():
    frame = pd.DataFrame({"a": np.array([1, 2.5, True], object), "b": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(_checks.matrix(frame, "X"), [[1, 1], [2.5, 2], [1, 3]])
    frame.loc[1, "a"] = None
    np.testing.assert_array_equal(_checks.matrix(frame, "X", True), [[1, 1], [np.nan, 2], [1, 3]])
    with raises(ValueError, r"X has None at row 1, column 0 \('a'\)"):
        _checks.matrix(frame, "X", False)


FAR = 2**60
WHOLE = {
    "int64": np.asarray,
    "column-major": np.asfortranarray,
    "uint64": lambda A: A.astype(np.uint64),
    "objects": lambda A: A.astype(object),
    "list": lambda A: A.tolist(),
    "list with fractions": lambda A: [[a, b + 0.5] for a, b in A.tolist()],
    "pandas": lambda A: pd.DataFrame(A, columns=["t", "b"]),
    "pandas nullable": lambda A: pd.DataFrame(A, columns=["t", "b"]).astype("Int64"),
    "pandas objects": lambda A: pd.DataFrame(A.astype(object), columns=["t", "b"]),
    "pandas arrow": lambda A: pd.DataFrame(A, columns=["t", "b"]).astype("int64[pyarrow]"),
    "polars": lambda A: pl.DataFrame(A, schema=["t", "b"]),
    "arrow": lambda A: pa.table({"t": A[:, 0], "b": A[:, 1]}),
} | {form: getattr(scipy.sparse, form) for form in ("csr_array", "csc_matrix", "coo_array", "lil_array", "dok_array")}


@pytest.mark.parametrize("form", WHOLE)
def test_whole_numbers_that_would_be_one_float_are_refused(form):
    make, offset = WHOLE[form], np.array([FAR, 0])
    small = np.array([[3, 1], [5, 2], [3, 5]]), np.array([[0, 3], [1, 1], [2, 0]])
    pos, neg = (make(A + offset) for A in small)
    calls = [
        lambda: pnorm.train(pos, neg),
        lambda: pnorm.minimize(pos, neg),
        lambda: pnorm.score(pos, None, [1.0, 0.0]),
        lambda: pnorm.rankers.quantile_thresholds(pos, neg),
        lambda: pnorm.train(pos, neg, pnorm.rankers.thresholds([[], [1.0]])),
        lambda: kernel.train(pos, neg, "linear"),
        lambda: listwise.train(pos, [1, 0, 2]),
        lambda: sklearn.PNormPush(rankers="columns").fit(pos, [1, 0, 0]),
    ]
    named = r"column 0 \('t'\)" if "pandas" in form or form in ("polars", "arrow") else "column 0"
    for call in calls:
        with raises(ValueError, rf"has \d+ and \d+ in {named}, which are one number as floats; subtract"):
            call()
    # one number on either side, and another one
    constant = [A * [0, 1] + offset + [more, 0] for A, more in zip(small, (3, 0), strict=True)]
    for function in (pnorm.train, pnorm.minimize, pnorm.rankers.quantile_thresholds, kernel.train):
        with raises(ValueError, rf"pos or neg has {FAR} and {FAR + 3} in {named}"):
            function(*map(make, constant))
    # where no two become one, large numbers are taken as they are, and columns that do not count are not looked at
    far = [A * [2**20, 1] + offset for A in small]
    lam, _ = pnorm.train(*map(make, far), t_max=3)
    same, _ = pnorm.train(*(A.astype(float) for A in far), t_max=3)
    np.testing.assert_allclose(lam, same)
    assert pnorm.score(pos, None, [0.0, 1.0]).size == 3


def test_to_look_for_large_whole_numbers_takes_no_memory():
    X = np.arange(2_000_000).reshape(-1, 2)
    assert peak(lambda: _checks.stay_apart([X], "X")) < 200_000
    assert peak(lambda: _checks.stay_apart([pa.table({"a": X[:, 0]})], "X")) < 200_000


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("make", [np.asarray, lambda A: A.astype(object), lambda A: pa.table({"t": A[:, 0]})])
def test_large_whole_numbers_of_either_sign_are_looked_for(make, sign):
    with raises(ValueError, "which are one number as floats"):
        _checks.matrix(make(np.array([[FAR], [FAR + 1], [0]]) * sign), "X")
