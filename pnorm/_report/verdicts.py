"""Verdicts on a list and warnings about it. The command prints them and the report shows them, in the same words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pnorm._categories import Unread
from pnorm._checks.text import counted, first, shown
from pnorm._cross_validation import CrossValidation
from pnorm._job.baselines import CURVES, LINEAR, TREES
from pnorm._job.quality import Quality
from pnorm._reasons.drift import Drift
from pnorm._report import markup
from pnorm._report.markup import NO_BETTER
from pnorm._trace import Trace
from pnorm.rankers import Rankers
from pnorm.rankers._table import Ask, Table, suspects

FEW = 50
"""Rows of a class below which the intervals are called wide."""

FEWEST = 2
"""Rows of a class that a test needs."""


class Verdict(NamedTuple):
    """One sentence or more on a list, as plain text."""

    key: str
    """``"column"``, ``"leak"``, ``"few"``, ``"chance"``, ``"choice"``, ``"better"``, ``"simpler"``,
    ``"probabilities"`` or ``"drift"``."""
    text: str
    subject: str = ""
    """The name of a column at the beginning of the text, if there is one."""
    grave: bool = True
    """Whether it may change the use of the list."""
    columns: tuple[str, ...] = ()
    """The columns that may have to be left out."""


def verdicts(
    quality: Quality,
    H: Rankers,
    *,
    held_out: bool = True,
    cross_validation: CrossValidation | None = None,
    drift: Drift | None = None,
    in_file: Callable[[str], str] = str,
    unread: Mapping[str, Unread] | None = None,
    at_random: bool = False,
) -> list[Verdict]:
    """Return all verdicts on a list and the columns of its weak rankers.

    `held_out` says whether the rows of `quality` were held out of training. `cross_validation` has chosen the
    settings on the training rows. `in_file` replaces rows of tables in a text
    by places in the file. `unread` are values of the held-out rows that do not read, by the text of their warning; they
    are counted with those of the training rows. `at_random` is whether the held-out rows are known to have been drawn
    at random.
    """
    found = [*_of_asks(H, in_file, unread or {}), *of_leaks(H)]
    few = few_rows(quality, held_out)
    if few:
        found.append(Verdict("few", few))
    found += _of_choice(cross_validation, held_out and quality.beats_chance)
    if held_out:
        found += _of_lists(quality, bool(suspects(H)), getattr(H, "_is_straight", False))
        told, is_wrong = markup.calibrated(quality)
        if is_wrong:
            found.append(Verdict("probabilities", told))
    return found + of_drift(drift, at_random)


def leaks(H: Rankers) -> list[str]:
    """Return the columns that almost separate the classes alone."""
    return [of.name for of in getattr(H, "plan", ()) if of.separates]


def in_test(H: Rankers) -> list[str]:
    """Return what a test says while columns are used that may be known only after the label."""
    names = [shown(name, 40) for name in suspects(H)]
    if not names:
        return []
    are = "is" if len(names) == 1 else "are"
    return [f"If {first(names, 8, str)} {are} known only after the label, this test says little about new rows."]


def _of_asks(H: Rankers, in_file: Callable[[str], str], unread: Mapping[str, Unread]) -> list[Verdict]:
    found = []
    more = {seen.name: seen for seen in counted_together(H, unread).values()}
    for ask in asks(H):
        told = ask.with_test(more[ask.column]) if ask.column in more else ask.text
        found.append(Verdict("column", f"{shown(ask.column, 40)}: {in_file(told)}.", shown(ask.column, 40)))
    return found


def counted_together(H: Rankers, unread: Mapping[str, Unread]) -> dict[str, Unread]:
    """Return the values of test rows that a verdict on a column counts as well, by the text of their warning."""
    of_training = {ask.column for ask in asks(H) if ask.unread is not None}
    return {text: seen for text, seen in unread.items() if seen.name in of_training}


def asks(H: Rankers) -> tuple[Ask, ...]:
    """Return the columns whose kind is in doubt, or with values that count as missing."""
    return H.asks if isinstance(H, Table) else ()


def of_leaks(H: Rankers) -> list[Verdict]:
    """Return the verdicts on columns that may be known only after the label.

    They almost separate the classes alone, agree with the label in most rows, or have their values, or their missing
    ones, nearly all on the smaller side.
    """
    found = []
    names = [shown(name, 40) for name in leaks(H)]
    if names:
        one = len(names) == 1
        told = (
            f"{first(names, 8, str)} alone almost {'separates' if one else 'separate'} positives from negatives. "
            f"{'Is it' if one else 'Are they'} known before the label?"
        )
        found.append(Verdict("leak", told, names[0] if one else "", columns=tuple(leaks(H))))
    plan = getattr(H, "plan", ())
    return found + _of_late([(of.name, of.agrees) for of in plan]) + _of_late([(of.name, of.one_sided) for of in plan])


def _of_late(notes: Sequence[tuple[str, str]]) -> list[Verdict]:
    """Return the verdict on the columns that have a note, of pairs of a column and a note."""
    late = [(name, note) for name, note in notes if note]
    if not late:
        return []
    one = len(late) == 1
    told = first([f"{shown(name, 40)} {note}" for name, note in late], 8, str)
    told += f". {'Is the column' if one else 'Are the columns'} known only after the outcome?"
    return [Verdict("leak", told, shown(late[0][0], 40) if one else "", columns=tuple([name for name, _ in late]))]


def few_rows(quality: Quality, held_out: bool = True) -> str:
    """Return that there are few rows of a class; empty if there are enough."""
    n, kind = min((quality.n_pos, "positive"), (quality.n_neg, "negative"))
    if n >= FEW:
        return ""
    rows = counted(n, f"{kind} row")
    needed = f"No test is possible with so few. Label 25 {kind} rows or more, so that 5 are held out."
    if not held_out:
        told = f"There {'is' if n == 1 else 'are'} only {rows}."
        return f"{told} {needed}" if n < FEWEST else told
    if n < FEWEST:
        return f"The test has only {rows}, so the intervals are wide. {needed}"
    advice = "More labelled rows make them narrower."
    if not quality.beats_chance:
        advice = "Label more rows before you use this list."
    return f"The test has only {rows}, so the intervals are wide. {advice}"


def advice(quality: Quality) -> str:
    """Return what to do with a list that is not better than a random order; empty if few rows are the reason."""
    if quality.beats_chance or few_rows(quality):
        return ""
    return (
        "Do not use this list. Look for columns that are related to the label. With more labelled rows, the test can "
        "show smaller effects."
    )


_INSTEAD = {
    LINEAR: " Use the linear model instead.",
    CURVES: " Use logistic regression on curves instead: SplineTransformer and LogisticRegression of scikit-learn.",
    TREES: " If nobody reads the score, use HistGradientBoostingClassifier of scikit-learn instead.",
}
"""The advice if another list is better, by the name of that list."""


def _of_lists(quality: Quality, has_suspects: bool, is_straight: bool) -> list[Verdict]:
    """Return the comparisons with a random order and with the other lists; with a leak, all lists are as good.

    If the list is a sum of straight lines itself, a linear model is no simpler.
    """
    found = [] if quality.beats_chance else [Verdict("chance", " ".join(filter(None, [NO_BETTER, advice(quality)])))]
    better = {} if has_suspects else dict(markup.beaten(quality))
    for name, where in better.items():
        use = _INSTEAD.get(name, "")
        found.append(Verdict("better", f"{markup.called(name)} is better than this list {where}, beyond chance.{use}"))
    as_good = [
        difference.other
        for difference in quality.averages
        if difference.other not in better and difference.other not in (CURVES, TREES) and not difference.value.low > 0.0
    ]
    simpler = [name for name in as_good if name.endswith(markup.ALONE) or (name == LINEAR and not is_straight)]
    which = ", which is simpler" if len(simpler) == 1 else ", which are simpler"
    others = [name for name in as_good if name not in simpler and name != LINEAR]
    for names, end in ((simpler, which), (others, "")):
        if names and not has_suspects and quality.compares:
            those = " or ".join(map(markup.in_words, names))
            told = f"The test does not show that this list is better than {those}{end}."
            found.append(Verdict("simpler", told, grave=False))
    return found


NO_PROBABILITIES = "no_probabilities"
"""The entry of a model's metadata for the word of `doubt_of_probabilities`. A model without doubts lacks it."""

