"""Measures against loops over pairs and over all orders of ties, against scikit-learn, and their laws."""

import copy
import itertools
import math
import pickle
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from facts import warns
from hypothesis import given as drawn
from hypothesis import strategies as st
from repeats import each_value, trials
from scipy.stats import beta, binom, norm
from scipy.stats import t as student

import pnorm
from pnorm import metrics
from pnorm.metrics import _shares
from pnorm.metrics._distinct import DistinctScores
from pnorm.metrics._shares import first_rows

SCALAR = {
    "r_max": metrics.r_max,
    "positives_at_top": metrics.positives_at_top,
    "auc": metrics.auc,
    "partial_auc": lambda *f, **more: metrics.partial_auc(*f, 0.4, min_fpr=0.1, **more),
    "two_way": lambda *f, **more: metrics.partial_auc(*f, 0.6, min_tpr=0.3, standardized=True, **more),
    "precision_at": lambda *f, **more: metrics.precision_at(*f, 0.3, **more),
    "recall_at": lambda *f, **more: metrics.recall_at(*f, 5, **more),
    "enrichment_factor": lambda *f, **more: metrics.enrichment_factor(*f, 0.25, **more),
    "average_precision": partial(metrics.average_precision, stratified=True),
    "p_norm_risk": lambda *f, **more: metrics.p_norm_risk(*f, 4, 0.3, **more),
    "bedroc": metrics.bedroc,
    "discounted_gain_at_top": lambda *f, **more: metrics.discounted_gain_at_top(*f, 7, **more),
}
FIRST_ROWS = ("precision_at", "recall_at", "enrichment_factor")
"""Measures that have intervals from resamples only with weights."""
WEIGHTED = [name for name in SCALAR if name not in ("bedroc", "discounted_gain_at_top")]


def lists(seed, n=20, sizes=((1, 1), (1, 9), (8, 1), (6, 7), (25, 33))):
    """Scores with many ties, some, and none."""
    rng = np.random.default_rng(seed)
    for n_pos, n_neg in sizes:
        for levels in (2, 5, 10**6):
            for _ in range(n):
                yield rng.integers(0, levels, n_pos) / 7, rng.integers(0, levels, n_neg) / 7


def orders(f_pos, f_neg):
    """All lists of labels, best first, that break the ties of a short list."""
    scores = np.concatenate([f_pos, f_neg])
    labels = np.repeat([1, 0], [len(f_pos), len(f_neg)])
    levels = [labels[scores == s] for s in np.unique(scores)[::-1]]
    for parts in itertools.product(*(set(itertools.permutations(level.tolist())) for level in levels)):
        yield np.concatenate([np.array(part) for part in parts])


# Against pairs ----------------------------------------------------------------------------------------


def test_counts_and_risks_against_every_pair():
    for f_pos, f_neg in lists(0):
        right = sum((a > b) + 0.5 * (a == b) for a in f_pos for b in f_neg)
        assert metrics.auc(f_pos, f_neg) == pytest.approx(right / (len(f_pos) * len(f_neg)), rel=1e-14)
        heights = [sum(a <= b for a in f_pos) for b in f_neg]
        np.testing.assert_array_equal(metrics.heights(f_pos, f_neg), heights)
        np.testing.assert_array_equal(
            metrics.reverse_heights(f_pos, f_neg), [sum(a <= b for b in f_neg) for a in f_pos]
        )
        assert metrics.r_max(f_pos, f_neg) == max(heights)
        top = sum(all(a > b for b in f_neg) for a in f_pos)
        assert metrics.positives_at_top(f_pos, f_neg) == top
        assert type(metrics.positives_at_top(f_pos, f_neg)) is type(metrics.r_max(f_pos, f_neg)) is int
        assert top + max(heights) == len(f_pos)
        for p in (1, 2.5, 64):
            for theta in (0.0, 1 / 7, 0.5):
                rates = [sum(a - b <= theta for a in f_pos) / len(f_pos) for b in f_neg]
                risk = (sum(rate**p for rate in rates) / len(f_neg)) ** (1 / p)
                assert metrics.p_norm_risk(f_pos, f_neg, p, theta) == pytest.approx(risk, rel=1e-12, abs=1e-300)


def test_the_margin_is_compared_with_the_difference_itself():
    # 0.2 + 0.1 > 0.3 in floating point, yet 0.3 - 0.2 < 0.1.
    rng = np.random.default_rng(0)
    f_pos, f_neg = rng.integers(0, 30, 200) / 10, rng.integers(0, 30, 150) / 10
    for theta in (0.1, 0.3, 0.7, 1.1):
        rates = (f_pos[:, None] - f_neg <= theta).mean(axis=0)
        assert metrics.p_norm_risk(f_pos, f_neg, 1, theta) == pytest.approx(rates.mean(), rel=1e-13)


def test_the_risk_never_falls_in_p_nor_in_theta_and_tends_to_r_max():
    rng = np.random.default_rng(1)
    f_pos, f_neg = rng.normal(0.8, 1, 60), rng.normal(size=70)
    risks = [metrics.p_norm_risk(f_pos, f_neg, p) for p in (1, 2, 4, 64, 1e4)]
    assert np.all(np.diff(risks) > 0)
    assert risks[0] == pytest.approx(1 - metrics.auc(f_pos, f_neg), rel=1e-13)
    assert risks[-1] <= metrics.r_max(f_pos, f_neg) / 60
    assert risks[-1] == pytest.approx(metrics.r_max(f_pos, f_neg) / 60, rel=1e-3)
    by_theta = [metrics.p_norm_risk(f_pos, f_neg, 4, theta) for theta in (0, 0.1, 0.5, 2, 100)]
    assert np.all(np.diff(by_theta) > 0)
    assert by_theta[-1] == 1.0
    assert metrics.p_norm_risk([1e308], [-1e308], 2, 1.0) == 0.0


@pytest.mark.parametrize("seed", trials(4))
def test_the_ramp_error_is_the_mean_over_pairs_and_between_the_other_two(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, 2)
    f_pos, f_neg = [rng.integers(0, 30, n) / 7 if seed % 2 else rng.normal(size=n) for n in sizes]
    c_pos, c_neg = [rng.integers(0, 3, n) + (np.arange(n) == 0) for n in sizes]
    for p, theta in itertools.product((1, 2.5, 64), (1e-9, 0.1, 1.0, 50.0)):
        losses = np.array([[1 if a - b <= 0 else max(0, 1 - (a - b) / theta) for b in f_neg] for a in f_pos])
        weights = {"pos_weight": c_pos, "neg_weight": c_neg}
        for (c, d), given in (((np.ones(sizes[0]), np.ones(sizes[1])), {}), ((c_pos, c_neg), weights)):
            expected = (d @ (c @ losses / c.sum()) ** p / d.sum()) ** (1 / p)
            low, found, high = [
                metrics.p_norm_risk(f_pos, f_neg, p, margin, ramp=ramp, **given)
                for margin, ramp in ((0.0, True), (theta, True), (theta, False))
            ]
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)
            assert low == metrics.p_norm_risk(f_pos, f_neg, p, **given) <= found <= high


def test_the_ramp_error_keeps_its_digits_in_a_narrow_margin_and_far_from_zero():
    rng = np.random.default_rng(5)
    f_pos, f_neg = rng.integers(0, 2**30, 3000), rng.integers(0, 2**30, 2000)
    theta = 2.0**12
    expected = np.clip(1.0 - (f_pos[:, None] - f_neg) / theta, 0.0, 1.0).mean(axis=0)
    lowest = np.flatnonzero(expected < 0.01)  # few positives below: what differences of sums would lose
    found = [metrics.p_norm_risk(f_pos + 2.0**50, [f_neg[k] + 2.0**50], 1, theta, ramp=True) for k in lowest]
    np.testing.assert_allclose(found, expected[lowest], rtol=1e-13)
    assert metrics.p_norm_risk([1e308, 0.0], [-1e308, 0.5], 1, 2.0, ramp=True) == 0.25


def test_the_risk_of_a_list_whose_positives_lead_by_far():
    assert metrics.p_norm_risk([3, 2, 1], [1.5, 0], 1000) == pytest.approx(0.5 ** (1 / 1000) / 3)
    assert metrics.p_norm_risk(np.arange(1e5), [0.5, -1], 64) == pytest.approx(0.5 ** (1 / 64) * 1e-5)


def test_the_roc_curve_is_what_a_walk_down_the_list_counts():
    for f_pos, f_neg in lists(2, 5):
        roc = metrics.roc_counts(f_pos, f_neg)
        cuts = np.unique(np.concatenate([f_pos, f_neg]))[::-1]
        np.testing.assert_array_equal(roc.false_positives, [0, *((f_neg >= cut).sum() for cut in cuts)])
        np.testing.assert_array_equal(roc.true_positives, [0, *((f_pos >= cut).sum() for cut in cuts)])
        area = ((roc[1][1:] + roc[1][:-1]) / 2 * np.diff(roc[0])).sum() / (len(f_pos) * len(f_neg))
        assert metrics.auc(f_pos, f_neg) == pytest.approx(area, rel=1e-13)


