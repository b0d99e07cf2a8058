"""The whole job: what is held out, learned and measured."""

import dataclasses
import importlib
import itertools
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from facts import raises
from repeats import each_value, trials
from scipy.interpolate import BSpline
from scipy.special import expit
from scipy.stats import binomtest, mannwhitneyu

import pnorm
from pnorm import _checks, metrics
from pnorm._command import printing
from pnorm._job import hold_out
from pnorm._job import tested as job
from pnorm._job.baselines import CURVES, LINEAR, PENALTIES, TREES, WEIGHTS, _chosen, _logistic, baselines
from pnorm._job.copies import copies
from pnorm._job.learn import Settings, learn
from pnorm._job.quality import PLACES, quality
from pnorm._report import markup
from pnorm.metrics._ranked_list import RankedList
from pnorm.metrics._shares import first_rows
from pnorm.rankers import from_table

KEYS = {"precision": metrics.precision_at, "recall": metrics.recall_at, "lift": metrics.enrichment_factor}
WHOLE = {
    "positives_at_top": metrics.positives_at_top,
    "average_precision": metrics.average_precision,
    "auc": metrics.auc,
}


def lists(n_pos, n_neg, seed=0, digits=None):
    """Scores of two lists of the same rows, of which the first is better."""
    rng = np.random.default_rng(seed)
    base = rng.normal(1.0, 1.0, n_pos), rng.normal(0.0, 1.0, n_neg)
    made = [[x + scale * rng.normal(size=x.size) for x in base] for scale in (0.2, 1.5)]
    return made if digits is None else [[x.round(digits) for x in sides] for sides in made]


@pytest.mark.parametrize("digits", [None, 1])
def test_values_are_those_of_metrics(digits):
    a, b = lists(60, 200, digits=digits)
    found = quality(*a, {"b": b}, depths=[5, 77])
    assert found.depths == (5, 77)
    for depth in (5, 77):
        for key, of_list in KEYS.items():
            measure = found.measure(key, depth)
            assert float(measure.value) == pytest.approx(of_list(*a, depth))
            assert measure.others == pytest.approx([of_list(*b, depth)])
        assert float(found.measure("hits", depth).value) == pytest.approx(depth * metrics.precision_at(*a, depth))
    for key, of_list in WHOLE.items():
        assert float(found.measure(key).value) == pytest.approx(of_list(*a))
        assert found.measure(key).others == pytest.approx([of_list(*b)])
    partial_auc = metrics.partial_auc(*a, max_fp=10, standardized=True)
    assert float(found.measure("partial_auc").value) == pytest.approx(partial_auc)
    assert "first 10 negatives" in found.measure("partial_auc").name


@pytest.mark.parametrize(("n_pos", "n_neg", "k", "room"), [(80, 300, 20, 0.2), (500, 3000, 100, 0.3)])
def test_intervals_are_those_of_metrics(n_pos, n_neg, k, room):
    """Also where places are put together."""
    a, b = lists(n_pos, n_neg)
    assert (len(np.unique(np.concatenate(a))) > PLACES) == (n_pos == 500)
    found = quality(*a, {"b": b}, depths=[k])
    assert found.difference.other == "b"
    precision = partial(metrics.precision_at, k=k)
    pairs = [(found.measure(key).value, WHOLE[key](*a, confidence=0.95)) for key in ("average_precision", "auc")]
    pairs.append((found.difference.value, metrics.difference(precision, a, b, confidence=0.975, n_resamples=400)))
    for value, again in pairs:
        assert float(value) == pytest.approx(float(again))
        assert tuple(value)[1:] == pytest.approx((again.low, again.high), abs=room * (again.high - again.low))


def alike(n_others, n_pos=60, n_neg=200, seed=0):
    """Scores of lists of the same rows that are equally good, the first one apart."""
    rng = np.random.default_rng(seed)
    merit = rng.normal(1.5, 1.0, n_pos), rng.normal(0.0, 1.0, n_neg)
    own, *others = [[x + 0.5 * rng.normal(size=x.size) for x in merit] for _ in range(1 + n_others)]
    return own, {f"list {i}": sides for i, sides in enumerate(others)}


def test_differences_hold_jointly_as_in_a_bootstrap_row_by_row():
    own, others = alike(3)
    found = [quality(*own, others, seed=seed).averages[1] for seed in range(4)]  # few resamples are beyond an end
    rng = np.random.default_rng(1)
    again = []
    for _ in range(2000):
        at = [rng.integers(side.size, size=side.size) for side in own]
        drawn = [[side[rows] for side, rows in zip(sides, at, strict=True)] for sides in (own, others["list 1"])]
        again.append(metrics.average_precision(*drawn[0]) - metrics.average_precision(*drawn[1]))
    of_one, of_six = [np.diff(np.quantile(again, [miss / 2, 1 - miss / 2])).item() for miss in (0.05, 0.05 / 6)]
    value = metrics.average_precision(*own) - metrics.average_precision(*others["list 1"])
    assert [(difference.other, float(difference.value)) for difference in found] == 4 * [("list 1", value)]
    width = np.mean([difference.value.high - difference.value.low for difference in found])
    assert width == pytest.approx(of_six, abs=0.5 * (of_six - of_one))


@pytest.mark.parametrize(("n_others", "confidence"), [(1, 0.95), (3, 0.99)])
def test_the_chances_of_all_differences_to_miss_add_up_to_that_of_the_page(n_others, confidence):
    own, others = alike(n_others, 15, 40)
    found = quality(*own, others, confidence=confidence)
    values = [difference.value for difference in (*found.differences, *found.averages)]
    assert len(values) == 2 * n_others
    assert sum([1.0 - value.confidence for value in values]) == pytest.approx(1.0 - confidence)
    assert all(measure.value.confidence == confidence for measure in found.measures)
    assert all(value.low <= value <= value.high for value in values)


def test_more_lists_make_the_intervals_of_differences_wider_and_no_others():
    own, others = alike(3)
    few, many = quality(*own, {"list 0": others["list 0"]}), quality(*own, others)
    one, of_many = few.averages[0].value, many.averages[0].value
    assert of_many.low < one.low < one < one.high < of_many.high
    assert [tuple(measure.value) for measure in few.measures] == [tuple(measure.value) for measure in many.measures]


