"""Learning, with open settings chosen by cross-validation."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pnorm import _checks, _default
from pnorm._categories import UnknownLevelWarning
from pnorm._checks import Lines, Vector
from pnorm._cross_validation import CrossValidation
from pnorm._default import Kind
from pnorm._job.whole import Whole
from pnorm._minimize import minimize
from pnorm._score import intercept_by_mean, scored, sigmoid
from pnorm._trace import Trace, followed
from pnorm._train import train
from pnorm.rankers import Rankers, TableWarning
from pnorm.rankers._base import Index
from pnorm.rankers._from_table import numbered

P_OF_ROUNDS = 4.0
"""p, where rounds are asked for and p is not: nothing is chosen then."""

CUTS_OF_ROUNDS = 31
"""Cuts of a column, at most, for rounds: a round uses one of them, and more of them do not help."""

Progress = Callable[[str, int, int], object]
"""A function of a stage of the work, how many of its parts are done, and how many there are."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A scoring function and its settings. `learn` returns it."""

    H: Rankers
    """The weak rankers."""
    lam: Vector
    """Their coefficients."""
    trace: Trace
    """The record of the run."""
    p: float
    """The power."""
    l1: float
    """The penalties; zero with rounds."""
    l2: float
    kind: str
    """The kind of weak rankers; "" for a single kind without a name."""
    penalty: str
    """The argument `penalty` of `pnorm.minimize`; "" with rounds."""
    max_columns: int | None
    """Largest number of columns in use, if it was limited."""
    push: str
    """The end of the list that is to be right."""
    cross_validation: CrossValidation | None
    """The cross-validation; None if nothing was chosen."""
    alone: bool
    """Whether a setting could not be chosen because a side has one row."""
    given: Mapping[str, Any]
    """The options that were given, by name."""
    slope: float
    """The factor of the log odds that corrects probabilities; 1 if nothing was chosen."""
    intercept: float | None
    """The intercept of probabilities; None if there are none."""
    warnings: tuple[str, ...]
    """Warnings: columns left out, and columns that almost separate the sides alone."""
    seconds: float
    """The time that it took."""
    make: Callable[[Any, Any], Rankers]
    """A function that makes such weak rankers of other rows."""

    @property
    def told(self) -> str:
        """The objective that was minimised, in words."""
        chosen = _default.Chosen(self.H, self.kind, self.p, self.l1, self.l2, self.cross_validation)
        return chosen.told

    def score(self, X: Any, n_threads: int | None = None, strict: bool | None = False) -> Vector:
        """Score rows; warn of levels that are not known, or without a word if `strict` is None."""
        return scored(X, self.H, self.lam, n_threads, strict)

    def probability(self, f: Vector) -> Vector | None:
        """Return the probabilities of scores, None where there are none."""
        return None if self.intercept is None else sigmoid(f, self.p, self.intercept, self.slope)


