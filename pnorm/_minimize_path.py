"""Minimisers along a path of penalties or of powers p."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._checks import Grades, GroupLabels, Label, Labels, Numbers, Rows, Vector, Weights
from pnorm._solvers.building import objectives_of, rankers_of, tables_of
from pnorm._solvers.few_columns import few_of
from pnorm._solvers.given import given
from pnorm._solvers.minimize import check_supported, units_of
from pnorm._solvers.path import follow
from pnorm._solvers.problem import Problem
from pnorm._threads import Pool
from pnorm._trace import Trace
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import WeakRankers
from pnorm.rankers._coded import BothSides, counted_of

_POINTS = 25
_DECADES = 6
"""Number of penalties of the default path, and the powers of ten that they span."""


@dataclass(frozen=True, eq=False, repr=False)
class MinimizerPath:
    """The minimisers that `minimize_path` found, with their certificates, one for every penalty or p.

    Attributes
    ----------
    along : str
        What changes along the path: ``"l2"``, ``"l1"`` or ``"p"``.
    p : ndarray, shape (m,)
        The power of each point.
    l1, l2 : ndarray, shape (m,)
        The penalties of each point.
    lam : ndarray, shape (m, n)
        The minimisers, as `minimize` returns them.
    traces : tuple of Trace
        The record of each run.
    names : tuple of str
        The weak rankers.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> path = pnorm.minimize_path(data.pos, data.neg, p=4, l2=[10, 1, 0.1])
    >>> path.l2, path.lam.shape
    (array([10. ,  1. ,  0.1]), (3, 9))
    >>> path.log_objective.round(4), bool((path.gap < 1e-8).all())
    (array([31.3713, 31.2693, 31.2634]), True)
    >>> path.status, path.n_iter
    (('converged', 'converged', 'converged'), array([2, 3, 2]))
    >>> path.separation
    (None, None, None)
    """

    along: str
    p: Vector
    l1: Vector
    l2: Vector
    lam: NDArray[np.float64]
    traces: tuple[Trace, ...]
    names: tuple[str, ...]

    @property
    def log_objective(self) -> Vector:
        """log F_p (or log R) of each point without its penalty, shape (m,)."""
        return np.array([trace.log_objective[-1] for trace in self.traces])

    @property
    def gap(self) -> Vector:
        """The certificates, shape (m,): how far each point's objective is above its infimum, at most."""
        return np.array([trace.gap for trace in self.traces])

    @property
    def status(self) -> tuple[str, ...]:
        """Status of each run."""
        return tuple(trace.status for trace in self.traces)

    @property
    def separation(self) -> tuple[str | None, ...]:
        """Kind of the data at each point, as in `Trace`; None if it was not examined."""
        return tuple(trace.separation for trace in self.traces)

    @property
    def n_iter(self) -> NDArray[np.intp]:
        """Steps from the point before, shape (m,)."""
        return np.array([trace.n_iter for trace in self.traces])

    def __len__(self) -> int:
        return len(self.traces)

    def __repr__(self) -> str:
        values = getattr(self, self.along)
        shown = [name for name in ("p", "l1", "l2") if name != self.along and (name != "l1" or self.l1.any())]
        fixed = ", ".join([f"{name} = {getattr(self, name)[0]:g}" for name in shown])
        ended = " and ".join(sorted(set(self.status)))
        return (
            f"<MinimizerPath: {len(self)} points, {self.along} from {values[0]:.4g} to {values[-1]:.4g}, {fixed}, "
            f"{int(self.n_iter.sum())} steps, {ended}>"
        )

    def __str__(self) -> str:
        symbol = self.traces[0]._symbol
        lines = [f"{self.along:>10}  {symbol:>10}      |lam|  steps  status"]
        rows = zip(getattr(self, self.along), self.log_objective, self.lam, self.traces, strict=True)
        for value, log_f, lam, trace in rows:
            size = float(np.linalg.norm(lam))
            lines.append(f"{value:10.4g}  {log_f:10.6g}  {size:9.4g}  {trace.n_iter:5d}  {trace.status}")
        return "\n".join(lines)


