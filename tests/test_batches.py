"""Batches of rows: the same rows as the whole table has, from every kind of source."""

import datetime
import os
import socket
import sys

import numpy as np
import pytest
from facts import raises
from repeats import each_value

from pnorm._checks import column_values, listed
from pnorm._tables import Groups, Labels, TableError, batches_of, numbers

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from pyarrow import dataset, feather, parquet  # noqa: E402

N = 1000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "amount": rng.normal(size=N).round(3),
            "count": rng.integers(0, 9, N),
            "town": [None if i % 50 == 7 else ("Ulm", "Bonn", "Köln")[i % 3] for i in range(N)],
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(i % 60) for i in range(N)],
        }
    )


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Four files, one of them empty, with columns in other orders, among files that Spark writes about them."""
    path = tmp_path_factory.mktemp("sales")
    for k, (start, stop) in enumerate([(0, 300), (300, 300), (300, 850), (850, N)]):
        names = table.column_names if k % 2 == 0 else table.column_names[::-1]
        parquet.write_table(table.slice(start, stop - start).select(names), path / f"part-{k:02}.parquet")
    for hidden in ("_SUCCESS", "_metadata", ".part-00.parquet.crc"):
        (path / hidden).write_bytes(b"?")
    return path


def value(cell):
    """A value as plain Python: a frame's date or number, and None where one is missing."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, datetime.datetime):
        return cell.date()
    return float(cell) if isinstance(cell, (int, float, np.number)) else cell


def column(table, name):
    return list(map(value, listed(table[name])))


def all_rows(batches):
    """The rows of all batches as columns by name; what batches say of themselves is checked."""
    columns = {name: [] for name in batches.names}
    row = 0
    for batch in batches:
        assert batch.first_row == row
        assert batch.n_rows > 0
        row += batch.n_rows
        for name in columns:
            columns[name] += column(batch.table, name)
    return columns


def hive(table, path):
    for town in ("Ulm", "Bonn", "Köln", None):
        keep = [value == town for value in table["town"].to_pylist()]
        under = path / f"town={'__HIVE_DEFAULT_PARTITION__' if town is None else town.replace('ö', '%C3%B6')}"
        under.mkdir(parents=True)
        parquet.write_table(table.filter(pa.array(keep)).drop_columns(["town"]), under / "0.parquet")
    return path


def polars_frame(table):
    return pytest.importorskip("polars").from_arrow(table)


def feather_file(table, path, **options):
    feather.write_feather(table, path / "sales.feather", **options)
    return path / "sales.feather"


SOURCES = {
    "a folder": lambda table, folder, path: folder,
    "a pattern": lambda table, folder, path: str(folder / "part-*.parquet"),
    "a list of files": lambda table, folder, path: sorted(folder.glob("p*")),
    "a dataset": lambda table, folder, path: dataset.dataset(sorted(map(str, folder.glob("p*")))),
    "a dataset in memory": lambda table, folder, path: dataset.dataset(table.to_batches(max_chunksize=77)),
    "a filtered dataset": lambda table, folder, path: dataset.dataset(table).filter(dataset.field("count") >= 0),
    "a feather file": lambda table, folder, path: feather_file(table, path),
    "a feather file in parts": lambda table, folder, path: feather_file(table, path, chunksize=130),
    "an Arrow table": lambda table, folder, path: table,
    "a record batch": lambda table, folder, path: table.combine_chunks().to_batches()[0],
    "a pandas frame": lambda table, folder, path: table.to_pandas(),
    "a polars frame": lambda table, folder, path: polars_frame(table),
    "a polars query": lambda table, folder, path: polars_frame(table).lazy(),
    "a dictionary": lambda table, folder, path: table.to_pydict(),
    "records": lambda table, folder, path: table.to_pylist(),
}

ONCE = {
    "a reader": lambda table: table.to_reader(max_chunksize=90),
    "an iterator": lambda table: iter([table.slice(0, 10), table.slice(10, 0), table.slice(10)]),
    "frames": lambda table: (table.slice(k, 90).to_pandas() for k in range(0, N, 90)),
}


