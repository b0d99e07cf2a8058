"""The general objective R = sum over k of c_k g(sum over i of c_i l(f_i - f_k)) pair by pair.

The judge of `pnorm.objectives` and of training on it: slow, obvious, and in mpmath where digits
are asked for. Prices and losses are written out here a second time.
"""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from scipy.optimize import brentq

from pnorm import objectives


def _exp(x):
    return mp.exp(x) if isinstance(x, mp.mpf) else np.exp(x)


def _log1p_exp(x):
    return mp.log1p(mp.exp(x)) if isinstance(x, mp.mpf) else np.logaddexp(0.0, x)


def _log1p(x):
    return mp.log1p(x) if isinstance(x, mp.mpf) else np.log1p(x)


def _above(x):
    return max(x, mp.mpf(0)) if isinstance(x, mp.mpf) else np.maximum(x, 0.0)


def _huber(z, s=0.25):
    below, width = _above(1 + s - z), 2 * s
    corner = width - _above(width - below)
    return corner * corner / (4 * s) + (below - corner)


LOSSES = {
    "exponential": (lambda z: _exp(-z), lambda z: -_exp(-z)),
    "logistic": (lambda z: _log1p_exp(-z), lambda z: -_exp(-_log1p_exp(z))),
    "hinge": (lambda z: _above(1 - z), lambda z: -1.0 * (z < 1)),
    "huber": (_huber, lambda z: (_above(0.75 - z) - _above(1.25 - z)) / 0.5),
    "squared_hinge": (lambda z: _above(1 - z) ** 2, lambda z: -2 * _above(1 - z)),
    "squared": (lambda z: (1 - z) ** 2, lambda z: -2 * (1 - z)),
    "user": (lambda z: _above(2 - z) ** 3, lambda z: -3 * _above(2 - z) ** 2),
}
"""Loss and derivative by name; "huber" is the hinge with smoothing=0.25, "user" a loss of the user's."""

PRICES = {
    "linear": (lambda r: r, lambda r: 1 + 0 * r),
    "power": (lambda r: r**4, lambda r: 4 * r**3),
    "exponential": (lambda r: _exp(r / 50), lambda r: _exp(r / 50) / 50),
    "user": (lambda r: _above(r - 3) ** 2, lambda r: 2 * _above(r - 3)),
    "falling": (lambda r: (r - 20) ** 2 + 1, lambda r: 2 * (r - 20)),
    "log": (_log1p, lambda r: 1 / (1 + r)),
}

PAIRS = [(price, loss) for price in PRICES for loss in LOSSES if price != "log" or loss == "exponential"]
"""Prices and losses that go together: the price "log" is convex in ln r only."""

OUR_PRICES = {
    "linear": objectives.Linear(),
    "power": objectives.Power(4),
    "exponential": objectives.Exponential(1 / 50),
    "user": objectives.Price(*PRICES["user"], name="forgiving"),
    "falling": objectives.Price(*PRICES["falling"], name="falling"),
    "log": objectives.Price(*PRICES["log"], name="log"),
}

USER = objectives.Loss(*LOSSES["user"], name="cube")


def ours(price, loss):
    """The arguments that name a price and a loss to pnorm."""
    chosen = {"price": OUR_PRICES[price], "loss": USER if loss == "user" else loss}
    return chosen | {"loss": "hinge", "smoothing": 0.25} if loss == "huber" else chosen


def value_and_weights(f_pos, f_neg, price, loss, c_pos=None, c_neg=None, groups=None):
    """R and the derivatives -dR/df_i and dR/df_k, by a double loop over pairs (in mpmath: pair by pair).

    A price that has no name is given as itself and its derivative.
    """
    (g, dg), (of_pair, slope) = PRICES.get(price, price), LOSSES[loss]
    exact = isinstance(f_pos[0], mp.mpf)
    f_pos, f_neg = (np.asarray(f, object if exact else float) for f in (f_pos, f_neg))
    c_pos = np.ones(len(f_pos)) if c_pos is None else np.asarray(c_pos)
    c_neg = np.ones(len(f_neg)) if c_neg is None else np.asarray(c_neg)
    A, B, R = np.zeros_like(f_pos), np.zeros_like(f_neg), 0 * f_pos[0]
    for k in range(len(f_neg)):
        rows = [i for i in range(len(f_pos)) if c_pos[i] > 0 and (groups is None or groups[0][i] == groups[1][k])]
        if not rows or not c_neg[k] > 0:
            continue
        z = [f_pos[i] - f_neg[k] for i in rows]
        S = sum(c_pos[i] * of_pair(d) for i, d in zip(rows, z, strict=True))
        R += c_neg[k] * g(S)
        for i, d in zip(rows, z, strict=True):
            weight = -c_neg[k] * dg(S) * c_pos[i] * slope(d)
            A[i] += weight
            B[k] += weight
    return R, A, B


def matrix_value_and_weights(f_pos, f_neg, price, loss):
    """R, A and B by one array over all pairs: quicker than pair by pair, and as obvious."""
    (g, dg), (of_pair, slope) = PRICES[price], LOSSES[loss]
    z = f_pos[:, None] - f_neg
    S = of_pair(z).sum(axis=0)
    weights = -slope(z) * dg(S)
    return g(S).sum(), weights.sum(axis=1), weights.sum(axis=0)


def train(H_pos, H_neg, price, loss, t_max, selection="absolute", tol=1e-10):
    """Coordinate descent on R with all pairs, and `pnorm.train`'s rule for ties; no separation, no infinity."""
    H = np.concatenate([H_pos, H_neg])
    spans = np.ptp(H, axis=0)
    size = np.minimum(np.abs(H).max(axis=0), spans)
    lam = np.zeros(H.shape[1])
    run = SimpleNamespace(ranker=[], step=[], edge=[], log_objective=[], status="t_max")

    def edges(lam):
        R, A, B = matrix_value_and_weights(H_pos @ lam, H_neg @ lam, price, loss)
        return np.log(R), (H_pos.T @ A - H_neg.T @ B) / np.abs(A).sum()

    for _ in range(t_max):
        log_r, edge = edges(lam)
        run.log_objective.append(log_r)
        edge[np.abs(edge) <= tol * spans] = 0
        merit = np.abs(edge) if selection == "absolute" else edge
        if merit.max() == 0 or (selection != "largest" and merit.max() < 0):
            run.status = "stationary"
            break
        tied = merit >= merit.max() - 1e-10 * size[merit.argmax()]
        j = int(np.flatnonzero(tied & (np.sign(merit.max()) * merit > 0))[0])
        sign = np.sign(edge[j])

        def slope(x, j=j, sign=sign):
            return -sign * edges(lam + sign * x * np.eye(len(lam))[j])[1][j]

        far = 1.0
        while slope(far) < 0:
            far *= 2
        step = sign * brentq(slope, 0.0, far, xtol=1e-15, rtol=1e-14)
        lam[j] += step
        run.ranker.append(j)
        run.step.append(step)
        run.edge.append(edge[j])
    else:
        run.log_objective.append(edges(lam)[0])
    run.lam = lam
    return run


def scores(rng, n_pos, n_neg, scale=1.0):
    """Random scores of both sides, rounded now and then so that some are equal."""
    f = rng.normal(size=n_pos + n_neg) * scale
    if rng.random() < 0.3:
        f = np.round(4 * f) / 4
    return f[:n_pos], f[n_pos:]
