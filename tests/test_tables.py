"""Tables in files: what is read of them, what is assumed, and what is wrong with a file."""

import bz2
import datetime
import functools
import gzip
import io
import itertools
import lzma
import struct
import sys
import zipfile
from collections import Counter

import awkward
import numpy as np
import pytest
from facts import raises, tells
from hypothesis import given
from hypothesis import strategies as st
from repeats import each_value, examples

import pnorm
from pnorm._tables import TableError, batches_of, csv_stream, delimited, extent, open_source, positive_labels
from pnorm._tables.source import texts_of
from pnorm._tables.sums import told_of_sums
from pnorm._tables.text import Decoder, _are_counted


def opened(tmp_path, data, name="t.csv", **options):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return open_source(str(path), **options)


def table_of(source):
    """Names and text of all columns."""
    return {name: source.texts(name) for name in source.names}


PLAIN = {"id": ["a", "b", "c"], "x": ["1.5", "2", "-3"], "town": ["Köln", "Rome, Italy", ""]}
TEXT = 'id,x,town\na,1.5,Köln\nb,2,"Rome, Italy"\nc,-3,\n'


# Text


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (TEXT.encode(), None),
        (TEXT.encode("utf-8-sig"), None),
        (TEXT.encode("utf-16"), None),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), None),
        (TEXT.encode("utf-32"), None),
        (TEXT.encode("cp1252"), "read as cp1252 (Western Europe), as it is not UTF-8 (byte 0xf6 in line 2)"),
        (TEXT.replace("\n", "\r\n").encode(), None),
        (TEXT.replace("\n", "\r").encode(), None),
        (TEXT.replace("\n", "\n\n").encode(), None),
        (TEXT.replace(",", ";").replace("Rome;", "Rome,").encode(), "columns are separated by semicolons"),
        (TEXT.replace(",", "\t").replace("Rome\t", "Rome,").encode(), None),
        (TEXT.replace(",", "|").replace("Rome|", "Rome,").encode(), "columns are separated by bars"),
        (TEXT.replace(",", ", ").replace("Rome, ", "Rome,").encode(), None),
        (b"sep=;\r\n" + TEXT.replace(",", ";").replace("Rome;", "Rome,").encode(), "columns are separated by semicolons"),
    ],
    ids=["UTF-8", "mark", "UTF-16", "UTF-16 BE", "UTF-32", "cp1252", "CRLF", "CR", "blank lines", ";", "tab", "|", ", ", "sep="],
)  # fmt: skip
def test_text_as_people_write_it(tmp_path, data, note):
    source = opened(tmp_path, data)
    assert table_of(source) == PLAIN
    assert len(source) == 3
    assert source.notes == ([] if note is None else [note])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b;c\n1,5;2,5;x\n3,1;4,2;y\n", {"a": ["1,5", "3,1"], "b": ["2,5", "4,2"], "c": ["x", "y"]}),
        ("1,5;2,5;3,5\n3,1;4,2;1,0\n", {"column 1": ["1,5", "3,1"], "column 2": ["2,5", "4,2"], "column 3": ["3,5", "1,0"]}),
        ("a,b;c\n1,2;3\n4,5;6\n", {"a": ["1", "4"], "b;c": ["2;3", "5;6"]}),
        ("a;b\n1,5;2\n3;4\n", {"a": ["1,5", "3"], "b": ["2", "4"]}),
        ("a|b\n1,2|2;3\n3|4\n", {"a": ["1,2", "3"], "b": ["2;3", "4"]}),
        ("a,note\n1,x;y;z\n2,u;v;w\n", {"a": ["1", "2"], "note": ["x;y;z", "u;v;w"]}),
        ('a,"b;c;d"\n1,"x;y;z"\n2,z\n', {"a": ["1", "2"], "b;c;d": ["x;y;z", "z"]}),
        ("x  y   label\n1.5 2 yes\n 22   3  no \n", {"x": ["1.5", "22"], "y": ["2", "3"], "label": ["yes", "no"]}),
        ('x  "my y"\n1.5 "2 a"\n22   3\n', {"x": ["1.5", "22"], "my y": ["2 a", "3"]}),
        ("full name\nAda Lovelace\nCarl Gauss\n", {"full name": ["Ada Lovelace", "Carl Gauss"]}),
        ("x\n1\n2\n", {"x": ["1", "2"]}),
        ("a,b,\n1,2,\n3,4,\n", {"a": ["1", "3"], "b": ["2", "4"]}),
        ("a, b\n" + "1, x\n" * 300 + '2, "x, y"\n', {"a": ["1"] * 300 + ["2"], "b": ["x"] * 300 + ["x, y"]}),
        ('a,b\n1,"two\nlines"\n3,"say ""hi"""\n', {"a": ["1", "3"], "b": ["two\nlines", 'say "hi"']}),
    ],
    ids=range(14),
)  # fmt: skip
def test_what_divides_columns(tmp_path, text, expected):
    assert table_of(opened(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("1,5\n3,4\n", False),
        ("1,2\n3,4\n", False),
        ("39, State-gov, <=50K\n50, Private, >50K\n", False),
        ("x,o,x,positive\nx,x,b,positive\no,o,x,negative\n", False),
        ("2024-01-05,a\n2024-01-06,b\n", False),
        ("12:30,a\n13:30,b\n", False),
        ("?,1,a\n3,2,b\n", False),
        ("$1.50,a\n$2.50,b\n", False),
        ("age,job\n39,a\n", True),
        ("age,5\n39,6\n", True),
        ("region,2019,2020,2021\nnorth,1,2,3\nsouth,2,3,4\n", True),
        ("0,1,2,3\n5,1,2,7\n6,2,3,8\n", True),
        ("1100,1102.5,1105,kind\n5,1,2,a\n6,2,3,a\n", True),
        ("1100,1102,1106,a\n5,1,2,a\n6,2,3,a\n", False),
        ("name,town\nAda,Rome\nBob,Ulm\n", True),
        (",x\n0,1.5\n1,2.5\n", True),
        ("x,y\n1,2\nx,y\n3,4\n", True),
        ("when\n2024-01-05\n", True),
        ("5\n", False),
        ("name\n", True),
    ],
)
def test_whether_there_is_a_header(tmp_path, text, header):
    source = opened(tmp_path, text)
    lines = text.splitlines()
    assert len(source) == len(lines) - header * lines.count(lines[0])
    assert len(source) == 0 or source.place(0) == f"line {1 + header} of {tmp_path / 't.csv'}"
    note = "there is no header; the columns are called 'column 1', 'column 2', ..."
    assert (note in source.notes) == (not header)
    counted = "the numbers of the first line are taken for the names of the columns"
    assert (counted in source.notes) == (text[:5] == "0,1,2")
    if not header:
        assert source.names == [f"column {c + 1}" for c in range(len(source.names))]


