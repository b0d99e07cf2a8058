"""Contributions, shapes and importance of columns, checked against scores of rows that were made for it."""

import datetime
import itertools
import math

import numpy as np
import pytest
from facts import raises
from repeats import each_value

import pnorm
from pnorm import rankers
from pnorm._reasons.explain import without_level_trends

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3)).round(1) + 0.0  # no -0.0
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
TOWNS = [[town, float(size)] for town, size in zip(RNG.choice(["Bonn", "Köln", "Ulm"], 60), X[:, 0], strict=True)]


def halves(rows):
    return rows[: len(rows) // 2], rows[len(rows) // 2 :]


def length(rows):
    return [len(row) for row in rows]


def first_length(rows):
    return [len(str(row[0])) for row in rows]


def second(rows):
    return [float(row[1]) for row in rows]


COLLECTIONS = {
    "None": (X, None),
    "columns": (X, rankers.columns(3)),
    "normalized": (X, rankers.normalized(*halves(X), -1.0, 1.0)),
    "cuts": (X, rankers.quantile_thresholds(*halves(X), 4)),
    "cuts, missing, lines": (HOLES, rankers.quantile_thresholds(*halves(HOLES), 4, missing="own", linear=True)),
    "lines alone": (HOLES, rankers.quantile_thresholds(*halves(HOLES), missing="own", linear="only")),
    "categories": (TOWNS, rankers.categories(*halves(TOWNS))),
    "closed": (X, rankers.closed(rankers.quantile_thresholds(*halves(X), 4))),
    "closed, columns": (X, rankers.closed(rankers.normalized(*halves(X)))),
    "union": (X, rankers.columns(3) + rankers.closed(rankers.thresholds([[0], [], [-1, 1]])) + rankers.normalized(*halves(X))),
    "table": (TOWNS, rankers.from_table(*halves(TOWNS), n_cuts=5)),
    "table, lines": (TOWNS, rankers.from_table(*halves(TOWNS), n_cuts=5, linear=True)),
    "table, lines alone": (TOWNS, rankers.from_table(*halves(TOWNS), linear="only")),
    "closed, table": (TOWNS, rankers.closed(rankers.from_table(*halves(TOWNS), n_cuts=5))),
    "union, table": (TOWNS, rankers.categories(*halves(TOWNS)) + rankers.from_table(*halves(TOWNS), n_cuts=5)),
    "table and callables": (TOWNS, rankers.from_table(*halves(TOWNS), n_cuts=5) + rankers.callables([first_length, second])),
    "callables": (TOWNS, [first_length, second]),
    "callables and categories": (TOWNS, rankers.categories(*halves(TOWNS)) + rankers.callables([first_length, second])),
}  # fmt: skip


def literal(rows, H, lam):
    """The score of rows with the coefficients of each column alone, and those of all."""
    H = H if isinstance(H, rankers.Rankers) else rankers.columns(X) if H is None else rankers.callables(H)
    parts = [pnorm.score(rows, H, np.where(H.column == c, lam, 0.0)) for c in range(len(H.column_names))]
    return np.array(parts).T, pnorm.score(rows, H, lam)


def size_of(H):
    return 3 if H is None else len(H)


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_contributions_and_the_base_add_up_to_the_score(kind):
    rows, H = COLLECTIONS[kind]
    lam = RNG.normal(size=size_of(H))
    parts, f = literal(rows, H, lam)
    for reference, beside in ((None, rows), (rows[20:50], rows[20:50]), (rows[7:8], rows[7:8])):
        found = pnorm.explain(rows, H, lam, reference=reference)
        means = literal(beside, H, lam)[0].mean(axis=0)
        np.testing.assert_allclose(found.contributions, parts - means, atol=1e-12)
        np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), f, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(found.scores, f, rtol=1e-13, atol=1e-13)
        assert found.contributions.shape == (60, len(found.names))
        np.testing.assert_allclose(found.base, literal(beside, H, lam)[1].mean(), atol=1e-13)


