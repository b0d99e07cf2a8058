"""From a table with labels to a list that was tested on rows held out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from pnorm._job.learn import Learned, Progress, kept, learn, learn_again
from pnorm._job.quality import Quality, quality
from pnorm._reasons.explain import beside_means, means_of, parts_of, without_level_trends
from pnorm.rankers import Rankers, TableWarning
from pnorm.rankers._table import Table

N_TOP, N_REASONS = 10, 3
"""Rows of the list that are explained, and reasons for each."""

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
    """The first of them, by their places among the held-out rows: from the top of the list, or with
    ``push="bottom"`` from its bottom."""
    reasons: tuple[str, ...]
    """The reasons for these rows: the columns with the largest effects, against the average row of the other class."""
    warnings: tuple[str, ...]
    """Warnings of columns, of levels that training has not seen, and of a choice that was not made; last `copied`."""
    copied: tuple[str, ...]
    """A warning of held-out rows that are copies of training rows, if there are any."""
    unread: Mapping[str, Unread]
    """Values of the held-out rows that do not read as the kind of their column, by the text of their warning."""
    seconds: Mapping[str, float]
    """The time of each stage."""
    whole: tuple[Any, NDArray[np.bool_]] | None
    """The table that rows were held out of; None if they came in a table of their own."""

    def refit(self, *, n_threads: int | None = None) -> Learned:
        """Learn again from all rows of the table, with what was chosen on those that were trained on.

        What was measured is what the other scoring function is worth. This one saw more rows, and no row is left to
        measure it by: its scores have another scale, and the cut-off does not hold for them. It is a ValueError if the
        rows held out came in a table of their own.
        """
        if self.whole is None:
            raise ValueError(
                "the rows held out came in a table of their own; put both tables together and hold rows out of it"
            )
        table, y = self.whole
        return learn_again(*_sides(table, y), self.learned, n_threads=n_threads)


def tested(table: Any, y: Any, held: Any, **options: Any) -> Tested:
    """Learn from some rows of a table, and test on those that are `held`.

    `table` is whatever `rankers.from_table` reads; `y` says which rows are positive, and `hold_out` which to hold out.
    `options` are those of `learn_and_test`, with the `units` of all rows. It is a ValueError if a part lacks a class,
    before any work is done.
    """
    n = _checks.n_rows(table, "table")
    positive = _checks.one_or_zero(y, "y", n)
    out = _checks.one_or_zero(held, "held", n)
    both(out, positive)
    places = [np.flatnonzero(rows) for rows in (~out, out)]
    (X, known), (X_held, y_held) = [(_checks.rows(table, where), positive[where]) for where in places]
    if options.get("units") is not None:
        options["units"] = options["units"][places[0]]
    _rows = tuple(places)
    return learn_and_test(X, known, X_held, y_held, _rows=_rows, _whole=(table, positive), **options)


def learn_and_test(
    X: Any,
    y: Any,
    X_held: Any,
    y_held: Any,
    *,
    budget: float | None = None,
    precision: float | None = None,
    recall: float | None = None,
    of: float | None = None,
    at_least: float | None = None,
    prior: float | None = None,
    depths: Sequence[int] | None = None,
    confidence: float = 0.95,
    compare: bool = True,
    n_top: int = N_TOP,
    n_reasons: int = N_REASONS,
    seed: int = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
    units: NDArray[np.intp] | None = None,
    _rows: Any = None,
    _whole: Any = None,
    **how: Any,
) -> Tested:
    """Learn from the rows of one table, and test on those of another.

    `budget`, `precision`, `recall`, `of`, `at_least` and `prior` are those of `cutoff`, of held-out scores. A budget is
    a depth of the list as well: of `of` rows that a new list has, its share of the held-out rows. `depths` and
    `confidence` are those of `quality`. `compare` says whether to train the baselines, which sparse rows have not.
    `n_top` rows of the list get `n_reasons` reasons each. `seed` is that of folds, resamples and rows drawn for the
    baselines. Rows of X with the same number in `units` are in one fold of the choice. `how` goes to `learn`, as
    `progress` does.
    """
    positive = _checks.one_or_zero(y, "y", _checks.n_rows(X, "X"))
    positive_held = _checks.one_or_zero(y_held, "y_held", _checks.n_rows(X_held, "X_held"))
    n = positive_held.size
    both(np.repeat([False, True], [positive.size, n]), np.concatenate([positive, positive_held]))
    asked = {"budget": budget, "precision": precision, "recall": recall}
    wanted = {name: value for name, value in asked.items() if value is not None}
    push = _checks.push(how.get("push", "top"))
    if wanted:
        _checks.one_given(asked)
        if push == "bottom":
            raise ValueError(f"{next(iter(wanted))} is for a cut-off, which takes rows from the top; leave it out")
    if at_least is not None:
        check_asked({**asked, "at_least": at_least, "prior": prior}, "the cut-off", n)
    first = None if budget is None else _depth(budget, of, n)

    told: list[Warning] = []
    seconds: dict[str, float] = {}
    pos, neg = _sides(X, positive)
    rows = (np.arange(positive.size), np.arange(n)) if _rows is None else _rows
    with _timed("learn", seconds):
        how |= {"called": (rows[0][positive], rows[0][~positive])}
        how |= {} if units is None else {"units": (units[positive], units[~positive])}
        learned = learn(pos, neg, seed=seed, n_threads=n_threads, progress=progress, **how)
    if progress is not None:
        progress("testing", 0, 3)
    with kept(told, TableWarning, UnknownLevelWarning, read=lambda warning: warning):
        with _timed("score", seconds):
            f = learned.score(X_held, n_threads)
        same = 0
        if how.get("whole") is None and isinstance(learned.H, Table):
            same = copies(zip(values_read(learned.H, X), values_read(learned.H, X_held), strict=True))
        others: dict[str, Vector] = {}
        if compare and not _checks.is_sparse(X):
            with _timed("baselines", seconds):
                made = baselines(pos, neg, learned.H, kinds=how.get("kinds"), push=push, seed=seed, n_threads=n_threads)
                others = {baseline.name: baseline.score(X_held) for baseline in made}
        if progress is not None:
            progress("testing", 1, 3)
        probabilities = learned.probability(f)
        found = None
        with _timed("measure", seconds):
            measured = quality(
                *_parts(f, positive_held),
                {name: _parts(scores, positive_held) for name, scores in others.items()},
                depths=depths,
                budget=first,
                push=push,
                probability=None if probabilities is None else _parts(probabilities, positive_held),
                n_listed=n_top,
                confidence=confidence,
                seed=seed,
            )
            if wanted:
                target: dict[str, Any] = {
                    **wanted,
                    "of": of,
                    "at_least": at_least,
                    "prior": prior,
                    "confidence": confidence,
                }
                trained_on = int(positive.sum()), int((~positive).sum())
                found = cutoff_of_model(*_parts(f, positive_held), trained_on, **target)
        if progress is not None:
            progress("testing", 2, 3)
        with _timed("explain", seconds):
            top = first_places(f, n_top, push)
            why: list[str] = []
            if top.size:
                H, lam = learned.H, learned.lam
                beside = means(pos if push == "bottom" else neg, H, lam, n_threads)
                beside = without_level_trends(beside, X_held, H, lam, n_threads)
                why = reasons(_checks.rows(X_held, top), H, lam, beside, n_reasons, n_threads)
    if progress is not None:
        progress("testing", 3, 3)
    copied = (told_of(same, n),) if same else ()
    return Tested(
        learned,
        measured,
        found,
        (X, positive),
        (X_held, positive_held),
        rows[1],
        f,
        probabilities,
        others,
        top,
        tuple(why),
        tuple(dict.fromkeys([*[ALONE] * learned.alone, *learned.warnings, *map(str, told), *copied])),
        copied,
        unread_of(told),
        seconds,
        _whole,
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


@contextmanager
def _timed(stage: str, seconds: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
