"""Rows that stand for a table: one reading of it whole, in batches, in another order, and with the labels exchanged."""

import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from command import BATCHED, QUICK, ran
from facts import raises, tells, warns
from repeats import trials
from test_from_table import FORMS, NEG, POS, H, odd_column, ordered_forms

import pnorm
from pnorm._coded import sample
from pnorm._coded.sample import TableSample
from pnorm._tables import open_sources
from pnorm.rankers import TableWarning, from_table

X = {"a": [1.0, 2.0, 3.0, 4.0], "b": ["u", "v", "u", None]}
Y = np.array([True, False, True, False])


def quietly(make, *args, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return make(*args, **how)


def taken(X, rows):
    return {name: [column[k] for k in rows] for name, column in X.items()}


def in_line(X, y, size):
    """The sample of batches of so many rows, one after the other."""
    found = TableSample()
    for k in range(0, len(y), size):
        found.add(taken(X, range(len(y))[k : k + size]), y[k : k + size], k)
    return found


def pairwise(X, y, size):
    """The merged samples of batches of so many rows, as on a cluster."""
    parts = [
        TableSample().add(taken(X, range(len(y))[k : k + size]), y[k : k + size], k) for k in range(0, len(y), size)
    ]
    return functools.reduce(TableSample.merge, parts)


MEASURED = ["1 234,50 EUR", "17", "-3.5", "2,14,609", "12 days", "3/4/2024", "2024-01-05", "unknown", "7.50", "B12", "0012",
            "1.234", "", "none", "0", "35,7", "22 780", "1.5K", "03:15", "yes"]  # fmt: skip


def table_at_random(draw):
    """Columns of cells of one form or of two, and of any values; labels with both classes."""
    n = int(draw.integers(40, 120))
    table = {}
    for k in range(3):
        one, other = draw.choice(MEASURED, 2)
        numbers = [one.replace("2", str(d % 10)).replace("3", str(d % 7)) for d in draw.integers(0, 1000, n)]
        table[f"m{k}"] = [
            other if odd else x for odd, x in zip(draw.random(n) < draw.choice([0.02, 0.2, 0.4]), numbers, strict=True)
        ]
        table[f"c{k}"] = odd_column(draw, n)
    y = draw.random(n) < 0.5
    y[:2] = True, False
    return table, y


def readings(table):
    found = [{key: value for key, value in of.items() if key != "unread"} for of in table.to_dict()["sources"]]
    for part in [part for of in found for part in of["parts"]]:  # True and 1 are one level, of either name
        part["names"] = [name.replace("= True", "= 1").replace("= False", "= 0") for name in part["names"]]
    return found, [of.kind for of in table.plan]


@pytest.mark.parametrize("seed", trials(40))
def test_one_table_has_one_reading(seed):
    draw = np.random.default_rng(seed)
    table, y = table_at_random(draw)
    size, order = int(draw.integers(1, 30)), draw.permutation(y.size)
    sides = [taken(table, np.flatnonzero(side)) for side in (y, ~y)]
    others = {
        "batches": lambda: in_line(table, y, size).rankers(min_rows=2),
        "merged": lambda: pairwise(table, y, size).rankers(min_rows=2),
        "shuffled": lambda: in_line(taken(table, order), y[order], y.size).rankers(min_rows=2),
        "labels exchanged": lambda: from_table(*sides[::-1], min_rows=2),
    }
    try:
        expected = quietly(from_table, *sides, min_rows=2)
    except (ValueError, TypeError):
        for make in others.values():
            with pytest.raises((ValueError, TypeError)):
                quietly(make)
    else:
        assert {name: readings(quietly(make)) for name, make in others.items()} == dict.fromkeys(
            others, readings(expected)
        )


def rows_at_random(n, different):
    rng = np.random.default_rng(4)
    at = rng.integers(0, different, n) if different < n else np.arange(n)
    amount, word = np.round(rng.lognormal(3, 1, different), 3), rng.choice(["a", "b", "c", ""], different)
    return {"x": [f"{v:.3f}" for v in amount[at]], "c": word[at].tolist()}, rng.random(n) < 0.3


@pytest.mark.parametrize("different", [3000, 700, 40])
def test_a_sample_does_not_depend_on_the_order_nor_on_the_batches(different, monkeypatch):
    monkeypatch.setattr(sample, "MOST", 500)
    table, y = rows_at_random(3000, different)
    order = np.random.default_rng(1).permutation(y.size)

    def rows_of(found):
        part = found._whole()
        assert part.positive.size == part.rows.size == 500
        return sorted(zip(part.table["x"], part.table["c"], strict=True))

    expected = rows_of(in_line(table, y, 3000))
    for size in (7, 400, 1000):
        found = in_line(taken(table, order), y[order], size)
        assert rows_of(found) == expected
        assert found.sizes == (np.count_nonzero(y), np.count_nonzero(~y))
        part = found._whole()
        assert part.table == taken(taken(table, order), part.rows)  # each with its number
        assert part.positive.tolist() == y[order][part.rows].tolist()


@pytest.mark.parametrize("make", [in_line, pairwise])
@pytest.mark.parametrize("different", [6000, 40])
def test_a_sample_has_the_distribution_of_all_rows(make, different, monkeypatch):
    monkeypatch.setattr(sample, "MOST", 1500)
    table, y = rows_at_random(6000, different)
    part = make(table, y, 250)._whole()
    x, drawn = np.sort(np.float64(table["x"])), np.sort(np.float64(part.table["x"]))
    apart = x.searchsorted(x, "right") / x.size - drawn.searchsorted(x, "right") / drawn.size
    assert np.abs(apart).max() < 1.63 / np.sqrt(part.rows.size / (1 + 5 * (make is pairwise and different < 6000)))
    assert abs(part.positive.mean() - y.mean()) < 0.05


def test_copies_are_counted_until_too_many_rows_differ(monkeypatch):
    monkeypatch.setattr(sample, "_COUNTED", 10)
    copies, often = sample._Copies(), np.uint64(7)
    keys = [copies.keys(np.r_[often, often, np.arange(100 * k, 100 * k + 6, dtype=np.uint64)]) for k in range(1, 4)]
    assert np.unique(np.concatenate(keys)).size == 24  # all copies differ from one another
    assert copies._known.tolist() == [often]
    assert copies._times.tolist() == [6]
    alone = sample._Copies().keys(np.array([often], np.uint64))
    assert alone[0] == keys[0][0]


def test_options_apply_to_the_sample_as_to_all_rows(monkeypatch):
    table, y = rows_at_random(4000, 4000)
    table["level"] = [f"v{k % 15}" for k in range(3600)] + ["seldom"] * 12 + ["often"] * 388
    monkeypatch.setattr(sample, "MOST", 1000)
    found = quietly(in_line(table, y, 500).rankers, min_rows=60, n_cuts=9)
    expected = quietly(from_table, *[taken(table, np.flatnonzero(side)) for side in (y, ~y)], min_rows=60, n_cuts=9)
    assert [name for name in found.names if "level" in name] == [name for name in expected.names if "level" in name]
    assert [of.rankers for of in found.plan] == [of.rankers for of in expected.plan]


def test_columns_go_by_name():
    swapped = {"b": X["b"], "a": X["a"]}
    again = TableSample().add(X, Y).add(swapped, Y, 4)
    assert again.columns == ("a", "b")
    assert again.rankers(min_rows=1).to_dict() == TableSample().add(X, Y).add(X, Y, 4).rankers(min_rows=1).to_dict()
    for other, named in (({"a": X["a"]}, "'b'"), ({**X, "c": X["a"]}, "'c'"), (np.ones((4, 3)), "3 columns")):
        with raises(ValueError, named):
            TableSample().add(X, Y).add(other, Y)
        with raises(ValueError, named):
            TableSample().add(X, Y).merge(TableSample().add(other, Y))
    with raises(ValueError, r"4 rows of rows; got shape \(3,\)"):
        TableSample().add(X, Y[:3])


@pytest.mark.parametrize(
    "empty", [[], {"a": [], "b": []}, pd.DataFrame({"b": [], "a": []}), pd.DataFrame(), np.empty((0, 2))]
)
def test_batches_without_rows_change_nothing(empty):
    none, expected = np.empty(0, bool), TableSample().add(X, Y).rankers(min_rows=1).to_dict()
    assert TableSample().add(X, Y).add(empty, none).rankers(min_rows=1).to_dict() == expected
    if len(np.shape(empty)) == 2 or isinstance(empty, dict) or len(empty):
        first = TableSample().add(empty, none)
        assert first.merge(TableSample().add(X, Y)).sizes == (2, 2)
    with pytest.raises(ValueError, match="no positive rows"):
        TableSample().add(empty, none).rankers()


@pytest.mark.parametrize("form", FORMS)
def test_batches_come_in_any_container(form):
    found, parts, start = TableSample(), [], 0
    n = len(POS["age"])
    for size in [25] * (n // 25) + [n % 25] * (n % 25 > 0):  # one half of each batch is positive
        columns = {name: POS[name][start : start + size] + NEG[name][start : start + size] for name in POS}
        batch = FORMS[form](columns), np.repeat([True, False], size), 2 * start
        found.add(*batch)
        parts.append(TableSample().add(*batch))
        start += size
    for whole in (found, pickle.loads(pickle.dumps(functools.reduce(TableSample.merge, parts)))):
        assert (whole.rankers().names, whole.rankers().plan) == (H.names, H.plan)


def test_batches_of_several_types_are_one_column():
    parts = [
        {"x": [1, 2], "flag": [True, False], "city": ["Rome", "Oslo"], "day": np.array(["2020-01-01", "2020-01-02"], "M8[ns]")},
        {"x": [2.5, None], "flag": [None, True], "city": pd.Categorical(["Oslo", "Ulm"]), "day": pd.to_datetime(["2021-03-01"] * 2)},
        {"x": np.array([3, 4], np.int8), "flag": [False, True], "city": pd.Categorical(["Ulm", None]), "day": ["2020-01-03", None]},
    ]  # fmt: skip
    whole = {"x": [1, 2, 2.5, None, 3, 4], "flag": [True, False, None, True, False, True],
             "city": ["Rome", "Oslo", "Oslo", "Ulm", "Ulm", None],
             "day": ["2020-01-01", "2020-01-02", "2021-03-01", "2021-03-01", "2020-01-03", None]}  # fmt: skip
    expected = quietly(from_table, *[{name: x[k::2] for name, x in whole.items()} for k in (0, 1)], min_rows=1)
    for make in (dict, pd.DataFrame):
        found = TableSample()
        for k, part in enumerate(parts):
            found.add(make(part), Y[:2], 2 * k)
        assert found.rankers(min_rows=1).to_dict() == expected.to_dict()


def test_ordered_levels_of_all_batches_are_the_same_or_none():
    values, order = ["low", "mid", None, "top", "low", "mid", "high"], ["low", "mid", "high", "top"]
    y = np.arange(7) % 2 == 0
    for name, of in ordered_forms(values, order).items():
        other = ordered_forms(values, order[::-1])[name]
        assert TableSample().add(of, y).add(of, y).rankers().names == from_table(of, of).names
        if name == "pandas":
            assert TableSample().add(of, y).add(other, y).rankers(min_rows=1).plan[0].kind == "category"


def test_declared_levels_in_batches_are_levels_whatever_they_are_called():
    grades = pd.Categorical(["none", "low", "high"] * 40, ["none", "low", "high"], ordered=True)
    frame = pd.DataFrame({"grade": grades, "won": np.arange(120) % 2})
    parts = TableSample()
    for k in range(0, 120, 30):
        parts.add(frame[["grade"]][k : k + 30], frame.won[k : k + 30] == 1, k)
    assert parts.rankers().names == pnorm.code_rows(frame, "won").H.names == ("grade > none", "grade > low")


@pytest.mark.parametrize("rows", [list, np.array, pd.DataFrame])
def test_rows_without_names(rows):
    cells = [[k % 7, k % 3] for k in range(60)]
    y = np.arange(60) % 2 == 0
    found = TableSample().add(rows(cells[:20]), y[:20]).add(rows(cells[20:]), y[20:], 20)
    assert found.rankers().names == from_table(rows(cells)[::2], rows(cells)[1::2]).names


def test_rows_in_messages_are_those_of_all_batches():
    def rankers(values, **how):
        return in_line({"x": values}, np.arange(6) % 3 != 1, 3).rankers(**how)

    with raises(ValueError, r"^rows has inf at row 4, column 0 \('x'\)"):
        rankers([1.0, 2.0, 3.0, 4.0, np.inf, 6.0])
    with raises(ValueError, r"^rows has '1' at row 0, column 0 \('x'\)"):
        rankers(["1", "2", "3", "four", "five", "six"], kinds={"x": "date"})
    with warns(TableWarning, r"values that do not read: x\.\n"):
        G = rankers(["1", "2", "3", "4", "5", "six"], kinds={"x": "number"})
    assert "'six' (row 5 of rows" in G.plan[0].note


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
def test_words_that_do_not_read_are_counted_in_all_rows(monkeypatch):
    monkeypatch.setattr(sample, "MOST", 500)
    rng = np.random.default_rng(0)
    u, y = rng.random(4000), rng.random(4000) < 0.3
    amounts = [f"{x:.2f}" for x in rng.normal(size=4000)]
    table = {
        "few": np.where(u < 0.02, "tbc", np.where(u < 0.03, "", amounts)).tolist(),
        "many": np.where(
            u < 0.5, "unknown", np.where(u < 0.6, "refused", np.where(u < 0.601, "odd", amounts))
        ).tolist(),
        "won": np.where(y, "yes", "no").tolist(),
    }
    n = {word: table[name].count(word) for name, word in (("few", "tbc"), ("many", "unknown"), ("many", "refused"))}
    few, many = quietly(pnorm.code_rows, table, "won").H.plan
    assert f"{n['tbc']:,} values do not read" in few.note
    assert f"'refused' and 'unknown' count as missing ({n['refused'] + n['unknown']:,} values)" in many.note
    assert many.missing == n["refused"] + n["unknown"] + table["many"].count("odd")


@pytest.mark.parametrize("how", ["rows", "command"])
def test_missing_values_are_counted_in_all_rows(how, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sample, "MOST", 500)
    table, y = rows_at_random(3000, 3000)
    table["x"] = ["" if k % 9 == 0 else x for k, x in enumerate(table["x"])]
    frame = pd.DataFrame({**table, "won": np.where(y, "yes", "no")})
    n_missing = [int((frame[name] == "").sum()) for name in table]
    if how == "rows":
        assert [of.missing for of in pnorm.code_rows(frame, "won").H.plan] == n_missing
        return
    frame.to_csv(tmp_path / "t.csv", index=False)
    arguments = [tmp_path / "t.csv", "--label", "won", "--holdout", 0, *QUICK, *BATCHED]
    assert tells(ran(capsys, *arguments, "--save", tmp_path / "m.json"), "counts of 500 of the 3,000 training rows")
    assert [of.missing for of in pnorm.load(tmp_path / "m.json").H.plan] == n_missing


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 0), (0, 2), (2, 1)])
def test_a_column_that_is_a_category_in_one_file_is_one_in_all(order, tmp_path):
    """Writers keep text as it is or as a category; a set of files of both kinds has one reading."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    codes, label = rng.integers(0, 12, 600).astype(str), rng.integers(0, 2, 600)
    writers = [
        lambda x: pa.array(x).dictionary_encode(),
        lambda x: pa.array(x, pa.large_string()),
        lambda x: pa.array(x, pa.string()),
    ]
    for k, (at, of) in enumerate(zip(np.array_split(np.arange(600), 2), order, strict=True)):
        table = pa.table({"size": writers[of](codes[at]), "n": pa.array(at * 0.5), "y": pa.array(label[at])})
        parquet.write_table(table, tmp_path / f"{k}.parquet")
    read = pnorm.code_rows(tmp_path, "y").H.plan
    whole = open_sources([str(tmp_path)])
    table = {name: whole.column(name) for name in ("size", "n")}
    frames = [{name: x.filter(pa.array(label == side)) for name, x in table.items()} for side in (1, 0)]
    expected = "category" if 0 in order else "number"
    assert [of[0].kind for of in (read, pnorm.rankers.from_table(*frames).plan)] == [expected] * 2


def test_a_level_of_a_sample_has_two_rows_at_least(monkeypatch):
    monkeypatch.setattr(sample, "MOST", 20)
    words = [f"w{k}" if k % 2 else "often" for k in range(200)]
    H = quietly(TableSample().add({"a": words, "b": np.arange(200) % 7}, np.arange(200) % 3 == 0).rankers, min_rows=5)
    assert [name for name in H.names if name.startswith("a")] == ["a = often", "a = (rare)"]