@each_value()
@pytest.mark.parametrize("kind", ["columns", "cuts", "cuts, missing, lines", "normalized"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_have_the_contributions_of_dense_ones(kind, form):
    sparse = pytest.importorskip("scipy.sparse")
    rows, H = COLLECTIONS[kind]
    rows = np.where(RNG.random(rows.shape) < 0.5, 0.0, rows)
    lam = RNG.normal(size=len(H))
    dense = pnorm.explain(rows, H, lam)
    found = pnorm.explain(sparse.coo_array(rows).asformat(form), H, lam)
    np.testing.assert_allclose(found.contributions, dense.contributions, atol=1e-12)
    assert found.reasons(2) == dense.reasons(2)


TABLE = {"a": X[:, 0], "town": [town for town, _ in TOWNS], "b": X[:, 1]}


def frame(package, names):
    columns = {name: TABLE.get(name, ["?"] * 60) for name in names}
    module = pytest.importorskip(package)
    return module.table(columns) if package == "pyarrow" else module.DataFrame(columns)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_are_read_by_name(package):
    numbers, towns = frame(package, ["a", "b"]), frame(package, ["town"])
    H = rankers.quantile_thresholds(numbers, numbers, 3) + rankers.categories(towns, towns)
    lam = np.linspace(1.0, 2.0, len(H))
    whole = frame(package, ["more", "town", "b", "a"])
    found = pnorm.explain(whole, H, lam)
    assert found.names == ("a", "b", "town")
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), pnorm.score(whole, H, lam), atol=1e-13)
    texts = [text.split(" (")[0].split(" = ") for of_row in found.reasons() for text in of_row.split("; ") if text]
    rows = [i for i, of_row in enumerate(found.reasons()) for text in of_row.split("; ") if text]
    assert len(texts) > 60
    for i, (name, value) in zip(rows, texts, strict=True):
        assert value == TABLE["town"][i] if name == "town" else float(value) == TABLE[name][i]


def test_only_columns_in_use_are_read():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"a": [1.0, 2.0], "b": ["no number", None]})
    H = rankers.thresholds([[1.5], [0.5]], names=["a", "b"])
    found = pnorm.explain(rows, H, [2.0, 0.0])
    np.testing.assert_array_equal(found.contributions, [[-1.0, 0.0], [1.0, 0.0]])
    H = rankers.columns(rows[["a"]]) + rankers.columns(rows[["a"]].rename(columns={"a": "gone"}))
    lacking = pnorm.explain(rows, H, [2.0, 0.0])
    assert lacking.reasons() == ["", "a = 2 (+1.00)"]


@pytest.mark.parametrize(("rows", "what"), [(X[:1], "a single row"), (X[[2, 2]], "equal rows")], ids=["one", "equal"])
def test_rows_that_do_not_differ_need_a_reference(rows, what):
    H, lam = rankers.columns(3, names=["a", "b", "c"]), np.array([1.0, -2.0, 0.5])
    with raises(ValueError, rf"X has {what} and there is no reference.*Pass reference=training rows"):
        pnorm.explain(rows, H, lam)
    assert pnorm.explain(rows, H, lam, reference=X).contributions.any()
    assert not pnorm.explain(rows, H, [0.0, 0.0, 0.0]).contributions.any()


def test_a_single_row_may_be_the_reference_in_any_form():
    pandas = pytest.importorskip("pandas")
    H, lam = rankers.columns(3, names=["a", "b", "c"]), np.array([1.0, -2.0, 0.5])
    expected = pnorm.explain(X, H, lam, reference=X[[4]]).contributions
    for other in (X[4], X[4].tolist(), tuple(X[4]), pandas.Series(X[4], list("abc"))):
        np.testing.assert_allclose(pnorm.explain(X, H, lam, reference=other).contributions, expected, atol=1e-15)
    assert not pnorm.explain(X, H, lam, reference=X[4]).contributions[4].any()
    mixed = pandas.DataFrame({"a": X[:, 0], "town": [town for town, _ in TOWNS]})
    H = rankers.columns(mixed[["a"]]) + rankers.categories(mixed[["town"]], mixed[["town"]])
    lam = RNG.normal(size=len(H))
    by_row = pnorm.explain(mixed, H, lam, reference=mixed.iloc[3])
    np.testing.assert_allclose(by_row.contributions, pnorm.explain(mixed, H, lam, reference=mixed[3:4]).contributions)
    town = (
        pnorm.explain(TOWNS, rankers.categories(TOWNS, TOWNS[:1]), np.ones(50), reference=TOWNS[2]) if False else None
    )
    assert town is None


def test_importance_and_ranges():
    found = pnorm.explain(X, None, [1.0, 0.0, -2.0])
    np.testing.assert_allclose(found.importance, np.abs(X - X.mean(axis=0)).mean(axis=0) * [1, 0, 2])
    np.testing.assert_allclose(found.ranges, np.ptp(X, axis=0) * [1, 0, 2])


