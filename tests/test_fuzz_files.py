"""Damaged, odd and hostile files: each is refused in one sentence, or read as its plain text says."""

import csv
import decimal
import fractions
import functools
import gzip
import io
import itertools
import json
import math
import os
import re
import stat
import subprocess
import sys
import time
import unicodedata
from collections import Counter

import numpy as np
import pytest
from facts import raises
from memory import peak
from repeats import TRIALS, some
from test_collections import many

import pnorm
from pnorm._command.main import main
from pnorm._tables import TableError, delimited, open_source, positive_labels
from pnorm._tables.source import Fields

# Models

KINDS = ("named columns", "normalized", "missing", "missing categories", "closed union")
BYTE_BY_BYTE = ["normalized", "missing categories"]


def saved(path, kind):
    """The bytes of a model of a kind, and rows for it."""
    H, rows = many()[kind]
    found = pnorm.cutoff(np.arange(30.0), np.arange(-30.0, 5.0), precision=0.7) if kind == "normalized" else None
    pnorm.save(path, np.linspace(0.5, 1.0, len(H)), H, p=2, metadata={"a": [1, None]}, cutoff=found)
    return path.read_bytes(), rows


def loaded(path, tried):
    """The model, or None where it is refused in a sentence that names the file."""
    try:
        model = pnorm.load(path)
    except ValueError as error:
        model, message = None, str(error)
    tried["model file", "refused" if model is None else "read"] += 1
    assert model or (message.startswith(f"{path} is no model") and len(message) < 400)
    return model


def outcome(path, data, rows, tried):
    """Refused, or read: every field as Python's own reader of JSON has it."""
    path.write_bytes(data)
    model = loaded(path, tried)
    if model is None:
        return
    said = {"format": "pnorm.model", "version": 1, "pnorm": model.version, "p": model.p, "metadata": model.metadata,
            "lam": model.lam.tolist(), "H": model.H.to_dict()}  # fmt: skip
    if model.cutoff is not None:
        said["cutoff"] = model.cutoff.to_dict()

    def spelled(text):  # 1 is 1.0, but not true
        return json.dumps(json.loads(text, parse_int=lambda digits: float(digits) + 0.0), sort_keys=True)

    assert spelled(json.dumps(said)) == spelled(data)
    try:
        f = model.score(rows)
    except (ValueError, TypeError, OverflowError):  # of other columns, or too large
        return
    assert f.shape == (len(rows),)
    assert np.isfinite(f).all()


@pytest.mark.parametrize("kind", BYTE_BY_BYTE)
def test_a_model_cut_anywhere_is_refused(tmp_path, tried, kind):
    whole, rows = saved(tmp_path / "m.json", kind)
    for end in range(len(whole) - 2):
        outcome(tmp_path / "m.json", whole[:end], rows, tried)
    assert tried == {("model file", "refused"): len(whole) - 2}


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", BYTE_BY_BYTE)
def test_one_bit_of_a_model_flipped(tmp_path, tried, kind):
    whole, rows = saved(tmp_path / "m.json", kind)
    bits = np.random.default_rng(0).integers(0, 8, len(whole))
    for at, bit in enumerate(bits):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(bit)
        outcome(tmp_path / "m.json", bytes(damaged), rows, tried)


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_a_model_lost_doubled_and_swapped(tmp_path, tried, kind):
    whole, rows = saved(tmp_path / "m.json", kind)
    lines = whole.splitlines(keepends=True)
    for i in range(len(lines)):
        outcome(tmp_path / "m.json", b"".join([*lines[:i], *lines[i + 1 :]]), rows, tried)
        outcome(tmp_path / "m.json", b"".join([*lines[: i + 1], *lines[i:]]), rows, tried)
        for j in range(i):
            swapped = list(lines)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            outcome(tmp_path / "m.json", b"".join(swapped), rows, tried)
    assert tried["model file", "read"] > 0  # the order of the fields is free


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_in_other_encodings(tmp_path, tried, kind):
    whole, rows = saved(tmp_path / "m.json", kind)
    text = whole.decode()
    for same in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\t" + text + " \n"):
        outcome(tmp_path / "m.json", same.encode(), rows, tried)
    assert tried == {("model file", "read"): 3}
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp037"):
        outcome(tmp_path / "m.json", text.encode(encoding), rows, tried)
    assert tried["model file", "refused"] == 5


ANYTHING = [
    "null", "true", "false", "0", "-0", "-0.0", "-1", "2", "1.0", "0.5", "1e308", "-1.7e308", "1e-320", "1e400", "-1e999",
    "1" + "0" * 20, "9" * 309, "1" + "0" * 5000, "NaN", "-Infinity", '""', '"1"', '"columns"', '"\\ud800"', "[]", "{}",
    "[null]", "[0]", '{"a":1}', "[[0,1.0]]", "[" * 70 + "]" * 70, "[" * 10_000 + "]" * 10_000, '{"kind":"union"}',
]  # fmt: skip


