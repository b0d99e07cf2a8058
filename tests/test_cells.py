"""Cells that real files have: years of two digits, words for missing values, spellings, and copies of the label."""

import contextlib
import csv
import decimal
import json
import random
import re
import shlex
import sqlite3
import warnings
from datetime import date, timedelta

import numpy as np
import pytest
from command import fixed, ran
from facts import raises, tells

import pnorm
from pnorm._checks import sheet
from pnorm._checks.words import plain_numbers
from pnorm._command.main import main
from pnorm._reasons.explain import moving_together
from pnorm.rankers import _times

QUICK = ("-p", "1", "-t", "20")


def table_of(X, y, **how):
    """The weak rankers of a dictionary of columns, and what was warned of."""
    y = np.asarray(y, bool)
    sides = [{name: [v for v, at in zip(x, side, strict=True) if at] for name, x in X.items()} for side in (y, ~y)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        H = pnorm.rankers.from_table(*sides, **how)
    return H, " ".join(str(warning.message) for warning in caught)


def halves(n):
    return np.arange(n) % 2 == 0


def days(n, written):
    return [(date(2021, 1, 1) + timedelta(37 * k % 1400)).strftime(written) for k in range(n)]


# Years of two digits


@pytest.mark.parametrize(
    ("word", "order", "meant"),
    [
        ("27.08.24", "day first", "2024-08-27"),
        ("8/27/24", "month first", "2024-08-27"),
        ("27/8/69", "day first", "1969-08-27"),
        ("27/8/68", "day first", "2068-08-27"),
        ("27/08/24 14:30", "day first", "2024-08-27 14:30"),
        ("27-Aug-24", "", "2024-08-27"),
    ],
)
def test_a_year_of_two_digits_is_that_of_python(word, order, meant):
    assert _times.moment_text(_times.date(word, order) / 86400e6) == meant


@pytest.mark.parametrize("word", ["27.08.124", "27.08.4", "31.02.24", "1.2.3"])
def test_other_years_are_no_dates(word):
    assert _times.date(word, "day first") is None


@pytest.mark.parametrize(("written", "order"), [("%d.%m.%y", "day first"), ("%m/%d/%y", "month first")])
def test_a_day_above_twelve_decides(written, order):
    x = days(120, written)
    H, said = table_of({"when": x}, halves(120))
    assert (H.plan[0].kind, said) == ("date", "")
    assert tells(H.plan[0].note, "two-digit years are read as 2021 to 2024")
    assert H._sources[0].reading.form.order == order
    again = pnorm.rankers.from_dict(H.to_dict())
    assert np.array_equal(again.evaluate({"when": x}), H.evaluate({"when": days(120, "%Y-%m-%d")}))


def test_an_order_in_doubt_is_told():
    x = [f"{1 + k % 12:02}/{1 + k % 11:02}/24" for k in range(120)]
    H, said = table_of({"when": x, "x": halves(120).tolist()}, halves(120))
    assert H.plan[0].kind != "date"
    assert said.startswith("Columns left out: when.\n")
    assert tells(H.plan[0].note, "may begin with the day or the month: 'day first' or 'month first' says which")
    H, _ = table_of({"when": x}, halves(120), kinds={"when": "day first"})
    assert H.plan[0].kind == "date"


def test_dashes_may_begin_with_the_year():
    H, _ = table_of({"when": days(120, "%y-%m-%d"), "x": halves(120).tolist()}, halves(120))
    assert H.plan[0].kind != "date"
    assert "may begin with the day, the month or the year" in H.plan[0].note
    x = [f"{1 + k % 28:02}-{1 + k % 12:02}-{90 + k % 9}" for k in range(120)]  # no day is 90
    assert table_of({"when": x}, halves(120))[0].plan[0].kind == "date"


# Words for missing values


def amounts(n=120, every=8, words=("k.A.",)):
    return [words[k // every % len(words)] if k % every == 0 else f"{100 + 7 * k}" for k in range(n)]


@pytest.mark.parametrize("words", [("k.A.",), ("TBD", "unknown"), ("tbd", "TBD")])
def test_repeated_words_among_numbers_are_missing(words):
    x = amounts(words=words)
    H, said = table_of({"amount": x}, halves(120))
    assert (H.plan[0].kind, H.plan[0].missing) == ("number", 15)
    assert "as missing (15 values)" in H.plan[0].note
    assert said.startswith("Columns with values that do not read: amount.\n")
    empty = ["" if word in words else word for word in x]
    again = pnorm.rankers.from_dict(H.to_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # new rows may have as many of them as they like
        outputs = again.evaluate({"amount": [*x, words[0].upper(), *[words[0]] * 200]})
        own = np.array([name.startswith("amount = ") for name in H.names])
        assert np.array_equal(outputs[:120, ~own], again.evaluate({"amount": empty})[:, ~own])
        assert np.array_equal(outputs[120:, ~own], again.evaluate({"amount": [None] * 201})[:, ~own])


@pytest.mark.parametrize(
    ("words", "levels"),
    [
        (("TBD", "unknown"), ["TBD", "unknown"]),  # each may say something else
        (("tbd", "TBD "), []),  # no more than that it is missing
        (("TBD", ""), ["TBD"]),
        (("85+",), ["85+"]),
        (("<0.05", ""), ["<0.05"]),
        (("refused", "85+"), ["85+", "refused"]),
    ],
)
@pytest.mark.parametrize("of", ["numbers", "dates"])
def test_words_among_numbers_have_indicators_of_their_own(words, levels, of):
    cells = amounts(300, 6, words)
    if of == "dates":
        cells = [str(date(2020, 1, 1) + timedelta(k)) if cell.isdigit() else cell for k, cell in enumerate(cells)]
    y = np.arange(300) % 3 == 0
    H, _ = table_of({"x": cells, "z": y.tolist()}, y)
    own = [name for name in H.names if name.startswith("x = ")]
    assert own == [f"x = {level}" for level in levels]
    assert H.plan[0].missing == 50
    H = pnorm.rankers.from_dict(json.loads(json.dumps(H.to_dict())))
    new = {"x": [*cells, *[level.upper() for level in levels], "  ", None], "z": [False] * (302 + len(levels))}
    outputs = H.evaluate(new)
    for level in levels:
        has = [cell is not None and cell.strip().lower() == level.lower() for cell in new["x"]]
        assert outputs[:, H.names.index(f"x = {level}")].tolist() == has
    lam = np.round(np.random.default_rng(2).normal(size=len(H)), 1) * [not n.startswith("z") for n in H.names]
    f = pnorm.score(new, H, lam)
    np.testing.assert_allclose(f, outputs @ lam, atol=1e-12)
    shapes = pnorm.shapes(lam, H, new)
    assert ("x (word)" in [shape.name for shape in shapes]) == bool(levels)
    reasons = pnorm.explain(new, H, lam)
    np.testing.assert_allclose(reasons.scores, f, atol=1e-9)
    card = pnorm.scorecard(H, lam, X=new)
    points, function = card.score(new), {}
    exec(card.to_python(), function)
    rows = [dict(zip(new, row, strict=True)) for row in zip(*new.values(), strict=True)]
    assert [function["points"](row) for row in rows] == points.tolist()
    if sqlite3.sqlite_version_info >= (3, 35):
        with contextlib.closing(sqlite3.connect(":memory:")) as db:
            db.execute('CREATE TABLE "rows" (n, x, z)')
            typed = [(k, float(x) if x and x.isdigit() else x, z) for k, (x, z) in enumerate(map(dict.values, rows))]
            db.executemany('INSERT INTO "rows" VALUES (?, ?, ?)', typed)
            told = db.execute(f"SELECT points FROM ({card.to_sql()}) ORDER BY n").fetchall()
        assert [of_row[0] for of_row in told] == points.tolist()


def test_a_word_is_a_value_where_numbers_are_few():
    H, _ = table_of({"n": ["0", "1", "2", "3", "4", "5", "many", "6"] * 20, "x": halves(160).tolist()}, halves(160))
    assert H.plan[0].kind == "category"
    assert "n = many" in H.names
    assert tells(H.plan[0].note, "the kind 'number' takes them for missing")


@pytest.mark.parametrize("words", [("S", "M", "L"), ("a", "b", "c", "d")])
def test_other_words_are_not_missing(words):
    H, _ = table_of({"n": amounts(240, words=words), "x": halves(240).tolist()}, halves(240))
    assert H.plan[0].kind != "number"


def test_dates_with_a_word_are_dates():
    x = [date(2024, 1, 1) + timedelta(k) if k % 8 else "tbd" for k in range(120)]  # as from a workbook
    H, _ = table_of({"when": x}, halves(120))
    assert (H.plan[0].kind, H.plan[0].missing) == ("date", 15)


# Spellings


def test_any_case_merges_spellings():
    x = ["Berlin", "berlin ", "BERLIN", "Berlin", "Bad  Ems", "bad ems"] * 20
    H, _ = table_of({"city": x}, halves(120))
    assert len(H) == 5
    H, _ = table_of({"city": x}, halves(120), kinds={"city": "any case"})
    assert H.names == ("city = Bad  Ems", "city = Berlin")
    assert "spellings are merged" in H.plan[0].note
    again = pnorm.rankers.from_dict(H.to_dict())
    assert again.evaluate({"city": ["bErLiN", "BAD EMS"]}).tolist() == [[0, 1], [1, 0]]
    lam = np.array([1.0, 2.0])
    assert pnorm.explain({"city": ["BERLIN", "bad ems"]}, again, lam).top(0) == ["city = Berlin (+0.500)"]
    card = pnorm.scorecard(H, lam, points=10)
    assert card.columns[0].any_case
    with raises(ValueError, "'any case', and SQL and source of Python do not merge"):
        card.to_python()


# Copies of the label


@pytest.mark.parametrize(("wrong", "agrees"), [(10, "97.5 %"), (60, "")])
def test_a_column_that_nearly_agrees_is_named_with_the_share(wrong, agrees):
    y = halves(400)
    closed = np.where(np.arange(400) < wrong, ~y, y)
    H, said = table_of({"closed": ["Y" if of else "N" for of in closed], "x": [k % 7 for k in range(400)]}, y)
    told = f"agrees with the label in {agrees} of the rows" if agrees else ""
    assert H.plan[0].agrees == told
    assert ("Columns that agree with the label: closed.\n" in said) == bool(agrees)
    assert not H.plan[0].separates


def test_a_good_measurement_is_no_copy():
    y = halves(400)
    x = np.random.default_rng(0).normal(size=400) + 2.6 * y
    assert pnorm.metrics.auc(x[y], x[~y]) > 0.95
    H, said = table_of({"x": x.tolist()}, y)
    assert (H.plan[0].agrees, said) == ("", "")


# Columns that have a value for one label only


def filled_for(n_pos, n_neg, of_pos, of_neg):
    """The cells of a column with dates in some positive rows and in some negative rows, and the labels."""
    y = np.arange(n_pos + n_neg) < n_pos
    filled = np.r_[np.arange(n_pos) < of_pos, np.arange(n_neg) < of_neg]
    dates = days(y.size, "%Y-%m-%d")
    return [word if at else "" for word, at in zip(dates, filled, strict=True)], y


@pytest.mark.parametrize(
    ("sides", "filled", "told"),
    [
        ((90, 6310), (68, 0), "has a value in 68 rows (all positive)"),
        ((90, 6310), (68, 3), "has a value in 71 rows (68 positive)"),
        ((90, 6310), (68, 4), ""),
        ((90, 6310), (10, 0), "has a value in 10 rows (all positive)"),
        ((90, 6310), (5, 0), "has a value in 5 rows (all positive)"),
        ((90, 6310), (4, 0), ""),
        ((2000, 6000), (9, 0), ""),  # 1 in 262,144 by chance
        ((90, 6310), (20, 6310), "is missing in 70 rows (all positive)"),
        ((6310, 90), (0, 68), "has a value in 68 rows (all negative)"),
        ((6310, 90), (6307, 22), "is missing in 71 rows (68 negative)"),
        ((90, 6310), (0, 3000), "has a value in 3,000 rows (all negative)"),  # of the larger side too
        ((90, 6310), (0, 900), ""),  # 3 in a million by chance
        ((90, 6310), (1, 3000), ""),
        ((300, 700), (0, 60), "has a value in 60 rows (all negative)"),
        ((700, 300), (640, 300), "is missing in 60 rows (all positive)"),
        ((200, 200), (20, 0), "has a value in 20 rows (all positive)"),
        ((200, 200), (19, 0), ""),  # 1 in 524,288 by chance
    ],
)
def test_a_column_with_values_for_one_label_only_is_named_with_the_rows(sides, filled, told):
    paid, y = filled_for(*sides, *filled)
    H, said = table_of({"paid": paid, "x": [k % 7 for k in range(y.size)]}, y)
    assert H.plan[0].one_sided == told
    heading = "Columns with values, or missing values, nearly all on one side: paid.\n"
    assert (heading in said) == ('"leave out" drops what is known only after the outcome' in said) == bool(told)
    assert (H.plan[1].one_sided, H.plan[0].separates, H.plan[0].agrees) == ("", False, "")


def test_a_kind_that_was_asked_for_is_no_warning():
    paid, y = filled_for(90, 6310, 68, 0)
    H, said = table_of({"paid": paid}, y, kinds={"paid": "date"})
    assert (H.plan[0].one_sided, said) == ("has a value in 68 rows (all positive)", "")


def test_a_column_that_separates_alone_has_one_warning():
    paid, y = filled_for(90, 310, 90, 0)
    H, said = table_of({"paid": paid}, y)
    assert (H.plan[0].separates, H.plan[0].one_sided) == (True, "")
    assert said.startswith("Columns that separate positives from negatives nearly alone: paid.\n")
    assert "on one side" not in said


def test_a_value_that_only_a_minority_of_the_positives_has_is_no_leak():
    y = np.arange(6400) < 90
    gain = np.where(np.arange(6400) < 40, 15024, np.arange(6400) % 5)
    H, said = table_of({"gain": gain.tolist(), "code": ["z" if k < 40 else "abcd"[k % 4] for k in range(6400)]}, y)
    assert [(of.note, of.one_sided) for of in H.plan] == [("", ""), ("", "")]
    assert said == ""


@pytest.mark.parametrize("side", [True, False])
@pytest.mark.parametrize(
    ("own", "others", "told"),
    [
        ([0] * 100, [0] * 20 + list(range(1, 281)), True),
        ([-1] * 98 + [-2, -3], [-1] * 20 + list(range(1, 281)), False),
        ([0] * 100, [0] * 180 + list(range(1, 121)), False),  # as most others are
        (["z"] * 100, ["z"] * 60 + ["a", "b", "c"] * 80, True),
        (["z"] * 12, ["z"] * 60 + ["a", "b", "c"] * 80, False),  # by chance
        (["x", "y"] * 50, ["x", "y"] * 60 + ["f"] * 180, True),
        ([99.5] * 110 + list(range(0, 300, 2)), list(range(300)), True),  # a value in the middle
        ([99.5] * 90 + list(range(0, 340, 2)), list(range(300)), False),  # fewer rows than many
        ([900.0 + k for k in range(120)] + list(range(0, 300, 2)), list(range(300)), True),  # a range apart
        ([300.0 + k for k in range(120)] + list(range(0, 300, 2)), list(range(300)), False),  # and one that is not
        (["x", "y"] * 49 + ["f"] * 2, ["x", "y"] * 60 + ["f"] * 180, False),
    ],
)
def test_a_value_of_one_side_alone_is_told(own, others, told, side):
    """Of the smaller side or of the larger one, in any order of the rows."""
    y = np.r_[np.full(len(own), side), np.full(len(others), not side)]
    cells = own + others
    table = {"x": cells, "age": [k % 50 for k in range(y.size)]}
    H, _ = table_of(table, y)
    assert bool(H.plan[0].one_sided) is told
    mixed = np.random.default_rng(0).permutation(y.size)
    assert table_of({name: [column[k] for k in mixed] for name, column in table.items()}, y[mixed])[0].plan == H.plan


# Values in reasons, and columns that move together


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1234.5, 12000, 0.1], ["1,234.5", "12,000.0", "0.1"]),
        ([12345.67, 5.0], ["12,345.67", "5.00"]),
        ([2021, 1999.0], ["2021", "1999"]),
        ([9999.999, 2777.67], ["10,000.00", "2,777.67"]),
        ([9000, 10000], ["9000", "10,000"]),
        ([0.123456789, 12.5], ["0.1235", "12.5000"]),
        ([12000.5, 1e-7], ["12,000.5", "1e-07"]),
        ([None, "x", True, 2.5], [None, "x", "True", "2.5"]),
    ],
)
def test_values_of_a_column_have_one_precision(values, told):
    assert list(map(sheet.column_text(values), values)) == told