def test_reasons_are_the_largest_contributions_that_raise_the_score():
    rows = [[52000, 3, 0.25], [31000, 9, 0.5]]
    H = rankers.columns(3, names=["income", "visits", "share"])
    found = pnorm.explain(rows, H, [1e-4, -0.5, 0.0], reference=[41000, 3, 0.0])
    assert found.top(0) == ["income = 52,000 (+1.10)"]
    assert found.top(-1) == []
    assert found.reasons() == ["income = 52,000 (+1.10)", ""]
    other = pnorm.explain(rows, H, [1e-4, 0.5, 8.0], reference=[31000, 2, 0.0])
    assert other.top(0, 2) == ["income = 52,000 (+2.10)", "share = 0.25 (+2.00)"]
    assert other.top(0, 9) == ["income = 52,000 (+2.10)", "share = 0.25 (+2.00)", "visits = 3 (+0.50)"]
    with raises(ValueError, "row must be below 2, counted from 0; got 2"):
        found.top(2)
    with raises(ValueError, "n must be at least 1; got 0"):
        found.reasons(0)


def test_reasons_of_either_sign_against_a_slow_rule():
    rng = np.random.default_rng(0)
    found = pnorm.explain(rng.normal(size=(40, 5)), rankers.columns(5), [1.0, -2.0, 0.5, 0.0, 3.0])
    for n in (1, 3, 9):
        texts = found.reasons(n, either=True)
        for i, parts in enumerate(found.contributions.tolist()):
            by_size = sorted(zip(found.names, parts, strict=True), key=lambda of: -abs(of[1]))
            names = [name for name, part in by_size[:n] if abs(part) > 0.005]  # others are printed as zero
            told = found.top(i, n, either=True)
            assert [text.split(" = ")[0] for text in told] == names
            assert [text[text.index("(") + 1] for text in told] == [
                "-" if parts[found.names.index(name)] < 0.0 else "+" for name in names
            ]
            assert texts[i] == "; ".join(told)
            raising = [text for text in found.top(i, 9) if "(+0.00)" not in text]
            assert raising == [text for text in found.top(i, 9, either=True) if "(+" in text]
    with pytest.raises(TypeError, match="either must be"):
        found.top(0, either=1)


def test_reasons_name_missing_values_and_functions():
    H = rankers.thresholds([[2.0]], names=["age"], missing="own") + rankers.callables([length])
    by_name = {"age is missing": 3.0, "age > 2": 1.0, "length": 0.5}
    found = pnorm.explain([[math.nan], [5.0]], H, [by_name[name] for name in H.names], reference=[[0.0]])
    assert found.top(0) == ["age is missing (+3.00)"]
    assert found.top(1) == ["age = 5 (+1.00)"]
    texts = pnorm.explain(["a", "abc"], [length], [1.0], reference=["ab"])
    assert texts.reasons() == ["", "length (+1.00)"]


def dated(n=300, seed=3):
    """Rows with a column of each kind of time, some of it missing."""
    rng = np.random.default_rng(seed)
    at = np.datetime64("2020-02-20T03:30") + rng.integers(0, 800 * 24, n) * np.timedelta64(1, "h")
    at = [None if hole else value for value, hole in zip(at.tolist(), rng.random(n) < 0.1, strict=True)]
    waits = [datetime.timedelta(minutes=45 * k) for k in rng.integers(0, 500, n).tolist()]
    times = [datetime.time(*divmod(k, 60)) for k in rng.integers(0, 1440, n).tolist()]
    smokes = [
        None if hole else value for value, hole in zip((rng.random(n) < 0.4).tolist(), rng.random(n) < 0.1, strict=True)
    ]
    return {"joined": at, "wait": waits, "at": times, "smoker": smokes}  # fmt: skip


def test_printed_rows_have_the_index_of_a_frame():
    pandas = pytest.importorskip("pandas")
    H, lam = rankers.columns(2, names=["a", "b"]), [1.0, 2.0]
    X = [[1.0, 2.0], [3.0, 4.0]]
    for rows, names in (
        (pandas.DataFrame(X, columns=["a", "b"], index=[4000, 17]), ["4000", "17"]),
        (pandas.DataFrame(X, columns=["a", "b"], index=["L1", "L2"]), ["L1", "L2"]),
        (X, ["0", "1"]),
        (np.array(X), ["0", "1"]),
    ):
        lines = str(pnorm.explain(rows, H, lam)).splitlines()
        assert [line.split()[0] for line in lines[1:3]] == names


