"""Docstrings that agree: parameters of one name are described in the same words."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import pnorm

ROOT = Path(__file__).parents[1]

OPTIONAL = "array_like, shape (I,) and (K,), optional"
DASK = "dask or NumPy array, or dask Series, shape (I,) and (K,), optional"
LABELS = "sequence of labels, of length I and K, optional"
DASK_LABELS = "sequence, dask array or dask Series of labels, of length I and K, optional"
ROWS = "array_like, shape ({}, d), or sequence of {} things"
OBJECTS = "None, sequence of callables, or Rankers"
POWER = "Power of the price r ** p that a negative pays for the positives below it; at least 1."
PENALTY = "Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140."
LOSS = "The cost of a pair whose scores differ by z"
AS_IN = re.compile(r"[Aa]s in `([\w.]+)`")

# Name of a parameter, or names that are described together -> types, and sentences with which a description begins.
# After this it may say what is particular to the function, or that it is as in another one.
SHARED = {
    "pos": (
        [ROWS.format("I", "I") + " where the rankers are callables",
         ROWS.format("I", "I") + " where the rankers are callables, or CodedRows", ROWS.format("I", "I"), "array_like, shape (I, d)",
         "array_like, shape (I, d), or int", "array_like, shape (I, d), optional", "array_like, shape (I, d), or data frame", "table of I rows",
         "dask Array, shape (I, d), or dask DataFrame", "dask Array, shape (I, d), dask DataFrame, or CodedRows"],
        ["The positive rows"],
    ),
    "neg": (
        [ROWS.format("K", "K"), "array_like, shape (K, d)", "array_like, shape (K, d), optional",
         "array_like, shape (K, d), or data frame", "table of K rows", "dask Array, shape (K, d), or dask DataFrame, optional"],
        ["The negative rows"],
    ),
    "pos_weight, neg_weight": ([OPTIONAL, DASK], ["Case weights, zero or more."]),
    "pos_weight": (["array_like, shape (I,), optional"], ["Case weights, zero or more."]),
    "neg_weight": (["array_like, shape (K,), optional"], ["Case weights, zero or more."]),
    "pos_group, neg_group": ([LABELS, DASK_LABELS], ["Query groups: pairs form within a group only."]),
    "pos_grade, neg_grade": ([OPTIONAL], ["Grades: in each pair, the positive has the higher grade."]),
    "pos_weight, neg_weight, pos_group, neg_group": (["optional", "as in `train`"], ["Case weights and query groups"]),
    "pos_label": (["label, optional"], ["The label of positive rows"]),
    "group_weight": (['{"pairs", "equal"}'], ["How much each query group counts."]),
    "H": (
        [OBJECTS, OBJECTS.replace(", or Rankers", ", Rankers, callable, or mapping of these"), "None or Rankers", OBJECTS.replace("None,", "\"table\", None,"),
         "Rankers or sequence of callables", "Rankers", "Rankers, or a model"],
        ["The weak rankers."],
    ),
    "p": (["float", "float or sequence of float", "float or sequence of float, optional", "float, optional"],
          [POWER, "The power, for the record; scores do not depend on it."]),
    "t_max": (["int", "int, optional"], ["Largest number of rounds", "Largest number of steps"]),
    "max_iter": (["int"], ["Largest number of Newton steps"]),
    "tol": (
        ["float", "float, optional"],
        ["Stop as stationary when the largest edge is at most this, in units of h.",
         "Stop as stationary when the gradient's norm is at most this times kappa.",
         "Stop when the objective is proved to be this close to its infimum.",
         "The largest distance from the minimiser in the norm of the space"],
    ),
    "l1": (["float", "float, optional", "float or sequence of float", "float, sequence of float, function of p, or mapping of these"], ["Weight of the penalty ``l1 |lam|_1``, zero or more."]),
    "penalty": (['{"coefficients", "shapes"}', '{"coefficients", "shapes"}, optional'],
                ['With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts']),
    "max_columns": (["int, optional"], ["Largest number of columns whose weak rankers have coefficients"]),
    "signs": (["array_like, shape (n,), optional"],
              ["1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others."]),
    "l2": (["float", "float, optional", "float or sequence of float, optional",
            "float, sequence of float, function of p, or mapping of these, optional"],
           [PENALTY, "Penalty, zero or more, in units of the columns of X."]),
    "loss": (
        ["str or Loss", '{"logistic", "squared", "hinge", "squared_hinge"}',
         '{"logistic", "squared", "hinge", "squared_hinge"} or Loss', '{"kendall", "ndcg"}'],
        [LOSS, "phi", "The measure whose surrogate is minimised."],
    ),
    "price": (["Price, optional"], ["What a negative pays for the sum of its losses, from `pnorm.objectives`."]),
    "smoothing": (["float"], ["With the hinge: half the width of a parabola in place of its corner."]),
    "push": (['{"top", "bottom"}'], ["The end of the list that is to be most accurate."]),
    "init": (["Trace, ScoringFunction, mapping or array_like, shape (n,), optional"],
             ["Coefficients to start from; zero by default."]),
    "lam": (["array_like, shape (n,)", "array_like, shape (n,), optional", "float"],
            ["Coefficients, one per weak ranker.", "λ, from 1e-140 to 1e140.", "lambda, above 0"]),
    "n_threads": (["int, optional"],
                  ["Number of threads; by default, one for each core that this process may use."]),
    "callback": (["callable, optional"],
                 [f"Called with the trace so far after every {unit}; a true return value stops the run."
                  for unit in ("round", "step", "epoch")]),
    "progress": (["bool", "bool or callable"], ["Show a progress bar; needs tqdm, the extra ``progress``."]),
    "seed": (["int or numpy.random.Generator"], ["Random numbers; the same seed gives the same result."]),
    "confidence, n_resamples, seed": (["float, int, int or Generator, optional"],
                                      ["Add an interval: the central share `confidence` (such as 0.95) of the values on `n_resamples` resampled lists.",
                                       "Add an interval with the confidence `confidence` (such as 0.95)."]),
    "confidence": (["float"], ["The least probability, over the held-out rows, with which the guarantee holds",
                               "Of tables drawn from one distribution, the share of which nothing is said to move"]),
    "f_pos, f_neg": (["array_like, shape (I,) and (K,)"],
                     ["Scores of the positives and of the negatives."]),
    "f_pos": (["array_like, shape (I,)"], ["Scores of the positives."]),
    "f_neg": (["array_like, shape (K,)", "array_like, shape (K,), optional"], ["Scores of the negatives."]),
    "delta": (["float"], ["The probability with which the bound may fail, between 0 and 1."]),
    "relevance_level": (["float, optional"], ["Rows with at least this grade are relevant; by default, rows with a grade"]),
    "empty": (
        ['float or {"skip"}'],
        [f'The value of a list {of}: a number from 0 to 1, or "skip" to leave it out.'
         for of in ("in which no row is worth anything", "without relevant rows", "without a grade above 0")],
    ),
    "missing": (['{"error", "own"}', "sequence of str or number, optional"],
                ["Refuse rows with missing values (NaN, None), or ", "Words and numbers that mean a missing value in "]),
    "monotone": (["mapping from column to 1 or -1, optional"],
                 ["Columns, by name or number from 0, with which scores never fall (1) or never rise (-1)."]),
    "data_home": (["path, optional"], ["Folder with "]),
}  # fmt: skip


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


DESCRIBED = list(parameters())


@pytest.mark.parametrize("names", SHARED)
def test_shared_parameters_are_described_in_the_same_words(names):
    kinds, sentences = SHARED[names]
    found = [(f"{module}.{function}", *rest) for module, function, of, *rest in DESCRIBED if of == names]
    assert found
    for where, kind, text in found:
        assert kind in kinds, where
        assert text.startswith(tuple(sentences)), where
    assert set(kinds) == {kind for _, kind, _ in found}, "a type that no docstring has"
    assert all(any(text.startswith(sentence) for *_, text in found) for sentence in sentences), "or a sentence"


def test_shared_names_are_found_in_no_other_company():
    shared = {name for names in SHARED for name in names.split(", ")}
    for module, function, names, kind, text in DESCRIBED:
        if names not in SHARED and shared & set(names.split(", ")):
            refers = AS_IN.search(kind) or AS_IN.search(text)
            assert refers or names in ("pos, neg", "lam, kappa"), f"{module}.{function}: {names}"


def test_a_parameter_that_is_as_in_another_function_is_one_there():
    described = {}
    for module, function, names, *_ in DESCRIBED:
        described.setdefault(function, {}).setdefault(module, set()).update(names.split(", "))
    count = 0
    for module, function, names, kind, text in DESCRIBED:
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


def test_no_section_says_only_that_arguments_are_checked():
    for module, function, text in docstrings():
        assert "is not as described" not in text, f"{module}.{function}"


def test_no_description_is_the_mark_of_a_list_item():
    for module, function, names, _, text in DESCRIBED:
        assert not re.match(r"(\w|\d+)\.( |$)", text), f"{module}.{function}: {names}: {text}"


def test_titles_of_sections_stand_on_lines_of_their_own():
    for path in (ROOT / "pnorm").rglob("*.py"):
        glued = re.findall(
            r"^ +(?:Notes|Examples|Raises|Returns|Warns|See Also) -{3,}", path.read_text("utf-8"), re.MULTILINE
        )
        assert not glued, path


@pytest.mark.parametrize("name", ["train", "minimize", "cross_validate"])
def test_the_table_of_parameters_has_each_of_them_once(name):
    function = getattr(pnorm, name)
    table = re.search(r"^part .*?\n=[= ]+\n(.*?)\n=[= ]+\n", inspect.getdoc(function), re.MULTILINE | re.DOTALL)[1]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(inspect.signature(function).parameters)
