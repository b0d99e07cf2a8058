"""The estimator."""

from __future__ import annotations

import contextlib
import numbers
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from pnorm import _checks, diagnostics
from pnorm import _default as default
from pnorm import rankers as weak
from pnorm._categories import warn
from pnorm._checks import FilePath, GroupLabels, Label, Labels, Lazy, Lines, Rows, Vector, Weights
from pnorm._checks.labelled import plainly_positive
from pnorm._checks.text import counted, first, shown
from pnorm._cutoff import Cutoff, check_asked, cutoff_of_model
from pnorm._minimize import minimize
from pnorm._reasons import fingerprint
from pnorm._reasons.explain import Explanation, average_row, beside_average, explain, means_of
from pnorm._reasons.shapes import Shapes, seen_values, shapes, with_seen
from pnorm._score import intercept_by_mean, scored
from pnorm._trace import NoSignalWarning, SeparationWarning, followed
from pnorm._train import train
from pnorm.metrics._by_name import LARGER
from pnorm.rankers import Rankers, _Columns, _Normalized
from pnorm.rankers._alike import by_class, units_of
from pnorm.rankers._from_table import of_rows
from pnorm.rankers._table import Table, told_of_suspects
from pnorm.sklearn._fitted import (
    Later,
    balanced_threshold,
    both_classes,
    certificate,
    labels_of,
    no_certificate,
    not_here,
    ranges_of,
    separated,
    warn_of_end,
)
from pnorm.sklearn._leaves import of_estimator
from pnorm.sklearn._rows import (
    LabelledRows,
    has_dates,
    is_array,
    is_estimator,
    tags,
    validated,
    without_words,
    words_for_missing,
)
from pnorm.sklearn._scorers import Scored

_OF_NUMBERS = ("thresholds", "columns", "normalized")
"""Weak rankers that need a matrix of numbers; all others get the rows unchanged."""

_P, _T_MAX = 4.0, 200
"""The power, and the largest number of rounds or steps, where nothing is said or chosen."""

_HELD_OUT = 0.1
"""The share of either class on which `cutoff` is chosen."""

_LEAST_WEIGHT = 0.1
"""The mean of case weights below which they are hardly copies of rows, but shares."""

