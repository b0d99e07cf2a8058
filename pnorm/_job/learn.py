"""Learning, with open settings chosen by cross-validation."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pnorm import _checks, _default
from pnorm._categories import UnknownLevelWarning
from pnorm._checks import Vector
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


def silent(stage: str, done: int = 0, of: int = 0) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Settings:
    """Settings of learning and of the test; those that are None are chosen, or not asked for."""

    p: float | Sequence[float] | None = None
    """The power, or several to choose from."""
    t_max: int | None = None
    """So many rounds of `train` in place of the minimum: then nothing is chosen, and p is 4 by default."""
    kinds: Mapping[Any, Any] | None = None
    """Kinds of columns, as for `rankers.from_table`; so are the signs below."""
    monotone: Mapping[Any, int] | None = None
    cutoff: Mapping[str, float] = field(default_factory=dict)
    """The options of `pnorm.cutoff`: one of `budget`, `precision` and `recall`, `of` and `at_least`."""
    n_top: int = 10
    """The number of rows of the list that are explained."""
    compare: bool = True
    """Whether to train the baselines."""
    seed: int = 0
    """The seed of folds, resamples and rows drawn for the baselines."""
    n_threads: int | None = None


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
    """The kind of weak rankers."""
    penalty: str
    """The argument `penalty` of `pnorm.minimize`; "" with rounds."""
    cross_validation: CrossValidation | None
    """The cross-validation; None if nothing was chosen."""
    alone: bool
    """Whether a setting could not be chosen because a side has one row."""
    slope: float
    """The factor of the log odds that corrects probabilities; 1 if nothing was chosen."""
    intercept: float | None
    """The intercept of probabilities; None if there are none."""
    warnings: tuple[str, ...]
    """Warnings: columns left out, and columns that almost separate the sides alone."""

    def score(self, X: Any, n_threads: int | None = None, strict: bool | None = False) -> Vector:
        """Score rows; warn of levels that are not known, or without a word if `strict` is None."""
        return scored(X, self.H, self.lam, n_threads, strict)

    def probability(self, f: Vector) -> Vector | None:
        """Return the probabilities of scores, None where there are none."""
        return None if self.intercept is None else sigmoid(f, self.p, self.intercept, self.slope)


def learn(
    pos: Any,
    neg: Any,
    settings: Settings,
    *,
    units: tuple[Index, Index] | None = None,
    progress: Progress = silent,
    on_made: Callable[[Rankers], None] | None = None,
    whole: Whole | None = None,
    called: tuple[Index, Index] | None = None,
) -> Learned:
    """Learn from the rows of both sides, as `rankers.from_table` reads them; cross-validation chooses what is open.

    Rows that have the same number in `units`, given for either side, are in one fold. `progress` is called with a
    stage, the number of its parts that are done, and that of all; `on_made` with the weak rankers of the first kind,
    before anything is chosen or trained. With `whole` the rows are a sample of those to train on: it serves the choice,
    and the model is that of all of them. `called` are the numbers of the rows of either side in one table, which
    messages on its columns call "source".

    What `from_table` warns of is kept as text, once.
    """
    n_threads, t_max = settings.n_threads, settings.t_max
    told: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(kept(told, TableWarning, UnknownLevelWarning))
        if called is not None and whole is None:
            stack.enter_context(numbered("source", pos, neg, called))
        known = _kinds(pos, neg, settings, whole)
        if on_made is not None:
            name, kind = next(iter(known.items()))
            H = kind.make(pos, neg)
            on_made(H)
            known = {**known, name: kind._replace(make=_known(kind.make, pos, neg, H))}
        if t_max is not None:
            ((name, kind),) = known.items()
            power = P_OF_ROUNDS if settings.p is None else _checks.several(settings.p, "p", _checks.power)[0]
            chosen = _default.Chosen(kind.make(pos, neg), name, power, 0.0, 0.0, None)
            rows = _rows(pos, neg, chosen, whole)
            trained = partial(progress, "training")
            lam, trace = train(*rows, chosen.p, t_max, n_threads=n_threads, progress=trained)  # type: ignore[arg-type]
        else:
            chosen = _default.choose(
                pos,
                neg,
                known,
                p=settings.p,
                judge=True,
                seed=settings.seed,
                units=units,
                sizes=None if whole is None else whole.sizes,
                penalty=_default.PENALTY,
                n_threads=n_threads,
                progress=partial(progress, "choosing by cross-validation"),
            )
            rows = _rows(pos, neg, chosen, whole)
            progress("training", 0, 1)
            how: dict[str, Any] = {"tol": _default.TOL, "penalty": _default.PENALTY, "n_threads": n_threads}
            lam, trace = followed(*minimize(*rows, chosen.p, l1=chosen.l1, l2=chosen.l2, **how))
            progress("training", 1, 1)
    if chosen.copied:
        told.append(f"{chosen.copied}. The choice of p and the penalty may then overfit. Leave copies out of the file.")
    b = trace.intercept
    if b is not None and chosen.slope != 1.0:
        sides = [scored(side, chosen.rankers, lam, n_threads, None) for side in (pos, neg)]
        sizes = [f.size for f in sides] if whole is None else whole.sizes
        b = intercept_by_mean(sides, chosen.slope * (1.0 + chosen.p), sizes)
    return Learned(
        rows[2],
        lam,
        trace,
        chosen.p,
        chosen.l1,
        chosen.l2,
        chosen.kind,
        "" if t_max is not None else _default.PENALTY,
        chosen.cross_validation,
        chosen.alone,
        chosen.slope,
        b,
        tuple(told),
    )


def _known(make: Callable[[Any, Any], Rankers], pos: Any, neg: Any, H: Rankers) -> Callable[[Any, Any], Rankers]:
    """Return a maker of weak rankers that has made those of `pos` and `neg`."""
    return lambda of_pos, of_neg: H if of_pos is pos and of_neg is neg else make(of_pos, of_neg)


def _kinds(pos: Any, neg: Any, settings: Settings, whole: Whole | None) -> Mapping[str, Kind]:
    """Return the kinds of weak rankers of a table: for rounds one, of cuts."""
    of_table: dict[str, Any] = {"kinds": settings.kinds, "monotone": settings.monotone}
    more = {name: value for name, value in of_table.items() if value is not None}
    more |= {"n_cuts": CUTS_OF_ROUNDS} if settings.t_max is not None else {}
    if whole is not None:
        known = whole.kinds(**more)
    else:
        size = _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg"), _checks.headings(pos, "pos")[1]
        known = _default.kinds_of_table(size, n_threads=settings.n_threads, **more)
    if settings.t_max is None:
        return known
    kind = _default.STEPS if _default.STEPS in known else next(iter(known))
    return {kind: known[kind]}


def _rows(pos: Any, neg: Any, chosen: _default.Chosen, whole: Whole | None) -> tuple[Any, Any, Rankers]:
    """Return the rows of both sides to learn from, and the weak rankers."""
    if whole is None:
        return pos, neg, chosen.rankers
    return whole.sides(chosen.rankers)


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
