"""The compiled functions against their twins in NumPy, and against 50-digit arithmetic."""

import copy
import importlib
import inspect
import itertools
import math
import pkgutil
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import twins
from repeats import each_value
from scipy.special import softmax

import pnorm
from pnorm import _core
from pnorm._core import _bins, _tilt
from pnorm._threads import merge_exponentials
from pnorm.objectives._pnorm_line import Direction, Line, Side, _cumulants, find_root, in_memory

COMPILED = {
    name: function
    for module in pkgutil.iter_modules(_core.__path__)
    # The tests of threads are test_faults.py, test_interruptions.py and test_threads.py; the twin of the compiled loop
    # is the loop of _solvers/descent.py, to which test_compiled.py holds it. Cython's own code has its own tests.
    if module.name not in ("_threads", "_crew", "_descent", "_cyutility")
    for name, function in vars(importlib.import_module(f"pnorm._core.{module.name}")).items()
    if callable(function) and not name.startswith("_")
}
TWINS = {
    name: function
    for name, function in vars(twins).items()
    if inspect.isfunction(function) and function.__module__ == "twins" and not name.startswith("_")
}
CASES = {}
"""By the name of a function: lists of its arguments, from a generator of random numbers and a number of rows."""

# Borders of blocks of 256 and 512 rows, of 4, 8 and 16 chains, and of tables of codes.
SIZES = [0, 1, 8, 65, 256, 513]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", sorted(COMPILED))
def test_a_compiled_function_does_as_its_twin(name, size):
    names, scratch = list(inspect.signature(TWINS[name]).parameters), arguments_that_are("Scratch", name)
    cases = 0
    for arguments in CASES[name](np.random.default_rng(size), size):
        cases += 1
        ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        result, expected = COMPILED[name](*ours), TWINS[name](*theirs)
        same(result, expected, f"result of case {cases}")
        if name == "choose":  # the rest of the room is scratch
            ours, theirs = (
                [a[:expected] if key.endswith("rows") else a for key, a in zip(names, x, strict=True)]
                for x in (ours, theirs)
            )
        if name == "distinct":  # in no order
            ours[1].sort()
        for key, a, b in zip(names, ours, theirs, strict=True):
            if isinstance(b, np.ndarray) and key not in scratch:
                same(a, b, f"{key} of case {cases}")
    assert cases


def same(a, b, where):
    if b is None:
        assert a is None, where
    elif isinstance(b, tuple):
        assert len(a) == len(b), where
        for x, y in zip(a, b, strict=True):
            same(x, y, where)
    elif np.asarray(b).dtype.kind == "f":
        finite = np.abs(b, where=np.isfinite(b), out=np.zeros_like(b, float))
        np.testing.assert_allclose(a, b, 1e-11, 1e-12 * max(1.0, finite.max(initial=0.0)), err_msg=where)
    else:
        np.testing.assert_array_equal(a, b, err_msg=where)


def test_every_compiled_function_has_a_twin_with_its_arguments():
    assert COMPILED.keys() == TWINS.keys() == CASES.keys()
    for name, twin in TWINS.items():
        assert list(inspect.signature(COMPILED[name]).parameters) == list(inspect.signature(twin).parameters), name


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_docstrings_say_what_is_in_and_what_is_out(name):
    said = [key for role in ("In", "Out", "Changed", "Scratch") for key in arguments_that_are(role, name)]
    assert sorted(said) == sorted(inspect.signature(COMPILED[name]).parameters)


def arguments_that_are(role, name):
    """The arguments of one role: the last paragraph of a docstring names those of each."""
    found = re.search(rf"^ *(?:.*\. )?{role}: ([A-Za-z_,\s]+)\.", COMPILED[name].__doc__, re.MULTILINE)
    return re.split(r",\s+", found.group(1)) if found else []


# Arguments ----------------------------------------------------------------------------------------


def case(function):
    CASES[function.__name__] = function
    return function


def ranges(n):
    """Yield a number of rows, and the first and the last of n of them."""
    if n:
        yield n, 0, n
    yield n + 5, 2, n + 2


