"""Problems to time: outputs that overlap, with a factor that columns share, so that rounds do not run out."""

import numpy as np


def gaussian(n_pos, n_neg, n, seed=0):
    """Return (I, n) and (K, n) outputs."""
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.1, 1, (n_pos, n)), rng.normal(0, 1, (n_neg, n))
    for X in (pos, neg):
        X += rng.normal(size=(len(X), 1))
    return pos, neg


def binary(n_pos, n_neg, n, seed=0):
    """Return the same, cut at zero."""
    return tuple((X > 0).astype(float) for X in gaussian(n_pos, n_neg, n, seed))
