"""Ranking that concentrates at the top of the list: the P-Norm Push of Cynthia Rudin.

Good things and bad things go in, a scoring function comes out that puts the good ones at the top:

>>> import pnorm
>>> data = pnorm.datasets.tic_tac_toe()
>>> lam, trace = pnorm.train(data.pos, data.neg, p=4, t_max=50)
>>> f = pnorm.score(data.X, None, lam)
>>> f.shape
(958,)

`split` takes rows apart by their labels, `train` runs the boosting-style algorithm of the papers,
`minimize` goes to the exact minimiser and proves it, `score` applies what either learned, and
`probability` with an `intercept` makes probabilities of it. `Trace` is the record of a run.
`cross_validate` chooses p and the rounds, `minimize_path` follows minimisers along a penalty or p,
`cutoff` chooses how far down the list to go, `report_html` writes a page about it, `save` and `load` keep models in
files.

The weak rankers live in `pnorm.rankers`, prices and losses other than the papers' in
`pnorm.objectives`, early stopping in `pnorm.callbacks`, certificates and separability in
`pnorm.diagnostics`, measures of the top of a list in `pnorm.metrics`, pictures in `pnorm.plotting`,
guarantees of the theory in `pnorm.bounds`, data in `pnorm.datasets`. Two other ways to learn:
functions of a kernel space in `pnorm.kernel`, and many lists with grades in `pnorm.listwise`. At
home elsewhere: the push inside LightGBM and XGBoost in `pnorm.boosting`, an estimator for
scikit-learn in `pnorm.sklearn`, rows on a cluster in `pnorm.dask`.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

__path__ = globals().get("_path", __path__)  # importlib.reload puts the folder back that has handed over
try:
    from pnorm._core import _tilt as _tilt
    from pnorm._version import version as __version__
except ImportError as error:
    if "interpreter" in str(error):
        raise ImportError(
            f"the compiled core of pnorm cannot be loaded in a subinterpreter ({error}), nor can NumPy's: use pnorm in "
            "the main interpreter, on threads, or in processes of their own"
        ) from error
    if not (error.name or "pnorm").startswith("pnorm"):
        raise  # NumPy is missing
    from pnorm._sources import installed_beside as _installed_beside

    try:
        __path__ = _path = _installed_beside(__path__[0])
    except ImportError as _failure:
        raise _failure from error
    from pnorm._core import _tilt as _tilt
    from pnorm._version import version as __version__

from pnorm import _pickles, objectives, rankers
from pnorm._files import ScoringFunction, load, save
from pnorm._score import intercept, probability, score
from pnorm._split import split
from pnorm._trace import Trace
from pnorm._train import train

if _TYPE_CHECKING:  # what is imported when somebody asks for it
    from pnorm import boosting, bounds, callbacks, datasets, diagnostics, kernel, listwise, metrics, plotting
    from pnorm._coded.code_rows import CodedRows, code_rows
    from pnorm._cross_validation import CrossValidation, cross_validate
    from pnorm._cutoff import Cutoff, cutoff
    from pnorm._minimize import minimize
    from pnorm._minimize_path import MinimizerPath, minimize_path
    from pnorm._reasons.drift import ColumnDrift, Drift, drift
    from pnorm._reasons.explain import Explanation, explain
    from pnorm._reasons.importance import Importance, importance
    from pnorm._reasons.profile import ColumnProfile, Profile, profile
    from pnorm._reasons.scorecard import PointsOf, Rounding, Scorecard, scorecard
    from pnorm._reasons.shapes import Shape, Shapes, shapes
    from pnorm._report.report import report_html

__all__ = [
    "CodedRows",
    "ColumnDrift",
    "ColumnProfile",
    "CrossValidation",
    "Cutoff",
    "Drift",
    "Explanation",
    "Importance",
    "MinimizerPath",
    "PointsOf",
    "Profile",
    "Rounding",
    "Scorecard",
    "ScoringFunction",
    "Shape",
    "Shapes",
    "Trace",
    "__version__",
    "boosting",
    "bounds",
    "callbacks",
    "code_rows",
    "cross_validate",
    "cutoff",
    "datasets",
    "diagnostics",
    "drift",
    "explain",
    "importance",
    "intercept",
    "kernel",
    "listwise",
    "load",
    "metrics",
    "minimize",
    "minimize_path",
    "objectives",
    "plotting",
    "probability",
    "profile",
    "rankers",
    "report_html",
    "save",
    "score",
    "scorecard",
    "shapes",
    "split",
    "train",
]

_HOMES = {
    "CodedRows": "_coded.code_rows",
    "ColumnDrift": "_reasons.drift",
    "ColumnProfile": "_reasons.profile",
    "CrossValidation": "_cross_validation",
    "Cutoff": "_cutoff",
    "Drift": "_reasons.drift",
    "Explanation": "_reasons.explain",
    "Importance": "_reasons.importance",
    "MinimizerPath": "_minimize_path",
    "PointsOf": "_reasons.scorecard",
    "Profile": "_reasons.profile",
    "Rounding": "_reasons.scorecard",
    "Scorecard": "_reasons.scorecard",
    "Shape": "_reasons.shapes",
    "Shapes": "_reasons.shapes",
    "code_rows": "_coded.code_rows",
    "cross_validate": "_cross_validation",
    "cutoff": "_cutoff",
    "drift": "_reasons.drift",
    "explain": "_reasons.explain",
    "importance": "_reasons.importance",
    "minimize": "_minimize",
    "minimize_path": "_minimize_path",
    "profile": "_reasons.profile",
    "report_html": "_report.report",
    "scorecard": "_reasons.scorecard",
    "shapes": "_reasons.shapes",
}
"""Modules of the names that are imported when somebody asks for them."""

_MODULES = {*__all__, "dask", "sklearn"} - {*globals(), *_HOMES}
"""Modules that are, too; these two are not in `__all__`, as they need other packages."""

_pickles.let_load()


def __getattr__(name: str) -> _Any:
    """Import what `import pnorm` has left out, to take less time, when somebody asks for it."""
    if name in _MODULES:
        return _import_module(f"pnorm.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'pnorm' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(f"pnorm.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
