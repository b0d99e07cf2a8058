"""Profiles and drift against slow counts, and against tables whose truth is known."""

import html
import itertools
import json
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from facts import raises, tells
from repeats import each_value
from scipy.stats import chi2_contingency

import pnorm
from pnorm import rankers
from pnorm._reasons import moved as _moved
from pnorm._reasons.drift import drift_between

RNG = np.random.default_rng(5)
CITIES = ["Rome", "Oslo", "Bari", "Nice"]


def people(n, seed=0, shift=0.0, cities=(0.4, 0.3, 0.2, 0.1), start="2024-01-01", blank=0.1):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 60, n) + shift
    age[rng.random(n) < blank] = math.nan
    hours = rng.integers(0, 24 * 60, n)
    return {
        "income": rng.lognormal(10, 0.5, n).round(),
        "age": age,
        "city": rng.choice(CITIES, n, p=cities).tolist(),
        "smoker": (rng.random(n) < 0.3).tolist(),
        "when": np.datetime64(start) + hours * np.timedelta64(1, "h"),
        "size": rng.choice(["S", "M", "L"], n, p=[0.5, 0.3, 0.2]).tolist(),
    }


def rows_of(table, kept):
    return {name: [of[i] for i in kept] if isinstance(of, list) else of[kept] for name, of in table.items()}


OLD, NEW = people(600, 1), people(300, 2, 9.0, (0.2, 0.3, 0.4, 0.1), "2024-05-01")
SIDES = rows_of(OLD, range(200)), rows_of(OLD, range(200, 600))
TABLE = rankers.from_table(*SIDES, kinds={"size": ["S", "M", "L"]}, n_cuts=8)
LAM = RNG.normal(size=len(TABLE)).round(2)
A, B = RNG.normal(size=(500, 3)).round(1), (RNG.normal(size=(300, 3)) + np.array([0.0, 0.6, 0.0])).round(1)


def old_and_new():
    sparse = [scipy.sparse.csr_array(np.where(side > 0.5, side, 0.0)) for side in (A, B)]
    cuts = rankers.quantile_thresholds(A[:200], A[200:], 6)
    levels = [side.round().astype(int) for side in (A, B)]
    few = rankers.categories(levels[0][:200], levels[0][200:])
    return {
        "columns": (None, A, B),
        "sparse": (None, *sparse),
        "normalized": (rankers.normalized(A[:200], A[200:]), A, B),
        "cuts": (cuts, A, B),
        "closed": (rankers.closed(cuts), A, B),
        "levels": (few, *levels),
        "sum": (cuts + rankers.columns(3), A, B),
        "table": (TABLE, OLD, NEW),
        "functions": ([lambda X: X[:, 0], lambda X: X[:, 1] ** 2], A, B),
    }


KINDS = old_and_new()


def found(kind, seed=0, **how):
    H, old, new = KINDS[kind]
    n = len(H) if H is not None else 3
    lam = np.random.default_rng(seed).normal(size=n)
    return pnorm.drift(old, new, H, lam, **how), pnorm.profile(old, H, lam), lam


