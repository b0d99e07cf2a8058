"""Scorecards, checked against points that are looked up by hand, and in every form that they are written in."""

import bisect
import csv
import datetime
import decimal
import gzip
import importlib.util
import io
import itertools
import json
import math
import re
import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pytest
from facts import raises, warns
from problems import HOME, needs
from repeats import each_value

import pnorm
from pnorm import rankers
from pnorm._reasons.card_sql import _last_micro
from pnorm.rankers import UnknownLevelWarning
from pnorm.rankers._readings import DAY, HOUR

RNG = np.random.default_rng(7)
X = RNG.normal(size=(80, 3)).round(2) + 0.0
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
TOWNS = [
    [town, float(size)] for town, size in zip(RNG.choice(["Bonn", "Köln", "Ulm"], 80), X[:, 0].round(), strict=True)
]
GAPS = [[None if RNG.random() < 0.2 else town, size] for town, size in TOWNS]

HAS_DUCKDB = all(map(importlib.util.find_spec, ("duckdb", "pyarrow")))


def halves(rows):
    return rows[: len(rows) // 2], rows[len(rows) // 2 :]


COLLECTIONS = {
    "columns": (X, rankers.columns(3)),
    "normalized": (X, rankers.normalized(*halves(X), -1.0, 1.0)),
    "cuts": (X, rankers.quantile_thresholds(*halves(X), 9)),
    "cuts, missing, lines": (HOLES, rankers.quantile_thresholds(*halves(HOLES), 9, missing="own", linear=True)),
    "lines alone": (HOLES, rankers.quantile_thresholds(*halves(HOLES), missing="own", linear="only")),
    "lines of a table": (HOLES, rankers.from_table(*halves(HOLES), linear="only")),
    "categories": (TOWNS, rankers.categories(*halves(TOWNS))),
    "categories, missing": (GAPS, rankers.categories(*halves(GAPS), missing="own")),
    "closed": (X, rankers.closed(rankers.quantile_thresholds(*halves(X), 4))),
    "union": (X, rankers.columns(3) + rankers.closed(rankers.thresholds([[0], [], [-1, 1]])) + rankers.normalized(*halves(X))),
}  # fmt: skip


def made(kind, points=20):
    rows, H = COLLECTIONS[kind]
    lam = np.random.default_rng(3).normal(size=len(H))
    pos, neg = halves(rows)
    return rows, H, lam, pnorm.scorecard(H, lam, points=points, pos=pos, neg=neg, p=4)


def looked_up(table, row):
    """The points of a row, a dictionary by column, from the dictionary of a scorecard; None where it has none."""
    total = 0
    for column in table["columns"]:
        x = read_off(row[column.get("source", column["column"])], column.get("read_off"))
        if x is None or x != x or str(x).strip().lower() in column.get("missing_words", ()):
            points = column["missing"]
        elif column.get("read_off") == "truth":
            points = column["points"][x]
        elif "cuts" in column:
            points = column["points"][bisect.bisect_left(column["cuts"], x)]
        else:
            points = dict(zip(column["levels"], column["points"], strict=True)).get(x, column["other"])
        total = None if points is None or total is None else total + points
    return total


DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def read_off(x, what):
    """What a program that reads the JSON makes of a value; dates and times of day may be text."""
    if what is None or x is None or x != x or x == "?":
        return x
    if what == "truth":
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[str(x).lower()]
    if what == "days":
        return x if isinstance(x, float) else x / datetime.timedelta(days=1)
    if what == "hours":
        at = datetime.datetime.fromisoformat(f"1970-01-01 {x}")
        return (at - datetime.datetime(1970, 1, 1)) / datetime.timedelta(hours=1)
    at = datetime.datetime.fromisoformat(str(x)).replace(tzinfo=None)
    of = {"weekday": DAYS[at.weekday()], "month": MONTHS[at.month - 1], "hour": at.hour}
    return of.get(what, (at - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1))


def from_sqlite(query, names, rows):
    with closing(sqlite3.connect(":memory:")) as base:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        base.execute(f"CREATE TABLE rows ({quoted})")
        base.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", rows)
        found = base.execute(query)
        assert [head[0] for head in found.description] == [*names, "points"]
        return [row[-1] for row in found]


def from_duckdb(query, names, rows):
    import duckdb
    import pyarrow

    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    with duckdb.connect() as base:
        base.register("rows", pyarrow.table({**columns, "number of row": range(len(rows))}))
        found = base.execute(query).fetchall()  # in any order
        return [row[-1] for row in sorted(found, key=lambda row: row[-2])]


def from_python(source, names, rows):
    space = {}
    exec(source, space)
    return [space["points"](dict(zip(names, row, strict=True))) for row in rows]


def plain(rows):
    """Rows as lists of Python values, with None for missing values."""
    return [[None if value != value else value for value in row] for row in (np.asarray(rows, object)).tolist()]


def check_exports(card, names, rows, points):
    """Every form of a scorecard gives the points of every row."""
    points = points.tolist()
    assert from_sqlite(card.to_sql(), names, rows) == points
    assert from_python(card.to_python(), names, rows) == points
    table = json.loads(card.to_json())
    assert table == card.to_dict()
    assert [looked_up(table, dict(zip(names, row, strict=True))) for row in rows] == points
    if HAS_DUCKDB:
        assert from_duckdb(card.to_sql(), names, rows) == points


@each_value()
@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("points", [1, 10, 100])
def test_rounding_moves_no_difference_by_more_than_the_bound(kind, points):
    rows, H, lam, card = made(kind, points)
    f, q = pnorm.score(rows, H, lam), card.score(rows)
    moved = q / card.scale - f
    assert np.ptp(moved) <= card.bound
    assert card.bound <= 1.100001 * len(card.columns) / card.scale  # a residue is half a point and a bit at most
    largest = max([max(c.points + tuple(n for n in (c.other, c.missing) if n is not None)) for c in card.columns])
    assert points / 2 - 1 <= largest <= points
    assert all(min(c.points + ((c.other,) if c.other is not None else ())) >= 0 for c in card.columns)
    pos, neg = halves(rows)
    for p in (1.0, 4.0, 64.0):
        found = card.compare(pos, neg, p)
        assert abs(found.log_objective[1] - found.log_objective[0]) <= p * card.bound + 1e-9
    assert card.compare(pos, neg, 4) == card.rounding


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_all_forms_give_the_same_points(kind):
    rows, H, lam, card = made(kind)
    check_exports(card, H.column_names, plain(rows), card.score(rows))


def test_a_finer_card_costs_less():
    bounds = [made("cuts", points)[3].bound for points in (5, 50, 500)]
    assert bounds[0] > 5 * bounds[1] > 25 * bounds[2]


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_neighbours_have_different_points_and_shares_add_up(kind):
    rows, H, lam, card = made(kind)
    for column in card.columns:
        if column.other is None:
            assert all(a != b for a, b in itertools.pairwise(column.points))
            assert len(column.points) == len(column.cuts) + 1
        np.testing.assert_allclose(sum(column.shares) + column.missing_share, 1.0, atol=1e-12)
    table = card.to_frame() if pytest.importorskip("pandas") else None
    np.testing.assert_array_equal(table["points"], [row["points"] for row in card.rows()])


def test_a_card_is_a_scoring_function_of_its_own(tmp_path):
    rows, _, _, card = made("cuts, missing, lines")
    np.testing.assert_array_equal(card.lam, np.rint(card.lam))
    pnorm.save(tmp_path / "card.json", card.lam, card.H)
    loaded = pnorm.load(tmp_path / "card.json")
    np.testing.assert_array_equal(card.offset + loaded.score(rows), card.score(rows))


def test_lines_become_steps_of_one_point_and_stay_at_their_ends():
    card = pnorm.scorecard(rankers.columns(1), [0.5], points=4, X=[[0.0], [8.0]])
    (column,) = card.columns
    assert column.points == (0, 1, 2, 3, 4)
    np.testing.assert_allclose(column.cuts, [1.0, 3.0, 5.0, 7.0], atol=1e-12)
    assert card.score([[-100.0], [1.5], [100.0]]).tolist() == [0, 1, 4]
    np.testing.assert_allclose(card.bound, 1.0, atol=1e-8)  # half a point, two of which are 1, either way
    digits = pnorm.scorecard(rankers.columns(1), [1 / 7.0], points=3, X=[[1 / 3.0], [1000 / 3.0]])
    assert digits.columns[0].cuts == (60.0, 170.0, 280.0)
    falling = pnorm.scorecard(rankers.normalized([[0.0], [8.0]], [[4.0]]), [-3.0], points=2)
    assert falling.columns[0].points == (2, 1, 0)
    np.testing.assert_allclose(falling.columns[0].cuts, [2.0, 6.0], atol=1e-12)
    assert falling.rounding is None


def test_pairs_in_another_order_are_counted():
    from pnorm._reasons.rounding import _changed

    for n in (1, 2, 7, 40):
        f_pos, f_neg = RNG.integers(0, 9, n) / 7.0, RNG.integers(0, 9, 2 * n) / 7.0
        q_pos, q_neg = RNG.integers(0, 5, n), RNG.integers(0, 5, 2 * n)
        f, q = f_pos[:, None] - f_neg, q_pos[:, None] - q_neg
        expected = ((f * q < 0).mean(), ((f != 0) & (q == 0)).mean())
        np.testing.assert_allclose(_changed((f_pos, f_neg), (q_pos, q_neg)), expected, atol=1e-15)


def test_the_comparison_is_that_of_the_measures():
    rows, H, lam, card = made("cuts", 5)
    (f_pos, f_neg), (q_pos, q_neg) = halves(pnorm.score(rows, H, lam)), halves(card.score(rows))
    found = card.rounding
    objective = pnorm.objectives.value(q_pos / card.scale, q_neg / card.scale, pnorm.objectives.Power(4))
    np.testing.assert_allclose(found.log_objective[1], objective, rtol=1e-12)
    assert found.positives_at_top == (
        pnorm.metrics.positives_at_top(f_pos, f_neg),
        pnorm.metrics.positives_at_top(q_pos, q_neg),
    )
    np.testing.assert_allclose(found.auc[1], pnorm.metrics.auc(q_pos.astype(float), q_neg.astype(float)))
    assert 0.0 < found.reordered < 0.2
    assert 0.0 < found.tied < 0.2
    assert "pairs in another order" in str(card)


NAMES = ['a "b"', "c'd; DROP TABLE rows", "<i>\x1b", "Größe"]
STRANGE = [
    ['x"y', 1.5, True, "it's"],
    ["", -0.1, False, "=1+1"],
    ["None", 3e-300, True, "; --"],
    ["\u202etxt", 1e22, False, "NULL"],
]


def strange():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(STRANGE, columns=NAMES)
    H = rankers.categories(frame[[NAMES[0], NAMES[2], NAMES[3]]], frame[[NAMES[0], NAMES[2], NAMES[3]]])
    return frame, H + rankers.quantile_thresholds(frame[[NAMES[1]]], frame[[NAMES[1]]], 3)


def test_strange_names_and_values_are_quoted():
    frame, H = strange()
    lam = np.arange(1.0, 1.0 + len(H)) * (-1.0) ** np.arange(len(H))
    card = pnorm.scorecard(H, lam, points=1000, X=frame)
    assert len(set(card.score(frame))) == 4
    check_exports(card, NAMES, STRANGE, card.score(frame))
    page, text = card.to_html(), str(card)
    assert "<i>" not in page
    assert "\x1b" not in page + text
    assert "http" not in page
    read = list(csv.DictReader(io.StringIO(card.to_csv())))
    assert {row["column"] for row in read} == set(NAMES)
    assert {row["level"] for row in read if row["column"] == NAMES[3]} >= {"it's", "=1+1", "NULL"}
    with raises(ValueError, r"holds a NUL, which no SQL can hold"):
        card.to_sql("a\0b")


def test_values_that_no_training_row_had():
    H = rankers.categories([["a", 1.0], ["b", 2.0]], [["c", None], ["a", 2.0]], names=["u", "v"], missing="own")
    lam = [3.0, -1.0, 2.0, 1.0, -2.0, -5.0]
    card = pnorm.scorecard(H, lam, points=10)
    rows = [["a", 1.0], ["z", 2.0], ["b", 7.5], [None, None], ["c", None]]
    with pytest.warns(pnorm.rankers.UnknownLevelWarning):
        points = card.score(rows)
    with pytest.warns(pnorm.rankers.UnknownLevelWarning):
        f = pnorm.score(rows, H, lam)
    assert np.ptp(points / card.scale - f) <= card.bound
    check_exports(card, ["u", "v"], rows, points)


def test_a_missing_value_where_none_may_be_has_no_points():
    card = pnorm.scorecard(rankers.thresholds([[1.0]], names=["a"]), [2.0], points=10)
    assert from_sqlite(card.to_sql(), ["a"], [[None], [0.0], [2.0]]) == [None, 0, 10]
    assert looked_up(card.to_dict(), {"a": math.nan}) is None
    with pytest.raises(ValueError, match="a is missing"):
        from_python(card.to_python(), ["a"], [[None]])
    with pytest.raises(ValueError, match="X has nan"):
        card.score([[math.nan]])


def test_a_column_that_a_table_lacks_is_an_error_in_sql():
    card = pnorm.scorecard(rankers.thresholds([[1.0]], names=["a"]), [2.0], points=10)
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        from_sqlite(card.to_sql(), ["b"], [[0.0]])


def test_many_columns_are_added_in_groups():
    n = 1200
    rows = RNG.integers(0, 2, (3, n)).astype(float)
    card = pnorm.scorecard(rankers.thresholds([[0.5]] * n), np.ones(n), points=1)
    assert from_sqlite(card.to_sql(), [f"x{j}" for j in range(n)], rows.tolist()) == rows.sum(axis=1).tolist()


def test_frames_of_different_columns_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"town": [t for t, _ in TOWNS], "more": "?", "b": X[:, 1], "a": X[:, 0]})
    H = rankers.quantile_thresholds(frame[["a"]], frame[["a"]], 4) + rankers.normalized(frame[["b"]], frame[["b"]])
    H = H + rankers.categories(frame[["town"]], frame[["town"]])
    lam = RNG.normal(size=len(H))
    card = pnorm.scorecard(H, lam, pos=frame[:40], neg=frame[40:])
    assert np.ptp(card.score(frame) / card.scale - pnorm.score(frame, H, lam)) <= card.bound
    names = ["a", "b", "town"]
    check_exports(card, names, frame[names].to_numpy(object).tolist(), card.score(frame))


