"""Cut-offs of a list, chosen on held-out rows, with a guarantee for new rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc, betainc, betaincinv, ndtr

from pnorm import _checks
from pnorm._categories import warn
from pnorm._checks import Label, Labels, Scores, Vector
from pnorm._checks.labelled import sides_of_scores
from pnorm._checks.text import shown
from pnorm.metrics._ranked_list import Estimate, warn_of_labels
from pnorm.metrics._shares import high as _high
from pnorm.metrics._shares import low as _low
from pnorm.metrics._shares import share

__all__ = ["Cutoff", "cutoff"]

_RATIO = 1.2
"""From one tested cut to the next, at least so many times as many wrong rows are allowed."""

_PART = 4
"""The first cut allows a wrong row, unless it would take more than this part of the rows."""

_FIRST = 0.1
"""The part of the expected positives that the first cut of a model's scores takes if it just has the precision."""

_NONE = 0.005
"""Below this bound of a precision or a recall, texts say that none can be proved."""

_NODES = np.linspace(-8.5, 8.5, 401)
_MASSES = np.exp(-0.5 * _NODES**2) / np.exp(-0.5 * _NODES**2).sum()
"""A trapezoidal rule over quantiles of a normal variable."""


class Interval(NamedTuple):
    """Interval of the number of positives in one list."""

    low: int
    """Lower end of the interval."""
    high: int
    """Upper end of the interval."""


