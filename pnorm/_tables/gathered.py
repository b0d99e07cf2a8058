"""Tables that are joined, one below the other."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._tables.arrow import columns_joined


def joined(tables: Sequence[Any], names: Sequence[str] | None) -> Any:
    """Return tables one below the other, as a dictionary of columns; rows without names as an array or a list."""
    if names is not None:
        columns = [columns_of(table, names) for table in tables]
        return {name: _below([of[name] for of in columns]) for name in names}
    if any(map(_checks.is_sparse, tables)):
        from scipy.sparse import vstack

        return vstack(tables, format="csr")
    return _below(tables)


def columns_of(table: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns of these names; in a table without names, those are the names of all its columns."""
    if _checks.is_columns(table):
        return table  # type: ignore[no-any-return]
    own = _checks.column_names(table)
    if own is None:
        return {
            name: table[:, c] if hasattr(table, "dtype") else [row[c] for row in table] for c, name in enumerate(names)
        }
    at = {name: j for j, name in enumerate(own)}
    return {name: _checks.column_of(table, at[name], own) for name in names}


def _below(columns: Sequence[Any]) -> Any:
    """Return columns one below the other, in their own type if they have one, and otherwise as a list."""
    if len(columns) < 2:
        return columns[0] if columns else []
    if all([hasattr(column, "iloc") for column in columns]):
        import pandas

        found = pandas.concat(columns, ignore_index=True)
        are_codes = any([isinstance(column.dtype, pandas.CategoricalDtype) for column in columns])
        return found.astype("category") if are_codes and found.dtype == object else found
    if all([isinstance(column, np.ndarray) for column in columns]) and len({of.dtype.kind for of in columns}) == 1:
        return np.concatenate(columns)
    if any([hasattr(column, "type") for column in columns]):
        import pyarrow

        with contextlib.suppress(pyarrow.ArrowException, TypeError):  # numbers in one file and text in another
            return columns_joined([_of_arrow(column) for column in columns])
    if all([type(column).__module__.startswith("polars") for column in columns]):
        import polars

        with contextlib.suppress(polars.exceptions.PolarsError):
            return polars.concat(columns)
    return [value for column in columns for value in _listed(column)]


def _listed(column: Any) -> list[Any]:
    """Return values as Python objects; a date of NumPy would be a whole number."""
    return list(column) if getattr(column, "dtype", np.dtype(float)).kind in "mM" else _checks.listed(column)


def _of_arrow(column: Any) -> Any:
    """Return a column as one of Arrow, a list of text among others as text."""
    import pyarrow

    if hasattr(column, "type"):
        return column
    of_text = all([isinstance(value, str) for value in column])
    return pyarrow.array(column, pyarrow.string() if of_text else None)
