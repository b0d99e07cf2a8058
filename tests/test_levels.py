"""Levels of categories: the same values have the same scores whatever they were read from, and others are told."""

import decimal
import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from facts import raises, tells, warns
from hypothesis import given
from hypothesis import strategies as st
from partitions import partitioned
from repeats import examples

import pnorm
from pnorm import _checks
from pnorm._checks import grouping
from pnorm._command.main import main
from pnorm._tables import Source
from pnorm.rankers import UnknownLevelWarning, categories

N = 200


def values():
    """Columns with all that levels may be."""
    generator = np.random.default_rng(0)
    draw = generator.choice
    return pd.DataFrame(
        {
            "flag": generator.random(N) < 0.5,
            "maybe": pd.array(draw([True, False, None], N), dtype="boolean"),
            "size": generator.integers(-1, 3, N),
            "half": draw([0.5, 1.0, 1e-5, 1e17, np.nan], N),
            "id": draw([2**53, 2**53 + 1, 10**17], N),
            "town": draw(["Ulm", "Bad Ems", "true", "NA", "none", "?", None], N),
            "code": draw(["7", "007", "1e3", "1000", "1.0"], N),
        }
    )


def forms(frame, tmp_path):
    """The same values from whatever holds them."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    csv = tmp_path / "rows.csv"
    frame.to_csv(csv, index=False)
    as_read = {"keep_default_na": False, "na_values": [""]}
    lists = arrow.to_pandas(types_mapper=pd.ArrowDtype).to_numpy(object).tolist()
    return {
        "pandas": frame,
        "pandas, of Arrow": frame.astype({"flag": "bool[pyarrow]", "town": "string[pyarrow]", "size": "int8[pyarrow]"}),
        "pandas, categorical": frame.astype({"flag": "category", "code": "category"}),
        "pandas, text": pd.read_csv(csv, dtype=str, **as_read),
        "pandas, from CSV": pd.read_csv(csv, dtype={"code": str, "town": str}, **as_read),
        "polars": pl.from_arrow(arrow),
        "polars, from CSV": pl.read_csv(csv, schema_overrides={"code": pl.String, "town": pl.String}),
        "polars, text": pl.read_csv(csv, infer_schema=False),
        "Arrow": arrow,
        "lists": lists,
        "objects": frame.to_numpy(object),
    }


def file_scores(path, model, out):
    assert main([str(path), "--model", str(model), "--out", str(out)]) == 0
    return pd.read_csv(out).set_index("row")["score"].sort_index().to_numpy()


@pytest.mark.parametrize("trained_on", ["pandas", "pandas, text", "polars, from CSV", "lists"])
def test_the_same_values_have_the_same_scores(tmp_path, capsys, trained_on):
    frame = values()
    of_form = forms(frame, tmp_path)
    pos, neg = pnorm.split(of_form[trained_on], np.arange(N) % 2 == 0)
    H = categories(pos, neg, missing="own")
    lam = np.random.default_rng(1).normal(size=len(H))
    expected = pnorm.score(of_form[trained_on], H, lam)
    for form, rows in of_form.items():
        np.testing.assert_array_equal(pnorm.score(rows, H, lam), expected, form)
    pnorm.save(tmp_path / "model.json", lam, H)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    of_form["polars"].write_csv(tmp_path / "polars.csv")
    loud = (tmp_path / "rows.csv").read_text().replace("True", "TRUE").replace("False", "FALSE")
    (tmp_path / "loud.csv").write_text(loud)
    files = ["rows.csv", "rows.parquet", "loud.csv"]
    if trained_on != "pandas, text":  # text that is a level, "1e-05", is not the text "0.00001" of another writer
        files.append("polars.csv")
    for name in files:
        scores = file_scores(tmp_path / name, tmp_path / "model.json", tmp_path / "scores.csv")
        np.testing.assert_array_equal(scores, expected, name)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("levels", "value", "level"),
    [
        ([False, True], "TRUE", True),
        ([False, True], " false ", False),
        ([False, True], "1", True),
        ([0, 1], "true", 1),
        (["no", "yes"], True, None),
        (["false", "true"], True, "true"),
        (["false", "true"], "False", "false"),
        (["True", "true"], "TRUE", None),  # which one?
        (["True", "true"], "true", "true"),
        ([1, 2], "1.0", 1),
        ([1, 2], np.float32(1.0), 1),
        ([1, 2], decimal.Decimal("1.0"), 1),
        ([1, 2], np.str_("+1"), 1),
        ([1, 2], "1_0", None),
        ([1, 2], "１", None),
        ([1.5], "15e-1", 1.5),
        ([2**53], "9007199254740993", None),
        ([2**53 + 1], "9007199254740993", 2**53 + 1),
        ([0], "-0.0", 0),
        (["1"], 1, "1"),
        (["1.0"], 1, "1.0"),
        (["1", "1.0"], 1, None),
        ([1, "1"], "1", "1"),
        ([1, "1"], 1, 1),
        (["1.1"], "1.10", None),
        (["007"], "7", None),
        (["007"], 7, "007"),
        (["007", "7"], 7, None),
        ([7], "007", 7),
        ([" red"], "red", " red"),
        (["red"], "red  ", "red"),
        (["red"], "Red", None),
        (["nan", "inf"], "INF", None),
        ([1e17 + 16], "0" * 5000 + "100000000000000016.0", 1e17 + 16),
        ([10**17 + 1], "+" + "0" * 5000 + "100000000000000001", 10**17 + 1),
        (["0" * 5000 + "9" * 17], 10**17 - 1, "0" * 5000 + "9" * 17),
    ],
)
def test_which_values_are_the_same_level(levels, value, level):
    H = categories([[x] for x in levels], [[x] for x in levels])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        (row,) = H.evaluate([[value]])
    names = [name for name, one in zip(H.names, row, strict=True) if one]
    assert names == ([] if level is None else [f"x0 = {level}"])
    assert len(told) == (level is None)


def test_levels_that_are_not_known_are_counted_and_named():
    H = categories([["Ulm", 1], ["Bonn", 2]], [["Ulm", 2]], names=["town", "size"])
    lam = [1.0, 2.0, 3.0, 4.0]
    rows = [["Ulm", 1], ["Trier", 2], ["Worms", 1], ["Trier", 1], ["x" * 200_000, 1], ["Bonn\n\x1b[2J", 1]]
    with pytest.warns(UnknownLevelWarning) as told:
        f = pnorm.score(rows, H, lam)
    assert f.tolist() == [5, 4, 3, 3, 3, 3]
    (warning,) = told
    assert str(warning.message).startswith(
        "unknown values in column 0 of X: 5 of 6 values, such as 'Trier', 'Worms', 'xxxx"
    )
    assert str(warning.message).endswith("xxx'; they count as none of the known ones")
    assert len(str(warning.message)) < 300
    assert warning.filename == __file__
    with warns(UnknownLevelWarning, r"1 of 1 values, such as 'Bonn\\n\\x1b\[2J'"):
        H.evaluate(rows[5:])
    pnorm.score(rows, H, [0, 0, 3.0, 4.0])  # of a column that is not used, nothing is said


def test_a_column_of_which_no_value_is_known_is_refused():
    frame = pd.DataFrame({"day": ["Mon", "Tue"] * 20, "n": range(40)})
    H = categories(frame[["day"]], frame[["day"]], missing="own")
    wrong = pd.DataFrame({"day": [None] * 5 + ["Montag", "Dienstag"] * 10})
    message = (
        r"none of the 20 values of column 0 \('day'\) of X is known: got 'Montag', and the known ones "
        r"include 'Mon', 'Tue'. Bring the column into the form that it had in training"
    )
    for call in (lambda X: pnorm.score(X, H, [1.0, 2.0]), H.evaluate, H[0], pnorm.rankers.closed(H).evaluate):
        with raises(ValueError, message):
            call(wrong)
        with pytest.warns(UnknownLevelWarning, match="19 of 19 values"):
            call(wrong[:24])
        with pytest.warns(UnknownLevelWarning, match="20 of 21 values"):
            call(pd.concat([frame[["day"]][:1], wrong]))
    assert H.evaluate(pd.DataFrame({"day": [None] * 19})).sum() == 0  # missing values are not unknown levels
    missing = categories([[None], [None]], [[None]], missing="own")
    assert missing.evaluate(wrong.to_numpy()).sum() == 5  # all others are not missing, which is all that is asked
    with raises(ValueError, r"none of the 35 values of column 0 \('day'\) of pos and neg"):
        pnorm.train(wrong, wrong[:20], H)


def test_a_column_that_is_missing_as_a_whole_is_told():
    rows = [["a", "x"], ["b", None]]
    H, gone = categories(rows, rows, missing="own"), [[None, None]] * 20
    message = "all 20 values of column 0 of X are missing, and a missing value is not known there"
    with warns(UnknownLevelWarning, message) as told:
        assert pnorm.score(gone, H, [1.0, 2.0, 4.0, 8.0]).tolist() == [8.0] * 20
    assert len(told) == 1  # in the other column, missing is a level
    with warns(UnknownLevelWarning, "all 30 values of column 0 of pos and neg"):
        pnorm.train(gone[:15], gone[:15], H, t_max=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        H.evaluate([*gone, rows[0]])
        H.evaluate(gone[:19])


def test_the_command_prints_its_own_warnings_only(tmp_path, capsys, monkeypatch):
    rows = pd.DataFrame({"town": ["Ulm", "Bonn"]})
    pnorm.save(tmp_path / "m.json", [1.0, 2.0], categories(rows, rows))
    (tmp_path / "t.csv").write_text("town\nTrier\nUlm\n")
    told = Source.frame

    def frame(self, names):
        warnings.warn("a library is old", DeprecationWarning, stacklevel=1)
        warnings.warn("a library is odd", RuntimeWarning, stacklevel=1)
        return told(self, names)

    monkeypatch.setattr(Source, "frame", frame)
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RuntimeWarning)
        assert main([str(tmp_path / "t.csv"), "--model", str(tmp_path / "m.json")]) == 0
    assert [str(warning.message) for warning in others] == ["a library is odd"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "pnorm: warning: town has 1 level that the training rows do not have, in 1 row: Trier"


def test_text_in_an_array_is_told_as_in_a_frame():
    for form in (np.array, pd.DataFrame, lambda rows: np.array(rows).astype("S"), list):
        rows, others = form([[1.5, 2.0], [2.5, "travel"]]), form([[1.0, "b"], [0.5, "c"]])
        with raises(TypeError, r"pos has b?'?travel'? \((str|bytes)\) at row 1, column 1.*encode the column"):
            pnorm.train(rows, others)
    with raises(TypeError, r"pos has '?1'? \(str\) at row 0, column 0; every value must be a real number"):
        pnorm.train(np.array([["1", "2"]]), [[0.0, 1.0]])


def test_what_the_command_says_of_levels(tmp_path, capsys):
    model, path, out = tmp_path / "m.json", tmp_path / "t.csv", tmp_path / "out.csv"
    rows = pd.DataFrame({"town": ["Ulm", "Bonn"], "size": [1, 2]})
    pnorm.save(model, [1.0, 2.0, 3.0, 4.0], categories(rows, rows))
    path.write_text("size,town\n2,Trier\n1,Ulm\n3,Worms\n")
    assert main([str(path), "--model", str(model), "--out", str(out)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "pnorm: warning: town has 2 levels that the training rows do not have, in 2 rows: Trier, Worms",
        "pnorm: warning: size has 1 level that the training rows do not have, in 1 row: 3",
    ]
    path.write_text("size,town\n" + "2,Trier\n" * 20)
    assert main([str(path), "--model", str(model)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error == (
        f"pnorm: error: {model} does not fit {path}: none of the 20 values of column 'town' of the file is known: got "
        "'Trier', and the known ones include 'Bonn', 'Ulm'. Bring the column into the form that it had in training, or "
        "train on rows like these\n"
    )


def test_a_word_for_nothing_may_be_a_level(tmp_path):
    pos, neg = pd.DataFrame({"c": ["NA", "x", None]}), pd.DataFrame({"c": ["-", "x", "x"]})
    H, path, model = categories(pos, neg, missing="own"), tmp_path / "t.csv", tmp_path / "m.json"
    assert H.names == ("c = -", "c = NA", "c = x", "c is missing")
    pnorm.save(model, [1.0, 2.0, 4.0, 8.0], H)
    path.write_text("c,d\n-,0\nNA,0\nx,0\n,0\nnull,0\n")
    assert file_scores(path, model, tmp_path / "out.csv").tolist() == [1, 2, 4, 8, 8]


def test_a_word_for_nothing_is_a_missing_value_whatever_it_came_from(tmp_path, capsys):
    frame = pd.DataFrame({"c": ["a", "b", None] * 10})
    H, lam = categories(frame[:15], frame[15:], missing="own"), [1.0, 2.0, 8.0]
    rows = pd.DataFrame({"c": ["none", "a", "NA", "b", "", " ? ", "-"]})
    pnorm.save(tmp_path / "m.json", lam, H)
    rows.to_csv(tmp_path / "t.csv", index=False)
    rows.to_parquet(tmp_path / "t.parquet", index=False)
    expected = [8, 1, 8, 2, 8, 8, 8]
    for name in ("t.csv", "t.parquet"):
        assert file_scores(tmp_path / name, tmp_path / "m.json", tmp_path / "out.csv").tolist() == expected
    assert capsys.readouterr().err == ""
    for form in (rows, rows.to_numpy(), rows.to_numpy().tolist(), rows.to_numpy().astype("U4")):
        assert pnorm.score(form, H, lam).tolist() == expected
    strict = categories([["a"]], [["b"]])
    with raises(ValueError, r"X has 'none' at row 1, column 0; fill it in, or pass missing='own'"):
        strict.evaluate([["a"], ["none"]])


@pytest.mark.usefixtures("few_points", "few_resamples")
def test_truth_values_of_a_csv_file_are_numbers_as_in_parquet(tmp_path, capsys):
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"y": generator.random(80) < 0.5, "a": generator.random(80) < 0.5, "b": generator.normal(size=80)}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    models = []
    for trained, scored in itertools.product(("t.csv", "t.parquet"), repeat=2):
        model, out = tmp_path / "m.json", tmp_path / "out.csv"
        assert main([str(tmp_path / trained), "--label", "y", "-t", "5", "--save", str(model)]) == 0
        f = file_scores(tmp_path / scored, model, out)
        models.append((json.loads(model.read_text())["lam"], f.tolist()))
    assert models[1:] == models[:1] * 3
    assert capsys.readouterr().err == ""


def test_decimal_numbers_of_a_frame_are_numbers():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.00")])})
    H = pnorm.rankers.thresholds({0: [1.6]}, missing="own")
    assert pnorm.score(table, H, [1.0, 5.0]).tolist() == [0, 5, 1]
    levels = categories(table, [[1.5]], missing="own")
    assert levels.names == ("a = 1.5", "a = 2", "a is missing")


def test_whole_decimal_numbers_keep_all_their_digits():
    D = decimal.Decimal
    H = categories([[D(2**53 + 1)]], [[D(2**53)]])
    assert H.names == ("x0 = 9007199254740992", "x0 = 9007199254740993")
    np.testing.assert_array_equal(
        H.evaluate([[D("9007199254740993.0")], [str(2**53 + 1)], [2**53]]), [[0, 1], [0, 1], [1, 0]]
    )
    with pytest.warns(UnknownLevelWarning, match="4 of 4 values"):
        assert not H.evaluate([[D(2**53 + 2)], [D("1e300")], [D("1e-999999999")], [D("-1e-400")]]).any()
    for value in ("1e999999999", "-1e309"):  # which would be an integer of a billion digits
        with raises(ValueError, "a level that is a number must be finite"):
            H.evaluate([[D(value)]])


def test_partitions_are_judged_together():
    rows = np.array([["a", "x"]] * 30 + [["b", "x"]] * 30 + [["c", "y"]] * 30)
    H = categories(rows[:40], rows[:3])
    with pytest.warns(UnknownLevelWarning) as told:  # 30 rows of a partition are all new in both columns
        partitioned(rows, rows[:60], H, 4, 30)
    assert [str(warning.message) for warning in told] == [
        f"unknown values in column {column} of pos and neg: 30 of 150 values, such as '{level}'; they count as none of the "
        "known ones"
        for column, level in enumerate("cy")
    ]
    with raises(ValueError, "none of the 150 values of column 0 of pos and neg"):
        partitioned(np.char.upper(rows), np.char.upper(rows[:60]), H, 4, 30)


def test_dask_warns_of_a_partition(recwarn):
    dask, frames = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    pytest.importorskip("pnorm.dask")
    frame = pd.DataFrame({"c": ["a"] * 30 + ["b"] * 30})
    H = categories(frame[:30], frame[:30])
    with dask.config.set(scheduler="synchronous"), pytest.warns(UnknownLevelWarning, match="30 of 30 values"):
        f = pnorm.dask.score(frames.from_pandas(frame, npartitions=2), H, [1.0]).compute()
    assert f.tolist() == [1.0] * 30 + [0.0] * 30


def test_levels_of_folds_are_told_once():
    rows = [[f"t{i}" if i % 10 == 0 else "ab"[i % 2]] for i in range(60)]
    with pytest.warns(UnknownLevelWarning) as told:
        pnorm.cross_validate(rows[:30], rows[30:], categories, p=(1, 2), t_max=5, folds=3)
    (warning,) = told
    assert tells(str(warning.message), "in column 0 of held-out rows of pos and neg: 6 of 60 values, such as 't")


def test_an_estimator_warns_of_levels():
    sklearn = pytest.importorskip("pnorm.sklearn")
    model_selection = pytest.importorskip("sklearn.model_selection")
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"town": generator.choice(list("abcdefgh"), 100), "rare": [f"r{i // 2}" for i in range(100)]})
    y = (X["town"] < "d").astype(int) ^ (generator.random(100) < 0.1)
    model = sklearn.PNormPush(rankers="categories", t_max=20)
    with warns(UnknownLevelWarning, r"column 0 \('rare'\) of X: 20 of 20 values"):  # as in every fold
        model_selection.cross_val_score(model, X[["rare"]].assign(rare=range(100)), y, error_score="raise")
    with raises(ValueError, r"none of the 20 values of column 0 \('rare'\) of X is known"):
        model.fit(X[["rare"]].assign(rare=range(100)), y).predict(X[["rare"]][:20])
    with pytest.warns(UnknownLevelWarning, match=r"column 1 \('rare'\)"):
        scores = model_selection.cross_val_score(
            model, X, y, cv=model_selection.KFold(3, shuffle=True, random_state=0), scoring="roc_auc"
        )
    assert scores.min() > 0.5


@pytest.mark.parametrize(
    "kind", [categories, lambda *rows: pnorm.rankers.closed(categories(*rows)) + categories(*rows)]
)
def test_validation_rows_are_judged_together(kind):
    H = kind([["a"], ["b"]], [["b"], ["c"]])
    for pos, neg in (([["x"]] * 12, [["y"]] * 12), ([["x"]] * 30, [["a"]])):
        with pytest.warns(UnknownLevelWarning) as told:
            pnorm.callbacks.early_stopping(pos, neg, H=H)
        (warning,) = told
        n = len(pos) + len(neg)
        assert f"in column 0 of pos_val and neg_val: {n - (neg == [['a']])} of {n} values" in str(warning.message)
    with raises(ValueError, "none of the 24 values of column 0 of pos_val and neg_val"):
        pnorm.callbacks.early_stopping([[1]] * 12, [[2]] * 12, H=H)


@pytest.mark.parametrize("unit", ["ns", "us", "D"])
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_what_is_said_of_dates(unit, kind):
    array = np.array([["2024-01-02"], ["2024-03-04"], ["NaT"]], f"M8[{unit}]")
    if kind == "m8":
        array = array - np.datetime64("2000-01-01", unit)
    days = pd.DataFrame(array, columns=["day"])
    for X in (days, pytest.importorskip("polars").from_pandas(days), array, [list(row) for row in array]):
        for make in (
            lambda X: pnorm.rankers.quantile_thresholds(X, X, missing="own"),
            lambda X: pnorm.rankers.normalized(X[:1], X[:1]),
        ):
            with raises(TypeError, "pass the days since a fixed one in place of dates, such as"):
                make(X)
        with raises(TypeError, "a string, a number or a boolean; make the dates text"):
            categories(X[:1], X[:1])
    with raises(ValueError, "pos has NaT at row 1, column 0; fill it in, or pass missing='own'"):
        categories([["a"], [array[2, 0]]], [["a"]])
    durations = days - np.datetime64("2000-01-01") if kind == "M8" else days
    numbers = durations / np.timedelta64(1, "D")
    assert (
        pnorm.rankers.quantile_thresholds(numbers, numbers, missing="own").names[0] == "day > 8798"
    )  # as the message says
    text = days[:2].astype(str)
    assert categories(text, text).names[0].startswith("day = 2024-01-02" if kind == "M8" else "day = 8767 days")


@pytest.mark.parametrize("unit", ["ns", "us", "D"])
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_an_estimator_refuses_dates(unit, kind):
    sklearn, pl = pytest.importorskip("pnorm.sklearn"), pytest.importorskip("polars")
    array = np.arange(20).astype(f"{kind}[{unit}]")[:, None]
    frame = pd.DataFrame(array, columns=["day"])
    y = np.arange(20) % 2
    mixed = frame.assign(x=1.0)
    for X in (array, frame, mixed, pl.from_pandas(frame), pl.from_pandas(mixed), [list(row) for row in array]):
        for rankers in ("thresholds", "columns", "normalized"):
            with raises(TypeError, r"X has .* at row 0, column 0.*pass the days since a fixed one in place"):
                sklearn.PNormPush(rankers=rankers).fit(X, y)


def test_a_column_of_truth_values_and_numbers_is_refused(tmp_path, capsys):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    path.write_text("a,y\n2,1\ntrue,0\n")
    pnorm.save(model, [1.0], pnorm.rankers.columns(pd.DataFrame({"a": [1.0]})))
    for arguments, message in ((["--model", str(model)], f"column 'a' has 'true' (str) in line 3 of {path}"),):
        assert main([str(path), *arguments]) == 2
        assert message in capsys.readouterr().err


# Columns that have a type -----------------------------------------------------------------------------

TEXT = ("a", "b", " a", "1", "1.0", "true", "", "NA", "ä", "\U0001f600")
WHOLE = (0, 1, 2, -3, 100, 2**53, 2**53 + 1)
REAL = (0.0, -0.0, 1.0, 2.5, 1e300)
MIXED = (*TEXT[:5], *WHOLE, *REAL, True, False, 2**61 - 1, 2 * (2**61 - 1), decimal.Decimal("2.5"), np.int8(2))
NOTHING = (None, float("nan"), decimal.Decimal("nan"))


def typed(values):
    """A list of values, and what else can hold it."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    objects = np.empty(len(values), object)
    objects[:] = values
    yield from (values, objects, pd.Series(objects, dtype=object))
    kinds = set(map(type, values)) - {type(None)}
    full = None not in values
    if kinds <= {str}:
        column = pa.array(values, pa.string())
        dictionary = column.dictionary_encode("encode")  # None is one of its values
        parts = [part.dictionary_encode() for part in (column[: len(values) // 2], column[len(values) // 2 :])]
        yield from (column, column.cast("large_string"), dictionary, pa.chunked_array(parts))
        yield from [pl.Series(values, dtype=kind) for kind in (pl.String, pl.Categorical)]
        yield pl.Series(values, dtype=pl.Enum(sorted({"", *TEXT})))
        yield from [pd.Series(values, dtype=kind) for kind in ("str", "string", pd.ArrowDtype(pa.string()))]
        if full:
            yield from (np.array(values), np.array([values, values], ">U7")[:, ::-1][0, ::-1])
    if kinds <= {int} or kinds <= {float}:
        kind = pa.int64() if kinds <= {int} else pa.float64()
        yield from (pa.array(values, kind), pa.chunked_array([pa.array(values, kind)]))
        yield pl.Series(values, dtype=pl.Int64 if kinds <= {int} else pl.Float64)
        if full:
            yield from (np.array(values), pd.Series(values))
            if kinds <= {int}:
                yield from (np.array(values, "uint64") if min(values) >= 0 else np.array(values, ">i8"),)
    if kinds <= {int, str}:
        known = [value for value in [*WHOLE, *TEXT, *values] if value is not None]
        yield pd.Series(pd.Categorical(objects, categories=list(dict.fromkeys(known))))


@examples(5)
@given(
    st.sampled_from([TEXT, WHOLE, REAL, MIXED]).flatmap(
        lambda pool: st.lists(st.sampled_from([*pool, *NOTHING]) | st.sampled_from(pool), min_size=1, max_size=12)
    )
)
def test_equal_values_of_a_column_have_one_number_whatever_holds_them(values):
    for column in typed(values):
        own = list(_checks.listed(column))
        plain = [value.item() if isinstance(value, np.generic) else value for value in own]  # which all can be compared
        same = [[bool(pd.isna(b)) if pd.isna(a) else not pd.isna(b) and a == b for b in plain] for a in plain]
        wanted = [row.index(True) for row in same]  # the first row that has the value
        first, codes = _checks.distinct(_checks.column_values(column))
        assert first.tolist() == sorted(set(wanted))
        assert first[codes].tolist() == wanted
        missing = [row for row, value in enumerate(own) if pd.isna(value)]
        if missing:
            with raises(ValueError, f"at row {missing[0]};"):
                _checks.labels(column, "y", len(own))
        else:
            codes, labels = _checks.labels(column, "y", len(own))
            assert repr([labels[k] for k in codes]) == repr([own[row] for row in wanted])


def test_a_column_is_read_by_its_distinct_values(monkeypatch):
    calls = []
    key = grouping.key
    monkeypatch.setattr(grouping, "key", lambda value: calls.append(value) or key(value))
    some = [*MIXED[:9], *REAL, True, None]
    objects = np.array(some, object)[np.arange(10_000) % len(some)]
    for column in typed(objects.tolist()):
        _checks.distinct(_checks.column_values(column))
    for column in typed(np.array(TEXT, object)[np.arange(10_000) % len(TEXT)].tolist()):
        _checks.labels(column, "y", 10_000)
    assert 0 < len(calls) < 1000


@pytest.mark.parametrize("places", [0, 1, 3])
def test_texts_of_one_hash_are_told_apart(monkeypatch, places):
    monkeypatch.setattr(_checks.values, "_PLACES", places)
    words = np.array(TEXT)[np.random.default_rng(places).integers(0, len(TEXT), 50)]
    codes, labels = _checks.labels(words, "y", 50)
    assert [labels[k] for k in codes] == words.tolist()
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("rows", [[("a", 1), ["b", 2]], [["a", 1], np.array([2, 3])], [["a", 1], range(2)]])
def test_rows_in_a_list_are_taken_apart_by_column(rows):
    columns, names = _checks.table(rows, "pos")
    assert (columns, names) == ([[rows[0][0], rows[1][0]], [rows[0][1], rows[1][1]]], None)
