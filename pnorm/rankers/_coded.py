"""Rows of one side as codes of weak rankers. They replace a matrix of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import CaseWeights, Vector
from pnorm._checks.records import record
from pnorm._storage.base import Table as Outputs
from pnorm._storage.growing import memory
from pnorm._threads import Pool
from pnorm.rankers._base import Rankers, _Callables
from pnorm.rankers._table import Table


@record(frozen=True, eq=False)
class CodedSide:
    """The rows of one side, stored as codes of weak rankers without the values."""

    table: Outputs
    rankers: Rankers
    weight: Vector | None = None
    group: NDArray[np.intp] | None = None
    """The number of every row's group, the same on both sides."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of weak rankers."""
        return self.table.shape

    @property
    def nbytes(self) -> int:
        """Memory of the codes, weights and groups, in bytes."""
        return memory(self.table) + sum([0 if x is None else x.nbytes for x in (self.weight, self.group)])

    def __len__(self) -> int:
        return self.table.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "these are coded rows, of which the values are not kept: they serve the weak rankers that they were coded "
            "with, in train, minimize, minimize_path, cross_validate, score and diagnostics"
        )

    def __repr__(self) -> str:
        return f"<coded rows: {len(self):,} of {len(self.rankers):,} weak rankers>"

    def take(self, rows: NDArray[np.intp]) -> CodedSide:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        group = None if self.group is None else self.group[rows]
        return CodedSide(self.table.select_rows(rows), self.rankers, weight, group)

    def scores(self, lam: Vector, pool: Pool) -> Vector:
        """H lam."""
        return pool.run(self.table.combine(lam))[0]  # type: ignore[no-any-return]


def reads_columns(H: Any) -> bool:
    """Return whether weak rankers take the columns of a table as they are: those of tables, and functions of users."""
    if isinstance(H, Rankers):
        return of_functions(H) or any([isinstance(part, Table) for part in getattr(H, "_members", [H])])
    return H is not None


def is_read(X: Any, H: Any = None) -> bool:
    """Return whether rows are yet to be read: they are paths, a dataset or a query.

    Functions of users may take texts as rows. A list of paths is read with a collection of weak rankers only.
    """
    kind = type(X)
    if kind.__module__ == "pyarrow._dataset":
        return True
    if (kind.__module__, kind.__name__) == ("polars.lazyframe.frame", "LazyFrame") or isinstance(X, os.PathLike):
        return True
    if not (H is None or isinstance(H, Rankers)) or of_functions(H):
        return False
    if kind in (list, tuple):
        are_paths = len(X) > 0 and all([isinstance(path, (str, os.PathLike)) for path in X])
        return H is not None and are_paths and all(map(os.path.exists, X))  # texts are rows of some weak rankers
    return isinstance(X, str)


def of_functions(H: Any) -> bool:
    """Return whether weak rankers are functions of users, or some of them."""
    return any([isinstance(part, _Callables) for part in getattr(H, "_members", [H])])


@dataclass(frozen=True, eq=False)
class BothSides:
    """Coded rows of both sides, and their weak rankers."""

    pos: CodedSide
    neg: CodedSide
    H: Rankers

    def __iter__(self) -> Iterator[Any]:
        return iter((self.pos, self.neg, self.H))


def sides_of(pos: Any, neg: Any, H: Any) -> tuple[Any, Any, Any]:
    """Return the rows of both sides and the weak rankers, of coded rows their own."""
    if isinstance(pos, BothSides):
        for name, given in (("neg", neg), ("H", H)):
            if given is not None:
                raise TypeError(f"coded rows have both sides, and weak rankers: {name} is given as well; leave it out")
        return pos.pos, pos.neg, pos.H
    if neg is None:
        library, kind = type(pos).__module__.partition(".")[0], type(pos)
        hint = "pass the negative rows, or the label of every row, as in pnorm.train(X, y=labels)"
        if kind.__module__.startswith("pnorm.dask") or library in ("dask", "dask_expr"):
            hint = "pos is on a cluster, where the functions of pnorm.dask go"
        elif is_read(pos):
            hint = "pnorm.code_rows(source, label) reads files, and gives what stands for both sides"
        raise TypeError(f"neg is missing: {hint}")
    return pos, neg, H


def is_coded(*sides: Any) -> bool:
    """Return whether any of these is a coded side."""
    return any([isinstance(X, CodedSide) for X in sides])


def rankers_of_coded(pos: Any, neg: Any, H: Any) -> Rankers:
    """Return the weak rankers of two coded sides, which must be those given, if any are."""
    for name, X in (("pos", pos), ("neg", neg)):
        if not isinstance(X, CodedSide):
            other = "neg" if name == "pos" else "pos"
            raise TypeError(
                f"{other} is coded rows, and {name} is of type {type(X).__name__}: pass both sides of one CodedRows, "
                "as in pnorm.train(rows)"
            )
    same_rankers(pos, neg.rankers, "neg")
    if H is not None:
        same_rankers(pos, H, "H")
    return pos.rankers  # type: ignore[no-any-return]


def same_rankers(X: CodedSide, H: Any, name: str) -> None:
    """Refuse weak rankers that the rows were not coded with."""
    if X.rankers is H or (isinstance(H, Rankers) and X.rankers == H):
        return
    were = "was coded with other weak rankers than pos" if name == "neg" else "is not what these rows were coded with"
    raise ValueError(
        f"{name} {were}: codes serve one collection of weak rankers; code the rows again, with H=H in code_rows"
    )


def counted_of(pos: Any, neg: Any, *weights_and_groups: Any, **how: Any) -> CaseWeights:
    """Check weights, groups and grades; coded rows have their own."""
    given = [*weights_and_groups, *[None] * (6 - len(weights_and_groups))]
    for k, X in enumerate((pos, neg)):
        if isinstance(X, CodedSide):
            for place, own, what in ((k, X.weight, "weight"), (2 + k, X.group, "group")):
                if own is not None and given[place] is not None:
                    raise ValueError(
                        f"{('pos', 'neg')[k]}_{what} is given, and the coded rows have {what}s of their own; leave it "
                        "out"
                    )
                given[place] = own if given[place] is None else given[place]
    return _checks.case_weights(_checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg"), *given, **how)
