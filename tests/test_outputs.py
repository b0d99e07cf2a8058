"""The prints and tables that the documentation includes: each has a page and a maker."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from facts import raises

ROOT = Path(__file__).parents[1]

if not (ROOT / "doc").is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)


@pytest.fixture(scope="module")
def outputs():
    spec = importlib.util.spec_from_file_location("outputs", ROOT / "doc" / "outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored():
    return {path.name for path in (ROOT / "doc" / "_outputs").iterdir()}


def test_every_stored_output_has_a_command_that_makes_it(outputs):
    commands = outputs.TABLES | {name: found.command for name, found in outputs.PRINTS.items()}
    assert stored() == set(commands)
    assert not set(outputs.TABLES) & set(outputs.PRINTS)
    for command in commands.values():
        script, *arguments = command.split()
        text = (ROOT / script).read_text(encoding="utf-8")
        for argument in arguments:
            if argument.startswith("--"):
                assert f'"{argument}"' in text, command
        if script == "doc/pictures.py":
            assert f"\ndef {arguments[0]}(" in text, command


def test_every_stored_output_is_on_a_page():
    pages = [path for path in (ROOT / "doc").rglob("*.rst") if "_build" not in path.parts]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    assert stored() == set(re.findall(r"include:: /_outputs/(\S+)", text))


def test_the_parts_of_a_print_are_stored_apart(outputs):
    printed = "1000 rows\n\ndense  1.0\n\nfew rows: 100 rounds\n30 + 30  4.1\n\ndense: slope\n\nmemory\n"
    assert outputs.PRINTS["rivals_few.txt"].of(printed) == "few rows: 100 rounds\n30 + 30  4.1\n"
    assert outputs.PRINTS["rivals.txt"].of(printed) == "1000 rows\n\ndense  1.0\n\ndense: slope\n\nmemory\n"
    with raises(ValueError, r"benchmarks/rivals.py printed nothing"):
        outputs.PRINTS["rivals_few.txt"].of("1000 rows\n")


def test_the_table_of_where_it_pays_is_made_from_the_stored_tables():
    pytest.importorskip("matplotlib")
    run = [sys.executable, "-c", "import sys, where_it_pays; sys.stdout.buffer.write(where_it_pays.table().encode())"]
    made = subprocess.run(run, cwd=ROOT / "doc", capture_output=True, check=True).stdout.decode("utf-8")
    assert made == (ROOT / "doc" / "_outputs" / "where_it_pays.inc").read_text(encoding="utf-8")
    for line in made.split("   * - ")[2:]:
        assert line.count("**") in (2, 4), line  # the best sum, or two that are equal