def test_names_that_are_given(tmp_path):
    assert table_of(opened(tmp_path, "1,a\n2,b\n", names=["x", "y"])) == {"x": ["1", "2"], "y": ["a", "b"]}
    source = opened(tmp_path, "u,v\n1,a\n2,b\n", names=["x", "y"])
    assert table_of(source) == {"x": ["1", "2"], "y": ["a", "b"]}
    assert source.notes == ["the names given replace those of the header (u, v)"]
    source = opened(tmp_path, "x,y\na,b\nc,d\n", names=["x", "y"])
    assert (table_of(source), source.notes) == ({"x": ["a", "c"], "y": ["b", "d"]}, [])
    assert table_of(opened(tmp_path, "a,b\nc,d\n", names=["x", "y"])) == {"x": ["a", "c"], "y": ["b", "d"]}
    with raises(TableError, "has 2 columns, and as many names are needed; got 1"):
        opened(tmp_path, "1,a\n2,b\n", names=["x"])
    with raises(TableError, "the column name 'x' appears more than once"):
        opened(tmp_path, "1,a\n2,b\n", names=["x", "x"])


def test_an_index_that_pandas_has_saved(tmp_path):
    for first in ("", "Unnamed: 0"):
        source = opened(tmp_path, f"{first},x,y\n0,1.5,a\n1,2.5,b\n")
        assert source.names == ["index", "x", "y"]
        assert source.notes == ["the first column has no name, and is called 'index'"]
    assert opened(tmp_path, ",index\n0,1\n").names == ["row index", "index"]


def test_places_and_columns(tmp_path):
    source = opened(tmp_path, "\na,b,c\n\n1,2,3\n\n\n4,5,6\n")
    assert [source.place(i) for i in range(2)] == [f"line {line} of {tmp_path / 't.csv'}" for line in (4, 7)]
    assert source.columns() == {"a": ["1", "4"], "b": ["2", "5"], "c": ["3", "6"]}
    assert list(source.columns(["c", "a"])) == ["c", "a"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "FILE is empty"),
        (b"\n\n", "FILE is empty"),
        (b"a,b\n1,2\n\n3\n", "line 4 of FILE has 1 field; the header has 2"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 of FILE has 3 fields; the header has 2"),
        (b"1,5\n3,5\n3\n", "line 3 of FILE has 1 field; the first line has 2"),
        (b"a,b,a\n1,2,3\n", "the column name a appears more than once in FILE"),
        (b"a,,b\n1,2,3\n", "column 2 of FILE has no name in the header"),
        (b"a,b,\n1,2,3\n", "column 3 of FILE has no name in the header"),
        (b"a,b\n1,\0\n", "line 2 of FILE has a NUL byte, which no text has; save it as UTF-8"),
        (b"a,b\n1,\0\xff\n", "line 2 of FILE has a NUL byte"),
        ("a,b\n1,2\n".encode("utf-16-le"), "line 1 of FILE has a NUL byte"),
        (b'a,b\n1,"2\n', "is not CSV: unexpected end of data"),
        (b"a,b\n1,\x9d\n", "FILE is text in neither UTF-8 nor cp1252 (byte 0x9d in line 2); save it as UTF-8"),
        (b"a,b\n\n\xe4,\x03\n", "FILE is text in neither UTF-8 nor cp1252 (byte 0x03 in line 3)"),
        (b"\xff\xfea", "FILE begins as UTF-16 text, but is not valid"),
        (b"%PDF-1.4\n", "FILE is a PDF document; save its table as CSV"),
        (b"SQLite format 3\0", "FILE is a data base of SQLite; save its table as CSV"),
        (b"<HTML><table>", "FILE is an HTML page; save its table as CSV"),
        (b'{"a": 1}\n{"a": 2}\n', "FILE is JSON; save its table as CSV"),
        (b"7z\xbc\xaf\x27\x1c", "FILE is compressed (7z); unpack it first"),
        (gzip.compress(TEXT.encode())[:30], "FILE is compressed (gzip) and damaged: "),
        (bz2.compress(TEXT.encode())[:-9], "FILE is compressed (bzip2) and damaged: "),
        (lzma.compress(TEXT.encode())[:-9], "FILE is compressed (xz) and damaged: "),
        (b"\x28\xb5\x2f\xfd\x04\x00" + TEXT.encode(), "FILE is compressed (zstd) and damaged: "),
        (b"PK\x03\x04" + bytes(50), "FILE is compressed (zip) and damaged: "),
        (gzip.compress(bytes(257) + b"ustar" + bytes(300)), "FILE is an archive of files (tar); unpack it first"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), "FILE is a workbook that cannot be read: "),
    ],
    ids=range(27),
)  # fmt: skip
def test_what_is_wrong_with_a_file(tmp_path, data, message):
    pytest.importorskip("pyarrow")
    pytest.importorskip("python_calamine")
    with pytest.raises(TableError) as raised:
        opened(tmp_path, data)
    assert message.replace("FILE", str(tmp_path / "t.csv")) in str(raised.value).replace("'a'", "a")
    assert "\n" not in str(raised.value)


# Compression


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def zstd(data):
    pa = pytest.importorskip("pyarrow")
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


