"""Dask collections as partitions that the workers store, and the problem of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import dask
import numpy as np

from pnorm import _checks
from pnorm._checks import CaseWeights, Vector
from pnorm._solvers.partitioned import Partitions
from pnorm._solvers.problem import Problem, rankers_of
from pnorm._solvers.reductions import NAMES, Name, rows_of
from pnorm._solvers.start import start_of
from pnorm._threads import SERIAL, Pool
from pnorm._trace import Trace
from pnorm.dask._cluster import Cluster
from pnorm.objectives._base import Make
from pnorm.objectives._losses import work
from pnorm.rankers import Rankers


def trusted(partitions: Partitions, lam: Vector, trace: Trace) -> tuple[Vector, Trace]:
    """Return what a run has found, if the rows are still those that it began with."""
    try:
        partitions.check_unchanged()
    except ValueError as error:
        error.trace = trace  # type: ignore[attr-defined]
        raise
    return lam, trace


@contextlib.contextmanager
def problem_of(
    pos: Any,
    neg: Any,
    rankers: Rankers,
    make: Make,
    loss: Any,
    weights: Sequence[Any],
    groups: Sequence[Any],
    push: str,
    group_weight: str,
) -> Iterator[tuple[Partitions, Problem]]:
    """Have the workers store the rows, and give the problem."""
    objective = make(CaseWeights(None, None, None, None, 0), SERIAL)
    if objective.traits.factored and all(labels is None for labels in groups) and group_weight == "pairs":
        handles = []
        for name, X, weight in zip(NAMES, (pos, neg), weights, strict=True):
            parts, of_parts = _matched(X, weight, f"{name}_weight")
            handles.append(_stored(name, X, parts, rankers, weight=of_parts))
        partitions = Partitions(Cluster(), _kept(handles))
        yield partitions, partitions.problem(rankers.names, objective, push)
        return
    # Scores, weights and groups of all rows are held here.
    sides = [_partitions(X) for X in (pos, neg)]
    lengths = [_lengths(X, parts) for X, parts in zip((pos, neg), sides, strict=True)]
    of_rows = [_here(x) for x in (*weights, *groups)]
    counted = _checks.case_weights(sum(lengths[0]), sum(lengths[1]), *of_rows, group_weight=group_weight)
    handles = []
    for k, (name, X) in enumerate(zip(NAMES, (pos, neg), strict=True)):
        kept = np.ones(sum(lengths[k]), bool) if counted.kept is None else counted.kept[k]
        kept_of_parts = np.split(kept, np.cumsum(lengths[k])[:-1])
        codes: Sequence[Any] = [None] * len(kept_of_parts)
        if counted.groups is not None:
            whole = (counted.groups.pos, counted.groups.neg)[k]
            codes = np.split(whole, np.cumsum([int(own.sum()) for own in kept_of_parts])[:-1])
        handles.append(_stored(name, X, sides[k], rankers, kept=kept_of_parts, codes=codes))
    with Pool(None, work(loss, *map(sum, lengths))) as pool:
        partitions = Partitions(Cluster(), _kept(handles))
        objective = make(counted.seen_by(push), pool)
        yield partitions, partitions.problem(rankers.names, objective, push)


def _stored(name: Name, X: Any, parts: Sequence[Any], rankers: Rankers, **of_parts: Sequence[Any]) -> list[Any]:
    """Tasks that store the partitions of one side."""
    store, recipe = dask.delayed(rows_of, pure=False), dask.delayed(rankers, traverse=False, pure=False)
    declared = [np.nan] * len(parts) if hasattr(X, "columns") else X.chunks[0]
    own = {"number": range(len(parts)), "declared": [*map(float, declared)], "weight": [None] * len(parts), **of_parts}
    return [
        store(part, rankers=recipe, name=name, **{key: of_part[k] for key, of_part in own.items()})
        for k, part in enumerate(parts)
    ]


def _kept(handles: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Have the workers keep the partitions of both sides."""
    kept = dask.persist(*handles[0], *handles[1])
    return [kept[: len(handles[0])], kept[len(handles[0]) :]]


def _here(values: Any) -> Any:
    """Values of all rows that may be a Dask collection."""
    return values.compute() if dask.is_dask_collection(values) else values


def _lengths(X: Any, parts: Sequence[Any]) -> Sequence[int]:
    """Numbers of rows of the partitions."""
    lengths: Sequence[Any] = X.chunks[0] if hasattr(X, "chunks") else [np.nan]
    if np.isnan(np.array(lengths, dtype=np.float64)).any():
        lengths = dask.compute(*[dask.delayed(_length, pure=False)(part) for part in parts])
    return lengths


def rankers_for(pos: Any, neg: Any, H: Any, init: Any) -> tuple[Rankers, Vector | None]:
    """The weak rankers, and coefficients to start from."""
    *_, rankers = rankers_of(sample_of(pos, "pos"), sample_of(neg, "neg"), H)
    return rankers, None if init is None else start_of(init, rankers)


def sample_of(X: Any, name: str) -> Any:
    """Rows with the columns of X, whatever is in them."""
    if not (dask.is_dask_collection(X) and hasattr(type(X), "to_delayed") and hasattr(type(X), "shape")):
        raise TypeError(
            f"{name} must be a Dask array or frame; got {type(X).__name__}: pnorm.train takes rows in memory, and "
            "dask.array.from_array makes a Dask array of them"
        )
    if hasattr(X, "columns"):
        return X._meta_nonempty
    if X.ndim != 2:
        raise ValueError(f"{name} must be a matrix, one row per case; got {X.ndim} dimensions")
    return np.zeros((1, X.shape[1]))


def _partitions(X: Any, optimize: bool = True) -> list[Any]:
    """The partitions of rows, each with all columns."""
    whole = X.rechunk({1: -1}) if getattr(X, "ndim", 1) == 2 and not hasattr(X, "columns") else X
    return list(np.ravel(whole.to_delayed(optimize_graph=optimize)))


def _matched(X: Any, weight: Any, name: str) -> tuple[list[Any], Sequence[Any]]:
    """The partitions of rows, and the weights of each."""
    rows = _partitions(X)
    if weight is None:
        return rows, [None] * len(rows)
    if dask.is_dask_collection(weight):
        parts = _partitions(weight)
        if len(parts) != len(rows):  # Dask reads few columns of a file in fewer partitions, if it may
            rows, parts = _partitions(X, False), _partitions(weight, False)
        if len(parts) != len(rows):
            raise ValueError(f"{name} has {len(parts)} partitions, and the rows have {len(rows)}: partition them alike")
        return rows, parts
    lengths = _lengths(X, rows)
    checked = _checks.weights(weight, name, sum(lengths))
    assert checked is not None
    return rows, np.split(checked, np.cumsum(lengths)[:-1])


def _length(X: Any) -> int:
    return int(X.shape[0])
