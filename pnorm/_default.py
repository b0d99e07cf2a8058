"""Default weak rankers, power and penalties, chosen by cross-validation.

`pnorm.sklearn.PNormPush` and the command use this module. The constants follow from ``benchmarks/additive.py``, which
compares kinds of weak rankers, powers, penalties and rules of choice on eight public data sets. Quoted names in the
comments are columns of its output.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from pnorm import _checks, rankers
from pnorm._checks import ONLY, CaseWeights, Lines, Vector
from pnorm._cross_validation import CrossValidation, cross_validate
from pnorm.metrics import Estimate
from pnorm.metrics._by_name import LARGER, scorer_of_lists, shared_rows
from pnorm.metrics._shares import platt_slope
from pnorm.rankers import Rankers
from pnorm.rankers._alike import deal, joined, near_copies, once, units_of
from pnorm.rankers._table import Table

LINES, BOTH, STEPS = "lines", "line + cuts", "steps"
"""Names of kinds of weak rankers, the simplest first."""

MADE: dict[str, tuple[Lines, str]] = {
    LINES: (ONLY, "l2"),
    BOTH: (True, "l2"),
    STEPS: (False, "l1"),
}
"""The lines of each kind, and the penalty that is compared along a path."""

TERMS = {BOTH: "lines with fine steps", STEPS: "step functions", LINES: "straight lines"}
"""Words for the terms of a score, by the kind of its weak rankers."""

OFFERED = (BOTH, STEPS, LINES)
"""The kinds that are compared: lines with fine steps, step functions, and straight lines. The first of equal ones is
chosen. Straight lines are for rows whose truth is straight (``benchmarks/straight.py`` at 096f0207). Four kinds and
five powers cost three times as much and are no better."""

N_CUTS = 255
"""Largest number of cuts of a column, as many as fit a byte. The penalty keeps the score smooth."""

POWERS = (1.0, 4.0)
"""Powers: without the push, and with it."""

L2 = 10.0 ** np.arange(0.0, -5.1, -0.5)
L1 = 10.0 ** np.linspace(-0.4, -4.0, 11)
"""Penalties divided by p, because log F_p and the best penalty grow with p. The best penalty lies inside this range,
except for nearly separable data."""

LEAST = 1e-5
"""l2 beside l1, divided by p: small enough to leave the steps to l1, and large enough for a fast certificate."""

PENALTY = "shapes"
"""The kind of penalty: one weight serves columns of any number of cuts."""

METRIC, SECOND_METRIC = "partial_auc", "average_precision"
"""The first measure selects all candidates near the best, and the second chooses among them. Each alone is worse on
some data: see the rows "by pAUC" and "by AP"."""

FOLDS = 5
"""Number of folds, as in the benchmark."""

CHOOSING, TOL = 1e-3, 1e-6
"""Tolerances of minimisers in nats: of those that are compared, and of the final one."""

MOST = 2**14
"""Largest number of rows of either side for the choice. The ratio of the sides changes log F_p only by a constant."""

WIDE = 65, 8
"""A table is wide if it has at least so many columns, and fewer rows than this for each column. For wide tables, only a
line with few cuts and strong penalties are compared: so few rows support no more, and 300 rows of 300 columns took four
minutes."""

_CUTS_OF_WIDE, _RANKERS_OF_WIDE = 31, 2**14
"""Largest number of cuts of a column of a wide table, and of all its columns."""

_ALONE, _ALONE_P, _ALONE_L2 = BOTH, 4.0, 0.1
"""Kind, p, and l2 divided by p, for a side of one row, of which none can be held out."""


class Kind(NamedTuple):
    """The maker of weak rankers from both sides, and the penalty that is compared along a path."""

    make: Callable[[Any, Any], Rankers]
    along: str
    anew: bool = False
    """Whether to make them from the training rows of each fold, as they may depend on the labels."""
    strong: bool = False
    """Whether to compare the stronger half of the penalties only."""


def kinds(pos: Any, neg: Any, *, names: Any = None, monotone: Any = None, **of_cuts: Any) -> dict[str, Kind]:
    """Return the kinds of weak rankers that two matrices allow. Constant columns cannot be cut."""
    of_columns = {"names": names, "monotone": monotone}
    size = _checks.n_rows(pos, "pos") + _checks.n_rows(neg, "neg"), _checks.width(pos, "pos")
    if not _checks.is_sparse(pos):
        low = np.minimum(np.min(pos, axis=0), np.min(neg, axis=0))
        high = np.maximum(np.max(pos, axis=0), np.max(neg, axis=0))
        if (low == high).all():
            return {LINES: Kind(partial(rankers.normalized, **of_columns), "l2", strong=is_wide(size))}
    of_cuts["n_cuts"] = cuts_of(size, of_cuts.get("n_cuts", N_CUTS))
    return _kinds(partial(rankers.quantile_thresholds, **of_cuts, missing="own", **of_columns), size)


def kinds_of_table(size: Size, **of_table: Any) -> dict[str, Kind]:
    """Return the kinds of weak rankers of a table of mixed columns; `of_table` are options of `rankers.from_table`."""
    of_table["n_cuts"] = cuts_of(size, of_table.get("n_cuts", N_CUTS))
    return _kinds(partial(rankers.from_table, **of_table), size)


def kinds_of(table: Table, size: Size) -> dict[str, Kind]:
    """Return the kinds of weak rankers of a table, for which those with lines and without were made from all rows."""
    return _kinds(lambda *_, linear: table.with_lines(linear), size)


def _kinds(make: Callable[..., Rankers], size: Size) -> dict[str, Kind]:
    """Return the kinds that are compared; `make` makes their weak rankers from both sides, with such lines."""
    return {
        name: Kind(partial(make, linear=MADE[name][0]), MADE[name][1], strong=is_wide(size))
        for name in ((BOTH,) if is_wide(size) else OFFERED)
    }


def is_wide(size: Size) -> bool:
    """Return whether a table has many columns and few rows for each column."""
    n_rows, n_columns = size
    least, of_each = WIDE
    return n_columns >= least and n_rows < of_each * n_columns


def cuts_of(size: Size, n_cuts: int = N_CUTS) -> int:
    """Return the number of cuts of a column, at most `n_cuts`."""
    return max(1, min(n_cuts, _CUTS_OF_WIDE, _RANKERS_OF_WIDE // size[1])) if is_wide(size) else n_cuts


Size = tuple[int, int]
"""Rows of a table, and columns."""


_CHANCE = 0.5
"""The mean of both measures over all orders of the rows."""

_CONFIDENCE = 0.99
"""Of both intervals. It is high because the setting is the best of many, and because there are two measures."""

STEEP, MANY, SPLIT = 0.2, 50, 0.25
"""The slope of held-out rows below which there may be copies, if there are so many rows of either class; and the share
of rows from which on given folds are said to split equal ones. Copies that were split had slopes of 0.01 to 0.26. None
of 138 simulated sets of independent rows is below 0.3, and a fit of the breast cancer data has 0.28."""

_ORDERS, _CELLS = (200, 1000), 2**22
"""Least and largest number of random orders, and the number of scores of all of them that is aimed at."""

_AT_ONCE = 2**17
"""Number of scores that are ordered at once."""


class Fold(NamedTuple):
    """The scores of the held-out rows of a fold, and their case weights."""

    pos: Vector
    neg: Vector
    pos_weight: Vector | None = None
    neg_weight: Vector | None = None


@dataclass(frozen=True)
class OutOfFold:
    """Two measures of the ranking of held-out rows by the chosen setting; means over the folds.

    Each measure is tested against 0.5, the value of a random order. `low` and `high` are the measure minus and plus
    half the width of the range that holds 99 % of random orders. They are no confidence interval of the measure: where
    the classes are far apart, the error is much smaller than that of a random order.

    Attributes
    ----------
    auc : Estimate
        The AUC.
    partial_auc : Estimate
        The partial AUC down to the first ten negatives of a fold, or the first 1 % of them, standardised.
    slope : float or None
        The factor that corrects the log odds, by Platt's method: their coefficient in a logistic regression of the
        labels, with an intercept for each fold. The labels of n positives and m negatives are (n + 1)/(n + 2) and
        1/(m + 2), so the slope is finite. Below 1, the scores are too extreme; above 1, they are too close to their
        average. If need be, it is raised until the standard deviation of the log odds is 0.01, so that their order is
        kept. None if all scores are equal.
    """

    auc: Estimate
    partial_auc: Estimate
    slope: float | None = None

    @property
    def beats_chance(self) -> bool:
        """Whether one of the measures is above the range of a random order: its `low` is above 0.5."""
        return self.auc.low > _CHANCE or self.partial_auc.low > _CHANCE

    @property
    def verdict(self) -> str:
        """The comparison with random orders in words: better, better by one measure only, or not shown to be."""
        by_auc, by_partial = self.auc.low > _CHANCE, self.partial_auc.low > _CHANCE
        if not self.beats_chance:
            return "not shown to be better than a random order"
        better = "better than a random order"
        if by_auc and by_partial:
            return better
        names = ("AUC", "partial AUC") if by_auc else ("partial AUC", "AUC")
        return f"{better} by {names[0]}; not shown to be by {names[1]}"

    def __str__(self) -> str:
        """Return both measures, with the range of a random order."""
        told: list[str] = []
        for name, value in (("AUC", self.auc), ("partial AUC", self.partial_auc)):
            half = max(value - value.low, value.high - value)  # the ends are cut at 0 and 1
            low, high = max(0.0, _CHANCE - half), min(1.0, _CHANCE + half)
            of = "" if told else f"{100 * value.confidence:g} % of random orders: "
            told.append(f"{name} {value:.3f} ({of}{low:.3f} to {high:.3f})")
        return ", ".join(told)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The parameters of the final minimiser, given or chosen."""

    rankers: Rankers
    kind: str
    p: float
    l1: float
    l2: float
    cross_validation: CrossValidation | None
    """None if nothing had to be chosen, or no row can be held out."""
    alone: bool = False
    """Whether something had to be chosen and a side has one row."""
    out_of_fold: OutOfFold | None = None
    """Measures of held-out rows with this choice, if asked for and chosen by cross-validation."""
    copied: str = ""
    """Why held-out rows may be copies of training rows, in words; empty if nothing says so."""

    @property
    def slope(self) -> float:
        """The factor of the log odds that held-out rows give; 1 without them."""
        held = self.out_of_fold
        return 1.0 if held is None or held.slope is None else held.slope

    @property
    def told(self) -> str:
        """A description of what is minimised."""
        penalties = [f"{name} = {value:.4g}" for name, value in (("l1", self.l1), ("l2", self.l2)) if value]
        return ", ".join([self.kind or "the weak rankers", f"p = {self.p:g}", *penalties])


