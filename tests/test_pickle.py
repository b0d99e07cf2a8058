"""What the package hands out goes through pickle, joblib and copy, and says what it is in a line."""

import copy
import dataclasses
import importlib
import inspect
import io
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
from repeats import each_value
from test_collections import many
from test_package import MODULES

import pnorm
from pnorm import bounds, diagnostics, kernel, listwise, metrics, objectives

RNG = np.random.default_rng(0)
POS, NEG = RNG.normal(0.5, 1, (40, 3)), RNG.normal(0, 1, (50, 3))
F_POS, F_NEG = POS.sum(axis=1), NEG.sum(axis=1)


def first_column(X):
    return np.asarray(X)[:, 0]


def product(A, B):
    return A @ B.T


def results():
    seen = []
    pnorm.train(POS, NEG, p=2, t_max=3, callback=seen.append)
    lam, trace = pnorm.train(POS, NEG, p=2, t_max=10)
    solved = pnorm.minimize(POS, NEG, p=2)[1]
    groups = {"pos_group": np.arange(40) % 3, "neg_group": np.arange(50) % 3}
    rows, grades, sizes = RNG.normal(size=(60, 3)), RNG.integers(0, 3, 60), np.full(6, 10)
    gram = np.exp(-((np.r_[POS, NEG][:, None] - np.r_[POS, NEG]) ** 2).sum(axis=-1))
    model, descent = kernel.train(POS, NEG, "rbf", "squared_hinge", lam=0.1, landmarks=9, t_max=4)
    by_hand = pnorm._files.ScoringFunction(lam, pnorm.rankers.columns(3), 2.0, {"a": [1]}, pnorm.__version__)
    cuts = pnorm.rankers.quantile_thresholds(POS, NEG, 5)
    cut_lam = pnorm.minimize(POS, NEG, cuts, 2, l2=0.1)[0]
    card = pnorm.scorecard(cuts, cut_lam)
    curves = [metrics.roc_counts(F_POS, F_NEG), metrics.roc_counts(POS[:, 1], NEG[:, 1])]
    return {
        "Trace": trace,
        "Trace of minimize": solved,
        "Trace of the separable": pnorm.minimize(POS + 9, NEG, p=2)[1],
        "Trace in a callback": seen[1],
        "ScoringFunction": by_hand,
        "Certificate": diagnostics.certificate(POS, NEG, None, 2, lam),
        "Certificate that is none": diagnostics.certificate(POS + 9, NEG, None, 2, lam),
        "Separability": diagnostics.separability(POS, NEG),
        "Limit": diagnostics.q_limit(POS, NEG, None, 2),
        "Limit with groups": diagnostics.q_limit(POS, NEG, None, 2, **groups),
        "Convergence": diagnostics.convergence(trace, float(solved.log_objective[-1]) - 0.01, (0.1, 1e-6)),
        "Estimate": metrics.auc(F_POS, F_NEG, confidence=0.9, n_resamples=50),
        "MeanOverLists": metrics.ndcg(rows[:, 0], grades, group=sizes),
        "Roc": curves[0],
        "Crossing": metrics.Crossing(1.0, 2.5),
        "ScoreTable": metrics.ScoreTable.of(F_POS, F_NEG, size=16, top=3),
        "Chain": metrics.theorem1(F_POS, F_NEG),
        "Summary": metrics.summary(F_POS, F_NEG),
        "Summary with intervals": metrics.summary(F_POS, F_NEG, confidence=0.9, n_resamples=50),
        "Bound": bounds.push_epsilon(0.05, theta=0.1, p=4, n_pos=100, n_neg=100, log_covering=0.0),
        "MarginCurve": bounds.margin_curve(F_POS, F_NEG, 2, np.linspace(0.1, 1, 50), log_covering=0.0),
        "MarginCurve of errors": bounds.margin_curve(F_POS, F_NEG, 2, [0.1]),
        "Model": model,
        "Model of all rows": kernel.minimize(POS, NEG, "rbf", "squared_hinge", lam=0.1)[0],
        "Model of a Gram matrix": kernel.train(POS, NEG, gram, "squared_hinge", lam=0.1, t_max=3)[0],
        "Model of a function": kernel.train(POS, NEG, product, "squared_hinge", lam=0.1, t_max=3)[0],
        "Descent": descent,
        "Approximation": model.approximation,
        "Schedule": kernel.Schedule(7, 0.1, 0.5),
        "Epochs": listwise.train(rows, grades, sizes)[1],
        "Dataset": pnorm.datasets.tic_tac_toe(),
        "Dataset, sparse": pnorm.datasets.Dataset(scipy.sparse.csr_array(POS), np.ones(40, int), ("a", "b", "c"), "none"),
        "GradedLists": pnorm.datasets.GradedLists(rows, grades, np.arange(60) // 10),
        "Price": objectives.Price(np.square, np.positive, check=False, name="mine"),
        "Loss": objectives.Loss(np.square, np.positive, check=False, name="mine"),
        "Power": objectives.Power(4),
        "Linear": objectives.Linear(),
        "Exponential": objectives.Exponential(0.1),
        "CrossValidation": pnorm.cross_validate(POS, NEG, None, [1, 4], 5, rounds=[0, 5]),
        "CrossValidation of penalties": pnorm.cross_validate(POS, NEG, {"a": None}, [1, 4], l2=[1.0, 0.1]),
        "Explanation": pnorm.explain(POS, None, lam),
        "Importance": pnorm.importance(POS, NEG, None, lam),
        "Shapes": pnorm.shapes(cut_lam, cuts),
        "Shape": pnorm.shapes(cut_lam, cuts)[0],
        "Scorecard": card,
        "PointsOf": card.columns[0],
        "Rounding": card.compare(POS, NEG),
        "Cutoff": pnorm.cutoff(F_POS, F_NEG, recall=0.5),
        "Profile": pnorm.profile(POS, None, lam),
        "ColumnProfile": pnorm.profile(POS, None, lam).columns[0],
        "Drift": pnorm.drift(POS, NEG, None, lam),
        "ColumnDrift": pnorm.drift(POS, NEG, None, lam).score,
        "MinimizerPath": pnorm.minimize_path(POS, NEG, p=2, l2=[1.0, 0.1]),
        "TimeLimit": pnorm.callbacks.time_limit(90),
        "WeakRanker": pnorm.rankers.thresholds([[0.5]])[0],
        "Rankers": pnorm.rankers.callables([first_column]) + pnorm.rankers.columns(2),
    }  # fmt: skip


RESULTS = results()
TRIPS = {
    **{f"pickle {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "joblib": lambda x: through_joblib(x),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def through_joblib(x):
    file = io.BytesIO()
    joblib.dump(x, file)
    file.seek(0)
    return joblib.load(file)


def same(a, b):
    """Whether two things have the same type and, all the way down, the same contents."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if scipy.sparse.issparse(a):
        return same(a.toarray(), b.toarray())
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return (a == b or a != a) and same(getattr(a, "__dict__", None), getattr(b, "__dict__", None))
    if hasattr(a, "__dict__") and not inspect.isroutine(a) and not isinstance(a, (type, np.ufunc)):
        contents = [{name: x for name, x in vars(of).items() if name != "_kept"} for of in (a, b)]  # a cache
        return same(*contents)
    return a == b


def test_every_public_class_is_here():
    names = {name for module in map(importlib.import_module, MODULES) for name in module.__all__
             if inspect.isclass(getattr(module, name)) and not inspect.isabstract(getattr(module, name))}  # fmt: skip
    elsewhere = {
        "CodedRows",
        "EarlyStopping",
        "NoSignalWarning",
        "PNormPush",
        "SeparationWarning",
        "TableWarning",
        "UnknownLevelWarning",
    }  # of workers; refers to the user's rows; test_sklearn; texts
    assert names - {name.split(" ")[0] for name in RESULTS} == elsewhere
    for name, value in RESULTS.items():
        assert name.split(" ")[0].strip(",") in [cls.__name__ for cls in type(value).__mro__]


@each_value(times=2)
@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("name", RESULTS)
def test_it_comes_back_as_it_was(name, trip):
    value = RESULTS[name]
    again = TRIPS[trip](value)
    assert same(again, value)
    assert (repr(again), str(again)) == (repr(value), str(value))
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if type(value).__dataclass_params__.frozen:
                with pytest.raises(dataclasses.FrozenInstanceError):
                    setattr(again, field.name, None)


def test_what_came_back_works_as_before():
    twins = {name: pickle.loads(pickle.dumps(value)) for name, value in RESULTS.items()}
    for name in RESULTS:
        if name.startswith("Model") and name != "Model of a Gram matrix":
            np.testing.assert_array_equal(twins[name].score(POS), RESULTS[name].score(POS))
        if name.startswith("Trace"):
            for t in range(RESULTS[name].n_iter + 1):
                np.testing.assert_array_equal(twins[name].lam_at(t), RESULTS[name].lam_at(t))
        if name.startswith("Limit"):
            np.testing.assert_array_equal(twins[name].dense(), RESULTS[name].dense())
    np.testing.assert_array_equal(twins["ScoringFunction"].score(POS), RESULTS["ScoringFunction"].score(POS))
    np.testing.assert_array_equal(twins["Descent"].gaps, RESULTS["Descent"].gaps)
    assert twins["Bound"].vacuous == RESULTS["Bound"].vacuous
    assert tuple(twins["Estimate"]) == tuple(RESULTS["Estimate"])
    assert twins["Rankers"][0]([[3.0, 4.0]]).tolist() == [3.0]


@pytest.mark.parametrize("name", RESULTS)
def test_it_says_what_it_is_in_few_words(name):
    text = repr(RESULTS[name])
    assert len(text) < (500 if name.startswith("Summary") else 250)
    assert "\n" not in text
    assert "array(" not in text


def test_what_they_say():
    said = {name: repr(value) for name, value in RESULTS.items()}
    assert said["Separability"] == "<Separability: overlapping, support 40 of 40 positives and 50 of 50 negatives>"
    limit = RESULTS["Limit"]
    assert said["Limit"] == (
        f"<Limit: overlapping, log F_p {limit.log_objective:.6g}, gap {limit.gap:.2g}, support 40 of 40 positives and "
        "50 of 50 negatives>"
    )
    assert said["Certificate that is none"].startswith("<Certificate: objective ")
    assert f"gap inf: {RESULTS['Certificate that is none'].message}>" in said["Certificate that is none"]
    assert said["Certificate"].endswith(f"gap {RESULTS['Certificate'].gap:.2g}>")
    assert said["Roc"] == f"<Roc: {RESULTS['Roc'].true_positives.size} points from (0, 0) to (50, 40)>"
    assert said["MarginCurve"].startswith("<MarginCurve: 50 margins from 0.1 to 1, error ")
    assert f"best bound {RESULTS['MarginCurve'].best!r} at " in said["MarginCurve"]
    assert said["MarginCurve of errors"].count(",") == 1
    rounds = RESULTS["Convergence"].rounds
    assert ", 1e-06 never>" in said["Convergence"]
    assert f", 0.1 after {rounds[0.1]}" in said["Convergence"]


# Weak rankers


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("kind", many())
def test_collections_are_equal_if_their_rankers_are(kind):
    H, rows = many()[kind]
    for trip in TRIPS.values():
        again = trip(H)
        assert again is not H
        assert again == H
        assert hash(again) == hash(H)
        assert same(again.to_dict(), H.to_dict())
        assert again[0] == H[0]
        assert hash(again[0]) == hash(H[0])
        assert again[-1] != H[0] or len(H) == 1
        assert H[-1] in again
        assert again.index(H[-1]) == len(H) - 1
        np.testing.assert_array_equal(again.evaluate(rows), H.evaluate(rows))
    assert pnorm.rankers.from_dict(H.to_dict()) == H
    one = pickle.loads(pickle.dumps(H[len(H) // 2]))
    assert one == H[len(H) // 2]
    np.testing.assert_array_equal(one(rows), H[len(H) // 2](rows))
    both, ranker = pickle.loads(pickle.dumps((H, H[0])))
    assert ranker == both[0]


def test_collections_that_differ_are_not_equal():
    kinds = [H for H, _ in many().values()]
    for i, H in enumerate(kinds):
        assert [other == H for other in kinds] == [i == j for j in range(len(kinds))]
    r = pnorm.rankers
    names = ["a"]
    close = [
        r.columns(1, names=names),
        r.columns(1),
        r.normalized([[0.0]], [[1.0]], names=names),
        r.normalized([[0.0]], [[2.0]], names=names),
        r.normalized([[0.0]], [[1.0]], -1, names=names),
        r.callables([first_column], names),
        r.callables([product], names),
        r.closed([first_column]),
        r.closed([product]),
        r.closed(r.callables([product], ["first_column"])),
        r.columns(1) + r.columns(1),
        r.columns(1) + r.callables([product], ["x0"]),
    ]
    for i, H in enumerate(close):
        assert [other == H for other in close] == [i == j for j in range(len(close))]
    assert r.columns(1) != "x0"
    assert r.columns(1)[0] != "x0"
    assert len({H[0] for H in close}) == len(close)


def test_functions_that_pickle_does_not_know_say_so():
    H = pnorm.rankers.callables([lambda X: X[:, 0]])
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(H)
    assert copy.deepcopy(H) == H