@pytest.mark.parametrize(
    ("written", "told"),
    [("{}%", "8 %"), ("${}.25", "$8.25"), ("-£{}", "-£8"), ("{},25 EUR", "8.25 EUR"), ("{}", "8")],
)
def test_reasons_have_the_unit_of_the_text(written, told):
    values = np.arange(40) % 10
    X = {"x": np.array([written.format(k) for k in values], object)}
    H = rankers.from_table({"x": X["x"][values == 8]}, {"x": X["x"][values != 8]})
    lam = np.linspace(1.0, 2.0, len(H))
    assert pnorm.explain(X, H, lam).top(8, either=True)[0].startswith(f"x = {told} (")


def test_reasons_of_dates_and_times_say_them_as_people_do():
    table, other = dated(), dated(seed=4)
    H = rankers.from_table(table, other, n_cuts=5)
    lam = np.random.default_rng(8).normal(size=len(H)) + [name == "joined is missing" for name in H.names]
    found = pnorm.explain(table, H, lam, reference=other)
    number = {name: c for c, name in enumerate(found.names)}
    of_date = [number[f"joined ({of})"] for of in ("trend", "weekday", "hour", "month")]
    seen = 0
    for i, reasons in enumerate(found.reasons(9)):
        parts = dict(zip(found.names, found.contributions[i], strict=True))
        at, wait, time, smoker = [table[name][i] for name in table]
        expected = {"wait": f"wait = {written_days(wait)}", "at": f"at = {time:%H:%M}", "smoker": f"smoker = {smoker}"}
        if smoker is None:
            expected["smoker"] = "smoker is missing"
        if at is None:
            expected["joined"] = "joined is missing"
            parts["joined"] = found.contributions[i, of_date].sum()
            parts = {name: part for name, part in parts.items() if not name.startswith("joined (")}
            seen += parts["joined"] > 0
        else:
            days = at.strftime("%Y-%m-%d %H:%M")
            expected |= {
                "joined (trend)": f"joined (trend) = {days}",
                "joined (weekday)": f"joined (weekday) = {at:%a}",
            }
            expected |= {"joined (hour)": f"joined (hour) = {at.hour}", "joined (month)": f"joined (month) = {at:%b}"}
        order = sorted([name for name in parts if parts[name] > 0], key=lambda name: -parts[name])
        assert [text.rpartition(" (")[0] for text in reasons.split("; ") if text] == [expected[name] for name in order]
        assert "; ".join(found.top(i, 9)) == reasons
    assert seen > 3


def written_days(span):
    hours, minutes = divmod(span.seconds // 60, 60)
    parts = [f"{n} {unit}" for n, unit in ((span.days, "d"), (hours, "h"), (minutes, "min")) if n]
    return " ".join(parts) or "0 s"


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
def test_columns_that_are_missing_in_all_new_rows_have_reasons_and_shapes():
    table = dated() | {
        "town": [None if k % 9 == 0 else "ab"[k % 2] for k in range(300)],
        "n": [float(k) for k in range(300)],
    }
    H = rankers.from_table(table, table, n_cuts=5, kinds={"n": "number"})
    lam = RNG.normal(size=len(H))
    for hole in ("joined", "smoker", "town"):
        new = table | {hole: [None] * 300}
        found = pnorm.explain(new, H, lam, reference=table)
        np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), pnorm.score(new, H, lam), atol=1e-12)
        texts = {text.rpartition(" (")[0] for of_row in found.reasons(20) for text in of_row.split("; ")}
        assert {text for text in texts if text.startswith(hole)} <= {f"{hole} is missing"}
        for shape in pnorm.shapes(lam, H, new):
            np.testing.assert_allclose(shape.shares.sum() + shape.missing_share, 1.0, atol=1e-12)
            if shape.name.startswith(hole) and None not in shape._keys:
                assert shape.missing_share == 1.0


def test_contributions_of_leaves_of_trees_add_up():
    pytest.importorskip("sklearn")
    from sklearn.ensemble import RandomForestClassifier

    trees = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, X[:, 0] > 0)
    H = pnorm.sklearn.leaves(trees, X)
    lam = RNG.normal(size=len(H))
    found = pnorm.explain(X, H, lam)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), pnorm.score(X, H, lam), atol=1e-12)


def test_reasons_of_dates_in_text_and_in_unions():
    text = {"joined": ["03.12.2021", "", "25.11.2021", "13.01.2022"] * 10, "n": [1, 2, 3, 4] * 10}
    H = rankers.from_table(text, text) + rankers.callables([lambda rows: [0.0] * 40], names=["none"])
    trend, gone = H.names.index("joined > 2021-11-29"), H.names.index("joined is missing")
    lam = np.zeros(len(H))
    lam[[trend, gone, -1]] = 1.0, 1.5, 0.5
    reasons = pnorm.explain(text, H, lam).reasons()
    assert reasons[:2] == ["joined (trend) = 2021-12-03 (+0.125)", "joined is missing (+0.625)"]
    assert reasons[2:4] == ["", "joined (trend) = 2022-01-13 (+0.125)"]


