"""Weak rankers of mixed tables: every kind of column in every container, and what is left out or told."""

import copy
import datetime
import itertools
import json
import math
import pickle
import re
import traceback
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import partitions
import pyarrow as pa
import pytest
import scipy.sparse
from facts import raises, tells, warns
from repeats import trials

import pnorm
from pnorm import _categories, _checks
from pnorm._command import plan
from pnorm.rankers import TableWarning, UnknownLevelWarning, _numbers, _readings, _text, _times, from_table
from pnorm.rankers._forms import Form
from pnorm.rankers._notes import LEFT_OUT
from pnorm.rankers._readings import Where

N = 160
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def table(n, seed, shift=0.0):
    """A table with a column of every kind, as plain Python has them."""
    draw = np.random.default_rng(seed)

    def holes(values, share=0.1):
        return [None if hole else value for value, hole in zip(values, draw.random(n) < share, strict=True)]

    start = datetime.datetime(2020, 1, 1)
    hours = draw.integers(0, 700 * 24, n).tolist()
    return {
        "age": draw.integers(18, 60, n).tolist(),
        "pay": holes((np.round(draw.normal(10 + shift, 2, n), 3)).tolist()),
        "smoker": (draw.random(n) < 0.4).tolist(),
        "member": holes((draw.random(n) < 0.4).tolist()),
        "city": holes(
            draw.choice(["Rome", "Oslo", "São Paulo", "Ulm", "Bern"], n, p=[0.5, 0.3, 0.16, 0.02, 0.02]).tolist()
        ),
        "when": holes([start + datetime.timedelta(hours=h) for h in hours]),
        "day": [(start + datetime.timedelta(hours=h)).date() for h in hours],
        "wait": holes([datetime.timedelta(minutes=15 * h) for h in hours]),
        "at": holes([datetime.time(h % 24, 30) for h in hours]),
    }


POS, NEG = table(N, 0, 1.0), table(N, 1)


