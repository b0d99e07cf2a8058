"""The package as a whole: its public names, its files, its layers, its documents."""

import contextlib
import doctest
import graphlib
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

import demonstration
import pytest
import scipy.stats
from facts import raises
from imports import floors, imports, rooms
from problems import HOME

import pnorm
from pnorm.__main__ import main
from pnorm._core import _tilt

ROOT = Path(__file__).parents[1]
REFERENCE = [page.read_text(encoding="utf-8") for page in (ROOT / "doc" / "reference").glob("*.rst")]
PAGES = sorted(
    page for page in (ROOT / "doc").rglob("*.rst") if page.parts[len(ROOT.parts) + 1] not in ("_build", "gallery")
)
MODULES = ["pnorm", "pnorm.rankers", "pnorm.objectives", "pnorm.diagnostics", "pnorm.metrics", "pnorm.datasets",
           "pnorm.plotting", "pnorm.bounds", "pnorm.kernel", "pnorm.listwise", "pnorm.dask",
           "pnorm.callbacks", "pnorm.sklearn",
           "pnorm.boosting"]  # fmt: skip


def public():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            yield module_name, name, getattr(module, name)


def test_every_public_name_exists_and_is_documented():
    for module_name, name, value in public():
        if callable(value):
            assert inspect.getdoc(value), f"{module_name}.{name}"


def test_every_public_function_and_class_has_an_example():
    for module_name, name, value in public():
        if inspect.isfunction(value) or inspect.isclass(value):
            assert ">>>" in inspect.getdoc(value), f"{module_name}.{name}"


def test_every_public_name_has_one_entry_in_the_reference():
    entries = []
    for page in REFERENCE:
        module_name = re.search(r"^\.\. (?:currentmodule|module|automodule):: (\S+)$", page, re.MULTILINE)
        names = re.findall(r"^\.\. (?:auto)?(?:function|class|exception|data):: (?:[\w.]+\.)?(\w+)", page, re.MULTILINE)
        entries += [(module_name[1], name) for name in names]
    expected = [
        (module_name, name)
        for module_name, name, value in public()
        if not inspect.ismodule(value) and not name.startswith("_")
    ]
    assert sorted(entries) == sorted(expected)


def members():
    """Every method and property that has an entry in the reference, with its class."""
    classes = {}
    for _, name, value in public():
        if inspect.isclass(value):
            classes.setdefault(name, []).append(value)
    for name, listed in re.findall(
        r"^\.\. autoclass:: (\w+)\S*\n   :(?:special-)?members:(.*(?:\n {6}.*)*)", "".join(REFERENCE), re.MULTILINE
    ):
        for of in classes[name]:
            every = [key for key in vars(of) if not key.startswith("_")]
            for member in [part.strip() for part in listed.split(",")] if listed.strip() else every:
                if hasattr(of, member):  # a field is described with its class
                    yield of, member


def examples_of(text):
    return "\n".join(example.source for example in doctest.DocTestParser().get_examples(text or ""))


def test_every_public_method_and_attribute_is_in_an_example():
    found = list(members())
    assert len(found) > 100
    for of, member in found:
        sources = examples_of(of.__doc__) + examples_of(getattr(of, member).__doc__)
        called = r"callback=|\b(limit|h)\(" if member == "__call__" else rf"\.{member}\b|\b{member}\b"
        assert re.search(called, sources), f"{of.__module__}.{of.__name__}.{member}"


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


def test_every_work_that_is_cited_is_in_the_citation_file():
    known = (ROOT / "CITATION.cff").read_text()
    titled = re.compile(r"\.\. \[\w+\] [^\"]{,200}?\"([^\"]+)\"")
    for path in [*(ROOT / "pnorm").rglob("*.py"), *PAGES]:
        for title in titled.findall(path.read_text()):
            assert f'title: "{" ".join(title.split())}' in known, f"{path.name}: {title}"


def test_every_source_file_is_installed():
    listed = set(re.findall(r"'([\w./]+)'", (ROOT / "pnorm" / "meson.build").read_text()))
    listed |= {
        f"_core/{name}" for name in re.findall(r"'([\w.]+)'", (ROOT / "pnorm" / "_core" / "meson.build").read_text())
    }
    folder = ROOT / "pnorm"
    sources = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.suffix in (".py", ".pyi", ".typed")
    }
    assert sources - listed == set()


