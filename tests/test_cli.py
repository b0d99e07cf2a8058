"""The command, as a process of its own and by its function."""

import csv
import html
import io
import json
import math
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import feather, parquet
from repeats import each_value

import pnorm
from pnorm._command import demonstration, options, printing, progress
from pnorm._command.learn import _prefers_curves
from pnorm._command.main import main
from pnorm._command.terminal import one_line, pasted, program
from pnorm._cutoff import written as written_score
from pnorm._job.learn import learn
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


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


# The file of the clone


def test_the_file_of_the_examples_is_what_its_script_writes_and_gives_a_useful_list(capsys, tmp_path):
    folder = Path(__file__).parents[1] / "examples"
    path = folder / "leads.csv"
    runpy.run_path(str(folder / "leads.py"))["write"](tmp_path / "leads.csv")
    assert (tmp_path / "leads.csv").read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    assert path.stat().st_size < 400_000
    status, out, _ = run(capsys, path, "--label", "bought", "--id", "lead")
    assert status == 0
    assert "6,000 rows, 769 positive (bought = yes), 12.8 %" in out
    assert "does not show" not in out
    (row,) = [line for line in out.splitlines() if line.startswith("  precision in the first 154 ")]
    low, by_chance = float(row.split(" to ")[0].split()[-1]), float(row.split()[-1])
    assert low > by_chance
    top = re.findall(r"^ +\d+ +\d+ +L\d+ .*$", out, re.MULTILINE)
    assert len(top) == 10
    named = set(re.findall(r"(\w+) = ", out[out.index("Top of the list") : out.index("Reasons: largest")]))
    assert "employees" in named
    assert "town" not in named  # it has no effect


# Without a file

BARS = "▁▃▅▇█"


def claims(seed=0):
    """Rows and labels to train on, and those held out."""
    data = pnorm.datasets.insurance_claims(seed=seed)
    return data.X[:10_000], data.y[:10_000], data.X[10_000:], data.y[10_000:]


def wrong_of(p, rounds=200, seed=0):
    """Labels of the claims that are paid, best first, and the AUC, from the public functions."""
    X, y, held_out, label = claims(seed)
    pos, neg = X[y == 1], X[y == 0]
    H = pnorm.rankers.normalized(pos, neg)
    f = pnorm.score(held_out, H, pnorm.train(pos, neg, H, p, rounds)[0])
    wrong = label[np.argsort(-f, kind="stable")[:1000]] == 0
    return wrong, pnorm.metrics.auc(f[label == 1], f[label == 0])


def chart(out):
    """The strips of marks, the numbers of wrong claims and the AUC, by p."""
    rows = re.findall(r"^  p = (\S+) +(\S+) +(\d+)  (\d\.\d{4})$", out, re.MULTILINE)
    return {float(p): (strip, int(wrong), auc) for p, strip, wrong, auc in rows}


def test_the_main_job_shows_the_push(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    assert out.startswith("Which insurance claims can be paid without review?\n")
    assert "10,000 simulated claims to train on, 10,000 held out." in out
    *_, label = claims()
    assert f"At random {(label == 0).mean() * 1000:.0f} would be wrong" in " ".join(out.split())
    rows = chart(out)
    assert list(rows) == [1, 4, 16]
    counts = [wrong for _, wrong, _ in rows.values()]
    assert counts == sorted(counts, reverse=True)
    assert counts[1] < 0.75 * counts[0]
    for p, (strip, count, auc) in rows.items():
        wrong, area = wrong_of(p)
        marks = wrong.reshape(50, 20).sum(axis=1)
        assert strip == "".join(BARS[min(number, 4)] for number in marks)
        assert (count, auc) == (wrong.sum(), f"{area:.4f}")
    gain = f"Wrong claims paid: {counts[0]} with p = 1, {counts[0] - counts[1]} fewer with p = 4, "
    assert gain in " ".join(out.split())
    assert f"the AUC goes from {rows[1][2]} to {rows[16][2]}." in " ".join(out.split())
    assert "  pnorm FILE --label COLUMN" in out.split("Next:\n")[1]
    python = program(os.path.basename(sys.executable), sys.executable)
    assert f'{python} -c "import pnorm; help(pnorm.train)"' in out
    assert all(len(line) <= 80 for line in out.splitlines() if python not in line)  # whose path may be long


def test_the_main_job_takes_p_and_rounds_and_a_seed(capsys):
    _, usual, _ = run(capsys)
    assert run(capsys, "--seed", 0)[1] == usual
    assert "Means over 200 such draws: 52.3 with p = 1, 30.9 with p = 4" in " ".join(usual.split())
    for given, powers, rounds, seed in (
        (["-p", 8], [1, 8], 200, 0),
        (["-p", 1], [1], 200, 0),
        (["-p", 2.5, "-t", 3], [1, 2.5], 3, 0),
        (["-t", 0], [1, 4, 16], 0, 0),
        (["--seed", 7], [1, 4, 16], 200, 7),
    ):
        status, out, err = run(capsys, *given)
        assert (status, err) == (0, "")
        rows = chart(out)
        assert list(rows) == powers
        for p, (_, count, auc) in rows.items():
            wrong, area = wrong_of(p, rounds, seed)
            assert (count, auc) == (wrong.sum(), f"{area:.4f}")
        assert ("such draws" in out) == (given[0] == "--seed")  # measured with these p and rounds alone
    assert "Compare it with -p 4." in " ".join(run(capsys, "-p", 1)[1].split())
    assert "as many with p = 4, as many with p = 16." in " ".join(run(capsys, "-t", 0)[1].split())


def test_the_numbers_over_draws_are_those_of_the_benchmark():
    """The stored means, against other draws: within five standard errors."""
    found = np.array([[wrong_of(p, seed=seed)[0].sum() for p in demonstration.POWERS] for seed in range(1000, 1012)])
    error = 5 * found.std(axis=0, ddof=1) / len(found) ** 0.5
    assert list(demonstration.OVER_DRAWS) == list(demonstration.POWERS)
    assert (np.abs(found.mean(axis=0) - list(demonstration.OVER_DRAWS.values())) < error).all()
    gain = found[:, 0] - found[:, 1]
    assert (gain > 0).all()
    assert abs(gain.mean() - demonstration.GAIN) < 5 * gain.std(ddof=1) / len(gain) ** 0.5
    assert abs(demonstration.OVER_DRAWS[1] - demonstration.OVER_DRAWS[4] - demonstration.GAIN) < 0.11  # rounded


ANSI = re.compile(r"\x1b\[\d*m")


class Output(io.TextIOWrapper):
    """A standard output with an encoding, which is a terminal or not."""

    def __init__(self, encoding, is_terminal):
        super().__init__(io.BytesIO(), encoding=encoding)
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal

    def text(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def printed(monkeypatch):
    """The text that the command prints to such an output, of so many columns, with these variables."""
    for name in ("NO_COLOR", "TERM", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)

    def printed(encoding="utf-8", is_terminal=True, columns=80, platform="linux", **variables):
        with monkeypatch.context() as patch:
            for name, value in {"COLUMNS": str(columns), **variables}.items():
                patch.setenv(name, value)
            output = Output(encoding, is_terminal)
            patch.setattr(sys, "stdout", output)
            patch.setattr(sys, "platform", platform)
            patch.setattr(
                demonstration, "program", lambda name, path: name[: len("python")]
            )  # which looks for programs of the platform
            assert main([]) == 0
        return output.text()

    return printed


def test_the_chart_has_colours_on_a_terminal_only(printed):
    plain = printed(is_terminal=False)
    assert "\x1b" not in plain
    coloured = printed()
    assert ANSI.sub("", coloured) == plain
    assert re.search(f"\x1b\\[32m{BARS[0]}+\x1b\\[0m\x1b\\[31m[{BARS[1:]}]+\x1b\\[0m", coloured)
    assert all(line.count("\x1b[0m") * 2 == line.count("\x1b") for line in coloured.splitlines())
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"platform": "win32"}):
        assert printed(**variables) == plain
    for variables in ({"NO_COLOR": ""}, {"TERM": "xterm"}, {"platform": "win32", "WT_SESSION": "1"}):
        assert printed(**variables) == coloured


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_the_chart_is_of_digits_where_the_output_has_no_bars(printed, encoding):
    bars, digits = printed(is_terminal=False), printed(encoding, is_terminal=False)
    assert digits.isascii()
    assert "\\u" not in digits
    assert "21.4 +/- 0.4 (standard error) fewer" in " ".join(digits.split())
    strips = chart(bars), chart(digits)
    assert list(strips[0]) == list(strips[1])
    for p, (strip, count, auc) in strips[1].items():
        assert strip.translate(str.maketrans(".123", BARS[:4])).replace("4", BARS[4]) == strips[0][p][0]
        assert sum(0 if mark == "." else int(mark) for mark in strip) == count
        assert (count, auc) == strips[0][p][1:]
    assert "Each mark is 20 claims: . none wrong, otherwise their number" in digits


@pytest.mark.parametrize(("columns", "marks"), [(200, 50), (80, 50), (79, 50), (60, 25), (40, 10), (20, 10)])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_chart_fits_the_terminal(printed, columns, marks, encoding):
    wide, out = printed(encoding, False), printed(encoding, False, columns)
    lines = out.split("Next:")[0].splitlines()
    assert max(map(len, lines)) < max(min(columns, 80), 36)
    if columns >= 36:
        assert chart(out).keys() == chart(wide).keys()
    symbols = BARS if encoding == "utf-8" else ".123456789+"
    strips = re.findall(rf"^(  p = \d+ +| +)([{re.escape(symbols)}]+)(?:  +\d+  [\d.]+)?$", out, re.MULTILINE)
    assert [len(strip) for _, strip in strips] == [marks] * (3 * 50 // marks)
    assert "".join(strip for _, strip in strips) == "".join(strip for strip, *_ in chart(wide).values())
    for command in ("  pnorm FILE --label COLUMN", '  python -c "import pnorm; help(pnorm.train)"'):
        assert any(line.startswith(command) for line in out.splitlines())  # no command is broken


def test_the_chart_on_an_output_without_an_encoding(monkeypatch):
    output = io.StringIO()  # its encoding is None
    monkeypatch.setattr(sys, "stdout", output)
    assert main([]) == 0
    assert output.getvalue().isascii()
    monkeypatch.setattr(sys, "stdout", Output("utf-8", False))
    assert demonstration.of_stdout().unicode


@pytest.mark.parametrize("command", [[sys.executable, "-P", "-m", "pnorm"], ["pnorm"]], ids=["module", "script"])
def test_both_names_of_the_command(command, table):
    path, *_ = table
    if command == ["pnorm"]:
        command = [shutil.which("pnorm", path=sysconfig.get_path("scripts"))]
    done = subprocess.run([*command, path, "--label", "bought", "--ignore", "city", "-p", "1", "-t", "5"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert "20 positive (bought = 1)" in done.stdout
    failed = subprocess.run([*command, path, "--label", "no such"], capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1


def digits(told):
    """The decimals of effects in reasons."""
    return len(told[0][1].partition(".")[2])


@pytest.mark.parametrize("kind", ["columns", "normalized", "thresholds"])
def test_a_file_is_ranked(capsys, table, kind, tmp_path):
    path, X, y = table
    out_path = tmp_path / "scores.csv"
    status, out, err = run(capsys, path, "--label", "bought", "--ignore", "city", "--rankers", kind, "-p", "8", "-t", 50,
                           "--top", 4, "--out", out_path, "--holdout", 0, "--details")  # fmt: skip
    assert (status, err) == (0, "")
    names = ["visits", "age", "noise"]
    H = {"columns": lambda: pnorm.rankers.columns(3, names=names),
         "normalized": lambda: pnorm.rankers.normalized(X[y], X[~y], names=names),
         "thresholds": lambda: pnorm.rankers.quantile_thresholds(X[y], X[~y], 31, names=names)}[kind]()  # fmt: skip
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

    assert "No row is held out. These are results on 60 training rows; on new rows the list is worse." in out
    lines = {
        line.partition("  ")[0]: line.split("  ", 1)[1].split()
        for line in map(str.strip, out.splitlines())
        if "  " in line
    }
    assert int(lines["positives above every negative"][0]) == pnorm.metrics.positives_at_top(f[y], f[~y])
    assert lines["AUC"][0] == f"{pnorm.metrics.auc(f[y], f[~y]):.3f}"
    top = out.split("Top of the list: 4 rows of 60 training rows\n")[1].splitlines()[1:5]
    assert [int(line.split()[1]) for line in top] == order[:4]
    assert [int(line.split()[4]) for line in top] == [int(y[i]) for i in order[:4]]
    found = pnorm.explain(X, H, lam, reference=X[~y])
    assert (found.contributions < 0).any()
    for line in written:
        i = int(line["row"])
        parts = found.contributions[i]
        told = [re.fullmatch(r"(\w+) = .* \(([+-].*)\)", part).groups() for part in line["reasons"].split("; ")]
        strongest = [j for j in np.argsort(-np.abs(parts), kind="stable") if abs(parts[j]) > 0.5 * 10 ** -digits(told)]
        assert [name for name, _ in told] == [names[j] for j in strongest]
        np.testing.assert_allclose([float(x) for _, x in told], parts[strongest], atol=0.6 * 10.0 ** -digits(told))
    assert f"{trace.status} after {trace.n_iter} rounds: {trace.message}" in out


@pytest.mark.parametrize("kind", ["columns", "normalized", "thresholds"])
def test_columns_of_a_file_are_monotone(capsys, table, kind, tmp_path):
    path, X, _ = table
    arguments = [path, "--label", "bought", "--ignore", "city", "--rankers", kind, "--holdout", 0]
    model = tmp_path / "model.json"
    status, _, err = run(capsys, *arguments, "--monotone", "visits=-", "--monotone", "age=+", "--save", model)
    assert (status, err) == (0, "")
    found = pnorm.load(model)
    assert found.H.column_names == ("visits", "age", "noise")
    np.testing.assert_array_equal(found.H.signs, np.array([-1, 1, 0])[found.H.column])
    assert (found.lam * found.H.signs >= 0.0).all()
    run(capsys, *arguments, "--save", model)
    assert (pnorm.load(model).lam * found.H.signs < 0.0).any()
    for given, message in (
        (["vists=+"], "no column 'vists' in FILE; did you mean 'visits'?"),
        (["city=+"], "--monotone names 'city', which is not a column to learn from"),
        (["visits"], "--monotone needs a column and a sign, as in income=+ or age=-; got 'visits'"),
        (["=+"], "needs a column and a sign"),
        (["visits=+", "visits=-"], "--monotone gives both signs to 'visits'"),
    ):
        more = [word for text in given for word in ("--monotone", text)]
        status, _, err = run(capsys, *arguments, *more)
        assert (status, message.replace("FILE", str(path)) in err) == (2, True)
    status, _, err = run(capsys, path, "--model", model, "--monotone", "age=+")
    assert (status, "--monotone is an option of learning" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "how", "told"),
    [
        (["--l2", "0.1", "--penalty", "coefficients"], {"l2": 0.1}, "p = 4, penalty l2 = 0.1 on the coefficients;"),
        (
            ["--l1", "0.5", "--l2", "0", "--rankers", "thresholds"],
            {"l1": 0.5, "penalty": "shapes"},
            "p = 4, penalty l1 = 0.5 on the shapes;",
        ),
        (
            ["--l1", "0.5", "--l2", "0.1", "--penalty", "shapes", "--rankers", "thresholds", "--linear"],
            {"l1": 0.5, "l2": 0.1, "penalty": "shapes"},
            "p = 4, penalty l1 = 0.5 and l2 = 0.1 on the shapes;",
        ),
        (
            ["--max-columns", "1", "--l2", "0", "--push", "bottom"],
            {"max_columns": 1, "penalty": "shapes"},
            "p = 4 at the bottom, no penalty, 1 column at most;",
        ),
    ],
)
def test_a_file_is_ranked_by_a_penalised_minimum(capsys, table, tmp_path, arguments, how, told):
    path, X, y = table
    model = tmp_path / "model.json"
    arguments = ["--rankers", "normalized", *arguments, "-p", "4", "--holdout", "0", "--details"]
    status, out, err = run(capsys, path, "--label", "bought", "--ignore", "city", *arguments, "--save", model)
    assert (status, err) == (0, "")
    make = pnorm.rankers.normalized
    if "thresholds" in arguments:
        make = partial(pnorm.rankers.quantile_thresholds, n_cuts=255, linear="--linear" in arguments)
    H = make(X[y], X[~y], names=["visits", "age", "noise"])
    push = "bottom" if "bottom" in arguments else "top"
    lam, trace = pnorm.minimize(X[y], X[~y], H, 4, push=push, tol=1e-6, **how)
    found = pnorm.load(model)
    np.testing.assert_array_equal(found.lam, lam)
    assert found.H.names == H.names
    assert any("line" in name for name in H.names) == ("--linear" in arguments)
    np.testing.assert_array_equal(pnorm.score(X, found.H, found.lam), pnorm.score(X, H, lam))
    assert {name: found.metadata[name] for name in how} == how
    assert found.metadata["steps"] == trace.n_iter
    message = trace.message.partition(" is within ")[0]  # of a gap of rounding the digits depend on the processor
    assert f"{trace.status} after {trace.n_iter} step{'s' * (trace.n_iter != 1)}: {message}" in out
    in_use = np.unique(H.column[np.flatnonzero(lam)]).size
    used = f"{np.count_nonzero(lam)} of {len(H)} terms of the score in use, of {in_use} column{'s' * (in_use != 1)}"
    assert f"\nDetails of the model\n  {told} {used}\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--l1", "-1"], "--l1 must be zero or more and finite; got -1"),
        (["--l2", "inf"], "--l2 must be zero or more and finite; got inf"),
        (["--l2", "1e-200", "--penalty", "coefficients"], "l2 must be zero, or at least 1e-140; got 1e-200"),
        (["--max-columns", "0"], "--max-columns must be at least 1; got 0"),
        (["--penalty", "shapes", "-t", "5"], "-t trains in rounds, and --penalty is for the minimum"),
        (["--l2", "0.1", "-t", "5"], "-t trains in rounds, and --l2 is for the minimum. Leave one of them out"),
        (["--max-columns", "2", "-t", "5"], "-t trains in rounds, and --max-columns is for the minimum"),
        (["--linear", "--rankers", "columns"], "--linear cannot be combined with --rankers columns"),
        (["--linear", "-t", "5"], "-t trains in rounds, and --linear is for the minimum"),
        (["--straight", "--rankers", "normalized"], "--straight cannot be combined with --rankers normalized"),
        (["--straight", "-t", "5"], "-t trains in rounds, and --straight is for the minimum"),
        (
            ["--straight", "--linear"],
            "--linear adds lines to the cuts, and --straight has no cuts. Leave one of them out",
        ),
        (["--l2", "0.1", "--model", "m.json"], "--l2 is an option of learning, and --model does not learn"),
        (["--max-columns", "1", "--model", "m.json"], "--max-columns is an option of learning"),
    ],
)
def test_what_does_not_go_with_a_penalised_minimum(capsys, table, arguments, message):
    label = [] if "--model" in arguments else ["--label", "bought", "--ignore", "city"]
    status, out, err = run(capsys, table[0], *label, *arguments)
    assert status == 2
    assert out == "" or ("1e-200" in arguments and "Test on" not in out)  # the columns are printed before the training
    assert err.startswith(f"pnorm: error: {message}")


@pytest.mark.parametrize(
    ("labels", "arguments", "positive"),
    [
        (["1", "0", "1.0"], [], [0, 2]),
        (["+1", "-1", "-1"], [], [0]),
        (["Yes", "no", "yes"], [], [0, 2]),
        (["True", "False", "False"], [], [0]),
        (["won", "lost", "open"], ["--positive", "won"], [0]),
        (["2", "3", "2.0"], ["--positive", "2"], [0, 2]),
        (["2.0", "3", "02"], ["--positive", "2"], [0, 2]),
        (["1_0", "10", "١٠"], ["--positive", "10"], [1]),
        (["9007199254740993", "9007199254740992", "9007199254740993.0"], ["--positive", "9007199254740993"], [0]),
        (["Yes", "maybe", "yes"], ["--positive", "YES"], [0, 2]),
    ],
)
def test_which_label_is_positive(capsys, tmp_path, labels, arguments, positive):
    path = tmp_path / "t.csv"
    path.write_text("x;label\n" + "".join(f"{i};{label}\n" for i, label in enumerate(labels)))
    status, out, err = run(capsys, path, "--label", "label", *arguments)
    assert (status, err) == (0, "")
    assert f"3 rows, {len(positive)} positive" in out