def test_the_benchmark_counts_the_words_of_the_page(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    script = importlib.import_module("comparisons")
    (pos, neg), others = alike(3, 40, 100)
    for shift, words in ((2.0, "this list is better"), (-2.0, "the other list is better")):
        found = quality(pos + shift, neg, others, depths=[40])
        said = np.array(script.said(found))
        assert said.shape == (2, 3, 2)
        assert (said == [shift > 0, shift < 0]).all()
        assert " ".join(markup.beside(found)).count(words) == 6  # of three lists, in two measures


def test_lists_without_a_mistake_are_told_apart_further_down():
    neg = np.arange(100.0)
    a, b = (np.arange(200.0, 220.0), neg), (np.r_[np.arange(200.0, 215.0), np.full(5, -1.0)], neg)
    found = quality(*a, {"b": b}, depths=[4, 20, 50])
    assert found.main == 4
    assert (found.difference.depth, float(found.difference.value)) == (20, 0.25)
    same = quality(*a, {"b": a}, depths=[4]).difference
    assert (same.depth, tuple(same.value)) == (4, (0.0, 0.0, 0.0))


def test_from_below_negatives_are_what_is_looked_for():
    (pos, neg), b = lists(90, 40)
    below = quality(pos, neg, {"b": b}, push="bottom", depths=[15])
    turned = quality(-neg, -pos, {"b": (-b[1], -b[0])}, depths=[15])
    for one, other in zip(below.measures, turned.measures, strict=True):
        assert (float(one.value), one.others) == (float(other.value), other.others)
    assert "negatives below every positive" in [measure.name for measure in below.measures]
    assert below.measure("precision").name == "precision in the last 15"
    assert (below.n_pos, below.n_neg, below.share) == (90, 40, 40 / 130)


@pytest.mark.usefixtures("few_resamples")
def test_depths_by_default():
    def depths(n_pos, n_neg, **how):
        found = quality(*lists(n_pos, n_neg)[0], **how)
        return found.depths, found.main

    assert depths(3, 20) == ((3, 4), 3)
    assert depths(70, 930) == ((10, 70, 100), 10)
    assert depths(600, 1000) == ((10, 100, 600), 100)
    assert depths(90, 910) == ((10, 100), 10)
    assert depths(70, 930, budget=35) == ((10, 35, 70, 100), 35)
    assert depths(70, 930, depths=[8]) == ((8,), 8)


def test_intervals_of_first_rows_are_in_the_units_of_each_measure():
    a, _ = lists(40, 300)
    found = quality(*a, depths=[25], confidence=0.9)
    at = RankedList(*a).distinct
    hits = round(float(found.measure("hits").value))
    ends = first_rows(at, 25, 0.9)
    of_rows, of_hits = (ends.low[0], ends.high[0]), tuple(ends.measure("recall", 0))[1:]
    exact = tuple(binomtest(hits, 25).proportion_ci(0.9))
    assert of_rows != pytest.approx(exact, rel=0.01)  # the precision changes with the number of rows
    assert of_rows == pytest.approx(exact, abs=0.1)
    for key, factor, (low, high) in (
        ("precision", 1.0, of_rows),
        ("hits", 25.0, of_rows),
        ("lift", 340 / 25, of_hits),
        ("recall", 1.0, of_hits),
    ):
        value = found.measure(key).value
        assert (value.low, value.high) == pytest.approx((factor * low, factor * high))
        assert value.confidence == 0.9
    table = quality(metrics.ScoreTable.of(*a), None, depths=[25], confidence=0.9)
    assert tuple(table.headline.value) == pytest.approx(tuple(found.headline.value))


def test_recall_and_lift_cover_the_number_of_positives():
    found = quality(np.arange(200.0, 300.0), np.arange(100.0), depths=[10, 200])
    value, low, high = found.measure("recall", 10).value
    assert low < value == 0.1 < high
    assert tuple(found.measure("lift", 10).value) == pytest.approx([20 * value, 20 * low, 20 * high])
    for key in ("recall", "lift"):
        assert tuple(found.measure(key, 200).value) == (1.0, 1.0, 1.0)


def test_a_measure_of_one_negative_is_shown_without_an_interval():
    rng = np.random.default_rng(0)
    noise = quality(rng.normal(size=60), rng.normal(size=60))
    good = [quality(*lists(40, 300)[0], push=push) for push in ("top", "bottom")]
    assert [found.beats_chance for found in (noise, *good)] == [False, True, True]
    for found in (noise, *good):
        without = [measure.key for measure in found.measures if not found.has_interval(measure)]
        assert without == ["positives_at_top"]
    (line,) = [line for line in printing.quality_lines(noise) if line.startswith("partial AUC")]
    assert re.search(r" \d\.\d+ +\d\.\d+ to \d\.\d+ +0\.500$", line)


def test_a_list_without_a_mistake_has_intervals_with_a_width():
    found = quality(np.arange(10.0, 40.0), np.arange(10.0), depths=[10])
    auc = metrics.auc(np.arange(10.0, 40.0), np.arange(10.0), confidence=0.95)
    assert tuple(found.measure("auc").value) == tuple(auc)
    assert auc.low < auc.high
    value, low, high = found.measure("precision").value
    assert (value, low, high) == (1.0, pytest.approx(0.025 ** (1 / 10)), 1.0)
    for key, of in (("average_precision", metrics.average_precision), ("partial_auc", partial_auc)):
        own = of(np.arange(10.0, 40.0), np.arange(10.0), confidence=0.95)
        assert tuple(found.measure(key).value) == pytest.approx(tuple(own), abs=1e-12)
        assert own.low < own == own.high == 1.0


def partial_auc(*f, **more):
    """The partial AUC of lists with ten negatives."""
    return metrics.partial_auc(*f, standardized=True, **more)


def test_chance_is_the_mean_over_all_orders():
    found = quality(*lists(3, 6)[0], depths=[4])
    f, orders = np.arange(9.0), list(itertools.combinations(range(9), 3))
    sides = [(f[list(pos)], np.delete(f, pos)) for pos in orders]
    for key, of_list in WHOLE.items():
        assert found.measure(key).chance == pytest.approx(np.mean([of_list(*side) for side in sides]))
    for key, of_list in KEYS.items():
        assert found.measure(key, 4).chance == pytest.approx(np.mean([of_list(*side, 4) for side in sides]))


def test_curves():
    a, b = lists(400, 900)
    found = quality(*a, {"b": b})
    depth = found.by_depth
    assert depth.rows[0] == 1
    assert depth.rows[-1] == 1300
    assert depth.rows.size <= 200
    assert set(found.depths) <= set(depth.rows.tolist())
    for k, hits, low, high, other in zip(*depth[:4], depth.others[0], strict=True):
        assert hits == pytest.approx(k * metrics.precision_at(*a, int(k)))
        assert other == pytest.approx(k * metrics.precision_at(*b, int(k)))
        assert low <= hits <= high
    for roc, f in zip(found.roc, (a, b), strict=True):
        whole = metrics.roc_counts(*f)
        points = set(zip(*[x.tolist() for x in whole], strict=True))
        assert set(zip(*[x.tolist() for x in roc], strict=True)) <= points
        assert len(roc.true_positives) <= 400
        assert (roc.false_positives[0], roc.true_positives[0]) == (0.0, 0.0)
        assert (roc.false_positives[-1], roc.true_positives[-1]) == (900.0, 400.0)


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_quality_of_tables_of_scores(push):
    (pos, neg), (other_pos, other_neg) = lists(300, 2000)
    how = {"push": push, "depths": [10, 150]}
    rows = quality(pos, neg, {"b": (other_pos, other_neg)}, **how)
    of = metrics.ScoreTable.of
    exact = quality(of(pos, neg), None, {"b": (of(other_pos, other_neg), None)}, **how)
    assert exact.difference is None
    assert (exact.n_pos, exact.n_neg, exact.main, exact.lists) == (rows.n_pos, rows.n_neg, rows.main, rows.lists)
    for a, b in zip(exact.measures, rows.measures, strict=True):
        assert (a.name, a.key, a.depth, a.chance) == (b.name, b.key, b.depth, b.chance)
        assert float(a.value) == pytest.approx(float(b.value), rel=1e-13)
        assert a.others == pytest.approx(b.others, rel=1e-13)
        room = 0.35 * (b.value.high - b.value.low)
        assert tuple(a.value)[1:] == pytest.approx(tuple(b.value)[1:], abs=room)
    np.testing.assert_allclose(exact.by_depth.hits, rows.by_depth.hits)
    for a, b in zip(exact.roc, rows.roc, strict=True):
        np.testing.assert_array_equal(a, b)
    coarse = quality(of(pos, neg, size=500, top=200), None, **how)
    for a, b in zip(coarse.measures, rows.measures, strict=True):
        assert b.value.low - 0.01 <= a.value <= b.value.high + 0.01
    with raises(ValueError, "the table of 'b' has weights"):
        quality(pos, neg, {"b": (of(pos, neg, np.ones(300)), None)})
    with raises(ValueError, "others\\['b'\\] must score the same rows"):
        quality(pos, neg, {"b": (of(pos[1:], neg), None)})


def test_calibration_counts_what_happened():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=3000).round(3)
    y = rng.uniform(size=3000) < x
    found = quality(x[y], x[~y], probability=(x[y], x[~y])).calibration
    assert found.rows.sum() == 3000
    assert found.positives.sum() == y.sum()
    assert (found.low[1:] > found.high[:-1]).all()
    for low, high, mean, rows, hits, share in zip(*found, strict=True):
        within = (x >= low) & (x <= high)
        assert (within.sum(), y[within].sum()) == (rows, hits)
        assert mean == pytest.approx(x[within].mean())
        exact = binomtest(int(hits), int(rows)).proportion_ci()
        assert tuple(share) == pytest.approx((hits / rows, exact.low, exact.high), abs=1e-9)
    assert quality(x[y], x[~y]).calibration is None
    one = quality(x[y], x[~y], probability=(np.full(y.sum(), 0.5), np.full((~y).sum(), 0.5))).calibration
    assert one.rows.tolist() == [3000]


