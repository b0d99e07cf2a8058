"""The P-Norm Push as a scikit-learn estimator, and measures of the top as scorers; needs the extra ``sklearn``.

`PNormPush` is a classifier of two classes. Sort rows by its `decision_function` to get a ranked list. It is trained by
`pnorm.train` or `pnorm.minimize` and works in pipelines, searches and cross-validation. `scorer` turns measures of
`pnorm.metrics` into scorers for ``scoring=``. `leaves` turns the leaves of a forest into weak rankers.
"""

from __future__ import annotations

import contextlib
import inspect
import numbers
import os
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

try:
    from joblib import effective_n_jobs
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.metrics import get_scorer, make_scorer
    from sklearn.model_selection import check_cv
    from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, has_fit_parameter
except ImportError as error:
    from pnorm._checks.text import install

    raise ImportError(f"pnorm.sklearn needs scikit-learn 1.4 or newer ({error}). {install('sklearn')}") from error

from pnorm import _checks, callbacks, diagnostics, metrics
from pnorm import _default as default
from pnorm import rankers as weak
from pnorm._categories import warn
from pnorm._checks import FilePath, GroupLabels, Label, Labels, Lazy, Lines, Rows, Vector, Weights
from pnorm._checks.labelled import plainly_positive
from pnorm._checks.text import counted, first, shown
from pnorm._cutoff import Cutoff, check_asked, cutoff_of_model, of_estimator, zero_of
from pnorm._minimize import minimize
from pnorm._reasons import fingerprint
from pnorm._reasons.explain import Explanation, average_row, beside_average, each_part, explain, means_of
from pnorm._reasons.shapes import Shapes, of_tables, places_of, seen_values, shapes, with_seen
from pnorm._score import intercept_by_mean, scored, sigmoid
from pnorm._storage.coded import LARGEST_FEATURE
from pnorm._trace import RANK_BY, NoSignalWarning, SeparationWarning, Trace, followed
from pnorm._train import train
from pnorm.metrics._by_name import COSTS, MEASURES, takes
from pnorm.rankers import Rankers, _Categories, _Columns, _Normalized
from pnorm.rankers._alike import by_class, units_of
from pnorm.rankers._from_table import of_rows
from pnorm.rankers._table import Table, told_of_suspects

__all__ = ["PNormPush", "leaves", "partial_auc_scorer", "positives_at_top_scorer", "scorer"]

_OF_NUMBERS = ("thresholds", "columns", "normalized")
"""Weak rankers that need a matrix of numbers; all others get the rows unchanged."""

_P, _T_MAX = 4.0, 200
"""The power, and the largest number of rounds or steps, where nothing is said or chosen."""

_LEAST_WEIGHT = 0.1
"""The mean of case weights below which they are hardly copies of rows, but shares."""

_WORDS = ("table", *_OF_NUMBERS, "categories")


def _validated(estimator: Any, *data: Any, **how: Any) -> Any:
    """Return rows validated by scikit-learn, which also keeps or checks the number and the names of columns."""
    try:
        return _valid(estimator, *data, **how)
    except ValueError as error:
        names = getattr(estimator, "feature_names_in_", None)
        if how["reset"] or names is None or not str(error).startswith("The feature names should match"):
            raise
        columns = list(data[0].columns)
        if not all(isinstance(name, str) for name in columns):  # those of pyarrow are the data
            columns = data[0].column_names
        lacking = [name for name in names if name not in columns]
        raise ValueError(f"{str(error).rstrip()}\n{_columns_to_pass(lacking, estimator)}") from None


def _columns_to_pass(lacking: list[str], estimator: Any) -> str:
    """Return what to do if the columns of a frame are not those of `fit`, of which some are `lacking`."""
    if not lacking:
        return "Pass X[model.feature_names_in_]"
    several = len(lacking) > 1
    had = "fit had them" if several else "fit had it"
    said = f"X lacks the column{'s' * several} {first(lacking, 5, _checks.shown)}; {had}"
    if not estimator._takes()[1]:
        return said
    where = "them, with missing values if they are" if several else "it, with missing values if it is"
    return f"{said}. Add {where} unknown"


def _valid(estimator: Any, *data: Any, **how: Any) -> Any:
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # scikit-learn 1.4 and 1.5
        if "ensure_all_finite" in how:
            how["force_all_finite"] = how.pop("ensure_all_finite")
        how["cast_to_ndarray"] = not how.pop("skip_check_array", False)
        return estimator._validate_data(*data, **how)
    return validate_data(estimator, *data, **how)


def _words_for_missing(missing: Any) -> tuple[str, ...]:
    """Return the words for missing values, as cells are compared with them."""
    expected = "missing must be a list of words and numbers that mean a missing value, as in ['unknown', -999]"
    if isinstance(missing, (str, bytes, Mapping)) or not hasattr(missing, "__iter__"):
        raise TypeError(f"{expected}; got {_checks.shown(missing)}")
    words = []
    for value in missing:
        if isinstance(value, bool) or not isinstance(value, (str, numbers.Real)):
            raise TypeError(f"{expected}; got {_checks.shown(value)} in it")
        words.append(value if isinstance(value, str) else np.format_float_positional(float(value), trim="-"))
    return tuple(dict.fromkeys([_checks.folded(word) for word in words if word.strip()]))


def _without(X: Any, missing: tuple[str, ...]) -> Any:
    """Return the columns of a table, with None for words for missing values."""
    names = tuple(X) if _checks.is_columns(X) else _checks.column_names(X)
    if names is None:
        raise ValueError("missing is for columns with names; in a matrix, replace these values with NaN")
    of = [X.iloc[:, k] if hasattr(X, "iloc") else X[name] for k, name in enumerate(names)]
    return {name: _checks.without(column, missing) for name, column in zip(names, of, strict=True)}


def _is_estimator(x: Any) -> bool:
    return hasattr(x, "fit") and not isinstance(x, type)


def _is_array(X: Any) -> bool:
    return _checks.is_sparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biufc")


def _has_dates(X: Any) -> bool:
    """Return whether columns are dates, times or durations, which NumPy and polars would convert to nanoseconds."""
    dtypes = getattr(X, "dtypes", None)  # of pandas and polars
    if dtypes is None:
        try:
            dtypes = [np.asarray(X[:1]).dtype]
        except (TypeError, ValueError, LookupError):  # no rows that can be taken
            return False
    return any(
        dtype.is_temporal() if hasattr(dtype, "is_temporal") else getattr(dtype, "kind", "O") in "mM"
        for dtype in dtypes
    )


def _tags(estimator: Any) -> tuple[bool, bool]:
    """Return whether an estimator takes sparse rows, and missing values."""
    try:
        from sklearn.utils import get_tags
    except ImportError:  # scikit-learn 1.4 and 1.5
        tags = estimator._get_tags() if hasattr(estimator, "_get_tags") else {}
        return "sparse" in tags.get("X_types", ()) or hasattr(estimator, "apply"), tags.get("allow_nan", False)
    tags = get_tags(estimator).input_tags
    return tags.sparse, tags.allow_nan


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows with their side, weight and group, and the fold in which each is held out if that is given."""

    X: Any
    positive: NDArray[np.bool_]
    weight: Vector | None
    group: NDArray[np.intp] | None
    number: NDArray[np.intp]
    """Of each row, in the rows that were given."""
    fold: NDArray[np.intp] | None = None

    def take(self, where: NDArray[np.intp]) -> _Rows:
        """Return some of the rows."""
        of_each = (self.positive, self.weight, self.group, self.number, self.fold)
        some = [None if x is None else x[where] for x in of_each]
        return _Rows(_checks.rows(self.X, where), *some)  # type: ignore[arg-type]

    @property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The positions of the positives, and of the negatives."""
        return np.flatnonzero(self.positive), np.flatnonzero(~self.positive)

    def sides(self) -> tuple[Any, Any]:
        """The positive rows and the negative ones."""
        pos, neg = self.places
        return _checks.rows(self.X, pos), _checks.rows(self.X, neg)

    def about(self) -> dict[str, Any]:
        """Weights and groups, as keyword arguments of the functions of pnorm."""
        named = (("weight", self.weight), ("group", self.group))
        sides = zip(("pos", "neg"), self.places, strict=True)
        return {f"{side}_{what}": x[where] for side, where in sides for what, x in named if x is not None}


def _gives_probabilities(model: PNormPush) -> bool:
    """Raise an AttributeError, with the reason, where there is no `predict_proba`."""
    if not model._exponential:
        why = f"loss={shown(str(model.loss))} gives no probabilities, loss='exponential' does"
    elif hasattr(model, "trace_") and model.trace_.intercept is None:
        why = "with groups, only differences within a group are learned, and each group has its own level"
    else:
        return True
    raise AttributeError(
        f"no predict_proba: {why}. sklearn.calibration.CalibratedClassifierCV makes probabilities of any scores"
    )


