"""`cross_validate` against a plain double loop over folds and powers, and what its result says."""

import dataclasses
import threading
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from facts import raises
from repeats import each_value, trials

import pnorm
from pnorm import _checks, metrics, rankers
from pnorm._solvers import folds
from pnorm.metrics import _by_name

POWERS = [1, 4, 16]


def problem(seed=0, n_pos=47, n_neg=61, n=6, decimals=None):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(n, n))
    pos, neg = rng.normal(0.4, 1, (n_pos, n)) @ mix, rng.normal(0, 1, (n_neg, n)) @ mix
    return (pos, neg) if decimals is None else (pos.round(decimals), neg.round(decimals))


def by_hand(pos, neg, H, powers, t_max, folds, metric, pos_weight=None, neg_weight=None, groups=None, **options):
    """Train on the rows of all other folds, score those of one, measure; each by itself."""
    n_folds = 1 + folds[0].max()
    scores = np.empty((len(powers), n_folds, t_max + 1))
    for k in range(n_folds):
        train, held = [of_side != k for of_side in folds], [of_side == k for of_side in folds]
        made = H(pos[train[0]], neg[train[1]]) if callable(H) else H
        more = dict(options)
        if pos_weight is not None:
            more |= {"pos_weight": pos_weight[train[0]], "neg_weight": neg_weight[train[1]]}
        if groups is not None:
            more |= {"pos_group": groups[0][train[0]], "neg_group": groups[1][train[1]]}
        for i, p in enumerate(powers):
            _, trace = pnorm.train(pos[train[0]], neg[train[1]], made, p, t_max, **more)
            for t in range(t_max + 1):
                lam = trace.lam_at(min(t, trace.n_iter))
                f_pos, f_neg = (pnorm.score(X[rows], made, lam) for X, rows in ((pos, held[0]), (neg, held[1])))
                if groups is not None:
                    g_pos, g_neg = groups[0][held[0]], groups[1][held[1]]
                    both = np.intersect1d(g_pos, g_neg)
                    scores[i, k, t] = np.mean([metric(f_pos[g_pos == g], f_neg[g_neg == g]) for g in both])
                elif pos_weight is not None:
                    weights = {"pos_weight": pos_weight[held[0]], "neg_weight": neg_weight[held[1]]}
                    scores[i, k, t] = metric(f_pos, f_neg, **weights)
                else:
                    scores[i, k, t] = metric(f_pos, f_neg)
    return scores


def margins(f_pos, f_neg):
    """A measure in which every digit of every score can be seen."""
    return float(f_pos.mean() - f_neg.mean() + np.abs(f_pos[:, None] - f_neg).max())


def cubes(pos, neg):
    """A recipe for three weak rankers, scaled by the training rows."""
    scale = np.abs(np.concatenate([pos, neg])).max()
    return [lambda X, j=j: (X[:, j] / scale) ** 3 for j in range(3)]


KINDS = {
    "columns": lambda pos, neg: rankers.columns(6),
    "cuts": lambda pos, neg: rankers.quantile_thresholds(pos, neg, 7),
    "closed": lambda pos, neg: rankers.closed(rankers.quantile_thresholds(pos, neg, 3)),
    "both": lambda pos, neg: rankers.quantile_thresholds(pos, neg, 7) + rankers.columns(6),
    "functions": cubes,
}


@each_value(times=2)
@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", [margins, metrics.positives_at_top, metrics.average_precision])
def test_every_score_is_that_of_a_plain_run(kind, fixed, metric):
    pos, neg = problem()
    H = KINDS[kind](pos, neg) if fixed else KINDS[kind]
    found = pnorm.cross_validate(pos, neg, H, POWERS, 15, folds=3, metric=metric)
    expected = by_hand(pos, neg, H, POWERS, 15, found.folds, metric)
    assert found.scores.shape == (3, 3, 16)
    assert found.rounds.tolist() == list(range(16))
    np.testing.assert_allclose(found.scores, expected, rtol=1e-9, atol=1e-9)


def test_rows_that_tie_tie():
    data = pnorm.datasets.tic_tac_toe()
    found = pnorm.cross_validate(data.pos, data.neg, None, [1, 8], 20, folds=3, metric="positives_at_top")
    expected = by_hand(data.pos, data.neg, rankers.columns(9), [1, 8], 20, found.folds, metrics.positives_at_top)
    np.testing.assert_array_equal(found.scores, expected)


