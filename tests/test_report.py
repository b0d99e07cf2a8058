"""The report: the page is whole, needs nothing else, escapes all that users name, and its numbers are those of metrics."""

import dataclasses
import itertools
import math
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse

import pnorm
from pnorm import metrics, rankers
from pnorm._checks.text import short_count
from pnorm._command import printing
from pnorm._cross_validation import Choice
from pnorm._job.quality import Difference, quality
from pnorm._report import charts, content, markup, pictures, report

RNG = np.random.default_rng(11)
N = 900
AGE = RNG.normal(50, 12, N).round()
CITY = RNG.choice(["Oslo", "Rome", "Bari"], N, p=[0.6, 0.3, 0.1])
Y = RNG.random(N) < 1 / (1 + np.exp(-(AGE - 62) / 6 - 1.5 * (CITY == "Rome")))
TABLE = {
    "age": [None if k % 19 == 0 else float(a) for k, a in enumerate(AGE)],
    "city": CITY.tolist(),
    "since": [np.datetime64("2024-01-01") + int(d) for d in RNG.integers(0, 500, N)],
    "customer": [f"C{k:05d}" for k in range(N)],
}
HELD = np.arange(N) % 3 == 0


def some(table, rows):
    return {name: [column[k] for k in np.flatnonzero(rows)] for name, column in table.items()}


def model(table=TABLE, y=Y, **how):
    pos, neg = some(table, ~HELD & y), some(table, ~HELD & ~y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankers.TableWarning)
        H = rankers.from_table(pos, neg, n_cuts=9, **how)
    return H, *pnorm.minimize(pos, neg, H, 4, l2=0.1, penalty="shapes")


@pytest.fixture(scope="module")
def fitted():
    H, lam, trace = model()
    return H, lam, trace, some(TABLE, HELD), Y[HELD]


def everything(fitted):
    """All that a caller may know."""
    H, lam, trace, X, y = fitted
    f = pnorm.score(X, H, lam)
    sides = some(TABLE, ~HELD & Y), some(TABLE, ~HELD & ~Y)
    return {
        "p": 4,
        "intercept": trace.intercept,
        "ids": X["customer"],
        "training": (some(TABLE, ~HELD), Y[~HELD]),
        "cross_validation": pnorm.cross_validate(*sides, H, [1, 4], l2=[1.0, 0.1], penalty="shapes", folds=2),
        "trace": trace,
        "cutoff": pnorm.cutoff(f[y], f[~y], precision=0.5),
        "l1": 0.0,
        "l2": 0.1,
        "title": "Who buys?",
        "label": "bought = yes",
        "notes": ["Mind the gap."],
        "reproduce": {"command": "pnorm leads.csv --label bought", "Seed": "0"},
    }


def sides_of(fitted):
    H, lam, _, X, y = fitted
    f = pnorm.score(X, H, lam)
    return f[y], f[~y]


class Page(HTMLParser):
    """A page, as far as tests look at it."""

    VOID = ("meta", "br")

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.tags, self.ids, self.links = text, [], [], [], []
        self.words, self.tables, self.headings = "", {}, []
        self._row, self._rows, self._of, self._cell = [], [], [], None
        self.feed(text)
        self.close()
        assert self.open == []
        assert self.rawdata == ""

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert len(given) == len(attrs)
        self.tags.append((tag, given))
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self._rows = []
        if tag == "tr":
            self._row = []
        if tag in ("td", "th", "caption", "h2"):
            self._cell = ""
            self._of = []
        if tag == "data":
            self._of.append(float(given["value"]))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self._row.append((self._cell, *self._of))
        if tag == "caption":
            self._caption = self._cell
        if tag == "h2":
            self.headings.append(self._cell)
        if tag == "tr":
            self._rows.append(self._row)
        if tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, text):
        if "style" not in self.open:
            self.words += text
        if self._cell is not None:
            self._cell += text


def page_of(path):
    page = Page(path.read_text(encoding="utf-8"))
    needs_nothing_else(page)
    return page


def needs_nothing_else(page):
    """Nothing is fetched, nothing runs, links stay within the page, and everybody finds their way."""
    assert page.text.startswith("<!DOCTYPE html>")
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "input", "use", "image", "base"}
    for tag, given in page.tags:
        assert not [
            name for name in given if name.startswith("on") or name in ("src", "srcset", "action", "xlink:href")
        ], tag
        assert "url(" not in (given.get("style") or "")
    style = page.text[page.text.index("<style>") : page.text.index("</style>")]
    assert not re.search(r"@import|url\(|https?:", style)
    assert page.text.count("<style>") == 1
    assert len(page.ids) == len(set(page.ids))
    assert page.links
    assert all(link[0] == "#" and link[1:] in page.ids for link in page.links)
    assert [
        given for tag, given in page.tags if tag == "svg" and "role" not in given and "aria-hidden" not in given
    ] == []
    assert [tag for tag, given in page.tags if tag == "th" and given.get("scope") not in ("row", "col")] == []
    pictures = [given for tag, given in page.tags if tag == "svg" and given.get("role") == "img"]
    assert sum(tag == "desc" for tag, _ in page.tags) == len(pictures)
    for character in page.text:
        assert character.isprintable() or character == "\n", ascii(character)


@pytest.fixture(scope="module")
def full(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "full.html"
    H, lam, _, X, y = fitted
    pnorm.report_html(path, X, y, H, lam, **everything(fitted))
    return page_of(path)


# What it says -------------------------------------------------------------------------------------------


def test_its_first_sentence_counts_the_positives_at_the_top(fitted, tmp_path):
    H, lam, _, X, y = fitted
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam, budget=40)
    page = page_of(tmp_path / "r.html")
    f = pnorm.score(X, H, lam)
    hits = metrics.precision_at(f[y], f[~y], 40) * 40
    by_chance = 40 * y.mean()
    assert re.search(
        rf"Of the first 40 rows, {hits:g} are positive \(95 % interval \d+ to \d+\)\.\s*A random order would have {by_chance:.0f}\.",
        page.words,
    )
    assert f"Measured on 300 held-out rows, {y.sum()} of them positive" in page.words
    assert "The interval is for the expected number." in page.words


def test_the_numbers_of_its_tables_are_those_of_metrics(fitted, full):
    H, lam, _, X, y = fitted
    f = pnorm.score(X, H, lam)
    sides = f[y], f[~y]
    head, *rows = full.tables["Positives among the first rows"]
    assert [cell[0] for cell in head][:4] == ["First rows", "Positives", "Precision, lift", "Recall"]
    assert len(rows) >= 2
    for row in rows:
        k = int(row[0][0].replace(",", ""))
        precision = metrics.precision_at(*sides, k)
        assert row[2][2] == pytest.approx(precision / y.mean(), rel=1e-12)
        for cell, expected in zip(row[1:], (k * precision, precision, metrics.recall_at(*sides, k)), strict=False):
            assert cell[1] == pytest.approx(expected, rel=1e-12)
            shown = float(re.match(r"[\d.,]+", cell[0])[0].replace(",", ""))
            assert shown == pytest.approx(
                expected * (100 if "%" in cell[0] else 1), rel=0.06 if expected < 0.01 else 0.006
            )
        assert row[-1][1] == pytest.approx(k * y.mean())
    whole = {row[0][0]: row[1] for row in full.tables["The whole list"][1:]}
    expected = {
        "positives above every negative": metrics.positives_at_top(*sides),
        "AUC": metrics.auc(*sides),
        "average precision of the positives": metrics.average_precision(*sides),
    }
    for name, value in expected.items():
        assert whole[name][1] == pytest.approx(value, rel=1e-12)
        assert bool(re.search(r"\d to \d", whole[name][0])) == (name != "positives above every negative")
    assert "Positives above every negative have none: one row decides" in full.words
    assert (
        "The intervals of all 8 differences to other lists, shown or not, hold jointly with 95 % confidence"
        in full.words
    )