def test_columns_that_move_together_are_found():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=300), rng.normal(size=300)
    X = {"signed": x.tolist(), "called": np.exp(x + 0.01 * rng.normal(size=300)).tolist(), "other": z.tolist()}
    H, _ = table_of(X, halves(300))
    ((a, b, r),) = moving_together(X, H, np.ones(len(H)))
    assert ((a, b), r > 0.95) == (("signed", "called"), True)


# The command


def us_file(path):
    draw = random.Random(0)
    rows = []
    for k in range(400):
        x = draw.lognormvariate(7, 0.8)
        won = draw.random() < 0.2 + 0.5 * (x < 1000)
        at = date(2021, 1, 1) + timedelta(draw.randrange(1400))
        called = at + timedelta(draw.randrange(9))
        amount = "n/k" if k % 9 == 0 else f"${x:,.2f}"
        closed = "NY"[won != (k % 40 == 0)]
        size = ("tiny", "vast", "1", "2")[k % 4] if k % 5 == 0 else draw.choice("1234")
        rows.append(
            [amount, draw.choice(["NYC", "nyc ", "Boston"]), f"{at:%m/%d/%y}", f"{called:%m/%d/%y}", size, closed]
        )
        rows[-1].append("yes" if won else "no")
    with open(path, "w", newline="") as stream:
        csv.writer(stream).writerows([["Amount", "City", "Signed", "Called", "Size", "Closed", "Won"], *rows])
    return str(path)