@each_value()
@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize(("n", "n_listed", "k"), [(400, 0, 50), (400, 70, 70), (30, 70, 30)])
@pytest.mark.parametrize(("shift", "off"), [(0.0, ""), (0.35, "too high"), (-0.35, "too low")])
def test_first_probabilities_are_compared_with_positives(push, n, n_listed, k, shift, off):
    rng = np.random.default_rng(3)
    x = rng.uniform(0.4, 0.6, n)
    y = rng.uniform(size=n) < x
    P = x + shift
    found = quality(P[y], P[~y], push=push, probability=(P[y], P[~y]), n_listed=n_listed)
    rows = sorted(range(n), key=lambda i: P[i], reverse=push == "top")[:k]
    positives, expected = sum(bool(y[i]) for i in rows), sum(P[i] for i in rows)
    low, high = (k * end for end in binomtest(positives, k).proportion_ci())
    first = found.first_probabilities
    assert (first.rows, first.expected) == (k, pytest.approx(expected))
    assert tuple(first.positives) == pytest.approx((positives, low, high))
    assert off == ("too high" if expected > high else "too low" if expected < low else "")
    told = markup.in_first(found)
    assert all(
        part in told for part in (f" {k} test rows ", f"{expected:.3g}{off and ', which is '}{off}", str(positives))
    )
    assert (told in markup.calibrated(found)[0]) == bool(off)


def test_first_probabilities_of_rows_that_tie():
    P = np.repeat([0.75, 0.25], [40, 80])
    y = np.arange(120) % 2 == 0
    first = quality(P[y], P[~y], probability=(P[y], P[~y])).first_probabilities
    assert (first.rows, first.expected) == (50, pytest.approx(40 * 0.75 + 10 * 0.25))
    assert first.positives == pytest.approx(20 + 10 * 40 / 80)  # half of the rows of either group are positive
    assert quality(P[y], P[~y]).first_probabilities is None


