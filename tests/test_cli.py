"""The command, as a process of its own and by its function."""

import csv
import html
import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
from command import BATCHED, BATCHES, QUICK, cells_of, fixed, flat, ran, read, refused, run
from facts import tells
from pyarrow import feather, parquet
from repeats import each_value

import pnorm
from pnorm._command import cutoffs, options, plan, printing, progress, scores_file
from pnorm._command.main import main
from pnorm._command.terminal import one_line, pasted, program
from pnorm._cutoff import written as written_score
from pnorm._job.learn import Settings, learn
from pnorm._job.quality import quality
from pnorm._report.verdicts import AT_RANDOM, texts, verdicts

pytestmark = pytest.mark.usefixtures("few_points", "few_resamples")


@pytest.fixture
def table(tmp_path):
    """A file of 60 rows, three columns of numbers, one of text, and a label."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    X = rng.normal(size=(60, 3)) + y[:, None] * [1.0, 0.3, 0.0]
    path = tmp_path / "leads.csv"
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["visits", "age", "noise", "city", "bought"])
        writer.writerows([*map(repr, map(float, row)), "Oslo", int(label)] for row, label in zip(X, y, strict=True))
    return path, X, y


# The file of the clone


def test_the_file_of_the_examples_is_what_its_script_writes_and_gives_a_useful_list(capsys, tmp_path):
    folder = Path(__file__).parents[1] / "examples"
    path = folder / "leads.csv"
    runpy.run_path(str(folder / "leads.py"))["write"](tmp_path / "leads.csv")
    assert read(tmp_path / "leads.csv") == read(path)
    assert os.path.getsize(path) < 400_000
    out = ran(capsys, path, "--label", "bought", "--id", "lead", *QUICK)
    assert "6,000 rows, 769 positive" in out
    *_, low, _, _, by_chance = [word for word in cells_of(out)["precision in the first 154"] if word != "0.5"]
    assert float(low) > float(by_chance)
    assert len(re.findall(r"^ +\d+ +\d+ +L\d+ .*$", out, re.MULTILINE)) == 10
    named = set(re.findall(r"(\w+) = ", out[out.index("Top of the list") : out.index("Reasons: largest")]))
    assert "trial" in named
    assert "town" not in named  # it has no effect


def test_without_a_file_the_command_prints_what_to_type(capsys):
    out = ran(capsys)
    assert all(word in out for word in ("--label", "--model", "--help"))


@pytest.mark.parametrize(
    ("is_terminal", "platform", "variables", "is_bold"),
    [
        (True, "linux", {}, True),
        (False, "linux", {}, False),
        (True, "linux", {"NO_COLOR": "1"}, False),
        (True, "linux", {"TERM": "dumb"}, False),
        (True, "win32", {}, False),
        (True, "win32", {"WT_SESSION": "1"}, True),
    ],
)
def test_headings_are_bold_where_the_output_shows_it(capsys, monkeypatch, is_terminal, platform, variables, is_bold):
    for name in ("NO_COLOR", "TERM", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    printing.section("Title", ["line"])
    assert capsys.readouterr().out == ("\n\x1b[1mTitle\x1b[0m\n  line\n" if is_bold else "\nTitle\n  line\n")


@pytest.mark.parametrize("command", [[sys.executable, "-P", "-m", "pnorm"], ["pnorm"]], ids=["module", "script"])
def test_both_names_of_the_command(command, table):
    if command == ["pnorm"]:
        command = [shutil.which("pnorm", path=sysconfig.get_path("scripts"))]
    done = subprocess.run([*command, table[0], "--label", "no such"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_file_is_ranked(capsys, table, tmp_path):
    path, X, y = table
    out_path, model = tmp_path / "scores.csv", tmp_path / "m.json"
    out = ran(capsys, path, "--label", "bought", "--ignore", "city", "-p", "8", "-t", 50, "--top", 4, "--out", out_path,
              "--holdout", 0, "--details", "--save", model)  # fmt: skip
    names, H = ["visits", "age", "noise"], pnorm.load(model).H
    X = frame_of(table)[names]
    assert max(np.bincount(H.column)) <= 31
    lam, trace = pnorm.train(X[y], X[~y], H, 8, 50)
    f = pnorm.score(X, H, lam)
    with open(out_path) as stream:
        written = list(csv.DictReader(stream))
    assert list(written[0]) == ["row", "score", "probability", "rank", "bought", "reasons"]
    assert [int(line["bought"]) for line in written] == [int(y[int(line["row"])]) for line in written]
    assert [line["rank"] for line in written] == list(map(str, range(1, 61)))
    order = [int(line["row"]) for line in written]
    assert sorted(order) == list(range(60))
    np.testing.assert_array_equal([float(line["score"]) for line in written], f[order])
    assert (np.diff(f[order]) <= 0).all()
    probability = pnorm.probability(X, H, lam, 8, trace.intercept)
    np.testing.assert_array_equal([float(line["probability"]) for line in written], probability[order])

    cells = cells_of(out)
    assert int(cells["positives above every negative"][0]) == pnorm.metrics.positives_at_top(f[y], f[~y])
    assert cells["AUC"][0] == f"{pnorm.metrics.auc(f[y], f[~y]):.3f}"
    top = out.split("Top of the list: 4 rows of 60 training rows\n")[1].splitlines()[1:5]
    assert [int(line.split()[1]) for line in top] == order[:4]
    assert [int(line.split()[4]) for line in top] == [int(y[i]) for i in order[:4]]
    found = pnorm.explain(X, H, lam, reference=X[~y])
    assert (found.contributions < 0).any()
    for line in written:
        parts = found.contributions[int(line["row"])]
        told = [re.fullmatch(r"(\w+) = .* \(([+-].*)\)", part).groups() for part in line["reasons"].split("; ")]
        n_digits = len(told[0][1].partition(".")[2])
        strongest = [j for j in np.argsort(-np.abs(parts), kind="stable") if abs(parts[j]) > 0.5 * 10**-n_digits]
        assert [name for name, _ in told] == [names[j] for j in strongest]
        np.testing.assert_allclose([float(x) for _, x in told], parts[strongest], atol=0.6 * 10.0**-n_digits)
    assert f"{trace.status} after {trace.n_iter} rounds: {trace.message}" in out


def test_columns_of_a_file_are_monotone(capsys, table, tmp_path):
    model = tmp_path / "model.json"
    how = [table[0], "--label", "bought", "--ignore", "city", *QUICK, "--holdout", 0]
    ran(capsys, *how, "--monotone", "visits=-", "--monotone", "age=+", "--save", model)
    found = pnorm.load(model)
    np.testing.assert_array_equal(found.H.signs, np.array([-1, 1, 0])[found.H.column])
    assert (found.lam * found.H.signs >= 0.0).all()
    assert (found.lam * found.H.signs > 0.0).any()


@pytest.mark.parametrize(
    ("labels", "arguments", "n"),
    [
        (["1", "0", "1.0"], [], 2),
        (["+1", "-1", "-1"], [], 1),
        (["Yes", "no", "yes"], [], 2),
        (["won", "lost", "open"], ["--positive", "won"], 1),
        (["2.0", "3", "02"], ["--positive", "2"], 2),
        (["1_0", "10", "١٠"], ["--positive", "10"], 1),
        (["9007199254740993", "9007199254740992", "9007199254740993.0"], ["--positive", "9007199254740993"], 1),
        (["Yes", "maybe", "yes"], ["--positive", "YES"], 2),
    ],
)
def test_which_label_is_positive(capsys, tmp_path, labels, arguments, n):
    path = tmp_path / "t.csv"
    path.write_text("x;label\n" + "".join(f"{i};{label}\n" for i, label in enumerate(labels)), encoding="utf-8")
    assert f"3 rows, {n} positive" in ran(capsys, path, "--label", "label", *arguments)


PLAIN = "x,y\n1,1\n2,0\n"


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (PLAIN, ["--label", "z"], "no column 'z' in FILE; its columns are x, y"),
        (PLAIN, ["--label", "y", "--ignore", "x"], "FILE has no column to learn from except the label 'y'"),
        (PLAIN, ["--label", "y", "--positive", "7"], "no row has the label '7' in column 'y'; its labels are 1 (1), 0 (1)"),
        ("x,y\n1,1\n2,2\n", ["--label", "y"], "column 'y' has the labels 1 (1), 2 (1); name the positive label with --positive"),
        ("x,y\n1,1\n2,1\n", ["--label", "y"], "column 'y' has only one label, 1 (2)"),
        ("x,y\n1,1\n2\n", ["--label", "y"], "line 3 of FILE has 1 field; the header has 2"),
        ("x,x,y\n1,1,1\n", ["--label", "y"], "the column name 'x' appears more than once in FILE; --names A,B,C gives others"),
        ("x,,y\n1,1,1\n", ["--label", "y"], "column 2 of FILE has no name in the header; --names A,B,C gives names"),
        ("1,5\n3,4\n", ["--label", "y"], "no column 'y' in FILE; its columns are column 1, column 2"),
        ("x,y\n", ["--label", "y"], "FILE has a header and no rows"),
        ("x,y\n1,1\n\n2,\n3,0\n4,NA\n", ["--label", "y"], "is missing in line 4 of FILE, and in 2 of 4 rows; rows to train on need one. Add --unlabelled rank"),
        ('x,y\n1,1\n"2,0\n', ["--label", "y"], "line 3 of FILE is not CSV"),
        (PLAIN, ["--label", "y", "--ignore", "y"], "--ignore y is the column of --label"),
        ("", ["--label", "y"], "FILE is empty"),
        (PLAIN, ["--label", "y", "-p", "4,0.5"], "-p must be at least 1 and finite; got 0.5"),
        (PLAIN, ["--label", "y", "-p", "1,4", "-t", "5"], "-t trains in rounds, which take one p, and -p has several"),
        (PLAIN, ["--label", "y", "-t", "-5"], "-t must be zero or more; got -5"),
        (PLAIN, ["--label", "y", "--top", "-1"], "--top must be zero or more; got -1"),
        (PLAIN, ["--label", "y", "--out", "FILE.d/s.csv"], "--out FILE.d/s.csv: no such directory"),
    ],
)  # fmt: skip
def test_what_is_wrong_takes_one_line_and_status_2(capsys, tmp_path, text, arguments, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    err = refused(capsys, path, *[a.replace("FILE", str(path)) for a in arguments])
    assert message.replace("FILE", str(path)) in err


@BATCHES
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize(
    "above",
    [
        ["Date from:,2024-01-01,,", "Date to:,2024-12-31,,"],
        ["Report,2025,Q1,final"],
        ["What we won,,Person,Result"],
        ["Money,Person,Person,Result"],
        ["Export, from CRM", "User, x, y, z, more"],
        ["Title", ""],
    ],
)
def test_the_line_with_the_names_is_looked_for_and_offered(capsys, tmp_path, above, kind, batches):
    body = [f"{'ab'[k % 2]},{'pqr'[k % 3]},x{k % 7},{'yes' if k % 3 else 'no'}" for k in range(60)]
    lines, path = [*above, "city,k,sex,won", *body], tmp_path / f"t.{kind}"
    path.write_text("\n".join(lines))
    if kind == "xlsx":
        pandas.DataFrame([(line + ",,,,,").split(",")[:6] for line in lines]).to_excel(path, header=False, index=False)
    options = ["--label", "won", *QUICK, "--holdout", 0, *batches]
    skip = ["--skip-lines", str(len(above))]
    assert " ".join(skip) in refused(capsys, path, *options)
    assert "60 rows" in ran(capsys, path, *options, *skip, "--save", tmp_path / "m.json")
    assert "skip-lines" not in refused(capsys, path, *options, *skip, "--id", "of")  # it is no help
    assert " ".join(skip) in refused(capsys, path, "--model", tmp_path / "m.json", *batches)


@BATCHES
@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        ("age=-9,-8", 0, "'-9,-8' of --missing in column 'age'. Repeat the option for each: --missing age=-9 --missing age=-8"),
        ("2=999", 0, "'999' of --missing in column 'age'"),
        ("Nothing", 0, "'nothing' of --missing in any column"),
        ("-9", 0, ""),
        ("age=-9", 0, ""),
        ("city=ULM", 0, ""),
        ("years=-9", 2, "no column 'years'"),
        ("won=-9", 2, "--missing names 'won'"),
    ],
)  # fmt: skip
def test_a_word_for_a_missing_value_that_no_row_has_is_told(capsys, tmp_path, given, status, told, batches):
    path = tmp_path / "t.csv"
    rows = "".join(f"{k % 7},{k % 9 - 9},{'Rome' if k % 4 else 'Ulm'},{k % 3 % 2}\n" for k in range(90))
    path.write_text("size,age,city,won\n" + rows)
    found, out, err = run(capsys, path, "--label", "won", *QUICK, "--holdout", 0, f"--missing={given}", *batches)
    assert found == status
    assert told in flat(out + err)
    assert ("of --missing" in out) == bool(told and not status)


def test_the_other_sheets_are_named_if_the_first_has_no_table(capsys, tmp_path):
    with pandas.ExcelWriter(tmp_path / "t.xlsx") as book:
        pandas.DataFrame(["Read me"]).to_excel(book, sheet_name="About", header=False, index=False)
        pandas.DataFrame({"x": range(20), "y": [0, 1] * 10}).to_excel(book, sheet_name="Data", index=False)
    err = refused(capsys, tmp_path / "t.xlsx", "--label", "y")
    assert "'About'" in err
    assert "'Data'" in err
    assert "--sheet" in err


def test_options_of_a_file_without_one(capsys):
    for option in (
        ["--label", "y"],
        ["--top", "3"],
        ["--save", "m.json"],
        ["--model", "m.json"],
    ):
        assert f"{option[0]} needs a FILE" in refused(capsys, *option)


def test_the_standard_input_and_odd_files(capsys, table, tmp_path):
    path, *_ = table
    out, odd = tmp_path / "s.csv", tmp_path / "odd.csv"
    arguments = ["--label", "bought", "--ignore", "city", "-t", "3", "--holdout", "0", "--out", out]
    ran(capsys, path, *arguments)
    expected = pandas.read_csv(out)
    text = "\ufeff" + path.read_text().replace(",", "\t").replace("Oslo", '"a\t\nb"').replace("\n", "\r\n")
    odd.write_bytes(text.encode())
    ran(capsys, odd, *arguments)
    pandas.testing.assert_frame_equal(pandas.read_csv(out), expected)
    data = write(frame_of(table), tmp_path / "leads.parquet").read_bytes()
    command = [sys.executable, "-P", "-m", "pnorm", "-", *arguments]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert b"-: 60 rows, 20 positive (bought = True)" in done.stdout
    pandas.testing.assert_frame_equal(pandas.read_csv(out), expected.assign(bought=expected["bought"] == 1))


def test_a_step_to_a_test_is_named_only_if_rows_can_be_held_out(capsys, tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "few.csv"
    frame = pandas.DataFrame({"x": rng.normal(size=30), "id": np.arange(30) // 15, "y": np.arange(30) > 0})
    learn = (path, "--label", "y", "--positive", "True", "-t", 2)
    for n, is_possible in ((1, False), (2, True)):
        frame["y"] = np.arange(30) >= n
        frame.to_csv(path, index=False)
        steps = ran(capsys, *learn, "--holdout", 0, "--ignore", "id").split("Next steps\n")[1]
        assert ("Test on held-out rows" in steps, "only 1 negative row" in steps) == (is_possible, not is_possible)
        assert (run(capsys, *learn, "--holdout", 0.2)[0] == 0) == is_possible
    by_id = ran(capsys, *learn, "--holdout", 0, "--id", "id").split("Next steps\n")[1]
    assert "Test on held-out rows" not in by_id  # both negative rows have the same id


def test_a_column_that_separates_is_pointed_out(capsys, tmp_path):
    rng = np.random.default_rng(4)
    y = np.arange(400) % 4 == 0
    frame = pandas.DataFrame({"x": rng.normal(size=400), "refund": y * rng.integers(1, 9, 400), "y": y.astype(int)})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    out = ran(capsys, path, "--label", "y", *QUICK)
    assert "warning: refund alone almost separates" in out
    assert "--ignore refund" in out.split("Next steps\n")[1]
    assert "  If refund is known only after the label" in out.split("\nTest on ")[1].partition("\n\n")[0]
    out = ran(capsys, path, "--label", "y", *QUICK, "--ignore", "refund", "--top", 0)
    assert "alone almost separates" not in out
    assert "only after the label" not in out
    assert "Top of the list" not in out


def dated(tmp_path, n=900, gaps=()):
    """A file of rows with dates, of which some are missing."""
    rng = np.random.default_rng(6)
    y = np.arange(n) % 3 == 0
    days = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.permutation(n), "D")
    frame = pandas.DataFrame({"created": days.strftime("%Y-%m-%d"), "x": rng.normal(size=n) + y, "y": y.astype(int)})
    frame.loc[list(gaps), "created"] = ""
    path = tmp_path / "leads of a file with a long name.csv"
    frame.to_csv(path, index=False)
    return path


def next_steps(out):
    """The suggestions, with the words of their commands; sentences are left out."""
    text = re.split(r"Next steps?\n", out)[1]
    found = re.findall(r"^  (\S.*?)(?::\n   |  ) *pnorm (.*)$", text, re.MULTILINE)
    return {what: shlex.split(command) for what, command in found}


def test_next_steps_are_whole_commands_that_replace_no_file(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("pnorm._command.printing._width", lambda: 60)
    path, files = dated(tmp_path), [tmp_path / name for name in ("m.json", "s.csv", "r.html")]
    typed = ["--label", "y", "-p", "1", "-t", "20", "--seed", "3", "--top", "0"]
    steps = next_steps(ran(capsys, path, "--save", files[0], "--out", files[1], f"--report={files[2]}", *typed))
    before = [file.read_bytes() for file in files]
    assert steps["Test on the latest rows"] == [str(path), *typed, "--time", "created"]
    assert steps["Set a cut-off, such as 10 rows"] == [str(path), *typed, "--budget", "10"]
    assert steps["Rank new rows"][1:3] == ["--model", str(files[0])]
    assert "the latest by created" in ran(capsys, *steps["Test on the latest rows"])
    ranked = [str(path), "--model", str(files[0]), "--out", "ranked.csv"]
    assert next_steps(ran(capsys, path, "--model", files[0])) == {"Write the scores of all rows": ranked}
    assert [file.read_bytes() for file in files] == before


def compared_file(tmp_path, effect, n=800, noise=3):
    """A file of numbers of which the logit of the label is `effect`."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 2 + noise))
    y = rng.random(n) < 1 / (1 + np.exp(1.0 - effect(X)))
    path = tmp_path / "numbers.csv"
    frame = pandas.DataFrame(X, columns=["a", "b", *[f"n{k}" for k in range(noise)]])
    frame.assign(y=y.astype(int)).to_csv(path, index=False)
    return path


