"""Callbacks of `pnorm.train` and `pnorm.minimize`: stop by a measure of validation rows, or by time.

A callback is called with the trace so far after every round, and a true return value ends the run, whose
status is then ``"callback"``. Those of this module may be used for one run after another: each run starts anew.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from operator import add
from time import monotonic
from typing import Any

import numpy as np

from pnorm import _checks, objectives
from pnorm._categories import Seen, tell
from pnorm._checks import Vector
from pnorm._score import scored
from pnorm._threads import SERIAL
from pnorm._trace import Trace
from pnorm.metrics._by_name import COSTS, LARGER, SMALLER, named, scorer
from pnorm.objectives._base import Scores
from pnorm.objectives._losses import Loss
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import Rankers, as_rankers

__all__ = ["EarlyStopping", "TimeLimit", "any_of", "early_stopping", "time_limit"]

_OBJECTIVE = "log_objective"

_NAMES = {**LARGER, **SMALLER}

NAMES = (*_NAMES, _OBJECTIVE)
"""Names of metrics."""

_COSTS = (*COSTS, objectives.value)
"""Functions that a user may pass and that are better the smaller they are."""

Measure = Callable[[Scores], float]


class _Watch:
    """Detects a new run by its number of rounds, which starts again."""

    _n_iter = math.inf
    _init: Vector | None = None

    def _begins(self, trace: Trace) -> bool:
        """Return whether this is the first call of a run."""
        begins = trace.n_iter <= self._n_iter or (trace._points is None and trace.init is not self._init)
        self._n_iter, self._init = trace.n_iter, trace.init
        return begins


class EarlyStopping(_Watch):
    """Scores validation rows after every round, and stops when they no longer get better; see `early_stopping`.

    Attributes
    ----------
    best_iter : int
        The first round after which the score was the best: ``trace.lam_at(stop.best_iter)`` are its coefficients.
        0 stands for those before the first round.
    best_score : float
        The score there; nan before the first run.
    scores : ndarray, shape (T + 1,)
        The score before the first round and after each one, of the last run.
    """

    def __init__(
        self,
        sides: tuple[Any, Any],
        rankers: Rankers,
        measure: Measure,
        maximize: bool,
        min_delta: float,
        patience: int,
        n_threads: int | None,
    ) -> None:
        self._sides, self._rankers, self._measure = sides, rankers, measure
        of_pos, of_neg = list[Seen](), list[Seen]()
        self._rows = rankers._read(sides[0], "pos_val", of_pos), rankers._read(sides[1], "neg_val", of_neg)
        tell(map(add, of_pos, of_neg), strict=False)  # rows held out may all be new
        self._sign = 1.0 if maximize else -1.0
        self._min_delta, self._patience, self._n_threads = min_delta, patience, n_threads
        self._f = Scores(np.empty(0), np.empty(0))
        self._forget()

    def _forget(self) -> None:
        self.best_iter, self.best_score, self._scores = 0, math.nan, list[float]()

    @property
    def scores(self) -> Vector:
        return np.array(self._scores)

    def __call__(self, trace: Trace) -> bool:
        """Score the rounds since the last call.

        Parameters
        ----------
        trace : Trace
            The trace so far.

        Returns
        -------
        bool
            Whether to stop: the last `patience` rounds brought nothing better.
        """
        if self._begins(trace):
            self._forget()
            if trace.init.size != len(self._rankers):
                raise ValueError(
                    f"the run has {trace.init.size} weak rankers and early_stopping {len(self._rankers)}: "
                    "give both the same H"
                )
            self._set(trace.init)
            self._score()
        while len(self._scores) <= trace.n_iter:
            self._move(trace, len(self._scores))
            self._score()
        return trace.n_iter - self.best_iter >= self._patience

    def _set(self, lam: Vector) -> None:
        self._f = Scores(*[scored(X, self._rankers, lam, self._n_threads, strict=None) for X in self._sides])

    def _move(self, trace: Trace, t: int) -> None:
        """Update the scores from round t - 1 to round t: by one weak ranker, or by all if all coefficients changed."""
        if trace._points is not None:
            self._set(trace.lam_at(t))
            return
        j, step = int(trace.ranker[t - 1]), float(trace.step[t - 1])
        for f, rows, name in zip((self._f.pos, self._f.neg), self._rows, ("pos_val", "neg_val"), strict=True):
            f += step * self._rankers._output(rows, j, name)

    def _score(self) -> None:
        score = float(self._measure(self._f))
        gain = self._sign * (score - self.best_score)
        if not self._scores or gain > self._min_delta or (math.isnan(self.best_score) and not math.isnan(score)):
            self.best_iter, self.best_score = len(self._scores), score
        self._scores.append(score)

    def __repr__(self) -> str:
        if not self._scores:
            return "<EarlyStopping: not called yet>"
        return f"<EarlyStopping: best {self.best_score:.6g} after round {self.best_iter} of {len(self._scores) - 1}>"


def early_stopping(
    pos_val: Any,
    neg_val: Any,
    metric: str | Callable[..., float] = "partial_auc",
    patience: int = 10,
    *,
    H: Any = None,
    maximize: bool | None = None,
    min_delta: float = 0.0,
    push: str = "top",
    p: float | None = None,
    price: Price | None = None,
    loss: str | Loss = "exponential",
    smoothing: float = 0.0,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    group_weight: str = "pairs",
    n_threads: int | None = None,
) -> EarlyStopping:
    """Stop when rows that are not trained on have not been ranked better for some rounds.

    Parameters
    ----------
    pos_val : array_like, shape (I, d), or sequence of I things
        Positive validation rows.
    neg_val : array_like, shape (K, d), or sequence of K things
        Negative validation rows.
    metric : str or callable
        What their list is worth. ``"partial_auc"``, the area under the ROC curve down to the first ten negatives, or
        the first 1 % of them if that is more, scaled to 1 if perfect, as in `pnorm.cross_validate`; or
        ``"average_precision"``, ``"auc"``, ``"bedroc"``, ``"discounted_gain_at_top"``, ``"enrichment_factor"``,
        ``"positives_at_top"``, ``"r_max"`` of `pnorm.metrics`;
        ``"log_objective"``, what training lowers, on these rows; or a function of ``(f_pos, f_neg)``,
        ``functools.partial(pnorm.metrics.precision_at, k=100)``. With weights it is also given ``pos_weight`` and
        ``neg_weight``.
    patience : int
        Rounds without a better score after which to stop, one at least.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those of the run.
    maximize : bool, optional
        Whether more is better. None knows it of the names and of the functions of this package, and takes it for
        true of any other function.
    min_delta : float
        A score counts as better if it is so by more than this, zero or more.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.cross_validate`: with ``"bottom"`` a metric that
        is given by its name is that of the list read from below.
    p, price, loss, smoothing : as in `pnorm.train`
        Those of the run, for ``metric="log_objective"`` only, which needs `p` or `price`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. They are those of the validation rows.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. They are those of the validation rows. The score is then the mean
        over the groups that have both sides (the objective is a sum over them, as in training).
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`, for the metric ``"log_objective"``; in other metrics
        groups count the same.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `pnorm.score`. They form the
        scores of all rows before the first round, and in every step of `pnorm.minimize`.

    Returns
    -------
    EarlyStopping
        What to pass as ``callback=`` to `pnorm.train` or `pnorm.minimize`. Its `best_iter` tells which round was the
        best, the first of them if there are several, and its `scores` what came of each.

    Raises
    ------
    ValueError, TypeError
        When called, if the run has other weak rankers.

    Notes
    -----
    A round costs one weak ranker on the validation rows, whose scores are kept, and one call of the metric. That is a
    sort, which may well take longer than the round itself, but for ``"log_objective"``, which needs none. In
    `pnorm.minimize`, where all coefficients move, a step costs all weak rankers. Counts such as
    ``"positives_at_top"`` stay the same for many rounds and need more patience than the default. A score of nan is
    worse than any number.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> pos, neg = data.pos, data.neg
    >>> stop = pnorm.callbacks.early_stopping(pos[1::2], neg[1::2], "average_precision", 20)
    >>> lam, trace = pnorm.train(pos[::2], neg[::2], p=16, t_max=1000, callback=stop)
    >>> trace.status, trace.n_iter, stop.best_iter, round(stop.best_score, 4)
    ('callback', 25, 5, 0.8113)
    >>> lam = trace.lam_at(stop.best_iter)
    """
    rankers = as_rankers(H, pos_val, "pos_val")
    n_pos, n_neg = _checks.n_rows(pos_val, "pos_val"), _checks.n_rows(neg_val, "neg_val")
    given = pos_weight, neg_weight, pos_group, neg_group
    counted = _checks.case_weights(n_pos, n_neg, *given)
    trained = _checks.case_weights(n_pos, n_neg, *given, group_weight=group_weight)
    delta = _checks.nonnegative(min_delta, "min_delta")
    patience = _checks.count(patience, "patience", 1)
    _checks.push(push)
    if metric == _OBJECTIVE:
        if p is None and price is None:
            raise ValueError("metric 'log_objective' needs the p of the run, or its price")
        make = objective_of(1.0 if p is None else _checks.power(p), price, loss, smoothing)
        objective = make(trained.seen_by(push), SERIAL)

        def of_rows(f: Scores) -> float:
            return objective.log_value(f.seen_by(push))

    else:
        if p is not None or price is not None:
            raise ValueError(f"p and price are for the metric 'log_objective'; got metric={metric!r}")
        of_sides = scorer(*named(metric, _NAMES, counted, push), counted)

        def of_rows(f: Scores) -> float:
            return of_sides(f.pos, f.neg)

    def measure(f: Scores) -> float:
        return of_rows(Scores(*counted.select(f.pos, f.neg)))

    more = _grows(metric) if maximize is None else bool(maximize)
    stop = EarlyStopping((pos_val, neg_val), rankers, measure, more, delta, patience, _checks.threads(n_threads))
    measure(Scores(np.zeros(n_pos), np.zeros(n_neg)))  # a metric that cannot be called says so before training
    return stop


def _grows(metric: Any) -> bool:
    """Return whether larger values of the metric are better."""
    while isinstance(metric, functools.partial):
        metric = metric.func
    return metric not in (_OBJECTIVE, *SMALLER, *_COSTS)


class TimeLimit(_Watch):
    """Stops a run after a time limit; see `time_limit`."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._began = seconds, 0.0

    def __call__(self, trace: Trace) -> bool:
        """Compare the time with the limit.

        Parameters
        ----------
        trace : Trace
            The trace so far.

        Returns
        -------
        bool
            Whether to stop.
        """
        now = monotonic()
        if self._begins(trace):
            self._began = now
        return now - self._began >= self._seconds

    def __repr__(self) -> str:
        return f"<TimeLimit: {self._seconds:g} seconds>"