WAYS = {
    "gzip": gzip.compress,
    "two of gzip": lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
    "zip": lambda data: zipped(**{"t.csv": data}),
    "zip of a Mac": lambda data: zipped(**{"t.csv": data, "__MACOSX/._t.csv": b"x"}),
    "gzip in zip": lambda data: zipped(**{"t.csv.gz": gzip.compress(data)}),
}
WAYS |= {f"{way} and zeros": lambda data, way=way: WAYS[way](data) + bytes(9) for way in ("gzip", "bzip2", "xz")}
WAYS |= {
    f"two of {way}, with zeros between": lambda data, way=way: WAYS[way](data[:9]) + bytes(9) + WAYS[way](data[9:])
    for way in ("gzip", "bzip2", "xz")
}
WAYS |= {f"{outer} of {inner} of {outer}": lambda data, both=(outer, inner): WAYS[both[0]](WAYS[both[1]](WAYS[both[0]](data)))
         for outer, inner in itertools.product(("gzip", "bzip2", "xz", "zstd", "zip"), repeat=2)}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_compressed_files_are_told_by_what_is_in_them(tmp_path, way):
    assert table_of(opened(tmp_path, WAYS[way](TEXT.encode()), "t.csv")) == PLAIN
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    for write, name in ((parquet.write_table, "t.parquet.gz"), (feather.write_feather, "t")):
        sink = io.BytesIO()
        write(pa.table({"x": [1.5, None], "y": ["a", "b"]}), sink)
        source = opened(tmp_path, WAYS[way](sink.getvalue()), name)
        assert table_of(source) == {"x": ["1.5", ""], "y": ["a", "b"]}


def test_archives_of_several_files_are_refused(tmp_path):
    with raises(TableError, r"is an archive \(zip\) of 2 files: a.csv, b.csv; a file of rows is needed"):
        opened(tmp_path, zipped(**{"a.csv": TEXT, "b.csv": TEXT}))
    with raises(TableError, "of 0 files; a file of rows"):
        opened(tmp_path, zipped())


def test_what_is_missing_to_read_a_file_is_named(tmp_path, monkeypatch):
    packed, book = zstd(TEXT.encode()), workbook([["a"], [1]])
    for name in ("pyarrow", "python_calamine", "compression"):
        monkeypatch.setitem(sys.modules, name, None)
    with raises(
        TableError,
        r'compressed \(zstd\)\. Reading it needs pyarrow\. Install it with: pip install "pnorm-push\[parquet\]"',
    ):
        opened(tmp_path, packed)
    with raises(
        TableError, r'needs python-calamine\. Install it with: pip install "pnorm-push\[excel\]" \(or: pip install'
    ):
        opened(tmp_path, book, "t.xlsx")


# Workbooks


def workbook(rows, **more):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Leads"
    for title, of_sheet in {"Leads": rows, **more}.items():
        sheet = book.active if title == "Leads" else book.create_sheet(title)
        for row in of_sheet:
            sheet.append(row)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


ROWS = [
    ["id", "when", "won", "amount", "note", None],
    ["a1", datetime.datetime(2024, 1, 2, 3, 4, 5), True, 1.5, "x", None],
    [None] * 6,
    ["a2", datetime.date(2024, 1, 3), False, None, "#N/A", None],
    ["a3", None, True, 12, " y ", None],
]


def test_a_workbook_has_typed_values(tmp_path):
    pytest.importorskip("python_calamine")
    source = opened(tmp_path, workbook(ROWS), "t.xlsx")
    assert source.names == ["id", "when", "won", "amount", "note"]
    assert source.notes == []
    assert source.columns(["when", "won", "amount"]) == {
        "when": [datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.date(2024, 1, 3), None],
        "won": [True, False, True],
        "amount": [1.5, None, 12.0],
    }
    assert source.texts("amount") == ["1.5", "", "12"]
    assert source.texts("won") == ["True", "False", "True"]
    assert source.texts("note")[2] == "y"
    assert source.place(1) == f"row 4 of the sheet Leads of {tmp_path / 't.xlsx'}"
    with raises(TableError, "column 'amount' has a missing value in row 4 of the sheet Leads"):
        source.numbers("amount")
    np.testing.assert_array_equal(np.asarray(source.frame(["won", "amount"]).column(1))[[0, 2]], [1.5, 12.0])


def test_names_below_merged_cells_are_those_of_the_columns(tmp_path):
    rows = [
        ["customer", None, "sale"],
        ["age", "amount", "won"],
        *[[k, k / 8, "yes" if k % 3 else "no"] for k in range(9)],
    ]
    source = opened(tmp_path, workbook(rows), "t.xlsx")
    assert source.names == ["age", "amount", "won"]
    assert (len(source), source.texts("age")[:2]) == (9, ["0", "1"])
    assert source.place(0).startswith("row 3 of the sheet Leads")


def test_sheets_of_a_workbook(tmp_path):
    pytest.importorskip("python_calamine")
    data = workbook(ROWS, Other=[["x"], [1], [2]], Empty=[])
    source = opened(tmp_path, data, "t.xlsx")
    assert source.notes == ["reads the sheet Leads, the first of 3"]
    assert source.elsewhere == ". This is the sheet 'Leads'; others are 'Other', 'Empty'. Choose one with --sheet"
    for sheet in ("Other", "2"):
        assert table_of(opened(tmp_path, data, "t.xlsx", sheet=sheet)) == {"x": ["1", "2"]}
    for sheet in ("0", "4", "other"):
        with raises(TableError, f"no sheet '{sheet}' in .*, which has 3 sheets: 'Leads', 'Other', 'Empty'"):
            opened(tmp_path, data, "t.xlsx", sheet=sheet)
    with raises(TableError, r"the sheet Empty of .* is empty\. .* others are 'Leads', 'Other'\. .*--sheet"):
        opened(tmp_path, data, "t.xlsx", sheet="Empty")
    with raises(TableError, r"column 2 of .* has no name .* the other is 'Data'\. .*--sheet"):
        opened(tmp_path, workbook([["Read me", None, "x"], [1, 2, 3]], Data=[["x"], [1]]), "t.xlsx")
    with raises(TableError, "is not a workbook, so it has no sheet 2"):
        opened(tmp_path, TEXT, sheet="2")
    headless = workbook([[1.5, "a"], [2.5, "b"], [3.5, "a"]])
    assert table_of(opened(tmp_path, headless)) == {"column 1": ["1.5", "2.5", "3.5"], "column 2": ["a", "b", "a"]}
    assert opened(tmp_path, headless, names=["x", "y"]).names == ["x", "y"]


# pyarrow and the exact reader