def test_models_bring_their_own_rankers():
    H, lam = rankers.thresholds([[0.0], [1.0, 2.0]]), np.array([1.0, 0.5, -0.25])
    model = pnorm.ScoringFunction(lam, H, 4.0, {}, "0")
    pos, neg = X[:40, :2], X[40:, :2]
    card = pnorm.scorecard(model, pos=pos, neg=neg)
    assert card.to_json() == pnorm.scorecard(H, lam).to_json()
    assert card.rounding.p == 4.0
    of_columns = pnorm.scorecard(None, [1.0, -2.0], pos=pos, neg=neg)
    assert [column.name for column in of_columns.columns] == ["x0", "x1"]
    pytest.importorskip("sklearn")
    from pnorm.sklearn import PNormPush

    fitted = PNormPush(t_max=10).fit(X, np.arange(80) % 2)
    q = pnorm.scorecard(fitted).score(X)
    assert np.ptp(q / pnorm.scorecard(fitted).scale - pnorm.score(X, fitted.rankers_, fitted.lam_)) < 1.0


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([len], [1.0]), {}, TypeError, "H must be a collection"),
        ((rankers.callables([len]), [1.0]), {}, TypeError, "len is a function, which has no table"),
        ((rankers.columns(1), [1.0]), {}, ValueError, "x0 is a column as it is: pass pos and neg, or X"),
        ((None, [1.0]), {}, ValueError, "H=None means columns as they are, which need rows"),
        (
            (rankers.thresholds([[1]]), [0.0]),
            {},
            ValueError,
            r"with these coefficients \(lam\) no column moves the score",
        ),
        ((rankers.thresholds([[1]]), [1.0]), {"points": 0}, ValueError, "points must be at least 1"),
        ((rankers.thresholds([[1]]), [1.0]), {"pos": [[1.0]]}, ValueError, "pos and neg go together"),
        ((rankers.thresholds([[1]]), [1.0]), {"X": [["a"]]}, (TypeError, ValueError), "X has"),
        ((rankers.thresholds([[1]]),), {}, TypeError, "lam is missing"),
        ((rankers.thresholds([[1]]), [1.0]), {"p": 0.5}, ValueError, "p must be at least 1"),
    ],
)
def test_what_has_no_scorecard(arguments, options, error, message):
    with raises(error, message):
        pnorm.scorecard(*arguments, **options)


