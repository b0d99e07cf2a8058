"""Tables of scores against the measures of all rows, over orders of the rows within intervals and over mergers."""

import pickle
from functools import partial

import numpy as np
import pytest
from facts import raises
from hypothesis import given
from hypothesis import strategies as st
from repeats import each_value, examples

from pnorm import metrics
from pnorm._checks import CaseWeights
from pnorm.metrics import ScoreTable, _rank_sums
from pnorm.metrics._by_name import LARGER, SMALLER, named
from pnorm.metrics._merged import tables_of_lists

MEASURES = {
    "r_max": metrics.r_max,
    "positives_at_top": metrics.positives_at_top,
    "auc": metrics.auc,
    "partial_auc": lambda *f, **more: metrics.partial_auc(*f, max_fpr=0.4, min_fpr=0.1, **more),
    "two_way": lambda *f, **more: metrics.partial_auc(*f, max_fpr=0.6, min_tpr=0.3, standardized=True, **more),
    "precision_at": lambda *f, **more: metrics.precision_at(*f, k=0.3, **more),
    "recall_at": lambda *f, **more: metrics.recall_at(*f, k=0.1, **more),
    "enrichment_factor": lambda *f, **more: metrics.enrichment_factor(*f, k=0.25, **more),
    "average_precision": metrics.average_precision,
    "stratified": partial(metrics.average_precision, stratified=True),
    "p_norm_risk": lambda a, b=None, **more: metrics.p_norm_risk(a, b, 4, **more),
    "bedroc": metrics.bedroc,
    "discounted_gain_at_top": lambda *f, **more: metrics.discounted_gain_at_top(*f, k=7, **more),
    "normalized": lambda *f, **more: metrics.discounted_gain_at_top(*f, normalized=True, **more),
}
WEIGHTED = [name for name in MEASURES if name not in ("bedroc", "discounted_gain_at_top", "normalized")]
ARRAYS = ("low", "high", "pos", "neg")


def rows(seed, n_pos=400, n_neg=700, scale=1.0):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(0.7, 1, n_pos), scale * rng.normal(0, 1, n_neg)


def same(a, b):
    """Whether two tables have the same bits."""
    assert (a.size, a.top, a.level, a.whole, a.squares is None) == (b.size, b.top, b.level, b.whole, b.squares is None)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    if a.squares is not None:
        np.testing.assert_array_equal(a.squares, b.squares, strict=True)


def shuffled(table, f, rng, how):
    """The scores of both sides dealt anew among the rows of every interval, which leaves the table as it is."""
    sides = [side.copy() for side in f]
    for low, high in zip(table.low, table.high, strict=True):
        where = [np.flatnonzero((side >= low) & (side <= high)) for side in sides]
        scores = np.concatenate([side[i] for side, i in zip(sides, where, strict=True)])
        if how == "tied":  # of all scores but the ends
            scores = np.concatenate([[low, high], rng.choice(scores, scores.size)])[: scores.size]
        if how == "best" and low < high and all(i.size for i in where):
            scores = np.repeat([high, low], [i.size for i in where])
        scores = {"best": np.sort(scores)[::-1], "worst": np.sort(scores)}.get(how, rng.permutation(scores))
        for side, i, own in zip(sides, where, np.split(scores, [where[0].size]), strict=True):
            side[i] = own
    return sides


# Exact tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
def test_a_table_of_few_scores_is_exact(name):
    rng = np.random.default_rng(0)
    for levels in (2, 9, 10**6):
        f = rng.integers(-levels, levels, 40) / 7, rng.integers(-levels, levels, 60) / 7
        table = ScoreTable.of(*f)
        assert table.exact
        expected = MEASURES[name](*f)
        found = MEASURES[name](table)
        assert float(found) == pytest.approx(expected, rel=1e-14)
        assert found.low == found.high == found
        assert found.confidence == 1.0


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_summed(name):
    rng = np.random.default_rng(1)
    f = rng.integers(0, 9, 40) / 7, rng.integers(0, 9, 60) / 7
    c = rng.exponential(size=40) * (rng.random(40) < 0.8), rng.exponential(size=60)
    table = ScoreTable.of(*f, *c)
    expected = MEASURES[name](*f, pos_weight=c[0], neg_weight=c[1])
    assert float(MEASURES[name](table)) == pytest.approx(expected, rel=1e-13)


