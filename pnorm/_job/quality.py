"""Measures of a list on held-out rows, beside other lists of the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, ndtri

from pnorm import _checks
from pnorm._checks import Vector
from pnorm.metrics import Roc, ScoreTable
from pnorm.metrics._by_name import by_chance, first_negatives
from pnorm.metrics._distinct import DistinctScores
from pnorm.metrics._distinct import Measure as OfCounts
from pnorm.metrics._estimates import Estimate, moved
from pnorm.metrics._heights import _at_top
from pnorm.metrics._merged import MergedList
from pnorm.metrics._rank_sums import _average
from pnorm.metrics._ranked_list import (
    _BLOCK,
    PLACES,
    PartialAuc,
    RankedList,
    _Side,
    estimates,
    estimates_by_place,
    grouped_places,
)
from pnorm.metrics._roc import _auc
from pnorm.metrics._shares import Calibration, FirstRows, calibration, calibration_slope, first_rows
from pnorm.metrics._shares import hits as _hits
from pnorm.metrics._shares import share as _share

_PAIRED = 256
"""Places of either list where both are resampled together: pairs of places are what is counted then."""

_RESAMPLES = 1000

_BEYOND = 4
"""Resamples beyond each end of the interval of a difference, at least."""

_COMPARED = 10
"""Rows of a class that a comparison with another list needs. With two to four positives, three of 20 files of pure
noise were called worse than another list."""

_RANK_TEST = 20
"""Rows of a class below which a rank test decides as well whether a list is better than a random order."""

_FIRST = 50
"""First rows whose probabilities are compared with what happened, at least."""

_DEPTHS, _POINTS = 60, 400
"""Points of curves by depth, and of ROC curves."""


class Measure(NamedTuple):
    """One number about a list."""

    name: str
    """In words: ``"precision in the first 100"``."""
    key: str
    """``"precision"``, ``"lift"``, ``"recall"`` or ``"hits"`` of the first rows; ``"positives_at_top"``,
    ``"partial_auc"``, ``"average_precision"`` or ``"auc"``."""
    depth: int | None
    """The number of first rows, if it is a measure of those."""
    value: Estimate
    """The value for this list, with an interval."""
    others: tuple[float, ...]
    """The same of the other lists, in the order of `Quality.lists`."""
    chance: float
    """The mean for a list in random order."""


class Difference(NamedTuple):
    """The difference between this list and another one, with an interval from the same rows.

    The intervals of all differences of a `Quality` hold jointly with its confidence.
    """

    name: str
    """The measure in words."""
    other: str
    """The other list."""
    value: Estimate
    """The measure of this list less that of the other one."""
    depth: int
    """The number of first rows."""


class FirstProbabilities(NamedTuple):
    """The probabilities of the first rows beside the positives among them."""

    rows: int
    """The number of first rows."""
    expected: float
    """The sum of their probabilities."""
    positives: Estimate
    """The positives among them, with the interval of Clopper and Pearson, as the scores are given. Rows that tie share
    their places.
    """
    of_test: bool = True
    """Whether they are known to be rows of a test."""


class ByDepth(NamedTuple):
    """Hits among the first rows, for charts."""

    rows: NDArray[np.intp]
    """Depths, from 1 to all rows, closer together at the top."""
    hits: Vector
    """Positives among so many first rows. Where scores tie, rows share their places in equal parts."""
    low: Vector
    """Lower ends of intervals."""
    high: Vector
    """Upper ends."""
    others: tuple[Vector, ...]
    """Hits of the other lists."""


@dataclass(frozen=True, eq=False)
class Quality:
    """The measures of a list on held-out rows. `quality` returns it.

    With ``push="bottom"`` the list is read from below, where negatives belong: hits are negatives, the first rows are
    the last, and the name of each measure says so.
    """

    n_pos: int
    """I, positives held out."""
    n_neg: int
    """K, negatives held out."""
    confidence: float
    """The confidence of each interval of a measure, and the joint confidence of the intervals of all differences."""
    push: str
    """The end of the list from which it is read: ``"top"`` or ``"bottom"``."""
    lists: tuple[str, ...]
    """Names of the other lists."""
    depths: tuple[int, ...]
    """Numbers of first rows that are measured."""
    main: int
    """The one of them to look at first: the budget, or the largest up to a fifth of the number of hits."""
    measures: tuple[Measure, ...]
    """All measures, those of the first rows before those of the whole list."""
    difference: Difference | None
    """The precision in the first `main` rows less that of the first other list; further down, if the first rows of both
    are all hits, or none is."""
    averages: tuple[Difference, ...]
    """The average precision less that of each other list; none from tables of scores."""
    by_depth: ByDepth
    """Hits among the first rows for many depths."""
    roc: tuple[Roc, ...]
    """ROC curves in counts, at most 400 points of each: of this list, and of the others. From below, negatives are the
    true positives, as they are what is found."""
    calibration: Calibration | None
    """Predicted probabilities beside what happened; None without probabilities."""
    slope: Estimate | None = None
    """The calibration slope: the coefficient of the logit of the probabilities in a logistic regression of the labels,
    with Wald's interval. Below 1 the probabilities are too extreme. None without probabilities, or if they separate."""
    further: tuple[Difference, ...] = ()
    """The precision in first rows less that of each list after the first other one, chosen as for `difference`."""
    first_probabilities: FirstProbabilities | None = None
    """The sum of the probabilities of the first rows beside the positives among them; None without probabilities."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences of precision, one for each other list; none from tables of scores."""
        return () if self.difference is None else (self.difference, *self.further)

    @property
    def beats_chance(self) -> bool:
        """True if the interval of the headline, the partial AUC or the AUC lies above the value of a random order.

        With fewer than 20 rows of a class, a bootstrap interval is too narrow. Then the AUC or the partial AUC counts
        only if a rank test rejects a random order at the same confidence.
        """
        headline, auc = self.headline, self.measure("auc")
        if headline.value.low > headline.chance:
            return True
        if not any(measure.value.low > measure.chance for measure in (auc, self.measure("partial_auc"))):
            return False
        if min(self.n_pos, self.n_neg) >= _RANK_TEST:
            return True
        spread = math.sqrt((self.n_pos + self.n_neg + 1) / (12.0 * self.n_pos * self.n_neg))
        return float(auc.value) - 0.5 > float(ndtri(0.5 + 0.5 * self.confidence)) * spread

    @property
    def compares(self) -> bool:
        """True if there are enough rows of either class to say whether another list is better."""
        return min(self.n_pos, self.n_neg) >= _COMPARED

    def has_interval(self, measure: Measure) -> bool:
        """Return whether the interval of a measure is close to its confidence, so that it may be shown.

        The positives above every negative depend on one negative. Their bootstrap interval is too short: in
        ``benchmarks/intervals.py`` it holds the mean over lists in 83 to 92 %.
        """
        return measure.key != "positives_at_top"

    @property
    def share(self) -> float:
        """The share of hits in all rows: of positives, or from below of negatives."""
        return (self.n_neg if self.push == "bottom" else self.n_pos) / (self.n_pos + self.n_neg)

    @property
    def headline(self) -> Measure:
        """The precision in the first `main` rows."""
        return self.measure("precision", self.main)

    def measure(self, key: str, depth: int | None = None) -> Measure:
        """Return a measure by its key; of those of first rows, at a depth, by default `main`."""
        known = {measure.key: measure.depth is not None for measure in self.measures}
        _checks.choice(key, "key", known)
        if known[key]:
            depth = self.main if depth is None else depth
        found = [measure for measure in self.measures if (measure.key, measure.depth) == (key, depth)]
        if not found:
            of = f"depths {', '.join(map(str, self.depths))}" if known[key] else "the whole list, without a depth"
            raise ValueError(f"{key} is measured for {of}; got depth {depth}")
        return found[0]