def test_a_file_of_a_user(capsys, tmp_path):
    path, model, out = us_file(tmp_path / "us.csv"), str(tmp_path / "m.json"), str(tmp_path / "o.csv")
    asked = [path, "--label", "Won", *QUICK, "--kind", "City=any-case", "--missing", "tiny", "--missing", "vast"]
    assert main([*asked, "--details", "--save", model, "--out", out]) == 0
    told = " ".join(capsys.readouterr()[0].split())
    assert "'n/k' counts as missing (" in told
    assert tells(told, "If it means no value: --missing n/k; to keep it as a level: --kind Amount=category")
    assert tells(told, "two-digit years are read as 2021 to 2024")
    assert "Is the column known only after the outcome?" in told
    assert "Size number 4" in told
    assert tells(told, "Signed and Called move together (rank correlation 1.00); their reasons share one effect.")
    new = str(tmp_path / "new.csv")
    with open(new, "w", newline="") as stream:
        rows = [["Amount", "City", "Signed", "Called", "Size", "Closed"]]
        rows += [["N/K", "Nyc", "3/14/24", "3/15/24", "VAST", "Y"], ["", "NYC", "03/14/24", "03/15/24", "", "Y"]]
        csv.writer(stream).writerows(rows)
    assert main([new, "--model", model, "--out", out]) == 0
    assert capsys.readouterr()[1] == ""
    with open(out, newline="", encoding="utf-8") as stream:
        scores = [row["score"] for row in csv.DictReader(stream)]
    assert scores[0] == scores[1]