def test_the_name_of_the_function_is_a_name():
    card = pnorm.scorecard(rankers.thresholds([[1.0]]), [2.0], points=10)
    assert "def risk(row):" in card.to_python("risk")
    with raises(ValueError, "name must be a name of a function; got 'a b'"):
        card.to_python("a b")


# Public sets ---------------------------------------------------------------------------------------------

FILES = {"pima": "pima-indians-diabetes.csv", "wdbc": "wdbc.data", "housing": "housing.csv", "magic": "magic04.data",
         "ionosphere": "ionosphere.data", "spambase": "spambase.data"}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(file)) for name, file in FILES.items()])
def test_all_forms_agree_on_public_sets_of_numbers(name):
    data = getattr(pnorm.datasets, name)(HOME)
    H = rankers.quantile_thresholds(data.pos, data.neg, 32, names=data.names)
    check_public(data.pos, data.neg, H, data.names)


def test_all_forms_agree_on_boards():
    data = pnorm.datasets.tic_tac_toe()
    check_public(data.pos, data.neg, rankers.normalized(data.pos, data.neg, names=data.names), data.names)


@needs("bank-full.csv.gz")
def test_all_forms_agree_on_a_public_set_with_text():
    pandas = pytest.importorskip("pandas")
    pos, neg = public_table("bank-full.csv.gz", ";", "yes")
    text = [name for name in pos if not pandas.api.types.is_numeric_dtype(pos[name])]
    numbers = [name for name in pos if name not in text]
    H = rankers.quantile_thresholds(pos[numbers], neg[numbers], 32, missing="own", linear=True)
    check_public(pos, neg, H + rankers.categories(pos[text], neg[text]), pos.columns)


@needs("bank-full.csv.gz")
def test_all_forms_agree_on_a_public_table():
    pos, neg = public_table("bank-full.csv.gz", ";", "yes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pnorm.rankers.TableWarning)
        H = rankers.from_table(pos, neg, n_cuts=32, linear=True)
    lam = check_public(pos, neg, H, pos.columns)
    for rows in (pos, neg):
        found = pnorm.explain(rows, H, lam, reference=neg)
        np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), pnorm.score(rows, H, lam), atol=1e-12)


def public_table(file, delimiter, positive):
    """Both sides of a file, as it lies there."""
    pandas = pytest.importorskip("pandas")
    with gzip.open(HOME / file, "rt") as lines:
        frame = pandas.read_csv(lines, sep=delimiter, skipinitialspace=True)[::8]
    y = frame.iloc[:, -1] == positive
    frame = frame.iloc[:, :-1]
    return frame[y], frame[~y]