PIECES = [",", ",", ",", ";", "\n", "\n", "\r\n", '"', '""', " ", "1", "2.5", "a", "ä", "-", "NA", "2024-01-05", ""]


def read(data, large):
    """All that a reader makes of a file, and whether it was pyarrow."""
    patch = pytest.MonkeyPatch()
    patch.setattr(delimited, "_LARGE", large)
    patch.setattr(delimited, "_WIDE", 0)
    try:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        source = open_source("-")
        found = [source.names, source.notes, table_of(source), list(map(source.place, range(len(source))))]
        return found, hasattr(source.column(source.names[0]), "chunks")
    except TableError as error:
        return str(error), False
    finally:
        patch.undo()


@examples(20)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from(["a,b\n", "a;b\r\n", ",b\n", "1,2\n", "a,b,\n", "sep=;\n", ""]),
)
def test_pyarrow_reads_as_the_exact_reader_does(pieces, start):
    pytest.importorskip("pyarrow")
    data = (start + "".join(pieces)).encode()
    assert read(data, 0)[0] == read(data, 10**9)[0]


@each_value()
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("start", ["a;b;c\n", "\nsep=;\na;b;c\n"[1:], "", "a;b;c;\n"])
def test_pyarrow_reads_what_it_can(encoding, start):
    pytest.importorskip("pyarrow")
    rows = "".join(f"{k};é;{k / 7:.5f}{';' * start.endswith(';' + chr(10))}\n" for k in range(50))
    found, by_arrow = read((start + rows).encode(encoding), 0)
    assert by_arrow
    assert found == read((start + rows).encode(encoding), 10**9)[0]
    assert len(found[2]) == 3


@pytest.mark.parametrize("name", ["transactions", "leads", "patients", "customers", "refunds"])
def test_pyarrow_reads_awkward_tables_too(tmp_path, name):
    pytest.importorskip("pyarrow")
    data = awkward.WRITERS[name](tmp_path).path.read_bytes()
    found, by_arrow = read(data, 0)
    assert by_arrow
    assert found == read(data, 10**9)[0]


def test_a_column_of_any_source_is_ranked_alike(tmp_path):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    rows = [[f"r{k}", f"{x:.4f}", "yes" if x > 0 else "no"] for k, x in enumerate(rng.normal(size=60))]
    text = "\n".join(",".join(row) for row in [["id", "x", "won"], *rows]) + "\n"
    made = []
    for large in (0, 10**9):
        patch = pytest.MonkeyPatch()
        patch.setattr(delimited, "_LARGE", large)
        patch.setattr(delimited, "_WIDE", 0)
        source = opened(tmp_path, text)
        patch.undo()
        y = np.array(source.texts("won")) == "yes"
        columns = source.columns(["id", "x"])
        pos, neg = (pnorm._checks.rows(columns, np.flatnonzero(side)) for side in (y, ~y))
        with pytest.warns(pnorm.rankers.TableWarning):
            H = pnorm.rankers.from_table(pos, neg)
        made.append([H.to_dict(), H.evaluate(columns).tolist()])
    assert made[0] == made[1]


# Tables as people have them


@pytest.mark.parametrize("name", awkward.WRITERS)
def test_awkward_tables_are_read_in_one_line(tmp_path, name):
    if name == "machines":
        pytest.importorskip("openpyxl")
        pytest.importorskip("python_calamine")
    written = awkward.WRITERS[name](tmp_path)
    source = open_source(str(written.path))
    assert source.notes == list(written.notes)
    labels = np.array(source.texts(written.label))
    np.testing.assert_array_equal(labels == written.positive, written.y)
    assert set(source.names) - {written.label} == set(written.kinds)
    assert len(set(source.texts(written.id))) == len(source) == written.y.size
    columns = source.columns([name for name in source.names if name != written.label])
    sides = [pnorm._checks.rows(columns, np.flatnonzero(side)) for side in (written.y, ~written.y)]
    with pytest.warns(pnorm.rankers.TableWarning) as caught:
        H = pnorm.rankers.from_table(*sides)
    assert {of.name: of.kind for of in H.plan} == written.kinds
    assert {of.name: of.missing for of in H.plan if of.missing} == written.missing
    (message,) = [str(warning.message) for warning in caught]
    assert tuple([of.name for of in H.plan if "separates" in of.note]) == written.leaks
    assert all(leak in message for leak in written.leaks)
    assert H.evaluate(columns).shape == (len(source), len(H))


# Text that is read in parts


def streamed(path, rows):
    """All that reading in parts makes of a file of text."""
    try:
        batches = batches_of(path, rows=rows)
        table, places = {name: [] for name in batches.names}, []
        for batch in batches:
            for name in table:
                table[name] += texts_of(batch.column(name))
            places += map(batch.place, range(batch.n_rows))
        return [list(batches.names), batches.notes, table, places]
    except TableError as error:
        return str(error)


def check_parts(path, data, rows, n_bytes, large=10**9):
    """Compare a reading in parts with one of the whole file."""
    path.write_bytes(data)
    patch = pytest.MonkeyPatch()
    patch.setattr(csv_stream, "_BYTES", n_bytes)
    patch.setattr(delimited, "_LARGE", large)
    patch.setattr(delimited, "_WIDE", 0)
    found = streamed(path, rows)
    patch.undo()
    expected = read(data, 10**9)[0]
    if isinstance(expected, str):
        assert isinstance(found, str)  # of two mistakes another may be found first
        return False
    if not isinstance(found, str):
        expected[3] = [place.replace(" of -", f" of {path}") for place in expected[3]]
        assert found == expected
        return True
    assert "begins as UTF-8 text, but" in found
    return False


@examples(20)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from(["a,b\n", "a;b\r\n", ",b\n", "1,2\n", "a,b,\n", "sep=;\n", "a b\r", ""]),
    st.integers(1, 20),
    st.sampled_from([1, 3, 100]),
    st.sampled_from([0, 10**9]),
)
def test_text_in_parts_is_read_as_a_whole(tmp_path_factory, pieces, start, n_bytes, rows, large):
    path = tmp_path_factory.getbasetemp() / "parts.csv"
    check_parts(path, (start + "".join(pieces)).encode(), rows, n_bytes, large)


