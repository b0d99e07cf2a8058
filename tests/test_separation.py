"""Data without a minimiser: their kind in the trace, and finite coefficients that rank as infinite ones do, pair by pair."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import partitions
import pytest
import scipy.sparse
from facts import raises, tells, warns
from repeats import each_value, trials
from sklearn.exceptions import ConvergenceWarning

import pnorm
from pnorm import diagnostics, metrics
from pnorm.diagnostics import SeparationWarning
from pnorm.sklearn import PNormPush


def exact(X, lam):
    """The scores of rows, as fractions."""
    lam = [Fraction(x) for x in lam]
    return [sum((x * Fraction(y) for x, y in zip(lam, row, strict=True)), Fraction()) for row in np.asarray(X).tolist()]


def in_pairs(f_pos, f_neg, groups):
    """The differences of scores of all pairs, within groups."""
    of_pos, of_neg = groups if groups else ([0] * len(f_pos), [0] * len(f_neg))
    return [f - g for f, a in zip(f_pos, of_pos, strict=True) for g, b in zip(f_neg, of_neg, strict=True) if a == b]


def check(pos, neg, lam, trace, groups=None):
    """Compare the ranking at infinity with its definition, for all pairs, in exact arithmetic."""
    at, d, far = [in_pairs(exact(pos, x), exact(neg, x), groups) for x in (lam, trace.direction, trace.lam_along())]
    assert min(d) == 0 < max(d)
    separated = [k for k, x in enumerate(d) if x > 0]
    assert min(far[k] for k in separated) > 1 - 1e-6
    size = max(map(abs, at))
    for k, x in enumerate(d):
        if x == 0 and abs(at[k]) > 1e-9 * size:
            assert (far[k] > 0) == (at[k] > 0)
    s = Fraction(trace.direction_step)
    if s > 0:  # a smaller one is too small
        assert min(at[k] + Fraction(0.999) * s * d[k] for k in separated) < 1
    else:
        assert s == 0
    np.testing.assert_array_equal(trace.lam_along(), lam + trace.direction_step * trace.direction)
    scores = [pnorm.score(X, None, trace.lam_along()) for X in (pos, neg)]  # in doubles, as a user ranks them
    rounded = in_pairs(*scores, groups)
    assert min(rounded[k] for k in separated) > 0.9


def quasi_separable(seed, n_pos=20, n_neg=25, whole=False):
    """Columns that overlap, and two that some positives and, negated, some negatives have."""
    rng = np.random.default_rng(seed)
    pos, neg = rng.normal(0.3, 1, (n_pos, 4)), rng.normal(0, 1, (n_neg, 4))
    if whole:
        pos, neg = np.rint(pos), np.rint(neg)
    for j, share in ((2, 0.2), (3, 0.3)):
        pos[:, j], neg[:, j] = rng.random(n_pos) < share, -(rng.random(n_neg) < 0.1).astype(float)
    return pos, neg


def far_apart(pos):
    return pos + np.array([20.0, 0.0, 0.0, 0.0])


@each_value()
@pytest.mark.parametrize("p", [1, 4, 64])
@pytest.mark.parametrize("seed", trials(6))
def test_finite_coefficients_rank_every_training_pair_as_infinite_ones(seed, p):
    pos, neg = quasi_separable(seed, whole=seed % 2 == 1)
    lam, trace = pnorm.minimize(pos, neg, p=p)
    assert (trace.status, trace.separation) == ("separable", "quasi-separable")
    assert trace.separation == diagnostics.separability(pos, neg).kind
    check(pos, neg, lam, trace)


def test_so_they_do_on_small_whole_numbers():
    first = 0
    seen = 0
    for seed in range(first, first + 100):
        rng = np.random.default_rng(seed)
        pos, neg = rng.integers(0, 3, (6, 3)).astype(float), rng.integers(0, 3, (7, 3)).astype(float)
        lam, trace = pnorm.minimize(pos, neg, p=4)
        assert trace.separation in (None, diagnostics.separability(pos, neg).kind)
        if trace.separation == "quasi-separable":
            check(pos, neg, lam, trace)
            seen += 1
    assert seen >= 5


@pytest.mark.parametrize("seed", trials(4))
def test_pairs_are_those_of_the_groups(seed):
    rng = np.random.default_rng(seed)
    pos, neg = quasi_separable(seed, 24, 30)
    groups = rng.integers(0, 3, 24), rng.integers(0, 3, 30)
    level = rng.normal(size=3)  # of no meaning, as groups are apart
    pos[:, 3], neg[:, 3] = pos[:, 3] + level[groups[0]], neg[:, 3] + level[groups[1]]
    pos, neg = np.ldexp(np.rint(np.ldexp(pos, 20)), -20), np.ldexp(np.rint(np.ldexp(neg, 20)), -20)
    lam, trace = pnorm.minimize(pos, neg, p=2, pos_group=groups[0], neg_group=groups[1])
    assert trace.separation == "quasi-separable"
    check(pos, neg, lam, trace, [x.tolist() for x in groups])


@pytest.mark.parametrize("how", [{"push": "bottom"}, {"signs": [0, 1, 1, 0]}, {"loss": "logistic"}], ids=str)
def test_and_of_any_problem(how):
    pos, neg = quasi_separable(3)
    lam, trace = pnorm.minimize(pos, neg, p=1 if "loss" in how else 4, **how)
    assert trace.separation == "quasi-separable"
    check(pos, neg, lam, trace)
    if "signs" in how:
        assert (trace.lam_along() * how["signs"] >= 0).all()


def test_rows_of_weight_zero_are_in_no_pair():
    pos, neg = quasi_separable(1)
    whole = pnorm.minimize(pos, neg, p=4)[1].lam_along()
    more = np.vstack([pos, [[0, 0, -5, -5]]])
    weight = np.r_[np.ones(len(pos)), 0.0]
    np.testing.assert_allclose(pnorm.minimize(more, neg, p=4, pos_weight=weight)[1].lam_along(), whole, rtol=1e-6)


@pytest.mark.parametrize("seed", trials(2))
def test_all_storages_go_equally_far(seed):
    pos, neg = quasi_separable(seed, 900, 700)
    far = pnorm.minimize(pos, neg, p=4)[1]
    assert far.direction_step > 0
    least = in_pairs(pnorm.score(pos, None, far.lam_along()), pnorm.score(neg, None, far.lam_along()), None)
    d = in_pairs(pnorm.score(pos, None, far.direction), pnorm.score(neg, None, far.direction), None)
    assert min(x for x, y in zip(least, d, strict=True) if y > 0) == pytest.approx(1, abs=1e-6)
    for sides in (map(scipy.sparse.csr_array, (pos, neg)), map(np.asfortranarray, (pos, neg))):
        again = pnorm.minimize(*sides, p=4)[1]
        np.testing.assert_allclose(again.lam_along(), far.lam_along(), rtol=0, atol=1e-6)
    there = partitions.minimize(pos, neg, p=4, rows=300)[1]
    assert there.separation == far.separation == "quasi-separable"
    np.testing.assert_array_equal(there.direction, far.direction)
    np.testing.assert_allclose(there.lam_along(), far.lam_along(), rtol=0, atol=1e-6)


def test_scaled_columns_and_cuts():
    pos, neg = quasi_separable(2)
    for H in (pnorm.rankers.normalized(pos, neg), pnorm.rankers.quantile_thresholds(pos, neg, 2)):
        lam, trace = pnorm.minimize(pos, neg, H, p=4)
        assert trace.separation == "quasi-separable"
        at, d, far = [
            np.array(in_pairs(pnorm.score(pos, H, x), pnorm.score(neg, H, x), None))
            for x in (lam, trace.direction, trace.lam_along())
        ]
        separated = d > 1e-9
        assert far[separated].min() > 1 - 1e-6
        np.testing.assert_allclose(far[~separated], at[~separated], rtol=0, atol=1e-9)


# The kind in the trace ---------------------------------------------------------------------------------


def test_the_trace_names_the_kind_of_the_data():
    pos, neg = quasi_separable(0)
    apart = far_apart(pos)
    assert pnorm.minimize(apart, neg)[1].separation == "separable"
    assert pnorm.train(apart, neg)[1].separation == "separable"
    assert pnorm.train(pos, neg)[1].separation is None
    for l2 in (1e-6, 1.0):
        for sides in ((pos, neg), (apart, neg)):
            lam, trace = pnorm.minimize(*sides, l2=l2)
            assert trace.separation is None
            np.testing.assert_array_equal(trace.lam_along(), lam)
    path = pnorm.minimize_path(pos, neg, p=4, l2=[1.0, 0.0])
    assert path.separation == (None, "quasi-separable")
    assert "quasi-separable" in repr(path.traces[1])
    assert "\ndata       quasi-separable\n" in str(path.traces[1])


def test_the_trace_of_separable_data_needs_no_step():
    pos, neg = quasi_separable(0)
    lam, trace = pnorm.minimize(far_apart(pos), neg)
    np.testing.assert_array_equal(trace.lam_along(), lam)
    np.testing.assert_array_equal(trace.lam_along(1.0), 2 * lam)
    assert trace.direction_step is None


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_the_intercept_along_the_direction_leaves_the_support_as_it_was(push):
    pos, neg = quasi_separable(4)
    pos, neg = pos + 4.0, neg + 4.0  # the support is at a level of its own
    for sides, n in (((pos, neg), 40), ((pos + 2.0**14, neg + 2.0**14), 0)):  # columns that are centred
        lam, trace = pnorm.minimize(*sides, p=4, push=push)
        on = [pnorm.score(X, None, trace.direction) == trace._level for X in sides]
        assert trace._level != 0
        assert n == 0 or 0 < sum(map(np.count_nonzero, on)) < n
        for s in (None, 0.5, 100.0):
            for X, some in zip(sides, on, strict=True):
                near = pnorm.score(X[some], None, lam) + trace.intercept
                far = pnorm.score(X[some], None, trace.lam_along(s)) + trace.intercept_along(s)
                np.testing.assert_allclose(far, near, rtol=0, atol=1e-6)
        P = [pnorm.score(X, None, trace.lam_along(1e3)) + trace.intercept_along(1e3) for X in sides]
        assert P[0][~on[0]].min() > 100 > -100 > P[1][~on[1]].max()


def test_steps_that_cannot_be_taken_are_refused():
    pos, neg = quasi_separable(0)
    _, trace = pnorm.minimize(pos, neg)
    steep = replace(trace, direction=4.0 * trace.direction)
    with raises(ValueError, "so large that a coefficient overflows"):
        steep.lam_along(1e308)
    for s, message in ((-1.0, "^s must be"), (np.inf, "^s must be"), (np.nan, "^s must be")):
        with raises(ValueError, message):
            trace.lam_along(s)
    with raises(ValueError, "the trace has no direction; leave s out"):
        pnorm.minimize(pos, neg, l2=1.0)[1].lam_along(2.0)
    with pytest.raises(ValueError, match="pass s, such as 1e6"):
        replace(trace, direction_step=None).lam_along()
    np.testing.assert_array_equal(trace.lam_along(0.0), trace.lam_at(trace.n_iter))


def test_the_trace_says_what_was_minimised_and_what_is_not_proved():
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(1, 1, (60, 8)), rng.normal(0, 1, (80, 8))
    _, trace = pnorm.minimize(pos, neg, p=64, max_iter=1)
    assert trace.gap == np.inf
    assert repr(trace).endswith(", p = 64, no certificate>")
    assert tells(str(trace), "no certificate (trace.gap is inf); l2 > 0 always gives one")
    assert repr(pnorm.minimize(pos, neg, p=4, l1=0.1, l2=0.25)[1]).endswith(", p = 4, l1 = 0.1, l2 = 0.25>")
    assert repr(pnorm.train(pos, neg, p=4)[1]).endswith(", p = 4>")
    other = pnorm.train(pos, neg, loss="squared_hinge", price=pnorm.objectives.Power(3), t_max=3)[1]
    assert repr(other).endswith(", Power(3) of the squared_hinge loss>")
    for shown in (trace, other, pnorm.minimize(*quasi_separable(0))[1], pnorm.minimize(pos + 9, neg)[1]):
        assert max(map(len, str(shown).splitlines())) <= 80


# What reads it -----------------------------------------------------------------------------------------


def test_held_out_rows_are_scored_by_coefficients_that_rank_as_infinite_ones():
    pos, neg = quasi_separable(5, 60, 60)
    found = pnorm.cross_validate(pos, neg, None, [4], l2=[1.0, 0.0], folds=3, metric="auc")
    kinds = []
    for k in range(3):
        train = [X[own != k] for X, own in zip((pos, neg), found.folds, strict=True)]
        held = [X[own == k] for X, own in zip((pos, neg), found.folds, strict=True)]
        for s, l2 in enumerate((1.0, 0.0)):
            _, trace = pnorm.minimize(*train, p=4, l2=l2, tol=1e-6)
            kinds.append(trace.separation)
            expected = metrics.auc(*[pnorm.score(X, None, trace.lam_along()) for X in held])
            assert found.scores[0, k, s] == pytest.approx(expected, abs=1e-12)
    assert kinds == [None, "quasi-separable"] * 3


def test_the_estimator_ranks_as_infinite_coefficients_do():
    pos, neg = quasi_separable(4, 60, 60)
    X, y = np.vstack([pos, neg]), np.repeat([1, 0], 60)
    model = PNormPush(rankers="columns", p=4, l2=0.0)
    with pytest.warns(ConvergenceWarning, match="quasi-separable"):
        model.fit(X, y)
    H = model.rankers_
    lam, trace = pnorm.minimize(pos, neg, H, p=4, tol=1e-6)
    np.testing.assert_array_equal(model.lam_, trace.lam_along())
    np.testing.assert_array_equal(model.trace_.lam_along(), model.lam_)
    assert model.trace_.intercept == model.trace_.intercept_along() == trace.intercept_along()
    logits = 5 * (pnorm.score(X, H, model.lam_) + trace.intercept_along())
    assert model.separation_ == "quasi-separable"
    with warns(SeparationWarning, "quasi-separable: the probabilities hold for rows of the support only"):
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-logits)), rtol=1e-9)


def test_probabilities_of_data_without_a_minimiser_come_with_a_warning():
    pos, neg = quasi_separable(0)
    for sides, said in (((pos, neg), "are quasi-separable: "), ((far_apart(pos), neg), "are separable: ")):
        lam, trace = pnorm.minimize(*sides, p=4)
        with warns(SeparationWarning, said) as caught:
            P = pnorm.probability(pos, None, lam, 4, trace.intercept)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(pnorm.probability(pos, None, lam, 4, float(trace.intercept)), P)
            assert trace.intercept == trace.intercepts[-1]
            lam, trace = pnorm.minimize(*sides, p=4, l2=0.1)
            pnorm.probability(pos, None, lam, 4, trace.intercept)