def check_public(pos, neg, H, names):
    lam, _ = pnorm.train(pos, neg, H, p=4, t_max=60)
    card = pnorm.scorecard(H, lam, pos=pos, neg=neg, p=4)
    rows = [row for side in (pos, neg) for row in np.asarray(side, object).tolist()]
    check_exports(card, list(names), rows, np.r_[card.score(pos), card.score(neg)])
    moved = [card.score(side) / card.scale - pnorm.score(side, H, lam) for side in (pos, neg)]
    assert np.ptp(np.concatenate(moved)) <= card.bound
    return lam


# Tables of mixed columns ---------------------------------------------------------------------------------


def mixed(n=300):
    """Rows of a dictionary of columns: what `from_table` makes weak rankers of, and their labels."""
    rng = np.random.default_rng(11)
    days = np.datetime64("2024-01-01") + rng.integers(0, 500, n)
    table = {
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 80, n)).tolist(),
        "town": [None if rng.random() < 0.1 else town for town in rng.choice(["Bonn", "Köln", "Ulm"], n).tolist()],
        "smoker": (rng.random(n) < 0.3).tolist(),
        "when": days.tolist(),
    }
    return table, rng.random(n) < 0.3 + 0.2 * np.array(table["smoker"])


def part_of(table, keep):
    return {name: [value for value, kept in zip(column, keep, strict=True) if kept] for name, column in table.items()}


def test_tables_of_mixed_columns_have_reasons_and_scorecards():
    table, y = mixed()
    pos, neg = part_of(table, y), part_of(table, ~y)
    H = rankers.from_table(pos, neg, n_cuts=9)
    lam = RNG.normal(size=len(H))
    f = pnorm.score(table, H, lam)
    found = pnorm.explain(table, H, lam, reference=neg)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), f, atol=1e-12)
    assert "when (weekday)" in found.names
    row = pnorm.explain(table, H, lam, reference={name: column[5] for name, column in table.items()})
    assert not row.contributions[5].any()
    texts = " ".join(found.reasons(9))
    assert "town = " in texts
    assert "smoker = " in texts
    card = pnorm.scorecard(H, lam, pos=pos, neg=neg)
    assert np.ptp(card.score(table) / card.scale - f) <= card.bound
    for shape in pnorm.shapes(lam, H, table):
        np.testing.assert_allclose(shape.shares.sum() + shape.missing_share, 1.0, atol=1e-12)
    assert pnorm.shapes(lam, H)["smoker"].levels == ("False", "True")
    rows = [list(row) for row in zip(*table.values(), strict=True)]
    rows = [["?" if value is None else None if value != value else value for value in row] for row in rows]
    check_typed_and_text(card, list(table), rows, card.score(table))


@pytest.mark.parametrize(
    ("write", "form", "others"),
    [
        ("${:,.2f}".format, (".", "$"), ["12.5", 12.5, "$ 900", "-$5", "1,234", "\N{MINUS SIGN}5 $", "1 234 567.5", "n/a",
                                     "2,14,609", "$1,05,00,000.5", "5-", "$7 -", "30.5-$",
                                     "(5)", "$(1,234.5)", "( $ 5 )", "USD 5", "12.5 AUD", "(7 CAD)"]),
        ("{:.2f}".format, (".", ""), ["12", 12, 1234.5678901234567, "1e3", "-1.5E-1", ".5", "+2", "1,234.5", "nan", "", "(5)", " (1,234.50) "]),
        ("{:d} %".format, ("", "%"), ["7%", "% 7", "-3 %", None]),
        (str, ("", ""), ["12.5", 12.5, 7, "-5", " 40 ", "1e2", "1 234", "1'234'567", "30-", "40.-", "1234.--", '="12"',
                         "\N{FULLWIDTH DIGIT FOUR}\N{FULLWIDTH DIGIT TWO}", "\N{ARABIC-INDIC DIGIT SEVEN}"]),
        ("CHF {:d}.-".format, ("", "CHF"), ["12", "SFr. 40", "CHF 1'234.-", "-7,-", "Fr. 12.--"]),
        (
            lambda x: f"{x:,.2f} €".translate(str.maketrans(",.", ".,")),
            (",", "€"),
            ["1.234", 1.234, 1234, "12,5", "€12,5", "1'234,5 €", "1\N{NO-BREAK SPACE}234,5", "7 €"],
        ),
    ],
)  # fmt: skip
def test_text_that_is_numbers_has_the_points_of_the_numbers(write, form, others):
    """But in SQL: data bases compare text with numbers as text, or read the number at its beginning: "1,234" as 1."""
    values = [*(RNG.permutation(60) * 37 - 40).tolist(), 1_234_567, 98_765]
    texts = [write(x) for x in values]
    H = rankers.from_table({"amount": texts[::2]}, {"amount": [*texts[1::2], None]}, n_cuts=40)
    card = pnorm.scorecard(H, RNG.random(len(H)), points=1000)
    assert card.columns[0].form == form
    assert card.to_dict()["columns"][0]["form"] == dict(zip(("point", "unit"), form, strict=True))
    source = card.to_python()
    rows = [[text] for text in texts] + [[x] for x in others]
    points = card.score({"amount": [x for (x,) in rows]}).tolist()
    assert from_python(source, ["amount"], rows) == points
    wrong = [
        "abc",
        "1-2",
        "12 GBP",
        "1,23,4",
        "--5",
        "-5-",
        "1,234,56,789",
        "12,34,56",
        "1.2.3",
        "5e",
        "£5",
        "12x",
        "1,234.567,8",
        ".",
        "(-5)",
        "5)",
        "(5",
        "5(3)",
        "0.234,5" if form[0] == "," else "0,234.5",  # thousands have no zero in front
    ]
    for x in wrong:
        with warns(UnknownLevelWarning, "amount.*does not read as a number"):
            assert card.score({"amount": [x]}) == card.score({"amount": [None]})
        with pytest.raises(ValueError, match=r"number|convert"):
            from_python(source, ["amount"], [[x]])
    written = [x for x in texts if not re.fullmatch(r"-?\d+(\.\d+)?", x)]
    assert card.columns[0].written == min(written, default="")
    query = "" if written else card.to_sql()
    if not query:
        return
    typed = [k for k, (x,) in enumerate(rows) if x in (None, "", "nan") or not isinstance(x, str)]
    text = [[x] for x in (*texts, *wrong, "1,234.5")]
    assert from_sqlite(query, ["amount"], text) == [None] * len(text)
    assert from_sqlite(query, ["amount"], [rows[k] for k in typed]) == [points[k] for k in typed]
    if HAS_DUCKDB:
        numbers = [k for k in typed if not isinstance(rows[k][0], str)]
        assert from_duckdb(query, ["amount"], [rows[k] for k in numbers]) == [points[k] for k in numbers]
        with pytest.raises(Exception, match="Cannot compare values of type VARCHAR and type DOUBLE"):
            from_duckdb(query, ["amount"], text)