def test_labels_and_sides_make_one_table():
    rng = np.random.default_rng(2)
    f, y, c = rng.normal(size=300), rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    for of in (y == 1, 2 * y - 1, y.astype(float)):
        same(ScoreTable.of_labelled(f, of, size=16, top=3), ScoreTable.of(f[y == 1], f[y == 0], size=16, top=3))
    sides = f[y == 1], f[y == 0], c[y == 1], c[y == 0]
    same(ScoreTable.of_labelled(f, y, c, size=16, top=3), ScoreTable.of(*sides, size=16, top=3))
    same(
        ScoreTable.of_labelled(f, y, c, size=16, top=3),
        ScoreTable.of_labelled(f[c > 0], y[c > 0], c[c > 0], size=16, top=3),
    )


def test_many_lists_at_once():
    f_pos, f_neg = np.random.default_rng(3).normal(size=(3, 50)), np.random.default_rng(4).normal(size=(3, 80))
    c = np.arange(50.0)
    tables = tables_of_lists(f_pos, f_neg, c, size=20, top=5)
    for table, *f in zip(tables, f_pos, f_neg, strict=True):
        same(table, ScoreTable.of(*f, c, size=20, top=5))


# Intervals of scores ----------------------------------------------------------------------------------


def test_places_are_few_disjoint_and_exact_at_either_end():
    for scale in (1.0, 1e-300, 1e300, 5e-324):
        f = rows(0, scale=scale) if scale != 5e-324 else [np.rint(1e4 * f) * scale for f in rows(0)]
        scores = np.unique(np.concatenate(f))
        table = ScoreTable.of(*f, size=50, top=20)
        assert table.low.size <= 90
        assert (table.low <= table.high).all()
        assert (table.low[:-1] > table.high[1:]).all()
        np.testing.assert_array_equal(table.high[:20], scores[::-1][:20])
        np.testing.assert_array_equal(table.low[-20:], scores[:20][::-1])
        for i in (*range(20), *range(-20, 0)):
            assert table.low[i] == table.high[i]
        for counts, side in ((table.pos, f[0]), (table.neg, f[1])):
            within = (side >= table.low[:, None]) & (side <= table.high[:, None])
            np.testing.assert_array_equal(counts, within.sum(axis=1))
        assert table.low.size > 60  # a level less has more than 50 intervals


def test_intervals_are_those_of_the_last_binary_digits():
    f = rows(1)
    table = ScoreTable.of(*f, size=60, top=0)

    def cells(level):
        digits = np.concatenate(f).view(np.int64)
        magnitude = (digits & 0x7FFF_FFFF_FFFF_FFFF) >> level
        return np.unique(np.where(digits < 0, -magnitude, magnitude)).size

    assert cells(table.level) == table.low.size <= 60 < cells(table.level - 1)


@each_value()
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_hold_for_every_order_within_intervals(name, weighted):
    if weighted and name not in WEIGHTED:
        return
    rng = np.random.default_rng(5)
    for seed, size, top in ((0, 16, 0), (1, 16, 4), (2, 60, 2)):
        f = rows(seed, 60, 150)
        c = (rng.integers(1, 4, 60) / 3, rng.integers(1, 4, 150) / 3) if weighted else (None, None)
        table = ScoreTable.of(*f, *c, size=size, top=top)
        value, low, high = MEASURES[name](table)
        given = {"pos_weight": c[0], "neg_weight": c[1]} if weighted else {}
        every = [
            MEASURES[name](*shuffled(table, f, rng, how), **given)
            for how in ["best", "worst", *["any"] * 25, *["tied"] * 25]
        ]
        slack = 1e-13 * max(1.0, high)
        assert low - slack <= min(every) <= max(every) <= high + slack
        assert low <= value <= high
        assert not table.exact
        if not weighted:  # and they are attained, those of average precision nearly
            room = 0.01 if name in ("average_precision", "stratified") else 1e-12 * max(1.0, high)
            assert min(every) <= low + room
            assert max(every) >= high - room


def test_a_pair_of_one_interval_counts_one_half():
    f = rows(6, 301, 507)
    table = ScoreTable.of(*f, size=16, top=2)
    assert table.pos[1:-1].max() > 20
    expected = sum(table.neg * (np.cumsum(table.pos) - 0.5 * table.pos)) / 301 / 507
    assert float(metrics.auc(table)) == pytest.approx(expected, rel=1e-14)


def test_the_error_falls_with_the_number_of_intervals():
    f = rows(7, 3000, 20_000)
    widths = []
    for size in (64, 256, 1024):
        table = ScoreTable.of(*f, size=size, top=10)
        found = metrics.auc(table)
        widths.append(found.high - found.low)
        assert abs(found - metrics.auc(*f)) < 0.05 * widths[-1]
        for name in ("average_precision", "p_norm_risk"):
            value, low, high = MEASURES[name](table)
            assert abs(value - MEASURES[name](*f)) < 0.2 * (high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]
    assert widths[2] < 0.005