@each_value(times=2)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
@pytest.mark.parametrize("start", ["a;b;c\n", "sep=;\na;b;c\n", "", "a;b;c;\n", 'a;b;c\n"1";"x\ny";3\n'])
@pytest.mark.parametrize("n_bytes", [20, 333])
def test_text_in_parts_of_any_encoding(tmp_path, encoding, start, n_bytes):
    rows = "".join(f"{k};{'é' * (k > 20)};{k / 7:.5f}{';' * start.endswith(';' + chr(10))}\n" for k in range(50))
    for large in (0, 10**9):
        assert check_parts(tmp_path / "t.csv", (start + rows).encode(encoding), 16, n_bytes, large)


@pytest.mark.parametrize("name", ["transactions", "leads", "patients", "customers", "refunds"])
def test_awkward_tables_in_parts(tmp_path, name):
    data = awkward.WRITERS[name](tmp_path).path.read_bytes()
    for n_bytes in (1000, 10**6):
        assert check_parts(tmp_path / "parts.csv", data, 77, n_bytes, 0)


@pytest.mark.parametrize("way", WAYS)
def test_compressed_files_in_parts(tmp_path, way):
    rows = "".join(f"{k},{'no' if k % 3 else 'yes'}\n" for k in range(1000))
    path = tmp_path / "t.csv"
    path.write_bytes(WAYS[way](("x,y\n" + rows).encode()))
    table = streamed(path, 300)[2]
    assert table == {"x": [str(k) for k in range(1000)], "y": ["no" if k % 3 else "yes" for k in range(1000)]}
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(pa.table({"x": [1.5, None], "y": ["a", "b"]}), sink)
    path.write_bytes(WAYS[way](sink.getvalue()))
    assert streamed(path, 1)[2] == {"x": ["1.5", ""], "y": ["a", "b"]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(TEXT.encode() * 1000)[:-30], "FILE is compressed (gzip) and damaged: "),
        (b"a,b\n" + b"1,2\n" * 40 + b"1,2,3\n", "line 42 of FILE has 3 fields; the header has 2"),
        (b"a,b,\n" + b"1,2,\n" * 40 + b"1,2,3\n", "column 3 of FILE has no name in the header"),
        (b"a,b\n" + b"1,2\n" * 40 + b"1,\0\n", "line 42 of FILE has a NUL byte, which no text has"),
        (b"a,b\n" + b"1,2\n" * 40 + b'1,"2\n', "line 42 of FILE is not CSV: unexpected end of data"),
        ("a,é\n".encode() + b"1,2\n" * 40 + b"1,\xff\n", "FILE begins as UTF-8 text, but is not valid UTF-8 (byte 0xff in line 42)"),
        (b"a,b\n" + b"1,2\n" * 40 + b"1,\x9d\n", "FILE is text in neither UTF-8 nor cp1252 (byte 0x9d in line 42)"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "FILE begins as UTF-16 text, but is not valid"),
        (b"%PDF-1.4\n", "FILE is a PDF document; save its table as CSV"),
    ],
    ids=range(9),
)  # fmt: skip
def test_what_is_wrong_late_in_a_file(tmp_path, monkeypatch, data, message):
    monkeypatch.setattr(csv_stream, "_BYTES", 33)
    monkeypatch.setattr(csv_stream, "_HEAD", 33)
    (tmp_path / "t.csv").write_bytes(data)
    assert streamed(tmp_path / "t.csv", 100).startswith(message.replace("FILE", str(tmp_path / "t.csv")))


def test_a_file_that_turns_out_as_cp1252(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_stream, "_BYTES", 33)
    monkeypatch.setattr(csv_stream, "_HEAD", 33)
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,2\n" * 40 + "1,Köln\n2,Zürich\n".encode("cp1252"))
    assert streamed(tmp_path / "t.csv", 100)[2]["b"] == ["2"] * 40 + ["Köln", "Zürich"]


def test_files_of_text_in_a_folder_are_written_alike(tmp_path):
    (tmp_path / "a.csv").write_text("x;town\n1,5;Ulm\n2;Bonn\n")
    (tmp_path / "b.csv").write_bytes("town;x\nKöln;3,25\n".encode("cp1252"))
    (tmp_path / "c.csv").write_bytes(b"")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"x;town\n"))
    (tmp_path / "e.tsv").write_text("x;town\n4;Ulm\n")
    names, notes, table, places = streamed(tmp_path, 100)
    assert (names, table) == (["x", "town"], {"x": ["1,5", "2", "3,25", "4"], "town": ["Ulm", "Bonn", "Köln", "Ulm"]})
    assert notes == [
        "columns are separated by semicolons",
        "read as cp1252 (Western Europe), as it is not UTF-8 (byte 0xf6 in line 2)",
    ]
    assert places == [
        f"line {line} of {tmp_path / name}" for name, line in (("a.csv", 2), ("a.csv", 3), ("b.csv", 2), ("e.tsv", 2))
    ]
    (tmp_path / "f.csv").write_text("x,town\n4,Ulm\n")
    assert "f.csv lacks the columns x, town" in streamed(tmp_path, 100)
    (tmp_path / "f.csv").write_text("4;Ulm\n5;Ulm\n")
    assert "f.csv lacks the columns x, town" in streamed(tmp_path, 100)


def test_a_line_of_units_in_one_of_two_files(tmp_path):
    body = "".join(f"{k}.5,yes,{k}\n" for k in range(9))
    for name, units in (("a.csv", "EUR,,days\n"), ("b.csv", "")):
        (tmp_path / name).write_text(f"amount,won,age\n{units}{body}")
    assert sum(batch.n_rows for batch in batches_of(tmp_path)) == 18


def test_names_for_files_without_a_header(tmp_path):
    for k in range(2):
        (tmp_path / f"{k}.csv").write_text(f"{k}.5,a\n{k}.7,b\n")
    batches = batches_of(tmp_path, names=["x", "town"])
    assert [batch.column("x") for batch in batches] == [["0.5", "0.7", "1.5", "1.7"]]
    assert streamed(tmp_path, 1)[0] == ["column 1", "column 2"]
    (tmp_path / "0.csv").write_text("a,b\n1.5,a\n")
    (tmp_path / "1.csv").write_text("b,a\nz,1.5\n")
    with raises(TableError, r"has the columns b, a in its header, and .*0\.csv has a, b; names are given by"):
        batches_of(tmp_path, names=["x", "town"])
    (tmp_path / "1.csv").write_text("")
    (tmp_path / "0.csv").write_text("\n\n")
    with pytest.raises(TableError, match=r"0\.csv is empty"):
        batches_of(tmp_path)