def test_tables_show_what_they_leave_out_and_no_code():
    wide = RNG.normal(size=(25, 9))
    names = ["<b>&\x1b[31m", *[f"x{j}" for j in range(8)]]
    found = pnorm.explain(wide, rankers.columns(9, names=names), np.r_[100.0, np.ones(8)])
    text, page = str(found), found._repr_html_()
    assert text.splitlines()[-1].endswith("; 15 more rows and 3 more columns")
    assert "\x1b" not in text + page
    assert "<b>" in text
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;" in page
    assert "http" not in page
    assert page.count("<tr>") == 11
    assert repr(found) == "<Explanation of 25 rows by 9 columns>"
    few = str(pnorm.explain(wide[:1], rankers.columns(9), np.ones(9), reference=wide[1]))
    assert "more rows" not in few


def test_a_frame_of_the_contributions():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 4.0]}, index=["u", "v"])
    found = pnorm.explain(rows, None, [1.0, 0.5]).to_frame()
    pandas.testing.assert_frame_equal(found, pandas.DataFrame({"a": [-0.5, 0.5], "b": [-1.0, 1.0]}, index=["u", "v"]))
    of_lists = pnorm.explain(rows.to_numpy().tolist(), None, [1.0, 0.5]).to_frame()
    assert (of_lists.to_numpy() == found.to_numpy()).all()
    assert of_lists.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "reference", "error", "message"),
    [
        ((X, None, [1.0, 2.0]), None, ValueError, r"lam must have shape \(3,\)"),
        (
            (X, None, [1.0, 2.0, 3.0]),
            X[:, :2],
            ValueError,
            "reference has 2 columns; these weak rankers were made for 3",
        ),
        ((X, None, [1.0, 2.0, 3.0]), "first", TypeError, "reference must be rows in the form of X, or a single row"),
        ((X[:0], None, [1.0, 2.0, 3.0]), None, ValueError, "X is empty"),
        ((X * np.nan, None, [0.0, 0.0, 1.0]), None, ValueError, "X has nan at row 0, column 2"),
        ((X, None, [1e308, -1e308, 0.0]), X[0] + 1e3, OverflowError, "more than a double holds"),
    ],
)
def test_what_cannot_be_explained(arguments, reference, error, message):
    with raises(error, message):
        pnorm.explain(*arguments, reference=reference)


def test_unknown_levels_are_told_of_once():
    H = rankers.categories([["a", "u"]], [["b", "v"]])
    with pytest.warns(pnorm.rankers.UnknownLevelWarning) as told:
        found = pnorm.explain([["a", "new"], ["b", "u"]], H, [1.0, 2.0, 3.0, 4.0])
    assert len(told) == 1
    np.testing.assert_array_equal(found.contributions, [[-0.5, -1.5], [0.5, 1.5]])


# Importance of columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["partial_auc", "auc", "positives_at_top", "r_max"])
def test_importance_is_the_measure_with_a_column_held_at_its_mean(metric):
    pos, neg = RNG.normal(0.4, size=(25, 3)), RNG.normal(size=(35, 3))
    H, lam = rankers.columns(3), np.array([1.0, -0.25, 0.5])
    found = pnorm.importance(pos, neg, H, lam, metric)
    whole = np.r_[pos, neg]
    for c in range(3):
        held = whole.copy()
        held[:, c] = whole[:, c].mean()
        f = pnorm.score(held, H, lam)
        expected = measured(metric, f[:25], f[25:])
        np.testing.assert_allclose(found.without[c], expected, atol=1e-12)
    f = pnorm.score(whole, H, lam)
    np.testing.assert_allclose(found.value, measured(metric, f[:25], f[25:]), atol=1e-12)
    sign = -1.0 if metric == "r_max" else 1.0
    np.testing.assert_allclose(found.losses, sign * (found.value - found.without), atol=1e-12)
    np.testing.assert_allclose(found.ranges, np.abs(lam) * np.ptp(whole, axis=0), atol=1e-12)


def measured(metric, f_pos, f_neg):
    if metric == "partial_auc":
        return pnorm.metrics.partial_auc(f_pos, f_neg, max_fp=10, standardized=True)
    return getattr(pnorm.metrics, metric)(f_pos, f_neg)