def check_typed_and_text(card, names, rows, points):
    """Every form of a scorecard gives the points of every row, with dates of their types and as text."""
    text = [[str(x) if isinstance(x, (datetime.date, datetime.time)) else x for x in row] for row in rows]
    check_exports(card, names, text, points)
    points = points.tolist()
    assert from_python(card.to_python(), names, rows) == points
    if HAS_DUCKDB:
        assert from_duckdb(card.to_sql(), names, rows) == points
    stamps = [[x.replace(" ", "T") if isinstance(x, str) and x[4:5] == "-" else x for x in row] for row in text]
    assert from_sqlite(card.to_sql(), names, stamps) == points


EDGES = [
    "1969-12-31 23:59:59.999999", "1970-01-01", "1899-12-31 12:00", "1900-02-28", "1900-03-01", "2000-02-29 23:00:00",
    "2000-03-01 00:00:00", "2023-12-31 23:59:59", "2024-01-01", "2024-02-29 07:05:00.25", "2100-02-28", "2100-03-01",
]  # fmt: skip


def test_every_day_and_hour_has_its_points_in_all_forms():
    rng = np.random.default_rng(0)
    at = [datetime.datetime.fromisoformat(edge) for edge in EDGES]
    at += (np.datetime64("1890-01-01") + rng.integers(0, 250 * 365, 300)).tolist()
    at += (np.datetime64("1950-01-01T00:00:00.000000") + rng.integers(0, 10**16, 300)).tolist()
    at = [x if isinstance(x, datetime.datetime) else datetime.datetime(x.year, x.month, x.day) for x in at] + [None] * 9
    times = [None if x is None else x.time() for x in at]
    waits = [None if k % 7 == 0 else k / 1024 for k in range(len(at))]
    table = {
        "when": at,
        "at": times,
        "wait": [None if wait is None else datetime.timedelta(days=wait) for wait in waits],
    }
    H = rankers.from_table(table, table, n_cuts=40)
    assert {"when (trend)", "when (weekday)", "when (month)", "when (hour)", "at", "wait"} == set(H.column_names)
    card = pnorm.scorecard(H, rng.normal(size=len(H)), points=500)
    rows = [list(row) for row in zip(at, times, waits, strict=True)]
    names, points = list(table), card.score(table)
    text = [[str(x) if isinstance(x, (datetime.date, datetime.time)) else x for x in row] for row in rows]
    assert from_sqlite(card.to_sql(), names, text) == points.tolist()
    table = card.to_dict()
    assert [looked_up(table, dict(zip(names, row, strict=True))) for row in rows] == points.tolist()
    spans = [[*row[:2], None if row[2] is None else datetime.timedelta(days=row[2])] for row in text]
    assert from_python(card.to_python(), names, spans) == points.tolist()
    if HAS_DUCKDB:
        assert from_duckdb(card.to_sql(), names, rows) == points.tolist()
        assert from_duckdb(card.to_sql(), names, text) == points.tolist()


@pytest.mark.parametrize(("unit", "start", "stop"), [(DAY, -4e15, 4e15), (HOUR, 0, 86400e6)], ids=["days", "hours"])
def test_a_cut_ends_with_the_last_microsecond_whose_quotient_is_not_above(unit, start, stop):
    for at in np.random.default_rng(0).integers(start, stop, 500) / unit:
        for cut in (math.nextafter(at, -math.inf), float(at), math.nextafter(at, math.inf)):
            last = _last_micro(cut, unit)
            assert last / unit <= cut < (last + 1) / unit


def test_dates_in_another_form_have_no_points_in_sql():
    table = {"when": [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=k) for k in range(60)]}
    H = rankers.from_table(table, table)
    card = pnorm.scorecard(H, RNG.normal(size=len(H)))
    right, zone = card.score(table)[1].item(), "2024-01-02T00:00:00+02:00"
    odd = ["02.01.2024", "20240102", "2024-01-02 9:05", "2024-01-02 09:05 PM", "2024-1-2"]
    assert from_sqlite(card.to_sql(), ["when"], [[x] for x in odd]) == [None] * len(odd)
    assert from_sqlite(card.to_sql(), ["when"], [["2024-01-02"], [zone]]) == [right, right]
    assert from_python(card.to_python(), ["when"], [[zone]]) == [right]
    with pytest.raises(ValueError, match="Invalid isoformat"):
        from_python(card.to_python(), ["when"], [["02.01.2024"]])


def test_rare_and_new_levels_have_the_points_of_rare_ones():
    towns = np.random.default_rng(0).choice(["a", "b", "c", "d", "e"], 400, p=[0.5, 0.46, 0.02, 0.01, 0.01]).tolist()
    table = {"town": towns, "n": [1.0, 2.0] * 200}
    H = rankers.from_table(table, table, min_rows=20)
    assert "town = (rare)" in H.names
    lam = np.array([{"town = (rare)": 5.0, "town = a": 1.0}.get(name, -2.0) for name in H.names])
    card = pnorm.scorecard(H, lam, points=10, X=table)
    new = {"town": ["a", "zz", "d", None, "b", "?"], "n": [1.0] * 6}
    rows = [list(row) for row in zip(*new.values(), strict=True)]
    assert card.score(new)[1] == card.score(new)[2] > card.score(new)[0]
    check_exports(card, ["town", "n"], rows, card.score(new))
    assert "(any other)" not in str(card)


def test_truth_values_have_points_in_every_spelling():
    words = {"smoker": ["yes", "no", "", "yes"] * 10}
    H = rankers.from_table(words, words)
    assert pnorm.shapes([2.0, -1.0], H)["smoker"].levels == ("no", "yes")
    mixed = rankers.from_table({"smoker": ["yes", "no", "Yes"] * 10}, words)
    assert pnorm.shapes([2.0, -1.0], mixed)["smoker"].levels == ("False", "True")
    assert pnorm.rankers.from_dict(json.loads(json.dumps(H.to_dict()))) == H
    card = pnorm.scorecard(H, [2.0, -1.0], points=10)
    new = ["yes", "NO", "?", "true", "0", "False", "1"]
    points = card.score({"smoker": new})
    yes, no, missing = points[:3].tolist()
    assert yes > no > missing
    assert points.tolist() == [yes, no, missing, yes, no, no, yes]
    check_exports(card, ["smoker"], [[x] for x in new], points)
    typed = [True, False, None]
    check_exports(card, ["smoker"], [[x] for x in typed], card.score({"smoker": typed}))