def test_other_lists_stand_beside_it(fitted, tmp_path):
    H, lam, _, X, y = fitted
    g = np.array([math.nan if a is None else a for a in X["age"]])
    g = np.nan_to_num(g, nan=50.0)
    others = {"age alone": g, "minus age": -g}
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam, others=others, training=everything(fitted)["training"])
    page = page_of(tmp_path / "r.html")
    whole = page.tables["The whole list"]
    assert [cell[0] for cell in whole[0]] == ["Measure", "This list", "age alone", "minus age", "By chance"]
    aucs = next(row for row in whole if row[0][0] == "AUC")
    assert aucs[2][1] == pytest.approx(metrics.auc(g[y], g[~y]))
    assert aucs[3][1] == pytest.approx(metrics.auc(-g[y], -g[~y]))
    for row in page.tables["Positives among the first rows"][1:]:
        k = int(row[0][0])
        assert row[4][1] == pytest.approx(k * metrics.precision_at(g[y], g[~y], k))
    more = 10 * (metrics.precision_at(*sides_of(fitted), 10) - metrics.precision_at(g[y], g[~y], 10))
    told = f"{abs(more):.3g} positives? {'more' if more >= 0 else 'fewer'}" if more else "as many positives"
    assert re.search(f"Against “age” alone: {told} in the first 10 rows", page.words)


@pytest.mark.parametrize(
    ("by", "told"),
    [
        (0.0, "as many positives in the first 10 rows (1 fewer to 1 more)"),
        (
            0.01,
            "as many positives, to within one row, in the first 10 rows (1 fewer to 1 more; tied rows count in part)",
        ),
        (
            -0.5,
            "as many positives, to within one row, in the first 10 rows (1 fewer to 1 more; tied rows count in part)",
        ),
        (1.0, "1 positive more in the first 10 rows (1 fewer to 1 more)"),
        (3.97, "about 4 positives more in the first 10 rows (1 fewer to 1 more; tied rows count in part)"),
    ],
)
def test_lists_that_differ_by_less_than_a_row_are_called_equal(by, told):
    difference = Difference("precision", "x", metrics.Estimate(by / 10, -0.1, 0.1, 0.95), 10)
    sentence, interval, shows = markup.compared(difference, "top")
    assert f"{sentence} ({interval})" == told
    assert shows == ("" if "as many" in told else "may be chance")


def test_two_lists_with_the_same_first_rows_differ_further_down(tmp_path):
    y = np.arange(200) < 60
    f = np.where(np.arange(200) < 55, 3.0, 0.0) - np.arange(200) / 1e3
    g = np.where(np.arange(200) < 30, 3.0, 0.0) - ~y * np.arange(200)[::-1] / 1e3 + np.arange(200) / 1e2
    pnorm.report_html(tmp_path / "r.html", f[:, None], y, None, [1.0], others={"other": g})
    words = page_of(tmp_path / "r.html").words
    told = re.search(r"Against “other”: ([\d.]+) positives? more in the first (\d+) rows", words)
    k = int(told[2])
    assert k > int(re.search(r"Of the first (\d+) rows", words)[1])
    both = [metrics.precision_at(s[y], s[~y], k) for s in (f, g)]
    assert float(told[1]) == pytest.approx(k * (both[0] - both[1]))
    pnorm.report_html(tmp_path / "r.html", f[:, None], y, None, [1.0], others={"same": 2 * f})
    words = page_of(tmp_path / "r.html").words
    own = metrics.average_precision(f[y], f[~y])
    told = rf"Against “same”: as many positives in the first \d+ rows; the same average precision, {own:.3f}\."
    assert re.search(told, words)


def test_with_rows_of_training_it_makes_simple_lists_to_compare_with(full, fitted, tmp_path):
    head = [cell[0] for cell in full.tables["The whole list"][0]]
    assert head[2:5] == ["Linear model", "Logistic curves", "Boosted trees"]
    assert re.fullmatch(r"(age|city) alone", head[5])
    H, lam, _, X, y = fitted
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam, others={}, training=everything(fitted)["training"])
    assert len(page_of(tmp_path / "r.html").tables["The whole list"][0]) == 3  # none are asked for


def test_the_first_rows_are_those_of_the_scores_with_their_reasons(fitted, full):
    H, lam, _, X, y = fitted
    f = pnorm.score(X, H, lam)
    order = np.argsort(-f, kind="stable")[:20]
    head, *rows = next(table for caption, table in full.tables.items() if caption.startswith("The first 20 of 300"))
    assert [cell[0] for cell in head] == [
        "Place",
        "Row",
        "Outcome",
        "Score",
        "Probability",
        "Largest effects on the score",
    ]
    assert [row[1][0] for row in rows] == [X["customer"][k] for k in order]
    assert [row[2][0] for row in rows] == ["● positive" if y[k] else "○ negative" for k in order]
    negatives = some(TABLE, ~HELD & ~Y)
    assert "compared with the average negative training row." in full.words
    found = pnorm.explain(some(X, np.isin(np.arange(len(y)), order)), H, lam, reference=negatives)
    place = {k: i for i, k in enumerate(np.sort(order))}
    for k, row in zip(order, rows, strict=True):
        parts = found.contributions[place[k]]
        strongest = found.names[np.abs(parts).argmax()]
        assert row[5][0].startswith((f"{strongest} = ", f"{strongest} is missing", strongest))
        assert f"{np.abs(parts).max():.3g}"[:4] in row[5][0]


@pytest.mark.parametrize(
    ("push", "reference"),
    [("top", "the average negative of these rows"), ("bottom", "the average positive of these rows")],
)
def test_reasons_and_shapes_say_that_their_zeros_differ(fitted, tmp_path, push, reference):
    H, lam, _, X, y = fitted
    told = f"The reasons of rows compare with another row, {reference}, so their numbers differ."
    for n_rows in (5, 0):
        pnorm.report_html(tmp_path / "r.html", X, y, H, lam, push=push, n_rows=n_rows)
        words = page_of(tmp_path / "r.html").words
        assert "Zero is the average of the held-out rows." in words
        assert (told in words) == (n_rows > 0)
    beside = report.Beside(None, np.zeros(len(H.column_names)), "the average row of the file")
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam, push=push, training=beside)
    assert "compare with another row" not in page_of(tmp_path / "r.html").words


def test_columns_are_worth_what_importance_says(fitted, full):
    H, lam, _, X, y = fitted
    f = pnorm.score(X, H, lam)
    k = int(re.search(r"among the first (\d+) rows if the column were ignored", full.words)[1])
    headline = int(re.search(r"Of the first (\d+) rows", full.words)[1])
    assert k == (headline if headline >= 50 else max(headline, int(y.sum())))
    found = pnorm.importance(some(X, y), some(X, ~y), H, lam, lambda a, b: metrics.precision_at(a, b, k))
    rows = {row[0][0]: row for row in full.tables["Columns, largest range first"][1:]}
    assert rows
    for name, row in rows.items():
        assert row[3][1] == pytest.approx(k * found.without[found.names.index(name)])
    assert list(rows) == [found.names[c] for c in np.argsort(-found.ranges, kind="stable") if found.ranges[c] > 0]
    assert f"With all columns there are {round(k * metrics.precision_at(f[y], f[~y], k), 1):g}" in full.words