COLUMNS = ("--label", "y", "--rankers", "columns")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("x,y\n1,1\n2,0\n", ["--label", "z"], "no column 'z' in FILE; its columns are x, y"),
        ("x,y\n1,1\n2,0\n", [], "--label is missing. Add --label COLUMN"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--ignore", "z"], "no column 'z' in FILE"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--ignore", "x"], "FILE has no column to learn from except the label 'y'"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--positive", "7"], "no row has the label '7' in column 'y'; its labels are 1 (1), 0 (1)"),
        ("x,y\n1,a\n2,b\n", ["--label", "y"], "column 'y' has the labels a (1), b (1); name the positive label with --positive"),
        ("x,y\n1,1\n2,2\n", ["--label", "y"], "column 'y' has the labels 1 (1), 2 (1); name the positive label with"),
        ("x,y\n1,1\n2,1\n", ["--label", "y"], "column 'y' has only one label, 1 (2); positive and negative rows are needed"),
        ("x,city,y\n1,Oslo,1\n2,Rome,0\n", [*COLUMNS],
         "column 'city' is not numeric: 'Oslo' in line 2 of FILE; encode it as numbers, or --ignore 'city'"),
        ("x,y\n1,1\n,0\n", [*COLUMNS], "column 'x' has a missing value in line 3 of FILE; fill it in, or --ignore 'x'"),
        ("x,y\n1,1\nNaN,0\n", [*COLUMNS], "column 'x' has a missing value in line 3 of FILE"),
        ("x,y\n1,1\ninf,0\n", [*COLUMNS], "column 'x' has 'inf' in line 3 of FILE; every value must be finite"),
        ("x,y\n1_000,1\n2,0\n", [*COLUMNS], "column 'x' is not numeric: '1_000' in line 2 of FILE"),
        ("x,y\n1,1\n2\n", ["--label", "y"], "line 3 of FILE has 1 field; the header has 2"),
        ("x,x,y\n1,1,1\n", ["--label", "y"], "the column name 'x' appears more than once in FILE"),
        ("x,,y\n1,1,1\n", ["--label", "y"], "column 2 of FILE has no name in the header"),
        ("1,5\n3,4\n", ["--label", "y"], "no column 'y' in FILE; its columns are column 1, column 2"),
        ("x,y\n", ["--label", "y"], "FILE has a header and no rows"),
        ("x,y\n1,1\n\n2,\n3,0\n", ["--label", "y"], "the label 'y' is missing in line 4 of FILE; rows to train on need one. Add --unlabelled rank to learn from the other rows and rank these with them, or --unlabelled negative"),
        ("x,y\n1,1\n\n2,\n3,0\n4,NA\n", ["--label", "y"], "is missing in line 4 of FILE, and in 2 of 4 rows; rows to train on need one. Add --unlabelled rank"),
        ("x,y\n1,1\n2,NA\n", ["--label", "y", "--positive", "1"], "the label 'y' is missing in line 3 of FILE"),
        ('x,y\n1,1\n"2,0\n', ["--label", "y"], "line 3 of FILE is not CSV: unexpected end of data"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--ignore", "y"], "--ignore y is the column of --label"),
        ("", ["--label", "y"], "FILE is empty"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "-p", "0.5"], "-p must be at least 1 and finite; got 0.5"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "-p", "4,0.5"], "-p must be at least 1 and finite; got 0.5"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "-p", "1,4", "-t", "5"], "-t trains in rounds, which take one p, and -p has several. Leave one of them out"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "-t", "-5"], "-t must be zero or more; got -5"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--top", "-1"], "--top must be zero or more; got -1"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--out", "FILE"], "--out FILE would overwrite the input"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--out", "FILE.d/s.csv"], "--out FILE.d/s.csv: no such directory"),
        ("x,y\n1,1\n1,0\n", ["--label", "y", "--rankers", "thresholds"], "every column is constant"),
    ],
)  # fmt: skip
def test_what_is_wrong_takes_one_line_and_status_2(capsys, tmp_path, text, arguments, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    status, out, err = run(capsys, path, *[a.replace("FILE", str(path)) for a in arguments])
    assert status == 2
    assert err.startswith("pnorm: error: ")
    assert err.count("\n") == 1
    assert message.replace("FILE", str(path)).replace(f"a {path}", "a FILE") in err
    assert "top of the list" not in out


def test_files_that_cannot_be_read(capsys, tmp_path):
    status, _, err = run(capsys, tmp_path / "none.csv", "--label", "y")
    assert status == 2
    assert "No such file" in err


def test_options_of_a_file_without_one(capsys):
    for option in (
        ["--label", "y"],
        ["--rankers", "thresholds"],
        ["--push", "top"],
        ["--top", "3"],
        ["--out", "s.csv"],
        ["--l1", "1"],
        ["--max-columns", "1"],
    ):
        message = f"pnorm: error: {option[0]} needs a FILE. Try: pnorm FILE --label COLUMN; or pnorm --help\n"
        assert run(capsys, *option) == (2, "", message)
    assert run(capsys, "-p", "0.2") == (2, "", "pnorm: error: -p must be at least 1 and finite; got 0.2\n")


def unnamed(out):
    """The lines of the output without the name of the file, commands to type and the number of a line."""
    lines, steps = re.sub(r"is line \d+", "is line N", out).split("Next steps\n")
    told = [re.sub(r":$| +pnorm .*", "", line) for line in steps.splitlines()]
    return [*lines.splitlines()[1:], *filter(None, told)]


def test_the_standard_input_and_odd_files(capsys, monkeypatch, table, tmp_path):
    monkeypatch.setattr("pnorm._job.quality._RESAMPLES", 1000)  # as another process has
    path, X, y = table
    arguments = ["--label", "bought", "--ignore", "city", "-t", "3", "--holdout", "0"]
    status, expected, _ = run(capsys, path, *arguments)
    assert status == 0
    text = path.read_text()
    command = [sys.executable, "-P", "-m", "pnorm", "-", *arguments]
    env = dict(os.environ)  # readline may set COLUMNS behind Python's back
    piped = subprocess.run(command, input=text, env=env, capture_output=True, check=True, text=True)
    assert unnamed(piped.stdout) == unnamed(expected)
    odd = tmp_path / "odd.csv"
    for changed in (
        "\ufeff" + text,
        text.replace("\n", "\r\n"),
        text.replace(",", "\t"),
        text.replace("Oslo", '"a,\nb"'),
    ):
        odd.write_bytes(changed.encode())
        status, out, _ = run(capsys, odd, *arguments)
        assert (status, unnamed(out)) == (0, unnamed(expected))


def test_a_step_to_a_test_is_named_only_if_rows_can_be_held_out(capsys, tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "few.csv"
    frame = pandas.DataFrame({"x": rng.normal(size=30), "id": np.arange(30) // 15, "y": np.arange(30) > 0})
    told = "There is only 1 negative row. No test is possible with so few."
    for n, is_possible in ((1, False), (2, True)):
        frame["y"] = np.arange(30) >= n
        frame.to_csv(path, index=False)
        learn = (path, "--label", "y", "--positive", "True", "-p", 1, "--holdout", 0)
        status, out, _ = run(capsys, *learn, "--ignore", "id")
        steps = out.split("Next steps\n")[1]
        assert (status, "Test on held-out rows" in steps, told in steps) == (0, is_possible, not is_possible)
        assert (run(capsys, *learn, "--holdout", 0.2)[0] == 0) == is_possible
        by_id = run(capsys, *learn, "--id", "id")[1].split("Next steps\n")[1]
        assert "Test on held-out rows" not in by_id  # both negative rows have the same id


def test_a_column_that_separates_is_pointed_out(capsys, tmp_path):
    rng = np.random.default_rng(4)
    y = np.arange(400) % 4 == 0
    frame = pandas.DataFrame({"x": rng.normal(size=400), "refund": y * rng.integers(1, 9, 400), "y": y.astype(int)})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    status, out, _ = run(capsys, path, "--label", "y", "-p", 1)
    assert status == 0
    assert "warning: refund alone almost separates positives from negatives." in out
    assert "Is it known before the label?" in out
    assert "--ignore refund" in out.split("Next steps\n")[1]
    doubt = "is known only after the label, this test says little about new rows."
    assert out.split("\nTest on ")[1].splitlines()[2] == f"  If refund {doubt}"
    status, out, _ = run(capsys, path, "--label", "y", "-p", 1, "--ignore", "refund", "--top", 0)
    assert (status, "alone almost separates" in out, "Top of the list" in out) == (0, False, False)
    assert doubt not in out
    assert "refund  not used" in out


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


def test_next_steps_are_whole_commands(capsys, monkeypatch, tmp_path):
    wide = 60
    monkeypatch.setattr("pnorm._command.printing._width", lambda: wide)
    path = dated(tmp_path)
    typed = [str(path), "--label", "y", "-p", "1", "--seed", "3", "--top", "0"]
    status, out, _ = run(capsys, *typed)
    assert status == 0
    part = out.split("Next steps\n")[1]
    assert "..." not in part
    assert (f"Test on the latest rows:\n    pnorm {shlex.quote(str(path))} --label y" in part) == (wide == 60)
    steps = next_steps(out)
    assert steps["Test on the latest rows"] == [*typed, "--time", "created"]
    assert steps["Set a cut-off, such as 10 rows"] == [*typed, "--budget", "10"]
    status, out, _ = run(capsys, *steps["Test on the latest rows"])
    assert (status, "the latest by created" in out) == (0, True)
    status, out, _ = run(capsys, *typed, "--save", tmp_path / "m.json")
    status, out, _ = run(capsys, path, "--model", tmp_path / "m.json")
    ranked = [str(path), "--model", str(tmp_path / "m.json"), "--out", "ranked.csv"]
    assert next_steps(out) == {"Write the scores of all rows": ranked}


def test_next_steps_do_not_replace_the_files_of_the_run(capsys, tmp_path):
    path, files = dated(tmp_path), [tmp_path / name for name in ("m.json", "s.csv", "r.html")]
    typed = ["--label", "y", "-p", "1"]
    options = ["--save", files[0], "--out", files[1], f"--report={files[2]}"]
    told = "The commands leave out the files of this run, so that they do not replace them."
    assert told not in run(capsys, path, *typed)[1]
    status, out, _ = run(capsys, path, *options, *typed)
    assert status == 0
    assert told in out
    before, steps = [file.read_bytes() for file in files], next_steps(out)
    assert steps["Test on the latest rows"] == [str(path), *typed, "--time", "created"]
    for what, words in steps.items():
        if what != "Rank new rows":
            assert run(capsys, *words)[0] == 0
    assert [file.read_bytes() for file in files] == before
    assert steps["Rank new rows"][1:3] == ["--model", str(files[0])]


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
    path = compared_file(tmp_path, lambda X: 1.2 * np.sign(X[:, 0]))  # one column
    page = tmp_path / "r.html"
    status, out, _ = run(capsys, path, "--label", "y", "--report", page)
    assert status == 0
    text = " ".join(out.split())
    line = next(line for line in out.splitlines() if line.startswith("  average precision ")).split()
    own, (linear, curves, trees, column) = float(line[2]), map(float, line[-5:-1])
    names = {"the linear model": linear, "logistic curves": curves, "boosted trees": trees, "“a” alone": column}
    for name, other in names.items():
        told = rf"Against {name}: [^;]*(?:\([^)]*\))?; (?:(?:nearly )?the same )?average precision,? {own:.3f}"
        told += rf" against {other:.3f} \(" * (other != own)
        assert (re.search(told, page.read_text(encoding="utf-8")) is not None) == (name != "“a” alone" or other > own)
        cells = re.search(
            rf" {name.removeprefix('the ').replace('“a”', 'a')} [+−\d]+ \(.*?\)(?: \w+)? ([+−])(\d\.\d+) \(", text
        )
        assert (cells is not None) == (name != "“a” alone" or other > own)
        if cells is not None:
            assert float(cells[2]) * (1 if cells[1] == "+" else -1) == pytest.approx(own - other, abs=1.1e-3)
    (told,) = re.findall("The test does not show that this list is better than the linear model[^.]*simpler[.]", text)
    assert page.read_text(encoding="utf-8").count(told) == 1
    assert "better than “logistic curves”" not in text  # they are no simpler
    steps = next_steps(out)
    words = steps["Learn straight lines only"]
    assert words[-3:] == ["--straight", "-p", "1"]
    status, lines, _ = run(capsys, *words)
    assert (status, "Learn straight lines only" in lines) == (0, False)
    assert "a sum of straight lines" in lines
    assert "the linear model" not in lines  # which is no simpler then
    assert ("Use a alone, which may do as well" in steps) == (column > own)
    if column > own:
        words = steps["Use a alone, which may do as well"]
        assert words[-2:] == ["--only", "a"]
        status, out, _ = run(capsys, *words)
        assert status == 0
        assert not any(what.startswith("Use a alone") for what in next_steps(out))

    path = compared_file(tmp_path, lambda X: 2.0 * X[:, 0] ** 2 - 2.0 * X[:, 1] ** 2, n=3000)  # no line, no column
    status, out, _ = run(capsys, path, "--label", "y", "--report", page)
    assert status == 0
    text = " ".join(out.split())
    assert set(re.findall(r"“(.*?)” is better than this", text)) <= {"logistic curves"}
    assert not any(said in text for said in ("does not show", "may do as well"))


def test_equal_first_rows_come_with_what_the_interval_allows():
    rng = np.random.default_rng(0)
    f_pos, f_neg = rng.normal(1, 1, 100), rng.normal(0, 1, 300)
    g_pos, g_neg = f_pos + rng.normal(0, 0.4, 100), f_neg + rng.normal(0, 0.4, 300)
    found = quality(f_pos, f_neg, {"other": (g_pos, g_neg)}, depths=[10])
    by, low, high = [10 * x for x in found.difference.value]
    text = " ".join(" ".join(printing.quality_lines(found)).split())
    assert low < 0 < high
    assert f" other {by:+.0f} ({low:.0f} to {high:+.0f}) ".replace("-", "−").replace("+0", "0") in text
    short, full = [" ".join(printing.test_notes(found, has_details)) for has_details in (False, True)]
    assert "hold jointly" not in short
    assert "The intervals of all 2 differences to other lists, shown or not, hold jointly with 95 % confidence" in full
    value, low, high = found.averages[0].value
    exact = [pnorm.metrics.average_precision(*sides) for sides in ((f_pos, f_neg), (g_pos, g_neg))]
    assert float(value) == pytest.approx(exact[0] - exact[1])
    assert low < value < high


def test_straight_lines_are_a_step_for_tables_with_text_too(capsys, tmp_path):
    path, model = compared_file(tmp_path, lambda X: 1.2 * X[:, 0]), tmp_path / "m.json"
    frame = pandas.read_csv(path)
    frame.assign(kind=np.random.default_rng(0).choice(["u", "v"], len(frame))).to_csv(path, index=False)
    status, out, _ = run(capsys, path, "--label", "y", *QUICK)
    assert status == 0
    assert re.search("better than the linear model(, which is| or “.” alone, which are) simpler", " ".join(out.split()))
    words = next_steps(out)["Learn straight lines only"]
    status, out, _ = run(capsys, *words, "--save", model)
    assert (status, "Learn straight lines only" in out) == (0, False)
    names = pnorm.load(model).H.names
    assert names == ("a (line)", "b (line)", "n0 (line)", "n1 (line)", "n2 (line)", "kind = u", "kind = v")


@pytest.mark.parametrize(("curve", "straight", "is_step"), [(0.5, 0.5, True), (0.6, 0.5, False), (0.505, 0.5, True)])
def test_straight_lines_are_no_step_where_cross_validation_prefers_curves(curve, straight, is_step):
    noise = np.random.default_rng(0).normal(0, 0.02, (2, 5, 1))
    scores = np.array([curve, straight])[:, None, None] + noise
    folds = np.zeros(10, int), np.zeros(10, int)
    for first, second in ((scores, None), (np.full((2, 5, 1), 0.6), scores), (scores, np.full((2, 5, 1), 0.6))):
        found = pnorm.CrossValidation(
            np.ones(2), None, first, folds, (), "partial_auc", kinds=("line + cuts", "lines"), second_scores=second,
            l1=np.zeros((2, 1)), l2=np.ones((2, 1)), along="l2",
        )  # fmt: skip
        assert _prefers_curves(found) != is_step
    one = pnorm.CrossValidation(np.ones(1), None, scores[:1], folds, (), "auc", l2=np.ones((1, 1)), along="l2")
    assert not _prefers_curves(one)


@pytest.mark.parametrize("gap", [1, 4])
def test_a_column_of_dates_with_gaps_is_not_suggested(capsys, tmp_path, gap):
    status, out, _ = run(capsys, dated(tmp_path, gaps=[gap]), "--label", "y", "-p", 1)  # in training, or held out
    assert (status, "--time" in out) == (0, False)


def test_a_column_with_another_spelling_is_named(capsys, tmp_path):
    path, model = dated(tmp_path), tmp_path / "m.json"
    assert run(capsys, path, "--label", "y", "-p", 1, "--save", model)[0] == 0
    other = tmp_path / "new.csv"
    pandas.read_csv(path).rename(columns={"x": "X"}).to_csv(other, index=False)
    said = f"pnorm: error: {model} does not fit {other}: the file lacks the column 'x' which the model needs; "
    assert run(capsys, other, "--model", model) == (2, "", f"{said}did you mean 'X'?\n")
    assert run(capsys, other, "--model", model, "--memory", 0.001) == (2, "", f"{said}did you mean 'X'?\n")
    status, _, err = run(capsys, path, "--label", "y", "--test", other)
    assert (status, err) == (2, f"pnorm: error: no column 'x' in {other}, the file of --test; did you mean 'X'?\n")


def test_a_column_that_is_lacking_can_be_added_empty(capsys, tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    rng, y = np.random.default_rng(0), np.arange(200) % 4 == 0
    table = {"x": y + rng.normal(size=200), "z": rng.normal(size=200), "kind": rng.choice(["a", "b"], 200)}
    frame = pandas.DataFrame(table | {"y": y.astype(int)})
    frame.to_csv(path, index=False)
    assert run(capsys, path, "--label", "y", *QUICK, "--save", model)[0] == 0
    new = tmp_path / "new.csv"
    said = f"pnorm: error: {model} does not fit {new}: the file lacks the column"
    for lacking, told in (
        (["kind"], " 'kind' which the model needs. Add it, empty if it is unknown\n"),
        (["x", "kind"], "s 'x', 'kind' which the model needs. Add them, empty if they are unknown\n"),
    ):
        frame.drop(columns=["y", *lacking]).to_csv(new, index=False)
        for more in ((), ("--memory", 0.001)):
            assert run(capsys, new, "--model", model, *more) == (2, "", said + told)
        frame.drop(columns="y").assign(**dict.fromkeys(lacking, "")).to_csv(new, index=False)
        status, out, _ = run(capsys, new, "--model", model)
        assert status == 0
        assert all(f"{name} is missing in 100.0 % of the rows" in " ".join(out.split()) for name in lacking)
    pnorm.save(model, [1.0, 2.0], pnorm.rankers.columns(frame[["x", "z"]]))  # takes no missing values
    frame[["x"]].to_csv(new, index=False)
    assert run(capsys, new, "--model", model) == (2, "", f"{said} 'z' which the model needs\n")


@each_value()
@pytest.mark.parametrize("good", ["both", "hits", "average", "neither"])
@pytest.mark.parametrize("push", ["top", "bottom"])
def test_one_column_that_is_as_good_is_told(good, push):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4 == 0
    f = rng.normal(size=400) + 1.5 * y
    order = np.argsort(f if push == "bottom" else -f, kind="stable")
    alone = f.copy()
    if good in ("average", "neither"):  # its first rows are misses
        misses = [k for k in order if y[k] == (push == "bottom")]
        alone[misses[:5]] = 9.0 if push == "top" else -9.0
    if good == "hits":
        alone[order[60:]] = rng.permutation(f[order[60:]])
    if good == "average":
        alone[order[10:]] = (-1 if push == "bottom" else 1) * np.where(y == (push == "top"), 5.0, -5.0)[order[10:]]
        alone[misses[:5]] = 9.0 if push == "top" else -9.0
    lists = {"linear model": rng.normal(size=400), "age alone": alone}
    measured = quality(f[y], f[~y], {name: (g[y], g[~y]) for name, g in lists.items()}, push=push)
    average = measured.measure("average_precision")
    hits = measured.measure("hits", measured.difference.depth)
    assert (hits.others[1] >= hits.value) == (good in ("both", "hits"))
    assert (average.others[1] >= average.value) == (good in ("both", "average"))
    text = " ".join(" ".join(printing.quality_lines(measured)).split())
    first, what = ("last", "negative") if push == "bottom" else ("first", "positive")
    (of,) = measured.further
    assert of.other == "age alone"
    by, low, high = [of.depth * x for x in of.value]
    assert by == pytest.approx(measured.measure("hits", of.depth).value - measured.measure("hits", of.depth).others[1])
    assert low <= by <= high
    depths = {difference.depth for difference in measured.differences}
    where, before = ("rows", f"{of.depth} rows: ") if len(depths) > 1 else (of.depth, "")
    ends = [f"{math.floor(low + 1e-9):+d}", f"{math.ceil(high - 1e-9):+d}"]  # k / n times n may be below k
    cell = f"{by:+.0f} ({ends[0]} to {ends[1]})".replace("-", "−").replace("+0", "0")
    (told,) = re.findall(rf"age alone {before}{re.escape(cell)}( better| worse)? [+−0]", text) or [None]
    if told is not None:
        assert f" difference from {what}s in the {first} {where} average precision linear model " in text
    assert (told is not None) == (low <= 0 or average.others[1] >= average.value)
    assert told in (None, " worse" if high < 0 else " better" if low > 0 else "")


def test_a_list_of_noise_is_said_to_be_one(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path, page = tmp_path / "noise.csv", tmp_path / "r.html"
    frame = pandas.DataFrame(rng.normal(size=(1500, 3)), columns=["a", "b", "c"])
    frame.assign(y=(rng.random(1500) < 0.3).astype(int)).to_csv(path, index=False)
    status, out, _ = run(capsys, path, "--label", "y", "-p", 1, "--l2", 0.01, "--report", page)
    assert status == 0
    told = "The test does not show that this list is better than a random order."
    assert re.search(rf"\nTest on .*\n  {told}\n", out)
    assert told in page.read_text(encoding="utf-8")
    assert "Do not use this list." in out
    _, cut, _ = run(capsys, path, "--label", "y", "-p", 1, "--l2", 0.01, "--budget", 10)
    assert f"\nCut-off\n  {told} So a cut-off of it is of no use.\n" in cut
    assert "No probabilities are shown" in out
    assert not re.search(r"rank .* probability", out)
    assert not {"--budget", "--save", "--model"} & {word for words in next_steps(out).values() for word in words}
    frame.assign(y=(rng.random(1500) < 1 / (1 + np.exp(1 - 2 * frame["a"]))).astype(int)).to_csv(path, index=False)
    status, out, _ = run(capsys, path, "--label", "y", "-p", 1, "--l2", 0.01, "--report", page)
    assert (status, "does not show that this list is better than a random order" in out) == (0, False)
    assert told not in page.read_text(encoding="utf-8")
    assert "Save the model" in next_steps(out)


def test_ids_of_several_rows_are_to_be_kept_together(capsys, tmp_path):
    rng, path, model = np.random.default_rng(0), tmp_path / "t.csv", tmp_path / "m.json"
    y = np.arange(600) % 4 == 0
    table = {"x": rng.normal(size=600) + y, "order": [f"A{k}" for k in range(600)], "y": y.astype(int)}
    for name, steps in (
        ("Client Nr.", {"Keep the rows of an id together": "Client Nr."}),
        ("client", {"Show the id of each row": "order"}),
    ):
        pandas.DataFrame(table | {name: [f"C{k // 3}" for k in range(600)]}).to_csv(path, index=False)
        status, out, _ = run(capsys, path, "--label", "y", *QUICK, "--save", model)
        assert status == 0
        assert {what: of[-1] for what, of in next_steps(out).items() if of[-2] == "--id"} == steps
    assert run(capsys, path, "--label", "y", *QUICK, "--id", "client")[0] == 0
    hint = "  y is the label of the model. To test the list: --label y\n"
    assert hint in run(capsys, path, "--model", model)[1]
    assert hint not in run(capsys, path, "--model", model, "--label", "y")[1]


def test_the_sheets_of_a_workbook_without_the_label_are_named(capsys, tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "t.xlsx"
    with pandas.ExcelWriter(path) as workbook:
        pandas.DataFrame({"note": ["read me"]}).to_excel(workbook, sheet_name="Info", index=False)
        pandas.DataFrame({"x": [1, 2], "y": [0, 1]}).to_excel(workbook, sheet_name="Rows", index=False)
    _, _, err = run(capsys, path, "--label", "y")
    assert err == (
        f"pnorm: error: no column 'y' in {path}; its columns are note. This is the sheet 'Info'; the other is 'Rows'. "
        "Choose one with --sheet\n"
    )


def test_another_list_that_is_better_beyond_chance_comes_with_a_warning():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 4 == 0
    f, g = rng.normal(size=2000) + 0.5 * y, rng.normal(size=2000) + 3.0 * y
    for scores, is_better in ((g, True), (f - 1e-9 * np.arange(2000), False)):
        measured = quality(f[y], f[~y], {"other": (f[y], f[~y]), "x alone": (scores[y], scores[~y])})
        warned = texts(verdicts(measured, None), "better")
        assert (warned != []) == is_better
        text = " ".join(" ".join(printing.quality_lines(measured)).split())
        assert (re.search(r" x alone −\d+ \([^()]*\) worse ", text) is not None) == is_better


@pytest.mark.parametrize(("top", "k"), [(10, 50), (60, 60)])
def test_the_first_probabilities_are_checked_in_the_terminal_and_in_the_report(capsys, tmp_path, top, k):
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "b"])
    frame["y"] = (rng.random(1000) < 1.0 / (1.0 + np.exp(1.0 - 1.5 * frame["a"]))).astype(int)
    path, page, model, empty = (tmp_path / name for name in ("t.csv", "r.html", "m.json", "e.csv"))
    frame.to_csv(path, index=False)
    frame.assign(y=frame["y"].astype("Int64").where(frame.index >= 100)).to_csv(empty, index=False)
    how = ("--label", "y", "--top", top, "--report", page)
    sentence = r"The probabilities of the first {} sum to [\d.]+(, which is too \w+)?; \d+ are positive\."
    learned = path, "-p", 1, "--l2", 1e-3, "--save", model
    ranked = empty, "--model", model, "--unlabelled", "rank"  # among these rows are training rows
    for words, rows in ((learned, f"{k} test rows"), (ranked, f"{k} rows")):
        status, out, _ = run(capsys, *words, *how)
        assert status == 0
        told = re.search(sentence.format(rows), " ".join(out.split()))
        assert told is not None
        assert told[0] in page.read_text(encoding="utf-8")
    assert "test rows sum" not in run(capsys, path, *how, "-p", 1, "--l2", 1e-3, "--holdout", 0)[1]
    text = page.read_text(encoding="utf-8")
    assert re.search(sentence.format(f"{k} rows"), text)
    assert "test rows sum" not in text


def test_a_failed_cutoff_says_at_once_that_none_is_saved():
    pos, neg = np.arange(20.0, 60.0), np.arange(0.5, 50.0)
    for asked, none, gives in (
        ({"precision": 0.99}, "a precision of 99 %", "of the rows taken are positive"),
        ({"recall": 0.99}, "a recall of 99 %", "of the positives are taken"),
    ):
        failed = pnorm.cutoff(pos, neg, **asked)
        told = " ".join(printing.cutoff_lines(failed))
        assert told.startswith(f"No cut-off guarantees {none} with 95 % confidence. A saved model has no cut-off. ")
        assert f"The nearest cut takes rows with a score of {failed._at()} or more." in told
        promise = f"at least {100 * failed.promised:.4g} % {gives}, with 95 % confidence."
        assert f"For new rows like these, {promise}" in told
        assert not re.search("To plan|this guarantee|expect", told)
    for asked in ({"precision": 0.5}, {"recall": 0.5}, {"budget": 20}):
        told = " ".join(printing.cutoff_lines(pnorm.cutoff(pos, neg, **asked)))
        assert told.startswith("Take rows with a score of ")
        assert "To plan, use this guarantee for new rows like these: at least" in told
        in_one = (
            r"In a new list of 90 rows, \d+ have this score or more on average, and \d+ to \d+ of them are positive "
        )
        assert re.search(in_one + r"\(95 % interval for one list; it covers chance in the test and in the list\)", told)
        assert not re.search("A saved model|nearest|simulation", told)
        of_part = " ".join(printing.cutoff_lines(pnorm.cutoff(pos, neg, **asked), True))
        assert ("as here, it was checked by simulation." in of_part) == ("recall" not in asked)


@pytest.mark.parametrize("is_given", [True, False])
def test_a_budget_that_equal_scores_leave_unused_says_so(is_given):
    f, y = np.repeat([9.0, 5.0, 1.0], [43, 50, 907]), np.arange(1000) % 2 == 0
    why = "takes 93 held-out rows and not 100, because the next rows have equal scores and would make more than 100"
    for budget, is_told in ((100, True), (93, False)):
        found = pnorm.cutoff(f, y=y, budget=budget, of=1000)
        assert (why in " ".join(printing.budget_notes(found, budget, is_given))) == is_told


def test_a_failed_first_test_of_a_precision_names_the_option():
    f = -np.arange(1000.0)
    deeper = ". --at-least ROWS begins them deeper: use it with new labelled rows (a new file with --test). "
    for y, rows in (
        (np.arange(1000) % 3 > 0, "the first 22 held-out rows, of which 14 are positive"),
        (np.arange(1000) > 500, "these rows"),
    ):
        failed = pnorm.cutoff(f, y=y, precision=0.8)
        told = " ".join(printing.cutoff_lines(failed))
        assert f"The tests begin with {rows}{deeper}" in told
        assert "--seed" not in told
    assert "--at-least" not in " ".join(printing.cutoff_lines(pnorm.cutoff(f, y=y, recall=0.9999)))


def test_the_terminal_and_the_report_have_the_same_verdicts(capsys, tmp_path):
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    path, page = tmp_path / "t.csv", tmp_path / "r.html"
    frame.assign(y=rng.integers(0, 2, 120)).to_csv(path, index=False)
    status, out, _ = run(capsys, path, "--label", "y", "-p", 4, "--l2", 1e-3, "--report", page)
    assert status == 0
    shown_page = html.unescape(page.read_text(encoding="utf-8"))
    printed = " ".join(out.split())
    few = re.search(r"The test has only \d+ (positive|negative) rows, so the intervals are wide\.", printed)
    told = [few[0], "Label more rows before you use this list."]
    told += re.findall(r"The test does not show that this list is better than [^.]*\.", printed)
    told += re.findall(
        r"The probabilities are [^;]*; 1 is right\)\. Use them as an order only, or recalibrate them\.", printed
    )
    assert len(told) >= 4
    assert [text for text in told if text not in shown_page] == []
    assert [shown_page.count(text) for text in told if ", which are simpler" in text] == [1]
    assert shown_page.count("better than a random order.") == 1
    proved = "Training reached the minimum of its objective"  # which may be taken for a proof of the list
    assert proved not in printed + shown_page
    out = run(capsys, path, "--label", "y", "-p", 4, "--l2", 1e-3, "--details")[1]
    assert proved in " ".join(out.split())


@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 10), (1, 200), (200, 1)])
def test_one_row_of_a_class_never_shows_that_a_list_is_any_good(n_pos, n_neg):
    measured = quality(np.arange(n_pos) + 0.99 * n_neg, np.arange(n_neg))
    assert not measured.beats_chance
    assert texts(verdicts(measured, None), "few")[0].endswith("rows or more, so that 5 are held out.")


def test_rows_that_a_model_was_trained_on_are_recognised(capsys, tmp_path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    frame["y"] = (rng.random(400) < 1 / (1 + np.exp(-frame["a"]))).astype(int)
    path, again, new, model = [tmp_path / name for name in ("t.csv", "again.csv", "new.csv", "m.json")]
    frame.to_csv(path, index=False)
    assert run(capsys, path, "--label", "y", "-p", 1, "--l2", 0.1, "--save", model)[0] == 0
    frame.sample(frac=1, random_state=0).to_csv(again, index=False)
    frame.assign(a=rng.normal(size=400)).to_csv(new, index=False)
    part, page = tmp_path / "part.csv", tmp_path / "r.html"
    frame[:150].to_csv(part, index=False)
    told = "warning: the file contains rows that the model was trained on"
    for file, known in ((path, True), (again, True), (part, True), (new, False)):
        for more in ([], ["--memory", "0"]):
            out = run(capsys, file, "--model", model, "--label", "y", *more)[1]
            assert (told in " ".join(out.split())) == known
    assert told not in run(capsys, path, "--model", model)[1]
    assert run(capsys, part, "--model", model, "--label", "y", "--report", page)[0] == 0
    words = " ".join(re.sub("<[^>]*>", " ", page.read_text(encoding="utf-8")).split())
    assert "Measured on 150 rows with labels" in words
    assert "The file contains rows that the model was trained on" in words
    assert "held-out rows" not in words.lower()
    about = json.loads(model.read_text())
    assert "training_scores" in about["metadata"]
    del about["metadata"]["training_scores"]  # as in a model of before
    model.write_text(json.dumps(about))
    assert "a file that is called t.csv too" in " ".join(run(capsys, path, "--model", model, "--label", "y")[1].split())
    assert "warning" not in run(capsys, again, "--model", model, "--label", "y")[1]


@pytest.mark.parametrize("memory", [[], ["--memory", "0"]], ids=["memory", "batches"])
def test_other_labels_can_be_set_apart(capsys, tmp_path, memory):
    rng = np.random.default_rng(0)
    path, out_path = tmp_path / "t.csv", tmp_path / "o.csv"
    labels = np.array(["Yes", "yes", "No", "no", "pending", ""])[np.arange(600) % 6]
    pandas.DataFrame({"x": rng.normal(size=600) + np.isin(labels, ["Yes", "yes"]), "y": labels}).to_csv(
        path, index=False
    )
    how = ["--label", "y", "-p", 1, "--l2", 0.1, *memory]
    status, _, err = run(capsys, path, *how)
    assert status == 2
    if not memory:
        for told in (
            "in 100 of 600 rows",
            "pending (100)",
            "--positive",
            "Yes and yes",
            "--unlabelled rank",
        ):
            assert told in err
    status, out, _ = run(capsys, path, *how, "--positive", "yes", "--unlabelled", "rank")
    assert status == 0
    assert re.search(r"\n  negative: (no|No|pending) \(100\), (no|No|pending) \(100\), (no|No|pending) \(100\)\n", out)
    status, out, _ = run(capsys, path, *how, "--negative", "no", "--unlabelled", "rank", "--out", out_path)
    assert status == 0
    assert out.startswith(f"{path}: 400 rows with a label, 200 positive (y = Yes or yes), 50 %\n")
    written = pandas.read_csv(out_path, keep_default_na=False)
    assert sorted(written["y"]) == sorted(labels)
    assert (written["labelled"] == written["y"].isin(["Yes", "yes", "No", "no"])).all()
    assert run(capsys, path, *how, "--negative", "no")[0] == 2
    assert "leave --negative out" in run(capsys, path, *how, "--negative", "no", "--unlabelled", "negative")[2]
    assert "no row has the label" in run(capsys, path, *how, "--negative", "lost", "--unlabelled", "rank")[2] or memory


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
    status, out, err = run(capsys, path, "--label", "y")
    assert (status, out) == (2, "")
    assert err.endswith("no column can be used (x: all values are equal)\n")  # no kind would make it of use
    path.write_text("id,y\n" + "".join([f"t{k},{k % 2}\n" for k in range(50)]))
    assert run(capsys, path, "--label", "y")[2].endswith("nearly all values differ)\n")  # nor this one
    path.write_text("id,y\n" + "".join([f"t{max(k, 3)},{k % 2}\n" for k in range(50)]))
    assert "nearly all values differ); --kind COLUMN=category uses one anyway" in run(capsys, path, "--label", "y")[2]
    assert run(capsys, path, "--label", "y", "--kind", "id=category", *QUICK)[0] == 0
    path.write_text("x,y\n1,0\n1,1\n")
    status, out, _ = run(capsys, path, "--label", "y", "--rankers", "columns", "--details")
    assert status == 0
    assert "0 of 1 term of the score in use" in out


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


def test_an_interrupt_is_status_130(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(pnorm, "train", interrupt)
    assert main([]) == 130


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
    status, out, err = run(capsys, path, "--ignore", "city", *arguments, option, other)
    assert (status, out, err) == (
        2,
        "",
        f"pnorm: error: {option} {other} would overwrite {message}. Choose another name\n",
    )
    assert {each: each.read_bytes() for each in tmp_path.iterdir() if each.exists()} == before


_FORKED = """
import json, os, sys
from pnorm._command import demonstration, printing, progress
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
        ("- --label y --out t.csv < t.csv > seen", "--out t.csv would overwrite the input. Choose another name"),
        (
            "t.csv --label y --save seen < t.csv > seen",
            "--save seen would overwrite the standard output. Choose another name",
        ),
        (
            "t.csv --label y --out /dev/stdout --save seen < t.csv > seen",
            "--save seen would overwrite the file of --out. Choose another name",
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
        jobs.append((str(tmp_path / str(k)), ["-t", "1", "--rankers", "columns", *words], source, target))
    done = subprocess.run(
        [sys.executable, "-P", "-c", _FORKED, json.dumps(jobs)], capture_output=True, text=True, check=True
    )
    for k, ((line, message), status) in enumerate(zip(cases, done.stdout.split(), strict=True)):
        folder = tmp_path / str(k)
        expected = (0, "") if message is None else (2, f"pnorm: error: {message}\n")
        assert (int(status), (folder / "errors").read_text()) == expected, line
        assert (folder / "t.csv").read_text() == "x,y\n1,1\n0,0\n2,0\n"
        if "m.json" in line:
            assert pnorm.load(folder / "m.json").H.names == ("x",)
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

    learn = ["--label", label, "--positive", word, "--save", model]
    wanted = ["--out", tmp_path / f"o{HOSTILE}", "--id", column]
    out = tried(*learn, *wanted, "--rankers", "columns", expected=0)
    assert "\\x1b" in out.split("Top of the list")[1]
    out = tried(*learn, "--rankers", "columns", "--out", tmp_path / f"o{HOSTILE}", expected=0)
    assert r"y\x1b]0 title\x07\x1b[2J\r\nrow" in out
    about = pnorm.load(model)
    assert about.H.names == (column, "b")  # as they are
    assert (about.metadata["label"], about.metadata["positive"]) == (label, [word])
    tried("--model", model, expected=0)
    tried("--model", model, "--label", label, "--positive", word, expected=0)
    separate = [rows[0], *([str(row[2] == word), "0", row[2]] for row in rows[1:])]
    separate = [[x.replace("True", "1").replace("False", "0") for x in row] for row in separate]
    assert "alone almost separates positives" in tried(
        *learn, "-p", 1, changed=[separate[0], *separate[1:] * 4], expected=0
    )

    tried(*learn, "--rankers", "columns", expected=0)
    tried("--label", label)
    tried("--label", label, "--positive", HOSTILE)
    tried("--label", f"no{HOSTILE}")
    tried("--label", label, "--ignore", f"no{HOSTILE}")
    tried("--label", label, "--ignore", label)
    tried("--label", label, "--ignore", column, "--ignore", "b")
    tried("--model", model, changed=[row[1:] for row in rows])
    tried("--model", path)
    tried("--model", tmp_path / f"none{HOSTILE}")
    tried(*learn, "--out", tmp_path / HOSTILE / "o")
    tried(*learn, "--out", path)
    for first, second in ((HOSTILE, "1"), ("", "1"), ("1e999", "1"), ("1", "")):
        tried(*learn, "--rankers", "columns", changed=[rows[0], [first, "1", word], [second, "1", "no"]])
        bad = [rows[0], [first, "1", word], *rows[1:], [second, "1", "no"]]
        if first in (HOSTILE, "1e999"):
            said = tried(*learn[:4], "--kind", f"{column}=number", "--holdout", "0", changed=bad, expected=0)
            assert "1 value does not read as a number and counts as missing" in " ".join(said.split())
        tried("--model", model, changed=[rows[0], [first, "1", word], [second, "1", "no"]])
    tried(*learn, changed=[*rows, ["1", "1", ""]])
    tried(*learn, changed=[[column, column, label], *rows[1:]])
    tried(*learn, changed=[*rows, ["1"]])
    tried(HOSTILE, *learn)
    tried(f"--{HOSTILE}", *learn)  # with a blank in it, it is a file
    for wrong in (["--rankers", HOSTILE], ["-t", HOSTILE], ["--label", "y", HOSTILE]):
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
        ([path, "--label", "y"], 2),
        ([path, "--label", name], 2),
        ([*learn, "--ignore", name + "3"], 2),
        ([*learn, "--out", path / name], 2),
        ([path, "--label", f"{name}1"], 2),
    ):
        status, out, err = run(capsys, *arguments)
        assert status == expected
        assert len(out + err) < 5000
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


@pytest.mark.parametrize("name", ["leads.parquet", "leads.PQ", "leads.feather", "leads.arrow", "leads", "leads.csv"])
def test_parquet_and_arrow_files_are_ranked_as_csv_is(capsys, table, tmp_path, name):
    path, *_ = table
    arguments = ["--label", "bought", "-t", 30, "--out", tmp_path / "scores.csv"]
    assert run(capsys, path, *arguments)[0] == 0
    expected = pandas.read_csv(tmp_path / "scores.csv")
    expected["bought"] = expected["bought"].astype(bool)  # labels are written as they are read
    (tmp_path / "other").mkdir()
    other = write(frame_of(table), tmp_path / "other" / name)
    status, out, err = run(capsys, other, *arguments)
    assert (status, err) == (0, "")
    assert out.startswith(f"{other}: 60 rows, 20 positive (bought = True), 33.3 %\n")
    pandas.testing.assert_frame_equal(pandas.read_csv(tmp_path / "scores.csv"), expected, check_exact=True)


def test_the_index_of_a_frame_names_rows_and_is_not_learned_from(capsys, table, tmp_path):
    frame, path = frame_of(table).assign(lead=np.arange(60) ** 2), tmp_path / "leads.parquet"
    frame[frame["visits"] < 1e9].to_parquet(path, index=True)  # an index without a name
    assert "__index" not in run(capsys, path, "--label", "bought", *QUICK)[1]
    frame.set_index("lead").to_parquet(path)
    out = run(capsys, path, "--label", "bought", "--top", 1, *QUICK)[1]
    assert re.search(r"^  lead +not used$", out, re.MULTILINE)
    scores = tmp_path / "scores.csv"
    out = run(capsys, path, "--label", "bought", "--id", "lead", "--out", scores, *QUICK)[1]
    assert re.search(r"^  lead +id$", out, re.MULTILINE)
    assert set(pandas.read_csv(scores)["lead"]) == set(frame["lead"])
    out = run(capsys, path, "--label", "bought", "--only", "visits,lead", "--kind", "lead=number", *QUICK)[1]
    assert re.search(r"^  lead +number ", out, re.MULTILINE)


def test_parquet_from_the_standard_input(table, tmp_path):
    data = write(frame_of(table), tmp_path / "leads.parquet").read_bytes()
    command = [sys.executable, "-P", "-m", "pnorm", "-", "--label", "bought", "--ignore", "city", "-t", "3"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert b"-: 60 rows, 20 positive (bought = True)" in done.stdout


def labels_of_kinds():
    words = ["won", "lost", "won", "open"]
    return {
        "strings": (pyarrow.array(words), ["--positive", "won"], "won"),
        "large strings": (pyarrow.array(words, pyarrow.large_string()), ["--positive", "Won"], "won"),
        "dictionary": (pyarrow.array(words).dictionary_encode(), ["--positive", "won"], "won"),
        "booleans": (pyarrow.array([True, False, True, False]), [], "True"),
        "integers": (pyarrow.array([1, 0, 1, 0]), [], "1"),
        "small integers": (pyarrow.array([1, -1, 1, -1], pyarrow.int8()), [], "1"),
        "floats": (pyarrow.array([1.0, 0.0, 1.0, 0.0]), [], "1.0"),
        "dictionary of integers": (pyarrow.array([1, 0, 1, 0]).dictionary_encode(), [], "1"),
        "words": (pyarrow.array(["Yes", "no", "yes", "no"]), [], "Yes or yes"),
    }


@pytest.mark.parametrize("kind", labels_of_kinds())
def test_labels_of_all_kinds(capsys, tmp_path, kind):
    labels, arguments, shown = labels_of_kinds()[kind]
    path = write(pyarrow.table({"x": [4.0, 1.0, 3.0, 2.5], "y": labels}), tmp_path / "t.parquet")
    status, out, err = run(capsys, path, "--label", "y", *arguments)
    assert (status, err) == (0, "")
    assert f"4 rows, 2 positive (y = {shown})" in out


def columns_of_kinds():
    from decimal import Decimal

    return {
        "doubles": pyarrow.array([4.0, 1.0, 3.0, 2.0]),
        "floats": pyarrow.array([4, 1, 3, 2], pyarrow.float32()),
        "half": pyarrow.array(np.array([4, 1, 3, 2], np.float16)),
        "integers": pyarrow.array([4, 1, 3, 2], pyarrow.uint8()),
        "decimals": pyarrow.array([Decimal("4.00"), Decimal("1.00"), Decimal("3.00"), Decimal("2.00")]),
        "dictionary": pyarrow.array([4.0, 1.0, 3.0, 2.0]).dictionary_encode(),
        "text that is numbers": pyarrow.array(["4", " 1.0", "3", "+2"]),
    }


@pytest.mark.parametrize("kind", columns_of_kinds())
def test_numbers_of_all_kinds(capsys, tmp_path, kind):
    columns = {"x": columns_of_kinds()[kind], "flag": [True, True, False, False], "y": [1, 0, 1, 0]}
    path = write(pyarrow.table(columns), tmp_path / "t.feather" if kind == "half" else tmp_path / "t.parquet")
    model = tmp_path / "model.json"
    assert run(capsys, path, "--label", "y", "--rankers", "columns", "-t", 5, "--save", model)[0] == 0
    X, y = np.array([[4.0, 1], [1, 1], [3, 0], [2, 0]]), np.array([1, 0, 1, 0]) == 1
    np.testing.assert_array_equal(pnorm.load(model).lam, pnorm.train(X[y], X[~y], p=4, t_max=5)[0])


@each_value()
@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ({"x": [1.0, None], "y": [1, 0]}, COLUMNS, "column 'x' has a missing value in row 1 of FILE; fill it in, or --ignore 'x'"),
        ({"x": [1, None], "y": [1, 0]}, COLUMNS, "column 'x' has a missing value in row 1 of FILE"),
        ({"x": [1.0, np.nan], "y": [1, 0]}, COLUMNS, "column 'x' has a missing value in row 1 of FILE"),
        ({"x": [None, None], "y": [1, 0]}, COLUMNS, "column 'x' has a missing value in row 0 of FILE"),
        ({"x": [1.0, np.inf], "y": [1, 0]}, COLUMNS, "column 'x' has 'inf' in row 1 of FILE; every value must be finite"),
        ({"x": ["a", "b"], "y": [1, 0]}, COLUMNS, "column 'x' is not numeric: 'a' in row 0 of FILE; encode it as numbers, or --ignore 'x'"),
        ({"x": [[1], [2]], "y": [1, 0]}, COLUMNS, "column 'x' is not numeric: '[1]' in row 0 of FILE"),
        ({"x": [[1], [2]], "y": [1, 0]}, [], "no column can be used (x: values of type list<"),
        ({"x": [1, 2], "y": [1, None]}, [], "the label 'y' is missing in row 1 of FILE; rows to train on need one"),
        ({"x": [1, 2], "y": ["a", "?"]}, ["--positive", "a"], "the label 'y' is missing in row 1 of FILE"),
        ({"x": [1, 2], "y": ["a", "b"]}, [], "column 'y' has the labels a (1), b (1); name the positive label with --positive"),
        ({"x": [1, 2], "z": [1, 0]}, [], "no column 'y' in FILE; its columns are x, z"),
        ({"y": [1, 0]}, [], "FILE has no column to learn from except the label 'y'"),
        ({"x": pyarrow.array([], pyarrow.float64()), "y": pyarrow.array([], pyarrow.int8())}, [], "no rows"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_what_is_wrong_with_a_table(capsys, tmp_path, columns, arguments, message, suffix):
    path = write(pyarrow.table(columns), tmp_path / f"t{suffix}")
    status, out, err = run(capsys, path, "--label", "y", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("pnorm: error: ")
    assert message.replace("FILE", str(path)) in err


def test_columns_that_are_not_needed_are_not_read(capsys, tmp_path):
    frame = pandas.DataFrame(
        {"x": [1.0, 2.0, 3.0], "y": [0, 1, 1], "a.b": [1, 1, 0], "text": list("abc")}, index=[5, 9, 2]
    )
    frame.index.name = "number"
    path = write(frame, tmp_path / "t.parquet")
    model = tmp_path / "model.json"
    assert (
        run(capsys, path, "--label", "y", "--ignore", "text", "--rankers", "columns", "--save", model, "-t", 1)[0] == 0
    )
    assert pnorm.load(model).H.names == ("x", "a.b")  # and not the index


def test_damaged_files(capsys, table, tmp_path):
    whole = write(frame_of(table), tmp_path / "t.parquet").read_bytes()
    for name, data in (("cut.parquet", whole[:-50]), ("no.parquet", b"x,y\n1,2\n"), ("cut", whole[:100]),
                       ("no.feather", b"x,y\n1,2\n"), ("cut.arrow", b"ARROW1" + whole)):  # fmt: skip
        path = tmp_path / name
        path.write_bytes(data)
        status, out, err = run(capsys, path, "--label", "y")
        assert (status, out, err.count("\n")) == (2, "", 1)
        kind = "Arrow" if name in ("no.feather", "cut.arrow") else "Parquet"
        assert err.startswith(f"pnorm: error: {path} is no {kind} file that pyarrow can read: ")
    path = tmp_path / "empty.parquet"
    path.write_bytes(b"")
    assert f"{path} is empty" in run(capsys, path, "--label", "y")[2]


def test_without_pyarrow_the_extra_is_named(capsys, table, tmp_path, monkeypatch):
    csv_path, *_ = table
    path = write(frame_of(table), tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, _, err = run(capsys, path, "--label", "bought")
    assert status == 2
    assert err == (
        f"pnorm: error: {path} is a Parquet file. Reading it needs pyarrow. Install it with: pip install "
        '"pnorm-push[parquet]" (or: pip install pyarrow)\n'
    )
    assert run(capsys, csv_path, "--label", "bought", "--ignore", "city", "-t", 1)[0] == 0


def test_imports_of_the_command_are_what_it_needs(table):
    path, *_ = table
    code = (
        "import sys, pnorm._command.main\n"
        "sys.modules['sklearn'] = None  # which imports pandas\n"
        f"assert pnorm._command.main.main([{str(path)!r}, '--label', 'bought', '--ignore', 'city', '-p', '1', '-t', '1']) == 0\n"
        "assert not {'pyarrow', 'pandas', 'polars', 'pnorm._command.reproduce'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)


# Models


def test_a_push_at_the_bottom(capsys, table, tmp_path):
    path, X, y = table
    model = tmp_path / "model.json"
    about = path, "--label", "bought", "--ignore", "city", "-p", 16, "-t", 40, "--rankers", "columns", "--top", 4
    about = *about, "--holdout", 0
    status, out, _ = run(capsys, *about, "--push", "bottom", "--save", model)
    assert status == 0
    lam, _ = pnorm.train(X[y], X[~y], None, 16, 40, push="bottom")
    f = X @ lam
    at_end = pnorm.metrics.positives_at_top(-f[~y], -f[y])
    last = np.argsort(f, kind="stable")[:4]
    assert "with p = 16 at the bottom." in " ".join(out.split("\nModel\n")[1].split())
    for text in (out, run(capsys, path, "--model", model, "--label", "bought", "--top", 4)[1]):
        [line] = [line for line in text.splitlines() if line.startswith("  negatives below every positive")]
        assert line.split()[4] == str(at_end)
        lines = re.split("Bottom of the list.*\n", text)[1].splitlines()[1:5]
        assert [[int(word) for word in line.split()[:2]] for line in lines] == list(
            map(list, zip(range(60, 56, -1), last.tolist(), strict=True))
        )
    assert "trained with p = 16 at the bottom" in run(capsys, path, "--model", model)[1]
    outs = run(capsys, *about)[1], run(capsys, *about, "--push", "top")[1]
    assert outs[0] == outs[1].replace(" --push top", "")


@pytest.mark.whole_grid
@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (["-p", 1], ["line + cuts", "steps", "lines"]),
        (["-p", 1, "--rankers", "columns"], ["columns"]),
    ],
)
def test_what_is_not_given_is_chosen_on_folds(capsys, table, tmp_path, options, kinds):
    path, _, y = table
    model = tmp_path / "model.json"
    status, out, err = run(
        capsys, path, "--label", "bought", "--holdout", 0, "--ignore", "city", *options, "--save", model, "--details"
    )
    assert (status, err) == (0, "")
    frame = frame_of(table)[["visits", "age", "noise"]]
    how = {"linear": True} if "--linear" in options else {}
    if "--rankers" in options:
        how = {"rankers": pnorm.rankers.columns}
    expected = learn(frame[y], frame[~y], p=1.0, **how)
    loaded = pnorm.load(model)
    np.testing.assert_array_equal(loaded.score(frame), expected.score(frame))
    found = expected.cross_validation
    chosen = loaded.metadata["chosen"]
    assert (chosen["kind"] or "", chosen["folds"], chosen["points"]) == (expected.kind, 5, 11 * len(kinds))
    assert chosen["partial_auc"] == found.mean[found._best_place]
    lines = [line[2:] for line in out.split("  average precision\n")[1].splitlines()[: len(kinds)]]
    assert [line[2 : 2 + len(kind)] for line, kind in zip(lines, kinds, strict=True)] == kinds
    [star] = [line for line in lines if line.startswith("* ")]
    i, s = found._best_place
    assert f"{found.mean[i, s]:.4f} ± {found.standard_error[i, s]:.4f}" in star
    assert star.split()[-1] == f"{found.second_scores[i, :, s].mean():.4f}"
    for line, kind in zip(lines, kinds, strict=True):
        if line != star:
            own = np.array(found.kinds) == kind
            assert f"{found.mean[own].max():.4f} ± " in line


@pytest.mark.parametrize("kind", ["columns", "normalized", "thresholds"])
def test_a_model_is_saved_and_ranks_other_files(capsys, table, tmp_path, kind):
    path, X, y = table
    model, scores, again = (tmp_path / name for name in ("model.json", "scores.csv", "again.csv"))
    status, out, _ = run(capsys, path, "--label", "bought", "--ignore", "city", "--rankers", kind, "-p", 8, "-t", 40,
                         "--out", scores, "--save", model, "--holdout", 0)  # fmt: skip
    assert status == 0
    assert f"\n  model: {model}\n" in out
    loaded = pnorm.load(model)
    assert loaded.p == 8
    sides = loaded.score(X[y]), loaded.score(X[~y])
    assert loaded.intercept == pytest.approx(pnorm.intercept(*sides, 8), rel=1e-12)
    assert loaded.metadata["label"] == "bought"
    assert loaded.metadata["positive"] == ["1"]
    assert loaded.metadata["file"] == "leads.csv"

    frame = frame_of(table)
    f = loaded.score(frame[["city", "noise", "age", "visits"]])
    np.testing.assert_array_equal(f, loaded.score(X))
    others = [
        path,
        write(frame, tmp_path / "leads.parquet"),
        write(frame[["noise", "age", "visits"]], tmp_path / "few.arrow"),
    ]
    for other in others:
        status, out, err = run(capsys, other, "--model", model, "--out", again, "--top", 3)
        assert (status, err) == (0, "")
        columns = ["row", "score", "probability", "rank"]
        one, two = (pandas.read_csv(written)[columns] for written in (again, scores))
        pandas.testing.assert_frame_equal(one, two, check_exact=True)
        assert out.startswith(f"{other}: 60 rows\n  ranked by {model}, trained with p = ")
        assert "trained with p = 8, on 60 rows of leads.csv" in out
        order = np.argsort(-f, kind="stable")[:3]
        lines = out.split("Top of the list: 3 rows of 60\n")[1].splitlines()[1:4]
        assert [int(line.split()[1]) for line in lines] == order.tolist()
    for other in others[:2]:
        status, out, err = run(capsys, other, "--model", model, "--label", "bought")
        assert (status, err) == (0, "")
        measures = {
            line.partition("  ")[0]: line.split("  ", 1)[1].split()
            for line in map(str.strip, out.splitlines())
            if "  " in line
        }
        assert int(measures["positives above every negative"][0]) == pnorm.metrics.positives_at_top(f[y], f[~y])
        assert measures["AUC"][0] == f"{pnorm.metrics.auc(f[y], f[~y]):.3f}"


def test_a_model_of_python_ranks_a_file(capsys, tmp_path):
    rows = pandas.DataFrame(
        {"age": [31.0, np.nan, 60.0, 20.0], "town": ["Ulm", "Bonn", "Ulm", "Bonn"], "id": [7, 8, 9, 10]}
    )
    numbers, words = ["age"], ["town"]
    H = pnorm.rankers.quantile_thresholds(rows[numbers][:2], rows[numbers][2:], missing="own")
    H = H + pnorm.rankers.categories(rows[words][:2], rows[words][2:])
    lam = np.arange(1.0, len(H) + 1)
    model, scores = tmp_path / "model.json", tmp_path / "scores.csv"
    pnorm.save(model, lam, H)
    expected = pnorm.score(rows, H, lam)
    csv_path = tmp_path / "rows.csv"
    rows.to_csv(csv_path, index=False)
    for path in (csv_path, write(rows, tmp_path / "rows.parquet")):
        assert run(capsys, path, "--model", model, "--out", scores)[0] == 0
        written = pandas.read_csv(scores).set_index("row")["score"]
        np.testing.assert_array_equal(written.sort_index(), expected)
    pnorm.save(model, [1.0, 2.0])
    by_position = tmp_path / "two.csv"
    by_position.write_text("a;b;c\n1;2;0\n3;4;1\n")
    assert run(capsys, by_position, "--model", model, "--ignore", "c", "--out", scores)[0] == 0
    assert (
        scores.read_text()
        == "row,score,rank,reasons\n1,11.0,1,x1 = 4 (+2.00); x0 = 3 (+1.00)\n0,5.0,2,x1 = 2 (-2.00); x0 = 1 (-1.00)\n"
    )
    status, _, err = run(capsys, by_position, "--model", model)
    assert (status, err.count("\n")) == (2, 1)
    assert f"{model} does not fit {by_position}: X has 3 columns; these weak rankers were made for 2" in err
    pnorm.save(model, [1e308, 1e308])
    status, _, err = run(capsys, by_position, "--model", model, "--ignore", "c")
    assert (status, err.count("\n")) == (2, 1)
    assert "the score of row 0, or a part of its sum, is more than a double holds" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "MODEL", "-p", "4"], "-p is an option of learning, and --model does not learn"),
        (["--model", "MODEL", "-t", "4"], "-t is an option of learning"),
        (["--model", "MODEL", "--rankers", "columns"], "--rankers is an option of learning"),
        (["--model", "MODEL", "--push", "bottom"], "--push is an option of learning"),
        (["--model", "MODEL", "--save", "MODEL"], "--save is an option of learning"),
        (["--model", "MODEL", "--unlabelled", "rank"], "--unlabelled needs the labels of the rows. Add --label COLUMN"),
        (["--model", "MODEL", "--positive", "1"], "--positive needs the labels of the rows. Add --label COLUMN"),
        (["--model", "none.json"], "none.json: No such file or directory"),
        (["--model", "FILE"], "FILE is no model: it is not JSON"),
        (["--model", "MODEL", "--ignore", "x"], "MODEL does not fit FILE: the file lacks the column 'x' which"),
        (["--model", "MODEL", "--label", "z"], "no column 'z' in FILE"),
        (["--model", "MODEL", "--label", "u"], "the label 'u' is missing in line 2 of FILE; rows to measure the list by need one. The only label is 1 (1). If an empty label means negative, use --unlabelled negative, or leave --label out"),
        (["--model", "MODEL", "--id", "T"], "no column 'T' in FILE; did you mean 't'?"),
        (["--model", "CASE"], "CASE does not fit FILE: the file lacks the column 'U' which the model needs; did you mean 'u'?"),
        (["--model", "TEXT"], "TEXT does not fit FILE: column 't' has 'Ulm' (str) in line 2 of FILE; every value must be"),
        (["--model", "HOLE"], "HOLE does not fit FILE: column 'u' has nan in line 2 of FILE; every value must be"),
        (["--label", "y", "--save", "FILE"], "--save FILE would overwrite the input"),
        (["--label", "y", "--save", "FILE.d/m.json"], "--save FILE.d/m.json: no such directory"),
        (["--label", "y", "--save", "a.json", "--out", "a.json"], "--save a.json would overwrite the file of --out"),
        (["--label", "y", "--save", "FOLDER"], "--save FOLDER is a directory"),
        (["--label", "y", "--out", "FOLDER"], "--out FOLDER is a directory"),
        (["--label", "y", "--save", "/dev/null"], "is a folder or a device"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_model(capsys, tmp_path, arguments, message):
    path, folder = tmp_path / "t.csv", tmp_path / "folder"
    folder.mkdir()
    path.write_text("x,y,t,u\n1,1,Ulm,\n2,0,Ulm,1\n")
    places = {"FILE": path, "FOLDER": folder}
    for name, column in (("MODEL", "x"), ("TEXT", "t"), ("HOLE", "u"), ("CASE", "U")):
        places[name] = tmp_path / f"{name.lower()}.json"
        pnorm.save(places[name], [1.0], pnorm.rankers.columns(pandas.DataFrame({column: [1.0, 2.0]})))
    replace = [*places.items()]
    for name, place in replace:
        arguments = [a.replace(name, str(place)) for a in arguments]
        message = message.replace(name, str(place))
    if "y" in arguments:
        arguments += ["--ignore", "t", "--ignore", "u"]
    status, _, err = run(capsys, path, *arguments)
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
    assert path.read_text().startswith("x,y")
    for option in ("--save", "--model"):
        assert run(capsys, option, "m.json") == (
            2,
            "",
            f"pnorm: error: {option} needs a FILE. Try: pnorm FILE --label COLUMN; or pnorm --help\n",
        )


def test_a_header_that_begins_as_a_packed_file_does(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("BZh1,y\n1,1\n2,0\n3,1\n4,0\n")
    assert run(capsys, path, "--label", "y")[0] == 0


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

QUICK = ("-p", 1, "--l2", 0.1)
"""With these nothing is left to choose."""


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


def test_a_page_of_rows_trained_on_says_so_at_its_top_and_in_its_place(capsys, transactions, tmp_path):
    path, _ = transactions
    status, out, err = run(capsys, path, "--label", "fraud", "--holdout", 0, "--report", tmp_path / "r.html", *QUICK)
    assert (status, err) == (0, "")
    assert "No row is held out" in out
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "All numbers on this page are from training rows." in page
    assert len(re.findall("[Oo]n new rows the list is worse", page)) == 2


def test_page_and_terminal_number_the_rows_of_the_file(capsys, transactions, tmp_path):
    path, _ = transactions
    _, out, _ = run(capsys, path, "--label", "fraud", "--report", tmp_path / "r.html", *QUICK)
    listed = re.findall(r"^ +\d+ +(\d+) +-?\d+\.\d+ ", out, re.MULTILINE)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert len(listed) == 10
    assert re.findall(r"row (\d+)<", page)[:10] == listed


def test_the_command_does_the_whole_job(capsys, transactions, tmp_path):
    path, frame = transactions
    model, out_path, page = tmp_path / "m.json", tmp_path / "s.csv", tmp_path / "r.html"
    arguments = ["--label", "fraud", "--id", "tx", "--budget", 20, "--of", 200, "--seed", 3, "--top", 5, *QUICK]
    status, out, err = run(capsys, path, *arguments, "--save", model, "--out", out_path, "--report", page)
    assert (status, err) == (0, "")
    loaded, written = pnorm.load(model), pandas.read_csv(out_path, keep_default_na=False)
    assert list(written) == ["tx", "score", "probability", "rank", "take", "held_out", "fraud", "reasons"]
    assert written["rank"].tolist() == list(range(1, 601))
    assert set(written["tx"]) == {f"'{tx}" if tx.startswith("=") else tx for tx in frame["tx"]}
    by_id = written.assign(tx=written["tx"].str.lstrip("'")).set_index("tx").loc[frame["tx"]]
    f, y, held = by_id["score"].to_numpy(), (frame["fraud"] == "yes").to_numpy(), by_id["held_out"].to_numpy() == 1
    np.testing.assert_array_equal(f, loaded.score(frame))
    np.testing.assert_array_equal(by_id["take"] == 1, loaded.predict(frame))
    assert loaded.cutoff.asked == "budget"
    assert abs(held[y].mean() - 0.2) < 0.01
    assert abs(held[~y].mean() - 0.2) < 0.01
    expected = pnorm.cutoff(f[held & y], f[held & ~y], budget=20, of=200)
    assert loaded.cutoff.score == expected.score
    assert f"Test on {held.sum()} held-out rows, {(held & y).sum()} of them positive\n" in out
    measures = {
        line.partition("  ")[0]: line.split("  ", 1)[1].split()
        for line in map(str.strip, out.splitlines())
        if "  " in line
    }
    assert measures["AUC"][0] == f"{pnorm.metrics.auc(f[held & y], f[held & ~y]):.3f}"
    precision = pnorm.metrics.precision_at(f[held & y], f[held & ~y], 12)
    assert measures["precision in the first 12"][0] == f"{precision:.3f}"
    order = np.flatnonzero(held)[np.argsort(-f[held], kind="stable")][:5]
    top = out.split(f"Top of the list: 5 rows of {held.sum()} held-out rows\n")[1].splitlines()
    head = next(place for place, line in enumerate(top) if line.startswith("  rank "))
    top = top[head + 1 : head + 6]
    assert [int(line.split()[1]) for line in top] == order.tolist()
    assert [line.split()[2] for line in top] == frame["tx"].to_numpy()[order].tolist()
    assert all("(+" in line for line in top)
    assert f"Cut-off\n  Take rows with a score of {expected._at()} or more." in out
    assert "Next steps\n" in out
    written_page = page.read_text(encoding="utf-8")
    assert written_page.startswith("<!DOCTYPE html>")
    assert "Positive means: fraud = yes." in written_page
    assert "left out:" not in written_page  # the page says it in its own words

    more = ["--label", "fraud", "--id", "tx", "--out", tmp_path / "again.csv", "--report", page]
    status, out, err = run(capsys, path, "--model", model, *more)
    assert (status, err) == (0, "")
    assert "The rows with labels compared with the training rows" in page.read_text(encoding="utf-8")
    on_labels = f"Of the {(f >= expected.score).sum()} rows taken that have labels, "
    assert on_labels in " ".join(out.split("\n  "))
    assert on_labels in page.read_text(encoding="utf-8")
    assert on_labels not in written_page  # these rows chose the cut-off
    again = pandas.read_csv(tmp_path / "again.csv", keep_default_na=False)
    columns = ["tx", "score", "rank", "take"]
    pandas.testing.assert_frame_equal(again[columns], written[columns])
    assert "probability" not in again
    assert "scores of 600 rows, best first, without probabilities, as the test finds them wrong: " in out
    assert run(capsys, path, "--model", model, "--id", "tx", "--out", tmp_path / "plain.csv")[::2] == (0, "")
    plain = pandas.read_csv(tmp_path / "plain.csv", keep_default_na=False)
    columns = ["tx", "score", "probability", "rank", "take"]
    pandas.testing.assert_frame_equal(plain[columns], written[columns])
    assert f"Cut-off\n  Take {(f >= expected.score).sum()} of 600 rows: those with a score of" in out
    assert "takes more or fewer rows of another list. For exactly 20 rows: --budget 20\n" in " ".join(out.split("\n  "))
    assert "since training" in out.lower()


# Rows without a label

WITHOUT = {"memory": [], "batches": ["--memory", 0]}


def gaps(frame, every=5):
    """The rows with some labels taken out, and which rows have one."""
    has_label = np.arange(len(frame)) % every != 2
    return frame.assign(fraud=frame["fraud"].where(has_label, "")), has_label


def scores_of(path, key="tx"):
    found = pandas.read_csv(path, keep_default_na=False)
    return found.assign(**{key: found[key].astype(str).str.lstrip("'")}).set_index(key)


TIME, REFIT, ALL = ["--time", "booked"], ["--refit", "--time", "booked"], ["--holdout", 0]
RANKED = [
    ("memory", "csv", TIME),
    ("batches", "csv", REFIT),
    ("batches", "parquet", ALL),
    ("memory", "xlsx", ALL),
]


@pytest.mark.parametrize("case", RANKED, ids=str)
def test_rows_without_a_label_are_ranked_by_a_list_of_the_others(capsys, tmp_path, case):
    how, kind, more = case
    frame, has_label = gaps(mixed())
    frame["tx"] = frame["tx"].str.lstrip("=")  # no formulas
    arguments = ["--label", "fraud", "--id", "tx", *QUICK, *more, *WITHOUT[how]]
    path, out, expected = tmp_path / f"tx.{kind}", tmp_path / "all.csv", tmp_path / "some.csv"
    frame = frame.assign(fraud=frame["fraud"].replace("", None)) if kind == "parquet" else frame
    write = {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}[kind]
    write(path, index=False)
    assert run(capsys, path, *arguments)[0] == 2
    status, text, err = run(capsys, path, *arguments, "--unlabelled", "rank", "--out", out)
    assert (status, err) == (0, "")
    assert text.startswith(f"{path}: {has_label.sum()} rows with a label, ")
    assert f"  {(~has_label).sum()} more rows have no label; --out ranks them with the others\n" in text
    frame[has_label].to_csv(tmp_path / "labelled.csv", index=False)
    assert run(capsys, tmp_path / "labelled.csv", *arguments, "--out", expected)[0] == 0
    found, own = scores_of(out), scores_of(expected)
    assert set(found.index) == set(frame["tx"])
    assert sorted(found["rank"]) == list(range(1, len(frame) + 1))
    marks = found["labelled"].loc[frame["tx"]].to_numpy()
    np.testing.assert_array_equal(marks == 1, has_label)
    np.testing.assert_allclose(found["score"].loc[own.index], own["score"], rtol=1e-6, atol=1e-9)
    assert ("held_out" in found) == (more[0] == "--time")
    if "held_out" in found:
        np.testing.assert_array_equal(found["held_out"].loc[own.index], own["held_out"])
        assert not found["held_out"].loc[frame["tx"]].to_numpy()[~has_label].any()


def test_an_empty_label_can_mean_negative(capsys, tmp_path):
    how = "batches"
    frame = mixed()
    arguments = ["--label", "fraud", "--id", "tx", *QUICK, *WITHOUT[how]]
    frame.to_csv(tmp_path / "full.csv", index=False)
    assert run(capsys, tmp_path / "full.csv", *arguments, "--out", tmp_path / "a.csv")[0] == 0
    only = frame.assign(fraud=frame["fraud"].where(frame["fraud"] == "yes", ""))
    for k, word in enumerate(("yes", "chargeback of 2026")):  # any word, if it is the only one
        path = tmp_path / f"only{k}.csv"
        only.assign(fraud=only["fraud"].replace("yes", word)).to_csv(path, index=False)
        status, _, err = run(capsys, path, *arguments)
        assert status == 2
        n = (only["fraud"] == "yes").sum()
        if how == "memory":
            assert f"The only label is {word} ({n}). If an empty label means negative, use --unlabelled negative" in err
        else:
            assert "If an empty label means negative, use --unlabelled negative" in err
        status, _, err = run(capsys, path, *arguments, "--unlabelled", "rank")
        assert status == 2
        assert "has one label and no negative row" in err
        status, text, err = run(capsys, path, *arguments, "--unlabelled", "negative", "--out", tmp_path / "b.csv")
        assert (status, err) == (0, "")
        assert text.startswith(f"{path}: 600 rows, {n} positive (fraud = {word})")
        assert f"  {600 - n} rows have no label, which counts as negative\n" in text
        written = [pandas.read_csv(tmp_path / name).drop(columns="fraud") for name in ("a.csv", "b.csv")]
        pandas.testing.assert_frame_equal(*written, check_exact=True)
    no = frame.assign(fraud=frame["fraud"].where(frame["fraud"] == "no", ""))
    no.to_csv(tmp_path / "no.csv", index=False)
    status, _, err = run(capsys, tmp_path / "no.csv", *arguments, "--unlabelled", "negative")
    assert status == 2
    assert "has only one label, no (" in err
    no.assign(fraud="").to_csv(tmp_path / "none.csv", index=False)
    for option in ("rank", "negative"):
        status, _, err = run(capsys, tmp_path / "none.csv", *arguments, "--unlabelled", option)
        assert (status, "has no labels. Fill in some of them" in err) == (2, True)


def test_a_test_and_a_measure_of_rows_of_which_some_have_no_label(capsys, transactions, tmp_path):
    how = "batches"
    path, frame = transactions
    new, has_label = gaps(mixed(300, seed=1))
    new.to_csv(tmp_path / "new.csv", index=False)
    new[has_label].to_csv(tmp_path / "labelled.csv", index=False)
    new.assign(fraud=new["fraud"].replace("", "no")).to_csv(tmp_path / "filled.csv", index=False)
    base = ["--label", "fraud", "--id", "tx", *WITHOUT[how]]
    model = tmp_path / "m.json"
    for option, same in (("rank", "labelled.csv"), ("negative", "filled.csv")):
        parts = []
        for name in ("new.csv", same):
            more = [*base, "--unlabelled", option]
            test = run(capsys, path, *more, *QUICK, "--test", tmp_path / name, "--save", model)
            measured = run(
                capsys, tmp_path / name, *more, "--model", model, "--budget", 20, "--out", tmp_path / "o.csv"
            )
            assert [found[0] for found in (test, measured)] == [0, 0]
            parts.append([
                re.findall(r"^  (?:precision|average|AUC|partial|recall).*$", found[1], re.MULTILINE)
                for found in (test, measured)
            ])  # fmt: skip
            if name == "new.csv":
                n = (~has_label).sum()
                which = {"rank": "more rows", "negative": "rows"}[option]
                assert f"{n} {which} of {tmp_path / name} have no label" in test[1]
                assert f"{n} {which} have no label" in measured[1]
                written = scores_of(tmp_path / "o.csv")
                assert len(written) == 300
                assert ("labelled" in written) == (option == "rank")
                assert sum(written["take"]) == 20
        assert all(map(len, parts[0]))
        assert parts[0] == parts[1]
    page = tmp_path / "r.html"
    more = [*base[:4], "--unlabelled", "rank", "--model", model, "--report", page]
    assert run(capsys, tmp_path / "new.csv", *more)[0] == 0
    assert f"Measured on {has_label.sum()} " in page.read_text(encoding="utf-8")


def test_terminal_page_and_saved_model_compare_rows_with_the_same_average(capsys, transactions, tmp_path):
    push = "bottom"
    path, frame = transactions
    model, out, page = tmp_path / "m.json", tmp_path / "s.csv", tmp_path / "r.html"
    more = ["--label", "fraud", "--id", "tx", "--push", push, "--save", model, "--out", out, "--report", page, *QUICK]
    learned = run(capsys, path, *more)[1]
    first, loaded = scores_of(out), pnorm.load(model)
    side = "positive" if push == "bottom" else "negative"
    training = (first["held_out"].loc[frame["tx"]] == 0).to_numpy()
    others = frame[training & ((frame["fraud"] == "yes") == (push == "bottom"))]
    effects = pnorm.explain(frame, loaded.H, loaded.lam, reference=others).contributions
    pages = [page.read_text(encoding="utf-8")]
    for rows in (path, tmp_path / "part.csv"):  # the effects do not depend on the other rows of the file
        frame[300:].to_csv(tmp_path / "part.csv", index=False)
        ranked = run(capsys, rows, "--model", model, "--label", "fraud", "--id", "tx", "--out", out, "--report", page)[
            1
        ]
        own = scores_of(out)
        for text in (learned, ranked):
            assert f"compared with the average {side} training row." in " ".join(text.split())
        for tx, reasons in own["reasons"].items():
            i = frame.index[frame["tx"] == tx][0]
            told = [float(x) for x in re.findall(r"\(([+-][\d.]+)\)", reasons)]
            strongest = effects[i][np.argsort(-np.abs(effects[i]), kind="stable")[: len(told)]]
            np.testing.assert_allclose(told, strongest, atol=6e-3 * np.abs(effects).max())
            assert 1 <= len(told) <= 3
        pages.append(page.read_text(encoding="utf-8"))
    assert (own["reasons"].str.contains(r"\(-")).any()
    assert all(f"compared with the average {side} training row." in text for text in pages)


def test_the_ids_keep_the_name_of_their_column(capsys, transactions, tmp_path):
    path, frame = transactions
    out = tmp_path / "s.csv"
    for name, written in (("tx", "tx"), ("score", "id"), ("rank", "id"), ("Deal no.", "Deal no.")):
        frame.rename(columns={"tx": name}).to_csv(path, index=False)
        for more in ([], ["--memory", 0]):
            status, _, err = run(capsys, path, "--label", "fraud", "--id", name, "--out", out, *QUICK, *more)
            assert (status, err) == (0, "")
            header = out.read_text().splitlines()[0].split(",")
            assert header[:2] == [written, "score"]
            assert len(set(header)) == len(header)


def test_other_rows_to_test_on(capsys, transactions, tmp_path):
    path, frame = transactions
    later, model = tmp_path / "later.csv", tmp_path / "m.json"
    frame[:450].to_csv(path, index=False)
    frame[450:].to_csv(later, index=False)
    status, out, err = run(capsys, path, "--label", "fraud", "--test", later, *QUICK, "--save", model)
    assert (status, err) == (0, "")
    y = (frame["fraud"] == "yes").to_numpy()
    f = pnorm.load(model).score(frame)[450:]
    assert f"Test on 150 rows of {later}, {y[450:].sum()} of them positive\n" in out
    auc = f"{pnorm.metrics.auc(f[y[450:]], f[~y[450:]]):.3f}"
    assert any(line.startswith("  AUC ") and line.split()[1] == auc for line in out.splitlines())
    whole = tmp_path / "whole.csv"
    frame.to_csv(whole, index=False)
    status, out, _ = run(capsys, whole, "--label", "fraud", "--time", "booked", "--holdout", 0.25, *QUICK)
    assert "Test on 150 held-out rows, the latest by booked" in out
    assert any(line.startswith("  AUC ") and line.split()[1] == auc for line in out.splitlines())
    for changed, message in (
        (frame[450:].drop(columns="age"), f"no column 'age' in {later}, the file of --test"),
        (frame[450:].assign(fraud="no"), f"column 'fraud' of {later} has only one label, no (150)"),
    ):
        changed.to_csv(later, index=False)
        status, _, err = run(capsys, path, "--label", "fraud", "--test", later, *QUICK)
        assert (status, err.count("\n"), message in err) == (2, 1, True)


def test_a_model_of_all_rows_has_no_cutoff(capsys, transactions, tmp_path):
    path, frame = transactions
    model, scores = tmp_path / "m.json", tmp_path / "s.parquet"
    arguments = [path, "--label", "fraud", "--recall", 0.5, *QUICK, "--refit", "--save", model, "--out", scores]
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    assert "After the test, the model was trained again on all rows. No rows are left to test the saved model." in out
    loaded = pnorm.load(model)
    assert loaded.cutoff is None
    assert loaded.metadata["rows"] == 600
    assert "tested" not in loaded.metadata
    written = pandas.read_parquet(scores)
    assert list(written) == ["row", "score", "probability", "rank", "fraud", "reasons"]
    assert (written.sort_values("row")["fraud"] == frame["fraud"].to_numpy()).all()
    np.testing.assert_array_equal(written.sort_values("row")["score"], loaded.score(frame))


def test_which_columns_are_learned_from(capsys, transactions, tmp_path):
    path, frame = transactions
    model = tmp_path / "m.json"

    def learned(*more):
        status, out, err = run(capsys, path, "--label", "fraud", *QUICK, *more, "--save", model)
        assert (status, err) == (0, ""), err
        H = pnorm.load(model).H
        return {of.name: of.kind for of in H.plan if of.rankers}, out

    assert set(learned()[0]) == {"booked", "amount", "country, home", "age"}
    assert set(learned("--ignore", "country, home")[0]) == {"booked", "amount", "age"}
    assert set(learned("--ignore", "booked,age")[0]) == {"amount", "country, home"}
    assert set(learned("--ignore", "booked", "--ignore", 5)[0]) == {"amount", "country, home"}
    assert set(learned("--only", "amount,age")[0]) == {"amount", "age"}
    assert learned("--only", "age", "--kind", "age=category")[0] == {"age": "category"}
    assert learned("--only", "country, home", "--kind", "country, home=DE,FR,NG")[0] == {"country, home": "ordered"}
    assert re.search(r"\n  Show the id of each row:?\s+pnorm .* --id tx\n", learned()[1])
    frame.to_csv(path, index=False, header=False)
    assert set(learned("--label", 6)[0]) == {"column 2", "column 3", "column 4", "column 5"}
    assert "there is no header" in learned("--label", "6")[1]
    assert set(learned("--names", "tx,booked,amount,land,age,fraud", "--only", "land")[0]) == {"land"}


def test_a_category_of_rare_values_that_is_asked_for_is_warned_of(capsys, tmp_path):
    frame, path = mixed(), tmp_path / "spend.csv"
    frame.assign(zip=np.arange(len(frame)) // 2).to_csv(path, index=False)
    status, out, err = run(capsys, path, "--label", "fraud", *QUICK, "--kind", "zip=category")
    assert (status, err) == (0, "")
    assert "warning: Columns asked for as categories, whose values are all rare: zip. Their values are not" in out
    assert "asked for" not in run(capsys, path, "--label", "fraud", *QUICK, "--kind", "zip=number")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "country, home=number"], "column 'country, home' has 'DE' in line "),
        (["--kind", "age"], "--kind needs a column and a kind, as in zip=category or size=S,M,L; got 'age'"),
        (["--kind", "age=numbers"], "--kind has no kind 'numbers', which is given to 'age'; did you mean number? The"),
        (
            ["--kind", "age=texty"],
            "'age'. The kinds are number, decimal-point, decimal-comma, category, boolean, date,",
        ),
        (["--kind", "age=number", "--kind", "age=category"], "--kind gives two kinds to 'age'"),
        (
            ["--kind", "age=number", "--kind", "5=category"],
            "--kind names 'age' twice, as 5 as well. Leave one of them out",
        ),
        (["--kind", "tx=number", "--ignore", "tx"], "--kind names 'tx', which is not a column to learn from"),
        (["--ignore", "age,amout"], "no column 'amout' in FILE; did you mean 'amount'?"),
        (["--only", "age", "--ignore", "age"], "--only and --ignore both name 'age'"),
        (["--id", "fraud"], "--id fraud is the label"),
        (["--budget", "20", "--recall", "0.5"], "--recall and --budget both choose a cut-off. Leave one of them out"),
        (
            ["--budget", "200"],
            "must be less than the 120 rows held out; got 200. If a list has more rows, say so with --of",
        ),
        (["--out", "-"], "--out needs the name of a file; got -. The standard output is used for the results"),
        (["--budget", "20", "--holdout", "0"], "--budget needs held-out rows"),
        (["--of", "20"], "--of is the length of the list for --budget"),
        (
            ["--at-least", "20", "--recall", "0.5"],
            "--at-least says where the tests of --precision begin, and --recall does not test the precision. Leave one",
        ),
        (["--at-least", "20"], "--at-least says where the tests of --precision begin. Add --precision SHARE"),
        *[
            (
                ["--at-least", value, "--precision", "0.5"],
                f"--at-least must be a whole number of rows, 1 or more, or a share of them, as in 20%; got '{value}'",
            )
            for value in ("0", "0.2", "0%", "100%", "nan%", "many")
        ],
        (["--at-least", "120", "--precision", "0.5"], "--at-least must be less than the 120 held-out rows; got 120"),
        (["--precision", "80"], "--precision must be a share, above 0 and below 1; got 80"),
        (["--holdout", "20"], "--holdout must be a share of the rows, 0 or more and below 1; got 20"),
        (
            ["--recall", "0.5", "--push", "bottom"],
            "--recall takes rows from the top; it cannot be combined with --push bottom",
        ),
        (["--refit"], "--refit needs --save or --out, which use the model of all rows"),
        (["--refit", "--holdout", "0", "--save", "x"], "--refit trains on the held-out rows as well"),
        (["--time", "country, home"], "column country, home must hold dates, times or numbers"),
        (["--time", "booked", "--holdout", "0"], "--time holds out the latest rows, and --holdout 0 holds out none"),
        (["--test", "FILE", "--time", "booked"], "and --test names another file. Leave one of them out"),
        (["--test", "FILE.none"], "FILE.none: No such file or directory"),
        (["--save", "FILE", "--report", "FILE2"], "--save FILE would overwrite the input"),
        (["--save", "FILE2", "--report", "FILE2"], "--save FILE2 would overwrite the file of --report"),
        (["--rankers", "columns", "--kind", "age=number"], "--kind sets the kind of a column; --rankers takes all"),
        (["--sheet", "two"], "FILE is not a workbook, so it has no sheet two"),
    ],
)
def test_options_that_do_not_fit(capsys, transactions, arguments, message):
    path, _ = transactions
    arguments = [argument.replace("FILE", str(path)) for argument in arguments]
    status, out, err = run(capsys, path, "--label", "fraud", *QUICK, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message.replace("FILE", str(path)) in err


@pytest.mark.parametrize(
    ("given", "option"),
    [("--drop", "--ignore"), ("--pos-label=won", "--positive"), ("--target", "--label"), ("--budgett", "--budget")],
)
def test_an_unknown_option_names_the_one_that_is_meant(capsys, given, option):
    with pytest.raises(SystemExit) as exit_:
        main(["leads.csv", "--label", "bought", given, "x"])
    assert exit_.value.code == 2
    assert f"unrecognized arguments: {given} x; did you mean {option}?" in capsys.readouterr().err


def test_a_power_that_is_given_was_not_chosen(capsys, deals):
    given, several = (
        " ".join(run(capsys, deals, *HOW[:2], "--positive", "won", "-p", p)[1].split()) for p in ("4", "1,4")
    )
    assert "with p = 4. The terms and the penalty were chosen by 5-fold cross-validation." in given
    assert re.search(r"with p = \d( \(no push: all places count alike\))?, chosen by 5-fold cross-validation", several)


def test_spellings_of_one_label_may_all_be_given(capsys, deals):
    one, both = ["--positive", "won"], ["--positive", "Won", "--positive", "won"]
    of_one, of_both = (run(capsys, deals, *HOW, *how) for how in (one, both))
    assert of_one[0] == of_both[0] == 0
    assert of_one[1].splitlines()[:9] == of_both[1].splitlines()[:9]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--positive", "won", "--positive", "won"], "--positive has 'won' twice. Leave one of them out"),
        (
            ["--positive", "won", "--negative", "no", "--negative", "Won"],
            "--positive and --negative both have 'won'. Leave it out of one of them",
        ),
    ],
)
def test_a_label_that_is_given_twice_is_refused(capsys, arguments, message):
    status, out, err = run(capsys, "leads.csv", "--label", "bought", *arguments)
    assert (status, out) == (2, "")
    assert message in err


@pytest.fixture(scope="module")
def deals(tmp_path_factory):
    """A file of deals with five labels, 120 rows of each."""
    path = tmp_path_factory.mktemp("deals") / "deals.csv"
    labels = np.array(["won", "won back", "lost", "gone, for good", "open"])[np.arange(600) % 5]
    x = np.random.default_rng(5).normal(size=600) + np.char.startswith(labels, "won")
    pandas.DataFrame({"x": x, "stage": labels}).to_csv(path, index=False)
    return path


HOW = ["--label", "stage", "-p", 1, "--l2", 0.1]
BOTH_WON = ["--positive", "won", "--positive", "Won back"]
BOTH_LOST = ["--negative", "lost", "--negative", "gone, for good", "--unlabelled", "rank"]


def test_several_labels_are_positive(capsys, tmp_path, deals):
    """Also on rows of --test and with a saved model, which contains them."""
    memory = []
    model, later = tmp_path / "model.json", shutil.copy(deals, tmp_path / "later.csv")
    status, out, _ = run(capsys, deals, *HOW, *BOTH_WON, *memory, "--save", model)
    assert status == 0
    assert out.startswith(f"{deals}: 600 rows, 240 positive (stage = won or won back), 40 %\n")
    assert all(f"{label} (120)" in out.split("\n  negative: ")[1] for label in ("lost", "open", "gone, for good"))
    assert "--positive won --positive 'Won back'" in out.split("Next steps")[1]
    assert json.loads(model.read_text())["metadata"]["positive"] == ["won", "won back"]
    assert run(capsys, deals, "--model", model, "--label", "stage", *memory)[1].startswith(
        f"{deals}: 600 rows, 240 positive"
    )
    ranked = run(
        capsys, deals, "--model", model, "--label", "stage", "--positive", "won", "--positive", "open", *memory
    )[1]
    assert ranked.startswith(f"{deals}: 600 rows, 240 positive (stage = open or won), 40 %\n")
    tested = run(capsys, deals, *HOW, *BOTH_WON, *memory, "--test", later)[1]
    assert "Test on 600 rows of " in tested
    assert "240 of them positive" in tested


def test_several_labels_are_negative(capsys, tmp_path, deals):
    memory = ["--memory", 0]
    model, later = tmp_path / "model.json", shutil.copy(deals, tmp_path / "later.csv")
    status, out, _ = run(capsys, deals, *HOW, *BOTH_WON, *BOTH_LOST, *memory, "--save", model)
    assert status == 0
    assert out.startswith(f"{deals}: 480 rows with a label, 240 positive (stage = won or won back), 50 %\n")
    assert "120 more rows have no label, or one that is neither positive nor negative" in out
    for more in (["--model", model, "--label", "stage"], [*HOW, *BOTH_WON, "--test", later]):
        status, out, _ = run(capsys, deals, *more, *BOTH_LOST, *memory)
        assert status == 0
        assert out.startswith(f"{deals}: 480 rows with a label, 240 positive (stage = won or won back), 50 %\n")


@pytest.mark.parametrize("memory", [[], ["--memory", 0]])
def test_each_label_that_is_named_occurs(capsys, tmp_path, deals, memory):
    """Rows of --test may lack some of them."""
    err = run(capsys, deals, *HOW, *BOTH_WON, "--positive", "win", *memory)[2]
    assert "no row has the label 'win' in column 'stage'; its labels are " in err
    assert all(f"{label} (120)" in err for label in ("gone, for good", "lost", "open", "won", "won back"))
    err = run(capsys, deals, *HOW, *BOTH_WON, *BOTH_LOST, "--negative", "left", *memory)[2]
    assert "no row has the label 'left' of --negative; the labels are gone, for good, lost, open, won, won back" in err
    some = tmp_path / "some.csv"
    table = pandas.read_csv(deals)
    table[table["stage"].isin(["won", "lost"])].to_csv(some, index=False)
    status, out, _ = run(capsys, deals, *HOW, *BOTH_WON, *BOTH_LOST, *memory, "--test", some)
    assert status == 0
    assert "Test on 240 rows of " in out


def test_numbers_that_may_be_codes_are_named_with_their_options(capsys, tmp_path):
    path, rng = tmp_path / "t.csv", np.random.default_rng(0)
    table = pandas.DataFrame({"home zip": rng.integers(10_000, 10_080, 400), "plz": rng.integers(80_000, 80_040, 400)})
    table.assign(y=rng.integers(2, size=400)).to_csv(path, index=False)
    how = [path, "--label", "y", "-t", 2, "--holdout", 0]
    out = run(capsys, *how)[1]
    assert "by its name, the numbers may be codes\n" in out
    assert "  If home zip holds codes: --kind 'home zip=category' or --ignore 'home zip' (the same for plz)\n" in out
    out = run(capsys, *how, "--kind", "home zip=category", "--ignore", "plz")[1]
    assert "be codes" not in out
    assert "holds codes" not in out


def test_a_number_that_may_mean_missing_is_named_with_its_option(capsys, tmp_path):
    path, rng = tmp_path / "t.csv", np.random.default_rng(0)
    table = pandas.DataFrame({"age": rng.integers(18, 90, 400), "debt": rng.integers(0, 60, 400)})
    table.loc[::20, "age"], table.loc[::9, "debt"] = 999, -1
    table.assign(y=rng.integers(2, size=400)).to_csv(path, index=False)
    how = [path, "--label", "y", "-t", 2, "--holdout", 0]
    out = run(capsys, *how)[1]
    assert "  age     number      73  999 in 20 rows, and no other value above 89\n" in out
    assert "with a value that may mean missing" not in out  # the note says it
    assert "  If 999, -1 mean missing (in all columns): --missing=999 --missing=-1\n" in out
    out = run(capsys, *how, "--missing=999", "--missing=-1")[1]
    assert "mean missing" not in out
    assert re.search(r"  age     number      72 +20\n", out)


@pytest.mark.parametrize(("slope", "is_told"), [(4.0, True), (0.0, False)])
def test_a_trend_of_time_that_matters_has_a_note(capsys, tmp_path, slope, is_told):
    rng = np.random.default_rng(0)
    day, x = np.sort(rng.integers(730, size=1500)), rng.normal(size=1500)
    y = rng.random(1500) < 1.0 / (1.0 + np.exp(0.5 - x - slope * (day / 730 - 0.5)))
    dates = np.datetime64("2023-01-01") + day
    note = (
        "booked is learned from too; later rows get its trend in the latest training row (to leave it out: --ignore "
        "booked)"
    )
    path = tmp_path / "t.csv"
    how = [path, "--label", "y", "--time", "booked", "-p", 1, "--linear", "--l2", 0.1]
    for of_time in (dates, day):
        pandas.DataFrame({"booked": of_time, "x": x, "y": y.astype(int)}).to_csv(path, index=False)
        assert (note in run(capsys, *how)[1]) is is_told
    assert "leave it out" not in run(capsys, *how, "--ignore", "booked")[1]


def test_a_label_that_no_row_has_is_told_before_missing_labels(capsys, tmp_path, deals):
    """In batches, the rest of the labels is not known by then."""
    path = tmp_path / "some.csv"
    table = pandas.read_csv(deals)
    table.loc[100:, "stage"] = None
    table.to_csv(path, index=False)
    err = run(capsys, path, "--label", "stage", "--positive", "won bakc")[2]
    assert "no row has the label 'won bakc' in column 'stage'; its labels are " in err
    assert err.endswith("; did you mean 'won back'?\n")
    err = run(capsys, path, "--label", "stage", "--positive", "won bakc", "--memory", 0)[2]
    assert "the label 'stage' is missing in line 102 of" in err
    assert err.endswith(". No row before it has the label 'won bakc' of --positive\n")


def test_ids_in_several_rows_get_a_note(capsys, tmp_path):
    """Also with a model and with --test; in several files, the places have their names."""
    folder, model = tmp_path / "rows", tmp_path / "m.json"
    folder.mkdir()
    ids = [f"L{k}" for k in range(300)]
    x = np.random.default_rng(3).normal(size=300)
    table = pandas.DataFrame({"lead": ids, "x": x, "y": (x > 0.5).astype(int)})

    def written(path, changed):
        table["lead"] = [changed.get(k, name) for k, name in enumerate(ids)]
        table.to_csv(path, index=False)
        return path

    how = ["--label", "y", "--id", "lead", "-t", 2]
    path = written(folder / "a.csv", {})
    assert " id " not in run(capsys, path, *how)[1].split("Columns")[0]
    written(path, {7: "L1", 9: "L1", 11: "L1", 20: "L19", 40: "L30"})
    note = (
        "  lead: 3 ids are in more than one row: L1 (lines 3, 9, 11, ...), L19 (lines 21, 22), ...; all rows are kept"
    )
    scores, together = tmp_path / "s.csv", "; an id is held out with all its rows, or not at all\n"
    status, out, _ = run(capsys, path, *how, "--save", model, "--out", scores)
    assert (status, out.count(note + together)) == (0, 1)
    assert (pandas.read_csv(scores).groupby("lead")["held_out"].nunique() == 1).all()
    note += "\n"
    assert note in run(capsys, path, "--model", model, "--id", 1)[1]
    assert "is in more than one" not in run(capsys, path, *how[:2], "-t", 2)[1]
    later = written(tmp_path / "later.csv", {0: "", 5: "", 9: "L8"})
    told = "lead: 1 id is in more than one row: L8 (lines 10, 11); 2 rows have no id; all rows are kept\n"
    out = run(capsys, path, *how, "--test", later)[1]
    assert note in out
    assert f"  {later}: {told}" in out
    written(folder / "b.csv", {k: f"M{k}" for k in range(1, 300)})
    written(folder / "a.csv", {})
    both = (
        f"lead: 1 id is in more than one row: L0 (line 2 of {folder / 'a.csv'}, line 2 of {folder / 'b.csv'}); all rows"
    )
    assert both in run(capsys, folder, *how)[1]


BATCHES = pytest.mark.parametrize("batches", [[], ["--memory", 0]], ids=["memory", "batches"])


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
    path, model, out = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "out.csv"
    new = {mark: tmp_path / f"new{k}.csv" for k, mark in enumerate(".,")}
    for mark, name in new.items():
        money(40, mark=mark).drop(columns="won").to_csv(name, index=False)

    def learned(n_unclear, *more):
        money(600, n_unclear).to_csv(path, index=False)
        status, text, err = run(capsys, path, "--label", "won", *QUICK, *batches, *more, "--save", model)
        assert (status, err) == (0, "")
        return " ".join(text.split())

    options = "--kind Amount=decimal-point or --kind Amount=decimal-comma"
    text = learned(0)
    assert "' is read as " in text
    assert "may mean two numbers" not in text
    text = learned(20)
    assert "values do not read as a number with one meaning and count as missing: '€" in text
    assert f"To read such numbers: {options}" in text
    for more, n_unclear in (((), 20), (("--kind", "Amount=decimal-point"), 60), (("--kind", "Amount=number"), 60)):
        assert "Amount number" in learned(n_unclear, *more)
        scores = []
        for name in new.values():
            assert run(capsys, name, "--model", model, *batches, "--out", out)[0] == 0
            scores.append(pandas.read_csv(out, comment="#").sort_values("row")["score"].to_numpy())
        np.testing.assert_array_equal(*scores)
    text = learned(60)
    assert re.search("Amount '€.,...' has more than one reading; see the warning", text)
    assert "with a decimal point, such as '€" in text
    assert f"Use {options} " in text


@BATCHES
def test_a_column_left_out_is_named_only_where_its_option_helps(capsys, tmp_path, batches):
    """The last column of text is not, as all of its values are rare; with 12 rows of one value it is."""
    path = tmp_path / "t.csv"
    x = np.random.default_rng(5).normal(size=600)
    table = pandas.DataFrame({"x": x, "number": 7 * np.arange(600), "code": [f"C{k}" for k in range(600)]})
    how = ["--label", "y", *QUICK, *batches]
    for name, value in ((None, None), ("code", "C1"), ("code_id", 7)):
        of = table.rename(columns={"number": "code_id"})
        if name is not None:
            of.loc[:11, name] = value
        of.assign(y=(x > 0.5).astype(int)).to_csv(path, index=False)
        told = run(capsys, path, *how)[1]
        hint = "" if name is None else f" (to use one anyway: --kind {name}=category)"
        assert f"\nColumns left out{hint}\n" in told
        if name is not None:
            told, errors = run(capsys, path, *how, "--kind", f"{name}=category")[1:]
            assert errors == ""
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
    how = ["--label", "y", "--time", "day", "--unlabelled", "rank", *QUICK, *batches, "--out", out]
    status, told, _ = run(capsys, path, *how)
    assert (status, told.startswith(f"{path}: 297 rows with a label, ")) == (0, True)
    assert "  3 more rows have no label; --out ranks them with the others\n" in told
    assert "  29 rows have no time in day: trained on, not tested on\n" in told
    assert (pandas.read_csv(out)["labelled"] == 0).sum() == 3


def test_ids_on_both_sides_of_a_time_are_counted(capsys, tmp_path):
    path = tmp_path / "t.csv"
    x = np.random.default_rng(4).normal(size=300)
    table = pandas.DataFrame({"x": x, "day": pandas.date_range("2024-01-01", periods=300).astype(str)})
    table["y"] = (x > 0.5).astype(int)
    how = ["--label", "y", "--id", "lead", "--time", "day", *QUICK]
    note = (
        "also in training: with --time, rows of one id are not kept together. If new rows will have new ids, leave "
        "--time out: rows of one id are then held out together\n"
    )
    ids = np.arange(300)
    for changed, told in (
        ({299: 298}, ""),
        ({299: 0, 298: 297}, "1 of 59 test ids is "),
        ({299: 0, 298: 0, 297: 1, 296: 2}, "3 of 59 test ids are "),
    ):
        table["lead"] = [f"L{changed.get(k, k)}" for k in ids]
        table.to_csv(path, index=False)
        text = run(capsys, path, *how)[1]
        assert (f"  {told}{note}" in text) if told else (note not in text)
    without_time = run(capsys, path, *[word for word in how if word not in ("--time", "day")])[1]
    assert note not in without_time


@pytest.mark.parametrize("again", ["L1", ""])
def test_scores_of_repeated_ids_have_the_numbers_of_the_rows(capsys, tmp_path, again):
    """Two rows without an id cannot be told apart either. With different ids the numbers are left out."""
    path, model, out = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "s.csv"
    x = np.random.default_rng(3).normal(size=300)
    table = pandas.DataFrame({"lead": [f"L{k}" for k in range(300)], "x": x, "y": (x > 0.5).astype(int)})
    learning, ranking = ["--label", "y", "-t", 2, "--save", model], ["--model", model]
    note = "ids repeat, so the column row numbers the rows of the file, from 0"
    for is_repeated in (False, True):
        if is_repeated:
            table.loc[[7, 9], "lead"] = again
        table.to_csv(path, index=False)
        for how in (learning, ranking):
            assert run(capsys, path, *how, "--out", out)[0] == 0
            by_row = pandas.read_csv(out, keep_default_na=False)
            told = run(capsys, path, *how, "--id", "lead", "--out", out)[1]
            assert (note in told) == is_repeated
            found = pandas.read_csv(out, keep_default_na=False)
            assert list(found)[: 1 + is_repeated] == ["lead", "row"][: 1 + is_repeated]
            assert ("row" in found) == is_repeated
            if is_repeated:
                assert found["lead"].tolist() == table["lead"].iloc[found["row"]].tolist()
                if how is ranking:
                    assert found["row"].tolist() == by_row["row"].tolist()


@BATCHES
def test_days_of_a_time_are_read_in_the_order_of_the_option(capsys, tmp_path, batches):
    """Also if the column is not learned from."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + 31 * rng.integers(12, size=400) + rng.integers(10, size=400)
    frame = pandas.DataFrame({"day": days, "x": rng.normal(size=400), "y": rng.integers(2, size=400)})
    whole, plain = tmp_path / "t.csv", tmp_path / "iso.csv"
    frame.to_csv(plain, index=False)
    frame.assign(day=frame["day"].dt.strftime("%d/%m/%Y")).query("day.str[:2] < '13'").to_csv(whole, index=False)
    keep = frame["day"].dt.day < 13
    frame[keep].to_csv(plain, index=False)
    how = ["--label", "y", "--time", "day", *QUICK, *batches]
    status, _, err = run(capsys, whole, *how)
    assert status == 2
    assert err.endswith("may begin with the day or the month. Use --kind day=day-first or --kind day=month-first\n")
    expected = run(capsys, plain, *how)[1].splitlines()[1]
    assert "the latest by day" in expected
    for more in ([], ["--ignore", "day"]):
        status, out, err = run(capsys, whole, *how, "--kind", "day=day-first", *more)
        assert (status, err, out.splitlines()[1]) == (0, "", expected)


@BATCHES
def test_the_cell_that_is_no_time_is_named(capsys, tmp_path, batches):
    path = tmp_path / "t.csv"
    days = [f"{1 + k % 12:02d}.01.2024" if k % 3 else f"2024-01-{1 + k % 12:02d}" for k in range(60)]
    for k in (4, 9, 11, 20, 33, 41):
        days[k] = f"after {k}"
    pandas.DataFrame({"day": days, "x": range(60), "y": [0, 1] * 30}).to_csv(path, index=False)
    err = run(capsys, path, "--label", "y", "--time", "day", *QUICK, *batches)[2]
    assert (
        f"column day must hold dates, times or numbers, to tell which rows are the latest; got 'after 4' in line 6 "
        f"of {path}. 6 of the 60 values do not read as a date. Use --kind day=date\n" in err
    )


@pytest.mark.parametrize(("word", "missing"), [("", []), ("unknown", []), ("1900-01-01", ["--missing", "1900-01-01"])])
def test_rows_without_a_time_are_trained_on_and_not_tested_on(capsys, tmp_path, word, missing):
    """The held-out rows are those of the file without these rows, from which less is learned."""
    batches = ["--memory", 0]
    frame = mixed()
    frame["tx"] = frame["tx"].str.lstrip("=")
    undated = np.arange(len(frame)) % 7 == 3
    whole, dated, out = tmp_path / "whole.csv", tmp_path / "dated.csv", tmp_path / "out.csv"
    frame.assign(booked=frame["booked"].astype(str).where(~undated, word)).to_csv(whole, index=False)
    frame[~undated].to_csv(dated, index=False)
    arguments = ["--label", "fraud", "--id", "tx", "--time", "booked", *QUICK, *batches, *missing, "--out", out]
    status, text, err = run(capsys, whole, *arguments)
    assert (status, err) == (0, "")
    assert f"  {undated.sum()} rows have no time in booked: trained on, not tested on\n" in text
    found = scores_of(out)
    assert run(capsys, dated, *arguments)[0] == 0
    own = scores_of(out)
    np.testing.assert_array_equal(found["held_out"].loc[own.index], own["held_out"])
    n = int(own["held_out"].sum())
    assert f"  {len(frame) - n} training rows, {n} held-out rows for the test only (the latest by booked)\n" in text
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
    ages = orders(path)["age"]
    learn = (path, "--label", "back", "--holdout", 0, *QUICK, *batches)
    told = " ".join(run(capsys, *learn)[1].split())
    n = int((ages == "unknown").sum())
    assert (
        f"warning: age: {n} values do not read as a number and count as missing: all are 'unknown', first in line 2 of "
        f"{path}. If it means no value: --missing unknown; to keep it as a level: --kind age=category " in told
    )
    assert "warning: age" not in run(capsys, *learn, "--missing", "unknown")[1]
    assert "warning: age" not in run(capsys, *learn, "--kind", "age=category")[1]
    texts = path.read_text(encoding="utf-8")
    path.write_text(texts.replace("unknown", "n.d.", 2), encoding="utf-8")
    told = " ".join(run(capsys, *learn)[1].split())
    assert f"missing: 'n.d.' (line 2 of {path}), 'unknown' (line 102 of {path}). If they mean no value: --mi" in told
    assert "--missing unknown --missing n.d.; to keep them as levels: --kind age=category " in told


@BATCHES
def test_rows_without_a_time_are_no_change(capsys, tmp_path, batches):
    path = tmp_path / "orders.csv"
    orders(path)
    out = run(capsys, path, "--label", "back", "--time", "day", *QUICK, *batches)[1]
    assert "rows have no time in day: trained on, not tested on" in out
    assert "missing values" not in out


def test_the_warnings_of_the_page_are_printed(capsys, tmp_path):
    """In the words of the page; how rows are numbered is a note there."""
    path, page = tmp_path / "orders.csv", tmp_path / "r.html"
    orders(path)
    out = run(capsys, path, "--label", "back", "--time", "day", "-p", "1,4", "--report", page, "--top", 0)[1]
    told = " ".join(out.split())
    written = page.read_text(encoding="utf-8")
    section = written.split('<section id="warnings"')[1]
    said = re.findall(r"<li>(.*?)</li>", section.split("<h3>Notes</h3>")[0], re.DOTALL)
    assert len(said) >= 2
    for warning in said:
        assert html.unescape(re.sub("<[^>]*>", "", warning)).removesuffix(".") in told
    assert f"There are {len(said)} warnings" in written
    assert "Row: data rows of the file, counted from 0" in section.split("<h3>Notes</h3>")[1]
    doubt = re.search(r"The cross-validation on the training rows does not show .*? partial AUC out of fold\.", told)
    assert doubt[0] in html.unescape(section)


@BATCHES
def test_the_number_of_a_row_is_explained_where_it_has_no_id(capsys, tmp_path, batches):
    """With the line of the first row, unless the file would have to be read again for it."""
    path, model, report = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "r.html"
    x = np.random.default_rng(4).normal(size=300)
    frame = pandas.DataFrame({"lead": [f"L{k}" for k in range(300)], "x": x, "y": (x > 0.5).astype(int)})
    frame.to_csv(path, index=False)
    numbers = "Row: data rows of the file, counted from 0"
    learning = ["--label", "y", *QUICK, *batches, "--save", model]
    for more in (learning, ["--model", model, *batches]):
        told = " ".join(run(capsys, path, *more)[1].split())
        row = int(re.search(r"Top of the list.*? 1 +(\d+) ", told)[1])
        assert (f"{numbers}; row {row} is line {row + 2}. Reasons" if not batches else f"{numbers}. R") in told
        assert numbers not in run(capsys, path, *more, "--id", "lead")[1]
    run(capsys, path, *learning, "--report", report)
    assert numbers in report.read_text(encoding="utf-8")
    workbook = tmp_path / "t.xlsx"
    frame.to_excel(workbook, index=False)
    if not batches:
        told = " ".join(run(capsys, workbook, "--model", model)[1].split())
        row = int(re.search(r"Top of the list.*? 1 +(\d+) ", told)[1])
        assert f"{numbers}; row {row} is row {row + 2} of the sheet Sheet1. Reasons" in told


def test_labels_of_which_none_is_plainly_positive_are_counted(capsys, transactions):
    path, frame = transactions
    frame.assign(fraud=np.where(frame["fraud"] == "yes", "fraud", "ok")).to_csv(path, index=False)
    n = int((frame["fraud"] == "yes").sum())
    status, _, err = run(capsys, path, "--label", "fraud")
    assert status == 2
    assert f"has the labels ok ({600 - n}), fraud ({n}); name the positive label with --positive" in err
    status, _, err = run(capsys, path, "--label", "amount")
    assert "labels are many: check that this is the right column" in err


def test_a_file_without_a_label_names_the_columns_of_two_values(tmp_path, capsys):
    path = tmp_path / "claims.csv"
    path.write_text("id,wrong,kind,same\n1,no,a,1\n2, no ,b,1\n3,yes,c,1\n4,,a,1\n")
    status, out, err = run(capsys, path)
    assert (status, out) == (2, "")
    assert err == (
        "pnorm: error: --label is missing. Add --label COLUMN, the column that marks the positive rows. Columns with "
        "two values in the first 4 rows: wrong (2 no, 1 yes). To rank with a saved model, add --model MODEL\n"
    )
    path.write_text("id,kind\n1,a\n2,b\n3,c\n")
    assert "the positive rows. The columns are id, kind. To rank with" in run(capsys, path)[2]
    assert "no-such.csv: No such file or directory" in run(capsys, "no-such.csv")[2]


class Stream(io.StringIO):
    def isatty(self):
        return True


def test_an_error_is_wrapped_on_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    path = tmp_path / "claims.csv"
    path.write_text("id,wrong\n1,no\n2,yes\n3,no\n")
    _, _, whole = run(capsys, path)
    assert whole.count("\n") == 1
    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    assert main([str(path)]) == 2
    assert max(map(len, stream.getvalue().splitlines())) <= 60
    assert stream.getvalue().split() == whole.split()


def told_at_once(monkeypatch, terminal):
    """Return a terminal or a file that takes the place of the standard error, where progress is told at once."""
    stream = Stream() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.001)
    return stream


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_told_to_a_terminal(monkeypatch, terminal):
    stream = told_at_once(monkeypatch, terminal)
    with progress.Progress(asked=not terminal) as say:
        say("choosing\x1b", 1, 5)
        while r"choosing\x1b: 1 of 5" not in stream.getvalue():
            pass
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().endswith("\r" if terminal else "\n")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.Progress() as say:
        say("choosing")
        assert say._thread is None
    assert sys.stderr.getvalue() == ""


def test_the_line_of_progress_is_away_while_others_are_printed(monkeypatch):
    stream = told_at_once(monkeypatch, True)
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
    how = [table[0], "--label", "bought", "--ignore", "city", "--l2", "0.1", "--rankers", "columns", "--details"]
    out = run(capsys, *how, "-p", "2,16,2")[1]
    chosen = re.search(r"in use, with p = (\d+)", out)[1]
    assert chosen in ("2", "16")
    assert "chosen by 5-fold cross-validation" in " ".join(out.split())
    alone = run(capsys, *how, "-p", chosen)[1]
    test = "Test on .*\n(.*\n)*?\n(.*\n)*?\n"
    assert re.search(test, alone)[0] == re.search(test, out)[0]


@pytest.mark.usefixtures("few_points", "few_resamples")
def test_columns_and_leaks_are_printed_before_the_training(capsys, tmp_path, monkeypatch):
    rng, path = np.random.default_rng(0), tmp_path / "leak.csv"
    y = np.arange(300) % 3 == 0
    pandas.DataFrame({"x": rng.normal(size=300), "paid back": y + 0.1 * rng.random(300), "y": y * 1}).to_csv(path)

    def stopped(*_, **__):
        raise KeyboardInterrupt

    whole = run(capsys, path, "--label", "y")[1]
    assert whole.count("paid back alone almost separates positives from negatives") == 1
    for *asked, first in (("_default.choose",), ("-p", 1, "--l2", 0.1, "_default.choose"), ("-t", 5, "train")):
        printed = run(capsys, path, "--label", "y", *asked)[1].partition("\n\nTest on ")[0]
        assert "Columns (counts of the 240 training rows)" in printed
        with monkeypatch.context() as patch:
            patch.setattr(f"pnorm._job.learn.{first}", stopped)
            status, out, err = run(capsys, path, "--label", "y", *asked)
        assert (status, out.strip(), err) == (130, printed, "")


@pytest.mark.usefixtures("few_points", "few_resamples")
@pytest.mark.parametrize("how", [[], ["--memory", "0"]])
def test_a_column_with_values_for_positives_only_is_pointed_out(capsys, tmp_path, how):
    rng, path, page = np.random.default_rng(0), tmp_path / "t.csv", tmp_path / "r.html"
    y = np.arange(900) % 9 == 0
    paid = np.where(y & (np.arange(900) % 18 == 0), "2026-03-01", "")
    seen = np.where(y & (np.arange(900) % 27 == 0), "", "yes")
    frame = pandas.DataFrame({"x": rng.normal(size=900) + y, "charged": paid, "seen": seen, "y": y * 1})
    frame.to_csv(path, index=False)
    call = (path, "--label", "y", *QUICK, "--holdout", 0, *how)
    out = run(capsys, *call, "--report", page)[1]
    told = "charged has a value in 50 rows (all positive), seen is missing in 34 rows (all positive)"
    warned = f"{told}. Are the columns known only after the outcome?"
    plain = " ".join(out.partition("\n\nModel")[0].split())
    assert plain.count(f"warning: {warned} To leave them out: --ignore charged,seen.") == 1
    assert "alone almost separates" not in out
    assert "--ignore charged,seen" in out.split("Next steps\n")[1]
    assert warned in page.read_text(encoding="utf-8")
    out = run(capsys, *call, "--ignore", "charged", "--ignore", "seen")[1]
    assert "outcome" not in out


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
    assert run(capsys, train, "--label", "label", "--save", model, *QUICK)[0] == 0
    status, out, err = run(capsys, new, "--model", model)
    assert (status, err) == (0, "")
    assert f"  country has 1 level never seen before, in {n} rows: NG ({n})\n" in out

    of_training = json.loads(model.read_text())  # a model that knows no rows of training has nothing to compare with
    of_training["metadata"].pop("profile")
    model.write_text(json.dumps(of_training))
    status, out, err = run(capsys, new, "--model", model)
    assert (status, err) == (
        0,
        f"pnorm: warning: country has 1 level that the training rows do not have, in {n} rows: NG\n",
    )
    level_file(new, ["DE", "NG", "IT", "ES", "PT"], 1)
    _, _, err = run(capsys, new, "--model", model)
    assert re.fullmatch(
        r"pnorm: warning: country has levels that the training rows do not have, in \d+ rows: \w\w, \w\w, \.\.\.\n", err
    )
    level_file(new, [""], 1)
    _, _, err = run(capsys, new, "--model", model)
    assert err == "pnorm: warning: country is missing in all 400 rows, and was never missing in the training rows\n"


def test_a_budget_takes_the_first_rows_of_a_list_of_new_rows(capsys, tmp_path):
    train, new, model, out_path = [tmp_path / name for name in ("train.csv", "new.csv", "m.json", "s.csv")]
    level_file(train, ["DE", "FR"])
    frame = level_file(new, ["DE", "FR"], 1)
    frame.loc[1] = frame.loc[0]
    frame.to_csv(new, index=False)
    _, out, _ = run(capsys, train, "--label", "label", "--budget", 8, "--save", model, *QUICK)
    assert "  A new list is assumed to be as long as the test set, 80 rows. Use --of ROWS for another length.\n" in out
    _, out, _ = run(capsys, train, "--label", "label", "--budget", 8, "--of", 80, *QUICK)
    assert "A list is taken" not in out
    f = pnorm.load(model).score(frame)
    first_rows = np.argsort(-f, kind="stable")
    page = tmp_path / "r.html"
    more = ["--label", "label", "--report", page, "--top", 20, "--out", out_path]
    status, out, err = run(capsys, new, "--model", model, "--budget", 17, *more)
    assert (status, err) == (0, "")
    assert (
        f"Take the first 17 of 400 rows: those with a score of {written_score(f[first_rows[16]], f)} or more.\n" in out
    )
    assert "Cut-off:" not in out
    assert "precision in the first 17 " in out
    assert "Of the first 17 rows" in page.read_text(encoding="utf-8")
    written = pandas.read_csv(out_path)
    assert written.loc[written["take"] == 1, "row"].tolist() == first_rows[:17].tolist()
    assert len(re.findall(r"  yes  [01]  ", out)) == 17
    assert len(re.findall(r"   no  [01]  ", out)) == 3

    place = int(np.flatnonzero(first_rows == 0)[0])  # rows 0 and 1 have one score
    _, out, _ = run(capsys, new, "--model", model, "--budget", place + 1, "--out", out_path)
    assert "  1 more row has this score as well. Ties are taken in the order of the file.\n" in out
    assert pandas.read_csv(out_path)["take"].sum() == place + 1
    _, out, _ = run(capsys, new, "--model", model, "--budget", 500, *more)
    assert f"Take the first 400 of 400 rows: those with a score of {written_score(f.min(), f)} or more.\n" in out
    for option in ("precision", "recall", "at-least"):
        status, _, err = run(capsys, new, "--model", model, f"--{option}", "0.5")
        assert (status, f"--{option} is an option of learning" in err) == (2, True)
    status, _, err = run(capsys, new, "--model", model, "--budget", "0.5")
    assert (status, "--budget must be a whole number of rows, 1 or more; got 0.5" in err) == (2, True)
    assert run(capsys, train, "--label", "label", "--push", "bottom", "--save", model, *QUICK)[0] == 0
    status, _, err = run(capsys, new, "--model", model, "--budget", 5)
    assert (status, "--budget takes rows from the top of the list, and this model" in err) == (2, True)


@pytest.mark.parametrize("more", [[], ["--memory", "0"]], ids=["in memory", "in batches"])
def test_the_tests_of_a_precision_begin_where_the_options_say(capsys, tmp_path, more):
    path, model = tmp_path / "train.csv", tmp_path / "m.json"
    level_file(path, ["DE", "FR"], n=1000)
    n_cuts = {}
    for at_least in ("20", "30%"):
        words = ("--label", "label", *QUICK, "--save", model, "--precision", "0.3", "--at-least", at_least, *more)
        status, out, _ = run(capsys, path, *words)
        assert status == 0
        cut = pnorm.load(model).cutoff
        n = cut.n_pos + cut.n_neg
        rows = 20 if at_least == "20" else 0.3 * n
        assert cut.depth >= rows
        assert f"({cut.depth:,} of the {n:,} held-out rows)" in " ".join(out.split())
        assert "it was checked by simulation" in " ".join(out.split())
        n_cuts[at_least] = cut.n_cuts
    assert n_cuts["20"] > n_cuts["30%"]
    new = tmp_path / "new.csv"
    level_file(new, ["DE", "FR"], 1)
    status, out, _ = run(capsys, path, "--label", "label", *QUICK, "--test", new, "--precision", "0.3", *more)
    assert (status, "Cut-off" in out, "simulated" in out) == (0, True, False)


def test_the_choice_shows_what_its_rule_takes(capsys, tmp_path):
    path, model = tmp_path / "train.csv", tmp_path / "m.json"
    level_file(path, ["DE", "FR"], n=300)
    assert run(capsys, path, "--label", "label", "--save", model)[0] == 0
    _, out, _ = run(capsys, path, "--label", "label", "--details")
    rows = [
        (line[2], *map(float, re.findall(r"(\d\.\d{4}) ±", line)), float(line.split()[-1]))
        for line in out.splitlines()
        if re.match(r"  [* ] \w.* ± \d\.\d{4} +\d\.\d{4}$", line)
    ]
    largest, error = map(float, re.search(r"partial AUC \((\d\.\d{4}) ± (\d\.\d{4})\), the", out).groups())
    assert len(rows) > 1
    assert max(auc for _, auc, _ in rows) == largest  # its row is printed, whether it is chosen or not
    near = [row for row in rows if row[1] >= largest - error - 1e-4]
    ((_, auc, precision),) = [row for row in rows if row[0] == "*"]
    assert auc >= largest - error - 1e-4
    assert precision == max(value for _, _, value in near)


def test_the_terminal_says_what_the_report_says_of_other_lists(capsys, tmp_path):
    path, page = tmp_path / "train.csv", tmp_path / "r.html"
    level_file(path, ["DE", "FR"])
    _, out, _ = run(capsys, path, "--label", "label", "--report", page, *QUICK)
    words = re.sub("<[^>]+>", "", page.read_text(encoding="utf-8"))
    told = " ".join(out.split())
    told_there = r"average precision,? \d\.\d+(?: against \d\.\d+)? \((?:difference )?(.*?)[;)]"
    statements = re.findall(rf"Against (?:the )?([^:]*): (?:(?!Against).)*?{told_there}", words)
    assert len(statements) >= 3
    for name, interval in statements:
        (cell,) = re.findall(rf" {re.sub('[“”]', '', name)} [+−\d]+ \(.*?\)(?: \w+)? [+−]\d\.\d+ \((.*?)\)", told)
        assert cell == interval
    (interval,) = re.findall(
        r"In the first \d+ rows: \d+ positive \(95 % interval for the expected number: (\d+ to \d+)\); a random", told
    )
    assert f"(95 % interval {interval})" in words


def test_changes_of_rows_that_were_drawn_at_random_are_chance_or_too_close_a_fit(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path, later, page = tmp_path / "noise.csv", tmp_path / "later.csv", tmp_path / "r.html"
    frame = pandas.DataFrame(rng.normal(size=(600, 12)), columns=[f"x{k}" for k in range(12)])
    frame["y"], frame["n"] = np.arange(600) % 3 // 2, np.arange(600)
    frame[:480].to_csv(path, index=False)
    frame[480:].to_csv(later, index=False)
    for how, is_drawn in (([], True), (["--test", later], False), (["--time", "n"], False)):
        typed = (path, "--label", "y", "--ignore", "n", "-p", 1, "--l2", 1e-6, "--report", page, *how)
        status, out, _ = run(capsys, *typed)
        assert status == 0
        (part,) = re.findall(r"\nChanges between training rows and .*?\n\n", out, re.DOTALL)
        page_words = re.sub("<[^>]+>", "", page.read_text(encoding="utf-8"))
        for words in (part, page_words):
            assert "The scores moved" in words
            assert (AT_RANDOM in " ".join(words.split())) == is_drawn
        assert page_words.count(AT_RANDOM) == 2 * is_drawn  # in the box and in the section


def test_the_columns_are_those_of_the_rows_trained_on(capsys, tmp_path):
    path = tmp_path / "train.csv"
    frame = level_file(path, ["DE", "FR"])
    frame.loc[::2, "amount"] = None
    frame.to_csv(path, index=False)
    head = "Columns (counts of the {} training rows)\n  column "
    _, out, _ = run(capsys, path, "--label", "label", *QUICK)
    assert head.format(320) in out
    _, out, _ = run(capsys, path, "--label", "label", "--holdout", 0, *QUICK)
    assert "\nColumns\n  column " in out
    assert re.search(r"^  amount +number +200 +200$", out, re.MULTILINE)


def test_how_a_file_is_written_is_nothing_to_mind_in_the_report(capsys, tmp_path):
    path, page, model = tmp_path / "train.csv", tmp_path / "r.html", tmp_path / "m.json"
    level_file(path, ["DE", "FR"]).to_csv(path, index=False, sep=";")
    more = ["--label", "label", "--report", page]
    for how in (["--save", model, *QUICK], ["--model", model]):
        _, out, _ = run(capsys, path, *more, *how)
        assert "columns are separated by semicolons" in out
        assert "semicolon" not in page.read_text(encoding="utf-8")


def test_dates_lead_to_a_test_on_the_latest_rows(capsys, tmp_path):
    path = tmp_path / "train.csv"
    frame = level_file(path, ["DE", "FR"])
    frame["booked on"] = pandas.date_range("2024-01-01", periods=400).strftime("%Y-%m-%d")
    hint = re.compile(r"  Test on the latest rows:?\s+pnorm ")
    assert not hint.search(run(capsys, path, "--label", "label", *QUICK)[1])
    frame.to_csv(path, index=False)
    assert hint.search(run(capsys, path, "--label", "label", *QUICK)[1])
    for more in (["--time", "booked on"], ["--holdout", 0], ["--test", path]):
        assert not hint.search(run(capsys, path, "--label", "label", *QUICK, *more)[1])


def test_the_scores_say_which_rows_are_to_be_ranked(capsys, tmp_path):
    path, out_path = tmp_path / "train.csv", tmp_path / "s.csv"
    frame = level_file(path, ["DE", "FR"])
    frame["label"] = frame["label"].astype(object).where(np.arange(len(frame)) % 8 > 0)
    frame.to_csv(path, index=False)
    words = [path, "--label", "label", "--unlabelled", "rank", "--out", out_path, *QUICK]
    told = "(rows with held_out = 0 and labelled = 1 are training rows; rows to rank have labelled = 0)\n"
    assert told in run(capsys, *words)[1]
    assert (pandas.read_csv(out_path)["labelled"] == 0).sum() == frame["label"].isna().sum()
    assert "(rows to rank have labelled = 0)\n" in run(capsys, *words, "--holdout", 0)[1]


def test_the_scores_say_which_rows_were_trained_on(capsys, tmp_path):
    path, out_path = tmp_path / "train.csv", tmp_path / "s.csv"
    level_file(path, ["DE", "FR"])
    told = " (rows with held_out = 0 are training rows)\n"
    assert told in run(capsys, path, "--label", "label", "--out", out_path, *QUICK)[1]
    assert (pandas.read_csv(out_path)["held_out"] == 0).sum() == 320
    assert told not in run(capsys, path, "--label", "label", "--out", out_path, "--holdout", 0, *QUICK)[1]


def test_the_demonstration_names_programs_as_they_can_be_typed(tmp_path, monkeypatch):
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


def test_a_value_that_does_not_read_counts_as_missing_wherever_it_falls(capsys, tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    draw = np.random.default_rng(0)
    amounts = draw.lognormal(8, 1, 300)
    texts = [f"{x:.2f}" for x in amounts]

    def write(texts):
        lines = [f"{text},{'yes' if x > 4000 else 'no'}" for text, x in zip(texts, amounts, strict=True)]
        path.write_text("\n".join(["Amt,Bought", *lines]))

    for row in (3, 7, 12, 20, 41):  # in training and held-out rows
        write([*texts[:row], "tbc", *texts[row + 1 :]])
        status, out, _ = run(capsys, path, "--label", "Bought", "-t", 5, "--save", model)
        said = " ".join(out.split())
        assert status == 0
        assert said.count("1 value does not read as a number and counts as missing: 'tbc' (line ") == 1
        assert f"'tbc' (line {row + 2} of " in said
    page, later = tmp_path / "r.html", tmp_path / "later.csv"
    write([*texts[:3], *["tbc", "tba"] * 5, *texts[13:]])  # in both
    for memory in ([], ["--memory", 0]):
        status, out, _ = run(capsys, path, "--label", "Bought", "-t", 5, *memory, "--report", page)
        said = " ".join(out.split())
        found = html.unescape(re.sub("<[^>]*>", "", page.read_text(encoding="utf-8")))
        assert (status, said.count("not read as a number")) == (0, 1)
        told = re.search(r"warning: (Amt: (\d) values do not read as .*?\)\.) ", said)  # not again of the test
        assert re.findall(rf"'(tb[ac])' \(line \d+ of {re.escape(str(path))}\)", told[1]) in (
            ["tbc", "tba"],
            ["tba", "tbc"],
        )
        assert 1 <= int(told[2]) <= 9
        assert " ".join(found.split()).count(told[1]) >= 1
        assert not re.search(r"of (X|pos|neg)\b", found.split("Warnings")[-1])
    later.write_bytes(path.read_bytes())
    write(texts)
    out = " ".join(run(capsys, path, "--label", "Bought", "-t", 5, "--test", later)[1].split())
    assert "in column 'Amt' of the test rows, 10 values do not read as a number" in out
    write([*texts[:3], "tbc", *texts[4:]])
    out = " ".join(run(capsys, path, "--label", "Bought", "-t", 5, "--test", later, "--report", page)[1].split())
    told = f"Amt: 6 values do not read as a number and count as missing: 'tbc' (line 5 of {path}), 'tba' (line 6 of {later})"
    assert f"{told}; 5 of them are new, in the test rows." in out
    assert f"{told}; 5" in html.unescape(re.sub("<[^>]*>", "", page.read_text(encoding="utf-8")))
    write(["2.3k", *texts[1:]])
    status, _, err = run(capsys, path, "--model", model)
    assert status == 0
    assert "Amt: 1 value does not read as a number and counts as missing: '2.3k' (line 2 of " in err
    write([*texts[:200], *["soon"] * 100])
    status, _, err = run(capsys, path, "--model", model)
    assert status == 2
    assert "'soon' in line 202 of " in err
    assert "100 of the 300 values are not" in err


def test_words_that_training_counted_as_missing_are_not_reported_of_new_rows(capsys, tmp_path):
    more = ["--memory", 0]
    path, new, model = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.json"
    amounts = np.random.default_rng(0).lognormal(8, 1, 300)
    texts = [f"{x:.2f}" for x in amounts]

    def write(file, texts):
        lines = [f"{text},{'yes' if x > 4000 else 'no'}" for text, x in zip(texts, amounts, strict=True)]
        file.write_text("\n".join(["Amt,Bought", *lines]))

    learn = (path, "--label", "Bought", "-t", 5, *more)
    write(path, [*texts[:3], *["tbc", "tba"] * 5, *texts[13:]])
    assert run(capsys, *learn, "--holdout", 0, "--save", model)[0] == 0
    write(new, [*texts[:3], *["tbc", " TBA"] * 4, *texts[11:]])
    status, out, err = run(capsys, new, "--model", model, *more)
    assert status == 0
    assert "not read" not in out + err
    out = " ".join(run(capsys, *learn, "--test", new)[1].split())
    assert "Amt: 10 values do not read as a number and count as missing: 't" in out
    assert "in the test rows" not in out
    write(new, [*texts[:3], *["tbc", " TBA"] * 4, *texts[11:298], "soon", texts[299]])
    status, out, err = run(capsys, new, "--model", model, *more)
    assert status == 0
    assert f"Amt: 1 value does not read as a number and counts as missing: 'soon' (line 300 of {new})" in " ".join(
        (out + err).split()
    )
    out = " ".join(run(capsys, *learn, "--test", new)[1].split())
    assert "Amt: 11 values do not read as a number and count as missing: " in out
    assert "; 1 of them is new, in the test rows." in out


def test_probabilities_that_the_test_finds_wrong_are_not_written(capsys, tmp_path):
    memory = None
    rng = np.random.default_rng(0)
    for name, share in (("train", 0.5), ("test", 0.1)):
        y = rng.random(1000) < share
        frame = pandas.DataFrame({"a": y + rng.normal(size=1000), "b": rng.normal(size=1000), "y": y.astype(int)})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    out, model, page = tmp_path / "out.csv", tmp_path / "m.json", tmp_path / "r.html"
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    more = [] if memory is None else ["--memory", memory]
    why = ", without probabilities, as the test finds them wrong: "
    quick = ("-p", 1, "--l2", 0.001)
    _, text, _ = run(
        capsys, train, "--label", "y", "--test", test, "--save", model, "--report", page, "--out", out, *quick, *more
    )
    assert why in " ".join(text.split())
    how = "“Get probabilities from scores” in the documentation of pnorm shows how to recalibrate them."
    assert how in page.read_text(encoding="utf-8")
    assert "probability" not in pandas.read_csv(out)
    _, text, _ = run(capsys, test, "--label", "y", "--model", model, "--out", out, *more)
    assert why in " ".join(text.split())
    assert "probability" not in pandas.read_csv(out)
    for arguments in ([train, "--label", "y", "--model", model], [train, "--label", "y"]):
        _, text, _ = run(capsys, *arguments, "--out", out, *(quick if model not in arguments else ()), *more)
        assert "without probabilities" not in " ".join(text.split())
        assert "probability" in pandas.read_csv(out)
    _, text, _ = run(capsys, train, "--model", model, "--out", out, *more)  # the test of the model is the last one
    assert "No probabilities are shown, as the test of the model finds them wrong." in " ".join(text.split())
    assert ", without probabilities, as the test of the model finds them wrong: " in " ".join(text.split())
    assert " probability " not in text
    assert "probability" not in pandas.read_csv(out)
    about = json.loads(model.read_text())
    for doubt in (None, "strange", [1]):  # a model of an earlier version, or of others
        about["metadata"]["no_probabilities"] = doubt
        model.write_text(json.dumps(about))
        assert run(capsys, train, "--model", model, "--out", out, *more)[0] == 0
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


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize(
    ("more", "left_out"),
    [
        ([], ["--ignore", "siu,refund"]),
        (["--only", "siu,a,refund"], ["--only", "a"]),
        (["--monotone", "siu=+", "--monotone", "a=+"], ["--ignore", "siu,refund", "--monotone", "a=+"]),
    ],
    ids=["all", "only", "monotone"],
)
def test_all_steps_leave_out_a_column_that_may_leak(capsys, tmp_path, monkeypatch, leaky, more, left_out):
    monkeypatch.chdir(tmp_path)
    _, text, _ = run(capsys, leaky, "--label", "y", *QUICK, "--top", 0, *more, "--save", "m.json", "--refit")
    assert "model (trained on all rows): m.json (it uses siu, refund)" in text
    assert "which is simpler" not in text  # with a leak, all lists are as good
    steps = next_steps(text)
    rank = steps.pop("Rank new rows")
    assert next(iter(steps)) == "Leave out siu, refund"
    kept = [] if "--monotone" in more or not more else ["--only", "a"]
    for command in steps.values():
        at = command.index(left_out[0])
        assert command[at : at + len(left_out)] == left_out
        assert command.count("--only") == bool(kept)
        assert command.count("--refit") == ("--save" in command)
    status, out, err = run(capsys, *steps["Save a model without them"])
    assert (status, "warning: siu" in out, "refund has a value" in out) == (0, False, False), err
    assert "siu, refund" not in out
    assert run(capsys, *steps["Leave out siu, refund"])[0] == 0
    assert steps["Save a model without them"][-2:] == ["--save", "m-without.json"]
    assert rank[2] == "m-without.json"
    told = "in training, siu alone almost separates positives from negatives."
    for model, is_told in (("m.json", True), ("m-without.json", False)):
        _, out, _ = run(capsys, leaky, "--model", model, "--label", "y")
        assert (told in " ".join(out.split()), "If siu, refund are known only after the label" in out) == (
            is_told,
            is_told,
        )


@pytest.mark.usefixtures("few_resamples")
def test_no_column_is_left_without_a_leak(capsys, leaky):
    _, text, _ = run(capsys, leaky, "--label", "y", *QUICK, "--only", "siu")
    assert text.split("Next steps\n")[1] == (
        "  No column is left without siu. Add columns that are known before the label.\n"
    )
    assert "To leave it out" not in text


@pytest.mark.parametrize(("name", "is_near"), [("country", False), ("amuont", True)])
def test_a_name_is_proposed_only_if_it_is_similar(capsys, tmp_path, name, is_near):
    path = tmp_path / "t.csv"
    path.write_text("amount,y\n1,0\n2,1\n")
    status, _, err = run(capsys, path, "--label", name)
    assert (status, "did you mean 'amount'?" in err) == (2, is_near)
    assert is_near or "its columns are amount, y" in err


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
    how = [later, "--label", "y", "--time", "booked on", "-p", 1, "--linear", "--l2", 0.1]
    text = run(capsys, *how, "--save", model, "--report", page)[1]
    assert "booked on (trend) = 20" not in text
    step = r"\n  Split by booked on but do not learn from it: later rows differ:?\s+pnorm .* --ignore 'booked on'\n"
    assert re.search(step, text)
    assert "PSI, the population stability index, is 0 if nothing changed" in text
    written = page.read_text(encoding="utf-8")
    assert "The same for all held-out rows: booked on (trend).</p>" in written
    frame = pandas.read_csv(later)
    frame.assign(**{"booked on": "2026-01-01"}).to_csv(new, index=False)
    assert run(capsys, new, "--model", model, "--out", out)[0] == 0
    assert not pandas.read_csv(out)["reasons"].str.contains("booked on (trend) = 20", regex=False).any()
    assert run(capsys, later, "--model", model, "--out", out)[0] == 0
    assert pandas.read_csv(out)["reasons"].str.contains("booked on (trend) = 20", regex=False).any()


def test_all_columns_that_may_follow_from_the_label_are_left_out_together(capsys, later):
    frame = pandas.read_csv(later)
    y = frame["y"].to_numpy()
    noise = np.random.default_rng(1).normal(size=y.size)
    note = np.where(np.arange(y.size) % 50 == 0, 1 - y, y)
    frame.assign(**{"paid, late": y + 0.01 * noise, "seen": note}).to_csv(later, index=False)
    text = run(capsys, later, "--label", "y", *QUICK)[1]
    assert re.search(r"  Leave out paid, late, seen:?\s+pnorm .* --ignore seen --ignore 'paid, late'\n", text)


def test_output_that_is_no_terminal_hides_nothing(capsys, tmp_path, monkeypatch):
    """Notes are wrapped between words."""
    rng, path, name = np.random.default_rng(0), tmp_path / "t.csv", "a column with a long name"
    x = rng.normal(size=900)
    told = [f"EUR {1000 * v:,.0f}" if k % 3 else f"({abs(v):.2f}k)" for k, v in enumerate(x)]
    for k in range(0, 900, 30):
        told[k] = f"ask no. {k}"
    pandas.DataFrame({"amount": told, name: x, "y": (x > rng.normal(size=900)).astype(int)}).to_csv(path, index=False)
    text = run(capsys, path, "--label", "y", *QUICK)[1]
    assert "wider terminal" not in text
    assert name in next(line for line in text.splitlines() if "this list  " in line)
    note = "some values count as missing; " * 5
    lines = printing._wrapped([["x", "number", note.strip()]])
    assert [len(line[-1]) <= 100 for line in lines] == [True, True]
    assert " ".join(line[-1] for line in lines) == note.strip()
    assert [line[0] for line in lines] == ["x", ""]
    monkeypatch.setenv("COLUMNS", "80")
    assert "in a wider terminal" in run(capsys, path, "--label", "y", *QUICK)[1]


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
    assert printing._between(*ends) == told


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
@pytest.mark.parametrize("cell", ["Oslo", ""])
def test_an_option_in_an_error_runs_nothing_else(capsys, tmp_path, monkeypatch, name, cell):
    monkeypatch.chdir(tmp_path)
    pandas.DataFrame({"x": [1, 2], name: ["1", cell], "y": [0, 1]}).to_csv("t.csv", index=False)
    err = run(capsys, "t.csv", "--label", "y", "--rankers", "columns")[2]
    option = re.search(r"--ignore .*", err)[0]
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {option}"], capture_output=True, check=True)
    words = done.stdout.decode().split("\0")[:-1]
    assert os.listdir() == ["t.csv"]
    assert run(capsys, "t.csv", "--label", "y", "--rankers", "columns", *words, "-t", 2)[0] == 0


def test_a_long_message_does_not_lose_its_middle():
    """A part of an option may be a command of its own."""
    option = pasted("--kind", "'" * 3000 + ";id;#=category")
    line = one_line(f"a {option} and more")
    assert len(line) <= 4000
    assert f"a {option}".startswith(line[:-1])


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
def test_a_pipe_is_not_opened_to_look_for_the_label(capsys, tmp_path):
    os.mkfifo(tmp_path / "p")
    assert "--label is missing" in run(capsys, tmp_path / "p")[2]


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
        ([0, 1, 2], [], [*how, "--out", "3.csv", "--progress"], 0, ""),
        ([0], [], ["-", *how[1:]], 2, "is empty"),
        ([1], [], wrong, 2, "no column 'none'"),
        ([2], [], wrong, 2, ""),
        ([], [2], wrong, 2, ""),
        ([], [1], how, 2, "standard output: No space left on device"),
        ([], [1, 2], how, 2, ""),
    ]
    words = [sys.executable, "-c", _ON_STREAMS, json.dumps([case[:3] for case in cases])]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    for (status, told), case in zip(lines, cases, strict=True):
        assert (status, case[4] in told, told.count("\n")) == (case[3], True, len(case[4]) > 0), case
    assert all((folder / f"{k}.csv").read_text().startswith("row,score") for k in (1, 2, 3))
    assert table[0].read_bytes() == before
