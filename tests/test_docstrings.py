"""Docstrings that refer to others, and tables of parameters, name what is there."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import pnorm

ROOT = Path(__file__).parents[1]

AS_IN = re.compile(r"[Aa]s in `([\w.]+)`")


def docstrings():
    """Module, function and docstring of all functions and classes that have parameters described."""
    for path in sorted((ROOT / "pnorm").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node)):
                parts = path.relative_to(ROOT / "pnorm").with_suffix("").parts
                yield ".".join(part for part in parts if part != "__init__"), node.name, text


def parameters():
    """Module, function, names, type and description of all parameters that are described."""
    for module, function, text in docstrings():
        section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", text + "\n", re.MULTILINE | re.DOTALL)
        for head, body in re.findall(r"^(\S.*)\n((?: +.*\n|\n)*)", section[1] if section else "", re.MULTILINE):
            names, _, kind = head.partition(" : ")
            yield module, function, names, kind, " ".join(body.split())


def test_a_parameter_that_is_as_in_another_function_is_one_there():
    every, described = list(parameters()), {}
    for module, function, names, *_ in every:
        described.setdefault(function, {}).setdefault(module, set()).update(names.split(", "))
    count = 0
    for module, function, names, kind, text in every:
        for other in AS_IN.findall(f"{kind} {text}"):
            *path, name = other.split(".")
            own = ".".join(path[1:]) if len(path) > 1 else "" if path else module
            found = described[name]
            private = [of for place, of in found.items() if "._" in f".{place}"]
            under = [of for place, of in found.items() if own and f"{place}.".startswith(f"{own}.")]
            there = found.get(own) or found.get(own.rpartition(".")[0]) or (under or private)[0]
            assert set(names.split(", ")) & there, f"{module}.{function}: {names}, as in {other}"
            count += 1
    assert count > 30


@pytest.mark.parametrize("name", ["train", "minimize", "cross_validate"])
def test_the_table_of_parameters_has_each_of_them_once(name):
    function = getattr(pnorm, name)
    table = re.search(r"^part .*?\n=[= ]+\n(.*?)\n=[= ]+\n", inspect.getdoc(function), re.MULTILINE | re.DOTALL)[1]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(inspect.signature(function).parameters)
