"""Ranking that concentrates at the top of the list: the P-Norm Push of Cynthia Rudin.

`train` learns a scoring function from positive and negative rows. Positives get high scores, and the order is most
accurate at the top of the list.

>>> import pnorm
>>> data = pnorm.datasets.tic_tac_toe()
>>> lam, trace = pnorm.train(data.X, y=data.y, p=4, t_max=50)
>>> f = pnorm.score(data.X, None, lam)
>>> f.shape
(958,)

Learn
    `train` is the boosting algorithm of the papers. `minimize` computes the exact minimiser and certifies it.
    `minimize_path` computes minimisers for many penalties or many p. `cross_validate` chooses p and the number of
    rounds or the penalty. `Trace` is the record of a run. `split` splits rows by their labels.
Apply
    `score` computes scores, `probability` and `intercept` probabilities. `cutoff` chooses how far down the list to go.
    `save` and `load` store models in files.
Explain
    `explain`, `shapes`, `importance` and `scorecard` show how the scores come about. `profile` and `drift` compare new
    rows with the rows of training. `report_html` writes a report.

`pnorm.rankers` makes weak rankers, `pnorm.metrics` measures ranked lists, `pnorm.diagnostics` certifies optimality and
tests separability, and `pnorm.callbacks` stops runs early. `pnorm.objectives` has other prices and losses,
`pnorm.bounds` the guarantees of the theory, `pnorm.plotting` pictures, and `pnorm.datasets` data. `pnorm.kernel` learns
functions of a kernel space, and `pnorm.listwise` ranks many lists with grades. `pnorm.sklearn` has an estimator for
scikit-learn, `pnorm.boosting` the push for LightGBM and XGBoost, and `pnorm.dask` the same functions for rows on a
cluster.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

try:
    from pnorm._core import _tilt as _tilt
    from pnorm._version import version as __version__
except ImportError as error:
    if "interpreter" in str(error):
        raise ImportError(
            f"the compiled core of pnorm cannot be loaded in a subinterpreter ({error}), nor can NumPy's. Use pnorm in "
            "the main interpreter, on threads, or in separate processes"
        ) from error
    if not (error.name or "pnorm").startswith("pnorm"):
        raise  # NumPy is missing
    raise ImportError(
        f"pnorm is not compiled in {__path__[0]!r}. Run `pip install .` in the folder above. If pnorm is installed, "
        "leave that folder: Python imports what is there"
    ) from error

from pnorm import objectives, rankers
from pnorm._files import ScoringFunction, load, save
from pnorm._score import intercept, probability, score
from pnorm._split import split
from pnorm._trace import Trace
from pnorm._train import train

if _TYPE_CHECKING:  # imported on first use
    from pnorm import boosting, bounds, callbacks, datasets, diagnostics, kernel, listwise, metrics, plotting
    from pnorm._coded.code_rows import CodedRows, code_rows
    from pnorm._cross_validation import CrossValidation, cross_validate
    from pnorm._cutoff import Cutoff, cutoff
    from pnorm._minimize import minimize
    from pnorm._minimize_path import MinimizerPath, minimize_path
    from pnorm._reasons.drift import Drift, drift
    from pnorm._reasons.explain import Explanation, explain
    from pnorm._reasons.importance import Importance, importance
    from pnorm._reasons.moved import ColumnDrift
    from pnorm._reasons.points import PointsOf
    from pnorm._reasons.profile import ColumnProfile, Profile, profile
    from pnorm._reasons.scorecard import Rounding, Scorecard, scorecard
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
"""Modules of the names that are imported on first use."""

_NAMESAKES = ("dask", "sklearn")
"""Modules that need the package of the same name. They are not in `__all__`, which has to work without it."""

_MODULES = {*__all__, *_NAMESAKES} - {*globals(), *_HOMES}
"""Modules that are imported on first use."""


def __getattr__(name: str) -> _Any:
    """Import a name on first use, which keeps `import pnorm` fast."""
    if name in _MODULES:
        return _import_module(f"pnorm.{name}")
    if name not in _HOMES:
        own, modules = {*__all__, *_NAMESAKES}, {*_MODULES, "objectives", "rankers"}
        hint = "" if name.startswith("_") else _import_module("pnorm._hint").hint(name, own, modules)
        raise AttributeError(f"module 'pnorm' has no attribute {name!r}{hint}")
    found = globals()[name] = getattr(_import_module(f"pnorm.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # `help` and `inspect.getmembers` import all that is listed
    return sorted({*globals(), *__all__, *filter(find_spec, _NAMESAKES)})
