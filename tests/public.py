"""Every public function and method, with a small valid call of each: what the fuzzers change one argument of."""

import importlib
import inspect
import warnings
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

import pnorm
from pnorm import _checks

# Whole numbers of few bits: the same in float16, in integers and in Decimal. The sides overlap, so that a minimiser exists.
POS = np.array([[4.0, 1.0, 0.0], [5.0, 3.0, 1.0], [2.0, 6.0, 0.0], [7.0, 2.0, 1.0], [3.0, 5.0, 1.0]])
NEG = np.array([[1.0, 2.0, 0.0], [6.0, 1.0, 0.0], [3.0, 4.0, 1.0], [0.0, 3.0, 1.0], [2.0, 0.0, 0.0], [4.0, 2.0, 1.0]])
F_POS, F_NEG = np.array([3.0, 1.0, 4.0, 2.0, 6.0]), np.array([0.0, 2.0, 5.0, -1.0, 1.0, -3.0])
LISTS = {"f_pos": F_POS, "f_neg": F_NEG}
OTHER_LISTS = {"g_pos": F_POS[::-1].copy(), "g_neg": F_NEG[::-1].copy()}
LABELS = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
POS_FOLD, NEG_FOLD = np.array([0.0, 1.0, 0.0, 1.0, -1.0]), np.array([0.0, 1.0, 1.0, 0.0, 0.0, -1.0])

ARRAYS = {
    "pos": POS,
    "neg": NEG,
    "pos_val": POS,
    "neg_val": NEG,
    "X": NEG,
    "y": np.array([0.0, 2.0, 1.0, 1.0, 0.0, 2.0]),
    "pos_weight": np.array([1.0, 2.0, 1.0, 3.0, 0.0]),
    "neg_weight": np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0]),
    "old": POS,
    "new": NEG,
    "old_weight": np.array([1.0, 2.0, 1.0, 3.0, 0.0]),
    "new_weight": np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0]),
    "weight": np.array([1.0, 2.0, 1.0, 1.0, 2.0, 1.0]),
    "sample_weight": np.array([1.0, 2.0, 1.0, 1.0, 2.0, 1.0]),
    "pos_group": np.array([0.0, 1.0, 0.0, 1.0, 0.0]),
    "neg_group": np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0]),
    "pos_grade": np.array([2.0, 1.0, 3.0, 2.0, 1.0]),
    "neg_grade": np.array([0.0, 1.0, 0.0, 1.0, 2.0, 0.0]),
    "groups": np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0]),
    "group": np.array([7, 7, 3, 3, 3, 7]),
    "init": np.array([1.0, 0.0, -1.0]),
    "lam": np.array([1.0, 0.0, -1.0]),
    "lam1": np.array([1.0, 0.0, -1.0]),
    "lam2": np.array([2.0, 1.0, -1.0]),
    "f_pos": F_POS,
    "f_neg": F_NEG,
    "scores": F_NEG,
    "f": F_NEG,
    "thetas": np.array([0.5, 1.0]),
    "a": np.array([[1.0, 2.0], [3.0, 0.5], [0.0, 1.0]]),
    "b": np.array([[2.0, 1.0], [1.0, 0.5], [1.0, 1.0]]),
    "q": np.array([[1.0, 2.0], [3.0, 0.5], [0.0, 1.0]]),
    "v": np.array([[0.0, 1.0], [-1.0, 0.5], [0.0, 1.0]]),
    "P": np.array([[1.0, 2.0], [3.0, 0.5], [1.0, 1.0]]),
    "B": np.array([[1.0, 1.0, 0.5], [0.0, 1.0, 0.0]]),
    "n_rows": np.array([100, 200]),
    "accuracies": np.array([0.5, 0.125]),
    "z": np.array([-1.0, 0.0, 2.0]),
    "signs": np.array([1.0, -1.0, 0.0]),
}
"""By the name of the parameter, wherever a function does not say otherwise."""