def test_partial_areas_against_a_fine_sum():
    for f_pos, f_neg in lists(3, 3):
        x, y = (counts / counts[-1] for counts in metrics.roc_counts(f_pos, f_neg))
        grid = (np.arange(200_000) + 0.5) / 200_000
        last = np.searchsorted(x, grid, side="left")  # the piece over each point, past any vertical one
        rate = y[last - 1] + (grid - x[last - 1]) / (x[last] - x[last - 1]) * (y[last] - y[last - 1])
        for low, high, floor in ((0, 1, 0), (0, 0.3, 0), (0.2, 0.7, 0), (0, 0.5, 0.4), (0.1, 0.9, 0.8)):
            area = (np.maximum(rate - floor, 0) * (grid > low) * (grid < high)).mean()
            found = metrics.partial_auc(f_pos, f_neg, high, min_fpr=low, min_tpr=floor)
            assert found == pytest.approx(area, abs=1e-5)
            counts = {"max_fp": high * len(f_neg), "min_fp": low * len(f_neg)}
            assert metrics.partial_auc(f_pos, f_neg, **counts, min_tpr=floor) == pytest.approx(found, rel=1e-9)
    assert metrics.partial_auc([1, 1, 0], [1, 0]) == pytest.approx(metrics.auc([1, 1, 0], [1, 0]), rel=1e-14)


def test_standardized_areas_are_one_at_best_and_a_half_at_random():
    for bounds in ({"max_fpr": 0.2}, {"max_fp": 3}, {"max_fpr": 0.5, "min_fpr": 0.1, "min_tpr": 0.2}):
        assert metrics.partial_auc([2.0, 3.0], np.zeros(10), **bounds, standardized=True) == pytest.approx(1)
        assert metrics.partial_auc([0.0] * 4, np.zeros(10), **bounds, standardized=True) == pytest.approx(0.5)
        assert metrics.partial_auc([-1.0], np.zeros(10), **bounds, standardized=True) < 0.5


# Against every order of the ties ----------------------------------------------------------------------


def ranked(labels, measure):
    return measure(np.flatnonzero(labels) + 1, len(labels))


def bedroc_as_printed(ranks, total, alpha):
    """Truchon and Bayly's formula: the enhancement and two constants of the share of positives."""
    share = len(ranks) / total
    rie = np.exp(-alpha * ranks / total).mean() / ((1 - math.exp(-alpha)) / (math.exp(alpha / total) - 1) / total)
    factor = share * math.sinh(alpha / 2) / (math.cosh(alpha / 2) - math.cosh(alpha / 2 - alpha * share))
    return rie * factor + 1 / (1 - math.exp(alpha * (1 - share)))


def test_ties_share_their_places():
    rng = np.random.default_rng(4)
    for _ in range(40):
        f_pos, f_neg = rng.integers(0, 4, rng.integers(1, 5)), rng.integers(0, 4, rng.integers(1, 5))
        total = len(f_pos) + len(f_neg)
        # Labels that agree are one order here, as often as they arise: all orders of a level weigh alike.
        every = list(orders(f_pos, f_neg))
        for k in range(1, total + 1):
            precision = np.mean([labels[:k].mean() for labels in every])
            assert metrics.precision_at(f_pos, f_neg, k) == pytest.approx(precision, rel=1e-13, abs=1e-15)
            recall = np.mean([labels[:k].sum() for labels in every]) / len(f_pos)
            assert metrics.recall_at(f_pos, f_neg, k) == pytest.approx(recall, rel=1e-13, abs=1e-15)
            gain = np.mean([ranked(labels, lambda r, n: (1 / np.log2(1 + r[r <= k])).sum()) for labels in every])  # noqa: B023
            assert metrics.discounted_gain_at_top(f_pos, f_neg, k) == pytest.approx(gain, rel=1e-13, abs=1e-15)
            enrichment = precision * total / len(f_pos)
            assert metrics.enrichment_factor(f_pos, f_neg, k) == pytest.approx(enrichment, rel=1e-13, abs=1e-15)
        for alpha in (0.5, 20.0, 160.9):
            expected = np.mean([ranked(labels, lambda r, n: bedroc_as_printed(r, n, alpha)) for labels in every])  # noqa: B023
            assert metrics.bedroc(f_pos, f_neg, alpha) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_bedroc_is_between_the_worst_and_the_best_list_and_tends_to_auc():
    assert metrics.bedroc([3, 2], [1, 0, -1]) == pytest.approx(1)
    assert metrics.bedroc([-3, -2], [1, 0, -1]) == pytest.approx(0, abs=1e-15)
    assert metrics.bedroc([3, 2], [1, 0, -1], alpha=1e5) == 1.0
    rng = np.random.default_rng(5)
    f_pos, f_neg = rng.integers(0, 20, 40) + 2, rng.integers(0, 20, 60)
    assert metrics.bedroc(f_pos, f_neg, 1e-9) == pytest.approx(metrics.auc(f_pos, f_neg), rel=1e-7)


def test_a_share_of_the_rows_is_rounded_up():
    f_pos, f_neg = np.arange(30.0) + 0.5, np.arange(70.0)
    for share, k in ((0.01, 1), (0.011, 2), (0.07, 7), (0.29, 29), (0.991, 100), (1.0, 100), (1e-9, 1)):
        assert metrics.precision_at(f_pos, f_neg, share) == metrics.precision_at(f_pos, f_neg, k)
    assert metrics.enrichment_factor(f_pos, f_neg, 1.0) == 1.0


