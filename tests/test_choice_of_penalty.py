"""`cross_validate` over penalties against plain loops of `minimize`, and over kinds of weak rankers."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from facts import raises, tells
from repeats import each_value, trials
from test_choice import KINDS, margins, problem

import pnorm
from pnorm import metrics, rankers
from pnorm._cross_validation import Choice

POWERS = [4, 1]
PENALTIES = [0.1, 10.0, 1e-3]


def by_hand(pos, neg, H, folds, metric, l2=PENALTIES, of_rows=None, **options):
    """Minimise on the rows of all other folds from zeros, score those of one, measure; each by itself."""
    of_rows = of_rows or {}
    scores = np.empty((len(POWERS), 1 + folds[0].max(), len(l2)))
    for k in range(scores.shape[1]):
        train, held = [(of_side != k) & (of_side >= 0) for of_side in folds], [of_side == k for of_side in folds]
        sides = pos[train[0]], neg[train[1]]
        made = H(*sides) if callable(H) else H
        more = {name: values[train[name.startswith("neg")]] for name, values in of_rows.items()}
        own = {name: values[held[name.startswith("neg")]] for name, values in of_rows.items()}
        for i, p in enumerate(POWERS):
            for s, x in enumerate(l2):
                lam, _ = pnorm.minimize(*sides, made, p, l2=x, tol=0, **more, **options)
                f = [pnorm.score(X[rows], made, lam) for X, rows in zip((pos, neg), held, strict=True)]
                if "pos_group" in own:
                    labels = own["pos_group"], own["neg_group"]
                    lists = [[side[of == g] for side, of in zip(f, labels, strict=True)] for g in np.unique(labels[0])]
                    scores[i, k, s] = np.mean([metric(*pair) for pair in lists])
                else:
                    scores[i, k, s] = metric(*f, **own)
    return scores


def rows_of(kind):
    rng = np.random.default_rng(3)
    return {
        "rows": {},
        "weights": {"pos_weight": rng.choice([0.5, 1, 3], 47), "neg_weight": rng.choice([0.1, 1, 2], 61)},
        "groups": {"pos_group": np.arange(47) % 6, "neg_group": np.arange(61) % 6},
    }[kind]


@each_value()
@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_score_is_that_of_a_minimiser_on_the_rows_alone(kind, fixed):
    pos, neg = problem()
    H = KINDS[kind](pos, neg) if fixed else KINDS[kind]
    found = pnorm.cross_validate(pos, neg, H, POWERS, l2=PENALTIES, folds=3, metric=margins, tol=0)
    np.testing.assert_allclose(found.scores, by_hand(pos, neg, H, found.folds, margins), rtol=1e-4, atol=1e-4)
    assert found.scores.shape == found.gap.shape == found.status.shape == (2, 3, 3)
    assert (found.p.tolist(), found.l2.tolist(), found.rounds) == (POWERS, [PENALTIES] * 2, None)
    assert found.traces == ()
    assert set(found.status.ravel()) == {"converged"}
    i, s = np.unravel_index(found.mean.argmax(), (2, 3))
    assert found.best == (POWERS[i], PENALTIES[s])


@pytest.mark.parametrize("kind", ["weights", "groups"])
def test_weights_and_groups_count_in_minimising_and_in_judging(kind):
    pos, neg = problem(1)
    of_rows = rows_of(kind)
    found = pnorm.cross_validate(pos, neg, None, POWERS, l2=PENALTIES, folds=3, metric="auc", tol=0, **of_rows)
    H = rankers.columns(6)
    expected = by_hand(pos, neg, H, found.folds, metrics.auc, of_rows=of_rows)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-9)


def test_a_push_at_the_bottom_and_columns_far_from_zero():
    pos, neg = problem(2)
    pos[:, 0] += 1e6
    neg[:, 0] += 1e6
    for push in ("top", "bottom"):
        found = pnorm.cross_validate(pos, neg, None, POWERS, l2=PENALTIES, folds=3, metric=margins, tol=0, push=push)
        expected = by_hand(pos, neg, rankers.columns(6), found.folds, margins, push=push)
        np.testing.assert_allclose(found.scores, expected, rtol=1e-4)


def test_another_loss():
    pos, neg = problem(3, 30, 30, 3)
    found = pnorm.cross_validate(pos, neg, None, POWERS, l2=[1, 0.1], folds=2, metric=margins, loss="logistic")
    expected = by_hand(pos, neg, rankers.columns(3), found.folds, margins, [1, 0.1], loss="logistic")
    np.testing.assert_allclose(found.scores, expected, rtol=2e-2)
    with raises(ValueError, "loss 'hinge' has corners"):
        pnorm.cross_validate(pos, neg, None, POWERS, l2=[1], loss="hinge")


@pytest.mark.parametrize(
    "path", [{"l1": [0.3, 3.0, 0.03], "l2": 0.1}, {"l1": 0.3, "l2": [0.1, 1.0]}, {"l1": [3.0, 0.3]}]
)
def test_either_penalty_may_be_the_path_beside_the_other(path):
    pos, neg = problem(9)
    found = pnorm.cross_validate(pos, neg, None, POWERS, **path, folds=2, metric=margins, tol=1e-9)
    along, (l1, l2) = "l2" if isinstance(path["l1"], float) else "l1", (path["l1"], path.get("l2", 0.0))
    assert found.along == along
    for s, value in enumerate(path[along]):
        more = {"l1": l1, "l2": l2, along: value}
        assert found.l1[:, s].tolist() == [more["l1"]] * 2
        assert found.l2[:, s].tolist() == [more["l2"]] * 2
        for k in range(2):
            sides, held = [[X[(n == k) == out] for X, n in zip((pos, neg), found.folds, strict=True)] for out in (0, 1)]
            for i, p in enumerate(POWERS):
                lam, trace = pnorm.minimize(*sides, None, p, **more, tol=1e-9)
                assert found.status[i, k, s] == trace.status
                assert found.scores[i, k, s] == pytest.approx(margins(held[0] @ lam, held[1] @ lam), rel=1e-3, abs=1e-3)
    best = found.best
    assert best == (best.p, getattr(best, along))
    assert {"l1", "l2"} < set(vars(best))
    assert str(found).splitlines()[1].split()[1] == along
    assert np.isin(best.l1, l1)


GRID = np.array([1.0, 0.01, 0.1])
OF_P = {
    "a function of p": ({"l2": lambda p: p * GRID}, "l2"),
    "numbers of p": ({"l2": lambda p: 0.1 * p}, "l2"),
    "a number beside a path": ({"l1": lambda p: p * GRID, "l2": lambda p: 1e-3 * p}, "l1"),
    "kinds": ({"l2": {"lines": lambda p: GRID / p, "cuts": GRID}}, "l2"),
    "paths of kinds": ({"l1": {"lines": 0, "cuts": 0.1 * GRID}, "l2": {"lines": GRID, "cuts": lambda p: 1e-3 * p}}, "l1, l2"),
    "pairs": ({"l1": 0.1 * GRID, "l2": lambda p: p * GRID[::-1]}, "l1, l2"),
    "pairs that share a penalty": ({"l1": [0.1, 0.1, 0], "l2": [1, 0.1, 0.1]}, "l1, l2"),
}  # fmt: skip


def penalty_of(given, kind, p, s):
    """One penalty, read from what was given."""
    given = given[kind] if isinstance(given, dict) else given
    given = given(p) if callable(given) else given
    return given if isinstance(given, float | int) else given[s]


@pytest.mark.parametrize("given", ["numbers of p", "paths of kinds", "pairs that share a penalty"])
def test_every_kind_and_p_has_its_own_penalties(given):
    path, along = OF_P[given]
    pos, neg = problem(13)
    kinds = {"lines": rankers.normalized(pos, neg), "cuts": rankers.quantile_thresholds(pos, neg, 5)}
    more = {"folds": 2, "metric": margins, "tol": 1e-9}
    found = pnorm.cross_validate(pos, neg, kinds, POWERS, **path, **more, n_threads=1)
    again = pnorm.cross_validate(pos, neg, kinds, POWERS, **path, **more, n_threads=7)
    np.testing.assert_array_equal(again.scores, found.scores)
    assert found.along == along
    assert found.l1.shape == found.l2.shape == found.mean.shape == (4, 1 if given == "numbers of p" else 3)
    for i, s in np.ndindex(found.mean.shape):
        kind, p = found.kinds[i], found.p[i]
        own = {name: penalty_of(path.get(name, 0), kind, p, s) for name in ("l1", "l2")}
        assert (found.l1[i, s], found.l2[i, s]) == (own["l1"], own["l2"])
        for k in range(2):
            sides, held = [[X[(n == k) == out] for X, n in zip((pos, neg), found.folds, strict=True)] for out in (0, 1)]
            lam, _ = pnorm.minimize(*sides, kinds[kind], p, **own, tol=1e-9)
            expected = margins(*[pnorm.score(X, kinds[kind], lam) for X in held])
            assert found.scores[i, k, s] == pytest.approx(expected, rel=2e-3, abs=1e-3)
    best, (i, s) = found.best, found._best_place
    assert found.mean[i, s] == found.mean.max()
    assert vars(best) == {"kind": found.kinds[i], "p": found.p[i], "l1": found.l1[i, s], "l2": found.l2[i, s]}
    assert best == (best.p, *[getattr(best, name) for name in along.split(", ")])
    pnorm.minimize(pos, neg, kinds[best.kind], best.p, l1=best.l1, l2=best.l2)


@each_value()
@pytest.mark.parametrize("path", [{"l2": [1.0, 0.01, 0.1]}, {"rounds": [0, 2, 9]}])
@pytest.mark.parametrize("second", ["auc", margins])
def test_a_second_measure_of_the_same_minimisers(second, path):
    first = "partial_auc"
    pos, neg = problem(14)
    calls = partial(pnorm.cross_validate, pos, neg, None, POWERS, folds=3, **path)
    both = calls(metric=first, second_metric=second, n_threads=1)
    for n_threads in (2, 7):
        again = calls(metric=first, second_metric=second, n_threads=n_threads)
        np.testing.assert_array_equal(again.scores, both.scores)
        np.testing.assert_array_equal(again.second_scores, both.second_scores)
    one, two = calls(metric=first), calls(metric=second)
    np.testing.assert_array_equal(both.scores, one.scores)
    np.testing.assert_array_equal(both.second_scores, two.scores)
    assert (both.metric, both.second_metric) == (one.metric, two.metric)
    assert (one.second_scores, one.second_metric) == (None, None)
    assert np.ptp(both.second_scores) > 0


def test_a_second_measure_has_weights_and_reads_the_list_from_below():
    pos, neg = problem(15)
    weights = rows_of("weights")
    calls = partial(pnorm.cross_validate, pos, neg, None, POWERS, l2=PENALTIES, folds=3, push="bottom", **weights)
    both = calls(metric="auc", second_metric="positives_at_top")
    np.testing.assert_array_equal(both.second_scores, calls(metric="positives_at_top").scores)
    assert both.second_metric == "positives_at_top, read from below"


def test_signs_are_kept():
    pos, neg = problem(10)
    signs = [1, -1, 1, -1, 1, -1]
    found = pnorm.cross_validate(pos, neg, None, 4, l2=[0.1], signs=signs, folds=2, metric=margins, tol=1e-9)
    for k in range(2):
        train, held = [[(n == k) == out for n in found.folds] for out in (0, 1)]
        lam, _ = pnorm.minimize(pos[train[0]], neg[train[1]], None, 4, l2=0.1, signs=signs, tol=1e-9)
        assert found.scores[0, k, 0] == pytest.approx(margins(pos[held[0]] @ lam, neg[held[1]] @ lam), rel=1e-3)


@each_value()
@pytest.mark.parametrize("recipe", [False, True])
@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize("how", [{"penalty": "shapes"}, {"max_columns": 2}, {"penalty": "shapes", "max_columns": 2}])
def test_columns_are_penalised_and_chosen_as_by_minimize(how, push, recipe):
    pos, neg = problem(12)
    pos, neg = (np.c_[X[:, :3], X[:, 3:].round()] for X in (pos, neg))  # columns of many cuts, and of few
    cuts = partial(rankers.quantile_thresholds, n_cuts=9, linear=True)
    H = cuts if recipe else cuts(pos, neg)
    found = pnorm.cross_validate(
        pos, neg, H, POWERS, l1=[0.03], l2=0.1, **how, folds=2, metric=margins, tol=1e-9, push=push
    )
    plain = pnorm.cross_validate(pos, neg, H, POWERS, l1=[0.03], l2=0.1, folds=2, metric=margins, push=push)
    assert np.abs(found.scores - plain.scores).min() > 1e-3
    for k in range(2):
        sides, held = [[X[(n == k) == out] for X, n in zip((pos, neg), found.folds, strict=True)] for out in (0, 1)]
        made = H(*sides) if recipe else H
        for i, p in enumerate(POWERS):
            lam, trace = pnorm.minimize(*sides, made, p, l1=0.03, l2=0.1, **how, tol=1e-9, push=push)
            assert np.unique(made.column[np.flatnonzero(lam)]).size <= how.get("max_columns", 6)
            f = [pnorm.score(X, made, lam) for X in held]
            assert found.status[i, k, 0] == trace.status == "converged"
            assert found.scores[i, k, 0] == pytest.approx(margins(*f), rel=1e-4)


def test_the_order_of_penalties_and_the_number_of_threads_change_no_bit():
    pos, neg = problem(4)
    calls = partial(pnorm.cross_validate, pos, neg, KINDS["cuts"], POWERS, folds=3)
    found = calls(l2=PENALTIES, n_threads=1)
    for n_threads in (2, 7):
        again = calls(l2=PENALTIES[::-1], n_threads=n_threads)
        np.testing.assert_array_equal(again.scores, found.scores[:, :, ::-1])
        np.testing.assert_array_equal(again.gap, found.gap[:, :, ::-1])
        assert (again.best, again.simplest) == (found.best, found.simplest)


def test_scores_are_measured_in_blocks_of_any_size(monkeypatch):
    pos, neg = problem(5)
    whole = pnorm.cross_validate(pos, neg, None, POWERS, l2=PENALTIES, folds=3, metric=margins)
    for cells in (1, 50):
        monkeypatch.setattr("pnorm._solvers.folds._CELLS", cells)
        found = pnorm.cross_validate(pos, neg, None, POWERS, l2=PENALTIES, folds=3, metric=margins)
        np.testing.assert_array_equal(found.scores, whole.scores)


def test_a_held_out_row_whose_score_overflows_is_refused():
    pos, neg = (1e-4 * X for X in problem(11))  # large coefficients
    folds = [np.where(np.arange(n) < 10, 0, -1) for n in (47, 61)]
    neg[0, 0] = 1e308
    with raises(ValueError, "neg has a row whose score, held out, is more than a float"):
        pnorm.cross_validate(pos, neg, None, 1, l2=1e-12, folds=folds, metric="auc")


def test_certificates_reach_the_tolerance_that_was_asked_for():
    pos, neg = problem(6)
    loose, tight = [pnorm.cross_validate(pos, neg, None, 4, l2=PENALTIES, **tol) for tol in ({}, {"tol": 1e-11})]
    assert (loose.tol, tight.tol) == (1e-6, 1e-11)
    assert (loose.gap <= 1e-6).all()
    assert (tight.gap <= 1e-11).all()
    assert (loose.gap > 1e-11).any()
    assert str(loose).splitlines()[-1] == "all 15 runs certified within 1e-06"


def test_runs_without_a_minimiser_are_counted():
    pos, neg = problem(7)
    pos[:, 0], neg[:, 0] = np.arange(47) + 100.0, -np.arange(61)
    found = pnorm.cross_validate(pos, neg, None, 1, l2=[0, 1], folds=2, metric="auc")
    assert found.status.tolist() == [[["separable", "converged"]] * 2]
    assert np.isinf(found.gap[:, :, 0]).all()
    assert str(found).splitlines()[-1] == "2 of 4 runs certified within 1e-06; 2 separable"
    never = pnorm.cross_validate(pos, neg, None, 1, l2=0, folds=2, metric="auc")
    assert str(never).splitlines()[-1] == "2 separable"
    assert never.best == (1, 0)


# The choice


def result(scores, p=(16.0, 1.0, 4.0), l2=(0.1, 10.0, 1.0), kinds=(), second=None, l1=None):
    """A result with these scores, (P, F, S)."""
    scores = np.array(scores, float)
    second = None if second is None else np.array(second, float)
    gap = np.full(scores.shape, 1e-9)
    status = np.full(scores.shape, "converged")
    p = np.array(p[: len(scores)])
    along, shape = "l2" if l1 is None else "l1, l2", scores[:, 0].shape
    penalties = [np.broadcast_to(np.array(x, float), shape) for x in (0.0 if l1 is None else l1, l2)]
    return pnorm.CrossValidation(
        p,
        None,
        scores,
        (np.zeros(2), np.zeros(2)),
        (),
        "auc",
        *penalties,
        gap,
        status,
        1e-6,
        along,
        kinds,
        second,
        "top",
    )


def literal(found, allowance, second=None):
    """The first kind, of that the smallest p, of that the largest penalty, that is near enough to the best.

    With a second measure only those count that have the largest mean of it among those that are near enough.
    """
    n_p, n_folds, n_l2 = found.scores.shape
    mean = [[sum(found.scores[i, :, s]) / n_folds for s in range(n_l2)] for i in range(n_p)]
    top, at = max((mean[i][s], (i, s)) for i in range(n_p) for s in range(n_l2))
    spread = found.scores[at[0], :, at[1]]
    error = np.sqrt(sum((x - top) ** 2 for x in spread) / (n_folds - 1) / n_folds)
    near = [(i, s) for i in range(n_p) for s in range(n_l2) if mean[i][s] >= top - allowance * error - 1e-12]
    if second is not None:
        of_near = [sum(second[i, :, s]) / n_folds for i, s in near]
        near = [place for place, value in zip(near, of_near, strict=True) if value >= max(of_near) - 1e-12]
    kinds = list(dict.fromkeys(found.kinds)) or [None]
    found_at = [
        ((kinds.index(found.kinds[i] if found.kinds else None), found.p[i], -found.l1[i, s], -found.l2[i, s]), (i, s))
        for i, s in near
    ]
    i, s = min(found_at)[1]
    return found.kinds[i] if found.kinds else None, found.p[i], found.l2[i, s]


@pytest.mark.parametrize("seed", trials(8))
def test_best_and_simplest_against_the_rules_read_literally(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (6, 5, 4)) + rng.integers(0, 3, (6, 1, 4))
    kinds = ("z", "z", "z", "a", "a", "a") if seed % 2 else ()
    p = (4, 16, 1, 4, 16, 1) if seed % 2 else (4, 16, 1, 64, 2, 8)
    found = result(scores, p, rng.permutation([10.0, 0.1, 1.0, 0.0]), kinds)
    for choice, allowance in ((found.best, 0), (found.simplest, 1)):
        assert (choice.kind, choice.p, choice.l2) == literal(found, allowance)
        assert choice == (choice.p, choice.l2)


@pytest.mark.parametrize("seed", trials(8))
def test_a_second_measure_settles_what_the_first_cannot_tell(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (6, 5, 4)) + rng.integers(0, 3, (6, 1, 4))
    second = rng.integers(0, 2, (6, 5, 4)) + rng.integers(0, 2, (6, 1, 4)) / 8
    l1, l2 = rng.choice([0, 0.5, 2], (6, 4)), rng.permuted(np.tile([10.0, 0.1, 1.0, 0.01], (6, 1)), axis=1)
    kinds = ("z", "z", "z", "a", "a", "a")
    found, plain = [result(scores, (4, 16, 1) * 2, l2, kinds, of_list, l1) for of_list in (second, None)]
    for choice, asked in (
        (found.best, (1, second)),
        (found.simplest, (1,)),
        (plain.best, (0,)),
        (plain.simplest, (1,)),
    ):
        assert (choice.kind, choice.p, choice.l2) == literal(found, *asked)
        assert choice == (choice.p, choice.l1, choice.l2)
    once = result(scores[:, :1], (4, 16, 1) * 2, l2, kinds, second[:, :1], l1)  # one fold has no error to go by
    assert (once.best.kind, once.best.p, once.best.l2) == literal(result(scores[:, [0, 0]], (4, 16, 1) * 2, l2, kinds, None, l1), 0, second[:, [0, 0]])  # fmt: skip


def test_what_was_chosen_unpacks_has_names_and_travels():
    choice = result([[[0, 1, 0], [0, 1, 0]]], kinds=("cuts",)).best
    p, l2 = choice
    assert (p, l2) == (choice.p, choice.l2) == choice == (16.0, 10.0)
    assert repr(choice) == "Choice(p=16.0, l2=10.0, kind='cuts')"
    assert str(choice) == "cuts, p = 16, l2 = 10"
    for again in (copy.copy(choice), copy.deepcopy(choice), pickle.loads(pickle.dumps(choice))):
        assert isinstance(again, Choice)
        assert vars(again) == vars(choice)
        assert again == choice
    with pytest.raises(AttributeError):
        choice.t  # noqa: B018
    rounds = pnorm.cross_validate(*problem(), None, [1], 3, folds=2).best
    assert repr(rounds) == f"Choice(p=1.0, t={rounds.t})"


def test_it_prints_what_was_found():
    best, worse = [[0.0, 0.5, 0.8], [0.0, 0.6, 0.9]], [[0.0, 0.5, 0.7], [0.0, 0.6, 0.6]]
    found = result([worse, best], p=(4.0, 1.0))
    assert repr(found) == "<CrossValidation: auc 0.85 at p = 1 and l2 = 1; 2 p, 2 folds>"
    lines = str(found).splitlines()
    assert lines[1].split() == ["p", "l2", "mean", "behind", "the", "best"]
    assert lines[2].split() == ["4", "1", "0.6500", "±", "0.0500", "0.2000", "±", "0.1000"]
    assert lines[3].split() == ["1", "1", "0.8500", "±", "0.0500"]
    assert lines[4:] == [
        "best, the largest mean: p = 1, l2 = 1",
        "simplest within one standard error of it: p = 1, l2 = 1",
        "all 12 runs certified within 1e-06",
    ]
    several = result([worse, best], p=(4.0, 4.0), kinds=("lines", "cuts"))
    assert repr(several) == "<CrossValidation: auc 0.85 at cuts, p = 4 and l2 = 1; 2 kinds, 1 p, 2 folds>"
    assert [line.split()[0] for line in str(several).splitlines()[2:4]] == ["lines", "cuts"]
    kinds, l1 = ("cuts", "steps"), [[0.0] * 3, [1.0, 3.0, 2.0]]
    second = [[[0.1, 0.2, 0.3]] * 2, [[0.1, 0.3, 0.7]] * 2]
    both = result([worse, [[0.0, 0.5, 0.8], [0.0, 0.6, 0.8]]], (4.0, 4.0), kinds=kinds, second=second, l1=l1)
    assert repr(both) == "<CrossValidation: auc 0.8 at steps, p = 4, l1 = 2 and l2 = 1; 2 kinds, 1 p, 2 folds>"
    assert str(both).splitlines()[1:] == [
        "                p      l1      l2              mean      behind the largest",
        "cuts            4       0       1   0.6500 ± 0.0500      0.1500 ± 0.0500",
        "steps           4       2       1   0.8000 ± 0.0000",
        "within one standard error of the largest mean: 1 of 6 candidates",
        "best, the largest top of these: steps, p = 4, l1 = 2, l2 = 1: 0.7000 ± 0.0000",
        "simplest of these: steps, p = 4, l1 = 2, l2 = 1",
        "all 12 runs certified within 1e-06",
    ]
    assert str(result([worse], kinds=("cuts",), l1=[l1[0]]).best) == "cuts, p = 16, l2 = 1"
    falling = result([[[0.9, 0.1, 0.2], [0.9, 0.3, 0.2]]])
    assert tells(str(falling), "the best is at the smallest l2: a smaller one may be better")
    assert "smaller" not in str(result([[[0.9, 0.1, 0.2], [0.9, 0.3, 0.2]]], l2=(0.0, 10.0, 1.0)))


def test_the_choice_goes_straight_into_minimising():
    data = pnorm.datasets.tic_tac_toe()
    kinds = {"columns": None, "cuts": rankers.thresholds([[0.5, 1.5]] * 9)}
    best = pnorm.cross_validate(data.pos, data.neg, kinds, [1, 4], l2=[1, 0.01], folds=3).best
    lam, trace = pnorm.minimize(data.pos, data.neg, kinds[best.kind], best.p, l2=best.l2)
    assert best.kind == "cuts"
    assert trace.status == "converged"


# Kinds of weak rankers


@pytest.mark.parametrize("how", [{"l2": PENALTIES}, {"t_max": 6}], ids=["penalties", "rounds"])
def test_kinds_are_compared_on_the_same_folds(how):
    pos, neg = problem(8)
    kinds = {"lines": None, "cuts": partial(rankers.quantile_thresholds, n_cuts=5), "both": KINDS["both"](pos, neg)}
    found = pnorm.cross_validate(pos, neg, kinds, POWERS, folds=3, **how)
    assert found.kinds == ("lines", "lines", "cuts", "cuts", "both", "both")
    assert found.p.tolist() == POWERS * 3
    each = [pnorm.cross_validate(pos, neg, H, POWERS, folds=3, **how) for H in kinds.values()]
    np.testing.assert_array_equal(found.scores, np.concatenate([one.scores for one in each]))
    top = max(each, key=lambda one: one.mean.max())
    assert found.best == top.best
    assert found.best.kind == list(kinds)[each.index(top)]
    assert len(found.traces) == (0 if "l2" in how else 6)


def test_a_bar_over_the_folds_of_all_kinds(capsys):
    pytest.importorskip("tqdm")
    pnorm.cross_validate(*problem(), {"a": None, "b": None}, 1, l2=1, folds=3, progress=True)
    assert "6/6" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"l2": [1], "t_max": 5}, ValueError, "t_max and l2 are both given"),
        ({"l2": [1], "rounds": 5}, ValueError, "rounds and l2 are both given"),
        ({"l2": [1], "selection": "signed"}, ValueError, "selection and l2 are both given"),
        ({"l1": 1, "rounds": 5}, ValueError, "rounds and l1 are both given"),
        ({"max_columns": 2}, ValueError, "max_columns is for minimisers"),
        ({"penalty": "shapes", "t_max": 5}, ValueError, "penalty='shapes' is for minimisers"),
        ({"penalty": "shape", "l2": [1]}, ValueError, "penalty must be one of"),
        ({"max_columns": 0, "l2": [1]}, ValueError, "max_columns must be"),
        ({"l1": [1, 2], "l2": [1, 2, 3]}, ValueError, "l1 and l2 are both sequences, which go in pairs and must be as long as each other; they have 2 and 3"),
        ({"l1": [1, 1], "l2": [2, 2]}, ValueError, "l1 = 1, l2 = 2 is there 2 times; once is enough"),
        ({"l2": lambda p: [-p]}, ValueError, "l2(1) must be zero or more; got -1"),
        ({"l2": lambda p: None}, TypeError, "l2(1) must be a sequence of numbers; got None"),
        ({"l2": lambda p: []}, ValueError, "l2(1) is empty"),
        ({"l2": lambda p: [1, 2] if p == 1 else [1], "p": [1, 4]}, ValueError, "the same number of penalties: there are 2 for p = 1, and 1 for p = 4"),
        ({"l2": {"a": 1, "b": [1, 2]}, "H": {"a": None, "b": None}}, ValueError, "there are 1 for 'a' and p = 1, and 2 for 'b' and p = 1"),
        ({"l2": {"a": 1}, "H": {"a": None, "b": None}}, ValueError, "l2 is a mapping, which must have the names of the weak rankers in H ('a', 'b'); got 'a'"),
        ({"l1": {}, "l2": 1}, ValueError, "l1 is a mapping, which must have the names of the weak rankers in H (which are no mapping); got no names"),
        ({"second_metric": "auk"}, ValueError, "second_metric must be one of 'partial_auc'"),
        ({"second_metric": 3}, TypeError, "second_metric must be a name or a function"),
        ({"l1": -1}, ValueError, "l1 must be zero or more"),
        ({"l2": []}, ValueError, "l2 is empty; at least one number is needed"),
        ({"l2": [1, 1.0]}, ValueError, "l2 = 1 is there 2 times; once is enough"),
        ({"l2": [-1]}, ValueError, "l2 must be zero or more; got -1"),
        ({"l2": "path"}, TypeError, "l2 must be a sequence of numbers; got 'path'"),
        ({"l2": 1, "tol": -1}, ValueError, "tol must be zero or more"),
        ({"l2": 1e-150}, ValueError, "l2 must be zero, or at least 1e-140"),
        ({"H": {}}, ValueError, "H is an empty mapping"),
        ({"H": {1: None}}, TypeError, "H is a mapping, whose keys must be names of weak rankers; got 1"),
        ({"H": {"a": None, "b": lambda X: X}}, TypeError, "H is a function that does not take (pos, neg)"),
    ],
)  # fmt: skip
def test_refusals(options, error, message):
    with pytest.raises(error) as caught:
        pnorm.cross_validate(*problem(), **{"p": [1], **options})
    assert message in str(caught.value)