def test_imports_make_no_circle_between_folders_nor_within_one():
    used, of_rooms = imports(), rooms()
    assert len(used) > 40
    list(graphlib.TopologicalSorter(used).static_order())
    floor = floors(of_rooms)
    assert floor["pnorm._core"] == 1
    assert not {"pnorm._solvers", "pnorm.objectives", "pnorm._storage"} & of_rooms["pnorm._checks"]
    assert not {"pnorm._solvers", "pnorm.rankers"} & (of_rooms["pnorm.objectives"] | of_rooms["pnorm._storage"])
    assert max(floor.values()) <= 12, floor
    assert sum(map(len, of_rooms.values())) <= 235


def test_every_picture_stands_on_a_page():
    script = (ROOT / "doc" / "pictures.py").read_text(encoding="utf-8")
    drawn = set(re.findall(r"\w+", re.search(r"^PICTURES = \(([^)]*)\)", script, re.MULTILINE)[1]))
    kept = {path.stem for path in (ROOT / "doc" / "_static").glob("*.svg")} - {"logo"}
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    shown = set(re.findall(r"^ *\.\. chart:: (\S+)$", pages, re.MULTILINE))
    assert {name.replace("_", "-") for name in drawn} | kept == shown


def modules_with_examples():
    for path in sorted((ROOT / "pnorm").rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("module_name", list(modules_with_examples()))
def test_the_examples_in_docstrings_are_true(module_name):
    module = importlib.import_module(module_name)
    if module_name.startswith("pnorm.plotting"):
        pytest.importorskip("matplotlib")
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    examples = finder.find(module)
    for value in vars(module).values():  # the module leaves out methods of classes that private modules define
        if inspect.isclass(value) and value.__module__ == module_name:
            examples += finder.find(value, f"{module_name}.{value.__name__}", module=False)
    for example in {example.name: example for example in examples}.values():
        data_file = re.search(r"Folder with ``(\S+)``", example.docstring)
        if not data_file or (HOME / data_file[1]).exists():
            runner.run(example)
    assert runner.failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_examples_in_the_documentation_are_true(page):
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


def test_the_names_in_the_glossary_and_on_the_pages_of_the_code_exist():
    text = "".join(
        (ROOT / "doc" / page).read_text(encoding="utf-8")
        for page in ("reference/glossary.rst", "developers/layout.rst", "developers/words.rst")
    )
    named = {name for name in re.findall(r"``(\w+(?:\.\w+)+)``", text) if not name.endswith((".py", ".build"))}
    assert len(named) > 20
    classes = {"Rankers": "rankers", "Table": "_storage.base", "Problem": "_solvers.problem",
               "Objective": "objectives._base"}  # fmt: skip
    for name in named:
        first = name.split(".")[0]
        value = pnorm
        for part in (f"{classes[first]}.{name}" if first in classes else name).split("."):
            with contextlib.suppress(ImportError):  # it is no module
                importlib.import_module(f"{getattr(value, '__name__', '')}.{part}")
            value = getattr(value, part)


def test_the_tests_that_hold_a_promise_exist():
    held = re.findall(
        r"^   (test_\w+\.py)::(test_\w+)$", (ROOT / "doc" / "explanation" / "guarantees.rst").read_text(), re.MULTILINE
    )
    assert len(held) > 30
    for file, name in held:
        assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")


def test_the_code_in_the_readme_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    code = "".join(re.findall("```python\n(.*?)```", text, re.DOTALL))
    pytest.importorskip("sklearn")
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    (p, wrong), (by_hand, fewer) = re.findall(r"p = (\d+)[^:]*: (\d+) wrong", code)
    assert printed.getvalue().split() == [wrong, fewer]
    assert names["model"].p_ == float(p)
    assert f"p={by_hand})" in code
    # the line for the terminal, in the clone
    (command,) = re.findall("```console\npnorm (.*?)\n```", text, re.DOTALL)
    shutil.copytree(ROOT / "examples", "examples")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(command.split()) == 0
    (sample,) = re.findall("```text\n(.*?)```", text, re.DOTALL)
    words = [" ".join(line.split()) for line in printed.getvalue().splitlines()]
    assert len(sample.splitlines()) > 7
    for line in sample.splitlines():
        assert " ".join(line.split()) in words, line
    assert Path("model.json").exists()
    assert Path("report.html").exists()
    # names in the prose, and files behind links
    for name in re.findall(r"`(pnorm(?:\.\w+)+)`", text):
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
    assert all((ROOT / link).exists() for link in re.findall(r"\]\(([^)]+)\)", text))


def test_the_numbers_in_the_readme_are_those_of_the_scripts():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    adult, additive = [
        (ROOT / "doc" / "_outputs" / name).read_text(encoding="utf-8").replace("\xa0", " ")
        for name in ("adult_rivals.txt", "additive.inc")
    ]
    # the picture, and the gain of the push
    tables = [[re.split(r" {2,}", line) for line in table.splitlines()[1:]] for table in adult.split("\n\n")]
    (alt,), means = re.findall(r'alt="(.*?)"', text), {name: round(float(of[-1])) for name, *of in tables[0]}
    names = {"this list": "held-out people", "boosted trees": "with boosted trees",
             "logistic steps": "with logistic regression on the same steps",
             "logistic curves": "with logistic regression on splines", "linear model": "with a linear model"}  # fmt: skip
    for name, words in names.items():
        assert f"{words} {means[name]}" in alt
    less, error = next(map(float, of[:2]) for name, *of in tables[1] if name == "boosted trees")
    half = scipy.stats.t.ppf(0.975, 9) * error  # of ten splits
    assert f"of pnorm minus boosted trees is from {less - half:.0f} to {less + half:+.0f}." in alt
    (gain,) = [f"{float(mean):.1f} ± {error}" for name, mean, error, *_ in tables[1] if name == "this list, p = 1"]
    assert f"and {gain} rows in the picture, which may be chance." in text

    # the table: the picture, the leads, the claims, and unseen sets
    def row(title, *cells):
        assert f"| {title} | {' | '.join(map(str, cells))} |".replace("|  |", "| |") in text

    others = "linear model", "logistic curves", "boosted trees"
    row(
        "Picture: right in the first 1,000 (more is better)",
        *[means[of] for of in ("this list", "this list, p = 1", *others)],
    )
    splits = (ROOT / "doc" / "_outputs" / "splits.txt").read_text(encoding="utf-8")
    assert splits.startswith("pnorm examples/leads.csv --label bought --id lead, --seed 1 to 9\n")
    names = re.split(" {2,}", re.search(r"^means +(.*)$", splits, re.MULTILINE)[1])
    of_lists = re.search(r"^precision in the first 10 +(.*)$", splits, re.MULTILINE)[1].split()
    hits = {name: f"{10 * float(of):.1f}" for name, of in zip(names, of_lists, strict=True)}
    row(
        "Leads: positives in the first 10, nine other splits (more)",
        *[hits[of] for of in ("this list", "p = 1", *others)],
    )
    errors = re.findall(r"^  (?:linear model|logistic curves|boosted trees|p = 1) +\S+ +(\S+)", splits, re.MULTILINE)[
        :4
    ]
    assert f"may be chance: they have standard errors of up to {10 * float(max(errors)):.1f}." in text
    of = demonstration
    claims = of.BY_DEFAULT, f"{of.OVER_DRAWS[1.0]} (straight lines)", of.LOGISTIC, of.CURVED, of.BY_TREES
    row(f"Claims: wrong in the first 1,000, {of.DRAWS} draws (fewer)", *claims)
    assert f"lines {of.OVER_DRAWS[1.0]} are wrong with p = 1 and {of.OVER_DRAWS[16.0]} with p = 16." in text
    assert f"set by hand, is a little better: {of.WEIGHTED}." in text
    page = " ".join((ROOT / "doc" / "which_tool.rst").read_text(encoding="utf-8").split())
    assert f"{of.WEIGHTED} with 1,000, and {of.OVER_DRAWS[16.0]} with p = 16." in page
    assert f"and {of.BY_THREE} with ``p=[1, 4, 16]``" in page
    assert re.findall(r"wrong, (\S+) on average", text) == [str(of.BY_DEFAULT), str(of.OVER_DRAWS[16.0])]
    unseen = (ROOT / "doc" / "_outputs" / "unseen.txt").read_text(encoding="utf-8")
    n_sets, counts = re.search(r"^Sets of (\d+) .*\n((?:  .*\n)+)", unseen, re.MULTILINE).groups()
    assert n_sets == "11"
    counted = {line[:28].strip(): re.findall(r"(\d+) : (\d+)", line) for line in counts.splitlines()}
    own = "PNormPush(p=1)"
    words = "ahead on {}", "behind on {}"
    of_sets = [
        ", ".join([word.format(n) for word, n in zip(words, counted[of][0], strict=True) if n != "0"])
        or "no difference shown"
        for of in (own, *others)
    ]
    row("Eleven unseen sets: where `PNormPush()` is", "", *of_sets)
    assert [behind for _, behind in counted[own]] == ["0", "0", "0"]  # never behind
    assert counted[own][1][0] == "2"  # in average precision
    # partial AUC and time on public sets
    (_, *sets), *rows = [re.findall(r"- (.*)", line) for line in re.split(r"^   \* ", additive, flags=re.MULTILINE)[1:]]
    of_method = {method: dict(zip(sets, cells, strict=True)) for method, *cells in rows}
    assert len(sets) == 8
    push = of_method["p = 1"]["MAGIC"].strip("*\u2212")
    assert f"its gain is small: {push} of partial AUC on MAGIC, and" in text
    times = [float(time) for time in of_method["seconds, PNormPush()"].values()]
    assert f"`fit` takes {min(times):.0f} to {max(times):.0f} s on eight public sets, boosted trees less" in text
    assert max(map(float, of_method["seconds, HistGradientBoosting"].values())) < 1


def test_the_shortfalls_that_the_benchmarks_exclude_are_those_of_the_table():
    table = (ROOT / "doc" / "_outputs" / "additive_summary.inc").read_text(encoding="utf-8")
    page = " ".join((ROOT / "doc" / "results" / "benchmarks.rst").read_text(encoding="utf-8").split())
    ends = {
        name: -float(by.replace("−", "-")) + scipy.stats.t.ppf(0.975, 9) * float(error)  # of ten splits
        for name, by, error in re.findall(r"\* - (\w+)\n     - \S+\s(\S+)\s±\s(\S+)", table)
    }
    assert len(ends) == 8
    assert {name for name, end in ends.items() if end < 0.02} == {"WDBC", "Adult", "Bank"}
    told = [f"{ends[name]:.3f} on {name}" for name in ("MAGIC", "Spambase", "Pima", "Housing", "Ionosphere")]
    assert f"They end at {', '.join(told[:-1])} and {told[-1]}." in page


def test_the_readme_and_the_documentation_name_the_same_tools():
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("## Which tool when")[1]
    readme = [
        (case.replace("`", ""), use.replace("`", ""))
        for case, use in re.findall(r"^\| (?!---|What you have)(.+?) \| (.+?) \|$", table, re.MULTILINE)
    ]
    page = (ROOT / "doc" / "_which_tool.inc").read_text(encoding="utf-8")
    rows = re.findall(r"^   \* - (.+)\n     - (?:(?::\w+:)?`+)?(.+?)`*\n", page, re.MULTILINE)
    assert rows[0] == ("What you have", "Use")
    assert len(readme) > 11
    assert readme == [(case.replace("`", ""), use) for case, use in rows[1:]]


LATER = ["boosting", "bounds", "callbacks", "datasets", "diagnostics", "kernel", "listwise", "metrics", "plotting"]


def run(code):
    """Run code in a new process of Python, and return what it prints."""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_import_brings_what_every_use_needs_and_no_more():
    found = set(run("import sys, pnorm; print(*sys.modules)").split())
    others = ["scipy", "matplotlib", "sklearn", "pandas", "polars", "pyarrow", "dask", "tqdm", "lightgbm", "xgboost",
              "asyncio", "concurrent.futures", "multiprocessing", "argparse", "csv", "urllib.request"]  # fmt: skip
    own = [f"pnorm.{name}" for name in LATER]
    own += ["pnorm._cross_validation", "pnorm._minimize", "pnorm._minimize_path", "pnorm._solvers.hessian"]
    assert {"numpy", "pnorm._train", "pnorm.rankers", "pnorm.objectives"} <= found
    assert not found & {*others, *own}


def test_names_that_are_imported_later_are_there_when_asked_for():
    found = run(
        """
import sys, pnorm
for name in ("bounds", "kernel", "plotting"):
    assert getattr(pnorm, name) is sys.modules[f"pnorm.{name}"]
    assert getattr(pnorm, name).__all__
assert set(pnorm.__all__) <= set(dir(pnorm))
assert pnorm.minimize is pnorm._minimize.minimize
from pnorm import *
assert (minimize_path.__name__, bounds.__name__) == ("minimize_path", "pnorm.bounds")
help(pnorm.Trace)
help(pnorm)
"""
    )
    assert "stalled" in found
    with raises(AttributeError, r"^module 'pnorm' has no attribute 'fit'$"):
        pnorm.fit  # noqa: B018
    with raises(ImportError, "cannot import name 'minimise' from 'pnorm'"):
        from pnorm import minimise  # noqa: F401


PUBLIC = [*LATER, "dask", "objectives", "rankers", "sklearn"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("PNormPush", "it is pnorm.sklearn.PNormPush"),
        ("auc", "it is pnorm.metrics.auc"),
        ("score_table", "it is pnorm.dask.score_table"),
        ("pnormpush", "the nearest name is pnorm.sklearn.PNormPush"),
        ("minimise", "the nearest name is pnorm.minimize"),
        ("Trace_", "the nearest name is pnorm.Trace"),
        ("metric", "the nearest name is pnorm.metrics"),
    ],
)
def test_names_of_modules_are_told_where_they_are(name, told):
    with raises(AttributeError, f"^module 'pnorm' has no attribute '{name}'; {re.escape(told)}$"):
        getattr(pnorm, name)
    assert not hasattr(pnorm, name)
    assert getattr(pnorm, name, 3) == 3