def test_a_list_that_is_no_better_than_others_says_so(capsys, tmp_path):
    path, page = tmp_path / "numbers.csv", tmp_path / "r.html"
    compared_file(tmp_path, lambda X: 1.2 * np.sign(X[:, 0]))
    frame = pandas.read_csv(path)
    frame.assign(kind=np.random.default_rng(0).choice(["u", "v"], len(frame))).to_csv(path, index=False)
    out = ran(capsys, path, "--label", "y", *QUICK, "--report", page)
    (told,) = re.findall(
        "The test does not show that this list is better than the linear model[^.]*simpler[.]", flat(out)
    )
    assert read(page).count(told) == 1
    words = next_steps(out)["Use a alone, which may do as well"]
    assert words[-2:] == ["--only", "a"]
    assert not any(what.startswith("Use a alone") for what in next_steps(ran(capsys, *words)))

    path = compared_file(tmp_path, lambda X: 2.0 * X[:, 0] ** 2 - 2.0 * X[:, 1] ** 2, n=1500)  # no line, no column
    out = ran(capsys, path, "--label", "y", *QUICK)
    assert not any(said in out for said in ("does not show", "may do as well"))


@pytest.mark.parametrize(
    ("gaps", "more", "is_step"),
    [
        ([], [], True),
        ([1], [], False),
        ([4], [], False),
        ([], ["--time", "created"], False),
        ([], ["--holdout", 0], False),
    ],
)
def test_a_column_of_dates_without_gaps_leads_to_a_test_on_the_latest_rows(capsys, tmp_path, gaps, more, is_step):
    out = ran(capsys, dated(tmp_path, gaps=gaps), "--label", "y", *QUICK, *more)  # gaps in training, or held out
    assert ("Test on the latest rows" in out) == is_step


def test_a_column_that_a_model_needs_is_named(capsys, tmp_path):
    path, new, model = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.json"
    rng, y = np.random.default_rng(0), np.arange(200) % 4 == 0
    table = {"x": y + rng.normal(size=200), "z": rng.normal(size=200), "kind": rng.choice(["a", "b"], 200)}
    frame = pandas.DataFrame(table | {"y": y.astype(int)})
    frame.to_csv(path, index=False)
    ran(capsys, path, "--label", "y", *QUICK, "--holdout", 0, "--save", model)
    for changed, told in (
        (frame.rename(columns={"x": "X"}), " 'x' which the model needs; did you mean 'X'?"),
        (frame.drop(columns="kind"), " 'kind' which the model needs. Add it, empty if it is unknown"),
        (frame.drop(columns=["x", "kind"]), "s 'x', 'kind' which the model needs. Add them, empty if they are unknown"),
    ):
        changed.to_csv(new, index=False)
        for more in ((), BATCHED):
            assert f"{model} does not fit {new}: the file lacks the column{told}" in refused(
                capsys, new, "--model", model, *more
            )
    assert f"no column 'x' in {new}, the file of --test" in refused(capsys, path, "--label", "y", "--test", new)
    frame.assign(x="", kind="").to_csv(new, index=False)
    out = flat(ran(capsys, new, "--model", model))
    assert all(f"{name} is missing in 100.0 % of the rows" in out for name in ("x", "kind"))
    pnorm.save(model, [1.0, 2.0], pnorm.rankers.columns(frame[["x", "z"]]))  # takes no missing values
    frame[["x"]].to_csv(new, index=False)
    assert "Add it" not in refused(capsys, new, "--model", model)


@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize("is_good", [True, False])
def test_one_column_that_is_as_good_is_told(is_good, push):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4 == 0
    f = rng.normal(size=400) + 1.5 * y
    order = np.argsort(f if push == "bottom" else -f, kind="stable")
    alone = f.copy()
    if not is_good:  # its first rows are misses
        alone[[k for k in order if y[k] == (push == "bottom")][:9]] = 9.0 if push == "top" else -9.0
    lists = {"linear model": rng.normal(size=400), "age alone": alone}
    measured = quality(f[y], f[~y], {name: (g[y], g[~y]) for name, g in lists.items()}, push=push)
    (of,) = measured.further
    hits = measured.measure("hits", of.depth)
    assert (of.other, of.depth * of.value) == ("age alone", pytest.approx(hits.value - hits.others[1]))
    assert of.value.low <= of.value <= of.value.high
    average = measured.measure("average_precision")
    is_told = re.search(r"age alone (\d+ rows: )?[+−0]", flat(" ".join(printing.quality_lines(measured)))) is not None
    assert is_told == (is_good or of.value.low <= 0 or average.others[1] >= average.value)


def test_a_list_of_noise_is_said_to_be_one(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path, page = tmp_path / "noise.csv", tmp_path / "r.html"
    frame = pandas.DataFrame(rng.normal(size=(800, 3)), columns=["a", "b", "c"])
    told, how = "better than a random order", [path, "--label", "y", *fixed(0.01)]
    noise = (rng.random(800) < 0.3).astype(int)
    for y in (noise, (rng.random(800) < 1 / (1 + np.exp(1 - 2 * frame["a"]))).astype(int)):
        frame.assign(y=y).to_csv(path, index=False)
        out = ran(capsys, *how, "--report", page)
        assert (told in out.split("\nTest on ")[1].split("\n\n")[0]) == (told in read(page)) == (y is noise)
        assert bool(re.search(r"rank .* probability", out)) == (y is not noise)
        words = {word for words in next_steps(out).values() for word in words}
        assert bool({"--budget", "--save", "--model"} & words) == (y is not noise)
    frame.assign(y=noise).to_csv(path, index=False)
    assert told in ran(capsys, *how, "--budget", 10).split("\nCut-off\n")[1]


def test_ids_of_several_rows_are_to_be_kept_together(capsys, tmp_path):
    rng, path, model = np.random.default_rng(0), tmp_path / "t.csv", tmp_path / "m.json"
    y = np.arange(600) % 4 == 0
    table = {"x": rng.normal(size=600) + y, "order": [f"A{k}" for k in range(600)], "y": y.astype(int)}
    for name, steps in (
        ("Client Nr.", {"Keep the rows of an id together": "Client Nr."}),
        ("client", {"Show the id of each row": "order"}),
    ):
        pandas.DataFrame(table | {name: [f"C{k // 3}" for k in range(600)]}).to_csv(path, index=False)
        out = ran(capsys, path, "--label", "y", *QUICK, "--save", model)
        assert {what: of[-1] for what, of in next_steps(out).items() if of[-2] == "--id"} == steps
    hint = "To test the list: --label y\n"
    assert hint in ran(capsys, path, "--model", model)
    assert hint not in ran(capsys, path, "--model", model, "--label", "y")


def test_the_sheets_of_a_workbook_without_the_label_are_named(capsys, tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "t.xlsx"
    with pandas.ExcelWriter(path) as workbook:
        pandas.DataFrame({"note": ["read me"]}).to_excel(workbook, sheet_name="Info", index=False)
        pandas.DataFrame({"x": [1, 2], "y": [0, 1]}).to_excel(workbook, sheet_name="Rows", index=False)
    err = refused(capsys, path, "--label", "y")
    assert all(told in err for told in (f"no column 'y' in {path}", "'Info'", "'Rows'", "--sheet"))


def test_another_list_that_is_better_beyond_chance_comes_with_a_warning():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 4 == 0
    f, g = rng.normal(size=2000) + 0.5 * y, rng.normal(size=2000) + 3.0 * y
    for scores, is_better in ((g, True), (f - 1e-9 * np.arange(2000), False)):
        measured = quality(f[y], f[~y], {"other": (f[y], f[~y]), "x alone": (scores[y], scores[~y])})
        assert (texts(verdicts(measured, None), "better") != []) == is_better
        text = flat(" ".join(printing.quality_lines(measured)))
        assert (re.search(r" x alone −\d+ \([^()]*\) worse ", text) is not None) == is_better


def test_the_first_probabilities_are_checked_in_the_terminal_and_in_the_report(capsys, tmp_path):
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "b"])
    frame["y"] = (rng.random(1000) < 1.0 / (1.0 + np.exp(1.0 - 1.5 * frame["a"]))).astype(int)
    path, page, model, empty = (tmp_path / name for name in ("t.csv", "r.html", "m.json", "e.csv"))
    frame.to_csv(path, index=False)
    frame.assign(y=frame["y"].astype("Int64").where(frame.index >= 100)).to_csv(empty, index=False)
    learned = path, *fixed(1e-3), "--save", model
    ranked = empty, "--model", model, "--unlabelled", "rank"  # among these rows are training rows
    for words, rows in ((learned, "test rows"), (ranked, "rows")):
        out = ran(capsys, *words, "--label", "y", "--top", 60, "--report", page)
        told = re.search(rf"probabilities of the first 60 {rows} sum to [\d.]+[^;]*; \d+ are positive", flat(out))
        assert told[0] in read(page)


def test_a_cutoff_is_told_with_what_it_promises():
    pos, neg = np.arange(20.0, 60.0), np.arange(0.5, 50.0)
    for asked in ({"precision": 0.99}, {"recall": 0.99}):
        failed = pnorm.cutoff(pos, neg, **asked)
        told = " ".join(cutoffs.cutoff_lines(failed))
        assert told.startswith("No cut-off guarantees ")
        assert f" {failed._at()} or more" in told
        assert f"at least {100 * failed.promised:.4g} %" in told
    for asked in ({"precision": 0.5}, {"recall": 0.5}, {"budget": 20}):
        found = pnorm.cutoff(pos, neg, **asked)
        assert " ".join(cutoffs.cutoff_lines(found)).startswith(f"Take rows with a score of {found._at()} or more")
    f = -np.arange(1000.0)
    told = " ".join(cutoffs.cutoff_lines(pnorm.cutoff(f, y=np.arange(1000) % 3 > 0, precision=0.8)))
    assert tells(told, "the first 22 held-out rows, of which 14 are positive. --at-least ROWS")
    assert "--at-least" not in " ".join(cutoffs.cutoff_lines(pnorm.cutoff(f, y=np.arange(1000) > 500, recall=0.9999)))


def test_a_budget_that_equal_scores_leave_unused_says_so():
    f, y = np.repeat([9.0, 5.0, 1.0], [43, 50, 907]), np.arange(1000) % 2 == 0
    for budget, is_told in ((100, True), (93, False)):
        found = pnorm.cutoff(f, y=y, budget=budget, of=1000)
        assert ("takes 93 held-out rows and not 100" in " ".join(cutoffs.budget_notes(found, budget, True))) == is_told


@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 10), (1, 200), (200, 1)])
def test_one_row_of_a_class_never_shows_that_a_list_is_any_good(n_pos, n_neg):
    measured = quality(np.arange(n_pos) + 0.99 * n_neg, np.arange(n_neg))
    assert not measured.beats_chance
    assert texts(verdicts(measured, None), "few")[0].endswith("rows or more, so that 5 are held out.")