# What is counted ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_what_columns_add_is_the_mean_score(kind):
    H, old, new = KINDS[kind]
    of, kept, lam = found(kind)
    columns = lam.nonzero()[0] if kind == "functions" else {column.name for column in kept.columns}
    for k, rows in enumerate((old, new)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pnorm.rankers.UnknownLevelWarning)
            mean = pnorm.score(rows, H, lam).mean()
        assert sum(column.adds[k] for column in of.columns) == pytest.approx(mean)
        assert of.score.adds[k] == pytest.approx(mean)
    assert len(of.columns) == len(kept.columns) == len(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_profile_through_json_says_what_the_rows_say(kind):
    of, kept, lam = found(kind)
    H, _, new = KINDS[kind]
    data = json.loads(json.dumps(kept.to_dict()))
    again = pnorm.Profile.from_dict(data)
    assert again == kept
    for old in (again, data):
        assert str(pnorm.drift(old, new, H, lam)) == str(of)


@each_value()
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_shares_are_those_of_a_slow_count(kind, weighted):
    H, old, new = KINDS[kind]
    rng = np.random.default_rng(3)
    weights = [rng.integers(0, 3, _n(rows)) for rows in (old, new)] if weighted else [None, None]
    of, kept, lam = found(kind)
    of = pnorm.drift(old, new, H, lam, old_weight=weights[0], new_weight=weights[1])
    kept = pnorm.profile(old, H, lam, weight=weights[0])
    c, d = (np.ones(_n(rows)) if w is None else w for rows, w in zip((old, new), weights, strict=True))
    assert (kept.n, of.n) == (np.count_nonzero(c), (np.count_nonzero(c), np.count_nonzero(d)))
    assert kept.effective == pytest.approx(c.sum() ** 2 / (c**2).sum())
    columns = {column.name: column for column in of.columns} | {"score": of.score}
    for was in (*kept.columns, kept.score):
        x, z = (values_of(was.name, rows, H, lam) for rows in (old, new))
        if was.kind == "levels":
            for level, share in zip(was.levels, was.shares, strict=True):
                assert share == pytest.approx(sum(w for v, w in zip(x, c, strict=True) if v == level) / c.sum())
            now = {text: share for text, _, share in columns[was.name].bins}
            kept_levels = [level for level, share in zip(was.levels, was.shares, strict=True)
                           if share * kept.effective > 10 - 1e-6]  # fmt: skip
            for level in kept_levels:
                assert now[level] == pytest.approx(sum(w for v, w in zip(z, d, strict=True) if v == level) / d.sum())
            if len(kept_levels) < len(was.levels):
                others = sum(w for v, w in zip(z, d, strict=True) if v not in kept_levels) / d.sum()
                assert now["other levels"] == pytest.approx(others)
                assert "levels never seen" not in now
            continue
        known = [v for v, w in zip(x, c, strict=True) if w and not math.isnan(v)]
        assert was.edges[0] == pytest.approx(min(known))
        assert was.edges[-1] == pytest.approx(max(known))
        ends = [-math.inf, *was.cuts, math.inf]
        shares = [slow(x, c, low, high) for low, high in itertools.pairwise(ends)]
        np.testing.assert_allclose(was.shares, shares, atol=1e-12)
        inside = [v if was.edges[0] - 1e-12 <= v <= was.edges[-1] + 1e-12 else math.nan for v in z]
        shares = [slow(inside, d, low, high) for low, high in itertools.pairwise(ends)]
        np.testing.assert_allclose(
            [now for text, then, now in columns[was.name].bins if text != "missing" and (then or text[0] not in "<>")],
            shares,
            atol=1e-12,
        )
        outside = sum(w for v, w in zip(z, d, strict=True) if v < was.edges[0] - 1e-12) / d.sum()
        assert columns[was.name].outside[0] == pytest.approx(outside)


def _n(rows):
    return len(rows["age"]) if isinstance(rows, dict) else rows.shape[0]


def slow(x, c, low, high):
    return sum(w for v, w in zip(x, c, strict=True) if low < v <= high) / c.sum()


def values_of(name, rows, H, lam):
    """The values of a column by its name, as people would look them up."""
    if name == "score":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pnorm.rankers.UnknownLevelWarning)
            return pnorm.explain(rows, H, lam).scores
    if isinstance(rows, dict):
        column, _, of = name.removesuffix(")").partition(" (")
        values = rows[column]
        if of:
            days = values.astype("M8[D]").astype(int)
            hours = values.astype("M8[h]").astype(int)
            return {
                "trend": hours / 24,
                "hour": hours % 24,
                "weekday": [["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][(day + 3) % 7] for day in days],
            }[of]
        return [str(value) for value in values] if isinstance(values, list) else values
    if isinstance(H, list):
        k = [h.__name__ for h in H].index(name) if name[0] != "h" else int(name[1:])
        return lam[k] * H[k](rows)
    values = (rows.toarray() if scipy.sparse.issparse(rows) else rows)[:, int(name[1:])]
    return list(map(str, values)) if values.dtype.kind == "i" else values


def test_the_index_and_the_test_against_slow_ones():
    of, kept, _ = found("columns")
    for column in of.columns:
        then, now = np.array([shares for _, *shares in column.bins]).T
        a, c = 500 * then, 300 * now
        half = [(shares + 0.5 / 300) / (1 + 0.5 / 300 * then.size) for shares in (then, now)]
        psi = sum((p - q) * math.log(p / q) for p, q in zip(*half, strict=True))
        assert column.psi == pytest.approx(psi)
        assert column.by_chance == pytest.approx((then.size - 1) * (1 / 500 + 1 / 300))
        groups = [[0.0, 0.0, 0.0]]
        for of_old, of_new in zip(a, c, strict=True):
            expected = 300 * (of_old + of_new) / 800
            groups[-1] = [x + y for x, y in zip(groups[-1], (of_old, of_new, expected), strict=True)]
            if groups[-1][2] >= 5:
                groups.append([0.0, 0.0, 0.0])
        last = groups.pop()
        groups[-1] = [x + y for x, y in zip(groups[-1], last, strict=True)]
        p = chi2_contingency(np.array(groups)[:, :2], correction=False).pvalue
        assert _moved._p_value(then, now, 500, 300, False) == pytest.approx(p)
        assert column.p_value >= p
    assert kept.score.cuts == tuple(sorted(kept.score.cuts))


def test_bins_in_which_few_rows_are_expected_are_merged():
    then, now = np.array([0.5, 0.48, 0.01, 0.01]), np.array([0.5, 0.46, 0.02, 0.02])
    merged = chi2_contingency([[50, 48 + 2], [50, 46 + 4]], correction=False).pvalue
    assert _moved._p_value(then, now, 100, 100, False) == pytest.approx(merged)
    assert _moved._p_value(then, now, 4, 4, False) == 1.0
    by_size = chi2_contingency([[500, 480 + 20], [50, 46 + 4]], correction=False).pvalue
    assert _moved._p_value(then[[2, 0, 3, 1]], now[[2, 0, 3, 1]], 1000, 100, True) == pytest.approx(by_size)


def test_holm_against_its_definition():
    p = RNG.random(9) ** 4
    order = np.argsort(p)
    slow = [max(min(1.0, p[order[j]] * (9 - j)) for j in range(np.flatnonzero(order == i)[0] + 1)) for i in range(9)]
    np.testing.assert_allclose(_moved._holm(p), slow)


@pytest.mark.parametrize("weight", [None, [1, 2, 0, 3, 1, 1]])
def test_tops_are_the_scores_that_so_many_rows_reach(weight):
    x = np.array([3.0, 1.0, 9.0, 2.0, 2.0, 0.0])
    c = np.ones(6) if weight is None else np.array(weight, float)
    found = pnorm.profile(x[:, None], None, [1.0], weight=weight)
    for share, at, then in found.tops:
        reached = [c[x >= v].sum() / c.sum() for v in x]
        slow = max(v for v, r, w in zip(x, reached, c, strict=True) if w and r >= share)
        assert (at, then) == (slow, pytest.approx(c[x >= slow].sum() / c.sum()))
    new = pnorm.drift(found, [[3.0], [-1.0]], None, [1.0])
    assert [now for *_, now in new.tops] == [float(at <= 3.0) / 2 for _, at, _ in found.tops]


# What is said ---------------------------------------------------------------------------------------


def test_new_levels_are_counted_and_named():
    new = {name: list(of) for name, of in NEW.items()}
    new["city"][:5] = ["Pisa", "Pisa", "<b>", " rome", None]
    of = pnorm.drift(OLD, new, TABLE, LAM)
    city = next(column for column in of.columns if column.name == "city")
    assert city.unseen == {"Pisa": 2, "<b>": 1, " rome": 1}
    assert city.unseen_share == pytest.approx(4 / 300)
    assert city.missing == (0.0, pytest.approx(1 / 300))
    assert any("city has 3 levels never seen before, in 4 rows: Pisa (2), <b> (1)" in text for text in of.warnings)
    assert "<b>" not in of._repr_html_()
    assert html.escape("<b> (1)") in of._repr_html_()


def test_levels_that_were_rare_in_training_are_not_new():
    pos, neg = {"shop": ["a"] * 40 + ["c"] * 20 + ["b"] * 3}, {"shop": ["c"] * 40 + ["a"] * 20 + ["d"]}
    H = rankers.from_table(pos, neg, min_rows=20)
    assert [name for name in H.names if "rare" in name] == ["shop = (rare)"]
    lam = np.arange(1.0, len(H) + 1)
    old = {"shop": pos["shop"] + neg["shop"]}
    of = pnorm.drift(pnorm.profile(old, H, lam), {"shop": ["a", "b", "d", "e", "e"]}, H, lam)
    assert of.columns[0].unseen == {"e": 2}
    assert {text: now for text, _, now in of.columns[0].bins} == {"a": 0.2, "c": 0.0, "other levels": 0.8}


def test_spellings_that_are_merged_are_one_new_level():
    sides = {"shop": ["a", "A "] * 40 + ["c"] * 20 + ["Odd"]}, {"shop": ["c"] * 40 + ["a"] * 20}
    new = {"shop": ["A", "C", "Centre"] * 8 + ["Centre ", "CENTRE"] * 5 + ["odd"]}
    H = rankers.from_table(*sides, kinds={"shop": "any case"}, min_rows=10)
    lam, old = np.arange(1.0, len(H) + 1), {"shop": sides[0]["shop"] + sides[1]["shop"]}
    of = pnorm.drift(old, new, H, lam)
    assert of.columns[0].unseen == {"Centre": 18}
    assert any("shop has 1 level never seen before, in 18 rows: Centre (18)" in text for text in of.warnings)
    plain = {"shop": ["a", "c", "c"] * 30}, {"shop": ["a", "a", "c"] * 30}  # without merging
    H = rankers.from_table(*plain)
    of = pnorm.drift(plain[0], new, H, np.ones(len(H)))
    assert of.columns[0].unseen == {"A": 8, "C": 8, "Centre": 8, "Centre ": 5, "CENTRE": 5, "odd": 1}


def test_a_profile_that_does_not_name_all_levels_does_not_call_others_new():
    old = {"shop": [f"s{i // 2}" for i in range(600)]}
    H = rankers.from_table(
        {"shop": old["shop"][:300]}, {"shop": old["shop"][300:]}, kinds={"shop": "category"}, min_rows=1
    )
    lam = np.ones(len(H))
    new = {"shop": ["s1", "s299", "other"]}
    of_rows, of_profile = (pnorm.drift(x, new, H, lam).columns[0] for x in (old, pnorm.profile(old, H, lam)))
    assert (of_rows.unseen, of_profile.unseen) == ({"other": 1}, {})
    assert pnorm.profile(old, H, lam).columns[0].others == pytest.approx(45 / 300)


def test_a_single_new_row_has_one_weekday_and_one_city():
    one = rows_of(NEW, range(1))
    of = pnorm.drift(OLD, one, TABLE, LAM)
    now = {column.name: [text for text, _, now in column.bins if now] for column in of.columns}
    assert now["city"] == one["city"]
    assert now["when (weekday)"] == values_of("when (weekday)", one, TABLE, LAM)
    assert of.moved == ()


def test_categories_may_have_levels_that_no_row_has():
    pandas = pytest.importorskip("pandas")
    column = pandas.Categorical(["Rome"], ["Atlantis", "Rome", "Xanadu"])
    frame = pandas.DataFrame(rows_of(NEW, range(1)) | {"city": column})
    of = next(of for of in pnorm.drift(OLD, frame, TABLE, LAM).columns if of.name == "city")
    assert [(text, now) for text, _, now in of.bins if now] == [("Rome", 1.0)]
    assert of.unseen == {}


def test_days_are_told_and_not_tested():
    of = pnorm.drift(OLD, NEW, TABLE, LAM)
    trend = next(column for column in of.columns if column.kind == "trend")
    assert math.isnan(trend.psi)
    assert not trend.moved
    assert trend.outside == (0.0, 1.0)
    said = [text for text in of.warnings if text.startswith("when (trend)")]
    assert said == [
        "when (trend) runs from 2024-05-01 to 2024-06-29, and ran from 2024-01-01 to 2024-02-29 before; newer rows have "
        "later days, which add what the last day of training adds"
    ]
    (row,) = [line for line in str(of).splitlines() if line.startswith("when (trend)  ")]
    assert re.match(r"when \(trend\) +not tested +100\.0 % ", row)  # no PSI, and no unit of a cell that is not there


def test_a_page_has_minus_signs_and_a_text_has_hyphens():
    of = pnorm.drift(OLD, NEW, TABLE, LAM)
    parts = re.findall(r" ([+-]\d\S+)", str(of).partition("\nscore then")[0])
    assert any(part.startswith("-") for part in parts)
    page = of._repr_html_()
    assert re.search(r">−\d[^<]*</td>", page)
    assert not re.search(r">-\d", page)


def test_values_outside_the_range_and_missing_for_the_first_time():
    rng = np.random.default_rng(0)
    old, new = rng.random((500, 1)), rng.random((400, 1))
    old[:2] = [[0.0], [1.0]]
    new[:9] = 2.0
    new[9:20] = math.nan
    H = rankers.thresholds([[0.2, 0.7]], missing="own")
    of = pnorm.drift(old, new, H, [1.0, -0.5, 0.3])
    assert of.columns[0].beyond_ends == ("above", "missing")
    assert of.columns[0].outside == (0.0, 9 / 400)
    assert of.warnings[-2:] == (
        "x0 is above the largest value before, 1, in 2.2 % of the rows",
        "x0 is missing in 2.8 % of the rows, and was never missing before",
    )
    again = pnorm.drift(old, rng.random((400, 1)), H, [1.0, -0.5, 0.3])
    assert (again.columns[0].beyond_ends, again.warnings) == ((), ())


def test_a_share_that_would_print_as_zero_is_a_count_and_no_warning():
    old, new = np.arange(10.0)[:, None], np.full((9042, 1), 5.0)
    new[0] = 20.0
    of = pnorm.drift(old, new, None, [1.0])
    (column,) = of.columns
    column = replace(column, beyond_ends=("above",))
    of = replace(of, columns=(column,))
    assert of.warnings[-1] == "x0 is above the largest value before, 9, in 1 of 9,042 rows"
    assert not of._grave()[-1]


@pytest.mark.parametrize(
    ("by", "told", "grave"), [(0.15, "moved a little, but beyond chance", False), (1.0, "moved", True)]
)
def test_scores_that_moved_a_little_are_no_grave_change(by, told, grave):
    old, new = np.random.default_rng(0).normal(size=(2, 5000, 1))
    of = pnorm.drift(old, new + by, None, [1.0])
    (found,) = [
        is_grave for text, is_grave in zip(of.warnings, of._grave(), strict=True) if f"the scores {told}" in text
    ]
    assert found == grave


def test_later_months_are_no_grave_change():
    days = np.datetime64("2024-01-01") + np.arange(400).astype("m8[D]")
    x = np.random.default_rng(0).random((2, 200)) + np.array([[0.0], [3.0]])
    old, new = [{"day": days[200 * k : 200 * k + 200], "x": x[k]} for k in (0, 1)]
    H = rankers.from_table({"day": days[::2], "x": x[:, ::2].ravel()}, {"day": days[1::2], "x": x[:, 1::2].ravel()})
    of = pnorm.drift(old, new, H, np.ones(len(H)))
    told = dict(zip(of.warnings, of._grave(), strict=True))
    (month,) = [grave for text, grave in told.items() if text.startswith("day (month) moved")]
    (moved,) = [grave for text, grave in told.items() if text.startswith("x moved")]
    assert (month, moved) == (False, True)


def test_a_column_that_was_constant_and_is_another_constant_has_moved():
    of = pnorm.drift(np.zeros((90, 2)), np.c_[np.ones(90), np.zeros(90)], None, [1.0, 1.0])
    assert of.moved == ("x0",)
    assert of.columns[0].bins == (("= 0", 1.0, 0.0), ("> 0", 0.0, 1.0))
    assert of.columns[1].bins == (("= 0", 1.0, 1.0),)
    assert of.warnings[0] == "x0 moved much (PSI 10): none of the rows have values = 0, and 100.0 % had"


def test_columns_without_coefficients_are_not_asked_for():
    lam = np.where([name.startswith("age") for name in TABLE.names], 1.0, 0.0)
    of = pnorm.drift(OLD, {"age": NEW["age"]}, TABLE, lam)
    assert [column.name for column in of.columns] == ["age"]
    nothing = pnorm.drift(A, B, None, np.zeros(3))
    assert (nothing.columns, nothing.score.psi, nothing.warnings) == ((), 0.0, ())
    assert str(nothing).startswith("There are no columns to compare, and the scores have not moved")


def test_where_all_values_are_missing():
    H = rankers.thresholds([[0.2]], missing="own")
    blank = np.full((50, 1), math.nan)
    of = pnorm.drift(blank, np.ones((60, 1)), H, [1.0, 1.0])
    assert (of.columns[0].missing, of.moved) == ((1.0, 0.0), ("x0",))
    assert pnorm.drift(np.ones((60, 1)), blank, H, [1.0, 1.0]).columns[0].missing == (0.0, 1.0)
    kept = pnorm.profile(blank, H, [1.0, 1.0])
    assert pnorm.Profile.from_dict(json.loads(json.dumps(kept.to_dict()))) == kept


def test_it_prints_what_moved_first():
    of = pnorm.drift(OLD, NEW, TABLE, LAM)
    lines = str(of).splitlines()
    assert lines[0] == f"{len(of.moved)} of 7 columns moved (600 rows then, 300 now)."
    assert lines[1].startswith(f"{of.moved[0]} moved much (PSI ")
    assert set(of.moved) == {"age", "city"}
    assert repr(of) == "<Drift of 8 columns: 2 moved>"
    assert "moved much</td>" in of._repr_html_()
    many = pnorm.drift(np.zeros((90, 40)), np.ones((90, 40)), None, np.ones(40))
    assert f"30 more columns moved: {', '.join(many.moved[10:20])}, ..." in many.warnings
    assert str(many).endswith("20 more columns")


def test_frames_say_what_dictionaries_say():
    pandas = pytest.importorskip("pandas")
    table = pnorm.drift(OLD, NEW, TABLE, LAM)
    frame = pnorm.drift(pandas.DataFrame(OLD), pandas.DataFrame(NEW).astype({"city": "category"}), TABLE, LAM)
    assert str(frame) == str(table)
    values = frame.to_frame()
    assert list(values.index) == [*[column.name for column in frame.columns], "score"]
    assert values.loc["age", "psi"] == next(column.psi for column in frame.columns if column.name == "age")


# Its promise ----------------------------------------------------------------------------------------


def test_two_tables_of_one_distribution_rarely_move_and_a_shift_is_found():
    rng, H = np.random.default_rng(11), TABLE
    said, shifted = 0, 0
    for _ in range(60):
        a, b = (people(n, int(rng.integers(1 << 30))) for n in (400, 150))
        of = pnorm.drift(a, b, H, LAM)
        said += of.score.beyond_chance or any(column.beyond_chance or column.beyond_ends for column in of.columns)
        b["age"] = b["age"] + 12
        shifted += pnorm.drift(a, b, H, LAM).moved[:1] == ("age",)
    assert said <= 8  # of 60 at most 3 are expected, and 9 or more in one of 200 seeds
    assert shifted == 60


def notes_of(rng, n, of_new=0.0):
    """Free notes: a few are frequent, and many rows have one of their own."""
    notes = [f"note {k}" for k in np.minimum(rng.zipf(1.6, n), 10**9)]
    return {"notes": ["brand new" if rng.random() < of_new else note for note in notes]}


def test_new_notes_are_no_drift_where_many_were_seen_once():
    rng = np.random.default_rng(12)
    alarms, shifted, unseen, n = 0, 0, 0.0, 40
    for _ in range(n):
        old = notes_of(rng, 1600)
        sides = [rows_of(old, rows) for rows in (range(300), range(300, 1600))]
        H = rankers.from_table(*sides, kinds={"notes": "category"})
        lam = np.ones(len(H))
        kept = pnorm.Profile.from_dict(json.loads(json.dumps(pnorm.profile(old, H, lam).to_dict())))
        of = pnorm.drift(old, notes_of(rng, 1000), H, lam)
        unseen += of.columns[0].unseen_share / n
        again = pnorm.drift(kept, notes_of(rng, 1000), H, lam)
        alarms += bool(of.moved or again.moved)
        shifted += bool(pnorm.drift(old, notes_of(rng, 1000, 0.3), H, lam).moved)
    assert unseen > 0.05  # what is new by construction
    assert alarms <= n // 20
    assert shifted == n


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_new_level_is_drift_where_all_were_frequent(share):
    rng = np.random.default_rng(13)
    H, lam = TABLE, LAM
    for _ in range(20):
        old, new = people(1000, int(rng.integers(1 << 30))), people(500, int(rng.integers(1 << 30)))
        new["city"] = ["Pisa" if rng.random() < share else city for city in new["city"]]
        of = pnorm.drift(old, new, H, lam)
        assert ("city" in of.moved) == bool(share)


# What is refused ------------------------------------------------------------------------------------


def test_profiles_of_others_are_refused():
    kept = pnorm.profile(A, None, [1.0, 2.0, 3.0])
    for H, lam in ((None, [1.0, 2.0, 4.0]), (rankers.columns(3, names=["a", "b", "c"]), [1.0, 2.0, 3.0])):
        with raises(ValueError, "old is a profile of other weak rankers or other coefficients"):
            pnorm.drift(kept, B, H, lam)
    with raises(ValueError, "old_weight is for rows, and old is a profile"):
        pnorm.drift(kept, B, None, [1.0, 2.0, 3.0], old_weight=np.ones(500))
    with raises(ValueError, "new lacks the column"):
        pnorm.drift(OLD, {"city": NEW["city"]}, TABLE, LAM)
    with raises(OverflowError, "of row 0, or a part of its sum, is more than a double holds"):
        pnorm.drift(A, 1e10 * B, None, [1e300, 1.0, 1.0])


@pytest.mark.parametrize(
    ("times", "message"), [(0, "no column in the place of x0"), (2, "the column x0, which has no coefficients")]
)
def test_a_profile_with_too_few_or_too_many_columns_is_refused(times, message):
    data = pnorm.profile(A, None, [1.0, 2.0, 3.0]).to_dict()
    with raises(ValueError, message):
        pnorm.drift(data | {"columns": data["columns"] * times}, B, None, [1.0, 2.0, 3.0])


BROKEN = {
    "a number of rows": ({"n": 0}, "'n' of the contents of a profile must be at least 1"),
    "no rows": ({"effective": -1.0}, "'effective' of the contents of a profile must be above 0"),
    "another field": ({"more": 1}, "is not known to this version"),
    "another version": ({"version": 2}, "have version 2 of the format, and this pnorm reads version 1"),
    "no tops": ({"tops": [[0.1, 1.0]] * 3}, "must be three lists of a share, a score and a share"),
    "no score": ({"score": []}, "'score' of the contents of a profile must be a list of 1"),
    "columns": ({"columns": 3}, "'columns' of the contents of a profile must be a list"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_damaged_profiles_are_refused(name):
    changes, message = BROKEN[name]
    with raises(ValueError, message):
        pnorm.Profile.from_dict(pnorm.profile(A, None, [1.0, 2.0, 3.0]).to_dict() | changes)


COLUMNS = {
    "shares": ({"shares": [0.5, 0.4]}, "must be of different levels, and add up to 1"),
    "levels": ({"levels": ["a", "a"]}, "must be of different levels"),
    "kind": ({"kind": "colour"}, "'kind' of 'columns'"),
    "edges": ({"kind": "number", "edges": [0.0, 2.0, 1.0]}, "'edges' of c in a profile must be ascending"),
    "mean": ({"mean": math.nan}, "'mean' of 'columns'"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_damaged_columns_are_refused(name):
    changes, message = COLUMNS[name]
    H = rankers.categories([["a"], ["b"]], [["a"]], names=["c"])
    kept = pnorm.profile([["a"], ["b"]] * 20, H, [1.0, 2.0])
    data = kept.to_dict()
    assert data["columns"][0]["levels"] == ["a", "b"]
    column = data["columns"][0] | changes
    if column["kind"] != "levels":
        column.pop("levels")
    with raises(ValueError, message):
        pnorm.Profile.from_dict(data | {"columns": [column]})


@pytest.mark.parametrize("is_profile", [False, True])
def test_a_column_is_compared_among_the_rows_that_have_a_value(is_profile):
    """As `drift` does of these rows; all other columns as before."""
    old, new = people(3000, seed=1), people(1000, seed=2, start="2024-02-01", shift=1.0)
    undated = np.arange(3000) % 10 == 0
    old["when"] = np.where(undated, np.datetime64("NaT", "D"), old["when"])
    pos, neg = rows_of(old, np.flatnonzero(RNG.random(3000) < 0.3)), rows_of(old, np.arange(2000))
    H = rankers.from_table(pos, neg)
    lam = np.random.default_rng(0).normal(size=len(H))
    before = pnorm.profile(old, H, lam) if is_profile else old
    every = pnorm.drift(before, new, H, lam)
    found = drift_between(before, new, H, lam, among_known="when")
    of_known = pnorm.drift(rows_of(old, np.flatnonzero(~undated)), new, H, lam)
    assert "when (weekday)" in every.moved
    assert tells(" ".join(every.warnings), "none of the rows have missing values, and 10.0 % had")
    told = [sentence for sentence in found.warnings if sentence.startswith("when")]
    assert "missing" not in " ".join(told)
    names = [column.name for column in found.columns]
    assert sorted(names) == sorted([column.name for column in every.columns])
    for column in found.columns:
        other = of_known if column.name in ("when (weekday)", "when (hour)", "when (month)") else every
        (same,) = [of for of in other.columns if of.name == column.name]
        np.testing.assert_allclose([column.psi, column.by_chance], [same.psi, same.by_chance], rtol=1e-9)
        if column.name.startswith("when"):
            assert column.missing == (0.1, 0.0)
    assert found.score.psi == every.score.psi
