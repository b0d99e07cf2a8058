"""Rows as scikit-learn checks them, and with what is known of each."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._checks.text import first


def validated(estimator: Any, *data: Any, **how: Any) -> Any:
    """Return rows validated by scikit-learn, which also keeps or checks the number and the names of columns."""
    try:
        return _valid(estimator, *data, **how)
    except ValueError as error:
        names = getattr(estimator, "feature_names_in_", None)
        if how["reset"] or names is None or not str(error).startswith("The feature names should match"):
            raise
        columns = list(data[0].columns)
        if not all(isinstance(name, str) for name in columns):  # those of pyarrow are the data
            columns = data[0].column_names
        lacking = [name for name in names if name not in columns]
        raise ValueError(f"{str(error).rstrip()}\n{_columns_to_pass(lacking, estimator)}") from None


def _columns_to_pass(lacking: list[str], estimator: Any) -> str:
    """Return what to do if the columns of a frame are not those of `fit`, of which some are `lacking`."""
    if not lacking:
        return "Pass X[model.feature_names_in_]"
    several = len(lacking) > 1
    had = "fit had them" if several else "fit had it"
    said = f"X lacks the column{'s' * several} {first(lacking, 5, _checks.shown)}; {had}"
    if not estimator._takes()[1]:
        return said
    where = "them, with missing values if they are" if several else "it, with missing values if it is"
    return f"{said}. Add {where} unknown"


def _valid(estimator: Any, *data: Any, **how: Any) -> Any:
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # scikit-learn 1.4 and 1.5
        if "ensure_all_finite" in how:
            how["force_all_finite"] = how.pop("ensure_all_finite")
        how["cast_to_ndarray"] = not how.pop("skip_check_array", False)
        return estimator._validate_data(*data, **how)
    return validate_data(estimator, *data, **how)


def words_for_missing(missing: Any) -> tuple[str, ...]:
    """Return the words for missing values, as cells are compared with them."""
    expected = "missing must be a list of words and numbers that mean a missing value, as in ['unknown', -999]"
    if isinstance(missing, (str, bytes, Mapping)) or not hasattr(missing, "__iter__"):
        raise TypeError(f"{expected}; got {_checks.shown(missing)}")
    words = []
    for value in missing:
        if isinstance(value, bool) or not isinstance(value, (str, numbers.Real)):
            raise TypeError(f"{expected}; got {_checks.shown(value)} in it")
        words.append(value if isinstance(value, str) else np.format_float_positional(float(value), trim="-"))
    return tuple(dict.fromkeys([_checks.folded(word) for word in words if word.strip()]))


def without_words(X: Any, missing: tuple[str, ...]) -> Any:
    """Return the columns of a table, with None for words for missing values."""
    names = tuple(X) if _checks.is_columns(X) else _checks.column_names(X)
    if names is None:
        raise ValueError("missing is for columns with names; in a matrix, replace these values with NaN")
    of = [X.iloc[:, k] if hasattr(X, "iloc") else X[name] for k, name in enumerate(names)]
    return {name: _checks.without(column, missing) for name, column in zip(names, of, strict=True)}


def is_estimator(x: Any) -> bool:
    return hasattr(x, "fit") and not isinstance(x, type)


def is_array(X: Any) -> bool:
    return _checks.is_sparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biufc")


def has_dates(X: Any) -> bool:
    """Return whether columns are dates, times or durations, which NumPy and polars would convert to nanoseconds."""
    dtypes = getattr(X, "dtypes", None)  # of pandas and polars
    if dtypes is None:
        try:
            dtypes = [np.asarray(X[:1]).dtype]
        except (TypeError, ValueError, LookupError):  # no rows that can be taken
            return False
    return any(
        dtype.is_temporal() if hasattr(dtype, "is_temporal") else getattr(dtype, "kind", "O") in "mM"
        for dtype in dtypes
    )


def tags(estimator: Any) -> tuple[bool, bool]:
    """Return whether an estimator takes sparse rows, and missing values."""
    try:
        from sklearn.utils import get_tags
    except ImportError:  # scikit-learn 1.4 and 1.5
        tags = estimator._get_tags() if hasattr(estimator, "_get_tags") else {}
        return "sparse" in tags.get("X_types", ()) or hasattr(estimator, "apply"), tags.get("allow_nan", False)
    tags = get_tags(estimator).input_tags
    return tags.sparse, tags.allow_nan


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with their side, weight and group, and the fold in which each is held out if that is given."""

    X: Any
    positive: NDArray[np.bool_]
    weight: Vector | None
    group: NDArray[np.intp] | None
    number: NDArray[np.intp]
    """Of each row, in the rows that were given."""
    fold: NDArray[np.intp] | None = None

    def take(self, where: NDArray[np.intp]) -> LabelledRows:
        """Return some of the rows."""
        of_each = (self.positive, self.weight, self.group, self.number, self.fold)
        some = [None if x is None else x[where] for x in of_each]
        return LabelledRows(_checks.rows(self.X, where), *some)  # type: ignore[arg-type]

    @property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The positions of the positives, and of the negatives."""
        return np.flatnonzero(self.positive), np.flatnonzero(~self.positive)

    def sides(self) -> tuple[Any, Any]:
        """The positive rows and the negative ones."""
        pos, neg = self.places
        return _checks.rows(self.X, pos), _checks.rows(self.X, neg)

    def about(self) -> dict[str, Any]:
        """Weights and groups, as keyword arguments of the functions of pnorm."""
        named = (("weight", self.weight), ("group", self.group))
        sides = zip(("pos", "neg"), self.places, strict=True)
        return {f"{side}_{what}": x[where] for side, where in sides for what, x in named if x is not None}
