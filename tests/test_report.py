"""The report: the page is whole, needs nothing else, escapes all that users name, and its numbers are those of metrics."""

import dataclasses
import itertools
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from facts import raises, tells
from scipy import sparse

import pnorm
from pnorm import metrics, rankers
from pnorm._checks.text import short_count
from pnorm._command import printing
from pnorm._cross_validation import Choice
from pnorm._job.quality import Difference, quality
from pnorm._report import charts, markup, pictures, report
from pnorm._report.choice import _choice_chart, _setting

pytestmark = pytest.mark.usefixtures("few_resamples")

RNG = np.random.default_rng(11)
N = 900
AGE = RNG.normal(50, 12, N).round()
CITY = RNG.choice(["Oslo", "Rome", "Bari"], N, p=[0.6, 0.3, 0.1])
Y = RNG.random(N) < 1 / (1 + np.exp(-(AGE - 62) / 6 - 1.5 * (CITY == "Rome")))
TABLE = {
    "age": [None if k % 19 == 0 else float(a) for k, a in enumerate(AGE)],
    "city": CITY.tolist(),
    "since": [np.datetime64("2024-01-01") + np.timedelta64(int(d), "D") for d in RNG.integers(0, 500, N)],
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


@pytest.fixture(scope="module")
def known(fitted):
    """All that a caller may know."""
    H, lam, trace, X, y = fitted
    sides = some(TABLE, ~HELD & Y), some(TABLE, ~HELD & ~Y)
    return {
        "p": 4,
        "intercept": trace.intercept,
        "ids": X["customer"],
        "training": TRAINING,
        "cross_validation": pnorm.cross_validate(*sides, H, [1, 4], l2=[1.0, 0.1], penalty="shapes", folds=2),
        "trace": trace,
        "cutoff": pnorm.cutoff(*sides_of(fitted), precision=0.5),
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


TRAINING = some(TABLE, ~HELD), Y[~HELD]


def reported(folder, *arguments, **how):
    """The page of a report."""
    pnorm.report_html(folder / "r.html", *arguments, **how)
    return page_of(folder / "r.html")


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
def full(fitted, known, tmp_path_factory):
    H, lam, _, X, y = fitted
    return reported(tmp_path_factory.mktemp("report"), X, y, H, lam, **known)


# What it says -------------------------------------------------------------------------------------------


def test_its_first_sentence_counts_the_positives_at_the_top(fitted, tmp_path):
    H, lam, _, X, y = fitted
    words = reported(tmp_path, X, y, H, lam, budget=40).words
    hits = metrics.precision_at(*sides_of(fitted), 40) * 40
    assert re.search(rf"Of the first 40 rows, {hits:g} are positive \(95 % interval \d+ to \d+\)\.", words)
    assert f"A random order would have {40 * y.mean():.0f}." in words
    assert f"Measured on 300 held-out rows, {y.sum()} of them positive" in words


def test_the_numbers_of_its_tables_are_those_of_metrics(fitted, full):
    H, lam, _, X, y = fitted
    sides = sides_of(fitted)
    head, *rows = full.tables["Positives among the first rows"]
    assert [cell[0] for cell in head][:4] == ["First rows", "Positives", "Precision, lift", "Recall"]
    assert len(rows) >= 2
    for row in rows:
        k = int(row[0][0].replace(",", ""))
        precision = metrics.precision_at(*sides, k)
        assert row[2][2] == pytest.approx(precision / y.mean(), rel=1e-12)
        for cell, expected in zip(row[1:], (k * precision, precision, metrics.recall_at(*sides, k)), strict=False):
            assert cell[1] == pytest.approx(expected, rel=1e-12)
            shown = float(re.match(r"[\d.,]+", cell[0])[0].replace(",", "")) / (100 if "%" in cell[0] else 1)
            assert shown == pytest.approx(expected, rel=0.06 if expected < 0.01 else 0.006)
        assert row[-1][1] == pytest.approx(k * y.mean())
    whole = {row[0][0]: row[1] for row in full.tables["The whole list"][1:]}
    for name, measure in (
        ("positives above every negative", metrics.positives_at_top),
        ("AUC", metrics.auc),
        ("average precision of the positives", metrics.average_precision),
    ):
        assert whole[name][1] == pytest.approx(measure(*sides), rel=1e-12)
        assert bool(re.search(r"\d to \d", whole[name][0])) == (measure is not metrics.positives_at_top)


def test_other_lists_stand_beside_it(fitted, tmp_path):
    H, lam, _, X, y = fitted
    g = np.array([50.0 if a is None else a for a in X["age"]])
    others = {"age alone": g, "minus age": -g}
    page = reported(tmp_path, X, y, H, lam, others=others, training=TRAINING)
    whole = page.tables["The whole list"]
    assert [cell[0] for cell in whole[0]] == ["Measure", "This list", "age alone", "minus age", "By chance"]
    aucs = next(row for row in whole if row[0][0] == "AUC")
    for cell, f in zip(aucs[2:], others.values(), strict=False):
        assert cell[1] == pytest.approx(metrics.auc(f[y], f[~y]))
    for row in page.tables["Positives among the first rows"][1:]:
        k = int(row[0][0])
        assert row[4][1] == pytest.approx(k * metrics.precision_at(g[y], g[~y], k))


def test_two_lists_with_the_same_first_rows_differ_further_down(tmp_path):
    y = np.arange(200) < 60
    f = np.where(np.arange(200) < 55, 3.0, 0.0) - np.arange(200) / 1e3
    g = np.where(np.arange(200) < 30, 3.0, 0.0) - ~y * np.arange(200)[::-1] / 1e3 + np.arange(200) / 1e2
    words = reported(tmp_path, f[:, None], y, None, [1.0], others={"other": g}).words
    told = re.search(r"Against “other”: ([\d.]+) positives? more in the first (\d+) rows", words)
    k = int(told[2])
    assert k > int(re.search(r"Of the first (\d+) rows", words)[1])
    both = [metrics.precision_at(s[y], s[~y], k) for s in (f, g)]
    assert float(told[1]) == pytest.approx(k * (both[0] - both[1]))


def test_with_rows_of_training_it_makes_simple_lists_to_compare_with(full, fitted, tmp_path):
    head = [cell[0] for cell in full.tables["The whole list"][0]]
    assert head[2:5] == ["Linear model", "Logistic curves", "Boosted trees"]
    assert re.fullmatch(r"(age|city) alone", head[5])
    H, lam, _, X, y = fitted
    advice = "pass the training rows as training=(X, y)"
    assert advice not in full.words
    for more, is_advised in (({}, True), ({"others": {"f": y}}, False)):
        assert (advice in reported(tmp_path, X, y, H, lam, **more).words) == is_advised
    none = reported(tmp_path, X, y, H, lam, others={}, training=TRAINING)
    assert len(none.tables["The whole list"][0]) == 3  # none are asked for


def test_the_first_rows_are_those_of_the_scores_with_their_reasons(fitted, full):
    H, lam, _, X, y = fitted
    f = pnorm.score(X, H, lam)
    order = np.argsort(-f, kind="stable")[:20]
    head, *rows = next(table for caption, table in full.tables.items() if caption.startswith("The first 20 of 300"))
    assert [cell[0] for cell in head][:5] == ["Place", "Row", "Outcome", "Score", "Probability"]
    assert [row[1][0] for row in rows] == [X["customer"][k] for k in order]
    assert [row[2][0] for row in rows] == ["● positive" if y[k] else "○ negative" for k in order]
    assert "compared with the average negative training row." in full.words
    found = pnorm.explain(some(X, np.isin(np.arange(len(y)), order)), H, lam, reference=some(TABLE, ~HELD & ~Y))
    place = {k: i for i, k in enumerate(np.sort(order))}
    for k, row in zip(order, rows, strict=True):
        parts = found.contributions[place[k]]
        assert row[5][0].startswith(found.names[np.abs(parts).argmax()])
        assert f"{np.abs(parts).max():.3g}"[:4] in row[5][0]


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


@pytest.mark.parametrize(("budget", "depth"), [(20, 60), (55, 55)])
def test_importance_is_about_more_than_a_few_rows(tmp_path, budget, depth):
    rng, y = np.random.default_rng(0), np.arange(400) < 60
    X = rng.normal(size=(400, 2)) + y[:, None]
    words = reported(tmp_path, X, y, None, [1.0, 0.5], budget=budget).words
    assert f"among the first {depth} rows if the column were ignored" in words


def test_it_has_all_that_was_given(full):
    given = ("Who buys?", "bought = yes", "Mind the gap.", "pnorm leads.csv --label bought", "customer")
    assert [words for words in given if words not in full.words] == []
    assert "reached the minimum of its objective, which is proved" in full.words
    assert set(PARTS.values()) <= set(full.headings)
    assert "left out" in str(full.tables["Columns"])


def test_the_choice_is_told_in_words(known, full):
    found = known["cross_validation"]
    assert not re.search(r"partial_auc|average_precision|runs certified|line \+ cuts", full.words)
    head = [cell[0] for cell in full.tables["The settings compared"][0]]
    assert head == ["p", "Penalty l2", "Partial AUC", "Behind the best"]
    assert f"Chosen: p = {found.best.p:g}, penalty l2 = {found.best.l2:g}. " in full.words
    assert f"In all {found.status.size} training runs" in full.words
    choice = Choice((4.0, 0.5), ("p", "l2"), l1=0.0, kind="line + cuts")
    assert _setting(choice) == "lines with fine steps, p = 4, penalty l2 = 0.5"


def test_a_chart_of_more_settings_than_lines_says_so(fitted, known):
    sides, H = (some(TABLE, ~HELD & Y), some(TABLE, ~HELD & ~Y)), fitted[0]
    found = pnorm.cross_validate(*sides, H, range(1, 7), l2=[1.0, 0.1], penalty="shapes", folds=2)
    assert tells(_choice_chart(found), "The best 5 of 6 curves are drawn.")
    assert "curves are drawn" not in _choice_chart(known["cross_validation"])


def test_a_report_tells_its_stages_and_is_the_same(fitted, tmp_path):
    H, lam, _, X, y = fitted
    seen = []
    pages = [reported(tmp_path, X, y, H, lam, progress=of) for of in (False, lambda *counts: seen.append(counts))]
    assert seen == [(done, 4) for done in range(5)]
    assert pages[0].text == pages[1].text


PARTS = {
    "intercept": "Calibration of the probabilities",
    "cross_validation": "How p and the penalty were chosen",
    "cutoff": "Cut-off",
    "trace": "Optimality certificate",
}


@pytest.mark.parametrize("left_out", ["p", "cross_validation", "trace"])
def test_any_part_may_be_left_out(fitted, known, tmp_path, left_out):
    H, lam, _, X, y = fitted
    without = {left_out, "training", "intercept"} if left_out == "p" else {left_out, "training"}
    page = reported(tmp_path, X, y, H, lam, **{name: value for name, value in known.items() if name not in without})
    lost = {PARTS[name] for name in without if name in PARTS}
    assert {heading for heading in PARTS.values() if heading not in page.headings} == lost


def test_five_arguments_are_enough(fitted, tmp_path):
    H, lam, _, X, y = fitted
    assert reported(tmp_path, X, y, H, lam).headings == [
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


# Rows of all forms --------------------------------------------------------------------------------------

PLAIN = np.column_stack([np.nan_to_num(AGE), RNG.normal(size=N).round(2)])
LAM = np.array([0.1, -0.05])


def frames():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(PLAIN, columns=["age", "noise"])


FORMS = {
    "list": (PLAIN.tolist(), None),
    "sparse": (sparse.csr_array(PLAIN), None),
    "cuts": (PLAIN, rankers.thresholds([[50.0], [0.0]])),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_every_form(form, tmp_path):
    X, H = FORMS[form]
    page = reported(tmp_path, X, Y, H, LAM, training=None if form == "cuts" else (X, Y))
    f = pnorm.score(X, H, LAM)
    aucs = next(row for row in page.tables["The whole list"] if row[0][0] == "AUC")
    assert aucs[1][1] == pytest.approx(metrics.auc(f[Y], f[~Y]))
    assert ("Linear model" in page.words) == (form == "list")


def test_labels_are_those_of_split(tmp_path):
    frame = frames().assign(bought=np.where(Y, "won", "lost"))
    named = reported(tmp_path, frame, "bought", None, LAM, positive="won")
    given = reported(tmp_path, frames(), frame["bought"], None, LAM, pos_label="won")
    assert named.text == given.text == reported(tmp_path, frames(), Y, None, LAM).text
    with raises(ValueError, "say which label of y is positive"):
        pnorm.report_html(tmp_path / "d.html", frame, "bought", None, LAM)


def test_from_the_bottom_negatives_are_what_is_looked_for(tmp_path):
    page = reported(tmp_path, PLAIN, Y, None, LAM, push="bottom", budget=50)
    f = pnorm.score(PLAIN, None, LAM)
    hits = 50 * metrics.precision_at(-f[~Y], -f[Y], 50)
    assert f"Of the last 50 rows, {hits:g} are negative" in page.words
    rows = next(table for caption, table in page.tables.items() if caption.startswith("The last 20 of"))[1:]
    order = np.argsort(f, kind="stable")[:20]
    assert [row[1][0] for row in rows] == [f"row {k}" for k in order]
    assert [row[2][0] for row in rows] == ["○ positive" if Y[k] else "● negative" for k in order]
    assert "top of the list" not in page.words


def test_the_line_of_chance_is_straight_where_the_list_is_worse(tmp_path):
    page = reported(tmp_path, -np.arange(300.0)[:, None], np.arange(300) >= 100, None, [1.0])
    top, whole = [
        np.array([point.split(",") for point in given["points"].split()], float)
        for tag, given in page.tags
        if tag == "polyline" and given["class"] == "line chance"
    ][1:3]
    assert tuple(top[0]) == tuple(whole[0])
    x_end, y_end = top[1]  # upper end of the chart: 2 positives for each negative, 1 at most is drawn
    assert x_end < whole[1, 0]
    assert y_end == whole[1, 1]


def test_what_moved_is_told_in_the_box_and_once_below(fitted, tmp_path):
    H, lam, _, X, y = fitted
    moved = pnorm.drift(TRAINING[0], dict(X, city=["Rome"] * len(y)), H, lam)
    assert moved.warnings
    words = reported(tmp_path, X, y, H, lam, drift=moved).words.replace("\xa0", " ")
    for part in words.split("More on the columns")[1].split("Contents", 1):
        assert [part.count(f"{sentence[1:]}.") for sentence in moved.warnings] == [1] * len(moved.warnings)


@pytest.mark.parametrize(("beyond_chance", "at_random"), [(True, True), (True, False), (False, True)])
def test_a_little_drift_of_rows_drawn_at_random_is_told_to_be_chance(fitted, tmp_path, beyond_chance, at_random):
    H, lam, _, X, y = fitted
    found = pnorm.drift(X, X, H, lam)
    column = dataclasses.replace(found.columns[0], psi=0.05, beyond_chance=beyond_chance)
    found = dataclasses.replace(found, columns=(column, *found.columns[1:]))
    beside = report.Beside(None, np.zeros(len(H.column_names)), "a row", at_random=at_random)
    words = reported(tmp_path, X, y, H, lam, drift=found, training=beside).words
    assert ("The rows were drawn at random, so " in words) == (at_random and beyond_chance)


def test_rows_that_were_trained_on_are_called_so(fitted, tmp_path):
    H, lam, _, X, y = fitted
    page = reported(tmp_path, X, y, H, lam, held_out=False)
    assert "Measured on 300 training rows" in page.words
    assert "The first 20 of 300 training rows" in page.tables


def test_few_rows_and_ties(tmp_path):
    words = reported(tmp_path, [[1.0], [0.0], [1.0]], [1, 0, 0], None, [1.0]).words
    assert "only 1 positive row" in words
    assert tells(words, "The first row counts as 0.5 positive")
    assert (
        "only 2 negative rows" in reported(tmp_path, [[1.0]] * 60 + [[0.0]] * 2, [1] * 60 + [0] * 2, None, [1.0]).words
    )
    headings = reported(tmp_path, PLAIN, Y, None, [0.0, 0.0], n_rows=0).headings
    assert not {"The first rows, with reasons", "Column importance"} & set(headings)


def test_many_rows_do_not_make_it_large(tmp_path):
    n, rng = 12_000, np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < 1 / (1 + np.exp(3 - 2 * X[:, 0]))
    H = rankers.quantile_thresholds(X[y], X[~y], 50)
    lam = rng.normal(size=len(H)) / 20
    few, many = [len(reported(tmp_path, X[:k], y[:k], H, lam, others={"first": X[:k, 0]}).text) for k in (2_000, n)]
    assert many < min(150_000, 1.3 * few)


# What users name ----------------------------------------------------------------------------------------

ATTACKS = [
    "\"><img src=x onerror=alert(1)>' onload='alert(1)<script>alert(1)</script>",
    "</style><script>alert(2)</script> a & b &lt; c {title} %s {0} =cmd|' /C calc'!A0",
    "\x1b[31mred\x1b[0m\r\n\t\x00 ‮gnp.exe​\ud800",
    "a & b &lt; {c}",
]


def page_of_names(word, folder):
    """The page of rows whose names and values have a word, and the elements that do not depend on the numbers."""
    table = {
        f"age {word}": TABLE["age"],
        f"city {word}": [f"{city} {word}" for city in CITY],
        f"free {word}": [f"{k} {word}" for k in range(N)],
    }
    H, lam, trace = model(table, kinds={1: "category"})
    X, y = some(table, HELD), Y[HELD]
    f = pnorm.score(X, H, lam)
    page = reported(folder, X, y, H, lam, ids=[word] * len(y), others={word: f[::-1].copy()}, title=word, label=word,
                    notes=[word], reproduce={"command": word, word: word}, trace=trace,
                    training=(some(table, ~HELD), Y[~HELD]))  # fmt: skip
    return page, sorted(tag for tag, _ in page.tags if tag not in ("polyline", "rect", "line", "circle"))


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    return page_of_names("x", tmp_path_factory.mktemp("calm"))[1]


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_whatever_names_and_values_hold_is_text(attack, calm, tmp_path):
    page, tags = page_of_names(attack, tmp_path)
    assert len(page.text) < 200_000
    assert tags == calm
    if attack.isprintable() and len(attack) < 40:
        assert f"city {attack}" in page.words


# Errors -------------------------------------------------------------------------------------------------

WRONG = {
    "one class": (dict(y=np.ones(N)), ValueError, "all rows of y have the label"),
    "labels": (dict(y=Y[1:]), ValueError, "y must hold one label per row, 900"),
    "lam": (dict(lam=[1.0]), ValueError, "lam must"),
    "ids": (dict(ids=["a"]), ValueError, "ids must hold one id per row of X, 900; got 1"),
    "others": (dict(others={"a": [1.0]}), ValueError, r"others\['a'\] must"),
    "no mapping": (dict(others=[1.0]), TypeError, "others must be a mapping"),
    "intercept": (dict(intercept=1.0), ValueError, "give p as well"),
    "training": (dict(training=PLAIN), TypeError, "training must be a pair"),
    "labels of training": (dict(training=(PLAIN, Y[1:])), ValueError, "y of training must hold one label per row"),
    "other columns in training": (dict(training=(PLAIN[:, :1], Y)), ValueError, "X of training has 1 column"),
    "rows": (dict(n_rows=-1), ValueError, "n_rows must be"),
    "budget": (dict(budget=901), ValueError, "at most the 900 rows"),
    "reproduce": (dict(reproduce=3), TypeError, "reproduce must be a text, or a mapping"),
    "cutoff": (dict(cutoff=3), TypeError, "cutoff must be"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_after_an_error_the_file_is_as_it_was(wrong, tmp_path):
    given, error, message = WRONG[wrong]
    (tmp_path / "r.html").write_text("old")
    for name in ("r.html", "new.html"):
        with raises(error, message):
            pnorm.report_html(tmp_path / name, **{"X": PLAIN, "y": Y, "H": None, "lam": LAM} | given)
    assert [of.read_text() for of in tmp_path.iterdir()] == ["old"]


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        pnorm.report_html(tmp_path / "no" / "r.html", None, None, None, None)
    with raises(TypeError, "path must be the name of a file"):
        pnorm.report_html(3, None, None, None, None)


# Pieces -------------------------------------------------------------------------------------------------


def test_ticks_are_round_and_few_and_within():
    for low, high in ((0.0, 1.0), (-3.2, 7.9), (1e-7, 9e-7), (5.0, 5.0), (-1e9, 1e9)):
        ticks = charts.round_values(low, high, 6)
        assert 1 <= len(ticks) <= 8
        assert all(low - 1e-9 * abs(low) <= tick <= high + 1e-9 * abs(high) for tick in ticks)
        steps = np.diff(ticks)
        assert steps.size == 0 or np.allclose(steps, steps[0])
        assert len({charts.plain_number(tick) for tick in ticks}) == len(ticks)
    assert charts.Axis(0.0, 2.0, "", str, whole=True).values() == [0.0, 1.0, 2.0]
    assert charts.Axis(0.0, 2.0, "", str).values() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert charts.Axis(0.2, 0.8, "", str, whole=True).values()


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


def test_numbers_have_digits_that_suit_them():
    for write, value, told in (
        (markup.count, 1234567, "1,234,567"),
        (markup.count, 11.64, "11.6"),
        (markup.percent, 0.116, "11.6 %"),
        (markup.percent, 0.99995, "99.995 %"),
        (markup.percent, 0.00012, "0.012 %"),
        (markup.times, 6.623, "6.62×"),
        (short_count, 2.5e6, "2.5M"),
        (charts.plain_number, 1e-5, "1e-5"),
        (charts.plain_number, 5000.0, "5,000"),
    ):
        assert write(value) == told


def test_curves_are_shapes_less_their_mean_and_bars_their_rows():
    H = rankers.quantile_thresholds(PLAIN[Y], PLAIN[~Y], 20, linear=True)
    lam = np.random.default_rng(2).normal(size=len(H))
    for shape in pnorm.shapes(lam, H, PLAIN):
        drawn = pictures._drawn(shape)
        inner = drawn.x[1:-1]
        above = np.tile([False, True], inner.size // 2)
        np.testing.assert_allclose(drawn.y[1:-1], shape.at(inner, above) - drawn.mean, atol=1e-12)
        column = PLAIN[:, H.column_names.index(shape.name)]
        assert ((column >= drawn.x[0]) & (column <= drawn.x[-1])).mean() > 0.9
        assert drawn.mean == pytest.approx(shape.at(column).mean(), abs=0.1 * shape.range)
        ends = float(shape.cuts[0]) - 1.0, float(shape.cuts[-1]) + 1.0
        assert pictures._distribution(shape, *ends)[1].sum() == pytest.approx(1.0)


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


def test_the_precision_of_the_first_rows_needs_no_others():
    f = (PLAIN @ LAM).round(1)  # with ties
    for k in (1, 7, 40, 900):
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
    days = np.datetime64("2024-01-02") + np.arange(690).astype("m8[D]")
    X = {"created": days[np.random.default_rng(0).integers(0, 690, 2000)]}
    first, last = X["created"].min(), X["created"].max()
    H = rankers.from_table({"created": X["created"][:1000]}, {"created": X["created"][1000:]}, n_cuts=1)
    lam = np.ones(len(H))
    (shape,) = [shape for shape in pnorm.shapes(lam, H, X) if shape.read_off == "trend"]
    assert shape.cuts.size < 3
    drawn = pictures._drawn(shape)
    start, stop = np.floor(drawn.x[[0, -1]]).astype("datetime64[D]")
    month = np.timedelta64(30, "D")
    assert first <= start < first + month
    assert last - month < stop <= last
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


@pytest.mark.parametrize(("n_notes", "names"), [(0, ["paid"]), (5, ["paid", "refund"]), (0, [])])
def test_leaks_are_warnings_before_and_in_the_headline_and_notes_are_not(tmp_path, n_notes, names):
    late = {"paid": [float(y) for y in Y], "refund": [1.0 if y and k % 2 else None for k, y in enumerate(Y)]}
    rare = ["Pisa" if k == 1 else city for k, city in enumerate(TABLE["city"])]
    table = {**TABLE, "city": rare, "same": ["x"] * N, **{name: late[name] for name in names}}
    H, lam, _ = model(table)
    notes = [f"Note {k}." for k in range(n_notes)]
    page = reported(tmp_path, some(table, HELD), Y[HELD], H, lam, label="y", notes=notes).text
    headline = page.split('<p class="headline">')[1].split("</p>")[0]
    assert [name for name in late if name in headline] == names
    assert page.count('class="alert"') == bool(names)
    box = page.partition('<div class="alert">')[2].partition("</div>")[0]
    assert box.count("<li>") == len(names)
    assert not names or page.index("<h1>") < page.index('<div class="alert">') < page.index('<p class="headline">')
    assert not n_notes or f"There are {n_notes + len(names)} warnings" in box
    warned, notes = page.split('id="warnings"')[1].split("<h3>Notes</h3>")
    for name in names:
        assert f"<strong>{name}</strong>" in box
        assert f"<strong>{name}</strong>" in warned
    assert "refund" not in names or f"<strong>refund</strong> {H.plan[-1].one_sided}" in box
    assert "<strong>same</strong>" in notes.split("</ul>")[0]
    assert "Columns with rare values" in notes.split("</ul>")[0]


@pytest.mark.parametrize(("rows", "grave"), [(5, False), (60, True)])
def test_new_levels_are_a_warning_in_many_rows_and_later_days_never(fitted, tmp_path, rows, grave):
    H, lam, _, X, y = fitted
    later = [day + np.timedelta64(400, "D") for day in X["since"]]
    new = dict(X, since=later, city=["Pisa" if k < rows else city for k, city in enumerate(X["city"])])
    page = reported(tmp_path, new, y, H, lam, training=TRAINING, others={})
    assert page.words.count(f"Pisa ({rows})") >= 1
    warned, notes = page.text.split('id="warnings"')[1].split("<h3>Notes</h3>")
    assert ("never seen before" in warned, "never seen before" in notes) == (grave, not grave)
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


def test_an_axis_of_dates_has_ticks_at_firsts_of_months_or_years():
    for first, last, told in (
        ("2024-01-02", "2024-01-20", ["2024-01-08", "2024-01-18"]),
        ("2023-12-31", "2024-11-20", ["2024-01", "2024-04", "2024-07", "2024-10"]),
        ("1911-05-02", "2023-02-20", ["1950", "2000"]),
    ):
        low, high = (np.datetime64(day).astype(float) for day in (first, last))
        axis = charts.Axis(low, high, "", lambda day: str(np.datetime64(int(day), "D")), ticks=3, dates=True)
        assert [text for _, text in axis.written()] == told
    for low, days in itertools.product(np.linspace(19000.0, 20000.0, 21).round(), (7.0, 300.0, 599.0, 601.0, 3650.0)):
        ticks = charts.Axis(low, low + days, "", str, ticks=3, dates=True).values()
        assert 2 <= len(ticks) <= 4
        assert all(low <= tick <= low + days and tick == round(tick) for tick in ticks)


@pytest.fixture(scope="module")
def alike():
    """The quality of a list beside an equal one, whose differences are to be replaced."""
    rng = np.random.default_rng(0)
    sides = rng.normal(1, 1, 100), rng.normal(0, 1, 400)
    return quality(*sides, {"x alone": sides}, depths=[245])


@pytest.mark.parametrize(
    ("low", "value", "high", "ends", "shows"),
    [
        (-3.0, -1.0, -0.5, "0 to 3 fewer", "the other list is better"),
        (-3.0, -1.0, 0.0, "0 to 3 fewer", "may be chance"),
        (-1.0, -0.05, -0.001, "0 to 1 fewer", ""),
        (-1.0, 0.01, 1.0, "1 fewer to 1 more", ""),
        (0.001, 0.5, 1.0, "0 to 1 more", ""),
        (-1.0, 3.97, 5.0, "1 fewer to 5 more", "may be chance"),
        (2.0, 7.0, 12.0, "2 to 12 more", "this list is better"),
    ],
)
def test_another_list_is_better_by_a_row_at_least(alike, low, value, high, ends, shows):
    found = alike
    of = found.differences[0]._replace(value=metrics.Estimate(value / 245, low / 245, high / 245, 0.95), depth=245)
    sentence, interval, shown = markup.compared(of, "top")
    assert ("as many" in sentence, interval.partition(";")[0], shown) == (abs(value) < 1, ends, shows)
    found = dataclasses.replace(found, difference=of, averages=())
    assert markup.beaten(found) == [("x alone", "in the first 245 rows")] * (shows == "the other list is better")


def test_among_several_lists_one_must_be_better_by_more():
    rng = np.random.default_rng(8)
    pos, neg = rng.normal(1.5, 1.0, 30), rng.normal(0.0, 1.0, 90)
    own, *others = [[f + sd * rng.normal(size=f.size) for f in (pos, neg)] for sd in (1.1, *[0.5] * 6)]
    lists = {f"list {i}": sides for i, sides in enumerate(others)} | {"good": (pos + 2.0, neg)}
    alone, among = [[name for name, _ in markup.beaten(quality(*own, of))] for of in ({"list 1": others[1]}, lists)]
    assert alone == ["list 1"]
    assert "list 1" not in among
    assert "good" in among


@pytest.mark.parametrize(
    ("value", "low", "high", "told"),
    [
        (0.04, 0.01, 0.07, "+0.010 to +0.070; this list is better)"),
        (0.04, -0.01, 0.07, "−0.010 to +0.070; may be chance)"),
        (-0.04, -0.07, -0.01, "−0.070 to −0.010; the other list is better)"),
        (-0.0011, -0.002, -0.001, "the other list is better)"),
        (-0.0009, -0.002, -0.0005, "−0.002 to −0.001)"),
        (0.0, 0.0, 0.0, "the same average precision, "),
    ],
)
def test_average_precisions_come_with_what_their_difference_shows(alike, value, low, high, told):
    found = alike
    own = found.measure("average_precision")
    measures = [m._replace(others=(float(own.value) - value,)) if m is own else m for m in found.measures]
    of = found.averages[0]._replace(value=metrics.Estimate(value, low, high, 0.95))
    found = dataclasses.replace(found, averages=(of,), measures=tuple(measures))
    (said,) = markup.beside(found)
    assert told in said.partition("; ")[2]
    assert markup.beaten(found) == [("x alone", "in average precision")] * (
        told == "the other list is better)" or value == -0.04
    )


def test_lists_with_a_larger_auc_are_named():
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(1, 1, 100), rng.normal(0, 1, 400)
    lists = {"linear model": (pos + 0.5, neg), "logistic curves": (pos + 1.0, neg), "x alone": (pos - 0.5, neg)}
    own, linear, curves = [f"({metrics.auc(pos + by, neg):.3f})" for by in (0.0, 0.5, 1.0)]
    *_, told = markup.beside(quality(pos, neg, lists))
    assert re.findall(r"\([\d.]+\)", told) == [linear, curves, own]
    assert "x alone" not in told
    for name, by in (("x alone", -0.5), ("linear model", 0.01)):  # it is smaller, or hardly larger
        assert not any("AUC" in said for said in markup.beside(quality(pos, neg, {name: (pos + by, neg)})))


def test_precision_by_depth_marks_the_rows_asked_for_and_draws_this_list_last(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.3
    X = y[:, None] + rng.normal(0, [0.8, 1.5, 3.0], (600, 3))
    text = reported(tmp_path, X, y, None, [1.0, 0.5, 0.0], budget=60).text
    drawn = re.search(r'<section [^>]*id="depth".*?</section>', text, re.DOTALL)[0]
    order = np.argsort(-(X @ [1.0, 0.5, 0.0]), kind="stable")[:60]
    (words,) = re.findall(r'<text class="marked".*?>(.*?)</text>', drawn)
    assert words == f"first 60: {markup.percent(y[order].mean())}"
    styles = re.findall(r'<polyline class="line (\w+)"', drawn)
    assert (styles[0], styles[-1]) == ("chance", "s0")
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
    ("ends", "told"), [((0.03, 0.9), "(+0.3 to +9) better"), ((0.0, 0.9), "(0 to +9)"), ((-0.9, 1e-4), "(−9 to +1)")]
)
def test_an_interval_beyond_chance_has_no_end_at_zero(ends, told):
    found = Difference("precision in the first 10", "trees", metrics.Estimate(0.4, *ends, 0.95), 10)
    assert markup.difference_of_hits(found) == f"+4 {told}"


def test_a_list_that_is_good_in_part_only_says_so():
    """At its very top, or but for its top: the numbers are told by the command too."""
    for y, f, told in (
        (
            np.r_[np.ones(10), np.zeros(190), np.ones(90), np.zeros(110)],
            -np.arange(400.0),
            "first 200 rows .* 10,.* 50 ",
        ),
        (
            np.r_[np.zeros(40), np.ones(160), np.zeros(200)],
            -np.arange(400.0),
            "In the first 200 rows .* first 10 rows ",
        ),
    ):
        y = y.astype(bool)  # best first
        found = quality(f[y], f[~y], depths=(10, 200), budget=10)
        (said,) = markup.beyond_the_top(found)
        assert re.search(told, said)
        assert said in " ".join(" ".join(printing.quality_lines(found)).split())
    assert markup.beyond_the_top(quality(-f[y], -f[~y], depths=(10,), budget=10)) == []
    assert "AUC" in markup.beyond_the_top(quality(f[y], f[~y], depths=(10,), budget=10))[0]