def test_each_public_name_of_a_module_is_told_where_it_is():
    pytest.importorskip("dask")
    assert {*pnorm._MODULES, "objectives", "rankers"} == set(PUBLIC)
    homes = {}
    for module in PUBLIC:
        for name in set(getattr(pnorm, module).__all__) - set(dir(pnorm)):
            homes.setdefault(name, []).append(f"pnorm.{module}.{name}")
    for name, places in homes.items():
        with raises(AttributeError, re.escape(f"; it is {' or '.join(sorted(places))}") + "$"):
            getattr(pnorm, name)


def test_to_say_where_a_name_is_imports_nothing():
    code = "import sys, pnorm; hasattr(pnorm, 'PNormPush'), hasattr(pnorm, 'auc'); print(*sys.modules)"
    assert not set(run(code).split()) & {"sklearn", "dask", "pnorm.sklearn", "pnorm.dask", "pnorm.metrics"}


def test_modules_of_packages_that_are_there_are_listed():
    there = {name for name in ("dask", "sklearn") if importlib.util.find_spec(name)}
    assert {*run("import pnorm; print(*dir(pnorm))").split()} & {"dask", "sklearn"} == there
    assert not {"dask", "sklearn"} & {*run("import sys, pnorm; sys.path[:] = []; print(*dir(pnorm))").split()}
    assert not {"dask", "sklearn"} & {*pnorm.__all__}