SCALARS = {
    "p": 2.0,
    "t_max": 4,
    "max_iter": 2,
    "tol": 1e-6,
    "l1": 0.125,
    "l2": 0.5,
    "smoothing": 0.0,
    "n_threads": 1,
    "t": 1,
    "low": 0.0,
    "high": 1.0,
    "n_cuts": 3,
    "alpha": 20.0,
    "k": 0.5,
    "theta": 0.5,
    "confidence": 0.5,
    "n_resamples": 20,
    "seed": 1,
    "max_fpr": 0.5,
    "min_fpr": 0.25,
    "min_tpr": 0.25,
    "patience": 3,
    "min_delta": 0.25,
    "seconds": 100.0,
    "scale": 1.0,
    "top": 2,
    "floor": -100.0,
    "share": 0.5,
    "delta": 0.0625,
    "n_pos": 20,
    "n_neg": 30,
    "n_rows": 100,
    "n_rankers": 3,
    "log_shatter": 2.0,
    "log_shatter_pos": 2.0,
    "log_shatter_neg": 2.0,
    "radius": 2.0,
    "epsilon": 0.5,
    "error": 0.25,
    "ratio": 0.5,
    "log_covering": 2.0,
    "m": 3,
    "n": 4,
    "d": 2,
    "gamma": 0.25,
    "s": 0.5,
    "beta": 0.5,
    "lam": 1.0,
    "kappa": 1.0,
    "eta1": 0.125,
    "eta": 0.125,
    "eta_star": 0.015625,
    "f_lambda_norm": 1.0,
    "memory_limit": 2.0**30,
    "limit": -100.0,
    "epochs": 3,
    "intercept": 0.5,
    "slope": 0.5,
    "relevance_level": 1.0,
    "max_grade": 4.0,
    "max_columns": 2,
    "cv": 2,
    "verbose": 0,
    "empty": 0.5,
    "precision": 0.5,
    "budget": 2.0,
    "recall": 0.5,
    "of": 11.0,
    "at_least": 0.25,
    "prior": 0.25,
    "row": 1,
    "points": 10,
    "min_rows": 1,
    "max_levels": 3,
    "size": 16,
    "staged": 0.25,
}

OTHERS = {
    **dict.fromkeys(["H", "fs", "price", "kernel", "g", "dg", "l", "dl", "measure", "metric", "callback", "callbacks", "gain",
                     "discount", "loss", "rankers", "trees", "trace", "runs", "found", "path", "ax", "others",
                     "second_metric", "cutoff"], "an object or a function"),
    **dict.fromkeys(["selection", "method", "missing", "progress", "push", "group_weight", "average", "normalized", "standardized", "maximize",
                     "ramp", "check", "positive", "name", "names", "label", "solver", "penalty", "early_stopping", "scoring", "linear", "either", "stratified"], "a word or a flag"),
    **dict.fromkeys(["data", "data_home", "files", "metadata"], "of files, which are fuzzed elsewhere"),
    **dict.fromkeys(["kernel_params", "options"], "named by a kernel or a measure"),
    **dict.fromkeys(["monotone", "columns", "kinds"], "names of columns"),
    "reference": "rows in the form of X",
    **dict.fromkeys(["source", "ignore", "folder", "of_table"], "files, or columns by name"),
    **dict.fromkeys(["max_fp", "min_fp"], "max_fpr and min_fpr in another unit"),
    **dict.fromkeys(["random_state", "n_jobs", "pos_label"], "scikit-learn's"),
}  # fmt: skip
"""Parameters that are neither, and why. A new parameter takes one line in one of these tables."""

OF_SCORES = {"y": "labels", "weight": "weights of all rows", "f_neg": "the second of two sides"}
"""Parameters of functions of two sides of scores: one check takes the labels of all, and a few functions are tried."""

MESSAGE_ALIASES = {
    **dict.fromkeys(
        ["pos", "neg", "pos_val", "neg_val", "X", "old", "new"],
        r"x\d spans|the column '|the number of columns|(init|lam\d?) gives scores|lam must have shape",
    ),
    **dict.fromkeys(["q", "a", "b", "P", "v", "B"], "the column '"),
    **dict.fromkeys(["pos_group", "neg_group"], "groups that have both sides|pos_grade is in no group"),
    "y": "grades",
    "group": "a list of|no group has both",
    "positive": "the label",
    "groups": "pos_group and neg_group",
    "kappa": "eta_star",
    **dict.fromkeys(["n_pos", "n_neg"], "the theorem does not apply"),
    "kernel": "Gram matrix|only integer scalar arrays",  # which NumPy says of rows, given to its type as to a kernel
    "landmarks": "the column '|the training rows",
}
"""What messages call arguments beside their names: regular expressions."""


NO_LABELS = dict.fromkeys(["y", "weight", "group"], ...)
"""For calls of two sides."""


@dataclass(frozen=True)
class Call:
    """A function that takes everything by keyword, and what it is to be called with."""

    run: Any
    arrays: dict[str, Any]
    scalars: dict[str, Any] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    """What is not changed."""
    aliases: dict[str, str] = field(default_factory=dict)
    """What an argument may be called in a message, if that is not its own name: a regular expression."""

    def __call__(self, **changed):
        return self.run(**{**self.fixed, **self.arrays, **self.scalars, **changed})

    def without(self, *names):
        """Return the call without some of its arguments."""
        kept = ({k: v for k, v in given.items() if k not in names} for given in (self.arrays, self.scalars))
        return replace(self, **dict(zip(("arrays", "scalars"), kept, strict=True)))


def parameters(function):
    """Names of what a function or a bound method takes, without those of arguments that it hands on."""
    taken = inspect.signature(function).parameters.values()
    return [of.name for of in taken if of.name != "self" and of.kind is not inspect.Parameter.VAR_KEYWORD]


