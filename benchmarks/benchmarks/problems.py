"""Problems to time: outputs that overlap, with a factor that columns share, so that rounds do not run out."""

import numpy as np
import scipy.sparse


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


def correlated(n_pos, n_neg, n, seed=0):
    """Return outputs whose columns a random matrix has mixed, with labels drawn from a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * (n_pos + n_neg), n)) @ rng.normal(size=(n, n)) / np.sqrt(n)
    f = X @ rng.normal(size=n)
    y = rng.random(len(X)) < 1 / (1 + np.exp(-1.5 * f / f.std()))
    return X[y][:n_pos], X[~y][:n_neg]


def touching(n_pos, n_neg, n, seed=0):
    """Return outputs whose last column is one on some positives and zero on all else: quasi-separable."""
    pos, neg = gaussian(n_pos, n_neg, n, seed)
    pos[:, -1], neg[:, -1] = np.random.default_rng(seed).random(n_pos) < 0.05, 0.0
    return pos, neg


def counts(rows, columns, stored, seed=0):
    """Return sparse rows of counts from 1 to 5, a third of them positives; 12 bytes for each that is stored."""
    rng = np.random.default_rng(seed)
    places = [rng.integers(n, size=stored, dtype=np.int32) for n in (rows, columns)]
    X = scipy.sparse.coo_array((rng.integers(1, 6, stored).astype(float), places), shape=(rows, columns)).tocsr()
    X.data = np.minimum(X.data, 5.0)
    y = rng.random(rows) < 1 / 3
    return X[y], X[~y]


def bits(n_pos, n_neg, n, seed=0):
    """Return bits like those of molecules: each has some eight of 400 fragments, and a fragment sets some 15 bits."""
    rng = np.random.default_rng(seed)
    sets = rng.random((400, n)) < 15 / n
    common, tilt = rng.zipf(1.5, 400).clip(max=50), 0.5 * rng.normal(size=400)

    def side(rows, sign):
        rate = common * np.exp(sign * tilt)
        has = rng.random((rows, 400)) < np.minimum(8 * rate / rate.sum(), 0.9)
        times = has.astype(float) @ sets
        return (rng.random((rows, n)) < 1 - 0.998 * 0.03**times).astype(float)

    return side(n_pos, 1), side(n_neg, 0)