@dataclass(frozen=True, repr=False)
class Cutoff:
    """A cut-off of a list, its guarantee, and the expected results. `cutoff` returns it; it prints as text.

    A cut-off is a score: one chosen for a budget takes more or fewer rows of another list. For exactly B rows, take the
    first B of each list.

    The text has the guarantee, which is a one-sided bound, and the interval of the positives in one list. The two-sided
    intervals of `precision`, `recall` and `hits` are attributes only: the lower end of a two-sided interval is below a
    one-sided bound with the same confidence. The text of a cut-off of `pnorm.sklearn.PNormPush` begins with the rule of
    its `predict`.

    All `Estimate` are None if no cut is possible because too many scores are equal.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> cut = pnorm.cutoff(rng.normal(2, 1, 300), rng.normal(0, 1, 700), precision=0.8)
    >>> round(cut.score, 3), cut.takes([1.0, 2.0])
    (1.456, array([False,  True]))
    >>> round(cut.rows), round(cut.precision, 3)
    (238, 0.853)
    >>> cut.one_list.low, cut.one_list.high
    (150, 262)
    >>> pnorm.Cutoff.from_dict(cut.to_dict()) == cut
    True
    """

    asked: str
    """The quantity that was asked for: ``"precision"``, ``"budget"`` or ``"recall"``."""
    target: float
    """The smallest precision or recall, or the number of rows of a list to take."""
    kept: bool
    """Whether a cut-off guarantees the target; with a budget, whether one takes as few of the held-out rows."""
    score: float | None
    """Take the rows with this score or more. None if no cut-off guarantees the target."""
    nearest: float | None
    """The score of the values below: `score`, or the best possible cut-off if `score` is None."""
    promised: float | None
    """One-sided bound at `nearest`, with `confidence`: a precision, a recall, or the expected hits within a budget."""
    confidence: float
    """The smallest share of held-out lists for which the guarantee holds."""
    depth: int
    """Held-out rows with the score or more."""
    n_pos: int
    """I, positives among the held-out rows."""
    n_neg: int
    """K, negatives among them."""
    prior: float | None
    """The share of positives in new lists, if it is not that of the held-out rows."""
    of: float
    """Rows of a new list."""
    share: float
    """The share of a new list with the score or more, estimated from the held-out rows."""
    precision: Estimate | None
    """The share of positives among the rows taken, with a two-sided interval."""
    recall: Estimate | None
    """The share of the positives that is taken, with a two-sided interval."""
    hits: Estimate | None
    """The expected number of positives among `rows`, with a two-sided interval: `rows` times `precision`."""
    one_list: Interval | None
    """Two-sided interval of the number of positives with the score or more in a single new list of `of` rows, with
    `confidence`: a tuple of `low` and `high`. It covers that the number of rows taken varies."""
    n_cuts: int
    """Number of possible cuts. The intervals hold for all of them at once."""
    _zero = cast("float | None", None)  # no field, so that cut-offs of estimators equal those of `cutoff`
    """The `threshold_` of an estimator, which its `decision_function` subtracts; None for other cut-offs."""
    _written = cast("str | None", None)  # no field either
    """The score of the nearest cut as `written`; None prints all digits."""
    _is_further = False  # nor this
    """Whether an estimator found no cut-off on as many rows before."""

    @property
    def rows(self) -> float:
        """The number of rows of a new list that have the score or more, on average: `share` times `of`."""
        return self.share * self.of

    def to_dict(self) -> dict[str, Any]:
        """Return all values as a dictionary that JSON and the metadata of a model can store.

        Returns
        -------
        dict
            By name; an `Estimate` is a dictionary of ``value``, ``low`` and ``high``. With ``written``, the nearest
            score in as many digits as it is printed with. With ``after_a_failure``, which is True, if an estimator
            chose it after another one on as many rows was not found.
        """
        found: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name, value in found.items():
            if isinstance(value, Estimate):
                found[name] = dict(zip(("value", "low", "high"), value, strict=True))
            elif isinstance(value, tuple):
                found[name] = list(value)
        if self._written is not None:
            found["written"] = self._written
        return found | {"after_a_failure": True} if self._is_further else found

    @staticmethod
    def from_dict(data: Any) -> Cutoff:
        """Make a cut-off from the dictionary of `to_dict`.

        Parameters
        ----------
        data : dict
            What `to_dict` returns.

        Returns
        -------
        Cutoff
            An equal one.

        Raises
        ------
        ValueError, TypeError
            If a field is missing, unknown, or contradicts the others. The message names it.
        """
        return _read(_checks.Fields.part(data, "the cut-off"))

    def takes(self, f: Scores) -> NDArray[np.bool_]:
        """Return which rows to take: those with `score` or more.

        Parameters
        ----------
        f : array_like, shape (N,)
            Scores of new rows, as `pnorm.score`, ``score`` of a loaded model and ``score_samples`` of an estimator
            return them. ``decision_function`` has another zero.

        Returns
        -------
        ndarray of bool, shape (N,)
            True for rows to take; no row if `score` is None.

        Raises
        ------
        ValueError, TypeError
            If a score is not a finite number.

        Warns
        -----
        UserWarning
            If `score` is None.
        """
        scores = _checks.scores(f, "f")
        if self.score is None:
            warn(f"no row is taken: {self._none()}", UserWarning)
            return np.zeros(scores.size, bool)
        return np.asarray(scores >= self.score)

    def __repr__(self) -> str:
        at = "none" if self.score is None else f"a score of {self._at()}"
        if self.score is not None and self._zero is not None:
            at += " (decision_function above 0)"
        rows = f"{self.depth:,} of {self.n_pos + self.n_neg:,} rows"
        return f"<Cutoff for a {self.asked} of {self.target:.4g}: {at}, {rows}>"

    def __str__(self) -> str:
        said, rows = self._told()
        return "\n".join([*self._rule(), *said, *[f"{name:15}{value}" for name, value in rows]])

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        said, rows = self._told()
        return sheet.as_html(["", ""], rows, 2, " ".join([*self._rule(), *said]))

    def _rule(self) -> list[str]:
        """Return which rows `predict` of an estimator takes, in sentences; none for another cut-off."""
        if self._zero is None:
            return []
        if self.score is None:
            return [
                "predict takes no row.",
                f"decision_function is the score minus {self._zero:.6g}, the threshold_ of fit: its sign is not a "
                "cut-off.",
            ]
        return [
            "predict takes rows with decision_function above 0.",
            "decision_function is now score_samples minus threshold_.",
        ]

    def _none(self) -> str:
        """Return, for a warning, that no cut-off keeps the target, what is proved instead, and what to do.

        The advice asks for new rows: each further attempt on the same rows adds up to 5 % to the probability that a
        guarantee is broken.
        """
        less = "recall= or budget=" if self.asked == "precision" else "less"  # a lower precision may fail as well
        return ". ".join([*self._missed(), f"Label new rows, and try again or ask for {less} on these"])

    def _missed(self, option: str = "at_least=") -> list[str]:
        """Return sentences that say that no cut-off keeps the target, and what the nearest cut proves.

        `option` is that of `_begins`.
        """
        if self.asked == "budget":
            return [f"no cut-off takes {_count(self.target)} rows of {_count(self.of)}, or fewer"]
        missed = [f"no cut-off keeps {self._aim()} {self._sure()}"]
        if self._proves_none():
            missed.append(self._first_rows())
        elif self.promised is not None:
            missed.append(
                f"The nearest cut takes the first {self.depth:,} of {self.n_pos + self.n_neg:,} held-out rows, "
                f"{self._found() or 'none'} of them positive: it proves a {self.asked} of at least "
                f"{_percent(self.promised)} (one-sided bound)"
            )
        return [*missed, *self._begins(option)]

    def _begins(self, option: str, rows: str = "these rows") -> list[str]:
        """Return sentences on where the tests of a precision begin; none if no labels of these rows would have passed.

        `option` begins the tests deeper. The last sentence is without a full stop.
        """
        if self.asked != "precision" or self.prior is not None or self.kept or not self.depth:
            return []
        if bdtr(0, self.depth, 1.0 - self.target) > 1.0 - self.confidence:  # too few rows, whatever their labels
            return []
        return [f"The tests begin with {rows}. {option} begins them deeper: use it with new labelled rows"]

    def _proves_none(self) -> bool:
        """Return whether the bound of the nearest cut is zero, or so near that it says nothing."""
        return self.promised is not None and self.promised < _NONE and self.asked != "budget"

    def _first_rows(self) -> str:
        """Return a sentence on the rows that were tested in vain, without a full stop."""
        found = self._found()
        told = f"{found or 'none'} of the first {self.depth:,} of {self.n_pos + self.n_neg:,} held-out rows"
        return f"No {self.asked} at all can be proved, as {told} {'is' if found < 2 else 'are'} positive"

    def _found(self) -> int:
        """Return the number of positives among the held-out rows taken."""
        return round(self.n_pos * float(self.recall or 0.0))

    def _hits(self) -> str:
        """Return the guaranteed hits within a budget, rounded down."""
        return "" if self.promised is None else _count(self.promised, math.floor)

    def _at(self) -> str:
        """Return the score of the nearest cut as text that takes the same held-out rows."""
        return self._written or f"{self.nearest!r}".removesuffix(".0")

    def _tied(self) -> str:
        """Return why a budget takes fewer held-out rows than as many of them, as a clause; empty if it does not."""
        within = _whole(self.target / self.of * (self.n_pos + self.n_neg)) if self.asked == "budget" else 0
        if self.prior is not None or not 0 < self.depth < within:  # with a prior, every cut is at a positive
            return ""
        return (
            f"{self.depth:,} held-out rows and not {within:,}, because the next rows have equal scores and would make "
            f"more than {within:,}"
        )

    def _aim(self) -> str:
        """Return what was asked for, such as ``a precision of 80 %``."""
        return f"a {self.asked} of {_count(self.target) if self.asked == 'budget' else _percent(self.target)}"

    def _sure(self) -> str:
        return f"with {_percent(self.confidence)} confidence"

    def _told(self, option: str = "at_least=") -> tuple[list[str], list[tuple[str, str]]]:
        """Return the guarantee in sentences, and numbers with their names; `option` is that of `_begins`."""
        if self.score is None or self.promised is None or self.one_list is None:
            told = [f"{said[:1].upper()}{said[1:]}." for said in self._missed(option)]
            if self.promised is None:
                told.append("There are too few rows, or too few different scores, to cut the list.")
            return told, []
        if self.asked == "precision":
            promise = f"{_percent(self.promised)} of them are positives"
        elif self.asked == "recall":
            promise = f"{_percent(self.promised)} of the positives are among them"
        else:
            promise = f"{self._hits()} of {_count(self.rows)} are positives on average"
        at = f"Rows with a score of {self._at()} or more"
        total = f"{self.depth:,} of {self.n_pos + self.n_neg:,}"
        rows = [("held-out rows", f"{total}, with {self._found():,} of the {self.n_pos:,} positives")]
        if self.prior is not None:
            rows.append(("prior", _percent(self.prior)))
        about = f"about {_count(self.rows)} of {_count(self.of)} ({_percent(self.share, 3)})"
        rows.append(("rows", f"{about}; one list has more or fewer"))
        low, high = self.one_list
        among = " among more or fewer rows" * (self.asked == "budget")
        rows.append(
            ("in one list", f"between {low:,} and {high:,} positives{among}, {self._sure()} (two-sided interval)")
        )
        said = [f"{at}: at least {promise}, {self._sure()} (one-sided bound)."]
        if self._tied():
            said.append(f"It takes {self._tied()}.")
        if self._is_further:
            said.append(
                "An earlier try found no cut-off on as many rows. If these are the same rows, the confidence is up to "
                f"{1.0 - self.confidence:.3g} lower for each further try."
            )
        return said, rows


