"""Eight awkward tables as a person meets them: in one line through the command, and in one through the estimator."""

import csv
import os
import re
import warnings
from functools import partial

import awkward
import command
import numpy as np
import pytest
from facts import tells

import pnorm
from pnorm._command.main import main
from pnorm._tables import open_source

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

READ = {
    "transactions": pandas.read_csv,
    "leads": pandas.read_csv,
    "patients": pandas.read_csv,
    "customers": partial(pandas.read_csv, sep=";", decimal=",", encoding="cp1252"),
    "molecules": pandas.read_csv,
    "machines": partial(pandas.read_excel, engine="calamine"),
    "payments": pandas.read_csv,
    "refunds": pandas.read_csv,
}
"""By name, how a person reads the table."""


BY_COMMAND = ["patients", "machines", "refunds"]
"""Tables that the command reads; the estimator reads the others."""


def written(folder, name):
    if name == "machines":
        pytest.importorskip("openpyxl")
        pytest.importorskip("python_calamine")
    return awkward.WRITERS[name](folder)


def kinds(H):
    return {of.name: of.kind for of in H.plan}


def clearly_better(f, y):
    """Whether the interval of the AUC is above 0.6, well above a coin's."""
    return pnorm.metrics.auc(f[y], f[~y], confidence=0.95).low > 0.6


def scores(path):
    """The scores of a file of --out by id, and all of its rows."""
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    names = [next(iter(row.values())) for row in rows]  # the first column has the name of the column of --id
    return {name: float(row["score"]) for name, row in zip(names, rows, strict=True)}, rows


@pytest.mark.parametrize(
    "name",
    [
        *BY_COMMAND,
        pytest.param("leads", id="leads, whole grid", marks=pytest.mark.whole_grid),
    ],
)
@pytest.mark.usefixtures("few_points", "few_resamples")
def test_one_line_of_the_command(capsys, tmp_path, monkeypatch, name):
    table = written(tmp_path, name)
    monkeypatch.chdir(tmp_path)  # next steps name files as the user did
    model, out, page, again = "m.json", "s.csv", "r.html", "again.csv"
    words = [*table.arguments(), "--id", table.id, "--save", model, "--out", out, "--report", page]
    assert main([os.path.relpath(word) if word == str(table.path) else word for word in words]) == 0
    told, errors = capsys.readouterr()
    assert errors == ""
    assert f"{table.y.size:,} rows, {table.y.sum():,} positive" in told
    assert all(note in told for note in table.notes)
    assert "\nNext steps\n" in told

    # each column is what it means
    H = pnorm.load(model).H
    assert kinds(H) == {column: kind for column, kind in table.kinds.items() if column != table.id}
    warned = [line for line in told.splitlines() if line.startswith("warning: ")]
    warned = [line for line in warned if "is better than this list" not in line]  # which the measures decide
    left = [column for column, kind in kinds(H).items() if kind == "left out"]
    out_lines = told.split("\nColumns left out")[1].split("\n\n")[0].splitlines()[1:] if left else []
    assert ("Columns left out" in told) == bool(left)
    assert [line.split()[0] for line in out_lines] == [column.split()[0] for column in left]
    assert tuple(of.name for of in H.plan if of.separates) == table.leaks
    assert all(any("alone" in line and leak in line for line in warned) for leak in table.leaks)
    assert len(warned) == bool(table.leaks)
    in_use = int(re.search(r" of (\d+) columns? in use", " ".join(told.split()))[1])
    assert in_use <= sum(of.rankers > 0 for of in H.plan)  # a date is one column, whatever is read off it

    # all rows are written, and those kept back are in a good order
    f, rows = scores(out)
    ids = open_source(str(table.path)).texts(table.id)
    positive = dict(zip(ids, table.y.tolist(), strict=True))
    assert f.keys() == positive.keys()
    assert len(rows) == table.y.size
    held = [row[table.id] for row in rows if row["held_out"] == "1"]
    assert len(held) == pytest.approx(table.y.size / 5, abs=2)
    assert clearly_better(np.array([f[row_id] for row_id in held]), np.array([positive[row_id] for row_id in held]))

    # the saved model has the same scores
    assert main([str(table.path), "--model", model, "--id", table.id, "--out", again]) == 0
    assert scores(again)[0] == f
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.endswith("</html>\n")
    assert all(leak in text for leak in table.leaks)


@pytest.mark.usefixtures("few_points")
@pytest.mark.parametrize("name", [name for name in awkward.WRITERS if name not in BY_COMMAND])
def test_one_line_of_the_estimator(tmp_path, name):
    table = written(tmp_path, name)
    check_estimator(table, READ[name](table.path).drop(columns=table.label))


@pytest.mark.usefixtures("few_points")
def test_one_line_of_the_estimator_with_polars(tmp_path):
    polars = pytest.importorskip("polars")
    table = written(tmp_path, "patients")
    check_estimator(table, polars.read_csv(table.path).drop(table.label))


