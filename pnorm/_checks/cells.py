"""Columns of tables of any kind by what their type says: numbers, truth values, dates, durations, times, or values."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import math
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm._checks.arrays import Array, Vector, is_columns, n_rows
from pnorm._checks.frames import column_names, column_of, finder, from_records, is_records, places
from pnorm._checks.grouping import distinct, key
from pnorm._checks.scalars import shown
from pnorm._checks.tables import beyond_exact, table
from pnorm._checks.values import (
    Coded,
    Names,
    Values,
    cell,
    column_called,
    column_values,
    is_missing,
    level,
    listed,
    python,
    rows,
)
from pnorm._checks.words import Plain, folded, numeral, plain_numbers, plainer

_MICRO = datetime.timedelta(microseconds=1)
_EPOCH = datetime.datetime(1970, 1, 1)

NUMBER, BOOLEAN, DATE, DURATION, TIME = "number", "boolean", "date", "duration", "time"
VALUES, UNREAD = "values", "unread"


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of a table."""

    kind: str
    """The type of the values: `NUMBER`, `BOOLEAN`, `DATE`, `DURATION` or `TIME`; `VALUES` for text, and text mixed with
    numbers; `UNREAD` for others, which cannot be used."""
    given: Any
    """The values, or a column of text that is plain numbers."""
    order: tuple[Any, ...] | None = None
    """The levels of an ordered category, from the lowest to the highest."""
    declared: bool = False
    """Whether the type of the column is categorical."""
    type: str = ""
    """For `UNREAD`, a description of the values."""
    plain: Plain | None = None
    """The numbers of `VALUES` that are text and nothing else."""
    zone: str = ""
    """Of dates, the time zone of their type, whose clock they have."""

    @cached_property
    def values(self) -> Values:
        """Floats, NaN where missing; of dates microseconds since 1970, of times since midnight. Of `VALUES`, a `Coded`.

        Text that is plain numbers is counted when this is asked for.
        """
        found: Values = self.given if self.plain is None else _coded(self.given)
        return found

    def __len__(self) -> int:
        return len(self.values if self.plain is None else self.plain.numbers)

    def take(self, at: NDArray[np.intp]) -> Cells:
        """Return some rows of the column."""
        if self.plain is not None:
            return replace(self, given=rows(self.given, at), plain=self.plain.take(at))
        if self.kind == UNREAD:  # these rows may be of one kind
            found = _of_values([self.values[row] for row in at.tolist()])
            return replace(found, type=self.type) if found.kind == UNREAD else found
        if isinstance(self.values, Coded):
            return replace(self, given=Coded(self.values.values, self.values.codes[at]))
        return replace(self, given=np.asarray(self.values)[at])

    def value(self, row: int) -> Any:
        """Return the value of a row, for a message."""
        value: Any = self.values[row]
        if self.kind == DATE:
            return str(np.datetime64(int(value), "us"))
        if self.kind in (DURATION, TIME):
            return str(datetime.timedelta(microseconds=float(value)))
        return bool(value) if self.kind == BOOLEAN else python(value)

    def odd(self) -> int:
        """Return the first row whose value has an unknown kind; otherwise the first row that has a value."""
        known = self.known()
        if self.kind == UNREAD:
            none = [kind_of(value) == UNREAD for value in self.values]
            known = known & none if (known & none).any() else known
        return int(np.argmax(known))

    def known(self) -> Array:
        """Return which rows have a value."""
        if self.plain is not None:
            return np.asarray(~np.isnan(self.plain.numbers))
        if isinstance(self.values, Coded):
            there = np.array([not is_missing(value) for value in self.values.values], bool)
            return there[self.values.codes]
        if isinstance(self.values, list):
            return np.array([not is_missing(value) for value in self.values], bool)
        return np.asarray(~np.isnan(self.values))


def headings(X: Any, name: str) -> tuple[tuple[str, ...] | None, int]:
    """Return the names of the columns of a table, a dictionary of columns included, and their number."""
    X = from_records(X, name)
    if is_columns(X):
        n_rows(X, name)
        return tuple([str(key) for key in X]), len(X)
    names = column_names(X)
    return names, len(table(X, name, ())[0]) if names is None else len(names)