def plain(function, **fixed):
    """The call that the tables above make of a signature; `fixed` has other values, `...` for a parameter left out."""
    arrays, scalars, others = {}, {}, {}
    if "f_pos" in parameters(function):
        fixed = NO_LABELS | fixed
    for name in parameters(function):
        value = fixed.get(name)
        if name in fixed:
            if value is not ...:
                kind = (
                    arrays if isinstance(value, np.ndarray) else scalars if isinstance(value, (int, float)) else others
                )
                (others if isinstance(value, bool) else kind)[name] = value
        elif name in ARRAYS:
            arrays[name] = ARRAYS[name]
        elif name in SCALARS:
            scalars[name] = SCALARS[name]
        elif name not in OTHERS:
            raise LookupError(f"say in tests/public.py what {name} of {function.__qualname__} is")
    return Call(function, arrays, scalars, others, aliases=MESSAGE_ALIASES)


def _linear():
    cutoff = pnorm.cutoff(np.arange(60.0), np.arange(-60.0, 0.0), precision=0.8)
    return pnorm.ScoringFunction(ARRAYS["lam"], pnorm.rankers.columns(3), 2.0, {}, "0", 0.5, cutoff)


def _cut():
    return pnorm.rankers.thresholds([[2], [], [0, 1]])


def _card():
    return pnorm.scorecard(_cut(), ARRAYS["lam"], points=10)


def _explained():
    return pnorm.explain(NEG, None, ARRAYS["lam"])


def _model():
    return pnorm.kernel.train(POS, NEG, t_max=2)[0]


def _numbers(rows):
    """Rows in whatever form as numbers, if they are; `split` does not look at them."""
    try:
        with np.errstate(all="ignore"):
            return np.nan_to_num(np.asarray(rows, float), nan=99.0)
    except Exception:  # of anything that NumPy cannot read
        return None


# The calls that the tables do not make -----------------------------------------------------------------


def _of_labelled():
    """Calls with labels, in which the first argument has all rows."""
    rows = {
        "pos": np.concatenate([POS, NEG]),
        "y": np.repeat([1.0, 0.0], [5, 6]),
        "weight": np.concatenate([ARRAYS["pos_weight"], ARRAYS["neg_weight"]]),
        "group": np.concatenate([ARRAYS["pos_group"], ARRAYS["neg_group"]]),
    }
    of_sides = ["neg", "pos_weight", "neg_weight", "pos_group", "neg_group", "pos_grade", "neg_grade"]
    other = dict.fromkeys([*of_sides, "l1", "signs", "init", "max_columns"], ...)
    folds = {"folds": 2, "rounds": 2, "t_max": 3, "p": 2.0, "tol": 0.01, "l2": ...}
    found = {
        "train, y": plain(pnorm.train, **rows, **other),
        "minimize, y": plain(pnorm.minimize, **rows, **other, loss="exponential"),
        "minimize_path, y": plain(pnorm.minimize_path, **rows, **other, l2=np.array([1.0, 0.5]), p=2.0),
        "cross_validate, y": plain(pnorm.cross_validate, **rows, **other, **folds),
    }
    aliases = MESSAGE_ALIASES | {
        "pos": rf"X\b|{MESSAGE_ALIASES['pos']}",
        "y": "label",
        "weight": "weights",
        "group": "groups",
    }
    return {name: replace(call, aliases=aliases) for name, call in found.items()}


