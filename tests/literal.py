"""Figure 1 as printed: the whole structure M (I, K, n), d and z, pair by pair.

The judge of every fast path. Slow and obvious on purpose. It follows COLT 2006 (largest) and
TR2005-874 (absolute), with the tie rule that `pnorm.train` documents. As printed, no run stops before
t_max. "largest" keeps to that; "absolute" and "signed" stop where `pnorm.train` says that they do. A
ranker that separates ends all runs, as no step solves equation (1).
Case weights enter as repeated rows would: d starts at c_i c_k, and a negative's price is divided by
c_k ** (p - 1), since its sum over i carries c_k to the power p and should carry it once.
Query groups leave out the pairs of two groups: d starts at zero there, and stays. Grades leave out the pairs whose positive
has not the higher one. Signs cut a step where its coefficient would cross zero.
"""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp


def train(
    H_pos,
    H_neg,
    p=1.0,
    t_max=200,
    selection="absolute",
    c_pos=None,
    c_neg=None,
    tol=1e-10,
    groups=None,
    grades=None,
    signs=None,
    init=None,
):
    n_pos, n_neg, n = len(H_pos), len(H_neg), H_pos.shape[1]
    c_pos = np.ones(n_pos) if c_pos is None else np.asarray(c_pos, float)
    c_neg = np.ones(n_neg) if c_neg is None else np.asarray(c_neg, float)
    M = H_pos[:, None, :] - H_neg[None, :, :]
    H = np.concatenate([H_pos, H_neg])
    spans = np.ptp(H, axis=0)
    largest = np.minimum(np.abs(H).max(axis=0), spans)

    pairs = np.ones((n_pos, n_neg), bool) if groups is None else np.equal.outer(*map(np.asarray, groups))
    if grades is not None:
        pairs &= np.greater.outer(*map(np.asarray, grades))
    M = M * pairs[:, :, None]

    lam = np.zeros(n) if init is None else np.array(init, float)
    d = np.outer(c_pos, c_neg) * pairs * np.exp(-(M @ lam))
    d /= d.sum()
    run = SimpleNamespace(
        ranker=[], step=[], edge=[], z=[], log_objective=[log_objective(M, lam, p, c_pos, c_neg, pairs)], status="t_max"
    )
    for _ in range(t_max):
        # (a), divided by what makes it an edge of the normalised kind
        price = c_neg ** (1 - p) * (d.sum(axis=0) / d.sum(axis=0).max()) ** (p - 1)
        edges = np.einsum("k,ik,ikj->j", price, d, M) / (price * d.sum(axis=0)).sum()
        edges[np.abs(edges) <= tol * spans] = 0
        size = np.abs(edges) if selection == "absolute" else edges.copy()
        if signs is not None:  # a coefficient of zero cannot leave it against its sign
            size[(lam == 0) & (signs * edges < 0)] = -np.inf
        best = size.max()
        if best == -np.inf or (selection != "largest" and best <= 0):
            run.status = "stationary"
            break
        ties = size >= best - 1e-10 * largest[size.argmax()]
        if best != 0:
            ties &= np.sign(best) * size > 0
        j = int(np.flatnonzero(ties)[0])
        sign = np.sign(edges[j])
        Mj = M[:, :, j]

        # (b)
        gap = (sign * Mj)[pairs].min()
        separates = gap > 0
        if separates:
            step = sign * (1 + max(0, -(M @ lam)[pairs].min())) / gap
        elif gap == 0:
            offered = excess(d, Mj, 0.0, p, c_neg)
            step = sign * falling_root(
                lambda x: excess(d, sign * Mj, x, p, c_neg) - 1e-6 * offered,  # noqa: B023
                spans[j],
            )
        else:
            step = sign * falling_root(lambda x: slope(d, sign * Mj, x, p, c_neg), spans[j])  # noqa: B023

        if signs is not None and signs[j] * (lam[j] + step) < 0:
            step, separates = -lam[j], False

        # (c), (d), (e)
        lam[j] += step
        d = d * np.exp(-step * Mj)
        z = d.sum()
        d /= z
        run.ranker.append(j)
        run.step.append(step)
        run.edge.append(edges[j])
        run.z.append(z)
        run.log_objective.append(log_objective(M, lam, p, c_pos, c_neg, pairs))
        if separates:
            run.status = "separable"
            break
    run.lam = lam
    return run


def log_objective(M, lam, p, c_pos, c_neg, pairs=True):
    """log F_p straight from the definition."""
    return logsumexp(p * np.log((pairs * c_pos[:, None] * np.exp(-(M @ lam))).sum(axis=0)), b=c_neg)


def excess(d, Mj, alpha, p, c_neg):
    """log F_p at alpha less its limit, where no M is negative and some are zero.

    The sum over k of (at_k + off_k) ** p - at_k ** p beside that of at_k ** p, with `at` from the
    pairs that stay: difference by difference and in logarithms, so that a millionth keeps its digits.
    """
    q = d * np.exp(-alpha * Mj)
    at, off = (q * (Mj == 0)).sum(axis=0), (q * (Mj != 0)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = p * np.log(at + off) + np.log(-np.expm1(-p * np.log1p(off / at)))
        stay = p * np.log(at)
    rise, stay = (logsumexp(x, b=c_neg ** (1 - p)) for x in (rise, stay))
    return np.logaddexp(0, rise - stay)


def slope(d, Mj, alpha, p, c_neg):
    """The right side of equation (1) at alpha, divided by a positive number."""
    q = d * np.exp(-alpha * Mj + (alpha * Mj)[d > 0].min())
    columns = q.sum(axis=0)
    return (c_neg ** (1 - p) * (columns / columns.max()) ** (p - 1) * (Mj * q).sum(axis=0)).sum() / columns.max()


def falling_root(fall, span):
    """The root of a function that is positive at 0, or zero to rounding, and negative far to the right."""
    if fall(0.0) <= 0:
        return 0.0
    far = 1 / span
    while fall(far) > 0:
        far *= 2
    return brentq(fall, 0.0, far, xtol=1e-15 / span, rtol=1e-14)