def made(pos, neg, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        return from_table(pos, neg, **how)


def quietly(pos, neg, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return from_table(pos, neg, **how)


def told(pos, neg, **how):
    with pytest.warns(TableWarning) as caught:
        H = from_table(pos, neg, **how)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    return H, str(caught[0].message)


def said_if_any(pos, neg, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        H = from_table(pos, neg, **how)
    return H, "\n".join([str(of.message) for of in caught])


H = made(POS, NEG)


def missing(value):
    return value is None or value != value


def literal(name, row, levels):
    """The output of a weak ranker on a row, by its name."""
    if name.endswith(" is missing"):
        return missing(row[name.removesuffix(" is missing")])
    if " = " in name:
        of, level = name.split(" = ")
        column, _, what = of.partition(" (")
        value = row[column]
        if what == "weekday)":
            return not missing(value) and DAYS[value.weekday()] == level
        if what == "month)":
            return not missing(value) and MONTHS[value.month - 1] == level
        return not missing(value) and (value if value in levels[column] else "(rare)") == level
    if " > " not in name:
        return row[name] is True
    of, cut = name.split(" > ")
    column, _, what = of.partition(" (")
    value = row[column]
    if missing(value):
        return False
    if what == "hour)":
        return value.hour > float(cut)
    if isinstance(value, datetime.timedelta):
        return value / datetime.timedelta(days=1) > float(cut)
    if isinstance(value, datetime.time):
        return value.hour + value.minute / 60 > float(cut)
    if isinstance(value, datetime.datetime):
        return value > datetime.datetime.fromisoformat(cut)
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time()) > datetime.datetime.fromisoformat(cut)
    return value > float(cut)


def expected(names, columns):
    levels = {}
    for name in names:
        if " = " in name:
            levels.setdefault(*name.split(" = ")[:1], set()).add(name.split(" = ")[1])
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return np.array([[literal(name, row, levels) for name in names] for row in rows], float)


def as_text(columns):
    """What a file has."""
    return {name: ["" if x is None else str(x) for x in values] for name, values in columns.items()}


def by_polars(columns, **more):
    return pytest.importorskip("polars").DataFrame(columns, strict=False, **more)


def categorical(columns):
    frame = pd.DataFrame(columns)
    return frame.astype({"city": "category", "smoker": "category"})


FORMS = {
    "lists": lambda columns: columns,
    "tuples": lambda columns: {name: tuple(values) for name, values in columns.items()},
    "arrays": lambda columns: {name: np.array(values) for name, values in columns.items()},
    "pandas": pd.DataFrame,
    "pandas, categorical": categorical,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, Arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, objects": lambda columns: pd.DataFrame({name: pd.Series(x, dtype=object) for name, x in columns.items()}),
    "polars": by_polars,
    "Arrow": pa.table,
    "Arrow, in parts": lambda columns: pa.concat_tables([pa.table(columns)[:7], pa.table(columns)[7:]]),
    "Arrow, dictionary": lambda columns: pa.table({**columns, "city": pa.array(columns["city"]).dictionary_encode()}),
    "text": as_text,
    "pandas, text": lambda columns: pd.DataFrame(as_text(columns)),
    "polars, text": lambda columns: by_polars(as_text(columns)),
    "Arrow, text": lambda columns: pa.table(as_text(columns)),
}


# Every kind, from every container -----------------------------------------------------------------


def test_outputs_are_what_the_names_say():
    both = {name: POS[name] + NEG[name] for name in POS}
    wanted = expected(H.names, both)
    assert len(H) > 400
    assert ((wanted.sum(axis=0) > 0) & (wanted.sum(axis=0) < 2 * N)).all()  # no weak ranker is constant
    assert np.array_equal(H.evaluate(both), wanted)


def test_what_becomes_of_each_kind():
    assert {of.name: of.kind for of in H.plan} == {
        "age": "number", "pay": "number", "smoker": "boolean", "member": "boolean", "city": "category",
        "when": "date", "day": "date", "wait": "duration", "at": "time",
    }  # fmt: skip
    names = set(H.names)
    assert {"smoker", "member", "member is missing", "pay is missing", "city is missing", "city = (rare)",
            "when is missing", "when (weekday) = Sun", "when (month) = Dec", "when (hour) > 12.5"} <= names  # fmt: skip
    assert not names & {"age is missing", "city = Ulm", "when (hour) is missing", "day (hour) > 12.5"}
    for of in H.plan:
        column = POS[of.name] + NEG[of.name]
        assert of.missing == sum(map(missing, column))
        assert of.values == len({value for value in column if not missing(value)})
        assert of.rankers == sum(name.startswith((f"{of.name} ", of.name + "|")) for name in [f"{n}|" for n in H.names])


@pytest.mark.parametrize("form", FORMS)
def test_all_containers_make_the_same_weak_rankers_and_give_the_same_outputs(form):
    pos, neg = FORMS[form](POS), FORMS[form](NEG)
    again = made(pos, neg)
    assert again.names == H.names
    assert again.plan == H.plan
    assert np.array_equal(again.evaluate(neg), H.evaluate(NEG))
    assert np.array_equal(H.evaluate(pos), H.evaluate(POS))
    assert np.array_equal(again.evaluate(POS), H.evaluate(POS))


@pytest.mark.parametrize("rows", [list, np.array])
def test_rows_without_names_are_read_by_place(rows):
    pos, neg = [rows([list(row) for row in zip(*side.values(), strict=True)]) for side in (POS, NEG)]
    unnamed = made(pos, neg)
    names = {f"x{c}": name for c, name in enumerate(POS)}
    assert tuple(re.sub(r"^x\d", lambda found: names[found[0]], name) for name in unnamed.names) == H.names
    assert np.array_equal(unnamed.evaluate(pos), H.evaluate(POS))
    assert np.array_equal(H.evaluate(pos), H.evaluate(POS))
    assert np.array_equal(unnamed.evaluate(pd.DataFrame(POS)), H.evaluate(POS))
    with raises(ValueError, "X has 8 columns; these weak rankers were made for 9"):
        unnamed.evaluate([row[:8] for row in pos])


def test_columns_are_known_by_name():
    assert H.column_names[:5] == ("age", "pay", "smoker", "member", "city")
    assert H.column_names[5:9] == ("when (trend)", "when (weekday)", "when (hour)", "when (month)")
    assert [H.column_names[c] for c in (H.column[0], H.column[-1])] == ["age", "at"]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_change_nothing(n_threads, monkeypatch):
    monkeypatch.setattr("pnorm._threads._FEW", 10)
    assert made(POS, NEG, n_threads=n_threads) == H


def test_time_zones_count_as_their_clocks_show():
    when = pd.Series(pd.date_range("2021-03-01 00:30", periods=60, freq="31h", tz="Asia/Kolkata"))
    plain = made({"when": when.dt.tz_localize(None)}, {"when": when.dt.tz_localize(None)})
    assert "when (hour) > 0.5" in plain.names
    zoned = [{"when": when}, pd.DataFrame({"when": when}), {"when": when.dt.to_pydatetime()}, {"when": list(when)},
             {"when": [t.isoformat() for t in when]}, {"when": [str(t) for t in when]},
             pa.table({"when": pa.array(when)}), by_polars({"when": list(when.dt.tz_localize(None))}).with_columns(
                 __import__("polars").col("when").dt.replace_time_zone("Asia/Kolkata"))]  # fmt: skip
    for X in zoned:
        assert made(X, X) == plain
        assert np.array_equal(plain.evaluate(X), plain.evaluate({"when": when.dt.tz_localize(None)}))


def typed():
    """Columns of many types, what they become, and the first weak ranker."""
    whole, words, dates = [0, 1, 2] * 8, ["a", "b", None] * 8, pd.Series(pd.date_range("2020", periods=24, freq="31h"))
    holes, spans = [1, None, 0] * 8, pd.Series(pd.to_timedelta(range(24), "h"))
    first = "c > 2020-01-01 15:30"
    yield from [
        (pa.array(whole, of), "number", "c > 0.5") for of in (pa.int8(), pa.uint64(), pa.float32(), pa.float64())
    ]
    yield pa.array(whole).cast(pa.decimal128(30, 2)), "number", "c > 0.5"
    yield pa.chunked_array([whole[:5], [], whole[5:]], pa.int64()), "number", "c > 0.5"
    yield pa.array(holes).cast(pa.bool_()), "boolean", "c"
    yield from [(pa.array(dates.astype(of)), "date", first) for of in ("M8[s]", "M8[ms]", "M8[ns]")]
    yield pa.array(dates.dt.date), "date", "c > 2020-01-01 12:00"
    yield pa.array(spans), "duration", "c > 0.0208333"
    yield pa.array([datetime.time(k) for k in range(24)]).cast(pa.time32("s")), "time", "c > 0.5"
    yield from [(pa.array(words, of), "category", "c = a") for of in (pa.string(), pa.large_string())]
    yield pa.array([7, 8, None] * 8).dictionary_encode(), "category", "c = 7"
    yield pa.array(dates).dictionary_encode(), "date", first
    yield from [
        (x, "left out", None)
        for x in (pa.nulls(24), pa.array([[1]] * 24), pa.array([{"a": 1}] * 24), pa.array([b"a"] * 24))
    ]
    yield from [(pd.Series(holes, dtype=of), "number", "c > 0.5") for of in ("Int64", "Float32", "int8[pyarrow]")]
    yield from [
        (pd.Series([x if x is None else bool(x) for x in holes], dtype=of), "boolean", "c")
        for of in ("boolean", "bool[pyarrow]")
    ]
    yield from [
        (pd.Series(words, dtype=of), "category", "c = a") for of in ("string", "category", "string[pyarrow]", object)
    ]
    yield pd.Series(whole, dtype="category"), "category", "c = 0"
    yield pd.Series([True, False, None] * 8, dtype="category"), "boolean", "c"
    yield pd.Series(dates, dtype="category"), "date", first
    yield pd.Series(pd.arrays.SparseArray(whole)), "number", "c > 0.5"
    yield pd.Series(pd.period_range("2020", periods=24, freq="D")), "date", "c > 2020-01-01 12:00"
    yield spans, "duration", "c > 0.0208333"
    yield from [(pd.Series(x), "left out", None) for x in (pd.interval_range(0, 24), [1j, 2j] * 12, [None] * 24)]
    yield from [(np.array(whole, of), "number", "c > 0.5") for of in (">i4", np.float16, np.longdouble, object)]
    yield np.ma.array(whole, mask=[True, False, False] * 8), "number", "c > 1.5"
    yield from [(np.array(words, of), "category", "c = a") for of in (object, "U4")]
    yield dates.to_numpy("M8[h]"), "date", first
    yield from [
        (np.array(x, of), "left out", None)
        for x, of in ((["a", "b"] * 12, "S1"), ([1j, 2j] * 12, complex), (["NaT"] * 24, "M8[s]"))
    ]
    yield range(24), "number", "c > 0.5"


@pytest.mark.parametrize(("column", "kind", "first"), list(typed()))
def test_types(column, kind, first):
    X = {"c": column, "more": [0, 1] * 12}
    G = quietly(X, X, min_rows=3)
    assert G.plan[0].kind == kind
    assert G.names[0] == (first or "more > 0.5")
    if not isinstance(column, pd.Series):
        return
    frame = pd.DataFrame(X)
    assert quietly(frame, frame, min_rows=3) == G
    assert np.array_equal(G.evaluate(frame), G.evaluate(X))


def test_types_of_polars():
    pl = pytest.importorskip("polars")
    whole, words = pl.Series([0, 1, 2] * 8), pl.Series(["a", "b", None] * 8)
    dates = pl.Series(pd.date_range("2020", periods=24, freq="31h").to_pydatetime().tolist())
    for column, kind, first in [
        *[(whole.cast(of), "number", "c > 0.5") for of in (pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2))],
        (pl.Series([True, None, False] * 8), "boolean", "c"),
        (dates, "date", "c > 2020-01-01 15:30"),
        (dates.cast(pl.Datetime("ms")), "date", "c > 2020-01-01 15:30"),
        (dates.dt.date(), "date", "c > 2020-01-01 12:00"),
        (dates - dates[0], "duration", "c > 0.645833"),
        (dates.dt.time(), "time", "c > 0.5"),
        *[(words.cast(of), "category", "c = a") for of in (pl.String, pl.Categorical)],
        *[
            (x, "left out", "more > 0.5")
            for x in (pl.Series([[1]] * 24), pl.Series([{"a": 1}] * 24), pl.Series([None] * 24))
        ],
    ]:
        X = pl.DataFrame({"c": column, "more": [0, 1] * 12})
        G = quietly(X, X, min_rows=3)
        assert (G.plan[0].kind, G.names[0]) == (kind, first)


# With the rest of the package ---------------------------------------------------------------------


def test_scores_are_sums_of_outputs():
    lam, _ = pnorm.train(POS, NEG, H, p=2, t_max=60)
    assert 3 < np.count_nonzero(lam) < len(H) / 2
    for form in ("lists", "pandas", "polars", "Arrow", "text"):
        X = FORMS[form](NEG)
        assert pnorm.score(X, H, lam) == pytest.approx(H.evaluate(NEG) @ lam, abs=1e-12)
    assert H[3](NEG) == pytest.approx(H.evaluate(NEG)[:, 3])
    matrix = H.evaluate(POS), H.evaluate(NEG)
    assert lam == pytest.approx(pnorm.train(*matrix, p=2, t_max=60)[0], abs=1e-9)


def test_columns_without_coefficients_are_not_read():
    lam = np.zeros(len(H))
    lam[0] = 1.0
    assert pnorm.score({"age": [10, 60]}, H, lam).tolist() == [0.0, 1.0]
    lam[H.names.index("city = Rome")] = 2.0
    assert pnorm.score({"age": [10, 60], "city": ["Rome", "Ulm"]}, H, lam).tolist() == [2.0, 1.0]
    with raises(ValueError, "X lacks the column 'city'"):
        pnorm.score({"age": [10, 60]}, H, lam)


def test_minimize_and_cross_validation_take_it():
    lam, trace = pnorm.minimize(POS, NEG, H, p=2, l2=1e-2)
    assert trace.log_objective[-1] < trace.log_objective[0]
    found = pnorm.cross_validate(POS, NEG, lambda a, b: from_table(a, b, n_cuts=7), p=[1, 2], folds=3, t_max=20)
    frames = [pd.DataFrame(side) for side in (POS, NEG)]
    again = pnorm.cross_validate(*frames, lambda a, b: from_table(a, b, n_cuts=7), p=[1, 2], folds=3, t_max=20)
    assert str(found) == str(again)
    assert str(pnorm.cross_validate(POS, NEG, from_table, p=[1], folds=2, t_max=5)).startswith("partial_auc")


def test_labels_decide_nothing():
    swapped = quietly(NEG, POS)
    assert swapped.names == H.names
    both = {name: POS[name] + NEG[name] for name in POS}
    some = [{name: [values[i] for i in of] for name, values in both.items()}
            for of in np.array_split(np.random.default_rng(3).permutation(2 * N), 2)]  # fmt: skip
    assert made(*some).names == H.names


def test_sums_complements_and_files(tmp_path):
    more = H + pnorm.rankers.quantile_thresholds(pd.DataFrame({"age": POS["age"]}), pd.DataFrame({"age": NEG["age"]}))
    frame = pd.DataFrame(NEG)
    assert np.array_equal(more.evaluate(frame)[:, : len(H)], H.evaluate(NEG))
    assert more.column.max() == H.column.max()  # one column by name
    both = made({"age": POS["age"]}, {"age": NEG["age"]}) + made({"city": POS["city"]}, {"city": NEG["city"]})
    assert np.array_equal(both.evaluate(NEG), H.evaluate(NEG)[:, [n.startswith(("age", "city")) for n in H.names]])
    closed = pnorm.rankers.closed(H)
    assert np.array_equal(closed.evaluate(NEG)[:, len(H) :], 1.0 - H.evaluate(NEG))
    for G in (H, more, closed, made(POS, NEG, linear=True, monotone={"age": 1, "when": -1})):
        back = [pnorm.rankers.from_dict(json.loads(json.dumps(G.to_dict()))), pickle.loads(pickle.dumps(G))]
        for again in back:
            assert again == G
            assert np.array_equal(again.evaluate(frame), G.evaluate(frame))
            assert np.array_equal(again.signs, G.signs)
    lam, _ = pnorm.train(POS, NEG, H, t_max=20)
    path = tmp_path / "model.json"
    pnorm.save(path, lam, H)
    model = pnorm.load(path)
    assert np.array_equal(model.score(NEG), pnorm.score(NEG, H, lam))
    assert repr(model.H.plan) == repr(H.plan)


def test_rows_in_parts_are_the_same_rows():
    frames = [pd.DataFrame(side) for side in (POS, NEG)]
    lam, _ = pnorm.train(*frames, H, t_max=30)
    assert partitions.train(*frames, H, t_max=30)[0] == pytest.approx(lam, abs=1e-9)


def test_rows_on_a_cluster():
    dask = pytest.importorskip("dask.dataframe")
    frames = [pd.DataFrame(side).drop(columns=["day", "wait", "at"]) for side in (POS, NEG)]
    G = made(*frames)
    lam, _ = pnorm.train(*frames, G, t_max=10)
    from pnorm import dask as on_dask

    parts = [dask.from_pandas(frame, npartitions=3) for frame in frames]
    assert on_dask.train(*parts, G, t_max=10)[0] == pytest.approx(lam, abs=1e-9)


def test_signs_and_lines():
    G = made(POS, NEG, linear=True, monotone={"pay": 1, "when": -1, "smoker": 1}, n_cuts=5)
    signs = dict(zip(G.names, G.signs.tolist(), strict=True))
    assert {name for name, sign in signs.items() if sign > 0} == {
        name for name in G.names if name == "smoker" or re.match(r"pay( >| \(line)", name)
    }
    assert {name for name, sign in signs.items() if sign < 0} == {
        name for name in G.names if re.match(r"when( >| \(line)", name)
    }
    assert max(sum(name.startswith(f"{column} >") for name in G.names) for column in POS) == 5
    outputs = G.evaluate(NEG)[:, G.names.index("pay (line)")]
    known = [k for k, value in enumerate(NEG["pay"]) if value is not None]
    assert (np.diff(outputs[known][np.argsort(np.array(NEG["pay"], float)[known])]) >= 0).all()
    assert {0.0, 1.0} <= set(outputs[known])
    with raises(ValueError, "monotone names 'city', a category"):
        quietly(POS, NEG, monotone={"city": 1})
    left = quietly({"a": [1, 2], "b": [5, 5]}, {"a": [3, 4], "b": [5, 5]}, monotone={"b": 1})
    assert left.names == ("a > 1.5", "a > 2.5", "a > 3.5")


def test_contributions_add_up():
    rows = [list(row) for row in zip(*NEG.values(), strict=True)]
    unnamed = made([list(row) for row in zip(*POS.values(), strict=True)], rows)
    lam = np.random.default_rng(1).normal(size=len(H))
    for X, G in ((NEG, H), (pd.DataFrame(NEG), H), (pa.table(NEG), H), (as_text(NEG), H), (rows, unnamed), (rows, H)):
        found = pnorm.explain(X, G, lam)
        assert found.contributions.shape == (N, len(H.column_names))
        assert found.contributions.sum(axis=1) + found.base == pytest.approx(pnorm.score(X, G, lam), abs=1e-9)


def test_shapes_are_of_columns():
    lam = np.random.default_rng(0).normal(size=len(H))
    shapes = pnorm.shapes(lam, H)
    assert sorted(shape.name for shape in shapes) == sorted(H.column_names)
    city = shapes["city"]
    assert dict(zip(city.levels, city.scores, strict=True))["Rome"] == lam[H.names.index("city = Rome")]


# Text ---------------------------------------------------------------------------------------------

NUMBERS = [
    (["1", "2.5", " 3 "], [1, 2.5, 3]),
    (["1e3", "-2E-1", "+.5", "7."], [1000, -0.2, 0.5, 7]),
    (["$5", "-$1,234.50", "$ 7.25"], [5, -1234.5, 7.25]),
    (["5 EUR", "1.234,5 EUR", "12"], [5, 1234.5, 12]),
    (["1,350 kr", "95 kr", "12 SEK"], [1350, 95, 12]),
    (["3,5", "0,25", "12"], [3.5, 0.25, 12]),
    (["1.234.567", "12"], [1234567, 12]),
    (["1,234,567", "12"], [1234567, 12]),
    (["1 234,5", "1\u00a0000", "7"], [1234.5, 1000, 7]),
    (["1'234.5", "1’000", "7"], [1234.5, 1000, 7]),
    (["12 %", "7.5%", "100%"], [12, 7.5, 100]),
    (["12,5 %", "7%", "100%"], [12.5, 7, 100]),
    (["\u22125", "3"], [-5, 3]),
    (["€1.234,56", "€0,50"], [1234.56, 0.5]),
    (["1.234", "5.678"], [1.234, 5.678]),  # as Python reads it
    (["$1,234", "$567,890"], [1234, 567890]),  # no currency here has three digits after its mark
    (["1.234 €", "950 €"], [1234, 950]),
    (["2,14,609", "62,381", "1,05,00,000.50"], [214609, 62381, 10500000.5]),
    (["3833.22-", "7", "1.5 -"], [-3833.22, 7, -1.5]),
    (["3.833,22- EUR", "7,5 EUR"], [-3833.22, 7.5]),
    (["22 780", "914"], [22780, 914]),
    (["2'278 EUR", "17 EUR"], [2278, 17]),
    (["Rs. 1,200.50", "Rs 7.5"], [1200.5, 7.5]),
    (["R$ 1.234,50", "R$ 7,25"], [1234.5, 7.25]),
    (["1.2B", "500M"], [1.2e9, 5e8]),
    (["2 cr", "3.5 lakh"], [2e7, 3.5e5]),
]
NO_NUMBERS = [
    ["1,234", "5,678"],  # thousands, or fractions
    ["007", "012"],  # codes
    ["12%", "12"],
    ["12%", "1,234%"],
    ["$5", "€5"],
    ["1,23,45", "1"],
    ["1,234,56,789", "1"],
    ["1_000", "2"],
    ["٣", "٤"],
    ["1 2", "3"],
    ["inf", "1"],
    ["1e999", "1"],
    ["--5", "5"],
    ["-5-", "5"],
    ["5--", "5"],
    ["$-$5", "$5"],
    ["1.2.3", "1"],
    ["1,5.5", "2"],
    ["5 EUR EUR", "5 EUR"],
    ["1" * 70 + ",5", "2,5"],
]


@pytest.mark.parametrize(("words", "values"), NUMBERS)
def test_text_that_is_numbers(words, values):
    form, doubt = _numbers.number_form([word.strip() for word in words])
    assert not doubt
    assert [_numbers.number(word.strip(), form) for word in words] == values
    G = quietly({"n": words, "x": [0] * len(words)}, {"n": ["?"] * 3, "x": [1] * 3})
    assert G.plan[0].kind == "number"
    cuts = [float(name.split(" > ")[1]) for name in G.names if name.startswith("n > ")]
    ordered = sorted(values)
    assert cuts == pytest.approx([(a + b) / 2 for a, b in itertools.pairwise(ordered)], rel=1e-5)
    below = [
        [name for name in G.names if name.startswith("n > ")].index(name) for name in G.names if name.startswith("n > ")
    ]
    assert G.evaluate({"n": words, "x": [0] * len(words)})[:, below].sum(axis=1).tolist() == [
        ordered.index(value) for value in values
    ]


@pytest.mark.parametrize("words", NO_NUMBERS)
def test_text_that_is_no_number(words):
    assert _numbers.number_form(words)[0] is None


def test_the_mark_before_the_fraction_can_be_told():
    pos, neg = {"n": ["1,234", "5,678"]}, {"n": ["2,345", "7,654"]}
    G, said = told(pos | {"x": [0, 1]}, neg | {"x": [0, 1]})
    assert said.startswith("Columns left out: n.\n")
    assert tells(G.plan[0].note, "'1,234' may mean two numbers: 'decimal point' or 'decimal comma' says which")
    assert made(pos, neg, kinds={"n": "decimal comma"}).names == ("n > 1.7895", "n > 4.0115", "n > 6.666")
    assert made(pos, neg, kinds={"n": "decimal point"}).names == ("n > 1789.5", "n > 4011.5", "n > 6666")
    with raises(ValueError, r"pos has '1,234' at row 0, column 0 \('n'\), which is to be a number"):
        made(pos, neg, kinds={"n": "number"})


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize(
    ("odd", "is_told"),
    [
        (None, True),
        ("-1{}234", True),
        ("", True),
        ("0{}234", False),  # a fraction
        ("1{}23", False),
        ("1234", False),  # a thousand without a mark
        ("12345{}678", False),
    ],
)
@pytest.mark.parametrize("as_arrow", [False, True])
def test_a_mark_between_thousands_is_told_by_numbers_without_it(mark, odd, is_told, as_arrow):
    values = [23_420, 914, 2_053, 87, 19_000, 5, 1_001, 914]
    words = [f"{x:,}".replace(",", mark) for x in values]
    words += [] if odd is None else [odd.format(mark)]
    if as_arrow:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table({"n": words, "x": [*range(len(words))]})
        sides = table.slice(0, 4), table.slice(4)
    else:
        sides = [{"n": part, "x": [*range(len(part))]} for part in (words[:4], words[4:])]
    G, _ = said_if_any(*sides, min_rows=1)
    assert (f"'23{mark}420' is read as 23,420" in G.plan[0].note) == is_told
    if is_told:
        assert ("decimal comma" in G.plan[0].note) == (mark == ".")
        assert "n > 21210" in G.names
    elif mark == "." and odd != "1234":
        assert "n > 21.21" in G.names
    same = [
        {"n": part, "x": [*range(len(part))]} for part in ([f"2{mark}000", f"3{mark}000"] * 2, [f"4{mark}000", "7"] * 2)
    ]
    note = "'2.000' is read as 2, and may mean 2000"  # one number below 1,000 may be a whole one
    assert (note in said_if_any(*same)[0].plan[0].note) == (mark == ".")
    for kind in ("number", "decimal point", "decimal comma"):
        G, _ = said_if_any(*same, kinds={"n": kind}) if mark == "." else (None, "")
        assert G is None or "may mean" not in G.plan[0].note


def amounts(n, n_comma, n_unclear):
    """Amounts of which each has one of two marks before the fraction, but for some; their numbers; and which those are."""
    x = np.random.default_rng(0).permutation(np.round(np.geomspace(3, 90_000, n), 2))
    words = [f"€{value:,.2f}" for value in x]
    for k in range(n_comma):
        words[7 * k % n] = words[7 * k % n][1:].translate(str.maketrans(".,", ",.")) + " €"
    unclear = np.zeros(n, bool)
    for k in range(n_unclear):
        at = (7 * k + 1) % n
        words[at], x[at], unclear[at] = f"€{1000 + 3 * k:,}", 1000 + 3 * k, True
    return words, x, unclear


def split(words):
    return {"n": words[::2]}, {"n": words[1::2]}


def read(G, words):
    return G._sources[0].reading.numbers(_checks.cells_of({"n": words}, "X", ("n",), 1, [0])[0], Where("X", 0, ("n",)))


@pytest.mark.parametrize(("n_comma", "n_unclear"), [(40, 0), (40, 18), (100, 9), (200, 0)])
def test_each_number_is_read_by_its_own_mark(n_comma, n_unclear):
    words, x, unclear = amounts(400, n_comma, n_unclear)
    G = quietly(*split(words))
    (plan,) = G.plan
    assert (plan.kind, plan.missing) == ("number", n_unclear)
    known = np.where(unclear, np.nan, x)
    np.testing.assert_array_equal(read(G, words), known)
    first = [next(word for word in words[::2] if word.endswith(end)) for end in (words[2][-3:], " €")]
    assert f"{first[1]!r} is read as " in plan.note
    clear = 400 - n_comma - n_unclear
    told_so = f"for {n_unclear} values like it; {clear} with a decimal point, such as "
    assert (told_so in plan.note) == bool(n_unclear)
    assert (f"{n_unclear} values do not read as a number with one meaning and count as missing: '€1," in plan.note) == (
        n_unclear > 0
    )
    for kind, thousands in (("decimal point", 1.0), ("decimal comma", 1e-3)):
        own = made(*split(words), kinds={"n": kind})
        np.testing.assert_allclose(read(own, words), np.where(unclear, x * thousands, x), rtol=1e-12)
    again = pnorm.rankers.from_dict(json.loads(json.dumps(G.to_dict())))
    for one in (split(words)[0]["n"], ["31,03 €", "1.234,50 €"], ["$1,234.50"], ["12.50", "950"], ["1.234", "950"]):
        np.testing.assert_array_equal(read(again, one), read(G, one))
    np.testing.assert_array_equal(
        read(G, ["31,03", "1,234.5", "1.234,5", "950", "€ 5"]), [31.03, 1234.5, 1234.5, 950, 5]
    )
    np.testing.assert_array_equal(read(G, ["1.234", "1,234", "950"]), [np.nan, np.nan, 950])
    np.testing.assert_array_equal(read(G, [1.234, 950.0]), [1.234, 950])  # numbers, which have no mark


def test_numbers_with_either_mark_are_in_doubt_where_many_have_two_meanings():
    words, x, unclear = amounts(400, 40, 57)
    pos, neg = [side | {"x": [0, 1] * 100} for side in split(words)]
    G, said = told(pos, neg)
    assert said.startswith("Columns left out: n.\n")
    assert G.plan[0].note == (
        f"'€1,003' may mean two numbers: 'decimal point' or 'decimal comma' says which for 57 values like it; 303 with a "
        f"decimal point, such as {next(word for word in words[::2] if '.' in word[-3:] and word[0] == '€')!r}, and 40 with "
        f"a decimal comma, such as {words[0]!r}, are clear"
    )
    for kind, thousands in (("decimal point", 1.0), ("decimal comma", 1e-3), ("number", np.nan)):
        own = quietly(pos, neg, kinds={"n": kind})
        np.testing.assert_allclose(read(own, words), np.where(unclear, x * thousands, x), rtol=1e-12)
        assert own.plan[0].missing == 57 * (kind == "number")


def test_a_few_numbers_with_the_other_mark_are_slips():
    words, x, unclear = amounts(400, 12, 60)
    G = quietly(*split(words))
    assert not G._sources[0].reading.form.mixed
    found = read(G, words)
    comma = np.array([word.endswith(" €") and "," in word[-5:] for word in words])
    np.testing.assert_array_equal(found[~comma], x[~comma])
    assert comma.sum() == np.isnan(found).sum() > 5


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "list"])
def test_each_number_is_read_by_its_own_mark_in_every_frame(form):
    words, _, _ = amounts(400, 40, 9)
    forms = {"pandas": pd.DataFrame, "arrow": pa.table, "list": lambda table: [{"n": word} for word in table["n"]]}
    if form == "polars":
        forms["polars"] = pytest.importorskip("polars").DataFrame
    G = quietly(*split(words))
    own = quietly(*[forms[form](side) for side in split(words)])
    assert own.names == G.names
    assert own.plan == G.plan
    for new in (words[:50], ["1.234", "12.50"], ["3,5", "2,25"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownLevelWarning)
            np.testing.assert_array_equal(own.evaluate(forms[form]({"n": new})), G.evaluate({"n": new}))


def test_a_number_with_two_meanings_is_told_of_each_time():
    words, _, _ = amounts(400, 40, 9)
    G = quietly(*split(words))
    with warns(UnknownLevelWarning, "4 values do not read as a number with one meaning and count as missing"):
        G.evaluate({"n": [*words[:20], words[1]]})


def test_percentages_and_letters_have_either_mark():
    words = ["12.5 %", "7,25 %", "3 %", "1.000,5 %"] * 5
    form = _text.Text(list(dict.fromkeys(words))).most_of("number", dict.fromkeys(words, 5)).form
    assert form == Form(unit="%", mixed=True)
    assert [_numbers.number(word, form) for word in (*words[:4], "5", "1,234 %")] == [12.5, 7.25, 3, 1000.5, None, None]
    form = Form(unit="$", scaled=True, mixed=True)
    assert [_numbers.number(word, form) for word in ("$1.2k", "1,2k", "2m", "1,234k")] == [1200, 1200, 2e6, None]


@pytest.mark.parametrize(
    ("n_rows", "form"),
    [
        ({"1%": 1, "2%": 1, "3": 1, "4": 1}, Form(unit="%")),
        ({"1%": 1, "3": 1, "4": 1}, Form()),
        ({"$1": 95, "€2": 5}, Form(unit="$")),
        ({"$1": 94, "€2": 6}, None),
        ({"1.5": 95, "2,5": 5}, Form(".")),
        ({"1.5": 94, "2,5": 6}, Form(mixed=True)),
        ({"1.5": 60, "2,5": 35, "1.234": 5}, Form(mixed=True)),
        ({"1.5": 59, "2,5": 35, "1.234": 6}, None),
    ],
)
def test_one_number_in_twenty_may_be_a_slip(n_rows, form):
    assert _text.Text([*n_rows]).most_of("number", n_rows).form == form


def test_text_that_is_numbers_but_for_a_word_says_so():
    words = [*map(str, range(100, 160)), "n.d."]
    G, said = told({"n": words, "x": [*words[:-1], "1"]}, {"n": words, "x": [*words[:-1], "1"]}, min_rows=3)
    assert (
        said
        == "Columns with values that do not read: n.\nH.plan has the reasons; replace values that do not read with None"
    )
    note = "2 values do not read as a number and count as missing: all are 'n.d.', first in row 60 of pos"
    assert G.plan[0].note == note
    assert [(of.kind, of.missing) for of in G.plan] == [("number", 2), ("number", 0)]


@pytest.mark.parametrize(
    "words",
    [["yes", "no"], ["Y", "N"], ["true", "false"], ["True", "False"], ["t", "f"], ["YES", "No"], [" yes", "no "]],
)
def test_truth_values(words):
    G = made({"flag": [*words, "?"]}, {"flag": [*words, ""]})
    assert G.names == ("flag", "flag is missing")
    assert G.evaluate({"flag": [*words, "NA"]}).tolist() == [[1, 0], [0, 0], [0, 1]]
    for values in ([True, False, None], [1, 0, math.nan], ["1", "0", ""], ["Yes", "NO", "-"]):
        assert G.evaluate({"flag": values}).tolist() == [[1, 0], [0, 0], [0, 1]]
    for value, values in (("'maybe'", ["yes", "maybe"]), ("2.0", [1.0, 2.0])):
        said = rf"in column 0 \('flag'\) of X, 1 value does not read as a truth value and .*: {value} \(row 1 of X\)"
        with warns(UnknownLevelWarning, said):
            assert G.evaluate({"flag": values}).tolist() == [[1, 0], [0, 1]]
        with raises(ValueError, rf"X has {value} at row 1, column 0 \('flag'\), which was a truth value in"):
            G.evaluate({"flag": values[:1] + 5 * values[1:]})


DATES = [
    (["2020-01-31", "2021-02-01"], ["2020-01-31", "2021-02-01"]),
    (["2020-01-31T10:30", "2021-02-01T00:00:01.5"], ["2020-01-31T10:30", "2021-02-01T00:00:01.5"]),
    (["2020-01-31 10:30:00Z", "2021-02-01 10:30:00+05:30"], ["2020-01-31T10:30", "2021-02-01T10:30"]),
    (["05/Mar/24 2:35 PM", "17/Dec/24 11:00 AM"], ["2024-03-05T14:35", "2024-12-17T11:00"]),
    (["2020/1/31", "2021/12/1"], ["2020-01-31", "2021-12-01"]),
    (["31/12/2020", "1/2/2021"], ["2020-12-31", "2021-02-01"]),
    (["12/31/2020", "1/2/2021"], ["2020-12-31", "2021-01-02"]),
    (["12/31/2020 11:30 PM", "1/2/2021 12:05 am"], ["2020-12-31T23:30", "2021-01-02T00:05"]),
    (["01.02.2020", "03.04.2021"], ["2020-02-01", "2021-04-03"]),
    (["31 Dec 2020", "1 February 2021"], ["2020-12-31", "2021-02-01"]),
    (["31-Dec-2020", "01-Feb-2021"], ["2020-12-31", "2021-02-01"]),
    (["Dec 31, 2020", "Sept 1, 2021"], ["2020-12-31", "2021-09-01"]),
]


@pytest.mark.parametrize(("words", "dates"), DATES)
def test_text_that_is_dates(words, dates):
    form, doubt = _times.date_form(words)
    assert not doubt
    moments = [np.datetime64(date, "us").astype(np.int64).item() for date in dates]
    assert [_times.date(word, form.order) for word in words] == moments
    G = made({"d": words}, {"d": ["", "?", "NA"]})
    assert G.plan[0].kind == "date"
    assert np.array_equal(G.evaluate({"d": words}), G.evaluate({"d": np.array(dates, "M8[us]")}))


@pytest.mark.parametrize(
    "words",
    [["01/02/2020", "03/04/2021"], ["2020-13-01"], ["2020-02-30"], ["31/31/2020"], ["2020"], ["20200131"], ["1/2/20"],
     ["2020-01-31 25:00"], ["2020-01-31 13:00 pm"], ["31 Foo 2020"], ["2020-01/31"], ["12/31/2020", "31/12/2020"],
     ["2020-01-01 " + "1" * 200]],
)  # fmt: skip
def test_text_that_is_no_date(words):
    assert _times.date_form(words)[0] is None


def test_many_dates_are_read_as_one_by_one():
    words = [f"20{i // 336:02}-{i // 28 % 12 + 1:02}-{i % 28 + 1:02} 0{i % 10}:00:0{i % 7}" for i in range(2000)]
    assert len(words) > _times.MANY
    assert _times.dates(words, "") == [_times.date(word) for word in words]
    assert _times.dates([*words, "2020-02-30 00:00:00"], "") is None


def test_the_order_of_day_and_month_can_be_told():
    words = {"d": ["01/02/2020", "03/04/2020", "05/06/2020"]}
    G, said = told(words | {"x": [0, 1, 2]}, words | {"x": [0, 1, 2]})
    why = "'01/02/2020' may begin with the day or the month: 'day first' or 'month first' says which"
    assert said.startswith("Columns of text read as categories: d.\n")
    assert why in G.plan[0].note
    assert made(words, words, kinds={"d": "day first"}).names[0] == "d > 2020-03-03"
    assert made(words, words, kinds={"d": "month first"}).names[0] == "d > 2020-02-02"
    days = made({"d": [20200131, 20210201]}, {"d": ["20200201", None]}, kinds={"d": "date"})
    assert days.names[0] == "d > 2020-01-31 12:00"


def test_times_and_durations_in_text():
    G = made({"at": ["08:30", "23:59:59"], "wait": ["1 day", "2 days, 3:00:00"]},
             {"at": ["10:00", "8:30"], "wait": ["-1 days +12:00:00", "0 days 00:30:00"]})  # fmt: skip
    assert [of.kind for of in G.plan] == ["time", "duration"]
    assert G.names[:3] == ("at > 9.25", "at > 16.9999", "wait > -0.239583")


DAYS_OF = [
    ("772 days", 772.0), ("1 day", 1.0), ("3.2 years", 1168.8), ("2 y", 730.5), ("2yrs", 730.5), ("1 Yr.", 365.25),
    ("5 weeks", 35.0), ("1w", 7.0), ("6 wks", 42.0), ("10 months", 304.4), ("3 mo", 91.32), ("1 mth", 30.44),
    ("1,200 days", 1200.0), ("12 h", 0.5), ("6 hrs", 0.25), ("36 min", 0.025), ("864 s", 0.01), ("-2 weeks", -14.0),
    ("1 year 2 months", 426.13), ("1 yr, 2 mos", 426.13), ("1 year and 2 months", 426.13), ("1y2mo", 426.13),
    ("-1 d 12 h", -1.5), ("3h 36m", 0.15), ("1w 2d 36m", 9.025), ("1y 2m", 426.13),
    ("P3DT12H", 3.5), ("PT36M", 0.025), ("P1Y2M", 426.13), ("P2W", 14.0), ("PT8.64S", 0.0001), ("-1 days +12:00:00", -0.5), ("2 days, 3:00:00", 2.125),
]  # fmt: skip


@pytest.mark.parametrize(("word", "days"), DAYS_OF)
def test_numbers_with_units_of_time_are_durations(word, days):
    assert _times.duration(word) == pytest.approx(86400e6 * days, abs=0.5)


@pytest.mark.parametrize(
    "word",
    [
        "5",
        "5 m",
        "5 kg",
        "2 months 1 year",
        "1 y 1 y",
        "1,20 days",
        "days",
        "",
        "1 d,",
        "5 d x",
        "P",
        "PT",
        "P5",
        "P1DT",
    ],
)
def test_other_words_are_no_durations(word):
    assert _times.duration(word) is None


@pytest.mark.parametrize(
    ("form", "kinds", "note"),
    [
        ("%d/%m/%Y", None, "day first"),
        ("%d/%m/%Y", {"c": "date"}, "day first"),
        ("%d/%m/%Y", {"c": "day first"}, ""),
        ("%m/%d/%Y", None, "month first"),
        ("%Y-%m-%d", None, ""),
        ("%d %b %Y", None, ""),
        ("%d.%m.%y", None, "day first; two-digit years are read as 2025"),
    ],
)
def test_the_order_of_day_and_month_that_was_found_is_noted(form, kinds, note):
    days = [(datetime.date(2025, 1, 1) + datetime.timedelta(k)).strftime(form) for k in range(0, 300, 3)]
    pos, neg = sides(days)
    assert from_table(pos, neg, kinds=kinds).plan[0].note == note


@pytest.mark.parametrize(
    ("form", "kinds", "note"),
    [
        ("{},5", None, "decimal comma"),
        ("{},50 €", None, "decimal comma"),
        ("{},5", {"c": "number"}, "decimal comma"),
        ("{},5", {"c": "decimal comma"}, ""),
        ("{}.5", None, ""),
        ("{}", None, ""),
    ],
)
def test_a_decimal_comma_that_was_found_is_noted(form, kinds, note):
    pos, neg = sides([form.format(k // 2) for k in range(100)])
    assert from_table(pos, neg, kinds=kinds).plan[0].note == note


def test_a_long_duration_is_written_in_one_unit_and_the_text_reads_back():
    assert [_times.span_text(days) for days in (1168.8, 1.5, 1.35, 0.01, -1095.84, 9.3 * 365.25, 0.0, -1e-13)] == [
        "3.2 years", "1 d 12 h", "1 d 8 h 24 min", "14 min 24 s", "-36 months", "9.3 years", "0 d", "0 d",
    ]  # fmt: skip
    for years, months in itertools.product((1, 2, 3, 4, 30), range(1, 12)):
        text, days = (
            f"{years} year{'s' * (years > 1)} {months} month{'s' * (months > 1)}",
            years * 365.25 + months * 30.44,
        )
        assert _times.span_text(days) == text
        assert _times.span_text(-days) == f"-{text}"
        assert _times.duration(text) == round(86400e6 * days)
    assert not [days for days in range(366, 20_000) if "month" in _times.span_text(days) and days % 761]  # whole days
    for days in (1168.8, 1.5, 0.01, -1095.84, -1.25, 400.123456):
        assert _times.duration(_times.span_text(days)) == pytest.approx(86400e6 * days, abs=1.0)


def tenures(n, odd=0):
    """Tenures in several units, of which some do not read."""
    rng = np.random.default_rng(n + odd)
    days = rng.integers(1, 4000, n).tolist()
    words = [f"{d} days" if d < 365 else f"{d / 365.25:.2f} years" if d % 2 else f"{d / 30.44:.1f} mo" for d in days]
    return ["unclear" if k < odd else word for k, word in enumerate(words)]


def test_a_column_of_numbers_with_units_of_time_is_a_duration():
    G, said = told({"t": tenures(300, 3)}, {"t": tenures(500)})
    assert (G.plan[0].kind, G.plan[0].missing) == ("duration", 3)
    assert said.startswith("Columns with values that do not read: t.\n")
    assert made({"t": ["1 year", "2 weeks"]}, {"t": ["30 days", "2 weeks"]}).names == ("t > 22", "t > 197.625")
    few = {"t": ["5 d", "7 d", "5 d"]}  # a letter may be anything
    assert made(few, few).plan[0].kind == "category"
    assert made(few, few, kinds={"t": "duration"}).names == ("t > 6",)
    spent = {"t": ["1w 2d", "3h 4m", "5w 1d 3m", "2d"] * 5}
    assert made(spent, spent).plan[0].kind == "duration"
    hours = {"t": [f"{h}:07:09" for h in range(5, 45)]}
    assert made(hours, hours).plan[0].kind == "duration"
    clock = {"t": [f"{h:02d}:07:09" for h in range(25)] * 2}  # one slip
    assert told(clock, clock)[0].plan[0].kind == "time"


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("words", [("#NULL!",), ("unknown", "refused"), ("*",), (r"\N",), ("(blank)",)])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_a_word_or_two_leave_a_column_its_numbers_whatever_their_share(words, share, order):
    """In any order of the rows, and with other labels."""
    n = 400
    cells = [words[k % len(words)] if k < share * n else f"{k * 37 % 1000}.5" for k in range(n)]
    cells = [cells, cells[::-1], np.random.default_rng(0).permutation(cells).tolist()][order]
    G, said = told({"x": cells[:150]}, {"x": cells[150:]})
    assert (G.plan[0].kind, G.plan[0].missing) == ("number", round(share * n))
    assert "do not read" in said


def test_dates_of_nothing_but_zeros_are_missing():
    dates = [f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d}" if k % 2 else "0000-00-00" for k in range(400)]
    G = told({"x": dates[:150]}, {"x": dates[150:]})[0]
    assert (G.plan[0].kind, G.plan[0].missing) == ("date", 200)


def test_very_many_words_that_no_encoding_takes_are_read():
    cells = {"x": [f"\udc80 {k}" for k in range(3000)], "z": list(range(3000))}
    assert told(cells, cells)[0].plan[0].kind == "left out"


def test_sizes_and_agents_stay_categories():
    sizes = {"x": [str(size) for size in range(32, 57, 2)] * 20 + ["S", "M", "L"] * 40}
    agents = {"x": [str(agent) for agent in range(101, 131)] * 10 + ["ONLINE", "PHONE", "PARTNER"] * 60}
    assert [made(of, of).plan[0].kind for of in (sizes, agents)] == ["category", "category"]


def test_censored_numbers_have_one_reading_in_any_order():
    cells = [f"<0.{k % 9 + 1}" for k in range(16)] + [f"{k / 7:.2f}" for k in range(384)]
    for seed in range(8):
        mixed = np.random.default_rng(seed).permutation(cells).tolist()
        G = told({"x": mixed[:140]}, {"x": mixed[140:]})[0]
        assert (G.plan[0].kind, G.plan[0].missing) == ("number", 16)
    first = told({"x": cells[:140]}, {"x": cells[140:]})[0]
    assert (first.plan[0].kind, first.plan[0].missing) == ("number", 16)


@pytest.mark.parametrize(("n_copies", "is_id"), [(4, True), (10, True), (11, False)])
def test_numbers_of_which_nearly_all_differ_are_an_id(n_copies, is_id):
    x = np.r_[np.arange(200 - n_copies), np.arange(n_copies)] * 7
    sides = [{"row_id": x[k::2], "x": np.arange(100)[::-1] % 9} for k in range(2)]
    assert [of.kind for of in quietly(*sides).plan] == ["left out" if is_id else "number", "number"]


@pytest.mark.parametrize(
    ("words", "several"),
    [
        (["24:00:00", "24:00:30", "23:10:00"], False),
        (["24:00:00", "25:30:00"], False),
        (["25:30:00", "25:30:00"], False),
        (["25:30:00", "26:00:00"], True),
    ],
)
def test_midnight_may_be_24_hours_and_one_slip_is_no_duration(words, several):
    assert _times.many_beyond_a_day(words) == several


def test_declared_levels_are_levels_even_if_they_are_words_for_missing():
    levels = ["none", "1", "2 to 4", "-"]
    cells = {"x": levels * 20 + [None] * 4}
    G = made(cells, cells, kinds={"x": levels})
    assert (G.plan[0].kind, G.plan[0].values, G.plan[0].missing) == ("ordered", 4, 8)
    card = pnorm.scorecard(G, np.arange(1.0, 1.0 + len(G)))
    assert len(set(card.score({"x": levels}).tolist())) == 4


def test_words_that_hold_information_are_offered_as_levels():
    words = ["more than 7", "new", *[f"{k} years" for k in range(2, 8)]]
    weights = [80, 30, 60, 60, 60, 60, 60, 60]
    cells = {"x": [word for word, n in zip(words, weights, strict=True) for _ in range(n)]}
    G, _ = told(cells, cells)
    assert G.plan[0].kind == "category"
    assert "have an order" in G.plan[0].note
    offered = ["new", *[f"{k} years" for k in range(2, 8)], "more than 7"]
    assert pnorm.rankers._oddities.in_likely_order(words) == offered


@pytest.mark.parametrize("many", [False, True])
def test_codes_of_letters_and_digits_have_no_advice_that_loses_them(many):
    codes = ["250.01", "401", "786", *[f"{k}" for k in range(500, 540)], "V58", "E880", "V12"]
    codes = codes if many else codes[:3] + codes[-2:]
    G, _ = said_if_any({"c": codes * 40}, {"c": codes * 40})
    assert (G.plan[0].kind, G.plan[0].missing, G.plan[0].note) == ("category", 0, "")


@pytest.mark.parametrize(
    ("n_words", "different", "is_told"), [(3, 101, True), (3, 100, False), (2, 101, False), (3, 181, False)]
)
def test_text_of_which_most_values_differ_is_probably_free(n_words, different, is_told):
    texts = [" ".join([f"word{k % different}"] * n_words) for k in range(200)]
    G, said = said_if_any(*sides(texts), min_rows=2)
    assert said.startswith("Columns of text read as categories: c.\n") == is_told
    probably = "probably free text: 101 of 200 values differ, and only the frequent ones are used"
    assert (probably in G.plan[0].note) == is_told
    assert (G.plan[0].kind, said == "") == (("left out", False) if different == 181 else ("category", not is_told))
    assert said_if_any(*sides(texts), min_rows=2, kinds={"c": "category"})[1] == ""


@pytest.mark.parametrize(("different", "is_told"), [(40, False), (41, True)])
def test_a_category_of_many_frequent_numbers_with_a_unit_is_told(different, is_told):
    half = {"t": [f"{k % different} kg" for k in range(20 * different)]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (plan,) = from_table(half, half).plan
    assert (plan.kind, plan.rankers) == ("category", different)
    said = "most values are numbers with a unit, such as '0 kg'; numbers without the unit would be read as numbers"
    assert (said in plan.note) == is_told
    assert "rare" not in plan.note


@pytest.mark.parametrize(
    ("unit", "kind"),
    [(" m.", None), (" kg", None), (" °C", None), (" d", "duration"), (" days", "duration"), ("B", None)],
)
def test_a_category_of_rare_numbers_with_a_unit_is_told(unit, kind):
    rng = np.random.default_rng(0)
    words = [f"{x:.0f}{unit}" for x in np.exp(rng.normal(4, 0.7, 800))]
    words = [word if k % 5 < 3 else ("n/a yet", "later", "soon")[k % 3] for k, word in enumerate(words)]
    half = {"t": words[::2], "x": list(range(400))}, {"t": words[1::2], "x": list(range(400))}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        G = from_table(*half)
    said, is_told = " ".join([str(w.message) for w in caught]), unit in (" kg", " °C", " d", " days")
    assert G.plan[0].kind == "category"
    assert said.startswith("Columns of text read as categories: t.\n")
    assert ("rows have rare values" in G.plan[0].note) == (not is_told)
    assert ('"duration" reads numbers with units of time' in said) == (kind is not None)
    assert ("most values are numbers with a unit, such as " in G.plan[0].note) == is_told
    if kind:
        assert "the kind 'duration' reads" in G.plan[0].note
        assert told(*half, kinds={"t": kind})[0].plan[0].kind == kind


def test_a_unit_that_is_not_known_has_to_be_removed():
    few = {"t": ["21.5 °C", "19.0 °C", "20.5 °C"]}
    with raises(ValueError, "6 values do not read as one; remove the unit, or make the column another kind"):
        from_table(few, few, kinds={"t": "number"})


# What is left out, and what is told ---------------------------------------------------------------


def sides(column):
    """Both sides of a table with a column, in any order, and one of numbers that are of use."""
    n = len(column) // 2
    column = [column[k] for k in np.random.default_rng(1).permutation(len(column))]
    rest = np.random.default_rng(0).integers(0, 5, 2 * n).tolist()
    return {"c": column[:n], "rest": rest[:n]}, {"c": column[n:], "rest": rest[n:]}


WORDS = np.random.default_rng(5).permutation(100)
USELESS = {
    "an id: nearly all values differ": [f"TX{i:05}" for i in WORDS],
    "free text: nearly all values differ": [f"the parcel {i} was late" for i in WORDS],
    "an id: whole numbers one after the other": (7 + WORDS).tolist(),
    "all values are equal": [3] * 100,
    "all values are missing": [None, "", "?", math.nan] * 25,
    "every value is in fewer than 10 rows": [f"word {i // 2}" for i in range(100)],
    "values of type list cannot be read": [[1, 2]] * 100,
    "values of type dict cannot be read": [{"a": 1}] * 100,
    "values of type date and number cannot be read": [datetime.date(2020, 1, 1)] * 50 + [1.5, 2.0] * 25,
    "values of type complex cannot be read": [1j, 2j] * 50,
}


@pytest.mark.parametrize("why", USELESS)
def test_what_is_left_out_is_named_with_the_reason(why):
    G, said = told(*sides(USELESS[why]), min_rows=10)
    assert (
        said
        == 'Columns left out: c.\nH.plan has the reasons; pass kinds={"COLUMN": KIND} to change that: "category" makes levels of a column'
    )
    assert G.plan[0].kind == LEFT_OUT
    assert G.plan[0].note == why
    assert G.column_names == ("rest",)
    assert G.evaluate({"rest": [3, 4]}).shape == (2, len(G))


def test_a_number_is_an_id_by_its_name():
    numbers = np.random.default_rng(0).integers(0, 10**9, 100).tolist()
    for name in ("id", "ID", "customer_id", "PassengerId", "userid", "account number", "Order-No", "uuid"):
        pos, neg = sides(numbers)
        G, said = told({name: pos["c"], **pos}, {name: neg["c"], **neg})
        assert said.startswith(f"Columns left out: {name}.\n")
        assert G.plan[0].note == "an id by its name: nearly all values differ"
    for name in ("paid", "humid", "valid", "number_of_rooms", "ideal"):
        pos, neg = sides(numbers)
        assert made({name: pos["c"], **pos}, {name: neg["c"], **neg}).plan[0].kind == "number"
    pos, neg = sides((np.array(numbers) + 0.5).tolist())
    assert made({"id": pos["c"], **pos}, {"id": neg["c"], **neg}).plan[0].kind == "number"


def test_numbers_that_repeat_or_spread_are_no_ids():
    draw = np.random.default_rng(0)
    for values in (draw.integers(0, 60, 100), draw.integers(0, 10**6, 100), draw.normal(size=100)):
        assert made(*sides(values.tolist())).plan[0].kind == "number"


def test_what_is_asked_for_is_not_warned_of():
    pos, neg = sides([f"TX{i:05}" for i in WORDS])
    assert made(pos, neg, kinds={"c": "leave out"}).plan[0].note == "as asked"
    assert made(pos, neg, kinds={"c": "category"}, min_rows=1).plan[0].rankers == 100
    pos, neg = sides((7 + WORDS).tolist())
    assert made(pos, neg, kinds={0: "number"}).plan[0].kind == "number"
    G = made(*sides([1, 2, 3, 4] * 25), kinds={"c": "category"})
    assert G.names[:4] == ("c = 1", "c = 2", "c = 3", "c = 4")


@pytest.mark.parametrize("kind", ["category", "any case"])
def test_a_category_that_is_asked_for_and_has_rare_values_only_is_warned_of(kind):
    rare = [f"zip {i // 2}" for i in range(100)]
    told_of = (
        "Columns asked for as categories, whose values are all rare: c. Their values are not used; merge them into "
        "fewer levels, or leave the columns out"
    )
    G, said = told(*sides(rare), kinds={"c": kind}, min_rows=10)
    assert said == told_of
    assert (G.plan[0].kind, G.plan[0].note) == (LEFT_OUT, "every value is in fewer than 10 rows")
    G, said = told(*sides([None] * 20 + rare[20:]), kinds={"c": kind}, min_rows=10)
    assert said == told_of
    assert G.plan[0].note == "every value is in fewer than 10 rows; only whether it is missing counts"
    assert made(*sides(["Rome"] * 20 + rare[20:]), kinds={"c": kind}, min_rows=10).names[:2] == (
        "c = Rome",
        "c = (rare)",
    )
    with raises(ValueError, r"can be used \(c: every value is in fewer than 10 rows\)$"):
        from_table(*[{"c": side["c"]} for side in sides(rare)], kinds={"c": kind}, min_rows=10)


def test_a_column_that_tells_the_sides_apart_alone_is_named():
    n = 40
    rest = {"rest": [0, 1] * (n // 2)}
    leaks = {
        "numbers": (list(range(100, 300, 5)), list(range(0, 80, 2))),
        "numbers, downwards": (list(range(0, 80, 2)), list(range(100, 300, 5))),
        "levels": (["paid", "settled"] * 20, ["open", "new"] * 20),
        "missing": ([1.0, 2.0] * 20, [None] * 40),
        "missing levels": (["a", "b"] * 20, [None] * 40),
        "missing, the others": ([None] * 40, [1.0, 2.0] * 20),
    }
    by = dict.fromkeys(leaks, "AUC 1.000") | {
        "missing": "missing for nearly all negatives",
        "missing levels": "missing for nearly all negatives",
        "missing, the others": "missing for nearly all positives",
    }
    for name, (a, b) in leaks.items():
        G, said = told(rest | {name: a}, rest | {name: b})
        assert said.startswith(f"Columns that separate positives from negatives nearly alone: {name}.\n")
        assert '"leave out" drops what is known only after the outcome' in said
        assert G.plan[1].note.endswith(f"almost separates the labels alone ({by[name]})")
        for n_few, is_said in ((19, True), (5, True), (4, False)):  # 4 of 44 rows: 1 in 135,751 by chance
            if "numbers" in name:
                a, b = [[x + 0.5 for x in side] for side in leaks[name]]  # few whole numbers may be an id
            few = {key: values[:n_few] for key, values in (rest | {name: a}).items()}
            H = (told if is_said else made)(few, rest | {name: b})
            assert (H[0] if is_said else H).plan[1].separates == is_said, (name, n_few)
    (a, b), most = leaks["numbers"], {key: values[:19] for key, values in rest.items()}
    made(most | {"numbers": [*a[:18], 30]}, rest | {"numbers": b})  # AUC 0.97: of few rows, only a perfect order counts
    made({"x": [9, 8, 7, 6, 5]}, {"x": [0, 1, 2, 3, 4]})  # 1 in 252
    near = {"x": list(range(40))}, {"x": list(range(20, 60))}
    assert made(*near).plan[0].note == ""


def test_one_warning_has_it_all():
    pos, neg = sides([f"TX{i:05}" for i in WORDS])
    _, said = told(pos | {"one": [1] * 50, "leak": [1.5] * 50}, neg | {"one": [1] * 50, "leak": [2.5] * 50})
    assert said == (
        "Columns left out: c, one.\nColumns that separate positives from negatives nearly alone: leak.\nH.plan has the reasons; pass "
        'kinds={"COLUMN": KIND} to change that: "category" makes levels of a column, "leave out" drops what is known only after the '
        "outcome"
    )


def test_a_warning_has_no_counts_so_that_all_folds_have_the_same():
    words = [*map(str, range(100, 160)), "n.d.", "n.d."]
    texts = {told({"n": words[k:]}, {"n": words[k:]})[1] for k in range(3)}
    assert len(texts) == 1


@pytest.mark.parametrize(("action", "count"), [("default", 1), ("once", 1), ("always", 4), ("ignore", 0)])
def test_a_text_is_printed_once_for_a_line_though_filters_change(monkeypatch, action, count):
    """As in the folds of scikit-learn, before each of which the filters are set anew."""
    monkeypatch.setattr(_categories, "_PRINTED", {})
    table = sides([f"TX{i:05}" for i in WORDS])
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter(action, TableWarning)
        for _ in range(4):
            with warnings.catch_warnings():
                from_table(*table)
    assert len(caught) == count


@pytest.mark.parametrize("place", [{"module": "elsewhere"}, {"lineno": 1}, {"message": "Rows"}], ids=str)
def test_filters_of_other_warnings_do_not_count(monkeypatch, place):
    monkeypatch.setattr(_categories, "_PRINTED", {})
    table = sides([f"TX{i:05}" for i in WORDS])
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.filterwarnings("error", category=TableWarning, **place)
        for _ in range(2):
            with warnings.catch_warnings():
                from_table(*table)
    assert len(caught) == 1


def test_a_table_of_no_use_is_refused():
    with raises(ValueError, r"no column of pos and neg can be used (a: all values are equal; b: all values"):
        from_table({"a": [1], "b": [None]}, {"a": [1], "b": [None]})


def test_rare_levels_are_one():
    column = ["a"] * 30 + ["b"] * 20 + ["c"] * 9 + [" c "] + ["d"] * 9 + ["e"] * 6 + [None] * 5 + ["f"] * 20
    pos, neg = sides(column)
    G = made(pos, neg, min_rows=10)
    names = [name for name in G.names if name.startswith("c")]
    assert names == ["c = a", "c = b", "c = c", "c = f", "c = (rare)", "c is missing"]
    assert G.plan[0].note == "2 rare values are the level (rare)"
    outputs = G.evaluate({"c": ["a", "d", "unseen", None, " b", "?"], "rest": [0] * 6})[:, : len(names)]
    assert outputs.argmax(axis=1).tolist() == [0, 4, 4, 5, 1, 5]
    assert outputs.sum(axis=1).tolist() == [1] * 6
    assert "c = d" in made(pos, neg).names  # of 100 rows, 2 are enough
    most = made(pos, neg, max_levels=2)
    assert [name for name in most.names if name.startswith("c")] == ["c = a", "c = b", "c = (rare)", "c is missing"]
    every = made(pos, neg, min_rows=1)
    assert "c = e" in every.names
    assert "c = (rare)" not in every.names
    with warns(UnknownLevelWarning, "such as 'unseen'; they count as none of the known ones"):
        outputs = every.evaluate({"c": ["a", "unseen"], "rest": [0, 0]})
    assert outputs[:, [name.startswith("c") for name in every.names]].sum(axis=1).tolist() == [1, 0]


@pytest.mark.parametrize(("count", "end"), [(2, ""), (14, " and 2 more")])
def test_columns_with_several_spellings_are_named(count, end):
    pos, neg = ({f"c{k}": side["c"] for k in range(count)} for side in sides(["South", "south"] * 50))
    _, message = told(pos, neg, min_rows=2)
    names = ", ".join([f"c{k}" for k in range(min(count, 12))])
    assert message.startswith(f"Columns with several spellings of one value: {names}{end}.\n")


def test_levels_that_differ_in_case_or_spaces_are_kept_apart_with_a_note():
    column = ["South"] * 30 + ["south"] * 20 + ["SOUTH  east"] * 10 + ["North"] * 20 + ["South East"] * 15 + ["X"] * 5
    G, message = told(*sides(column), min_rows=2)
    assert message == (
        "Columns with several spellings of one value: c.\nH.plan has the reasons; pass "
        'kinds={"COLUMN": KIND} to change that: "any case" merges spellings'
    )
    assert made(*sides(column), min_rows=2, kinds={"c": "any case"}).names != G.names
    assert G.plan[0].note == "4 differ only in case or spaces: South, south, ..."
    assert [name for name in G.names if name.lower().startswith("c = s")] == [
        "c = SOUTH  east", "c = South", "c = South East", "c = south"
    ]  # fmt: skip
    assert "differ only" in str(G.plan)
    G = quietly(*sides(["ab  c"] * 30 + ["ab c"] * 40 + ["d"] * 20 + ["e"] * 2), min_rows=5)
    assert G.plan[0].note == "1 rare value is the level (rare); 2 differ only in case or spaces: ab c, 'ab  c'"
    assert made(*sides(["South"] * 50 + ["North"] * 50)).plan[0].note == ""
    assert made(*sides([1.5, 2.5] * 50), kinds={"c": "category"}).plan[0].note == ""


def test_a_level_may_be_called_rare():
    G = made(*sides(["a"] * 40 + ["(rare)"] * 40 + ["b"] * 20))
    assert G.names[:3] == ("c = a", "c = b", "c = (rare)")
    assert pnorm.rankers.from_dict(G.to_dict()) == G
    assert G.evaluate({"c": ["(rare)", "new"], "rest": [0, 0]})[:, 2].tolist() == [1, 1]


def test_levels_of_which_none_is_known_are_told():
    G = made(*sides(["a"] * 40 + ["b"] * 40 + ["c"] * 9 + ["d"] * 11), min_rows=10)
    assert "c = (rare)" in G.names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        G.evaluate({"c": ["A"] * 19 + ["a"], "rest": [0] * 20})
    with raises(ValueError, r"none of the 20 values of column 0 \('c'\) of X is known"):
        G.evaluate({"c": ["A"] * 20, "rest": [0] * 20})


# Ordered levels -----------------------------------------------------------------------------------


def ordered_forms(values, order):
    pl = pytest.importorskip("polars")
    codes = pa.array([None if x is None else order.index(x) for x in values], pa.int8())
    return {
        "pandas": pd.DataFrame({"grade": pd.Categorical(values, order, ordered=True)}),
        "polars": pl.DataFrame({"grade": pl.Series(values, dtype=pl.Enum(order))}),
        "Arrow": pa.table({"grade": pa.DictionaryArray.from_arrays(codes, pa.array(order), ordered=True)}),
    }


def test_ordered_levels_are_cut():
    values, order = ["low", "mid", None, "top", "low", "mid", "high"], ["low", "mid", "high", "top"]
    forms = ordered_forms(values, order)
    plain = {"grade": values}
    asked = made(plain, plain, kinds={"grade": order})
    assert asked.names == ("grade > low", "grade > mid", "grade > high", "grade is missing")
    assert asked.evaluate(plain).tolist() == [
        [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]
    ]  # fmt: skip
    for X in forms.values():
        G = made(X, X)
        assert asked == G
        assert np.array_equal(G.evaluate(plain), asked.evaluate(X))
    up = made(plain, plain, kinds={"grade": order}, monotone={"grade": 1})
    assert up.signs.tolist() == [1, 1, 1, 0]
    (shape,) = pnorm.shapes([1.0, 2.0, 4.0, -1.0], asked)
    assert shape.levels == ("low", "mid", "high", "top")
    assert (shape.scores.tolist(), shape.missing) == ([0, 1, 3, 7], -1)
    with warns(UnknownLevelWarning, r"1 value does not read as one of the ordered levels and .*: 'best'"):
        assert asked.evaluate({"grade": ["low", "best"]}).tolist() == [[0, 0, 0, 0], [0, 0, 0, 1]]
    sizes = made({"s": [1, 2, 5]}, {"s": ["2", 1.0, 5]}, kinds={"s": [5, 2, 1]})
    assert sizes.names == ("s > 5", "s > 2")
    assert sizes.evaluate({"s": [5, 1, "2"]}).tolist() == [[0, 0], [1, 1], [1, 0]]


@pytest.mark.parametrize("kind", [[1, 2, 3], "date"])
def test_numbers_that_are_levels_or_dates_may_be_missing(kind):
    x = np.array([1.0, 2.0, math.nan, 3.0]) + (20200100.0 if kind == "date" else 0.0)
    H = made({"x": x}, {"x": x[::-1]}, kinds={"x": kind})
    assert H.plan[0].missing == 2
    assert H.names[-1] == "x is missing"
    with raises(ValueError, r"^pos has inf at row 0, column 0 \('x'\), which is to be"):
        from_table({"x": [math.inf]}, {"x": x}, kinds={"x": kind})


def test_levels_that_no_training_row_has_are_known():
    grade = pd.Categorical(["low", "top", "low"], ["low", "mid", "top"], ordered=True)
    G = made(pd.DataFrame({"grade": grade}), pd.DataFrame({"grade": grade}))
    assert G.names == ("grade > mid",)
    assert G.evaluate({"grade": ["low", "mid", "top"]}).tolist() == [[0], [0], [1]]


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"aeg": "number"}, "kinds names the column 'aeg', which is not in pos; did you mean 'age'"),
        ({"age": "integer"}, r"kinds\['age'\] must be one of 'number', 'decimal point', .*; got 'integer'"),
        ({"age": ["only"]}, r"kinds\['age'\] must be one of"),
        ({"age": ["a", "a"]}, r"kinds\['age'\] has a level twice"),
        ({"age": ["a", None]}, r"kinds\['age'\] has None"),
        ({12: "number"}, "kinds has column 12, counted from 0, and pos has 9 columns"),
        ({"age": "number", 0: "number"}, "kinds has column 0, 'age', twice"),
        ({"city": "number"}, r"pos has '(Rome|Oslo)' at row \d, column 4 \('city'\), which is to be a number"),
        ({"age": "date"}, r"pos has \d\d.0 at row 0, column 0 \('age'\), which is to be a date"),
        ({"when": "category"}, r"pos has .* column 5 \('when'\), which is to be text, a number or a truth value"),
        ({"when": "number"}, r"pos has .* column 5 \('when'\), which is to be a number"),
        ({"age": "boolean"}, r"pos has \d\d.0 at row 0, column 0 \('age'\), which is to be a truth value"),
    ],
)
def test_kinds_that_do_not_fit(kinds, message):
    with raises(ValueError, message):
        from_table(POS, NEG, kinds=kinds)


def test_arguments():
    for how, message in [
        ({"n_cuts": 0}, "n_cuts must be at least 1"),
        ({"min_rows": 0}, "min_rows must be at least 1"),
        ({"max_levels": 10**6}, "max_levels must be at most"),
        ({"monotone": {"pay": 3}}, "must be 1"),
        ({"monotone": {"nothing": 1}}, "monotone names the column 'nothing'"),
    ]:
        with raises(ValueError, message):
            from_table(POS, NEG, **how)
    for how, message in [
        ({"linear": 1}, "linear must be True, False or 'only'"),
        ({"kinds": "number"}, "kinds must be a map"),
    ]:
        with raises(TypeError, message):
            from_table(POS, NEG, **how)


def test_sides_and_columns_that_do_not_fit():
    for pos, neg, message in [
        ({"a": [1]}, {"b": [1]}, "pos has the column 'a', which neg does not have"),
        ({"a": [1]}, {"a": [1], "b": [1]}, "neg has the column 'b', which pos does not have"),
        ({"a": [1], "b": [2]}, [[1, 2, 3]], "pos has 2 columns and neg has 3"),
        (
            {"a": [1, 2], "b": [2]},
            {"a": [1], "b": [2]},
            r"pos has in column 1 \('b'\) values of shape \(1,\), and 2 rows",
        ),
        ({"a": np.ones((2, 2))}, {"a": [1]}, r"values of shape \(2, 2\), and 2 rows"),
        ({}, {}, "pos is empty"),
        ({"a": []}, {"a": [1]}, "pos is empty"),
        (
            {"a": [1.0, math.inf]},
            {"a": [2.0]},
            r"pos has inf at row 1, column 0 \('a'\), which is to be a finite number",
        ),
        ({"a": [10**400, 1]}, {"a": [2.0]}, r"pos has inf at row 0, column 0 \('a'\), which is to be a finite number"),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            "two columns of one name",
        ),
    ]:
        with raises(ValueError, message):
            from_table(pos, neg)
    for pos, message in [
        ({"a": "text"}, r"pos has in column 0 \('a'\) 'text'; a column must be a sequence"),
        ({"a": 5}, "pos must be a sequence of rows"),
        (7, "pos must be a sequence of rows"),
        *[(scipy.sparse.eye(3, format=of), "pos is sparse") for of in ("csr", "dok", "coo")],
    ]:
        with raises(TypeError, message):
            from_table(pos, pos)


def test_new_rows():
    back = {name: NEG[name] for name in reversed(NEG)} | {"more": [object()] * N}
    assert np.array_equal(H.evaluate(back), H.evaluate(NEG))
    assert np.array_equal(H.evaluate(pd.DataFrame(back)), H.evaluate(NEG))
    for name, value, was in [
        ("age", "old", "a number"),
        ("age", "12%", "a number"),
        ("age", "9" * 200_000, "a number"),
        ("age", datetime.date(2020, 1, 1), "a number"),
        ("when", True, "a date"),
        ("when", "soon", "a date"),
        ("when", 7, "a date"),
        ("wait", "long", "a duration"),
        ("at", datetime.date(2020, 1, 1), "a time of day"),
        ("city", "x" * 200_000, None),
    ]:
        column = [*NEG[name][:3], value, *NEG[name][4:]]
        if was is None:
            assert H.evaluate(NEG | {name: column}).shape == (N, len(H))
            continue
        with warns(UnknownLevelWarning, rf"\('{name}'\) of X, 1 value does not read as {was}.*\(row 3 of X"):
            outputs = H.evaluate(NEG | {name: column})
        assert np.array_equal(outputs, H.evaluate(NEG | {name: [*column[:3], None, *column[4:]]}))
    for name, value, message in [
        ("age", math.inf, r"X has inf at row 3, column 0 \('age'\), which was a (finite )?number"),
        ("city", [1], r"X has \[1\] at row 3, column 4 \('city'\), which was text"),
    ]:
        column = [*NEG[name][:3], value, *NEG[name][4:]]
        with raises((ValueError, TypeError), message):
            H.evaluate(NEG | {name: column})
    for name, other, message in [
        ("when", "age", r"X has \d\d(.0)? at row 0, column 5 \('when'\), which was a date"),
        ("age", "when", r"X has '202\d-\d\d-\d\dT\d\d:00:00.000000' at row \d, column 0 \('age'\), which was a number"),
        ("age", "smoker", None),
        ("age", "wait", r"X has '.*:00' at row \d, column 0 \('age'\), which was a number"),
        ("at", "smoker", r"X has (True|False) at row 0, column 8 \('at'\), which was a time of day"),
    ]:
        for form in (pd.DataFrame, pa.table):
            X = form(NEG | {name: NEG[other]})
            if message is None:
                H.evaluate(X)
                continue
            with raises(ValueError, message):
                H.evaluate(X)
    for name in NEG:
        lacking = {key: values for key, values in NEG.items() if key != name}
        with raises(ValueError, f"X lacks the column '{name}'"):
            H.evaluate(lacking)


def test_names_and_values_are_shown_and_not_carried_out():
    bad = "\x1b[31m\u202ered"
    pos, neg = sides([f"{bad}{i:05}" for i in WORDS])
    pos, neg = [{bad: side["c"], "rest" + bad: side["rest"]} for side in (pos, neg)]
    G, said = told(pos, neg)
    G2 = made({bad: [1, 2]}, {bad: [3, 4]})
    messages = [said, repr(G.plan), repr(G), repr(G2), repr(G2.plan)]
    with pytest.warns(UnknownLevelWarning) as warned:
        G2.evaluate({bad: [bad]})
    messages.append(str(warned[0].message))
    for X in ({bad: 5 * [bad]}, {"other": [1]}):
        with pytest.raises(ValueError, match="X") as caught:
            G2.evaluate(X)
        messages.append(str(caught.value))
    with pytest.raises(ValueError, match="kinds") as caught:
        from_table(pos, neg, kinds={bad + "x": bad})
    messages.append(str(caught.value))
    for message in messages:
        assert all(c.isprintable() or c == "\n" for c in message), message


def test_the_plan_prints_as_a_table():
    G = made({"age": [61, 58, None], "kind of x": ["yes", "no", "yes"]}, {"age": [3, 5, 5], "kind of x": ["no"] * 3})
    assert repr(G.plan) == (
        "column     becomes  values  missing  weak rankers\n"
        "age        number        4        1             4\n"
        "kind of x  boolean       2        0             1"
    )
    assert pd.DataFrame(G.plan).loc[0, "rankers"] == 4


# Files --------------------------------------------------------------------------------------------


def broken():
    """What a file may say in place of a table, and what it is refused for."""

    def change(*path):
        *path, value = path

        def make(data):
            for key in path[:-1]:
                data = data[key]
            data[path[-1]] = value

        return make

    of_city, of_when = 4, 5
    return [
        (change("width", 3), "'columns' of the weak rankers must be a list of 3"),
        (change("sources", []), "'sources'"),
        (change("sources", [7]), "list of dictionaries"),
        (change("sources", 1, "column", 0), "column 0 twice"),
        (change("sources", 1, "column", 99), "its width 9"),
        (change("sources", 0, "kind", "magic"), "'kind'"),
        (change("sources", 0, "point", "x"), "'point'"),
        (change("sources", 0, "more", 1), "'more'"),
        (change("sources", 0, "parts", 0, "more", 1), "'more'"),
        (change("sources", 0, "parts", 0, "of", "trend"), "'of'"),
        (change("sources", 0, "parts", 0, "cuts", 0, [1, 0.5]), "cuts of columns 0 to 0"),
        (change("sources", 0, "parts", 0, "names", []), "'names'"),
        (change("sources", of_city, "parts", 0, "levels", [["Rome"]]), "levels of a category"),
        (change("sources", of_city, "levels", []), "'levels'"),
        (change("sources", of_when, "parts", 1, "levels", [[[]]]), "TypeError|level|string"),
        (change("plan", 0, "values", -1), "at least 0"),
        (change("plan", []), "'plan'"),
        (change("plan", 0, "note", 5), "'note'"),
        (change("names", ["a"]), "'names'"),
    ]


@pytest.mark.parametrize("k", range(len(broken())))
def test_broken_files_are_refused(k):
    change, message = broken()[k]
    data = json.loads(json.dumps(H.to_dict()))
    change(data)
    with raises((ValueError, TypeError), message):
        pnorm.rankers.from_dict(data)


def places(data, path=()):
    """The paths of all fields of a file, only the first of each list."""
    if path:
        yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*path, key))
    elif isinstance(data, list) and data:
        yield from places(data[0], (*path, 0))


