"""The P-Norm Push in LightGBM and XGBoost: an objective for their trees, and measures for early stopping.

Both libraries grow trees for any function of the scores, given its derivatives. `lightgbm_objective` and
`xgboost_objective` return functions that compute the derivatives of::

    log F_p = p log Σ_i c_i exp(-f_i) + log Σ_k c̃_k exp(p f̃_k)

over the positives i and the negatives k of one list, or of many lists. One pass over the rows is enough for lists of
any length. Pass the functions as `objective`, `obj`, `feval` or `custom_metric`. Neither library is imported here. The
functions hold only their arguments, and can be pickled, copied and compared.

Steps
    Let u and w be the shares of the rows in the two sums. The gradient of log F_p is -p u on the positives and p w on
    the negatives. The Hessian is p (diag(u) - uu') and p^2 (diag(w) - ww'). Boosters take only a diagonal. The true
    diagonal is zero exactly where a single row has all the weight. Without uu' and ww' the diagonal still gives too
    long a step upwards if p is large. So ``p (p + 1) / 2`` times u and w is passed instead. A leaf with the shares U
    and W then moves by the learning rate times::

        s = 2/(p + 1) · (U - W)/(U + W)

    For any data, this is at most 2 / (p + 1), and never beyond ``ln(U/W) / (p + 1)``. There the part of the leaf in the
    following bound has its minimum. As ``log x ≤ x - 1``::

        log F_p(f + s) - log F_p(f) ≤ Σ_leaves [p U (exp(-s) - 1) + W (exp(p s) - 1)]

    Therefore *every tree lowers log F_p* if it has a leaf in which U and W differ. This holds for any p, any learning
    rate up to 1 and any penalty that shortens steps. With lists it holds for learning rates up to 1/2. The bound is
    then ``1/2 Σ [U (exp(-2ps) - 1) + W (exp(2ps) - 1)]``, by the inequality of the means.

    Steps get shorter as p grows. A learning rate of 0.05 (p + 1), but at most 1, gives steps as long as 0.1 gives at
    p = 1.

Units
    Shares sum to one over all rows, so derivatives would be about 1/N, below every threshold of a booster. Both
    derivatives are therefore multiplied by one number, so that the second derivatives sum to ``C C̃ / (C + C̃)``. C and C̃
    are the sums of the weights of the positives and of the negatives that count, or without weights their numbers. This
    is the sum for the logistic loss if all scores are at the base rate. `min_child_weight`, `min_sum_hessian_in_leaf`
    and penalties on leaves therefore mean the same as at the start of a classifier's training. A row of weight 2 counts
    as two rows. A common factor of all weights has an effect on these settings only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pnorm import _checks, metrics
from pnorm._checks import CaseWeights, Vector
from pnorm._threads import SERIAL, Pool
from pnorm.metrics._by_name import COSTS, MEASURES, lists
from pnorm.objectives._base import Scores
from pnorm.objectives._pnorm import PNorm, push

__all__ = ["lightgbm_metric", "lightgbm_objective", "xgboost_metric", "xgboost_objective"]

_MEASURES = [name for name in MEASURES if "pos_weight" in inspect.signature(getattr(metrics, name)).parameters]
"""Measures that take weights."""

_NO_OPTIONS = {"f_pos", "f_neg", "y", "pos_label", "weight", "pos_weight", "neg_weight"}
_NO_OPTIONS |= {"confidence", "n_resamples", "seed", "stratified"}
"""Parameters of the measures that are not options."""


# The arguments that boosters pass ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Rows:
    """Checked rows of one list, or of several consecutive lists."""

    at: tuple[NDArray[np.intp], NDArray[np.intp]]
    """The positions of the positives, and of the negatives."""
    by_list: bool
    """True if weights belong to whole lists."""
    counted: CaseWeights
    """Weights and groups. A list of weight c counts as c lists; its negatives carry the weight."""
    f: Scores
    """The scores of the rows that count."""
    masses: tuple[float, float]
    """The sums of the weights of these rows."""

    @classmethod
    def read(cls, y: Any, f: Any, weight: Any, sizes: Any, group_weight: str = "pairs") -> _Rows:
        """Check labels, scores, weights of rows or of lists, and sizes of lists."""
        scores = _checks.scores(f, "the scores")
        positive = _checks.one_or_zero(y, "the labels", scores.size)
        lists = None if sizes is None else _checks.vector(sizes, "group", None, "one size for each list")
        group = None if lists is None else _checks.sizes(lists, "group", scores.size)
        c = None if weight is None else _checks.vector(weight, "weight", None, "one for each row, or for each list")
        by_list = c is not None and lists is not None and c.size == lists.size != scores.size
        c = _checks.masses(c, "weight", lists.size if lists is not None and by_list else scores.size)
        if by_list and c is not None:
            c = c[group]
        if group_weight == "equal" and (by_list or group is None):
            why = "weights of lists are given" if by_list else "there are no lists"
            raise ValueError(f"group_weight='equal' gives all lists the same weight, but {why}. Leave one of them out")
        at = np.flatnonzero(positive), np.flatnonzero(~positive)
        for side, label in zip(at, ("1", "0 (or -1)"), strict=True):
            if not (side.size if c is None else c[side].any()):
                raise ValueError(
                    f"no row {'' if c is None else 'of positive weight '}has the label {label}; both labels are needed"
                )
        pos, neg = at
        c_pos, c_neg = (None, None) if c is None else (c[pos], c[neg])
        codes = None if group is None else (group[pos], group[neg])
        try:
            c_pos = None if by_list else c_pos
            counted = _checks.case_weights_of(pos.size, neg.size, c_pos, c_neg, codes, group_weight=group_weight)
        except ValueError:
            raise ValueError(
                "no list of group has rows of both labels (and of positive weight), so there is no pair to order"
            ) from None
        of_pos, of_neg = counted.select(*(np.ones(side.size) if c is None else c[side] for side in at))
        f = Scores(*counted.select(scores[pos], scores[neg]))
        return cls(at, by_list, counted, f, (float(of_pos.sum()), float(of_neg.sum())))

    def objective(self, p: float, pool: Pool) -> PNorm:
        """Return the objective log F_p."""
        _checks.exponents(p, self.f.pos, self.f.neg, "training")
        return push(p)(self.counted, pool)


def _of_lightgbm(first: Any, second: Any, weight: Any, group: Any, group_weight: str = "pairs") -> _Rows:
    """Read rows as `lightgbm.train` passes them, scores and a Dataset, or as estimators do: labels, scores, ..."""
    if hasattr(second, "get_label"):
        return _Rows.read(second.get_label(), first, second.get_weight(), second.get_group(), group_weight)
    return _Rows.read(first, second, weight, group, group_weight)


def _of_xgboost(first: Any, second: Any, weight: Any, group_weight: str = "pairs") -> _Rows:
    """Read rows as `xgboost.train` passes them, scores and a DMatrix, or as estimators do: labels, scores, weights."""
    if not hasattr(second, "get_label"):
        return _Rows.read(first, second, weight, None, group_weight)
    weight, ends = second.get_weight(), second.get_uint_info("group_ptr")
    sizes = np.diff(ends.astype(np.intp)) if ends.size > 1 else None
    return _Rows.read(second.get_label(), first, weight if weight.size else None, sizes, group_weight)


# Objectives -------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class _Push:
    """The derivatives of log F_p."""

    p: float
    n_threads: int | None
    group_weight: str = "pairs"
    _maker: ClassVar[str]

    def slopes(self, rows: _Rows) -> tuple[Vector, Vector]:
        """Return the gradient and the diagonal that replaces the Hessian; see the docstring of the module."""
        size, u, w = sum(map(len, rows.at)), np.empty(rows.f.pos.size), np.empty(rows.f.neg.size)
        with Pool(self.n_threads, size) as pool:
            rows.objective(self.p, pool).evaluate(rows.f, u, w)
        of_pos, of_neg = rows.masses
        hess, grad = np.empty(size), np.empty(size)
        kept = rows.counted.kept or (None, None)
        for at, share, keep, slope in zip(rows.at, (u, w), kept, (-1.0, 1.0), strict=True):
            share *= 0.5 * of_pos * (of_neg / (of_pos + of_neg))
            hess[at] = _checks.spread(share, keep)
            share *= 2.0 * slope / (self.p + 1.0)
            grad[at] = _checks.spread(share, keep)
        return grad, hess

    def __repr__(self) -> str:
        more = "" if self.group_weight == "pairs" else f", group_weight={self.group_weight!r}"
        more += "" if self.n_threads is None else f", n_threads={self.n_threads}"
        return f"{self._maker}(p={self.p:g}{more})"


# The libraries inspect the signature: the number of parameters and the name of the weights matter.


class _LightGBMObjective(_Push):
    _maker = "lightgbm_objective"

    def __call__(self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> tuple[Vector, Vector]:
        return self.slopes(_of_lightgbm(y_true, y_pred, weight, group, self.group_weight))


class _XGBoostObjective(_Push):
    _maker = "xgboost_objective"

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Vector, Vector]:
        return self.slopes(_of_xgboost(y_true, y_pred, sample_weight, self.group_weight))


def lightgbm_objective(
    p: float = 1.0, *, group_weight: Literal["pairs", "equal"] = "pairs", n_threads: int | None = None
) -> Callable[..., tuple[Vector, Vector]]:
    """Return the P-Norm Push as an objective for LightGBM.

    Parameters
    ----------
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1. 1 is RankBoost.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`: with ``"equal"`` all lists count the same, and weights of
        lists are refused.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `pnorm.train`.

    Returns
    -------
    callable
        A function that returns the gradient and the Hessian, each (N,). Pass it as
        ``lightgbm.train({"objective": fn, ...}, data)``, which calls it with the scores and the `Dataset`, or as
        ``LGBMRanker(objective=fn)``, `LGBMRegressor` or `LGBMClassifier`, which call
        ``fn(y_true, y_pred, weight, group)``. Labels are 1 and 0, or 1 and -1. `weight` is one number per row, zero or
        more. `group` holds the sizes of consecutive lists; pairs form within a list only. Rows of weight zero, and rows
        of lists with one label only, get zeros.

    Raises
    ------
    ValueError, TypeError
        From the returned function, if the scores, labels, weights or groups that a booster passes are invalid.

    See Also
    --------
    lightgbm_metric : A measure for early stopping.

    Notes
    -----
    The cost is O(N) for each tree, for lists of any length. LightGBM leaves weights to its custom objectives, and they
    are applied once. Set ``metric="None"`` in its estimators. Otherwise they add a metric of their own, which early
    stopping would also use; the metric of `LGBMRanker` refuses lists of more than 10,000 rows.

    ``predict(..., raw_score=True)`` returns the scores. Train on one machine. On several machines every worker has only
    its own rows, and their weights would be wrong.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006.

    Examples
    --------
    Two positives and three negatives. The negative that is above a positive has almost all the weight of its side:

    >>> import numpy as np
    >>> from pnorm import boosting
    >>> push = boosting.lightgbm_objective(p=4)
    >>> push
    lightgbm_objective(p=4)
    >>> grad, hess = push(np.array([1, 0, 1, 0, 0]), np.array([2.0, 1.5, 1.0, 0.0, -1.0]))
    >>> grad.round(3), hess.round(3)
    (array([-0.065,  0.239, -0.175,  0.001,  0.   ]), array([0.161, 0.598, 0.439, 0.001, 0.   ]))
    """
    return _LightGBMObjective(_checks.power(p), _checks.threads(n_threads), _checks.group_weight(group_weight))


def xgboost_objective(
    p: float = 1.0, *, group_weight: Literal["pairs", "equal"] = "pairs", n_threads: int | None = None
) -> Callable[..., tuple[Vector, Vector]]:
    """Return the P-Norm Push as an objective for XGBoost.

    Parameters
    ----------
    p : float
        Power of the price r ** p that a negative pays for the positives below it; at least 1.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`: with ``"equal"`` all lists count the same, and weights of
        lists are refused.
    n_threads : int, optional
        Number of threads; by default, one for each core that this process may use. As in `pnorm.train`.

    Returns
    -------
    callable
        A function that returns the gradient and the Hessian, each (N,). Pass it as
        ``xgboost.train(params, data, obj=fn)``, which calls it with the scores and the `DMatrix`, or as
        ``XGBRegressor(objective=fn)`` or `XGBClassifier`, which call ``fn(y_true, y_pred, sample_weight)``. Labels are
        1 and 0, or 1 and -1.

    Raises
    ------
    ValueError, TypeError
        From the returned function, if the scores, labels, weights or groups that a booster passes are invalid.

    See Also
    --------
    xgboost_metric : A measure for early stopping.

    Notes
    -----
    Lists come from the `DMatrix`, made with `group` or `qid`. XGBoost then has one weight per list, and a list of
    weight c counts as c equal lists. Without lists, weights are those of rows. XGBoost leaves weights to its custom
    objectives, and they are applied once. `XGBRanker` takes only its own objectives, so use ``xgboost.train`` for
    lists.

    `base_score` shifts all scores and changes nothing. `predict` returns the scores; for an `XGBClassifier` pass
    ``output_margin=True``.

    The cost is O(N) for each tree. Train on one machine, as with `lightgbm_objective`. Scores must come as NumPy
    arrays, as they do from the CPU.

    References
    ----------
    .. [1] C. Rudin, "Ranking with a P-Norm Push", COLT 2006.

    Examples
    --------
    A row of weight 2 counts as two rows:

    >>> import numpy as np
    >>> from pnorm import boosting
    >>> push = boosting.xgboost_objective(p=4)
    >>> y, f = np.array([1, 0, 0]), np.array([0.0, 0.5, 0.2])
    >>> grad, _ = push(y, f, np.array([1.0, 2.0, 1.0]))
    >>> copied, _ = push(y[[0, 1, 1, 2]], f[[0, 1, 1, 2]])
    >>> grad.round(4), copied.round(4)
    (array([-0.15  ,  0.1304,  0.0196]), array([-0.15  ,  0.0652,  0.0652,  0.0196]))
    """
    return _XGBoostObjective(_checks.power(p), _checks.threads(n_threads), _checks.group_weight(group_weight))


# Measures ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class _Measure:
    """A measure of lists."""

    measure: str
    options: tuple[tuple[str, Any], ...]
    _maker: ClassVar[str]

    @property
    def larger(self) -> bool:
        """True if larger values are better."""
        return self.measure != "log_f" and getattr(metrics, self.measure) not in COSTS

    @property
    def label(self) -> str:
        """The name of the measure, without blanks, since XGBoost splits its lines at blanks."""
        options = ",".join(f"{name}={value:g}" for name, value in self.options)
        return f"{self.measure}({options})" if options else self.measure

    def value(self, rows: _Rows) -> float:
        """Return log F_p of all lists, or the mean of another measure over the lists with both sides."""
        options = dict(self.options)
        if self.measure == "log_f":
            return rows.objective(options["p"], SERIAL).log_value(rows.f)
        function, total, mass = getattr(metrics, self.measure), 0.0, 0.0
        for i, k, given in lists(rows.counted):
            weight = 1.0
            if rows.by_list:
                weight, given = float(given["neg_weight"][0]), {}
            total += weight * function(rows.f.pos[i], rows.f.neg[k], **given, **options)
            mass += weight
        return total / mass

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options)
        return f"{self._maker}({self.measure!r}{options})"


class _LightGBMMetric(_Measure):
    _maker = "lightgbm_metric"

    def __call__(self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> tuple[str, float, bool]:
        return self.label, self.value(_of_lightgbm(y_true, y_pred, weight, group)), self.larger


class _XGBoostMetric(_Measure):
    _maker = "xgboost_metric"

    @property
    def __name__(self) -> str:  # the estimators report this name
        return f"-{self.label}" if self.larger else self.label

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        value = self.value(_of_xgboost(y_true, y_pred, sample_weight))
        value = -value if self.larger else value
        return (self.__name__, value) if hasattr(y_pred, "get_label") else value


def _chosen(measure: Any, options: dict[str, Any]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """Check a measure and the names of its options; the measure checks their values."""
    name = _checks.choice(measure, "measure", ("log_f", *_MEASURES))
    if name == "log_f":
        parameters = {"p": inspect.Parameter("p", inspect.Parameter.KEYWORD_ONLY, default=1.0)}
        options = {"p": 1.0} | options
        _checks.power(options["p"])
    else:
        parameters = dict(inspect.signature(getattr(metrics, name)).parameters)
    known = [option for option in parameters if option not in _NO_OPTIONS]
    for option in known:
        if parameters[option].default is inspect.Parameter.empty and option not in options:
            raise TypeError(f"{name} needs {option}: {name!r}, {option}=...")
    for option, x in options.items():
        if option not in known:
            raise TypeError(f"{name} takes {', '.join(known) or 'no options'}; got {option}={x!r}")
        if not isinstance(x, bool):  # a flag
            _checks.real(x, option)
    return name, tuple(options.items())


def lightgbm_metric(measure: str = "log_f", **options: Any) -> Callable[..., tuple[str, float, bool]]:
    """Return a measure of the top of a list as an evaluation function for LightGBM.

    Parameters
    ----------
    measure : str
        ``"log_f"``, the logarithm of the objective itself, for scores from `lightgbm_objective`. Or a function of
        `pnorm.metrics`: ``"positives_at_top"``, ``"r_max"``, ``"partial_auc"``, ``"precision_at"``, ``"recall_at"``,
        ``"enrichment_factor"``, ``"average_precision"``, ``"auc"``, ``"p_norm_risk"``. These depend only on the order
        of the rows and go with any objective.
    **options : float
        Options of that function: ``p`` for ``"log_f"`` (1 by default), ``max_fpr`` or ``max_fp`` for ``"partial_auc"``,
        ``k`` for ``"precision_at"``, and so on.

    Returns
    -------
    callable
        A function that returns a name, the value, and whether larger is better. Pass it as
        ``lightgbm.train(..., feval=fn)`` or ``fit(..., eval_metric=fn)``. Its arguments are those of
        `lightgbm_objective`. Weights of rows are used. With lists, ``"log_f"`` is the objective over all lists; any
        other measure is the mean over the lists with both labels.

    Raises
    ------
    ValueError, TypeError
        If there is no such measure or option. From the returned function, if the scores, labels, weights or groups that
        a booster passes are invalid.

    Notes
    -----
    An evaluation costs a sort, O(N log N), or O(N) for ``"log_f"``. Lists are evaluated one by one, which is slow for
    thousands of short lists.

    ``"positives_at_top"`` and ``"r_max"`` depend on a single row and vary much from tree to tree. For early stopping, a
    partial AUC varies less.

    Examples
    --------
    >>> from pnorm import boosting
    >>> at_top = boosting.lightgbm_metric("partial_auc", max_fp=1)
    >>> at_top([1, 0, 1, 0, 1], [0.9, 0.7, 0.8, 0.1, 0.3])
    ('partial_auc(max_fp=1)', 0.3333333333333333, True)
    """
    return _LightGBMMetric(*_chosen(measure, options))


def xgboost_metric(measure: str = "log_f", **options: Any) -> Callable[..., Any]:
    """Return a measure of the top of a list as an evaluation function for XGBoost; smaller values are better.

    Parameters
    ----------
    measure, **options : as in `lightgbm_metric`
        The measure. If larger is better, its negative is reported, under its name after a minus sign. By default
        XGBoost stops early at the least value.

    Returns
    -------
    callable
        Pass it as ``xgboost.train(..., custom_metric=fn)``, where it returns a name and the value, or as the
        `eval_metric` of `XGBRegressor` and `XGBClassifier`, where it returns the value. Weights of rows or lists are
        used as in `xgboost_objective`; means over lists are weighted means.

    Raises
    ------
    ValueError, TypeError
        If there is no such measure or option. From the returned function, if the scores, labels, weights or groups that
        a booster passes are invalid.

    Examples
    --------
    >>> from pnorm import boosting
    >>> found = boosting.xgboost_metric("positives_at_top")
    >>> found.__name__, found([1, 0, 1, 0, 1], [0.9, 0.7, 0.8, 0.1, 0.3])
    ('-positives_at_top', -2.0)
    """
    return _XGBoostMetric(*_chosen(measure, options))


def __dir__() -> list[str]:
    return __all__
