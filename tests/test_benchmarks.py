"""Every benchmark runs: each class with the first of its parameters."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import pnorm

NAMES = ("train", "minimize", "choice", "objectives", "metrics", "kernel", "listwise", "score", "tables", "calls")
FOLDER = Path(__file__).parents[1] / "benchmarks"


def cases():
    sys.path.insert(0, str(FOLDER))
    try:
        modules = [importlib.import_module(f"benchmarks.{name}") for name in NAMES]
    finally:
        sys.path.remove(str(FOLDER))
    for module, (_, suite) in ((m, member) for m in modules for member in inspect.getmembers(m, inspect.isclass)):
        for name in dir(suite):
            if suite.__module__ == module.__name__ and name.startswith(("time", "peakmem", "track")):
                yield pytest.param(suite, name, id=f"{suite.__name__}.{name}")
                break  # the set-up of a class is that of all its benchmarks


@pytest.mark.parametrize(("suite", "name"), list(cases()))
def test_a_benchmark_runs(suite, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    benchmark = suite()
    parameters = [values[0] for values in getattr(suite, "params", ())]
    assert len(parameters) == len(getattr(suite, "param_names", ()))
    if hasattr(benchmark, "setup"):
        benchmark.setup(*parameters)
    getattr(benchmark, name)(*parameters)


def test_the_configuration_is_read():
    configuration = json.loads((FOLDER / "asv.conf.json").read_text())
    assert (FOLDER / configuration["benchmark_dir"]).is_dir()


HELP = """
import contextlib, io, json, pathlib, runpy, sys
folder, answers = pathlib.Path(sys.argv[1]), {}
sys.path.insert(0, str(folder))
for path in folder.glob("*.py"):
    printed, sys.argv = io.StringIO(), [str(path), "--help"]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(path), run_name="__main__")
    except ModuleNotFoundError as error:
        answers[path.name] = error.name, ""
    except SystemExit as end:
        answers[path.name] = end.code, printed.getvalue()
