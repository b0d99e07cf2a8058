"""`train` and `minimize` for rows in partitions, without a cluster: what `pnorm.dask` does, in a loop."""

import numpy as np

from pnorm._checks import CaseWeights
from pnorm._solvers.building import rankers_of
from pnorm._solvers.descent import descend
from pnorm._solvers.descent_state import DescentState
from pnorm._solvers.few_columns import few_of
from pnorm._solvers.minimize import solve, units_of
from pnorm._solvers.partitioned import Partitions
from pnorm._solvers.penalty import Penalty
from pnorm._solvers.reductions import Job, answer, merged, rows_of
from pnorm._threads import SERIAL
from pnorm.objectives._pairwise import objective_of


class InLists:
    """Keeps partitions in lists, and notes what they were asked."""

    in_memory = False

    def __init__(self):
        self.asked = []

    def reduce(self, function, jobs):
        self.asked.append(getattr(function, "function", function))
        return [
            merged(function, [answer(function, part, *job.arguments(k)) for k, part in enumerate(job.handles)])
            for job in jobs
        ]

    def changed(self, function, handles, *arguments, own=None):
        job = Job(handles, arguments, own)
        return [function(part, *job.arguments(k)) for k, part in enumerate(handles)]

    def first(self, function, handle):
        return function(handle)


def partitioned(pos, neg, H, p, rows, pos_weight=None, neg_weight=None, push="top", executor=None):
    pos, neg, rankers = rankers_of(pos, neg, H)
    parts = []
    for side, A, c, size in (("pos", pos, pos_weight, rows), ("neg", neg, neg_weight, rows // 2 + 1)):
        starts = range(0, A.shape[0], size)
        parts.append(
            [rows_of(A[k : k + size], None if c is None else c[k : k + size], rankers, side, k) for k in starts]
        )
    objective = objective_of(p, None, "exponential", 0.0)(CaseWeights(None, None, None, None, 0), SERIAL)
    return Partitions(executor or InLists(), parts).problem(rankers.names, objective, push)


def train(
    pos, neg, H=None, p=1, t_max=200, *, rows=13, selection="absolute", init=None, tol=1e-10, callback=None, **weights
):
    problem = partitioned(pos, neg, H, p, rows, **weights)
    lam = np.zeros(problem.n_rankers) if init is None else np.array(init, dtype=float)
    return lam, descend(DescentState(problem, lam), range(t_max), selection, tol, callback)


def penalty_of(problem, rankers, l1=0.0, l2=0.0, signs=None, penalty="coefficients"):
    return Penalty.of(problem.n_rankers, l1, l2, signs, units_of(problem, rankers, penalty))


def minimize(
    pos, neg, H=None, p=1, *, rows=13, l1=0.0, l2=0.0, signs=None, penalty="coefficients", max_columns=None,
    init=None, method=None, tol=1e-10, max_iter=100, callback=None, **weights,
):  # fmt: skip
    problem, rankers = partitioned(pos, neg, H, p, rows, **weights), rankers_of(pos, neg, H)[2]
    added, few = penalty_of(problem, rankers, l1, l2, signs, penalty), few_of(max_columns, rankers)
    start = None if init is None else np.array(init, dtype=float)
    return solve(problem, added, tol, max_iter, start, method, callback, few=few)[:2]
