"""Cross-validation of p and of the number of rounds of `train`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._categories import Seen, held_out, tell
from pnorm._checks import CaseWeights, Vector
from pnorm._solvers.descent import descend
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.problem import Problem, exchanged, objectives_of, rankers_of, tables_of
from pnorm._storage.base import Table
from pnorm._threads import SERIAL, Pool, batches, slices
from pnorm._trace import Trace, progress_range
from pnorm.metrics._by_name import LARGER, named, one_by_one, scorer, scorer_of_lists, takes
from pnorm.objectives._base import Objective
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import Rankers, Signs, as_rankers

_POWERS = (1.0, 4.0, 16.0, 64.0)
"""Powers that are compared by default."""

_CELLS = 2**15
"""Scores of held-out rows after several rounds that are formed and measured at once: a quarter of a second cache."""

Index = NDArray[np.intp]
Sides = tuple[Index, Index]


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """The result of `cross_validate`: a measure of held-out rows for every p, fold and number of rounds.

    Attributes
    ----------
    p : ndarray, shape (P,)
        The powers, in the order in which they were given.
    rounds : ndarray of int, shape (S,)
        The numbers of rounds after which held-out rows were measured, ascending.
    scores : ndarray, shape (P, F, S)
        The measure on the held-out rows of each fold. A run that ended before t_max keeps its last value.
    folds : pair of ndarray of int, shapes (I,) and (K,)
        In which fold each row was held out; -1 for rows that never were. To be passed to another call that
        is to be compared with this one.
    traces : tuple of tuple of Trace
        ``traces[i][k]`` is the run with ``p[i]`` on all rows but those of fold k.
    metric : str
        The name of the measure.
    """

    p: Vector
    rounds: Index
    scores: NDArray[np.float64]
    folds: Sides
    traces: tuple[tuple[Trace, ...], ...]
    metric: str

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the folds, shape (P, S)."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard deviation over the folds divided by the root of their number, shape (P, S).

        It is a rough guide: the folds share training rows, which makes it too small, and with few folds it is
        uncertain itself. nan if there is one fold only.
        """
        return self._error(self.scores)

    def _error(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        n = self.scores.shape[1]
        if n == 1:
            return np.full_like(values[:, 0], math.nan)
        return np.asarray(values.std(axis=1, ddof=1) / math.sqrt(n))

    @property
    def best(self) -> tuple[float, int]:
        """The pair (p, t) with the largest mean; of several, the smallest p and then the fewest rounds.

        As a pair it goes straight into training: ``pnorm.train(pos, neg, H, *found.best)``.
        """
        mean = self.mean
        return self._first(mean >= _nearly(mean.max()))

    @property
    def best_p(self) -> float:
        """The p of `best`."""
        return self.best[0]

    @property
    def best_t(self) -> int:
        """The number of rounds of `best`."""
        return self.best[1]

    @property
    def simplest(self) -> tuple[float, int]:
        """The pair (p, t) by the rule of one standard error.

        The smallest p, and then the fewest rounds, whose mean is no more than one standard error (of the best one)
        below the largest: what the folds cannot tell from the best, and rests on more of the rows. With one fold
        there is no error to go by, and this is `best`.
        """
        i, s = self._place(*self.best)
        return self._first(self.mean >= self.mean[i, s] - np.nan_to_num(self.standard_error[i, s]))  # nan: one fold

    def _first(self, allowed: NDArray[np.bool_]) -> tuple[float, int]:
        """Return the smallest p with an allowed number of rounds, and the smallest such number."""
        i = min(np.flatnonzero(allowed.any(axis=1)), key=lambda i: float(self.p[i]))
        return float(self.p[i]), int(self.rounds[allowed[i].argmax()])

    def _place(self, p: float, t: int) -> tuple[int, int]:
        return int(np.flatnonzero(self.p == p)[0]), int(np.flatnonzero(self.rounds == t)[0])

    def __repr__(self) -> str:
        i, s = self._place(*self.best)
        return (
            f"<CrossValidation: {self.metric} {self.mean[i, s]:.4g} at p = {self.best_p:g} after {self.best_t} rounds; "
            f"{self.p.size} p, {self.scores.shape[1]} folds>"
        )

    def __str__(self) -> str:
        """Return a table with a line for each p at its best number of rounds, and its distance from the best."""
        mean, error = self.mean, self.standard_error
        at = (mean >= _nearly(mean.max(axis=1, keepdims=True))).argmax(axis=1)
        each = np.arange(self.p.size)
        i, s = self._place(*self.best)
        behind = self.scores[i, :, s] - self.scores[each, :, at]
        decimals = max(0, 3 - math.floor(math.log10(max(float(np.abs(mean).max()), 1e-3))))

        def told(value: float, error: float) -> str:
            return f"{value:.{decimals}f}" + (f" ± {error:.{decimals}f}" if error == error else "")

        lines = [
            f"{self.metric} on held-out rows: means of {self.scores.shape[1]} folds with standard errors",
            "         p  rounds              mean      behind the best",
        ]
        rows = zip(self.p, self.rounds[at], mean[each, at], error[each, at], strict=True)
        for k, (power, t, value, of_value) in enumerate(rows):
            lag = told(behind[k].mean(), self._error(behind)[k]) if k != i else ""
            lines.append(f"{power:10g}  {t:6d}  {told(value, of_value):>16}  {lag:>19}".rstrip())
        p, t = self.simplest
        lines.append(f"simplest within one standard error of the best: p = {p:g}, {t} rounds")
        if s > 0 and s == self.rounds.size - 1 and mean[i, s] > mean[i, s - 1]:
            lines.append("the best is at the last round: a larger t_max may be better")
        ended = Counter(trace.status for of_p in self.traces for trace in of_p if trace.status != "t_max")
        if ended:
            lines.append("runs that ended before: " + ", ".join(f"{n} {status}" for status, n in sorted(ended.items())))
        return "\n".join(lines)


def _nearly(mean: Any) -> Any:
    """Return a mean less an allowance for rounding, to find ties."""
    return mean - 1e-12 * np.abs(mean)


def cross_validate(
    pos: Any,
    neg: Any,
    H: Any = None,
    p: float | Sequence[float] | None = None,
    t_max: int = 200,
    *,
    folds: Any = 5,
    metric: str | Callable[..., float] = "partial_auc",
    rounds: int | Sequence[int] | None = None,
    seed: Any = 0,
    push: str = "top",
    selection: str = "absolute",
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    signs: Any = None,
    tol: float = 1e-10,
    progress: bool = False,
    n_threads: int | None = None,
) -> CrossValidation:
    r"""Choose p and the number of rounds by what they do to rows that were not trained on.

    The rows are dealt into folds. For each fold and each p, `train` runs on all other rows, and the rows of the fold
    are measured after every round:

    .. math:: \text{scores}_{p, k, t} = \text{metric}\bigl(f_{p, k, t}(x_i), f_{p, k, t}(\tilde x_j) \,:\,
              x_i, \tilde x_j \text{ in fold } k\bigr),

    where :math:`f_{p, k, t}` is what t rounds without fold k have learned. The choice of t comes for nothing: it is
    one run to `t_max`, followed on the way.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things where the rankers are callables
        The positive rows, as in `train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows.
    H : None, sequence of callables, Rankers, or callable
        The weak rankers. As in `train`, or a recipe: a function ``H(pos, neg)`` that makes them of rows, as
        `pnorm.rankers.quantile_thresholds` does. It is called with the training rows of each fold (see Notes).
    p : float or sequence of float, optional
        Power of the price r ** p that a negative pays for the positives below it; at least 1. Several are compared;
        None takes 1, 4, 16 and 64, or the `price` alone.
    t_max : int
        Largest number of rounds.
    folds : int, or pair of array_like of int, shapes (I,) and (K,)
        The number of folds, two or more, each of which gets its share of either side; or the number of the fold in
        which each row is held out, from 0 on, and -1 for rows that are always trained on. ``folds=(a, b)`` with 0 and
        -1 only is a single set of rows to judge by.
    metric : str or callable
        What is to be large. ``"partial_auc"`` is `pnorm.metrics.partial_auc`, standardised, down to the first ten
        negatives of the held-out rows. ``"positives_at_top"``, ``"average_precision"``, ``"bedroc"``,
        ``"discounted_gain_at_top"``, ``"enrichment_factor"`` and ``"auc"`` are those of `pnorm.metrics`. Or a function
        of ``(f_pos, f_neg)`` that returns a number: ``functools.partial(pnorm.metrics.precision_at, k=20)``. If there
        are weights, it is called with those of the held-out rows as ``pos_weight`` and ``neg_weight``.
    rounds : int or sequence of int, optional
        After which rounds to judge; None for 0, 1, ..., `t_max`. A number m is for 0 and some m more up to `t_max`, in
        about equal ratios.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result. They deal the rows.
    push : {"top", "bottom"}
        Which end of the list is to be right. As in `train`. With ``"bottom"`` a measure that is given by its name is
        that of the list read from below, the negatives in the place of the positives: ``"positives_at_top"`` counts the
        negatives below every positive. A function gets the scores as they are.
    selection, loss, price, smoothing : as in `train`
        How to train.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. They count in training and in judging. A row of weight zero is in no fold.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. A group is held out as a whole, and the score of a fold is the
        mean of the measure over its groups. Rows of a group that has only one side are in no fold.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. As in
        `train`. With a recipe, one for each weak ranker of every fold; `monotone` in the recipe is the easier way.
    tol : float
        Stop as stationary when the largest edge is at most this, in units of h. As in `train`.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``. It counts the folds.
    n_threads : int, optional
        Threads that share the passes over the rows; by default, as many as this process may use cores. Up to 65,536
        rows, with the exponential loss, each takes whole runs instead: see Notes.

    Returns
    -------
    CrossValidation
        `scores` for every p, fold and number of rounds, with `mean` and `standard_error` over the folds; `best`, the
        pair (p, t) with the largest mean, and `simplest`, the one that the rule of one standard error takes. It prints
        as a table.

    Raises
    ------
    ValueError, TypeError
        If there are more folds than rows of a side, or groups, or a fold or what is left without it lacks a side; if
        the measure is not a finite number.

    See Also
    --------
    train : What is run.
    minimize_path : The other way to regularise: a penalty instead of few rounds.

    Notes
    -----
    Weak rankers that were placed by the rows, cuts at quantiles or columns scaled to [0, 1], have seen the rows that
    are held out, if they were made before the rows were dealt. That is little for cuts placed without the
    labels, and much for any that were chosen with them: held-out rows then look better than new rows will, and the
    more so the more weak rankers there are. A recipe is made anew from each fold's training rows and cannot leak. It
    costs an evaluation per fold, where a collection is evaluated once for all.

    Outputs are read once for all p, and scores of held-out rows follow a round by one weak ranker, O(I + K) over all
    folds. What costs is the measure: a sort, O(N log N) for the N held-out rows of a fold, often more than the round
    itself. A measure that is given by its name takes many short lists at once; a function is called for each. With many
    rows or rounds ask for fewer judgements: ``rounds=40``. Memory is that of the outputs, and of a
    copy of those of one fold's rows.

    Up to 65,536 rows a pass is too short to be shared. With the exponential loss and a power for the price, each thread
    takes whole runs then, and as many folds are copied as there are threads. Only the caller's thread calls functions
    of the user: recipes, weak rankers and measures. The results are the same to the bit.

    The measure should be about as far-sighted as whoever looks at the list. `positives_at_top` hangs on one row of each
    fold, which makes it the noisiest to choose by; the partial AUC down to some negatives sees a little more, and
    chooses as well or better even if positives at the top are what counts in the end (page "Choosing p and when to
    stop"). The mean over folds is that of lists of 1/F of the rows: it compares p and t, and does not say what a
    list of all rows is worth. Counts such as `positives_at_top` grow with the positives of a list and fall with its
    negatives; where folds of your own differ in size, take a share. The largest of many means is
    too large, as an estimate: judge the chosen p and t on rows that had no part in the choice.

    The rule of one standard error is that of [1]_; that no unbiased estimate of this error exists is shown in [2]_.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984, section 3.4.3.
    .. [2] Y. Bengio and Y. Grandvalet, "No Unbiased Estimator of the Variance of K-Fold Cross-Validation", Journal of
       Machine Learning Research 5, 2004.

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
             4      55   0.8109 ± 0.0166      0.0076 ± 0.0063
    simplest within one standard error of the best: p = 1, 36 rounds
    >>> found.best, found.scores.shape
    ((1.0, 59), (2, 5, 61))
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, *found.best)
    """
    if p is None:
        p = _POWERS if price is None else 1.0
    powers = _checks.several(p, "p", _checks.power)
    makes = [objective_of(power, price, loss, smoothing) for power in powers]
    t_max = _checks.count(t_max, "t_max", 1)
    at = _rounds(rounds, t_max)
    _checks.selection(selection)
    bottom = _checks.push(push) == "bottom"
    tol = _checks.nonnegative(tol, "tol")
    n_threads = _checks.threads(n_threads)
    recipe = _recipe(H)
    n_pos, n_neg = _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg")
    counted = _checks.case_weights(n_pos, n_neg, pos_weight, neg_weight, pos_group, neg_group)
    measure, name = named(metric, LARGER, counted, push)
    where = counted.select(np.arange(n_pos), np.arange(n_neg))
    _checks.summable(counted.c_pos, "pos_weight")
    _checks.summable(counted.c_neg, "neg_weight")
    number = _assign_folds(folds, counted, where, (n_pos, n_neg), _checks.generator(seed))
    n_folds = int(number[0].max()) + 1
    seen: list[Seen] = []
    scores = np.empty((len(powers), n_folds, at.size))
    traces: list[list[Trace]] = [[] for _ in powers]
    bar = progress_range(n_folds, progress, "fold")
    with Pool(n_threads, work(loss, n_pos, n_neg)) as pool:
        objectives = objectives_of(makes, counted.seen_by(push), pool)
        if recipe is None:
            pos, neg, rankers = rankers_of(pos, neg, H)
            tables, _ = tables_of(pos, neg, rankers, counted, pool)

        def prepared(k: int) -> _Fold:
            nonlocal rankers, tables
            train = np.flatnonzero(number[0] != k), np.flatnonzero(number[1] != k)
            held = np.flatnonzero(number[0] == k), np.flatnonzero(number[1] == k)
            if recipe is not None:
                rankers = recipe(_checks.rows(pos, where[0][train[0]]), _checks.rows(neg, where[1][train[1]]))
                tables, _ = tables_of(pos, neg, rankers, counted, pool, seen)
            own = _selected(tables, train)
            if bottom:
                own, train = exchanged(own), train[::-1]
            problem = Problem.of_tables(own, rankers.names, objectives[0].select_rows(*train), None, pool)
            shift = -problem.shift if bottom else problem.shift
            if callable(metric):
                score = one_by_one(scorer(measure, name, counted, held), name)
            else:
                score = scorer_of_lists(measure, counted, held)
            keep = _checks.signs(signs, rankers.names, rankers.signs)
            return _Fold(
                problem.centred(),
                keep,
                train,
                _selected(tables, held),
                shift,
                score,
            )

        def run(job: tuple[_Fold, Objective]) -> tuple[Trace, Vector | None]:
            fold, objective = job
            problem = fold.problem.with_objective(objective.select_rows(*fold.train))
            state = DescentState(problem, np.zeros(problem.n_rankers), fold.signs)
            trace = descend(state, jobs.steps(t_max), selection, tol, None)
            return trace, None if callable(metric) else fold.judged(trace, at)

        # Rounds of other objectives hold the interpreter's lock, and may call functions of the user's.
        small = pool.n_threads == 1 and all([objective.traits.factored for objective in objectives])
        with Pool(n_threads if small else 1) as jobs:
            for numbers in batches(bar, min(jobs.n_threads, n_folds)):
                folds = [prepared(k) for k in numbers]
                runs = jobs.each(run, [(fold, objective) for fold in folds for objective in objectives])
                for (f, k), i in product(enumerate(numbers), range(len(powers))):
                    trace, judged = runs[f * len(powers) + i]
                    scores[i, k] = folds[f].judged(trace, at) if judged is None else judged
                    traces[i].append(trace)
    tell(held_out(seen), strict=False)
    whole = (_checks.spread(of_side, counted.kept and counted.kept[side], -1) for side, of_side in enumerate(number))
    return CrossValidation(np.array(powers), at, scores, tuple(whole), tuple(map(tuple, traces)), name)


@dataclass(frozen=True, eq=False)
class _Fold:
    """A fold: the problem of all other rows, with the objective of the first p, and its own rows to judge by."""

    problem: Problem
    signs: Signs
    train: Sides
    """The rows of the problem."""
    held: list[Table]
    shift: Vector
    """Taken off the outputs, so that scores keep their digits."""
    score: Callable[[NDArray[np.float64], NDArray[np.float64]], Vector]
    """Returns the measure of lists, of which the scores are the rows of two matrices."""

    def judged(self, trace: Trace, at: Index) -> Vector:
        """Return the measure of the held-out rows after some rounds of a run."""
        stages = np.minimum(at, trace.n_iter)  # it keeps the value of the last one
        new = np.r_[True, np.diff(stages) > 0]
        wanted, found = stages[new], []
        f = [np.zeros(table.shape[0]) for table in self.held]
        for rounds in slices(max(int(wanted[-1]), 1), max(_CELLS // max(map(len, f)), 1)):
            ranker, step = trace.ranker[rounds], trace.step[rounds]
            after = [self._after(table, before, ranker, step) for table, before in zip(self.held, f, strict=True)]
            f = [of_side[-1] for of_side in after]
            here = wanted[(wanted >= rounds.start + (rounds.start > 0)) & (wanted <= rounds.stop)] - rounds.start
            if here.size:
                found.append(self.score(*[of_side[here] for of_side in after]))
        return np.repeat(np.concatenate(found), np.diff(np.flatnonzero(np.r_[new, True])))

    def _after(self, table: Table, f: Vector, ranker: Index, step: Vector) -> NDArray[np.float64]:
        """Return scores before some rounds and after each of them."""
        after = np.empty((ranker.size + 1, f.size))
        after[0] = f
        for j in np.unique(ranker).tolist():
            h = np.empty(f.size)
            SERIAL.run(table.column(j, float(self.shift[j]), h))
            after[1:][ranker == j] = h
        after[1:] *= step[:, None]
        np.cumsum(after, axis=0, out=after)
        return after


def _selected(tables: Sequence[Table], rows: Sides) -> list[Table]:
    """Return tables of some of the rows."""
    return [table.select_rows(of_side) for table, of_side in zip(tables, rows, strict=True)]


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


def _recipe(H: Any) -> Callable[[Any, Any], Rankers] | None:
    """Return a function that makes weak rankers from training rows; None if H is not one."""
    if not callable(H):
        return None
    if not takes(H, None, None):
        raise TypeError(
            "H is a function that does not take (pos, neg): a recipe is called with the training rows of both sides "
            "and returns weak rankers; a weak ranker goes into a list"
        )

    def made(pos: Any, neg: Any) -> Rankers:
        found = H(pos, neg)
        if found is None:
            raise TypeError("the recipe H returned None; it must return weak rankers")
        return as_rankers(found, pos, "pos")

    return made


def _assign_folds(
    folds: Any, counted: CaseWeights, where: Sides, sizes: tuple[int, int], rng: np.random.Generator
) -> Sides:
    """Return the fold of each row of positive weight."""
    groups = counted.groups
    if not isinstance(folds, Sequence | np.ndarray) or getattr(folds, "ndim", 1) == 0:
        n = _checks.count(folds, "folds", 2)
        if groups is not None:
            if n > groups.n:
                raise ValueError(f"folds = {_checks.shown(n)} is more than the {groups.n} groups that have both sides")
            of_group = _random_folds(groups.n, n, rng)
            return of_group[groups.pos], of_group[groups.neg]
        n_pos, n_neg = (own.size for own in where)
        if n > min(n_pos, n_neg):
            raise ValueError(
                f"folds = {_checks.shown(n)} need as many positives and as many negatives that count; got {n_pos} and "
                f"{n_neg}"
            )
        return _random_folds(n_pos, n, rng), _random_folds(n_neg, n, rng)
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


def _random_folds(size: int, n: int, rng: np.random.Generator) -> Index:
    """Assign folds 0, 1, ..., n - 1 in turn to rows in random order."""
    number = np.empty(size, np.intp)
    number[rng.permutation(size)] = np.arange(size) % n
    return number