def _of_pnorm():
    def coded(**given):
        rows = pnorm.code_rows(**given)
        return repr(rows), pnorm.train(rows, t_max=1)

    of_rows = {
        "weight": np.concatenate([ARRAYS["pos_weight"], ARRAYS["neg_weight"]]),
        "group": np.concatenate([ARRAYS["pos_group"], ARRAYS["neg_group"]]),
    }
    X = np.concatenate([POS, NEG])
    return {
        **_of_labelled(),
        "code_rows": Call(
            coded, {"label": np.repeat([1.0, 0.0], [5, 6]), **of_rows}, {"n_threads": 1}, {"source": X, "H": None}
        ),
        "cross_validate": plain(
            pnorm.cross_validate,
            **NO_LABELS,
            folds=2,
            rounds=2,
            t_max=3,
            p=np.array([1.0, 4.0]),
            tol=0.01,
            l1=...,
            l2=...,
            max_columns=...,
        ),
        "cross_validate, l2": plain(
            pnorm.cross_validate,
            **NO_LABELS,
            folds=2,
            rounds=...,
            t_max=...,
            p=2.0,
            l1=...,
            signs=...,
            max_columns=...,
            l2=np.array([1.0, 0.5]),
            tol=0.01,
        ),
        "cross_validate, l1": plain(
            pnorm.cross_validate,
            **NO_LABELS,
            folds=2,
            rounds=...,
            t_max=...,
            p=2.0,
            l1=np.array([1.0, 0.5]),
            tol=0.01,
        ),
        "cross_validate, folds": Call(
            lambda a, b: pnorm.cross_validate(POS, NEG, p=2, t_max=2, folds=(a, b)),
            {"a": POS_FOLD, "b": NEG_FOLD},
            aliases={"a": "folds", "b": "folds"},
        ),
        "cross_validate, rounds": Call(
            lambda rounds: pnorm.cross_validate(POS, NEG, p=2, t_max=3, folds=2, rounds=rounds),
            {"rounds": np.array([1, 3])},
        ),
        "cutoff": plain(pnorm.cutoff, budget=..., recall=..., at_least=...),
        "cutoff, at least": plain(pnorm.cutoff, budget=..., recall=..., prior=...),
        "cutoff, budget": plain(pnorm.cutoff, precision=..., recall=..., at_least=..., prior=...),
        "cutoff, recall": plain(pnorm.cutoff, precision=..., budget=..., at_least=..., prior=...),
        "minimize": plain(pnorm.minimize, **NO_LABELS, loss="exponential", l1=..., signs=..., max_columns=...),
        "minimize, l1": plain(pnorm.minimize, **NO_LABELS, loss="exponential"),
        "minimize, lbfgs": plain(
            pnorm.minimize, **NO_LABELS, loss="logistic", p=1.0, l1=..., signs=..., max_columns=...
        ),
        "minimize, lbfgs, l1": plain(pnorm.minimize, **NO_LABELS, loss="logistic", p=1.0),
        "minimize_path": plain(
            pnorm.minimize_path, **NO_LABELS, l2=np.array([1.0, 0.5]), p=2.0, l1=..., signs=..., max_columns=...
        ),
        "minimize_path, l1": plain(pnorm.minimize_path, **NO_LABELS, l1=np.array([1.0, 0.5]), p=2.0, l2=0.5),
        "minimize_path, p": plain(
            pnorm.minimize_path, **NO_LABELS, p=np.array([1.0, 2.0]), l2=0.5, l1=..., signs=..., max_columns=...
        ),
        "train": plain(pnorm.train, **NO_LABELS),
        "train, thresholds": plain(
            pnorm.train, **NO_LABELS, H=pnorm.rankers.thresholds([[2, 4], [2], [0]]), init=..., signs=...
        ),
        "train, logistic": plain(pnorm.train, **NO_LABELS, loss="logistic", p=1.0),
        "probability": plain(pnorm.probability, H=None),
        "probability, thresholds": plain(pnorm.probability, H=pnorm.rankers.thresholds([[2, 4], [2], []])),
        "score": plain(pnorm.score, H=None),
        "score, thresholds": plain(pnorm.score, H=pnorm.rankers.thresholds([[2, 4], [2], []])),
        "split": Call(
            lambda **how: [_numbers(side) for side in pnorm.split(**how)],
            {"X": NEG, "y": LABELS},
            {"positive": 1},
            aliases=MESSAGE_ALIASES,
        ),
        "split, more": Call(
            lambda X, y, more: [_numbers(side) for pair in pnorm.split(X, y, more) for side in pair],
            {"X": NEG, "y": LABELS, "more": F_NEG},
            aliases={"more": "argument 1"},
        ),
        "explain": plain(pnorm.explain, H=None, reference=...),
        "explain, thresholds": plain(pnorm.explain, H=_cut(), reference=NEG),
        "Explanation.top": plain(_explained().top),
        "Explanation.reasons": plain(_explained().reasons),
        "profile": plain(
            pnorm.profile, H=pnorm.rankers.columns(3)
        ),  # it notes the names of a frame's columns otherwise
        "profile, thresholds": plain(pnorm.profile, H=_cut()),
        "drift": plain(pnorm.drift, H=None),
        "drift, thresholds": plain(pnorm.drift, H=_cut()),
        "CodedRows.hold_out": Call(
            lambda **how: [
                repr(rows) for rows in pnorm.code_rows(X, np.repeat([1.0, 0.0], [5, 6]), None).hold_out(**how)
            ],
            {},
            {"share": 0.4, "seed": 1},
        ),
        "Profile.to_dict": plain(pnorm.profile(NEG, None, [1.0, 0.0, -1.0]).to_dict),
        "Profile.from_dict": None,  # of a dictionary that is checked field by field
        "importance": plain(pnorm.importance, H=None),
        "shapes": plain(pnorm.shapes, H=_cut()),
        "scorecard": plain(pnorm.scorecard, H=_cut(), X=...),
        "scorecard, rows": plain(pnorm.scorecard, H=pnorm.rankers.columns(3), pos=..., neg=...),
        "Scorecard.score": plain(_card().score),
        "Scorecard.compare": plain(_card().compare),
        "Scorecard.to_sql": None,  # takes names
        "Scorecard.to_python": None,
        "Shape.at": None,  # of numbers that are known to be right
        "Shape.text": None,  # of such numbers, too
        "report_html": None,  # test_report
        "save": None,
        "load": None,
        "ScoringFunction.probability": plain(_linear().probability),
        "ScoringFunction.predict": plain(_linear().predict),
        "ScoringFunction.score": plain(_linear().score),
        "ScoringFunction.decision_function": plain(_linear().decision_function),
        "ScoringFunction.explain": plain(_linear().explain),
        "Cutoff.takes": plain(_linear().cutoff.takes),
        "Trace.lam_along": plain(_quasi().lam_along),
        "Trace.intercept_along": plain(_quasi().intercept_along),
        "Trace.lam_at": plain(pnorm.train(POS, NEG, t_max=2)[1].lam_at),
    }