def learn(
    pos: Any,
    neg: Any,
    *,
    p: float | Sequence[float] | None = None,
    l1: float | None = None,
    l2: float | None = None,
    rankers: Kind | Callable[[Any, Any], Rankers] | Mapping[str, Kind] | None = None,
    kinds: Mapping[Any, Any] | None = None,
    monotone: Mapping[Any, int] | None = None,
    linear: Lines | None = None,
    penalty: str | None = None,
    max_columns: int | None = None,
    push: str = "top",
    seed: int = 0,
    units: tuple[Index, Index] | None = None,
    t_max: int | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
    on_made: Callable[[Rankers], None] | None = None,
    whole: Whole | None = None,
    called: tuple[Index, Index] | None = None,
    slope: float | None = None,
) -> Learned:
    """Learn from the rows of both sides; what is None is chosen by cross-validation.

    `pos` and `neg` are whatever `rankers.from_table`, or the given weak rankers, read. `p`, `l1`, `l2`, `penalty`,
    `max_columns`, `push` and `n_threads` are those of `minimize`, and of several `p` one is chosen; `kinds`, `monotone`
    and `linear` are those of `from_table`, where `linear` None leaves lines to the choice. `rankers` are functions of
    ``(pos, neg)`` that make weak rankers, or `Kind`s by name, in place of those of `_default.kinds_of_table`. With
    `t_max` there are so many rounds of `train` in place of the minimum, nothing is chosen, and p is 4 by default.
    `seed` deals the folds. Rows that have the same number in `units`, given for either side, are in one fold.
    `progress` is called with a stage, the number of its parts that are done, and that of all; `on_made` with
    the weak rankers of the first kind, before anything is chosen or trained. With `whole` the rows are a sample of
    those to train on: it serves the choice, and the model is that of all of them. `called` are the numbers of the rows
    of either side in one table, which messages on its columns call "source". `slope` corrects probabilities; if it is
    None, the held-out rows of the cross-validation give it.

    What `from_table` warns of is kept as text, once. Options that contradict each other are a ValueError.
    """
    start = time.perf_counter()
    of_table = {name: value for name, value in (("kinds", kinds), ("monotone", monotone)) if value is not None}
    added = {"l1": l1, "l2": l2, "penalty": penalty, "max_columns": max_columns}
    given = {"p": p, **added, **of_table, "linear": linear, "t_max": t_max}
    given = {name: value for name, value in given.items() if value is not None}
    if rankers is not None:
        wrong = [name for name in (*of_table, "linear") if name in given]
        if wrong:
            raise ValueError(f"{wrong[0]} is for weak rankers of a table, and rankers are given; leave one out")
    if p is not None and len(_checks.several(p, "p", _checks.power)) > 1 and t_max is not None:
        raise ValueError("t_max asks for rounds, which take one p; several are for the choice of a minimiser")
    told: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(kept(told, TableWarning, UnknownLevelWarning))
        if called is not None and whole is None:
            stack.enter_context(numbered("source", pos, neg, called))
        if rankers is None:
            known = _kinds(pos, neg, linear, t_max, of_table, n_threads, whole)
        else:
            known = rankers if isinstance(rankers, Mapping) else {"": _kind(rankers)}
        if t_max is not None:
            known = _for_rounds(known, linear)
        if on_made is not None:
            name, kind = next(iter(known.items()))
            H = kind.make(pos, neg)
            on_made(H)
            known = {**known, name: kind._replace(make=_known(kind.make, pos, neg, H))}
        if t_max is not None:
            wrong = [name for name, value in added.items() if value is not None]
            if wrong:
                raise ValueError(f"{wrong[0]} is for minimisers, and t_max asks for rounds; leave one out")
            ((name, kind),) = known.items()
            power = P_OF_ROUNDS if p is None else _checks.several(p, "p", _checks.power)[0]
            chosen = _default.Chosen(kind.make(pos, neg), name, power, 0.0, 0.0, None)
            rounds: dict[str, Any] = {"push": push, "n_threads": n_threads}
            if progress is not None:
                rounds["progress"] = lambda done, of: progress("training", done, of)
            rows = _rows(pos, neg, chosen, whole)
            lam, trace = train(*rows, chosen.p, t_max, **rounds)
        else:
            how: dict[str, Any] = {"push": push, "n_threads": n_threads, "max_columns": max_columns}
            how["penalty"] = _default.PENALTY if penalty is None else penalty
            stage = "choosing by cross-validation"
            more: dict[str, Any] = {"seed": seed, "units": units, "sizes": None if whole is None else whole.sizes}
            if progress is not None:
                more["progress"] = lambda done, of: progress(stage, done, of)
            chosen = _default.choose(pos, neg, known, p=p, l1=l1, l2=l2, judge=slope is None, **how, **more)
            rows = _rows(pos, neg, chosen, whole)
            lam, trace = _minimised(rows, chosen, how, progress)
    if chosen.copied:
        told.append(f"{chosen.copied}. The choice of p and the penalty may then overfit. Leave copies out of the file.")
    factor, b = chosen.slope if slope is None else slope, trace.intercept
    if b is not None and factor != 1.0:
        sides = [scored(side, chosen.rankers, lam, n_threads, None) for side in (pos, neg)]
        sizes = [f.size for f in sides] if whole is None else whole.sizes
        b = intercept_by_mean(sides, factor * (1.0 + chosen.p), sizes)
    return Learned(
        rows[2],
        lam,
        trace,
        chosen.p,
        chosen.l1,
        chosen.l2,
        chosen.kind,
        "" if t_max is not None else how["penalty"],
        max_columns,
        push,
        chosen.cross_validation,
        chosen.alone,
        given,
        factor,
        b,
        tuple(told),
        time.perf_counter() - start,
        known[chosen.kind].make,
    )