def test_the_first_run_names_the_options(capsys, tmp_path):
    path = us_file(tmp_path / "us.csv")
    out = ran(capsys, path, "--label", "Won", *fixed(0.1))
    told = " ".join(out.split())
    assert tells(told, "To merge values that differ only in case or spaces: --kind City=any-case")
    assert tells(told, "--kind Size=number, or --missing tiny --missing vast")
    assert len(out.split("\nNext steps\n")[0].splitlines()) <= 69


def parts_of_columns(table, model):
    """What each column of a table adds to the scores, from changes of one column at a time."""
    n = len(next(iter(table.values())))
    still = {name: np.full(n, of[0]) for name, of in table.items()}
    return {name: model.score(still | {name: of}) - model.score(still) for name, of in table.items()}


def test_columns_among_the_reasons_that_move_together_are_named(capsys, tmp_path):
    rng, y, path = np.random.default_rng(3), np.arange(400) % 2 == 0, tmp_path / "t.csv"
    cost = y + rng.normal(size=400)
    columns = {"cost": cost, "price": 2.0 * cost + 0.1 * rng.normal(size=400), "age": rng.normal(size=400) + 0.3 * y}
    columns |= {"far": np.round(0.01 * rng.normal(size=400), 3), "y": y.astype(int)}
    with open(path, "w", newline="") as stream:
        csv.writer(stream).writerows([list(columns), *zip(*[of.tolist() for of in columns.values()], strict=True)])
    model, steps = tmp_path / "m.json", {}
    asked = [str(path), "--label", "y", *QUICK]
    for more in ([], ["--top", "0"]):
        assert main([*asked, "--save", str(model), *more]) == 0
        steps[bool(more)] = capsys.readouterr()[0]
    told = " ".join(steps[False].split())
    pattern = r" cost and price move together \(rank correlation \d\.\d\d\); their reasons share one effect\. "
    assert len(re.findall(pattern, told)) == 1
    of = pnorm.load(model)
    table = {name: columns[name] for name in ("cost", "price", "age", "far")}
    spread = {name: np.std(part) for name, part in parts_of_columns(table, of).items()}
    weak, strong = sorted(("cost", "price"), key=spread.get)
    assert f"Leave out {weak}, which moves together with {strong}" in steps[False]
    assert f" --ignore {weak}\n" in steps[False]
    # columns that were named by --only are named again, as --ignore may not name one of them
    assert main([*asked, "--only", "cost,price,age"]) == 0
    pattern = r"Leave out (\w+), which moves together with (\w+):?\s+pnorm (.*)"
    ((weak, strong, again),) = re.findall(pattern, capsys.readouterr()[0])
    assert {weak, strong} == {"cost", "price"}
    words = shlex.split(again)
    assert words[words.index("--only") :] in (["--only", f"{strong},age"], ["--only", f"age,{strong}"])
    assert main(words) == 0
    capsys.readouterr()
    assert "together" not in steps[True]  # without rows there are no reasons
    assert main([*asked, "--ignore", weak]) == 0
    assert "together" not in capsys.readouterr()[0]