def _quasi():
    """The trace of a minimum at infinity."""
    return pnorm.minimize([[0.9, 0.0], [0.3, 0.0], [0.2, 1.0]], [[0.8, 0.0], [0.1, 0.0]], p=4)[1]


def _of_rankers():
    r = pnorm.rankers
    some = [r.columns(3), r.normalized(POS, NEG), r.thresholds([[2, 4], [2], [0]]), r.categories(POS, NEG)]

    def from_table(**how):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", r.TableWarning)
            return r.from_table(**how)

    return {
        "from_table": replace(plain(r.from_table), run=from_table),
        "callables": None,
        "closed": None,
        "from_dict": None,
        "columns": plain(r.columns),
        "thresholds": Call(
            lambda a, b: r.thresholds([a, b]),
            {"a": np.array([1.0, 2.0]), "b": np.array([0.0, 2.0, 4.0])},
            aliases=dict.fromkeys("ab", "cuts"),
        ),
        "Rankers.from_dict": None,
        "Rankers.to_dict": None,
        "Rankers.evaluate": plain(some[0].evaluate),
        **{
            f"Rankers.evaluate, {k}": plain(H.evaluate)
            for k, H in enumerate([*some[1:], r.closed(some[2]), some[0] + some[2]])
        },
        "WeakRanker.__call__": plain(some[0][1]),
        **{f"WeakRanker.__call__, {k}": plain(H[1]) for k, H in enumerate(some[1:])},
    }


def _of_objectives():
    o = pnorm.objectives
    given = dict.fromkeys(["log_of", "log_terms"])  # called by pnorm alone, with arrays that it has made
    return {
        **{f"{kind}.{method}": None for kind in ("Price", "Power", "Linear", "Exponential") for method in given},
        **{f"Loss.{method}": None for method in dir(o.Loss) if callable(getattr(o.Loss, method))},
        "value": plain(o.value, price=o.Power(2.0)),
        "value, hinge": plain(o.value, loss="hinge", smoothing=0.5),
        "normalized_value": plain(o.normalized_value),
        "normalized_value, hinge": plain(o.normalized_value, loss="hinge", smoothing=0.5),
        "value_and_weights": plain(o.value_and_weights, price=o.Power(2.0)),
        "value_and_weights, logistic": plain(o.value_and_weights, price=o.Exponential(0.125), loss="logistic"),
        "Power": plain(o.Power),
        "Exponential": plain(o.Exponential),
    }


def _of_diagnostics():
    d = pnorm.diagnostics
    trace = pnorm.train(POS, NEG, t_max=8)[1]
    return {
        **{
            name: plain(getattr(d, name), H=None)
            for name in ("certificate", "q_limit", "q_prime", "report", "same_limit", "separability")
        },
        "convergence": plain(d.convergence, trace=trace),
        "Limit.distance": plain(d.q_limit(POS, NEG, None, 2).distance),
        "Limit.dense": None,
    }


def _of_metrics():
    m = pnorm.metrics
    return {
        "crossing": Call(
            lambda xa, ya, xb, yb: m.crossing((xa, ya), (xb, yb)),
            dict(
                zip(
                    ("xa", "ya", "xb", "yb"),
                    (*m.roc_counts(F_POS, F_NEG), *m.roc_counts(*OTHER_LISTS.values())),
                    strict=True,
                )
            ),
            aliases={"xa": "roc_a", "ya": "roc_a", "xb": "roc_b", "yb": "roc_b"},
        ),
        "difference": Call(
            lambda f_pos, f_neg, g_pos, g_neg, **how: m.difference(m.auc, (f_pos, f_neg), (g_pos, g_neg), **how),
            {**LISTS, **OTHER_LISTS},
            plain(m.difference, a=..., b=...).scalars,
            aliases={"f_pos": "a", "f_neg": "a", "g_pos": "b", "g_neg": "b", "": "measure"},
        ),
        "difference, y": Call(
            lambda f, g, **how: m.difference(m.auc, f, g, n_resamples=40, **how),
            {"f": F_NEG, "g": F_NEG[::-1].copy(), "y": LABELS},
            aliases={"f": "a: ", "g": "b: ", "y": "label"},
        ),
        **{
            f"{name}, y": Call(
                getattr(m, name),
                {"f_pos": F_NEG, "y": LABELS} | ({"weight": ARRAYS["weight"]} if weighted else {}),
                aliases={"f_pos": "scores", "y": "label", "weight": "weights|rows"},
            )
            for name, weighted in {"auc": True, "summary": True, "heights": True, "bedroc": False}.items()
        },
        "auc": plain(m.auc),
        "summary": plain(m.summary),
        "heights": plain(m.heights),
        "bedroc": plain(m.bedroc),
        "discounted_gain_at_top": plain(m.discounted_gain_at_top, k=3),
        "p_norm_risk": plain(m.p_norm_risk),
        "p_norm_risk, ramp": plain(m.p_norm_risk, ramp=True),
        **{
            name: plain(getattr(m, name), k=2)
            for name in (
                "expected_reciprocal_rank",
                "mean_precision_at",
                "mean_recall_at",
                "mean_reciprocal_rank",
                "ndcg",
            )
        },
        "expected_reciprocal_rank, no k": plain(m.expected_reciprocal_rank, k=...),
        "ScoreTable.of_labelled": plain(m.ScoreTable.of_labelled, y=LABELS),
        "ScoreTable.merge": None,  # of tables
    }


