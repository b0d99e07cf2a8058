"""Summaries of batches of rows: the weak rankers of all rows, and what is kept of very many values."""

import csv
import dataclasses
import fractions
import functools
import gzip
import pickle
import re
import warnings
from collections import Counter

import awkward
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from repeats import each_value, examples, trials
from test_from_table import FORMS, NEG, POS, H, odd_column, ordered_forms

from pnorm._checks import Coded
from pnorm.rankers import TableWarning, _forms, _sketches, _words, from_table, quantile_thresholds
from pnorm.rankers._sketches import Distinct, Quantiles
from pnorm.rankers._summaries import TableSummary
from pnorm.rankers._words import Words


def batches(X, positive, size):
    """Summaries of batches of so many rows."""
    n = len(positive)
    cut = X.iloc.__getitem__ if hasattr(X, "iloc") else X.__getitem__
    return [TableSummary.of(cut(slice(i, i + size)), positive[i : i + size], i) for i in range(0, n, size)]


def in_line(parts):
    return functools.reduce(TableSummary.merge, parts)


def pairwise(parts):
    while len(parts) > 1:
        ends = [parts[-1]] if len(parts) % 2 else []
        parts = [a.merge(b) for a, b in zip(parts[::2], parts[1::2], strict=False)] + ends
    return parts[0]