print(json.dumps(answers))
"""


def test_every_script_says_what_it_measures_and_what_it_takes():
    run = [sys.executable, "-P", "-W", "ignore", "-c", HELP, str(FOLDER)]
    answers = json.loads(subprocess.run(run, cwd=FOLDER.parent, capture_output=True, check=True).stdout)
    listed = re.findall(r"^\| `(\w+\.py)` \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(answers) == sorted(listed)  # the other files are shared by these
    for name, (code, text) in answers.items():
        if text or code == 0:
            title = ast.get_docstring(ast.parse((FOLDER / name).read_bytes())).splitlines()[0]
            assert code == 0, name
            assert f"\n{title}\n" in text, name
            assert re.search(r"\nTakes \S.*\. Needs \S.* \(benchmarks/README.md\)\.\n", text), name
        else:
            assert code not in (None, "shared", "pnorm"), name  # a package that is not installed
    assert sum(code == 0 for code, _ in answers.values()) > 10


def test_a_script_without_the_public_sets_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(FOLDER)
    folder = importlib.import_module("shared").data_folder
    monkeypatch.setenv("PNORM_DATA", str(tmp_path))
    assert folder() == tmp_path
    monkeypatch.setenv("PNORM_DATA", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match=r"no folder .*none"):
        folder()
    monkeypatch.delenv("PNORM_DATA")
    with pytest.raises(SystemExit, match="not set"):
        folder()


@pytest.mark.usefixtures("few_points")
def test_the_numbers_of_the_demonstration(monkeypatch, capsys):
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(FOLDER)
    script = importlib.import_module("demonstration")
    monkeypatch.setattr(pnorm.datasets, "insurance_claims", partial(pnorm.datasets.insurance_claims, 2000))
    monkeypatch.setattr(script, "FIRST", 100)
    script.main(["--draws", "2"])
    blocks = [block.splitlines() for block in capsys.readouterr().out.strip().split("\n\n")]
    assert [block[0] for block in blocks] == [f"{title} (2 draws)" for title in script.BLOCKS]
    for (_, _, *rows), (methods, _) in zip(blocks, script.BLOCKS.values(), strict=True):
        assert [row[:20].rstrip() for row in rows] == list(methods)
    (_, _, first, fourth, *_), _, (_, _, *none_staged) = blocks
    assert float(fourth[22:28]) < float(first[22:28])
    assert max(float(row[22:28]) for row in none_staged) < float(fourth[22:28])


def test_sets_are_counted_by_95_percent_intervals(monkeypatch):
    """The last lines of unseen.txt are those of its digits, by the t distribution with nine degrees of freedom."""
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(FOLDER)
    script = importlib.import_module("unseen")
    printed = (FOLDER.parent / "doc" / "_outputs" / "unseen.txt").read_text(encoding="utf-8")
    blocks, counts, excluded = printed.split("\nSets of ")
    assert [script.verdict(mean, 0.004, 10) for mean in (0.009, 0.010, -0.010)] == [0, 1, -1]
    lows = []
    own = np.array(re.findall(r"^  PNormPush\(\) +(\S+) +(\S+) +(\S+)", blocks, re.MULTILINE), float)
    sizes = re.findall(r"^\w+: ([\d,]+) rows, ([\d,]+) positive", blocks, re.MULTILINE)
    n, n_pos = np.array([[int(of.replace(",", "")) for of in both] for both in sizes]).T
    gain = own - np.column_stack([np.full(n.size, 0.5), n_pos / n, np.full(n.size, 0.5)])
    for name in script.OTHERS:
        lines = re.findall(rf"^  less {re.escape(name)} +(.*)$", blocks, re.MULTILINE)
        assert len(lines) == len(script.SETS)
        means, errors = np.moveaxis([[of.split(" ± ") for of in re.split(" {2,}", line)] for line in lines], 2, 0)
        means, half = means.astype(float), 2.262157 * errors.astype(float)
        found = [
            f"{above} : {below}" for above, below in zip((means > half).sum(0), (means < -half).sum(0), strict=True)
        ]
        assert re.findall(r"\d+ : \d+", next(of for of in counts.splitlines() if of.startswith(f"  {name}"))) == found
        if name in script.SUMS:
            lows.append(means - half)
    assert excluded.split()[-3:] == [str(n) for n in (np.min(lows, axis=0) > -script.MARGIN * gain).sum(0)]


def test_sets_that_were_not_used(monkeypatch, capsys):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("interpret")
    monkeypatch.syspath_prepend(FOLDER)
    script = importlib.import_module("unseen")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    frame, y = pd.DataFrame(x, columns=["a", "b"]), rng.random(600) < expit(2 * np.abs(x[:, 0]) - 3)
    monkeypatch.setattr(script, "SETS", {("of", "both sides"): "y"})
    monkeypatch.setattr(script, "rows_of", lambda package, name: (frame, y))
    script.main(["--splits", "2"])
    title, head, own, *others, told, linear, curves, _, _, _, near, count = capsys.readouterr().out.splitlines()
    assert title == f"both sides: 600 rows, {y.sum()} positive, 2 columns"
    assert head.split("  ")[-1].strip() == "AUC"
    assert [line[2:28].strip() for line in others] == [f"less {name}" for name in script.OTHERS]
    assert float(own[-12:]) > 0.7
    assert float(others[0].split()[-3]) > 0.1  # the effect is that of the size of a column, on both sides
    assert told == "Sets of 1 on which the 95 % interval has PNormPush() ahead : behind"
    of_two = [float(of) for of in others[0].split()[-3::2]]  # of AUC
    assert linear.split()[-3:] == [str(int(of_two[0] > 12.706 * of_two[1])), ":", "0"]
    assert curves.split()[-1] == "0"
    assert near == "Sets of 1 on which it is excluded that another sum over columns has a tenth more above chance"
    assert count.split() == ["0", "0", "0"]  # 12.7 standard errors of two splits


@pytest.mark.usefixtures("few_resamples")
def test_the_lists_of_other_splits(monkeypatch, capsys, tmp_path):
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("COLUMNS", "80")  # the script sets another width
    script = importlib.import_module("splits")
    monkeypatch.setattr(script, "SEEDS", range(1, 3))
    _, *how = script.LEADS
    lines = (FOLDER.parent / "examples" / "leads.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "leads.csv"
    path.write_text("".join(lines[:2000]), encoding="utf-8")
    script.main([str(path), *how, "-p", "1", "-t", "20"])
    title, means, differences = capsys.readouterr().out.strip().split("\n\n")
    assert title == f"pnorm {path} --label bought --id lead -p 1 -t 20, --seed 1 to 2"
    names = [line.split("  ")[0] for line in means.splitlines()[1:]]
    assert [next(name for name in names if name.startswith(of)) for of in script.MEASURES] == names
    cells = [line.split() for line in differences.splitlines() if line.startswith("  ")]
    assert len(cells) == len(names) * len(script.RIVALS)
    for *_, mean, error, low, high, above, equal, below in cells:
        assert float(low) <= float(mean) <= float(high)
        spread = (float(high) - float(low)) / 2**0.5  # the standard deviation of two splits
        assert float(error) == pytest.approx(spread * (1 / 2 + 1 / 4) ** 0.5, abs=0.0015)
        assert int(above) + int(equal) + int(below) == 2
    first = [float(x) for x in means.splitlines()[1].split()[-1 - len(script.RIVALS) :]]
    assert float(cells[0][-7]) == pytest.approx(first[0] - first[1], abs=0.0011)  # both are rounded


def of_adult(n):
    """The columns of Adult with made-up values, and labels that depend on two of them."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "age": rng.integers(17, 91, n),
            "workclass": rng.choice(["Private", "State-gov", None], n),
            "capital-gain": np.where(rng.random(n) < 0.9, 0, rng.choice([2174, 7688, 99999], n)),
        }
    )
    f = 0.04 * (frame["age"] - 40) + 2.0 * (frame["capital-gain"] > 5000) - 1
    return frame, rng.random(n) < 1 / (1 + np.exp(-f.to_numpy()))