def _of_plotting():
    from matplotlib.figure import Figure

    figure = Figure()
    ax, pair = figure.add_subplot(), Figure().subplots(1, 2)
    ax.clear()

    def on(function, axes=ax):
        def drawn(**how):
            for each in np.atleast_1d(axes):
                each.clear()
            return function(**how, ax=axes)

        return drawn

    g = pnorm.plotting
    several = {"trace": pnorm.train(POS, NEG, t_max=4)[1], "path": pnorm.minimize_path(POS, NEG, l2=[1.0, 0.5])}
    return {
        "coefficient_path": Call(on(g.coefficient_path), {}, {"top": 2}, {"path": several["path"]}),
        "push_path": Call(
            lambda a, b: on(g.push_path)(values={1: a, 4: b}),
            {"a": F_POS, "b": F_NEG},
            aliases={"a": "p = 1|values", "b": "p = 4|values", "": "values"},
        ),
        "ranked_list": Call(
            lambda f_pos, f_neg, top: on(g.ranked_list)(lists=(f_pos, f_neg), top=top),
            LISTS,
            {"top": 4},
            aliases={"": "lists"},
        ),
        "roc": Call(
            lambda f_pos, f_neg, units: on(g.roc, pair)(lists={"a": (f_pos, f_neg)}, units=units),
            LISTS,
            fixed={"units": None},
            aliases={"": "lists"},
        ),
        "trace": Call(on(g.trace), {}, {"floor": -100.0}, {"runs": several["trace"]}),
        "shapes": Call(
            on(g.shapes),
            {"lam": np.array([1.0, 0.0, -1.0])},
            {"top": 2},
            {"H": pnorm.rankers.thresholds([[2, 4, 5]])},
        ),
        "weights": Call(
            on(g.weights),
            {"lam": ARRAYS["lam"], "X": NEG},
            {"top": 2},
            {"H": pnorm.rankers.columns(3)},
            MESSAGE_ALIASES,
        ),
    }


def _of_bounds():
    b = pnorm.bounds
    return {
        "auc_bounds": plain(b.auc_bounds),
        **{name: plain(getattr(b, name), n_rows=100) for name in ("random_labels_bound",)},
        "rate": plain(b.rate, loss="logistic"),
        "step_condition": plain(b.step_condition, loss="logistic", lam=1.0),
        "sample_deviation_bound": plain(b.sample_deviation_bound, loss="logistic", lam=1.0),
        "sample_error_bound": plain(b.sample_error_bound, loss="logistic", lam=1.0, t=10),
        "rank_shatter_exact": plain(b.rank_shatter_exact, pos=POS[:2], neg=NEG[:2]),
    }


def _of_kernel():
    k = pnorm.kernel
    return {
        "train": plain(k.train, lam=0.5, landmarks=..., theta=0.5),
        "train, push": plain(k.train, lam=0.5, p=2.0, landmarks=...),
        "train, landmarks": plain(k.train, lam=0.5, landmarks=POS[:2], theta=0.5),
        "train, number of landmarks": plain(k.train, lam=0.5, landmarks=3, theta=0.5, kernel="polynomial"),
        "train, precomputed": Call(
            lambda kernel: k.train(POS, NEG, kernel, t_max=3),
            {"kernel": np.vstack([POS, NEG]) @ np.vstack([POS, NEG]).T},
            aliases=MESSAGE_ALIASES,
        ),
        "minimize": plain(k.minimize, lam=0.5),
        "schedule": plain(k.schedule, loss="logistic"),
        "Model.score": plain(_model().score),
    }


def _of_listwise():
    w = pnorm.listwise
    return {
        **{name: plain(getattr(w, name), k=2) for name in ("ndcg", "ndcg_loss", "ndcg_hinge")},
        "train": plain(w.train, k=...),
        "train, ndcg": plain(w.train, k=2, loss="ndcg"),
        "ndcg_hinge, discount": plain(w.ndcg_hinge, k=2, discount=np.array([1.0, 0.5, 0.25, 0.125])),
    }


