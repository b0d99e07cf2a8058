"""Many threads at once, on shared rows and shared objects: each finds the bits that one alone does."""

import inspect
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from functools import partial

import numpy as np
import pytest
import scipy.sparse

import pnorm
from pnorm import bounds, callbacks, diagnostics, kernel, listwise, metrics, objectives, rankers
from pnorm._core._threads import Threads

N_THREADS, TIMES = 6, 2


@pytest.fixture(autouse=True)
def _restless():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(functions):
    """Call the functions in many threads, which start together, each with another one; return all answers."""
    barrier, results = threading.Barrier(N_THREADS, timeout=60), [None] * N_THREADS

    def work(i):
        barrier.wait()
        order = [(i + k) % len(functions) for k in range(len(functions))]
        found = {k: functions[k]() for k in order}
        results[i] = [found[k] for k in sorted(found)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in results
    return results


def bits(x):
    """All that a result is made of, in a form that can be compared."""
    if isinstance(x, np.ndarray):
        return x.dtype.str, x.shape, x.tolist() if x.dtype == object else x.tobytes()
    if scipy.sparse.issparse(x):
        return bits(x.toarray())
    if isinstance(x, float):
        return float(x).hex(), bits(vars(x)) if hasattr(x, "__dict__") else None
    if isinstance(x, dict):
        return {name: bits(value) for name, value in x.items()}
    if isinstance(x, (tuple, list)):
        return [bits(value) for value in x]
    if type(x).__module__.startswith("pnorm") and not callable(x):
        of = {name: getattr(x, name) for name in getattr(x, "__slots__", ())} or vars(x)
        return type(x).__name__, {name: bits(value) for name, value in of.items() if name[0] != "_"}
    return x if isinstance(x, (int, str, type(None), np.generic)) else type(x).__name__


RNG = np.random.default_rng(17)
POS, NEG = RNG.normal(0.4, 1, (90, 4)).round(1), RNG.normal(0, 1, (110, 4)).round(1)
ROWS, GRADES = np.concatenate([POS, NEG]), RNG.integers(0, 4, 200)
LISTS = np.full(20, 10)
F = F_POS, F_NEG = POS.sum(axis=1), NEG.sum(axis=1)
LAM = np.array([1.0, 0.0, -0.5, 0.25])
CASES = {"pos_weight": RNG.uniform(0.5, 2, 90), "neg_weight": RNG.uniform(0.5, 2, 110)}
GROUPS = {"pos_group": RNG.integers(0, 4, 90), "neg_group": RNG.integers(0, 4, 110)}
LOSS = objectives.Loss(lambda z: np.logaddexp(0, -z), lambda z: -1 / (1 + np.exp(z)))
PRICE = objectives.Price(lambda s: s**3, lambda s: 3 * s**2)
COLLECTIONS = {
    "none": None,
    "normalized": rankers.normalized(POS, NEG),
    "closed thresholds": rankers.closed(rankers.quantile_thresholds(POS, NEG, 9)),
    "categories": rankers.categories(POS.round(), NEG.round()),
    "callables": rankers.callables([lambda X: X[:, 0], lambda X: np.tanh(X[:, 1])]),
}
_, TRACE = pnorm.train(POS, NEG, None, 4, 30)
_, MINIMUM = pnorm.minimize(POS, NEG, None, 4)
TABLE = rankers.from_table(POS, NEG, n_cuts=9)
TABLE_LAM, _ = pnorm.minimize(POS, NEG, TABLE, 4, l2=0.1)
SPARSE = [scipy.sparse.csr_matrix(np.maximum(Z, 0)) for Z in (POS, NEG)]
Q = diagnostics.q_prime(POS, NEG, None, LAM)


def page(name, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        getattr(pnorm, name)(path, *arguments)
        return path.read_text(encoding="utf-8")


def training(H):
    return [
        partial(pnorm.train, POS, NEG, H, 4, 20),
        partial(pnorm.train, POS, NEG, H, 2, 10, **CASES, **GROUPS),
        partial(pnorm.minimize, POS, NEG, H, 2, l2=0.1),
        lambda: (lambda lam: (pnorm.score(ROWS, H, lam), ROWS if H is None else H.evaluate(ROWS)))(
            pnorm.train(POS, NEG, H, 8, 9, selection="signed")[0]
        ),
    ]


AREAS = {
    **{f"training, {name}": training(H) for name, H in COLLECTIONS.items()},
    "solvers": [
        partial(pnorm.train, *SPARSE, None, 3, 10),
        partial(pnorm.train, POS.astype(np.float32), NEG.astype(np.float32), None, 3, 10, n_threads=2),
        partial(pnorm.train, POS, NEG, None, 1, 5, loss="logistic", price=objectives.Exponential(0.01)),
        partial(pnorm.train, POS, NEG, None, 1, 3, loss=LOSS, price=PRICE),
        partial(pnorm.minimize, POS, NEG, None, 2, loss="squared_hinge"),
        partial(pnorm.minimize_path, POS, NEG, None, 2, l2=[1.0, 0.1]),
        partial(pnorm.cross_validate, POS, NEG, None, [1, 4], 5, folds=2, seed=1),
        lambda: pnorm.train(pnorm.code_rows(ROWS, np.arange(200) < 90, None), p=2, t_max=5),
        partial(pnorm.split, ROWS, np.arange(200) < 90),
        lambda: pnorm.probability(ROWS, None, LAM, 4, pnorm.intercept(*F, 4, **CASES)),
    ],
    "reasons": [
        partial(pnorm.explain, ROWS, None, LAM),
        partial(pnorm.shapes, TABLE_LAM, TABLE, ROWS),
        partial(pnorm.profile, ROWS, None, LAM),
        partial(pnorm.drift, POS, NEG, TABLE, TABLE_LAM),
        partial(pnorm.importance, POS, NEG, None, LAM),
        partial(pnorm.scorecard, TABLE, TABLE_LAM),
        partial(pnorm.cutoff, *F, recall=0.5),
        lambda: page("report_html", ROWS, np.arange(200) < 90, None, LAM),
    ],
    "one trace": [
        lambda: (TRACE.objective, TRACE.gaps, TRACE.gap, TRACE.n_iter, TRACE.lam_at(7), repr(TRACE)),
        lambda: (MINIMUM.objective, MINIMUM.gaps, MINIMUM.gap, MINIMUM.lam_at(2), MINIMUM.status),
        partial(diagnostics.convergence, TRACE, MINIMUM),
    ],
    "diagnostics": [
        partial(diagnostics.certificate, POS, NEG, None, 4, LAM, l2=1.0),
        partial(diagnostics.separability, POS, NEG, COLLECTIONS["categories"]),
        partial(diagnostics.q_limit, POS, NEG, None, 4),
        partial(diagnostics.q_prime, POS, NEG, None, LAM, **GROUPS),
        partial(diagnostics.same_limit, POS, NEG, None, LAM, 2 * LAM),
        partial(diagnostics.report, POS, NEG, None, 4, LAM),
        partial(diagnostics.phi, Q, 3),
        partial(diagnostics.bregman_distance, Q, 2 * Q, 3),
        partial(diagnostics.legendre_bregman_projection, Q, np.sqrt(Q), 3),
        partial(diagnostics.primal_objective, Q, 3),
    ],
    "metrics": [
        *(
            partial(getattr(metrics, name), *F, **CASES)
            for name in ("r_max", "positives_at_top", "roc_counts", "auc", "partial_auc", "summary")
        ),
        partial(metrics.heights, *F, pos_weight=CASES["pos_weight"]),
        partial(metrics.reverse_heights, *F, neg_weight=CASES["neg_weight"]),
        partial(metrics.auc, *F, confidence=0.9, n_resamples=40),
        partial(metrics.precision_at, *F, 9),
        partial(metrics.recall_at, *F, 9),
        partial(metrics.enrichment_factor, *F, 0.1),
        partial(metrics.average_precision, *F),
        partial(metrics.discounted_gain_at_top, *F),
        partial(metrics.bedroc, *F),
        partial(metrics.p_norm_risk, *F, 3),
        partial(metrics.theorem1, *F, loss=LOSS),
        partial(metrics.difference, metrics.auc, F, (2 * F_POS, F_NEG), n_resamples=40),
        lambda: metrics.crossing(metrics.roc_counts(*F), metrics.roc_counts(POS[:, 0], NEG[:, 0])),
    ],
    "objectives": [
        partial(of, *F, price, loss, **more)
        for of in (objectives.value, objectives.value_and_weights)
        for price, loss, more in (
            (None, "exponential", GROUPS),
            (PRICE, "logistic", CASES),
            (objectives.Power(2), "hinge", {"smoothing": 0.5}),
            (None, LOSS, {}),
        )
    ]
    + [partial(objectives.normalized_value, *F, 3, **CASES)],
    "kernels": [
        partial(kernel.train, POS, NEG, t_max=5),
        partial(kernel.train, POS, NEG, "polynomial", t_max=5, landmarks=20),
        partial(kernel.minimize, POS, NEG, lam=0.1),
        partial(kernel.schedule, 5000, 5000, "logistic", 1.0, 2.0, 0.5, 0.2),
    ],
    "lists": [
        partial(listwise.train, ROWS, GRADES, LISTS, epochs=3),
        partial(listwise.train, ROWS, GRADES, LISTS, "ndcg", epochs=2),
        *(
            partial(getattr(listwise, name), ROWS[:, 0], GRADES, group=LISTS)
            for name in ("kendall_tau_loss", "kendall_tau_hinge", "ndcg", "ndcg_loss", "ndcg_hinge")
        ),
        *(
            partial(getattr(metrics, name), ROWS[:, 0], GRADES, *more, group=LISTS)
            for name, *more in (
                ("ndcg", 5),
                ("mean_average_precision",),
                ("mean_reciprocal_rank", 5),
                ("expected_reciprocal_rank",),
                ("mean_precision_at", 3),
                ("mean_recall_at", 3),
            )
        ),
    ],
    "rankers": [
        lambda: rankers.columns(POS, NEG).to_dict(),
        lambda: rankers.normalized(POS, NEG).to_dict(),
        lambda: rankers.quantile_thresholds(POS, NEG, 9).to_dict(),
        lambda: rankers.closed(rankers.thresholds([[0.0], [1.0], [], [0.5]])).to_dict(),
        lambda: rankers.categories(POS.round(), NEG.round()).to_dict(),
        lambda: rankers.from_dict(COLLECTIONS["categories"].to_dict()).names,
        lambda: rankers.callables([len], ["length"]).names,
    ],
    "bounds": [
        partial(bounds.margin_curve, *F, 2, [0.5, 1.0]),
        partial(bounds.rank_matrix, *F),
        partial(bounds.rank_shatter_exact, POS[:2], NEG[:2]),
        partial(bounds.rank_matrix_count, 6, 5),
    ],
}


@pytest.mark.filterwarnings("ignore::pnorm.rankers.UnknownLevelWarning")
@pytest.mark.parametrize("area", AREAS)
def test_many_threads_find_the_bits_that_one_alone_does(area):
    functions = AREAS[area]
    alone = [bits(function()) for function in functions]
    for _ in range(TIMES):
        for found in at_once(functions):
            for function, expected, x in zip(functions, alone, found, strict=True):
                assert bits(x) == expected, function


def test_every_function_that_computes_is_among_them():
    text = inspect.getsource(sys.modules[__name__])
    source = text[text.index("COLLECTIONS = {") : text.index("def test_")]
    elsewhere = {"save", "load"}
    for module in (pnorm, diagnostics, kernel, listwise, metrics, objectives, rankers):
        for name in set(module.__all__) - elsewhere:
            if inspect.isfunction(getattr(module, name)):
                assert f'"{name}"' in source or f"{module.__name__.rpartition('.')[2]}.{name}" in source, name


def test_callbacks_and_files_of_many_runs_do_not_meet(tmp_path):
    def run():
        stop = callbacks.early_stopping(POS, NEG, "auc", patience=3)
        lam, trace = pnorm.train(POS, NEG, None, 4, 50, callback=callbacks.any_of(stop, callbacks.time_limit(1e9)))
        path = tmp_path / f"{threading.get_ident()}.json"
        pnorm.save(path, lam)
        return lam, trace, stop.scores, stop.best_iter, pnorm.load(path).score(ROWS)

    alone = bits(run())
    assert all(bits(found) == alone for [found] in at_once([run]))


def test_many_threads_may_ask_one_estimator_for_its_certificate(monkeypatch):
    sklearn = pytest.importorskip("pnorm.sklearn", exc_type=ImportError)
    asked, prove = [], sklearn._estimator.certificate

    def slow(*rows, **how):
        asked.append(rows)
        time.sleep(0.05)  # the others come while one is at it
        return prove(*rows, **how)

    monkeypatch.setattr(sklearn._estimator, "certificate", slow)
    model = sklearn.PNormPush(rankers="columns", t_max=10).fit(ROWS, np.arange(200) < 90)
    found = [x for [x] in at_once([lambda: model.certificate_])]
    assert all(x is found[0] for x in found)
    assert len(asked) == 1


FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.mark.skipif(not FREE, reason="this interpreter has a lock that only one thread has at a time")
def test_the_lock_of_the_interpreter_stays_off():
    code = "import sys, pnorm; pnorm.train([[1.0]], [[0.0]]); sys.exit(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    subprocess.run([sys.executable, "-P", "-c", code], env=environment, check=True)


def test_after_an_error_no_thread_begins_another_item():
    raised, done = threading.Event(), []

    def function(item):
        if threading.current_thread() is not threading.main_thread():
            raised.set()
            raise ValueError("no more")
        raised.wait(60)
        threading.Event().wait(0.01)  # as long as it takes the other thread to see that
        done.append(item)

    with Threads(2) as threads, pytest.raises(ValueError, match="no more"):
        threads.map(function, range(100))
    assert len(done) < 99