def named_columns(X: Any) -> bool:
    """Return whether the columns of X have names."""
    return is_columns(X) or is_records(X) or column_names(X) is not None


def cells_of(X: Any, name: str, expected: Names, width: int, columns: Sequence[int]) -> list[Cells]:
    """Return some columns of a table with `width` columns, by name if the names are known."""
    X = from_records(X, name, expected or ())
    found, size = headings(X, name)
    if expected is None or found is None:
        if size != width:
            hint = f", {', '.join(map(shown, expected[:4]))}{', ...' * (width > 4)}" if expected else ""
            raise ValueError(f"{name} has {size} columns; these weak rankers were made for {width}{hint}")
        at = list(columns)
    else:
        at = places(found, [expected[c] for c in columns], name)
    n = n_rows(X, name)
    if is_columns(X):
        given = list(X.values())
        sources = [given[place] for place in at]
    elif found is not None:
        sources = [column_of(X, place, found) for place in at]
    else:
        values, _ = table(X, name, set(at))
        sources = [values[place] for place in at]
    read = []
    for c, source in zip(columns, sources, strict=True):
        called = f"{name} has in {column_called(c, expected or found)}"
        if isinstance(source, (str, bytes, Mapping)) or not hasattr(source, "__len__"):
            raise TypeError(f"{called} {shown(source)}; a column must be a sequence of values, one for each row")
        if len(getattr(source, "shape", (n,))) != 1 or len(source) != n:
            got = getattr(source, "shape", (len(source),))
            raise ValueError(f"{called} values of shape {got}, and {n} rows; every column needs one value for each row")
        read.append(_cells(source))
    return read


def spelled(cells: Cells, missing: Collection[str], levels: Mapping[str, str]) -> Cells:
    """Return a column in which some words are missing values, and text is a level that differs in case or spaces.

    Both are given as `folded` writes them. A word that is a number means this number, in a column of numbers as well.
    """
    sentinels = _numbers_of(missing)
    if cells.kind == NUMBER and not isinstance(cells.given, Coded):
        x = np.asarray(cells.values)
        return replace(cells, given=np.where(np.isin(x, sorted(sentinels)), math.nan, x)) if sentinels else cells
    if cells.plain is not None and not sentinels and not levels:
        return cells
    if cells.kind not in (VALUES, UNREAD) or not isinstance(cells.values, Coded):
        return cells
    column, is_missing_word = cells.values, _missing_words(missing, sentinels)

    def own(value: Any) -> Any:
        if is_missing_word(value):
            return None
        return levels.get(folded(value), value) if levels and isinstance(value, str) else value

    return replace(cells, given=Coded([own(value) for value in column.values], column.codes), plain=None)


def without(column: Any, missing: Collection[str]) -> Any:
    """Return a column in which words, as `folded` writes them, are None; a column without them as it is."""
    is_missing_word = _missing_words(missing, _numbers_of(missing))
    values = listed(column)
    try:
        is_missing = {value: is_missing_word(value) for value in dict.fromkeys(values)}
    except TypeError:  # a list has no hash, and is no word
        return column
    if not any(is_missing.values()):
        return column
    found = [None if is_missing[value] else value for value in values]
    if not hasattr(column, "type"):
        return found
    import pyarrow

    return pyarrow.array(found, column.type)


def _missing_words(missing: Collection[str], sentinels: Collection[float]) -> Callable[[Any], bool]:
    """Return a function that finds the values that are words for missing values, or their numbers."""

    def is_missing_word(value: Any) -> bool:
        if isinstance(value, str):
            key = folded(value)
            return key in missing or (bool(sentinels) and not _numbers_of((key,)).isdisjoint(sentinels))
        return bool(sentinels) and kind_of(value) == NUMBER and float_of(value, NUMBER) in sentinels

    return is_missing_word


def _numbers_of(words: Collection[str]) -> set[float]:
    """Return the numbers that words spell."""
    found = set()
    for word in words:
        with contextlib.suppress(ValueError):
            found.add(numeral(word))
    return found