# Against scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_agrees(weighted):
    theirs = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(6)
    f_pos, f_neg = rng.integers(0, 50, 300), rng.integers(0, 45, 500)
    y, f = np.repeat([1, 0], [300, 500]), np.concatenate([f_pos, f_neg])
    c = rng.uniform(0.1, 3, 800) if weighted else None
    ours = {"pos_weight": c[:300], "neg_weight": c[300:]} if weighted else {}
    assert metrics.auc(f_pos, f_neg, **ours) == pytest.approx(theirs.roc_auc_score(y, f, sample_weight=c), rel=1e-13)
    for high in (0.05, 0.3, 1.0):
        expected = theirs.roc_auc_score(y, f, max_fpr=high, sample_weight=c)
        assert metrics.partial_auc(f_pos, f_neg, high, standardized=True, **ours) == pytest.approx(expected, rel=1e-12)
    expected = theirs.average_precision_score(y, f, sample_weight=c)
    assert metrics.average_precision(f_pos, f_neg, **ours) == pytest.approx(expected, rel=1e-12)
    fpr, tpr, _ = theirs.roc_curve(y, f, sample_weight=c, drop_intermediate=False)
    roc = metrics.roc_counts(f_pos, f_neg, **ours)
    np.testing.assert_allclose(roc.false_positives / roc.false_positives[-1], fpr, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(roc.true_positives / roc.true_positives[-1], tpr, rtol=1e-12, atol=1e-15)


def test_scikit_learn_agrees_on_gains():
    theirs = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(7)
    for levels in (4, 10**9):
        f_pos, f_neg = rng.integers(0, levels, 40), rng.integers(0, levels, 70)
        y, f = np.repeat([1, 0], [40, 70])[None], np.concatenate([f_pos, f_neg])[None]
        for k in (1, 10, 110, None):
            gain, normalized = theirs.dcg_score(y, f, k=k), theirs.ndcg_score(y, f, k=k)
            assert metrics.discounted_gain_at_top(f_pos, f_neg, k) == pytest.approx(gain, rel=1e-12)
            assert metrics.discounted_gain_at_top(f_pos, f_neg, k, normalized=True) == pytest.approx(
                normalized, rel=1e-12
            )
    # without ties, precision and recall at k are those of the k-th threshold
    precision, recall, _ = theirs.precision_recall_curve(y[0], f[0])
    for k in (1, 17, 110):
        assert metrics.precision_at(f_pos, f_neg, k) == pytest.approx(precision[110 - k])
        assert metrics.recall_at(f_pos, f_neg, k) == pytest.approx(recall[110 - k])


# Laws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCALAR)
def test_only_the_order_of_the_scores_counts(name):
    measure = SCALAR[name]
    for f_pos, f_neg in lists(8, 2, [(6, 7), (25, 33)]):
        value = measure(f_pos, f_neg)
        assert measure(f_pos[::-1], np.roll(f_neg, 3)) == pytest.approx(value, rel=1e-14)
        assert measure(f_pos + 16, f_neg + 16) == pytest.approx(value, rel=1e-14)
        if name != "p_norm_risk":  # its margin has units
            assert measure(np.exp(f_pos / 1e6), np.exp(f_neg / 1e6)) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("name", SCALAR)
def test_raising_a_positive_never_hurts(name):
    worse = {"r_max", "p_norm_risk"}
    for f_pos, f_neg in lists(9, 3, [(6, 7), (25, 33)]):
        better = f_pos.copy()
        better[0] += 0.5
        change = SCALAR[name](better, f_neg) - SCALAR[name](f_pos, f_neg)
        assert (change <= 1e-14) if name in worse else (change >= -1e-14)


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weight_is_a_number_of_copies(name):
    rng, measure = np.random.default_rng(10), SCALAR[name]
    for f_pos, f_neg in lists(11, 5, [(6, 7), (25, 33)]):
        c, d = rng.integers(0, 4, len(f_pos)), rng.integers(0, 4, len(f_neg))
        c[0], d[0] = 1, 2
        copies = measure(np.repeat(f_pos, c), np.repeat(f_neg, d))
        assert measure(f_pos, f_neg, pos_weight=c, neg_weight=d) == pytest.approx(copies, rel=1e-13)
        ones = {"pos_weight": np.ones(len(f_pos)), "neg_weight": np.ones(len(f_neg))}
        assert measure(f_pos, f_neg, **ones) == measure(f_pos, f_neg)


def test_weights_of_counts():
    f_pos, f_neg, c = [3.0, 1.0, 2.0], [2.0, 0.0, 3.0], [0.5, 2.0, 1.0]
    np.testing.assert_array_equal(metrics.heights(f_pos, f_neg, pos_weight=c), [3.0, 0.0, 3.5])
    np.testing.assert_array_equal(metrics.reverse_heights(f_pos, f_neg, neg_weight=c), [1.0, 1.5, 1.5])
    assert metrics.r_max(f_pos, f_neg, pos_weight=c) == 3.5
    assert metrics.positives_at_top(f_pos, f_neg, neg_weight=[1, 1, 0], pos_weight=c) == 0.5
    assert metrics.roc_counts(f_pos, f_neg, pos_weight=c).true_positives[-1] == 3.5
    # shares of weights that are not whole numbers are not rounded, whatever ties
    halves = {"pos_weight": [0.5, 0.5], "neg_weight": [0.5, 0.5]}
    assert metrics.recall_at([1, 1], [0, 0], 0.3, **halves) == metrics.recall_at([1, 2], [0, 0.5], 0.3, **halves) == 0.6
    # a sum of weights that is whole but for rounding
    assert metrics.precision_at([0.0], np.arange(5) + 0.5, 1, pos_weight=[1 / 6], neg_weight=[1 / 6] * 5) > 0
    assert metrics.precision_at([2.0], [1.0], 0.5, pos_weight=[0.25], neg_weight=[0.75]) == 0.5


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_the_scale_of_the_weights_does_not_matter(scale):
    f_pos, f_neg, c, d = [3.0, 1.0, 2.0], [2.0, 0.0, 2.5], np.array([0.5, 2.0, 1.0]), np.array([1.0, 3.0, 0.5])
    for name in ("auc", "partial_auc", "two_way", "average_precision", "p_norm_risk"):
        once = SCALAR[name](f_pos, f_neg, pos_weight=c, neg_weight=d)
        assert SCALAR[name](f_pos, f_neg, pos_weight=c * scale, neg_weight=d * scale) == pytest.approx(once, rel=1e-12)


# Crossings --------------------------------------------------------------------------------------------


def first_crossing(labels_a, labels_b):
    """Walk down two lists without ties: the last equal count before the other list is ahead."""
    lead, last = 0, 0
    for n in range(len(labels_a) + 1):
        ahead = labels_a[:n].sum() - labels_b[:n].sum()
        if ahead == 0:
            last = n
        elif lead * ahead < 0:
            return last - labels_a[:last].sum(), labels_a[:last].sum()
        lead = lead or ahead
    return None


def test_crossings_of_lists_without_ties():
    rng, seen = np.random.default_rng(12), set()
    for _ in range(300):
        n_pos, n_neg = rng.integers(1, 7, 2)
        labels = [rng.permutation(np.repeat([1, 0], [n_pos, n_neg])) for _ in range(2)]
        scores = -np.arange(n_pos + n_neg)
        rocs = [metrics.roc_counts(scores[y == 1], scores[y == 0]) for y in labels]
        expected = first_crossing(*labels)
        assert metrics.crossing(*rocs) == expected
        assert metrics.crossing(*rocs[::-1]) == expected
        seen.add(expected is None)
    assert seen == {True, False}


def test_crossings_on_diagonals():
    step = metrics.roc_counts([4, 3, 0, -1], [2, 1, -2, -3])
    diagonal = ([0, 1, 4], [0, 0, 4])  # one negative first, all others tie
    assert metrics.crossing(step, diagonal) is None
    # (0, 2) to (1, 2) to (2, 2) to (2, 4) meets the line from (0, 1) to (4, 4) where 1 + 3 x / 4 = 2
    found = metrics.crossing(step, ([0, 0, 4], [0, 1, 4]))
    assert found == pytest.approx((4 / 3, 2))
    again = metrics.crossing(([0, 0, 4], [0, 1, 4]), ([0, 2, 4], [0, 4, 4]))
    assert again == pytest.approx((0.8, 1.6))


def test_curves_that_touch_do_not_cross():
    a, b = metrics.roc_counts([9, 5], [7, 3]), metrics.roc_counts([9, 7], [5, 3])
    assert metrics.crossing(a, b) is None
    assert metrics.crossing(a, a) is None


# Intervals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCALAR)
def test_intervals_are_quantiles_over_lists_drawn_again(name):
    rng = np.random.default_rng(13)
    measure = partial(SCALAR[name], **({"pos_weight": np.ones(14)} if name in FIRST_ROWS else {}))
    f_pos, f_neg = rng.integers(0, 12, 14) + 3.0, rng.integers(0, 12, 17) / 1.0
    found = measure(f_pos, f_neg, confidence=0.8, n_resamples=60, seed=5)
    assert isinstance(found, metrics.Estimate)
    assert found == measure(f_pos, f_neg)
    rng, values = np.random.default_rng(5), []
    f_pos, f_neg = np.sort(f_pos), np.sort(f_neg)
    for _ in range(60):
        draw = f_pos[rng.integers(14, size=14)], f_neg[rng.integers(17, size=17)]
        values.append(measure(*draw))
    low, high = expanded(values, 0.8, 14)
    if name == "auc":
        low, high = newcombe(float(found), np.var(values), 14, 17, 0.8)
    assert (found.low, found.high) == pytest.approx((low, high), **({"abs": 1e-6} if name == "auc" else {"rel": 1e-12}))
    shuffled = measure(np.roll(f_pos, 3), f_neg[::-1], confidence=0.8, n_resamples=60, seed=5)
    assert (shuffled.low, shuffled.high) == (found.low, found.high)
    assert found.confidence == 0.8
    again = measure(f_pos, f_neg, confidence=0.8, n_resamples=60, seed=np.random.default_rng(5))
    assert (again.low, again.high) == (found.low, found.high)


def expanded(values, confidence, n):
    """The quantiles at which a normal mean of n rows would have Student's interval."""
    z = math.sqrt(n / (n - 1)) * student.ppf(0.5 - 0.5 * confidence, n - 1)
    tail = int(norm.cdf(z) * (len(values) - 1))
    return sorted(values)[tail], sorted(values)[-1 - tail]


def newcombe(value, variance, m, n, confidence):
    """The AUCs within z standard errors on a fine grid; the error is the larger of two at the value (Auc.ends)."""
    least = min(m, n)

    def spread(t):
        half = (m + n) / 2 - 1
        return t * (1 - t) / (m * n) * (1 + half * (1 - t) / (2 - t) + half * t / (1 + t))

    factor = max(1, variance * least / (least - 1) / spread(value))
    t = np.linspace(0, 1, 2_000_001)
    within = (value - t) ** 2 <= norm.ppf(0.5 + 0.5 * confidence) ** 2 * factor * spread(t)
    return t[within][0], t[within][-1]


def clopper_pearson(x, n, confidence):
    """The shares at which x or more, and x or fewer, of n draws are as rare as the confidence allows."""
    tail = (1 - confidence) / 2

    def rises(share, counts):
        return sum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in counts)

    def share_of(holds):
        low, high = 0.0, 1.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    low = share_of(lambda share: rises(share, range(x, n + 1)) < tail) if x else 0.0
    high = share_of(lambda share: rises(share, range(x + 1)) > tail) if x < n else 1.0
    return low, high


def drawn_rows(y, k, confidence):
    """The interval of the precision in the first k rows for rows that are drawn, from all numbers above the cut.

    y has the labels, best first, or the share of positives at each score.
    """
    n, tail = len(y), (1 - confidence) / 2
    above = np.concatenate([[0.0], np.cumsum(y)])
    m = np.arange(1, n + 1)
    weights = binom.pmf(m, n, k / n)
    weights = weights / weights.sum()
    hits = np.round(k * above[m] / m, 12)

    def below(share, a, b):
        """The distribution function of the mixture of Beta(a, b), with all mass at zero where a is, at one where b is."""
        inside = beta.cdf(share, np.where(a > 0, a, 1.0), np.where(b > 0, b, 1.0))
        return weights @ np.where(b == 0, 0.0, np.where(a == 0, 1.0, inside))

    def share_of(too_low):
        low, high = 0.0, 1.0
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (middle, high) if too_low(middle) else (low, middle)
        return (low + high) / 2

    return (
        share_of(lambda share: below(share, hits, k - hits + 1) < tail),
        share_of(lambda share: below(share, hits + 1, k - hits) < 1 - tail),
    )