def test_a_workbook_is_one_batch(tmp_path):
    pytest.importorskip("python_calamine")
    (tmp_path / "t.xlsx").write_bytes(workbook(ROWS))
    batches = batches_of(tmp_path / "t.xlsx", rows=2, columns=["won", "amount"])
    assert [batch.column("won") for batch in batches] == [[True, False], [True]]
    assert [batch.place(0) for batch in batches][1] == f"row 5 of the sheet Leads of {tmp_path / 't.xlsx'}"


BEHIND = [b"garbage", b"\n", b"\0\0\0x", "another"]


@pytest.mark.parametrize("way", ["gzip", "bzip2", "xz", "zstd"])
@pytest.mark.parametrize("behind", BEHIND, ids=["text", "a line feed", "zeros and text", "another, damaged"])
def test_what_follows_compressed_data_is_no_end(tmp_path, way, behind):
    """Rows behind it would be lost without a word."""
    data = WAYS[way](TEXT.encode())
    (tmp_path / "t.csv").write_bytes(data + (b"X" + data[1:] if behind == "another" else behind))
    for read in (open_source, lambda path: list(batches_of(path))):
        with raises(TableError, rf"t\.csv is compressed \({way}\) and damaged: "):
            read(str(tmp_path / "t.csv"))


@pytest.mark.parametrize("data", [
    zipped(a=TEXT) + zipped(a=TEXT), functools.reduce(lambda data, _: gzip.compress(data), range(4), TEXT.encode()),
], ids=["two archives", "four layers"])  # fmt: skip
def test_what_is_to_be_unpacked_by_hand(tmp_path, data):
    with pytest.raises(TableError, match=r"t\.csv is .*; unpack"):
        opened(tmp_path, data)


# Cells that are far apart


def record(kind, data=b""):
    """A record of a binary workbook; the parts of one of a sheet are below."""
    size, written = len(data), []
    while size > 127:
        written.append(size & 127 | 128)
        size >>= 7
    return bytes([kind] if kind < 128 else [kind & 127 | 128, kind >> 7]) + bytes([*written, size]) + data


def binary(cells):
    """A binary workbook of texts, by row and column from 1; None is a cell that has a format alone."""

    def text(word):
        return struct.pack("<I", len(word)) + word.encode("utf-16-le")

    sheet = record(129) + record(148, bytes(16)) + record(145)
    for row in sorted({row for row, _ in cells}):
        sheet += record(0, struct.pack("<IIHHBI", row - 1, 0, 300, 0, 0, 0))
        for column, word in sorted((of[1], word) for of, word in cells.items() if of[0] == row):
            sheet += record(1 if word is None else 6, struct.pack("<II", column - 1, 0) + text(word or ""))
    relation = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='{}' Type='{}' Target='{}'/></Relationships>"
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    return zipped(**{
        "[Content_Types].xml": "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'>"
        "<Default Extension='bin' ContentType='application/vnd.ms-excel.sheet.binary.macroEnabled.main'/></Types>",
        "_rels/.rels": relation.format("r1", f"{kinds}/officeDocument", "xl/workbook.bin"),
        "xl/workbook.bin": record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + text("r1") + text("S")) + record(144) + record(132),
        "xl/_rels/workbook.bin.rels": relation.format("r1", f"{kinds}/worksheet", "worksheets/sheet1.bin"),
        "xl/worksheets/sheet1.bin": sheet + record(146) + record(130),
    })  # fmt: skip


def of_xml(cells):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "S"
    for (row, column), word in cells.items():
        cell = book.active.cell(row, column, word)
        if word is None:
            cell.font = openpyxl.styles.Font(bold=True)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


FEW = {(row, column): f"{'xy'[column - 1]}{row}" for row in range(1, 31) for column in (1, 2)}
LAST_ROW, LAST = 1_048_576, 16_384


@pytest.mark.parametrize("write", [of_xml, binary])
@pytest.mark.parametrize(
    ("far", "told"),
    [
        ([(LAST_ROW, 17)], ["Q1048576"]),
        ([(400, LAST)], ["XFD400"]),
        ([(5, 100), (LAST_ROW, 1)], ["CV5", "A1048576"]),
        ([(90_000, 60)], ["BH90000"]),
    ],
)
def test_a_cell_far_from_the_table_is_named(tmp_path, write, far, told):
    pytest.importorskip("python_calamine")
    with pytest.raises(TableError) as raised:
        opened(tmp_path, write(FEW | dict.fromkeys(far, "note")), "t.xlsx")
    assert all(f" {cell}" in str(raised.value) for cell in told)


@pytest.mark.parametrize("write", [of_xml, binary])
def test_a_note_in_the_last_cell_does_not_end_the_process(write):
    """The reader would ask for 550 GB."""
    with raises(TableError, "the sheet S of t has 61 cells with a value, and one as far away as XFD1048576"):
        extent.check_extent("t", write(FEW | {(LAST_ROW, LAST): "note"}), "S")


@pytest.mark.parametrize("write", [of_xml, binary])
@pytest.mark.parametrize("more", [{}, {(LAST_ROW, LAST): None}, {(9000, 2): "note"}, {(1, 3): "z", (1, 5000): "note"}])
def test_a_sheet_with_empty_cells_is_read(tmp_path, write, more):
    pytest.importorskip("python_calamine")
    source = opened(tmp_path, write(FEW | more), "t.xlsx")
    assert source.column("x1")[:29] == [f"x{row}" for row in range(2, 31)]


def test_the_cells_of_a_large_sheet_are_counted_as_they_are(monkeypatch):
    """In parts of any size, of any sheet of the workbook."""
    data = workbook([["a", None, "c"]] + [[1.5, None, "x" * 99], [None, True, None]] * 50, more=[[1]])
    for n_bytes in (2**20, 1000, 77):
        monkeypatch.setattr(extent, "_BYTES", n_bytes)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for sheet, expected in (("Leads", (2 + 150, {1: 100, 2: 101, 3: 100})), ("more", (1, {1: 1}))):
                with archive.open(extent._part(archive, sheet)) as file:
                    assert extent._of_xml(file) == expected