@pytest.mark.parametrize(
    ("word", "number"),
    [
        *[(word, np.nan) for word in ("nan", "NaN", "nan ", " n/a", "?", "")],
        *[(word, None) for word in ("-nan", "+nan", "inf", "-inf", "Infinity", "1e999")],
        ("2", 2.0),
    ],
)
def test_a_word_for_nothing_has_no_sign_and_infinity_is_no_number(word, number):
    words = [*["1", "3.5"] * 12, word]  # a look at the first ones does not show it
    for column in (words, pytest.importorskip("pyarrow").array(words)):
        found = plain_numbers(column)
        assert (found is None) == (number is None)
        if found is not None:
            np.testing.assert_array_equal(found.numbers, [*[1.0, 3.5] * 12, number])


# Times


def in_days(words):
    """The numbers that a column of durations has in days, and the note on it."""
    H, _ = table_of({"t": words * 20, "x": halves(20 * len(words)).tolist()}, halves(20 * len(words)), min_rows=1)
    reading = pnorm.rankers.from_dict(json.loads(json.dumps(H.to_dict())))._sources[0].reading
    if reading.kind == "category":
        return reading.kind, [], H.plan[0].note
    return (
        H.plan[0].kind,
        [None if (of := reading.meaning()(word)) is None else of / 86400e6 for word in words],
        H.plan[0].note,
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["45m", "1h 5m", "2h", "30 m"], [45 / 1440, 65 / 1440, 2 / 24, 30 / 1440]),
        (["45m", "5 h", "30m"], [45 / 1440, 5 / 24, 30 / 1440]),
        (["6M", "1Y", "10Y"], [6 * 30.44, 365.25, 3652.5]),
        (["45m", "20s", "1m 5s"], [45 / 1440, 20 / 86400, 65 / 86400]),
        (["3m", "1y", "2y 6m"], [3 * 30.44, 365.25, 2 * 365.25 + 6 * 30.44]),
        (["5:07", "45:30", "61:00", "1:02:03"], [307 / 86400, 2730 / 86400, 3660 / 86400, 3723 / 86400]),
    ],
)
def test_an_m_alone_has_the_meaning_that_other_durations_give_it(words, expected):
    kind, found, note = in_days(words)
    assert kind == "duration"
    assert found == pytest.approx(expected)
    assert "is read as" in note