def minimize_path(
    pos: Rows | BothSides,
    neg: Rows | None = None,
    H: WeakRankers = None,
    p: float | Sequence[float] = 1.0,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    weight: Weights | None = None,
    group: GroupLabels | None = None,
    l1: float | Sequence[float] = 0.0,
    l2: float | Sequence[float] | None = None,
    signs: Numbers | None = None,
    penalty: str = "coefficients",
    max_columns: int | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    push: str = "top",
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: Weights | None = None,
    neg_weight: Weights | None = None,
    pos_group: GroupLabels | None = None,
    neg_group: GroupLabels | None = None,
    pos_grade: Grades | None = None,
    neg_grade: Grades | None = None,
    group_weight: str = "pairs",
    method: str | None = None,
    n_threads: int | None = None,
) -> MinimizerPath:
    r"""Minimise the objective for many penalties, or for many p.

    The points of the path are those of `minimize`::

        λ(p, l1, l2) = argmin_λ  log F_p(λ) + l1 |λ|_1 + l2 |λ|^2 / 2

    to the same tolerance, each with its own certificate. Every point starts from the minimiser before it, so that a few
    Newton steps are enough. The outputs of the weak rankers are computed once.

    Parameters
    ----------
    pos : array_like, shape (I, d), or sequence of I things where the rankers are callables, or CodedRows
        The positive rows, or all rows if `y` is given. As in `train`.
    neg : array_like, shape (K, d), or sequence of K things
        The negative rows; None with `y`, or with coded rows, which have both sides and the weak rankers.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `train`.
    p : float or sequence of float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. A sequence makes a path
        along p, with one `l1` and one `l2`.
    y : array_like of N labels, or str, optional
        The labels of the rows. All rows are then in the first argument. As in `train`.
    pos_label : label, optional
        The label of positive rows; all others are negative. As in `train`.
    weight, group : array_like of N values, or str, optional
        With `y`, the case weight and the query group of each row. As in `train`.
    l1 : float or sequence of float
        Weight of the penalty ``l1 |lam|_1``, zero or more. A sequence makes a path along l1, with one p and one `l2`.
        All coefficients are zero if l1 is at least p times the largest edge at zero.
    l2 : float or sequence of float, optional
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. A sequence makes a path along l2, with one p
        and one `l1`. None uses 25 penalties (see Notes), or 0 if p or `l1` is the path.
    signs : array_like, shape (n,), optional
        1 for each coefficient that must not be below zero, -1 for each that must not be above, 0 for others.
    penalty : {"coefficients", "shapes"}
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts. As in `minimize`.
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients. As in `minimize`.
    tol, max_iter : float, int
        Tolerance and largest number of steps for every point, as in `minimize`.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `train`.
    loss, price, smoothing : as in `minimize`
        Another objective than F_p.
    pos_weight, neg_weight : array_like, shape (I,) and (K,), optional
        Case weights, zero or more. As in `train`.
    pos_group, neg_group : sequence of labels, of length I and K, optional
        Query groups: pairs form within a group only. As in `train`.
    pos_grade, neg_grade : array_like, shape (I,) and (K,), optional
        Grades: in each pair, the positive has the higher grade. As in `train`.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `train`.
    method : {None, "newton", "lbfgs"}
        How each point is found, as in `minimize`.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `train`.

    Returns
    -------
    MinimizerPath
        `lam` (m, n), with `l2`, `p`, `log_objective`, `gap` and `status` of every point and the `traces`, in the order
        of the given penalties or powers. It prints as a table; the column ``|lam|`` is the Euclidean norm of the
        coefficients.

    Raises
    ------
    ValueError, TypeError
        If more than one of p, l1 and l2 is a sequence, or none is.

    See Also
    --------
    minimize : One point, and the meaning of its status.
    cross_validate : Chooses a penalty, or a number of rounds, by held-out rows.

    Notes
    -----
    Penalties are visited from the largest to the smallest, and powers from the smallest to the largest, because
    coefficients grow in this direction. On separable data with a penalty, coefficients are approximately proportional
    to p / l2, and the starting points are scaled accordingly.

    The default penalties are 25 values in equal ratios over six powers of ten. The largest is the squared norm of the
    gradient of log F_p at zero. With this penalty, no coefficients are better than zero by more than half a nat. The
    penalty is the same for all coefficients, so bring the columns to one scale first.

    Without a penalty, ``l2=0``, there may be no minimiser (see `minimize`); `status` then contains the reason.

    Examples
    --------
    >>> import pnorm
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> path = pnorm.minimize_path(data.pos, data.neg, p=4, l2=[10, 1, 0.1, 0])
    >>> print(path)
            l2     log F_p      |lam|  steps  status
            10     31.3713     0.1185      2  converged
             1     31.2693     0.2621      3  converged
           0.1     31.2634     0.3032      2  converged
             0     31.2633     0.3087      2  converged
    >>> pnorm.minimize_path(data.pos, data.neg, p=[1, 2, 4, 8])
    <MinimizerPath: 4 points, p from 1 to 8, l2 = 0, 9 steps, converged>
    >>> bool((path.gap < 1e-10).all())
    True
    """
    along, powers, weights, penalties = _path_of(p, l1, l2)
    tol = _checks.nonnegative(tol, "tol")
    max_iter = _checks.count(max_iter, "max_iter", 0)
    if method is not None:
        _checks.choice(method, "method", ("newton", "lbfgs"))
    _checks.push(push)
    _checks.choice(penalty, "penalty", ("coefficients", "shapes"))
    makes = [objective_of(power, price, loss, smoothing) for power in powers]
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
        pos_grade=pos_grade,
        neg_grade=neg_grade,
    )
    with rows.named():
        pos, neg, rankers = rankers_of(rows.pos, rows.neg, rows.H)
    wanted = _checks.signs(signs, rankers.names, rankers.signs)
    few = few_of(max_columns, rankers)
    n_threads = _checks.threads(n_threads)
    n_pos, n_neg = _checks.n_rows(pos, "pos"), _checks.n_rows(neg, "neg")
    with rows.named():
        counted = counted_of(pos, neg, *rows.of_rows, push=push, group_weight=group_weight)
    with Pool(n_threads, work(loss, n_pos, n_neg)) as pool:
        with rows.named():
            tables, before_scaling = tables_of(pos, neg, rankers, counted, pool, push=push)
        counted = counted.seen_by(push)
        objectives = objectives_of(makes, counted, pool)
        problem = Problem.of_tables(tables, rankers.names, objectives[0], counted.kept, pool, before_scaling).centred()
        check_supported(problem, method)
        l2s = _default(largest_penalty(problem)) if penalties is None else penalties
        of_p, of_l1, of_l2 = (np.array(values) for values in np.broadcast_arrays(powers, weights, l2s))
        lams, traces = np.empty((of_p.size, len(rankers))), {}
        how = tol, max_iter, method, units_of(problem, rankers, penalty)
        for k, lam, trace in follow(problem, objectives, of_p, of_l1, of_l2, wanted, *how, few):
            lams[k], traces[k] = lam, trace
    in_order = tuple(traces[k] for k in range(of_p.size))
    return MinimizerPath(along, of_p, of_l1, of_l2, lams, in_order, tuple(rankers.names))


