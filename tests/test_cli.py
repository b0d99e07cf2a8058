"""The command, as a process of its own and by its function."""

import csv
import re
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

import pnorm
from pnorm._cli import main


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


def test_the_main_job_shows_the_push(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if re.match(r" +\d+ +\d+ +0\.\d{4} ", line)]
    assert [row[0] for row in rows] == ["1", "2", "4", "8", "16", "64"]
    assert "500 boards to train on" in out
    assert "458 to test on" in out
    assert "What to look for" in out
    at_top = [int(row[1]) for row in rows]
    assert at_top[-1] > at_top[0]

    # the same numbers from the public functions
    data = pnorm.datasets.tic_tac_toe()
    order = np.random.default_rng(0).permutation(958)
    X, y = data.X[order[:500]], data.y[order[:500]]
    for row, p in zip(rows, (1, 2, 4, 8, 16, 64), strict=True):
        H = pnorm.rankers.normalized(X[y == 1], X[y == 0], -1, 1)
        lam, trace = pnorm.train(X[y == 1], X[y == 0], H, p, 200)
        f = pnorm.score(data.X[order], H, lam)
        sides = [(f[:500][y == 1], f[:500][y == 0])]
        test = data.y[order[500:]]
        sides.append((f[500:][test == 1], f[500:][test == 0]))
        expected = [pnorm.metrics.positives_at_top(*sides[0]), f"{pnorm.metrics.auc(*sides[0]):.4f}"]
        expected += [pnorm.metrics.positives_at_top(*sides[1]), f"{pnorm.metrics.auc(*sides[1]):.4f}"]
        expected += [f"{trace.log_objective[-1]:.3f}", trace.n_iter]
        assert row[1:7] == list(map(str, expected))