@pytest.mark.parametrize(("budget", "depth"), [(None, 60), (20, 60), (49, 60), (55, 55)])
def test_importance_is_about_more_than_a_few_rows(tmp_path, budget, depth):
    rng, y = np.random.default_rng(0), np.arange(400) < 60
    X = rng.normal(size=(400, 2)) + y[:, None]
    pnorm.report_html(tmp_path / "r.html", X, y, None, [1.0, 0.5], budget=budget)
    told = f"the number of positives among the first {depth} rows if the column were ignored"
    assert told in page_of(tmp_path / "r.html").words


def test_it_has_all_that_was_given(full):
    for words in (
        "Who buys?",
        "bought = yes",
        "Mind the gap.",
        "pnorm leads.csv --label bought",
        "customer",
        "Training reached the minimum of its objective, which is proved (gap",
    ):
        assert words in full.words
    assert len(full.headings) == 13
    assert full.headings[:3] == ["How good the list is", "Cut-off", "Precision by depth"]
    assert "left out" in str(full.tables["Columns"])


def test_the_choice_is_told_in_words(fitted, full):
    found = everything(fitted)["cross_validation"]
    assert not re.search(r"partial_auc|average_precision|runs certified|simplest of these|line \+ cuts", full.words)
    assert [cell[0] for cell in full.tables["The settings compared"][0]] == [
        "p", "Penalty l2", "Partial AUC", "Behind the best"
    ]  # fmt: skip
    assert f"Chosen: p = {found.best.p:g}, penalty l2 = {found.best.l2:g}. " in full.words
    assert "The setting with the largest mean is chosen. " in full.words
    assert f"In all {found.status.size} training runs, the objective is proved to be at most " in full.words
    choice = Choice((4.0, 0.5), ("p", "l2"), l1=0.0, kind="line + cuts")
    assert content._setting(choice) == "lines with fine steps, p = 4, penalty l2 = 0.5"


def test_a_chart_of_more_settings_than_lines_says_so(fitted):
    sides, H = (some(TABLE, ~HELD & Y), some(TABLE, ~HELD & ~Y)), fitted[0]
    found = pnorm.cross_validate(*sides, H, range(1, 7), l2=[1.0, 0.1], penalty="shapes", folds=2)
    assert "The best 5 of 6 curves are drawn." in content._choice_chart(found)
    assert "curves are drawn" not in content._choice_chart(everything(fitted)["cross_validation"])


def test_a_report_tells_its_stages_and_is_the_same(fitted, tmp_path):
    H, lam, _, X, y = fitted
    seen, pages = [], []
    for progress in (False, lambda *counts: seen.append(counts)):
        pnorm.report_html(tmp_path / "r.html", X, y, H, lam, progress=progress)
        pages.append((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert seen == [(done, 4) for done in range(5)]
    assert pages[0] == pages[1]


PARTS = {
    "intercept": "Calibration of the probabilities",
    "cross_validation": "How p and the penalty were chosen",
    "cutoff": "Cut-off",
    "trace": "Optimality certificate",
}


@pytest.mark.parametrize(
    "left_out",
    ["p", "training", "cross_validation", "trace"],
)
def test_any_part_may_be_left_out(fitted, tmp_path, left_out):
    H, lam, _, X, y = fitted
    given = everything(fitted)
    given = {
        name: value for name, value in given.items() if name not in (left_out, "intercept" if left_out == "p" else "")
    }
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam, **given)
    page = page_of(tmp_path / "r.html")
    lost = {PARTS[left_out]} if left_out in PARTS else {PARTS["intercept"]} if left_out == "p" else set()
    assert {heading for heading in PARTS.values() if heading not in page.headings} == lost


def test_five_arguments_are_enough(fitted, tmp_path):
    H, lam, _, X, y = fitted
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam)
    page = page_of(tmp_path / "r.html")
    assert page.headings == [
        "How good the list is",
        "Precision by depth",
        "Hits and false alarms in counts",
        "The first rows, with reasons",
        "Column importance",
        "How the score depends on each column",
        "Warnings",
        "How to reproduce this report",
        "Glossary",
    ]
    assert "row 0" in page.words or "row " in page.words


def test_it_is_the_same_each_time_and_holds_no_date(fitted, tmp_path):
    H, lam, _, X, y = fitted
    for name in ("a.html", "b.html"):
        pnorm.report_html(tmp_path / name, X, y, H, lam)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


# Rows of all forms --------------------------------------------------------------------------------------

PLAIN = np.column_stack([np.nan_to_num(AGE), RNG.normal(size=N).round(2)])
LAM = np.array([0.1, -0.05])


def frames():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(PLAIN, columns=["age", "noise"])


FORMS = {
    "array": (lambda: PLAIN, None),
    "list": (lambda: PLAIN.tolist(), None),
    "sparse": (lambda: sparse.csr_array(PLAIN), None),
    "frame": (frames, None),
    "functions": (lambda: list(PLAIN), [lambda X: np.array([x[0] for x in X]), lambda X: np.array([x[1] for x in X])]),
    "cuts": (lambda: PLAIN, rankers.thresholds([[50.0], [0.0]])),
}


@pytest.mark.parametrize("form", ["frame", "list", "cuts"])
def test_rows_of_every_form(form, tmp_path):
    make, H = FORMS[form]
    X = make()
    pnorm.report_html(tmp_path / "r.html", X, Y, H, LAM, training=(X, Y))
    page = page_of(tmp_path / "r.html")
    f = pnorm.score(X, H, LAM)
    aucs = next(row for row in page.tables["The whole list"] if row[0][0] == "AUC")
    assert aucs[1][1] == pytest.approx(metrics.auc(f[Y], f[~Y]))
    has_lists = form not in ("sparse", "functions")
    assert ("Linear model" in page.words) == has_lists
    assert ("This list is not compared with a linear model: " in page.words) == (not has_lists)


