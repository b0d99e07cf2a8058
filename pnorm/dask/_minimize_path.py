"""The minimisers along a path for rows in partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pnorm import _checks
from pnorm._checks import DaskRows, Label, Numbers
from pnorm._minimize_path import MinimizerPath, asked_of
from pnorm._solvers.few_columns import few_of
from pnorm.dask._coded_rows import CodedRows, coded_or_read
from pnorm.objectives._losses import Loss
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import WeakRankers


def minimize_path(
    pos: DaskRows | CodedRows,
    neg: DaskRows | None = None,
    H: Literal["table"] | WeakRankers = None,
    p: float | Sequence[float] = 1.0,
    *,
    y: DaskRows | None = None,
    label: DaskRows | None = None,
    pos_label: Label | None = None,
    weight: DaskRows | None = None,
    group: DaskRows | None = None,
    l1: float | Sequence[float] = 0.0,
    l2: float | Sequence[float] | None = None,
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
    method: Literal["newton", "lbfgs"] | None = None,
) -> MinimizerPath:
    r"""Minimise for many penalties, or for many p, for rows in partitions: `pnorm.minimize_path`, to rounding.

    The rows are read and coded once for all points.

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
    p : float or sequence of float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. Several for a path along
        p, with one `l1` and one `l2`.
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
    l1 : float or sequence of float
        Weight of the penalty ``l1 |lam|_1``, zero or more. Several for a path along l1, with one p and one `l2`.
    l2 : float or sequence of float, optional
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. Several for a path along l2, with one p and
        one `l1`. None takes 25 of them, as in `pnorm.minimize_path`, and 0 if p or `l1` is the path.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts. As in `pnorm.minimize`.
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients. As in `pnorm.minimize`.
    tol, max_iter : float, int
        For every point, as in `minimize`.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.train`.
    loss, price, smoothing : as in `minimize`
        Another objective than F_p.
    pos_weight, neg_weight : dask or NumPy array, or dask Series, shape (I,) and (K,), optional
        Case weights, zero or more. As in `pnorm.dask.code_rows`.
    pos_group, neg_group : sequence, dask array or dask Series of labels, of length I and K, optional
        Query groups: pairs form within a group only. A group may lie in several partitions.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.
    method : {None, "newton", "lbfgs"}
        How each point is found, as in `pnorm.minimize`.

    Returns
    -------
    MinimizerPath
        As from `pnorm.minimize_path`.

    Raises
    ------
    ValueError, TypeError
        If more than one of p, l1 and l2 is a sequence, or none is; if rows cannot be used, as in `train`.

    See Also
    --------
    pnorm.minimize_path : The same for rows in memory.

    Examples
    --------
    >>> import dask.array
    >>> import pnorm.dask
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> pos, neg = (dask.array.from_array(side, chunks=(100, -1)) for side in (data.pos, data.neg))
    >>> pnorm.dask.minimize_path(pos, neg, p=4, l2=[10, 1, 0.1])
    <MinimizerPath: 3 points, l2 from 10 to 0.1, p = 4, 7 steps, converged>
    """
    asked = asked_of(p, l1, l2, penalty, tol, max_iter, method, push)
    makes = [objective_of(power, price, loss, smoothing) for power in asked.p]
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
    wanted = _checks.signs(signs, rows.H.names, rows.H.signs)
    few = few_of(max_columns, rows.H)
    with rows._problem(makes, loss, push, group_weight) as (problem, objectives):
        return asked.follow(problem, objectives, rows.H, wanted, few)