@pytest.fixture
def adult_rivals(monkeypatch):
    pytest.importorskip("sklearn", minversion="1.8")
    monkeypatch.syspath_prepend(FOLDER)
    script = importlib.import_module("adult_rivals")
    small = {"BUDGET": 20, "SPLITS": range(2), "TREES": (5, 10), "CS": (0.1, 1), "WEIGHTS": (1, 4)}
    for name, value in {**small, "table": lambda: of_adult(300)}.items():
        monkeypatch.setattr(script, name, value)
    return script


def test_the_steps_that_are_turned_give_the_same_scores(adult_rivals, monkeypatch):
    monkeypatch.setattr(adult_rivals, "TOL", 1e-6)
    frame, y = of_adult(500)
    S, new = adult_rivals.steps(frame, y, frame[:50])
    plain = pnorm.rankers.from_table(frame[y], frame[~y]).evaluate(frame)
    assert (S.mean(axis=0) <= 0.5).all()
    assert (S[:50] != new).nnz == 0
    assert 0 < (S.toarray() != plain).all(axis=0).sum() < plain.shape[1]
    model, of_plain = (adult_rivals.logistic(X, y, 0.3, 4) for X in (S, plain))
    f = model.decision_function(S)
    assert f == pytest.approx(of_plain.decision_function(plain), abs=0.02)  # but for the penalty of the intercept
    # the weight is that of the negatives, the intercept is free, and the penalty leaves few steps
    shares = [np.average(of, weights=np.where(y, 1, 4)) for of in (expit(f), y)]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)
    assert 0 < np.count_nonzero(model.coef_) < S.shape[1] / 2


@pytest.mark.usefixtures("few_points", "few_resamples")
def test_adult_beside_its_rivals_stage_by_stage(adult_rivals, tmp_path, capsys):
    out = tmp_path / "adult.json"
    adult_rivals.main(["--out", str(out), "--only", "steps"])
    means, differences, settings = tables_of(capsys)
    assert list(means) == list(settings) == [adult_rivals.STEPS]
    assert not differences
    kept = json.loads(out.read_text())
    kept["0"]["steps"][adult_rivals.STEPS][0] += 2  # what is kept is not measured again
    out.write_text(json.dumps(kept))
    adult_rivals.main(["--out", str(out)])
    all_means, differences, settings = tables_of(capsys)
    assert list(all_means) == [adult_rivals.THIS, *adult_rivals.RIVALS]
    assert list(differences) == list(adult_rivals.RIVALS)
    assert float(all_means[adult_rivals.STEPS][-1]) == float(means[adult_rivals.STEPS][-1]) + 1
    for name, (mean, *_) in differences.items():
        own, other = (float(all_means[which][-1]) for which in (adult_rivals.THIS, name))
        assert float(mean) == pytest.approx(own - other, abs=0.11)  # all are rounded
    assert set(settings) == {adult_rivals.STEPS, adult_rivals.ADDITIVE, adult_rivals.BOOSTED}


def tables_of(capsys):
    """Return the lines of each printed table by their first cell."""
    printed = capsys.readouterr().out.strip("\n").split("\n\n")
    cells = [[re.split(r" {2,}", line) for line in table.splitlines()[1:]] for table in printed]
    return [{name: numbers for name, *numbers in table} for table in cells]