def test_labels_are_those_of_split(tmp_path):
    frame = frames().assign(bought=np.where(Y, "won", "lost"))
    pnorm.report_html(tmp_path / "a.html", frame, "bought", None, LAM, positive="won")
    pnorm.report_html(tmp_path / "b.html", frames(), frame["bought"], None, LAM, pos_label="won")
    pnorm.report_html(tmp_path / "c.html", frames(), Y, None, LAM)
    assert (
        (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes() == (tmp_path / "c.html").read_bytes()
    )
    with pytest.raises(ValueError, match="say which label of y is positive"):
        pnorm.report_html(tmp_path / "d.html", frame, "bought", None, LAM)


def test_from_the_bottom_negatives_are_what_is_looked_for(tmp_path):
    pnorm.report_html(tmp_path / "r.html", PLAIN, Y, None, LAM, push="bottom", budget=50)
    page = page_of(tmp_path / "r.html")
    f = pnorm.score(PLAIN, None, LAM)
    hits = 50 * metrics.precision_at(-f[~Y], -f[Y], 50)
    assert f"Of the last 50 rows, {hits:g} are negative" in page.words
    rows = next(table for caption, table in page.tables.items() if caption.startswith("The last 20 of"))[1:]
    order = np.argsort(f, kind="stable")[:20]
    assert [row[1][0] for row in rows] == [f"row {k}" for k in order]
    assert [row[2][0] for row in rows] == ["○ positive" if Y[k] else "● negative" for k in order]
    assert "The bottom of the list" in page.words
    assert "top of the list" not in page.words


def test_the_line_of_chance_is_straight_where_the_list_is_worse(tmp_path):
    y = np.arange(300) >= 100
    pnorm.report_html(tmp_path / "r.html", -np.arange(300.0)[:, None], y, None, [1.0])
    page = page_of(tmp_path / "r.html")
    top, whole = [
        np.array([point.split(",") for point in given["points"].split()], float)
        for tag, given in page.tags
        if tag == "polyline" and given["class"] == "line chance"
    ][1:3]
    (x, y0), (x_end, y_end) = top
    assert (
        x_end < whole[1, 0]
    )  # it leaves the chart at its upper end: 2 positives for each negative, 1 at most is drawn
    assert y_end == whole[1, 1]
    assert (x, y0) == tuple(whole[0])


def test_levels_that_training_has_not_seen_are_told(fitted, tmp_path):
    H, lam, _, X, y = fitted
    new = dict(X, since=X["since"], city=["Pisa" if k < 5 else city for k, city in enumerate(X["city"])])
    for more in ({}, {"training": everything(fitted)["training"]}):
        pnorm.report_html(tmp_path / "r.html", new, y, H, lam, **more)
        words = page_of(tmp_path / "r.html").words
        assert (words.count("'Pisa'"), words.count("Pisa (5)")) == (
            (0, 1) if more else (2, 0)
        )  # in the box and the section


def test_what_moved_is_told_in_the_box_and_once_below(fitted, tmp_path):
    H, lam, _, X, y = fitted
    moved = pnorm.drift(some(TABLE, ~HELD), dict(X, city=["Rome"] * len(y)), H, lam)
    assert moved.warnings
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam, drift=moved)
    words = page_of(tmp_path / "r.html").words.replace("\xa0", " ")
    box, rest = words.split("More on the columns")[1].split("Contents", 1)
    for sentence in moved.warnings:
        assert box.count(f"{sentence[1:]}.") == 1
        assert rest.count(f"{sentence[1:]}.") == 1


@pytest.mark.parametrize("beyond_chance", [True, False])
def test_a_little_drift_of_rows_drawn_at_random_is_told_to_be_chance(fitted, tmp_path, beyond_chance):
    H, lam, _, X, y = fitted
    found = pnorm.drift(X, X, H, lam)
    column = dataclasses.replace(found.columns[0], psi=0.05, beyond_chance=beyond_chance)
    found = dataclasses.replace(found, columns=(column, *found.columns[1:]))
    assert not found.warnings
    for at_random in (True, False):
        beside = report.Beside(None, np.zeros(len(H.column_names)), "a row", at_random=at_random)
        pnorm.report_html(tmp_path / "r.html", X, y, H, lam, drift=found, training=beside)
        words = page_of(tmp_path / "r.html").words
        assert ("The rows were drawn at random, so " in words) == (at_random and beyond_chance)


def test_rows_that_were_trained_on_are_called_so(fitted, tmp_path):
    H, lam, _, X, y = fitted
    pnorm.report_html(tmp_path / "r.html", X, y, H, lam, held_out=False)
    page = page_of(tmp_path / "r.html")
    assert "Measured on 300 training rows" in page.words
    assert "On new rows the list is worse." in page.words
    assert "The first 20 of 300 training rows" in page.tables


def test_few_rows_and_ties(tmp_path):
    pnorm.report_html(tmp_path / "r.html", [[1.0], [0.0], [1.0]], [1, 0, 0], None, [1.0])
    words = page_of(tmp_path / "r.html").words
    assert "The test has only 1 positive row" in words
    assert "The first row counts as 0.5 positive" in words
    pnorm.report_html(tmp_path / "r.html", [[1.0], [0.0]] * 60, [1, 0] * 60, None, [1.0])
    assert "There is" not in page_of(tmp_path / "r.html").words
    pnorm.report_html(tmp_path / "r.html", [[1.0]] * 60 + [[0.0]] * 2, [1] * 60 + [0] * 2, None, [1.0])
    assert "The test has only 2 negative rows" in page_of(tmp_path / "r.html").words
    pnorm.report_html(tmp_path / "r.html", PLAIN, Y, None, [0.0, 0.0], n_rows=0)
    page = page_of(tmp_path / "r.html")
    assert "The first rows, with reasons" not in page.headings
    assert "Column importance" not in page.headings


def test_many_rows_do_not_make_it_large(tmp_path):
    n = 100_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < 1 / (1 + np.exp(3 - 2 * X[:, 0]))
    H = rankers.quantile_thresholds(X[y], X[~y], 50)
    lam = rng.normal(size=len(H)) / 20
    sizes = []
    for rows in (2_000, n):
        pnorm.report_html(tmp_path / "r.html", X[:rows], y[:rows], H, lam, others={"first": X[:rows, 0]})
        page_of(tmp_path / "r.html")
        sizes.append((tmp_path / "r.html").stat().st_size)
    assert sizes[1] < 150_000
    assert sizes[1] < 1.3 * sizes[0]


# What users name ----------------------------------------------------------------------------------------

ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "</style><script>alert(2)</script>",
    "a & b &lt; c",
    "\x1b[31mred\x1b[0m\r\n\t\x00",
    "‮gnp.exe​\ud800",
    "{title} %s {0}",
    "=cmd|' /C calc'!A0",
]


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_whatever_names_and_values_hold_is_text(attack, tmp_path):
    table = {
        f"age {attack}": TABLE["age"],
        f"city {attack}": [f"{city} {attack}" for city in CITY],
        f"free {attack}": [f"{k} {attack}" for k in range(N)],
    }
    H, lam, trace = model(table, kinds={1: "category"})
    X, y = some(table, HELD), Y[HELD]
    f = pnorm.score(X, H, lam)
    path = tmp_path / "r.html"
    pnorm.report_html(path, X, y, H, lam, ids=[attack] * len(y), others={attack: f[::-1].copy()}, title=attack, label=attack,
                      notes=[attack], reproduce={"command": attack, attack: attack}, trace=trace,
                      training=(some(table, ~HELD), Y[~HELD]))  # fmt: skip
    page = page_of(path)
    assert path.stat().st_size < 200_000
    calm = page_of_calm(tmp_path)
    assert sorted(tag for tag, _ in page.tags if tag not in ("polyline", "rect", "line", "circle")) == calm
    if attack.isprintable() and len(attack) < 40:
        assert f"city {attack}" in page.words


_CALM = []


def page_of_calm(folder):
    """The elements of a page of the same rows with harmless names."""
    if not _CALM:
        table = {"age": TABLE["age"], "city": CITY.tolist(), "free": [f"{k} x" for k in range(N)]}
        H, lam, trace = model(table, kinds={1: "category"})
        X, y = some(table, HELD), Y[HELD]
        f = pnorm.score(X, H, lam)
        pnorm.report_html(folder / "calm.html", X, y, H, lam, ids=["id"] * len(y), others={"other": f[::-1].copy()},
                          title="t", label="l", notes=["n"], reproduce={"command": "c", "x": "x"}, trace=trace,
                          training=(some(table, ~HELD), Y[~HELD]))  # fmt: skip
        page = page_of(folder / "calm.html")
        _CALM.extend(sorted(tag for tag, _ in page.tags if tag not in ("polyline", "rect", "line", "circle")))
    return _CALM


# Errors -------------------------------------------------------------------------------------------------