def of_labels(y):
    """A list as counts, from labels in the order of the list."""
    return DistinctScores(np.array(y) * 1, 1 - np.array(y))


@pytest.mark.parametrize("seed", trials(6))
def test_intervals_of_the_precision_are_from_all_numbers_of_rows_above_the_cut(seed):
    rng = np.random.default_rng(seed)
    n, confidence = int(rng.integers(2, 60)), (0.95, 0.8, 0.5)[seed % 3]
    y = rng.random(n) < np.linspace(rng.random(), rng.random(), n)
    y[:2] = rng.permutation([True, False])
    depths = np.unique(rng.integers(1, n + 1, 6))
    found = first_rows(of_labels(y), depths, confidence)
    for k, hits, low, high in zip(*found[:4], strict=True):
        assert hits == y[:k].sum()
        assert (low, high) == pytest.approx(drawn_rows(y, k, confidence), abs=1e-11)
        assert low < hits / k or hits == low == 0
        assert high > hits / k or hits / k == high == 1


@pytest.mark.parametrize(("k", "error"), [(20, 1e-9), (300, 1e-3), (1400, 1e-4)])
def test_intervals_of_the_precision_take_some_of_many_numbers_of_rows(k, error):
    rng = np.random.default_rng(0)
    y = rng.random(1500) < np.linspace(1.0, 0.0, 1500) ** 3
    low, high = drawn_rows(y, k, 0.95)
    found = first_rows(of_labels(y), k, 0.95)
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=error)
    assert high - low > 100 * error


def test_intervals_of_a_precision_that_does_not_change_are_those_of_clopper_and_pearson():
    tied = DistinctScores(np.array([30, 5]), np.array([90, 15]))  # a quarter everywhere
    first = DistinctScores(np.array([100, 0]), np.array([0, 1000]))
    for at, k, hits in ((tied, 20, 5), (tied, 64, 16), (tied, 140, 35), (first, 5, 5), (first, 40, 40)):
        of_depth = first_rows(at, k, 0.9)
        assert of_depth.hits.tolist() == [hits]
        assert (of_depth.low[0], of_depth.high[0]) == pytest.approx(clopper_pearson(hits, k, 0.9), rel=1e-9)


def test_intervals_of_the_precision_hold_for_classes_that_are_drawn():
    """The first rows are positive up to their number, which varies, and Clopper and Pearson's holds in a third."""
    rng = np.random.default_rng(0)
    n, k, lists = 1000, 200, 300
    n_pos = rng.binomial(n, k / n, lists)
    mean = np.minimum(n_pos, k).mean() / k
    found = [first_rows(of_labels(np.arange(n) < x), k, 0.95).measure("precision", 0) for x in n_pos]
    assert np.mean([x.low <= mean <= x.high for x in found]) > 0.92
    old = [_shares.share(min(x, k), k, 0.95) for x in n_pos.tolist()]
    assert np.mean([low <= mean <= high for _, low, high in old]) < 0.4


@pytest.mark.parametrize("kind", ["perfect", "random"])
def test_intervals_of_recall_hold_for_classes_that_are_drawn(kind):
    """If all positives come first, Clopper's and Pearson's interval for the positives of a list holds too rarely."""
    rng = np.random.default_rng(0)
    n, k, lists = 1000, 200, 120
    n_pos = rng.binomial(n, k / n, lists)
    y = [np.arange(n) < x if kind == "perfect" else rng.permutation(np.arange(n) < x) for x in n_pos]
    hits = np.array([of_list[:k].sum() for of_list in y])
    recall = np.minimum(n_pos, k).sum() / n_pos.sum() if kind == "perfect" else k / n
    found = [first_rows(of_labels(of_list), k, 0.95).measure("recall", 0) for of_list in y]
    assert np.mean([x.low <= recall <= x.high for x in found]) > 0.93
    old = [_shares.share(*of_list, 0.95) for of_list in zip(hits.tolist(), n_pos.tolist(), strict=True)]
    of_old = np.mean([low <= recall <= high for _, low, high in old])
    assert of_old < 0.6 if kind == "perfect" else of_old > 0.93


def test_lift_is_recall_in_other_units():
    at = DistinctScores(np.array([30, 0]), np.array([0, 10]))
    found = first_rows(at, [10, 36, 40], 0.95)
    for i, k in enumerate((10, 36, 40)):
        recall, lift = found.measure("recall", i), found.measure("lift", i)
        assert tuple(lift) == pytest.approx([40 / k * x for x in recall])
        assert tuple(found.measure("hits", i)) == pytest.approx([k * x for x in found.measure("precision", i)])
        assert found.measures(("lift", "recall"), i) == [lift, recall]
    assert found.measure("recall", 0) == pytest.approx(1 / 3)
    assert found.measure("recall", 0).low < 1 / 3 < found.measure("recall", 0).high  # fewer positives may be drawn
    assert tuple(found.measure("recall", 2)) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("U", "V"),
    [((3, 8), (2, 90)), ((40, 61), (5, 400)), ((2, 1), (6, 45)), ((10, 1), (3, 30)), ((7.5, 0.5), (1.2, 3.4))],
)
@pytest.mark.parametrize("end", [0.5, 1.0, 2.0])
def test_the_ratio_of_two_betas_is_that_of_an_integral(U, V, end):
    (a, b), (c, d) = U, V
    ratio = end * a / (a + b) / (c / (c + d))
    with mpmath.workdps(20):

        def of_v(v):
            below = mpmath.betainc(a, b, 0, min(1, ratio * v), regularized=True)
            return below * v ** (mpmath.mpf(c) - 1) * (1 - v) ** (mpmath.mpf(d) - 1) / mpmath.beta(c, d)

        middle = c / (c + d)
        parts = sorted({0, middle / 2, middle, *([1 / ratio] if ratio > 1 else []), 1})
        expected = float(mpmath.quad(of_v, parts))
    pair = [(np.array([float(x)]), np.array([float(y)])) for x, y in (U, V)]
    assert _shares._Ratios(*pair).below(ratio) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("seed", trials(6))
def test_intervals_of_recall_do_not_fall_if_a_positive_moves_up(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 200))
    y = rng.random(n) < 0.3
    y[:2] = rng.permutation([True, False])
    k = int(rng.integers(1, n))
    i = int(rng.choice(np.flatnonzero(y[1:]))) if y[1:].any() else 0
    better = y.copy()
    better[[i, i + 1]] = y[[i + 1, i]]
    if better[: i + 1].sum() < y[: i + 1].sum():
        y, better = better, y
    worse, found = (first_rows(of_labels(x), k, 0.95).measure("recall", 0) for x in (y, better))
    assert worse.low <= found.low + 1e-6
    assert worse.high <= found.high + 1e-6


def drawn_recall(y, k, recall, low):
    """The distribution of which an end of the interval of recall is a quantile, from all numbers of rows above the cut.

    y has the labels, best first, or the share of positives at each score.
    """
    n = len(y)
    above = np.concatenate([[0.0], np.cumsum(y)])
    m = np.arange(1, n)
    weights = binom.pmf(m, n, k / n)
    a, c = np.round(k * above[m] / m, 12), np.round((n - k) * (above[n] - above[m]) / (n - m), 12)
    b, d = k - a, n - k - c
    (a, b), (c, d) = ((a, b + 1), (c + 1, d)) if low else ((a + 1, b), (c, d + 1))
    steps = (np.arange(500)[:, None] + 0.5) / 500
    V = np.where(c == 0, 0.0, np.where(d == 0, 1.0, beta.ppf(steps, np.where(c > 0, c, 1), np.where(d > 0, d, 1))))
    with np.errstate(divide="ignore"):
        ratio = np.float64(recall) / (1 - recall) * (n - k) / k
    x = np.minimum(ratio * np.where(V > 0, V, 1e-300), 1.0)
    inside = beta.cdf(x, np.where(a > 0, a, 1), np.where(b > 0, b, 1))
    below = np.where(a == 0, 1.0, np.where(b == 0, x >= 1, inside)).mean(axis=0)
    return weights @ below / weights.sum()


