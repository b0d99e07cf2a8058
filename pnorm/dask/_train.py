"""The P-Norm Push on rows in partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pnorm import _checks
from pnorm._checks import DaskRows, Label, Numbers, Vector
from pnorm._recorders import progress_range
from pnorm._solvers.descent import descend
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.start import Start, start_of
from pnorm._trace import Trace
from pnorm.dask._cluster import with_traffic
from pnorm.dask._coded_rows import CodedRows, coded_or_read
from pnorm.objectives._losses import Loss
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import WeakRankers


def train(
    pos: DaskRows | CodedRows,
    neg: DaskRows | None = None,
    H: Literal["table"] | WeakRankers = None,
    p: float = 1.0,
    t_max: int = 200,
    *,
    y: DaskRows | None = None,
    label: DaskRows | None = None,
    pos_label: Label | None = None,
    weight: DaskRows | None = None,
    group: DaskRows | None = None,
    selection: Literal["absolute", "signed", "largest"] = "absolute",
    push: Literal["top", "bottom"] = "top",
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: DaskRows | None = None,
    neg_weight: DaskRows | None = None,
    pos_group: DaskRows | None = None,
    neg_group: DaskRows | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
    signs: Numbers | None = None,
    init: Start | None = None,
    tol: float = 1e-10,
    callback: Callable[[Trace], bool | None] | None = None,
    progress: bool = False,
) -> tuple[Vector, Trace]:
    r"""Run the P-Norm Push on rows in partitions: `pnorm.train`, to rounding.

    The coefficients agree with those of `pnorm.train` on the same rows to some 1e-14, whatever the partitions.

    Parameters
    ----------
    pos : dask Array, shape (I, d), dask DataFrame, or CodedRows
        The positive rows; or, with `y`, all rows; or rows that `code_rows` has read. Partitions may be NumPy or
        SciPy sparse arrays or pandas frames, and may be empty. A Dask collection is coded for this call only; use
        `code_rows` to keep the codes for further calls.
    neg : dask Array, shape (K, d), or dask DataFrame, optional
        The negative rows; None with `y`.
    H : "table", None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.dask.code_rows`, except that the default is None, the columns as they are.
        `pnorm.rankers.quantile_thresholds` places cuts with rows in memory. A sample of 100,000 rows places them
        to a third of a percent of the rows.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    t_max : int
        Largest number of rounds.
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
    selection : {"absolute", "signed", "largest"}
        As in `pnorm.train`.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.train`.
    loss : str or Loss
        The cost of a pair whose scores differ by z. As in `pnorm.train`. With groups, another loss than
        ``"exponential"``, or another price than a power, scores and weights of all rows are gathered in this process
        (see Notes).
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. As in `pnorm.train`.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    pos_weight, neg_weight : dask or NumPy array, or dask Series, shape (I,) and (K,), optional
        Case weights, zero or more. Dask ones are in the same partitions as the rows.
    pos_group, neg_group : sequence, dask array or dask Series of labels, of length I and K, optional
        Query groups: pairs form within a group only. A group may lie in several partitions.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others. As in
        `pnorm.train`.
    init : Trace, ScoringFunction, mapping or array_like, shape (n,), optional
        Coefficients to start from; zero by default. As in `pnorm.train`.
    tol : float
        Stop as stationary when no edge exceeds this times the range of its weak ranker.
    callback : callable, optional
        Called with the trace so far after every round; a true return value stops the run. It runs in this process, not
        on a worker.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``.

    Returns
    -------
    lam : ndarray, shape (n,)
        The coefficients.
    trace : Trace
        As from `pnorm.train`.

    Raises
    ------
    ValueError, TypeError
        If rows cannot be used, if rows differ when they are read again (the attribute `trace` of the error is then
        the trace so far), or if a partition does not have as many rows as its chunk states. The message names the
        partition.
    BaseException
        What the callback raises, or Ctrl-C, with the trace so far as its attribute `trace`, as in `pnorm.train`.

    See Also
    --------
    pnorm.train : The same for rows in memory.

    Notes
    -----
    With thresholds or categories a round is one reduction over all partitions: each partition returns sums of weights
    by code, and the step is computed in this process. Other weak rankers need a few more reductions per step, usually
    two. Partitions of thresholds or categories keep their weights between rounds: 8 bytes for each positive row, 8
    (p = 1) or 16 for each negative row. Other partitions compute their scores from the coefficients in each reduction,
    at most O(N n) for N rows. On a cluster a reduction costs some milliseconds, plus one or two for each partition
    (page "Larger than memory"). Few large partitions are better than many small ones.

    With groups, or another loss or price, scores and weights of all rows are arrays in this process. In each round
    8 to 24 bytes per row are sent: weights to the partitions, and outputs of the chosen weak ranker back.

    Examples
    --------
    >>> import dask.array
    >>> import pnorm.dask
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> pos, neg = (dask.array.from_array(side, chunks=(100, -1)) for side in (data.pos, data.neg))
    >>> lam, trace = pnorm.dask.train(pos, neg, p=4, t_max=20)
    >>> bool(abs(lam - pnorm.train(data.pos, data.neg, p=4, t_max=20)[0]).max() < 1e-9)
    True
    """
    make = objective_of(_checks.power(p), price, loss, smoothing)
    t_max = _checks.count(t_max, "t_max", 0)
    _checks.selection(selection)
    _checks.push(push)
    tol, callback = _checks.nonnegative(tol, "tol"), _checks.callback(callback)
    rounds = progress_range(t_max, progress)
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
    )
    signs = _checks.signs(signs, rows.H.names, rows.H.signs)
    lam = start_of(init, rows.H, signs)
    with rows._problem(make, loss, push, group_weight) as problem:
        trace = descend(DescentState(problem, lam, signs), rounds, selection, tol, callback)
        return lam, with_traffic(trace, problem.executor)