class Raw:
    """JSON that stands in a tree as it is."""

    def __init__(self, text):
        self.text = text


def dumped(x):
    if isinstance(x, Raw):
        return x.text
    if isinstance(x, dict):
        return (
            "{"
            + ",".join(f"{key.text if isinstance(key, Raw) else json.dumps(key)}:{dumped(x[key])}" for key in x)
            + "}"
        )
    return "[" + ",".join(map(dumped, x)) + "]" if isinstance(x, list) else json.dumps(x)


def places(x, at=()):
    """The way to every node of a tree but the root; of a list, to its ends alone."""
    if at:
        yield at
    for key in x if isinstance(x, dict) else {0, len(x) - 1} if isinstance(x, list) and x else ():
        yield from places(x[key], (*at, key))


def changed(x, at, change):
    """A copy of a tree in which a node's parent is changed: change(parent, key)."""
    copy = x.copy()
    if len(at) == 1:
        change(copy, at[0])
    else:
        copy[at[0]] = changed(x[at[0]], at[1:], change)
    return copy


def doubled(parent, key):
    if isinstance(parent, list):
        parent.insert(key, parent[key])
    else:
        parent[Raw(json.dumps(key))] = parent[key]


def renamed(parent, key):
    if isinstance(parent, dict):
        parent["x"] = parent.pop(key)


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_anything_in_the_place_of_anything_in_a_model(tmp_path, tried, kind):
    path = tmp_path / "m.json"
    whole, rows = saved(path, kind)
    tree = json.loads(whole)
    for at in places(tree):
        for text in ANYTHING:
            put = changed(tree, at, lambda parent, key, text=text: parent.__setitem__(key, Raw(text)))
            outcome(path, dumped(put).encode(), rows, tried)
        for change in (lambda parent, key: parent.pop(key), doubled, renamed):
            outcome(path, dumped(changed(tree, at, change)).encode(), rows, tried)
    for text in ANYTHING:
        outcome(path, text.encode(), rows, tried)