def test_rows_that_a_model_was_trained_on_are_recognised(capsys, tmp_path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    frame["y"] = (rng.random(400) < 1 / (1 + np.exp(-frame["a"]))).astype(int)
    path, again, new, part, model, page = (
        tmp_path / name for name in ("t", "again", "new", "part", "m.json", "r.html")
    )
    frame.to_csv(path, index=False)
    ran(capsys, path, "--label", "y", *QUICK, "--save", model)
    frame.sample(frac=1, random_state=0).to_csv(again, index=False)
    frame.assign(a=rng.normal(size=400)).to_csv(new, index=False)
    frame[:150].to_csv(part, index=False)
    told, how = "contains rows that the model was trained on", ["--model", model, "--label", "y"]
    for file, more in ((again, []), (part, ["--report", page]), (part, BATCHED), (new, []), (new, BATCHED)):
        assert (f"warning: the file {told}" in flat(ran(capsys, file, *how, *more))) == (file != new)
    shown_page = flat(re.sub("<[^>]*>", " ", read(page)))
    assert f"The file {told}" in shown_page
    assert "held-out rows" not in shown_page.lower()
    about = json.loads(model.read_text())
    del about["metadata"]["training_scores"]  # as in a model of before
    model.write_text(json.dumps(about))
    assert "a file that is called t too" in flat(ran(capsys, path, *how))
    assert "warning" not in ran(capsys, again, *how)


@BATCHES
def test_other_labels_can_be_set_apart(capsys, tmp_path, batches):
    rng = np.random.default_rng(0)
    path, out_path = tmp_path / "t.csv", tmp_path / "o.csv"
    labels = np.array(["Yes", "yes", "No", "no", "pending", ""])[np.arange(600) % 6]
    x = rng.normal(size=600) + np.isin(labels, ["Yes", "yes"])
    pandas.DataFrame({"x": x, "y": labels}).to_csv(path, index=False)
    how = [path, "--label", "y", *QUICK, "--holdout", 0, *batches]
    err = refused(capsys, *how)
    if not batches:
        assert all(told in err for told in ("in 100 of 600 rows", "pending (100)", "--positive", "--unlabelled rank"))
    out = ran(capsys, *how, "--positive", "yes", "--unlabelled", "rank")
    assert sorted(re.search(r"\n  negative: (.*)\n", out)[1].split(", ")) == ["No (100)", "no (100)", "pending (100)"]
    out = ran(capsys, *how, "--negative", "no", "--unlabelled", "rank", "--out", out_path)
    assert out.startswith(f"{path}: 400 rows with a label, 200 positive (y = Yes or yes), 50 %\n")
    written = pandas.read_csv(out_path, keep_default_na=False)
    assert sorted(written["y"]) == sorted(labels)
    assert (written["labelled"] == written["y"].isin(["Yes", "yes", "No", "no"])).all()
    refused(capsys, *how, "--negative", "no")
    assert "leave --negative out" in refused(capsys, *how, "--negative", "no", "--unlabelled", "negative")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_words_of_a_printed_command_can_be_pasted():
    words = ["a b", "it's", "x\ny", "\x1b[31m'\\", "\u202eé", "$HOME", ""]
    line = pasted(*words)
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == words


def test_constant_columns(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,0\n1,1\n")
    assert "--kind" not in refused(capsys, path, "--label", "y")  # no kind would make it of use
    for rows, is_of_use in ((range(50), False), ([max(k, 3) for k in range(50)], True)):
        path.write_text("id,y\n" + "".join([f"t{row},{k % 2}\n" for k, row in enumerate(rows)]))
        assert ("--kind COLUMN=category" in refused(capsys, path, "--label", "y")) == is_of_use
    ran(capsys, path, "--label", "y", "--kind", "id=category", *QUICK)


def test_help_and_version(capsys):
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit) as exit_:
            main([option])
        assert exit_.value.code == 0
    out = capsys.readouterr().out
    assert pnorm.__version__ in out
    assert "--positive" in out
    assert max(map(len, out.splitlines())) <= 100
    kinds = re.search(r"the kinds are(.*?), or the levels", out, re.DOTALL)[1].replace(" and ", ", ")
    assert {word.strip() for word in kinds.split(",")} == {kind.replace(" ", "-") for kind in options.WISHES}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another error for it")
def test_a_closed_pipe_is_no_error(table):
    path, *_ = table
    command = [sys.executable, "-P", "-m", "pnorm", path, "--label", "bought", "--ignore", "city", "-t", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


# Files

WAYS = ["the name", "another spelling", "a symbolic link", "a hard link", "a link to nothing yet"]


@each_value()
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [("--out", "FILE"), ("--save", "FILE"), ("--out", "MODEL"), ("--save", "--out")])
def test_no_file_of_the_command_replaces_another(capsys, table, tmp_path, options, way):
    path, *_ = table
    model, new, other = tmp_path / "model.json", tmp_path / "new", tmp_path / "other"
    pnorm.save(model, [1.0], pnorm.rankers.columns(pandas.DataFrame({"age": [1.0]})))
    option, what = options
    target = {"FILE": path, "MODEL": model, "--out": new}[what]
    if target == new and way == "a hard link":
        new.touch()
    if way == "the name":
        other = target
    elif way == "another spelling":
        other = f"{tmp_path}/../{tmp_path.name}/./{target.name}"
    elif way == "a hard link":
        other.hardlink_to(target)
    else:
        other.symlink_to(target)
    before = {each: each.read_bytes() for each in tmp_path.iterdir() if each.exists()}
    arguments = ["--model", model] if what == "MODEL" else ["--label", "bought"]
    if what == "--out":
        arguments += ["--out", new]
    message = {"FILE": "the input", "MODEL": "the model", "--out": "the file of --out"}[what]
    err = refused(capsys, path, "--ignore", "city", *arguments, option, other)
    assert f"{option} {other} would overwrite {message}" in err
    assert {each: each.read_bytes() for each in tmp_path.iterdir() if each.exists()} == before


_FORKED = """
import json, os, sys
from pnorm._command import printing, progress
from pnorm._command.main import main
from pnorm._command.terminal import pasted
write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
for folder, words, source, target in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for stream, (name, how) in enumerate([(source, os.O_RDONLY), (target, write), ("errors", write)]):
            os.dup2(os.open(name, how), stream)
        status = main(words)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
"""Runs the command on streams of its own, many times for one import."""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_streams_are_files_too_and_devices_are_shared(tmp_path):
    cases = [
        ("- --label y --out t.csv < t.csv > seen", "--out t.csv would overwrite the input"),
        ("t.csv --label y --save seen < t.csv > seen", "--save seen would overwrite the standard output"),
        (
            "t.csv --label y --out /dev/stdout --save seen < t.csv > seen",
            "--save seen would overwrite the file of --out",
        ),
        ("- --label y --out /dev/stdout < t.csv > seen", None),
        ("t.csv --label y --out seen --save m.json < t.csv > seen", None),
        ("/dev/stdin --label y --out /dev/null --save m.json < t.csv > /dev/null", None),
    ]
    jobs = []
    for k, (line, _) in enumerate(cases):
        (tmp_path / str(k)).mkdir()
        (tmp_path / str(k) / "t.csv").write_text("x,y\n1,1\n0,0\n2,0\n")
        *words, _, source, _, target = line.split()
        jobs.append((str(tmp_path / str(k)), ["-t", "1", *words], source, target))
    command = [sys.executable, "-P", "-c", _FORKED, json.dumps(jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for k, ((line, message), status) in enumerate(zip(cases, done.stdout.split(), strict=True)):
        folder = tmp_path / str(k)
        errors = (folder / "errors").read_text()
        assert (int(status), errors.count("\n")) == ((0, 0) if message is None else (2, 1)), line
        assert (message or "") in errors
        assert (folder / "t.csv").read_text() == "x,y\n1,1\n0,0\n2,0\n"
        if "m.json" in line:
            assert pnorm.load(folder / "m.json").H.column_names == ("x",)
        if "seen" in line and message is None:
            assert "row,score,probability,rank,y,reasons\n" in (folder / "seen").read_text()


# What steers a terminal

HOSTILE = "\x1b]0 title\x07\x1b[2J\r\nrow\x0b\x7f\x85\x9b1m\u2028\u202e\u2066\u200f\u061c\ufeff"


def printable(text):
    return text.replace("\n", "").isprintable()


@pytest.mark.skipif(sys.platform == "win32", reason="no such names of files")
def test_names_and_labels_from_a_file_do_not_steer_the_terminal(capsys, tmp_path):
    column, label, word = (f"{letter}{HOSTILE}" for letter in "xyz")
    path, model = tmp_path / f"t{HOSTILE}.csv", tmp_path / f"m{HOSTILE}.json"
    rows = [[column, "b", label], *([str(i % 7), str(i % 5), word if i % 3 else "no"] for i in range(30))]

    def tried(*arguments, changed=rows, expected=2):
        with open(path, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(changed)
        status, out, err = run(capsys, path, *arguments)
        assert status == expected, err
        assert printable(out)
        assert printable(err)
        assert err.count("\n") == (status == 2)
        return out + err

    learn, of_columns = ["--label", label, "--positive", word, "--save", model], ["-t", "9"]
    out = tried(*learn, *of_columns, "--out", tmp_path / f"o{HOSTILE}", "--id", column, expected=0)
    assert "\\x1b" in out.split("Top of the list")[1]
    assert r"y\x1b]0 title\x07\x1b[2J\r\nrow" in tried(*learn, *of_columns, expected=0)
    about = pnorm.load(model)
    assert about.H.column_names == (column, "b")  # as they are
    assert (about.metadata["label"], about.metadata["positive"]) == (label, [word])
    tried("--model", model, "--label", label, "--positive", word, expected=0)
    separate = [[str(int(row[2] == word)), "0", row[2]] for row in rows[1:]]
    out = tried("--label", label, "--positive", word, *QUICK, changed=[rows[0], *separate * 4], expected=0)
    assert "alone almost separates" in out

    tried("--label", label)
    tried("--label", label, "--positive", HOSTILE)
    tried("--label", f"no{HOSTILE}")
    tried("--label", label, "--ignore", f"no{HOSTILE}")
    tried("--label", label, "--ignore", column, "--ignore", "b")
    tried("--model", model, changed=[row[1:] for row in rows])
    tried("--model", path)
    tried("--model", tmp_path / f"none{HOSTILE}")
    tried(*learn, "--out", tmp_path / HOSTILE / "o")
    tried(*learn, "--out", path)
    for first in (HOSTILE, "1e999"):
        how = [*learn[:4], "--kind", f"{column}=number", "-t", "2", "--holdout", "0"]
        assert "not read as a number" in flat(tried(*how, changed=[rows[0], [first, "1", word], *rows[1:]], expected=0))
    tried(*learn, changed=[*rows, ["1", "1", ""]])
    tried(*learn, changed=[[column, column, label], *rows[1:]])
    tried(*learn, changed=[*rows, ["1"]])
    tried(HOSTILE, *learn)
    for wrong in (["--unlabelled", HOSTILE], ["-t", HOSTILE], ["--label", "y", HOSTILE]):
        with pytest.raises(SystemExit) as exit_:
            main([str(path), *wrong])
        assert exit_.value.code == 2
        assert printable(capsys.readouterr().err)


def test_a_very_long_name_is_not_printed_whole(capsys, tmp_path):
    path, model, name = tmp_path / "t.csv", tmp_path / "m.json", "x" * 10**5
    text = f"{name}1,{name}2,{name}\n" + "".join(f"{i % 7},{i % 5},{name if i % 3 else 'no'}\n" for i in range(30))
    path.write_text(text)
    learn = [path, "--label", name, "--positive", name, "-t", 20]
    for arguments, expected in (
        ([*learn, "--save", model], 0),
        ([path, "--model", model], 0),
        ([path, "--model", model, "--ignore", f"{name}1"], 2),
        ([path, "--label", name], 2),
        ([path, "--label", f"{name}1"], 2),
        ([*learn, "--ignore", name + "3"], 2),
        ([*learn, "--out", path / name], 2),
    ):
        status, out, err = run(capsys, *arguments)
        assert status == expected
        assert len(out + err) < 10**4
    path.write_text(text.replace("6,", "9" * 10**5 + ","))
    assert len(run(capsys, *learn)[2]) < 1000


# Parquet and Arrow


def frame_of(table):
    path, X, y = table
    columns = {"visits": X[:, 0], "age": X[:, 1], "noise": X[:, 2], "city": ["Oslo"] * len(y), "bought": y}
    return pandas.DataFrame(columns)


def write(frame, path):
    arrow = frame if isinstance(frame, pyarrow.Table) else pyarrow.Table.from_pandas(frame)
    if path.suffix in (".feather", ".arrow"):
        feather.write_feather(arrow, path)
    else:
        parquet.write_table(arrow, path, row_group_size=7)
    return path


def test_parquet_and_arrow_files_are_ranked_as_csv_is(capsys, table, tmp_path):
    path, *_ = table
    arguments = ["--label", "bought", "-t", 9, "--out", tmp_path / "scores.csv"]
    ran(capsys, path, *arguments)
    expected = pandas.read_csv(tmp_path / "scores.csv")
    expected["bought"] = expected["bought"].astype(bool)  # labels are written as they are read
    (tmp_path / "other").mkdir()
    for name in ("leads.PQ", "leads.arrow", "leads.csv"):  # the last is Parquet too
        other = write(frame_of(table), tmp_path / "other" / name)
        assert f"{other}: 60 rows, 20 positive (bought = True)" in ran(capsys, other, *arguments)
        pandas.testing.assert_frame_equal(pandas.read_csv(tmp_path / "scores.csv"), expected, check_exact=True)


def test_the_index_of_a_frame_names_rows_and_is_not_learned_from(capsys, table, tmp_path):
    frame, path = frame_of(table).assign(lead=np.arange(60) ** 2), tmp_path / "leads.parquet"
    how, scores = [path, "--label", "bought", *QUICK, "--holdout", 0], tmp_path / "scores.csv"
    frame[frame["visits"] < 1e9].to_parquet(path, index=True)  # an index without a name
    assert "__index" not in ran(capsys, *how)
    frame.set_index("lead").to_parquet(path)
    for more, told in (
        ([], "not used"),
        (["--id", "lead", "--out", scores], "id"),
        (["--only", "visits,lead", "--kind", "lead=number"], "number"),
    ):
        assert re.search(rf"^  lead +{told}( |$)", ran(capsys, *how, *more), re.MULTILINE)
    assert set(pandas.read_csv(scores)["lead"]) == set(frame["lead"])


WORDS = pyarrow.array(["won", "lost", "won", "open"])


@pytest.mark.parametrize(
    ("labels", "arguments", "shown"),
    [
        (WORDS.cast(pyarrow.large_string()), ["--positive", "Won"], "won"),
        (WORDS.dictionary_encode(), ["--positive", "won"], "won"),
        (pyarrow.array([True, False, True, False]), [], "True"),
        (pyarrow.array([1, -1, 1, -1], pyarrow.int8()), [], "1"),
        (pyarrow.array([1.0, 0.0, 1.0, 0.0]).dictionary_encode(), [], "1.0"),
        (pyarrow.array(["Yes", "no", "yes", "no"]), [], "Yes or yes"),
    ],
)
def test_labels_of_all_kinds(capsys, tmp_path, labels, arguments, shown):
    path = write(pyarrow.table({"x": [4.0, 1.0, 3.0, 2.5], "y": labels}), tmp_path / "t.parquet")
    out = ran(capsys, path, "--label", "y", "-t", 1, "--holdout", 0, *arguments)
    assert f"4 rows, 2 positive (y = {shown})" in out


def test_numbers_of_all_kinds(capsys, tmp_path):
    numbers, model = np.tile([4, 1, 3, 2], 9), tmp_path / "model.json"
    columns = {
        "half": pyarrow.array(numbers.astype(np.float16)),
        "whole": pyarrow.array(numbers, pyarrow.uint8()),
        "decimal": pyarrow.array([Decimal(f"{x}.00") for x in numbers]),
        "levels": pyarrow.array(numbers.astype(float)).dictionary_encode(),
        "text": pyarrow.array(["4", " 1.0", "3", "+2"] * 9),
        "flag": numbers > 2,
    }
    path = write(pyarrow.table({**columns, "y": [1, 0, 1, 0, 0, 1] * 6}), tmp_path / "t.feather")
    ran(capsys, path, "--label", "y", "-t", 5, "--save", model)
    kinds = {of.name: of.kind for of in pnorm.load(model).H.plan}
    assert kinds == dict.fromkeys(columns, "number") | {"flag": "boolean", "levels": "category"}


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ({"x": [[1], [2]], "y": [1, 0]}, [], "no column can be used (x: values of type list<"),
        ({"x": [1, 2], "y": ["a", "?"]}, ["--positive", "a"], "the label 'y' is missing in row 1 of FILE"),
        ({"x": [1, 2], "z": [1, 0]}, [], "no column 'y' in FILE; its columns are x, z"),
        ({"x": pyarrow.array([], pyarrow.float64()), "y": pyarrow.array([], pyarrow.int8())}, [], "no rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table(capsys, tmp_path, columns, arguments, message):
    path = write(pyarrow.table(columns), tmp_path / ("t.feather" if arguments else "t.parquet"))
    assert message.replace("FILE", str(path)) in refused(capsys, path, "--label", "y", *arguments)


def test_columns_that_are_not_needed_are_not_read(capsys, tmp_path):
    columns = {"x": [1.0, 2.0, 3.0], "y": [0, 1, 1], "a.b": [1, 1, 0], "text": list("abc")}
    frame = pandas.DataFrame(columns, pandas.Index([5, 9, 2], name="n"))
    path, model = write(frame, tmp_path / "t.parquet"), tmp_path / "m.json"
    ran(capsys, path, "--label", "y", "--ignore", "text", "--save", model, "-t", 1)
    assert pnorm.load(model).H.column_names == ("x", "a.b")  # and not the index


def test_damaged_files(capsys, table, tmp_path):
    whole = write(frame_of(table), tmp_path / "t.parquet").read_bytes()
    for name, data, told in (
        ("cut.parquet", whole[:-50], "no Parquet file"),
        ("cut", whole[:100], "no Parquet file"),
        ("no.feather", b"x,y\n1,2\n", "no Arrow file"),
        ("cut.arrow", b"ARROW1" + whole, "no Arrow file"),
        ("empty.parquet", b"", "empty"),
    ):
        (tmp_path / name).write_bytes(data)
        assert f"{tmp_path / name} is {told}" in refused(capsys, tmp_path / name, "--label", "y")


def test_without_pyarrow_the_extra_is_named(capsys, table, tmp_path, monkeypatch):
    path = write(frame_of(table), tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert 'pip install "pnorm-push[parquet]"' in refused(capsys, path, "--label", "bought")
    ran(capsys, table[0], "--label", "bought", "--ignore", "city", "-t", 1, "--holdout", 0)


def test_imports_of_the_command_are_what_it_needs(table):
    words = [str(table[0]), "--label", "bought", "--ignore", "city", "-t", "1"]
    code = (
        "import sys, pnorm._command.main\n"
        "sys.modules['sklearn'] = None  # which imports pandas\n"
        f"assert pnorm._command.main.main({words!r}) == 0\n"
        "assert not {'pyarrow', 'pandas', 'polars'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)


# Models


def test_a_model_with_a_push_at_the_bottom(capsys, table, tmp_path):
    (path, X, y), model = table, tmp_path / "model.json"
    lam, _ = pnorm.train(X[y], X[~y], None, 16, 40, push="bottom")
    f = X @ lam
    H = pnorm.rankers.columns(frame_of(table)[["visits", "age", "noise"]])
    pnorm.save(model, pnorm.ScoringFunction(lam, H, 16, {"push": "bottom"}))
    out = ran(capsys, path, "--label", "bought", "--ignore", "city", "--top", 4, "--model", model)
    assert "with p = 16 at the bottom" in flat(out)
    assert cells_of(out)["negatives below every positive"][0] == str(pnorm.metrics.positives_at_top(-f[~y], -f[y]))
    lines = re.split("Bottom of the list.*\n", out)[1].splitlines()[1:5]
    last = zip(range(60, 56, -1), np.argsort(f, kind="stable")[:4].tolist(), strict=True)
    assert [tuple(int(word) for word in line.split()[:2]) for line in lines] == list(last)
    assert "--budget takes rows from the top" in refused(capsys, path, "--model", model, "--budget", 5)


def test_what_is_not_given_is_chosen_on_folds(capsys, table, tmp_path):
    path, _, y = table
    model, kinds = tmp_path / "model.json", ["line + cuts", "steps", "lines"]
    how = [path, "--label", "bought", "--holdout", 0, "--ignore", "city", "-p", 1, "--save", model, "--details"]
    out = ran(capsys, *how)
    frame = frame_of(table)[["visits", "age", "noise"]]
    expected = learn(frame[y], frame[~y], Settings(p=1.0))
    loaded = pnorm.load(model)
    np.testing.assert_array_equal(loaded.score(frame), expected.score(frame))
    found = expected.cross_validation
    chosen = loaded.metadata["chosen"]
    assert (chosen["kind"], chosen["folds"], chosen["points"]) == (expected.kind, 5, found.mean.size)
    assert chosen["partial_auc"] == found.mean[found._best_place]
    lines = [line[2:] for line in out.split("  average precision\n")[1].splitlines()[: len(kinds)]]
    assert [line[2 : 2 + len(kind)] for line, kind in zip(lines, kinds, strict=True)] == kinds
    [star] = [line for line in lines if line.startswith("* ")]
    i, s = found._best_place
    assert f"{found.mean[i, s]:.4f} ± {found.standard_error[i, s]:.4f}" in star
    assert star.split()[-1] == f"{found.second_scores[i, :, s].mean():.4f}"
    for line, kind in zip(lines, kinds, strict=True):
        assert line == star or f"{found.mean[np.array(found.kinds) == kind].max():.4f} ± " in line


def test_a_model_is_saved_and_ranks_other_files(capsys, table, tmp_path):
    path, _, y = table
    model, scores, again = (tmp_path / name for name in ("model.json", "scores.csv", "again.csv"))
    out = ran(capsys, path, "--label", "bought", "--ignore", "city", "-p", 8, "-t", 40, "--out", scores,
              "--save", model, "--holdout", 0)  # fmt: skip
    assert f"\n  model: {model}\n" in out
    loaded = pnorm.load(model)
    f = loaded.score(frame_of(table))
    assert loaded.p == 8
    assert loaded.intercept == pytest.approx(pnorm.intercept(f[y], f[~y], 8), rel=1e-12)
    assert [loaded.metadata[name] for name in ("label", "positive", "file")] == ["bought", ["1"], "leads.csv"]

    frame = frame_of(table)
    np.testing.assert_array_equal(loaded.score(frame[["city", "noise", "age", "visits"]]), f)
    few = write(frame[["noise", "age", "visits"]], tmp_path / "few.arrow")
    for other in (path, write(frame, tmp_path / "leads.parquet"), few):
        out = ran(capsys, other, "--model", model, "--out", again, "--top", 3)
        columns = ["row", "score", "probability", "rank"]
        one, two = (pandas.read_csv(written)[columns] for written in (again, scores))
        pandas.testing.assert_frame_equal(one, two, check_exact=True)
        assert out.startswith(f"{other}: 60 rows\n  ranked by {model}, trained with p = 8, on 60 rows of leads.csv")
        lines = out.split("Top of the list: 3 rows of 60\n")[1].splitlines()[1:4]
        assert [int(line.split()[1]) for line in lines] == np.argsort(-f, kind="stable")[:3].tolist()
    cells = cells_of(ran(capsys, path, "--model", model, "--label", "bought"))
    assert int(cells["positives above every negative"][0]) == pnorm.metrics.positives_at_top(f[y], f[~y])
    assert cells["AUC"][0] == f"{pnorm.metrics.auc(f[y], f[~y]):.3f}"


def test_a_model_of_python_ranks_a_file(capsys, tmp_path):
    rows = {"age": [31.0, np.nan, 60.0, 20.0], "town": ["Ulm", "Bonn", "Ulm", "Bonn"], "id": [7, 8, 9, 10]}
    rows, numbers, words = pandas.DataFrame(rows), ["age"], ["town"]
    H = pnorm.rankers.quantile_thresholds(rows[numbers][:2], rows[numbers][2:], missing="own")
    H = H + pnorm.rankers.categories(rows[words][:2], rows[words][2:])
    lam = np.arange(1.0, len(H) + 1)
    model, scores, path = tmp_path / "model.json", tmp_path / "scores.csv", tmp_path / "rows.csv"
    pnorm.save(model, lam, H)
    rows.to_csv(path, index=False)
    ran(capsys, path, "--model", model, "--out", scores)
    written = pandas.read_csv(scores).set_index("row")["score"]
    np.testing.assert_array_equal(written.sort_index(), pnorm.score(rows, H, lam))
    pnorm.save(model, [1.0, 2.0])
    by_position = tmp_path / "two.csv"
    by_position.write_text("a;b;c\n1;2;0\n3;4;1\n")
    ran(capsys, by_position, "--model", model, "--ignore", "c", "--out", scores)
    assert (
        scores.read_text()
        == "row,score,rank,reasons\n1,11.0,1,x1 = 4 (+2.00); x0 = 3 (+1.00)\n0,5.0,2,x1 = 2 (-2.00); x0 = 1 (-1.00)\n"
    )
    err = refused(capsys, by_position, "--model", model)
    assert f"{model} does not fit {by_position}: X has 3 columns; these weak rankers were made for 2" in err
    pnorm.save(model, [1e308, 1e308])
    assert "more than a double holds" in refused(capsys, by_position, "--model", model, "--ignore", "c")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "MODEL", "-p", "4"], "-p is an option of learning, and --model does not learn"),
        (["--model", "MODEL", "--save", "MODEL"], "--save is an option of learning"),
        (["--model", "MODEL", "--monotone", "x=+"], "--monotone is an option of learning"),
        (["--model", "MODEL", "--positive", "1"], "--positive needs the labels of the rows. Add --label COLUMN"),
        (["--model", "none.json"], "none.json: No such file or directory"),
        (["--model", "FILE"], "FILE is no model: it is not JSON"),
        (["--model", "MODEL", "--ignore", "x"], "MODEL does not fit FILE: the file lacks the column 'x'"),
        (["--model", "MODEL", "--label", "u"], "the label 'u' is missing in line 2 of FILE; rows to measure the list by need one. The only label is 1 (1)"),
        (["--model", "MODEL", "--id", "T"], "no column 'T' in FILE; did you mean 't'?"),
        (["--model", "TEXT"], "TEXT does not fit FILE: column 't' has 'Ulm' (str) in line 2 of FILE"),
        (["--model", "HOLE"], "HOLE does not fit FILE: column 'u' has nan in line 2 of FILE"),
        (["--label", "y", "--save", "FILE.d/m.json"], "--save FILE.d/m.json: no such directory"),
        (["--label", "y", "--save", "a.json", "--out", "a.json"], "--save a.json would overwrite the file of --out"),
        (["--label", "y", "--out", "FOLDER"], "--out FOLDER is a directory"),
        (["--label", "y", "--save", "/dev/null"], "is a folder or a device"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_model(capsys, tmp_path, arguments, message):
    path, folder = tmp_path / "t.csv", tmp_path / "folder"
    folder.mkdir()
    path.write_text("x,y,t,u\n1,1,Ulm,\n2,0,Ulm,1\n")
    places = {"FILE": path, "FOLDER": folder}
    for name, column in (("MODEL", "x"), ("TEXT", "t"), ("HOLE", "u")):
        places[name] = tmp_path / f"{name.lower()}.json"
        pnorm.save(places[name], [1.0], pnorm.rankers.columns(pandas.DataFrame({column: [1.0, 2.0]})))
    for name, place in places.items():
        arguments = [a.replace(name, str(place)) for a in arguments]
        message = message.replace(name, str(place))
    if "y" in arguments:
        arguments += ["--ignore", "t", "--ignore", "u"]
    status, _, err = run(capsys, path, *arguments)
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
    assert path.read_text().startswith("x,y")


def test_a_header_that_begins_as_a_packed_file_does(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("BZh1,y\n1,1\n2,0\n3,1\n4,0\n")
    ran(capsys, path, "--label", "y", "-t", 1)


def test_cells_of_any_length_are_shown_short(capsys, tmp_path):
    path, long = tmp_path / "t.csv", "x" * 100_000 + "\n\x1b[2J" + "y" * 100_000
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["a", "t", "y"], [1, long, long], [2, "Ulm", "no"], [3, long, long]])
    pnorm.save(tmp_path / "m.json", [1.0], pnorm.rankers.columns(pandas.DataFrame({"t": [1.0]})))
    for arguments in (
        ["--label", "y"],
        ["--label", "y", "--ignore", "t", "--positive", long],
        ["--label", "y", "--ignore", "t", "--positive", long + "z"],
        ["--label", "y", "--positive", "no"],
        ["--label", "t", "--positive", "Ulm", "--ignore", "y"],
        ["--model", tmp_path / "m.json"],
    ):
        _, out, err = run(capsys, path, *arguments)
        assert out + err
        assert "\x1b" not in out + err
        assert max(map(len, (out + err).splitlines())) < 500


# The whole job


def mixed(n=600, seed=0):
    """A table of transactions, with an id, a date, text, missing values, and a column known after the outcome."""
    rng = np.random.default_rng(seed)
    amount, hour = np.exp(rng.normal(3.0, 1.0, n)), rng.integers(0, 24, n)
    country = rng.choice(["DE", "FR", "NG"], n, p=[0.6, 0.3, 0.1])
    y = rng.random(n) < 1.0 / (1.0 + np.exp(2.5 - 1.2 * (np.log(amount) - 3.0) - 2.0 * (country == "NG")))
    when = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(np.arange(n) * 6 + hour / 24, unit="h")
    frame = pandas.DataFrame({
        "tx": [f"=T{i:05d}" if i % 2 else f"T{i:05d}" for i in range(n)], "booked": when.strftime("%Y-%m-%d %H:%M"),
        "amount": amount.round(2), "country, home": country, "age": rng.integers(18, 90, n).astype(float),
        "fraud": np.where(y, "yes", "no"),
    })  # fmt: skip
    frame.loc[::7, "age"] = np.nan
    return frame


@pytest.fixture
def transactions(tmp_path):
    frame, path = mixed(), tmp_path / "tx.csv"
    frame.to_csv(path, index=False)
    return path, frame


def test_the_page_says_what_it_is_of_and_numbers_rows_as_the_terminal(capsys, transactions, tmp_path):
    page = tmp_path / "r.html"
    for more in ([], ["--holdout", 0]):
        out = ran(capsys, transactions[0], "--label", "fraud", "--report", page, *QUICK, *more)
        listed = re.findall(r"^ +\d+ +(\d+) +-?\d+\.\d+ ", out, re.MULTILINE)
        assert len(listed) == 10
        assert re.findall(r"row (\d+)<", read(page))[:10] == listed
        assert ("No row is held out" in out) == ("are from training rows" in read(page)) == bool(more)


def test_the_command_does_the_whole_job(capsys, transactions, tmp_path):
    path, frame = transactions
    model, out_path, page = tmp_path / "m.json", tmp_path / "s.csv", tmp_path / "r.html"
    arguments = ["--label", "fraud", "--id", "tx", "--budget", 20, "--of", 200, "--seed", 3, "--top", 5, *QUICK]
    out = ran(capsys, path, *arguments, "--save", model, "--out", out_path, "--report", page)
    loaded, written = pnorm.load(model), pandas.read_csv(out_path, keep_default_na=False)
    assert list(written) == ["tx", "score", "probability", "rank", "take", "held_out", "fraud", "reasons"]
    assert written["rank"].tolist() == list(range(1, 601))
    assert set(written["tx"]) == {f"'{tx}" if tx.startswith("=") else tx for tx in frame["tx"]}
    by_id = written.assign(tx=written["tx"].str.lstrip("'")).set_index("tx").loc[frame["tx"]]
    f, y, held = by_id["score"].to_numpy(), (frame["fraud"] == "yes").to_numpy(), by_id["held_out"].to_numpy() == 1
    np.testing.assert_array_equal(f, loaded.score(frame))
    np.testing.assert_array_equal(by_id["take"] == 1, loaded.predict(frame))
    assert abs(held[y].mean() - 0.2) < 0.01
    assert abs(held[~y].mean() - 0.2) < 0.01
    expected = pnorm.cutoff(f[held & y], f[held & ~y], budget=20, of=200)
    assert (loaded.cutoff.asked, loaded.cutoff.score) == ("budget", expected.score)
    assert f"Test on {held.sum()} held-out rows, {(held & y).sum()} of them positive\n" in out
    cells, sides = cells_of(out), (f[held & y], f[held & ~y])
    assert cells["AUC"][0] == f"{pnorm.metrics.auc(*sides):.3f}"
    assert cells["precision in the first 12"][0] == f"{pnorm.metrics.precision_at(*sides, 12):.3f}"
    order = np.flatnonzero(held)[np.argsort(-f[held], kind="stable")][:5]
    _, top = re.split("\n  rank .*", out.split(f"Top of the list: 5 rows of {held.sum()} held-out rows\n")[1])
    top = [line.split() for line in top.splitlines()[1:6]]
    assert [int(words[1]) for words in top] == order.tolist()
    assert [words[2] for words in top] == frame["tx"].to_numpy()[order].tolist()
    assert f"Cut-off\n  Take rows with a score of {expected._at()} or more" in out
    assert "Positive means: fraud = yes." in read(page)

    n = (f >= expected.score).sum()
    on_labels = f"Of the {n} rows taken that have labels, "
    assert on_labels not in read(page)  # these rows chose the cut-off
    how = ["--model", model, "--id", "tx", "--out"]
    out = ran(capsys, path, *how, tmp_path / "again.csv", "--label", "fraud", "--report", page)
    assert on_labels in flat(out)
    assert on_labels in read(page)
    again = pandas.read_csv(tmp_path / "again.csv", keep_default_na=False)
    columns = ["tx", "score", "rank", "take"]
    pandas.testing.assert_frame_equal(again[columns], written[columns])
    assert "probability" not in again  # the test finds them wrong
    assert "without probabilities" in flat(out)
    out = run(capsys, path, *how, tmp_path / "plain.csv")[1]
    plain = pandas.read_csv(tmp_path / "plain.csv", keep_default_na=False)
    pandas.testing.assert_frame_equal(plain[[*columns, "probability"]], written[[*columns, "probability"]])
    assert f"Cut-off\n  Take {n} of 600 rows" in out
    assert "For exactly 20 rows: --budget 20" in flat(out)


# Rows without a label


def gaps(frame, every=5):
    """The rows with some labels taken out, and which rows have one."""
    has_label = np.arange(len(frame)) % every != 2
    return frame.assign(fraud=frame["fraud"].where(has_label, "")), has_label


def scores_of(path, key="tx"):
    found = pandas.read_csv(path, keep_default_na=False)
    return found.assign(**{key: found[key].astype(str).str.lstrip("'")}).set_index(key)


TIME, ALL = ["--time", "booked"], ["--holdout", 0]


@pytest.mark.parametrize(
    ("batches", "kind", "more"), [([], "csv", TIME), (BATCHED, "csv", TIME), (BATCHED, "parquet", ALL)]
)
def test_rows_without_a_label_are_ranked_by_a_list_of_the_others(capsys, tmp_path, batches, kind, more):
    frame, has_label = gaps(mixed())
    frame["tx"] = frame["tx"].str.lstrip("=")  # no formulas
    arguments = ["--label", "fraud", "--id", "tx", *QUICK, *more, *batches]
    path, out, expected = tmp_path / f"tx.{kind}", tmp_path / "all.csv", tmp_path / "some.csv"
    if kind == "parquet":
        frame.assign(fraud=frame["fraud"].replace("", None)).to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    refused(capsys, path, *arguments)
    text = ran(capsys, path, *arguments, "--unlabelled", "rank", "--out", out)
    assert text.startswith(f"{path}: {has_label.sum()} rows with a label, ")
    assert f"  {(~has_label).sum()} more rows have no label" in text
    frame[has_label].to_csv(tmp_path / "labelled.csv", index=False)
    ran(capsys, tmp_path / "labelled.csv", *arguments, "--out", expected)
    found, own = scores_of(out), scores_of(expected)
    assert set(found.index) == set(frame["tx"])
    assert sorted(found["rank"]) == list(range(1, len(frame) + 1))
    np.testing.assert_array_equal(found["labelled"].loc[frame["tx"]] == 1, has_label)
    np.testing.assert_allclose(found["score"].loc[own.index], own["score"], rtol=1e-6, atol=1e-9)
    assert ("held_out" in found) == (more[0] == "--time")
    if "held_out" in found:
        np.testing.assert_array_equal(found["held_out"].loc[own.index], own["held_out"])
        assert not found["held_out"].loc[frame["tx"]].to_numpy()[~has_label].any()


def test_an_empty_label_can_mean_negative(capsys, tmp_path):
    frame, path = mixed(), tmp_path / "t.csv"
    arguments = [path, "--label", "fraud", "--id", "tx", *QUICK, "--holdout", 0, *BATCHED]
    frame.to_csv(path, index=False)
    ran(capsys, *arguments, "--out", tmp_path / "a.csv")
    only = frame.assign(fraud=frame["fraud"].replace({"no": "", "yes": "chargeback of 2026"}))  # any word
    only.to_csv(path, index=False)
    assert "use --unlabelled negative" in refused(capsys, *arguments)
    assert "has one label and no negative row" in refused(capsys, *arguments, "--unlabelled", "rank")
    text = ran(capsys, *arguments, "--unlabelled", "negative", "--out", tmp_path / "b.csv")
    n = (only["fraud"] == "").sum()
    assert text.startswith(f"{path}: 600 rows, {600 - n} positive (fraud = chargeback of 2026)")
    assert f"  {n} rows have no label, which counts as negative\n" in text
    written = [pandas.read_csv(tmp_path / name).drop(columns="fraud") for name in ("a.csv", "b.csv")]
    pandas.testing.assert_frame_equal(*written, check_exact=True)
    for word, option, told in (("no", "negative", "only one label, no ("), ("", "rank", "has no labels")):
        frame.assign(fraud=word).to_csv(path, index=False)
        assert told in refused(capsys, *arguments, "--unlabelled", option)


def test_a_test_and_a_measure_of_rows_of_which_some_have_no_label(capsys, transactions, tmp_path):
    path, _ = transactions
    new, has_label = gaps(mixed(300, seed=1))
    new.to_csv(tmp_path / "new.csv", index=False)
    new[has_label].to_csv(tmp_path / "labelled.csv", index=False)
    new.assign(fraud=new["fraud"].replace("", "no")).to_csv(tmp_path / "filled.csv", index=False)
    model, out, page, n = tmp_path / "m.json", tmp_path / "o.csv", tmp_path / "r.html", (~has_label).sum()
    for option, same, which in (("rank", "labelled.csv", "more rows"), ("negative", "filled.csv", "rows")):
        how, parts = ["--label", "fraud", "--unlabelled", option, *BATCHED], []
        for name in ("new.csv", same):
            test = ran(capsys, path, *how, *QUICK, "--test", tmp_path / name, "--save", model)
            measured = ran(capsys, tmp_path / name, "--model", model, *how, "--budget", 20, "--out", out)
            line = r"^  (?:precision|average|AUC|partial|recall).*$"
            parts.append([re.findall(line, text, re.MULTILINE) for text in (test, measured)])
            if name == "new.csv":
                assert f"{n} {which} of {tmp_path / name} have no label" in test
                assert f"{n} {which} have no label" in measured
                written = scores_of(out, "row")
                assert (len(written), sum(written["take"])) == (300, 20)
                assert ("labelled" in written) == (option == "rank")
        assert all(map(len, parts[0]))
        assert parts[0] == parts[1]
    ran(capsys, tmp_path / "new.csv", "--model", model, *how[:2], "--unlabelled", "rank", "--report", page)
    assert f"Measured on {has_label.sum()} " in read(page)


def test_terminal_page_and_saved_model_compare_rows_with_the_same_average(capsys, transactions, tmp_path):
    path, frame = transactions
    model, out, page, part = tmp_path / "m.json", tmp_path / "s.csv", tmp_path / "r.html", tmp_path / "part.csv"
    frame[300:].to_csv(part, index=False)  # the effects do not depend on the other rows of the file
    how = ["--label", "fraud", "--id", "tx", "--out", out, "--report", page]
    learn = [path, "--save", model, *QUICK]
    told = "compared with the average negative training row."
    for k, more in enumerate((learn, [part, "--model", model])):
        text, own = ran(capsys, *more, *how), scores_of(out)
        assert told in flat(text)
        assert told in read(page)
        if k == 0:
            loaded, training = pnorm.load(model), (own["held_out"].loc[frame["tx"]] == 0).to_numpy()
            others = frame[training & (frame["fraud"] == "no")]
            effects = pnorm.explain(frame, loaded.H, loaded.lam, reference=others).contributions
            effects = dict(zip(frame["tx"], effects, strict=True))
        for tx, reasons in own["reasons"].items():
            of_row = [float(x) for x in re.findall(r"\(([+-][\d.]+)\)", reasons)]
            strongest = effects[tx][np.argsort(-np.abs(effects[tx]), kind="stable")[: len(of_row)]]
            np.testing.assert_allclose(of_row, strongest, atol=0.05)
            assert 1 <= len(of_row) <= 3
    assert own["reasons"].str.contains(r"\(-").any()


def test_the_ids_keep_the_name_of_their_column(capsys, transactions, tmp_path):
    path, frame = transactions
    out = tmp_path / "s.csv"
    for name, written, more in (("score", "id", []), ("rank", "id", BATCHED), ("Deal no.", "Deal no.", [])):
        frame.rename(columns={"tx": name}).to_csv(path, index=False)
        ran(capsys, path, "--label", "fraud", "--id", name, "--out", out, "-t", 2, "--holdout", 0, *more)
        header = out.read_text().splitlines()[0].split(",")
        assert header[:2] == [written, "score"]
        assert len(set(header)) == len(header)


def test_other_rows_to_test_on(capsys, transactions, tmp_path):
    path, frame = transactions
    later, model, whole = tmp_path / "later.csv", tmp_path / "m.json", tmp_path / "whole.csv"
    frame[:450].to_csv(path, index=False)
    frame[450:].to_csv(later, index=False)
    frame.to_csv(whole, index=False)
    out = ran(capsys, path, "--label", "fraud", "--test", later, *QUICK, "--save", model)
    y, f = (frame["fraud"] == "yes").to_numpy()[450:], pnorm.load(model).score(frame)[450:]
    assert f"Test on 150 rows of {later}, {y.sum()} of them positive\n" in out
    by_time = ran(capsys, whole, "--label", "fraud", "--time", "booked", "--holdout", 0.25, *QUICK)
    assert tells(by_time, "Test on 150 held-out rows, the latest by booked")
    for text in (out, by_time):
        assert cells_of(text)["AUC"][0] == f"{pnorm.metrics.auc(f[y], f[~y]):.3f}"
    for changed, message in (
        (frame[450:].drop(columns="age"), f"no column 'age' in {later}, the file of --test"),
        (frame[450:].assign(fraud="no"), f"column 'fraud' of {later} has only one label, no (150)"),
    ):
        changed.to_csv(later, index=False)
        assert message in refused(capsys, path, "--label", "fraud", "--test", later, *QUICK)


def test_which_columns_are_learned_from(capsys, transactions, tmp_path):
    path, frame = transactions
    model = tmp_path / "m.json"

    def learned(*more):
        ran(capsys, path, "--label", "fraud", "-t", 1, "--holdout", 0, *more, "--save", model)
        return {of.name: of.kind for of in pnorm.load(model).H.plan if of.rankers}

    for more, names in (
        ([], {"booked", "amount", "country, home", "age"}),
        (["--ignore", "country, home"], {"booked", "amount", "age"}),
        (["--ignore", "booked", "--ignore", 5], {"amount", "country, home"}),
        (["--only", "amount,age"], {"amount", "age"}),
    ):
        assert set(learned(*more)) == names
    assert learned("--only", "age", "--kind", "age=category") == {"age": "category"}
    assert learned("--only", "country, home", "--kind", "country, home=DE,FR,NG") == {"country, home": "ordered"}
    frame.to_csv(path, index=False, header=False)
    assert set(learned("--label", 6)) == {"column 2", "column 3", "column 4", "column 5"}
    assert set(learned("--names", "tx,booked,amount,land,age,fraud", "--only", "land")) == {"land"}


def test_a_category_of_rare_values_that_is_asked_for_is_warned_of(capsys, tmp_path):
    frame, path = mixed(), tmp_path / "spend.csv"
    frame.assign(zip=np.arange(len(frame)) // 2).to_csv(path, index=False)
    for kind in ("category", "number"):
        out = ran(capsys, path, "--label", "fraud", "-t", 1, "--holdout", 0, "--kind", f"zip={kind}")
        assert bool(re.search("warning: .*: zip[.]", out)) == (kind == "category")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "country, home=number"], "column 'country, home' has 'DE' in line "),
        (["--kind", "age"], "--kind needs a column and a kind, as in zip=category or size=S,M,L; got 'age'"),
        (["--kind", "age=numbers"], "--kind has no kind 'numbers', which is given to 'age'; did you mean number? The"),
        (["--kind", "age=number", "--kind", "5=category"], "--kind names 'age' twice, as 5 as well"),
        (["--kind", "tx=number", "--ignore", "tx"], "--kind names 'tx', which is not a column to learn from"),
        (["--monotone", "agee=+"], "no column 'agee' in FILE; did you mean 'age'?"),
        (["--monotone", "age"], "--monotone needs a column and a sign, as in income=+ or age=-; got 'age'"),
        (["--monotone", "age=+", "--monotone", "age=-"], "--monotone gives both signs to 'age'"),
        (["--only", "age", "--ignore", "age"], "--only and --ignore both name 'age'"),
        (["--id", "fraud"], "--id fraud is the label"),
        (["--budget", "20", "--recall", "0.5"], "--recall and --budget both choose a cut-off"),
        (["--budget", "200"], "must be less than the 120 rows held out; got 200. If a list has more rows, say so with --of"),
        (["--out", "-"], "--out needs the name of a file; got -"),
        (["--budget", "20", "--holdout", "0"], "--budget needs held-out rows"),
        (["--of", "20"], "--of is the length of the list for --budget"),
        (["--at-least", "20", "--recall", "0.5"], "--at-least says where the tests of --precision begin, and --recall does"),
        (["--at-least", "20"], "Add --precision SHARE"),
        (["--at-least", "0.2", "--precision", "0.5"], "or a share of them, as in 20%; got '0.2'"),
        (["--at-least", "100%", "--precision", "0.5"], "or a share of them, as in 20%; got '100%'"),
        (["--at-least", "120", "--precision", "0.5"], "--at-least must be less than the 120 held-out rows; got 120"),
        (["--precision", "80"], "--precision must be a share, above 0 and below 1; got 80"),
        (["--holdout", "20"], "--holdout must be a share of the rows, 0 or more and below 1; got 20"),
        (["--time", "country, home"], "column country, home must hold dates, times or numbers"),
        (["--time", "booked", "--holdout", "0"], "--time holds out the latest rows, and --holdout 0 holds out none"),
        (["--test", "FILE", "--time", "booked"], "and --test names another file"),
        (["--test", "FILE.none"], "FILE.none: No such file or directory"),
        (["--save", "FILE", "--report", "FILE2"], "--save FILE would overwrite the input"),
        (["--save", "FILE2", "--report", "FILE2"], "--save FILE2 would overwrite the file of --report"),
        (["--sheet", "two"], "FILE is not a workbook, so it has no sheet two"),
        (["--positive", "no", "--positive", "no"], "--positive has 'no' twice"),
        (["--positive", "yes", "--negative", "Yes"], "--positive and --negative both have 'yes'"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit(capsys, transactions, arguments, message):
    path, _ = transactions
    arguments = [argument.replace("FILE", str(path)) for argument in arguments]
    assert message.replace("FILE", str(path)) in refused(capsys, path, "--label", "fraud", *QUICK, *arguments)


@pytest.mark.parametrize(("given", "option"), [("--pos-label=won", "--positive"), ("--budgett", "--budget")])
def test_an_unknown_option_names_the_one_that_is_meant(capsys, given, option):
    with pytest.raises(SystemExit) as exit_:
        main(["leads.csv", "--label", "bought", given, "x"])
    assert exit_.value.code == 2
    assert f"unrecognized arguments: {given} x; did you mean {option}?" in capsys.readouterr().err


@pytest.fixture(scope="module")
def deals(tmp_path_factory):
    """A file of deals with five labels, 120 rows of each."""
    path = tmp_path_factory.mktemp("deals") / "deals.csv"
    labels = np.array(["won", "won back", "lost", "gone, for good", "open"])[np.arange(600) % 5]
    x = np.random.default_rng(5).normal(size=600) + np.char.startswith(labels, "won")
    pandas.DataFrame({"x": x, "stage": labels}).to_csv(path, index=False)
    return path


HOW = ["--label", "stage", *QUICK, "--holdout", 0]
BOTH_WON = ["--positive", "won", "--positive", "Won back"]
BOTH_LOST = ["--negative", "lost", "--negative", "gone, for good", "--unlabelled", "rank"]


@BATCHES
def test_several_labels_are_positive_or_negative(capsys, tmp_path, deals, batches):
    """Also with a saved model, which has them."""
    model = tmp_path / "model.json"
    all_rows = "600 rows, 240 positive (stage = won or won back), 40 %\n"
    some = "480 rows with a label, 240 positive (stage = won or won back), 50 %\n"
    spellings = ["--positive", "Won"] if batches else []
    for more, of_labels, told in ((spellings, [], all_rows), (BOTH_LOST, BOTH_LOST, some)):
        out = ran(capsys, deals, *HOW, *BOTH_WON, *more, *batches, "--save", model)
        assert out.startswith(f"{deals}: {told}")
        assert "--positive won --positive 'Won back'" in out.split("Next steps")[1]
        assert json.loads(model.read_text())["metadata"]["positive"] == ["won", "won back"]
        of_model = ran(capsys, deals, "--model", model, "--label", "stage", *of_labels, *batches)
        assert of_model.startswith(f"{deals}: {told}")
    assert "120 more rows have no label" in of_model
    other = ran(
        capsys, deals, "--model", model, "--label", "stage", "--positive", "open", "--positive", "won", *batches
    )
    assert "240 positive (stage = open or won), 40 %\n" in other


@BATCHES
def test_each_label_that_is_named_occurs(capsys, tmp_path, deals, batches):
    """Rows of --test may lack some of them."""
    err = refused(capsys, deals, *HOW, *BOTH_WON, "--positive", "win", *batches)
    assert tells(err, "no row has the label 'win' in column 'stage'; its labels are ")
    assert all(f"{label} (120)" in err for label in ("gone, for good", "lost", "open", "won", "won back"))
    err = refused(capsys, deals, *HOW, *BOTH_WON, *BOTH_LOST, "--negative", "left", *batches)
    assert tells(err, "no row has the label 'left' of --negative")
    some = tmp_path / "some.csv"
    table = pandas.read_csv(deals)
    table[table["stage"].isin(["won", "lost"])].to_csv(some, index=False)
    assert "Test on 240 rows of " in ran(capsys, deals, *HOW[:-2], *BOTH_WON, *BOTH_LOST, *batches, "--test", some)


@BATCHES
@pytest.mark.parametrize(
    ("words", "of_test"),
    [
        (["> 50K", "<= 50K"], [">50k.", "<=50K."]),
        (["won", "lost"], ["gewonnen", "verloren"]),
        (["yes", "no"], ["1", "0"]),
        (["1", "0"], ["TRUE", "FALSE"]),
    ],
)
def test_labels_of_two_files_in_other_words(capsys, tmp_path, words, of_test, batches):
    paths = [tmp_path / "train.csv", tmp_path / "test.csv"]
    for path, (yes, no) in zip(paths, [words, of_test], strict=True):
        path.write_text("k,x,y\n" + "".join(f"{k},{k % 7},{no if k % 3 else yes}\n" for k in range(60)))
    how = [paths[0], "--test", paths[1], "--label", "y", *QUICK, *batches]
    both = ["--positive", words[0], "--positive", of_test[0]]
    if words[0] != "> 50K":
        err = refused(capsys, *how, *both[:2])
        assert f"{pasted(*both[:2])} --positive LABEL" in err
        assert all(f"{label} (" in err for label in of_test)
        assert "has the label 'of'" in refused(capsys, *how, *both, "--positive", "of")
    for given in [both[:2], both[2:]] if words[0] == "> 50K" else [both]:
        assert "Test on 60 rows of " in flat(ran(capsys, *how, *given)).split(", 20 of them positive")[0]


def test_numbers_that_may_be_codes_or_mean_missing_are_named_with_their_options(capsys, tmp_path):
    path, rng = tmp_path / "t.csv", np.random.default_rng(0)
    table = {"home zip": (10_000, 10_080), "plz": (80_000, 80_040), "age": (18, 90), "debt": (0, 60), "y": (0, 2)}
    table = pandas.DataFrame({name: rng.integers(*ends, 400) for name, ends in table.items()})
    table.loc[::20, "age"], table.loc[::9, "debt"] = 999, -1
    table.to_csv(path, index=False)
    how = [path, "--label", "y", "-t", 1, "--holdout", 0]
    out = ran(capsys, *how)
    assert tells(out, "--kind 'home zip=category' or --ignore 'home zip' (the same for plz)\n")
    assert "--missing=999 --missing=-1\n" in out
    assert re.search("  age +number +73 +999 in 20 rows, and no other value above 89\n", out)
    out = ran(capsys, *how, "--missing=999", "--missing=-1", "--kind", "home zip=category", "--ignore", "plz")
    assert "holds codes" not in out
    assert "mean missing" not in out
    assert re.search(r"  age +number +72 +20\n", out)


@pytest.mark.parametrize(("slope", "is_told"), [(4.0, True), (0.0, False)])
def test_a_trend_of_time_that_matters_has_a_note(capsys, tmp_path, slope, is_told):
    rng, path = np.random.default_rng(0), tmp_path / "t.csv"
    day, x = np.sort(rng.integers(730, size=1500)), rng.normal(size=1500)
    y = rng.random(1500) < 1.0 / (1.0 + np.exp(0.5 - x - slope * (day / 730 - 0.5)))
    how = [path, "--label", "y", "--time", "booked", *QUICK]
    booked = np.datetime64("2023-01-01") + day if is_told else day
    pandas.DataFrame({"booked": booked, "x": x, "y": y.astype(int)}).to_csv(path, index=False)
    assert ("(to leave it out: --ignore booked)" in ran(capsys, *how)) is is_told


def test_a_label_that_no_row_has_is_told_before_missing_labels(capsys, tmp_path, deals):
    """In batches, the rest of the labels is not known by then."""
    path = tmp_path / "some.csv"
    table = pandas.read_csv(deals)
    table.loc[100:, "stage"] = None
    table.to_csv(path, index=False)
    how = [path, "--label", "stage", "--positive", "won bakc"]
    assert "did you mean 'won back'?" in refused(capsys, *how)
    assert "is missing in line 102 of" in refused(capsys, *how, *BATCHED)


def test_ids_in_several_rows_get_a_note(capsys, tmp_path):
    """Also with a model and with --test; in several files, the places have their names."""
    folder, model, scores = tmp_path / "rows", tmp_path / "m.json", tmp_path / "s.csv"
    folder.mkdir()
    x = np.random.default_rng(3).normal(size=300)
    table = pandas.DataFrame({"lead": [f"L{k}" for k in range(300)], "x": x, "y": (x > 0.5).astype(int)})

    def written(path, changed):
        table.assign(lead=[changed.get(k, name) for k, name in enumerate(table["lead"])]).to_csv(path, index=False)
        return path

    how = ["--label", "y", "--id", "lead", "-t", 1]
    path, later = tmp_path / "t.csv", written(tmp_path / "later.csv", {0: "", 5: "", 9: "L8"})
    written(path, {7: "L1", 9: "L1", 11: "L1", 20: "L19", 40: "L30"})
    note = "  lead: 3 ids are in more than one row: L1 (lines 3, 9, 11, ...), L19 (lines 21, 22), ..."
    assert note in ran(capsys, path, *how, "--save", model, "--out", scores)
    assert (pandas.read_csv(scores).groupby("lead")["held_out"].nunique() == 1).all()
    assert note in ran(capsys, path, "--model", model, "--id", 1)
    out = ran(capsys, path, *how, "--test", later)
    assert note in out
    assert f"  {later}: lead: 1 id is in more than one row: L8 (lines 10, 11); 2 rows have no id" in out
    written(folder / "b.csv", {k: f"M{k}" for k in range(1, 300)})
    written(folder / "a.csv", {})
    out = ran(capsys, folder, *how, "--holdout", 0)
    assert f"1 id is in more than one row: L0 (line 2 of {folder / 'a.csv'}, line 2 of {folder / 'b.csv'})" in out


def money(rows, n_unclear=0, mark=""):
    """A file whose amounts have a decimal point, a tenth of them a comma, and some a mark that may be either."""
    x = np.round(np.random.default_rng(rows).lognormal(6, 1.2, rows), 2)
    words = [f"€{value:,.2f}" for value in x]
    for k in range(rows):
        if mark == "," or (not mark and k % 10 == 3):
            words[k] = words[k][1:].translate(str.maketrans(".,", ",.")) + " €"
        elif not mark and k % 10 == 6 and k // 10 < n_unclear:
            words[k] = f"€{1 + k % 8},{100 + k % 900}"
    return pandas.DataFrame({"Amount": words, "age": np.arange(rows) % 47, "won": (x > 420).astype(int)})


@BATCHES
def test_amounts_with_either_mark_are_read_one_by_one(capsys, tmp_path, batches):
    path, new, model, out = (tmp_path / name for name in ("t.csv", "new.csv", "m.json", "out.csv"))
    for n_unclear, more in ((0, ()), (20, ()), (60, ()), (60, ("--kind", "Amount=decimal-point"))):
        money(600, n_unclear).to_csv(path, index=False)
        text = flat(ran(capsys, path, "--label", "won", *QUICK, "--holdout", 0, *batches, *more, "--save", model))
        assert ("Amount number" in text) == (n_unclear < 60 or more != ())
        is_open = n_unclear > 0 and not more
        assert ("--kind Amount=decimal-point or --kind Amount=decimal-comma" in text) == is_open
    scores = []
    for mark in ".,":
        money(40, mark=mark).drop(columns="won").to_csv(new, index=False)
        ran(capsys, new, "--model", model, *batches, "--out", out)
        scores.append(pandas.read_csv(out, comment="#").sort_values("row")["score"].to_numpy())
    np.testing.assert_array_equal(*scores)


@BATCHES
def test_a_column_left_out_is_named_only_where_its_option_helps(capsys, tmp_path, batches):
    """The last column of text is not, as all of its values are rare; with 12 rows of one value it is."""
    path, x = tmp_path / "t.csv", np.random.default_rng(5).normal(size=600)
    table = pandas.DataFrame({"x": x, "code_id": 7 * np.arange(600), "code": [f"C{k}" for k in range(600)]})
    how = [path, "--label", "y", "-t", 1, "--holdout", 0, *batches]
    for name, value in ((None, None), ("code", "C1"), ("code_id", 7)):
        of = table.copy()
        if name is not None:
            of.loc[:11, name] = value
        of.assign(y=(x > 0.5).astype(int)).to_csv(path, index=False)
        hint = "" if name is None else f" (to use one anyway: --kind {name}=category)"
        assert f"\nColumns left out{hint}\n" in ran(capsys, *how)
    told = ran(capsys, *how, "--kind", f"{name}=category")
    assert f"  {name} " not in told.partition("\nColumns left out")[2].partition("\n\n")[0]


@BATCHES
def test_rows_without_a_label_and_rows_without_a_time_are_counted_apart(capsys, tmp_path, batches):
    """A row without a label is ranked; one with a label and no time is learned from."""
    path, out = tmp_path / "t.csv", tmp_path / "s.csv"
    x = np.random.default_rng(4).normal(size=300)
    table = pandas.DataFrame({"x": x, "day": pandas.date_range("2024-01-01", periods=300).astype(str)})
    table["y"] = (x > 0.5).astype(int).astype(str)
    table.loc[10:40, "day"] = ""
    table.loc[[5, 20, 30], "y"] = ""
    table.to_csv(path, index=False)
    told = ran(capsys, path, "--label", "y", "--time", "day", "--unlabelled", "rank", *QUICK, *batches, "--out", out)
    assert told.startswith(f"{path}: 297 rows with a label, ")
    assert "  3 more rows have no label" in told
    assert "  29 rows have no time in day: trained on, not tested on\n" in told
    assert "missing values" not in told  # which is no change
    assert (pandas.read_csv(out)["labelled"] == 0).sum() == 3


def test_ids_on_both_sides_of_a_time_are_counted(capsys, tmp_path):
    path, x = tmp_path / "t.csv", np.random.default_rng(4).normal(size=300)
    table = pandas.DataFrame({"x": x, "day": pandas.date_range("2024-01-01", periods=300).astype(str)})
    for changed, told in (({299: 298}, None), ({299: 0, 298: 0, 297: 1, 296: 2}, "3 of 59 test ids are ")):
        lead = [f"L{changed.get(k, k)}" for k in range(300)]
        table.assign(lead=lead, y=(x > 0.5).astype(int)).to_csv(path, index=False)
        text = ran(capsys, path, "--label", "y", "--id", "lead", "--time", "day", *QUICK)
        assert ("also in training: with --time" in text) == ((told or "test ids are") in text) == (told is not None)


@pytest.mark.parametrize("again", ["L1", "", None])
def test_scores_of_repeated_ids_have_the_numbers_of_the_rows(capsys, tmp_path, again):
    """Two rows without an id cannot be told apart either. With different ids the numbers are left out."""
    path, model, out = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "s.csv"
    x = np.random.default_rng(3).normal(size=300)
    table = pandas.DataFrame({"lead": [f"L{k}" for k in range(300)], "x": x, "y": (x > 0.5).astype(int)})
    if again is not None:
        table.loc[[7, 9], "lead"] = again
    table.to_csv(path, index=False)
    for how in (["--label", "y", "-t", 2, "--holdout", 0, "--save", model], ["--model", model]):
        told = ran(capsys, path, *how, "--id", "lead", "--out", out)
        found = pandas.read_csv(out, keep_default_na=False)
        assert ("ids repeat" in told) == ("row" in found) == (again is not None)
        if again is not None:
            assert list(found)[:2] == ["lead", "row"]
            assert sorted(found["row"]) == list(range(300))
            assert found["lead"].tolist() == table["lead"].iloc[found["row"]].tolist()


@BATCHES
def test_days_of_a_time_are_read_in_the_order_of_the_option(capsys, tmp_path, batches):
    """Also if the column is not learned from."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + 31 * rng.integers(12, size=400) + rng.integers(10, size=400)
    frame = pandas.DataFrame({"day": days, "x": rng.normal(size=400), "y": rng.integers(2, size=400)})
    frame = frame[frame["day"].dt.day < 13]
    whole, plain = tmp_path / "t.csv", tmp_path / "iso.csv"
    frame.to_csv(plain, index=False)
    frame.assign(day=frame["day"].dt.strftime("%d/%m/%Y")).to_csv(whole, index=False)
    how = ["--label", "y", "--time", "day", *QUICK, *batches]
    assert tells(refused(capsys, whole, *how), "--kind day=day-first or --kind day=month-first")
    expected = ran(capsys, plain, *how).splitlines()[1]
    assert "the latest by day" in expected
    assert ran(capsys, whole, *how, "--kind", "day=day-first", "--ignore", "day").splitlines()[1] == expected


@BATCHES
def test_the_cell_that_is_no_time_is_named(capsys, tmp_path, batches):
    path = tmp_path / "t.csv"
    days = [f"{1 + k % 12:02d}.01.2024" if k % 3 else f"2024-01-{1 + k % 12:02d}" for k in range(60)]
    for k in (4, 9, 11, 20, 33, 41):
        days[k] = f"after {k}"
    pandas.DataFrame({"day": days, "x": range(60), "y": [0, 1] * 30}).to_csv(path, index=False)
    err = refused(capsys, path, "--label", "y", "--time", "day", *QUICK, *batches)
    assert all(told in err for told in (f"'after 4' in line 6 of {path}", "6 of the 60 values", "--kind day=date"))


@pytest.mark.parametrize(("word", "missing"), [("unknown", []), ("1900-01-01", ["--missing", "1900-01-01"])])
def test_rows_without_a_time_are_trained_on_and_not_tested_on(capsys, tmp_path, word, missing):
    """The held-out rows are those of the file without these rows, from which less is learned."""
    frame = mixed()
    frame["tx"] = frame["tx"].str.lstrip("=")
    undated = np.arange(len(frame)) % 7 == 3
    whole, dated, out = tmp_path / "whole.csv", tmp_path / "dated.csv", tmp_path / "out.csv"
    frame.assign(booked=frame["booked"].astype(str).where(~undated, word)).to_csv(whole, index=False)
    frame[~undated].to_csv(dated, index=False)
    arguments = ["--label", "fraud", "--id", "tx", "--time", "booked", *QUICK, *BATCHED, *missing, "--out", out]
    text = ran(capsys, whole, *arguments)
    assert f"  {undated.sum()} rows have no time in booked: trained on, not tested on\n" in text
    found = scores_of(out)
    ran(capsys, dated, *arguments)
    own = scores_of(out)
    np.testing.assert_array_equal(found["held_out"].loc[own.index], own["held_out"])
    n = int(own["held_out"].sum())
    assert f"  {len(frame) - n} training rows, {n} held-out rows" in text
    assert not found["held_out"].loc[frame["tx"][undated]].any()
    assert np.abs(found["score"].loc[own.index] - own["score"]).max() > 1e-6


def orders(path, n=1500):
    """A file with a word among numbers, first in line 2, a label that nothing tells of, and rows without a date."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10 == 5
    ages = [f"{x:.1f}" for x in rng.normal(50, 15, n)]
    ages = ["unknown" if k % 50 == 0 or k in (305, 415) else age for k, age in enumerate(ages)]
    days = pandas.date_range("2023-01-02", periods=n, freq="D").strftime("%Y-%m-%d")
    frame = pandas.DataFrame({"age": ages, "day": days, "town": rng.choice(["Rome", "Oslo"], n), "back": y.astype(int)})
    frame["day"] = frame["day"].where(np.arange(n) % 15 != 3)
    frame.to_csv(path, index=False, sep=";")
    return frame


@BATCHES
def test_the_first_word_among_numbers_is_named_with_the_options(capsys, tmp_path, batches):
    path = tmp_path / "orders.csv"
    n = int((orders(path)["age"] == "unknown").sum())
    learn = (path, "--label", "back", "--holdout", 0, "-t", 1, *batches)
    told = flat(ran(capsys, *learn))
    assert f"warning: age: {n} values do not read" in told
    assert f"all are 'unknown', first in line 2 of {path}" in told
    assert tells(told, "--missing unknown; to keep it as a level: --kind age=category")
    for more in (["--missing", "unknown"], ["--missing", "age=unknown"], ["--kind", "age=category"]):
        assert "warning: age" not in ran(capsys, *learn, *more)
    assert f"warning: age: {n} values do not read" in flat(ran(capsys, *learn, "--missing", "town=unknown"))
    path.write_text(read(path).replace("unknown", "n.d.", 2), encoding="utf-8")
    told = flat(ran(capsys, *learn))
    assert f"'n.d.' (line 2 of {path}), 'unknown' (line 102 of {path})" in told
    assert "--missing unknown --missing n.d." in told


def test_the_warnings_of_the_page_are_printed(capsys, tmp_path):
    """In the words of the page."""
    path, page = tmp_path / "orders.csv", tmp_path / "r.html"
    orders(path)
    told = flat(ran(capsys, path, "--label", "back", "--time", "day", "-p", "1,4", "--report", page, "--top", 0))
    section = read(page).split('<section id="warnings"')[1].split("<h3>Notes</h3>")[0]
    said = [html.unescape(re.sub("<[^>]*>", "", of)) for of in re.findall(r"<li>(.*?)</li>", section, re.DOTALL)]
    assert len(said) >= 2
    assert [warning for warning in said if warning.removesuffix(".") not in told] == []
    assert f"There are {len(said)} warnings" in read(page)
    assert any("cross-validation" in warning for warning in said)


@BATCHES
def test_the_number_of_a_row_is_explained_where_it_has_no_id(capsys, tmp_path, batches):
    """With the line of the first row, unless the file would have to be read again for it."""
    path, model, workbook = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "t.xlsx"
    x = np.random.default_rng(4).normal(size=300)
    frame = pandas.DataFrame({"lead": [f"L{k}" for k in range(300)], "x": x, "y": (x > 0.5).astype(int)})
    frame.to_csv(path, index=False)
    frame.to_excel(workbook, index=False)
    learning, ranking = ["--label", "y", "-t", 2, "--holdout", 0, "--save", model], ["--model", model]
    for file, how, place in ((path, learning, "line {}"), (path, ranking, "line {}"), (workbook, ranking, "row {}")):
        if batches and file is workbook:
            continue
        told = flat(ran(capsys, file, *how, *batches))
        row = int(re.search(r"Top of the list.*? 1 +(\d+) ", told)[1])
        assert "counted from 0" in told
        assert (f"row {row} is {place.format(row + 2)}" in told) == (not batches)
        assert "counted from 0" not in ran(capsys, file, *how, *batches, "--id", "lead")


def test_labels_to_choose_from_are_counted(capsys, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text("id,wrong,kind,same\n1,no,a,1\n2, no ,b,1\n3,yes,c,1\n4,,a,1\n")
    err = refused(capsys, path)
    assert "--label is missing" in err
    assert tells(err, "Columns with two values in the first 4 rows: wrong (2 no, 1 yes).")
    assert tells(refused(capsys, path, "--label", "kind"), "name the positive label with --positive")
    assert "a (2), b (1), c (1)" in refused(capsys, path, "--label", "kind")
    path.write_text("id,kind\n1,a\n2,b\n3,c\n")
    assert "The columns are id, kind." in refused(capsys, path)
    path.write_text("x,id\n" + "".join(f"{k},t{k}\n" for k in range(99)))
    assert "labels are many" in refused(capsys, path, "--label", "id")
    assert tells(refused(capsys, "no-such.csv"), "no-such.csv: No such file or directory")


class Stream(io.StringIO):
    def isatty(self):
        return True


def test_an_error_is_wrapped_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    whole, stream = refused(capsys, "no-such.csv", "--label", "y", "--at-least", "20"), Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    assert main(["no-such.csv", "--label", "y", "--at-least", "20"]) == 2
    assert max(map(len, stream.getvalue().splitlines())) <= 60 < len(whole)
    assert stream.getvalue().split() == whole.split()


def told_at_once(monkeypatch):
    """Return a terminal that takes the place of the standard error, where progress is told at once."""
    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.001)
    return stream


def test_progress_is_told_to_a_terminal(monkeypatch):
    stream = told_at_once(monkeypatch)
    with progress.Progress() as say:
        say("choosing\x1b", 1, 5)
        while r"choosing\x1b: 1 of 5" not in stream.getvalue():
            pass
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().endswith("\r")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.Progress() as say:
        say("choosing")
        assert say._thread is None
    assert sys.stderr.getvalue() == ""


def test_the_line_of_progress_is_away_while_others_are_printed(monkeypatch):
    stream = told_at_once(monkeypatch)
    with progress.Progress() as say:
        say("choosing", 1, 5)
        while "choosing: 1 of 5" not in stream.getvalue():
            pass
        with say.paused():
            assert re.search(r"\r +\r$", stream.getvalue())
            before = stream.getvalue()
            say("training")
            time.sleep(0.02)
            assert stream.getvalue() == before
        while "training" not in stream.getvalue():
            pass


def test_several_powers_to_choose_from(capsys, table):
    how = [table[0], "--label", "bought", "--ignore", "city", "--details"]
    out = ran(capsys, *how, "-p", "2,16,2")
    chosen = re.search(r"in use, with p = (\d+)", out)[1]
    assert chosen in ("2", "16")
    alone = ran(capsys, *how, "-p", chosen)
    test = "Test on .*\n(.*\n)*?\n(.*\n)*?\n"
    assert re.search(test, alone)[0] == re.search(test, out)[0]


def test_columns_and_leaks_are_printed_before_the_training(capsys, tmp_path, monkeypatch):
    rng, path = np.random.default_rng(0), tmp_path / "leak.csv"
    y = np.arange(300) % 3 == 0
    pandas.DataFrame({"x": rng.normal(size=300), "paid back": y + 0.1 * rng.random(300), "y": y * 1}).to_csv(path)

    def stopped(*_, **__):
        raise KeyboardInterrupt

    for *asked, first in (("-p", 1, "_default.choose"), ("-t", 5, "train")):
        printed = ran(capsys, path, "--label", "y", *asked).partition("\n\nTest on ")[0]
        assert tells(printed, "Columns (counts of the 240 training rows)")
        assert printed.count("paid back alone almost separates") == 1
        with monkeypatch.context() as patch:
            patch.setattr(f"pnorm._job.learn.{first}", stopped)
            status, out, err = run(capsys, path, "--label", "y", *asked)
        assert (status, out.strip(), err) == (130, printed, "")


@BATCHES
def test_a_column_with_values_for_positives_only_is_pointed_out(capsys, tmp_path, batches):
    rng, path, page = np.random.default_rng(0), tmp_path / "t.csv", tmp_path / "r.html"
    y = np.arange(900) % 9 == 0
    paid = np.where(y & (np.arange(900) % 18 == 0), "2026-03-01", "")
    seen = np.where(y & (np.arange(900) % 27 == 0), "", "yes")
    frame = pandas.DataFrame({"x": rng.normal(size=900) + y, "charged": paid, "seen": seen, "y": y * 1})
    frame.to_csv(path, index=False)
    call = (path, "--label", "y", *QUICK, "--holdout", 0, *batches)
    out = ran(capsys, *call, "--report", page)
    told = "charged has a value in 50 rows (all positive), seen is missing in 34 rows (all positive)"
    assert f"warning: {told}" in flat(out)
    assert told in read(page)
    assert "--ignore charged,seen" in out.split("Next steps\n")[1]
    assert "all positive" not in ran(capsys, *call, "--ignore", "charged", "--ignore", "seen")


def level_file(path, countries, seed=0, n=400):
    """Write rows with countries drawn from some, a number that shifts with the label, and the label."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4 == 0
    frame = pandas.DataFrame({"country": rng.choice(countries, n), "amount": rng.normal(size=n) + y, "label": y * 1})
    frame.to_csv(path, index=False)
    return frame


def test_levels_that_a_model_does_not_know_are_named_once(capsys, tmp_path):
    train, new, model = tmp_path / "train.csv", tmp_path / "new.csv", tmp_path / "m.json"
    level_file(train, ["DE", "FR", "US"])
    frame = level_file(new, ["DE", "FR", "US", "NG"], 1)
    n = int((frame["country"] == "NG").sum())
    ran(capsys, train, "--label", "label", "--save", model, *QUICK, "--holdout", 0)
    assert f"  country has 1 level never seen before, in {n} rows: NG ({n})\n" in ran(capsys, new, "--model", model)
    of_training = json.loads(model.read_text())  # a model that knows no rows of training has nothing to compare with
    of_training["metadata"].pop("profile")
    model.write_text(json.dumps(of_training))
    for countries, told in (
        (["DE", "FR", "US", "NG"], rf"country has 1 level .* in {n} rows: NG\n"),
        (["DE", "NG", "IT", "ES", "PT"], r"country has levels .* in \d+ rows: \w\w, \w\w, \.\.\.\n"),
        ([""], r"country is missing in all 400 rows.*\n"),
    ):
        level_file(new, countries, 1)
        assert re.fullmatch(f"pnorm: warning: {told}", run(capsys, new, "--model", model)[2])


def test_a_budget_takes_the_first_rows_of_a_list_of_new_rows(capsys, tmp_path):
    train, new, model, out_path, page = (tmp_path / name for name in ("t.csv", "n.csv", "m.json", "s.csv", "r.html"))
    level_file(train, ["DE", "FR"])
    frame = level_file(new, ["DE", "FR"], 1)
    frame.loc[1] = frame.loc[0]
    frame.to_csv(new, index=False)
    how = [train, "--label", "label", "--budget", 8, *QUICK]
    for more in ([], ["--of", 80]):
        assert ("as long as the test set, 80 rows. Use --of" in ran(capsys, *how, "--save", model, *more)) == (not more)
    f = pnorm.load(model).score(frame)
    first_rows = np.argsort(-f, kind="stable")
    more = ["--model", model, "--label", "label", "--out", out_path, "--budget"]
    out = ran(capsys, new, *more, 17, "--report", page, "--top", 20)
    assert f"Take the first 17 of 400 rows: those with a score of {written_score(f[first_rows[16]], f)} or more" in out
    assert "precision in the first 17 " in out
    assert "Of the first 17 rows" in read(page)
    written = pandas.read_csv(out_path)
    assert written.loc[written["take"] == 1, "row"].tolist() == first_rows[:17].tolist()
    assert [len(re.findall(f"  {word}  [01]  ", out)) for word in ("yes", " no")] == [17, 3]
    place = int(np.flatnonzero(first_rows == 0)[0])  # rows 0 and 1 have one score
    assert "  1 more row has this score as well" in ran(capsys, new, *more, place + 1)
    assert pandas.read_csv(out_path)["take"].sum() == place + 1
    assert "Take the first 400 of 400 rows" in ran(capsys, new, *more, 500)
    for option in ("precision", "recall", "at-least"):
        assert f"--{option} is an option of learning" in refused(capsys, new, "--model", model, f"--{option}", "0.5")
    assert "--budget must be a whole number" in refused(capsys, new, "--model", model, "--budget", "0.5")


@BATCHES
def test_the_tests_of_a_precision_begin_where_the_options_say(capsys, tmp_path, batches):
    path, model = tmp_path / "train.csv", tmp_path / "m.json"
    level_file(path, ["DE", "FR"], n=1000)
    n_cuts = []
    for at_least, share in (("20", 0.0), ("30%", 0.3)):
        words = ("--label", "label", *QUICK, "--save", model, "--precision", "0.3", "--at-least", at_least, *batches)
        out = ran(capsys, path, *words)
        cut = pnorm.load(model).cutoff
        n = cut.n_pos + cut.n_neg
        assert cut.depth >= max(20, share * n)
        assert f"({cut.depth:,} of the {n:,} held-out rows)" in flat(out)
        n_cuts.append(cut.n_cuts)
    assert n_cuts[0] > n_cuts[1]


def test_the_terminal_says_what_the_report_says_of_other_lists(capsys, tmp_path):
    path, page = tmp_path / "train.csv", tmp_path / "r.html"
    level_file(path, ["DE", "FR"])
    out = ran(capsys, path, "--label", "label", "--report", page, *QUICK)
    words, told = re.sub("<[^>]+>", "", read(page)), flat(out)
    own, *others = [float(word) for word in cells_of(out)["average precision"] if re.fullmatch(r"0\.\d+", word)]
    told_there = r"average precision,? \d\.\d+(?: against (\d\.\d+))? \((?:difference )?(.*?)[;)]"
    statements = re.findall(rf"Against (?:the )?([^:]*): (?:(?!Against).)*?{told_there}", words)
    assert len(statements) >= 3
    for name, other, interval in statements:
        of_name = rf" {re.sub('[“”]', '', name)} [+−\d]+ \(.*?\)(?: \w+)? ([+−]\d\.\d+) \((.*?)\)"
        ((by, cell),) = re.findall(of_name, told)
        assert cell == interval
        assert not other or float(other) in others
        assert float(by.replace("−", "-")) == pytest.approx(own - float(other or own), abs=1.1e-3)
    pattern = r"In the first \d+ rows: \d+ positive \(95 % interval for the expected number: (\d+ to \d+)\)"
    (interval,) = re.findall(pattern, told)
    assert f"(95 % interval {interval})" in words


def test_changes_of_rows_that_were_drawn_at_random_are_chance_or_too_close_a_fit(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path, later, page = tmp_path / "noise.csv", tmp_path / "later.csv", tmp_path / "r.html"
    frame = pandas.DataFrame(rng.normal(size=(600, 12)), columns=[f"x{k}" for k in range(12)])
    frame["y"] = np.arange(600) % 3 // 2
    frame[:480].to_csv(path, index=False)
    frame[480:].to_csv(later, index=False)
    for how, is_drawn in (([], True), (["--test", later], False)):
        out = ran(capsys, path, "--label", "y", *fixed(1e-6), "--report", page, *how)
        (part,) = re.findall(r"\nChanges between training rows and .*?\n\n", out, re.DOTALL)
        for words in (part, re.sub("<[^>]+>", "", read(page))):
            assert "The scores moved" in words
            assert (AT_RANDOM in flat(words)) == is_drawn


def test_how_a_file_is_written_is_nothing_to_mind_in_the_report(capsys, tmp_path):
    path, page = tmp_path / "train.csv", tmp_path / "r.html"
    level_file(path, ["DE", "FR"]).to_csv(path, index=False, sep=";")
    assert "semicolons" in ran(capsys, path, "--label", "label", "--report", page, "-t", 2, "--holdout", 0)
    assert "semicolon" not in read(page)


def test_programs_are_named_as_they_can_be_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # without either program
    assert program("pnorm", str(tmp_path / ".venv" / "bin" / "pnorm")) == str(
        tmp_path.joinpath(".venv", "bin", "pnorm").relative_to(tmp_path)
    )
    assert program("pnorm", "/elsewhere/bin/pnorm") == "/elsewhere/bin/pnorm"
    assert program("pnorm", "/lib/pnorm/__main__.py") == "pnorm"
    own = tmp_path / "pnorm"
    own.touch(mode=0o755)
    assert program("pnorm", str(own)) == "pnorm"
    assert program("pnorm", "/elsewhere/bin/pnorm") == "/elsewhere/bin/pnorm"  # the shell finds another one


@BATCHES
def test_values_that_do_not_read_are_counted_as_missing_and_named(capsys, tmp_path, batches):
    path, new, model, page = (tmp_path / name for name in ("t.csv", "new.csv", "m.json", "r.html"))
    amounts = np.random.default_rng(0).lognormal(8, 1, 300)
    bought = ["yes" if x > 4000 else "no" for x in amounts]

    def write(file, words):
        texts = [words.get(k, f"{x:.2f}") for k, x in enumerate(amounts)]
        pandas.DataFrame({"Amt": texts, "w": np.sin(np.arange(300)), "Bought": bought}).to_csv(file, index=False)

    learn = (path, "--label", "Bought", "-t", 5, *batches)
    told = "1 value does not read as a number and counts as missing:"
    for row in () if batches else (3, 7, 20):  # of training rows, and of held-out ones
        write(path, {row: "tbc"})
        assert f"{told} 'tbc' (line {row + 2} of " in flat(ran(capsys, *learn))
    words = dict(zip(range(3, 13), ["tbc", "tba"] * 5, strict=True))
    write(path, words)  # in both
    said = flat(ran(capsys, *learn, "--report", page))
    (warning,) = re.findall(r"warning: (Amt: \d values do not read as .*?\)\.) ", said)  # not again of the test
    assert sorted(re.findall(r"'(tb[ac])' \(line \d+ of ", warning)) == ["tba", "tbc"]
    assert warning in flat(html.unescape(re.sub("<[^>]*>", "", read(page))))
    ran(capsys, *learn, "--holdout", 0, "--save", model)
    for more in ({}, {298: "soon"}):
        write(new, {k: f" {word.upper()}" for k, word in words.items()} | more)  # known from the training rows
        said = flat(" ".join(run(capsys, new, "--model", model, *batches)[1:]))
        assert said.count("not read") == len(more)
        assert not more or f"Amt: {told} 'soon' (line 300 of {new})" in said
    said = flat(ran(capsys, *learn, "--test", new))
    assert tells(said, "Amt: 11 values do not read as a number")
    assert "; 1 of them is new, in the test rows." in said
    write(new, dict.fromkeys(range(200, 300), "soon"))
    err = run(capsys, new, "--model", model, *batches)[2]
    assert "100 of the 300 values" in err
    assert batches or "'soon' in line 202 of " in err


def test_probabilities_that_the_test_finds_wrong_are_not_written(capsys, tmp_path):
    rng = np.random.default_rng(0)
    out, model, train, test = (tmp_path / name for name in ("out.csv", "m.json", "train.csv", "test.csv"))
    for path, share in ((train, 0.5), (test, 0.1)):
        y = rng.random(1000) < share
        frame = pandas.DataFrame({"a": y + rng.normal(size=1000), "b": rng.normal(size=1000), "y": y.astype(int)})
        frame.to_csv(path, index=False)
    quick = fixed(0.001)
    for arguments, is_written in (
        ([train, "--label", "y", "--test", test, "--save", model, *quick], False),
        ([test, "--label", "y", "--model", model], False),
        ([train, "--label", "y", "--model", model], True),
        ([train, "--label", "y", *quick], True),
        ([train, "--model", model], False),  # the test of the model is the last one
    ):
        text = ran(capsys, *arguments, "--out", out)
        assert ("probability" in pandas.read_csv(out)) == is_written
        assert ("without probabilities" in flat(text)) == (not is_written)
    assert " probability " not in text
    about = json.loads(model.read_text())
    for doubt in (None, "strange"):  # a model of an earlier version, or of others
        about["metadata"]["no_probabilities"] = doubt
        model.write_text(json.dumps(about))
        ran(capsys, train, "--model", model, "--out", out)
        assert "probability" in pandas.read_csv(out)


@pytest.fixture
def leaky(tmp_path):
    """Rows with a column that agrees with the label, one that is filled for positives only, and a date."""
    rng, path = np.random.default_rng(0), tmp_path / "t.csv"
    y = rng.random(1200) < 0.3
    near = np.where(rng.random(1200) < 0.004, ~y, y)
    day = np.datetime64("2025-01-01") + rng.integers(0, 300, 1200)
    refund = np.where(y & (rng.random(1200) < 0.5), 7, None)
    known = {"a": y + 2 * rng.normal(size=1200), "b": rng.normal(size=1200), "day": day}
    frame = pandas.DataFrame({"siu": near.astype(int), **known, "refund": refund, "y": y.astype(int)})
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("more", "left_out"),
    [
        (["--only", "siu,a,refund"], ["--only", "a"]),
        (["--monotone", "siu=+", "--monotone", "a=+"], ["--ignore", "siu,refund", "--monotone", "a=+"]),
    ],
    ids=["only", "monotone"],
)
def test_all_steps_leave_out_a_column_that_may_leak(capsys, tmp_path, monkeypatch, leaky, more, left_out):
    monkeypatch.chdir(tmp_path)
    text = ran(capsys, leaky, "--label", "y", *QUICK, "--top", 0, *more, "--save", "m.json")
    assert "which is simpler" not in text  # with a leak, all lists are as good
    steps = next_steps(text)
    assert steps.pop("Rank new rows")[2] == "m-without.json"
    assert next(iter(steps)) == "Leave out siu, refund"
    for command in steps.values():
        at = command.index(left_out[0])
        assert command[at : at + len(left_out)] == left_out
        assert command.count("--only") == ("--only" in more)
    assert steps["Save a model without them"][-2:] == ["--save", "m-without.json"]
    out = ran(capsys, *steps["Save a model without them"])
    assert not any(told in out for told in ("warning: siu", "refund has a value", "siu, refund"))
    for model, is_told in (("m.json", True), ("m-without.json", False)):
        out = ran(capsys, leaky, "--model", model, "--label", "y")
        assert ("siu alone almost separates" in out) == ("If siu, refund are known only" in out) == is_told


def test_no_column_is_left_without_a_leak(capsys, leaky):
    text = ran(capsys, leaky, "--label", "y", *QUICK, "--only", "siu")
    assert re.match("  No column is left without siu", text.split("Next steps\n")[1])
    assert "--ignore siu" not in text


def test_reasons_that_all_rows_share_are_printed_once():
    rows = [f"prior = 5 (+1.42); age = {k} (+0.{k}0)" for k in range(5)]
    columns = {"rank": list("12345"), "score": ["1.0"] * 5}
    above, head, *lines = printing.list_lines(columns, rows)
    assert above == "Reasons in all 5 rows: prior = 5 (+1.42)."
    assert head == "rank  score  other reasons"
    assert lines == [f"{k + 1:>4}    1.0  age = {k} (+0.{k}0)" for k in range(5)]
    few = {name: cells[:4] for name, cells in columns.items()}
    assert printing.list_lines(few, rows[:4])[1] == "   1    1.0  prior = 5 (+1.42); age = 0 (+0.00)"


@pytest.fixture
def later(tmp_path):
    """Rows in the order of a day on which the label depends, with two columns that follow from the label."""
    rng, n, path = np.random.default_rng(0), 1500, tmp_path / "later.csv"
    day, x = np.sort(rng.integers(730, size=n)), rng.normal(size=n)
    y = rng.random(n) < 1.0 / (1.0 + np.exp(0.5 - x - 4.0 * (day / 730 - 0.5)))
    frame = pandas.DataFrame({"booked on": np.datetime64("2023-01-01") + day, "x": x, "visits": rng.poisson(1.5, n)})
    frame.assign(y=y.astype(int)).to_csv(path, index=False)
    return path


def test_a_trend_that_is_level_in_all_test_rows_is_no_reason(capsys, later, tmp_path):
    """Neither in the list nor in that of later rows. The page names it, and a next step leaves it out."""
    model, page, out, new = tmp_path / "m.json", tmp_path / "r.html", tmp_path / "s.csv", tmp_path / "new.csv"
    how = [later, "--label", "y", "--time", "booked on", *QUICK]
    text, trend = ran(capsys, *how, "--save", model, "--report", page), "booked on (trend) = 20"
    assert trend not in text
    assert "--ignore 'booked on'\n" in text.split("Next steps\n")[1]
    assert "The same for all held-out rows: booked on (trend)." in read(page)
    pandas.read_csv(later).assign(**{"booked on": "2026-01-01"}).to_csv(new, index=False)
    for file, is_told in ((new, False), (later, True)):
        ran(capsys, file, "--model", model, "--out", out)
        assert pandas.read_csv(out)["reasons"].str.contains(trend, regex=False).any() == is_told


def test_all_columns_that_may_follow_from_the_label_are_left_out_together(capsys, later):
    frame = pandas.read_csv(later)
    y = frame["y"].to_numpy()
    late = {
        "paid, late": y + 0.01 * np.random.default_rng(1).normal(size=y.size),
        "seen": y ^ (np.arange(y.size) % 50 == 0),
    }
    frame.assign(**late).to_csv(later, index=False)
    text = ran(capsys, later, "--label", "y", *QUICK, "--holdout", 0)
    assert re.search(r"  Leave out paid, late, seen:?\s+pnorm .* --ignore seen --ignore 'paid, late'\n", text)


def test_output_that_is_no_terminal_hides_nothing(capsys, tmp_path, monkeypatch):
    """Notes are wrapped between words."""
    rng, path, name = np.random.default_rng(0), tmp_path / "t.csv", "a column with a long name"
    x = rng.normal(size=900)
    pandas.DataFrame({name: x, "y": (x > rng.normal(size=900)).astype(int)}).to_csv(path, index=False)
    text = ran(capsys, path, "--label", "y", *QUICK)
    assert "wider terminal" not in text
    assert name in next(line for line in text.splitlines() if "this list  " in line)
    monkeypatch.setenv("COLUMNS", "80")
    assert "in a wider terminal" in ran(capsys, path, "--label", "y", *QUICK)
    note = "some values count as missing; " * 5
    lines = plan._wrapped([["x", "number", note.strip()]])
    assert max(len(line[-1]) for line in lines) <= 100
    assert " ".join(line[-1] for line in lines) == note.strip()


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((0, 0), "none of them is positive"),
        ((1, 1), "one of them is positive"),
        ((2, 2), "2 of the rows taken are positive"),
        ((2, 1007), "2 to 1,007 of the rows taken are positive"),
    ],
)
def test_few_rows_taken_are_told_in_words(ends, told):
    assert cutoffs._between(*ends) == told