def choose(
    pos: Any,
    neg: Any,
    kinds: Mapping[str, Kind],
    *,
    p: float | Sequence[float] | None = None,
    l1: float | None = None,
    l2: float | None = None,
    folds: Any = FOLDS,
    seed: int = 0,
    pos_weight: Any = None,
    neg_weight: Any = None,
    sizes: Size | None = None,
    judge: Any = False,
    units: Any = None,
    metric: Any = None,
    **how: Any,
) -> Chosen:
    """Choose the parameters that are None, and p and the kind if there are several, by cross-validation of minimisers.

    All rows have positive weight. `folds` is the number of folds, or the fold of each row of either side. The number is
    reduced to the number of rows of a side. A fold has equal rows as a whole, and rows that have the same number in
    `units`, which has numbers for either side. If there are many rows, a sample is drawn. Cuts are placed by the whole
    sample, including held-out rows, as they do not depend on the labels. Penalties that a sample has chosen are divided
    for all rows: see "a third chooses, penalties / 3". `sizes` are the numbers of rows of both sides if the given rows
    are themselves a sample. With `judge`, one more run of each fold measures held-out rows by the choice, beside a
    random order. A `metric` takes the
    place of both measures. `how` are options of `cross_validate`.
    """
    powers = list(POWERS) if p is None else _checks.several(p, "p", _checks.power)
    given = bool(l1) or l2 is not None
    if given or l1 is not None:
        of_l2 = [name for name, kind in kinds.items() if kind.along == "l2"]
        kinds = {name: kinds[name] for name in (of_l2[:1] if given else of_l2)}  # one penalty does not suit two kinds
    rng = np.random.default_rng(seed)
    to_deal = isinstance(folds, numbers.Integral)
    more = [(None, None) if x is None else x for x in (None if to_deal else folds, units)]
    of_sides = zip((pos, neg), (pos_weight, neg_weight), *more, strict=True)
    rows, weights, drawn, units = zip(*[_drawn(rng, *of_side) for of_side in of_sides], strict=True)
    n_drawn, n_given = [[_checks.n_rows(X, "X") for X in of_sides] for of_sides in (rows, (pos, neg))]
    share = max(some / every for some, every in zip(n_drawn, n_given if sizes is None else sizes, strict=True))
    found, judged, copied, is_open = None, None, "", len(powers) > 1 or not given or len(kinds) > 1
    if is_open and not (to_deal and min(folds, *n_drawn) == 1):
        made = {name: kind.make if kind.anew else kind.make(*rows) for name, kind in kinds.items()}
        positive = np.repeat([True, False], n_drawn)
        alike = units_of(rows, positive, next(iter(made.values())))
        if to_deal:
            ids = None if units[0] is None else np.concatenate(units)
            dealt = deal(positive, min(folds, *n_drawn), rng, joined(alike, ids))
            drawn = dealt[positive], dealt[~positive]
        paths = {name: _paths(kind.along, l1, l2, kind.strong) for name, kind in kinds.items()}
        of_kinds: list[Any] = [made, *[{name: path[i] for name, path in paths.items()} for i in (0, 1)]]
        H, of_l1, of_l2 = of_kinds if len(kinds) > 1 else [next(iter(values.values())) for values in of_kinds]
        found = cross_validate(
            rows[0],
            rows[1],
            H,
            powers,
            l1=of_l1,
            l2=of_l2,
            folds=drawn,
            metric=METRIC if metric is None else metric,
            second_metric=SECOND_METRIC if metric is None else None,
            seed=rng,
            pos_weight=weights[0],
            neg_weight=weights[1],
            tol=CHOOSING,
            **how,
        )
        best = found.best
        name = best.kind or next(iter(kinds))
        if judge:
            weighted, first = {"pos_weight": weights[0], "neg_weight": weights[1]}, once(alike, n_drawn)
            judged = _judged(rows, made[name], found, first, **weighted, **how)
            found = replace(found, _out_of_fold=judged)
            copied = _copied(rows, made[name], found.folds, alike, first, judged)
        power, l1, l2 = best.p, *[x if given else share * x for x in (best.l1, best.l2)]
        H = made[name]
        if isinstance(H, Rankers) and rows[0] is pos and rows[1] is neg:
            return Chosen(H, name, power, l1, l2, found, out_of_fold=judged, copied=copied)
    else:
        name = _ALONE if _ALONE in kinds else next(iter(kinds))
        power = _ALONE_P if p is None else powers[0]
        l1, l2 = [path(power) for path in _paths("l2", l1, l2 if given else _ALONE_L2 * power)]
    alone = is_open and found is None
    return Chosen(kinds[name].make(pos, neg), name, power, l1, l2, found, alone, judged, copied)