def _percent(share: float, digits: int = 4) -> str:
    return f"{100.0 * share:.{digits}g} %"


def hits_of(found: Cutoff, n: int) -> Interval:
    """Return how many of n rows that a cut-off takes from one new list are positive.

    The interval covers chance in the held-out rows and in the list, as that of `one_list` does. With a prior it is
    longer than that: each end is that of a list with the precision at the end of its interval.
    """
    assert found.precision is not None
    each = 0.5 * (1.0 - found.confidence)
    low, high = _shares(found._found(), found.depth - found._found())
    if found.prior is not None:
        low, high = (np.full_like(low, end) for end in (found.precision.low, found.precision.high))
    return Interval(_quantile(n, low, each), _quantile(n, high, 1.0 - each))


def kept_on(found: Cutoff, f_pos: Vector, f_neg: Vector) -> str:
    """Return in sentences what new labelled rows show of a guarantee; empty if there is no cut-off."""
    if found.score is None or found.promised is None:
        return ""
    hits, others = int(found.takes(f_pos).sum()), int(found.takes(f_neg).sum())
    if found.asked == "recall":
        n, told = f_pos.size, f"Of the {f_pos.size:,} positives, {hits:,} are taken"
    else:
        n, told = hits + others, f"Of the {hits + others:,} rows taken that have labels, {hits:,} are positive"
    promised = f"at least {_percent(found.promised)} are guaranteed"
    target = found.promised
    if found.asked == "budget":
        n, target = f_pos.size + f_neg.size, found.promised / found.of
        promised = f"at least {_count(target * n, math.floor)} are guaranteed on average"
    if n == 0:
        return "No row with a label is taken."
    value, low, high = share(hits, n, found.confidence)
    if found.asked == "budget":
        told += f"; {promised}."
    else:
        sure = f"{100 * found.confidence:.4g} % interval {100 * low:.1f} to {100 * high:.1f} %"
        told += f": {100 * value:.1f} % ({sure}); {promised}."
    if high < target:
        return f"{told} That is below the guarantee, beyond chance: these rows may differ from those of the test."
    return f"{told} That is below the guarantee, which may be chance." if value < target else told


def zero_of(score: float) -> float:
    """Return what `decision_function` subtracts, given the score of a cut-off: the largest number below it."""
    return float(np.nextafter(score, -np.inf))


def of_estimator(found: Cutoff, zero: float | None, is_further: bool) -> Cutoff:
    """Return an equal cut-off that prints what an estimator knows of it: its `_zero`, and whether it `_is_further`."""
    found = copy(found)
    object.__setattr__(found, "_zero", zero)
    object.__setattr__(found, "_is_further", is_further)
    return found


def _count(x: float, to_whole: Callable[[float], int] = round) -> str:
    """Return a mean count with one decimal, and from 1000 on with none. Ends of intervals are rounded outwards."""
    places = 1 if x < 1000.0 else 0
    scaled = round(x * 10**places, 6)  # a count that is whole but for rounding errors stays so
    return f"{to_whole(scaled) / 10**places:,.{places}f}".removesuffix(".0")