def test_rows_that_are_tied_without_a_column_stay_tied():
    pos, neg = np.array([[0.1, 0.3, 0.7]]), np.array([[0.1, 0.3, 0.2], [0.1, 0.3, -0.1]])
    found = pnorm.importance(pos, neg, None, [1.0, 1.0, 1.0], "auc")
    np.testing.assert_array_equal(found.without, [1.0, 1.0, 0.5])
    np.testing.assert_array_equal(found.losses, [0.0, 0.0, 0.5])
    cost = pnorm.importance(pos, neg, None, [1.0, 1.0, 1.0], pnorm.metrics.r_max)
    np.testing.assert_array_equal(cost.losses, [0.0, 0.0, 1.0])
    assert str(cost).splitlines()[1].split() == ["x2", "0.800", "1.00", "+1.00"]
    assert str(cost).endswith("r_max with all columns: 0")
    assert "<table" in cost._repr_html_()
    pandas = pytest.importorskip("pandas")
    expected = pandas.DataFrame(
        {"range": [0.0, 0.0, 0.8], "without": [0.0, 0.0, 1.0], "loss": [0.0, 0.0, 1.0]}, index=["x0", "x1", "x2"]
    )
    pandas.testing.assert_frame_equal(cost.to_frame(), expected)


def test_a_weight_is_a_number_of_copies():
    copies = RNG.integers(0, 4, 60)
    H = COLLECTIONS["cuts, missing, lines"][1]
    lam = np.random.default_rng(2).normal(size=len(H))
    repeated = np.repeat(HOLES, copies, axis=0)
    for rows in (HOLES, HOLES[:5]):
        found = pnorm.explain(rows, H, lam, reference=HOLES, weight=copies)
        expected = pnorm.explain(rows, H, lam, reference=repeated)
        np.testing.assert_allclose(found.contributions, expected.contributions, atol=1e-12)
        np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), found.scores, atol=1e-12)
    of_itself = pnorm.explain(HOLES, H, lam, weight=copies)
    np.testing.assert_allclose(of_itself.base, np.average(of_itself.scores, weights=copies), atol=1e-12)
    for shape, other in zip(pnorm.shapes(lam, H, HOLES, weight=copies), pnorm.shapes(lam, H, repeated), strict=True):
        np.testing.assert_allclose(shape.shares, other.shares, atol=1e-12)
        np.testing.assert_allclose(shape.missing_share, other.missing_share, atol=1e-12)
    weights = {"pos_weight": copies[:25], "neg_weight": copies[25:]}
    for metric in ("auc", "average_precision", "partial_auc"):
        found = pnorm.importance(HOLES[:25], HOLES[25:], H, lam, metric, **weights)
        sides = [np.repeat(X, c, axis=0) for X, c in zip((HOLES[:25], HOLES[25:]), weights.values(), strict=True)]
        expected = pnorm.importance(*sides, H, lam, metric)
        np.testing.assert_allclose(found.without, expected.without, atol=1e-12)
        np.testing.assert_allclose(found.ranges, expected.ranges, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pnorm.explain(X, None, np.ones(3), weight=[1.0]), r"weight must have shape \(60,\)"),
        (lambda: pnorm.explain(X, None, np.ones(3), reference=X[:2], weight=[-1, 1]), "weight has the negative weight"),
        (lambda: pnorm.explain(X, None, np.ones(3), reference=X[:2], weight=[0, 0]), "weight is all zero"),
        (lambda: pnorm.shapes(np.ones(3), rankers.columns(3), weight=[1.0]), "weight is of the rows of X"),
        (lambda: pnorm.shapes(np.ones(3), rankers.columns(3), X, weight=[1.0]), r"weight must have shape \(60,\)"),
        (lambda: pnorm.importance(X, X, None, np.ones(3), pos_weight=[1.0]), r"pos_weight must have shape \(60,\)"),
        (
            lambda: pnorm.importance(X, X, None, np.ones(3), lambda a, b: 0.5, pos_weight=np.ones(60)),
            "rows have weights, but the metric <lambda> takes no weights",
        ),
    ],
)
def test_weights_that_are_none(call, message):
    with raises(ValueError, message):
        call()


def test_importance_names_the_side_that_does_not_fit():
    with raises(ValueError, "neg has 2 columns; these weak rankers were made for 3"):
        pnorm.importance(X, X[:, :2], None, [1.0, 2.0, 3.0])
    with raises(ValueError, "metric must be one of 'partial_auc'"):
        pnorm.importance(X, X, None, [1.0, 2.0, 3.0], "best")


