"""From a table with labels to a list that was tested on rows held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import UnknownLevelWarning, Unread, unread_of
from pnorm._checks import Vector
from pnorm._cutoff import Cutoff, check_asked, cutoff_of_model
from pnorm._job.baselines import baselines, values_read
from pnorm._job.copies import copies, told_of
from pnorm._job.hold_out import both
from pnorm._job.learn import Learned, Progress, Settings, kept, learn, silent
from pnorm._job.quality import Quality, quality
from pnorm._job.whole import Whole
from pnorm._reasons.explain import beside_means, means_of, parts_of, without_level_trends
from pnorm.rankers import Rankers, TableWarning
from pnorm.rankers._table import Table

N_REASONS = 3
"""Reasons for a row."""

_REFERENCE = 10_000
"""Rows that stand for the average one in explanations, at most."""

_AT_ONCE = 2**24
"""Contributions that are in memory at once."""

ALONE = "a class has one row to train on, which cannot be held out, so that nothing was chosen"


@dataclass(frozen=True, eq=False)
class Tested:
    """A scoring function and its measures on held-out rows. `tested` returns it."""

    learned: Learned
    """The scoring function."""
    quality: Quality
    """The measures of the list of held-out rows, beside the baselines."""
    cutoff: Cutoff | None
    """The cut-off that was asked for."""
    training: tuple[Any, NDArray[np.bool_]]
    """The rows that were trained on, and which of them are positive."""
    held_out: tuple[Any, NDArray[np.bool_]]
    """The rows that were held out, and which of them are positive."""
    rows: NDArray[np.intp]
    """Their numbers in the whole table, from 0; of a table of their own, those there."""
    scores: Vector
    """Their scores."""
    probabilities: Vector | None
    """Their probabilities of being positive, if there are any."""
    others: Mapping[str, Vector]
    """Their scores by the baselines, by name."""
    top: NDArray[np.intp]
    """The first of them, by their places among the held-out rows."""
    reasons: tuple[str, ...]
    """The reasons for these rows: the columns with the largest effects, against the average row of the other class."""
    warnings: tuple[str, ...]
    """Warnings of columns, of levels that training has not seen, and of a choice that was not made; last `copied`."""
    copied: tuple[str, ...]
    """A warning of held-out rows that are copies of training rows, if there are any."""
    unread: Mapping[str, Unread]
    """Values of the held-out rows that do not read as the kind of their column, by the text of their warning."""


def tested(table: Any, y: Any, held: Any, settings: Settings, units: NDArray[np.intp] | None, **how: Any) -> Tested:
    """Learn from some rows of a table, and test on those that are `held`.

    `table` is whatever `rankers.from_table` reads; `y` says which rows are positive, and `hold_out` which to hold out.
    `units` are those of all rows; `how` goes to `learn`. It is a ValueError if a part lacks a class, before any work is
    done.
    """
    n = _checks.n_rows(table, "table")
    positive = _checks.one_or_zero(y, "y", n)
    out = _checks.one_or_zero(held, "held", n)
    both(out, positive)
    places = np.flatnonzero(~out), np.flatnonzero(out)
    training, held_out = [(_checks.rows(table, where), positive[where]) for where in places]
    return learn_and_test(training, held_out, settings, None if units is None else units[places[0]], places, **how)


def learn_and_test(
    training: tuple[Any, NDArray[np.bool_]],
    held_out: tuple[Any, NDArray[np.bool_]],
    settings: Settings,
    units: NDArray[np.intp] | None = None,
    places: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
    progress: Progress = silent,
    whole: Whole | None = None,
    on_made: Callable[[Rankers], None] | None = None,
) -> Tested:
    """Learn from the rows of one table, and test on those of another; each with which rows are positive.

    A budget is a depth of the list as well: of `of` rows that a new list has, its share of the held-out rows. Training
    rows with the same number in `units` are in one fold of the choice. `places` are the numbers of the rows in one
    table. The rest goes to `learn`.
    """
    (X, positive), (X_held, y_held) = training, held_out
    n, n_threads = y_held.size, settings.n_threads
    asked: dict[str, Any] = {**settings.cutoff}
    both(np.repeat([False, True], [positive.size, n]), np.concatenate([positive, y_held]))
    if asked:
        check_asked(asked, "the cut-off", n)
    first = None if "budget" not in asked else _depth(asked["budget"], asked.get("of"), n)
    told: list[Warning] = []
    pos, neg = _sides(X, positive)
    rows = places or (np.arange(positive.size), np.arange(n))
    called = rows[0][positive], rows[0][~positive]
    of_units = None if units is None else (units[positive], units[~positive])
    learned = learn(pos, neg, settings, units=of_units, progress=progress, on_made=on_made, whole=whole, called=called)
    progress("testing", 0, 3)
    with kept(told, TableWarning, UnknownLevelWarning, read=lambda warning: warning):
        f = learned.score(X_held, n_threads)
        same = 0
        if whole is None and isinstance(learned.H, Table):
            same = copies(zip(values_read(learned.H, X), values_read(learned.H, X_held), strict=True))
        others: dict[str, Vector] = {}
        if settings.compare:
            how: dict[str, Any] = {"kinds": settings.kinds, "seed": settings.seed, "n_threads": n_threads}
            others = {baseline.name: baseline.score(X_held) for baseline in baselines(pos, neg, learned.H, **how)}
        progress("testing", 1, 3)
        probabilities = learned.probability(f)
        measured = quality(
            *_parts(f, y_held),
            {name: _parts(scores, y_held) for name, scores in others.items()},
            budget=first,
            probability=None if probabilities is None else _parts(probabilities, y_held),
            n_listed=settings.n_top,
            seed=settings.seed,
        )
        trained_on = int(positive.sum()), int((~positive).sum())
        found = cutoff_of_model(*_parts(f, y_held), trained_on, **asked) if asked else None
        progress("testing", 2, 3)
        top = first_places(f, settings.n_top, "top")
        why: list[str] = []
        if top.size:
            H, lam = learned.H, learned.lam
            beside = without_level_trends(means(neg, H, lam, n_threads), X_held, H, lam, n_threads)
            why = reasons(_checks.rows(X_held, top), H, lam, beside, n_threads=n_threads)
    progress("testing", 3, 3)
    copied = (told_of(same, n),) if same else ()
    return Tested(
        learned,
        measured,
        found,
        training,
        held_out,
        rows[1],
        f,
        probabilities,
        others,
        top,
        tuple(why),
        tuple(dict.fromkeys([*[ALONE] * learned.alone, *learned.warnings, *map(str, told), *copied])),
        copied,
        unread_of(told),
    )


def _sides(X: Any, positive: NDArray[np.bool_]) -> tuple[Any, Any]:
    """Return the rows of both sides."""
    pos, neg = [_checks.rows(X, np.flatnonzero(side)) for side in (positive, ~positive)]
    return pos, neg


def _parts(f: Vector, positive: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Return the scores of both sides."""
    return f[positive], f[~positive]