BOMBS = {
    "numbers": "[" + "0," * 24_000 + "0]",
    "lists": "[" + "[]," * 40_000 + "[]]",
    "dictionaries of one": "[" + '{"":0},' * 20_000 + "0]",
    "dictionaries in each other": "[" + ('{"":' * 40 + "0" + "}" * 40 + ",") * 500 + "0]",
    "lists in each other": "[" + ("[" * 40 + "]" * 40 + ",") * 1_250 + "0]",
    "strings": "[" + '"ab",' * 25_000 + '""]',
    "one string": '"' + "x" * 200_000 + '"',
    "fields": "{" + ",".join(f'"{i}":{i}' for i in range(4_000)) + "}",
    "a field that appears twice": "{" + ",".join(f'"{i}":0' for i in range(20_000)) + ',"19999":0}',
    "digits": "0." + "1" * 200_000,
    "nested": "[" * 100_000 + "]" * 100_000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_memory_that_a_file_takes_to_load(tmp_path, tried, bomb):
    path = tmp_path / "m.json"
    for kind, *fields in (("missing", ("lam",), ("H", "cuts"), ("metadata", "a")), ("categories", ("H", "levels"))):
        tree = json.loads(saved(path, kind)[0])
        for at in fields:
            text = dumped(changed(tree, at, lambda parent, key: parent.__setitem__(key, Raw(BOMBS[bomb]))))
            path.write_text(text)
            assert peak(lambda: loaded(path, tried)) < 50 * len(text)


def test_a_file_of_brackets_is_refused_and_one_of_names_with_brackets_is_not(tmp_path):
    path = tmp_path / "m.json"
    with raises(ValueError, r"has 9006 lists and dictionaries in \d+ characters"):
        pnorm.save(path, [1.0], metadata={"a": [[]] * 9_000})
    assert not path.exists()
    names = [f"weight[{j}]" for j in range(2_000)]
    pnorm.save(path, np.ones(2_000), pnorm.rankers.columns(2_000, names=names), metadata={"a": [[]] * 900})
    assert list(pnorm.load(path).H.names) == names


def test_brackets_in_strings_are_text(tmp_path):
    path = tmp_path / "m.json"
    about = {"log": "[" * 20_000, '"[' * 5_000: '\\"[{\\' * 5_000}
    pnorm.save(path, [1.0], metadata=about)
    assert pnorm.load(path).metadata == about
    path.write_text(path.read_text().replace('"p": null', '"p": [' + "[]," * 99_999 + "[]]"))
    with raises(ValueError, r"has 100006 lists and dictionaries in \d+ characters"):
        pnorm.load(path)


@pytest.mark.parametrize("end", ["", "\\", '"', '"['])
def test_a_long_string_is_looked_at_once(tmp_path, end):
    began, path = time.process_time(), tmp_path / "m.json"
    path.write_text('"' + '\\"' * 200_000 + end)
    with pytest.raises(ValueError, match="is no model"):
        pnorm.load(path)
    assert time.process_time() - began < 15.0  # seconds; it is a hundredth, and minutes if looked at from every quote


SAME_HASH = [k * (2**61 - 1) for k in range(60_000)]
"""Numbers all of which have the hash 0: a dictionary of them takes time that grows as the square of their number."""


@pytest.mark.parametrize("what", ["rows", "groups"])
def test_numbers_of_one_hash_take_no_longer_than_others(tmp_path, what):
    began, column = time.process_time(), [[value] for value in SAME_HASH]
    if what == "a file":
        made = pnorm.rankers.categories([[0]], [[1]]).to_dict()
        fields = {**made, "levels": [SAME_HASH], "names": list(map(str, SAME_HASH))}
        pnorm.save(tmp_path / "m.json", np.arange(60_000.0), pnorm.rankers.from_dict(fields))
        assert (pnorm.load(tmp_path / "m.json").score(column) == np.arange(60_000.0)).all()
    elif what == "rows":
        H = pnorm.rankers.categories(column[::2], column[1::2])
        assert H.names[-1] == f"x0 = {SAME_HASH[-1]}"
    elif what == "labels":
        pos, neg = pnorm.split(column, SAME_HASH, positive=SAME_HASH[7])
        assert (len(pos), len(neg)) == (1, 59_999)
        with raises(ValueError, "say which label of y is positive"):
            pnorm.split(column, SAME_HASH)
    elif what.endswith("decimals"):
        factor = 1 if what == "decimals" else decimal.Decimal(2**61 - 1).scaleb(5000)
        decimals = [factor * decimal.Decimal(value) for value in (SAME_HASH if factor == 1 else range(60_000))]
        assert {hash(value) for value in decimals} == {0}
        pos, _ = pnorm.split(column, decimals, positive=decimals[7])
        assert len(pos) == 1
        if what == "decimals":
            H = pnorm.rankers.categories([[0.0]], [[float(SAME_HASH[7])]])
            with pytest.warns(pnorm.rankers.UnknownLevelWarning):
                f = pnorm.score([[value] for value in decimals], H, [1.0, 2.0])
            assert f[0] == 1.0
    else:
        one, of = np.ones((60_000, 1)), SAME_HASH
        lam, _ = pnorm.train(one, 0.0 * one, t_max=1, pos_group=of, neg_group=of)
        assert lam > 0.0
    assert time.process_time() - began < 15.0  # seconds; it is less than one, and was at least 15 on any machine


def test_too_many_levels_are_refused_before_they_are_looked_at():
    made = pnorm.rankers.categories([[0]], [[1]]).to_dict()
    with raises(ValueError, "a column has 65536 levels; there can be 65535 at most"):
        pnorm.rankers.from_dict({**made, "levels": [[object()] * 2**16]})


def test_labels_that_are_equal_are_one_label_whatever_their_types():
    D, F = decimal.Decimal, fractions.Fraction
    ones = [1, 1.0, D(1), D("1.000"), F(1), True, np.True_, np.int8(1), np.float32(1), np.longdouble(1)]
    more = [[0.1, D(0.1), F(0.1), np.float64(0.1)], [D("0.1"), D("0.10"), F(1, 10)], [D("1e2000"), D("10e1999")], [F(1, 3)],
            [0, -0.0, D("0e9999"), D("-0")], [10**400, D("1e400")], [2**53 + 1, D(2**53 + 1)], ["1"], ["1/1"]]  # fmt: skip
    alike = [*more, ones]
    labels = [label for same in alike for label in same]
    for j, same in enumerate(alike):
        for label in same:
            expected = [[k] for k, others in enumerate(alike) for _ in others]
            pos, neg = pnorm.split(expected, labels, positive=same[0])
            assert pos == [[j]] * len(same), label
            assert len(neg) == len(labels) - len(same)
    x, y = [[1.0], [2.0], [3.0], [2.5]], [[0.0], [1.5], [1.0], [0.5], [2.2]]
    expected, _ = pnorm.train(x, y, pos_group=[1, 2, 2, 1], neg_group=[1, 2, 2, 1, 1], t_max=5)
    for one, two in ((D(1), D(2)), (F(1), 2.0), (np.longdouble(1), np.uint8(2))):
        lam, _ = pnorm.train(x, y, pos_group=[one, two, 2, 1], neg_group=[1, 2, 2, 1, 1], t_max=5)
        np.testing.assert_array_equal(lam, expected)


def test_levels_and_labels_are_equal_as_numbers_are():
    levels = [0.5, 2**53 + 1, 1e300, -1, 0, 1, "1", "1/1", None]
    H = pnorm.rankers.from_dict(
        {**pnorm.rankers.categories([["a"]], [["b"]], missing="own").to_dict(), "levels": [levels], "names": ["a"] * 9}
    )
    alike = [[np.float32(0.5), 0.5], [2**53 + 1], [1e300, int(1e300)], [-1, -1.0, np.int8(-1)], [0, -0.0, False, np.False_],
             [1, 1.0, True, np.True_, np.uint64(1)], ["1", np.str_("1")], ["1/1"], [None, np.nan]]  # fmt: skip
    for j, values in enumerate(alike):
        expected = np.zeros((len(values), 9))
        expected[:, j] = 1.0
        np.testing.assert_array_equal(H.evaluate([[value] for value in values]), expected)
    with pytest.warns(pnorm.rankers.UnknownLevelWarning, match="3 of 3 values"):
        assert not H.evaluate([[float(2**53)], [0.25], [2**53 + 2]]).any()
    for twice in ([1, True], [1.0, 1], [0, -0.0], [1e300, int(1e300)], ["a", "a"], [None, None]):
        with raises(ValueError, "different levels in every column"):
            pnorm.rankers.from_dict({**H.to_dict(), "levels": [twice], "names": ["a", "b"]})
    pos, neg = pnorm.split([[0.0], [1.0], [2.0], [3.0]], [1, 1.0, 0, False])
    assert (len(pos), len(neg)) == (2, 2)


# Collections as dictionaries


def endless():
    loop = []
    loop.append(loop)
    return loop


def deep(kind):
    nested = whole = pnorm.rankers.columns(1).to_dict()
    for _ in range(100_000):
        nested = {**whole, "kind": kind, "of": nested, "parts": [nested]}
    return nested


THINGS = [np.nan, np.inf, -np.inf, 10**5000, -(10**5000), 1j, b"x", object(), object, {1, 2}, range(3), np.float64("nan"),
          np.True_, np.zeros(2), np.zeros((2, 2)), np.array(["a"]), {1: 2}, {None: None}, endless(), deep("closed"),
          deep("union"), (1, 2), [np.nan], [10**5000], np.str_("columns"), np.int64(2), "\ud800", "\x00"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_anything_in_the_place_of_anything_in_a_dictionary(tried, kind):
    tree = many()[kind][0].to_dict()
    for at in places(tree):
        for thing in THINGS:
            put = changed(tree, at, lambda parent, key, thing=thing: parent.__setitem__(key, thing))
            try:
                H = pnorm.rankers.from_dict(put)
            except (ValueError, TypeError):
                tried["dictionary of weak rankers", "refused"] += 1
                continue
            tried["dictionary of weak rankers", "read"] += 1
            again = H.to_dict()
            assert json.dumps(
                pnorm.rankers.from_dict(json.loads(json.dumps(again, allow_nan=False))).to_dict()
            ) == json.dumps(again)
    for thing in THINGS:
        with pytest.raises((ValueError, TypeError)):
            pnorm.rankers.from_dict(thing)


# Tables

TABLE = b'visits,"age, years",bought\r\n3,41.5,0\n-1,"2e1",1\n+.5,7,1\n\n12,"1.0E-1",0\n5,6,yes\n'
WIDE = re.compile("[\uff05\uff0b-\uff0e\uff10-\uff19]+")
FIELDS = ["", " ", "0", "-0", " 5 ", "5;", "1_000", "١٢", "１２", "0x10", "1e999", "-1e400", "1e308", "5e-324", "nan", "NaN",
          "inf", "-Infinity", "1,5", "1e", "e1", ".", "+", "--1", "1.2.3", "True", "½", "1d3", "0b1", "1 0", "9" * 400, "0." + "1" * 999,
          '"', '""', '"""', '"1"', '"1', '1"', '"1"2', "\t1", "a\tb", "|", "\ufeff1", "\u00a01", "\u2028", "\x0b1", "\x1c", "\x85", "#", "=1+1", "1\n", "\r"]  # fmt: skip


MISSING = {"", "?", "na", "n/a", "nan", "null", "none", "-"}


def decoded(data):
    """The text of a file by its mark, in UTF-8, or else in cp1252; None if it is none of these."""
    for mark, encoding in ((b"\xff\xfe\0\0", "utf-32"), (b"\xff\xfe", "utf-16"), (b"", "utf-8-sig"), (b"", "cp1252")):
        if data.startswith(mark):
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            return None if encoding == "cp1252" and re.search("[\0-\x08\x0e-\x1f]", text) else text
    return None


def plain(text, label, positive):
    """The rows, and which are positive, that a text of commas means; None where it means no table.

    Fields may stand in quotes, doubled within; lines end as they do anywhere; blank lines are none.
    """
    if "\0" in text:
        return None
    head = re.search(r"[^\r\n]+", text)
    d = max(",;\t|", key=(head[0] if head else "").count)
    field = re.compile(rf'(?:"((?:[^"]|"")*)"|((?!")[^\r\n{re.escape(d)}]*))({re.escape(d)}|\r\n|\r|\n|\Z)')
    rows, at, row, end = [], 0, [], ""
    while at < len(text) or end == d:
        found = field.match(text, at)
        if not found:
            return None
        quoted, bare, end = found.groups()
        at = found.end()
        row.append(bare if quoted is None else quoted.replace('""', '"'))
        if end != d:
            row = [unicodedata.normalize("NFKC", cell) if WIDE.fullmatch(cell) else cell for cell in row]
            rows += [] if not any(map(str.strip, row)) else [[cell.strip() for cell in row]]
            row = []
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return None
    names, *rows = rows
    rows = [row for row in rows if row != names]  # the header once more
    if not rows:
        return None
    names[0] = names[0] or "index"
    if len(names) < 2 or len(set(names)) < len(names) or "" in names or label not in names:
        return None

    def number(text):
        if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) or not np.isfinite(float(text)):
            return None
        return float(text)

    def word(text):
        return text.lower() if number(text) is None else number(text)

    own = names.index(label)
    X = [[number(x) for c, x in enumerate(row) if c != own] for row in rows]
    labels = [row[own] for row in rows]
    y = np.array([word(x) == word(positive) for x in labels])
    if (
        any(None in row for row in X)
        or MISSING & {x.lower() for x in labels}
        or len(set(map(word, labels))) < 2
        or not y.any()
    ):
        return None
    if all(number(name) is not None for name in names):
        return None
    return np.array(X), y


def table_outcome(path, data, tried, label="bought", positive="1"):
    """Refused in a message that names the file or a column, or read as its plain text is."""
    path.write_bytes(data)
    text = decoded(data)
    means, told = None if text is None else plain(text, label, positive), None
    try:
        source = open_source(str(path))
        names = [name for name in source.names or () if name != label]
        if label not in (source.names or ()) or not names or not len(source):
            raise ValueError(f"{path} has no rows with a label")
        X = np.column_stack([source.numbers(name) for name in names])
        labels, y = source.texts(label), np.zeros(len(source), bool)
        if not set(map(str.lower, labels)) & MISSING:
            of = positive_labels(Counter(labels), label, [positive], "", "--positive")
            y = np.array([text in of for text in labels])
    except (TableError, ValueError) as error:
        told = str(error)
    if told is not None:
        assert means is None, data
        assert any(word in told for word in (str(path), "column ", "--positive"))
        tried["table", "refused"] += 1
        return
    assert means is not None or not y.any(), data
    if means is not None:
        np.testing.assert_array_equal(X, means[0])
        np.testing.assert_array_equal(y, means[1])
        tried["table", "read"] += 1


def test_a_table_cut_anywhere(capsys, tmp_path, tried):
    for end in range(len(TABLE) + 1):
        table_outcome(tmp_path / "t.csv", TABLE[:end], tried)


def test_bits_of_a_table_flipped(capsys, tmp_path, tried):
    for at, bit in some(itertools.product(range(len(TABLE)), range(8)), 14):
        damaged = bytearray(TABLE)
        damaged[at] ^= 1 << bit
        table_outcome(tmp_path / "t.csv", bytes(damaged), tried)


def test_fields_and_lines_of_a_table_of_all_kinds(capsys, tmp_path, tried):
    path = tmp_path / "t.csv"
    lines = TABLE.decode().splitlines(keepends=True)
    for at in some(range(len(lines)), 2):
        start = "".join(lines[:at])
        for other in [*FIELDS, "x,y", ",,", "1,2", "1,2,3,4", "\n\n", lines[at] * 2, lines[0], "", *lines[at + 1 :]]:
            table_outcome(path, (start + other + "\n" + "".join(lines[at + 1 :])).encode(), tried)
        for field in some(FIELDS, 6):
            for c in range(lines[at].count(",")):
                cells = lines[at].split(",")
                cells[c] = field
                table_outcome(path, (start + ",".join(cells) + "".join(lines[at + 1 :])).encode(), tried)


def test_whole_tables_that_are_odd(capsys, tmp_path, tried):
    text = TABLE.decode()
    wide = ",".join(f"c{j}" for j in range(2_000)) + ",bought\n" + "".join("1," * 2_000 + f"{i}\n" for i in (0, 1))
    for same in (text.replace("\r", ""), text.replace("\r\n", "\r").replace("\n", "\r"), "\n\r\n" + text, text + "\n\n", "\ufeff" + text,
                 text.replace(",", ";").replace("; ", ", "), text.replace(",", "\t"), text.replace(",", "|"), text.strip(), wide):  # fmt: skip
        table_outcome(tmp_path / "t.csv", same.encode(), tried)
    assert tried == {("table", "read"): 10}
    for other in ("", "\n" * 9, text.partition("\n")[0], text * 2, '"' + text, text.replace("1", "x" * 10**6),
                  text.replace("years", "y" * 10**6 + '"'), "\0" * 99, "a" * 10**6, "," * 10**6):  # fmt: skip
        table_outcome(tmp_path / "t.csv", other.encode(), tried)
    for encoding in ("utf-16", "utf-16-le", "utf-32", "cp037"):
        table_outcome(tmp_path / "t.csv", text.encode(encoding), tried)
    table_outcome(tmp_path / "t.csv", text.replace("visits", "fährt").encode("latin-1"), tried)
    assert (tried["table", "refused"], tried["table", "read"]) == (11, 14)


def test_a_hundred_thousand_columns_are_ranked_by_a_model(capsys, tmp_path):
    names = [f"c{j}" for j in range(100_000)]
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + "1," * 99_999 + "2\n" + "1," * 99_999 + "3\n")
    pnorm.save(
        tmp_path / "m.json",
        [2.0],
        pnorm.rankers.from_dict({**pnorm.rankers.columns(1).to_dict(), "columns": names[-1:]}),
    )
    assert main([str(tmp_path / "t.csv"), "--model", str(tmp_path / "m.json")]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["2", "0", "4.0000"] in [row[:3] for row in rows]


@pytest.mark.parametrize("field", FIELDS)
def test_a_model_reads_the_numbers_that_training_does(capsys, tmp_path, tried, field):
    path, model, out = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "scores.csv"
    with open(path, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["x", "y"], [field, "0"], ["3", "1"]])
    H = pnorm.rankers.from_dict({**pnorm.rankers.columns(1).to_dict(), "columns": ["x"]})
    pnorm.save(model, [1.0], H)
    means = plain(path.read_bytes().decode(), "y", "1")
    status = main([str(path), "--model", str(model), "--ignore", "y", "--out", str(out)])
    captured = capsys.readouterr()
    tried["table", "refused" if means is None else "read"] += 1
    assert (status, captured.err.count("\n")) == ((2, 1) if means is None else (0, 0))
    if means is not None:
        with open(out, encoding="utf-8", newline="") as stream:
            found = {row["row"]: row["score"] for row in csv.DictReader(stream)}
        assert float(found["0"]) == means[0][0, 0]