_DOUBTS = {"wrong": "finds them wrong", "unsupported": "does not support them"}
"""Verbs and objects that tell the result of a test of probabilities, by the word that model files store."""


def doubt_of_probabilities(quality: Quality) -> str:
    """Return ``"wrong"`` or ``"unsupported"``; empty if probabilities are shown or do not exist."""
    if quality.calibration is None:
        return ""
    if markup.calibrated(quality)[1]:
        return "wrong"
    return "" if quality.beats_chance else "unsupported"


def hidden_by(doubt: object, test: str = "the test") -> str:
    """Return why rows are shown without probabilities, from a word of `doubt_of_probabilities`; empty for no such."""
    why = _DOUBTS.get(doubt) if isinstance(doubt, str) else None
    return f"No probabilities are shown, as {test} {why}." if why else ""


def hidden_probabilities(quality: Quality) -> str:
    """Return why rows are shown without probabilities; empty if they are shown or do not exist."""
    return hidden_by(doubt_of_probabilities(quality))


def left_out(hidden: str) -> str:
    """Return that a file of scores has no probabilities, and why, from the sentence of `hidden_by`."""
    why = hidden.partition(", ")[2].removesuffix(".")
    return f"without probabilities, {why}" if why else ""


def unwritten_probabilities(quality: Quality) -> str:
    """Return that a file of scores has no probabilities, and why; empty if it has them or they do not exist."""
    return left_out(hidden_probabilities(quality))