@each_value()
@pytest.mark.parametrize("rows", [7, 64, 2**17])
@pytest.mark.parametrize("name", SOURCES)
def test_batches_have_all_rows_in_their_order(table, folder, tmp_path, name, rows):
    batches = batches_of(SOURCES[name](table, folder, tmp_path), rows=rows)
    assert batches.names == tuple(table.column_names)
    assert batches.n_rows in (N, None)
    expected = {column_name: column(table, column_name) for column_name in table.column_names}
    assert all_rows(batches) == expected
    assert all_rows(batches) == expected
    assert (batches.reads, batches.n_rows) == (2, N)
    assert max(batch.n_rows for batch in batches) <= rows
    few = batches.only(["day", "count"])
    assert few.names == ("day", "count")
    assert all_rows(few) == {key: expected[key] for key in ("day", "count")}
    assert all_rows(few.only([1])) == {"count": expected["count"]}
    assert batches.reads == few.reads == 5


@pytest.mark.parametrize("name", ONCE)
def test_what_can_be_read_once_says_so(table, name):
    batches = batches_of(ONCE[name](table), rows=64, columns=["town", "amount"])
    assert all_rows(batches) == {key: column(table, key) for key in ("town", "amount")}
    with raises(ValueError, "gives its rows once, and they were read already"):
        next(iter(batches))
    assert batches.reads == 1


def test_a_batch_knows_where_its_rows_are(table, folder):
    files = [folder / f"part-{k:02}.parquet" for k in (0, 2, 3)]
    places = [f"row {i} of {file}" for file, size in zip(files, (300, 550, 150), strict=True) for i in range(size)]
    for rows in (64, 700, 2**17):
        found = [batch.place(i) for batch in batches_of(folder, rows=rows) for i in range(batch.n_rows)]
        assert found == places
    assert next(iter(batches_of(table))).place(17) == "row 17 of the Arrow table"
    *_, last = batches_of(table.to_pandas(), rows=300)
    assert last.place(5) == "row 905 of the pandas frame"


def test_small_files_come_together(table, folder):
    assert [batch.n_rows for batch in batches_of(folder)] == [N]
    assert [batch.n_rows for batch in batches_of(folder, rows=700)] == [300, 700]


def test_what_is_read_has_a_name(table, folder):
    assert batches_of(folder).told == f"4 Parquet files of {folder}{os.sep}"
    assert batches_of(f"{folder}/p*").told == f"4 Parquet files of {folder}/p*"
    assert batches_of([folder / "part-00.parquet"]).told == f"{folder / 'part-00.parquet'}"
    assert batches_of(sorted(folder.glob("p*"))).told == "4 Parquet files"


def test_folders_say_values_of_columns(table, tmp_path):
    batches = batches_of(hive(table, tmp_path / "by town"))
    assert batches.names == ("amount", "count", "day", "town")
    assert batches.n_rows == N
    found, expected = all_rows(batches), table.to_pydict()
    rows = [[str(found[name][i]) for name in table.column_names] for i in range(N)]
    assert sorted(rows) == sorted([str(value(expected[name][i])) for name in table.column_names] for i in range(N))
    assert all_rows(batches.only(["town"])) == {"town": found["town"]}
    years = tmp_path / "by year"
    for k, year in enumerate((2023, 2024)):
        (years / f"year={year}").mkdir(parents=True)
        parquet.write_table(table.slice(500 * k, 500), years / f"year={year}" / "a.parquet")
    assert all_rows(batches_of(years).only(["year"])) == {"year": [2023.0] * 500 + [2024.0] * 500}
    assert all_rows(batches_of(f"{years}/*/a.parquet").only(["year"])) == {"year": [2023.0] * 500 + [2024.0] * 500}
    assert "year" not in batches_of(f"{years}/year=2024/*").names


def test_types_may_differ_between_files(tmp_path):
    columns = [
        {"x": pa.array([1, 2]), "t": pa.array(["a", "b"])},
        {"x": pa.array([0.5, None]), "t": pa.array(["b", "a"]).dictionary_encode()},
        {"x": pa.nulls(2), "t": pa.array(["c", None], pa.large_string())},
    ]
    for k, of_file in enumerate(columns):
        parquet.write_table(pa.table(of_file), tmp_path / f"{k}.parquet")
    expected = {"x": [1.0, 2.0, 0.5, None, None, None], "t": ["a", "b", "b", "a", "c", None]}
    batches = batches_of(tmp_path)
    assert all_rows(batches) == expected
    assert [len(column_values(batch.table["t"])) for batch in batches] == [2, 2, 2]