def test_a_file_with_anything_in_it_is_read_or_refused():
    data = json.loads(json.dumps(H.to_dict()))
    for path in places(data):
        for value in (None, -1, 1e308, True, "x", [], {}, [[]]):
            changed = copy.deepcopy(data)
            at = changed
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            try:
                G = pnorm.rankers.from_dict(changed)
            except (ValueError, TypeError) as error:
                own(error)
            else:
                try:
                    assert G.evaluate(NEG).shape == (N, len(G))
                except (ValueError, TypeError) as error:
                    own(error)


def own(error):
    """Hold an error to be one of the package's own checks."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    assert "pnorm" in Path(frame.filename).parts, error
    assert frame.line.startswith("raise"), (frame, error)


# Anything -----------------------------------------------------------------------------------------

ODD = [
    None, math.nan, True, False, 0, 1, -3, 2**53 + 1, 10**30, 0.5, -0.0, math.inf, 1e-300, 5e-324, "", " ", "?", "na", "yes", "n",
    "true", "1", "1.0", "007", "1,234", "1.234,5", "$5", "12%", "2020-01-31", "31/12/2020", "01/02/2020", "12:30", "3 days",
    "a", "b", "a b c d", "\x1b[0m", "é", "=1+1", "x" * 1000, "9" * 400, "(rare)", "a is missing", b"bytes", [1], {}, 1j, np.float32(0.1),
    np.int64(7), np.bool_(True), np.str_("a"), np.datetime64("2020-01-01"), np.datetime64("NaT", "s"), np.timedelta64(3, "h"),
    datetime.date(2020, 2, 29), datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59), datetime.timedelta(-5),
    datetime.time(1, 2), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), pd.NA, pd.NaT, pd.Timestamp("2020-01-01"),
    __import__("decimal").Decimal("1.5"), __import__("decimal").Decimal("sNaN"), __import__("fractions").Fraction(1, 3),
]  # fmt: skip


def odd_column(draw, n):
    """A column of values drawn from a few of those above."""
    some = [ODD[k] for k in draw.integers(0, len(ODD), draw.choice([1, 2, 2, 3, 6]))]
    return [some[k] for k in draw.integers(0, len(some), n)]


@pytest.mark.parametrize("seed", trials(40))
def test_any_table_is_read_or_refused(seed):
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 60, 3)
    names = [f"c{j}" for j in range(draw.integers(1, 5))]
    columns = [odd_column(draw, sizes.sum()) for _ in names]
    ends = np.r_[0, sizes.cumsum()]
    parts = [{name: x[a:b] for name, x in zip(names, columns, strict=True)} for a, b in itertools.pairwise(ends)]
    if draw.random() < 0.4:
        parts = [pd.DataFrame({name: pd.Series(x, dtype=object) for name, x in part.items()}) for part in parts]
    pos, neg, new = parts
    try:
        G = quietly(pos, neg, min_rows=int(draw.integers(1, 5)), linear=bool(draw.random() < 0.5))
    except (ValueError, TypeError) as error:
        own(error)
        return
    again = pnorm.rankers.from_dict(json.loads(json.dumps(G.to_dict())))
    assert again == G
    outputs = np.concatenate([G.evaluate(pos), G.evaluate(neg)])
    assert ((outputs >= 0.0) & (outputs <= 1.0)).all()
    assert (outputs.min(axis=0) < outputs.max(axis=0)).all()  # each tells some rows apart
    lam = draw.normal(size=len(G))
    assert pnorm.score(pos, again, lam) == pytest.approx(outputs[: sizes[0]] @ lam, abs=1e-12)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownLevelWarning)
            assert G.evaluate(new).shape == (sizes[2], len(G))
    except (ValueError, TypeError) as error:
        own(error)


def test_lines_take_the_place_of_the_cuts_and_leave_all_else():
    rng = np.random.default_rng(0)
    table = {
        "x": rng.normal(size=80).tolist(),
        "few": [0.0, 1.0] * 40,
        "none": [None, 1.0, 2.0, 3.0] * 20,
        "town": ["Rome", "Oslo"] * 40,
        "when": [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(80)],
    }
    pos, neg = ({name: values[side] for name, values in table.items()} for side in (slice(30), slice(30, None)))
    both, alone = (
        pnorm.rankers.from_table(pos, neg, linear=linear, monotone={"x": 1}, n_cuts=1023) for linear in (True, "only")
    )
    kept = [j for j, name in enumerate(both.names) if " > " not in name or name.startswith("few")]
    assert alone.names == tuple(both.names[j] for j in kept)
    assert {"x (line)", "few > 0.5", "none (line)", "none is missing", "when (line)"} < {*alone.names}
    np.testing.assert_array_equal(alone.evaluate(table), both.evaluate(table)[:, kept])
    np.testing.assert_array_equal(alone.signs, both.signs[kept])
    assert [of.rankers for of in alone.plan] == [1, 1, 2, 2, len(alone) - 6]
    assert [(of.kind, of.values, of.missing) for of in alone.plan] == [
        (of.kind, of.values, of.missing) for of in both.plan
    ]


def test_one_pass_over_a_table_makes_the_rankers_of_every_linear():
    from pnorm.rankers._from_table import of_rows

    rng = np.random.default_rng(0)
    table = {
        "x": rng.normal(size=80),
        "none": [None, 1.0, 2.0, 3.0] * 20,
        "few": [0.0, 1.0] * 40,
        "town": ["Rome", "Oslo"] * 40,
        "when": [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(80)],
    }
    y, how = rng.random(80) < 0.4, {"monotone": {"x": 1}, "n_cuts": 9}
    every = of_rows(table, y, np.arange(y.size), linear=None, **how)
    for linear in (True, False, "only"):
        own = of_rows(table, y, np.arange(y.size), linear=linear, **how)
        made = every.with_lines(linear)
        assert made.to_dict() == own.to_dict()
        assert pickle.dumps(made) == pickle.dumps(own)  # nothing is kept of the others


def test_a_model_with_a_second_indicator_of_missing_dates_loads_and_scores(tmp_path):
    when = [None if k % 5 == 0 else f"2024-{1 + k % 12:02}-{1 + k % 28:02} {k % 24:02}:00" for k in range(80)]
    pos, neg = {"when": when[:30]}, {"when": when[30:]}
    H = pnorm.rankers.from_table(pos, neg)
    assert [name for name in H.names if name.endswith(" is missing")] == ["when is missing"]
    path = tmp_path / "model.json"
    pnorm.save(path, np.arange(1.0, len(H) + 1), H, 4)
    model = json.loads(path.read_text())
    fields = model["H"]
    (hour,) = [part for part in fields["sources"][0]["parts"] if part["of"] == "hour"]
    at = fields["names"].index(hour["names"][-1]) + 1
    (trend,) = [part for part in fields["sources"][0]["parts"] if part["of"] == "trend"]
    hour["cuts"].append([0, trend["cuts"][-1][1]])
    for names in (hour["names"], fields["names"]):
        names.insert(at if names is fields["names"] else len(names), "when (hour) is missing")
    model["lam"].insert(at, 1000.0)
    path.write_text(json.dumps(model))
    older = pnorm.load(path)
    assert [name for name in older.H.names if name.endswith(" is missing")] == [
        "when is missing",
        "when (hour) is missing",
    ]
    absent = np.array([value is None for value in when])
    before = pnorm.score({"when": when}, H, np.arange(1.0, len(H) + 1))
    np.testing.assert_allclose(pnorm.score({"when": when}, older.H, older.lam), before + 1000.0 * absent)


def test_the_folds_of_one_call_share_a_warning():
    rng = np.random.default_rng(0)
    pos, neg = [{"c": [f"{side}{k}" for k in range(60)], "x": rng.normal(size=60)} for side in ("good", "bad")]
    for _ in range(2):
        with pytest.warns(TableWarning) as caught:
            pnorm.cross_validate(pos, neg, from_table, [1, 2], t_max=3, folds=3)
        assert len(caught) == 1
        assert str(caught[0].message).startswith("Columns left out: c.\n")


# Values that do not read --------------------------------------------------------------------------


def number_by_hand(word):
    """The number of a word in dollars, digit by digit; None if it is none."""
    word = word.strip()
    sign = 1.0
    if word.startswith("(") and word.endswith(")"):
        sign, word = -1.0, word[1:-1]
    word = word.replace("USD", "").replace("$", "").strip()
    power = {"k": 1e3, "K": 1e3, "m": 1e6, "bn": 1e9}
    letters = next((of for of in power if word.endswith(of)), "")
    word = word.removesuffix(letters).replace(",", "")
    if not word or set(word) - set("0123456789."):
        return None
    return sign * float(word) * power.get(letters, 1.0)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 0.06, 0.2])
def test_a_column_has_the_kind_of_95_percent_of_its_values(share):
    draw = np.random.default_rng(0)
    n = 400
    ways = ["{:.2f}", "${:,.2f}", "USD {:,.0f}", "{:.1f}k", "({:,.2f})", "$ {:.0f}", "(${:.1f}m)"]
    words = [ways[draw.integers(len(ways))].format(x) for x in draw.uniform(1, 90000, n)]
    odd = draw.permutation(n)[: round(share * n)]
    for row in odd:
        words[row] = draw.choice(["tbc", "ask Bob", "n/k", "12 or 13", "€5", "5%"])
    numbers = [number_by_hand(word) if "€" not in word and "%" not in word else None for word in words]
    assert sum(number is None for number in numbers) == odd.size
    G = quietly({"x": words[:150], "y": words[:150]}, {"x": words[150:], "y": words[150:]}, kinds={"y": "number"})
    plan = G.plan[1]
    assert (plan.kind, plan.missing) == ("number", odd.size)
    if share > 0.05:
        assert G.plan[0].kind in ("category", "left out")
        assert f"probably a number, but {odd.size} of the 400 values do not read as one: '" in G.plan[0].note
        assert "category" not in G.plan[0].note
        return
    assert (G.plan[0].kind, G.plan[0].missing) == ("number", odd.size)
    (source, other) = G._sources
    at = [_readings.Where("X", 0, ("x",))]
    (cells,) = _checks.cells_of({"x": words}, "X", ("x",), 1, [0])
    read = source.reading.numbers(cells, at[0])
    assert np.allclose(read, np.array(numbers, float), rtol=1e-15, atol=0.0, equal_nan=True)
    assert source.reading == other.reading
    again = pnorm.rankers.from_dict(G.to_dict())
    assert again == G
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownLevelWarning)
        assert np.array_equal(again.evaluate({"x": words, "y": words}), G.evaluate({"x": words, "y": words}))
    if share:
        assert f"{odd.size} values do not read as a number and count as missing: '" in G.plan[0].note


@pytest.mark.parametrize("kind", ["text", "objects"])
def test_dates_with_a_word_among_them_are_dates(kind):
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k) for k in range(100)]
    days = [day.strftime("%d/%m/%Y") if kind == "text" else day for day in days]
    G, said = told({"d": [*days[:49], "soon"]}, {"d": days[50:]})
    assert (G.plan[0].kind, G.plan[0].missing) == ("date", 1)
    assert said.startswith("Columns with values that do not read: d")
    assert tells(G.plan[0].note, "1 value does not read as a date and counts as missing: 'soon' (row 49 of pos)")


def test_an_order_of_day_and_month_that_values_contradict_is_in_doubt():
    words = [f"0{1 + k % 9}/0{1 + k % 7}/2024" for k in range(60)]
    G, said = told({"d": [*words, "31/01/2024"]}, {"d": [*words, "01/31/2024"]})
    assert said.startswith("Columns of text read as categories: d")
    assert tells(G.plan[0].note, "may begin with the day or the month: 'day first' or 'month first' says which")
    assert G.asks[0].kinds == ("day first", "month first")


def test_amounts_in_two_currencies_are_in_doubt():
    words = [f"{'$€'[k % 2]}{k}" for k in range(10, 90)]
    x = list(range(80))
    G, said = told({"n": words, "x": x}, {"n": words, "x": x})
    assert "n" in said.partition(".\n")[0].partition(": ")[2].split(", ")
    assert "amounts are in $, €; convert them to one currency" in G.plan[0].note


def test_training_tells_of_values_that_do_not_read_once_and_new_rows_tell_again():
    words = [*map(str, range(3, 100)), "tbc"]
    G, _ = told({"n": words}, {"n": words})
    assert G.plan[0].note.count("tbc") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnknownLevelWarning)
        lam, _ = pnorm.minimize({"n": words[40:]}, {"n": words[:60]}, G, p=2, l2=1e-2)
    with warns(UnknownLevelWarning, "1 value does not read as a number .*'2.3k'") as warned:
        scores = pnorm.score({"n": ["5", "2.3k", "70"]}, G, lam)
    assert len(warned) == 1
    assert np.array_equal(scores, pnorm.score({"n": [5.0, None, 70.0]}, G, lam))


@pytest.mark.parametrize(
    ("values", "kinds", "known", "news"),
    [
        ([*map(str, range(100)), "tbc", "TBC ", "n/k", ">100"], None, ["tbc", "Tbc", "N/K", " >100"], ["tbd", ">10"]),
        ([*map(str, range(100)), *[f"w{k}" for k in range(5)]], None, ["w0", "W4"], ["w5"]),
        ([*[f"{k},5" for k in range(100)], "1.2.3", "soon"], None, ["1.2.3", "soon"], ["7.8.9"]),
        ([*[f"0{1 + k % 9}/2{k % 5}/2024" for k in range(99)], "soon"], None, ["soon"], ["later"]),
        ([*[datetime.date(2024, 1 + k % 12, 1 + k % 27) for k in range(99)], "soon"], None, ["SOON"], ["later"]),
        ([*["low", "mid", "High"] * 30, "best", "high"], {"x": ["low", "mid", "High"]}, ["Best"], ["worst", "high"]),
        (["yes", "no"] * 30 + ["perhaps"], {"x": "boolean"}, ["perhaps"], ["maybe"]),
    ],
)
def test_words_that_training_counted_as_missing_are_no_news(values, kinds, known, news):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        G = pnorm.rankers.from_table({"x": values}, {"x": values[::-1]}, kinds=kinds)
    again = pnorm.rankers.from_dict(json.loads(json.dumps(G.to_dict())))
    assert again == G
    for H in (G, again):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnknownLevelWarning)
            assert np.array_equal(H.evaluate({"x": known * 9}), H.evaluate({"x": [None] * len(known) * 9}))
            H.evaluate({"x": [value for value in values if value not in news]})
        for word in news:
            with warns(UnknownLevelWarning, rf"1 value does not read as .*'{word}' \(row 1 of X\)"):
                H.evaluate({"x": [values[0], word, known[0]]})
        with raises(ValueError, "and 20 of the 20 values are not"):
            H.evaluate({"x": [news[0]] * 20 + known})


def test_a_word_that_reads_in_another_spelling_stays_unread():
    values = [*[f"${k}K" for k in range(100)], "5 m", "1.5"]
    G, _ = told({"x": values}, {"x": values}, kinds={"x": "decimal comma"})
    assert "1.5" not in G._sources[0].reading.missing
    of_numbers = G.evaluate({"x": [1.5, 3.0]})
    assert np.array_equal(of_numbers, G.evaluate({"x": ["1,5", "3"]}))
    many = [*map(str, range(1000)), *[f"w{k:02}" for k in range(30)]]
    G, _ = told({"x": many}, {"x": [*many, "w29"]})
    assert G._sources[0].reading.missing == ("w29", *[f"w{k:02}" for k in range(19)])  # the most frequent ones


def test_letters_that_may_be_units_are_no_powers_of_ten():
    assert _numbers.number_form(["5m", "30m"])[0] is None
    assert _numbers.number_form(["$5m", "30"])[0].scaled
    assert _numbers.number_form(["5 USD", "$7", "8 CAD"])[0] is None
    for word in ("1.2k", "2.3k", "1.15k", "4.35m", "0.7bn"):
        power = 10 ** _numbers.SCALES[word.lstrip("0123456789.")]
        exact = Fraction(word.rstrip("kmbn")) * power
        assert _numbers.number(word, Form(".", scaled=True)) == float(exact)


def apart(values):
    """The note on a column of numbers that may stand for missing values, after every other row is positive."""
    table = {"x": list(values)}
    pos, neg = [{"x": table["x"][side::2]} for side in (0, 1)]
    (plan,) = from_table(pos, neg).plan
    return plan.note, plan.apart


@pytest.mark.parametrize(
    ("name", "is_code"),
    [
        *[(name, True) for name in ("zip", "Zip", "home ZIP", "zip_code", "zipCode", "Postcode", "PLZ", "branch_code")],
        *[(name, True) for name in ("customer_id", "Agent ID", "storeId", "agentID", "DRG", "hts code")],
        *[
            (name, False)
            for name in (
                "zipper",
                "decode",
                "barcode scans",
                "education-num",
                "basic",
                "code of 3 letters",
                "paid",
                "ids",
            )
        ],
    ],
)
def test_numbers_that_are_codes_by_their_name_have_a_note(name, is_code):
    def note(values, is_told=False, **how):
        G, said = said_if_any({name: values[::2]}, {name: values[1::2]}, **how)
        assert (f"Columns of numbers that may be codes, by their names: {name}.\n" in said) == is_told
        assert ('"category" makes levels of a column' in said) == is_told
        return G.plan[0].note

    codes = [10_000.0 + 7 * (k // 2 % 20) for k in range(400)]
    assert note(codes, is_code) == "by its name, the numbers may be codes" * is_code
    assert "codes" not in note([x + 0.5 for x in codes])
    assert "codes" not in note([k // 2 % 2 for k in range(400)])
    assert "codes" not in note(codes, kinds={name: "number"})
    assert "codes" not in note(codes, kinds={name: "category"})


@pytest.mark.parametrize(
    ("name", "is_told"), [("diag_1", True), ("icd9", True), ("Admission Dx", True), ("dx2", True), ("diagonal", False)]
)
def test_diagnoses_are_codes_though_they_have_fractions(name, is_told):
    codes = [250.0 + k // 2 % 20 + 0.83 * (k // 2 % 3) for k in range(400)]
    G, _ = said_if_any({name: codes[::2]}, {name: codes[1::2]})
    assert G.plan[0].note == "by its name, the numbers may be codes" * is_told


@pytest.mark.parametrize(
    ("name", "is_entity"),
    [
        *[
            (name, True)
            for name in ("customer", "Customer", " SKU ", "employee", "store", "item", "company", "Station")
        ],
        *[(name, False) for name in ("customers", "employees", "items", "users", "customer age", "storey", "visits")],
    ],
)
def test_large_whole_numbers_that_are_named_as_a_thing_may_be_codes(name, is_entity):
    def note(values):
        return said_if_any({name: values[::2]}, {name: values[1::2]})[0].plan[0].note

    codes = [1000.0 + 7 * (k // 2 % 20) for k in range(400)]
    assert note(codes) == "by its name, the numbers may be codes" * is_entity
    assert note([x - 901.0 for x in codes]) == ""  # 99 is small enough for a count
    assert note([x + 0.5 for x in codes]) == ""
    assert note([1000.0 + k // 2 % 10 for k in range(400)]) == ""  # few values
    assert note([1.0 + k // 2 % 200 for k in range(800)]) == ""
    written = [f"{1 + k // 2 % 40}.0" for k in range(400)]
    assert note(written) == "by its name, the numbers may be codes" * is_entity
    assert note([word.removesuffix(".0") for word in written]) == ""
    assert note([1.0 + k // 2 % 201 for k in range(804)]) == "by its name, the numbers may be codes" * is_entity  # many


AGES = [18.0 + k % 80 for k in range(400)]
SIGNED = [k % 61 / 10.0 - 3.0 for k in range(400)]


@pytest.mark.filterwarnings("ignore:Columns with a value that may mean missing")
@pytest.mark.parametrize(
    ("others", "value", "rows", "note"),
    [
        (AGES, 999, 37, "999 in 37 rows, and no other value above 97"),
        (AGES, -999, 3, "-999 in 3 rows, and no other value below 18"),
        (AGES, -1, 3, "-1 in 3 rows, and no other value below 18"),
        ([x / 7.0 for x in AGES], 9999, 4, "9999 in 4 rows, and no other value above 13.8571"),
        ([x**3 for x in AGES], -999, 5, "-999 in 5 rows, and no other value below 5832"),  # skewed, with a wide range
        ([x**3 for x in AGES], -9, 40, "-9 in 40 rows, and no other value below 5832"),
        ([x**3 for x in AGES], -999, 4, ""),
        ([x**3 for x in AGES], 9999, 40, ""),
        ([x**3 - 5833.5 for x in AGES], -999, 40, ""),  # with another negative value
        (AGES, 999, 2, ""),
        (AGES, 1000, 37, ""),
        (AGES, 99, 37, ""),  # an age
        (AGES, -2, 37, ""),
        ([x - 50.0 for x in AGES], -1, 37, ""),  # with other negative values
        ([x - 50.0 for x in AGES], 9999, 37, "9999 in 37 rows, and no other value above 47"),
        (SIGNED, -999, 60, "-999 in 60 rows, and no other value below -3"),
        (SIGNED, 99, 5, "99 in 5 rows, and no other value above 3"),
        (SIGNED, 99, 4, ""),
        (SIGNED * 3, 99, 12, ""),  # below 1 % of the values
        (SIGNED * 3, 99, 13, "99 in 13 rows, and no other value above 3"),
        ([x / 3.0 for x in SIGNED], 9, 37, ""),  # one nine
        ([k % 21 - 10 for k in range(400)], -9, 37, ""),  # not at an end
        ([k % 101 for k in range(400)], 99, 37, ""),
        ([20.0 * x for x in SIGNED], 99, 37, ""),  # nearer than the others are wide
        ([k % 10 for k in range(400)], 999, 37, ""),  # few values, which may be codes
        ([(k % 40) ** 4 / 40.0**4 for k in range(400)], -1, 37, ""),  # small numbers, such as differences
    ],
)
def test_a_number_that_may_mean_missing_has_a_note(others, value, rows, note):
    spread = np.linspace(0, len(others), rows, dtype=int)  # on both sides
    told = (note.partition(" in ")[0],) if note else ()
    assert apart(np.insert(np.array(others, float), spread, value)) == (note, told)


@pytest.mark.filterwarnings("ignore:Columns with a value that may mean missing")
@pytest.mark.parametrize(
    ("others", "values", "told"),
    [
        (AGES, (-7, -8, -9), "-9, -8 and -7 in 15 rows, and no other value below 18"),
        (AGES, (-1, -9), "-9 and -1 in 10 rows, and no other value below 18"),
        (AGES, (-1, -2), ""),  # may be differences
        ([x % 41 for x in AGES], (96, 98, 99), "96, 98 and 99 in 15 rows, and no other value above 40"),
        (AGES, (96, 98, 99), ""),  # ages
        (AGES, (997, 998, 999), "997, 998 and 999 in 15 rows, and no other value above 97"),
        (AGES, (-99, -98), "-99 and -98 in 10 rows, and no other value below 18"),
        ([x - 50.0 for x in AGES], (-7, -8, -9), ""),  # with other negative values
        (AGES, (990, 999), ""),
        ([x % 12 for x in AGES], (96, 98, 999), "96, 98 and 999 in 15 rows, and no other value above 11"),
        ([x % 12 for x in AGES], (77, 88, 99), "77, 88 and 99 in 15 rows, and no other value above 11"),
        ([x % 61 for x in AGES], (777, 888, 999), "777, 888 and 999 in 15 rows, and no other value above 60"),
        ([x % 61 for x in AGES], (96, 98) * 4, "96 and 98 in 40 rows, and no other value above 60"),  # often
        ([x % 61 for x in AGES], (96, 98), ""),
        (AGES, (-77, -88, -99), "-99, -88 and -77 in 15 rows, and no other value below 18"),
    ],
)
def test_numbers_that_may_mean_missing_are_told_together(others, values, told):
    note, numbers = apart([*others, *[float(x) for x in values for _ in range(5)]])
    assert note == told
    assert set(numbers) == ({str(x) for x in values if str(x) in told.split(" in ")[0]} if told else set())


BIRTHS = [str(np.datetime64("1950-01-05") + np.timedelta64(37 * k, "D")) for k in range(400)]


@pytest.mark.filterwarnings("ignore:Columns with a value that may mean missing")
@pytest.mark.parametrize(
    ("date", "n", "written", "told"),
    [
        ("1900-01-01", 37, "{0}-{1}-{2}", "1900-01-01 in 37 rows, and no other value before 1950-01-05"),
        ("1970-01-01", 37, "{0}-{1}-{2}", ""),  # others are earlier
        ("1900-01-01", 4, "{0}-{1}-{2}", ""),
        ("1900-01-02", 37, "{0}-{1}-{2}", ""),
        ("9999-12-31", 5, "{2}.{1}.{0}", "day first; 31.12.9999 in 5 rows, and no other value after 1990-06-07"),
        ("9999-12-31", 5, "{1}/{2}/{0}", "month first; 12/31/9999 in 5 rows, and no other value after 1990-06-07"),
        ("0001-01-01", 9, "{0}-{1}-{2} 00:00", "0001-01-01 00:00 in 9 rows, and no other value before 1950-01-05"),
    ],
)
def test_a_date_that_may_mean_no_date_has_a_note(date, n, written, told):
    def of(days):
        return {"x": np.array([written.format(*day.split("-")) for day in days], object)}

    H = from_table(of([*BIRTHS[::2], *[date] * n]), of(BIRTHS[1::2]))
    (plan,) = H.plan
    assert plan.note == told
    assert plan.apart == ((told.split("; ")[-1].partition(" in ")[0],) if told else ())


def test_the_most_frequent_date_may_be_true():
    """As many rows of another date, or a column of dates without text to mark: no note."""
    days = np.array([*BIRTHS, *["1900-01-01"] * 5, *[BIRTHS[9]] * 7])
    assert not from_table({"x": days.astype(object)}, {"x": np.array(BIRTHS[:50], object)}).plan[0].note
    typed = {"x": np.array([*BIRTHS, *["1900-01-01"] * 50], "M8[D]")}
    assert not from_table(typed, {"x": typed["x"][:50]}).plan[0].note


def test_values_that_may_mean_missing_are_in_the_warning_with_what_to_do():
    ages, days = [float(age) for age in AGES], [BIRTHS[k % len(BIRTHS)] for k in range(len(AGES))]
    a, b = {"age": [*ages, *[-999] * 9], "born": [*days, *["1900-01-01"] * 9]}, {"age": ages, "born": days}
    (H, said) = told(a, b)
    assert said == (
        "Columns with a value that may mean missing: age (-999), born (1900-01-01).\n"
        "H.plan has the reasons; replace values that mean missing with None"
    )
    assert [of.apart for of in H.plan] == [("-999",), ("1900-01-01",)]


def test_a_kind_may_be_written_with_a_hyphen():
    a, b = {"x": ["Rome", "ROME", "Bonn"] * 20}, {"x": ["rome", "Bonn", "Bonn"] * 20}
    assert made(a, b, kinds={"x": "any-case"}).to_dict() == made(a, b, kinds={"x": "any case"}).to_dict()


def test_the_warning_names_the_kinds_that_say_which_of_two_readings():
    marks, days = [f"{k},{k + 100}" for k in range(1, 90)], [f"{1 + k % 12:02}/{1 + k % 11:02}/2024" for k in range(89)]
    _, said = told({"z": marks, "day": days, "x": ["a"] * 89}, {"z": marks, "day": days, "x": ["b"] * 89})
    kinds = said.split("to change that: ")[1]
    assert kinds.startswith('"decimal point" or "decimal comma" says which mark numbers have before the fraction, "day')
    assert '"day first" or "month first" says what dates begin with' in kinds


@pytest.mark.parametrize(("words", "values"), [(["0,343", "-0,663", "2,338"], [0.343, -0.663, 2.338]),
                                               (["0.343", "1,234.5", "2.338"], [0.343, 1234.5, 2.338])])  # fmt: skip
def test_a_zero_in_front_is_no_thousand(words, values):
    column = [word for word in words for _ in range(20)]
    H = made({"z": column}, {"z": column[::-1]})
    assert H.plan[0].kind == "number"
    form, doubt = _numbers.number_form(words)
    assert (doubt, [_numbers.number(word, form) for word in words]) == ("", values)


def test_a_forgotten_level_of_an_ordered_kind_may_be_added():
    x = np.tile(["low", "medium", "high", "very urgent"], 30)
    with pytest.warns(TableWarning, match="do not read"):
        H = from_table({"priority": x[:60]}, {"priority": x[60:]}, kinds={"priority": ["low", "medium", "high"]})
    (ask,) = H.asks
    assert ask.kinds == ("low,medium,high,very urgent",)
    assert tells(plan.kind_hints(H)[0], "--kind 'priority=low,medium,high,very urgent'")


@pytest.mark.parametrize("column", [[0.5, 0.1, 7.0], np.array([5.5, 7.0], np.float32), [True, False]])
def test_numbers_without_percent_are_none_of_a_column_with_it(column):
    H = from_table({"x": ["12 %", "7.5%", "100%"]}, {"x": ["1 %", "2 %", "3 %"]})
    with raises(ValueError, f"has {re.escape(str(column[0]))} at row 0, .* a number with %"):
        H.evaluate({"x": column})


def test_the_auc_of_levels_is_that_of_all_pairs():
    pos, neg = ["paid"] * 60 + ["open"] + [None] * 20, ["open"] * 40 + [f"note {k}" for k in range(30)]
    (of,) = told({"c": pos}, {"c": neg})[0].plan
    level = {value: value if value in ("paid", "open", None) else "(rare)" for value in pos + neg}
    a, b = [Counter(map(level.get, side)) for side in (pos, neg)]
    share = {value: a[value] / (a[value] + b[value]) for value in a | b}
    pairs = [np.sign(share[level[x]] - share[level[y]]) for x, y in itertools.product(pos, neg)]
    assert of.separates
    assert f"AUC {0.5 + 0.5 * np.mean(pairs):.3f}" in of.note


@pytest.mark.parametrize(
    ("write", "is_id"),
    [
        ("~ {:,}.{:,}".format, False),
        ("{}:{}".format, False),
        ("{}/{}".format, False),
        ("INV-{}{}".format, True),
        ("C{}{}".format, True),
        ("{}x{}y-a1".format, True),
    ],
)
def test_digits_with_something_around_them_are_called_no_id(write, is_id):
    cells = {"x": [write(1000 + k * 37, k) for k in range(300)], "z": list(range(300))}
    G = told(cells, {"x": [word + "0" for word in cells["x"]], "z": cells["z"]})[0]
    assert G.plan[0].kind == "left out"
    assert ("an id" in G.plan[0].note) is is_id
    assert ("digits" in G.plan[0].note) is not is_id


def test_a_column_whose_rows_are_mostly_rare_is_told():
    words = ["a", "b"] * 60 + [f"{chr(97 + k % 26)}{chr(97 + k // 26)}z" for k in range(150)]
    G, said = told({"x": words}, {"x": words}, min_rows=20)
    assert G.plan[0].kind == "category"
    assert "300 of 540 rows have rare values" in G.plan[0].note
    assert "x" in said
    made({"x": words[:121]}, {"x": words[:121]})


@pytest.mark.parametrize("base", [2**53, 2**60, -(2**62)])
@pytest.mark.parametrize(
    "write",
    [
        lambda codes: np.array(codes),
        lambda codes: list(map(str, codes)),
        lambda codes: pd.Series(codes),
        lambda codes: pd.Series(codes, dtype="Int64"),
        lambda codes: pa.array(list(map(str, codes))),
    ],
)
def test_codes_that_are_one_float_stay_apart(write, base):
    """As a matrix of them is refused by `train`."""
    codes = [base + k % 4 for k in range(200)]
    G = made({"x": write(codes[:100])}, {"x": write(codes[100:])})
    assert (G.plan[0].kind, G.plan[0].values) == ("category", 4)
    lam = np.arange(1.0, 1.0 + len(G))
    assert len(set(pnorm.score({"x": write(codes[:4])}, G, lam).tolist())) == 4
    apart = [base + 4096 * k for k in range(200)]
    assert told_kind(write(apart[:100]), write(apart[100:])) == "number"


def told_kind(pos, neg):
    return said_if_any({"x": pos}, {"x": neg})[0].plan[0].kind


@pytest.mark.parametrize(
    ("words", "slips", "kind"),
    [
        (["unknown"], ["12 approx"], "number"),
        (["#NULL!"], ["#DIV/0!", "x"], "number"),
        (["unknown", "refused", "not stated"], [], "number"),
        (["ONLINE", "PHONE", "PARTNER"], [], "category"),
        (["unknown"], [f"w{k}" for k in range(40)], "category"),  # more than slips
    ],
)
def test_a_slip_beside_a_word_for_missing_loses_no_number(words, slips, kind):
    cells = [*[f"{20000 + 37 * k}" for k in range(200)], *words * (300 // len(words)), *slips]
    cells += cells[: len(cells) % 2]
    G, _ = said_if_any(*sides(cells))
    assert G.plan[0].kind == kind
    if kind == "number":
        assert G.plan[0].missing == 300 + len(slips)
        assert {f"c = {word}" for word in words} <= set(G.names)


@pytest.mark.parametrize(
    ("cells", "first", "parts"),
    [
        (["Dec-2015", "Jan-2016", "Feb-2019"], "2015-12-01", {"trend", "month"}),
        (["Dec-15", "Jan-16", "Feb-99"], "1999-02-01", {"trend", "month"}),
        (["12/2015", "01/2016", "2/2019"], "2015-12-01", {"trend", "month"}),
        (["2015-12", "2016-01", "2019-02"], "2015-12-01", {"trend", "month"}),
        (["17DEC2002", "18JAN2003", "1FEB2004"], "2002-12-17", {"trend", "weekday", "month"}),
        (["17DEC2002:10:33:44", "18JAN2003:20:00:01"], "2002-12-17 10:33:44", None),
        (["20221114T103238Z", "20230101T220000Z", "20240301T0905"], "2022-11-14 10:32:38", None),
        (["16/Jan/2017:10:33:44 +0000", "17/Jan/2018:20:33:44 +0000"], "2017-01-16 10:33:44", None),
        (["Mon, 05 Feb 2001 10:20:00 +0000", "Tue, 06 Feb 2002 11:20:00 +0000"], "2001-02-05 10:20", None),
        (["5. 3. 2024", "15. 3. 2024", "25. 4. 2025"], "2024-03-05", None),
    ],
)
def test_dates_of_loans_logs_and_statistics_programs(cells, first, parts):
    G, _ = said_if_any(*sides(cells * 40))
    assert G.plan[0].kind == "date"
    assert parts is None or set(G.column_names) - {"rest"} == {f"c ({part})" for part in parts}
    earliest = min(_times.date(cell, G._sources[0].reading.form.order, False, 1969) for cell in cells)
    assert _times.moment_text(earliest / 86400e6) == first


def test_digits_that_are_masked_are_not_advised_to_be_missing():
    cells = [f"{100 + 7 * k}" if k % 5 else f"{100 + 7 * k}**" for k in range(300)]
    G, _ = said_if_any(*sides(cells))
    plan = G.plan[0]
    assert plan.missing == 0
    assert "60 of the 300 values do not read" in plan.note
    assert "takes them for missing" not in plan.note