WRONG = {
    "one class": (dict(y=np.ones(N)), ValueError, "all rows of y have the label"),
    "labels": (dict(y=Y[1:]), ValueError, "y must hold one label per row, 900"),
    "lam": (dict(lam=[1.0]), ValueError, "lam must"),
    "ids": (dict(ids=["a"]), ValueError, "ids must hold one id per row of X, 900; got 1"),
    "others": (dict(others={"a": [1.0]}), ValueError, r"others\['a'\] must"),
    "no mapping": (dict(others=[1.0]), TypeError, "others must be a mapping"),
    "intercept": (dict(intercept=1.0), ValueError, "give p as well"),
    "power": (dict(p=0.5), ValueError, "p must be at least 1"),
    "training": (dict(training=PLAIN), TypeError, "training must be a pair"),
    "labels of training": (dict(training=(PLAIN, Y[1:])), ValueError, "y of training must hold one label per row"),
    "one class in training": (dict(training=(PLAIN, np.ones(N))), ValueError, "all rows of y of training have the label"),
    "other columns in training": (dict(training=(PLAIN[:, :1], Y)), ValueError, "X of training has 1 column"),
    "push": (dict(push="up"), ValueError, "push must be"),
    "rows": (dict(n_rows=-1), ValueError, "n_rows must be"),
    "penalty": (dict(l1=-1.0), ValueError, "l1 must be"),
    "budget": (dict(budget=901), ValueError, "at most the 900 rows"),
    "reproduce": (dict(reproduce=3), TypeError, "reproduce must be a text, or a mapping"),
    "notes": (dict(notes=3), TypeError, "notes must be"),
    "cutoff": (dict(cutoff=3), TypeError, "cutoff must be"),
    "drift": (dict(drift=3), TypeError, "drift must be"),
    "trace": (dict(trace=3), TypeError, "trace must be"),
    "choice": (dict(cross_validation=3), TypeError, "cross_validation must be"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_after_an_error_the_file_is_as_it_was(wrong, tmp_path):
    given, error, message = WRONG[wrong]
    arguments = {"X": PLAIN, "y": Y, "H": None, "lam": LAM} | given
    path = tmp_path / "r.html"
    with pytest.raises(error, match=message):
        pnorm.report_html(path, **arguments)
    assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    with pytest.raises(error, match=message):
        pnorm.report_html(path, **arguments)
    assert [of.read_text() for of in tmp_path.iterdir()] == ["old"]


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        pnorm.report_html(tmp_path / "no" / "r.html", None, None, None, None)
    with pytest.raises(TypeError, match="path must be the name of a file"):
        pnorm.report_html(3, None, None, None, None)


# Pieces -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-3.2, 7.9), (1e-7, 9e-7), (0.0, 12345.0), (5.0, 5.0), (-1e9, 1e9)]
)
def test_ticks_are_round_and_few_and_within(low, high):
    ticks = charts.round_values(low, high, 6)
    assert 1 <= len(ticks) <= 8
    assert all(low - 1e-9 * abs(low) <= tick <= high + 1e-9 * abs(high) for tick in ticks)
    steps = np.diff(ticks)
    assert steps.size == 0 or np.allclose(steps, steps[0])
    assert len({charts.plain_number(tick) for tick in ticks}) == len(ticks)


def test_ticks_of_logarithms_are_powers_of_ten():
    assert charts.Axis(3.0, 2e5, "", str, True).values() == [10.0, 100.0, 1000.0, 1e4, 1e5]
    assert charts.Axis(3.0, 60.0, "", str, True).values() == [5.0, 10.0, 20.0, 50.0]
    for width, n in ((560.0, 9), (320.0, 5), (150.0, 2)):  # texts do not run into each other
        axis = charts.Axis(1e4, 9e4, "", charts.plain_number, ticks=8)
        drawn = str(charts.Chart(axis, charts.Axis(0.0, 1.0, "", str), "", "", width=width))
        found = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">\d+,000<', drawn)
        assert len(found) == n
        assert all(float(b) - float(a) > 6 * 6.8 for a, b in itertools.pairwise(found))
    for low, high in ((0.5, 9.0), (2.2, 9.1), (4.9, 11.0)):
        years = charts.Axis(low * 365.25, high * 365.25, "", str, ticks=2, unit=365.25).values()
        assert len(years) > 1
        assert all(year / 365.25 == pytest.approx(round(year / 365.25)) for year in years)
    assert charts.Axis(1.0, 100.0, "", str, True).at([1.0, 10.0, 100.0, 1e9]).tolist() == [0.0, 0.5, 1.0, 1.0]
    for longest, values in ((20.0, [0.0, 10.0, 20.0]), (100.0, [0.0, 2 * 30.44]), (800.0, [0.0, 365.25, 2 * 365.25])):
        axis = charts.Axis(0.0, longest, "", str, ticks=3, unit=pictures._unit_of_time(longest))
        assert axis.values() == pytest.approx(values)


@pytest.mark.parametrize(
    ("write", "value", "told"),
    [
        (markup.count, 1234567, "1,234,567"),
        (markup.count, 11.64, "11.6"),
        (markup.count, 116.4, "116"),
        (markup.percent, 0.116, "11.6 %"),
        (markup.percent, 1.0, "100 %"),
        (markup.percent, 0.99995, "99.995 %"),
        (markup.percent, 0.00012, "0.012 %"),
        (markup.times, 6.623, "6.62×"),
        (markup.times, 12345.0, "12,345×"),
        (short_count, 20_000, "20k"),
        (short_count, 2.5e6, "2.5M"),
        (charts.plain_number, 0.3, "0.3"),
        (charts.plain_number, 1e-5, "1e-5"),
        (charts.plain_number, 5000.0, "5,000"),
    ],
)
def test_numbers_have_digits_that_suit_them(write, value, told):
    assert write(value) == told


def test_curves_are_shapes_less_their_mean():
    H = rankers.quantile_thresholds(PLAIN[Y], PLAIN[~Y], 20, linear=True)
    lam = np.random.default_rng(2).normal(size=len(H))
    for shape in pnorm.shapes(lam, H, PLAIN):
        drawn = pictures._drawn(shape)
        inner = drawn.x[1:-1]
        above = np.tile([False, True], inner.size // 2)
        np.testing.assert_allclose(drawn.y[1:-1], shape.at(inner, above) - drawn.mean, atol=1e-12)
        column = PLAIN[:, H.column_names.index(shape.name)]
        within = ((column >= drawn.x[0]) & (column <= drawn.x[-1])).mean()
        assert within > 0.9
        assert drawn.mean == pytest.approx(shape.at(column).mean(), abs=0.1 * shape.range)


def test_columns_of_shares_add_up_to_the_rows_that_are_drawn():
    H = rankers.quantile_thresholds(PLAIN[Y], PLAIN[~Y], 20)
    shape = pnorm.shapes(np.ones(len(H)), H, PLAIN)[0]
    low, high = float(shape.cuts[0]) - 1.0, float(shape.cuts[-1]) + 1.0
    assert pictures._distribution(shape, low, high)[1].sum() == pytest.approx(1.0)


def test_a_column_of_few_values_has_a_bar_for_each_of_them():
    shares = {0.0: 0.4, 1.0: 0.3, 2.0: 0.15, 3.0: 0.1, 9.0: 0.05}
    X = np.repeat(list(shares), [round(1000 * share) for share in shares.values()])[:, None]
    H = rankers.thresholds([[0.5, 1.5, 2.5, 6.0]], names=["visits"])
    shape = pnorm.shapes([1.0, 0.5, 2.0, -1.0], H, X)["visits"]
    ends, heights = pictures._distribution(shape, 0.0, 9.5)
    middle = 0.5 * (ends[:-1] + ends[1:])
    found = dict(zip(middle[heights > 0.0].round(9), heights[heights > 0.0], strict=True))
    assert set(shares) - {0.0} <= set(found)  # the bar of 0 is cut off at the end
    # some quantiles lie between two values
    assert {x: found.get(x, heights[0]) for x in shares} == pytest.approx(shares, abs=0.011)
    assert heights.sum() == pytest.approx(1.0)
    assert (np.diff(ends) >= 0.0).all()
    assert pictures._distribution(shape, 0.5, 2.5)[1].sum() == pytest.approx(0.45, abs=0.011)


@pytest.mark.parametrize("k", [1, 7, 40, 200, 900])
def test_the_precision_of_the_first_rows_needs_no_others(k):
    f = (PLAIN @ LAM).round(1)  # with ties
    assert report._precision(f[Y], f[~Y], k) == metrics.precision_at(f[Y], f[~Y], k)
    assert report._precision(np.r_[9.0, 1.0], np.r_[2.0, 0.0], 1) == 1.0
    assert report._precision(np.r_[1.0, 1.0], np.r_[2.0, 0.0], 1) == 0.0


def test_bars_point_to_the_side_of_the_sign():
    def ends(bar):
        x, width = [float(value) for value in re.search(r'x="([\d.]+)".* width="([\d.]+)"', bar).groups()]
        return x, x + width

    assert ends(charts.bar(2.0, 2.0)) == (50.0, 100.0)
    assert ends(charts.bar(-1.0, 2.0)) == (25.0, 50.0)
    assert ends(charts.bar(1.0, 2.0, signed=False)) == (0.0, 50.0)


def test_a_chart_of_dates_covers_the_dates_of_the_rows():
    days = np.datetime64("2024-01-02") + np.arange(690)
    X = {"created": days[np.random.default_rng(0).integers(0, 690, 2000)]}
    first, last = X["created"].min(), X["created"].max()
    H = rankers.from_table({"created": X["created"][:1000]}, {"created": X["created"][1000:]}, n_cuts=1)
    lam = np.ones(len(H))
    (shape,) = [shape for shape in pnorm.shapes(lam, H, X) if shape.read_off == "trend"]
    assert shape.cuts.size < 3
    drawn = pictures._drawn(shape)
    start, stop = np.floor(drawn.x[[0, -1]]).astype("datetime64[D]")
    assert first <= start < first + 30
    assert last - 30 < stop <= last
    heights = pictures._distribution(shape, *drawn.x[[0, -1]].tolist())[1]
    assert heights.sum() == pytest.approx(0.98, abs=0.01)
    assert heights.max() < 2 * heights.min()
    page = pictures.draw_shape(shape, pictures.room_of([shape]))
    assert "shares" in page
    assert not {year for year in map(str, range(2010, 2040)) if f">{year}-" in page} - {"2024", "2025"}


def test_a_chart_of_two_values_shows_both():
    H = rankers.thresholds([[0.0]], names=["flag"])
    shape = pnorm.shapes([1.0], H, np.r_[np.zeros(70), np.ones(30)][:, None])["flag"]
    drawn = pictures._drawn(shape)
    assert set(np.round(drawn.y, 9)) == {-0.3, 0.7}
    heights = pictures._distribution(shape, *drawn.x[[0, -1]].tolist())[1]
    assert sorted(heights)[-3:] == pytest.approx([0.0, 0.3, 0.7], abs=0.011)


def test_a_page_without_training_rows_says_that_the_linear_model_is_missing(fitted, tmp_path):
    H, lam, _, X, y = fitted
    told = "pass the training rows as training=(X, y) to add it."
    for more, is_missing in (
        ({}, True),
        ({"training": everything(fitted)["training"]}, False),
        ({"others": {"f": y}}, False),
    ):
        pnorm.report_html(tmp_path / "r.html", X, y, H, lam, **more)
        assert (told in (tmp_path / "r.html").read_text(encoding="utf-8")) == is_missing


def test_notes_are_not_counted_as_warnings(tmp_path):
    rare = ["Pisa" if k == 1 else city for k, city in enumerate(TABLE["city"])]
    plain = {**TABLE, "city": rare, "same": ["x"] * N}
    leak = {**plain, "paid": [float(y) for y in Y]}
    for table, n in ((plain, 0), (leak, 1)):
        H, lam, _ = model(table)
        pnorm.report_html(tmp_path / "r.html", some(table, HELD), Y[HELD], H, lam, label="y")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert page.count('class="alert"') == n
        assert ("There is one warning" in page) == bool(n)
        box = page.split('<div class="alert">')[1].split("</div>")[0] if n else ""
        assert ("<strong>paid</strong> alone almost separates" in box) == bool(n)
        assert box.count("<li>") == n
        warned, notes = page.split('id="warnings"')[1].split("<h3>Notes</h3>")
        assert ("There are no warnings." in warned) == (not n)
        assert ("<strong>paid</strong>" in warned) == bool(n)
        notes = notes.split("</ul>")[0]
        assert "Columns left out: " in notes
        assert "<strong>same</strong>" in notes
        assert "Columns with rare values" in notes


@pytest.mark.parametrize(("n_notes", "names"), [(0, "paid"), (5, "paid"), (5, "paid, refund"), (0, "")])
def test_a_leak_is_told_before_and_in_the_headline(tmp_path, n_notes, names):
    refund = [1.0 if y and k % 2 else None for k, y in enumerate(Y)]
    late = {"paid": [float(y) for y in Y], "refund": refund}
    table = {**TABLE, **{name: late[name] for name in names.split(", ") if name}}
    H, lam, _ = model(table)
    notes = [f"Note {k}." for k in range(n_notes)]
    pnorm.report_html(tmp_path / "r.html", some(table, HELD), Y[HELD], H, lam, label="y", notes=notes)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    headline = page.split('<p class="headline">')[1].split("</p>")[0]
    columns = "columns" if "," in names else "column"
    assert headline.endswith(f"</span>, with the suspected {columns} {names} in use." if names else "</span>.")
    if not names:
        return
    box, is_first = page.index('<div class="alert">'), page.count('class="alert"')
    assert page.index("<h1>") < box < page.index('<p class="headline">')
    assert is_first == 1
    told = page[box:].split("</div>")[0]
    assert told.count("<li>") == len(names.split(", "))
    assert "<strong>paid</strong> alone almost separates" in told
    assert f"There are {n_notes + told.count('<li>')} warnings" in told or not n_notes


def test_values_for_positives_only_are_a_warning(tmp_path):
    H, lam, _ = model({**TABLE, "paid": [1.0 if y and k % 2 else None for k, y in enumerate(Y)]})
    (note,) = [of.one_sided for of in H.plan if of.one_sided]
    X = {**some(TABLE, HELD), "paid": [None] * int(HELD.sum())}
    pnorm.report_html(tmp_path / "r.html", X, Y[HELD], H, lam, label="y")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert note.endswith("rows (all positive)")
    assert page.count(f"<strong>paid</strong> {note}. Is the column known only after the outcome?") == 2


@pytest.mark.parametrize(("rows", "grave"), [(5, False), (60, True)])
def test_new_levels_are_a_warning_in_many_rows_and_later_days_never(fitted, tmp_path, rows, grave):
    H, lam, _, X, y = fitted
    later = [day + np.timedelta64(400, "D") for day in X["since"]]
    new = dict(X, since=later, city=["Pisa" if k < rows else city for k, city in enumerate(X["city"])])
    pnorm.report_html(tmp_path / "r.html", new, y, H, lam, training=everything(fitted)["training"])
    warned, notes = (tmp_path / "r.html").read_text(encoding="utf-8").split('id="warnings"')[1].split("<h3>Notes</h3>")
    assert ("never seen before" in warned) == grave
    assert ("never seen before" in notes) == (not grave)
    assert "since (trend) runs from" not in warned
    assert "since (trend) runs from" in notes.lower()


def test_levels_that_add_the_same_share_a_line():
    towns = np.repeat([f"town {k:02d}" for k in range(20)], np.arange(400, 0, -20))
    H = rankers.from_table({"town": towns[::2]}, {"town": towns[1::2]})
    lam = np.array([0.3 if name.endswith("00") else 0.2 if name.endswith("03") else 0.0 for name in H.names])
    (shape,) = pnorm.shapes(lam, H, {"town": towns})
    page = pictures.draw_shape(shape, pictures.room_of([shape]))
    lines = re.findall(r'<th scope="row"[^>]*>(.*?)</th>.*?<td[^>]*>([^<]*)</td><td[^>]*>([^<]*)</td></tr>', page)
    assert [line[0] for line in lines] == ["town 00", "town 03", "18 levels: town 01, town 02, town 04 and 15 more"]
    assert sum(float(line[2].rstrip("\u00a0 %")) for line in lines) == pytest.approx(100.0, abs=0.2)
    assert "not shown" not in page


def test_a_missing_value_is_not_counted_as_a_level():
    towns = np.array([*np.repeat([f"town {k:02d}" for k in range(20)], np.arange(400, 0, -20)), *[None] * 50], object)
    H = rankers.from_table({"town": towns[::2]}, {"town": towns[1::2]})
    for lam, told in (
        (np.r_[1.0, np.zeros(len(H) - 1)], "19 levels and missing: town 01, town 02, town 03 and 17 more"),
        (np.arange(float(len(H))), "Not shown, as rarer: 8 of 20 levels and missing values."),
    ):
        (shape,) = pnorm.shapes(lam, H, {"town": towns})
        assert told in pictures.draw_shape(shape, pictures.room_of([shape]))
        assert repr(shape).startswith("<Shape of town: 20 levels and missing, range")


@pytest.mark.parametrize("days", [7.0, 60.0, 300.0, 390.0, 599.0, 601.0, 800.0, 999.0, 3650.0])
def test_an_axis_of_dates_has_two_ticks_or_more(days):
    for low in np.linspace(19000.0, 20000.0, 21).round():
        ticks = charts.Axis(low, low + days, "opened (trend)", str, ticks=3, dates=True).values()
        assert 2 <= len(ticks) <= 4
        assert all(low <= tick <= low + days for tick in ticks)
        assert all(tick == round(tick) for tick in ticks)


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("2024-01-02", "2024-01-20", ["2024-01-08", "2024-01-18"]),
        ("2024-01-20", "2024-03-15", ["2024-02", "2024-03"]),
        ("2023-12-31", "2024-11-20", ["2024-01", "2024-04", "2024-07", "2024-10"]),
        ("2024-01-02", "2025-11-20", ["2024-07", "2025-01", "2025-07"]),
        ("2019-05-02", "2023-02-20", ["2020", "2021", "2022", "2023"]),
        ("1911-05-02", "2023-02-20", ["1950", "2000"]),
    ],
)
def test_an_axis_of_dates_has_its_ticks_at_firsts_of_months_or_years(first, last, told):
    low, high = (np.datetime64(day).astype(float) for day in (first, last))
    axis = charts.Axis(low, high, "opened (trend)", lambda day: str(np.datetime64(int(day), "D")), ticks=3, dates=True)
    assert [text for _, text in axis.written()] == told