def test_text_of_cp1252_may_be_cut_anywhere():
    data = "name;town\nAndré;Köln\né;Ulm\n".encode("cp1252")
    whole = Decoder("t.csv", []).feed(data, True)
    assert whole.decode() == data.decode("cp1252")
    for cut in range(len(data)):
        decoder = Decoder("t.csv", [])
        assert decoder.feed(data[:cut], False) + decoder.feed(data[cut:], True) == whole


# Files that are not quite tables

BODY = [f"{k}.5,{'yes' if k % 3 else 'no'},{k * 7}" for k in range(30)]
ODD_FILES = {
    "a title": ("Extract of today\nAccount,000\n\n", BODY, ""),
    "a title in one line": ("Extract of today\n", BODY, ""),
    "a title in cells": ("Extract of today,,\nAccount,000,\n,,\n", BODY, ""),
    "a title above two lines of names": ("Extract of today,,\n", ["euros,word,days", *BODY], ""),
    "a line quoted as a whole": ("", [*BODY[:9], '"9.5,""no"",63"', *BODY[10:]], ""),
    "lines of delimiters": ("", [*BODY[:5], ",,", " , ,", *BODY[5:]], ",,\n,,\n"),
    "all lines quoted as a whole": ("", BODY, ""),
    "delimiters behind all lines but the first": ("", [f"{line}," for line in BODY], ""),
    "names in the middle": ("", [*BODY[:9], "amount,won,age", *BODY[9:], "\ufeffamount,won,age"], ""),
    "blank lines": ("", [*BODY[:9], '" "," ",""', *BODY[9:20], "\u00a0,,", "  ", *BODY[20:]], "\t,,\n"),
    "a line of units": ("", ["EUR,,days", *BODY], ""),
    "three lines of names": ("", ['how much?,won?,"how old, in days?"', '"{""id"": 1}",{2},{3}', *BODY], ""),
    "a second line of names": ("", ["amount in euros,won or not,age in days", *BODY], ""),
    "text for spreadsheet programs": ("", [line.replace("17.5,", '="17.5",') for line in BODY], ""),
    "wide digits": ("", [line.replace("27.5,", "\uff12\uff17\uff0e\uff15,") for line in BODY], ""),
    "quotes after blanks, late": ("", [*BODY[:-1], '29.5, "no", 203'], ""),
}


@pytest.mark.parametrize("n_bytes", [200, 10**6])
@pytest.mark.parametrize("kind", ODD_FILES)
def test_a_file_that_is_not_quite_a_table_is_read_as_one(monkeypatch, tmp_path, kind, n_bytes):
    """Whole and in parts, and with the lines that messages name."""
    above, lines, below = ODD_FILES[kind]
    path = tmp_path / "t.csv"
    lines = ["amount,won,age", *lines]
    if kind == "all lines quoted as a whole":
        lines = [f'"{line}"' for line in lines]
    path.write_text(above + "\n".join(lines) + "\n" + below, encoding="utf-8")
    monkeypatch.setattr(csv_stream, "_BYTES", n_bytes)
    expected = {name: [line.split(",")[c] for line in BODY] for c, name in enumerate(["amount", "won", "age"])}
    expected["won"] = [word.replace('"', "") for word in expected["won"]]
    if kind.startswith("quotes"):
        expected["won"][-1] = "no"
    source = open_source(str(path))
    assert {name: source.texts(name) for name in source.names} == expected
    names, _, table, places = streamed(path, 7)
    assert (names, table) == (source.names, expected)
    assert places == [source.place(i) for i in range(len(source))]
    numbers = [int(place.split()[1]) for place in places]
    text = path.read_text(encoding="utf-8").split("\n")
    of_places = [text[k - 1].rstrip(",").split(",")[-1].strip(' "') for k in numbers]
    assert of_places == expected["age"]


@pytest.mark.parametrize(("line", "told"), [("12,5,x,1", "If 12,5 is one number"), ("300 rows", "If '300 rows' is")])
def test_what_may_be_wrong_with_a_line_is_said(tmp_path, line, told):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "1.5,x,2\n" * 5 + line + "\n")
    for read_it in (lambda: open_source(str(tmp_path / "t.csv")), lambda: list(batches_of(tmp_path / "t.csv"))):
        with raises(TableError, rf"line 7 .*\. {told}"):
            read_it()


def test_the_names_may_come_again_in_a_large_file(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LARGE", 0)
    monkeypatch.setattr(delimited, "_WIDE", 0)
    lines = ["k,x", *[f"{k},1" for k in range(150)], "k,y", "\ufeffk,x", "151,1"]
    found = opened(tmp_path, "\n".join(lines).encode())
    assert (len(found), found.place(151)) == (152, f"line 154 of {tmp_path / 't.csv'}")
    assert [note.split()[0] for note in found.notes] == ["1"]
    numbers = opened(tmp_path, b"0,1\n" + b"0.5,3\n0,1\n" * 20)
    assert len(numbers) == 40  # the names of the columns are numbers, as rows are


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + "x,y,z\n" * 5,  # names that are too few
        "a,b,c\n" + "1,2\n" * 5,
        "a,b,c\n1,2,3\n4,5\n",
        "a,b,c\n1,2,3,\n4,5,\n",
        'a,b,c\n1,2,3\n"4,5"\n',
    ],
)
def test_rows_that_do_not_fit_the_names_are_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    for read_it in (lambda: open_source(str(tmp_path / "t.csv")), lambda: list(batches_of(tmp_path / "t.csv"))):
        with raises(TableError, r"has \d fields?; the header has \d"):
            read_it()