def read_as(monkeypatch, data, large):
    """Return all that a reader makes of a CSV file, and whether it was pyarrow."""
    monkeypatch.setattr(delimited, "_LARGE", large)
    try:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        source = open_source("-")
    except TableError as error:
        return str(error), False
    found = [source.names, len(source), [source.place(i) for i in range(len(source))]]
    for name in source.names:
        field = Fields(source.column(name))
        found += [
            source.texts(name),
            [text.strip() for text in field.tolist()],
            np.asarray(field).tolist(),
            np.asarray(field).dtype,
        ]
        try:
            found.append(source.numbers(name).tolist())
        except TableError as error:
            found.append(str(error))
    return repr(found), hasattr(source.column(source.names[0]), "chunks")


def odd_tables():
    """Tables of quotes, lines and fields that are odd, and sound ones."""
    for text in (
        TABLE,
        TABLE.replace(b"\r", b"").replace(b"\n\n", b"\n"),
        TABLE.replace(b"\n\n", b"\n").replace(b"\n", b"\r\n"),
    ):
        yield from [text[:end] for end in range(0, len(text), 9)]
        yield from [text + end for end in (b"", b"\n\r\n", b"\n\n", b" \n", b"\r", b"\0", b"\xff")]
        yield from [
            start + text
            for start in (b"\n", b"\r\n\n", b" \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\xef\xbb\xbf\xef\xbb\xbf")
        ]
        yield from [text.replace(b",", other) for other in (b";", b"\t", b"|", b", ", b" ,", b",,")]
    lines = ["a,b,label", "1,2.5,yes", "-3e5,.5,no", "true,1,", "7.,false,N/A"]
    for field in [*FIELDS, *[f'"{field}"' for field in FIELDS]]:
        for at in (0, 1, 3):
            for c in (0, 2):
                cells = lines[at].split(",")
                cells[c] = field
                yield "\n".join([*lines[:at], ",".join(cells), *lines[at + 1 :]]).encode()
    yield from [f"x\n{field}\n{field}".encode() for field in FIELDS]
    rng = np.random.default_rng(0)
    pieces = np.array(
        [",", ",", ",", "\n", "\n", "\r\n", "\r", '"', '"', '""', " ", "1", "2.5", "a", "ä", "true", "\ufeff", ""]
    )
    yield from [("a,b\n" + "".join(rng.choice(pieces, 8))).encode() for _ in range(100 * TRIALS)]
    yield from [bytes(rng.permutation(np.frombuffer(b'x,y\n1,2\n"3",4\n', np.uint8))) for _ in range(60 * TRIALS)]