@pytest.mark.parametrize("seed", trials(4))
def test_weights_count_in_training_and_in_judging(seed):
    pos, neg = problem(seed)
    rng = np.random.default_rng(seed)
    c = rng.choice([0.5, 1, 3], 47), rng.choice([0.1, 1, 2], 61)
    found = pnorm.cross_validate(pos, neg, None, POWERS, 20, folds=3, metric="auc", pos_weight=c[0], neg_weight=c[1])
    expected = by_hand(pos, neg, None, POWERS, 20, found.folds, metrics.auc, *c)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-9)
    one_side = pnorm.cross_validate(pos, neg, None, [4], 20, folds=3, metric="auc", pos_weight=c[0])
    again = by_hand(pos, neg, None, [4], 20, one_side.folds, metrics.auc, c[0], np.ones(61))
    np.testing.assert_allclose(one_side.scores, again, rtol=1e-9)


@pytest.mark.parametrize("kind", ["columns", "cuts"])
def test_groups_are_held_out_as_a_whole_and_judged_one_by_one(kind):
    pos, neg = problem(1)
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 9, 47), rng.integers(0, 9, 61)
    groups[0][:2], groups[1][:3] = 77, 78  # with one side only
    found = pnorm.cross_validate(pos, neg, KINDS[kind], POWERS, 15, folds=3, metric="auc", pos_group=groups[0],
                                 neg_group=groups[1])  # fmt: skip
    of_group = {}
    for labels, number in zip(groups, found.folds, strict=True):
        for label, k in zip(labels, number, strict=True):
            of_group.setdefault(int(label), set()).add(int(k))
    assert of_group.pop(77) == of_group.pop(78) == {-1}
    assert all(len(numbers) == 1 for numbers in of_group.values())
    assert sorted(np.bincount([numbers.pop() for numbers in of_group.values()])) == [3, 3, 3]
    kept = [~np.isin(labels, (77, 78)) for labels in groups]
    trimmed = [X[rows] for X, rows in zip((pos, neg), kept, strict=True)]
    folds, groups = (
        [of_side[rows] for of_side, rows in zip(pair, kept, strict=True)] for pair in (found.folds, groups)
    )
    expected = by_hand(*trimmed, KINDS[kind], POWERS, 15, folds, metrics.auc, groups=groups)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-9)


@pytest.mark.parametrize("options", [{"loss": "logistic"}, {"loss": "hinge", "smoothing": 0.1}, {"selection": "signed"}, {"selection": "largest"},
                                     {"tol": 0.05}, {"price": pnorm.objectives.Exponential(0.1)}], ids=str)  # fmt: skip
def test_other_objectives_and_rules(options):
    pos, neg = problem(2, 30, 30, 3)
    p = None if "price" in options else [1, 2]
    found = pnorm.cross_validate(pos, neg, None, p, 8, folds=2, metric=margins, **options)
    powers = [1, 4, 16, 64] if p is None and "price" not in options else p or [1]
    assert found.p.tolist() == powers
    expected = by_hand(pos, neg, None, powers, 8, found.folds, margins, **options)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-9, atol=1e-9)


def test_runs_are_to_the_bit_those_on_the_rows_alone():
    pos, neg = problem(3)
    found = pnorm.cross_validate(pos, neg, None, POWERS, 40, folds=3)
    for k in range(3):
        for i, p in enumerate(POWERS):
            _, trace = pnorm.train(pos[found.folds[0] != k], neg[found.folds[1] != k], None, p, 40)
            for name in ("ranker", "step", "edge", "z", "log_objective"):
                np.testing.assert_array_equal(getattr(found.traces[i][k], name), getattr(trace, name))


def test_the_runs_of_few_rows_share_threads(monkeypatch):
    """Whole runs do; what the user wrote is called by the caller's thread alone."""
    together, runs, asked = threading.Barrier(3, timeout=20), set(), set()

    def descend(*arguments):
        if threading.get_ident() not in runs:
            runs.add(threading.get_ident())
            together.wait()
        return _descend(*arguments)

    def metric(f_pos, f_neg):
        asked.add(threading.get_ident())
        return margins(f_pos, f_neg)

    def recipe(a, b):
        asked.add(threading.get_ident())
        return cubes(a, b)

    _descend = folds.descend
    monkeypatch.setattr(folds, "descend", descend)
    pos, neg = problem()
    found = pnorm.cross_validate(pos, neg, recipe, POWERS, 5, folds=4, metric=metric, n_threads=3)
    assert len(runs) == 3
    assert asked == {threading.get_ident()}
    monkeypatch.setattr(folds, "descend", _descend)
    alone = pnorm.cross_validate(pos, neg, recipe, POWERS, 5, folds=4, metric=metric, n_threads=1)
    np.testing.assert_array_equal(found.scores, alone.scores)