def cutoff(
    f_pos: Scores,
    f_neg: Scores | None = None,
    *,
    y: Labels | None = None,
    pos_label: Label | None = None,
    precision: float | None = None,
    budget: float | None = None,
    recall: float | None = None,
    of: float | None = None,
    at_least: float | None = None,
    prior: float | None = None,
    confidence: float = 0.95,
) -> Cutoff:
    """Choose the score above which to take rows, with a guarantee for new rows.

    Pass one of `precision`, `recall` and `budget`. Let s be the returned score, P the distribution of new rows for the
    given scoring function, and Pr the probability over the held-out rows, which are drawn independently from P. Then::

        precision = q      Pr(no s, or P(positive | f ≥ s) ≥ q) ≥ confidence
        recall = r         Pr(no s, or P(f ≥ s | positive) ≥ r) ≥ confidence
        budget = B, of N   Pr(no s, or rows · P(positive | f ≥ s) ≥ promised) ≥ confidence

    - `precision` assumes that precision falls below q once: if it is below q above some score, it is below q above
      every lower score.
    - `recall` assumes nothing else. It uses the positives only, given their number.
    - `budget` guarantees the hits, `promised`, among `rows` rows. It does not guarantee the number of rows: s takes at
      most the share B / N of the held-out rows, and in about half of all cases the same s takes more than B of N new
      rows on average. If B is a limit, take the first B rows of each list.

    Parameters
    ----------
    f_pos, f_neg : array_like, shape (I,) and (K,)
        Scores of the positives and of the negatives. Or all scores alone, with `y`. The rows must be held out: they
        were used neither to train the scoring function nor to choose any setting of it.
    y, pos_label : optional
        With labels, ``cutoff(scores, y=y, precision=0.8)``, the first argument holds all scores. The labels and the
        positive label are as in `pnorm.train`.
    precision : float, optional
        The smallest share of positives among the rows taken. The cut-off is as deep as the data allow.
    budget : float, optional
        The number of rows of a list to take, on average. The share ``budget / of`` of the held-out rows is taken, or
        less; the share of new rows varies around it.
    recall : float, optional
        The smallest share of the positives to take. The cut-off takes as few rows as the data allow.
    of : float, optional
        The number of rows of a list, as in 200 rows `of` 10,000 a day; by default I + K.
    at_least : int or float, optional
        For a precision: the tests begin at the first cut that takes so many of the held-out rows, and no cut-off takes
        fewer. An integer is a number of held-out rows, also with `of`, from 1 to I + K - 1. A float above 0 and below 1
        is a share of the rows, rounded up to whole rows. Choose it from the work that you can do, before you see the
        held-out labels. It cannot be combined with `prior`. By default the tests begin at the top of the list.
    prior : float, optional
        The share of positives in new lists, if it differs from that of the held-out rows, for instance because
        negatives were left out. The scores of positives, and those of negatives, must have the same distributions in
        new lists as in the held-out rows.
    confidence : float
        The least probability, over the held-out rows, with which the guarantee holds; above 0 and below 1.

    Returns
    -------
    Cutoff
        `Cutoff.score` is None if no cut-off guarantees the target; the other fields then contain what can be
        guaranteed. The cost is O(N log N) for N = I + K.

    Raises
    ------
    ValueError, TypeError
        If not exactly one of `precision`, `budget` and `recall` is given, a number is out of its range, the budget is
        not less than `of`, `at_least` is not less than I + K, or is given without `precision` or with `prior`, a side
        is empty, or a score is not a finite number.

    Notes
    -----
    *Precision.* A cut with x positives and y negatives is accepted for the precision q if::

        P(Bin(x + y, 1 - q) ≤ y) ≤ 1 - confidence

    Depths are tested one after another from the top. The last depth before the first failure is taken. The depths do
    not depend on the labels: they are those at which exactly y = 1, 2, 3, ... negatives are still allowed (0 as well,
    if allowing one negative takes more than a quarter of the list). A cut takes the rows strictly above the next score.
    Given that score, the rows are independent, so the binomial law is exact, also with ties. The first cut that must
    not be accepted is tested once, and its choice does not favour acceptance, so that no correction for multiple tests
    is needed. Scores above the first cut are exempt from the assumption that precision falls below q once. Without the
    assumption, the guarantee is that the cut-off is not below the lowest score above which the precision is q. The page
    "Generalisation bounds" has the proof. It covers ties, except that many equal scores at the top leave a gap.

    The probability is over all held-out lists, and a list without a cut-off counts as kept. Where cut-offs are rarely
    found, those found are broken more often: 9 % of them, where 21 % of lists have one (``benchmarks/cutoffs.py``).

    *At least so many rows.* The first test takes few rows, about 22 for a precision of 0.8. If the precision of the top
    is above q, but not far above, this test fails often, and there is no cut-off. With `at_least`, depths above it are
    not tested, and the others are as before. The proof holds for a first depth that does not depend on the labels.
    Nothing is assumed of the rows above the first cut: the guarantee is for all rows taken together.

    *With a prior*, a cut is at the score of a positive. The two sides are independent, and the test is of the ratio t
    of their rates at which the precision is q: ``P(U < t V) ≤ 1 - confidence`` with ``U ~ Beta(x, I - x + 1)`` and
    ``V ~ Beta(y + 1, K - y)`` [1]_. This is proved for one cut without ties. For the sequence of tests, the guarantee
    held in computations, and for ties and for a budget with a prior in simulations.

    *Recall.* The cut-off is the score of the k-th best positive, k being the least with
    ``P(Bin(I, recall) ≥ k) ≤ 1 - confidence``. This is exact given I, and ties take more rows.

    *Budget.* The cut does not depend on the labels. `promised` is `rows` times the lower bound of Clopper and Pearson
    for the precision, which is exact given the score of the next row.

    Intervals are those of Clopper and Pearson, or from the two beta distributions. They hold for all cuts at once by
    Bonferroni's inequality and are therefore wider than the guarantee. With x of N held-out rows positive and taken,
    the ends of `Cutoff.one_list` are quantiles of ``Bin(of, t)`` with ``t ~ Beta(x, N - x + 1)`` and with
    ``t ~ Beta(x + 1, N - x)``. They hold for a score that does not depend on the rows, and for a recall. For a budget
    they held in simulations. Case weights are not supported, because the laws are those of counts.

    References
    ----------
    .. [1] M. P. Fay, M. A. Proschan, E. Brittain, "Combining one-sample confidence procedures for inference in the
       two-sample case", Biometrics 71, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> f_pos, f_neg = rng.normal(2, 1, 300), rng.normal(0, 1, 700)
    >>> print(pnorm.cutoff(f_pos, f_neg, precision=0.8))
    Rows with a score of 1.45575 or more: at least 80 % of them are positives, with 95 % confidence (one-sided bound).
    held-out rows  238 of 1,000, with 203 of the 300 positives
    rows           about 238 of 1,000 (23.8 %); one list has more or fewer
    in one list    between 150 and 262 positives, with 95 % confidence (two-sided interval)

    The same from all scores and their labels:

    >>> scores, y = np.concatenate([f_pos, f_neg]), np.repeat([1, 0], [300, 700])
    >>> round(pnorm.cutoff(scores, y=y, precision=0.8).score, 5)
    1.45574

    A list with the precision 0.85 in its first 300 rows and 0.5 below, which fails the first test:

    >>> y = np.random.default_rng(1).random(1000) < np.where(np.arange(1000) < 300, 0.85, 0.5)
    >>> f = -np.arange(1000.0)
    >>> pnorm.cutoff(f, y=y, precision=0.8)
    <Cutoff for a precision of 0.8: none, 22 of 1,000 rows>
    >>> pnorm.cutoff(f, y=y, precision=0.8, at_least=200)
    <Cutoff for a precision of 0.8: a score of -320.999, 321 of 1,000 rows>
    """
    f_pos, f_neg, *_ = sides_of_scores(f_pos, f_neg, y=y, pos_label=pos_label)
    pos, neg = (np.sort(_checks.scores(f, name)) for f, name in ((f_pos, "f_pos"), (f_neg, "f_neg")))
    if y is None:
        warn_of_labels(f_pos=pos, f_neg=neg)
    asked, target, given_size, rarer, sure = _asked(precision, budget, recall, of, at_least, prior, confidence)
    level = 1.0 - sure
    n = pos.size + neg.size
    size = float(n) if given_size is None else given_size
    rows: _Rows = _Drawn(pos, neg) if rarer is None else _Reweighted(pos, neg, rarer)
    if asked == "precision":
        kept, cut, n_cuts = _precise(rows, target, level, _least_rows(at_least, n))
    elif asked == "recall":
        kept, cut = _complete(rows, target, level)
        n_cuts = 1
    else:
        if target >= size:
            raise ValueError(
                f"budget must be less than the {size:g} rows of a list; got {target:g}. Pass of= for longer lists"
            )
        cut, n_cuts = rows.within(target / size), 1
        kept = cut.size > 0
    if not cut.size:
        return Cutoff(asked, target, False, None, None, None, sure, 0, pos.size, neg.size, rarer, size, 0.0,
                      None, None, None, None, n_cuts)  # fmt: skip
    return _told(rows, cut, asked, target, kept, sure, n_cuts, size, rarer)