def _judged(
    rows: Any, H: Any, found: CrossValidation, first: Any, *, push: str = "top", progress: Any = None, **how: Any
) -> OutOfFold:
    """Measure held-out rows by the choice of a cross-validation, on its folds. Equal rows count once, the `first`."""
    folds: list[Fold] = []
    best = found.best

    def keep(f_pos: Vector, f_neg: Vector, pos_weight: Any = None, neg_weight: Any = None) -> float:
        folds.append(Fold(f_pos, f_neg, pos_weight, neg_weight))
        return 0.0

    how |= {"l1": best.l1, "l2": best.l2, "folds": found.folds, "metric": keep, "tol": CHOOSING, "push": push}
    with warnings.catch_warnings():  # all was said before
        warnings.simplefilter("ignore")
        cross_validate(rows[0], rows[1], H, best.p, **how)
    masks = [[own[number == k] for own, number in zip(first, found.folds, strict=True)] for k in range(len(folds))]
    some = [Fold(fold.pos[pos], fold.neg[neg]) for fold, (pos, neg) in zip(folds, masks, strict=True)]
    return out_of_fold(some, sum([int(own.sum()) for own in first]), push, best.p, folds)


def _copied(rows: Any, H: Any, folds: Any, alike: Any, first: Any, judged: OutOfFold) -> str:
    """Say why held-out rows may be copies of training rows; "" if nothing says so."""
    if alike is not None:
        number = np.concatenate(folds)
        low, high = np.full(alike.max() + 1, number.max()), np.full(alike.max() + 1, -1)
        np.minimum.at(low, alike, number)
        np.maximum.at(high, alike, number)
        if (low < high)[alike].mean() >= SPLIT:
            return "the given folds have equal rows in training and held out"
    some = [_checks.rows(X, np.flatnonzero(own)) for X, own in zip(rows, first, strict=True)]
    side = near_copies(some, H)
    if side is not None:
        return f"many {('positive', 'negative')[side]} rows are near copies of others, as synthetic rows are"
    many = min([int(own.sum()) for own in first]) >= MANY
    if many and judged.beats_chance and judged.slope is not None and judged.slope < STEEP:
        return f"the scores are far too extreme for the held-out rows: their slope is {judged.slope:.2g}"
    return ""


