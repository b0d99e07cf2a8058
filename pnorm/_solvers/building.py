"""From the rows and the arguments of a user to a problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pnorm import _checks
from pnorm._categories import Seen, tell
from pnorm._checks import CaseWeights
from pnorm._solvers.problem import Before, Problem
from pnorm._solvers.reductions import NAMES
from pnorm._storage.base import Table
from pnorm._storage.combined import Negated, Repeated
from pnorm._storage.store import Piece, seen, select_rows, store, unscaled
from pnorm._threads import SERIAL, Pool
from pnorm.objectives._base import Make, Objective
from pnorm.rankers import Rankers, as_rankers
from pnorm.rankers._coded import counted_of, is_coded, rankers_of_coded, sides_of


def rankers_of(pos: Any, neg: Any, H: Any) -> tuple[Any, Any, Rankers]:
    """Return the rows, lists as arrays if their columns are the rankers, and H as a collection.

    If H is None, the two sides must have the same columns.
    """
    pos, neg, H = sides_of(pos, neg, H)
    if is_coded(pos, neg):
        return pos, neg, rankers_of_coded(pos, neg, H)
    if H is None:
        pos, neg = [_checks.list_to_array(X, name) for name, X in zip(NAMES, (pos, neg), strict=True)]
        _checks.same_width(pos, neg)
        _checks.same_names(_checks.column_names(pos), _checks.column_names(neg), "neg")
    return pos, neg, as_rankers(H, pos, "pos")


def build(
    pos: Any,
    neg: Any,
    rankers: Rankers,
    make: Make,
    *weights_and_groups: Any,
    push: str = "top",
    group_weight: str = "pairs",
    pool: Pool = SERIAL,
) -> Problem:
    """Check the rows of the user and return the problem; `make` returns its objective over the rows that count.

    Rows of weight zero, and rows that are in no pair by their groups and grades, are left out.
    """
    counted = counted_of(pos, neg, *weights_and_groups, push=push, group_weight=group_weight)
    tables, before = tables_of(pos, neg, rankers, counted, pool, push=push)
    counted = counted.seen_by(push)
    return Problem.of_tables(tables, rankers.names, make(counted, pool), counted.kept, pool, before)


def exchanged(tables: Sequence[Table]) -> list[Table]:
    """Return the tables of a push at the bottom, given those of the positives and the negatives.

    It is a push at the top of the reversed list: scores change their sign, and the sides are exchanged. The outputs get
    the sign, so coefficients and edges keep theirs.
    """
    return [Negated(table) for table in reversed(tables)]


def tables_of(
    pos: Any,
    neg: Any,
    rankers: Rankers,
    counted: CaseWeights,
    pool: Pool,
    unknown: list[Seen] | None = None,
    push: str = "top",
) -> tuple[list[Table], Before | None]:
    """Return the outputs on the rows that count, and the outputs before a scaling, if there is one.

    Every weak ranker is evaluated once on either side. Unknown levels cause a warning, or are added to a list.
    """
    if is_coded(pos, neg):
        return _of_coded([pos.table, neg.table], counted, push), None
    everything = np.arange(len(rankers))
    pieces = [rankers._pieces(X, name, everything) for name, X in zip(NAMES, (pos, neg), strict=True)]
    rankers._check_sides(pos, neg)
    # Not map, which would end at a StopIteration from a signal handler.
    of_sides = [seen(of_side) for of_side in pieces]
    of_columns = [of_pos + of_neg for of_pos, of_neg in zip(*of_sides, strict=True)]
    if unknown is None:
        tell(of_columns)
    else:
        unknown += of_columns
    pos_unscaled, neg_unscaled = [unscaled(of_side, len(rankers)) for of_side in pieces]

    def stored(sides: Sequence[Sequence[Piece]]) -> list[Table]:
        if counted.kept is not None:
            sides = [select_rows(of_side, keep) for of_side, keep in zip(sides, counted.kept, strict=True)]
        tables = _repeated(store(sides, pool), counted)
        return exchanged(tables) if push == "bottom" else tables

    tables = stored(pieces)
    if pos_unscaled is None or neg_unscaled is None:
        return tables, None
    (of_pos, factors), (of_neg, _) = pos_unscaled, neg_unscaled
    return tables, lambda: (stored([of_pos, of_neg]), factors)


def _of_coded(tables: list[Table], counted: CaseWeights, push: str) -> list[Table]:
    """Return the tables of the rows that count, given those of coded rows."""
    if counted.kept is not None:
        both = zip(tables, counted.kept, strict=True)
        tables = [table if keep.all() else table.select_rows(np.flatnonzero(keep)) for table, keep in both]
    tables = _repeated(tables, counted)
    return exchanged(tables) if push == "bottom" else tables


def _repeated(tables: Sequence[Table], counted: CaseWeights) -> list[Table]:
    """Return the tables of the rows that count with every row in each of its groups."""
    if counted.groups is None:
        return [*tables]
    both = zip(tables, counted.groups.repeats, strict=True)
    return [table if repeats is None else Repeated(table, repeats) for table, repeats in both]


def objectives_of(makes: Iterable[Make], counted: CaseWeights, pool: Pool) -> list[Objective]:
    """Return several objectives of the same rows."""
    objectives = []
    for make in makes:  # not a comprehension, which would change the stack level of warnings
        objectives.append(make(counted, pool))
    return objectives