@pytest.mark.parametrize("seed", trials(8))
def test_measures_of_the_first_rows_have_the_interval_for_drawn_rows(seed):
    """The ends of the interval of recall are quantiles of the mixture over all numbers of rows above the cut."""
    rng = np.random.default_rng(seed)
    n_pos, n_neg = rng.integers(2, 30, 2).tolist()
    f_pos, f_neg = rng.integers(0, (4, 10**6)[seed % 2], n_pos) / 1.0, rng.integers(0, 4, n_neg) / 1.0
    apart = (0.0, 2.0, 10.0, -10.0)[seed // 2 % 4]  # from 10 on, classes have no scores in common
    f_pos, n = f_pos + apart, n_pos + n_neg
    f, y = np.concatenate([f_pos, f_neg]), np.arange(n) < n_pos
    k = n if seed % 8 == 5 else int(rng.integers(1, n))
    shares = np.sort(f)[::-1]
    shares = np.array([y[f == score].mean() for score in shares])
    found = shares[:k].sum()
    how = {"confidence": (0.95, 0.9, 0.6)[seed % 3]}
    low, high = drawn_rows(shares, k, how["confidence"])
    precision = found / k, min(low, found / k), max(high, found / k)
    recall = metrics.recall_at(f_pos, f_neg, k, **how)
    tail = (1 - how["confidence"]) / 2
    if k == n:
        assert tuple(recall) == (1.0, 1.0, 1.0)
    else:
        of_low, of_high = drawn_recall(shares, k, recall.low, True), drawn_recall(shares, k, recall.high, False)
        assert of_low == pytest.approx(tail, abs=5e-3) or (of_low > tail and recall.low == 0) or recall.low == recall
        assert of_high == pytest.approx(1 - tail, abs=5e-3) or recall.high == 1 or recall.high == recall
    summary = metrics.summary(f_pos, f_neg, k, **how, n_resamples=50)
    for name, (value, low, high) in (
        ("precision_at", precision),
        ("recall_at", (found / n_pos, recall.low, recall.high)),
        ("enrichment_factor", (found / k / (n_pos / n), n / k * recall.low, n / k * recall.high)),
    ):
        of = getattr(metrics, name)
        estimate = of(f_pos, f_neg, k, **how)
        assert estimate == of(f_pos, f_neg, k) == pytest.approx(value, rel=1e-13)
        assert estimate.low == pytest.approx(low, rel=1e-9, abs=1e-11)
        assert estimate.high == pytest.approx(high, rel=1e-9)
        assert estimate.low <= estimate <= estimate.high
        assert estimate.low < estimate.high or (k == n and name != "precision_at")
        assert estimate.confidence == how["confidence"]
        assert tuple(summary[name]) == tuple(estimate)
        for other in (
            of(f, y=y, k=k, **how),
            of(f_pos, f_neg, k / n, **how),
            of(f_pos, f_neg, k, **how, n_resamples=20, seed=9),
            of(metrics.ScoreTable.of(f_pos, f_neg), k=k, **how),
        ):
            assert tuple(other) == tuple(estimate)


def test_intervals_of_all_rows():
    f_pos, f_neg = [3.0, 2.0, 2.5], [1.0, 0.0]
    found = metrics.precision_at(f_pos, f_neg, 5, confidence=0.9)
    assert tuple(found) == pytest.approx((0.6, *clopper_pearson(3, 5, 0.9)))
    for of in (metrics.recall_at, metrics.enrichment_factor):
        assert tuple(of(f_pos, f_neg, 5, confidence=0.9)) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (10, 200), (40, 3)])
def test_the_interval_of_a_perfect_auc_has_a_width(m, n):
    """Newcombe's equation at the ends, from the formula of the variance, in 30 digits."""
    perfect = metrics.auc(np.arange(m) + n, np.arange(n), confidence=0.95)
    assert (float(perfect), perfect.high) == (1.0, 1.0)
    with mpmath.workdps(30):
        t, z = mpmath.mpf(perfect.low), mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf("0.95"))
        half = mpmath.mpf(m + n) / 2 - 1
        variance = t * (1 - t) * (1 + half * (1 - t) / (2 - t) + half * t / (1 + t)) / (m * n)
        assert float((1 - t) ** 2 / (z**2 * variance)) == pytest.approx(1.0, abs=1e-9)
    worst = metrics.auc(np.arange(m), np.arange(n) + m, confidence=0.95)
    assert tuple(worst) == (0.0, 0.0, pytest.approx(1.0 - perfect.low, abs=1e-12))


def test_intervals_of_nearly_perfect_lists_hold_the_true_auc():
    """Of such lists 14 % are perfect; an interval without a width would miss in all of these."""
    rng, held = np.random.default_rng(0), 0
    truth = 0.5 * (1.0 + math.erf(3.5 / 2.0))
    for _ in range(400):
        found = metrics.auc(rng.normal(3.5, 1, 10), rng.normal(size=200), confidence=0.95, n_resamples=100)
        held += found.low <= truth <= found.high
    assert held >= 0.95 * 400 - 3 * math.sqrt(400 * 0.05 * 0.95)


WITH_ENDS = {
    "average precision": partial(metrics.average_precision, stratified=True),
    "partial AUC": partial(metrics.partial_auc, max_fpr=0.5),
    "standardized": partial(metrics.partial_auc, max_fpr=0.1, standardized=True),
}


def at_the_ends(m, n):
    """A list without a mistake, and one without a success."""
    return (np.arange(m) + n, np.arange(n)), (np.arange(m), np.arange(n) + m)


@pytest.mark.parametrize("of", WITH_ENDS.values(), ids=WITH_ENDS)
@pytest.mark.parametrize(("m", "n"), [(1, 1), (10, 200), (40, 3)])
def test_intervals_of_lists_without_a_mistake_or_a_success_have_a_width(of, m, n):
    best, worst = at_the_ends(m, n)
    perfect, least = of(*best, confidence=0.95), of(*worst, confidence=0.95)
    assert perfect.low < perfect == of(*best) == pytest.approx(perfect.high, abs=1e-12)
    assert pytest.approx(least.low, abs=1e-12) == least == of(*worst) < least.high
    of_table = of(metrics.ScoreTable.of(*best), confidence=0.95)
    assert tuple(of_table) == pytest.approx(tuple(perfect), abs=1e-12)
    copies = of(*best, pos_weight=np.full(m, 3.0), neg_weight=np.full(n, 3.0), confidence=0.95)
    assert tuple(copies) == pytest.approx(tuple(perfect), abs=1e-12)


def test_the_interval_of_a_perfect_average_precision_by_its_definition():
    """One of the two shares is at its bound: of positives below all negatives, or of negatives above all positives."""
    for m, n in ((10, 200), (200, 30), (3, 3)):
        i, u, v = np.arange(1, m + 1), 1.0 - 0.025 ** (1 / m), 1.0 - 0.025 ** (1 / n)
        below = (m * (1.0 - u) + u * i) / (m * (1.0 - u) + u * i + n)
        ends = 1.0 - u + u * below.mean(), (i / (i + v * n)).mean()
        found = metrics.average_precision(*at_the_ends(m, n)[0], confidence=0.95)
        assert found.low == pytest.approx(min(ends), abs=1e-12)


def test_intervals_of_mostly_perfect_lists_hold_with_few_rows_astray():
    """One row of one side is astray on average, so that about a third of these lists have no mistake.

    An interval that bounds the share of positives alone misses in all perfect lists with negatives astray.
    """
    m, n, astray = 50, 50, "neg"
    rng = np.random.default_rng(1)

    def drawn():
        pos, neg = rng.normal(8.0, 1.0, m), rng.normal(size=n)
        side, share, by = (pos, 1.0 / m, -20.0) if astray == "pos" else (neg, 1.0 / n, 20.0)
        side[rng.random(side.size) < share] += by
        return pos, neg

    for of in (metrics.average_precision, partial(metrics.partial_auc, max_fpr=0.2, standardized=True)):
        truth = np.mean([of(*drawn()) for _ in range(4000)])
        found = [of(*drawn(), confidence=0.95, n_resamples=80) for _ in range(300)]
        held = sum(x.low <= truth <= x.high for x in found)
        assert held >= 0.95 * 300 - 3 * math.sqrt(300 * 0.05 * 0.95)
        assert 60 < sum(x == 1.0 for x in found) < 160


def test_an_interval_without_width_says_that_the_resamples_do_not_differ():
    f_pos, f_neg = [3.0, 2.0, 2.5], [1.0, 0.0]
    for of in (metrics.precision_at, metrics.recall_at, metrics.enrichment_factor):
        assert repr(of(f_pos, f_neg, 5, pos_weight=[1, 1, 1], confidence=0.95)).endswith(" in all resamples]")
        assert "resamples" not in repr(of(f_pos, f_neg, 2, confidence=0.95))
    assert repr(metrics.auc([1.0, 1.0], [1.0], confidence=0.95)) == "0.5 [0.5 in all resamples]"
    assert "resamples" not in repr(metrics.auc([3.0, 0.5, 2.5], [1.0, 0.0], confidence=0.95))
    assert repr(metrics.Estimate(1.0, 1.0, 1.0, 1.0)) == "1 [1, 1]"  # certain


@pytest.mark.parametrize("confidence", [0.0, 1.0, "0.95"])
def test_the_confidence_of_the_first_rows_is_checked(confidence):
    for of in (metrics.precision_at, metrics.recall_at, metrics.enrichment_factor, metrics.summary):
        with pytest.raises((ValueError, TypeError), match="confidence must be"):
            of([3.0, 2.0, 2.5], [1.0, 0.0], 2, confidence=confidence)


