"""What a release says of itself: Pythons, versions, files."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import pnorm

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, WHEELS = PYPROJECT["project"], PYPROJECT["tool"]["cibuildwheel"]


def test_wheels_are_built_for_the_pythons_of_the_classifiers():
    python = "Programming Language :: Python :: "
    named = [text.removeprefix(python) for text in PROJECT["classifiers"] if text.startswith(python)]
    minors = [int(name[2:]) for name in named if re.fullmatch(r"3\.\d+", name)]
    built = [re.fullmatch(r"cp3(\d+)(t?)-\*", selector).groups() for selector in WHEELS["build"]]
    assert [int(minor) for minor, threaded in built if not threaded] == minors
    assert any(threaded for _, threaded in built) == any(name.startswith("Free Threading") for name in named)
    assert PROJECT["requires-python"] == f">=3.{min(minors)}"


def test_workflows_test_the_oldest_and_the_newest_python():
    folder = ROOT / ".github" / "workflows"
    if not folder.exists():
        pytest.skip("not in the source distribution")
    versions = set(re.findall(r'"(3\.\d+t?)"', (folder / "ci.yml").read_text(encoding="utf-8")))
    assert versions == {f"3.{name[3:-2]}" for name in WHEELS["build"]}
    for path in folder.iterdir():
        for action in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v[\d.]+", action), action


def test_what_wheels_are_tested_with_is_there():
    assert all((ROOT / name).exists() for name in WHEELS["test-sources"])
    assert set(PYPROJECT["dependency-groups"]["test-least"]) < set(PROJECT["optional-dependencies"]["test"])


def test_the_documentation_builds_with_its_own_extra():
    # a module of the reference that cannot be imported leaves its page empty
    pages = [page.stem for page in (ROOT / "doc" / "reference").glob("*.rst")]
    modules = [path for page in pages for way in (f"{page}.py", f"{page}/*.py") for path in (ROOT / "pnorm").glob(way)]
    sources = [path.read_text(encoding="utf-8") for path in modules]
    needed = {extra for text in sources for extra in re.findall(r"install\('(\w+)'\)", text)}
    own = re.search(r"pnorm-push\[([\w,]+)\]", " ".join(PROJECT["optional-dependencies"]["doc"]))
    assert needed == {"dask", "plot", "sklearn"} == set(own[1].split(","))
    # what the examples import, beside pnorm, what it and its extras need, and Python's own
    examples = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")]
    imported = {name for text in examples for name in re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)}
    others = imported - {"pnorm", "numpy", "scipy", "matplotlib", "sklearn", "dask"} - sys.stdlib_module_names
    assert others == {"pandas"} <= {re.match(r"[\w-]+", of)[0] for of in PROJECT["optional-dependencies"]["doc"]}


def test_the_tutorials_run_with_the_extra_of_the_installation():
    extra = "sklearn"
    for path in (ROOT / "README.md", ROOT / "doc" / "_install.inc"):
        assert f'pip install ".[{extra}]"' in path.read_text(encoding="utf-8")
    modules = {"scikit-learn": "sklearn"}
    brought = [re.match(r"[\w-]+", of)[0] for of in PROJECT["optional-dependencies"][extra]]
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "doc" / "tutorials").glob("*.rst")]
    imported = {name for text in pages for name in re.findall(r"^>>> (?:from|import) (\w+)", text, re.MULTILINE)}
    others = imported - {"pnorm", "numpy", "scipy"} - sys.stdlib_module_names
    assert others == {modules.get(name, name) for name in brought}


def test_the_page_of_support_and_the_recipe_have_the_versions_of_the_project():
    page = " ".join((ROOT / "doc" / "developers" / "support.rst").read_text(encoding="utf-8").split())
    least = PROJECT["requires-python"].removeprefix(">=")
    newest = re.findall(r"3\.\d+", " ".join(PROJECT["classifiers"]))[-1]
    assert f"{least} to {newest} (CPython)" in page
    numpy, windows, scipy = (re.search(r">=([\d.]+)", text)[1] for text in PROJECT["dependencies"])
    assert f"{numpy} or newer; {windows} or newer on Windows" in page
    assert f"{scipy} or newer" in page
    extras = " ".join(of for group in PROJECT["optional-dependencies"].values() for of in group)
    for name in ("scikit-learn", "pandas", "polars", "pyarrow", "Matplotlib", "Dask", "LightGBM", "XGBoost"):
        version = re.search(rf"\b{name.lower()}(?:\[[\w,]+\])?>=([\d.]+)", extras)[1]
        assert f"{name} {version}" in page, name
    recipe = ROOT / "conda" / "meta.yaml"
    if recipe.exists():  # it is not copied where wheels are tested
        text = recipe.read_text(encoding="utf-8")
        for wanted in (f"python >={least}", f"numpy >={numpy}", f"numpy >={windows}", f"scipy >={scipy}"):
            assert f"- {wanted}" in text


def test_the_change_log_begins_with_this_version():
    heading = re.search(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    number, development, _ = pnorm.__version__.partition(".dev")
    assert heading[1] == number
    assert re.fullmatch("unreleased" if development else r"\d{4}-\d\d-\d\d", heading[2])


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has the lock")
def test_importing_the_core_does_not_bring_the_lock_back():
    code = "import sys, numpy; from pnorm._core import _bins, _dense, _lists, _pairs, _threads, _tilt; "
    code += "assert not sys._is_gil_enabled()"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    subprocess.run([sys.executable, "-P", "-W", "error", "-c", code], env=environment, check=True)