def _asked(
    precision: float | None = None,
    budget: float | None = None,
    recall: float | None = None,
    of: float | None = None,
    at_least: float | None = None,
    prior: float | None = None,
    confidence: float = 0.95,
) -> tuple[str, float, float | None, float | None, float]:
    """Return what is asked for, how much of it, the rows of a list, the share of positives, and the confidence."""
    asked, wanted = _checks.one_given({"precision": precision, "budget": budget, "recall": recall})
    target = _checks.positive(wanted, asked) if asked == "budget" else _checks.probability(wanted, asked)
    size = None if of is None else _checks.positive(of, "of")
    if size is not None and size > 2.0**53:
        raise ValueError(f"of must be at most 2**53, a number of rows; got {of:g}")
    rarer = None if prior is None else _checks.probability(prior, "prior")
    if at_least is not None:
        if asked != "precision":
            raise ValueError(f"at_least is for a precision; leave it out with {asked}")
        if rarer is not None:
            raise ValueError("at_least counts held-out rows, and a prior weights them: leave one of them out")
        if isinstance(at_least, float | np.floating):
            _checks.probability(at_least, "at_least, a share of the held-out rows (a number of them is an integer),")
        else:
            _checks.count(at_least, "at_least, a number of held-out rows (a share of them is a float),", 1)
    return asked, target, size, rarer, _checks.probability(confidence, "confidence")


def _least_rows(at_least: float | None, n: int) -> int:
    """Return how many of n held-out rows a cut-off takes at least."""
    if at_least is None:
        return 1
    is_share = isinstance(at_least, float | np.floating)
    rows = _checks.rows_of_share(float(at_least), n) if is_share else operator.index(cast("int", at_least))
    if rows >= n:
        raise ValueError(f"at_least must be less than the {n:,} held-out rows; got {shown(at_least)}")
    return rows


def first_depth(trained_on: tuple[int, int], n: int, precision: float) -> int:
    """Return where the tests of a precision q begin among n held-out rows with a share s of positives: at 0.1 s n / q.

    With q, so many rows have a tenth of the positives. s is the share in the rows of training, positives and negatives,
    so that the depth does not depend on the held-out labels. `benchmarks/cutoffs.py` compares it with other depths.
    """
    n_pos, n_neg = trained_on
    return max(1, min(_checks.rows_of_share(_FIRST * n_pos / (n_pos + n_neg) / precision, n), n - 1))


def cutoff_of_model(f_pos: Vector, f_neg: Vector, trained_on: tuple[int, int], **asked: Any) -> Cutoff:
    """Return the cut-off of held-out scores of a model that was trained on so many positives and negatives.

    It is that of `cutoff`. The tests of a precision begin at the `first_depth`, unless `at_least` says where.
    """
    of, target, *_ = _asked(**asked)
    if of == "precision" and asked.get("at_least") is None and asked.get("prior") is None:
        asked["at_least"] = first_depth(trained_on, f_pos.size + f_neg.size, target)
    return cutoff(f_pos, f_neg, **asked)