def test_intervals_with_weights():
    rng = np.random.default_rng(14)
    f_pos, f_neg, c = rng.normal(1, 1, 30), rng.normal(size=40), rng.uniform(0.2, 3, 30)
    found = metrics.auc(f_pos, f_neg, pos_weight=c, confidence=0.5, n_resamples=41, seed=1)
    rng, values = np.random.default_rng(1), []
    order = np.argsort(f_pos)
    f_pos, c, f_neg = f_pos[order], c[order], np.sort(f_neg)
    for _ in range(41):
        rows, other = rng.integers(30, size=30), rng.integers(40, size=40)
        values.append(metrics.auc(f_pos[rows], f_neg[other], pos_weight=c[rows]))
    m = c.sum() ** 2 / (c @ c)
    assert (found.low, found.high) == pytest.approx(newcombe(float(found), np.var(values), m, 40, 0.5), abs=1e-6)
    assert metrics.recall_at(f_pos, f_neg, int(c.sum()) + 40, pos_weight=c, confidence=0.9, n_resamples=50).high <= 1.0


def test_intervals_with_large_weights_are_those_of_the_same_weights_in_another_unit():
    rng = np.random.default_rng(15)
    f, c = (rng.normal(1, 1, 30), rng.normal(size=40)), rng.uniform(0.2, 3, 30)
    how = {"confidence": 0.9, "n_resamples": 50}
    given, large = [metrics.auc(*f, pos_weight=unit * c, **how) for unit in (1.0, 2.0**700)]
    assert tuple(large) == tuple(given)


def places(f_pos, f_neg):
    """For the sorted negatives: the positives above each of them, and whether it ties with one; equal in one place."""
    return [(sum(f_pos > s), s in f_pos) for s in np.sort(f_neg)]


@each_value()
@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("ties", [False, True])
def test_counts_that_are_drawn_are_copies_of_rows(name, ties):
    """Negatives without a positive between them are alike; p_norm_risk with a margin takes each score by itself."""
    rng = np.random.default_rng(18)
    measure = partial(SCALAR[name], **({"pos_weight": np.ones(6)} if name in FIRST_ROWS else {}))
    f_pos, f_neg = rng.normal(1, 1, 6), np.sort(rng.normal(size=600))
    if ties:
        f_pos, f_neg = np.round(f_pos, 1), np.round(f_neg, 0 if name == "p_norm_risk" else 1)
    found = measure(f_pos, f_neg, confidence=0.8, n_resamples=60, seed=5)
    alike = f_neg.tolist() if name == "p_norm_risk" else places(f_pos, f_neg)
    of_place = [[s for s, key in zip(f_neg, alike, strict=True) if key == own] for own in dict.fromkeys(alike)]
    share = np.array([len(scores) / 600 for scores in of_place])
    f_pos, rng, values = np.sort(f_pos), np.random.default_rng(5), []
    for _ in range(60):
        pos = f_pos[rng.integers(6, size=6)]
        if 16 * len(share) > 600:
            neg = f_neg[rng.integers(600, size=600)]
        else:
            drawn = zip(of_place, rng.multinomial(600, share), strict=True)
            neg = np.concatenate([np.resize(scores, n) for scores, n in drawn])  # any rows of the place
        values.append(measure(pos, neg))
    if name == "auc":
        ends = newcombe(float(found), np.var(values), 6, 600, 0.8)
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-6)
    else:
        assert (found.low, found.high) == pytest.approx(expanded(values, 0.8, 6), rel=1e-12)


def test_intervals_are_those_of_resampled_rows():
    """Each end is the quantile of 1000 lists of rows drawn again, give or take five standard errors."""
    weighted = True
    rng = np.random.default_rng(19)
    for digits in (0, 9):
        f_pos, f_neg = np.round(rng.normal(1, 1, 25), digits), np.round(rng.normal(size=200), digits)
        c, d = (rng.integers(1, 3, f.size) / 1.0 for f in (f_pos, f_neg))
        given = {"pos_weight": c, "neg_weight": d} if weighted else {}
        values = []
        for _ in range(1000):
            i, k = rng.integers(25, size=25), rng.integers(200, size=200)
            drawn = {"pos_weight": c[i], "neg_weight": d[k]} if weighted else {}
            values.append(metrics.summary(f_pos[i], f_neg[k], 0.1, **drawn))
        for confidence in (0.5, 0.9):
            how = {"confidence": confidence, "n_resamples": 4000, "stratified": True}
            found = metrics.summary(f_pos, f_neg, 0.1, **how, **given)
            for name, estimate in found.items():
                if not isinstance(estimate, metrics.Estimate) or (name in FIRST_ROWS and not weighted):
                    continue
                column = np.array([value[name] for value in values])
                tail = 0.5 * (1 - confidence)
                error = 5 * math.sqrt(tail * (1 - tail) * (1 / 1000 + 1 / 4000))
                below, above = (column < estimate.low - 1e-9).mean(), (column > estimate.high + 1e-9).mean()
                to_low, to_high = (column <= estimate.low + 1e-9).mean(), (column >= estimate.high - 1e-9).mean()
                assert below - error < tail < to_low + error, name
                assert above - error < tail < to_high + error, name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [0, 9])
def test_rows_of_both_classes_are_drawn_together(weighted, digits):
    """The interval is that of a bootstrap of labelled rows, give or take five standard errors of a quantile."""
    rng = np.random.default_rng(20)
    y = np.arange(120) < 25
    f = np.round(rng.normal(1.0 * y, 1.0), digits)
    given = {"weight": rng.integers(1, 4, 120) / 2.0} if weighted else {}
    values = []
    for _ in range(1000):
        rows = rng.integers(120, size=120)
        drawn = {name: c[rows] for name, c in given.items()}
        values.append(metrics.average_precision(f[rows], y=y[rows], **drawn))
    found = metrics.average_precision(f, y=y, confidence=0.9, n_resamples=4000, **given)
    c = given.get("weight", np.ones(120))[:25]
    n = c.sum() ** 2 / (c @ c)
    tail = norm.cdf(math.sqrt(n / (n - 1)) * student.ppf(0.05, n - 1))
    error = 5 * math.sqrt(tail * (1 - tail) * (1 / 1000 + 1 / 4000))
    for beyond in (np.less(values, found.low), np.greater(values, found.high)):
        assert beyond.mean() == pytest.approx(tail, abs=error)
    as_many = metrics.average_precision(f, y=y, confidence=0.9, n_resamples=4000, stratified=True, **given)
    assert float(as_many) == float(found)
    assert found.high - found.low > 1.05 * (as_many.high - as_many.low)


@pytest.mark.parametrize("n_pos", [14, 1])
def test_the_number_of_positives_drawn_is_binomial(n_pos):
    """A resample has one row of either class at least, as with one positive and no draw of it."""
    rng = np.random.default_rng(22)
    f_pos, f_neg = np.sort(rng.integers(0, 12, n_pos)) + 3.0, np.sort([20, *rng.integers(0, 12, 16)]) / 1.0
    found = metrics.average_precision(f_pos, f_neg, confidence=0.8, n_resamples=60, seed=5)
    rng, values, n = np.random.default_rng(5), [], n_pos + 17
    drawn = rng.binomial(n, n_pos / n, 60)
    assert (drawn.min() == 0) == (n_pos == 1)
    for m in np.clip(drawn, 1, n - 1):
        values.append(
            metrics.average_precision(f_pos[rng.integers(n_pos, size=m)], f_neg[rng.integers(17, size=n - m)])
        )
    assert (found.low, found.high) == pytest.approx(expanded(values, 0.8, max(n_pos, 2)), rel=1e-12)


def test_a_summary_has_the_average_precision_of_a_random_sample_or_of_fixed_classes():
    rng = np.random.default_rng(21)
    f_pos, f_neg = rng.normal(1, 1, 20), rng.normal(size=60)
    how = {"confidence": 0.9, "n_resamples": 100, "seed": 3}
    for more in ({}, {"stratified": True}):
        found = metrics.summary(f_pos, f_neg, **how, **more)
        assert tuple(found["average_precision"]) == tuple(metrics.average_precision(f_pos, f_neg, **how, **more))
        assert tuple(found["bedroc"]) == tuple(metrics.bedroc(f_pos, f_neg, **how))  # at most 1


def test_a_difference_is_measured_on_the_same_rows():
    rng = np.random.default_rng(17)
    a, b = ((rng.normal(1, 1, 40), rng.normal(size=50)) for _ in range(2))
    found = metrics.difference(metrics.auc, a, b, confidence=0.9, n_resamples=101, seed=2)
    assert found == metrics.auc(*a) - metrics.auc(*b) == -metrics.difference(metrics.auc, b, a, n_resamples=40)
    rng, values = np.random.default_rng(2), []
    for _ in range(101):
        i, k = rng.integers(40, size=40), rng.integers(50, size=50)
        right = [((f[i][:, None] > g[k]).mean()) for f, g in (a, b)]
        values.append(right[0] - right[1])
    assert (found.low, found.high) == pytest.approx(expanded(values, 0.9, 40), abs=1e-12)
    # a list that differs little from another differs from it with little doubt
    near = a[0] + 0.05, a[1]
    close, alone = metrics.difference(metrics.auc, near, a), metrics.auc(*a, confidence=0.95)
    assert close.high - close.low < 0.2 * (alone.high - alone.low)
    same = metrics.difference(metrics.positives_at_top, a, a, n_resamples=40)
    assert tuple(same) == (0.0, 0.0, 0.0)