@pytest.mark.parametrize(
    ("low", "value", "high", "told", "wins"),
    [
        (
            -1.0,
            -0.0498,
            -0.001,
            "as many positives, to within one row, in the first 245 rows (0 to 1 fewer; tied",
            False,
        ),
        (-3.0, -1.0, -0.5, "1 positive fewer in the first 245 rows (0 to 3 fewer)", True),
        (-3.0, -1.0, 0.0, "1 positive fewer in the first 245 rows (0 to 3 fewer)", False),
        (0.001, 0.5, 1.0, "as many positives, to within one row, in the first 245 rows (0 to 1 more", False),
        (0.0, 0.0, 0.0, "as many positives in the first 245 rows ()", False),
    ],
)
def test_another_list_is_better_by_a_row_at_least(low, value, high, told, wins):
    rng = np.random.default_rng(0)
    sides = rng.normal(1, 1, 100), rng.normal(0, 1, 400)
    found = quality(*sides, {"x alone": sides}, depths=[245])
    of = found.differences[0]._replace(value=metrics.Estimate(value / 245, low / 245, high / 245, 0.95), depth=245)
    sentence, interval, shows = markup.compared(of, "top")
    assert f"{sentence} ({interval})".startswith(told)
    chance = "may be chance" * (abs(value) >= 1)
    assert shows == ("the other list is better" if wins else chance)
    found = dataclasses.replace(found, difference=of, averages=())
    assert markup.beaten(found) == [("x alone", "in the first 245 rows")] * wins