def test_pyarrow_reads_tables_as_python_does(monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(delimited, "_WIDE", 0)
    n_by_arrow = 0
    for data in odd_tables():
        found, by_arrow = read_as(monkeypatch, data, 0)
        assert found == read_as(monkeypatch, data, math.inf)[0], data
        n_by_arrow += by_arrow
    assert n_by_arrow > 200
    for d in ",;\t|":
        text = f'\n"a b"{d}label\n"1"{d}"x"\n3{d}\n\n'
        for end in ("\n", "\r\n"):
            assert read_as(monkeypatch, text.replace("\n", end).encode(), 0)[1]


SHORT = {
    "digits": "x,y\n" + "1,0\n" * 15_000,
    "numbers": "a,b,c,y\n" + "12,34,5.5,0\n" * 5_000,
    "too few fields": "x,y\n" + "1\n" * 25_000,
    "too many fields": "x,y\n" + "," * 100_000,
    "columns": ",".join(f"c{j}" for j in range(5_000)) + "\n" + ",".join("1" * 5_000),
    "blank lines": "x,y\n" + "\n" * 100_000,
    "one field": "x,y\n" + "x" * 100_000,
    "quotes": 'x,y\n"' + '""' * 50_000,
}


@pytest.mark.parametrize("kind", SHORT)
def test_memory_that_a_table_takes_to_read(capsys, tmp_path, tried, kind):
    path = tmp_path / "t.csv"
    path.write_text(SHORT[kind])
    statuses = []
    taken = peak(lambda: statuses.append(main([str(path), "--label", "y"])))
    assert statuses == [2]  # after reading, as one kind of rows is there
    assert capsys.readouterr().err.count("\n") == 1
    tried["table", "refused"] += 1
    assert taken < 75 * len(SHORT[kind])


@pytest.mark.parametrize("digits", [6, 0])
def test_memory_that_pyarrow_takes_to_read_a_table(tmp_path, digits):
    pa = pytest.importorskip("pyarrow")
    X = np.random.default_rng(0).normal(size=(40_000, 16)).round(digits)
    rows = [*[",".join([f"{x:.{digits}f}" for x in row]) + f",{i % 2}" for i, row in enumerate(X.tolist())], ""]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join(f"c{j}" for j in range(16)) + ",y", *rows]))

    def read():
        source = open_source(str(path))
        labels, X = source.texts("y"), np.empty((40_000, 16))
        for j in range(16):
            X[:, j] = source.numbers(f"c{j}")
        return X, labels

    read()  # whatever it imports
    found, before, pool = [], pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    try:
        taken = peak(lambda: found.append(read()))
    finally:
        pa.set_memory_pool(before)
    np.testing.assert_array_equal(found[0][0], X)
    size = path.stat().st_size
    assert size > delimited._LARGE
    assert size < taken + pool.max_memory() < X.nbytes + 8 * len(X) + 3.5 * size


