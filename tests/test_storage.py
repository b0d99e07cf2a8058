"""Every storage against the matrix of outputs that it stands for."""

import itertools
import math
import threading
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import workers
from facts import raises
from problems import HOME, needs
from repeats import each_value
from scipy.special import softmax

import pnorm
import pnorm.kernel
import pnorm.listwise
from pnorm import _threads, rankers
from pnorm._solvers import building, descent
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.problem import Problem
from pnorm._storage import codebook
from pnorm._storage.codebook import Schema
from pnorm._storage.coded import Coded
from pnorm._storage.combined import Closed, Negated, Repeated, Stacked
from pnorm._storage.dense import Dense
from pnorm._storage.features import Codes, Cuts, Feature
from pnorm._storage.sparse import Sparse
from pnorm._storage.sparse_coded import SparseCoded
from pnorm._storage.store import OfMatrix, store, store_part
from pnorm.objectives._pnorm import PNorm, push

N_POS, N_NEG = 170, 230


def few(rng, rows):
    """Columns of two, three, five and a hundred values, one of them far from zero, one constant."""
    return np.column_stack(
        [
            rng.integers(0, 2, rows),
            rng.integers(0, 3, rows) * 0.5 - 1,
            rng.integers(0, 5, rows) + 1e6,
            rng.integers(0, 90, rows) / 7,
            np.full(rows, 3.0),
        ]
    )


def run(part):
    """The answer of a pass."""
    return _threads.SERIAL.run(part)[0]


def tables(pos, neg, H, p=2):
    return building.build(pos, neg, H, push(p)).tables