@pytest.mark.parametrize(
    ("of_first", "positives", "off", "is_wrong"),
    [(0.85, 36, "high", False), (0.85, 30, "high", True), (0.7, 50, "low", True)],
)
def test_first_probabilities_alone_may_be_wrong(of_first, positives, off, is_wrong):
    P = np.repeat([of_first, 0.1], [50, 4000])
    y = np.concatenate([np.arange(50) < positives, np.arange(4000) % 10 == 0])
    found = dataclasses.replace(quality(P[y], P[~y], probability=(P[y], P[~y])), slope=None)
    told, wrong = markup.calibrated(found)
    assert (f"too {off}; {positives} are positive" in told, wrong) == (True, is_wrong)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"others": {"b": ([1.0], [2.0, 3.0])}}, r"others\['b'\] must score the same rows"),
        ({"depths": [0]}, "depths must be"),
        ({"depths": [9]}, "at most the 6 rows"),
        ({"depths": []}, "one at least"),
        ({"budget": 7}, "at most the 6 rows"),
        ({"probability": ([0.5], [0.5])}, "must be of the 2 positives and 4 negatives"),
        ({"probability": ([0.5, 2.0], [0.5] * 4)}, "from 0 to 1"),
    ],
)
def test_quality_refuses(how, message):
    with raises(ValueError, message):
        quality([1.0, 2.0], [0.0, 1.0, 1.5, 3.0], **how)


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_lists_that_are_all_ties_or_two_rows(push):
    one = quality([1.0], [0.0], {"b": ([0.0], [1.0])}, push=push)
    assert (one.depths, float(one.headline.value), float(one.difference.value)) == ((1,), 1.0, 1.0)
    same = quality([2.0] * 30, [2.0] * 50, {"b": ([2.0] * 30, [2.0] * 50)}, push=push)
    assert float(same.headline.value) == same.share
    assert same.by_depth.hits == pytest.approx(same.share * same.by_depth.rows)


def test_a_column_of_zeros_and_ones_is_a_list():
    ones, mixed_up = np.ones(25), np.arange(25) % 2 * 1.0
    found = quality(ones, mixed_up, {"member alone": (ones, np.zeros(25))})  # without a warning
    assert float(found.measure("auc").value) == 0.76


def test_a_measure_by_its_key():
    found = quality([1.0, 2.0], [0.0, 1.0, 1.5, 3.0])
    assert found.headline is found.measure("precision", found.main)
    with pytest.raises(ValueError, match="measured for depths"):
        found.measure("recall", 5)
    with pytest.raises(ValueError, match="without a depth"):
        found.measure("auc", 5)
    with pytest.raises(ValueError, match="key"):
        found.measure("speed")


# Which rows are held out -----------------------------------------------------------------------------

DAYS = ["2024-01-05", "2024-01-01", "2024-02-01", "2023-12-31", "2024-01-05"]
LATER = [True, False, True, False, True]
FEW = [True] * 3 + [False] * 5


def test_a_share_of_either_class():
    y = np.arange(1000) % 10 == 0
    held = hold_out.share(y, 0.2, 7)
    assert (held[y].sum(), held[~y].sum()) == (20, 180)
    assert (held == hold_out.share(y, 0.2, 7)).all()
    assert (held != hold_out.share(y, 0.2, 8)).any()
    assert hold_out.share([1, 1, 0, 0, 0], 0.01).sum() == 2  # one of each at least
    assert hold_out.share([1, 1, 0, 0, 0], 0.99).sum() == 3  # and not all


@pytest.mark.parametrize(
    ("hold", "message"),
    [
        (lambda: hold_out.share([True, False, False]), "there is 1 positive row, and 2 are needed"),
        (lambda: hold_out.share([True, True]), "there are no negative rows"),
        (lambda: hold_out.share([True, False] * 5, 1.0), "share"),
        (lambda: hold_out.share(FEW, 0.2, 0, [0, 0, 0, 1, 2, 3, 4, 5]), "the positive rows have too few different ids"),
        (lambda: hold_out.share(FEW, 0.2, 0, [0, 1, 2, 3, 3, 3, 3, 3]), "the negative rows have too few different ids"),
        (lambda: hold_out.latest(DAYS, 0.6, y=[0, 1, 0, 1, 0]), "none of the 3 rows held out is positive"),
        (lambda: hold_out.latest(DAYS, 0.6, y=[0, 1, 1, 1, 0]), "none of the 2 rows to train on is negative"),
        (lambda: hold_out.both([0, 0], [0, 1]), "no row is held out"),
    ],
)
def test_either_part_needs_both_classes(hold, message):
    with raises(ValueError, message):
        hold()


def in_units(n, seed, of_each=3):
    """Rows of which some are about the same unit, and their labels; a unit may have rows of both classes."""
    rng = np.random.default_rng(seed)
    units = rng.integers(n // of_each, size=n)
    units = np.unique(units, return_inverse=True)[1]
    return units, rng.random(n) < 0.1 + 0.3 * (units % 4 == 0)


@pytest.mark.parametrize("seed", trials(2))
@pytest.mark.parametrize("part", [0.05, 0.7])
def test_all_rows_of_a_unit_are_on_one_side(part, seed):
    units, y = in_units(900, seed)
    held = hold_out.share(y, part, seed, units)
    assert not {*units[held].tolist()} & {*units[~held].tolist()}
    for side in (y, ~y):
        assert abs(held[side].sum() - part * side.sum()) <= np.bincount(units).max()


def test_units_of_one_row_change_no_draw():
    y = np.arange(200) % 7 == 0
    assert (hold_out.share(y, 0.3, 5, np.arange(200)) == hold_out.share(y, 0.3, 5)).all()
    assert hold_out.units(["a", "b", "", ""]) is None
    assert hold_out.units(["a", "", "b", "a", ""]).tolist() == [0, 1, 2, 0, 3]


@pytest.mark.usefixtures("few_points", "few_resamples")
def test_the_choice_divides_rows_by_their_units():
    """Near copies of rows of noise in several folds would make a list of noise look good."""
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(60), 4)
    X = rng.normal(size=(60, 3))[units] + 1e-6 * rng.normal(size=(240, 3))
    y = (np.arange(60) % 2 == 0)[units]
    held, how = hold_out.share(y, 0.2, 0, units), Settings(p=1.0, compare=False)
    apart, mixed = [job.tested(X, y, held, how, units=of).learned.cross_validation for of in (units, None)]
    assert apart.mean.max() < 0.65 < 0.7 < mixed.mean.max()


# Copies of training rows ------------------------------------------------------------------------------


