"""Measures of the top as scorers for model selection."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import make_scorer
from sklearn.utils import column_or_1d

from pnorm import _checks, metrics
from pnorm._checks import Vector
from pnorm.metrics._by_name import COSTS, MEASURES, takes


class Scored(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model whose rows are scores already."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes
        self.classes_ = np.unique(classes)  # which measures of scikit-learn rely on

    def decision_function(self, X: Any) -> Any:
        return X if self.classes_[1] == self.classes[1] else -X

    def measured_by(self, of_model: Callable[..., float]) -> Callable[..., float]:
        """Return the measure of the scores of both sides."""

        def measure(f_pos: Vector, f_neg: Vector, pos_weight: Any = None, neg_weight: Any = None) -> float:
            y = self.classes[np.repeat([1, 0], [f_pos.size, f_neg.size])]
            weight = {} if pos_weight is None else {"sample_weight": np.concatenate([pos_weight, neg_weight])}
            return float(of_model(self, np.concatenate([f_pos, f_neg]), y, **weight))

        return measure


class _Scorer(type(make_scorer(len))):  # type: ignore[misc]  # of scikit-learn, which routes metadata to it
    """A scorer whose positive label is that of the model, unless it is given another one."""

    def __repr__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self._kwargs.items() if name != "measure"]
        return f"scorer({', '.join([repr(self._kwargs['measure']), *options])})"

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **more: Any) -> float:
        label = (self._kwargs | more).get("pos_label")
        if label is None:
            label = _positive_of(estimator, y_true)
        of_model = copy(self)
        of_model._kwargs = self._kwargs | {"pos_label": label}
        more.pop("pos_label", None)
        return float(super(_Scorer, of_model)._score(method_caller, estimator, X, y_true, **more))


def _positive_of(model: Any, y: Any) -> Any:
    """Return the second class of a model; None if there is none, or `y` has labels of another kind."""
    labels = column_or_1d(y).tolist()
    classes = model.classes if isinstance(model, Scored) else getattr(model, "classes_", [])
    return next((label for label in np.asarray(classes)[-1:].tolist() if label in labels), None)


def scorer(measure: str, **options: Any) -> Any:
    """Make a scorer of a measure of the top, for ``scoring=`` of scikit-learn's model selection.

    Parameters
    ----------
    measure : str
        The name of a measure in `pnorm.metrics` that returns a number, such as ``"precision_at"``.
    **options : Any
        Other arguments of the measure, such as ``k=100``. ``pos_label`` is the positive class. By default it is the
        second of the ``classes_`` of the fitted model, also of a pipeline or a search: the positive label of
        `PNormPush`. Other classifiers sort their classes. Of these, pass it if the positive label sorts first, as
        ``scorer("auc", pos_label="fraud")`` for the labels fraud and ok.

    Returns
    -------
    callable
        ``scorer(model, X, y, sample_weight=None)``. Larger is better; `r_max` and `p_norm_risk` change their sign. The
        model needs `decision_function` or `predict_proba`.

    Raises
    ------
    ValueError
        If there is no such measure, or the options do not match its arguments.

    Examples
    --------
    >>> import pnorm
    >>> from pnorm.sklearn import PNormPush, scorer
    >>> from sklearn.model_selection import GridSearchCV
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> search = GridSearchCV(PNormPush(t_max=100), {"p": [1, 4, 16]}, scoring=scorer("precision_at", k=0.2))
    >>> search.fit(data.X, data.y).best_params_
    {'p': 1}

    With labels that are words:

    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> model = PNormPush(pos_label="lost", t_max=100)
    >>> y = np.where(data.y == 1, "won", "lost")
    >>> cross_val_score(model, data.X, y, scoring=scorer("precision_at", k=0.2)).round(2)
    array([0.79, 0.77, 0.77, 0.87, 1.  ])
    """
    _checks.choice(measure, "measure", MEASURES)
    of_list = {name: value for name, value in options.items() if name != "pos_label"}
    if not takes(getattr(metrics, measure), None, None, **of_list):
        asked = list(inspect.signature(getattr(metrics, measure)).parameters)[2:]
        raise ValueError(
            f"{measure} does not go with {', '.join(of_list) or 'no options'}: pnorm.metrics.{measure} takes "
            f"{', '.join(asked)}"
        )
    sign = -1 if getattr(metrics, measure) in COSTS else 1
    return _Scorer(_measured, sign, {"measure": measure, **options}, ("decision_function", "predict_proba"))


def _measured(
    y_true: Any, y_score: Any, *, measure: str, pos_label: Any = None, sample_weight: Any = None, **options: Any
) -> float:
    """Return the measure of a list with labels."""
    y, f = column_or_1d(y_true), column_or_1d(y_score)
    classes = np.unique(y)
    if classes.size != 2:
        raise ValueError(f"y_true must have two classes for {measure}; got {classes.size}")
    positive = y == (classes[1] if pos_label is None else pos_label)
    if sample_weight is not None:
        c = _checks.masses(sample_weight, "sample_weight", f.size)
        assert c is not None
        options |= {"pos_weight": c[positive], "neg_weight": c[~positive]}
    of_list: Callable[..., float] = getattr(metrics, measure)
    return float(of_list(f[positive], f[~positive], **options))


positives_at_top_scorer = scorer("positives_at_top")
positives_at_top_scorer.__doc__ = "Positives above every negative, for ``scoring=``."

partial_auc_scorer = scorer("partial_auc", max_fpr=0.1, standardized=True)
partial_auc_scorer.__doc__ = """The area under the ROC curve up to a false positive rate of 0.1, for ``scoring=``.

It is scaled to 1 for a perfect list and to 1/2 for a random one. The default ``scoring`` of `PNormPush` ends at ten
negatives instead, or at 1 % of them if that is more.
"""