class PNormPush(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ranking that is most accurate at the top of the list, as a classifier of two classes.

    Learns ``f(x) = Σ_j λ_j h_j(x)`` by the P-Norm Push (`pnorm.train`, `pnorm.minimize`). The second of
    the two classes is the positive one. Sort rows by `decision_function`, the largest first. `predict` divides the list
    at a cut-off, which `cutoff` or `choose_cutoff` can choose for a required precision, recall or budget.
    `predict_proba` returns probabilities.

    Most users set no parameter: ``PNormPush().fit(X, y)`` chooses weak rankers, penalty, and p from 1 and 4. More
    candidates did not help on any of seven public sets (``benchmarks/additive.py``). ``p=[1, 4, 16]`` compares three.

    - Usually set, if any: `pos_label` for labels that are words, `kinds` for columns that are read wrongly, `missing`
      for words that mean no value, `cutoff` for a decision with a guarantee, `monotone`, `p`, `push`, `random_state`,
      `n_jobs` and `verbose`.
    - For an exact model of your own: `rankers`, `solver`, `l1`, `l2` and `max_columns`.
    - For rounds of boosting: `t_max`, `early_stopping`, `n_iter_no_change`, `scoring`, `loss` and `group_weight`.
    - Leave alone: `n_cuts`, `linear`, `penalty`, `cv` and `validation_fraction`.

    After `fit`, ``print(model)`` shows the rows, the chosen parameters, how training ended and the result on held-out
    rows. ``repr(model)`` has only the parameters that were set. Nothing is chosen if `p` and `l2` are given, and `fit`
    is then many times faster.

    Parameters
    ----------
    p : float or sequence of float, optional
        Power of the price r ** p that a negative pays for the positives below it; at least 1. Of several,
        cross-validation chooses one, as in ``p=[1, 4, 16]``. None chooses from 1 and 4, or uses 4 with rounds.
    pos_label : label, optional
        The label of positive rows, one of two, as in ``pos_label="fraud"``. It becomes the second of `classes_`. None
        takes the label that means yes, such as yes of yes and no, in any case and in some other languages, or else the
        one that sorts last. `scorer` takes it from the fitted estimator. Scorers of scikit-learn that sort labels
        themselves, ``"roc_auc"`` among them, and its `CalibratedClassifierCV` need sorted classes: give them
        ``y == pos_label`` as labels.
    kinds : mapping from column to kind, optional
        Kinds of columns, by name or number from 0, that replace the detected kinds: ``{"zip": "category"}``. As in
        `pnorm.rankers.from_table`. It applies to the rankers ``"table"``.
    missing : sequence of str or number, optional
        Words and numbers that mean a missing value in every column, beside those that are known, such as ``"NA"``:
        ``["unknown", -999]``. Capitals and spaces around a word make no difference. New rows are read so too. It
        applies to the rankers ``"table"`` and to columns with names; in a matrix, write NaN.
    cutoff : mapping, optional
        The requirement that `predict` meets on new rows: ``{"precision": 0.8}``, ``{"recall": 0.9}`` or ``{"budget":
        200, "of": 10_000}``, with the options ``"at_least"``, ``"prior"`` and ``"confidence"`` of `pnorm.cutoff`. `fit`
        then holds out `validation_fraction` of the rows, trains on the others, and chooses the cut-off on the held-out
        rows. Give ``"at_least"`` as a share, such as ``{"precision": 0.8, "at_least": 0.2}``.
        `choose_cutoff` chooses it on other rows. `decision_function` is then the score minus the new `threshold_`, and
        `score_samples` stays the score.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It applies to the
        rankers None, ``"table"``, ``"thresholds"``, ``"columns"`` and ``"normalized"``; a collection has its own signs.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.train`. With ``"bottom"``, a measure that
        `scoring` gives by its name in `pnorm.callbacks.early_stopping` is that of the list read from below. A scorer of
        scikit-learn gets the list unchanged.
    rankers : str, Rankers, callable, list of callables, or estimator, optional
        The weak rankers. None uses ``"table"`` if the columns of `X` have names or `kinds` is given, and
        ``"thresholds"`` for a matrix of numbers. It chooses between lines with cuts, cuts in few steps, and lines alone
        (see Notes); with rounds there are no lines. ``"table"``: weak rankers that suit each column of numbers, text,
        truth values, dates and missing values (`pnorm.rankers.from_table`). ``"thresholds"``: cuts of the columns
        (`pnorm.rankers.quantile_thresholds`); a missing value, NaN, exceeds no cut and has its own weak ranker.
        ``"columns"``: the columns as they are. ``"normalized"``: the columns scaled to [0, 1]. ``"categories"``: an
        indicator per level (`pnorm.rankers.categories`). You can also pass a collection, a function of ``(pos, neg)``
        that makes one from the training rows, or a list of functions of rows. Of a scikit-learn estimator, the leaves
        of its trees are used if it has `apply` (`leaves`), and otherwise the columns that its `transform` returns. An
        estimator that is not fitted is cloned and fitted on the training rows.
    n_cuts : int
        Largest number of cuts per column of ``"table"`` and ``"thresholds"``.
    linear : bool or "only", optional
        Whether to add a straight line to the cuts of each column; with ``"only"``, a line takes the place of the cuts.
        None chooses it with the weak rankers if these are chosen, and is False otherwise. It applies to the rankers
        ``"table"`` and ``"thresholds"``, with rounds too. With ``"only"``, a line is a staircase of up to 1,024
        levels, fine at both ends, and flat beyond the values of the training rows
        (`pnorm.rankers.quantile_thresholds`). ``rankers="columns"`` has lines without steps, which go on.
    solver : {"auto", "coordinate", "newton"}
        ``"coordinate"`` is `pnorm.train`, boosting round by round. ``"newton"`` is `pnorm.minimize`, the exact
        minimiser. ``"auto"`` computes the minimiser and chooses parameters that are None by cross-validation. It uses
        rounds if `t_max`, `early_stopping`, a `loss` other than ``"exponential"``, an estimator as `rankers`, groups or
        sparse rows are given.
    l1 : float, optional
        Weight of the penalty ``l1 |lam|_1``, zero or more. It applies to minimisers. If `l1` and `l2` are None,
        ``solver="auto"`` chooses one of them; with `l1` = 0 it chooses `l2`. Otherwise None means 0.
    l2 : float, optional
        Weight of the penalty ``l2/2 |lam|**2``, zero or at least 1e-140. It applies to minimisers. None as for `l1`;
        beside a given or chosen `l1`, ``solver="auto"`` takes 1e-5 p, which makes the minimiser unique.
    penalty : {"coefficients", "shapes"}, optional
        With ``"shapes"`` one `l1` and one `l2` serve columns of any number of cuts. As in `pnorm.minimize`. None means
        ``"shapes"`` with ``solver="auto"``, and ``"coefficients"`` with ``"newton"``.
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients. As in `pnorm.minimize`. It applies to
        minimisers.
    cv : int, splitter or iterable
        The folds by which ``solver="auto"`` chooses: their number, two or more (reduced to the number of rows of a
        class if that is smaller), a splitter of scikit-learn, or pairs of training and test rows. Each row is held out
        once at most. All rows that are not held out are trained on. Of a number of folds, each has equal rows as a
        whole; a splitter may divide them.
    t_max : int, optional
        Largest number of rounds, or of Newton steps; None means 200.
    early_stopping : bool
        Whether to hold out rows, to stop when their ranking has not improved for `n_iter_no_change` rounds, and to use
        the coefficients of the best round.
    validation_fraction : float
        The share of the rows that `early_stopping` and `cutoff` hold out, the same for both classes. With groups, it is
        the share of the groups.
    n_iter_no_change : int
        Rounds to wait for a better score.
    scoring : str, callable or None
        The measure of the held-out rows: a name in `pnorm.callbacks.early_stopping`, or a scorer of scikit-learn, or
        its name, that uses `decision_function`. None is the partial AUC down to the first ten negatives, or the first
        1 % of them if that is more. ``"log_objective"`` is the objective of training. With groups it is the mean over
        the groups.
    loss : str or Loss
        The cost of a pair whose scores differ by z. As in `pnorm.train`.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.
    random_state : int, RandomState or None
        Seed for the rows that are held out. With None, `early_stopping` draws other rows in every fit, and
        ``solver="auto"`` and `cutoff` draw the same ones.
    n_jobs : int or None
        Threads, as in scikit-learn: None means one unless joblib's context sets another number, -1 means all. The
        coefficients do not depend on it.
    verbose : int
        What `fit` and `report_html` print. 0 prints nothing, 1 a line for each stage (cross-validation, training,
        cut-off; four of a report), and 2 also a line for each fold of the cross-validation.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The labels; the second one is the positive. They are sorted, unless `pos_label` or the one that means yes sorts
        first, such as Yes of Yes and no, or ja of ja and nein.
    rankers_ : Rankers
        The weak rankers of `score_samples`, which is ``pnorm.score(X, model.rankers_, model.lam_)``. For a table,
        ``rankers_.plan`` prints how each column is used.
    lam_ : ndarray, shape (n,)
        The coefficients of the weak rankers.
    p_ : float
        The power.
    l1_, l2_ : float
        The penalties; 0 with rounds. They are those of `cross_validation_`, or smaller if only a sample of many rows
        was used for the choice.
    kind_ : str or None
        The chosen kind of weak rankers: ``"line + cuts"``, ``"steps"`` or ``"lines"``, or ``"cuts"`` with
        ``linear=False``; None with rounds, or if `rankers` other than ``"table"`` were given.
    cross_validation_ : CrossValidation or None
        The cross-validation behind the choice, with a table of the results; None if nothing was chosen.
    out_of_fold_ : OutOfFold or None
        How the chosen parameters rank the held-out rows of the cross-validation: `auc` and `partial_auc`, each tested
        against random orders, and `beats_chance`. `fit` warns if this is False, as both are then within the range of
        99 % of random orders. None if nothing was chosen.
    slope_ : float
        The factor of the log odds in `predict_proba`, which held-out rows of the cross-validation determine by Platt's
        method: ``out_of_fold_.slope``. The ranking of held-out rows, by which parameters are chosen, does not depend on
        the scale of the scores, so the scale needs a correction of its own. 1 if nothing was chosen.
    threshold_ : float
        The score above which `predict` returns the positive class. `decision_function` is the score minus this number:
        compare `decision_function` with 0 instead, or `score_samples` with this number. By default, it is the score of
        probability 1/2. If `slope_` is 1, that is minus the intercept of `trace_` after `n_iter_` rounds. With groups,
        or another loss, there are no probabilities. It is then the score with the largest balanced accuracy on the rows
        of `fit`, half-way between two scores, and the highest one if several tie. Balanced accuracy gives both classes
        the same weight. If positives are rare, `predict` then flags many more rows than there are positives: 465 for 40
        of 4,000, for example. Use `cutoff` or `choose_cutoff` to set it by precision,
        recall or a number of rows. With a cut-off, it is the largest number below `cutoff_.score`.
    cutoff_ : Cutoff or None
        The cut-off of `predict` and its promise; None if none was chosen. Its scores are those of `score_samples`.
        ``pnorm.save(path, model)`` stores it.
    trace_ : Trace
        The record of the run.
    separation_ : str or None
        ``"separable"`` if the score puts every positive of training above every negative (of its group). Otherwise
        `pnorm.Trace.separation` of `trace_`. On separable rows, if nothing was chosen by cross-validation, the penalty
        or the number of rounds determines how far probabilities are from 0 and 1, and `predict_proba` warns. The order
        of the rows is not affected.
    n_iter_ : int
        The number of rounds, or steps, that lead to `lam_`. With `early_stopping` it is the best round.
    validation_score_ : ndarray
        With `early_stopping`, the score of the held-out rows before the first round and after each one. The sign of
        ``"log_objective"`` is changed, so that larger is better.
    n_features_in_ : int
        The number of columns, if the rows have columns.
    feature_names_in_ : ndarray
        The names of the columns, if all are strings.

    See Also
    --------
    pnorm.train, pnorm.minimize : The functions that train.
    scorer : Measures of the top for model selection.

    Notes
    -----
    The page "Choose p, rounds and penalties" describes the choice of ``solver="auto"``. The candidates are a line
    and 255 cuts of each column, cuts in few steps, or a line alone; p = 1 or 4; and 11 penalties. The measure is the
    partial AUC down to the first ten negatives, or the first 1 % of them if that is more. Of all candidates within one
    standard error of the best, the one with the largest average precision is chosen and minimised over all rows. Among
    equals, as on separable rows, lines with cuts come first, then cuts, then the smaller p and the larger penalty.
    Given parameters are not chosen: with ``p=4`` only weak rankers and penalty are. With `l2` the weak rankers are
    lines with cuts. If a class has more than 16,384 rows, as many are drawn for the choice. If a class has one row,
    none can be held out, and lines and cuts with p = 4 and l2 = 0.4 are used.

    Rows with a `sample_weight` of w count as w copies, and those of weight zero as absent. Equal rows are held out
    together, as in `pnorm.cross_validate`, so w copies choose what the weight w chooses. (If a column has more than
    `n_cuts` + 1 values, its cuts are placed by rows, without regard to weights.) With `groups`, a label per row, pairs
    form within a group only.

    New rows in a data frame need the columns of `fit` in the same order, and no others. This is a rule of scikit-learn,
    whose message names the columns that differ. The columns of a dictionary are found by name, and it may have others.

    Scikit-learn's `clone`, which cross-validation uses, returns an estimator in `rankers` unfitted. It is then fitted
    on each training part, so that its leaves do not depend on the rows of the test part.
    ``sklearn.frozen.FrozenEstimator`` prevents this.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import pnorm
    >>> from pnorm.sklearn import PNormPush
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> model = PNormPush(p=4, t_max=500).fit(data.X, data.y)
    >>> f = model.decision_function(data.X)
    >>> pnorm.metrics.positives_at_top(f[data.y == 1], f[data.y == 0])
    585
    >>> model.rankers_.names[:3]
    ('x0 > 0.5', 'x0 > 1.5', 'x1 > 0.5')
    >>> model = PNormPush(p=4).fit(data.X, data.y)
    >>> print(model.cross_validation_.best)
    steps, p = 4, l1 = 0.05782, l2 = 4e-05
    >>> print(model)
    PNormPush(p=4)
    rows         958: 626 positive, 332 negative; 9 columns
    model        step functions (steps), p = 4, l1 = 0.05782, l2 = 4e-05; 18 weak rankers
    training     converged after 3 steps
    out of fold  AUC 0.997 (99 % of random orders: 0.424 to 0.576), partial AUC 0.990 (0.468 to 0.532)
                 better than a random order
    >>> model.predict(data.X).shape, model.predict_proba(data.X).shape, bool(model.certificate_.gap < 1e-6)
    ((958,), (958, 2), True)
    >>> model.shapes()[0].name, model.feature_importances_.shape
    ('x4', (9,))
    >>> linear = PNormPush(p=4, rankers="columns", l2=0.01).fit(data.X, data.y)
    >>> bool(np.allclose(data.X @ linear.coef_[0] + linear.intercept_[0], linear.decision_function(data.X)))
    True
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "boards.html"
    >>> linear.report_html(path, data.X[::3], data.y[::3])
    """

    def __init__(
        self,
        p: float | Sequence[float] | None = None,
        *,
        pos_label: Label | None = None,
        kinds: Mapping[Any, Any] | None = None,
        missing: Sequence[str | float] | None = None,
        cutoff: Mapping[str, Any] | None = None,
        monotone: Mapping[Any, int] | None = None,
        push: Literal["top", "bottom"] = "top",
        rankers: Any = None,
        n_cuts: int = 255,
        linear: Lines | None = None,
        solver: str = "auto",
        l1: float | None = None,
        l2: float | None = None,
        penalty: str | None = None,
        max_columns: int | None = None,
        cv: Any = 5,
        t_max: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        scoring: Any = None,
        loss: Any = "exponential",
        group_weight: str = "pairs",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.pos_label = pos_label
        self.kinds = kinds
        self.missing = missing
        self.cutoff = cutoff
        self.monotone = monotone
        self.push = push
        self.rankers = rankers
        self.n_cuts = n_cuts
        self.linear = linear
        self.solver = solver
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.max_columns = max_columns
        self.cv = cv
        self.t_max = t_max
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.loss = loss
        self.group_weight = group_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __str__(self) -> str:
        """Return the parameters, as `repr` does, and some lines on the model if it is fitted."""
        return "\n".join([repr(self), *(self._told() if hasattr(self, "lam_") else [])])

    def _told(self) -> list[str]:
        """Return lines on the rows, the model, the end of training, the out-of-fold result and suspected columns."""
        n_pos, n_neg = self._n_rows
        columns = f"; {counted(self.n_features_in_, 'column')}" if hasattr(self, "n_features_in_") else ""
        neg, pos = [f" ({shown(label, 30)})" if isinstance(label, str) else "" for label in self.classes_.tolist()]
        kind = [] if self.kind_ is None else [self.kind_]
        kind = [f"{default.TERMS[name]} ({name})" if name in default.TERMS else name for name in kind]
        penalties = [f"{name} = {x:.4g}" for name, x in (("l1", self.l1_), ("l2", self.l2_)) if x]
        if not penalties and self.trace_._unit == "step":
            penalties = ["no penalty"]
        of_rankers = counted(self.lam_.size, "weak ranker")
        ended = f"{self.trace_.status} after {counted(self.trace_.n_iter, self.trace_._unit)}"
        if self.n_iter_ != self.trace_.n_iter:
            ended += f"; the coefficients are those after {self.n_iter_:,}"
        if self.separation_ in ("separable", "quasi-separable"):
            ended += f"; the training rows are {self.separation_}"
        power = f"p = {self.p_:g}"
        if self.cross_validation_ is not None:
            *others, last = [f"{p:g}" for p in np.unique(self.cross_validation_.p).tolist()]
            power += f" (of {', '.join(others)} and {last})" if others else ""
        lines = [
            f"rows         {n_pos + n_neg:,}: {n_pos:,} positive{pos}, {n_neg:,} negative{neg}{columns}",
            f"model        {', '.join([*kind, power, *penalties])}; {of_rankers}",
            f"training     {ended}",
        ]
        held = self.out_of_fold_
        if held is not None:
            lines += [
                f"out of fold  {held}",
                f"             {held.verdict}",
            ]
        doubt = told_of_suspects(self.rankers_)
        if doubt:
            lines.append(f"suspected    {doubt}: see the warning of fit")
            if held is not None:
                lines.append("             if so, the out-of-fold result says little about new rows")
        return lines

    # What scikit-learn asks of an estimator ------------------------------------------------------------

    @property
    def _of_numbers(self) -> bool:
        return self.rankers is None or (isinstance(self.rankers, str) and self.rankers in _OF_NUMBERS)

    @property
    def _reads_tables(self) -> bool:
        return self.rankers == "categories" if isinstance(self.rankers, str) else _is_estimator(self.rankers)

    def _is_table(self, X: Any) -> bool:
        """Return whether the weak rankers are those of a table of mixed columns, or to be made of one."""
        if isinstance(self.rankers, (str, Table)):
            return isinstance(self.rankers, Table) or self.rankers == "table"
        return self.rankers is None and (self.kinds is not None or _checks.named_columns(X))

    def _takes(self) -> tuple[bool, bool]:
        """Return whether X may be sparse, and whether NaN may mean missing values."""
        if self.rankers is None:
            return True, True
        if isinstance(self.rankers, str):
            return self.rankers in ("thresholds", "columns"), self.rankers in ("table", "thresholds", "categories")
        if _is_estimator(self.rankers):
            sparse, missing = _tags(self.rankers)
            return sparse, missing and hasattr(self.rankers, "apply")  # what is transformed may keep them
        return True, False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse, tags.input_tags.allow_nan = self._takes()
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn 1.4 and 1.5
        return {"binary_only": True, "allow_nan": self._takes()[1]}

    @property
    def _exponential(self) -> bool:
        return isinstance(self.loss, str) and self.loss == "exponential"

    def _read(self, X: Any, *y: Any, reset: bool) -> Any:
        """Check rows (and labels): numbers become a matrix; rows that only `rankers` can read stay unchanged."""
        if isinstance(X, (str, os.PathLike)) or hasattr(X, "readline"):
            raise TypeError(
                f"X must have rows; got {_checks.shown(X)}. Read it first, as in frame = pandas.read_csv(path), which "
                "needs pandas (pip install pandas), or rank it in a terminal: pnorm FILE --label COLUMN"
            )
        if len(getattr(X, "shape", (0, 0))) == 1 and hasattr(X, "to_frame"):
            index = getattr(X, "index", None)
            if not reset and index is not None and any(name in index for name in self._names or ()):
                raise ValueError(
                    f"X must have rows and columns; got a single row ({type(X).__name__}). Pass a frame of one row: "
                    "frame.iloc[[k]] instead of frame.iloc[k], or row.to_frame().T"
                )
            raise ValueError(
                f"X must have rows and columns; got a single column ({type(X).__name__}). Pass a frame, as in "
                "frame[['amount']] or column.to_frame()"
            )
        if self._is_table(X) if reset else isinstance(self.rankers_, Table):
            return self._read_table(X, *y, reset=reset)
        sparse, missing = self._takes()
        how: dict[str, Any]
        if self._of_numbers:
            found = _checks.no_number(X, "X") if not _checks.is_sparse(X) and _has_dates(X) else None
            if found is not None:
                raise TypeError(found)
            _checks.stay_apart([X], "X")
            how = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan" if missing else True}
        else:
            if not _checks.is_sparse(X) and not hasattr(X, "__getitem__"):
                X = np.asarray(X)
            if not self._reads_tables or not _is_array(X):
                _checks.n_rows(X, "X")
                return _validated(self, X, *y, reset=reset, skip_check_array=True)
            how = {"dtype": None, "ensure_all_finite": False}
        if _checks.is_sparse(X) and X.dtype.kind in "bui":
            X = _checks.summing(X)
        try:
            return _validated(self, X, *y, reset=reset, accept_sparse=["csr", "csc"] if sparse else False, **how)
        except (ValueError, TypeError) as error:  # NumPy's conversion to floats says what it has met, and not where
            if str(error).startswith("Input y contains NaN"):
                raise ValueError(f"{error} Use keep = pandas.notna(y), and fit(X[keep], y[keep])") from None
            converts = self._of_numbers and ("string to float" in str(error) or isinstance(error, TypeError))
            found = _checks.no_number(X, "X") if converts and not _checks.is_sparse(X) else None
            if found is None:
                raise
            raise (TypeError if isinstance(error, TypeError) else ValueError)(found) from error

    def _read_table(self, X: Any, *y: Any, reset: bool) -> Any:
        """Check names and number of the columns of a table (and labels) by the rules of scikit-learn.

        The columns of a dictionary have no order, and the weak rankers find them by name. Rows that are dictionaries
        become one.
        """
        X = _checks.from_records(X, "X", () if reset else self._names or ())
        if not _checks.is_columns(X):
            X = X if _checks.is_sparse(X) or hasattr(X, "__getitem__") else np.asarray(X)
            _checks.n_rows(X, "X")
            return _validated(self, X, *y, reset=reset, skip_check_array=True)
        n_rows = _checks.n_rows(X, "X")
        if not reset:
            return X
        checked = _validated(self, np.broadcast_to(0.0, (n_rows, len(X))), *y, reset=True, skip_check_array=True)
        self.feature_names_in_ = np.array([str(name) for name in X], dtype=object)
        return (X, *checked[1:]) if y else X

    @property
    def _n_threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    @property
    def _names(self) -> list[str] | None:
        return list(getattr(self, "feature_names_in_", ())) or None

    # Training ------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Rows | Lazy,
        y: Labels | Lazy,
        sample_weight: Weights | Lazy | None = None,
        groups: GroupLabels | Lazy | None = None,
        pos_label: Label | None = None,
    ) -> PNormPush:
        """Train on rows and labels.

        Parameters
        ----------
        X : array_like, data frame, dictionary of columns or list of dictionaries, shape (N, d)
            The rows. A data frame of pandas or polars, an Arrow table, a dictionary, or a list of dictionaries, one for
            each row, may have columns of numbers, text, truth values, dates and missing values. A matrix has numbers,
            and may be SciPy sparse, unless the weak rankers are ``"normalized"``. If `rankers` is not a string, rows
            may have any form that it reads. Of a Dask array or frame, at most 16,384 rows of each class, drawn at
            random, are used to choose parameters that are None; the minimiser uses all rows, partition by partition.
        y : array_like, shape (N,)
            Labels, of two kinds. For a Dask frame, also the name of their column, or a vector of Dask.
        sample_weight : array_like, shape (N,), optional
            Case weights, zero or more. A row of weight w counts as w copies, so their mean is about 1.
        groups : sequence of labels, of length N, optional
            Query groups: pairs form within a group only.
        pos_label : label, optional
            The label of positive rows in this fit, instead of the parameter `pos_label` of the estimator. None takes
            that of the estimator.

        Returns
        -------
        PNormPush
            The estimator itself.

        Raises
        ------
        ValueError, TypeError
            If the rows, the labels or a parameter cannot be used; the message names it.

        Warns
        -----
        TableWarning
            About columns of a table that are left out, that can be read in two ways, or that may be known only after
            the outcome. As in `pnorm.rankers.from_table`.
        UserWarning
            If there is no `pos_label` and the labels are words other than plain opposites such as yes and no, or the
            positive one sorts first, such as Yes and no. If no cut-off meets `cutoff`; `predict` then takes no row. If
            the mean of `sample_weight` is so small that the weights are hardly copies of rows. If held-out rows of the
            cross-validation may be copies of training rows: because `cv` divides equal rows, rows are near copies of
            others, or the slope of the scores is far below 1.
        NoSignalWarning
            If the cross-validation does not show that the chosen parameters rank held-out rows better than a random
            order (`out_of_fold_`). The class is in `pnorm.diagnostics`.
        ConvergenceWarning
            If ``solver="newton"`` ends before the minimum is proved, or there is none since the data are
            quasi-separable (see `pnorm.minimize`). Rows are then ranked by ``trace_.lam_along()``.
        """
        self._check()
        if _is_dask(X):
            if self.missing is not None:
                raise ValueError("missing is for rows in memory; in a frame of Dask, replace these values with None")
            return self._fit_dask(X, y, sample_weight, groups, pos_label)
        self._fit(X, y, sample_weight, groups, pos_label)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, pos_label: Any) -> _Rows:
        """Train on rows in memory, and return those that were trained on."""
        X, y = self._read(X, y, reset=True)
        lacking = () if self.missing is None else _words_for_missing(self.missing)
        X = _without(X, lacking) if lacking else X
        why = self._why_rounds(X, groups)
        auto = self.solver == "auto" and why is None
        rows = self._labelled(X, y, sample_weight, groups, auto, pos_label)
        newton = auto or self.solver == "newton"
        added = self._added(newton, why)
        to_cut = None
        if self.cutoff is not None:
            rows, to_cut = self._split(_for_cutoff(rows), "cutoff", 0 if self.random_state is None else None)
        known, held_out = self._split(rows, "early_stopping") if self.early_stopping else (rows, None)

        pos, neg = known.sides()
        self._report(f"{known.positive.sum():,} positive and {(~known.positive).sum():,} negative rows to train on")
        chosen = self._choose(pos, neg, known, added["penalty"]) if auto else None
        if chosen is None:
            H = self._weak_rankers(known, pos, neg)
            p, kind, found = _P if self.p is None else self._one_power(why), None, None
        else:
            H, p, kind, found = chosen.rankers, chosen.p, chosen.kind or None, chosen.cross_validation
            added |= {"l1": chosen.l1, "l2": chosen.l2}
            self._report(f"{'chosen' if found is not None else 'taken'}: {chosen.told}")
            if chosen.alone:
                warnings.warn(f"a class has one row, which cannot be held out: {chosen.told}", stacklevel=2)
        stop = None if held_out is None else self._watch(held_out, H, p)
        about = {"push": self.push, "group_weight": self.group_weight, **known.about()}
        how = dict(p=p, loss=self.loss, callback=stop, n_threads=self._n_threads, **about)
        t_max = _T_MAX if self.t_max is None else self.t_max
        if newton:
            lam, trace = minimize(pos, neg, H, max_iter=t_max, tol=default.TOL if auto else 1e-10, **added, **how)
        else:
            lam, trace = train(pos, neg, H, t_max=t_max, **how)
        if newton:
            _warn_of_end(trace)
        if stop is None:
            lam, trace = followed(lam, trace)
        self._report(f"training: {trace._summary}")

        self.rankers_, self.trace_ = H.with_missing(lambda _: lacking) if isinstance(H, Table) else H, trace
        self._n_rows = int(known.positive.sum()), int((~known.positive).sum())
        self.p_, self.l1_, self.l2_ = float(p), float(added["l1"]), float(added["l2"])
        self.kind_, self.cross_validation_ = kind, found
        self.out_of_fold_ = None if chosen is None else chosen.out_of_fold
        # Newton's method may begin anew, on the rows that keep weight, and end there before it calls back.
        self.n_iter_ = trace.n_iter if stop is None else min(stop.best_iter, trace.n_iter)
        self.lam_ = lam if stop is None else trace.lam_at(self.n_iter_)
        if stop is not None:
            scores = stop.scores[: trace.n_iter + 1]
            self.validation_score_ = scores if self.scoring != "log_objective" else -scores
            self._report(f"early stopping: the held-out rows are ranked best after {self.n_iter_} rounds")
        elif hasattr(self, "validation_score_"):
            del self.validation_score_
        # Of the rows trained on: held-out rows that score high weigh e^(p f), and would rule the intercept.
        self._offset = None if trace.intercepts is None else -float(trace.intercepts[self.n_iter_])
        self.slope_ = 1.0 if chosen is None else chosen.slope
        f = self._score(known.X, strict=None)
        self._training_scores = fingerprint.of(f)
        if self._offset is not None:
            self._recalibrate(known, f)
            self.threshold_ = self._offset
        else:
            self.threshold_ = _threshold(self._score(rows.X, strict=None), rows.positive, rows.weight)
        self._uncut = self.threshold_
        self.cutoff_: Cutoff | None = None
        self._failures: dict[tuple[int, int], Cutoff] = {}  # the first cut-off that was not found, by numbers of rows
        if to_cut is not None:
            assert self.cutoff is not None
            self._cut(self._score(to_cut.X), to_cut.positive, **self.cutoff)
            self._report(f"cut-off: {str(self.cutoff_).splitlines()[0]}")
        proved = partial(_certificate, known, H, p, self.lam_, self.push, self.group_weight, **added)
        self._proof = _Later(proved if self._exponential else _none)
        self._explain_later(known)
        self._judge()
        if chosen is not None and chosen.copied:
            warn(
                f"{chosen.copied}. Held-out rows that are copies of training rows do not show what new rows are like, "
                "and what they choose may overfit. Fit without copies, and give sample_weight, as a row of weight w "
                "counts as w copies",
                UserWarning,
            )
        self.separation_ = "separable" if _separated(f, known.positive, known.group) else trace.separation
        if self.separation_ == "separable":
            self._report("the score separates the classes of the training rows")
        return known

    def _recalibrate(self, rows: _Rows, f: Vector) -> None:
        """Move the offset to where probabilities are 1/2 if `slope_` multiplies the log odds.

        Their mean over the training rows, of which `rows` with scores f may be a sample of each class, is the share of
        positives.
        """
        if self.slope_ == 1.0:
            return
        sides, weights = zip(
            *[(f[at], None if rows.weight is None else rows.weight[at]) for at in rows.places], strict=True
        )
        self._offset = -intercept_by_mean(sides, self.slope_ * (1.0 + self.p_), self._n_rows, weights)

    def _judge(self) -> None:
        """Warn if the cross-validation does not exclude that the order is random."""
        judged = self.out_of_fold_
        if judged is None:
            return
        self._report(f"out-of-fold: {judged}")
        if not judged.beats_chance:
            warn(
                "the list is not shown to be better than a random order. On the held-out rows of the cross-validation, "
                f"neither measure is above its range: {judged}. Do not rely on the list or the probabilities; add "
                "rows, or columns that are related to the labels",
                NoSignalWarning,
            )

    def _report(self, line: str) -> None:
        """Print a line on a stage of `fit`, if `verbose` is not 0."""
        if self.verbose:
            print(f"[PNormPush] {line}", flush=True)

    def _report_fold(self, done: int, of: int) -> None:
        """Print where the cross-validation stands, which passes a fold for each kind of weak rankers."""
        if done == 0:
            self._report(f"cross-validation: {of} runs choose what is not given")
        if done < of and self.verbose > 1:
            self._report(f"cross-validation: run {done + 1} of {of}")

    def _report_stage(self, done: int, of: int) -> None:
        """Print which stage of a report begins."""
        if done < of:
            stages = "lists to compare with", "changes since training", "measures", "columns and rows"
            self._report(f"report: {stages[done]}")

    def _explain_later(self, known: _Rows) -> None:
        """Keep the rows until ranges and averages of them are asked for."""
        d = getattr(self, "n_features_in_", 0)  # rows need not have columns
        of_model = self.rankers_, self.lam_
        self._ranges = _Later(partial(_ranges_of, known.X, *of_model, d, self._n_threads), keeps=True)
        self._seen = _Later(partial(seen_values, known.X, *of_model, known.weight), keeps=True)
        average = known.take(known.places[0 if self.push == "bottom" else 1])
        self._means = _Later(partial(means_of, average.X, *of_model, average.weight, self._n_threads), keeps=True)

    def _fit_dask(self, X: Any, y: Any, sample_weight: Any, groups: Any, pos_label: Any) -> PNormPush:
        """Choose by some rows of a Dask collection, and minimise over all of them where they lie."""
        from pnorm.dask import code_rows
        from pnorm.dask import minimize as minimize_there
        from pnorm.dask._estimator import drawn

        why = self._why_rounds(X, groups)
        if why is not None or self.cutoff is not None or _is_estimator(self.rankers):
            raise ValueError(
                f"X is a Dask collection, over which PNormPush minimises: {why or 'cutoff'} is for rows in memory; "
                "pnorm.dask.train runs rounds, and choose_cutoff takes held-out rows in memory"
            )
        if not isinstance(self.cv, numbers.Integral):
            raise ValueError("X is a Dask collection, of which some rows choose: cv must be a number of folds")
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        rows, labels, weight, sizes = drawn(X, y, sample_weight, default.MOST, seed)
        known = self._fit(rows, np.array(labels), weight, None, pos_label)
        given = self.solver == "newton" or bool(self.l1) or self.l2 is not None
        share = 1.0 if given else max(min(default.MOST, n) / n for n in sizes.values())
        self.l1_, self.l2_ = share * self.l1_, share * self.l2_
        coded = code_rows(X, y, self.rankers_, weight=sample_weight, pos_label=self.classes_[1])
        added = self._added(True, None) | {"l1": self.l1_, "l2": self.l2_}
        t_max, tol = self.t_max or _T_MAX, default.TOL if self.solver == "auto" else 1e-10
        lam, trace = minimize_there(coded, p=self.p_, max_iter=t_max, tol=tol, push=self.push, **added)
        _warn_of_end(trace)
        lam, trace = followed(lam, trace)
        self._report(f"training: {trace._summary}")
        self.lam_, self.trace_, self.n_iter_ = lam, trace, trace.n_iter
        self._n_rows = sizes[self.classes_[1]], sizes[self.classes_[0]]
        self.separation_ = trace.separation
        assert trace.intercept is not None
        self._offset = -float(trace.intercept)
        f = self._score(known.X, strict=None)
        self._training_scores = fingerprint.of(f)
        self._recalibrate(known, f)
        self.threshold_ = self._uncut = self._offset
        self._proof = _Later(_not_here)
        self._explain_later(known)
        return self

    def _check(self) -> None:
        """Refuse parameters that are out of range, before the rows are read."""
        _checks.choice(self.solver, "solver", ("auto", "coordinate", "newton"))
        for name, check in (
            ("p", lambda p, name: _checks.several(p, name, _checks.power)),
            ("l1", _checks.nonnegative),
            ("l2", _checks.nonnegative),
        ):
            if getattr(self, name) is not None:
                check(getattr(self, name), name)
        if self.penalty is not None:
            _checks.choice(self.penalty, "penalty", ("coefficients", "shapes"))
        for name, least in (("t_max", 0), ("max_columns", 1)):
            if getattr(self, name) is not None:
                _checks.count(getattr(self, name), name, least)
        if isinstance(self.cv, numbers.Number):
            _checks.count(self.cv, "cv", 2)
        if not isinstance(self.verbose, bool):
            _checks.count(self.verbose, "verbose", 0)
        if self.linear is not None:
            _checks.lines(self.linear)
        if self.kinds is not None and not (isinstance(self.rankers, str | None) and self.rankers in (None, "table")):
            raise ValueError(
                "kinds is for rankers='table'; for others make a collection, as pnorm.rankers.from_table(..., "
                "kinds=...) does"
            )
        if self.missing is not None:
            if not (isinstance(self.rankers, str | None) and self.rankers in (None, "table")):
                raise ValueError("missing is for rankers='table'; for others replace these values with NaN or None")
            _words_for_missing(self.missing)
        if self.cutoff is not None:
            check_asked(self.cutoff, "cutoff")
            _checks.probability(self.validation_fraction, "validation_fraction")
        if self.early_stopping:
            _checks.count(self.n_iter_no_change, "n_iter_no_change", 1)

    @property
    def _penalised(self) -> bool:
        """Whether a minimiser is asked for."""
        return bool(self.l1) or any(x is not None for x in (self.l2, self.penalty, self.max_columns))

    def _why_rounds(self, X: Any, groups: Any) -> str | None:
        """Return what asks for rounds; None if nothing does."""
        if self.solver == "coordinate":
            return "solver='coordinate'"
        asked = {
            "t_max": self.t_max is not None,
            "early_stopping": bool(self.early_stopping),
            f"loss={shown(str(self.loss))}": not self._exponential,
            "groups": groups is not None,
            "X is sparse and": _checks.is_sparse(X) and not self._penalised,
            "an estimator as rankers": _is_estimator(self.rankers) and not isinstance(self.rankers, Rankers),
        }
        return next((name for name, does in asked.items() if does), None)

    def _one_power(self, why: str | None) -> float:
        """Return p for a run of which nothing is chosen; `why` asks for rounds."""
        found = _checks.several(self.p, "p", _checks.power)
        if len(found) > 1:
            run = why or f"solver={self.solver!r}"
            raise ValueError(f"p has {len(found)} numbers for cross-validation to choose from; {run} takes one")
        return found[0]

    def _added(self, newton: bool, why: str | None) -> dict[str, Any]:
        """Return what a minimiser is given beside the objective; refuse it where rounds are asked for."""
        added = {name: getattr(self, name) for name in ("l1", "l2", "penalty", "max_columns")}
        for name, value in added.items():
            if not newton and value not in (0.0, None, "coefficients"):
                got = repr(value) if isinstance(value, str) else f"{value:g}"
                raise ValueError(
                    f"{name} = {got} is for minimisers, solver='newton'; {why} asks for rounds, which regularise by "
                    "stopping early (t_max)"
                )
        penalty = default.PENALTY if self.solver == "auto" else "coefficients"
        given = {name: value for name, value in added.items() if value is not None}
        return {"l1": 0.0, "l2": 0.0, "penalty": penalty, "max_columns": None} | given

    def _choose(self, pos: Any, neg: Any, rows: _Rows, penalty: str) -> default.Chosen:
        """Choose what is None."""
        if self._is_table(rows.X) and not isinstance(self.rankers, Table):
            size = rows.positive.size, _checks.headings(rows.X, "X")[1]
            table = self._table(rows, None, default.cuts_of(size, self.n_cuts))
            kinds = default.kinds_of(table, size, self.linear)
        elif self.rankers is None:
            how: dict[str, Any] = {"names": self._names, "monotone": self.monotone, "linear": self.linear}
            kinds = default.kinds(pos, neg, n_cuts=self.n_cuts, n_threads=self._n_threads, **how)
        else:
            own = callable(self.rankers) and not isinstance(self.rankers, Rankers)
            kinds = {"": default.Kind(lambda pos, neg: self._weak_rankers(rows, pos, neg), "l2", own)}
        state = self.random_state
        seed = 0 if state is None else int(check_random_state(state).randint(2**31 - 1))
        weights = {name: c for name, c in rows.about().items() if name.endswith("weight")}
        more: dict[str, Any] = {"push": self.push, "penalty": penalty, "max_columns": self.max_columns}
        more |= {"group_weight": self.group_weight, "n_threads": self._n_threads}
        folds = self.cv if rows.fold is None else tuple([rows.fold[where] for where in rows.places])
        more |= {"p": self.p, "l1": self.l1, "l2": self.l2, "folds": folds}
        more["progress"] = self._report_fold if self.verbose else False
        return default.choose(pos, neg, kinds, seed=seed, judge=True, **weights, **more)

    def _labelled(self, X: Any, y: Any, sample_weight: Any, groups: Any, auto: bool, pos_label: Any) -> _Rows:
        """Return the rows of positive weight."""
        y = column_or_1d(y, warn=True)
        if _checks.is_columns(X):  # whose length is the number of columns
            check_consistent_length(np.empty(_checks.n_rows(X, "X")), y)
        else:
            check_consistent_length(X, y)
        if y.dtype.kind == "O" or (y.dtype.kind == "f" and np.isnan(y).any()):
            _checks.labels(y, "y", y.size)  # names the row without a label
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}: y has "
                f"{self.classes_.size} classes, {first([repr(label) for label in self.classes_.tolist()], 8)}. "
                f"{_two_of(self.classes_.tolist(), self.pos_label if pos_label is None else pos_label)}"
            )
        positive = codes == self._positive(pos_label)
        weight = _checks.masses(sample_weight, "sample_weight", y.size)
        if auto and weight is not None and weight.mean() < _LEAST_WEIGHT:
            warn(
                f"sample_weight has the mean {weight.mean():.3g}. A row of weight w counts as w copies, so the choice "
                f"of p and the penalty sees {weight.sum():.3g} rows in place of {y.size:,}. Divide the weights by "
                "their mean",
                UserWarning,
            )
        group = None if groups is None else _checks.labels(groups, "groups", y.size)[0]
        fold = _folds(self.cv, y if _checks.is_columns(X) else X, y, groups) if auto else None
        rows = _Rows(X, positive, weight, group, np.arange(y.size), fold)
        if weight is not None and not weight.all():
            rows = rows.take(np.flatnonzero(weight))
        if rows.positive.all() or not rows.positive.any():
            what = "y has one class" if self.classes_.size < 2 else "only one class has rows of positive sample_weight"
            raise ValueError(
                f"{what}, {shown(str(self.classes_[-int(rows.positive[0])]))}; two classes are needed to rank"
            )
        return rows

    def _positive(self, pos_label: Any) -> int:
        """Return the place of the positive label among the sorted ones, and set the classes in their order."""
        labels = self.classes_.tolist()
        pos_label = self.pos_label if pos_label is None else pos_label
        if pos_label is None:
            words = [label for label in labels if isinstance(label, str)]
            plain = plainly_positive(words) if len(words) == 2 else set()
            if plain and words[0] in plain:
                yes, no = map(shown, words)
                warn(
                    f"The labels {yes} and {no} mean positive and negative, so {yes} is the positive class. Scorers of "
                    f"scikit-learn such as 'roc_auc' take {no}, which sorts last: give them y == {words[0]!r}. Use "
                    f"PNormPush(pos_label={words[0]!r}) to confirm this",
                    UserWarning,
                )
                self.classes_ = self.classes_[::-1].copy()
                return 0
            if len(words) == 2 and not plain:
                other, taken = map(shown, words)
                warn(
                    f"{taken} is taken as the positive class, because it sorts after {other}. Use "
                    f"PNormPush(pos_label={words[1]!r}) to confirm this, or PNormPush(pos_label={words[0]!r}) for the "
                    "other class",
                    UserWarning,
                )
            return 1
        places = [k for k, label in enumerate(labels) if label == pos_label]
        if not places:
            raise ValueError(f"pos_label is {_checks.shown(pos_label)}, and the labels of y are {first(labels, 8)}")
        if places[0] == 0 and len(labels) == 2:
            self.classes_ = self.classes_[::-1].copy()
        return places[0]

    def _split(self, rows: _Rows, what: str, seed: int | None = None) -> tuple[_Rows, _Rows]:
        """Return rows to train on and rows to hold out: a share of either class, or of the groups that have both.

        Equal rows are on one side.
        """
        share = _checks.probability(self.validation_fraction, "validation_fraction")
        generator = check_random_state(self.random_state if seed is None else seed)
        if rows.group is None:
            units = units_of((rows.X,), rows.positive)
            of = np.arange(rows.positive.size) if units is None else units
            named = [f"rows of the class {shown(str(label))}" for label in self.classes_[::-1]]
            sides = zip(by_class(of, rows.positive), named, strict=True)
            chosen = [_some(generator, share, *side, what) for side in sides]
            out = np.isin(of, np.concatenate(chosen))
        else:
            mixed = np.intersect1d(rows.group[rows.positive], rows.group[~rows.positive])
            out = np.isin(rows.group, _some(generator, share, mixed, "groups with rows of both classes", what))
        return rows.take(np.flatnonzero(~out)), rows.take(np.flatnonzero(out))

    def _watch(self, rows: _Rows, H: Rankers, p: float) -> callbacks.EarlyStopping:
        metric = "partial_auc" if self.scoring is None else self.scoring
        more = {"push": self.push, "group_weight": self.group_weight, **rows.about()}
        if metric == "log_objective":
            more |= {"p": p, "loss": self.loss}
        elif not (isinstance(metric, str) and metric in callbacks.NAMES):
            metric = _Scored(self.classes_).measured_by(get_scorer(metric))
        pos, neg = rows.sides()
        return callbacks.early_stopping(pos, neg, metric, self.n_iter_no_change, H=H, n_threads=self._n_threads, **more)

    def _weak_rankers(self, rows: _Rows, pos: Any, neg: Any) -> Rankers:
        """Return the weak rankers that `rankers` specifies, for these training rows."""
        kind, monotone = self.rankers, self.monotone
        if kind is None:
            kind = "table" if self._is_table(rows.X) else "thresholds"
        word = kind if isinstance(kind, str) else ""
        if monotone and word not in ("table", *_OF_NUMBERS):
            raise ValueError(
                f"monotone is for rankers among {', '.join(map(repr, ('table', *_OF_NUMBERS)))}; for others make a "
                "collection with signs, as pnorm.rankers.thresholds(..., monotone=...) does"
            )
        if self.linear and word not in ("table", "thresholds"):
            raise ValueError(
                "linear is for rankers='table' and 'thresholds'; for others make a collection with lines, as "
                "pnorm.rankers.quantile_thresholds(..., linear=True) does"
            )
        if isinstance(kind, Rankers):
            return kind
        if isinstance(kind, str):
            _checks.choice(kind, "rankers", _WORDS)
            names = self._names
            if kind == "table":
                return self._table(rows, self.linear or False, self.n_cuts)
            if kind == "thresholds":
                return weak.quantile_thresholds(
                    pos,
                    neg,
                    self.n_cuts,
                    names=names,
                    missing="own",
                    monotone=monotone,
                    linear=self.linear or False,
                    n_threads=self._n_threads,
                )
            if kind == "categories":
                return weak.categories(pos, neg, missing="own")
            if kind == "normalized":
                return weak.normalized(pos, neg, names=names, monotone=monotone)
            return weak.columns(self.n_features_in_, names=names, monotone=monotone)
        if isinstance(kind, (list, tuple)):
            return weak.callables(kind)
        if _is_estimator(kind):
            return _of_estimator(kind, rows)
        if callable(kind) and not isinstance(kind, type):
            made = kind(pos, neg)
            if isinstance(made, Rankers):
                return made
            raise TypeError(f"rankers, called with the rows of both sides, must return a collection; got {made!r:.80}")
        raise TypeError(
            f"rankers must be one of {', '.join(map(repr, _WORDS))}, a collection made by pnorm.rankers, a function of "
            f"(pos, neg) that makes one, a list of functions, or a scikit-learn estimator; got {kind!r:.80}"
        )

    def _table(self, rows: _Rows, linear: Lines | None, n_cuts: int) -> Table:
        """Return the weak rankers of a table."""
        how: dict[str, Any] = {"kinds": self.kinds, "n_cuts": n_cuts, "monotone": self.monotone}
        return of_rows(rows.X, rows.positive, rows.number, "X", True, linear=linear, n_threads=self._n_threads, **how)

    # What it has learned -------------------------------------------------------------------------------

    def decision_function(self, X: Rows | Lazy) -> Any:
        """Score rows; the row with the largest score is the first of the list.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            The rows.

        Returns
        -------
        ndarray, shape (N,)
            f(x) minus `threshold_`. It is above 0 if `predict` returns the positive class, as scikit-learn expects.
            Compare it with 0, and not with `threshold_`: `choose_cutoff` and the option `cutoff` change `threshold_`,
            and so shift these values, all by the same number. The order of rows, `predict_proba` and `score_samples`
            stay the same. To compare scores from before and after the choice of a cut-off, use `score_samples`. If
            there is a `predict_proba` and no cut-off was chosen, ``slope_ * (1 + p_)`` times this is its logit.

        Raises
        ------
        ValueError, TypeError
            If X is not like the rows of `fit`.

        Warns
        -----
        UnknownLevelWarning
            If values of a column are not among the levels of `pnorm.rankers.categories`. If none of 20 or more values
            is, and they are text instead of numbers or the reverse, a ValueError is raised instead.
        """
        f: Any = self.score_samples(X)
        return f - self.threshold_

    def score_samples(self, X: Rows | Lazy) -> Vector | Lazy:
        """Score rows on a scale that no cut-off shifts, as `pnorm.score` does.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            The rows.

        Returns
        -------
        ndarray, shape (N,)
            f(x), which is ``decision_function(X) + threshold_``. It is the scale of `cutoff_`, of `explain`, and of
            ``score`` of the model that `pnorm.load` returns.

        Raises
        ------
        ValueError, TypeError
            If X is not like the rows of `fit`.

        Warns
        -----
        UnknownLevelWarning
            As in `decision_function`.

        Notes
        -----
        The detectors of outliers in scikit-learn use both names in this way: their ``decision_function`` is their
        ``score_samples`` minus a number that their ``predict`` needs.

        Examples
        --------
        >>> import numpy as np
        >>> import pnorm
        >>> from pnorm.sklearn import PNormPush
        >>> data = pnorm.datasets.tic_tac_toe()
        >>> model = PNormPush(p=4, t_max=100).fit(data.X[::2], data.y[::2])
        >>> new, y_new = data.X[1::2], data.y[1::2]
        >>> before = model.score_samples(new), model.decision_function(new)
        >>> _ = model.choose_cutoff(new, y_new, precision=0.8)
        >>> bool(np.array_equal(model.score_samples(new), before[0]))
        True
        >>> bool(np.array_equal(model.decision_function(new), before[1]))
        False
        """
        check_is_fitted(self)
        return self._score_dask(X) if _is_dask(X) else self._score(self._read(X, reset=False))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Rows | Lazy) -> Any:
        """Estimate the probabilities of the classes, as `pnorm.probability` does with the slope `slope_`.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            The rows.

        Returns
        -------
        ndarray, shape (N, 2)
            One column for each of `classes_`.

        Raises
        ------
        AttributeError
            After a fit with groups, or with a loss other than ``"exponential"``, which give no probabilities.
        ValueError, TypeError
            If X is not like the rows of `fit`.

        Warns
        -----
        SeparationWarning
            If nothing was chosen by cross-validation, and `separation_` is ``"separable"``: the penalty or the number
            of rounds then determines how far the probabilities are from 0 and 1. If it is ``"quasi-separable"``: the
            probabilities hold for some rows only. The class is in `pnorm.diagnostics`.

        Notes
        -----
        If `fit` chose parameters by cross-validation, its held-out rows correct the scale of the log odds (`slope_`).
        Otherwise overfitting, separable classes and early stopping make the probabilities too extreme or too moderate
        (page "Probabilities"), and ``sklearn.calibration.CalibratedClassifierCV`` recalibrates them. If
        only the probabilities count, compare with logistic regression.
        """
        check_is_fitted(self)
        assert self._offset is not None
        self._warn_of_separation()
        if _is_dask(X):
            from pnorm.dask._estimator import mapped

            of_scores = partial(_both_classes, p=self.p_, slope=self.slope_)
            return mapped(self._score_dask(X) - self._offset, of_scores, np.float64, 2)
        return _both_classes(self._score(self._read(X, reset=False)) - self._offset, self.p_, self.slope_)

    def _warn_of_separation(self) -> None:
        """Warn if the training rows, or held-out ones, do not determine the probabilities."""
        if self.slope_ != 1.0:
            return
        if self.separation_ == "quasi-separable":
            warn(
                "the training rows are quasi-separable: the probabilities hold for rows of the support only. Set l2 "
                "above 0, or recalibrate on rows that were not trained on",
                SeparationWarning,
            )
        if self.separation_ != "separable":
            return
        penalties = [f"{name} = {value:.4g}" for name, value in (("l1", self.l1_), ("l2", self.l2_)) if value]
        by = f"the penalty ({', '.join(penalties)})" if penalties else f"the end of training (n_iter_ = {self.n_iter_})"
        warn(
            f"the training rows are separable: {by} determines how far the probabilities are from 0 and 1. "
            "The order of the rows is not affected. Recalibrate on rows that were not trained on, or use the scores",
            SeparationWarning,
        )

    def predict(self, X: Rows | Lazy) -> Any:
        """Predict the classes, by `threshold_`, or by the cut-off `cutoff_`.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            The rows.

        Returns
        -------
        ndarray, shape (N,)
            Labels.

        Raises
        ------
        ValueError, TypeError
            If X is not like the rows of `fit`.

        Warns
        -----
        UserWarning
            If no cut-off meets the requirement. Then all rows are predicted to be negative.

        Notes
        -----
        A ranking is usually used without classes. `choose_cutoff` sets another threshold, with a guarantee.
        ``sklearn.model_selection.TunedThresholdClassifierCV`` and ``FixedThresholdClassifier`` set thresholds without
        a guarantee.
        """
        check_is_fitted(self)
        if _is_dask(X):
            from pnorm.dask._estimator import mapped

            found = partial(_labels_of, classes=self.classes_, threshold=self.threshold_, cut=self.cutoff_)
            return mapped(self._score_dask(X), found, self.classes_.dtype)
        f = self._score(self._read(X, reset=False))
        return _labels_of(f, self.classes_, self.threshold_, self.cutoff_)

    def score(self, X: Rows | Lazy, y: Labels, sample_weight: Weights | None = None) -> float:
        """Return the accuracy of `predict`, as all classifiers of scikit-learn do.

        It does not measure the ranking. For the top of the list, pass ``scoring=positives_at_top_scorer``, or a
        `scorer`, to a search or to ``cross_val_score``.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            The rows.
        y : array_like, shape (N,)
            Their labels.
        sample_weight : array_like, shape (N,), optional
            Case weights, zero or more.

        Returns
        -------
        float
            The share of rows whose label is predicted.

        See Also
        --------
        scorer : Scorers for measures of the top.
        pnorm.metrics : The measures, from the scores of `decision_function`.

        Examples
        --------
        >>> import pnorm
        >>> from pnorm.sklearn import PNormPush
        >>> data = pnorm.datasets.tic_tac_toe()
        >>> model = PNormPush(p=4, t_max=100).fit(data.X, data.y)
        >>> f = model.decision_function(data.X)
        >>> accuracy, top = model.score(data.X, data.y), pnorm.metrics.positives_at_top(*pnorm.split(f, data.y))
        >>> round(accuracy, 3), top
        (0.793, 424)
        """
        return float(super().score(X, y, sample_weight))

    def choose_cutoff(
        self,
        X: Rows,
        y: Labels,
        *,
        precision: float | None = None,
        budget: float | None = None,
        recall: float | None = None,
        of: float | None = None,
        at_least: float | None = None,
        prior: float | None = None,
        confidence: float = 0.95,
    ) -> Cutoff:
        """Choose the cut-off of `predict` on held-out rows, with a guarantee for new rows, as `pnorm.cutoff` does.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            Rows that were used neither in `fit` nor in any choice about the model.
        y : array_like, shape (N,)
            Their labels.
        precision : float, optional
            The smallest share of positives among the rows taken.
        budget : float, optional
            The number of rows of a list that are taken, on average. Hits are guaranteed, and the number of rows is not.
        recall : float, optional
            The smallest share of the positives that is taken.
        of : float, optional
            The number of rows of such a list; by default N.
        at_least : int or float, optional
            For a precision: the number of these rows, or the share of them, that is taken at least. The tests begin
            there. None begins them at the number of rows that has a tenth of the positives if they just have the
            precision, or where `pnorm.cutoff` does if that is deeper. The positives among these rows are expected from
            their share in the rows of `fit`, so that the guarantee holds.
        prior : float, optional
            The share of positives in new lists, if it differs from that of these rows.
        confidence : float
            The least probability, over the held-out rows, with which the guarantee holds; above 0 and below 1.

        Returns
        -------
        Cutoff
            The new value of `cutoff_`. `predict` takes the rows with ``decision_function(X) > 0``. If the score of the
            cut-off is None, no cut-off meets the requirement. `threshold_` is then that of `fit`, and `predict` warns
            and takes no row.

        Raises
        ------
        ValueError, TypeError
            If X is not like the rows of `fit`, y has other labels or only one, or the requirement is invalid.

        Warns
        -----
        UserWarning
            If no cut-off meets the requirement. The message has the bound that the nearest cut proves. Also if an
            earlier call since `fit` found none on as many rows, as further attempts on the same rows weaken the
            guarantee. The cut-off prints this as well, in a report and from a model file too. Also if some rows of X
            are probably rows of `fit`.

        Notes
        -----
        In scikit-learn `predict` takes the rows with `decision_function` above 0. Therefore a cut-off shifts
        `decision_function`: `threshold_` becomes the largest number below the score of the cut-off, and
        `decision_function` subtracts it. Do not compare it with `threshold_`, with the score of the cut-off, or with
        its own values from before the choice. `score_samples` stays the same, and is what `Cutoff.takes` expects.

        Examples
        --------
        >>> import pnorm
        >>> from pnorm.sklearn import PNormPush
        >>> from sklearn.model_selection import train_test_split
        >>> data = pnorm.datasets.tic_tac_toe()
        >>> X, X_new, y, y_new = train_test_split(data.X, data.y, random_state=0)
        >>> model = PNormPush(p=4, t_max=100).fit(X, y)
        >>> model.choose_cutoff(X_new, y_new, precision=0.8)
        <Cutoff for a precision of 0.8: a score of 3.75844 (decision_function above 0), 153 of 240 rows>
        >>> int(model.predict(X_new).sum()), int((model.decision_function(X_new) > 0).sum())
        (153, 153)
        >>> int((model.score_samples(X_new) >= model.cutoff_.score).sum())
        153
        """
        check_is_fitted(self)
        f = self._score(self._read(X, reset=False))
        asked = {"precision": precision, "budget": budget, "recall": recall}
        more = {"of": of, "at_least": at_least, "prior": prior, "confidence": confidence}
        if fingerprint.has_some(getattr(self, "_training_scores", ()), f):
            warn(
                "rows of X have the scores of rows of fit. A cut-off has a guarantee if it is chosen on rows that were "
                "not trained on: pass held-out rows",
                UserWarning,
            )
        found = self._cut(f, self._is_positive(y, X), **asked, **more)
        if found._is_further:
            warn(
                "an earlier call found no cut-off on as many rows. If these are the same rows, each further call adds "
                f"up to {1.0 - found.confidence:.3g} to the probability that the guarantee is broken. Use new labelled "
                "rows",
                UserWarning,
            )
        return found

    def _cut(self, f: Vector, positive: NDArray[np.bool_], **asked: Any) -> Cutoff:
        found = cutoff_of_model(f[positive], f[~positive], self._n_rows, **asked)
        self.threshold_ = self._uncut if found.score is None else zero_of(found.score)
        sizes = found.n_pos, found.n_neg
        self.cutoff_ = of_estimator(found, self.threshold_, self._failures.get(sizes, found) != found)
        if found.score is None:
            self._failures.setdefault(sizes, found)
            warn(f"predict will take no row: {found._none()}", UserWarning)
        return self.cutoff_

    def _score(self, X: Any, strict: bool | None = False) -> Vector:
        return scored(X, self.rankers_, self.lam_, self._n_threads, strict)

    def _score_dask(self, X: Any) -> Any:
        """Return the scores of rows of a Dask collection, in its partitions."""
        from pnorm.dask import score

        return score(X, self.rankers_, self.lam_)

    def _linear(self) -> tuple[Vector, float]:
        """Return slopes and offset of scores that are linear in the columns."""
        check_is_fitted(self)
        H = self.rankers_
        by_position = H._found is None  # or the columns of a frame, picked and ordered by their names
        if type(H) is _Columns and by_position:
            return self.lam_, 0.0
        if type(H) is _Normalized and by_position:
            (low, high), lam = H._to, self.lam_
            slopes = lam * ((high - low) / H._range)
            return slopes, float(low * lam.sum() - slopes @ H._low)
        raise AttributeError(
            "coef_ and intercept_ are for rankers='columns' and 'normalized'; look at lam_ and rankers_"
        )

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Slopes of `decision_function`, ``X @ coef_[0] + intercept_[0]``, for ``"columns"`` and ``"normalized"``.

        The shape is (1, d), as in scikit-learn's linear classifiers.
        """
        return self._linear()[0][None].copy()

    @property
    def intercept_(self) -> Vector:
        """Shape (1,); see `coef_`."""
        return np.array([self._linear()[1] - self.threshold_])

    @property
    def certificate_(self) -> diagnostics.Certificate:
        """A bound on the distance of the coefficients from the minimum on the training rows.

        It is that of `pnorm.diagnostics.certificate`, for the exponential loss. It is computed on first use from the
        rows of `fit`, to which the estimator keeps a reference; do not change them before. A pickle does not contain
        the rows, and contains the certificate only if it was computed before. The minimum is that of the penalised
        objective, within the signs of the weak rankers and, with `max_columns`, over the columns that have
        coefficients.
        """
        check_is_fitted(self)
        found: diagnostics.Certificate = self._proof.get("the certificate")
        return found

    # Reasons -------------------------------------------------------------------------------------------

    def explain(self, X: Rows, reference: Rows | None = None) -> Explanation:
        """Compute the contribution of each column to the scores of rows, as `pnorm.explain` does.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            The rows.
        reference : rows, or a single row, optional
            Rows, or a row, with which scores are compared. By default, it is the average negative of training, or with
            ``push="bottom"`` the average positive.

        Returns
        -------
        Explanation
            `contributions`, shape (N, columns), and `base`, which add up to ``score_samples(X)``.

        Raises
        ------
        ValueError, TypeError
            If X or the reference is not like the rows of `fit`.

        Notes
        -----
        The last step of a pipeline gets an array without names, and its reasons are such as ``x0 = 9``. Before `fit`,
        ``pipeline.set_output(transform="pandas")`` makes the other steps return a frame, whose names the reasons have.

        Examples
        --------
        >>> from pnorm.sklearn import PNormPush
        >>> X = {"visits": [0, 3, 1, 9, 7, 8], "town": ["Ulm", "Bonn", "Ulm", "Ulm", "Bonn", "Bonn"]}
        >>> model = PNormPush(p=1, l2=0.1, linear=True).fit(X, [0, 0, 0, 1, 1, 1])
        >>> model.explain(X).top(row=3)
        ['visits = 9 (+7.76)']
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        if reference is not None:
            return explain(rows, self.rankers_, self.lam_, reference=reference, n_threads=self._n_threads)
        average, row = self._means.get("reasons"), average_row(self.push)
        return beside_average(rows, self.rankers_, self.lam_, average, row, self._n_threads)

    def _average(self) -> tuple[Vector | None, str]:
        """Return what `explain` compares with, for a model file; None if it needs rows that are gone."""
        with contextlib.suppress(AttributeError, OverflowError):
            return self._means.get("reasons"), average_row(self.push)
        return None, ""

    def shapes(self, X: Rows | None = None) -> Shapes:
        """Return the contribution of each column to a score as a function of its value, as `pnorm.shapes` does.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d), optional
            Rows whose shares in each piece are added.

        Returns
        -------
        Shapes
            The columns, beginning with those of the largest effect. ``model.shapes()["age"]`` is one of them.

        Raises
        ------
        ValueError, TypeError
            If a weak ranker reads several columns, or X is not like the rows of `fit`.
        """
        check_is_fitted(self)
        if X is not None:
            return shapes(self.lam_, self.rankers_, self._read(X, reset=False))
        return Shapes(tuple(with_seen(shapes(self.lam_, self.rankers_).columns, getattr(self, "_seen", None))))

    def report_html(
        self, path: FilePath, X: Rows, y: Labels, *, training: tuple[Rows, Labels] | None = None, **more: Any
    ) -> None:
        """Write a report of the ranked list of held-out rows, as `pnorm.report_html` does.

        Parameters
        ----------
        path : str or path-like
            The file.
        X : array_like, data frame or dictionary of columns, shape (N, d)
            Rows that were held out of `fit`.
        y : array_like, shape (N,)
            Their labels.
        training : pair (rows, labels), optional
            The rows of `fit`, for a comparison with a linear model, logistic curves, boosted trees and the best column,
            and for the drift since then. Without them the page contains a line that the comparison is missing.
        **more : Any
            Other arguments of `pnorm.report_html`: ``ids``, ``others``, ``title`` and so on. The positive label, power,
            penalties, intercept, choice, trace, cut-off, and what reasons compare with are taken from the model.
            Without ``ids``, rows of a pandas frame are named by its index, unless this is 0, 1, 2, ...

        Raises
        ------
        ValueError, TypeError
            If X is not like the rows of `fit`, y has other labels or only one, or `pnorm.report_html` refuses another
            argument.
        OSError
            If the file cannot be written.
        """
        from pnorm._report.report import Beside, index_of, report_html

        check_is_fitted(self)
        _checks.path_first(path, "model.report_html(path, X, y)")
        rows, positive = self._read(X, reset=False), self._is_positive(y, X)
        if training is not None:
            X_fit, y_fit = _checks.two(training, "training must be a pair (X, y) of rows and labels")
            training = self._read(X_fit, reset=False), self._is_positive(y_fit, X_fit)
        known = {
            "ids": index_of(X),
            "training": Beside(training, *self._average(), of_command=False),
            "p": self.p_,
            "intercept": None if self._offset is None else -self._offset,
            "slope": self.slope_,
            "cross_validation": self.cross_validation_,
            "trace": self.trace_,
            "cutoff": self.cutoff_,
            "l1": self.l1_ or None,
            "l2": self.l2_ or None,
            "push": self.push,
            "progress": self._report_stage if self.verbose else False,
            "n_threads": self._n_threads,
        }
        report_html(path, rows, positive, self.rankers_, self.lam_, **known | more)

    def _is_positive(self, y: Any, X: Any) -> NDArray[np.bool_]:
        """Return which labels of new rows are the positive one; refuse labels that `fit` has not seen."""
        labels = column_or_1d(y)
        check_consistent_length(np.empty(_checks.n_rows(X, "X")), labels)
        odd = np.flatnonzero(~np.isin(labels, self.classes_))
        if odd.size:
            got = _checks.shown(_checks.python(labels[odd[0]]))
            raise ValueError(f"y has {got} at row {odd[0]}; the labels of fit are {first(self.classes_.tolist(), 2)}")
        return np.asarray(labels == self.classes_[1])

    @property
    def feature_importances_(self) -> Vector:
        """The range of each column's contribution to the scores on the training rows, not normalised.

        The shape is (d,), in the units of scores; it is 0 for a column that is not used. It is computed from the rows
        of `fit` on first use, or before the model is pickled. `pnorm.importance` measures what the top of the list
        loses without a column. Functions, leaves, and transformed columns have no importances, as these weak rankers do
        not read single columns.
        """
        check_is_fitted(self)
        found: Vector = self._ranges.get("the importances")
        return found


def _labels_of(f: Vector, classes: NDArray[Any], threshold: float, cut: Cutoff | None) -> NDArray[Any]:
    """Return the labels of rows by their scores."""
    above: NDArray[np.bool_] = f - threshold > 0.0 if cut is None else cut.takes(f)
    return np.asarray(classes[above.astype(np.intp)])


def _two_of(labels: Sequence[Any], pos_label: Any = None) -> str:
    """Return how to make two classes of more; `pos_label` is the positive one, if it was given."""
    forms: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            forms.setdefault(label.strip().lower(), []).append(label)
    alike = [some for some in forms.values() if len(some) > 1]
    pairs = "; ".join([" and ".join(map(repr, some)) for some in alike[:4]])
    if len(labels) - sum([len(some) - 1 for some in alike]) == 2:
        return f"Only case or spaces differ: {pairs}. Merge them with y = pandas.Series(y).str.strip().str.lower()"
    advice = "Pass y == LABEL, where LABEL is one of these, to rank the rows with this label above all others"
    if pos_label is not None:
        advice = f"pos_label is one of two labels. Pass y == {pos_label!r} to rank the rows with it above all others"
    return f"{advice}. Only case or spaces differ: {pairs}" if alike else advice


def _separated(f: Vector, positive: NDArray[np.bool_], group: NDArray[np.intp] | None) -> bool:
    """Return whether every positive scores above every negative of its group."""
    group = np.zeros(f.size, np.intp) if group is None else group
    lowest, highest = np.full((2, group.max() + 1), np.inf)
    np.minimum.at(lowest, group[positive], f[positive])
    np.minimum.at(highest, group[~positive], -f[~positive])
    return bool((lowest > -highest).all())


def _both_classes(f: Vector, p: float, slope: float) -> NDArray[np.float64]:
    """Return the probabilities of both classes from scores less those of probability 1/2."""
    return np.column_stack([sigmoid(side, p, 0.0, slope) for side in (-f, f)])


class _Later:
    """What is computed on request from rows that stay out of pickles, or with `keeps` before one is made."""

    def __init__(self, compute: Callable[[], Any] | None, found: Any = None, keeps: bool = False) -> None:
        self._compute, self._found, self._asking, self._keeps = compute, found, Lock(), keeps

    def get(self, what: str) -> Any:
        with self._asking:  # of many threads, one computes it
            if self._found is None:
                if self._compute is None:
                    verb = "need" if what.endswith("s") else "needs"
                    raise AttributeError(f"{what} {verb} the training rows, which a pickle does not contain; fit again")
                self._found, self._compute = self._compute(), None  # the rows can go
            return self._found

    def __getstate__(self) -> dict[str, Any]:
        if self._keeps and self._compute is not None:
            with contextlib.suppress(AttributeError, OverflowError):  # there is none
                self.get("a pickle")
        return {"found": self._found}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(None, state.get("found"))  # type: ignore[misc]


def _warn_of_end(trace: Trace) -> None:
    """Warn where the minimum is not proved, or there is none."""
    if trace.status == "max_iter" or (trace.direction is not None and trace.gap < np.inf):
        hint = "; l2 above 0 gives a minimiser" if trace.direction is not None else ""
        why = trace.message.partition(RANK_BY)[0]  # the model ranks rows so already
        warn(f"{why}{hint}", ConvergenceWarning)


def _is_dask(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _not_here() -> diagnostics.Certificate:
    raise AttributeError(
        "no certificate_ of rows in partitions: trace_.gap bounds the distance of the objective from its minimum"
    )


def _none() -> diagnostics.Certificate:
    raise AttributeError("there is a certificate for loss='exponential' only")


def _ranges_of(X: Any, H: Rankers, lam: Vector, n_features: int, n_threads: int) -> Vector:
    """Return the range of what each column of rows adds to scores."""
    tables = of_tables(H)
    places = [
        tables[c].table._parts[tables[c].place][0].column if c in tables else place  # type: ignore[union-attr]
        for c, place in enumerate(places_of(X, H))
    ]
    if any(place is None for place in places):
        raise AttributeError("feature_importances_ is for weak rankers that read single columns; look at lam_")
    sums: dict[Any, Vector] = {}
    for c, part, _ in each_part(X, H, lam, n_threads):
        sums[places[c]] = sums[places[c]] + part if places[c] in sums else part
    ranges = np.zeros(n_features)
    for place, part in sums.items():
        ranges[place] = np.ptp(part)
    return ranges


def _some(generator: Any, share: float, of: NDArray[np.intp], what: str, why: str) -> NDArray[np.intp]:
    """Draw a share of items at random: at least one, and not all."""
    if of.size < 2:
        raise ValueError(f"{why} holds out some {what}; there are {of.size}, and two at least are needed")
    drawn: NDArray[np.intp] = generator.permutation(of)[: min(max(round(share * of.size), 1), of.size - 1)]
    return drawn


def _for_cutoff(rows: _Rows) -> _Rows:
    """Refuse rows of which some can be held out for no cut-off."""
    if rows.group is not None:
        raise ValueError("cutoff is for one list; scores of different groups do not compare: fit without groups")
    if rows.weight is not None and (rows.weight != rows.weight[0]).any():
        raise ValueError(
            "cutoff counts rows, and sample_weight makes them count differently: leave one of them out, or use "
            "choose_cutoff on rows without weights"
        )
    return rows


def _certificate(
    rows: _Rows,
    H: Rankers,
    p: float,
    lam: Vector,
    push: str,
    group_weight: str,
    max_columns: int | None,
    **added: Any,
) -> diagnostics.Certificate:
    about = rows.about()
    of_rows = [about.get(f"{side}_{what}") for what in ("weight", "group") for side in ("pos", "neg")]
    pos, neg = rows.sides()
    how: dict[str, Any] = {"few": max_columns is not None, "push": push, "group_weight": group_weight, **added}
    return diagnostics._certificate_of_model(pos, neg, H, p, lam, *of_rows, **how)


def _folds(cv: Any, X: Any, y: Any, groups: Any) -> NDArray[np.intp] | None:
    """Return the fold in which each row is held out, -1 for none; None if a number of folds is wanted."""
    if isinstance(cv, numbers.Number):
        return None
    fold = np.full(y.size, -1)
    for k, split in enumerate(check_cv(cv, y, classifier=True).split(X, y, groups)):
        trained, held = (np.bincount(np.arange(y.size)[rows], minlength=y.size) for rows in split)
        if (fold[held > 0] >= 0).any() or (trained + held != 1).any():
            raise ValueError(
                f"cv must hold each row out once at most, and train on all the others; split {k} does not: try a "
                "number of folds, KFold or StratifiedKFold"
            )
        fold[held > 0] = k
    return fold


def _threshold(f: Vector, positive: NDArray[np.bool_], weight: Vector | None) -> float:
    """Return the threshold, half-way between two scores, with the largest balanced accuracy."""
    c = np.ones(f.size) if weight is None else weight
    levels, at = np.unique(f, return_inverse=True)
    if levels.size == 1:
        return float(levels[0])
    below = [np.cumsum(np.bincount(at, c * side, levels.size))[:-1] / c[side].sum() for side in (positive, ~positive)]
    merit = below[1] - below[0]  # negatives that are below a cut, less positives that are
    k = int(np.flatnonzero(merit >= merit.max() - 1e-12)[-1])
    low, high = float(levels[k]), float(levels[k + 1])
    middle = 0.5 * low + 0.5 * high
    return middle if middle < high else low


# Weak rankers from estimators -----------------------------------------------------------------------------


def _of_estimator(estimator: Any, rows: _Rows) -> Rankers:
    """Return leaves or transformed columns of an estimator; fit it on the rows first if necessary."""
    if not hasattr(estimator, "apply") and not hasattr(estimator, "transform"):
        raise TypeError(
            f"rankers must be an estimator with apply, trees, or with transform; {type(estimator).__name__} has neither"
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        known = rows.weight is not None and has_fit_parameter(estimator, "sample_weight")
        weight = {"sample_weight": rows.weight} if known else {}
        estimator = clone(estimator).fit(rows.X, rows.positive.astype(np.intp), **weight)
    return leaves(estimator, rows.X) if hasattr(estimator, "apply") else _Transformed(estimator, rows.X)


def leaves(trees: Any, X: Rows) -> Rankers:
    """Make one indicator per leaf of every tree: h(x) = 1 if x falls into the leaf, else 0.

    Parameters
    ----------
    trees : fitted estimator
        An object whose ``apply(X)`` returns the leaf of every row in every tree: scikit-learn's decision trees,
        random forests, `RandomTreesEmbedding` and gradient boosting (not its histogram-based one), XGBoost's
        estimators.
    X : array_like, shape (N, d)
        The training rows of both sides.

    Returns
    -------
    Rankers
        Tree by tree, the leaves into which rows of X fall; named like ``tree 2, leaf 17``. They are stored as codes
        of a byte or two per row and tree, not as columns, and cannot be written to JSON.

    Raises
    ------
    ValueError, TypeError
        If there is no `apply`, or a tree has 65,536 leaves or more.

    Notes
    -----
    Trees that were fitted on the labels of the training rows overfit them, and the edges of their leaves are too large.
    Fit such trees on other rows, keep them small, or stop early.

    Examples
    --------
    >>> import pnorm
    >>> from sklearn.ensemble import RandomTreesEmbedding
    >>> data = pnorm.datasets.tic_tac_toe()
    >>> trees = RandomTreesEmbedding(20, max_depth=4, random_state=0).fit(data.X)
    >>> H = pnorm.sklearn.leaves(trees, data.X)
    >>> lam, trace = pnorm.train(data.pos, data.neg, H, p=4)
    """
    if not callable(getattr(trees, "apply", None)):
        raise TypeError(f"trees must have a method apply; got {type(trees).__name__}")
    found = [np.unique(column) for column in _leaves_of(trees, X).T]
    for t, of_tree in enumerate(found):
        if of_tree.size >= LARGEST_FEATURE:
            raise ValueError(
                f"tree {t} has {of_tree.size} leaves; at most {LARGEST_FEATURE - 1} can be told apart: limit "
                "max_leaf_nodes or max_depth"
            )
    return _Leaves(trees, found)


def _leaves_of(trees: Any, X: Any) -> NDArray[np.intp]:
    """Return the leaf of every row in every tree, (N, T)."""
    found = np.asarray(trees.apply(X))
    return found.reshape(len(found), -1).astype(np.intp)


class _Leaves(_Categories):
    """Weak rankers with trees as columns and their leaves as levels."""

    def __init__(self, trees: Any, found: Sequence[NDArray[np.intp]]) -> None:
        names = [f"tree {t}, leaf {leaf}" for t, of_tree in enumerate(found) for leaf in of_tree]
        super().__init__(names, None, [of_tree.tolist() for of_tree in found], False)
        self._trees, self._leaves = trees, found

    _fields = Rankers._fields

    def _reads(self) -> list[tuple[Hashable, str]]:
        return [((id(self._trees), t), f"tree {t}") for t, of_tree in enumerate(self._leaves) for _ in of_tree]

    def _codes(self, X: Any, name: str, columns: Sequence[int]) -> list[tuple[NDArray[np.uint16], Any]]:
        codes, found = [], _leaves_of(self._trees, X)
        for t in columns:
            column, of_tree = found[:, t], self._leaves[t]
            at = np.minimum(np.searchsorted(of_tree, column), of_tree.size - 1)
            codes.append((np.where(of_tree[at] == column, at, of_tree.size).astype(np.uint16), None))
        return codes


class _Transformed(_Columns):
    """Weak rankers of the columns that a transformer returns."""

    def __init__(self, transformer: Any, X: Any) -> None:
        first = transformer.transform(_checks.rows(X, np.zeros(1, np.intp)))
        n = _checks.width(first, "what rankers.transform returns")
        try:
            names = [str(name) for name in transformer.get_feature_names_out()]
        except (AttributeError, ValueError):  # it has no names for its columns
            names = []
        super().__init__(names if len(names) == n else [f"x{j}" for j in range(n)], n, None)
        self._transformer = transformer

    _fields = Rankers._fields

    def _reads(self) -> list[tuple[Hashable, str]]:
        return [((id(self._transformer), j), name) for j, name in enumerate(self.names)]

    def _read(self, X: Any, name: str, seen: Any = None) -> Any:
        return super()._read(self._transformer.transform(X), f"{name}, transformed,", seen)

    def _terms(self, X: Any, lam: Vector) -> Any:
        return super()._terms(self._transformer.transform(X), lam)


# Scorers ----------------------------------------------------------------------------------------------


class _Scored(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    classes = model.classes if isinstance(model, _Scored) else getattr(model, "classes_", [])
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


def __dir__() -> list[str]:
    return __all__
