"""The ranking of held-out rows by the chosen setting, beside a random order."""

import functools
import itertools
import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from facts import warns
from repeats import TRIALS, each_value

import pnorm
from pnorm import _default
from pnorm._default import Fold, OutOfFold, out_of_fold
from pnorm._job.quality import quality
from pnorm._report import choice
from pnorm._report.verdicts import texts, verdicts
from pnorm.diagnostics import NoSignalWarning
from pnorm.metrics import Estimate
from pnorm.metrics._shares import calibration_slope, platt_slope

pytest.importorskip("sklearn")
pytest.importorskip("joblib")

from pnorm.sklearn import PNormPush

pytestmark = pytest.mark.usefixtures("few_points", "few_cuts")
LINES = functools.partial(pnorm.rankers.quantile_thresholds, n_cuts=255, linear="only")


@pytest.fixture
def few_cuts(monkeypatch):
    monkeypatch.setattr(_default, "N_CUTS", 7)


def rows(seed, slope, n=150, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < 1 / (1 + np.exp(-slope * X[:, 0]))).astype(int)


def folds_of(seed, apart, sizes=((6, 8), (5, 9), (6, 8))):
    rng = np.random.default_rng(seed)
    return [Fold(rng.normal(apart, 1, n_pos), rng.normal(0, 1, n_neg)) for n_pos, n_neg in sizes]