def _depth(budget: float, of: float | None, n: int) -> int:
    """Return how many of n rows are as many as the budget is of a new list."""
    rows = _checks.positive(budget, "budget") * (1.0 if of is None else n / _checks.positive(of, "of"))
    if rows >= n:
        what = f"the {n:,} rows held out" if of is None else f"the {of:g} rows of a list"
        hint = ". If a list has more rows, say so with of" if of is None else ""
        raise ValueError(f"budget must be less than {what}; got {budget:g}{hint}")
    return max(1, round(rows))


def typical(X: Any) -> Any:
    """Return rows that stand for all in the average that a row is compared with: all, or so many of them."""
    size = _checks.n_rows(X, "the reference")
    return X if size <= _REFERENCE else _checks.rows(X, np.linspace(0, size - 1, _REFERENCE).astype(np.intp))


def first_places(f: Vector, n: int, push: str) -> NDArray[np.intp]:
    """Return the first n rows from the end of the list that the push is at."""
    return np.argsort(f if push == "bottom" else -f, kind="stable")[:n]


def means(X: Any, H: Rankers, lam: Vector, n_threads: int | None = None) -> Vector:
    """Return the mean part of each column in the scores of rows, which effects are compared with."""
    return means_of(typical(X), H, lam, None, _checks.threads(n_threads))


def reasons(
    X: Any, H: Rankers, lam: Vector, beside: Vector, n: int = N_REASONS, n_threads: int | None = None
) -> list[str]:
    """Return for each row the n columns with the largest effects on its score, with their signs.

    Columns that lower the score are among them, as a row is understood only with what speaks against it. The effects
    are relative to `beside`, which `means` returns. Some rows are explained at a time. Unknown levels are no matter.
    """
    size = _checks.n_rows(X, "X")
    step = max(1000, _AT_ONCE // len(H.column_names))
    found: list[str] = []
    for start in range(0, size, step):
        some = X if step >= size else _checks.rows(X, np.arange(start, min(start + step, size)))
        parts, _ = parts_of(some, H, lam, _checks.threads(n_threads))
        found += beside_means(some, H, parts, beside).reasons(n, either=True)
    return found
