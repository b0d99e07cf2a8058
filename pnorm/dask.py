"""Rows beyond one machine: `train`, `minimize` and `score` on Dask arrays and frames.

The rows stay where they are, partition by partition. A round asks every partition for a few sums, which are
merged in a fixed order, and sends back the coefficients: traffic does not grow with the rows. (With query groups
and with losses other than the papers', one or two numbers for each row travel.) Workers
keep the outputs of their partitions and nothing that changes from round to round, so that a worker may be
lost at any time: its partitions are read again elsewhere, and the run goes on with the same numbers.

It runs on the threads of this process, or on the cluster of the current ``dask.distributed.Client``. (Dask's other
scheduler of processes keeps nothing on the workers: partitions would travel with every reduction.) Needs Dask, the
extra ``dask``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

try:
    import dask
except ImportError:
    raise ImportError(
        "pnorm.dask needs Dask, the extra 'dask' of pnorm: pip install 'dask[array,distributed]'"
    ) from None

from pnorm import _checks
from pnorm._checks import CaseWeights, Vector
from pnorm._score import scored
from pnorm._solvers.descent import descend
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.few_columns import few_of
from pnorm._solvers.minimize import check_supported, solve, units_of
from pnorm._solvers.partitioned import Partitions
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.problem import Problem, rankers_of
from pnorm._solvers.reductions import NAMES, Job, Name, answer, merged, rows_of
from pnorm._solvers.start import start_of
from pnorm._threads import SERIAL, Pool
from pnorm._trace import Trace, progress_range
from pnorm.objectives._base import Make
from pnorm.objectives._losses import Loss, work
from pnorm.objectives._pairwise import objective_of
from pnorm.objectives._prices import Price
from pnorm.rankers import Rankers, as_rankers

__all__ = ["minimize", "score", "train"]

_FAN_IN = 16
"""Answers that are merged at a time: a hundred workers in two stages, a thousand in three."""


def train(
    pos: Any,
    neg: Any,
    H: Any = None,
    p: float = 1.0,
    t_max: int = 200,
    *,
    selection: str = "absolute",
    push: str = "top",
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    group_weight: str = "pairs",
    signs: Any = None,
    init: Any = None,
    tol: float = 1e-10,
    callback: Callable[[Trace], bool | None] | None = None,
    progress: bool = False,
) -> tuple[Vector, Trace]:
    r"""Run the P-Norm Push on rows in partitions: `pnorm.train`, to rounding.

    The coefficients agree with those of `pnorm.train` on the same rows to some 1e-14, whatever the partitions.

    Parameters
    ----------
    pos : dask Array, shape (I, d), or dask DataFrame
        The positive rows. Partitions may be NumPy or SciPy sparse arrays or pandas frames, and empty.
    neg : dask Array, shape (K, d), or dask DataFrame
        The negative rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`; callables see one partition at a time. The cuts of
        `pnorm.rankers.quantile_thresholds` are placed by rows in memory: a sample of 100,000 rows places them to a
        third of a percent.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    t_max : int
        Largest number of rounds.
    selection : {"absolute", "signed", "largest"}
        As in `pnorm.train`.
    push : {"top", "bottom"}
        Which end of the list is to be right. As in `pnorm.train`.
    loss : str or Loss
        What a pair costs whose scores differ by z. As in `pnorm.train`. With groups, or another loss than
        ``"exponential"``, or another price than a power, scores and weights of all rows are gathered here (see Notes).
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. As in `pnorm.train`.
    smoothing : float
        With the hinge: half the width of a parabola in the place of its corner.
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
        Stop as stationary when the largest edge is at most this, in units of h.
    callback : callable, optional
        Called with the trace so far after every round; a true return value stops the run. It is called here, not on a
        worker.
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
        If rows cannot be used; the message names the partition. So it does if the rows are others when they are read
        again (the trace is then the attribute `trace` of the error), and if a partition has not as many rows as its
        chunk says.
    BaseException
        What the callback raises, or Ctrl-C, with the trace so far as its attribute `trace`, as in `pnorm.train`.

    See Also
    --------
    pnorm.train : The same for rows in memory.

    Notes
    -----
    A round is one reduction over all partitions where the weak rankers are thresholds or categories: each answers
    with sums of weights by code, and the step is found here from these sums. Of other weak rankers the step
    needs a few reductions more, two as a rule. A partition forms its scores from the coefficients each time, O(N n)
    for N rows at most, and keeps no other state. On a cluster a reduction costs some milliseconds beside, and one
    or two for each partition (page "Rows on a cluster"): few large partitions are better than many small ones.

    With groups, or another loss or price, scores and weights of all rows are arrays in this process. In a round
    8 to 24 bytes for each row travel: weights to the partitions, and outputs of the chosen weak ranker back.

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
    rankers, _ = _rankers(pos, neg, H, None)
    signs = _checks.signs(signs, rankers.names, rankers.signs)
    lam = start_of(init, rankers, signs)
    weights, groups = (pos_weight, neg_weight), (pos_group, neg_group)
    with _problem(pos, neg, rankers, make, loss, weights, groups, push, group_weight) as (partitions, problem):
        trace = descend(DescentState(problem, lam, signs), rounds, selection, tol, callback)
        return _trusted(partitions, lam, trace)


def minimize(
    pos: Any,
    neg: Any,
    H: Any = None,
    p: float = 1.0,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    signs: Any = None,
    penalty: str = "coefficients",
    max_columns: int | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    push: str = "top",
    loss: str | Loss = "exponential",
    price: Price | None = None,
    smoothing: float = 0.0,
    pos_weight: Any = None,
    neg_weight: Any = None,
    pos_group: Any = None,
    neg_group: Any = None,
    group_weight: str = "pairs",
    init: Any = None,
    method: str | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
) -> tuple[Vector, Trace]:
    r"""Find the exact minimiser for rows in partitions, with a proof: `pnorm.minimize`, to rounding.

    Parameters
    ----------
    pos, neg : dask Array, shape (I, d) and (K, d), or dask DataFrame
        The rows, as in `train`.
    H : None, sequence of callables, or Rankers
        The weak rankers. As in `pnorm.train`.
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
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
        Largest number of Newton steps.
    push : {"top", "bottom"}
        Which end of the list is to be right. As in `pnorm.train`.
    loss : str or Loss
        What a pair costs whose scores differ by z. As in `pnorm.minimize`. With groups, or another loss than
        ``"exponential"``, or another price than a power, scores and weights of all rows are gathered here, as in
        `train`.
    price : Price, optional
        What a negative pays for the sum of its losses, from `pnorm.objectives`. As in `pnorm.minimize`.
    smoothing : float
        With the hinge: half the width of a parabola in the place of its corner.
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
        Called with the trace so far after every step; a true return value stops the run. It is called here, not on a
        worker.

    Returns
    -------
    lam : ndarray, shape (n,)
        The minimiser; of least norm if there are several. On separable data, the coefficients of the widest margin.
    trace : Trace
        As from `pnorm.minimize`, `gap` and `gaps` included, but for one thing: no linear program is asked
        whether there is a minimiser, as it would need all rows in one place. On separable data the steps find
        that out by themselves. On quasi-separable data they come near the infimum with coefficients on their way to
        infinity, and end as ``"stalled"`` or ``"max_iter"`` without a certificate; with `l2` there is one.

    Raises
    ------
    ValueError, TypeError
        If rows cannot be used; the message names the partition. So it does if the rows are others when they are read
        again (the trace is then the attribute `trace` of the error), and if a partition has not as many rows as its
        chunk says.
    BaseException
        What the callback raises, or Ctrl-C, with the trace so far as its attribute `trace`, as in `pnorm.minimize`.

    See Also
    --------
    pnorm.minimize : The same for rows in memory.

    Notes
    -----
    A Newton step with its certificate is some eight reductions over all partitions, and a few more where weak rankers
    are dependent, each of which answers with a few sums: O(n) numbers, but for those of the Hessian, n**2. Together
    they cost as much as a step of `pnorm.minimize`, and the scores anew for each of them.

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
    rankers, start = _rankers(pos, neg, H, init)
    signs = _checks.signs(signs, rankers.names, rankers.signs)
    _checks.choice(penalty, "penalty", ("coefficients", "shapes"))
    few = few_of(max_columns, rankers)
    weights, groups = (pos_weight, neg_weight), (pos_group, neg_group)
    with _problem(pos, neg, rankers, make, loss, weights, groups, push, group_weight) as (partitions, problem):
        check_supported(problem, method)
        if start is not None:
            problem.check_exponents(start)
        added = Penalty.of(len(rankers), l1, l2, signs, units_of(problem, rankers, penalty))
        lam, trace, _ = solve(problem, added, tol, max_iter, start, method, callback, few=few)
        return _trusted(partitions, lam, trace)


def score(X: Any, H: Any, lam: Any) -> Any:
    r"""Score rows in partitions: :math:`f(x) = \sum_j \lambda_j h_j(x)`.

    Parameters
    ----------
    X : dask Array, shape (N, d), or dask DataFrame
        The rows.
    H : None, sequence of callables, or Rankers
        The weak rankers. They are those that `train` was given.
    lam : array_like, shape (n,)
        Coefficients, one per weak ranker.

    Returns
    -------
    dask Array, shape (N,), or dask Series
        The scores, in the same partitions, not yet computed; those of a frame have its index.

    Raises
    ------
    ValueError, TypeError
        If `X` is nothing of Dask, or `lam` not one finite number per ranker; when computed, if rows do not fit.

    Warns
    -----
    UnknownLevelWarning
        When computed, for each partition that has values that are no levels of `pnorm.rankers.categories`, even if
        none is one, unless there is text in place of numbers or the reverse, which is a ValueError.

    Examples
    --------
    >>> import dask.array
    >>> import pnorm.dask
    >>> X = dask.array.from_array([[1.0, 2.0], [3.0, 4.0]], chunks=(1, 2))
    >>> pnorm.dask.score(X, None, [0.5, -1.0]).compute()
    array([-1.5, -2.5])
    """
    rankers = as_rankers(H, _sample(X, "X"), "X")
    lam = _checks.vector(lam, "lam", len(rankers), "one coefficient per weak ranker")
    if hasattr(X, "columns"):
        import pandas

        return X.map_partitions(_scores, rankers, lam, meta=pandas.Series(dtype=np.float64, name="score"))
    return X.rechunk({1: -1}).map_blocks(_scores, rankers, lam, dtype=np.float64, drop_axis=1, meta=np.empty(0))


def _scores(X: Any, rankers: Rankers, lam: Vector) -> Any:
    f = scored(X, rankers, lam, strict=False) if X.shape[0] else np.empty(0)
    if not hasattr(X, "columns"):
        return f
    import pandas

    return pandas.Series(f, X.index, name="score")


# What Dask has to do with it -----------------------------------------------------------------------


class _Cluster:
    """The executor of a Dask scheduler."""

    in_memory = False

    def reduce(self, function: Any, jobs: Sequence[Job]) -> list[Any]:
        ask, merge = dask.delayed(_answer, pure=False), dask.delayed(_merge, pure=False)
        answers = []
        for job in jobs:
            # One message for all partitions of the side, into which Dask need not look.
            question = dask.delayed((function, job.shared), traverse=False, pure=False)
            if job.own is None:
                layer = [ask(part, question) for part in job.handles]
            else:
                # Weights of rows go with the task: another worker can answer in the place of a lost one.
                layer = [
                    ask(part, question, dask.delayed(own, traverse=False, pure=False))
                    for part, own in zip(job.handles, job.own, strict=True)
                ]
            while len(layer) > 1:
                layer = [merge(question, layer[k : k + _FAN_IN]) for k in range(0, len(layer), _FAN_IN)]
            answers += layer
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return list(dask.compute(*answers))

    def changed(self, function: Any, handles: Sequence[Any], *arguments: Any) -> list[Any]:
        call = dask.delayed(function, pure=False)
        return list(dask.persist(*[call(part, *arguments) for part in handles]))

    def first(self, function: Any, handle: Any) -> Any:
        return dask.delayed(function, pure=False)(handle).compute()


def _answer(rows: Any, question: Any, *own: Any) -> Any:
    function, shared = question
    return answer(function, rows, *own, *shared)


def _merge(question: Any, answers: Any) -> Any:
    return merged(question[0], answers)


def _trusted(partitions: Partitions, lam: Vector, trace: Trace) -> tuple[Vector, Trace]:
    """Return what a run has found, if the rows are still those that it began with."""
    try:
        partitions.check_unchanged()
    except ValueError as error:
        error.trace = trace  # type: ignore[attr-defined]
        raise
    return lam, trace


@contextlib.contextmanager
def _problem(
    pos: Any,
    neg: Any,
    rankers: Rankers,
    make: Make,
    loss: Any,
    weights: Sequence[Any],
    groups: Sequence[Any],
    push: str,
    group_weight: str,
) -> Iterator[tuple[Partitions, Problem]]:
    """Have the workers store the rows, and give the problem."""
    objective = make(CaseWeights(None, None, None, None, 0), SERIAL)
    if objective.traits.factored and all(labels is None for labels in groups) and group_weight == "pairs":
        handles = []
        for name, X, weight in zip(NAMES, (pos, neg), weights, strict=True):
            parts, of_parts = _matched(X, weight, f"{name}_weight")
            handles.append(_stored(name, X, parts, rankers, weight=of_parts))
        partitions = Partitions(_Cluster(), _kept(handles))
        yield partitions, partitions.problem(rankers.names, objective, push)
        return
    # Scores, weights and groups of all rows are held here.
    sides = [_partitions(X) for X in (pos, neg)]
    lengths = [_lengths(X, parts) for X, parts in zip((pos, neg), sides, strict=True)]
    of_rows = [_here(x) for x in (*weights, *groups)]
    counted = _checks.case_weights(sum(lengths[0]), sum(lengths[1]), *of_rows, group_weight=group_weight)
    handles = []
    for k, (name, X) in enumerate(zip(NAMES, (pos, neg), strict=True)):
        kept = np.ones(sum(lengths[k]), bool) if counted.kept is None else counted.kept[k]
        kept_of_parts = np.split(kept, np.cumsum(lengths[k])[:-1])
        codes: Sequence[Any] = [None] * len(kept_of_parts)
        if counted.groups is not None:
            whole = (counted.groups.pos, counted.groups.neg)[k]
            codes = np.split(whole, np.cumsum([int(own.sum()) for own in kept_of_parts])[:-1])
        handles.append(_stored(name, X, sides[k], rankers, kept=kept_of_parts, codes=codes))
    with Pool(None, work(loss, *map(sum, lengths))) as pool:
        partitions = Partitions(_Cluster(), _kept(handles))
        objective = make(counted.seen_by(push), pool)
        yield partitions, partitions.problem(rankers.names, objective, push)


def _stored(name: Name, X: Any, parts: Sequence[Any], rankers: Rankers, **of_parts: Sequence[Any]) -> list[Any]:
    """Tasks that store the partitions of one side."""
    store, recipe = dask.delayed(rows_of, pure=False), dask.delayed(rankers, traverse=False, pure=False)
    declared = [np.nan] * len(parts) if hasattr(X, "columns") else X.chunks[0]
    own = {"number": range(len(parts)), "declared": [*map(float, declared)], "weight": [None] * len(parts), **of_parts}
    return [
        store(part, rankers=recipe, name=name, **{key: of_part[k] for key, of_part in own.items()})
        for k, part in enumerate(parts)
    ]


def _kept(handles: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Have the workers keep the partitions of both sides."""
    kept = dask.persist(*handles[0], *handles[1])
    return [kept[: len(handles[0])], kept[len(handles[0]) :]]


def _here(values: Any) -> Any:
    """Values of all rows that may be a Dask collection."""
    return values.compute() if dask.is_dask_collection(values) else values


def _lengths(X: Any, parts: Sequence[Any]) -> Sequence[int]:
    """Numbers of rows of the partitions."""
    lengths: Sequence[Any] = X.chunks[0] if hasattr(X, "chunks") else [np.nan]
    if np.isnan(np.array(lengths, dtype=np.float64)).any():
        lengths = dask.compute(*[dask.delayed(_length, pure=False)(part) for part in parts])
    return lengths


def _rankers(pos: Any, neg: Any, H: Any, init: Any) -> tuple[Rankers, Vector | None]:
    """The weak rankers, and coefficients to start from."""
    *_, rankers = rankers_of(_sample(pos, "pos"), _sample(neg, "neg"), H)
    return rankers, None if init is None else start_of(init, rankers)


def _sample(X: Any, name: str) -> Any:
    """Rows with the columns of X, whatever is in them."""
    if not (dask.is_dask_collection(X) and hasattr(type(X), "to_delayed") and hasattr(type(X), "shape")):
        raise TypeError(
            f"{name} must be a Dask array or frame; got {type(X).__name__}: pnorm.train takes rows in memory, and "
            "dask.array.from_array makes a Dask array of them"
        )
    if hasattr(X, "columns"):
        return X._meta_nonempty
    if X.ndim != 2:
        raise ValueError(f"{name} must be a matrix, one row per case; got {X.ndim} dimensions")
    return np.zeros((1, X.shape[1]))


def _partitions(X: Any, optimize: bool = True) -> list[Any]:
    """The partitions of rows, each with all columns."""
    whole = X.rechunk({1: -1}) if getattr(X, "ndim", 1) == 2 and not hasattr(X, "columns") else X
    return list(np.ravel(whole.to_delayed(optimize_graph=optimize)))


def _matched(X: Any, weight: Any, name: str) -> tuple[list[Any], Sequence[Any]]:
    """The partitions of rows, and the weights of each."""
    rows = _partitions(X)
    if weight is None:
        return rows, [None] * len(rows)
    if dask.is_dask_collection(weight):
        parts = _partitions(weight)
        if len(parts) != len(rows):  # Dask reads few columns of a file in fewer partitions, if it may
            rows, parts = _partitions(X, False), _partitions(weight, False)
        if len(parts) != len(rows):
            raise ValueError(f"{name} has {len(parts)} partitions, and the rows have {len(rows)}: partition them alike")
        return rows, parts
    lengths = _lengths(X, rows)
    checked = _checks.weights(weight, name, sum(lengths))
    assert checked is not None
    return rows, np.split(checked, np.cumsum(lengths)[:-1])


def _length(X: Any) -> int:
    return int(X.shape[0])