def test_the_index_of_pandas_is_known(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index(["a", "b"], name="row"))
    frame.to_parquet(tmp_path / "named.parquet")
    batches = batches_of(tmp_path / "named.parquet")
    assert (batches.names, batches.index) == (("x", "row"), {"row"})
    assert batches.only(["x"]).index == set()
    frame.rename_axis(None).to_parquet(tmp_path / "unnamed.parquet")
    assert batches_of(tmp_path / "unnamed.parquet").names == ("x",)


def test_arrays_have_columns_by_number():
    A = np.arange(30.0).reshape(10, 3)
    batches = batches_of(A, rows=4)
    assert (batches.names, batches.n_rows) == (None, 10)
    assert np.array_equal(np.concatenate([batch.table for batch in batches]), A)
    assert np.array_equal(np.concatenate([batch.table for batch in batches.only([2, 0])]), A[:, [2, 0]])
    assert np.array_equal(np.concatenate([batch.table for batch in batches_of(A.tolist(), columns=[1])]), A[:, [1]])


def test_an_unfinished_reading_counts_for_none(folder):
    batches = batches_of(folder, rows=64)
    for _ in batches:
        break
    assert (batches.reads, batches.n_rows) == (0, N)


def test_files_that_change_are_noticed(table, tmp_path):
    feather.write_feather(table, tmp_path / "a.feather")
    batches = batches_of(tmp_path)
    assert len(all_rows(batches)["count"]) == N
    feather.write_feather(table.slice(1), tmp_path / "a.feather")
    with raises(TableError, "had 1,000 rows when read before, and 999 now: it has changed"):
        all_rows(batches)
    parquet.write_table(table, tmp_path / "a.parquet")
    batches = batches_of(tmp_path / "a.parquet")
    parquet.write_table(table.slice(1), tmp_path / "a.parquet")
    with raises(TableError, r"a\.parquet declares 1000 rows, but contains 999"):
        all_rows(batches)


def write(folder, **columns):
    parquet.write_table(pa.table(columns), folder)


def without_column(path):
    write(path / "a.parquet", x=[1], y=[2])
    write(path / "b.parquet", y=[2], z=[1])
    return path


def with_column(path):
    write(path / "a.parquet", x=[1])
    write(path / "b.parquet", x=[2], y=[2])
    return path


def of_two_kinds(path):
    write(path / "a.parquet", x=[1])
    feather.write_feather(pa.table({"x": [1]}), path / "b.arrow")
    return path


def of_another_kind(path):
    write(path / "a.parquet", x=[1])
    (path / "notes.docx").write_bytes(b"PK")
    return path


def in_delta(path):
    (path / "_delta_log").mkdir()
    write(path / "a.parquet", x=[1])
    return path


def in_uneven_folders(path):
    (path / "year=2024").mkdir()
    write(path / "year=2024" / "a.parquet", x=[1])
    write(path / "b.parquet", x=[1])
    return path


def with_one_name_twice(path):
    parquet.write_table(pa.table([[1], [2]], names=["x", "x"]), path / "a.parquet")
    return path


def damaged(path):
    write(path / "a.parquet", x=list(range(5000)))
    data = bytearray((path / "a.parquet").read_bytes())
    data[100:200] = bytes(100)
    (path / "a.parquet").write_bytes(data)
    return path


def twice(path):
    write(path / "a.parquet", x=[1])
    return [path / "a.parquet", path]


