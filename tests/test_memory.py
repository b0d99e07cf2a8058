"""What calls take beside their data grows as is said: some numbers per row, and never with the pairs."""

import functools

import numpy as np
import pytest
import scipy.sparse
from memory import peak

import pnorm

DAY = np.arange(140_000) % 100
NUMBER = 8  # bytes


def rows(n):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 8)) + 0.2, rng.normal(size=(n, 8))


CUTS = pnorm.rankers.quantile_thresholds(*rows(2000), 15)
ONES = np.ones(8)


def sparse(n):
    rng = np.random.default_rng(1)
    return [scipy.sparse.csc_array(rng.normal(size=(n, 50)) * (rng.random((n, 50)) < 0.02)) for _ in range(2)]


def train(pos, neg, H=None, **more):
    return pnorm.train(pos, neg, H, 4, 5, n_threads=1, **more)


def columns(pos, neg):
    return np.ascontiguousarray(pos[:, 0]), np.ascontiguousarray(neg[:, 0])


# For each call, what it needs beforehand, and numbers of eight bytes for each row of both sides.
STATED = {
    "train": (rows, train, 3),
    "train, sparse": (sparse, train, 3),
    "train, thresholds": (rows, lambda pos, neg: train(pos, neg, CUTS), 4),  # one of them for eight codes
    "train, weights": (rows, lambda pos, neg: train(pos, neg, pos_weight=pos[:, 0] ** 2, neg_weight=neg[:, 0] ** 2), 5),
    # The scaled columns, and a copy of them without one row; none of the columns before they are scaled.
    "train, normalized": (
        rows,
        lambda pos, neg: train(pos, neg, pnorm.rankers.normalized(pos, neg), pos_weight=np.arange(len(pos))),
        18,
    ),
    "train, groups": (
        rows,
        lambda pos, neg: train(pos, neg, pos_group=DAY[: len(pos)], neg_group=DAY[: len(neg)]),
        7.5,
    ),
    "minimize": (rows, lambda pos, neg: pnorm.minimize(pos, neg, p=4, n_threads=1), 7),
    "certificate": (rows, lambda pos, neg: pnorm.diagnostics.certificate(pos, neg, None, 4, ONES), 7),
    "score": (rows, lambda pos, neg: pnorm.score(pos, None, ONES, n_threads=1), 1),
    "value": (lambda n: columns(*rows(n)), lambda f, g: pnorm.objectives.value(f, g, n_threads=1), 2),
    "value_and_weights": (
        lambda n: columns(*rows(n)),
        lambda f, g: pnorm.objectives.value_and_weights(f, g, n_threads=1),
        3,
    ),
    "hinge": (
        lambda n: columns(*rows(n)),
        lambda f, g: pnorm.objectives.value_and_weights(f, g, loss="hinge", n_threads=1),
        6,
    ),
    "auc": (lambda n: columns(*rows(n)), pnorm.metrics.auc, 9),
    "summary": (lambda n: columns(*rows(n)), pnorm.metrics.summary, 13),
}


@pytest.mark.parametrize("name", STATED)
def test_memory_beside_the_data_is_some_numbers_per_row(name):
    make, call, numbers = STATED[name]
    call(*make(1000))  # whatever it imports
    small, large = (peak(functools.partial(call, *make(n))) for n in (70_000, 140_000))  # more than a block of rows
    assert large - small <= 1.02 * NUMBER * numbers * 2 * 70_000
    assert large - small > 0.25 * NUMBER * numbers * 2 * 70_000


def test_cuts_of_sparse_rows_take_memory_by_their_non_zeros():
    """Dense, these columns have 450 MB. A copy of a non-zero takes 12 bytes, a code with its row 5."""
    rng = np.random.default_rng(0)
    rows, columns, stored = 70_000, 400, 100_000
    pos, neg = (
        scipy.sparse.coo_array(
            (
                rng.integers(1, 6, stored).astype(float),
                (rng.integers(rows, size=stored), rng.integers(columns, size=stored)),
            )
        ).tocsr()
        for _ in range(2)
    )
    cuts = pnorm.rankers.quantile_thresholds(pos, neg)
    lam = rng.normal(size=len(cuts))
    for call, numbers in (
        (lambda: pnorm.rankers.quantile_thresholds(pos, neg), 5),
        (lambda: train(pos, neg, cuts), 9),
        (lambda: pnorm.minimize(pos, neg, cuts, l2=0.1, max_iter=3, n_threads=1), 11),
        (lambda: pnorm.score(pos, cuts, lam, n_threads=1), 4),
    ):
        assert peak(call) < NUMBER * numbers * 2 * stored


def test_a_run_keeps_what_moves_and_not_steps_times_rankers():
    rng = np.random.default_rng(0)
    n, stored, steps = 50_000, 1000, 60
    pos, neg = (
        scipy.sparse.coo_array(
            (rng.normal(size=stored), (rng.integers(50, size=stored), columns)), shape=(50, n)
        ).tocsc()
        for columns in rng.integers(n, size=(2, stored))
    )

    def of(rounds):
        return functools.partial(pnorm.minimize, pos, neg, l2=1e-3, tol=0.0, max_iter=rounds, n_threads=1)

    of(1)()
    few, many = peak(of(3)), peak(of(3 + steps // 10))
    assert many - few <= 3 * NUMBER * steps * 2 * stored  # 2.9 MB, where 36 MB were kept
    assert few < 50 * NUMBER * n  # some vectors, of which L-BFGS with all coefficients would keep eighty
