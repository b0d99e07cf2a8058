"""Columns of text that are numbers as a whole: read at once, and as if each word was read on its own."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from repeats import examples

import pnorm
from pnorm._checks import cells
from pnorm._checks.words import numeral, plain_numbers, reads_as_missing
from pnorm.rankers._forms import Form
from pnorm.rankers._numbers import number, number_form

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

NUMBERS = ["0", "1", "-0", "1.5", "+5", "+.5", "7.", ".5", "1e3", "-2.5E-3", "0.1", "0.30000000000000004", "00123", "007", "0.07",
           "00.5", "12345678901234567890", "1e-400", "5e-324", "1.7976931348623157e308", " 3", "4 ", "\t6\n", "9" * 40]  # fmt: skip
MISSING = ["", " ", "NA", "n/a", "NaN", "nan", " null ", "None", "?", "-", "N/a"]
ODD = ["inf", "-Infinity", "1e999", "+nan", "-nan", "1_000", "١٢", "\u00a05", "\x1c007", "\x1f5", "x", "1,5", "$3", "0x10", "1e", ".", "+",
       "true", "50%", "--1", "1 2", "5\n6", "nan(1)", "infinity", "\u00a0", "1d3"]  # fmt: skip


def one_by_one(words):
    """The numbers of words, nan for missing ones; None if one is no finite number."""
    found = []
    for word in words:
        if reads_as_missing(word):
            found.append(np.nan)
            continue
        try:
            value = numeral(word.strip())
        except ValueError:
            return None
        if not np.isfinite(value):
            return None
        found.append(value)
    return np.array(found)


COMMAS = [
    "1,5",
    "-0,25",
    "+7,",
    "3",
    "12",
    "1,234",
    "1234,567",
    "0,123",
    "00,5",
    "0,30000000000000004",
    " 4,5 ",
    "1" * 40 + ",5",
]
NO_COMMAS = [
    "1.5",
    "1.234,5",
    ",5",
    "1e3",
    "1,2,3",
    "007",
    "1 234,5",
    "5 €",
    "3,5%",
    "1" * 70 + ",5",
    "x",
    "\u0661,5",
    "1,5\n",
]


@examples(30)
@given(
    st.lists(st.sampled_from(COMMAS * 3 + MISSING), min_size=1, max_size=8),
    st.lists(st.sampled_from(NO_COMMAS), max_size=1),
)
def test_decimal_commas_are_read_as_in_each_word(words, odd):
    words = words + odd
    known = [word.strip() for word in words if not reads_as_missing(word)]
    form = number_form(list(dict.fromkeys(known)))[0] if known else None
    for column in (words, pa.array(words, pa.string())):
        found = plain_numbers(column)
        if found is None or not found.comma:
            continue
        assert found.code or form == Form(",")
        expected = [np.nan if reads_as_missing(word) else number(word.strip(), Form(",")) for word in words]
        np.testing.assert_array_equal(found.numbers, np.array(expected, float))


@pytest.mark.parametrize("words", [["1,5", "2", ""], ["1234,567", "NA", "+3"], ["1,234", "1,2"]])
def test_decimal_commas_are_read_at_once(words):
    assert plain_numbers(words).comma
    assert plain_numbers(pa.array(words)).comma
    assert plain_numbers(["1,234", "5,678"]) is None


def forms(words):
    """The same words by all that holds text, of which those that are None are missing."""
    yield "list", list(words)
    yield "objects", np.array([*words, None], object)[:-1]
    yield "Arrow", pa.chunked_array([pa.array(words[:2], pa.string()), pa.array(words[2:], pa.string())])
    yield "large Arrow", pa.array(words, pa.large_string())
    yield "pandas", pd.Series(words, dtype="object")
    for storage in ("python", "pyarrow"):
        yield f"pandas, {storage}", pd.Series(words, dtype=pd.StringDtype(storage))
    yield "pandas, str", pd.Series(words, dtype="str")
    yield "pandas, Arrow", pd.Series(words, dtype=pd.ArrowDtype(pa.string()))
    polars = pytest.importorskip("polars")
    yield "polars", polars.Series(words, dtype=polars.String)


some_commas = st.lists(st.sampled_from(COMMAS * 3 + MISSING), min_size=1, max_size=8)
columns = st.lists(st.sampled_from(NUMBERS * 3 + MISSING), min_size=1, max_size=12)
odd_columns = st.builds(
    lambda words, odd, at: [*words[:at], *odd, *words[at:]],
    columns,
    st.lists(st.sampled_from(ODD), max_size=1),
    st.integers(0, 12),
)


@examples(30)
@given(odd_columns)
def test_words_are_numbers_as_each_of_them_is(words):
    expected = one_by_one(words)
    for column in (words, pa.array(words, pa.string()), pa.chunked_array([words[:1], words[1:]], pa.large_string())):
        found = plain_numbers(column)
        if found is None or found.comma:  # the words are read one by one then, or as the test above has it
            continue
        assert expected is not None
        np.testing.assert_array_equal(found.numbers, expected)
        np.testing.assert_array_equal(np.signbit(found.numbers), np.signbit(expected))
        known = [word.strip() for word in words if not reads_as_missing(word)]
        assert found.point == any("." in word for word in known)
        assert found.code == any(word[0] == "0" and word.isdigit() and len(word) > 1 for word in known)


@pytest.mark.parametrize(
    "words", [["1.5", "2"], ["1.5", "", "NA", "nan"], ["+5", "-1e3", "+.5"], [" 5 ", "?"], ["007", "1"]]
)
def test_plain_words_are_read_at_once(words):
    for column in (words, pa.array(words), pa.array(words, pa.large_string())):
        np.testing.assert_array_equal(plain_numbers(column).numbers, one_by_one(words))


def told(pos, neg, rows, monkeypatch, slow, **options):
    """All that `from_table` makes of a column, and of new rows: or its error."""
    with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if slow:
            patched.setattr(cells, "plain_numbers", lambda column: None)
        try:
            H = pnorm.rankers.from_table(pos, neg, **options)
        except ValueError as error:
            return str(error)
        found = [repr(H.plan), H.names, H.to_dict()]
        for X in (pos, neg, rows):
            try:
                found.append(H.evaluate(X).tolist())
            except ValueError as error:
                found.append(str(error))
    return [*found, sorted({str(warning.message) for warning in caught})]


@examples(6)
@given(
    odd_columns,
    odd_columns,
    odd_columns,
    st.sampled_from([None, "number", "category", "decimal point", "decimal comma"]),
)
def test_weak_rankers_are_the_same(pos, neg, rows, kind):
    pos, neg = pos * 2, neg * 3
    same(pos, neg, rows, {} if kind is None else {"kinds": {"a": kind}}, list)
    same(pos, neg, rows, {} if kind is None else {"kinds": {"a": kind}}, pa.array)


@examples(6)
@given(
    some_commas,
    some_commas,
    st.one_of(some_commas, odd_columns),
    st.sampled_from([None, "number", "category", "decimal comma"]),
)
def test_weak_rankers_of_decimal_commas_are_the_same(pos, neg, rows, kind):
    options = {} if kind is None else {"kinds": {"a": kind}}
    for form in (list, pa.array):
        same(pos * 2, neg * 3, rows, options, form)


def same(pos, neg, rows, options, form):
    tables = [{"a": form(side), "b": [1.0, 2.0, *[3.0] * (len(side) - 2)]} for side in (pos, neg, [*rows, "", ""])]
    patch = pytest.MonkeyPatch()
    assert told(*tables, patch, False, **options) == told(*tables, patch, True, **options)


@pytest.mark.parametrize(
    "words",
    [
        ["1.5", "2", "1e3", "7", "-1", "4"],
        ["1.5", "", None, "NA", "-1", "4"],
        ["00123", "1", "2", "2", "1", "00123"],
        ["+5", " 1", "2 ", "3", "4.", ".5"],
        ["inf", "1", "2", "3", "1", "2"],
        ["a", "b", "a", "b", "a", "1"],
        [None, None, "NA", "", "-", "?"],
        ["true", "1", "0", "no", "yes", None],
        ["2024-01-05", "2024-02-06", "2024-03-07", "2023-01-01", None, "2024-01-05"],
        ["1.234,5", "7,5", "1", "2", "3,25", "10"],
    ],
    ids=lambda words: str(words[0]),
)
def test_whatever_holds_the_words(monkeypatch, words):
    by_form = {}
    for name, column in forms(words * 4):
        other = dict(forms((words[::-1] * 3)[:-1]))[name]
        table, second = ({"a": of, "b": list(range(len(of)))} for of in (column, other))
        by_form[name] = told(table, second, table, monkeypatch, False, kinds={"b": "number"})
        assert by_form[name] == told(table, second, table, monkeypatch, True, kinds={"b": "number"}), name
    for name, found in by_form.items():
        assert found == by_form["list"], name


@pytest.mark.parametrize("make", [list, pa.array], ids=["list", "arrow"])
@pytest.mark.parametrize(("last", "code"), [(2**53 - 1, False), (2**53 + 1, True)])
def test_whole_numbers_that_are_one_float_are_codes(make, last, code):
    assert plain_numbers(make([str(2**53), str(last)])).code is code