# Shapes of columns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in COLLECTIONS if "callables" not in kind and kind != "None"])
def test_shapes_are_contributions_but_for_a_constant(kind):
    rows, H = COLLECTIONS[kind]
    lam = RNG.normal(size=len(H))
    found, parts = pnorm.shapes(lam, H, rows), literal(rows, H, lam)[0]
    covered = {name: np.zeros(len(rows)) for name in H.column_names}
    for shape in found:
        values = [row[H.column_names.index(shape.name)] for row in rows]
        if shape.levels:
            covered[shape.name] += [dict(zip(shape.levels, shape.scores, strict=True))[str(value)] for value in values]
            shares = [np.mean([str(value) == level for value in values]) for level in shape.levels]
        else:
            x = np.array(values)
            covered[shape.name] += np.where(np.isnan(x), shape.missing, shape.at(np.nan_to_num(x)))
            ends = np.r_[-np.inf, shape.cuts, np.inf]
            shares = [((a < x) & (x <= b)).mean() for a, b in itertools.pairwise(ends)]
            np.testing.assert_allclose(shape.missing_share, np.isnan(x).mean(), atol=1e-12)
        np.testing.assert_allclose(shape.shares, shares, atol=1e-12)
    for c, name in enumerate(H.column_names):
        moved = parts[:, c] - covered[name]
        np.testing.assert_allclose(moved, moved[0], atol=1e-12)


def test_shapes_come_in_the_order_of_their_ranges_and_by_name():
    H = rankers.thresholds([[0.0], [1.0, 2.0], [3.0]], names=["a", "b", "c"])
    found = pnorm.shapes([1.0, -2.0, 3.0, 0.0], H)
    assert [shape.name for shape in found] == ["b", "a"]
    assert [shape.range for shape in found] == [3.0, 1.0]
    assert found["a"] is found[1]
    assert found["b"].shares.size == 0
    with raises(KeyError, "no column 'c' has a shape; there are b, a"):
        found["c"]
    assert repr(found) == "<Shapes of 2 columns>"
    assert repr(found["b"]) == "<Shape of b: 3 pieces, range 3>"


def test_a_table_of_shapes_has_both_ends_of_a_long_one():
    H = rankers.thresholds([list(range(40))], names=["a"])
    lines = str(pnorm.shapes(np.ones(40), H)).splitlines()
    assert len(lines) == 14
    assert lines[1].split() == ["a", "<=", "0", "+0.0"]
    assert lines[6].split() == [">", "4", "and", "<=", "5", "+5.0"]
    assert lines[7].split() == ["...", "29", "more"]
    assert lines[-1].split() == [">", "39", "+40.0"]
    short = rankers.thresholds([list(range(12))], names=["a"])
    assert "more" not in str(pnorm.shapes(np.ones(12), short))


def test_a_table_of_shapes_says_lines_as_slopes_and_missing_values():
    H = rankers.normalized([[0.0, 7.0], [4.0, 7.0]], [[2.0, 7.0]]) + rankers.thresholds([[], [1.0]], missing="own")
    by_name = {"x0": 2.0, "x1": 5.0, "x1 > 1": 1.0, "x1 is missing": -3.0}
    lam = [by_name[name] for name in H.names]
    lines = str(pnorm.shapes(lam, H)).splitlines()
    assert lines == [
        "column  values        score  per unit",
        "x1      <= 1          +0.00",
        "        > 1           +1.00",
        "        (missing)     -3.00",
        "x0      > 0 and <= 4  +0.00      +0.5",
    ]
    pandas = pytest.importorskip("pandas")
    table = pnorm.shapes(lam, H).to_frame()
    assert table.columns.tolist() == ["column", "from", "to", "unit", "level", "score", "slope", "share"]
    assert table["score"].tolist() == [0.0, 1.0, -3.0, 0.0]
    assert pandas.isna(table["share"]).all()


def test_shapes_of_dates_and_times_say_them_as_people_do():
    table = dated()
    H = rankers.from_table(table, dated(seed=4), n_cuts=3)
    shapes = pnorm.shapes(RNG.normal(size=len(H)), H, table)
    for name, unit in (
        ("joined (trend)", "days since 1970-01-01"),
        ("joined (hour)", "hours"),
        ("wait", "days"),
        ("at", "hours since midnight"),
        ("smoker", ""),
        ("joined (weekday)", ""),
    ):
        assert shapes[name].unit == unit
        assert {row["unit"] for row in shapes[name].rows() if row["from"] is not None} <= {unit}
    cut = np.datetime64("1970-01-01T00:00", "m") + (shapes["joined (trend)"].cuts * 1440).round().astype("m8[m]")
    assert [f"<= {str(end).replace('T', ' ')}" in str(shapes).replace("> ", "<= ") for end in cut] == [True] * 3
    assert shapes["joined (weekday)"].levels == ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    assert "(missing)" in str(shapes)


