"""Subgradient steps on the mean surrogate of lists, one list at a time."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks
from pnorm._blas import dot
from pnorm._checks import Discount, Gain, Grades, GroupLabels, Rows, Seed, Vector
from pnorm._recorders import Columns, Recorder, attach_trace, progress_range
from pnorm._threads import Pool, blocks
from pnorm.listwise._losses import HARD, Kendall, Ndcg, RankingLoss

_FIRST = 0.1
"""Length of the first step, relative to the step that would bring a linear surrogate to zero."""


_STEPS = 2000
"""Smallest default number of steps."""


_ROUNDING = 1e-14
"""Differences of a column within a list count as rounding below this share of its size."""


_LARGEST = 1e300
"""Entries of larger size, or smaller than its inverse, are refused."""


@dataclass(frozen=True, eq=False, repr=False)
class Epochs:
    """The record of a training run over lists; entry e of an array is the value after e epochs.

    Attributes
    ----------
    surrogate : ndarray, shape (T + 1,)
        The mean surrogate over all lists, which training lowers.
    error : ndarray, shape (T + 1,)
        The mean ranking loss over all lists, `kendall_tau_loss` or `ndcg_loss`. A list for which any order is best
        counts 0.
    objective : ndarray, shape (T + 1,)
        `surrogate` plus ``l2/2 |w|^2``.
    w : ndarray, shape (d,)
        The weights so far; at the end they are the ones that are returned.
    status : str
        ``"t_max"``: all epochs were run, which is usual. ``"stationary"``: the objective is zero. ``"callback"``: the
        callback stopped the run. ``"running"`` in a callback. ``"interrupted"`` if an exception ended the run; the
        trace is then the attribute `trace` of the exception.
    message : str
        The status as a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from pnorm import listwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(-3, 4, (600, 3))
    >>> y = X @ [2, -1, 1]
    >>> w, trace = listwise.train(X, y, np.full(60, 10))
    >>> trace.status, trace.n_iter == trace.error.size - 1
    ('stationary', True)
    >>> bool(trace.objective[-1] < trace.objective[0]), bool((trace.w == w).all())
    (True, True)
    """

    surrogate: Vector
    error: Vector
    objective: Vector
    w: Vector
    status: str
    message: str

    @property
    def n_iter(self) -> int:
        """Number of epochs T."""
        return self.error.size - 1

    def __repr__(self) -> str:
        return (
            f"<Epochs: {self.status} after {self.n_iter} epochs, objective {self.objective[0]:.6g} -> "
            f"{self.objective[-1]:.6g}, error {self.error[0]:.4g} -> {self.error[-1]:.4g}>"
        )


def train(
    X: Rows,
    y: Grades,
    group: GroupLabels | None = None,
    loss: Literal["kendall", "ndcg"] = "kendall",
    *,
    l2: float = 0.0,
    epochs: int | None = None,
    average: bool = True,
    k: int | None = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    seed: Seed = 0,
    callback: Callable[[Epochs], bool | None] | None = None,
    progress: bool = False,
    n_threads: int | None = None,
) -> tuple[Vector, Epochs]:
    """Learn a linear function that orders lists, by subgradient steps for one list at a time.

    Training minimises over w::

        1/m Σ_l L(X_l w, y_l) + l2/2 |w|^2

    where L is the surrogate `kendall_tau_hinge` or `ndcg_hinge`.

    Parameters
    ----------
    X : array_like, shape (N, d)
        The rows of all lists: dense, sparse, or a data frame.
    y : array_like, shape (N,)
        The grades of the rows; for "ndcg" zero or more.
    group : array_like, optional
        A label for each row, shape (N,), or the sizes of consecutive lists (N numbers are always labels). None stands
        for one list.
    loss : {"kendall", "ndcg"}
        The measure whose surrogate is minimised. ``"kendall"`` lowers `kendall_tau_hinge`, ``"ndcg"`` lowers
        `ndcg_hinge`.
    l2 : float
        Penalty, zero or more, in units of the columns of X. For "ndcg" a larger penalty is needed for the same effect,
        because places are counted in rows and w is small.
    epochs : int, optional
        Number of passes over the lists. The default is 20, or more if 20 passes make fewer than 2000 steps.
    average : bool
        Whether to return the mean of w over the steps, with weights 1, 2, 3, .... It is usually much better than the
        last w.
    k, gain, discount : as in `ndcg`
        For "ndcg".
    seed : int or numpy.random.Generator
        Random numbers; the same seed gives the same result. They order the lists of each epoch.
    callback : callable, optional
        Called with the trace so far after every epoch; a true return value stops the run. The trace is an `Epochs`.
        For early stopping, keep the best `Epochs.w`.
    progress : bool
        Show a progress bar; needs tqdm, the extra ``progress``.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. Each epoch is one pass over all
        lists.

    Returns
    -------
    w : ndarray, shape (d,)
        The weights: ``X @ w`` are the scores. The weight is zero for a column that is constant within every list.
    trace : Epochs
        The record of every epoch.

    Raises
    ------
    ValueError, TypeError
        If no list has rows of two grades.
    BaseException
        An exception from the callback, or Ctrl-C. Its attribute `trace` is the trace so far.
    ImportError
        If `progress` is true and tqdm is missing.

    Notes
    -----
    No step size has to be chosen. Columns are divided by the root mean square of their differences within lists, so
    their units do not matter. In these coordinates, with subgradients g_s, a step is the largest distance from the
    start so far, divided by ``sqrt(Σ_s |g_s|^2)`` [2]_. The penalty adds t times its curvature to the denominator, as
    for strongly convex functions, and its own step is implicit. For l2 = 0 this is the rule of [2]_, with the weights
    of [3]_ for the mean. For l2 > 0 no theorem covers the combination.

    An epoch costs O(N (d + log r)) for "kendall", and O(N d + sum of r^3) for "ndcg". The evaluation of all lists
    after an epoch costs the same.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", 2014, section 17.4.
    .. [2] M. Ivgi, O. Hinder, Y. Carmon, "DoG is SGD's best friend", ICML 2023.
    .. [3] S. Lacoste-Julien, M. Schmidt, F. Bach, "A simpler approach to obtaining an O(1/t) convergence rate for the
       projected stochastic subgradient method", 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from pnorm import listwise
    >>> generator = np.random.default_rng(0)
    >>> X = generator.integers(-3, 4, (600, 3))
    >>> y = X @ [2, -1, 1]  # 60 lists of 10 rows, in the order of a linear function
    >>> w, trace = listwise.train(X, y, np.full(60, 10))
    >>> trace.status, float(trace.error[-1])
    ('stationary', 0.0)
    """
    _checks.choice(loss, "loss", ("kendall", "ndcg"))
    named = isinstance(gain, str) and isinstance(discount, str) and (gain, discount) == ("linear", "log2")
    if loss == "kendall" and not (k is None and named):
        raise ValueError("k, gain and discount are for the loss 'ndcg' only; leave them out, or pass loss='ndcg'")
    l2 = _checks.nonnegative(l2, "l2")
    epochs = None if epochs is None else _checks.count(epochs, "epochs", 0)
    generator, callback = _checks.generator(seed), _checks.callback(callback)
    A = _checks.matrix(X, "X")
    n, d = A.shape
    grades = _checks.grades(y, "y", n, "one grade for each row")
    order, starts = _checks.lists(group, n)
    if _checks.is_sparse(A):
        A = A.tocsr()
    if order is not None:
        A, grades = A[order], grades[order]
    of: RankingLoss = Kendall(grades, starts) if loss == "kendall" else Ndcg(grades, starts, k, gain, discount)
    n_lists = starts.size - 1
    sizes = np.diff(starts)
    if (np.maximum.reduceat(grades, starts[:-1]) == np.minimum.reduceat(grades, starts[:-1])).all():
        raise ValueError(
            f"none of the {n_lists} lists has rows of two grades, so there is nothing to learn. Pass in group a label "
            "for each row, or the sizes of consecutive lists"
        )
    passes = max(20, -(-_STEPS // n_lists)) if epochs is None else epochs
    work = 2.0 * passes * float((sizes.astype(float) ** 3).sum())
    if loss == "ndcg" and work > HARD:
        warnings.warn(
            f"with lists of up to {sizes.max()} rows, {passes} epochs of the loss 'ndcg' take about "
            f"{5e-10 * work / 60.0:.0f} minutes. Pass loss='kendall', which takes seconds, or fewer epochs",
            RuntimeWarning,
            stacklevel=2,
        )
    rounds = progress_range(passes, progress, "epoch")
    scale = _scale(A, starts)
    with np.errstate(over="ignore"):
        penalties = l2 * scale * scale
    scale[~(penalties < _LARGEST)] = 0.0  # the weight is zero with such a penalty
    learner = _Learner(d, np.where(scale > 0.0, penalties, 0.0), average)
    with Pool(_checks.threads(n_threads), n) as pool:
        record = _EpochRecorder(A, of, l2, pool)
        objective = record.add(np.zeros(d))
        status, f, slopes = "t_max", np.empty(n), np.empty(n)
        with attach_trace(record.trace):
            for _ in rounds:
                if objective == 0.0:
                    status = "stationary"
                    break
                for g in generator.permutation(n_lists).tolist():
                    rows = slice(starts[g], starts[g + 1])
                    part = A[rows]
                    f[rows] = part @ (learner.u * scale)
                    of.evaluate(f, g, g + 1, slopes)
                    learner.step((slopes[rows] @ part) * (scale * of.units[g]), of.surrogates[g])
                objective = record.add(learner.result * scale)
                if record.stopped_by(callback):
                    status = "callback"
                    break
    right = "every pair is right" if loss == "kendall" else "every list is in its best order"
    message = {
        "t_max": f"all {record.n_iter} epochs were run",
        "stationary": f"the objective is zero: {right} by a margin",
        "callback": f"the callback stopped the run after epoch {record.n_iter}",
    }[status]
    return record.last, record.trace(status, message)


class _Learner:
    """Subgradient steps with the step sizes "distance over gradients", in coordinates with penalties h."""

    def __init__(self, d: int, h: Vector, average: bool) -> None:
        self.u, self._h, self._t = np.zeros(d), h, 0
        self.result = self.u.copy() if average else self.u
        self._far, self._squares = 0.0, 0.0

    def step(self, g: Vector, value: float) -> None:
        """Take a step against a subgradient of a function with this value."""
        self._t += 1
        self._squares += dot(g, g)
        if self._squares == 0.0:
            return
        if self._far == 0.0:
            self._far = _FIRST * value / math.sqrt(self._squares)
        self._far = max(self._far, math.sqrt(dot(self.u, self.u)))
        eta = 1.0 / (math.sqrt(self._squares) / self._far + self._h * self._t)
        self.u -= eta * g
        self.u /= 1.0 + eta * self._h
        if self.result is not self.u:
            self.result += (2.0 / (self._t + 1.0)) * (self.u - self.result)


class _EpochRecorder(Recorder[Epochs]):
    """Record of the epochs. A point holds the losses of all lists; its iterate is the weights."""

    unit = "epoch"

    def __init__(self, A: Any, loss: RankingLoss, l2: float, pool: Pool) -> None:
        super().__init__(Columns(surrogate=float, error=float, objective=float), Columns())
        self._A, self._loss, self._l2, self._pool = A, loss, l2, pool

    def add(self, w: Vector) -> float:
        """Evaluate all lists at given weights, record the result, and return the objective."""
        f, loss = np.asarray(self._A @ w, dtype=np.float64), self._loss
        self._pool.map(lambda some: loss.evaluate(f, some.start, some.stop, None), blocks(loss.units.size, 64))
        surrogate = float(loss.surrogates.mean())
        objective = surrogate + (0.5 * self._l2 * dot(w, w) if self._l2 else 0.0)
        self._keep(self.points.size, w)
        self.points.add(surrogate, float(loss.errors.mean()), objective)
        return objective

    def trace(self, status: str, message: str) -> Epochs:
        return Epochs(**self.arrays(), w=self.last.copy(), status=status, message=message)


def _scale(A: Any, starts: NDArray[np.intp]) -> Vector:
    """Return one over the root mean square of a column's differences within lists; 0 for a constant column.

    Columns are scaled to a largest entry of one, and squares are summed about the means of lists. Differences within
    rounding count as zero.
    """
    sizes = np.diff(starts)
    largest = abs(A).max(axis=0)
    largest = largest.toarray().ravel() if _checks.is_sparse(largest) else np.asarray(largest, dtype=np.float64)
    if not largest.max() < _LARGEST:
        raise ValueError(f"X has an entry of size {largest.max():.3g}, too large to add up; scale its column down")
    unit = np.where(largest > 1.0 / _LARGEST, largest, np.inf)  # columns of tiny entries get the scale 0
    total = np.zeros(unit.size)
    for some in blocks(sizes.size, 256):
        rows = A[starts[some.start] : starts[some.stop]]
        places, r = starts[some] - starts[some.start], sizes[some, None]
        if _checks.is_sparse(A):
            import scipy.sparse

            bounds = np.append(places, rows.shape[0])
            members = scipy.sparse.csr_array((np.ones(rows.shape[0]), np.arange(rows.shape[0]), bounds))
            rows = rows @ scipy.sparse.diags_array(1.0 / unit)
            apart = rows - members.T @ (scipy.sparse.diags_array(1.0 / sizes[some]) @ (members @ rows))
            squares, sizes_of = [members @ X.power(2) for X in (apart, rows)]
            squares, sizes_of = squares.toarray(), sizes_of.toarray()
        else:
            rows = rows / unit
            means = np.add.reduceat(rows, places) / r
            apart = rows - np.repeat(means, sizes[some], axis=0)
            squares, sizes_of = [np.add.reduceat(X * X, places) for X in (apart, rows)]
        squares[squares <= (_ROUNDING * _ROUNDING) * sizes_of] = 0.0
        total += (2.0 / np.maximum(r - 1.0, 1.0) * squares).sum(axis=0)
    spread: Vector = np.sqrt(total / sizes.size)
    return np.divide(1.0 / unit, spread, out=np.zeros_like(spread), where=spread > 0.0)
