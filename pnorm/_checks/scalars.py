"""Numbers, words and seeds."""

from __future__ import annotations

import math
import numbers
import operator
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from pnorm._checks import text
from pnorm._checks.accepted import Lines

_T = TypeVar("_T")

ROOT, SQUARED, CUBED = 1e140, 1e153, 1e100
"""Limits of size: squares with room for products and sums; squares that can be added up; cubes."""

_NO_NUMBERS = (bool, np.bool_, np.timedelta64)
"""Types that Python or NumPy treat as integers, and that are rejected as numbers."""


def shown(x: Any) -> str:
    """Return a short text of a value for a message; strings are in quotes."""
    return f"'{text.shown(x)}'" if isinstance(x, str) else text.shown(x)


def real(x: Any, name: str) -> float:
    """Return a finite real number as a float."""
    if isinstance(x, _NO_NUMBERS) or not isinstance(x, numbers.Real):
        raise TypeError(f"{name} must be a real number; got {shown(x)} ({type(x).__name__})")
    try:
        value = float(x)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite; got {shown(x)}")
    return value


def numbers_of(values: Any, name: str, expected: str = "a sequence of") -> list[float]:
    """Return a sequence of finite real numbers as a list of floats."""
    try:
        return [real(value, name) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]
    except TypeError:
        raise TypeError(f"{name} must be {expected} numbers; got {shown(values)}") from None


def coefficients(values: Mapping[Any, Any], name: str) -> dict[str, float]:
    """Return the coefficients that a mapping has for names of weak rankers."""
    found = {}
    for key, value in values.items():
        if not isinstance(key, str):
            raise TypeError(f"{name} must have names of weak rankers for keys, as H.names has them; got {shown(key)}")
        found[key] = real(value, f"{name}[{shown(key)}]")
    return found


def several(values: Any, name: str, check: Callable[[Any], float], least: int = 1) -> list[float]:
    """Return distinct numbers of `least` or more, as `check` checks each; a single number is a sequence of one."""
    expected = f"a number of {least} or more, or a sequence of such"
    given = [values] if isinstance(values, numbers.Real) else numbers_of(values, name, expected)
    found = [check(value) for value in given]
    if not found:
        raise ValueError(f"{name} is empty; at least one number is needed")
    for value in found:
        if found.count(value) > 1:
            raise ValueError(f"{name} has {value:g} {found.count(value)} times; once is enough")
    return found


def power(p: Any) -> float:
    """Return the power p of the price r ** p."""
    return squared(_within(p, "p", lambda value: value >= 1.0, "at least 1 (p = 1 is RankBoost)"), "p")


def intercept(b: Any) -> float:
    """Return the intercept of probabilities."""
    if b is None:
        raise ValueError(
            "intercept is None, and probabilities need one: trace.intercept of a run with the exponential loss, a "
            "power price, and no query groups or grades (only differences within a group are learned), or "
            "pnorm.intercept. For other scores, fit a logistic regression on the scores of held-out rows"
        )
    return real(b, "intercept")