def test_the_first_rows_are_exact():
    f = rows(8, 300, 3000)
    table = ScoreTable.of(*f, size=16, top=200)
    for of in (
        metrics.positives_at_top,
        metrics.r_max,
        lambda *g: metrics.precision_at(*g, k=200),
        lambda *g: metrics.recall_at(*g, k=17),
        lambda *g: metrics.discounted_gain_at_top(*g, k=150),
        lambda *g: metrics.partial_auc(*g, max_fp=1),
    ):
        found = of(table)
        assert found.low == found.high == pytest.approx(of(*f), rel=1e-14)
        assert of(table.from_below()) == pytest.approx(of(-f[1], -f[0]), rel=1e-14)
    assert not table.exact


def test_read_from_below():
    for seed, top in ((0, 0), (1, 7), (2, 600)):
        f_pos, f_neg = rows(seed)
        f_pos[:9], f_neg[:9] = 0.0, -0.0
        c = np.random.default_rng(seed).integers(0, 3, f_pos.size)
        table = ScoreTable.of(f_pos, f_neg, c, size=40, top=top)
        same(table.from_below(), ScoreTable.of(-f_neg, -f_pos, None, c, size=40, top=top))
        same(table.from_below().from_below(), table)


def test_roc_curve_of_a_table():
    f = rows(9)
    exact, table = metrics.roc_counts(*f), metrics.roc_counts(ScoreTable.of(*f, size=100, top=10))
    assert (table.false_positives[-1], table.true_positives[-1]) == (700, 400)
    depth = table.false_positives + table.true_positives
    near = np.interp(depth, exact.false_positives + exact.true_positives, exact.true_positives)
    assert np.abs(table.true_positives - near).max() < 10


# Merging ----------------------------------------------------------------------------------------------

scores = st.one_of(
    st.integers(-6, 6).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-2, 2),
    st.integers(-40, 40).map(lambda i: 1 + i / 2**40),
)


@given(
    st.lists(st.tuples(scores, st.booleans(), st.integers(0, 4), st.integers(0, 3)), max_size=150),
    st.integers(0, 6),
    st.permutations(range(5)),
    st.booleans(),
)
@examples(30)
def test_mergers_in_any_order_have_the_bits_of_all_rows(drawn, top, order, weighted):
    f, y, part, c = np.array([(*row,) for row in drawn], float).reshape(-1, 4).T
    given = {"size": 16, "top": top}
    weight = c if weighted else None
    expected = ScoreTable.of_labelled(f, y, weight, **given)
    tables = [
        ScoreTable.of_labelled(f[part == i], y[part == i], None if weight is None else c[part == i], **given)
        for i in order
    ]
    merged = tables[0].merge(tables[1]).merge(tables[2].merge(tables[3], tables[4]))
    same(merged, expected)
    same(tables[0].merge(*tables[1:]), expected)
    same(pickle.loads(pickle.dumps(merged)), expected)


def test_tables_of_different_sizes_merge_to_the_smallest():
    f = rows(10)
    whole = ScoreTable.of(*f, size=30, top=5)
    a = ScoreTable.of(f[0], [], size=30, top=50)
    b = ScoreTable.of([], f[1][:300], size=90, top=5)
    c = ScoreTable.of([], f[1][300:], size=900, top=70)
    same(a.merge(b, c), whole)
    same(c.merge(b).merge(a), whole)


def test_a_table_with_weights_and_one_without():
    f = rows(11)
    c = np.random.default_rng(0).exponential(size=400)
    merged = ScoreTable.of(f[0], [], c, size=20).merge(ScoreTable.of([], f[1], size=20))
    same(merged, ScoreTable.of(*f, c, size=20))
    assert not merged.whole
    assert merged.n_neg == 700.0
    assert isinstance(merged.n_neg, float)


# Intervals of confidence ------------------------------------------------------------------------------


@each_value()
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("size", [300, 2**16])
def test_intervals_are_near_those_of_all_rows(name, size):
    f = rows(12, 300, 4000)
    table = ScoreTable.of(*f, size=size, top=100)
    expected = MEASURES[name](*f, confidence=0.9, n_resamples=400)
    found = MEASURES[name](table, confidence=0.9, n_resamples=400)
    certain = MEASURES[name](table)
    assert found.confidence == 0.9
    assert found.low <= certain.low
    assert certain.high <= found.high
    assert float(found) == float(certain)
    room = 0.35 * (expected.high - expected.low) + 1e-12
    assert found.low == pytest.approx(expected.low - (certain - certain.low), abs=room)
    assert found.high == pytest.approx(expected.high + (certain.high - certain), abs=room)