def fitted(X, y, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = PNormPush(**how).fit(X, y)
    return model, [w for w in caught if w.category is NoSignalWarning]


def test_values_are_means_over_folds_and_the_interval_is_that_of_random_orders():
    folds = folds_of(0, 0.8)
    found = out_of_fold(folds, 42, "top", 1.0)
    n = len(folds)
    assert found.auc == pytest.approx(np.mean([pnorm.metrics.auc(*fold[:2]) for fold in folds]))
    assert found.partial_auc == pytest.approx(
        np.mean([pnorm.metrics.partial_auc(*fold[:2], standardized=True) for fold in folds])
    )
    # the variance of the AUC over all orders (Mann and Whitney), times that of Nadeau and Bengio for shared rows
    variance = np.mean([(f.pos.size + f.neg.size + 1) / (12 * f.pos.size * f.neg.size) for f in folds]) / n
    wide = 2.5758 * np.sqrt(variance * (1 + n / (n - 1)))
    assert found.auc.low == pytest.approx(found.auc - wide, rel=0.06)
    assert found.auc.high == pytest.approx(min(1, found.auc + wide), rel=0.06)


def test_a_list_of_its_own_has_no_factor_and_the_bottom_is_the_top_of_the_reversed_list():
    (fold,) = folds_of(1, 1.0, [(40, 60)])
    found = out_of_fold([fold], 300, "top", 1.0)
    assert (found.auc - found.auc.low) == pytest.approx(2.5758 * np.sqrt(101 / (12 * 2400)), rel=0.1)
    below, turned = out_of_fold([fold], 300, "bottom", 1.0), out_of_fold([Fold(-fold.neg, -fold.pos)], 300, "top", 1.0)
    assert below == turned
    assert below.auc == pytest.approx(found.auc)
    assert below.partial_auc != found.partial_auc


def test_few_rows_exclude_nothing_and_a_perfect_order_of_many_does():
    perfect = [Fold(np.array([2.0]), np.array([1.0]))] * 5
    found = out_of_fold(perfect, 10, "top", 1.0)
    assert found.auc == 1.0
    assert not found.beats_chance
    more = out_of_fold([Fold(np.arange(10.0, 14), np.arange(5.0))] * 5, 45, "top", 1.0)
    assert more.beats_chance
    half = 1.0 - more.auc.low
    assert str(more).startswith(
        f"AUC 1.000 (99 % of random orders: {0.5 - half:.3f} to {0.5 + half:.3f}), partial AUC "
    )
    tied = out_of_fold([Fold(np.zeros(4), np.zeros(5))] * 5, 45, "top", 1.0)
    assert (tied.auc, tied.auc.low, tied.beats_chance) == (0.5, 0.5, False)


@each_value()
@pytest.mark.parametrize(("push", "weighted"), list(itertools.product(("top", "bottom"), (False, True))))
def test_held_out_rows_are_scored_by_the_choice_on_the_other_folds(push, weighted):
    X, y = rows(3, 1.5)
    c = np.random.default_rng(0).integers(1, 4, y.size).astype(float) if weighted else None
    model = PNormPush(push=push).fit(X, y, sample_weight=c)
    pos, neg = X[y == 1], X[y == 0]
    of_pos, of_neg = model.cross_validation_.folds
    expected = []
    for k in range(5):
        how = {} if c is None else {"pos_weight": c[y == 1][of_pos != k], "neg_weight": c[y == 0][of_neg != k]}
        how |= {"l1": model.l1_, "l2": model.l2_, "penalty": "shapes", "push": push, "tol": 1e-3}
        lam, _ = pnorm.minimize(pos[of_pos != k], neg[of_neg != k], model.rankers_, model.p_, **how)
        held = [pnorm.score(side, model.rankers_, lam) for side in (pos[of_pos == k], neg[of_neg == k])]
        expected.append(pnorm.metrics.auc(*held))
    assert model.out_of_fold_.auc == pytest.approx(np.mean(expected), abs=0.005)
    assert model.out_of_fold_.beats_chance


def test_noise_is_named_and_signal_is_not():
    said = (
        r"^the list is not shown to be better than a random order\. On the held-out rows of the cross-validation, neither "
        r"measure is above its range: AUC 0\.\d{3} \(99 % of random .*partial"
        r" AUC .*\. Do not rely on the list or the probabilities; add rows"
    )
    with warns(NoSignalWarning, said) as caught:
        model = PNormPush().fit(*rows(0, 0.0))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.out_of_fold_.auc.low < 0.5
    assert pickle.loads(pickle.dumps(model)).out_of_fold_ == model.out_of_fold_
    assert all(fitted(*rows(seed, 0.0))[1] for seed in range(1, 1 + 3 * TRIALS))
    assert not any(fitted(*rows(seed, 2.0))[1] for seed in range(4 * TRIALS))


def test_the_model_and_its_cross_validation_have_one_verdict():
    differ = []
    for seed, slope in ((0, 0.0), (3, 1.5), *[(seed, 0.0) for seed in range(1, 1 + 4 * TRIALS)]):
        model, said = fitted(*rows(seed, slope, n=60, d=3))
        found = str(model.cross_validation_)
        verdict = f"{'not shown to be better' if said else 'better'} than a random order"
        assert str(model).splitlines()[-1].strip() == verdict
        assert f"\nout of fold, the best is {verdict}:\n  {model.out_of_fold_}\n" in found
        assert "corrected 95 % interval" not in found
        alone = str(replace(model.cross_validation_, _out_of_fold=None))
        differ.append(("not shown" in alone) != bool(said))
    assert any(differ)  # the rule of a comparison alone says otherwise of some


def test_a_signal_at_the_top_alone_is_seen():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [150, 250])
    X = rng.normal(size=(400, 3))
    X[:30, 0] += 6.0  # a fifth of the positives; the others are like negatives
    model, said = fitted(X, y)
    assert not said
    assert model.out_of_fold_.partial_auc.low > 0.5


@pytest.mark.parametrize("how", [{"t_max": 20}, {"p": 4, "l2": 0.1}])
def test_without_a_choice_nothing_is_judged(how):
    model, said = fitted(*rows(0, 0.0), **how)
    assert model.out_of_fold_ is None
    assert not said


def test_verbose_prints_it(capsys):
    PNormPush(verbose=1).fit(*rows(0, 2.0))
    assert "[PNormPush] out-of-fold: AUC 0." in capsys.readouterr().out


def compared(X, y, **how):
    return pnorm.cross_validate(*pnorm.split(X, y), None, [1, 4], l2=[1.0, 0.1], **how)