def unread(value: Any, name: str, row: int | None, column: int, names: Names, what: str, known: bool) -> ValueError:
    """Return the error for a value whose kind differs from the kind of its column."""
    if not known:
        hint = "correct the value, leave it empty if it is not known, or make the column another kind with kinds"
        return ValueError(f"{name} has {shown(value)} at {cell(row, column, names)}, which is to be {what}: {hint}")
    return ValueError(
        f"{name} has {shown(value)} at {cell(row, column, names)}, which was {what} in training; "
        "correct the value, or leave it empty if it is not known"
    )


def same_columns(pos: Sequence[str], neg: Sequence[str]) -> None:
    """Refuse two sides whose columns have different names; the order may differ."""
    places(pos, pos, "pos")
    places(neg, neg, "neg")
    for name, found, other, others in (("pos", pos, "neg", neg), ("neg", neg, "pos", pos)):
        odd = [column for column in found if column not in others]
        if odd:
            raise ValueError(
                f"{name} has the column {shown(odd[0])}, which {other} does not have; both sides need the same columns"
            )


def same_batch_columns(known: Sequence[str], found: Sequence[str], name: str) -> None:
    """Refuse a batch whose columns differ from those of earlier batches; the order may differ."""
    for columns, others, told in (
        (found, known, "a batch of {} has the column {}, which the batches before it have not"),
        (known, found, "a batch of {} has not the column {}, which the batches before it have"),
    ):
        odd = next((column for column in columns if column not in others), None)
        if odd is not None:
            raise ValueError(f"{told.format(name, shown(odd))}; all batches need the same columns")


def kinds(given: Any, labels: Sequence[str], known: Collection[str], name: str) -> dict[int, Any]:
    """Return the requested kind of columns, by place: a known word, or a tuple of levels in order.

    The columns are those of `name`.
    """
    if given is None:
        return {}
    words = f"{', '.join(map(repr, known))}, or a list of levels in their order"
    if not isinstance(given, Mapping):
        raise TypeError(f"kinds must be a mapping from a column to a kind ({words}); got {shown(given)}")
    found: dict[int, Any] = {}
    place_of = finder(labels, name, "kinds")
    for column, kind in given.items():
        place = place_of(column)
        if place in found:
            raise ValueError(f"kinds has column {place}, {shown(labels[place])}, twice")
        if isinstance(kind, (list, tuple)) and len(kind) > 1:
            levels = tuple([level(value, f"kinds[{shown(column)}]", k, place, False) for k, value in enumerate(kind)])
            if len({key(value) for value in levels}) < len(levels):
                raise ValueError(f"kinds[{shown(column)}] has a level twice; levels in their order are needed")
            found[place] = levels
        elif isinstance(kind, str) and kind.replace("-", " ") in known:  # the command has no blanks in kinds
            found[place] = kind.replace("-", " ")
        else:
            raise ValueError(f"kinds[{shown(column)}] must be one of {words}; got {shown(kind)}")
    return found


# By container ---------------------------------------------------------------------------------------


def _cells(column: Any) -> Cells:
    if hasattr(column, "iloc"):
        return _of_pandas(column)
    if hasattr(column, "to_physical"):
        return _of_polars(column)
    if hasattr(column, "null_count") and hasattr(column, "to_pylist"):
        return _of_arrow(column)
    return _of_array(column) if isinstance(column, np.ndarray) else _of_values(column)


def _of_array(A: Array) -> Cells:
    kind = A.dtype.kind
    if isinstance(A, np.ma.MaskedArray):
        return _of_values(A.tolist())
    if kind in "buif":
        with np.errstate(over="ignore"):
            x = A.astype(np.float64, copy=False)  # first, as an array that is longer than memory is refused at once
        return _of_values(_as_text(A)) if beyond_exact(A) else Cells(BOOLEAN if kind == "b" else NUMBER, x)
    if kind in "mM":
        try:
            ticks = A.astype(f"{kind}8[us]")
        except (TypeError, OverflowError):
            return Cells(UNREAD, listed(A), type=str(A.dtype))
        x = ticks.view(np.int64).astype(np.float64)
        x[np.isnat(ticks)] = math.nan
        return Cells(DATE if kind == "M" else DURATION, x)
    if kind in "OU":
        return _of_text(A, listed(A))
    return Cells(UNREAD, listed(A), type=str(A.dtype))