def time_limit(seconds: float) -> TimeLimit:
    """Stop after some time by the clock on the wall.

    Parameters
    ----------
    seconds : float
        The time, above 0, from the end of the first round on: reading the data, and the first round, come on top.

    Returns
    -------
    TimeLimit
        What to pass as ``callback=``. The run ends after the round in which the time runs out.

    Raises
    ------
    ValueError, TypeError
        If `seconds` is not a number above 0.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> lam, trace = pnorm.train(data.pos, data.neg, t_max=20, callback=pnorm.callbacks.time_limit(3600))
    >>> trace.status
    't_max'
    """
    return TimeLimit(_checks.positive(seconds, "seconds"))


def any_of(*callbacks: Callable[[Trace], bool | None]) -> Callable[[Trace], bool]:
    """Stop when one of several callbacks asks to.

    Parameters
    ----------
    *callbacks : callable
        One or more callbacks, of this module or your own.

    Returns
    -------
    callable
        A callback that calls all of them after every round, in this order, and stops if one of them does.

    Raises
    ------
    ValueError, TypeError
        If there is none, or one is not callable.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> stop = pnorm.callbacks.early_stopping(data.pos[1::2], data.neg[1::2], patience=20)
    >>> either = pnorm.callbacks.any_of(stop, pnorm.callbacks.time_limit(3600))
    >>> lam, trace = pnorm.train(data.pos[::2], data.neg[::2], p=16, t_max=1000, callback=either)
    >>> trace.status, trace.n_iter == stop.best_iter + 20
    ('callback', True)
    """
    if not callbacks:
        raise ValueError("any_of needs at least one callback")
    for each in callbacks:
        if _checks.callback(each) is None:
            raise TypeError("any_of needs callbacks; got None")
    return lambda trace: any([bool(each(trace)) for each in callbacks])
