"""A cut-off with its guarantee: as numbers, as text, and as a dictionary."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from pnorm import _checks
from pnorm._categories import warn
from pnorm._checks import Scores, Vector
from pnorm._checks.text import shown
from pnorm._cutoff.cuts import quantile, shares_at_nodes, whole
from pnorm.metrics._estimates import Estimate
from pnorm.metrics._shares import share

_NONE = 0.005
"""Below this bound of a precision or a recall, texts say that none can be proved."""


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
    one-sided bound with the same confidence.

    All `Estimate` are None if no cut is possible because too many scores are equal.

    Examples
    --------
    >>> import numpy as np
    >>> import pnorm
    >>> rng = np.random.default_rng(0)
    >>> cut = pnorm.cutoff(rng.normal(2, 1, 300), rng.normal(0, 1, 700), precision=0.8)
    >>> round(cut.score, 3), cut.takes([1.0, 2.0])
    (1.456, array([False,  True]))
    >>> cut.written, cut.after_a_failure
    ('1.45575', False)
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
    written: str | None = None
    """`nearest` as it is printed, with six digits or as many as it takes to take the same held-out rows."""
    after_a_failure: bool = False
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
            By name; an `Estimate` is a dictionary of ``value``, ``low`` and ``high``.
        """
        found: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name, value in found.items():
            if isinstance(value, Estimate):
                found[name] = dict(zip(("value", "low", "high"), value, strict=True))
            elif isinstance(value, tuple):
                found[name] = list(value)
        return found

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
            return them. ``decision_function`` subtracts a threshold from these.

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
        rows = f"{self.depth:,} of {self.n_pos + self.n_neg:,} rows"
        return f"<Cutoff for a {self.asked} of {self.target:.4g}: {at}, {rows}>"

    def __str__(self) -> str:
        said, rows = self._told()
        return "\n".join([*said, *[f"{name:15}{value}" for name, value in rows]])

    def _repr_html_(self) -> str:
        from pnorm._checks import sheet

        said, rows = self._told()
        return sheet.as_html(["", ""], rows, 2, " ".join(said))

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
            return [f"no cut-off takes {count(self.target)} rows of {count(self.of)}, or fewer"]
        missed = [f"no cut-off keeps {self._aim()} {self._sure()}"]
        if self._proves_none():
            missed.append(self._first_rows())
        elif self.promised is not None:
            missed.append(
                f"The nearest cut takes the first {self.depth:,} of {self.n_pos + self.n_neg:,} held-out rows, "
                f"{self._found() or 'none'} of them positive: it proves a {self.asked} of at least "
                f"{percent(self.promised)} (one-sided bound)"
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
        return "" if self.promised is None else count(self.promised, math.floor)

    def _at(self) -> str:
        """Return the score of the nearest cut as text that takes the same held-out rows."""
        return self.written or f"{self.nearest!r}".removesuffix(".0")

    def _tied(self) -> str:
        """Return why a budget takes fewer held-out rows than as many of them, as a clause; empty if it does not."""
        within = whole(self.target / self.of * (self.n_pos + self.n_neg)) if self.asked == "budget" else 0
        if self.prior is not None or not 0 < self.depth < within:  # with a prior, every cut is at a positive
            return ""
        return (
            f"{self.depth:,} held-out rows and not {within:,}, because the next rows have equal scores and would make "
            f"more than {within:,}"
        )

    def _aim(self) -> str:
        """Return what was asked for, such as ``a precision of 80 %``."""
        return f"a {self.asked} of {count(self.target) if self.asked == 'budget' else percent(self.target)}"

    def _sure(self) -> str:
        return f"with {percent(self.confidence)} confidence"

    def _told(self, option: str = "at_least=") -> tuple[list[str], list[tuple[str, str]]]:
        """Return the guarantee in sentences, and numbers with their names; `option` is that of `_begins`."""
        if self.score is None or self.promised is None or self.one_list is None:
            told = [f"{said[:1].upper()}{said[1:]}." for said in self._missed(option)]
            if self.promised is None:
                told.append("There are too few rows, or too few different scores, to cut the list.")
            return told, []
        if self.asked == "precision":
            promise = f"{percent(self.promised)} of them are positives"
        elif self.asked == "recall":
            promise = f"{percent(self.promised)} of the positives are among them"
        else:
            promise = f"{self._hits()} of {count(self.rows)} are positives on average"
        at = f"Rows with a score of {self._at()} or more"
        total = f"{self.depth:,} of {self.n_pos + self.n_neg:,}"
        rows = [("held-out rows", f"{total}, with {self._found():,} of the {self.n_pos:,} positives")]
        if self.prior is not None:
            rows.append(("prior", percent(self.prior)))
        about = f"about {count(self.rows)} of {count(self.of)} ({percent(self.share, 3)})"
        rows.append(("rows", f"{about}; one list has more or fewer"))
        low, high = self.one_list
        among = " among more or fewer rows" * (self.asked == "budget")
        rows.append(
            ("in one list", f"between {low:,} and {high:,} positives{among}, {self._sure()} (two-sided interval)")
        )
        said = [f"{at}: at least {promise}, {self._sure()} (one-sided bound)."]
        if self._tied():
            said.append(f"It takes {self._tied()}.")
        if self.after_a_failure:
            said.append(
                "An earlier try found no cut-off on as many rows. If these are the same rows, the confidence is up to "
                f"{1.0 - self.confidence:.3g} lower for each further try."
            )
        return said, rows


def percent(share: float, digits: int = 4) -> str:
    return f"{100.0 * share:.{digits}g} %"


def hits_of(found: Cutoff, n: int) -> Interval:
    """Return how many of n rows that a cut-off takes from one new list are positive.

    The interval covers chance in the held-out rows and in the list, as that of `one_list` does. With a prior it is
    longer than that: each end is that of a list with the precision at the end of its interval.
    """
    assert found.precision is not None
    each = 0.5 * (1.0 - found.confidence)
    low, high = shares_at_nodes(found._found(), found.depth - found._found())
    if found.prior is not None:
        low, high = (np.full_like(low, end) for end in (found.precision.low, found.precision.high))
    return Interval(quantile(n, low, each), quantile(n, high, 1.0 - each))


def kept_on(found: Cutoff, f_pos: Vector, f_neg: Vector) -> str:
    """Return in sentences what new labelled rows show of a guarantee; empty if there is no cut-off."""
    if found.score is None or found.promised is None:
        return ""
    hits, others = int(found.takes(f_pos).sum()), int(found.takes(f_neg).sum())
    if found.asked == "recall":
        n, told = f_pos.size, f"Of the {f_pos.size:,} positives, {hits:,} are taken"
    else:
        n, told = hits + others, f"Of the {hits + others:,} rows taken that have labels, {hits:,} are positive"
    promised = f"at least {percent(found.promised)} are guaranteed"
    target = found.promised
    if found.asked == "budget":
        n, target = f_pos.size + f_neg.size, found.promised / found.of
        promised = f"at least {count(target * n, math.floor)} are guaranteed on average"
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


def count(x: float, to_whole: Callable[[float], int] = round) -> str:
    """Return a mean count with one decimal, and from 1000 on with none. Ends of intervals are rounded outwards."""
    places = 1 if x < 1000.0 else 0
    scaled = round(x * 10**places, 6)  # a count that is whole but for rounding errors stays so
    return f"{to_whole(scaled) / 10**places:,.{places}f}".removesuffix(".0")


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
    digits = None if fields.get("written") is None else fields.of(str, "written")
    is_further = fields.of(bool, "after_a_failure")
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
    return Cutoff(asked, target, kept, score, about["nearest"], about["promised"], confidence, depth, n_pos, n_neg,
                  prior, of, share, precision, recall, hits, one_list, n_cuts, digits, is_further)  # fmt: skip


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