def _of_dask():
    from dask.array import from_array

    import pnorm.dask

    rows = {"pos": from_array(POS, chunks=(3, -1)), "neg": from_array(NEG, chunks=(3, -1))}
    d = pnorm.dask
    labelled = {
        "pos": from_array(np.concatenate([POS, NEG]), chunks=(4, -1)),
        "label": np.repeat([1.0, 0.0], [5, 6]),
        "weight": np.concatenate([ARRAYS["pos_weight"], ARRAYS["neg_weight"]]),
        "group": np.concatenate([ARRAYS["pos_group"], ARRAYS["neg_group"]]),
    }
    by_y = {"y" if name == "label" else name: value for name, value in labelled.items()}
    of_sides = dict.fromkeys(["neg", "pos_weight", "neg_weight", "pos_group", "neg_group"], ...)
    drawn = {"X": labelled["pos"], "y": labelled["label"]}

    def coded(**given):
        rows = d.code_rows(**given)
        return repr(rows), d.train(rows, t_max=1)

    return {
        "train": plain(d.train, **rows, **NO_LABELS),  # what stands beside the rows may be in memory
        "train, y": plain(d.train, **by_y, **of_sides),
        "train, label": plain(d.train, **labelled, y=..., **of_sides),
        "minimize": plain(d.minimize, **rows, **NO_LABELS),
        "minimize, y": plain(d.minimize, **by_y, **of_sides),
        "minimize, label": plain(d.minimize, **labelled, y=..., **of_sides),
        "sample": plain(d.sample, **drawn, n_rows=5),
        "code_rows": replace(plain(d.code_rows, **rows, weight=..., group=...), run=coded),
        "code_rows, label": replace(plain(d.code_rows, **labelled, **of_sides), run=coded),
        "score": Call(lambda X, lam: d.score(X, None, lam).compute(), {"lam": ARRAYS["lam"]}, {}, {"X": rows["pos"]}),
        "score_table": plain(d.score_table, f=from_array(F_NEG, chunks=4), y=LABELS),
    }


def _of_callbacks():
    c = pnorm.callbacks
    trace = pnorm.train(POS, NEG, t_max=3)[1]

    def watched(**how):
        stop = c.early_stopping(**how)
        return stop(trace), stop.scores

    auto = plain(c.early_stopping, p=...)
    return {
        "early_stopping": replace(auto, run=watched, fixed={"metric": "auc"}),
        "early_stopping, log_objective": replace(
            auto, run=watched, fixed={"metric": "log_objective"}, scalars={"p": 2.0}
        ),
        "any_of": None,
        "EarlyStopping.__call__": None,
        "TimeLimit.__call__": None,
    }


def _of_sklearn():
    from sklearn.tree import DecisionTreeClassifier

    import pnorm.sklearn

    s = pnorm.sklearn
    model = s.PNormPush(t_max=3).fit(NEG, LABELS)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(NEG, LABELS)

    def fitted(X, y, sample_weight=None, groups=None, **how):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pnorm.diagnostics.NoSignalWarning)  # of few rows
            made = s.PNormPush(random_state=0, **how).fit(X, y, sample_weight, groups)
        return made.lam_, made.threshold_, made.classes_

    theirs = {**MESSAGE_ALIASES, "X": r"np\.matrix|Found array|Expected 2D|Input", "y": r"np\.matrix|Input"}
    unused = {"l1": ..., "l2": ..., "max_columns": ...}

    def fit(**how):
        made = plain(s.PNormPush, **{**unused, **how})
        return replace(made, run=fitted, arrays=plain(model.fit, y=LABELS).arrays, aliases=theirs)

    chosen = fit(t_max=..., p=..., l2=0.5, rankers="columns", groups=..., cv=...)  # groups ask for rounds
    of_scorer = s.scorer("auc")
    return {
        "PNormPush": None,  # checked where it is fitted
        "PNormPush.fit": fit(t_max=3),
        "PNormPush.fit, columns": fit(t_max=3, rankers="columns"),
        "PNormPush.fit, chosen": replace(chosen, arrays={k: v for k, v in chosen.arrays.items() if k != "groups"}),
        "PNormPush.fit, minimiser": fit(t_max=..., l2=0.5, rankers="normalized", cv=...),
        "PNormPush.fit, columns that count": fit(t_max=..., l1=0.125, l2=0.5, max_columns=2, cv=...),
        "PNormPush.decision_function": Call(model.decision_function, {"X": NEG}, aliases=theirs),
        "PNormPush.score_samples": Call(model.score_samples, {"X": NEG}, aliases=theirs),
        "PNormPush.predict": Call(model.predict, {"X": NEG}, aliases=theirs),
        "PNormPush.predict_proba": Call(model.predict_proba, {"X": NEG}, aliases=theirs),
        "PNormPush.explain": Call(model.explain, {"X": NEG}, aliases=theirs),
        "PNormPush.shapes": Call(model.shapes, {"X": NEG}, aliases=theirs),
        "PNormPush.choose_cutoff": None,  # `cutoff` of the scores
        "PNormPush.report_html": None,  # test_report
        "PNormPush.score": None,  # scikit-learn's own, like its set_..._request
        "leaves": Call(s.leaves, {"X": NEG}, {}, {"trees": tree}, theirs),
        "scorer": Call(
            lambda X, y, sample_weight: of_scorer(model, X, y, sample_weight=sample_weight),
            {"X": NEG, "y": LABELS, "sample_weight": ARRAYS["sample_weight"]}, aliases=theirs,
        ),
    }  # fmt: skip