def power_of_two(value: float) -> float:
    """Return the largest power of two up to a positive number; division by it is exact."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)


def squared(value: float, name: str) -> float:
    """Return a number; refuse one whose square overflows."""
    if value > ROOT:
        raise ValueError(f"{name} must be at most {ROOT:g}, so that no square overflows; got {value:g}")
    return value


def nonnegative(x: Any, name: str) -> float:
    """Return a number that is zero or more."""
    return _within(x, name, lambda value: value >= 0.0, "zero or more")


def of_kinds(values: Any, name: str, kinds: Sequence[str]) -> dict[str, Any]:
    """Return what is given for each kind of weak rankers; what is no mapping is for all of them."""
    if not isinstance(values, Mapping):
        return dict.fromkeys(kinds, values)
    if set(values) != set(kinds):
        named = ", ".join(map(repr, kinds)) if any(kinds) else "which are no mapping"
        raise ValueError(
            f"{name} is a mapping, which must have the names of the weak rankers in H ({named}); got "
            f"{', '.join(map(shown, values)) or 'no names'}"
        )
    return dict(values)


def penalty_path(l1: Any, l2: Any, p: float) -> tuple[list[float], list[float]]:
    """Return l1 and l2 of each point of a path for a p; each is a number, a sequence, or a function of p."""
    found: list[list[float]] = []
    several = []
    for given, name in ((l1, "l1"), (l2, "l2")):
        values, called = (given(p), f"{name}({p:g})") if callable(given) else (given, name)
        several.append(not isinstance(values, numbers.Real))
        listed = numbers_of(values, called) if several[-1] else [values]
        found.append([nonnegative(value, called) for value in listed])
        if not found[-1]:
            raise ValueError(f"{called} is empty; at least one number is needed")
    lengths = [len(values) for values in found]
    if all(several) and lengths[0] != lengths[1]:
        raise ValueError(
            "l1 and l2 are both sequences, which go in pairs and must be as long as each other; they have "
            f"{lengths[0]} and {lengths[1]} numbers"
        )
    found = [values if many else values * max(lengths) for values, many in zip(found, several, strict=True)]
    points = list(zip(*found, strict=True))
    for point in points:
        if points.count(point) > 1:
            told = [f"{name} = {x:g}" for name, x, many in zip(("l1", "l2"), point, several, strict=True) if many]
            raise ValueError(f"{', '.join(told)} is there {points.count(point)} times; once is enough")
    return found[0], found[1]


def _within(x: Any, name: str, suits: Callable[[float], bool], expected: str) -> float:
    value = real(x, name)
    if not suits(value):
        raise ValueError(f"{name} must be {expected}; got {shown(x)}")
    return value


def count(n: Any, name: str, least: int) -> int:
    """Return an integer that is at least `least`."""
    try:
        value = operator.index(n) if not isinstance(n, _NO_NUMBERS) else None
    except TypeError:
        value = None
    if value is None:
        raise TypeError(f"{name} must be an integer; got {shown(n)} ({type(n).__name__})")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {shown(value)}")
    return value


def item(i: Any, name: str, size: int) -> int:
    """Return the place of an item among `size` of them; negative ones count from the end."""
    place = count(i, name, -size)
    if place >= size:
        raise ValueError(f"{name} must be below {size}, counted from 0; got {place}")
    return place % size


def positive(x: Any, name: str) -> float:
    """Return a number above 0."""
    return _within(x, name, lambda value: value > 0.0, "above 0")


def share(x: Any, name: str) -> float:
    """Return a number from 0 to 1."""
    return _within(x, name, lambda value: 0.0 <= value <= 1.0, "between 0 and 1")


def probability(x: Any, name: str) -> float:
    """Return a number above 0 and below 1."""
    return _within(x, name, lambda value: 0.0 < value < 1.0, "above 0 and below 1")


def rows_of_share(part: float, n: float) -> int:
    """Return a share of n rows, rounded up to whole rows."""
    return math.ceil(part * n * (1.0 - 1e-12))  # 0.07 * 100 is a little more than 7 in floating point


def generator(seed: Any) -> np.random.Generator:
    """Return a random generator: a new one from a seed, or the one that is passed."""
    try:
        if isinstance(seed, (bool, np.timedelta64)):
            raise TypeError
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"seed must be an integer, zero or more, or a numpy.random.Generator; got {shown(seed)}"
        ) from None


def threads(n_threads: Any) -> int | None:
    """Return the number of threads; None leaves the choice to the package."""
    return None if n_threads is None else count(n_threads, "n_threads", 1)


def path_first(path: Any, order: str) -> None:
    """Raise TypeError if another argument is in the place of the path, with the call in the right order."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the name of a file; got {type(path).__name__}. The order is {order}")


def choice(value: Any, name: str, allowed: Collection[str]) -> str:
    """Return one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {shown(value)}")
    return value


def flag(value: Any, name: str) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {shown(value)}")
    return bool(value)


ONLY: Final = "only"
"""The straight line of a column in place of its cuts."""


def lines(linear: Any) -> Lines:
    """Return whether there are straight lines: True, False or "only"."""
    if linear == ONLY and isinstance(linear, str):
        return ONLY
    if not isinstance(linear, (bool, np.bool_)):
        raise TypeError(f"linear must be True, False or {ONLY!r}; got {shown(linear)}")
    return bool(linear)


def one_given(values: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name and the value of the only argument that is not None."""
    given = [name for name, value in values.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"give one of {', '.join(values)}; got {' and '.join(given) or 'none of them'}")
    return given[0], values[given[0]]


SELECTIONS = ("absolute", "signed", "largest")
"""Rules of step (a): the largest absolute edge, the largest positive edge, and the largest edge of any sign."""

PUSHES = ("top", "bottom")
"""Ends of the list that a push may be at."""


def selection(value: Any) -> str:
    """Return a rule of step (a)."""
    return choice(value, "selection", SELECTIONS)


def push(value: Any) -> str:
    """Return the end of the list that is to be most accurate."""
    return choice(value, "push", PUSHES)


def group_weight(value: Any) -> str:
    """Return how much each group counts."""
    return choice(value, "group_weight", ("pairs", "equal"))


def two(x: Any, message: str) -> tuple[Any, Any]:
    """Return the two items of a pair, or raise a TypeError with this message."""
    try:
        first, second = x
    except (TypeError, ValueError):
        raise TypeError(message) from None
    return first, second


def instance(value: Any, name: str, kind: type[_T], maker: str) -> _T | None:
    """Return an object that only one function makes, or None."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be what {maker} returns; got {type(value).__name__}")
    return value


def texts(given: Any, name: str) -> list[str]:
    """Return a list of texts, given several or one."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence) or not all([isinstance(text, str) for text in given]):
        raise TypeError(f"{name} must be a sequence of strings; got {shown(given)}")
    return list(given)


def texts_by_name(given: Any, name: str, alone: str) -> dict[str, str]:
    """Return texts by their names; one without a name is called `alone`."""
    if isinstance(given, str):
        return {alone: given}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a text, or a mapping from names to texts; got {type(given).__name__}")
    return {str(key): str(value) for key, value in given.items()}


def names(given: Sequence[str] | None, size: int, default: Sequence[str]) -> tuple[str, ...]:
    """Return one name per ranker."""
    if given is None:
        return tuple(default)
    if isinstance(given, str) or len(given) != size:
        raise ValueError(f"names must be a sequence of {size} names, one per ranker; got {shown(given)}")
    return tuple([str(name) for name in given])