@pytest.mark.parametrize("metric", ["auc", "partial_auc", "average_precision"])
def test_a_comparison_reports_that_its_best_is_not_distinguishable(metric):
    said = f"by {metric}, the best is not shown to be better than a random order"
    found = compared(*rows(0, 0.0), metric=metric)
    line = next(line for line in str(found).splitlines() if said in line)
    mean, error = (values[found._best_place] for values in (found.mean, found.standard_error))
    wide = 2.7764451 * 1.5 * error  # the t distribution with 4 degrees of freedom; Nadeau and Bengio
    assert line == (
        f"{said}, {found.chance:.4f}: {mean:.4f}, corrected 95 % interval {mean - wide:.4f} to {mean + wide:.4f}"
    )
    assert said not in str(compared(*rows(0, 3.0), metric=metric))
    assert said in found._repr_html_()


@pytest.mark.parametrize("of_estimator", [False, True])
def test_a_cross_validation_near_chance_is_told_unless_a_test_shows_more(of_estimator):
    f, y = np.arange(400.0), np.arange(400) % 2 == 1
    good, random = f + 400.0 * y, f
    noise, signal = [
        fitted(*rows(0, shift))[0].cross_validation_ if of_estimator else compared(*rows(0, shift))
        for shift in (0.0, 3.0)
    ]
    number = r"-?\d\.\d{4}"
    by = rf"by partial AUC \({number}, corrected 95 % interval {number} to {number}; by chance 0\.5000\)"
    by = "by AUC or partial AUC out of fold" if of_estimator else by
    told = "The cross-validation on the training rows does not show that the list is better than a random order, "
    for scores, held_out, is_told in ((good, True, False), (random, True, True), (good, False, True)):
        measured = quality(scores[y], scores[~y])
        said = texts(verdicts(measured, None, held_out=held_out, cross_validation=noise), "choice")
        assert len(said) == is_told
        assert all(re.fullmatch(f"{told}{by}\\.", text) for text in said)
    if not of_estimator:  # the section on the choice has it in any case
        doubt = rf"By partial AUC, it is not shown to be better than a random order, 0\.5000: {number}, corrected .*\."
        assert any(re.fullmatch(doubt, text) for text in choice._of_best(noise))
        assert not texts(verdicts(measured, None, held_out=held_out, cross_validation=signal), "choice")


def test_the_box_of_a_report_has_the_verdict_on_the_cross_validation(tmp_path):
    model, _ = fitted(*rows(0, 0.0))
    X, y = rows(1, 0.0)
    model.report_html(tmp_path / "r.html", X, y)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    told = "The cross-validation on the training rows does not show that the list is better than a random order"
    assert told in re.search(r'<div class="alert">.*?</div>', page, re.DOTALL)[0]


def test_chance_is_the_mean_over_all_orders():
    X, y = rows(0, 0.0, 22)
    found = compared(X, y, folds=3, metric="average_precision")
    rng, of_folds = np.random.default_rng(0), []
    for k in range(3):
        n_pos, n_neg = (int((of_side == k).sum()) for of_side in found.folds)
        drawn = [rng.permutation(n_pos + n_neg).astype(float) for _ in range(2000)]
        of_folds.append(np.mean([pnorm.metrics.average_precision(f[:n_pos], f[n_pos:]) for f in drawn]))
    assert found.chance == pytest.approx(np.mean(of_folds), abs=0.01)
    assert compared(X, y).chance == compared(X, y, metric="auc", push="bottom").chance == 0.5
    assert compared(X, y, metric="positives_at_top").chance is None
    assert compared(X, y, metric=lambda f_pos, f_neg: 0.5).chance is None
    c = np.ones((y == 1).sum())
    c[0] = 2.0
    assert compared(X, y, metric="average_precision", pos_weight=c).chance is None
    assert compared(X, y, metric="auc", pos_weight=c).chance == 0.5


def test_one_fold_has_no_error_and_no_line():
    X, y = rows(0, 0.0)
    folds = [np.where(np.arange((y == side).sum()) % 3, -1, 0) for side in (1, 0)]
    assert "random order" not in str(compared(X, y, folds=folds))