def test_among_several_lists_one_must_be_better_by_more():
    rng = np.random.default_rng(8)
    pos, neg = rng.normal(1.5, 1.0, 30), rng.normal(0.0, 1.0, 90)
    own, *others = [[f + sd * rng.normal(size=f.size) for f in (pos, neg)] for sd in (1.1, *[0.5] * 6)]
    lists = {f"list {i}": sides for i, sides in enumerate(others)} | {"good": (pos + 2.0, neg)}
    alone = [name for name, sides in lists.items() if markup.beaten(quality(*own, {name: sides}))]
    assert alone == ["list 0", "list 1", "list 3", "list 5", "good"]
    assert [name for name, _ in markup.beaten(quality(*own, lists))] == ["good"]


def test_average_precisions_that_differ_by_a_thousandth_are_the_same():
    rng = np.random.default_rng(0)
    sides = rng.normal(1, 1, 100), rng.normal(0, 1, 400)
    found = quality(*sides, {"x alone": sides})
    for value, wins in ((-0.0009, False), (-0.0011, True)):
        of = found.averages[0]._replace(value=metrics.Estimate(value, 2 * value, value / 2, 0.95))
        found = dataclasses.replace(found, averages=(of,))
        assert markup.beaten(found) == [("x alone", "in average precision")] * wins


@pytest.mark.parametrize(
    ("value", "low", "high", "told"),
    [
        (0.04, 0.01, 0.07, "average precision 0.681 against 0.641 (+0.010 to +0.070; this list is better)"),
        (0.04, -0.01, 0.07, "average precision 0.681 against 0.641 (−0.010 to +0.070; may be chance)"),
        (-0.04, -0.07, -0.01, "average precision 0.681 against 0.721 (−0.070 to −0.010; the other list is better)"),
        (-0.001, -0.07, 0.05, "nearly the same average precision, 0.681 against 0.682 (difference −0.070 to +0.050)"),
        (0.0002, 0.0001, 0.0003, "the same average precision, 0.681 (difference 0 to 0)"),
        (0.0, 0.0, 0.0, "the same average precision, 0.681"),
    ],
)
def test_average_precisions_come_with_what_their_difference_shows(value, low, high, told):
    rng = np.random.default_rng(0)
    sides = rng.normal(1.5, 1, 100), rng.normal(0, 1, 400)
    found = quality(*sides, {"x": sides})
    own = found.measure("average_precision")
    assert f"{own.value:.3f}" == "0.681"
    measures = [m._replace(others=(float(own.value) - value,)) if m is own else m for m in found.measures]
    of = found.averages[0]._replace(value=metrics.Estimate(value, low, high, 0.95))
    (said,) = markup.beside(dataclasses.replace(found, averages=(of,), measures=tuple(measures)))
    assert said.endswith(f"; {told}.")


