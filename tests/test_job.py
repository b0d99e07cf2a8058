"""The whole job: what is kept back, learned and measured."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest

from pnorm import metrics
from pnorm._job.quality import PLACES, quality

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


def test_intervals_are_those_of_metrics_where_all_places_are_told_apart():
    a, b = lists(80, 300)
    found = quality(*a, {"b": b}, depths=[20])
    again = metrics.average_precision(*a, confidence=0.95)
    assert found.measure("average_precision").value.low == pytest.approx(again.low, abs=0.02)
    assert found.measure("average_precision").value.high == pytest.approx(again.high, abs=0.02)
    assert found.difference.other == "b"
    of_both = metrics.difference(partial(metrics.precision_at, k=20), a, b)
    assert float(found.difference.value) == pytest.approx(float(of_both))
    assert found.difference.value.low == pytest.approx(of_both.low, abs=0.06)
    assert found.difference.value.high == pytest.approx(of_both.high, abs=0.06)


def test_places_put_together_change_no_value_and_hardly_an_interval():
    a, b = lists(1500, 8000)
    assert len(np.unique(np.concatenate(a))) > 4 * PLACES
    found = quality(*a, {"b": b}, depths=[100, 2000])
    for key, depth in (("precision", 100), ("precision", 2000), ("average_precision", None), ("auc", None)):
        measure = found.measure(key, depth)
        of_list = WHOLE[key] if depth is None else partial(metrics.precision_at, k=depth)
        again = of_list(*a, confidence=0.95)
        assert float(measure.value) == pytest.approx(float(again))
        width = again.high - again.low
        assert measure.value.low == pytest.approx(again.low, abs=0.2 * width)
        assert measure.value.high == pytest.approx(again.high, abs=0.2 * width)
    of_both = metrics.difference(partial(metrics.precision_at, k=100), a, b, n_resamples=200)
    width = of_both.high - of_both.low
    assert found.difference.value.low == pytest.approx(of_both.low, abs=0.3 * width)
    assert found.difference.value.high == pytest.approx(of_both.high, abs=0.3 * width)


def test_the_same_list_differs_by_nothing():
    a, _ = lists(50, 100)
    assert tuple(quality(*a, {"again": a}).difference.value) == (0.0, 0.0, 0.0)


def test_from_below_negatives_are_what_is_looked_for():
    (pos, neg), b = lists(90, 40)
    below = quality(pos, neg, {"b": b}, push="bottom", depths=[15])
    turned = quality(-neg, -pos, {"b": (-b[1], -b[0])}, depths=[15])
    for one, other in zip(below.measures, turned.measures, strict=True):
        assert float(one.value) == float(other.value)
        assert one.others == other.others
    assert [float(m.value) for m in below.measures if m.name == "negatives below every positive"]
    assert below.measure("precision").name == "precision in the last 15"
    assert (below.n_pos, below.n_neg, below.share) == (90, 40, 40 / 130)


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


def test_first_rows_that_are_all_positive_have_an_interval():
    found = quality(np.arange(10.0, 40.0), np.arange(10.0), depths=[10, 40])
    value, low, high = found.measure("precision", 10).value
    assert (value, high) == (1.0, 1.0)
    assert low == pytest.approx(0.025 ** (1 / 10))
    assert tuple(found.measure("precision", 40).value) == (0.75, 0.75, 0.75)  # of all rows that is so


def test_chance_is_the_mean_over_all_orders():
    rng = np.random.default_rng(3)
    found = quality(*lists(3, 9)[0], depths=[4])
    means = dict.fromkeys(["positives_at_top", "average_precision", "auc"], 0.0)
    precision = 0.0
    for _ in range(4000):
        f = rng.permutation(12).astype(float)
        for key in means:
            means[key] += WHOLE[key](f[:3], f[3:]) / 4000
        precision += metrics.precision_at(f[:3], f[3:], 4) / 4000
    for key, mean in means.items():
        assert found.measure(key).chance == pytest.approx(mean, abs=0.03)
    assert found.measure("precision", 4).chance == pytest.approx(precision, abs=0.02)
    assert found.measure("hits", 4).chance == 1.0


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


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"others": {"b": ([1.0], [2.0, 3.0])}}, r"others\['b'\] must score the same rows"),
        ({"depths": [0]}, "depths must be"),
        ({"depths": [9]}, "at most the 6 rows"),
        ({"depths": []}, "one at least"),
        ({"budget": 7}, "at most the 6 rows"),
        ({"push": "left"}, "push"),
        ({"probability": ([0.5], [0.5])}, "must be of the 2 positives and 4 negatives"),
        ({"probability": ([0.5, 2.0], [0.5] * 4)}, "from 0 to 1"),
    ],
)
def test_quality_refuses(how, message):
    with pytest.raises(ValueError, match=message):
        quality([1.0, 2.0], [0.0, 1.0, 1.5, 3.0], **how)


def test_a_measure_by_its_key():
    found = quality([1.0, 2.0], [0.0, 1.0, 1.5, 3.0])
    assert found.headline is found.measure("precision", found.main)
    with pytest.raises(ValueError, match="measured for depths"):
        found.measure("recall", 5)
    with pytest.raises(ValueError, match="without a depth"):
        found.measure("auc", 5)
    with pytest.raises(ValueError, match="key"):
        found.measure("speed")
