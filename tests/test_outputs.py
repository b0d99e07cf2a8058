"""The prints and tables that the documentation includes: each has a page and a maker."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

if not (ROOT / "doc").is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)


def stored():
    return {path.name for path in (ROOT / "doc" / "_outputs").iterdir()}


def test_every_stored_output_has_a_command_that_makes_it(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "doc")
    outputs = importlib.import_module("outputs")
    assert stored() == set(outputs.PRINTS | outputs.TABLES)
    assert not set(outputs.TABLES) & set(outputs.PRINTS)
    for command in (outputs.PRINTS | outputs.TABLES).values():
        script, *arguments = command.removeprefix("-m pnorm").split()
        script = "pnorm/_command/options.py" if command.startswith("-m") else script
        text = (ROOT / script).read_text(encoding="utf-8")
        for argument in arguments:
            if argument.startswith("--"):
                assert f'"{argument}"' in text, command


def test_every_stored_output_is_on_a_page():
    pages = [path for path in (ROOT / "doc").rglob("*.rst") if "_build" not in path.parts]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    assert stored() == set(re.findall(r"include:: /_outputs/(\S+)", text))