AWKWARD_NAMES = [
    "a" * 38 + "'" + "b" * 50 + ";id>pwn;#",
    "it's;id>pwn;#",
    '$(id>pwn) `id>pwn` "',
    "-x",
    "two  blanks",
    "a\tb\x1b[31m",
    "é\u202e=1,5",
    "'" * 30 + "\\;id>pwn;#" + "c" * 1500 + "'",
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("name", AWKWARD_NAMES, ids=range(len(AWKWARD_NAMES)))
def test_an_option_to_paste_has_the_whole_name(capsys, tmp_path, name):
    path, model, rng = tmp_path / "t.csv", tmp_path / "m.json", np.random.default_rng(0)
    table = {"x": rng.normal(size=200), name: [f"text no. {k} {v}" for k, v in enumerate(rng.normal(size=200))]}
    table[f"{name} zip"] = rng.integers(10_000, 10_080, 200)
    table[name][::50] = ["same"] * 4
    pandas.DataFrame(table | {f"{name}?": rng.integers(2, size=200)}).to_csv(path, index=False)
    label = [f"--label={name}?"]
    told = " ".join(run(capsys, path, *label, "-t", 2, "--holdout", 0, "--save", model)[1].split())
    assert f" {pasted('--kind', f'{name}=category')})" in told
    assert f" {pasted('--kind', f'{name} zip=category')} or {pasted('--ignore', f'{name} zip')}" in told
    assert f" {pasted('--label', f'{name}?')}" in " ".join(run(capsys, path, "--model", model)[1].split())
    words = ["--kind", f"{name}=category", "--ignore", name, "--label", f"{name}?"]
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {pasted(*words)}"], capture_output=True, check=True)
    got = options.parser().parse_args(["f", *done.stdout.decode().split("\0")[:-1]])
    assert [got.kind, got.ignore, got.label] == [[words[1]], [name], words[5]]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("name", AWKWARD_NAMES, ids=range(len(AWKWARD_NAMES)))
def test_an_option_in_an_error_runs_nothing_else(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    days = [f"{1 + k % 12:02d}/{1 + k % 9:02d}/2024" for k in range(60)]  # of two orders
    pandas.DataFrame({"x": range(60), name: days, "y": [0, 1] * 30}).to_csv("t.csv", index=False)
    how = ["t.csv", "--label", "y", f"--time={name}", "-t", 2]
    option = re.search(r"Use (--kind.*) or --kind", run(capsys, *how)[2])[1]
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {option}"], capture_output=True, check=True)
    words = done.stdout.decode().split("\0")[:-1]
    assert os.listdir() == ["t.csv"]
    assert run(capsys, *how, *words)[0] == 0


def test_a_long_message_does_not_lose_its_middle():
    """A part of an option may be a command of its own."""
    option = pasted("--kind", "'" * 3000 + ";id;#=category")
    line = one_line(f"a {option} and more")
    assert len(line) <= 4000
    assert f"a {option}".startswith(line[:-1])


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
def test_a_pipe_is_not_opened_to_look_for_the_label(capsys, tmp_path):
    os.mkfifo(tmp_path / "p.csv")
    assert "--label is missing" in run(capsys, tmp_path / "p.csv")[2]
    (tmp_path / "q.csv").write_text("x,y\n1,yes\n2,no\n")
    status, _, err = run(capsys, tmp_path, "--label", "y")  # as one of the files of a folder
    assert (status, "p.csv is a pipe" in err) == (2, True)


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "m.json", "r.html"])
def test_a_full_disk_is_told_in_one_line(capsys, table, tmp_path, name):
    resource = pytest.importorskip("resource")
    option = {"m.json": "--save", "r.html": "--report"}.get(name, "--out")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (99, limits[1]))
    try:
        status, _, err = run(capsys, table[0], "--label", "bought", "-t", 2, option, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (status, err.count("\n")) == (2, 1)
    assert f"{tmp_path / name}: " in err
    assert [of.name for of in tmp_path.iterdir()] == [table[0].name]


_ON_STREAMS = """
import json, os, sys
from pnorm._command import learn  # before a fork, as it takes a while
from pnorm._command.main import main
for closed, full, words in json.loads(sys.argv[1]):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 2)
        for fd in full:
            os.dup2(os.open("/dev/full", os.O_WRONLY), fd)
        for fd in closed:
            os.close(fd)
            setattr(sys, ("stdin", "stdout", "stderr")[fd], None)
        status = main(words)
        sys.stdout.flush()
        os._exit(status)
    os.close(write)
    with open(read) as stream:
        told = stream.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told]), flush=True)
"""
"""Runs the command on streams that are closed or full."""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_streams_that_are_closed_or_full(table):
    how = [table[0].name, "--label", "bought", "-t", "1", "--holdout", "0"]
    folder, before = table[0].parent, table[0].read_bytes()
    wrong = [*how[:2], "none"]
    cases = [
        ([1], [], [*how, "--out", "1.csv"], 0, ""),
        ([2], [], [*how, "--out", "2.csv"], 0, ""),
        ([0, 1, 2], [], [*how, "--out", "3.csv"], 0, ""),
        ([0], [], ["-", *how[1:]], 2, "is empty"),
        ([1], [], wrong, 2, "no column 'none'"),
        ([2], [], wrong, 2, ""),
        ([], [2], wrong, 2, ""),
        ([], [1], how, 2, "standard output: No space left on device"),
        ([], [1, 2], how, 2, ""),
    ]
    words = [sys.executable, "-P", "-c", _ON_STREAMS, json.dumps([case[:3] for case in cases])]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    for (status, told), case in zip(lines, cases, strict=True):
        assert (status, case[4] in told, told.count("\n")) == (case[3], True, len(case[4]) > 0), case
    assert all((folder / f"{k}.csv").read_text().startswith("row,score") for k in (1, 2, 3))
    assert table[0].read_bytes() == before


FORMULAS = [
    "=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1", "\uff0b1", "\uff0d1+1", "\uff20SUM(1)",
    "a;=1+1;b", "a;@SUM(1)", "a\t=1", "a|=1", "a\n=1+1", "a\r\n+1+1", "a; =1", 'a;"=1', 'a\n"@SUM(1)', '"=1"', "a;b;=1,2", "a\uff1d;\uff1d1",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("name", ["id", "label", "reasons"])
def test_no_cell_begins_a_formula_whatever_divides_cells(tmp_path, text, name):
    path = tmp_path / "o.csv"
    columns = {
        "score": np.arange(2.0),
        "id": ["a", "b"],
        "label": ["yes", "-1"],
        "reasons": ["x", "y"],
        text: ["u", "v"],
    }
    columns[name][0] = text
    scores_file.write(str(path), columns, np.arange(2))
    written = path.read_bytes().decode()
    for delimiter in ",;\t|":
        cells = [cell for row in csv.reader(io.StringIO(written, newline=""), delimiter=delimiter) for cell in row]
        begun = [cell.lstrip()[:1] for cell in cells if not re.fullmatch(r"\s*-?[\d.]+", cell)]
        assert not set(begun) & set("=+-@\uff0b\uff0d\uff1d\uff20"), delimiter
    header, row, last = csv.reader(io.StringIO(written, newline=""))
    read = dict(zip(header, row, strict=True))
    assert read[name].replace("'", "") == header[-1].replace("'", "") == text.replace("'", "")
    assert last == ["1.0", "b", "-1", "y", "v"]