WRONG = {
    "no file": (lambda path: path / "none.parquet", FileNotFoundError, r"none\.parquet"),
    "no match": (lambda path: str(path / "*.parquet"), TableError, r"no file is called .*\*\.parquet"),
    "an empty folder": (lambda path: path, TableError, "is a folder without files"),
    "a lacking column": (without_column, TableError, r"b\.parquet lacks the column x, which .*a\.parquet has \(and"),
    "one more column": (with_column, TableError, r"b\.parquet has the column y, which .*a\.parquet has not"),
    "two kinds": (of_two_kinds, TableError, r"a\.parquet is Parquet and .*b\.arrow is Arrow; files of one kind"),
    "another kind": (of_another_kind, TableError, r"has notes\.docx, which by its name is no file of rows"),
    "a Delta table": (in_delta, TableError, "is a table of Delta Lake"),
    "uneven folders": (in_uneven_folders, TableError, "do not both say year"),
    "one name twice": (with_one_name_twice, TableError, "the column name x appears more than once in"),
    "one file twice": (twice, TableError, r"a\.parquet is there twice; its rows would count twice"),
    "a damaged file": (damaged, TableError, r"a\.parquet is no Parquet file that pyarrow can read"),
    "a number": (lambda path: 7, TypeError, "rows come from a file, .*; got 7"),
    "an iterator of nothing": (lambda path: iter([]), ValueError, "gives no table"),
    "an iterator of arrays": (lambda path: iter([np.ones((2, 2))]), TypeError, "tables whose columns have names"),
    "an uneven dictionary": (lambda path: {"x": [1], "y": [1, 2]}, ValueError, "columns of 1, 2 rows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_source(tmp_path, name):
    make, error, message = WRONG[name]
    with raises(error, message):
        list(batches_of(make(tmp_path)))


def test_what_is_wrong_with_columns(table):
    with raises(ValueError, "columns names the column 'amont', which is not in the Arrow table; did you"):
        batches_of(table, columns=["amont"])
    with raises(ValueError, "columns must name one column at least, and each once; got none"):
        batches_of(table, columns=[])
    with pytest.raises(ValueError, match="with a column twice"):
        batches_of(table).only(["day", "day"])
    with raises(TypeError, "names are for files of text"):
        batches_of(table, names=["a"])
    with pytest.raises(ValueError, match="rows must be"):
        batches_of(table, rows=0)


@pytest.mark.filterwarnings("ignore:.*Feather V1:DeprecationWarning")
def test_feather_files_of_the_first_kind(table, tmp_path):
    names = ["amount", "count"]
    batches = batches_of(feather_file(table.select(names), tmp_path, version=1), rows=300)
    assert (batches.told, batches.n_rows) == (str(tmp_path / "sales.feather"), N)
    assert all_rows(batches) == {name: column(table, name) for name in names}
    assert [batch.place(1) for batch in batches][1] == f"row 301 of {tmp_path / 'sales.feather'}"


def test_tables_of_an_iterator_that_lack_a_column(table):
    with raises(ValueError, "the list_iterator gives a table without the column town, from row 1,000 on"):
        list(batches_of(iter([table, table.drop_columns(["town"])])))


def test_a_dask_frame_belongs_elsewhere(table):
    frame = pytest.importorskip("dask.dataframe").from_pandas(table.to_pandas(), npartitions=2)
    with raises(TypeError, r"the rows are a Dask \w+: pnorm\.dask\.code_rows takes these"):
        batches_of(frame)


class Streamed:
    """What gives its rows to Arrow and to nobody else, as the relations of DuckDB do."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_streams_of_other_libraries(table, monkeypatch):
    if hasattr(pa.RecordBatchReader, "from_stream"):
        batches = batches_of(Streamed(table), rows=300)
        for _ in range(2):
            assert all_rows(batches) == {name: column(table, name) for name in table.column_names}
        assert (batches.told, batches.reads) == ("the Streamed", 2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with raises(TypeError, "reading the rows of a Streamed needs pyarrow"):
        batches_of(Streamed(table))


def test_queries_of_older_polars_go_by_way_of_a_file(table, monkeypatch):
    polars = pytest.importorskip("polars")
    if hasattr(polars.LazyFrame, "collect_batches"):
        monkeypatch.delattr(polars.LazyFrame, "collect_batches")
    query = polars.from_arrow(table).lazy().filter(polars.col("count") > 0)
    keep = [count > 0 for count in table["count"].to_pylist()]
    expected = table.filter(pa.array(keep))
    batches = batches_of(query, rows=64)
    assert all_rows(batches) == {name: column(expected, name) for name in table.column_names}
    assert max(batch.n_rows for batch in batches) == 64


def place(row):
    return f"row {row} of a file"


LABELS = {
    "whole numbers": np.array([0, 1, 1, 0]),
    "negative ones": [-1, 1, 1, -1],
    "floats": pd.Series([0.0, 1.0, 1.0, 0.0]),
    "truth": np.array([False, True, True, False]),
    "nullable truth": pd.Series([False, True, True, False], dtype="boolean"),
    "words": ["no", "Yes", "YES ", "No"],
    "words of Arrow": pa.chunked_array([["no"], ["yes", "yes", "no"]]),
    "categories": pd.Series(["no", "yes", "yes", "no"], dtype="category"),
    "numbers as text": pa.array(["0", "1", "1.0", "0"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_that_speak_for_themselves(kind):
    labels = Labels("y")
    assert labels.of(LABELS[kind], place).tolist() == [False, True, True, False]
    assert len(labels.check()) >= 1
    assert labels.counts.total() == 4


def test_labels_mean_the_same_in_all_batches():
    labels = Labels("y")
    batches = [["no", "no"], pd.Series(["no"], dtype="category"), pa.array(["YES", "yes"]), ["No"]]
    assert [labels.of(batch, place).tolist() for batch in batches] == [[False] * 2, [False], [True] * 2, [False]]
    assert labels.check() == {"YES", "yes"}
    assert labels.counts == {"no": 3, "No": 1, "yes": 1, "YES": 1}
    chosen = Labels("y", "Fraud")
    assert chosen.of(["ok", "open"], place).tolist() == [False, False]
    assert chosen.of(["fraud", "ok"], place).tolist() == [True, False]
    assert chosen.check() == {"fraud"}
    numbered = Labels("y", 2)
    assert numbered.of(np.array([1.0, 2.0]), place).tolist() == [False, True]
    assert numbered.of(["2", "1"], place).tolist() == [True, False]
    assert numbered.check() == {"2.0", "2"}


def test_labels_of_several_workers_come_together():
    one, other = Labels("y"), Labels("y")
    one.of([1, 1], place)
    other.of([0, 0], place)
    one.add(other.counts)
    assert one.check() == {"1"}
    with raises(TableError, "has only one label, 0 \\(2\\); positive and negative rows are needed"):
        other.check()


def positives(labels, batches):
    found = [labels.of(batch, place).tolist() for batch in batches]
    labels.check()
    return found


@pytest.mark.parametrize(
    ("positive", "batches", "message"),
    [
        (
            None,
            [["good", "bad"]],
            r"column 'y' has the labels good.*; name the positive label with pos_label=\.\.\.",
        ),
        (None, [[0, 1], [1, 2]], r"column 'y' has the labels 1 \(2\), 0 \(1\), 2 \(1\); name"),
        (None, [["yes"], ["1"]], "name the positive label"),
        (None, [list(range(30))], "30 labels are many: check that this is the right column"),
        (None, [["yes", None]], "the label 'y' is missing in row 1 of a file; every row needs one"),
        (None, [np.array([1.0, np.nan])], "the label 'y' is missing in row 1 of a file"),
        (None, [["yes", "NA"]], "the label 'y' is missing in row 1 of a file"),
        (
            None,
            [["yes", [1]]],
            "the label 'y' must be a number, a text or a date in every row, from row 0 of a file on",
        ),
        (None, [], "column 'y' has no rows"),
        ("yes", [["yes"], ["Yes"]], r"column 'y' has only one label, yes \(1\), Yes \(1\)"),
        ("good", [["bad"], ["worse"]], r"no row has the label 'good' in column 'y'; its labels are bad \(1\), worse"),
        (["a", "b"], [["a", "b"]], "column 'y' has positive labels only"),
    ],
)
def test_labels_that_are_refused(positive, batches, message):
    with raises(TableError, message):
        positives(Labels("y", positive), batches)


def test_groups_are_numbered_as_they_come():
    groups = Groups("query")
    assert groups.of(["b", "a", "b"], place).tolist() == [0, 1, 0]
    assert groups.of(pa.array(["c", "a"]), place).tolist() == [2, 1]
    assert len(groups) == 3
    whole = Groups("query")
    assert whole.of(np.array([3, 3, 1]), place).tolist() == [0, 0, 1]
    assert whole.of([1.0, datetime.date(2024, 1, 1)], place).tolist() == [1, 2]
    with raises(TableError, "the group 'query' is missing in row 1 of a file; every row needs one"):
        groups.of(["a", None], place)


def test_weights_are_numbers():
    for column_ in ([1, 2.5], np.array([1.0, 2.5]), ["1", " 2.5"], pa.array([1.0, 2.5]), ["1", "2,5"]):
        assert numbers(column_, "the weight 'w'", place).tolist() == [1.0, 2.5]
    wrong = {
        "the weight 'w' is missing in row 1 of a file": [1.0, None],
        "the weight 'w' is inf in row 1 of a file; every row needs a finite number": np.array([1.0, np.inf]),
        "the weight 'w' must be a number; got 'much' in row 1 of a file": ["1", "much"],
        "the weight 'w' must be a number; got '2024-01-01": pa.array([datetime.date(2024, 1, 1)]),
    }
    for message, column_ in wrong.items():
        with raises(TableError, message):
            numbers(column_, "the weight 'w'", place)


def test_columns_of_a_batch(table):
    for source in (table, table.to_pandas(), table.to_pydict(), polars_frame(table)):
        batch = next(iter(batches_of(source, rows=5)))
        assert list(map(value, listed(batch.column("town")))) == column(table, "town")[:5]
    assert next(iter(batches_of(np.eye(3)))).column(1).tolist() == [0.0, 1.0, 0.0]


def a_pipe(path):
    os.mkfifo(path)


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path.name)


def a_device(path):
    path.symlink_to(os.devnull)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
@pytest.mark.parametrize("make", [a_pipe, a_socket, a_device])
@pytest.mark.parametrize("source", [".", "*.csv", ["a.csv", "b.csv"], "b.csv"], ids=str)
def test_what_gives_its_bytes_once_is_named(tmp_path, monkeypatch, make, source):
    """Opening a pipe waits for another program, and a device may have no end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    make(tmp_path / "b.csv")
    with raises(TableError, r"b\.csv is a pipe, a socket or a device"):
        batches_of(source)


def test_a_pattern_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x,y\n1,2\n")
    assert batches_of("*.csv").told == "2 CSV files of *.csv"
    assert len(list(batches_of("?.csv"))) == 1


def test_a_folder_that_says_a_zero_in_front_is_text(tmp_path):
    for month, day in (("01", 1), ("10", 20)):
        folder = tmp_path / f"month={month}" / f"day={day}"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"x": [0.5]}), folder / "a.parquet")
    assert all_rows(batches_of(tmp_path)) == {"x": [0.5, 0.5], "month": ["01", "10"], "day": [1.0, 20.0]}


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([["won", None], ["", "Won"]], [[True, False], [False, True]]),
        ([["no", None], ["", "No"]], [[False, False], [False, False]]),
    ],
)
def test_the_only_label_is_positive_unless_it_means_no(batches, expected):
    labels = Labels("y", unlabelled="negative")
    assert [labels.of(batch, place).tolist() for batch in batches] == expected


@pytest.mark.parametrize("rows", [7, 30, 1000])
def test_rows_of_an_arrow_file_are_numbered_through_its_batches(tmp_path, rows):
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"x": range(100)}), path, chunksize=30)
    found = [batch.place(i) for batch in batches_of(path, rows=rows) for i in range(batch.n_rows)]
    assert found == [f"row {i} of {path}" for i in range(100)]


def test_notes_on_odd_lines_are_of_all_files_when_these_were_read(tmp_path):
    rows = [f"{k},{'abc'[k % 3]}é,{k % 2}" for k in range(60)]
    for name in ("a.csv", "b.csv"):
        lines = ["x,c,won", *rows]
        lines[3], lines[7:7] = f'"{lines[3]}"', [",,", ',"",']
        (tmp_path / name).write_bytes("\n".join(lines).encode().replace("bé".encode(), b"b\xe9", 1))
    found = batches_of([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], rows=7)
    for _ in range(2):
        assert sum(batch.n_rows for batch in found) == 120
        notes = " ".join(found.notes)
        assert "2 lines quoted as a whole" in notes
        assert "4 lines of nothing but delimiters" in notes
        assert notes.count("read as UTF-8, but for 1 byte") == 1