def _path_of(p: Any, l1: Any, l2: Any) -> tuple[str, list[float], list[float], list[float] | None]:
    """Return which of p, l1 and l2 is the path, and the values of each, after checks; None for the default l2."""
    paths = [name for name, x in (("p", p), ("l1", l1)) if not isinstance(x, numbers.Real)]
    if paths and l2 is None:
        l2 = 0.0
    paths += [] if isinstance(l2, numbers.Real) else ["l2"]
    if len(paths) != 1:
        got = " and ".join(paths) + " are sequences" if paths else "none is a sequence"
        raise ValueError(f"one of p, l1 and l2 must be a sequence, the path, and the others numbers; {got}")
    powers = _checks.several(p, "p", _checks.power)
    weights = _checks.several(l1, "l1", lambda x: _checks.nonnegative(x, "l1"), 0)
    penalties = None if l2 is None else _checks.several(l2, "l2", lambda x: _checks.nonnegative(x, "l2"), 0)
    return paths[0], powers, weights, penalties


def largest_penalty(problem: Problem) -> float:
    """Return the penalty from which on no coefficients are better than zeros by more than half a nat.

    With d the gradient at zero of what is convex, V and the penalty add up to V(0) - |d|**2 / (2 l2) at least.
    """
    middle = problem.point(np.zeros(problem.n_rankers))
    edges = problem.edges_at(middle)
    return problem.fall(middle) * middle.rate * float(np.square(edges).sum())


def _default(largest: float) -> list[float]:
    """Return falling penalties; with the largest, coefficients of zero are about as good as any."""
    if largest == 0.0:
        raise ValueError("no weak ranker has an edge at zero, so zero is the minimiser for every penalty. Pass l2")
    return list(largest * np.logspace(0.0, -_DECADES, _POINTS))