def check_asked(how: Any, name: str, n: int | None = None) -> None:
    """Raise an error for a mapping that is not arguments of `cutoff`, or not for n held-out rows."""
    known = ("precision", "budget", "recall", "of", "at_least", "prior", "confidence")
    if not isinstance(how, Mapping):
        raise TypeError(f"{name} must be a mapping such as {{'precision': 0.8}}; got {shown(how)}")
    odd = [key for key in how if key not in known]
    if odd:
        raise ValueError(f"{name} has {shown(odd[0])}; it may have {', '.join(map(repr, known))}")
    _asked(**how)
    if n is not None:
        _least_rows(how.get("at_least"), n)


def _told(
    rows: _Rows,
    cut: _Cut,
    asked: str,
    target: float,
    kept: bool,
    confidence: float,
    n_cuts: int,
    size: float,
    prior: float | None,
) -> Cutoff:
    """Return what there is to say about a cut."""
    n_pos = rows.pos.size
    level = 1.0 - confidence
    each = 0.5 * level / n_cuts
    share = rows.share(cut)
    count = share * size

    precision = Estimate(rows.precision(cut), rows.low(cut, each), rows.high(cut, each), confidence)
    found = cut.pos, n_pos - cut.pos
    recall = Estimate(cut.pos / n_pos, _low(*found, each), _high(*found, each), confidence)
    hits = Estimate(count * float(precision), count * precision.low, count * precision.high, confidence)
    low, high = rows.taken(cut)
    one_list = Interval(_quantile(round(size), low, each), _quantile(round(size), high, 1.0 - each))
    if kept and asked != "budget":
        promised = target
    elif asked == "recall":
        promised = _low(*found, level)
    else:
        promised = rows.low(cut, level) * (count if asked == "budget" else 1.0)
    told = Cutoff(asked, target, kept, cut.score if kept else None, cut.score, promised, confidence, cut.size, n_pos,
                  rows.neg.size, prior, size, share, precision, recall, hits, one_list, n_cuts)  # fmt: skip
    object.__setattr__(told, "_written", written(cut.score, rows.pos, rows.neg))
    return told


def written(score: float, *sides: Vector) -> str:
    """Return a score as text, with as many digits as it needs to take the same rows, six at least.

    A cut-off is just above the score of the first row that is not taken, and many rows may have that one.
    """
    taken = [f >= score for f in sides]
    for digits in range(6, 17):
        for rounding in (ROUND_HALF_EVEN, ROUND_CEILING, ROUND_FLOOR):
            rounded = float(Context(digits, rounding).create_decimal_from_float(score))
            if all(np.array_equal(f >= rounded, own) for f, own in zip(sides, taken, strict=True)):
                return f"{rounded:.{digits}g}"
    return repr(float(score))


def _read(fields: _checks.Fields) -> Cutoff:
    """Return the cut-off of a dictionary, all of which is checked."""
    asked = fields.choice("asked", ("precision", "budget", "recall"))
    target = fields.number("target", _checks.positive if asked == "budget" else _checks.probability)
    kept, score = fields.of(bool, "kept"), fields.optional_number("score")
    about = {key: fields.optional_number(key) for key in ("nearest", "promised")}
    confidence = fields.number("confidence", _checks.probability)
    depth, n_pos, n_neg, n_cuts = [
        fields.count(key, least) for key, least in (("depth", 0), ("n_pos", 1), ("n_neg", 1), ("n_cuts", 0))
    ]
    prior = fields.optional_number("prior", _checks.probability)
    of, share = fields.number("of", _checks.positive), fields.number("share", _checks.nonnegative)
    precision, recall, hits = [_estimate(fields, key, confidence) for key in ("precision", "recall", "hits")]
    one_list = None
    if fields.get("one_list") is not None:
        low, high = [_checks.count(end, "'one_list' of the cut-off", 0) for end in fields.items("one_list", 2)]
        if low > high:
            raise ValueError(
                f"'one_list' of the cut-off must be two numbers of rows in order; got {shown([low, high])}"
            )
        one_list = Interval(low, high)
    is_further = fields.has("after_a_failure") and fields.of(bool, "after_a_failure")
    digits = fields.of(str, "written") if fields.has("written") else None
    fields.nothing_else()
    there = [value is not None for value in (*about.values(), precision, recall, hits, one_list)]
    if any(there) != all(there):
        raise ValueError(
            "'nearest', 'promised', 'precision', 'recall', 'hits' and 'one_list' of the cut-off must all be null, or "
            "none of them"
        )
    if score != (about["nearest"] if kept else None) or (kept and score is None):
        raise ValueError("'score' of the cut-off must be 'nearest' where 'kept' is true, and null where it is false")
    if digits is not None and not _is_near(digits, about["nearest"]):
        raise ValueError(
            f"'written' of the cut-off must be 'nearest', rounded to six digits or more; got {shown(digits)}"
        )
    if depth > n_pos + n_neg or share > 1.0:
        raise ValueError("'depth' of the cut-off must be n_pos + n_neg at most, and 'share' 1 at most")
    if asked == "budget" and target >= of:
        raise ValueError("'target' of the cut-off, a budget, must be less than 'of', the rows of a list")
    found = Cutoff(asked, target, kept, score, about["nearest"], about["promised"], confidence, depth, n_pos, n_neg,
                   prior, of, share, precision, recall, hits, one_list, n_cuts)  # fmt: skip
    object.__setattr__(found, "_written", digits)
    return of_estimator(found, None, is_further)


