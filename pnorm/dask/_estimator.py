"""Functions for `pnorm.sklearn.PNormPush` on rows in partitions: a sample to choose with, and scores of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask
import numpy as np

from pnorm import _checks
from pnorm._checks import Vector
from pnorm._solvers.reductions import in_partition
from pnorm.dask._cluster import FAN_IN
from pnorm.dask._coding import Roles
from pnorm.dask._partitions import matched, whole


class _Drawn(NamedTuple):
    """Some rows of one label, those with the smallest keys."""

    keys: Vector
    rows: Any
    weight: Vector | None
    n: int
    """Rows from which they are drawn."""


Drawn = dict[Any, _Drawn]


def drawn(X: Any, y: Any, weight: Any, most: int, seed: int) -> tuple[Any, list[Any], Vector | None, dict[Any, int]]:
    """Return rows drawn at random, `most` of each label, with labels and weights, and the rows of each label.

    Each partition draws random keys for its rows, from the seed and its number; the smallest keys are taken.
    """
    names: dict[str, Any] = {role: name for role, name in (("label", y), ("weight", weight)) if isinstance(name, str)}
    vectors = {role: x for role, x in (("label", y), ("weight", weight)) if x is not None and role not in names}
    parts, beside = matched(X, vectors)
    draw, merge, roles = dask.delayed(_draw, pure=False), dask.delayed(_merged, pure=False), whole(Roles(**names))
    layer = [draw(part, roles, k, most, seed, **beside[k]) for k, part in enumerate(parts)]
    while len(layer) > 1:
        layer = [merge(layer[k : k + FAN_IN], most) for k in range(0, len(layer), FAN_IN)]
    found: Drawn = layer[0].compute()
    rows = _joined([of_label.rows for of_label in found.values()])
    labels = [label for label, of_label in found.items() for _ in of_label.keys]
    weights = [of_label.weight for of_label in found.values()]
    c = None if weight is None else np.concatenate([own for own in weights if own is not None])
    return rows, labels, c, {label: of_label.n for label, of_label in found.items()}


def _draw(X: Any, roles: Roles, number: int, most: int, seed: int, label: Any = None, weight: Any = None) -> Drawn:
    """Draw some rows of each label of a partition."""
    with in_partition(number, "X"):
        y = label if roles.label is None else X[roles.label]
        c = weight if roles.weight is None else X[roles.weight]
        codes, known = _checks.labels(y, "y", X.shape[0])
        c = _checks.weights(c, "sample_weight", X.shape[0], some=False)
        if len(known) > 2:
            raise ValueError(f"y must have two classes; got {len(known)} labels")
        X, keys = roles.without(X), np.random.default_rng([seed, number]).random(X.shape[0])
        found = {}
        for code, name in enumerate(known):
            rows = np.flatnonzero(codes == code)
            some = rows[np.argsort(keys[rows])[:most]]
            found[name] = _Drawn(keys[some], _checks.rows(X, some), None if c is None else c[some], rows.size)
        return found


def _merged(parts: Sequence[Drawn], most: int) -> Drawn:
    """Return the rows of several partitions with the smallest keys of each label."""
    found: Drawn = {}
    for label in dict.fromkeys([label for part in parts for label in part]):
        own = [part[label] for part in parts if label in part]
        keys = np.concatenate([one.keys for one in own])
        some = np.argsort(keys)[:most]
        weights = [one.weight for one in own if one.weight is not None]
        c = np.concatenate(weights)[some] if weights else None
        rows = _checks.rows(_joined([one.rows for one in own]), some)
        found[label] = _Drawn(keys[some], rows, c, sum(one.n for one in own))
    return found


def _joined(tables: Sequence[Any]) -> Any:
    """Return the rows of several tables of one kind."""
    if hasattr(tables[0], "columns"):
        import pandas

        return pandas.concat(tables, ignore_index=True)
    if _checks.is_sparse(tables[0]):
        from scipy.sparse import vstack

        return vstack(tables, format="csr")
    return np.concatenate(tables)


def mapped(f: Any, function: Callable[[Vector], Any], dtype: Any, width: int | None = None) -> Any:
    """Return a function of scores in partitions, as a vector of Dask or, with a width, a matrix."""
    scores = f.to_dask_array() if hasattr(f, "to_dask_array") else f
    if width is None:
        return scores.map_blocks(function, dtype=dtype, meta=np.empty(0, dtype))
    more = {"chunks": (*scores.chunks, (width,)), "new_axis": 1}
    return scores.map_blocks(function, dtype=dtype, meta=np.empty((0, width), dtype), **more)