@pytest.mark.parametrize("words", [["30m", "45m", "12m"], ["30m", "4d", "2w"], ["5:07", "12:30", "23:59"]])
def test_an_m_that_may_be_anything_and_times_of_day_are_no_durations(words):
    assert in_days(words)[0] != "duration"


@pytest.mark.parametrize(
    ("word", "moment"),
    [
        ("01-JAN-24 10.15.00 PM", "2024-01-01T22:15"),
        ("01-JAN-24 10.15.00.250000 AM", "2024-01-01T10:15:00.25"),
        ("2024-01-05-10.15.00.000000", "2024-01-05T10:15"),
        ("31.12.2023 23.59", "2023-12-31T23:59"),
        ("2024-01-05-10", None),
    ],
)
def test_clocks_behind_dates_may_have_points(word, moment):
    expected = None if moment is None else float(np.datetime64(moment, "us").astype(np.int64))
    assert _times.date(word, "day first") == expected


@pytest.mark.parametrize(
    ("years", "first", "last"),
    [
        (range(31, 99), 1931, 1998),  # births
        ([*range(35, 100), *range(7)], 1935, 2006),
        (range(31, 66), 1931, 1965),  # none of them need be in the future
        (range(22, 51), 2022, 2050),  # loans
        (range(10, 25), 2010, 2024),
        ([*range(95, 100), *range(24)], 1995, 2023),
        ([*range(70, 100), *range(24)], 1970, 2023),
        (range(22, 77), 2022, 2076),  # the last date is fifty years ahead
        (range(22, 78), 1922, 1977),
        (range(27, 60), 2027, 2059),  # the first one is in the next year
        (range(28, 60), 1928, 1959),
        ([26, 70], 1970, 2026),  # none is ahead
    ],
)
def test_two_digit_years_are_those_of_one_hundred(years, first, last, monkeypatch):
    monkeypatch.setattr(_times, "_this_year", lambda: 2026)
    years = list(years)
    x = [f"{13 + k % 15:02}/{1 + k % 12:02}/{years[k % len(years)]:02}" for k in range(300)]
    H, _ = table_of({"born": x}, halves(300))
    assert f"two-digit years are read as {first} to {last}" in H.plan[0].note
    again = pnorm.rankers.from_dict(json.loads(json.dumps(H.to_dict())))
    full = [word[:6] + str(next(y for y in range(first, last + 1) if y % 100 == int(word[6:]))) for word in x]
    assert np.array_equal(again.evaluate({"born": x}), again.evaluate({"born": full}))