def test_a_difference_hands_named_arguments_to_its_measure():
    rng = np.random.default_rng(18)
    a, b = ((rng.normal(1, 1, 40), rng.normal(size=50)) for _ in range(2))
    found = metrics.difference(metrics.precision_at, a, b, k=7, n_resamples=50)
    assert found == metrics.precision_at(*a, k=7) - metrics.precision_at(*b, k=7)
    again = metrics.difference(lambda f_pos, f_neg: metrics.precision_at(f_pos, f_neg, k=7), a, b, n_resamples=50)
    assert tuple(found) == tuple(again)
    with pytest.raises(TypeError, match="'depth'"):
        metrics.difference(metrics.auc, a, b, depth=7)


def test_intervals_cover_what_they_estimate():
    """The AUC of two normals, 1.5 apart: 90 % of the intervals hold it, give or take four standard errors."""
    truth, held = 0.5 * math.erfc(-1.5 / 2), 0
    rng = np.random.default_rng(15)
    for seed in range(300):
        found = metrics.auc(rng.normal(1.5, 1, 60), rng.normal(size=90), confidence=0.9, n_resamples=300, seed=seed)
        held += found.low <= truth <= found.high
    assert 0.9 - 4 * 0.0173 < held / 300 < 0.9 + 4 * 0.0173


@pytest.mark.parametrize(
    ("name", "n_pos", "apart", "least"), [("auc", 10, 2.3, 0.93), ("average_precision", 8, 2.3, 0.92)]
)
def test_intervals_cover_with_few_positives(name, n_pos, apart, least):
    """Without their rules, 80 and 86 % of these intervals hold the mean."""
    rng, measure = np.random.default_rng(20), getattr(metrics, name)
    lists = [(rng.normal(apart, 1, n_pos), rng.normal(size=200)) for _ in range(3000)]
    truth = np.mean([measure(*f) for f in lists])
    found = [measure(*f, confidence=0.95, n_resamples=300, seed=seed) for seed, f in enumerate(lists[:300])]
    assert np.mean([x.low <= truth <= x.high for x in found]) > least


def test_the_interval_of_the_auc_reads_both_sides_and_both_ends_alike():
    rng = np.random.default_rng(21)
    f_pos, f_neg = rng.normal(1.5, 1, 9), rng.normal(size=50)
    found = metrics.auc(f_pos, f_neg, confidence=0.9, n_resamples=4000)
    other = metrics.auc(-f_neg, -f_pos, confidence=0.9, n_resamples=4000)
    assert tuple(other) == pytest.approx(tuple(found), abs=0.01)
    below = metrics.auc(f_neg, f_pos, confidence=0.9, n_resamples=4000)
    assert (1.0 - below.high, 1.0 - below.low) == pytest.approx((found.low, found.high), abs=0.01)
    assert found - found.low > found.high - found  # a good list has more room below
    doubled = metrics.auc(f_pos, f_neg, pos_weight=np.full(9, 2.0), confidence=0.9, n_resamples=4000)
    assert tuple(doubled) == pytest.approx(tuple(found), abs=1e-9)  # rows are drawn, not copies
    table = metrics.auc(metrics.ScoreTable.of(f_pos, f_neg), confidence=0.9, n_resamples=4000)
    assert tuple(table) == pytest.approx(tuple(found), abs=0.01)


def test_an_estimate_is_a_number():
    found = metrics.auc([3, 1, 2], [1, 0, 2.5], confidence=0.9)
    value, low, high = found
    assert low <= value <= high
    assert f"{found:.2f}" == "0.72"
    assert repr(found) == str(found) == "0.722222 [0.276557, 0.943043]"
    assert found + 1 == value + 1
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert tuple(twin) == (value, low, high)
        assert twin.confidence == 0.9


# Summaries --------------------------------------------------------------------------------------------


def test_a_summary_holds_what_the_functions_say():
    rng = np.random.default_rng(16)
    f_pos, f_neg = rng.integers(0, 40, 50) + 5, rng.integers(0, 40, 200)
    found = metrics.summary(f_pos, f_neg, 0.1, max_fpr=0.2, confidence=0.9, n_resamples=50, seed=3)
    more = {"confidence": 0.9, "n_resamples": 50, "seed": 3}
    expected = {
        "positives_at_top": metrics.positives_at_top(f_pos, f_neg, **more),
        "r_max": metrics.r_max(f_pos, f_neg, **more),
        "precision_at": metrics.precision_at(f_pos, f_neg, 0.1, **more),
        "recall_at": metrics.recall_at(f_pos, f_neg, 0.1, **more),
        "enrichment_factor": metrics.enrichment_factor(f_pos, f_neg, 0.1, **more),
        "bedroc": metrics.bedroc(f_pos, f_neg, **more),
        "normalized_discounted_gain": metrics.discounted_gain_at_top(f_pos, f_neg, normalized=True, **more),
        "average_precision": metrics.average_precision(f_pos, f_neg, **more),
        "standardized_partial_auc": metrics.partial_auc(f_pos, f_neg, 0.2, standardized=True, **more),
        "auc": metrics.auc(f_pos, f_neg, **more),
    }
    assert list(found) == ["positives", "negatives", "k", "max_fpr", *expected]
    assert list(found.values())[:4] == [50, 200, 25, 0.2]
    for name, estimate in expected.items():
        assert tuple(found[name]) == tuple(estimate)
    lines = str(found).splitlines()
    assert len(lines) == 15
    assert "to" in lines[-2]
    assert [line.split()[0] for line in lines if line.endswith(" *")] == ["positives_at_top", "r_max"]
    assert lines[-1].startswith("* One row decides, so this interval is too short")
    assert "to" not in str(metrics.summary(f_pos, f_neg)).replace("_top", "").replace("_factor", "")
    large = str(metrics.summary(np.arange(1_234_567), [0.5])).splitlines()
    assert large[0].split() == ["positives", "1234567"]
    plain = metrics.summary(f_pos, f_neg, 0.1)
    assert {name for name, value in plain.items() if type(value) is int} == {
        "positives", "negatives", "k", "positives_at_top", "r_max"}  # fmt: skip
    assert metrics.precision_at(f_pos, f_neg, plain["k"]) == plain["precision_at"]
    assert "bedroc" not in metrics.summary(f_pos, f_neg, pos_weight=np.full(50, 0.5))


# Refusals ---------------------------------------------------------------------------------------------

