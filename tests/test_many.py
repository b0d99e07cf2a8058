"""The command on a folder, a pattern and several files: the same as on one file with all the rows."""

import shutil

import numpy as np
import pytest
from command import ran, refused
from facts import raises

from pnorm._tables import TableError, open_sources

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from pyarrow import parquet  # noqa: E402

pytestmark = pytest.mark.usefixtures("few_points", "few_resamples")

N = 400


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    return pd.DataFrame(
        {
            "amount": np.exp(x).round(2),
            "country": rng.choice(["SE", "US", "DE"], N),
            "count": rng.integers(0, 5, N),
            "fraud": np.where(rng.random(N) < 1 / (1 + np.exp(1 - 2 * x)), "yes", "no"),
        }
    )


@pytest.fixture
def folder(frame, tmp_path):
    """Files whose columns have other orders and types."""
    path = tmp_path / "sales"
    path.mkdir()
    for k in range(4):
        part = frame[100 * k : 100 * (k + 1)]
        part = part.astype({"count": float, "country": "category"}) if k == 2 else part[part.columns[:: (-1) ** k]]
        part.to_parquet(path / f"part-{k}.parquet", index=False)
    return path


@pytest.mark.parametrize("way", ["folder", "text"])
def test_the_command_on_many_files(capsys, frame, folder, tmp_path, way):
    frame.to_parquet(tmp_path / "all.parquet", index=False)
    text = tmp_path / "text"
    text.mkdir()
    for k in range(4):
        frame[100 * k : 100 * (k + 1)].to_csv(text / f"{k}.csv", index=False)
    files = sorted(folder.glob("*"))
    given, called = {
        "folder": ([folder], str(folder)),
        "slash": ([f"{folder}/"], f"{folder}/"),
        "pattern": ([f"{folder}/part-*"], f"{folder}/part-*"),
        "files": (files, f"{files[0]} and 3 more files"),
        "text": ([text], str(text)),
    }[way]
    found = {}
    for name, words in (("all", [tmp_path / "all.parquet"]), ("many", given)):
        out = tmp_path / f"{name}.csv"
        more = ["-t", "20", "--save", tmp_path / "m.json", "--out", out]
        printed = ran(capsys, *words, "--label", "fraud", *more)
        found[name] = out.read_text()
    assert printed.startswith(f"{called}: 400 rows, ")
    assert found["all"] == found["many"]
    printed = ran(capsys, *given, "--model", tmp_path / "m.json", "--out", tmp_path / "again.csv")
    assert printed.startswith(f"{called}: 400 rows\n")
    others = tmp_path / "others"
    shutil.copytree(folder, others)
    printed = ran(capsys, files[0], "--label", "fraud", "--test", others, "-t", "5")
    assert f"Test on 400 rows of {others}" in printed


def without_a_column(folder):
    parquet.write_table(pa.table({"amount": [1.0]}), folder / "z.parquet")
    return [folder]


def with_another_type(folder):
    table = pa.table({"amount": ["a lot"], "country": ["SE"], "count": [1], "fraud": ["no"]})
    parquet.write_table(table, folder / "z.parquet")
    return [folder]


def without_a_label(folder):
    table = pa.table({"amount": [1.0, 2.0], "country": ["SE", "US"], "count": [1, 2], "fraud": ["no", None]})
    parquet.write_table(table, folder / "z.parquet")
    return [folder]


def two_workbooks(folder):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    paths = [folder.parent / f"{k}.xlsx" for k in range(2)]
    for path in paths:
        book = openpyxl.Workbook()
        book.active.append(["x", "fraud"])
        book.active.append([1, "no"])
        book.save(path)
    return paths


WRONG = {
    "a column": (without_a_column, "z.parquet lacks the columns "),
    "a type": (with_another_type, "column 'amount' is double in row 0 of "),
    "a label": (without_a_label, "the label 'fraud' is missing in row 1 of "),
    "workbooks": (two_workbooks, "2 workbook files: workbooks cannot be combined; pass one file"),
    "no match": (lambda folder: [f"{folder}/x*"], "no file is called "),
    "no file": (lambda folder: [folder, folder / "none"], "none: No such file or directory"),
    "standard input": (lambda folder: [folder, "-"], "- is the standard input and cannot be combined with other files"),
    "out in the folder": (
        lambda folder: [folder, "--out", folder / "ranked.csv"],
        "a folder that is read. The next run would read it as rows",
    ),
    "out of a pattern": (
        lambda folder: [f"{folder}/p*", "--out", folder / "part-1.parquet"],
        "part-1.parquet, which is read",
    ),
    "out of several": (
        lambda folder: [*folder.glob("p*"), "--save", folder / "part-1.parquet"],
        "part-1.parquet, which is read",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_command_says_of_many_files(capsys, folder, name):
    make, message = WRONG[name]
    assert message in refused(capsys, *make(folder), "--label", "fraud", "-t", "5")


def test_columns_of_many_files(folder):
    source = open_sources([str(folder)])
    assert source.place(250) == f"row 50 of {folder / 'part-2.parquet'}"
    assert len(source) == N
    assert source.columns([]) == {}
    assert source.column("count").type == pa.float64()
    assert source.texts("country")[200:300] == pd.read_parquet(folder / "part-2.parquet")["country"].tolist()
    assert source.numbers("amount").tolist() == [
        amount for path in sorted(folder.glob("*")) for amount in pd.read_parquet(path)["amount"]
    ]
    with raises(TableError, r"column 'country' is not numeric: .* in row 0 of .*part-0\.parquet"):
        source.numbers("country")


def test_text_that_two_readers_read(tmp_path, monkeypatch):
    monkeypatch.setattr("pnorm._tables.delimited._LARGE", 0)
    monkeypatch.setattr("pnorm._tables.delimited._WIDE", 0)
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text('x,y\n3,"c ""d"""\n\n4,e\n')
    source = open_sources([str(tmp_path)])
    assert source.texts("y") == ["a", "b", 'c "d"', "e"]
    assert source.numbers("x").tolist() == [1.0, 2.0, 3.0, 4.0]
    assert [source.place(i).rpartition("/")[2] for i in range(4)] == ["a.csv", "a.csv", "b.csv", "b.csv"]
    assert source.place(3) == f"line 4 of {tmp_path / 'b.csv'}"
    empty = tmp_path / "empty"
    empty.mkdir()
    parquet.write_table(pa.table({"x": pa.array([], pa.float64())}), empty / "a.parquet")
    assert len(open_sources([str(empty)])) == 0


def test_rows_that_teach_are_no_test(tmp_path, capsys):
    from pnorm.__main__ import main

    folder = tmp_path / "rows"
    folder.mkdir()
    for k in range(2):
        (folder / f"{k}.csv").write_text("a,y\n1,0\n2,1\n", encoding="utf-8")
    assert main([str(folder), "--label", "y", "--test", str(folder / "1.csv")])
    assert "is a file to learn from as well" in capsys.readouterr().err