def test_ordered_categories_have_points_by_level():
    pandas = pytest.importorskip("pandas")
    grades = pandas.Categorical(list("ABCABCCA"), categories=list("ABC"), ordered=True)
    frame = pandas.DataFrame({"grade": grades})
    H = rankers.from_table(frame[:4], frame[4:], min_rows=1)
    card = pnorm.scorecard(H, [2.0, -1.0][: len(H)], points=2, X=frame)
    assert card.columns[0].levels == ("A", "B", "C")
    assert card.columns[0].points == (0, 2, 1)
    check_exports(card, ["grade"], [[grade] for grade in frame["grade"]], card.score(frame))
    assert pnorm.shapes([2.0, -1.0], H)["grade"].levels == ("A", "B", "C")


def test_numbers_with_letters_are_not_read_by_sql_and_python():
    texts = [f"{k}.5k" for k in range(1, 41)]
    H = rankers.from_table({"amount": texts[::2]}, {"amount": texts[1::2]})
    card = pnorm.scorecard(H, RNG.random(len(H)))
    assert card.columns[0].scaled
    assert card.to_dict()["columns"][0]["scaled"] is True
    for write in (card.to_sql, card.to_python):
        with raises(ValueError, r"column amount has numbers with letters, such as 1\.2k"):
            write()
    assert card.score({"amount": ["12.5k"]}) == card.score({"amount": [12500]})


def test_numbers_with_either_mark_are_not_read_by_sql_and_python():
    texts = [f"{k}.5" if k % 3 else f"{k},5" for k in range(1, 41)]
    H = rankers.from_table({"amount": texts[::2]}, {"amount": texts[1::2]})
    card = pnorm.scorecard(H, RNG.random(len(H)))
    assert card.columns[0].mixed
    assert card.to_dict()["columns"][0]["mixed"] is True
    for write in (card.to_sql, card.to_python):
        with raises(ValueError, "column amount has numbers with a decimal point and with a decimal comma"):
            write()
    assert card.score({"amount": ["12,5"]}) == card.score({"amount": ["12.5"]}) == card.score({"amount": [12.5]})


def test_rounded_cuts_are_within_the_values_of_the_rows():
    # A line gains its second point at 1 / 0.896 = 1.116, or 1.12 in as few digits as will do.
    H = rankers.columns(2) + rankers.thresholds([[], [0.5]])
    rows = np.array([[0.0, 0.0], [1.117, 1.0]])
    card = pnorm.scorecard(H, [0.896, 0.0, 4 / 3], points=2, X=rows)
    assert card.columns[0].points == (0, 1, 2)
    assert card.columns[0].cuts[-1] <= 1.117
    np.testing.assert_allclose(card.columns[0].cuts, [0.5 / 1.5 / 0.896, 1 / 0.896], atol=0.01)


def test_the_bound_covers_its_own_rounding():
    rng, rows = np.random.default_rng(0), np.array(list(itertools.product([0.5, 1.5, 2.5, 3.5], repeat=2)))
    H = rankers.thresholds([[1, 2, 3], [1, 2, 3]])
    for _ in range(20):
        lam = rng.normal(size=len(H))
        card = pnorm.scorecard(H, lam, points=7)
        assert np.ptp(card.score(rows) / card.scale - pnorm.score(rows, H, lam)) <= card.bound


# What files and data bases hold beside clean values ------------------------------------------------------


