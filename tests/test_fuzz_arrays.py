"""Arrays and numbers of every shape, kind and layout at every public function: the same answer, or a refusal that says why."""

import array
import decimal
import faulthandler
import fractions
import importlib.util
import math
import os
import re
import subprocess
import sys
import types
import warnings
from functools import cache

import numpy as np
import public
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from repeats import SEED, TRIALS
from test_package import MODULES

from pnorm.diagnostics import SeparationWarning

REFUSALS = (TypeError, ValueError, OverflowError)


class OwnError(Exception):
    """What a user's own object raises: it goes through."""


def own_error(*_):
    raise OwnError("own")


class Sub(np.ndarray):
    """A subclass with nothing new."""


class Wrapped:
    """Nothing but what NumPy asks of an array."""

    def __init__(self, made):
        self._made = made

    def __array__(self, dtype=None, copy=None):
        return np.array(self._made, dtype=dtype)


class Interface:
    """The older protocol."""

    def __init__(self, a):
        self._a, self.__array_interface__ = a, a.__array_interface__


def frames(a):
    """The same in what libraries hold columns in, of those that are there."""
    columns = [f"c{j}" for j in range(a.shape[-1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pandas

            yield "pandas", pandas.DataFrame(a.copy(), columns=columns) if a.ndim == 2 else pandas.Series(a.copy())
            if a.ndim == 1:
                yield "pandas, other index", pandas.Series(a.copy(), index=range(100, 100 + a.size))
            nullable = pandas.DataFrame(a.copy(), columns=columns) if a.ndim == 2 else pandas.Series(a.copy())
            yield "pandas, nullable", nullable.astype("Float64")
        except ImportError:
            pass
        try:
            import polars

            yield "polars", polars.DataFrame(a, schema=columns) if a.ndim == 2 else polars.Series(a)
        except ImportError:
            pass
        try:
            import pyarrow

            yield "pyarrow", pyarrow.table(dict(zip(columns, a.T, strict=True))) if a.ndim == 2 else pyarrow.array(a)
            if a.ndim == 1:
                yield "pyarrow, chunks", pyarrow.chunked_array([a[:1], a[1:]])
        except ImportError:
            pass


def layouts(a):
    """The same values of the same dtype, elsewhere."""
    yield "Fortran order", np.asfortranarray(a)
    yield "backwards", a[::-1].copy()[::-1]
    wide = np.full([3 * n + 2 for n in a.shape], 99.0, a.dtype)
    inside = wide[tuple(slice(1, 3 * n, 3) for n in a.shape)]
    inside[...] = a
    yield "every third of a larger array", inside
    large = np.full([n + 4 for n in a.shape], np.nan if a.dtype.kind == "f" else 9, a.dtype)
    inside = large[tuple(slice(2, n + 2) for n in a.shape)]
    inside[...] = a
    yield "inside a larger array", inside
    yield "other byte order", a.astype(a.dtype.newbyteorder())
    locked = a.copy()
    locked.flags.writeable = False
    yield "read-only", locked
    locked = np.asfortranarray(a)
    locked.flags.writeable = False
    yield "read-only, Fortran order", locked
    unaligned = np.frombuffer(b"x" + a.tobytes(), a.dtype, offset=1).reshape(a.shape)
    yield "unaligned and read-only", unaligned
    yield "a subclass", a.view(Sub)
    yield "nothing masked", np.ma.array(a, mask=np.zeros(a.shape, bool))
    yield "an object with __array__", Wrapped(a)
    yield "an object with __array_interface__", Interface(a)
    yield "a buffer", memoryview(np.ascontiguousarray(a))


def equivalent_inputs(a):
    """The same values in another form; those that are exact in it."""
    yield from layouts(a)
    for kind in ("f2", "f4", ">f4", "g", "i1", "i2", ">i4", "i8", "u1", "u8", "?"):
        with np.errstate(all="ignore"):
            other = a.astype(kind)
            exact = np.array_equal(other.astype(a.dtype), a)
        if exact:
            yield kind, other
    yield "a list", a.tolist()
    yield "a tuple", tuple(a.tolist())
    yield "tuples", tuple(map(tuple, a.tolist())) if a.ndim == 2 else tuple(a)
    yield "a list of arrays", list(a)
    yield "objects", a.astype(object)
    yield (
        "integers as objects",
        np.array([int(x) if x % 1 == 0 else x for x in a.ravel().tolist()], object).reshape(a.shape),
    )
    yield "minus zero", np.where(a == 0, -0.0, a)
    if a.ndim == 1:
        yield "array.array", array.array("d", a.tolist())
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield "a matrix", np.asmatrix(a)
    yield from frames(a)


def broadcasts(a):
    """Arrays with stride zero, and copies of them."""
    first = np.broadcast_to(a[:1], a.shape)
    yield "rows of stride zero", first, first.copy()
    if a.ndim == 2:
        column = np.broadcast_to(a[:, :1], a.shape)
        yield "columns of stride zero", column, column.copy()
    one = np.broadcast_to(np.float64(1.0), a.shape)
    yield "one number", one, one.copy()


def answer(call, changed):
    """All that comes back, or the refusal; anything else that happens is an error of pnorm."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)
            return list(public.leaves(call(**changed)))
    except REFUSALS as error:
        if type(error) not in REFUSALS:
            raise
        return error


def state(x):
    """What must not change about an argument."""
    if isinstance(x, np.ndarray):
        return x.dtype, x.shape, x.strides, str(x.flags), x.tobytes() if x.dtype != object else list(x.ravel())
    if scipy.sparse.issparse(x):
        return x.format, x.dtype, x.shape, [state(v) for v in vars(x).values() if isinstance(v, np.ndarray)]
    return repr(x)


def same(a, b, rtol):
    """Whether two answers are one."""
    if [path for path, _ in a] != [path for path, _ in b]:
        return False
    for (path, x), (_, y) in zip(a, b, strict=True):
        if rtol > 1e-10 and path.endswith("direction"):
            continue  # one of many
        numbers = isinstance(x, np.ndarray) and x.dtype.kind in "biuf"
        if not numbers:
            if isinstance(x, str) and rtol and re.search(r"\d", x):
                continue  # a message with numbers in it
            if not np.array_equal(x, y):
                return False
        elif np.shape(x) != np.shape(y) or not np.allclose(x, y, rtol=rtol, atol=rtol, equal_nan=True):
            return False
    return True


SIZES = r"row|column|dimension|flat|transposed|length|shape|empty|list|set|word|bytes"


def says(error, name, call, what=""):
    """Whether a refusal names the argument; where sizes do not go together, either of them."""
    words = [rf"{re.escape(name)}\b", call.aliases.get(name, name)]
    if re.search(SIZES, what):
        words += [*call.arrays, *call.aliases.values(), "rows need about"]
    if isinstance(error, OverflowError) and re.search("double holds|for a double|overflow", str(error)):
        return True  # says which sum, and what to scale
    if "__array__ method not producing an array" in str(error):
        return True  # NumPy says it
    return re.search(rf"\b({'|'.join(words)})", str(error)) is not None


def shown(what, trouble):
    if isinstance(trouble, BaseException):
        trouble = f"{type(trouble).__name__}: {trouble}"
    return f"{what}: {trouble!s:.300}"


@pytest.fixture(autouse=True)
def no_hang():
    """A call that does not come back ends the run, with the place where it was."""
    faulthandler.dump_traceback_later(900, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def advice():
    """What scikit-learn says of a frame where there were no names, and pnorm.sklearn of too few steps."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has feature names, but")
        warnings.filterwarnings("ignore", "the objective went up|the Gram matrix of . rows takes")
        warnings.filterwarnings("ignore", r"all \d+ Newton steps were taken")
        yield


ONE_IN = {
    "pnorm": 30,
    "pnorm.bounds": 3,
    "pnorm.boosting": 4,
    "pnorm.callbacks": 6,
    "pnorm.dask": 50,
    "pnorm.diagnostics": 20,
    "pnorm.kernel": 12,
    "pnorm.listwise": 10,
    "pnorm.metrics": 20,
    "pnorm.objectives": 12,
    "pnorm.plotting": 24,
    "pnorm.rankers": 6,
    "pnorm.sklearn": 12,
}
"""Of a module of slow calls, an argument gets one input in so many times five, and the next those that follow."""
ONE_IN_OF_SPARSE = max(1, 30 // TRIALS)
"""Of sparse rows, an argument gets one input in so many, in every module."""

CHECKED_BY_SCIKIT_LEARN = {"pnorm.sklearn": {"X", "y"}}
"""What scikit-learn's own checks read, which have their own words."""

REQUIRED = {"pnorm.plotting": "matplotlib", "pnorm.dask": "dask", "pnorm.sklearn": "sklearn"}


@cache
def calls(module_name):
    """All calls of a module, by name; none where what it takes is not installed."""
    missing = module_name in REQUIRED and importlib.util.find_spec(REQUIRED[module_name]) is None
    return {} if missing else public.calls(module_name)


@cache
def expected(module_name, name):
    """The answer of a call as it is."""
    return answer(calls(module_name)[name], {})


def of_arguments(kind, left_out=(), modules=MODULES):
    """Parametrise a test by every argument of one kind; `number` counts those of a module.

    Of a function, the first call that has an argument, and with more trials its other calls too.
    """
    each, seen = [], set()
    for module_name in modules:
        arguments = [
            (name, argument)
            for name, call in calls(module_name).items()
            for argument in getattr(call, kind)
            if argument not in dict(left_out).get(module_name, ())
        ]
        for number, (name, argument) in enumerate(arguments, 1):
            of_function = module_name, name.partition(",")[0], argument
            if TRIALS > 1 or of_function not in seen:
                each.append(pytest.param(module_name, number, name, argument, id=f"{module_name}-{name}-{argument}"))
            seen.add(of_function)
    return pytest.mark.parametrize(("module_name", "number", "name", "argument"), each)


def some(module_name, number, several):
    """The inputs of one argument that are tried."""
    step = max(1, 5 * ONE_IN.get(module_name, 1) // TRIALS)
    return [each for k, each in enumerate(several) if (k + number + SEED) % step == 0]


@pytest.mark.parametrize("module_name", MODULES)
def test_every_parameter_of_everything_public_is_tried_or_left_out_for_a_reason(module_name):
    if module_name in REQUIRED:
        pytest.importorskip(REQUIRED[module_name])
    made = calls(module_name)
    for name in made:
        assert isinstance(expected(module_name, name), list), name
    for name, function in public.named(module_name):
        of_it = [call for other, call in made.items() if other.partition(",")[0] == name]
        known = {word for call in of_it for word in (*call.arrays, *call.scalars, *call.fixed, *call.aliases.values())}
        taken = set(public.parameters(function))
        if taken & {"f_pos", "lists"}:
            known |= set(public.OF_SCORES)
        assert taken <= known | set(public.OTHERS) or public.left_out(module_name, name), name


def differ(a, b):
    if isinstance(a, Exception):
        return f"{a} / an answer"
    for (path, x), (other, y) in zip(a, b, strict=False):
        if path != other or not same([(path, x)], [(path, y)], 1e-12):
            return f"{path}: {x} / {other}: {y}"
    return "length"


ANSWERED = {
    "Fortran order",
    "backwards",
    "every third of a larger array",
    "inside a larger array",
    "other byte order",
    "read-only",
    "read-only, Fortran order",
    "unaligned and read-only",
    "f4",
    "i8",
    "a list",
    "pandas",
}
"""Equivalent inputs that are never refused, but of counts, which are integers, and of Gram matrices, which are arrays."""


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@of_arguments("arrays")
def test_equivalent_inputs_get_the_same_answer_or_a_refusal(module_name, number, name, argument, tried):
    wrong, call = [], calls(module_name)[name]
    a = call.arrays[argument]
    forms = [(*form, None) for form in equivalent_inputs(a)] + list(broadcasts(a))
    for what, other, full in some(module_name, number, forms):
        wanted = expected(module_name, name) if full is None else answer(call, {argument: full})
        before = state(other)
        try:
            got = answer(call, {argument: other})
        except Exception as error:
            wrong.append(shown(what, error))
            continue
        tried["array", "refused" if isinstance(got, Exception) else "answered"] += 1
        if before != state(other):
            wrong.append(shown(what, "changed"))
        if isinstance(got, Exception):
            named = says(got, argument, call, what) or argument in CHECKED_BY_SCIKIT_LEARN.get(module_name, ())
            must = what in ANSWERED and argument not in ("n_rows", "rounds", "kernel")
            if not isinstance(wanted, Exception) and (must or not named):
                wrong.append(shown(what, got))
        elif isinstance(wanted, Exception) or not same(wanted, got, 1e-12):
            wrong.append(shown(what, f"another answer: {differ(wanted, got)}"))
    assert not wrong, "\n".join(wrong)


def shapes(a):
    """Too few dimensions or too many, nothing in one of them, one more or one less."""
    yield "no dimension", np.float64(1.0)
    yield "0-d array", np.array(1.0)
    yield "a dimension more in front", a[None]
    yield "a dimension more behind", a[..., None]
    yield "a dimension less", a[0]
    yield "flat", a.ravel()
    yield "no rows", a[:0]
    yield "one row less", a[:-1]
    yield "one row more", np.concatenate([a, a[:1]])
    yield "transposed", a.T.copy()
    if a.ndim == 2:
        yield "no columns", a[:, :0]
        yield "no rows and columns", a[:0, :0]
        yield "one column less", a[:, :-1]
        yield "one column more", np.hstack([a, a[:, :1]])
        yield "empty rows", [[] for _ in a]
    yield "an empty list", []


EXTREME_NUMBERS = {
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "1e308": 1e308,
    "-1e308": -1e308,
    "5e-324": 5e-324,
    "1e-160": 1e-160,
    "1e200": 1e200,
}


def values(a):
    """Numbers that do not belong there, or hardly: one, the last, all of them, and both signs."""
    for name, x in EXTREME_NUMBERS.items():
        for place in (0, -1):
            other = a.astype(float)
            other.ravel()[place] = x
            yield f"{name} at {place}", other
        yield f"all {name}", np.full(a.shape, x)
        signs = np.where(np.arange(a.size).reshape(a.shape) % 2, x, -x)
        yield f"± {name}", signs
    yield "times 1e308 / 8", a * (1e308 / 8)
    yield "times 1e-320", a * 1e-320
    yield "all zero", np.zeros(a.shape)
    yield "negative", -1.0 - np.abs(a)
    yield "halves", a + 0.5
    yield "largest float32", np.full(a.shape, np.finfo(np.float32).max, np.float32)
    yield "inf in float16", np.full(a.shape, np.inf, np.float16)
    yield "beyond double", a.astype("g") * np.finfo("g").max
    yield "below double", a.astype("g") * np.finfo("g").tiny
    yield "nan in long double", np.full(a.shape, np.nan, "g")
    yield "least integer", np.full(a.shape, np.iinfo(np.int64).min)
    yield "largest integer", np.full(a.shape, np.iinfo(np.uint64).max)


def with_one(a, x):
    """Objects, of which the last is x."""
    other = a.astype(object)
    other.ravel()[-1] = x
    return other


def things():
    """What may stand for a number, and does not, or can hardly."""
    yield from [("None", None), ("a string", "a"), ("digits", "1"), ("bytes", b"1"), ("a complex number", 1j), ("a list", [1.0]),
                ("a tuple", (1.0, 2.0)), ("a dictionary", {}), ("an array", np.zeros(2)), ("nan", float("nan")), ("true", True)]  # fmt: skip
    yield from [
        ("a decimal", decimal.Decimal("1.5")),
        ("nan as a decimal", decimal.Decimal("nan")),
        ("nan that signals", decimal.Decimal("sNaN")),
        ("a fraction", fractions.Fraction(1, 3)),
    ]
    yield from [
        ("10^400", 10**400),
        ("-10^400", -(10**400)),
        ("a time", np.datetime64("2020-01-01")),
        ("not a time", np.datetime64("NaT", "s")),
    ]
    yield from [("a function", own_error), ("a type", float), ("itself", things)]


def kinds(a):
    """Dtypes that hold no real numbers, and objects some of which are none."""
    yield "complex", a.astype(complex)
    yield "strings", a.astype(str)
    yield "words", np.full(a.shape, "word")
    yield "bytes", a.astype("S")
    yield "times", a.astype("datetime64[D]")
    yield "differences of times", a.astype("timedelta64[s]")
    yield "void", a.astype(float).view("V8")
    yield "a structure", np.zeros(a.shape, [("x", float), ("y", int)])
    yield "a structure of one field", a.astype(float).view([("x", float)])
    yield "masked", np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) == 1)
    yield "all masked", np.ma.masked_all(a.shape)
    for what, x in things():
        yield f"{what} among objects", with_one(a, x)
        rows = a.tolist()
        if a.ndim == 2:
            rows[-1][-1] = x
        else:
            rows[-1] = x
        yield f"{what} in a list", rows
    if a.ndim == 2:
        yield "ragged", [*a.tolist()[:-1], a[-1].tolist()[:-1]]
        yield "a number for a row", [*a.tolist()[:-1], 1.0]
        yield "ragged arrays", [*list(a[:-1]), a[-1, :-1]]
        yield "objects of one dimension", np.array([*map(list, a), None], object)[:-1]


class Raises:
    """Whatever it is asked raises what it was made with."""

    def __init__(self, error):
        self.error = error

    def __array__(self, dtype=None, copy=None):
        raise self.error

    def __len__(self):
        raise self.error

    def __getitem__(self, k):
        raise self.error


class Lies(list):
    """A list whose length is not its own, or that has a shape that it has not."""

    def __init__(self, values, length=None, **has):
        super().__init__(values)
        self.length = length
        vars(self).update(has)

    def __len__(self):
        return super().__len__() if self.length is None else self.length


class Answers:
    """What a conversion gets is no array of numbers."""

    def __init__(self, made, **has):
        self.made = made
        vars(self).update(has)

    def __array__(self, dtype=None, copy=None):
        return self.made


def objects(a):
    """Objects that are no arrays, or say that they are."""
    yield from [("a dictionary", {}), ("a dictionary of rows", dict(enumerate(a.tolist()))), ("a set", {1.0, 2.0})]
    yield from [("a number", 3.0), ("nan", math.nan), ("true", True), ("a complex number", 1j), ("10^400", 10**400)]
    yield from [
        ("a word", "abc"),
        ("no word", ""),
        ("bytes", b"abc"),
        ("an object", object()),
        ("a type", np.ndarray),
        ("a function", own_error),
    ]
    yield from [
        ("a module", np),
        ("a range", range(len(a))),
        ("an ellipsis", ...),
        ("a slice", slice(3)),
        ("NotImplemented", NotImplemented),
    ]
    yield "a generator", (row for row in a.tolist())
    yield "an iterator", iter(a.tolist())
    yield "a map", map(list, a.tolist()) if a.ndim == 2 else map(float, a.tolist())
    for error in (
        OwnError("own"),
        ValueError("own"),
        RuntimeError("own"),
        AttributeError("own"),
        MemoryError("own"),
        RecursionError("own"),
    ):
        yield f"raises {type(error).__name__}", Raises(error)
    for length in (0, 1, len(a) - 1, len(a) + 1, 10**6):
        yield f"a length of {length}", Lies(a.tolist(), length)
    yield "a negative length", Lies(a.tolist(), -1)
    for shape in (
        None,
        (),
        (1,),
        a.shape[:-1],
        (*a.shape, 1),
        (10**9, 3),
        "ab",
        3,
        (-1, 3),
        (None, None),
        a.shape[::-1],
    ):
        yield f"a list of shape {shape}", Lies(a.tolist(), shape=shape)
        yield f"an array of shape {shape}", Answers(a.copy(), shape=shape)
    yield "no array", Answers([1.0, 2.0])
    yield "an array of objects", Answers(np.array([object()]))
    yield "a length", types.SimpleNamespace(__len__=lambda: 3)
    yield "columns", types.SimpleNamespace(columns=["a", "b", "c"], shape=(len(a), 3))
    yield "column names", types.SimpleNamespace(column_names=["a", "b", "c"], shape=(len(a), 3))
    endless = [1.0]
    endless.append(endless)
    yield "a list within itself", endless
    deep = [1.0]
    for _ in range(100):
        deep = [deep]
    yield "lists 100 deep", deep


def bad_frames(a):
    """Frames and tables with something missing, or no numbers."""
    try:
        import pandas
    except ImportError:
        return
    make = pandas.DataFrame if a.ndim == 2 else pandas.Series
    yield "pandas, missing", make(with_one(a, None))
    yield "pandas, NA", make(with_one(a, pandas.NA))
    yield (
        "pandas, NA in Float64",
        make(a.astype(float)).astype("Float64").where(np.arange(len(a)) > 0)[lambda x: slice(None)]
        if a.ndim == 1
        else make(a).astype("Float64").mask(a == a[0, 0]),
    )
    yield "pandas, strings", make(a.astype(str))
    yield "pandas, categories", make(a.astype(str)).astype("category")
    yield "pandas, times", make(a.astype("datetime64[s]"))
    yield "pandas, intervals", make(pandas.arrays.IntervalArray.from_breaks(np.arange(len(a) + 1.0)))
    yield "pandas, complex", make(a + 1j)
    yield "pandas, sparse", make(a).astype(pandas.SparseDtype(float))
    yield "pandas, empty", make(a[:0])
    if a.ndim == 2:
        yield "pandas, columns of one name", make(a, columns=["a"] * a.shape[1])
        yield "pandas, names of two levels", make(a, columns=pandas.MultiIndex.from_product([["a"], range(a.shape[1])]))
        yield "pandas, no columns", make(index=range(len(a)))
    try:
        import polars
        import pyarrow
    except ImportError:
        return
    some = [None, *a.tolist()[1:]] if a.ndim == 1 else None
    yield (
        "pyarrow, missing",
        pyarrow.array(some) if a.ndim == 1 else pyarrow.table({"a": [None] * len(a), "b": list(range(len(a)))}),
    )
    yield "pyarrow, strings", pyarrow.array(["a"] * len(a)) if a.ndim == 1 else pyarrow.table({"a": ["a"] * len(a)})
    yield "pyarrow, nothing", pyarrow.nulls(len(a)) if a.ndim == 1 else pyarrow.table({"a": pyarrow.nulls(len(a))})
    yield "pyarrow, lists", pyarrow.array([[1.0]] * len(a)) if a.ndim == 1 else pyarrow.table({"a": [[1.0]] * len(a)})
    yield "pyarrow, one name", pyarrow.table([[1.0] * len(a)] * 2, names=["a", "a"])
    yield (
        "polars, missing",
        polars.Series(some) if a.ndim == 1 else polars.DataFrame({"a": [None] * len(a), "b": list(range(len(a)))}),
    )
    yield "polars, lists", polars.Series([[1.0]] * len(a)) if a.ndim == 1 else polars.DataFrame({"a": [[1.0]] * len(a)})
    yield "polars, strings", polars.Series(["a"] * len(a)) if a.ndim == 1 else polars.DataFrame({"a": ["a"] * len(a)})


def malformed(a):
    for family in (shapes, values, kinds, objects, bad_frames):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = list(family(a))
        yield from made


def with_nan(leaves):
    """Where there is one; what was not computed is nan on purpose."""
    return {
        path
        for path, x in leaves
        if not path.endswith(("gradient_norm", "moment_residual"))
        and isinstance(x, np.ndarray)
        and x.dtype.kind == "f"
        and np.isnan(x).any()
    }


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@of_arguments("arrays", left_out=CHECKED_BY_SCIKIT_LEARN)
def test_malformed_arrays_are_refused_by_name_or_get_an_answer_without_nan(module_name, number, name, argument, tried):
    wrong, call = [], calls(module_name)[name]
    for what, other in some(module_name, number, malformed(call.arrays[argument])):
        try:
            got = answer(call, {argument: other})
        except OwnError:
            continue
        except RuntimeWarning as error:
            if "the objective went up" not in str(error):  # which is advice
                wrong.append(shown(what, error))
            continue
        except Exception as error:
            if str(error) != "own":
                wrong.append(shown(what, error))
            continue
        tried["array", "refused" if isinstance(got, Exception) else "answered"] += 1
        if isinstance(got, Exception):
            if str(got) != "own" and not says(got, argument, call, what):
                wrong.append(shown(what, got))
        elif bad := with_nan(got) - with_nan(expected(module_name, name)):
            wrong.append(shown(what, f"nan in {bad}"))
    assert not wrong, "\n".join(wrong)


KINDS = st.sampled_from(["f8", "f8", "f4", "f2", ">f8", "i8", "i1", "u8", "?", "c16", "U3", "S3", "M8[s]", "m8[s]"])
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)
MAIN = [
    ("pnorm", "train"),
    ("pnorm", "minimize"),
    ("pnorm", "score"),
    ("pnorm.objectives", "value_and_weights"),
    ("pnorm.diagnostics", "certificate"),
    ("pnorm.metrics", "summary"),
    ("pnorm.rankers", "quantile_thresholds"),
    ("pnorm.kernel", "train"),
    ("pnorm.listwise", "train"),
]


@pytest.mark.parametrize(("module_name", "name"), MAIN)
@given(drawn=st.data())
def test_arrays_that_hypothesis_draws_several_at_once(module_name, name, tried, drawn):
    call = next(call for other, call in calls(module_name).items() if other.partition(",")[0] == name)
    chosen = drawn.draw(st.sets(st.sampled_from(sorted(call.arrays)), min_size=1))
    got = answer(call, {each: drawn.draw(arrays(KINDS, SHAPES | st.just(call.arrays[each].shape))) for each in chosen})
    tried["array", "refused" if isinstance(got, Exception) else "answered"] += 1
    assert isinstance(got, Exception) or not with_nan(got)


# Numbers -------------------------------------------------------------------------------------------------

NUMBERS = [
    ("nan", math.nan), ("inf", math.inf), ("-inf", -math.inf), ("-1", -1), ("-0.5", -0.5), ("0", 0), ("0.0", 0.0), ("-0.0", -0.0), ("1", 1), ("2", 2),
    ("1.5", 1.5), ("1e308", 1e308), ("-1e308", -1e308), ("5e-324", 5e-324), ("1e-160", 1e-160), ("1e-17", 1e-17), ("2^63", 2**63), ("10^400", 10**400),
    ("-10^400", -(10**400)), ("10^5000", 10**5000), ("1 / 10^400", fractions.Fraction(1, 10**400)), ("10^400 / 3", fractions.Fraction(10**400, 3)),
    ("true", True), ("NumPy's true", np.True_), ("digits", "3"), ("a word", "x"), ("bytes", b"3"), ("no word", ""), ("complex", 1j), ("complex 1", 1 + 0j),
    ("a decimal", decimal.Decimal("0.3")), ("nan as a decimal", decimal.Decimal("nan")), ("nan that signals", decimal.Decimal("sNaN")), ("a list", [1.0]), ("an empty list", []), ("a tuple", (1, 2)),
    ("a dictionary", {}), ("a set", {1}), ("an array", np.ones(2)), ("an array of one", np.ones(1)), ("an empty array", np.ones(0)), ("an object", object()),
    ("a type", float), ("a function", own_error), ("float16", np.float16(0.3)), ("nan in float32", np.float32("nan")), ("long double", np.longdouble(1) / 3),
    ("large long double", np.finfo("g").max), ("uint8", np.uint8(200)), ("least int64", np.int64(-(2**63))), ("a time", np.datetime64("2020-01-01")),
    ("not a time", np.timedelta64("NaT", "s")), ("an array of a word", np.array("x")), ("an ellipsis", ...), ("NotImplemented", NotImplemented),
]  # fmt: skip

PATIENCE = {"t_max", "max_iter", "epochs", "n_resamples", "patience", "m", "n", "d", "n_iter_no_change", "t"}
"""What asks for as much work as it says."""


def forms(x):
    """The same number as other types have it."""
    yield from [
        ("float64", np.float64(x)),
        ("longdouble", np.longdouble(x)),
        ("a fraction", fractions.Fraction(x)),
        ("a 0-d array", np.array(x)),
    ]
    if abs(x) <= 65504 and float(np.float16(x)) == x:
        yield from [("float32", np.float32(x)), ("float16", np.float16(x))]
    if x % 1 == 0:
        yield from [
            ("int", int(x)),
            ("float", float(x)),
            ("int64", np.int64(x)),
            ("int8", np.int8(x)) if abs(x) < 100 else ("int32", np.int32(x)),
        ]
        yield from [("a 0-d array of int", np.array(int(x))), ("uint64", np.uint64(x))] if x >= 0 else []


@of_arguments("scalars")
def test_numbers_of_any_type_and_size_are_refused_by_name_or_get_an_answer(module_name, number, name, argument, tried):
    wrong, call = [], calls(module_name)[name]
    inputs = [(*form, True) for form in forms(call.scalars[argument])] + [(*each, False) for each in NUMBERS]
    for what, other, equal in some(module_name, number, inputs):
        if argument in PATIENCE and type(other) in (int, np.uint64, np.int64) and other > 1000:
            continue
        try:
            got = answer(call, {argument: other})
        except OwnError:
            continue
        except Exception as error:
            wrong.append(shown(what, error))
            continue
        tried["scalar", "refused" if isinstance(got, Exception) else "answered"] += 1
        if isinstance(got, Exception):
            if not says(got, argument, call):
                wrong.append(shown(what, got))
        elif bad := with_nan(got) - with_nan(expected(module_name, name)):
            wrong.append(shown(what, f"nan in {bad}"))
        elif equal and not same(expected(module_name, name), got, 1e-12):
            wrong.append(shown(what, f"another answer: {differ(expected(module_name, name), got)}"))
    assert not wrong, "\n".join(wrong)


# Sparse rows -----------------------------------------------------------------------------------------------


def sparse_forms(a):
    """The same matrix in every format, and as it should not be but may: unsorted, with zeros and duplicates stored."""
    for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil"):
        yield form, scipy.sparse.coo_array(a).asformat(form)
        yield f"{form} matrix", scipy.sparse.coo_matrix(a).asformat(form)
    for form in ("csr", "csc"):
        A = scipy.sparse.coo_array(a).asformat(form)
        turned = scipy.sparse.coo_array(a[:, ::-1] if form == "csr" else a[::-1]).asformat(form)
        turned.indices = (a.shape[form == "csr"] - 1 - turned.indices).astype(turned.indices.dtype)
        turned.has_sorted_indices = False
        yield f"{form}, unsorted", turned
        type_ = type(A)
        doubled = type_((np.repeat(A.data, 2) / 2, np.repeat(A.indices, 2), 2 * A.indptr), shape=A.shape)
        yield f"{form}, duplicates", doubled
        for part in ("data", "indices", "indptr"):
            locked = A.copy()
            getattr(locked, part).flags.writeable = False
            yield f"{form}, read-only {part}", locked
        yield f"{form}, 64 bits", type_((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
        yield (
            f"{form}, zeros stored",
            type_((np.r_[A.data, 0.0], np.r_[A.indices, 0], np.r_[A.indptr[:-1], A.indptr[-1] + 1]), shape=A.shape),
        )
    for kind in ("f4", "i1", "i8", "?"):
        if np.array_equal(a.astype(kind).astype(float), a):
            yield kind, scipy.sparse.csr_array(a.astype(kind))


def broken(a):
    """Sparse matrices whose arrays contradict each other, or that hold no finite numbers."""
    for form in ("csr", "csc", "bsr"):
        for what, name, place, value in [
            ("an index too large", "indices", 0, 10**6),
            ("the last index too large", "indices", -1, 10**6),
            ("an index below zero", "indices", 0, -1),
            ("an index far below zero", "indices", 1, -(10**6)),
            ("an end too large", "indptr", -1, 10**6),
            ("a falling start", "indptr", 1, 10**5),
            ("a start below zero", "indptr", 1, -5),
            ("a first start above zero", "indptr", 0, 2),
            ("nan", "data", 0, np.nan),
            ("inf", "data", -1, np.inf),
        ]:
            A = scipy.sparse.coo_array(a).asformat(form)
            getattr(A, name)[place] = value
            yield f"{form}, {what}", A
        A = scipy.sparse.coo_array(a).asformat(form)
        A.indices = A.indices[:-2]
        yield f"{form}, too few indices", A
        A = scipy.sparse.coo_array(a).asformat(form)
        A.data = A.data[:-2]
        yield f"{form}, too little data", A
        yield f"{form}, complex", scipy.sparse.coo_array(a + 1j).asformat(form)
        yield (
            f"{form}, no rows",
            scipy.sparse.coo_array(a[:0]).asformat(form) if form != "bsr" else scipy.sparse.csr_array(a[:0]),
        )
    for name, value in (("row", 10**6), ("row", -1), ("col", 10**6), ("col", -7)):
        A = scipy.sparse.coo_array(a)
        getattr(A, name)[0] = value
        yield f"coo, {name} {value}", A
    A = scipy.sparse.coo_array(a).asformat("lil")
    A.rows[0] = [0, 10**6]
    A.data[0] = [1.0, 1.0]
    yield "lil, a column too large", A
    A = scipy.sparse.coo_array(a).asformat("dia")
    A.offsets[0] = -(10**6)
    yield "dia, far away", A
    yield "one dimension", scipy.sparse.coo_array(a[0])
    for value in (np.nan, 1e308, 5e-324):
        yield f"coo, {value}", scipy.sparse.coo_array(np.where(a == a.max(), value, a))


ROWS = [
    (
        module_name,
        name,
        [argument for argument in ("pos", "neg", "pos_val", "neg_val", "X", "landmarks") if argument in call.arrays],
    )
    for module_name in MODULES
    if module_name
    not in ("pnorm.dask", "pnorm.plotting", "pnorm.boosting", "pnorm.objectives", "pnorm.metrics", "pnorm.datasets")
    for name, call in calls(module_name).items()
]
ROWS = [(*of_call, rows) for *of_call, rows in ROWS if rows]
"""Calls, and those of their arrays that are rows, of one side of the list each."""


@pytest.mark.parametrize(
    ("number", "module_name", "name", "rows"),
    [pytest.param(k, *each, id="-".join(each[:2])) for k, each in enumerate(ROWS)],
)
def test_sparse_rows_in_any_format_get_the_answer_of_dense_ones_or_a_refusal(number, module_name, name, rows, tried):
    wrong, call, dense = [], calls(module_name)[name], expected(module_name, name)
    forms = {argument: list(sparse_forms(call.arrays[argument])) for argument in rows}
    for k in range(number % ONE_IN_OF_SPARSE, min(map(len, forms.values())), ONE_IN_OF_SPARSE):
        changed = {argument: several[k][1] for argument, several in forms.items()}
        what, before = forms[rows[0]][k][0], [state(x) for x in changed.values()]
        try:
            got = answer(call, changed)
        except Exception as error:
            wrong.append(shown(what, error))
            continue
        tried["array", "refused" if isinstance(got, Exception) else "answered"] += 1
        if before != [state(x) for x in changed.values()]:
            wrong.append(shown(what, "changed"))
        if isinstance(got, Exception):
            if "sparse" not in str(got).lower():
                wrong.append(shown(what, got))
        elif (
            "split" not in name
            and "evaluate" not in name
            and not same(dense, got, 1e-6 if "minimize" in name or "newton" in name else 1e-9)
        ):
            wrong.append(shown(what, f"another answer: {differ(dense, got)}"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("number", "module_name", "name", "rows", "argument"),
    [
        pytest.param(k + side, *each, argument, id="-".join((*each[:2], argument)))
        for k, each in enumerate(ROWS)
        for side, argument in enumerate(each[2])
        if argument not in CHECKED_BY_SCIKIT_LEARN.get(each[0], ())
    ],
)
def test_broken_sparse_rows_are_refused_and_crash_nothing(number, module_name, name, rows, argument, tried):
    wrong, call = [], calls(module_name)[name]
    several = list(broken(call.arrays[argument]))
    for what, other in several[number % ONE_IN_OF_SPARSE :: ONE_IN_OF_SPARSE]:
        good = {side: scipy.sparse.csr_array(call.arrays[side]) for side in rows}
        try:
            got = answer(call, {**good, argument: other})
        except Exception as error:
            wrong.append(shown(what, error))
            continue
        tried["array", "refused" if isinstance(got, Exception) else "answered"] += 1
        if isinstance(got, Exception):
            if not says(got, argument, call, "row") and "sparse" not in str(got):
                wrong.append(shown(what, got))
        elif re.search(r"index|end|start|too", what) or with_nan(got) - with_nan(expected(module_name, name)):
            wrong.append(shown(what, "an answer"))
    assert not wrong, "\n".join(wrong)


# More than memory holds ------------------------------------------------------------------------------------

HUGE = """
import resource, sys, warnings
import numpy as np
sys.path.insert(0, {tests!r})
import public
warnings.simplefilter("error")
module_names = {modules!r}
every = [(name, call) for module_name in module_names for name, call in public.calls(module_name).items()]
for _, call in every:
    call()
with open("/proc/self/statm") as pages:
    resource.setrlimit(resource.RLIMIT_AS, (int(pages.read().split()[0]) * resource.getpagesize() + 2**28,) * 2)
refused, wrong = 0, []
for name, call in every:
    for argument, a in call.arrays.items():
        for value in (0.0, 1, True):
            try:
                call(**{{argument: np.broadcast_to(value, (2**40,) + a.shape[1:])}})
                wrong.append((name, argument, "an answer"))
            except (TypeError, ValueError, OverflowError, MemoryError):
                refused += 1
            except BaseException as error:
                wrong.append((name, argument, repr(error)[:200]))
print(refused, wrong)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the limit of memory is read and set as on Linux")
def test_arrays_larger_than_memory_are_refused_within_a_quarter_of_a_gigabyte(tried):
    modules = [name for name in MODULES if name not in ("pnorm.plotting", "pnorm.dask", "pnorm.sklearn")]
    code = HUGE.format(tests=os.path.dirname(__file__), modules=modules)
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    refused, _, wrong = done.stdout.partition(" ")
    tried["array", "refused"] += int(refused)
    assert wrong.strip() == "[]"
