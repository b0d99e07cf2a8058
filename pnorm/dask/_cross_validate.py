"""Cross-validation for rows in partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from pnorm import _checks
from pnorm._checks import CaseWeights, DaskRows, Label, PenaltyGrid, Seed
from pnorm._cross_validation import (
    POWERS,
    CrossValidation,
    assign_folds,
    is_pair,
    judge,
    measures_of,
    method_of,
    number_of_folds,
    result_of,
)
from pnorm._solvers.folds import Fold, Rounds, judge_folds
from pnorm._solvers.partitioned import Partitions, counted_by_parts
from pnorm._solvers.problem import objectives_of
from pnorm._threads import Pool
from pnorm._trace import progress_range
from pnorm.dask._coded_rows import CodedRows, coded_or_read
from pnorm.dask._folds import Deal, Given, HeldParts, Numbers, dealt, given, without
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import WeakRankers
from pnorm.rankers._alike import any_scores, deal, of_scores, together

_FOLDS, _JUDGED = 5, 40
"""Folds, and judgements of a run of rounds, where nothing is said."""


def cross_validate(
    pos: DaskRows | CodedRows,
    neg: DaskRows | None = None,
    H: Literal["table"] | WeakRankers = None,
    p: float | Sequence[float] | None = None,
    t_max: int | None = None,
    *,
    y: DaskRows | None = None,
    label: DaskRows | None = None,
    pos_label: Label | None = None,
    weight: DaskRows | None = None,
    group: DaskRows | None = None,
    l1: PenaltyGrid = 0.0,
    l2: PenaltyGrid | None = None,
    penalty: Literal["coefficients", "shapes"] = "coefficients",
    max_columns: int | None = None,
    folds: int | str | tuple[_checks.Numbers, _checks.Numbers] | None = None,
    metric: str | Callable[..., float] = "partial_auc",
    second_metric: str | Callable[..., float] | None = None,
    rounds: int | Sequence[int] | None = None,
    seed: Seed = 0,
    push: Literal["top", "bottom"] = "top",
    selection: Literal["absolute", "signed", "largest"] = "absolute",
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: DaskRows | None = None,
    neg_weight: DaskRows | None = None,
    pos_group: DaskRows | None = None,
    neg_group: DaskRows | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
    signs: _checks.Numbers | None = None,
    tol: float | None = None,
    progress: bool | Callable[[int, int], object] = False,
) -> CrossValidation:
    r"""Choose p, and the number of rounds or a penalty, for rows in partitions: `pnorm.cross_validate`.

    The rows are read and coded once, for all folds, powers and penalties. With the same folds the scores are those of
    `pnorm.cross_validate`, to rounding.

    Parameters
    ----------
    pos : dask Array, shape (I, d), dask DataFrame, or CodedRows
        The positive rows; or, with `y`, all rows; or rows that `code_rows` has read. Partitions may be NumPy or
        SciPy sparse arrays or pandas frames, and may be empty. A Dask collection is coded for this call only; use
        `code_rows` to keep the codes for further calls.
    neg : dask Array, shape (K, d), or dask DataFrame, optional
        The negative rows; None with `y`.
    H : "table", None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.dask.code_rows`, except that the default is None, the columns as they are. They
        are made before the rows are divided into folds.
    p : float or sequence of float, optional
        Power of the price r ** p that a negative pays for the positives below it; at least 1. Several are compared;
        None takes 1, 4, 16 and 64, or the `price` alone.
    t_max : int, optional
        Largest number of rounds; None takes 200. Not with penalties.
    y : str, or dask or NumPy array or dask Series of N labels, optional
        The labels of the rows, or the name of the column of `pos` that holds them. All rows are then in `pos`, as in
        `pnorm.train`.
    label : str, or dask or NumPy array or dask Series of N labels, optional
        Another name for `y`. As in `pnorm.dask.code_rows`.
    pos_label : label, optional
        The label of positive rows. As in `pnorm.dask.code_rows`.
    weight, group : str, or dask or NumPy array or dask Series of length N, optional
        With `y`, the case weight and the query group of each row, or the names of their columns. As in
        `pnorm.dask.code_rows`.
    l1 : float, sequence of float, function of p, or mapping of these
        Weight of the penalty ``l1 |lam|_1``, zero or more. As in `pnorm.cross_validate`.
    l2 : float, sequence of float, function of p, or mapping of these, optional
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. As in `pnorm.cross_validate`.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts. As in `pnorm.minimize`.
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients. As in `pnorm.minimize`.
    folds : int, str, or pair of array_like of int, shapes (I,) and (K,), optional
        The number of folds; None takes the folds of `code_rows`, or 5. Or, with `y`, the column of the fold in
        which each row is held out. Or the fold of each positive and of each negative, in the order of the partitions,
        from 0, or -1 for rows that are always trained on.
    metric : str or callable
        What is to be large. As in `pnorm.cross_validate`.
    second_metric : str or callable, optional
        What settles what `metric` cannot tell. As in `pnorm.cross_validate`.
    rounds : int or sequence of int, optional
        After which rounds to judge: a number m is for 0 and some m more up to `t_max`, in about equal ratios; None
        takes 40. Not with penalties.
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result. They deal the rows, or the groups.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.cross_validate`.
    selection, loss, price, smoothing : as in `train`
        How to train. With penalties there is nothing to select.
    pos_weight, neg_weight : dask or NumPy array, or dask Series, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.dask.code_rows`.
    pos_group, neg_group : sequence, dask array or dask Series of labels, of length I and K, optional
        Query groups: pairs form within a group only. A group is held out as a whole. As in `pnorm.cross_validate`.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. As in
        `pnorm.train`.
    tol : float, optional
        Stop when the objective is proved to be this close to its infimum. As in `pnorm.cross_validate`.
    progress : bool or callable
        Show a progress bar; needs tqdm, the extra ``progress``. As in `pnorm.cross_validate`.

    Returns
    -------
    CrossValidation
        As from `pnorm.cross_validate`; `folds` are in the order of the partitions.

    Raises
    ------
    ValueError, TypeError
        As from `pnorm.cross_validate`, and if rows cannot be used, as in `train`.

    See Also
    --------
    pnorm.cross_validate : The same for rows in memory.

    Notes
    -----
    Each partition divides its own rows into folds, from the seed and its number. The folds have equal numbers of rows
    of each side, up to one. Other partitions give other folds. If rows are copies of others, so that all weak rankers
    have the same outputs, this process assigns the folds, and copies are in one fold. For each fold the workers copy
    the codes of all other rows, and free the copy afterwards. One score of each row, and the scores of the held-out
    rows, are sent to this process: 8 bytes per row and list, at most 134 MB of several lists at a time. Case weights
    are sent once.

    Examples
    --------
    >>> import dask.array
    >>> import pnorm.dask
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> pos, neg = (dask.array.from_array(side, chunks=(100, -1)) for side in (data.pos, data.neg))
    >>> rows = pnorm.dask.code_rows(pos, neg=neg)
    >>> found = pnorm.dask.cross_validate(rows, p=[1, 4], l2=[1, 0.1, 0.01])
    >>> found.scores.shape
    (2, 5, 3)
    >>> lam, trace = pnorm.dask.minimize(rows, p=found.best.p, l2=found.best.l2)
    """
    if p is None:
        p = POWERS if price is None else 1.0
    powers = _checks.several(p, "p", _checks.power)
    makes = [objective_of(power, price, loss, smoothing) for power in powers]
    of_method = selection, tol, l1, l2, penalty, max_columns, [""], powers
    method = method_of(t_max, rounds, *of_method)
    if rounds is None and isinstance(method, Rounds):
        method = method_of(t_max, _JUDGED, *of_method)
    _checks.push(push)
    rows = coded_or_read(
        pos,
        neg,
        H,
        y=y,
        label=label,
        pos_label=pos_label,
        weight=weight,
        group=group,
        pos_weight=pos_weight,
        neg_weight=neg_weight,
        pos_group=pos_group,
        neg_group=neg_group,
        fold=folds if isinstance(folds, str) else None,
    )
    keep = _checks.signs(signs, rows.H.names, rows.H.signs)
    counted, trained = rows._counted("pairs"), rows._counted(group_weight)
    measures, own_measure = measures_of(metric, second_metric, counted, push)
    deals, numbers = _dealt(rows, folds, counted, seed)
    n_folds = int(numbers[0].max()) + 1
    bar = iter(progress_range(n_folds, progress, "fold"))
    with Pool(None, work(loss, rows.n_pos, rows.n_neg)) as pool:
        objectives = objectives_of(makes, trained.seen_by(push), pool)
        of_rows = (*rows._weights, rows._codes)
        known_here = not objectives[0].traits.factored or any(x is not None for x in of_rows)
        executor, sides = rows._partitions.executor, rows._partitions.sides

        def prepared(k: int) -> Fold:
            train, held = [_places(numbers, k, out, known_here) for out in (True, False)]
            groups = None if counted.groups is None else counted.groups.take(*train)
            codes = None if groups is None else (groups.pos, groups.neg)
            partitions = Partitions(executor, without(executor, sides, deals, k, train, codes))
            own = train if push == "top" else train[::-1]
            problem = partitions.problem(rows.H.names, objectives[0].select_rows(*own), push)
            method.check(problem)
            offsets = np.zeros(len(rows.H)) if problem.offsets_taken is None else problem.offsets_taken
            moved = [x if push == "top" else -x for x in (problem.shift + offsets, offsets)]
            size = max(int(np.count_nonzero(of_side == k)) for of_side in numbers)
            return Fold(
                problem,
                lambda i: counted_by_parts(objectives[i].select_rows(*own), problem.sides),
                rows.H,
                keep,
                HeldParts(executor, sides, deals, k, size, *moved),
                judge(measures, own_measure, counted, held),
            )

        shape = len(measures), 1, len(powers), n_folds
        scores, records = judge_folds(method, [prepared], shape, bar, Pool(1), any(own_measure))
    kept = (None, None) if rows._kept is None else rows._kept
    whole = tuple([_checks.spread(of_side, own, -1) for of_side, own in zip(numbers, kept, strict=True)])
    return result_of(method, powers, scores, records, measures, whole)


def _places(numbers: Sequence[Numbers], k: int, out: bool, known_here: bool) -> Any:
    """Return the places of the rows of a fold, or of all others, if row data are in this process."""
    if not known_here:
        return slice(None), slice(None)
    pos, neg = [np.flatnonzero((of_side != k) if out else (of_side == k)) for of_side in numbers]
    return pos, neg


def _dealt(
    rows: CodedRows, folds: Any, counted: CaseWeights, seed: Any
) -> tuple[list[list[Deal]], tuple[Numbers, Numbers]]:
    """Return how each part deals its folds, and the folds of all rows."""
    sides, rng = rows._partitions.sides, _checks.generator(seed)
    where, sizes = (np.arange(rows.n_pos), np.arange(rows.n_neg)), (rows.n_pos, rows.n_neg)
    if folds is None or isinstance(folds, str):
        folds = _FOLDS if rows._folds is None else rows._folds
    elif rows._kept is not None and is_pair(folds):
        where = np.flatnonzero(rows._kept[0]), np.flatnonzero(rows._kept[1])
        sizes = rows._kept[0].size, rows._kept[1].size
    if counted.groups is None and not is_pair(folds):
        n, own_seed = number_of_folds(folds, counted, sizes), int(rng.integers(2**31))
        positive = np.repeat([True, False], [side.n for side in sides])
        units = together(_hashes(rows), positive, True)
        if units is None:
            return dealt(sides, n, own_seed)
        number = deal(positive, n, np.random.default_rng(own_seed), units)
        return given(sides, (number[positive], number[~positive]))
    return given(sides, assign_folds(folds, counted, where, sizes, rng))


def _hashes(rows: CodedRows) -> Any:
    """Return hashes of the rows of both sides, from one score of each."""
    sides, n = rows._partitions.sides, len(rows.H)
    alone = [[Given(np.zeros(span.stop - span.start, np.int16)) for span in side.spans] for side in sides]
    every = HeldParts(rows._partitions.executor, sides, alone, 0, rows.n_pos + rows.n_neg, np.zeros(n), np.zeros(n))
    return [of_scores(f[0]) for f in next(every.at([any_scores(n)]))]
