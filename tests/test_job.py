"""The whole job: what is kept back, learned and measured."""

import numpy as np
import pytest

from pnorm import metrics
from pnorm._job.quality import quality

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