def _of_pandas(column: Any) -> Cells:
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return _of_array(column.to_numpy())
    kind = str(dtype).lower()
    if kind == "category":
        return _declared(listed(dtype.categories), np.asarray(column.cat.codes), bool(dtype.ordered))
    if hasattr(dtype, "tz"):
        return replace(_of_array(column.dt.tz_localize(None).to_numpy()), zone=str(dtype.tz))
    if kind.startswith("period"):
        return _of_array(column.dt.to_timestamp().to_numpy())
    if kind.startswith("sparse"):
        return _of_array(np.asarray(column))
    if dtype.kind in "iu" and beyond_exact(np.asarray(column.dropna())):
        return _of_values(_as_text(column))
    if dtype.kind in "buif":
        return Cells(
            BOOLEAN if dtype.kind == "b" else NUMBER, np.array(column.to_numpy(dtype=np.float64, na_value=math.nan))
        )
    if getattr(dtype, "storage", "") == "pyarrow":
        return _of_arrow(column.array.__arrow_array__())
    return _of_text(column, listed(column))


def _of_polars(column: Any) -> Cells:
    import polars

    dtype, kind = column.dtype, str(column.dtype).lower()
    if dtype.is_integer() and beyond_exact(column.drop_nulls().to_numpy()):
        return _of_values(_as_text(column))
    if kind == "boolean" or dtype.is_numeric():
        return Cells(BOOLEAN if kind == "boolean" else NUMBER, np.array(column.cast(polars.Float64).to_numpy()))
    if kind.startswith("date"):
        zone = getattr(dtype, "time_zone", None) or ""
        column = column.dt.replace_time_zone(None) if zone else column
        return replace(_of_array(column.cast(polars.Datetime("us")).to_numpy()), zone=zone)
    if kind.startswith("duration"):
        return _of_array(column.cast(polars.Duration("us")).to_numpy())
    if kind == "time":
        return Cells(TIME, np.array(column.to_physical().cast(polars.Float64).to_numpy()) / 1e3)
    if kind.startswith(("categorical", "enum")):
        order = tuple(listed(dtype.categories)) if kind.startswith("enum") else None
        return Cells(VALUES, _coded(column_values(column)), order, declared=True)
    if kind == "string":
        return _of_text(column, listed(column))
    if kind in ("null", "object"):
        return _of_values(column_values(column))
    return Cells(UNREAD, listed(column), type=kind)


