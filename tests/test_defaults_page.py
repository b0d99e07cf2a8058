"""The page of default values against the signatures."""

import csv
import inspect
import re
from pathlib import Path

import pytest

import pnorm
from pnorm import _default as default
from pnorm._command.options import parser

PAGE = Path(__file__).parents[1] / "doc" / "reference" / "defaults.rst"
FUNCTIONS = [
    "train", "minimize", "minimize_path", "cross_validate", "PNormPush", "kernel.train", "kernel.minimize", "listwise.train",
]  # fmt: skip


def table():
    """Parameter, default and functions of each row."""
    body = re.search(r"csv-table::\n(?:   :.*\n)+\n((?:   .*\n)+)", PAGE.read_text(encoding="utf-8"))[1]
    parameter = ""
    for first, value, functions in csv.reader([line.strip() for line in body.splitlines()], skipinitialspace=True):
        parameter = first.strip("`") or parameter
        yield parameter, value, [name.strip("`") for name in functions.split(", ")]


def defaults(name):
    """The defaults of a function by its name below pnorm."""
    value = pnorm
    for part in name.split("."):
        value = getattr(value, part)
    return {k: x.default for k, x in inspect.signature(value).parameters.items()}


def test_the_table_is_that_of_the_signatures():
    pytest.importorskip("sklearn")
    found, told = {}, list(table())
    for parameter, value, functions in told:
        found |= {(parameter, name): value for name in functions}
    each = {name: defaults("sklearn.PNormPush" if name == "PNormPush" else name) for name in FUNCTIONS}
    listed = {parameter for parameter, *_ in told}
    expected = {
        (key, name): f"``{value!r}``" for name, own in each.items() for key, value in own.items() if key in listed
    }
    assert found == expected
    assert len(listed) == 25


def test_what_the_page_says_of_dask():
    pytest.importorskip("dask")

    for name in ("train", "minimize"):
        here, there = defaults(name), defaults(f"dask.{name}")
        assert "n_threads" not in there
        assert not [key for key in there if key in here and there[key] != here[key]]


def test_what_the_page_says_of_none():
    pytest.importorskip("sklearn")
    from pnorm import _cross_validation, _minimize_path
    from pnorm.sklearn import _estimator as estimator

    assert _cross_validation.POWERS == (1.0, 4.0, 16.0, 64.0)
    assert _cross_validation._T_MAX == estimator._T_MAX == 200
    assert (estimator._P, default.POWERS, default.TOL, default.FOLDS) == (4.0, (1.0, 4.0), 1e-6, 5)
    assert _minimize_path._POINTS == 25
    assert {getattr(parser().parse_args([]), name) for name in ("p", "t")} == {None}