def check_estimator(table, frame):
    from pnorm.sklearn import PNormPush

    some, y = np.arange(table.y.size) % 4 > 0, table.y
    rows = [pnorm._checks.rows(frame, np.flatnonzero(part)) for part in (some, ~some)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", pnorm.diagnostics.NoSignalWarning)  # this is about the columns
        model = PNormPush().fit(rows[0], y[some])
    (message,) = [str(warning.message) for warning in caught]
    assert all(column in message for column, kind in kinds(model.rankers_).items() if kind == "left out")
    assert tuple(of.name for of in model.rankers_.plan if of.separates) == table.leaks
    assert all(leak in message for leak in table.leaks)
    # a reader that is told nothing calls an index without a name something of its own
    assert list(kinds(model.rankers_).values()) == list(table.kinds.values())
    assert clearly_better(model.decision_function(rows[1]), y[~some])


# What a person tries next


def table_of(path, names=("amount", "kind", "Paid"), n=60, unknown=0, end="\n", ending=""):
    """A small table; some rows from the second on have a kind that no other file has."""
    rng = np.random.default_rng(n)
    amount, kind = rng.normal(size=n), rng.choice(["a", "b", "c"], n)
    kind[1 : 1 + unknown] = "z"
    y = amount + rng.normal(size=n) > 0.5
    rows = [names, *[(f"{x:.3f}", k, str(int(of))) for x, k, of in zip(amount, kind, y, strict=True)]]
    path.write_bytes("".join([",".join(row) + ending + end for row in rows]).encode())
    return str(path)


def run(capsys, *words):
    return command.run(capsys, *words, *(() if "--model" in words else command.QUICK))


@pytest.mark.parametrize(("end", "ending", "start"), [("\r\n", "", b""), ("\n", ",", b""), ("\n", "", b"\xef\xbb\xbf")])
def test_ends_of_lines_and_marks_change_nothing(capsys, tmp_path, end, ending, start):
    told = []
    for how in ({}, {"end": end, "ending": ending}):
        path = tmp_path / "it's a table.csv"
        table_of(path, **how)
        if how:
            path.write_bytes(start + path.read_bytes())
        status, out, err = run(capsys, path, "--label", "Paid")
        assert (status, err) == (0, "")
        told.append(out)
    assert told[0] == told[1]


@pytest.mark.parametrize(("given", "name"), [("paid", "Paid"), ("PAID", "Paid"), (" Paid", "Paid"), ("Piad", "Paid")])
def test_a_column_that_is_nearly_named_is_pointed_out(capsys, tmp_path, given, name):
    path = table_of(tmp_path / "t.csv")
    status, out, err = run(capsys, path, "--label", given)
    assert (status, out) == (2, "")
    assert err == f"pnorm: error: no column {given!r} in {path}; did you mean {name!r}?\n"


def test_a_model_of_other_columns_says_which_it_reads(capsys, tmp_path):
    model, other = str(tmp_path / "m.json"), table_of(tmp_path / "other.csv", ("Amount", "Kind", "Paid"))
    assert run(capsys, table_of(tmp_path / "t.csv"), "--label", "Paid", "--save", model)[0] == 0
    status, out, err = run(capsys, other, "--model", model)
    assert (status, out) == (2, "")
    assert (
        f"{model} does not fit {other}: the model needs the columns amount, kind; the file has Amount, Kind, Paid"
        in err
    )


def test_new_levels_are_told_once(capsys, tmp_path):
    train, test = table_of(tmp_path / "t.csv"), table_of(tmp_path / "later.csv", n=50, unknown=40)
    status, out, err = run(capsys, train, "--label", "Paid", "--test", test)
    assert (status, err) == (0, "")
    assert out.count("'z'") == 1
    assert tells(
        out.replace("\n         ", " "),
        "warning: unknown values in column 'kind' of the test rows: 40 of 50 values, such as 'z'; they count as none of "
        "the known ones\n",
    )


@pytest.mark.parametrize(("wide", "gone"), [(140, ""), (120, "amount alone"), (80, "amount alone, by chance")])
def test_the_table_of_figures_fits_the_terminal(capsys, monkeypatch, tmp_path, wide, gone):
    monkeypatch.setenv("COLUMNS", str(wide))
    status, out, _ = run(capsys, table_of(tmp_path / "t.csv"), "--label", "Paid")
    assert status == 0
    lines = out.splitlines()
    (head,) = [k for k, line in enumerate(lines) if line.lstrip().startswith("this list")]
    figures = lines[head : lines.index("", head)]
    assert max(map(len, figures)) <= wide
    assert ("logistic curves" in figures[0], "by chance" in figures[0]) == (True, "by chance" not in gone)
    left_out = " ".join(" ".join(figures).split()).partition("(in a wider terminal: ")[2].partition(")")[0]
    assert left_out.endswith(gone)
    assert bool(left_out) == bool(gone)


def test_one_row_is_no_rows(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{k},{int(k in (3, 7))}\n" for k in range(12)))
    status, out, _ = run(capsys, path, "--label", "y")
    assert status == 0
    assert re.search(r"The first row is (not )?positive \(95 % interval", out)
    assert "No probabilities are shown" in " ".join(out.split())
    assert tells(out, "The test has only 1 positive row, so the intervals are wide.")