@pytest.fixture
def own_folder(tmp_path):
    """A folder with no more of the package than says what is wrong with it."""
    folder = tmp_path / "pnorm"
    (folder / "_core").mkdir(parents=True)
    for name in ("__init__.py", "_core/__init__.py"):
        (folder / name).write_text((ROOT / "pnorm" / name).read_text())
    return tmp_path


def imported_in(folder, *options, path=""):
    """Import pnorm in another process that begins in a folder."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"} | {"PYTHONPATH": path}
    command = [
        sys.executable,
        *(options or ("-c", "import pnorm; print(pnorm.__path__[0], pnorm.train.__module__, pnorm.__file__)")),
    ]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def test_a_folder_that_is_not_compiled_explains_itself(own_folder):
    done = imported_in(own_folder, "-S", "-c", "import pnorm")
    assert done.returncode == 1
    assert "ImportError: pnorm is not compiled in" in done.stderr
    assert "`pip install .`" in done.stderr


def test_a_compiled_package_without_numpy_says_so(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')")
    done = imported_in(tmp_path, path=str(Path(pnorm.__path__[0]).parent))
    assert done.returncode == 1
    assert done.stderr.strip().endswith("ModuleNotFoundError: No module named 'numpy'")


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
    done = imported_in(own_folder, "-u", "-S", "-c", SUBINTERPRETER)
    first, _, second = done.stdout.partition("and in a subinterpreter:")
    assert "not compiled" in first, done.stderr
    assert "the compiled core of pnorm cannot be loaded in a subinterpreter" in second, done.stderr
    assert "not compiled" not in second


def test_few_public_hints_are_any():
    """Signatures use the names of ``pnorm._checks.accepted``; the number may fall, and must not rise."""
    hints, seen = 0, set()
    for _, _, value in public():
        of = vars(value).values() if inspect.isclass(value) else [value]
        for function in of:
            function = inspect.unwrap(getattr(function, "__func__", function))
            if inspect.isfunction(function) and not function.__name__.startswith("_") and function not in seen:
                seen.add(function)
                hints += sum(bool(re.search(r"\bAny\b", str(hint))) for hint in function.__annotations__.values())
    assert hints <= MOST_ANY


def test_every_name_in_hints_is_on_its_page():
    source = (ROOT / "pnorm" / "_checks" / "accepted.py").read_text(encoding="utf-8")
    page = (ROOT / "doc" / "reference" / "accepted.rst").read_text(encoding="utf-8")
    names = re.findall(r"^(?:class )?(\w+)(?:: TypeAlias|\(Protocol\))", source, re.MULTILINE)
    assert len(names) > 20
    assert not [name for name in [*names, "WeakRankers", "Kind", "Start", "BothSides"] if f"``{name}``" not in page]


MOST_ANY = 44
"""Public hints that are Any, or contain it."""