@pytest.mark.parametrize(
    ("auc", "partial", "verdict"),
    [
        (0.6, 0.6, "better than a random order"),
        (0.6, 0.52, "better than a random order by AUC; not shown to be by partial AUC"),
        (0.54, 0.6, "better than a random order by partial AUC; not shown to be by AUC"),
        (0.54, 0.52, "not shown to be better than a random order"),
    ],
)
def test_a_verdict_names_the_measure_if_one_alone_is_beyond_chance(auc, partial, verdict):
    of = [Estimate(value, value - 0.05, value + 0.05, 0.99) for value in (auc, partial)]
    found = OutOfFold(*of)
    assert found.verdict == verdict
    assert found.beats_chance == verdict.startswith("better")


def linear_rows(seed, n=500, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, rng.random(n) < 1 / (1 + np.exp(1 - X[:, :3] @ [1, 0.7, -0.5]))


def logistic(folds, p, ends=(1.0, 0.0)):
    """The slope of Newton's method on all columns at once: the log odds, and an indicator of each fold."""
    of = [(np.r_[fold[0], fold[1]], np.repeat(ends, [len(fold[0]), len(fold[1])])) for fold in folds]
    at = np.repeat(np.arange(len(of)), [y.size for _, y in of])
    A = np.c_[(1 + p) * np.concatenate([x for x, _ in of]), at[:, None] == np.arange(len(of))]
    y, theta = np.concatenate([y for _, y in of]), np.zeros(1 + len(of))
    for _ in range(50):
        mean = 1 / (1 + np.exp(-(A @ theta)))
        inverse = np.linalg.inv((A.T * (mean * (1 - mean))) @ A)
        theta += inverse @ A.T @ (y - mean)
    return theta[0], 1.96 * np.sqrt(inverse[0, 0])


SIZES = (20, 40), (25, 35), (30, 30)


def platt(folds, p):
    n, m = [sum(len(fold[side]) for fold in folds) for side in (0, 1)]
    return logistic(folds, p, ((n + 1) / (n + 2), 1 / (m + 2)))[0]


@pytest.mark.parametrize("push", ["top", "bottom"])
def test_the_slope_is_that_of_platt_with_an_intercept_of_each_fold(push):
    folds = [Fold(pos + 30 * k, neg + 30 * k) for k, (pos, neg, *_) in enumerate(folds_of(4, 0.8, SIZES))]
    assert out_of_fold(folds, 180, push, 4.0).slope == pytest.approx(platt(folds, 4.0))


def test_the_slope_is_finite_if_held_out_rows_are_separated():
    folds = [Fold(np.arange(5.0, 8.0), np.arange(4.0)), Fold(np.arange(6.0, 9.0), np.arange(5.0))]
    found = out_of_fold(folds, 15, "top", 1.0).slope
    assert found == pytest.approx(platt(folds, 1.0))
    assert 0.3 < found < 3.0


def test_weights_count_as_copies():
    folds = folds_of(4, 0.8, SIZES)
    rng = np.random.default_rng(0)
    weights = [[rng.integers(1, 4, side.size) for side in fold[:2]] for fold in folds]
    counted = [Fold(*fold[:2], *of) for fold, of in zip(folds, weights, strict=True)]
    copies = [Fold(*map(np.repeat, fold[:2], of)) for fold, of in zip(folds, weights, strict=True)]
    slope = platt_slope(counted)
    assert slope == pytest.approx(platt_slope(copies))
    assert slope != pytest.approx(platt_slope(folds), rel=1e-3)
    of_many = [
        platt_slope([Fold(*fold[:2], *[unit * w for w in fold[2:]]) for fold in counted]) for unit in (1e9, 1e300)
    ]
    assert of_many[1] == pytest.approx(of_many[0])


def test_the_order_is_kept_even_if_held_out_rows_are_in_the_wrong_one():
    folds = [Fold(neg, pos) for pos, neg, *_ in folds_of(4, 0.8, SIZES)]
    f = np.concatenate([side for fold in folds for side in fold[:2]])
    assert platt(folds, 4.0) < 0.0
    found = out_of_fold(folds, 180, "top", 4.0).slope
    assert (5.0 * found * f).std() == pytest.approx(0.01)
    assert platt_slope([Fold(np.ones(3), np.ones(4))]) is None


def test_the_calibration_slope_has_the_interval_of_wald():
    (pos, neg, *_) = folds_of(4, 0.8, [(40, 60)])[0]
    found, (slope, half) = calibration_slope(pos, neg, 0.95), logistic([(pos, neg)], 0.0)
    assert found == pytest.approx(slope)
    assert (found.low, found.high) == pytest.approx((slope - half, slope + half), rel=1e-4)


@pytest.mark.parametrize(
    "sides",
    [
        (np.ones(3), np.ones(4)),  # nothing tells them apart
        (np.arange(5.0, 8.0), np.arange(4.0)),  # nothing is wrong
        (np.array([0.0, 1.0]), np.empty(0)),  # there is one class
    ],
)
def test_there_may_be_no_finite_calibration_slope(sides):
    assert calibration_slope(*sides, 0.95) is None


def log_loss(P, true):
    """The expected one, less that of the true probabilities."""
    return float((true * np.log(true / P) + (1 - true) * np.log((1 - true) / (1 - P))).mean())


@pytest.mark.parametrize(("l2", "p"), [(10.0, 4.0), (1e-3, 1.0), (1e-3, 16.0)])
@pytest.mark.parametrize("push", ["top", "bottom"])
def test_held_out_rows_correct_the_probabilities(push, l2, p):
    X, y = linear_rows(0, n=400)
    new, _ = linear_rows(1, n=5000)
    true = 1 / (1 + np.exp(1 - new[:, :3] @ [1, 0.7, -0.5]))
    model = PNormPush([p, p + 1], rankers=LINES, l2=l2, push=push).fit(X, y)  # one of two is chosen
    assert model.slope_ == model.out_of_fold_.slope
    P = model.predict_proba(new)[:, 1]
    given = PNormPush(model.p_, rankers=LINES, l2=l2, push=push).fit(X, y)
    assert (given.slope_, given.out_of_fold_) == (1.0, None)
    raw = pnorm.probability(new, given.rankers_, given.lam_, given.p_, given.trace_.intercept)
    np.testing.assert_array_equal(given.predict_proba(new)[:, 1], raw)
    if l2 == 10.0:
        assert log_loss(P, true) < 0.2 * log_loss(raw, true)
    assert log_loss(P, true) < 0.03
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=1e-9)
    logit = model.slope_ * (1 + model.p_) * model.decision_function(new)
    np.testing.assert_allclose(np.log(P / (1 - P)), logit, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), P > 0.5)