@pytest.mark.parametrize("n_bytes", [64, 10**6])
@pytest.mark.parametrize("at", [0, 25, 49])
def test_a_byte_that_is_no_utf8_leaves_the_others_as_they_are(monkeypatch, tmp_path, at, n_bytes):
    lines = [f"{k},\N{EURO SIGN} {k}.25,K\N{LATIN SMALL LETTER O WITH DIAERESIS}ln".encode() for k in range(50)]
    wrong = [*lines[:at], lines[at].replace(b"\xc3\xb6", b"\xf6"), *lines[at + 1 :]]
    path = tmp_path / "t.csv"
    path.write_bytes(b"k,price,town\n" + b"\n".join(wrong) + b"\n")
    source = open_source(str(path))
    assert source.texts("price")[3] == "\N{EURO SIGN} 3.25"
    assert set(source.texts("town")) == {"K\N{LATIN SMALL LETTER O WITH DIAERESIS}ln"}
    assert any(f"line {at + 2}" in note for note in source.notes)
    if n_bytes > 1000:
        monkeypatch.setattr(csv_stream, "_BYTES", n_bytes)
        assert streamed(path, 7)[2] == {name: source.texts(name) for name in source.names}


# Rows of sums


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([["", "Total", "{all}"]], "1 row may sum other rows, such as line 62"),
        ([["", "GRAND TOTAL", "${all:,.2f}"]], "'GRAND TOTAL', with the sum of amount"),
        ([["Summe", "", "{all:.0f}"]], "'Summe'"),
        ([["", "Total", "7"]], "line 62 of FILE: 'Total' in name"),  # no sum, and the last row
        ([["", "Total", "7"], ["N", "p1", "8"]], ""),
        ([["N", "Total", "7"], ["S", "Total", "8"]], ""),
        ([["", "Total", "7"], ["", "Average", "8"]], "2 rows may hold sums of other rows, such as line 63"),
        ([["", "Sun", "{all}"]], ""),  # no such word
        ([], ""),
    ],
)
def test_rows_that_sum_others_are_told(tmp_path, rows, told):
    amounts = [10.25 + 7 * k % 90 for k in range(60)]
    cells = [["NSEW"[k % 4], f"p{k}", str(x)] for k, x in enumerate(amounts)]
    cells += [[cell.format(all=sum(amounts)) for cell in row] for row in rows]
    data = "\n".join(",".join(f'"{cell}"' for cell in row) for row in [["region", "name", "amount"], *cells])
    source = opened(tmp_path, data.encode())
    notes = " ".join(told_of_sums(source, source.names))
    assert told.replace("FILE", source.path) in notes
    assert bool(notes) == bool(told)
    if len(rows) == 2:  # rows without a label are told of wherever they stand
        has_label = np.arange(len(source)) < 60
        assert bool(told_of_sums(source, source.names, has_label)) == (rows[0][0] == "")


def test_sums_of_parts_are_told_and_a_frequent_word_is_not(tmp_path):
    rows = ["region,amount"]
    for region in "NSEW":
        rows += [f"{region},{k}" for k in range(1, 21)] + [f"Total {region},210"]
    source = opened(tmp_path, "\n".join(rows).encode())
    assert tells(told_of_sums(source, source.names)[0], "4 rows may sum other rows, such as line 22")
    often = "\n".join(["drink,amount", *[f"{['Total', 'Evian'][k % 2]},0" for k in range(60)]])
    source = opened(tmp_path, often.encode())
    assert told_of_sums(source, source.names) == []


def test_several_labels_in_one_word_are_named_one_by_one():
    counts = Counter({"won": 5, "open": 4, "lost": 3})
    with raises(TableError, "each of several labels"):
        positive_labels(counts, "status", ["won, Open"])
    with raises(TableError, r"has the label 'won,opne' in .*; its labels are"):
        positive_labels(counts, "status", ["won,opne"])
    assert positive_labels(counts, "status", ["won", "open"]) == {"won", "open"}


# Lines above the names

ABOVE = '"Report, of 2024"\nmade by x;y\n\n'


@pytest.mark.parametrize("kind", ["CSV", "in parts", "workbook"])
def test_lines_above_the_names_are_left_out_if_a_user_says_how_many(tmp_path, kind):
    rows = [["amount", "age"], *[[str(k / 4), str(k % 9)] for k in range(40)]]
    if kind == "workbook":
        pytest.importorskip("python_calamine")
        path = tmp_path / "t.xlsx"
        path.write_bytes(workbook([["Report, of 2024"], ["made by x;y", "z"], [], *rows]))
    else:
        path = tmp_path / "t.csv"
        path.write_text(ABOVE + "\n".join(map(",".join, rows)) + "\n")
    if kind == "in parts":
        found = batches_of(str(path), rows=7, skip=3)
        (first, *_) = list(found)
        assert (list(found.names), found.n_rows, first.place(0)) == (rows[0], 40, f"line 5 of {path}")
        return
    source = open_source(str(path), skip=3)
    assert (source.names, len(source)) == (rows[0], 40)
    assert source.place(0).startswith(f"{'row' if kind == 'workbook' else 'line'} 5 of ")
    assert [float(text) for text in source.texts("amount")] == [k / 4 for k in range(40)]


def test_files_with_names_of_their_own_have_no_lines_to_skip(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    for open_it in (open_source, batches_of):
        with raises(TableError, "no lines to skip"):
            open_it(str(tmp_path / "t.parquet"), skip=1)


@pytest.mark.parametrize(("n_good", "read_as"), [(10, "UTF-8"), (9, "cp1252")])
def test_ten_letters_of_utf8_for_each_other_byte_make_it_utf8(n_good, read_as):
    notes = []
    Decoder("FILE", notes).feed("é".encode() * n_good + b"\xe9\n", True)
    assert [note.startswith(f"read as {read_as}") for note in notes] == [True]


@pytest.mark.parametrize(
    ("words", "are_names"),
    [("1900 1905 1912", True), ("1899 1905 1912", False), ("1905 1912 2100", True), ("1905 1912 2101", False)],
)
def test_years_may_be_names_of_columns(words, are_names):
    assert _are_counted(words.split()) == are_names


def test_a_line_may_be_longer_than_the_parts_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_stream, "_BYTES", 16)
    rows = [[str(k), "x" * (500 * (k == 30) + 1)] for k in range(60)]
    path, names = tmp_path / "t.csv", ["a" * 300, "b"]
    path.write_text("".join([",".join(row) + "\n" for row in [names, *rows]]))
    found = [[*part[0].values()] for part in csv_stream.CsvStream(str(path)).parts(names, 100)]
    assert [list(row) for a, b in found for row in zip(a, b, strict=True)] == rows
