"""`train` and `minimize` for rows in partitions, without a cluster: what `pnorm.dask` does, in a loop."""

import numpy as np

from pnorm._minimize import solve
from pnorm._solvers.partitioned import Partitioned, Remote, stored
from pnorm._solvers.problem import rankers_of
from pnorm._solvers.reductions import merged
from pnorm._train import descend


class Crew:
    """Keeps partitions in a list, and counts the questions."""

    def __init__(self):
        self.asked = []

    def ask(self, asked, sides):
        self.asked.append(asked)
        return [merged(asked, [asked(part, *arguments) for part in rows]) for rows, arguments in sides]

    def changed(self, function, rows, *arguments):
        return [function(part, *arguments) for part in rows]

    def one(self, function, rows):
        return function(rows)


def partitioned(pos, neg, H, p, rows, pos_weight=None, neg_weight=None):
    rankers = rankers_of(pos, neg, H)
    handles = []
    for side, A, c, size in (("pos", pos, pos_weight, rows), ("neg", neg, neg_weight, rows // 2 + 1)):
        starts = range(0, A.shape[0], size)
        handles.append(
            [stored(A[k : k + size], None if c is None else c[k : k + size], rankers, side, k) for k in starts]
        )
    return Partitioned(Crew(), *handles, rankers.names, p)


def train(
    pos, neg, H=None, p=1, t_max=200, *, rows=13, selection="absolute", init=None, tol=1e-10, callback=None, **weights
):
    problem = partitioned(pos, neg, H, p, rows, **weights).centred()
    lam = np.zeros(problem.n_rankers) if init is None else np.array(init, dtype=float)
    return lam, descend(Remote(problem, lam), range(t_max), selection == "signed", tol, callback)


def minimize(pos, neg, H=None, p=1, *, rows=13, l2=0.0, init=None, method=None, tol=1e-10, **weights):
    problem = partitioned(pos, neg, H, p, rows, **weights).centred()
    return solve(problem, l2, tol, 100, None if init is None else np.array(init, dtype=float), method)[:2]