def _paths(
    along: str, l1: float | None, l2: float | None, strong: bool = False
) -> tuple[Callable[[float], Any], Callable[[float], Any]]:
    """Return both penalties as functions of p: the given ones, or a path along one of them."""
    n = L2.size // 2 + 1 if strong else L2.size
    if along == "l1":
        return lambda p: p * L1[:n], lambda p: p * LEAST
    if not l1 and l2 is None:
        return lambda p: 0.0, lambda p: p * L2[:n]
    return lambda p: l1 or 0.0, lambda p: p * LEAST if l2 is None else l2


def _drawn(rng: np.random.Generator, X: Any, *of_rows: Any) -> tuple[Any, ...]:
    """Return rows with their weights and folds, or a random sample of them."""
    n = _checks.n_rows(X, "X")
    if n <= MOST:
        return X, *of_rows
    where = np.sort(rng.choice(n, MOST, replace=False))
    return _checks.rows(X, where), *[None if x is None else x[where] for x in of_rows]


def out_of_fold(
    folds: Sequence[Fold], n_rows: int, push: str, p: float, every: Sequence[Fold] | None = None
) -> OutOfFold:
    """Measure the scores of held-out rows of folds, of `n_rows` rows in all. 1 + p times these are log odds.

    The slope is that of `every` row, copies included, which are no more evidence of a signal.

    The standard error is that of random orders of the rows of each fold, times a factor. Folds share training rows, so
    their measures are correlated even if no column is related to the labels: each pair of rows from different folds
    counts twice. The factor is that of Nadeau and Bengio, the root of 1 + F r for F folds and the ratio r of held-out
    rows to training rows. For all rows in 5 folds it is 1.5. The error is too large where the classes are far apart,
    which does not change the verdict. A t interval of the best mean over the folds, with this factor, is worse founded.
    Of 150 sets of 60 rows without signal, it called 16 better than chance, and this rule none
    (``benchmarks/chance.py`` at 096f0207).
    """
    sides = [(-fold.neg, -fold.pos) if push == "bottom" else (fold.pos, fold.neg) for fold in folds]
    n_held = sum([pos.size + neg.size for pos, neg in sides])
    orders = int(np.clip(_CELLS // n_held, *_ORDERS))
    rng = np.random.default_rng(0)
    measure = scorer_of_lists([LARGER["auc"], LARGER["partial_auc"]], CaseWeights(None, None, None, None, 0))
    found, by_chance = np.zeros(2), np.zeros((2, orders))
    for pos, neg in sides:
        f, n_pos = np.concatenate([pos, neg]), pos.size
        found += measure(pos[None], neg[None])[:, 0]
        at_once = max(1, _AT_ONCE // f.size)
        for start in range(0, orders, at_once):
            some = rng.permuted(np.tile(f, (min(at_once, orders - start), 1)), axis=1)
            by_chance[:, start : start + at_once] += measure(some[:, :n_pos], some[:, n_pos:])
    n = len(sides)
    wide = float(ndtri(0.5 + 0.5 * _CONFIDENCE)) * shared_rows(n, n_held, n_rows) * by_chance.std(axis=1) / n
    low, high = np.maximum(found / n - wide, 0.0), np.minimum(found / n + wide, 1.0)
    ends = zip((found / n).tolist(), low.tolist(), high.tolist(), strict=True)
    auc, partial_auc = [Estimate(*end, _CONFIDENCE) for end in ends]
    slope = platt_slope(folds if every is None else every)
    return OutOfFold(auc, partial_auc, None if slope is None else slope / (1.0 + p))