def test_a_loss_of_the_users_is_called_by_the_callers_thread():
    asked = set()

    def losses(z):
        asked.add(threading.get_ident())
        return np.logaddexp(0, -z)

    loss = pnorm.objectives.Loss(losses, lambda z: -1 / (1 + np.exp(z)))
    pnorm.cross_validate(POS, NEG, None, [1, 2], 2, folds=3, loss=loss, n_threads=3)
    assert asked == {threading.get_ident()}


def test_scores_follow_the_rounds_in_blocks_of_any_size(monkeypatch):
    pos, neg = problem(14)
    whole = pnorm.cross_validate(pos, neg, None, POWERS, 30, folds=3, metric=margins)
    for cells in (1, 100, 500):
        monkeypatch.setattr(folds, "_CELLS", cells)
        found = pnorm.cross_validate(pos, neg, None, POWERS, 30, folds=3, metric=margins)
        np.testing.assert_array_equal(found.scores, whole.scores)
        some = pnorm.cross_validate(pos, neg, None, POWERS, 30, folds=3, metric=margins, rounds=[0, 3, 4, 20])
        np.testing.assert_array_equal(some.scores, whole.scores[:, :, [0, 3, 4, 20]])


def test_columns_of_few_values_and_far_from_zero():
    pos, neg = problem(4, 200, 240, 4, decimals=1)
    pos[:, 0] += 1e6
    neg[:, 0] += 1e6
    found = pnorm.cross_validate(pos, neg, None, [1, 8], 20, folds=4, metric=margins)
    np.testing.assert_allclose(found.scores, by_hand(pos, neg, None, [1, 8], 20, found.folds, margins), rtol=1e-6)
    moved = pnorm.cross_validate(pos - [1e6, 0, 0, 0], neg - [1e6, 0, 0, 0], None, [1, 8], 20, folds=4, metric=margins)
    np.testing.assert_allclose(found.scores, moved.scores, rtol=1e-8)


def test_the_measure_by_default_looks_down_to_ten_negatives():
    pos, neg = problem(13, 40, 70)
    found = pnorm.cross_validate(pos, neg, None, [1, 4], 8, folds=2)
    down = partial(metrics.partial_auc, max_fp=10, standardized=True)
    np.testing.assert_allclose(found.scores, by_hand(pos, neg, None, [1, 4], 8, found.folds, down), rtol=1e-9)
    assert found.metric == "partial_auc"
    few = pnorm.cross_validate(pos, neg[:16], None, [4], 8, folds=2)
    whole = partial(metrics.partial_auc, max_fp=8, standardized=True)
    np.testing.assert_allclose(few.scores, by_hand(pos, neg[:16], None, [4], 8, few.folds, whole), rtol=1e-9)
    c = np.full(40, 2.0), np.full(70, 0.25)  # 35 rows of a quarter: their weight is less than ten
    light = pnorm.cross_validate(pos, neg, None, [4], 8, folds=2, pos_weight=c[0], neg_weight=c[1])
    whole = partial(metrics.partial_auc, max_fp=8.75, standardized=True)
    np.testing.assert_allclose(light.scores, by_hand(pos, neg, None, [4], 8, light.folds, whole, *c), rtol=1e-9)


@pytest.mark.parametrize(("n_neg", "end"), [(1000, 10), (1001, 10.01), (2500, 25)])
def test_the_measure_by_default_looks_down_to_a_hundredth_of_many_negatives(n_neg, end):
    rng = np.random.default_rng(17)
    f_pos, f_neg = rng.normal(2, 1, 50), rng.normal(size=n_neg)
    expected = metrics.partial_auc(f_pos, f_neg, max_fp=end, standardized=True)
    measure, counted = _by_name.LARGER["partial_auc"], _checks.case_weights(50, n_neg)
    assert measure(f_pos, f_neg) == expected
    assert _by_name.scorer_of_lists([measure], counted)(f_pos[None], f_neg[None]) == pytest.approx(expected, rel=1e-13)
    doubled = {"pos_weight": np.full(50, 3.0), "neg_weight": np.full(n_neg, 2.0)}
    twice = metrics.partial_auc(f_pos, f_neg, max_fp=max(10, 0.02 * n_neg), standardized=True, **doubled)
    assert measure(f_pos, f_neg, **doubled) == pytest.approx(twice, rel=1e-13)


