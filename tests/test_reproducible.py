"""The same call gives the same bits, whatever the number of threads and whatever else is random."""

import functools
import importlib
import inspect
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import scipy.sparse
from test_package import MODULES

import pnorm
from pnorm import kernel, metrics

rng = np.random.default_rng(0)
POS, NEG = rng.normal(size=(70_000, 3)).round(3) + 0.1, rng.normal(size=(72_000, 3)).round(3)
F, G = rng.normal(size=60).round(2) + 1.0, rng.normal(size=80).round(2)
GRADES, LISTS = rng.integers(0, 3, 4000), np.repeat(np.arange(400), 10)


def gradients(make, **threads):
    y = np.repeat([1.0, 0.0], [len(POS), len(NEG)])
    return make(4, **threads)(y, np.concatenate([POS[:, 0], NEG[:, 0]]))


def stopped(**threads):
    stop = pnorm.callbacks.early_stopping(POS[::2], NEG, patience=2, **threads)
    pnorm.train(POS, NEG, p=4, t_max=4, callback=stop)
    return stop.scores


def stored():
    """Rows in every storage, with weights, and in groups."""
    few, signs = [side.round() for side in (POS, NEG)], [side > 0.5 for side in (POS, NEG)]
    weights, groups = (
        [draw(len(side)) for side in (POS, NEG)] for draw in (rng.random, lambda size: rng.integers(0, 9, size))
    )
    thin = [(rng.random((len(side), 60)) < 0.03) * rng.integers(1, 9, (len(side), 60)) for side in (POS, NEG)]
    thin = [scipy.sparse.csr_array(side) for side in thin]
    return {
        "dense": (POS, NEG, None, {}),
        "float32": (POS.astype(np.float32), NEG.astype(np.float32), None, {}),
        "sparse": (*(scipy.sparse.csc_array(side * on) for side, on in zip((POS, NEG), signs, strict=True)), None, {}),
        "coded": (POS, NEG, pnorm.rankers.quantile_thresholds(POS, NEG, 63), {}),
        "sparse, coded": (*thin, pnorm.rankers.quantile_thresholds(*thin), {}),
        "mixed": (np.c_[POS, few[0]], np.c_[NEG, few[1]], None, {}),
        "weighted": (POS, NEG, None, dict(zip(("pos_weight", "neg_weight"), weights, strict=True))),
        "groups": (*few, None, dict(zip(("pos_group", "neg_group"), groups, strict=True))),
    }


def train(kind, **threads):
    pos, neg, H, more = STORED[kind]
    return pnorm.train(pos, neg, H, 4, 12, **more, **threads)


def weights(loss, **threads):
    return pnorm.objectives.value_and_weights(POS[:, 0], NEG[:, 0], pnorm.objectives.Power(3), loss, **threads)


def report(pos, neg, lam, **how):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.html"
        pnorm.report_html(path, np.concatenate([pos, neg]), np.repeat([1, 0], [len(pos), len(neg)]), None, lam, **how)
        return path.read_text(encoding="utf-8")


