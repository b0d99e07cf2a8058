"""One evaluation of an objective, and training and minimising it, over losses and rows."""

import numpy as np

import pnorm
from pnorm.objectives import Exponential, Power

from . import problems

LOSSES = ["exponential", "logistic", "hinge", "squared_hinge", "squared"]


class Evaluate:
    """log R and the weights of all rows."""

    params = ([1_000, 100_000, 1_000_000], LOSSES, ["normal", "wide", "cauchy"])
    param_names = ("I = K", "loss", "scores")

    def setup(self, rows, loss, scores):
        rng = np.random.default_rng(0)
        draw = {"normal": rng.normal, "wide": lambda size: 30 * rng.normal(size=size), "cauchy": rng.standard_cauchy}
        self.f = [draw[scores](size=rows) for _ in range(2)]

    def time_value(self, rows, loss, scores):
        pnorm.objectives.value(*self.f, Power(4), loss)

    def time_value_and_weights(self, rows, loss, scores):
        pnorm.objectives.value_and_weights(*self.f, Power(4), loss)

    def peakmem_value_and_weights(self, rows, loss, scores):
        pnorm.objectives.value_and_weights(*self.f, Power(4), loss)


class Groups:
    """The same in query groups of ten rows a side."""

    params = ([1_000, 100_000], LOSSES)
    param_names = ("I = K", "loss")

    def setup(self, rows, loss):
        rng = np.random.default_rng(0)
        self.f = [rng.normal(size=rows) for _ in range(2)]
        self.groups = [np.arange(rows) % (rows // 10) for _ in range(2)]

    def time_value_and_weights(self, rows, loss):
        pnorm.objectives.value_and_weights(*self.f, Power(4), loss, pos_group=self.groups[0], neg_group=self.groups[1])


class Learn:
    """Twenty rounds of descent, and the minimiser."""

    params = ([1_000, 100_000], ["logistic", "squared_hinge"])
    param_names = ("I + K", "loss")

    def setup(self, rows, loss):
        self.pos, self.neg = problems.correlated(rows // 2, rows // 2, 20)

    def time_train(self, rows, loss):
        pnorm.train(self.pos, self.neg, t_max=20, loss=loss, price=Exponential(10 / rows))

    def time_minimize(self, rows, loss):
        pnorm.minimize(self.pos, self.neg, loss=loss, price=Power(4), tol=1e-8)

    def track_gradient(self, rows, loss):
        """A speed-up must not make the answer worse."""
        trace = pnorm.minimize(self.pos, self.neg, loss=loss, price=Power(4), tol=1e-8)[1]
        return trace.gradient_norm / trace.objective[-1]