@pytest.mark.parametrize(
    ("name", "x", "text"),
    [
        ("joined (trend)", 0.0, "1970-01-01"),
        ("joined (trend)", -0.5, "1969-12-31 12:00"),
        ("joined (trend)", 18628.0 + 1 / 86400, "2021-01-01 00:00:01"),
        ("joined (trend)", 0.5 / 86400, "1970-01-01 00:00:00.500000"),
        ("at", 14.5, "14:30"),
        ("at", 14.5 + 1 / 3600, "14:30:01"),
        ("at", 0.0, "00:00"),
        ("at", 0.25 / 3600, "00:00:00.250000"),
        ("wait", 0.0, "0 d"),
        ("wait", 2.5, "2 d 12 h"),
        ("wait", -1 / 24, "-1 h"),
        ("wait", 1 + 90.5 / 86400, "1 d 1 min 30.5 s"),
        ("joined (hour)", 13.5, "13.5"),
        ("joined (trend)", math.inf, "inf"),
    ],
)
def test_numbers_that_are_read_off_are_written_as_what_they_are(name, x, text):
    H = rankers.from_table(dated(), dated(seed=4), n_cuts=3)
    assert pnorm.shapes(np.ones(len(H)), H)[name].text(x) == text


def test_columns_as_they_are_have_a_shape_over_the_values_of_rows():
    H = rankers.columns(2, names=["a", "b"])
    assert len(pnorm.shapes([2.0, 0.0], H)) == 0
    (shape,) = pnorm.shapes([2.0, 0.0], H, [[1.0, 0.0], [5.0, 9.0]])
    assert (shape.slope, shape.ends, shape.range) == (2.0, (1.0, 5.0), 10.0)
    np.testing.assert_array_equal(shape.at(np.array([1.0, 5.0])), [2.0, 10.0])
    with raises(ValueError, "X has 1 columns; these weak rankers were made for 2"):
        pnorm.shapes([2.0, 0.0], H, [[1.0]])


# The average that estimators and commands compare with -----------------------------------------------------


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_an_estimator_compares_with_the_weighted_average_of_the_other_class(push):
    sklearn = pytest.importorskip("pnorm.sklearn")
    rng = np.random.default_rng(6)
    y, weight = X[:, 0] + rng.normal(size=60) > 0, rng.uniform(0.1, 5.0, 60)
    model = sklearn.PNormPush(rankers="columns", t_max=5, push=push).fit(X, y, sample_weight=weight)
    others = y == (push == "bottom")
    parts, f = literal(X, model.rankers_, model.lam_)
    found = model.explain(X[:9])
    np.testing.assert_allclose(found.base, np.average(f[others], weights=weight[others]), atol=1e-12)
    np.testing.assert_allclose(
        found.contributions, parts[:9] - np.average(parts[others], axis=0, weights=weight[others]), atol=1e-12
    )


@pytest.mark.parametrize("zero", [False, True], ids=["used", "unused"])
@pytest.mark.parametrize(("first", "n"), [(10, 40), (0, 400), (500, 40), (500, 1)])
def test_a_trend_that_is_level_has_no_effect(first, n, zero):
    def table(first, n):
        rng = np.random.default_rng(first)
        days = np.datetime64("2024-01-01") + np.arange(first, first + n)
        return {"size": rng.normal(size=n), "when": days.tolist(), "kept": rng.normal(size=n)}

    H = rankers.from_table(table(0, 90), table(1, 90), n_cuts=5)
    trends = np.array([name == "when (trend)" for name in H.column_names])
    assert trends.any()
    assert not trends[0]
    lam = np.random.default_rng(8).normal(size=len(H)) * (1.0 - zero * trends[H.column])
    rows, means = table(first, n), np.arange(1.0, 1.0 + len(trends))
    parts, _ = literal(rows, H, lam)
    level = trends & (np.ptp(parts, axis=0) == 0.0) & (n > 1 and not zero)
    assert level.any() == (n > 1 and not zero and first == 500)
    found = without_level_trends(means, rows, H, lam)
    np.testing.assert_allclose(found[level], parts[0][level], atol=1e-12)
    np.testing.assert_array_equal(found[~level], means[~level])