def one_by_one(card, values):
    """The points of each value of a card of one column: no value decides how another one is read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownLevelWarning)
        return [card.score([[value]]).item() for value in values]


def check_column(card, values, points):
    """SQL and Python of a card of one column give these points, None for NULL and for a ValueError."""
    (name,) = {column.source for column in card.columns}
    rows, space = [[value] for value in values], {}
    known = [k for k, x in enumerate(values) if card.columns[0].form is None or not isinstance(x, str)]
    for run in (from_sqlite, from_duckdb)[: 1 + HAS_DUCKDB]:
        assert run(card.to_sql(), [name], [rows[k] for k in known]) == [points[k] for k in known]
    exec(card.to_python(), space)
    for value, expected in zip(values, points, strict=True):
        if expected is None:
            with pytest.raises(ValueError, match=r"."):
                space["points"]({name: value})
        else:
            assert space["points"]({name: value}) == expected


BLANKS = ["", " ", "\t", "\n", "\r\n", "\u00a0", "\x1c \u2009", "\u3000"]
OWN = ("no answer", "keine übung", "strasse", "-9")
LEVELS = ["Hull", "hull", "True", "x y", "7", "é", "n.a."]


@pytest.mark.filterwarnings("ignore::pnorm.rankers.TableWarning")
@pytest.mark.parametrize(
    ("made", "values"),
    [
        (
            lambda: rankers.from_table([[v] for v in LEVELS * 9], [[v] for v in LEVELS * 9], min_rows=1),
            [*LEVELS, "HULL", "TRUE", "false", "x  y", "7.0", "e\u0301", "É", "", "?", "N/A", "NaN", "none", "other"],
        ),
        (
            lambda: rankers.from_table([[v] for v in LEVELS * 9], [[v] for v in LEVELS * 9]).with_missing(
                lambda _: OWN
            ),
            ["No Answer", "no \t answer", "noanswer", "KEINE ÜBUNG", "Straße", "-9", "-9.0", "Hull", "é", "9"],
        ),
        (  # levels as they are
            lambda: rankers.categories([["a"], [" a"], ["b "]], [["None"], ["yes"], [None]], missing="own"),
            ["a", " a", "\ta", "b", "b ", "None", "none", "NULL", "-", "", "yes", "YES", "c"],
        ),
        (
            lambda: rankers.from_table([[f"{k}.5"] for k in range(30)], [[f"{k}"] for k in range(30)]).with_missing(
                lambda _: OWN
            ),
            ["3", "3.5", "+3", "1e1", "-9", "-9.00", "-9e0", "n/a", "No  answer", "29.5"],
        ),
        (
            lambda: rankers.from_table([["yes"], ["no"]] * 9, [["yes"], ["no"]] * 8 + [[None]]),
            ["yes", "NO", "True", "0", "1.0", "NA", ""],
        ),
        (
            lambda: rankers.from_table(
                [["low"], ["mid"]] * 9, [["high"], [None]] * 9, kinds={0: ["low", "mid", "high"]}
            ),
            ["low", "mid", "high", "-"],
        ),
        (
            lambda: rankers.from_table(
                *[[[f"2024-0{m}-{d}"] for m in range(1, 9) for d in range(k, 29)] for k in (10, 11)]
            ),
            ["2024-02-29", "2024-03-01T12:30:15.123Z", "2024-03-01 12:30+02:00", "2024-05-11 23:59:59.5-1100", "n/a"],
        ),
    ],
    ids=["levels", "own words", "levels as they are", "numbers", "truth", "ordered", "dates"],
)
def test_text_has_the_points_of_the_score_with_blanks_and_in_any_spelling(made, values):
    H = made()
    card = pnorm.scorecard(H, 2.0 ** np.arange(len(H)) % 89, points=1000)
    values = [before + value + after for value in values for before, after in zip(BLANKS, BLANKS[::-1], strict=True)]
    points = one_by_one(card, values)
    assert len(set(points)) > 2
    check_column(card, [*values, None], [*points, *one_by_one(card, [None])])


@pytest.mark.parametrize(
    ("levels", "typed"),
    [
        (["1", "2", "3"], [1.0, 2.0, 3.0, 4.0]),
        (["007", "010", "3"], [7.0, 10.0, 3.0, 1.0]),
        (["S", "M", "32"], [32.0, 33.0]),
        ([5, 2**53, 2**53 + 2], [2**53 + 1, 2**53 + 2, 5]),
    ],
)
@pytest.mark.filterwarnings("ignore::pnorm.rankers.TableWarning", "ignore::pnorm.rankers.UnknownLevelWarning")
def test_levels_are_found_by_numbers_of_any_type(levels, typed):
    table = {"x": levels * 40}
    H = rankers.from_table(table, table, kinds={"x": "category"}, min_rows=1)
    card = pnorm.scorecard(H, np.arange(1.0, 1.0 + len(H)))
    rows = [[x] for x in (*typed, *map(int, typed))]
    points = one_by_one(card, [x for (x,) in rows])
    assert len(set(points)) > 1
    assert from_sqlite(card.to_sql(), ["x"], rows) == from_python(card.to_python(), ["x"], rows) == points


def test_what_is_no_date_has_no_points():
    days = [[datetime.datetime(2024, 1, 1) + datetime.timedelta(days=k, hours=k)] for k in range(200)]
    card = pnorm.scorecard(H := rankers.from_table(days[::2], days[1::2]), np.arange(1.0, 1.0 + len(H)))
    odd = ["0000-00-00", "2023-02-29", "2024-13-01", "2024-01-01 24:00", "2024-01-01 10:60", "2024-0a-01", "abcd-ef-gh",
           "2024-01-01 10:00 x", "2024-W05-3", "2024-01-01T1030", "2024-01-01Z", "2024-01-01 10:30:15."]  # fmt: skip
    check_column(card, odd, [None] * len(odd))
    times = [[day.time()] for (day,) in days]
    card = pnorm.scorecard(H := rankers.from_table(times[::2], times[1::2]), np.arange(1.0, 1.0 + len(H)))
    check_column(card, odd := ["24:00", "10:60", "10", "1030", "10:30+02:00", "10:30 PM"], [None] * len(odd))


def test_durations_in_text_have_no_points_in_sql():
    spans = [[datetime.timedelta(hours=k)] for k in (48, 3, 3, 48, 120, 1, 1, 120) * 9]
    card = pnorm.scorecard(H := rankers.from_table(spans[::2], spans[1::2]), np.ones(len(H)))
    assert from_sqlite(card.to_sql(), ["x0"], [["4 days"], ["4"], ["n/a"]])[:2] == [None, None]
    assert from_sqlite(card.to_sql(), ["x0"], [["n/a"], [None], [4.0]]) == one_by_one(
        card, ["n/a", None, datetime.timedelta(days=4)]
    )


@pytest.mark.parametrize(
    ("cells", "kind", "python"),
    [
        (["$1,234", "$90", "$5"], "number", True),
        (["1.234,5", "90", "7,25"], "number", True),
        (["7 %", "90 %", "12 %"], "number", True),
        (["1 234", "90", "7 250"], "number", True),
        (["05/Mar/2024", "06/Mar/2024", "17/Apr/2024"], "date", False),
        (["15.03.2024", "16.03.2024", "17.04.2024"], "date", False),
        (["2024-03-05 9:05", "2024-03-06 10:05", "2024-04-07 11:05"], "date", False),
        (["10:05 PM", "9:05 AM", "11:59 PM"], "time", False),
        (["2 days", "3 h", "1w 2d"], "duration", False),
        (["29:07:09", "1:00:00", "48:30:00"], "duration", False),
    ],
)
def test_text_that_sql_or_python_does_not_read_is_refused_by_name(cells, kind, python):
    rows = [[cell] for cell in cells * 9]
    H = rankers.from_table(rows[::2], rows[1::2])
    assert H.plan[0].kind == kind
    H = rankers.from_dict(json.loads(json.dumps(H.to_dict())))
    card = pnorm.scorecard(H, np.ones(len(H)))
    for write, reads in ((card.to_sql, False), (card.to_python, python)):
        if reads:
            assert from_python(write(), ["x0"], rows) == one_by_one(card, [x for (x,) in rows])
        else:
            with raises(ValueError, r"column x0 has .* such as .*\. Store .*, and train on these"):
                write()


def test_missing_values_and_numbers_of_other_libraries_in_python():
    pandas, Decimal = pytest.importorskip("pandas"), decimal.Decimal
    missing = [
        None,
        math.nan,
        np.nan,
        np.float32("nan"),
        pandas.NA,
        pandas.NaT,
        np.datetime64("NaT", "D"),
        Decimal("sNaN"),
    ]
    H = rankers.categories([["a"], [7.0]], [["1.0"], [None]], names=["v"], missing="own")
    card, space = pnorm.scorecard(H, [1.0, 2.0, 4.0, 8.0][: len(H)], points=100), {}
    exec(card.to_python(), space)
    assert [space["points"]({"v": x}) for x in missing] == one_by_one(card, [None]) * len(missing)
    typed = [7, np.int8(7), np.float32(7), Decimal("7.0"), "7.00", np.str_("a "), 1, True, "1"]
    assert [space["points"]({"v": x}) for x in typed] == one_by_one(card, typed)
    card = pnorm.scorecard(rankers.thresholds([[0.1, 0.5]], names=["v"]), [1.0, 2.0], points=10)
    exec(card.to_python(), space)
    for x in (0.1, np.float32(0.1), Decimal("0.1"), Decimal("0.10000000000000001"), np.bool_(True)):
        assert space["points"]({"v": x}) == card.score([[float(x)]])
    for x in missing:
        with pytest.raises(ValueError, match="v is missing"):
            space["points"]({"v": x})


def test_nan_has_no_points_in_sql():
    pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    H = rankers.quantile_thresholds([[0.0], [1.0], [np.nan]], [[2.0], [3.0], [4.0]], missing="own")
    card = pnorm.scorecard(H, np.arange(1.0, 1.0 + len(H)))
    values = [math.nan, None, 0.5, 9.0]
    assert from_duckdb(card.to_sql(), ["x0"], [[x] for x in values]) == one_by_one(card, values)
    card = pnorm.scorecard(rankers.thresholds([[1.0]]), [2.0])
    assert from_duckdb(card.to_sql(), ["x0"], [[math.nan], [9.0]]) == [None, 100]


# Names that SQL and Python use


def test_columns_may_have_the_names_that_the_query_uses():
    names = ["r", "t", "x", "v", "w0", "plain", "z", "fits", "y", "us", "select", "a.b", 'r."t"', "points_level"]
    columns = itertools.cycle([[1234.5, 7.1] * 15, ["a", "b "] * 15, [f"2024-01-{k:02d} 10:00" for k in range(1, 31)]])
    table = dict(zip(names, columns, strict=False))
    H = rankers.from_table(table, table)
    card = pnorm.scorecard(H, np.arange(1.0, 1.0 + len(H)))
    rows, points = [list(row) for row in zip(*table.values(), strict=True)], card.score(table).tolist()
    assert from_sqlite(card.to_sql(), names, rows) == points
    assert from_python(card.to_python(), names, rows) == points
    for name in ("r", "W0", "A.B"):
        with raises(ValueError, "name is that of the column"):
            card.to_sql(name=name)


@pytest.mark.parametrize(
    ("names", "error"), [(["Points", "a"], "Pass another one"), (["A", "a"], "where case does not")]
)
def test_names_that_are_one_in_sql_are_refused(names, error):
    card = pnorm.scorecard(rankers.thresholds([[30], [2]], names=names), [1.0, 2.0])
    with raises(ValueError, error):
        card.to_sql()
    assert from_python(card.to_python(), names, [[40.0, 3.0]]) == card.score([[40.0, 3.0]])


def test_two_columns_of_one_name_are_refused():
    card = pnorm.scorecard(rankers.thresholds([[30], [2]], names=["a", "a"]), [1.0, 2.0])
    for write in (card.to_sql, card.to_python):
        with raises(ValueError, "a is the name of two columns"):
            write()


def test_names_of_functions_hide_nothing_that_the_source_needs():
    card = pnorm.scorecard(rankers.thresholds([[1.0]], names=["a"]), [2.0], points=10)
    for name in ("class", "None", "float", "str", "ｓｔｒ", "ValueError", "bisect_left", "datetime", "re", "1a", ""):
        with raises(ValueError, "name must be a name of a function"):
            card.to_python(name)
    for name in ("row", "x", "total", "words", "match", "Größe"):
        space = {}
        exec(card.to_python(name), space)
        assert space[name]({"a": 2.0}) == 10


# Dates with a time zone


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata"])
def test_dates_with_a_zone_have_the_points_of_its_clock_in_every_session(zone):
    pandas, duckdb, pyarrow = [pytest.importorskip(name) for name in ("pandas", "duckdb", "pyarrow")]
    start = pandas.Timestamp("2024-03-28 20:00", tz=zone)
    frame = pandas.DataFrame({"t": start + pandas.to_timedelta(RNG.integers(0, 9 * 86400, 200), "s")})
    H = rankers.from_table(frame[:100], frame[100:])
    lam, rows = RNG.normal(size=len(H)), pyarrow.Table.from_pandas(frame.assign(i=range(200)))
    card, blind = pnorm.scorecard(H, lam, pos=frame[:100], neg=frame[100:]), pnorm.scorecard(H, lam)
    assert [column.zone for column in (*card.columns, *blind.columns)] == [zone] * len(card.columns) + [""] * len(
        blind.columns
    )
    assert card.to_dict()["columns"][0]["zone"] == zone
    for session in ("UTC", "America/New_York", "Asia/Tokyo"):
        with duckdb.connect() as base:
            base.register("rows", rows)
            base.execute(f"set TimeZone = '{session}'")
            found = sorted(base.execute(card.to_sql()).fetchall(), key=lambda row: row[1])
            assert [row[-1] for row in found] == card.score(frame).tolist()
            assert {row[-1] for row in base.execute(blind.to_sql()).fetchall()} == {None}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "mixed", "offset"])
def test_the_zone_of_dates_is_that_of_the_rows(kind):
    library = pytest.importorskip(kind if kind in ("polars", "pyarrow") else "pandas")
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=k) for k in range(60)]
    utc = [day.replace(tzinfo=datetime.UTC) for day in days]
    if kind == "pyarrow":
        frame = other = library.table({"t": library.array(days, library.timestamp("us", "UTC"))})
    elif kind == "offset":
        frame = other = library.DataFrame({"t": library.to_datetime(utc).tz_convert("+02:00")})
    else:
        frame = other = library.DataFrame({"t": utc})
    if kind == "mixed":
        other = frame.assign(t=frame["t"].dt.tz_localize(None))
    H = rankers.from_table(frame, frame)
    card = pnorm.scorecard(H, np.arange(1.0, 1.0 + len(H)), pos=frame, neg=other)
    assert {column.zone for column in card.columns} == {"" if kind in ("mixed", "offset") else "UTC"}


@pytest.mark.parametrize(
    ("lam", "points", "several"),
    [([8 / 6, 2 / 6], 14, True), ([-1 / 8, -4 / 8, -1 / 8], 17, True), ([0.8, 0.45, 0.8], 11, False)],
)
def test_of_scales_that_cost_alike_the_largest_is_taken(lam, points, several):
    columns = [np.array([0.0, abs(jump)]) for jump in lam]
    scales = points * np.linspace(1.0, 0.5, 100, endpoint=False) / max(np.abs(lam))
    costs = np.array([sum(np.ptp(np.rint(s * v) / s - v) for v in columns) for s in scales])
    alike = scales[costs <= min(costs) + 1e-12]
    assert (alike.size > 1) == several
    assert pnorm.scorecard(rankers.thresholds([[1]] * len(lam)), lam, points=points).scale == pytest.approx(alike.max())


def test_python_of_a_card_refuses_text_of_durations():
    t = [datetime.timedelta(hours=k % 5, minutes=1 + k % 50) for k in range(300)]
    H = rankers.from_table({"t": t}, {"t": t[:30]})
    card = pnorm.scorecard(H, np.arange(len(H)) / 10.0, X={"t": t})
    function = {}
    exec(card.to_python(), function)
    assert function["points"]({"t": datetime.timedelta(hours=3)}) == card.score({"t": ["3h"]})[0]
    with pytest.raises(ValueError, match="'1h 5m'"):
        function["points"]({"t": "1h 5m"})