@pytest.mark.parametrize("of", [metrics.precision_at, metrics.recall_at, metrics.enrichment_factor])
@pytest.mark.parametrize("top", [0, 20])
def test_intervals_of_the_first_rows_contain_those_of_every_order(of, top):
    rng = np.random.default_rng(5)
    f = rows(21, 60, 300)
    table = ScoreTable.of(*f, size=16, top=top)
    places = [np.searchsorted(table.high[::-1], side) for side in f]
    least, most = ([ends[::-1][place] for place in places] for ends in (table.low, table.high))
    orders = [f, (most[0], least[1]), (least[0], most[1])]
    orders += [[rng.uniform(*ends) for ends in zip(least, most, strict=True)] for _ in range(3)]
    for k in (1, 15, 40, 200, 359, 360):
        found, certain = of(table, k=k, confidence=0.9), of(table, k=k)
        assert found.low <= certain.low <= found <= certain.high <= found.high
        for order in orders:
            exact = of(*order, k=k, confidence=0.9)
            assert found.low <= exact.low * (1.0 + 1e-6)
            assert exact.high * (1.0 - 1e-6) <= found.high


@pytest.mark.parametrize("name", WEIGHTED)
def test_intervals_with_weights(name):
    f = rows(13, 600, 1500)
    rng = np.random.default_rng(0)
    c = rng.choice([0.25, 4.0], 600), rng.choice([1.5, 2.5], 1500)
    given = {"confidence": 0.9, "n_resamples": 400}
    expected = MEASURES[name](*f, pos_weight=c[0], neg_weight=c[1], **given)
    found = MEASURES[name](ScoreTable.of(*f, *c), **given)
    assert float(found) == pytest.approx(expected, rel=1e-12)
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.35 * width + 1e-12)
    assert found.high == pytest.approx(expected.high, abs=0.35 * width + 1e-12)


def test_a_summary_of_a_table():
    f = rows(14, 300, 4000)
    table = ScoreTable.of(*f, size=200, top=100)
    for more in ({}, {"confidence": 0.9, "n_resamples": 50}):
        exact, found = metrics.summary(*f, k=0.05, **more), metrics.summary(table, k=0.05, **more)
        assert list(found) == list(exact)
        for name, value in found.items():
            assert float(value) == pytest.approx(float(exact[name]), rel=0.02)
    weighted = ScoreTable.of(*f, np.ones(300))
    assert "bedroc" not in metrics.summary(weighted)


# Long lists -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-9, 1e-4, 9e-4, 1.1e-3, 0.3, 20.0, 1e3, 1e7])
def test_early_recognition_of_long_lists_needs_no_array_of_ranks(alpha, monkeypatch):
    f = rows(15, 300, 9000)
    expected = metrics.bedroc(*f, alpha)
    monkeypatch.setattr(_rank_sums, "_LONG", 100)
    assert metrics.bedroc(*f, alpha) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("given", [{}, {"k": 9000}, {"k": 50}, {"k": 4096}, {"normalized": True}])
def test_discounted_gain_of_long_lists_needs_no_array_of_ranks(given, monkeypatch):
    f = rows(16, 300, 9000)
    expected = metrics.discounted_gain_at_top(*f, **given)
    monkeypatch.setattr(_rank_sums, "_LONG", 100)
    assert metrics.discounted_gain_at_top(*f, **given) == pytest.approx(expected, rel=1e-12)


# Errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ScoreTable.of([1.0], [np.nan]), ValueError, "f_neg has nan at position 0"),
        (lambda: ScoreTable.of([[1.0]], [0.0]), ValueError, "f_pos must have shape"),
        (lambda: ScoreTable.of([1.0], [0.0], size=15), ValueError, "size"),
        (lambda: ScoreTable.of([1.0], [0.0], top=-1), ValueError, "top"),
        (lambda: ScoreTable.of([1.0], [0.0], [-1.0]), ValueError, "negative weight"),
        (lambda: ScoreTable.of([1.0], [0.0], None, [1e-200]), ValueError, "neg_weight must be 0 or from 1e-150"),
        (lambda: ScoreTable.of([1.0, 2.0], [0.0], [1e200, 1.0]), ValueError, "got 1e[+]200. Multiply all weights"),
        (lambda: ScoreTable.of_labelled([1.0, 2.0], [1, 2]), ValueError, "y must be 1 for positives"),
        (lambda: ScoreTable.of_labelled([1.0, 2.0], [1]), ValueError, "y must have shape"),
        (lambda: ScoreTable.of([1.0], [0.0]).merge([1.0]), TypeError, "others must be tables of scores"),
        (lambda: metrics.auc(ScoreTable.of([1.0], [])), ValueError, "the table has no negatives"),
        (lambda: metrics.auc(ScoreTable.of([1.0], [2.0], [0.0])), ValueError, "the table has no positives"),
        (lambda: metrics.auc(ScoreTable.of([1.0], [0.0]), [0.0]), TypeError, "pass f_neg=None and no weights"),
        (lambda: metrics.auc(ScoreTable.of([1.0], [0.0]), pos_weight=[1.0]), TypeError, "and no weights"),
        (lambda: metrics.p_norm_risk(ScoreTable.of([1.0], [0.0]), None, 2, 0.5), ValueError, "theta must be 0"),
        (lambda: metrics.bedroc(ScoreTable.of([1.0], [0.0], [1.0])), ValueError, "with weights"),
        (lambda: metrics.discounted_gain_at_top(ScoreTable.of([1.0], [0.0], [1.0])), ValueError, "with weights"),
        (lambda: metrics.auc([1.0]), TypeError, "f_neg is missing"),
        (lambda: metrics.precision_at(ScoreTable.of([1.0], [0.0]), k=3), ValueError, "k must be at most"),
    ],
)
def test_what_is_refused(call, error, message):
    with raises(error, message):
        call()


def test_tables_say_what_they_hold():
    table = ScoreTable.of([3.0, 1.0], [1.0, 0.0])
    assert repr(table) == "<ScoreTable: 2 positives and 2 negatives at 3 places, all exact>"
    assert (table.n_pos, table.n_neg, table.exact) == (2, 2, True)
    coarse = ScoreTable.of(*rows(0), size=20, top=3)
    assert f"{(coarse.low == coarse.high).sum()} of them exact" in repr(coarse)
    assert not coarse.exact
    weighted = ScoreTable.of([3.0], [1.0], [0.5])
    assert repr(weighted) == "<ScoreTable: positives of weight 0.5 and negatives of weight 1.0 at 2 places, all exact>"
    empty = ScoreTable.of([], [])
    assert repr(empty) == "<ScoreTable: 0 positives and 0 negatives at 0 places, all exact>"
    same(empty.merge(table), table)


@pytest.mark.parametrize("name", [*LARGER, *SMALLER])
def test_measures_by_name_take_tables(name):
    f = rows(17)
    table, counted = ScoreTable.of(*f), CaseWeights(None, None, None, None, 1)
    for push in ("top", "bottom"):
        measure, _ = named(name, LARGER | SMALLER, counted, push)
        assert float(measure(table, None)) == pytest.approx(measure(*f), rel=1e-13)


# Partitions -------------------------------------------------------------------------------------------


def test_the_table_of_scores_in_partitions(monkeypatch):
    da, frames = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    import dask
    import pandas

    import pnorm.dask

    monkeypatch.setattr(pnorm.dask._cluster, "FAN_IN", 3)
    rng = np.random.default_rng(18)
    f, y, c = rng.normal(size=900), rng.integers(0, 2, 900), rng.integers(0, 3, 900)
    how = {"size": 50, "top": 20}
    with dask.config.set(scheduler="synchronous"):
        for weight in (None, c):
            expected = ScoreTable.of_labelled(f, y, weight, **how)
            given = () if weight is None else (weight,)
            same(pnorm.dask.score_table(da.from_array(f, chunks=85), y, *given, **how), expected)
            chunked = [da.from_array(x, chunks=200) for x in (y, *given)]
            same(pnorm.dask.score_table(da.from_array(f, chunks=85), *chunked, **how), expected)
            frame = frames.from_pandas(pandas.DataFrame({"f": f, "y": y, "c": c}), npartitions=7)
            columns = [frame[name] for name in ("y", "c")[: 1 + len(given)]]
            same(pnorm.dask.score_table(frame["f"], *columns, **how), expected)
            same(pnorm.dask.score_table(frame["f"], y, *given, **how), expected)
        with raises(TypeError, "f must be a Dask array or Series"):
            pnorm.dask.score_table(f, y)
        with raises(ValueError, "y has 2 partitions, and f has 7"):
            pnorm.dask.score_table(frame["f"], frames.from_pandas(pandas.Series(y), npartitions=2))
        with pytest.raises(ValueError, match="y must have shape"):
            pnorm.dask.score_table(frame["f"], y[1:])
        with raises(ValueError, "y must be 1 for positives"):
            pnorm.dask.score_table(frame["f"], frame["c"])