def quietly(make, *args, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return make(*args, **how)


def frame_of(table):
    """The columns of an awkward table but for the label, text as in the file."""
    if table.path.suffix == ".xlsx":
        return pd.read_excel(table.path, engine="openpyxl").drop(columns=table.label)
    raw = table.path.read_bytes()
    text = (gzip.decompress(raw) if table.path.suffix == ".gz" else raw).decode("cp1252" if table.notes and "cp1252" in
                                                                                table.notes[0] else "utf-8")  # fmt: skip
    head, *rows = csv.reader(text.splitlines(), delimiter=";" if ";" in text.splitlines()[0] else ",")
    return pd.DataFrame(rows, columns=head).drop(columns=table.label)


@pytest.mark.parametrize("name", ["patients", "machines", "refunds"])
def test_batches_make_the_weak_rankers_of_all_rows(name, tmp_path):
    table = awkward.WRITERS[name](tmp_path)
    X, y = frame_of(table)[:3000], table.y[:3000].copy()
    y[:6:2] = True  # so that the first rows are of both sides
    of_parts = {size: batches(X[:some], y[:some], size) for size, some in ((1, 50), (7, 200), (1000, 3000))}
    for some, parts in zip((50, 200, 3000), of_parts.values(), strict=True):
        of_side = X[:some][y[:some]], X[:some][~y[:some]]
        expected = quietly(from_table, *of_side).to_dict()
        assert quietly(in_line(parts).rankers).to_dict() == expected
        assert quietly(pickle.loads(pickle.dumps(pairwise(parts))).rankers).to_dict() == expected
    how = {"linear": True, "n_cuts": 7, "min_rows": 3, "max_levels": 2}
    assert quietly(in_line(parts).rankers, **how).to_dict() == quietly(from_table, *of_side, **how).to_dict()


def rank_errors(x, q):
    """How far the share of rows up to each of many numbers is from the true one."""
    x = np.sort(x)
    points, counts = q.points()
    assert q.known == counts.sum() == x.size
    at = np.r_[x[:: max(x.size // 5000, 1)], points]
    told = np.r_[0, counts.cumsum()][points.searchsorted(at, "right")]
    return np.abs(told - x.searchsorted(at, "right"))


def merged(x, size):
    parts = [Quantiles.of(x[i : i + size]) for i in range(0, x.size, size)]
    return functools.reduce(Quantiles.merged, parts)


ORDERS = {"random": lambda x: x, "ascending": np.sort, "descending": lambda x: -np.sort(-x),
          "in turn": lambda x: np.sort(x).reshape(2, -1).T.ravel()}  # fmt: skip


@each_value()
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ties", [False, True])
def test_points_keep_the_shares_of_the_rows(order, ties, monkeypatch):
    monkeypatch.setattr(_sketches, "EXACT", 2**9)
    monkeypatch.setattr(_sketches, "POINTS", 2**7)
    x = np.random.default_rng(3).normal(size=2**15)
    if ties:
        x[::2] = 0.0
        x[1::8] = np.round(x[1::8])
    x = ORDERS[order](x)
    for size in (60, 1000, 20_000):
        q = merged(x, size)
        levels = 1 + np.log2(min(-(-x.size // size), x.size / 2**9))
        assert not q.exact
        worst = rank_errors(x, q).max()
        assert 0 < worst <= q.error <= levels * x.size / (2 * 2**7)
        points, counts = q.points()
        assert points[0] == x.min()
        assert points[-1] == x.max()
        assert points.size <= 2**9 + (levels + 1) * (2 * 2**7 + 2)
        if ties and order == "random":
            assert counts[points == 0.0] == np.count_nonzero(x == 0.0)


def test_the_share_is_known_to_one_row_in_two_thousand():
    levels = 1 + np.log2(10_000)
    assert levels / (2 * _sketches.POINTS) < 1 / 2000


@examples(6)
@given(
    st.lists(
        st.lists(st.floats(-1e4, 1e4, width=16) | st.integers(-5, 5).map(float), max_size=40), min_size=1, max_size=40
    )
)
def test_the_error_of_points_is_below_what_they_say(parts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sketches, "EXACT", 16)
        patch.setattr(_sketches, "POINTS", 8)
        q = functools.reduce(Quantiles.merged, [Quantiles.of(np.array(part, float)) for part in parts])
    x = np.concatenate([np.array(part, float) for part in parts])
    if x.size:
        assert rank_errors(x, q).max() <= q.error


@pytest.mark.parametrize("n", [100, 30_000, 400_000])
def test_different_values_are_counted(n):
    x = np.random.default_rng(n).permutation(n).astype(float)
    found = Distinct()
    for part in np.array_split(x, 5):
        found.add(_sketches.hashes_of_numbers(part))
        found.add(_sketches.hashes_of_numbers(part[:9]))
    assert found.count() == pytest.approx(n, rel=0.03 if n > 2**15 else 0.0)


def test_columns_of_many_values_are_cut_nearly_as_in_memory(monkeypatch):
    draw = np.random.default_rng(5)
    n = 200_000
    X = {"x": draw.normal(size=n), "n": draw.permutation(n).astype(float), "zero": draw.exponential(size=n)}
    X["zero"][::2] = 0.0
    y = draw.random(n) < 0.4
    parts = [
        TableSummary.of({name: x[i : i + 30_000] for name, x in X.items()}, y[i : i + 30_000], i)
        for i in range(0, n, 30_000)
    ]
    H = quietly(in_line(parts).rankers, n_cuts=99)
    exact = quietly(from_table, *[{name: x[side] for name, x in X.items()} for side in (y, ~y)], n_cuts=99)
    assert [of.note for of in H.plan] == [of.note for of in exact.plan] == ["", H.plan[1].note, ""]
    assert H.plan[1].is_id
    assert H.plan[0].values == pytest.approx(n, rel=0.03)
    for name in ("x", "zero"):
        cuts, others = [
            np.array([float(cut) for of, cut in (s.split(" > ") for s in K.names) if of == name]) for K in (H, exact)
        ]
        assert cuts.size == others.size
        shares = [np.sort(X[name]).searchsorted(at, "right") / n for at in (cuts, others)]
        assert np.abs(shares[0] - shares[1]).max() < 1 / 2000


@pytest.mark.parametrize("how", [{}, {"linear": True, "n_cuts": 9, "missing": "own", "monotone": {1: -1}}])
def test_thresholds_are_those_of_all_rows(how):
    draw = np.random.default_rng(8)
    X = np.round(draw.normal(size=(3000, 4)), 2).astype(np.float32)
    X[:, 2] = 7.0
    if "missing" in how:
        X[::9, 3] = np.nan
    y = draw.random(3000) < 0.3
    found = in_line(batches(X, y, 700)).thresholds(**how)
    assert found.to_dict() == quantile_thresholds(X[y], X[~y], **how).to_dict()


X = {"a": [1.0, 2.0, 3.0, 4.0], "b": ["u", "v", "u", None]}
Y = np.array([True, False, True, False])


def test_columns_go_by_name():
    swapped = {"b": X["b"], "a": X["a"]}
    whole, again = TableSummary.of(X, Y), TableSummary.of(swapped, Y, 4)
    assert whole.merge(again).columns == ("a", "b")
    assert (
        whole.merge(again).rankers(min_rows=1).to_dict()
        == whole.merge(TableSummary.of(X, Y)).rankers(min_rows=1).to_dict()
    )
    for other, message in (
        ({"a": X["a"]}, "a batch of rows has not the column 'b', which the batches before it have; all batches need"),
        ({**X, "c": X["a"]}, "a batch of rows has the column 'c', which the batches before it have not; all batches"),
        (np.ones((4, 3)), "a batch of rows has 3 columns, and the ones before it have 2; all batches need the same"),
    ):
        with pytest.raises(ValueError, match=message):
            whole.merge(TableSummary.of(other, Y))


@pytest.mark.parametrize(
    "empty", [[], {"a": [], "b": []}, pd.DataFrame({"b": [], "a": []}), pd.DataFrame(), np.empty((0, 2))]
)
def test_batches_without_rows_change_nothing(empty):
    whole, none = TableSummary.of(X, Y), TableSummary.of(empty, np.empty(0, bool))
    expected = whole.rankers(min_rows=1).to_dict()
    assert whole.merge(none).rankers(min_rows=1).to_dict() == expected
    assert (none.n_pos, none.n_neg) == (0, 0)
    if len(none.columns) != 2 or not isinstance(empty, pd.DataFrame):
        assert none.merge(whole).rankers(min_rows=1).to_dict() == expected
    with pytest.raises(ValueError, match="rows has no positive rows; both positive and negative rows are needed"):
        none.rankers()


def test_rows_in_messages_are_those_of_all_batches():
    def summary(values, **more):
        parts = [TableSummary.of({"x": values[i : i + 3], **more}, Y[[0, 1, 0]], i) for i in range(0, len(values), 3)]
        return in_line(parts)

    numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    with pytest.raises(ValueError, match=r"^rows has inf at row 4, column 0 \('x'\), which is to be a finite number"):
        summary([1.0, 2.0, 3.0, 4.0, np.inf, 6.0]).rankers()
    with pytest.raises(ValueError, match=r"^rows has '1' at row 0, column 0 \('x'\), which is to be a date"):
        summary(["1", "2", "3", "four", "five", "six"]).rankers(kinds={"x": "date"})
    with pytest.warns(TableWarning, match=r"values that do not read: x\.\n"):
        G = summary(["1", "2", "3", "4", "5", "six"]).rankers(kinds={"x": "number"})
    assert "1 value does not read as a number and counts as missing: 'six' (row 5 of rows" in G.plan[0].note
    with pytest.raises(ValueError, match=r"^rows has 3.0 at column 0 \('x'\), which is to be a truth value"):
        summary(numbers).rankers(kinds={"x": "boolean"})
    with pytest.raises(ValueError, match=r"^rows has nan at row 3, column 0 \('x'\); every value must be finite"):
        summary([1.0, 2.0, 3.0, np.nan, 5.0, 6.0]).thresholds()
    with pytest.raises(ValueError, match=r"^rows has inf at row 0, column 0 \('x'\); every value must be finite"):
        summary([np.inf, 2.0, 3.0, np.nan, 5.0, 6.0]).thresholds(missing="own")
    with pytest.raises(
        TypeError, match=r"^rows has 'one' \(str\) at row 1, column 0 \('x'\); every value must be a real"
    ):
        summary([1.0, "one", 3.0]).thresholds()
    with pytest.raises(
        TypeError, match=r"^rows has a date in column 0 \('x'\); every value must be a real number: pass"
    ):
        summary(np.array(["2020-01-01"] * 3, "M8[us]")).thresholds()
    with pytest.raises(ValueError, match="positive must have one truth value for each of the 4 rows of rows; got sha"):
        TableSummary.of(X, Y[:3])


def few_are_kept(patch, exact=24, points=64):
    for module in (_sketches, _words):
        patch.setattr(module, "EXACT", exact)
    patch.setattr(_sketches, "POINTS", points)


def texts(n, draw):
    """Columns of text of many different words, by what they become."""
    day = np.datetime64("2021-03-01") + draw.integers(0, 900, n).astype("m8[D]")
    clock = draw.integers(0, 86400, n)
    times = [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in clock.tolist()]
    pay = np.exp(draw.normal(7, 1, n))
    often = draw.choice([f"shop {k}" for k in range(8)], n)
    rare = draw.random(n) < 0.2
    return {
        "plain": [f"{x:.2f}" for x in pay],
        "whole": [f"{x:.0f}" for x in pay],
        "commas": [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in pay],
        "plain commas": [f"{x:.2f}".replace(".", ",") for x in pay],
        "euros": [f"{x:,.1f} €" for x in pay],
        "percent": [f"{x:.1f}%" for x in pay],
        "thousands": [f"{1000 + x:,.0f}" for x in pay],
        "dollars": [f"${1000 + x:,.0f}" for x in pay],
        "whole euros": [f"{x:.0f} €" for x in pay],
        "two currencies": [f"{'$' if k % 2 else '€'}{x:.1f}" for k, x in enumerate(pay)],
        "codes": [f"0{x:.0f}" for x in pay],
        "with a word": ["many" if k == n // 2 else f"{x:.2f} kg"[: 3 if k % 5 else 99] for k, x in enumerate(pay)],
        "days": [f"{d}" for d in day],
        "moments": [f"{d} {t}" for d, t in zip(day, times, strict=True)],
        "day first": [f"{d:%d/%m/%Y}" for d in day.tolist()],
        "in doubt": [f"{d.day % 12 + 1}/{d.month}/{d.year}" for d in day.tolist()],
        "with dots": [f"{d.day % 12 + 1}.{d.month}.{d.year}" for d in day.tolist()],
        "named": [f"{d:%d %b %Y}" for d in day.tolist()],
        "times": times,
        "spans": [f"{d} days {t}" for d, t in zip(draw.integers(0, 9, n).tolist(), times, strict=True)],
        "id": [f"TX{k:06d}" for k in draw.permutation(n)],
        "note": [f"seen near gate {k} by {k % 7} guards" for k in draw.permutation(n)],
        "shop": [f"corner {k}" if of else str(name) for k, (of, name) in enumerate(zip(rare, often, strict=True))],
    }


@pytest.mark.parametrize(
    "name",
    ["whole", "commas", "percent", "with a word", "moments", "in doubt", "spans", "id", "note", "shop"],
)
def test_very_many_words_become_what_all_do(name, monkeypatch):
    n = 1200
    draw = np.random.default_rng(2)
    X = {name: np.array(texts(n, draw)[name], object)}
    y = draw.random(n) < 0.5
    X[name][::50] = ""
    whole, why = None, ""
    try:
        whole = quietly(from_table, {name: X[name][y]}, {name: X[name][~y]}, n_cuts=20)
    except ValueError as error:
        why = str(error)
    few_are_kept(monkeypatch)
    for size in (n, 200, 31):
        parts = [TableSummary.of({name: X[name][i : i + size]}, y[i : i + size], i) for i in range(0, n, size)]
        for summary in (in_line(parts), pairwise(parts)):
            if whole is None:
                with pytest.raises(ValueError, match=re.escape(why.partition(" (")[2].partition(";")[0].rstrip(")"))):
                    quietly(summary.rankers)
                continue
            H = quietly(summary.rankers, n_cuts=20)
            (of, expected), ((source,), (other,)) = (H.plan + whole.plan), (H._sources, whole._sources)
            assert source.reading == dataclasses.replace(other.reading, levels=source.reading.levels)
            assert (of.kind, of.missing) == (expected.kind, expected.missing)
            assert of.values == pytest.approx(expected.values, abs=2)
            if of.kind != "category":
                assert of.note == expected.note
                for part, exact in zip(source.parts, other.parts, strict=True):
                    assert part.of == exact.of
                    if part.of in ("weekday", "month", "hour"):
                        assert part.rankers.names == exact.rankers.names
                    else:
                        assert abs(len(part.rankers) - len(exact.rankers)) <= 1
                continue
            assert of.note.rpartition("; ")[2] == expected.note.rpartition("; ")[2]
            if name == "shop":
                assert source.reading == other.reading


def test_values_that_do_not_read_as_asked_are_named_however_many_there_are(monkeypatch):
    few_are_kept(monkeypatch)
    n = 600
    words = [f"{k}.5" for k in range(n)]
    y = np.arange(n) % 2 == 0
    for column, kind, message in (
        (
            [*words[:299], *["soon"] * 301],
            "number",
            r"^rows has 'soon' at row \d+, column 0 \('x'\), which is to be a num",
        ),
        (words, "date", r"^rows has '0.5' at row 0, column 0 \('x'\), which is to be a date"),
        (words, "boolean", r"^rows has '0.5' at row 0, column 0 \('x'\), which is to be a truth value"),
        (words, ["0.5", "1.5"], r"^rows has '2.5' at row 2, column 0 \('x'\), which is to be one of the ordered"),
        (words, "decimal comma", r"^rows has '0.5' at row 0, column 0 \('x'\), which is to be a number written with"),
    ):
        parts = [TableSummary.of({"x": column[i : i + 100]}, y[i : i + 100], i) for i in range(0, n, 100)]
        with pytest.raises(ValueError, match=message):
            in_line(parts).rankers(kinds={"x": kind})


def test_levels_that_are_frequent_are_kept_of_very_many(monkeypatch):
    few_are_kept(monkeypatch, exact=64)
    draw = np.random.default_rng(4)
    n = 20_000
    words = (
        np.where(draw.random(n) < 0.5, draw.integers(0, 8, n), draw.integers(0, 10**6, n)).astype(str).astype(object)
    )
    words = np.array([f"user {word}" for word in words], object)
    y = draw.random(n) < 0.5
    parts = [TableSummary.of({"x": words[i : i + 500]}, y[i : i + 500], i) for i in range(0, n, 500)]
    for summary in (in_line(parts), pairwise(parts)):
        kept = summary._sides[0][0].words
        exact = {word: np.count_nonzero(words[y] == word) for word in kept.values}
        lost = np.array([exact[word] for word in kept.values]) - kept.counts
        assert lost.min() >= 0
        assert lost.max() <= kept.lost <= y.sum() / 64
        H = quietly(summary.rankers, max_levels=8)
        assert H.names == (*[f"x = user {k}" for k in range(8)], "x = (rare)")
        different = np.unique(words).size
        assert H.plan[0].values == pytest.approx(different, rel=0.03)
        rare = f"{H.plan[0].values - 8:,} rare values are the level (rare)"
        told = r"(; [\d,]+ of 20,000 rows have rare values, which are one level)?"
        assert re.fullmatch(re.escape(rare) + told, H.plan[0].note)


@pytest.mark.parametrize("make", [from_table, quantile_thresholds])
def test_rows_on_a_cluster_are_sent_to_their_own_function(make):
    frame = pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame({"x": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(TypeError, match=r"^pos is a Dask DataFrame: .*, pnorm\.dask\.code_rows makes weak rankers"):
        make(frame, frame)


@pytest.mark.parametrize("seed", trials(20))
def test_any_batches_make_what_all_rows_make(seed):
    draw = np.random.default_rng(seed)
    n, size = draw.integers(6, 60), int(draw.integers(1, 20))
    X = {f"c{k}": odd_column(draw, n) for k in range(3)}
    of_all = [value for column in X.values() for value in column]
    if any(isinstance(value, fractions.Fraction) or (type(value) is int and value > 2**53) for value in of_all):
        return  # as numbers these are floats, and as levels they are not
    y = draw.random(n) < 0.5
    y[:2] = True, False
    parts = [
        TableSummary.of({name: x[i : i + size] for name, x in X.items()}, y[i : i + size], i) for i in range(0, n, size)
    ]
    sides = [{name: [x[i] for i in np.flatnonzero(side)] for name, x in X.items()} for side in (y, ~y)]
    try:
        expected = quietly(from_table, *sides, min_rows=2)
    except (ValueError, TypeError) as error:
        with pytest.raises(type(error)):
            quietly(in_line(parts).rankers, min_rows=2)
    else:
        for summary in (in_line(parts), pairwise(parts)):
            assert quietly(summary.rankers, min_rows=2).to_dict()["sources"] == expected.to_dict()["sources"]


def sizes_of(n, size):
    return [size] * (n // size) + [n % size] * (n % size > 0)


@pytest.mark.parametrize("form", FORMS)
def test_batches_come_in_any_container(form):
    parts, start = [], 0
    for size in sizes_of(len(POS["age"]), 25):  # one half of each batch is positive
        columns = {name: POS[name][start : start + size] + NEG[name][start : start + size] for name in POS}
        parts.append(TableSummary.of(FORMS[form](columns), np.repeat([True, False], size), 2 * start))
        start += size
    for summary in (in_line(parts), pairwise(parts)):
        found = summary.rankers()
        assert found.names == H.names
        assert found.plan == H.plan


def test_batches_of_several_types_are_one_column():
    columns = [
        {"x": [1, 2], "flag": [True, False], "city": ["Rome", "Oslo"], "note": [None, None]},
        {"x": [2.5, None], "flag": [None, True], "city": pd.Categorical(["Oslo", "Ulm"]), "note": ["a", "b"]},
        {
            "x": np.array([3, 4], np.int8),
            "flag": [False, True],
            "city": pd.Categorical(["Ulm", None]),
            "note": ["a", None],
        },
    ]
    parts = [TableSummary.of(pd.DataFrame(part), Y[:2], 2 * k) for k, part in enumerate(columns)]
    whole = {
        "x": [1, 2, 2.5, None, 3, 4],
        "flag": [True, False, None, True, False, True],
        "city": ["Rome", "Oslo", "Oslo", "Ulm", "Ulm", None],
        "note": [None, None, "a", "b", "a", None],
    }
    expected = quietly(from_table, *[{name: x[k::2] for name, x in whole.items()} for k in (0, 1)], min_rows=1)
    for summary in (in_line(parts), pairwise(parts)):
        assert summary.rankers(min_rows=1).to_dict() == expected.to_dict()


def test_ordered_levels_of_all_batches_are_the_same_or_none():
    values, order = ["low", "mid", None, "top", "low", "mid", "high"], ["low", "mid", "high", "top"]
    y = np.arange(7) % 2 == 0
    for name, X in ordered_forms(values, order).items():
        other = ordered_forms(values, order[::-1])[name]
        summary = TableSummary.of(X, y)
        assert summary.merge(TableSummary.of(X, y)).rankers().names == from_table(X, X).names
        assert summary.merge(TableSummary.of(other, y)).rankers(min_rows=1).plan[0].kind == "category"


def test_dates_and_text_in_one_column_are_left_out():
    days = np.array(["2020-01-01", "2020-01-02"], "M8[s]")
    summary = TableSummary.of({"x": days, "n": [1, 2]}, Y[:2]).merge(
        TableSummary.of({"x": ["a", "b"], "n": [1, 3]}, Y[:2])
    )
    H = quietly(summary.rankers)
    assert (H.plan[0].kind, H.plan[0].note) == ("left out", "values of type date and text cannot be read")
    mixed = TableSummary.of({"x": days}, Y[:2]).merge(TableSummary.of({"x": ["2020-01-03", "2020-02-02"]}, Y[:2]))
    assert mixed.rankers(kinds={"x": "date"}).plan[0].kind == "date"


def test_numbers_that_are_too_many_for_levels_are_left_out(monkeypatch):
    few_are_kept(monkeypatch)
    x = np.arange(300.0) / 7.0
    summary = TableSummary.of({"x": x, "n": x % 2}, x % 1 < 0.5)
    H = quietly(summary.rankers, kinds={"x": "category"}, n_cuts=9)
    assert H.plan[0].note == "more than 65,536 different values, most of them numbers"


def test_the_area_under_the_curve_is_of_all_rows():
    draw = np.random.default_rng(11)
    x = np.round(draw.normal(size=60_000), 3)
    x[::10] = np.nan
    y = np.arange(x.size) < 25_000
    x[y] += 3.4
    whole = quietly(from_table, {"x": x[y]}, {"x": x[~y]})
    pos, neg = x[y][~np.isnan(x[y])], x[~y][~np.isnan(x[~y])]
    below = np.sort(neg).searchsorted(pos).mean() + np.sort(neg).searchsorted(pos, "right").mean()
    assert whole.plan[0].note == f"almost separates the labels alone (AUC {below / (2 * neg.size):.3f})"
    summary = pairwise([TableSummary.of({"x": x[i : i + 7000]}, y[i : i + 7000]) for i in range(0, x.size, 7000)])
    assert quietly(summary.rankers).to_dict() == whole.to_dict()


def test_long_texts_take_bounded_memory(monkeypatch):
    monkeypatch.setattr(_words, "CHARACTERS", 5000)
    monkeypatch.setattr(_words, "_LENGTH", 100)
    n = 300
    notes = [f"case {k} was seen by the guards " + "and again " * (k % 50) for k in range(n)]
    y = np.arange(n) % 3 == 0
    columns = {"note": notes, "x": np.arange(n) % 7}
    parts = [
        TableSummary.of({name: x[i : i + 60] for name, x in columns.items()}, y[i : i + 60], i) for i in range(0, n, 60)
    ]
    for summary in (in_line(parts), pairwise(parts)):
        words = summary._sides[0][0].words
        assert sum(map(len, words.values)) <= 5000
        assert max(len(word) for word, _ in words.some) <= 100
        plan = quietly(summary.rankers).plan[0]
        assert (plan.kind, plan.values, plan.note) == ("left out", n, "free text: nearly all values differ")


def in_batches(column, size, y):
    return in_line([TableSummary.of({"x": column[i : i + size]}, y[i : i + size], i) for i in range(0, len(y), size)])


def test_forms_that_are_asked_for_are_those_of_all_words(monkeypatch):
    few_are_kept(monkeypatch)
    n = 400
    y = np.arange(n) % 2 == 0
    words = [f"{1 + k % 9},{k:03d} kg"[:5] + " $" * (k % 2) for k in range(n)]
    for kind in ("decimal point", "decimal comma", "number"):
        whole = from_table({"x": words[::2]}, {"x": words[1::2]}, kinds={"x": kind})
        H = in_batches(words, 50, y).rankers(kinds={"x": kind})
        assert H._sources[0].reading == whole._sources[0].reading
    digits = [f"2020{1 + k % 12:02d}{1 + k % 28:02d} {k // 60:02d}:{k % 60:02d}" for k in range(n)]
    told = r"digits in a form that does not read as numbers, such as '2020.*': nearly all values differ"
    with pytest.raises(ValueError, match=told):  # eight digits are no date by themselves
        in_batches(digits, 67, y).rankers()
    assert in_batches(digits, 67, y).rankers(kinds={"x": "date"}).plan[0].kind == "date"


@pytest.mark.parametrize("kind", [None, "number", "decimal point", "decimal comma"])
@pytest.mark.parametrize(
    ("is_comma", "is_unclear", "is_plain"),
    [
        (lambda k: k % 10 == 3, lambda k: False, False),
        (lambda k: k % 10 == 3, lambda k: k % 40 == 1, False),
        (lambda k: k % 10 == 3, lambda k: k % 5 == 1, False),
        (lambda k: k >= 200, lambda k: k % 40 == 1, False),  # each batch has one mark
        (lambda k: k >= 200, lambda k: k % 40 == 1, True),  # and half of them are plain numbers
    ],
)
def test_numbers_with_either_mark_in_batches_are_those_of_all_words(monkeypatch, is_comma, is_unclear, is_plain, kind):
    few_are_kept(monkeypatch, points=4096)
    words = []
    for k in range(400):
        x = 2.0 + 37.0 * k + k % 7 / 100 + 0.05
        if is_unclear(k):
            words.append(f"{1 + k}.{k + 100}" if is_plain else f"€{1 + k % 9},{100 + k}")
        elif is_comma(k):
            words.append(f"{x:,.2f} €".translate(str.maketrans(".,", ",.")))
        else:
            words.append(f"{x:.2f}" if is_plain else f"€{x:,.2f}")
    y = np.arange(400) % 3 == 0
    kinds = {"x": kind} if kind else {}
    table = {"x": words, "n": [*range(20)] * 20}
    pos, neg = [
        {name: [v for v, of in zip(x, y, strict=True) if of == side] for name, x in table.items()} for side in (1, 0)
    ]
    parts = [
        TableSummary.of({name: x[i : i + 50] for name, x in table.items()}, y[i : i + 50], i) for i in range(0, 400, 50)
    ]
    whole = quietly(from_table, pos, neg, kinds=kinds)
    for summary in (in_line(parts), pairwise(parts)):
        H = quietly(summary.rankers, kinds=kinds)
        assert H.plan[0].kind == whole.plan[0].kind
        assert H.plan[0].missing == whole.plan[0].missing
        assert ("may mean two numbers" in H.plan[0].note) == ("may mean two numbers" in whole.plan[0].note)
        assert len(H._sources) == len(whole._sources)
        assert [of.reading.form for of in H._sources] == [of.reading.form for of in whole._sources]
        if len(H._sources) == 2:
            of_x = [name for name in whole.names if name.startswith("x")]
            assert [name for name in H.names if name.startswith("x")] == of_x


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("late", ["87", "1234", "1{}5", "0{}250"])
@pytest.mark.parametrize("exact", [64, 4096])
def test_marks_between_thousands_in_batches_are_those_of_all_words(monkeypatch, mark, late, exact):
    few_are_kept(monkeypatch, points=4096)
    monkeypatch.setattr(_sketches, "EXACT", exact)
    monkeypatch.setattr("pnorm.rankers._words.EXACT", exact)
    x = np.random.default_rng(0).permutation(np.geomspace(2, 900_000, 400).astype(int))
    words = [*[f"{value:,}".replace(",", mark) for value in x.tolist()[:-1]], late.format(mark)]
    y = np.arange(400) % 3 == 0
    whole = quietly(from_table, *[{"x": [v for v, of in zip(words, y, strict=True) if of == side]} for side in (1, 0)])
    assert ("is read as" in whole.plan[0].note) == (late == "87")
    parts = [TableSummary.of({"x": words[i : i + 50]}, y[i : i + 50], i) for i in range(0, 400, 50)]
    for summary in (in_line(parts), pairwise(parts)):
        H = quietly(summary.rankers)
        assert H.plan[0].kind == whole.plan[0].kind
        assert [of.reading.form for of in H._sources] == [of.reading.form for of in whole._sources]


def test_a_late_word_among_numbers_is_named(monkeypatch):
    few_are_kept(monkeypatch)
    monkeypatch.setattr(_forms, "SOME", 20)
    words = [f"{k % 90}.{k}" for k in range(400)] + ["soon", "later", "never"] * 10
    with pytest.raises(ValueError, match="probably a number, but 30 of the 430 values do not read as one: 'soon' "):
        in_batches(words, 43, np.arange(430) % 2 == 0).rankers()


def test_batches_of_two_currencies_are_no_numbers(monkeypatch):
    few_are_kept(monkeypatch)
    words = [f"{'$' if k < 200 else '€'}{k}.5" for k in range(400)]
    with pytest.raises(ValueError, match=r"^rows has '\$0.5' at row 0, column 0 \('x'\), which is to be a number"):
        in_batches(words, 50, np.arange(400) % 2 == 0).rankers(kinds={"x": "number"})


def test_values_of_other_types_are_left_out():
    column = [[1], [2], None, [3], [4], [5]]
    y = np.arange(6) % 2 == 0
    with pytest.raises(ValueError, match=r"no column of rows can be used \(x: values of type list cannot be read\)"):
        in_batches(column, 2, y).rankers()
    with pytest.raises(ValueError, match=r"^rows has \[1\] at row 0, column 0 \('x'\), which is to be a number"):
        in_batches(column, 2, y).rankers(kinds={"x": "number"})
    with pytest.raises(
        TypeError, match=r"^rows has \[1\] \(list\) at row 0, column 0 \('x'\); every value must be a real"
    ):
        in_batches(column, 2, y).thresholds()


def test_a_column_has_no_more_different_values_than_rows(monkeypatch):
    monkeypatch.setattr(_sketches, "EXACT", 100)
    monkeypatch.setattr(_sketches.Distinct, "count", lambda self: 10**6)  # an estimate may be too large
    x = np.random.default_rng(0).normal(size=900)
    found = in_line([TableSummary.of({"x": x[i : i + 300]}, np.arange(300) % 2 == 0, i) for i in (0, 300, 600)])
    assert found.rankers().plan[0].values == 900


def test_counts_of_words_are_those_of_misra_and_gries(monkeypatch):
    few_are_kept(monkeypatch, exact=4)
    values = [*"aaabbbcccddd" * 3, *map(str, range(60))]
    kept = Words()
    for row, value in enumerate(values):
        kept = kept.merged(Words.of(Coded.of([value]), np.array([row])))
        true = Counter(values[: row + 1])
        assert kept.lost <= (row + 1) / 4
        assert all(0 <= true[word] - n <= kept.lost for word, n in zip(kept.values, kept.counts, strict=True))
        assert all(true[word] <= kept.lost for word in true.keys() - set(kept.values))


def test_batches_with_percent_and_without_are_no_numbers(monkeypatch):
    words = [f"{k}.5 %" for k in range(100)] + [f"{k}.25" for k in range(100)]
    y = np.arange(200) % 2 == 0
    for order in (words, words[::-1]):
        whole = in_batches(order, 200, y).read_as()[0]
        with monkeypatch.context() as patch:
            few_are_kept(patch)
            assert in_batches(order, 50, y).read_as()[0].reading == whole.reading