LIST_GRADES, LONG_LISTS = rng.integers(0, 3, len(POS)), np.arange(len(POS)) // 8
STORED = stored()
THREADED = {
    **{f"pnorm.train, {kind}": functools.partial(train, kind) for kind in STORED},
    "pnorm.minimize": lambda **threads: pnorm.minimize(POS, NEG, p=4, **threads),
    "pnorm.minimize_path": lambda **threads: pnorm.minimize_path(POS, NEG, p=4, l2=[1.0, 0.1], **threads),
    "pnorm.probability": lambda **threads: pnorm.probability(POS, None, [1.0, -0.5, 0.3], 4, 0.25, **threads),
    "pnorm.score": lambda **threads: pnorm.score(POS, None, [1.0, -0.5, 0.3], **threads),
    "pnorm.code_rows": lambda **threads: pnorm.train(
        pnorm.code_rows(np.concatenate([POS, NEG]), np.arange(len(POS) + len(NEG)) < len(POS), n_cuts=9, **threads),
        p=4,
        t_max=3,
    )[0],
    "pnorm.explain": lambda **threads: pnorm.explain(POS, None, [1.0, -0.5, 0.3], **threads).contributions,
    "pnorm.profile": lambda **threads: pnorm.profile(POS, None, [1.0, -0.5, 0.3], **threads),
    "pnorm.drift": lambda **threads: pnorm.drift(POS, NEG, None, [1.0, -0.5, 0.3], **threads).to_frame(),
    "pnorm.importance": lambda **threads: pnorm.importance(POS, NEG, None, [1.0, -0.5, 0.3], **threads).to_frame(),
    "pnorm.report_html": lambda **threads: report(POS, NEG, [1.0, -0.5, 0.3], **threads),
    "pnorm.cross_validate": lambda **threads: [
        pnorm.cross_validate(POS, NEG, H, [1, 4], 3, folds=2, **threads)
        for H in (None, functools.partial(pnorm.rankers.quantile_thresholds, n_cuts=20))
    ],
    "pnorm.cross_validate, few rows": lambda **threads: [
        pnorm.cross_validate(POS[:300].round(1), NEG[:300], H, [1, 2, 4, 8], 60, folds=5, **more, **threads)
        for H in (None, pnorm.rankers.columns(3), functools.partial(pnorm.rankers.quantile_thresholds, n_cuts=20))
        for more in ({}, {"push": "bottom", "pos_group": np.arange(300) % 9, "neg_group": np.arange(300) % 9})
    ],
    "pnorm.cross_validate, penalties": lambda **threads: [
        pnorm.cross_validate(X, Z, None, [1, 4], l2=[1.0, 0.1], folds=3, push="bottom", **threads)
        for X, Z in ((POS[:300], NEG[:300]), (POS, NEG))
    ],
    "pnorm.objectives.value": lambda **threads: pnorm.objectives.value(POS[:, 0], NEG[:, 0], loss="hinge", **threads),
    "pnorm.objectives.normalized_value": lambda **threads: pnorm.objectives.normalized_value(
        POS[:, 0], NEG[:, 0], 3, loss="hinge", **threads
    ),
    **{
        f"pnorm.objectives.value_and_weights, {loss}": functools.partial(weights, loss)
        for loss in ("exponential", "squared", "hinge", "squared_hinge", "logistic")
    },
    "pnorm.callbacks.early_stopping": stopped,
    "pnorm.rankers.quantile_thresholds": lambda **threads: (
        pnorm.rankers.quantile_thresholds(POS, NEG, 9, **threads).names
    ),
    "pnorm.rankers.from_table": lambda **threads: pnorm.rankers.from_table(POS, NEG, n_cuts=9, **threads).names,
    "pnorm.kernel.train": lambda **threads: kernel.train(POS[:2000], NEG[:2100], t_max=3, landmarks=40, **threads),
    "pnorm.kernel.minimize": lambda **threads: kernel.minimize(POS[:60], NEG[:70], **threads),
    "pnorm.listwise.train": lambda **threads: pnorm.listwise.train(POS, LIST_GRADES, LONG_LISTS, epochs=1, **threads),
    "pnorm.boosting.lightgbm_objective": lambda **threads: gradients(pnorm.boosting.lightgbm_objective, **threads),
    "pnorm.boosting.xgboost_objective": lambda **threads: gradients(pnorm.boosting.xgboost_objective, **threads),
}


LARGER = {"pnorm.cross_validate, few rows", "pnorm.cross_validate, penalties"}
"""Calls that take long, of functions that have a shorter one."""


WEIGHTS = {"pos_weight": np.linspace(1.0, 2.0, F.size)}


def interval(name, more, seed):
    return getattr(metrics, name)(F, G, **more, confidence=0.9, n_resamples=50, seed=seed)


def on_dask(seed):
    """Some rows of partitions."""
    array = pytest.importorskip("dask.array")
    return pnorm.dask.sample(array.from_array(POS[:300], chunks=(100, -1)), np.arange(300) % 2, 20, seed)