POS, NEG = [2.0, 1.0], [1.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: metrics.auc([], NEG), ValueError, "f_pos is empty; at least one row is needed"),
        (lambda: metrics.auc(POS, [1.0, math.nan]), ValueError, "f_neg has nan at position 1; every value must be"),
        (lambda: metrics.heights(POS, NEG, pos_weight=[1]), ValueError, "pos_weight must have shape (2,)"),
        (lambda: metrics.reverse_heights(POS, NEG, neg_weight=[0, 0, 0]), ValueError, "neg_weight is all zero"),
        (lambda: metrics.roc_counts(POS, NEG, neg_weight=[1, -1, 0]), ValueError, "the negative weight -1.0 at row 1"),
        (lambda: metrics.auc(POS, NEG, confidence=1), ValueError, "confidence must be above 0 and below 1; got 1"),
        (lambda: metrics.auc(POS, NEG, confidence="0.9"), TypeError, "confidence must be a real number"),
        (lambda: metrics.auc(POS, NEG, confidence=0.9, n_resamples=19), ValueError, "n_resamples must be at least 20"),
        (lambda: metrics.auc(POS, NEG, confidence=0.9, seed=True), ValueError, "seed must be an integer, zero or more"),
        (lambda: metrics.auc(POS, NEG, pos_weight=[1e308, 1e308]), ValueError, "pos_weight sums to more than a float can"),
        (lambda: metrics.precision_at(POS, NEG, 6, pos_weight=[1, 1]), ValueError, "at most the sum of the weights, 5; got 6"),
        (lambda: metrics.partial_auc(POS, NEG, min_fpr=0.0, min_fp=0), ValueError, "min_fpr and min_fp set the same bound"),
        (lambda: metrics.auc(POS, NEG, confidence=0.9, seed=-1), ValueError, "seed must be an integer, zero or more"),
        (lambda: metrics.partial_auc(POS, NEG, 1.5), ValueError, "max_fpr must be between 0 and 1; got 1.5"),
        (lambda: metrics.partial_auc(POS, NEG, 0.0), ValueError, "must be below the upper bound (max_fpr or max_fp); got the rates 0 and 0"),
        (lambda: metrics.partial_auc(POS, NEG, 0.2, min_fpr=0.4), ValueError, "the lower bound (min_fpr or min_fp) must be below the upper bound"),
        (lambda: metrics.partial_auc(POS, NEG, 0.2, max_fp=2), ValueError, "max_fpr and max_fp set the same bound, as a rate and as a number"),
        (lambda: metrics.partial_auc(POS, NEG, max_fp=4), ValueError, "max_fp must be between 0 and the 3 negatives; got 4"),
        (lambda: metrics.partial_auc(POS, NEG, min_tpr=1.0), ValueError, "min_tpr must be less than 1"),
        (lambda: metrics.precision_at(POS, NEG, 0), ValueError, "k, a number of rows (a share of them is a float), must be at least 1; got 0"),
        (lambda: metrics.precision_at(POS, NEG, 6), ValueError, "k must be at most the number of rows, 5; got 6"),
        (lambda: metrics.recall_at(POS, NEG, 10.0), ValueError, "at most 1; got 10.0. Pass an integer for a number of rows"),
        (lambda: metrics.recall_at(POS, NEG, 0.0), ValueError, "k as a share of the rows must be above 0 and at most 1; got 0.0"),
        (lambda: metrics.enrichment_factor(POS, NEG, "1%"), TypeError, "(a share of them is a float), must be an integer; got '1%' (str)"),
        (lambda: metrics.discounted_gain_at_top(POS, NEG, True), TypeError, "must be an integer; got True (bool)"),
        (lambda: metrics.bedroc(POS, NEG, 0), ValueError, "alpha must be above 0; got 0"),
        (lambda: metrics.p_norm_risk(POS, NEG, 0.5), ValueError, "p must be at least 1"),
        (lambda: metrics.p_norm_risk(POS, NEG, 2, -1), ValueError, "theta must be zero or more; got -1"),
        (lambda: metrics.crossing(3, 4), TypeError, "roc_a must be a pair of false and true positives, as roc_counts returns"),
        (lambda: metrics.crossing(([0, 1], [0, 1]), ([0, 2], [0, 1])), ValueError,
         "roc_a ends at 1 negatives and 1 positives and roc_b at 2 and 1; both must rank the same rows"),
        (lambda: metrics.crossing(([0, 2, 1], [0, 1, 1]), ([0, 1], [0, 1])), ValueError, "roc_a must rise from (0, 0)"),
        (lambda: metrics.crossing(([0, 1], [0, 1]), ([0, 1], [0, 1, 1])), ValueError, "roc_b must have as many false as true positives; got 2 and 3"),
        (lambda: metrics.difference("auc", (POS, NEG), (POS, NEG)), TypeError, "measure must be a function of (f_pos, f_neg)"),
        (lambda: metrics.difference(np.zeros(3), np.zeros(3), metrics.auc), TypeError, "got ndarray. It comes first: difference(pnorm.metrics.auc, a, b"),
        (lambda: metrics.difference(metrics.auc, POS[0], (POS, NEG)), TypeError, "a must be a pair of scores (f_pos, f_neg)"),
        (lambda: metrics.difference(metrics.auc, (POS, NEG), (POS, [])), ValueError, "f_neg of b is empty"),
        (lambda: metrics.difference(metrics.auc, (POS, NEG), (POS, POS)), ValueError,
         "must rank the same rows; a has 2 positives and 3 negatives, b has 2 and 2"),
        (lambda: metrics.summary(POS, NEG, max_fpr=0.0), ValueError, "max_fpr must be above 0"),
        (lambda: metrics.summary(POS, NEG, k=9), ValueError, "k must be at most the number of rows, 5; got 9"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_labels_in_the_place_of_scores_are_pointed_out():
    y, f = np.tile([1, 0, 1, 0, 0], 5), np.random.default_rng(0).random(25)
    for sides, name in (((y, f), "f_pos"), ((f, y), "f_neg")):
        with warns(UserWarning, f"{name} holds only zeros and ones, .* If these are labels, pass the scores"):
            metrics.auc(*sides)
        with warns(UserWarning, f"{name} holds only zeros and ones"):
            pnorm.cutoff(*sides, budget=3)
    metrics.auc(y, 1 - y)  # two sides of indicators are scores as good as any
    metrics.auc(y, f[:24])
    with warns(UserWarning, r"f_pos holds only zeros and ones.*: auc\(scores, y=labels\)"):
        metrics.auc(y[:6] == 1, f[:6])
    with warns(UserWarning, "f_pos holds only minus ones and ones"):
        metrics.auc(2 * y - 1, f)
    assert metrics.auc(f, y=y) == metrics.auc(f[y == 1], f[y == 0])  # as the message says
    metrics.auc(y[:6], np.round(2 * f[:6]))  # of a few rows with a few levels many are so
    metrics.auc(y[:6], [0.5, 1.0, 0.0, 0.5, 0.0, 0.25])
    metrics.auc(y[:3], f[:3])


def test_a_tie_with_the_best_negative_is_not_at_the_top():
    assert pnorm.metrics.positives_at_top([2, 2, 3], [2, 1]) == 1
    assert pnorm.metrics.positives_at_top([2.0], [2.0]) == 0


SHARES = {  # measures that depend on the weights of either side by their shares alone
    "auc": metrics.auc,
    "partial_auc": lambda f, g, **c: metrics.partial_auc(f, g, 0.6, min_fpr=0.1, min_tpr=0.2, **c),
    "p_norm_risk": lambda f, g, **c: metrics.p_norm_risk(f, g, 3, **c),
    "p_norm_risk, theta": lambda f, g, **c: metrics.p_norm_risk(f, g, 1, 0.5, **c),
}
SHARES_OF_ALL = {  # and those that depend on the shares in all rows
    "precision_at": lambda f, g, **c: metrics.precision_at(f, g, 0.3, **c),
    "recall_at": lambda f, g, **c: metrics.recall_at(f, g, 0.3, **c),
    "enrichment_factor": lambda f, g, **c: metrics.enrichment_factor(f, g, 0.3, **c),
    "average_precision": metrics.average_precision,
}
COUNTS = {  # and those that are sums of weights
    "r_max": metrics.r_max,
    "positives_at_top": metrics.positives_at_top,
    "roc_counts": lambda f, g, **c: np.concatenate(metrics.roc_counts(f, g, **c)),
    "heights": lambda f, g, pos_weight, neg_weight: metrics.heights(f, g, pos_weight=pos_weight),
}


@drawn(st.integers(0, 2**32), st.sampled_from([-1074, -1060, -700, -300, 300, 1000]))
def test_weights_of_any_size_keep_their_digits(seed, exponent):
    rng = np.random.default_rng(seed)
    f, g = (rng.integers(0, 6, n) / 2 for n in rng.integers(1, 7, 2))
    c, d = (rng.integers(1, 50, x.size) + 0.0 for x in (f, g))
    c[1:] *= rng.integers(0, 2, c.size - 1)
    tiny = 2.0**exponent  # times a whole number, it is exact
    exact = Fraction(0)
    for x, a in zip(f, c, strict=True):
        exact += sum(
            Fraction(a) * Fraction(b) * (Fraction(int(x > y)) + Fraction(int(x == y), 2))
            for y, b in zip(g, d, strict=True)
        )
    exact /= Fraction(c.sum()) * Fraction(d.sum())
    for a, b in ((c * tiny, d), (c, d * tiny), (c * tiny, d * tiny)):
        assert metrics.auc(f, g, pos_weight=a, neg_weight=b) == pytest.approx(float(exact), rel=1e-14)
        for name, measure in SHARES.items():
            # half of a whole number is none: k, a share of the rows, is then not rounded up
            expected = measure(f, g, pos_weight=c / 64, neg_weight=d / 64)
            assert measure(f, g, pos_weight=a, neg_weight=b) == pytest.approx(expected, rel=1e-14), name
    for name, measure in SHARES_OF_ALL.items():
        expected = measure(f, g, pos_weight=c / 64, neg_weight=d / 64)
        if exponent < 0:
            assert measure(f, g, pos_weight=c * tiny, neg_weight=d * tiny) == pytest.approx(expected, rel=1e-14), name
        assert not math.isinf(measure(f, g, pos_weight=c * tiny, neg_weight=d)), name
    for name, measure in COUNTS.items():
        expected = measure(f, g, pos_weight=c, neg_weight=d)
        np.testing.assert_array_equal(measure(f, g, pos_weight=c * tiny, neg_weight=d * tiny), expected * tiny, name)


def test_a_weight_that_is_the_least_of_all_doubles():
    assert metrics.auc([0.0], [1.0, -1.0], pos_weight=[5e-324]) == 0.5
    given = {"pos_weight": [5e-324, 1e-323], "neg_weight": [5e-324, 5e-324], "confidence": 0.5, "n_resamples": 20}
    whole = {"pos_weight": [1, 2], "neg_weight": [1, 1], "confidence": 0.5, "n_resamples": 20}
    for measure, unit in ((metrics.auc, 1.0), (metrics.r_max, 5e-324)):
        np.testing.assert_array_equal(
            list(measure([0.0, 3.0], [1.0, -1.0], **given)),
            unit * np.array(list(measure([0.0, 3.0], [1.0, -1.0], **whole))),
        )
    summary = metrics.summary([0.0, 3.0], [1.0, -1.0], 0.5, pos_weight=[5e-324, 1e-323], neg_weight=[5e-324, 5e-324])
    assert (summary["positives"], summary["negatives"], summary["auc"]) == (1.5e-323, 1e-323, pytest.approx(2.5 / 3))