@pytest.mark.parametrize("command", [[sys.executable, "-P", "-m", "pnorm"], ["pnorm"]], ids=["module", "script"])
def test_both_names_of_the_command(command, table):
    path, *_ = table
    if command == ["pnorm"]:
        command = [shutil.which("pnorm", path=sysconfig.get_path("scripts"))]
    done = subprocess.run([*command, path, "--label", "bought", "--ignore", "city", "-t", "5"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert "20 positive (bought = 1)" in done.stdout
    failed = subprocess.run([*command, path, "--label", "no such"], capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["columns", "normalized", "thresholds"])
def test_a_file_is_ranked(capsys, table, kind, tmp_path):
    path, X, y = table
    out_path = tmp_path / "scores.csv"
    status, out, err = run(capsys, path, "--label", "bought", "--ignore", "city", "--rankers", kind, "-p", "8", "-t", 50,
                           "--top", 4, "--out", out_path)  # fmt: skip
    assert (status, err) == (0, "")
    names = ["visits", "age", "noise"]
    H = {"columns": lambda: pnorm.rankers.columns(3, names=names),
         "normalized": lambda: pnorm.rankers.normalized(X[y], X[~y], names=names),
         "thresholds": lambda: pnorm.rankers.quantile_thresholds(X[y], X[~y], 31, names=names)}[kind]()  # fmt: skip
    lam, trace = pnorm.train(X[y], X[~y], H, 8, 50)
    f = pnorm.score(X, H, lam)
    with open(out_path) as stream:
        written = list(csv.DictReader(stream))
    assert list(written[0]) == ["row", "score"]
    order = [int(line["row"]) for line in written]
    assert sorted(order) == list(range(60))
    np.testing.assert_array_equal([float(line["score"]) for line in written], f[order])
    assert (np.diff(f[order]) <= 0).all()

    assert f"{pnorm.metrics.positives_at_top(f[y], f[~y])} of 20 positives above every negative" in out
    leading = H.names[int(np.argmax(np.abs(lam) * np.ptp(H.evaluate(X), axis=0)))]
    assert out.split("moves a score by up to\n")[1].strip().startswith(leading)
    top = out.split("The top of the list:\n")[1].splitlines()[1:5]
    assert [int(line.split()[1]) for line in top] == order[:4]
    assert [int(line.split()[3]) for line in top] == [int(y[i]) for i in order[:4]]
    assert f"{trace.status}\nafter {trace.n_iter} rounds: {trace.message}" in out


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
        (["Yes", "maybe", "yes"], ["--positive", "YES"], [0, 2]),
    ],
)
def test_which_label_is_positive(capsys, tmp_path, labels, arguments, positive):
    path = tmp_path / "t.csv"
    path.write_text("x;label\n" + "".join(f"{i};{label}\n" for i, label in enumerate(labels)))
    status, out, err = run(capsys, path, "--label", "label", *arguments)
    assert (status, err) == (0, "")
    assert f"3 rows, {len(positive)} positive" in out


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("x,y\n1,1\n2,0\n", ["--label", "z"], "no column 'z' in FILE; its columns are x, y"),
        ("x,y\n1,1\n2,0\n", [], "--label COLUMN is needed with a FILE"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--ignore", "z"], "no column 'z' in FILE"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--ignore", "x"], "FILE has no column beside the label 'y' to rank by"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--positive", "7"], "no row has the label '7' in column 'y'; its labels are 0, 1"),
        ("x,y\n1,a\n2,b\n", ["--label", "y"], "say which label in column 'y' is positive with --positive; its labels are a, b"),
        ("x,y\n1,1\n2,2\n", ["--label", "y"], "say which label in column 'y' is positive"),
        ("x,y\n1,1\n2,1\n", ["--label", "y"], "column 'y' holds one label only (1); both kinds of rows are needed"),
        ("x,city,y\n1,Oslo,1\n2,Rome,0\n", ["--label", "y"],
         "column 'city' is not numeric: 'Oslo' in line 2; encode it as numbers, or --ignore 'city'"),
        ("x,y\n1,1\n,0\n", ["--label", "y"], "column 'x' has a missing value in line 3; fill it in, or --ignore 'x'"),
        ("x,y\n1,1\nNaN,0\n", ["--label", "y"], "column 'x' has a missing value in line 3"),
        ("x,y\n1,1\ninf,0\n", ["--label", "y"], "column 'x' has 'inf' in line 3; every value must be finite"),
        ("x,y\n1_000,1\n2,0\n", ["--label", "y"], "column 'x' is not numeric: '1_000' in line 2"),
        ("x,y\n1,1\n2\n", ["--label", "y"], "line 3 of FILE has 1 field; the header has 2"),
        ("x,x,y\n1,1,1\n", ["--label", "y"], "the column name 'x' appears more than once in FILE"),
        ("x,,y\n1,1,1\n", ["--label", "y"], "column 2 of FILE has no name in the header"),
        ("1,2\n3,4\n", ["--label", "2"], "the first line of FILE holds numbers; it should be a header"),
        ("x,y\n", ["--label", "y"], "FILE has a header and no rows"),
        ("x,y\n1,1\n\n2,\n3,0\n", ["--label", "y"], "the label 'y' is missing in line 4; rows to train on need one"),
        ("x,y\n1,1\n2,NA\n", ["--label", "y", "--positive", "1"], "the label 'y' is missing in line 3"),
        ('x,y\n1,1\n"2,0\n', ["--label", "y"], "line 3 of FILE is not CSV: unexpected end of data"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--ignore", "y"], "--ignore y is the label"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "--seed", "3"], "--seed is for the tic-tac-toe boards"),
        ("", ["--label", "y"], "FILE is empty"),
        ("x,y\n1,1\n2,0\n", ["--label", "y", "-p", "0.5"], "-p must be at least 1 and finite; got 0.5"),
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
    path = tmp_path / "latin.csv"
    path.write_bytes("x,y\n1,Zürich\n".encode("latin-1"))
    status, _, err = run(capsys, path, "--label", "y")
    assert (status, err.count("\n")) == (2, 1)
    assert "is not UTF-8 text" in err


def test_options_of_a_file_without_one(capsys):
    for option in (["--label", "y"], ["--rankers", "thresholds"], ["--top", "3"], ["--out", "s.csv"]):
        message = f"pnorm: error: {option[0]} needs a FILE to work on; see --help\n"
        assert run(capsys, *option) == (2, "", message)
    assert run(capsys, "-p", "0.2") == (2, "", "pnorm: error: -p must be at least 1 and finite; got 0.2\n")


def test_the_standard_input_and_odd_files(table, tmp_path):
    path, X, y = table
    command = [sys.executable, "-P", "-m", "pnorm"]
    arguments = ["--label", "bought", "--ignore", "city", "-t", "3"]
    expected = subprocess.run([*command, path, *arguments], capture_output=True, check=True, text=True).stdout
    text = path.read_text()
    piped = subprocess.run([*command, "-", *arguments], input=text, capture_output=True, check=True, text=True)
    assert piped.stdout.splitlines()[1:] == expected.splitlines()[1:]
    odd = tmp_path / "odd.csv"
    for changed in (
        "\ufeff" + text,
        text.replace("\n", "\r\n"),
        text.replace(",", "\t"),
        text.replace("Oslo", '"a,\nb"'),
    ):
        odd.write_bytes(changed.encode())
        done = subprocess.run([*command, odd, *arguments], capture_output=True, check=True, text=True)
        assert done.stdout.splitlines()[1:] == expected.splitlines()[1:]


def test_a_column_that_separates_is_pointed_out(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,refund,y\n1,0,0\n2,5,1\n1.5,7,1\n1.8,0,0\n")
    status, out, _ = run(capsys, path, "--label", "y")
    assert status == 0
    assert "refund alone puts every positive above every negative" in out
    assert "was it known before the label was?" in out


def test_constant_columns(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,0\n1,1\n")
    status, out, _ = run(capsys, path, "--label", "y")
    assert status == 0
    assert "No weak ranker is in use: every row has the same score." in out
    assert "0 rounds" in out


def test_help_and_version(capsys):
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit) as exit_:
            main([option])
        assert exit_.value.code == 0
    out = capsys.readouterr().out
    assert pnorm.__version__ in out
    assert "--positive" in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another error for it")
def test_a_closed_pipe_is_no_error(table):
    path, *_ = table
    command = [sys.executable, "-P", "-m", "pnorm", path, "--label", "bought", "--ignore", "city"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_an_interrupt_is_status_130(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(pnorm, "train", interrupt)
    assert main([]) == 130