def checked_probabilities(quality: Quality) -> str:
    """Return how far the probabilities of the first rows are right; empty if rows are shown without them."""
    return "" if doubt_of_probabilities(quality) else markup.in_first(quality)


def doubts(quality: Quality) -> str:
    """Return what the test shows against the order and the probabilities of the rows that are shown."""
    told, is_wrong = markup.calibrated(quality)
    by_chance = "" if quality.beats_chance else "These rows may be first by chance."
    return " ".join(filter(None, [by_chance, told if is_wrong else "", hidden_probabilities(quality)]))


AT_RANDOM = "The rows were drawn at random, so such changes are chance."
"""The explanation of changes between training rows and held-out rows that were drawn at random."""


def of_drift(drift: Drift | None, at_random: bool = False) -> list[Verdict]:
    """Return the changes between two tables; the last grave one ends with an explanation if rows were drawn."""
    if drift is None:
        return []
    told = zip(drift._sentences(), drift._grave(), strict=True)
    found = [Verdict("drift", sentence, grave=grave) for sentence, grave in told]
    grave = [k for k, verdict in enumerate(found) if verdict.grave]
    if at_random and grave:
        close = " Scores may also fit the training rows too closely." * bool(drift.score.beyond_chance)
        found[grave[-1]] = found[grave[-1]]._replace(text=f"{found[grave[-1]].text} {AT_RANDOM}{close}")
    return found


def _of_choice(found: CrossValidation | None, test_does: bool) -> list[Verdict]:
    """Return that a cross-validation does not show that the list is better than a random order, if so.

    It is no verdict on the list if a test shows it: few rows of a fold at the top say less than the test. The details
    of the choice contain it in any case.
    """
    if found is None or test_does:
        return []
    if found._out_of_fold is not None:
        by = "" if found._out_of_fold.beats_chance else "by AUC or partial AUC out of fold"
    else:
        near = found._near_chance()
        measure = markup.measure_named(found.metric)
        by = "" if near is None else f"by {measure} ({near.mean}; by chance {near.chance})"
    if not by:
        return []
    told = f"The cross-validation on the training rows does not show that the list is better than a random order, {by}"
    return [Verdict("choice", f"{told}.")]


def proof(trace: Trace, has_gap: bool = True, is_good: bool = True) -> str:
    """Return whether training reached the minimum of its objective, and by how much it may be above it.

    It is empty if training reached the minimum and the list is not `is_good`: a reader might take the proof for one of
    the list.
    """
    if is_separable(trace):
        return "The columns separate the training rows, or nearly, so that there is no minimum."
    if math.isfinite(trace.gap):
        if trace.status != "converged":
            by = f"{trace.gap:.1g} nats or less above" if has_gap else "before it was proved to reach"
            return f"Training stopped {by} the minimum of its objective."
        if not is_good:
            return ""
        gap = f" (gap {max(trace.gap, 1e-16):.1g} nats)" if has_gap else ""
        return f"Training reached the minimum of its objective, which is proved{gap}. Errors on new rows may differ."
    if math.isnan(trace.gap):
        return f"It was trained by {counted(trace.n_iter, 'round')} of boosting, which stops before a minimum."
    return "It is not proved that training reached the minimum of its objective."


def is_separable(trace: Trace) -> bool:
    return trace.direction is not None or trace.status == "separable"


def texts(found: Sequence[Verdict], *keys: str) -> list[str]:
    """Return the texts of the verdicts with these keys."""
    return [of.text for of in found if of.key in keys]
