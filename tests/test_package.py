"""The package as a whole: its public names, its files, its layers, its documents."""

import ast
import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import pnorm
from pnorm._core import _tilt

ROOT = Path(__file__).parents[1]
MODULES = ["pnorm", "pnorm.rankers", "pnorm.objectives", "pnorm.diagnostics", "pnorm.metrics", "pnorm.datasets",
           "pnorm.plotting", "pnorm.bounds", "pnorm.kernel", "pnorm.listwise", "pnorm.dask",
           "pnorm.callbacks", "pnorm.sklearn",
           "pnorm.boosting"]  # fmt: skip

# Imports go down only: a module may use those in the lists before its own.
LAYERS = [
    ["pnorm._core", "pnorm._version", "pnorm._text"],
    ["pnorm._checks", "pnorm._blocks"],
    ["pnorm._blas"],
    ["pnorm._categories"],
    [
        "pnorm._outputs",
        "pnorm._line",
        "pnorm._trace",
        "pnorm._bregman",
        "pnorm._losses",
        "pnorm._prices",
        "pnorm._growth",
        "pnorm._split",
        "pnorm.datasets",
    ],
    ["pnorm._binned", "pnorm._objective", "pnorm._search", "pnorm._levels", "pnorm._gram", "pnorm.listwise"],
    ["pnorm._storage", "pnorm._composed", "pnorm._scores"],
    ["pnorm.objectives", "pnorm.kernel"],
    ["pnorm.metrics"],
    ["pnorm._measures"],
    ["pnorm.rankers", "pnorm.boosting"],
    ["pnorm._parts"],
    ["pnorm._problem"],
    ["pnorm._curvature", "pnorm._standing"],
    ["pnorm._certificate", "pnorm._margin", "pnorm._partitioned", "pnorm._separability"],
    ["pnorm._lbfgs"],
    ["pnorm._train", "pnorm._minimize"],
    ["pnorm._choice", "pnorm._path"],
    ["pnorm.diagnostics", "pnorm.plotting", "pnorm.bounds", "pnorm.dask", "pnorm.callbacks", "pnorm._files"],
    ["pnorm"],
    ["pnorm.sklearn"],
    ["pnorm._reproduce"],
    ["pnorm._cli"],
    ["pnorm.__main__"],
]


def public():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            yield module_name, name, getattr(module, name)


def test_every_public_name_exists_and_is_documented():
    for module_name, name, value in public():
        if callable(value):
            assert inspect.getdoc(value), f"{module_name}.{name}"


def test_every_public_function_has_an_example():
    without = {name for _, name, value in public() if inspect.isfunction(value) and ">>>" not in inspect.getdoc(value)}
    assert without == {"a9a", "housing", "ionosphere", "magic", "pima", "spambase", "wdbc"}  # these need a file of data


def test_nothing_public_is_left_out_of_all():
    for module_name in MODULES[1:]:
        module = importlib.import_module(module_name)
        defined = {name for name, value in vars(module).items()
                   if getattr(value, "__module__", None) == module_name and not name.startswith("_")}  # fmt: skip
        assert defined - set(module.__all__) <= {"as_rankers"}


def test_every_public_function_is_annotated():
    for module_name, name, value in public():
        if inspect.isfunction(value):
            hints = typing.get_type_hints(value)
            assert set(hints) == {*inspect.signature(value).parameters, "return"}, f"{module_name}.{name}"


def test_the_version_is_that_of_the_build_file():
    assert f"version: '{pnorm.__version__}'" in (ROOT / "meson.build").read_text()
    assert f"version: {pnorm.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_source_file_is_installed():
    for folder in (ROOT / "pnorm", ROOT / "pnorm" / "_core"):
        listed = re.findall(r"'([\w.]+)'", (folder / "meson.build").read_text())
        sources = {path.name for path in folder.iterdir() if path.suffix in (".py", ".pyi", ".typed")}
        assert sources - set(listed) == set()


def test_imports_go_down_only():
    rank = {name: level for level, names in enumerate(LAYERS) for name in names}
    for path in (ROOT / "pnorm").glob("*.py"):
        module = "pnorm" if path.stem == "__init__" else f"pnorm.{path.stem}"
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                used = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                parts = {f"{node.module}.{alias.name}" for alias in node.names}
                used = {part if part in rank else node.module for part in parts}
            else:
                continue
            for other in used:
                if other.split(".")[0] == "pnorm":
                    other = "pnorm._core" if other.startswith("pnorm._core") else other
                    assert rank[other] < rank[module], f"{module} imports {other}"