def test_a_table_comes_from_a_pipe_and_scores_go_to_one(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names")
    sent, received = tmp_path / "rows", tmp_path / "scores"
    os.mkfifo(sent)
    os.mkfifo(received)
    text = "x,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(5_000))
    command = [
        sys.executable,
        "-P",
        "-m",
        "pnorm",
        sent,
        "--label",
        "y",
        "-t",
        "1",
        "--out",
        received,
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        sent.write_text(text)
        scores = received.read_text().splitlines()
        assert process.wait() == 0
    assert len(scores) == 5_001
    assert stat.S_ISFIFO(received.stat().st_mode)


def test_scores_on_the_standard_output_come_between_what_is_printed(tmp_path):
    if not os.path.exists("/dev/stdout"):
        pytest.skip("no such name")
    rows, out = tmp_path / "rows.csv", tmp_path / "out"
    rows.write_text("x,y\n1,1\n0,0\n2,0\n")
    with open(out, "wb") as stream:
        command = [sys.executable, "-P", "-m", "pnorm", rows, "--label", "y", "-t", "1", "--out", "/dev/stdout"]
        assert subprocess.run(command, stdout=stream, check=False).returncode == 0
    text = out.read_text()
    assert text.count("row,score,probability,rank,y,reasons\n") == 1
    assert text.index("\nModel\n") < text.index("row,score") < text.index("best first: /dev/stdout")


def test_a_set_that_unpacks_to_more_than_it_should(tmp_path):
    (tmp_path / "a9a.libsvm.gz").write_bytes(gzip.compress(bytes(2**27), 1))

    def read():
        with raises(ValueError, "another version of the data"):
            pnorm.datasets.a9a(tmp_path)

    assert peak(read) < 2**26


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_what_pandas_says_in_a_file_of_arrow_damaged(capsys, tmp_path, tried, kind):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    path = tmp_path / f"t.{kind}"
    table = arrow.Table.from_pandas(pandas.DataFrame({"x": [4.0, 1.0, 3.0], "y": [1, 0, 1]}, index=[5, 7, 9]))
    for about in (
        "",
        "[",
        "null",
        "7",
        "[]",
        "{}",
        '{"index_columns": null}',
        '{"index_columns": [[1], {}, 2]}',
        '{"index_columns": 7}',
        "\xff",
        "[" * 9999,
    ):
        here = table.replace_schema_metadata({b"pandas": about.encode("latin-1")})
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(here, path)
        else:
            pytest.importorskip("pyarrow.feather").write_feather(here, path)
        whole = path.read_bytes()
        for data in (whole, whole[:-9], whole[: len(whole) // 2], whole[9:]):
            path.write_bytes(data)
            status, err = main([str(path), "--label", "y", "-t", "1"]), capsys.readouterr().err
            assert (status, err.count("\n")) in ((0, 0), (2, 1))
            assert status == 0 or err.startswith(f"pnorm: error: {path} is no ")
            tried[kind, "refused" if status else "read"] += 1
    assert tried[kind, "read"] >= 5


@pytest.mark.parametrize("option", ["-p", "-t", "--top", "--seed", "--label", "--positive", "--ignore", "--out", "--save", "--model",
                                    "--no-such", ""])  # fmt: skip
def test_options_of_all_kinds(capsys, tmp_path, monkeypatch, tried, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(TABLE)
    values = [
        "",
        " ",
        "-1",
        "0",
        "1e400",
        "nan",
        "inf",
        "-inf",
        "1_0",
        "0x10",
        "1" * 99,
        "1" * 5000,
        "\0",
        "\ud800",
        "a\nb",
        "/",
        ".",
        "t.csv",
        "t.csv/x",
        "١",
        "bought",
        "-",
        "--",
        "x" * 5000,
    ]
    for value in some(values, 3):
        words = ["t.csv", "--label", "bought", "--positive", "1", "-t", "1", *[option] * bool(option), value]
        try:
            status = main(words)
        except SystemExit as exit_:  # of argparse, which shows the usage first
            status = exit_.code
        captured = capsys.readouterr()
        assert status in (0, 2)
        assert "Traceback" not in captured.err
        assert status == 0 or "error: " in captured.err
        assert (tmp_path / "t.csv").read_bytes() == TABLE
        tried["option", "refused" if status else "taken"] += 1


def test_a_model_with_anything_in_the_place_of_its_metadata_ranks_or_is_refused_in_one_line(capsys, tmp_path):
    """Each field of the metadata, which `load` leaves to those who read them, has a value of another type."""
    rng, path, model = np.random.default_rng(0), tmp_path / "t.csv", tmp_path / "m.json"
    rows = [
        f"{x:.3f},{'pqr'[k % 3]},{'yes' if x + y > 1 else 'no'}\n" for k, (x, y) in enumerate(rng.normal(size=(60, 2)))
    ]
    path.write_text("x,c,y\n" + "".join(rows))
    assert main([str(path), "--label", "y", "-t", "2", "--budget", "5", "--save", str(model)]) == 0
    tree = json.loads(model.read_text())
    fields = {tuple([key for key in at if isinstance(key, str)]): at for at in places(tree) if at[0] == "metadata"}
    wrong = ["null", "[]", '"x"', "-1.5", '{"a":1}', "1" + "0" * 300, "[[]]"]
    for k, at in enumerate(fields.values()):
        was, text = functools.reduce(lambda parent, key: parent[key], at, tree), wrong[k % len(wrong)]
        model.write_text(dumped(changed(tree, at, lambda parent, key, text=text: parent.__setitem__(key, Raw(text)))))
        capsys.readouterr()
        status = main([str(path), "--model", str(model), "--top", "0"])
        err = capsys.readouterr().err
        assert (status, err.count("\n")) in ((0, 0), (2, 1)), (at, text)
        assert status == 0 or str(model) in err
        alike = {type(was), type(json.loads(text))} <= {int, float} or type(was) is type(json.loads(text))
        assert status == 2 or "profile" not in at or alike, (at, text)