def quality(
    f_pos: Any,
    f_neg: Any,
    others: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    depths: Sequence[int] | None = None,
    budget: int | None = None,
    push: str = "top",
    probability: tuple[Any, Any] | None = None,
    n_listed: int = 0,
    of_test: bool = True,
    confidence: float = 0.95,
    seed: Any = 0,
) -> Quality:
    """Measure a list by rows held out, with intervals, beside other lists of the same rows.

    `f_pos` (I,) and `f_neg` (K,) are scores; `others` has those of the same rows in the same order by other means, by
    name, and `probability` predicted probabilities of being positive, as a pair. `depths` are numbers of first rows: by
    default 10, 100, 1000, ... up to a fifth of the rows, and the number of positives if it is none of these, about. A
    `budget` is a depth as well, and the main one. The probabilities of the first 50 rows are compared with the
    positives among them; of the first `n_listed` if these are more. `of_test` is whether the rows are known to be held
    out of training.

    All intervals of measures are for rows that are drawn with their classes. Precision and hits have those of
    `first_rows`, recall and lift those of `recall_ends`. ``benchmarks/intervals.py`` counts how often they hold. The
    intervals of the whole list are from a bootstrap of all rows, which draws the number of positives as well. Those of
    the differences are from a stratified one: the lists share the number of positives, and it largely cancels. Both are
    expanded; the AUC has its own interval (see `pnorm.metrics`).

    Words such as "better" are derived from two differences to each other list. The interval of each difference misses
    with a probability of 1 - `confidence`, divided by their number (`one_of_several`). By Bonferroni's inequality, all
    hold with the `confidence`. ``benchmarks/comparisons.py`` counts wrong words.

    A `ScoreTable` may stand for both sides, with None for `f_neg`. The difference to another list is
    None then, as a table does not say which rows the lists have in common.

    The cost is O(N log N) for N = I + K, and 1000 resamples of at most `PLACES` places each; with
    four other lists or more, more for the differences. It is a ValueError if a
    side is empty, another list has other rows, or a depth is not from 1 to N.
    """
    push, sure = _checks.push(push), _checks.probability(confidence, "confidence")
    rng = _checks.generator(seed)
    lists = {"": (f_pos, f_neg)} | dict(others or {})
    read = [_sides(name, *sides) for name, sides in lists.items()]
    n_pos, n_neg = _sizes(read[0])
    for name, sides in zip(lists, read, strict=True):
        if _sizes(sides) != (n_pos, n_neg):
            got_pos, got_neg = _sizes(sides)
            raise ValueError(
                f"others[{_checks.shown(name)}] must score the same rows, {n_pos} positives and {n_neg} negatives; got "
                f"{got_pos} and {got_neg}"
            )
    if push == "bottom":  # negatives are what is looked for
        read = [sides.from_below() if isinstance(sides, ScoreTable) else (-sides[1], -sides[0]) for sides in read]
    ranked = [_ranked(sides) for sides in read]
    n_hits, n = (n_neg if push == "bottom" else n_pos), n_pos + n_neg
    chosen = _depths(depths, budget, n, n_hits)
    main = int(budget) if budget is not None else max([k for k in chosen if 5 * k <= n_hits], default=chosen[0])

    of_list = _of_list(n - n_hits)
    curve = np.union1d(_grid(n, _DEPTHS), chosen)
    of = [measure for measure, _ in of_list.values()]
    most = [float(n_hits) if key == "positives_at_top" else 1.0 for key in of_list]
    found = _estimates(ranked[0], of, most, sure, rng)
    by_depth = first_rows(ranked[0].distinct, curve, sure)
    hits = by_depth.hits
    hits_beside: list[Vector] = [_hits(rows.distinct, curve) for rows in ranked[1:]]
    beside = [[float(measure(rows.distinct)) for measure in of] for rows in ranked[1:]]

    words = _Words(push)
    where = np.searchsorted(curve, chosen)
    beside_at = [of_other[where] for of_other in hits_beside]
    measures = _of_first_rows(words, by_depth, where.tolist(), beside_at)
    chances = _by_chance(n_hits, n - n_hits)
    for i, (key, (_, negatives)) in enumerate(of_list.items()):
        name = words.of_list(key, negatives)
        measures.append(Measure(name, key, None, found[i], tuple([values[i] for values in beside]), chances[key]))

    difference, averages, further = None, [], []
    n_differences = 2 * sum(not isinstance(sides, ScoreTable) for sides in read[1:])
    joint = one_of_several(sure, max(n_differences, 1))
    a, b = read[0], read[min(1, len(read) - 1)]

    def depth_beside(i: int) -> int:
        """Return the main depth, or a deeper one if all first rows of both lists are hits there, or none is."""
        of_both = zip(chosen, hits[where], hits_beside[i][where], strict=True)
        return min([k for k, *found in of_both if k >= main and found not in ([0, 0], [k, k])], default=main)

    if len(read) > 1 and not (isinstance(a, ScoreTable) or isinstance(b, ScoreTable)):
        depth = depth_beside(0)
        of_depth = [partial(_precision, depth=depth)]
        (more,) = _differences((ranked[0], ranked[1]), (a, b), of_depth, joint, rng)
        difference = Difference(words.of_first("precision", depth), list(lists)[1], more, depth)
    for i, (name, rows, beside_it) in enumerate(list(zip(lists, ranked, read, strict=True))[1:]):
        if not (isinstance(a, ScoreTable) or isinstance(beside_it, ScoreTable)):
            depth = depth_beside(i)
            of_both: list[OfCounts] = [_average]
            of_both += [partial(_precision, depth=depth)] if i else []
            average, *first = _differences((ranked[0], rows), (a, beside_it), of_both, joint, rng)
            averages.append(Difference(words.of_list("average_precision", 0), name, average, n))
            further += [Difference(words.of_first("precision", depth), name, more, depth) for more in first]
    pair = None if probability is None else _probabilities(probability, n_pos, n_neg)
    of_curve = ByDepth(curve, hits, curve * by_depth.low, curve * by_depth.high, tuple(hits_beside))
    return Quality(
        n_pos,
        n_neg,
        sure,
        push,
        tuple(lists)[1:],
        tuple(chosen),
        main,
        tuple(measures),
        difference,
        tuple(averages),
        of_curve,
        tuple([_thinned(rows.distinct) for rows in ranked]),
        None if pair is None else calibration(*pair, sure),
        None if pair is None else calibration_slope(*_log_odds(*pair), sure),
        tuple(further),
        None if pair is None else _first_probabilities(pair, ranked[0], n_listed, push, sure, of_test),
    )