def test_lists_with_a_larger_auc_are_named():
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(1, 1, 100), rng.normal(0, 1, 400)
    lists = {"linear model": (pos + 0.5, neg), "logistic curves": (pos + 1.0, neg), "x alone": (pos - 0.5, neg)}
    found = quality(pos, neg, lists)
    own, linear, curves = [f"{metrics.auc(pos + by, neg):.3f}" for by in (0.0, 0.5, 1.0)]
    assert markup.beside(found)[-1] == (
        f"The AUC of all rows is larger for the linear model ({linear}) and logistic curves ({curves}) than for "
        f"this list ({own}): not tested."
    )
    for name, by in (("x alone", -0.5), ("linear model", 0.01)):  # it is smaller, or hardly larger
        assert not any("AUC" in said for said in markup.beside(quality(pos, neg, {name: (pos + by, neg)})))


def test_precision_by_depth_marks_the_rows_asked_for_and_draws_this_list_last(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.3
    X = y[:, None] + rng.normal(0, [0.8, 1.5, 3.0], (600, 3))
    pnorm.report_html(tmp_path / "r.html", X, y, None, [1.0, 0.5, 0.0], budget=60)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    drawn = re.search(r'<section [^>]*id="depth".*?</section>', text, re.DOTALL)[0]
    order = np.argsort(-(X @ [1.0, 0.5, 0.0]), kind="stable")[:60]
    (words,) = re.findall(r'<text class="marked".*?>(.*?)</text>', drawn)
    assert words == f"first 60: {markup.percent(y[order].mean())}"
    styles = re.findall(r'<polyline class="line (\w+)"', drawn)
    assert styles[0] == "chance"
    assert styles[-1] == "s0"
    (x,) = re.findall(r'<circle class="dot" cx="(.*?)"', drawn)
    assert f'<line class="mark" x1="{x}" x2="{x}"' in drawn


def test_words_of_a_marked_place_stay_inside_the_chart():
    chart = charts.Chart(charts.Axis(0.0, 10.0, "", str), charts.Axis(0.0, 1.0, "", str), "", "", top=charts.ABOVE)
    for x in (0.0, 5.0, 10.0):
        chart.mark(x, "words")
    assert re.findall(r'text-anchor="(\w+)">words', str(chart)) == ["start", "middle", "end"]


def test_tables_become_blocks_with_their_heads_on_a_narrow_page(full):
    heads = {of["data-head"] for tag, of in full.tags if tag in ("td", "th") and "data-head" in of}
    assert {"First rows", "Recall", "This list", "By chance", "Mean predicted", "Weak rankers"} <= heads
    assert ".stack thead { display: none; }" in full.text


def test_each_list_has_a_statement_of_its_own():
    rng = np.random.default_rng(0)
    sides = rng.normal(1, 1, 100), rng.normal(0, 1, 400)
    found = quality(*sides, {"linear model": sides, "b": sides}, depths=[50])
    more = [
        Difference("precision", name, metrics.Estimate(by / 50, low / 50, high / 50, 0.95), 50)
        for name, by, low, high in (("linear model", 7, 2, 12), ("b", 1, 0, 3))
    ]
    found = dataclasses.replace(found, difference=more[0], further=(more[1],), averages=())
    assert markup.beside(found) == [
        "Against the linear model: 7 positives more in the first 50 rows (2 to 12 more; this list is better).",
        "Against “b”: 1 positive more in the first 50 rows (0 to 3 more; may be chance).",
    ]


def test_ticks_of_counts_are_whole():
    axis = charts.Axis(0.0, 2.0, "", str, whole=True)
    assert axis.values() == [0.0, 1.0, 2.0]
    assert charts.Axis(0.0, 2.0, "", str).values() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert charts.Axis(0.2, 0.8, "", str, whole=True).values()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_cells_of_the_command_call_nothing_better_that_the_report_calls_the_same(side):
    """A difference of part of a row comes from tied rows, and its interval may exclude zero."""

    def of(value, low, high, depth):
        ends = sorted([side * low, side * high])
        return Difference("precision in the first 100", "x alone", metrics.Estimate(side * value, *ends, 0.99), depth)

    word = " better" if side > 0.0 else " worse"
    part, row = of(0.006, 0.001, 0.009, 100), of(0.01, 0.001, 0.02, 100)
    assert not markup.difference_of_hits(part).endswith(word)
    assert markup.difference_of_hits(row).endswith(word)
    assert [markup.compared(x, "top")[2] for x in (part, row)] == ["", markup.shown_by_hits(row)]
    same, other = of(0.001, 0.0005, 0.0015, 1000), of(0.002, 0.0005, 0.003, 1000)
    assert not markup.difference_of_averages(same).endswith(word)
    assert markup.difference_of_averages(other).endswith(word)


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((0.03, 0.9), "+4 (+0.3 to +9) better"),
        ((0.0, 0.9), "+4 (0 to +9)"),
        ((0.12, 0.9), "+4 (+1 to +9) better"),
        ((-0.9, 1e-4), "+4 (−9 to +1)"),
    ],
)
def test_an_interval_beyond_chance_has_no_end_at_zero(ends, told):
    found = Difference("precision in the first 10", "trees", metrics.Estimate(0.4, *ends, 0.95), 10)
    assert markup.difference_of_hits(found) == told


def test_a_list_that_is_good_at_its_very_top_only_says_so():
    y = np.r_[np.ones(10), np.zeros(190), np.ones(90), np.zeros(110)].astype(bool)  # best first
    f = -np.arange(400.0)
    found = quality(f[y], f[~y], depths=(10, 200), budget=10)
    told = "Only the very top is good. In the first 200 rows there are fewer positives, 10, than in a random order, 50 "
    told += "on average."
    assert markup.beyond_the_top(found) == [told]
    assert told in " ".join(" ".join(printing.quality_lines(found)).split())
    assert markup.beyond_the_top(quality(f[y], f[~y], depths=(10, 20), budget=10)) == []


def test_a_list_that_is_better_by_auc_alone_says_so():
    rng = np.random.default_rng(1)
    y = np.r_[np.zeros(40), np.ones(160), np.zeros(200)].astype(bool)  # best first: the top is wrong
    f = -np.arange(400.0) + rng.random(400)
    found = quality(f[y], f[~y], depths=(10,), budget=10)
    assert found.beats_chance
    (told,) = markup.beyond_the_top(found)
    rest = "the list is better than a random order. For the first 10 rows alone this is not shown."
    assert told == f"By AUC, over all rows, {rest}"
    (deeper,) = markup.beyond_the_top(quality(f[y], f[~y], depths=(10, 200), budget=10))
    assert deeper == f"In the first 200 rows {rest}"
    assert told in " ".join(" ".join(printing.quality_lines(found)).split())
    assert markup.beyond_the_top(quality(f[::-1][y], f[::-1][~y], depths=(10,), budget=10)) == []