def _of_arrow(column: Any) -> Cells:
    import pyarrow
    import pyarrow.compute

    kind, types = str(column.type), pyarrow.types
    if types.is_boolean(column.type):
        return Cells(BOOLEAN, np.asarray(column.cast("int8"), dtype=np.float64))
    if types.is_decimal(column.type):  # by its digits, as its own cast is off by the last bit
        column = column.cast("string").cast("float64")
    if types.is_integer(column.type) and beyond_exact(np.asarray(column.drop_null())):
        return _of_values(_as_text(column))
    if types.is_integer(column.type) or types.is_floating(column.type) or types.is_decimal(column.type):
        return Cells(NUMBER, np.array(column, dtype=np.float64))
    if types.is_timestamp(column.type) and column.type.tz is not None:
        return replace(_of_arrow(pyarrow.compute.local_timestamp(column)), zone=column.type.tz)
    if types.is_date(column.type) or types.is_timestamp(column.type) or types.is_duration(column.type):
        return _of_array(np.asarray(column))
    if types.is_time(column.type):
        ticks = column.cast(pyarrow.time64("ns")).cast("int64")
        return Cells(TIME, np.array(ticks, dtype=np.float64) / 1e3)
    if types.is_dictionary(column.type):
        if hasattr(column, "unify_dictionaries"):
            column = column.unify_dictionaries()
        chunks = getattr(column, "chunks", [column])
        if chunks:
            codes = [chunk.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
            return _declared(listed(chunks[0].dictionary), np.concatenate(codes), bool(column.type.ordered))
    if kind in ("string", "large_string"):
        return _of_text(column, column)
    if kind in ("string_view", "null"):
        return _of_values(column_values(column))
    return Cells(UNREAD, listed(column), type=kind)


def _as_text(column: Any) -> list[str | None]:
    """Return whole numbers as text: codes, perhaps, of which two would be one float."""
    return [None if is_missing(value) else str(value) for value in listed(column)]


def _declared(levels: list[Any], codes: Array, ordered: bool) -> Cells:
    """Return a column whose type is a category: the codes of its levels, negative where missing."""
    values = Coded([*levels, None], np.where(codes < 0, len(levels), codes).astype(np.intp))
    of_levels = _of_values(values)
    if of_levels.kind in (UNREAD, DATE, DURATION, TIME):
        return of_levels
    return Cells(VALUES, values, tuple(levels) if ordered else None, declared=True)


def _of_text(column: Any, values: Any) -> Cells:
    """Return a column of text, whose values are a list or an array of Arrow: plain numbers at once, others counted."""
    numbers = plain_numbers(values)
    return _of_values(column_values(column)) if numbers is None else Cells(VALUES, column, plain=numbers)


# By the types of values -----------------------------------------------------------------------------


def _coded(values: Any) -> Coded:
    if not isinstance(values, Coded):
        values = column_values(values)
    if isinstance(values, Coded):
        return values
    first, codes = distinct(values)
    return Coded([values[row] for row in first.tolist()], codes)


def _of_values(values: Any) -> Cells:
    if isinstance(values, np.ndarray) and values.dtype.kind in "buif":
        return _of_array(values)
    if isinstance(values, list):
        numbers = plain_numbers(values)
        if numbers is not None:
            return Cells(VALUES, values, plain=numbers)
    try:
        coded = _coded(values if isinstance(values, (Coded, list)) else listed(values))
    except (TypeError, ArithmeticError):  # a list has no hash, and neither has a nan that signals
        odd = next((value for value in values if kind_of(value) == UNREAD and not is_missing(value)), None)
        return Cells(UNREAD, listed(values), type=type(odd).__name__)
    plain = [plainer(value) if type(value) is str else value for value in coded.values]
    coded = Coded(plain, coded.codes)
    if set(map(type, plain)) <= {str, type(None)}:
        return Cells(VALUES, coded)
    known = [value for value in coded.values if not is_missing(value)]
    kinds = {kind_of(value) for value in known}
    if not kinds or kinds <= {VALUES, NUMBER, BOOLEAN}:
        if not kinds or VALUES in kinds:
            return Cells(VALUES, coded)
        if all(type(value) is int for value in known) and 2**53 <= max(map(abs, known)) < 10**300:
            return _of_values(Coded(_as_text(coded.values), coded.codes))
        return Cells(NUMBER if NUMBER in kinds else BOOLEAN, _floats(coded, NUMBER))
    if len(kinds) == 1 and kinds <= {DATE, DURATION, TIME}:
        (kind,) = kinds
        return Cells(kind, _floats(coded, kind))
    odd = {type(value).__name__ for value in known if kind_of(value) == UNREAD}
    odd = odd or {"text" if kind == VALUES else kind for kind in kinds}
    return Cells(UNREAD, coded, type=" and ".join(sorted(odd)[:3]))


def kind_of(value: Any) -> str:
    """Return the kind of a value by its type."""
    if isinstance(value, str):
        return VALUES
    if isinstance(value, (datetime.date, np.datetime64)):
        return DATE
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return DURATION
    if isinstance(value, datetime.time):
        return TIME
    if isinstance(value, (bool, np.bool_)):
        return BOOLEAN
    return NUMBER if isinstance(value, (numbers.Real, decimal.Decimal)) else UNREAD


def _floats(coded: Coded, kind: str) -> Vector:
    of_values = [math.nan if is_missing(value) else float_of(value, kind) for value in coded.values]
    return np.array(of_values, dtype=np.float64)[coded.codes]


def float_of(value: Any, kind: str) -> float:
    """Return a number, or the microseconds of a date, a duration or a time."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(value.astype(f"{value.dtype.kind}8[us]").astype(np.int64))
    if kind == DURATION:
        return float(value / _MICRO)
    if kind == DATE:
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time())
        return float((value.replace(tzinfo=None) - _EPOCH) / _MICRO)
    if kind == TIME:
        return 1e6 * float(3600 * value.hour + 60 * value.minute + value.second) + float(value.microsecond)
    try:
        return float(value)
    except OverflowError:
        return math.inf
