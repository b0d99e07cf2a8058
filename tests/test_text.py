"""Names from data as a person sees them: in one printable line, short."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pnorm
from pnorm._checks.text import aligned, first, shown

HOSTILE = "a\x1b[2J\r\n\u202e\u2066\u200f\u061c\x9b"


@given(st.text(st.characters()), st.integers(2, 20))
def test_any_text_is_one_printable_line_of_so_many_characters(text, limit):
    line = shown(text, limit)
    assert line.isprintable()
    assert len(line) <= limit
    if text.isprintable() and len(text) <= limit:
        assert line == text


def test_what_is_escaped_and_what_is_not():
    assert shown(HOSTILE) == r"a\x1b[2J\r\n\u202e\u2066\u200f\u061c\x9b"
    assert shown('Größe, 価格 — ‘x’ \\ ""') == 'Größe, 価格 — ‘x’ \\ ""'
    assert shown("\ud800") == r"\ud800"
    assert shown("x" * 60) == "x" * 60
    assert shown("a" + "x" * 59 + "b") == "a" + "x" * 39 + "…" + "x" * 18 + "b"
    assert shown("x" * 10**6 + "y", 5) == "xxx…y"
    assert shown(7.5) == "7.5"
    assert shown(["\n"]) == r"['\n']"
    assert shown(10**5000) == "int of very many digits"
    assert first(["a", "\n", "c"], 2) == r"a, \n, ..."
    assert first(["a", "c"], 2) == "a, c"


def test_cells_are_aligned():
    rows = [("name", "n", "note"), ("a", "1,000", ""), ("longer", "7", "x")]
    assert aligned(rows, (0, 2)) == "name        n  note\na       1,000\nlonger      7  x"


NAMES = [HOSTILE, HOSTILE + "2", "b" * 10**6]


def frame(values, names=NAMES):
    return pd.DataFrame(values, columns=names)


def test_collections_show_their_names_on_one_short_line(tmp_path):
    H = pnorm.rankers.columns(frame([[1.0, 2.0, 3.0]]))
    pnorm.save(tmp_path / "m.json", [1.0, 1.0, 1.0], H)
    read = pnorm.load(tmp_path / "m.json").H
    assert read.names == tuple(NAMES)
    for each in (read, read[0], read[2], read + read, pnorm.rankers.closed(read)):
        assert repr(each).isprintable()
        assert len(repr(each)) < 400


ROWS = [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]]


def wrong():
    columns = pnorm.rankers.columns(frame(ROWS))
    words = pnorm.rankers.categories(frame([list("abc")]), frame([list("abd")]))
    return {
        "columns that are not there": lambda: columns.evaluate(frame(ROWS, ["x", "y", "z"])),
        "too few columns": lambda: columns.evaluate([[1.0]]),
        "names given twice": lambda: columns.evaluate(frame(ROWS, [HOSTILE, HOSTILE, "x"])),
        "another order": lambda: pnorm.train(frame(ROWS), frame(ROWS, NAMES[::-1])),
        "a value that is not finite": lambda: pnorm.train(frame([[np.inf, 1.0, 1.0]]), frame(ROWS)),
        "a value that is missing": lambda: words.evaluate(frame([["a", None, "c"]])),
        "a range beyond the doubles": lambda: pnorm.train(frame([[1e308] * 3]), frame([[-1e308] * 3])),
        "a square beyond the doubles": lambda: pnorm.minimize(frame([[1e160, 1.0, 1.0]]), frame(ROWS)),
        "a column of labels": lambda: pnorm.split(frame(ROWS), "y"),
        "a label that is not there": lambda: pnorm.split(ROWS, [HOSTILE, "b" * 10**6], positive=HOSTILE + "3"),
        "labels of which to choose": lambda: pnorm.split(ROWS, [HOSTILE, "b" * 10**6]),
        "a function of a hostile name": lambda: pnorm.rankers.callables([Named(HOSTILE)]).evaluate(ROWS),
        "names of a wrong number": lambda: pnorm.rankers.columns(2, names=NAMES),
        "a row of text": lambda: pnorm.rankers.categories(["b" * 10**6], [["a"]]),
        "a whole number of 5000 digits": lambda: pnorm.rankers.categories([[10**5000]], [["a"]]),
        "a kind of 5000 digits": lambda: pnorm.rankers.from_dict({**columns.to_dict(), "names": [10**5000] * 3}),
        "a format of 5000 digits": lambda: pnorm.rankers.from_dict({"format": 10**5000}),
    }


class Named:
    def __init__(self, name):
        self.name = name

    def __call__(self, X):
        return np.full(len(X), np.nan)


@pytest.mark.parametrize("kind", wrong())
def test_messages_quote_names_on_one_short_line(kind):
    with pytest.raises((ValueError, TypeError)) as caught:
        wrong()[kind]()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 700
    assert "integer string conversion" not in str(caught.value)


def test_a_trace_names_what_separates_on_one_short_line():
    _, trace = pnorm.train(frame([[1.0, 0.0, 0.0]]), frame([[0.0, 0.0, 0.0]]))
    assert trace.message.startswith(shown(HOSTILE) + " alone puts every positive above every negative")
