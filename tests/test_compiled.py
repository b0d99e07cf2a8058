"""The compiled rounds against the loop that is read beside Figure 1: the same bits of everything, and really used."""

import numpy as np
import pytest

import pnorm
from pnorm._solvers import descent_state

SERIES = ("ranker", "step", "edge", "z", "log_objective", "intercepts")


@pytest.fixture
def counted(monkeypatch):
    """A list to which every batch of compiled rounds adds their number."""
    batches, run = [], descent_state.HeldRows.run

    def counting(self, *arguments):
        batches.append(run(self, *arguments))
        return batches[-1]

    monkeypatch.setattr(descent_state.HeldRows, "run", counting)
    return batches


def both(monkeypatch, *arguments, **more):
    """The same run by either loop, which agree in every bit; returns the trace."""
    runs = []
    for compiled in (True, False):
        with monkeypatch.context() as patch:
            patch.setattr(descent_state, "COMPILED", compiled)
            runs.append(pnorm.train(*arguments, **more))
    (lam, trace), (same, read) = runs
    assert lam.tobytes() == same.tobytes()
    for name in SERIES:
        a, b = getattr(trace, name), getattr(read, name)
        assert a is b is None or a.tobytes() == b.tobytes(), name
    assert (trace.status, trace.message) == (read.status, read.message)
    return trace


def matrices(rng, kind, shapes):
    """Both sides: measurements, whole numbers, both, duplicates and complements, large numbers far from zero."""
    pos, neg = rng.normal(rng.choice([0.3, 3.0]), 1, shapes[0]), rng.normal(0, 1, shapes[1])
    if kind == "whole":
        return pos.round(), neg.round()
    if kind == "mixed":
        few = rng.integers(0, 2, pos.shape[1]).astype(bool)
        return [np.where(few, X.round(1), X) for X in (pos, neg)]
    if kind == "binary":
        return (pos > 0).astype(float), (neg > 0).astype(float)
    if kind == "twice":
        return [np.concatenate([X, X[:, :1], -X[:, :2]], axis=1) for X in (pos, neg)]
    if kind == "scales":
        scale = 10.0 ** rng.integers(-150, 150, pos.shape[1])
        return pos * scale, neg * scale
    if kind == "far":
        return pos + 1e6 * (np.arange(pos.shape[1]) % 2), neg + 1e6 * (np.arange(pos.shape[1]) % 2)
    return pos, neg


KINDS = ("measured", "whole", "mixed", "binary", "twice", "scales", "far")


def rankers(rng, pos, neg):
    """None, thresholds, columns and thresholds, or closed under complement."""
    H = pnorm.rankers.quantile_thresholds(pos, neg, int(rng.integers(1, 12)))
    columns = pnorm.rankers.columns(pos.shape[1])
    return [None, None, H, H + columns, pnorm.rankers.closed(columns)][rng.integers(5)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_both_loops_agree_in_every_bit(monkeypatch, counted, kind, seed):
    rng = np.random.default_rng([KINDS.index(kind), seed])
    for _ in range(60):
        (n_pos, n_neg), n = rng.integers(1, 60, 2), rng.integers(1, 8)
        form = rng.choice(["C", "F"]), rng.choice([np.float32, np.float64]) if kind != "scales" else np.float64
        pos, neg = [np.asarray(X, order=form[0], dtype=form[1]) for X in matrices(rng, kind, ((n_pos, n), (n_neg, n)))]
        H = rankers(rng, pos, neg)
        width = pos.shape[1] if H is None else len(H)
        more = {
            "p": float(rng.choice([1, 1.5, 2, 4, 16, 64])),
            "t_max": int(rng.choice([0, 1, 2, 40, 150])),
            "selection": str(rng.choice(["absolute", "signed", "largest"])),
            "push": str(rng.choice(["top", "bottom"])),
            "tol": float(rng.choice([0.0, 1e-10, 1e-2])),
        }
        if rng.random() < 0.3:
            more |= {"pos_weight": rng.uniform(0.1, 3, n_pos), "neg_weight": rng.integers(0, 3, n_neg) + 1e-3}
        if rng.random() < 0.2 and kind != "scales":
            more["init"] = rng.normal(size=width) * rng.choice([1.0, 30.0]) * (rng.random(width) < 0.7)
        if rng.random() < 0.2:
            stop = rng.integers(1, 50)
            more["callback"] = lambda trace, stop=stop: trace.n_iter >= stop
        both(monkeypatch, pos, neg, H, **more)
    assert sum(counted) > 100