def kinds_of_rows(n_pos, n_neg):
    """Weights and groups of rows, as `case_weights` takes them."""
    rng = np.random.default_rng(15)
    few, many = rng.choice([0.5, 1, 3], n_pos), rng.uniform(0.1, 2, n_neg)
    groups = rng.permutation(np.arange(n_pos) % 3), rng.permutation(np.arange(n_neg) % 3)
    return {
        "plain": (None, None),
        "weights": (few, many),
        "weights of one side": (None, many),
        "tiny weights": (1e-200 * few, 1e-200 * many),
        "groups": (None, None, *groups),
        "groups and weights": (few, many, *groups),
    }


@each_value(times=2)
@pytest.mark.parametrize("push", ["top", "bottom"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name, measure in _by_name.LARGER.items()
        for kind in kinds_of_rows(1, 1)
        if "weights" not in kind or _by_name.takes(measure, 0, 0, pos_weight=0)
    ],
)
def test_many_lists_are_measured_as_one_by_one(name, kind, push):
    n_pos, n_neg = 23, 48
    counted = _checks.case_weights(n_pos, n_neg, *kinds_of_rows(n_pos, n_neg)[kind])
    measure, told = _by_name.named(name, _by_name.LARGER, counted, push)
    rng = np.random.default_rng(16)
    f_pos, f_neg = rng.normal(0.5, 1, (9, n_pos)), rng.normal(0, 1, (9, n_neg))
    for k in range(3, 9):  # more and more ties
        f_pos[k], f_neg[k] = (
            of_side[k].round(8 - k) if k < 8 else np.zeros_like(of_side[k]) for of_side in (f_pos, f_neg)
        )
    rows = rng.permutation(n_pos)[:17], rng.permutation(n_neg)[:31]
    one = _by_name.scorer(measure, told, counted, rows)
    f_pos, f_neg = f_pos[:, rows[0]], f_neg[:, rows[1]]
    expected = [one(*lists) for lists in zip(f_pos, f_neg, strict=True)]
    found, again = _by_name.scorer_of_lists([measure, measure], counted, rows)(f_pos, f_neg)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_array_equal(again, found)  # the lists are as they were
    assert len(set(expected)) > 1


def test_many_lists_are_finite():
    measure, rows = metrics.auc, _checks.case_weights(2, 3)
    for bad in (np.inf, -np.inf, np.nan):
        f_neg = np.zeros((4, 3))
        f_neg[2, 1] = bad
        with raises(ValueError, f"f_neg has {bad} at position 1; every value must be finite"):
            _by_name.scorer_of_lists([measure], rows)(np.zeros((4, 2)), f_neg)


# What is read, and by whom


class Counting:
    """A weak ranker that counts its calls and rows."""

    def __init__(self, j):
        self.j, self.rows = j, []

    def __call__(self, X):
        self.rows.append(len(X))
        return X[:, self.j]


def test_a_collection_is_evaluated_once_for_all_folds_and_powers():
    pos, neg = problem()
    H = [Counting(j) for j in range(3)]
    pnorm.cross_validate(pos, neg, H, POWERS, 30, folds=5)
    assert [h.rows for h in H] == [[47, 61]] * 3


def test_a_recipe_is_evaluated_once_per_fold_and_sees_no_row_that_is_held_out():
    pos, neg = problem()
    pos[:, 0], neg[:, 0] = np.arange(47), 100 + np.arange(61)  # rows that can be told apart
    made, seen = [], []

    def recipe(a, b):
        seen.append(({int(x) for x in a[:, 0]}, {int(x) - 100 for x in b[:, 0]}))
        made.append([Counting(j) for j in (1, 2)])
        return made[-1]

    found = pnorm.cross_validate(pos, neg, recipe, POWERS, 30, folds=5)
    assert [h.rows for H in made for h in H] == [[47, 61]] * 10
    for k, rows in enumerate(seen):
        for of_side, number in zip(rows, found.folds, strict=True):
            assert of_side == set(np.flatnonzero(number != k))


@pytest.mark.parametrize("kind", ["columns", "cuts"])
def test_held_out_rows_leave_no_mark_on_the_run(kind):
    pos, neg = problem(5)
    found = pnorm.cross_validate(pos, neg, KINDS[kind], [1, 8], 20, folds=3)
    for k in range(3):
        changed = pos.copy(), neg.copy()
        for X, number in zip(changed, found.folds, strict=True):
            X[number == k] = np.random.default_rng(0).normal(size=(int((number == k).sum()), 6))
        other = pnorm.cross_validate(*changed, KINDS[kind], [1, 8], 20, folds=found.folds)
        for i in range(2):
            np.testing.assert_allclose(other.traces[i][k].step, found.traces[i][k].step, rtol=1e-12)
        assert (other.scores[:, k] != found.scores[:, k]).any()