# The word none


def test_none_that_may_be_a_level_has_a_note_and_an_option(tmp_path, capsys):
    cells = [["none", "minor", "None ", "major", ""][k % 5] for k in range(300)]
    y = np.arange(300) % 3 == 0
    H, said = table_of({"damage": cells, "x": y.tolist()}, y)
    assert H.plan[0].missing == 180
    assert "'none' counts as missing (120 values)" in H.plan[0].note
    kind = H.plan[0].none_levels.split(",")
    assert set(kind) == {"none", "minor", "major"}
    H, _ = table_of({"damage": cells}, y, kinds={"damage": ["none", "minor", "major"]})
    assert (H.plan[0].missing, H.plan[0].none_levels) == (60 + 60, "")  # "None " is no level of this name
    path = tmp_path / "t.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["damage", "x", "won"], *zip(cells, range(300), y, strict=True)])
    assert main([str(path), "--label", "won", "--holdout", "0", *QUICK]) == 0
    (option,) = re.findall(r"If none is a level of damage: --kind (\S+)", " ".join(capsys.readouterr().out.split()))
    assert main([str(path), "--label", "won", "--holdout", "0", *QUICK, "--kind", option]) == 0


@pytest.mark.parametrize(
    "cells",
    [
        ["none", "1", "2", "31", "4", "5", "6", "7", "8", "9", "10", "11", "12"],
        ["NA", "a", "b"],
        ["none", *"abcdefghijklm"],
    ],
)
def test_none_among_numbers_and_other_words_for_missing_have_no_such_note(cells):
    cells, y = [cells[k % len(cells)] for k in range(600)], np.arange(600) % 3 == 0
    H, _ = table_of({"damage": cells, "x": y.tolist()}, y)
    assert "'none' counts" not in H.plan[0].note