def learn_again(
    pos: Any,
    neg: Any,
    before: Learned,
    *,
    n_threads: int | None = None,
    seed: int = 0,
    whole: Whole | None = None,
) -> Learned:
    """Learn from other rows, with all that was chosen before: the kind, p and the penalties.

    With `whole` the rows are a sample, as in `learn`.
    """
    options = {name: value for name, value in before.given.items() if name in ("t_max", "max_columns")}
    if before.penalty:
        options |= {"l1": before.l1, "l2": before.l2, "penalty": before.penalty}
    make = Kind(before.make, "l2")
    if whole is not None:
        of_table = {name: before.given[name] for name in ("kinds", "monotone") if name in before.given}
        linear, t_max = before.given.get("linear"), before.given.get("t_max")
        with kept([], TableWarning, UnknownLevelWarning):  # said of the first model
            make = _kinds(pos, neg, linear, t_max, of_table, n_threads, whole)[before.kind]._replace(along="l2")
    return learn(
        pos,
        neg,
        p=before.p,
        rankers={before.kind: make},
        push=before.push,
        n_threads=n_threads,
        seed=seed,
        whole=whole,
        slope=before.slope,
        **options,
    )


def _kind(rankers: Any) -> Kind:
    """Return one kind of weak rankers, as a user gives it."""
    if isinstance(rankers, Kind):
        return rankers
    if isinstance(rankers, Rankers):
        return Kind(lambda pos, neg: rankers, "l2")
    if callable(rankers):
        return Kind(rankers, "l2")
    raise TypeError(
        "rankers must be a collection made by pnorm.rankers, a function of (pos, neg) that makes one, or a mapping "
        f"from names to kinds; got {_checks.shown(rankers)}"
    )


def _known(make: Callable[[Any, Any], Rankers], pos: Any, neg: Any, H: Rankers) -> Callable[[Any, Any], Rankers]:
    """Return a maker of weak rankers that has made those of `pos` and `neg`."""
    return lambda of_pos, of_neg: H if of_pos is pos and of_neg is neg else make(of_pos, of_neg)


def _for_rounds(known: Mapping[str, Kind], linear: Lines | None) -> dict[str, Kind]:
    """Return the kind to train by rounds: cuts, with lines if they are asked for, or else the first kind."""
    asked = _default.BOTH if linear else _default.CUTS if _default.CUTS in known else _default.STEPS
    kind = asked if asked in known else next(iter(known))
    return {kind: known[kind]}


def _kinds(
    pos: Any,
    neg: Any,
    linear: Lines | None,
    t_max: int | None,
    of_table: Mapping[str, Any],
    n_threads: int | None,
    whole: Whole | None,
) -> Mapping[str, Kind]:
    """Return the kinds of weak rankers of a table."""
    more = {"n_cuts": CUTS_OF_ROUNDS} if t_max is not None else {}
    if whole is not None:
        return whole.kinds(linear=linear, **more, **of_table)
    size = _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg"), _checks.headings(pos, "pos")[1]
    return _default.kinds_of_table(size, linear=linear, n_threads=n_threads, **more, **of_table)


def _rows(pos: Any, neg: Any, chosen: _default.Chosen, whole: Whole | None) -> tuple[Any, Any, Rankers]:
    """Return the rows of both sides to learn from, and the weak rankers."""
    if whole is None:
        return pos, neg, chosen.rankers
    return whole.sides(chosen.rankers)


def _minimised(
    rows: tuple[Any, Any, Rankers], chosen: _default.Chosen, how: Mapping[str, Any], progress: Progress | None
) -> tuple[Vector, Trace]:
    """Minimise what was chosen on all rows."""
    if progress is not None:
        progress("training", 0, 1)
    found = minimize(
        *rows, chosen.p, l1=chosen.l1, l2=chosen.l2, tol=_default.TOL, **how
    )  # to the end, as it is the model
    if progress is not None:
        progress("training", 1, 1)
    return followed(*found)


@contextlib.contextmanager
def kept(into: list[Any], *categories: type[Warning], read: Callable[[Any], Any] = str) -> Iterator[None]:
    """Keep the texts of warnings of some kinds, or what `read` makes of them, each once, and let all others go on."""
    with warnings.catch_warnings(record=True) as caught:
        for category in categories:
            warnings.simplefilter("always", category)
        yield
    for warning in caught:
        found = read(warning.message)
        if not issubclass(warning.category, categories):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        elif found not in into:
            into.append(found)
