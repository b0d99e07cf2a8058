"""Separability of rows in partitions, from a few of them, against the linear program of all rows and exact hulls."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import exact
import numpy as np
import pytest
from partitions import InLists, minimize, partitioned
from repeats import each_value

import pnorm
from pnorm import _checks
from pnorm._solvers import working_set
from pnorm._solvers.building import rankers_of
from pnorm._solvers.minimize import solve
from pnorm._solvers.partitioned import Partitions
from pnorm._solvers.reductions import rows_of
from pnorm._solvers.separability import find_separation
from pnorm._threads import SERIAL
from pnorm.objectives._pairwise import objective_of


def held(pos, neg, H, p, rows, loss="exponential", price=None, push="top", **about):
    """Return the problem of partitions whose weights and groups are held here."""
    pos, neg, rankers = rankers_of(pos, neg, H)
    names = "pos_weight", "neg_weight", "pos_group", "neg_group"
    counted = _checks.case_weights(len(pos), len(neg), *[about.get(name) for name in names])
    parts = []
    for k, (name, X) in enumerate((("pos", pos), ("neg", neg))):
        kept = np.ones(len(X), bool) if counted.kept is None else counted.kept[k]
        starts = range(0, len(X), rows)
        codes = [None] * len(starts)
        if counted.groups is not None:
            before = np.r_[0, np.cumsum(kept)]
            of_side = (counted.groups.pos, counted.groups.neg)[k]
            codes = [of_side[before[i] : before[min(i + rows, len(X))]] for i in starts]
        counting = [X[i : i + rows][kept[i : i + rows]] for i in starts]
        parts.append(
            [replace(rows_of(part, None, rankers, name, j), codes=codes[j]) for j, part in enumerate(counting)]
        )
    objective = objective_of(p, price, loss, 0.0)(counted.seen_by(push), SERIAL)
    return Partitions(InLists(), parts).problem(rankers.names, objective, push)


def integers(seed, d, most=12):
    rng = np.random.default_rng(seed)
    n_pos, n_neg = rng.integers(1, most, 2)
    pos, neg = (rng.integers(0, 2 + seed % 3, (n, d)).astype(float) for n in (n_pos, n_neg))
    pos[:, 0] += seed % 4  # the larger, the more often separable
    return rng, pos, neg


def labels(rng, pos, neg):
    """Two groups, or three; both sides of each have a row."""
    own = [np.r_[np.arange(len(X)) % 3, rng.integers(0, 3, len(X))][: len(X)] for X in (pos, neg)]
    return {"pos_group": own[0], "neg_group": own[1]}


def level(found, outputs, groups):
    """Return which rows of a side have the score of the support of their group."""
    return outputs @ found.direction == found.level[groups]


def assert_like_memory(found, expected, pos, neg, g_pos=0, g_neg=0):
    """The kind is the same, and so is the support; the direction is right. Arguments are outputs of rankers."""
    assert found.kind == expected.kind
    if found.kind == "overlapping":
        assert found.direction is None
        return
    g_pos, g_neg = (np.broadcast_to(g, len(X)) for g, X in ((g_pos, pos), (g_neg, neg)))
    np.testing.assert_array_equal(level(found, pos, g_pos), expected.support_pos)
    np.testing.assert_array_equal(level(found, neg, g_neg), expected.support_neg)
    difference = (pos @ found.direction)[:, None] - neg @ found.direction
    pairs, both = g_pos[:, None] == g_neg, expected.support_pos[:, None] & expected.support_neg
    assert (difference[pairs & both] == 0.0).all()
    assert (difference[pairs & ~both] > 0.0).all()


def test_the_kind_and_the_support_are_those_of_exact_hulls():
    rows = 3
    kinds = []
    for seed in range(40):
        _, pos, neg = integers(seed, 2)
        found = find_separation(partitioned(pos, neg, None, 4, rows))
        kind, on_pos, on_neg = exact.hulls(pos, neg)
        expected = SimpleNamespace(
            kind=kind,
            support_pos=np.isin(np.arange(len(pos)), list(on_pos)),
            support_neg=np.isin(np.arange(len(neg)), list(on_neg)),
        )
        assert_like_memory(found, expected, pos, neg)
        kinds.append(found.kind)
    assert min(map(kinds.count, ("overlapping", "quasi-separable", "separable"))) > 3


RANKERS = {
    "columns": lambda pos, neg: pnorm.rankers.columns(pos.shape[1]),
    "thresholds": lambda pos, neg: pnorm.rankers.thresholds([[0.5, 1.5, 2.5]] * pos.shape[1]),
    "steps and slopes": lambda pos, neg: (
        pnorm.rankers.thresholds([[0.5, 1.5]] * pos.shape[1]) + pnorm.rankers.columns(pos.shape[1])
    ),
    "closed": lambda pos, neg: pnorm.rankers.closed(pnorm.rankers.columns(pos.shape[1])),
    "categories": pnorm.rankers.categories,
}


def test_what_is_found_in_memory_is_found_on_partitions():
    kind = "categories"
    kinds = []
    for seed in range(16):
        _, pos, neg = integers(seed, 3, 16)
        H = RANKERS[kind](pos, neg)
        expected = pnorm.diagnostics.separability(pos, neg, H)
        found = find_separation(partitioned(pos, neg, H, 4, 4))
        assert_like_memory(found, expected, *(H.evaluate(X) for X in (pos, neg)))
        kinds.append(found.kind)
        if seed % 2:
            continue
        lam, trace = minimize(pos, neg, H, 4, rows=4)
        other_lam, other = pnorm.minimize(pos, neg, H, 4)
        assert trace.status == other.status
        if found.kind != "separable":
            np.testing.assert_allclose(lam, other_lam, atol=1e-8)
            assert trace.message.split("infimum")[0] == other.message.split("infimum")[0]
            np.testing.assert_allclose(trace.log_objective[-1], other.log_objective[-1], atol=1e-9)
            assert trace.gap < 1e-9
    assert min(map(kinds.count, ("overlapping", "quasi-separable", "separable"))) > 0


def test_signs():
    changed = 0
    for seed in range(40):
        rng, pos, neg = integers(seed, 3, 16)
        signs = rng.integers(-1, 2, 3)
        expected = pnorm.diagnostics.separability(pos, neg, signs=signs)
        found = find_separation(partitioned(pos, neg, None, 4, 4), signs=signs.astype(np.int8))
        assert_like_memory(found, expected, pos, neg)
        assert found.direction is None or (found.direction * signs >= 0.0).all()
        changed += pnorm.diagnostics.separability(pos, neg).kind != found.kind
    assert changed > 5


def test_groups():
    kinds = []
    for seed in range(20):
        rng, pos, neg = integers(seed, 3, 20)
        if min(len(pos), len(neg)) < 3:
            continue
        groups = labels(rng, pos, neg)
        problem = held(pos, neg, None, 4, 4, **groups)
        found = find_separation(problem)
        kinds.append(found.kind)
        assert_like_memory(found, pnorm.diagnostics.separability(pos, neg, **groups), pos, neg, *groups.values())
        if found.kind != "separable" and seed % 3 == 0:
            lam, trace, _ = solve(problem)
            expected, other = pnorm.minimize(pos, neg, None, 4, **groups)
            assert trace.status == other.status
            np.testing.assert_allclose(lam, expected, atol=1e-8)
            assert trace.message.split("infimum")[0] == other.message.split("infimum")[0]
    assert min(map(kinds.count, ("overlapping", "quasi-separable", "separable"))) > 0


def touching(n=400, seed=0):
    """Quasi-separable: a column that only some positives have, and one that only some negatives have."""
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(size=(n, 3)) + 0.3, rng.normal(size=(n, 3))
    of_pos, of_neg = np.zeros((n, 2)), np.zeros((n, 2))
    of_pos[rng.permutation(n)[:7], 0] = 2.0
    of_neg[rng.permutation(n)[:5], 1] = 3.0
    return np.column_stack([pos, of_pos]), np.column_stack([neg, of_neg])


@each_value()
@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimiser_on_the_support(push, weighted):
    pos, neg = touching()
    weights = {}
    if weighted:
        rng = np.random.default_rng(1)
        weights = {"pos_weight": rng.integers(0, 3, 400), "neg_weight": rng.uniform(0.5, 2.0, 400)}
        weights["pos_weight"][:20] = 0  # partitions without rows that count
    lam, trace = minimize(pos, neg, None, 4, push=push, **weights)
    expected, other = pnorm.minimize(pos, neg, None, 4, push=push, **weights)
    assert trace.status == other.status == "separable"
    assert trace.message.split("infimum")[0] == other.message.split("infimum")[0]
    np.testing.assert_array_equal(trace.direction != 0.0, [False, False, False, True, True])
    np.testing.assert_allclose(lam, expected, atol=1e-9)
    assert trace.gap < 1e-9


def test_objectives_whose_weights_are_held_here():
    pos, neg = touching(100)
    logistic, priced = {"loss": "logistic"}, {"price": pnorm.objectives.Exponential()}
    for p, about in ((2, logistic), (2, {**logistic, "push": "bottom"}), (1, priced)):
        lam, trace, _ = solve(held(pos, neg, None, p, 9, **about))
        expected, other = pnorm.minimize(pos, neg, None, p, **about)
        assert trace.message.split("infimum")[0] == other.message.split("infimum")[0]
        assert trace.status == other.status
        np.testing.assert_allclose(trace.log_objective[-1], other.log_objective[-1], rtol=1e-7)
        np.testing.assert_allclose(lam, expected, atol=1e-4)


def test_level_scores_are_compared_as_numbers():
    quarters = np.array([[0.25, 0.75], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    found = find_separation(partitioned(*quarters, None, 4, 1))
    assert_like_memory(found, pnorm.diagnostics.separability(*quarters), *quarters)
    assert found.kind == "quasi-separable"
    assert working_set._exact in partitioned_asks(*quarters)
    # 0.1 + 0.3 rounds to 0.4, and is a little less as the doubles are
    tenths = np.array([[0.1, 0.3], [1.0, 1.0]]), np.array([[0.4, 0.0], [0.0, 0.4], [0.0, 0.0]])
    found = find_separation(partitioned(*tenths, None, 4, 1))
    assert found.kind == pnorm.diagnostics.separability(*tenths).kind == "undecided"


def partitioned_asks(pos, neg):
    problem = partitioned(pos, neg, None, 4, 1)
    find_separation(problem)
    return problem.executor.asked


def test_few_rows_travel():
    pos, neg = touching(4000)
    sizes, decided = {}, {}
    for n in (400, 4000):
        problem = partitioned(pos[-n:], neg[-n:], pnorm.rankers.thresholds([np.linspace(-2.0, 2.0, 9)] * 5), 4, 50)
        asked, reduce = [], problem.executor.reduce
        problem.executor.reduce = lambda *question, asked=asked, reduce=reduce: (
            asked.append(reduce(*question)) or asked[-1]
        )
        decided[n] = find_separation(problem).kind
        assert len(asked) < 10
        sizes[n] = sum(len(pickle.dumps(answer)) for answer in asked)
    assert set(decided.values()) <= {"overlapping", "quasi-separable"}
    assert sizes[4000] < 1.5 * sizes[400]


@pytest.mark.parametrize(
    ("name", "answer"), [("program", lambda *_: None), ("matches", lambda *_: False), ("unspanned", lambda _: None)]
)
def test_what_the_program_cannot_settle_is_undecided(monkeypatch, name, answer):
    monkeypatch.setattr(working_set, name, answer)
    pos, neg = touching(30)
    assert find_separation(partitioned(pos, neg, None, 4, 7)).kind == "undecided"
    if name != "matches":
        return
    lam, trace = minimize(pos, neg, None, 4)
    assert trace.status == "stalled"
    assert trace.gap == np.inf
    assert "whether the data are separable could not be decided" in trace.message
    assert lam[3] > 5.0


def test_too_many_rankers_for_a_working_set_are_undecided(monkeypatch):
    monkeypatch.setattr(working_set, "FEW", 3)
    assert find_separation(partitioned(*touching(30), None, 4, 7)).kind == "undecided"


def test_many_directions_are_shown_some_at_a_time(monkeypatch):
    monkeypatch.setattr(working_set, "_MOST", 3)
    for seed in range(12):
        _, pos, neg = integers(seed, 5, 40)
        found = find_separation(partitioned(pos, neg, None, 4, 4))
        assert_like_memory(found, pnorm.diagnostics.separability(pos, neg), pos, neg)