def rows_of(rng, n):
    """Yield scores, outputs and logs of weights."""
    yield rng.normal(size=n), rng.normal(size=n), None
    yield 1e4 * rng.normal(size=n), rng.integers(-1, 2, n).astype(float), np.log(rng.uniform(0.1, 3, n))
    ties = rng.integers(0, n // 3 + 1, n)  # rows that are alike
    yield rng.normal(size=n)[ties], rng.normal(size=n)[ties], np.zeros(n)


def weights_of(rng, n):
    """Yield weights: random, all zero, and in part."""
    yield rng.random(n)
    yield np.zeros(n)
    yield rng.integers(0, 2, n).astype(float)


@case
def exp_below(rng, n):
    for values in rng.normal(size=max(n, 1)), 300 * rng.normal(size=max(n, 1)):
        yield [values, values.max()]


@case
def log_sum(rng, n):
    for size, start, stop in ranges(n):
        for f, _, log_c in rows_of(rng, size):
            for scale in (-1.0, 4.0):
                yield [f, log_c, scale, start, stop]


@case
def weigh(rng, n):
    for f, log_c, *rest in log_sum(rng, n):
        yield [f, log_c, np.full(f.size, 7.0), *rest]


@case
def softmax_rows(rng, n):
    n = max(n, 1)
    for log_c, scale in itertools.product((None, rng.normal(size=n)), (-1.0, 3.0)):
        yield [500.0 * rng.normal(size=n), log_c, scale, np.full(n, 7.0)]


@case
def rescale_rows(rng, n):
    for size, *rows in ranges(n):
        yield [rng.normal(size=size), 0.3, *rows]


@case
def advance(rng, n):
    for size, *rows in ranges(n):
        yield [rng.normal(size=size), rng.normal(size=size), 0.3, *rows]


@case
def given(rng, n):
    for size, *rows in ranges(n):
        for weights in weights_of(rng, size):
            yield [weights, rng.normal(size=size), 0.25, *rows]


@case
def tilted(rng, n):
    for size, *rows in ranges(n):
        for f, h, log_c in rows_of(rng, size):
            for scale, alpha in ((-1.0, 0.0), (-1.0, 0.37), (4.0, -0.37)):
                yield [f, h, log_c, scale, alpha, 0.25, *rows]


@case
def expanded(rng, n):
    for rate in (0.0, 1 / 16, -1 / 16):
        yield [rng.normal(size=10), rate]


@case
def tilt_weights(rng, n):
    for size, *rows in ranges(n):
        for weights in weights_of(rng, size):
            for rate in (1 / 16, -1 / 16, 0.0):
                yield [weights.copy(), rng.uniform(-1, 1, size), rate, *rows]


@case
def tilt_codes(rng, n):
    n = max(n, 1)
    for scale, spread in ((-1.0, 1.0), (4.0, 30.0)):
        masses = rng.random(n) * rng.integers(0, 2, n)
        masses[rng.integers(n)] = 0.5
        yield [masses, spread * rng.normal(size=n), scale, np.empty(n)]
        yield [np.where(masses > 0, 1e-200, 0.0), np.where(masses > 0, 1.0, 1e300), scale, np.empty(n)]


@case
def logs(rng, n):
    yield [np.exp(100 * rng.normal(size=n)), np.empty(n)]


@case
def split(rng, n):
    for f, h, log_c, scale, alpha, _, *rows in tilted(rng, n):
        for level in (0.0, h[n // 2], 7.0):
            yield [f, h, log_c, scale, alpha, level, *rows]


@case
def root_step(rng, n):
    width = rng.uniform(0.5, 2)
    for g, slope, bend in rng.normal(size=(20, 3)) * np.logspace(-8, 1, 20)[:, None]:
        for curved in (abs(slope), 10.0, 1e-300, 0.0):
            yield [0.0, 0.0, np.inf, np.inf, 0.0, width, -abs(g), curved, bend]
            yield [n + 1.0, n / 2, np.inf, np.inf, n / 3, width, g, curved, bend]
            yield [n + 1.0, n / 2, n + 1.7, 0.9 + n / 2, 0.1, width, g, curved, bend]
    yield [1.0, 1.0, np.nextafter(1.0, 2.0), 1.0, 0.1, width, -1.0, 1e-3, 0.0]


def grouped(rng, n):
    """Yield rows in groups of which none is empty: many small ones, and few, of which one may be large."""
    n = max(n, 1)
    for n_groups, (f, h, log_c) in itertools.product((min(n, 5), max(n // 3, 1)), rows_of(rng, n)):
        inner = np.sort(rng.choice(np.arange(1, n), n_groups - 1, replace=False))
        yield f, h, log_c, np.r_[0, inner, n].astype(np.intp)


@case
def weigh_by_group(rng, n):
    for f, _, log_c, starts in grouped(rng, n):
        yield [f, log_c, starts, 3.0, np.empty(f.size), np.empty(starts.size - 1)]


@case
def multiply_by_group(rng, n):
    for n_groups in (1, 7):
        yield [rng.random(n), rng.integers(0, n_groups, n), rng.random(n_groups), np.empty(n)]


@case
def tilted_by_group(rng, n):
    for f, h, _, starts in grouped(rng, n):
        n_groups = starts.size - 1
        level = rng.choice(np.r_[h, 7.0], n_groups)
        for weights in weights_of(rng, f.size):
            for rate, own in itertools.product((0.0, 0.7, -3.0), (True, False)):
                top = abs(rate) * np.abs(h).max()
                yield [weights, h, starts, rate, top, own, level, np.empty(n_groups), np.empty((n_groups, 3))]


def cells(rng, n, count):
    """Sums of weights of max(n, 1) groups and one value or more, and these values; some sums are zero."""
    for width in (1, 2, 19):
        some = rng.random((count, max(n, 1), width)) * rng.integers(0, 3, (count, max(n, 1), width))
        some[..., 0] += 0.1
        yield [*(some / some.sum(axis=(1, 2), keepdims=True)), np.sort(rng.normal(size=width))]


@case
def tilted_cells(rng, n):
    for masses, values in cells(rng, n, 1):
        groups = len(masses)
        for rate, own in itertools.product((0.0, 0.7, -3.0), (True, False)):
            level, room = rng.choice(np.r_[values, 7.0], groups), [np.empty(groups), np.empty((groups, 3))]
            yield [masses, values, rate, abs(rate) * np.abs(values).max(), own, np.empty(values.size), level, *room]


@case
def move_cells(rng, n):
    for (u, w, v, values), p, step in itertools.product(cells(rng, n, 3), (1.0, 2.5), (0.3, -2.0)):
        share, mass = rng.random((2, len(u)))
        room = [np.empty((3, values.size)), share]
        yield [u.copy(), w.copy(), v, values, p, step, 1e-200, *room, mass]
        yield [u.copy(), w.copy(), None, values, p, step, 1e-200, *room, mass]
        light = w.copy()
        light[0] = 1e-201
        yield [u.copy(), light, v, values, p, step, 1e-200, *room, mass]


@case
def mixture(rng, n):
    n = max(n, 1)
    for p in (1.0, 2.5, 16.0):
        cumulants = [rng.normal(size=(n, 3)) for _ in range(2)]
        cumulants[0][:, 1], cumulants[1][:, 1] = rng.random((2, n))
        before, pos, neg = rng.uniform(0.5, 1, (3, n))
        before[rng.integers(0, 5, n) == 1] = 0.0
        before[0] = 1.0
        yield [before, pos, cumulants[0], neg, cumulants[1], p, np.empty(n)]


@case
def split_by_group(rng, n):
    for f, h, log_c, starts in grouped(rng, n):
        n_groups = starts.size - 1
        level = rng.choice(np.r_[h, 7.0], n_groups)
        yield [f, h, log_c, starts, 3.0, -0.2, level, np.empty((n_groups, 2)), np.empty((n_groups, 5))]


def matrices(rng, shape):
    """Yield a matrix in single and double precision, by rows, by columns, and as a part of a wider one."""
    for dtype, order in itertools.product((np.float32, np.float64), "CF"):
        yield np.array(rng.normal(size=shape), dtype, order=order)
        yield np.array(rng.normal(size=(shape[0] + 3, shape[1] + 2)), dtype, order=order)[1:-2, :-2]


def products_of(rng, n):
    """Yield matrices that are long or wide, runs of their columns, and rows."""
    for (size, start, stop), columns in [*((x, 7) for x in ranges(n)), ((9, 1, 8), max(n, 1))]:
        for A in matrices(rng, (size, columns)):
            yield A, np.array([[0, columns]]), start, stop
            if columns > 4:  # no run is empty
                yield A, np.array([[1, 3], [3, columns - 1]]), start, stop


@case
def products(rng, n):
    for A, runs, start, stop in products_of(rng, n):
        for s in weights_of(rng, len(A)):
            yield [A, runs, s, start, stop, np.empty(np.diff(runs).sum())]


@case
def combined(rng, n):
    for A, runs, start, stop in products_of(rng, n):
        lam = rng.normal(size=np.diff(runs).sum()) * rng.integers(0, 2, np.diff(runs).sum())
        yield [A, runs, lam, start, stop, rng.normal(size=len(A))]


@case
def symmetric(rng, n):
    for shape in (max(n, 1), 6), (6, max(n, 1)):
        for A in rng.normal(size=shape), rng.normal(size=(shape[0], shape[1] + 5))[:, : shape[1]]:
            yield [A, *(rng.normal(size=shape[k]) for k in (1, 0, 0, 1))]


@case
def inner(rng, n):
    yield [rng.normal(size=max(n, 1)), rng.normal(size=max(n, 1))]


@case
def column(rng, n):
    for size, *rows in ranges(n):
        for A in matrices(rng, (size, 3)):
            yield [A, 1, 0.3, *rows, np.full(size, 7.0)]


@case
def finite(rng, n):
    for dtype in (float, np.float32):
        values = rng.normal(size=n).astype(dtype)
        values[:1] = np.finfo(dtype).max
        yield [values]
        for wrong in (np.nan, np.inf, -np.inf) if n else ():
            values = values.copy()
            values[rng.integers(n)] = wrong
            yield [values]
            values[:] = 0.0
            values[-1] = wrong
            yield [values]


@case
def column_extremes(rng, n):
    for A in matrices(rng, (max(n, 1), 5)):
        yield [A, np.zeros(5), np.zeros(5)]


@case
def measure(rng, n):
    low = rng.normal(size=(2, n))
    high = low + rng.random((2, n)) * (rng.random((2, n)) < 0.7)
    yield [low[0], high[0], low[1], high[1], 0.01, np.ones((8, n))]


@case
def sparse_products(rng, n):
    for integer in (np.int32, np.int64):
        for longest in (3, n + 1):
            indptr = np.r_[0, rng.integers(0, longest, 9).cumsum()].astype(integer)
            indices = rng.integers(0, n + 1, indptr[-1]).astype(integer)
            for columns in ((0, 9), (2, 7), (4, 4)):
                yield [indptr, indices, rng.normal(size=indices.size), rng.normal(size=n + 1), *columns, np.ones(9)]


@case
def distinct(rng, n):
    n = max(n, 1)
    for A in matrices(rng, (n, 2)):
        few = np.round(A)
        for B, room in itertools.product((A, few, -np.abs(few)), (n + 1, 3)):
            known = np.full((2, room), np.inf)
            known[0, :2] = 0.0, 9.0
            yield [B, known, np.array([2, 0])]
            yield [B, known, np.array([1, room + 1])]


@case
def encode(rng, n):
    for code, levels in (np.uint8, 256), (np.uint16, 512):
        first = np.r_[0, 3, 10, 9 + levels]
        cuts = np.concatenate([np.arange(k) / 2 - 3 for k in (3, 5, levels - 9)])
        cuts = np.insert(cuts, [8, 8, *([cuts.size] * 8)], np.inf)
        words, radix = np.array([0, 0, 1]), np.array([1, 4, 1])
        for size, *rows in ranges(n):
            for A in matrices(rng, (size, 4)):
                at = np.round(4 * A) / 2  # on cuts, and on neither side of all
                yield [at, *rows, np.array([2, 0, 3]), first, cuts, words, radix, np.zeros((2, size), code)]


CODES = [(np.uint8, (5, 16, 256)), (np.uint16, (7, 300, 4096))]
"""Types of codes, and how many codes words have."""


@case
def sums_by_code(rng, n):
    for (code, sizes), (size, *rows) in itertools.product(CODES, ranges(n)):
        for n_words, weights in itertools.product((1, 2, 3), weights_of(rng, size)):
            codes = rng.integers(0, np.array(sizes[:n_words])[:, None], (n_words, size)).astype(code)
            first = np.r_[0, np.cumsum(sizes[:n_words])]
            out = np.empty(first[-1]), np.empty(COMPILED["scratch_size"](max(sizes)))
            yield [codes, weights, *rows, None, first, *out]
            if chosen := np.flatnonzero(rng.integers(0, 2, n)).astype(np.int32).tolist():
                yield [codes, weights, *rows, np.array(chosen, np.int32), first, *out]


@case
def scratch_size(rng, n):
    yield [n]


@case
def choose(rng, n):
    for (code, sizes), (size, *rows) in itertools.product(CODES, ranges(n)):
        codes = rng.integers(0, sizes[1], size).astype(code)
        for wanted in rng.integers(0, 2, sizes[1]), np.zeros(sizes[1]), np.ones(sizes[1]):
            yield [codes, wanted.astype(np.uint8), rng.random(size), *rows, np.empty(size, np.int32), np.empty(size)]


@case
def sums_by_pair(rng, n):
    for (code, (a, b, _)), (size, *rows) in itertools.product(CODES, ranges(n)):
        codes = [rng.integers(0, k, size).astype(code) for k in (a, b)]
        for weights in weights_of(rng, size):
            yield [*codes, weights, *rows, np.ones((a, b))]


@case
def look_up(rng, n):
    for (code, sizes), (size, *rows) in itertools.product(CODES, ranges(n)):
        for k in sizes:
            yield [rng.integers(0, k, size).astype(code), rng.normal(size=k), *rows, rng.normal(size=size)]


CASES["add_looked_up"] = CASES["multiply_looked_up"] = look_up


@case
def add_words(rng, n):
    for code, sizes in CODES:
        first = np.r_[0, np.cumsum(sizes)]
        for size, *rows in ranges(n):
            codes = np.array([rng.integers(0, k, size) for k in sizes], code)
            for words in (np.array([2]), np.arange(3)):
                yield [codes, words, first, rng.normal(size=first[-1]), *rows, rng.normal(size=size)]


@case
def scores_by_code(rng, n):
    cells, feature, first, at, terms = rankers_of(rng, n)
    for lam in (rng.normal(size=feature.size), rng.normal(size=feature.size) * (feature != 1)):
        yield [lam, feature, first, at, terms, cells, np.empty(cells[-1]), np.empty(cells[-1])]


@case
def tables_of_words(rng, n):
    [of_words, first, size, radix, cells, of_features] = next(marginals(rng, n))
    yield [rng.normal(size=of_features.size), cells, first, size, radix, np.empty_like(of_words)]


@case
def extract(rng, n):
    for code, (a, b, _) in CODES:
        codes = rng.integers(0, a * b, n).astype(code)
        yield [codes, 1, a, np.empty(n, np.uint16)]
        yield [codes, a, b, np.empty(n, np.uint16)]


def stored(rng, n, code, sizes):
    """The rows that features with so many codes store, with their codes, and the cells of these."""
    rows = [np.flatnonzero(rng.integers(0, 2, n)) for _ in sizes]
    rows[1] = rows[1][:0]
    codes = [rng.integers(0, size, own.size).astype(code) for size, own in zip(sizes, rows, strict=True)]
    starts = np.r_[0, np.cumsum([own.size for own in rows])]
    return starts, np.concatenate(rows).astype(np.int32), np.concatenate(codes), np.r_[0, np.cumsum(sizes)]


@case
def stored_sums(rng, n):
    for code, sizes in CODES:
        *of_rows, cells = stored(rng, n, code, sizes)
        for weights, (begin, end) in itertools.product(weights_of(rng, n), ((0, 3), (1, 2), (2, 3))):
            yield [*of_rows, weights, begin, end, cells, np.zeros(cells[-1]), np.zeros((3, 2))]


@case
def twofold_sum(rng, n):
    for size, *rows in ranges(n):
        for weights in weights_of(rng, size):
            yield [weights, *rows]


@case
def add_stored(rng, n):
    for (code, sizes), features in itertools.product(CODES, ([0, 1, 2], [2], [])):
        *of_rows, cells = stored(rng, n, code, sizes)
        yield [*of_rows, np.array(features, np.intp), cells, rng.normal(size=cells[-1]), rng.normal(size=n)]


@case
def marginals(rng, n):
    levels = [n + 1, 3, 4]  # two in the first word, one in the second
    size, radix = np.array([3 * n + 3, 3 * n + 3, 4]), np.array([1, n + 1, 1])
    cells = np.r_[0, np.cumsum(levels)]
    yield [rng.normal(size=size[1] + 4), np.array([0, 0, size[0]]), size, radix, cells, np.empty(cells[-1])]


@case
def values_by_code(rng, n):
    for n_terms in (1, 3, 20):
        yield [rng.integers(0, 2 * n + 2, n_terms), rng.normal(size=n_terms), np.empty(n + 1)]


def rankers_of(rng, n):
    """Features with their codes, and rankers of few and of many terms on them."""
    levels = np.array([n + 1, 2, 5])
    n_terms = np.tile([1, 3, 8, 9, 20], 3)
    feature = np.repeat([0, 1, 2], 5)
    at = rng.integers(0, 2 * np.repeat(levels[feature], n_terms))
    return np.r_[0, np.cumsum(levels)], feature, np.r_[0, np.cumsum(n_terms)], at, rng.normal(size=at.size)


@case
def extremes(rng, n):
    cells, feature, first, at, terms = rankers_of(rng, n)
    for rows in weights_of(rng, cells[-1]):
        room = np.empty(n + 5), np.empty(n + 6, np.intp)
        yield [feature, first, at, terms, cells, rows, *room, np.empty(feature.size), np.empty(feature.size)]


@case
def edges(rng, n):
    cells, feature, first, at, terms = rankers_of(rng, n)
    for sums in weights_of(rng, cells[-1]):
        yield [sums, cells, feature, first, at, terms, np.empty(cells[-1]), np.empty(feature.size)]


@case
def carry(rng, n):
    for (code, sizes), (next_code, next_sizes), (size, *rows) in itertools.product(CODES, CODES, ranges(n)):
        before, codes = rng.integers(0, sizes[1], size).astype(code), rng.integers(0, next_sizes[1], size)
        scratch = np.empty(_bins.scratch_size(next_sizes[1]))
        factors, sums = rng.random(sizes[1]), np.ones(next_sizes[1])
        yield [before, factors, codes.astype(next_code), rng.random(size), *rows, sums, scratch]


def trees_of(rng, size):
    """Yield a chain, a chain with a node for missing values, and a star, with some penalties and rigid nodes."""
    chain = np.maximum(np.arange(size) - 1, 0)
    for parent in (chain, np.r_[chain[:-1], 0], np.zeros(size, np.intp)):
        for l1, signs, rigid in ((0.0, 0, False), (0.3, 0, True), (0.1, 1, True)):
            sign = signs * rng.integers(-1, 2, size)
            low, high = np.where(sign > 0, 0.0, -np.inf), np.where(sign < 0, 0.0, np.inf)
            held = (rng.random(size) < 0.2 * rigid) | (np.arange(size) == 0)
            low[held] = high[held] = 0.0
            yield parent, np.array([np.full(size, l1), rng.uniform(0.1, 1.0, size), low, high])


@case
def fit_tree(rng, n):
    size = min(n + 1, 9)
    for parent, penalty in trees_of(rng, size):
        state = np.zeros(size, np.int8)
        weights, moments = rng.uniform(0.1, 1.0, size), rng.normal(size=size)
        yield [parent, penalty, weights, moments, state, np.empty(size), np.empty(size), np.empty(3 * size)]


def forests_of(rng, n):
    """Yield a root alone, and then a tree, with penalties, and states of their jumps."""
    size = min(n + 2, 9)
    for parent, penalty in trees_of(rng, size):
        first, both = np.array([0, 1, size + 1]), np.r_[0, parent]
        yield first, both, np.c_[np.zeros(4), penalty], rng.integers(0, 2, size + 1).astype(np.int8)


@case
def factor_trees(rng, n):
    for first, parent, penalty, state in forests_of(rng, n):
        weights = rng.uniform(0.1, 1.0, parent.size)
        yield [first, parent, penalty, weights, state, np.empty((3, parent.size))]


@case
def solve_trees(rng, n):
    for first, parent, _, _ in forests_of(rng, n):
        factors, rest = rng.uniform(0.1, 1.0, (3, parent.size)), rng.normal(size=parent.size)
        yield [first, parent, factors, rest, np.empty(parent.size), np.empty(2 * parent.size)]


def linear_of(rng, levels):
    """A linear term of the shapes, of sum zero in every feature, and where each feature's begins."""
    of_features = [rng.normal(size=n) for n in levels.tolist()]
    return 0.02 * np.concatenate([x - x.mean() for x in of_features]), np.r_[0, np.cumsum(levels)]


@case
def visit(rng, n):
    size = min(n + 2, 9)
    for p, (parent, penalty), radix in itertools.product((1.0, 4.0), trees_of(rng, size), (1, 3)):
        # Two features of a word: a column with a line, and one of three codes with a line alone.
        levels, radixes = np.array([size, 3]), np.array([radix, 1 if radix == 3 else size])
        trees = np.array([0, size, size + 1]), np.r_[parent, 0], np.r_[rng.permutation(size), -1]
        penalties = np.c_[penalty, np.zeros(4)]
        values, lines = rng.normal(size=(2, max(size, 3))), np.array([0, 1, 2])
        of_lines = np.array([[0.1, 0.0], [0.5, 0.2], [0.0, -np.inf], [np.inf, np.inf]])
        u, w = rng.random((2, 3 * size))
        u[3:5] = w[1:4] = 0.0
        room = np.empty(9 * max(size, 3) + 7 * size)
        factors = np.empty(3 * size), np.empty(3 * size)
        jump, state = np.zeros(size + 1), np.zeros(size + 1, np.int8)
        yield [
            np.arange(2), levels, radixes, *trees, penalties, state, jump, lines, values, of_lines, np.zeros(2),
            *linear_of(rng, levels), p, 1e-9, 3, u / u.sum(), w / w.sum(), *factors, room,
        ]  # fmt: skip


def words_of(rng, n, sizes):
    """Codes of words of one byte, and of two: as many words as there are sizes."""
    return tuple(
        np.array([rng.integers(0, m, n) for m in own], kind).reshape(len(own), n)
        for own, kind in zip(sizes, (np.uint8, np.uint16), strict=True)
    )


@case
def sweeps(rng, n):
    n, size = n + 3, 5
    features, levels, radix = np.array([0, 1, 2]), np.array([size, 3, size]), np.array([1, size, 1])
    for (parent, penalty), (enough, slow, far) in itertools.product(
        itertools.islice(trees_of(rng, size), 0, 9, 2),
        ((0.0, 2.0, 9e9), (0.0, 0.3, 9e9), (0.1, 2.0, 9e9), (0.0, 2.0, 1.0)),
    ):  # two features in a word of one byte, a line among them, and one in a word of two bytes
        trees = np.array([0, size, size + 1, 2 * size + 1]), np.r_[parent, 0, parent]
        cells, penalties = np.r_[np.arange(size), -1, np.arange(size)], np.c_[penalty, np.zeros(4), penalty]
        lines, of_lines = np.array([0, 0, 1, 1]), np.array([[0.1], [0.5], [-np.inf], [np.inf]])
        pos, neg = [words_of(rng, n + k, ([3 * size], [size])) for k in (0, 2)]
        u, w = [rng.random(n + k) for k in (0, 2)]
        scratch = np.empty(16 * size + 12 * size + _bins.scratch_size(3 * size))
        yield [
            *pos, u / u.sum(), *neg, w / w.sum(), np.array([0, 2, 3]), np.array([3 * size, size]), features, levels,
            radix, *trees, cells, penalties, np.zeros(2 * size + 1, np.int8), np.zeros(2 * size + 1), lines,
            rng.normal(size=(1, size)), of_lines, np.zeros(1), *linear_of(rng, levels), 2.0, 1e-9, 3, enough, slow, far,
            np.zeros(4), scratch,
        ]  # fmt: skip


@case
def curvature_sums(rng, n):
    n += 1
    for sizes in (([3, 200], []), ([], [300]), ([2, 3, 4, 5, 6, 7], [300, 9])):
        codes = np.array(sizes[0] + sizes[1])
        starts = np.r_[0, np.cumsum(codes)]
        pos, neg = words_of(rng, n, sizes), words_of(rng, n + 2, sizes)
        u, w, tables = rng.random(n), rng.random(n + 2), rng.normal(size=starts[-1])
        scratch = np.empty(n + 2 + starts[-1] + _bins.scratch_size(int(codes.max())))
        yield [*pos, u / u.sum(), *neg, w / w.sum(), starts, tables, 2.0, np.empty(starts[-1]), scratch]


@case
def row_products(rng, n):
    n = max(n, 1)
    for sizes in ([1], [9], [2, 5, 30]):
        first, parent = np.r_[0, np.cumsum(sizes)], []
        for size in sizes:  # a node's parent is the node before it, or one of those above that
            up = [0]
            for c in range(1, size):
                v = c - 1
                while v and rng.random() < 0.5:
                    v = up[v]
                up.append(v)
            parent += up
        nodes = np.array([rng.integers(0, size, n) for size in sizes])
        order, scratch = np.argsort(nodes, axis=1, kind="stable"), np.empty(2 * max(sizes))
        out = rng.normal(size=(n, n))
        tree = [nodes, order, first, np.array(parent), rng.normal(size=first[-1])]
        yield [*tree, np.empty(max(sizes), np.intp), scratch, out + out.T]


@case
def kendall(rng, n):
    starts = np.array([0, n // 4, n // 4 + (n > 8), n])
    out = np.full(3, 7.0 if n else 0.0)  # without rows, nothing is written
    for f in rng.normal(size=n), rng.integers(0, 5, n) / 2:
        for n_grades in (1, 2, 4, n + 1):
            y, by_grade = rng.integers(0, n_grades, n).astype(float), rng.permutation(n)
            for a, b in itertools.pairwise(starts):
                y[a:b].sort()
            for lists, grad in itertools.product(((0, 3), (1, 2)), (np.full(n, 7.0), None)):
                scratch = np.empty(n, np.intp), np.empty(n, np.intp)
                yield [f, y, by_grade, starts, *lists, *scratch, out, out.copy(), grad]


@case
def sort(rng, n):
    n = max(n, 1)
    for f in rng.normal(size=n), rng.integers(0, 5, n) / 2, rng.integers(0, 2 * n, n) / 2, np.zeros(n):
        yield [f, np.empty(n, np.intp), np.empty(n), np.zeros(n + 1, np.intc)]


def pairs_of(rng, n):
    """Yield sources with weights and targets, sorted within segments, and the sign by which they ascend."""
    n = max(n, 1)
    for n_segments in (1, min(n, 3)):
        s_starts, t_starts = (np.linspace(0, size, n_segments + 1).astype(np.intp) for size in (n + 2, n))
        for make in (rng.normal, lambda size: rng.integers(-4, 5, size) / 2):  # differences of one, too
            for sign, weights in itertools.product((1.0, -1.0), weights_of(rng, n + 2)):
                s, t = make(size=n + 2), make(size=n)
                for values, starts in (s, s_starts), (t, t_starts):
                    for a, b in itertools.pairwise(starts):
                        values[a:b] = sign * np.sort(sign * values[a:b])
                yield s, weights, s_starts, t, t_starts, sign


@case
def sweep(rng, n):
    for *pairs, sign in pairs_of(rng, n):
        for reach, sums in itertools.product((1.0, np.nextafter(1.0, 2.0)), ((0, 1, 2), (0,), (1,))):
            yield [*pairs, sign, reach, *(np.empty(pairs[3].size) if m in sums else None for m in range(3))]


@case
def rounded_sweep(rng, n):
    for s, *pairs in pairs_of(rng, n):
        for smoothing in (0.5, 1.0, 1e-3):
            yield [s, *pairs, smoothing, np.empty((s.size, 3)), *(np.empty(pairs[2].size) for _ in range(2))]


def cells_of(rng, n):
    """Rows in cells of width one of which they number n, 1, and 8; where these begin and where they end."""
    cells, ends = np.r_[0, np.cumsum([max(n, 1), 1, 8])], np.array([-3.0, 0.0, 17.0])
    return np.repeat(ends, np.diff(cells)) + rng.random(cells[-1]), cells, ends


@case
def particle_to_multipole(rng, n):
    s, *cells = cells_of(rng, n)
    for weights in weights_of(rng, s.size):
        yield [s, weights, *cells, np.empty((3, 14))]
        yield [s, np.repeat(weights, 2)[::2], *cells, np.empty((3, 14))]


@case
def local_to_particle(rng, n):
    t, *cells = cells_of(rng, n)
    yield [t, *cells, rng.normal(size=(3, 14)), np.empty(t.size)]


@case
def multipole_to_local(rng, n):
    for *pairs, _ in itertools.islice(pairs_of(rng, n), 0, None, 12):
        s_starts, t_starts = pairs[2], pairs[4]
        s_ends, t_ends = (
            rng.integers(1, 4, starts[-1]).cumsum() + at for starts, at in ((s_starts, 0), (t_starts, -9))
        )
        for reach, linear in itertools.product((1, 20), (0.0, 1.0)):
            table = rng.normal(size=(2 * reach + 1, 14, 16))
            scratch = np.empty(s_ends.size)
            sums = np.empty((t_ends.size, 16)), np.empty(t_ends.size)
            centres = rng.normal(size=(s_ends.size, 14)), s_starts, t_ends * 1.0, t_starts
            yield [s_ends * 1.0, *centres, table, linear, rng.normal(size=14), scratch, *sums]


# Fifty digits -------------------------------------------------------------------------------------


def solve(f_pos, h_pos, u, f_neg, h_neg, w, p, sign):
    """The step along h, and how often its slope was evaluated."""
    pos, neg = Side(f_pos, h_pos, None, u, -1.0), Side(f_neg, h_neg, None, w, p)
    ends = [x for h in (h_pos, h_neg) for x in (h.min(), h.max())]
    line = Line(
        p,
        in_memory((pos, neg)),
        Direction(h_pos, h_neg, *ends, ends[0] - ends[3], ends[2] - ends[1], False, 0.0),
        sign,
    )
    calls = []
    slope = line._slope
    line._slope = lambda x: calls.append(x) or slope(x)
    return line.step(), len(calls)


def side(rng, size, spread=1.0, weighted=True):
    f, h = spread * rng.normal(size=size), rng.normal(size=size)
    return f, h, np.log(rng.uniform(0.1, 3, size)) if weighted else None


def test_blocks_merge_to_the_whole():
    rng = np.random.default_rng(1)
    f, h, log_c = side(rng, 1000, 20.0)
    ends = [0, 10, 10, 300, 999, 1000]  # one block without rows
    parts = [_tilt.tilted(f, h, log_c, -1.0, 0.4, 0.25, *rows)[0] for rows in itertools.pairwise(ends)]
    whole, _ = _tilt.tilted(f, h, log_c, -1.0, 0.4, 0.25, 0, 1000)
    assert merge_exponentials(parts) == pytest.approx(whole, rel=1e-12)
    assert merge_exponentials([whole]) == whole
    assert merge_exponentials(parts[1:2] * 2) == (-math.inf, *10 * [0.0])
    omega = softmax(-(f + 0.4 * h) + log_c)
    mean = omega @ h
    centred = [omega @ (h - mean) ** k for k in (2, 3)]
    sums = np.array(merge_exponentials(parts)[1:])
    assert _cumulants(sums, 0.0, 4.0) == pytest.approx((mean, *centred), rel=1e-9)


@pytest.mark.parametrize("rate", [1 / 16, -1 / 16, 1e-3])
@pytest.mark.parametrize("spread", [1.0, 0.3])
def test_power_sums_expand_to_those_of_a_step_that_is_near(rate, spread):
    """Outputs at both ends are the worst there is."""
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(300))
    h = np.where(rng.random(300) < spread, rng.choice([-1.0, 1.0], 300), rng.uniform(-1, 1, 300))
    sums = np.array(_tilt.given(weights, h, 1.0, 0, 300)[1:])
    exact = weights * np.exp(rate * h)
    for k, (got, within) in enumerate(zip(_tilt.expanded(sums, rate), (1e-15, 1e-15, 1e-14, 1e-12), strict=True)):
        assert got == pytest.approx(math.fsum(exact * h**k), abs=within)


def test_short_tilts_are_exponentials_to_the_last_place():
    h = np.linspace(-1, 1, 2001)
    for rate in (1 / 16, -1 / 16, 1e-9):
        weights = np.ones(h.size)
        _tilt.tilt_weights(weights, h, rate, 0, h.size)
        with mpmath.workdps(40):
            for y, e in zip(h, weights, strict=True):
                exact = mpmath.exp(mpmath.mpf(rate * float(y)))
                assert abs(float((mpmath.mpf(float(e)) - exact) / exact)) <= 2 * 2.0**-53


@pytest.mark.parametrize("n", [1, 2, 100, 10_000])
def test_a_twofold_sum_keeps_what_it_rounds_off(n):
    x = np.exp(20 * np.random.default_rng(n).normal(size=n))
    exact = sum(map(Fraction, x.tolist()))
    starts, rows, codes = np.array([0, n]), np.arange(n, dtype=np.int32), np.zeros(n, np.uint8)
    of_rows = np.empty((1, 2))
    _bins.stored_sums(starts, rows, codes, x, 0, 1, np.array([0, 1]), np.empty(1), of_rows)
    for total, rounded in (_bins.twofold_sum(x, 0, n), of_rows[0].tolist()):
        assert abs(Fraction(total) + Fraction(rounded) - exact) <= exact * Fraction(n * 2.0**-52) ** 2 / 4


def test_a_million_rows_sum_like_fifty_digits():
    f = np.random.default_rng(0).normal(size=10**6)
    exact = math.fsum(np.exp(f))
    top, total = _tilt.log_sum(f, None, 1.0, 0, f.size)
    assert top + math.log(total) == pytest.approx(math.log(exact), rel=1e-15)


def exact_root(f_pos, h_pos, f_neg, h_neg, p, digits=50):
    """Equation (1) in many digits, by bisection."""
    with mpmath.workdps(digits):
        f_pos, h_pos, f_neg, h_neg = ([mpmath.mpf(float(x)) for x in v] for v in (f_pos, h_pos, f_neg, h_neg))

        def mean(f, h, scale, alpha):
            top = max(scale * (x + alpha * y) for x, y in zip(f, h, strict=True))
            weights = [mpmath.exp(scale * (x + alpha * y) - top) for x, y in zip(f, h, strict=True)]
            return mpmath.fdot(weights, h) / mpmath.fsum(weights)

        def g(alpha):
            return mean(f_neg, h_neg, p, alpha) - mean(f_pos, h_pos, -1, alpha)

        sign = 1 if g(0) < 0 else -1
        lo, hi = mpmath.mpf(0), mpmath.mpf(1)
        while sign * g(sign * hi) < 0:
            hi *= 2
        for _ in range(120):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if sign * g(sign * middle) < 0 else (lo, middle)
        return float(sign * hi)


@each_value()
@pytest.mark.parametrize("p", [1.0, 1.5, 1000.0])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1000.0])
def test_the_step_solves_equation_1(spread, p):
    rng = np.random.default_rng([int(spread), int(p)])
    for _ in range(3):
        (f_pos, h_pos, _), (f_neg, h_neg, _) = side(rng, 12, spread), side(rng, 15, spread)
        u, w = softmax(-f_pos), softmax(p * f_neg)
        sign = float(np.sign(u @ h_pos - w @ h_neg))
        alpha, evaluations = solve(f_pos, h_pos, u, f_neg, h_neg, w, p, sign)
        assert alpha == pytest.approx(exact_root(f_pos, h_pos, f_neg, h_neg, p), rel=1e-10 * max(1, spread))
        assert evaluations <= (8 if p * max(spread, 1.0) <= 4 else 50)


def test_the_last_step_to_a_root_leaves_nothing_but_rounding():
    # a logistic function and its derivatives, in 40 digits: no error but that of the search
    with mpmath.workdps(40):
        for start in map(mpmath.mpf, np.linspace(-40, 0.8, 200).tolist()):
            calls = []

            def logistic(x, start=start, calls=calls):
                calls.append(x)
                s = 1 / (1 + mpmath.exp(-start - x))
                return float(s - mpmath.mpf(7) / 10), float(s * (1 - s)), float(s * (1 - s) * (1 - 2 * s))

            x, root = find_root(logistic, 1.0, *logistic(mpmath.mpf(0))), mpmath.log(mpmath.mpf(7) / 3) - start
            assert abs(x - root) <= 2**-53 * (1 + root)
            assert len(calls) <= 8


def test_a_search_ends_where_all_weight_has_underflowed():
    assert find_root(lambda x: (0.0, 0.0, 0.0), 1.0, -1.0, 1.0, 0.0) == 1.0


def test_the_step_needs_few_evaluations_where_scores_are_moderate():
    rng = np.random.default_rng(3)
    counts = []
    for p in (1.0, 2.0, 4.0, 8.0, 16.0, 64.0):
        for _ in range(20):
            f_pos, f_neg = 2 / p * rng.normal(size=500), 2 / p * rng.normal(size=500)
            h_pos, h_neg = rng.random(500), rng.random(500) ** 1.2
            u, w = softmax(-f_pos), softmax(p * f_neg)
            sign = float(np.sign(u @ h_pos - w @ h_neg))
            counts.append(solve(f_pos, h_pos, u, f_neg, h_neg, w, p, sign)[1])
    assert np.mean(counts) <= 4
    assert max(counts) <= 8


def test_no_step_where_the_edge_has_the_other_sign():
    f, h = np.zeros(3), np.array([0.0, 1.0, 2.0])
    even = np.full(3, 1 / 3)
    assert solve(f, h, even, f, np.array([1.0, 2.0, 2.5]), even, 1.0, 1.0) == (0.0, 0)


def test_exp_is_within_two_units_in_the_last_place():
    # below 0, where sums take it; at -600 it stays
    x = np.concatenate([np.linspace(-599, 0, 4001), -np.logspace(-20, 2.7, 2000), [0.0, -0.0]])
    got = x.copy()
    _tilt.exp_below(got, 0.0)
    with mpmath.workdps(40):
        for value, e in zip(x, got, strict=True):
            exact = mpmath.exp(mpmath.mpf(float(value)))
            assert abs(float((mpmath.mpf(float(e)) - exact) / exact)) <= 2 * 2.0**-53
    far = np.array([-600.0, -601.0, -1e6, -1e300])
    _tilt.exp_below(far, 0.0)
    assert (far == far[0]).all()
    assert far[0] == pytest.approx(np.exp(-600.0))


def test_log_is_within_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([1 + rng.normal(size=2000) * np.logspace(-16, -1, 2000), np.logspace(-323, 308, 4001)])
    x = np.concatenate([x, np.ldexp(rng.uniform(0.5, 2, 4000), rng.integers(-5, 5, 4000)), 2.0 ** np.arange(-9, 9)])
    got = np.empty_like(x)
    _tilt.logs(x, got)
    with mpmath.workdps(40):
        for value, y in zip(x, got, strict=True):
            exact = mpmath.log(mpmath.mpf(float(value)))
            assert abs(float(mpmath.mpf(float(y)) - exact)) <= 2 * 2.0**-53 * abs(float(exact))
    assert (got[x == 1.0] == 0.0).all()
    ends = np.empty(2)
    _tilt.logs(np.array([0.0, np.inf]), ends)
    assert ends.tolist() == [-np.inf, np.inf]


def test_a_far_root_is_reached_in_steps_that_grow():
    # scores of 1e4 and three levels: g falls by 1 / e per unit over ten thousand units
    f_pos, h_pos = np.array([-6885.6, -1914.1, 1442.6, 8521.4, 17533.8]), np.array([-1.0, -1, 0, 0, 1])
    f_neg, h_neg = np.array([15239.4, 6658.9, 4695.7, -10338.7, -15246.9]), np.array([0.0, 0, -1, 0, -1])
    u, w = softmax(-f_pos), softmax(64 * f_neg)
    alpha, evaluations = solve(f_pos, h_pos, u, f_neg, h_neg, w, 64.0, -1.0)
    assert evaluations < 60
    assert alpha == pytest.approx(exact_root(f_pos, h_pos, f_neg, h_neg, 64, digits=2000), rel=1e-12)


def test_the_step_of_groups_far_out_on_plateaus():
    p = 4.0
    # scores of hundreds: nearly all weight of a group lies at one level, and other groups have next to none
    rng = np.random.default_rng(int(p))
    compared = 0
    for _ in range(20):
        A, B = rng.integers(0, 3, (7, 3)).astype(float), rng.integers(0, 3, (8, 3)).astype(float)
        groups = np.r_[0, 1, rng.integers(0, 2, 5)], np.r_[0, 1, rng.integers(0, 2, 6)]
        init = np.round(300 * rng.normal(size=3), 1)
        lam, trace = pnorm.train(A, B, None, p, 1, init=init, pos_group=groups[0], neg_group=groups[1])
        if trace.n_iter == 0:
            continue
        j, sign = int(trace.ranker[0]), float(np.sign(trace.step[0]))
        gap = min(sign * (a - b) for a, g in zip(A[:, j], groups[0], strict=True) for b, k in zip(B[:, j], groups[1], strict=True) if g == k)  # fmt: skip
        if gap >= 0:
            continue
        compared += 1
        assert trace.step[0] == pytest.approx(exact_root_of_groups(A, B, groups, init, j, sign, p), rel=1e-8)
    assert compared > 5


def exact_root_of_groups(A, B, groups, init, j, sign, p):
    """Where the slope of log F_p vanishes, in 50 digits, by bisection."""
    with mpmath.workdps(50):
        f_pos, f_neg = ([mpmath.mpf(float(x)) for x in Z @ init] for Z in (A, B))

        def slope(x):
            total = mpmath.mpf(0)
            for g in range(2):
                u = [
                    (mpmath.exp(-f - sign * x * h), h)
                    for f, h, k in zip(f_pos, A[:, j], groups[0], strict=True)
                    if k == g
                ]
                w = [
                    (mpmath.exp(p * (f + sign * x * h)), h)
                    for f, h, k in zip(f_neg, B[:, j], groups[1], strict=True)
                    if k == g
                ]
                # pair by pair: a difference of two means would need thousands of digits
                pairs = mpmath.fsum(a * b * (k - h) for a, h in u for b, k in w)
                total += mpmath.fsum(e for e, _ in u) ** (p - 1) * pairs
            return sign * total

        lo, hi = mpmath.mpf(0), mpmath.mpf(1)
        while slope(hi) < 0:
            hi *= 2
        for _ in range(100):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if slope(middle) < 0 else (lo, middle)
        return float(sign * hi)
