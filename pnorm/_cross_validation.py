"""Cross-validation of p, and of the number of rounds of `train` or of the penalty of `minimize`."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from pnorm import _checks
from pnorm._categories import Seen, held_out, tell
from pnorm._checks import (
    CaseWeights,
    DataFrame,
    GroupLabels,
    Label,
    Labels,
    Numbers,
    PenaltyGrid,
    Rows,
    Seed,
    Vector,
    Weights,
)
from pnorm._recorders import progress_range
from pnorm._solvers.building import exchanged, objectives_of, rankers_of, tables_of
from pnorm._solvers.folds import Fold, HeldTables, Method, Penalties, Rounds, Scorer, judge_folds, select_rows
from pnorm._solvers.given import given
from pnorm._solvers.problem import Problem
from pnorm._threads import Pool
from pnorm._trace import Trace
from pnorm.metrics._by_name import (
    LARGER,
    Measure,
    by_chance,
    named,
    one_by_one,
    scorer,
    scorer_of_lists,
    shared_rows,
    takes,
)
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import Rankers, WeakRankers, as_rankers
from pnorm.rankers._alike import deal, hashes, together
from pnorm.rankers._coded import BothSides, counted_of, is_coded
from pnorm.rankers._notes import told_once

POWERS = (1.0, 4.0, 16.0, 64.0)
"""Powers that are compared by default."""

_T_MAX = 200
"""Rounds of a run by default."""

Index = NDArray[np.intp]
Sides = tuple[Index, Index]


class Choice(tuple[float, ...]):
    """The chosen power, and the chosen number of rounds or penalties, as a tuple.

    The tuple is (p, t), (p, l2), (p, l1) or (p, l1, l2).

    Attributes
    ----------
    p : float
        The power.
    t : int
        The number of rounds, if that was chosen.
    l1, l2 : float
        The penalties, of which one or both were chosen; absent with rounds.
    kind : str or None
        The kind of weak rankers, if there were several.
    """

    p: float
    t: int
    l1: float
    l2: float
    kind: str | None

    def __new__(cls, chosen: Iterable[float], names: Sequence[str] = (), **more: Any) -> Choice:
        self = super().__new__(cls, chosen)
        self.__dict__.update(zip(names, self, strict=False), **more)
        return self

    def _numbers(self) -> list[tuple[str, float]]:
        """What was chosen, and penalties that were there beside it."""
        named = [(name, value) for name, value in self.__dict__.items() if name != "kind"]
        return [*named[: len(self)], *[(name, value) for name, value in named[len(self) :] if value]]

    def __repr__(self) -> str:
        told = [f"{name}={value!r}" for name, value in self._numbers()]
        return f"Choice({', '.join(told)}" + (f", kind={self.kind!r})" if self.kind else ")")

    def __str__(self) -> str:
        """Return the choice in words; of two penalties, without one that is zero."""
        shown = [(name, value) for name, value in self._numbers() if value or name != "l1" or not self.__dict__["l2"]]
        told = [f"{value} rounds" if name == "t" else f"{name} = {value:.4g}" for name, value in shown]
        return ", ".join([self.kind, *told] if self.kind else told)


class _NearChance(NamedTuple):
    """The mean of a best choice that is not shown to be better than a random order."""

    mean: str
    """The mean and its interval."""
    chance: str
    """The value of a random order."""


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """The result of `cross_validate`: a measure of held-out rows for every p, fold, and number of rounds or penalty.

    Attributes
    ----------
    p : ndarray, shape (P,)
        The powers, in the given order. With several kinds of weak rankers, all powers of the first kind, then those of
        the second, and so on.
    rounds : ndarray of int, shape (S,), or None
        The numbers of rounds after which held-out rows were measured, ascending; None with penalties.
    scores : ndarray, shape (P, F, S)
        The measure on the held-out rows of each fold. A run that ended before t_max keeps its last value.
    folds : pair of ndarray of int, shapes (I,) and (K,)
        The fold in which each row was held out; -1 for rows that never were. Pass it as `folds` to another call to
        compare both on the same folds.
    traces : tuple of tuple of Trace
        ``traces[i][k]`` is the run of `train` with ``p[i]`` on all rows but those of fold k; empty with penalties.
    metric : str
        The name of the measure.
    l1, l2 : ndarray, shape (P, S), or None
        The penalties of each run, in the order in which they were given; None with rounds.
    gap : ndarray, shape (P, F, S), or None
        The certificates of the minimisers whose scores were measured; None with rounds.
    status : ndarray of str, shape (P, F, S), or None
        How their runs ended; None with rounds.
    tol : float or None
        The tolerance of their certificates; None with rounds.
    along : {"t", "l1", "l2", "l1, l2"}
        What changes over the S measurements of a run. With ``"l1, l2"`` both penalties change, in one run or between
        runs.
    kinds : tuple of str, length P
        The kind of weak rankers of each of `p`; empty if there was one.
    second_scores : ndarray, shape (P, F, S), or None
        The second measure on the same rows; None if there was none.
    second_metric : str or None
        Its name.
    chance : float or None
        The mean of the measure for a random order: 0.5 for ``"auc"`` and ``"partial_auc"``, and about the share of
        positives for ``"average_precision"``. None if it is not known: for other measures, and for average precision
        with weights or groups.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.thresholds([[0.5, 1.5]] * 9)
    >>> found = pnorm.cross_validate(data.pos, data.neg, H, p=[1, 4], t_max=60)
    >>> found.scores.shape, found.mean.shape, found.standard_error.shape
    ((2, 5, 61), (2, 61), (2, 61))
    >>> found.best, found.best_p, found.best_t
    (Choice(p=1.0, t=59), 1.0, 59)
    >>> found.simplest
    Choice(p=1.0, t=36)
    >>> found.to_frame().columns.tolist()
    ['p', 'rounds', 'mean', 'standard_error']
    """

    p: Vector
    rounds: Index | None
    scores: NDArray[np.float64]
    folds: Sides
    traces: tuple[tuple[Trace, ...], ...]
    metric: str
    l1: Vector | None = None
    l2: Vector | None = None
    gap: NDArray[np.float64] | None = None
    status: NDArray[np.str_] | None = None
    tol: float | None = None
    along: str = "t"
    kinds: tuple[str, ...] = ()
    second_scores: NDArray[np.float64] | None = None
    second_metric: str | None = None
    chance: float | None = None
    _out_of_fold: Any = None
    """The test of the best on held-out rows beside random orders, where a default was chosen: the verdict."""

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the folds, shape (P, S)."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard deviation over the folds divided by the root of their number, shape (P, S).

        It is approximate. The folds share training rows, which makes it too small, and with few folds it is uncertain
        itself. It is nan for a single fold.
        """
        return self._error(self.scores)

    def _error(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        n = self.scores.shape[1]
        if n == 1:
            return np.full_like(values[:, 0], math.nan)
        return np.asarray(values.std(axis=1, ddof=1) / math.sqrt(n))

    @property
    def best(self) -> Choice:
        """The pair (p, t), (p, l2) or (p, l1), or (p, l1, l2), with the largest mean; the simplest one if several tie.

        With a second measure, it has the largest mean of the second measure among those whose mean of the first is at
        most one standard error (of the largest) below the largest.

        A pair (p, t) can be passed to training: ``pnorm.train(pos, neg, H, *found.best)``. Pass penalties by name:
        ``pnorm.minimize(pos, neg, H, found.best.p, l1=found.best.l1, l2=found.best.l2)``. With several kinds of weak
        rankers, use ``found.best.kind``.
        """
        return self._choice(*self._best_place)

    @property
    def best_p(self) -> float:
        """The p of `best`."""
        return self.best.p

    @property
    def best_t(self) -> int:
        """The number of rounds of `best`."""
        return self.best.t

    @property
    def simplest(self) -> Choice:
        """The choice by the rule of one standard error, a pair like `best`.

        Candidates are all pairs whose mean is at most one standard error (of the largest mean) below the largest. The
        folds cannot distinguish them from the best. Of these it is the first kind of weak rankers, then the smallest p,
        then the fewest rounds or the largest penalty (`l1` before `l2`). With one fold there is no standard error, and
        this is the pair with the largest mean.
        """
        return self._choice(*self._simplest_place)

    @property
    def _top_place(self) -> tuple[int, int]:
        """The place of the largest mean."""
        mean = self.mean
        return self._first(mean >= _nearly(mean.max()))

    @property
    def _near(self) -> NDArray[np.bool_]:
        """Which means are within one standard error of the largest, (P, S)."""
        top = self._top_place
        error = np.nan_to_num(self.standard_error[top])  # nan: one fold
        return np.asarray(self.mean >= _nearly(self.mean[top]) - error)

    @property
    def _best_place(self) -> tuple[int, int]:
        if self.second_scores is None:
            return self._top_place
        second = np.where(self._near, self.second_scores.mean(axis=1), -np.inf)
        return self._first(second >= _nearly(second.max()))

    @property
    def _simplest_place(self) -> tuple[int, int]:
        return self._first(self._near)

    def _first(self, allowed: NDArray[np.bool_]) -> tuple[int, int]:
        """Return the place of what is simplest among what is allowed, (P, S)."""
        kind = [self.kinds.index(name) for name in self.kinds] or [0] * self.p.size
        i = min(np.flatnonzero(allowed.any(axis=1)).tolist(), key=lambda i: (kind[i], float(self.p[i])))
        order = self._order[i]
        return i, int(order[allowed[i, order].argmax()])

    @property
    def _changing(self) -> dict[str, NDArray[Any]]:
        """The rounds, or the penalties that change, by their names, each (P, S)."""
        if self.rounds is not None:
            return {"t": np.broadcast_to(self.rounds, self.mean.shape)}
        return {name: getattr(self, name) for name in self.along.split(", ")}

    @property
    def _order(self) -> Index:
        """The places of the rounds or penalties from the simplest on, (P, S)."""
        keys = [values if name == "t" else -values for name, values in self._changing.items()]
        return np.lexsort(keys[::-1])

    def _choice(self, i: int, s: int) -> Choice:
        kind = self.kinds[i] if self.kinds else None
        chosen = {name: values[i, s].item() for name, values in self._changing.items()}
        beside = {} if self.l1 is None or self.l2 is None else {"l1": float(self.l1[i, s]), "l2": float(self.l2[i, s])}
        beside = {name: value for name, value in beside.items() if name not in chosen}
        return Choice((float(self.p[i]), *chosen.values()), ("p", *chosen), **beside, kind=kind)

    def _of_kinds(self) -> list[tuple[int, int]]:
        """The place of each kind that the rule of the best takes; where none is near enough, its largest mean."""
        found, near = [], self._near
        judged = self.mean if self.second_scores is None else self.second_scores.mean(axis=1)
        for kind in dict.fromkeys(self.kinds or [""]):
            own = np.array([name == kind for name in self.kinds or [""] * self.p.size])[:, None]
            allowed = own & near
            value = np.where(allowed, judged, -np.inf) if allowed.any() else np.where(own, self.mean, -np.inf)
            found.append(self._first(value >= _nearly(value.max())))
        return found

    def __repr__(self) -> str:
        several = len(set(self.kinds))
        head, _, end = str(self.best).rpartition(", ")
        chosen = f"{head} after {end}" if self.along == "t" else f"{head} and {end}"
        kinds = f"{several} kinds, " if several else ""
        return (
            f"<CrossValidation: {self.metric} {self.mean[self._best_place]:.4g} at {chosen}; "
            f"{kinds}{np.unique(self.p).size} p, {self.scores.shape[1]} folds>"
        )

    def to_frame(self) -> DataFrame:
        """Return all results as a data frame of pandas.

        Returns
        -------
        DataFrame
            A row for each kind, p and number of rounds or penalty: ``kind`` where there are several, ``p``, ``rounds``
            or ``l1`` and ``l2``, ``mean`` and ``standard_error`` over the folds, and ``second_mean`` where there is a
            second measure.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        from pnorm._checks import sheet

        n, m = self.mean.shape
        table: dict[str, Any] = {"kind": np.repeat(self.kinds, m)} if self.kinds else {}
        table["p"] = np.repeat(self.p, m)
        for name, values in self._changing.items():
            table["rounds" if name == "t" else name] = np.broadcast_to(values, (n, m)).ravel()
        table |= {"mean": self.mean.ravel(), "standard_error": self.standard_error.ravel()}
        if self.second_scores is not None:
            table["second_mean"] = self.second_scores.mean(axis=1).ravel()
        return sheet.frame(table)

    def __str__(self) -> str:
        """Return a table: each p at its best number of rounds or penalty, the choices, and how far they are behind."""
        above, lines, below = self._in_lines()
        return "\n".join([above, *lines, *below])

    def _in_lines(self) -> tuple[str, list[str], list[str]]:
        """Return the line above the table, those of the table, and those below it."""
        head, rows, above, below = self._table()
        kind = max([0, *[len(row[0]) + 2 for row in rows]]) if self.kinds else 0
        texts = [[_stage(name, x) for x in values.ravel()] for name, values in self._changing.items()]
        wide = [max(6, *map(len, of_name)) for of_name in texts]
        lines = []
        for row in (head, *rows):
            stage = "".join([f"  {cell:>{width}}" for cell, width in zip(row[2:-2], wide, strict=True)])
            if row is head:
                lines.append(f"{'':{kind}}{row[1]:>10}{stage}  {row[-2]:>16}      {row[-1]}")
            else:
                lines.append(f"{row[0]:{kind}}{row[1]:>10}{stage}  {row[-2]:>16}  {row[-1]:>19}".rstrip())
        return above, lines, below

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        head, rows, above, below = self._table()
        first = 0 if self.kinds else 1
        return sheet.as_html(head[first:], [row[first:] for row in rows], 1 - first, above, "\n".join(below))

    def _table(self) -> tuple[list[str], list[list[str]], str, list[str]]:
        """Return head and rows, the first cell of which is the kind, and what to say above and below."""
        mean, error, order = self.mean, self.standard_error, self._order
        each = np.arange(self.p.size)
        peaks = mean >= _nearly(mean.max(axis=1, keepdims=True))
        at = order[each, np.take_along_axis(peaks, order, 1).argmax(axis=1)]
        i, s = self._top_place
        top = "best" if self.second_scores is None else "largest"
        above = f"{self.metric} on held-out rows: means of {self.scores.shape[1]} folds with standard errors"
        names = ["rounds" if name == "t" else name for name in self._changing]
        head, rows, lines = ["", "p", *names, "mean", f"behind the {top}"], [], []
        named = {self._best_place, self._simplest_place}
        peak = at.tolist()
        places = [(k, t) for k, m in enumerate(peak) for t in [m, *sorted({t for of, t in named if of == k} - {m})]]
        behind = np.array([self.scores[i, :, s] - self.scores[k, :, t] for k, t in places])
        for (k, t), lag in zip(places, behind, strict=True):
            stage = [_stage(name, values[k][t]) for name, values in self._changing.items()]
            told = _told(mean[k, t], error[k, t], mean)
            less = _told(lag.mean(), self._error(lag[None, :, None]).item(), mean) if (k, t) != (i, s) else ""
            rows.append([self.kinds[k] if self.kinds else "", f"{self.p[k]:g}", *stage, told, less])
        i, s = self._best_place
        if self.second_scores is None:
            lines.append(f"best, the largest mean: {self.best}")
            lines += [f"simplest within one standard error of it: {self.simplest}"] if self.scores.shape[1] > 1 else []
        else:
            spread = self._error(self.second_scores)
            value = _told(self._judged[i, s], spread[i, s], self._judged)
            near = f"{np.count_nonzero(self._near):,} of {mean.size:,} candidates"
            lines += [
                f"within one standard error of the largest mean: {near}",
                f"best, the largest {self.second_metric} of these: {self.best}: {value}",
                f"simplest of these: {self.simplest}",
            ]
        path = self._at_end
        if path:
            end = "last round: a larger t_max" if "t" in path else f"smallest {' and '.join(path)}: a smaller one"
            lines.append(f"the best is at the {end} may be better")
        if self._out_of_fold is not None:
            lines += [f"out of fold, the best is {self._out_of_fold.verdict}:", f"  {self._out_of_fold}"]
        else:
            found = self._near_chance()
            if found is not None:
                told = f"by {self.metric}, the best is not shown to be better than a random order, {found.chance}"
                lines.append(f"{told}: {found.mean}")
        lines += [self._ends] if self._ends else []
        return head, rows, above, lines

    @property
    def _judged(self) -> NDArray[np.float64]:
        """The means of the measure whose largest value is the best: of the second one if there is one."""
        return self.mean if self.second_scores is None else self.second_scores.mean(axis=1)

    @property
    def _at_end(self) -> list[str]:
        """The names of what is to be extended, as the best is at its end: ``"t"`` or penalties; empty if it is not."""
        i, s = self._best_place
        path = {name: values[i] for name, values in self._changing.items() if np.ptp(values[i]) > 0}
        last, before = self._order[i, [-1, -2]] if path else (-1, -1)
        is_end = s == last and self._judged[i, s] > self._judged[i, before]
        return list(path) if is_end and all(values[s] for values in path.values()) else []

    def _near_chance(self) -> _NearChance | None:
        """Return the mean of the best as text if its interval includes the value of a random order; otherwise None."""
        i, s = self._best_place
        mean, error = float(self.mean[i, s]), float(self.standard_error[i, s])
        if self.chance is None or not error >= 0.0:
            return None
        held, every = [sum([int(np.count_nonzero(fold >= least)) for fold in self.folds]) for least in (0, -1)]
        n = self.scores.shape[1]
        wide = float(stdtrit(n - 1, 0.975)) * error * shared_rows(n, held, every)
        if mean - wide > self.chance:
            return None
        is_share = self.metric in ("auc", "partial_auc", "average_precision")
        ends = (max(mean - wide, 0.0), min(mean + wide, 1.0)) if is_share else (mean - wide, mean + wide)
        value, low, high, chance = [f"{x:.4f}" for x in (mean, *ends, self.chance)]
        return _NearChance(f"{value}, corrected 95 % interval {low} to {high}", chance)

    @property
    def _ends(self) -> str:
        """How the runs ended, where that is worth a line."""
        if self.gap is None or self.status is None:
            ended = Counter(trace.status for of_p in self.traces for trace in of_p if trace.status != "t_max")
            return "runs that ended before: " + _counted(ended) if ended else ""
        n, within = self._proved
        rest = _counted(Counter(self.status[self.status != "converged"].tolist()))
        if not n:
            return rest
        all_of = f"all {n}" if n == self.status.size else f"{n} of {self.status.size}"
        return f"{all_of} runs certified within {within:.2g}" + (f"; {rest}" if rest else "")

    @property
    def _proved(self) -> tuple[int, float]:
        """The number of runs that are proved to be near their minimum, and how far above it the worst may be."""
        if self.gap is None or self.status is None:
            return 0, math.inf
        proved = self.status == "converged"
        return int(np.count_nonzero(proved)), max([self.tol or 0.0, *self.gap[proved].tolist()])  # rounding hides more


def _told(value: float, error: float, means: NDArray[np.float64]) -> str:
    """Return a mean and its error with the digits that suit all means."""
    decimals = max(0, 3 - math.floor(math.log10(max(float(np.abs(means).max()), 1e-3))))
    return f"{value:.{decimals}f}" + (f" ± {error:.{decimals}f}" if error == error else "")


def _stage(name: str, value: Any) -> str:
    """Return a number of rounds, or a penalty."""
    return str(value) if name == "t" else f"{value:.4g}"


def _counted(ended: Counter[str]) -> str:
    return ", ".join(f"{n} {status}" for status, n in sorted(ended.items()))


def _nearly(mean: Any) -> Any:
    """Return a mean less an allowance for rounding, to find ties."""
    return mean - 1e-12 * np.abs(mean)


Kind: TypeAlias = WeakRankers | Callable[[Any, Any], Rankers]
"""Weak rankers, or a function of both sides that makes them."""


def cross_validate(
    pos: Rows | BothSides,
    neg: Rows | None = None,
    H: Kind | Mapping[str, Kind] = None,
    p: float | Sequence[float] | None = None,
    t_max: int | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    group: GroupLabels | None = None,
    l1: PenaltyGrid = 0.0,
    l2: PenaltyGrid | None = None,
    penalty: str = "coefficients",
    max_columns: int | None = None,
    folds: int | Numbers | tuple[Numbers, Numbers] = 5,
    metric: str | Callable[..., float] = "partial_auc",
    second_metric: str | Callable[..., float] | None = None,
    rounds: int | Sequence[int] | None = None,
    seed: Seed = 0,
    push: str = "top",
    selection: str = "absolute",
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    group_weight: str = "pairs",
    signs: Numbers | None = None,
    tol: float | None = None,
    progress: bool | Callable[[int, int], object] = False,
    n_threads: int | None = None,
) -> CrossValidation:
    r"""Choose p, and the number of rounds or a penalty, by cross-validation.

    The rows are divided into folds. For each fold and each p, `train` runs on the rows of the other folds, and the rows
    of the fold are measured after every round::

        scores[p, k, t] = metric(f(x_i), f(x̃_j)) over all rows x_i, x̃_j in fold k

    where f is the score for p after t rounds on the rows outside fold k. One run to `t_max` gives the
    measures of all t.

    If `l2` or `l1` is given, penalties are compared instead of rounds. For each fold and each p, `minimize` runs on the
    rows of the other folds for every penalty, from the largest to the smallest, as in `minimize_path`. The rows of the
    fold are measured for each penalty. Most runs need the arguments of the second column only:

    ===============  =====================  =====================================================================
    part             most runs              optional
    ===============  =====================  =====================================================================
    rows             `pos`, `neg`           `y`, `pos_label`
    weights, groups                         `weight`, `group`, `pos_weight`, `neg_weight`, `pos_group`, `neg_group`,
                                            `group_weight`
    compared         `H`, `p`, `l2`         `l1`, `t_max`, `rounds`
    model                                   `push`, `loss`, `price`, `smoothing`, `signs`, `penalty`, `max_columns`
    measure          `metric`, `folds`      `second_metric`, `seed`
    run                                     `selection`, `tol`, `n_threads`
    progress                                `progress`
    ===============  =====================  =====================================================================

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things where the rankers are callables, or CodedRows
        The positive rows, or all rows if `y` is given. As in `train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows; None with `y`, or with coded rows, which have both sides and the weak rankers.
    H : None, sequence of callables, Rankers, callable, or mapping of these
        The weak rankers. As in `train`; or a function ``H(pos, neg)`` that makes them from rows, such as
        `pnorm.rankers.quantile_thresholds`, and is called with the training rows of each fold (see Notes). To choose
        among several kinds of weak rankers, pass a mapping from names to any of these, the simplest first.
    p : float or sequence of float, optional
        Power of the price r ** p that a negative pays for the positives below it; at least 1. Several are compared;
        None compares 1, 4, 16 and 64, or uses the `price` alone.
    t_max : int, optional
        Largest number of rounds; None means 200. It cannot be combined with penalties.
    y : array_like of N labels, or str, optional
        The labels of the rows. All rows are then in the first argument. As in `train`.
    pos_label : label, optional
        The label of positive rows; all others are negative. As in `train`.
    weight, group : array_like of N values, or str, optional
        With `y`, the case weight and the query group of each row. As in `train`.
    l1 : float, sequence of float, function of p, or mapping of these
        Weight of the penalty ``l1 |lam|_1``, zero or more. Several are compared, as for `l2`.
    l2 : float, sequence of float, function of p, or mapping of these, optional
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. Several are compared, by minimisers instead
        of rounds. As in `minimize`, in the units of log F_p and of the weak rankers. A function of p returns the
        penalties for that p, such as ``lambda p: p * grid``, because log F_p grows with p. A mapping has the penalties
        of each kind of weak rankers by name. If `l1` is a sequence as well, both have the same length and are combined
        in pairs.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts. As in `minimize`.
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients. As in `minimize`; each fold chooses its own.
    folds : int, or pair of array_like of int, shapes (I,) and (K,)
        The number of folds, two or more; each gets an equal share of either side. Equal rows are in one fold (see
        Notes), and fewer folds are used if there are fewer different rows. Or the number of the fold in which each row
        is held out, from 0 on, and -1 for rows that are always trained on. ``folds=(a, b)`` with only 0 and -1
        defines a single validation set. With `y`, one array of N such numbers is accepted as well.
    metric : str or callable
        The measure to maximise. ``"partial_auc"`` is `pnorm.metrics.partial_auc`, standardised, down to the first ten
        negatives of the held-out rows, or the first 1 % of them if that is more. ``"positives_at_top"``,
        ``"average_precision"``, ``"bedroc"``, ``"discounted_gain_at_top"``, ``"enrichment_factor"`` and ``"auc"`` are
        those of `pnorm.metrics`. Or a function of ``(f_pos, f_neg)`` that returns a number:
        ``functools.partial(pnorm.metrics.precision_at, k=20)``. If there are weights, it is called with those of the
        held-out rows as ``pos_weight`` and ``neg_weight``.
    second_metric : str or callable, optional
        A measure that decides between results that `metric` cannot distinguish. `best` then has the largest mean of
        it among those whose mean of `metric` is within one standard error of the largest. It takes the same values as
        `metric`.
    rounds : int or sequence of int, optional
        The rounds after which held-out rows are measured; None means 0, 1, ..., `t_max`. A number m means 0 and about
        m more up to `t_max`, in approximately equal ratios. It cannot be combined with penalties.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result. They assign rows to folds.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `train`. With ``"bottom"``, a measure given by name is
        that of the list read from below, with the two sides exchanged: ``"positives_at_top"`` counts the negatives
        below every positive. A function gets the scores unchanged.
    selection, loss, price, smoothing : as in `train`
        How to train. `selection` cannot be combined with penalties.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. They are used in training and in measures. A row of weight zero is in no fold.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. A group is held out as a whole, and the score of a fold is the
        mean of the measure over its groups. Rows of a group that has only one side are in no fold.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `train`; in measures, all groups count the same.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. As in
        `train`. If `H` is a function, use its `monotone` instead, as the weak rankers differ between folds.
    tol : float, optional
        Stop as stationary when no edge exceeds this times the range of its weak ranker. As in `train`; None means
        1e-10. With penalties, stop when the objective is proved to be this close to its infimum, as in `minimize`; None
        means 1e-6.
    progress : bool or callable
        Show a progress bar; needs tqdm, the extra ``progress``. The bar counts folds. A function is called as
        ``progress(done, of)``, with the number of finished folds and of all folds, before each fold and at the end.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. Up to 65,536 rows, with the
        exponential loss, each thread computes whole runs instead (see Notes).

    Returns
    -------
    CrossValidation
        `scores` for every p, fold, and number of rounds or penalty, with `mean` and `standard_error` over the folds;
        `best` is the pair (p, t), (p, l2) or (p, l1) with the largest mean, and `simplest` the choice of the rule of
        one standard error. They are (p, l1, l2) if both penalties change. Their attribute `kind` is the chosen kind of
        weak rankers, if there were several. The result prints as a table.

    Raises
    ------
    ValueError, TypeError
        If there are more folds than rows of a side, or groups, or a fold or what is left without it lacks a side; if
        the measure is not a finite number; if penalties are given together with `t_max`, `rounds` or `selection`, or
        `l1` and `l2` are sequences of different lengths; if runs have different numbers of penalties; if a mapping of
        penalties does not have the names of the kinds; if `max_columns` or ``penalty="shapes"`` is given without
        penalties.

    See Also
    --------
    train : The runs that are compared.
    minimize : The runs with a penalty.
    minimize_path : The minimisers of all rows for many penalties.

    Notes
    -----
    Weak rankers that were made from all rows, such as cuts at quantiles or columns scaled to [0, 1], contain
    information about the held-out rows. The effect is small for cuts placed without the labels. It is large for weak
    rankers that were chosen with the labels: held-out rows then look better than new rows will, and more so with more
    weak rankers. To avoid it, pass a function as `H`. It makes the weak rankers from the training rows of each fold,
    and costs one evaluation per fold. A collection is evaluated once for all folds.

    If the rows of a fold were copies of training rows, they would not show what new rows are like. So equal rows are
    assigned to one fold, whatever their labels: NaN equals NaN, and coded rows are equal if their codes are. There are
    three exceptions. In a table of few different rows, which have four rows each on average, equal rows with different
    labels are no copies, and are assigned one by one. So are equal rows that are more than a fifth of all rows, and all
    equal rows if they are less than 1 % of either side. Rows of different query groups are not compared.

    Outputs are computed once for all p. After a round, the scores of held-out rows are updated by one weak ranker, at
    O(I + K) over all folds. Most of the time goes into the measure: a sort, O(N log N) for the N held-out rows of a
    fold, often costs more than the round itself. A measure given by name handles many short lists at once; a function
    is called for each list. With many rows or rounds, measure less often: ``rounds=40``. Memory is that of the outputs,
    and of a copy of the outputs of one fold's rows.

    Up to 65,536 rows, a pass is too short to be divided among threads. With the exponential loss and a power as the
    price, each thread then computes whole runs, and as many folds are copied as there are threads. Functions of the
    user (recipes, weak rankers and measures) are called in the caller's thread only. The results are the same to the
    bit.

    With penalties, each point of the path costs a few Newton steps, O((I + K) n**2), and the scores of held-out rows
    one pass. A certificate within 1e-6 nats is more than a choice needs. `gap` and `status` contain what was proved for
    each minimiser, and the table summarises them. The same penalty suits different numbers of rows, because log F_p
    grows with them only by a constant: the best penalty on four fifths of the rows is approximately right for all of
    them. A larger p needs a larger penalty, approximately in proportion or more, as in ``l2=lambda p: p * grid``.

    Without a penalty, ``l2=0``, the training rows of a fold may be quasi-separable. Its held-out rows are then scored
    by ``trace.lam_along()`` and not by `lam`, which ranks the support alone; `status` is ``"separable"``. If such a
    point is chosen, score new rows in the same way. A penalty is usually better (page "Optimality certificates").

    Choose a measure that covers the part of the list that will be used. `positives_at_top` depends on one row of each
    fold and is the noisiest measure. The partial AUC down to some negatives depends on more rows, and chooses as well
    or better even if the positives at the top are the final goal (page "Choose p, rounds and penalties"). The mean over
    folds refers to lists of 1/F of the rows. It serves to compare p and t; it does not estimate the measure of a list
    of all rows. Counts such as `positives_at_top` grow with the positives of a list and fall with its negatives. If
    your folds differ in size, use a share instead. The largest of many means is biased upward as an estimate: measure
    the chosen p and t on rows that had no part in the choice.

    The printed result has a row for each kind and p, at its largest mean, and rows for the best and the simplest
    choice. Below it stand the rule of the choice and the choice: `best` has the largest mean or, with a second measure,
    the largest mean of that among all candidates within one standard error of the largest. `simplest` is an
    alternative, and nothing uses it unless you do.

    A line reports if `metric` does not show the best to be better than a random order. The interval is a t interval
    over the folds with 95 %, with the correction of Nadeau and Bengio for shared training rows [3]_. `chance` is the
    value for a random order. The `cross_validation_` of an estimator has the verdict of its `out_of_fold_` in place of
    this line.

    A measure of the top depends on few rows, so many points are within its error, and the choice among them is random.
    A second measure of a larger part of the list, ``second_metric="average_precision"``, decides among these points.

    The rule of one standard error is that of [1]_. No unbiased estimate of this error exists [2]_.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984, section 3.4.3.
    .. [2] Y. Bengio and Y. Grandvalet, "No Unbiased Estimator of the Variance of K-Fold Cross-Validation", Journal of
       Machine Learning Research 5, 2004.
    .. [3] C. Nadeau and Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> H = pnorm.rankers.thresholds([[0.5, 1.5]] * 9)
    >>> found = pnorm.cross_validate(data.pos, data.neg, H, p=[1, 4], t_max=60)
    >>> print(found)
    partial_auc on held-out rows: means of 5 folds with standard errors
             p  rounds              mean      behind the best
             1      59   0.8185 ± 0.0177
             1      36   0.8016 ± 0.0182      0.0170 ± 0.0082
             4      55   0.8109 ± 0.0166      0.0076 ± 0.0063
    best, the largest mean: p = 1, 59 rounds
    simplest within one standard error of it: p = 1, 36 rounds
    >>> found.best, found.scores.shape
    (Choice(p=1.0, t=59), (2, 5, 61))
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, *found.best)

    The same cuts, and the columns as they are, with a penalty. For the columns, all penalties give nearly the same
    measure, and a smaller `tol` separates them:

    >>> kinds = {"columns": None, "cuts": H}
    >>> found = pnorm.cross_validate(data.pos, data.neg, kinds, p=[1, 4], l2=[1, 0.1, 0.01, 0.001], tol=1e-8)
    >>> print(found)
    partial_auc on held-out rows: means of 5 folds with standard errors
                      p      l2              mean      behind the best
    columns           1       1   0.5915 ± 0.0103      0.3985 ± 0.0074
    columns           4   0.001   0.5854 ± 0.0096      0.4046 ± 0.0077
    cuts              1   0.001   0.9889 ± 0.0043      0.0011 ± 0.0003
    cuts              4    0.01   0.9900 ± 0.0040
    best, the largest mean: cuts, p = 4, l2 = 0.01
    simplest within one standard error of it: cuts, p = 1, l2 = 0.001
    all 80 runs certified within 1e-08
    >>> found.best
    Choice(p=4.0, l2=0.01, kind='cuts')
    >>> lam, trace = pnorm.minimize(data.pos, data.neg, kinds[found.best.kind], found.best.p, l2=found.best.l2)
    """
    rows = given(
        pos,
        neg,
        H,
        y=y,
        pos_label=pos_label,
        weight=weight,
        group=group,
        pos_weight=pos_weight,
        neg_weight=neg_weight,
        pos_group=pos_group,
        neg_group=neg_group,
    )
    pos, neg, H = rows.pos, rows.neg, rows.H
    if p is None:
        p = POWERS if price is None else 1.0
    powers = _checks.several(p, "p", _checks.power)
    makes = [objective_of(power, price, loss, smoothing) for power in powers]
    kinds = _kinds(H)
    method = method_of(t_max, rounds, selection, tol, l1, l2, penalty, max_columns, list(kinds), powers)
    bottom = _checks.push(push) == "bottom"
    n_threads = _checks.threads(n_threads)
    recipes = [_recipe(of_kind) for of_kind in kinds.values()]
    n_pos, n_neg = _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg")
    with rows.named():
        counted = counted_of(pos, neg, *rows.of_rows)
        trained = counted_of(pos, neg, *rows.of_rows, group_weight=group_weight)
    measures, own_measure = measures_of(metric, second_metric, counted, push)
    where = counted.select(np.arange(n_pos), np.arange(n_neg))
    for c, called in zip((counted.c_pos, counted.c_neg), rows.weights_called, strict=True):
        _checks.summable(c, called)
    folds, H_of_first = rows.folds(folds), next(iter(kinds.values()))
    units = None if is_pair(folds) or counted.groups is not None else _units(pos, neg, H_of_first, counted)
    number = assign_folds(folds, counted, where, (n_pos, n_neg), _checks.generator(seed), units)
    n_folds = int(number[0].max()) + 1
    with rows.named():
        sources: list[tuple[Any, Any, Any]] = [
            (pos, neg, None) if recipe is not None else rankers_of(pos, neg, of_kind)
            for recipe, of_kind in zip(recipes, kinds.values(), strict=True)
        ]
    seen: list[Seen] = []
    bar = iter(progress_range(len(kinds) * n_folds, progress, "fold"))
    with Pool(n_threads, work(loss, n_pos, n_neg)) as pool:
        objectives = objectives_of(makes, trained.seen_by(push), pool)

        def prepared(source: tuple[Any, Any, Any], recipe: Any, tables: list[Any], k: int) -> Fold:
            train = np.flatnonzero(number[0] != k), np.flatnonzero(number[1] != k)
            held = np.flatnonzero(number[0] == k), np.flatnonzero(number[1] == k)
            pos, neg, rankers = source
            if recipe is not None:
                rankers = recipe(_checks.rows(pos, where[0][train[0]]), _checks.rows(neg, where[1][train[1]]))
                tables, _ = tables_of(pos, neg, rankers, counted, pool, seen)
            own = select_rows(tables, train)
            if bottom:
                own, train = exchanged(own), train[::-1]
            problem = Problem.of_tables(own, rankers.names, objectives[0].select_rows(*train), None, pool)
            method.check(problem)
            shift, offsets = [-x if bottom else x for x in (problem.shift, problem.offsets())]
            return Fold(
                problem.centred(),
                lambda i: objectives[i].select_rows(*train),
                rankers,
                _checks.signs(signs, rankers.names, rankers.signs),
                HeldTables(select_rows(tables, held), shift, offsets),
                judge(measures, own_measure, counted, held),
            )

        def of_kinds() -> Iterator[Callable[[int], Fold]]:
            for source, recipe in zip(sources, recipes, strict=True):
                with rows.named():
                    tables = [] if recipe is not None else tables_of(*source, counted, pool)[0]
                yield partial(prepared, source, recipe, tables)

        # Rounds of other objectives hold the interpreter's lock, and may call functions of the user's.
        small = pool.n_threads == 1 and all([objective.traits.factored for objective in objectives])
        shape = len(measures), len(kinds), len(powers), n_folds
        with Pool(n_threads if small else 1) as jobs:
            scores, records = judge_folds(method, of_kinds(), shape, bar, jobs, any(own_measure))
    tell(held_out(seen), strict=False)
    whole = (_checks.spread(of_side, counted.kept and counted.kept[side], -1) for side, of_side in enumerate(number))
    names = list(kinds) if isinstance(H, Mapping) else []
    chance = _chance(metric, number, counted, push) if isinstance(metric, str) else None
    return result_of(method, powers, scores, records, measures, tuple(whole), names, chance)


def _chance(metric: str, folds: Sides, counted: CaseWeights, push: str) -> float | None:
    """Return the mean of a measure over all orders of the rows of each fold; None if it is not known."""
    plain = counted.c_pos is None and counted.c_neg is None and counted.groups is None
    if metric not in ("auc", "partial_auc") and not (metric == "average_precision" and plain):
        return None
    sizes = [np.bincount(of_side[of_side >= 0]).tolist() for of_side in folds]
    return float(np.mean([by_chance(metric, *of) for of in zip(*sizes[:: -1 if push == "bottom" else 1], strict=True)]))


def result_of(
    method: Method,
    powers: list[float],
    scores: NDArray[np.float64],
    records: list[list[Any]],
    measures: Sequence[tuple[Measure, str]],
    folds: Any,
    kinds: Sequence[str] = (),
    chance: float | None = None,
) -> CrossValidation:
    """Return the result of all runs."""
    return CrossValidation(
        p=np.array(powers * max(len(kinds), 1)),
        scores=scores[0],
        folds=folds,
        metric=measures[0][1],
        kinds=tuple([kind for kind in kinds for _ in powers]),
        second_scores=scores[1] if len(measures) > 1 else None,
        second_metric=measures[1][1] if len(measures) > 1 else None,
        chance=chance,
        **method.told(records),
    )


def measures_of(
    metric: Any, second_metric: Any, counted: CaseWeights, push: str
) -> tuple[list[tuple[Measure, str]], list[bool]]:
    """Return one measure or two with their names, and which are functions of the user."""
    given = {"metric": metric} if second_metric is None else {"metric": metric, "second_metric": second_metric}
    measures = [named(value, LARGER, counted, push, argument) for argument, value in given.items()]
    return measures, [callable(value) for value in given.values()]


def judge(measures: Sequence[tuple[Measure, str]], own: Sequence[bool], counted: CaseWeights, held: Sides) -> Scorer:
    """Return what measures lists of held-out rows in every way; `own` says which measures are functions of the user."""
    if not any(own):
        return scorer_of_lists([measure for measure, _ in measures], counted, held)
    each = [
        one_by_one(scorer(measure, name, counted, held), name) if of_user else scorer_of_lists([measure], counted, held)
        for (measure, name), of_user in zip(measures, own, strict=True)
    ]
    return lambda f_pos, f_neg: np.vstack([score(f_pos, f_neg) for score in each])


def _rounds(rounds: Any, t_max: int) -> Index:
    """Return the numbers of rounds after which held-out rows are measured."""
    if rounds is None:
        return np.arange(t_max + 1)
    if not isinstance(rounds, Sequence | np.ndarray) or getattr(rounds, "ndim", 1) == 0:
        few = _checks.count(rounds, "rounds", 1)
        if few >= t_max:
            return np.arange(t_max + 1)
        return np.unique(np.r_[0, np.rint(np.geomspace(1, t_max, few)), t_max]).astype(np.intp)
    each = rounds.tolist() if isinstance(rounds, np.ndarray) else rounds
    at = sorted({_checks.count(t, "rounds", 0) for t in each})
    if not at:
        raise ValueError("rounds is empty; at least one number is needed")
    if at[-1] > t_max:
        raise ValueError(f"rounds must be at most t_max = {t_max}; got {at[-1]!r:.80}")
    return np.array(at, np.intp)


def method_of(
    t_max: Any,
    rounds: Any,
    selection: Any,
    tol: Any,
    l1: Any,
    l2: Any,
    counted: str,
    max_columns: Any,
    kinds: Sequence[str],
    powers: Sequence[float],
) -> Method:
    """Return what is run for each kind and p: `train` for some rounds, or `minimize` along a path."""
    one = isinstance(l1, numbers.Real)
    _checks.choice(counted, "penalty", ("coefficients", "shapes"))
    most = None if max_columns is None else _checks.count(max_columns, "max_columns", 1)
    if l2 is None and one and l1 == 0.0:
        for name, given in (("max_columns", most is not None), ("penalty='shapes'", counted == "shapes")):
            if given:
                raise ValueError(f"{name} is for minimisers, and rounds are compared; give l1 or l2, or l2=0")
        t_max = _checks.count(_T_MAX if t_max is None else t_max, "t_max", 1)
        at, selection = _rounds(rounds, t_max), _checks.selection(selection)
        return Rounds(t_max, at, selection, _checks.nonnegative(1e-10 if tol is None else tol, "tol"))
    single = "l2" if one and l2 is not None else "l1"
    for name, value, unused in (("t_max", t_max, None), ("rounds", rounds, None), ("selection", selection, "absolute")):
        if value is not None and value != unused:
            raise ValueError(
                f"{name} and {single} are both given: {name} is for runs of train, which few rounds regularise, and "
                f"{single} for minimisers, which a penalty does; leave one out"
            )
    paths = _paths(l1, 0.0 if l2 is None else l2, kinds, powers)
    changing = [name for name, values in zip(("l1", "l2"), paths, strict=True) if np.ptp(values, axis=1).any()]
    tol = _checks.nonnegative(1e-6 if tol is None else tol, "tol")
    if not changing:
        changing = ["l2" if l2 is not None and not paths[0].any() else single]
    return Penalties(", ".join(changing), *paths, tol, counted, most)


def _paths(
    l1: Any, l2: Any, kinds: Sequence[str], powers: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return l1 and l2 of every run, each (P, S): all powers of the first kind, those of the second, and so on."""
    of_kinds = [_checks.of_kinds(values, name, kinds) for values, name in ((l1, "l1"), (l2, "l2"))]
    runs, found = list(product(kinds, powers)), []
    for kind, p in runs:
        found.append(_checks.penalty_path(of_kinds[0][kind], of_kinds[1][kind], p))
        if len(found[-1][0]) != len(found[0][0]):
            raise ValueError(
                f"all runs must have the same number of penalties: there are {len(found[0][0])} for "
                f"{_run(*runs[0])}, and {len(found[-1][0])} for {_run(kind, p)}"
            )
    return np.array([of_l1 for of_l1, _ in found]), np.array([of_l2 for _, of_l2 in found])


def _run(kind: str, p: float) -> str:
    return f"{_checks.shown(kind)} and p = {p:g}" if kind else f"p = {p:g}"


def _kinds(H: Any) -> dict[str, Any]:
    """Return the kinds of weak rankers by their names; one without a name if there is one only."""
    if not isinstance(H, Mapping):
        return {"": H}
    if not H:
        raise ValueError("H is an empty mapping; at least one kind of weak rankers is needed")
    for name in H:
        if not isinstance(name, str) or not name:
            raise TypeError(f"H is a mapping, whose keys must be names of weak rankers; got {_checks.shown(name)}")
    return dict(H)


def _recipe(H: Any) -> Callable[[Any, Any], Rankers] | None:
    """Return a function that makes weak rankers from training rows; None if H is not one."""
    if not callable(H):
        return None
    if not takes(H, None, None):
        raise TypeError(
            "H is a function that does not take (pos, neg): a recipe is called with the training rows of both sides "
            "and returns weak rankers; a weak ranker goes into a list"
        )

    told = list[bool]()

    def made(pos: Any, neg: Any) -> Rankers:
        with told_once(told):
            found = H(pos, neg)
        if found is None:
            raise TypeError("the recipe H returned None; it must return weak rankers")
        return as_rankers(found, pos, "pos")

    return made


def assign_folds(
    folds: Any,
    counted: CaseWeights,
    where: Sides,
    sizes: tuple[int, int],
    rng: np.random.Generator,
    units: Index | None = None,
) -> Sides:
    """Return the fold of each row of positive weight; of `units` of these, all rows are in one fold."""
    groups = counted.groups
    if not is_pair(folds):
        own_sizes = where[0].size, where[1].size
        n = number_of_folds(folds, counted, own_sizes)
        if groups is not None:
            of_group = np.empty(groups.n, np.intp)
            of_group[rng.permutation(groups.n)] = np.arange(groups.n) % n
            return of_group[groups.pos], of_group[groups.neg]
        positive = np.repeat([True, False], own_sizes)
        dealt = deal(positive, n, rng, units)
        return dealt[positive], dealt[~positive]
    pair = _checks.two(folds, "folds must be a number, or a pair: the fold of each positive and of each negative")
    pos, neg = (_checks.folds(of_side, f"folds[{side}]", sizes[side])[where[side]] for side, of_side in enumerate(pair))
    n = 1 + max(int(pos.max()), int(neg.max()))
    if n == 0:
        raise ValueError("folds are all -1; some rows must be held out")
    for number, of_side in ((pos, "positive"), (neg, "negative")):
        held = np.bincount(number[number >= 0], minlength=n)
        if not held.all():
            raise ValueError(f"folds: fold {int(held.argmin())} has no {of_side} that counts; each needs both sides")
        if held.max() == number.size:
            raise ValueError(f"every {of_side} that counts is in fold {int(held.argmax())}; none is left to train on")
    if groups is not None:
        low, high = np.full(groups.n, n), np.full(groups.n, -1)
        for number, codes in ((pos, groups.pos), (neg, groups.neg)):
            np.minimum.at(low, codes, number)
            np.maximum.at(high, codes, number)
        if (low < high).any():
            g = int(np.argmax(low < high))
            raise ValueError(f"folds split a group, between {low[g]} and {high[g]}; a group is held out as a whole")
    return pos, neg


def _units(pos: Any, neg: Any, H: Any, counted: CaseWeights) -> Index | None:
    """Return the units of equal rows among those that count."""
    of_sides = counted.select(hashes(pos, H), hashes(neg, H))
    return together(of_sides, np.repeat([True, False], [of_side.size for of_side in of_sides]), is_coded(pos))


def is_pair(folds: Any) -> bool:
    """Return whether folds are given row by row, and not as their number."""
    return isinstance(folds, Sequence | np.ndarray) and getattr(folds, "ndim", 1) != 0


def number_of_folds(folds: Any, counted: CaseWeights, sizes: tuple[int, int]) -> int:
    """Return the number of folds, at most as many as there are groups, or rows of a side that count."""
    n = _checks.count(folds, "folds", 2)
    if counted.groups is not None:
        if n > counted.groups.n:
            raise ValueError(
                f"folds = {_checks.shown(n)} is more than the {counted.groups.n} groups that have both sides"
            )
    elif n > min(sizes):
        raise ValueError(
            f"folds = {_checks.shown(n)} need as many positives and as many negatives that count; got {sizes[0]} and "
            f"{sizes[1]}"
        )
    return n