SEEDED = {
    "pnorm.report_html": lambda seed: report(F[:, None], G[:, None], [1.0], seed=seed),
    "pnorm.datasets.insurance_claims": lambda seed: pnorm.datasets.insurance_claims(50, seed),
    "pnorm.cross_validate": lambda seed: pnorm.cross_validate(POS[:300], NEG[:300], None, [1, 4], 5, seed=seed),
    "pnorm.dask.sample": on_dask,
    "pnorm.kernel.train": lambda seed: kernel.train(POS[:200], NEG[:210], t_max=3, landmarks=20, seed=seed),
    "pnorm.listwise.train": lambda seed: pnorm.listwise.train(POS[:4000], GRADES, LISTS, epochs=1, seed=seed),
    "pnorm.metrics.difference": lambda seed: metrics.difference(
        metrics.auc, (F, G), (-F, -G), n_resamples=50, seed=seed
    ),
    **{
        f"pnorm.metrics.{name}": functools.partial(interval, name, more)
        for name, more in {
            "auc": {},
            "average_precision": {},
            "bedroc": {},
            "discounted_gain_at_top": {},
            "enrichment_factor": {"k": 0.2, **WEIGHTS},
            "p_norm_risk": {"p": 2},
            "partial_auc": {},
            "positives_at_top": {},
            "precision_at": {"k": 30, **WEIGHTS},
            "r_max": {},
            "recall_at": {"k": 30, **WEIGHTS},
            "summary": {},
        }.items()
    },
}


def having(parameter):
    """The public functions that have a parameter."""
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and parameter in inspect.signature(function).parameters:
                yield f"{module.__name__}.{name}"


def test_no_function_is_left_out():
    assert {name.partition(",")[0] for name in THREADED} == set(having("n_threads"))
    assert sorted(SEEDED) == sorted(having("seed"))


@pytest.mark.parametrize("name", [name for name in THREADED if name not in LARGER])
def test_the_same_bits_on_any_number_of_threads(name):
    first, *others = [pickle.dumps(THREADED[name](n_threads=n)) for n in (1, 3)]
    assert others == [first]
    assert pickle.dumps(THREADED[name]()) == first


@pytest.mark.parametrize("name", SEEDED)
def test_the_same_bits_for_one_seed_and_others_for_another(name):
    np.random.seed(1)  # which nothing reads, nor sets
    state = np.random.get_state()[1].copy()
    first, again, other, given = (pickle.dumps(SEEDED[name](seed)) for seed in (3, 3, 4, np.random.default_rng(3)))
    assert again == given == first
    assert other != first
    np.testing.assert_array_equal(np.random.get_state()[1], state)


ON_KERNELS = """
import json, sys
import numpy as np, pnorm, threadpoolctl
rng = np.random.default_rng(0)
pos, neg = rng.normal(0.3, 1, (400, 20)), rng.normal(0, 1, (500, 20))
runs = {
    "newton": pnorm.minimize(pos, neg, p=8),
    "newton, many": pnorm.minimize(rng.normal(0.1, 1, (400, 150)), rng.normal(0, 1, (500, 150)), l2=0.1),
    "lbfgs": pnorm.minimize(pos, neg, loss="logistic"),
    "separable": pnorm.minimize(pos[:80] + 1, neg[:80] - 1, p=8),
    "small penalty": pnorm.minimize(pos[:80] + 1, neg[:80] - 1, p=8, l2=1e-9),
    "train": pnorm.train(pos, neg, p=8, t_max=50),
}
blas = sorted({x["architecture"] for x in threadpoolctl.threadpool_info() if x["internal_api"] == "openblas"})
answers = {name: [lam.tolist(), float(run.log_objective[-1]), float(run.gap)] for name, (lam, run) in runs.items()}
json.dump([blas, answers], sys.stdout)
"""


def test_other_kernels_of_blas_find_the_same_to_nine_digits():
    """As on another machine: OpenBLAS takes the kernels that it is told to."""
    pytest.importorskip("threadpoolctl")
    found = {}
    for kernels in ("Prescott", "Haswell"):
        variables = os.environ | {"OPENBLAS_CORETYPE": kernels}
        done = subprocess.run(
            [sys.executable, "-P", "-c", ON_KERNELS], env=variables, capture_output=True, text=True, check=True
        )
        blas, answers = json.loads(done.stdout)
        found[str(blas)] = answers
    if len(found) == 1:
        pytest.skip("this BLAS has one kind of kernels")
    one, other = found.values()
    for name, (lam, log_f, gap) in one.items():
        again, log_f_again, gap_again = other[name]
        np.testing.assert_allclose(again, lam, rtol=1e-9, atol=1e-9 * np.abs(lam).max(), err_msg=name)
        if np.isfinite(gap + gap_again):
            assert abs(log_f - log_f_again) <= gap + gap_again