def measured(n, seed, digits=2):
    """Columns of rows: measurements, some of them missing, and two categories."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, 100.0, n).round(digits)
    x[rng.random(n) < 0.05] = np.nan
    return [rng.integers(4, size=n), x, rng.integers(2, size=n)]


def pairs_of(columns, training, held):
    return [(column[training], column[held]) for column in columns]


def equal_rows(columns, training, held):
    """The rule of `copies` without its thresholds on the number, by comparing all pairs; the second column is finest."""
    n_equal = n_told = 0
    for i in held:
        same = [[c[i] == c[j] or (c[i] != c[i] and c[j] != c[j]) for c in columns] for j in training]
        equal = sum(map(all, same))
        near = sum([all([*of[:1], *of[2:]]) for of in same])
        others = sum([of[1] for of in same]) - equal
        n_equal += equal > 0
        n_told += equal > 0 and equal**2 <= len(training) and near * others / len(training) < 0.5
    return n_equal, n_told


@pytest.mark.parametrize("seed", trials(2))
def test_copies_are_the_rows_that_a_comparison_of_all_pairs_finds(seed):
    rng = np.random.default_rng(seed)
    again = np.r_[np.arange(200), rng.choice(200, 40, replace=False)]
    columns = [column[again] for column in measured(200, seed)]
    order = rng.permutation(again.size)
    training, held = order[60:], order[:60]
    n_equal, n_told = equal_rows(columns, training, held)
    assert 5 < n_told <= n_equal
    assert copies(pairs_of(columns, training, held)) == n_told


def test_rows_that_are_equal_by_chance_are_no_copies():
    columns, held = measured(800, 0), np.arange(800) < 160

    def n_equal(columns):
        assert copies(pairs_of(columns, ~held, held)) == 0
        return equal_rows(columns, np.flatnonzero(~held), np.flatnonzero(held))[0]

    few = [np.round(columns[1] / 100.0), *columns[::2]]  # few values: nearly all rows are equal to others
    assert n_equal(few) > 140
    columns[1][::3] = 0.0  # many rows without any purchase
    columns[0][::3] = columns[2][::3] = 0
    assert n_equal(columns) > 50


def test_equal_values_of_one_column_are_no_copies():
    """Nothing else in the rows says whether chance explains them."""
    visits = np.arange(1500.0) % 600.0
    held = np.arange(1500) >= 1200
    assert np.isin(visits[held], visits[~held]).all()
    assert copies(pairs_of([visits], ~held, held)) == 0
    assert copies(pairs_of([visits, np.sqrt(visits)], ~held, held)) == 300


def test_copies_are_told_if_they_are_one_in_a_hundred():
    columns = measured(5000, 0, digits=12)
    again = np.arange(4000)
    for n, told in ((9, 0), (10, 10)):
        of = np.r_[again, np.flatnonzero(~np.isnan(columns[1]))[:n], np.arange(4000, 5000 - n)]
        found = [column[of] for column in columns]
        held = np.arange(of.size) >= 4000
        assert copies(pairs_of(found, ~held, held)) == told


def test_a_test_with_copies_has_a_warning():
    x = measured(900, 0, digits=12)
    again = np.r_[np.arange(900), np.arange(100)]
    table = {"region": np.array(list("abcd"))[x[0][again]].tolist(), "amount": x[1][again]}
    y, held = (x[0] == 0)[again], np.arange(1000) >= 800
    how = Settings(p=1.0, t_max=20, compare=False)
    found = job.tested(table, y, held, how, units=None)
    assert found.copied[0].startswith("95 or more of the 200 test rows are copies of training rows")
    assert found.warnings[-1:] == found.copied
    units = hold_out.units([str(k) for k in again])
    assert job.tested(table, y, hold_out.share(y, 0.2, 0, units), how, units=None).copied == ()


@pytest.mark.parametrize(
    "times",
    [
        np.array(DAYS, "M8[D]"),
        ["4,5", "1,5", "31,5", "0,5", "4,5"],
        ["05.01.2024", "01.01.2024", "01.02.2024", "31.12.2023", "05.01.2024"],
        ["10:30", "9:00", "23:15", "8:59", "10:30"],
        [np.timedelta64(hours, "h") for hours in (40, 10, 310, 0, 40)],
    ],
)
def test_the_latest_rows_with_ties_on_one_side(times):
    assert hold_out.latest(times, 0.6).tolist() == LATER
    assert hold_out.latest(times, 0.5).tolist() == LATER
    assert hold_out.latest(times, 0.2).tolist() == [False, False, True, False, False]
    assert hold_out.latest(times, 0.99).tolist() == [True, True, True, False, True]


def test_rows_without_a_time_are_not_held_out():
    """The share is that of the other rows."""
    assert hold_out.latest([*DAYS, *[None] * 20], 0.6).tolist() == [*LATER, *[False] * 20]
    assert hold_out.latest([float("nan"), 3.0, 1.0, 2.0], 1 / 3).tolist() == [False, True, False, False]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_latest_rows_of_a_column_of_a_frame(library):
    module = pytest.importorskip(library)
    dates = np.array(DAYS, "M8[us]").tolist()
    column = {"pandas": "Series", "polars": "Series", "pyarrow": "array"}[library]
    assert hold_out.latest(getattr(module, column)(dates), 0.5).tolist() == LATER


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([float("nan"), float("nan")], "'when' must hold dates"),
        ([float("nan"), 4.0, 4.0], "all times in 'when' are the same"),
        (["soon", "late", "2024-01-01"], "'when' must hold dates, times or numbers.*soon"),
        ([True, False, True], "'when' must hold dates"),
        (["01/02/2024", "03/04/2024", "05/06/2024"], "day or the month"),
    ],
)
def test_times_that_say_nothing(times, message):
    with raises(ValueError, message):
        hold_out.latest(times, 0.3, name="'when'")
    known = hold_out.Times("when", "date")
    known.add(["", ""], np.arange(2))
    with raises(ValueError, "no row has a time in when"):
        hold_out.latest(["", ""], name="when", known=known)


# Learning and comparing -------------------------------------------------------------------------------


def mixed(n, seed=0):
    """A table of numbers, text, truth values, dates and missing values, and which rows are positive."""
    rng = np.random.default_rng(seed)
    z, city = rng.normal(size=n), rng.integers(4, size=n)
    logit = 1.5 * z + 0.8 * (city == 2) - 1.5
    y = rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-logit))
    income = np.where(rng.uniform(size=n) < 0.1, np.nan, (1000.0 * (30.0 + 8.0 * z)).round())
    table = {
        "income": income,
        "city": [("Rome", "Oslo", "Bari", "Pisa")[k] for k in city],
        "member": (rng.uniform(size=n) < 0.5).tolist(),
        "since": (np.datetime64("2020-01-01") + rng.integers(1500, size=n).astype("m8[D]")).tolist(),
        "note": [f"row {i}" for i in range(n)],
    }
    return table, y


def sides_of(table, y):
    return [_checks.rows(table, np.flatnonzero(side)) for side in (y, ~y)]


QUICK = Settings(p=1.0, t_max=20)


@pytest.mark.usefixtures("few_points")
def test_learning_is_what_minimize_does_with_what_is_chosen():
    pos, neg = sides_of(*mixed(240))
    stages = []
    found = learn(pos, neg, Settings(p=1.0), progress=lambda *stage: stages.append(stage))
    lam, _ = pnorm.minimize(pos, neg, found.H, 1.0, l1=found.l1, l2=found.l2, penalty="shapes", tol=1e-6)
    assert (found.lam == lam).all()
    assert found.cross_validation.best.kind == found.kind
    assert found.p == 1.0
    assert len(found.warnings) == 1
    assert "note" in found.warnings[0]
    assert (found.score(pos) == pnorm.score(pos, found.H, lam)).all()
    choosing = [stage[1:] for stage in stages if stage[0] == "choosing by cross-validation"]
    assert choosing[0][0] == 0
    assert choosing[-1][0] == choosing[-1][1] == 15  # three kinds of five folds
    assert choosing == sorted(choosing)
    assert stages[-2:] == [("training", 0, 1), ("training", 1, 1)]


def test_rounds_in_place_of_the_minimum():
    pos, neg = sides_of(*mixed(200))
    stages = []
    found = learn(pos, neg, Settings(p=2.0, t_max=7), progress=lambda *stage: stages.append(stage))
    assert stages == [("training", k, 7) for k in range(8)]
    lam, trace = pnorm.train(pos, neg, found.H, 2.0, 7)
    assert (lam == found.lam).all()
    assert (found.p, found.trace.n_iter, found.penalty, found.cross_validation) == (2.0, 7, "", None)
    assert (found.probability(found.score(pos)) == pnorm.probability(pos, found.H, lam, 2.0, trace.intercept)).all()
    assert learn(pos, neg, Settings(t_max=3)).p == 4.0
    with raises(ValueError, "p must be"):
        learn(pos, neg, Settings(p=0.5))


def columns_of(table):
    """Columns as numbers, by which to sort; missing ones are in the middle, levels as they are."""
    return {
        "income": np.where(np.isnan(table["income"]), np.nanmedian(table["income"]), table["income"]),
        "city": np.array(table["city"]),
        "member": np.array(table["member"], float),
        "since": np.array(table["since"], "M8[D]").astype(float),
    }


def test_the_best_column_by_brute_force():
    table, y = mixed(300)
    y ^= np.random.default_rng(1).uniform(size=300) < 0.1
    columns = columns_of(table)
    shares = {city: y[columns["city"] == city].mean() for city in np.unique(columns["city"])}
    columns["city"] = np.array([shares[city] for city in columns["city"]])
    aucs = {name: metrics.auc(x[y], x[~y]) for name, x in columns.items()}
    best = max(aucs, key=lambda name: abs(aucs[name] - 0.5))
    assert best == "income"
    turned = {name: -values if name == "income" else values for name, values in table.items()}
    for of_sign, sign in ((table, 1.0), (turned, -1.0)):
        with pytest.warns(pnorm.rankers.TableWarning):
            H = from_table(*sides_of(of_sign, y))
        *_, alone = baselines(*sides_of(of_sign, y), H)
        assert alone.name == "income alone"
        assert (alone.score(of_sign) == sign * columns_of(of_sign)["income"]).all()
    *_, alone = baselines(*sides_of({"city": table["city"]}, y))
    assert alone.name == "city alone"
    assert alone.score(table) == pytest.approx(columns["city"])
    assert alone.score({"city": ["Turin"], "member": [True]}) == pytest.approx(y.mean())


def test_a_category_of_noise_is_not_the_best_column():
    """Its levels order the rows better that they are learned from than a weak number does, and no other rows."""
    rng = np.random.default_rng(0)
    code, x = rng.integers(400, size=10_000), rng.normal(size=10_000)
    y = rng.random(10_000) < 0.15 + 0.03 * (x > 0.0)
    by_level = np.bincount(code, y) / np.bincount(code)
    assert metrics.auc(by_level[code], y=y) > metrics.auc(x, y=y) + 0.05
    table = {"code": [f"c{k}" for k in code], "x": x}
    pos, neg = [{name: np.array(column)[side] for name, column in table.items()} for side in (y, ~y)]
    *_, alone = baselines(pos, neg, kinds={"code": "category"})
    assert alone.name == "x alone"


def test_straight_lines_by_a_matrix():
    table, y = mixed(400)
    with pytest.warns(pnorm.rankers.TableWarning):
        H = from_table(*sides_of(table, y))
    lines, *_ = baselines(*sides_of(table, y), H)
    assert lines.name == LINEAR
    raw = columns_of(table)
    missing = np.isnan(table["income"])
    income = np.where(missing, np.nanmean(table["income"]), table["income"])
    scaled = [(x - x.mean()) / x.std() for x in (raw["member"], raw["since"])]
    income = (income - np.nanmean(table["income"])) / np.nanstd(table["income"])
    levels = [raw["city"] == city for city in np.unique(raw["city"])]
    A = np.column_stack([income, missing, *levels, *scaled]).astype(float)
    lam, _ = pnorm.minimize(A[y], A[~y], p=1.0, l2=1e-3)
    f = A @ lam
    found = lines.score(table)
    assert found - found.mean() == pytest.approx(f - f.mean(), abs=1e-3)


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_logistic_curves_by_scikit_learn(push):
    sklearn_models = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    missing = rng.random(600) < 0.1
    y = rng.random(600) < expit(3 * np.sin(2 * X[:, 0]) + X[:, 1] - 1)
    table = {"a": X[:, 0], "b": np.where(missing, np.nan, X[:, 1]), "c": X[:, 2]}
    _, curves, *_ = baselines(*sides_of(table, y), push=push)
    assert curves.name == CURVES
    columns = []
    for x in table.values():
        known = x[~np.isnan(x)]
        knots = np.quantile(known, np.linspace(0, 1, 6))
        knots = np.r_[[knots[0]] * 3, knots, [knots[-1]] * 3]
        parts = np.zeros((600, 8))
        parts[~np.isnan(x)] = BSpline.design_matrix(known, knots, 3).toarray()
        columns += [parts, *([missing[:, None]] if known.size < 600 else [])]
    A = np.hstack(columns)
    A = (A - A.mean(axis=0)) / A.std(axis=0)
    hits = y if push == "top" else ~y
    found = curves.score(table)
    agreed = []
    for penalty in PENALTIES:
        for weight in WEIGHTS:
            of = {True: 1.0, False: weight}
            C = 1.0 / (penalty * hits.sum())
            f = sklearn_models.LogisticRegression(C=C, class_weight=of, tol=1e-8, max_iter=5000).fit(A, hits)
            f = f.decision_function(A) if push == "top" else -f.decision_function(A)
            agreed.append(np.abs((found - found.mean()) - (f - f.mean())).max() < 1e-2)
    assert sum(agreed) == 1  # one of the settings that it chooses from


def test_the_weight_of_logistic_curves_is_chosen_by_the_measures_of_the_default():
    rng = np.random.default_rng(3)
    hits, others = rng.normal(0.5, 1, (200, 40)), rng.normal(size=(300, 40))
    hits[rng.permutation(200)[:80], 0] += 2.0
    others[rng.permutation(300)[:40], 1] += 4.0  # column 1 is good for most rows, and bad near the top
    hits[:, 1] += 0.7
    held = {}
    for penalty in PENALTIES:
        for weight in WEIGHTS:
            values = []
            for fold in range(3):
                sides = [np.delete(side, np.s_[fold::3], axis=0) for side in (hits, others)]
                lam = _logistic(*sides, penalty, weight, 1e-6)[:-1]
                f_pos, f_neg = hits[fold::3] @ lam, others[fold::3] @ lam
                top = metrics.partial_auc(f_pos, f_neg, max_fp=10, standardized=True)
                values.append((top, metrics.average_precision(f_pos, f_neg)))
            held[penalty, weight] = np.array(values)
    best = max(held.values(), key=lambda of: of[:, 0].mean())[:, 0]
    least = best.mean() - best.std(ddof=1) / np.sqrt(3)
    near = {at: of[:, 1].mean() for at, of in held.items() if of[:, 0].mean() >= least}
    assert 1 < len(near) < len(held)
    assert near[_chosen(hits, others)] == pytest.approx(max(near.values()), abs=1e-3)
    assert _chosen(hits[:40], others) == (0.1, 1.0)


@pytest.mark.parametrize("n", [90, 600])
def test_boosted_trees_by_scikit_learn(n):
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(0)
    a, b, kind = rng.normal(size=n), rng.normal(size=n), rng.integers(3, size=n)
    y = rng.random(n) < expit(4 * np.sign(a) * np.sign(b) + kind - 1)  # no sum over columns
    table = {"a": np.where(rng.random(n) < 0.1, np.nan, a), "b": b, "kind": np.array(["u", "v", "w"])[kind]}
    lines, _, trees, _ = baselines(*sides_of(table, y), seed=3)
    assert trees.name == TREES
    f, of_lines = trees.score(table), lines.score(table)
    assert metrics.auc(f[y], f[~y]) > metrics.auc(of_lines[y], of_lines[~y]) + 0.05
    A = np.column_stack([table["a"], b, kind])
    how = {"max_iter": 50, "early_stopping": False} if n == 90 else {"max_iter": 300, "early_stopping": True}

    def agrees(seed):
        of = {"learning_rate": 0.05, "categorical_features": [2], "random_state": seed, **how}
        model = ensemble.HistGradientBoostingClassifier(**of).fit(np.concatenate([A[y], A[~y]]), np.sort(y)[::-1])
        return np.corrcoef(f, model.decision_function(A))[0, 1] > 0.98

    assert any(agrees(seed) for seed in range(20))


def test_boosted_trees_of_many_levels_of_large_numbers_and_of_new_rows():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    level = rng.integers(400, size=4000)
    x = rng.choice([-1e150, 0.0, 1e150, np.nan], 4000)
    y = rng.random(4000) < np.where((level < 200) == (x > 0.0), 0.8, 0.2)
    table = {"level": np.array([f"v{k}" for k in level]), "x": x}
    *_, trees, _ = baselines(*sides_of(table, y), kinds={"level": "category"})
    f = trees.score(table)
    assert metrics.auc(f[y], f[~y]) > 0.7
    assert np.isfinite(trees.score({"level": ["new", "v1"], "x": [np.nan, 2e307]})).all()


def test_without_scikit_learn_there_are_no_boosted_trees(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    table, y = mixed(100)
    assert [of.name for of in baselines(*sides_of(table, y))][:-1] == [LINEAR, CURVES]


def test_an_import_that_fails_in_the_training_of_boosted_trees_is_not_hidden(monkeypatch):
    ensemble = pytest.importorskip("sklearn.ensemble")

    def fit(self, X, y):
        raise ImportError("broken")

    monkeypatch.setattr(ensemble.HistGradientBoostingClassifier, "fit", fit)
    with pytest.raises(ImportError, match="broken"):
        baselines(*sides_of(*mixed(100)))


@pytest.mark.parametrize("n_threads", [None, 2])
def test_boosted_trees_use_one_thread_or_as_many_as_asked_for(monkeypatch, n_threads):
    ensemble = pytest.importorskip("sklearn.ensemble")
    threadpoolctl = pytest.importorskip("threadpoolctl")
    trees, used = ensemble.HistGradientBoostingClassifier, []
    for name in ("fit", "decision_function"):
        own = getattr(trees, name)

        def told(self, *rows, own=own):
            used.append({of["num_threads"] for of in threadpoolctl.threadpool_info() if of["user_api"] == "openmp"})
            return own(self, *rows)

        monkeypatch.setattr(trees, name, told)
    table, y = mixed(60)
    baselines(*sides_of({"income": table["income"]}, y), n_threads=n_threads)[2].score(table)
    assert used == [{n_threads or 1}] * 2


def test_baselines_of_columns_with_little_in_them():
    pos = {"a": [1.0, 1.0, 2.0], "b": [None, None, None], "c": [None, 1.0, 5.0]}
    neg = {"a": [1.0, 2.0, 2.0], "b": [None, None, None], "c": [None, None, None]}
    found = baselines(pos, neg)
    assert found[-1].name == "c alone"
    for baseline in found:
        assert np.isfinite(baseline.score({"a": [None, 3.0], "b": [1, 2], "c": [None, 2.0]})).all()


# The whole ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_resamples")
def test_from_a_table_to_a_tested_list():
    table, y = mixed(500)
    held = hold_out.share(y, 0.3, 1)
    stages = []
    how = replace(QUICK, cutoff={"budget": 30, "of": 300})
    found = job.tested(table, y, held, how, units=None, progress=lambda *s: stages.append(s))
    train, test = (_checks.rows(table, np.flatnonzero(rows)) for rows in (~held, held))
    alone = learn(*sides_of(train, y[~held]), QUICK)
    assert (found.learned.lam == alone.lam).all()
    assert (found.rows == np.flatnonzero(held)).all()
    f, y_held = alone.score(test), y[held]
    assert (found.scores == f).all()
    assert (found.held_out[1] == y_held).all()
    assert found.quality.lists == (LINEAR, CURVES, TREES, "income alone")
    assert found.quality.main == 15  # 30 of 300 are a tenth of the rows
    assert float(found.quality.measure("auc").value) == metrics.auc(f[y_held], f[~y_held])
    others = [metrics.auc(of[y_held], of[~y_held]) for of in found.others.values()]
    assert found.quality.measure("auc").others == pytest.approx(others)
    assert found.quality.calibration.rows.sum() == held.sum()
    cut = pnorm.cutoff(f[y_held], f[~y_held], budget=30, of=300)
    assert found.cutoff == cut
    assert found.top.tolist() == np.argsort(-f, kind="stable")[:10].tolist()
    assert len(found.reasons) == 10
    assert "income = " in found.reasons[0]
    assert len(found.warnings) == 1
    assert stages[-1] == ("testing", 3, 3)


def test_a_table_of_its_own_to_test_on():
    (table, y), (other, y_other) = mixed(200, 1), mixed(90, 2)
    other["city"][0] = "Turin"
    found = job.learn_and_test((table, y), (other, y_other), replace(QUICK, compare=False, n_top=2))
    assert found.quality.lists == ()
    assert found.quality.n_pos == y_other.sum()
    assert any("Turin" in text for text in found.warnings)
    assert len(found.reasons) == 2
    assert found.rows.tolist() == list(range(90))


def test_one_row_to_train_on():
    table, y = mixed(80)
    y = np.arange(80) < 3
    held = np.arange(80) % 2 == 0
    found = job.tested(table, y, held, Settings(compare=False, n_top=0), units=None)
    assert found.reasons == ()
    assert "nothing was chosen" in found.warnings[0]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"budget": 50}, "budget must be less than the 20 rows held out; got 50. If a list has more rows"),
        ({"budget": 50, "of": 40}, "budget must be less than the 40 rows of a list; got 50$"),
        ({"budget": 5, "recall": 0.5}, "give one of precision, budget"),
        ({"precision": 0.5, "at_least": 20}, "at_least must be less than the 20 held-out rows; got 20"),
        ({"precision": 0.5, "at_least": 5, "prior": 0.1}, "at_least counts held-out rows, and a prior weights them"),
        ({"at_least": 5}, "give one of precision, budget, recall; got none of them"),
    ],
)
def test_testing_refuses_before_it_learns(how, message):
    table, y = mixed(100)
    with raises(ValueError, message):
        job.tested(table, y, hold_out.share(y), Settings(cutoff=how), units=None, progress=pytest.fail)


def test_testing_needs_both_classes_in_either_part():
    table, y = mixed(100)
    with raises(ValueError, "none of the 3 rows held out is positive"):
        job.tested(table, y, ~y & (np.cumsum(~y) <= 3), QUICK, units=None)


@pytest.mark.parametrize("seed", range(8))
def test_the_latest_rows_are_as_near_to_the_share_as_equal_times_allow(seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 9, int(rng.integers(9, 60))).astype(float)
    values, counts = np.unique(times, return_counts=True)
    for share in rng.uniform(0.02, 0.98, 20):
        first = hold_out.first_of_latest(values, counts, float(share), "t")
        away = {value: abs(np.mean(times >= value) - share) for value in values[1:].tolist()}
        assert away[first] == pytest.approx(min(away.values()), abs=1e-12)


@pytest.mark.usefixtures("few_resamples")
def test_a_short_list_needs_a_rank_test_too():
    found, short, long = quality(*lists(12, 15)[0], depths=[10]), set(), set()
    for n_pos, n_neg, seed in itertools.product((4, 19, 20), (5, 40), range(20)):
        rng = np.random.default_rng(seed)
        f, g = rng.normal(rng.uniform(0, 1.5), 1, n_pos), rng.normal(0, 1, n_neg)
        auc = metrics.auc(f, g)
        rejected = mannwhitneyu(f, g, use_continuity=False, method="asymptotic").pvalue < 0.05 and auc > 0.5
        for low in (0.4, 0.6):  # of the AUC, by resampling
            made = [(auc, low) if measure.key == "auc" else (measure.chance, 0.0) for measure in found.measures]
            values = [metrics.Estimate(*ends, 1.0, 0.95) for ends in made]
            measures = tuple([m._replace(value=value) for m, value in zip(found.measures, values, strict=True)])
            doubtful = dataclasses.replace(found, n_pos=n_pos, n_neg=n_neg, measures=measures)
            is_short = min(n_pos, n_neg) < 20
            assert doubtful.beats_chance == (low > 0.5 and (rejected or not is_short))
            (short if is_short else long).add((low > 0.5, doubtful.beats_chance))
    assert short == {(False, False), (True, False), (True, True)}
    assert long == {(False, False), (True, True)}


def test_reasons_are_against_the_average_negative_training_row():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 4 == 0
    X = rng.normal(size=(240, 4)) + np.outer(y, [2.0, 1.0, 0.5, 0.0]) + [0, 10, 0, -5]
    held = hold_out.share(y)
    found = job.tested(X, y, held, replace(QUICK, compare=False, n_top=20), units=None)
    H, lam = found.learned.H, found.learned.lam
    effects = pnorm.explain(X[found.rows][found.top], H, lam, reference=X[~held & ~y]).contributions
    strongest = np.argsort(-np.abs(effects), axis=1, kind="stable")[:, :3]
    for text, of, columns in zip(found.reasons, effects, strongest, strict=True):
        named = [int(j) for j in re.findall(r"x(\d) = ", text)]
        assert named == [j for j in columns.tolist() if abs(of[j]) > 0.0][: len(named)]