def storages():
    """Name -> for either side, a table and the plain matrix that it stands for."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(0.3, 1, (N_POS, 4)), rng.normal(0, 1, (N_NEG, 4))
    A, B = few(rng, N_POS), few(rng, N_NEG)
    made = {}
    for order, dtype in (("C", np.float32), ("F", np.float64)):
        sides = [np.asarray(Z, dtype=dtype, order=order) for Z in (X, Y)]
        made[f"dense {order} {np.dtype(dtype)}"] = [(Dense(Z), Z.astype(float)) for Z in sides]
    columns = np.array([0, 2, 3])
    sides = [np.ascontiguousarray(np.column_stack([Z, Z[:, :1]])) for Z in (X, Y)]
    made["some columns"] = [(Dense(Z, columns), Z[:, columns]) for Z in sides]
    thin = [Z * (rng.random(Z.shape) < 0.3) for Z in (X, Y)]
    made["sparse"] = [(Sparse(scipy.sparse.csc_array(Z)), Z) for Z in thin]
    made["closed"] = [(Closed(Dense(Z)), np.column_stack([Z, 1 - Z])) for Z in (X, Y)]
    moved = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0])
    binary = [np.round(64 * Z) / 64 for Z in (X, Y)]  # exact less a shift; columns with and without one lie apart
    made["closed, moved"] = [(Closed(Dense(Z)).subtract(moved), np.column_stack([Z, 1 - Z]) - moved) for Z in binary]
    made["few values"] = of(pnorm.rankers.columns(5), A, B)
    H = pnorm.rankers.quantile_thresholds(X, Y, 120)
    made["thresholds"] = of(H, X, Y)
    holes = [np.where(rng.random(Z.shape) < 0.2, np.nan, Z) for Z in (X, Y)]
    made["missing"] = of(pnorm.rankers.quantile_thresholds(*holes, 9, missing="own"), *holes)
    made["lines"] = of(pnorm.rankers.quantile_thresholds(X, Y, 40, linear=True), X, Y)
    H_lines = pnorm.rankers.quantile_thresholds(*holes, 9, missing="own", linear=True)
    made["closed lines, missing"] = of(pnorm.rankers.closed(H_lines), *holes)
    made["categories"] = of(pnorm.rankers.categories(A, B), A, B)
    made["mixed columns"] = of(pnorm.rankers.columns(9), np.column_stack([A, X]), np.column_stack([B, Y]))
    made["closed thresholds"] = of(pnorm.rankers.closed(H), X, Y)
    made["a union"] = of(pnorm.rankers.columns(4) + pnorm.rankers.normalized(X, Y) + H, X, Y)
    made["a closed union"] = of(pnorm.rankers.closed(pnorm.rankers.columns(4) + H), X, Y)
    made |= sparse_cuts(rng)
    for name in ("sparse", "thresholds", "a closed union"):
        made[f"{name}, negated"] = [(Negated(table), -matrix) for table, matrix in made[name]]
    for name in ("thresholds", "a union", "sparse cuts"):
        indices = [np.repeat(np.arange(rows), rng.integers(1, 4, rows)) for rows in (N_POS, N_NEG)]
        sides = zip(made[name], indices, strict=True)
        made[f"{name}, repeated"] = [(Repeated(table, index), matrix[index]) for (table, matrix), index in sides]
    return made


def sparse_cuts(rng):
    """Name -> storages of cuts of sparse columns: below, at and above zero, missing values, zeros that are stored."""
    thin = [rng.integers(-3, 5, (rows, 6)) * (rng.random((rows, 6)) < 0.03) + 0.0 for rows in (N_POS, N_NEG)]
    thin = [np.column_stack([Z, np.zeros(len(Z)), np.abs(Z[:, 0]) > 2]) for Z in thin]
    some = [np.where((Z != 0) & (rng.random(Z.shape) < 0.3), np.nan, Z) for Z in thin]
    sides, missing = ([scipy.sparse.csc_array(Z) for Z in kind] for kind in (thin, some))
    for A in (*sides, *missing):
        A.data[np.nan_to_num(A.data) == 2] = 0.0
    full = [scipy.sparse.csr_array(np.column_stack([A.toarray(), few(rng, A.shape[0])])) for A in sides]
    H = pnorm.rankers.quantile_thresholds(*sides)
    many = pnorm.rankers.thresholds(
        [np.linspace(-3, 5, 300), [9.0, 10.0], [-10.0, -9.0], [0.0, 0.5], [-1.5, 1.5]] + [[]] * 3
    )
    return {
        "sparse cuts": of(H, *sides),
        "closed sparse cuts": of(pnorm.rankers.closed(H), *sides),
        "many sparse cuts": of(many, *sides),
        "sparse cuts, missing": of(pnorm.rankers.quantile_thresholds(*missing, missing="own"), *missing),
        "sparse cuts, sparse and dense": of(pnorm.rankers.closed(pnorm.rankers.quantile_thresholds(*full)), *full),
        "sparse cuts and columns": of(pnorm.rankers.columns(8) + H, *sides),
    }


def of(H, pos, neg):
    return list(zip(tables(pos, neg, H), (H.evaluate(pos), H.evaluate(neg)), strict=True))


STORAGES = storages()


@pytest.fixture(params=STORAGES)
def case(request):
    return STORAGES[request.param]


def test_scores_are_rounded_by_no_more_than_the_storage_says(case):
    """Against exact fractions: the outputs as they are, not as floats that stand for them."""
    rng = np.random.default_rng(3)
    for table, matrix in case:
        for size in (1.0, 1e8):
            lam = rng.normal(size=table.shape[1]) * size ** rng.random(table.shape[1])
            exact_lam = [Fraction(x) for x in lam.tolist()]
            rows = np.concatenate([block for _, block in table.blocks()])[:20].tolist()
            exact = [sum(map(Fraction.__mul__, exact_lam, map(Fraction, row))) for row in rows]
            errors = [abs(Fraction(x) - y) for x, y in zip(run(table.combine(lam))[:20].tolist(), exact, strict=True)]
            assert max(errors) <= table.rounding(lam, np.abs(matrix).max(axis=0))


def test_in_sparse_rows_only_stored_numbers_are_rounded():
    rng = np.random.default_rng(4)
    rows = scipy.sparse.random_array((50, 3000), density=0.002, format="csc", rng=rng)
    lam = rng.normal(size=3000)
    size = abs(rows).max(axis=0).toarray().ravel()
    assert Sparse(rows).rounding(lam, size) < 1e-2 * Dense(rows.toarray()).rounding(lam, size)


def weights(rng, rows):
    w = rng.exponential(size=rows) ** 3
    return w / w.sum()


STACKED = {", sparse and dense": [SparseCoded, Coded], " and columns": [Sparse, SparseCoded]}


def test_the_kinds_are_what_they_are_called():
    kinds = {name: type(sides[0][0]) for name, sides in STORAGES.items()}
    assert {kinds[name] for name in ("few values", "thresholds", "closed thresholds", "missing", "categories")} == {
        Coded
    }
    assert {kinds[name] for name in ("mixed columns", "a union", "a closed union")} == {Stacked}
    assert {
        kinds[name] for name in ("sparse cuts", "closed sparse cuts", "many sparse cuts", "sparse cuts, missing")
    } == {SparseCoded}
    stacked = {name: [type(part) for part in STORAGES[f"sparse cuts{name}"][0][0].parts] for name in STACKED}
    assert stacked == STACKED


def test_shape_and_extremes(case):
    for table, matrix in case:
        assert table.shape == matrix.shape
        np.testing.assert_array_equal(table.low, matrix.min(axis=0))
        np.testing.assert_array_equal(table.high, matrix.max(axis=0))


def test_edges_and_sums(case):
    rng = np.random.default_rng(1)
    size = 1e-14 * (1 + np.abs(case[0][1]).max(axis=0))
    totals, means = [], []
    for table, matrix in case:
        weight = weights(rng, len(matrix))
        tally = run(table.tally(weight))
        assert tally.size == table.tally_size
        totals.append(table.totals(tally))
        means.append(matrix.T @ weight)
        assert (np.abs(run(table.sums(3 * weight)) - 3 * matrix.T @ weight) <= 3 * size).all()
        by_group = scipy.sparse.csr_array(weight[:, None] * rng.integers(0, 2, (len(weight), 3)))
        np.testing.assert_allclose(run(table.sums(by_group)), by_group.T @ matrix, rtol=1e-12, atol=1e-12)
    assert (np.abs(case[0][0].edges(totals[0] - totals[1]) - (means[0] - means[1])) <= size).all()


def test_scores(case):
    rng = np.random.default_rng(2)
    for table, matrix in case:
        for share in (1.0, 0.1, 0.0):
            lam = rng.normal(size=matrix.shape[1]) * (rng.random(matrix.shape[1]) < share)
            size = 1e-13 * (1 + np.abs(matrix) @ np.abs(lam)).max()
            np.testing.assert_allclose(run(table.combine(lam)), matrix @ lam, atol=size)


def test_one_ranker(case):
    for table, matrix in case:
        u = weights(np.random.default_rng(3), len(matrix))
        tally = run(table.tally(u))
        for j in range(0, matrix.shape[1], 1 + matrix.shape[1] // 100):
            h = np.empty(len(matrix))
            run(table.column(j, 0.25, h))
            np.testing.assert_allclose(h, matrix[:, j] - 0.25, rtol=1e-15, atol=1e-15)
            cells = table.cells(j)
            assert (cells is not None) == table.coded[j]
            if cells is None:
                with pytest.raises(TypeError, match="no codes"):
                    table.values(j)
                continue
            values, masses = table.values(j), table.masses(j, tally)
            np.testing.assert_allclose(table.totals(tally)[cells], masses, rtol=1e-13)
            for value in np.unique(values):
                at = values == value
                assert table.counts[cells][at].sum() == (matrix[:, j] == value).sum()
                assert masses[at].sum() == pytest.approx(u[matrix[:, j] == value].sum(), rel=1e-13)
            factors = np.exp(-0.1 * (values - values.mean()))
            changed = u.copy()
            total = run(table.multiply(j, factors, changed))
            np.testing.assert_allclose(changed, u * np.exp(-0.1 * (matrix[:, j] - values.mean())), rtol=1e-12)
            assert total == pytest.approx(changed.sum(), rel=1e-14)


def test_a_tally_is_brought_up_to_date(case):
    rng = np.random.default_rng(15)
    for table, matrix in case:
        coded = np.flatnonzero(table.coded)
        for j in rng.choice(coded, min(coded.size, 12), replace=False):
            w = np.exp(30 * rng.normal(size=len(matrix)))  # sums of all sizes keep their digits
            values = table.values(j)
            two = np.where(values == values.max(), *rng.uniform(0.01, 5, 2))
            for factors in (two, np.exp(0.3 * (values - values.mean()))):
                tally = run(table.tally(w))
                changed = w.copy()
                run(table.multiply(j, factors, changed))
                got, fresh = run(table.retally(j, factors, changed, tally)), run(table.tally(changed))
                np.testing.assert_allclose(got, fresh, rtol=1e-13)


def test_second_moments(case):
    rng = np.random.default_rng(4)
    for table, matrix in case:
        weight = weights(rng, len(matrix))
        codes = rng.integers(0, 3, len(matrix))
        for groups, at in ((None, np.zeros(len(matrix), int)), (codes, codes)):
            means = np.array([np.average(matrix[at == g], axis=0, weights=weight[at == g]) for g in np.unique(at)])
            for centres in (means, means.round(2)):
                scatter, left = run(table.scatter(weight, centres, groups))
                centred = matrix - centres[at]
                size = 1e-12 * (1 + np.abs(centred).max()) ** 2 + 1e-15 * np.abs(matrix).max() ** 2 * isinstance(
                    table, Sparse
                )
                np.testing.assert_allclose(scatter, (centred * weight[:, None]).T @ centred, atol=size)
                sums = [weight[at == g] @ centred[at == g] for g in np.unique(at)]
                np.testing.assert_allclose(left, sums, atol=1e-14 * (1 + np.abs(matrix).max()))


def test_rows_as_they_come(case):
    for table, matrix in case:
        parts = list(table.blocks())
        assert [rows.start for rows, _ in parts][1:] == [rows.stop for rows, _ in parts][:-1]
        np.testing.assert_array_equal(np.concatenate([block for _, block in parts]), matrix)
        whole = table.matrix()
        np.testing.assert_array_equal(whole.toarray() if scipy.sparse.issparse(whole) else whole, matrix)


def test_some_of_the_rows(case):
    rng = np.random.default_rng(5)
    some = []
    for table, matrix in case:
        rows = np.flatnonzero(rng.random(len(matrix)) < 0.5)
        some.append((table.select_rows(rows), matrix[rows]))
    test_shape_and_extremes(some)
    test_edges_and_sums(some)
    test_rows_as_they_come(some)


def test_less_a_constant(case):
    low, high = (f(*(f.reduce(matrix) for _, matrix in case)) for f in (np.minimum, np.maximum))
    middle = 0.5 * (low + high)
    shift = np.where(np.abs(middle) > 1e3, middle, 0.0)
    for table, matrix in case:
        moved = table.subtract(shift)
        np.testing.assert_allclose(np.concatenate([block for _, block in moved.blocks()]), matrix - shift, atol=1e-12)


# Codes and words


def of_features(features, n_rows):
    """A table of features with one ranker each."""
    schema = Schema(features, [np.array([k]) for k in range(len(features))], n_rows)
    return Coded.encoded(schema, [feature.source for feature in features], n_rows)


@pytest.mark.parametrize("n_rows", [100, 10_000, 10**6])
def test_words_hold_every_feature(n_rows):
    rng = np.random.default_rng(6)
    for _ in range(20):
        levels = rng.choice([1, 2, 3, 5, 16, 17, 64, 65, 255, 256, 257, 4000], size=rng.integers(1, 30))
        words = codebook._packed(levels, n_rows)
        for wide in (False, True):
            for i, size in enumerate(words.size[int(wide)]):
                own = np.flatnonzero((words.wide == wide) & (words.word == i))
                assert size == np.prod(levels[own])
                assert size <= (2**16 if wide else 2**8)
                order = own[np.argsort(words.radix[own], kind="stable")]
                assert words.radix[order].tolist() == np.r_[1, np.cumprod(levels[order])[:-1]].tolist()
        assert (words.wide | (words.word < words.size[0].size)).all()


def test_features_of_all_sizes_come_back():
    rng = np.random.default_rng(7)
    levels = [2, 256, 3, 300, 2, 60, 60, 17, 1, 9, 5000, 2, 2, 2, 2, 2, 2]
    codes = [rng.integers(0, n, 100).astype(np.uint16) for n in levels]
    values = [rng.normal(size=n) for n in levels]
    table = of_features([Feature.of_values(Codes(c), v) for c, v in zip(codes, values, strict=True)], 100)
    expected = np.column_stack([v[c] for c, v in zip(codes, values, strict=True)])
    np.testing.assert_array_equal(np.concatenate([block for _, block in table.blocks()]), expected)


@each_value()
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 254, 255, 256, 700])
def test_codes_count_the_cuts_below(n_cuts, dtype):
    rng = np.random.default_rng(n_cuts)
    cuts = np.unique(np.round(rng.normal(size=n_cuts), 2))
    x = np.r_[np.round(rng.normal(size=1000), 2), cuts, cuts + 1e-9, -1e30, 1e30].astype(dtype)
    A = np.column_stack([np.zeros_like(x), x])
    values = np.arange(cuts.size + 1.0)
    table, out = of_features([Feature.of_values(Cuts(A, 1, cuts), values)], x.size), np.empty(x.size)
    run(table.column(0, 0.0, out))
    np.testing.assert_array_equal(out, (cuts[None, :] < x[:, None].astype(float)).sum(axis=1))


def test_more_cuts_than_a_feature_has_codes():
    x = np.arange(140_000.0)
    H = pnorm.rankers.thresholds([x[1:-1] - 0.5])
    sides = tables(x[::2, None], x[1::2, None], H)
    pos, neg = (table.totals(run(table.tally(np.full(70_000, 1 / 70_000)))) for table in sides)
    above = np.array([(x[::2] > cut).mean() - (x[1::2] > cut).mean() for cut in (x[1:-1] - 0.5)[::7000]])
    np.testing.assert_allclose(sides[0].edges(pos - neg)[::7000], above, atol=1e-12)


# Rows that a sparse column does not store


def test_rows_that_are_not_stored_keep_the_digits_of_their_sum():
    """Nearly all weight lies on the stored rows, or all of it, or on the others."""
    rng = np.random.default_rng(16)
    A = scipy.sparse.csc_array(rng.integers(1, 4, (400, 20)) * (rng.random((400, 20)) < 0.02))
    table = tables(A, A, pnorm.rankers.quantile_thresholds(A, A))[0]
    assert isinstance(table, SparseCoded)
    dense = A.toarray()
    for spread in (0.0, 1.0, 10.0, 100.0):
        for on_stored in (1.0, 1e3, 1e9, 1e15, 1e30, 1e-30):
            for column in range(20):
                w = np.exp(spread * rng.random(400))
                w[dense[:, column] != 0] *= on_stored
                tally = run(table.tally(w))
                for j in np.flatnonzero(table._book.feature == column)[:1]:
                    for code, mass in enumerate(table.masses(j, tally)):
                        exact = sum(map(Fraction, w[dense[:, column] == np.unique(dense[:, column])[code]].tolist()))
                        assert abs(Fraction(mass) - exact) <= 1e-14 * exact
    long = scipy.sparse.csc_array((np.ones(3), ([5, 40_000, 99_999], [0, 0, 0])), shape=(100_000, 1))
    w = np.exp(30 * rng.random(100_000))
    w[[5, 40_000, 99_999]] = 1e20, 1e16, 1e24  # beside the rest, as heavy as 1e8 times it
    tally = run(tables(long, long, pnorm.rankers.thresholds([[0.5]]))[0].tally(w))
    np.testing.assert_allclose(
        tally, [math.fsum(np.delete(w, [5, 40_000, 99_999])), w[5] + w[40_000] + w[99_999]], 1e-15
    )
    whole = scipy.sparse.csc_array(np.ones((50, 1)))
    full = store_part(pnorm.rankers.thresholds([[-0.5, 0.5, 1.0]])._pieces(whole, "X", np.arange(3)))
    assert isinstance(full, SparseCoded)
    np.testing.assert_array_equal(run(full.tally(np.full(50, 0.1)))[[0, 1, 3]], 0.0)


def test_a_sparse_column_is_packed_where_that_takes_less_memory():
    rng = np.random.default_rng(17)
    shares = [0.001, 0.01, 0.03, 0.2, 0.4]
    A = scipy.sparse.csc_array((rng.random((8000, 5)) < shares) * rng.integers(1, 16, (8000, 5)))
    H = pnorm.rankers.quantile_thresholds(A, A)
    for table in tables(A, A, H):
        sparse, packed = table.parts
        assert [type(sparse), type(packed)] == [SparseCoded, Coded]
        assert np.unique([H._cuts[j][0] for j in table.where[0]]).tolist() == [0, 1, 2]
    twice = scipy.sparse.csc_array(A[:, 3:] != 0)  # of two levels, eight columns share a byte
    assert isinstance(tables(twice, twice, pnorm.rankers.thresholds([[0.5], [0.5]]))[0], Coded)
    assert isinstance(store_part(H._pieces(A, "X", np.arange(len(H)))), SparseCoded)


@pytest.mark.parametrize(
    ("form", "dtype", "push"), [("csc", np.int8, "top"), ("csr", np.float32, "bottom"), ("coo", float, "top")]
)
def test_one_path_on_sparse_cuts(form, dtype, push):
    rng = np.random.default_rng(18)
    pos, neg = (
        (rng.integers(-2, 6, (rows, 12)) * (rng.random((rows, 12)) < np.linspace(0.02, 0.3, 12))).astype(dtype)
        for rows in (300, 500)
    )
    sides = [getattr(scipy.sparse, f"{form}_array")(Z) for Z in (pos, neg)]
    if form != "coo":
        sides[0].indices, sides[0].indptr = sides[0].indices.astype(np.int64), sides[0].indptr.astype(np.int64)
    H = pnorm.rankers.quantile_thresholds(*sides)
    assert pnorm.rankers.quantile_thresholds(pos, neg) == H
    assert isinstance(tables(*sides, H)[0], Stacked)
    weights = {"pos_weight": rng.integers(0, 3, 300), "neg_weight": rng.random(500)}
    for more in ({}, weights, {"pos_group": np.arange(300) % 3, "neg_group": np.arange(500) % 3}):
        for p in (1, 4):
            lam, trace = pnorm.train(*sides, H, p, 60, push=push, **more)
            same, of_dense = pnorm.train(pos, neg, H, p, 60, push=push, **more)
            np.testing.assert_array_equal(trace.ranker, of_dense.ranker)
            np.testing.assert_allclose(lam, same, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(trace.log_objective, of_dense.log_objective, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(pnorm.score(sides[0], H, lam), pnorm.score(pos, H, lam), rtol=1e-12, atol=1e-12)


def test_missing_values_of_sparse_rows_have_cuts_of_their_own():
    rng = np.random.default_rng(19)
    pos, neg = (rng.integers(-2, 3, (300, 6)) * (rng.random((300, 6)) < 0.05) + 0.0 for _ in range(2))
    for Z in (pos, neg):
        Z[rng.random(Z.shape) < 0.02] = np.nan
    sides = [scipy.sparse.csr_array(Z) for Z in (pos, neg)]
    H = pnorm.rankers.closed(pnorm.rankers.quantile_thresholds(*sides, missing="own"))
    lam, _ = pnorm.train(*sides, H, 2, 60)
    np.testing.assert_allclose(lam, pnorm.train(pos, neg, H, 2, 60)[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pnorm.score(sides[0], H, lam), pnorm.score(pos, H, lam), rtol=1e-12, atol=1e-12)


# What goes where


def test_columns_of_few_values_are_found_and_the_rest_is_not_copied():
    rng = np.random.default_rng(8)
    for order in "CF":
        pos, neg = (
            np.asarray(np.column_stack([few(rng, n), rng.normal(size=(n, 3))]), order=order) for n in (900, 700)
        )
        for table, rows in zip(tables(pos, neg, pnorm.rankers.columns(8)), (pos, neg), strict=True):
            assert table.coded.tolist() == [True] * 5 + [False] * 3
            dense = next(part for part in table.parts if isinstance(part, Dense))
            assert np.shares_memory(dense._A, rows)


def test_memory_mapped_rows_stay_on_disk(tmp_path):
    rng = np.random.default_rng(9)
    path = tmp_path / "pos.npy"
    np.save(path, rng.normal(size=(500, 3)))
    pos, neg = np.load(path, mmap_mode="r"), rng.normal(size=(400, 3))
    assert np.shares_memory(tables(pos, neg, pnorm.rankers.columns(3))[0]._A, pos)
    np.testing.assert_array_equal(pnorm.train(pos, neg, p=2)[0], pnorm.train(np.array(pos), neg, p=2)[0])


def test_as_many_values_as_a_byte_has():
    rng = np.random.default_rng(10)
    for n, found in ((256, True), (257, False)):
        column = np.r_[np.arange(n), rng.integers(0, n, 4000)].astype(float)[:, None]
        assert tables(column, column, pnorm.rankers.columns(1))[0].coded.all() == found
    signs = np.r_[-0.0, column[column < 256]][:, None]  # 256 values again, and zero with either sign
    assert tables(signs, signs, pnorm.rankers.columns(1))[0].coded.all()
    assert not tables(np.arange(9.0)[:, None], np.ones((4, 1)), pnorm.rankers.columns(1))[0].coded.any()


def test_weights_of_zero_leave_rows_out_of_every_storage(case):
    A, B = (matrix for _, matrix in case)
    c_pos, c_neg = (np.random.default_rng(11).integers(0, 3, len(Z)) for Z in (A, B))
    H = pnorm.rankers.quantile_thresholds(A, B, 20) + pnorm.rankers.columns(A.shape[1])
    lam, _ = pnorm.train(A, B, H, 3, 15, pos_weight=c_pos, neg_weight=c_neg)
    same, _ = pnorm.train(A.repeat(c_pos, axis=0), B.repeat(c_neg, axis=0), H, 3, 15)
    np.testing.assert_allclose(lam, same, rtol=1e-9, atol=1e-12)


# One path in every storage


def assert_one_path(pos, neg, H, p, rounds, **more):
    """Dense, sparse and binned storage of the same rankers."""
    dense = H.evaluate(pos), H.evaluate(neg)
    runs = [pnorm.train(pos, neg, H, p, rounds, **more)]
    runs.append(pnorm.train(*map(scipy.sparse.csc_array, dense), None, p, rounds, **more))
    whole = np.concatenate(dense)
    problem = Problem.of_tables([Dense(A) for A in dense], H.names, PNorm(p, None, None))
    lam = np.zeros(whole.shape[1])
    runs.append((lam, descent.descend(DescentState(problem, lam), range(rounds), "absolute", 1e-10, None)))
    kinds = [
        tables(pos, neg, H),
        tables(*map(scipy.sparse.csc_array, dense), pnorm.rankers.columns(len(H))),
    ]
    assert [type(kind[0]) for kind in kinds] == [Coded, Sparse]
    for lam, trace in runs[1:]:
        np.testing.assert_array_equal(trace.ranker, runs[0][1].ranker)
        np.testing.assert_allclose(lam, runs[0][0], rtol=1e-9, atol=1e-9)
        for name in ("step", "edge", "z", "log_objective"):
            np.testing.assert_allclose(getattr(trace, name), getattr(runs[0][1], name), rtol=1e-9, atol=1e-9)
    return runs[0]


@pytest.mark.parametrize("p", [1, 4, 16])
def test_one_path_on_random_thresholds(p):
    rng = np.random.default_rng(12)
    pos, neg = rng.normal(0.3, 1, (300, 5)).round(1), rng.normal(0, 1, (400, 5)).round(1)
    assert_one_path(pos, neg, pnorm.rankers.quantile_thresholds(pos, neg), p, 150)


@needs("magic04.data")
def test_one_path_on_magic():
    rows = [line.split(",") for line in (HOME / "magic04.data").read_text().split()[::4]]
    X, y = np.array([row[:10] for row in rows], float), np.array([row[10] == "g" for row in rows])
    H = pnorm.rankers.quantile_thresholds(X[y], X[~y], 255)
    _, trace = assert_one_path(X[y], X[~y], H, 8, 60)
    assert trace.n_iter == 60


@needs("a9a.libsvm.gz")
def test_one_path_on_a9a():
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(HOME / "a9a.libsvm.gz"), n_features=123)
    pos, neg = X[y > 0].toarray(), X[y < 0].toarray()
    _, trace = assert_one_path(pos, neg, pnorm.rankers.columns(123), 4, 100)
    assert trace.n_iter == 100


# Threads


def test_a_pool_keeps_the_order_and_uses_its_threads():
    seen, before = set(), workers.running()
    together = threading.Barrier(3, timeout=20)

    def work(i):
        if i < 3:
            together.wait()  # three threads must be here at once
        seen.add(threading.get_ident())
        return i * i

    with _threads.Pool(3) as pool:
        assert pool.map(work, range(50)) == [i * i for i in range(50)]
        assert pool.map(work, range(3)) == [0, 1, 4]
        assert pool.map(work, []) == []
    assert len(seen) >= 3
    assert not workers.left(before)


def test_an_error_in_a_block_is_raised_and_ends_the_others():
    def work(i):
        if i == 3:
            raise ValueError("block three")
        return i

    with _threads.Pool(4) as pool:
        with pytest.raises(ValueError, match="block three"):
            pool.map(work, range(1000))
        assert pool.map(abs, [-1, -2]) == [1, 2]


@pytest.mark.parametrize("n_threads", [1, 4])
def test_of_problems_that_fail_the_first_one_is_told(n_threads):
    done, failed = [], threading.Event()

    def work(i):
        if i == 5 and n_threads > 1:
            assert failed.wait(60), "no other thread came to a later problem"
        if i >= 5:
            failed.set()
            raise ValueError(f"problem {i}")
        done.append(i)
        return i * i

    with _threads.Pool(n_threads) as pool:
        assert pool.each(work, range(5)) == [0, 1, 4, 9, 16]
        for _ in range(5):
            done.clear()
            failed.clear()
            with pytest.raises(ValueError, match=r"problem 5$"):
                pool.each(work, range(100))
            assert sorted(done) == [0, 1, 2, 3, 4]
        assert pool.each(abs, [-1, -2]) == [1, 2]


def test_batches_hold_all_items_in_their_order():
    assert list(_threads.batches(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(_threads.batches(iter("abcd"), 2)) == [["a", "b"], ["c", "d"]]
    assert list(_threads.batches([], 2)) == []


def test_blocks_cover_all_rows_once():
    for n in (1, 2, _threads.ROWS, _threads.ROWS + 1, 10**6, 10**7 + 3):
        rows = _threads.blocks(n)
        assert rows[0].start == 0
        assert rows[-1].stop == n
        assert all(a.stop == b.start for a, b in itertools.pairwise(rows))
        assert len(rows) <= 64


def test_small_problems_stay_on_one_thread():
    assert _threads.Pool(None, 1000).n_threads == 1
    assert _threads.Pool(5, 1000).n_threads == 1
    assert _threads.Pool(5, 10**6).n_threads == 5
    assert _threads.Pool(None, 10**6).n_threads == _threads.usable_cores()


# Weights that are multiplied


@pytest.mark.parametrize("p", [1, 4, 64])
def test_ten_thousand_rounds_do_not_drift(p):
    rng = np.random.default_rng(14)
    pos, neg = rng.normal(0.4, 1, (150, 6)).round(1), rng.normal(0, 1, (200, 6)).round(1)
    H = pnorm.rankers.quantile_thresholds(pos, neg, 12)
    lam, trace = pnorm.train(pos, neg, H, p, 10_000, tol=0)
    assert trace.n_iter > 3000
    f_pos, f_neg = pnorm.score(pos, H, lam), pnorm.score(neg, H, lam)
    from scipy.special import logsumexp

    value = p * logsumexp(-f_pos) + logsumexp(p * f_neg)
    assert trace.log_objective[-1] == pytest.approx(value, abs=1e-10 * max(1, abs(value)))
    assert (np.diff(trace.log_objective) <= 1e-12 * np.abs(trace.log_objective[1:]) + 1e-13).all()
    mass = [logsumexp(-f_pos) + logsumexp(f_neg), np.log(150) + np.log(200)]
    assert np.log(trace.z).sum() == pytest.approx(mass[0] - mass[1], abs=1e-8)


@each_value()
@pytest.mark.parametrize("p", [1, 4])
@pytest.mark.parametrize("of_cuts", [True, False])
def test_what_rounding_does_to_multiplied_weights_is_gone_after_a_hundred_rounds(p, of_cuts):
    rng = np.random.default_rng(12)
    pos, neg = rng.normal(0.3, 1, (300, 5)).round(1), rng.normal(0, 1, (400, 5)).round(1)
    pos[:, 1:] += 3 * pos[:, :1]  # short steps, and many
    neg[:, 1:] += 3 * neg[:, :1]
    H = pnorm.rankers.quantile_thresholds(pos, neg) if of_cuts else pnorm.rankers.columns(5)
    lam = np.zeros(len(H))
    problem = building.build(pos, neg, H, push(p))
    state = DescentState(problem, lam)
    rows = state._rows

    def rounds():
        for t in range(102):
            if t == 3:
                rows.u[7] *= 1.001
            yield t

    descent.descend(state, rounds(), "absolute", 0.0, None)
    f = problem.scores(lam)
    np.testing.assert_allclose(rows.u, softmax(-f.pos), rtol=1e-12)
    np.testing.assert_allclose(rows.w, softmax(p * f.neg), rtol=1e-12)


def test_a_matrix_of_few_values_needs_one_form():
    with pytest.raises(TypeError, match="same form"):
        store([[OfMatrix(A, np.arange(1))] for A in (np.ones((3, 1)), scipy.sparse.csc_array(np.ones((3, 1))))])


# Found by others


def test_one_array_for_both_sides_with_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(0.3, 1, (60, 3)), rng.choice([0.0, 0.3, 1.0], 60)
    for H in (None, pnorm.rankers.quantile_thresholds(X, X, 5), pnorm.rankers.categories(X.round(), X.round())):
        rows = X.round() if H is not None and "=" in H.names[0] else X
        lam, _ = pnorm.train(rows, rows, H, 2, 20, pos_weight=y, neg_weight=1 - y)
        same, _ = pnorm.train(rows, rows.copy(), H, 2, 20, pos_weight=y, neg_weight=1 - y)
        np.testing.assert_array_equal(lam, same)
        kept, _ = pnorm.train(rows[y > 0], rows[y < 1], H, 2, 20, pos_weight=y[y > 0], neg_weight=1 - y[y < 1])
        np.testing.assert_allclose(kept, lam, rtol=1e-9, atol=1e-12)


def test_weights_that_rise_from_their_floor_are_not_believed():
    pos, neg = np.zeros((20, 4)), np.zeros((20, 4))
    pos[:18, 2] = pos[:9, 3] = pos[18, 3] = 1
    neg[0], neg[1] = [1, 0, 1, 0], [0, 1, 1, 1]
    _, trace = pnorm.train(pos, neg, None, 4, 6, init=[-62.5, -500, 0, 0])
    close = 1e-12 * np.random.default_rng(0).random((20, 4))  # not coded
    _, again = pnorm.train(pos + close, neg, None, 4, 6, init=[-62.5, -500, 0, 0])
    np.testing.assert_allclose(trace.step[:2], [51.02, 359.76], rtol=1e-4)
    np.testing.assert_array_equal(again.ranker[:2], trace.ranker[:2])


def test_one_side_sparse_is_refused_by_all():
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(size=(9, 4)), scipy.sparse.csr_array(rng.normal(size=(8, 4)))
    H = pnorm.rankers.thresholds([[0.5]] * 4)
    for call in (
        lambda a, b: pnorm.train(a, b, H, 2, 3),
        lambda a, b: pnorm.minimize(a, b, H),
        lambda a, b: pnorm.train(a, b),
        pnorm.rankers.quantile_thresholds,
        pnorm.rankers.normalized,
        pnorm.rankers.columns,
    ):
        for sides in ((pos, neg), (neg, pos)):
            with raises(TypeError, "one of pos and neg is sparse"):
                call(*sides)


def test_sparse_indices_of_two_kinds():
    rng = np.random.default_rng(2)
    pos, neg = (
        scipy.sparse.csc_array(np.where(rng.random((30, 3)) < 0.5, rng.normal(size=(30, 3)), 0)) for _ in range(2)
    )
    lam, _ = pnorm.train(pos, neg, None, 2, 10)
    pos.indices = pos.indices.astype(np.int64)
    np.testing.assert_array_equal(pnorm.train(pos, neg, None, 2, 10)[0], lam)


def test_levels_that_only_one_side_has():
    rng = np.random.default_rng(6)
    known, more = rng.integers(0, 3, (60, 2)), rng.integers(0, 5, (80, 2))
    H = pnorm.rankers.categories(known, known)
    for pos, neg in ((known, more), (more, known)):
        with pytest.warns(pnorm.rankers.UnknownLevelWarning):
            sides = of(H, pos, neg)
        test_edges_and_sums(sides)
        test_rows_as_they_come(sides)


@pytest.mark.parametrize("n_rows", [64**2, 64**2 + 1, 64**2 + 100])
def test_extremes_lie_in_any_row(n_rows):
    """Many rows are folded, and the last of them are left over."""
    for row in (0, 64**2 - 1, n_rows - 1):
        A = np.zeros((n_rows, 2))
        A[row] = -1, 1
        table = Dense(A)
        assert (table.low.tolist(), table.high.tolist()) == ([-1, 0], [0, 1])


def test_extremes_of_many_levels():
    rng = np.random.default_rng(3)
    X, Y = rng.integers(0, 3000, (4000, 1)), rng.integers(500, 2500, (3000, 1))
    H = pnorm.rankers.closed(pnorm.rankers.categories(X, Y) + pnorm.rankers.thresholds([[10.5, 600.5, 2800.5, 9000]]))
    test_shape_and_extremes(of(H, X, Y))


def twice(form, kind, dtype, rng, rows=30, columns=3):
    """A sparse matrix with some entries in the same place, and what they add up to."""
    row, column = (rng.integers(0, n, 60).repeat(2) for n in (rows, columns))
    values = rng.integers(60, 120, 120).astype(dtype)
    row, column = np.r_[row, 0, 0], np.r_[column, 0, 0]
    values = np.r_[values, np.array([100, 100]).astype(dtype)]
    dense = np.zeros((rows, columns))
    np.add.at(dense, (row, column), values.astype(float))
    make = getattr(scipy.sparse, f"{form}_{kind}")
    if form == "coo":
        return make((values, (row, column)), shape=dense.shape), dense
    major, minor = (column, row) if form == "csc" else (row, column)
    order = np.argsort(major, kind="stable")
    starts = np.r_[0, np.cumsum(np.bincount(major, minlength=columns if form == "csc" else rows))]
    values = values[order].reshape(-1, 1, 1) if form == "bsr" else values[order]
    return make((values, minor[order], starts), shape=dense.shape), dense


@each_value(times=2)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, bool, np.float32, np.float64])
@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_entries_in_one_place_add_up_whatever_the_integers(kind, form, dtype):
    rng = np.random.default_rng(0)
    (pos, P), (neg, N) = (twice(form, kind, dtype, rng) for _ in range(2))
    before = [X.copy() for X in (pos, neg)]
    y = np.arange(30) % 3
    cuts = rankers.quantile_thresholds(P, N, 3)
    for answer in (
        lambda a, b: pnorm.train(a, b, t_max=5)[0],
        lambda a, b: pnorm.minimize(a, b, l2=1.0)[0],
        lambda a, b: pnorm.score(a, None, [1.0, 0.0, -2.0]),
        lambda a, b: pnorm.score(a, cuts, np.arange(len(cuts))),
        lambda a, b: pnorm.score(a, rankers.closed(rankers.columns(P, N)), np.arange(6)),
        lambda a, b: pnorm.train(a, b, rankers.quantile_thresholds(a, b, 3), t_max=5)[0],
        lambda a, b: rankers.columns(a, b).evaluate(b) @ np.ones(3),
        lambda a, b: pnorm.score(pnorm.split(a, y, positive=2)[1], None, np.ones(3)),
        lambda a, b: pnorm.kernel.train(a, b, t_max=2)[0].score(b),
        lambda a, b: pnorm.listwise.train(a, y, epochs=2)[0],
    ):
        np.testing.assert_allclose(answer(pos, neg), answer(P, N), rtol=1e-9, atol=1e-9)
    for X, same in zip((pos, neg), before, strict=True):
        assert (X.dtype, X.format) == (same.dtype, same.format)
        for name in ("data", "indices", "indptr", "row", "col"):
            if hasattr(same, name):
                np.testing.assert_array_equal(getattr(X, name), getattr(same, name))


@pytest.mark.parametrize("form", ["coo", "csr", "bsr"])
def test_an_estimator_adds_entries_in_one_place_up_whatever_the_integers(form):
    sklearn = pytest.importorskip("pnorm.sklearn")
    X, dense = twice(form, "array", np.int8, np.random.default_rng(0))
    y = np.arange(30) % 2
    model = sklearn.PNormPush(t_max=5).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), sklearn.PNormPush(t_max=5).fit(dense, y).decision_function(dense)
    )