def one_of_several(confidence: float, n: int) -> float:
    """Return the confidence of each of n intervals that hold jointly with `confidence`: Bonferroni's inequality."""
    return 1.0 - (1.0 - confidence) / n


_Sides = tuple[Vector, Vector] | ScoreTable


def _sides(name: str, f_pos: Any, f_neg: Any) -> _Sides:
    """Return the scores of both sides, as vectors or as a table."""
    of = f" of {_checks.shown(name)}" if name else ""
    if not isinstance(f_pos, ScoreTable):
        return _checks.scores(f_pos, f"f_pos{of}"), _checks.scores(f_neg, f"f_neg{of}")
    if f_pos.squares is not None:
        raise ValueError(f"the table{of} has weights, and rows are counted here; make one without weights")
    return f_pos


def _sizes(sides: _Sides) -> tuple[int, int]:
    """Return the numbers of positives and of negatives."""
    if isinstance(sides, ScoreTable):
        return int(sides.n_pos), int(sides.n_neg)
    return sides[0].size, sides[1].size


def _ranked(sides: _Sides) -> RankedList | MergedList:
    if isinstance(sides, ScoreTable):
        return MergedList(sides)
    return RankedList(*sides, sure=True)  # a column of zeros and ones is a list as well


def _depths(given: Sequence[int] | None, budget: int | None, n: int, n_hits: int) -> list[int]:
    """Return the numbers of first rows to measure, rising."""
    if given is None:
        powers = [10**i for i in range(1, 19) if 5 * 10**i <= n]
        found = powers or [max(1, n // 5)]
        if not any(0.8 * k <= n_hits <= 1.25 * k for k in found):
            found.append(n_hits)
    else:
        found = [_checks.count(k, "depths", 1) for k in given]
    if budget is not None:
        found.append(_checks.count(budget, "budget", 1))
    elif not found:
        raise ValueError("depths must be numbers of rows, one at least; got none")
    if max(found) > n:
        raise ValueError(f"depths and budget must be at most the {n} rows held out; got {max(found)}")
    return sorted(set(found))


def _of_first_rows(words: _Words, first: FirstRows, where: list[int], beside: list[Vector]) -> list[Measure]:
    """Return the measures of the first rows; each is the number of hits in other units."""
    measures = []
    for i, at in enumerate(where):
        k, n_hits, n = int(first.depth[at]), first.n_pos, first.n
        factors = {"precision": 1.0, "lift": n / n_hits, "recall": 1.0, "hits": float(k)}
        for (key, factor), here in zip(factors.items(), first.measures(list(factors), at), strict=True):
            size = n_hits if key == "recall" else k
            others = tuple([float(of_other[i]) * factor / size for of_other in beside])
            measures.append(Measure(words.of_first(key, k), key, k, here, others, k * n_hits / n * factor / size))
    return measures


def _of_list(n_neg: int) -> dict[str, tuple[OfCounts, int]]:
    """Return the measures of the whole list, and the number of negatives that one looks at."""
    end = first_negatives(n_neg)
    share = 1.0 if end is None else end / n_neg
    return {
        "positives_at_top": (_at_top, 0),
        "partial_auc": (PartialAuc(0.0, share, 0.0, True), n_neg if end is None else math.ceil(end - 1e-9)),
        "average_precision": (_average, 0),
        "auc": (_auc, 0),
    }


def _by_chance(n_pos: int, n_neg: int) -> dict[str, float]:
    """Return the means of these measures over all orders of the rows."""
    known = {key: by_chance(key, n_pos, n_neg) for key in ("partial_auc", "average_precision", "auc")}
    return {"positives_at_top": n_pos / (n_neg + 1)} | known


class _Words:
    """Measures in words, from one end of the list."""

    def __init__(self, push: str) -> None:
        top = push == "top"
        self._first = "first" if top else "last"
        self._hits, self._others = ("positives", "negatives") if top else ("negatives", "positives")
        self._above = "above" if top else "below"

    def of_first(self, key: str, k: int) -> str:
        return f"{self._hits if key == 'hits' else key} in the {self._first} {k:,}"

    def of_list(self, key: str, n: int) -> str:
        other = self._others.removesuffix("s")
        return {
            "positives_at_top": f"{self._hits} {self._above} every {other}",
            "partial_auc": f"partial AUC, {self._first} {n:,} {self._others if n != 1 else other}",
            "average_precision": f"average precision of the {self._hits}",
            "auc": "AUC",
        }[key]


# Intervals --------------------------------------------------------------------------------------------


def _precision(at: DistinctScores, depth: int) -> Any:
    """Return the precision in the first rows."""
    return _hits(at, depth) / depth


def _estimates(
    rows: RankedList | MergedList, of: list[OfCounts], most: list[float], confidence: float, rng: np.random.Generator
) -> list[Estimate]:
    """Return measures of the list, which are at `most` so large, with intervals from resamples of places."""
    if isinstance(rows, MergedList):
        return rows.measure_these(of, confidence, _RESAMPLES, rng, stratified=False)
    return estimates_by_place(rows, of, [(0.0, end) for end in most], confidence, _RESAMPLES, rng, stratified=False)


def _differences(
    ranked: tuple[RankedList | MergedList, RankedList | MergedList],
    scores: Sequence[tuple[Vector, Vector]],
    measures: Sequence[OfCounts],
    confidence: float,
    rng: np.random.Generator,
) -> list[Estimate]:
    """Return measures of one list less those of another, with intervals from resamples of the same rows.

    Rows that have one place in either list are alike. Their number is drawn.
    """
    many = max([rows.distinct.pos.size for rows in ranked]) > PLACES
    places = [grouped_places(rows.distinct, _PAIRED if many else PLACES) for rows in ranked]
    sizes = [int(place[-1]) + 1 for place in places]
    sides = []
    for of_lists in zip(*scores, strict=True):  # a side, in both lists
        a, b = [
            place[rows.scores.size - 1 - np.searchsorted(rows.scores[::-1], f)]
            for rows, place, f in zip(ranked, places, of_lists, strict=True)
        ]
        cells, at = np.unique(a * sizes[1] + b, return_inverse=True)
        sides.append((_Side(np.sort(at), None, cells.size), divmod(cells, sizes[1])))

    def values(counts: Sequence[Any], i: int) -> Vector:
        """Return the measures of one list, (resamples, measures), from counts (resamples, cells) of both sides."""
        first = np.arange(len(counts[0]))[:, None] * sizes[i]
        of_sides = [
            np.bincount((first + where[i]).ravel(), drawn.ravel(), first.size * sizes[i]).reshape(-1, sizes[i])
            for (_, where), drawn in zip(sides, counts, strict=True)
        ]
        drawn_lists = DistinctScores(*of_sides)
        return np.stack([measure(drawn_lists) for measure in measures], axis=-1)

    def differences(counts: Sequence[Any]) -> Vector:
        return values(counts, 0) - values(counts, 1)

    step = max(1, _BLOCK // max(*sizes, *[where[0].size for _, where in sides]))

    def again(rng: np.random.Generator, draws: int) -> Vector:
        found = np.empty((draws, len(measures)))
        drawn = [np.empty((step, where[0].size), np.intp) for _, where in sides]
        for start in range(0, draws, step):
            size = min(step, draws - start)
            for i in range(size):
                for (side, _), counts in zip(sides, drawn, strict=True):
                    counts[i] = side.drawn(rng, side.size)
            found[start : start + size] = differences([counts[:size] for counts in drawn])
        return found

    draws = max(_RESAMPLES, math.ceil(2.0 * _BEYOND / (1.0 - confidence)) + 1)
    as_they_are: list[float] = differences([side.counts()[None] for side, _ in sides])[0].tolist()
    near = estimates(as_they_are, again, confidence, draws, rng, sizes=ranked[0].sizes)
    exact = [[float(measure(rows.distinct)) for rows in ranked] for measure in measures]
    return [moved(value, a - b, 1.0, -1.0) for value, (a, b) in zip(near, exact, strict=True)]


# For charts -------------------------------------------------------------------------------------------


def _grid(n: int, most: int) -> NDArray[np.intp]:
    """Return whole numbers from 1 to n, closer together at the start."""
    if n <= most:
        return np.arange(1, n + 1)
    found = np.geomspace(1.0, n, most)
    return np.unique(np.round(found).astype(np.intp))


def _thinned(at: DistinctScores) -> Roc:
    """Return some points of a ROC curve, closer together at the start, both ends among them."""
    false, true = at.curve
    places = np.arange(false.size)
    if places.size > _POINTS:
        ranks = at.ranks
        places = np.unique(np.searchsorted(ranks, np.concatenate([[0], _grid(int(ranks[-1]), _POINTS - 1)])))
    return Roc(false[places].astype(np.float64), true[places].astype(np.float64))


def _probabilities(probability: tuple[Any, Any], n_pos: int, n_neg: int) -> tuple[Vector, Vector]:
    """Return the probabilities of both sides."""
    pair = _checks.two(probability, "probability must be a pair, of the positives and of the negatives")
    pos, neg = [_checks.scores(x, f"probability of the {side}") for x, side in zip(pair, _SIDES, strict=True)]
    if (pos.size, neg.size) != (n_pos, n_neg):
        raise ValueError(
            f"probability must be of the {n_pos} positives and {n_neg} negatives; got {pos.size} and {neg.size}"
        )
    return pos, neg


def _first_probabilities(
    pair: tuple[Vector, Vector], ranked: RankedList | MergedList, n_listed: int, push: str, sure: float, of_test: bool
) -> FirstProbabilities:
    """Return the sum of the probabilities of the first rows, which are ordered as the scores, and the positives."""
    of_all = np.sort(np.concatenate(pair))
    k = min(max(_FIRST, n_listed), of_all.size)
    hits = float(_hits(ranked.distinct, k))
    of_first, found = (of_all[:k], k - hits) if push == "bottom" else (of_all[-k:], hits)
    _, low, high = _share(found, k, sure)  # given their scores, these rows are independent
    return FirstProbabilities(k, float(of_first.sum()), Estimate(found, k * low, k * high, sure), of_test)


def _log_odds(pos: Vector, neg: Vector) -> tuple[Vector, Vector]:
    """Return the log odds of probabilities, of which 0 and 1 are moved to the next ones that have them."""
    of_pos, of_neg = [logit(np.clip(of_side, 1e-12, 1.0 - 1e-12)) for of_side in (pos, neg)]
    return of_pos, of_neg


_SIDES = ("positives", "negatives")