def _is_near(text: str, score: float | None) -> bool:
    """Return whether a text is a score, rounded."""
    try:
        return score is not None and math.isclose(_checks.numeral(text), score, rel_tol=1e-5)
    except ValueError:
        return False


def _estimate(fields: _checks.Fields, key: str, confidence: float) -> Estimate | None:
    """Return an estimate of a dictionary, or None."""
    if fields.get(key) is None:
        return None
    inner = _checks.Fields.part(fields.of(dict, key), f"{key!r} of the cut-off")
    value, low, high = [inner.number(name) for name in ("value", "low", "high")]
    inner.nothing_else()
    if low > high:
        raise ValueError(f"{key!r} of the cut-off must have 'low' at or below 'high'; got {low:g} and {high:g}")
    if key != "hits" and (min(value, low) < 0.0 or max(value, high) > 1.0):
        raise ValueError(f"{key!r} of the cut-off must be a share from 0 to 1; got {value:g}, {low:g} to {high:g}")
    return Estimate(value, low, high, confidence)


# Which cut --------------------------------------------------------------------------------------------


def _precise(rows: _Rows, target: float, level: float, least: int = 1) -> tuple[bool, _Cut, int]:
    """Return whether a cut of at least so many rows keeps a precision, the deepest in sequence or else the first.

    The number of cuts comes last.
    """
    sizes = _sizes(lambda x, y: rows.p_value(x, y, target), level, rows, least)
    best, skipped = None, None
    for x, y in sizes:
        cut = rows.cut(x, y)
        if cut.size < least:  # because of ties
            continue
        if rows.p_value(cut.size, 0, target) > level:  # ties have left too few rows, whatever their labels
            skipped = cut
            continue
        if rows.p_value(cut.pos, cut.neg, target) > level:
            return best is not None, best or cut, len(sizes)
        best = cut
    if best is not None:
        return True, best, len(sizes)
    nearest = skipped or rows.cut(max(1, rows.most // 2, least), 0)
    return False, nearest if nearest.size >= least else _Cut(math.inf, 0, 0), max(1, len(sizes))


def _sizes(p_value: Callable[[int, int], float], level: float, rows: _Rows, least: int = 1) -> list[tuple[int, int]]:
    """Return positives x and negatives y of cuts to be tested, with at least so many rows.

    Each has as few positives as so many negatives allow.
    """

    def enough(y: int) -> Callable[[int], bool]:
        return lambda x: p_value(x, y) <= level

    wrong, found = 1, []
    x = _least(enough(wrong), 1, rows.most)
    if x + wrong > rows.most // _PART:
        wrong = 0
        x = _least(enough(wrong), 1, rows.most)
    if x + wrong < least:
        wrong = _least(lambda y: _least(enough(y), 1, rows.most) + y >= least, wrong, least)
        x = _least(enough(wrong), 1, rows.most)
        if x + wrong > rows.most:  # the list ends before one more negative is allowed
            return [(least - wrong + 1, wrong - 1)]
    while x <= rows.most and rows.has(x, wrong):
        found.append((x, wrong))
        wrong = max(wrong + 1, math.floor(_RATIO * wrong))
        x = _least(enough(wrong), x, rows.most)
    return found


def _least(suits: Callable[[int], bool], low: int, most: int) -> int:
    """Return the least integer from `low` on that suits, as all larger ones do; most + 1 if none up to `most` does."""
    high = most + 1
    while low < high:
        middle = (low + high) // 2
        if suits(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _complete(rows: _Rows, target: float, level: float) -> tuple[bool, _Cut]:
    """Return whether a cut keeps a recall, and the cut at the score of a positive that takes fewest rows, or all."""
    size = rows.pos.size
    k = _least(lambda k: float(bdtrc(k - 1, size, target)) <= level, 1, size)
    return k <= size, rows.at(rows.pos[size - min(k, size)])


# Rows and the laws of their counts --------------------------------------------------------------------


@dataclass(frozen=True)
class _Cut:
    """The rows with a score or more."""

    score: float
    pos: int
    neg: int

    @property
    def size(self) -> int:
        return self.pos + self.neg


class _Rows(Protocol):
    """Held-out rows, by their scores, and what counts of them say about new rows."""

    pos: Vector
    neg: Vector

    @property
    def most(self) -> int:
        """The largest cut, in the unit of `cut`."""

    def has(self, x: int, y: int) -> bool:
        """Return whether a cut may have so many positives and negatives."""

    def at(self, score: float) -> _Cut:
        """Return the cut at a score."""

    def cut(self, x: int, y: int) -> _Cut:
        """Return the cut for x positives and y negatives; it does not depend on the labels."""

    def within(self, share: float) -> _Cut:
        """Return the deepest cut that takes at most a share of new rows."""

    def share(self, cut: _Cut) -> float:
        """Return the share of new rows that a cut takes, estimated from the rows."""

    def precision(self, cut: _Cut) -> float:
        """Return the share of positives among them, estimated from the rows."""

    def p_value(self, x: int, y: int, precision: float) -> float:
        """Return the p-value of x positives and y negatives for a lower precision of new rows."""

    def low(self, cut: _Cut, level: float) -> float:
        """Return a lower bound of the precision; it is too high with this probability at most."""

    def high(self, cut: _Cut, level: float) -> float:
        """Return an upper bound of the precision; it is too low with this probability at most."""

    def taken(self, cut: _Cut) -> tuple[Vector, Vector]:
        """Return the share of new rows that are positive and taken at `_NODES`, for a lower bound and an upper one."""


class _Sides:
    """Sorted scores of both sides."""

    def __init__(self, pos: Vector, neg: Vector) -> None:
        self.pos, self.neg = pos, neg

    def at(self, score: float) -> _Cut:
        pos, neg = (side.size - int(np.searchsorted(side, score, side="left")) for side in (self.pos, self.neg))
        return _Cut(float(score), pos, neg)


class _Drawn(_Sides):
    """Rows that were drawn like new ones. A cut is at the score of some row, of either side."""

    def __init__(self, pos: Vector, neg: Vector) -> None:
        super().__init__(pos, neg)
        self.all = np.sort(np.concatenate([pos, neg]))

    @property
    def most(self) -> int:
        return self.all.size - 1

    def has(self, x: int, y: int) -> bool:
        return x + y <= self.most

    def cut(self, x: int, y: int) -> _Cut:
        return self.at(np.nextafter(self.all[-1 - x - y], np.inf))

    def within(self, share: float) -> _Cut:
        return self.cut(_whole(share * self.all.size), 0)

    def share(self, cut: _Cut) -> float:
        return cut.size / self.all.size

    def precision(self, cut: _Cut) -> float:
        return cut.pos / cut.size

    def p_value(self, x: int, y: int, precision: float) -> float:
        return float(bdtr(y, x + y, 1.0 - precision))

    def low(self, cut: _Cut, level: float) -> float:
        return _low(cut.pos, cut.neg, level)

    def high(self, cut: _Cut, level: float) -> float:
        return _high(cut.pos, cut.neg, level)

    def taken(self, cut: _Cut) -> tuple[Vector, Vector]:
        return _shares(cut.pos, self.all.size - cut.pos)


class _Reweighted(_Sides):
    """Rows of which either side was drawn like that side of new ones. A cut is at the score of some positive."""

    def __init__(self, pos: Vector, neg: Vector, prior: float) -> None:
        super().__init__(pos, neg)
        self.prior, self.odds = prior, prior / (1.0 - prior)

    @property
    def most(self) -> int:
        return self.pos.size

    def has(self, x: int, y: int) -> bool:
        return y < self.neg.size

    def cut(self, x: int, y: int) -> _Cut:
        return self.at(self.pos[self.pos.size - x])

    def within(self, share: float) -> _Cut:
        ranks = range(self.pos.size, 0, -1)
        k = _least(lambda k: self.share(self.cut(ranks[k], 0)) <= share, 0, len(ranks) - 1)
        return self.cut(ranks[k], 0) if k < len(ranks) else _Cut(math.inf, 0, 0)

    def share(self, cut: _Cut) -> float:
        return self.prior * cut.pos / self.pos.size + (1.0 - self.prior) * cut.neg / self.neg.size

    def precision(self, cut: _Cut) -> float:
        return self.prior * cut.pos / self.pos.size / self.share(cut)

    def p_value(self, x: int, y: int, precision: float) -> float:
        ratio = precision / (1.0 - precision) / self.odds
        return _below((x, self.pos.size - x + 1), (y + 1, self.neg.size - y), ratio)

    def low(self, cut: _Cut, level: float) -> float:
        U, V = (cut.pos, self.pos.size - cut.pos + 1), (cut.neg + 1, self.neg.size - cut.neg)
        return self._at(lambda ratio: _below(U, V, ratio) - level) if cut.pos else 0.0

    def high(self, cut: _Cut, level: float) -> float:
        U, V = (cut.pos + 1, self.pos.size - cut.pos), (cut.neg, self.neg.size - cut.neg + 1)
        return self._at(lambda ratio: _below(U, V, ratio) - (1.0 - level)) if cut.neg else 1.0

    def taken(self, cut: _Cut) -> tuple[Vector, Vector]:
        low, high = _shares(cut.pos, self.pos.size - cut.pos)
        return self.prior * low, self.prior * high

    def _at(self, of_ratio: Callable[[float], float]) -> float:
        """Return the precision at the ratio of rates where an increasing function is zero."""
        log_odds = float(brentq(lambda log: of_ratio(math.exp(log)), -60.0, 60.0, xtol=1e-10)) + math.log(self.odds)
        return 1.0 / (1.0 + math.exp(-log_odds))


def _below(U: tuple[int, int], V: tuple[int, int], ratio: float) -> float:
    """Return P(U < ratio V) of two independent betas; one whose second parameter is 0 is 1, whose first is 0 is 0."""
    if U[0] == 0:
        return 1.0
    if U[1] == 0:
        return 1.0 - float(betainc(*V, min(1.0, 1.0 / ratio))) if V[1] else float(ratio > 1.0)
    if V[1] == 0:
        return float(betainc(*U, min(1.0, ratio)))
    return float(betainc(*U, np.minimum(ratio * _quantiles(*V), 1.0)) @ _MASSES)


@lru_cache(maxsize=256)
def _quantiles(a: int, b: int) -> Vector:
    """Return the quantiles of a beta at the nodes."""
    return np.asarray(betaincinv(a, b, ndtr(_NODES)))


def _shares(hits: int, others: int) -> tuple[Vector, Vector]:
    """Return quantiles, at `_NODES`, of the betas of which the bounds of Clopper and Pearson are quantiles."""
    low = _quantiles(hits, others + 1) if hits else np.zeros_like(_NODES)
    return low, _quantiles(hits + 1, others) if others else np.ones_like(_NODES)


def _quantile(n: int, shares: Vector, level: float) -> int:
    """Return the least number of hits in n rows that has this probability, or more, of not being exceeded.

    The share of hits has a law of which these are the quantiles at `_NODES`.
    """
    return _least(lambda k: float(bdtr(k, n, shares) @ _MASSES) >= level, 0, n)


def _whole(rows: float) -> int:
    """Return a number of rows, rounded down to whole ones."""
    return math.floor(rows * (1.0 + 1e-12))
