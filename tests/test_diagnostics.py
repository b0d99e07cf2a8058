"""Separability by brute force, the limit of training, the geometry of COLT 2006, and the report."""

import dataclasses
import gzip
import itertools
from fractions import Fraction

import exact
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from facts import raises, tells
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from problems import HOME, needs, pima, wdbc
from repeats import each_value, examples, trials

import pnorm
from pnorm import rankers
from pnorm._solvers import separability as _separability
from pnorm.diagnostics import (
    bregman_distance,
    certificate,
    convergence,
    legendre_bregman_projection,
    phi,
    primal_objective,
    q_limit,
    q_prime,
    report,
    same_limit,
    separability,
)

# Separability


def zero_pairs(pos, neg, signs=(0, 0)):
    """The pairs that some direction in the plane separates while it puts no pair the wrong way round: exactly.

    The directions that put no pair the wrong way round form a cone, within the signs too. If it is not the origin
    alone, its edges are perpendicular to a difference or to an axis, or it is the plane, a half-plane or a line along
    one.
    """
    differences = [(int(a[0] - b[0]), int(a[1] - b[1])) for a in pos for b in neg]
    zero = np.zeros(len(differences), bool)
    for x, y in set(differences) | {(1, 0), (0, 1)}:
        for d in ((x, y), (-x, -y), (-y, x), (y, -x)):
            margins = np.array([d[0] * m[0] + d[1] * m[1] for m in differences])
            if (margins >= 0).all() and d[0] * signs[0] >= 0 and d[1] * signs[1] >= 0:
                zero |= margins > 0
    return zero.reshape(len(pos), len(neg))


@pytest.mark.parametrize("seed", trials(40))
def test_the_support_is_that_of_brute_force_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    size, wide = rng.integers(1, 7, 2), rng.integers(1, 5)
    pos = rng.integers(0, wide + 1, (size[0], 2)) + rng.integers(0, 2, 2)
    neg = rng.integers(0, wide + 1, (size[1], 2))
    zero = zero_pairs(pos, neg)
    found = separability(pos, neg)
    np.testing.assert_array_equal(~np.outer(found.support_pos, found.support_neg), zero)
    assert found.kind == ("separable" if zero.all() else "quasi-separable" if zero.any() else "overlapping")
    assert_separates(found, pos, neg)


def kind_of(zero):
    return "separable" if zero.all() else "quasi-separable" if zero.any() else "overlapping"


def test_the_support_within_signs_is_that_of_brute_force_in_the_plane():
    signs = [1, -1]
    kinds, changed = [], 0
    for seed in range(60):
        rng = np.random.default_rng([1, seed])
        size, wide = rng.integers(1, 6, 2), rng.integers(1, 5)
        pos = rng.integers(0, wide + 1, (size[0], 2)) + rng.integers(0, 2, 2) * signs
        neg = rng.integers(0, wide + 1, (size[1], 2))
        zero = zero_pairs(pos, neg, signs)
        found = separability(pos, neg, signs=signs)
        kinds.append(found.kind)
        assert found.kind == kind_of(zero)
        np.testing.assert_array_equal(~np.outer(found.support_pos, found.support_neg), zero)
        assert_separates(found, pos, neg)
        assert found.direction is None or (found.direction * signs >= 0).all()
        _, trace = pnorm.minimize(pos, neg, None, 2, signs=signs)
        assert (trace.status == "converged") == (found.kind == "overlapping")
        changed += separability(pos, neg).kind != found.kind
    assert min(map(kinds.count, ("overlapping", "quasi-separable", "separable"))) > 5
    assert changed > 5


def zero_by_program(pos, neg, signs, same):
    """The pairs that directions of these signs separate, each by one at least, while no pair is the wrong way round.

    One program for all: directions add up, so that all pairs that can be separated are so at once.
    """
    i, k = np.nonzero(same)
    margins = pos[i] - neg[k]  # of a direction, >= t for each pair
    n, m = pos.shape[1], len(margins)
    done = scipy.optimize.linprog(
        np.r_[np.zeros(n), -np.ones(m)],
        A_ub=np.c_[-margins, np.eye(m)],
        b_ub=np.zeros(m),
        bounds=[(0 if s > 0 else None, 0 if s < 0 else None) for s in signs] + [(0, 1)] * m,
    )
    assert done.status == 0
    zero = np.zeros_like(same)
    zero[i, k] = done.x[n:] > 0.5
    return zero


@pytest.mark.parametrize("storage", [np.array, scipy.sparse.csr_array])
def test_the_support_within_signs_is_that_of_a_program_over_pairs(storage):
    grouped = True
    kinds = []
    for seed in range(40):
        rng = np.random.default_rng([2, seed])
        pos, neg = (rng.integers(0, 3, (m, 4)).astype(float) for m in rng.integers(2, 9, 2))
        signs = rng.integers(-1, 2, 4)
        pos += rng.integers(0, 2, 4) * signs
        groups = [np.arange(len(X)) % 2 * grouped for X in (pos, neg)]
        same = np.equal.outer(*groups)
        zero = zero_by_program(pos, neg, signs, same)
        found = separability(storage(pos), storage(neg), signs=signs, pos_group=groups[0], neg_group=groups[1])
        kinds.append(found.kind)
        assert found.kind == kind_of(zero[same])
        np.testing.assert_array_equal(~np.outer(found.support_pos, found.support_neg)[same], zero[same])
        assert_separates(found, pos, neg, same)
        assert found.direction is None or (found.direction * signs >= 0).all()
    assert min(map(kinds.count, ("overlapping", "quasi-separable", "separable"))) > 1


