"""Cut-offs of a list, chosen on held-out rows, with a guarantee for new rows."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from typing import Any, cast

import numpy as np

from pnorm import _checks
from pnorm._checks import Label, Labels, Scores, Vector
from pnorm._checks.labelled import sides_of_scores
from pnorm._checks.text import shown
from pnorm._cutoff.cuts import Cut, DrawnRows, HeldOutRows, ReweightedRows, complete, precise, quantile
from pnorm._cutoff.record import Cutoff, Interval
from pnorm.metrics._estimates import Estimate
from pnorm.metrics._ranked_list import warn_of_labels
from pnorm.metrics._shares import high as _high
from pnorm.metrics._shares import low as _low

_FIRST = 0.1
"""The part of the expected positives that the first cut of a model's scores takes if it just has the precision."""


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
    rows: HeldOutRows = DrawnRows(pos, neg) if rarer is None else ReweightedRows(pos, neg, rarer)
    if asked == "precision":
        kept, cut, n_cuts = precise(rows, target, level, _least_rows(at_least, n))
    elif asked == "recall":
        kept, cut = complete(rows, target, level)
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
    rows: HeldOutRows,
    cut: Cut,
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
    n_rows = share * size

    precision = Estimate(rows.precision(cut), rows.low(cut, each), rows.high(cut, each), confidence)
    found = cut.pos, n_pos - cut.pos
    recall = Estimate(cut.pos / n_pos, _low(*found, each), _high(*found, each), confidence)
    hits = Estimate(n_rows * float(precision), n_rows * precision.low, n_rows * precision.high, confidence)
    low, high = rows.taken(cut)
    one_list = Interval(quantile(round(size), low, each), quantile(round(size), high, 1.0 - each))
    if kept and asked != "budget":
        promised = target
    elif asked == "recall":
        promised = _low(*found, level)
    else:
        promised = rows.low(cut, level) * (n_rows if asked == "budget" else 1.0)
    return Cutoff(asked, target, kept, cut.score if kept else None, cut.score, promised, confidence, cut.size, n_pos,
                  rows.neg.size, prior, size, share, precision, recall, hits, one_list, n_cuts,
                  written(cut.score, rows.pos, rows.neg))  # fmt: skip


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