_WORDS = ("table", *_OF_NUMBERS, "categories")


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
    - For an exact model of your own: `rankers`, `l1`, `l2` and `max_columns`.
    - For rounds of boosting: `t_max`, and for another objective: `loss` and `group_weight`.
    - For another choice among the candidates: `cv` and `scoring`.

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
        then holds out a tenth of the rows of either class, trains on the others, and chooses the cut-off on the
        held-out rows. Give ``"at_least"`` as a share, such as ``{"precision": 0.8, "at_least": 0.2}``. `choose_cutoff`
        chooses it on other rows. Only `predict` uses it; scores stay as they are.
    monotone : mapping from column to 1 or -1, optional
        Columns, by name or number from 0, with which scores never fall (1) or never rise (-1). It applies to the
        rankers None, ``"table"``, ``"thresholds"``, ``"columns"`` and ``"normalized"``; a collection has its own signs.
    push : {"top", "bottom"}
        The end of the list that is to be most accurate. As in `pnorm.train`. With ``"bottom"``, a measure that
        `scoring` names is that of the list read from below. A scorer of scikit-learn gets the list unchanged.
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
    l1, l2 : float, optional
        Weights of the penalty ``l1 |lam|_1 + l2/2 |lam|**2`` of the minimiser: zero or more, and `l2` at least 1e-140
        if above zero. The penalty is by ``"shapes"``, as in `pnorm.minimize`. If both are None, one of them is chosen;
        with `l1` = 0 it is `l2`. Beside an `l1` above 0, `l2` is 1e-5 p if it is None, which makes the minimiser
        unique.
    max_columns : int, optional
        Largest number of columns whose weak rankers have coefficients. As in `pnorm.minimize`. It applies to
        minimisers.
    cv : int, splitter or iterable
        The folds by which parameters are chosen: their number, two or more (reduced to the number of rows of a class if
        that is smaller), a splitter of scikit-learn, or pairs of training and test rows. Each row is held out once at
        most. All rows that are not held out are trained on. Of a number of folds, each has equal rows as a whole; a
        splitter may divide them.
    t_max : int, optional
        Number of rounds of boosting (`pnorm.train`), which regularise by ending early. None computes the minimiser
        (`pnorm.minimize`), and chooses parameters that are None by cross-validation. With groups, a `loss` other than
        ``"exponential"``, an estimator as `rankers`, or sparse rows, nothing is chosen: there are 200 rounds, unless
        `l1`, `l2` or `max_columns` asks for the minimiser.
    scoring : str, callable or None
        The measure of held-out rows by which the cross-validation chooses: a name in `pnorm.cross_validate`, or a
        scorer of scikit-learn, or its name, that uses `decision_function`. None is the partial AUC down to the first
        ten negatives, or the first 1 % of them if that is more, and the average precision among the best.
    loss : str or Loss
        The cost of a pair whose scores differ by z. As in `pnorm.train`.
    group_weight : {"pairs", "equal"}
        How much each query group counts. As in `pnorm.train`.
    random_state : int, RandomState or None
        Seed for the rows that are held out. None holds the same ones out in every fit.
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
        The chosen kind of weak rankers: ``"line + cuts"``, ``"steps"`` or ``"lines"``; None with rounds, or if
        `rankers` other than ``"table"`` were given.
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
        The score that `decision_function` subtracts, above which `predict` returns the positive class if there is no
        cut-off. It is the score of probability 1/2. If `slope_` is 1, that is minus the intercept of `trace_`. With
        groups, or another loss, there are no probabilities. It is then the score with the largest balanced accuracy on
        the rows of `fit`, half-way between two scores, and the highest one if several tie. Balanced accuracy gives both
        classes the same weight. If positives are rare, `predict` then flags many more rows than there are positives:
        465 for 40 of 4,000, for example. Use `cutoff` or `choose_cutoff` to take rows by
        precision, recall or a number of rows.
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
        The number of rounds, or steps, that lead to `lam_`.
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
    The page "Choose p, rounds and penalties" describes how parameters are chosen. The candidates are a line
    and 255 cuts of each column, cuts in few steps, or a line alone; p = 1 or 4; and 11 penalties. The measure is the
    partial AUC down to the first ten negatives, or the first 1 % of them if that is more. Of all candidates within one
    standard error of the best, the one with the largest average precision is chosen and minimised over all rows. Among
    equals, as on separable rows, lines with cuts come first, then cuts, then the smaller p and the larger penalty.
    Given parameters are not chosen: with ``p=4`` only weak rankers and penalty are. With `l2` the weak rankers are
    lines with cuts. If a class has more than 16,384 rows, as many are drawn for the choice. If a class has one row,
    none can be held out, and lines and cuts with p = 4 and l2 = 0.4 are used.

    Rows with a `sample_weight` of w count as w copies, and those of weight zero as absent. Equal rows are held out
    together, as in `pnorm.cross_validate`, so w copies choose what the weight w chooses. (If a column has more than
    256 values, its cuts are placed by rows, without regard to weights.) With `groups`, a label per row, pairs
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
        l1: float | None = None,
        l2: float | None = None,
        max_columns: int | None = None,
        cv: Any = 5,
        t_max: int | None = None,
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
        self.l1 = l1
        self.l2 = l2
        self.max_columns = max_columns
        self.cv = cv
        self.t_max = t_max
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
        return self.rankers == "categories" if isinstance(self.rankers, str) else is_estimator(self.rankers)

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
        if is_estimator(self.rankers):
            sparse, missing = tags(self.rankers)
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
            found = _checks.no_number(X, "X") if not _checks.is_sparse(X) and has_dates(X) else None
            if found is not None:
                raise TypeError(found)
            _checks.stay_apart([X], "X")
            how = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan" if missing else True}
        else:
            if not _checks.is_sparse(X) and not hasattr(X, "__getitem__"):
                X = np.asarray(X)
            if not self._reads_tables or not is_array(X):
                _checks.n_rows(X, "X")
                return validated(self, X, *y, reset=reset, skip_check_array=True)
            how = {"dtype": None, "ensure_all_finite": False}
        if _checks.is_sparse(X) and X.dtype.kind in "bui":
            X = _checks.summing(X)
        try:
            return validated(self, X, *y, reset=reset, accept_sparse=["csr", "csc"] if sparse else False, **how)
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
            return validated(self, X, *y, reset=reset, skip_check_array=True)
        n_rows = _checks.n_rows(X, "X")
        if not reset:
            return X
        checked = validated(self, np.broadcast_to(0.0, (n_rows, len(X))), *y, reset=True, skip_check_array=True)
        self.feature_names_in_ = np.array([str(name) for name in X], dtype=object)
        return (X, *checked[1:]) if y else X

    @property
    def _n_threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _seed(self) -> int:
        """Return a seed; of a generator given as `random_state` it is another one each time."""
        return 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))

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
            If the minimum is not proved, or there is none since the data are quasi-separable and `l2` is 0 (see
            `pnorm.minimize`). Rows are then ranked by ``trace_.lam_along()``.
        """
        self._check()
        if _is_dask(X):
            if self.missing is not None:
                raise ValueError("missing is for rows in memory; in a frame of Dask, replace these values with None")
            return self._fit_dask(X, y, sample_weight, groups)
        self._fit(X, y, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> LabelledRows:
        """Train on rows in memory, and return those that were trained on."""
        X, y = self._read(X, y, reset=True)
        lacking = () if self.missing is None else words_for_missing(self.missing)
        X = without_words(X, lacking) if lacking else X
        rounds, fixed = self._asks_for_rounds(X, groups)
        auto = not rounds and not fixed
        known = self._labelled(X, y, sample_weight, groups, auto)
        to_cut = None
        if self.cutoff is not None:
            known, to_cut = self._split(_for_cutoff(known))

        pos, neg = known.sides()
        self._report(f"{known.positive.sum():,} positive and {(~known.positive).sum():,} negative rows to train on")
        chosen = self._choose(pos, neg, known) if auto else None
        if chosen is None:
            H = self._weak_rankers(known, pos, neg)
            p, kind, found = _P if self.p is None else self._one_power(rounds or fixed), None, None
            added = self._penalties(p)
        else:
            H, p, kind, found = chosen.rankers, chosen.p, chosen.kind or None, chosen.cross_validation
            added = self._penalties(p) | {"l1": chosen.l1, "l2": chosen.l2}
            self._report(f"{'chosen' if found is not None else 'taken'}: {chosen.told}")
            if chosen.alone:
                warnings.warn(f"a class has one row, which cannot be held out: {chosen.told}", stacklevel=2)
        about = {"push": self.push, "group_weight": self.group_weight, **known.about()}
        how = dict(p=p, loss=self.loss, n_threads=self._n_threads, **about)
        if rounds:
            lam, trace = train(pos, neg, H, t_max=_T_MAX if self.t_max is None else self.t_max, **how)
        else:
            lam, trace = minimize(pos, neg, H, max_iter=_T_MAX, tol=default.TOL, **added, **how)
            warn_of_end(trace)
        lam, trace = followed(lam, trace)
        self._report(f"training: {trace._summary}")

        self.rankers_, self.trace_ = H.with_missing(lambda _: lacking) if isinstance(H, Table) else H, trace
        self._n_rows = int(known.positive.sum()), int((~known.positive).sum())
        self.p_, self.l1_, self.l2_ = float(p), float(added["l1"]), float(added["l2"])
        self.kind_, self.cross_validation_ = kind, found
        self.out_of_fold_ = None if chosen is None else chosen.out_of_fold
        self.lam_, self.n_iter_ = lam, trace.n_iter
        self._offset = None if trace.intercept is None else -float(trace.intercept)
        self.slope_ = 1.0 if chosen is None else chosen.slope
        f = self._score(known.X, strict=None)
        self._training_scores = fingerprint.of(f)
        if self._offset is not None:
            self._recalibrate(known, f)
        self.threshold_ = balanced_threshold(f, known.positive, known.weight) if self._offset is None else self._offset
        self.cutoff_: Cutoff | None = None
        self._failures: dict[tuple[int, int], Cutoff] = {}  # the first cut-off that was not found, by numbers of rows
        if to_cut is not None:
            assert self.cutoff is not None
            self._cut(self._score(to_cut.X), to_cut.positive, **self.cutoff)
            self._report(f"cut-off: {str(self.cutoff_).splitlines()[0]}")
        proved = partial(certificate, known, H, p, self.lam_, self.push, self.group_weight, **added)
        self._proof = Later(proved if self._exponential else no_certificate)
        self._explain_later(known)
        self._judge()
        if chosen is not None and chosen.copied:
            warn(
                f"{chosen.copied}. Held-out rows that are copies of training rows do not show what new rows are like, "
                "and what they choose may overfit. Fit without copies, and give sample_weight, as a row of weight w "
                "counts as w copies",
                UserWarning,
            )
        self.separation_ = "separable" if separated(f, known.positive, known.group) else trace.separation
        if self.separation_ == "separable":
            self._report("the score separates the classes of the training rows")
        return known

    def _recalibrate(self, rows: LabelledRows, f: Vector) -> None:
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

    def _explain_later(self, known: LabelledRows) -> None:
        """Keep the rows until ranges and averages of them are asked for."""
        d = getattr(self, "n_features_in_", 0)  # rows need not have columns
        of_model = self.rankers_, self.lam_
        self._ranges = Later(partial(ranges_of, known.X, *of_model, d, self._n_threads), keeps=True)
        self._seen = Later(partial(seen_values, known.X, *of_model, known.weight), keeps=True)
        average = known.take(known.places[0 if self.push == "bottom" else 1])
        self._means = Later(partial(means_of, average.X, *of_model, average.weight, self._n_threads), keeps=True)

    def _fit_dask(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> PNormPush:
        """Choose by some rows of a Dask collection, and minimise over all of them where they lie."""
        from pnorm.dask import code_rows
        from pnorm.dask import minimize as minimize_there
        from pnorm.dask._estimator import drawn

        why = next(filter(None, (*self._asks_for_rounds(X, groups), self.cutoff and "cutoff")), None)
        if why is not None:
            raise ValueError(
                f"X is a Dask collection, over which PNormPush minimises: {why} is for rows in memory; "
                "pnorm.dask.train runs rounds, and choose_cutoff takes held-out rows in memory"
            )
        if not isinstance(self.cv, numbers.Integral):
            raise ValueError("X is a Dask collection, of which some rows choose: cv must be a number of folds")
        rows, labels, weight, sizes = drawn(X, y, sample_weight, default.MOST, self._seed())
        known = self._fit(rows, np.array(labels), weight, None)
        given = bool(self.l1) or self.l2 is not None
        share = 1.0 if given else max(min(default.MOST, n) / n for n in sizes.values())
        self.l1_, self.l2_ = share * self.l1_, share * self.l2_
        coded = code_rows(X, y, self.rankers_, weight=sample_weight, pos_label=self.classes_[1])
        added = self._penalties(self.p_) | {"l1": self.l1_, "l2": self.l2_}
        lam, trace = minimize_there(coded, p=self.p_, max_iter=_T_MAX, tol=default.TOL, push=self.push, **added)
        warn_of_end(trace)
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
        self.threshold_ = self._offset
        self._proof = Later(not_here)
        self._explain_later(known)
        return self

    def _check(self) -> None:
        """Refuse parameters that are out of range, before the rows are read."""
        for name, check in (
            ("p", lambda p, name: _checks.several(p, name, _checks.power)),
            ("l1", _checks.nonnegative),
            ("l2", _checks.nonnegative),
        ):
            if getattr(self, name) is not None:
                check(getattr(self, name), name)
        for name, least in (("t_max", 0), ("max_columns", 1)):
            if getattr(self, name) is not None:
                _checks.count(getattr(self, name), name, least)
        if isinstance(self.cv, numbers.Number):
            _checks.count(self.cv, "cv", 2)
        if not isinstance(self.verbose, bool):
            _checks.count(self.verbose, "verbose", 0)
        if self.kinds is not None and not (isinstance(self.rankers, str | None) and self.rankers in (None, "table")):
            raise ValueError(
                "kinds is for rankers='table'; for others make a collection, as pnorm.rankers.from_table(..., "
                "kinds=...) does"
            )
        if self.missing is not None:
            if not (isinstance(self.rankers, str | None) and self.rankers in (None, "table")):
                raise ValueError("missing is for rankers='table'; for others replace these values with NaN or None")
            words_for_missing(self.missing)
        if self.cutoff is not None:
            check_asked(self.cutoff, "cutoff")

    def _asks_for_rounds(self, X: Any, groups: Any) -> tuple[str, str]:
        """Return what asks for rounds, and what leaves nothing to be chosen; empty if nothing does."""
        penalties = [
            f"{name} = {x:g}" for name in ("l1", "l2", "max_columns") if (x := getattr(self, name)) is not None
        ]
        minimises = bool(self.l1) or self.l2 is not None or self.max_columns is not None
        if self.t_max is not None:
            if minimises:
                raise ValueError(
                    f"{penalties[-1]} is for the minimiser; t_max asks for rounds, which regularise by stopping early"
                )
            return "t_max", ""
        asked = {
            f"loss={shown(str(self.loss))}": not self._exponential,
            "groups": groups is not None,
            "X is sparse and": _checks.is_sparse(X) and not minimises,
            "an estimator as rankers": is_estimator(self.rankers) and not isinstance(self.rankers, Rankers),
        }
        why = next((name for name, does in asked.items() if does), "")
        return ("", why) if minimises else (why, "")

    def _one_power(self, why: str) -> float:
        """Return p for a run of which nothing is chosen, and `why` not."""
        found = _checks.several(self.p, "p", _checks.power)
        if len(found) > 1:
            raise ValueError(f"p has {len(found)} numbers for cross-validation to choose from; {why} takes one")
        return found[0]

    def _penalties(self, p: float) -> dict[str, Any]:
        """Return what a minimiser is given beside the objective, where nothing is chosen."""
        l1, l2 = self.l1 or 0.0, self.l2
        if l2 is None:
            l2 = default.LEAST * p if l1 else 0.0
        return {"l1": l1, "l2": l2, "penalty": default.PENALTY, "max_columns": self.max_columns}

    def _choose(self, pos: Any, neg: Any, rows: LabelledRows) -> default.Chosen:
        """Choose what is None."""
        if self._is_table(rows.X) and not isinstance(self.rankers, Table):
            size = rows.positive.size, _checks.headings(rows.X, "X")[1]
            kinds = default.kinds_of(self._table(rows, None, default.cuts_of(size, default.N_CUTS)), size)
        elif self.rankers is None:
            how: dict[str, Any] = {"names": self._names, "monotone": self.monotone}
            kinds = default.kinds(pos, neg, n_threads=self._n_threads, **how)
        else:
            own = callable(self.rankers) and not isinstance(self.rankers, Rankers)
            kinds = {"": default.Kind(lambda pos, neg: self._weak_rankers(rows, pos, neg), "l2", own)}
        seed = self._seed()
        weights = {name: c for name, c in rows.about().items() if name.endswith("weight")}
        more: dict[str, Any] = {"push": self.push, "penalty": default.PENALTY, "max_columns": self.max_columns}
        more |= {"group_weight": self.group_weight, "n_threads": self._n_threads}
        folds = self.cv if rows.fold is None else tuple([rows.fold[where] for where in rows.places])
        more |= {"p": self.p, "l1": self.l1, "l2": self.l2, "folds": folds, "metric": self._metric()}
        more["progress"] = self._report_fold if self.verbose else False
        return default.choose(pos, neg, kinds, seed=seed, judge=True, **weights, **more)

    def _labelled(self, X: Any, y: Any, sample_weight: Any, groups: Any, auto: bool) -> LabelledRows:
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
                f"{_two_of(self.classes_.tolist(), self.pos_label)}"
            )
        positive = codes == self._positive()
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
        rows = LabelledRows(X, positive, weight, group, np.arange(y.size), fold)
        if weight is not None and not weight.all():
            rows = rows.take(np.flatnonzero(weight))
        if rows.positive.all() or not rows.positive.any():
            what = "y has one class" if self.classes_.size < 2 else "only one class has rows of positive sample_weight"
            raise ValueError(
                f"{what}, {shown(str(self.classes_[-int(rows.positive[0])]))}; two classes are needed to rank"
            )
        return rows

    def _positive(self) -> int:
        """Return the place of the positive label among the sorted ones, and set the classes in their order."""
        labels = self.classes_.tolist()
        pos_label = self.pos_label
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

    def _split(self, rows: LabelledRows) -> tuple[LabelledRows, LabelledRows]:
        """Return rows to train on, and a share of either class to hold out for the cut-off; equal rows are together."""
        generator = check_random_state(0 if self.random_state is None else self.random_state)
        units = units_of((rows.X,), rows.positive)
        of = np.arange(rows.positive.size) if units is None else units
        some = [
            _some(generator, of_class, shown(str(label)))
            for of_class, label in zip(by_class(of, rows.positive), self.classes_[::-1], strict=True)
        ]
        out = np.isin(of, np.concatenate(some))
        return rows.take(np.flatnonzero(~out)), rows.take(np.flatnonzero(out))

    def _metric(self) -> Any:
        """Return `scoring` as a measure of both sides, or its name."""
        if self.scoring is None or (isinstance(self.scoring, str) and self.scoring in LARGER):
            return self.scoring
        return Scored(self.classes_).measured_by(get_scorer(self.scoring))

    def _weak_rankers(self, rows: LabelledRows, pos: Any, neg: Any) -> Rankers:
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
        if isinstance(kind, Rankers):
            return kind
        if isinstance(kind, str):
            _checks.choice(kind, "rankers", _WORDS)
            names = self._names
            if kind == "table":
                return self._table(rows, False, default.N_CUTS)
            if kind == "thresholds":
                how: dict[str, Any] = {"names": names, "monotone": monotone, "n_threads": self._n_threads}
                return weak.quantile_thresholds(pos, neg, default.N_CUTS, missing="own", **how)
            if kind == "categories":
                return weak.categories(pos, neg, missing="own")
            if kind == "normalized":
                return weak.normalized(pos, neg, names=names, monotone=monotone)
            return weak.columns(self.n_features_in_, names=names, monotone=monotone)
        if isinstance(kind, (list, tuple)):
            return weak.callables(kind)
        if is_estimator(kind):
            return of_estimator(kind, rows)
        if callable(kind) and not isinstance(kind, type):
            made = kind(pos, neg)
            if isinstance(made, Rankers):
                return made
            raise TypeError(f"rankers, called with the rows of both sides, must return a collection; got {made!r:.80}")
        raise TypeError(
            f"rankers must be one of {', '.join(map(repr, _WORDS))}, a collection made by pnorm.rankers, a function of "
            f"(pos, neg) that makes one, a list of functions, or a scikit-learn estimator; got {kind!r:.80}"
        )

    def _table(self, rows: LabelledRows, linear: Lines | None, n_cuts: int) -> Table:
        """Return the weak rankers of a table."""
        how: dict[str, Any] = {"kinds": self.kinds, "n_cuts": n_cuts, "monotone": self.monotone}
        return of_rows(rows.X, rows.positive, rows.number, "X", True, linear=linear, n_threads=self._n_threads, **how)

    # What it has learned -------------------------------------------------------------------------------

    def decision_function(self, X: Rows | Lazy) -> Vector | Lazy:
        """Score rows; the row with the largest score is the first of the list.

        Parameters
        ----------
        X : array_like, data frame or dictionary of columns, shape (N, d)
            The rows.

        Returns
        -------
        ndarray, shape (N,)
            f(x) minus `threshold_`: above 0 if `predict` returns the positive class and there is no cut-off. No cut-off
            changes it. If there is a `predict_proba`, ``slope_ * (1 + p_)`` times this is its logit.

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
        found: Vector | Lazy = f - self.threshold_
        return found

    def score_samples(self, X: Rows | Lazy) -> Vector | Lazy:
        """Score rows as `pnorm.score` does, without a threshold.

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

        Examples
        --------
        >>> import numpy as np
        >>> import pnorm
        >>> from pnorm.sklearn import PNormPush
        >>> data = pnorm.datasets.tic_tac_toe()
        >>> model = PNormPush(p=4, t_max=100).fit(data.X, data.y)
        >>> f = model.score_samples(data.X)
        >>> bool(np.array_equal(f, pnorm.score(data.X, model.rankers_, model.lam_)))
        True
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
        Otherwise overfitting, separable classes and few rounds make the probabilities too extreme or too moderate
        (page "Probabilities"), and ``sklearn.calibration.CalibratedClassifierCV`` recalibrates them. If
        only the probabilities count, compare with logistic regression.
        """
        check_is_fitted(self)
        assert self._offset is not None
        self._warn_of_separation()
        if _is_dask(X):
            from pnorm.dask._estimator import mapped

            of_scores = partial(both_classes, p=self.p_, slope=self.slope_)
            return mapped(self._score_dask(X) - self._offset, of_scores, np.float64, 2)
        return both_classes(self._score(self._read(X, reset=False)) - self._offset, self.p_, self.slope_)

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
        """Predict the classes, by the cut-off `cutoff_`, or by `threshold_` if there is none.

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
        A ranking is usually used without classes. `choose_cutoff` chooses a cut-off with a guarantee.
        ``sklearn.model_selection.TunedThresholdClassifierCV`` and ``FixedThresholdClassifier`` set thresholds without
        a guarantee.
        """
        check_is_fitted(self)
        if _is_dask(X):
            from pnorm.dask._estimator import mapped

            found = partial(labels_of, classes=self.classes_, threshold=self.threshold_, cut=self.cutoff_)
            return mapped(self._score_dask(X), found, self.classes_.dtype)
        f = self._score(self._read(X, reset=False))
        return labels_of(f, self.classes_, self.threshold_, self.cutoff_)

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
            The new value of `cutoff_`. `predict` takes the rows with ``score_samples(X) >= cutoff_.score``. If the
            score of the cut-off is None, no cut-off meets the requirement, and `predict` warns and takes no row.

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

        Examples
        --------
        >>> import pnorm
        >>> from pnorm.sklearn import PNormPush
        >>> from sklearn.model_selection import train_test_split
        >>> data = pnorm.datasets.tic_tac_toe()
        >>> X, X_new, y, y_new = train_test_split(data.X, data.y, random_state=0)
        >>> model = PNormPush(p=4, t_max=100).fit(X, y)
        >>> model.choose_cutoff(X_new, y_new, precision=0.8)
        <Cutoff for a precision of 0.8: a score of 3.75844, 153 of 240 rows>
        >>> int(model.predict(X_new).sum()), int((model.score_samples(X_new) >= model.cutoff_.score).sum())
        (153, 153)
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
        if found.after_a_failure:
            warn(
                "an earlier call found no cut-off on as many rows. If these are the same rows, each further call adds "
                f"up to {1.0 - found.confidence:.3g} to the probability that the guarantee is broken. Use new labelled "
                "rows",
                UserWarning,
            )
        return found

    def _cut(self, f: Vector, positive: NDArray[np.bool_], **asked: Any) -> Cutoff:
        found = cutoff_of_model(f[positive], f[~positive], self._n_rows, **asked)
        sizes = found.n_pos, found.n_neg
        self.cutoff_ = replace(found, after_a_failure=self._failures.get(sizes, found) != found)
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
        >>> model = PNormPush(p=1, l2=0.1).fit(X, [0, 0, 0, 1, 1, 1])
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


def _is_dask(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _some(generator: Any, of: NDArray[np.intp], label: str) -> NDArray[np.intp]:
    """Draw a share of the rows of a class at random: at least one, and not all."""
    if of.size < 2:
        raise ValueError(
            f"cutoff holds out some rows of the class {label}; there are {of.size}, and two at least are needed"
        )
    drawn: NDArray[np.intp] = generator.permutation(of)[: min(max(round(_HELD_OUT * of.size), 1), of.size - 1)]
    return drawn


def _for_cutoff(rows: LabelledRows) -> LabelledRows:
    """Refuse rows of which some can be held out for no cut-off."""
    if rows.group is not None:
        raise ValueError("cutoff is for one list; scores of different groups do not compare: fit without groups")
    if rows.weight is not None and (rows.weight != rows.weight[0]).any():
        raise ValueError(
            "cutoff counts rows, and sample_weight makes them count differently: leave one of them out, or use "
            "choose_cutoff on rows without weights"
        )
    return rows


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