def test_separability_keeps_the_signs_of_weak_rankers():
    pos, neg = [[2.0, 0.0], [3.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    falls, rises = (rankers.columns(2, monotone={0: sign}) for sign in (-1, 1))
    assert separability(pos, neg, rises).kind == separability(pos, neg).kind == "separable"
    assert separability(pos, neg, falls).kind == separability(pos, neg, signs=[-1, 0]).kind == "overlapping"
    assert separability(pos, neg, falls, signs=[0, 1]).kind == "overlapping"
    scaled = rankers.normalized([[0.0, 0.0]], [[7.0, 1.1]])
    assert separability(pos, neg, scaled, signs=[-1, 0]).kind == "overlapping"
    assert separability(pos, neg, scaled, signs=[1, 0]).kind == "separable"
    with raises(ValueError, "signs has 1 for x0, and its own sign is -1"):
        separability(pos, neg, falls, signs=[1, 0])


def test_the_limit_within_signs_is_that_of_long_descent():
    rng = np.random.default_rng(5)
    pos, neg = rng.normal(0.3, 1, (20, 3)), rng.normal(0, 1, (25, 3))
    pos[:4, 2], pos[4:, 2], neg[:, 2] = 1.0, 0.0, 0.0  # no coefficient of the last column is too large
    for signs, kind in (([0, -1, 1], "quasi-separable"), ([0, -1, -1], "overlapping")):
        H = rankers.columns(3, monotone={j: sign for j, sign in enumerate(signs) if sign})
        limit = q_limit(pos, neg, H, 2)
        lam, trace = pnorm.train(pos, neg, None, 2, 3000, signs=signs)
        assert limit.kind == kind
        assert (limit.lam * signs >= 0).all()
        assert limit.support_pos.sum() == (16 if kind == "quasi-separable" else 20)
        assert -limit.gap <= trace.log_objective[-1] - limit.log_objective < 1e-4
        assert limit.distance(pnorm.score(pos, None, lam), pnorm.score(neg, None, lam)) < 1e-2
        free = q_limit(pos, neg, None, 2)
        assert free.log_objective < limit.log_objective - 1e-3


def assert_separates(found, pos, neg, same=None):
    """The direction, in exact arithmetic: no pair the wrong way round, and just the zero pairs strictly."""
    if found.kind == "overlapping":
        assert found.direction is None
        assert found.support_pos.all()
        assert found.support_neg.all()
        return
    lam = [Fraction(x) for x in found.direction]
    f, g = (np.array([sum(map(Fraction.__mul__, lam, map(Fraction, map(float, x)))) for x in X]) for X in (pos, neg))
    margins = np.subtract.outer(f, g)
    zero = ~np.outer(found.support_pos, found.support_neg)
    same = np.ones_like(zero) if same is None else same
    assert (margins >= 0)[same].all()
    np.testing.assert_array_equal((margins > 0)[same], zero[same])


def zero_pairs_in_space(pos, neg):
    """The pairs of whole rows with three columns whose q'* is zero; None if the cone of `zero_pairs` has a line in it.

    The cone's edges tie two pairs that are no multiples of one another: all cross products are tried.
    """
    differences = (pos[:, None] - neg).reshape(-1, 3)
    if np.linalg.matrix_rank(differences) < 3:
        return None
    edges = np.cross(differences[:, None], differences).reshape(-1, 3)
    edges = np.concatenate([edges, -edges])
    inside = edges[(edges @ differences.T >= 0).all(axis=1)].sum(axis=0)
    return (differences @ inside > 0).reshape(len(pos), len(neg))


def scaled(which, pos, neg):
    """Weak rankers that round an affine map of the columns, among others."""
    H = rankers.normalized(pos, neg, *[(0, 1), (-3, 7.3), (1000, 1001)][which % 3])
    more = rankers.normalized(pos, neg, -0.3, 0.7)
    return [H, rankers.closed(H), rankers.callables([lambda X: X[:, 0]]) + H + more, rankers.columns(3) + more][
        which % 4
    ]


def test_scaling_costs_no_decision():
    kind = "quasi-separable"
    rng = np.random.default_rng(34)
    for which in range(12):  # all of `scaled`, near and far
        zero = None
        while zero is None or kind != (
            "separable" if zero.all() else "quasi-separable" if zero.any() else "overlapping"
        ):
            pos, neg = rng.integers(0, 7, (2, 6, 3))
            zero = zero_pairs_in_space(pos, neg)
        far = rng.integers(-(10**6), 10**6, 3) * (which % 2)
        A, B = (pos + far) * [1, 3, 1000], (neg + far) * [1, 3, 1000]
        H = scaled(which, A, B)
        found = separability(A, B, H)
        assert found.kind == kind
        np.testing.assert_array_equal(~np.outer(found.support_pos, found.support_neg), zero)
        lam, trace = pnorm.minimize(A, B, H, 4)
        assert trace.status == ("converged" if kind == "overlapping" else "separable")
        if kind == "separable":
            assert np.subtract.outer(pnorm.score(A, H, lam), pnorm.score(B, H, lam)).min() == pytest.approx(1.0)
            assert trace.gap == np.inf
            continue
        assert trace.gap < 1e-9
        _, raw = pnorm.minimize(pos, neg, None, 4)
        assert trace.log_objective[-1] == pytest.approx(raw.log_objective[-1], rel=0, abs=1e-9)
        if kind == "quasi-separable":
            f, g = pnorm.score(A, H, found.direction), pnorm.score(B, H, found.direction)
            margins = np.subtract.outer(f, g) / np.abs(found.direction).max()
            assert margins[zero].min() > 1e-6 > 1e-8 > np.abs(margins[~zero]).max()


@pytest.mark.parametrize(
    "margin",
    [1e-15, -1e-15, 0.0],
)
def test_scaling_hides_no_margin_and_makes_none(margin):
    """A margin below the rounding of scaled outputs is decided on the columns, or not at all."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pos, neg = rng.integers(0, 4, (2, 5, 2)).astype(float)
        pos[:, 0] += margin
        kind = exact.hulls(pos, neg)[0]
        H = rankers.normalized(pos, neg, -3, 7.3)
        assert separability(pos, neg, H).kind in (kind, "undecided")
        assert margin or separability(pos, neg, H).kind == kind
        _, trace = pnorm.minimize(pos, neg, H, 4)
        assert kind != "separable" or trace.status != "converged"
        assert kind != "quasi-separable" or trace.status != "converged"
        assert kind != "overlapping" or trace.status != "separable"


@each_value()
@pytest.mark.parametrize("kind", ["overlapping", "quasi-separable", "separable"])
@pytest.mark.parametrize("sparse", [False, True])
def test_kinds_of_constructed_data(kind, sparse):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.2, 1, (200, 6)), rng.normal(0, 1, (250, 6))
    pos[:, 5], neg[:, 5] = rng.random(200) < 0.1, 0
    if kind == "overlapping":
        neg[3, 5] = 1
        neg[3, :5] = pos[pos[:, 5] == 1, :5].mean(axis=0)
    if kind == "separable":
        pos[:, 5] = 0.5
    found = separability(*(scipy.sparse.csr_array(X) if sparse else X for X in (pos, neg)))
    assert found.kind == kind
    assert_separates(found, pos, neg)
    if kind == "quasi-separable":
        np.testing.assert_array_equal(found.support_pos, pos[:, 5] == 0)
        assert found.support_neg.all()


def test_touching_in_one_point_along_an_oblique_line():
    pos = [[2, 1], [1, 2], [3, 3], [4, 0]]
    neg = [[0, 3], [3, 0], [0, 0], [1, 1]]
    found = separability(pos, neg)
    assert found.kind == "quasi-separable"
    np.testing.assert_array_equal(found.support_pos, [True, True, False, False])
    np.testing.assert_array_equal(found.support_neg, [True, True, False, False])
    np.testing.assert_array_equal(found.direction / found.direction[0], [1, 1])


def test_groups_and_weights_decide_with_the_rows():
    pos, neg = np.array([[1], [4], [9]]), np.array([[2], [3], [5]])
    assert separability(pos, neg).kind == "overlapping"
    # Group 0 is separable one way and group 1 the other, so that no direction is right for both.
    groups = {"pos_group": [0, 1, 0], "neg_group": [1, 0, 2]}
    found = separability([[4], [1], [9]], [[2], [3], [5]], **groups)
    assert found.kind == "overlapping"
    np.testing.assert_array_equal(found.support_neg, [True, True, False])  # the last has no partner
    # Without the row of weight zero, both are separable the same way.
    found = separability([[4], [1], [9]], [[2], [3], [5]], **groups, pos_weight=[1, 0, 1])
    assert found.kind == "separable"
    assert found.direction[0] > 0
    assert not found.support_pos.any()
    assert separability(pos, neg, pos_weight=[0, 0, 2]).kind == "separable"


def test_a_group_that_separates_leaves_the_support():
    """The second column is zero in group 0, and separates group 1."""
    rng = np.random.default_rng(0)
    pos, neg = np.zeros((20, 2)), np.zeros((20, 2))
    pos[:, 0], neg[:, 0] = rng.normal(size=20), rng.normal(size=20)
    group = np.repeat([0, 1], 10)
    pos[group == 1, 1] = 1
    found = separability(pos, neg, pos_group=group, neg_group=group)
    assert found.kind == "quasi-separable"
    np.testing.assert_array_equal(found.support_pos, group == 0)
    np.testing.assert_array_equal(found.support_neg, group == 0)
    assert_separates(found, pos, neg, np.equal.outer(group, group))
    lam, trace = pnorm.minimize(pos, neg, p=4, pos_group=group, neg_group=group)
    assert trace.status == "separable"
    alone, _ = pnorm.minimize(pos[group == 0, :1], neg[group == 0, :1], p=4)
    np.testing.assert_allclose(lam, [alone[0], 0], atol=1e-6)


@needs("pima-indians-diabetes.csv")
def test_pima_real_features_overlap_and_the_papers_thresholds_do_so_rarely():
    X, y, H = pima()
    assert separability(X[y], X[~y]).kind == "overlapping"
    kinds = {300: [], 50: []}
    for size, seed in itertools.product(kinds, range(10)):
        rows = np.random.default_rng(seed).permutation(len(X))[:size]
        pos, neg = X[rows][y[rows]], X[rows][~y[rows]]
        found = separability(pos, neg, H)
        kinds[size].append(found.kind)
        assert_separates(found, H.evaluate(pos), H.evaluate(neg))
    assert kinds[300].count("quasi-separable") > 6
    assert kinds[50].count("separable") > 6


# The limit of training


def hand_made():
    """Quasi-separable: the second column has something on one positive and, negated, on one negative."""
    pos = np.array([[0.9, 0], [0.3, 0], [0.5, 0], [0.1, 1]])
    neg = np.array([[0.8, 0], [0.1, 0], [0.6, -1]])
    return pos, neg


@pytest.mark.parametrize("p", [1, 2, 8])
def test_the_limit_of_quasi_separable_data_is_that_of_long_descent(p):
    pos, neg = hand_made()
    limit = q_limit(pos, neg, None, p)
    assert limit.kind == "quasi-separable"
    assert not limit.lam_unique
    np.testing.assert_array_equal(limit.support_pos, [True, True, True, False])
    np.testing.assert_array_equal(limit.support_neg, [True, True, False])
    lam, trace = pnorm.train(pos, neg, p=p, t_max=20_000, tol=0)
    q = q_prime(pos, neg, None, lam)
    np.testing.assert_allclose(limit.dense(), q, rtol=1e-6, atol=1e-9)
    assert limit.log_objective == pytest.approx(trace.log_objective[-1], abs=1e-9)
    assert limit.log_objective <= trace.log_objective[-1] + limit.gap
    zero = limit.dense() == 0
    np.testing.assert_array_equal(zero, np.add.outer(limit.log_pos, limit.log_neg) == -np.inf)
    np.testing.assert_array_equal(zero, ~np.outer(limit.support_pos, limit.support_neg))


def test_the_limit_of_overlapping_data_is_that_of_the_minimiser():
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(0.4, 1, (25, 3)), rng.normal(0, 1, (30, 3))
    limit = q_limit(pos, neg, None, 4)
    lam, trace = pnorm.minimize(pos, neg, p=4)
    assert limit.kind == "overlapping"
    assert limit.lam_unique
    assert limit.gap <= 1e-10
    np.testing.assert_allclose(limit.lam, lam, rtol=1e-4)
    np.testing.assert_allclose(limit.dense(), q_prime(pos, neg, None, limit.lam), rtol=1e-12)
    assert limit.log_objective == pytest.approx(trace.log_objective[-1], abs=1e-10)
    F = (limit.dense().sum(axis=0) ** 4).sum()
    assert limit.log_objective == pytest.approx(np.log(F))
    doubled = q_limit(np.hstack([pos, pos]), np.hstack([neg, neg]), None, 4)
    assert not doubled.lam_unique
    np.testing.assert_allclose(doubled.dense(), limit.dense(), rtol=1e-5)


def test_the_limit_of_separable_data_is_zero():
    limit = q_limit([[1.0], [2.0]], [[0.0]], None, 4)
    assert limit.kind == "separable"
    assert limit.log_objective == -np.inf
    assert limit.lam is None
    assert not limit.lam_unique
    assert not limit.dense().any()
    assert not limit.support_pos.any()
    assert limit.direction[0] > 0


def test_rows_of_weight_zero_and_groups_show_in_q_prime():
    pos, neg = hand_made()
    weights, groups = {"pos_weight": [1, 0, 1, 1]}, {"pos_group": [0, 1, 0, 1], "neg_group": [0, 1, 1]}
    same = np.equal.outer(groups["pos_group"], groups["neg_group"])
    for options, kept in ((weights, np.outer([1, 0, 1, 1], [1, 1, 1])), (groups, same)):
        q = q_prime(pos, neg, None, [1.0, 2.0], **options)
        expected = np.exp(-np.subtract.outer(pos @ [1, 2], neg @ [1, 2]))
        np.testing.assert_allclose(q, expected * kept)
        assert q_limit(pos, neg, None, 2, **options).dense().shape == (4, 3)


@pytest.mark.parametrize("grouped", [False, True])
def test_same_limit_is_the_largest_change_over_pairs(grouped):
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(size=(7, 3)), rng.normal(size=(9, 3))
    groups = {"pos_group": rng.integers(0, 2, 7), "neg_group": rng.integers(0, 2, 9)} if grouped else {}
    for _ in range(20):
        a, b = rng.normal(size=(2, 3))
        qs = [q_prime(pos, neg, None, lam, **groups) for lam in (a, b)]
        pairs = qs[0] > 0
        largest = np.abs(np.log(qs[0][pairs]) - np.log(qs[1][pairs])).max()
        assert same_limit(pos, neg, None, a, b, **groups) == pytest.approx(largest)
        assert same_limit(pos, neg, None, a, a, **groups) == 0


# Convergence


def test_convergence_reads_rate_and_rounds_off_a_known_run():
    gap = 0.5 * 0.8 ** np.arange(60)
    T = len(gap) - 1
    zeros = np.zeros(T)
    trace = pnorm.Trace(zeros.astype(int), zeros, zeros, zeros, 7 + gap, "t_max", "", np.zeros(1))
    c = convergence(trace, 7.0, [0.1, 1e-3, 1e-12])
    np.testing.assert_allclose(c.gap, gap, atol=1e-14)
    assert c.rate == pytest.approx(0.8, rel=1e-6)
    assert c.rounds == {0.1: int((gap > 0.1).sum()), 1e-3: int((gap > 1e-3).sum()), 1e-12: None}


def test_convergence_takes_any_form_of_the_infimum():
    data = pnorm.datasets.tic_tac_toe()
    rows = (data.pos, data.neg, None, 4)
    lam, trace = pnorm.minimize(*rows)
    _, run = pnorm.train(*rows, t_max=300)
    forms = [trace, q_limit(*rows), certificate(*rows, lam), float(trace.log_objective[-1])]
    results = [convergence(run, form) for form in forms]
    for c in results:
        np.testing.assert_allclose(c.gap, results[0].gap, atol=1e-9)
        assert (np.diff(c.gap) <= 1e-12).all()
        assert 0 < c.rate < 1
        assert c.gap[c.rounds[1e-3]] <= 1e-3 < c.gap[c.rounds[1e-3] - 1]


def test_a_run_of_few_rounds_has_no_rate():
    data = pnorm.datasets.tic_tac_toe()
    _, run = pnorm.train(data.pos, data.neg, t_max=1)
    assert np.isnan(convergence(run, 0.0).rate)


# The distance from the limit


def weighted(rows, seed):
    """Rows of both sides with case weights and with query groups, as arguments by name."""
    rng = np.random.default_rng(seed)
    c = {f"{side}_weight": rng.integers(0, 4, len(X)) for side, X in zip(("pos", "neg"), rows, strict=True)}
    c["pos_weight"][0] = c["neg_weight"][0] = 1
    groups = {f"{side}_group": rng.integers(0, 3, len(X)) for side, X in zip(("pos", "neg"), rows, strict=True)}
    return {"plain": {}, "weights": c, "groups": groups, "both": c | groups}


def touching(seed):
    """Quasi-separable: four indicators that hold of some positives alone, beside two columns that overlap."""
    rng = np.random.default_rng(seed)
    pos, neg = [np.c_[rng.normal(size=(n, 2)), np.zeros((n, 4))] for n in (40, 50)]
    pos[:, 2:] = rng.random((40, 4)) < 0.05
    return pos, neg


@each_value()
@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("rows", [hand_made(), touching(0), ([[1.0], [2.0]], [[0.0], [0.5]])])
def test_the_bregman_distance_from_the_limit_is_the_excess_of_the_objective_over_p(rows, p):
    """B(q*, q) = (F - F*) / p over all pairs; in the last case F* = 0 and q* = 0."""
    rng = np.random.default_rng(p)
    n = np.shape(rows[0])[1]
    for options in ({}, {f"{side}_group": np.arange(len(X)) % 2 for side, X in zip(("pos", "neg"), rows, strict=True)}):
        limit = q_limit(*rows, None, p, **options)
        primed = limit.dense()
        for lam in rng.normal(size=(5, n)) * 0.5:
            q = [q * q.sum(axis=0) ** (p - 1) for q in (primed, q_prime(*rows, None, lam, **options))]
            excess = q[1].sum() - np.exp(limit.log_objective)  # F is the sum of q
            assert bregman_distance(*q, p) == pytest.approx(excess / p, rel=1e-5)


@pytest.mark.parametrize("options", ["plain", "weights"])
def test_convergence_has_the_bregman_distance_of_every_round(options):
    """A weight is a number of copies."""
    rows, p = touching(1), 3
    given = weighted(rows, 1)[options]
    _, run = pnorm.train(*rows, None, p, 12, **given)
    c = convergence(run, q_limit(*rows, None, p, **given))
    rows = [np.repeat(X, copies, axis=0) for X, copies in zip(rows, given.values() or (1, 1), strict=True)]
    limit = q_limit(*rows, None, p)
    assert limit.kind == "quasi-separable"
    star = limit.dense() * limit.dense().sum(axis=0) ** (p - 1)
    for t, found in enumerate(c.bregman):
        q = q_prime(*rows, None, run.lam_at(t))
        expected = bregman_distance(star, q * q.sum(axis=0) ** (p - 1), p) / bregman_distance(0 * star, star, p)
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-8)
    assert convergence(run, limit.log_objective).bregman is None
    far = pnorm.Trace(*np.zeros((4, 0)), np.array([limit.log_objective + 1000]), "t_max", "", np.zeros(6))
    assert convergence(far, limit).bregman == [np.inf]


@each_value()
@pytest.mark.parametrize("options", ["plain", "weights", "groups", "both"])
@pytest.mark.parametrize("seed", trials(6))
def test_the_distance_from_the_limit_is_that_over_all_pairs(options, seed):
    rng = np.random.default_rng(seed)
    rows = touching(seed) if seed % 2 else tuple(rng.normal(size=(n, 3)) for n in (30, 25))
    given = weighted(rows, seed)[options]
    limit = q_limit(*rows, None, 2, **given)
    assert limit.kind in ("overlapping", "quasi-separable")
    c = np.outer(given.get("pos_weight", np.ones(len(rows[0]))), given.get("neg_weight", np.ones(len(rows[1]))))
    for lam in (limit.lam, limit.lam + 1e-3, *rng.normal(size=(4, len(limit.lam)))):
        apart = c * np.abs(q_prime(*rows, None, lam, **given) - limit.dense())
        f_pos, f_neg = rows[0] @ lam, rows[1] @ lam
        expected = apart.sum() / (c * limit.dense()).sum()
        assert limit.distance(f_pos, f_neg) == pytest.approx(expected, rel=1e-9, abs=1e-14)
        assert limit.distance(f_pos + 500, f_neg + 500) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert limit.distance(1000 * rng.normal(size=len(c)), np.zeros(c.shape[1])) == np.inf


def test_the_distance_from_the_limit_vanishes_where_coefficients_go_to_infinity():
    pos, neg = touching(2)
    limit = q_limit(pos, neg, None, 4)
    assert limit.kind == "quasi-separable"
    far, farther = [limit.lam + s * limit.direction for s in (20.0, 47.8)]
    assert same_limit(pos, neg, None, far, farther) > 27
    distances = [limit.distance(pos @ lam, neg @ lam) for lam in (far, farther)]
    q = [q_prime(pos, neg, None, lam) for lam in (far, farther)]
    assert 1e-10 < distances[0] < 1e-7
    assert distances[0] == pytest.approx(np.abs(q[0] - q[1]).sum() / q[1].sum(), rel=1e-3)
    assert distances[1] < 1e-12
    lam, run = pnorm.train(pos, neg, None, 4, t_max=50)
    assert same_limit(pos, neg, None, lam, limit.lam) > 27
    assert np.abs(q_prime(pos, neg, None, lam) - limit.dense()).max() < 1e-6
    assert limit.distance(pos @ lam, neg @ lam) < 1e-8
    on_the_way = [limit.distance(pos @ run.lam_at(t), neg @ run.lam_at(t)) for t in (1, 3, 5, 10, run.n_iter)]
    assert (np.diff(on_the_way) < 0).all()
    assert tells(
        " ".join(report(pos, neg, None, 4, lam).split()),
        "above its infimum; q' = exp(-score difference) is within 1e-06 of its limit",
    )
    assert on_the_way[0] > 0.1


def test_the_distance_from_a_limit_that_is_zero_or_unknown_is_infinite():
    separable = q_limit([[1.0], [2.0]], [[0.0]], None, 4)
    assert separable.distance([1e3, 1e3], [0.0]) == np.inf
    assert dataclasses.replace(q_limit(*hand_made(), None, 2), gap=np.inf).distance(np.ones(4), np.ones(3)) == np.inf


# Bregman geometry: identities of COLT 2006, Appendix B, on arbitrary small problems

powers = st.sampled_from([1.0, 1.5, 2.0, 4.0, 16.0, 64.0])
shapes = st.tuples(st.integers(1, 4), st.integers(1, 4))
numbers = st.floats(-2, 2, width=32)


def matrices(shape, elements=numbers):
    return arrays(float, shape, elements=elements)


@st.composite
def coefficients(draw):
    """Outputs of both sides and coefficients."""
    (n_pos, n_neg), n = draw(shapes), draw(st.integers(1, 3))
    return draw(matrices((n_pos, n))), draw(matrices((n_neg, n))), draw(matrices(n)), draw(powers)


def q_of(pos, neg, lam, p):
    """q_ik = q'_ik (sum_i' q'_i'k) ** (p - 1)."""
    q = np.exp(-np.subtract.outer(pos @ lam, neg @ lam))
    return q * q.sum(axis=0) ** (p - 1)


def gradient(q, p):
    return np.log(q) - np.log(p) / p - (p - 1) / p * np.log(q.sum(axis=0)) + 1 / p


@given(coefficients())
@examples(15)
def test_the_distance_from_zero_is_the_objective(problem):
    pos, neg, lam, p = problem
    q = q_of(pos, neg, lam, p)
    F = (np.exp(-np.subtract.outer(pos @ lam, neg @ lam)).sum(axis=0) ** p).sum()
    assert bregman_distance(np.zeros_like(q), q, p) == pytest.approx(F / p, rel=1e-9)


@given(shapes.flatmap(lambda s: st.tuples(matrices(s), matrices(s))), powers)
@examples(15)
def test_the_projection_adds_to_the_gradient(q_and_v, p):
    q, v = np.exp(q_and_v[0]), q_and_v[1]
    moved = legendre_bregman_projection(q, v, p)
    np.testing.assert_allclose(gradient(moved, p), gradient(q, p) + v, atol=1e-9)


@given(coefficients())
@examples(10)
def test_coefficients_move_the_start_to_their_q(problem):
    pos, neg, lam, p = problem
    start = np.full((len(pos), len(neg)), float(len(pos)) ** (p - 1))
    moved = legendre_bregman_projection(start, -np.subtract.outer(pos @ lam, neg @ lam), p)
    np.testing.assert_allclose(moved, q_of(pos, neg, lam, p), rtol=1e-9)


@given(shapes.flatmap(lambda s: st.tuples(matrices(s), matrices(s), matrices(s))), powers)
@examples(15)
def test_the_distance_is_the_definition_and_nonnegative(logs, p):
    a, b = np.exp(logs[0]), np.exp(logs[1])
    a[logs[2] > 1] = 0
    expected = phi(a, p) - phi(b, p) - (gradient(b, p) * (a - b)).sum()
    assert bregman_distance(a, b, p) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert bregman_distance(a, b, p) >= 0
    assert bregman_distance(b, b, p) <= 1e-13 * b.sum()
    base = float(len(a)) ** (p - 1)
    if base < 1e10:
        expected = phi(a, p) - (1 - np.log(p)) / p * a.sum() + len(a) ** p * a.shape[1] / p
        assert primal_objective(a, p) == pytest.approx(expected, rel=1e-7, abs=1e-9 * base)


@each_value()
@pytest.mark.parametrize("p", [1, 2, 4, 16])
@pytest.mark.parametrize("seed", trials(8))
def test_pythagoras_at_the_minimiser(p, seed):
    """B(P, q) = B(P, q*) + B(q*, q) for every P with matching moments and every q of some coefficients."""
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.2, 1, (6, 2)), rng.normal(0, 1, (7, 2))
    lam, trace = pnorm.minimize(pos, neg, p=p, tol=1e-13)
    if trace.status == "separable":
        pytest.skip("no minimiser")
    best = q_of(pos, neg, lam, p)
    q = q_of(pos, neg, rng.normal(0, 0.3, 2), p)
    for P in (np.zeros_like(best), best):
        whole, parts = bregman_distance(P, q, p), bregman_distance(P, best, p) + bregman_distance(best, q, p)
        assert whole == pytest.approx(parts, rel=1e-6)
    # Another P with P.T M = 0: a change of q* in the null space of its moments.
    M = (pos[:, None] - neg[None]).reshape(-1, 2)
    null = np.linalg.svd(np.column_stack([M]).T)[2][2:]
    change = (null.T @ rng.normal(size=len(null))).reshape(best.shape)
    P = best + change * 0.5 * (best / np.abs(change)).min()
    assert (P > 0).all()
    whole, parts = bregman_distance(P, q, p), bregman_distance(P, best, p) + bregman_distance(best, q, p)
    assert whole == pytest.approx(parts, rel=1e-6)
    assert primal_objective(P, p) >= primal_objective(best, p) * (1 - 1e-12)


def test_the_geometry_is_safe_at_zero_and_at_the_edge_of_doubles():
    q = np.array([[0.0, 1e-300], [0.0, 1e200]])
    assert np.isfinite(phi(q, 64))
    assert bregman_distance(q, q, 64) == 0
    assert bregman_distance([[1.0]], [[0.0]], 2) == np.inf
    assert bregman_distance([[0.0], [1.0]], [[1.0], [0.0]], 2) == np.inf
    np.testing.assert_array_equal(legendre_bregman_projection([[0.0], [0.0]], [[1.0], [2.0]], 3), 0)
    assert legendre_bregman_projection([[1e300]], [[700.0]], 64)[0, 0] == np.inf
    np.testing.assert_allclose(
        legendre_bregman_projection([[1e300]], [[-20.0]], 64), np.exp(300 * np.log(10) - 20.0 * 64)
    )


@each_value()
@pytest.mark.parametrize("penalty", ["coefficients", "shapes"])
@pytest.mark.parametrize(
    "options", [{"l2": 0.3}, {"l1": 0.1}, {"l1": 0.1, "l2": 0.3}, {"l1": 0.05, "signs": [1, 0, -1]}]
)
def test_the_certificate_is_that_of_minimize_with_the_same_options(options, penalty):
    rng = np.random.default_rng(6)
    scale = [1.0, 30.0, 0.2]
    pos, neg = scale * rng.normal(0.4, 1, (30, 3)), scale * rng.normal(0, 1, (40, 3))
    coded = rankers.quantile_thresholds(pos, neg, 5)
    signs = options.get("signs", [0, 0, 0])
    for H in (None, coded):
        how = options | {"penalty": penalty, "signs": signs if H is None else np.array(signs)[H.column]}
        lam, trace = pnorm.minimize(pos, neg, H, 4, **how)
        found = certificate(pos, neg, H, 4, lam, **how)
        assert trace.status == "converged"
        assert found.objective == pytest.approx(trace.objective[-1], rel=1e-13)
        assert found.gap == pytest.approx(trace.gap, abs=1e-11)
        assert found.gap < 1e-9
        other = certificate(pos, neg, H, 4, 0.9 * lam, **how)
        assert other.objective > trace.objective[-1] + 1e-4
        assert other.lower_bound <= trace.objective[-1] + 1e-12
        if H is not None and "l2" not in options:
            continue  # to l1 alone, cuts count alike
        wrong = how | {"penalty": "coefficients" if penalty == "shapes" else "shapes"}
        assert certificate(pos, neg, H, 4, lam, **wrong).gap > 1e-4


# The report


@pytest.mark.parametrize(
    ("pos", "neg", "options", "phrases"),
    [
        ([[1.0], [3.0]], [[2.0]], {}, ["overlapping", "2 of 2 positives", "the minimiser is unique", "pnorm.minimize"]),
        (*hand_made(), {}, ["quasi-separable", "3 of 4 positives and 2 of 3 negatives", "go to infinity", "l2"]),
        (
            [[1.0], [3.0]],
            [[0.0]],
            {},
            ["separable", "these coefficients put every positive above every negative", "the infimum of F_p is 0"],
        ),
        (
            [[1.0], [3.0]],
            [[0.0]],
            {"l2": 0.5},
            ["0.25 |lam|^2", "always exists and is unique", "with the same penalty"],
        ),
        (
            [[1.0], [3.0]],
            [[2.0]],
            {"l1": 0.5, "l2": 0.5},
            ["log F_p + 0.5 |lam|_1 + 0.25 |lam|^2 =", "always exists and is"],
        ),
        ([[1.0], [3.0]], [[2.0]], {"l1": 0.5}, ["log F_p + 0.5 |lam|_1 =", "score differences are unique, unless"]),
        ([[1.0], [3.0]], [[2.0]], {"l1": 0.5, "penalty": "shapes"}, ["0.5 |lam|_1 (penalty of shapes) ="]),
        (
            [[1.0], [3.0]],
            [[0.0]],
            {"l1": 0.5},
            ["separable: some", "none: l1 is too small", "these coefficients put", "a larger l1"],
        ),
        ([[1.0], [3.0]], [[0.0]], {"l1": 40.0}, ["to 1e-12", "pnorm.minimize with the same penalty"]),
        ([[1.0], [3.0]], [[2.0]], {"signs": [1]}, ["1 coefficient with a sign", "overlapping within the signs: a min"]),
        ([[1.0], [3.0]], [[0.0]], {"signs": [1]}, ["separable within the signs: some"]),
        (
            [[1.0, 1.0], [3.0, 3.0]],
            [[2.0, 2.0]],
            {},
            ["the coefficients (lam) are not: no score difference depends on 1 combination of the weak rankers"],
        ),
        ([[1.0, 1.0], [3.0, 3.0]], [[2.0, 2.0]], {"signs": [1, 1]}, ["(lam) may not be: no score difference depends"]),
        ([[1.0], [3.0]], [[2.0]], {"pos_group": [0, 0], "neg_group": [0]}, ["1 negative, 1 weak ranker, 1 group"]),
    ],
)
def test_the_report_says_what_matters(pos, neg, options, phrases):
    lam = [0.9] * len(pos[0])
    text = " ".join(report(pos, neg, None, 4, lam, **options).split())
    for phrase in phrases:
        assert phrase in text


def test_the_report_of_a_minimiser_asks_for_nothing():
    for options in ({}, {"l2": 0.1}, {"l1": 0.1}, {"l1": 0.1, "l2": 0.2, "penalty": "shapes"}, {"signs": [-1]}):
        lam, _ = pnorm.minimize([[1.0], [3.0]], [[2.0]], p=4, **options)
        text = report([[1.0], [3.0]], [[2.0]], None, 4, lam, **options)
        assert "none needed: this is the minimiser" in text
        assert "pnorm.minimize" in report([[1.0], [3.0]], [[2.0]], None, 4, lam - 0.1, **options)


def test_the_report_prints_an_excess_that_rounds_to_zero_as_a_bound():
    rows = [[1.0], [3.0]], [[2.0]]
    lam, _ = pnorm.minimize(*rows, p=4, tol=0.0)
    text = report(*rows, None, 4, lam)
    assert tells(text, "log F_p is less than 2e-12 above its infimum")
    assert "log F_p is 0 above" not in text
    excess = certificate(*rows, None, 4, lam + 0.01).log_objective - certificate(*rows, None, 4, lam).log_objective
    assert f"log F_p is {excess:.2g} above its infimum" in report(*rows, None, 4, lam + 0.01)


def test_the_report_prints_no_excess_if_the_limit_has_no_certificate(monkeypatch):
    limit = dataclasses.replace(q_limit([[1.0], [3.0]], [[2.0]], None, 4), gap=np.inf)
    monkeypatch.setattr(pnorm.diagnostics, "_limit", lambda *_: limit)
    assert tells(report([[1.0], [3.0]], [[2.0]], None, 4, [0.9]), "log F_p is an unknown amount above its infimum")


def test_the_advice_on_separable_data_depends_on_the_coefficients():
    rows = [[1.0], [3.0]], [[0.0]]
    right, wrong = (" ".join(report(*rows, None, 4, [lam]).split()) for lam in (0.9, -0.9))
    among = "pass l2 > 0, stop early, or use held-out rows"
    assert "these coefficients put every positive above every negative" in right
    assert f"to choose among such coefficients {among}; pnorm.minimize returns those of the widest margin" in right
    assert "call pnorm.minimize" not in right
    assert "these coefficients do not put every positive above every negative" in wrong
    assert f"call pnorm.minimize for such coefficients; to choose among them {among}" in wrong


@needs("wdbc.data")
def test_the_report_fits_a_page():
    pos, neg, H = wdbc()
    lam, _ = pnorm.train(pos, neg, H, 16, t_max=200)
    lines = report(pos, neg, H, 16, lam).splitlines()
    assert len(lines) < 25
    assert max(map(len, lines)) <= 100


# Cases that were wrong once


def test_the_limit_of_quasi_separable_data_with_an_offset():
    pos = [[1002, 1000002], [1000, 1000000], [1001, 1000001], [1002, 1000001]]
    neg = [[1000, 1000000], [1002, 1000002]]
    limit = q_limit(pos, neg, None, 2)
    moved = q_limit(np.subtract(pos, [1000, 1000000]), np.subtract(neg, [1000, 1000000]), None, 2)
    assert limit.kind == moved.kind == separability(pos, neg).kind == "quasi-separable"
    assert limit.log_objective == pytest.approx(moved.log_objective)
    assert "quasi-separable" in report(pos, neg, None, 2, [0, 0])


def test_quasi_separable_data_with_uneven_weights_are_not_called_overlapping():
    pos, neg = [[1, 1, 0], [0, 0, 1]], [[1, 1, 1], [1, 0, 0], [1, 0, 1], [0, 0, 1], [0, 1, 1]]
    weights = {
        "pos_weight": [0.31642128, 0.01085435],
        "neg_weight": [0.38291794, 0.01157087, 62.633283, 0.04551571, 0.01859722],
    }
    assert q_limit(pos, neg, None, 4, **weights).kind == separability(pos, neg).kind == "quasi-separable"


def test_separable_data_too_small_for_a_margin_of_one():
    pos = np.outer([-1, 1, -1, 1], [5e-324, -5e-324, 5e-324])
    neg = [[1.0, 2.0, 0.0], [3.0, 4.0, 1.0], [0.0, 3.0, 1.0], [2.0, 0.0, 0.0], [4.0, 2.0, 1.0]]
    groups = {"pos_group": [0, 1, 0, 1], "neg_group": [0, 1, 1, 1, 0]}
    with np.errstate(over="raise"):
        lam, trace = pnorm.minimize(pos, neg, None, 2, signs=[1, -1, 0], pos_weight=[1, 2, 1, 3], **groups)
    assert trace.status == "separable"
    assert np.isfinite(lam).all()


def test_a_working_set_says_what_the_linear_program_of_all_rows_says(monkeypatch):
    """It decides where rows are many; exact arithmetic is the judge of few."""
    decided = []
    monkeypatch.setattr(_separability, "_ROWS", 0)
    find = _separability.separation_of_parts
    monkeypatch.setattr(
        _separability, "separation_of_parts", lambda *arguments: decided.append(find(*arguments)) or decided[-1]
    )
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_pos, n_neg = rng.integers(1, 8, 2)
        pos, neg = (rng.integers(0, 1 + seed % 3 + 1, (n, 2)).astype(float) for n in (n_pos, n_neg))
        weights = {"pos_weight": 10 ** rng.uniform(-6, 6, n_pos), "neg_weight": 10 ** rng.uniform(-6, 6, n_neg)}
        limit = q_limit(pos, neg, None, [1, 4, 16][seed % 3], **weights)
        kind, on_pos, on_neg = exact.hulls(pos, neg)
        assert limit.kind == separability(pos, neg).kind == kind
        if kind == "quasi-separable":
            assert set(np.flatnonzero(limit.support_pos)) == on_pos
            assert set(np.flatnonzero(limit.support_neg)) == on_neg
    assert {found.kind for found in decided} == {"overlapping", "quasi-separable", "separable"}


@needs("a9a.libsvm.gz")
def test_a9a_with_its_dependent_indicators_is_settled():
    """123 sparse indicators, 16 combinations of them dependent."""
    rows, columns, y = [], [], []
    with gzip.open(HOME / "a9a.libsvm.gz", "rt") as lines:
        for i, line in enumerate(itertools.islice(lines, 8000)):
            label, *entries = line.split()
            y.append(label == "+1")
            columns += [int(entry.split(":")[0]) - 1 for entry in entries]
            rows += [i] * len(entries)
    X, y = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), (len(y), 123)), np.array(y)
    lam, trace = pnorm.minimize(X[y], X[~y], p=4)
    assert trace.status == "separable"
    assert trace.gap <= 1e-9
    assert np.abs(lam).max() < 20
    f, g = pnorm.score(X[y], None, trace.direction), pnorm.score(X[~y], None, trace.direction)
    assert f.min() >= g.max()