# One reading from any container


@pytest.mark.parametrize("start", [2**53, 1234567890123456789])
def test_whole_numbers_that_would_be_one_float_are_levels_from_any_container(start):
    pd, pl, pa = [pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow")]
    numbers = [start + k % 9 for k in range(90)]
    column = {"x": numbers}
    forms = [column, pd.DataFrame(column), pl.DataFrame(column), pa.table(column), {"x": list(map(str, numbers))}]
    H = pnorm.rankers.from_table(column, column)
    assert H.names == tuple([f"x = {start + k}" for k in range(9)])
    for X in forms:
        assert pnorm.rankers.from_table(X, X) == H
        assert np.array_equal(H.evaluate(X), np.eye(9)[np.arange(90) % 9])
    few = {"x": [start, *range(80)]}  # of which no two are one float
    assert pnorm.rankers.from_table(few, few).plan[0].kind == "number"


def test_decimals_of_any_container_are_those_of_their_digits():
    pd, pa = [pytest.importorskip(name) for name in ("pandas", "pyarrow")]
    column = {"x": [decimal.Decimal(k) / 100 for k in range(1, 200)]}
    expected = pnorm.rankers.from_table({"x": [k / 100 for k in range(1, 200)]}, {"x": [0.01]})
    for X in (column, pd.DataFrame(column), pa.table(column)):
        assert pnorm.rankers.from_table(X, {"x": [0.01]}) == expected


@pytest.mark.filterwarnings("ignore:Columns with values that do not read")
@pytest.mark.parametrize("words", [["refused", "85+"], ["tbd", "k.A."]])
def test_the_order_of_words_among_numbers_is_not_that_of_the_rows(words):
    numbers = [str(k % 90) for k in range(200)]
    one, other = [pnorm.rankers.from_table({"x": some * 20 + numbers}, {"x": numbers}) for some in (words, words[::-1])]
    assert one.to_dict() == other.to_dict()


def test_wide_digits_are_digits_of_dates_too():
    wide = {48 + k: 0xFF10 + k for k in range(10)}
    column = [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(300)]
    H = pnorm.rankers.from_table({"d": [x.translate(wide) for x in column]}, {"d": column})
    assert H.plan[0].kind == "date"
    assert pnorm.rankers.from_table({"d": column}, {"d": column}) == H


def test_none_beside_yes_and_no_has_a_note_too():
    cells = ["none", "yes", "no", "yes"] * 50
    H, _ = table_of({"x": cells, "z": halves(200).tolist()}, halves(200))
    assert (H.plan[0].kind, H.plan[0].missing) == ("boolean", 50)
    assert "'none' counts as missing (50 values)" in H.plan[0].note
