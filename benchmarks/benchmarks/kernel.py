"""Steps of gradient descent in a kernel space, over rows, losses and landmarks."""

import numpy as np

import pnorm


def _rows(rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * rng.normal(size=rows) > 1
    return X[y], X[~y]


class Descend:
    """Twenty steps, the Gram matrix and the size of steps included."""

    params = ([500, 2_000, 8_000], ["logistic", "squared", "hinge"])
    param_names = ("rows", "loss")

    def setup(self, rows, loss):
        self.sides = _rows(rows)

    def time_train(self, rows, loss):
        pnorm.kernel.train(*self.sides, loss=loss, t_max=20, tol=0.0)

    def peakmem_train(self, rows, loss):
        pnorm.kernel.train(*self.sides, loss=loss, t_max=20, tol=0.0)


class Landmarks:
    """The same among functions of landmarks, and scores of as many rows."""

    params = ([2_000, 50_000], [50, 500])
    param_names = ("rows", "landmarks")

    def setup(self, rows, landmarks):
        self.sides = _rows(rows)
        self.model, _ = pnorm.kernel.train(*self.sides, landmarks=landmarks, t_max=1)

    def time_train(self, rows, landmarks):
        pnorm.kernel.train(*self.sides, landmarks=landmarks, t_max=20, tol=0.0)

    def peakmem_train(self, rows, landmarks):
        pnorm.kernel.train(*self.sides, landmarks=landmarks, t_max=20, tol=0.0)

    def time_score(self, rows, landmarks):
        self.model.score(self.sides[0])

    def track_share_left_out(self, rows, landmarks):
        return self.model.approximation.share


class Minimise:
    """The minimiser by Newton's method."""

    params = ([200, 1_000, 2_000],)
    param_names = ("rows",)

    def setup(self, rows):
        self.sides = _rows(rows)

    def time_minimize(self, rows):
        pnorm.kernel.minimize(*self.sides)