def test_a_pickle_and_a_file_give_the_same_probabilities(tmp_path):
    X, y = linear_rows(0, n=400)
    model = PNormPush(rankers=LINES, l2=10.0).fit(X, y)
    assert model.slope_ > 2.0
    P = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X)[:, 1], P)
    pnorm.save(tmp_path / "model.json", model)
    loaded = pnorm.load(tmp_path / "model.json")
    assert loaded.slope == model.slope_
    np.testing.assert_array_equal(loaded.probability(X), P)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    same = pnorm.probability(X, loaded.H, loaded.lam, loaded.p, loaded.intercept, slope=loaded.slope)
    np.testing.assert_array_equal(same, P)
    pnorm.save(tmp_path / "again.json", loaded)
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_held_out_rows_say_how_sure_a_score_is_that_separates_the_training_rows(monkeypatch):
    monkeypatch.setattr(_default, "N_CUTS", 255)
    X, y = rows(10, 0.0, n=120, d=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PNormPush(l2=1e-8).fit(X, y)
    assert model.separation_ == "separable"
    new = np.random.default_rng(1).normal(size=(1000, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = model.predict_proba(new)[:, 1]
    assert 0.1 < P.min() < P.max() < 0.9
    given = PNormPush(1.0, l2=1e-8).fit(X, y)
    with pytest.warns(pnorm.diagnostics.SeparationWarning):
        given.predict_proba(new)