@pytest.mark.parametrize(
    "module_name",
    [
        *MODULES,
        "pnorm._train",
        "pnorm._minimize",
        "pnorm._choice",
        "pnorm._path",
        "pnorm._trace",
        "pnorm._files",
        "pnorm._split",
        "pnorm._bregman",
        "pnorm._losses",
        "pnorm._prices",
    ],
)
def test_the_examples_in_docstrings_are_true(module_name):
    module = importlib.import_module(module_name)
    if module_name == "pnorm.plotting":
        pytest.importorskip("matplotlib")
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@pytest.mark.parametrize("page", sorted((ROOT / "doc").glob("*.rst")), ids=lambda path: path.name)
def test_the_examples_in_the_documentation_are_true(page):
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


def test_the_tests_that_hold_a_promise_exist():
    held = re.findall(r"^   (test_\w+\.py)::(test_\w+)$", (ROOT / "doc" / "guaranteed.rst").read_text(), re.MULTILINE)
    assert len(held) > 30
    for file, name in held:
        assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")


def test_the_example_in_the_readme_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, output = (re.search(f"```{kind}\n(.*?)```", text, re.DOTALL)[1] for kind in ("python", "text"))
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    assert printed.getvalue() == output
    frames = re.findall("```python\n(.*?)```", text, re.DOTALL)[1]
    pandas = pytest.importorskip("pandas")
    rows = {"age": [31, 44, None], "visits": [5, 0, 2], "town": ["Ulm", "Bonn", "Ulm"]}
    good, bad = pandas.DataFrame(rows), pandas.DataFrame(rows)[1:]
    exec(frames, {"pnorm": names["pnorm"], "good": good, "bad": bad})
    sessions = "\n".join(re.findall("```pycon\n(.*?)```", text, re.DOTALL))
    session = doctest.DocTestParser().get_doctest(sessions, names, "README.md", None, 0)
    assert len(session.examples) > 3
    assert doctest.DocTestRunner().run(session).failed == 0
    more = re.findall("```python\n(.*?)```", text, re.DOTALL)[2:]
    for package, example in zip(("lightgbm", "dask"), more, strict=True):
        pytest.importorskip(package)
        exec(example, names)


@pytest.fixture
def own_folder(tmp_path):
    """A folder with no more of the package than says what is wrong with it."""
    folder = tmp_path / "pnorm"
    (folder / "_core").mkdir(parents=True)
    for name in ("__init__.py", "_core/__init__.py"):
        (folder / name).write_text((ROOT / "pnorm" / name).read_text())
    return tmp_path


def test_a_source_folder_taken_for_the_package_explains_itself(own_folder):
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run([sys.executable, "-S", "-c", "import pnorm"], cwd=own_folder, env=variables,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 1
    assert "ImportError: pnorm is not compiled in" in done.stderr
    assert "python -P" in done.stderr


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
attempt = '''
import sys
sys.path[:0] = [""]
try:
    import pnorm
except ImportError as error:
    print(error)
'''
exec(attempt)  # the core is in there; what comes next is not
print("and in a subinterpreter:")
getattr(interpreters, "exec" if hasattr(interpreters, "exec") else "run_string")(interpreters.create(), attempt)
"""


def test_a_subinterpreter_is_told_that_it_is_one(own_folder):
    if not any(importlib.util.find_spec(name) for name in ("_interpreters", "_xxsubinterpreters")):
        pytest.skip("this Python has no subinterpreters")
    core = Path(_tilt.__file__)
    shutil.copy(core, own_folder / "pnorm" / "_core" / core.name)
    done = subprocess.run([sys.executable, "-S", "-c", SUBINTERPRETER], cwd=own_folder, capture_output=True, text=True,
                          check=False)  # fmt: skip
    first, _, second = done.stdout.partition("and in a subinterpreter:")
    assert "not compiled" in first, done.stderr
    assert "the compiled core of pnorm cannot be loaded in a subinterpreter" in second, done.stderr
    assert "not compiled" not in second
