"""Callbacks for `pnorm.train` and `pnorm.minimize`: stop a run by a measure on validation rows, or after a time.

A callback is called after every round with the trace so far. A true return value ends the run, and its status is then
``"callback"``. The callbacks of this module can be used for several runs; they start again with each run.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from operator import add
from time import monotonic
from typing import Any, Literal

import numpy as np

from pnorm import _checks, objectives
from pnorm._categories import Seen, tell
from pnorm._checks import GroupLabels, Rows, Vector, Weights
from pnorm._score import scored
from pnorm._threads import SERIAL
from pnorm._trace import Trace
from pnorm.metrics._by_name import COSTS, LARGER, SMALLER, named, scorer
from pnorm.objectives._base import Scores
from pnorm.objectives._losses import Loss
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import Rankers, WeakRankers, as_rankers

__all__ = ["EarlyStopping", "TimeLimit", "any_of", "early_stopping", "time_limit"]

_OBJECTIVE = "log_objective"

_NAMES = {**LARGER, **SMALLER}

NAMES = (*_NAMES, _OBJECTIVE)
"""Names of metrics."""

_COSTS = (*COSTS, objectives.value)
"""Functions of this package for which smaller is better."""

Measure = Callable[[Scores], float]


class _Watch:
    """Detects a new run: its number of rounds starts again."""

    _n_iter = math.inf
    _init: Vector | None = None

    def _begins(self, trace: Trace) -> bool:
        """Return whether this is the first call of a run."""
        begins = trace.n_iter <= self._n_iter or (trace._points is None and trace.init is not self._init)
        self._n_iter, self._init = trace.n_iter, trace.init
        return begins


class EarlyStopping(_Watch):
    """Measures validation rows after every round, and stops the run when the score no longer improves.

    Make one with `early_stopping`.

    Attributes
    ----------
    best_iter : int
        The first round with the best score; 0 stands for the start. ``trace.lam_at(stop.best_iter)`` returns its
        coefficients.
    best_score : float
        The best score; nan before the first run.
    scores : ndarray, shape (T + 1,)
        The score before the first round and after each round of the last run.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> stop = pnorm.callbacks.early_stopping(data.pos[1::2], data.neg[1::2], "average_precision", 20)
    >>> lam, trace = pnorm.train(data.pos[::2], data.neg[::2], p=16, t_max=1000, callback=stop)
    >>> stop.best_iter, round(stop.best_score, 4), stop.scores.size == trace.n_iter + 1
    (5, 0.8113, True)
    >>> lam = trace.lam_at(stop.best_iter)
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
        tell(map(add, of_pos, of_neg), strict=False)  # held-out rows may have new groups only
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
        """Measure the rounds since the last call.

        Parameters
        ----------
        trace : Trace
            The trace so far.

        Returns
        -------
        bool
            Whether to stop: none of the last `patience` rounds had a better score.
        """
        if self._begins(trace):
            self._forget()
            if trace.init.size != len(self._rankers):
                raise ValueError(
                    f"the run has {trace.init.size} weak rankers and early_stopping {len(self._rankers)}. "
                    "Pass the same H to both"
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
        """Update the scores from round t - 1 to t, with one weak ranker, or with all if all coefficients changed."""
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
    pos_val: Rows,
    neg_val: Rows,
    metric: str | Callable[..., float] = "partial_auc",
    patience: int = 10,
    *,
    H: WeakRankers = None,
    maximize: bool | None = None,
    min_delta: float = 0.0,
    push: Literal["top", "bottom"] = "top",
    p: float | None = None,
    price: Price | None = None,
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    smoothing: float = 0.0,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
    n_threads: int | None = None,
) -> EarlyStopping:
    """Return a callback that stops a run when the ranking of validation rows no longer improves.

    Parameters
    ----------
    pos_val : array_like, shape (I, d), or sequence of I things
        Positive validation rows.
    neg_val : array_like, shape (K, d), or sequence of K things
        Negative validation rows.
    metric : str or callable
        The measure of the list of validation rows. ``"partial_auc"`` is the area under the ROC curve down to the first
        ten negatives, or the first 1 % of them if that is more, scaled to 1 for a perfect list, as in
        `pnorm.cross_validate`. Also ``"average_precision"``, ``"auc"``, ``"bedroc"``, ``"discounted_gain_at_top"``,
        ``"enrichment_factor"``, ``"positives_at_top"`` and ``"r_max"`` of `pnorm.metrics`. ``"log_objective"`` is the
        training objective on these rows. Or a function of ``(f_pos, f_neg)``, such as
        ``functools.partial(pnorm.metrics.precision_at, k=100)``; with weights it also gets ``pos_weight`` and
        ``neg_weight``.
    patience : int
        Stop after this many rounds without a better score, at least 1.
    H : None, sequence of callables, or Rankers
        The weak rankers. Pass those of the run.
    maximize : bool, optional
        Whether larger is better. None chooses the right value for the names and the functions of this package, and
        true for any other function.
    min_delta : float
        A score must be better by more than this to count, zero or more.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.cross_validate`: with ``"bottom"`` a metric given
        by name is computed for the reversed list.
    p, price, loss, smoothing : as in `pnorm.train`
        The objective of the run, for ``metric="log_objective"`` only, which needs `p` or `price`.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. Weights of the validation rows.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. Groups of the validation rows. The score is the mean over the
        groups that have both sides; ``"log_objective"`` is a sum over them, as in training.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`, for the metric ``"log_objective"``. In other metrics all
        groups count the same.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `pnorm.score`. They compute
        the scores of all rows before the first round, and in every step of `pnorm.minimize`.

    Returns
    -------
    EarlyStopping
        The callback; pass it as ``callback=`` to `pnorm.train` or `pnorm.minimize`. Its `best_iter` is the first round
        with the best score, and its `scores` are the scores of all rounds.

    Raises
    ------
    ValueError, TypeError
        When called, if the run has other weak rankers.

    Notes
    -----
    In each round, the output of one weak ranker is computed on the validation rows, and the metric is called once. The
    metric needs a sort, which may take longer than the round itself; ``"log_objective"`` needs none. In
    `pnorm.minimize` all coefficients change, so a step costs all weak rankers. Counts such as ``"positives_at_top"``
    stay the same for many rounds and need more patience than the default. A score of nan is worse than any number.

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
            raise ValueError("metric 'log_objective' needs the p of the run, or its price. Pass p= or price=")
        make = objective_of(1.0 if p is None else _checks.power(p), price, loss, smoothing)
        objective = make(trained.seen_by(push), SERIAL)

        def of_rows(f: Scores) -> float:
            return objective.log_value(f.seen_by(push))

    else:
        if p is not None or price is not None:
            raise ValueError(
                f"p and price are for the metric 'log_objective' only; got metric={metric!r}. Leave them out"
            )
        of_sides = scorer(*named(metric, _NAMES, counted, push), counted)

        def of_rows(f: Scores) -> float:
            return of_sides(f.pos, f.neg)

    def measure(f: Scores) -> float:
        return of_rows(Scores(*counted.select(f.pos, f.neg)))

    more = _grows(metric) if maximize is None else bool(maximize)
    stop = EarlyStopping((pos_val, neg_val), rankers, measure, more, delta, patience, _checks.threads(n_threads))
    measure(Scores(np.zeros(n_pos), np.zeros(n_neg)))  # a metric that cannot be called fails before training
    return stop


def _grows(metric: Any) -> bool:
    """Return whether larger values of the metric are better."""
    while isinstance(metric, functools.partial):
        metric = metric.func
    return metric not in (_OBJECTIVE, *SMALLER, *_COSTS)


class TimeLimit(_Watch):
    """Stops a run after a time limit. Make one with `time_limit`.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> limit = pnorm.callbacks.time_limit(3600)
    >>> limit
    <TimeLimit: 3600 seconds>
    >>> lam, trace = pnorm.train(data.pos, data.neg, t_max=20, callback=limit)
    >>> limit(trace)
    False
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._began = seconds, 0.0

    def __call__(self, trace: Trace) -> bool:
        """Return whether the time limit is reached.

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
    """Return a callback that stops a run after a time limit.

    Parameters
    ----------
    seconds : float
        The limit in seconds of elapsed time, above 0. It counts from the end of the first round; the time for reading
        the data and for the first round is not included.

    Returns
    -------
    TimeLimit
        The callback; pass it as ``callback=``. The run ends after the round in which the limit is reached.

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
    """Return a callback that stops a run when one of several callbacks does.

    Parameters
    ----------
    *callbacks : callable
        One or more callbacks, of this module or your own.

    Returns
    -------
    callable
        A callback that calls all of them after every round, in this order, and stops the run if one returns true.

    Raises
    ------
    ValueError, TypeError
        If no callback is given, or one is not callable.

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


def __dir__() -> list[str]:
    return __all__
