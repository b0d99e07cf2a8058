"""All scores with their labels, in the place of two sides: the same bits, and messages about what was passed."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from facts import raises, warns
from repeats import each_value

import pnorm
from pnorm import bounds, metrics

pl = pytest.importorskip("polars")

rng = np.random.default_rng(11)
F = np.round(rng.normal(size=80), 1)
Y = (F + rng.normal(size=80) > 0.5).astype(int)
C = rng.integers(0, 4, 80).astype(float)
GOOD = Y == 1
SIDES = F[GOOD], F[~GOOD]

WEIGHTED = {
    "auc": metrics.auc,
    "average_precision": metrics.average_precision,
    "enrichment_factor": partial(metrics.enrichment_factor, k=7),
    "p_norm_risk": partial(metrics.p_norm_risk, p=4),
    "partial_auc": partial(metrics.partial_auc, max_fpr=0.3, min_tpr=0.1),
    "positives_at_top": metrics.positives_at_top,
    "precision_at": partial(metrics.precision_at, k=0.2),
    "r_max": metrics.r_max,
    "recall_at": partial(metrics.recall_at, k=11),
    "roc_counts": metrics.roc_counts,
    "summary": partial(metrics.summary, k=9),
}
"""Functions with weights of both sides."""

UNWEIGHTED = {
    "bedroc": metrics.bedroc,
    "cutoff": partial(pnorm.cutoff, precision=0.5),
    "cutoff, budget": partial(pnorm.cutoff, budget=9),
    "discounted_gain_at_top": partial(metrics.discounted_gain_at_top, k=20, normalized=True),
    "heights": metrics.heights,
    "margin_curve": partial(bounds.margin_curve, p=2, thetas=[0.25, 1.5]),
    "rank_matrix": bounds.rank_matrix,
    "reverse_heights": metrics.reverse_heights,
    "theorem1": partial(metrics.theorem1, price=pnorm.objectives.Power(2)),
}
EVERY = WEIGHTED | UNWEIGHTED
RANDOM = [name for name in (*WEIGHTED, "bedroc", "discounted_gain_at_top") if name != "roc_counts"]
"""Measures with an interval."""


def numbers(found):
    """A result as something that compares."""
    if isinstance(found, dict):
        return [numbers(value) for value in found.values()]
    if isinstance(found, metrics.Estimate):
        return list(found)
    if isinstance(found, (bounds.MarginCurve, metrics.Chain, pnorm.Cutoff)):
        return [numbers(value) for value in vars(found).values() if value is not None]
    return np.asarray(found).tolist()


def assert_same(a, b):
    assert type(a) is type(b)
    assert numbers(a) == numbers(b)


@pytest.mark.parametrize("name", EVERY)
def test_scores_with_labels_give_the_bits_of_two_sides(name):
    run, expected = EVERY[name], EVERY[name](*SIDES)
    words = np.where(GOOD, "won", "lost")
    for y, how in [
        (Y, {}),
        (Y.tolist(), {}),
        (GOOD, {}),
        (2 * Y - 1, {}),
        (pd.Series(Y), {}),
        (pl.Series(GOOD), {}),
        (pa.array(Y), {}),
        (np.where(GOOD, "yes", "No"), {}),
        (words, {"pos_label": "won"}),
        (1 - Y, {"pos_label": 0}),
    ]:
        assert_same(run(F, y=y, **how), expected)
    for scores in (F.tolist(), pd.Series(F), pl.Series(F), pa.array(F)):
        assert_same(run(scores, y=Y), expected)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_all_rows_are_those_of_either_side(name):
    run = WEIGHTED[name]
    expected = run(*SIDES, pos_weight=C[GOOD], neg_weight=C[~GOOD])
    assert_same(run(F, y=Y, weight=C), expected)
    assert_same(run(F.tolist(), y=Y.tolist(), weight=C.tolist()), expected)


def test_heights_count_by_the_weights_of_one_side():
    assert_same(metrics.heights(F, y=Y, weight=C), metrics.heights(*SIDES, pos_weight=C[GOOD]))
    assert_same(metrics.reverse_heights(F, y=Y, weight=C), metrics.reverse_heights(*SIDES, neg_weight=C[~GOOD]))


@pytest.mark.parametrize("name", RANDOM)
def test_intervals_are_those_of_two_sides(name):
    how = {"confidence": 0.9, "n_resamples": 50, "seed": 3}
    assert_same(EVERY[name](F, y=Y, **how), EVERY[name](*SIDES, **how))


def test_the_distance_from_the_limit():
    X = rng.normal(size=(80, 2))
    limit = pnorm.diagnostics.q_limit(X[GOOD], X[~GOOD], None, 2)
    assert_same(limit.distance(F, y=Y), limit.distance(*SIDES))
    with pytest.raises(TypeError, match="f_neg is missing"):
        limit.distance(F)


def test_a_difference_of_two_vectors_of_scores():
    other = np.round(F + rng.normal(size=80), 1)
    expected = metrics.difference(metrics.auc, SIDES, (other[GOOD], other[~GOOD]), n_resamples=50)
    assert_same(metrics.difference(metrics.auc, F, other, y=Y, n_resamples=50), expected)
    words = np.where(GOOD, "a", "b")
    assert_same(metrics.difference(metrics.auc, F, other, y=words, pos_label="a", n_resamples=50), expected)
    with raises(ValueError, "b: y must hold one label per row, 79; got 80"):
        metrics.difference(metrics.auc, F, other[1:], y=Y)
    with raises(ValueError, "pos_label needs labels"):
        metrics.difference(metrics.auc, SIDES, SIDES, pos_label=1)
    with raises(TypeError, r"a must be a pair of scores \(f_pos, f_neg\), or all scores with y=labels"):
        metrics.difference(metrics.auc, F, other)


def test_scores_of_one_label_may_look_like_labels():
    f = np.tile([0.0, 1.0, 0.25, 0.75], 10)  # the positives have only zeros and ones
    assert metrics.auc(f, y=np.tile([1, 1, 0, 0], 10)) == 0.5


NAN = np.where(np.arange(80) == 7, np.nan, F)


@each_value()
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("arguments", "how", "error", "message"),
    [
        ((F, F), {"y": Y}, ValueError, "f_neg and y are both given; with y, all scores are in the first argument"),
        ((F,), {}, TypeError, r"f_neg is missing; .* or the labels of all scores as y: auc\(scores, y=labels\)"),
        ((F,), {"y": Y[:5]}, ValueError, "y must hold one label per row, 80; got 5"),
        ((F,), {"y": np.ones(80)}, ValueError, "all rows of y have the label 1.0; both kinds of rows are needed"),
        ((F,), {"y": np.arange(80) % 3}, ValueError, "say which label of y is positive with pos_label="),
        ((F,), {"y": Y, "pos_label": 5}, ValueError, "no row of y has the label 5"),
        (
            (F,),
            {"y": "bought"},
            TypeError,
            "y must hold one label for each score; got 'bought', and scores have no col",
        ),
        ((NAN,), {"y": Y}, ValueError, "scores has nan at position 7; every value must be finite"),
        ((F[:, None],), {"y": Y}, ValueError, r"scores must have shape \(N,\), one score per row; got shape \(80, 1\)"),
        ((pd.Series(F),), {"y": pd.Series(Y)[::-1]}, ValueError, "y has another index than X"),
        (SIDES, {"pos_label": 1}, ValueError, "pos_label needs labels: pass the label of every row as y"),
        ((Y,), {"y": np.abs(F) + 0.25}, ValueError, r"they seem to be exchanged. .* auc\(scores, y=labels\)"),
        ((["yes", "no"], [0.5, 0.25]), {}, TypeError, r"f_pos must hold real numbers; .* auc\(scores, y=labels\)"),
        (([0.5, 0.25], np.array(["yes", "no"])), {}, TypeError, r"f_neg must hold real .* auc\(scores, y=labels\)"),
    ],
)
def test_messages_name_what_was_passed(name, arguments, how, error, message):
    with raises(error, message):
        EVERY[name](*arguments, **how)


@pytest.mark.parametrize("name", WEIGHTED)
def test_messages_about_weights(name):
    run = WEIGHTED[name]
    with raises(ValueError, r"weight needs labels: .* or use pos_weight and neg_weight"):
        run(*SIDES, weight=C)
    with raises(ValueError, "pos_weight is for rows of two sides, and y is given; pass weight"):
        run(F, y=Y, pos_weight=C[GOOD])
    with raises(ValueError, "weight is zero for all negative rows"):
        run(F, y=Y, weight=C * Y)
    with raises(ValueError, r"weight must have shape \(80,\)"):
        run(F, y=Y, weight=C[:5])
    with raises(ValueError, "weight has the negative weight"):
        run(F, y=Y, weight=-C)


def test_a_table_has_no_labels():
    table = metrics.ScoreTable.of(*SIDES)
    with raises(TypeError, "leave y, pos_label and weight out"):
        metrics.auc(table, y=Y)
    with raises(TypeError, "thetas is missing; pass one or more margins above 0"):
        bounds.margin_curve(*SIDES)


@pytest.mark.parametrize("name", [name for name in RANDOM if "gain" not in name])
def test_labels_before_scores_are_pointed_out(name):
    with warns(UserWarning, r"f_pos holds only zeros and ones.* labels by name: auc\(scores, y=labels\)"):
        EVERY[name](Y, rng.random(80))
