"""The exact minimiser for rows in partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pnorm import _checks
from pnorm._checks import DaskRows, Label, Numbers, Vector
from pnorm._solvers.few_columns import few_of
from pnorm._solvers.minimize import check_supported, solve, units_of
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.start import Start, start_of
from pnorm._trace import Trace
from pnorm.dask._cluster import with_traffic
from pnorm.dask._coded_rows import CodedRows, coded_or_read
from pnorm.objectives._losses import Loss
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import WeakRankers


def minimize(
    pos: DaskRows | CodedRows,
    neg: DaskRows | None = None,
    H: Literal["table"] | WeakRankers = None,
    p: float = 1.0,
    *,
    y: DaskRows | None = None,
    label: DaskRows | None = None,
    pos_label: Label | None = None,
    weight: DaskRows | None = None,
    group: DaskRows | None = None,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: Numbers | None = None,
    penalty: Literal["coefficients", "shapes"] = "coefficients",
    max_columns: int | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    push: Literal["top", "bottom"] = "top",
    loss: Literal["exponential", "logistic", "hinge", "squared_hinge", "squared"] | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: DaskRows | None = None,
    neg_weight: DaskRows | None = None,
    pos_group: DaskRows | None = None,
    neg_group: DaskRows | None = None,
    group_weight: Literal["pairs", "equal"] = "pairs",
    init: Start | None = None,
    method: Literal["newton", "lbfgs"] | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
) -> tuple[Vector, Trace]:
    r"""Compute the exact minimiser for rows in partitions, with a certificate: `pnorm.minimize`, to rounding.

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
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
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
    l1 : float
        Weight of the penalty ``l1 |lam|_1``, zero or more. As in `pnorm.minimize`.
    l2 : float
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts. As in `pnorm.minimize`.
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients. As in `pnorm.minimize`.
    tol : float
        Stop when the objective is proved to be this close to its infimum. As in `pnorm.minimize`.
    max_iter : int
        Largest number of Newton steps, or of groups of four one-reduction steps (see Notes).
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.train`.
    loss : str or Loss
        The cost of a pair whose scores differ by z. As in `pnorm.minimize`. With groups, another loss than
        ``"exponential"``, or another price than a power, scores and weights of all rows are gathered in this process,
        as in `train`.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. As in `pnorm.minimize`.
    smoothing : float
        With the hinge: half the width of a parabola in place of its corner.
    pos_weight, neg_weight : dask or NumPy array, or dask Series, shape (I,) and (K,), optional
        Case weights, zero or more. Dask ones are in the same partitions as the rows.
    pos_group, neg_group : sequence, dask array or dask Series of labels, of length I and K, optional
        Query groups: pairs form within a group only. A group may lie in several partitions.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.minimize`.
    init : Trace, ScoringFunction, mapping or array_like, shape (n,), optional
        Coefficients to start from; zero by default. As in `pnorm.train`.
    method : {None, "newton", "lbfgs"}
        As in `pnorm.minimize`.
    callback : callable, optional
        Called with the trace so far after every step; a true return value stops the run. It runs in this process, not
        on a worker.

    Returns
    -------
    lam : ndarray, shape (n,)
        The minimiser, of least norm if there are several. On separable data, the coefficients of the widest margin.
    trace : Trace
        As from `pnorm.minimize`, including `gap`, `gaps`, `direction` and `separation`. A linear program with some
        hundreds of rows, which the partitions send, decides whether a minimiser exists, for up to 2000 weak rankers.
        Without `l2` and with more weak rankers there is no certificate: the status is ``"stationary"`` and `gap` is
        infinite.

    Raises
    ------
    ValueError, TypeError
        If rows cannot be used, if rows differ when they are read again (the attribute `trace` of the error is then
        the trace so far), or if a partition does not have as many rows as its chunk states. The message names the
        partition.
    BaseException
        What the callback raises, or Ctrl-C, with the trace so far as its attribute `trace`, as in `pnorm.minimize`.

    See Also
    --------
    pnorm.minimize : The same for rows in memory.

    Notes
    -----
    Weak rankers that are functions of codes (thresholds, bins, categories) with `l2` need some 15 to 25 reductions. A
    sample of rows, drawn with probabilities that grow with their weights, and the exact gradient define a model of the
    objective [1]_. The model is minimised in this process, with the penalty. One reduction then computes the objective
    of all rows, with the gradient, at the minimiser of the model and at points on the way there, of which one is lower.
    The sample has some 33,000 rows of each side, or 16 per code if that is more. It grows if steps decrease the
    objective less than the model predicts. The gap is that of the exact gradient. Without `l2` such steps lead near
    the minimiser, and Newton's method continues from there.

    A Newton step with its certificate takes some eight reductions over all partitions, and a few more if weak rankers
    are dependent. Each returns O(n) numbers, except those of the Hessian, n**2. Together they cost as much as a step of
    `pnorm.minimize`, plus the scores once per reduction. On quasi-separable data 3 to 14 further reductions find
    the rows that keep weight, with outputs of 300 to 1800 rows of 100,000.

    References
    ----------
    .. [1] M. I. Jordan, J. D. Lee and Y. Yang, Communication-efficient distributed statistical inference, Journal of
       the American Statistical Association 114, 2019.

    Examples
    --------
    >>> import dask.array
    >>> import pnorm.dask
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> pos, neg = (dask.array.from_array(side, chunks=(100, -1)) for side in (data.pos, data.neg))
    >>> lam, trace = pnorm.dask.minimize(pos, neg, p=4)
    >>> trace.status, trace.gap < 1e-10
    ('converged', True)
    """
    make = objective_of(_checks.power(p), price, loss, smoothing)
    l1, l2, tol = [_checks.nonnegative(x, name) for x, name in ((l1, "l1"), (l2, "l2"), (tol, "tol"))]
    max_iter = _checks.count(max_iter, "max_iter", 0)
    if method is not None:
        _checks.choice(method, "method", ("newton", "lbfgs"))
    _checks.push(push)
    callback = _checks.callback(callback)
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
    rankers = rows.H
    start = None if init is None else start_of(init, rankers)
    signs = _checks.signs(signs, rankers.names, rankers.signs)
    _checks.choice(penalty, "penalty", ("coefficients", "shapes"))
    few = few_of(max_columns, rankers)
    with rows._problem(make, loss, push, group_weight) as problem:
        check_supported(problem, method)
        if start is not None:
            problem.check_exponents(start)
        added = Penalty.of(len(rankers), l1, l2, signs, units_of(problem, rankers, penalty))
        lam, trace, _ = solve(problem, added, tol, max_iter, start, method, callback, few=few)
        return lam, with_traffic(trace, problem.executor)