@each_value()
@pytest.mark.parametrize("form", ["list", "float32", "fortran", "csr", "coo", "pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("recipe", [True, False])
def test_rows_come_in_any_form(form, recipe):
    sides = problem(6, n=3)
    names = ["a", "b", "c"]
    make = {
        "list": lambda X: X.tolist(),
        "float32": lambda X: X.astype(np.float32),
        "fortran": np.asfortranarray,
        "csr": scipy.sparse.csr_array,
        "coo": scipy.sparse.coo_array,
        "pandas": lambda X: pytest.importorskip("pandas").DataFrame(X, columns=names, index=np.arange(len(X)) % 5),
        "polars": lambda X: pytest.importorskip("polars").DataFrame(X, schema=names),
        "pyarrow": lambda X: pytest.importorskip("pyarrow").table(dict(zip(names, X.T, strict=True))),
    }[form]
    H = partial(rankers.quantile_thresholds, n_cuts=5) if recipe else None
    expected = pnorm.cross_validate(*sides, H, [2], 10, folds=3, metric="auc")
    found = pnorm.cross_validate(*map(make, sides), H, [2], 10, folds=3, metric="auc")
    np.testing.assert_array_equal(found.folds[0], expected.folds[0])
    np.testing.assert_allclose(found.scores, expected.scores, atol=2e-3 if form == "float32" else 1e-12)


def test_rows_of_anything_with_functions_for_weak_rankers():
    pos, neg = ["win now", "WIN BIG", "now or never", "free"], ["see you", "at ten", "bring a book", "ok", "bye"]
    H = [lambda texts: [len(text) for text in texts], lambda texts: [text.count("n") for text in texts]]
    fixed = pnorm.cross_validate(pos, neg, H, [1], 5, folds=2)
    made = pnorm.cross_validate(pos, neg, lambda a, b: H, [1], 5, folds=2)
    np.testing.assert_array_equal(fixed.scores, made.scores)


# Folds


def test_both_sides_are_dealt_evenly_by_the_seed():
    pos, neg = problem()
    found = pnorm.cross_validate(pos, neg, None, [1], 1, folds=5, seed=3)
    for number, size in zip(found.folds, (47, 61), strict=True):
        counts = np.bincount(number)
        assert counts.sum() == size
        assert counts.max() - counts.min() <= 1
    again = pnorm.cross_validate(pos, neg, None, [1], 1, folds=5, seed=3)
    other = pnorm.cross_validate(pos, neg, None, [1], 1, folds=5, seed=4)
    np.testing.assert_array_equal(again.folds[0], found.folds[0])
    assert (other.folds[0] != found.folds[0]).any()
    generators = [
        pnorm.cross_validate(pos, neg, None, [1], 1, seed=np.random.default_rng(3)).folds[1] for _ in range(2)
    ]
    np.testing.assert_array_equal(*generators)


def test_a_row_of_weight_zero_is_not_there():
    pos, neg = problem(7)
    c = np.ones(47), np.ones(61)
    c[0][[0, 5, 46]], c[1][[1, 2]] = 0, 0
    seen = []

    def recipe(a, b):
        seen.append((len(a), len(b)))
        return rankers.quantile_thresholds(a, b, 5)

    found = pnorm.cross_validate(pos, neg, recipe, POWERS, 12, folds=4, pos_weight=c[0], neg_weight=c[1])
    without = pnorm.cross_validate(pos[c[0] > 0], neg[c[1] > 0], recipe, POWERS, 12, folds=4)
    np.testing.assert_allclose(found.scores, without.scores, rtol=1e-12)
    assert seen[:4] == seen[4:]
    assert found.folds[0][[0, 5, 46]].tolist() == [-1, -1, -1]
    np.testing.assert_array_equal(found.folds[1][c[1] > 0], without.folds[1])


def test_folds_of_ones_own():
    pos, neg = problem(8)
    a, b = np.arange(47) % 3, (np.arange(61) // 7) % 3
    found = pnorm.cross_validate(pos, neg, None, POWERS, 12, folds=(a, b.tolist()), metric=margins)
    np.testing.assert_array_equal(found.folds[0], a)
    np.testing.assert_allclose(found.scores, by_hand(pos, neg, None, POWERS, 12, (a, b), margins), rtol=1e-9)
    again = pnorm.cross_validate(pos, neg, None, POWERS, 12, folds=found.folds, metric=margins)
    np.testing.assert_array_equal(again.scores, found.scores)


def test_one_set_of_rows_to_judge_by():
    pos, neg = problem(9)
    folds = np.where(np.arange(47) < 12, 0, -1), np.where(np.arange(61) < 20, 0, -1)
    found = pnorm.cross_validate(pos, neg, None, [1, 4], 12, folds=folds, metric="auc")
    lam, trace = pnorm.train(pos[12:], neg[20:], None, 4, 12)
    assert found.scores[1, 0, 12] == pytest.approx(metrics.auc(pos[:12] @ lam, neg[:20] @ lam))
    assert np.isnan(found.standard_error).all()
    assert found.simplest == found.best
    assert "±" not in str(found)


# Rounds


def test_some_rounds_only():
    pos, neg = problem(10)
    every = pnorm.cross_validate(pos, neg, None, POWERS, 60, metric=margins)
    some = pnorm.cross_validate(pos, neg, None, POWERS, 60, rounds=[50, 7, 7], metric=margins)
    assert some.rounds.tolist() == [7, 50]
    np.testing.assert_array_equal(some.scores, every.scores[:, :, [7, 50]])
    few = pnorm.cross_validate(pos, neg, None, POWERS, 60, rounds=12, metric=margins)
    assert few.rounds[[0, 1, -1]].tolist() == [0, 1, 60]
    assert 10 <= few.rounds.size <= 13
    np.testing.assert_array_equal(few.scores, every.scores[:, :, few.rounds])
    assert pnorm.cross_validate(pos, neg, None, 1, 5, rounds=1).rounds.tolist() == [0, 1, 5]
    assert pnorm.cross_validate(pos, neg, None, 1, 5, rounds=10**12).rounds.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_run_that_ends_keeps_its_last_score():
    pos, neg = problem(11)
    pos[:, 0], neg[:, 0] = np.arange(47) + 100.0, -np.arange(61)  # the first weak ranker separates
    calls = []

    def metric(f_pos, f_neg):
        calls.append(1)
        return metrics.auc(f_pos, f_neg)

    found = pnorm.cross_validate(pos, neg, None, [1, 4], 30, folds=2, metric=metric)
    assert {trace.status for of_p in found.traces for trace in of_p} == {"separable"}
    last = found.traces[0][0].n_iter
    assert last < 30
    assert (found.scores[0, 0, last:] == found.scores[0, 0, last]).all()
    assert str(found).splitlines()[-1] == "runs that ended before: 4 separable"
    assert len(calls) == sum(trace.n_iter + 1 for of_p in found.traces for trace in of_p)


def test_a_measure_may_do_what_it_likes_with_its_arguments():
    pos, neg = problem(12)

    def rude(f_pos, f_neg):
        value = margins(f_pos, f_neg)
        f_pos[:], f_neg[:] = 0, 7
        return value

    runs = [pnorm.cross_validate(pos, neg, None, [1], 10, metric=metric).scores for metric in (margins, rude)]
    np.testing.assert_array_equal(*runs)


# The result


def result(scores, p=(16.0, 1.0, 4.0), rounds=(0, 10, 20)):
    """A result with these scores, (P, F, S)."""
    scores = np.array(scores, float)
    return pnorm.CrossValidation(np.array(p[: len(scores)]), np.array(rounds), scores, (np.zeros(2), np.zeros(2)),
                                 ((),) * len(scores), "auc")  # fmt: skip


def test_mean_and_standard_error():
    rng = np.random.default_rng(0)
    found = result(rng.random((3, 5, 3)))
    for i in range(3):
        for s in range(3):
            values = found.scores[i, :, s]
            assert found.mean[i, s] == pytest.approx(sum(values) / 5)
            variance = sum((values - values.mean()) ** 2) / 4
            assert found.standard_error[i, s] == pytest.approx(np.sqrt(variance / 5))


def test_the_best_is_the_smallest_p_and_the_fewest_rounds_of_equals():
    flat = [[0, 3, 3], [0, 1, 1]]
    assert result([flat, flat, flat]).best == (1.0, 10)
    assert result([[[0, 3, 4], [0, 1, 1]], flat, flat]).best == (16.0, 20)
    found = result([[[0, 3, 4], [0, 1, 1]], flat, flat])
    assert (found.best_p, found.best_t) == found.best
    assert isinstance(found.best_p, float)
    assert isinstance(found.best_t, int)
    rounding = [[0, 3 * (1 + 1e-15), 3], [0, 1, 1]]
    assert result([rounding, flat, flat]).best == (1.0, 10)


def test_the_simplest_is_within_one_standard_error_of_the_best():
    best = [[0.0, 8.0, 10.0], [0.0, 10.0, 12.0]]  # 11 and a standard error of 1
    assert result([best, [[0, 9, 10.1], [0, 9, 10.1]], [[0, 11, 0], [0, 10.9, 0]]]).simplest == (1.0, 20)
    assert result([best, [[0, 9, 9.9], [0, 9, 9.9]], [[0, 11, 0], [0, 10.9, 0]]]).simplest == (4.0, 10)
    assert result([best, [[0, 9, 9.9], [0, 9, 9.9]], [[0, 5, 0], [0, 6, 0]]]).simplest == (16.0, 20)
    assert result([best]).best == (16.0, 20)


def test_it_prints_what_was_found():
    best = [[0.0, 0.8, 0.5], [0.0, 0.9, 0.6]]
    worse = [[0.0, 0.7, 0.5], [0.0, 0.6, 0.6]]
    found = result([worse, best], p=(4.0, 1.0))
    assert repr(found) == "<CrossValidation: auc 0.85 at p = 1 after 10 rounds; 2 p, 2 folds>"
    lines = str(found).splitlines()
    assert lines[0] == "auc on held-out rows: means of 2 folds with standard errors"
    assert lines[2].split() == ["4", "10", "0.6500", "±", "0.0500", "0.2000", "±", "0.1000"]
    assert lines[3].split() == ["1", "10", "0.8500", "±", "0.0500"]
    assert lines[4:] == [
        "best, the largest mean: p = 1, 10 rounds",
        "simplest within one standard error of it: p = 1, 10 rounds",
    ]
    near = [[0.0, 0.86, 0.9], [0.0, 0.85, 0.85]]  # the simplest is not the largest of its p
    lines = str(result([near], (1.0,))).splitlines()
    assert [line.split()[:3] for line in lines[2:4]] == [["1", "20", "0.8750"], ["1", "10", "0.8550"]]
    assert lines[4].endswith(": p = 1, 20 rounds")
    assert lines[5].endswith(": p = 1, 10 rounds")
    assert str(result([[[0.0, 0.8, 0.5]]])).splitlines()[3:] == [
        "best, the largest mean: p = 16, 10 rounds"
    ]  # one fold
    rising = [[0.0, 0.7, 0.8], [0.0, 0.6, 0.7]]
    assert str(result([rising])).splitlines()[-1] == "the best is at the last round: a larger t_max may be better"
    assert "120.0 ± 2.0" in str(result([[[0, 118, 0], [0, 122, 0]]]))
    assert str(result([[[0, 0, 0], [0, 0, 0]]]))
    assert (
        pnorm.cross_validate(*problem(), None, [1], 1, metric=partial(metrics.precision_at, k=3)).metric
        == "precision_at, k=3"
    )


def test_the_choice_goes_straight_into_training():
    data = pnorm.datasets.tic_tac_toe()
    H = rankers.thresholds([[0.5, 1.5]] * 9)
    found = pnorm.cross_validate(data.pos, data.neg, H, [1, 4], 30, folds=3)
    lam, trace = pnorm.train(data.pos, data.neg, H, *found.best)
    assert trace.n_iter == found.best_t
    same = dataclasses.replace(found, metric="another")
    assert same.best == found.best


def test_larger_p_is_chosen_where_it_is_worth_something():
    # as in test_train: x0 orders more pairs, but some negatives are far out on it; the top of x1 is clean
    rng = np.random.default_rng(4)
    pos = np.column_stack([rng.normal(1.5, 1, 400), rng.normal(0.6, 1, 400)])
    neg = np.column_stack([rng.normal(0, 1, 600), np.minimum(rng.normal(0, 1, 600), 0.9)])
    neg[:30, 0] += 4
    found = pnorm.cross_validate(pos, neg, None, [1, 64], 40, metric="positives_at_top")
    assert found.best_p == 64
    assert pnorm.cross_validate(pos, neg, None, [1, 64], 40, metric="auc").best_p == 1


# Refusals

POS, NEG = problem()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"p": []}, ValueError, "p is empty; at least one number is needed"),
        ({"p": [4, 4.0]}, ValueError, "p has 4 2 times; once is enough"),
        ({"p": [0.5]}, ValueError, "p must be at least 1"),
        ({"p": "1"}, TypeError, "p must be a number of 1 or more, or a sequence of such numbers; got '1'"),
        ({"p": object()}, TypeError, "p must be a number of 1 or more, or a sequence of such numbers"),
        ({"p": 2, "price": pnorm.objectives.Linear()}, ValueError, "p = 2 and price=Power(1) both set the price"),
        ({"t_max": 0}, ValueError, "t_max must be at least 1"),
        ({"rounds": [5, 9], "t_max": 8}, ValueError, "rounds must be at most t_max = 8; got 9"),
        ({"rounds": []}, ValueError, "rounds is empty"),
        ({"rounds": 0}, ValueError, "rounds must be at least 1"),
        ({"rounds": [1.5]}, TypeError, "rounds must be an integer"),
        ({"folds": 1}, ValueError, "folds must be at least 2"),
        ({"folds": 48}, ValueError, "folds = 48 need as many positives and as many negatives that count; got 47 and 61"),
        ({"folds": 2.5}, TypeError, "folds must be an integer; got 2.5"),
        ({"folds": [1, 2, 3]}, TypeError, "folds must be a number, or a pair: the fold of each positive"),
        ({"folds": ([0] * 46, [0] * 61)}, ValueError, "folds[0] must have shape (47,)"),
        ({"folds": ([0.5] * 47, [0] * 61)}, ValueError, "folds[0] has 0.5 at row 0; folds are numbered from 0"),
        ({"folds": ([0] * 47, [-2] * 61)}, ValueError, "folds[1] has -2 at row 0"),
        ({"folds": ([99] * 47, [0] * 61)}, ValueError, "folds[0] has 99 at row 0"),
        ({"folds": ([-1] * 47, [-1] * 61)}, ValueError, "folds are all -1; some rows must be held out"),
        ({"folds": ([0] * 47, [0, -1] * 30 + [0])}, ValueError, "every positive that counts is in fold 0"),
        ({"folds": ([0, 2] * 23 + [0], [0, 1, 2] * 20 + [0])}, ValueError, "fold 1 has no positive that counts"),
        ({"folds": ([0, 1, 2] * 15 + [0, 1], [0, 1] * 30 + [0])}, ValueError, "fold 2 has no negative that counts"),
        ({"metric": "precision_at"}, ValueError, "metric 'precision_at' needs further arguments"),
        ({"metric": "auk"}, ValueError, "metric must be one of 'partial_auc', 'positives_at_top'"),
        ({"metric": 3}, TypeError, "metric must be a name or a function of (f_pos, f_neg); got int"),
        ({"metric": lambda f_pos, f_neg: np.nan}, ValueError, "<lambda> must be finite; got nan"),
        ({"metric": lambda f_pos, f_neg: None}, TypeError, "<lambda> must be a real number; got None"),
        ({"metric": "bedroc", "pos_weight": np.ones(47)}, ValueError, "rows have weights, but the metric bedroc takes no weights"),
        ({"metric": margins, "neg_weight": np.ones(61)}, ValueError, "rows have weights, but the metric margins takes no weights"),
        ({"H": lambda X: X[:, 0]}, TypeError, "H is a function that does not take (pos, neg)"),
        ({"H": lambda pos, neg: None}, TypeError, "the recipe H returned None"),
        ({"H": lambda pos, neg: []}, ValueError, "H is empty"),
        ({"seed": "x"}, ValueError, "seed must be an integer"),
        ({"selection": "both"}, ValueError, "selection must be one of 'absolute', 'signed', 'largest'"),
        ({"n_threads": 0}, ValueError, "n_threads must be at least 1"),
        ({"pos_group": np.arange(47) % 3, "neg_group": np.arange(61) % 3}, ValueError, "folds = 5 is more than the 3 groups that have both sides"),
        ({"pos_group": np.arange(47) % 6, "neg_group": np.arange(61) % 6, "folds": (np.arange(47) % 2, np.arange(61) % 4 // 2)}, ValueError, "folds split a group, between 0 and 1; a group is held out as a whole"),
    ],
)  # fmt: skip
def test_refusals(options, error, message):
    arguments = {"t_max": 3} | options
    with pytest.raises(error) as caught:
        pnorm.cross_validate(POS, NEG, arguments.pop("H", None), **arguments)
    assert message in str(caught.value)


def test_a_bar_over_the_folds(capsys):
    pytest.importorskip("tqdm")
    pnorm.cross_validate(POS, NEG, None, [1], 2, folds=3, progress=True)
    assert "3/3" in capsys.readouterr().err


def test_what_a_loss_without_structure_costs_is_said_where_it_is_called(monkeypatch):
    monkeypatch.setattr("pnorm.objectives._losses._MANY_PAIRS", 10)
    loss = pnorm.objectives.Loss(lambda z: np.maximum(2 - z, 0) ** 2, lambda z: -2 * np.maximum(2 - z, 0))
    for call in (
        lambda: pnorm.cross_validate(POS, NEG, None, [1], 1, folds=2, loss=loss),
        lambda: pnorm.minimize_path(POS, NEG, l2=[1], loss=loss),
    ):
        with pytest.warns(RuntimeWarning, match="visits all") as caught:
            call()
        assert caught[0].filename == __file__