def _of_boosting():
    b = pnorm.boosting
    named = {
        "y_true": "(the )?label",
        "y_pred": "scores",
        "weight": r"weight",
        "sample_weight": "weight",
        "group": "group",
    }
    arrays = {"y_true": LABELS, "y_pred": F_NEG}
    weight = ARRAYS["sample_weight"]
    with_group = {**arrays, "weight": weight, "group": np.array([3.0, 3.0])}
    made = {
        "lightgbm_objective": (b.lightgbm_objective(2.0), with_group),
        "lightgbm_metric": (b.lightgbm_metric("auc"), with_group),
        "xgboost_objective": (b.xgboost_objective(2.0), {**arrays, "sample_weight": weight}),
        "xgboost_metric": (b.xgboost_metric("log_f", p=2.0), arrays),
    }
    calls = {name: Call(function, given, aliases=named) for name, (function, given) in made.items()}
    calls |= {f"{name}, made": plain(getattr(b, name)) for name in ("lightgbm_objective", "xgboost_objective")}
    return calls


_BY_HAND = {
    "pnorm": _of_pnorm,
    "pnorm.rankers": _of_rankers,
    "pnorm.objectives": _of_objectives,
    "pnorm.diagnostics": _of_diagnostics,
    "pnorm.metrics": _of_metrics,
    "pnorm.plotting": _of_plotting,
    "pnorm.bounds": _of_bounds,
    "pnorm.kernel": _of_kernel,
    "pnorm.listwise": _of_listwise,
    "pnorm.dask": _of_dask,
    "pnorm.callbacks": _of_callbacks,
    "pnorm.sklearn": _of_sklearn,
    "pnorm.boosting": _of_boosting,
}


def named(module_name):
    """What is public in a module: functions, and methods of classes that pnorm has written."""
    module = importlib.import_module(module_name)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield name, value
        if inspect.isclass(value):
            for method, function in inspect.getmembers(value, inspect.isroutine):
                own = getattr(function, "__module__", None) or ""
                shown = not method.startswith("_") or method == "__call__"
                if callable(function) and own.startswith("pnorm") and shown and parameters(function):
                    yield f"{name}.{method}", function


def left_out(module_name, name):
    """Whether a name is one that takes nothing that is fuzzed here."""
    return _BY_HAND.get(module_name, dict)().get(name, 0) is None


def calls(module_name):
    """One valid call, or several, of everything public in a module, by name."""
    by_hand = _BY_HAND.get(module_name, dict)()
    made = {name: call for name, call in by_hand.items() if call is not None}
    for name, function in named(module_name):
        if name not in by_hand and not any(other.startswith(f"{name}, ") for other in made):
            made[name] = plain(function)
    return {name: call for name, call in made.items() if call.arrays or call.scalars}


# What came back -----------------------------------------------------------------------------------------


def leaves(answer, path=""):
    """All that an answer consists of, by where it is: arrays and numbers as arrays, anything else as it is."""
    if answer is None or isinstance(answer, (str, bytes)):
        yield path, answer
    elif isinstance(answer, pnorm.rankers.Rankers):
        told = answer.to_dict() if "leaf" not in answer.names[0] else {"n": len(answer)}
        yield from leaves(
            {key: value for key, value in told.items() if key not in ("names", "columns")}, path
        )  # 1 or 1.0
    elif _checks.is_sparse(answer):
        yield from leaves(answer.toarray(), path)
    elif hasattr(answer, "lines") and hasattr(answer, "patches"):
        yield f"{path}.texts", [text.get_text() for text in (*answer.get_xticklabels(), *answer.get_yticklabels())]
        for k, line in enumerate(answer.lines):
            yield from leaves(np.asarray(line.get_xydata(), float), f"{path}.lines[{k}]")
        for k, patch in enumerate(answer.patches):
            box = patch.get_bbox().bounds if hasattr(patch, "get_bbox") else patch.get_path().vertices
            yield from leaves(np.asarray(box), f"{path}.patches[{k}]")
    elif is_dataclass(answer):
        for each in fields(answer):
            if not each.name.startswith("_"):
                yield from leaves(getattr(answer, each.name), f"{path}.{each.name}")
    elif isinstance(answer, dict):
        for key, value in answer.items():
            yield from leaves(value, f"{path}[{key!r}]")
    elif isinstance(answer, (tuple, list)) or (isinstance(answer, np.ndarray) and answer.dtype == object):
        for k, value in enumerate(answer):
            yield from leaves(value, f"{path}[{k}]")
    elif hasattr(answer, "low") and isinstance(answer, float):
        yield path, np.array(list(answer))
    elif isinstance(answer, (bool, int, float, np.generic, np.ndarray)):
        yield path, np.asarray(answer)
    else:
        yield path, type(answer).__name__
